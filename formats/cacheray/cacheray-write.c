/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * cacheray-write.c - a sink that writes Cacheray traces.
 *
 * Sections follow each other in the one trace, and so have to be spelled alike. Records of other classes have no place in it.
 */
#include <stdlib.h>

#include "cacheray/cacheray-bytes.h"
#include "cacheray/cacheray-classes.h"

/* Where the values of a class are: fields by the numbers of cacheray-classes.h. */
struct known_class {
	const struct ctp_class *cls; /* null: not met yet */
	int event;                   /* -1: of no Cacheray trace */
	bool usual;                  /* all fields are where ctp-fromcacheray has them */
	uint8_t field[CTP_ACCESS_FIELDS];
};

struct cacheray_sink {
	struct ctp_sink sink;
	struct ctp_output *out;
	struct ctp_cacheray_spelling wanted, spelling; /* spelling: of what was written */
	bool any; /* a section or a record is of a Cacheray trace */
	struct known_class classes[CTP_CLASSES_MAX];
};

/* --- spelling ------------------------------------------------------------------------------------------------------------ */

bool ctp_cacheray_order(const char *text, struct ctp_cacheray_spelling *spelling)
{
	bool little = !strcmp(text, "little");
	if (!little && strcmp(text, "big"))
		return false;
	spelling->order = little ? CTP_CACHERAY_LITTLE : CTP_CACHERAY_BIG;
	return true;
}

bool ctp_cacheray_address(const char *text, struct ctp_cacheray_spelling *spelling)
{
	if (strcmp(text, "8") && strcmp(text, "4"))
		return false;
	spelling->address_bytes = (uint8_t)(*text - '0');
	return true;
}

static const char *order_name(struct ctp_cacheray_spelling sp) { return sp.order == CTP_CACHERAY_BIG ? "big" : "little"; }

static enum ctp_status begin_section(struct ctp_sink *sink, const struct ctp_section *sec, struct ctp_err *err)
{
	struct cacheray_sink *s = (struct cacheray_sink *)sink;
	const char *order = ctp_section_get(sec, CTP_CACHERAY_ORDER), *address = ctp_section_get(sec, CTP_CACHERAY_ADDRESS);
	struct ctp_cacheray_spelling sp = {CTP_CACHERAY_LITTLE, 8}, *had = &s->spelling;
	memset(s->classes, 0, sizeof s->classes);
	if (order && !ctp_cacheray_order(order, &sp))
		return ctp_err_set(err, CTP_CACHERAY_ORDER "=%.40s is no byte order", order);
	if (address && !ctp_cacheray_address(address, &sp))
		return ctp_err_set(err, CTP_CACHERAY_ADDRESS "=%.40s: an address has 4 or 8", address);
	if (s->wanted.order)
		sp.order = s->wanted.order;
	if (s->wanted.address_bytes)
		sp.address_bytes = s->wanted.address_bytes;
	if (had->order && (had->order != sp.order || had->address_bytes != sp.address_bytes))
		return ctp_err_set(err, "a section is %s-endian with addresses of %u bytes, the one before %s with %u; %s makes one trace of them",
		                   order_name(sp), sp.address_bytes, order_name(*had), had->address_bytes,
		                   had->order == sp.order ? "-a 8" : had->address_bytes == sp.address_bytes ? "-b little" : "-a 8 -b little");
	s->spelling = sp;
	s->any |= order != NULL;
	return CTP_OK;
}

/* --- classes ------------------------------------------------------------------------------------------------------------- */

static enum ctp_status find_fields(struct known_class *k, struct ctp_err *err)
{
	k->usual = true;
	for (uint32_t i = 1; i < ctp_cacheray_sorts[k->event].nfields; i++) { /* the trace has no ts */
		const struct ctp_field *f = &ctp_cacheray_sorts[k->event].fields[i];
		int at = ctp_class_field(k->cls, f->name);
		unsigned type = at < 0 ? 0 : k->cls->fields[at].type;
		if (at < 0 || ctp_type_is_text(type) != ctp_type_is_text(f->type) || ctp_type_is_float(type))
			return ctp_err_set(err, "class %s: its field %s is missing, or of a type that it cannot have", k->cls->name, f->name);
		k->usual &= at == (int)i && type == f->type;
		k->field[i] = (uint8_t)at;
	}
	return CTP_OK;
}

