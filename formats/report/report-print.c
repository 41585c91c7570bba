/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* report-print.c - numbers, safe texts and sentences for all forms of a report. */
#include "report/report-print.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>

#include "analyse/objects.h"
#include "base/text.h"
#include "report/report-place.h"
#include "report/report-which.h"
#include "stream/events.h"

/* --- numbers -------------------------------------------------------------------------------------------------------------- */

const char *ctp_print_count(char to[CTP_PRINT_NUMBER_MAX], uint64_t n)
{
	*ctp_text_count(to, n) = '\0';
	return to;
}

const char *ctp_print_ns(char to[CTP_PRINT_NUMBER_MAX], uint64_t ns)
{
	*ctp_text_duration(to, ns) = '\0';
	return to;
}

const char *ctp_print_brief(char to[CTP_PRINT_NUMBER_MAX], uint64_t ns)
{
	ctp_print_ns(to, ns);
	char *space = strchr(to, ' ');
	assert(space); /* between the number and its unit */
	memmove(space, space + 1, strlen(space));
	return to;
}

const char *ctp_print_percent(char to[CTP_PRINT_NUMBER_MAX], uint64_t part, uint64_t whole)
{
	double share = whole ? 100.0 * (double)part / (double)whole : 0;
	if (part && share < 0.05)
		strcpy(to, "< 0.1 %");
	else
		snprintf(to, CTP_PRINT_NUMBER_MAX, "%.*f %%", part && share < 9.95 ? 1 : 0, share);
	return to;
}

/* Small ids were counted; large ones are addresses. */
const char *ctp_print_label(char to[CTP_PRINT_LABEL_MAX], const char *name, uint64_t id)
{
	char number[CTP_PRINT_NUMBER_MAX];
	snprintf(number, sizeof number, id > UINT32_MAX ? "#0x%jx" : "#%ju", id);
	if (name)
		snprintf(to, CTP_PRINT_LABEL_MAX, "%.*s (%s)", CTP_FOLLOW_NAME_MAX, name, number);
	else
		strcpy(to, number);
	return to;
}

/* Copies without what is between < and >: the types of Rust and C++. An operator may have these signs in its name. */
static void copy_untyped(char to[CTP_PRINT_LABEL_MAX], const char *from)
{
	unsigned depth = 0, n = 0;
	bool typed = !strstr(from, "operator");
	for (; *from && n + 1 < CTP_PRINT_LABEL_MAX; from++) {
		bool opens = typed && *from == '<', arrow = typed && from[0] == '-' && from[1] == '>';
		if (opens && !depth && n > 1 && to[n - 1] == ':') /* serve::<T>::{{closure}} */
			n -= 2;
		depth += opens;
		if (!depth && !arrow)
			to[n++] = *from;
		depth -= typed && *from == '>' && depth;
		from += arrow; /* before the result of a function's type */
	}
	to[n] = '\0';
}

const char *ctp_print_function(char to[CTP_PRINT_LABEL_MAX], const char *site)
{
	struct ctp_report_place place;
	if (!site || !ctp_report_place(&place, site) || !place.function)
		return NULL;
	copy_untyped(to, place.function);
	char *last = to, *open = strchr(to, '(');
	if (open > to) { /* with its parameters, C++ puts its result before it */
		*open = '\0';
		char *space = strrchr(to, ' ');
		last = space ? space + 1 : to;
	}
	for (char *at; (at = strstr(last, "::")) && at[2] && at[2] != '{';) /* closures have no names of their own */
		last = at + 2;
	last[strcspn(last, ":")] = '\0';
	memmove(to, last, strlen(last) + 1);
	return *to ? to : NULL;
}

const char *ctp_print_coroutine(char to[CTP_PRINT_LABEL_MAX], const char *name, const char *spawn, uint64_t id)
{
	char function[CTP_PRINT_LABEL_MAX];
	return ctp_print_label(to, name ? name : ctp_print_function(function, spawn), id);
}

