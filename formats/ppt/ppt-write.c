/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ppt-write.c - a sink that writes the section of a buffer as a PPT1 file.
 */
#include <assert.h>
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "ppt/ppt-frames.h"
#include "ppt/ppt-symbols.h"
#include "ppt/ppt.h"
#include "stream/runs.h"

enum { EARLY_BYTES = 64 << 20, HELD_BYTES = 64 << 20, OTHERS_BYTES = 300, FILE_BYTES = 4096 };

/* The section that is being read. */
struct section {
	char file[FILE_BYTES]; /* the program or the library that has the buffer, or the PPT1 file; "": not known */
	char *header;
	size_t header_len, header_room;
	uint64_t parts; /* that have come */
	uint64_t missing; /* frames, as it says */
	bool known;     /* the layout is known */
	bool wanted;    /* its frames are written */
	struct ctp_runs *early; /* records that come before the header, by their time; null: none so far */
	struct ctp_ppt_layout *layout;
	struct ctp_ppt_frames *frames, *plain; /* plain: of a stream that was made so */
	int64_t next;   /* place in the file */
	uint8_t *bytes; /* of a frame */
	struct ctp_runs *held; /* frames that wait for those before them, by their places; null: none so far */
	struct bound {
		const struct ctp_class *cls; /* null: not met yet */
		struct ctp_ppt_binding *binding; /* null: no frames */
		bool plain;
	} bound[CTP_CLASSES_MAX];
};

struct ppt_sink {
	struct ctp_sink sink; /* first */
	struct ctp_output *out;
	const char *buffer; /* that is wanted; null: any */
	const struct ctp_notice *notice;
	bool verbose;
	bool *whole; /* may be null */
	uint64_t nframes, lost; /* that were written; that the stream says are missing */
	char written[CTP_PPT_NAME_MAX + 1]; /* the buffer whose section was written; "": none */
	char written_file[FILE_BYTES];      /* and its file */
	bool inexact; /* a frame was plain */
	char others[OTHERS_BYTES];          /* those that are not wanted, as far as there is room */

	struct section now;
};

static void forget_section(struct ppt_sink *s)
{
	for (uint32_t i = 0; i < CTP_CLASSES_MAX; i++)
		free(s->now.bound[i].binding);
	ctp_runs_free(s->now.held);
	ctp_ppt_frames_free(s->now.frames);
	ctp_ppt_frames_free(s->now.plain);
	ctp_ppt_layout_free(s->now.layout);
	ctp_runs_free(s->now.early);
	free(s->now.bytes);
	free(s->now.header);
	memset(&s->now, 0, sizeof s->now);
}

static enum ctp_status begin_section(struct ctp_sink *sink, const struct ctp_section *sec, struct ctp_err *err)
{
	struct ppt_sink *s = (struct ppt_sink *)sink;
	(void)err;
	forget_section(s);
	const char *file = ctp_section_get(sec, CTP_PPT_FILE);
	if (!file)
		file = ctp_section_get(sec, "source");
	snprintf(s->now.file, sizeof s->now.file, "%s", file ? file : "");
	return CTP_OK;
}

/* --- the header ---------------------------------------------------------------------------------------------------------- */

/* Its name, with its file where that was asked for. */
static void add_other(struct ppt_sink *s)
{
	char name[OTHERS_BYTES];
	bool by_file = strchr(s->buffer, ':') && *s->now.file;
	snprintf(name, sizeof name, "%.150s%s%s", by_file ? s->now.file : "", by_file ? ":" : "", s->now.layout->buffer);
	size_t len = strlen(s->others), room = sizeof s->others - len;
	if (strlen(name) + sizeof ", , ..." <= room)
		snprintf(s->others + len, room, "%s%s", len ? ", " : "", name);
	else if (len && s->others[len - 1] != '.')
		snprintf(s->others + len, room, ", ...");
}

