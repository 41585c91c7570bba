/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * report-rest.c - a connection with nothing to read is a finding if the program began it and waits for an answer, and not if it is
 * the peer's turn. After an attachment, where a few events of each coroutine are known, a finding needs to know whose turn it is.
 */
#include <poll.h>

#include "judged.h"

enum { READ = 8, SLEEP = 9, CALL = 10, SPAWN_OUTER = 11, VICTIM_FD = 21, OUTER = 30, BEGIN = 1000, AT = 1100, LOOK = 3500, END = 4000 };

static uint64_t ms(uint64_t n) { return n * MS; }

static void reads(uint64_t ts, uint64_t co, uint64_t from)
{
	waits_so(&h, ts, co, CTP_WAITS_DESCRIPTOR, 20 + from, POLLIN, 0);
	suspends(&h, ts, co, THREAD, READ);
}

/* A request of a client comes, is worked on in two steps of half a millisecond, and the next is waited for. */
static void serves(uint64_t ts, uint64_t co)
{
	for (int step = 0; step < 2; step++, ts += MS / 2) {
		is_woken(&h, ts, co, OTHER, 0);
		resumes(&h, ts + 1, co, THREAD);
		waits_for(&h, ts + 2, co, CTP_WAITS_TIMER, ts + MS / 2);
		suspends(&h, ts + 2, co, THREAD, SLEEP);
	}
	is_woken(&h, ts, co, OTHER, 0);
	resumes(&h, ts + 1, co, THREAD);
	reads(ts + 2, co, co);
}

/*
 * Six connections of one kind. All serve until AT; then the first one rests, and the others go on until the end. awaited: from
 * SPAWN_OUTER, a coroutine awaits each, as where a function that reads is a coroutine too.
 */
static bool sleeps_first; /* so that they do not rest where they read, as far as their history tells */

static void six(bool awaited)
{
	for (uint64_t co = 1; co <= 6; co++) {
		is_born(&h, ms(BEGIN), co, MAKER);
		resumes(&h, ms(BEGIN) + co, co, THREAD);
		if (sleeps_first) {
			waits_for(&h, ms(BEGIN) + co, co, CTP_WAITS_TIMER, ms(BEGIN + 1));
			suspends(&h, ms(BEGIN) + co, co, THREAD, SLEEP);
			is_woken(&h, ms(BEGIN + 1) + co, co, OTHER, 0);
			resumes(&h, ms(BEGIN + 1) + co, co, THREAD);
		}
		reads(ms(BEGIN + sleeps_first) + 10 + co, co, co);
	}
	for (uint64_t co = 1; awaited && co <= 6; co++) {
		is_born(&h, ms(BEGIN) + 20, OUTER + co, SPAWN_OUTER);
		resumes(&h, ms(BEGIN) + 21, OUTER + co, THREAD);
		awaits(&h, ms(BEGIN) + 22, OUTER + co, co);
		suspends(&h, ms(BEGIN) + 22, OUTER + co, THREAD, CALL);
	}
	for (uint64_t t = BEGIN + 3; t < END - 100; t += t < AT ? 3 : 20)
		for (uint64_t co = t < AT ? 1 : 2; co <= 6; co++)
			serves(ms(t) + co * 10, co);
}

static const char *over(void)
{
	BYHAND(&h, CTP_END, [CTP_END_TS] = ms(END), [CTP_END_AFTER] = ms(END), [CTP_END_BEFORE] = ms(END),
	       [CTP_END_OUTCOME] = CTP_OUTCOME_RUNNING);
	return end();
}

static const char *const from_the_start[] = {"pid", "100", NULL};
static const char *const attached[] = {"pid", "100", "attached", "yes", "start_ns", "3900000000", "recorded", "yes", NULL};

static const char *story(const char *const *attrs, enum ctp_descriptor_side side, enum ctp_descriptor_last last)
{
	begin_with(NULL, attrs);
	six(false);
	kernel_says(&h, ms(attrs == attached ? END - 50 : LOOK), VICTIM_FD, side, last);
	return over();
}

