/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* merge-plan.c - looks through the inputs. */
#include "merge/merge-plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "io/input-seek.h"
#include "stream/beginning.h"
#include "stream/events.h"
#include "stream/runs.h"

enum { PARTS_MAX = 1 << 20, SECTIONS_MAX = 1 << 26, NOTICES_MAX = 10 };

/* --- clocks --------------------------------------------------------------------------------------------------------------- */

static bool is_clock(const struct ctp_merge_clock *c, const char *boot, const char *space)
{
	return c->boot && boot && !strcmp(c->boot, boot) && !strcmp(c->space ? c->space : "", space ? space : "");
}

/* The clock of a section: one that another section has, or a new one. Null: out of memory. */
static struct ctp_merge_clock *clock_of(struct ctp_merge_plan *plan, const struct ctp_section *sec)
{
	const char *clock = ctp_section_get(sec, "clock");
	bool monotonic = clock && !strcmp(clock, "monotonic");
	const char *boot = monotonic ? ctp_section_get(sec, "boot_id") : NULL, *space = ctp_section_get(sec, "time_namespace");
	for (size_t i = 0; i < plan->nclocks; i++)
		if (is_clock(plan->clocks[i], boot, space))
			return plan->clocks[i];
	struct ctp_merge_clock *c = calloc(1, sizeof *c);
	if (!c || !CTP_ARRAY_RESERVE(plan->clocks, plan->clocks_room, plan->nclocks + 1, PARTS_MAX)) {
		free(c);
		return NULL;
	}
	c->boot = boot ? strdup(boot) : NULL;
	c->space = boot && space ? strdup(space) : NULL;
	c->exact = clock && !strcmp(clock, "wall") && ctp_section_get(sec, "merged");
	return plan->clocks[plan->nclocks++] = c;
}

/* What the attributes say of the wall clock, for want of records. */
static bool add_offset(struct ctp_merge_clock *c, const struct ctp_section *sec)
{
	const char *start = ctp_section_get(sec, "start_ns");
	uint64_t at_ns = start ? strtoull(start, NULL, 10) : 0;
	if (!sec->has_wall)
		return true;
	at_ns = at_ns && at_ns < INT64_MAX ? at_ns : 1;
	if (sec->wall_offset_ns < 0 && at_ns <= -(uint64_t)sec->wall_offset_ns)
		at_ns = 1 - (uint64_t)sec->wall_offset_ns; /* the wall clock is after 1970 there */
	return ctp_merge_clock_add(c, &(struct ctp_merge_reading){.mono_ns = at_ns, .wall_ns = at_ns + (uint64_t)sec->wall_offset_ns});
}

/* --- sections, each once --------------------------------------------------------------------------------------------------- */

static uint64_t hash_section(const void *sections, uint32_t number)
{
	return ((const struct ctp_merge_section *)sections)[number - 1].id;
}

static bool is_section(const void *sections, uint32_t number, const void *id)
{
	return hash_section(sections, number) == *(const uint64_t *)id;
}

/* Null: it is the first with this id, or a section without one. Sets *failed if memory is out. */
static const struct ctp_merge_section *add_section(struct ctp_merge_plan *plan, const char *path, uint64_t id, bool *failed)
{
	*failed = false;
	if (!id)
		return NULL;
	*failed = (!plan->by_id.slots && !ctp_map_init(&plan->by_id, 1)) ||
	          !CTP_ARRAY_RESERVE(plan->sections, plan->sections_room, plan->nsections + 1, SECTIONS_MAX) ||
	          !ctp_map_reserve(&plan->by_id, (uint32_t)plan->nsections, hash_section, plan->sections);
	if (*failed)
		return NULL;
	uint32_t *slot = ctp_map_slot(&plan->by_id, id, is_section, plan->sections, &id);
	if (*slot)
		return &plan->sections[*slot - 1];
	plan->sections[plan->nsections] = (struct ctp_merge_section){id, path};
	*slot = (uint32_t)++plan->nsections;
	return NULL;
}

static const char *name_of(const char *path) { return path && strcmp(path, "-") ? path : "stdin"; }

/* 0: there is no such field, or it has no number. */
static uint64_t named(const struct ctp_record *rec, const char *name)
{
	int i = ctp_class_field(rec->cls, name);
	return i < 0 || ctp_type_is_text(rec->cls->fields[i].type) ? 0 : rec->val[i];
}

