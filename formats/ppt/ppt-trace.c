/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ppt-trace.c - from the ring to the writer.
 *
 * A frame may be saved long after its own time, which is often the start of an interval. So marks are earlier than the clock by
 * twice the largest delay that was seen, and by at least a tenth of a second.
 */
#include "ppt/ppt-trace.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

enum { ARGV_BYTES = 64 << 10 };
enum { FROM_TS, FROM_SEQNO, FROM_COUNT, FROM_FIELDS };
enum { END_TS, END_FRAMES, END_LOST, END_UNVERIFIED, END_LATE, END_OUTCOME, END_STATUS, END_AFTER, END_BEFORE, END_FIELDS };
static const uint64_t LAG_MIN_NS = 100000000, LAG_MAX_NS = UINT64_C(60000000000);

/* --- the buffer ------------------------------------------------------------------------------------------------------------ */

static bool has_member(const struct ctp_ppt_layout *l, enum ctp_ppt_type type)
{
	for (uint32_t i = 0; i < l->nframes; i++)
		for (uint32_t k = 0; k < l->frames[i].nmembers; k++)
			if (l->frames[i].members[k].type == type)
				return true;
	return false;
}

static enum ctp_status make_classes(struct ctp_ppt_trace *t, struct ctp_err *err)
{
	static const struct ctp_label outcomes[] = {
		{CTP_OUTCOME_EXITED, "exited"}, {CTP_OUTCOME_KILLED, "killed"}, {CTP_OUTCOME_RUNNING, "running"}, {CTP_OUTCOME_ENDED, "ended"},
		{CTP_PPT_OUTCOME_CLOSED, "closed"}, {CTP_PPT_OUTCOME_REPLACED, "replaced"},
	};
	static const struct ctp_field end[] = {
		[END_TS] = {.name = "ts", .type = CTP_U64, .role = CTP_ROLE_TIME, .pred = CTP_PRED_TIME, .unit = "ns"},
		[END_FRAMES] = {.name = "frames", .type = CTP_U64, .role = CTP_ROLE_COUNT},
		[END_LOST] = {.name = "lost", .type = CTP_U64, .role = CTP_ROLE_COUNT},
		[END_UNVERIFIED] = {.name = "unverified", .type = CTP_U64, .role = CTP_ROLE_COUNT},
		[END_LATE] = {.name = "begun_late", .type = CTP_BOOL},
		[END_OUTCOME] = {.name = "outcome", .type = CTP_ENUM, .labels = outcomes, .nlabels = sizeof outcomes / sizeof *outcomes},
		[END_STATUS] = {.name = "status", .type = CTP_I32, .pred = CTP_PRED_NONE},
		[END_AFTER] = {.name = "after", .type = CTP_U64, .role = CTP_ROLE_TIME, .unit = "ns"},
		[END_BEFORE] = {.name = "before", .type = CTP_U64, .role = CTP_ROLE_TIME, .unit = "ns"},
	};
	/* ppt_late: an unknown number of frames may be missing before ppt_seqno. ppt_unverified: count frames from ppt_seqno on. */
	static const struct ctp_field from[] = {
		[FROM_TS] = {.name = "ts", .type = CTP_U64, .role = CTP_ROLE_TIME, .pred = CTP_PRED_TIME, .unit = "ns"},
		[FROM_SEQNO] = {.name = "ppt_seqno", .type = CTP_I32, .role = CTP_ROLE_SEQUENCE},
		[FROM_COUNT] = {.name = "count", .type = CTP_U64, .role = CTP_ROLE_COUNT},
	};
	t->end_class = ctp_class_new("ppt_end", CTP_KIND_END, end, END_FIELDS, err);
	t->late_class = t->end_class ? ctp_class_new("ppt_late", CTP_KIND_OTHER, from, FROM_COUNT, err) : NULL;
	t->doubt_class = t->late_class ? ctp_class_new("ppt_unverified", CTP_KIND_OTHER, from, FROM_FIELDS, err) : NULL;
	return t->doubt_class ? CTP_OK : CTP_FAILED;
}

