/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * sqlite-tree.c - see sqlite-tree.h.
 *
 * A level has the page that is being filled, and the page before, which is kept until the other has a cell: no page may be empty,
 * so at the end the last page may need a cell of the one before. Between two pages is a divider, which goes into the level above
 * when the left page has its number: in an index an entry, in a table the last id of the left page.
 */
#include "sqlite/sqlite-tree.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LEAF_HEADER = 8, INNER_HEADER = 12, DEPTH_MAX = 16, CHILD = 4, LOCK_BYTE = 0x40000000, VARINT_MAX = 9 };

struct level {
	struct ctp_sqlite_page now, before;
	bool has_before;
	uint8_t divider[CTP_SQLITE_KEY_MAX];
	size_t divider_bytes;
};

struct ctp_sqlite_tree {
	struct ctp_sqlite_pages *pages;
	uint32_t root;
	bool index;
	unsigned depth;
	uint8_t leaf[CTP_SQLITE_PAGE]; /* of a table: the last leaf */
	uint64_t leaf_id;
	bool has_leaf;
	struct level *level[DEPTH_MAX];
	bool failed;
};

uint8_t *ctp_sqlite_varint(uint8_t *p, uint64_t v)
{
	if (v >> 56) { /* the ninth byte has eight bits of the number */
		for (int shift = 57; shift > 1; shift -= 7)
			*p++ = (uint8_t)(0x80 | v >> shift);
		*p++ = (uint8_t)v;
		return p;
	}
	int shift = 0;
	while (v >> shift > 0x7f)
		shift += 7;
	for (; shift; shift -= 7)
		*p++ = (uint8_t)(0x80 | v >> shift);
	*p++ = v & 0x7f;
	return p;
}

