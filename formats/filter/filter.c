/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* filter.c - the sink: sections, and what becomes of each record. */
#include "filter/filter-own.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "report/report-args.h"
#include "stream/events.h"
#include "stream/str-new.h"

enum { MARK_RECORDS = 1024 }; /* what a reader holds back fits its cache then */

/* --- sections ------------------------------------------------------------------------------------------------------------- */

/* The options of all filters that the section went through: "--coro 5 | --since 2s". Null: none; for free(). */
static char *said_so_far(const char *before, const char *said)
{
	char *text = NULL;
	bool both = before && said && *said;
	if (!before && !(said && *said))
		return NULL;
	return asprintf(&text, "%s%s%s", before ? before : "", both ? " | " : "", said ? said : "") < 0 ? NULL : text;
}

void ctp_filter_note_attr(struct ctp_filter_stats *stats, const char *name)
{
	size_t len = strlen(stats->attrs), room = sizeof stats->attrs - len;
	for (const char *at = stats->attrs; (at = strstr(at, name)); at++)
		if ((at == stats->attrs || at[-1] == ' ') && (!at[strlen(name)] || at[strlen(name)] == ','))
			return;
	if (strlen(name) + 3 < room)
		snprintf(stats->attrs + len, room, "%s%s", len ? ", " : "", name);
}

/* The value as it will be; null: f->why says why not. */
static const char *value_of(struct ctp_filter *f, const struct ctp_attr *attr)
{
	bool stays = false;
	const char *value = f->anon ? ctp_filter_anon_attr(f->anon, attr, &stays, &f->why) : attr->value;
	if (stays)
		ctp_filter_note_attr(f->stats, attr->name);
	return value;
}

static bool add_attrs(struct ctp_filter *f, struct ctp_section *to, const struct ctp_section *sec)
{
	for (uint32_t i = 0; i < sec->nattrs; i++) {
		bool ours = !strcmp(sec->attrs[i].name, "filtered") || !strcmp(sec->attrs[i].name, "filtered_since_ns");
		const char *name = sec->attrs[i].name, *value = ours ? "" : value_of(f, &sec->attrs[i]);
		if (f->anon)
			name = ctp_filter_anon_attr_name(f->anon, name, &f->why);
		if (!value || !name)
			return false;
		if (!ours)
			ctp_section_add(to, name, value); /* what is left of a long command may have no room */
	}
	return true;
}

static bool make_section(struct ctp_filter *f, const struct ctp_section *sec)
{
	struct ctp_section *to = &f->to;
	const char *before = ctp_section_get(sec, "filtered");
	if (before && f->anon && !(before = value_of(f, &(struct ctp_attr){(char *)(uintptr_t)"filtered", (char *)(uintptr_t)before})))
		return false;
	bool whole = f->whole && !f->options->finding;
	char *said = said_so_far(before, whole ? NULL : f->options->said);
	ctp_section_fini(to);
	ctp_section_init(to);
	bool ok = !said || ctp_section_add(to, "filtered", said);
	if (!ok)
		ctp_err_set(&f->why, "the options of all filters that the section went through are too long for its attribute");
	if (f->anon)
		ctp_section_add(to, "anonymised", "yes");
	if (f->filters_events)
		ctp_section_add(to, "filtered_events", "yes");
	ok = ok && add_attrs(f, to, sec);
	free(said);
	return ok;
}

static void take(struct ctp_filter *f, const struct ctp_record *rec);

/* The first event is known, or there is none. What came before it follows. */
static void begin_section(struct ctp_filter *f)
{
	if (f->begun)
		return;
	f->begun = true;
	ctp_filter_add_times(f);
	ctp_writer_begin(f->writer, &f->to);
	const char *stride = ctp_section_get(&f->to, "stride");
	f->kept.stride = stride ? strtoull(stride, NULL, 10) : 0;
	if (f->options->finding)
		ctp_kept_write(&f->kept, f->first_ns != UINT64_MAX ? f->first_ns : 0, f->options->finding);
	for (struct ctp_filter_held *h = f->preamble.first; h; h = h->next)
		take(f, &h->rec);
	ctp_filter_drop_all(&f->preamble);
	f->npreamble = 0;
}

static void release_origin(struct ctp_filter_entry *e) { free(e); }

