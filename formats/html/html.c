/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * html.c - a sink that makes the report and packs the events in one pass, and writes the page at the end.
 *
 * The page has the events of as many sections as it has room for, and opens on the last of those with the highest rank. So each
 * section is packed, and is then kept or dropped.
 */
#include "html/html.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/wait-texts.h"
#include "base/array.h"
#include "base/compare.h"
#include "common/json.h"
#include "html/html-baseline.h"
#include "html/html-gzip.h"
#include "html/html-part.h"
#include "html/html-waits.h"
#include "report/report-args.h"
#include "report/report-json.h"
#include "report/report-print.h"

struct html_sink {
	struct ctp_sink sink;
	struct ctp_output *out;
	struct ctp_html_options options;
	struct ctp_analysis *analysis;
	const struct ctp_report *report; /* of that */
	struct ctp_follow *follow;
	uint64_t sections; /* so far */
	struct ctp_html_part now;  /* the section that is being read */
	struct ctp_html_part *kept; /* those before it that will be shown, in their order */
	uint32_t nkept;
	size_t kept_room;
	bool narrowed;     /* the finding that was asked for is in some section */
	bool missing;      /* the section that has ended lacks packets */
	bool failed;       /* out of memory at some point */
};

/* --- one section ---------------------------------------------------------------------------------------------------------- */

/* A section without room in the report is not shown either. */
static bool is_wanted(const struct html_sink *s)
{
	return s->options.section ? s->sections == s->options.section : s->sections <= CTP_REPORT_SECTIONS;
}

static void on_section(void *arg, const struct ctp_section *sec)
{
	struct html_sink *s = arg;
	(void)sec;
	s->sections++;
	ctp_html_part_fini(&s->now);
	ctp_html_part_init(&s->now, s->options.max_events);
}

static uint32_t handle_of(struct html_sink *s, uint64_t id)
{
	struct ctp_coroutine *co = id ? ctp_follow_find(s->follow, id) : NULL;
	return co ? co->handle : 0;
}

/* A holder is shown for waits that are at least so long: shorter ones are too many. */
enum { LONG_WAIT_NS = 1000000 };

/*
 * A suspension, after what it is for. That is written if it differs from the last time at this place, or is not known to be the
 * same.
 */
static void put_suspend(struct html_sink *s, const struct ctp_coroutine *co, uint64_t ts_ns)
{
	struct ctp_html_pack *pack = &s->now.pack;
	struct ctp_html_row *row = ctp_html_pack_at(pack, co->handle);
	uint32_t reason = row ? ctp_html_wait_reason(&s->now.reasons, s->follow, co) : 0;
	if (row && (reason || row->waits[0].reason || row->waits[1].reason)) {
		struct ctp_html_wait *wait = row->waits[0].place == co->place ? &row->waits[0] : &row->waits[1];
		if (wait->place != co->place || wait->reason != reason)
			ctp_html_pack_event(pack, co->handle, ts_ns, CTP_HTML_WAIT, reason);
		if (wait->place != co->place)
			row->waits[1] = row->waits[0];
		wait = wait->place == co->place ? wait : &row->waits[0];
		*wait = (struct ctp_html_wait){co->place, reason};
		row->holder = handle_of(s, ctp_wait_holder(s->follow, co));
	}
	ctp_html_pack_event(pack, co->handle, ts_ns, CTP_HTML_SUSPEND, co->place);
}

/* At the end of a wait, or of the section: who held what it was for. */
static void put_holder(struct html_sink *s, const struct ctp_coroutine *co, uint64_t ts_ns, uint32_t holder)
{
	struct ctp_html_row *row = ctp_html_pack_at(&s->now.pack, co->handle);
	if (row && holder && ts_ns >= co->suspended_ns && ts_ns - co->suspended_ns >= LONG_WAIT_NS)
		ctp_html_pack_event(&s->now.pack, co->handle, row->last_ns, CTP_HTML_HELD, holder);
	if (row)
		row->holder = 0;
}

