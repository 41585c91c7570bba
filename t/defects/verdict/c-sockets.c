/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* c-sockets.c - servers and clients over sockets: registrations that miss their event, and connections that are merely idle. */
#include "c.h"

static int sk_fd[32][2];

static void sk_open(int n)
{
	for (int i = 0; i < n; i++)
		co_pair(sk_fd[i]);
}

static void echo(void *arg)
{
	char buf[256];
	ssize_t n;
	while ((n = co_read(sk_fd[co_int(arg)][1], buf, sizeof buf)) > 0)
		if (co_write(sk_fd[co_int(arg)][1], buf, (size_t)n) < 0)
			break;
}

/* --- edge-not-drained ---
 * A server with edge-triggered epoll reads once for each edge, at most 64 bytes. A request that is longer leaves a rest in the
 * socket, no edge comes for it, and the client waits for its answer.
 */
static void ed_server(void *arg)
{
	int fd = sk_fd[co_int(arg)][1], have = 0;
	char buf[64];
	co_fd_edge(fd);
	for (;;) {
		ssize_t n = recv(fd, buf, sizeof buf, 0);
		if (n == 0)
			return;
		have += n > 0 ? (int)n : 0;
		bool whole = n > 0 && buf[n - 1] == '\n';
		if (whole && send(fd, &have, sizeof have, MSG_NOSIGNAL) < 0)
			return;
		if (n < 0 || !co_twin)
			co_wait_fd_at(fd, EPOLLIN, 0, CO_PLACE); /* HERE edge-not-drained */
	}
}

static void ed_client(void *arg)
{
	int fd = sk_fd[co_int(arg)][0], answer;
	char request[100];
	memset(request, 'x', sizeof request);
	while (!co_over()) {
		size_t n = co_int(arg) == 2 && co_ms() > CO_BITE_MS ? 100 : 40;
		request[n - 1] = '\n';
		co_write(fd, request, n);
		if (co_read(fd, &answer, sizeof answer) <= 0)
			break;
		request[n - 1] = 'x';
		co_sleep(3);
	}
	co_fd_close(fd);
}

static void edge_not_drained(void)
{
	sk_open(6);
	co_crew(6, ed_server, "connection");
	co_crew(6, ed_client, "client");
	co_start(2);
}

/* --- registered-late ---
 * A DNS client asks its question and registers for the answer afterwards. One that is in the cache is answered within the call, when
 * nobody is registered yet, and is thrown away. The repair looks whether the answer is there before it waits.
 */
static struct rl {
	struct co_list waiting;
	bool answered;
} rl_name[5];
static struct co_chan rl_questions = { .cap = 32 };

static void rl_answer(struct rl *r)
{
	pthread_mutex_lock(&co_big);
	r->answered = true;
	if (r->waiting.first)
		co_wake(r->waiting.first, 0);
	pthread_mutex_unlock(&co_big);
}

static void rl_resolver(void *arg)
{
	intptr_t n;
	(void)arg;
	while (!co_recv(&rl_questions, &n)) {
		co_sleep(1);
		rl_answer(&rl_name[n]);
	}
}

static void rl_lookup(void *arg)
{
	struct rl *r = &rl_name[co_int(arg)];
	while (!co_over()) {
		r->answered = false;
		if (co_int(arg) == 3 && co_ms() > CO_BITE_MS)
			rl_answer(r); /* from the cache */
		else
			co_send(&rl_questions, co_int(arg));
		pthread_mutex_lock(&co_big);
		if (co_twin && r->answered)
			pthread_mutex_unlock(&co_big);
		else
			co_park(&r->waiting, 0); /* HERE registered-late */
		co_sleep(2);
	}
}

static void registered_late(void)
{
	co_go(rl_resolver, NULL, "resolver");
	co_crew(5, rl_lookup, "lookup");
	co_parked_ms = 2800;
	co_start(1);
}

