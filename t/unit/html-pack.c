/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * html-pack.c - rows and events in the page's format, decoded by the test and compared with the input, for random ones and
 * for those at the limits.
 */
#include "html/html-pack.h"

#include "tap.h"

enum { ROWS = 300, PLACES = 50, THREADS = 9, COLUMNS = 9 };

/* --- what went in --------------------------------------------------------------------------------------------------------- */

struct told {
	uint64_t ts;
	enum ctp_html_event event;
	uint64_t arg;
};

struct model {
	uint64_t id, probe, born, died; /* died 0: not */
	uint32_t handle, parent, spawn, name, flags;
	struct told *events;
	size_t n, room;
};

static struct model model[ROWS];
static uint64_t seed;

static uint64_t draw(uint64_t below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (seed >> 33) % below;
}

static void tell(struct ctp_html_pack *pack, struct model *m, uint64_t ts, enum ctp_html_event event, uint64_t arg)
{
	if (m->n == m->room && !(m->events = realloc(m->events, (m->room = 2 * m->room + 4) * sizeof(*m->events))))
		abort();
	m->events[m->n++] = (struct told){ts, event, arg};
	ctp_html_pack_event(pack, m->handle, ts, event, arg);
}

static uint32_t make(struct ctp_html_pack *pack, struct model *m, uint64_t id, uint64_t born)
{
	free(m->events);
	*m = (struct model){.id = id, .probe = id * 0x9e3779b97f4a7c15u, .born = born};
	return m->handle = ctp_html_pack_row(pack, m->id, m->probe, m->born);
}

static void fill_in(struct ctp_html_pack *pack, const struct model *m)
{
	struct ctp_html_row *r = ctp_html_pack_at(pack, m->handle);
	r->name = m->name;
	r->spawn = m->spawn;
	r->parent = m->parent;
	r->flags |= (uint8_t)m->flags;
}

/* --- and comes out -------------------------------------------------------------------------------------------------------- */

struct bytes {
	uint8_t *data;
	size_t len, room, at;
	bool short_;
};

static void keep(void *arg, const void *data, size_t len)
{
	struct bytes *b = arg;
	if (b->room - b->len < len && !(b->data = realloc(b->data, b->room = 2 * b->room + len)))
		abort();
	memcpy(b->data + b->len, data, len);
	b->len += len;
}

static uint64_t number(struct bytes *b)
{
	uint64_t v = 0;
	for (unsigned shift = 0; shift < 64; shift += 7) {
		if (b->at == b->len) {
			b->short_ = true;
			return 0;
		}
		uint8_t byte = b->data[b->at++];
		v |= (uint64_t)(byte & 127) << shift;
		if (byte < 128)
			return v;
	}
	b->short_ = true;
	return 0;
}

static uint64_t zigzag(uint64_t v) { return v & 1 ? ~(v >> 1) : v >> 1; }

struct seen {
	uint64_t cell[COLUMNS];
};
enum { ID, PROBE, NAME, SPAWN, PARENT, BORN, DIED, FLAGS, EVENTS };

static struct seen seen[ROWS];
static uint32_t places[PLACES], threads[THREADS];

static void read_columns(struct bytes *b, uint32_t n)
{
	for (int c = 0; c < COLUMNS; c++) {
		uint64_t last = 0;
		for (uint32_t i = 0; i < n; i++) {
			uint64_t v = number(b);
			if (c == ID || c == PROBE || c == BORN)
				v = last += zigzag(v);
			seen[i].cell[c] = v;
		}
	}
}

/* The row in the page of a handle: which one has its id. */
static uint32_t line_of(uint32_t handle, uint32_t n)
{
	uint32_t i = 0;
	while (i < n && seen[i].cell[ID] != model[handle - 1].id)
		i++;
	return i;
}

