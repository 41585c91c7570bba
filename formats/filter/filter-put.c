/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * filter-put.c - writes records, and before each what it refers to and was held so far: sites, objects, other coroutines.
 *
 * They keep their times, and so may be late: readers deliver a late record at once, and so before the one that needs it.
 */
#include "filter/filter-own.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/capped.h"
#include "base/compare.h"
#include "stream/events.h"

bool ctp_filter_keep(struct ctp_filter *f, struct ctp_filter_list *l, const struct ctp_record *rec, uint8_t slot, bool again)
{
	if (f->held_bytes >= CTP_FILTER_HELD_BYTES && l != &f->end) {
		if (again)
			ctp_filter_drop(l, 1u << slot); /* else the former one would seem to be the last */
		f->stats->unheld++;
		return false;
	}
	if (ctp_filter_hold(l, rec, slot, again, ++f->number, &f->held_bytes))
		return true;
	f->failed = true;
	ctp_err_memory(&f->why);
	return false;
}

/* --- one record ----------------------------------------------------------------------------------------------------------- */

/* As it is, or with numbers in place of its texts. */
static void write_record(struct ctp_filter *f, const struct ctp_class *cls, const uint64_t *val)
{
	const struct ctp_record rec = {.cls = cls, .val = val};
	if (f->anon && cls->kind == CTP_KIND_FINDING && ctp_filter_anon_is_sentence(cls))
		return;
	bool stays = false;
	if (f->anon && cls->kind == CTP_KIND_ATTRIBUTE)
		val = ctp_filter_anon_attribute(f->anon, &rec, &stays, &f->why);
	else if (f->anon)
		val = cls->kind == CTP_KIND_FINDING ? ctp_filter_anon_finding(f->anon, &rec, &f->why) :
		                                      ctp_filter_anon_record(f->anon, &rec, &f->why);
	if (val)
		ctp_writer_record(f->writer, cls, val);
	else
		f->failed = true;
	if (stays)
		ctp_filter_note_attr(f->stats, ctp_record_str(&rec, ctp_class_field(cls, "name"), CTP_STRING)->data);
}

struct ctp_filter_origin *ctp_filter_origin_of(struct ctp_filter *f, const struct ctp_record *rec)
{
	const struct ctp_filter_class *cls = &f->classes[rec->cls->id];
	uint64_t number = f->merged ? ctp_roles_value(rec->val, cls->origin) : 0;
	if (f->last && f->last->entry.key[0] == number)
		return f->last;
	number = f->origins.count < CTP_FILTER_ORIGINS_MAX ? number : 0;
	struct ctp_filter_origin *o = (struct ctp_filter_origin *)ctp_filter_table_find(&f->origins, number, 0);
	if (!o && (o = calloc(1, sizeof *o))) {
		o->first_ns = UINT64_MAX;
		ctp_filter_table_add(&f->origins, &o->entry, number, 0);
	} else if (!o) {
		f->failed = true;
		ctp_err_memory(&f->why);
		return &f->nowhere;
	}
	return f->last = o;
}

bool ctp_filter_has_own(struct ctp_filter *f, const struct ctp_filter_numbers *numbers, const struct ctp_record *rec, uint64_t v)
{
	const struct ctp_filter_origin *o = f->merged && numbers->n && rec ? ctp_filter_origin_of(f, rec) : NULL;
	uint64_t origin = o ? o->entry.key[0] : 0;
	bool is_made = o && o->stride && v > origin && v % o->stride == origin % o->stride; /* else it was too large */
	return ctp_filter_has(numbers, is_made ? (v - origin) / o->stride : v);
}

static void count(struct ctp_filter *f, const struct ctp_filter_class *cls, const struct ctp_record *rec)
{
	unsigned kind = cls->roles.kind;
	struct ctp_filter_origin *o = ctp_filter_origin_of(f, rec);
	f->stats->kept++;
	o->events += kind == CTP_KIND_TRANSITION;
	o->births += kind == CTP_KIND_BIRTH;
	o->deaths += kind == CTP_KIND_DEATH;
	if (kind != CTP_KIND_LOSS || cls->roles.missed)
		return;
	ctp_add_capped(&o->lost, ctp_record_lost(rec));
	ctp_add_capped(&o->unverified, ctp_record_number(rec, ctp_class_role(rec->cls, CTP_ROLE_UNVERIFIED)));
}

/* --- sites ---------------------------------------------------------------------------------------------------------------- */

