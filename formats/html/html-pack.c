/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * html-pack.c - events in linked blocks, small ones first, so that a million coroutines with two events each and one coroutine
 * with two million cost about the same.
 *
 * An event is a varint (varint.h) of its distance in time, shifted left by 3, and its kind, as in the page; then its argument,
 * if it has one. An event does not cross blocks. Rows are numbered as they are added, and sorted by birth at the end, so the page
 * gets a new encoding.
 */
#include "html/html-pack.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/varint.h"
#include "html/html-gaps.h"

enum {
	UNIT = 32,        /* bytes of the smallest block */
	SIZES = 8,        /* each twice as large as the one before */
	SLAB = 1 << 20,   /* blocks are cut from these */
	SLAB_UNITS = SLAB / UNIT,
	SLABS_MAX = UINT32_MAX / SLAB_UNITS,
	EVENT_MAX = 2 * CTP_VARINT_MAX,
	NOTHING = UINT32_MAX, /* no place or thread yet */
};

/* As in the page: the odd ones have an argument, and so has KIND_LOST. */
enum { KIND_SUSPEND, KIND_SUSPEND_AT, KIND_RESUME, KIND_RESUME_ON, KIND_WAKE, KIND_WAKE_BY, KIND_LOST, KIND_OTHER };
enum { OTHER_AWAIT = 1, OTHER_WAIT, OTHER_HELD, OTHER_BITS = 2 }; /* the code is in the low bits of the argument of a kept event */

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* --- blocks --------------------------------------------------------------------------------------------------------------- */

struct block {
	uint32_t next; /* 0: none */
	uint16_t used; /* bytes of data */
	uint8_t size;
	uint8_t data[];
};

_Static_assert(offsetof(struct block, data) + EVENT_MAX <= UNIT, "an event fits any block");

static uint32_t capacity(const struct block *b) { return (UNIT << b->size) - (uint32_t)offsetof(struct block, data); }

static struct block *block_at(const struct ctp_html_pool *pool, uint32_t number)
{
	return (struct block *)(pool->slabs[number / SLAB_UNITS] + (size_t)(number % SLAB_UNITS) * UNIT);
}

static bool add_slab(struct ctp_html_pool *pool)
{
	/* More than its blocks have: a varint is read as a whole word. */
	bool room = CTP_ARRAY_RESERVE(pool->slabs, pool->room, pool->nslabs + 1, SLABS_MAX);
	uint8_t *slab = room ? calloc(1, SLAB + CTP_VARINT_MAX) : NULL;
	if (!slab)
		return false;
	pool->slabs[pool->nslabs++] = slab;
	pool->at = pool->nslabs == 1; /* number 0 is none */
	return true;
}

/* 0: out of memory. */
static uint32_t block_new(struct ctp_html_pool *pool, unsigned size)
{
	uint32_t number = pool->unused[size], units = 1u << size;
	if (number) {
		pool->unused[size] = block_at(pool, number)->next;
	} else {
		if ((!pool->nslabs || pool->at + units > SLAB_UNITS) && !add_slab(pool))
			return 0;
		number = (pool->nslabs - 1) * SLAB_UNITS + pool->at;
		pool->at += units;
	}
	*block_at(pool, number) = (struct block){.size = (uint8_t)size};
	return number;
}

/* Returns the next block. */
static uint32_t block_free(struct ctp_html_pool *pool, uint32_t number)
{
	struct block *b = block_at(pool, number);
	uint32_t next = b->next;
	b->next = pool->unused[b->size];
	pool->unused[b->size] = number;
	return next;
}

/* --- rows ----------------------------------------------------------------------------------------------------------------- */

void ctp_html_pack_init(struct ctp_html_pack *pack, uint64_t max_events)
{
	*pack = (struct ctp_html_pack){.max_events = max_events};
}

void ctp_html_pack_fini(struct ctp_html_pack *pack)
{
	for (uint32_t i = 0; i < pack->pool.nslabs; i++)
		free(pack->pool.slabs[i]);
	free(pack->pool.slabs);
	free(pack->rows);
}

