/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* findings-kept.c - from findings to records, and back. */
#include "analyse/findings-kept.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/findings.h"
#include "analyse/judge-members.h"
#include "base/array.h"
#include "stream/events.h"
#include "stream/str-new.h"

enum { KEPT_MAX = 64 }; /* in a section */

struct ctp_kept_item {
	uint64_t number;
	bool is_excused; /* it has an excuse, which an anonymised trace does not say */
	struct ctp_finding f;
};

static const char from_whole[] = "this is from the report of the whole trace, of which ctp-filter wrote a part";

/* --- writing -------------------------------------------------------------------------------------------------------------- */

enum { FIELDS_MAX = CTP_FOUND_CORO_FIELDS + 1 };

/* As classes of a merged section are: with one more field, the last one. Null: out of memory. */
static struct ctp_class *with_origin(struct ctp_class *cls)
{
	struct ctp_field fields[FIELDS_MAX];
	struct ctp_err err;
	if (!cls)
		return NULL;
	assert(cls->nfields < FIELDS_MAX);
	memcpy(fields, cls->fields, cls->nfields * sizeof *fields);
	fields[cls->nfields] = (struct ctp_field){.name = "origin", .type = CTP_U64, .role = CTP_ROLE_ORIGIN, .pred = CTP_PRED_PREV,
	                                          .flags = CTP_FIELD_EXTRA};
	struct ctp_class *made = ctp_class_new(cls->name, (enum ctp_kind)cls->kind, fields, cls->nfields + 1, &err);
	ctp_class_free(cls);
	return made;
}

bool ctp_kept_writer_init(struct ctp_kept_writer *w, struct ctp_writer *writer, uint64_t origin)
{
	bool ok = true;
	w->writer = writer;
	w->origin = origin;
	for (int i = 0; i < CTP_KEPT_CLASSES; i++) {
		struct ctp_class *cls = ctp_event_class((enum ctp_event)(CTP_FOUND + i));
		w->classes[i] = origin ? with_origin(cls) : cls;
		ok &= w->classes[i] != NULL;
	}
	return ok;
}

void ctp_kept_writer_fini(struct ctp_kept_writer *w)
{
	for (int i = 0; i < CTP_KEPT_CLASSES; i++)
		ctp_class_free(w->classes[i]);
}

/* Fields that are texts have the addresses of C strings in val. */
static void put(const struct ctp_kept_writer *w, enum ctp_event event, const uint64_t *fields)
{
	const struct ctp_class *cls = w->classes[event - CTP_FOUND];
	uint64_t val[FIELDS_MAX];
	struct ctp_str *copies[FIELDS_MAX];
	uint32_t n = 0, own = cls->nfields - (w->origin != 0);
	memcpy(val, fields, own * sizeof *val);
	if (w->origin)
		val[own] = w->origin;
	for (uint32_t i = 0; i < cls->nfields; i++)
		if (cls->fields[i].type == CTP_STRING) {
			copies[n] = ctp_str_new((const char *)(uintptr_t)val[i]);
			val[i] = ctp_val_str(copies[n++]);
		}
	ctp_writer_record(w->writer, cls, val);
	while (n > 0)
		free(copies[--n]);
}

static uint64_t of_text(const char *text) { return (uint64_t)(uintptr_t)text; }

/* A report has the numbers of the host, a merged section those that are unique there. */
static uint64_t merged_number(const struct ctp_kept_writer *w, uint64_t n)
{
	bool is_made = n && w->origin && w->stride && n <= (UINT64_MAX - w->origin) / w->stride;
	return is_made ? n * w->stride + w->origin : n;
}

static void put_member(const struct ctp_kept_writer *w, uint64_t ts_ns, const struct ctp_report_member *m, bool waiter)
{
	put(w, CTP_FOUND_CORO, (uint64_t[CTP_FOUND_CORO_FIELDS]){
		[CTP_FOUND_CORO_TS] = ts_ns, [CTP_FOUND_CORO_NUMBER] = 1, [CTP_FOUND_CORO_ID] = m->id, [CTP_FOUND_CORO_PROBE] = m->probe,
		[CTP_FOUND_CORO_WAITER] = waiter, [CTP_FOUND_CORO_NAME] = of_text(m->name), [CTP_FOUND_CORO_IN] = of_text(m->in),
		[CTP_FOUND_CORO_PLACE] = of_text(m->place), [CTP_FOUND_CORO_SPAWN] = of_text(m->spawn),
		[CTP_FOUND_CORO_SINCE] = m->since_ns, [CTP_FOUND_CORO_FOR] = m->for_ns, [CTP_FOUND_CORO_WAKER] = m->waker,
		[CTP_FOUND_CORO_TID] = merged_number(w, m->tid), [CTP_FOUND_CORO_PID] = merged_number(w, m->pid),
		[CTP_FOUND_CORO_WAITS_FOR] = m->waits_for,
		[CTP_FOUND_CORO_WAITS_FOR_NAME] = of_text(m->waits_for_name), [CTP_FOUND_CORO_AWAITS] = m->awaits,
		[CTP_FOUND_CORO_STATE] = m->state, [CTP_FOUND_CORO_CERTAINTY] = m->certainty,
	});
}

