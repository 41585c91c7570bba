/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * report-words: the texts of every rule, with one and with two of everything that is counted. Numbers agree with their nouns, and a
 * title says how many coroutines it is about, and where, except untraced ones, whose place is unknown.
 */
#include "analyse/analysis.h"
#include "analyse/judge.h"
#include "tap.h"

enum { PLACE = 1, SPAWN = 2 };

static struct ctp_analysis *analysis;
static struct ctp_tally *tally;
static uint64_t waker = 11;
static bool nowhere;

/* Words that may not follow a one, and words that may not follow a two. */
static const char *const plurals[] = {"coroutines", "others", "runs", "resumes", "events", "findings", "threads", "times", "records",
                                      "wakes", "have", "were", "are", "of them are", "spawned at the same place have", "other waits there",
                                      "other runs", "other resumes", "coroutine wait "};
static const char *const singulars[] = {"coroutine ", "other ", "run ", "resume ", "event ", "finding ", "thread ", "time ", "has",
                                        "was", "is", "of them is", "spawned at the same place has", "others waits", "coroutines waits"};
static const char *const allowed[] = {"other waits there", "other runs", "other resumes"}; /* after a two */

static bool begins(const char *text, const char *part) { return !strncmp(text, part, strlen(part)); }

/* A number on its own: no character that belongs to it before or after. */
static bool is_alone(const char *text, const char *at)
{
	return (at == text || at[-1] == ' ') && at[1] == ' ';
}

static bool is_allowed(const char *text)
{
	for (size_t i = 0; i < sizeof(allowed) / sizeof(*allowed); i++)
		if (begins(text, allowed[i]))
			return true;
	return false;
}

static bool agrees(const char *text)
{
	for (const char *at = text; *at; at++) {
		if (*at == '1' && is_alone(text, at))
			for (size_t i = 0; i < sizeof(plurals) / sizeof(*plurals); i++)
				if (begins(at + 2, plurals[i]))
					return false;
		if (*at == '2' && is_alone(text, at) && !is_allowed(at + 2))
			for (size_t i = 0; i < sizeof(singulars) / sizeof(*singulars); i++)
				if (begins(at + 2, singulars[i]))
					return false;
	}
	return true;
}

/* One is never "they", and two are never "it", except in phrases about all of them. */
static bool is_about(const char *text, uint64_t n)
{
	static const char *const many[] = {"they ", "themselves", " them ", " them,", " them:", " the others", "wait for one another"};
	static const char *const one[] = {" itself", "wakes it", "lost it", "it polls", "was it", "it was", " for it"};
	for (size_t i = 0; n == 1 && i < sizeof(many) / sizeof(*many); i++)
		if (strstr(text, many[i]) && !strstr(text, "any of them") && !strstr(text, "of them are"))
			return false;
	for (size_t i = 0; n > 1 && i < sizeof(one) / sizeof(*one); i++)
		if (strstr(text, one[i]))
			return false;
	return true;
}

static void history(struct ctp_hist *hist, uint64_t n)
{
	*hist = (struct ctp_hist){0};
	for (uint64_t i = 0; i < n; i++)
		ctp_hist_add(hist, 1000000);
}

