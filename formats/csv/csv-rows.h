/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * csv-rows.h - the rows of a CSV file, one at a time, as libcsv reads them when it is strict; simple rows are split without it.
 *
 * Lines end in LF, CRLF or CR; the last need not. A quoted field may hold anything. Space and tab around a field are no part of
 * the field, unless quoted. Empty lines are skipped, and so is a byte order mark at the beginning.
 */
#ifndef CTP_CSV_ROWS_H
#define CTP_CSV_ROWS_H

#include "csv/csv.h"

enum { CTP_CSV_ROW_MAX = 4 << 20 }; /* bytes */

struct ctp_csv_rows {
	/* The row at hand, good until the next call: field i has len bytes at base + fields[i].at. */
	const char *base;
	struct ctp_csv_field {
		uint32_t at, len;
	} *fields; /* CTP_CSV_COLUMNS_MAX of them */
	uint32_t n;
	uint64_t line; /* in which the row begins, from 1 */

	/* The rest belongs to csv-rows.c. */
	struct ctp_input *in;
	struct csv_parser *parser;
	uint64_t lines; /* read so far */
	size_t taken;   /* bytes of the input that the row takes; they are skipped before the next row */
	size_t looked;  /* bytes at hand that are known to hold no newline */
	char *text;     /* a row that went through libcsv */
	size_t used;
	bool begun, after_cr, ended, too_many;
};

enum ctp_status ctp_csv_rows_init(struct ctp_csv_rows *rows, struct ctp_input *in, struct ctp_err *err);
void ctp_csv_rows_fini(struct ctp_csv_rows *rows);

/*
 * Reads the next row. Failed: the row is invalid, why and rows->line say so, and the next can be read. EOF: the input has ended or
 * failed.
 */
enum ctp_status ctp_csv_rows_next(struct ctp_csv_rows *rows, struct ctp_err *why);

/*
 * Gives up to `most` bytes after the row, in whole lines, from which the types of columns can be inferred; waits until they are
 * there. The row stays the one at hand, but base may change.
 */
size_t ctp_csv_rows_peek(struct ctp_csv_rows *rows, size_t most, const char **from);

#endif