const char *ctp_print_member(char to[CTP_PRINT_LABEL_MAX], const struct ctp_report_member *m)
{
	size_t len = strlen(ctp_print_coroutine(to, m->name, m->spawn, m->id));
	if (!m->name && m->in)
		snprintf(to + len, CTP_PRINT_LABEL_MAX - len, ", in %.*s", CTP_FOLLOW_NAME_MAX, m->in);
	return to;
}

/* What comes after the program was last seen alive is not judged. It is named where people would miss it. */
static void put_length(char to[CTP_PRINT_LINE_MAX], const struct ctp_report_section *s)
{
	char ns[2][CTP_PRINT_NUMBER_MAX];
	bool apart = ctp_span_ns(s->duration_ns, s->ended_ns) > s->duration_ns / 100;
	ctp_print_ns(ns[0], apart ? s->ended_ns : s->duration_ns);
	ctp_print_ns(ns[1], s->duration_ns);
	snprintf(to, CTP_PRINT_LINE_MAX, apart ? "%s; last seen alive at %s" : "%s", ns[0], ns[1]);
}

const char *ctp_print_length(char to[CTP_PRINT_LINE_MAX], const struct ctp_report_section *s)
{
	if (s->ordinal && !ctp_print_numbered(s))
		strcpy(to, "nothing numbered");
	else if (s->ordinal)
		snprintf(to, CTP_PRINT_LINE_MAX, "numbered %ju to %ju", s->start_ns, ctp_print_number(s, s->duration_ns));
	else
		put_length(to, s);
	return to;
}

const char *ctp_print_wait(char to[CTP_PRINT_LINE_MAX], const struct ctp_report_section *s, const struct ctp_report_member *m)
{
	char ns[CTP_PRINT_NUMBER_MAX];
	const char *does = m->state == CTP_RUNNABLE ? "ready to run " : m->state == CTP_BORN ? "not yet run " : "";
	const char *told = *does || m->awaits ? "" : " (inferred)";
	if (s->ordinal)
		snprintf(to, CTP_PRINT_LINE_MAX, "%ssince %ju%s", does, ctp_print_number(s, m->since_ns), told);
	else
		snprintf(to, CTP_PRINT_LINE_MAX, "%sfor %s%s", does, ctp_print_ns(ns, m->for_ns), told);
	return to;
}

/* --- texts ---------------------------------------------------------------------------------------------------------------- */

void ctp_print_text(struct ctp_output *out, const char *text)
{
	char c[CTP_VISIBLE_MAX];
	unsigned n, columns;
	if (!text)
		text = "(not known)";
	while ((n = ctp_visible_char(c, &text, &columns)))
		ctp_output_put(out, c, n);
}

/* Appends a word, in quotes if a shell would interpret it. Returns the end, which is limit if the word does not fit. */
static char *put_word(char *p, char *limit, const char *word)
{
	bool plain = *word;
	for (const char *s = word; *s && plain; s++)
		plain = isalnum((unsigned char)*s) || strchr("_./:=,+@%-", *s) || (unsigned char)*s >= 0x80;
	if (!plain && p < limit)
		*p++ = '\'';
	for (; *word && p < limit; word++) {
		const char *as = *word == '\'' ? "'\\''" : (char[]){*word, '\0'};
		for (; *as && p < limit; as++)
			*p++ = *as;
	}
	if (!plain && p < limit)
		*p++ = '\'';
	return p;
}

const char *ctp_print_command(char to[CTP_PRINT_COMMAND_MAX], const struct ctp_report_section *s)
{
	static const char more[] = " ...";
	char *p = to, *limit = to + CTP_PRINT_COMMAND_MAX - sizeof more;
	if (!s->command_bytes) {
		snprintf(to, CTP_PRINT_COMMAND_MAX, "%s", s->source ? s->source : "a program whose command is not known");
		return to;
	}
	for (const char *word = s->command; word < s->command + s->command_bytes && p < limit; word += strlen(word) + 1) {
		if (p > to)
			*p++ = ' ';
		p = put_word(p, limit, word);
	}
	strcpy(p, p == limit ? more : "");
	return to;
}

