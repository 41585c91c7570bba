/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * steps.h - bytes as a list of steps, which a sink is led through: declare a class, begin a section, end one, or a record of a class.
 *
 * The reader has a target of its own (stream.c); after it, only classes and values can be hostile, and these are made here
 * directly. What the contract of a sink promises holds: a record that is older than one before is late, and each section that
 * began ends.
 */
#ifndef CTP_T_STEPS_H
#define CTP_T_STEPS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "must.h"
#include "stream/events.h"
#include "stream/sink.h"

enum { STEPS_CLASSES = 32, STEPS_FIELDS = 12, STEPS_SECTIONS = 4 };

struct steps {
	const uint8_t *p, *end;
	struct ctp_sink *sink;
	struct ctp_class *classes[STEPS_CLASSES];
	uint32_t nclasses, sections;
	uint64_t now_ns, last_ns, val[CTP_FIELDS_MAX];
	struct ctp_str *texts[CTP_FIELDS_MAX];
	struct ctp_section section;
	bool open, failed; /* failed: the sink has, and err says why */
	struct ctp_err err;
	uint64_t records, sum; /* of this section: how many, and the sum of their hashes, whatever their order */
	void (*ended)(struct steps *s); /* a section has; null: nothing to do */
};

static inline uint8_t steps_byte(struct steps *s) { return s->p < s->end ? *s->p++ : 0; }

/* --- values --------------------------------------------------------------------------------------------------------------- */

/* Small numbers for the most part, so that records are about the same few coroutines; and the edges. */
static inline uint64_t steps_number(struct steps *s)
{
	uint8_t b = steps_byte(s);
	return b < 0xe0 ? b : b < 0xf0 ? UINT64_MAX >> 4 * (b & 15) : UINT64_C(1) << (63 - 4 * (b & 15));
}

static inline uint64_t steps_moment(struct steps *s)
{
	static const uint64_t steps[] = {0, 1, 1000, 1000000, 20000000, 200000000, 2000000000, 70000000000, UINT64_C(1) << 62};
	uint8_t b = steps_byte(s);
	if (b >= 0xf8)
		return s->now_ns - steps[b & 7]; /* goes back, or wraps */
	return s->now_ns += steps[b % 9] * (b / 9 % 4);
}

static inline struct ctp_str *steps_text(struct steps *s)
{
	size_t len = steps_byte(s), left = (size_t)(s->end - s->p), have = len < left ? len : left;
	struct ctp_str *str = calloc(1, sizeof(*str) + len + 1);
	must(str, "no memory");
	str->len = (uint32_t)len;
	memcpy(str->data, s->p, have);
	s->p += have;
	return str;
}

/* A name that tools look for, one that could be taken for something else, or any bytes. */
static inline const char *steps_name(struct steps *s, char to[CTP_NAME_MAX + 1])
{
	static const char *const names[] = {
		"index", "parent", "by", "code", "target", "start", "stop", "after", "outcome", "status", "file", "line", "state",
		"threads", "cpu_ns", "delay_ns", "how", "joins", "by_hand", "before", "ts", "tid", "coro", "probe_id", "addr", "seq",
		"is_active", "site", "site_text", "addr_text", "type", "late", "@meta", "@section", "id", "section", "rowid", "ID",
		"transition", "birth", "symbols", "sqlite_x", "a,b", "=1+1", "\"", "</script>", "<!--", "a\nb", "\x1b[31m", "\xff",
		"\xe2\x80\xae", "\\", "_", "int", "uint64_t", "event", " ", "\xef\xbb\xbf", "a;b 1", "|", "`", "@user", "https://x.y", "\x7f",
	};
	uint8_t b = steps_byte(s);
	size_t n = sizeof names / sizeof *names, len = b & 15;
	if (b < 0xc0)
		return names[b % n];
	for (size_t i = 0; i < len; i++) {
		uint8_t c = steps_byte(s);
		to[i] = (char)(c ? c : 'x');
	}
	to[len] = '\0';
	return to;
}

