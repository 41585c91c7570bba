/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * c-sched.c - schedulers: what is ready and not run, run twice, run for too long; and what may wait for its turn. Where the fault
 * is in the scheduler itself, it is a small one of tasks that are state machines, as event loops in C have them.
 */
#include "c.h"

/* A task: step is called when it is resumed, and suspends it before it returns. */
struct task {
	struct ctp_coro tp;
	void (*step)(struct task *);
	struct task *next;
	int number, done;
	uint64_t due;
	bool waiting, queued, low;
};

static void task_run(struct task *t)
{
	ctp_coro_resume(&t->tp);
	t->queued = t->waiting = false;
	t->step(t);
}

/* --- ready-dropped ---
 * A game server's loop keeps ready tasks in a ring of 16. When a burst makes more of them ready at once, the rest is woken and
 * not in the ring; there was a comment that this cannot happen.
 */
static struct task rd_task[24];
static struct task *rd_ring[64];
static unsigned rd_head, rd_tail;

static void rd_step(struct task *t)
{
	co_spin_us(10);
	t->done++;
	t->due = co_in_ms(co_ms() > CO_BITE_MS ? 30 : 3 + t->number % 7);
	t->waiting = true;
	tp_suspend(&t->tp); /* HERE ready-dropped */
}

static void rd_ready(struct task *t)
{
	t->waiting = false;
	tp_wake(&t->tp);
	if (rd_head - rd_tail < (co_twin ? 64 : 16))
		rd_ring[rd_head++ % 64] = t;
}

static void *rd_loop(void *arg)
{
	(void)arg;
	while (!co_over()) {
		for (int i = 0; i < 24; i++)
			if (rd_task[i].waiting && rd_task[i].due <= co_now_ns())
				rd_ready(&rd_task[i]);
		while (rd_head != rd_tail)
			task_run(rd_ring[rd_tail++ % 64]);
		co_block_ms(co_ms() > CO_BITE_MS ? 30 : 1);
	}
	for (int i = 0; i < 24; i++)
		ctp_coro_death(&rd_task[i].tp);
	exit(0);
}

static void ready_dropped(void)
{
	for (int i = 0; i < 24; i++) {
		rd_task[i] = (struct task){ .number = i, .step = rd_step };
		char name[32];
		snprintf(name, sizeof name, "player %d", i);
		tp_new(&rd_task[i].tp, name);
		rd_task[i].waiting = true;
		rd_task[i].due = co_in_ms(i / 8);
	}
	co_own_threads(rd_loop, NULL);
}

/* --- resumed-twice ---
 * A client library resumes a call when its answer comes, on the network's thread, and when its time is up, on the timer's. An
 * answer that comes just in time has both do it. The repair claims the call first.
 */
static struct rt {
	struct task t;
	bool armed, claimed;
	uint64_t due;
} rt_call[4];
static pthread_mutex_t rt_lock = PTHREAD_MUTEX_INITIALIZER;

static void rt_step(struct task *t)
{
	bool slow = t->number == 1 && co_ms() > CO_BITE_MS && co_ms() < CO_BITE_MS + 400;
	co_block_ms(slow ? 40 : 0);
	pthread_mutex_lock(&rt_lock);
	rt_call[t->number].due = co_in_ms(slow ? 10 : 5000);
	rt_call[t->number].claimed = false;
	rt_call[t->number].armed = true;
	t->done++;
	tp_suspend(&t->tp); /* HERE resumed-twice */
	pthread_mutex_unlock(&rt_lock);
}

static bool rt_claim(struct rt *c)
{
	pthread_mutex_lock(&rt_lock);
	bool mine = c->armed && (!c->claimed || co_bites());
	if (mine && !c->claimed)
		tp_wake(&c->t.tp);
	c->claimed = true;
	if (mine)
		ctp_coro_resume(&c->t.tp);
	pthread_mutex_unlock(&rt_lock);
	return mine;
}

static void *rt_network(void *arg)
{
	(void)arg;
	for (int i = 0; !co_over(); i++) {
		co_block_ms(2);
		if (rt_claim(&rt_call[i % 4]))
			rt_step(&rt_call[i % 4].t);
	}
	exit(0);
}

