/*
 * sqlite-tree.h - B-trees of SQLite's file format, written in order: each page once, from left to right, bottom to top.
 *
 * For tables and indexes that are filled at once this takes a fraction of the time that SQLite's own insertion does. The format
 * is SQLite's "Database File Format"; only what has no overflow pages is made.
 */
#ifndef CTP_SQLITE_TREE_H
#define CTP_SQLITE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/output.h"

enum {
	CTP_SQLITE_PAGE = 4096,
	CTP_SQLITE_CELL_MAX = 3500, /* bytes of a row, so that it never overflows */
	CTP_SQLITE_KEY_MAX = 64,    /* bytes of an entry of an index */
};

/* A page in the making. Cells are in order. */
struct ctp_sqlite_page {
	uint8_t bytes[CTP_SQLITE_PAGE];
	unsigned ncells, start; /* of cells, which grow down from the end */
	unsigned last_bytes;    /* of the last cell */
};

enum ctp_sqlite_page_type {
	CTP_SQLITE_INDEX_INNER = 2, CTP_SQLITE_TABLE_INNER = 5, CTP_SQLITE_INDEX_LEAF = 10, CTP_SQLITE_TABLE_LEAF = 13,
};

void ctp_sqlite_page_init(struct ctp_sqlite_page *p, enum ctp_sqlite_page_type type);
bool ctp_sqlite_page_add(struct ctp_sqlite_page *p, const uint8_t *cell, size_t bytes); /* false: it is full */

/* The pages that are added to a database behind those that it has. */
struct ctp_sqlite_pages {
	struct ctp_output *out; /* at the file's end */
	uint32_t count;         /* of the file */
};

/* As SQLite numbers it, from 1. */
uint32_t ctp_sqlite_pages_add(struct ctp_sqlite_pages *pages, const uint8_t *page);

/* root: the page that SQLite made for it, which becomes its top. Null: out of memory. */
struct ctp_sqlite_tree;
struct ctp_sqlite_tree *ctp_sqlite_tree_new(struct ctp_sqlite_pages *pages, uint32_t root, bool index);

/* An entry of an index, as a cell; a whole leaf of a table, and the id of its last row. At least one. */
void ctp_sqlite_tree_entry(struct ctp_sqlite_tree *t, const uint8_t *cell, size_t bytes);
void ctp_sqlite_tree_leaf(struct ctp_sqlite_tree *t, const uint8_t *page, uint64_t last_id);

/* Writes what remains, and frees it. False: the root could not be written; errno says why. Other errors are out's. */
bool ctp_sqlite_tree_finish(struct ctp_sqlite_tree *t);

/* A number as the format has it, behind p; at most 9 bytes. */
uint8_t *ctp_sqlite_varint(uint8_t *p, uint64_t v);

#endif
