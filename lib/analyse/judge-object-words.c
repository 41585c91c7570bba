/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* judge-object-words.c - what findings say of the things that coroutines wait for. */
#include <stdarg.h>
#include <stdio.h>

#include "analyse/judge-object.h"
#include "analyse/judge-why.h"
#include "analyse/judge-words.h"
#include "analyse/judge.h"
#include "analyse/wait-texts.h"
#include "base/array.h"
#include "stream/events.h"

const char *ctp_words_object(struct ctp_words *w, const struct ctp_object *ob, char *text, size_t size)
{
	return ctp_wait_object(w->j->follow, ob, ob->what, ob->at, "'", text, size);
}

/* "1 of 4 permits of 'db pool' (0 free)"; "an item of 'jobs' (empty)"; "'table lock'". */
static void say_wanted(struct ctp_words *w, const struct ctp_reason_of *r, const struct ctp_object *ob, char *text, size_t size)
{
	char name[CTP_SITE_TEXT_MAX + 80], total[48] = "", free[48] = "";
	const struct ctp_stock *stock = ctp_object_stock(ob, r);
	ctp_words_object(w, ob, name, sizeof name);
	bool exact = false;
	uint64_t left = ctp_object_available(ob, stock, &exact);
	const char *sort = r->what == CTP_WAITS_PERMITS ? "free" : r->what == CTP_WAITS_ITEM ? "in it" : "available";
	if (stock->known && exact)
		snprintf(free, sizeof free, " (%ju %s)", (uintmax_t)left, sort);
	else if (stock->known)
		snprintf(free, sizeof free, " (some %s)", sort);
	switch (r->what) {
	case CTP_WAITS_PERMITS:
		if (ob->total)
			snprintf(total, sizeof total, " of %ju", (uintmax_t)ob->total);
		snprintf(text, size, "%ju%s %s of %s%s", (uintmax_t)r->count, total, r->count == 1 && !*total ? "permit" : "permits", name, free);
		break;
	case CTP_WAITS_ITEM:
		snprintf(text, size, "an item of %s%s", name, free);
		break;
	case CTP_WAITS_ROOM:
		snprintf(text, size, "room in %s", name);
		break;
	default:
		snprintf(text, size, "%s", name);
	}
}

static void put_for(struct ctp_words *w, char to[48], uint64_t ns) { snprintf(to, 48, " for %s", ctp_words_duration(w, ns)); }

/* The holder that co waits for: the first that has ended; or the one that co awaits, as the next in a circle; or the first. */
static const struct ctp_holder *main_holder(struct ctp_words *w, const struct ctp_coroutine *co, const struct ctp_object *ob)
{
	const struct ctp_holder *main = &ob->holders[0];
	for (uint32_t i = 0; i < ob->nholders; i++) {
		const struct ctp_coroutine *by = ctp_follow_find(w->j->follow, ob->holders[i].coro);
		if (!by || by->state == CTP_DEAD)
			return &ob->holders[i];
		if (by->id == co->awaits)
			main = &ob->holders[i];
	}
	return main;
}

/* How much of permits the waiter itself has, other coroutines of its finding, and all others; of a lock, how many of these hold it. */
struct rest {
	uint64_t own, of_finding, others;
};

static struct rest rest_of(struct ctp_words *w, const struct ctp_coroutine *co, const struct ctp_object *ob,
                           const struct ctp_holder *main, bool permits)
{
	struct rest rest = {.others = ob->others};
	for (const struct ctp_holder *h = ob->holders; h < ob->holders + ob->nholders; h++) {
		const struct ctp_coroutine *by = ctp_follow_find(w->j->follow, h->coro);
		bool with_it = by && ctp_judged(co)->group && ctp_judged(by)->group == ctp_judged(co)->group;
		uint64_t count = permits ? (uint64_t)h->count : 1;
		if (h == main)
			continue;
		*(h->coro == co->id ? &rest.own : with_it ? &rest.of_finding : &rest.others) += count;
	}
	return rest;
}

