/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* report-print: a report made by hand is printed in each format; hostile texts do no harm. */
#include "report/report-args.h"
#include "report/report-json.h"
#include "report/report-markdown.h"
#include "report/report-text.h"

#include "base/text.h"
#include "common/json.h"
#include "stream/events.h"
#include "written.h"

/* A name that a traced program could choose: it clears the screen, reverses the text, ends a script, a table's cell and a line. */
#define HOSTILE "\033[2J\302\233x\342\200\256</script>`|`\n# *_[a](b)\342\200\250\377\\"

/* The parts of places, in JSON. */
#define SERVE "{\"file\":\"main.c\",\"line\":12,\"function\":\"serve\"}"
#define HANDLE "{\"file\":\"server.c\",\"line\":212,\"function\":\"handle\"}"
#define ACCEPT "{\"file\":\"server.c\",\"line\":88,\"function\":\"accept\"}"
#define PLACES(spawn, suspend) "\"spawn_place\":" spawn ",\"suspend_place\":" suspend ","
#define SERVE_HANDLE PLACES(SERVE, HANDLE)
#define NULL_ACCEPT PLACES("null", ACCEPT)
#define NULL_HANDLE PLACES("null", HANDLE)

enum print { TEXT, MARKDOWN, JSON, PAGE };

/* What a printer writes, until the next call. */
static const char *printed(enum print how, const struct ctp_report *r, const struct ctp_report_style *style)
{
	struct ctp_output out;
	textmem_open(&out);
	if (how == TEXT)
		ctp_report_text(&out, r, style);
	else if (how == MARKDOWN)
		ctp_report_markdown(&out, r, style);
	else
		ctp_report_json(&out, r, how == PAGE);
	return written(&out);
}

static const struct ctp_report_style plain;
static const struct ctp_report_style all = {.all = true};

static char spawn[] = "main.c:12:serve", place[] = "server.c:212:handle", other[] = "server.c:88:accept";
static char title[] = "7 coroutines were never woken", evidence[] = "nobody woke them", advice[] = "look at server.c:212";
static char command[] = "./server\0-v\0a b\0";
static char host[] = "h", pid[] = "17", name[] = "handler 17", thread_name[] = "worker";

/* Two findings, 8 groups that wait of which one is a finding, 10 sites, a thread. */
struct made {
	struct ctp_report report;
	struct ctp_report_section section;
	struct ctp_finding findings[2];
	struct ctp_report_member who[7];
	struct ctp_report_still waiting[9], running[2];
	struct ctp_report_site sites[10];
	struct ctp_report_thread threads[1];
};

static void make(struct made *m)
{
	*m = (struct made){0};
	m->report = (struct ctp_report){.sections = &m->section, .nsections = 1, .sections_seen = 1};
	m->section = (struct ctp_report_section){
		.command = command, .command_bytes = sizeof(command) - 1, .host = host, .pid = pid, .has_wall = true, .start_wall_ns = 1700000000123456789,
		.start_ns = 5, .duration_ns = 2015906688, .ended_ns = 2016000000, .ended = {.outcome = "exited"}, .complete = true, .alive = 9, .nthreads_seen = 4,
		.counts = {.events = 7264, .wakes = 312, .coroutines = 48},
		.findings = m->findings, .nfindings = 2, .waiting = m->waiting, .nwaiting = 9,
		.running = m->running, .nrunning = 2, .sites = m->sites, .nsites = 10,
		.sites_by = CTP_RUNNABLE,
		.threads = m->threads, .nthreads = 1,
	};
	for (int i = 0; i < 7; i++)
		m->who[i] = (struct ctp_report_member){
			.id = (uint64_t)i + 37, .probe = UINT64_MAX, .since_ns = 1000, .for_ns = 1730000000, .waker = i ? 0 : 12,
			.tid = i ? 0 : 18800, .pid = i ? 0 : 17, .name = i ? NULL : name, .state = CTP_SUSPENDED,
			.spawn = spawn, .place = place,
		};
	m->findings[0] = (struct ctp_finding){
		.rule = CTP_RULE_NEVER_WOKEN, .certainty = CTP_CERTAIN_PROVED, .title = title, .evidence = {evidence}, .next = {advice},
		.spawn = spawn, .place = place, .members = 57, .who = m->who, .nwho = 7, .from_ns = 10, .to_ns = 20,
	};
	m->findings[1] = (struct ctp_finding){.rule = CTP_RULE_LONG_RUN, .certainty = CTP_CERTAIN_LIKELY, .title = title};
	for (int i = 0; i < 9; i++)
		m->waiting[i] = (struct ctp_report_still){
			.spawn = i ? spawn : NULL, .place = i == 1 ? place : other, .coroutines = 1234, .found = i == 1 ? 1234 : 0, .longest_ns = 5, .certain = i,
		};
	for (int i = 0; i < 2; i++)
		m->running[i] = (struct ctp_report_still){
			.spawn = spawn, .place = i ? NULL : place, .coroutines = 3, .found = i ? 0 : 3, .longest_ns = 7000, .shortest_ns = 6000,
			.longest = 12, .tid = 18800, .name = name, .certain = true,
		};
	for (int i = 0; i < 10; i++)
		m->sites[i] = (struct ctp_report_site){
			.place = place, .suspended = {1000 + (uint64_t)i, 9, 412000, 1730000, 2000000000},
		};
	m->threads[0] = (struct ctp_report_thread){.tid = 18800, .busy_ns = 1007953344, .known_ns = 2015906688, .resumes = 99,
	                                           .last_ns = 2015906688, .name = thread_name};
	m->section.nheavy[CTP_HEAVY_RUNNING] = 1;
	m->section.heavy[CTP_HEAVY_RUNNING][0] = (struct ctp_report_heavy){5000000000, 1000000, NULL, spawn};
}

