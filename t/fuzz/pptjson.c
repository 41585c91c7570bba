/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * pptjson.c - any bytes as the `_json` of a ppt buffer. What is understood keeps its promises: members lie in their frame and apart from
 * each other; and frames of any bytes are reproduced from their records.
 * Covers: formats/ppt/ppt-layout.c formats/ppt/ppt-frames.c
 */
#include <stdlib.h>
#include <string.h>

#include "must.h"
#include "textmem.h"
#include "base/varint.h"
#include "ppt/ppt-frames.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_frame(const struct ctp_ppt_layout *l, const struct ctp_ppt_frame *f)
{
	uint32_t at = 0;
	must(*f->name && f->size <= l->size && f->stride >= f->size && f->stride <= l->stride && f->size <= CTP_PPT_FRAME_MAX, "a frame's size");
	for (uint32_t i = 0; i < f->nmembers; i++) {
		const struct ctp_ppt_member *m = &f->members[i];
		must(m->size && m->offset >= at && m->offset + m->size <= f->size, "a member's place");
		must(*m->name && *m->base && strlen(m->name) <= CTP_PPT_NAME_MAX && strlen(m->base) <= CTP_PPT_NAME_MAX, "a member's name");
		must(m->type < CTP_PPT_TYPE_COUNT && m->kind < CTP_PPT_KIND_COUNT && m->counter < CTP_PPT_COUNTERS_MAX, "a member's type");
		must(m->other < 0 || f->members[m->other].other == (int32_t)i, "the ends of an interval");
		must(*ctp_ppt_type_name(m->type) && *ctp_ppt_kind_name(m->kind), "a name of a type");
		at = m->offset + m->size;
	}
	must(f->members[f->front].kind == CTP_PPT_FRONT && f->members[f->back].kind == CTP_PPT_BACK, "the numbers of a frame");
	must(f->type < 0 ? l->nframes == 1 : f->members[f->type].kind == CTP_PPT_FRAME_TYPE, "the type of a frame");
}

/* A frame of type n whose bytes are those of the input, over and over. */
static void fill(const struct ctp_ppt_layout *l, uint32_t n, const uint8_t *data, size_t size, uint8_t *bytes)
{
	const struct ctp_ppt_frame *f = &l->frames[n];
	for (uint32_t i = 0; i < l->size; i++)
		bytes[i] = data[(i + 7 * n) % size];
	memcpy(bytes + f->members[f->back].offset, bytes + f->members[f->front].offset, 4);
	if (f->type >= 0)
		ctp_store_u32(bytes + f->members[f->type].offset, n + 1);
}

static void back(const struct ctp_ppt_frames *frames, const struct textmem *stream, uint8_t *bytes, uint32_t *n, const struct ctp_ppt_layout *l,
                 const uint8_t *data, size_t size)
{
	struct ctp_err err;
	struct ctp_input in;
	struct ctp_item item;
	uint8_t *want = malloc(l->size);
	ctp_input_mem(&in, stream->data, stream->len);
	struct ctp_reader *r = ctp_reader_new(&in, NULL, &err);
	must(r && want, "no memory");
	while (ctp_reader_next(r, &item, &err) == CTP_OK)
		for (uint32_t i = 0; item.kind == CTP_ITEM_RECORDS && i < item.batch.n; i++) {
			struct ctp_ppt_binding *b = ctp_ppt_frames_bind(frames, item.batch.rec[i].cls, &err);
			must(b, err.text);
			must(ctp_ppt_frames_back(frames, b, item.batch.rec[i].val, bytes) == *n, "a place");
			free(b);
			fill(l, (*n)++, data, size, want);
			must(!memcmp(want, bytes, l->size), "a frame is not reproduced");
		}
	must(!ctp_reader_harmed(r), "the stream is damaged");
	ctp_reader_free(r);
	ctp_input_close(&in);
	free(want);
}

static void there_and_back(const struct ctp_ppt_layout *l, struct ctp_ppt_frames *frames, const uint8_t *data, size_t size)
{
	static struct textmem stream;
	struct ctp_err err;
	struct ctp_section sec;
	uint8_t *bytes = malloc(l->size);
	struct ctp_writer *w = ctp_writer_new(textmem_append, &stream, &err);
	must(bytes && w, "no memory");
	stream.len = 0;
	ctp_section_init(&sec);
	ctp_ppt_frames_section(frames, &sec);
	ctp_writer_begin(w, &sec);
	for (uint32_t n = 0; n < l->nframes; n++) {
		fill(l, n, data, size, bytes);
		must(ctp_ppt_frames_whole(frames, bytes) && ctp_ppt_frames_type(frames, bytes) == (int)n, "a frame is not whole");
		ctp_ppt_frames_put(frames, w, bytes);
	}
	must(ctp_writer_end(w, true), "no stream");
	uint32_t n = 0;
	back(frames, &stream, bytes, &n, l, data, size);
	must(n == l->nframes, "a frame is missing");
	ctp_section_fini(&sec);
	ctp_writer_free(w);
	free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ctp_err err;
	struct ctp_ppt_layout *l = ctp_ppt_layout_parse((const char *)data, size, &err);
	must(l || *err.text, "an error without a text");
	if (!l)
		return 0;
	for (uint32_t i = 0; i < l->nframes; i++)
		check_frame(l, &l->frames[i]);
	struct ctp_ppt_frames *frames = ctp_ppt_frames_new(l, l->counters, l->ncounters, true, &err);
	must(frames || *err.text, "an error without a text");
	if (frames)
		there_and_back(l, frames, data, size);
	ctp_ppt_frames_free(frames);
	ctp_ppt_layout_free(l);
	return 0;
}
