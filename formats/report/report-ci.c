/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* report-ci.c - results for continuous integration, and how their texts are written. */
#include "report/report-ci.h"

#include <assert.h>
#include <ctype.h>
#include <signal.h>
#include <stdio.h>

#include "base/map.h"
#include "base/text.h"
#include "report/report-rules.h"

/* --- results -------------------------------------------------------------------------------------------------------------- */

void ctp_ci_file(struct ctp_report_place *at, char to[CTP_CI_FILE_MAX])
{
	if (!at->file_bytes || at->file_bytes > CTP_CI_FILE_MAX)
		return;
	const char *end = at->file + at->file_bytes;
	size_t n = 0;
	if (*at->file == '/')
		to[n++] = '/';
	size_t kept = n; /* bytes that no ".." takes away */
	for (const char *c = at->file, *slash; c < end; c = slash + 1) {
		slash = memchr(c, '/', (size_t)(end - c));
		slash = slash ? slash : end;
		size_t len = (size_t)(slash - c);
		bool up = len == 2 && !memcmp(c, "..", 2), is_root = n == 1 && *to == '/';
		if (!len || (len == 1 && *c == '.') || (up && is_root))
			continue;
		if (up && n > kept) {
			while (n > kept && to[n - 1] != '/')
				n--;
			n -= n > kept;
			continue;
		}
		if (n && to[n - 1] != '/')
			to[n++] = '/';
		memcpy(to + n, c, len);
		n += len;
		kept = up ? n : kept;
	}
	if (n) {
		at->file = to;
		at->file_bytes = n;
	}
}

#define HASH_START UINT64_C(0xcbf29ce484222325) /* of FNV-1a; it stays, so that fingerprints do */

/* A null ends each text, so that no two lists of texts are the same bytes. */
static uint64_t mix(uint64_t hash, const char *text, size_t len)
{
	return ctp_map_bytes(ctp_map_bytes(hash, text, len), "", 1);
}

/* Of a place without a line, all of it. */
static uint64_t mix_place(uint64_t hash, const char *text)
{
	struct ctp_report_place at;
	char file[CTP_CI_FILE_MAX];
	if (!ctp_report_place(&at, text))
		return mix(hash, text ? text : "", text ? strlen(text) : 0);
	ctp_ci_file(&at, file);
	hash = mix(hash, at.file, at.file_bytes);
	return mix(hash, at.function ? at.function : "", at.function ? strlen(at.function) : 0);
}

const char *ctp_ci_mark(char to[CTP_CI_MARK_MAX], struct ctp_ci *ci, const struct ctp_ci_result *result)
{
	const char *rule = ctp_report_rule(result->rule).name;
	uint32_t before = 0;
	char number[CTP_TEXT_MAX];
	uint64_t hash = mix_place(mix_place(mix(HASH_START, rule, strlen(rule)), result->place), result->spawn);
	assert(ci->nseen < ci->at);
	for (uint32_t i = 0; i < ci->nseen; i++)
		before += ci->seen[i] == hash;
	ci->seen[ci->nseen++] = hash;
	if (before)
		hash = mix(hash, number, (size_t)(ctp_text_u64(number, before) - number));
	snprintf(to, CTP_CI_MARK_MAX, "%016jx", (uintmax_t)hash);
	return to;
}

static void of_finding(struct ctp_ci_result *r, const struct ctp_finding *f, const struct ctp_report_section *section)
{
	_Static_assert((unsigned)CTP_REPORT_POSSIBLE == CTP_RULE_NONE, "a wait that stands out has the name possible");
	*r = (struct ctp_ci_result){
		.rule = f->rule, .certainty = f->certainty, .title = f->title, .excuse = f->excuse, .place = f->place, .spawn = f->spawn,
		.members = f->members, .waiting = f->waiting, .who = f->who, .nwho = f->nwho, .waiters = f->waiters,
		.nwaiters = f->nwaiters,
	};
	uint32_t n = 0;
	if (f->root)
		r->evidence[n++] = ctp_print_because(r->because, section, f, true);
	for (uint32_t i = 0; i < CTP_REPORT_LINES && f->evidence[i]; i++)
		r->evidence[n++] = f->evidence[i];
	for (uint32_t i = 0; i < CTP_REPORT_LINES && f->next[i]; i++)
		r->next[i] = f->next[i];
}