static void test_text(struct made *m)
{
	const char *text = printed(TEXT, &m->report, &plain);
	ok(!strncmp(text, "./server -v 'a b'\n", 18), "text: what ran is the first line");
	ok(has(text, "pid 17 on h; started 2023-11-14 22:13:20 UTC; 2.02 s; exited with status 0\n"),
	   "the head says where, when, how long, and how it ended");
	ok(has(text, "48 coroutines, 9 alive at the end; run by 4 threads; 7,264 events, 312 wakes; nothing lost\n"),
	   "the head counts coroutines, threads, events and wakes");
	ok(has(text, "\n2 findings: 1 proved, 1 likely, 0 unknown\n"
	             "1. PROVED: 7 coroutines were never woken  [never-woken]\n   nobody woke them\n"),
	   "a finding has its certainty, title, rule and evidence");
	ok(has(text, "who: handler 17 (#37), serve (#38), serve (#39), serve (#40), serve (#41), and 52 more\n   next: look at server.c:212\n"),
	   "a finding lists coroutines, and what to look at");
	ok(!strstr(text, "could not see"), "without losses there is no section on what is missing");
	ok(has(text, "\n    1,234        0      0ns      5ns     -       -  server.c:88:accept (not certain)\n"),
	   "groups that wait without a finding are listed");
	is_u64(count(text, "1,234 "), 6, "the table is shortened");
	ok(has(text, "\nStill running at the end, but no finding\n  running   thread shortest  longest  where\n"
	             "        3    18800   6.00us   7.00us  (not known), spawned at main.c:12:serve; longest: handler 17\n\n"),
	   "groups that run without a finding are listed");
	ok(has(text, "... 2 more: -v shows all"), "a shortened table says how to see all");
	ok(has(text, "\n    1,000   412us 1.73ms  2.00s       -      -      -       -      -      -  server.c:212:handle\n"),
	   "a site");
	ok(has(text, "... 4 more: -v shows all"), "the table of sites is shortened");
	ok(has(text, "\nWhere they suspended, and for how long (by time runnable)\n"), "the heading gives the order of sites");
	ok(has(text, "\n    1.01s     50 %        -          99      2.02s  18800 worker\n"), "a thread");
	ok(has(text, "\n  running    serve (#0x12a05f200) 1.00 ms\n"), "the coroutine that ran most is listed");
	m->section.heavy[CTP_HEAVY_UNKNOWN][m->section.nheavy[CTP_HEAVY_UNKNOWN]++] = m->section.heavy[CTP_HEAVY_RUNNING][--m->section.nheavy[CTP_HEAVY_RUNNING]];
	ok(has(printed(TEXT, &m->report, &plain), "\nCoroutines with the most time in all\n  unknown    serve (#0x12a05f200) 1.00 ms\n"),
	   "the coroutine with most unknown time is listed");
	make(m);
	text = printed(TEXT, &m->report, &plain);
	for (const char *line = text; *line; line = strchr(line, '\n') + 1)
		if (strchr(line, '\n') - line > 100)
			ok(false, "a line is longer than 100: %.120s", line);
	text = printed(TEXT, &m->report, &all);
	ok(!strstr(text, "-v shows all"), "-v: no table is shortened");
	is_u64(count(text, "1,234 "), 8, "-v: all groups are listed");
	ok(has(text, "handler 17 (#37): suspended for 1.73 s, since 1.00 us after the start, last woken by #12, on thread 18800\n"
	             "     serve (#38): suspended for 1.73 s, since 1.00 us after the start\n"), "-v: each member has a line");
	ok(has(text, "serve (#43): suspended for 1.73 s, since 1.00 us after the start\n     and 50 more\n"),
	   "-v: the number of members beyond the limit is given");
	ok(!strchr(text, '\033'), "there is no colour by default");
	text = printed(TEXT, &m->report, &(struct ctp_report_style){.colour = true});
	ok(has(text, "\033[1;31mPROVED\033[0m: "), "colour can be requested");
	m->report.since_ns = 12500000000;
	m->report.until_ns = 60000000000;
	text = printed(TEXT, &m->report, &plain);
	ok(has(text, "looked at only from 12.5 s to 1.00 min\n"), "a restricted range of time is mentioned");
	ok(has(printed(MARKDOWN, &m->report, &plain), "\n- looked at only from 12.5 s to 1.00 min\n"),
	   "Markdown mentions the range");
	ok(has(printed(JSON, &m->report, &plain),
	   "],\"since_ns\":12500000000,\"until_ns\":60000000000,\"ignored\":0,\"ignore_unmatched\":[]}"), "JSON has the range");
	m->report.since_ns = m->report.until_ns = 0;
}

