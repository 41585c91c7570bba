/*
 * ppt-frames.c - the classes of a ppt buffer, frames to records, and records to frames.
 *
 * For each frame of the layout there is a plan: one step for each field of the class, in that order. Both directions go through the
 * same plan.
 */
#include "ppt/ppt-frames.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/varint.h"

static const int64_t SECOND_NS = 1000000000;

enum op {
	OP_SIGNED, OP_UNSIGNED, OP_FLOAT, /* of 1, 2, 4 or 8 bytes */
	OP_OWN_TIME, OP_TIME,
	OP_DURATION,   /* from the time at other to that at offset */
	OP_START,      /* of a counter, at offset; its end is at other */
	OP_DIFFERENCE, /* of a counter, from other to offset */
	OP_BYTES,      /* other: where its string is among those of a record; also of the last two */
	OP_PLACE, OP_PADDING, OP_RAW,
};

struct step {
	enum op op;
	uint32_t offset, size, other;
};

struct plan {
	struct ctp_class *cls;
	uint32_t nsteps; /* as many as the class has fields */
	struct step steps[CTP_FIELDS_MAX];
	struct gap {
		uint32_t offset, size;
	} *gaps; /* bytes of no member */
	uint32_t ngaps, padding; /* padding: bytes of all gaps */
	uint32_t front, back;    /* offsets */
	uint32_t time;           /* the same, if has_time */
	bool has_time, has_raw;
	bool always_raw; /* the class has no room for some of the members */
};

struct ctp_ppt_frames {
	const struct ctp_ppt_layout *layout;
	struct plan *plans; /* layout->nframes */
	struct ctp_class *header, *lost;
	char *strings; /* of a record, on its way to the writer */
	struct ctp_str *part; /* of a header, on its way to the writer */
	int32_t type_at; /* offset of the type; -1: none */
	bool has_time;
	int64_t place; /* of the next frame */
	uint64_t last_ns, cut;
};

/* --- the plan ------------------------------------------------------------------------------------------------------------ */

/* A class that is being made. */
struct draft {
	struct ctp_ppt_frames *frames;
	const struct ctp_ppt_frame *of;
	struct plan *plan;
	const char *const *counters;
	uint32_t ncounters, masked;
	bool plain;
	uint32_t reserved; /* places for fields that are added later and must have room */
	size_t room;       /* bytes of the strings of a record, of all classes so far */
	struct ctp_field fields[CTP_FIELDS_MAX];
	char names[CTP_FIELDS_MAX][CTP_NAME_MAX + 1];
};

static bool name_taken(const struct draft *d, uint32_t n, const char *name)
{
	for (uint32_t i = 0; i < n; i++)
		if (!strcmp(d->names[i], name))
			return true;
	return false;
}

/*
 * Adds a field and the step that fills it. If the class has no room for it, ppt_raw keeps the whole frame. A field that is
 * predicted costs one bit of a mask with CTP_MASKED_MAX bits.
 */
static void add(struct draft *d, struct ctp_field field, struct step step)
{
	uint32_t n = d->plan->nsteps;
	assert(n + d->reserved <= CTP_FIELDS_MAX);
	bool must = step.op == OP_OWN_TIME || step.op == OP_PLACE || step.op == OP_PADDING || step.op == OP_RAW;
	if (!must && n + d->reserved == CTP_FIELDS_MAX) {
		d->plan->has_raw = d->plan->always_raw = true;
		return;
	}
	d->reserved -= must;
	char *name = d->names[n];
	snprintf(name, CTP_NAME_MAX - 8, "%s", field.name);
	size_t len = strlen(name);
	for (unsigned again = 2; name_taken(d, n, name); again++)
		snprintf(name + len, 8, "_%u", again);
	field.name = name;
	if (field.pred == CTP_PRED_PREV && ++d->masked > CTP_MASKED_MAX)
		field.pred = CTP_PRED_NONE;
	d->fields[n] = field;
	d->plan->steps[n] = step;
	d->plan->nsteps++;
}

/* "ev_page_faults": the member's name and the counter's, or the counter's number where that has no name. */
static const char *counter_name(const struct draft *d, const struct ctp_ppt_member *m, char *name, size_t size)
{
	if (m->counter < 0 && m->end == CTP_PPT_ALONE)
		return m->name;
	if (m->counter < 0 || (uint32_t)m->counter >= d->ncounters) {
		snprintf(name, size, m->counter < 0 ? "%s_difference" : "%s_%d", m->base, m->counter);
		return name;
	}
	int len = snprintf(name, size, "%s_", m->base);
	snprintf(name + len, size - (size_t)len, "%s", d->counters[m->counter]);
	for (char *p = name + len; *p; p++)
		*p = *p >= 'A' && *p <= 'Z' ? (char)(*p | 0x20) : (*p >= 'a' && *p <= 'z') || (*p >= '0' && *p <= '9') ? *p : '_';
	return name;
}

