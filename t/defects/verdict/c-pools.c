/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* c-pools.c - semaphores, connection and thread pools, barriers: places that run out, and places that are only taken for a while. */
#include "c.h"

/* --- permit-leaked ---
 * A crawler with eight permits for downloads: a page that is too large takes the error path, which does not give its permit back.
 * After eight such pages nothing is downloaded any more.
 */
static struct co_sem pl_permits = { .free = 8 };

static void pl_fetch(void *arg)
{
	for (int i = 0; !co_over(); i++) {
		co_acquire(&pl_permits); /* HERE permit-leaked */
		co_sleep(2);
		bool large = co_ms() > CO_BITE_MS && (co_int(arg) + i) % 4 == 0;
		if (!large || co_twin)
			co_release(&pl_permits, 1);
		co_sleep(3);
	}
}

static void permit_leaked(void)
{
	co_crew(12, pl_fetch, "fetch");
	co_start(2);
}

/* --- pool-of-one ---
 * A compiler's job pool, configured with one slot for a small machine: a job that finds an old header submits the job that makes
 * it to the same pool, and waits for it in its slot.
 */
static struct co_sem po_slots = { .free = 1 };

static void po_job(void *arg)
{
	bool stale = arg != NULL;
	co_acquire(&po_slots); /* HERE pool-of-one */
	co_sleep(1);
	if (stale && co_twin)
		co_release(&po_slots, 1);
	if (stale)
		co_join(co_spawn(po_job, NULL, "header job")); /* HERE pool-of-one */
	if (!stale || !co_twin)
		co_release(&po_slots, 1);
}

static void po_make(void *arg)
{
	(void)arg;
	for (int i = 0; !co_over(); i++) {
		struct co *job[3];
		for (int j = 0; j < 3; j++)
			job[j] = co_spawn(po_job, (void *)(intptr_t)(co_ms() > CO_BITE_MS && j == 1), "job %d", i * 3 + j);
		for (int j = 0; j < 3; j++)
			co_join(job[j]);
	}
}

static void pool_of_one(void)
{
	co_go(po_make, NULL, "make");
	co_start(2);
}

/* --- broken-connections ---
 * A web shop's pool of database connections: one that was reset is closed and not put back, and nobody opens a new one in its
 * place. Requests wait for a connection when the last is gone.
 */
static struct co_chan bc_pool = { .cap = 4 };

static void bc_request(void *arg)
{
	(void)arg;
	while (!co_over()) {
		intptr_t conn;
		co_recv(&bc_pool, &conn); /* HERE broken-connections */
		co_sleep(2);
		bool reset = co_ms() > CO_BITE_MS;
		if (!reset)
			co_send(&bc_pool, conn);
		else if (co_twin) {
			co_sleep(3); /* connects again */
			co_send(&bc_pool, conn);
		}
		co_sleep(4);
	}
}

static void bc_metrics(void *arg)
{
	(void)arg;
	while (!co_over())
		co_sleep(100);
}

static void broken_connections(void)
{
	for (int i = 0; i < 4; i++)
		bc_pool.item[bc_pool.n++] = i;
	co_crew(10, bc_request, "request");
	co_go(bc_metrics, NULL, "metrics");
	co_start(2);
}

/* --- threads-exhausted ---
 * A gateway whose two workers run all coroutines: a handler calls a library that blocks in read(2) on a pipe that nobody writes to.
 * When both workers sit in it, everything else is ready and nobody runs it.
 */
static int te_pipe[2];

static void te_handler(void *arg)
{
	int n = co_int(arg);
	for (int i = 0; !co_over(); i++) {
		co_sleep(3); /* HERE threads-exhausted */
		if (n < 2 && co_bites()) {
			char c;
			if (read(te_pipe[0], &c, 1) < 0)
				return;
		}
		co_spin_us(30);
	}
}

static void threads_exhausted(void)
{
	if (pipe(te_pipe))
		abort();
	co_crew(10, te_handler, "handler");
	co_start(2);
}

/* --- barrier-short ---
 * A simulation in steps with a barrier at each: a cell that has come to rest leaves, and the barrier still counts it.
 */
static struct co_barrier bs_step = { .parties = 6 };