/* The limit is on rows of tables; lists that are no table keep their length. */
static void test_top(struct made *m)
{
	static const struct ctp_report_style top = {.top = 2}, more = {.top = 7}, top_all = {.top = 2, .all = true};
	for (uint64_t i = 0; i < 5; i++)
		m->section.heavy[CTP_HEAVY_RUNNABLE][i] = (struct ctp_report_heavy){70 + i, 1000, NULL, spawn};
	m->section.nheavy[CTP_HEAVY_RUNNABLE] = 5;
	const char *text = printed(TEXT, &m->report, &top);
	is_u64(count(text, "1,234 "), 2, "--top 2 gives two groups that wait");
	is_u64(count(text, "412us"), 2, "--top 2 gives two sites");
	ok(has(text, "\n  runnable   serve (#70) 1.00 us, serve (#71) 1.00 us\n"), "--top 2 gives two coroutines");
	ok(has(text, "who: handler 17 (#37), serve (#38), serve (#39), serve (#40), serve (#41), and 52 more\n"),
	   "--top does not shorten the members of a finding");
	text = printed(TEXT, &m->report, &more);
	is_u64(count(text, "412us"), 7, "--top can give more rows than usual");
	ok(has(text, "\n  runnable\n    serve (#70) 1.00 us, spawned at main.c:12:serve\n"), "with more rows, each coroutine has a line");
	is_u64(count(printed(TEXT, &m->report, &top_all), "412us"), 10, "-v gives all rows, also with --top 2");
	text = printed(MARKDOWN, &m->report, &top);
	is_u64(count(text, "| 412 us "), 2, "Markdown: --top 2 gives two rows");
	ok(has(text, "\n## Coroutines with the most time in all\n\n- running    `serve (#0x12a05f200)` 1.00 ms\n- runnable   `serve (#70)` 1.00 us, `serve (#71)` 1.00 us\n"),
	   "Markdown lists the coroutines with the most time");
	ok(has(printed(MARKDOWN, &m->report, &more), "\n- runnable\n  - `serve (#70)` 1.00 us, spawned at `main.c:12:serve`\n"),
	   "with more rows, each coroutine has its spawn site");
	m->section.nheavy[CTP_HEAVY_RUNNING] = 0;
	ok(has(printed(TEXT, &m->report, &plain), "\nCoroutines with the most time in all\n  runnable "),
	   "coroutines that were only ready are listed");
	m->section.nheavy[CTP_HEAVY_RUNNABLE] = 0;
	ok(!strstr(printed(MARKDOWN, &m->report, &plain), "most time in all"), "without such coroutines there is no table");
}

static void test_caveats(struct made *m)
{
	struct ctp_report_section *s = &m->section;
	s->nfindings = 0;
	s->nwaiting = s->nrunning = s->nsites = s->nthreads = 0;
	ok(has(printed(TEXT, &m->report, &plain), "\nNo findings\n"), "the report says that there are no findings");
	ok(!strstr(printed(TEXT, &m->report, &plain), "Still"), "without waiting and running coroutines there are no such tables");
	s->counts = (struct ctp_follow_counts){.events = 7, .lost = 1, .missed = 2, .untraced = 3, .unfollowed = 1};
	s->cut = true;
	s->complete = false;
	strcpy(s->ended.outcome, "running");
	const char *text = printed(TEXT, &m->report, &plain);
	ok(has(text, "\n  1 event was lost: "), "lost events are mentioned");
	ok(has(text, "\n  the threads of the lost events are not known: "), "that their threads are not known is mentioned");
	s->counts.lost = 9;
	s->counts.ring_lost = 7;
	ok(has(printed(TEXT, &m->report, &plain), "\n  the threads of 2 of the lost events are not known: "),
	   "if some are known, the others are counted");
	s->counts.ring_lost = 9;
	ok(!strstr(printed(TEXT, &m->report, &plain), "the threads of"), "if all are known, it is not mentioned");
	s->counts.lost = 1;
	s->counts.ring_lost = 0;
	text = printed(TEXT, &m->report, &plain);
	ok(has(text, "\n  2 wakes, names or awaits were missed: "), "missed records are mentioned");
	ok(has(text, "\n  the trace has no wakes: "), "missing wakes are mentioned");
	ok(has(text, "\n  3 coroutines are not in the trace"), "untraced coroutines are mentioned");
	ok(has(text, "\n  the trace is truncated: "), "a missing end is mentioned");
	ok(has(text, "\n  the program was still running: "), "a program that still runs is mentioned");
	ok(has(text, "; 1 lost\n"), "the head counts lost events");
	s->complete = true;
	ok(has(printed(TEXT, &m->report, &plain), "\n  the end of the program is not in the trace: "),
	   "a trace that is complete is not called truncated");
	s->complete = false;
	s->until = true;
	ok(!strstr(printed(TEXT, &m->report, &plain), "is truncated"), "with --until a missing end is not mentioned");
	s->until = false;
	s->cut = false;
	ok(has(printed(MARKDOWN, &m->report, &plain), "\n- parts of the trace are damaged or missing\n"), "damage is mentioned");
	s->ended_ns = 6000000000;
	ok(has(printed(TEXT, &m->report, &plain), "; 6.00 s; last seen alive at 2.02 s; "), "an end that was seen much later is mentioned");
	s->nwaiting = 1;
	s->destroyed = 7;
	ok(has(printed(TEXT, &m->report, &plain), "\nWaiting before coroutines were destroyed, but no finding\n"),
	   "coroutines that were destroyed do not wait at the end");
	s->nwaiting = 0;
	s->destroyed = 0;
	s->counts.events = 0;
	ok(has(printed(TEXT, &m->report, &plain), "not one event"), "an empty trace is said to be empty");
	m->report.sections_seen = 300;
	m->report.ignored = 1;
	ok(has(printed(TEXT, &m->report, &plain), "\nIn 300 sections: 0 findings.\nOnly the first of them is judged.\n"
	                                          "1 finding was ignored, as asked.\n"),
	   "the closing lines count sections and ignored findings");
	m->report.nsections = 0;
	m->report.sections_seen = 0;
	ok(has(printed(TEXT, &m->report, &plain), "There is nothing in the trace.\n"),
	   "a trace without sections is reported as empty");
	is(printed(JSON, &m->report, &plain),
	   "{\"ctp_report\":1,\"tool\":\"ctp-report " CTP_VERSION "\",\"sections\":[],\"since_ns\":0,\"until_ns\":null,\"ignored\":1,\"ignore_unmatched\":[]}",
	   "a trace without sections has valid JSON");
}

