/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* judge-words.c - the words that findings are made of. */
#include "analyse/judge-words.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *ctp_words_duration(struct ctp_words *w, uint64_t ns)
{
	assert(!w->j->ordinal);
	char *text = w->duration[w->nduration++ % 4];
	*ctp_text_duration(text, ns) = '\0';
	return text;
}

const char *ctp_words_when(struct ctp_words *w, uint64_t ns)
{
	char *text = w->duration[w->nduration++ % 4];
	if (w->j->ordinal)
		sprintf(text, "at number %ju", w->j->start_ns + ns);
	else
		strcpy(ctp_text_duration(text, ns), " after the start");
	return text;
}

const char *ctp_words_count(struct ctp_words *w, uint64_t n)
{
	char *text = w->count[w->ncount++ % 4];
	*ctp_text_count(text, n) = '\0';
	return text;
}

/*
 * "handler 17 (#37)"; "coroutine #37, in server"; "handler 17 (#372) on host-b". The number is as in the list of members: a large one is
 * an address.
 */
static const char *label(struct ctp_words *w, const char *name, const char *in, uint64_t id)
{
	char *text = w->label[w->nlabel++ % 2], number[CTP_TEXT_MAX];
	const char *origin = w->j->origin, *on = origin ? " on " : "";
	snprintf(number, sizeof number, id > UINT32_MAX ? "#0x%jx" : "#%ju", (uintmax_t)id);
	if (name)
		snprintf(text, sizeof w->label[0], "%s (%s)%s%s", name, number, on, origin ? origin : "");
	else
		snprintf(text, sizeof w->label[0], "coroutine %s%s%s%s%s", number, on, origin ? origin : "", in ? ", in " : "", in ? in : "");
	return text;
}

const char *ctp_words_member(struct ctp_words *w, const struct ctp_report_member *m) { return label(w, m->name, m->in, m->id); }

const char *ctp_words_any(struct ctp_words *w, uint64_t id)
{
	const struct ctp_coroutine *co = ctp_follow_find(w->j->follow, id);
	char *in = co ? ctp_judge_in(w->j, co) : NULL;
	const char *text = label(w, co ? co->name : NULL, in, id);
	free(in);
	return text;
}

void ctp_words_line(struct ctp_words *w, char **lines, uint32_t *n, uint32_t most, const char *fmt, ...)
{
	va_list args;
	assert(*n <= most);
	if (*n == most)
		return;
	va_start(args, fmt);
	if (vasprintf(&lines[*n], fmt, args) < 0) {
		lines[*n] = NULL;
		w->j->failed = true;
	}
	va_end(args);
	++*n;
}

const char *ctp_words_named(const char *place) { return place ? place : "a place that the trace does not name"; }

const char *ctp_words_made(struct ctp_words *w) { return ctp_words_named(w->f->spawn); }

/* Without a suspend place, the spawn place is named. */
const char *ctp_words_where(struct ctp_words *w)
{
	if (w->f->place || !w->f->spawn)
		return ctp_words_named(w->f->place);
	snprintf(w->where, sizeof w->where, "%s (spawned at %s)", ctp_words_named(NULL), w->f->spawn);
	return w->where;
}

/* "a.c:1:f", "a.c:1:f and b.c:2:g", "a.c:1:f and 2 other places". */
const char *ctp_words_places(struct ctp_words *w)
{
	const char *list[CTP_REPORT_MEMBERS];
	uint32_t n = 0;
	for (uint32_t i = 0; i < w->f->nwho && n < CTP_REPORT_MEMBERS; i++) {
		const char *place = w->f->who[i].place;
		uint32_t k = 0;
		while (k < n && place && strcmp(list[k], place))
			k++;
		if (place && k == n)
			list[n++] = place;
	}
	if (n < 2)
		return n ? list[0] : ctp_words_where(w);
	if (n == 2)
		snprintf(w->places, sizeof w->places, "%s and %s", list[0], list[1]);
	else
		snprintf(w->places, sizeof w->places, "%s and %u other places", list[0], n - 1);
	return w->places;
}

const char *ctp_word(uint64_t n, const char *one, const char *more) { return n == 1 ? one : more; }

const char *ctp_words_counted(struct ctp_words *w, uint64_t n, const char *one, const char *more)
{
	char *text = w->count[w->ncount++ % 4], *end = ctp_text_count(text, n);
	snprintf(end, sizeof w->count[0] - (size_t)(end - text), " %s", ctp_word(n, one, more));
	return text;
}

const char *ctp_words_it(struct ctp_words *w) { return ctp_word(w->f->members, "it", "them"); }
const char *ctp_words_they(struct ctp_words *w, const char *one, const char *more) { return ctp_word(w->f->members, one, more); }
const char *ctp_words_those(struct ctp_words *w) { return ctp_words_counted(w, w->f->members, "coroutine", "coroutines"); }

