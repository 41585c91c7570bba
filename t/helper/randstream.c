/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * randstream.c - randstream [SEED [BOOT]] writes a raw stream of random classes and records to standard output. With a BOOT, all
 * sections have the monotonic clock of that boot.
 *
 * Every type, role and predictor in every combination that the library allows, with values that are mostly what a predictor
 * expects, sometimes near it and sometimes anything. Keys are few, so that they repeat, and of all sizes, so that classes
 * share a context; sites are few, so that they are known when they are referred to. A section has late
 * records, records without a time, and an end or none.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/output.h"
#include "stream/writer.h"

enum { SECTIONS = 8, CLASSES = 24, FIELDS = 20, RECORDS = 300, KEYS = 12, SITES = 6, TEXTS = 40, TEXT_BYTES = 300 };

static uint64_t seed = 1;
static const char *boot; /* null: sections name no clock */

static uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed * 0x2545f4914f6cdd1d >> 1;
}

static bool one_in(unsigned n) { return rnd() % n == 0; }

/* A number of any size, or one of those where an error would show. */
static uint64_t rnd_number(void)
{
	static const uint64_t edge[] = { 0, 1, 127, 128, 255, 256, INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX, UINT32_MAX,
		                         (uint64_t)UINT32_MAX + 1, 0x7f800000, 0xff800000, 0x80000000,
		                         0x7ff0000000000000, 0xfff0000000000000, 0x3ff0000000000000, 0x3f800000 };
	return one_in(3) ? edge[rnd() % (sizeof edge / sizeof *edge)] : rnd() >> rnd() % 63;
}

static const struct ctp_str *texts[TEXTS];

/* Any bytes or plain letters; the first is empty, the last is new at each call. */
static const struct ctp_str *rnd_text(void)
{
	static struct {
		uint32_t len;
		char data[TEXT_BYTES + 1];
	} fresh;
	unsigned which = rnd() % TEXTS;

	if (which < TEXTS - 1)
		return texts[which];
	fresh.len = 1 + rnd() % TEXT_BYTES;
	for (uint32_t i = 0; i < fresh.len; i++)
		fresh.data[i] = 'a' + rnd() % 26;
	return (const struct ctp_str *)&fresh;
}

static void make_texts(void)
{
	for (unsigned t = 0; t < TEXTS - 1; t++) {
		uint32_t len = t ? 1 + rnd() % (one_in(4) ? TEXT_BYTES : 12) : 0;
		struct ctp_str *s = calloc(1, sizeof *s + len + 1);
		if (!s)
			abort();
		s->len = len;
		for (uint32_t i = 0; i < len; i++)
			s->data[i] = (char)(t % 2 ? rnd() : 'a' + rnd() % 26);
		texts[t] = s;
	}
}

/* --- classes -------------------------------------------------------------------------------------------------------------- */

struct kind_of_record {
	struct ctp_class *cls;
	uint64_t keys[KEYS];
	uint64_t val[FIELDS];  /* of the last record */
	uint64_t step[FIELDS]; /* that it goes on by where it does */
};

/* A field of any kind; whether it goes with the others is for the library to say. */
static struct ctp_field rnd_field(const char *name)
{
	static const struct ctp_label labels[] = {
		{ 0, "zero" }, { 1, "one" }, { 1, "uno" }, { 3, "three\xff" }, { 4, "one" }, { UINT64_MAX, "all" },
	};
	struct ctp_field f = {
		.name = name, .type = 1 + rnd() % (CTP_TYPE_COUNT - 1), .role = one_in(2) ? 0 : rnd() % CTP_ROLE_COUNT_,
		.pred = rnd() % CTP_PRED_COUNT, .flags = rnd() % 4, .unit = one_in(3) ? "ns" : NULL,
	};

	if (f.pred == CTP_PRED_TIME)
		f.role = CTP_ROLE_TIME;
	if (f.role == CTP_ROLE_TIME)
		f.type = CTP_U64;
	if (f.role == CTP_ROLE_SITE)
		f.type = CTP_U8 + rnd() % 4;
	if (f.type == CTP_ENUM && one_in(2))
		f.labels = labels, f.nlabels = sizeof labels / sizeof *labels;
	return f;
}

/* Field by field, each drawn until it can join those before it; then, if that is allowed too, in another order. */
static struct ctp_class *rnd_class(unsigned number)
{
	static const char *const odd[] = { "", "", "@", "\xc3\xa9", "\xff", "a b", "\"\\\n" };
	struct ctp_field f[FIELDS];
	char name[32], names[FIELDS][32];
	struct ctp_err err;
	enum ctp_kind kind = number ? rnd() % CTP_KIND_COUNT : CTP_KIND_SITE;
	uint32_t n = number ? rnd() % (FIELDS + 1) : FIELDS;

