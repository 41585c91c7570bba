/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * race.c - a reader against a writer that never waits, in thousands of short races and a few long ones.
 *
 * Of what is read every payload must be its event's own; the numbers of events and gaps must join without a hole, and at the
 * end they must add up to what was published. The test is itself tested: a reader that trusts an unchanged seq must be caught.
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>

#include "base/clock.h"
#include "collect/v1-station.h"
#include "rawprobe.h"
#include "tap.h"

/* --- the race ------------------------------------------------------------------------------------------------------------ */

struct race {
	_Alignas(1024) unsigned char station[1024];
	_Alignas(64) uint32_t turn; /* odd: the writer's; even: the reader's */
	enum writer kind;
	uint64_t count;  /* events to publish */
	unsigned spin;   /* most spins between two events */
	bool half, stop;
};

struct sum {
	uint64_t events, lost, unverified, wrong, holes;
};

static uint32_t random_next(uint32_t *state) { return *state = *state * 1664525 + 1013904223, *state >> 8; }

static void *writer(void *arg)
{
	struct race *r = arg;
	uint32_t random = 1;
	for (uint32_t turn = 1;; turn += 2) {
		while (__atomic_load_n(&r->turn, __ATOMIC_ACQUIRE) != turn)
			sched_yield();
		if (r->stop)
			return NULL;
		for (uint64_t i = 0; i < r->count; i++) {
			write_event(r->kind, r->station, i);
			for (volatile unsigned n = r->spin ? random_next(&random) % r->spin : 0; n; n--)
				;
		}
		if (r->half)
			write_half(r->kind, r->station, r->count);
		__atomic_store_n(&r->turn, turn + 1, __ATOMIC_RELEASE);
	}
}

static void check_rows(struct sum *sum, const struct ctp_v1_station *st, uint64_t *next, const struct ctp_row *rows, unsigned n)
{
	for (unsigned k = 0; k < n; k++) {
		const uint64_t *val = rows[k].val;
		uint64_t index = val[CTP_TRANSITION_INDEX];
		sum->holes += index != *next + (k ? 0 : st->gap);
		*next = index + 1;
		sum->wrong += val[CTP_TRANSITION_TS] != word(index, 0) || val[CTP_TRANSITION_TID] != word(index, 1) ||
		              val[CTP_TRANSITION_ADDR] != word(index, 2) ||
		              val[CTP_TRANSITION_ACTIVE] != word(index, 3) >> 63;
	}
	sum->events += n;
}

static void wait_drain(void)
{
	uint64_t until = ctp_clock_ns() + CTP_STATION_DRAIN_NS;
	while (ctp_clock_ns() < until)
		;
}

/*
 * The first of n rows is in doubt: it is believed if nothing was written until the writer had finished, and else counted. (With a
 * barrier: see v1-doubt.c.) Returns how many rows are left.
 */
static unsigned await_proof(const struct race *r, struct ctp_v1_station *st, struct ctp_row *rows, unsigned n, uint32_t turn)
{
	const struct ctp_shm_station *shm = (const void *)r->station;
	bool over = false;
	while (!over && ctp_v1_station_quiet(st, shm)) {
		sched_yield();
		over = __atomic_load_n(&r->turn, __ATOMIC_ACQUIRE) != turn;
	}
	unsigned bad = !(over && ctp_v1_station_quiet(st, shm));
	memmove(rows, rows + bad, (n - bad) * sizeof(*rows));
	st->doubt = false;
	st->gap += bad;
	st->gap_unverified += bad;
	return n - bad;
}

