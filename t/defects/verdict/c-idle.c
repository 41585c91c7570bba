/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* c-idle.c - healthy programs that have nothing to do, or have to wait: for rare events, for a window, for the slowest of three. */
#include "c.h"

static void request(void *arg)
{
	while (!co_over())
		co_sleep(2 + co_int(arg) % 4);
}

/* --- main-joins ---
 * Healthy: main starts the parts of a server and waits for their ends, which come with the end of the program. Parts have waited
 * for two seconds for orders.
 */
static struct co_chan mj_orders = { .cap = 8 };

static void mj_part(void *arg)
{
	intptr_t v;
	(void)arg;
	while (!co_recv(&mj_orders, &v))
		co_sleep(1);
}

static void mj_orderer(void *arg)
{
	(void)arg;
	for (int i = 0; co_ms() < 800; i++) {
		co_send(&mj_orders, i);
		co_sleep(2);
	}
}

static void mj_main(void *arg)
{
	struct co *part[4];
	(void)arg;
	for (int i = 0; i < 4; i++)
		part[i] = co_spawn(mj_part, NULL, "part %d", i);
	co_join(co_spawn(mj_orderer, NULL, "orderer"));
	for (int i = 0; i < 4; i++)
		co_join(part[i]);
}

static void main_joins(void)
{
	co_go(mj_main, NULL, "main");
	co_parked_ms = 3000;
	co_start(2);
}

/* --- silence ---
 * Healthy: a busy first second, then nobody wants anything for 1.6 s and the whole program stands still; then one more request.
 */
static struct co_sem si_wanted;
static struct co_event si_served;

static void si_server(void *arg)
{
	(void)arg;
	for (;;) {
		co_acquire(&si_wanted);
		co_spin_us(50);
		co_event_set(&si_served, 1);
	}
}

static void *si_world(void *arg)
{
	(void)arg;
	while (co_ms() < 900) {
		co_release(&si_wanted, 1);
		co_block_ms(2);
	}
	for (;;) {
		co_block_ms(1600);
		co_release(&si_wanted, 1);
	}
	return NULL;
}

static void silence(void)
{
	co_crew(3, si_server, "server");
	co_parked_ms = 2900;
	co_start(2);
	co_thread(si_world, NULL);
}

/* --- rare-alarm ---
 * Healthy: an alarm is checked with each measurement and came often at the start; since then its handler waits. Measurements go
 * on.
 */
static struct co_event ra_alarm;

static void ra_handler(void *arg)
{
	(void)arg;
	for (;;) {
		co_event_wait(&ra_alarm);
		co_event_clear(&ra_alarm);
	}
}

static void ra_sensor(void *arg)
{
	for (int i = 0; !co_over(); i++) {
		if (i < 120 && i % 5 == 0)
			co_event_set(&ra_alarm, i);
		co_sleep(3 + co_int(arg));
	}
}

static void rare_alarm(void)
{
	co_go(ra_handler, NULL, "alarm handler");
	co_crew(3, ra_sensor, "sensor");
	co_parked_ms = 2800;
	co_start(2);
}

/* --- closed-window ---
 * Healthy: a stream with credit-based flow control: the receiver, a tape, gives no credit for 1.4 s while it rewinds.
 */
static struct co_sem cw_credit = { .free = 8 };

static void cw_sender(void *arg)
{
	(void)arg;
	while (!co_over())
		co_acquire(&cw_credit);
}

static void cw_tape(void *arg)
{
	bool rewound = false;
	(void)arg;
	while (!co_over()) {
		if (co_ms() > 800 && !rewound) {
			rewound = true;
			co_sleep(1400);
		}
		co_sleep(2);
		co_release(&cw_credit, 4);
	}
	co_release(&cw_credit, 100);
}

static void closed_window(void)
{
	co_crew(3, cw_sender, "stream");
	co_go(cw_tape, NULL, "tape");
	co_parked_ms = 3000;
	co_start(2);
}

/* --- group-commit ---
 * Healthy: transactions wait for the next flush of the log, which comes when there are eight, or after 350 ms. At night there are
 * never eight.
 */
static struct co_list gc_flushed;
static struct co_event gc_full;
static int gc_waiting;