static void put_line(const struct ctp_kept_writer *w, uint64_t ts_ns, enum ctp_found_part part, const char *text)
{
	if (text)
		put(w, CTP_FOUND_LINE, (uint64_t[CTP_FOUND_LINE_FIELDS]){
			[CTP_FOUND_LINE_TS] = ts_ns, [CTP_FOUND_LINE_NUMBER] = 1, [CTP_FOUND_LINE_PART] = part,
			[CTP_FOUND_LINE_TEXT] = of_text(text),
		});
}

/* A wait that stands out has one line of evidence at most. */
static enum ctp_found_part evidence_of(const struct ctp_finding *f)
{
	return f->rule == CTP_RULE_NONE ? CTP_FOUND_ALSO : CTP_FOUND_EVIDENCE;
}

void ctp_kept_write(const struct ctp_kept_writer *w, uint64_t ts_ns, const struct ctp_finding *f)
{
	put(w, CTP_FOUND, (uint64_t[CTP_FOUND_FIELDS]){
		[CTP_FOUND_TS] = ts_ns, [CTP_FOUND_NUMBER] = 1, [CTP_FOUND_RULE] = of_text(ctp_rule_name(f->rule)),
		[CTP_FOUND_CERTAINTY] = f->certainty, [CTP_FOUND_TITLE] = of_text(f->title), [CTP_FOUND_SPAWN] = of_text(f->spawn),
		[CTP_FOUND_PLACE] = of_text(f->place), [CTP_FOUND_MEMBERS] = f->members, [CTP_FOUND_WAITING] = f->waiting,
		[CTP_FOUND_FROM] = f->from_ns, [CTP_FOUND_TO] = f->to_ns, [CTP_FOUND_DEPENDENTS] = f->dependents,
		[CTP_FOUND_OPEN] = f->open, [CTP_FOUND_ENDED] = f->ended, [CTP_FOUND_LONGEST] = f->longest_ns, [CTP_FOUND_P99] = f->p99_ns,
	});
	put_line(w, ts_ns, CTP_FOUND_EXCUSE, f->excuse);
	for (uint32_t i = 0; i < CTP_REPORT_LINES && f->evidence[i]; i++)
		put_line(w, ts_ns, evidence_of(f), f->evidence[i]);
	for (uint32_t i = 0; i < CTP_REPORT_LINES && f->next[i]; i++)
		put_line(w, ts_ns, CTP_FOUND_NEXT, f->next[i]);
	for (uint32_t i = 0; i < f->nwho; i++)
		put_member(w, ts_ns, &f->who[i], false);
	for (uint32_t i = 0; i < f->nwaiters; i++)
		put_member(w, ts_ns, &f->waiters[i], true);
}

/* --- reading -------------------------------------------------------------------------------------------------------------- */

void ctp_kept_clear(struct ctp_kept *k)
{
	for (size_t i = 0; i < k->n; i++)
		ctp_finding_fini(&k->list[i].f);
	k->n = 0;
}

void ctp_kept_fini(struct ctp_kept *k)
{
	ctp_kept_clear(k);
	free(k->list);
}

static uint64_t number_in(const struct ctp_record *rec, const char *name)
{
	int at = ctp_class_field(rec->cls, name);
	unsigned type = at < 0 ? CTP_STRING : rec->cls->fields[at].type;
	return ctp_type_is_text(type) || ctp_type_is_float(type) ? 0 : rec->val[at];
}

static char *text_in(struct ctp_kept *k, const struct ctp_record *rec, const char *name)
{
	const struct ctp_str *s = ctp_record_str(rec, ctp_class_field(rec->cls, name), CTP_STRING);
	return s && s->len ? ctp_report_copy(s->data, &k->failed) : NULL;
}

