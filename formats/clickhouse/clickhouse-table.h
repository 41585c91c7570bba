/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * clickhouse-table.h - rows of one class as columns in memory, and as blocks of the format Native.
 *
 * Rows are in runs, each of one section. What all rows of a section have in common is kept once, and is put into a block when it is made;
 * so a section may be told its delivery late, or that its rows are not wanted.
 */
#ifndef CTP_CLICKHOUSE_TABLE_H
#define CTP_CLICKHOUSE_TABLE_H

#include "common/bytes.h"
#include "stream/record.h"

enum { CTP_CLICKHOUSE_BLOCK_ROWS = 1 << 16 };

/* What rows of a section have in common. */
struct ctp_clickhouse_section {
	uint64_t id, delivery;
	uint16_t day; /* since 1970, of its begin; 0: not known */
	bool has_wall;
	bool unwanted; /* its rows are in no block */
	int64_t wall_offset_ns;
	char *host;
};

struct ctp_clickhouse_column {
	char *name;
	const char *type;
	uint32_t width; /* of a number, in bytes; 0: a text, with its length before it */
	struct ctp_bytes data;
};

struct ctp_clickhouse_run {
	const struct ctp_clickhouse_section *sec;
	uint32_t first, n; /* rows */
};

struct ctp_clickhouse_table {
	char *name;
	struct ctp_class *cls; /* its own copy */
	bool wall64;           /* wall is a DateTime64, of nanoseconds */
	struct ctp_clickhouse_column *columns; /* of the fields */
	uint32_t nrows, nruns, ntexts;
	struct ctp_clickhouse_run *runs;
	size_t runs_room;
	struct ctp_bytes text_at; /* of each run: where its texts begin, a size_t for each column of texts */
	bool failed; /* out of memory */
};

/* Null: err. */
struct ctp_clickhouse_table *ctp_clickhouse_table_new(const struct ctp_class *cls, const char *name, bool wall64, struct ctp_err *err);
void ctp_clickhouse_table_free(struct ctp_clickhouse_table *t); /* null: nothing */

/* Whether the class is declared in just the same way. */
bool ctp_clickhouse_table_is_of(const struct ctp_clickhouse_table *t, const struct ctp_class *cls);

/* Adds n records of the class. sec must be there as long as the rows. */
void ctp_clickhouse_table_add(struct ctp_clickhouse_table *t, const struct ctp_clickhouse_section *sec, const struct ctp_record *rec, uint32_t n);

void ctp_clickhouse_table_clear(struct ctp_clickhouse_table *t, bool keep_memory);
size_t ctp_clickhouse_table_bytes(const struct ctp_clickhouse_table *t); /* of memory */

/*
 * Appends the block that begins with run *at, or a later one that is wanted; *at is then the run after it. Returns its number of rows; 0:
 * there are no more.
 */
uint32_t ctp_clickhouse_table_block(struct ctp_clickhouse_table *t, uint32_t *at, struct ctp_bytes *to);

/* Calls column for each column, in the order of a block. */
void ctp_clickhouse_table_each(const struct ctp_clickhouse_table *t, void (*column)(void *arg, const char *name, const char *type), void *arg);

#endif
