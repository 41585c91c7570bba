/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* report-ci: results, their fingerprints, places and escapes; SARIF, JUnit, annotations and the brief form; files of a report. */
#include "report/report-ci.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/report-markdown.h"
#include "report/report-rules.h"
#include "report/report-write.h"
#include "valid-xml.h"
#include "written.h"

/* A name that a traced program could choose: commands of a terminal, of GitHub, and the marks of XML and JSON. */
#define HOSTILE "\033[2J\n::error::x%0A]]>&<\"'\\\xff\xef\xbf\xbf\xe2\x80\xae"

static char command[] = "./server", trace[] = "t.ctp", title[] = "never", fact[] = "a fact", advice[] = "look", other[] = "b.c:7:g";

struct made {
	struct ctp_report report;
	struct ctp_report_section section;
	struct ctp_finding findings[CTP_REPORT_FINDINGS], suspect;
	struct ctp_report_member who[CTP_REPORT_MEMBERS];
};

static char place[] = "./a.c:41:pop", spawn[] = "/src/m n.c:9:main";

static const char *formatted(const char *format, int n)
{
	static char text[100];
	snprintf(text, sizeof text, format, n);
	return text;
}

static struct made *make(uint32_t nfindings)
{
	static struct made m;
	m = (struct made){.section = {.command = command, .command_bytes = sizeof command, .complete = true, .counts.events = 7}};
	m.report = (struct ctp_report){.sections = &m.section, .nsections = 1, .sections_seen = 1};
	m.section.findings = m.findings;
	m.section.nfindings = nfindings;
	for (uint32_t i = 0; i < nfindings; i++)
		m.findings[i] = (struct ctp_finding){
			.rule = CTP_RULE_NEVER_WOKEN, .certainty = CTP_CERTAIN_LIKELY, .title = title, .evidence = {fact}, .next = {advice},
			.place = place, .spawn = spawn, .members = 1, .who = m.who, .nwho = 1,
		};
	m.who[0] = (struct ctp_report_member){.id = 7, .state = CTP_SUSPENDED, .place = place};
	return &m;
}

static const char *printed(enum ctp_report_format format, const struct ctp_report *r, struct ctp_report_style style)
{
	struct ctp_output out;
	textmem_open(&out);
	style.format = format;
	ctp_report_write(&out, r, &style);
	return written(&out);
}

static const struct ctp_report_style plain;

/* --- results -------------------------------------------------------------------------------------------------------------- */

/* The fingerprint of a result with these places. */
static const char *mark_of(enum ctp_rule rule, char *at, char *spawned)
{
	static struct ctp_ci ci;
	static char mark[CTP_CI_MARK_MAX];
	struct ctp_ci_result r;
	struct made *m = make(1);
	m->findings[0].rule = rule;
	m->findings[0].place = at;
	m->findings[0].spawn = spawned;
	ctp_ci_start(&ci, &m->section);
	return ctp_ci_next(&ci, &r) ? ctp_ci_mark(mark, &ci, &r) : "";
}

static void test_marks(void)
{
	static char moved[] = "./a.c:52:pop", push[] = "./a.c:41:push", file[] = "./b.c:41:pop", site[] = "site 7", site8[] = "site 8";
	char first[CTP_CI_MARK_MAX];
	strcpy(first, mark_of(CTP_RULE_NEVER_WOKEN, place, spawn));
	is(first, "a2bde68d16f6b88e", "a fingerprint is the same as in earlier versions");
	is(mark_of(CTP_RULE_NEVER_WOKEN, moved, spawn), first, "a fingerprint does not depend on the line");
	ok(strcmp(mark_of(CTP_RULE_NEVER_WOKEN, push, spawn), first), "it depends on the function");
	ok(strcmp(mark_of(CTP_RULE_NEVER_WOKEN, file, spawn), first), "it depends on the file");
	ok(strcmp(mark_of(CTP_RULE_NEVER_WOKEN, place, NULL), first), "it depends on the spawn site");
	ok(strcmp(mark_of(CTP_RULE_LEAKED, place, spawn), first), "it depends on the rule");
	strcpy(first, mark_of(CTP_RULE_NEVER_WOKEN, site, spawn));
	ok(strcmp(mark_of(CTP_RULE_NEVER_WOKEN, site8, spawn), first), "of a place without a line it depends on all of it");

	static struct ctp_ci ci;
	struct ctp_ci_result r;
	char second[CTP_CI_MARK_MAX];
	ctp_ci_start(&ci, &make(2)->section);
	ok(ctp_ci_next(&ci, &r) && ctp_ci_mark(first, &ci, &r) && ctp_ci_next(&ci, &r) && strcmp(ctp_ci_mark(second, &ci, &r), first),
	   "two results that agree have two fingerprints");
	ok(!ctp_ci_next(&ci, &r), "then there are no more");
}

