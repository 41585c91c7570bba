/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * c-rests.c - healthy servers whose load has ended or is uneven, with clients that are not traced. A look at one moment (condition
 * once) finds most of them at rest, as a look at a real server does; nothing of that is a finding.
 */
#include "c.h"
#include "loopback.h"

/* Connections are accepted one after the other; each gets its coroutine. Its name is that of the place where it is spawned. */
#define RS_ACCEPT(name, handler)                                                           \
	static void name##_accept(void *arg)                                              \
	{                                                                                  \
		for (int i = 0;; i++) {                                                    \
			int fd;                                                            \
			while ((fd = lo_accept(co_int(arg))) < 0)                          \
				if (co_readable(co_int(arg)))                              \
					return;                                            \
			co_go(handler, (void *)(intptr_t)fd, "connection %d", i);          \
		}                                                                          \
	}

/* n clients that are busy for ms, and keep their connections. */
static void rs_clients(int n, struct lo_client what)
{
	for (int i = 0; i < n; i++) {
		what.pause_ms++;
		lo_start(what);
	}
}

/* A server that can not end by itself, because its clients never do. */
static int rs_listen(void (*accept)(void *))
{
	int port, fd = lo_listen(&port);
	co_parked_ms = 3000;
	co_go(accept, (void *)(intptr_t)fd, "listener");
	return port;
}

/* --- echo ---
 * Twenty connections stay open; after a second three are used.
 */
static void rs_echo(void *arg)
{
	char buf[64];
	ssize_t n;
	while ((n = co_read(co_int(arg), buf, sizeof buf)) > 0)
		if (co_write(co_int(arg), buf, (size_t)n) < 0)
			break;
	co_fd_close(co_int(arg));
}
RS_ACCEPT(ec, rs_echo)

static void echo_kept(void)
{
	int port = rs_listen(ec_accept);
	rs_clients(17, (struct lo_client){ .port = port, .busy_ms = 900, .pause_ms = 2, .first = "ping", .answer = 4 });
	rs_clients(3, (struct lo_client){ .port = port, .pause_ms = 5, .first = "ping", .answer = 4 });
	co_start(2);
}

/* --- web ---
 * Requests have a header and a body, which come apart. Clients keep their connections, and new ones come all the time.
 */
static int wb_line(int fd, char *buf)
{
	int n = 0;
	while (n < 60) {
		if (co_read(fd, buf + n, 1) <= 0)
			return -1;
		if (buf[n++] == '\n')
			break;
	}
	return n;
}

static void wb_connection(void *arg)
{
	int fd = co_int(arg);
	char buf[64];
	while (wb_line(fd, buf) > 0) {
		if (buf[0] == 'P' && wb_line(fd, buf) < 0)
			break;
		co_sleep(1);
		if (co_write(fd, "HTTP/1.1 200\n", 13) < 0)
			break;
	}
	co_fd_close(fd);
}
RS_ACCEPT(wb, wb_connection)

static void *wb_newcomers(void *arg)
{
	struct lo_client c = *(struct lo_client *)arg;
	for (int i = 0; i < 40; i++) {
		c.busy_ms = 20 + i * 7 % 60;
		lo_start(c);
		lo_nap(i < 10 ? 40 : 200);
	}
	return NULL;
}

static void web(void)
{
	static struct lo_client c = { .pause_ms = 3, .first = "GET / HTTP/1.1\n", .answer = 13 };
	c.port = rs_listen(wb_accept);
	rs_clients(8, (struct lo_client){ .port = c.port, .busy_ms = 700, .pause_ms = 2, .first = "PUT\n", .rest = "body\n", .answer = 13 });
	rs_clients(4, (struct lo_client){ .port = c.port, .busy_ms = 1500, .pause_ms = 9, .first = "GET / HTTP/1.1\n", .answer = 13 });
	lo_thread(wb_newcomers, &c);
	co_start(2);
}

/* --- workers ---
 * Handlers give their requests to a pool of workers, and wait for the answer. Then no more requests come.
 */
