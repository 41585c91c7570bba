/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* Which thread runs a coroutine, by the rings; and the times of the newest events, of one process and of all. */
#include "collect/thread-runs.h"
#include "ringworld.h"
#include "tap.h"

static void test_runs(void)
{
	struct world w;
	struct rawcoro a, b, c;
	struct ctp_thread_run run = {0};
	world_open(&w, 8, 8);
	raw_claim(&w.ring[0], &w.mem, 0, 100, 101);
	raw_birth(&w.ring[0], &a, 1, 0);
	raw_birth(&w.ring[0], &b, 2, 0);
	raw_birth(&w.ring[0], &c, 3, 0);
	scan(&w, 4);
	is_u64(ctp_harvest_rings(w.m.harvest), 1, "there is one ring");
	ok(!ctp_harvest_run(w.m.harvest, 0, &run), "without a resume no thread is in a run");
	uint64_t before_ns = ctp_clock_ns();
	raw_event(&w.ring[0], &a, 1, 0, 0, true);
	uint64_t after_ns = ctp_clock_ns();
	ok(!ctp_harvest_run(w.m.harvest, 0, &run), "a resume that was not read yet is unknown");
	scan(&w, 4);
	ok(ctp_harvest_run(w.m.harvest, 0, &run) && run.tid == 101 && run.since_ns >= before_ns && run.since_ns <= after_ns,
	   "after a resume the thread is in a run since that time");
	for (unsigned i = 0; i < 20; i++)
		raw_wake(&w.ring[0], b.ref, a.ref);
	raw_death(&w.ring[0], &c);
	scan(&w, 4);
	ok(ctp_harvest_run(w.m.harvest, 0, &run) && run.since_ns <= after_ns, "other events of the thread do not end the run");
	raw_event(&w.ring[0], &a, 0, 1, 0, true);
	scan(&w, 4);
	ok(!ctp_harvest_run(w.m.harvest, 0, &run), "a suspension ends the run");
	raw_event(&w.ring[0], &b, 1, 0, 0, true);
	raw_death(&w.ring[0], &b);
	scan(&w, 4);
	ok(!ctp_harvest_run(w.m.harvest, 0, &run), "a death ends the run");
	raw_event(&w.ring[0], &a, 1, 0, 0, true);
	scan(&w, 4);
	ok(ctp_harvest_run(w.m.harvest, 0, &run) && ctp_harvest_wrote(w.m.harvest, 101) && !ctp_harvest_wrote(w.m.harvest, 102),
	   "another resume begins a new run");
	uint64_t own_ns, all_ns, other_ns;
	raw_claim(&w.ring[1], &w.mem, 1, 200, 201);
	raw_wake(&w.ring[1], a.ref, 0);
	scan(&w, 4);
	ctp_harvest_newest(w.m.harvest, 100, &own_ns, &all_ns);
	ctp_harvest_newest(w.m.harvest, 200, &other_ns, &all_ns);
	ok(own_ns == run.since_ns && other_ns > own_ns && all_ns == other_ns,
	   "the newest event of each process, and of all, is known");
	ctp_harvest_newest(w.m.harvest, 300, &own_ns, &all_ns);
	is_u64(own_ns, all_ns, "a process without a ring has the newest event of all");
	world_close(&w);
	free(w.r);
}

/* Whether a coroutine is ready, as the last entries of two threads have it. */
static void test_ready(void)
{
	struct world w;
	struct rawcoro a, b;
	world_open(&w, 8, 8);
	raw_claim(&w.ring[0], &w.mem, 0, 100, 101);
	raw_claim(&w.ring[1], &w.mem, 1, 100, 102);
	raw_birth(&w.ring[0], &a, 1, 0);
	raw_birth(&w.ring[0], &b, 2, 0);
	raw_event(&w.ring[0], &a, 1, 0, 0, true);
	scan(&w, 4);
	ok(!ctp_harvest_ready(w.m.harvest), "without a wake no coroutine is known to be ready");
	raw_event(&w.ring[0], &a, 0, 1, 0, true);
	raw_wake(&w.ring[1], a.ref, 0);
	scan(&w, 4);
	ok(ctp_harvest_ready(w.m.harvest), "one that was woken is");
	raw_event(&w.ring[0], &b, 1, 0, 0, true);
	scan(&w, 4);
	ok(ctp_harvest_ready(w.m.harvest), "also after the resume of another one");
	raw_event(&w.ring[1], &a, 1, 2, 0, true);
	scan(&w, 4);
	ok(!ctp_harvest_ready(w.m.harvest), "after its resume on any thread it is not");
	raw_wake(&w.ring[0], a.ref, b.ref);
	raw_event(&w.ring[1], &a, 0, 3, 0, true);
	raw_event(&w.ring[1], &a, 1, 4, 0, true);
	for (unsigned i = 0; i < 40; i++)
		raw_event(&w.ring[1], &a, i % 2, 5 + i, 0, true);
	scan(&w, 4);
	ok(!ctp_harvest_ready(w.m.harvest), "nor is one whose resume may be further back than the entries that are looked at");
	struct ctp_thread_wrote wrote;
	ok(ctp_harvest_ring_wrote(w.m.harvest, 1, &wrote) && wrote.tid == 102 && wrote.last_ns, "the thread of a ring is known");
	world_close(&w);
	free(w.r);
}

int main(void)
{
	test_runs();
	test_ready();
	return done_testing();
}