/* Lets the writer go and reads until it has finished and nothing more is found. */
static void run(struct race *r, struct sum *sum)
{
	struct ctp_v1_station st = {0};
	struct ctp_v1_station_seen seen = {{0}};
	const struct ctp_shm_station *shm = (const void *)r->station;
	struct ctp_row rows[CTP_STATION_ROWS];
	uint64_t next = 0, lost = 0, unverified = 0, events = sum->events;

	memset(r->station, 0, sizeof(r->station));
	write_birth(r->kind, r->station, 1, 1);
	uint32_t turn = r->turn + 1;
	__atomic_store_n(&r->turn, turn, __ATOMIC_RELEASE);
	for (bool gone = false, over = false; !over;) {
		gone = __atomic_load_n(&r->turn, __ATOMIC_ACQUIRE) != turn;
		uint64_t gap = st.gap;
		unsigned n = ctp_v1_station_visit(&st, shm, &seen, gone ? CTP_PROOF_GONE : CTP_PROOF_LATER, rows);
		over = gone && !n && st.gap == gap;
		if (n && st.doubt)
			n = await_proof(r, &st, rows, n, turn);
		if (n && !gone && ctp_v1_station_doubtful(&st)) { /* as harvest.c does, but with one station */
			unsigned maybe;
			wait_drain();
			unsigned bad = ctp_v1_station_recheck(&st, shm, st.next - n, n, &maybe);
			memmove(rows, rows + bad, (n -= bad) * sizeof(*rows));
			st.gap += bad;
			st.gap_unverified += maybe;
		}
		if (n) {
			check_rows(sum, &st, &next, rows, n);
			lost += st.gap;
			unverified += st.gap_unverified;
			st.gap = st.gap_unverified = 0;
		}
	}
	lost += st.gap;
	unverified += st.gap_unverified;
	ctp_v1_station_audit(&st, shm, &seen);
	sum->lost += lost;
	sum->unverified += unverified;
	sum->holes += sum->events - events + lost != r->count || st.flags & CTP_STATION_CONFLICT;
}

/* Runs up to that many races, as long as the time allows: each begins only when the writer gets a processor. */
static void races(struct race *r, enum writer kind, unsigned rounds)
{
	struct sum sum = {0};
	uint64_t published = 0, until = ctp_clock_ns() + UINT64_C(20000000000);
	uint32_t random = 7;
	r->kind = kind;
	for (unsigned k = 0; k < rounds && ctp_clock_ns() < until; k++) {
		r->count = 1 + random_next(&random) % (k % 100 ? 100 : 20000);
		r->spin = k % 3 * k % 100;
		r->half = k % 2;
		run(r, &sum);
		published += r->count;
	}
	is_u64(sum.events + sum.lost, published, writer_names[kind]);
	ok(sum.wrong <= wrong_allowed(kind), "  every payload is its event's own (%" PRIu64 " are not)", sum.wrong);
	is_u64(sum.holes, 0, "  events and gaps join in each race, and no second writer is reported");
	ok(sum.events && sum.lost, "  it was a race");
	note("%" PRIu64 " published, %" PRIu64 " read, %" PRIu64 " lost, %" PRIu64 " of them unverified", published, sum.events,
	     sum.lost, sum.unverified);
}

/*
 * What the plain dialect's document tells a reader to do, plus a re-read of seq: it is still wrong, and the test must see that.
 */
static bool naive_is_caught(struct race *r)
{
	r->kind = PLAIN;
	r->count = 1000000;
	r->spin = 0;
	r->half = false;
	for (unsigned round = 0; round < 100; round++) {
		memset(r->station, 0, sizeof(r->station));
		uint32_t turn = r->turn + 1;
		uint64_t wrong = 0, seen[8] = {0};
		__atomic_store_n(&r->turn, turn, __ATOMIC_RELEASE);
		while (__atomic_load_n(&r->turn, __ATOMIC_ACQUIRE) == turn) {
			for (unsigned slot = 0; slot < 8; slot++) {
				uint64_t *at = (uint64_t *)(void *)(r->station + 0x40 + slot * 64);
				uint64_t seq = __atomic_load_n(at + 3, __ATOMIC_ACQUIRE);
				uint64_t ts = __atomic_load_n(at, __ATOMIC_RELAXED);
				uint64_t addr = __atomic_load_n(at + 2, __ATOMIC_RELAXED);
				__atomic_thread_fence(__ATOMIC_ACQUIRE);
				if (seq == seen[slot] || __atomic_load_n(at + 3, __ATOMIC_RELAXED) != seq)
					continue;
				seen[slot] = seq;
				wrong += ts != word(seq - 1, 0) || addr != word(seq - 1, 2);
			}
		}
		if (wrong)
			return true;
	}
	return false;
}

int main(int argc, char **argv)
{
	static struct race r;
	unsigned rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 2000;
	pthread_t thread;
	if (pthread_create(&thread, NULL, writer, &r))
		return 1;
	ok(naive_is_caught(&r), "a reader that trusts an unchanged seq is caught with a wrong payload");
	for (enum writer kind = FIELD; kind < WRITERS; kind++)
		races(&r, kind, rounds);
	r.stop = true;
	__atomic_store_n(&r.turn, r.turn + 1, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	return done_testing();
}