uint32_t ctp_html_pack_row(struct ctp_html_pack *pack, uint64_t id, uint64_t probe, uint64_t born_ns)
{
	if (!CTP_ARRAY_RESERVE(pack->rows, pack->room, pack->nrows + 1, CTP_HTML_ROWS_MAX)) {
		pack->failed |= pack->nrows < CTP_HTML_ROWS_MAX;
		pack->omitted_coroutines++;
		return CTP_HTML_LEFT_OUT;
	}
	pack->rows[pack->nrows] = (struct ctp_html_row){
		.id = id, .probe = probe, .born_ns = born_ns, .base_ns = born_ns, .last_ns = born_ns,
		.base_place = NOTHING, .base_thread = NOTHING, .place = NOTHING, .thread = NOTHING,
	};
	return ++pack->nrows;
}

void ctp_html_pack_died(struct ctp_html_pack *pack, uint32_t handle, uint64_t ts_ns)
{
	struct ctp_html_row *r = ctp_html_pack_at(pack, handle);
	if (!r || r->dead)
		return;
	r->dead = true;
	r->died_ns = ts_ns > r->last_ns ? ts_ns : r->last_ns;
	if (pack->last_dead)
		pack->rows[pack->last_dead - 1].next_dead = handle;
	else
		pack->first_dead = handle;
	pack->last_dead = handle;
}

/* --- events --------------------------------------------------------------------------------------------------------------- */

/* An event, decoded. */
struct kept {
	uint64_t dt_ns, arg; /* arg: the block leaves out a place or thread that is the same as before */
	unsigned kind;
};

static unsigned kind_of(struct ctp_html_row *r, enum ctp_html_event event, uint64_t arg)
{
	unsigned kind;
	switch (event) {
	case CTP_HTML_SUSPEND:
		kind = KIND_SUSPEND + (arg != r->place);
		r->place = (uint32_t)arg;
		return kind;
	case CTP_HTML_RESUME:
		kind = KIND_RESUME + (arg != r->thread);
		r->thread = (uint32_t)arg;
		return kind;
	case CTP_HTML_WAKE:
		return KIND_WAKE + (arg != 0);
	case CTP_HTML_LOST:
		return KIND_LOST;
	default:
		return KIND_OTHER;
	}
}

static bool has_arg(unsigned kind) { return kind & 1 || kind == KIND_LOST; }

void ctp_html_pack_event(struct ctp_html_pack *pack, uint32_t handle, uint64_t ts_ns, enum ctp_html_event event, uint64_t arg)
{
	struct ctp_html_row *r = ctp_html_pack_at(pack, handle);
	if (!r || r->flags & CTP_HTML_OMITTED) {
		pack->omitted_events++;
		return;
	}
	uint8_t bytes[EVENT_MAX + CTP_VARINT_MAX], *end = bytes;
	uint64_t dt_ns = ts_ns > r->last_ns ? ts_ns - r->last_ns : 0;
	unsigned kind = kind_of(r, event, arg);
	if (kind == KIND_OTHER)
		arg = arg << OTHER_BITS | (OTHER_AWAIT + (unsigned)event - CTP_HTML_AWAIT);
	end = ctp_varint_put(end, least(dt_ns, CTP_HTML_TIME_MAX) << 3 | kind);
	if (has_arg(kind))
		end = ctp_varint_put(end, arg);
	uint32_t len = (uint32_t)(end - bytes);

	struct block *b = r->last ? block_at(&pack->pool, r->last) : NULL;
	if (!b || b->used + len > capacity(b)) {
		uint32_t number = block_new(&pack->pool, !b ? 0 : b->size + 1 < SIZES ? b->size + 1u : b->size);
		if (!number) {
			pack->failed = true;
			return;
		}
		*(b ? &b->next : &r->first) = number;
		r->last = number;
		b = block_at(&pack->pool, number);
	}
	assert(len <= EVENT_MAX && b->used + len <= capacity(b));
	memcpy(b->data + b->used, bytes, len);
	b->used = (uint16_t)(b->used + len);
	r->last_ns += dt_ns;
	r->kept++;
	pack->events++;
}

/* The position of a reader in the events of a row. */
struct cursor {
	const uint8_t *p, *end;
	uint32_t place, thread;
};

static struct cursor cursor_at(const struct block *b, uint32_t place, uint32_t thread)
{
	return (struct cursor){b->data, b->data + b->used, place, thread};
}