static void *rt_timer(void *arg)
{
	(void)arg;
	for (;;) {
		co_block_ms(1);
		for (int i = 0; i < 4; i++)
			if (rt_call[i].armed && rt_call[i].due <= co_now_ns() && rt_claim(&rt_call[i]))
				rt_step(&rt_call[i].t);
	}
	return NULL;
}

static void resumed_twice(void)
{
	for (int i = 0; i < 4; i++) {
		rt_call[i].t.number = i;
		tp_new(&rt_call[i].t.tp, "call");
		ctp_coro_resume(&rt_call[i].t.tp);
		rt_step(&rt_call[i].t);
	}
	co_own_threads(rt_network, rt_timer);
}

/* --- stale-copy ---
 * A table of tasks grows by copying. A completion that was under way keeps the address in the old table; the task ends meanwhile,
 * and the completion resumes its ghost.
 */
static void sc_step(struct task *t)
{
	t->done++;
	co_spin_us(20);
	tp_suspend(&t->tp); /* HERE stale-copy */
}

static void *sc_loop(void *arg)
{
	static struct task old[8], new[16];
	struct task *table = old;
	(void)arg;
	for (int i = 0; i < 8; i++) {
		table[i] = (struct task){ .number = i, .step = sc_step };
		tp_new(&table[i].tp, "task"); /* HERE stale-copy */
		task_run(&table[i]);
	}
	for (int round = 0; !co_over(); round++) {
		if (table == old && co_ms() > CO_BITE_MS) {
			memcpy(new, old, sizeof old);
			table = new;
			task_run(&table[3]);
			ctp_coro_death(&table[3].tp);
			if (!co_twin) {
				co_block_ms(5);
				task_run(&old[3]); /* the completion */
			}
		}
		for (int i = 0; i < 8; i++) {
			if (table == new && i == 3)
				continue;
			tp_wake(&table[i].tp);
			task_run(&table[i]);
		}
		co_block_ms(3);
	}
	exit(0);
}

static void stale_copy(void)
{
	co_own_threads(sc_loop, NULL);
}

/* --- dead-shard ---
 * A sharded server takes a shard out of service and forgets that sessions which wait are bound to it. Such a session is woken,
 * is put into the queue of that shard, and no thread takes it from there.
 */
static struct co_chan ds_box[6];

static void ds_session(void *arg)
{
	intptr_t v;
	int n = co_int(arg);
	while (!co_recv(&ds_box[n], &v)) /* HERE dead-shard */
		if (n == 2 && co_ms() > CO_BITE_MS)
			co_self()->pool = co_twin ? 1 : 2;
}

static void ds_source(void *arg)
{
	(void)arg;
	for (int i = 0; !co_over(); i++) {
		co_send_for(&ds_box[i % 6], i, 20);
		co_sleep(1);
	}
	for (int i = 0; i < 6; i++)
		co_close(&ds_box[i]);
}

static void dead_shard(void)
{
	for (int i = 0; i < 6; i++) {
		ds_box[i].cap = 4;
		co_go_in(i % 2, ds_session, (void *)(intptr_t)i, "session %d", i);
	}
	co_go(ds_source, NULL, "source");
	co_start(1);
	co_start_in(1, 1);
}

/* --- never-queued ---
 * An admission control: beyond the limit jobs are made and put aside until one ends; but the one that ends looks at the wrong
 * counter, and those put aside are never started. Their clients wait for them.
 */
static void nq_job(void *arg)
{
	(void)arg;
	co_sleep(3);
}

static void nq_client(void *arg)
{
	for (int i = 0; !co_over(); i++) {
		bool beyond = co_ms() > CO_BITE_MS && co_int(arg) < 3;
		struct co *job = co_make(0, nq_job, NULL, "job %d of client %d", i, co_int(arg)); /* HERE never-queued */
		if (beyond && co_twin)
			co_sleep(4);
		if (!beyond || co_twin)
			co_begin(job);
		co_join(job);
		co_sleep(2);
	}
}

static void never_queued(void)
{
	co_crew(6, nq_client, "client");
	co_start(2);
}

