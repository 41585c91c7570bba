/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* c-channels.c - channels, mailboxes and replies: messages that never come, and quiet ones that need not. */
#include "c.h"

/* --- both-full ---
 * A proxy with a bounded queue in each direction: a client sends its whole batch before it reads an answer, the server answers
 * each before it takes the next. With a batch that is larger than both queues each waits for room at the other.
 */
static struct co_chan bf_up = { .cap = 8 }, bf_down = { .cap = 8 };

static void bf_server(void *arg)
{
	intptr_t v;
	(void)arg;
	while (!co_recv(&bf_up, &v))
		co_send(&bf_down, v * 2); /* HERE both-full */
	co_close(&bf_down);
}

static void bf_client(void *arg)
{
	intptr_t v;
	(void)arg;
	while (!co_over()) {
		int batch = co_ms() > CO_BITE_MS ? 40 : 6, got = 0;
		for (int i = 0; i < batch; i++) {
			for (; co_twin && i - got >= 6; got++)
				co_recv(&bf_down, &v);
			co_send(&bf_up, i); /* HERE both-full */
		}
		for (; got < batch; got++)
			co_recv(&bf_down, &v);
		co_sleep(3);
	}
	co_close(&bf_up);
}

static void both_full(void)
{
	co_go(bf_server, NULL, "server");
	co_go(bf_client, NULL, "client");
	co_start(2);
}

/* --- sender-leaves ---
 * A map-reduce: the collector of the results reads until the channel is closed. The last of the mappers closes it, but one that
 * fails leaves without counting itself down, so nobody is the last.
 */
static struct sl {
	struct co_chan results;
	int mappers;
} *sl_round;

static void sl_mapper(void *arg)
{
	struct sl *r = sl_round;
	for (int i = 0; i < 5; i++) {
		co_send(&r->results, i);
		co_sleep(1);
	}
	if (arg && co_bites())
		return; /* a bad record */
	pthread_mutex_lock(&co_big);
	int left = --r->mappers;
	pthread_mutex_unlock(&co_big);
	if (!left)
		co_close(&r->results);
}

static void sl_reduce(void *arg)
{
	intptr_t v;
	(void)arg;
	while (!co_over()) {
		struct sl *r = sl_round = calloc(1, sizeof *r);
		struct co *crew[4];
		r->results.cap = 4;
		r->mappers = 4;
		for (int i = 0; i < 4; i++)
			crew[i] = co_spawn(sl_mapper, (void *)(intptr_t)(i == 2), "mapper %d", i);
		while (!co_recv(&r->results, &v)) /* HERE sender-leaves */
			co_spin_us(5);
		for (int i = 0; i < 4; i++)
			co_join(crew[i]);
		free(r);
	}
}

static void sl_heartbeat(void *arg)
{
	(void)arg;
	while (!co_over())
		co_sleep(50);
}

static void sender_leaves(void)
{
	co_go(sl_reduce, NULL, "reducer");
	co_go(sl_heartbeat, NULL, "heartbeat");
	co_start(2);
}

/* --- reply-dropped ---
 * An RPC server: the handler of an unknown method logs and goes on with the next call, and never answers this one. The caller
 * has no deadline.
 */
struct rd_call {
	int method;
	struct co_event reply;
};
static struct co_chan rd_calls = { .cap = 16 };

static void rd_server(void *arg)
{
	intptr_t v;
	(void)arg;
	while (!co_recv(&rd_calls, &v)) {
		struct rd_call *c = (struct rd_call *)v;
		if (c->method > 3 && !co_twin)
			continue;
		co_sleep(c->method > 3 ? 0 : 1);
		co_event_set(&c->reply, c->method > 3 ? -ENOSYS : 0);
	}
}

static void rd_caller(void *arg)
{
	for (int i = 0; !co_over(); i++) {
		struct rd_call call = { .method = co_int(arg) == 4 && co_ms() > CO_BITE_MS ? 9 : i % 4 };
		co_send(&rd_calls, (intptr_t)&call);
		co_event_wait(&call.reply); /* HERE reply-dropped */
		co_sleep(2);
	}
}