/* ", 1 by itself, 1 by another of these, and 2 by others" */
static void say_rest(const struct rest *rest, bool permits, char *text, size_t size)
{
	const struct {
		uint64_t n;
		const char *who;
	} parts[] = {{rest->own, "itself"}, {rest->of_finding, "others that wait here"}, {rest->others, permits ? "others" : "more"}};
	uint32_t left = (rest->own > 0) + (rest->of_finding > 0) + (rest->others > 0);
	size_t len = 0;
	*text = '\0';
	for (uint32_t i = 0; i < 3; i++) {
		if (!parts[i].n)
			continue;
		const char *joins = --left ? "," : ", and";
		if (!permits && i < 2)
			len += (size_t)snprintf(text + len, size - len, "%s by %s", joins, parts[i].who);
		else if (!permits)
			len += (size_t)snprintf(text + len, size - len, "%s by %ju more", joins, (uintmax_t)parts[i].n);
		else
			len += (size_t)snprintf(text + len, size - len, "%s %ju by %s", joins, (uintmax_t)parts[i].n, parts[i].who);
	}
}

/* "took it at pool.c:80:get and "; "" if the trace does not say where. */
static const char *where_taken(struct ctp_words *w, const struct ctp_holder *holder, const char *end, char *text, size_t size)
{
	const char *place = holder->site ? ctp_follow_text(w->j->follow, holder->site) : NULL;
	const char *what = holder->elsewhere ? "the last of them" : ctp_word((uint64_t)holder->count, "it", "them");
	*text = '\0';
	if (place)
		snprintf(text, size, "took %s at %s%s", what, place, end);
	return text;
}

/* How a coroutine holds something: what it has done since. held, waits: " for 4.3 s", or empty. */
static void say_state(struct ctp_words *w, const struct ctp_holder *holder, const char *held, const char *waits, char *text, size_t size)
{
	char took[CTP_SITE_TEXT_MAX + 32];
	const struct ctp_coroutine *by = ctp_follow_find(w->j->follow, holder->coro);
	if (!by || by->state == CTP_DEAD) {
		where_taken(w, holder, " and ", took, sizeof took);
		snprintf(text, size, ", which %shas ended%s%s", took, *held ? "," : "", held);
	} else if (ctp_wait_is(by)) {
		where_taken(w, holder, ", and ", took, sizeof took);
		snprintf(text, size, "%s, which %shas been suspended at %s%s", held, took,
		         ctp_words_named(ctp_follow_text(w->j->follow, ctp_follow_place(w->j->follow, by))), waits);
	} else {
		where_taken(w, holder, "", took, sizeof took);
		snprintf(text, size, "%s%s%s", held, *took ? ", which " : "", took);
	}
}

/*
 * "held by conn 12 (#12) for 4.3 s, which took it at pool.c:80:get, and has been suspended at pool.c:120:query for 4.1 s"; "2 of them
 * held by conn 12 (#12), which has ended, for 4.3 s, and 1 by others".
 */
static void say_holder(struct ctp_words *w, const struct ctp_coroutine *co, const struct ctp_object *ob, bool permits, char *text,
                       size_t size)
{
	char part[48] = "", others[144] = "", held[48] = "", waits[48] = "", state[3 * CTP_SITE_TEXT_MAX];
	*text = '\0';
	if (ob->holders_known && ob->hold_ns && !ob->nholders && !ob->others)
		snprintf(text, size, ", which no coroutine holds");
	if (!ob->holders_known || !ob->nholders)
		return;
	const struct ctp_holder *holder = main_holder(w, co, ob);
	const struct ctp_coroutine *by = ctp_follow_find(w->j->follow, holder->coro);
	const struct rest rest = rest_of(w, co, ob, holder, permits);
	if (permits && ob->total != 1)
		snprintf(part, sizeof part, "%jd of them ", (intmax_t)holder->count);
	say_rest(&rest, permits, others, sizeof others);
	if (!w->j->ordinal) {
		put_for(w, held, ctp_span_ns(holder->since_ns, ctp_judge_end_ns(w->j, co)));
		put_for(w, waits, by ? ctp_wait_ns(w->j, by) : 0);
	}
	say_state(w, holder, held, waits, state, sizeof state);
	snprintf(text, size, ", %sheld by %s%s%s", part, ctp_words_any(w, holder->coro), state, others);
}