struct wk_job {
	struct co_event done;
};
static struct co_chan wk_jobs = { .cap = 32 };

static void wk_worker(void *arg)
{
	intptr_t job;
	(void)arg;
	while (!co_recv(&wk_jobs, &job)) {
		co_sleep(2);
		co_event_set(&((struct wk_job *)job)->done, 0);
	}
}

static void wk_connection(void *arg)
{
	int fd = co_int(arg);
	char c;
	while (co_read(fd, &c, 1) > 0) {
		struct wk_job *job = calloc(1, sizeof *job);
		co_send(&wk_jobs, (intptr_t)job);
		co_event_wait(&job->done);
		free(job);
		if (co_write(fd, &c, 1) < 0)
			break;
	}
	co_fd_close(fd);
}
RS_ACCEPT(wk, wk_connection)

static void workers(void)
{
	int port = rs_listen(wk_accept);
	co_crew(8, wk_worker, "worker");
	rs_clients(10, (struct lo_client){ .port = port, .busy_ms = 1200, .pause_ms = 3, .first = "j", .answer = 1 });
	rs_clients(1, (struct lo_client){ .port = port, .pause_ms = 400, .first = "j", .answer = 1 });
	co_start(2);
}

/* --- unix-pair ---
 * A helper is asked over socket pairs, and works on each request in two steps. Of those who ask it, some do seldom after a busy start.
 */
static int up_fd[9][2];

static void *up_main(void *arg)
{
	int n = co_int(arg), fd = up_fd[n][0];
	char c = 'q';
	for (int i = 0;; i++) {
		if (send(fd, &c, 1, MSG_NOSIGNAL) < 0 || lo_receive(fd, 1))
			return NULL;
		lo_nap(i < 150 || n < 4 ? 4 : i % 3 ? 1600 : 5700);
	}
}

static void up_helper(void *arg)
{
	int fd = co_int(arg);
	char c;
	while (co_read(fd, &c, 1) > 0) {
		co_sleep(1);
		co_sleep(1);
		if (co_write(fd, &c, 1) < 0)
			break;
	}
}

static void unix_pair(void)
{
	for (int i = 0; i < 9; i++) {
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, up_fd[i]) || fcntl(up_fd[i][1], F_SETFL, O_NONBLOCK))
			abort();
		co_go(up_helper, (void *)(intptr_t)up_fd[i][1], "helper %d", i);
		lo_thread(up_main, (void *)(intptr_t)i);
	}
	co_parked_ms = 3000;
	co_start(1);
}

/* --- proxy ---
 * Two coroutines for each connection, one for each direction, to a backend that is not traced. Most connections are idle at last, on
 * both sides.
 */
struct px_way {
	int from, to;
};
static int px_backend_port;

static void px_pump(void *arg)
{
	struct px_way way = *(struct px_way *)arg;
	char buf[64];
	ssize_t n;
	free(arg);
	while ((n = co_read(way.from, buf, sizeof buf)) > 0)
		if (co_write(way.to, buf, (size_t)n) < 0)
			break;
}

static struct px_way *px_way(int from, int to)
{
	struct px_way *way = malloc(sizeof *way);
	if (!way)
		abort();
	*way = (struct px_way){ from, to };
	return way;
}

static void px_connection(void *arg)
{
	int fd = co_int(arg), up = lo_connect(px_backend_port, 0);
	if (fcntl(up, F_SETFL, O_NONBLOCK))
		abort();
	co_go(px_pump, px_way(up, fd), "answers");
	struct px_way *way = px_way(fd, up);
	px_pump(way);
}
RS_ACCEPT(px, px_connection)

static void *px_serve(void *arg)
{
	int fd = co_int(arg);
	char buf[64];
	ssize_t n;
	while ((n = recv(fd, buf, sizeof buf, 0)) > 0) {
		lo_nap(5);
		if (send(fd, buf, (size_t)n, MSG_NOSIGNAL) < 0)
			break;
	}
	return NULL;
}

