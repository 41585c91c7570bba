/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * soak-count.c - compares a stream with the account that t/helper/soak-target.c kept of itself.
 *
 *	soak-count [-c] [-p] DIR [STREAM]
 *
 * DIR has copies of the account: A, before the collector was started, and B, when it was attached; C, before it got the signal to
 * end,
 * and D, when it had ended. A is read at the beginning, the others when the stream has ended and they exist. -p: it was a visit.
 * -c: the stream has no end, and may stop anywhere.
 *
 * For each coroutine, events and losses together are consecutive numbers, each there once. Among these, a suspension is as
 * far from the beginning as its address says. For each slot, events between B and C are there, and events not begun by D
 * are not. All numbers are exact; A and B, C and D are equal if the program rested meanwhile.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "soak.h"
#include "stream/events.h"
#include "stream/reader.h"

enum { PAGE = 4096, WRONG_MAX = 12 };

struct coro {
	uint64_t id, delivered, lost, min, max;
	uint64_t sum, squares;  /* of all numbers so far */
	int64_t offset;         /* of the first number, in its life */
	bool seen, placed, born, dead, closed; /* placed: the offset is known */
};

struct page {
	struct coro coros[PAGE];
	unsigned closed;
};

static struct {
	bool cut, visit, recorded;
	const char *dir;
	struct soak_account a, b, c, d;
	struct page **pages;
	uint64_t npages;
	uint64_t events, lost, nobody; /* in the account; nobody: lost, of unknown coroutines */
	uint64_t births, deaths, wakes, awaits, names, missed, untraced, conflicts;
	uint64_t slot[SOAK_BLOCKS][SOAK_SLOTS];
	uint64_t unaccounted, wrong, ended, end_events, end_lost, all_events, all_lost;
} now;

static void wrong(const char *what, uint64_t id, uint64_t got, uint64_t want)
{
	if (now.wrong++ < WRONG_MAX)
		fprintf(stderr, "soak-count: %s: id %" PRIx64 ": %" PRIu64 ", and not %" PRIu64 "\n", what, id, got, want);
}

static struct coro *coro_at(uint64_t number)
{
	uint64_t at = number / PAGE;
	if (number > UINT32_MAX)
		abort();
	if (at >= now.npages) {
		now.pages = realloc(now.pages, (at + 1) * sizeof *now.pages);
		if (!now.pages)
			abort();
		memset(now.pages + now.npages, 0, (at + 1 - now.npages) * sizeof *now.pages);
		now.npages = at + 1;
	}
	if (!now.pages[at] && !(now.pages[at] = calloc(1, sizeof **now.pages)))
		abort();
	return &now.pages[at]->coros[number % PAGE];
}

/* Sums of from ... from + n - 1, and of their squares; modulo 2^64. */
static void add_row(struct coro *co, uint64_t from, uint64_t n)
{
	__extension__ typedef unsigned __int128 wide;
	wide m = n, ones = m * (m - 1) / 2, squares = (m - 1) * m * (2 * m - 1) / 6;
	co->sum += (uint64_t)(m * from + ones);
	co->squares += (uint64_t)(m * from * from + 2 * from * ones + squares);
}

static bool is_row(const struct coro *co)
{
	struct coro whole = {0};
	add_row(&whole, co->min, co->max - co->min + 1);
	return co->delivered + co->lost == co->max - co->min + 1 && co->sum == whole.sum && co->squares == whole.squares;
}

/* The part of a row that is in the account, that is, after A: remembered events from before are not checked. */
static void enter(const struct coro *co)
{
	unsigned block = (unsigned)(co->id >> 48) - 1, slot = co->id >> 40 & 0xff;
	if (block >= SOAK_BLOCKS || slot >= SOAK_SLOTS) {
		wrong("an id that is not ours", co->id, 0, 0);
		return;
	}
	const struct soak_slot *a = &now.a.blocks[block].slots[slot];
	uint64_t life = co->id & 0xffffffff, n = co->delivered + co->lost, lo = (uint64_t)((int64_t)co->min + co->offset);
	if (now.visit && block == SOAK_CHILD)
		wrong("an event of a child", co->id, n, 0);
	uint64_t before = life < soak_life(a->done) ? n : life > soak_life(a->done) || soak_event(a->done) < lo ? 0 :
	                  soak_event(a->done) - lo;
	if (before > n)
		before = n;
	if (before && !now.recorded)
		wrong("events from before the visit", co->id, before, 0);
	uint64_t lost = before > co->delivered ? n - before : co->lost;
	now.lost += lost;
	now.events += n - before - lost;
	now.slot[block][slot] += n - before;
}