/* True if no character is left that a terminal would interpret. */
static bool is_safe(const char *text)
{
	for (const char *s = text; *s; s++) {
		unsigned n = ctp_utf8_bytes(s, s + strnlen(s, 4));
		if (n == 0 || (*s > 0 && *s < ' ' && *s != '\n') || *s == 0x7f || !strncmp(s, "\302\233", 2) ||
		    !strncmp(s, "\342\200\256", 3) || !strncmp(s, "\342\200\250", 3)) {
			diag("at: %.60s", s);
			return false;
		}
		s += n - 1;
	}
	return true;
}

static void poison(struct made *m)
{
	static char hostile[] = HOSTILE, hostile_command[] = HOSTILE "\0" HOSTILE "\0";
	struct ctp_report_section *s = &m->section;
	s->command = hostile_command;
	s->command_bytes = sizeof(hostile_command) - 1;
	s->host = s->pid = hostile;
	struct ctp_finding *f = &m->findings[0];
	f->title = f->evidence[0] = f->next[0] = f->spawn = f->place = m->who[0].name = hostile;
	static struct ctp_report_member waiter = {.id = 101, .waits_for = 37, .name = hostile, .place = hostile};
	m->who[1].in = m->who[1].place = m->who[1].spawn = hostile;
	f->waiters = &waiter;
	f->nwaiters = 1;
	f->waiting = 1;
	m->running[1].place = m->running[1].name = hostile;
	m->waiting[0].spawn = m->waiting[0].place = m->sites[0].place = m->threads[0].name = hostile;
	s->heavy[CTP_HEAVY_RUNNING][0].name = s->heavy[CTP_HEAVY_RUNNING][0].spawn = hostile;
}

static void test_hostile(struct made *m)
{
	ok(is_safe(printed(TEXT, &m->report, &plain)), "hostile: the text is harmless");
	ok(is_safe(printed(TEXT, &m->report, &all)), "hostile: the text of -v is harmless");
	ok(has(printed(TEXT, &m->report, &plain), "\\x1b[2J\\u009bx\\u202e</script>`|`\\x0a# *_[a](b)\\u2028\\xff\\\\"),
	   "escaped characters are readable");
	const char *text = printed(MARKDOWN, &m->report, &all);
	ok(is_safe(text), "hostile: Markdown");
	ok(!strncmp(text, "# `` '\\x1b[2J\\u009bx\\u202e</script>`|`", 38), "a heading is code, with unescaped bars");
	ok(has(text, "proved: \\\\x1b\\[2J"), "markup in a title is escaped");
	ok(has(text, "\\</script\\>\\`\\|\\`\\\\x0a\\# \\*\\_\\[a\\](b)"), "all markup is escaped");
	ok(has(text, "| `` \\x1b[2J\\u009bx\\u202e</script>`\\|`\\x0a# *_[a](b)\\u2028\\xff\\\\ (#37) `` |"),
	   "a name is code, with a fence long enough for its backticks");
	static char live[] = "@octocat #7 https://x.example WWW.x.example !8 gh-9";
	char *before = m->findings[0].title;
	m->findings[0].title = live;
	ok(has(printed(MARKDOWN, &m->report, &all), "@\u2060octocat \\#\u20607 https:\u2060//x.example WWW.\u2060x.example !\u20608 gh-\u20609"),
	   "a name does not become a link or a mention");
	m->findings[0].title = before;
	text = printed(PAGE, &m->report, &plain);
	ok(!strpbrk(text, "<>&\n") && !strstr(text, "\342\200\250"), "hostile: nothing in a page can end its script");
	ok(has(text, "\\u003c/script\\u003e") && has(text, "\\u2028\\udcff\\\\\""), "the page has the same text, escaped");
	struct ctp_json j = {text, text + strlen(text)};
	ok(ctp_json_skip(&j) && ctp_json_done(&j), "the page's data is JSON");
	text = printed(JSON, &m->report, &plain);
	j = (struct ctp_json){text, text + strlen(text)};
	ok(ctp_json_skip(&j) && ctp_json_done(&j) && !strchr(text, '\n'), "hostile: the JSON is valid, and one line");
}

