/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * stat.c - counting what a stream holds.
 *
 * Counting needs no order, so the plain reader serves. A record is late if its time is before the newest mark: a reader in time
 * order finds the same. Where rows name only a probe, their sequence shows when the probe begins another coroutine; late rows
 * do not count for that.
 */
#include "analyse/stat.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/capped.h"
#include "base/compare.h"
#include "base/distinct.h"
#include "stream/beginning.h"
#include "stream/sequence.h"
#include "stream/sink.h"

/* What counting needs of a class; by the reader's id. */
struct known {
	struct ctp_stat_class *total; /* null: no record of the class yet */
	int coroutine, probe, thread, site, unverified;
	int sequence; /* of rows without a coroutine and an index; -1: none */
	bool missed; /* records of a loss are not about transitions */
};

/* The rows of a probe. */
struct rows {
	struct ctp_sequence numbers;
	uint64_t last_ns;
};

struct counting {
	struct ctp_stat *stat;
	struct ctp_stat_section *at; /* the section that is being read */
	struct ctp_line line;        /* that it is on */
	struct ctp_stat_counts *sec; /* its counts */
	struct ctp_stat_section unkept;
	struct ctp_distinct coroutines, threads, sites;
	struct ctp_dialect dialect;
	uint64_t again; /* coroutines whose probe was another coroutine's before */
	uint64_t mark_ns, end_events;
	struct known known[CTP_CLASSES_MAX];
};

struct ctp_stat *ctp_stat_new(struct ctp_err *err)
{
	struct ctp_stat *stat = calloc(1, sizeof *stat);
	if (!stat)
		ctp_err_memory(err);
	else
		stat->all = (struct ctp_stat_counts){.complete = true, .first_ns = UINT64_MAX};
	return stat;
}

void ctp_stat_free(struct ctp_stat *stat)
{
	if (!stat)
		return;
	for (uint64_t i = 0; i < stat->nsections && i < CTP_STAT_SECTIONS_MAX; i++) {
		if (stat->sections[i].who)
			ctp_section_fini(stat->sections[i].who);
		free(stat->sections[i].who);
	}
	for (uint32_t i = 0; i < stat->nclasses; i++)
		free(stat->classes[i].name);
	free(stat);
}

/* --- sections ------------------------------------------------------------------------------------------------------------ */

static struct ctp_section *copy_section(const struct ctp_section *from)
{
	struct ctp_section *to = malloc(sizeof *to);
	if (!to)
		return NULL;
	ctp_section_init(to);
	for (uint32_t i = 0; i < from->nattrs; i++)
		ctp_section_add(to, from->attrs[i].name, from->attrs[i].value);
	return to;
}

static void begin_section(struct counting *c, const struct ctp_section *who)
{
	struct ctp_stat *stat = c->stat;
	c->at = &c->unkept;
	if (stat->nsections < CTP_STAT_SECTIONS_MAX) {
		c->at = &stat->sections[stat->nsections];
		c->at->who = copy_section(who);
	}
	stat->nsections++;
	stat->nfiltered += who->filtered;

	c->line = ctp_line_of(who);
	c->sec = &c->at->counts;
	*c->sec = (struct ctp_stat_counts){.first_ns = UINT64_MAX, .ordinal = who->ordinal};
	c->mark_ns = c->end_events = c->again = 0;
	c->dialect = (struct ctp_dialect){0};
}

static void forget_ids(struct counting *c)
{
	ctp_distinct_fini(&c->coroutines);
	ctp_distinct_fini(&c->threads);
	ctp_distinct_fini(&c->sites);
}

static void end_section(struct counting *c, bool complete)
{
	struct ctp_stat_counts *sec = c->sec, *all = &c->stat->all;
	sec->complete = complete;
	sec->coroutines = sec->births ? sec->births : c->coroutines.count + c->again;
	sec->threads = c->threads.count;
	sec->sites = c->sites.count;
	sec->at_least = (!sec->births && c->coroutines.full) || c->threads.full || c->sites.full;
	sec->duration_ns = sec->first_ns < sec->last_ns && !sec->ordinal ? sec->last_ns - sec->first_ns : 0;
	sec->unseen = c->end_events > sec->events ? c->end_events - sec->events : 0;
	forget_ids(c);

	all->events += sec->events;
	ctp_add_capped(&all->lost, sec->lost);
	all->unverified += sec->unverified;
	ctp_add_capped(&all->untraced, sec->untraced);
	all->births += sec->births;
	all->deaths += sec->deaths;
	all->conflicts += sec->conflicts;
	all->late += sec->late;
	all->wakes += sec->wakes;
	all->names += sec->names;
	ctp_add_capped(&all->missed, sec->missed);
	all->sites += sec->sites;
	all->unseen += sec->unseen;
	all->coroutines += sec->coroutines;
	all->threads += sec->threads;
	all->at_least |= sec->at_least;
	all->complete &= complete;
	all->ordinal = sec->ordinal && (all->ordinal || c->stat->nsections == 1);
	if (sec->ordinal)
		return;
	if (sec->first_ns < sec->last_ns)
		ctp_spans_add(&c->stat->spans, c->line, sec->first_ns, sec->last_ns);
	all->duration_ns = ctp_spans_ns(&c->stat->spans);
	all->first_ns = sec->first_ns < all->first_ns ? sec->first_ns : all->first_ns;
	all->last_ns = sec->last_ns > all->last_ns ? sec->last_ns : all->last_ns;
}