static void test_suspects(void)
{
	static char excuse[] = "it rests there", also[] = "others wait";
	static struct ctp_ci ci;
	struct ctp_ci_result r;
	struct made *m = make(1);
	m->section.nsuspects = 1;
	m->section.suspects = &m->suspect;
	m->suspect = (struct ctp_finding){.rule = CTP_RULE_NONE, .certainty = CTP_CERTAIN_POSSIBLE, .title = title, .excuse = excuse,
	                                  .evidence = {also}};
	ctp_ci_start(&ci, &m->section);
	ok(ctp_ci_next(&ci, &r) && r.rule == CTP_RULE_NEVER_WOKEN && !r.excuse, "findings come first");
	ok(ctp_ci_next(&ci, &r) && r.rule == CTP_REPORT_POSSIBLE && r.certainty == CTP_CERTAIN_POSSIBLE, "then waits that stand out");
	ok(has(printed(CTP_REPORT_AS_SARIF, &m->report, plain), "never\\nnot reported as likely because it rests there\\nothers wait\\nnext: if that does not explain it, look at whatever ends a wait at this site\""),
	   "they have their excuse");
}

static void test_rules(void)
{
	for (unsigned rule = 0; rule < CTP_REPORT_RULES; rule++) {
		const struct ctp_report_rule r = ctp_report_rule(rule);
		ok(strchr(r.means, '.') && strlen(r.to_do) > 20 && strchr(".?", r.to_do[strlen(r.to_do) - 1]), "%s has its texts", r.name);
	}
	is(ctp_report_rule(CTP_RULE_AFTER_DEATH).means, "A coroutine was resumed after it had ended.", "a meaning is that of the page");
	is(ctp_report_rule(CTP_RULE_UNREAD).to_do, "Look at how the descriptor is registered with epoll(7) or poll(2). An edge-triggered event "
	   "comes once: read until there is no more, and only then wait.", "macros of the page become text");
}

/* --- places --------------------------------------------------------------------------------------------------------------- */

static const char *spot(struct made *m, char *at, char *spawned)
{
	static char to[200];
	static struct ctp_ci ci;
	struct ctp_ci_result r;
	m->findings[0].place = at;
	m->findings[0].spawn = spawned;
	ctp_ci_start(&ci, &m->section);
	ctp_ci_next(&ci, &r);
	struct ctp_ci_spot s;
	ctp_ci_spot(&s, &m->section, &r);
	snprintf(to, sizeof to, "%.*s %ju %s %s", (int)s.at.file_bytes, s.at.file ? s.at.file : "", s.at.line,
	         s.at.function ? s.at.function : "-", s.text ? s.text : "-");
	return to;
}

static void test_names(void)
{
	static const char *const files[][2] = {
		{"a.c", "a.c"}, {"./a.c", "a.c"}, {"././/b/./a.c", "b/a.c"}, {"build/../src/a.c", "src/a.c"}, {"b/c/../../a.c", "a.c"},
		{"../a.c", "../a.c"}, {"b/../../a.c", "../a.c"}, {"../../b/../a.c", "../../a.c"}, {"..a/../a..c", "a..c"},
		{"/src/build/../a.c", "/src/a.c"}, {"/../a.c", "/a.c"}, {"/b/../../c/a.c", "/c/a.c"}, {"b/..", "b/.."}, {"/", "/"},
	};
	static char shown[CTP_CI_FILE_MAX + 20], too_long[CTP_CI_FILE_MAX + 1];
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		char to[CTP_CI_FILE_MAX];
		struct ctp_report_place at = {.file = files[i][0], .file_bytes = strlen(files[i][0])};
		ctp_ci_file(&at, to);
		snprintf(shown, sizeof shown, "%.*s", (int)at.file_bytes, at.file);
		is(shown, files[i][1], files[i][0]);
	}
	memset(too_long, '.', CTP_CI_FILE_MAX);
	too_long[1] = '/';
	struct ctp_report_place at = {.file = too_long, .file_bytes = sizeof too_long};
	ctp_ci_file(&at, shown);
	ok(at.file == too_long, "a name that is too long stays");
}

