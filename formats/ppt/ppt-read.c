/*
 * ppt-read.c - a source that makes a section of each PPT1 file.
 *
 * No marks are made: times in a file are as far out of order as threads were, and readers order what they can hold.
 */
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

static enum ctp_status read_header(struct reading *s, struct ctp_err *err)
{
	struct ctp_input *in = s->in;
	size_t have = ctp_input_fill(in, PREFIX_BYTES), magic = sizeof CTP_PPT_MAGIC - 1;
	if (!in->failed && (have < magic || memcmp(in->ptr, CTP_PPT_MAGIC, magic)))
		return ctp_err_set(err, "%s: is no file of ppt: it does not begin with " CTP_PPT_MAGIC, in->name);
	if (have < PREFIX_BYTES)
		return cut_header(in, err);
	s->header_len = big_endian(in->ptr + magic);
	if (s->header_len > CTP_PPT_HEADER_MAX)
		return ctp_err_set(err, "%s: a header of %u bytes, and at most %d are read", in->name, s->header_len, CTP_PPT_HEADER_MAX);
	ctp_input_skip(in, PREFIX_BYTES);
	if (ctp_input_fill(in, s->header_len) < s->header_len)
		return cut_header(in, err);
	if (!(s->header = malloc(s->header_len + 1)))
		return ctp_err_set(err, "out of memory");
	memcpy(s->header, in->ptr, s->header_len);
	ctp_input_skip(in, s->header_len);
	struct ctp_err why;
	if (!(s->layout = ctp_ppt_layout_parse(s->header, s->header_len, &why)) ||
	    !(s->frames = ctp_ppt_frames_new(s->layout, s->layout->counters, s->layout->ncounters, s->of->exact, &why)))
		return ctp_err_set(err, "%s: %.400s", in->name, why.text);
	return CTP_OK;
}

/* The earliest time of the first frames; 0: they have none. */
static uint64_t start_ns(struct reading *s)
{
	size_t size = s->layout->size, n = ctp_input_fill(s->in, LOOK_AHEAD_BYTES) / size;
	uint64_t start = UINT64_MAX, ns;
	for (size_t i = 0; i < n && i * size < LOOK_AHEAD_BYTES; i++) {
		const uint8_t *bytes = s->in->ptr + i * size;
		if (ctp_ppt_frames_seqno(s->frames, bytes) && ctp_ppt_frames_whole(s->frames, bytes) &&
		    ctp_ppt_frames_time(s->frames, bytes, &ns) && ns < start)
			start = ns;
	}
	return start == UINT64_MAX ? 0 : start;
}

static enum ctp_status begin_section(struct reading *s, struct ctp_err *err)
{
	struct ctp_section *sec = malloc(sizeof *sec);
	if (!sec)
		return ctp_err_set(err, "out of memory");
	ctp_section_init(sec);
	ctp_section_add(sec, "tool", s->of->tool);
	ctp_section_add(sec, "source", s->in->name);
	ctp_ppt_frames_section(s->frames, sec);
	ctp_writer_begin(s->writer, sec);
	ctp_section_fini(sec);
	free(sec);
	ctp_ppt_frames_header(s->frames, s->writer, start_ns(s), s->header, s->header_len);
	return CTP_OK;
}

/* --- frames -------------------------------------------------------------------------------------------------------------- */

static void write_waiting(struct reading *s)
{
	for (size_t i = 0; i < s->nwaiting; i++)
		ctp_ppt_frames_lost(s->frames, s->writer, &s->waiting[i]);
	s->nwaiting = 0;
}

/*
 * A frame without a time has that of the record before it. So a gap of another time waits for a frame that has its own. Where many wait,
 * the frames since then have none, and nor have the gaps between them another.
 */
static bool take_gap(struct reading *s)
{
	struct ctp_ppt_loss loss;
	if (!ctp_ppt_seen_gap(&s->seen, &loss))
		return false;
	s->lost += loss.count;
	if (loss.ts_ns == s->last_ns) {
		ctp_ppt_frames_lost(s->frames, s->writer, &loss);
		return true;
	}
	if (s->nwaiting == WAITING_MAX)
		write_waiting(s);
	s->waiting[s->nwaiting++] = loss;
	return true;
}

static void note_damage(struct reading *s, const uint8_t *bytes)
{
	uint64_t at = s->in->offset + (uint64_t)(bytes - s->in->ptr);
	s->damage_at = at < s->damage_at ? at : s->damage_at;
}

/* A frame that cannot be one. Where its number is missing at the end, it is a loss that was seen. */
static void reject(struct reading *s, const uint8_t *bytes, bool known)
{
	int32_t seqno = ctp_ppt_frames_seqno(s->frames, bytes);
	++*(known ? &s->torn : &s->unknown);
	note_damage(s, bytes);
	if (seqno)
		ctp_ppt_seen_torn(&s->seen, seqno);
}

/* A slot that was never written, or is just being written: the number is 0 on both sides, of the first frame or of its own. */
static bool is_empty(const struct reading *s, const uint8_t *bytes)
{
	uint32_t back = s->layout->frames[0].members[s->layout->frames[0].back].offset;
	return (!ctp_load_u32(bytes + back) || ctp_ppt_frames_whole(s->frames, bytes)) && !ctp_ppt_seen_next(&s->seen, 0);
}