/*
 * Adds a row. Events before the time that was asked for are not shown. The row begins with a loss, which stands for them, and then
 * the event that began its present state, unless the coroutine is in a gap. woken: it was woken while it ran.
 */
static void add_row(struct html_sink *s, struct ctp_coroutine *co, enum ctp_state state, uint64_t since_ns, bool gap, bool woken)
{
	struct ctp_html_pack *pack = &s->now.pack;
	co->handle = ctp_html_pack_row(pack, co->id, co->probe, co->born_ns);
	struct ctp_html_row *row = ctp_html_pack_at(pack, co->handle);
	if (!row || !s->options.report.since_ns || state == CTP_UNBORN || state == CTP_BORN)
		return;
	row->older = state == CTP_RUNNING || co->suspended_ns || gap;
	if (row->older)
		ctp_html_pack_event(pack, co->handle, co->born_ns, CTP_HTML_LOST, 0);
	if (gap)
		return;
	if (state == CTP_RUNNING)
		ctp_html_pack_event(pack, co->handle, since_ns, CTP_HTML_RESUME, co->thread);
	else if (row->older)
		put_suspend(s, co, co->suspended_ns);
	if (state == CTP_RUNNABLE || woken)
		ctp_html_pack_event(pack, co->handle, since_ns, CTP_HTML_WAKE, handle_of(s, co->waker));
}

/* With --since a living parent without an event so far has no row yet: it gets one. */
static uint32_t parent_row(struct html_sink *s, const struct ctp_coroutine *co)
{
	struct ctp_coroutine *parent = co->parent ? ctp_follow_find(s->follow, co->parent) : NULL;
	if (!parent || parent->handle || !s->options.report.since_ns || parent->state == CTP_DEAD)
		return parent ? parent->handle : 0;
	bool woken = parent->state == CTP_RUNNING && parent->flags & CTP_CO_PENDING;
	add_row(s, parent, (enum ctp_state)parent->state, parent->since_ns, parent->flags & CTP_CO_TAIL, woken);
	return parent->handle;
}

/* Fills in what is known of a coroutine when it dies, or at the end. */
static void settle_row(struct html_sink *s, const struct ctp_coroutine *co)
{
	uint32_t parent = parent_row(s, co); /* may move the rows */
	struct ctp_html_row *row = ctp_html_pack_at(&s->now.pack, co->handle);
	if (!row)
		return;
	row->name = ctp_text_table_number(&s->now.names, co->name);
	row->spawn = co->spawn;
	if (!row->parent)
		row->parent = parent;
	if (co->born_ns < row->born_ns)
		row->born_ns = co->born_ns;
	if (!(co->flags & CTP_CO_BIRTH))
		row->flags |= CTP_HTML_UNSEEN;
	else if (!(co->flags & (CTP_CO_GAP | CTP_CO_CONFLICT)) && co->born_ns >= s->follow->unsure_ns && !row->older)
		row->flags |= CTP_HTML_CERTAIN;
	/* A loss of no known coroutine is no gap of a row. But a missing packet may have the last events of any coroutine. */
	if (co->flags & CTP_CO_TAIL || (s->missing && co->state != CTP_DEAD))
		row->flags |= CTP_HTML_TAIL;
}

static void died(struct html_sink *s, const struct ctp_change *ch)
{
	settle_row(s, ch->co);
	struct ctp_html_row *row = ctp_html_pack_at(&s->now.pack, ch->co->handle);
	if (row && ch->by) /* only the next coroutine with its probe shows the death: its time is not known */
		row->flags |= CTP_HTML_TAIL;
	if (row && ch->was == CTP_SUSPENDED && ch->whole) {
		row->flags |= CTP_HTML_DESTROYED;
		row->keep = true;
	}
	ctp_html_pack_died(&s->now.pack, ch->co->handle, ch->ts_ns);
}