/* Of a wait that stands out, what the report says of the whole program, and what to look at next. */
static void add_advice(struct ctp_ci_result *r, const struct ctp_report_section *section)
{
	bool ready = r->nwho && r->who[0].state == CTP_RUNNABLE;
	uint32_t n = 0;
	while (r->evidence[n])
		n++;
	if (n < CTP_REPORT_LINES && ctp_print_quiet(r->quiet, section))
		r->evidence[n++] = r->quiet;
	if (ready)
		snprintf(r->advice, sizeof r->advice,
		         "if that does not explain it, look at what should resume coroutines that were woken");
	else
		snprintf(r->advice, sizeof r->advice, "if that does not explain it, look at whatever ends a wait at %.*s",
		         CTP_CI_ADVICE_MAX - 100, r->place ? r->place : "this site");
	r->next[0] = r->advice;
}

void ctp_ci_start(struct ctp_ci *ci, const struct ctp_report_section *section)
{
	assert(section->nfindings + section->nsuspects <= CTP_REPORT_FINDINGS + CTP_REPORT_SUSPECTS);
	ci->section = section;
	ci->at = ci->nseen = 0;
}

bool ctp_ci_next(struct ctp_ci *ci, struct ctp_ci_result *result)
{
	const struct ctp_finding *f = ctp_report_finding(ci->section, ci->at);
	if (!f)
		return false;
	of_finding(result, f, ci->section);
	if (f->rule == CTP_RULE_NONE)
		add_advice(result, ci->section);
	ci->at++;
	return true;
}

/* --- hangs ---------------------------------------------------------------------------------------------------------------- */

/* By its own name, or by a status that hardly any other program has. */
static bool is_timed_out(const struct ctp_report_section *s)
{
	enum { OVER = 124, KILLED = 128 + SIGKILL, TERMINATED = 128 + SIGTERM };
	const char *command = s->command_bytes ? s->command : "", *slash = strrchr(command, '/');
	bool timeout = !strcmp(slash ? slash + 1 : command, "timeout");
	if (ctp_ended_is(&s->ended, CTP_OUTCOME_KILLED))
		return timeout && s->ended.status == SIGKILL;
	return ctp_ended_is(&s->ended, CTP_OUTCOME_EXITED) &&
	       (s->ended.status == OVER || (timeout && (s->ended.status == KILLED || s->ended.status == TERMINATED)));
}

/* By a signal that no program sends to end another in order, and that is no crash of its own. */
static bool is_stopped_by_force(const struct ctp_report_section *s)
{
	static const int forces[] = {SIGKILL, SIGQUIT, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU};
	bool force = false;
	for (size_t i = 0; i < sizeof forces / sizeof *forces; i++)
		force |= s->ended.status == forces[i];
	return force && ctp_ended_is(&s->ended, CTP_OUTCOME_KILLED);
}

bool ctp_ci_hang(char to[CTP_PRINT_LINE_MAX], const struct ctp_report_section *s)
{
	char outcome[CTP_PRINT_LINE_MAX], length[CTP_PRINT_LINE_MAX], quiet[CTP_PRINT_LINE_MAX];
	bool over = is_timed_out(s), still = s->nwaiting && (s->nsuspects || ctp_print_quiet(quiet, s));
	if (s->until || s->outside || (!over && (!is_stopped_by_force(s) || !still)))
		return false;
	snprintf(to, CTP_PRINT_LINE_MAX, "%s%.60s%s%.60s", over ? "timeout(1) stopped it: " : "", ctp_print_outcome(outcome, s),
	         s->ordinal ? ", " : " after ", s->ordinal ? ctp_print_length(length, s) : ctp_print_ns(length, s->ended_ns));
	return true;
}

static bool is_suspected(const struct ctp_report_section *s, const char *place)
{
	bool suspected = false;
	for (uint32_t i = 0; i < s->nsuspects; i++)
		suspected |= place && s->suspects[i].place && !strcmp(place, s->suspects[i].place);
	return suspected;
}

/* The group with the longest wait after that of last, which is null at first; none that is listed as a suspect. Null: no more. */
static const struct ctp_report_still *next_longest(const struct ctp_report_section *s, const struct ctp_report_still *last)
{
	const struct ctp_report_still *next = NULL;
	for (const struct ctp_report_still *w = s->waiting; w < s->waiting + s->nwaiting; w++) {
		bool after = !last || w->longest_ns < last->longest_ns || (w->longest_ns == last->longest_ns && w > last);
		if (after && (!next || w->longest_ns > next->longest_ns) && !is_suspected(s, w->place))
			next = w;
	}
	return next;
}