/* By the clock of the frames; if we cannot read it, the time of the last frame. */
static uint64_t now_of(const struct ctp_ppt_trace *t) { return t->clock >= 0 ? ctp_clock_of(t->clock) : t->after_ns; }

enum ctp_status ctp_ppt_trace_init(struct ctp_ppt_trace *t, const struct ctp_ppt_memory *m, const struct ctp_ppt_buffer *b,
                                   const struct ctp_ppt_counters *counters, bool exact, struct ctp_err *err)
{
	static const struct ctp_ppt_counters none;
	*t = (struct ctp_ppt_trace){.buffer = b};
	t->layout = ctp_ppt_symbols_layout(m, b, &t->json, &t->json_len, err);
	if (t->layout && t->layout->resizable)
		return ctp_err_set(err, "%s: its ring can be resized, and such a buffer cannot be traced: "
		                   "make it one of a fixed size", b->label);
	if (t->layout && !has_member(t->layout, CTP_PPT_COUNTER))
		counters = &none;
	t->frames = t->layout ? ctp_ppt_frames_new(t->layout, counters->names, counters->n, exact, err) : NULL;
	if (!t->frames)
		return ctp_err_before(err, "%s: ", b->label);
	if (make_classes(t, err))
		return CTP_FAILED;
	if (!(t->frame = malloc(t->layout->size)))
		return ctp_err_memory(err);
	/* Frames without a time have no clock: the other records have ours. */
	t->clock = has_member(t->layout, CTP_PPT_TIME) ? t->layout->clock_id : CLOCK_MONOTONIC;
	t->after_ns = now_of(t);
	t->at = (struct ctp_ppt_attach){.memory = m, .buffer = b, .layout = t->layout, .counters = counters};
	return CTP_OK;
}

void ctp_ppt_trace_fini(struct ctp_ppt_trace *t)
{
	ctp_class_free(t->end_class);
	ctp_class_free(t->late_class);
	ctp_class_free(t->doubt_class);
	ctp_ppt_shared_fini(&t->shared);
	ctp_ppt_frames_free(t->frames);
	ctp_ppt_layout_free(t->layout);
	free(t->json);
	free(t->frame);
	*t = (struct ctp_ppt_trace){0};
}

/* --- the section ----------------------------------------------------------------------------------------------------------- */

static void add_argv(struct ctp_section *sec, pid_t pid)
{
	char *text = malloc(ARGV_BYTES + 1);
	if (!text)
		return;
	size_t len = ctp_ppt_memory_argv(pid, text, ARGV_BYTES);
	text[len] = '\0';
	for (size_t at = 0; at < len; at += strlen(text + at) + 1)
		ctp_section_add(sec, "argv[]", text + at);
	free(text);
}

void ctp_ppt_trace_begin(struct ctp_ppt_trace *t, struct ctp_writer *w, const char *tool)
{
	struct ctp_section sec;
	pid_t pid = t->at.memory->pid;
	uint64_t now_ns = now_of(t);
	assert(!t->writer && t->at.ring.slots);
	ctp_section_init(&sec);
	ctp_section_add_host(&sec, tool);
	ctp_section_addf(&sec, "pid", "%d", (int)pid);
	ctp_ppt_frames_section(t->frames, &sec);
	ctp_section_add(&sec, CTP_PPT_FILE, t->buffer->file);
	if (t->clock >= 0) {
		ctp_section_add(&sec, "clock", "monotonic"); /* unless it has one */
		ctp_section_addf(&sec, "wall_offset_ns", "%lld", (long long)(ctp_clock_of(CLOCK_REALTIME) - now_ns));
	}
	ctp_section_addf(&sec, "start_ns", "%llu", (unsigned long long)now_ns);
	add_argv(&sec, pid);
	ctp_writer_begin(w, &sec);
	ctp_section_fini(&sec);
	t->writer = w;
}

