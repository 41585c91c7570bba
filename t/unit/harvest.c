/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * harvest.c - from stations to a stream that is read again: births, events, losses, deaths, in the right order and all of them.
 */
#include <pthread.h>
#include <sched.h>

#include "base/clock.h"
#include "memstream.h"
#include "rawprobe.h"
#include "tap.h"

enum { STATIONS = 600 }; /* more than two buckets of the sweep */

/* What a reader makes of each coroutine, record by record. */
struct reading {
	struct {
		uint64_t next;
		bool born, dead;
	} coro[STATIONS + 1];
	uint64_t events, lost, unverified, births, deaths, conflicts, untraced, wrong;
	uint64_t first[16]; /* values of the first loss, or birth */
};

static void see(void *arg, const char *cls, const uint64_t *val)
{
	struct reading *r = arg;
	if (!strcmp(cls, "transition")) {
		uint64_t c = val[CTP_TRANSITION_CORO], index = val[CTP_TRANSITION_INDEX];
		r->wrong += !r->coro[c].born || r->coro[c].dead || index != r->coro[c].next ||
		            val[CTP_TRANSITION_PROBE] != 0x1000 + c || val[CTP_TRANSITION_TS] != word(index, 0) ||
		            val[CTP_TRANSITION_ADDR] != word(index, 2);
		r->coro[c].next = index + 1;
		r->events++;
	} else if (!strcmp(cls, "lost")) {
		uint64_t c = val[CTP_LOST_CORO];
		r->wrong += val[CTP_LOST_INDEX] != r->coro[c].next || r->coro[c].dead || val[CTP_LOST_AFTER] > val[CTP_LOST_TS];
		r->coro[c].next += val[CTP_LOST_COUNT];
		r->lost += val[CTP_LOST_COUNT];
		r->unverified += val[CTP_LOST_UNVERIFIED];
	} else if (!strcmp(cls, "birth")) {
		uint64_t c = val[CTP_BIRTH_CORO];
		r->wrong += r->coro[c].born || val[CTP_BIRTH_STATION] + 1 != c || val[CTP_BIRTH_AFTER] > val[CTP_BIRTH_TS] ||
		            val[CTP_BIRTH_BEFORE] != val[CTP_BIRTH_TS];
		r->coro[c].born = true;
		if (!r->births++)
			memcpy(r->first, val, CTP_BIRTH_FIELDS * sizeof(*val));
	} else if (!strcmp(cls, "death")) {
		uint64_t c = val[CTP_DEATH_CORO];
		r->wrong += !r->coro[c].born || r->coro[c].dead || val[CTP_DEATH_AFTER] > val[CTP_DEATH_BEFORE];
		r->coro[c].dead = true;
		r->deaths++;
	} else if (!strcmp(cls, "conflict")) {
		r->conflicts++;
	} else if (!strcmp(cls, "untraced")) {
		r->untraced = val[CTP_UNTRACED_COUNT];
	} else {
		r->wrong++;
	}
}

static void bear(struct memstream *m, enum writer kind, uint32_t i)
{
	write_birth(kind, memstream_station(m, i), 0x1000 + i + 1, 900);
}

static void die(struct memstream *m, uint32_t i) { __atomic_store_n(memstream_station(m, i) + 0x10, 1, __ATOMIC_RELEASE); }

/* --- step by step -------------------------------------------------------------------------------------------------------- */