static void forget_section(struct ctp_filter *f)
{
	ctp_filter_drop_all(&f->preamble);
	ctp_filter_drop_all(&f->end); /* before the classes of the section are gone */
	ctp_filter_drop_all(&f->jump);
	ctp_filter_table_clear(&f->coros, ctp_filter_release_coro);
	ctp_filter_table_clear(&f->sites, ctp_filter_release_site);
	ctp_filter_table_clear(&f->objects, ctp_filter_release_object);
	ctp_filter_table_clear(&f->origins, release_origin);
	f->last = NULL;
	memset(f->classes, 0, sizeof f->classes);
}

static uint64_t later_by(uint64_t ts_ns, uint64_t ns) { return ns > UINT64_MAX - ts_ns ? UINT64_MAX : ts_ns + ns; }

/* Times are asked for from the first event on, as in a report. */
static void note_first(struct ctp_filter *f, uint64_t ts_ns)
{
	const struct ctp_filter_options *o = f->options;
	f->first_ns = ts_ns;
	f->since_ns = o->absolute ? f->asked_ns : later_by(ts_ns, f->asked_ns);
	f->until_ns = !o->until_ns ? UINT64_MAX : o->absolute ? o->until_ns : later_by(ts_ns, o->until_ns);
}

static enum ctp_status section(struct ctp_sink *sink, const struct ctp_section *sec, struct ctp_err *err)
{
	struct ctp_filter *f = (struct ctp_filter *)sink;
	const struct ctp_filter_options *o = f->options;
	const char *pid = ctp_section_get(sec, "pid");
	forget_section(f);
	f->stats->sections++;
	f->skipped = o->section && o->section != f->stats->sections;
	if (f->skipped)
		return CTP_OK;
	if (o->origin && !ctp_section_get(sec, "merged"))
		return ctp_err_as(err, CTP_ERR_REFUSED, "--origin %" PRIu64 ": section %" PRIu64 " was not merged, and has no origins",
		                  o->origin,
		                  f->stats->sections);
	if (o->absolute && sec->ordinal)
		return ctp_err_as(err, CTP_ERR_REFUSED, "the section has no clock, and its records have numbers: leave out %s",
		                  o->starts.n ? "--last" : "--around");
	f->asked_ns = f->stats->sections <= o->starts.n ? o->starts.list[f->stats->sections - 1] : o->since_ns;
	if (ctp_report_window(&(struct ctp_report){.since_ns = f->asked_ns, .until_ns = o->until_ns}, sec, err))
		return CTP_FAILED;
	if (f->places)
		ctp_filter_places_forget(f->places);
	f->started = !f->asked_ns;
	f->ended = f->samples_left = false;
	f->first_ns = f->until_ns = UINT64_MAX;
	f->since_ns = f->now_ns = f->mark_ns = f->unmarked = 0;
	f->pid = pid ? strtoull(pid, NULL, 10) : 0;
	f->kept_before = f->stats->kept;
	f->merged = ctp_section_get(sec, "merged");
	f->npreamble = 0;
	f->begun = false;
	const char *first = ctp_section_get(sec, "first_event_ns"), *since = ctp_section_get(sec, "filtered_since_ns");
	f->left_ns = since ? strtoull(since, NULL, 10) : 0;
	if (first && !f->copies)
		note_first(f, strtoull(first, NULL, 10));
	if (!make_section(f, sec)) {
		*err = f->why;
		return CTP_FAILED;
	}
	if (f->copies || first)
		begin_section(f);
	return CTP_OK;
}

/* --- records -------------------------------------------------------------------------------------------------------------- */

static void note_class(struct ctp_filter *f, const struct ctp_class *cls)
{
	struct ctp_filter_stats *stats = f->stats;
	size_t len = strlen(stats->classes), room = sizeof stats->classes - len;
	if (f->anon && cls->kind == CTP_KIND_OTHER && strlen(cls->name) + 3 < room)
		snprintf(stats->classes + len, room, "%s%s", len ? ", " : "", cls->name);
}

static void learn(struct ctp_filter *f, struct ctp_filter_class *c, const struct ctp_class *cls)
{
	const struct ctp_filter_patterns *classes = &f->options->classes;
	*c = (struct ctp_filter_class){.wanted = !classes->n || ctp_filter_matches(classes, cls->name, true)};
	f->stats->of_class |= classes->n && c->wanted;
	ctp_roles_learn(&c->roles, cls);
	note_class(f, cls);
	int origin = ctp_class_role(cls, CTP_ROLE_ORIGIN);
	c->origin = origin >= 0 && cls->fields[origin].type <= CTP_U64 ? (int16_t)origin : CTP_ROLES_NONE;
	for (uint32_t i = 0; i < cls->nfields && c->nsites < CTP_FILTER_SITE_FIELDS && cls->kind != CTP_KIND_SITE; i++)
		if (cls->fields[i].role == CTP_ROLE_SITE && cls->fields[i].type <= CTP_U64)
			c->sites[c->nsites++] = (uint8_t)i;
}