static void bs_leave(void)
{
	pthread_mutex_lock(&co_big);
	if (--bs_step.parties == bs_step.here) {
		bs_step.here = 0;
		while (bs_step.wait.first)
			co_wake(bs_step.wait.first, 0);
	}
	pthread_mutex_unlock(&co_big);
}

static void bs_cell(void *arg)
{
	for (int i = 0;; i++) {
		co_sleep(1 + (co_int(arg) + i) % 3);
		if (co_int(arg) == 4 && co_ms() > CO_BITE_MS) {
			if (co_twin)
				bs_leave();
			return;
		}
		co_barrier_wait(&bs_step); /* HERE barrier-short */
	}
}

static void barrier_short(void)
{
	co_crew(6, bs_cell, "cell");
	co_parked_ms = 2700;
	co_start(2);
}

/* --- followers-untold ---
 * A cache with single flight: the first who misses loads, the others wait for it. A load that fails returns to its caller, and
 * the followers' entry is never completed.
 */
static struct fo {
	bool loading;
	struct co_event loaded;
} *fo_flight;

static void fo_reader(void *arg)
{
	(void)arg;
	while (!co_over()) {
		pthread_mutex_lock(&co_big);
		bool lead = !fo_flight;
		struct fo *f = fo_flight ? fo_flight : (fo_flight = calloc(1, sizeof *f));
		pthread_mutex_unlock(&co_big);
		if (!lead)
			co_event_wait(&f->loaded); /* HERE followers-untold */
		else {
			co_sleep(4);
			pthread_mutex_lock(&co_big);
			fo_flight = NULL;
			bool followed = f->loaded.wait.first;
			pthread_mutex_unlock(&co_big);
			if (followed && co_bites())
				return; /* the origin did not answer */
			co_event_set(&f->loaded, 1);
		}
		co_sleep(2);
	}
}

static void followers_untold(void)
{
	co_crew(7, fo_reader, "reader");
	co_start(2);
}

/* --- shrinking-pool ---
 * Healthy: a pool of twelve workers; those that are idle for 150 ms leave, three stay as its core and wait until the exit.
 */
static struct co_chan sp_jobs = { .cap = 64 };
static int sp_workers = 12;

static void sp_worker(void *arg)
{
	intptr_t v;
	(void)arg;
	for (;;) {
		int why = co_recv_for(&sp_jobs, &v, sp_workers > 3 ? 150 : -1);
		if (!why)
			co_sleep(2);
		else if (sp_workers > 3 && __atomic_fetch_sub(&sp_workers, 1, __ATOMIC_RELAXED) > 3)
			return;
	}
}

static void sp_load(void *arg)
{
	(void)arg;
	for (int i = 0; co_ms() < 900; i++) {
		co_send(&sp_jobs, i);
		if (i % 4 == 3)
			co_sleep(2);
	}
}

static void shrinking_pool(void)
{
	co_crew(12, sp_worker, "worker");
	co_go(sp_load, NULL, "load");
	co_parked_ms = 2800;
	co_start(2);
}

/* --- late-gate ---
 * Healthy: a semaphore as a gate: forty clients wait for the warm-up of a model, which opens it after 1.4 s; another service of
 * the same program has worked all the time.
 */
static struct co_sem lg_gate;

static void lg_client(void *arg)
{
	(void)arg;
	co_acquire(&lg_gate);
	while (!co_over())
		co_sleep(5);
}

static void lg_service(void *arg)
{
	(void)arg;
	while (!co_over())
		co_sleep(2);
}

static void lg_model(void *arg)
{
	(void)arg;
	co_sleep(1400);
	co_release(&lg_gate, 40);
}

static void late_gate(void)
{
	co_crew(40, lg_client, "client");
	co_crew(4, lg_service, "service");
	co_go(lg_model, NULL, "model");
	co_start(2);
}

/* --- slow-party ---
 * Healthy: a barrier; in one step the party that writes the checkpoint is 1.3 s later than the others.
 */
static struct co_barrier lp_step = { .parties = 5 };