/* The header has the time of the first frame, so that it also comes first when records are sorted by time. */
static void put_header(struct ctp_ppt_trace *t, uint64_t ts_ns, int32_t begins)
{
	size_t len;
	char *header = ctp_ppt_header(t->json, t->json_len, t->at.counters->names, t->at.counters->n, &len);
	if (header)
		ctp_ppt_frames_header(t->frames, t->writer, ts_ns, header, len);
	free(header);
	t->has_header = true;
	t->begins = begins;
	if (t->at.ring.late)
		ctp_writer_record(t->writer, t->late_class, (const uint64_t[]){[FROM_TS] = ts_ns, [FROM_SEQNO] = (uint64_t)begins});
}

static void add_missing(struct ctp_ppt_trace *t, const struct ctp_ppt_missing *m)
{
	if (!t->missing.count)
		t->missing.number = m->number;
	t->missing.count += m->count;
	t->missing.torn += m->torn;
	t->lost += m->count;
	t->torn += m->torn;
}

static void put_missing(struct ctp_ppt_trace *t, uint64_t before_ns)
{
	if (!t->missing.count)
		return;
	/* The numbers of two threads need not be in the order of their times. */
	bool in_order = t->after_ns <= before_ns;
	struct ctp_ppt_loss loss = {.seqno = (int32_t)t->missing.number, .count = t->missing.count, .unverified = t->missing.torn,
	                            .after_ns = in_order ? t->after_ns : before_ns, .ts_ns = in_order ? before_ns : t->after_ns};
	ctp_ppt_frames_lost(t->frames, t->writer, &loss);
	t->missing = (struct ctp_ppt_missing){0};
}

static void put_frame(struct ctp_ppt_trace *t, uint64_t now_ns)
{
	if (!ctp_ppt_frames_whole(t->frames, t->frame)) { /* the description has no such type */
		t->unknown++;
		add_missing(t, &(struct ctp_ppt_missing){
			.number = (uint32_t)ctp_ppt_frames_seqno(t->frames, t->frame), .count = 1, .torn = 1});
		return;
	}
	if (t->discards) {
		t->unkept++;
		t->lost++;
		return;
	}
	uint64_t ns = t->after_ns;
	if (t->missing.count || !t->has_header) {
		ctp_ppt_frames_time(t->frames, t->frame, &ns);
		if (!t->has_header)
			put_header(t, ns, ctp_ppt_frames_seqno(t->frames, t->frame));
		put_missing(t, ns);
	}
	ns = ctp_ppt_frames_put(t->frames, t->writer, t->frame);
	uint64_t lag_ns = now_ns > ns ? now_ns - ns : 0;
	if (lag_ns > t->lag_ns)
		t->lag_ns = lag_ns < LAG_MAX_NS ? lag_ns : LAG_MAX_NS;
	t->after_ns = ns;
	t->newest_ns = ns > t->newest_ns ? ns : t->newest_ns;
	t->taken++;
}

/* --- children ------------------------------------------------------------------------------------------------------------- */

static void put_doubt(struct ctp_ppt_trace *t, const struct ctp_ppt_doubt *doubt)
{
	t->unverified += doubt->count;
	if (t->writer)
		ctp_writer_record(t->writer, t->doubt_class, (const uint64_t[]){
			[FROM_TS] = t->newest_ns, [FROM_SEQNO] = (uint64_t)(int64_t)(int32_t)doubt->number,
			[FROM_COUNT] = doubt->count});
}

/* With the header of sdk/ppt, a child does not have the ring. */
static void look_for_others(struct ctp_ppt_trace *t, bool drained)
{
	struct ctp_ppt_doubt doubt;
	if (!t->layout->by_header && ctp_ppt_shared_look(&t->shared, &t->at.ring, ctp_ppt_attach_others(&t->at), drained, &doubt))
		put_doubt(t, &doubt);
}

static void settle(struct ctp_ppt_trace *t)
{
	struct ctp_ppt_doubt doubt;
	look_for_others(t, true);
	if (ctp_ppt_shared_end(&t->shared, &t->at.ring, &doubt))
		put_doubt(t, &doubt);
	ctp_ppt_shared_fini(&t->shared);
}