static void say_destroyed(struct ctp_words *w, const struct ctp_object *ob)
{
	char name[CTP_SITE_TEXT_MAX + 80];
	ctp_words_evidence(w, "%s was destroyed %s, while %s for it", ctp_words_object(w, ob, name, sizeof name),
	                   ctp_words_when(w, ctp_span_ns(w->j->start_ns, ob->gone_ns)),
	                   ctp_words_counted(w, ob->waiters, "coroutine waited", "coroutines waited"));
}

/* "writer (#3) has waited to write at a.c:9:put since 1.2 s after the start, before reader (#2) wanted to read again" */
void ctp_words_writer(struct ctp_words *w, const struct ctp_coroutine *reader)
{
	const struct ctp_reasons *r = reader ? ctp_wait_reasons(w->j, reader) : NULL;
	const struct ctp_coroutine *co, *first = NULL;
	if (!r || r->n != 1 || r->list[0].what != CTP_WAITS_LOCK || !(r->list[0].marks & CTP_REASON_SHARED))
		return;
	CTP_EACH_COROUTINE(w->j, co) {
		const struct ctp_reasons *its = co == reader ? NULL : ctp_wait_reasons(w->j, co);
		bool writes = its && its->n == 1 && its->pid == r->pid && its->list[0].value == r->list[0].value &&
		              !(its->list[0].marks & CTP_REASON_SHARED);
		if (writes && co->suspended_ns <= reader->suspended_ns && (!first || co->suspended_ns < first->suspended_ns))
			first = co;
	}
	if (first)
		ctp_words_evidence(w, "%s has waited to write at %s since %s, before %s wanted to read again",
		                   ctp_words_any(w, first->id), ctp_words_named(ctp_follow_text(w->j->follow, ctp_follow_place(w->j->follow, first))),
		                   ctp_words_when(w, ctp_span_ns(w->j->start_ns, first->suspended_ns)), ctp_words_any(w, reader->id));
}

/* What one of the reasons is for, and who holds that. ob: its object, or null. */
static void say_reason(struct ctp_words *w, const struct ctp_coroutine *co, const struct ctp_reason_of *reason,
                       const struct ctp_object *ob, char *text, size_t size)
{
	uint64_t end_ns = ctp_judge_end_ns(w->j, co);
	if (reason->what == CTP_WAITS_TIMER && reason->value <= end_ns) {
		snprintf(text, size, "a timer that was due %s before the end", ctp_words_duration(w, end_ns - reason->value));
	} else if (reason->what == CTP_WAITS_TIMER) {
		snprintf(text, size, "a timer that is due %s after the end", ctp_words_duration(w, reason->value - end_ns));
	} else if (reason->what == CTP_WAITS_DESCRIPTOR) {
		const char *silent = ctp_wait_is_for_silence(w->j, co) ? ", which had nothing to read" : "";
		const char *unanswered = ctp_wait_is_unanswered(w->j, co) ? ": the peer has not answered what was sent last" : "";
		snprintf(text, size, "descriptor %d%s%s", (int)reason->value, silent, unanswered);
	} else if (ob) {
		say_wanted(w, reason, ob, text, size);
		size_t len = strlen(text);
		say_holder(w, co, ob, reason->what == CTP_WAITS_PERMITS, text + len, size - len);
	} else {
		ctp_wait_object(w->j->follow, NULL, reason->what, reason->value, "'", text, size);
	}
}

void ctp_words_reasons(struct ctp_words *w, const struct ctp_coroutine *co)
{
	enum { ONE = 5 * CTP_SITE_TEXT_MAX };
	const struct ctp_reasons *r = co ? ctp_wait_reasons(w->j, co) : NULL;
	char text[CTP_REASONS_MAX * (ONE + 16)];
	size_t len = 0;
	if (!r)
		return;
	for (uint32_t i = 0; i < r->n; i++) {
		char one[ONE];
		say_reason(w, co, &r->list[i], ctp_objects_waited(w->j->follow->objects, r, i, co->suspended_ns), one, sizeof one);
		len += (size_t)snprintf(text + len, sizeof text - len, "%s%s", i ? ", or for " : "", one);
	}
	ctp_words_evidence(w, "%s waits for %s", ctp_words_any(w, co->id), text);
	for (uint32_t i = 0; i < r->n; i++) {
		const struct ctp_object *ob = ctp_objects_waited(w->j->follow->objects, r, i, co->suspended_ns);
		if (ob && ob->gone_ns)
			say_destroyed(w, ob);
	}
}

