/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * postgres-run.c - statements, and what a server answers to them.
 *
 * Rows come one at a time, so that a server cannot have libpq keep more than we take; see sql-answer.h. A server that answers with
 * something else than was asked for is not asked again: the connection is cut.
 */
#include <sys/socket.h>

#include "postgres/postgres-db.h"
#include "sql/sql-answer.h"

enum { PART = 64 << 10 }; /* of rows, that libpq is given at once */

static enum ctp_status refuse(struct ctp_postgres *p, const PGresult *result, struct ctp_err *err)
{
	return ctp_err_set(err, "%s: the database answered with %s, which was not asked for", p->name, PQresStatus(PQresultStatus(result)));
}

static enum ctp_status keep_row(struct ctp_sql_answer *answer, const PGresult *result, struct ctp_err *err)
{
	const char *text[CTP_SQL_COLUMNS_MAX];
	size_t len[CTP_SQL_COLUMNS_MAX];
	int n = PQnfields(result);
	for (int i = 0; i < n && i < CTP_SQL_COLUMNS_MAX; i++) {
		text[i] = PQgetisnull(result, 0, i) ? NULL : PQgetvalue(result, 0, i);
		len[i] = (size_t)PQgetlength(result, 0, i);
	}
	return ctp_sql_answer_add(answer, (unsigned)n, text, len, err);
}

/* A result of several, of this kind, which is no error; answer may be null. */
static enum ctp_status take(struct ctp_postgres *p, const PGresult *result, ExecStatusType kind, struct ctp_sql_answer *answer, struct ctp_err *err)
{
	if (kind == PGRES_SINGLE_TUPLE)
		return answer ? keep_row(answer, result, err) : CTP_OK;
	return kind == PGRES_COMMAND_OK || kind == PGRES_TUPLES_OK || kind == PGRES_COPY_IN ? CTP_OK : refuse(p, result, err);
}

static bool is_copy(ExecStatusType kind) { return kind == PGRES_COPY_IN || kind == PGRES_COPY_OUT || kind == PGRES_COPY_BOTH; }

/* Statements are run; the last gave *got. What went wrong is said when all is read: only then is a connection known to be lost. */
static enum ctp_status run(struct ctp_postgres *p, const char *sql, ExecStatusType *got, struct ctp_sql_answer *answer, struct ctp_err *err)
{
	enum ctp_status status = CTP_OK;
	PGresult *bad = NULL;
	*got = PGRES_EMPTY_QUERY;
	if (!PQsendQuery(p->conn, sql) || !PQsetSingleRowMode(p->conn))
		return ctp_postgres_error(p, NULL, err);
	for (PGresult *result; !is_copy(*got) && (result = PQgetResult(p->conn));) { /* COPY would come for ever */
		ExecStatusType kind = PQresultStatus(result);
		bool wrong = kind == PGRES_FATAL_ERROR || kind == PGRES_BAD_RESPONSE;
		*got = kind == PGRES_SINGLE_TUPLE ? *got : kind;
		if (!wrong && !status && (status = take(p, result, kind, answer, err)))
			shutdown(PQsocket(p->conn), SHUT_RDWR);
		if (wrong && !bad)
			bad = result;
		else
			PQclear(result);
	}
	if (bad && !status)
		status = ctp_postgres_error(p, bad, err);
	PQclear(bad);
	return status;
}

enum ctp_status ctp_postgres_run(struct ctp_postgres *p, const char *sql, struct ctp_err *err)
{
	ExecStatusType got;
	enum ctp_status status = run(p, sql, &got, NULL, err);
	return status || got != PGRES_COPY_IN ? status : ctp_err_set(err, "%s: the database waits for rows, which were not announced", p->name);
}

/* --- COPY ---------------------------------------------------------------------------------------------------------------- */

static enum ctp_status finish_copy(struct ctp_postgres *p, struct ctp_err *err)
{
	enum ctp_status status = PQputCopyEnd(p->conn, NULL) < 0 ? ctp_postgres_error(p, NULL, err) : CTP_OK;
	for (PGresult *result; (result = PQgetResult(p->conn)); PQclear(result)) {
		ExecStatusType kind = PQresultStatus(result);
		if (kind != PGRES_COMMAND_OK)
			status = ctp_postgres_error(p, result, err);
		if (is_copy(kind)) { /* which would come for ever */
			PQclear(result);
			break;
		}
	}
	return status;
}

enum ctp_status ctp_postgres_end_copy(struct ctp_postgres *p, struct ctp_err *err)
{
	static const char trailer[] = {'\xff', '\xff'};
	if (!p->copying)
		return CTP_OK;
	p->copying = NULL;
	return PQputCopyData(p->conn, trailer, sizeof trailer) < 0 ? ctp_postgres_error(p, NULL, err) : finish_copy(p, err);
}

enum ctp_status ctp_postgres_put_copy(struct ctp_postgres *p, const char *data, size_t len, struct ctp_err *err)
{
	for (size_t at = 0, part; at < len; at += part) {
		part = len - at < PART ? len - at : PART;
		if (PQputCopyData(p->conn, data + at, (int)part) < 0)
			return ctp_postgres_error(p, NULL, err);
	}
	return CTP_OK;
}

/* A transaction is open, if the load is live, and no COPY. */
static enum ctp_status be_ready(struct ctp_postgres *p, struct ctp_err *err)
{
	if (ctp_postgres_end_copy(p, err))
		return CTP_FAILED;
	if (!p->options.live || p->open)
		return CTP_OK;
	enum ctp_status status = ctp_postgres_run(p, "BEGIN", err);
	p->open = !status;
	return status;
}

enum ctp_status ctp_postgres_begin_copy(struct ctp_postgres *p, const char *sql, struct ctp_err *err)
{
	ExecStatusType got;
	if (be_ready(p, err))
		return CTP_FAILED;
	enum ctp_status status = run(p, sql, &got, NULL, err);
	return status || got == PGRES_COPY_IN ? status : ctp_err_set(err, "%s: the database does not wait for rows", p->name);
}

enum ctp_status ctp_postgres_copy_text(struct ctp_postgres *p, const char *copy, const char *text, size_t len, struct ctp_err *err)
{
	return ctp_postgres_begin_copy(p, copy, err) || ctp_postgres_put_copy(p, text, len, err) ? CTP_FAILED : finish_copy(p, err);
}

/* --- for struct ctp_sql_ops ---------------------------------------------------------------------------------------------- */

enum ctp_status ctp_postgres_exec(struct ctp_sql *db, const char *sql, struct ctp_err *err)
{
	struct ctp_postgres *p = (struct ctp_postgres *)db;
	return be_ready(p, err) ? CTP_FAILED : ctp_postgres_run(p, sql, err);
}

enum ctp_status ctp_postgres_query(struct ctp_sql *db, const char *sql, const char *asked, ctp_sql_row *row, void *arg,
                                   struct ctp_err *err)
{
	struct ctp_postgres *p = (struct ctp_postgres *)db;
	struct ctp_sql_answer answer = {.db = db, .asked = asked};
	ExecStatusType got;
	if (be_ready(p, err))
		return CTP_FAILED;
	enum ctp_status status = run(p, sql, &got, &answer, err);
	if (!status && got != PGRES_TUPLES_OK)
		status = ctp_err_set(err, "%s: the database answered without rows", p->name);
	if (!status)
		ctp_sql_answer_each(&answer, row, arg);
	ctp_sql_answer_fini(&answer);
	return status;
}