/* Dead coroutines that were the last to wake a living one are kept longest. */
static void make_room(struct html_sink *s)
{
	uint32_t at = 0;
	for (struct ctp_coroutine *co; (co = ctp_follow_each(s->follow, &at));) {
		struct ctp_html_row *row = co->state == CTP_DEAD ? NULL : ctp_html_pack_at(&s->now.pack, handle_of(s, co->waker));
		if (row)
			row->keep = true;
	}
	ctp_html_pack_trim(&s->now.pack);
}

static void put_change(struct html_sink *s, const struct ctp_change *ch)
{
	struct ctp_html_pack *pack = &s->now.pack;
	uint32_t handle = ch->co->handle;
	struct ctp_html_row *row = ctp_html_pack_at(pack, handle);
	switch (ch->kind) {
	case CTP_CHANGE_BORN:
		if (row)
			row->parent = handle_of(s, ch->co->parent);
		break;
	case CTP_CHANGE_SUSPEND:
		put_suspend(s, ch->co, ch->ts_ns);
		break;
	case CTP_CHANGE_RESUME:
		put_holder(s, ch->co, ch->ts_ns, row ? row->holder : 0);
		ctp_html_pack_event(pack, handle, ch->ts_ns, CTP_HTML_RESUME, ch->thread);
		break;
	case CTP_CHANGE_WAKE:
		if (ch->was == CTP_SUSPENDED)
			put_holder(s, ch->co, ch->ts_ns, row ? row->holder : 0);
		ctp_html_pack_event(pack, handle, ch->ts_ns, CTP_HTML_WAKE, handle_of(s, ch->by));
		break;
	case CTP_CHANGE_AWAIT:
		ctp_html_pack_event(pack, handle, ch->ts_ns, CTP_HTML_AWAIT, handle_of(s, ch->by));
		break;
	case CTP_CHANGE_LOST:
		ctp_html_pack_event(pack, handle, ch->ts_ns, CTP_HTML_LOST, ch->by < INT32_MAX ? ch->by : INT32_MAX);
		break;
	case CTP_CHANGE_DIED:
		died(s, ch);
		break;
	case CTP_CHANGE_BROKEN:
		if (row)
			row->keep = true;
		break;
	}
}

static void on_change(void *arg, const struct ctp_change *ch)
{
	struct html_sink *s = arg;
	if (!is_wanted(s))
		return;
	uint64_t since_ns = s->options.report.since_ns, first_ns = s->follow->counts.first_ns;
	if (since_ns && (ch->ts_ns < first_ns || ch->ts_ns - first_ns < since_ns))
		return;
	if (!ch->co->handle && ch->was == CTP_DEAD)
		return;
	bool woken = ch->was == CTP_RUNNING && (ch->co->flags & CTP_CO_PENDING || ch->co->state == CTP_RUNNABLE);
	if (!ch->co->handle)
		add_row(s, ch->co, ch->was, ch->was_ns, ch->gap, woken && ch->kind != CTP_CHANGE_WAKE);
	put_change(s, ch);
	const struct ctp_html_pack *pack = &s->now.pack;
	if (pack->events > pack->max_events && pack->events - pack->max_events > pack->nrows) /* a trim goes through all rows */
		make_room(s);
}

static void on_thread_gap(void *arg, uint32_t thread, uint64_t after_ns, uint64_t ts_ns, uint64_t transitions)
{
	struct html_sink *s = arg;
	uint64_t since_ns = s->options.report.since_ns ? s->follow->counts.first_ns + s->options.report.since_ns : 0;
	if (is_wanted(s))
		ctp_html_gaps_add(&s->now.gaps, thread, ctp_most(after_ns, since_ns), ts_ns, transitions);
}

/* --- the end -------------------------------------------------------------------------------------------------------------- */

