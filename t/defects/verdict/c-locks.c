/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* c-locks.c - locks and conditions: what is forgotten about them, and waits for them that are long and well. */
#include "c.h"

/* --- forgotten-unlock ---
 * A key-value store: a request with a bad key takes the early return, and the bucket's lock with it. All who come to that
 * bucket afterwards wait, the others go on.
 */
static struct co_mutex fu_bucket[4];
static int fu_value[4];

static int fu_update(int key, bool bad)
{
	struct co_mutex *m = &fu_bucket[key % 4];
	co_lock(m); /* HERE forgotten-unlock */
	if (bad && !co_twin)
		return -EINVAL;
	if (!bad)
		fu_value[key % 4]++;
	co_yield();
	co_unlock(m);
	return 0;
}

static void fu_client(void *arg)
{
	int n = co_int(arg);
	for (int i = 0; !co_over(); i++) {
		fu_update(n + i * 5, n == 3 && i > 20 && co_ms() > CO_BITE_MS);
		if (co_sleep(2 + n % 3))
			break;
	}
}

static void forgotten_unlock(void)
{
	co_crew(12, fu_client, "client");
	co_start(2);
}

/* --- two-orders ---
 * A bank: a transfer locks the source and then the destination. Two transfers in opposite directions meet; the repair takes the
 * account with the lower number first.
 */
static struct co_mutex to_account[6];

static void to_move(int from, int to, bool meet)
{
	int first = co_twin && from > to ? to : from, second = first == from ? to : from;
	co_lock(&to_account[first]);
	if (meet)
		co_sleep(20);
	else
		co_yield();
	co_lock(&to_account[second]); /* HERE two-orders */
	co_yield();
	co_unlock(&to_account[second]);
	co_unlock(&to_account[first]);
}

static void to_teller(void *arg)
{
	int n = co_int(arg);
	while (!co_over()) {
		int a = n * 2, b = n * 2 + 1;
		to_move(a, b, false);
		if (co_ms() > CO_BITE_MS && n < 2)
			to_move(n == 0 ? 0 : 2, n == 0 ? 2 : 0, true);
		co_sleep(3);
	}
}

static void two_orders(void)
{
	co_crew(3, to_teller, "teller");
	co_start(2);
}

/* --- signal-before-wait ---
 * A build server: a worker sees that its box is empty, gives the lock back to write a line to the log, and then waits for the
 * signal, which came meanwhile. Its submitter waits for the result.
 */
static struct sw {
	struct co_mutex lock;
	struct co_list news;
	struct co_event done;
	int jobs;
} sw_box[4];

static void sw_worker(void *arg)
{
	struct sw *b = &sw_box[co_int(arg)];
	for (;;) {
		co_lock(&b->lock);
		while (!b->jobs) {
			if (co_int(arg) == 1 && co_bites()) {
				co_unlock(&b->lock);
				co_sleep(30);
				co_wait(&b->news); /* HERE signal-before-wait */
				co_lock(&b->lock);
			} else
				co_cond_wait(&b->news, &b->lock); /* HERE signal-before-wait */
		}
		b->jobs--;
		co_unlock(&b->lock);
		co_spin_us(100);
		co_event_set(&b->done, 1);
	}
}

static void sw_submitter(void *arg)
{
	struct sw *b = &sw_box[co_int(arg)];
	while (!co_over()) {
		co_event_clear(&b->done);
		co_lock(&b->lock);
		b->jobs++;
		co_signal(&b->news);
		co_unlock(&b->lock);
		co_event_wait(&b->done);
		co_sleep(4);
	}
}

static void signal_before_wait(void)
{
	co_crew(4, sw_worker, "worker");
	co_crew(4, sw_submitter, "submitter");
	co_parked_ms = 2700;
	co_start(2);
}

/* --- notify-one ---
 * A proxy: requests wait while the configuration is read anew, and the reader tells one of them that it is there. The others
 * wait on: nobody reads it again.
 */
static struct co_mutex no_lock;
static struct co_list no_ready;
static bool no_loading;

static void no_request(void *arg)
{
	(void)arg;
	while (!co_over()) {
		co_lock(&no_lock);
		while (no_loading)
			co_cond_wait(&no_ready, &no_lock); /* HERE notify-one */
		co_unlock(&no_lock);
		co_sleep(3);
	}
}

static void no_reader(void *arg)
{
	(void)arg;
	for (int i = 0; i < 12; i++) {
		co_lock(&no_lock);
		no_loading = true;
		co_unlock(&no_lock);
		co_sleep(20);
		co_lock(&no_lock);
		no_loading = false;
		co_notify(&no_ready, co_bites() ? 1 : INT32_MAX);
		co_unlock(&no_lock);
		if (co_bites())
			break;
		co_sleep(60);
	}
}

static void notify_one(void)
{
	co_crew(8, no_request, "request");
	co_go(no_reader, NULL, "config reader");
	co_start(2);
}