static void test_spots(void)
{
	static char site[] = "site 7";
	struct made *m = make(1);
	is(spot(m, place, spawn), "a.c 41 pop ./a.c:41:pop", "a result is at its place");
	is(spot(m, site, spawn), "/src/m n.c 9 main /src/m n.c:9:main", "or where its coroutines were spawned");
	is(spot(m, site, NULL), "server 0 - site 7", "or in the program");
	m->section.command_bytes = 0;
	m->section.file = trace;
	is(spot(m, NULL, NULL), "t.ctp 0 - -", "or in the trace");
	m->section.file = NULL;
	is(spot(m, NULL, NULL), " 0 - -", "or nowhere");
	ok(has(printed(CTP_REPORT_AS_SARIF, &m->report, plain), "\"locations\":[{\"physicalLocation\":{\"artifactLocation\":{\"uri\":\"unknown\"},"
	       "\"region\":{\"startLine\":1}}}]"), "SARIF: services demand a location all the same");
	ok(has(printed(CTP_REPORT_AS_GITLAB, &m->report, plain), "{\"path\":\"unknown\",\"lines\":{\"begin\":1}}"), "so does GitLab");
	ok(has(printed(CTP_REPORT_AS_GITHUB, &m->report, plain), "::warning title="), "GitHub does not");
}

static const char *uri(const char *file)
{
	struct ctp_output out;
	textmem_open(&out);
	ctp_ci_put_uri(&out, &(struct ctp_report_place){.file = file, .file_bytes = strlen(file)});
	return written(&out);
}

static void test_uris(void)
{
	is(uri("src/a-b_c~1.c"), "src/a-b_c~1.c", "a relative name stays");
	is(uri("/src/a.c"), "file:///src/a.c", "an absolute one becomes file:");
	is(uri("a b:c?#%\\.c"), "a%20b%3Ac%3F%23%25%5C.c", "what has a meaning in a URI is escaped");
	is(uri("\xc3\xa9\xff\n\"<"), "%C3%A9%FF%0A%22%3C", "any byte is");
}

static void test_related(void)
{
	static char places[30][16];
	struct made *m = make(1);
	struct ctp_report_member waiter = {.id = 9, .place = other};
	m->findings[0].waiters = &waiter;
	m->findings[0].nwaiters = 1;
	const char *sarif = printed(CTP_REPORT_AS_SARIF, &m->report, plain);
	is_u64(count(sarif, "the coroutines were spawned here"), 1, "the spawn site is related");
	ok(has(sarif, "{\"physicalLocation\":{\"artifactLocation\":{\"uri\":\"b.c\"},\"region\":{\"startLine\":7}},\"logicalLocations\":"
	              "[{\"fullyQualifiedName\":\"g\",\"kind\":\"function\"}],\"id\":2,\"message\":{\"text\":\"#9: waits here because of it\"}}"),
	   "so is the place of a waiter");
	is_u64(count(sarif, ": suspended here"), 0, "the place of the result is not");
	m->findings[0].nwho = 30;
	for (int i = 0; i < 30; i++) {
		snprintf(places[i], sizeof places[i], "c.c:%d:f", i + 1);
		m->who[i] = (struct ctp_report_member){.id = (uint64_t)i + 1, .place = places[i]};
	}
	is_u64(count(printed(CTP_REPORT_AS_SARIF, &m->report, plain), ": suspended here"), CTP_CI_RELATED - 1, "there are at most 20");
}

/* --- forms ---------------------------------------------------------------------------------------------------------------- */

static const char *escaped(enum ctp_ci_form form, const char *what)
{
	struct ctp_output out;
	textmem_open(&out);
	ctp_ci_put(&out, form, what);
	ctp_ci_newline(&out, form);
	return written(&out);
}

