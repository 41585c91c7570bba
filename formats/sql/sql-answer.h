/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * sql-answer.h - the rows that a database answers with, checked like a file: a server may be hostile.
 *
 * What is asked for is a text with a letter for each column: n a whole number from 0 on, t a text, ? a text or NULL; a * at the end
 * stands for further columns, which are left out. An answer with more or fewer columns, another kind of value or a NUL in a text is
 * an error, and so is one of more than CTP_SQL_ANSWER_MAX bytes.
 */
#ifndef CTP_SQL_ANSWER_H
#define CTP_SQL_ANSWER_H

#include "common/bytes.h"
#include "sql/sql.h"

enum { CTP_SQL_COLUMNS_MAX = 8, CTP_SQL_ANSWER_MAX = 64 << 20 };
#define CTP_SQL_NUMBER_MAX (INT64_MAX / 2) /* of what can be counted on */

struct ctp_sql_answer {
	const struct ctp_sql *db;
	const char *asked;
	struct ctp_bytes rows; /* of each column a byte, 0 for NULL, and else the text and a NUL */
};

/* Keeps a row; each column has its text, which ends with a NUL, or null, and the length that the server gave. */
enum ctp_status ctp_sql_answer_add(struct ctp_sql_answer *a, unsigned ncolumns, const char *const *text, const size_t *len, struct ctp_err *err);

/* Calls row for each of the rows. It may run statements: the answer is over. */
void ctp_sql_answer_each(const struct ctp_sql_answer *a, ctp_sql_row *row, void *arg);

void ctp_sql_answer_fini(struct ctp_sql_answer *a);

/* Whether the text is a whole number that is no larger than can be counted on. */
bool ctp_sql_number(const char *text, int64_t *number);

#endif