static void test_lives(void)
{
	struct memstream m;
	struct reading r = {0};
	memstream_open(&m, 4);
	memstream_allocate(&m, 3);
	bear(&m, FIELD, 0);
	ctp_harvest_scan(m.harvest, NULL);
	const struct ctp_harvest_stats *s = ctp_harvest_stats(m.harvest);
	is_u64(s->births, 1, "a header that stays the same is a birth, without an event");
	for (uint64_t k = 0; k < 20; k++)
		write_event(FIELD, memstream_station(&m, 0), k);
	bear(&m, FIELD, 1);
	write_event(FIELD, memstream_station(&m, 1), 0);
	struct ctp_look look;
	is_u64(ctp_harvest_scan(m.harvest, &look), 21, "a scan says what it found, lost events included");
	is_u64(look.busiest, 20, "and the most in one station");
	write_event(FIELD, memstream_station(&m, 1), 1);
	die(&m, 1);
	bear(&m, FIELD, 2);
	die(&m, 2);
	ctp_harvest_lives(m.harvest);
	is_u64(s->deaths, 2, "deaths are seen, with an event or without");
	memstream_allocate(&m, 9);
	write_event(FIELD, memstream_station(&m, 1), 2); /* by somebody else's copy of the coroutine */
	ctp_harvest_last(m.harvest, true);
	is_u64(s->untraced, 5, "those that found no station are counted");
	is_u64(s->stations, 4, "and not looked for");
	is_u64(s->events + s->lost, 23, "all is counted");
	is_u64(ctp_harvest_unsettled(m.harvest), 0, "and written");
	uint64_t events = s->events, lost = s->lost;
	ok(memstream_close(&m, see, &r), "the stream is whole");
	ok(r.events == events && r.lost == lost && lost == 12 && r.births == 3 && r.deaths == 2 && r.untraced == 5,
	   "and says the same");
	is_u64(r.first[CTP_BIRTH_TS], 900, "a birth has the time that the target says");
	is_u64(r.wrong, 0, "all in its place, the event that came after the death by its time");
}

static void test_birth_bounds(void)
{
	struct memstream m;
	struct reading r = {0};
	memstream_open(&m, 1);
	memstream_allocate(&m, 1);
	put(memstream_station(&m, 0) + 0x00, 0x1001);
	put(memstream_station(&m, 0) + 0x08, UINT64_MAX); /* in the future */
	write_event(PLAIN, memstream_station(&m, 0), 0);
	ctp_harvest_last(m.harvest, true);
	memstream_close(&m, see, &r);
	ok(r.births == 1 && r.first[CTP_BIRTH_TS] == word(0, 0) && !r.wrong,
	   "a birth in the future is one before the first event");
}

/* A station that has been cold is found by scans alone, and by a sweep at once. */
static void test_sweep(void)
{
	struct memstream m;
	struct reading r = {0};
	uint64_t found = 0;
	memstream_open(&m, STATIONS);
	memstream_allocate(&m, STATIONS);
	for (uint32_t i = 0; i < STATIONS; i++)
		bear(&m, PLAIN, i);
	for (uint64_t start = ctp_clock_ns(); ctp_clock_ns() - start < 150000000;) /* until they are all cold */
		found += ctp_harvest_scan(m.harvest, NULL);
	is_u64(found, 0, "nothing from nothing");
	for (uint32_t i = 0; i < STATIONS; i += 3)
		write_event(PLAIN, memstream_station(&m, i), 0);
	is_u64(ctp_harvest_sweep(m.harvest, NULL), STATIONS / 3, "a sweep finds what is cold");
	for (uint32_t i = 1; i < STATIONS; i += 3)
		write_event(PLAIN, memstream_station(&m, i), 0);
	while (found < STATIONS / 3)
		found += ctp_harvest_scan(m.harvest, NULL);
	ok(true, "and so do scans, in time");
	ctp_harvest_last(m.harvest, true);
	memstream_close(&m, see, &r);
	ok(!r.wrong && r.events == STATIONS / 3 * 2 && !r.lost, "all of it in the stream");
}

/* An event during a scan is later than that scan's start. Its reader must not wait for an event that never comes. */
static void test_mark(void)
{
	struct memstream m;
	memstream_open(&m, 1);
	memstream_allocate(&m, 1);
	uint64_t ts = ctp_clock_ns() + 2000000;
	write_event(FIELD, memstream_station(&m, 0), 0);
	put(memstream_station(&m, 0) + 0x40, ts);
	ctp_harvest_scan(m.harvest, NULL);
	ctp_harvest_settle(m.harvest);
	ctp_harvest_sweep(m.harvest, NULL); /* a mark between the birth and the event */
	ctp_harvest_settle(m.harvest);
	while (ctp_clock_ns() <= ts + 2000000) /* an allowance is made for probes in flight */
		;
	ctp_harvest_sweep(m.harvest, NULL);
	ctp_harvest_settle(m.harvest);
	size_t pending = ctp_writer_pending(m.writer);
	ctp_harvest_sweep(m.harvest, NULL);
	ctp_harvest_settle(m.harvest);
	is_u64(ctp_writer_pending(m.writer), pending, "nothing new, no mark");
	memstream_close(&m, NULL, NULL);
	ok(m.mark_ns > ts, "but one beyond the last event");
}

