/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* report-json.c - a report for programs, as one object. */
#include "report/report-json.h"

#include "common/json.h"
#include "report/report-place.h"
#include "report/report-print.h"
#include "stream/events.h"

struct json {
	struct ctp_output *out;
	const struct ctp_report *report;
	bool in_page;
	const struct ctp_report_section *s; /* the section that is written */
	bool ordinal; /* the section has no clock, and times are null. A page gets numbers instead, to draw them */
};

static const char *boolean(bool b) { return b ? "true" : "false"; }

static void quoted(const struct json *j, const char *value)
{
	(j->in_page ? ctp_json_put_in_page : ctp_json_put)(j->out, value, strlen(value));
}

/* A time from the start, or a span: null without a clock. key includes the punctuation before it. */
static void ns(const struct json *j, const char *key, uint64_t value)
{
	ctp_output_putf(j->out, j->ordinal ? "%s:null" : "%s:%ju", key, value);
}

/* Without a clock, the number of the record at from_start; else nothing. */
static void number(const struct json *j, const char *key, uint64_t from_start)
{
	if (j->ordinal)
		ctp_output_putf(j->out, ",\"%s\":\"%ju\"", key, ctp_print_number(j->s, from_start));
}

/* A key and a text; null is null. */
static void text(const struct json *j, const char *key, const char *value)
{
	ctp_output_putf(j->out, "%s:", key);
	if (value)
		quoted(j, value);
	else
		ctp_output_putf(j->out, "null");
}

/* A key and the parts of a place; null if it has no file and line. The page, which shows the text, has none. */
static void place(const struct json *j, const char *key, const char *value)
{
	struct ctp_report_place at;
	if (j->in_page)
		return;
	if (!ctp_report_place(&at, value)) {
		ctp_output_putf(j->out, ",\"%s\":null", key);
		return;
	}
	ctp_output_putf(j->out, ",\"%s\":{\"file\":", key);
	ctp_json_put(j->out, at.file, at.file_bytes);
	ctp_output_putf(j->out, ",\"line\":%ju", at.line);
	text(j, ",\"function\"", at.function);
	ctp_output_putf(j->out, "}");
}

/* Both sites of a coroutine or of a finding, each as a text and in its parts. before: the punctuation before the first key. */
static void sites(const struct json *j, const char *before, const char *spawn, const char *suspend)
{
	ctp_output_putf(j->out, "%s", before);
	text(j, "\"spawn_site\"", spawn);
	text(j, ",\"suspend_site\"", suspend);
	place(j, "spawn_place", spawn);
	place(j, "suspend_place", suspend);
}

/* A key and an array: put writes each of n items. */
#define ARRAY(j, key, put, items, n)                             \
	do {                                                     \
		ctp_output_putf((j)->out, "%s:[", key);          \
		for (uint32_t i_ = 0, n_ = (n); i_ < n_; i_++) { \
			ctp_output_putf((j)->out, i_ ? "," : ""); \
			put(j, &(items)[i_]);                    \
		}                                                \
		ctp_output_putf((j)->out, "]");                  \
	} while (0)

static void times(const struct json *j, const char *key, const struct ctp_report_times *t)
{
	ctp_output_putf(j->out, ",\"%s\":{\"count\":%ju", key, t->count);
	ns(j, ",\"total_ns\"", t->total_ns);
	ns(j, ",\"p50_ns\"", t->p50_ns);
	ns(j, ",\"p99_ns\"", t->p99_ns);
	ns(j, ",\"max_ns\"", t->max_ns);
	ctp_output_putf(j->out, "}");
}

static void line(const struct json *j, char *const *text) { quoted(j, *text); }

static uint32_t lines(char *const *line)
{
	uint32_t n = 0;
	while (n < CTP_REPORT_LINES && line[n])
		n++;
	return n;
}

