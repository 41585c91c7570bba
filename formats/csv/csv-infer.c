/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* csv-infer.c - a class for rows that come without a schema; the rule is in csv-infer.h. */
#include "csv/csv-infer.h"

#include <stdlib.h>

#include "base/text.h"
#include "common/plain.h"
#include "stream/events.h"
#include "stream/value.h"

/* The types that all values of a column have; the first that is left is the column's. USED: some row has a value. */
enum { CAN_BOOL = 1, CAN_HEX = 2, CAN_WALL = 4, CAN_U64 = 8, CAN_I64 = 16, CAN_F64 = 32, CAN_ALL = 63, USED = 64 };

static const int64_t EXACT = INT64_C(1) << 53;

static uint8_t looks_like(const char *p, const char *end)
{
	static const struct ctp_field f64 = {.type = CTP_F64};
	int64_t s;
	uint64_t v;
	uint32_t ns;
	/* 007 is a name: a number would lose the zeros. */
	if (end - p > 1 && p[0] == '0' && p[1] >= '0' && p[1] <= '9')
		return 0;
	/* A column with fractions or signs is text if its type cannot hold one of the numbers exactly. */
	if (ctp_parse_u64(p, end, &v))
		return CAN_U64 | (v <= INT64_MAX ? CAN_I64 : 0) | (v <= (uint64_t)EXACT ? CAN_F64 : 0);
	if (ctp_parse_i64(p, end, &s))
		return CAN_I64 | (s >= -EXACT ? CAN_F64 : 0);
	if (end - p == 18 && ctp_parse_hex(p, end, &v))
		return CAN_HEX;
	if (ctp_parse_wall(p, end, &s, &ns))
		return CAN_WALL;
	if (ctp_value_parse(&f64, CTP_FORM_F64, p, end, &v))
		return CAN_F64;
	static const struct ctp_field truth = {.type = CTP_BOOL};
	return ctp_value_parse(&truth, CTP_FORM_BOOL, p, end, &v) ? CAN_BOOL : 0;
}

static void look_at(const struct ctp_csv_infer *what, const struct ctp_csv_rows *rows, uint8_t *can)
{
	if (rows->n != what->columns->n)
		return;
	if (what->type_column >= 0) {
		const struct ctp_csv_field *type = &rows->fields[what->type_column];
		if (type->len != strlen(what->type) || memcmp(rows->base + type->at, what->type, type->len))
			return;
	}
	for (uint32_t i = 0; i < rows->n; i++) {
		const char *p = rows->base + rows->fields[i].at, *end = p + rows->fields[i].len;
		can[i] &= (uint8_t)(looks_like(p, end) | USED);
		can[i] |= p < end ? USED : 0;
	}
}

static enum ctp_status look_ahead(const struct ctp_csv_infer *what, struct ctp_csv_rows *rows, uint8_t *can,
                                  struct ctp_err *why)
{
	const char *from;
	size_t bytes = ctp_csv_rows_peek(rows, CTP_CSV_INFER_BYTES, &from);
	if (what->type_column >= 0)
		look_at(what, rows, can);
	struct ctp_input in;
	struct ctp_csv_rows ahead;
	ctp_input_mem(&in, from, bytes);
	if (ctp_csv_rows_init(&ahead, &in, why))
		return CTP_FAILED;
	for (int n = 0; n < CTP_CSV_INFER_ROWS; n++) {
		struct ctp_err ignored; /* the row is read again, and rejected then */
		enum ctp_status status = ctp_csv_rows_next(&ahead, &ignored);
		if (status == CTP_EOF)
			break;
		if (status == CTP_OK)
			look_at(what, &ahead, can);
	}
	ctp_csv_rows_fini(&ahead);
	return CTP_OK;
}

/* The field's name; null: the column is no field of the class. */
static const char *field_name(const struct ctp_csv_infer *what, uint32_t column, uint8_t can)
{
	const char *name = what->columns->names[column];
	if (what->type_column < 0)
		return name;
	if (!(can & USED) || !strcmp(name, CTP_CSV_TYPE) || !strcmp(name, CTP_CSV_LATE) || !strcmp(name, CTP_CSV_META))
		return NULL;
	name += name[0] == '@';
	return *name && !strcmp(ctp_csv_field_name(name).text, what->columns->names[column]) ? name : NULL;
}

