/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * rings-more.c - what a collector says of the time before it came and after it left, of who waits for whom, and of who does
 * something after its end: nothing that it cannot know.
 */

#include "base/clock.h"
#include "memstream.h"
#include "rawring.h"
#include "tap.h"

struct world {
	struct rawmem mem;
	struct memstream m;
	struct rawring ring;
	struct rawcoro co;
};

struct reading {
	uint64_t events, lost, missed, births, deaths, names, unborn;
	uint64_t awaits, targets[16], joins[16], suspended; /* suspended: awaits that came before it */
	uint64_t wakes, how[16], by[16];
	uint64_t by_first, by_first_next, death_ns, conflicts, conflict_coro; /* by_first: events of number 1; due next */
};

static void see(void *arg, const char *cls, const uint64_t *val)
{
	struct reading *r = arg;
	r->events += !strcmp(cls, "transition");
	r->unborn += !strcmp(cls, "transition") && !r->births;
	r->lost += strcmp(cls, "lost") ? 0 : val[CTP_LOST_COUNT];
	r->missed += strcmp(cls, "missed") ? 0 : val[CTP_MISSED_COUNT];
	r->births += !strcmp(cls, "birth");
	r->deaths += !strcmp(cls, "death");
	r->names += !strcmp(cls, "name");
	if (!strcmp(cls, "await") && val[CTP_AWAIT_CORO] == 1 && val[CTP_AWAIT_PROBE] == 1) {
		r->joins[r->awaits % 16] = val[CTP_AWAIT_JOINS];
		r->targets[r->awaits++ % 16] = val[CTP_AWAIT_TARGET];
	}
	if (!strcmp(cls, "wake")) {
		r->how[r->wakes % 16] = val[CTP_WAKE_HOW];
		r->by[r->wakes++ % 16] = val[CTP_WAKE_BY];
	}
	if (!strcmp(cls, "transition"))
		r->suspended = r->awaits;
	if (!strcmp(cls, "transition") && val[CTP_TRANSITION_CORO] == 1) {
		r->by_first++;
		r->by_first_next = val[CTP_TRANSITION_INDEX] + 1;
	}
	if (!strcmp(cls, "death") && val[CTP_DEATH_CORO] == 1)
		r->death_ns = val[CTP_DEATH_BEFORE];
	if (!strcmp(cls, "conflict")) {
		r->conflicts++;
		r->conflict_coro = val[CTP_CONFLICT_CORO];
	}
}