enum ctp_status ctp_merge_plan_note(struct ctp_merge_plan *plan, const struct ctp_merge_part *p, const struct ctp_record *rec,
                                    struct ctp_err *err)
{
	bool failed;
	if (!p->merged || p->is_cut || named(rec, "state") != CTP_ORIGIN_BEGINS)
		return CTP_OK;
	const struct ctp_merge_section *other = add_section(plan, p->path, named(rec, "section_id"), &failed);
	if (other)
		return ctp_err_as(err, CTP_ERR_USAGE, "%s: origin %" PRIu64 " of section %" PRIu32 " is also in %s; leave one of them out",
		                  name_of(p->path), named(rec, "origin"), p->number, name_of(other->path));
	return failed ? ctp_err_memory(err) : CTP_OK;
}

/* --- parts ---------------------------------------------------------------------------------------------------------------- */

static char *copy_of(const char *text) { return text ? strdup(text) : NULL; }

/* Leaves of the common attributes those that the section has, too. */
static void keep_common(struct ctp_merge_plan *plan, const struct ctp_section *sec)
{
	static const char *const names[] = {"host", "machine", "system", "page_size", "source"};
	struct ctp_section kept;
	ctp_section_init(&kept);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const char *value = ctp_section_get(sec, names[i]);
		const char *was = plan->has_common ? ctp_section_get(&plan->common, names[i]) : value;
		if (value && was && !strcmp(value, was))
			ctp_section_add(&kept, names[i], value);
	}
	if (plan->has_common)
		ctp_section_fini(&plan->common);
	plan->common = kept;
	plan->has_common = true;
}

/* Whether it was filtered, and not only what was merged into it. Then other pieces may have the other records of an origin. */
static bool is_cut(const struct ctp_section *sec)
{
	const char *filtered = ctp_section_get(sec, "filtered"), *inputs = ctp_section_get(sec, "inputs_filtered");
	return filtered && (!inputs || strcmp(filtered, inputs));
}

/* A part for a section that begins. Null: err says why. */
static struct ctp_merge_part *add_part(struct ctp_merge_plan *plan, const char *path, uint32_t number,
                                       const struct ctp_section *sec, struct ctp_err *err)
{
	bool failed;
	const struct ctp_merge_section *other = add_section(plan, path, sec->id, &failed);
	if (other) {
		ctp_err_as(err, CTP_ERR_USAGE, "%s: section %" PRIu32 " is also in %s; leave one of them out", name_of(path), number,
		           name_of(other->path));
		return NULL;
	}
	struct ctp_merge_clock *clock = failed ? NULL : clock_of(plan, sec);
	/* Lanes point to parts: those that were reserved stay where they are. */
	bool has_room = plan->n < plan->room || CTP_ARRAY_RESERVE(plan->parts, plan->room, plan->n + 1, PARTS_MAX);
	if (!clock || !add_offset(clock, sec) || !has_room) {
		ctp_err_memory(err);
		return NULL;
	}
	struct ctp_merge_part *p = &plan->parts[plan->n++];
	*p = (struct ctp_merge_part){
		.path = path, .number = number, .origin = (uint32_t)plan->n, .id = sec->id, .clock = clock,
		.merged = ctp_section_get(sec, "merged"), .is_cut = is_cut(sec),
		.sole_clock = sec->ordinal, .host = copy_of(ctp_section_get(sec, "host")), .pid = copy_of(ctp_section_get(sec, "pid")),
		.filtered = copy_of(ctp_section_get(sec, "filtered")),
		.filtered_events = ctp_section_get(sec, "merged") && ctp_section_get(sec, "filtered_events"),
	};
	keep_common(plan, sec);
	return p;
}

/* --- files ---------------------------------------------------------------------------------------------------------------- */

static bool is_seekable(const char *path)
{
	struct stat st;
	return path && strcmp(path, "-") && !stat(path, &st) && S_ISREG(st.st_mode);
}

struct look {
	struct ctp_merge_plan *plan;
	const char *path;
	bool whole;            /* all records are read, and the sections are known */
	uint32_t number;
	struct ctp_merge_part *part; /* the section at hand */
	struct ctp_err *err;
};