/* --- words ---------------------------------------------------------------------------------------------------------------- */

const char *ctp_print_outcome(char to[CTP_PRINT_LINE_MAX], const struct ctp_report_section *s)
{
	char ended[CTP_ENDED_TEXT_MAX];
	const char *text = s->until ? "and went on after that" : ctp_ended_text(ended, &s->ended);
	snprintf(to, CTP_PRINT_LINE_MAX, "%s", text ? text : "how it ended is not known");
	return to;
}

/* Whether enough waits have ended to compare the open ones with. */
static bool has_history(const struct ctp_report_section *s)
{
	enum { ENOUGH = 20 };
	uint64_t ended = 0;
	for (uint32_t i = 0; i < s->nsites; i++)
		ended += s->sites[i].suspended.count;
	return ended >= ENOUGH || (!s->nwaiting && s->counts.events);
}

bool ctp_print_window(char to[CTP_PRINT_LINE_MAX], const struct ctp_report *r)
{
	char from[CTP_PRINT_NUMBER_MAX], upto[CTP_PRINT_NUMBER_MAX];
	snprintf(to, CTP_PRINT_LINE_MAX, "from %s to %s", ctp_print_ns(from, r->since_ns),
	         r->until_ns ? ctp_print_ns(upto, r->until_ns) : "the end");
	return r->since_ns || r->until_ns;
}

bool ctp_print_quiet(char to[CTP_PRINT_LINE_MAX], const struct ctp_report_section *s)
{
	enum { FAR_LONGER = 10, SECOND = 1000000000 };
	char for_ns[CTP_PRINT_NUMBER_MAX], pause[CTP_PRINT_NUMBER_MAX];
	snprintf(to, CTP_PRINT_LINE_MAX, "no coroutine was resumed in the last %s; before, that took %s at most",
	         ctp_print_ns(for_ns, s->quiet_ns), ctp_print_ns(pause, s->pause_ns));
	return !s->ordinal && !s->filtered && !s->counts.lost && s->quiet_ns >= SECOND && s->quiet_ns / FAR_LONGER >= s->pause_ns;
}

bool ctp_print_origin_error(char to[CTP_PRINT_LINE_MAX], const struct ctp_report_section *s)
{
	char ns[CTP_PRINT_NUMBER_MAX];
	uint64_t error_ns;
	const char *text = s->origin_error_ns;
	if (!text)
		return false;
	if (ctp_parse_u64(text, text + strlen(text), &error_ns))
		snprintf(to, CTP_PRINT_LINE_MAX, "times are of the wall clock, and off by at most %s", ctp_print_ns(ns, error_ns));
	else
		snprintf(to, CTP_PRINT_LINE_MAX, "times are of the wall clock, and it is not known how far they are off");
	return true;
}

bool ctp_print_judged(char to[CTP_PRINT_LINE_MAX], const struct ctp_report_section *s)
{
	char ns[CTP_PRINT_NUMBER_MAX], n[CTP_PRINT_NUMBER_MAX];
	if (s->ordinal)
		snprintf(ns, sizeof ns, "number %ju", ctp_print_number(s, s->judged_ns));
	else
		ctp_print_ns(ns, s->judged_ns);
	int len = snprintf(to, CTP_PRINT_LINE_MAX, "judged at %s, before %s coroutines were destroyed", ns,
	                   ctp_print_count(n, s->destroyed));
	if (*s->signal && !s->ordinal && len > 0 && len < CTP_PRINT_LINE_MAX)
		snprintf(to + len, (size_t)(CTP_PRINT_LINE_MAX - len), "; %s came at %s", s->signal,
		         ctp_print_ns(ns, s->signal_ns));
	return s->destroyed;
}

