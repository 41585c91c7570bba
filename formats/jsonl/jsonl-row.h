/*
 * jsonl-row.h - one line of JSONL to one record, when its class is known; and to a class, when it is not.
 *
 * A line is first held against the class's layout, byte by byte as ctp-tojsonl writes it; if that fails it is read as any JSON
 * object: keys in any order, white space, escapes. Keys that the class does not have are ignored, whatever their value.
 */
#ifndef CTP_JSONL_ROW_H
#define CTP_JSONL_ROW_H

#include "common/json.h"
#include "jsonl/jsonl.h"

enum { CTP_JSONL_LINE_MAX = 4 << 20 };

struct ctp_jsonl_row {
	uint64_t val[CTP_FIELDS_MAX];
	char *text; /* what val points to; room for every text of a line */
	size_t used;
};

enum ctp_status ctp_jsonl_row_init(struct ctp_jsonl_row *row, struct ctp_err *err);
void ctp_jsonl_row_fini(struct ctp_jsonl_row *row);

/*
 * Where the line at p ends, its newline, if the line is exactly a row of this layout; null: it is not, or too few bytes are behind
 * it. limit is at most CTP_JSONL_LINE_MAX away.
 */
const char *ctp_jsonl_row_quick(struct ctp_jsonl_row *row, const struct ctp_template *layout, const char *p, const char *limit);

/* The same for any way of writing it; why says what is wrong. */
enum ctp_status ctp_jsonl_row_parse(struct ctp_jsonl_row *row, const struct ctp_template *layout, const char *p,
                                    const char *end, struct ctp_err *why);

/*
 * The value of the key type: NUL-terminated, good until the row is used for something else; *type is null if there is no such
 * key. Fails where the line is no JSON object or its type no usable text.
 */
enum ctp_status ctp_jsonl_row_type(struct ctp_jsonl_row *row, const char *p, const char *end, const char **type,
                                   struct ctp_err *why);

/*
 * The value of a key of the object at j: from there, j->p behind it; *from is null if there is no such key. scratch as for any text
 * of the line.
 */
enum ctp_status ctp_jsonl_row_find(struct ctp_json *j, const char *key, char *scratch, const char **from, struct ctp_err *why);

/*
 * A class for rows like this one, whose type is name, from ctp_jsonl_row_type or a part of that: one of the known ones if it
 * has this name and these keys, or a new one by what the values look like: whole numbers u64, or i64 if negative; others f64;
 * "0x" and 16 digits a u64 shown so; nested values and null are left out. ts, if it is a u64, is the time. The caller frees it.
 */
struct ctp_class *ctp_jsonl_row_class(struct ctp_jsonl_row *row, const char *name, const char *p, const char *end,
                                      struct ctp_err *why);

#endif
