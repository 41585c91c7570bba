/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * The B-trees that ctp-sqlite writes itself, with SQLite as the judge: every number of rows around where a page, and a level,
 * gets full. And the sort before it: more than fits in memory, in any order.
 */
#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include "sqlite/sqlite-sort.h"
#include "sqlite/sqlite-tree.h"
#include "tap.h"

static char folder[] = "/tmp/ctp-tree.XXXXXX", path[64];

static void run(const char *sql, const char *want)
{
	sqlite3 *db;
	sqlite3_stmt *stmt;
	if (sqlite3_open(path, &db) || sqlite3_prepare_v2(db, sql, -1, &stmt, NULL))
		abort();
	const char *got = sqlite3_step(stmt) == SQLITE_ROW ? (const char *)sqlite3_column_text(stmt, 0) : NULL;
	if (want && (!got || strcmp(got, want)))
		is(got, want, sql);
	sqlite3_finalize(stmt);
	sqlite3_close(db);
}

/* One column of text of the given size, with a number in front that gives the order. */
static size_t put_record(uint8_t *p, unsigned number, unsigned bytes, bool with_id)
{
	uint8_t *start = p;
	p = ctp_sqlite_varint(p + 1, 13 + 2 * bytes);
	*start = (uint8_t)(p - start + with_id);
	if (with_id)
		*p++ = 4;
	memset(p, 'x', bytes);
	char digits[16];
	memcpy(p, digits, (size_t)snprintf(digits, sizeof digits, "%08u", number));
	p += bytes;
	for (int shift = 24; with_id && shift >= 0; shift -= 8)
		*p++ = (uint8_t)(number >> shift);
	return (size_t)(p - start);
}

static size_t put_cell(uint8_t *cell, unsigned number, unsigned bytes, bool table)
{
	uint8_t record[CTP_SQLITE_CELL_MAX], *p;
	size_t len = put_record(record, number, bytes, !table);
	p = ctp_sqlite_varint(cell, len);
	if (table)
		p = ctp_sqlite_varint(p, number);
	memcpy(p, record, len);
	return (size_t)(p - cell) + len;
}

static void fill_table(struct ctp_sqlite_pages *pages, unsigned rows, unsigned bytes)
{
	struct ctp_sqlite_tree *t = ctp_sqlite_tree_new(pages, 2, false);
	struct ctp_sqlite_page leaf;
	uint8_t cell[CTP_SQLITE_CELL_MAX];
	ctp_sqlite_page_init(&leaf, CTP_SQLITE_TABLE_LEAF);
	for (unsigned i = 1; i <= rows; i++) {
		size_t len = put_cell(cell, i, bytes, true);
		if (ctp_sqlite_page_add(&leaf, cell, len))
			continue;
		ctp_sqlite_tree_leaf(t, leaf.bytes, i - 1);
		ctp_sqlite_page_init(&leaf, CTP_SQLITE_TABLE_LEAF);
		ctp_sqlite_page_add(&leaf, cell, len);
	}
	ctp_sqlite_tree_leaf(t, leaf.bytes, rows);
	if (!ctp_sqlite_tree_finish(t))
		abort();
}

static void fill_index(struct ctp_sqlite_pages *pages, unsigned rows, unsigned bytes)
{
	struct ctp_sqlite_tree *t = ctp_sqlite_tree_new(pages, 3, true);
	uint8_t cell[CTP_SQLITE_CELL_MAX];
	for (unsigned i = 1; i <= rows; i++)
		ctp_sqlite_tree_entry(t, cell, put_cell(cell, i, bytes, false));
	if (!ctp_sqlite_tree_finish(t))
		abort();
}

