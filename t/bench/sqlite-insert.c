/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * sqlite-insert FILE.sqlite TRACE - the reference for ctp-sqlite: the same rows into the same table by a loop of prepared
 * inserts, in one transaction, journal and synchronous off, the three indexes made afterwards. The rest is SQLite's default.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <unistd.h>

#include "base/text.h"
#include "stream/events.h"
#include "stream/sink.h"

struct loop {
	struct ctp_sink sink;
	sqlite3 *db;
	sqlite3_stmt *insert;
	sqlite3_int64 section;
};

static const char begin_sql[] =
	"PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;"
	"CREATE TABLE coro_trace_events (id INTEGER PRIMARY KEY AUTOINCREMENT, probe_id TEXT NOT NULL,"
	" tid INTEGER NOT NULL, addr TEXT NOT NULL, seq INTEGER NOT NULL,"
	" is_active INTEGER NOT NULL CHECK (is_active IN (0, 1)), ts INTEGER NOT NULL,"
	" section INTEGER, coro INTEGER, \"index\" INTEGER, site INTEGER);"
	"BEGIN";
static const char insert_sql[] =
	"INSERT INTO coro_trace_events (probe_id, tid, addr, seq, is_active, ts, section, coro, \"index\", site)"
	" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
static const char end_sql[] =
	"CREATE INDEX idx_coro_trace_events_probe_seq ON coro_trace_events (probe_id, seq);"
	"CREATE INDEX idx_coro_trace_events_tid_ts ON coro_trace_events (tid, ts);"
	"CREATE INDEX idx_coro_trace_events_ts ON coro_trace_events (ts);"
	"COMMIT";

static enum ctp_status check(struct loop *l, int rc, struct ctp_err *err)
{
	return rc == SQLITE_OK || rc == SQLITE_DONE ? CTP_OK : ctp_err_set(err, "sqlite: %s", sqlite3_errmsg(l->db));
}

static enum ctp_status section(struct ctp_sink *sink, const struct ctp_section *sec, struct ctp_err *err)
{
	(void)sec, (void)err;
	((struct loop *)sink)->section++;
	return CTP_OK;
}

static enum ctp_status record(struct loop *l, const struct ctp_record *rec, struct ctp_err *err)
{
	sqlite3_stmt *s = l->insert;
	const uint64_t *v = rec->val;
	char probe[CTP_TEXT_MAX], addr[CTP_TEXT_MAX];
	if (rec->cls->kind != CTP_KIND_TRANSITION || rec->cls->nfields != CTP_TRANSITION_FIELDS)
		return CTP_OK;
	sqlite3_bind_text(s, 1, probe, (int)(ctp_text_u64(probe, v[CTP_TRANSITION_PROBE]) - probe), SQLITE_STATIC);
	sqlite3_bind_int64(s, 2, (sqlite3_int64)v[CTP_TRANSITION_TID]);
	sqlite3_bind_text(s, 3, addr, (int)(ctp_text_hex16(addr, v[CTP_TRANSITION_ADDR]) - addr), SQLITE_STATIC);
	sqlite3_bind_int64(s, 4, (sqlite3_int64)v[CTP_TRANSITION_SEQ]);
	sqlite3_bind_int64(s, 5, v[CTP_TRANSITION_ACTIVE] != 0);
	sqlite3_bind_int64(s, 6, (sqlite3_int64)v[CTP_TRANSITION_TS]);
	sqlite3_bind_int64(s, 7, l->section);
	sqlite3_bind_int64(s, 8, (sqlite3_int64)v[CTP_TRANSITION_CORO]);
	sqlite3_bind_int64(s, 9, (sqlite3_int64)v[CTP_TRANSITION_INDEX]);
	sqlite3_bind_int64(s, 10, (sqlite3_int64)v[CTP_TRANSITION_SITE]);
	sqlite3_step(s);
	return check(l, sqlite3_reset(s), err);
}

static enum ctp_status records(struct ctp_sink *sink, const struct ctp_batch *batch, struct ctp_err *err)
{
	for (uint32_t i = 0; i < batch->n; i++)
		if (record((struct loop *)sink, &batch->rec[i], err))
			return CTP_FAILED;
	return CTP_OK;
}

static const struct ctp_sink_ops ops = {.section = section, .records = records};

static enum ctp_status run(struct loop *l, const char *from, const char *to, struct ctp_err *err)
{
	struct ctp_input in;
	struct ctp_convert_stats stats = {0};
	if (check(l, sqlite3_open(to, &l->db), err) || check(l, sqlite3_exec(l->db, begin_sql, NULL, NULL, NULL), err) ||
	    check(l, sqlite3_prepare_v2(l->db, insert_sql, -1, &l->insert, NULL), err) || ctp_input_open(&in, from, err))
		return CTP_FAILED;
	enum ctp_status status = ctp_convert(&in, &l->sink, NULL, NULL, &stats, err);
	ctp_input_close(&in);
	return status ? status : check(l, sqlite3_exec(l->db, end_sql, NULL, NULL, NULL), err);
}

int main(int argc, char **argv)
{
	struct loop l = {.sink.ops = &ops};
	struct ctp_err err;
	if (argc != 3) {
		fputs("usage: sqlite-insert FILE.sqlite TRACE\n", stderr);
		return 2;
	}
	unlink(argv[1]);
	enum ctp_status status = run(&l, argv[2], argv[1], &err);
	sqlite3_finalize(l.insert);
	sqlite3_close(l.db);
	if (status)
		fprintf(stderr, "sqlite-insert: %s\n", err.text);
	return status != CTP_OK;
}