/* Of an object its address, as in "objects"; of a timer the time; of a descriptor its number. */
static void reason(const struct json *j, const struct ctp_report_reason *r)
{
	static const char *const kinds[CTP_WAITS_COUNT] = {
		[CTP_WAITS_TIMER] = "timer", [CTP_WAITS_DESCRIPTOR] = "descriptor", [CTP_WAITS_LOCK] = "lock",
		[CTP_WAITS_PERMITS] = "permits",
		[CTP_WAITS_ITEM] = "item", [CTP_WAITS_ROOM] = "room", [CTP_WAITS_EVENT] = "event", [CTP_WAITS_BARRIER] = "barrier",
	};
	const char *kind = r->what < CTP_WAITS_COUNT ? kinds[r->what] : NULL;
	ctp_output_putf(j->out, "{\"kind\":\"%s\",\"pid\":%ju", kind ? kind : "object", r->pid);
	if (r->what == CTP_WAITS_TIMER)
		ns(j, ",\"due_ns\"", r->due_ns);
	else if (r->what == CTP_WAITS_DESCRIPTOR)
		ctp_output_putf(j->out, ",\"fd\":%d", (int)r->at);
	else
		ctp_output_putf(j->out, ",\"object\":\"0x%016jx\",\"count\":%ju", r->at, r->count);
	ctp_output_putf(j->out, "}");
}

/* The keys that members and waiters share. */
static void anybody(const struct json *j, const struct ctp_report_member *m)
{
	ctp_output_putf(j->out, "{\"coro\":\"%ju\",\"probe_id\":\"%ju\",", m->id, m->probe);
	text(j, "\"name\"", m->name);
	text(j, ",\"in\"", m->in);
	ctp_output_putf(j->out, ",\"state\":\"%s\"", ctp_print_state(m->state));
	ns(j, ",\"since_ns\"", m->since_ns);
	ns(j, ",\"for_ns\"", m->for_ns);
	number(j, "since", m->since_ns);
	sites(j, ",", m->spawn, m->place);
	ARRAY(j, ",\"reasons\"", reason, m->reasons, m->nreasons);
}

static void waiter(const struct json *j, const struct ctp_report_member *m)
{
	anybody(j, m);
	ctp_output_putf(j->out, ",\"waits_for\":\"%ju\",\"told\":%s}", m->waits_for, boolean(m->awaits));
}

static void member(const struct json *j, const struct ctp_report_member *m)
{
	anybody(j, m);
	ctp_output_putf(j->out, m->waits_for ? ",\"waits_for\":\"%ju\"" : ",\"waits_for\":null", m->waits_for);
	ctp_output_putf(j->out, m->waker ? ",\"woken_by\":\"%ju\"" : ",\"woken_by\":null", m->waker);
	ctp_output_putf(j->out, m->tid ? ",\"thread\":%ju" : ",\"thread\":null", m->tid);
	ctp_output_putf(j->out, m->pid ? ",\"pid\":\"%ju\"}" : ",\"pid\":null}", m->pid);
}

static void root(const struct json *j, const struct ctp_finding *f)
{
	ctp_output_putf(j->out, f->root ? ",\"number\":%u,\"root\":%u" : ",\"number\":%u,\"root\":null", f->number, f->root);
}

static void finding(const struct json *j, const struct ctp_finding *f)
{
	ctp_output_putf(j->out, "{\"rule\":\"%s\",\"certainty\":\"%s\",\"gravity\":%d,", ctp_rule_name(f->rule),
	                ctp_certainty_name(f->certainty), (int)f->rule + 1);
	text(j, "\"title\"", f->title);
	ARRAY(j, ",\"evidence\"", line, f->evidence, lines(f->evidence));
	ARRAY(j, ",\"next\"", line, f->next, lines(f->next));
	sites(j, ",", f->spawn, f->place);
	ctp_output_putf(j->out, ",\"members\":%ju", f->members);
	ns(j, ",\"from_ns\"", f->from_ns);
	ns(j, ",\"to_ns\"", f->to_ns);
	number(j, "from", f->from_ns);
	number(j, "to", f->to_ns);
	ARRAY(j, ",\"coroutines\"", member, f->who, f->nwho);
	ctp_output_putf(j->out, ",\"waiting\":%ju", f->waiting);
	ARRAY(j, ",\"awaits\"", waiter, f->waiters, f->nwaiters);
	root(j, f);
	ctp_output_putf(j->out, "}");
}

/* What a finding of a rule has more than a wait that stands out. */
static void suspect_of_rule(const struct json *j, const struct ctp_finding *f)
{
	ctp_output_putf(j->out, ",\"rule\":\"%s\",\"gravity\":%d", ctp_rule_name(f->rule), (int)f->rule + 1);
	ARRAY(j, ",\"evidence\"", line, f->evidence, lines(f->evidence));
	ARRAY(j, ",\"next\"", line, f->next, lines(f->next));
	ARRAY(j, ",\"awaits\"", waiter, f->waiters, f->nwaiters);
}

