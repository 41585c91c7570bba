/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * merge.c - a heap of lanes: the one whose next record comes first gives all that come before the next record of any other.
 *
 * The output has in time order what the inputs have in time order. A record that is late in its input, and earlier than what was
 * written already, follows a mark: so it is late for a reader of the output, too.
 */
#include "merge/merge.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/compare.h"
#include "base/text.h"
#include "common/spool.h"
#include "merge/merge-lane.h"
#include "merge/merge-origin.h"

enum { TICK_RECORDS = 4096, TEXT_MAX = 4096, FLUSH_MS = 100 };

struct merge {
	struct ctp_merge_plan plan;
	struct ctp_merge_ids ids;
	struct ctp_merge_classes classes;
	struct ctp_merge_origins origins;
	struct ctp_writer *writer;
	struct ctp_merge_lane *lanes;   /* of this round, in the order of the inputs */
	uint32_t nlanes;
	struct ctp_merge_lane *heap[CTP_MERGE_LANES]; /* those that are not over */
	uint32_t nheap;
	uint64_t now_ns, mark_ns;       /* of the last record, or what all lanes have come to; and of the last mark */
	uint64_t flushed_ns;
	const struct ctp_tick *tick;
	struct ctp_merge_stats *stats;
	bool last_round;
	bool cut; /* a section was cut short, or lacks packets */
	struct ctp_err *err;
};

/* --- the heap ------------------------------------------------------------------------------------------------------------- */

/* Of equal times, the lane that is first in the order of the inputs. Lanes are in one array. */
static bool is_before(const struct ctp_merge_lane *a, const struct ctp_merge_lane *b)
{
	return a->key != b->key ? a->key < b->key : a < b;
}

static void sift_down(struct merge *m, uint32_t i)
{
	struct ctp_merge_lane *l = m->heap[i];
	for (uint32_t child; (child = 2 * i + 1) < m->nheap; i = child) {
		if (child + 1 < m->nheap && is_before(m->heap[child + 1], m->heap[child]))
			child++;
		if (!is_before(m->heap[child], l))
			break;
		m->heap[i] = m->heap[child];
	}
	m->heap[i] = l;
}

/* The lane that comes after the first one; null: there is none. */
static const struct ctp_merge_lane *second(const struct merge *m)
{
	if (m->nheap < 3)
		return m->nheap == 2 ? m->heap[1] : NULL;
	return is_before(m->heap[1], m->heap[2]) ? m->heap[1] : m->heap[2];
}

/* --- records -------------------------------------------------------------------------------------------------------------- */

static void put_mark(struct merge *m)
{
	if (m->now_ns <= m->mark_ns)
		return;
	ctp_writer_mark(m->writer, m->now_ns);
	m->mark_ns = m->now_ns;
}

static const struct ctp_merge_class *class_for(struct merge *m, struct ctp_merge_lane *l, const struct ctp_class *cls)
{
	const struct ctp_merge_class **known = &l->classes[cls->id];
	if (!*known)
		*known = ctp_merge_class(&m->classes, cls, !l->part, m->err);
	return *known;
}

static uint64_t value_of(struct merge *m, const struct ctp_merge_lane *l, unsigned op, uint64_t v)
{
	switch (op) {
	case CTP_MERGE_ID:
		return ctp_merge_id(&m->ids, l->part->origin, v);
	case CTP_MERGE_TIME:
		return ctp_merge_lane_time(l, v);
	case CTP_MERGE_STRIDE:
		return v > UINT64_MAX / m->ids.stride ? 0 : v * m->ids.stride;
	default:
		return v;
	}
}

static enum ctp_status put_record(struct merge *m, struct ctp_merge_lane *l)
{
	const struct ctp_record *rec = ctp_merge_lane_record(l);
	const struct ctp_merge_class *c = class_for(m, l, rec->cls);
	uint64_t val[CTP_FIELDS_MAX];
	if (!c)
		return CTP_FAILED;
	if (l->own_ns < m->now_ns) {
		put_mark(m);
		m->stats->late += m->last_round;
	}
	m->now_ns = l->key;
	if (c->plain && !c->adds_origin) {
		ctp_writer_record(m->writer, c->cls, rec->val);
		return CTP_OK;
	}
	for (uint32_t i = 0; i < rec->cls->nfields; i++)
		val[i] = value_of(m, l, c->op[i], rec->val[i]);
	if (c->adds_origin)
		val[rec->cls->nfields] = l->part->origin;
	ctp_writer_record(m->writer, c->cls, val);
	return m->ids.failed ? ctp_err_as(m->err, CTP_ERR_REFUSED, "too many numbers of more than 50 bits") : CTP_OK;
}