static bool settle_rows(struct html_sink *s)
{
	uint32_t at = 0;
	for (struct ctp_coroutine *co; (co = ctp_follow_each(s->follow, &at));) {
		if (co->state == CTP_DEAD)
			continue;
		if (!co->handle)
			add_row(s, co, (enum ctp_state)co->state, co->since_ns, co->flags & CTP_CO_TAIL, false);
		settle_row(s, co);
		if (co->state == CTP_SUSPENDED && !(co->flags & CTP_CO_TAIL))
			put_holder(s, co, UINT64_MAX, handle_of(s, ctp_wait_holder(s->follow, co)));
	}
	if (s->now.pack.events > s->now.pack.max_events)
		make_room(s);
	return !s->now.pack.failed && !s->now.names.failed && !s->now.reasons.failed;
}

static int by_number(const void *a, const void *b) { return ctp_compare(*(const uint64_t *)a, *(const uint64_t *)b); }

/* Leaves only the coroutines of one finding: its members, those that wait because of them, and those that they wait for or were woken by. */
static void narrow(struct html_sink *s, const struct ctp_report_section *sec)
{
	uint64_t at = s->options.finding - 1;
	const struct ctp_finding *f = ctp_report_finding(sec, at);
	if (!f)
		return;
	const struct ctp_report_member *lists[] = {f->who, f->waiters};
	uint32_t counts[] = {f->nwho, f->nwaiters}, n = 0;
	uint64_t *ids = calloc(3 * ((size_t)counts[0] + counts[1]) + 1, sizeof *ids);
	if (!ids) {
		s->failed = true;
		return;
	}
	for (int k = 0; k < 2; k++)
		for (uint32_t i = 0; i < counts[k]; i++) {
			ids[n++] = lists[k][i].id;
			ids[n++] = lists[k][i].waker;
			ids[n++] = lists[k][i].waits_for;
		}
	qsort(ids, n, sizeof *ids, by_number);
	for (uint32_t i = 0; i < s->now.pack.nrows; i++)
		s->now.pack.rows[i].drop = !bsearch(&s->now.pack.rows[i].id, ids, n, sizeof *ids, by_number);
	free(ids);
	s->narrowed = true;
}

/* The last kept section of the highest rank; null: there is none. */
static struct ctp_html_part *best_of(const struct html_sink *s)
{
	struct ctp_html_part *best = NULL;
	for (uint32_t i = 0; i < s->nkept; i++)
		if (!best || s->kept[i].rank >= best->rank)
			best = &s->kept[i];
	return best;
}

/* Keeps the section that has ended. Then drops others, those of the lowest rank first and of these the oldest, until there is room. */
static void keep(struct html_sink *s)
{
	if (!CTP_ARRAY_RESERVE(s->kept, s->kept_room, s->nkept + 1u, CTP_REPORT_SECTIONS)) {
		s->failed = true;
		return;
	}
	s->kept[s->nkept++] = s->now;
	ctp_html_part_init(&s->now, s->options.max_events);
	for (;;) {
		uint64_t events = 0;
		uint32_t worst = 0;
		for (uint32_t i = 0; i < s->nkept; i++) {
			events += s->kept[i].pack.events;
			if (s->kept[i].rank < s->kept[worst].rank)
				worst = i;
		}
		if (events <= s->options.max_events || s->nkept < 2)
			return;
		if (&s->kept[worst] == best_of(s)) /* all have the same rank */
			worst = 0;
		ctp_html_part_fini(&s->kept[worst]);
		memmove(&s->kept[worst], &s->kept[worst + 1], (--s->nkept - worst) * sizeof *s->kept);
	}
}

static void on_end(void *arg, const struct ctp_follow_end *end)
{
	struct html_sink *s = arg;
	(void)end;
	if (!is_wanted(s) || !s->report->nsections)
		return;
	s->now.section = s->report->nsections - 1;
	const struct ctp_report_section *sec = &s->report->sections[s->now.section];
	s->failed |= !settle_rows(s) || !ctp_html_part_settle(&s->now, s->follow, sec);
	s->failed |= s->now.gaps.failed;
	if (s->options.finding)
		narrow(s, sec);
	keep(s);
}

