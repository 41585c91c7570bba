/*
 * csv-infer.h - a class for rows that come without a schema.
 *
 * One of the known classes if the columns have the names of its fields, or coroTracer's six are among them. Or else a new one,
 * by what the values of each column in the first rows look like: all of them true or false, a bool; "0x" and 16 digits, a u64
 * shown so; wall-clock times, a time; whole numbers, u64, or i64 if one is negative; other numbers f64; anything else, or
 * nothing in some row, a string. ts is the time if it is a u64 and no other column has wall-clock times.
 */
#ifndef CTP_CSV_INFER_H
#define CTP_CSV_INFER_H

#include "csv/csv-rows.h"

enum { CTP_CSV_INFER_BYTES = 1 << 20, CTP_CSV_INFER_ROWS = 1000 };

struct ctp_csv_infer {
	const struct ctp_csv_columns *columns;
	int type_column;  /* -1: all rows are of one class, with all columns; else those of a type, with the ones they use */
	const char *type; /* as the column has it */
	const char *name; /* of the class */
	bool any_known;   /* a known class will do whatever its name */
};

/* Looks at the rows behind the one at hand, and at that one where there are types. The caller frees it. Null: why. */
struct ctp_class *ctp_csv_infer(const struct ctp_csv_infer *what, struct ctp_csv_rows *rows, struct ctp_err *why);

/* True if the text is anything but a string: the first row, if all of it is such, is no header. */
bool ctp_csv_is_value(const char *p, const char *end);

#endif