/* --- origins -------------------------------------------------------------------------------------------------------------- */

/* How far times of a clock may be off. False: that is not known. */
static bool bound_of(const struct ctp_merge_plan *plan, const struct ctp_merge_clock *c, uint64_t *ns)
{
	*ns = 0;
	if (!plan->by_wall || c->exact)
		return true;
	*ns = c->off_ns + c->step_ns < c->off_ns ? UINT64_MAX : c->off_ns + c->step_ns;
	if (!plan->one_boot)
		*ns = c->error_ns > UINT64_MAX - *ns ? UINT64_MAX : *ns + c->error_ns;
	return c->read && (plan->one_boot || c->synced);
}

/* The arguments, with a space between them, as far as there is room. */
static void put_command(const struct ctp_section *sec, char text[TEXT_MAX])
{
	size_t len = 0;
	text[0] = '\0';
	for (uint32_t i = 0; i < sec->nattrs && len < TEXT_MAX; i++)
		if (!strcmp(sec->attrs[i].name, "argv[]"))
			len += (size_t)snprintf(text + len, TEXT_MAX - len, "%s%s", len ? " " : "", sec->attrs[i].value);
}

static uint64_t number_of(const char *text) { return text ? strtoull(text, NULL, 10) : 0; }

static void put_origin(struct merge *m, const struct ctp_merge_lane *l, uint64_t ts_ns, enum ctp_origin_state state)
{
	char command[TEXT_MAX];
	const struct ctp_merge_part *p = l->part;
	const struct ctp_section *sec = l->pipe->section;
	struct ctp_merge_origin of = {
		.number = p->origin, .pid = ctp_merge_id(&m->ids, p->origin, number_of(p->pid)), .name = p->name, .host = p->host,
		.start_ns = ctp_merge_lane_time(l, number_of(ctp_section_get(sec, "start_ns"))),
		.command = command, .input = p->path && strcmp(p->path, "-") ? p->path : "stdin", .section = p->number,
		.section_id = p->id,
		.by_wall = l->by_wall, .state = state, .stride = m->ids.stride,
		.missing_ns = state > CTP_ORIGIN_COMPLETE ? ctp_merge_lane_time(l, l->end.missing_ns) : 0,
	};
	put_command(sec, command);
	of.error_known = bound_of(&m->plan, p->clock, &of.error_ns);
	ctp_merge_origins_put(&m->origins, m->writer, ts_ns, &of);
}

static void put_attributes(struct merge *m, const struct ctp_merge_lane *l, uint64_t ts_ns)
{
	const struct ctp_section *sec = l->pipe->section;
	for (uint32_t i = 0; i < sec->nattrs; i++) {
		const struct ctp_attr *a = &sec->attrs[i];
		bool is_time = !strcmp(a->name, "first_event_ns") || !strcmp(a->name, "filtered_since_ns");
		char time[24];
		snprintf(time, sizeof time, "%ju", (uintmax_t)(is_time ? ctp_merge_lane_time(l, number_of(a->value)) : 0));
		ctp_merge_origins_attribute(&m->origins, m->writer, ts_ns, l->part->origin, a->name, is_time ? time : a->value);
	}
}

/* A section that was merged already has records of its own origins, but none of what is wrong with it since. */
static void begin_origin(struct merge *m, struct ctp_merge_lane *l, uint64_t ts_ns)
{
	l->begun = true;
	if (l->part->merged)
		return;
	put_origin(m, l, ts_ns, CTP_ORIGIN_BEGINS);
	put_attributes(m, l, ts_ns);
}

static void end_origin(struct merge *m, struct ctp_merge_lane *l)
{
	const struct ctp_reader *reader = l->pipe->reader;
	if (!l->part)
		return;
	if (!l->begun)
		begin_origin(m, l, m->now_ns);
	m->cut |= !l->end.complete;
	m->stats->harmed |= !l->end.complete || ctp_reader_harmed(reader);
	if (l->part->merged && l->end.complete)
		return;
	put_origin(m, l, m->now_ns, l->end.complete ? CTP_ORIGIN_COMPLETE : l->end.missing ? CTP_ORIGIN_DAMAGED : CTP_ORIGIN_CUT);
}

/* --- lanes ---------------------------------------------------------------------------------------------------------------- */