unsigned ctp_ci_hang_lines(char to[CTP_CI_STILL][CTP_CI_ADVICE_MAX], const struct ctp_report_section *s)
{
	char n[CTP_PRINT_NUMBER_MAX], ns[CTP_PRINT_NUMBER_MAX];
	const struct ctp_report_still *w = NULL;
	unsigned count = ctp_print_quiet(to[0], s);
	for (uint32_t i = 0; i < s->nsuspects && count < CTP_CI_STILL; i++)
		snprintf(to[count++], CTP_CI_ADVICE_MAX, "%s: %s", ctp_certainty_name(s->suspects[i].certainty),
		         s->suspects[i].title);
	while (count < CTP_CI_STILL && (w = next_longest(s, w)))
		snprintf(to[count++], CTP_CI_ADVICE_MAX, "%s coroutine%s still wait%s at %.*s%s%s", ctp_print_count(n, w->coroutines),
		         ctp_print_plural(w->coroutines), w->coroutines == 1 ? "s" : "", CTP_CI_ADVICE_MAX - 200,
		         w->place ? w->place : "a site that is not known", s->ordinal ? "" : ", the longest for ",
		         s->ordinal ? "" : ctp_print_ns(ns, w->longest_ns));
	return count;
}

const char *ctp_ci_hang_mark(char to[CTP_CI_MARK_MAX], const struct ctp_report_section *s)
{
	uint64_t hash = mix(HASH_START, CTP_CI_HANG, strlen(CTP_CI_HANG));
	hash = mix(hash, s->command_bytes ? s->command : "", s->command_bytes);
	snprintf(to, CTP_CI_MARK_MAX, "%016jx", (uintmax_t)hash);
	return to;
}

/* --- places --------------------------------------------------------------------------------------------------------------- */

void ctp_ci_spot(struct ctp_ci_spot *spot, const struct ctp_report_section *section, const struct ctp_ci_result *result)
{
	spot->text = result->place;
	if (!ctp_report_place(&spot->at, result->place) && ctp_report_place(&spot->at, result->spawn))
		spot->text = result->spawn;
	if (!spot->at.line) {
		const char *file = section->command_bytes && *section->command ? section->command : section->file;
		spot->at = (struct ctp_report_place){.file = file, .file_bytes = file ? strlen(file) : 0};
	}
	ctp_ci_file(&spot->at, spot->file);
}

void ctp_ci_hang_spot(struct ctp_ci_spot *spot, const struct ctp_report_section *section)
{
	const struct ctp_report_still *w = NULL;
	struct ctp_ci_result result = {0};
	if (section->nsuspects)
		result = (struct ctp_ci_result){.place = section->suspects[0].place, .spawn = section->suspects[0].spawn};
	ctp_ci_spot(spot, section, &result);
	while (!spot->at.line && (w = next_longest(section, w))) {
		result = (struct ctp_ci_result){.place = w->place, .spawn = w->spawn};
		ctp_ci_spot(spot, section, &result);
	}
}

static bool is_new(const struct ctp_ci_related *list, unsigned n, const struct ctp_ci_result *result, const char *place)
{
	if (!place || (result->place && !strcmp(place, result->place)))
		return false;
	for (unsigned i = 0; i < n; i++)
		if (!strcmp(list[i].place, place))
			return false;
	return true;
}

unsigned ctp_ci_related(struct ctp_ci_related to[CTP_CI_RELATED], const struct ctp_ci_result *result)
{
	unsigned n = 0;
	if (is_new(to, n, result, result->spawn))
		to[n++] = (struct ctp_ci_related){result->spawn, "the coroutines were spawned here", NULL};
	for (uint32_t i = 0; i < result->nwho && n < CTP_CI_RELATED; i++)
		if (is_new(to, n, result, result->who[i].place))
			to[n++] = (struct ctp_ci_related){result->who[i].place, "suspended here", &result->who[i]};
	for (uint32_t i = 0; i < result->nwaiters && n < CTP_CI_RELATED; i++)
		if (is_new(to, n, result, result->waiters[i].place))
			to[n++] = (struct ctp_ci_related){result->waiters[i].place, "waits here because of it",
			                                  &result->waiters[i]};
	return n;
}

/* --- texts ---------------------------------------------------------------------------------------------------------------- */

