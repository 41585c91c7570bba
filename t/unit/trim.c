/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * trim.c - a collector that leaves gives back pages of rings, while threads go on writing: no collector that
 * comes later finds an incomplete entry.
 */
#include "ctp.h"

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <sys/stat.h>

#include "shm/memory.h"
#include "shm/rings.h"
#include "tap.h"

enum { WRITERS = 6, ROUNDS = 40, ENTRIES = 4000, QUOTA = 10000, BITS = 14 };
static const uint64_t PLACE = UINT64_C(0x5000000000);

static bool over;
static unsigned visits;
static struct ctp_coro coros[WRITERS];

/* An event's words follow from its number, so half an entry is noticed. */
static void *writer(void *arg)
{
	struct ctp_coro *co = arg;
	ctp_coro_new(co, (uint64_t)(co - coros) + 1);
	unsigned left = 0, seen = 0, now;
	for (uint64_t k = 0; !__atomic_load_n(&over, __ATOMIC_RELAXED); k += 2) {
		while (!left-- && !__atomic_load_n(&over, __ATOMIC_RELAXED)) { /* this round is over */
			now = __atomic_load_n(&visits, __ATOMIC_ACQUIRE);
			left = now != seen ? QUOTA : 0;
			seen = now;
			sched_yield();
		}
		ctp_coro_resume(co);
		ctp_coro_suspend_at(co, (const void *)(uintptr_t)(PLACE + k + 1), NULL);
	}
	return NULL;
}

static bool is_whole(const struct ctp_ring_entry *e)
{
	unsigned kind = CTP_ENTRY_KIND(e->what);
	if (kind == CTP_ENTRY_BIRTH || kind == CTP_ENTRY_GAP || kind == CTP_ENTRY_THREAD)
		return true;
	uint64_t want = kind == CTP_ENTRY_SUSPEND ? PLACE + CTP_ENTRY_NUMBER(e->what) : 0;
	return kind <= CTP_ENTRY_RESUME && CTP_REF_GENERATION(e->ref) && CTP_REF_INDEX(e->ref) < WRITERS && e->value == want;
}

/* Reads all entries; returns their number. */
static uint64_t take(struct ctp_rings *r, bool all, uint64_t *bad)
{
	struct ctp_ring_entry entries[CTP_RINGS_CHUNK];
	struct ctp_ring *ring;
	uint64_t taken = 0;
	unsigned n;
	ctp_rings_look(r, all);
	while (ctp_rings_slice(r))
		while ((n = ctp_rings_take(r, &ring, entries)))
			for (taken += n; n--;)
				*bad += !is_whole(&entries[n]);
	ctp_rings_finish(r);
	return taken;
}

static uint64_t kib(int fd)
{
	struct stat st;
	return fstat(fd, &st) ? UINT64_MAX : (uint64_t)st.st_blocks / 2;
}

struct world {
	struct ctp_memory shm;
	struct ctp_arena arena;
};

/* One visit. Returns the largest size of its memory, in KiB. */
static uint64_t visit(struct world *v, uint32_t mode, uint64_t *bad)
{
	struct ctp_rings r;
	struct ctp_err err;
	ctp_arena_open(&v->arena, CTP_MODE_RECORD | CTP_MODE_RINGS | CTP_MODE_MEMBARRIER | mode, 0, NULL);
	if (ctp_rings_init(&r, v->shm.base, v->shm.bytes, &err))
		exit(1);
	__atomic_fetch_add(&visits, 1, __ATOMIC_RELEASE); /* not before: what writers write without us does not come into rings */
	for (uint64_t taken = 0; taken < ENTRIES;)
		taken += take(&r, false, bad);
	ctp_arena_close(&v->arena, CTP_MODE_RECORD);
	take(&r, true, bad);
	uint64_t most = kib(v->shm.fd);
	ctp_arena_trim(&v->arena, v->shm.fd);
	ctp_rings_fini(&r);
	return most;
}

/* --- a thread that is in the middle of an entry, by hand ------------------------------------------------------------------ */

/* It has written the first half of entry number n before the pages go, the second after; and the next entry, which may be on another page. */
static bool survives(const struct ctp_memory *shm, struct ctp_arena *a, uint64_t n)
{
	struct ctp_shm_entry *entry = &a->entries[n & ((1 << BITS) - 1)];
	entry->ts = 7;
	entry->value = 8;
	ctp_arena_trim(a, shm->fd);
	entry->ref = 9;
	entry->what = 10;
	return entry->ts == 7 && entry->value == 8;
}

