/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * report-taken: findings name the site where the holder of a lock or a permit got it. Records are made by hand; a site without a text
 * is "site 77". A reader that holds a read lock and waits for it again, while a writer waits, is found with both sites and the writer.
 */
#include "objects-scene.h"

enum { FIRST_SITE = 77, NEXT_SITE = 78, HELD_AT = 100 };

/* Coroutine 2 gets a lock, or one or two permits, and ends; 1 waits for one from AT on. */
static void held(enum ctp_waits_for what, uint64_t site, uint64_t site2)
{
	scene();
	has_so(&h, 10, A, what, site2 ? 2 : 1, CTP_OBJECT_MADE | CTP_OBJECT_OWNED);
	runs(HELD_AT * (uint64_t)MS, 2);
	gets_at(&h, HELD_AT * (uint64_t)MS + 1, 2, A, 1, site);
	if (site2)
		gets_at(&h, HELD_AT * (uint64_t)MS + 2, 2, A, 1, site2);
	has(&h, HELD_AT * (uint64_t)MS + 3, A, what, 0);
	dies(&h, HELD_AT * (uint64_t)MS + 4, 2);
	waits_alone(1, what, A, 1, 0);
	over();
}

/* 1 has the lock A and waits for B, 2 has B and waits for A. */
static void circle(void)
{
	const uint64_t ts = HELD_AT * (uint64_t)MS, locks[] = {A, B};
	scene();
	for (uint64_t co = 1; co <= 2; co++) {
		has_so(&h, 10 + co, locks[co - 1], CTP_WAITS_LOCK, 1, CTP_OBJECT_MADE);
		runs(ts + co * MS, co);
		gets_at(&h, ts + co * MS + 1, co, locks[co - 1], 1, co == 1 ? FIRST_SITE : NEXT_SITE);
		has(&h, ts + co * MS + 2, locks[co - 1], CTP_WAITS_LOCK, 0);
		stops(ts + co * MS + 3, co);
	}
	waits_alone(1, CTP_WAITS_LOCK, B, 1, 0);
	waits_alone(2, CTP_WAITS_LOCK, A, 1, 0);
	over();
}

static bool says(const char *text) { return strstr(why, text); }

static void sentences(void)
{
	held(CTP_WAITS_LOCK, FIRST_SITE, 0);
	is(found, "held-by-dead likely 1", "a lock of a coroutine that has ended is found");
	ok(says("held by coroutine #2, which took it at site 77 and has ended, for 2.90 s\n"), "with the site where that took it: %s", why);
	held(CTP_WAITS_LOCK, 0, 0);
	ok(says("held by coroutine #2, which has ended, for 2.90 s\n"), "without a site, nothing is said of it: %s", why);
	held(CTP_WAITS_PERMITS, FIRST_SITE, FIRST_SITE);
	ok(says("2 of them held by coroutine #2, which took them at site 77 and has ended"), "two permits may have one site: %s", why);
	held(CTP_WAITS_PERMITS, FIRST_SITE, NEXT_SITE);
	ok(says("2 of them held by coroutine #2, which took the last of them at site 78 and has ended"),
	   "of two sites, that of the last permit is named: %s", why);
	circle();
	is(found, "wait-cycle proved 2", "two locks taken in two orders are found");
	ok(says("held by coroutine #1 for 2.90 s, which took it at site 77, and has been suspended at site 31 for"),
	   "with the site where the first was taken: %s", why);
	ok(says("held by coroutine #2 for 2.90 s, which took it at site 78, and has been suspended at site 32 for"),
	   "and the site where the second was: %s", why);
}

/* Coroutine 2 reads; if they come, 3 waits to write and 4 waits to read; then 2 wants to read again. */
static void read_twice(bool writer)
{
	scene();
	has_so(&h, 10, A, CTP_WAITS_LOCK, 1, CTP_OBJECT_MADE);
	runs(HELD_AT * (uint64_t)MS, 2);
	gets_at(&h, HELD_AT * (uint64_t)MS + 1, 2, A, 1, FIRST_SITE);
	has(&h, HELD_AT * (uint64_t)MS + 2, A, CTP_WAITS_LOCK, 0);
	stops(HELD_AT * (uint64_t)MS + 3, 2);
	if (writer) {
		runs(200 * MS, 3);
		waits_for(&h, 200 * MS + 1, 3, CTP_WAITS_LOCK, A);
		stops(200 * MS + 2, 3);
		runs(201 * MS, 4);
		waits_so(&h, 201 * MS + 1, 4, CTP_WAITS_LOCK, A, 1, CTP_REASON_SHARED);
		stops(201 * MS + 2, 4);
	}
	waits_alone(2, CTP_WAITS_LOCK, A, 1, CTP_REASON_SHARED);
	over();
}

static void readers(void)
{
	read_twice(true);
	is(found, "wait-cycle likely 1", "a read lock that is taken twice is found");
	ok(says("held by coroutine #2 for 2.90 s, which took it at site 77, and has been suspended at site 32 for"),
	   "with the site where it was taken, and where it is wanted again: %s", why);
	ok(says("coroutine #3 has waited to write at site 33 since 200 ms after the start, before coroutine #2 wanted to read again\n"),
	   "and the writer that waits in between: %s", why);
	read_twice(false);
	ok(!says("to write"), "no writer is named if there is none: %s", why);
}

int main(void)
{
	sentences();
	readers();
	return done_testing();
}