/* Makes a finding with n of everything. */
static struct ctp_finding said(enum ctp_rule rule, uint64_t n, unsigned ways)
{
	struct ctp_judge j = {.follow = &analysis->follow, .tally = tally, .waiting = n, .running = n - 1, .nothers = 1};
	struct ctp_group g = {.rule = rule, .spawn = SPAWN, .place = PLACE, .longest_ns = 2000000000, .shortest_ns = 1000000000,
	                      .to_ns = 2000000000, .dependents = n, .count = n, .there = n, .most_ns = n, .late = n, .cases = ways & 8 ? 3 : n,
	                      .why = (ways & 1 ? CTP_WHY_PASSING | CTP_WHY_AWAY : 0) | (ways & 2 ? CTP_WHY_CIRCLE | CTP_WHY_RHYTHM : 0) |
	                             (ways & 4 ? CTP_WHY_STANDSTILL | CTP_WHY_OVERTAKEN : 0) | (ways & 8 ? CTP_WHY_QUIET : 0),
	                      .still = ways & 8, .ended = {"killed", SIGSEGV},
	                      .seen_ns = ways & 1 ? 1000000 : 0, .cpu_ns = 500000};
	g.by_certainty[n > 1 && ways & 1 ? CTP_CERTAIN_LIKELY : CTP_CERTAIN_PROVED]++;
	g.by_certainty[ways & 2 ? CTP_CERTAIN_UNKNOWN : CTP_CERTAIN_PROVED] += n - 1;
	struct ctp_finding f = {.rule = rule, .members = n, .nwho = (uint32_t)n, .to_ns = g.to_ns,
	                        .place = nowhere ? NULL : strdup("a.c:1:f"), .spawn = strdup("b.c:3:g")};
	f.who = calloc(n, sizeof(*f.who));
	for (uint64_t i = 0; i < n; i++)
		f.who[i] = (struct ctp_report_member){.id = i + 10, .tid = i + 20, .pid = i + 30, .waker = waker,
		                                      .place = strdup(i ? "c.c:9:h" : "a.c:1:f"), .in = i ? strdup("server") : NULL};
	ctp_judge_say(&j, &g, &f);
	if (j.failed || !f.title)
		abort();
	return f;
}

static unsigned wrong(const struct ctp_finding *f, char *const *line)
{
	unsigned sum = 0;
	for (int i = 0; i < CTP_REPORT_LINES && line[i]; i++) {
		bool good = agrees(line[i]) && (is_about(line[i], f->members) || f->rule == CTP_RULE_GROWTH);
		if (!good)
			diag("%s", line[i]);
		sum += !good;
	}
	return sum;
}

static void every_rule(enum ctp_rule rule, uint64_t n)
{
	unsigned sum = 0;
	for (unsigned ways = 0; ways < 16; ways++) {
		struct ctp_tally_place *p = tally->places[0];
		struct ctp_tally_spawn *s = tally->spawns[0];
		history(&p->wait, n);
		history(&s->life, n);
		history(&s->start, n);
		history(&tally->ready, n);
		history(&tally->run, n);
		s->born = 3;
		s->died = n;
		struct ctp_finding f = said(rule, n, ways);
		sum += wrong(&f, (char *[]){f.title, NULL}) + wrong(&f, f.evidence) + wrong(&f, f.next);
		sum += n > 1 && !strstr(f.title, "2 ");
		sum += rule != CTP_RULE_UNTRACED && !strstr(f.title, "a.c:1:f") && !strstr(f.title, "b.c:3:g");
		ctp_finding_fini(&f);
	}
	is_u64(sum, 0, ctp_rule_name(rule));
}