/* --- records ------------------------------------------------------------------------------------------------------------- */

/* The counts of a class, by name: another input may number it otherwise. */
static struct ctp_stat_class *total_of(struct ctp_stat *stat, const struct ctp_class *cls)
{
	static struct ctp_stat_class nowhere;
	for (uint32_t i = 0; i < stat->nclasses; i++)
		if (!strcmp(stat->classes[i].name, cls->name))
			return &stat->classes[i];
	char *name = stat->nclasses < CTP_CLASSES_MAX ? strdup(cls->name) : NULL;
	if (!name)
		return &nowhere;
	stat->classes[stat->nclasses] = (struct ctp_stat_class){.name = name};
	return &stat->classes[stat->nclasses++];
}

/* The field with a role, if it is a number: the value of a text is an address. */
static int number(const struct ctp_class *cls, enum ctp_role role)
{
	int field = ctp_class_role(cls, role);
	return field < 0 || ctp_type_is_text(cls->fields[field].type) ? -1 : field;
}

static void learn(struct counting *c, struct known *k, const struct ctp_class *cls)
{
	*k = (struct known){
		.total = total_of(c->stat, cls),
		.coroutine = number(cls, CTP_ROLE_COROUTINE),
		.probe = number(cls, CTP_ROLE_PROBE),
		.thread = cls->kind == CTP_KIND_OBJECT ? -1 : number(cls, CTP_ROLE_THREAD), /* any thread may change an object */
		.site = cls->kind == CTP_KIND_SITE ? number(cls, CTP_ROLE_SITE) : -1,
		.unverified = number(cls, CTP_ROLE_UNVERIFIED),
		.missed = ctp_class_is_missed(cls),
	};
	k->sequence = k->coroutine >= 0 || ctp_class_field(cls, "index") >= 0 ? -1 : number(cls, CTP_ROLE_SEQUENCE);
}

/* Whether a row of a probe begins another coroutine. */
static bool begins_again(struct counting *c, uint64_t probe, uint64_t seq, uint64_t ts)
{
	struct rows *rows = probe ? ctp_distinct_note(&c->coroutines, probe) : NULL; /* a row without a probe is of no coroutine */
	if (!rows)
		return false;
	enum ctp_step step = ctp_sequence_step(&rows->numbers, &c->dialect, seq, rows->last_ns, ts);
	if (step != CTP_STEP_OLD)
		rows->last_ns = ts;
	return step == CTP_STEP_AGAIN;
}

static void count_coroutine(struct counting *c, const struct known *k, const struct ctp_record *rec)
{
	uint64_t id = rec->val[k->coroutine >= 0 ? k->coroutine : k->probe];
	if (!c->coroutines.room)
		c->coroutines.note_bytes = k->sequence < 0 ? 0 : sizeof(struct rows);
	ctp_distinct_add(&c->coroutines, id);
	if (k->sequence >= 0 && rec->cls->time_field >= 0)
		c->again += begins_again(c, id, rec->val[k->sequence], rec->val[rec->cls->time_field]);
}

static uint64_t named(const struct ctp_record *rec, const char *name)
{
	int i = ctp_class_field(rec->cls, name);
	return i < 0 || ctp_type_is_text(rec->cls->fields[i].type) ? 0 : rec->val[i];
}

static void add_end(struct ctp_stat_section *s, struct ctp_ended ended)
{
	uint32_t i = 0;
	while (i < s->nends && (s->ends[i].ended.status != ended.status || strcmp(s->ends[i].ended.outcome, ended.outcome)))
		i++;
	if (!ended.outcome[0])
		return;
	if (i == CTP_STAT_ENDS_MAX) {
		s->other_ends++;
		return;
	}
	s->nends += i == s->nends;
	s->ends[i].ended = ended;
	s->ends[i].origins++;
}

const struct ctp_ended *ctp_stat_ended(const struct ctp_stat_section *s)
{
	return s->nends == 1 && s->ends[0].origins >= s->norigins ? &s->ends[0].ended : NULL;
}

