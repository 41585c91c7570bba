/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* report-places: addresses of two programs in one trace get the names of the right program. */
#include "analyse/analysis.h"
#include "byhand.h"
#include "tap.h"

enum { ADDR = 0x1100, PARENT = 100, CHILD = 101, PARENTS_THREAD = 5, CHILDS_THREAD = 6 };

static struct byhand h;
static struct ctp_analysis *analysis;
static struct ctp_section sec;
static char sites[1024]; /* "a+0x100 3, ...": each place, and how often coroutines resumed from it */

static void give(void *to, const struct ctp_batch *batch) { ctp_analysis_records(to, batch); }

static void begin(void)
{
	struct ctp_err err;
	byhand_init(&h, give, NULL);
	h.to = analysis = ctp_analysis_new(NULL, &err);
	if (!analysis)
		abort();
	ctp_section_init(&sec);
	ctp_section_add(&sec, "pid", "100");
	ctp_analysis_section(analysis, &sec);
}

/* A place that only one coroutine has used has no name. */
static const char *name(const struct ctp_report_site *s) { return s->place ? s->place : "?"; }

static int by_name(const void *a, const void *b) { return strcmp(name(a), name(b)); }

static const char *end(void)
{
	sites[0] = '\0';
	ctp_analysis_end(analysis, &(struct ctp_section_end){.complete = true});
	for (uint32_t i = 0; i < analysis->report.nsections; i++) {
		const struct ctp_report_section *s = &analysis->report.sections[i];
		qsort(s->sites, s->nsites, sizeof(*s->sites), by_name);
		for (uint32_t k = 0; k < s->nsites; k++)
			sprintf(sites + strlen(sites), "%s%s %ju", *sites ? ", " : "", name(&s->sites[k]),
			        (uintmax_t)s->sites[k].suspended.count);
	}
	ctp_analysis_free(analysis);
	ctp_section_fini(&sec);
	byhand_fini(&h);
	return sites;
}

/* A text of a record: valid until the fourth call from now. */
static uint64_t text(const char *s)
{
	static struct {
		uint32_t len;
		char data[60];
	} room[4];
	static int n;
	int at = n++ % 4;
	room[at].len = (uint32_t)strlen(s);
	strcpy(room[at].data, s);
	return ctp_val_str((const struct ctp_str *)&room[at]);
}

static void maps(uint64_t pid, uint64_t start, const char *path)
{
	BYHAND(&h, CTP_MAPPING, [CTP_MAPPING_TS] = 1, [CTP_MAPPING_PID] = pid, [CTP_MAPPING_START] = start,
	       [CTP_MAPPING_STOP] = start + 0x1000, [CTP_MAPPING_PATH] = text(path), [CTP_MAPPING_BUILD_ID] = text("id"));
}

static void has_thread(uint64_t pid, uint64_t tid)
{
	BYHAND(&h, CTP_THREAD, [CTP_THREAD_TS] = 1, [CTP_THREAD_TID] = tid, [CTP_THREAD_PID] = pid, [CTP_THREAD_NAME] = text("x"));
}

/* It suspends at an address, and is resumed. */
static void waits(uint64_t ts, uint64_t co, uint64_t tid, uint64_t addr)
{
	uint64_t n = h.next[co];
	h.next[co] += 2;
	for (int active = 0; active < 2; active++)
		BYHAND(&h, CTP_TRANSITION, [CTP_TRANSITION_PROBE] = co, [CTP_TRANSITION_TID] = tid, [CTP_TRANSITION_ADDR] = addr,
		       [CTP_TRANSITION_SEQ] = n + (uint64_t)active + 1, [CTP_TRANSITION_ACTIVE] = (uint64_t)active,
		       [CTP_TRANSITION_TS] = ts + (uint64_t)active, [CTP_TRANSITION_CORO] = co,
		       [CTP_TRANSITION_INDEX] = n + (uint64_t)active);
}