static enum ctp_status begin_part(struct look *l, struct ctp_reader *reader, const struct ctp_section *sec)
{
	struct ctp_merge_plan *plan = l->plan;
	l->number++;
	l->part = NULL;
	if (l->whole) {
		for (size_t i = 0; i < plan->n && !l->part; i++)
			if (plan->parts[i].path == l->path && plan->parts[i].number == l->number)
				l->part = &plan->parts[i];
		return CTP_OK;
	}
	l->part = add_part(plan, l->path, l->number, sec, l->err);
	if (!l->part)
		return CTP_FAILED;
	bool has_origins = l->part->merged && !l->part->is_cut;
	ctp_reader_narrow(reader, has_origins ? 0 : UINT64_MAX, UINT64_MAX);
	l->part->offset = ctp_reader_offset(reader);
	return CTP_OK;
}

/* Notes the origins among some records, or when all of them are read, the readings of clocks. */
static enum ctp_status look_at_records(struct look *l, const struct ctp_batch *batch)
{
	struct ctp_merge_reading reading;
	for (uint32_t i = 0; i < batch->n; i++) {
		const struct ctp_record *rec = &batch->rec[i];
		if (!l->whole && rec->cls->kind == CTP_KIND_ORIGIN && ctp_merge_plan_note(l->plan, l->part, rec, l->err))
			return CTP_FAILED;
		if (l->whole && !l->part->clock->exact && rec->cls->kind == CTP_KIND_CLOCK && ctp_merge_clock_read(rec, &reading) &&
		    !ctp_merge_clock_add(l->part->clock, &reading))
			return ctp_err_memory(l->err);
	}
	return CTP_OK;
}

static enum ctp_status look_through(struct look *l, struct ctp_reader *reader)
{
	struct ctp_item item;
	enum ctp_status status;
	while (!(status = ctp_reader_next(reader, &item, l->err))) {
		if (item.kind == CTP_ITEM_SECTION && begin_part(l, reader, item.section))
			return CTP_FAILED;
		if (item.kind == CTP_ITEM_RECORDS && l->part && look_at_records(l, &item.batch))
			return CTP_FAILED;
	}
	return status;
}

/* Without whole, only packets that begin or end a section are read, and those of sections that were merged. */
static enum ctp_status look_at(struct ctp_merge_plan *plan, const char *path, bool whole, struct ctp_err *err)
{
	struct ctp_input in;
	struct look look = {.plan = plan, .path = path, .whole = whole, .err = err};
	bool strange;
	if (ctp_input_open(&in, path, err))
		return CTP_FAILED;
	enum ctp_status status = ctp_beginning_check(&in, &strange, err);
	struct ctp_reader *reader = status ? NULL : ctp_reader_new(&in, NULL, err);
	if (reader && !whole)
		ctp_reader_narrow(reader, UINT64_MAX, UINT64_MAX);
	status = reader ? look_through(&look, reader) : CTP_FAILED;
	if (status == CTP_EOF) {
		const struct ctp_reader_stats *s = ctp_reader_stats(reader);
		plan->harmed |= s->skipped_bytes || s->damaged_packets || in.harmed || !s->sections;
		status = ctp_beginning_end(&in, strange, s->packets, NULL, err);
	}
	ctp_reader_free(reader);
	ctp_input_close(&in);
	return status;
}

/* --- pipes ---------------------------------------------------------------------------------------------------------------- */

static void say_of_pipe(void *arg, const char *text)
{
	struct ctp_merge_pipe *pipe = arg;
	if (pipe->said++ < NOTICES_MAX)
		ctp_notice_say(pipe->say, "%s: %s", pipe->name, text);
}

static bool is_unwanted(void *arg) { return ctp_output_is_unread(((struct ctp_merge_pipe *)arg)->out); }

/* Of a pipe whose input is open. */
static struct ctp_merge_pipe *start_reading(struct ctp_merge_pipe *pipe, const struct ctp_output *out, const struct ctp_notice *say,
                                            struct ctp_err *err)
{
	pipe->name = pipe->in.name;
	pipe->say = say;
	pipe->out = out;
	pipe->in.is_unwanted = out ? is_unwanted : NULL;
	pipe->in.unwanted_arg = pipe;
	pipe->notice = (struct ctp_notice){say_of_pipe, pipe};
	pipe->reader = ctp_reader_new(&pipe->in, &pipe->notice, err);
	pipe->order = pipe->reader ? ctp_order_new(pipe->reader, CTP_MERGE_ORDER_BYTES, err) : NULL;
	if (pipe->order) {
		ctp_order_give_marks(pipe->order);
		return pipe;
	}
	ctp_merge_pipe_close(pipe);
	return NULL;
}