/* A finding with an excuse. */
static void suspect(const struct json *j, const struct ctp_finding *f)
{
	bool has_rule = f->rule != CTP_RULE_NONE;
	ctp_output_putf(j->out, "{\"certainty\":\"%s\",", ctp_certainty_name(f->certainty));
	text(j, "\"title\"", f->title);
	text(j, ",\"excuse\"", f->excuse);
	text(j, ",\"also\"", has_rule ? NULL : f->evidence[0]);
	sites(j, ",", f->spawn, f->place);
	ctp_output_putf(j->out, ",\"count\":%ju,\"waiting\":%ju", f->members, f->waiting);
	ns(j, ",\"since_ns\"", f->from_ns);
	ns(j, ",\"for_ns\"", f->to_ns - f->from_ns);
	ctp_output_putf(j->out, ",\"open\":%ju,\"ended\":%ju", f->open, f->ended);
	ns(j, ",\"longest_ns\"", f->longest_ns);
	ns(j, ",\"p99_ns\"", f->p99_ns);
	ARRAY(j, ",\"coroutines\"", member, f->who, f->nwho);
	if (has_rule)
		suspect_of_rule(j, f);
	root(j, f);
	ctp_output_putf(j->out, "}");
}

static void about(const struct json *j, const struct ctp_report_section *s)
{
	const struct ctp_follow_counts *c = &s->counts;
	bool first = true;
	text(j, "{\"file\"", s->file);
	ctp_output_putf(j->out, ",\"command\":[");
	for (const char *word = s->command; word && word < s->command + s->command_bytes; word += strlen(word) + 1, first = false) {
		ctp_output_putf(j->out, "%s", first ? "" : ",");
		quoted(j, word);
	}
	text(j, "],\"host\"", s->host);
	text(j, ",\"pid\"", s->pid);
	text(j, ",\"source\"", s->source);
	text(j, ",\"filtered\"", s->filtered);
	if (s->origin)
		text(j, ",\"origin\"", s->origin);
	if (s->origin_number)
		ctp_output_putf(j->out, ",\"origin_number\":%ju", s->origin_number);
	if (s->origin_error_ns)
		text(j, ",\"origin_error_ns\"", s->origin_error_ns);
	ctp_output_putf(j->out, s->has_wall ? ",\"start_wall_ns\":\"%jd\"" : ",\"start_wall_ns\":null", (intmax_t)s->start_wall_ns);
	ctp_output_putf(j->out, ",\"ordinal\":%s", boolean(s->ordinal));
	ctp_output_putf(j->out, j->ordinal ? ",\"start_ns\":null" : ",\"start_ns\":\"%ju\"", s->start_ns);
	ns(j, ",\"duration_ns\"", s->duration_ns);
	ns(j, ",\"ended_ns\"", s->ended_ns);
	if (ctp_print_numbered(s)) {
		number(j, "first", 0);
		number(j, "last", s->duration_ns);
	} else if (j->ordinal) {
		ctp_output_putf(j->out, ",\"first\":null,\"last\":null");
	}
	text(j, ",\"outcome\"", *s->ended.outcome ? s->ended.outcome : "unknown");
	ctp_output_putf(j->out, ",\"status\":%jd,\"complete\":%s,\"missing\":%s", (intmax_t)s->ended.status, boolean(s->complete),
	                boolean(s->missing));
	ctp_output_putf(j->out, ",\"events\":%ju,\"wakes\":%ju,\"coroutines\":%ju", c->events, c->wakes, c->coroutines);
	ctp_output_putf(j->out, ",\"alive\":%ju,\"threads_seen\":%ju,\"lost\":%ju", s->alive, s->nthreads_seen, c->lost);
	ctp_output_putf(j->out, ",\"lost_of_nobody\":%ju,\"gaps\":%ju,\"in_gap\":%ju", c->lost_apart, c->gaps, s->in_gap);
	ctp_output_putf(j->out, ",\"missed\":%ju,\"untraced\":%ju,\"late\":%ju", c->missed, c->untraced, c->late);
	ctp_output_putf(j->out, ",\"conflicts\":%ju", c->conflicts);
	for (int kind = 0; kind < CTP_HEAVY_KINDS; kind++)
		ctp_output_putf(j->out, j->ordinal ? "%s\"%s\":null" : "%s\"%s\":%ju", kind ? "," : ",\"total_ns\":{",
		                ctp_print_heavy(kind), s->total_ns[kind]);
	ns(j, "},\"looked_ns\"", s->looked_ns);
	text(j, ",\"signal\"", *s->signal ? s->signal : NULL);
	if (*s->signal)
		ns(j, ",\"signal_ns\"", s->signal_ns);
	else
		ctp_output_putf(j->out, ",\"signal_ns\":null");
	ns(j, ",\"judged_ns\"", s->judged_ns);
	ns(j, ",\"quiet_ns\"", s->quiet_ns);
	ns(j, ",\"longest_pause_ns\"", s->pause_ns);
	ctp_output_putf(j->out, ",\"destroyed\":%ju", s->destroyed);
	ctp_output_putf(j->out, ",\"in_range\":%s", boolean(!s->outside));
}

