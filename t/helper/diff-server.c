/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * diff-server.c [PERCENT [REQUESTS]] - a program with a function that can be slower, for ctp-diff: 20 handlers serve requests in turn, on
 * one thread. After read_request a handler runs for PERCENT (100) of about 100 us, after write_reply for about 50 us. A handler that
 * is done with its part of the REQUESTS (1000) ends.
 */
#include "ctp.h"

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

enum { HANDLERS = 20, PARSE_NS = 100000, REPLY_NS = 50000 };

struct handler {
	struct ctp_coro co;
	int left;
	bool reads;
};

static uint64_t now_ns(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* Runs for a time that differs by up to a fifth from call to call. */
static void spin(uint64_t ns)
{
	uint64_t end = now_ns() + ns * (80 + (uint64_t)rand() % 41) / 100;
	while (now_ns() < end)
		;
}

static void read_request(struct handler *h)
{
	h->reads = true;
	ctp_coro_suspend(&h->co, CTP_HERE);
}

static void write_reply(struct handler *h)
{
	h->reads = false;
	ctp_coro_suspend(&h->co, CTP_HERE);
}

static void step(struct handler *h, uint64_t percent)
{
	ctp_coro_wake(&h->co);
	ctp_coro_resume(&h->co);
	if (h->reads) {
		spin(PARSE_NS * percent / 100);
		write_reply(h);
		return;
	}
	spin(REPLY_NS);
	if (--h->left > 0)
		read_request(h);
	else
		ctp_coro_death(&h->co);
}

int main(int argc, char **argv)
{
	uint64_t percent = argc > 1 ? strtoull(argv[1], NULL, 10) : 100;
	int requests = argc > 2 ? atoi(argv[2]) : 1000, busy = HANDLERS;
	static struct handler handlers[HANDLERS];
	srand((unsigned)now_ns());
	for (struct handler *h = handlers; h < handlers + HANDLERS; h++) {
		ctp_coro_new(&h->co, (uintptr_t)h);
		h->left = requests / HANDLERS;
		ctp_coro_resume(&h->co);
		read_request(h);
	}
	while (busy) {
		busy = 0;
		for (struct handler *h = handlers; h < handlers + HANDLERS; h++) {
			if (h->left > 0)
				step(h, percent);
			busy += h->left > 0;
		}
	}
	return 0;
}