static void test_escapes(void)
{
	is(escaped(CTP_CI_JSON, HOSTILE), "\\\\x1b[2J\\\\x0a::error::x%0A]]>&<\\\"'\\\\\\\\\\\\xff\xef\xbf\xbf\\\\u202e\\n", "JSON");
	is(escaped(CTP_CI_XML, HOSTILE), "\\x1b[2J\\x0a::error::x%0A]]&gt;&amp;&lt;&quot;'\\\\\\xff\\uffff\\u202e\n", "XML");
	is(escaped(CTP_CI_MESSAGE, HOSTILE), "\\x1b[2J\\x0a::error::x%250A]]>&<\"'\\\\\\xff\xef\xbf\xbf\\u202e%0A", "a message of GitHub");
	is(escaped(CTP_CI_PROPERTY, "a,b:c%\r"), "a%2Cb%3Ac%25\\x0d%0A", "a property of a command");
	is(escaped(CTP_CI_XML, NULL), "(not known)\n", "nothing");
}

static void test_hostile(void)
{
	static char name[] = HOSTILE, path[] = HOSTILE ":7:" HOSTILE, argv[] = HOSTILE;
	struct made *m = make(1);
	m->findings[0].title = m->findings[0].evidence[0] = m->findings[0].next[0] = m->who[0].name = name;
	m->findings[0].place = m->findings[0].spawn = m->who[0].place = path;
	m->section.command = argv;
	m->section.command_bytes = sizeof argv;
	m->section.host = m->section.pid = m->section.file = name;
	printed(CTP_REPORT_AS_JUNIT, &m->report, plain);
	ok(valid_xml((const char *)in_output.data, in_output.len), "hostile names: JUnit is XML");
	printed(CTP_REPORT_AS_SARIF, &m->report, plain);
	ok(valid_json((const char *)in_output.data, in_output.len), "SARIF is JSON");
	printed(CTP_REPORT_AS_GITLAB, &m->report, plain);
	ok(valid_json((const char *)in_output.data, in_output.len), "code quality is JSON");
	const char *github = printed(CTP_REPORT_AS_GITHUB, &m->report, plain);
	ok(count(github, "\n") == 2 && !strncmp(github, "::warning file=", 15) && strstr(github, "\n::notice title="),
	   "a finding is one command, and so is what the report could not see");
	printed(CTP_REPORT_AS_BRIEF, &m->report, plain);
	valid_shown_but((const char *)in_output.data, in_output.len, 0x2060);
}

static void test_levels(void)
{
	static const struct {
		enum ctp_certainty certainty;
		const char *sarif, *github, *gitlab;
	} levels[] = {
		{CTP_CERTAIN_PROVED, "\"level\":\"error\",\"message\"", "::error file=a.c,line=41,title=ctp-report%3A never-woken (proved)::never%0Aa fact%0Awho: #7%0Anext: look\n",
		 "\"severity\":\"critical\",\"location\":{\"path\":\"a.c\",\"lines\":{\"begin\":41}}"},
		{CTP_CERTAIN_LIKELY, "\"level\":\"warning\",\"message\"", "::warning file=", "\"severity\":\"major\""},
		{CTP_CERTAIN_UNKNOWN, "\"level\":\"note\",\"message\"", "::notice file=", "\"severity\":\"info\""},
	};
	for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
		struct made *m = make(1);
		m->findings[0].certainty = levels[i].certainty;
		ok(has(printed(CTP_REPORT_AS_SARIF, &m->report, plain), levels[i].sarif), "SARIF: the level of %s", ctp_certainty_name(levels[i].certainty));
		ok(has(printed(CTP_REPORT_AS_GITHUB, &m->report, plain), levels[i].github), "GitHub: its command");
		ok(has(printed(CTP_REPORT_AS_GITLAB, &m->report, plain), levels[i].gitlab), "GitLab: its severity");
	}
	struct made *m = make(1);
	m->findings[0].place = spawn;
	ok(has(printed(CTP_REPORT_AS_GITLAB, &m->report, (struct ctp_report_style){.root = "/src/"}), "{\"path\":\"m n.c\","), "files below the root are named from there");
	ok(has(printed(CTP_REPORT_AS_GITLAB, &m->report, (struct ctp_report_style){.root = "/sr"}), "{\"path\":\"/src/m n.c\","), "others stay");
}

/* A test for each rule, for waits that stand out, for the trace, and for hangs. */
enum { TESTS = CTP_RULES + 3 };