void ctp_filter_release_site(struct ctp_filter_entry *e)
{
	ctp_filter_drop_all(&((struct ctp_filter_site *)e)->held);
	free(e);
}

static bool is_same_text(const struct ctp_str *a, const struct ctp_str *b)
{
	return a->len == b->len && !memcmp(a->data, b->data, a->len);
}

/* Whether two records say the same, but for their times. */
static bool says_the_same(const struct ctp_record *a, const struct ctp_record *b)
{
	bool same = a->cls == b->cls;
	for (uint32_t i = 0; same && i < a->cls->nfields; i++)
		if (ctp_type_is_text(a->cls->fields[i].type))
			same = is_same_text(ctp_str_val(a->val[i]), ctp_str_val(b->val[i]));
		else
			same = a->val[i] == b->val[i] || (int)i == a->cls->time_field;
	return same;
}

static void write_site(struct ctp_filter *f, struct ctp_filter_site *site)
{
	site->written = true;
	f->stats->kept++;
	write_record(f, site->held.first->rec.cls, site->held.first->rec.val);
}

/* A number may get another meaning: records that are held may mean the former one. */
void ctp_filter_hold_site(struct ctp_filter *f, const struct ctp_record *rec)
{
	uint64_t number = ctp_record_number(rec, ctp_class_role(rec->cls, CTP_ROLE_SITE));
	struct ctp_filter_site *site = (struct ctp_filter_site *)ctp_filter_table_find(&f->sites, number, 0);
	if (!site && number && f->sites.count < CTP_FILTER_SITES_MAX) {
		if (!(site = calloc(1, sizeof *site))) {
			f->failed = true;
			ctp_err_memory(&f->why);
			return;
		}
		ctp_filter_table_add(&f->sites, &site->entry, number, 0);
	}
	if (!site) {
		ctp_filter_put(f, rec); /* it cannot be found again */
		return;
	}
	if (site->held.first && says_the_same(&site->held.first->rec, rec))
		return;
	if (site->held.first && !site->written)
		write_site(f, site);
	site->written = false;
	ctp_filter_keep(f, &site->held, rec, 0, true);
}

static void need_site(struct ctp_filter *f, uint64_t number)
{
	struct ctp_filter_site *site = number ? (struct ctp_filter_site *)ctp_filter_table_find(&f->sites, number, 0) : NULL;
	if (site && !site->written && site->held.first)
		write_site(f, site);
}

/* --- objects and descriptors ---------------------------------------------------------------------------------------------- */

void ctp_filter_release_object(struct ctp_filter_entry *e)
{
	ctp_filter_drop_all(&((struct ctp_filter_object *)e)->held);
	free(e);
}

static struct ctp_filter_object *object_at(struct ctp_filter *f, uint64_t pid, uint64_t at)
{
	struct ctp_filter_object *ob = (struct ctp_filter_object *)ctp_filter_table_find(&f->objects, pid, at);
	if (ob || f->objects.count >= CTP_FILTER_SITES_MAX)
		return ob;
	if (!(ob = calloc(1, sizeof *ob))) {
		f->failed = true;
		ctp_err_memory(&f->why);
		return NULL;
	}
	ctp_filter_table_add(&f->objects, &ob->entry, pid, at);
	return ob;
}

static void need_object(struct ctp_filter *f, uint64_t pid, uint64_t at)
{
	struct ctp_filter_object *ob = at ? object_at(f, pid, at) : NULL;
	if (!ob || ob->wanted)
		return;
	ob->wanted = true;
	for (struct ctp_filter_held *h = ob->held.first; h; h = h->next)
		ctp_filter_put(f, &h->rec);
	ctp_filter_drop_all(&ob->held);
}

static void forget_object(struct ctp_filter *f, struct ctp_filter_object *ob)
{
	ctp_filter_table_remove(&f->objects, &ob->entry);
	ctp_filter_release_object(&ob->entry);
}

static uint8_t slot_of(const struct ctp_roles *roles, const uint64_t *val, uint64_t marks)
{
	uint64_t what = ctp_roles_value(val, roles->what);
	if (roles->kind == CTP_KIND_LABEL)
		return CTP_FILTER_LABEL;
	if (marks & CTP_OBJECT_MADE)
		return CTP_FILTER_MADE;
	return marks & CTP_OBJECT_CLOSED ? CTP_FILTER_CLOSED : what == CTP_WAITS_ROOM ? CTP_FILTER_ROOM : CTP_FILTER_STOCK;
}