void ctp_words_history(struct ctp_words *w)
{
	const struct ctp_tally_place *p = ctp_tally_place(w->j->tally, w->g->place);
	if (w->f->members == 1)
		ctp_words_evidence(w, "suspended %s, for %s", ctp_words_when(w, w->g->from_ns - w->j->start_ns),
		                   ctp_words_duration(w, w->g->longest_ns));
	else if (w->g->longest_ns - w->g->shortest_ns < w->g->longest_ns / 100)
		ctp_words_evidence(w, "all of them suspended for %s", ctp_words_duration(w, w->g->longest_ns));
	else
		ctp_words_evidence(w, "suspended for %s to %s", ctp_words_duration(w, w->g->shortest_ns),
		                   ctp_words_duration(w, w->g->longest_ns));
	if (p->wait.count == 1)
		ctp_words_evidence(w, "1 other wait there ended, after %s", ctp_words_duration(w, p->wait.max_ns));
	else if (p->wait.count)
		ctp_words_evidence(w, "%s other waits there ended: the longest took %s, the median %s",
		                   ctp_words_count(w, p->wait.count), ctp_words_duration(w, p->wait.max_ns),
		                   ctp_words_duration(w, ctp_hist_quantile(&p->wait, 0.5)));
	if (w->j->places)
		ctp_words_stalls(w, w->j->places[w->g->place].gross_ns, w->j->places[w->g->place].max_ns);
}

void ctp_words_stalls(struct ctp_words *w, uint64_t gross_ns, uint64_t own_ns)
{
	enum { PART = 10 }; /* a smaller one is not worth a line */
	if (gross_ns > own_ns && gross_ns - own_ns > gross_ns / PART)
		ctp_words_evidence(w, "the longest took %s without the time in which a thread was ready and the machine gave it no processor",
		                   ctp_words_duration(w, own_ns));
}

void ctp_words_siblings(struct ctp_words *w)
{
	const struct ctp_coroutine *co = w->g->spawn ? NULL : ctp_words_first(w);
	const struct ctp_tally_spawn *s = ctp_tally_spawn(w->j->tally, co ? co->spawn : w->g->spawn);
	uint64_t ended = s->died - s->destroyed;
	char destroyed[80] = "";
	if (s->destroyed)
		snprintf(destroyed, sizeof destroyed, ", and %s destroyed while %s suspended",
		         ctp_words_counted(w, s->destroyed, "was", "were"), ctp_word(s->destroyed, "it was", "they were"));
	if (s->died)
		ctp_words_evidence(w, "%s spawned at %s; %s ended%s",
		                   ctp_words_counted(w, s->born > s->died ? s->born : s->died, "coroutine was", "coroutines were"),
		                   w->f->spawn ? w->f->spawn : "the same place", ctp_words_counted(w, ended, "has", "have"), destroyed);
}

bool ctp_words_dead_waker(struct ctp_words *w, const struct ctp_coroutine *co)
{
	const struct ctp_habit *h = &w->j->tally->habits.list[co->habit];
	uint64_t dead = 0, id = 0;
	for (uint32_t i = 0; i < h->nwakers; i++) {
		const struct ctp_coroutine *waker = ctp_follow_find(w->j->follow, h->wakers[i]);
		bool died = !waker || waker->state == CTP_DEAD;
		dead += died;
		id = died && (!id || waker) ? h->wakers[i] : id;
	}
	if (!dead || dead == h->nwakers || h->more_wakers)
		return false; /* such wakers come and go */
	const struct ctp_coroutine *waker = ctp_follow_find(w->j->follow, id);
	ctp_words_evidence(w, "%s, one of %s that have ended such waits, has died%s%s", ctp_words_any(w, id),
	                   ctp_words_counted(w, h->nwakers, "coroutine", "coroutines"), waker ? ", at " : "",
	                   waker ? ctp_words_duration(w, ctp_span_ns(w->j->start_ns, waker->since_ns)) : "");
	return true;
}

void ctp_words_times(struct ctp_words *w)
{
	if (w->g->cases > w->f->members)
		ctp_words_evidence(w, "%s in all", ctp_words_counted(w, w->g->cases, "time", "times"));
}

/* The processes of the listed members, if the section has several. */
static void processes(struct ctp_words *w)
{
	enum { NAMED = 5 };
	uint64_t pids[NAMED];
	uint32_t n = 0;
	char text[NAMED * 22 + 8] = "";
	for (uint32_t i = 0; i < w->f->nwho && w->j->nothers; i++) {
		uint64_t pid = w->f->who[i].pid;
		uint32_t k = 0;
		while (k < n && pids[k] != pid)
			k++;
		if (!pid || k < n)
			continue;
		if (n == NAMED) {
			strcat(text, " ...");
			break;
		}
		sprintf(text + strlen(text), "%s%ju", n ? ", " : "", (uintmax_t)pid);
		pids[n++] = pid;
	}
	if (n)
		ctp_words_evidence(w, "in process%s %s", n == 1 ? "" : "es", text);
}

void ctp_words_end(struct ctp_words *w)
{
	const struct ctp_group *g = w->g;
	uint64_t proved = g->by_certainty[CTP_CERTAIN_PROVED], likely = g->by_certainty[CTP_CERTAIN_LIKELY];
	uint64_t unknown = g->by_certainty[CTP_CERTAIN_UNKNOWN];
	processes(w);
	if (g->dependents)
		ctp_words_evidence(w, "%s because of %s", ctp_words_counted(w, g->dependents, "other waits", "others wait"),
		                   ctp_words_it(w));
	if (g->by_certainty[CTP_CERTAIN_POSSIBLE] && !w->f->excuse)
		ctp_words_evidence(w, "the trace may have two runs of the program: from %s on all threads are others",
		                   ctp_words_when(w, ctp_span_ns(w->j->start_ns, w->j->follow->other_run_ns)));
	if (unknown)
		ctp_words_evidence(w, "events that could say otherwise are missing%s",
		                   unknown < w->f->members ? " of some of them" : "");
	if (proved && likely)
		ctp_words_evidence(w, "%s proved, the %s likely", ctp_words_counted(w, proved, "of them is", "of them are"),
		                   ctp_word(likely, "other", "others"));
}