static void test_junit(void)
{
	struct made *m = make(3);
	m->findings[2].rule = CTP_RULE_LEAKED;
	m->findings[2].certainty = CTP_CERTAIN_UNKNOWN;
	const char *xml = printed(CTP_REPORT_AS_JUNIT, &m->report, plain);
	ok(valid_xml(xml, in_output.len), "JUnit is XML");
	ok(has(xml, formatted("tests=\"%d\" failures=\"1\" errors=\"0\" skipped=\"1\" time=\"0.000\">\n", TESTS)), "a suite counts its tests");
	is_u64(count(xml, "<testcase "), TESTS, "all of them are listed");
	ok(has(xml, "<failure type=\"likely\" message=\"likely: never; and 1 more\">likely: never\nat ./a.c:41:pop\na fact\nwho: #7\nnext: look\n\nlikely: never\n"),
	   "a failure has all findings of its rule");
	ok(has(xml, "name=\"leaked\" time=\"0\">\n<skipped>unknown: never\n"), "a finding that is unknown is skipped");
	xml = printed(CTP_REPORT_AS_JUNIT, &m->report, (struct ctp_report_style){.fail_on = CTP_CERTAIN_PROVED});
	ok(has(xml, "failures=\"0\" errors=\"0\" skipped=\"2\""), "--fail-on gives the level of failures");
	xml = printed(CTP_REPORT_AS_JUNIT, &make(0)->report, plain);
	ok(has(xml, "failures=\"0\" errors=\"0\" skipped=\"0\""), "without findings all tests pass");
	m->section.counts.lost = 1;
	xml = printed(CTP_REPORT_AS_JUNIT, &m->report, plain);
	ok(has(xml, "name=\"trace\" time=\"0\">\n<skipped>the trace is incomplete") && has(xml, "skipped=\"1\""), "an incomplete trace is no pass");
	struct ctp_report_section two[] = {make(0)->section, make(0)->section};
	xml = printed(CTP_REPORT_AS_JUNIT, &(struct ctp_report){.sections = two, .nsections = 2, .sections_seen = 2}, plain);
	ok(has(xml, " id=\"0\"") && has(xml, " id=\"1\"") && count(xml, "classname=\"ctp-report.2\"") == TESTS, "tests of two sections have two classes");
	m = make(0);
	m->section.ordinal = true;
	xml = printed(CTP_REPORT_AS_JUNIT, &m->report, plain);
	ok(has(xml, "name=\"crash\" time=\"0\"/>\n") && has(xml, "name=\"leaked\" time=\"0\">\n<skipped>the rule needs times"), "a rule that is not applied is skipped");
	m->section.counts.events = 0;
	xml = printed(CTP_REPORT_AS_JUNIT, &m->report, plain);
	ok(has(xml, formatted("failures=\"0\" errors=\"1\" skipped=\"%d\"", TESTS - 2)) && has(xml, "<error type=\"no-events\""), "a trace without events is an error");
	m->report.nsections = 0;
	ok(has(printed(CTP_REPORT_AS_JUNIT, &m->report, plain), "there is nothing in the trace"), "so is an empty trace");
}

/* --- hangs and limits ----------------------------------------------------------------------------------------------------- */

/* A section that was stopped, in which a coroutine waits. status 0 and more: of an exit; less: a signal. */
static struct made *stopped(char *argv, int status, bool still)
{
	static char at[] = "a.c:41:pop", stands[] = "1 coroutine waits", excuse[] = "a timer may end it";
	static struct ctp_report_still waiting[] = {{.place = at, .coroutines = 1, .longest_ns = 5}, {.place = other, .coroutines = 2, .longest_ns = 3000000}};
	struct made *m = make(0);
	m->section.command = argv;
	m->section.command_bytes = strlen(argv) + 1;
	m->section.ended.status = status < 0 ? -status : status;
	strcpy(m->section.ended.outcome, status < 0 ? "killed" : "exited");
	m->section.duration_ns = m->section.ended_ns = 3000000000;
	m->section.waiting = waiting;
	m->section.nwaiting = 2;
	if (still) {
		m->section.quiet_ns = 2000000000;
		m->section.nsuspects = 1;
		m->section.suspects = &m->suspect;
		m->suspect = (struct ctp_finding){.rule = CTP_RULE_NONE, .certainty = CTP_CERTAIN_POSSIBLE, .title = stands, .excuse = excuse,
		                                  .place = at};
	}
	return m;
}