/* The reasons of the first member; or null. */
static const struct ctp_reasons *first_reasons(const struct ctp_words *w)
{
	const struct ctp_coroutine *co = ctp_words_first(w);
	return co ? ctp_wait_reasons(w->j, co) : NULL;
}

/* The object of the first reason that is for one; or null. */
static const struct ctp_object *first_object(struct ctp_words *w)
{
	const struct ctp_reasons *r = first_reasons(w);
	const struct ctp_object *ob = NULL;
	for (uint32_t i = 0; r && i < r->n && !ob; i++)
		ob = ctp_objects_waited(w->j->follow->objects, r, i, ctp_words_first(w)->suspended_ns);
	return ob;
}

/* Whether the members wait for one object, as far as they are listed. */
static bool is_one_object(const struct ctp_words *w, const struct ctp_object *ob)
{
	for (uint32_t i = 0; i < w->f->nwho; i++) {
		const struct ctp_coroutine *co = ctp_follow_find(w->j->follow, w->f->who[i].id);
		const struct ctp_reasons *r = co ? ctp_wait_reasons(w->j, co) : NULL;
		bool same = false;
		for (uint32_t k = 0; r && k < r->n; k++)
			same |= r->list[k].value == ob->at;
		if (!same)
			return false;
	}
	return true;
}

static const char *named_object(struct ctp_words *w)
{
	const struct ctp_object *ob = first_object(w);
	if (!ob)
		return "what it waits for";
	ctp_words_object(w, ob, w->places, sizeof w->places);
	size_t len = strlen(w->places);
	if (!is_one_object(w, ob))
		snprintf(w->places + len, sizeof w->places - len, " and others");
	return w->places;
}

/* "gave 1 permit of 'db pool' back"; "released 'table lock'"; "put an item into 'jobs'". */
static void say_give(struct ctp_words *w, const struct ctp_give *give, const struct ctp_object *ob, char *text, size_t size)
{
	char name[CTP_SITE_TEXT_MAX + 80];
	ctp_words_object(w, ob, name, sizeof name);
	switch (give->what) {
	case CTP_WAITS_LOCK:
		snprintf(text, size, "released %s", name);
		break;
	case CTP_WAITS_PERMITS:
		snprintf(text, size, "gave %s of %s back", ctp_words_counted(w, give->count, "permit", "permits"), name);
		break;
	case CTP_WAITS_ITEM:
		snprintf(text, size, "put an item into %s", name);
		break;
	case CTP_WAITS_ROOM:
		snprintf(text, size, "made room in %s", name);
		break;
	default:
		snprintf(text, size, "made %s available", name);
	}
}

/* Gives that woke nobody since from_ns: the first, and how many coroutines did that. */
struct missed {
	const struct ctp_give *first;
	uint64_t givers[16];
	uint32_t ngivers;
};

static void note_missed(struct missed *m, const struct ctp_give *give)
{
	CTP_ARRAY_NOTE(m->givers, m->ngivers, give->coro);
	m->first = m->first && m->first->ts_ns <= give->ts_ns ? m->first : give;
}

/* A program that ends in order may wake all that wait: what came after the moment that is judged does not count. */
static struct missed find_missed(const struct ctp_words *w, uint32_t end, uint64_t from_ns)
{
	const struct ctp_gives *g = &w->j->follow->objects->gives;
	struct missed m = {.first = NULL};
	for (uint32_t i = 0; i < g->nmissed; i++)
		if (g->missed[i].end == end && g->missed[i].ts_ns >= from_ns)
			note_missed(&m, &g->missed[i]);
	for (uint32_t i = 0; i < ctp_least(g->nmended, CTP_GIVES_MENDED); i++)
		if (g->mended[i].end == end && g->mended[i].ts_ns >= from_ns && g->mended[i].mended_ns >= w->j->end_ns)
			note_missed(&m, &g->mended[i]);
	return m;
}