const char *ctp_print_verdict(char to[CTP_PRINT_LINE_MAX], const struct ctp_report_section *s)
{
	char n[CTP_PRINT_NUMBER_MAX], possible[32] = "";
	uint32_t by[CTP_CERTAIN_PROVED + 1] = {0};
	for (uint32_t i = 0; i < s->nfindings; i++)
		by[s->findings[i].certainty]++;
	if (by[CTP_CERTAIN_POSSIBLE])
		snprintf(possible, sizeof possible, ", %u possible", by[CTP_CERTAIN_POSSIBLE]);
	if (s->nfindings)
		snprintf(to, CTP_PRINT_LINE_MAX, "%u finding%s: %u proved, %u likely%s, %u unknown", s->nfindings,
		         ctp_print_plural(s->nfindings), by[CTP_CERTAIN_PROVED], by[CTP_CERTAIN_LIKELY], possible,
		         by[CTP_CERTAIN_UNKNOWN]);
	else if (s->outside)
		strcpy(to, "No verdict: nothing lies in the time that was asked for");
	else if (s->filtered)
		strcpy(to, "No findings that a filtered trace can show");
	else if (s->ordinal)
		strcpy(to, "No findings in the order of its records");
	else if (s->nsuspects)
		strcpy(to, "No findings");
	else
		strcpy(to, has_history(s) && !s->one_site ? "No findings" : "No findings, and no verdict: see below");
	size_t len = strlen(to);
	uint64_t dependents = 0;
	uint32_t waits = 0;
	for (uint32_t i = 0; i < s->nsuspects; i++) {
		dependents += s->suspects[i].dependents;
		waits += s->suspects[i].rule == CTP_RULE_NONE;
	}
	const char *joins = s->nfindings ? ", and" : ", but";
	if (s->nsuspects > waits)
		len += (size_t)snprintf(to + len, CTP_PRINT_LINE_MAX - len, "%s %u possible one%s", joins, s->nsuspects - waits,
		                        ctp_print_plural(s->nsuspects - waits));
	if (waits)
		len += (size_t)snprintf(to + len, CTP_PRINT_LINE_MAX - len, "%s %u wait%s", s->nsuspects > waits ? ", and" : joins,
		                        waits, waits == 1 ? " stands out" : "s stand out");
	if (dependents)
		len += (size_t)snprintf(to + len, CTP_PRINT_LINE_MAX - len, ", and %s other coroutine%s may wait because of %s",
		                        ctp_print_count(n, dependents), ctp_print_plural(dependents),
		                        waits == 1 ? "it" : "them");
	if (s->ignored)
		snprintf(to + len, CTP_PRINT_LINE_MAX - len, "; %s ignored, as asked", ctp_print_count(n, s->ignored));
	return to;
}

const char *ctp_print_because(char to[CTP_PRINT_LINE_MAX], const struct ctp_report_section *s, const struct ctp_finding *f,
                              bool with_title)
{
	const struct ctp_finding *root = f->root ? ctp_report_finding(s, f->root - 1) : NULL;
	const char *it = f->members == 1 ? "it" : "they";
	if (with_title && root && root->title)
		snprintf(to, CTP_PRINT_LINE_MAX, "because of: %.180s", root->title);
	else
		snprintf(to, CTP_PRINT_LINE_MAX, "because of finding %u: without that, %s would go on", f->root, it);
	return to;
}

const char *ctp_print_sites(char to[CTP_PRINT_LINE_MAX], const struct ctp_report_section *s)
{
	if (s->ordinal)
		strcpy(to, "Where they suspended");
	else
		snprintf(to, CTP_PRINT_LINE_MAX, "Where they suspended, and for how long (by time %s)",
		         ctp_print_state(s->sites_by));
	return to;
}

const char *ctp_print_lost(char to[CTP_PRINT_NUMBER_MAX], const struct ctp_report_section *s)
{
	bool damaged = !s->complete && !s->cut;
	if (s->counts.lost)
		return ctp_print_count(to, s->counts.lost);
	return s->counts.conflicts ? "not known how many" : damaged ? "packets" : "nothing";
}