/* --- missing-length ---
 * An upload: the server waits for as many bytes as the header says, the client that sends a compressed body forgot to write the
 * new length there, and waits for the answer. Both wait for the other's bytes.
 */
static void ml_server(void *arg)
{
	int fd = sk_fd[co_int(arg)][1];
	unsigned char buf[64];
	for (;;) {
		int need = -1, have = 0;
		while (need < 0 || have < need) {
			ssize_t n = co_read(fd, buf, sizeof buf); /* HERE missing-length */
			if (n <= 0)
				return;
			if (need < 0)
				need = buf[0];
			have += (int)n;
		}
		if (co_write(fd, buf, 1) < 0)
			return;
	}
}

static void ml_client(void *arg)
{
	int fd = sk_fd[co_int(arg)][0];
	unsigned char body[50] = { 0 };
	while (!co_over()) {
		bool zipped = co_ms() > CO_BITE_MS && co_int(arg) == 1;
		size_t n = zipped ? 20 : sizeof body;
		body[0] = (unsigned char)(zipped && co_twin ? n : sizeof body);
		co_write(fd, body, n);
		if (co_read(fd, body, 1) <= 0) /* HERE missing-length */
			break;
		co_sleep(4);
	}
	co_fd_close(fd);
}

static void missing_length(void)
{
	sk_open(5);
	co_crew(5, ml_server, "connection");
	co_crew(5, ml_client, "client");
	co_start(2);
}

/* --- handler-leaked ---
 * A web server starts a logger for each request that waits for the end of the response. Responses without a body do not tell it,
 * so one more coroutine stays with each request.
 */
struct hl_request {
	struct co_event end;
};

static void hl_logger(void *arg)
{
	struct hl_request *r = arg;
	co_event_wait(&r->end); /* HERE handler-leaked */
	free(r);
}

static void hl_client(void *arg)
{
	for (int i = 0; !co_over(); i++) {
		struct hl_request *r = calloc(1, sizeof *r);
		co_go(hl_logger, r, "logger of request %d", i); /* HERE handler-leaked */
		co_sleep(2);
		if (!(co_bites() && co_int(arg) < 2))
			co_event_set(&r->end, 0);
		co_sleep(8);
	}
}

static void handler_leaked(void)
{
	co_crew(4, hl_client, "connection");
	co_start(2);
}

/* --- partial-write ---
 * A server sends a large page to a client that reads slowly: it takes a short write for the end, waits for the client's next
 * request, and the client waits for the rest of the page.
 */
enum { PW_PAGE = 1 << 20 };

static void pw_server(void *arg)
{
	int fd = sk_fd[co_int(arg)][1];
	static char page[PW_PAGE];
	char c;
	while (co_read(fd, &c, 1) > 0) { /* HERE partial-write */
		size_t n = c == 'L' ? PW_PAGE : 2000;
		if (co_twin)
			co_write(fd, page, n);
		else if (send(fd, page, n, MSG_NOSIGNAL) < 0)
			return;
	}
}

static void pw_client(void *arg)
{
	int fd = sk_fd[co_int(arg)][0];
	char buf[4096];
	while (!co_over()) {
		bool large = co_int(arg) == 0 && co_ms() > CO_BITE_MS;
		size_t left = large ? PW_PAGE : 2000;
		co_write(fd, large ? "L" : "s", 1);
		while (left) {
			ssize_t n = co_read(fd, buf, left < sizeof buf ? left : sizeof buf); /* HERE partial-write */
			if (n <= 0)
				return;
			left -= (size_t)n;
		}
		co_sleep(3);
	}
	co_fd_close(fd);
}

static void partial_write(void)
{
	sk_open(4);
	co_crew(4, pw_server, "connection");
	co_crew(4, pw_client, "client");
	co_start(2);
}

/* --- accept-loop ---
 * Healthy: a listener that had 40 connections in its first 800 ms and none since. It waits, as it should, until the exit.
 */