static void from_start(void)
{
	is(story(from_the_start, CTP_SIDE_CONNECTED, CTP_LAST_SENT), "never-woken likely 1", "a connection without its answer is found");
	is(story(from_the_start, CTP_SIDE_CONNECTED, CTP_LAST_RECEIVED), "", "one on which the peer spoke last is not");
	is(story(from_the_start, CTP_SIDE_ACCEPTED, CTP_LAST_UNKNOWN), "", "one that was accepted is not");
	is(story(from_the_start, CTP_SIDE_UNKNOWN, CTP_LAST_UNKNOWN), "never-woken likely 1",
	   "one of a side that is not known is found, by its history");
}

static void waits_that_stand_out(void)
{
	sleeps_first = true;
	story(from_the_start, CTP_SIDE_UNKNOWN, CTP_LAST_UNKNOWN);
	is(found, "never-woken likely 1", "where its kind does not rest, one of a side that is not known is found");
	begin_with(NULL, from_the_start);
	six(false);
	is(over(), "never-woken likely 1", "so is one that was not looked at");
	story(from_the_start, CTP_SIDE_ACCEPTED, CTP_LAST_UNKNOWN);
	is(found, "", "one that was accepted is not, nor");
	is(suspected, "", "does it stand out");
	story(attached, CTP_SIDE_ACCEPTED, CTP_LAST_UNKNOWN);
	is(suspected, "", "attached: it does not stand out");
	sleeps_first = false;
}

static void at_one_moment(void)
{
	is(story(attached, CTP_SIDE_CONNECTED, CTP_LAST_SENT), "never-woken likely 1", "attached: a connection without its answer is found");
	ok(strstr(why, "descriptor 21, which had nothing to read: the peer has not answered what was sent last"), "the finding says so: %s", why);
	is(story(attached, CTP_SIDE_CONNECTED, CTP_LAST_RECEIVED), "", "attached: one on which the peer spoke last is not");
	is(story(attached, CTP_SIDE_ACCEPTED, CTP_LAST_UNKNOWN), "", "attached: one that was accepted is not");
	is(story(attached, CTP_SIDE_UNKNOWN, CTP_LAST_UNKNOWN), "", "attached: one of a side that is not known is not");
	ok(!strncmp(suspected, "possible 1 ", 11), "it is possible: %s", suspected);
	is(story(attached, CTP_SIDE_CONNECTED, CTP_LAST_UNKNOWN), "", "attached: one whose turn is not known is not");
	begin_with(NULL, attached);
	six(false);
	kernel_says(&h, ms(AT - 1), VICTIM_FD, CTP_SIDE_CONNECTED, CTP_LAST_SENT);
	is(over(), "", "attached: a look before the wait says nothing of it");
}

static const char *nested(enum ctp_descriptor_side side, enum ctp_descriptor_last last)
{
	begin_with(NULL, attached);
	six(true);
	kernel_says(&h, ms(END - 50), VICTIM_FD, side, last);
	return over();
}

static void below_others(void)
{
	is(nested(CTP_SIDE_ACCEPTED, CTP_LAST_UNKNOWN), "", "a coroutine that awaits one that rests is not found");
	is(nested(CTP_SIDE_CONNECTED, CTP_LAST_SENT), "never-woken likely 1", "one that awaits an answer: the reader is found");
}

/* Forty requests come and end; three become connections on which the client only listens from then on. */
static const char *listeners(enum ctp_descriptor_side side)
{
	begin_with(NULL, from_the_start);
	for (uint64_t co = 1; co <= 43; co++) {
		uint64_t t = ms(BEGIN + co);
		is_born(&h, t, co, MAKER);
		resumes(&h, t + 1, co, THREAD);
		reads(t + 2, co, co);
		is_woken(&h, t + MS / 2, co, OTHER, 0);
		resumes(&h, t + MS / 2 + 1, co, THREAD);
		if (co <= 40) {
			dies(&h, t + MS / 2 + 2, co);
			continue;
		}
		waits_so(&h, t + MS, co, CTP_WAITS_DESCRIPTOR, 20 + co, POLLIN, 0);
		suspends(&h, t + MS, co, THREAD, CALL);
		kernel_says(&h, ms(LOOK), 20 + co, side, CTP_LAST_UNKNOWN);
	}
	return over();
}

static void for_good(void)
{
	is(listeners(CTP_SIDE_UNKNOWN), "leaked likely 3", "three that outlive their siblings by far are found");
	is(listeners(CTP_SIDE_ACCEPTED), "", "they are not if these are connections that were accepted");
}

int main(void)
{
	for_good();
	from_start();
	waits_that_stand_out();
	at_one_moment();
	below_others();
	return done_testing();
}
