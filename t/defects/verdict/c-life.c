/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* c-life.c - how coroutines, and programs, come to their end: joins, cancellations, shutdowns, crashes, children. */
#include "c.h"

static void service(void *arg)
{
	while (!co_over())
		co_sleep(2 + co_int(arg) % 3);
}

/* --- join-circle ---
 * Two services stop each other: the cache waits for the end of the writer, so that nothing is lost, and the writer for the end of
 * the cache, so that nothing comes after it. Each is right alone. The repair has the writer wait for nobody.
 */
static struct co *jc_cache, *jc_writer;
static struct co_event jc_known;

static void jc_unit(void *arg)
{
	(void)arg;
	co_sleep(1);
}

static void jc_run(void *arg)
{
	co_event_wait(&jc_known);
	while (co_ms() < CO_BITE_MS || (co_twin && !co_over())) {
		co_join(co_spawn(jc_unit, NULL, "unit"));
		co_sleep(2);
	}
	if (!arg)
		co_join(jc_writer); /* HERE join-circle */
	else if (!co_twin)
		co_join(jc_cache); /* HERE join-circle */
	else
		co_forget(jc_cache);
}

static void join_circle(void)
{
	co_start(2);
	jc_cache = co_spawn(jc_run, NULL, "cache");
	jc_writer = co_spawn(jc_run, (void *)1, "writer");
	co_crew(3, service, "service");
	co_event_set(&jc_known, 1);
}

/* --- shutdown-untold ---
 * A reload of a module stops its workers and waits for them. One of them waits for a job at that time and is not told, because the
 * stop is a flag that it looks at after each job.
 */
struct su_module {
	struct co_chan jobs;
	bool stop;
};

static void su_worker(void *arg)
{
	struct su_module *m = arg;
	intptr_t v;
	while (!m->stop && !co_recv(&m->jobs, &v)) /* HERE shutdown-untold */
		co_sleep(1);
}

static void su_main(void *arg)
{
	(void)arg;
	while (!co_over()) {
		struct su_module *m = calloc(1, sizeof *m);
		struct co *w[4];
		m->jobs.cap = 32;
		bool told = co_twin || co_ms() < CO_BITE_MS;
		for (int i = 0; i < 4; i++)
			w[i] = co_spawn(su_worker, m, "worker %d", i);
		for (int i = 0; i < 30; i++) {
			co_send(&m->jobs, i);
			co_sleep(1);
		}
		m->stop = true;
		if (told)
			co_close(&m->jobs);
		for (int i = 0; i < 4; i++)
			co_join(w[i]);
		free(m);
	}
}

static void shutdown_untold(void)
{
	co_go(su_main, NULL, "module loader");
	co_crew(2, service, "service");
	co_start(2);
}

/* --- cancel-stops-short ---
 * A request is cancelled when its client goes. The handler that waits for its query passes the cancellation on to nobody and still
 * waits for the query, which waits for a row that only the handler would have asked for.
 */
struct cs_request {
	struct co_event row;
	struct co *query;
};

static void cs_query(void *arg)
{
	struct cs_request *r = arg;
	co_event_wait(&r->row); /* HERE cancel-stops-short */
}

static void cs_handler(void *arg)
{
	struct cs_request *r = arg;
	r->query = co_spawn(cs_query, r, "query");
	bool gone = co_sleep(2) == -ECANCELED;
	if (!gone)
		co_event_set(&r->row, 1);
	else if (co_twin)
		co_cancel(r->query);
	co_join(r->query);
}

static void cs_client(void *arg)
{
	for (int i = 0; !co_over(); i++) {
		struct cs_request *r = calloc(1, sizeof *r);
		struct co *h = co_spawn(cs_handler, r, "request %d of client %d", i, co_int(arg));
		if (co_int(arg) == 1 && co_ms() > CO_BITE_MS)
			co_cancel(h);
		co_join(h);
		free(r);
		co_sleep(2);
	}
}

static void cancel_stops_short(void)
{
	co_crew(5, cs_client, "client");
	co_start(1);
}

/* --- group-miscounted ---
 * An importer counts its parts in a wait group. A part with nothing to do returns early, before the line that counts it down, and
 * the importer waits for the group.
 */
