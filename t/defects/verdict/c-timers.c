/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* c-timers.c - timers, retries and rhythms: ones that were cancelled with the wake in them, and ones that are simply far away. */
#include "c.h"

static void service(void *arg)
{
	while (!co_over())
		co_sleep(2 + co_int(arg) % 3);
}

/* --- timer-cancelled ---
 * An editor's autosave is put off at each key: the old timer is cancelled and a new one started. Since a change the new one is not
 * started while a save is under way, and the saver waits for a timer that nobody started.
 */
static struct co_list tc_quiet;
static struct co *tc_timer;

static void tc_alarm(void *arg)
{
	(void)arg;
	if (!co_sleep(4))
		co_notify(&tc_quiet, 1);
}

static void tc_keys(void *arg)
{
	(void)arg;
	while (!co_over()) {
		struct co *old = tc_timer;
		bool dead = co_ms() > CO_BITE_MS && !co_twin;
		tc_timer = dead ? NULL : co_spawn(tc_alarm, NULL, "autosave timer");
		if (old) {
			co_cancel(old);
			co_forget(old);
		}
		co_sleep(7);
	}
	co_sleep(50);
	co_notify(&tc_quiet, 1);
}

static void tc_saver(void *arg)
{
	(void)arg;
	while (!co_over()) {
		co_wait(&tc_quiet); /* HERE timer-cancelled */
		co_sleep(1);
	}
}

static void timer_cancelled(void)
{
	co_go(tc_saver, NULL, "saver");
	co_go(tc_keys, NULL, "keys");
	co_crew(2, service, "service");
	co_parked_ms = 2900;
	co_start(1);
}

/* --- no-refill ---
 * An API gateway's token bucket: the coroutine that refills it ends when the clock is set back, because the time that has passed
 * is negative. Requests wait for tokens.
 */
static struct co_sem nr_tokens = { .free = 10 };

static void nr_refill(void *arg)
{
	(void)arg;
	while (!co_over()) {
		co_sleep(5);
		if (co_bites())
			return;
		if (nr_tokens.free < 10)
			co_release(&nr_tokens, 5);
	}
	co_release(&nr_tokens, 100);
}

static void nr_request(void *arg)
{
	(void)arg;
	while (!co_over()) {
		co_acquire(&nr_tokens); /* HERE no-refill */
		co_sleep(4);
	}
}

static void no_refill(void)
{
	co_go(nr_refill, NULL, "refill");
	co_crew(6, nr_request, "request");
	co_start(2);
}

/* --- timeout-repairs ---
 * A message broker: an acknowledgement that comes while the batch is being written is not passed on. Nothing hangs, because the
 * producer asks again after its time-out; but a call of 3 ms takes 900.
 */
static struct co_event tr_ack[6];
static struct co_chan tr_log = { .cap = 32 };

static void tr_broker(void *arg)
{
	intptr_t n;
	(void)arg;
	for (int i = 0; !co_recv(&tr_log, &n); i++) {
		co_sleep(2);
		if (n < 3 && co_bites() && !tr_ack[n].value) {
			tr_ack[n].value = 1;
			continue;
		}
		co_event_set(&tr_ack[n], 0);
	}
}

static void tr_producer(void *arg)
{
	int n = co_int(arg);
	while (!co_over()) {
		co_event_clear(&tr_ack[n]);
		do
			co_send(&tr_log, n);
		while (co_event_wait_for(&tr_ack[n], 900) && !co_over()); /* HERE timeout-repairs */
		co_sleep(3);
	}
}

static void timeout_repairs(void)
{
	co_crew(2, tr_broker, "broker");
	co_crew(6, tr_producer, "producer");
	co_parked_ms = 2900;
	co_start(2);
}

/* --- yield-storm ---
 * A job queue's worker that finds the queue locked by another process gives way and tries again, at once and for ever; the sleep
 * between two tries was lost in a merge.
 */
static void ys_worker(void *arg)
{
	while (!co_over()) {
		bool locked = co_ms() > CO_BITE_MS && co_int(arg) == 0;
		for (int i = 0; locked && !co_over(); i++) {
			if (co_twin)
				co_sleep(20);
			else
				co_yield(); /* HERE yield-storm */
		}
		co_sleep(3);
	}
}

