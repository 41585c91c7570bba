/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * sqlite-file.c - opens a database, and runs statements on it.
 *
 * A new database has no name until it is whole, so SQLite is given a path that stands for the descriptor. Our VFS is a copy of
 * SQLite's that takes paths as they are, and opens such a path by duplicating the descriptor.
 */
#include "sqlite/sqlite-db.h"

#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sql/sql-answer.h"
#include "sqlite/sqlite-tree.h"

#define DESCRIPTOR "/descriptor/"
enum { BUSY_MS = 5000 };

enum ctp_status ctp_sqlite_error(const struct ctp_sqlite *s, struct ctp_err *err)
{
	return ctp_err_set(err, "%s: %s", s->sql.name, s->db ? sqlite3_errmsg(s->db) : "out of memory");
}

enum ctp_status ctp_sqlite_exec(struct ctp_sql *db, const char *sql, struct ctp_err *err)
{
	struct ctp_sqlite *s = (struct ctp_sqlite *)db;
	return sqlite3_exec(s->db, sql, NULL, NULL, NULL) ? ctp_sqlite_error(s, err) : CTP_OK;
}

struct visit {
	struct ctp_sql_answer answer;
	struct ctp_err *err;
	enum ctp_status status;
};

static int keep_row(void *arg, int n, char **columns, char **names)
{
	struct visit *v = arg;
	size_t len[CTP_SQL_COLUMNS_MAX];
	(void)names;
	for (int i = 0; i < n && i < CTP_SQL_COLUMNS_MAX; i++)
		len[i] = columns[i] ? strlen(columns[i]) : 0;
	v->status = ctp_sql_answer_add(&v->answer, (unsigned)n, (const char *const *)columns, len, v->err);
	return v->status;
}

enum ctp_status ctp_sqlite_query(struct ctp_sql *db, const char *sql, const char *asked, ctp_sql_row *row, void *arg,
                                 struct ctp_err *err)
{
	struct ctp_sqlite *s = (struct ctp_sqlite *)db;
	struct visit v = {.answer = {.db = db, .asked = asked}, .err = err};
	enum ctp_status status = CTP_OK;
	if (sqlite3_exec(s->db, sql, keep_row, &v, NULL))
		status = v.status ? v.status : ctp_sqlite_error(s, err);
	else
		ctp_sql_answer_each(&v.answer, row, arg);
	ctp_sql_answer_fini(&v.answer);
	return status;
}

sqlite3_stmt *ctp_sqlite_prepare(const struct ctp_sqlite *s, struct ctp_err *err, const char *fmt, ...)
{
	sqlite3_stmt *stmt = NULL;
	va_list ap;
	va_start(ap, fmt);
	char *sql = ctp_sql_vtext(&s->sql, fmt, ap);
	va_end(ap);
	if (!sql)
		ctp_sql_no_memory(&s->sql, err);
	else if (sqlite3_prepare_v2(s->db, sql, -1, &stmt, NULL))
		ctp_sqlite_error(s, err);
	free(sql);
	return stmt;
}

enum ctp_status ctp_sqlite_step(const struct ctp_sqlite *s, sqlite3_stmt *stmt, struct ctp_err *err)
{
	while (sqlite3_step(stmt) == SQLITE_ROW)
		continue;
	return sqlite3_reset(stmt) ? ctp_sqlite_error(s, err) : CTP_OK;
}

/* --- opening ------------------------------------------------------------------------------------------------------------- */

static int same_pathname(sqlite3_vfs *vfs, const char *path, int room, char *full)
{
	(void)vfs;
	return snprintf(full, (size_t)room, "%s", path) < room ? SQLITE_OK : SQLITE_CANTOPEN;
}

static int open_or_duplicate(const char *path, int flags, int mode)
{
	size_t len = strlen(DESCRIPTOR);
	if (strncmp(path, DESCRIPTOR, len))
		return open(path, flags, mode);
	return fcntl(atoi(path + len), F_DUPFD_CLOEXEC, 3);
}