static struct ctp_filter_class *class_of(struct ctp_filter *f, const struct ctp_record *rec)
{
	struct ctp_filter_class *c = &f->classes[rec->cls->id];
	if (!c->roles.known)
		learn(f, c, rec->cls);
	return c;
}

/* A record of a section that was not merged has no origin. */
static bool is_of_other_origin(struct ctp_filter *f, const struct ctp_record *rec)
{
	uint64_t origin = f->options->origin;
	const struct ctp_filter_class *c = origin ? class_of(f, rec) : NULL;
	f->stats->of_origin += origin && c->origin != CTP_ROLES_NONE && rec->val[c->origin] == origin;
	return origin && c->origin != CTP_ROLES_NONE && rec->val[c->origin] != origin;
}

/* One of an earlier filter stays, unless this one has cut out another finding. */
static void take_finding(struct ctp_filter *f, const struct ctp_record *rec)
{
	if (!f->options->finding)
		ctp_filter_put(f, rec);
}

static bool is_event(unsigned kind)
{
	return kind == CTP_KIND_TRANSITION || kind == CTP_KIND_WAKE || kind == CTP_KIND_BIRTH || kind == CTP_KIND_DEATH;
}

/* A loss may begin before until_ns and be recorded after it. */
static bool is_after(const struct ctp_filter *f, const struct ctp_filter_class *c, const struct ctp_record *rec)
{
	uint64_t ts_ns = rec->ts_ns, after_ns = ctp_roles_value(rec->val, c->roles.after);
	if (c->roles.kind == CTP_KIND_LOSS && c->roles.after != CTP_ROLES_NONE)
		ts_ns = ctp_least(ts_ns, after_ns);
	return ts_ns > f->until_ns;
}

/* Times of an origin count from its first event, as in a report; nobody else can say when that was. */
static void note_first_of_origin(struct ctp_filter *f, const struct ctp_record *rec)
{
	char number[24];
	uint64_t val[CTP_ATTRIBUTE_FIELDS] = {[CTP_ATTRIBUTE_TS] = rec->ts_ns};
	struct ctp_filter_origin *o = ctp_filter_origin_of(f, rec);
	if (o->first_ns != UINT64_MAX || !o->entry.key[0])
		return;
	if (rec->cls->kind == CTP_KIND_ATTRIBUTE) { /* of an earlier filter, which knew it better */
		const struct ctp_str *attr = ctp_record_str(rec, ctp_class_field(rec->cls, "name"), CTP_STRING);
		o->first_ns = attr && !strcmp(attr->data, "first_event_ns") ? rec->ts_ns : UINT64_MAX;
		return;
	}
	o->first_ns = rec->ts_ns;
	snprintf(number, sizeof number, "%" PRIu64, rec->ts_ns);
	struct ctp_str *name = ctp_str_new("first_event_ns"), *value = ctp_str_new(number);
	val[CTP_ATTRIBUTE_ORIGIN] = o->entry.key[0];
	val[CTP_ATTRIBUTE_NAME] = ctp_val_str(name);
	val[CTP_ATTRIBUTE_VALUE] = ctp_val_str(value);
	ctp_writer_record(f->writer, f->attribute, val);
	free(name);
	free(value);
}

/* Records of these kinds tell of the program, and other records need them. */
static bool is_context(unsigned kind)
{
	static const bool context[CTP_KIND_COUNT] = {
		[CTP_KIND_THREAD] = true, [CTP_KIND_MAPPING] = true, [CTP_KIND_PROCESS] = true, [CTP_KIND_SIGNAL] = true,
		[CTP_KIND_UNTRACED] = true, [CTP_KIND_LOSS] = true, [CTP_KIND_OBJECT] = true, [CTP_KIND_LABEL] = true,
		[CTP_KIND_DESCRIPTOR] = true,
		[CTP_KIND_CLOCK] = true, [CTP_KIND_ORIGIN] = true, [CTP_KIND_ATTRIBUTE] = true,
	};
	return kind < CTP_KIND_COUNT && context[kind];
}

