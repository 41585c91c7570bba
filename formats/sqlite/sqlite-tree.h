/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * sqlite-tree.h - B-trees of SQLite's file format, written in order: each page once, from left to right, bottom to top.
 *
 * A table or index that is filled at once takes a fraction of the time of SQLite's insertion. SQLite's "Database File Format" has
 * the format; these trees have no overflow pages.
 */
#ifndef CTP_SQLITE_TREE_H
#define CTP_SQLITE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/output.h"

enum {
	CTP_SQLITE_PAGE = 4096,
	CTP_SQLITE_CELL_MAX = 3500, /* bytes of a row, which fits a page */
	CTP_SQLITE_KEY_MAX = 64,    /* bytes of an entry of an index */
};

/* A page that is being filled; cells come in order. */
struct ctp_sqlite_page {
	uint8_t bytes[CTP_SQLITE_PAGE];
	unsigned ncells, start; /* start: of the cells, which grow down from the page's end */
	unsigned last_bytes;    /* of the last cell */
};

enum ctp_sqlite_page_type {
	CTP_SQLITE_INDEX_INNER = 2, CTP_SQLITE_TABLE_INNER = 5, CTP_SQLITE_INDEX_LEAF = 10, CTP_SQLITE_TABLE_LEAF = 13,
};

void ctp_sqlite_page_init(struct ctp_sqlite_page *p, enum ctp_sqlite_page_type type);
bool ctp_sqlite_page_add(struct ctp_sqlite_page *p, const uint8_t *cell, size_t bytes); /* false: the page is full */

/* The pages that are added after those of a database. */
struct ctp_sqlite_pages {
	struct ctp_output *out; /* at the file's end */
	uint32_t count;         /* of the file */
};

/* Writes a page; its number, from 1. */
uint32_t ctp_sqlite_pages_add(struct ctp_sqlite_pages *pages, const uint8_t *page);

/* root: the page that SQLite made for the tree, which becomes its top. Null: out of memory. */
struct ctp_sqlite_tree;
struct ctp_sqlite_tree *ctp_sqlite_tree_new(struct ctp_sqlite_pages *pages, uint32_t root, bool index);

/* Adds an entry of an index, as a cell, or a whole leaf of a table and the id of its last row. A tree needs at least one. */
void ctp_sqlite_tree_entry(struct ctp_sqlite_tree *t, const uint8_t *cell, size_t bytes);
void ctp_sqlite_tree_leaf(struct ctp_sqlite_tree *t, const uint8_t *page, uint64_t last_id);

/* Writes the pages that remain, and frees the tree. False: the root could not be written; errno. Other errors are out's. */
bool ctp_sqlite_tree_finish(struct ctp_sqlite_tree *t);

/* Writes a number as the format has it, at most 9 bytes, and returns its end. */
uint8_t *ctp_sqlite_varint(uint8_t *p, uint64_t v);

#endif