static uint8_t at_most(uint64_t n, uint8_t most) { return n < most ? (uint8_t)n : most; }

/* False: this version has no such rule. */
static bool find_rule(enum ctp_rule *rule, const char *name)
{
	for (*rule = 0; *rule <= CTP_RULE_NONE; ++*rule)
		if (name && !strcmp(ctp_rule_name(*rule), name))
			return true;
	return false;
}

/* A finding without a title is from an anonymised trace. */
static char *title_of(struct ctp_kept *k, const struct ctp_finding *f)
{
	char *text = NULL;
	bool one = f->members == 1;
	if (asprintf(&text, "%ju coroutine%s: %s%s%s", (uintmax_t)f->members, one ? "" : "s", ctp_rule_name(f->rule), f->place ? " at " : "",
	             f->place ? f->place : "") < 0) {
		k->failed = true;
		return NULL;
	}
	return text;
}

static void fill_head(struct ctp_kept *k, struct ctp_finding *f, const struct ctp_record *rec)
{
	f->certainty = at_most(number_in(rec, "certainty"), ctp_rule_most(f->rule));
	f->spawn = text_in(k, rec, "spawned_at");
	f->place = text_in(k, rec, "place");
	f->members = number_in(rec, "members");
	f->waiting = number_in(rec, "waiting");
	f->from_ns = number_in(rec, "from_ns");
	f->to_ns = ctp_most(f->from_ns, number_in(rec, "to_ns"));
	f->dependents = number_in(rec, "dependents");
	f->open = number_in(rec, "open");
	f->ended = number_in(rec, "ended");
	f->longest_ns = number_in(rec, "longest_ns");
	f->p99_ns = number_in(rec, "p99_ns");
	f->title = text_in(k, rec, "title");
	f->title = f->title ? f->title : title_of(k, f);
}

static void take_head(struct ctp_kept *k, const struct ctp_record *rec)
{
	char *name = text_in(k, rec, "rule");
	enum ctp_rule rule;
	bool takes = find_rule(&rule, name) && k->n < KEPT_MAX;
	free(name);
	if (takes && !CTP_ARRAY_RESERVE(k->list, k->room, k->n + 1, KEPT_MAX)) {
		k->failed = true;
		return;
	}
	if (!takes)
		return;
	struct ctp_kept_item *item = &k->list[k->n++];
	*item = (struct ctp_kept_item){
		.number = number_in(rec, "number"), .is_excused = rule == CTP_RULE_NONE, .f.rule = rule,
	};
	fill_head(k, &item->f, rec);
}

/* The list of lines that a part belongs to, and how many these may be; null: none. */
static char **lines_of(struct ctp_finding *f, uint64_t part, uint32_t *most)
{
	bool has_rule = f->rule != CTP_RULE_NONE;
	*most = CTP_REPORT_LINES;
	if (part == CTP_FOUND_EVIDENCE && has_rule)
		return f->evidence;
	if (part == CTP_FOUND_NEXT && has_rule)
		return f->next;
	*most = 1;
	if (part == CTP_FOUND_EXCUSE)
		return &f->excuse;
	return part == CTP_FOUND_ALSO && !has_rule ? f->evidence : NULL;
}

static void take_line(struct ctp_kept *k, struct ctp_kept_item *item, const struct ctp_record *rec)
{
	uint64_t part = number_in(rec, "part");
	uint32_t most, i = 0;
	char **lines = lines_of(&item->f, part, &most);
	item->is_excused |= part == CTP_FOUND_EXCUSE;
	while (lines && i < most && lines[i])
		i++;
	if (lines && i < most)
		lines[i] = text_in(k, rec, "text");
}

