/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* c-drain.c - pools that dry up although every wait has a time-out, hangs of most coroutines, and loads that only end. */
#include "c.h"

/* A pool whose permits have owners, as the program says: they are handed to the first that waits. */
struct dr_pool {
	int size, free;
	struct co_list wait;
};

CO_FN void dr_make(struct dr_pool *p, const char *name)
{
	p->free = p->size;
	if (!co_no_wake)
		ctp_object_new(p, CTP_FOR_PERMITS, (uint64_t)p->size, name, CTP_MARK_OWNED);
}

CO_FN int dr_take_at(struct dr_pool *p, uint64_t due, struct co_place at)
{
	pthread_mutex_lock(&co_big);
	if (!p->free) {
		tp_waits_for(&co_self()->tp, p, CTP_FOR_PERMITS);
		return co_park_at(&p->wait, due, at);
	}
	tp_holds(ctp_coro_ref(&co_self()->tp), p, 1);
	if (!--p->free)
		tp_object(p, CTP_FOR_PERMITS, 0);
	pthread_mutex_unlock(&co_big);
	return 0;
}
#define dr_take(p) dr_take_at((p), 0, CO_PLACE)
#define dr_take_for(p, ms) dr_take_at((p), co_in_ms(ms), CO_PLACE)

CO_FN void dr_give(struct dr_pool *p)
{
	pthread_mutex_lock(&co_big);
	struct co *next = p->wait.first;
	tp_holds(ctp_coro_ref(&co_self()->tp), p, -1);
	if (next) {
		tp_holds(ctp_coro_ref(&next->tp), p, 1);
		co_wake(next, 0);
	} else if (p->free++ == 0) {
		tp_object(p, CTP_FOR_PERMITS, 1);
	}
	pthread_mutex_unlock(&co_big);
}

/* --- holders-end ---
 * A shop's pool of four database connections. A request that does not get one within 120 ms answers 'busy', and its client asks
 * again. Four imports each take a connection, meet a bad row, and end: their connections never come back.
 */
static struct dr_pool he_pool = { .size = 4 };

static void he_client(void *arg)
{
	(void)arg;
	while (!co_over()) {
		if (!dr_take_for(&he_pool, 120)) { /* HERE holders-end */
			co_sleep(2);
			dr_give(&he_pool);
		}
		co_sleep(30);
	}
}

static void he_import(void *arg)
{
	(void)arg;
	co_sleep(CO_BITE_MS);
	dr_take(&he_pool);
	co_sleep(20);
	if (co_twin)
		dr_give(&he_pool);
}

static void holders_end(void)
{
	dr_make(&he_pool, "db pool");
	co_crew(10, he_client, "client");
	co_crew(4, he_import, "import");
	co_start(2);
}

/* --- twenty-permits ---
 * Payments hold one of twenty permits while they lock the ledger. An auditor locks the ledger first, and then wants a permit too.
 */
static struct dr_pool tw_pool = { .size = 20 };
static struct co_mutex tw_ledger;

static void tw_pay(void *arg)
{
	(void)arg;
	while (!co_over()) {
		dr_take(&tw_pool);
		co_sleep(1);
		co_lock(&tw_ledger); /* HERE twenty-permits */
		co_sleep(0);
		co_unlock(&tw_ledger);
		dr_give(&tw_pool);
		co_sleep(3);
	}
}

static void tw_audit(void *arg)
{
	(void)arg;
	co_sleep(CO_BITE_MS);
	if (co_twin)
		dr_take(&tw_pool);
	co_lock(&tw_ledger);
	co_sleep(60);
	if (!co_twin)
		dr_take(&tw_pool); /* HERE twenty-permits */
	co_unlock(&tw_ledger);
	dr_give(&tw_pool);
}

static void twenty_permits(void)
{
	dr_make(&tw_pool, "payments");
	co_crew(30, tw_pay, "payment");
	co_go(tw_audit, NULL, "audit");
	co_start(2);
}

/* --- takers-end ---
 * Three uploaders take jobs from a queue of eight, and end at the first error. The scanners that fill the queue give up after
 * 100 ms, say so in the log, and try again.
 */
static struct co_chan tk_jobs = { .cap = 8 };

static void tk_uploader(void *arg)
{
	(void)arg;
	while (!co_over()) {
		intptr_t job;
		if (!co_recv_for(&tk_jobs, &job, 50) && co_bites())
			return;
	}
}

static void tk_scanner(void *arg)
{
	for (intptr_t i = 0; !co_over(); i++) {
		co_send_for(&tk_jobs, i, 100); /* HERE takers-end */
		co_sleep(3 + co_int(arg) % 2);
	}
}

static void takers_end(void)
{
	co_crew(3, tk_uploader, "uploader");
	co_crew(6, tk_scanner, "scanner");
	co_start(2);
}

/* --- untold-turns ---
 * Twelve tasks take turns at four slots, of which the program tells nothing. One that is cancelled while it has a slot keeps it,
 * and goes on without slots. When three others have done so, too, ten tasks wait for ever.
 */
