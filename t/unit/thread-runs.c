/* Which thread is in a run, by the rings; and the times of the newest events, of a process and of all. */
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
	is_u64(ctp_harvest_rings(w.m.harvest), 1, "one ring");
	ok(!ctp_harvest_run(w.m.harvest, 0, &run), "nobody was resumed");
	uint64_t before_ns = ctp_clock_ns();
	raw_event(&w.ring[0], &a, 1, 0, 0, true);
	uint64_t after_ns = ctp_clock_ns();
	ok(!ctp_harvest_run(w.m.harvest, 0, &run), "what was not taken is not known");
	scan(&w, 4);
	ok(ctp_harvest_run(w.m.harvest, 0, &run) && run.tid == 101 && run.since_ns >= before_ns && run.since_ns <= after_ns,
	   "a thread in a run, since then");
	for (unsigned i = 0; i < 20; i++)
		raw_wake(&w.ring[0], b.ref, a.ref);
	raw_death(&w.ring[0], &c);
	scan(&w, 4);
	ok(ctp_harvest_run(w.m.harvest, 0, &run) && run.since_ns <= after_ns, "whatever else it does, the end of another included");
	raw_event(&w.ring[0], &a, 0, 1, 0, true);
	scan(&w, 4);
	ok(!ctp_harvest_run(w.m.harvest, 0, &run), "until it suspends");
	raw_event(&w.ring[0], &b, 1, 0, 0, true);
	raw_death(&w.ring[0], &b);
	scan(&w, 4);
	ok(!ctp_harvest_run(w.m.harvest, 0, &run), "or ends");
	raw_event(&w.ring[0], &a, 1, 0, 0, true);
	scan(&w, 4);
	ok(ctp_harvest_run(w.m.harvest, 0, &run) && ctp_harvest_wrote(w.m.harvest, 101) && !ctp_harvest_wrote(w.m.harvest, 102),
	   "and again");
	uint64_t own_ns, all_ns, other_ns;
	raw_claim(&w.ring[1], &w.mem, 1, 200, 201);
	raw_wake(&w.ring[1], a.ref, 0);
	scan(&w, 4);
	ctp_harvest_newest(w.m.harvest, 100, &own_ns, &all_ns);
	ctp_harvest_newest(w.m.harvest, 200, &other_ns, &all_ns);
	ok(own_ns == run.since_ns && other_ns > own_ns && all_ns == other_ns, "the newest of each process, and of all");
	ctp_harvest_newest(w.m.harvest, 300, &own_ns, &all_ns);
	is_u64(own_ns, all_ns, "of one that no ring is of, that of all");
	world_close(&w);
	free(w.r);
}

int main(void)
{
	test_runs();
	return done_testing();
}
