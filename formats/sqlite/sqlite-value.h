/*
 * sqlite-value.h - the columns and values of a class in SQLite, for both the converter and the extension.
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
 * The file calls SQLite through sqlite3ext.h, so that it can be a part of a program (with -DSQLITE_CORE) and of an extension.
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

/* The declared type: "INTEGER", "TEXT", "REAL", "BLOB"; "" for an enum, because a TEXT column would turn numbers into texts. */
const char *ctp_sqlite_type(const struct ctp_field *f);

/*
 * The name, or name_2, name_3 ... if the name is taken; SQLite does not distinguish case. A byte that is no UTF-8 becomes \x and
 * two digits, and a name that begins with sqlite_, which is reserved, gets a _ before it. For sqlite3_free(); null: out of memory.
 */
char *ctp_sqlite_name(const char *name, char *const *taken, size_t ntaken);

/*
 * The field of a transition, of whatever class, for a field of ctp-collect's: the first whole number with its role, or else the
 * field of its name. A number of events has no role of its own, so there the name goes first. -1: none.
 */
int ctp_sqlite_by_role(const struct ctp_class *cls, const char *name, enum ctp_role role);

/* Makes the value the result of a virtual table's column. Texts are copied. */
void ctp_sqlite_result(sqlite3_context *to, const struct ctp_field *f, enum ctp_sqlite_form form, uint64_t v);

/* The same for the bytes of a string: TEXT if they are valid, else a BLOB. */
bool ctp_sqlite_is_text(const char *data, size_t len);
void ctp_sqlite_result_text(sqlite3_context *to, const char *data, size_t len);

#endif
