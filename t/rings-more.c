/*
 * rings-more.c - what a collector says of the time before it came and after it left: nothing that it cannot know.
 */

#include "clock.h"
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
}

/* A memory that records, with one ring of 8 entries, and no collector yet. */
static void make(struct world *w)
{
	*w = (struct world){.ring.clock = ctp_clock_ns};
	rawmem_plan(&w->mem, 16, 1, 3);
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
}

int main(void)
{
	test_after();
	test_before();
	test_late_birth();
	test_name();
	return done_testing();
}