/* dates: a column has wall-clock times, so a number is no time. */
static struct ctp_field field_of(const char *name, uint8_t can, bool dates, bool *has_time, uint32_t n)
{
	struct ctp_field f = {.name = name, .type = CTP_STRING, .pred = n < CTP_MASKED_MAX ? CTP_PRED_PREV : CTP_PRED_NONE};
	if (!(can & USED) || !(can & CAN_ALL))
		return f;
	f.type = can & CAN_BOOL ? CTP_BOOL : can & (CAN_HEX | CAN_WALL | CAN_U64) ? CTP_U64 : can & CAN_I64 ? CTP_I64 : CTP_F64;
	f.flags = can & CAN_HEX ? CTP_FIELD_HEX : 0;
	if (can & CAN_WALL || (can & CAN_U64 && !dates && !strcmp(name, "ts"))) {
		f.role = CTP_ROLE_TIME;
		f.unit = "ns";
		f.pred = *has_time ? f.pred : CTP_PRED_TIME;
		*has_time = true;
	}
	return f;
}

static struct ctp_class *known_class(const struct ctp_csv_infer *what, const struct ctp_field *fields, uint32_t n)
{
	return ctp_plain_known(what->any_known ? NULL : what->name, fields, n);
}

/* A known class, by the names of the columns alone: that with just these, or coroTracer's, whose six may have others between. */
static struct ctp_class *known_columns(const struct ctp_csv_infer *what, struct ctp_err *why)
{
	struct ctp_field fields[CTP_FIELDS_MAX];
	uint32_t n = what->columns->n, plain = 0;
	for (uint32_t i = 0; i < n && n <= CTP_FIELDS_MAX; i++)
		fields[i] = (struct ctp_field){.name = what->columns->names[i]};
	struct ctp_class *cls = n <= CTP_FIELDS_MAX ? known_class(what, fields, n) : NULL;
	while (what->any_known && plain < CTP_PLAIN_FIELDS &&
	       ctp_csv_columns_find(what->columns, ctp_plain_fields[plain].name) >= 0)
		plain++;
	return cls || plain < CTP_PLAIN_FIELDS ? cls : ctp_plain_class(why);
}

static struct ctp_class *class_of(const struct ctp_csv_infer *what, const uint8_t *can, struct ctp_err *why)
{
	struct ctp_field fields[CTP_FIELDS_MAX];
	uint32_t n = 0;
	bool has_time = false, dates = false;
	for (uint32_t i = 0; i < what->columns->n; i++)
		dates |= can[i] & USED && can[i] & CAN_WALL;
	for (uint32_t i = 0; i < what->columns->n; i++) {
		const char *name = field_name(what, i, can[i]);
		if (!name)
			continue;
		if (n == CTP_FIELDS_MAX)
			return ctp_err_set(why, "more than %d columns make no class; leave some out", CTP_FIELDS_MAX), NULL;
		fields[n] = field_of(name, can[i], dates, &has_time, n);
		n++;
	}
	struct ctp_class *cls = what->type_column >= 0 ? known_class(what, fields, n) : NULL;
	return cls ? cls : ctp_class_new(what->name, CTP_KIND_OTHER, fields, n, why);
}

struct ctp_class *ctp_csv_infer(const struct ctp_csv_infer *what, struct ctp_csv_rows *rows, struct ctp_err *why)
{
	struct ctp_class *cls = what->type_column < 0 ? known_columns(what, why) : NULL;
	if (cls)
		return cls;
	uint8_t *can = malloc(what->columns->n);
	if (!can)
		return ctp_err_memory(why), NULL;
	memset(can, CAN_ALL, what->columns->n);
	cls = look_ahead(what, rows, can, why) ? NULL : class_of(what, can, why);
	free(can);
	return cls;
}

bool ctp_csv_is_value(const char *p, const char *end) { return looks_like(p, end) != 0; }