static enum ctp_status add_class(struct cacheray_sink *s, struct known_class *k, const struct ctp_class *cls, struct ctp_err *err)
{
	*k = (struct known_class){.cls = cls, .event = -1};
	for (int i = 0; i < CTP_CACHERAY_DAMAGE; i++) /* which has no place in a trace */
		if (!strcmp(cls->name, ctp_cacheray_sorts[i].name))
			k->event = i;
	if (k->event < 0)
		return CTP_OK;
	s->any = true;
	return find_fields(k, err);
}

/* --- records ------------------------------------------------------------------------------------------------------------- */

static enum ctp_status too_large(const char *what, uint64_t v, struct ctp_err *err)
{
	return ctp_err_set(err, "%s %#llx does not fit into the trace%s", what, (unsigned long long)v,
	                   *what == 'a' ? "; -a 8 has addresses of 8 bytes" : "");
}

static inline __attribute__((always_inline)) uint8_t *put_access(struct ctp_cacheray_spelling sp, uint8_t *p, const uint64_t *val)
{
	*p = (uint8_t)(val[CTP_ACCESS_OP] | val[CTP_ACCESS_ATOMIC] << 6 | val[CTP_ACCESS_UNALIGNED] << 7);
	p = ctp_cacheray_put_address(sp, p + 1, val[CTP_ACCESS_ADDRESS]);
	*p = (uint8_t)val[CTP_ACCESS_SIZE];
	return ctp_cacheray_put_u64(sp, p + 1, val[CTP_ACCESS_THREAD]);
}

/* Accesses of one class in the usual order, as many as follow each other and fit. */
static inline __attribute__((always_inline)) uint32_t put_run(struct cacheray_sink *s, struct ctp_cacheray_spelling sp,
                                                              const struct ctp_record *rec, uint32_t n)
{
	enum { MOST = CTP_OUTPUT_ROOM / CTP_CACHERAY_FIXED_MAX };
	const struct ctp_class *cls = rec->cls;
	uint8_t *p = (uint8_t *)ctp_output_reserve(s->out, CTP_OUTPUT_ROOM);
	uint32_t i = 0;
	for (n = n < MOST ? n : MOST; i < n && rec[i].cls == cls; i++) {
		const uint64_t *val = rec[i].val;
		if (val[CTP_ACCESS_OP] > CTP_ACCESS_WRITE || (sp.address_bytes == 4 && val[CTP_ACCESS_ADDRESS] >> 32))
			break;
		p = put_access(sp, p, val);
	}
	ctp_output_commit(s->out, (char *)p);
	return i;
}

static uint32_t put_accesses(struct cacheray_sink *s, const struct ctp_record *rec, uint32_t n)
{
	struct ctp_cacheray_spelling sp = s->spelling;
	if (sp.order == CTP_CACHERAY_LITTLE && sp.address_bytes == 8)
		return put_run(s, (struct ctp_cacheray_spelling){CTP_CACHERAY_LITTLE, 8}, rec, n);
	return put_run(s, sp, rec, n);
}