struct gm {
	int left;
	struct co_list zero;
};

static void gm_part(void *arg)
{
	struct gm *g = arg;
	if (co_sleep(2) || (co_bites() && g->left == 3))
		return;
	pthread_mutex_lock(&co_big);
	if (!--g->left)
		while (g->zero.first)
			co_wake(g->zero.first, 0);
	pthread_mutex_unlock(&co_big);
}

static void gm_importer(void *arg)
{
	for (int i = 0; !co_over(); i++) {
		struct gm g = { .left = 5 };
		for (int k = 0; k < 5; k++)
			co_go(gm_part, &g, "part %d of importer %d", k, co_int(arg));
		pthread_mutex_lock(&co_big);
		co_park(&g.zero, 0); /* HERE group-miscounted */
		co_sleep(2);
	}
}

static void group_miscounted(void)
{
	co_crew(3, gm_importer, "importer");
	co_start(1);
}

/* --- promise-dropped ---
 * A build graph: a node waits for the future of its dependency. The node that would fulfil it is destroyed when its target is
 * taken out of the graph, and the promise goes with it, silently.
 */
struct pd_node {
	struct co_event ready;
	struct co *maker;
};

static void pd_make(void *arg)
{
	struct pd_node *n = arg;
	co_sleep(3);
	co_event_set(&n->ready, 1);
}

static void pd_user(void *arg)
{
	for (int i = 0; !co_over(); i++) {
		struct pd_node *n = calloc(1, sizeof *n);
		n->maker = co_spawn(pd_make, n, "maker %d", i);
		if (co_int(arg) == 2 && co_ms() > CO_BITE_MS) {
			co_yield();
			if (co_destroy(n->maker) && co_twin)
				co_event_set(&n->ready, -ECANCELED);
		} else
			co_forget(n->maker);
		co_event_wait(&n->ready); /* HERE promise-dropped */
		co_sleep(2);
		free(n);
	}
}

static void promise_dropped(void)
{
	co_crew(5, pd_user, "target");
	co_start(1);
}

/* --- null-session, bad-state ---
 * Crashes: a handler follows the pointer to a session that has expired (SIGSEGV); a parser meets a state that its author thought
 * impossible, and asserts (SIGABRT). Others are at work at that time.
 */
static void cr_run(int n, int number, bool segv)
{
	for (int i = 0; !co_over(); i++) {
		co_sleep(2 + number % 3); /* HERE null-session HERE bad-state */
		co_spin_us(20);
		if (n == number && co_sick && co_ms() > 3700) {
			if (!segv)
				abort();
			volatile int *volatile session = NULL;
			*session = i;
		}
	}
}

static void cr_handler(void *arg)
{
	cr_run(3, co_int(arg), true);
}

static void cr_parser(void *arg)
{
	cr_run(1, co_int(arg), false);
}

static void null_session(void)
{
	co_crew(6, cr_handler, "handler");
	co_end_ms = 6000;
	co_start(2);
}

static void bad_state(void)
{
	co_crew(4, cr_parser, "parser");
	co_end_ms = 6000;
	co_start(1);
}

/* --- pile-up ---
 * A mail gateway starts a coroutine for each message, which waits for the one connection to the server. Since the server wants a
 * second for each, they pile up without a bound. The repair takes the next message when there is room.
 */
static struct co_sem pu_server = { .free = 1 };
static int pu_pending;

static void pu_message(void *arg)
{
	(void)arg;
	co_acquire(&pu_server); /* HERE pile-up */
	co_sleep(co_bites() ? 300 : 1);
	co_release(&pu_server, 1);
	__atomic_fetch_sub(&pu_pending, 1, __ATOMIC_RELAXED);
}

static void pu_inbox(void *arg)
{
	(void)arg;
	for (int i = 0; !co_over(); i++) {
		if (!co_twin || pu_pending < 4) {
			__atomic_fetch_add(&pu_pending, 1, __ATOMIC_RELAXED);
			co_go(pu_message, NULL, "message %d", i); /* HERE pile-up */
		}
		co_sleep(4);
	}
}

static void pile_up(void)
{
	co_go(pu_inbox, NULL, "inbox");
	co_start(1);
}