static void add_time(struct draft *d, const struct ctp_ppt_member *m)
{
	struct plan *plan = d->plan;
	char name[CTP_NAME_MAX + 1];
	if (!plan->has_time) {
		plan->time = m->offset;
		add(d, (struct ctp_field){.name = m->name, .type = CTP_U64, .role = CTP_ROLE_TIME, .pred = CTP_PRED_TIME, .unit = "ns"},
		    (struct step){.op = OP_OWN_TIME, .offset = m->offset});
	} else {
		add(d, (struct ctp_field){.name = m->name, .type = CTP_I64, .pred = CTP_PRED_PREV, .unit = "ns"},
		    (struct step){.op = OP_TIME, .offset = m->offset});
	}
	plan->has_time = plan->has_raw = true;
	if (m->end != CTP_PPT_END || m->other < 0)
		return;
	snprintf(name, sizeof name, "%s_duration", m->base);
	add(d, (struct ctp_field){.name = name, .type = CTP_I64, .pred = CTP_PRED_NONE, .unit = "ns"},
	    (struct step){.op = OP_DURATION, .offset = m->offset, .other = d->of->members[m->other].offset});
}

static void add_counter(struct draft *d, const struct ctp_ppt_member *m)
{
	char name[CTP_NAME_MAX + 1];
	if (m->other < 0) {
		const char *alone = m->end == CTP_PPT_ALONE ? counter_name(d, m, name, sizeof name) : m->name;
		add(d, (struct ctp_field){.name = alone, .type = CTP_U64, .pred = CTP_PRED_PREV},
		    (struct step){.op = OP_UNSIGNED, .offset = m->offset, .size = m->size});
	} else if (m->end == CTP_PPT_BEGIN) {
		uint32_t end = d->of->members[m->other].offset;
		add(d, (struct ctp_field){.name = counter_name(d, m, name, sizeof name), .type = CTP_I64, .pred = CTP_PRED_PREV},
		    (struct step){.op = OP_DIFFERENCE, .offset = end, .other = m->offset});
		if (!d->plain)
			add(d, (struct ctp_field){.name = m->name, .type = CTP_U64, .pred = CTP_PRED_PREV, .flags = CTP_FIELD_EXTRA},
			    (struct step){.op = OP_START, .offset = m->offset, .other = end});
	}
}

static void add_member(struct draft *d, const struct ctp_ppt_member *m)
{
	static const uint8_t ints[] = {[1] = CTP_I8, [2] = CTP_I16, [4] = CTP_I32, [8] = CTP_I64};
	struct ctp_field field = {.name = m->name, .pred = CTP_PRED_PREV};
	struct step step = {.offset = m->offset, .size = m->size};
	switch (m->type) {
	case CTP_PPT_TIME:
		add_time(d, m);
		return;
	case CTP_PPT_COUNTER:
		add_counter(d, m);
		return;
	case CTP_PPT_FLOAT:
	case CTP_PPT_DOUBLE:
		field.type = m->type == CTP_PPT_FLOAT ? CTP_F32 : CTP_F64;
		step.op = OP_FLOAT;
		d->plan->has_raw = true;
		break;
	case CTP_PPT_BYTE:
		field.type = m->size == 1 ? CTP_U8 : CTP_BYTES;
		step.op = m->size == 1 ? OP_UNSIGNED : OP_BYTES;
		break;
	default:
		field.type = ints[m->size];
	}
	add(d, field, step);
}

/* Finds the bytes of no member: padding, the bytes between members, and those after a frame that is smaller than the largest. */
static bool find_padding(struct draft *d)
{
	struct plan *plan = d->plan;
	uint32_t at = 0, size = d->frames->layout->size;
	plan->gaps = calloc(d->of->nmembers + 1, sizeof *plan->gaps);
	if (!plan->gaps)
		return false;
	for (uint32_t i = 0; i <= d->of->nmembers; i++) {
		const struct ctp_ppt_member *m = i < d->of->nmembers ? &d->of->members[i] : NULL;
		if (m && m->kind == CTP_PPT_PADDING)
			continue;
		uint32_t upto = m ? m->offset : size;
		if (upto > at) {
			plan->gaps[plan->ngaps++] = (struct gap){at, upto - at};
			plan->padding += upto - at;
		}
		at = m ? m->offset + m->size : size;
	}
	return true;
}