/* A table of texts of this size and, if they are short enough, an index of it, both written without SQLite. */
static void try_rows(unsigned rows, unsigned bytes, bool indexed)
{
	struct ctp_output out;
	struct ctp_err err;
	uint8_t count[4];
	char want[16];
	unlink(path);
	run("PRAGMA page_size = 4096", NULL);
	run("CREATE TABLE t (a TEXT)", NULL);
	if (indexed)
		run("CREATE INDEX i ON t (a)", NULL);
	int fd = open(path, O_WRONLY);
	off_t size = lseek(fd, 0, SEEK_END);
	if (size < 0 || ctp_output_fd(&out, fd, path, &err))
		abort();
	struct ctp_sqlite_pages pages = {.out = &out, .count = (uint32_t)(size / CTP_SQLITE_PAGE)};
	fill_table(&pages, rows, bytes);
	if (indexed)
		fill_index(&pages, rows, bytes);
	ctp_output_flush(&out);
	for (int i = 0; i < 4; i++)
		count[i] = (uint8_t)(pages.count >> (24 - 8 * i));
	if (pwrite(fd, count, 4, 28) != 4)
		abort();
	ctp_output_abandon(&out);
	close(fd);
	run("PRAGMA integrity_check", "ok");
	snprintf(want, sizeof want, "%u", rows);
	run("SELECT count(*) FROM t NOT INDEXED", want);
	run("SELECT sum(id = n) FROM (SELECT rowid AS id, CAST(substr(a, 1, 8) AS INTEGER) AS n FROM t NOT INDEXED)", want);
	if (indexed)
		run("SELECT count(*) FROM t INDEXED BY i WHERE a > ''", want);
}

/* SQLite locks bytes at 1 GiB; the page there must stay unused. */
static void try_lock_page(void)
{
	static const uint8_t page[CTP_SQLITE_PAGE];
	struct ctp_output out;
	struct ctp_err err;
	if (ctp_output_open(&out, "/dev/null", true, true, &err))
		abort();
	struct ctp_sqlite_pages pages = {.out = &out, .count = 262143};
	is_u64(ctp_sqlite_pages_add(&pages, page), 262144, "the page before the lock page is used");
	is_u64(ctp_sqlite_pages_add(&pages, page), 262146, "the lock page is left out");
	ctp_output_flush(&out);
	is_u64(out.bytes, 3 * CTP_SQLITE_PAGE, "the lock page is in the file");
	ctp_output_abandon(&out);
}

static void try_range(unsigned from, unsigned upto, unsigned bytes, bool indexed, const char *name)
{
	int before = tap_failed;
	for (unsigned rows = from; rows <= upto && tap_failed == before; rows++)
		try_rows(rows, bytes, indexed);
	ok(tap_failed == before, "%s: %u to %u rows", name, from, upto);
}

/* --- sorting ------------------------------------------------------------------------------------------------------------- */

static void try_sort(unsigned words, uint64_t n, uint64_t factor, const char *name)
{
	struct ctp_sqlite_sort *s = ctp_sqlite_sort_new(words, path);
	uint64_t key[CTP_SQLITE_WORDS_MAX], next = 0, wrong = 0, step = UINT64_MAX / (n + 1); /* so that all bytes differ */
	for (uint64_t i = 0; i < n; i++) {
		uint64_t v = i * factor % n; /* each number once, if factor and n have no divisor in common */
		for (unsigned w = 0; w < words; w++)
			key[w] = w + 1 == words ? v * step : v / (words == 2 ? 1000 : 100000) * step;
		if (!ctp_sqlite_sort_add(s, key))
			abort();
	}
	if (!ctp_sqlite_sort_begin(s))
		abort();
	while (ctp_sqlite_sort_next(s, key) > 0)
		wrong += key[words - 1] != next++ * step;
	ok(next == n && !wrong, "%s: %" PRIu64 " keys of %u words", name, n, words);
	ctp_sqlite_sort_free(s);
}

int main(void)
{
	if (!mkdtemp(folder))
		abort();
	snprintf(path, sizeof path, "%s/db", folder);
	try_range(1, 130, 40, true, "a leaf, and two");
	try_range(6130, 6240, 40, true, "a second level above the leaves, as it comes to be");
	try_rows(230000, 40, true);
	ok(!tap_failed, "three levels are read by SQLite");
	try_range(500, 530, 3000, false, "a table of large rows, where a second inner page comes to be");
	try_lock_page();
	try_sort(4, 0, 1, "nothing");
	try_sort(2, 1000, 7, "in memory");
	try_sort(2, 3000017, 1, "in order");
	try_sort(3, 2000003, 777767777, "many runs");
	try_sort(4, 1100009, 1100008, "backwards");
	unlink(path);
	rmdir(folder);
	return done_testing();
}