static void gc_transaction(void *arg)
{
	while (!co_over()) {
		pthread_mutex_lock(&co_big);
		bool full = ++gc_waiting >= 8;
		pthread_mutex_unlock(&co_big);
		if (full)
			co_event_set(&gc_full, 1);
		co_wait_for(&gc_flushed, 5000);
		co_sleep(co_ms() < 900 ? 1 : 100 + co_int(arg) * 10);
	}
}

static void gc_log(void *arg)
{
	(void)arg;
	while (!co_over()) {
		co_event_wait_for(&gc_full, 350);
		co_event_clear(&gc_full);
		gc_waiting = 0;
		co_notify(&gc_flushed, 100);
	}
	co_sleep(300);
	co_notify(&gc_flushed, 100);
}

static void group_commit(void)
{
	co_crew(10, gc_transaction, "transaction");
	co_go(gc_log, NULL, "log");
	co_parked_ms = 3400;
	co_start(1);
}

/* --- idle-tenants ---
 * Healthy: a queue and a worker for each of 40 tenants. Six are busy, ten had a little to do at first, the others nothing at all.
 */
static struct co_sem it_work[40];

static void it_tenant(void *arg)
{
	for (;;) {
		co_acquire(&it_work[co_int(arg)]);
		co_spin_us(20);
	}
}

static void it_front(void *arg)
{
	(void)arg;
	for (int i = 0; !co_over(); i++) {
		co_release(&it_work[i % 6], 1);
		if (co_ms() < 500)
			co_release(&it_work[6 + i % 10], 1);
		co_sleep(1);
	}
}

static void idle_tenants(void)
{
	co_crew(40, it_tenant, "tenant");
	co_go(it_front, NULL, "front");
	co_parked_ms = 2700;
	co_start(2);
}

/* --- quorum ---
 * Healthy: a write goes to three replicas and is done when two have answered. The third, far away, answers 500 ms later, and its
 * coroutine ends then.
 */
struct qu_write {
	int answers, refs;
	struct co_event quorum;
};

static void qu_replica(struct qu_write *w, int ms)
{
	co_sleep(ms);
	pthread_mutex_lock(&co_big);
	bool two = ++w->answers == 2;
	pthread_mutex_unlock(&co_big);
	if (two)
		co_event_set(&w->quorum, 1);
	if (__atomic_sub_fetch(&w->refs, 1, __ATOMIC_ACQ_REL) == 0)
		free(w);
}

static void qu_near(void *arg)
{
	qu_replica(arg, 2);
}

static void qu_far(void *arg)
{
	qu_replica(arg, co_ms() > 700 ? 500 : 3);
}

static void qu_client(void *arg)
{
	for (int i = 0; !co_over(); i++) {
		struct qu_write *w = calloc(1, sizeof *w);
		w->refs = 4;
		co_go(qu_near, w, "near replica");
		co_go(qu_near, w, "near replica");
		co_go(qu_far, w, "far replica");
		co_event_wait(&w->quorum);
		if (__atomic_sub_fetch(&w->refs, 1, __ATOMIC_ACQ_REL) == 0)
			free(w);
		co_sleep(8 + co_int(arg));
	}
}

static void quorum(void)
{
	co_crew(4, qu_client, "client");
	co_start(1);
}

/* --- paused-consumer ---
 * Healthy: a pipeline of generators; the user looks at a page for 1.3 s, and all of the stages wait where they yield.
 */
static struct co_chan pc_stage[3];

static void pc_generator(void *arg)
{
	int n = co_int(arg);
	intptr_t v = 0;
	for (;;) {
		if (n ? co_recv(&pc_stage[n - 1], &v) : co_over())
			break;
		co_send(&pc_stage[n], ++v);
	}
	co_close(&pc_stage[n]);
}

static void pc_user(void *arg)
{
	intptr_t v;
	bool looked = false;
	(void)arg;
	while (!co_recv(&pc_stage[2], &v)) {
		if (co_ms() > 800 && !looked) {
			looked = true;
			co_sleep(1300);
		}
		if (v % 20 == 0)
			co_sleep(2);
	}
}

static void paused_consumer(void)
{
	for (int i = 0; i < 3; i++)
		pc_stage[i].cap = 1;
	co_crew(3, pc_generator, "generator");
	co_go(pc_user, NULL, "user");
	co_start(1);
}

/* --- lease ---
 * Healthy: a holder renews its lease each 50 ms; two candidates wait for it to run out, with time-outs of three seconds that start
 * anew with each renewal, then the renewals come each 900 ms only.
 */