/* A memory that records, with rings of 8 entries, and no collector yet. */
static void make(struct world *w)
{
	*w = (struct world){.ring.clock = ctp_clock_ns};
	rawmem_plan(&w->mem, 16, 2, 3);
	void *base = mmap(NULL, w->mem.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (base == MAP_FAILED)
		abort();
	rawmem_make(&w->mem, base, 33);
	raw_claim(&w->ring, &w->mem, 0, 4711, 4711);
}

/* A collector comes: what is in the ring is not for it. */
static void attach(struct world *w)
{
	struct ctp_harvest_conf conf = {.shm = w->mem.base, .bytes = w->mem.bytes, .max_stations = 16, .attach = true};
	release64(w->ring.ring + 0x40, w->ring.head);
	memstream_start(&w->m, &conf);
	ctp_harvest_scan(w->m.harvest, NULL);
}

static struct reading leave(struct world *w)
{
	struct reading r = {0};
	ctp_harvest_last(w->m.harvest, false);
	memstream_close(&w->m, see, &r);
	return r;
}

/* What it does for itself alone, while nobody reads its ring. */
static void record(struct world *w, unsigned n)
{
	for (; n; n--) {
		raw_slot(&w->co, ctp_clock_ns(), 4711, 1, (uint32_t)w->co.events);
		w->co.events++;
	}
}

static void test_after(void)
{
	struct world w;
	make(&w);
	raw_birth(&w.ring, &w.co, 1, 0);
	attach(&w);
	raw_event(&w.ring, &w.co, RAW_RESUME, 0, 0, true);
	ctp_harvest_scan(w.m.harvest, NULL);
	record(&w, 1000); /* the probes know already that we leave */
	struct reading r = leave(&w);
	ok(r.lost == 0, "what happens when we have left is not lost: %llu are", (unsigned long long)r.lost);
}

static void test_before(void)
{
	struct world w;
	make(&w);
	raw_birth(&w.ring, &w.co, 1, 0);
	while (w.ring.lost_notes < 100) /* whoever read the ring was killed */
		raw_wake(&w.ring, w.co.ref, 0);
	attach(&w);
	raw_event(&w.ring, &w.co, RAW_RESUME, 0, 0, true);
	struct reading r = leave(&w);
	ok(r.events == 1 && r.missed == 0, "nor is what had no room before we came missed: %llu are", (unsigned long long)r.missed);
}

static void test_late_birth(void)
{
	struct world w;
	make(&w);
	attach(&w);
	uint32_t index = raw_take_station(&w.mem);
	unsigned char *st = raw_station(&w.mem, index);
	w.co = (struct rawcoro){.station = st, .index = index, .ref = UINT64_C(1) << 32 | (index + 1)};
	put32(st + 0x248, 1);
	put64(st, 1);
	release64(st + 0x240, UINT64_C(0x2b505443) | UINT64_C(3) << 32);
	raw_entry(&w.ring, ctp_clock_ns(), 1, w.co.ref, (uint64_t)RAW_BIRTH << 56); /* it was born before, and when is not known */
	raw_event(&w.ring, &w.co, RAW_RESUME, 0, 0, true);
	struct reading r = leave(&w);
	ok(r.events == 1 && r.births == 1 && !r.unborn, "a birth whose time is not known comes before the events");
}

static void test_name(void)
{
	struct world w;
	make(&w);
	raw_birth(&w.ring, &w.co, 1, 0);
	put32(w.co.station + 0x298, 65534); /* those who had the station before had names */
	raw_name(&w.ring, &w.co, "x");
	attach(&w);
	struct reading r = leave(&w);
	ok(r.names == 1, "a name counts, however many the station has had");
	make(&w);
	raw_birth(&w.ring, &w.co, 1, 0);
	raw_name(&w.ring, &w.co, "x");
	put32(w.co.station + 0x298, raw32(w.co.station + 0x298) + 1);
	attach(&w);
	r = leave(&w);
	ok(r.births == 1 && r.names == 0, "half of a name is not taken for a name");
}

enum { AWAIT = 9, UNKNOWN = 200 };

static void say(struct world *w, unsigned kind, uint64_t ref, uint64_t value, uint32_t number)
{
	raw_entry(&w->ring, w->ring.clock(), value, ref, (uint64_t)kind << 56 | number);
	ctp_harvest_scan(w->m.harvest, NULL);
}

static void test_await(void)
{
	struct world w;
	struct rawcoro other, next;
	make(&w);
	attach(&w);
	raw_birth(&w.ring, &w.co, 1, 0);
	raw_birth(&w.ring, &other, 2, 0);
	say(&w, AWAIT, w.co.ref, other.ref, 0);
	raw_event(&w.ring, &w.co, RAW_SUSPEND, 1, 0, true);
	say(&w, UNKNOWN, w.co.ref, other.ref, 0);
	raw_death(&w.ring, &other);
	ctp_harvest_scan(w.m.harvest, NULL);
	raw_birth(&w.ring, &next, 3, 0);
	say(&w, AWAIT, w.co.ref, next.ref, 0);
	say(&w, AWAIT, w.co.ref, other.ref, 0);                      /* the one before in that station */
	say(&w, AWAIT, w.co.ref, next.ref + (UINT64_C(5) << 32), 0); /* nobody yet */
	say(&w, AWAIT, w.co.ref, UINT32_MAX, 0);
	say(&w, AWAIT, UINT64_C(7) << 32 | 9, w.co.ref, 0); /* who says that? */
	while (w.ring.lost_notes < 3)
		raw_entry(&w.ring, ctp_clock_ns(), w.co.ref, w.co.ref, (uint64_t)AWAIT << 56);
	struct reading r = leave(&w);
	ok(next.index == other.index && r.suspended == 1 && r.targets[0] == 2, "whom a suspension waits for is said before it");
	ok(r.targets[1] == 3 && r.targets[2] == 2, "by its number in the stream, although stations are used again");
	ok(r.targets[3] == 0 && r.targets[4] == 0 && r.awaits == 5 + 8, "0 for nobody that is known, and nothing of nobody");
	is_u64(r.missed, 3, "one that had no room is missed");
}

/* Whether only the end of its target ends an await: 1, and bits that nobody knows yet. */
static void test_joins(void)
{
	struct world w;
	make(&w);
	attach(&w);
	raw_birth(&w.ring, &w.co, 1, 0);
	static const uint32_t told[] = {0, 1, 0xfffffffe, 0xffffffff};
	for (unsigned i = 0; i < 4; i++)
		say(&w, AWAIT, w.co.ref, w.co.ref, told[i]);
	struct reading r = leave(&w);
	ok(r.awaits == 4 && !r.joins[0] && r.joins[1] == 1 && !r.joins[2] && r.joins[3] == 1, "an await that joins, and no other");
}

/* What a station says when a collector comes: event 9 is the last, of this kind, and the words are of an event and a generation. */
struct last {
	unsigned kind;
	uint64_t event;
	uint32_t generation, marks;
	enum { ALL_SLOTS, NONE_OF_EIGHT, TEN_HAS_BEGUN } slots; /* NONE_OF_EIGHT: event 8 is in no slot */
};

static void record_ten(struct world *w, const struct last *last)
{
	record(w, last->slots == NONE_OF_EIGHT ? 8 : 9);
	w->co.events += last->slots == NONE_OF_EIGHT;
	raw_slot(&w->co, ctp_clock_ns(), 4711, 1, (uint64_t)last->kind << 56 | 9);
	if (last->slots == TEN_HAS_BEGUN)
		put64(w->co.station + 0x40 + 10 % 8 * 64 + 0x18, 10 / 8 * 2 + 1);
}

/* How many awaits the collector reads of. */
static uint64_t last_awaits_marked(const struct last *last, uint64_t *target, uint64_t *joins)
{
	struct world w;
	struct rawcoro other;
	make(&w);
	raw_birth(&w.ring, &w.co, 1, 0);
	raw_birth(&w.ring, &other, 2, 0);
	put64(w.co.station + 0x300, other.ref);
	put64(w.co.station + 0x308, last->event);
	put32(w.co.station + 0x310, last->generation);
	put32(w.co.station + 0x314, last->marks);
	record_ten(&w, last);
	attach(&w);
	struct reading r = leave(&w);
	*target = r.suspended == 1 ? r.targets[0] : 0;
	*joins = r.joins[0];
	return r.awaits;
}

static uint64_t last_awaits(struct last last, uint64_t *target)
{
	uint64_t joins;
	return last_awaits_marked(&last, target, &joins);
}

static uint64_t last_joins(uint32_t marks)
{
	uint64_t target, joins;
	uint64_t awaits = last_awaits_marked(&(struct last){RAW_SUSPEND, 9, 1, marks, ALL_SLOTS}, &target, &joins);
	return awaits == 1 && target == 2 ? joins : 99;
}

static void test_last_await(void)
{
	uint64_t target;
	ok(last_awaits((struct last){RAW_SUSPEND, 9, 1, 0, ALL_SLOTS}, &target) == 1 && target == 2,
	   "the last states have the coroutine that the last suspension waits for");
	is_u64(last_awaits((struct last){RAW_SUSPEND, 7, 1, 0, ALL_SLOTS}, &target), 0, "but not if it was said of one before,");
	is_u64(last_awaits((struct last){RAW_SUSPEND, 7, 1, 0, NONE_OF_EIGHT}, &target), 0, "also if event 8 is in no slot,");
	is_u64(last_awaits((struct last){RAW_SUSPEND, 10, 1, 0, ALL_SLOTS}, &target), 0, "of one that has not come yet,");
	is_u64(last_awaits((struct last){RAW_SUSPEND, 9, 0, 0, ALL_SLOTS}, &target), 0, "of another coroutine's,");
	is_u64(last_awaits((struct last){RAW_RESUME, 9, 1, 0, ALL_SLOTS}, &target), 0, "if it is a resumption,");
	is_u64(last_awaits((struct last){RAW_SUSPEND, 9, 1, 0, TEN_HAS_BEGUN}, &target), 0, "or if the next event has begun");
	is_u64(last_joins(1 << 8 | 0xff), 1, "and whether it joins,");
	ok(!last_joins(1 << 8 | 0xfe) && !last_joins(2 << 8 | 1) && !last_joins(1), "unless that is not known");
}

/* How a wake was told: 1 leaving, 2 yield, 4 stayed, and bits that nobody knows yet. */
static void test_marks(void)
{
	static const struct {
		bool itself;
		uint32_t marks, how;
	} told[] = {{false, 0, CTP_WAKE_CALL},  {false, 1, CTP_WAKE_LEAVING},       {true, 2, CTP_WAKE_YIELD}, {true, 1, CTP_WAKE_YIELD},
	            {true, 0, CTP_WAKE_YIELD},  {true, 3, CTP_WAKE_YIELD},          {true, 4, CTP_WAKE_STAYED}, {true, 7, CTP_WAKE_STAYED},
	            {false, ~7u, CTP_WAKE_CALL}, {false, ~6u, CTP_WAKE_LEAVING}};
	const unsigned n = sizeof told / sizeof *told;
	struct world w;
	struct rawcoro other;
	unsigned right = 0;
	make(&w);
	attach(&w);
	raw_birth(&w.ring, &w.co, 1, 0);
	raw_birth(&w.ring, &other, 2, 0);
	for (unsigned i = 0; i < n; i++)
		say(&w, RAW_WAKE, w.co.ref, told[i].itself ? w.co.ref : other.ref, told[i].marks);
	struct reading r = leave(&w);
	for (unsigned i = 0; i < n; i++)
		right += r.how[i] == told[i].how && r.by[i] == (told[i].itself ? 1 : 2);
	ok(r.wakes == n && right == n, "how a wake was told, and no more than is known of it");
}

/* One of the last wakes, for a collector that comes later. */
static void leave_wake(struct world *w, unsigned k, uint64_t generation, uint64_t ts, uint32_t marks)
{
	uint8_t *wake = w->co.station + 0x340 + 0x20 * k;
	put64(wake, ts);
	put32(wake + 0x14, marks);
	put64(wake + 0x18, generation);
}

/* How the last wake was told; 99: not at all. */
static uint64_t last_how(uint64_t generation, uint32_t marks)
{
	struct world w;
	make(&w);
	raw_birth(&w.ring, &w.co, 1, 0);
	record(&w, 1);
	leave_wake(&w, 2, generation, ctp_clock_ns(), marks);
	attach(&w);
	struct reading r = leave(&w);
	return r.wakes == 1 ? r.how[0] : 99;
}

static void test_last_wakes(void)
{
	is_u64(last_how(1, 2), CTP_WAKE_YIELD, "that is among the last states");
	is_u64(last_how(1, 0xfff9), CTP_WAKE_LEAVING, "what is not known is ignored");
	is_u64(last_how(2, 2), 99, "and what another coroutine has left there,");
	is_u64(last_how(1ull << 32 | 1, 2), 99, "whichever that is");
	struct world w;
	make(&w);
	raw_birth(&w.ring, &w.co, 1, 0);
	record(&w, 1);
	uint64_t ts = ctp_clock_ns();
	for (unsigned k = 0; k < 4; k++)
		leave_wake(&w, k, 1, ts + (k + 2) % 4, k);
	attach(&w);
	struct reading r = leave(&w);
	ok(r.wakes == 4 && r.how[0] == CTP_WAKE_YIELD && r.how[2] == CTP_WAKE_CALL && r.how[3] == CTP_WAKE_LEAVING,
	   "the last four are told, in the order of time");
}

/* A handle that is used after its coroutine's end, when another has the station, and another. */
static void test_stale(void)
{
	struct world w;
	struct rawcoro handle, next;
	make(&w);
	attach(&w);
	raw_birth(&w.ring, &w.co, 1, 0);
	raw_event(&w.ring, &w.co, RAW_RESUME, 0, 0, true);
	raw_event(&w.ring, &w.co, RAW_SUSPEND, 1, 0, true);
	handle = w.co;
	raw_death(&w.ring, &w.co);
	ctp_harvest_scan(w.m.harvest, NULL);
	raw_birth(&w.ring, &next, 2, 0);
	raw_event(&w.ring, &next, RAW_RESUME, 0, 0, true);
	raw_event(&w.ring, &handle, RAW_RESUME, 0, 0, true);
	raw_death(&w.ring, &next);
	ctp_harvest_scan(w.m.harvest, NULL);
	raw_birth(&w.ring, &next, 3, 0);
	raw_event(&w.ring, &handle, RAW_SUSPEND, 0, 0, true);
	raw_event(&w.ring, &handle, RAW_RESUME, 0, 0, true);
	struct reading r = leave(&w);
	ok(next.index == handle.index && r.by_first == 3 && r.by_first_next == 3, "an event after the end is told of the one that died");
	ok(r.conflicts == 1 && r.conflict_coro == 3, "of one that is dead for long, of whoever has its station now");
	is_u64(r.events + r.lost, 4, "and nobody else's is more or less");
}

static void test_end(void)
{
	struct world w;
	make(&w);
	attach(&w);
	raw_birth(&w.ring, &w.co, 1, 0);
	raw_event(&w.ring, &w.co, RAW_RESUME, 0, 0, true);
	struct rawcoro handle = w.co;
	struct rawring another = {.ts = ctp_clock_ns()};
	raw_claim(&another, &w.mem, 1, 4711, 4712);
	uint64_t end_ns = another.ts;
	raw_event(&w.ring, &handle, RAW_RESUME, 0, 0, true);
	raw_death(&another, &w.co);
	struct reading r = leave(&w);
	ok(r.by_first == 2 && r.death_ns == end_ns, "an event after the end does not move it, although it is heard of first");
}

int main(void)
{
	test_after();
	test_before();
	test_late_birth();
	test_name();
	test_await();
	test_last_await();
	test_joins();
	test_marks();
	test_last_wakes();
	test_stale();
	test_end();
	return done_testing();
}