/* The next event of the block; false: it has no more. */
static bool next_kept(struct cursor *c, struct kept *e)
{
	if (c->p == c->end)
		return false;
	uint64_t head;
	c->p = ctp_varint_get(c->p, &head);
	e->dt_ns = head >> 3;
	e->kind = head & 7;
	e->arg = 0;
	if (has_arg(e->kind))
		c->p = ctp_varint_get(c->p, &e->arg);
	if (e->kind == KIND_SUSPEND_AT)
		c->place = (uint32_t)e->arg;
	else if (e->kind == KIND_RESUME_ON)
		c->thread = (uint32_t)e->arg;
	else if (e->kind == KIND_SUSPEND)
		e->arg = c->place;
	else if (e->kind == KIND_RESUME)
		e->arg = c->thread;
	return true;
}

/* The number of events in the page: one more says that events were cut. */
static uint32_t shown(const struct ctp_html_row *r) { return r->kept + (r->cut > 0); }

/* --- room ----------------------------------------------------------------------------------------------------------------- */

static void leave_out(struct ctp_html_pack *pack, struct ctp_html_row *r)
{
	assert(pack->events >= r->kept);
	for (uint32_t b = r->first; b;)
		b = block_free(&pack->pool, b);
	pack->events -= r->kept;
	pack->omitted_events += r->kept;
	pack->omitted_coroutines++;
	r->first = r->last = r->kept = r->cut = 0;
	r->flags |= CTP_HTML_OMITTED;
}

static void leave_out_dead(struct ctp_html_pack *pack, uint64_t enough, bool all)
{
	uint32_t last = 0;
	for (uint32_t *link = &pack->first_dead; *link;) {
		struct ctp_html_row *r = &pack->rows[*link - 1];
		if (pack->events <= enough || (r->keep && !all)) {
			last = *link;
			link = &r->next_dead;
			continue;
		}
		*link = r->next_dead;
		if (r->kept)
			leave_out(pack, r);
	}
	pack->last_dead = last;
}

/* Drops the oldest events of a row, so that stay of them are left. */
static void cut_row(struct ctp_html_pack *pack, struct ctp_html_row *r, uint64_t stay)
{
	uint32_t before = r->kept;
	while (r->kept > stay) {
		struct block *b = block_at(&pack->pool, r->first);
		struct cursor c = cursor_at(b, r->base_place, r->base_thread);
		for (struct kept e; r->kept > stay && next_kept(&c, &e); r->kept--)
			r->base_ns += e.dt_ns;
		r->base_place = c.place;
		r->base_thread = c.thread;
		b->used = (uint16_t)(c.end - c.p);
		memmove(b->data, c.p, b->used);
		if (!b->used && r->first != r->last)
			r->first = block_free(&pack->pool, r->first);
	}
	assert(r->kept <= before && pack->events >= before - r->kept);
	r->cut += before - r->kept;
	pack->events -= before - r->kept;
	pack->omitted_events += before - r->kept;
}

/* How many events each row may keep, so that enough are kept in all: rows with fewer leave more to the others. */
static uint64_t share_of(const struct ctp_html_pack *pack, uint64_t enough)
{
	uint64_t share = 0, before, few, many;
	do {
		before = share;
		few = many = 0;
		for (uint32_t i = 0; i < pack->nrows; i++) {
			bool is_few = pack->rows[i].kept <= share;
			few += is_few ? pack->rows[i].kept : 0;
			many += !is_few;
		}
		share = many ? (enough - few) / many : before;
	} while (share > before);
	return share;
}

void ctp_html_pack_trim(struct ctp_html_pack *pack)
{
	uint64_t enough = pack->max_events - pack->max_events / 8; /* so that the next trim is not due at once */
	leave_out_dead(pack, enough, false);
	leave_out_dead(pack, enough, true);
	if (pack->events <= enough)
		return;
	uint64_t share = share_of(pack, enough);
	for (uint32_t i = 0; i < pack->nrows; i++)
		cut_row(pack, &pack->rows[i], share);
}

uint64_t ctp_html_pack_shown(const struct ctp_html_pack *pack)
{
	uint64_t events = 0;
	for (uint32_t i = 0; i < pack->nrows; i++)
		events += pack->rows[i].drop ? 0 : shown(&pack->rows[i]);
	return events;
}