static bool is_whole(const struct coro *co)
{
	uint64_t events = soak_events(co->id);
	if (!co->born || !co->dead || !co->id)
		return false;
	if (!co->seen)
		return !events;
	return is_row(co) && co->placed && co->offset == 0 && co->min == 0 && co->max + 1 == events;
}

/* A life that is complete from birth to death is not checked again. */
static void close_whole(struct coro *co, uint64_t number)
{
	struct page *page = now.pages[number / PAGE];
	if (!co->dead || !is_whole(co))
		return;
	if (co->seen)
		enter(co);
	co->closed = true;
	if (++page->closed == PAGE) {
		free(page);
		now.pages[number / PAGE] = NULL;
	}
}

static void number_in(struct coro *co, uint64_t from, uint64_t n)
{
	if (co->closed)
		wrong("more than its account", co->id, from, soak_events(co->id));
	if (!n)
		return;
	add_row(co, from, n);
	co->min = !co->seen || from < co->min ? from : co->min;
	co->max = !co->seen || from + n - 1 > co->max ? from + n - 1 : co->max;
	co->seen = true;
}

static void named(struct coro *co, uint64_t id)
{
	if (co->id && id != co->id)
		wrong("one coroutine, two ids", co->id, id, co->id);
	co->id = id;
}

static void transition(const uint64_t *v)
{
	struct coro *co = coro_at(v[CTP_TRANSITION_CORO]);
	named(co, v[CTP_TRANSITION_PROBE]);
	now.all_events++;
	number_in(co, v[CTP_TRANSITION_INDEX], 1);
	co->delivered++;
	if (!v[CTP_TRANSITION_ACTIVE]) {
		int64_t offset = (int64_t)v[CTP_TRANSITION_ADDR] - 1 - (int64_t)v[CTP_TRANSITION_INDEX];
		if (co->placed && offset != co->offset)
			wrong("an event at another place", co->id, v[CTP_TRANSITION_INDEX], v[CTP_TRANSITION_ADDR] - 1);
		co->offset = offset;
		co->placed = true;
	}
	close_whole(co, v[CTP_TRANSITION_CORO]);
}

static void loss(const uint64_t *v)
{
	struct coro *co = coro_at(v[CTP_LOST_CORO]);
	now.all_lost += v[CTP_LOST_COUNT];
	if (!v[CTP_LOST_CORO]) {
		now.nobody += v[CTP_LOST_COUNT];
		return;
	}
	named(co, v[CTP_LOST_PROBE]);
	number_in(co, v[CTP_LOST_INDEX], v[CTP_LOST_COUNT]);
	co->lost += v[CTP_LOST_COUNT];
	close_whole(co, v[CTP_LOST_CORO]);
}

static void life(const uint64_t *v, bool birth)
{
	uint64_t number = birth ? v[CTP_BIRTH_CORO] : v[CTP_DEATH_CORO];
	struct coro *co = coro_at(number);
	named(co, birth ? v[CTP_BIRTH_PROBE] : v[CTP_DEATH_PROBE]);
	bool *is = birth ? &co->born : &co->dead;
	if (*is)
		wrong(birth ? "born twice" : "dead twice", co->id, 2, 1);
	*is = true;
	now.births += birth;
	now.deaths += !birth;
	close_whole(co, number);
}

static void end(const uint64_t *v)
{
	now.ended++;
	now.end_events = v[CTP_END_EVENTS];
	now.end_lost = v[CTP_END_LOST];
	now.untraced = v[CTP_END_UNTRACED];
}

