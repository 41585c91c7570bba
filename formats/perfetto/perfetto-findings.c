/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* perfetto-findings.c - see perfetto-findings.h. */
#include "perfetto/perfetto-findings.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/compare.h"
#include "report/report-print.h"

const char *const ctp_perfetto_keys[CTP_PERFETTO_KEYS] = {
	[CTP_PERFETTO_CORO] = "coro", [CTP_PERFETTO_PARENT] = "parent", [CTP_PERFETTO_SPAWNED_AT] = "spawned_at",
	[CTP_PERFETTO_BORN_BEFORE] = "born_before", [CTP_PERFETTO_WAITS_FOR] = "waits_for", [CTP_PERFETTO_HELD_BY] = "held_by",
	[CTP_PERFETTO_AWAITS] = "awaits", [CTP_PERFETTO_WAKES_LOST] = "wakes_lost", [CTP_PERFETTO_LOST] = "lost",
	[CTP_PERFETTO_TRANSITIONS_LOST] = "transitions_lost", [CTP_PERFETTO_RULE] = "rule", [CTP_PERFETTO_CERTAINTY] = "certainty",
	[CTP_PERFETTO_COROUTINES] = "coroutines", [CTP_PERFETTO_SUSPENDED_AT] = "suspended_at",
	[CTP_PERFETTO_EVIDENCE] = "evidence", [CTP_PERFETTO_NEXT] = "next", [CTP_PERFETTO_DESTROYED] = "destroyed",
	[CTP_PERFETTO_COMMAND] = "command",
	[CTP_PERFETTO_HOST] = "host", [CTP_PERFETTO_PID] = "pid", [CTP_PERFETTO_ORIGIN] = "origin",
	[CTP_PERFETTO_ORIGIN_ERROR] = "origin_error_ns", [CTP_PERFETTO_FILTERED] = "filtered",
};

/* An event that is being made. */
struct instant {
	struct ctp_perfetto_arg args[CTP_PERFETTO_ARGS];
	char (*texts)[CTP_PERFETTO_TEXT_MAX]; /* of the arguments */
	uint32_t nargs;
};

static void add_text(struct instant *in, enum ctp_perfetto_key key, const char *text)
{
	if (!text || in->nargs == CTP_PERFETTO_ARGS)
		return;
	ctp_perfetto_text(in->texts[in->nargs], text);
	in->args[in->nargs] = (struct ctp_perfetto_arg){.key = key, .text = in->texts[in->nargs]};
	in->nargs++;
}

static void add_number(struct instant *in, enum ctp_perfetto_key key, uint64_t number)
{
	if (in->nargs < CTP_PERFETTO_ARGS)
		in->args[in->nargs++] = (struct ctp_perfetto_arg){.key = key, .number = number};
}

static void tell(struct ctp_perfetto_draw *d, const struct ctp_perfetto_track *track, const char *title, const struct instant *in,
                 uint64_t ts_ns)
{
	char text[CTP_PERFETTO_TEXT_MAX];
	struct ctp_perfetto_name name = {.text = ctp_perfetto_text(text, title)};
	d->last_ns = ctp_most(d->last_ns, ts_ns);
	d->form->ops->event(d->form, &(struct ctp_perfetto_event){.type = CTP_PERFETTO_INSTANT, .track = track, .ts_ns = ts_ns,
	                                                          .name = &name, .args = in ? in->args : NULL,
	                                                          .nargs = in ? in->nargs : 0});
}

static struct ctp_perfetto_track new_row(struct ctp_perfetto_draw *d, const char *name)
{
	struct ctp_perfetto_track track = ctp_perfetto_tracks_new(&d->tracks, CTP_PERFETTO_ROW, 0);
	d->form->ops->track(d->form, &track, name);
	return track;
}

static void say_finding(struct ctp_perfetto_draw *d, const struct ctp_perfetto_track *track, struct instant *in,
                        const struct ctp_report_section *sec, const struct ctp_finding *f, uint64_t base_ns)
{
	char because[CTP_PRINT_LINE_MAX];
	in->nargs = 0;
	if (f->rule != CTP_RULE_NONE)
		add_text(in, CTP_PERFETTO_RULE, ctp_rule_name(f->rule));
	add_text(in, CTP_PERFETTO_CERTAINTY, ctp_certainty_name(f->certainty));
	add_number(in, CTP_PERFETTO_COROUTINES, f->members);
	add_text(in, CTP_PERFETTO_SUSPENDED_AT, f->place);
	add_text(in, CTP_PERFETTO_SPAWNED_AT, f->spawn);
	if (f->nwho && f->rule != CTP_RULE_NONE)
		add_number(in, CTP_PERFETTO_CORO, f->who[0].id);
	if (f->root)
		add_text(in, CTP_PERFETTO_EVIDENCE, ctp_print_because(because, sec, f, true));
	add_text(in, CTP_PERFETTO_EVIDENCE, f->excuse);
	for (uint32_t i = 0; i < CTP_REPORT_LINES && f->evidence[i]; i++)
		add_text(in, CTP_PERFETTO_EVIDENCE, f->evidence[i]);
	for (uint32_t i = 0; i < CTP_REPORT_LINES && f->next[i]; i++)
		add_text(in, CTP_PERFETTO_NEXT, f->next[i]);
	tell(d, track, f->title, in, base_ns + f->from_ns);
}

