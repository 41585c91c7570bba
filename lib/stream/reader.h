/*
 * reader.h - the raw stream, coming in; and the same in time order (order.c).
 *
 * Both give items one at a time. What an item points to is good until the next call. A packet that is damaged is skipped, said
 * through the notice, and counted; what follows it is delivered.
 */
#ifndef CTP_READER_H
#define CTP_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "io/input.h"
#include "stream/record.h"

enum ctp_item_kind {
	CTP_ITEM_SECTION, /* one begins */
	CTP_ITEM_RECORD,
	CTP_ITEM_MARK,    /* not from ctp_order */
	CTP_ITEM_END,     /* the section ended */
};

struct ctp_item {
	enum ctp_item_kind kind;
	const struct ctp_section *section;
	struct ctp_record rec;
	uint64_t mark_ns;
	bool complete; /* of an end: closed by its writer, and no packet is missing */
	bool missing;  /* of an end: packets are */
};

struct ctp_reader_stats {
	uint64_t packets, records, sections;
	uint64_t damaged_packets; /* seen and not usable */
	uint64_t missing_packets; /* by their numbers; the damaged ones are among them */
	uint64_t skipped_records; /* of damaged packets whose header could be read */
	uint64_t skipped_bytes;
	uint64_t cut_short;       /* sections without an orderly end */
	uint64_t late;            /* counted by ctp_order */
};

struct ctp_reader;

/* in stays the caller's. notice may be null. */
struct ctp_reader *ctp_reader_new(struct ctp_input *in, const struct ctp_notice *notice, struct ctp_err *err);
void ctp_reader_free(struct ctp_reader *r);
enum ctp_status ctp_reader_next(struct ctp_reader *r, struct ctp_item *item, struct ctp_err *err);

/*
 * For ctp_order, the same behind those records that h takes easily and that are not older than from_ns: they are held already. A record
 * that is given has its values at the top of h, which has made room for them.
 */
struct ctp_runs;
enum ctp_status ctp_reader_hold(struct ctp_reader *r, struct ctp_runs *h, uint64_t from_ns, struct ctp_item *item, struct ctp_err *err);
const struct ctp_reader_stats *ctp_reader_stats(const struct ctp_reader *r);

/*
 * From here on, packets that by their header hold no record with a time in [from_ns, upto_ns] are passed over unread: nothing of
 * them is delivered, counted or checked. Where from_ns > upto_ns the range wraps: it is the times from from_ns on and those up
 * to upto_ns. Packets that are read are delivered whole, so the caller still looks at each record's time.
 */
void ctp_reader_narrow(struct ctp_reader *r, uint64_t from_ns, uint64_t upto_ns);

void ctp_reader_count_late(struct ctp_reader *r); /* for ctp_order */

/* True if anything was damaged, missing or cut short: the tool ends with status 3. */
bool ctp_reader_harmed(const struct ctp_reader *r);

/*
 * The same records in time order within each section, equal times in stream order, records of a class without a time where
 * they stand. Memory is bounded by limit_bytes (0: 64 MiB): where a source makes no marks, order reaches as far as that holds.
 */
struct ctp_order;
struct ctp_order *ctp_order_new(struct ctp_reader *r, size_t limit_bytes, struct ctp_err *err);
void ctp_order_free(struct ctp_order *o);
enum ctp_status ctp_order_next(struct ctp_order *o, struct ctp_item *item, struct ctp_err *err);

#endif