static uint64_t keep(struct reading *s, int32_t seqno, const uint8_t *bytes)
{
	uint64_t ns;
	ctp_ppt_seen_sum(&s->seen, seqno, bytes, s->layout->size);
	s->kept++;
	if (s->nwaiting && ctp_ppt_frames_time(s->frames, bytes, &ns))
		write_waiting(s);
	return s->last_ns = ctp_ppt_frames_put(s->frames, s->writer, bytes);
}

/* A number that was there before. */
static void take_again(struct reading *s, int32_t seqno, const uint8_t *bytes)
{
	bool other = ctp_ppt_seen_differs(&s->seen, seqno, bytes, s->layout->size);
	++*(other ? &s->twice : &s->again);
	if (!other)
		return;
	note_damage(s, bytes);
	keep(s, seqno, bytes);
}

static void take_frame(struct reading *s, const uint8_t *bytes)
{
	int32_t seqno = ctp_ppt_frames_seqno(s->frames, bytes);
	if (!seqno && is_empty(s, bytes)) {
		s->empty++;
	} else if (!ctp_ppt_frames_whole(s->frames, bytes)) {
		reject(s, bytes, ctp_ppt_frames_type(s->frames, bytes) >= 0);
	} else if (!ctp_ppt_seen_add(&s->seen, seqno)) {
		take_again(s, seqno, bytes);
	} else {
		ctp_ppt_seen_time(&s->seen, keep(s, seqno, bytes));
		if (ctp_ppt_seen_full(&s->seen))
			take_gap(s);
	}
}

static void read_frames(struct reading *s)
{
	const struct ctp_tick *tick = &s->of->source.tick;
	struct ctp_input *in = s->in;
	size_t size = s->layout->size;
	while (!ctp_writer_failed(s->writer) && ctp_input_fill(in, size) >= size) {
		size_t n = in->avail / size < TICK_FRAMES ? in->avail / size : TICK_FRAMES;
		for (size_t i = 0; i < n; i++)
			take_frame(s, in->ptr + i * size);
		ctp_input_skip(in, n * size);
		if (tick->tick)
			tick->tick(tick->arg, in, s->of->source.stats.accepted + s->kept);
	}
	s->cut_bytes = in->failed ? 0 : in->avail;
	if (s->cut_bytes)
		note_damage(s, in->ptr);
}

/* --- the end ------------------------------------------------------------------------------------------------------------- */

/* One line for all that is worth one. */
static void say_counts(struct reading *s)
{
	const struct { uint64_t n; const char *what; } counts[] = {
		{s->twice, "of these with the number of another"}, {s->again, "dropped that came again"}, {s->empty, "slots never written"},
		{s->torn, "torn"}, {s->unknown, "of no known type"}, {s->lost, "lost"},
		{ctp_ppt_frames_cut(s->frames), "with a time that is out of range"}, {s->cut_bytes, "bytes of a frame that is cut short"},
	};
	char text[900] = "";
	size_t len = 0;
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
		if (counts[i].n)
			len += (size_t)snprintf(text + len, sizeof text - len, ", %llu %s", (unsigned long long)counts[i].n, counts[i].what);
	if (s->damage_at != UINT64_MAX)
		len += (size_t)snprintf(text + len, sizeof text - len, "; the first damage is at byte %llu", (unsigned long long)s->damage_at);
	if (s->in->harmed)
		snprintf(text + len, sizeof text - len, "; %.300s", s->in->err.text);
	if (*text || s->of->verbose)
		ctp_notice_say(s->notice, "%s: %llu frame%s kept%s", s->layout->buffer, (unsigned long long)s->kept, s->kept == 1 ? "" : "s", text);
}

static void finish_file(struct reading *s)
{
	struct ctp_source_stats *stats = &s->of->source.stats;
	while (take_gap(s))
		;
	write_waiting(s);
	ctp_writer_end(s->writer, !s->cut_bytes && !s->in->harmed);
	say_counts(s);
	stats->accepted += s->kept;
	stats->rejected += s->torn + s->unknown;
	stats->lost += s->lost;
	stats->harmed |= s->twice || s->torn || s->unknown || s->lost || s->cut_bytes || s->in->harmed;
}

static enum ctp_status read_sections(struct reading *s, struct ctp_err *err)
{
	if (read_header(s, err) || begin_section(s, err))
		return CTP_FAILED;
	read_frames(s);
	finish_file(s);
	if (s->in->failed) {
		*err = s->in->err;
		return CTP_FAILED;
	}
	return ctp_writer_failed(s->writer) ? ctp_err_set(err, "%s: what was made of it could not be written", s->in->name) : CTP_OK;
}

static enum ctp_status read_file(struct ctp_source *source, struct ctp_input *in, struct ctp_writer *w, const struct ctp_notice *notice,
                                 struct ctp_err *err)
{
	struct reading *s = calloc(1, sizeof *s);
	if (!s)
		return ctp_err_set(err, "out of memory");
	s->of = (struct ppt_source *)source;
	s->in = in;
	s->writer = w;
	s->notice = notice;
	s->damage_at = UINT64_MAX;
	enum ctp_status status = read_sections(s, err);
	ctp_ppt_frames_free(s->frames);
	ctp_ppt_layout_free(s->layout);
	free(s->header);
	free(s);
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
		ctp_err_set(err, "out of memory");
		return NULL;
	}
	*s = (struct ppt_source){.source.ops = &ops, .tool = tool, .exact = exact, .verbose = verbose};
	return &s->source;
}