static void still(const struct json *j, const struct ctp_report_still *s, bool runs)
{
	sites(j, "{", s->spawn, s->place);
	ctp_output_putf(j->out, ",\"coroutines\":%ju", s->coroutines);
	if (!runs)
		ctp_output_putf(j->out, ",\"runnable\":%ju", s->runnable);
	ns(j, ",\"longest_ns\"", s->longest_ns);
	ns(j, ",\"shortest_ns\"", s->shortest_ns);
	if (!runs) {
		ctp_output_putf(j->out, ",\"ended\":%ju", s->ended);
		ns(j, ",\"ended_max_ns\"", s->ended_max_ns);
	}
	ctp_output_putf(j->out, ",\"in_findings\":%ju", s->found);
	ctp_output_putf(j->out, ",\"longest\":{\"coro\":\"%ju\"", s->longest);
	text(j, ",\"name\"", s->name);
	if (runs)
		ctp_output_putf(j->out, s->tid ? ",\"thread\":%ju" : ",\"thread\":null", s->tid);
	ctp_output_putf(j->out, "},\"certain\":%s}", boolean(s->certain));
}

static void waits(const struct json *j, const struct ctp_report_still *s) { still(j, s, false); }
static void runs(const struct json *j, const struct ctp_report_still *s) { still(j, s, true); }

static void site(const struct json *j, const struct ctp_report_site *s)
{
	text(j, "{\"site\"", s->place);
	place(j, "place", s->place);
	times(j, "suspended", &s->suspended);
	times(j, "runnable", &s->runnable);
	times(j, "running", &s->running);
	ctp_output_putf(j->out, ",\"still_waiting\":%ju}", s->waiting);
}

static void thread(const struct json *j, const struct ctp_report_thread *t)
{
	ctp_output_putf(j->out, "{\"tid\":%ju", t->tid);
	text(j, ",\"name\"", t->name);
	ns(j, ",\"busy_ns\"", t->busy_ns);
	ns(j, ",\"unknown_ns\"", t->unknown_ns);
	ctp_output_putf(j->out, j->s->ordinal || j->s->filtered_events ? ",\"busy_share\":null" : ",\"busy_share\":%.4f",
	                t->known_ns ? (double)t->busy_ns / (double)t->known_ns : 0);
	ctp_output_putf(j->out, ",\"resumes\":%ju", t->resumes);
	ns(j, ",\"last_ns\"", t->last_ns);
	number(j, "last", t->last_ns);
	ctp_output_putf(j->out, "}");
}

static void heavy(const struct json *j, const struct ctp_report_heavy *h)
{
	ctp_output_putf(j->out, "{\"coro\":\"%ju\"", h->id);
	text(j, ",\"name\"", h->name);
	text(j, ",\"spawn_site\"", h->spawn);
	place(j, "spawn_place", h->spawn);
	ctp_output_putf(j->out, ",\"ns\":%ju}", h->ns);
}

static void known(const struct json *j, const char *key, bool is_known, uint64_t n)
{
	if (is_known)
		ctp_output_putf(j->out, ",\"%s\":%ju", key, n);
	else
		ctp_output_putf(j->out, ",\"%s\":null", key);
}

static void holder(const struct json *j, const struct ctp_report_holder *h)
{
	ctp_output_putf(j->out, "{\"coro\":\"%ju\"", h->id);
	text(j, ",\"name\"", h->name);
	ctp_output_putf(j->out, ",\"count\":%jd", (intmax_t)h->count);
	ns(j, ",\"since_ns\"", h->since_ns);
	ctp_output_putf(j->out, ",\"alive\":%s", boolean(h->alive));
	text(j, ",\"taken_site\"", h->taken);
	ctp_output_putf(j->out, "}");
}