/* A record that belongs to no coroutine. */
static void take_plain(struct ctp_filter *f, const struct ctp_filter_class *c, const struct ctp_record *rec)
{
	const struct ctp_filter_options *o = f->options;
	const struct ctp_roles *roles = &c->roles;
	uint64_t pid = ctp_roles_value(rec->val, roles->pid);
	bool other = !is_context(roles->kind);
	bool out = pid && o->processes.n && !ctp_filter_has_own(f, &o->processes, rec, pid);
	if (roles->kind != CTP_KIND_LOSS && roles->tid != CTP_ROLES_NONE)
		out |= !ctp_filter_on_thread(f, roles, rec);
	out |= other && (!c->wanted || !f->started);
	if (ctp_filter_is_before(f, c, rec)) {
		out = true;
		struct ctp_filter_origin *from = ctp_filter_origin_of(f, rec);
		from->unsure_ns = roles->missed ? from->unsure_ns : ctp_most(from->unsure_ns, rec->ts_ns);
	}
	out |= f->picks && other && roles->kind != CTP_KIND_SAMPLE;
	if (roles->kind == CTP_KIND_SAMPLE)
		f->samples_left |= out;
	if (out)
		return;
	if (roles->kind == CTP_KIND_PROCESS)
		ctp_filter_put_process(f, rec);
	else
		ctp_filter_put(f, rec);
}

/* Objects that no record refers to are left out with the records that would. */
static bool is_object(const struct ctp_filter *f, unsigned kind)
{
	bool narrows = f->picks || f->lazy || f->asked_ns;
	return narrows && (kind == CTP_KIND_OBJECT || kind == CTP_KIND_LABEL || kind == CTP_KIND_DESCRIPTOR);
}

static void take_object(struct ctp_filter *f, const struct ctp_filter_class *c, const struct ctp_record *rec)
{
	uint64_t pid = ctp_roles_value(rec->val, c->roles.pid);
	if (pid && !ctp_filter_has_own(f, &f->options->processes, rec, pid))
		return;
	if (c->roles.kind == CTP_KIND_DESCRIPTOR)
		ctp_filter_take_descriptor(f, c, rec);
	else
		ctp_filter_take_object(f, c, rec);
}

/* Whether a record waits for the first event of the section. */
static bool waits(struct ctp_filter *f, const struct ctp_record *rec)
{
	if (f->begun)
		return false;
	if (!is_event(rec->cls->kind) && rec->cls->kind != CTP_KIND_END && f->npreamble < CTP_FILTER_PREAMBLE) {
		f->npreamble++;
		ctp_filter_keep(f, &f->preamble, rec, 0, false);
		return true;
	}
	if (is_event(rec->cls->kind))
		note_first(f, rec->ts_ns);
	begin_section(f);
	return false;
}

static void take(struct ctp_filter *f, const struct ctp_record *rec)
{
	if (is_of_other_origin(f, rec) || waits(f, rec))
		return;
	struct ctp_filter_class *c = class_of(f, rec);
	unsigned kind = c->roles.kind;
	if (kind != CTP_KIND_LOSS)
		ctp_filter_release_jump(f);
	if (f->places)
		ctp_filter_places_learn(f->places, rec);
	if (f->first_ns == UINT64_MAX && is_event(kind))
		note_first(f, rec->ts_ns);
	if (f->merged && kind == CTP_KIND_ORIGIN)
		ctp_filter_origin_of(f, rec)->stride = ctp_record_number(rec, ctp_class_field(rec->cls, "stride"));
	if (f->merged && (is_event(kind) || kind == CTP_KIND_ATTRIBUTE))
		note_first_of_origin(f, rec);
	if (kind == CTP_KIND_END) {
		ctp_filter_put_end(f);
		f->ended = true;
		ctp_filter_keep(f, &f->end, rec, 0, true);
	}
	if (!f->started && f->first_ns != UINT64_MAX && rec->ts_ns >= f->since_ns)
		ctp_filter_start(f);
	uint64_t id = ctp_roles_value(rec->val, c->roles.id);
	if (kind == CTP_KIND_ORIGIN && is_after(f, c, rec))
		ctp_filter_put_origin(f, rec);
	if (kind == CTP_KIND_END || is_after(f, c, rec))
		return;
	if (f->end.first)
		ctp_filter_put_end(f);
	if (kind == CTP_KIND_SITE)
		ctp_filter_hold_site(f, rec);
	else if (kind == CTP_KIND_FINDING)
		take_finding(f, rec);
	else if (id)
		ctp_filter_take_coro(f, c, rec, id);
	else if (is_object(f, kind))
		take_object(f, c, rec);
	else
		take_plain(f, c, rec);
}