static void yield_storm(void)
{
	co_crew(3, ys_worker, "worker");
	co_start(1);
}

/* --- heartbeat ---
 * Healthy: connections with a heartbeat each ten seconds, of which not one comes in this run, beside requests of milliseconds.
 */
static void hb_heart(void *arg)
{
	(void)arg;
	for (;;)
		co_sleep(10000);
}

static void heartbeat(void)
{
	co_crew(8, hb_heart, "heartbeat");
	co_crew(5, service, "request");
	co_parked_ms = 2700;
	co_start(2);
}

/* --- cron ---
 * Healthy: tasks with periods of 20 ms to an hour, all of them waiting at the same line.
 */
static void cr_task(void *arg)
{
	static const int period[] = { 20, 50, 100, 400, 900, 5000, 60000, 3600000 };
	while (!co_over())
		if (co_sleep(period[co_int(arg)]))
			return;
}

static void cron(void)
{
	co_crew(8, cr_task, "every");
	co_parked_ms = 2800;
	co_start(1);
}

/* --- back-off ---
 * Healthy: a peer that is away is tried again after 1, 2, 4, ... milliseconds; the waits at this line grow to a second and more.
 */
static void bo_connect(void *arg)
{
	for (int round = 0; round < 6 && co_ms() < 800; round++) {
		for (int ms = 1; ms < 16; ms *= 2)
			co_sleep(ms);
		co_sleep(5);
	}
	for (int ms = 1; !co_over(); ms *= 2)
		co_sleep(ms + co_int(arg));
}

static void back_off(void)
{
	co_crew(4, bo_connect, "connect");
	co_crew(3, service, "service");
	co_parked_ms = 3200;
	co_start(2);
}

/* --- circuit-breaker ---
 * Healthy: after failures the breaker opens for 1.2 s. Callers are turned away or wait for the probe that closes it again.
 */
static struct co_event cb_closed = { .set = true };

static void cb_caller(void *arg)
{
	while (!co_over()) {
		if (co_int(arg) % 2)
			co_event_wait(&cb_closed);
		else if (co_event_wait_for(&cb_closed, 50))
			continue;
		co_sleep(3);
	}
}

static void cb_breaker(void *arg)
{
	(void)arg;
	for (int i = 0; i < 20; i++) {
		co_sleep(30);
		co_event_clear(&cb_closed);
		co_sleep(i == 10 ? 1200 : 4);
		co_event_set(&cb_closed, 1);
	}
}

static void circuit_breaker(void)
{
	co_crew(8, cb_caller, "caller");
	co_go(cb_breaker, NULL, "breaker");
	co_start(2);
}

/* --- watchdog ---
 * Healthy: a watchdog waits at an event with a time-out of two seconds that is to be kicked in time, and is not needed; another one
 * waits for a failure that does not come.
 */
static struct co_event wd_kick, wd_failure;

static void wd_dog(void *arg)
{
	(void)arg;
	while (!co_over()) {
		co_event_wait_for(&wd_kick, 2000);
		co_event_clear(&wd_kick);
	}
}

static void wd_worker(void *arg)
{
	(void)arg;
	while (!co_over()) {
		co_sleep(5);
		if (co_ms() < 900)
			co_event_set(&wd_kick, 1);
	}
	co_event_set(&wd_kick, 1);
	co_event_set(&wd_failure, 0);
}

static void wd_failed(void *arg)
{
	(void)arg;
	co_event_wait(&wd_failure);
}

static void watchdog(void)
{
	co_go(wd_dog, NULL, "watchdog");
	co_go(wd_failed, NULL, "failure handler");
	co_crew(3, wd_worker, "worker");
	co_parked_ms = 3400;
	co_start(2);
}

/* --- long-poll ---
 * Healthy: clients ask for news with a time-out of 700 ms. There are many at first, then hardly any, so that most polls time out.
 */
static struct co_list lp_news;

static void lp_client(void *arg)
{
	(void)arg;
	while (!co_over())
		co_wait_for(&lp_news, 700);
}