/* --- waiter-overwritten ---
 * A hand-made event has room for one waiter. Two coroutines wait for the same download, the second takes the place of the first,
 * and only that one is woken.
 */
static struct wo {
	struct co *waiter[2];
	bool done;
} wo_file[4];

static void wo_reader(void *arg)
{
	int n = co_int(arg);
	while (!co_over()) {
		struct wo *f = &wo_file[co_ms() > CO_BITE_MS && n == 3 ? 2 : n];
		pthread_mutex_lock(&co_big);
		f->waiter[co_twin && f->waiter[0]] = co_self();
		co_park(NULL, 0); /* HERE waiter-overwritten */
		co_sleep(n == 3 ? 1 : 2);
	}
}

static void wo_downloads(void *arg)
{
	(void)arg;
	for (;;) {
		co_sleep(8);
		pthread_mutex_lock(&co_big);
		for (int i = 0; i < 8; i++) {
			struct co **w = &wo_file[i / 2].waiter[i % 2], *c = *w;
			*w = NULL;
			if (c)
				co_wake(c, 0);
		}
		pthread_mutex_unlock(&co_big);
	}
}

static void waiter_overwritten(void)
{
	co_crew(4, wo_reader, "reader");
	co_go(wo_downloads, NULL, "downloads");
	co_parked_ms = 2800;
	co_start(1);
}

/* --- busy-loop ---
 * A log shipper on one thread: the parser of a damaged record does not advance and loops for ever. Everybody else is ready, told
 * so by the thread that reads the files.
 */
static struct co_event bl_line[6];

static void *bl_files(void *arg)
{
	(void)arg;
	for (int i = 0;; i++) {
		co_event_set(&bl_line[i % 6], 1);
		co_block_ms(1);
	}
	return NULL;
}

static void bl_parser(void *arg)
{
	int n = co_int(arg);
	while (!co_over()) {
		co_event_wait(&bl_line[n]); /* HERE busy-loop */
		co_event_clear(&bl_line[n]);
		co_spin_us(30);
		while (n == 4 && co_bites())
			co_spin_us(1000);
	}
}

static void busy_loop(void)
{
	co_crew(6, bl_parser, "parser");
	co_thread(bl_files, NULL);
	co_start(1);
}

/* --- blocking-call ---
 * A mail server on one thread: a handler calls gethostbyaddr(3), whose server is away, and the loop stands for 2.6 s. The network's
 * thread goes on making others ready.
 */
static void bk_handler(void *arg)
{
	int n = co_int(arg);
	bool looked_up = false;
	while (!co_over()) {
		co_event_wait(&bl_line[n]); /* HERE blocking-call */
		co_event_clear(&bl_line[n]);
		co_spin_us(20);
		if (n == 1 && co_bites() && !looked_up) {
			looked_up = true;
			co_block_ms(2600);
		}
	}
}

static void blocking_call(void)
{
	co_crew(6, bk_handler, "handler");
	co_thread(bl_files, NULL);
	co_start(1);
}

/* --- priority-starved, idle-priority ---
 * A loop with two queues that takes from the low one when the high one is empty. Since an update the telemetry is of high priority
 * and is always ready, so that the low one has no turn any more; the repair gives it each eighth.
 * Healthy: the same while there are pauses: the task of idle priority waits for a second, ready, until the others are done.
 */
static struct task ps_task[6];
static bool ps_fair, ps_calm;

static void ps_step(struct task *t)
{
	co_spin_us(t->low ? 50 : 200);
	t->done++;
	t->waiting = true;
	bool busy = co_ms() > CO_BITE_MS && (!ps_calm || co_ms() < CO_BITE_MS + 1000);
	t->due = co_in_ms(t->low ? 4 : busy ? 0 : 3);
	if (t->low)
		tp_suspend(&t->tp); /* HERE priority-starved */
	else
		tp_suspend(&t->tp);
}

