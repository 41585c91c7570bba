/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * csv-infer.h - a class for rows that come without a schema.
 *
 * A known class is taken if the columns have the names of its fields, or if coroTracer's six are among them. Otherwise the class
 * is new, and the values of a column in the first rows give its type: bool if all are true or false; a hexadecimal u64 if all are
 * "0x" and 16 digits; a time if all are wall-clock times; u64 for whole numbers, or i64 if one is negative; f64 for other numbers;
 * string for all else, or if some row has no value. ts is the time if it is a u64 and no other column has wall-clock times.
 */
#ifndef CTP_CSV_INFER_H
#define CTP_CSV_INFER_H

#include "csv/csv-rows.h"

enum { CTP_CSV_INFER_BYTES = 1 << 20, CTP_CSV_INFER_ROWS = 1000 };

struct ctp_csv_infer {
	const struct ctp_csv_columns *columns;
	int type_column;  /* -1: all rows are of one class, with all columns; else those of `type`, with the columns they use */
	const char *type; /* the value of that column */
	const char *name; /* of the class */
	bool any_known;   /* a known class may have any name */
};

/* Looks at the rows after the one at hand, and at that row too if there are types. The caller frees the class. Null: why. */
struct ctp_class *ctp_csv_infer(const struct ctp_csv_infer *what, struct ctp_csv_rows *rows, struct ctp_err *why);

/* True if the text is of another type than string: a first row with such texts alone is no header. */
bool ctp_csv_is_value(const char *p, const char *end);

#endif
