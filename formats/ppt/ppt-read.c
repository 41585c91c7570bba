/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ppt-read.c - a source that makes a section of each PPT1 file.
 *
 * No marks are made: times in a file are as far out of order as threads were, and readers order what they can hold.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/varint.h"
#include "ppt/ppt-frames.h"
#include "ppt/ppt-seen.h"
#include "ppt/ppt.h"

enum { PREFIX_BYTES = 8, TICK_FRAMES = 4096, LOOK_AHEAD_BYTES = 1 << 20, WAITING_MAX = 1024 };

struct ppt_source {
	struct ctp_source source;
	const char *tool;
	bool exact, verbose;
};

/* A file that is being read. */
struct reading {
	struct ppt_source *of;
	struct ctp_input *in;
	struct ctp_writer *writer;
	const struct ctp_notice *notice;
	char *header;
	uint32_t header_len;
	struct ctp_ppt_layout *layout;
	struct ctp_ppt_frames *frames;
	uint64_t kept, again, twice, empty, torn, unknown, lost, cut_bytes;
	uint64_t damage_at; /* byte of the file, of the first damage; UINT64_MAX: none so far */
	struct ctp_ppt_seen seen;
	uint64_t last_ns; /* time of the last frame that had one */
	struct ctp_ppt_loss waiting[WAITING_MAX]; /* gaps that are not written yet */
	size_t nwaiting;
};

/* --- the header ---------------------------------------------------------------------------------------------------------- */

static uint32_t big_endian(const uint8_t *p) { return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3]; }

static enum ctp_status cut_header(const struct ctp_input *in, struct ctp_err *err)
{
	if (in->failed) {
		*err = in->err;
		return CTP_FAILED;
	}
	return ctp_err_set(err, "%s: is cut short within its header, at byte %llu", in->name, (unsigned long long)(in->offset + in->avail));
}

static enum ctp_status read_header(struct reading *r, struct ctp_err *err)
{
	struct ctp_input *in = r->in;
	size_t have = ctp_input_fill(in, PREFIX_BYTES), magic = sizeof CTP_PPT_MAGIC - 1;
	if (!in->failed && (have < magic || memcmp(in->ptr, CTP_PPT_MAGIC, magic)))
		return ctp_err_set(err, "%s: is no file of ppt: it does not begin with " CTP_PPT_MAGIC, in->name);
	if (have < PREFIX_BYTES)
		return cut_header(in, err);
	r->header_len = big_endian(in->ptr + magic);
	if (r->header_len > CTP_PPT_HEADER_MAX)
		return ctp_err_set(err, "%s: a header of %u bytes, and at most %d are read", in->name, r->header_len,
		                   CTP_PPT_HEADER_MAX);
	ctp_input_skip(in, PREFIX_BYTES);
	if (ctp_input_fill(in, r->header_len) < r->header_len)
		return cut_header(in, err);
	if (!(r->header = malloc(r->header_len + 1)))
		return ctp_err_memory(err);
	memcpy(r->header, in->ptr, r->header_len);
	ctp_input_skip(in, r->header_len);
	if (!(r->layout = ctp_ppt_layout_parse(r->header, r->header_len, err)) ||
	    !(r->frames = ctp_ppt_frames_new(r->layout, r->layout->counters, r->layout->ncounters, r->of->exact, err)))
		return ctp_err_before(err, "%s: ", in->name);
	return CTP_OK;
}

/* The earliest time of the first frames; 0: they have none. */
static uint64_t start_ns(struct reading *r)
{
	size_t size = r->layout->size, n = ctp_input_fill(r->in, LOOK_AHEAD_BYTES) / size;
	uint64_t start = UINT64_MAX, ns;
	for (size_t i = 0; i < n && i * size < LOOK_AHEAD_BYTES; i++) {
		const uint8_t *bytes = r->in->ptr + i * size;
		if (ctp_ppt_frames_seqno(r->frames, bytes) && ctp_ppt_frames_whole(r->frames, bytes) &&
		    ctp_ppt_frames_time(r->frames, bytes, &ns) && ns < start)
			start = ns;
	}
	return start == UINT64_MAX ? 0 : start;
}