static void reply_dropped(void)
{
	co_crew(2, rd_server, "rpc server");
	co_crew(8, rd_caller, "caller");
	co_parked_ms = 2800;
	co_start(2);
}

/* --- slow-subscriber ---
 * A market feed sends each tick to every subscriber's queue, one after the other, and waits where one is full. A subscriber whose
 * peer has gone waits for its acknowledgement for ever, its queue fills, and the feed stands for all.
 */
static struct co_chan ss_queue[5];
static struct co_event ss_ack[5];

static void ss_feed(void *arg)
{
	(void)arg;
	for (int tick = 0; !co_over(); tick++) {
		for (int i = 0; i < 5; i++) {
			if (co_twin)
				co_send_for(&ss_queue[i], tick, 20);
			else
				co_send(&ss_queue[i], tick); /* HERE slow-subscriber */
		}
		co_sleep(2);
	}
	for (int i = 0; i < 5; i++)
		co_close(&ss_queue[i]);
}

static void ss_peer(void *arg)
{
	int n = co_int(arg);
	while (!co_over() && !(n == 3 && co_ms() > CO_BITE_MS && !co_twin)) {
		co_event_set(&ss_ack[n], 1);
		co_sleep(1);
	}
	if (co_over())
		co_event_set(&ss_ack[n], 1);
}

static void ss_subscriber(void *arg)
{
	int n = co_int(arg);
	intptr_t v;
	while (!co_recv(&ss_queue[n], &v)) {
		co_event_wait(&ss_ack[n]); /* HERE slow-subscriber */
		if (!co_over())
			co_event_clear(&ss_ack[n]);
	}
}

static void slow_subscriber(void)
{
	for (int i = 0; i < 5; i++)
		ss_queue[i].cap = 16;
	co_crew(5, ss_peer, "peer");
	co_crew(5, ss_subscriber, "subscriber");
	co_go(ss_feed, NULL, "feed");
	co_parked_ms = 2900;
	co_start(2);
}

/* --- wrong-session ---
 * A chat gateway: answers are routed by a session's number, taken modulo the table. After a reconnect the number is one more,
 * and the answer goes to the neighbour, who throws away what it did not ask for.
 */
static struct co_chan ws_box[8], ws_work = { .cap = 64 };

static void ws_gateway(void *arg)
{
	intptr_t v;
	(void)arg;
	while (!co_recv(&ws_work, &v)) {
		co_sleep(1);
		int to = (int)(v >> 8);
		if (to == 5 && co_bites())
			to = 6; /* the old number of the session */
		co_send(&ws_box[to], v);
	}
}

static void ws_session(void *arg)
{
	int n = co_int(arg);
	intptr_t v;
	for (intptr_t i = 0; !co_over(); i++) {
		intptr_t mine = (intptr_t)n << 8 | (i & 255);
		co_send(&ws_work, mine);
		do
			co_recv(&ws_box[n], &v); /* HERE wrong-session */
		while (v != mine);
		co_sleep(3);
	}
}

static void wrong_session(void)
{
	for (int i = 0; i < 8; i++)
		ws_box[i].cap = 16;
	co_crew(2, ws_gateway, "gateway");
	co_crew(8, ws_session, "session");
	co_parked_ms = 2800;
	co_start(2);
}

/* --- quiet-subscribers ---
 * Healthy: thirty subscribers, of which the topics of four have messages; of the other ones a few had some at the beginning.
 */
static struct co_chan qs_topic[30];

static void qs_subscriber(void *arg)
{
	intptr_t v;
	while (!co_recv(&qs_topic[co_int(arg)], &v))
		co_spin_us(5);
}

static void qs_publisher(void *arg)
{
	(void)arg;
	for (int i = 0; !co_over(); i++) {
		co_send(&qs_topic[i % 4], i);
		if (i < 200)
			co_send(&qs_topic[4 + i % 10], i);
		co_sleep(1);
	}
	for (int i = 0; i < 30; i++)
		co_close(&qs_topic[i]);
}