static void titles(void)
{
	static const struct {
		enum ctp_rule rule;
		const char *one, *two;
	} want[] = {
		{CTP_RULE_CRASH, "the program was killed by SIGSEGV while 1 coroutine ran, resumed last from a.c:1:f",
		 "the program was killed by SIGSEGV while 2 coroutines ran, resumed last from a.c:1:f and c.c:9:h"},
		{CTP_RULE_AFTER_DEATH, "1 coroutine resumed after death, suspended last at a.c:1:f",
		 "2 coroutines resumed after death, suspended last at a.c:1:f"},
		{CTP_RULE_DOUBLE_RESUME, "1 coroutine resumed while running, suspended last at a.c:1:f",
		 "2 coroutines resumed while running, suspended last at a.c:1:f"},
		{CTP_RULE_WAIT_CYCLE, "1 coroutine waits for itself at a.c:1:f",
		 "2 coroutines wait for one another in a circle, at a.c:1:f and c.c:9:h"},
		{CTP_RULE_STANDSTILL, "the whole program stands still: 1 coroutine waits at a.c:1:f, and no thread runs",
		 "the whole program stands still: 2 coroutines wait at a.c:1:f and c.c:9:h, and no thread runs"},
		{CTP_RULE_AWAITS_DEAD, "1 coroutine waits at a.c:1:f for a coroutine that is dead",
		 "2 coroutines wait at a.c:1:f for coroutines that are dead"},
		{CTP_RULE_NEVER_WOKEN, "1 coroutine suspended at a.c:1:f for 2.00 s and not woken",
		 "2 coroutines suspended at a.c:1:f for up to 2.00 s and not woken"},
		{CTP_RULE_SUSPENDED, "1 coroutine suspended at a.c:1:f for 2.00 s", "2 coroutines suspended at a.c:1:f for up to 2.00 s"},
		{CTP_RULE_STALLED_THREAD, "thread 20 is still in a coroutine that resumed from a.c:1:f",
		 "2 threads are still in coroutines that resumed from a.c:1:f"},
		{CTP_RULE_BLOCKED, "1 coroutine held its thread for 2.00 s, asleep, from a.c:1:f on, while others were ready to run",
		 "2 coroutines held their threads for up to 2.00 s, asleep, from a.c:1:f on, while others were ready to run"},
		{CTP_RULE_LATE, "1 coroutine woken at a.c:1:f only after 2.00 s", "2 coroutines woken at a.c:1:f only after up to 2.00 s"},
		{CTP_RULE_LONG_RUN, "1 coroutine held its thread for 2.00 s without suspending, from a.c:1:f on, while others were ready to run",
		 "2 coroutines held their threads for up to 2.00 s without suspending, from a.c:1:f on, while others were ready to run"},
		{CTP_RULE_SELF_WAKE, "1 coroutine woke itself 1 time in a row at a.c:1:f",
		 "2 coroutines woke themselves up to 2 times in a row at a.c:1:f"},
		{CTP_RULE_NEVER_STARTED, "1 coroutine spawned at b.c:3:g and never run", "2 coroutines spawned at b.c:3:g and never run"},
		{CTP_RULE_MIGRATION, "1 coroutine spawned at b.c:3:g hardly ever runs twice on the same thread",
		 "2 coroutines spawned at b.c:3:g hardly ever run twice on the same thread"},
	};
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++)
		for (uint64_t n = 1; n <= 2; n++) {
			struct ctp_finding f = said(want[i].rule, n, 0);
			is(f.title, n == 1 ? want[i].one : want[i].two, ctp_rule_name(f.rule));
			ctp_finding_fini(&f);
		}
}

/* Without a suspend site the title has the spawn site. */
static void no_place(void)
{
	struct ctp_finding f = said(CTP_RULE_CRASH, 2, 0);
	ok(strstr(f.evidence[1], "coroutine #11, in server ran then"),
	   "a coroutine without a name is called by its nearest named ancestor: %s", f.evidence[1]);
	ctp_finding_fini(&f);
	nowhere = true;
	f = said(CTP_RULE_NEVER_WOKEN, 1, 0);
	is(f.title, "1 coroutine suspended at a place that the trace does not name (spawned at b.c:3:g) for 2.00 s and not woken",
	   "without a place the title has the spawn site");
	ctp_finding_fini(&f);
	nowhere = false;
}

/* A coroutine has the same label in a sentence as in the list of members. */
static void labels(void)
{
	static const char *const want[] = {"its previous wait was ended by coroutine #11, which has ended",
	                                   "its previous wait was ended by coroutine #0x102db7020, which has ended"};
	for (int i = 0; i < 2; i++) {
		waker = i ? 0x102db7020 : 11;
		struct ctp_finding f = said(CTP_RULE_NEVER_WOKEN, 1, 0);
		int line = 0;
		while (f.evidence[line] && strcmp(f.evidence[line], want[i]))
			line++;
		ok(f.evidence[line], "%s", want[i]);
		ctp_finding_fini(&f);
	}
}

int main(void)
{
	struct ctp_err err;
	analysis = ctp_analysis_new(NULL, &err);
	tally = analysis ? ctp_tally_new(&analysis->follow) : NULL;
	if (!tally || ctp_places_number(analysis->follow.places, (struct ctp_spot){.site = 1}, 0, 1) != PLACE ||
	    ctp_places_number(analysis->follow.places, (struct ctp_spot){.site = 2}, 0, 1) != SPAWN)
		abort();
	ok(!agrees("1 others wait") && !agrees("of 3, 1 have ended") && !agrees("2 coroutine waits") && agrees("11 coroutines, 0x1 others") &&
	   agrees("1 other waits"), "the check notices words that do not agree");
	for (enum ctp_rule rule = 0; rule < CTP_RULES; rule++)
		for (uint64_t n = 1; n <= 2; n++)
			every_rule(rule, n);
	titles();
	no_place();
	labels();
	ctp_tally_free(tally);
	ctp_analysis_free(analysis);
	return done_testing();
}