/* --- writer-starved ---
 * A route table with a lock that prefers readers. Once there are so many that one always is inside, the update of the routes
 * never comes to its turn. The repair lets no reader in while a writer waits.
 */
static struct co_mutex ws_lock;
static struct co_list ws_turn;
static int ws_readers, ws_writers;

static void ws_lookup(void *arg)
{
	co_sleep(co_int(arg) * 3);
	while (!co_over()) {
		co_lock(&ws_lock);
		while (co_twin && ws_writers)
			co_cond_wait(&ws_turn, &ws_lock);
		ws_readers++;
		co_unlock(&ws_lock);
		co_sleep(co_ms() > CO_BITE_MS - 200 ? 12 : 2);
		co_lock(&ws_lock);
		if (!--ws_readers)
			co_broadcast(&ws_turn);
		co_unlock(&ws_lock);
		if (co_ms() < CO_BITE_MS - 200)
			co_sleep(9);
	}
}

static void ws_update(void *arg)
{
	(void)arg;
	while (!co_over()) {
		co_lock(&ws_lock);
		ws_writers++;
		while (ws_readers)
			co_cond_wait(&ws_turn, &ws_lock); /* HERE writer-starved */
		co_spin_us(50);
		ws_writers--;
		co_broadcast(&ws_turn);
		co_unlock(&ws_lock);
		co_sleep(10);
	}
}

static void writer_starved(void)
{
	co_crew(6, ws_lookup, "lookup");
	co_go(ws_update, NULL, "route update");
	co_start(2);
}

/* --- callback-lock ---
 * A cache calls its eviction callback with the lock held; the callback starts a flush of the page and waits for it, and the
 * flush takes the lock of the cache.
 */
static struct co_mutex cl_cache;

static void cl_flush(void *arg)
{
	(void)arg;
	co_lock(&cl_cache); /* HERE callback-lock */
	co_yield();
	co_unlock(&cl_cache);
}

static void cl_user(void *arg)
{
	int n = co_int(arg);
	while (!co_over()) {
		co_lock(&cl_cache);
		bool evict = co_ms() > CO_BITE_MS && n == 2;
		if (evict && !co_twin)
			co_join(co_spawn(cl_flush, NULL, "flush")); /* HERE callback-lock */
		co_yield();
		co_unlock(&cl_cache);
		if (!evict || co_twin)
			co_join(co_spawn(cl_flush, NULL, "flush"));
		co_sleep(5);
	}
}

static void callback_lock(void)
{
	co_crew(5, cl_user, "user");
	co_start(2);
}

/* --- generator-lock ---
 * A table scan is a generator that holds the table's lock between two rows. A consumer that has found its row drops the
 * generator, and the lock stays taken.
 */
static struct co_mutex gl_table;

struct gl_scan {
	struct co_list next, row;
	bool wanted, given, closed;
};

static void gl_generator(void *arg)
{
	struct gl_scan *s = arg;
	co_lock(&gl_table); /* HERE generator-lock */
	for (int i = 0; i < 6 && !s->closed; i++) {
		pthread_mutex_lock(&co_big);
		s->given = true;
		s->wanted = false;
		if (s->row.first)
			co_wake(s->row.first, 0);
		co_park(&s->next, 0); /* HERE generator-lock */
	}
	co_unlock(&gl_table);
	s->closed = true;
	co_notify(&s->row, 1);
}

static void gl_query(void *arg)
{
	int n = co_int(arg);
	while (!co_over()) {
		struct gl_scan *s = calloc(1, sizeof *s);
		struct co *gen = co_spawn(gl_generator, s, "scan for query %d", n);
		bool drop = n == 1 && co_ms() > CO_BITE_MS;
		for (int row = 0; row < (drop ? 2 : 5); row++) {
			pthread_mutex_lock(&co_big);
			if (!s->given)
				co_park(&s->row, 0);
			else
				pthread_mutex_unlock(&co_big);
			s->given = false;
			co_notify(&s->next, 1);
			if (row == 1 && drop)
				break;
		}
		if (drop && !co_twin) {
			co_sleep(10);
			co_destroy(gen);
		} else {
			s->closed = true;
			while (!gen->done) {
				co_notify(&s->next, 1);
				co_sleep(1);
			}
			co_forget(gen);
			free(s);
		}
		co_sleep(4);
	}
}

static void generator_lock(void)
{
	co_crew(4, gl_query, "query");
	co_start(2);
}

/* --- chain ---
 * Healthy: a lock that is handed on in a chain. Twenty want it at once, each holds it for a while, so the last waits for as long
 * as all of them, and each one's await names a holder that has long given it on.
 */
static struct co_mutex ch_lock;

static void ch_member(void *arg)
{
	int n = co_int(arg);
	while (!co_over()) {
		co_lock(&ch_lock);
		co_sleep(1);
		co_unlock(&ch_lock);
		if (co_ms() > 900 && co_ms() < 1100 && n == 0) {
			co_lock(&ch_lock);
			co_sleep(60);
			co_unlock(&ch_lock);
		}
		co_sleep(n % 4);
	}
}