static int al_listen;

static void al_accept(void *arg)
{
	char n;
	(void)arg;
	for (int i = 0; co_read(al_listen, &n, 1) > 0; i++)
		co_go(echo, (void *)(intptr_t)n, "connection %d", i);
}

static void al_clients(void *arg)
{
	char buf[8];
	(void)arg;
	for (int i = 0; i < 30 && co_ms() < 800; i++) {
		char n = (char)i;
		co_write(sk_fd[30][0], &n, 1);
		for (int k = 0; k < 5; k++) {
			co_write(sk_fd[i][0], "ping", 4);
			co_read(sk_fd[i][0], buf, sizeof buf);
		}
		co_fd_close(sk_fd[i][0]);
		co_sleep(20);
	}
}

static void accept_loop(void)
{
	sk_open(31);
	al_listen = sk_fd[30][1];
	co_go(al_accept, NULL, "listener");
	co_go(al_clients, NULL, "clients");
	co_parked_ms = 2700;
	co_start(1);
}

/* --- keep-alive ---
 * Healthy: twenty connections that are kept open; after a second three of them are used, the others wait for the next request.
 */
static void ka_client(void *arg)
{
	int fd = sk_fd[co_int(arg)][0];
	char buf[16];
	while (!co_over() && (co_ms() < 900 || co_int(arg) < 3)) {
		co_write(fd, "get", 3);
		co_read(fd, buf, sizeof buf);
		co_sleep(4);
	}
}

static void keep_alive(void)
{
	sk_open(20);
	co_crew(20, echo, "connection");
	co_crew(20, ka_client, "client");
	co_parked_ms = 2800;
	co_start(2);
}

/* --- slow-reader ---
 * Healthy: a client on a slow line reads a large page in small pieces; the server's writes wait for room for up to 300 ms each.
 */
static void sr_server(void *arg)
{
	static const char block[65536];
	(void)arg;
	for (int i = 0; !co_over(); i++)
		if (co_write(sk_fd[0][1], block, co_ms() < 700 ? 512 : sizeof block) < 0)
			break;
	co_fd_close(sk_fd[0][1]);
}

static void sr_client(void *arg)
{
	static char buf[32768];
	(void)arg;
	while (co_read(sk_fd[0][0], buf, sizeof buf) > 0)
		if (co_ms() > 700 && !co_over())
			co_sleep(150);
}

static void slow_reader(void)
{
	sk_open(3);
	co_go(sr_server, NULL, "download");
	co_go(sr_client, NULL, "slow client");
	for (intptr_t i = 1; i < 3; i++) {
		co_go(echo, (void *)i, "connection %d", (int)i);
		co_go(ka_client, (void *)i, "client %d", (int)i);
	}
	co_parked_ms = 3300;
	co_start(2);
}

/* --- idle-times-out ---
 * Healthy: a server closes connections that were idle for 500 ms. Their last reads end by the time-out, one after the other.
 */
static void it_server(void *arg)
{
	int fd = sk_fd[co_int(arg)][1];
	char buf[16];
	while (!co_readable_for(fd, 500))
		if (recv(fd, buf, sizeof buf, 0) <= 0 || send(fd, buf, 1, MSG_NOSIGNAL) < 0)
			break;
	co_fd_close(fd);
}

static void it_client(void *arg)
{
	int fd = sk_fd[co_int(arg)][0];
	char buf[16];
	while (co_ms() < 700 + co_int(arg) * 100) {
		co_write(fd, "x", 1);
		if (co_read(fd, buf, 1) <= 0)
			break;
		co_sleep(5);
	}
	while (co_read(fd, buf, 1) > 0)
		;
	co_fd_close(fd);
}

static void idle_times_out(void)
{
	sk_open(10);
	co_crew(10, it_server, "connection");
	co_crew(10, it_client, "client");
	co_start(2);
}

