/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * report-quiet.c - waits that are no findings because of what they wait for, or because they are part of another finding.
 */
#include <poll.h>

#include "objects-scene.h"

static bool is_helper; /* another coroutine waits through the last one */

/* Requests wait for something that no coroutine provides, and end after life_ns. The last one still waits. */
static const char *last_request(enum ctp_waits_for what, uint64_t marks, uint64_t requests, uint64_t life_ns, uint64_t end_ms)
{
	scene();
	for (uint64_t n = 0; n <= requests; n++) {
		uint64_t ts = 10 * MS + n * 5 * MS, value = what == CTP_WAITS_TIMER ? 10 * S : what == CTP_WAITS_DESCRIPTOR ? FD : A + 16 * n;
		is_born(&h, ts, 100 + n, MAKER);
		resumes(&h, ts + 1, 100 + n, 5);
		if (what)
			waits_so(&h, ts + 2, 100 + n, what, value, 1, marks);
		suspends(&h, ts + 3, 100 + n, 5, 50);
		if (n == requests)
			break;
		is_woken(&h, ts + 4 * MS, 100 + n, 5, 0);
		resumes(&h, ts + 4 * MS + 1, 100 + n, 5);
		if (life_ns > 4 * MS) {
			waits_so(&h, ts + 4 * MS + 2, 100 + n, CTP_WAITS_OTHER, 0x9000, 1, CTP_REASON_RESTS);
			suspends(&h, ts + 4 * MS + 3, 100 + n, 5, 51);
		} else {
			dies(&h, ts + 4 * MS + 2, 100 + n);
		}
	}
	if (is_helper) {
		runs(AT, 2);
		awaits(&h, AT + 1, 2, 100 + requests);
		stops(AT + 2, 2);
	}
	for (uint64_t n = 0; n < requests && life_ns > 4 * MS; n++)
		dies(&h, 10 * MS + requests * 5 * MS + life_ns + n, 100 + n);
	return over_at(end_ms);
}

static void stragglers(void)
{
	is_helper = true;
	is(last_request(CTP_WAITS_EVENT, 0, 40, 4 * MS, END), "", "a coroutine that another one awaits may be a helper");
	is_helper = false;
	is(last_request(CTP_WAITS_EVENT, 0, 40, 4 * MS, END), "never-woken likely 1",
	   "a request that still waits for what many others got soon is found");
	is(last_request(0, 0, 40, 4 * MS, END), "", "it is not found if what it waits for is unknown");
	is(last_request(CTP_WAITS_TIMER, 0, 40, 4 * MS, END), "", "it is not found if it waits for a running timer");
	is(last_request(CTP_WAITS_DESCRIPTOR, 0, 40, 4 * MS, END), "",
	   "it is not found if it waits for a descriptor: a client may be slow");
	is(last_request(CTP_WAITS_EVENT, CTP_REASON_RESTS, 40, 4 * MS, END), "", "it is not found if it may rest there");
	is(last_request(CTP_WAITS_EVENT, CTP_REASON_TIMED, 40, 4 * MS, END), "", "it is not found with a time-out");
	is(last_request(CTP_WAITS_EVENT, 0, 15, 4 * MS, END), "", "it is not found after a few requests");
	is(last_request(CTP_WAITS_EVENT, 0, 40, 200 * MS, END), "", "it is not found if the others lived for a tenth of the time");
	is(last_request(CTP_WAITS_EVENT, 0, 40, 4 * MS, 900), "", "it is not found within a second");
}

static void quiet(bool alive)
{
	scene();
	has(&h, 10, A, CTP_WAITS_ITEM, 0);
	for (uint64_t i = 0; i < 40; i++) { /* 2 produces what 1 takes */
		uint64_t ts = 10 * MS + i * 5 * MS;
		if (!i) {
			runs(ts, 1);
			waits_for(&h, ts + 1, 1, CTP_WAITS_ITEM, A);
			stops(ts + 2, 1);
		}
		runs(ts + 3, 2);
		has(&h, ts + 4, A, CTP_WAITS_ITEM, 1);
		is_woken(&h, ts + 5, 1, 5, 2);
		waits_so(&h, ts + 6, 2, CTP_WAITS_OTHER, 0x9000, 1, CTP_REASON_RESTS);
		suspends(&h, ts + 7, 2, 5, 40);
		resumes(&h, ts + 8, 1, 5);
		has(&h, ts + 9, A, CTP_WAITS_ITEM, 0);
		waits_for(&h, ts + 10, 1, CTP_WAITS_ITEM, A);
		stops(ts + 11, 1);
	}
	if (!alive)
		dies(&h, AT, 2);
	over();
}

/* A server reads requests, 40 times, and then none comes. Others like it may have ended soon. */
static void idle_socket(bool looked, uint64_t unread, uint64_t ended)
{
	scene();
	for (uint64_t co = 100; co < 100 + ended; co++) {
		is_born(&h, 5 + co * 10, co, MAKER + 1);
		resumes(&h, 6 + co * 10, co, 5);
		waits_so(&h, 7 + co * 10, co, CTP_WAITS_DESCRIPTOR, FD + 1, POLLIN, CTP_REASON_CANCELLABLE);
		suspends(&h, 8 + co * 10, co, 5, 31);
		is_woken(&h, 2 * MS + co * 10, co, 6, 0);
		resumes(&h, 2 * MS + co * 10 + 1, co, 5);
		dies(&h, 2 * MS + co * 10 + 2, co);
	}
	for (uint64_t i = 0; i < 40; i++) {
		uint64_t ts = 10 * MS + i * 5 * MS;
		runs(ts, 1);
		waits_so(&h, ts + 1, 1, CTP_WAITS_DESCRIPTOR, FD, POLLIN, CTP_REASON_CANCELLABLE);
		stops(ts + 2, 1);
	}
	for (uint64_t ts = 300 * MS; ts < END * (uint64_t)MS; ts += 50 * MS) { /* another goes on */
		runs(ts, 2);
		stops(ts + 1, 2);
	}
	if (looked)
		kernel_has(&h, 2 * S, FD, unread);
	over();
}