static void quiet_subscribers(void)
{
	for (int i = 0; i < 30; i++)
		qs_topic[i].cap = 8;
	co_crew(30, qs_subscriber, "subscriber");
	co_go(qs_publisher, NULL, "publisher");
	co_start(2);
}

/* --- backpressure ---
 * Healthy: the sink of a pipeline flushes for 1.2 s once, all stages stand with full queues meanwhile, and go on.
 */
static struct co_chan bp_stage[4];

static void bp_run(void *arg)
{
	int n = co_int(arg);
	intptr_t v;
	while (!co_recv(&bp_stage[n], &v))
		co_send(&bp_stage[n + 1], v + 1);
	co_close(&bp_stage[n + 1]);
}

static void bp_sink(void *arg)
{
	intptr_t v;
	bool flushed = false;
	(void)arg;
	while (!co_recv(&bp_stage[3], &v)) {
		if (co_ms() > 800 && !flushed) {
			flushed = true;
			co_sleep(1200);
		}
		co_sleep(1);
	}
}

static void bp_source(void *arg)
{
	(void)arg;
	for (int i = 0; !co_over(); i++)
		co_send(&bp_stage[0], i);
	co_close(&bp_stage[0]);
}

static void backpressure(void)
{
	for (int i = 0; i < 4; i++)
		bp_stage[i].cap = 6;
	co_crew(3, bp_run, "stage");
	co_go(bp_sink, NULL, "sink");
	co_go(bp_source, NULL, "source");
	co_start(2);
}

/* --- empty-mailboxes ---
 * Healthy: actors with mailboxes that ask each other; after a second nobody asks any more, and all wait until the exit.
 */
static struct co_chan em_box[12];

static void em_actor(void *arg)
{
	int n = co_int(arg);
	intptr_t hops;
	while (!co_recv(&em_box[n], &hops))
		if (hops > 0)
			co_send(&em_box[(n * 5 + 1) % 12], hops - 1);
}

static void em_world(void *arg)
{
	(void)arg;
	for (int i = 0; co_ms() < 1000; i++) {
		co_send(&em_box[i % 12], 10);
		co_sleep(5);
	}
}

static void empty_mailboxes(void)
{
	for (int i = 0; i < 12; i++)
		em_box[i].cap = 64;
	co_crew(12, em_actor, "actor");
	co_go(em_world, NULL, "world");
	co_parked_ms = 2900;
	co_start(2);
}

/* --- hedged ---
 * Healthy: a request goes to two replicas, and whichever answers first wins. The loser is destroyed while it waits for its answer.
 */
struct he_call {
	struct co_event done;
};

static void he_try(void *arg)
{
	struct { struct he_call *call; int ms; } *t = arg;
	co_sleep(t->ms);
	co_event_set(&t->call->done, 1);
}

static void he_client(void *arg)
{
	unsigned seed = (unsigned)co_int(arg) + 7;
	while (!co_over()) {
		struct he_call call = { 0 };
		struct { struct he_call *call; int ms; } a = { &call, 2 }, b = { &call, 2 };
		seed = seed * 1103515245u + 12345u;
		*(seed >> 16 & 1 ? &a.ms : &b.ms) = 400 + (int)(seed >> 20 & 255);
		struct co *first = co_spawn(he_try, &a, "replica a"), *second = co_spawn(he_try, &b, "replica b");
		co_event_wait(&call.done);
		co_sleep(1);
		bool one = co_destroy(first), two = co_destroy(second);
		if (!one || !two)
			co_sleep(2); /* the winner may still be about to return */
		co_sleep(4);
	}
}

static void hedged(void)
{
	co_crew(6, he_client, "client");
	co_start(1);
}

/* --- abandoned-generators ---
 * Healthy: readers take the first few values of a generator and drop it; each is destroyed where it yields.
 */