	snprintf(name, sizeof name, "%sclass%u", one_in(4) ? "@" : "", number);
	struct ctp_class *cls = ctp_class_new(name, kind, f, 0, &err);
	for (uint32_t i = 0; i < n; i++) {
		if (kind == CTP_KIND_SITE && i < 3)
			snprintf(names[i], sizeof names[i], "%s", i == 2 ? "site" : i ? "line" : "file");
		else if (i < 2 && one_in(3))
			snprintf(names[i], sizeof names[i], "%s", i ? "type" : "late");
		else
			snprintf(names[i], sizeof names[i], "%sf%u", odd[rnd() % (sizeof odd / sizeof *odd)], i);
		ctp_class_free(cls);
		do {
			f[i] = rnd_field(names[i]);
			if (kind == CTP_KIND_SITE && i == 2) {
				f[i].role = CTP_ROLE_SITE;
				f[i].type = CTP_U16;
			}
		} while (!(cls = ctp_class_new(name, kind, f, i + 1, &err)));
	}
	for (uint32_t i = 1; i < n; i++) {
		uint32_t j = rnd() % (i + 1);
		struct ctp_field swap = f[i];
		f[i] = f[j];
		f[j] = swap;
	}
	struct ctp_class *shuffled = ctp_class_new(name, kind, f, n, &err);
	if (shuffled)
		ctp_class_free(cls);
	return shuffled ? shuffled : cls;
}

static void make_class(struct kind_of_record *k, unsigned number)
{
	k->cls = rnd_class(number);
	if (!k->cls)
		abort();
	for (unsigned i = 0; i < KEYS; i++)
		k->keys[i] = one_in(2) ? rnd() % 2000 : rnd_number();
}

/* --- records -------------------------------------------------------------------------------------------------------------- */

static void next_value(struct kind_of_record *k, uint32_t i, uint64_t *now)
{
	const struct ctp_field *f = &k->cls->fields[i];
	uint64_t *v = &k->val[i];

	if (ctp_type_is_text(f->type)) {
		if (!*v || one_in(3))
			*v = ctp_val_str(rnd_text());
	} else if ((int)i == k->cls->time_field) {
		*v = one_in(20) ? *now - rnd() % 500 : (*now += rnd() % 20);
	} else if (f->role == CTP_ROLE_SITE) {
		*v = rnd() % SITES + (k->cls->kind == CTP_KIND_SITE ? SITES : 0); /* the other sites are written by write_sites */
	} else if ((int)i == k->cls->key_field) {
		*v = one_in(50) ? rnd_number() : k->keys[rnd() % KEYS];
	} else if (one_in(6)) {
		k->step[i] = one_in(2) ? rnd() % 5 : rnd_number();
		*v = rnd_number();
	} else if (f->pred == CTP_PRED_STEP || one_in(6)) {
		*v += k->step[i];
	} else if (f->pred == CTP_PRED_TOGGLE) {
		*v ^= 1;
	}
}

/* Before all others also in the order of time, so that a number has one meaning in whatever order the records come. */
static void write_sites(struct ctp_writer *w, struct kind_of_record *k, uint64_t now)
{
	for (uint64_t site = 1; site < SITES; site++) {
		for (uint32_t i = 0; i < k->cls->nfields; i++)
			next_value(k, i, &now);
		k->val[ctp_class_role(k->cls, CTP_ROLE_SITE)] = site;
		if (k->cls->time_field >= 0)
			k->val[k->cls->time_field] = now - 1000;
		ctp_writer_record(w, k->cls, k->val);
	}
}

static void write_section(struct ctp_writer *w, struct kind_of_record *kinds, bool cut)
{
	struct ctp_section sec;
	unsigned nkinds = 1 + rnd() % CLASSES;
	uint64_t now = 2000 + (one_in(4) ? rnd_number() / 2 : 0);

	ctp_section_init(&sec);
	if (!one_in(3))
		ctp_section_add(&sec, "tool", "randstream");
	if (boot) {
		ctp_section_add(&sec, "clock", "monotonic");
		ctp_section_add(&sec, "boot_id", boot);
		ctp_section_add(&sec, "wall_offset_ns", "5000");
	}
	ctp_writer_begin(w, &sec);
	write_sites(w, &kinds[0], now);
	for (unsigned r = SITES - 1; r < RECORDS; r++) {
		struct kind_of_record *k = &kinds[rnd() % nkinds];
		for (uint32_t i = 0; i < k->cls->nfields; i++)
			next_value(k, i, &now);
		ctp_writer_record(w, k->cls, k->val);
		if (one_in(25))
			ctp_writer_mark(w, now - rnd() % 100);
		if (one_in(200))
			ctp_writer_flush(w);
	}
	ctp_writer_end(w, !cut && !one_in(4));
	ctp_section_fini(&sec);
}

int main(int argc, char **argv)
{
	static struct kind_of_record kinds[CLASSES];
	struct ctp_output out;
	struct ctp_err err;

	if (argc > 1)
		seed = strtoull(argv[1], NULL, 0) * 0x9e3779b97f4a7c15 | 1;
	boot = argc > 2 ? argv[2] : NULL;
	make_texts();
	for (unsigned i = 0; i < CLASSES; i++)
		make_class(&kinds[i], i);
	if (ctp_output_open(&out, NULL, true, false, &err) != CTP_OK)
		goto failed;
	struct ctp_writer *w = ctp_writer_to(&out, &err);
	if (!w)
		goto failed;
	for (unsigned s = 0; s < SECTIONS; s++)
		write_section(w, kinds, s == 0);
	ctp_writer_free(w);
	for (unsigned i = 0; i < CLASSES; i++)
		ctp_class_free(kinds[i].cls);
	for (unsigned t = 0; t < TEXTS - 1; t++)
		free((void *)(uintptr_t)texts[t]);
	if (ctp_output_close(&out, &err) == CTP_OK)
		return 0;
failed:
	fprintf(stderr, "randstream: %s\n", err.text);
	return 1;
}
