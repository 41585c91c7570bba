/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* ppt-frames.c - the classes of a ppt buffer, frames to records, and records to frames. */
#include "ppt/ppt-frames.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/varint.h"
#include "ppt/ppt-plan.h"

/* Signed: times of a frame may be before 1970. */
static const int64_t SECOND_NS = (int64_t)CTP_SECOND_NS;

struct ctp_ppt_frames {
	const struct ctp_ppt_layout *layout;
	struct ctp_ppt_plan *plans; /* layout->nframes */
	struct ctp_class *header, *lost;
	char *strings; /* of a record, on its way to the writer */
	struct ctp_str *part; /* of a header, on its way to the writer */
	int32_t type_at; /* offset of the type; -1: none */
	bool has_time;
	int64_t place; /* of the next frame */
	uint64_t last_ns, cut;
};

/* --- classes that are in every section ----------------------------------------------------------------------------------- */

static struct ctp_class *header_class(bool has_time, struct ctp_err *err)
{
	static const struct ctp_field fields[] = {
		{.name = "part", .type = CTP_U32},
		{.name = "parts", .type = CTP_U32},
		{.name = "json", .type = CTP_STRING},
		{.name = "ts", .type = CTP_U64, .role = CTP_ROLE_TIME, .pred = CTP_PRED_TIME, .unit = "ns"},
	};
	return ctp_class_new(CTP_PPT_HEADER_CLASS, CTP_KIND_OTHER, fields, has_time ? 4 : 3, err);
}

static struct ctp_class *lost_class(bool has_time, struct ctp_err *err)
{
	static const struct ctp_field fields[] = {
		{.name = "ppt_seqno", .type = CTP_I32, .role = CTP_ROLE_SEQUENCE},
		{.name = "count", .type = CTP_U64, .role = CTP_ROLE_COUNT},
		{.name = "unverified", .type = CTP_U64, .role = CTP_ROLE_UNVERIFIED},
		{.name = "ts", .type = CTP_U64, .role = CTP_ROLE_TIME, .pred = CTP_PRED_TIME, .unit = "ns"},
		{.name = "after", .type = CTP_U64, .role = CTP_ROLE_TIME, .unit = "ns"},
	};
	return ctp_class_new(CTP_PPT_LOST_CLASS, CTP_KIND_LOSS, fields, has_time ? 5 : 3, err);
}

void ctp_ppt_frames_free(struct ctp_ppt_frames *frames)
{
	if (!frames)
		return;
	for (uint32_t i = 0; frames->plans && i < frames->layout->nframes; i++)
		ctp_ppt_plan_fini(&frames->plans[i]);
	free(frames->strings);
	free(frames->plans);
	free(frames->part);
	ctp_class_free(frames->header);
	ctp_class_free(frames->lost);
	free(frames);
}

static enum ctp_status init(struct ctp_ppt_frames *f, const struct ctp_ppt_plan_conf *conf, struct ctp_err *err)
{
	size_t most = 0, room = 0;
	for (uint32_t i = 0; i < f->layout->nframes; i++) {
		if (ctp_ppt_plan_init(&f->plans[i], conf, &f->layout->frames[i], &room, err))
			return CTP_FAILED;
		most = room > most ? room : most;
		f->has_time |= f->plans[i].has_time;
	}
	if (!(f->strings = malloc(most + 1)))
		return ctp_err_memory(err);
	const struct ctp_ppt_frame *first = f->layout->frames;
	f->type_at = first->type >= 0 ? (int32_t)first->members[first->type].offset : -1;
	f->header = header_class(f->has_time, err);
	f->lost = f->header ? lost_class(f->has_time, err) : NULL;
	return f->lost ? CTP_OK : CTP_FAILED;
}

struct ctp_ppt_frames *ctp_ppt_frames_new(const struct ctp_ppt_layout *layout, const char *const *counters, uint32_t ncounters,
                                          bool exact, struct ctp_err *err)
{
	const struct ctp_ppt_plan_conf conf = {.layout = layout, .counters = counters, .ncounters = ncounters, .plain = !exact};
	struct ctp_ppt_frames *f = calloc(1, sizeof *f);
	enum ctp_status status = ctp_err_memory(err);
	if (f)
		f->layout = layout;
	if (f && (f->plans = calloc(layout->nframes, sizeof *f->plans)) &&
	    (f->part = malloc(sizeof *f->part + CTP_PPT_PART_BYTES + 1)))
		status = init(f, &conf, err);
	if (!status)
		return f;
	ctp_ppt_frames_free(f);
	return NULL;
}