/* Gives each string of a record its offset, in step->other. The bytes that all of them take. */
static size_t place_strings(struct plan *plan, uint32_t frame_size)
{
	size_t room = 0;
	for (uint32_t i = 0; i < plan->nsteps; i++) {
		struct step *s = &plan->steps[i];
		if (s->op == OP_PADDING)
			s->size = plan->padding;
		else if (s->op == OP_RAW)
			s->size = frame_size;
		else if (s->op != OP_BYTES)
			continue;
		s->other = (uint32_t)room;
		room += (sizeof(struct ctp_str) + s->size + 1 + 7) & ~(size_t)7;
	}
	return room;
}

static enum ctp_status make_plan(struct draft *d, struct ctp_err *err)
{
	static const struct ctp_field seqno = {.name = "ppt_seqno", .type = CTP_I32, .role = CTP_ROLE_SEQUENCE, .pred = CTP_PRED_KEY},
	                              place = {.name = "ppt_place", .type = CTP_I64, .pred = CTP_PRED_PREV, .flags = CTP_FIELD_EXTRA},
	                              padding = {.name = "ppt_padding", .type = CTP_BYTES, .pred = CTP_PRED_PREV, .flags = CTP_FIELD_EXTRA},
	                              raw = {.name = "ppt_raw", .type = CTP_BYTES, .pred = CTP_PRED_PREV, .flags = CTP_FIELD_EXTRA};
	const struct ctp_ppt_layout *l = d->frames->layout;
	struct plan *plan = d->plan;
	char name[CTP_NAME_MAX + 1];
	if (!find_padding(d))
		return ctp_err_set(err, "out of memory");
	plan->front = d->of->members[d->of->front].offset;
	plan->back = d->of->members[d->of->back].offset;
	d->reserved = 4; /* the time and the extra fields */
	d->masked = 3;   /* the latter */
	add(d, seqno, (struct step){.op = OP_SIGNED, .offset = plan->front, .size = sizeof(int32_t)});
	for (uint32_t i = 0; i < d->of->nmembers; i++)
		if (d->of->members[i].kind == CTP_PPT_MEMBER)
			add_member(d, &d->of->members[i]);
	d->masked = 0;
	if (!d->plain)
		add(d, place, (struct step){.op = OP_PLACE});
	if (plan->padding && !d->plain)
		add(d, padding, (struct step){.op = OP_PADDING});
	if (plan->always_raw || (plan->has_raw && !d->plain))
		add(d, raw, (struct step){.op = OP_RAW});
	size_t room = place_strings(plan, l->size);
	d->room = room > d->room ? room : d->room;
	snprintf(name, sizeof name, "ppt_%s_%s", l->buffer, d->of->name);
	plan->cls = ctp_class_new(name, CTP_KIND_OTHER, d->fields, plan->nsteps, err);
	return plan->cls ? CTP_OK : CTP_FAILED;
}

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
	for (uint32_t i = 0; frames->plans && i < frames->layout->nframes; i++) {
		ctp_class_free(frames->plans[i].cls);
		free(frames->plans[i].gaps);
	}
	free(frames->strings);
	free(frames->plans);
	free(frames->part);
	ctp_class_free(frames->header);
	ctp_class_free(frames->lost);
	free(frames);
}

static enum ctp_status make_plans(struct ctp_ppt_frames *f, struct draft *d, struct ctp_err *err)
{
	for (uint32_t i = 0; i < f->layout->nframes; i++) {
		d->frames = f;
		d->of = &f->layout->frames[i];
		d->plan = &f->plans[i];
		if (make_plan(d, err))
			return CTP_FAILED;
		f->has_time |= d->plan->has_time;
	}
	if (!(f->strings = malloc(d->room + 1)))
		return ctp_err_set(err, "out of memory");
	const struct ctp_ppt_frame *first = f->layout->frames;
	f->type_at = first->type >= 0 ? (int32_t)first->members[first->type].offset : -1;
	f->header = header_class(f->has_time, err);
	f->lost = f->header ? lost_class(f->has_time, err) : NULL;
	return f->lost ? CTP_OK : CTP_FAILED;
}