struct ctp_merge_pipe *ctp_merge_pipe_open(const char *path, const struct ctp_output *out, const struct ctp_notice *say,
                                           struct ctp_err *err)
{
	struct ctp_merge_pipe *pipe = ctp_err_calloc(err, sizeof *pipe);
	if (pipe && !ctp_input_open(&pipe->in, path, err))
		return start_reading(pipe, out, say, err);
	free(pipe);
	return NULL;
}

struct ctp_merge_pipe *ctp_merge_pipe_temp(int fd, struct ctp_err *err)
{
	struct ctp_merge_pipe *pipe = ctp_err_calloc(err, sizeof *pipe);
	if (pipe && !ctp_input_fd(&pipe->in, fd, "temporary file", err))
		return start_reading(pipe, NULL, NULL, err);
	free(pipe);
	return NULL;
}

void ctp_merge_pipe_close(struct ctp_merge_pipe *pipe)
{
	if (!pipe)
		return;
	ctp_order_free(pipe->order);
	ctp_reader_free(pipe->reader);
	ctp_input_close(&pipe->in);
	free(pipe);
}

/* Waits for the first section. */
static enum ctp_status begin_pipe(struct ctp_merge_plan *plan, const char *path, struct ctp_err *err)
{
	struct ctp_merge_pipe *pipe = ctp_merge_pipe_open(path, plan->out, plan->say, err);
	struct ctp_item item = {0};
	bool strange;
	if (!pipe)
		return CTP_FAILED;
	enum ctp_status status = ctp_beginning_check(&pipe->in, &strange, err);
	if (!status)
		status = ctp_order_next(pipe->order, &item, err);
	if (status == CTP_EOF) {
		plan->harmed = true;
		status = ctp_beginning_end(&pipe->in, strange, ctp_reader_stats(pipe->reader)->packets, NULL, err);
	}
	struct ctp_merge_part *part = !status && item.kind == CTP_ITEM_SECTION ? add_part(plan, path, 1, item.section, err) : NULL;
	if (!part) {
		ctp_merge_pipe_close(pipe);
		return item.section ? CTP_FAILED : status;
	}
	part->pipe = pipe;
	pipe->section = item.section;
	return CTP_OK;
}

/* --- the whole ------------------------------------------------------------------------------------------------------------ */

static bool is_host_of_others(const struct ctp_merge_plan *plan, const struct ctp_merge_part *p, bool same_pid)
{
	for (size_t i = 0; i < plan->n; i++) {
		const struct ctp_merge_part *q = &plan->parts[i];
		if (q != p && q->host && p->host && !strcmp(q->host, p->host) &&
		    (!same_pid || !strcmp(q->pid ? q->pid : "", p->pid ? p->pid : "")))
			return true;
	}
	return false;
}

/* The shortest that no other has: HOST, HOST/PID, HOST/PID/NUMBER; without a host the name of the input. */
static bool name_part(struct ctp_merge_plan *plan, struct ctp_merge_part *p)
{
	const char *input = name_of(p->path);
	bool several = is_host_of_others(plan, p, false), same = several && is_host_of_others(plan, p, true);
	char number[24] = "";
	if (same || !p->host)
		snprintf(number, sizeof number, "/%" PRIu32, p->origin);
	bool with_pid = p->host && several && p->pid;
	if (asprintf(&p->name, "%s%s%s%s", p->host ? p->host : input, with_pid ? "/" : "", with_pid ? p->pid : "", number) < 0)
		p->name = NULL;
	return p->name;
}

static bool name_parts(struct ctp_merge_plan *plan)
{
	bool named = true;
	for (size_t i = 0; i < plan->n; i++)
		named &= name_part(plan, &plan->parts[i]);
	return named;
}