/* A second section that is wanted. */
static enum ctp_status refuse_section(const struct ppt_sink *s, struct ctp_err *err)
{
	const char *buffer = s->now.layout->buffer;
	if (strcmp(s->written, buffer))
		return ctp_err_set(err, "the stream has the buffers %s and %s; choose one with --buffer", s->written, buffer);
	if (strcmp(s->written_file, s->now.file))
		return ctp_err_set(err, "the stream has two sections of the buffer %s, of %.100s and %.100s; choose one with --buffer FILE:%s", buffer,
		                   s->written_file, s->now.file, buffer);
	return ctp_err_set(err, "the stream has two sections of the buffer %s of one file, %.100s, and a PPT1 file has one; encode each stream by itself",
	                   buffer, *s->now.file ? s->now.file : "which is not known");
}

static enum ctp_status begin_file(struct ppt_sink *s, struct ctp_err *err)
{
	struct ctp_ppt_layout *l = s->now.layout = ctp_ppt_layout_parse(s->now.header, s->now.header_len, err);
	if (!l)
		return CTP_FAILED;
	s->now.known = true;
	if (s->buffer && !ctp_ppt_chosen_by(s->buffer, l->buffer, s->now.file)) {
		add_other(s);
		return CTP_OK;
	}
	if (*s->written)
		return refuse_section(s, err);
	strcpy(s->written, l->buffer);
	strcpy(s->written_file, s->now.file);
	s->now.frames = ctp_ppt_frames_new(l, l->counters, l->ncounters, true, err);
	s->now.plain = s->now.frames ? ctp_ppt_frames_new(l, l->counters, l->ncounters, false, err) : NULL;
	if (!s->now.plain)
		return CTP_FAILED;
	if (!(s->now.bytes = malloc(l->size)))
		return ctp_err_memory(err);
	ctp_output_put(s->out, CTP_PPT_MAGIC, sizeof CTP_PPT_MAGIC - 1);
	uint32_t len = htobe32((uint32_t)s->now.header_len);
	ctp_output_put(s->out, &len, sizeof len);
	ctp_output_put(s->out, s->now.header, s->now.header_len);
	s->now.wanted = true;
	return CTP_OK;
}

/* Parts come in their order; the last one makes the header whole. */
static enum ctp_status take_header(struct ppt_sink *s, const struct ctp_record *rec, struct ctp_err *err)
{
	uint64_t part = ctp_record_number(rec, ctp_class_field(rec->cls, "part"));
	uint64_t parts = ctp_record_number(rec, ctp_class_field(rec->cls, "parts"));
	const struct ctp_str *text = ctp_record_str(rec, ctp_class_field(rec->cls, "json"), CTP_STRING);
	if (!text || part != s->now.parts || part >= parts || text->len > CTP_PPT_HEADER_MAX - s->now.header_len)
		return ctp_err_set(err, "the header of ppt in the stream is not whole");
	if (!CTP_ARRAY_RESERVE(s->now.header, s->now.header_room, s->now.header_len + text->len, CTP_PPT_HEADER_MAX))
		return ctp_err_memory(err);
	memcpy(s->now.header + s->now.header_len, text->data, text->len);
	s->now.header_len += text->len;
	return ++s->now.parts == parts ? begin_file(s, err) : CTP_OK;
}

/* --- frames -------------------------------------------------------------------------------------------------------------- */

/* How records of a class become frames. The layout is known. Null: err. */
static struct bound *bound_of(struct ppt_sink *s, const struct ctp_class *cls, struct ctp_err *err)
{
	struct bound *b = &s->now.bound[cls->id];
	if (b->cls)
		return b;
	b->plain = ctp_class_field(cls, "ppt_place") < 0;
	b->binding = s->now.wanted ? ctp_ppt_frames_bind(b->plain ? s->now.plain : s->now.frames, cls, err) : NULL;
	if (s->now.wanted && !b->binding && *err->text)
		return NULL;
	b->cls = cls;
	return b;
}

/* Makes the frame of a record, in now.bytes. Returns its place; a plain frame has the next one. */
static int64_t make_frame(struct ppt_sink *s, const struct bound *b, const struct ctp_record *rec)
{
	int64_t place = ctp_ppt_frames_back(b->plain ? s->now.plain : s->now.frames, b->binding, rec->val, s->now.bytes);
	return b->plain ? s->now.next : place;
}