/* A reading of a clock of a pipe shows whether the first one still holds. */
static void note_reading(const struct merge *m, const struct ctp_merge_lane *l)
{
	const struct ctp_record *rec = ctp_merge_lane_record(l);
	struct ctp_merge_reading reading;
	if (m->plan.by_wall && l->part && !l->part->offset && !l->part->clock->exact && ctp_merge_clock_read(rec, &reading))
		ctp_merge_clock_note(l->part->clock, &reading);
}

static bool is_pipe(const struct ctp_merge_lane *l) { return l->part && l->pipe->in.idle; }

/* Goes on with the next section of a pipe, which is an origin of its own. CTP_EOF: there is none. */
static enum ctp_status next_section(struct merge *m, struct ctp_merge_lane *l)
{
	struct ctp_item item;
	enum ctp_status status = ctp_order_next(l->pipe->order, &item, m->err);
	if (status)
		return status;
	struct ctp_merge_part *part = ctp_merge_plan_more(&m->plan, l->part, item.section, m->err);
	if (!part)
		return CTP_FAILED;
	m->stats->sections++;
	return ctp_merge_lane_again(l, part, item.section, m->now_ns, m->err);
}

/* The lane is over. What follows in a pipe is a lane again. */
static enum ctp_status finish_lane(struct merge *m, struct ctp_merge_lane *l)
{
	end_origin(m, l);
	while (is_pipe(l)) {
		enum ctp_status status = next_section(m, l);
		if (status == CTP_EOF)
			break;
		if (status || !l->over)
			return status;
		end_origin(m, l);
	}
	if (is_pipe(l))
		m->stats->harmed |= ctp_reader_harmed(l->pipe->reader);
	ctp_merge_lane_close(l);
	return CTP_OK;
}

/* Gives the next record of the lane. */
static enum ctp_status give(struct merge *m, struct ctp_merge_lane *l)
{
	const struct ctp_record *rec = ctp_merge_lane_record(l);
	if (!l->begun)
		begin_origin(m, l, l->key);
	if (rec->cls->kind == CTP_KIND_CLOCK)
		note_reading(m, l);
	else if (rec->cls->kind == CTP_KIND_ORIGIN && is_pipe(l) && ctp_merge_plan_note(&m->plan, l->part, rec, m->err))
		return CTP_FAILED;
	else if (rec->cls->kind == CTP_KIND_LOSS || rec->cls->kind == CTP_KIND_CONFLICT)
		m->stats->harmed = true;
	if (put_record(m, l) || ctp_merge_lane_next(l, m->err))
		return CTP_FAILED;
	/* A record without a time has the key of the one before it, and so stays with that. */
	assert(l->over || l->waits || ctp_merge_lane_record(l)->cls->time_field >= 0 || l->key == m->now_ns);
	if (++m->stats->records % TICK_RECORDS)
		return CTP_OK;
	put_mark(m);
	if (m->tick && m->tick->tick)
		m->tick->tick(m->tick->arg, NULL, m->stats->records);
	return ctp_writer_failed(m->writer) ? CTP_FAILED : CTP_OK;
}

/* No lane has a record before the key of this one, which waits. */
static enum ctp_status wait_for(struct merge *m, struct ctp_merge_lane *l)
{
	m->now_ns = ctp_most(m->now_ns, l->key);
	return ctp_merge_lane_next(l, m->err);
}

/* Gives records of the first lane, up to where the next lane goes on. */
static enum ctp_status run_first(struct merge *m)
{
	struct ctp_merge_lane *l = m->heap[0];
	const struct ctp_merge_lane *next = second(m);
	do {
		if (l->waits ? wait_for(m, l) : give(m, l))
			return CTP_FAILED;
	} while (!l->over && (!next || is_before(l, next)));
	if (l->over && finish_lane(m, l))
		return CTP_FAILED;
	if (l->over)
		m->heap[0] = m->heap[--m->nheap];
	if (m->nheap)
		sift_down(m, 0);
	return CTP_OK;
}

/* A pipe would wait: what there is so far goes out. */
static enum ctp_status idle(void *arg, struct ctp_err *err)
{
	struct merge *m = arg;
	uint64_t now_ns = ctp_clock_ns();
	(void)err;
	if (!m->writer || !m->last_round || now_ns - m->flushed_ns < FLUSH_MS * UINT64_C(1000000))
		return CTP_OK;
	m->flushed_ns = now_ns;
	if (m->now_ns)
		put_mark(m);
	ctp_writer_flush(m->writer);
	return CTP_OK;
}