/* A page has the words of the text, too: how much is available, and that no coroutine holds it. */
static void object(const struct json *j, const struct ctp_report_object *o)
{
	char available[CTP_PRINT_LABEL_MAX];
	text(j, "{\"name\"", o->name);
	text(j, ",\"kind\"", ctp_print_object_kind(o));
	text(j, ",\"made_site\"", o->made);
	place(j, "made_place", o->made);
	ctp_output_putf(j->out, ",\"pid\":%ju,\"object\":\"0x%016jx\"", o->pid, o->at);
	known(j, "available", o->known, o->available);
	ctp_output_putf(j->out, ",\"available_exact\":%s", boolean(o->known && o->exact));
	known(j, "free", o->known && o->counted, o->left);
	known(j, "room", o->room_known, o->room);
	ctp_output_putf(j->out, ",\"room_exact\":%s", boolean(o->room_known && o->room_exact));
	known(j, "total", o->total, o->total);
	ctp_output_putf(j->out, ",\"closed\":%s,\"owned\":%s", boolean(o->closed), boolean(o->owned));
	known(j, "destroyed_ns", o->is_gone && !j->ordinal, o->gone_ns);
	if (o->holders_known)
		ARRAY(j, ",\"holders\"", holder, o->holders, o->nholders);
	else
		ctp_output_putf(j->out, ",\"holders\":null");
	known(j, "held_by_others", o->holders_known, o->held_by_others);
	if (j->in_page) {
		text(j, ",\"available_text\"", ctp_print_available(available, o));
		ctp_output_putf(j->out, ",\"unheld\":%s", boolean(ctp_print_unheld(o)));
	}
	ctp_output_putf(j->out, ",\"waiters\":%ju", o->waiters);
	ns(j, ",\"longest_ns\"", o->longest_ns);
	ctp_output_putf(j->out, "}");
}

static void caveat(const struct json *j, char (*caveat)[CTP_PRINT_LINE_MAX]) { quoted(j, *caveat); }

static void section(const struct json *j, const struct ctp_report_section *s)
{
	char caveats[CTP_PRINT_CAVEATS][CTP_PRINT_LINE_MAX];
	about(j, s);
	ARRAY(j, ",\"findings\"", finding, s->findings, s->nfindings);
	ctp_output_putf(j->out, ",\"ignored\":%ju", s->ignored);
	ARRAY(j, ",\"caveats\"", caveat, caveats, ctp_print_caveats(caveats, j->report, s));
	ARRAY(j, ",\"suspects\"", suspect, s->suspects, s->nsuspects);
	ARRAY(j, ",\"waiting\"", waits, s->waiting, s->nwaiting);
	ARRAY(j, ",\"running\"", runs, s->running, s->nrunning);
	ARRAY(j, ",\"sites\"", site, s->sites, s->nsites);
	ARRAY(j, ",\"threads\"", thread, s->threads, s->nthreads);
	ctp_output_putf(j->out, ",\"top\":{");
	for (int kind = 0; kind < CTP_HEAVY_KINDS; kind++) {
		ctp_output_putf(j->out, "%s\"%s\"", kind ? "," : "", ctp_print_heavy(kind));
		ARRAY(j, "", heavy, s->heavy[kind], s->nheavy[kind]);
	}
	ARRAY(j, "},\"objects\"", object, s->objects, s->nobjects);
	ctp_output_putf(j->out, "}");
}

void ctp_report_json(struct ctp_output *out, const struct ctp_report *r, bool in_page)
{
	struct json j = {.out = out, .report = r, .in_page = in_page};
	ctp_output_putf(out, "{\"ctp_report\":1,\"tool\":\"ctp-report %s\",\"sections\":[", CTP_VERSION);
	for (uint32_t i = 0; i < r->nsections; i++) {
		ctp_output_putf(out, "%s", i ? "," : "");
		j.s = &r->sections[i];
		j.ordinal = j.s->ordinal && !in_page;
		section(&j, j.s);
	}
	ctp_output_putf(out, "],\"since_ns\":%ju", r->since_ns);
	ctp_output_putf(out, r->until_ns ? ",\"until_ns\":%ju" : ",\"until_ns\":null", r->until_ns);
	ctp_output_putf(out, ",\"ignored\":%ju,\"ignore_unmatched\":[", r->ignored);
	size_t at = 0;
	bool more = false;
	for (const char *pattern; (pattern = ctp_report_unmatched(r, &at)); more = true) {
		ctp_output_putf(out, "%s", more ? "," : "");
		quoted(&j, pattern);
	}
	ctp_output_putf(out, "]}");
}