static enum ctp_status put_frame(struct ppt_sink *s, int64_t place, struct ctp_err *err)
{
	if (place < s->now.next)
		return ctp_err_set(err, "frame %lld of the section comes twice, or too late for its place", (long long)place);
	ctp_output_put(s->out, s->now.bytes, s->now.layout->size);
	s->now.next = place < INT64_MAX ? place + 1 : place;
	return CTP_OK;
}

static enum ctp_status put_released(struct ppt_sink *s, struct ctp_err *err)
{
	enum ctp_status status = CTP_OK;
	struct ctp_batch batch;
	while (!status && ctp_runs_next(s->now.held, &batch))
		for (uint32_t i = 0; i < batch.n && !status; i++)
			status = put_frame(s, make_frame(s, &s->now.bound[batch.rec[i].cls->id], &batch.rec[i]), err);
	return status;
}

/* Puts the held frames that follow the last one. all: puts all, and gives up the places that are missing. */
static enum ctp_status put_held(struct ppt_sink *s, bool all, struct ctp_err *err)
{
	enum ctp_status status = CTP_OK;
	for (bool any = s->now.held; any && !status;) {
		if (all)
			ctp_runs_release_all(s->now.held);
		else
			ctp_runs_release_before(s->now.held, (uint64_t)s->now.next + 1);
		any = ctp_runs_released(s->now.held);
		status = put_released(s, err);
	}
	return status;
}

/* A stream that was ordered by time, or went through text, has its frames nearly in the order of their places. */
static enum ctp_status hold(struct ppt_sink *s, int64_t place, const struct ctp_record *rec, struct ctp_err *err)
{
	assert(place > s->now.next);
	if (!s->now.held && !(s->now.held = ctp_runs_new(HELD_BYTES, err)))
		return CTP_FAILED;
	enum ctp_status status = ctp_runs_put(s->now.held, (uint64_t)place, rec->cls, rec->val);
	if (status == CTP_FAILED)
		return ctp_err_memory(err);
	if (status == CTP_OK)
		return CTP_OK;
	ctp_runs_release_half(s->now.held); /* full: missing places are given up */
	return put_released(s, err);
}

static enum ctp_status take_frame(struct ppt_sink *s, const struct ctp_record *rec, struct ctp_err *err)
{
	const struct bound *b = bound_of(s, rec->cls, err);
	if (!b || !b->binding)
		return b ? CTP_OK : CTP_FAILED;
	s->nframes++;
	s->inexact |= b->plain;
	int64_t place = make_frame(s, b, rec);
	return place > s->now.next ? hold(s, place, rec, err) : put_frame(s, place, err);
}

/* A frame that began before the section did comes before the header in the order of time. */
static enum ctp_status keep_early(struct ppt_sink *s, const struct ctp_record *rec, struct ctp_err *err)
{
	if (strncmp(rec->cls->name, "ppt_", 4) || !strcmp(rec->cls->name, CTP_PPT_LOST_CLASS))
		return CTP_OK;
	if (!s->now.early && !(s->now.early = ctp_runs_new(EARLY_BYTES, err)))
		return CTP_FAILED;
	enum ctp_status status = ctp_runs_put(s->now.early, rec->ts_ns, rec->cls, rec->val);
	return status == CTP_EOF ? ctp_err_set(err, "too many frames come before the header of ppt") :
	       status ? ctp_err_memory(err) : CTP_OK;
}

static enum ctp_status take_early(struct ppt_sink *s, struct ctp_err *err)
{
	enum ctp_status status = CTP_OK;
	struct ctp_batch batch;
	if (!s->now.early || !s->now.known)
		return CTP_OK;
	ctp_runs_release_all(s->now.early);
	while (!status && ctp_runs_next(s->now.early, &batch))
		for (uint32_t i = 0; i < batch.n && !status; i++)
			status = take_frame(s, &batch.rec[i], err);
	return status;
}