static enum ctp_status check_clocks(struct ctp_merge_plan *plan, struct ctp_err *err)
{
	plan->one_boot = true;
	for (size_t i = 0; i < plan->n; i++) {
		const struct ctp_merge_part *p = &plan->parts[i];
		const char *name = name_of(p->path);
		plan->one_boot &= p->clock->boot && plan->parts[0].clock->boot && !strcmp(p->clock->boot, plan->parts[0].clock->boot);
		if (plan->n > 1 && p->sole_clock)
			return ctp_err_as(err, CTP_ERR_REFUSED,
			                  "%s: section %" PRIu32 " has no clock, only numbers of records; it cannot be merged "
			                  "with others", name, p->number);
		if (plan->by_wall && !p->clock->n)
			return ctp_err_as(err, CTP_ERR_REFUSED,
			                  "%s: nothing relates the clock of section %" PRIu32 " to the wall clock; add the "
			                  "attribute wall_offset_ns, as ctp-fromjsonl can", name, p->number);
	}
	return CTP_OK;
}

enum ctp_status ctp_merge_plan(struct ctp_merge_plan *plan, char *const *files, const struct ctp_output *out,
                               const struct ctp_notice *say, struct ctp_err *err)
{
	static char name[] = "-", *const only_stdin[] = {name, NULL};
	enum ctp_status status = CTP_OK;
	*plan = (struct ctp_merge_plan){.say = say, .out = out};
	files = *files ? files : only_stdin;
	for (char *const *file = files; *file && !status; file++)
		status = is_seekable(*file) ? look_at(plan, *file, false, err) : begin_pipe(plan, *file, err);
	plan->by_wall = plan->nclocks > 1;
	for (char *const *file = files; *file && !status && plan->by_wall; file++)
		status = is_seekable(*file) ? look_at(plan, *file, true, err) : CTP_OK;
	for (size_t i = 0; i < plan->nclocks && !status; i++)
		ctp_merge_clock_settle(plan->clocks[i]);
	if (!status)
		status = check_clocks(plan, err);
	return status || name_parts(plan) ? status : ctp_err_memory(err);
}

bool ctp_merge_plan_reserve(struct ctp_merge_plan *plan, size_t parts)
{
	plan->most = parts;
	return CTP_ARRAY_RESERVE(plan->parts, plan->room, parts, PARTS_MAX);
}

struct ctp_merge_part *ctp_merge_plan_more(struct ctp_merge_plan *plan, const struct ctp_merge_part *before,
                                           const struct ctp_section *sec, struct ctp_err *err)
{
	const char *path = before->path, *name = name_of(path);
	size_t nclocks = plan->nclocks;
	uint32_t number = before->number + 1;
	if (plan->n >= plan->most)
		return (void)ctp_err_as(err, CTP_ERR_REFUSED,
		                        "%s: section %" PRIu32 " would be origin %zu, for which the numbers have no room; "
		                        "give it as a file", name, number, plan->n + 1), NULL;
	if (sec->ordinal)
		return (void)ctp_err_as(err, CTP_ERR_REFUSED,
		                        "%s: section %" PRIu32 " has no clock, only numbers of records; it cannot be merged "
		                        "with others", name, number), NULL;
	struct ctp_merge_part *p = add_part(plan, path, number, sec, err);
	if (!p)
		return NULL;
	if (plan->nclocks > nclocks)
		ctp_merge_clock_settle(p->clock);
	if (!name_part(plan, p))
		return (void)ctp_err_memory(err), NULL;
	if (plan->nclocks > nclocks && (!plan->by_wall || !p->clock->n))
		return (void)ctp_err_as(err, CTP_ERR_REFUSED,
		                        "%s: section %" PRIu32 " has another clock than the sections before, which was not "
		                        "known in time; give it as a file", name, number), NULL;
	return p;
}

void ctp_merge_plan_fini(struct ctp_merge_plan *plan)
{
	for (size_t i = 0; i < plan->n; i++) {
		struct ctp_merge_part *p = &plan->parts[i];
		ctp_merge_pipe_close(p->pipe);
		free(p->host);
		free(p->pid);
		free(p->name);
		free(p->filtered);
	}
	for (size_t i = 0; i < plan->nclocks; i++) {
		ctp_merge_clock_fini(plan->clocks[i]);
		free(plan->clocks[i]);
	}
	free(plan->parts);
	free(plan->clocks);
	free(plan->sections);
	ctp_map_fini(&plan->by_id);
	if (plan->has_common)
		ctp_section_fini(&plan->common);
}
