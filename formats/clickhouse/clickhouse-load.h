/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * clickhouse-load.h - delivers a batch to a server, so that each section is there once, whatever fails.
 *
 * ClickHouse has no transactions over tables, an INSERT of several blocks may be kept in part, and 18.16 does not recognise one that is
 * repeated. So a section is delivered under a number, its delivery, that all its rows have, and the table sections says which deliveries
 * count:
 *
 *	1  A delivery begins with a row in sections that has its number, in the state BEGUN.
 *	2  Rows go to the tables of the classes, in one INSERT each. An INSERT that failed is not repeated: the delivery ends there.
 *	3  The server is asked how many rows it has of the delivery. They must be all, unless another loader has committed the section
 *	   meanwhile: then the delivery ends there, with success.
 *	4  A row in sections with the state OVER: the commit. It is one row of one part, so it is there or not.
 *	5  Deliveries that this one has replaced are deleted.
 *
 * A reader looks at the rows of one delivery for each section, by the view deliveries: of those that are committed and complete the one
 * with the smallest number. If none is complete, it is, for each part of the section (by mark, see common/meta.h), the one with the most
 * rows, and of these the one with the smallest number. A delivery that a user made by hand has the greatest number, and counts as none that
 * is complete, because it may lack rows of a class. So before step 4 a reader has what it had before, and after it a whole section.
 * Nobody sees a part of step 2.
 *
 * That nothing is lost rests on one rule: rows are deleted only if a complete delivery of their section with a smaller number is
 * committed.
 *
 *	The winner is never deleted: no complete delivery that is committed has a smaller number.
 *	A deleted delivery never wins later: the smaller number stays. It is itself deleted only for one that is smaller still, and the
 *	smallest stays. So it does not matter whether the deleted one had ended: a slow loader, which has its rows deleted while it still
 *	sends others, commits a delivery that no reader looks at, finds that in step 5, and deletes the rest.
 *	Two loaders of one section, in whatever order their steps are, end with the rows of the smaller number.
 *
 * The order in which loaders begin or commit is not used, and no clock. But numbers are chosen to fall: each is smaller than those of the
 * section that are in the table sections when it begins. So a delivery that was cut off, by a kill or a full disk, is deleted by the next
 * one that ends, and a copy that is not complete by the complete one. What was cut off has the smaller number only if it began while the
 * winner was being delivered. No reader sees it, and it costs space until its day is dropped.
 *
 * Where the answer to step 4 is lost, the rows may count or not. Whoever runs the loader again need not know: it finds a complete
 * delivery, or makes one.
 *
 * On a cluster the tables are Distributed and sharded by section_id, so that all rows of a section, and its rows in sections, are on one
 * shard, and all of this holds for each shard by itself. Rows cannot be deleted through such tables, so step 5 is left to
 * ctp_clickhouse_clean on each shard. insert_distributed_sync makes an INSERT wait for the shards.
 *
 * A server that loses power may lose the last seconds of any table, as ClickHouse does not wait for the disk.
 */
#ifndef CTP_CLICKHOUSE_LOAD_H
#define CTP_CLICKHOUSE_LOAD_H

#include "clickhouse/clickhouse-batch.h"
#include "clickhouse/clickhouse-client.h"
#include "clickhouse/clickhouse.h"

struct ctp_clickhouse_load;

/* options and batch must be there until the free. Null: err. */
struct ctp_clickhouse_load *ctp_clickhouse_load_new(const struct ctp_clickhouse_options *options, struct ctp_clickhouse_batch *batch,
                                                    struct ctp_err *err);
void ctp_clickhouse_load_free(struct ctp_clickhouse_load *l); /* null: nothing */

/* Before a section begins; after rows were added; now and then, for a live input; and at the end of all. */
enum ctp_status ctp_clickhouse_load_section(struct ctp_clickhouse_load *l, struct ctp_err *err);
enum ctp_status ctp_clickhouse_load_more(struct ctp_clickhouse_load *l, struct ctp_err *err);
enum ctp_status ctp_clickhouse_load_flush(struct ctp_clickhouse_load *l, struct ctp_err *err);
enum ctp_status ctp_clickhouse_load_finish(struct ctp_clickhouse_load *l, struct ctp_err *err);

/* Whether a section was not delivered because a table is not made for it. */
bool ctp_clickhouse_load_refused(const struct ctp_clickhouse_load *l);

#endif