static struct ut_slots {
	int free;
	struct co_list wait;
} ut_slots = { .free = 4 };

static void ut_take(struct co_place at)
{
	pthread_mutex_lock(&co_big);
	if (!ut_slots.free) {
		co_park_at(&ut_slots.wait, 0, at);
		return;
	}
	ut_slots.free--;
	pthread_mutex_unlock(&co_big);
}

static void ut_give(void)
{
	pthread_mutex_lock(&co_big);
	if (ut_slots.wait.first)
		co_wake(ut_slots.wait.first, 0);
	else
		ut_slots.free++;
	pthread_mutex_unlock(&co_big);
}

static void ut_task(void *arg)
{
	static int lost;
	int slots = 0;
	while (!co_over()) {
		ut_take(CO_PLACE); /* HERE untold-turns */
		co_sleep(2);
		bool cancelled = co_int(arg) < 2 && co_ms() > CO_BITE_MS;
		slots += cancelled;
		if (!cancelled || co_twin)
			ut_give();
		else if (__atomic_add_fetch(&lost, 1, __ATOMIC_RELAXED) >= 3 || slots == 2)
			break;
		co_sleep(1);
	}
	while (!co_over())
		co_sleep(5);
}

static void untold_turns(void)
{
	co_crew(12, ut_task, "task");
	co_start(2);
}

/* --- load-ends ---
 * Healthy: twelve handlers of keep-alive connections and four workers of a pool; after 900 ms no client sends anything more, and all of
 * them stop together.
 */
enum { LE_CLIENTS = 12 };
static int le_pairs[LE_CLIENTS][2];
static struct co_chan le_jobs = { .cap = 64 };

static void le_handler(void *arg)
{
	char request;
	while (co_read(le_pairs[co_int(arg)][0], &request, 1) == 1) {
		struct co_event done = { 0 };
		co_send(&le_jobs, (intptr_t)&done);
		co_event_wait(&done);
		if (write(le_pairs[co_int(arg)][0], "!", 1) < 0)
			return;
	}
}

static void le_worker(void *arg)
{
	intptr_t job;
	(void)arg;
	while (!co_recv(&le_jobs, &job)) {
		co_sleep(1);
		co_event_set((struct co_event *)job, 0);
	}
}

/* The clients are no coroutines. */
static void *le_clients(void *arg)
{
	char answer;
	for (int round = 0; co_ms() < 900; round++) {
		for (int i = 0; i < LE_CLIENTS; i++)
			if (write(le_pairs[i][1], "?", 1) < 0)
				return arg;
		co_block_ms(3);
		for (int i = 0; i < LE_CLIENTS; i++)
			while (recv(le_pairs[i][1], &answer, 1, 0) < 0)
				co_block_ms(1);
	}
	return arg;
}

static void load_ends(void)
{
	for (int i = 0; i < LE_CLIENTS; i++)
		co_pair(le_pairs[i]);
	co_crew(LE_CLIENTS, le_handler, "handler");
	co_crew(4, le_worker, "worker");
	co_parked_ms = 3300;
	co_start(2);
	co_thread(le_clients, NULL);
}

/* --- queue-quiet ---
 * Healthy: three stages hand lines from one to the next; the file ends after 900 ms, and all wait for more of it.
 */
static struct co_chan qq_lines = { .cap = 16 }, qq_words = { .cap = 16 };
static int qq_file[2];

static void qq_reader(void *arg)
{
	char line;
	(void)arg;
	while (co_read(qq_file[0], &line, 1) == 1)
		co_send(&qq_lines, line);
}

static void qq_splitter(void *arg)
{
	intptr_t line;
	(void)arg;
	while (!co_recv(&qq_lines, &line)) {
		co_sleep(1);
		co_send(&qq_words, line);
	}
}

static void qq_counter(void *arg)
{
	intptr_t word;
	(void)arg;
	while (!co_recv(&qq_words, &word))
		co_yield();
}

static void *qq_tail(void *arg)
{
	while (co_ms() < 900 && write(qq_file[1], "line", 4) > 0)
		co_block_ms(2);
	return arg;
}

static void queue_quiet(void)
{
	co_pair(qq_file);
	co_go(qq_reader, NULL, "reader");
	co_crew(6, qq_splitter, "splitter");
	co_crew(3, qq_counter, "counter");
	co_parked_ms = 3300;
	co_start(2);
	co_thread(qq_tail, NULL);
}

int main(int argc, char **argv)
{
	static const struct scenario all[] = {
		{ "holders-end", "defect", holders_end },
		{ "twenty-permits", "defect wait-cycle", twenty_permits },
		{ "takers-end", "defect", takers_end },
		{ "untold-turns", "defect", untold_turns },
		{ "load-ends", "healthy", load_ends },
		{ "queue-quiet", "healthy", queue_quiet },
		{ 0 },
	};
	return co_main(argc, argv, all);
}