static void *ps_loop(void *arg)
{
	unsigned at = 0;
	(void)arg;
	for (unsigned turn = 0; !co_over(); turn++) {
		struct task *pick = NULL;
		for (int i = 0; i < 6; i++) {
			struct task *t = &ps_task[(at + (unsigned)i) % 6];
			if (t->waiting && t->due <= co_now_ns()) {
				t->waiting = false;
				t->queued = true;
				tp_wake(&t->tp);
			}
			if (t->queued && (!pick || (ps_fair && turn % 8 == 0 ? t->low > pick->low : t->low < pick->low)))
				pick = t;
		}
		if (pick) {
			at = (unsigned)pick->number + 1;
			task_run(pick);
		} else
			co_block_ms(1);
	}
	exit(0);
}

static void ps_start(bool calm)
{
	ps_fair = co_twin;
	ps_calm = calm;
	for (int i = 0; i < 6; i++) {
		ps_task[i] = (struct task){ .number = i, .step = ps_step, .low = i >= 4, .waiting = true, .due = 1 };
		tp_new(&ps_task[i].tp, i >= 4 ? "indexer" : "telemetry");
	}
	co_own_threads(ps_loop, NULL);
}

static void priority_starved(void)
{
	ps_start(false);
}

static void idle_priority(void)
{
	ps_start(true);
}

/* --- long-computation ---
 * Healthy: an honest computation of most of a second without a suspension, on a thread of its own, and nobody waits for it or
 * for that thread.
 */
static void lc_compute(void *arg)
{
	(void)arg;
	for (int i = 0; i < 200; i++) {
		co_spin_us(200);
		co_yield();
	}
	co_sleep(300);
	co_spin_us(900000);
}

static void lc_service(void *arg)
{
	(void)arg;
	while (!co_over())
		co_sleep(3);
}

static void long_computation(void)
{
	co_go_in(1, lc_compute, NULL, "computation");
	co_crew(4, lc_service, "service");
	co_start(1);
	co_start_in(1, 1);
}

/* --- polite-yields ---
 * Healthy: four coroutines that compute in pieces of 15 microseconds and give way after each; they share one thread for a second.
 */
static void py_worker(void *arg)
{
	(void)arg;
	for (int round = 0; !co_over(); round++) {
		for (int i = 0; i < 400; i++) {
			co_spin_us(15);
			co_yield();
		}
		co_sleep(5);
	}
}

static void polite_yields(void)
{
	co_crew(4, py_worker, "polite");
	co_start(1);
}

/* --- moves-about ---
 * Healthy: work that any of four threads may take; a coroutine is hardly ever on the thread where it was before.
 */
static void ma_worker(void *arg)
{
	while (!co_over()) {
		co_spin_us(30);
		co_sleep(1 + co_int(arg) % 2);
	}
}

static void moves_about(void)
{
	co_crew(16, ma_worker, "worker");
	co_start(4);
}

/* --- overload-passes ---
 * Healthy: for half a second more comes than one thread can do; the ready ones wait for their turn, and then catch up.
 */
static void ov_request(void *arg)
{
	(void)arg;
	co_spin_us(co_ms() > 600 && co_ms() < 1100 ? 3000 : 300);
}

static void ov_source(void *arg)
{
	(void)arg;
	for (int i = 0; co_ms() < 1600; i++) {
		co_go(ov_request, NULL, "request %d", i);
		co_sleep(2);
	}
	co_sleep(600);
}

static void overload_passes(void)
{
	co_go(ov_source, NULL, "source");
	co_start(1);
}

int main(int argc, char **argv)
{
	static const struct scenario all[] = {
		{ "ready-dropped", "defect", ready_dropped },
		{ "resumed-twice", "defect double-resume", resumed_twice },
		{ "stale-copy", "defect use-after-death", stale_copy },
		{ "dead-shard", "defect", dead_shard },
		{ "never-queued", "defect", never_queued },
		{ "waiter-overwritten", "defect", waiter_overwritten },
		{ "busy-loop", "defect long-run", busy_loop },
		{ "blocking-call", "defect", blocking_call },
		{ "priority-starved", "defect", priority_starved },
		{ "idle-priority", "healthy", idle_priority },
		{ "long-computation", "healthy", long_computation },
		{ "polite-yields", "healthy", polite_yields },
		{ "moves-about", "healthy", moves_about },
		{ "overload-passes", "healthy", overload_passes },
		{ 0 },
	};
	return co_main(argc, argv, all);
}