/* --- the page ------------------------------------------------------------------------------------------------------------- */

/* The verdict on each section, in a line, and the closing lines of the report. */
static void put_verdicts(struct ctp_output *out, const struct ctp_report *r)
{
	char verdict[CTP_PRINT_LINE_MAX], lines[CTP_PRINT_CLOSING][CTP_PRINT_LINE_MAX];
	ctp_output_putf(out, ",\"verdicts\":[");
	for (uint32_t i = 0; i < r->nsections; i++) {
		ctp_output_putf(out, "%s", i ? "," : "");
		ctp_print_verdict(verdict, &r->sections[i]);
		ctp_json_put_in_page(out, verdict, strlen(verdict));
	}
	unsigned n = ctp_print_closing(lines, r);
	ctp_output_putf(out, "],\"closing\":[");
	for (unsigned i = 0; i < n; i++) {
		ctp_output_putf(out, "%s", i ? "," : "");
		ctp_json_put_in_page(out, lines[i], strlen(lines[i]));
	}
	ctp_output_putf(out, "]");
}

static void put_meta(const struct html_sink *s)
{
	struct ctp_output *out = s->out;
	const struct ctp_html_part *best = best_of(s);
	const struct ctp_report_section *sec = best ? &s->report->sections[best->section] : NULL;
	char command[CTP_PRINT_COMMAND_MAX];
	ctp_output_putf(out, "<script type=\"application/json\" id=\"ctp-meta\">");
	ctp_output_putf(out, "{\"format\":3,\"tool\":\"ctp-tohtml %s\",", CTP_VERSION);
	ctp_html_put_text(out, "title", s->options.title ? s->options.title : sec ? ctp_print_command(command, sec) : s->options.source);
	ctp_output_putf(out, ",");
	ctp_html_put_text(out, "source", s->options.source);
	ctp_output_putf(out, ",\"finding\":%ju,\"shown\":%td,\"parts\":[", s->options.finding, best ? best - s->kept : 0);
	for (uint32_t i = 0; i < s->nkept; i++) {
		ctp_output_putf(out, "%s", i ? "," : "");
		ctp_html_part_put(out, &s->kept[i], &s->report->sections[s->kept[i].section], s->options.title);
	}
	ctp_output_putf(out, "]");
	if (s->options.baseline) {
		ctp_output_putf(out, ",\"baseline\":");
		ctp_html_baseline_put(out, s->options.baseline);
	}
	put_verdicts(out, s->report);
	ctp_output_putf(out, ",\"report\":");
	ctp_report_json(out, s->report, true);
	ctp_output_putf(out, "}</script>\n");
}

static bool put_data(struct ctp_output *out, struct ctp_html_part *part, uint32_t number)
{
	struct ctp_html_view view = {
		.t0_ns = part->t0_ns,
		.places = part->place_numbers,
		.threads = part->thread_numbers,
		.nplaces = part->nplace_numbers,
		.nthreads = part->nthread_numbers,
		.gaps = &part->gaps,
		.nshown = part->nthreads,
	};
	ctp_html_gaps_sort(&part->gaps);
	struct ctp_html_gzip *gzip = ctp_html_gzip_new(out, number);
	if (!gzip)
		return false;
	bool done = ctp_html_pack_write(&part->pack, &view, ctp_html_gzip_put, gzip);
	ctp_html_gzip_finish(gzip);
	return done;
}