static void test_hangs(void)
{
	static char timeout[] = "/usr/bin/timeout", tests[] = "./tests";
	static const struct {
		char *argv;
		int status;
		bool still, hangs;
	} cases[] = {
		{timeout, -SIGKILL, false, true}, {timeout, 124, false, true}, {timeout, 137, false, true}, {tests, 124, false, true},
		{tests, 137, true, false}, {tests, 1, true, false}, {tests, 0, true, false}, {timeout, 0, true, false}, {timeout, 1, true, false},
		{tests, -SIGKILL, true, true}, {tests, -SIGKILL, false, false}, {tests, -SIGALRM, true, true}, {tests, -SIGTERM, true, false},
		{tests, -SIGINT, true, false}, {tests, -SIGSEGV, true, false},
	};
	char how[CTP_PRINT_LINE_MAX];
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		ok(ctp_ci_hang(how, &stopped(cases[i].argv, cases[i].status, cases[i].still)->section) == cases[i].hangs, "%s, %d, %s: %s",
		   cases[i].argv, cases[i].status, cases[i].still ? "nothing ran" : "it ran", cases[i].hangs ? "it hung" : "it did not hang");
	struct made *m = stopped(tests, -SIGKILL, true);
	m->section.nsuspects = 0;
	ok(ctp_ci_hang(how, &m->section), "that nothing was resumed is enough");
	m->section.nwaiting = 0;
	ok(!ctp_ci_hang(how, &m->section), "but a coroutine must wait");
	m = stopped(timeout, 124, true);
	m->section.until = true;
	ok(!ctp_ci_hang(how, &m->section), "with --until the end is not looked at");

	m = stopped(timeout, -SIGKILL, true);
	const char *xml = printed(CTP_REPORT_AS_JUNIT, &m->report, plain);
	ok(valid_xml(xml, in_output.len) && has(xml, "failures=\"1\" errors=\"0\" skipped=\"1\""), "JUnit: a hang is a failure, and the wait stays possible");
	ok(has(xml, "name=\"hang\" time=\"0\">\n<failure type=\"hang\" message=\"the program did not end by itself: timeout(1) stopped it: killed by SIGKILL after 3.00 s\">"),
	   "it says how");
	ok(has(xml, "\nno coroutine was resumed in the last 2.00 s; before, that took 0 ns at most\npossible: 1 coroutine waits\n"
	            "2 coroutines still wait at b.c:7:g, the longest for 3.00 ms</failure>"), "and what waited");
	xml = printed(CTP_REPORT_AS_JUNIT, &m->report, (struct ctp_report_style){.fail_on = CTP_CERTAIN_PROVED});
	ok(has(xml, "failures=\"1\""), "whatever --fail-on says");
	static struct ctp_report_still many[] = {
		{.place = other, .coroutines = 90}, {.place = place, .coroutines = 2, .found = 2, .longest_ns = 2000000000},
		{.place = spawn, .coroutines = 1, .longest_ns = 7000000}, {.place = other, .coroutines = 5, .found = 5, .longest_ns = 6000000},
		{.place = place, .coroutines = 1, .longest_ns = 1000}, {.place = NULL, .coroutines = 1, .longest_ns = 900},
	};
	m->section.waiting = many;
	m->section.nwaiting = 6;
	m->section.nsuspects = 0;
	ok(has(printed(CTP_REPORT_AS_JUNIT, &m->report, plain), "before, that took 0 ns at most\n"
	       "2 coroutines still wait at ./a.c:41:pop, the longest for 2.00 s\n1 coroutine still waits at /src/m n.c:9:main, the longest for 7.00 ms\n"
	       "5 coroutines still wait at b.c:7:g, the longest for 6.00 ms\n1 coroutine still waits at ./a.c:41:pop, the longest for 1.00 us</failure>"),
	   "the longest waits come first, also those in findings");
	m = stopped(timeout, -SIGKILL, true);
	ok(has(printed(CTP_REPORT_AS_GITHUB, &m->report, plain), "::error title=ctp-report%3A hang::/usr/bin/timeout did not end by itself: timeout(1) stopped it: killed by SIGKILL after 3.00 s%0Ano coroutine was"),
	   "GitHub: it is an error");
	ok(has(printed(CTP_REPORT_AS_GITHUB, &m->report, plain), "%0Anot reported as likely because a timer may end it%0Ano coroutine was resumed in the last 2.00 s; "
	       "before, that took 0 ns at most%0Anext: if that does not explain it, look at whatever ends a wait at a.c:41:pop\n"), "the wait has a next step");
	const char *json = printed(CTP_REPORT_AS_GITLAB, &m->report, plain);
	ok(valid_json(json, in_output.len) && has(json, "\"check_name\":\"hang\",") && has(json, "\"severity\":\"critical\""), "GitLab: it is critical");
	ok(has(json, "\"severity\":\"critical\",\"location\":{\"path\":\"a.c\",\"lines\":{\"begin\":41}}}"), "it is shown at the wait that stands out");
	m->section.nsuspects = 0;
	ok(has(printed(CTP_REPORT_AS_GITLAB, &m->report, plain), "\"location\":{\"path\":\"b.c\",\"lines\":{\"begin\":7}}}"), "or at the longest wait");
	m->section.nwaiting = 0;
	ok(has(printed(CTP_REPORT_AS_GITLAB, &m->report, plain), "\"location\":{\"path\":\"/usr/bin/timeout\",\"lines\":{\"begin\":1}}}"),
	   "or else at the program");
	m = stopped(timeout, -SIGKILL, true);
	json = printed(CTP_REPORT_AS_SARIF, &m->report, plain);
	ok(valid_json(json, in_output.len) && has(json, "{\"level\":\"error\",\"message\":{\"text\":\"/usr/bin/timeout: the program did not end by itself: "), "SARIF: it is a notification");
	ok(has(json, formatted("\"ruleId\":\"possible\",\"ruleIndex\":%d,\"level\":\"note\"", CTP_RULES)), "the level of the wait stays");
	is(printed(CTP_REPORT_AS_BRIEF, &m->report, plain), "### `/usr/bin/timeout`: No findings, but 1 wait stands out\n\n"
	   "- **the program did not end by itself**: timeout(1) stopped it: killed by SIGKILL after 3.00 s; no coroutine was resumed in the last 2.00 s; before, that took 0 ns at most\n"
	   "- possible: 1 coroutine waits (`possible`)\n  - not likely because a timer may end it; if that does not explain it, look at whatever ends a wait at a.c:41:pop\n\n"
	   "- note: the trace has no wakes: it does not show whether a coroutine was never woken, or woken and not resumed\n"
	   "- note: there is not one resume in the trace: does the program record them, as with ctp\\_coro\\_resume()?\n\n"
	   "3.00 s; killed by SIGKILL; 0 coroutines, 0 alive at the end; 7 events, nothing lost\n", "brief");
}