unsigned ctp_print_caveats(char to[CTP_PRINT_CAVEATS][CTP_PRINT_LINE_MAX], const struct ctp_report *r,
                           const struct ctp_report_section *s)
{
	const struct ctp_follow_counts *c = &s->counts;
	char n[CTP_PRINT_NUMBER_MAX], ns[CTP_PRINT_NUMBER_MAX];
	unsigned count = 0;
#define SAY(...) snprintf(to[count++], CTP_PRINT_LINE_MAX, __VA_ARGS__)
	if (s->outside)
		SAY("the trace ends %s after its start, but --since asks for what comes after %s", ctp_print_ns(n, s->duration_ns),
		    ctp_print_ns(ns, r->since_ns));
	if (s->ordinal)
		SAY("the section has no clock, only numbers of records: rules that need times are not applied");
	if (s->filtered)
		SAY("the trace is filtered: rules that compare with all of the program are not applied; see the report of the "
		    "whole trace");
	if (c->lost)
		SAY("%s event%s lost: findings that %s could contradict have the level unknown", ctp_print_count(n, c->lost),
		    c->lost == 1 ? " was" : "s were", c->lost == 1 ? "it" : "they");
	if (c->gaps && (s->ordinal || s->filtered)) /* the time is also of what was left out */
		SAY("coroutines have %s gap%s: what they did then is not counted", ctp_print_count(n, c->gaps),
		    ctp_print_plural(c->gaps));
	else if (c->gaps && s->total_ns[CTP_HEAVY_UNKNOWN])
		SAY("coroutines have %s gap%s, %s in all: what they did then is not counted", ctp_print_count(n, c->gaps),
		    ctp_print_plural(c->gaps), ctp_print_ns(ns, s->total_ns[CTP_HEAVY_UNKNOWN]));
	if (c->lost_apart)
		SAY("for %s of the lost events, the coroutine is not known", ctp_print_count(n, c->lost_apart));
	if (s->in_gap && s->filtered)
		SAY("what %s coroutine%s did last is not in the filtered trace: %s listed neither as waiting nor as running",
		    ctp_print_count(n, s->in_gap), ctp_print_plural(s->in_gap), s->in_gap == 1 ? "it is" : "they are");
	else if (s->in_gap)
		SAY("the last events of %s coroutine%s are lost: %s listed neither as waiting nor as running",
		    ctp_print_count(n, s->in_gap), ctp_print_plural(s->in_gap), s->in_gap == 1 ? "it is" : "they are");
	if ((c->lost > c->ring_lost || s->missing) && !s->ordinal)
		SAY("the threads of %s%sthe %s events are not known: threads may have been busy for longer",
		    c->ring_lost && !s->missing ? ctp_print_count(n, c->lost - c->ring_lost) : "",
		    c->ring_lost && !s->missing ? " of " : "", s->missing ? "missing" : "lost");
	if (c->conflicts)
		SAY("the numbers of %s coroutine%s may be wrong: two processes or coroutines wrote to the same place, for example "
		    "after a fork", ctp_print_count(n, c->conflicts), ctp_print_plural(c->conflicts));
	if (c->missed)
		SAY("%s %s missed: the waker is not always known", ctp_print_count(n, c->missed),
		    c->missed == 1 ? "wake, name or await was" : "wakes, names or awaits were");
	if (c->events && !ctp_follow_has_wakes(c) && !s->ordinal && !s->filtered)
		SAY("the trace has no wakes: it does not show whether a coroutine was never woken, or woken and not resumed");
	if (c->untraced)
		SAY("%s coroutine%s not in the trace, because the shared memory had no room: see -n in ctp-collect(1)",
		    ctp_print_count(n, c->untraced), c->untraced == 1 ? " is" : "s are");
	if (c->unfollowed)
		SAY("more than %d coroutines were alive at the same time: %s record%s of the others %s ignored", CTP_FOLLOW_MAX,
		    ctp_print_count(n, c->unfollowed), ctp_print_plural(c->unfollowed), c->unfollowed == 1 ? "was" : "were");
	if (s->cut && !s->until)
		SAY("%s: what happened after its last record is not known",
		    s->complete ? "the end of the program is not in the trace" : "the trace is truncated");
	if (s->missing || (!s->complete && !s->cut))
		SAY("parts of the trace are damaged or missing");
	if (s->remnant)
		SAY("from before the collector attached, there are at most 8 events of each coroutine, and not all ended "
		    "coroutines");
	if (s->unrecorded)
		SAY("the program recorded nothing before the collector attached: coroutines that were there and have done nothing "
		    "since are not shown; see CTP_RECORD in ctp-collect(1)");
	if (ctp_ended_is(&s->ended, CTP_OUTCOME_RUNNING))
		SAY("the program was still running: coroutines that wait at the end may be resumed later");
	if (s->one_site)
		SAY("nearly all suspensions have one site (%.100s): record the caller's site instead, see ctp.h(3)", s->one_site);
	if (!c->events && s->filtered)
		SAY("the filter left no event in the trace");
	else if (!c->events)
		SAY("there is not one event in the trace: was the program built with the SDK, and did it run a coroutine?");
	else if (!s->nthreads_seen && !s->filtered)
		SAY("there is not one resume in the trace: does the program record them, as with ctp_coro_resume()?");
	else if (!has_history(s) && !s->ordinal && !s->filtered)
		SAY("too few waits ended in this trace: there is nothing to compare the other waits with");
#undef SAY
	return count;
}