/* "reader 9 (#9) gave 1 permit of 'db pool' back 3.20 s after the start, while 26 waited, and woke nobody; so did 3 others" */
static bool say_missed(struct ctp_words *w, uint32_t end, const struct ctp_object *ob, uint64_t from_ns)
{
	char what[2 * CTP_SITE_TEXT_MAX], others[2 * CTP_TEXT_MAX + 32] = "";
	const struct missed m = find_missed(w, end, from_ns);
	if (!m.first || m.first->ts_ns <= w->j->follow->missed_ns)
		return false;
	say_give(w, m.first, ob, what, sizeof what);
	if (m.ngivers > 1)
		snprintf(others, sizeof others, "; so did %s", ctp_words_counted(w, m.ngivers - 1, "other", "others"));
	ctp_words_evidence(w, "%s %s %s, while %s waited, and woke nobody%s", ctp_words_any(w, m.first->coro), what,
	                   ctp_words_when(w, ctp_span_ns(w->j->start_ns, m.first->ts_ns)), ctp_words_count(w, m.first->waiters), others);
	return true;
}

bool ctp_words_giver(struct ctp_words *w)
{
	const struct ctp_coroutine *co = ctp_words_first(w);
	const struct ctp_reasons *r = co ? ctp_wait_reasons(w->j, co) : NULL;
	for (uint32_t i = 0; r && i < r->n; i++) {
		const struct ctp_object *ob = ctp_objects_wanted(w->j->follow->objects, r, i);
		uint32_t end = ob ? ctp_gives_find(&w->j->follow->objects->gives, ob->pid, ob->at, r->list[i].what == CTP_WAITS_ROOM) : 0;
		uint64_t from_ns = ob && is_one_object(w, ob) ? w->g->from_ns : co->suspended_ns;
		if (end && say_missed(w, end, ob, from_ns))
			return true;
	}
	return false;
}

/* The title "3 coroutines wait at pool.c:90:get for" what fmt says, and the evidence that all of these findings have. */
static __attribute__((format(printf, 2, 3))) void say_wait(struct ctp_words *w, const char *fmt, ...)
{
	char what[2 * CTP_SITE_TEXT_MAX];
	va_list args;
	va_start(args, fmt);
	vsnprintf(what, sizeof what, fmt, args);
	va_end(args);
	ctp_words_title(w, "%s at %s for %s", ctp_words_counted(w, w->f->members, "coroutine waits", "coroutines wait"),
	                ctp_words_where(w), what);
	if (w->f->rule == CTP_RULE_UNSERVED || w->f->rule == CTP_RULE_HELD_BY_NONE)
		ctp_words_giver(w);
	ctp_words_evidence(w, "suspended for %s%s", ctp_words_they(w, "", "up to "), ctp_words_duration(w, w->g->longest_ns));
	ctp_words_reasons(w, ctp_words_first(w));
}

void ctp_say_overdue(struct ctp_words *w)
{
	say_wait(w, "a timer that is long past due");
	ctp_words_next(w, "was the timer removed, or set for another time, since the wait began? Does the loop that looks at timers still"
	               " run?");
}

void ctp_say_unserved(struct ctp_words *w)
{
	const struct ctp_object *ob = first_object(w);
	say_wait(w, "what %s %s, and %s not woken", named_object(w), ob && !is_one_object(w, ob) ? "have" : "has",
	         ctp_words_they(w, "was", "were"));
	const struct ctp_coroutine *first = ctp_words_first(w);
	if (ob && ob->woken && !(first && first->id == ob->woken))
		ctp_words_evidence(w, "the last coroutine that was woken for it is %s", ctp_words_any(w, ob->woken));
	ctp_words_next(w, "the coroutine that puts something there must wake a waiter: does it look for one before %s there, or wake"
	               " one that does not take it?", ctp_words_they(w, "this one is", "these are"));
}

void ctp_say_closed(struct ctp_words *w)
{
	say_wait(w, "%s, which was closed, and %s not woken", named_object(w), ctp_words_they(w, "was", "were"));
	ctp_words_next(w, "the close must wake all that wait, and a wait that begins after it must end at once");
}

void ctp_say_held_by_dead(struct ctp_words *w)
{
	if (w->g->object.what) {
		ctp_say_spent_pool(w);
		return;
	}
	say_wait(w, "%s, held by a coroutine that has ended", named_object(w));
	ctp_words_next(w, "see that every way out of the coroutine that held it, also an error or a cancellation, gives it back");
}