static bool same_event(struct bytes *b, const struct told *t, uint64_t *now, uint32_t line, uint32_t n, uint64_t last[2])
{
	uint64_t head = number(b), kind = head & 7;
	*now += head >> 3;
	switch (t->event) {
	case CTP_HTML_SUSPEND:
		last[0] = kind == 1 ? number(b) : last[0];
		return kind <= 1 && last[0] == places[t->arg];
	case CTP_HTML_RESUME:
		last[1] = kind == 3 ? number(b) : last[1];
		return (kind == 2 || kind == 3) && last[1] == threads[t->arg];
	case CTP_HTML_WAKE:
		return t->arg ? kind == 5 && line + zigzag(number(b)) == line_of((uint32_t)t->arg, n) : kind == 4;
	case CTP_HTML_LOST:
		return kind == 6 && number(b) == t->arg;
	default:
		return kind == 7 && number(b) == 1 && number(b) == (t->arg ? line_of((uint32_t)t->arg, n) + 1 : 0);
	}
}

/* True if the page has all events of the model's row from number `from` on. */
static bool same_row(struct bytes *b, uint32_t line, uint32_t n, const struct model *m, uint64_t t0, size_t from)
{
	const uint64_t *cell = seen[line].cell;
	uint64_t now = cell[BORN], last[2] = {UINT64_MAX, UINT64_MAX}, ts = m->born;
	bool same = cell[ID] == m->id && cell[PROBE] == m->probe && cell[NAME] == m->name && cell[SPAWN] == places[m->spawn] &&
	            cell[PARENT] == (m->parent ? line_of(m->parent, n) + 1 : 0) && cell[BORN] == m->born - t0 &&
	            cell[DIED] == (m->died ? 1 + m->died - m->born : 0) && cell[EVENTS] == m->n - from + (from > 0);
	if (from)
		same = same && number(b) == 6 && number(b) == from;
	for (size_t i = 0; i < m->n; i++) {
		ts = m->events[i].ts > ts ? m->events[i].ts : ts;
		if (i >= from)
			same = same && same_event(b, &m->events[i], &now, line, n, last) && now == ts - t0;
	}
	return same;
}

static struct bytes written(struct ctp_html_pack *pack, uint64_t t0)
{
	struct bytes b = {0};
	struct ctp_html_view view = {.t0_ns = t0, .places = places, .threads = threads, .nplaces = PLACES, .nthreads = THREADS};
	ok(ctp_html_pack_write(pack, &view, keep, &b) && !pack->failed, "the page's data is written");
	return b;
}

/* --- tests ---------------------------------------------------------------------------------------------------------------- */

static void random_rows(uint64_t with)
{
	struct ctp_html_pack pack;
	uint64_t now = UINT64_C(1) << 40, t0 = now;
	uint32_t n = 0;
	seed = with;
	ctp_html_pack_init(&pack, UINT64_MAX);
	for (int step = 0; step < 60000; step++) {
		now += draw(3) ? draw(1000) : draw(UINT64_C(1) << 30);
		struct model *m = n ? &model[draw(n)] : NULL;
		if (n < ROWS && (!n || !draw(40))) {
			m = &model[n];
			make(&pack, m, n ? draw(UINT64_C(1) << 40) * ROWS + n : UINT64_MAX, now - (now - t0) / (1 + draw(9)));
			m->parent = n && draw(2) ? 1 + (uint32_t)draw(n) : 0;
			m->spawn = (uint32_t)draw(PLACES);
			m->name = (uint32_t)draw(1 << 20);
			m->flags = (uint32_t)draw(8) | (uint32_t)draw(2) * CTP_HTML_TAIL;
			fill_in(&pack, m);
			n++;
		} else if (m->died) {
			continue;
		} else if (!draw(3000)) {
			m->died = now;
			ctp_html_pack_died(&pack, m->handle, now);
		} else {
			enum ctp_html_event event = (enum ctp_html_event)draw(5);
			uint64_t arg = event == CTP_HTML_SUSPEND ? draw(PLACES) : event == CTP_HTML_RESUME ? draw(THREADS) :
			               event == CTP_HTML_LOST ? draw(1 << 30) : draw(n + 1);
			/* Late ones too. */
			tell(&pack, m, draw(50) ? now : now - draw(now - t0 + 1), event, arg);
		}
	}
	struct bytes b = written(&pack, t0);
	read_columns(&b, n);
	bool same = true, sorted = true;
	for (uint32_t i = 0; i < n; i++) {
		const struct model *m = model;
		while (m->id != seen[i].cell[ID])
			m++;
		same = same && same_row(&b, i, n, m, t0, 0) && seen[i].cell[FLAGS] == m->flags;
		sorted = sorted && (!i || seen[i].cell[BORN] >= seen[i - 1].cell[BORN]);
	}
	ok(same && !b.short_ && b.at == b.len, "random rows are reproduced, seed %d", (int)with);
	ok(sorted, "rows are in the order of their births");
	is_u64(ctp_html_pack_shown(&pack), pack.events, "all their events are shown");
	free(b.data);
	ctp_html_pack_fini(&pack);
}

