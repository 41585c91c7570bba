/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* split.c - keeps the records of each origin in a spool, until the merged section ends. */
#include "common/split.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "common/spool.h"
#include "stream/events.h"

struct part {
	uint64_t number, pid, start_ns, error_ns, missing_ns, state, stride; /* stride: of its numbers; 0: not known */
	bool error_known, by_wall;
	char *name;
	struct ctp_section attrs; /* as the input had them */
	struct ctp_spool *spool;  /* null: there is no record yet */
};

enum { OWN_FIELDS = 8, CHUNK = 64 };

/* Fields, by the class of the records. */
struct known {
	bool known;
	int origin; /* -1: none */
	uint32_t nown;
	uint8_t own[OWN_FIELDS]; /* numbers of threads and processes */
};

struct split {
	struct ctp_sink sink;  /* first */
	struct ctp_sink *to;
	uint64_t *left_out;    /* origins */
	bool splits;
	struct ctp_section whole; /* the clock of the merged section */
	uint64_t stride;          /* of its numbers; 0: not known */
	uint64_t first_ns;        /* its first time; 0: none yet */
	struct part *parts;
	size_t n, room;
	struct part *last;     /* of the record before */
	struct known known[CTP_CLASSES_MAX];
	struct ctp_section_end end; /* of the merged section */
	uint64_t sections;    /* that were merged, so far */
	uint64_t val[CHUNK][CTP_FIELDS_MAX]; /* of records with numbers of their own */
	struct ctp_record rec[CHUNK];
	struct part *replayed;
	struct ctp_section section; /* of that */
};

/* --- parts ---------------------------------------------------------------------------------------------------------------- */

static void forget(struct split *s)
{
	for (size_t i = 0; i < s->n; i++) {
		ctp_spool_free(s->parts[i].spool);
		ctp_section_fini(&s->parts[i].attrs);
		free(s->parts[i].name);
	}
	s->n = 0;
	s->last = NULL;
	s->first_ns = 0;
	memset(s->known, 0, sizeof s->known);
	ctp_section_fini(&s->whole);
}

/* The part with a number, made if it is new. Null: there are too many, or no memory. */
static struct part *part_of(struct split *s, uint64_t number)
{
	if (s->last && s->last->number == number)
		return s->last;
	for (size_t i = 0; i < s->n; i++)
		if (s->parts[i].number == number)
			return s->last = &s->parts[i];
	if (!number || !CTP_ARRAY_RESERVE(s->parts, s->room, s->n + 1, CTP_SPLIT_ORIGINS))
		return NULL;
	struct part *p = &s->parts[s->n++];
	*p = (struct part){.number = number};
	ctp_section_init(&p->attrs);
	return s->last = p;
}

static uint64_t named(const struct ctp_record *rec, const char *name)
{
	int i = ctp_class_field(rec->cls, name);
	return i < 0 || ctp_type_is_text(rec->cls->fields[i].type) ? 0 : rec->val[i];
}

static const struct ctp_str *name_of(const struct ctp_record *rec)
{
	return ctp_record_str(rec, ctp_class_role(rec->cls, CTP_ROLE_NAME), CTP_STRING);
}

static void learn(struct part *p, const struct ctp_record *rec)
{
	const struct ctp_str *name = name_of(rec);
	if (rec->cls->kind == CTP_KIND_ATTRIBUTE) {
		const struct ctp_str *value = ctp_record_str(rec, ctp_class_field(rec->cls, "value"), CTP_STRING);
		if (name && value)
			ctp_section_add(&p->attrs, name->data, value->data);
		return;
	}
	int pid = ctp_class_role(rec->cls, CTP_ROLE_PROCESS);
	p->pid = ctp_record_number(rec, pid) ? ctp_record_number(rec, pid) : p->pid;
	p->start_ns = named(rec, "start") ? named(rec, "start") : p->start_ns;
	p->state = named(rec, "state");
	p->missing_ns = named(rec, "missing_before");
	p->stride = named(rec, "stride");
	p->by_wall = named(rec, "by_wall");
	p->error_ns = named(rec, "error_ns");
	p->error_known = named(rec, "error_known");
	if (name && name->len && !p->name)
		p->name = strdup(name->data);
}

/* --- records -------------------------------------------------------------------------------------------------------------- */

