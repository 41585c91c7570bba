/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* convert.c - from an input, through the reader and the order, to a sink. */
#include <errno.h>

#include "base/clock.h"
#include "stream/ahead.h"
#include "stream/beginning.h"
#include "stream/others.h"
#include "stream/sink.h"

#define FLUSH_NS UINT64_C(1000000000)

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

/* The number in a field of the record, if the class has the field (field >= 0) and it is unsigned; else the other. */
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

struct conversion {
	struct ctp_sink *sink;
	struct ctp_convert_stats *stats;
	uint64_t untraced; /* in the section at hand, by the last record that said so */
	uint64_t flushed_ns;
	const struct ctp_ahead *ahead;
	bool shows; /* or would, if it were not a sink of transitions alone */
	struct ctp_others others;
	struct ctp_err *err;
};

/* Counts what is missing according to a loss record. */
static void count_missing(struct conversion *c, const struct ctp_record *rec)
{
	struct ctp_convert_stats *stats = c->stats;
	uint64_t lost = ctp_record_lost(rec), *sum = lost && ctp_class_is_missed(rec->cls) ? &stats->missed : &stats->lost;
	*sum = lost > UINT64_MAX - *sum ? UINT64_MAX : *sum + lost;
	stats->conflicts += rec->cls->kind == CTP_KIND_CONFLICT;
	uint64_t untraced = ctp_record_untraced(rec);
	if (untraced > c->untraced) {
		stats->untraced += untraced - c->untraced;
		c->untraced = untraced;
	}
}

static void watch_others(struct conversion *c, const struct ctp_batch *batch)
{
	for (uint32_t i = 0; i < batch->n && !c->shows; i++) {
		c->shows = batch->rec[i].cls->kind == CTP_KIND_TRANSITION;
		if (batch->rec[i].cls->kind == CTP_KIND_OTHER) /* the rest belongs to transitions, of which a trace may have none */
			ctp_others_note(&c->others, batch->rec[i].cls);
	}
}

static enum ctp_status flush(struct conversion *c, uint64_t now_ns, struct ctp_err *err)
{
	c->flushed_ns = now_ns;
	enum ctp_status status = c->sink->ops->flush ? c->sink->ops->flush(c->sink, err) : CTP_OK;
	c->sink->failed |= status == CTP_FAILED;
	return status;
}

static enum ctp_status deliver_records(struct conversion *c, const struct ctp_batch *batch)
{
	for (uint32_t i = 0; i < batch->n; i++)
		if (batch->rec[i].cls->kind > CTP_KIND_TRANSITION) /* most are, or of no kind, and say nothing about others */
			count_missing(c, &batch->rec[i]);
	watch_others(c, batch);
	enum ctp_status status = c->sink->ops->records(c->sink, batch, c->err);
	uint64_t now_ns = ctp_clock_ns();
	return status || now_ns - c->flushed_ns < FLUSH_NS ? status : flush(c, now_ns, c->err);
}

static enum ctp_status give(struct conversion *c, const struct ctp_item *item)
{
	const struct ctp_sink_ops *ops = c->sink->ops;
	switch (item->kind) {
	case CTP_ITEM_SECTION:
		c->untraced = 0;
		ctp_others_section(&c->others);
		return ops->section ? ops->section(c->sink, item->section, c->err) : CTP_OK;
	case CTP_ITEM_RECORDS:
		return deliver_records(c, &item->batch);
	case CTP_ITEM_END:
		return ops->end ? ops->end(c->sink, &item->end, c->err) : CTP_OK;
	case CTP_ITEM_MARK:
		break;
	}
	return CTP_OK;
}

enum ctp_status ctp_memory_status(enum ctp_status status, const char *where, struct ctp_err *err)
{
	if (status == CTP_FAILED || errno != ENOMEM)
		return status;
	return ctp_err_as(err, CTP_ERR_MEMORY, "%s%sout of memory", where, *where ? ": " : "");
}

/* A sink has many tables, and what it makes without one of them would look complete. */
static enum ctp_status deliver(struct conversion *c, const struct ctp_item *item)
{
	errno = 0;
	return ctp_memory_status(give(c, item), c->sink->input ? c->sink->input : "stdin", c->err);
}

/* The input would wait: all that may go has been delivered. */
static enum ctp_status idle(void *arg, struct ctp_err *err)
{
	struct conversion *c = arg;
	c->sink->mark_ns = c->ahead ? ctp_ahead_mark(c->ahead) : 0;
	enum ctp_status status = flush(c, ctp_clock_ns(), err);
	c->sink->mark_ns = 0;
	return status;
}

static enum ctp_status convert(struct conversion *c, struct ctp_ahead *ahead, const struct ctp_tick *tick)
{
	struct ctp_item item;
	enum ctp_status status;
	uint64_t records = 0;
	while (!(status = ctp_ahead_next(ahead, &item, c->err))) {
		if (deliver(c, &item)) {
			c->sink->failed = true;
			return CTP_FAILED;
		}
		records += item.kind == CTP_ITEM_RECORDS ? item.batch.n : 0;
		if (tick && tick->tick)
			tick->tick(tick->arg, ctp_ahead_shown(ahead), records);
	}
	return status;
}

enum ctp_status ctp_convert(struct ctp_input *in, struct ctp_sink *sink, const struct ctp_notice *notice,
                            const struct ctp_tick *tick, struct ctp_convert_stats *stats, struct ctp_err *err)
{
	enum ctp_status status = CTP_FAILED;
	bool strange;
	if (ctp_beginning_check(in, &strange, err))
		return CTP_FAILED;
	struct conversion c = {.sink = sink, .stats = stats, .flushed_ns = ctp_clock_ns(), .shows = !sink->others_by, .err = err};
	sink->input = in->path;
	sink->stats = stats;
	in->idle = sink->ops->flush ? idle : NULL;
	in->idle_arg = &c;
	in->idle_again_ms = sink->idle_again_ms;
	struct ctp_ahead *ahead = ctp_ahead_new(in, notice, err);
	c.ahead = ahead;
	if (ahead) {
		status = convert(&c, ahead, tick);
		const struct ctp_reader *reader = ctp_ahead_stop(ahead);
		if (in->harmed)
			ctp_notice_say(notice, "%s", in->err.text);
		if (status == CTP_EOF && !c.shows && c.others.text[0])
			ctp_notice_say(notice, "no transitions, but records of %s: %s", c.others.text, sink->others_by);
		ctp_reader_stats_add(&stats->reader, ctp_reader_stats(reader));
		stats->damaged |= ctp_reader_harmed(reader) || in->harmed;
		stats->harmed |= stats->damaged || stats->lost || stats->missed || stats->untraced || stats->conflicts;
		if (status == CTP_EOF)
			status = ctp_beginning_end(in, strange, ctp_reader_stats(reader)->packets, sink->made_by, err);
	}
	in->idle = NULL;
	ctp_ahead_free(ahead);
	return status;
}