static void sockets(void)
{
	idle_socket(false, 0, 0);
	ok(*suspected, "a server whose wait for a request is unusually long is a suspect: %s", suspected);
	idle_socket(true, 0, 0);
	is(suspected, "", "it is no suspect if the kernel has no data for it");
	idle_socket(true, 0, 5);
	ok(*suspected, "it is a suspect if the other servers have ended: %s", suspected);
	idle_socket(true, 5, 0);
	ok(strstr(found, "unread-data"), "it is found if the kernel has data for it: %s", found);
}

/* One waits for another, which sleeps for an hour or waits for something unknown; each has resumed there 40 times. */
static void sleeper(bool told)
{
	scene();
	for (uint64_t i = 0; i < 40; i++)
		for (uint64_t co = 1; co <= 2; co++) {
			runs(10 * MS + i * 5 * MS + co * 10, co);
			suspends(&h, 10 * MS + i * 5 * MS + co * 10 + 2, co, 5, 50 + co);
		}
	runs(AT, 2);
	if (told)
		waits_for(&h, AT + 1, 2, CTP_WAITS_TIMER, AT + 3600 * S);
	suspends(&h, AT + 2, 2, 5, 52);
	runs(AT + MS, 1);
	awaits(&h, AT + MS + 1, 1, 2);
	suspends(&h, AT + MS + 2, 1, 5, 51);
	over();
}

/* A coroutine has slept for 5 ms many times, and now sleeps for ns. */
static void sleeps_for(uint64_t ns)
{
	scene();
	for (uint64_t i = 0; i < 60; i++) {
		uint64_t ts = 10 * MS + i * 6 * MS;
		runs(ts, 1);
		waits_for(&h, ts + 1, 1, CTP_WAITS_TIMER, ts + 5 * MS);
		stops(ts + 2, 1);
	}
	runs(400 * MS, 1);
	waits_for(&h, 400 * MS + 1, 1, CTP_WAITS_TIMER, 400 * MS + ns);
	stops(400 * MS + 2, 1);
	over();
}

static void sleepers(void)
{
	sleeps_for(4 * S);
	is(suspected, "", "a coroutine that sleeps longer than ever is no suspect");
	sleeps_for(49 * 86400 * S);
	ok(*suspected, "it is a suspect if all others slept for a thousandth of that: %s", suspected);
	sleeper(false);
	ok(*suspected, "a sleeper that others wait for is a suspect: %s", suspected);
	sleeper(true);
	is(suspected, "", "it is no suspect while its timer runs");
}

/* Six coroutines wait for room again and again, coroutine 2 for items; they end each other's waits, until 2 misses an item. */
static void victims(void)
{
	scene();
	has_so(&h, 10, A, CTP_WAITS_ITEM, 0, CTP_OBJECT_MADE);
	for (uint64_t co = 11; co <= 16; co++) {
		is_born(&h, 5 * MS, co, MAKER);
		resumes(&h, 5 * MS + co, co, 5);
		suspends(&h, 5 * MS + co, co, 5, 60);
		is_woken(&h, 5 * MS + 100 + co, co, 6, 0);
	}
	for (uint64_t i = 0; i < 120; i++) {
		uint64_t ts = 10 * MS + i * 2 * MS, co = 11 + i % 6;
		resumes(&h, ts, co, 5);
		is_woken(&h, ts + 1, 2, 5, co);
		waits_for(&h, ts + 2, co, CTP_WAITS_ROOM, A);
		suspends(&h, ts + 3, co, 5, 61);
		resumes(&h, ts + 4, 2, 5);
		is_woken(&h, ts + 5, co, 5, 2);
		waits_for(&h, ts + 6, 2, CTP_WAITS_ITEM, A);
		suspends(&h, ts + 7, 2, 5, 62);
		resumes(&h, ts + 8, co, 5);
		suspends(&h, ts + 9, co, 5, 60);
		is_woken(&h, ts + 10, co, 6, 0);
	}
	has(&h, AT + 1, A, CTP_WAITS_ITEM, 3);
	for (uint64_t co = 11; co <= 16; co++) {
		resumes(&h, AT + co * 10, co, 5);
		waits_for(&h, AT + co * 10 + 2, co, CTP_WAITS_ROOM, A);
		suspends(&h, AT + co * 10 + 3, co, 5, 61);
	}
	is(over(), "available-not-woken likely 1", "a coroutine that waits because of a finding is no other finding");
}

static void makers(void)
{
	quiet(true);
	is(suspected, "", "a coroutine that waits for items of an idle one is no suspect");
	is(found, "", "it is no finding");
	quiet(false);
	ok(*suspected || *found, "it is a suspect or a finding if that one has ended: %s%s", suspected, found);
}

int main(void)
{
	victims();
	sleepers();
	stragglers();
	makers();
	sockets();
	return done_testing();
}