static void lp_party(void *arg)
{
	for (int i = 0; i < 200; i++) {
		co_sleep(2 + (co_int(arg) + i) % 4);
		if (i == 140 && co_int(arg) == 2)
			co_sleep(1300);
		co_barrier_wait(&lp_step);
	}
}

static void slow_party(void)
{
	co_crew(5, lp_party, "party");
	co_start(2);
}

/* --- warm-spare ---
 * Healthy: one of two database connections works, the spare waits for the other to fail, which does not happen. It was tried once
 * at the start.
 */
static struct co_chan wp_active = { .cap = 8 }, wp_spare = { .cap = 8 };

static void wp_connection(void *arg)
{
	intptr_t v;
	while (!co_recv(arg, &v))
		co_event_set((struct co_event *)v, 0);
}

static void wp_client(void *arg)
{
	for (int i = 0; !co_over(); i++) {
		struct co_event e = { 0 };
		co_send(i == 1 && co_int(arg) == 0 ? &wp_spare : &wp_active, (intptr_t)&e);
		co_event_wait(&e);
		co_sleep(3);
	}
}

static void warm_spare(void)
{
	co_go(wp_connection, &wp_active, "active connection");
	co_go(wp_connection, &wp_spare, "spare connection");
	co_crew(4, wp_client, "client");
	co_parked_ms = 2900;
	co_start(2);
}

/* --- leader-follower ---
 * Healthy: one of five nodes leads and works, the others wait for it to give up. Twice in the run the lead changes.
 */
static struct co_mutex lf_lead;

static void lf_node(void *arg)
{
	(void)arg;
	for (;;) {
		co_lock(&lf_lead);
		for (int until = co_ms() + 900; co_ms() < until && !co_over();)
			co_sleep(2);
		co_unlock(&lf_lead);
		if (co_over())
			return;
	}
}

static void leader_follower(void)
{
	co_crew(5, lf_node, "node");
	co_start(2);
}

/* --- big-batch ---
 * Healthy: small queries, and then a batch of 1500 rows that goes through the same eight permits: those at its end wait a second.
 */
static struct co_sem bb_permits = { .free = 8 };

static void bb_row(void *arg)
{
	(void)arg;
	co_acquire(&bb_permits);
	co_sleep(4);
	co_release(&bb_permits, 1);
}

static void bb_front(void *arg)
{
	(void)arg;
	for (int i = 0; co_ms() < 900; i++) {
		co_join(co_spawn(bb_row, NULL, "query"));
		co_sleep(2);
	}
	for (int i = 0; i < 1500; i++)
		co_go(bb_row, NULL, "row %d", i);
}

static void big_batch(void)
{
	co_crew(3, lg_service, "service");
	co_go(bb_front, NULL, "front");
	co_start(2);
}

/* --- one-permit ---
 * Healthy: a printer has one permit, twelve documents go through it, the largest takes 1.1 s; everybody's wait has an end.
 */
static struct co_sem op_printer = { .free = 1 };

static void op_document(void *arg)
{
	for (int i = 0; i < 40 && !co_over(); i++) {
		co_acquire(&op_printer);
		co_sleep(i == 12 && co_int(arg) == 5 ? 1100 : 3);
		co_release(&op_printer, 1);
		co_sleep(1);
	}
}

static void one_permit(void)
{
	co_crew(12, op_document, "document");
	co_start(2);
}

/* --- slow-connection ---
 * Healthy: a pool of four connections, one of which is slow (a distant replica): a request that gets it needs 600 ms instead of 2.
 */
static struct co_chan sc_pool = { .cap = 4 };

static void sc_request(void *arg)
{
	(void)arg;
	while (!co_over()) {
		intptr_t conn;
		co_recv(&sc_pool, &conn);
		co_sleep(conn == 3 && co_ms() > 700 ? 600 : 2);
		co_send(&sc_pool, conn);
		co_sleep(1);
	}
}

static void slow_connection(void)
{
	for (int i = 0; i < 4; i++)
		sc_pool.item[sc_pool.n++] = i;
	co_crew(8, sc_request, "request");
	co_start(2);
}

/* --- thread-pool ---
 * Healthy: blocking calls are where they belong, in a pool of two threads of its own; each blocks for 300 ms while the event loop
 * goes on and clients wait for the results.
 */