static void test_json(struct made *m)
{
	const char *text = printed(JSON, &m->report, &plain);
	ok(has(text, "{\"file\":null,\"command\":[\"./server\",\"-v\",\"a b\"],\"host\":\"h\",\"pid\":\"17\",\"source\":null,\"filtered\":null,"
	             "\"start_wall_ns\":\"1700000000123456789\",\"ordinal\":false,\"start_ns\":\"5\",\"duration_ns\":2015906688,\"ended_ns\":2016000000,"
	             "\"outcome\":\"exited\",\"status\":0,\"complete\":true,\"missing\":false,\"events\":7264,\"wakes\":312,\"coroutines\":48,"
	             "\"alive\":9,\"threads_seen\":4,\"lost\":0,\"lost_of_nobody\":0,\"gaps\":0,\"in_gap\":0,\"missed\":0,\"untraced\":0,\"late\":0,"
	             "\"conflicts\":0,"
	             "\"total_ns\":{\"running\":0,\"runnable\":0,\"suspended\":0,\"unknown\":0},\"looked_ns\":0,\"signal\":null,\"signal_ns\":null,\"judged_ns\":0,\"quiet_ns\":0,\"longest_pause_ns\":0,\"destroyed\":0,\"in_range\":true,\"findings\":["),
	   "JSON has the head of a section");
	ok(has(text, "{\"rule\":\"never-woken\",\"certainty\":\"proved\",\"gravity\":17,\"title\":\"7 coroutines were never woken\","
	             "\"evidence\":[\"nobody woke them\"],\"next\":[\"look at server.c:212\"],"
	             "\"spawn_site\":\"main.c:12:serve\",\"suspend_site\":\"server.c:212:handle\"," SERVE_HANDLE "\"members\":57,"
	             "\"from_ns\":10,\"to_ns\":20,\"coroutines\":[{\"coro\":\"37\",\"probe_id\":\"18446744073709551615\","
	             "\"name\":\"handler 17\",\"in\":null,\"state\":\"suspended\",\"since_ns\":1000,\"for_ns\":1730000000,"
	             "\"spawn_site\":\"main.c:12:serve\",\"suspend_site\":\"server.c:212:handle\"," SERVE_HANDLE
	             "\"reasons\":[],\"waits_for\":null,\"woken_by\":\"12\",\"thread\":18800,\"pid\":\"17\"},{"), "a finding");
	m->who[0].reasons[0] = (struct ctp_report_reason){.what = CTP_WAITS_PERMITS, .pid = 17, .at = 0x2000, .count = 2};
	m->who[0].reasons[1] = (struct ctp_report_reason){.what = CTP_WAITS_TIMER, .pid = 17, .due_ns = 5};
	m->who[0].reasons[2] = (struct ctp_report_reason){.what = CTP_WAITS_DESCRIPTOR, .pid = 17, .at = 9};
	m->who[0].nreasons = 3;
	m->who[0].waits_for = 38;
	ok(has(printed(JSON, &m->report, &plain), "\"reasons\":[{\"kind\":\"permits\",\"pid\":17,\"object\":\"0x0000000000002000\",\"count\":2},"
	             "{\"kind\":\"timer\",\"pid\":17,\"due_ns\":5},{\"kind\":\"descriptor\",\"pid\":17,\"fd\":9}],\"waits_for\":\"38\","),
	   "JSON: a member with what it waits for");
	m->who[0].nreasons = 0;
	m->who[0].waits_for = 0;
	text = printed(JSON, &m->report, &plain);
	ok(has(text, "],\"waiting\":0,\"awaits\":[],\"number\":0,\"root\":null}"), "JSON: a finding without other waiters has an empty list");
	ok(has(text, "{\"spawn_site\":null,\"suspend_site\":\"server.c:88:accept\"," NULL_ACCEPT "\"coroutines\":1234,\"runnable\":0,"
	             "\"longest_ns\":5,\"shortest_ns\":0,\"ended\":0,\"ended_max_ns\":0,\"in_findings\":0,\"longest\":{\"coro\":\"0\",\"name\":null},"
	             "\"certain\":false}"), "JSON lists the groups that wait");
	ok(has(text, "],\"running\":[{\"spawn_site\":\"main.c:12:serve\",\"suspend_site\":\"server.c:212:handle\"," SERVE_HANDLE "\"coroutines\":3,"
	             "\"longest_ns\":7000,\"shortest_ns\":6000,\"in_findings\":3,\"longest\":{\"coro\":\"12\",\"name\":\"handler 17\","
	             "\"thread\":18800},\"certain\":true},{"), "JSON lists the groups that run");
	ok(has(text, "{\"site\":\"server.c:212:handle\",\"place\":" HANDLE ",\"suspended\":{\"count\":1000,\"total_ns\":9,\"p50_ns\":412000,"
	             "\"p99_ns\":1730000,\"max_ns\":2000000000},\"runnable\":{"), "a site");
	ok(has(text, "{\"tid\":18800,\"name\":\"worker\",\"busy_ns\":1007953344,\"unknown_ns\":0,\"busy_share\":0.5000,\"resumes\":99,"
	             "\"last_ns\":2015906688}"), "a thread");
	ok(has(text, "\"top\":{\"running\":[{\"coro\":\"5000000000\",\"name\":null,\"spawn_site\":\"main.c:12:serve\",\"spawn_place\":" SERVE ","
	             "\"ns\":1000000}],\"runnable\":[],\"suspended\":[],\"unknown\":[]}"),
	   "JSON lists the coroutines with the most time");
}