uint32_t ctp_html_pack_rows(const struct ctp_html_pack *pack)
{
	uint32_t rows = 0;
	for (uint32_t i = 0; i < pack->nrows; i++)
		rows += !pack->rows[i].drop;
	return rows;
}

/* --- out ------------------------------------------------------------------------------------------------------------------ */

enum column { COL_ID, COL_PROBE, COL_NAME, COL_SPAWN, COL_PARENT, COL_BORN, COL_DIED, COL_FLAGS, COL_EVENTS, COLUMNS };

struct writing {
	const struct ctp_html_pack *pack;
	const struct ctp_html_view *view;
	ctp_html_put *put;
	void *arg;
	uint32_t *order; /* rows, in the order of the page */
	uint32_t *line;  /* of each row: its index in that order, from 1 on; 0: it is not in the page */
	uint64_t last;   /* value of the column in the line before */
	size_t used;
	uint8_t buf[4096];
};

static void put_number(struct writing *w, uint64_t v)
{
	enum { LONGEST = 10 };
	if (sizeof w->buf - w->used < LONGEST) {
		w->put(w->arg, w->buf, w->used);
		w->used = 0;
	}
	for (; v > 127; v >>= 7)
		w->buf[w->used++] = (uint8_t)(v | 128);
	w->buf[w->used++] = (uint8_t)v;
}

static uint64_t since_t0(const struct ctp_html_view *view, uint64_t ts_ns)
{
	return ts_ns > view->t0_ns ? least(ts_ns - view->t0_ns, CTP_HTML_TIME_MAX) : 0;
}

static uint32_t number_of(const uint32_t *numbers, uint32_t n, uint64_t i) { return i < n ? numbers[i] : 0; }

static uint64_t difference(struct writing *w, uint64_t v)
{
	uint64_t d = v - w->last;
	w->last = v;
	return ctp_fold((int64_t)d);
}

/* The line of a row, from 1 on; 0: there is none. */
static uint32_t line_of(const struct writing *w, uint64_t handle)
{
	return handle && handle != CTP_HTML_LEFT_OUT ? w->line[handle - 1] : 0;
}

static uint64_t cell(struct writing *w, const struct ctp_html_row *r, enum column column)
{
	switch (column) {
	case COL_ID:
		return difference(w, r->id);
	case COL_PROBE:
		return difference(w, r->probe);
	case COL_NAME:
		return r->name;
	case COL_SPAWN:
		return number_of(w->view->places, w->view->nplaces, r->spawn);
	case COL_PARENT:
		return line_of(w, r->parent);
	case COL_BORN:
		return difference(w, since_t0(w->view, r->born_ns));
	case COL_DIED:
		return r->dead ? 1 + since_t0(w->view, r->died_ns) - since_t0(w->view, r->born_ns) : 0;
	case COL_FLAGS:
		return r->cut || r->flags & CTP_HTML_OMITTED ? r->flags & ~CTP_HTML_CERTAIN : r->flags;
	default:
		return shown(r);
	}
}

/* Writes an event with the numbers of the page. last: the last place and thread; NOTHING: none yet. */
static void put_other(struct writing *w, uint64_t code, uint64_t arg)
{
	put_number(w, code);
	put_number(w, code == OTHER_WAIT ? arg : line_of(w, arg));
}

static void put_event(struct writing *w, const struct kept *e, uint64_t dt_ns, uint32_t line, uint32_t last[2])
{
	const struct ctp_html_view *view = w->view;
	uint64_t head = dt_ns << 3;
	bool resume = e->kind == KIND_RESUME || e->kind == KIND_RESUME_ON;
	uint32_t number;
	switch (e->kind) {
	case KIND_SUSPEND:
	case KIND_SUSPEND_AT:
	case KIND_RESUME:
	case KIND_RESUME_ON:
		number = resume ? number_of(view->threads, view->nthreads, e->arg) : number_of(view->places, view->nplaces, e->arg);
		head |= (resume ? KIND_RESUME : KIND_SUSPEND) + (number != last[resume]);
		put_number(w, head);
		if (number != last[resume])
			put_number(w, number);
		last[resume] = number;
		break;
	case KIND_WAKE_BY:
		number = line_of(w, e->arg);
		if (!number) {
			put_number(w, head | KIND_WAKE);
			break;
		}
		put_number(w, head | KIND_WAKE_BY);
		put_number(w, ctp_fold((int64_t)number - 1 - (int64_t)line));
		break;
	case KIND_OTHER:
		put_number(w, head | KIND_OTHER);
		put_other(w, e->arg & ((1 << OTHER_BITS) - 1), e->arg >> OTHER_BITS);
		break;
	default:
		put_number(w, head | e->kind);
		if (e->kind == KIND_LOST)
			put_number(w, e->arg);
	}
}

