/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * c-server.c - one ordinary server in many variations: a coroutine for each connection reads a request, takes one of four database
 * connections from a pool, asks the database, gives the connection back and answers. Clients are plain threads, as another machine
 * would be. Its pool loses a wake-up, or a connection, or a lock is never given back.
 */
#include "c.h"

#include <poll.h>

enum { CLIENTS = 16, IDLE = 3, DATABASE = 4 };

enum bug { LOST_WAKE, LEAK, HELD_LOCK, NO_BUG };

/* What makes one variation differ from the others. */
static struct {
	enum bug bug;
	bool early;     /* the first request is there before its connection waits for the first time */
	bool heartbeat; /* a coroutine that ticks every 20 ms */
	bool one_park;  /* all waits of the server have one place */
	bool shared;    /* the pool and the database wait in one function, at one line */
	int idle;       /* clients that connect and never ask */
	int think_ms;   /* between two requests of a client */
	int threads;
} is = { .think_ms = 3, .threads = 2 };

static int sv_fd[CLIENTS + IDLE][2];

/* --- the pool ------------------------------------------------------------------------------------------------------------- */

struct sv_waiter {
	struct co *co;
	bool granted;
	struct sv_waiter *next;
};

static struct {
	int free;
	struct sv_waiter *first, **last;
	pthread_mutex_t lock;
} sv_pool = { .free = DATABASE, .last = &sv_pool.first, .lock = PTHREAD_MUTEX_INITIALIZER };

static struct co_mutex sv_statistics;

/* The only place of a server that has one park function. */
#define SERVER_PARKS CO_PLACE /* HERE park-lost-wake HERE park-leak */

CO_FN struct co_place sv_park(void)
{
	return SERVER_PARKS; /* HERE park-lost-wake HERE park-leak */
}

CO_FN struct co_place sv_shared(void)
{
	return CO_PLACE; /* HERE shared-site */
}

#define PLACE (is.one_park ? sv_park() : CO_PLACE)
#define SHARED (is.one_park ? sv_park() : is.shared ? sv_shared() : CO_PLACE)

/*
 * Who finds no free connection says so, writes a line to the log, and parks. A connection that is given to it in between wakes
 * nobody: it parks for good, and the connection is gone with it. The repair looks whether it was given one before it parks.
 */
static void sv_get(void)
{
	struct sv_waiter me = { .co = co_self() };
	pthread_mutex_lock(&sv_pool.lock);
	bool free = sv_pool.free > 0;
	sv_pool.free -= free;
	if (free)
		tp_holds(ctp_coro_ref(&me.co->tp), &sv_pool, 1);
	if (!sv_pool.free)
		tp_object(&sv_pool, CTP_FOR_PERMITS, 0);
	if (!free) {
		*sv_pool.last = &me;
		sv_pool.last = &me.next;
	}
	pthread_mutex_unlock(&sv_pool.lock);
	if (free)
		return;
	static _Atomic int lines;
	if (is.bug == LOST_WAKE && co_ms() >= CO_BITE_MS && lines++ % 8 == 0)
		co_sleep_at(5, SHARED); /* the log is written to disk */
	pthread_mutex_lock(&co_big);
	if (me.granted && !(co_bites() && is.bug == LOST_WAKE))
		pthread_mutex_unlock(&co_big);
	else {
		tp_waits_for(&me.co->tp, &sv_pool, CTP_FOR_PERMITS);
		co_park_at(NULL, 0, SHARED); /* HERE lost-wake HERE early-lost-wake HERE beat-lost-wake HERE idle-lost-wake HERE busy-lost-wake HERE one-thread-lost-wake HERE all-lost-wake HERE leak HERE idle-leak HERE beat-leak */
	}
}

static void sv_put(void)
{
	pthread_mutex_lock(&sv_pool.lock);
	struct sv_waiter *to = sv_pool.first;
	tp_holds(ctp_coro_ref(&co_self()->tp), &sv_pool, -1);
	if (to)
		tp_holds(ctp_coro_ref(&to->co->tp), &sv_pool, 1);
	else if (!sv_pool.free)
		tp_object(&sv_pool, CTP_FOR_PERMITS, 1);
	if (to && !(sv_pool.first = to->next))
		sv_pool.last = &sv_pool.first;
	sv_pool.free += !to;
	pthread_mutex_lock(&co_big);
	if (to) {
		to->granted = true;
		if (to->co->parked)
			co_wake(to->co, 0);
	}
	pthread_mutex_unlock(&co_big);
	pthread_mutex_unlock(&sv_pool.lock);
}

/* --- connections and clients ---------------------------------------------------------------------------------------------- */

static bool sv_forgets(int request, int who)
{
	return co_bites() && (request + who) % 40 == 0;
}

