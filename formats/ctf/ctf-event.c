/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ctf-event.c - records to the payloads of events.
 *
 * All fields but a bool in the top bit of a number are aligned to bytes and little-endian, so the low bytes of a record's words are
 * what is written.
 */
#include "ctf/ctf.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "common/escape.h"
#include "stream/events.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define UNROLL _Pragma("GCC unroll 8")

/*
 * A layout that most events have, that of the transitions of ctp-collect: known here, it is packed without a loop. If it were
 * not theirs nothing would be wrong but slow, so t/unit/ctf-late.c asks.
 */
#define NUMBER(f, n, most, t) \
	{.index = CTP_TRANSITION_##f, .top = CTP_TRANSITION_##t, .bytes = (n), .excess = ~(uint64_t)(most)}
static const struct ctp_ctf_op frequent[] = {
	NUMBER(PROBE, 8, UINT64_MAX, PROBE), NUMBER(TID, 4, UINT32_MAX, TID), NUMBER(ADDR, 8, UINT64_MAX, ADDR),
	NUMBER(SEQ, 4, INT32_MAX, ACTIVE), NUMBER(CORO, 4, UINT32_MAX, CORO), NUMBER(INDEX, 4, UINT32_MAX, INDEX),
	NUMBER(SITE, 2, UINT16_MAX, SITE),
};
_Static_assert(COUNT(frequent) == CTP_TRANSITION_FIELDS - 2, "every field of a transition but a bool and the event's own time");

static bool is_frequent(const struct ctp_ctf_layout *layout)
{
	bool same = layout->nops == COUNT(frequent);
	for (uint32_t i = 0; same && i < layout->nops; i++) {
		const struct ctp_ctf_op *a = &layout->ops[i], *b = &frequent[i];
		same = a->index == b->index && a->top == b->top && a->bytes == b->bytes && a->excess == b->excess &&
		       a->form == b->form;
	}
	return same;
}

static const uint8_t type_bytes[CTP_TYPE_COUNT] = {
	[CTP_U8] = 1, [CTP_I8] = 1, [CTP_BOOL] = 1, [CTP_U16] = 2, [CTP_I16] = 2, [CTP_U32] = 4, [CTP_I32] = 4,
	[CTP_F32] = 4, [CTP_U64] = 8, [CTP_I64] = 8, [CTP_F64] = 8, [CTP_ENUM] = 8,
};

/*
 * What the values of a field need that may have 64 bits. Addresses and times are large; counters, threads and the like hardly ever
 * are, and programs have far fewer places than 2^16. No size but 1, 2, 4 and 8 bytes: babeltrace2's sink.ctf.fs aborts.
 */
static uint8_t usual_bytes(const struct ctp_field *f)
{
	if (f->type == CTP_ENUM)
		return 1;
	if (f->role == CTP_ROLE_TIME || f->role == CTP_ROLE_ADDRESS || f->role == CTP_ROLE_PROBE || f->flags & CTP_FIELD_HEX)
		return 8;
	return f->role == CTP_ROLE_SITE ? 2 : 4;
}

bool ctp_ctf_has_names(const struct ctp_class *cls)
{
	bool has = false;
	for (uint32_t i = 0; i < cls->nfields; i++)
		has |= cls->fields[i].type == CTP_STRING && cls->fields[i].role == CTP_ROLE_NAME;
	return has;
}

static struct ctp_ctf_op plan_field(const struct ctp_field *f, uint8_t index, unsigned variant, bool has_names)
{
	bool wide = variant & CTP_CTF_WIDE;
	struct ctp_ctf_op op = {.index = index, .top = index, .form = CTP_CTF_FORM_NUMBER, .bytes = type_bytes[f->type]};
	if (f->type == CTP_BYTES || (f->type == CTP_STRING && wide))
		op.form = CTP_CTF_FORM_SEQUENCE;
	else if (f->type == CTP_STRING)
		op.form = has_names && !(variant & CTP_CTF_SPELLED) ? CTP_CTF_FORM_NAME : CTP_CTF_FORM_STRING;
	else if ((f->type == CTP_U64 || f->type == CTP_ENUM) && !wide && usual_bytes(f) < op.bytes) {
		op.bytes = usual_bytes(f);
		op.excess = UINT64_MAX << 8 * op.bytes;
	}
	return op;
}

/* A bool after a counter of 32 bits takes one of them; a byte of its own would be an eighth of that. */
static bool share_word(struct ctp_ctf_layout *layout, const struct ctp_field *f, uint8_t index)
{
	struct ctp_ctf_op *before = layout->nops ? &layout->ops[layout->nops - 1] : NULL;
	if (!before || f->type != CTP_BOOL || before->excess != UINT64_MAX << 32)
		return false;
	before->top = index;
	before->excess |= UINT64_C(1) << 31;
	return true;
}

static void plan_spellings(struct ctp_ctf_layout *layout, const struct ctp_class *cls)
{
	for (uint32_t i = 0; i < cls->nfields; i++) {
		if (cls->fields[i].type != CTP_STRING)
			continue;
		layout->ops[layout->nops++] = (struct ctp_ctf_op){.index = (uint8_t)i, .top = (uint8_t)i, .form = CTP_CTF_FORM_SPELLING};
		layout->room++;
	}
}

struct ctp_ctf_layout *ctp_ctf_layout_new(const struct ctp_class *cls, unsigned variant)
{
	struct ctp_ctf_layout *layout = calloc(1, sizeof *layout + 2 * cls->nfields * sizeof layout->ops[0]);
	if (!layout)
		return NULL;
	layout->room = sizeof(uint64_t);
	layout->has_text = cls->has_text;
	layout->has_names = ctp_ctf_has_names(cls);
	for (uint32_t i = 0; i < cls->nfields; i++) {
		if ((int)i == cls->time_field && !(variant & CTP_CTF_TIMED))
			continue;
		if (share_word(layout, &cls->fields[i], (uint8_t)i))
			continue;
		struct ctp_ctf_op op = plan_field(&cls->fields[i], (uint8_t)i, variant, layout->has_names);
		layout->room += op.form == CTP_CTF_FORM_NUMBER ? op.bytes : sizeof(uint64_t);
		layout->ops[layout->nops++] = op;
	}
	if (layout->has_names && variant & (CTP_CTF_WIDE | CTP_CTF_SPELLED))
		plan_spellings(layout, cls);
	layout->is_frequent = is_frequent(layout);
	return layout;
}

/* --- texts ---------------------------------------------------------------------------------------------------------------- */

/* A record that was never given a text has null for it. */
static const struct ctp_str *text_of(uint64_t v)
{
	static const struct ctp_str empty;
	return v ? ctp_str_val(v) : &empty;
}

size_t ctp_ctf_text_bytes(const struct ctp_ctf_layout *layout, const uint64_t *val)
{
	size_t bytes = 0;
	for (const struct ctp_ctf_op *op = layout->ops, *end = op + layout->nops; op < end; op++)
		if (op->form != CTP_CTF_FORM_NUMBER) {
			const struct ctp_str *str = text_of(val[op->index]);
			bytes += op->form == CTP_CTF_FORM_SPELLING ? ctp_ctf_spelling_room(str) : str->len;
		}
	return bytes;
}

/*
 * Null: it cannot be of that form. Readers take UTF-8 without a NUL for a string, and babeltrace2 no empty one: up to 2.0 at
 * least, it shows in its place what the field held in an event before.
 */
static char *put_text(char *p, const struct ctp_str *str, unsigned form)
{
	if (form == CTP_CTF_FORM_SPELLING) {
		p = ctp_ctf_spell(p, str);
		*p = '\0';
		return p + 1;
	}
	if (form != CTP_CTF_FORM_SEQUENCE) {
		if (!(form == CTP_CTF_FORM_NAME ? ctp_ctf_is_spelling(str) : str->len && ctp_escape_is_plain(str->data, str->len)))
			return NULL;
		memcpy(p, str->data, str->len);
		p[str->len] = '\0';
		return p + str->len + 1;
	}
	uint32_t count = htole32(str->len);
	memcpy(p, &count, sizeof count);
	memcpy(p + sizeof count, str->data, str->len);
	return p + sizeof count + str->len;
}

/* --- packing -------------------------------------------------------------------------------------------------------------- */

/* All eight bytes, and the next field over those that were too many: so no branch depends on the size. */
static inline char *put_number(char *p, uint64_t v, size_t bytes)
{
	v = htole64(v);
	memcpy(p, &v, sizeof v);
	return p + bytes;
}

static inline uint64_t top_bit(const struct ctp_ctf_op *op, const uint64_t *val)
{
	return ctp_ctf_has_top(op) ? val[op->top] << 31 : 0;
}

static char *pack_with_text(char *p, const struct ctp_ctf_layout *layout, const uint64_t *val)
{
	for (const struct ctp_ctf_op *op = layout->ops, *end = op + layout->nops; op < end && p; op++) {
		uint64_t v = val[op->index];
		if (op->form != CTP_CTF_FORM_NUMBER)
			p = put_text(p, text_of(v), op->form);
		else
			p = v & op->excess ? NULL : put_number(p, v | top_bit(op, val), op->bytes);
	}
	return p;
}

static inline __attribute__((always_inline)) char *pack_numbers(char *p, const struct ctp_ctf_op *ops, uint32_t nops,
                                                                const uint64_t *val)
{
	uint64_t excess = 0;
	UNROLL for (uint32_t i = 0; i < nops; i++) {
		uint64_t v = val[ops[i].index];
		excess |= v & ops[i].excess;
		p = put_number(p, v | top_bit(&ops[i], val), ops[i].bytes);
	}
	return excess ? NULL : p;
}

char *ctp_ctf_pack(char *p, const struct ctp_ctf_layout *layout, const uint64_t *val)
{
	if (layout->is_frequent)
		return pack_numbers(p, frequent, COUNT(frequent), val);
	if (layout->has_text)
		return pack_with_text(p, layout, val);
	return pack_numbers(p, layout->ops, layout->nops, val);
}