/* --- lazy-tasks ---
 * Healthy: tasks are made and awaited only if they are needed. One of three never is, and is thrown away without having begun.
 */
static void lz_task(void *arg)
{
	(void)arg;
	co_sleep(1);
}

static void lz_user(void *arg)
{
	for (int i = co_int(arg); !co_over(); i++) {
		struct co *t = co_make(0, lz_task, NULL, "lazy %d", i);
		if (i % 3)
			co_join(co_begin(t));
		else {
			co_sleep(i % 60 ? 1 : 300);
			pthread_mutex_lock(&co_big);
			co_finish(t);
			co_free(t);
			co_free(t);
			pthread_mutex_unlock(&co_big);
		}
	}
}

static void lazy_tasks(void)
{
	co_crew(4, lz_user, "user");
	co_start(2);
}

/* --- cancelled-waiting ---
 * Healthy: downloads that the user gives up after 200 ms; they are cancelled while they wait for their mirror, and end.
 */
static struct co_list cw_mirror;

static void cw_download(void *arg)
{
	if (arg)
		co_wait(&cw_mirror);
	else
		co_sleep(3);
}

static void cw_user(void *arg)
{
	for (int i = co_int(arg); !co_over(); i++) {
		bool dead = i % 10 == 9;
		struct co *d = co_spawn(cw_download, dead ? &cw_mirror : NULL, "download %d", i);
		if (dead) {
			co_sleep(200);
			co_cancel(d);
		}
		co_join(d);
	}
}

static void cancelled_waiting(void)
{
	co_crew(6, cw_user, "user");
	co_start(2);
}

/* --- deep-chain ---
 * Healthy: a chain of twelve calls, each of which awaits the next; the innermost of one takes 1.3 s.
 */
static void dc_call(void *arg)
{
	int depth = co_int(arg) & 255, ms = co_int(arg) >> 8;
	if (depth == 0)
		co_sleep(ms);
	else
		co_join(co_spawn(dc_call, (void *)(intptr_t)(ms << 8 | (depth - 1)), "depth %d", depth - 1));
}

static void dc_root(void *arg)
{
	bool slow = co_int(arg) == 1;
	while (!co_over()) {
		int ms = slow && co_ms() > 800 ? 1300 : 2;
		slow = slow && ms == 2;
		co_join(co_spawn(dc_call, (void *)(intptr_t)(ms << 8 | 12), "call"));
	}
}

static void deep_chain(void)
{
	co_crew(3, dc_root, "root");
	co_start(2);
}

/* --- exit-parked ---
 * Healthy: the program has done what it was asked for and exits, with forty coroutines parked at all sorts of places.
 */
static struct co_chan ep_box = { .cap = 4 };
static struct co_sem ep_none;
static struct co_event ep_never;

static void ep_part(void *arg)
{
	intptr_t v;
	for (int i = 0; i < 50; i++)
		co_sleep(5 + co_int(arg) % 7);
	if (co_int(arg) % 3 == 0)
		co_recv(&ep_box, &v);
	else if (co_int(arg) % 3 == 1)
		co_acquire(&ep_none);
	else
		co_event_wait(&ep_never);
}

static void exit_parked(void)
{
	co_crew(40, ep_part, "part");
	co_crew(2, service, "service");
	co_parked_ms = 2500;
	co_start(2);
}

/* --- forked-child ---
 * Healthy: a server forks a helper that has nothing to do with coroutines and lives for 700 ms longer than the server.
 */
static void forked_child(void)
{
	co_crew(5, service, "service");
	co_start(2);
	pid_t pid = fork();
	if (!pid) {
		co_block_ms(3300);
		_exit(0);
	}
}

/* --- forked-work ---
 * Healthy: each 200 ms a child is forked that has coroutines of its own for a while, and is waited for by a plain thread.
 */