static inline uint64_t steps_narrow(unsigned type, uint64_t v)
{
	switch (type) {
	case CTP_U8: return (uint8_t)v;
	case CTP_U16: return (uint16_t)v;
	case CTP_U32: case CTP_F32: return (uint32_t)v;
	case CTP_I8: return (uint64_t)(int8_t)v;
	case CTP_I16: return (uint64_t)(int16_t)v;
	case CTP_I32: return (uint64_t)(int32_t)v;
	case CTP_BOOL: return v & 1;
	default: return v;
	}
}

static inline uint64_t steps_hash(uint64_t hash, const void *data, size_t len)
{
	for (const uint8_t *p = data; len--; p++)
		hash = (hash ^ *p) * UINT64_C(0x100000001b3);
	return hash;
}

/* The same for the same class and values; a number may lack what its type does not hold, as a writer takes it. */
static inline uint64_t steps_record_hash(const struct ctp_class *cls, const uint64_t *val)
{
	uint64_t hash = steps_hash(UINT64_C(0xcbf29ce484222325), cls->decl, cls->decl_bytes);
	for (uint32_t i = 0; i < cls->nfields; i++) {
		const struct ctp_str *s = ctp_type_is_text(cls->fields[i].type) ? ctp_str_val(val[i]) : NULL;
		uint64_t v = s ? s->len : steps_narrow(cls->fields[i].type, val[i]);
		hash = steps_hash(hash, &v, sizeof v);
		if (s)
			hash = steps_hash(hash, s->data, s->len);
	}
	return hash;
}

/* --- steps ---------------------------------------------------------------------------------------------------------------- */

static inline void steps_record(struct steps *s, const struct ctp_class *cls)
{
	struct ctp_record rec = {.cls = cls, .val = s->val};
	for (uint32_t i = 0; i < cls->nfields; i++) {
		const struct ctp_field *field = &cls->fields[i];
		s->texts[i] = NULL;
		if (ctp_type_is_text(field->type))
			s->val[i] = ctp_val_str(s->texts[i] = steps_text(s));
		else
			s->val[i] = field->role == CTP_ROLE_TIME ? steps_moment(s) : steps_narrow(field->type, steps_number(s));
	}
	rec.ts_ns = cls->time_field >= 0 ? s->val[cls->time_field] : s->last_ns;
	bool late = rec.ts_ns < s->last_ns;
	s->last_ns = late ? s->last_ns : rec.ts_ns;
	s->records++;
	s->sum += steps_record_hash(cls, s->val);
	if (!s->failed && s->sink->ops->records(s->sink, &(struct ctp_batch){.rec = &rec, .n = 1, .late = late}, &s->err))
		s->failed = true;
	for (uint32_t i = 0; i < cls->nfields; i++)
		free(s->texts[i]);
}

/* A class with any types for any roles. */
static inline void steps_declare(struct steps *s)
{
	char room[STEPS_FIELDS + 3][CTP_NAME_MAX + 1];
	struct ctp_field fields[STEPS_FIELDS];
	struct ctp_label labels[2];
	struct ctp_err err;
	uint8_t kind = steps_byte(s), n = steps_byte(s) % STEPS_FIELDS;
	const char *name = steps_name(s, room[STEPS_FIELDS]);
	for (uint32_t i = 0; i < 2; i++)
		labels[i] = (struct ctp_label){steps_number(s), steps_name(s, room[STEPS_FIELDS + 1 + i])};
	for (uint8_t i = 0; i < n; i++) {
		uint8_t role = steps_byte(s), type = steps_byte(s);
		fields[i] = (struct ctp_field){.name = steps_name(s, room[i]), .role = role % CTP_ROLE_COUNT_, .flags = role >> 6 & 3,
		                               .type = 1 + type % (CTP_TYPE_COUNT - 1)};
		fields[i].unit = role >> 5 & 1 ? fields[i].name : NULL;
		fields[i].pred = fields[i].role != CTP_ROLE_TIME && type >= 0xc0 ? CTP_PRED_PREV : CTP_PRED_NONE;
		if (fields[i].type == CTP_ENUM)
			fields[i].labels = labels, fields[i].nlabels = type >> 5 & 1 ? 2 : 1;
	}
	struct ctp_class *cls = s->nclasses < STEPS_CLASSES ? ctp_class_new(name, kind % CTP_KIND_COUNT, fields, n, &err) : NULL;
	if (!cls)
		return;
	cls->id = s->nclasses;
	s->classes[s->nclasses++] = cls;
}