/*
 * 37 and 40 are members. 101 waits for 37, 102 for 101; 103 and 104 for 40; 105 for one that is not listed; 106 and 107 for each
 * other, which does not occur in real reports.
 */
static void make_tree(struct made *m, struct ctp_report_member waiters[CTP_REPORT_MEMBERS])
{
	static const uint64_t waits_for[] = {37, 101, 40, 40, 2000, 107, 106};
	static char consumer[] = "consumer 5";
	make(m);
	for (uint64_t i = 0; i < 7; i++)
		waiters[i] = (struct ctp_report_member){.id = 101 + i, .waits_for = waits_for[i], .awaits = i != 1, .for_ns = 1000 * (i + 1),
		                                        .state = i == 2 ? CTP_RUNNABLE : i == 4 ? CTP_BORN : CTP_SUSPENDED,
		                                        .in = i ? NULL : consumer, .place = i > 2 ? NULL : i ? place : other};
	waiters[4].waits_for_name = consumer;
	m->findings[0].waiters = waiters;
	m->findings[0].nwaiters = 7;
	m->findings[0].waiting = 9;
}

static void test_tree(void)
{
	struct made m;
	struct ctp_report_member waiters[CTP_REPORT_MEMBERS];
	make_tree(&m, waiters);
	ok(has(printed(TEXT, &m.report, &plain),
	       "serve (#41), and 52 more\n   waiting because of them:\n"
	       "     handler 17 (#37)\n"
	       "       #101, in consumer 5  at server.c:88:accept, for 1.00 us\n"
	       "         #102  at server.c:212:handle, for 2.00 us (inferred)\n"
	       "     serve (#40)\n"
	       "       #104  for 4.00 us\n"
	       "       #103  at server.c:212:handle, ready to run for 3.00 us\n"
	       "     consumer 5 (#2000)\n"
	       "       #105  not yet run for 5.00 us\n"
	       "     #106\n"
	       "       #107  for 7.00 us\n"
	       "         #106  for 6.00 us\n"
	       "     and 2 more\n   next: "), "the text has a tree of waiters");
	ok(has(printed(MARKDOWN, &m.report, &plain),
	       "\nwaiting because of them:\n\n- `handler 17 (#37)`\n"
	       "  - `#101, in consumer 5` at `server.c:88:accept`, for 1.00 us\n"
	       "    - `#102` at `server.c:212:handle`, for 2.00 us (inferred)\n- `serve (#40)`\n  - `#104` for 4.00 us\n"),
	   "Markdown has a nested list of waiters");
	ok(has(printed(MARKDOWN, &m.report, &plain), "    - `#106` for 6.00 us\n\nand 2 more\n"),
	   "Markdown says how many more there are");
	ok(has(printed(JSON, &m.report, &plain),
	       "],\"waiting\":9,\"awaits\":[{\"coro\":\"101\",\"probe_id\":\"0\",\"name\":null,\"in\":\"consumer 5\",\"state\":\"suspended\","
	       "\"since_ns\":0,\"for_ns\":1000,\"spawn_site\":null,\"suspend_site\":\"server.c:88:accept\"," NULL_ACCEPT "\"reasons\":[],\"waits_for\":\"37\",\"told\":true},"
	       "{\"coro\":\"102\",\"probe_id\":\"0\",\"name\":null,\"in\":null,\"state\":\"suspended\",\"since_ns\":0,\"for_ns\":2000,"
	       "\"spawn_site\":null,\"suspend_site\":\"server.c:212:handle\"," NULL_HANDLE "\"reasons\":[],\"waits_for\":\"101\",\"told\":false},"),
	   "JSON: each waiter names what it waits for");
	/* A chain of the maximum length. */
	for (uint64_t i = 0; i < CTP_REPORT_MEMBERS; i++)
		waiters[i] = (struct ctp_report_member){.id = 101 + i, .waits_for = i ? 100 + i : 37, .awaits = true, .for_ns = 1000};
	m.findings[0].nwaiters = CTP_REPORT_MEMBERS;
	m.findings[0].waiting = 500;
	const char *text = printed(TEXT, &m.report, &plain);
	ok(has(text, " #119  for 1.00 us\n     and 481 more\n") && !strstr(text, "#120 "), "the text has 20 lines of the tree");
	ok(has(printed(TEXT, &m.report, &all), " #200  for 1.00 us\n     and 400 more\n"),
	   "-v: the tree has all listed waiters, and the number of the others");
	m.findings[0].members = 1;
	ok(has(printed(TEXT, &m.report, &plain), "   waiting because of it:\n"), "the heading for one member is singular");
	m.findings[0].nwaiters = 0;
	ok(!strstr(printed(TEXT, &m.report, &plain), "because of"), "without waiters there is no tree");
}