static void begin_section(struct reading *r)
{
	struct ctp_section sec;
	ctp_section_init(&sec);
	ctp_section_add(&sec, "tool", r->of->tool);
	ctp_section_add(&sec, "source", r->in->name);
	ctp_ppt_frames_section(r->frames, &sec);
	ctp_writer_begin(r->writer, &sec);
	ctp_section_fini(&sec);
	ctp_ppt_frames_header(r->frames, r->writer, start_ns(r), r->header, r->header_len);
}

/* --- frames -------------------------------------------------------------------------------------------------------------- */

static void write_waiting(struct reading *r)
{
	for (size_t i = 0; i < r->nwaiting; i++)
		ctp_ppt_frames_lost(r->frames, r->writer, &r->waiting[i]);
	r->nwaiting = 0;
}

/*
 * A frame without a time has that of the record before it. So a gap of another time waits for a frame that has its own. Where many wait,
 * the frames since then have none, and nor have the gaps between them another.
 */
static bool take_gap(struct reading *r)
{
	struct ctp_ppt_loss loss;
	if (!ctp_ppt_seen_gap(&r->seen, &loss))
		return false;
	r->lost += loss.count;
	if (loss.ts_ns == r->last_ns) {
		ctp_ppt_frames_lost(r->frames, r->writer, &loss);
		return true;
	}
	if (r->nwaiting == WAITING_MAX)
		write_waiting(r);
	r->waiting[r->nwaiting++] = loss;
	return true;
}

static void note_damage(struct reading *r, const uint8_t *bytes)
{
	uint64_t at = r->in->offset + (uint64_t)(bytes - r->in->ptr);
	r->damage_at = at < r->damage_at ? at : r->damage_at;
}

/* A frame that cannot be one. Where its number is missing at the end, it is a loss that was seen. */
static void reject(struct reading *r, const uint8_t *bytes, bool known)
{
	int32_t seqno = ctp_ppt_frames_seqno(r->frames, bytes);
	++*(known ? &r->torn : &r->unknown);
	note_damage(r, bytes);
	if (seqno)
		ctp_ppt_seen_torn(&r->seen, seqno);
}

/* A slot that was never written, or is just being written: the number is 0 on both sides, of the first frame or of its own. */
static bool is_empty(const struct reading *r, const uint8_t *bytes)
{
	uint32_t back = r->layout->frames[0].members[r->layout->frames[0].back].offset;
	return (!ctp_load_u32(bytes + back) || ctp_ppt_frames_whole(r->frames, bytes)) && !ctp_ppt_seen_next(&r->seen, 0);
}

static uint64_t keep(struct reading *r, int32_t seqno, const uint8_t *bytes)
{
	uint64_t ns;
	ctp_ppt_seen_sum(&r->seen, seqno, bytes, r->layout->size);
	r->kept++;
	if (r->nwaiting && ctp_ppt_frames_time(r->frames, bytes, &ns))
		write_waiting(r);
	return r->last_ns = ctp_ppt_frames_put(r->frames, r->writer, bytes);
}

/* A number that was there before. */
static void take_again(struct reading *r, int32_t seqno, const uint8_t *bytes)
{
	bool other = ctp_ppt_seen_differs(&r->seen, seqno, bytes, r->layout->size);
	++*(other ? &r->twice : &r->again);
	if (!other)
		return;
	note_damage(r, bytes);
	keep(r, seqno, bytes);
}

static void take_frame(struct reading *r, const uint8_t *bytes)
{
	int32_t seqno = ctp_ppt_frames_seqno(r->frames, bytes);
	if (!seqno && is_empty(r, bytes)) {
		r->empty++;
	} else if (!ctp_ppt_frames_whole(r->frames, bytes)) {
		reject(r, bytes, ctp_ppt_frames_type(r->frames, bytes) >= 0);
	} else if (!ctp_ppt_seen_add(&r->seen, seqno)) {
		take_again(r, seqno, bytes);
	} else {
		ctp_ppt_seen_time(&r->seen, keep(r, seqno, bytes));
		if (ctp_ppt_seen_full(&r->seen))
			take_gap(r);
		assert(!ctp_ppt_seen_full(&r->seen));
	}
}