/* Counts a record by its kind. */
static void count_kind(struct ctp_stat_counts *sec, struct counting *c, const struct known *k, const struct ctp_record *rec)
{
	unsigned kind = rec->cls->kind;
	sec->events += kind == CTP_KIND_TRANSITION;
	sec->births += kind == CTP_KIND_BIRTH;
	sec->deaths += kind == CTP_KIND_DEATH;
	sec->conflicts += kind == CTP_KIND_CONFLICT;
	sec->wakes += kind == CTP_KIND_WAKE;
	sec->names += kind == CTP_KIND_NAME;
	if (kind == CTP_KIND_LOSS) {
		ctp_add_capped(k->missed ? &sec->missed : &sec->lost, ctp_record_lost(rec));
		sec->unverified += k->unverified < 0 ? 0 : rec->val[k->unverified];
	}
	if (kind == CTP_KIND_ORIGIN && named(rec, "state") == CTP_ORIGIN_BEGINS) {
		c->stat->norigins++;
		c->at->norigins++;
	}
	if (kind == CTP_KIND_UNTRACED || kind == CTP_KIND_END)
		sec->untraced = ctp_most(sec->untraced, ctp_record_untraced(rec));
	if (kind == CTP_KIND_END) {
		c->end_events = ctp_most(c->end_events, named(rec, "events"));
		add_end(c->at, ctp_ended_read(rec));
	}
}

static void count_record(struct counting *c, const struct ctp_record *rec)
{
	struct known *k = &c->known[rec->cls->id];
	struct ctp_stat_counts *sec = c->sec;
	if (!k->total)
		learn(c, k, rec->cls);
	k->total->records++;
	count_kind(sec, c, k, rec);
	if (rec->cls->time_field >= 0) {
		uint64_t ts = rec->val[rec->cls->time_field];
		sec->late += ts < c->mark_ns;
		/* 0: the time is not known; without a clock it is a number as others. */
		if ((ts || sec->ordinal) && rec->cls->kind != CTP_KIND_CLOCK) {
			sec->first_ns = ts < sec->first_ns ? ts : sec->first_ns;
			sec->last_ns = ts > sec->last_ns ? ts : sec->last_ns;
		}
	}
	if (k->thread >= 0)
		ctp_distinct_add(&c->threads, rec->val[k->thread]);
	if (k->site >= 0)
		ctp_distinct_add(&c->sites, rec->val[k->site]);
	if (rec->cls->kind == CTP_KIND_TRANSITION && !sec->births && (k->coroutine >= 0 || k->probe >= 0))
		count_coroutine(c, k, rec);
}

static void count_item(struct counting *c, const struct ctp_item *item)
{
	switch (item->kind) {
	case CTP_ITEM_SECTION:
		begin_section(c, item->section);
		break;
	case CTP_ITEM_RECORDS:
		for (uint32_t i = 0; i < item->batch.n; i++)
			count_record(c, &item->batch.rec[i]);
		break;
	case CTP_ITEM_MARK:
		c->mark_ns = ctp_most(c->mark_ns, item->mark_ns);
		break;
	case CTP_ITEM_END:
		end_section(c, item->end.complete);
		break;
	}
}

enum ctp_status ctp_stat_read(struct ctp_stat *stat, struct ctp_input *in, const struct ctp_notice *notice,
                              const struct ctp_tick *tick, struct ctp_err *err)
{
	enum ctp_status status = CTP_FAILED;
	struct ctp_item item;
	bool strange;
	if (ctp_beginning_check(in, &strange, err))
		return CTP_FAILED;
	struct ctp_reader *reader = ctp_reader_new(in, notice, err);
	struct counting *c = calloc(1, sizeof *c);
	if (!c)
		ctp_err_memory(err);
	if (!reader || !c)
		goto out;
	c->stat = stat;
	for (uint64_t records = 0; (status = ctp_reader_next(reader, &item, err)) == CTP_OK;) {
		errno = 0;
		count_item(c, &item);
		status = ctp_memory_status(CTP_OK, in->name, err); /* counts without their table would be too small */
		if (status)
			break;
		records += item.kind == CTP_ITEM_RECORDS ? item.batch.n : 0;
		if (tick && tick->tick)
			tick->tick(tick->arg, in, records);
	}
	if (in->harmed)
		ctp_notice_say(notice, "%s", in->err.text);
	ctp_reader_stats_add(&stat->reader, ctp_reader_stats(reader));
	stat->all.complete &= status == CTP_EOF && !ctp_reader_harmed(reader);
	stat->harmed |= ctp_reader_harmed(reader) || stat->all.lost || stat->all.missed || stat->all.untraced ||
	                stat->all.conflicts;
	forget_ids(c);
	if (status == CTP_EOF)
		status = ctp_beginning_end(in, strange, ctp_reader_stats(reader)->packets, NULL, err);
out:
	free(c);
	ctp_reader_free(reader);
	return status;
}
