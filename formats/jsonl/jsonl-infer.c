/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* jsonl-infer.c - a class for rows that come without a schema; the rule is in jsonl-row.h. */
#include "base/text.h"
#include "common/json.h"
#include "common/plain.h"
#include "jsonl/jsonl-row.h"

/* The type of a field for the value at j, which is skipped; false: the value makes no field, or, with j->p null, is invalid. */
static bool guess_field(struct ctp_json *j, struct ctp_field *f)
{
	struct ctp_json at = *j;
	const char *from, *upto;
	uint64_t v;
	int64_t s;
	enum ctp_json_kind kind = ctp_json_peek(&at);
	if (!ctp_json_skip(j)) {
		j->p = NULL;
		return false;
	}
	switch (kind) {
	case CTP_JSON_NUMBER:
		ctp_json_number(&at, &from, &upto);
		f->type = ctp_parse_u64(from, upto, &v) ? CTP_U64 : ctp_parse_i64(from, upto, &s) ? CTP_I64 : CTP_F64;
		return true;
	case CTP_JSON_TEXT:
		f->type = CTP_STRING;
		if (j->p - at.p == 20 && ctp_parse_hex(at.p + 1, j->p - 1, &v)) {
			f->type = CTP_U64;
			f->flags = CTP_FIELD_HEX;
		}
		return true;
	case CTP_JSON_TRUE:
	case CTP_JSON_FALSE:
		f->type = CTP_BOOL;
		return true;
	default:
		return false;
	}
}

/* The fields of a row; their names stand in row->text after that of the class. -1: why. */
static int guess_fields(struct ctp_jsonl_row *row, size_t used, const char *p, const char *end, struct ctp_field *fields,
                        struct ctp_err *why)
{
	struct ctp_json j = {p, end};
	bool first = true;
	uint32_t n = 0;
	if (!ctp_json_take(&j, '{'))
		return ctp_err_set(why, "not a JSON object");
	while (ctp_json_next(&j, '}', &first)) {
		char *key = row->text + used, *key_end = ctp_json_key(&j, key);
		if (!key_end)
			return ctp_err_set(why, "not JSON");
		*key_end = '\0';
		struct ctp_field f = {.name = key + (key[0] == '@')};
		if (!guess_field(&j, &f)) {
			if (!j.p)
				break;
			continue;
		}
		if (!strcmp(key, "type") || !strcmp(key, "late"))
			continue;
		if (n == CTP_FIELDS_MAX || strlen(key) != (size_t)(key_end - key) ||
		    (key[0] == '@' && !ctp_jsonl_field_reserved(f.name)))
			return ctp_err_set(why, "has too many keys, or one that is no usable name");
		if (f.type == CTP_U64 && !strcmp(f.name, "ts")) {
			f.role = CTP_ROLE_TIME;
			f.pred = CTP_PRED_TIME;
		} else {
			f.pred = n < CTP_MASKED_MAX ? CTP_PRED_PREV : CTP_PRED_NONE;
		}
		fields[n++] = f;
		used += (size_t)(key_end - key) + 1;
	}
	return j.p && ctp_json_done(&j) ? (int)n : (int)ctp_err_set(why, "not JSON");
}

struct ctp_class *ctp_jsonl_row_class(struct ctp_jsonl_row *row, const char *name, const char *p, const char *end,
                                      struct ctp_err *why)
{
	struct ctp_field fields[CTP_FIELDS_MAX];
	/* The class's name stands first in row->text, the keys after it. */
	int n = guess_fields(row, (size_t)(name - row->text) + strlen(name) + 1, p, end, fields, why);
	if (n < 0)
		return NULL;
	struct ctp_class *cls = ctp_plain_known(name, fields, (uint32_t)n);
	return cls ? cls : ctp_class_new(name, CTP_KIND_OTHER, fields, (uint32_t)n, why);
}