static const char *escape(enum ctp_ci_form form, char c)
{
	if (form == CTP_CI_JSON)
		return c == '"' ? "\\\"" : c == '\\' ? "\\\\" : NULL;
	if (form == CTP_CI_XML)
		return c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '"' ? "&quot;" : NULL;
	if (form == CTP_CI_PROPERTY && (c == ':' || c == ','))
		return c == ':' ? "%3A" : "%2C";
	return c == '%' ? "%25" : NULL;
}

/* XML has no way to write these two characters, which UTF-8 has. */
static bool is_foreign(enum ctp_ci_form form, const char *c, unsigned n)
{
	return form == CTP_CI_XML && n == 3 && !memcmp(c, "\xef\xbf", 2) && (unsigned char)c[2] >= 0xbe;
}

static void put_char(struct ctp_output *out, enum ctp_ci_form form, const char *c, unsigned n)
{
	char spelled[CTP_VISIBLE_MAX];
	if (is_foreign(form, c, n)) {
		n = ctp_visible_spell(spelled, ctp_utf8_point(c, n), false);
		c = spelled;
	}
	for (const char *end = c + n; c < end; c++) {
		const char *as = escape(form, *c);
		ctp_output_put(out, as ? as : c, as ? strlen(as) : 1);
	}
}

/* Neither spelled nor escaped. */
static bool is_plain(enum ctp_ci_form form, char c) { return c >= ' ' && c < 0x7f && c != '\\' && !escape(form, c); }

void ctp_ci_put_part(struct ctp_output *out, enum ctp_ci_form form, const char *text, size_t len)
{
	char c[CTP_VISIBLE_MAX];
	unsigned columns;
	for (const char *end = text + strnlen(text, len), *from = text; text < end; from = text) {
		while (text < end && is_plain(form, *text))
			text++;
		ctp_output_put(out, from, (size_t)(text - from));
		if (text < end)
			put_char(out, form, c, ctp_visible_char(c, &text, &columns));
	}
}

void ctp_ci_put(struct ctp_output *out, enum ctp_ci_form form, const char *text)
{
	if (!text)
		text = "(not known)";
	ctp_ci_put_part(out, form, text, strlen(text));
}

void ctp_ci_newline(struct ctp_output *out, enum ctp_ci_form form)
{
	ctp_output_putf(out, "%s", form == CTP_CI_JSON ? "\\n" : form == CTP_CI_XML ? "\n" : "%0A");
}

static void line(struct ctp_output *out, enum ctp_ci_form form, const char *label, const char *text)
{
	ctp_ci_newline(out, form);
	ctp_ci_put(out, form, label);
	ctp_ci_put(out, form, text);
}

static void members(struct ctp_output *out, enum ctp_ci_form form, const struct ctp_ci_result *result)
{
	enum { NAMED = 10 };
	char label[CTP_PRINT_LABEL_MAX], number[CTP_PRINT_NUMBER_MAX];
	uint32_t shown = result->nwho < NAMED ? result->nwho : NAMED;
	if (shown)
		ctp_ci_newline(out, form);
	for (uint32_t i = 0; i < shown; i++) {
		ctp_ci_put(out, form, i ? "; " : "who: ");
		ctp_ci_put(out, form, ctp_print_member(label, &result->who[i]));
	}
	if (shown && result->members > shown) {
		ctp_ci_put(out, form, "; and ");
		ctp_ci_put(out, form, ctp_print_count(number, result->members - shown));
		ctp_ci_put(out, form, " more");
	}
}

void ctp_ci_put_lines(struct ctp_output *out, enum ctp_ci_form form, const struct ctp_ci_result *result)
{
	if (result->excuse)
		line(out, form, "not reported as likely because ", result->excuse);
	for (uint32_t i = 0; result->evidence[i]; i++)
		line(out, form, "", result->evidence[i]);
	members(out, form, result);
	for (uint32_t i = 0; result->next[i]; i++)
		line(out, form, i ? "" : "next: ", result->next[i]);
}

void ctp_ci_put_uri(struct ctp_output *out, const struct ctp_report_place *at)
{
	ctp_output_putf(out, "%s", at->file_bytes && *at->file == '/' ? "file://" : "");
	for (size_t i = 0; i < at->file_bytes; i++) {
		unsigned char c = (unsigned char)at->file[i];
		ctp_output_putf(out, (c < 0x80 && isalnum(c)) || (c && strchr("/._-~", c)) ? "%c" : "%%%02X", c);
	}
}