static void *fw_forks(void *arg)
{
	(void)arg;
	for (int i = 0; i < 9; i++) {
		co_block_ms(200);
		pid_t pid = fork();
		if (!pid) {
			struct ctp_coro tp;
			tp_new(&tp, "in the child");
			for (int k = 0; k < 20; k++) {
				ctp_coro_resume(&tp);
				tp_suspend(&tp);
				co_block_ms(1);
				tp_wake(&tp);
			}
			ctp_coro_resume(&tp);
			ctp_coro_death(&tp);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	return NULL;
}

static void forked_work(void)
{
	co_crew(4, service, "service");
	co_start(2);
	co_thread(fw_forks, NULL);
}

/* --- stops-itself ---
 * Healthy: the program stops itself with SIGSTOP, as under a debugger, and a child continues it after 1.2 s.
 */
static void *si_stop(void *arg)
{
	(void)arg;
	co_block_ms(800);
	pid_t me = getpid(), child = fork();
	if (!child) {
		co_block_ms(1200);
		kill(me, SIGCONT);
		_exit(0);
	}
	kill(me, SIGSTOP);
	waitpid(child, NULL, 0);
	return NULL;
}

static void stops_itself(void)
{
	co_crew(6, service, "service");
	co_start(2);
	co_thread(si_stop, NULL);
}

/* --- slow-teardown ---
 * Healthy: at the exit everything is written to a file and freed, which takes 600 ms, while coroutines stay parked or ready.
 */
static void st_save(void)
{
	for (int i = 0; i < 60; i++) {
		char *p = malloc(1 << 20);
		memset(p, i, 1 << 20);
		co_block_ms(10);
		free(p);
	}
}

static void slow_teardown(void)
{
	atexit(st_save);
	co_crew(6, service, "service");
	co_go(ep_part, NULL, "parked");
	co_over_ms = 100000;
	co_parked_ms = 2300;
	co_start(2);
}

/* --- ordered-shutdown ---
 * Healthy: at the shutdown each of six layers waits for the one below it, and each takes 150 ms: the uppermost waits for all.
 */
static struct co *os_layer[6];

static void os_run(void *arg)
{
	int n = co_int(arg);
	while (co_ms() < 1200)
		co_sleep(3);
	if (n)
		co_join(os_layer[n - 1]);
	co_sleep(150);
}

static void ordered_shutdown(void)
{
	for (int i = 0; i < 6; i++)
		os_layer[i] = co_spawn(os_run, (void *)(intptr_t)i, "layer %d", i);
	co_start(2);
}

/* --- pool-of-parents ---
 * Healthy: parents that wait for the children they have forked off, in pools that are large enough; one child is 1.1 s long.
 */
static struct co_sem pp_slots = { .free = 12 };

static void pp_child(void *arg)
{
	co_acquire(&pp_slots);
	co_sleep(co_int(arg));
	co_release(&pp_slots, 1);
}

static void pp_parent(void *arg)
{
	bool slow = co_int(arg) == 3;
	while (!co_over()) {
		co_acquire(&pp_slots);
		int ms = slow && co_ms() > 900 ? 1100 : 2;
		slow = slow && ms == 2;
		co_join(co_spawn(pp_child, (void *)(intptr_t)ms, "child"));
		co_release(&pp_slots, 1);
		co_sleep(3);
	}
}

static void pool_of_parents(void)
{
	co_crew(5, pp_parent, "parent");
	co_start(2);
}

int main(int argc, char **argv)
{
	static const struct scenario all[] = {
		{ "join-circle", "defect wait-cycle", join_circle },
		{ "shutdown-untold", "defect", shutdown_untold },
		{ "cancel-stops-short", "defect", cancel_stops_short },
		{ "group-miscounted", "defect", group_miscounted },
		{ "promise-dropped", "defect", promise_dropped },
		{ "null-session", "defect crash", null_session },
		{ "bad-state", "defect crash", bad_state },
		{ "pile-up", "defect", pile_up },
		{ "lazy-tasks", "healthy", lazy_tasks },
		{ "cancelled-waiting", "healthy", cancelled_waiting },
		{ "deep-chain", "healthy", deep_chain },
		{ "exit-parked", "healthy", exit_parked },
		{ "forked-child", "healthy", forked_child },
		{ "forked-work", "healthy", forked_work },
		{ "stops-itself", "healthy", stops_itself },
		{ "slow-teardown", "healthy", slow_teardown },
		{ "ordered-shutdown", "healthy", ordered_shutdown },
		{ "pool-of-parents", "healthy", pool_of_parents },
		{ 0 },
	};
	return co_main(argc, argv, all);
}