static void take_member(struct ctp_kept *k, struct ctp_kept_item *item, const struct ctp_record *rec)
{
	struct ctp_finding *f = &item->f;
	bool waiter = number_in(rec, "waiter");
	struct ctp_report_member **list = waiter ? &f->waiters : &f->who;
	uint32_t *n = waiter ? &f->nwaiters : &f->nwho;
	if (*n == CTP_REPORT_MEMBERS)
		return;
	if (!*list && !(*list = calloc(CTP_REPORT_MEMBERS, sizeof **list))) {
		k->failed = true;
		return;
	}
	(*list)[(*n)++] = (struct ctp_report_member){
		.id = ctp_record_number(rec, ctp_class_role(rec->cls, CTP_ROLE_COROUTINE)),
		.probe = ctp_record_number(rec, ctp_class_role(rec->cls, CTP_ROLE_PROBE)),
		.tid = ctp_record_number(rec, ctp_class_role(rec->cls, CTP_ROLE_THREAD)),
		.pid = ctp_record_number(rec, ctp_class_role(rec->cls, CTP_ROLE_PROCESS)),
		.name = text_in(k, rec, "name"), .in = text_in(k, rec, "in"), .place = text_in(k, rec, "place"),
		.spawn = text_in(k, rec, "spawned_at"), .since_ns = number_in(rec, "since_ns"), .for_ns = number_in(rec, "for_ns"),
		.waker = number_in(rec, "waker"), .waits_for = number_in(rec, "waits_for"),
		.waits_for_name = text_in(k, rec, "waits_for_name"), .awaits = number_in(rec, "awaits"),
		.state = at_most(number_in(rec, "state"), CTP_DEAD),
		.certainty = at_most(number_in(rec, "certainty"), CTP_CERTAIN_PROVED),
	};
}

void ctp_kept_take(struct ctp_kept *k, const struct ctp_record *rec)
{
	bool member = ctp_class_role(rec->cls, CTP_ROLE_COROUTINE) >= 0;
	if (!member && ctp_class_field(rec->cls, "rule") >= 0) {
		take_head(k, rec);
		return;
	}
	struct ctp_kept_item *item = k->n ? &k->list[k->n - 1] : NULL; /* the others follow the head */
	if (item && item->number == number_in(rec, "number"))
		(member ? take_member : take_line)(k, item, rec);
}

/* --- giving --------------------------------------------------------------------------------------------------------------- */

/* What the present wait is for is in the records of the coroutine. */
static void find_members(struct ctp_judge *j, struct ctp_report_member *who, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct ctp_coroutine *co = ctp_judge_living(j, who[i].id);
		if (!co)
			continue;
		co->flags |= CTP_CO_FOUND;
		struct ctp_report_member now = ctp_judge_member(j, co, who[i].since_ns, who[i].for_ns);
		memcpy(who[i].reasons, now.reasons, sizeof now.reasons);
		who[i].nreasons = now.nreasons;
		ctp_report_member_fini(&now);
	}
}

static bool is_same(const struct ctp_finding *a, const struct ctp_finding *b)
{
	return a->rule == b->rule && a->nwho && b->nwho && a->who[0].id == b->who[0].id;
}

/* A finding of the part itself says less. */
static void drop_same(struct ctp_finding *list, uint32_t *n, const struct ctp_finding *f)
{
	for (uint32_t i = *n; i-- > 0;)
		if (f->rule != CTP_RULE_NONE && is_same(&list[i], f)) {
			ctp_finding_fini(&list[i]);
			memmove(&list[i], &list[i + 1], (--*n - i) * sizeof *f);
		}
}

/* Says in the last line where it is from. A wait that stands out has one such line. */
static void say_origin(struct ctp_kept *k, struct ctp_finding *f)
{
	uint32_t most = f->rule == CTP_RULE_NONE ? 1 : CTP_REPORT_LINES, i = 0;
	bool said = false;
	for (; i < most && f->evidence[i]; i++)
		said |= !strcmp(f->evidence[i], from_whole);
	if (i < most && !said)
		f->evidence[i] = ctp_report_copy(from_whole, &k->failed);
}

static void excuse(struct ctp_kept *k, struct ctp_kept_item *item)
{
	struct ctp_finding *f = &item->f;
	if (!item->is_excused)
		return;
	f->certainty = at_most(f->certainty, CTP_CERTAIN_POSSIBLE);
	if (!f->excuse)
		f->excuse = ctp_report_copy("of something that an anonymised trace does not say", &k->failed);
}

void ctp_kept_give(struct ctp_kept *k, struct ctp_judge *j, struct ctp_report *r, struct ctp_report_section *s)
{
	for (size_t i = 0; i < k->n; i++) {
		struct ctp_finding *f = &k->list[i].f;
		find_members(j, f->who, f->nwho);
		find_members(j, f->waiters, f->nwaiters);
		say_origin(k, f);
		excuse(k, &k->list[i]);
		if (k->failed)
			continue;
		drop_same(s->findings, &s->nfindings, f);
		drop_same(s->suspects, &s->nsuspects, f);
		ctp_findings_add(r, s, f);
	}
	j->failed |= k->failed;
	ctp_kept_clear(k);
}