void ctp_say_held_by_none(struct ctp_words *w)
{
	say_wait(w, "%s, which is taken, but which no coroutine holds", named_object(w));
	ctp_words_next(w, "who took it last, or was given it? A waiter that was chosen and gave up at the same moment, by a time-out or a"
	               " cancellation, must pass it on. What a plain thread holds is not in the trace");
}

void ctp_say_peer_ended(struct ctp_words *w)
{
	if (w->g->object.what) {
		ctp_say_spent_queue(w);
		return;
	}
	const struct ctp_reasons *r = first_reasons(w);
	const struct ctp_queue_end *other = r && r->n ? ctp_wait_other_end(w->j, r->pid, &r->list[0]) : NULL;
	bool gives = r && r->n && r->list[0].what == CTP_WAITS_ROOM;
	say_wait(w, "%s a queue, and whoever %s has ended", gives ? "room in" : "an item of", gives ? "took from it" : "gave to it");
	for (uint32_t i = 0; other && i < other->n; i++)
		ctp_words_evidence(w, "%s has %s it %s, and has ended", ctp_words_any(w, other->users[i].coro), gives ? "taken from" : "given to",
		                   ctp_words_counted(w, other->users[i].uses, "time", "times"));
	ctp_words_next(w, "did an error end the coroutine at the other end? When the last of those ends, the queue must be closed");
}

/* "12 bytes", "2 connections". */
static const char *unread(struct ctp_words *w, const struct ctp_descriptor *d)
{
	if (!d->unread)
		return "the end of the stream";
	switch (d->type) {
	case CTP_FD_TCP_LISTENS:
	case CTP_FD_UNIX_LISTENS:
		return ctp_words_counted(w, d->unread, "connection", "connections");
	case CTP_FD_TCP:
	case CTP_FD_UNIX:
	case CTP_FD_PIPE:
		return ctp_words_counted(w, d->unread, "byte", "bytes");
	default: /* a datagram is counted with what the kernel needs for it */
		return "something to read";
	}
}

void ctp_say_own(struct ctp_words *w)
{
	const struct ctp_reasons *r = first_reasons(w);
	bool lock = r && r->list[0].what == CTP_WAITS_LOCK;
	say_wait(w, "%s, %s %s %salready", named_object(w), lock ? "which" : "of which", ctp_words_they(w, "it holds", "they hold"),
	         lock ? "" : "some ");
	ctp_words_writer(w, ctp_words_first(w));
	ctp_words_history(w);
	ctp_words_next(w, "%s given %s while about to wait, so that the wake found nobody? A coroutine that holds %s must not wait for"
	               " %s", ctp_words_they(w, "was it", "were they"), lock ? "it" : "one", lock ? "a lock" : "one",
	               lock ? "the same lock" : "another of the same");
}

void ctp_say_unread(struct ctp_words *w)
{
	const struct ctp_reasons *r = first_reasons(w);
	say_wait(w, "a descriptor that has something to read");
	for (uint32_t i = 0; r && i < r->n; i++) {
		const struct ctp_descriptor *d = r->list[i].what != CTP_WAITS_DESCRIPTOR ? NULL :
			ctp_objects_descriptor(w->j->follow->objects, r->pid, (int32_t)r->list[i].value);
		if (d && (d->unread || d->ended))
			ctp_words_evidence(w, "the kernel had %s for descriptor %d, %s", unread(w, d), d->fd,
			                   ctp_words_when(w, ctp_span_ns(w->j->start_ns, d->ts_ns)));
	}
	ctp_words_next(w, "is the descriptor still registered with the event loop, and for reading? With edge-triggered epoll, all must be"
	               " read before the next wait; and the end may come as EPOLLHUP alone");
}

void ctp_say_strayed(struct ctp_words *w)
{
	const struct ctp_object *ob = first_object(w);
	say_wait(w, "%s, and the wake for that went to another", named_object(w));
	if (ob && ob->strayed)
		ctp_words_evidence(w, "%s was woken for it, %s, and waited for something else", ctp_words_any(w, ob->strayed),
		                   ctp_words_when(w, ctp_span_ns(w->j->start_ns, ob->strayed_ns)));
	ctp_words_next(w, "where coroutines that wait for different things are in one list, a wake must find one that waits for this, or"
	               " wake all");
}