static void *px_backend(void *arg)
{
	int listener = co_int(arg), fd;
	fcntl(listener, F_SETFL, 0);
	while ((fd = accept(listener, NULL, NULL)) >= 0)
		lo_thread(px_serve, (void *)(intptr_t)fd);
	return NULL;
}

static void proxy(void)
{
	lo_thread(px_backend, (void *)(intptr_t)lo_listen(&px_backend_port));
	int port = rs_listen(px_accept);
	rs_clients(10, (struct lo_client){ .port = port, .busy_ms = 900, .pause_ms = 3, .first = "ping", .answer = 4 });
	rs_clients(2, (struct lo_client){ .port = port, .pause_ms = 5, .first = "ping", .answer = 4 });
	co_start(2);
}

/* --- batches ---
 * Producers put items into a queue; a batch worker takes all that came every 400 ms and sends them over one connection.
 */
static struct co_chan bt_items = { .cap = 256 };

static void bt_worker(void *arg)
{
	int up = lo_connect(px_backend_port, 0);
	char c;
	intptr_t item;
	(void)arg;
	fcntl(up, F_SETFL, O_NONBLOCK);
	for (;;) {
		if (co_recv(&bt_items, &item))
			break;
		co_sleep(400);
		for (; bt_items.n; co_recv(&bt_items, &item))
			;
		if (co_write(up, "b", 1) < 0 || co_read(up, &c, 1) <= 0)
			break;
	}
	co_fd_close(up);
}

static void bt_producer(void *arg)
{
	for (int i = 0; co_ms() < 1500 + co_int(arg) * 300; i++) {
		co_send(&bt_items, i);
		co_sleep(5 + i % 7);
	}
	co_sleep(3600000); /* the next one is due in an hour */
}

static void batches(void)
{
	lo_thread(px_backend, (void *)(intptr_t)lo_listen(&px_backend_port));
	co_parked_ms = 3000;
	co_go(bt_worker, NULL, "batch worker");
	co_crew(4, bt_producer, "producer");
	co_start(1);
}

/* --- untold ---
 * An echo server of a program that only tells its events: no wait has a reason. Each request takes two steps.
 */
static void ut_pause(void)
{
	struct co *me = co_self();
	pthread_mutex_lock(&co_big);
	co_timer_start(me, co_in_ms(1));
	me->parked = true;
	tp_suspend(&me->tp);
	swapcontext(&me->ctx, co_home());
}

static void ut_read_all(int fd)
{
	char buf[64];
	for (;;) {
		ssize_t n = recv(fd, buf, sizeof buf, 0);
		if (n == 0)
			return;
		if (n > 0) {
			ut_pause();
			ut_pause();
		}
		if (n > 0 && send(fd, buf, (size_t)n, MSG_NOSIGNAL) < 0)
			return;
		if (n > 0)
			continue;
		struct epoll_event ev = { .events = EPOLLIN | EPOLLONESHOT, .data.fd = fd };
		pthread_mutex_lock(&co_big);
		co_fds[fd].waiter = co_self();
		if (epoll_ctl(co_epoll, co_fds[fd].added ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &ev))
			abort();
		co_fds[fd].added = true;
		co_park(NULL, 0);
	}
}

static void ut_connection(void *arg)
{
	ut_read_all(co_int(arg));
	co_fd_close(co_int(arg));
}
RS_ACCEPT(ut, ut_connection)

static void untold(void)
{
	int port = rs_listen(ut_accept);
	rs_clients(17, (struct lo_client){ .port = port, .busy_ms = 900, .pause_ms = 2, .first = "ping", .answer = 4 });
	rs_clients(3, (struct lo_client){ .port = port, .pause_ms = 5, .first = "ping", .answer = 4 });
	co_start(2);
}

int main(int argc, char **argv)
{
	static const struct scenario all[] = {
		{ "echo", "healthy", echo_kept },
		{ "web", "healthy", web },
		{ "workers", "healthy", workers },
		{ "unix-pair", "healthy", unix_pair },
		{ "proxy", "healthy", proxy },
		{ "batches", "healthy", batches },
		{ "untold", "healthy", untold },
		{ 0 },
	};
	return co_main(argc, argv, all);
}
