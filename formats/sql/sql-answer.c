/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* sql-answer.c - see sql-answer.h. */
#include "sql/sql-answer.h"

#include "base/text.h"

bool ctp_sql_number(const char *text, int64_t *number)
{
	uint64_t v;
	if (!ctp_parse_u64(text, text + strlen(text), &v) || v > CTP_SQL_NUMBER_MAX)
		return false;
	*number = (int64_t)v;
	return true;
}

static enum ctp_status check(const struct ctp_sql_answer *a, char asked, const char *text, size_t len, struct ctp_err *err)
{
	int64_t number;
	if (!text)
		return asked == '?' ? CTP_OK : ctp_err_set(err, "%s: the database answered with NULL where a value is expected", a->db->name);
	if (strlen(text) != len)
		return ctp_err_set(err, "%s: the database answered with a NUL in a text", a->db->name);
	if (asked == 'n' && !ctp_sql_number(text, &number))
		return ctp_err_set(err, "%s: the database answered with \"%.40s\" where a number is expected", a->db->name, text);
	return CTP_OK;
}

enum ctp_status ctp_sql_answer_add(struct ctp_sql_answer *a, unsigned ncolumns, const char *const *text, const size_t *len, struct ctp_err *err)
{
	size_t asked = strcspn(a->asked, "*");
	if (ncolumns < asked || (ncolumns > asked && !a->asked[asked]))
		return ctp_err_set(err, "%s: the database answered with %u columns, and %zu were asked for", a->db->name, ncolumns, asked);
	for (size_t i = 0; i < asked; i++) {
		size_t bytes = text[i] ? len[i] + 1 : 0;
		if (check(a, a->asked[i], text[i], text[i] ? len[i] : 0, err))
			return CTP_FAILED;
		if (bytes + 1 > CTP_SQL_ANSWER_MAX - a->rows.len)
			return ctp_err_set(err, "%s: the answer of the database is too long", a->db->name);
		ctp_bytes_byte(&a->rows, text[i] != NULL);
		ctp_bytes_put(&a->rows, text[i], bytes);
	}
	return a->rows.failed ? ctp_sql_no_memory(a->db, err) : CTP_OK;
}

void ctp_sql_answer_each(const struct ctp_sql_answer *a, ctp_sql_row *row, void *arg)
{
	assert(strcspn(a->asked, "*") <= CTP_SQL_COLUMNS_MAX);
	for (size_t at = 0; at < a->rows.len;) {
		const char *columns[CTP_SQL_COLUMNS_MAX] = {0};
		for (unsigned i = 0; a->asked[i] && a->asked[i] != '*'; i++) {
			columns[i] = a->rows.data[at++] ? a->rows.data + at : NULL;
			if (columns[i])
				at += strlen(columns[i]) + 1;
		}
		row(arg, columns);
	}
}

void ctp_sql_answer_fini(struct ctp_sql_answer *a) { ctp_bytes_fini(&a->rows); }