static void put_events(struct writing *w, const struct ctp_html_row *r, uint32_t line)
{
	uint32_t last[2] = {NOTHING, NOTHING};
	uint64_t ts_ns = r->base_ns, before = since_t0(w->view, r->born_ns);
	struct cursor c = {.place = r->base_place, .thread = r->base_thread};
	if (r->cut)
		put_event(w, &(struct kept){.kind = KIND_LOST, .arg = r->cut}, 0, line, last);
	for (uint32_t number = r->first; number;) {
		const struct block *b = block_at(&w->pack->pool, number);
		c = cursor_at(b, c.place, c.thread);
		for (struct kept e; next_kept(&c, &e);) {
			ts_ns = ts_ns + e.dt_ns < ts_ns ? UINT64_MAX : ts_ns + e.dt_ns;
			uint64_t now = since_t0(w->view, ts_ns);
			put_event(w, &e, now - before, line, last);
			before = now;
		}
		number = b->next;
	}
}

/* The gaps of a thread. Time that two gaps share counts for the first. */
static void put_thread_gaps(struct writing *w, const struct ctp_html_gap *gap, uint32_t n)
{
	uint64_t before = 0;
	put_number(w, n);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t from = since_t0(w->view, gap[i].after_ns), to = since_t0(w->view, gap[i].ts_ns);
		from = from > before ? from : before;
		to = to > from ? to : from;
		put_number(w, from - before);
		put_number(w, to - from);
		put_number(w, least(gap[i].transitions, CTP_HTML_TIME_MAX));
		before = to;
	}
}

static void put_gaps(struct writing *w)
{
	const struct ctp_html_gaps *gaps = w->view->gaps;
	uint32_t at = 0;
	for (uint32_t thread = 0; thread < w->view->nshown; thread++) {
		uint32_t first = at;
		while (at < gaps->count && number_of(w->view->threads, w->view->nthreads, gaps->list[at].thread) == thread)
			at++;
		put_thread_gaps(w, at > first ? &gaps->list[first] : NULL, at - first);
	}
}

static int by_birth(const void *a, const void *b, void *arg)
{
	const struct ctp_html_row *rows = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint64_t p = rows[x].born_ns, q = rows[y].born_ns;
	return p != q ? (p > q) - (p < q) : (x > y) - (x < y);
}

bool ctp_html_pack_write(struct ctp_html_pack *pack, const struct ctp_html_view *view, ctp_html_put *put, void *arg)
{
	struct writing w = {.pack = pack, .view = view, .put = put, .arg = arg};
	uint32_t n = 0;
	w.order = calloc((size_t)pack->nrows + 1, sizeof *w.order);
	w.line = calloc((size_t)pack->nrows + 1, sizeof *w.line);
	bool done = w.order && w.line;
	if (!done)
		goto out;
	for (uint32_t i = 0; i < pack->nrows; i++)
		if (!pack->rows[i].drop)
			w.order[n++] = i;
	qsort_r(w.order, n, sizeof *w.order, by_birth, pack->rows);
	for (uint32_t i = 0; i < n; i++)
		w.line[w.order[i]] = i + 1;
	for (int column = 0; column < COLUMNS; column++) {
		w.last = 0;
		for (uint32_t i = 0; i < n; i++)
			put_number(&w, cell(&w, &pack->rows[w.order[i]], (enum column)column));
	}
	for (uint32_t i = 0; i < n; i++)
		put_events(&w, &pack->rows[w.order[i]], i);
	if (view->gaps)
		put_gaps(&w);
	if (w.used)
		put(arg, w.buf, w.used);
out:
	free(w.order);
	free(w.line);
	return done;
}