void ctp_ppt_frames_section(const struct ctp_ppt_frames *frames, struct ctp_section *sec)
{
	const char *clock = frames->layout->clock;
	if (frames->has_time && *clock)
		ctp_section_add(sec, "clock", clock);
	if (frames->has_time && !strncmp(clock, "realtime", 8))
		ctp_section_add(sec, "wall_offset_ns", "0");
	ctp_section_add(sec, "ppt.buffer", frames->layout->buffer);
}

void ctp_ppt_frames_header(struct ctp_ppt_frames *frames, struct ctp_writer *w, uint64_t ts_ns, const char *header, size_t len)
{
	struct ctp_str *text = frames->part;
	size_t parts = (len + CTP_PPT_PART_BYTES - 1) / CTP_PPT_PART_BYTES;
	for (size_t i = 0; i < parts; i++) {
		size_t at = i * CTP_PPT_PART_BYTES, n = len - at < CTP_PPT_PART_BYTES ? len - at : CTP_PPT_PART_BYTES;
		text->len = (uint32_t)n;
		memcpy(text->data, header + at, n);
		text->data[n] = '\0';
		ctp_writer_record(w, frames->header, (uint64_t[]){i, parts, ctp_val_str(text), ts_ns});
	}
}

/* --- frames to records --------------------------------------------------------------------------------------------------- */

int32_t ctp_ppt_frames_seqno(const struct ctp_ppt_frames *frames, const uint8_t *bytes)
{
	return (int32_t)ctp_load_u32(bytes + frames->plans[0].front);
}

int ctp_ppt_frames_type(const struct ctp_ppt_frames *frames, const uint8_t *bytes)
{
	if (frames->type_at < 0)
		return 0;
	uint32_t type = ctp_load_u32(bytes + frames->type_at) - 1;
	return type < frames->layout->nframes ? (int)type : -1;
}

bool ctp_ppt_frames_whole(const struct ctp_ppt_frames *frames, const uint8_t *bytes)
{
	int type = ctp_ppt_frames_type(frames, bytes);
	return type >= 0 && ctp_load_u32(bytes + frames->plans[type].front) == ctp_load_u32(bytes + frames->plans[type].back);
}

/* Seconds and their parts to ns. False: the time is not normal, or out of range, so that ns does not keep all of it. */
static bool to_ns(const struct ctp_ppt_frames *f, const uint8_t *p, int64_t *ns)
{
	int64_t s = (int64_t)ctp_load_u64(p), part = (int64_t)ctp_load_u64(p + 8);
	bool micro = f->layout->rep == CTP_PPT_TIMEVAL;
	int64_t unit = micro ? 1000 : 1, limit = SECOND_NS / unit;
	if ((uint64_t)part < (uint64_t)limit && s < INT64_MAX / SECOND_NS && s > INT64_MIN / SECOND_NS) {
		*ns = s * SECOND_NS + part * unit;
		return true;
	}
	int64_t whole, rest;
	if (__builtin_mul_overflow(s, SECOND_NS, &whole) || __builtin_mul_overflow(part, unit, &rest) ||
	    __builtin_add_overflow(whole, rest, ns))
		*ns = s < 0 ? INT64_MIN : INT64_MAX;
	return false;
}

bool ctp_ppt_frames_time(const struct ctp_ppt_frames *frames, const uint8_t *bytes, uint64_t *ts_ns)
{
	assert(ctp_ppt_frames_whole(frames, bytes));
	const struct ctp_ppt_plan *plan = &frames->plans[ctp_ppt_frames_type(frames, bytes)];
	int64_t ns;
	if (!plan->has_time)
		return false;
	to_ns(frames, bytes + plan->time, &ns);
	*ts_ns = ns < 0 ? 0 : (uint64_t)ns;
	return true;
}

static uint64_t load(const uint8_t *p, uint32_t size)
{
	switch (size) {
	case 1: return *p;
	case 2: return (uint64_t)(p[0] | p[1] << 8);
	case 4: return ctp_load_u32(p);
	default: assert(size == 8); return ctp_load_u64(p);
	}
}

/* A NaN has bits that its field need not keep. */
static bool is_nan(uint64_t v, uint32_t size)
{
	return size == 4 ? (v & INT32_MAX) > 0x7f800000 : (v & INT64_MAX) > 0x7ff0000000000000;
}

static uint64_t put_str(const struct ctp_ppt_frames *f, const struct ctp_ppt_step *s, const uint8_t *bytes)
{
	struct ctp_str *str = (struct ctp_str *)(f->strings + s->other);
	str->len = s->size;
	memcpy(str->data, bytes, s->size);
	str->data[s->size] = '\0';
	return ctp_val_str(str);
}

