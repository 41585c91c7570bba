/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* mysql-write.c - MariaDB and MySQL as an engine of sql.h; see mysql.h. */
#include <mysqld_error.h>
#include <stdlib.h>

#include "mysql/mysql-db.h"
#include "sql/sql-rows.h"
#include "symbols/symbols.h"

enum { WAIT_S = 365 * 86400 };

/* It is for speed alone: it is left out where it is there, and where the column is a text without an end. */
static enum ctp_status make_index(struct ctp_sql *db, const char *name, const char *table, const char *columns, struct ctp_err *err)
{
	struct ctp_mysql *m = (struct ctp_mysql *)db;
	if (!ctp_sql_exec(db, err, m->fresh ? "ALTER TABLE %T ADD KEY %I (section, %s)" : "ALTER TABLE %I ADD KEY %I (section, %s)", table, name, columns))
		return CTP_OK;
	unsigned why = mysql_errno(m->conn);
	return why == ER_DUP_KEYNAME || why == ER_BLOB_KEY_WITHOUT_LENGTH ? CTP_OK : CTP_FAILED;
}

static enum ctp_status finish(struct ctp_sql *db, const struct ctp_tick *tick, struct ctp_err *err)
{
	struct ctp_mysql *m = (struct ctp_mysql *)db;
	(void)tick;
	if (ctp_mysql_publish(m, err))
		return CTP_FAILED;
	if (m->unreal)
		ctp_notice_say(m->options.notice, "%s: %ju numbers are not finite, and are NULL", m->name, (uintmax_t)m->unreal);
	return CTP_OK;
}

/*
 * A lost connection is opened again for this; if that fails, the next load cleans up. Columns that were added stay then:
 * the lock was free, so rows may have come that have them, or ours are there.
 */
static void undo(struct ctp_mysql *m)
{
	struct ctp_err ignored;
	m->options.notice = NULL;
	m->delivered = 0;
	if (!m->conn)
		return;
	bool lost = mysql_rollback(m->conn);
	if (lost) {
		free(m->undo);
		m->undo = NULL;
	}
	if (!lost || (!ctp_mysql_open(m, &ignored) && !ctp_mysql_lock(m, CTP_MYSQL_UNDO_WAIT_S, &ignored)))
		ctp_mysql_clean(m, &ignored);
}

static void free_db(struct ctp_sql *db)
{
	struct ctp_mysql *m = (struct ctp_mysql *)db;
	if (m->begun && !m->done)
		undo(m);
	if (m->conn)
		mysql_close(m->conn); /* with its lock, for which the thread of the signals may wait */
	ctp_mysql_signals_fini();
	mysql_library_end();
	ctp_sql_tables_free(db);
	free(m->scratch);
	free(m->undo);
	ctp_bytes_fini(&m->replaced);
	free(m);
}

/* The number stays taken until all becomes visible, so that no section of this load gets it. */
static enum ctp_status remove_section(struct ctp_sql *db, int64_t section, struct ctp_err *err)
{
	struct ctp_mysql *m = (struct ctp_mysql *)db;
	ctp_sql_put(db, &m->replaced, m->replaced.len ? ", %d" : "%d", section);
	if (m->replaced.failed)
		return ctp_sql_no_memory(db, err);
	return ctp_sql_exec(db, err, "UPDATE %T SET stream = NULL WHERE id = %d", "sections", section);
}

static const struct ctp_sql_ops ops = {
	.exec = ctp_mysql_exec,
	.query = ctp_mysql_query,
	.begin = ctp_mysql_try_local,
	.rows = ctp_mysql_rows,
	.add = ctp_mysql_add,
	.end = ctp_mysql_end,
	.drop = ctp_mysql_drop,
	.index = make_index,
	.remove = remove_section,
	.finish = finish,
	.free = free_db,
};

struct ctp_sink *ctp_mysql_sink(const struct ctp_mysql_options *options, struct ctp_symbols *symbols, struct ctp_err *err)
{
	struct ctp_mysql *m = calloc(1, sizeof *m);
	if (m) {
		m->sql = (struct ctp_sql){.ops = &ops, .words = &ctp_mysql_words, .events = options->table ? options->table : CTP_SQL_EVENTS,
		                          .replaces = options->replace};
		m->options = *options;
		if (!ctp_sql_events_check(&m->sql, err) && !ctp_mysql_open(m, err) && !ctp_mysql_lock(m, WAIT_S, err) && !ctp_mysql_clean(m, err) && !ctp_mysql_stage(m, err))
			return ctp_sql_sink(&m->sql, symbols, err);
		free_db(&m->sql);
	} else {
		ctp_err_as(err, CTP_ERR_MEMORY, "ctp-mysql: out of memory");
	}
	ctp_symbols_free(symbols);
	return NULL;
}