static void see(const struct ctp_record *rec)
{
	switch (rec->cls->kind) {
	case CTP_KIND_TRANSITION:
		transition(rec->val);
		break;
	case CTP_KIND_BIRTH:
	case CTP_KIND_DEATH:
		life(rec->val, rec->cls->kind == CTP_KIND_BIRTH);
		break;
	case CTP_KIND_LOSS:
		if (!strcmp(rec->cls->name, "lost"))
			loss(rec->val);
		else
			now.missed += rec->val[CTP_MISSED_COUNT];
		break;
	case CTP_KIND_WAKE:
		now.wakes++;
		break;
	case CTP_KIND_AWAIT:
		now.awaits++;
		break;
	case CTP_KIND_NAME:
		now.names++;
		break;
	case CTP_KIND_CONFLICT:
		now.conflicts++;
		break;
	case CTP_KIND_END:
		end(rec->val);
		break;
	}
}

static bool load(const char *name, struct soak_account *to)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/%s", now.dir, name);
	FILE *f = fopen(path, "rb");
	bool good = f && fread(to, sizeof *to, 1, f) == 1 && to->magic == SOAK_MAGIC;
	if (f)
		fclose(f);
	return good;
}

/* The last copy exists when the collector has ended, and replaces missing ones then. */
static bool load_rest(void)
{
	pid_t parent = getppid();
	while (!load("D", &now.d)) {
		if (getppid() != parent)
			return false;
		usleep(5000);
	}
	return load("B", &now.b) && load("C", &now.c);
}

/* Events from the beginning of the slot to a place in it. */
static uint64_t events_between(unsigned block, unsigned slot, uint64_t from, uint64_t to)
{
	uint64_t n = 0;
	for (uint64_t life_no = soak_life(from); life_no < soak_life(to); life_no++)
		n += soak_events(soak_id(block, slot, life_no));
	return n + soak_event(to) - soak_event(from);
}

static uint64_t hold_slot(unsigned block, unsigned slot)
{
	const struct soak_slot *a = &now.a.blocks[block].slots[slot], *b = &now.b.blocks[block].slots[slot];
	const struct soak_slot *c = &now.c.blocks[block].slots[slot], *d = &now.d.blocks[block].slots[slot];
	uint64_t got = now.slot[block][slot], most = events_between(block, slot, a->done, d->began);
	uint64_t unrecorded = d->unrecorded - a->unrecorded;
	uint64_t least = c->done < b->began ? 0 : events_between(block, slot, b->began, c->done);
	least = now.cut || least < unrecorded ? 0 : least - unrecorded;
	if (a->done == b->began) /* it rested, or it was not there yet: none of them may be in the stream */
		most -= unrecorded < most ? unrecorded : most;
	if (got > most) {
		wrong("more events than there were", soak_id(block, slot, 0), got, most);
		now.unaccounted += got - most;
	}
	return got < least ? least - got : 0;
}

/*
 * A row without a suspension, so without an address: one resume, or all of it was lost. It ends where its life
 * did; of a coroutine that lives on, it is from the visit.
 */
static void place(struct coro *co)
{
	unsigned block = (unsigned)(co->id >> 48) - 1, slot = co->id >> 40 & 0xff;
	uint64_t before = block < SOAK_BLOCKS && slot < SOAK_SLOTS ? now.a.blocks[block].slots[slot].done : 0;
	if (now.visit && co->dead)
		co->offset = (int64_t)(soak_events(co->id) - 1 - co->max);
	else if (now.visit && soak_life(before) == (co->id & 0xffffffff))
		co->offset = (int64_t)(soak_event(before) - co->min);
}

/* A row that is not whole: its coroutine lived before, or lives on, or the stream is cut. */
static void close_rest(struct coro *co)
{
	if (!co->seen || co->closed)
		return;
	bool row = now.cut ? co->delivered + co->lost <= co->max - co->min + 1 : is_row(co); /* a loss is told after what it is before */
	if (!row)
		wrong("events that are no row", co->id, co->delivered + co->lost, co->max - co->min + 1);
	if (!co->placed)
		place(co);
	uint64_t upto = (uint64_t)((int64_t)co->max + co->offset) + 1;
	if (co->dead && !now.cut && upto != soak_events(co->id))
		wrong("a life that is not whole", co->id, upto, soak_events(co->id));
	enter(co);
}