/* Members at several places are grouped by place. */
static void test_spread(void)
{
	struct made m;
	static char in[] = "server";
	make(&m);
	m.who[1].place = m.who[5].place = other;
	m.who[1].in = m.who[2].in = in;
	m.who[6].place = NULL;
	ok(has(printed(TEXT, &m.report, &plain),
	       "   who: at server.c:212:handle: handler 17 (#37); serve (#39), in server; serve (#40), serve (#41)\n"
	       "        at server.c:88:accept: serve (#38), in server; serve (#42)\n"
	       "        at a place that is not known: serve (#43)\n        and 50 more\n   next: "),
	   "members at several places have a line for each place");
	ok(has(printed(TEXT, &m.report, &all), "\n     serve (#38), in server at server.c:88:accept: suspended for 1.73 s,"),
	   "-v: each member has its place");
	const char *text = printed(MARKDOWN, &m.report, &plain);
	ok(has(text, "| coroutine | state | at | for | since | last woken by |\n| --- | --- | --- | ---: | ---: | --- |\n"
	             "| `handler 17 (#37)` | suspended | `server.c:212:handle` | 1.73 s | 1.00 us | #12 |\n"
	             "| `serve (#38), in server` | suspended | `server.c:88:accept` | 1.73 s | 1.00 us |  |\n"),
	   "Markdown: members at several places have a column of places");
	for (int i = 0; i < 7; i++)
		m.who[i].place = place;
	text = printed(TEXT, &m.report, &plain);
	ok(has(text, "   who: handler 17 (#37); serve (#38), in server; serve (#39), in server; serve (#40), serve\n        (#41), and 52 more\n"),
	   "the place of members at one place is only in the title");
}

static void test_markdown(void)
{
	struct made m;
	static char odd[] = "1. a", dash[] = "- b";
	make(&m);
	m.findings[0].evidence[0] = odd;
	m.findings[0].evidence[1] = dash;
	const char *text = printed(MARKDOWN, &m.report, &plain);
	ok(has(text, "# `./server -v 'a b'`\n\n- pid `17` on `h`; started "), "Markdown: what ran is the heading");
	ok(has(text, "\n## 2 findings: 1 proved, 1 likely, 0 unknown\n\n"
	             "### 1. proved: 7 coroutines were never woken\n\nRule `never-woken`\n"),
	   "Markdown: a finding has a heading and its rule");
	ok(has(text, "\n- 1\\. a\n- \\- b\n"), "evidence does not become a nested list");
	ok(has(text, "\n## Still running at the end, but no finding\n\n| where | spawned at | the longest | note | running | thread | shortest | longest |\n"
	             "| --- | --- | --- | --- | ---: | ---: | ---: | ---: |\n"
	             "| `(not known)` | `main.c:12:serve` | `handler 17` |  | 3 | 18800 | 6.00 us | 7.00 us |\n\n"),
	   "Markdown: groups that run are listed, with the longest");
	ok(has(text, "\n| `server.c:88:accept` |  |  | not certain | 1,234 | 0 | 0 ns | 5 ns | - | - |\n"),
	   "Markdown: groups that wait are listed, with a note if uncertain");
	m.section.ordinal = true;
	text = printed(MARKDOWN, &m.report, &plain);
	ok(has(text, "| where | spawned at | the first | note | running | thread |\n| --- | --- | --- | --- | ---: | ---: |\n"
	             "| `(not known)` | `main.c:12:serve` | `handler 17` |  | 3 | 18800 |\n\n"),
	   "without a clock the first of a group is given");
	m.section.ordinal = false;
	text = printed(MARKDOWN, &m.report, &plain);
	ok(has(text, "\n| `server.c:212:handle` | 1,000 | 412 us | 1.73 ms | 2.00 s | - | - | - | - | - | - |\n"),
	   "Markdown: a site has a row");
}