static void sv_connection(void *arg)
{
	int fd = sv_fd[co_int(arg)][1];
	char request[16];
	for (int i = 0; co_read_at(fd, request, sizeof request, PLACE) > 0; i++) {
		sv_get();
		co_sleep_at(2, SHARED);
		if (is.bug != LEAK || !sv_forgets(i, co_int(arg)))
			sv_put();
		co_lock_until_at(&sv_statistics, 0, PLACE); /* HERE held-lock */
		bool error = is.bug == HELD_LOCK && sv_forgets(i, co_int(arg));
		if (!error)
			co_unlock(&sv_statistics);
		if (co_write_at(fd, request, sizeof request, PLACE) < 0)
			break;
	}
	co_fd_close(fd);
}

static void sv_heartbeat(void *arg)
{
	(void)arg;
	while (!co_over())
		co_sleep(20);
}

/* A client that is not traced: another machine, as far as the server knows. */
static void *sv_client(void *arg)
{
	int fd = sv_fd[co_int(arg)][0];
	char answer[16] = "GET / HTTP/1.1\n";
	for (int i = 0; !co_over(); i++) {
		if (i || !is.early) {
			co_block_ms(is.think_ms);
			if (send(fd, answer, sizeof answer, MSG_NOSIGNAL) < 0)
				break;
		}
		ssize_t n;
		struct pollfd wait = { .fd = fd, .events = POLLIN };
		while ((n = recv(fd, answer, sizeof answer, 0)) < 0 && errno == EAGAIN)
			poll(&wait, 1, -1);
		if (n <= 0)
			break;
	}
	shutdown(fd, SHUT_WR);
	return NULL;
}

static void *sv_idle_client(void *arg)
{
	int fd = sv_fd[co_int(arg)][0];
	while (!co_over())
		co_block_ms(50);
	shutdown(fd, SHUT_WR);
	return NULL;
}

static void serve(void)
{
	for (int i = 0; i < CLIENTS + is.idle; i++) {
		co_pair(sv_fd[i]);
		if (is.early && i < CLIENTS && send(sv_fd[i][0], "GET / HTTP/1.1\n", 16, MSG_NOSIGNAL) != 16)
			abort();
	}
	for (int i = 0; i < CLIENTS + is.idle; i++)
		co_go(sv_connection, (void *)(intptr_t)i, "connection %d", i);
	if (is.heartbeat)
		co_go(sv_heartbeat, NULL, "heartbeat");
	for (int i = 0; i < CLIENTS + is.idle; i++) {
		pthread_t client;
		if (pthread_create(&client, NULL, i < CLIENTS ? sv_client : sv_idle_client, (void *)(intptr_t)i))
			abort();
		pthread_detach(client);
	}
	co_start(is.threads);
}

/* --- the variations ------------------------------------------------------------------------------------------------------- */

static void lost_wake(void) { serve(); }
static void early_lost_wake(void) { is.early = true; serve(); }
static void beat_lost_wake(void) { is.heartbeat = true; serve(); }
static void idle_lost_wake(void) { is.idle = IDLE; serve(); }
static void busy_lost_wake(void) { is.think_ms = 1; serve(); }
static void one_thread_lost_wake(void) { is.threads = 1; serve(); }
static void all_lost_wake(void) { is.early = is.heartbeat = true; is.idle = IDLE; serve(); }
static void park_lost_wake(void) { is.one_park = true; serve(); }
static void shared_site(void) { is.shared = true; serve(); }
static void leak(void) { is.bug = LEAK; serve(); }
static void idle_leak(void) { is.bug = LEAK; is.idle = IDLE; serve(); }
static void beat_leak(void) { is.bug = LEAK; is.heartbeat = true; serve(); }
static void park_leak(void) { is.bug = LEAK; is.one_park = true; serve(); }
static void held_lock(void) { is.bug = HELD_LOCK; is.idle = IDLE; serve(); }
static void sound(void) { is.bug = NO_BUG; is.early = is.heartbeat = true; is.idle = IDLE; serve(); }
static void sound_park(void) { is.bug = NO_BUG; is.one_park = is.heartbeat = true; is.idle = IDLE; serve(); }

int main(int argc, char **argv)
{
	static const struct scenario all[] = {
		{ "lost-wake", "defect", lost_wake },
		{ "early-lost-wake", "defect", early_lost_wake },
		{ "beat-lost-wake", "defect", beat_lost_wake },
		{ "idle-lost-wake", "defect", idle_lost_wake },
		{ "busy-lost-wake", "defect", busy_lost_wake },
		{ "one-thread-lost-wake", "defect", one_thread_lost_wake },
		{ "all-lost-wake", "defect", all_lost_wake },
		{ "park-lost-wake", "defect", park_lost_wake },
		{ "shared-site", "defect", shared_site },
		{ "leak", "defect", leak },
		{ "idle-leak", "defect", idle_leak },
		{ "beat-leak", "defect", beat_leak },
		{ "park-leak", "defect", park_leak },
		{ "held-lock", "defect", held_lock },
		{ "sound", "healthy", sound },
		{ "sound-park", "healthy", sound_park },
		{ 0 },
	};
	return co_main(argc, argv, all);
}