unsigned ctp_print_closing(char to[CTP_PRINT_CLOSING][CTP_PRINT_LINE_MAX], const struct ctp_report *r)
{
	char n[CTP_PRINT_NUMBER_MAX], all[CTP_PRINT_LINE_MAX], where[CTP_PRINT_LINE_MAX];
	uint64_t findings = 0;
	unsigned count = 0;
	for (uint32_t i = 0; i < r->nsections; i++)
		findings += r->sections[i].nfindings;
	ctp_which_found(where, r);
	if (r->sections_seen > 1)
		snprintf(to[count++], CTP_PRINT_LINE_MAX, "In %.40s: %s finding%s%s%.100s.", ctp_which_all(all, r), ctp_print_count(n, findings),
		         ctp_print_plural(findings), *where ? ", " : "", where);
	if (r->sections_seen > r->nsections)
		snprintf(to[count++], CTP_PRINT_LINE_MAX,
		         r->nsections == 1 ? "Only the first of them is judged." : "Only the first %u of them are judged.",
		         r->nsections);
	if (r->outside && r->sections_seen > 1)
		snprintf(to[count++], CTP_PRINT_LINE_MAX, "%s of them end%s before the time that was asked for, and %s not judged.",
		         ctp_print_count(n, r->outside), r->outside == 1 ? "s" : "", r->outside == 1 ? "is" : "are");
	if (r->ignored && r->sections_seen > 1)
		snprintf(to[count++], CTP_PRINT_LINE_MAX, "%s finding%s ignored, as asked.", ctp_print_count(n, r->ignored),
		         r->ignored == 1 ? " was" : "s were");
	return count;
}

const struct ctp_report_still *ctp_print_still(const struct ctp_report_still *still, uint32_t n, uint32_t *at)
{
	while (*at < n) {
		const struct ctp_report_still *next = &still[(*at)++];
		if (next->found < next->coroutines)
			return next;
	}
	return NULL;
}

const char *ctp_print_state(enum ctp_state state)
{
	static const char *const names[CTP_STATES] = {
		[CTP_UNBORN] = "unknown", [CTP_BORN] = "born", [CTP_RUNNING] = "running",
		[CTP_SUSPENDED] = "suspended", [CTP_RUNNABLE] = "runnable", [CTP_DEAD] = "dead",
	};
	return (unsigned)state < CTP_STATES ? names[state] : "unknown";
}