/* The number that a thread or process has on its host; one that was too large for that stays as it is. */
static uint64_t own_number(const struct part *p, uint64_t n)
{
	bool is_made = p->stride && n > p->number && n % p->stride == p->number % p->stride;
	return is_made ? (n - p->number) / p->stride : n;
}

static bool is_about_origins(const struct ctp_record *rec)
{
	return rec->cls->kind == CTP_KIND_ORIGIN || rec->cls->kind == CTP_KIND_ATTRIBUTE;
}

/* What the merged section says of all its parts. */
static bool is_of_whole(const char *name)
{
	static const char *const names[] = {"clock", "wall_offset_ns", "boot_id", "time_namespace", "pid", "start_ns", "anonymised"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/*
 * By which filters records of a part were left out: of its input, and of the merged section. The attribute of that begins with what
 * is about inputs.
 */
static void add_filtered(const struct split *s, const struct part *p, struct ctp_section *sec)
{
	const char *own = ctp_section_get(&p->attrs, "filtered"), *all = ctp_section_get(&s->whole, "filtered");
	const char *inputs = ctp_section_get(&s->whole, "inputs_filtered");
	size_t len = inputs ? strlen(inputs) : 0;
	if (all && len && !strncmp(all, inputs, len))
		all += len + (strncmp(all + len, " | ", 3) ? 0 : 3);
	all = all && *all ? all : NULL;
	if (own || all)
		ctp_section_addf(sec, "filtered", "%s%s%s", own ? own : "", own && all ? " | " : "", all ? all : "");
}

/* The later one of both. */
static void add_filtered_since(const struct split *s, const struct part *p, struct ctp_section *sec)
{
	const char *own = ctp_section_get(&p->attrs, "filtered_since_ns"), *all = ctp_section_get(&s->whole, "filtered_since_ns");
	uint64_t own_ns = own ? strtoull(own, NULL, 10) : 0, all_ns = all ? strtoull(all, NULL, 10) : 0;
	if (own || all)
		ctp_section_addf(sec, "filtered_since_ns", "%" PRIu64, own_ns > all_ns ? own_ns : all_ns);
}

static bool is_of_parts(const char *name) { return !strcmp(name, "filtered") || !strcmp(name, "filtered_since_ns"); }

/* The section of a part, once all records about the part are known. */
static void make_section(const struct split *s, const struct part *p, struct ctp_section *sec)
{
	ctp_section_init(sec);
	for (uint32_t i = 0; i < p->attrs.nattrs; i++)
		if (!is_of_whole(p->attrs.attrs[i].name) && !is_of_parts(p->attrs.attrs[i].name))
			ctp_section_add(sec, p->attrs.attrs[i].name, p->attrs.attrs[i].value);
	for (uint32_t i = 0; i < s->whole.nattrs; i++)
		if (is_of_whole(s->whole.attrs[i].name))
			ctp_section_add(sec, s->whole.attrs[i].name, s->whole.attrs[i].value);
	add_filtered(s, p, sec);
	if (ctp_section_get(&s->whole, "filtered_events"))
		ctp_section_add(sec, "filtered_events", "yes");
	add_filtered_since(s, p, sec);
	if (p->pid)
		ctp_section_addf(sec, "pid", "%" PRIu64, own_number(p, p->pid));
	if (p->start_ns)
		ctp_section_addf(sec, "start_ns", "%" PRIu64, p->start_ns);
	ctp_section_add(sec, "origin", p->name ? p->name : "unknown");
	ctp_section_addf(sec, "origin_number", "%" PRIu64, p->number);
	if (ctp_section_get(&p->attrs, "pid"))
		ctp_section_add(sec, "origin_pid", ctp_section_get(&p->attrs, "pid"));
	if (s->first_ns)
		ctp_section_addf(sec, "merged_first_ns", "%" PRIu64, s->first_ns);
	ctp_section_addf(sec, "origin_section", "%" PRIu64, s->sections);
	if (p->by_wall && p->error_known)
		ctp_section_addf(sec, "origin_error_ns", "%" PRIu64, p->error_ns);
	else if (p->by_wall)
		ctp_section_add(sec, "origin_error_ns", "unknown");
}

static enum ctp_status open_spool(struct part *p, struct ctp_err *err)
{
	struct ctp_section sec;
	p->spool = ctp_spool_new(err);
	if (!p->spool)
		return CTP_FAILED;
	ctp_section_init(&sec);
	enum ctp_status status = ctp_spool_section(p->spool, &sec, err);
	ctp_section_fini(&sec);
	return status;
}

static const struct known *known_of(struct split *s, const struct ctp_class *cls)
{
	struct known *k = &s->known[cls->id];
	if (k->known)
		return k;
	*k = (struct known){true, .origin = ctp_class_role(cls, CTP_ROLE_ORIGIN)};
	for (uint32_t i = 0; i < cls->nfields && k->nown < OWN_FIELDS; i++)
		if ((cls->fields[i].role == CTP_ROLE_THREAD || cls->fields[i].role == CTP_ROLE_PROCESS) && cls->fields[i].type == CTP_U64)
			k->own[k->nown++] = (uint8_t)i;
	return k;
}

/* A filter's own records have no origin; the numbers of their coroutines end with it (ctp-merge.1). */
static uint64_t origin_of(struct split *s, const struct ctp_record *rec)
{
	int origin = known_of(s, rec->cls)->origin;
	if (origin < 0 && rec->cls->kind == CTP_KIND_LEFT_OUT && s->stride)
		return ctp_record_number(rec, ctp_class_role(rec->cls, CTP_ROLE_COROUTINE)) % s->stride;
	return ctp_record_number(rec, origin);
}

static struct ctp_record with_own_numbers(struct split *s, const struct part *p, const struct ctp_record *rec, uint64_t *val)
{
	const struct known *k = known_of(s, rec->cls);
	struct ctp_record own = *rec;
	if (!k->nown || !p->stride)
		return own;
	memcpy(val, rec->val, rec->cls->nfields * sizeof *val);
	for (uint32_t i = 0; i < k->nown; i++)
		val[k->own[i]] = own_number(p, val[k->own[i]]);
	own.val = val;
	return own;
}

static enum ctp_status give_part(struct split *s, struct part *p, const struct ctp_record *rec, uint32_t n, bool late,
                                 struct ctp_err *err)
{
	if (!p->spool && open_spool(p, err))
		return CTP_FAILED;
	for (uint32_t i = 0, k; i < n; i += k) {
		for (k = 0; k < CHUNK && i + k < n; k++)
			s->rec[k] = with_own_numbers(s, p, &rec[i + k], s->val[k]);
		if (ctp_spool_records(p->spool, &(struct ctp_batch){s->rec, k, late}, err))
			return CTP_FAILED;
	}
	return CTP_OK;
}

static enum ctp_status take(struct ctp_sink *sink, const struct ctp_batch *batch, struct ctp_err *err)
{
	struct split *s = (struct split *)sink;
	enum ctp_status status = CTP_OK;
	if (!s->splits)
		return s->to->ops->records(s->to, batch, err);
	for (uint32_t i = 0, upto; i < batch->n && !status; i = upto) {
		const struct ctp_record *rec = &batch->rec[i];
		uint64_t origin = origin_of(s, rec);
		struct part *p = part_of(s, origin);
		upto = i + 1;
		if (is_about_origins(rec)) {
			if (p)
				learn(p, rec);
			else if (s->left_out && origin)
				*s->left_out += rec->cls->kind == CTP_KIND_ORIGIN && named(rec, "state") == CTP_ORIGIN_BEGINS;
			continue;
		}
		if (!s->first_ns && rec->cls->time_field >= 0)
			s->first_ns = rec->val[rec->cls->time_field];
		while (upto < batch->n && !is_about_origins(&batch->rec[upto]) && origin_of(s, &batch->rec[upto]) == origin)
			upto++;
		if (p)
			status = give_part(s, p, rec, upto - i, batch->late, err);
	}
	return status;
}

/* --- sections ------------------------------------------------------------------------------------------------------------- */

/* What the tool and ctp_convert set of this sink is for the other one. */
static void pass_on(struct split *s)
{
	s->to->tick = s->sink.tick;
	s->to->input = s->sink.input;
	s->to->stats = s->sink.stats;
}

static enum ctp_status begin(struct ctp_sink *sink, const struct ctp_section *sec, struct ctp_err *err)
{
	struct split *s = (struct split *)sink;
	pass_on(s);
	forget(s);
	s->splits = ctp_section_get(sec, "merged");
	if (!s->splits)
		return s->to->ops->section ? s->to->ops->section(s->to, sec, err) : CTP_OK;
	s->sections++;
	const char *stride = ctp_section_get(sec, "stride");
	s->stride = stride ? strtoull(stride, NULL, 10) : 0;
	ctp_section_init(&s->whole);
	for (uint32_t i = 0; i < sec->nattrs; i++)
		ctp_section_add(&s->whole, sec->attrs[i].name, sec->attrs[i].value);
	return CTP_OK;
}

static enum ctp_status replay_section(struct ctp_sink *sink, const struct ctp_section *sec, struct ctp_err *err)
{
	struct split *s = (struct split *)sink;
	(void)sec;
	ctp_section_fini(&s->section);
	make_section(s, s->replayed, &s->section);
	return s->to->ops->section ? s->to->ops->section(s->to, &s->section, err) : CTP_OK;
}

static enum ctp_status replay_records(struct ctp_sink *sink, const struct ctp_batch *batch, struct ctp_err *err)
{
	struct split *s = (struct split *)sink;
	return s->to->ops->records(s->to, batch, err);
}

/* How the origin ended, unless the merged section lacks something itself. */
static enum ctp_status replay_end(struct ctp_sink *sink, const struct ctp_section_end *end, struct ctp_err *err)
{
	struct split *s = (struct split *)sink;
	const struct part *p = s->replayed;
	bool missing = p->state == CTP_ORIGIN_DAMAGED || s->end.missing;
	struct ctp_section_end how = {
		.complete = p->state == CTP_ORIGIN_COMPLETE && !s->end.missing, .missing = missing,
		.missing_ns = s->end.missing_ns > p->missing_ns ? s->end.missing_ns : p->missing_ns,
	};
	(void)end;
	return s->to->ops->end ? s->to->ops->end(s->to, &how, err) : CTP_OK;
}

static int by_number(const void *a, const void *b)
{
	uint64_t m = ((const struct part *)a)->number, n = ((const struct part *)b)->number;
	return (m > n) - (m < n);
}

static enum ctp_status finish_section(struct ctp_sink *sink, const struct ctp_section_end *end, struct ctp_err *err)
{
	static const struct ctp_sink_ops replay = {.section = replay_section, .records = replay_records, .end = replay_end};
	struct split *s = (struct split *)sink;
	enum ctp_status status = CTP_OK;
	if (!s->splits)
		return s->to->ops->end ? s->to->ops->end(s->to, end, err) : CTP_OK;
	s->end = *end;
	if (s->n)
		qsort(s->parts, s->n, sizeof *s->parts, by_number);
	for (size_t i = 0; i < s->n && !status; i++) {
		struct part *p = s->replayed = &s->parts[i];
		if (!p->spool)
			status = open_spool(p, err);
		if (!status && !(status = ctp_spool_end(p->spool, end, err)))
			status = ctp_spool_replay(p->spool, &replay, sink, err);
		ctp_spool_free(p->spool);
		p->spool = NULL;
	}
	return status;
}

/* --- the whole ------------------------------------------------------------------------------------------------------------ */

static enum ctp_status flush(struct ctp_sink *sink, struct ctp_err *err)
{
	struct split *s = (struct split *)sink;
	return s->splits || !s->to->ops->flush ? CTP_OK : s->to->ops->flush(s->to, err);
}

static enum ctp_status finish(struct ctp_sink *sink, struct ctp_err *err)
{
	struct split *s = (struct split *)sink;
	pass_on(s);
	return s->to->ops->finish ? s->to->ops->finish(s->to, err) : CTP_OK;
}

static void release(struct ctp_sink *sink)
{
	struct split *s = (struct split *)sink;
	forget(s);
	ctp_section_fini(&s->section);
	free(s->parts);
	s->to->ops->free(s->to);
	free(s);
}

struct ctp_sink *ctp_split_sink(struct ctp_sink *to, uint64_t *left_out, struct ctp_err *err)
{
	static const struct ctp_sink_ops ops = {
		.section = begin, .records = take, .flush = flush, .end = finish_section, .finish = finish, .free = release,
	};
	struct split *s = to ? ctp_err_calloc(err, sizeof *s) : NULL;
	if (!s) {
		if (to)
			to->ops->free(to);
		return NULL;
	}
	s->sink = *to;
	s->sink.ops = &ops;
	s->to = to;
	s->left_out = left_out;
	return &s->sink;
}