/* NULL: out of memory. */
static const char *vfs_name(void)
{
	static sqlite3_vfs vfs;
	sqlite3_vfs *usual = vfs.zName ? &vfs : sqlite3_vfs_find(NULL);
	if (!usual)
		return NULL;
	if (!vfs.zName) {
		vfs = *usual;
		vfs.zName = "ctp";
		vfs.xFullPathname = same_pathname;
		vfs.pNext = NULL;
		vfs.xSetSystemCall(&vfs, "open", (sqlite3_syscall_ptr)open_or_duplicate);
		sqlite3_vfs_register(&vfs, 0);
	}
	return vfs.zName;
}

/* Whether path is a file with contents that is no database. */
static bool is_other_file(const char *path)
{
	static const char magic[16] = "SQLite format 3";
	char head[sizeof magic];
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool other = fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0 &&
	             (read(fd, head, sizeof head) != sizeof head || memcmp(head, magic, sizeof magic));
	if (fd >= 0)
		close(fd);
	return other;
}

enum ctp_status ctp_sqlite_check_place(const char *path, struct ctp_err *err)
{
	static const char *const ends[] = {"-journal", "-wal"};
	char real[PATH_MAX], beside[PATH_MAX + 16];
	if (is_other_file(path))
		return ctp_err_set(err, "%s: is there and no SQLite database; remove it, or name another file", path);
	if (!realpath(path, real))
		snprintf(real, sizeof real, "%s", path);
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		snprintf(beside, sizeof beside, "%s%s", real, ends[i]);
		if (!access(beside, F_OK))
			return ctp_err_set(err, "%s: %s belongs to what had this name; remove it, or open that with sqlite3 first",
			                   path, beside);
	}
	return CTP_OK;
}

/*
 * No other program can open the file and a crash leaves no file, so SQLite need not lock, journal or sync. The size of a page is
 * SQLite's default, and that of sqlite-tree.h.
 */
enum ctp_status ctp_sqlite_open_new(struct ctp_sqlite *s, const struct ctp_output *out, struct ctp_err *err)
{
	char self[32];
	struct stat st;
	s->sql.name = out->name;
	if (!out->own_fd || fstat(out->fd, &st) || !S_ISREG(st.st_mode))
		return ctp_err_set(err, "%s: is no plain file, which a database must be", out->name);
	size_t len = strlen(out->name);
	if (len >= 4 && !strcmp(out->name + len - 4, ".zst"))
		return ctp_err_set(err, "%s: a database cannot be compressed; name it otherwise", out->name);
	if (ctp_sqlite_check_place(out->name, err))
		return CTP_FAILED;
	snprintf(self, sizeof self, DESCRIPTOR "%d", out->fd);
	const char *vfs = vfs_name();
	if (!vfs || sqlite3_open_v2(self, &s->db, SQLITE_OPEN_READWRITE, vfs))
		return ctp_sqlite_error(s, err);
	sqlite3_limit(s->db, SQLITE_LIMIT_COLUMN, CTP_SQLITE_COLUMNS_MAX);
	return ctp_sql_exec(&s->sql, err, "PRAGMA page_size=%d; PRAGMA auto_vacuum=NONE; PRAGMA cache_size=-8192;"
	                               "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE;"
	                               "BEGIN", (int64_t)CTP_SQLITE_PAGE);
}

/* To SQLite a path that begins with a slash or a dot is always a file; others may have a meaning, as :memory: has. */
enum ctp_status ctp_sqlite_open_old(struct ctp_sqlite *s, const char *path, struct ctp_err *err)
{
	s->sql.name = path;
	char *plain = sqlite3_mprintf("%s%s", path[0] == '/' ? "" : "./", path);
	int rc = plain ? sqlite3_open_v2(plain, &s->db, SQLITE_OPEN_READWRITE, NULL) : SQLITE_NOMEM;
	sqlite3_free(plain);
	if (rc)
		return ctp_sqlite_error(s, err);
	sqlite3_busy_timeout(s->db, BUSY_MS);
	return ctp_sqlite_exec(&s->sql, "PRAGMA cache_size=-65536; BEGIN IMMEDIATE", err);
}