const char *ctp_print_heavy(int kind)
{
	static const enum ctp_state states[CTP_HEAVY_KINDS] = {
		[CTP_HEAVY_RUNNING] = CTP_RUNNING, [CTP_HEAVY_RUNNABLE] = CTP_RUNNABLE, [CTP_HEAVY_SUSPENDED] = CTP_SUSPENDED,
		[CTP_HEAVY_UNKNOWN] = CTP_UNBORN,
	};
	return ctp_print_state(states[kind]);
}

const char *ctp_print_object_kind(const struct ctp_report_object *o)
{
	static const char *const kinds[CTP_WAITS_COUNT] = {
		[CTP_WAITS_LOCK] = "lock", [CTP_WAITS_PERMITS] = "permits", [CTP_WAITS_ITEM] = "queue", [CTP_WAITS_ROOM] = "queue",
		[CTP_WAITS_EVENT] = "event", [CTP_WAITS_BARRIER] = "barrier", [CTP_WAITS_OTHER] = "object",
	};
	return o->what < CTP_WAITS_COUNT && kinds[o->what] ? kinds[o->what] : "object";
}

/* An object without a name that was made at a known place needs no address. */
const char *ctp_print_object(char text[CTP_PRINT_LABEL_MAX], const struct ctp_report_object *o)
{
	const char *kind = ctp_print_object_kind(o);
	if (o->name)
		snprintf(text, CTP_PRINT_LABEL_MAX, "%s '%.*s'", kind, CTP_OBJECT_NAME_MAX, o->name);
	else if (o->made)
		snprintf(text, CTP_PRINT_LABEL_MAX, "%s", kind);
	else
		snprintf(text, CTP_PRINT_LABEL_MAX, "%s 0x%jx", kind, o->at);
	return text;
}

const char *ctp_print_available(char text[CTP_PRINT_LABEL_MAX], const struct ctp_report_object *o)
{
	char room[48] = "", of[48] = "";
	const char *end = o->is_gone ? ", destroyed" : o->closed ? ", closed" : "";
	if (o->room_known && !o->room_exact)
		snprintf(room, sizeof room, ", some room");
	else if (o->room_known)
		snprintf(room, sizeof room, ", room for %ju", o->room);
	if (o->what == CTP_WAITS_PERMITS && o->total)
		snprintf(of, sizeof of, " of %ju", o->total);
	if (o->known && !o->counted)
		snprintf(text, CTP_PRINT_LABEL_MAX, "some%s%s%s", of, room, end);
	else if (o->known)
		snprintf(text, CTP_PRINT_LABEL_MAX, "%ju%s%s%s", o->left, of, room, end);
	else
		snprintf(text, CTP_PRINT_LABEL_MAX, "?%s%s", room, end);
	return text;
}

bool ctp_print_unheld(const struct ctp_report_object *o)
{
	return o->holders_known && o->has_holds && !o->nholders && !o->held_by_others;
}

const char *ctp_print_holders(char text[CTP_PRINT_LABEL_MAX], const struct ctp_report_object *o)
{
	char label[CTP_PRINT_LABEL_MAX];
	uint64_t others = o->held_by_others + (o->nholders ? o->nholders - 1 : 0);
	if (!o->holders_known || !o->nholders)
		snprintf(text, CTP_PRINT_LABEL_MAX, o->holders_known ? "-" : "?");
	else if (others)
		snprintf(text, CTP_PRINT_LABEL_MAX, "%.100s and %ju more",
		         ctp_print_label(label, o->holders[0].name, o->holders[0].id), others);
	else
		snprintf(text, CTP_PRINT_LABEL_MAX, "%.100s%s", ctp_print_label(label, o->holders[0].name, o->holders[0].id),
		         o->holders[0].alive ? "" : ", ended");
	return text;
}