static enum ctp_status merge_lanes(struct merge *m)
{
	m->now_ns = m->mark_ns = 0;
	m->nheap = 0;
	for (uint32_t i = 0; i < m->nlanes; i++) {
		if (m->lanes[i].over && finish_lane(m, &m->lanes[i]))
			return CTP_FAILED;
		if (!m->lanes[i].over)
			m->heap[m->nheap++] = &m->lanes[i];
	}
	for (uint32_t i = m->nheap / 2; i-- > 0;)
		sift_down(m, i);
	while (m->nheap)
		if (run_first(m))
			return CTP_FAILED;
	return CTP_OK;
}

static void close_lanes(struct merge *m)
{
	for (uint32_t i = 0; i < m->nlanes; i++)
		ctp_merge_lane_close(&m->lanes[i]);
	m->nlanes = 0;
}

/* --- rounds --------------------------------------------------------------------------------------------------------------- */

/* Lanes for some of the parts, from first on. */
static enum ctp_status open_parts(struct merge *m, size_t first, size_t n)
{
	assert(n <= CTP_MERGE_LANES);
	m->nlanes = 0;
	for (size_t i = 0; i < n; i++) {
		struct ctp_merge_part *part = &m->plan.parts[first + i];
		struct ctp_merge_lane *l = &m->lanes[m->nlanes++];
		if (part->pipe) {
			part->pipe->in.idle = idle;
			part->pipe->in.idle_arg = m;
			part->pipe->in.idle_again_ms = FLUSH_MS;
		}
		if (ctp_merge_lane_open(l, &m->plan, part, m->err))
			return CTP_FAILED;
	}
	return CTP_OK;
}

/*
 * A section of which any input was filtered is filtered, or a number that is missing would seem lost. Who parts it again finds the
 * options of each input there, so inputs_filtered says which part of the text is about these. A merge that was filtered has more to
 * say.
 */
static void add_filtered(const struct ctp_merge_plan *plan, struct ctp_section *sec)
{
	char text[TEXT_MAX] = "";
	bool merged = false;
	for (size_t i = 0; i < plan->n; i++) {
		const struct ctp_merge_part *p = &plan->parts[i];
		size_t len = strlen(text);
		if (p->filtered)
			snprintf(text + len, sizeof text - len, "%s%s: %s", len ? "; " : "", p->name, p->filtered);
		merged |= p->filtered && p->merged;
		if (p->filtered_events)
			ctp_section_add(sec, "filtered_events", "yes");
	}
	if (*text && !merged)
		ctp_section_add(sec, "inputs_filtered", text);
	if (*text)
		ctp_section_add(sec, "filtered", text);
}

/* Without a part: its attributes are those of the whole. */
static void begin_section(struct merge *m, struct ctp_section *sec)
{
	const struct ctp_merge_plan *plan = &m->plan;
	const struct ctp_section *common = &plan->common;
	const struct ctp_merge_clock *c = plan->n ? plan->parts[0].clock : NULL;
	ctp_section_init(sec);
	ctp_section_add(sec, "tool", "ctp-merge " CTP_VERSION);
	for (uint32_t i = 0; plan->has_common && i < common->nattrs; i++)
		ctp_section_add(sec, common->attrs[i].name, common->attrs[i].value);
	add_filtered(plan, sec);
	ctp_section_addf(sec, "merged", "%zu", plan->n);
	ctp_section_addf(sec, "stride", "%ju", (uintmax_t)m->ids.stride);
	bool ordinal = plan->n && plan->parts[0].sole_clock;
	ctp_section_add(sec, "clock", plan->by_wall || (c && c->exact) ? "wall" : ordinal ? "ordinal" : "monotonic");
	if (plan->by_wall) {
		ctp_section_add(sec, "wall_offset_ns", "0");
		return;
	}
	if (c && c->boot)
		ctp_section_add(sec, "boot_id", c->boot);
	if (c && c->space)
		ctp_section_add(sec, "time_namespace", c->space);
	if (c && c->n)
		ctp_section_addf(sec, "wall_offset_ns", "%jd", (intmax_t)(c->list[0].wall_ns - c->list[0].mono_ns));
}

static enum ctp_status write_section(struct merge *m, struct ctp_output *out)
{
	struct ctp_section sec;
	enum ctp_status status = CTP_FAILED;
	m->writer = ctp_writer_to(out, m->err);
	if (!m->writer)
		return CTP_FAILED;
	begin_section(m, &sec);
	ctp_writer_begin(m->writer, &sec);
	ctp_section_fini(&sec);
	status = merge_lanes(m);
	if (!status)
		ctp_writer_end(m->writer, !m->last_round || !m->cut);
	if (!status && (ctp_writer_failed(m->writer) || out->failed))
		status = out->failed ? CTP_FAILED : ctp_err_memory(m->err);
	if (out->failed)
		*m->err = out->err;
	ctp_writer_free(m->writer);
	m->writer = NULL;
	return out->failed ? CTP_FAILED : status;
}