static struct co_list le_renewed;

static void le_holder(void *arg)
{
	(void)arg;
	while (!co_over()) {
		co_notify(&le_renewed, 10);
		co_sleep(co_ms() < 900 ? 20 : 900);
	}
	co_notify(&le_renewed, 10);
}

static void le_candidate(void *arg)
{
	(void)arg;
	while (!co_over())
		co_wait_for(&le_renewed, 3000);
}

static void lease(void)
{
	co_go(le_holder, NULL, "holder");
	co_crew(2, le_candidate, "candidate");
	co_crew(2, request, "request");
	co_parked_ms = 3400;
	co_start(2);
}

/* --- silent-terminal ---
 * Healthy: an editor whose terminal is silent: the reader of keys had input for some time, the screen is drawn when there is
 * something new, and the language server is asked from time to time.
 */
static int st_tty[2];
static struct co_event st_dirty;

static void st_keys(void *arg)
{
	char c;
	(void)arg;
	while (co_read(st_tty[0], &c, 1) > 0)
		co_event_set(&st_dirty, 1);
}

static void st_screen(void *arg)
{
	(void)arg;
	for (;;) {
		co_event_wait(&st_dirty);
		co_event_clear(&st_dirty);
		co_spin_us(100);
	}
}

static void *st_user(void *arg)
{
	(void)arg;
	while (co_ms() < 900) {
		if (write(st_tty[1], "k", 1) != 1)
			break;
		co_block_ms(7);
	}
	return NULL;
}

static void silent_terminal(void)
{
	co_pair(st_tty);
	co_go(st_keys, NULL, "keys");
	co_go(st_screen, NULL, "screen");
	co_parked_ms = 2800;
	co_start(1);
	co_thread(st_user, NULL);
}

/* --- fewer-workers ---
 * Healthy: a governor lets as many of eight workers run as there is load for. They take turns at first; then there is load for one,
 * and the seven that are parked stay so, with none to wake them.
 */
static struct co_list fw_park;
static int fw_limit = 8, fw_active;

static void fw_worker(void *arg)
{
	(void)arg;
	while (!co_over()) {
		pthread_mutex_lock(&co_big);
		if (fw_active >= fw_limit)
			co_park(&fw_park, 0);
		else
			pthread_mutex_unlock(&co_big);
		__atomic_fetch_add(&fw_active, 1, __ATOMIC_RELAXED);
		co_sleep(2);
		__atomic_fetch_sub(&fw_active, 1, __ATOMIC_RELAXED);
		if (co_ms() < 900)
			co_notify(&fw_park, 1);
		co_sleep(1);
	}
	co_notify(&fw_park, 100);
}

static void fw_governor(void *arg)
{
	(void)arg;
	for (int i = 0; co_ms() < 900; i++) {
		fw_limit = 3 + i % 5;
		co_sleep(10);
	}
	fw_limit = 1;
}

static void fewer_workers(void)
{
	co_crew(8, fw_worker, "worker");
	co_go(fw_governor, NULL, "governor");
	co_parked_ms = 3000;
	co_start(1);
}

/* --- first-byte ---
 * Healthy: subscribers to a stream that has not begun (a live broadcast of later), beside one that runs; nobody ever came back
 * from this line.
 */
static struct co_event fb_begins;

static void fb_viewer(void *arg)
{
	(void)arg;
	co_event_wait(&fb_begins);
}

static void first_byte(void)
{
	co_crew(12, fb_viewer, "viewer");
	co_crew(6, request, "running stream");
	co_parked_ms = 2600;
	co_start(2);
}

int main(int argc, char **argv)
{
	static const struct scenario all[] = {
		{ "main-joins", "healthy", main_joins },
		{ "silence", "healthy", silence },
		{ "rare-alarm", "healthy", rare_alarm },
		{ "closed-window", "healthy", closed_window },
		{ "group-commit", "healthy", group_commit },
		{ "idle-tenants", "healthy", idle_tenants },
		{ "quorum", "healthy", quorum },
		{ "paused-consumer", "healthy", paused_consumer },
		{ "lease", "healthy", lease },
		{ "silent-terminal", "healthy", silent_terminal },
		{ "fewer-workers", "healthy", fewer_workers },
		{ "first-byte", "healthy", first_byte },
		{ 0 },
	};
	return co_main(argc, argv, all);
}