static void copy_run(struct ctp_filter *f, const struct ctp_batch *batch, uint32_t from, uint32_t upto)
{
	if (from == upto)
		return;
	ctp_filter_put_end(f);
	f->stats->kept += upto - from;
	ctp_writer_records(f->writer, &(struct ctp_batch){.rec = batch->rec + from, .n = upto - from});
}

static void copy_one(struct ctp_filter *f, const struct ctp_record *rec)
{
	class_of(f, rec);
	ctp_filter_put_end(f);
	if (rec->cls->kind != CTP_KIND_END) {
		ctp_filter_put(f, rec);
		return;
	}
	f->ended = true;
	ctp_filter_keep(f, &f->end, rec, 0, true);
}

/* Nothing is left out. The end record is held, so that a packet that is missing can be shown before it. */
static void copy(struct ctp_filter *f, const struct ctp_batch *batch)
{
	uint32_t from = 0;
	for (uint32_t i = 0; i < batch->n; i++) {
		if (!f->anon && batch->rec[i].cls->kind != CTP_KIND_END)
			continue;
		copy_run(f, batch, from, i);
		copy_one(f, &batch->rec[i]);
		from = i + 1;
	}
	copy_run(f, batch, from, batch->n);
}

/* Time goes on, also if nothing is written. */
static void mark(struct ctp_filter *f, uint64_t ts_ns)
{
	if (!f->begun || !f->started || ts_ns <= f->mark_ns)
		return;
	if (f->end.first && f->end.first->rec.ts_ns < ts_ns)
		ctp_filter_put_end(f);
	if (f->jump.first && f->jump.first->rec.ts_ns < ts_ns)
		ctp_filter_release_jump(f);
	ctp_writer_mark(f->writer, f->mark_ns = ts_ns);
	f->unmarked = 0;
}

/* Late records stay late, and so where they are: only late ones have times before theirs from here on. */
static void mark_late(struct ctp_filter *f, const struct ctp_batch *batch)
{
	uint64_t latest_ns = f->now_ns;
	for (uint32_t i = 0; i < batch->n; i++)
		latest_ns = ctp_most(latest_ns, batch->rec[i].ts_ns);
	mark(f, ctp_least(later_by(latest_ns, 1), f->until_ns));
}

static enum ctp_status outcome(struct ctp_filter *f, struct ctp_err *err)
{
	if (f->failed)
		*err = f->why;
	else if (f->out->failed)
		*err = f->out->err;
	else if (ctp_writer_failed(f->writer))
		ctp_err_memory(err);
	else
		return CTP_OK;
	return CTP_FAILED;
}

static enum ctp_status records(struct ctp_sink *sink, const struct ctp_batch *batch, struct ctp_err *err)
{
	struct ctp_filter *f = (struct ctp_filter *)sink;
	if (f->skipped)
		return CTP_OK;
	uint32_t at = 0;
	f->stats->taken += batch->n;
	while (f->jump.first && at < batch->n && batch->rec[at].cls->kind == CTP_KIND_LOSS) /* of that jump: no mark in between */
		take(f, &batch->rec[at++]);
	if (batch->late)
		mark_late(f, batch);
	for (uint32_t n; at < batch->n; at += n) {
		n = batch->n - at < MARK_RECORDS ? batch->n - at : MARK_RECORDS;
		const struct ctp_batch some = {.rec = batch->rec + at, .n = n};
		if (!batch->late)
			f->now_ns = some.rec[n - 1].ts_ns;
		if (f->copies)
			copy(f, &some);
		for (uint32_t i = 0; i < n && !f->copies; i++)
			take(f, &some.rec[i]);
		f->unmarked += n;
		if (!batch->late && f->unmarked >= MARK_RECORDS)
			mark(f, ctp_least(f->now_ns, f->until_ns));
	}
	return outcome(f, err);
}

static enum ctp_status flush(struct ctp_sink *sink, struct ctp_err *err)
{
	struct ctp_filter *f = (struct ctp_filter *)sink;
	if (f->skipped || !f->begun)
		return CTP_OK;
	mark(f, ctp_least(ctp_most(f->now_ns, sink->mark_ns), f->until_ns));
	ctp_writer_flush(f->writer);
	return outcome(f, err);
}