void ctp_filter_take_object(struct ctp_filter *f, const struct ctp_filter_class *cls, const struct ctp_record *rec)
{
	const struct ctp_roles *roles = &cls->roles;
	uint64_t marks = roles->kind == CTP_KIND_OBJECT ? ctp_roles_value(rec->val, roles->marks) : 0;
	uint64_t pid = ctp_roles_value(rec->val, roles->pid), at = ctp_roles_value(rec->val, roles->object);
	struct ctp_filter_object *ob = object_at(f, pid, at);
	if (!ob)
		return;
	if (marks & CTP_OBJECT_MADE) { /* another object was at the address before */
		ctp_filter_drop_all(&ob->held);
		ob->wanted = false;
	}
	if (ob->wanted && f->started)
		ctp_filter_put(f, rec);
	else
		ctp_filter_keep(f, &ob->held, rec, slot_of(roles, rec->val, marks), true);
	if (marks & CTP_OBJECT_GONE)
		forget_object(f, ob);
}

/* A descriptor has the key of an object at an address that no object has. */
static uint64_t key_of(uint64_t fd) { return ~(fd & UINT32_MAX); }

void ctp_filter_take_descriptor(struct ctp_filter *f, const struct ctp_filter_class *cls, const struct ctp_record *rec)
{
	const struct ctp_roles *roles = &cls->roles;
	const struct ctp_filter_entry *e = ctp_filter_table_find(&f->objects, ctp_roles_value(rec->val, roles->pid),
	                                                         key_of(ctp_roles_value(rec->val, roles->fd)));
	if (e && ((const struct ctp_filter_object *)e)->wanted && f->started)
		ctp_filter_put(f, rec);
}

/* --- what a record refers to ---------------------------------------------------------------------------------------------- */

static void need_others(struct ctp_filter *f, const struct ctp_filter_class *cls, const struct ctp_record *rec)
{
	const struct ctp_roles *roles = &cls->roles;
	uint64_t pid = ctp_roles_value(rec->val, roles->pid);
	switch (roles->kind) {
	case CTP_KIND_BIRTH:
		ctp_filter_show_other(f, ctp_roles_value(rec->val, roles->parent), rec->ts_ns);
		break;
	case CTP_KIND_WAKE:
		ctp_filter_show_other(f, ctp_roles_value(rec->val, roles->by), rec->ts_ns);
		break;
	case CTP_KIND_AWAIT:
		ctp_filter_show_other(f, ctp_roles_value(rec->val, roles->target), rec->ts_ns);
		break;
	case CTP_KIND_REASON:
		if (ctp_roles_value(rec->val, roles->what) == CTP_WAITS_DESCRIPTOR)
			need_object(f, pid, key_of(ctp_roles_value(rec->val, roles->fd)));
		else
			need_object(f, pid, ctp_roles_value(rec->val, roles->object));
		break;
	case CTP_KIND_HOLD:
	case CTP_KIND_CAUSE:
		need_object(f, pid, ctp_roles_value(rec->val, roles->object));
		break;
	default:
		break;
	}
}

void ctp_filter_put(struct ctp_filter *f, const struct ctp_record *rec)
{
	const struct ctp_filter_class *cls = &f->classes[rec->cls->id];
	for (uint32_t i = 0; i < cls->nsites && f->sites.count; i++)
		need_site(f, rec->val[cls->sites[i]]);
	if (cls->roles.kind != CTP_KIND_TRANSITION && !f->copies)
		need_others(f, cls, rec);
	count(f, cls, rec);
	write_record(f, rec->cls, rec->val);
}

/* The number of samples before it is wrong if some of them are left out. */
void ctp_filter_put_process(struct ctp_filter *f, const struct ctp_record *rec)
{
	uint64_t val[CTP_FIELDS_MAX];
	int threads = ctp_class_field(rec->cls, "threads");
	bool has_samples = ctp_record_number(rec, threads);
	if (!has_samples || (!f->samples_left && f->started)) {
		ctp_filter_put(f, rec);
	} else if (f->started) {
		memcpy(val, rec->val, rec->cls->nfields * sizeof *val);
		val[threads] = 0;
		ctp_filter_put(f, &(struct ctp_record){.cls = rec->cls, .val = val, .ts_ns = rec->ts_ns});
	}
	f->samples_left = false;
}