static uint64_t put_padding(const struct ctp_ppt_frames *f, const struct ctp_ppt_plan *plan, const struct ctp_ppt_step *s,
                            const uint8_t *bytes)
{
	struct ctp_str *str = (struct ctp_str *)(f->strings + s->other);
	char *p = str->data;
	for (uint32_t i = 0; i < plan->ngaps; i++) {
		memcpy(p, bytes + plan->gaps[i].offset, plan->gaps[i].size);
		p += plan->gaps[i].size;
	}
	*p = '\0';
	str->len = s->size;
	/* All bytes are zero: the first is zero, and each equals the one before it. */
	return !str->data[0] && !memcmp(str->data, str->data + 1, s->size - 1) ? 0 : ctp_val_str(str);
}

/* One value. *odd is set if it does not keep all that the bytes hold. */
static inline uint64_t value_of(struct ctp_ppt_frames *f, const struct ctp_ppt_plan *plan, const struct ctp_ppt_step *s,
                                const uint8_t *bytes, bool *odd)
{
	const uint8_t *p = bytes + s->offset;
	uint64_t v;
	int64_t ns, other;
	unsigned above; /* bits that the value does not have */
	switch (s->op) {
	case CTP_PPT_OP_SIGNED:
		above = 64 - 8 * s->size;
		return (uint64_t)((int64_t)(load(p, s->size) << above) >> above);
	case CTP_PPT_OP_UNSIGNED:
		return load(p, s->size);
	case CTP_PPT_OP_FLOAT:
		v = load(p, s->size);
		*odd |= is_nan(v, s->size);
		return v;
	case CTP_PPT_OP_START:
		return ctp_load_u64(p);
	case CTP_PPT_OP_OWN_TIME:
		*odd |= !to_ns(f, p, &ns) || ns < 0;
		f->cut += ns < 0 || ns == INT64_MAX;
		return f->last_ns = ns < 0 ? 0 : (uint64_t)ns;
	case CTP_PPT_OP_TIME:
		*odd |= !to_ns(f, p, &ns);
		return (uint64_t)ns;
	case CTP_PPT_OP_DURATION:
		to_ns(f, p, &ns);
		to_ns(f, bytes + s->other, &other);
		return (uint64_t)ns - (uint64_t)other;
	case CTP_PPT_OP_DIFFERENCE:
		return ctp_load_u64(p) - ctp_load_u64(bytes + s->other);
	case CTP_PPT_OP_BYTES:
		return put_str(f, s, p);
	case CTP_PPT_OP_PLACE:
		return (uint64_t)f->place - (uint64_t)(int32_t)ctp_load_u32(bytes + plan->front);
	case CTP_PPT_OP_PADDING:
		return put_padding(f, plan, s, bytes);
	default: /* CTP_PPT_OP_RAW is the last step: all others have set odd */
		return *odd ? put_str(f, s, bytes) : 0;
	}
}

uint64_t ctp_ppt_frames_put(struct ctp_ppt_frames *f, struct ctp_writer *w, const uint8_t *bytes)
{
	assert(ctp_ppt_frames_whole(f, bytes));
	const struct ctp_ppt_plan *plan = &f->plans[ctp_ppt_frames_type(f, bytes)];
	uint64_t val[CTP_FIELDS_MAX];
	bool odd = plan->always_raw;
	for (uint32_t i = 0; i < plan->nsteps; i++)
		val[i] = value_of(f, plan, &plan->steps[i], bytes, &odd);
	f->place++;
	ctp_writer_record(w, plan->cls, val);
	return f->last_ns;
}

void ctp_ppt_frames_lost(struct ctp_ppt_frames *frames, struct ctp_writer *w, const struct ctp_ppt_loss *loss)
{
	ctp_writer_record(w, frames->lost, (uint64_t[]){(uint64_t)loss->seqno, loss->count, loss->unverified, loss->ts_ns,
	                                                loss->after_ns});
}

const struct ctp_class *ctp_ppt_frames_class(const struct ctp_ppt_frames *frames, uint32_t frame)
{
	return frames->plans[frame].cls;
}

uint64_t ctp_ppt_frames_cut(const struct ctp_ppt_frames *frames) { return frames->cut; }

/* --- records to frames --------------------------------------------------------------------------------------------------- */

struct ctp_ppt_binding {
	uint32_t frame;
	uint8_t field[CTP_FIELDS_MAX]; /* of the stream's class, for each step */
};
_Static_assert(CTP_FIELDS_MAX <= UINT8_MAX, "the number of a field has a byte");

