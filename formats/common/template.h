/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * template.h - the rows of a text format: for each value of a record the fixed text before it, and a form.
 *
 * A format makes a template of a class when it meets the first record; each record is then a few copies and the numbers between
 * them. A row whose values all have a bound is written into one reserved room, any other piece by piece.
 */
#ifndef CTP_TEMPLATE_H
#define CTP_TEMPLATE_H

#include "base/text.h"
#include "io/output.h"
#include "stream/record.h"
#include "stream/value.h"

struct ctp_place_texts; /* place-texts.h */

enum { CTP_TEMPLATE_SHORT = 32 }; /* bytes of a fixed text that are copied at once: the memory after it must be readable */

struct ctp_template_text {
	const char *data; /* `{"type":"x","ts":` or `,"tid":` or `,,`, in the template's own memory */
	uint32_t len;
};

/* How one format differs from another. */
struct ctp_template_style {
	void (*text)(struct ctp_output *out, const char *text, size_t len); /* writes a text as the format spells it */
	bool quotes; /* stand around hexadecimal, bytes and floats that are not finite; labels may then look like numbers */
	bool omits;  /* a place that has no text, and the fixed text before that */
};

/* For a reader of rows; a word is eight bytes of text, the first in the lowest byte. */
struct ctp_template_match {
	uint64_t first, mask;    /* the first word of the fixed text; the bytes of it that count */
	uint64_t digits, number; /* the first word of digits that a row had, and what it stands for; true at any time */
	uint8_t form;            /* the key's, where each value of that form fits the field; else CTP_FORM_TEXT */
};

struct ctp_template_key {
	struct ctp_template_text before;
	const struct ctp_field *field;
	uint32_t index; /* of the field in the record */
	uint8_t form;
	struct ctp_text_near near; /* the number of the row before */
	struct ctp_template_match match;
};

struct ctp_template {
	const struct ctp_template_style *style;
	struct ctp_place_texts *texts; /* for CTP_FORM_PLACE, and learn from each record; null: the class shows none */
	int64_t wall_offset_ns;        /* for CTP_FORM_WALL */
	struct ctp_template_text tail, late_tail; /* after the last value, with the newline */
	uint32_t longest; /* of the fixed texts before a value */
	size_t room;  /* of a row, where each value has a bound */
	bool bounded; /* that is so, and an output can give the room at once */
	uint32_t nkeys;
	struct ctp_template_key keys[];
};

/* One block, for free(); *text is the memory for its fixed texts, in the same block. Null: out of memory. */
struct ctp_template *ctp_template_new(uint32_t nkeys_max, size_t text_bytes, char **text);

/* To be called when the keys and tails are there, before the first row. */
void ctp_template_measure(struct ctp_template *t);

/* The rows of n records, all of the template's class. */
void ctp_template_put(struct ctp_template *t, struct ctp_output *out, const struct ctp_record *rec, uint32_t n, bool late);

/* --- the templates of a section ------------------------------------------------------------------------------------------ */

struct ctp_templates {
	struct ctp_templates_class {
		const struct ctp_class *cls; /* null: not met yet */
		struct ctp_template *row;    /* null: the class is not shown */
		bool declared;
	} of[CTP_CLASSES_MAX]; /* by the class's id */
};

void ctp_templates_forget(struct ctp_templates *ts);

/*
 * The class is being declared: from here on its name means this class alone, also where a section has two of the name. The
 * other one must be declared again before its next row.
 */
void ctp_templates_declare(struct ctp_templates *ts, struct ctp_templates_class *c);

/* The end of the records from rec on that are of the class of the first. */
static inline const struct ctp_record *ctp_templates_run(const struct ctp_record *rec, const struct ctp_record *end)
{
	const struct ctp_class *cls = rec->cls;
	while (++rec < end && rec->cls == cls)
		;
	return rec;
}

#endif