/* How an origin ended is known, even if that was after until_ns. */
void ctp_filter_put_origin(struct ctp_filter *f, const struct ctp_record *rec)
{
	uint64_t val[CTP_FIELDS_MAX];
	memcpy(val, rec->val, rec->cls->nfields * sizeof *val);
	if (rec->cls->time_field >= 0)
		val[rec->cls->time_field] = f->until_ns;
	ctp_filter_put(f, &(struct ctp_record){.cls = rec->cls, .val = val, .ts_ns = f->until_ns});
}

void ctp_filter_put_left_out(struct ctp_filter *f, struct ctp_filter_coro *co, uint64_t ts_ns, uint64_t after_ns)
{
	uint64_t val[CTP_LEFT_OUT_FIELDS];
	val[CTP_LEFT_OUT_TS] = ts_ns;
	val[CTP_LEFT_OUT_CORO] = co->entry.key[0];
	val[CTP_LEFT_OUT_AFTER] = after_ns;
	ctp_writer_record(f->writer, f->left_out, val);
}

/* --- attributes ----------------------------------------------------------------------------------------------------------- */

void ctp_filter_add_times(struct ctp_filter *f)
{
	uint64_t since_ns = ctp_most(f->left_ns, f->asked_ns ? f->since_ns : 0);
	if (f->first_ns != UINT64_MAX && !ctp_section_get(&f->to, "first_event_ns"))
		ctp_section_addf(&f->to, "first_event_ns", "%" PRIu64, f->first_ns);
	if (since_ns)
		ctp_section_addf(&f->to, "filtered_since_ns", "%" PRIu64, since_ns);
}

/* --- the end -------------------------------------------------------------------------------------------------------------- */

static void set(const struct ctp_class *cls, uint64_t *val, const char *name, uint64_t v)
{
	int at = ctp_class_field(cls, name);
	if (at >= 0 && cls->fields[at].type <= CTP_U64)
		val[at] = v;
}

static uint64_t get(const struct ctp_class *cls, const uint64_t *val, const char *name)
{
	int at = ctp_class_field(cls, name);
	return at >= 0 && cls->fields[at].type <= CTP_U64 ? val[at] : 0;
}

/* The label of the outcome of a program that goes on. False: the class has none. */
static bool set_running(const struct ctp_class *cls, uint64_t *val)
{
	int at = ctp_class_field(cls, "outcome"), status = ctp_class_field(cls, "status");
	const struct ctp_field *field = at >= 0 && cls->fields[at].type == CTP_ENUM ? &cls->fields[at] : NULL;
	for (uint32_t i = 0; field && i < field->nlabels; i++)
		if (!strcmp(field->labels[i].name, ctp_outcome_name(CTP_OUTCOME_RUNNING))) {
			val[at] = field->labels[i].value;
			if (status >= 0 && !ctp_type_is_text(cls->fields[status].type))
				val[status] = 0;
			return true;
		}
	return false;
}

/* The section ends at until_ns, when the program may still have been running. False: the record cannot say that. */
static bool end_early(const struct ctp_filter *f, const struct ctp_class *cls, uint64_t *val)
{
	uint64_t after = get(cls, val, "after"), last = after ? after : cls->time_field >= 0 ? val[cls->time_field] : 0;
	if (last <= f->until_ns && (cls->time_field < 0 || val[cls->time_field] <= f->until_ns))
		return true;
	if (last > f->until_ns && !set_running(cls, val))
		return false;
	set(cls, val, "after", ctp_least(last, f->until_ns));
	set(cls, val, "before", ctp_least(get(cls, val, "before"), f->until_ns));
	if (cls->time_field >= 0)
		val[cls->time_field] = ctp_least(val[cls->time_field], f->until_ns);
	return true;
}

void ctp_filter_put_end(struct ctp_filter *f)
{
	struct ctp_filter_held *h = f->end.first;
	if (!h)
		return;
	if (!f->copies) {
		const struct ctp_filter_origin *o = ctp_filter_origin_of(f, &h->rec);
		ctp_filter_tell_left(f);
		set(h->rec.cls, h->val, "events", o->events);
		set(h->rec.cls, h->val, "lost", o->lost);
		set(h->rec.cls, h->val, "unverified", o->unverified);
		set(h->rec.cls, h->val, "births", o->births);
		set(h->rec.cls, h->val, "deaths", o->deaths);
	}
	if (f->copies || end_early(f, h->rec.cls, h->val)) {
		f->stats->kept++;
		write_record(f, h->rec.cls, h->rec.val);
	} else {
		f->ended = false;
	}
	ctp_filter_drop_all(&f->end);
}