/* A visit is of one process, and not of its children. */
static unsigned blocks(void) { return now.visit ? SOAK_CHILD : SOAK_BLOCKS; }

static void bounds(const char *what, unsigned kind, uint64_t got, uint64_t more)
{
	uint64_t least = 0, most = 0;
	for (unsigned i = 0; i < blocks(); i++) {
		least += now.c.blocks[i].done[kind] - now.b.blocks[i].began[kind];
		most += now.d.blocks[i].began[kind] - now.a.blocks[i].done[kind];
	}
	if ((int64_t)least > 0 && got + more < least && !now.cut)
		wrong(what, 0, got + more, least);
	if (got > most && !now.visit)
		wrong(what, 0, got, most);
}

static void hold(void)
{
	uint64_t missing = 0;
	for (uint64_t i = 0; i < now.npages * PAGE; i++)
		if (now.pages[i / PAGE])
			close_rest(coro_at(i));
	for (unsigned block = 0; block < blocks(); block++)
		for (unsigned slot = 0; slot < SOAK_SLOTS; slot++)
			missing += hold_slot(block, slot);
	now.lost += now.nobody;
	if (missing > now.nobody) {
		wrong("events of which there is no account", 0, now.events + now.lost, now.events + now.lost + missing - now.nobody);
		now.unaccounted += missing - now.nobody;
	}
	if (now.conflicts)
		wrong("conflicts", 0, now.conflicts, 0);
	if (!now.visit) {
		bounds("births", SOAK_BIRTHS, now.births, now.untraced);
		bounds("deaths", SOAK_DEATHS, now.deaths, now.untraced);
	}
	bounds("wakes", SOAK_WAKES, now.wakes, now.missed);
	bounds("awaits", SOAK_AWAITS, now.awaits, now.missed);
	if (!now.cut && now.ended != 1)
		wrong("end records", 0, now.ended, 1);
	if (now.ended && (now.end_events != now.all_events || now.end_lost != now.all_lost))
		wrong("totals of the end", now.end_lost, now.end_events, now.all_events);
}

/* True if there may be events from before the visit: a process whose last collector was killed has recorded, too. */
static void recorded(const struct ctp_section *section)
{
	const char *said = ctp_section_get(section, "recorded");
	now.recorded = said && !strcmp(said, "yes");
}

static bool read_stream(const char *path)
{
	struct ctp_input in;
	struct ctp_item item;
	struct ctp_err err;
	enum ctp_status status;
	if (ctp_input_open(&in, path, &err))
		return false;
	struct ctp_reader *r = ctp_reader_new(&in, NULL, &err);
	while (r && (status = ctp_reader_next(r, &item, &err)) == CTP_OK) {
		if (item.kind == CTP_ITEM_SECTION)
			recorded(item.section);
		for (uint32_t i = 0; item.kind == CTP_ITEM_RECORDS && i < item.batch.n; i++)
			see(&item.batch.rec[i]);
	}
	bool whole = r && status == CTP_EOF && (now.cut || !ctp_reader_harmed(r)), good = whole;
	if (r && (ctp_reader_stats(r)->missing_packets || (!now.cut && ctp_reader_stats(r)->damaged_packets)))
		good = false;
	ctp_reader_free(r);
	ctp_input_close(&in);
	return good;
}

static int usage(void)
{
	fputs("usage: soak-count [-c] [-p] DIR [STREAM]\n", stderr);
	return 2;
}

int main(int argc, char **argv)
{
	for (int c; (c = getopt(argc, argv, "cp")) != -1;)
		if (c == '?')
			return usage();
		else
			*(c == 'c' ? &now.cut : &now.visit) = true;
	now.dir = argv[optind];
	if (!now.dir || !load("A", &now.a))
		return usage();
	bool good = read_stream(argv[optind + 1]);
	if (!load_rest())
		return usage();
	if (!good)
		wrong("a stream that is not whole", 0, 0, 0);
	hold();
	printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", now.events, now.lost, now.unaccounted, now.births,
	       now.untraced);
	return now.wrong ? 1 : 0;
}
