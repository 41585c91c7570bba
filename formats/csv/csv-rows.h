/*
 * csv-rows.h - the rows of a CSV file, one at a time: libcsv's, strict, with a quicker way for rows that need no such care.
 *
 * Lines may end in LF, CRLF or CR, and the last in nothing. Fields may be quoted and then hold anything. Space and tab around a
 * field are no part of it, unless quoted. Empty lines are passed over. A byte order mark at the beginning is none of the first
 * field.
 */
#ifndef CTP_CSV_ROWS_H
#define CTP_CSV_ROWS_H

#include "csv/csv.h"

enum { CTP_CSV_ROW_MAX = 4 << 20 }; /* bytes */

struct ctp_csv_rows {
	/* The row: field i is the text [base + field[i].at, + len). Good until the next one is asked for. */
	const char *base;
	struct ctp_csv_field {
		uint32_t at, len;
	} *fields; /* CTP_CSV_COLUMNS_MAX of them */
	uint32_t n;
	uint64_t line; /* where it begins, from 1 */

	/* The rest is csv-rows.c's. */
	struct ctp_input *in;
	struct csv_parser *parser;
	uint64_t lines; /* that were passed */
	size_t taken;   /* bytes of the input that are the row, and go when the next is asked for */
	size_t looked;  /* so many bytes at hand hold no newline */
	char *text;     /* a row that went through libcsv */
	size_t used;
	bool begun, after_cr, ended, too_many;
};

enum ctp_status ctp_csv_rows_init(struct ctp_csv_rows *rows, struct ctp_input *in, struct ctp_err *err);
void ctp_csv_rows_fini(struct ctp_csv_rows *rows);

/*
 * The next row. Failed: it is none, why says so, rows->line where, and what follows it can be asked for. EOF: also where the
 * input failed.
 */
enum ctp_status ctp_csv_rows_next(struct ctp_csv_rows *rows, struct ctp_err *why);

/*
 * The bytes behind the row, as far as `most` and in whole lines, without moving on: to be looked at before the types of columns
 * are settled. Waits for them. The row stays, but base may be another.
 */
size_t ctp_csv_rows_peek(struct ctp_csv_rows *rows, size_t most, const char **from);

#endif
