/* convert.c - from an input, through the reader and the order, to a sink. */
#include "stream/order.h"
#include "stream/sink.h"

enum { TICK_RECORDS = 4096 };

void ctp_reader_stats_add(struct ctp_reader_stats *sum, const struct ctp_reader_stats *s)
{
	sum->packets += s->packets;
	sum->records += s->records;
	sum->sections += s->sections;
	sum->damaged_packets += s->damaged_packets;
	sum->missing_packets += s->missing_packets;
	sum->skipped_records += s->skipped_records;
	sum->skipped_bytes += s->skipped_bytes;
	sum->cut_short += s->cut_short;
	sum->late += s->late;
}

/* What a field says of how many there are, if the class has it and it is such a number; else the other. */
static uint64_t count_at(const struct ctp_record *rec, int field, uint64_t otherwise)
{
	unsigned type = field < 0 ? CTP_STRING : rec->cls->fields[field].type;
	return type <= CTP_U64 ? rec->val[field] : otherwise;
}

uint64_t ctp_record_lost(const struct ctp_record *rec)
{
	return rec->cls->kind == CTP_KIND_LOSS ? count_at(rec, ctp_class_role(rec->cls, CTP_ROLE_COUNT), 1) : 0;
}

bool ctp_class_is_missed(const struct ctp_class *cls)
{
	return cls->kind == CTP_KIND_LOSS && ctp_class_role(cls, CTP_ROLE_THREAD) >= 0 &&
	       ctp_class_role(cls, CTP_ROLE_COROUTINE) < 0 && ctp_class_role(cls, CTP_ROLE_PROBE) < 0;
}

uint64_t ctp_record_untraced(const struct ctp_record *rec)
{
	const struct ctp_class *cls = rec->cls;
	int i = cls->kind == CTP_KIND_UNTRACED ? ctp_class_role(cls, CTP_ROLE_COUNT) :
	        cls->kind == CTP_KIND_END      ? ctp_class_field(cls, "untraced") : -1;
	return count_at(rec, i, 0);
}

/* here: how many are untraced in the section at hand, by the last record that said so. */
static enum ctp_status deliver(struct ctp_sink *sink, const struct ctp_item *item, struct ctp_convert_stats *stats,
                               uint64_t *here, struct ctp_err *err)
{
	uint64_t lost, untraced, *sum;
	switch (item->kind) {
	case CTP_ITEM_SECTION:
		*here = 0;
		return sink->ops->section ? sink->ops->section(sink, item->section, err) : CTP_OK;
	case CTP_ITEM_RECORD:
		if (item->rec.cls->kind == CTP_KIND_TRANSITION) /* most are, and say nothing about others */
			return sink->ops->record(sink, &item->rec, err);
		lost = ctp_record_lost(&item->rec);
		sum = lost && ctp_class_is_missed(item->rec.cls) ? &stats->missed : &stats->lost;
		*sum = lost > UINT64_MAX - *sum ? UINT64_MAX : *sum + lost;
		stats->conflicts += item->rec.cls->kind == CTP_KIND_CONFLICT;
		untraced = ctp_record_untraced(&item->rec);
		if (untraced > *here) {
			stats->untraced += untraced - *here;
			*here = untraced;
		}
		return sink->ops->record(sink, &item->rec, err);
	case CTP_ITEM_END:
		sink->missing = item->missing;
		return sink->ops->end ? sink->ops->end(sink, item->complete, err) : CTP_OK;
	case CTP_ITEM_MARK:
		break;
	}
	return CTP_OK;
}

enum ctp_status ctp_convert(struct ctp_input *in, struct ctp_sink *sink, const struct ctp_notice *notice,
                            const struct ctp_tick *tick, struct ctp_convert_stats *stats, struct ctp_err *err)
{
	enum ctp_status status = CTP_FAILED;
	struct ctp_item item;
	uint64_t untraced = 0;
	struct ctp_reader *reader = ctp_reader_new(in, notice, err);
	struct ctp_order *order = reader ? ctp_order_new(reader, 0, err) : NULL;
	sink->input = in->path;
	if (!order)
		goto out;
	for (uint64_t n = 1;; n++) {
		if (!ctp_order_ready(order, &item) && (status = ctp_order_next(order, &item, err)))
			break;
		if (deliver(sink, &item, stats, &untraced, err)) {
			status = CTP_FAILED;
			break;
		}
		if (n % TICK_RECORDS == 0 && tick && tick->tick)
			tick->tick(tick->arg, in, n);
	}
	if (in->harmed)
		ctp_notice_say(notice, "%s", in->err.text);
	ctp_reader_stats_add(&stats->reader, ctp_reader_stats(reader));
	stats->harmed |= ctp_reader_harmed(reader) || in->harmed || stats->lost || stats->missed || stats->untraced || stats->conflicts;
out:
	ctp_order_free(order);
	ctp_reader_free(reader);
	return status == CTP_EOF ? CTP_OK : status;
}
