/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * vtable.c - any bytes as the trace behind the tables of the SQLite extension, any text as the arguments of create virtual table.
 *
 * The first byte says how the rest is taken: as the file, as payloads in packets (wrap.h), or as arguments. Each query of a list is
 * asked, every column of every row is touched, and what SQLite is told stays within its rules. One connection is kept.
 * Covers: formats/vtable
 */
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "must.h"
#include "wrap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int sqlite3_ctp_init(sqlite3 *db, char **why, const struct sqlite3_api_routines *api);

enum { ROWS_MAX = 3000, ARGS_MAX = 300, BYTES_MAX = 1 << 24 };

static sqlite3 *db;
static int file = -1;
static char path[64];

/* ?1 is the file, ?2 and ?3 are numbers of the input's. */
static const char *const queries[] = {
	"select * from ctp(?1)",
	"select file, position, section, * from ctp(?1) where ts >= ?2 and ts < ?3",
	"select count(*), min(ts), max(ts), count(distinct probe_id) from ctp(?1) where ts = ?2 or ts > ?3",
	"select * from ctp(?1) where position = ?2 or position in (select position from ctp(?1) limit 3)",
	"select * from ctp(?1) where ts in (?2, ?3, 1.5, null, 'x') order by ts desc, position limit 20",
	"select a.position from ctp(?1) a join ctp(?1) b on a.ts = b.ts and a.position <> b.position limit 9",
	"select * from ctp_sections(?1)",
	"select * from ctp_classes(?1)",
	"select c.*, s.attrs from ctp_classes(?1) c, ctp_sections(?1) s limit 50",
	"select * from temp.trace",
	"select * from temp.trace where ts between ?2 and ?3 order by position desc",
	"select distinct file, section from temp.losses",
	"select * from temp.births where position > ?2",
};
enum { QUERIES = sizeof queries / sizeof *queries };
static sqlite3_stmt *stmts[QUERIES];

static void open_db(void)
{
	int null = open("/dev/null", O_RDONLY);
	must(null >= 0 && dup2(null, STDIN_FILENO) == STDIN_FILENO, "no /dev/null"); /* a file may be called '-' */
	close(null);
	file = memfd_create("trace", MFD_CLOEXEC);
	snprintf(path, sizeof path, "/proc/self/fd/%d", file);
	sqlite3_auto_extension((void (*)(void))sqlite3_ctp_init);
	must(file >= 0 && !sqlite3_open(":memory:", &db), "no database");
	sqlite3_hard_heap_limit64(512 << 20);
	static const char *const tables[][2] = {{"trace", ""}, {"losses", ", lost"}, {"births", ", 'birth'"}};
	for (unsigned k = 0; k < 3; k++) {
		char *sql = sqlite3_mprintf("create virtual table temp.%s using ctp('%q'%s)", tables[k][0], path, tables[k][1]);
		char *why = NULL;
		int rc = ftruncate(file, 0) || sqlite3_exec(db, sql, NULL, NULL, &why);
		must(!rc || k, why);
		sqlite3_free(why);
		sqlite3_free(sql);
	}
}

/* --- answers -------------------------------------------------------------------------------------------------------------- */

static volatile unsigned sum;

static uint64_t touch_column(sqlite3_stmt *stmt, int i)
{
	int type = sqlite3_column_type(stmt, i);
	const uint8_t *bytes = type == SQLITE_BLOB ? sqlite3_column_blob(stmt, i) : sqlite3_column_text(stmt, i);
	int n = sqlite3_column_bytes(stmt, i);
	must(type != SQLITE_NULL || !bytes, "a null that has bytes");
	for (int k = 0; bytes && k < n; k++)
		sum += bytes[k];
	return (uint64_t)n;
}