static void put16(uint8_t *p, unsigned v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static void put32(uint8_t *p, uint32_t v)
{
	put16(p, v >> 16);
	put16(p + 2, v & 0xffff);
}

/* --- pages --------------------------------------------------------------------------------------------------------------- */

static bool is_inner(const struct ctp_sqlite_page *p) { return p->bytes[0] < CTP_SQLITE_INDEX_LEAF; }
static unsigned header_bytes(const struct ctp_sqlite_page *p) { return is_inner(p) ? INNER_HEADER : LEAF_HEADER; }

static void note_cells(struct ctp_sqlite_page *p)
{
	put16(p->bytes + 3, p->ncells);
	put16(p->bytes + 5, p->start);
}

void ctp_sqlite_page_init(struct ctp_sqlite_page *p, enum ctp_sqlite_page_type type)
{
	memset(p, 0, sizeof *p);
	p->bytes[0] = type;
	p->start = CTP_SQLITE_PAGE;
	note_cells(p);
}

bool ctp_sqlite_page_add(struct ctp_sqlite_page *p, const uint8_t *cell, size_t bytes)
{
	unsigned pointer = header_bytes(p) + 2 * p->ncells;
	if (pointer + 2 + bytes > p->start)
		return false;
	p->start -= bytes;
	p->last_bytes = (unsigned)bytes;
	memcpy(p->bytes + p->start, cell, bytes);
	put16(p->bytes + pointer, p->start);
	p->ncells++;
	note_cells(p);
	return true;
}

/* Removes the last cell, at most once, and returns its address. */
static const uint8_t *take_last(struct ctp_sqlite_page *p)
{
	const uint8_t *cell = p->bytes + p->start;
	p->start += p->last_bytes;
	p->ncells--;
	note_cells(p);
	return cell;
}

static void set_right(struct ctp_sqlite_page *p, uint32_t child) { put32(p->bytes + 8, child); }

uint32_t ctp_sqlite_pages_add(struct ctp_sqlite_pages *pages, const uint8_t *page)
{
	static const uint8_t unused[CTP_SQLITE_PAGE];
	if (pages->count == LOCK_BYTE / CTP_SQLITE_PAGE) { /* SQLite leaves the next page empty: its locks are there */
		ctp_output_put(pages->out, unused, sizeof unused);
		pages->count++;
	}
	ctp_output_put(pages->out, page, CTP_SQLITE_PAGE);
	return ++pages->count;
}

/* --- levels -------------------------------------------------------------------------------------------------------------- */

static enum ctp_sqlite_page_type page_type(const struct ctp_sqlite_tree *t, unsigned l)
{
	return t->index ? (l ? CTP_SQLITE_INDEX_INNER : CTP_SQLITE_INDEX_LEAF) : CTP_SQLITE_TABLE_INNER;
}

static struct level *need_level(struct ctp_sqlite_tree *t, unsigned l)
{
	assert(l < DEPTH_MAX);
	if (!t->level[l] && (t->level[l] = calloc(1, sizeof *t->level[l]))) {
		ctp_sqlite_page_init(&t->level[l]->now, page_type(t, l));
		t->depth = l + 1;
	}
	t->failed |= !t->level[l];
	return t->level[l];
}

/* The page at hand is full: it becomes the page before, with a divider after it. */
static void turn_page(struct ctp_sqlite_tree *t, unsigned l, const uint8_t *divider, size_t bytes)
{
	struct level *lev = t->level[l];
	assert(!lev->has_before && bytes <= sizeof lev->divider);
	lev->before = lev->now;
	lev->has_before = true;
	memcpy(lev->divider, divider, bytes);
	lev->divider_bytes = bytes;
	ctp_sqlite_page_init(&lev->now, page_type(t, l));
}

static void add_child(struct ctp_sqlite_tree *t, unsigned l, uint32_t child, const uint8_t *divider, size_t bytes);

/* Writes the page before; its number and the divider go into the level above. */
static void settle(struct ctp_sqlite_tree *t, unsigned l)
{
	struct level *lev = t->level[l];
	if (!lev->has_before)
		return;
	lev->has_before = false;
	add_child(t, l + 1, ctp_sqlite_pages_add(t->pages, lev->before.bytes), lev->divider, lev->divider_bytes);
}

static void add_child(struct ctp_sqlite_tree *t, unsigned l, uint32_t child, const uint8_t *divider, size_t bytes)
{
	uint8_t cell[CHILD + CTP_SQLITE_KEY_MAX];
	struct level *lev = need_level(t, l);
	if (!lev)
		return;
	put32(cell, child);
	memcpy(cell + CHILD, divider, bytes);
	if (ctp_sqlite_page_add(&lev->now, cell, CHILD + bytes)) {
		settle(t, l);
	} else {
		set_right(&lev->now, child);
		turn_page(t, l, divider, bytes);
	}
}

void ctp_sqlite_tree_entry(struct ctp_sqlite_tree *t, const uint8_t *cell, size_t bytes)
{
	struct level *lev = need_level(t, 0);
	if (!lev)
		return;
	if (ctp_sqlite_page_add(&lev->now, cell, bytes))
		settle(t, 0);
	else
		turn_page(t, 0, cell, bytes);
}

void ctp_sqlite_tree_leaf(struct ctp_sqlite_tree *t, const uint8_t *page, uint64_t last_id)
{
	uint8_t divider[VARINT_MAX];
	if (t->has_leaf)
		add_child(t, 1, ctp_sqlite_pages_add(t->pages, t->leaf), divider,
		          (size_t)(ctp_sqlite_varint(divider, t->leaf_id) - divider));
	memcpy(t->leaf, page, sizeof t->leaf);
	t->leaf_id = last_id;
	t->has_leaf = true;
}

/* --- begin and end ------------------------------------------------------------------------------------------------------- */

struct ctp_sqlite_tree *ctp_sqlite_tree_new(struct ctp_sqlite_pages *pages, uint32_t root, bool index)
{
	struct ctp_sqlite_tree *t = calloc(1, sizeof *t);
	if (t) {
		t->pages = pages;
		t->root = root;
		t->index = index;
	}
	return t;
}

/* The last page is empty: the divider becomes its cell, and the last cell of the page before the new divider. */
static void even_out(struct level *lev)
{
	struct ctp_sqlite_page *left = &lev->before;
	unsigned bytes = left->last_bytes;
	const uint8_t *cell = take_last(left);
	uint8_t down[CHILD + CTP_SQLITE_KEY_MAX], *p = down;
	if (is_inner(left)) {
		memcpy(p, left->bytes + 8, CHILD);
		memcpy(left->bytes + 8, cell, CHILD);
		p += CHILD;
		cell += CHILD;
		bytes -= CHILD;
	}
	memcpy(p, lev->divider, lev->divider_bytes);
	ctp_sqlite_page_add(&lev->now, down, (size_t)(p - down) + lev->divider_bytes);
	memcpy(lev->divider, cell, bytes);
	lev->divider_bytes = bytes;
}

static bool put_root(struct ctp_sqlite_tree *t, const uint8_t *page)
{
	return pwrite(t->pages->out->fd, page, CTP_SQLITE_PAGE, ((off_t)t->root - 1) * CTP_SQLITE_PAGE) == CTP_SQLITE_PAGE;
}

/* child: the last page of the level below. */
static bool finish_level(struct ctp_sqlite_tree *t, unsigned l, uint32_t child)
{
	struct level *lev = t->level[l];
	if (!lev->now.ncells)
		even_out(lev);
	if (l)
		set_right(&lev->now, child);
	settle(t, l);
	if (t->failed)
		return false;
	if (l + 1 == t->depth)
		return put_root(t, lev->now.bytes);
	return finish_level(t, l + 1, ctp_sqlite_pages_add(t->pages, lev->now.bytes));
}

bool ctp_sqlite_tree_finish(struct ctp_sqlite_tree *t)
{
	bool ok = !t->failed;
	if (ok && t->index)
		ok = finish_level(t, 0, 0);
	else if (ok && t->depth)
		ok = finish_level(t, 1, ctp_sqlite_pages_add(t->pages, t->leaf));
	else if (ok)
		ok = put_root(t, t->leaf);
	for (unsigned l = 0; l < t->depth; l++)
		free(t->level[l]);
	free(t);
	return ok;
}