static enum ctp_status end(struct ctp_sink *sink, const struct ctp_section_end *how, struct ctp_err *err)
{
	struct ctp_filter *f = (struct ctp_filter *)sink;
	if (f->skipped)
		return CTP_OK;
	begin_section(f);
	ctp_filter_release_jump(f);
	if (!f->copies)
		ctp_filter_tell_left(f);
	if (how->missing)
		ctp_writer_skip(f->writer);
	bool closed = how->complete || (how->missing && f->ended);
	ctp_filter_put_end(f);
	f->skipped = true; /* until another section begins */
	forget_section(f);
	if (!closed && f->stats->kept == f->kept_before)
		ctp_writer_mark(f->writer, f->now_ns); /* without a packet there would be no section */
	ctp_writer_end(f->writer, closed);
	return outcome(f, err);
}

static enum ctp_status finish(struct ctp_sink *sink, struct ctp_err *err)
{
	struct ctp_filter *f = (struct ctp_filter *)sink;
	struct ctp_output *out = f->out;
	if (f->options->section > f->stats->sections)
		return ctp_err_set(err, "the trace has only %ju sections", (uintmax_t)f->stats->sections);
	f->out = NULL;
	return ctp_output_close(out, err);
}

static void release(struct ctp_sink *sink)
{
	struct ctp_filter *f = (struct ctp_filter *)sink;
	if (f->out)
		ctp_output_abandon(f->out);
	ctp_filter_drop_all(&f->end);
	ctp_filter_drop_all(&f->jump);
	ctp_filter_drop_all(&f->preamble);
	ctp_section_fini(&f->to);
	if (f->coros.buckets)
		ctp_filter_table_fini(&f->coros, ctp_filter_release_coro);
	if (f->sites.buckets)
		ctp_filter_table_fini(&f->sites, ctp_filter_release_site);
	if (f->origins.buckets)
		ctp_filter_table_fini(&f->origins, release_origin);
	if (f->objects.buckets)
		ctp_filter_table_fini(&f->objects, ctp_filter_release_object);
	ctp_filter_places_free(f->places);
	if (f->anon != f->options->anon)
		ctp_filter_anon_free(f->anon);
	ctp_writer_free(f->writer);
	ctp_class_free(f->left_out);
	ctp_class_free(f->attribute);
	ctp_kept_writer_fini(&f->kept);
	free(f);
}

static bool make_parts(struct ctp_filter *f, struct ctp_err *err)
{
	const struct ctp_filter_options *o = f->options;
	bool tables = ctp_filter_table_init(&f->coros);
	tables &= ctp_filter_table_init(&f->sites);
	tables &= ctp_filter_table_init(&f->objects);
	tables &= ctp_filter_table_init(&f->origins);
	f->left_out = ctp_event_class(CTP_LEFT_OUT);
	f->attribute = ctp_event_class(CTP_ORIGIN_ATTRIBUTE);
	if (!tables || !f->left_out || !f->attribute) {
		ctp_err_memory(err);
		return false;
	}
	if ((o->spawns.n || o->places.n) && !(f->places = ctp_filter_places_new(o, err)))
		return false;
	f->anon = o->anon;
	if (o->anonymise && !f->anon && !(f->anon = ctp_filter_anon_new(err)))
		return false;
	f->writer = ctp_writer_to(f->out, err);
	if (f->writer && !ctp_kept_writer_init(&f->kept, f->writer, o->origin)) {
		ctp_err_memory(err);
		return false;
	}
	return f->writer;
}

struct ctp_sink *ctp_filter_sink(struct ctp_output *out, const struct ctp_filter_options *options, struct ctp_filter_stats *stats,
                                 struct ctp_err *err)
{
	static const struct ctp_sink_ops ops = {.section = section, .records = records, .flush = flush, .end = end, .finish = finish,
	                                        .free = release};
	const struct ctp_filter_options *o = options;
	struct ctp_filter *f = ctp_err_calloc(err, sizeof *f);
	if (!f) {
		ctp_output_abandon(out);
		return NULL;
	}
	f->sink.ops = &ops;
	f->options = o;
	f->stats = stats;
	f->out = out;
	f->picks = o->coros.n || o->processes.n || o->spawns.n || o->names.n || o->descendants;
	f->lazy = o->threads.n || o->classes.n || o->places.n || o->states;
	f->filters_events = o->coros.n || o->spawns.n || o->names.n || o->descendants || f->lazy;
	f->whole = !f->picks && !f->lazy && !o->since_ns && !o->starts.n && !o->until_ns;
	f->copies = f->whole && !o->origin;
	f->skipped = true;
	if (make_parts(f, err))
		return &f->sink;
	release(&f->sink);
	return NULL;
}
