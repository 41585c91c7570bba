/*
 * sqlite-value.h - a class as a table of SQLite, and its values as SQLite's. What both the converter and the extension go by.
 *
 *	bool                         INTEGER 0 or 1
 *	whole numbers                INTEGER: the signed number with the same 64 bits, so 2^63 and more are negative;
 *	                             printf('%u', x) shows them as they were
 *	role probe                   TEXT, decimal
 *	role address, flag HEX       TEXT, "0x" and 16 digits; not where the role is time
 *	enum                         TEXT, its label as any string, where that label is of this value alone; else INTEGER
 *	f32, f64                     REAL; 'NaN' as TEXT, for SQLite would make it NULL
 *	string                       TEXT; a BLOB of the same bytes where they are no valid UTF-8 or hold a NUL
 *	bytes                        BLOB
 *
 * It calls SQLite through sqlite3ext.h, so that it can be built into a program (with -DSQLITE_CORE) and into an extension.
 */
#ifndef CTP_SQLITE_VALUE_H
#define CTP_SQLITE_VALUE_H

#include <sqlite3ext.h>

#include "stream/record.h"

enum ctp_sqlite_form {
	CTP_SQLITE_INTEGER, CTP_SQLITE_DECIMAL, CTP_SQLITE_HEX, CTP_SQLITE_ENUM, CTP_SQLITE_REAL, CTP_SQLITE_TEXT,
	CTP_SQLITE_BLOB,
};

enum ctp_sqlite_form ctp_sqlite_form(const struct ctp_field *f);

/* As declared: "INTEGER", "TEXT", "REAL", "BLOB", and "" for an enum, whose numbers a column of TEXT would turn into texts. */
const char *ctp_sqlite_type(const struct ctp_field *f);

/*
 * The name, or name_2, name_3 ... where one of these already is the same to SQLite, which does not tell case. A byte that is
 * not of UTF-8 becomes \x and two digits, and sqlite_, which is reserved, has a _ before it. For sqlite3_free(); null: out of
 * memory.
 */
char *ctp_sqlite_name(const char *name, char *const *taken, size_t ntaken);

/* The value as the result of a column of a virtual table. Texts are copied. */
void ctp_sqlite_result(sqlite3_context *to, const struct ctp_field *f, enum ctp_sqlite_form form, uint64_t v);

/* A string's bytes, in the same way: TEXT where they are that, and else a BLOB. */
bool ctp_sqlite_is_text(const char *data, size_t len);
void ctp_sqlite_result_text(sqlite3_context *to, const char *data, size_t len);

#endif