static void processes(void)
{
	begin();
	maps(PARENT, 0x1000, "/none/a");
	maps(CHILD, 0x1000, "/none/b");
	has_thread(PARENT, PARENTS_THREAD);
	has_thread(CHILD, CHILDS_THREAD);
	waits(10, 1, PARENTS_THREAD, ADDR);
	waits(20, 2, CHILDS_THREAD, ADDR);
	waits(30, 2, CHILDS_THREAD, ADDR);
	is(end(), "a+0x100 1, b+0x100 2", "the same address in two programs is two places, each with its own name and count");

	begin();
	maps(PARENT, 0x1000, "/none/a");
	maps(CHILD, 0x1000, "/none/a");
	has_thread(PARENT, PARENTS_THREAD);
	has_thread(CHILD, CHILDS_THREAD);
	waits(10, 1, PARENTS_THREAD, ADDR);
	waits(20, 2, CHILDS_THREAD, ADDR);
	is(end(), "a+0x100 2", "a process and its fork are in the same place");

	begin();
	maps(PARENT, 0x1000, "/none/a");
	maps(CHILD, 0x7000, "/none/a");
	has_thread(PARENT, PARENTS_THREAD);
	has_thread(CHILD, CHILDS_THREAD);
	waits(10, 1, PARENTS_THREAD, ADDR);
	waits(20, 2, CHILDS_THREAD, 0x7100);
	is(end(), "a+0x100 2", "so is a process with the same program at another address");

	begin();
	maps(PARENT, 0x1000, "/none/a");
	has_thread(PARENT, PARENTS_THREAD);
	waits(10, 1, PARENTS_THREAD, ADDR);
	maps(PARENT, 0x1000, "/none/b");
	waits(20, 2, PARENTS_THREAD, ADDR);
	is(end(), "a+0x100 1, b+0x100 1", "after an exec, earlier places keep their names");
}

static void unknown(void)
{
	begin();
	maps(PARENT, 0x1000, "/none/a");
	waits(10, 1, 99, ADDR);
	is(end(), "a+0x100 1", "a thread of unknown process gets the only program's names");

	begin();
	maps(PARENT, 0x1000, "/none/a");
	maps(CHILD, 0x1000, "/none/b");
	waits(10, 1, 99, ADDR);
	waits(20, 2, 98, ADDR);
	is(end(), "0x0000000000001100 1, ? 1", "with two programs it gets no name");

	begin();
	has_thread(PARENT, PARENTS_THREAD);
	has_thread(CHILD, CHILDS_THREAD);
	waits(10, 1, PARENTS_THREAD, ADDR);
	waits(20, 2, PARENTS_THREAD, ADDR);
	waits(30, 3, CHILDS_THREAD, 0x2100);
	waits(40, 4, CHILDS_THREAD, 0x2100);
	maps(PARENT, 0x1000, "/none/a");
	maps(CHILD, 0x1000, "/none/b");
	maps(PARENT, 0x2000, "/none/c");
	maps(CHILD, 0x2000, "/none/d");
	is(end(), "? 2, a+0x100 1, d+0x100 1", "a mapping that is recorded later still gives names");
}

static void sections(void)
{
	begin();
	maps(PARENT, 0x1000, "/none/a");
	has_thread(PARENT, PARENTS_THREAD);
	waits(10, 1, PARENTS_THREAD, ADDR);
	ctp_analysis_end(analysis, &(struct ctp_section_end){.complete = true});
	ctp_analysis_section(analysis, &sec);
	maps(PARENT, 0x1000, "/none/b");
	has_thread(PARENT, PARENTS_THREAD);
	h.next[1] = 0;
	waits(10, 1, PARENTS_THREAD, ADDR);
	is(end(), "a+0x100 1, b+0x100 1", "two sections have their own programs");
}

/* "FILE LINE" of a text. */
static const char *line_of(const char *place)
{
	static char text[64];
	size_t file_bytes = 0;
	uint64_t line = ctp_report_line(place, &file_bytes);
	snprintf(text, sizeof text, "%.*s %llu", (int)file_bytes, place ? place : "", (unsigned long long)line);
	return text;
}

static void lines(void)
{
	is(line_of("server.cpp:212:handle"), "server.cpp 212", "a place has a file and a line");
	is(line_of("a.cpp:7:ns::f(int)::{lambda:2}"), "a.cpp 7", "any function name may follow");
	is(line_of("C:x/a.cpp:7"), "C:x/a.cpp 7", "the folder may have a colon");
	is(line_of("libfoo.so.1+0x1234:handle"), " 0", "an offset is no line");
	is(line_of("site 7"), " 0", "the number of a site is no line");
	is(line_of(NULL), " 0", "without a place there is no line");
}

int main(void)
{
	lines();
	processes();
	unknown();
	sections();
	return done_testing();
}