struct ctp_ppt_binding *ctp_ppt_frames_bind(const struct ctp_ppt_frames *frames, const struct ctp_class *cls, struct ctp_err *err)
{
	uint32_t frame = 0;
	err->text[0] = '\0';
	while (frame < frames->layout->nframes && strcmp(frames->plans[frame].cls->name, cls->name))
		frame++;
	if (frame == frames->layout->nframes)
		return NULL;
	struct ctp_ppt_binding *b = calloc(1, sizeof *b);
	if (!b)
		return ctp_err_memory(err), NULL;
	b->frame = frame;
	const struct ctp_class *ours = frames->plans[frame].cls;
	for (uint32_t i = 0; i < ours->nfields; i++) {
		int field = ctp_class_field(cls, ours->fields[i].name);
		if (field < 0 || cls->fields[field].type != ours->fields[i].type) {
			ctp_err_set(err, "%s has no field %s of type %s, as its layout wants", cls->name, ours->fields[i].name,
			            ctp_type_name(ours->fields[i].type));
			free(b);
			return NULL;
		}
		b->field[i] = (uint8_t)field;
	}
	return b;
}

static void put_time(const struct ctp_ppt_frames *f, uint8_t *p, int64_t ns)
{
	int64_t s = ns / SECOND_NS, part = ns % SECOND_NS;
	if (part < 0) {
		part += SECOND_NS;
		s--;
	}
	ctp_store_u64(p, (uint64_t)s);
	ctp_store_u64(p + 8, (uint64_t)(f->layout->rep == CTP_PPT_TIMEVAL ? part / 1000 : part));
}

/* The bytes of a string that has the right size; null: it has another size. */
static const char *of_size(uint64_t val, uint32_t size)
{
	const struct ctp_str *str = ctp_str_val(val);
	return str && str->len == size ? str->data : NULL;
}

static void spread_padding(const struct ctp_ppt_plan *plan, const char *from, uint8_t *bytes)
{
	for (uint32_t i = 0; i < plan->ngaps; i++) {
		memcpy(bytes + plan->gaps[i].offset, from, plan->gaps[i].size);
		from += plan->gaps[i].size;
	}
}

/* diff: the difference of the counter whose start is the next step. */
static void put_value(const struct ctp_ppt_frames *f, const struct ctp_ppt_step *s, uint64_t v, uint64_t *diff, uint8_t *bytes)
{
	uint8_t *p = bytes + s->offset, little_endian[sizeof v];
	const char *text;
	switch (s->op) {
	case CTP_PPT_OP_SIGNED:
	case CTP_PPT_OP_UNSIGNED:
	case CTP_PPT_OP_FLOAT:
		ctp_store_u64(little_endian, v);
		memcpy(p, little_endian, s->size);
		break;
	case CTP_PPT_OP_OWN_TIME:
	case CTP_PPT_OP_TIME:
		put_time(f, p, (int64_t)v);
		break;
	case CTP_PPT_OP_DIFFERENCE: /* if no start follows, the start is 0 */
		ctp_store_u64(p, v);
		*diff = v;
		break;
	case CTP_PPT_OP_START:
		ctp_store_u64(p, v);
		ctp_store_u64(bytes + s->other, v + *diff);
		break;
	case CTP_PPT_OP_BYTES:
		if ((text = of_size(v, s->size)))
			memcpy(p, text, s->size);
		break;
	default: /* a duration follows from two times; the rest is the caller's */
		break;
	}
}

int64_t ctp_ppt_frames_back(const struct ctp_ppt_frames *f, const struct ctp_ppt_binding *b, const uint64_t *val, uint8_t *bytes)
{
	assert(b->frame < f->layout->nframes);
	const struct ctp_ppt_plan *plan = &f->plans[b->frame];
	const char *padding = NULL, *raw = NULL;
	uint64_t diff = 0, place = 0;
	memset(bytes, 0, f->layout->size);
	for (uint32_t i = 0; i < plan->nsteps; i++) {
		const struct ctp_ppt_step *s = &plan->steps[i];
		uint64_t v = val[b->field[i]];
		if (s->op == CTP_PPT_OP_PLACE)
			place = v;
		else if (s->op == CTP_PPT_OP_PADDING)
			padding = of_size(v, s->size);
		else if (s->op == CTP_PPT_OP_RAW)
			raw = of_size(v, s->size);
		else
			put_value(f, s, v, &diff, bytes);
	}
	if (padding)
		spread_padding(plan, padding, bytes);
	if (raw)
		memcpy(bytes, raw, f->layout->size);
	/* The record has the last word on the number and the type, also over ppt_raw. */
	uint64_t seqno = val[b->field[0]];
	ctp_store_u32(bytes + plan->front, (uint32_t)seqno);
	ctp_store_u32(bytes + plan->back, (uint32_t)seqno);
	if (f->type_at >= 0)
		ctp_store_u32(bytes + f->type_at, b->frame + 1);
	return (int64_t)(place + seqno);
}