struct ctp_ppt_frames *ctp_ppt_frames_new(const struct ctp_ppt_layout *layout, const char *const *counters, uint32_t ncounters,
                                          bool exact, struct ctp_err *err)
{
	struct ctp_ppt_frames *f = calloc(1, sizeof *f);
	struct draft *d = calloc(1, sizeof *d);
	enum ctp_status status = ctp_err_set(err, "out of memory");
	if (f)
		f->layout = layout;
	if (f && d && (f->plans = calloc(layout->nframes, sizeof *f->plans)) &&
	    (f->part = malloc(sizeof *f->part + CTP_PPT_PART_BYTES + 1))) {
		d->counters = counters;
		d->ncounters = ncounters;
		d->plain = !exact;
		status = make_plans(f, d, err);
	}
	free(d);
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
	const struct plan *plan = &frames->plans[ctp_ppt_frames_type(frames, bytes)];
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

static uint64_t put_str(const struct ctp_ppt_frames *f, const struct step *s, const uint8_t *bytes)
{
	struct ctp_str *str = (struct ctp_str *)(f->strings + s->other);
	str->len = s->size;
	memcpy(str->data, bytes, s->size);
	str->data[s->size] = '\0';
	return ctp_val_str(str);
}

static uint64_t put_padding(const struct ctp_ppt_frames *f, const struct plan *plan, const struct step *s, const uint8_t *bytes)
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
static inline uint64_t value_of(struct ctp_ppt_frames *f, const struct plan *plan, const struct step *s, const uint8_t *bytes,
                                bool *odd)
{
	const uint8_t *p = bytes + s->offset;
	uint64_t v;
	int64_t ns, other;
	unsigned above; /* bits that the value does not have */
	switch (s->op) {
	case OP_SIGNED:
		above = 64 - 8 * s->size;
		return (uint64_t)((int64_t)(load(p, s->size) << above) >> above);
	case OP_UNSIGNED:
		return load(p, s->size);
	case OP_FLOAT:
		v = load(p, s->size);
		*odd |= is_nan(v, s->size);
		return v;
	case OP_START:
		return ctp_load_u64(p);
	case OP_OWN_TIME:
		*odd |= !to_ns(f, p, &ns) || ns < 0;
		f->cut += ns < 0 || ns == INT64_MAX;
		return f->last_ns = ns < 0 ? 0 : (uint64_t)ns;
	case OP_TIME:
		*odd |= !to_ns(f, p, &ns);
		return (uint64_t)ns;
	case OP_DURATION:
		to_ns(f, p, &ns);
		to_ns(f, bytes + s->other, &other);
		return (uint64_t)ns - (uint64_t)other;
	case OP_DIFFERENCE:
		return ctp_load_u64(p) - ctp_load_u64(bytes + s->other);
	case OP_BYTES:
		return put_str(f, s, p);
	case OP_PLACE:
		return (uint64_t)f->place - (uint64_t)(int32_t)ctp_load_u32(bytes + plan->front);
	case OP_PADDING:
		return put_padding(f, plan, s, bytes);
	default: /* OP_RAW is the last step: all others have set odd */
		return *odd ? put_str(f, s, bytes) : 0;
	}
}

uint64_t ctp_ppt_frames_put(struct ctp_ppt_frames *f, struct ctp_writer *w, const uint8_t *bytes)
{
	assert(ctp_ppt_frames_whole(f, bytes));
	const struct plan *plan = &f->plans[ctp_ppt_frames_type(f, bytes)];
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
	ctp_writer_record(w, frames->lost, (uint64_t[]){(uint64_t)loss->seqno, loss->count, loss->unverified, loss->ts_ns, loss->after_ns});
}

const struct ctp_class *ctp_ppt_frames_class(const struct ctp_ppt_frames *frames, uint32_t frame) { return frames->plans[frame].cls; }

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
		return ctp_err_set(err, "out of memory"), NULL;
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

static void spread_padding(const struct plan *plan, const char *from, uint8_t *bytes)
{
	for (uint32_t i = 0; i < plan->ngaps; i++) {
		memcpy(bytes + plan->gaps[i].offset, from, plan->gaps[i].size);
		from += plan->gaps[i].size;
	}
}

/* diff: the difference of the counter whose start is the next step. */
static void put_value(const struct ctp_ppt_frames *f, const struct step *s, uint64_t v, uint64_t *diff, uint8_t *bytes)
{
	uint8_t *p = bytes + s->offset, little_endian[sizeof v];
	const char *text;
	switch (s->op) {
	case OP_SIGNED:
	case OP_UNSIGNED:
	case OP_FLOAT:
		ctp_store_u64(little_endian, v);
		memcpy(p, little_endian, s->size);
		break;
	case OP_OWN_TIME:
	case OP_TIME:
		put_time(f, p, (int64_t)v);
		break;
	case OP_DIFFERENCE: /* if no start follows, the start is 0 */
		ctp_store_u64(p, v);
		*diff = v;
		break;
	case OP_START:
		ctp_store_u64(p, v);
		ctp_store_u64(bytes + s->other, v + *diff);
		break;
	case OP_BYTES:
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
	const struct plan *plan = &f->plans[b->frame];
	const char *padding = NULL, *raw = NULL;
	uint64_t diff = 0, place = 0;
	memset(bytes, 0, f->layout->size);
	for (uint32_t i = 0; i < plan->nsteps; i++) {
		const struct step *s = &plan->steps[i];
		uint64_t v = val[b->field[i]];
		if (s->op == OP_PLACE)
			place = v;
		else if (s->op == OP_PADDING)
			padding = of_size(v, s->size);
		else if (s->op == OP_RAW)
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