/* One row after the other; an error has a line. */
static void take_rows(sqlite3_stmt *stmt)
{
	int rc;
	uint64_t bytes = 0;
	for (unsigned rows = 0; (rc = sqlite3_step(stmt)) == SQLITE_ROW && rows < ROWS_MAX && bytes < BYTES_MAX; rows++)
		for (int i = 0; i < sqlite3_column_count(stmt); i++)
			bytes += touch_column(stmt, i);
	const char *why = sqlite3_errmsg(db);
	must(rc == SQLITE_ROW || rc == SQLITE_DONE || (rc == SQLITE_ERROR && *why && !strchr(why, '\n')), why);
	sqlite3_reset(stmt);
}

static void ask(unsigned which, const int64_t *numbers)
{
	sqlite3_stmt **stmt = &stmts[which];
	if (!*stmt && sqlite3_prepare_v3(db, queries[which], -1, SQLITE_PREPARE_PERSISTENT, stmt, NULL))
		return; /* the table of a class that no trace had yet */
	sqlite3_bind_text(*stmt, 1, path, -1, SQLITE_STATIC);
	for (int k = 0; k < 2 && k + 2 <= sqlite3_bind_parameter_count(*stmt); k++)
		sqlite3_bind_int64(*stmt, k + 2, numbers[k]);
	take_rows(*stmt);
}

/* A table of this class, which the trace may have. */
static void ask_class(const char *name, size_t len)
{
	char *sql = sqlite3_mprintf("create virtual table temp.x using ctp('%q', '%.*q')", path, (int)len, name);
	sqlite3_stmt *stmt;
	if (!sqlite3_exec(db, sql, NULL, NULL, NULL)) {
		must(!sqlite3_prepare_v2(db, "select *, position from temp.x", -1, &stmt, NULL), "a table that cannot be asked");
		take_rows(stmt);
		sqlite3_finalize(stmt);
		must(!sqlite3_exec(db, "drop table temp.x", NULL, NULL, NULL), "a table that stays");
	}
	sqlite3_free(sql);
}

/* As SQL: text after the end of a statement is left out. */
static void ask_arguments(const uint8_t *data, size_t size)
{
	size = size < ARGS_MAX ? size : ARGS_MAX;
	char *sql = sqlite3_mprintf("create virtual table temp.x using ctp(%.*s)", (int)size, data);
	sqlite3_stmt *stmt;
	if (sql && !sqlite3_prepare_v2(db, sql, -1, &stmt, NULL)) {
		if (sqlite3_step(stmt) == SQLITE_DONE) {
			sqlite3_finalize(stmt);
			if (!sqlite3_prepare_v2(db, "select * from temp.x limit 3", -1, &stmt, NULL))
				take_rows(stmt);
		}
		sqlite3_finalize(stmt);
	}
	sqlite3_exec(db, "drop table if exists temp.x", NULL, NULL, NULL);
	sqlite3_free(sql);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t packets[1 << 20];
	static const char *const names[] = {"transition", "all", "birth", "lost", "a", "CTP"};
	int64_t numbers[2] = {0, 0};
	if (!db)
		open_db();
	if (size < 4 || wrap_room(size) > sizeof packets)
		return 0;
	unsigned how = data[0], which = data[1];
	if (how % 4 == 3) {
		ask_arguments(data + 1, size - 1);
		return 0;
	}
	numbers[0] = (int64_t)((uint64_t)(int8_t)data[2] << (how >> 2));
	numbers[1] = (int64_t)((uint64_t)(int8_t)data[3] << (how >> 2));
	data += 4, size -= 4;
	if (how % 4 < 2)
		size = wrap(data, size, packets);
	else
		memcpy(packets, data, size);
	must(!ftruncate(file, (off_t)size) && pwrite(file, packets, size, 0) == (ssize_t)size, "no file");
	ask(which % QUERIES, numbers);
	ask(which / QUERIES % QUERIES, numbers);
	if (how & 64)
		ask_class(names[which % 6], strlen(names[which % 6]));
	return 0;
}