static enum ctp_status finish(struct ctp_sink *sink, struct ctp_err *err)
{
	struct html_sink *s = (struct html_sink *)sink;
	const char *data = strstr(ctp_html_page, CTP_HTML_DATA), *after = data + strlen(CTP_HTML_DATA);
	if (s->options.section > s->sections)
		return ctp_err_set(err, "--section %ju: the last is %ju", s->options.section, s->sections);
	if (s->options.section > CTP_REPORT_SECTIONS)
		return ctp_err_set(err, "--section %ju: a report has only the first %d", s->options.section, CTP_REPORT_SECTIONS);
	if (s->options.finding && !s->narrowed)
		return ctp_err_set(err, "--finding %ju: the trace has fewer findings; ctp-report lists them with their numbers", s->options.finding);
	ctp_output_put(s->out, ctp_html_page, (size_t)(data - ctp_html_page));
	put_meta(s);
	for (uint32_t i = 0; i < s->nkept; i++) {
		if (!put_data(s->out, &s->kept[i], i))
			return ctp_err_as(err, CTP_ERR_MEMORY, "%s: out of memory", s->out->name);
		if (s->options.left) {
			s->options.left->coroutines += s->kept[i].pack.omitted_coroutines;
			s->options.left->events += s->kept[i].pack.omitted_events;
		}
	}
	ctp_output_put(s->out, after, strlen(after));
	return ctp_output_close(s->out, err);
}

/* --- the sink ------------------------------------------------------------------------------------------------------------- */

static enum ctp_status take_section(struct ctp_sink *sink, const struct ctp_section *sec, struct ctp_err *err)
{
	struct html_sink *s = (struct html_sink *)sink;
	if (ctp_report_window(s->report, sec, err))
		return CTP_FAILED;
	s->analysis->input = sink->input;
	ctp_analysis_section(s->analysis, sec);
	return CTP_OK;
}

static enum ctp_status take_records(struct ctp_sink *sink, const struct ctp_batch *batch, struct ctp_err *err)
{
	struct html_sink *s = (struct html_sink *)sink;
	(void)err;
	ctp_analysis_records(s->analysis, batch);
	return CTP_OK;
}

static enum ctp_status take_end(struct ctp_sink *sink, const struct ctp_section_end *end, struct ctp_err *err)
{
	struct html_sink *s = (struct html_sink *)sink;
	s->missing = end->missing;
	ctp_analysis_end(s->analysis, end);
	return s->report->failed || s->failed ? ctp_err_as(err, CTP_ERR_MEMORY, "%s: out of memory", s->out->name) : CTP_OK;
}

static void free_sink(struct ctp_sink *sink)
{
	struct html_sink *s = (struct html_sink *)sink;
	ctp_html_part_fini(&s->now);
	for (uint32_t i = 0; i < s->nkept; i++)
		ctp_html_part_fini(&s->kept[i]);
	free(s->kept);
	ctp_analysis_free(s->analysis);
	ctp_output_abandon(s->out);
	free(s);
}

static const struct ctp_sink_ops ops = {
	.section = take_section,
	.records = take_records,
	.end = take_end,
	.finish = finish,
	.free = free_sink,
};

static const struct ctp_follow_ops listens = {.section = on_section, .change = on_change, .end = on_end,
                                               .thread_gap = on_thread_gap};

struct ctp_sink *ctp_html_sink(struct ctp_output *out, const struct ctp_html_options *options, struct ctp_err *err)
{
	struct html_sink *s = calloc(1, sizeof *s);
	struct ctp_analysis *analysis = s ? ctp_analysis_new(&options->report, err) : NULL;
	if (!analysis) {
		if (!s)
			ctp_err_as(err, CTP_ERR_MEMORY, "%s: out of memory", out->name);
		ctp_output_abandon(out);
		free(s);
		return NULL;
	}
	s->sink.ops = &ops;
	s->out = out;
	s->options = *options;
	s->analysis = analysis;
	s->report = &analysis->report;
	s->follow = &analysis->follow;
	ctp_html_part_init(&s->now, options->max_events);
	ctp_analysis_listen(analysis, &listens, s);
	return &s->sink;
}