static void test_limits(void)
{
	const char *out = printed(CTP_REPORT_AS_GITHUB, &make(25)->report, plain);
	is_u64(count(out, "::warning "), 10, "GitHub: at most ten of a kind");
	ok(has(out, "\n::warning title=ctp-report::16 more like these: the text of ctp-report has them\n"), "the last counts the others");
	out = printed(CTP_REPORT_AS_GITHUB, &make(10)->report, plain);
	ok(count(out, "::warning file=") == 10 && !strstr(out, "more like these"), "ten are shown");
	out = printed(CTP_REPORT_AS_JUNIT, &make(60)->report, plain);
	ok(valid_xml(out, in_output.len) && count(out, "\nat ./a.c:41:pop\n") == 50 && has(out, "\nand 10 more\n</failure>"), "JUnit: at most 50 of a rule");
	struct made *m = make(1000);
	struct ctp_report_section sections[6];
	for (int i = 0; i < 6; i++)
		sections[i] = m->section;
	struct ctp_finding proved = m->findings[0];
	proved.certainty = CTP_CERTAIN_PROVED;
	sections[5].findings = &proved;
	sections[5].nfindings = 1;
	out = printed(CTP_REPORT_AS_SARIF, &(struct ctp_report){.sections = sections, .nsections = 6, .sections_seen = 6}, plain);
	ok(valid_json(out, in_output.len), "SARIF: JSON");
	is_u64(count(out, "\"partialFingerprints\""), 5000, "at most 5,000 results");
	ok(has(out, "\"results\":[\n{\"ruleId\":\"never-woken\",\"ruleIndex\":16,\"level\":\"error\""), "the most certain are there");
	ok(has(out, "{\"level\":\"warning\",\"message\":{\"text\":\"1 result is left out: a log has 5000 at most\"}}"), "what is left out is counted");
	static char site[] = "site 7", spawned[] = "site 8";
	m = make(1);
	m->findings[0].place = m->who[0].place = site;
	m->findings[0].spawn = spawned;
	out = printed(CTP_REPORT_AS_SARIF, &m->report, (struct ctp_report_style){.root = "/src x"});
	is_u64(count(out, "\"logicalLocations\""), count(out, "\"physicalLocation\""), "no location is without a file");
	ok(has(out, "\"workingDirectory\":{\"uri\":\"file:///src%20x\"}"), "absolute names are below the current directory");
	for (unsigned rule = 0; rule < CTP_REPORT_RULES; rule++)
		if (strlen(ctp_report_rule(rule).means) > 1024 || strlen(ctp_report_rule(rule).name) > 255)
			ok(false, "GitHub cuts the texts of rule %u", rule);
}