struct tp_call {
	struct co_event done;
};
static struct co_chan tq_calls = { .cap = 32 };

static void tq_blocker(void *arg)
{
	intptr_t v;
	(void)arg;
	while (!co_recv(&tq_calls, &v)) {
		co_block_ms(co_ms() > 800 ? 300 : 1);
		co_event_set(&((struct tp_call *)v)->done, 0);
	}
}

static void tq_client(void *arg)
{
	(void)arg;
	while (!co_over()) {
		struct tp_call call = { 0 };
		co_send(&tq_calls, (intptr_t)&call);
		co_event_wait(&call.done);
		co_sleep(5);
	}
}

static void thread_pool(void)
{
	for (int i = 0; i < 2; i++)
		co_go_in(1, tq_blocker, NULL, "blocking thread %d", i);
	co_crew(3, tq_client, "client");
	co_crew(3, lg_service, "service");
	co_parked_ms = 3300;
	co_start(1);
	co_start_in(1, 2);
}

/* --- permit-in-silence and late-notice ---
 * Readers share two handles of a file. A reader whose read fails gives its handle back on another path, and ends: that path counts the
 * handle as free, and wakes nobody. A notice that is already on its way makes a second one
 * needless: in the healthy one, the woken reader takes whatever is free, and passes the notice on.
 */
struct ps_files {
	int free;
	bool noticed;
	struct co_list wait;
};
static struct ps_files ps_files = { .free = 2 };

static void ps_take(struct ps_files *f)
{
	pthread_mutex_lock(&co_big);
	while (!f->free) {
		tp_waits_for(&co_self()->tp, f, CTP_FOR_PERMITS);
		co_park_at(&f->wait, 0, CO_PLACE); /* HERE permit-in-silence */
		pthread_mutex_lock(&co_big);
		f->noticed = false;
	}
	if (!--f->free)
		tp_object(f, CTP_FOR_PERMITS, 0);
	tp_holds(ctp_coro_ref(&co_self()->tp), f, 1);
	if (f->free && f->wait.first && !f->noticed) {
		f->noticed = true;
		co_wake(f->wait.first, 0);
	}
	pthread_mutex_unlock(&co_big);
}

static void ps_give(struct ps_files *f, bool silent)
{
	pthread_mutex_lock(&co_big);
	tp_holds(ctp_coro_ref(&co_self()->tp), f, -1);
	tp_object(f, CTP_FOR_PERMITS, (uint64_t)++f->free);
	if (!silent && !f->noticed && f->wait.first) {
		f->noticed = true;
		co_wake(f->wait.first, 0);
	}
	pthread_mutex_unlock(&co_big);
}

static void ps_read(void *arg)
{
	for (int i = 0; !co_over(); i++) {
		ps_take(&ps_files);
		co_sleep(2);
		bool fails = co_bites() && (co_int(arg) + i) % 3 == 0;
		ps_give(&ps_files, fails);
		if (fails)
			return;
		co_sleep(1);
	}
}

static void permit_in_silence(void)
{
	co_crew(12, ps_read, "reader");
	co_start(2);
}

int main(int argc, char **argv)
{
	static const struct scenario all[] = {
		{ "permit-leaked", "defect", permit_leaked },
		{ "pool-of-one", "defect", pool_of_one },
		{ "broken-connections", "defect", broken_connections },
		{ "threads-exhausted", "defect", threads_exhausted },
		{ "barrier-short", "defect", barrier_short },
		{ "followers-untold", "defect", followers_untold },
		{ "permit-in-silence", "defect", permit_in_silence },
		{ "late-notice", "healthy", permit_in_silence },
		{ "shrinking-pool", "healthy", shrinking_pool },
		{ "late-gate", "healthy", late_gate },
		{ "slow-party", "healthy", slow_party },
		{ "warm-spare", "healthy", warm_spare },
		{ "leader-follower", "healthy", leader_follower },
		{ "big-batch", "healthy", big_batch },
		{ "one-permit", "healthy", one_permit },
		{ "slow-connection", "healthy", slow_connection },
		{ "thread-pool", "healthy", thread_pool },
		{ 0 },
	};
	return co_main(argc, argv, all);
}