struct ag_gen {
	struct co_list more;
	struct co_event out;
};

static void ag_values(void *arg)
{
	struct ag_gen *g = arg;
	for (int i = 0;; i++) {
		pthread_mutex_lock(&co_big);
		g->out.set = true;
		g->out.value = i;
		while (g->out.wait.first)
			co_wake(g->out.wait.first, 0);
		co_park(&g->more, 0);
	}
}

static void ag_reader(void *arg)
{
	for (int round = 0; !co_over(); round++) {
		struct ag_gen g = { 0 };
		struct co *c = co_spawn(ag_values, &g, "values for %d", co_int(arg));
		for (int i = 0; i < 3 + round % 5; i++) {
			co_event_wait(&g.out);
			if (i == 2 + round % 5)
				break;
			co_event_clear(&g.out);
			co_notify(&g.more, 1);
		}
		co_sleep(round % 10 == 9 ? 250 : 2);
		co_destroy(c);
	}
}

static void abandoned_generators(void)
{
	co_crew(5, ag_reader, "reader");
	co_start(1);
}

/* --- quiet-merge ---
 * Healthy: a merge waits for the next of each of three sorted inputs; one of them has a pause of a second and a half.
 */
static struct co_chan qm_in[3];

static void qm_input(void *arg)
{
	int n = co_int(arg);
	for (int i = 0; !co_over(); i++) {
		co_send(&qm_in[n], i);
		co_sleep(n == 1 && co_ms() > 800 && co_ms() < 1000 ? 1500 : 2);
	}
	co_close(&qm_in[n]);
}

static void qm_merge(void *arg)
{
	intptr_t v;
	(void)arg;
	for (int open = 3; open;) {
		open = 0;
		for (int i = 0; i < 3; i++)
			open += !co_recv(&qm_in[i], &v);
	}
}

static void quiet_merge(void)
{
	for (int i = 0; i < 3; i++)
		qm_in[i].cap = 4;
	co_crew(3, qm_input, "input");
	co_go(qm_merge, NULL, "merge");
	co_start(2);
}

/* --- slow-last-call ---
 * Healthy: hundreds of calls of a few milliseconds, and then one report that takes 1.5 s to be answered; the others have left.
 */
static struct co_chan lc_calls = { .cap = 16 };

static void lc_server(void *arg)
{
	intptr_t v;
	(void)arg;
	while (!co_recv(&lc_calls, &v)) {
		struct rd_call *c = (struct rd_call *)v;
		co_sleep(c->method);
		co_event_set(&c->reply, 0);
	}
}

static void lc_caller(void *arg)
{
	do {
		struct rd_call call = { .method = co_int(arg) == 0 && co_ms() > 900 ? 1500 : 2 };
		co_send(&lc_calls, (intptr_t)&call);
		co_event_wait(&call.reply);
		co_sleep(2);
	} while (co_ms() < 1000 || (co_stay && !co_int(arg)));
}

static void slow_last_call(void)
{
	co_crew(3, lc_server, "server");
	co_crew(6, lc_caller, "caller");
	co_parked_ms = 3000;
	co_start(2);
}

int main(int argc, char **argv)
{
	static const struct scenario all[] = {
		{ "both-full", "defect", both_full },
		{ "sender-leaves", "defect", sender_leaves },
		{ "reply-dropped", "defect", reply_dropped },
		{ "slow-subscriber", "defect", slow_subscriber },
		{ "wrong-session", "defect", wrong_session },
		{ "quiet-subscribers", "healthy", quiet_subscribers },
		{ "backpressure", "healthy", backpressure },
		{ "empty-mailboxes", "healthy", empty_mailboxes },
		{ "hedged", "healthy", hedged },
		{ "abandoned-generators", "healthy", abandoned_generators },
		{ "quiet-merge", "healthy", quiet_merge },
		{ "slow-last-call", "healthy", slow_last_call },
		{ 0 },
	};
	return co_main(argc, argv, all);
}