static void lp_editor(void *arg)
{
	(void)arg;
	while (!co_over()) {
		co_notify(&lp_news, 100);
		co_sleep(co_ms() < 900 ? 10 : 1100);
	}
}

static void long_poll(void)
{
	co_crew(10, lp_client, "poll");
	co_go(lp_editor, NULL, "editor");
	co_start(2);
}

/* --- timeouts-by-design ---
 * Healthy: a batcher waits for more until it has eight or 40 ms have passed. There is always something missing at low load, so
 * after a second each of its waits times out.
 */
static struct co_chan tb_items = { .cap = 64 };

static void tb_batcher(void *arg)
{
	intptr_t v;
	(void)arg;
	while (!co_over())
		for (int n = 0; n < 8 && co_recv_for(&tb_items, &v, 40) != -ETIMEDOUT; n++)
			;
}

static void tb_source(void *arg)
{
	(void)arg;
	for (int i = 0; !co_over(); i++) {
		co_send(&tb_items, i);
		co_sleep(co_ms() < 900 ? 2 : 400);
	}
}

static void timeouts_by_design(void)
{
	co_go(tb_batcher, NULL, "batcher");
	co_go(tb_source, NULL, "source");
	co_start(1);
}

/* --- nightly ---
 * Healthy: a job that runs once, 1.2 s after the start, for 800 ms in small steps, and a cleaner that has never been due.
 */
static void ni_job(void *arg)
{
	(void)arg;
	co_sleep(1200);
	for (int i = 0; i < 80; i++) {
		co_spin_us(300);
		co_sleep(8);
	}
}

static void ni_cleaner(void *arg)
{
	(void)arg;
	co_sleep(86400000);
}

static void nightly(void)
{
	co_go(ni_job, NULL, "nightly job");
	co_go(ni_cleaner, NULL, "cleaner");
	co_crew(4, service, "service");
	co_parked_ms = 2900;
	co_start(2);
}

/* --- token-bucket ---
 * Healthy: a rate limiter with a small budget: after a burst each request waits longer for its token, up to more than a second.
 */
static struct co_sem tk_tokens = { .free = 150 };

static void tk_refill(void *arg)
{
	(void)arg;
	while (!co_over()) {
		co_sleep(90);
		co_release(&tk_tokens, 1);
	}
	co_release(&tk_tokens, 100);
}

static void tk_request(void *arg)
{
	(void)arg;
	while (!co_over()) {
		co_acquire(&tk_tokens);
		co_sleep(6);
	}
}

static void token_bucket(void)
{
	co_go(tk_refill, NULL, "refill");
	co_crew(14, tk_request, "request");
	co_start(2);
}

/* --- debounce ---
 * Healthy: a timer that is put off by each event: as long as there are events its coroutine is destroyed while it waits, and made
 * anew. In the end it is let run.
 */
static void db_later(void *arg)
{
	(void)arg;
	co_sleep(500);
}

static void db_events(void *arg)
{
	struct co *timer = NULL;
	(void)arg;
	while (!co_over()) {
		if (timer && !co_destroy(timer))
			co_yield();
		timer = co_spawn(db_later, NULL, "debounce");
		co_sleep(co_ms() % 500 > 450 ? 200 : 8);
	}
	co_join(timer);
}

static void debounce(void)
{
	co_go(db_events, NULL, "events");
	co_crew(2, service, "service");
	co_start(1);
}

int main(int argc, char **argv)
{
	static const struct scenario all[] = {
		{ "timer-cancelled", "defect", timer_cancelled },
		{ "no-refill", "defect", no_refill },
		{ "timeout-repairs", "defect", timeout_repairs },
		{ "yield-storm", "defect", yield_storm },
		{ "heartbeat", "healthy", heartbeat },
		{ "cron", "healthy", cron },
		{ "back-off", "healthy", back_off },
		{ "circuit-breaker", "healthy", circuit_breaker },
		{ "watchdog", "healthy", watchdog },
		{ "long-poll", "healthy", long_poll },
		{ "timeouts-by-design", "healthy", timeouts_by_design },
		{ "nightly", "healthy", nightly },
		{ "token-bucket", "healthy", token_bucket },
		{ "debounce", "healthy", debounce },
		{ 0 },
	};
	return co_main(argc, argv, all);
}