static void test_brief(void)
{
	struct made *m = make(1);
	is(printed(CTP_REPORT_AS_BRIEF, &m->report, plain), "### `./server`: 1 finding: 0 proved, 1 likely, 0 unknown\n\n- likely: never (`never-woken`)\n"
	   "  - next: look\n\n- note: the trace has no wakes: it does not show whether a coroutine was never woken, or woken and not resumed\n"
	   "- note: there is not one resume in the trace: does the program record them, as with ctp\\_coro\\_resume()?\n\n"
	   "0 ns; how it ended is not known; 0 coroutines, 0 alive at the end; 7 events, nothing lost\n", "brief");
	for (uint32_t n = 0; n < 20; n++) {
		m = make(n);
		m->section.counts = (struct ctp_follow_counts){.events = 7, .lost = 1, .gaps = 1, .conflicts = 1, .missed = 1, .untraced = 1};
		unsigned lines = count(printed(CTP_REPORT_AS_BRIEF, &m->report, plain), "\n");
		if (lines > CTP_BRIEF_LINES)
			ok(false, "%u findings have %u lines in brief", n, lines);
	}
	ok(has(printed(CTP_REPORT_AS_BRIEF, &make(1000)->report, plain), "\n- and 993 more\n"), "what is left out is counted");
}

/* --- files ---------------------------------------------------------------------------------------------------------------- */

static char said[500];

static void say(void *arg, const char *line)
{
	(void)arg;
	snprintf(said + strlen(said), sizeof said - strlen(said), "%s\n", line);
}

static bool exists(const char *path) { return !access(path, F_OK); }

static void test_files(void)
{
	char folder[] = "/tmp/report-ci.XXXXXX";
	if (!mkdtemp(folder) || chdir(folder))
		abort();
	struct made *m = make(1);
	struct ctp_report_files files = {.file = {{CTP_REPORT_AS_SARIF, "none/a", false, {0}}, {CTP_REPORT_AS_JUNIT, "/dev/full", false, {0}},
	                                          {CTP_REPORT_AS_JSON, "c", false, {0}}}, .count = 3, .notice.say = say};
	ctp_report_files_open(&files);
	ok(files.failed && strstr(said, "none/a: ") && !strstr(said, "/dev/full"), "a file that cannot be created is named at once");
	ok(!exists("c"), "a file is not there before it is whole");
	ctp_report_files_write(&files, &m->report, &plain);
	ok(strstr(said, "/dev/full: "), "a file that cannot be written is named");
	ok(exists("c"), "the others are written");
	unlink("c");
	files.count = 0;
	files.file[files.count++] = (struct ctp_report_file){.format = CTP_REPORT_AS_JSON, .path = "d"};
	ctp_report_files_open(&files);
	ctp_report_files_abandon(&files);
	ok(!exists("d"), "what is abandoned leaves no file");
	if (chdir("/") || rmdir(folder))
		ok(false, "%s: %s", folder, strerror(errno));
}

int main(void)
{
	test_marks();
	test_suspects();
	test_rules();
	test_names();
	test_spots();
	test_uris();
	test_related();
	test_escapes();
	test_hostile();
	test_levels();
	test_junit();
	test_hangs();
	test_limits();
	test_brief();
	test_files();
	return done_testing();
}