static void fill(struct ctp_arena *a)
{
	memset(a->entries, 1, sizeof *a->entries << BITS);
}

static void test_places(void)
{
	struct ctp_memory shm;
	struct ctp_arena a;
	struct ctp_err err;
	const uint64_t size = 1 << BITS, lap = 5 * size;
	struct ctp_memory_conf conf = {.max_stations = 16, .ring_events = 1 << BITS};
	if (ctp_memory_init(&shm, &conf, &err) || ctp_arena_find(&a, shm.base, shm.bytes, &err))
		exit(1);
	struct ctp_shm_ring *ring = &a.rings[0];
	uint64_t wrong = 0;
	a.header->rings_used = 1;
	for (uint64_t k = 0; k < size; k += 97) {
		fill(&a);
		ring->head = lap + k;
		ring->back_from = ring->back_to = 0;
		for (unsigned more = 0; more < 3; more++) /* those of one call */
			wrong += !survives(&shm, &a, lap + k + more);
	}
	ok(!wrong, "the entry at the head, and the following ones of the same call, are whole (%" PRIu64 " are not)", wrong);
	fill(&a);
	ring->head = lap + 4096;
	wrong = !survives(&shm, &a, lap + size) + !survives(&shm, &a, lap + size + 2);
	ok(!wrong, "an entry at the beginning of the ring, where a writer goes back to, is whole");
	fill(&a);
	ring->back_from = lap + 8192;
	ring->back_to = lap + size;
	ring->head = lap + size + 4096;
	wrong = !survives(&shm, &a, lap + 8192) + !survives(&shm, &a, lap + 8192 + 2);
	ok(!wrong, "an entry where the writer was before, and continues, is whole");
	fill(&a);
	uint64_t before = kib(shm.fd);
	ctp_arena_trim(&a, shm.fd);
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE) / 1024, whole = size * sizeof *a.entries / 1024;
	ok(before - kib(shm.fd) >= whole - 6 * page, "the rest of %" PRIu64 " KiB is given back: %" PRIu64, whole, kib(shm.fd));
	ctp_memory_fini(&shm);
}

int main(void)
{
	if (!ctp_membarrier()) {
		puts("1..0 # SKIP there is no membarrier");
		return 0;
	}
	test_places();
	struct world v;
	struct ctp_err err;
	struct ctp_memory_conf conf = {.max_stations = 16, .ring_events = 1 << 16};
	pthread_t thread[WRITERS];
	if (ctp_memory_init(&v.shm, &conf, &err) || ctp_arena_find(&v.arena, v.shm.base, v.shm.bytes, &err))
		exit(1);
	setenv("CTP_SHM_PATH", v.shm.path, 1);
	setenv("CTP_MAX_STATIONS", "16", 1);
	unsetenv("CTP_SOCK_PATH");
	ctp_arena_open(&v.arena, CTP_MODE_RECORD, 0, NULL);
	if (!ctp_init())
		exit(1);
	for (int i = 0; i < WRITERS; i++)
		if (pthread_create(&thread[i], NULL, writer, &coros[i]))
			exit(1);
	uint64_t bad = 0, most = 0, least = UINT64_MAX, left = 0;
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t during = visit(&v, i % 2 ? CTP_MODE_SKIPS : 0, &bad), after = kib(v.shm.fd);
		most = during > most ? during : most;
		least = after < least ? after : least;
		left = after > left ? after : left;
	}
	__atomic_store_n(&over, true, __ATOMIC_RELAXED);
	for (int i = 0; i < WRITERS; i++)
		pthread_join(thread[i], NULL);
	ok(!bad, "each entry is whole (%" PRIu64 " were not)", bad);
	/* Header and stations, sites, descriptors, which a probe takes in pieces; of each ring three places, of which one may be on two pages. */
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE) / 1024;
	uint64_t rings = __atomic_load_n(&v.arena.header->rings_used, __ATOMIC_RELAXED);
	ok(left <= 3 * CTP_RESERVE_ / 1024 + (8 + rings * 6) * page,
	   "little memory is left: %" PRIu64 " to %" PRIu64 " KiB, of %" PRIu64, least, left, most);
	ctp_memory_fini(&v.shm);
	return done_testing();
}