/* --- frames ---------------------------------------------------------------------------------------------------------------- */

uint32_t ctp_ppt_trace_take(struct ctp_ppt_trace *t, uint32_t max, bool last)
{
	uint64_t looked_ns = ctp_clock_ns(), now_ns = now_of(t), before = t->at.ring.frames + t->at.ring.lost;
	struct ctp_ppt_missing missing;
	enum ctp_ppt_found found = CTP_PPT_GAP;
	assert(t->at.ring.slots && t->at.shm.at);
	if (!t->shared.sums && !t->layout->by_header)
		ctp_ppt_shared_begin(&t->shared, &t->at.ring);
	for (uint32_t n = 0; n < max; n++) {
		found = last ? ctp_ppt_ring_last(&t->at.ring, t->frame, &missing, looked_ns) :
		               ctp_ppt_ring_next(&t->at.ring, t->frame, &missing, looked_ns);
		if (found == CTP_PPT_NOTHING)
			break;
		if (found == CTP_PPT_GAP) {
			add_missing(t, &missing);
			continue;
		}
		ctp_ppt_shared_took(&t->shared, &t->at.ring, t->frame);
		put_frame(t, now_ns);
	}
	look_for_others(t, found == CTP_PPT_NOTHING);
	uint64_t n = t->at.ring.frames + t->at.ring.lost - before;
	return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

void ctp_ppt_trace_strays(struct ctp_ppt_trace *t)
{
	struct ctp_ppt_missing missing;
	if (ctp_ppt_ring_strays(&t->at.ring, &missing) == CTP_PPT_GAP)
		add_missing(t, &missing);
}

void ctp_ppt_trace_publish(struct ctp_ppt_trace *t)
{
	uint64_t lag_ns = 2 * t->lag_ns > LAG_MIN_NS ? 2 * t->lag_ns : LAG_MIN_NS, now_ns = now_of(t);
	if (!ctp_writer_pending(t->writer) && t->marked_ns > t->newest_ns)
		return; /* a reader has everything already */
	if (t->clock >= 0 && now_ns > lag_ns && now_ns - lag_ns > t->marked_ns) {
		t->marked_ns = now_ns - lag_ns;
		ctp_writer_mark(t->writer, t->marked_ns);
	}
	ctp_writer_flush(t->writer);
}

void ctp_ppt_trace_discard(struct ctp_ppt_trace *t, uint64_t kept)
{
	uint64_t unkept = kept < t->taken ? t->taken - kept : 0;
	t->taken -= unkept;
	t->lost += unkept;
	t->unkept += unkept;
	t->writer = NULL;
	t->discards = true;
}

struct ctp_ppt_counts ctp_ppt_trace_counts(const struct ctp_ppt_trace *t)
{
	const struct ctp_ppt_ring *r = &t->at.ring;
	return (struct ctp_ppt_counts){
		.frames = t->taken, .lost = t->lost, .overrun = r->overrun, .torn = t->torn - r->wrong - t->unknown,
		.wrong = r->wrong + t->unknown, .unkept = t->unkept, .unverified = t->unverified, .late = t->late,
	};
}

void ctp_ppt_trace_end(struct ctp_ppt_trace *t, struct ctp_ppt_outcome outcome)
{
	uint64_t now_ns = now_of(t);
	if (!t->writer)
		return;
	settle(t);
	if (!t->has_header)
		put_header(t, now_ns, (int32_t)t->at.ring.begins);
	put_missing(t, now_ns);
	const uint64_t val[END_FIELDS] = {
		[END_TS] = now_ns, [END_FRAMES] = t->taken, [END_LOST] = t->lost, [END_UNVERIFIED] = t->torn + t->unverified,
		[END_LATE] = t->at.ring.late, [END_OUTCOME] = outcome.how, [END_STATUS] = (uint64_t)outcome.status, [END_AFTER] = t->after_ns, [END_BEFORE] = now_ns,
	};
	ctp_writer_record(t->writer, t->end_class, val);
	ctp_writer_end(t->writer, true);
	t->writer = NULL;
}
