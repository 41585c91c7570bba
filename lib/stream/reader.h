/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * reader.h - the raw stream, coming in, as it stands; order.h has the same in time order.
 *
 * Both give one item after the other: records come in batches. What an item points to is good until the next call. A packet that
 * is damaged is skipped, said through the notice, and counted; what follows it is delivered.
 */
#ifndef CTP_READER_H
#define CTP_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/linkage.h"
#include "io/input.h"
#include "stream/record.h"

CTP_C_BEGIN

enum ctp_item_kind {
	CTP_ITEM_SECTION, /* one begins */
	CTP_ITEM_RECORDS,
	CTP_ITEM_MARK,    /* not from ctp_order_next */
	CTP_ITEM_END,     /* the section ended */
};

struct ctp_item {
	enum ctp_item_kind kind;
	const struct ctp_section *section;
	struct ctp_batch batch;
	uint64_t mark_ns;
	struct ctp_section_end end;
};

struct ctp_reader_stats {
	uint64_t packets, records, sections;
	uint64_t damaged_packets; /* seen and not usable */
	uint64_t missing_packets; /* by their numbers; damaged packets are among them, if another follows and their number was lost */
	uint64_t skipped_records; /* of damaged packets whose header could be read */
	uint64_t skipped_bytes;
	uint64_t cut_short;       /* sections without an orderly end */
	uint64_t late;            /* records, where they were read in order */
};

struct ctp_reader;

/* in and notice stay the caller's, and must be there until the reader is freed. notice may be null. Null: err says why. */
struct ctp_reader *ctp_reader_new(struct ctp_input *in, const struct ctp_notice *notice, struct ctp_err *err);
void ctp_reader_free(struct ctp_reader *r);
/*
 * CTP_EOF: all was delivered, and an end for each section that began. CTP_FAILED: the input could not be read on. The classes of
 * records are the reader's, good until the next section begins or the reader is freed.
 */
enum ctp_status ctp_reader_next(struct ctp_reader *r, struct ctp_item *item, struct ctp_err *err);
const struct ctp_reader_stats *ctp_reader_stats(const struct ctp_reader *r); /* so far; good until r is freed */

/*
 * From here on, packets that by their header hold no record with a time in [from_ns, upto_ns] are passed over unread: nothing of
 * them is delivered, counted or checked. Where from_ns > upto_ns the range wraps: it is the times from from_ns on and those up
 * to upto_ns. Packets that are read are delivered whole, so the caller still looks at each record's time.
 */
void ctp_reader_narrow(struct ctp_reader *r, uint64_t from_ns, uint64_t upto_ns);

/* True if anything was damaged, missing or cut short: the tool ends with status 3. */
bool ctp_reader_harmed(const struct ctp_reader *r);

CTP_C_END

#endif
