/*
 * hostile.c - shared memory that somebody fills with anything, while it is harvested: nothing breaks, nothing hangs, nothing
 * grows.
 */
#include <pthread.h>

#include "memstream.h"
#include "tap.h"

enum { STATIONS = 512, WRITES = 3000000 };

static uint64_t random_next(uint64_t *x) { return *x ^= *x << 13, *x ^= *x >> 7, *x ^= *x << 17; }

/* Values that a reader might stumble over. */
static uint64_t nasty(uint64_t *x)
{
	uint64_t r = random_next(x);
	switch (r >> 8 & 7) {
	case 0: return r >> (r & 63);
	case 1: return 0;
	case 2: return UINT64_MAX - (r >> 60);
	case 3: return UINT64_C(1) << (r & 63);
	case 4: return 2 * (r >> 59);
	case 5: return r >> 60;
	default: return (r >> 56) % 64;
	}
}

struct vandal {
	unsigned char *shm;
	unsigned mode;
	uint64_t writes;
	bool stop;
};

static void *vandal(void *arg)
{
	struct vandal *v = arg;
	uint64_t x = 88172645463325252;
	while (!__atomic_load_n(&v->stop, __ATOMIC_RELAXED)) {
		uint64_t at = random_next(&x), station = at % STATIONS;
		size_t word = v->mode == 0 ? at / STATIONS % 128 : 8 + at / STATIONS % 8 * 8 + 3; /* anywhere; the seqs */
		uint64_t *p = (uint64_t *)(void *)(v->shm + 1024 + station * 1024) + word;
		uint64_t old = __atomic_load_n(p, __ATOMIC_RELAXED);
		__atomic_store_n(p, v->mode < 2 ? nasty(&x) : old + at % 5 - 1, __ATOMIC_RELAXED);
		__atomic_store_n((uint32_t *)(void *)(v->shm + 0x10), (uint32_t)nasty(&x), __ATOMIC_RELAXED);
		__atomic_fetch_add(&v->writes, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void count(void *arg, const char *cls, const uint64_t *val)
{
	(void)val;
	if (!strcmp(cls, "conflict"))
		++*(uint64_t *)arg;
}

static void test_vandal(unsigned mode, const char *name)
{
	struct memstream m;
	struct vandal v = {.mode = mode};
	pthread_t thread;
	uint64_t conflicts = 0, found = 0;
	memstream_open(&m, STATIONS);
	v.shm = m.shm;
	if (pthread_create(&thread, NULL, vandal, &v))
		exit(1);
	unsigned rounds = 0;
	for (; __atomic_load_n(&v.writes, __ATOMIC_RELAXED) < WRITES; rounds++) {
		found += ctp_harvest_scan(m.harvest, NULL);
		if (rounds % 16 == 0)
			ctp_harvest_lives(m.harvest);
		if (rounds % 32 == 0)
			ctp_harvest_sweep(m.harvest);
	}
	ctp_harvest_last(m.harvest, false);
	__atomic_store_n(&v.stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	struct ctp_harvest_stats s = *ctp_harvest_stats(m.harvest);
	size_t len = m.len;
	ok(s.stations <= STATIONS && s.births <= STATIONS && s.deaths <= STATIONS && s.conflicts <= STATIONS,
	   "%s: no more stations, births, deaths, conflicts than can be", name);
	/* A visit gives at most 8 rows; a death, and the end twice, have at most 64 visits. */
	ok(s.events <= UINT64_C(8) * STATIONS * (rounds + rounds / 8 + 3 * 64), "  and a bounded number of events");
	ok(memstream_close(&m, count, &conflicts) && conflicts == s.conflicts, "  the stream is whole");
	note("%u looks: %" PRIu64 " found, %" PRIu64 " events, %" PRIu64 " conflicts, %zu bytes", rounds, found,
	     s.events, s.conflicts, len);
}

/* A count from nowhere, and nothing behind it. */
static void test_count(void)
{
	struct memstream m;
	memstream_open(&m, STATIONS);
	memstream_allocate(&m, UINT32_MAX);
	ctp_harvest_scan(m.harvest, NULL);
	memstream_allocate(&m, 3);
	ctp_harvest_scan(m.harvest, NULL);
	ctp_harvest_last(m.harvest, true);
	struct ctp_harvest_stats s = *ctp_harvest_stats(m.harvest);
	ok(s.stations == STATIONS && !s.events && !s.lost && !s.births && s.untraced == UINT32_MAX - STATIONS,
	   "an absurd count is a number and no more");
	ok(memstream_close(&m, NULL, NULL), "  the stream is whole");
}

int main(void)
{
	test_vandal(0, "nonsense anywhere");
	test_vandal(1, "nonsense for seq");
	test_vandal(2, "seq forwards and backwards");
	test_count();
	return done_testing();
}