static void limits(void)
{
	struct ctp_html_pack pack;
	ctp_html_pack_init(&pack, UINT64_MAX);
	struct bytes empty = written(&pack, 0);
	is_u64(empty.len, 0, "no rows give no bytes");
	free(empty.data);

	make(&pack, &model[0], UINT64_MAX, 5);
	tell(&pack, &model[0], UINT64_MAX, CTP_HTML_SUSPEND, UINT32_MAX);
	tell(&pack, &model[0], 7, CTP_HTML_RESUME, UINT32_MAX);
	tell(&pack, &model[0], UINT64_MAX, CTP_HTML_WAKE, CTP_HTML_LEFT_OUT);
	ctp_html_pack_died(&pack, 1, 9);
	struct bytes b = written(&pack, 1000);
	read_columns(&b, 1);
	is_u64(seen[0].cell[ID], UINT64_MAX, "an id has 64 bits");
	is_u64(seen[0].cell[BORN], 0, "a birth before the start is at the start");
	is_u64(seen[0].cell[DIED], CTP_HTML_TIME_MAX + 1, "a death is not before the last event, nor beyond what a page can show");
	is_u64(number(&b), (CTP_HTML_TIME_MAX - 995) << 3 | 1, "a time is limited to what a page can show, counted from the birth");
	is_u64(number(&b), 0, "an invalid place is unknown");
	is_u64(number(&b), 3, "a time that goes backwards becomes the one before");
	is_u64(number(&b), 0, "an invalid thread becomes the first");
	is_u64(number(&b), 4, "a waker that was left out is unknown");
	ok(b.at == b.len && !b.short_, "nothing follows");
	free(b.data);
	ctp_html_pack_fini(&pack);
}

/* Rows of ten events each; the first half of them are of dead coroutines. */
static void dead_first(void)
{
	struct ctp_html_pack pack;
	ctp_html_pack_init(&pack, 600);
	for (uint32_t i = 0; i < 100; i++) {
		struct model *m = &model[i];
		make(&pack, m, i + 1, 1000 + i);
		for (int k = 0; k < 10; k++)
			tell(&pack, m, 2000 + i, k % 2 ? CTP_HTML_SUSPEND : CTP_HTML_RESUME, 3);
		if (i < 50)
			ctp_html_pack_died(&pack, m->handle, m->died = 3000);
		ctp_html_pack_at(&pack, m->handle)->flags = CTP_HTML_CERTAIN;
		ctp_html_pack_at(&pack, m->handle)->keep = i == 3;
	}
	ctp_html_pack_trim(&pack);
	is_u64(pack.events, 520, "enough events are dropped to have room for more");
	is_u64(pack.omitted_events, 480, "the dropped events are counted");
	is_u64(pack.omitted_coroutines, 48, "the coroutines they belonged to are counted");
	struct bytes b = written(&pack, 1000);
	read_columns(&b, 100);
	bool right = true;
	for (uint32_t i = 0; i < 100; i++) {
		bool gone = i < 49 && i != 3;
		right = right && seen[i].cell[EVENTS] == (gone ? 0 : 10) &&
		        seen[i].cell[FLAGS] == (gone ? CTP_HTML_OMITTED : CTP_HTML_CERTAIN);
	}
	ok(right, "the coroutines that died first are dropped whole, except the one to be kept");
	free(b.data);
	tell(&pack, &model[0], 5000, CTP_HTML_WAKE, 0);
	is_u64(pack.omitted_events, 481, "later events of a dropped coroutine are only counted");
	tell(&pack, &model[60], 5000, CTP_HTML_WAKE, 0);
	is_u64(pack.events, 521, "events of another coroutine are kept");
	pack.max_events = 580;
	ctp_html_pack_trim(&pack);
	ok(ctp_html_pack_at(&pack, 4)->flags & CTP_HTML_OMITTED && !ctp_html_pack_at(&pack, 60)->cut,
	   "next, the kept dead coroutine is dropped, before any living one");
	ctp_html_pack_fini(&pack);
}