/* One and two of everything that is counted. */
static void test_agreement(void)
{
	static const char *const one[] = {"1 event was lost: findings that it could", "coroutines have 1 gap, ", "for 1 of the lost events",
	                                  "the last events of 1 coroutine are lost: it is listed", "1 wake, name or await was missed",
	                                  "1 coroutine is not in the trace", "1 record of the others was ignored", "(not certain)",
	                                  "1 coroutine, 1 alive at the end; run by 1 thread; 1 event, 1 wake;", "0 unknown; 1 ignored, as asked "};
	static const char *const two[] = {"2 events were lost: findings that they could", "coroutines have 2 gaps, ", "for 2 of the lost events",
	                                  "the last events of 2 coroutines are lost: they are listed", "2 wakes, names or awaits were missed",
	                                  "2 coroutines are not in the trace", "2 records of the others were ignored", "(not certain)",
	                                  "2 coroutines, 2 alive at the end; run by 2 threads; 2 events, 2 wakes;", "0 unknown; 2 ignored, as asked "};
	for (uint64_t n = 1; n <= 2; n++) {
		struct made m;
		make(&m);
		m.section.total_ns[CTP_HEAVY_UNKNOWN] = n;
		m.section.counts = (struct ctp_follow_counts){.events = n, .wakes = n, .coroutines = n, .lost = n, .lost_apart = n, .gaps = n,
		                                              .missed = n, .untraced = n, .unfollowed = n};
		m.section.alive = m.section.nthreads_seen = m.section.in_gap = m.section.ignored = m.report.ignored = n;
		m.waiting[0].coroutines = n;
		char text[16384], *to = text; /* without the ends of lines, for some are wrapped */
		for (const char *s = printed(TEXT, &m.report, &plain); *s && to < text + sizeof(text) - 1; s += *s == '\n' ? 1 + strspn(s + 1, " ") : 1)
			*to++ = *s == '\n' ? ' ' : *s;
		*to = '\0';
		for (size_t i = 0; i < sizeof(one) / sizeof(*one); i++)
			ok(has(text, n == 1 ? one[i] : two[i]), "%s", n == 1 ? one[i] : two[i]);
	}
}

/* The file of a section, and a section that ends before the requested range. */
static void test_sections(void)
{
	static char a[] = "a.ctp", hostile[] = "\033[2J|.ctp";
	static const struct ctp_report_style several = {.several = true};
	struct made m;
	make(&m);
	m.section.file = a;
	ok(!strncmp(printed(TEXT, &m.report, &plain), "./server ", 9), "with one file its name is left out");
	ok(!strncmp(printed(TEXT, &m.report, &several), "a.ctp: ./server ", 16), "with several files the name is given");
	ok(has(printed(MARKDOWN, &m.report, &plain), "\n- trace `a.ctp`\n"), "Markdown always has the name");
	ok(has(printed(JSON, &m.report, &plain), "[{\"file\":\"a.ctp\",\"command\":"), "JSON always has the name");
	m.section.file = hostile;
	ok(!strncmp(printed(TEXT, &m.report, &several), "\\x1b[2J|.ctp: ./server ", 23),
	   "a hostile file name is escaped in the text");
	ok(has(printed(MARKDOWN, &m.report, &plain), "\n- trace `\\x1b[2J|.ctp`\n"), "a hostile file name is escaped in Markdown");

	struct ctp_report_section two[] = {m.section, m.section};
	two[0].file = a;
	two[1].file = NULL;
	two[0].outside = true;
	two[0].nfindings = two[0].nwaiting = two[0].nrunning = 0;
	m.report = (struct ctp_report){.sections = two, .nsections = 2, .sections_seen = 2, .since_ns = 5000000000, .outside = 1};
	const char *text = printed(TEXT, &m.report, &plain);
	ok(!strncmp(text, "Section 1 of 2, a.ctp: ./server ", 32) && has(text, "\nSection 2 of 2: ./server "),
	   "sections are numbered");
	ok(has(text, "\n  looked at only from 5.00 s to the end\n\nNo verdict: nothing lies in the time that was asked for\n\n"
	             "What this could not see\n  the trace ends 2.02 s after its start, but --since asks for what comes after 5.00 s\n\nSection 2"),
	   "a section that ends before the range has no verdict and no tables");
	ok(has(text, "\nIn 2 sections: 2 findings, in section 2.\n1 of them ends before the time that was asked for, and is not judged.\n"),
	   "the closing lines mention that section");
	text = printed(MARKDOWN, &m.report, &plain);
	ok(has(text, "\n## No verdict: nothing lies in the time that was asked for\n\n## What this could not see\n\n- the trace ends 2.02 s "
	             "after its start, but --since asks for what comes after 5.00 s\n\n# Section 2 of 2: `./server"),
	   "Markdown gives no verdict for that section");
	text = printed(JSON, &m.report, &plain);
	ok(has(text,
	   "\"in_range\":false,\"findings\":[],\"ignored\":0,\"caveats\":[\"the trace ends 2.02 s after its start, but"),
	   "JSON says that the section is outside the range");
}

int main(void)
{
	static struct made m;
	make(&m);
	test_text(&m);
	test_json(&m);
	poison(&m);
	test_hostile(&m);
	make(&m);
	test_caveats(&m);
	make(&m);
	test_top(&m);
	test_tree();
	test_spread();
	test_markdown();
	test_agreement();
	test_sections();
	return done_testing();
}