/* Merges each CTP_MERGE_LANES sections into a file without a name, and then these files. */
static enum ctp_status merge_in_rounds(struct merge *m, struct ctp_output *out)
{
	size_t rounds = (m->plan.n + CTP_MERGE_LANES - 1) / CTP_MERGE_LANES, nlanes = 0;
	int fds[CTP_MERGE_LANES];
	enum ctp_status status = CTP_OK;
	if (rounds > CTP_MERGE_LANES)
		return ctp_err_as(m->err, CTP_ERR_REFUSED, "more than %d sections; merge some of them first",
		                  CTP_MERGE_LANES * CTP_MERGE_LANES);
	for (size_t i = 0; i < rounds && !status; i++) {
		struct ctp_output temp;
		size_t first = i * CTP_MERGE_LANES, left = m->plan.n - first;
		fds[i] = ctp_spool_file(&temp, m->err);
		if (fds[i] < 0) {
			status = CTP_FAILED;
			break;
		}
		nlanes++;
		status = open_parts(m, first, left < CTP_MERGE_LANES ? left : CTP_MERGE_LANES);
		status = status ? status : write_section(m, &temp);
		close_lanes(m);
		if (status)
			ctp_output_abandon(&temp);
		else
			status = ctp_output_close(&temp, m->err);
	}
	m->last_round = true;
	m->stats->records = 0;
	for (size_t i = 0; i < nlanes && !status; i++)
		status = ctp_merge_lane_open_temp(&m->lanes[m->nlanes++], fds[i], m->err);
	status = status ? status : write_section(m, out);
	close_lanes(m);
	for (size_t i = 0; i < nlanes; i++)
		close(fds[i]);
	return status;
}

/* --- the whole ------------------------------------------------------------------------------------------------------------ */

static void say_clocks(const struct merge *m)
{
	const struct ctp_merge_plan *plan = &m->plan;
	for (size_t i = 0; i < plan->n && plan->by_wall; i++) {
		const struct ctp_merge_part *p = &plan->parts[i];
		char text[CTP_TEXT_MAX], steps[80] = "";
		uint64_t ns;
		bool known = bound_of(plan, p->clock, &ns);
		*ctp_text_duration(text, ns) = '\0';
		if (p->clock->steps)
			snprintf(steps, sizeof steps, "; its wall clock was set %u time%s", p->clock->steps, p->clock->steps == 1 ? "" : "s");
		ctp_notice_say(plan->say, "%s: times are those of its wall clock, and off by %s%s%s", p->name, known ? "at most " : "",
		               known ? text : p->clock->read ? "an unknown time: that clock is not synchronised" :
		                                               "an unknown time: the stream has no records of its clocks", steps);
	}
}

enum ctp_status ctp_merge(char *const *files, struct ctp_output *out, const struct ctp_notice *say, const struct ctp_tick *tick,
                          struct ctp_merge_stats *stats, struct ctp_err *err)
{
	struct merge *m = ctp_err_calloc(err, sizeof *m);
	enum ctp_status status = CTP_FAILED;
	*stats = (struct ctp_merge_stats){0};
	if (!m)
		return CTP_FAILED;
	m->tick = tick;
	m->stats = stats;
	m->err = err;
	m->lanes = ctp_err_calloc(err, CTP_MERGE_LANES * sizeof *m->lanes);
	if (!m->lanes || !ctp_merge_origins_init(&m->origins, err) || ctp_merge_plan(&m->plan, files, out, say, err))
		goto out;
	if (!ctp_merge_ids_init(&m->ids, m->plan.n) || !ctp_merge_plan_reserve(&m->plan, m->ids.stride - 1)) {
		ctp_err_memory(err);
		goto out;
	}
	stats->sections = (uint32_t)m->plan.n;
	stats->harmed = m->cut = m->plan.harmed;
	m->last_round = m->plan.n <= CTP_MERGE_LANES;
	if (!m->last_round)
		status = merge_in_rounds(m, out);
	else if (!(status = open_parts(m, 0, m->plan.n)))
		status = write_section(m, out);
	close_lanes(m);
	if (!status)
		say_clocks(m);
out:
	ctp_merge_ids_fini(&m->ids);
	ctp_merge_classes_fini(&m->classes);
	ctp_merge_origins_fini(&m->origins);
	ctp_merge_plan_fini(&m->plan);
	free(m->lanes);
	free(m);
	return status;
}