static inline void steps_begin(struct steps *s)
{
	char name[CTP_NAME_MAX + 1], value[CTP_NAME_MAX + 1];
	uint8_t how = steps_byte(s);
	ctp_section_fini(&s->section);
	ctp_section_init(&s->section);
	s->section.id = ++s->sections;
	ctp_section_add(&s->section, "argv[]", how & 16 ? steps_name(s, value) : "x");
	if (how & 1)
		ctp_section_add(&s->section, "pid", "1");
	if (how & 2)
		ctp_section_add(&s->section, "attached", "yes");
	if (how & 4)
		ctp_section_add(&s->section, "start_ns", "1000");
	if (how & 8)
		ctp_section_add(&s->section, "clock", "ordinal");
	if (how & 32)
		ctp_section_add(&s->section, steps_name(s, name), steps_name(s, value));
	if (how & 64)
		ctp_section_add(&s->section, "wall_offset_ns", "1700000000000000000");
	s->last_ns = s->records = s->sum = 0;
	s->open = true;
	if (!s->failed && s->sink->ops->section && s->sink->ops->section(s->sink, &s->section, &s->err))
		s->failed = true;
}

static inline void steps_end(struct steps *s, uint8_t how)
{
	const struct ctp_section_end end = {.complete = (how & 3) == 1, .missing = how & 2};
	if (!s->failed && s->sink->ops->end && s->sink->ops->end(s->sink, &end, &s->err))
		s->failed = true;
	s->open = false;
	if (s->ended)
		s->ended(s);
}

static inline void steps_start(struct steps *s, const uint8_t *data, size_t size)
{
	*s = (struct steps){.p = data, .end = data + size};
	ctp_section_init(&s->section);
	for (; s->nclasses < CTP_EVENT_COUNT; s->nclasses++) {
		s->classes[s->nclasses] = ctp_event_class((enum ctp_event)s->nclasses);
		must(s->classes[s->nclasses], "no class");
		s->classes[s->nclasses]->id = s->nclasses;
	}
}

/* Leads the sink through all steps. */
static inline void steps_run(struct steps *s, struct ctp_sink *sink)
{
	s->sink = sink;
	steps_begin(s);
	while (s->p < s->end) {
		uint8_t step = steps_byte(s);
		if (step < 0xe0) {
			steps_record(s, s->classes[step % s->nclasses]);
		} else if (step < 0xf0) {
			steps_declare(s);
		} else if (s->sections < STEPS_SECTIONS) {
			steps_end(s, step);
			steps_begin(s);
		}
	}
	steps_end(s, 1);
}

/* The sink finishes, and is freed. False: it has failed before, or now, and s->err says why. */
static inline bool steps_finish(struct steps *s)
{
	if (!s->failed && s->sink->ops->finish && s->sink->ops->finish(s->sink, &s->err))
		s->failed = true;
	s->sink->ops->free(s->sink);
	return !s->failed;
}

static inline void steps_fini(struct steps *s)
{
	ctp_section_fini(&s->section);
	for (uint32_t i = 0; i < s->nclasses; i++)
		ctp_class_free(s->classes[i]);
}

#endif