/* --- drain ---
 * Healthy: at the shutdown the listener stops, connections finish their last request, which takes one of them a second, and all
 * end one after the other.
 */
static bool dr_closing;

static void dr_connection(void *arg)
{
	int n = co_int(arg), fd = sk_fd[n][1];
	char buf[16];
	while (co_read(fd, buf, 1) > 0) {
		co_sleep(dr_closing && n == 4 ? 1000 : 2);
		if (co_write(fd, buf, 1) < 0)
			break;
	}
	co_fd_close(fd);
}

static void dr_client(void *arg)
{
	int fd = sk_fd[co_int(arg)][0];
	char buf[16];
	for (bool last = false; !last;) {
		last = dr_closing;
		co_write(fd, "r", 1);
		co_read(fd, buf, 1);
		co_sleep(3);
	}
	co_fd_close(fd);
}

static void dr_main(void *arg)
{
	(void)arg;
	co_sleep(1100);
	dr_closing = true;
}

static void drain(void)
{
	sk_open(8);
	co_crew(8, dr_connection, "connection");
	co_crew(8, dr_client, "client");
	co_go(dr_main, NULL, "main");
	co_start(2);
}

/* --- dead-peer ---
 * Healthy: a connection to a peer that says nothing at all from the beginning (a monitor that only listens), beside busy ones; and
 * one whose peer is gone, at which the read ended.
 */
static void dead_peer(void)
{
	sk_open(8);
	co_crew(8, echo, "connection");
	for (intptr_t i = 0; i < 6; i++)
		co_go(ka_client, (void *)i, "client %d", (int)i);
	close(sk_fd[7][0]);
	co_parked_ms = 2900;
	co_start(2);
}

/* --- upstream-slow ---
 * Healthy: a proxy asks an upstream over a socket, which needs 1.2 s for one of the answers. The client behind it waits as long.
 */
static void us_upstream(void *arg)
{
	int fd = sk_fd[co_int(arg)][1];
	char c;
	bool slow = co_int(arg) == 1;
	while (co_read(fd, &c, 1) > 0) {
		if (slow && co_ms() > 900) {
			slow = false;
			co_sleep(1200);
		}
		if (co_write(fd, &c, 1) < 0)
			break;
	}
}

static void us_proxy(void *arg)
{
	int in = sk_fd[co_int(arg) + 4][1], up = sk_fd[co_int(arg)][0];
	char c;
	while (co_read(in, &c, 1) > 0) {
		co_write(up, &c, 1);
		co_read(up, &c, 1);
		co_write(in, &c, 1);
	}
	co_fd_close(up);
}

static void us_client(void *arg)
{
	int fd = sk_fd[co_int(arg) + 4][0];
	char c = 'q';
	while (!co_over()) {
		co_write(fd, &c, 1);
		co_read(fd, &c, 1);
		co_sleep(3);
	}
	co_fd_close(fd);
}

static void upstream_slow(void)
{
	sk_open(8);
	co_crew(4, us_upstream, "upstream");
	co_crew(4, us_proxy, "proxy");
	co_crew(4, us_client, "client");
	co_start(2);
}

int main(int argc, char **argv)
{
	static const struct scenario all[] = {
		{ "edge-not-drained", "defect", edge_not_drained },
		{ "registered-late", "defect", registered_late },
		{ "missing-length", "defect", missing_length },
		{ "handler-leaked", "defect", handler_leaked },
		{ "partial-write", "defect", partial_write },
		{ "accept-loop", "healthy", accept_loop },
		{ "keep-alive", "healthy", keep_alive },
		{ "slow-reader", "healthy", slow_reader },
		{ "idle-times-out", "healthy", idle_times_out },
		{ "drain", "healthy", drain },
		{ "dead-peer", "healthy", dead_peer },
		{ "upstream-slow", "healthy", upstream_slow },
		{ 0 },
	};
	return co_main(argc, argv, all);
}