static void chain(void)
{
	co_crew(20, ch_member, "member");
	co_start(2);
}

/* --- backup-holds ---
 * Healthy: once in the run a backup holds the store's lock for more than a second. All writers wait for it, and go on.
 */
static struct co_mutex bh_store;

static void bh_writer(void *arg)
{
	while (!co_over()) {
		co_lock(&bh_store);
		co_spin_us(20);
		co_unlock(&bh_store);
		co_sleep(2 + co_int(arg) % 3);
	}
}

static void bh_backup(void *arg)
{
	(void)arg;
	co_sleep(800);
	co_lock(&bh_store);
	co_sleep(1200);
	co_unlock(&bh_store);
}

static void backup_holds(void)
{
	co_crew(10, bh_writer, "writer");
	co_go(bh_backup, NULL, "backup");
	co_start(2);
}

/* --- timed-lock ---
 * Healthy: who does not get the lock of the statistics within 30 ms does without. The owner holds it for long at the end.
 */
static struct co_mutex tl_stats;

static void tl_request(void *arg)
{
	(void)arg;
	while (!co_over()) {
		if (!co_lock_for(&tl_stats, 30)) {
			co_spin_us(10);
			co_unlock(&tl_stats);
		}
		co_sleep(3);
	}
}

static void tl_owner(void *arg)
{
	(void)arg;
	while (!co_over()) {
		co_lock(&tl_stats);
		co_sleep(co_ms() > 900 ? 700 : 2);
		co_unlock(&tl_stats);
		co_sleep(5);
	}
}

static void timed_lock(void)
{
	co_crew(6, tl_request, "request");
	co_go(tl_owner, NULL, "statistics");
	co_start(2);
}

/* --- idle-condition ---
 * Healthy: six workers wait at a condition for jobs. There are many at first, then none until the program ends; the queue has a
 * lock that nobody holds.
 */
static struct co_mutex ic_lock;
static struct co_list ic_more;
static int ic_jobs;

static void ic_worker(void *arg)
{
	(void)arg;
	for (;;) {
		co_lock(&ic_lock);
		while (!ic_jobs)
			co_cond_wait(&ic_more, &ic_lock);
		ic_jobs--;
		co_unlock(&ic_lock);
		co_sleep(2);
	}
}

static void ic_source(void *arg)
{
	(void)arg;
	for (int i = 0; i < 400 && co_ms() < 900; i++) {
		co_lock(&ic_lock);
		ic_jobs++;
		co_signal(&ic_more);
		co_unlock(&ic_lock);
		co_sleep(2);
	}
}

static void idle_condition(void)
{
	co_crew(6, ic_worker, "worker");
	co_go(ic_source, NULL, "source");
	co_parked_ms = 2800;
	co_start(2);
}

/* --- patient-writer ---
 * Healthy: a fair lock for readers and a writer; an import reads for a second, the writer waits for it and then has its turn,
 * and readers that came later wait until it is done.
 */
static struct co_mutex pw_lock;
static struct co_list pw_turn;
static int pw_readers, pw_writers;

static void pw_read(int ms)
{
	co_lock(&pw_lock);
	while (pw_writers)
		co_cond_wait(&pw_turn, &pw_lock);
	pw_readers++;
	co_unlock(&pw_lock);
	co_sleep(ms);
	co_lock(&pw_lock);
	if (!--pw_readers)
		co_broadcast(&pw_turn);
	co_unlock(&pw_lock);
}

static void pw_reader(void *arg)
{
	bool import = co_int(arg) == 0;
	while (!co_over()) {
		pw_read(import && co_ms() > 900 && co_ms() < 1200 ? 1000 : 2);
		co_sleep(3);
	}
}

static void pw_writer(void *arg)
{
	(void)arg;
	while (!co_over()) {
		co_lock(&pw_lock);
		pw_writers++;
		while (pw_readers)
			co_cond_wait(&pw_turn, &pw_lock);
		pw_writers--;
		co_broadcast(&pw_turn);
		co_unlock(&pw_lock);
		co_sleep(8);
	}
}

static void patient_writer(void)
{
	co_crew(6, pw_reader, "reader");
	co_go(pw_writer, NULL, "writer");
	co_start(2);
}

int main(int argc, char **argv)
{
	static const struct scenario all[] = {
		{ "forgotten-unlock", "defect", forgotten_unlock },
		{ "two-orders", "defect", two_orders },
		{ "signal-before-wait", "defect", signal_before_wait },
		{ "notify-one", "defect", notify_one },
		{ "writer-starved", "defect", writer_starved },
		{ "callback-lock", "defect", callback_lock },
		{ "generator-lock", "defect", generator_lock },
		{ "chain", "healthy", chain },
		{ "backup-holds", "healthy", backup_holds },
		{ "timed-lock", "healthy", timed_lock },
		{ "idle-condition", "healthy", idle_condition },
		{ "patient-writer", "healthy", patient_writer },
		{ 0 },
	};
	return co_main(argc, argv, all);
}