/*
 * A probe reads the clock, and publishes its event a little later: a look that did not see the event must not promise the time between.
 * A look may take any time on a busy machine; the promise is for some time before its beginning.
 */
static void test_in_flight(void)
{
	enum { ALLOWED_NS = 1000000, LOOKS = 20 };
	struct memstream m;
	unsigned early = 0;
	memstream_open(&m, 1);
	memstream_allocate(&m, 1);
	uint64_t begin_ns = ctp_harvest_floor_ns(m.harvest);
	while (ctp_clock_ns() < begin_ns + 2 * ALLOWED_NS)
		;
	for (uint64_t k = 0; k < LOOKS; k++) {
		write_event(ORDERED, memstream_station(&m, 0), k);
		put(memstream_station(&m, 0) + 0x40 + k % 8 * 64, ctp_clock_ns());
		ctp_harvest_scan(m.harvest, NULL);
		uint64_t looked_ns = ctp_clock_ns();
		ctp_harvest_settle(m.harvest);
		early += ctp_harvest_floor_ns(m.harvest) + ALLOWED_NS > looked_ns;
	}
	is_u64(early, 0, "no look promises the last millisecond before it");
	ok(ctp_harvest_floor_ns(m.harvest) > begin_ns, "but what was before that");
	memstream_close(&m, NULL, NULL);
}

/* --- against writers that do not wait ------------------------------------------------------------------------------------ */

struct crowd {
	struct memstream m;
	enum writer kind;
	unsigned stations, done;
	uint64_t published;
};

static void *crowd_writer(void *arg)
{
	struct crowd *c = arg;
	uint64_t count[STATIONS] = {0};
	uint32_t random = 1;
	for (unsigned i = 0; i < c->stations; i++) {
		bear(&c->m, c->kind, i);
		memstream_allocate(&c->m, i + 1);
	}
	for (unsigned k = 0; k < 100000; k++) {
		if (k % 256 == 0) /* or it would be over before anybody looked */
			sched_yield();
		random = random * 1664525 + 1013904223;
		uint32_t i = random >> 8;
		i = i % 4 ? i % c->stations : i / 4 % 2 % c->stations; /* some are busier */
		write_event(c->kind, memstream_station(&c->m, i), count[i]++);
		c->published++;
	}
	for (unsigned i = 0; i < c->stations; i += 2)
		die(&c->m, i);
	__atomic_store_n(&c->done, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void test_crowd(enum writer kind, unsigned stations)
{
	struct crowd c = {.kind = kind, .stations = stations};
	struct reading r = {0};
	pthread_t thread;
	memstream_open(&c.m, STATIONS);
	if (pthread_create(&thread, NULL, crowd_writer, &c))
		exit(1);
	for (unsigned k = 0; !__atomic_load_n(&c.done, __ATOMIC_ACQUIRE); k++) {
		ctp_harvest_scan(c.m.harvest, NULL);
		if (k % 64 == 0)
			ctp_harvest_lives(c.m.harvest);
		if (k % 1024 == 0)
			ctp_harvest_sweep(c.m.harvest, NULL);
	}
	pthread_join(thread, NULL);
	ctp_harvest_last(c.m.harvest, true);
	struct ctp_harvest_stats s = *ctp_harvest_stats(c.m.harvest);
	bool whole = memstream_close(&c.m, see, &r);
	ok(whole && r.events + r.lost == c.published && r.events == s.events && r.lost == s.lost &&
	           r.unverified == s.unverified,
	   "%u stations, %s: exact, in the stream as in the totals", stations, writer_names[kind]);
	ok(r.wrong <= wrong_allowed(kind), "  every record right and in its place (%" PRIu64 " are not)", r.wrong);
	ok(r.births == stations && r.deaths == (stations + 1) / 2 && !r.conflicts, "  births and deaths");
	note("%" PRIu64 " published, %" PRIu64 " lost, %" PRIu64 " of them unverified", c.published, r.lost, r.unverified);
}

int main(void)
{
	test_lives();
	test_birth_bounds();
	test_sweep();
	test_mark();
	test_in_flight();
	for (enum writer kind = FIELD; kind < WRITERS; kind++) {
		test_crowd(kind, 1);
		test_crowd(kind, STATIONS);
	}
	return done_testing();
}
