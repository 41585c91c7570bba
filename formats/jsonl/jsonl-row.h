/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * jsonl-row.h - one line of JSONL to one record, when its class is known; and to a class, when it is not.
 *
 * A line is first compared with the class's template, byte by byte as ctp-tojsonl writes it; if it differs it is read as any JSON
 * object: keys in any order, white space, escapes. Keys that the class does not have are ignored, whatever their value.
 */
#ifndef CTP_JSONL_ROW_H
#define CTP_JSONL_ROW_H

#include "common/json.h"
#include "jsonl/jsonl.h"

enum { CTP_JSONL_LINE_MAX = 4 << 20 };

struct ctp_jsonl_row {
	uint64_t val[CTP_FIELDS_MAX];
	char *text; /* the strings of val; room for every text of a line */
	size_t used;
};

enum ctp_status ctp_jsonl_row_init(struct ctp_jsonl_row *row, struct ctp_err *err);
void ctp_jsonl_row_fini(struct ctp_jsonl_row *row);

/*
 * The newline of the line at p, if the line is exactly a row of this layout; null: it is not, or ends too close to limit, which is
 * at most CTP_JSONL_LINE_MAX away.
 */
const char *ctp_jsonl_row_quick(struct ctp_jsonl_row *row, struct ctp_template *layout, const char *p, const char *limit);

/* Reads the line [p, end) as any JSON object; why says what is wrong. */
enum ctp_status ctp_jsonl_row_parse(struct ctp_jsonl_row *row, const struct ctp_template *layout, const char *p,
                                    const char *end, struct ctp_err *why);

/*
 * *type becomes the value of the key type: NUL-terminated, good until the row is used again; null: the line has no such key.
 * Fails if the line is no JSON object or its type no usable name.
 */
enum ctp_status ctp_jsonl_row_type(struct ctp_jsonl_row *row, const char *p, const char *end, const char **type,
                                   struct ctp_err *why);

/*
 * Finds the value of a key of the object at j: *from is its first byte, j->p its end; *from is null if there is no such key.
 * scratch has room for any text of the line.
 */
enum ctp_status ctp_jsonl_row_find(struct ctp_json *j, const char *key, char *scratch, const char **from, struct ctp_err *why);

/*
 * A class for rows like this one; the caller frees it. name is the *type of ctp_jsonl_row_type, or its end. A known class is taken
 * if it has this name and these keys. A new one has a field for each value: u64 for whole numbers, i64 for negative ones, f64 for
 * others, a hexadecimal u64 for "0x" and 16 digits, and none for nested values and null. ts, if it is a u64, is the time.
 */
struct ctp_class *ctp_jsonl_row_class(struct ctp_jsonl_row *row, const char *name, const char *p, const char *end,
                                      struct ctp_err *why);

#endif