void ctp_perfetto_findings(struct ctp_perfetto_draw *d, const struct ctp_report_section *sec, uint64_t base_ns)
{
	if (!sec->nfindings && !sec->nsuspects)
		return;
	struct ctp_perfetto_track track = new_row(d, "findings");
	struct instant in = {.texts = calloc(CTP_PERFETTO_ARGS, sizeof *in.texts)};
	d->failed |= !in.texts;
	const struct ctp_finding *f;
	for (uint32_t i = 0; in.texts && (f = ctp_report_finding(sec, i)); i++)
		say_finding(d, &track, &in, sec, f, base_ns);
	free(in.texts);
}

void ctp_perfetto_left_out(struct ctp_perfetto_draw *d, uint64_t end_ns)
{
	for (uint32_t i = 0; i < d->tracks.nshared; i++) {
		char text[200];
		const struct ctp_perfetto_shared *s = &d->tracks.shared[i];
		snprintf(text, sizeof text, "%ju coroutines share this row, for there were more than %u at once:"
		         " %ju waits and %ju runs are not drawn", (uintmax_t)s->coroutines, d->tracks.max_lanes,
		         (uintmax_t)s->waits, (uintmax_t)s->runs);
		tell(d, &s->track, text, NULL, end_ns);
	}
}

/* Adds "; 3 runs and 1 suspension WHY" to a text, unless both are 0. */
static char *add_pair(char *p, char *end, bool *any, uint64_t runs, uint64_t suspensions, const char *why)
{
	const char *const first = *any ? "; " : "not drawn: ";
	if (!runs && !suspensions)
		return p;
	*any = true;
	p += snprintf(p, (size_t)(end - p), "%s", first);
	if (runs)
		p += snprintf(p, (size_t)(end - p), "%ju run%s", (uintmax_t)runs, runs == 1 ? "" : "s");
	if (suspensions)
		p += snprintf(p, (size_t)(end - p), "%s%ju suspension%s", runs ? " and " : "", (uintmax_t)suspensions,
		              suspensions == 1 ? "" : "s");
	return p + snprintf(p, (size_t)(end - p), " %s", why);
}

bool ctp_perfetto_undrawn_text(char to[CTP_PERFETTO_UNDRAWN_MAX], const struct ctp_perfetto_undrawn *u)
{
	char *p = to, *end = to + CTP_PERFETTO_UNDRAWN_MAX;
	bool any = false;
	p = add_pair(p, end, &any, u->strange_runs, u->strange_suspensions, "without a coroutine");
	p = add_pair(p, end, &any, u->passed_runs, u->passed_suspensions,
	             "that came after a later one of the coroutine or after its death");
	p = add_pair(p, end, &any, u->runs, 0, "without a thread");
	if (u->wakes)
		snprintf(p, (size_t)(end - p), "%s%ju wake%s without a thread", any ? "; " : "not drawn: ", (uintmax_t)u->wakes,
		         u->wakes == 1 ? "" : "s");
	return any || u->wakes;
}

static void say_what(struct ctp_perfetto_draw *d, const struct ctp_perfetto_track *track, const struct ctp_report_section *sec,
                     uint64_t start_ns)
{
	char title[CTP_PERFETTO_CUT] = "the trace begins", command[CTP_PRINT_COMMAND_MAX];
	struct instant in = {.texts = calloc(CTP_PERFETTO_ARGS, sizeof *in.texts)};
	d->failed |= !in.texts;
	if (!in.texts)
		return;
	if (sec->filtered)
		snprintf(title, sizeof title, "filtered: %s", *sec->filtered ? sec->filtered : "yes");
	add_text(&in, CTP_PERFETTO_COMMAND, ctp_print_command(command, sec));
	add_text(&in, CTP_PERFETTO_HOST, sec->host);
	if (d->tracks.processes[0].pid)
		add_number(&in, CTP_PERFETTO_PID, ctp_perfetto_tracks_real(&d->tracks, d->tracks.processes[0].pid));
	add_text(&in, CTP_PERFETTO_ORIGIN, sec->origin);
	add_text(&in, CTP_PERFETTO_ORIGIN_ERROR, sec->origin_error_ns);
	add_text(&in, CTP_PERFETTO_FILTERED, sec->filtered);
	tell(d, track, title, &in, start_ns);
	free(in.texts);
}

void ctp_perfetto_about(struct ctp_perfetto_draw *d, const struct ctp_report_section *sec, uint64_t start_ns, uint64_t end_ns,
                        const char *text)
{
	char undrawn[CTP_PERFETTO_UNDRAWN_MAX];
	struct ctp_perfetto_track track = new_row(d, "trace");
	if (sec)
		say_what(d, &track, sec, start_ns);
	if (ctp_perfetto_undrawn_text(undrawn, &d->undrawn))
		tell(d, &track, undrawn, NULL, end_ns);
	tell(d, &track, text, NULL, end_ns);
}