static enum ctp_status take_record(struct ppt_sink *s, const struct ctp_record *rec, struct ctp_err *err)
{
	s->now.missing += ctp_record_lost(rec);
	if (s->now.known)
		return take_frame(s, rec, err);
	if (strcmp(rec->cls->name, CTP_PPT_HEADER_CLASS))
		return keep_early(s, rec, err);
	enum ctp_status status = take_header(s, rec, err);
	return status ? status : take_early(s, err);
}

static enum ctp_status take_records(struct ctp_sink *sink, const struct ctp_batch *batch, struct ctp_err *err)
{
	struct ppt_sink *s = (struct ppt_sink *)sink;
	enum ctp_status status = CTP_OK;
	for (uint32_t i = 0; i < batch->n && !status; i++)
		status = take_record(s, &batch->rec[i], err);
	if (!status)
		status = put_held(s, false, err);
	return status ? status : ctp_output_status(s->out, err);
}

static enum ctp_status flush(struct ctp_sink *sink, struct ctp_err *err)
{
	struct ppt_sink *s = (struct ppt_sink *)sink;
	ctp_output_flush(s->out);
	return ctp_output_status(s->out, err);
}

/* Called also if the end of the section is missing. */
static enum ctp_status finish_section(struct ppt_sink *s, struct ctp_err *err)
{
	enum ctp_status status = put_held(s, true, err);
	if (s->now.wanted)
		s->lost += s->now.missing;
	forget_section(s);
	return status;
}

static enum ctp_status end_section(struct ctp_sink *sink, const struct ctp_section_end *end, struct ctp_err *err)
{
	struct ppt_sink *s = (struct ppt_sink *)sink;
	(void)end;
	return finish_section(s, err) ? CTP_FAILED : ctp_output_status(s->out, err);
}

static void say_counts(const struct ppt_sink *s)
{
	if (s->inexact)
		ctp_notice_say(s->notice, "%s: the stream was made without --exact: padding is 0, counters begin at 0, "
		                          "frames are in the order of their times", s->written);
	const struct ctp_convert_stats *stats = s->sink.stats;
	uint64_t others = stats && stats->lost > s->lost ? stats->lost - s->lost : 0;
	char more[64] = "";
	if (others)
		snprintf(more, sizeof more, "; %llu in other sections", (unsigned long long)others);
	if (s->verbose || s->lost || others)
		ctp_notice_say(s->notice, "%s: %llu frame%s, %llu lost%s", s->written, (unsigned long long)s->nframes, s->nframes == 1 ? "" : "s",
		               (unsigned long long)s->lost, more);
}

static enum ctp_status finish(struct ctp_sink *sink, struct ctp_err *err)
{
	struct ppt_sink *s = (struct ppt_sink *)sink;
	if (finish_section(s, err))
		return CTP_FAILED;
	if (!*s->written && *s->others)
		return ctp_err_set(err, "the stream has no buffer %s, but %s", s->buffer, s->others);
	if (!*s->written)
		return ctp_err_set(err, "the stream has no header of ppt; ctp-ppt decode and ctp-ppt attach write one");
	enum ctp_status status = ctp_output_close(s->out, err);
	if (!status)
		say_counts(s);
	if (s->whole) /* which section a packet was of that cannot be read is not known */
		*s->whole = !s->lost && !(sink->stats && sink->stats->damaged);
	return status;
}

static void free_sink(struct ctp_sink *sink)
{
	struct ppt_sink *s = (struct ppt_sink *)sink;
	forget_section(s);
	ctp_output_abandon(s->out);
	free(s);
}

static const struct ctp_sink_ops ops = {
	.section = begin_section,
	.records = take_records,
	.flush = flush,
	.end = end_section,
	.finish = finish,
	.free = free_sink,
};

struct ctp_sink *ctp_ppt_sink(struct ctp_output *out, const char *buffer, const struct ctp_notice *notice, bool verbose, bool *whole,
                              struct ctp_err *err)
{
	struct ppt_sink *s = calloc(1, sizeof *s);
	if (!s) {
		ctp_output_abandon(out);
		ctp_err_memory(err);
		return NULL;
	}
	*s = (struct ppt_sink){.sink.ops = &ops, .out = out, .buffer = buffer, .notice = notice, .verbose = verbose,
	                       .whole = whole};
	return &s->sink;
}