static void read_frames(struct reading *r)
{
	const struct ctp_tick *tick = &r->of->source.tick;
	struct ctp_input *in = r->in;
	size_t size = r->layout->size;
	while (!ctp_writer_failed(r->writer) && ctp_input_fill(in, size) >= size) {
		size_t n = in->avail / size < TICK_FRAMES ? in->avail / size : TICK_FRAMES;
		for (size_t i = 0; i < n; i++)
			take_frame(r, in->ptr + i * size);
		ctp_input_skip(in, n * size);
		if (tick->tick)
			tick->tick(tick->arg, in, r->of->source.stats.accepted + r->kept);
	}
	r->cut_bytes = in->failed ? 0 : in->avail;
	if (r->cut_bytes)
		note_damage(r, in->ptr);
}

/* --- the end ------------------------------------------------------------------------------------------------------------- */

/* One line for all that is worth one. */
static void say_counts(struct reading *r)
{
	const struct { uint64_t n; const char *what; } counts[] = {
		{r->twice, "of these with the number of another"}, {r->again, "dropped that came again"},
		{r->empty, "slots never written"}, {r->torn, "torn"}, {r->unknown, "of no known type"}, {r->lost, "lost"},
		{ctp_ppt_frames_cut(r->frames), "with a time that is out of range"},
		{r->cut_bytes, "bytes of a frame that is cut short"},
	};
	char text[900] = "";
	size_t len = 0;
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
		if (counts[i].n)
			len += (size_t)snprintf(text + len, sizeof text - len, ", %" PRIu64 " %s", counts[i].n, counts[i].what);
	if (r->damage_at != UINT64_MAX)
		len += (size_t)snprintf(text + len, sizeof text - len, "; the first damage is at byte %" PRIu64, r->damage_at);
	if (r->in->harmed)
		snprintf(text + len, sizeof text - len, "; %.300s", r->in->err.text);
	if (*text || r->of->verbose)
		ctp_notice_say(r->notice, "%s: %" PRIu64 " frame%s kept%s", r->layout->buffer, r->kept,
		               r->kept == 1 ? "" : "s", text);
}

static void finish_file(struct reading *r)
{
	struct ctp_source_stats *stats = &r->of->source.stats;
	while (take_gap(r))
		;
	write_waiting(r);
	ctp_writer_end(r->writer, !r->cut_bytes && !r->in->harmed);
	say_counts(r);
	stats->accepted += r->kept;
	stats->rejected += r->torn + r->unknown;
	stats->lost += r->lost;
	stats->harmed |= r->twice || r->torn || r->unknown || r->lost || r->cut_bytes || r->in->harmed;
}

static enum ctp_status read_sections(struct reading *r, struct ctp_err *err)
{
	if (read_header(r, err))
		return CTP_FAILED;
	begin_section(r);
	read_frames(r);
	finish_file(r);
	if (r->in->failed) {
		*err = r->in->err;
		return CTP_FAILED;
	}
	if (ctp_writer_failed(r->writer))
		return ctp_err_set(err, "%s: what was made of it could not be written", r->in->name);
	return CTP_OK;
}

static enum ctp_status read_file(struct ctp_source *source, struct ctp_input *in, struct ctp_writer *w, const struct ctp_notice *notice,
                                 struct ctp_err *err)
{
	struct reading *r = calloc(1, sizeof *r);
	if (!r)
		return ctp_err_memory(err);
	r->of = (struct ppt_source *)source;
	r->in = in;
	r->writer = w;
	r->notice = notice;
	r->damage_at = UINT64_MAX;
	enum ctp_status status = read_sections(r, err);
	ctp_ppt_frames_free(r->frames);
	ctp_ppt_layout_free(r->layout);
	free(r->header);
	free(r);
	return status;
}

static void free_source(struct ctp_source *source) { free(source); }

static const struct ctp_source_ops ops = {
	.read = read_file,
	.free = free_source,
};

struct ctp_source *ctp_ppt_source(const char *tool, bool exact, bool verbose, struct ctp_err *err)
{
	struct ppt_source *s = calloc(1, sizeof *s);
	if (!s) {
		ctp_err_memory(err);
		return NULL;
	}
	*s = (struct ppt_source){.source.ops = &ops, .tool = tool, .exact = exact, .verbose = verbose};
	return &s->source;
}