/* One living coroutine has very many events, the others few. */
static void oldest_next(void)
{
	enum { MANY = 20000, FEW = 30 };
	struct ctp_html_pack pack;
	ctp_html_pack_init(&pack, 10000);
	for (uint32_t i = 0; i < 20; i++)
		make(&pack, &model[i], i + 1, 1000);
	for (int k = 0; k < MANY; k++) {
		uint64_t now = 1000 + 10 * (uint64_t)k;
		tell(&pack, &model[7], now, k % 2 ? CTP_HTML_SUSPEND : CTP_HTML_RESUME, (uint64_t)k / 2 % 5);
		for (uint32_t i = 0; k < FEW && i < 20; i++)
			if (i != 7)
				tell(&pack, &model[i], now, k % 2 ? CTP_HTML_SUSPEND : CTP_HTML_RESUME, 2);
		if (pack.events > pack.max_events)
			ctp_html_pack_trim(&pack);
	}
	ok(pack.events <= 10000 && pack.events > 6000, "about as many events are kept as requested");
	is_u64(pack.events + pack.omitted_events, MANY + 19 * FEW, "kept and dropped events add up");
	is_u64(pack.omitted_coroutines, 0, "no row is dropped");
	struct bytes b = written(&pack, 1000);
	read_columns(&b, 20);
	bool right = true;
	for (uint32_t i = 0; i < 20; i++)
		right = right && same_row(&b, i, 20, &model[i], 1000, i == 7 ? pack.omitted_events : 0);
	ok(right && b.at == b.len, "short rows are whole; the long row has the number of omitted events, then its newest ones");
	is_u64(ctp_html_pack_shown(&pack), pack.events + 1, "that number is one event more");
	free(b.data);

	pack.max_events = 100;
	ctp_html_pack_trim(&pack);
	b = written(&pack, 1000);
	read_columns(&b, 20);
	right = pack.events <= 100;
	for (uint32_t i = 0; i < 20; i++)
		right = right && same_row(&b, i, 20, &model[i], 1000, model[i].n - 88 / 20);
	ok(right && b.at == b.len, "with little room each row keeps a few events");
	free(b.data);
	pack.max_events = 8;
	ctp_html_pack_trim(&pack);
	is_u64(pack.events, 0, "with nearly no room no event is kept");
	is_u64(pack.events + pack.omitted_events, MANY + 19 * FEW, "kept and dropped events add up");
	ctp_html_pack_fini(&pack);
}

int main(void)
{
	for (uint32_t i = 0; i < PLACES; i++)
		places[i] = i * 7 % 13;
	for (uint32_t i = 0; i < THREADS; i++)
		threads[i] = THREADS - 1 - i;
	for (uint64_t i = 1; i <= 5; i++)
		random_rows(i);
	limits();
	dead_first();
	oldest_next();
	for (uint32_t i = 0; i < ROWS; i++)
		free(model[i].events);
	return done_testing();
}
