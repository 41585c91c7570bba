/*
 * ppt-back.c - records to frames: the steps of ppt-frames.c in the other direction.
 */
#include <stdlib.h>
#include <string.h>

#include "base/varint.h"
#include "ppt/ppt-plan.h"

static const int64_t SECOND_NS = 1000000000;

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

/* A string that has just the bytes that belong there; null: another one, or an empty one. */
static const char *of_size(uint64_t val, uint32_t size)
{
	const struct ctp_str *str = ctp_str_val(val);
	return str && str->len == size ? str->data : NULL;
}

static void put_padding(const struct ctp_ppt_plan *plan, const char *from, uint8_t *bytes)
{
	for (uint32_t i = 0; i < plan->ngaps; i++) {
		memcpy(bytes + plan->gaps[i].offset, from, plan->gaps[i].size);
		from += plan->gaps[i].size;
	}
}

/* diff: of the counter whose start comes next. */
static void put_value(const struct ctp_ppt_frames *f, const struct ctp_ppt_step *s, uint64_t v, uint64_t *diff, uint8_t *bytes)
{
	uint8_t *p = bytes + s->offset;
	const char *text;
	switch (s->op) {
	case CTP_PPT_OP_U8:
	case CTP_PPT_OP_I8:
		*p = (uint8_t)v;
		break;
	case CTP_PPT_OP_I16:
		p[0] = (uint8_t)v;
		p[1] = (uint8_t)(v >> 8);
		break;
	case CTP_PPT_OP_I32:
	case CTP_PPT_OP_F32:
		ctp_store_u32(p, (uint32_t)v);
		break;
	case CTP_PPT_OP_I64:
	case CTP_PPT_OP_U64:
	case CTP_PPT_OP_F64:
		ctp_store_u64(p, v);
		break;
	case CTP_PPT_OP_OWN_TIME:
	case CTP_PPT_OP_TIME:
		put_time(f, p, (int64_t)v);
		break;
	case CTP_PPT_OP_DIFFERENCE: /* where no start follows, it is 0 */
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
	default: /* a duration, the place, and what goes over all */
		break;
	}
}

int64_t ctp_ppt_frames_back(const struct ctp_ppt_frames *f, const struct ctp_ppt_binding *b, const uint64_t *val, uint8_t *bytes)
{
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
		put_padding(plan, padding, bytes);
	if (raw)
		memcpy(bytes, raw, f->layout->size);
	/* The number and the type are what the record says, whatever was raw. */
	uint64_t seqno = val[b->field[0]];
	ctp_store_u32(bytes + plan->front, (uint32_t)seqno);
	ctp_store_u32(bytes + plan->back, (uint32_t)seqno);
	if (f->type_at >= 0)
		ctp_store_u32(bytes + f->type_at, b->frame + 1);
	return (int64_t)(place + seqno);
}