static enum ctp_status put_one(struct cacheray_sink *s, const struct known_class *k, const uint64_t *given, struct ctp_err *err)
{
	struct ctp_cacheray_spelling sp = s->spelling;
	uint64_t val[CTP_ACCESS_FIELDS] = {0};
	uint8_t rec[CTP_CACHERAY_FIXED_MAX], *p = rec;
	for (uint32_t i = 1; i < ctp_cacheray_sorts[k->event].nfields; i++)
		val[i] = given[k->field[i]];
	_Static_assert((int)CTP_ACCESS_ADDRESS == (int)CTP_ADD_ADDRESS && (int)CTP_ADD_ADDRESS == (int)CTP_REMOVE_ADDRESS, "one place");
	if (sp.address_bytes == 4 && val[CTP_ACCESS_ADDRESS] >> 32)
		return too_large("address", val[CTP_ACCESS_ADDRESS], err);
	if (k->event == CTP_CACHERAY_ACCESS) {
		if (val[CTP_ACCESS_OP] > CTP_ACCESS_WRITE || val[CTP_ACCESS_ATOMIC] > 1 || val[CTP_ACCESS_UNALIGNED] > 1)
			return ctp_err_set(err, "an access is neither a read nor a write");
		if (val[CTP_ACCESS_SIZE] > UINT8_MAX)
			return too_large("size", val[CTP_ACCESS_SIZE], err);
		p = put_access(sp, p, val);
		ctp_output_put(s->out, rec, (size_t)(p - rec));
		return CTP_OK;
	}
	_Static_assert((int)CTP_ADD_THREAD == (int)CTP_REMOVE_THREAD, "one place");
	*p = k->event == CTP_CACHERAY_ADD ? CTP_CACHERAY_RTTA_ADD : CTP_CACHERAY_RTTA_REMOVE;
	p = ctp_cacheray_put_address(sp, p + 1, val[CTP_ADD_ADDRESS]);
	p = ctp_cacheray_put_u64(sp, p, val[CTP_ADD_THREAD]);
	if (k->event == CTP_CACHERAY_REMOVE) {
		ctp_output_put(s->out, rec, (size_t)(p - rec));
		return CTP_OK;
	}
	if ((val[CTP_ADD_ELEMENT] | val[CTP_ADD_COUNT]) >> 32)
		return too_large("number of elements, or their size,", val[CTP_ADD_ELEMENT] | val[CTP_ADD_COUNT], err);
	const struct ctp_str *name = ctp_str_val(val[CTP_ADD_TYPE]);
	p = ctp_cacheray_put_u32(sp, p, (uint32_t)val[CTP_ADD_ELEMENT]);
	p = ctp_cacheray_put_u32(sp, p, (uint32_t)val[CTP_ADD_COUNT]);
	p = ctp_cacheray_put_u32(sp, p, name->len);
	ctp_output_put(s->out, rec, (size_t)(p - rec));
	ctp_output_put(s->out, name->data, name->len);
	return CTP_OK;
}

static enum ctp_status write_records(struct ctp_sink *sink, const struct ctp_batch *batch, struct ctp_err *err)
{
	struct cacheray_sink *s = (struct cacheray_sink *)sink;
	for (uint32_t i = 0, n; i < batch->n; i += n) {
		const struct ctp_record *rec = &batch->rec[i];
		struct known_class *k = &s->classes[rec->cls->id];
		if (!k->cls && add_class(s, k, rec->cls, err))
			return CTP_FAILED;
		n = k->usual && k->event == CTP_CACHERAY_ACCESS ? put_accesses(s, rec, batch->n - i) : 0;
		if (!n && k->event >= 0 && put_one(s, k, rec->val, err))
			return CTP_FAILED;
		n += !n;
	}
	return ctp_output_status(s->out, err);
}

/* --- begin and end ------------------------------------------------------------------------------------------------------- */

static enum ctp_status flush(struct ctp_sink *sink, struct ctp_err *err)
{
	struct cacheray_sink *s = (struct cacheray_sink *)sink;
	ctp_output_flush(s->out);
	return ctp_output_status(s->out, err);
}

static enum ctp_status finish(struct ctp_sink *sink, struct ctp_err *err)
{
	struct cacheray_sink *s = (struct cacheray_sink *)sink;
	if (!s->any)
		return ctp_err_set(err, "not one record is of a Cacheray trace; ctp-fromcacheray makes such streams");
	return ctp_output_close(s->out, err);
}

static void free_sink(struct ctp_sink *sink)
{
	struct cacheray_sink *s = (struct cacheray_sink *)sink;
	ctp_output_abandon(s->out);
	free(s);
}

static const struct ctp_sink_ops ops = {
	.section = begin_section,
	.records = write_records,
	.flush = flush,
	.finish = finish,
	.free = free_sink,
};

struct ctp_sink *ctp_cacheray_sink(struct ctp_output *out, struct ctp_cacheray_spelling spelling, struct ctp_err *err)
{
	struct cacheray_sink *s = calloc(1, sizeof *s);
	if (!s) {
		ctp_err_as(err, CTP_ERR_MEMORY, "%s: out of memory", out->name);
		ctp_output_abandon(out);
		return NULL;
	}
	s->sink.ops = &ops;
	s->out = out;
	s->wanted = spelling;
	return &s->sink;
}
