/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* perfetto-tracks.c - see perfetto-tracks.h. */
#include "perfetto/perfetto-tracks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/threads.h"
#include "base/array.h"

enum {
	PID_BITS = 22,          /* Linux has no larger pid */
	PID_UNKNOWN = 1 << PID_BITS,
	SECTIONS_APART = 255,   /* further sections share their numbers */
	LOOK = 8,               /* lanes that are tried for an early birth */
};

bool ctp_perfetto_tracks_init(struct ctp_perfetto_tracks *t, struct ctp_perfetto_form *form, struct ctp_follow *f,
                              uint32_t max_lanes)
{
	t->form = form;
	t->follow = f;
	t->max_lanes = max_lanes;
	t->lanes = calloc((size_t)max_lanes + 1, sizeof *t->lanes);
	return t->lanes;
}

static void clear(struct ctp_perfetto_tracks *t)
{
	for (uint32_t i = 0; i < t->nthreads; i++)
		free(t->threads[i]);
	t->nprocesses = t->nthreads = t->nlanes = t->nshared = 0;
}

void ctp_perfetto_tracks_fini(struct ctp_perfetto_tracks *t)
{
	clear(t);
	free(t->threads);
	free(t->lanes);
}

struct ctp_perfetto_track ctp_perfetto_tracks_new(struct ctp_perfetto_tracks *t, enum ctp_perfetto_kind kind, uint32_t process)
{
	const struct ctp_perfetto_process *p = &t->processes[process];
	return (struct ctp_perfetto_track){.kind = kind, .uuid = ++t->uuid, .parent = t->nprocesses ? p->track.uuid : 0,
	                                   .pid = t->nprocesses ? p->track.pid : 0};
}

static void say(struct ctp_perfetto_tracks *t, const struct ctp_perfetto_track *track, const char *name)
{
	t->form->ops->track(t->form, track, name);
}

/* --- processes ------------------------------------------------------------------------------------------------------------ */

/* A number as it is shown, apart from those of other sections. */
static int32_t apart(const struct ctp_perfetto_tracks *t, uint64_t number)
{
	uint32_t section = t->section < SECTIONS_APART ? t->section : SECTIONS_APART;
	return (int32_t)((number & (PID_UNKNOWN - 1)) | section << PID_BITS);
}

static bool was_there(struct ctp_perfetto_tracks *t, uint64_t pid)
{
	for (uint32_t i = 0; i < t->npids_before; i++)
		if (t->pids[i] == pid)
			return true;
	if (t->npids < CTP_PERFETTO_PIDS)
		t->pids[t->npids++] = pid;
	return t->npids == CTP_PERFETTO_PIDS;
}

static uint32_t add_process(struct ctp_perfetto_tracks *t, uint64_t pid)
{
	char name[CTP_PERFETTO_TEXT_MAX + 80];
	const char *program = *t->name ? t->name : "program";
	struct ctp_perfetto_process p = {.pid = pid, .track = ctp_perfetto_tracks_new(t, CTP_PERFETTO_PROCESS, 0)};
	uint64_t real = ctp_perfetto_tracks_real(t, pid);
	bool as_it_is = pid && real < PID_UNKNOWN && !was_there(t, real);
	p.track.parent = 0;
	p.track.pid = as_it_is ? (int32_t)real : apart(t, real);
	int len = snprintf(name, sizeof name, "%s", program);
	if (!as_it_is && pid)
		len += snprintf(name + len, sizeof name - (size_t)len, ", process %ju", (uintmax_t)real);
	if (!as_it_is && !t->origin) /* else the name has that */
		snprintf(name + len, sizeof name - (size_t)len, " of section %u", t->section);
	name[CTP_PERFETTO_TEXT_MAX - 1] = '\0';
	t->processes[t->nprocesses] = p;
	say(t, &p.track, name);
	return t->nprocesses++;
}

uint32_t ctp_perfetto_tracks_process(struct ctp_perfetto_tracks *t, uint64_t pid)
{
	for (uint32_t i = 0; i < t->nprocesses; i++)
		if (t->processes[i].pid == pid)
			return i;
	return pid && t->nprocesses < CTP_PERFETTO_PROCESSES ? add_process(t, pid) : 0;
}

/* The program, and of a merged section its origin: "server on host". */
static void name_program(struct ctp_perfetto_tracks *t, const struct ctp_section *sec)
{
	char name[CTP_PERFETTO_CUT];
	const char *argv = ctp_section_get(sec, "argv[]"), *slash = argv ? strrchr(argv, '/') : NULL;
	const char *origin = ctp_section_get(sec, "origin"), *program = slash && slash[1] ? slash + 1 : argv;
	*t->name = '\0';
	if (!program && !origin)
		return;
	snprintf(name, sizeof name, "%s%s%s", program ? program : "program", origin ? " on " : "", origin ? origin : "");
	ctp_perfetto_text(t->name, name);
}

static uint64_t number_of(const struct ctp_section *sec, const char *attribute)
{
	const char *text = ctp_section_get(sec, attribute);
	return text ? strtoull(text, NULL, 10) : 0;
}

uint64_t ctp_perfetto_tracks_real(const struct ctp_perfetto_tracks *t, uint64_t number)
{
	return t->stride && number > t->origin ? (number - t->origin) / t->stride : number;
}

void ctp_perfetto_tracks_section(struct ctp_perfetto_tracks *t, uint32_t section, const struct ctp_section *sec)
{
	uint64_t real = number_of(sec, "origin_pid"), pid = t->follow->pid;
	clear(t);
	t->section = section;
	t->npids_before = t->npids;
	name_program(t, sec);
	t->origin = number_of(sec, "origin_number");
	t->stride = real && pid > t->origin ? (pid - t->origin) / real : 0;
	add_process(t, pid);
}

/* --- threads -------------------------------------------------------------------------------------------------------------- */

static void name_thread(struct ctp_perfetto_tracks *t, struct ctp_perfetto_thread *th, const struct ctp_follow_thread *known)
{
	char name[CTP_PERFETTO_TEXT_MAX + 32] = "";
	uint64_t real = ctp_perfetto_tracks_real(t, known->tid);
	size_t len = 0;
	if (*known->name)
		len = strlen(ctp_perfetto_text(name, known->name));
	if (!len || (uint64_t)th->track.tid != real) /* another section has the number */
		snprintf(name + len, sizeof name - len, "%sthread %ju", len ? ", " : "", (uintmax_t)real);
	name[CTP_PERFETTO_TEXT_MAX - 1] = '\0';
	th->named = *known->name;
	say(t, &th->track, name);
}

struct ctp_perfetto_thread *ctp_perfetto_tracks_add_thread(struct ctp_perfetto_tracks *t, uint32_t thread)
{
	if (!CTP_ARRAY_RESERVE(t->threads, t->threads_room, thread + 1u, CTP_THREADS_MAX)) {
		t->failed = true;
		return NULL;
	}
	while (t->nthreads <= thread)
		t->threads[t->nthreads++] = NULL;
	struct ctp_perfetto_thread *th = calloc(1, sizeof *th);
	t->failed |= !th;
	if (!th)
		return NULL;
	struct ctp_follow_thread known = ctp_follow_thread(t->follow, thread);
	th->process = ctp_perfetto_tracks_process(t, known.pid);
	th->track = ctp_perfetto_tracks_new(t, CTP_PERFETTO_THREAD, th->process);
	uint64_t real = ctp_perfetto_tracks_real(t, known.tid);
	bool as_it_is = t->processes[th->process].track.pid < PID_UNKNOWN && real < PID_UNKNOWN;
	th->track.tid = as_it_is ? (int32_t)real : apart(t, real);
	name_thread(t, th, &known);
	return t->threads[thread] = th;
}

struct ctp_perfetto_track *ctp_perfetto_tracks_lost(struct ctp_perfetto_tracks *t, struct ctp_perfetto_thread *th)
{
	if (!th->lost.uuid) {
		th->lost = ctp_perfetto_tracks_new(t, CTP_PERFETTO_ROW, th->process);
		th->lost.parent = th->track.uuid;
		th->lost.tid = th->track.tid;
		say(t, &th->lost, "lost");
	}
	return &th->lost;
}

void ctp_perfetto_tracks_rename(struct ctp_perfetto_tracks *t)
{
	for (uint32_t i = 0; i < t->nthreads; i++) {
		struct ctp_follow_thread known = ctp_follow_thread(t->follow, i);
		if (t->threads[i] && !t->threads[i]->named && *known.name)
			name_thread(t, t->threads[i], &known);
	}
}

/* --- lanes ---------------------------------------------------------------------------------------------------------------- */

static void add_group(struct ctp_perfetto_tracks *t, uint32_t process)
{
	struct ctp_perfetto_process *p = &t->processes[process];
	if (p->lanes.uuid)
		return;
	p->lanes = ctp_perfetto_tracks_new(t, CTP_PERFETTO_GROUP, process);
	say(t, &p->lanes, "coroutines");
}

/* A lane that was free at born_ns already, if there is one near the beginning of the list. */
static uint32_t unlink_free(struct ctp_perfetto_tracks *t, struct ctp_perfetto_process *p, uint64_t born_ns, bool any)
{
	uint32_t last = 0, lane = p->free_first;
	for (unsigned i = 0; lane && i < LOOK && t->lanes[lane].free_ns > born_ns; i++) {
		last = lane;
		lane = t->lanes[lane].next_free;
	}
	if (!lane || t->lanes[lane].free_ns > born_ns) {
		last = 0;
		lane = any ? p->free_first : 0;
	}
	if (!lane)
		return 0;
	*(last ? &t->lanes[last].next_free : &p->free_first) = t->lanes[lane].next_free;
	if (p->free_last == lane)
		p->free_last = last;
	return lane;
}

static uint32_t add_lane(struct ctp_perfetto_tracks *t, uint32_t process)
{
	char name[32];
	add_group(t, process);
	struct ctp_perfetto_process *p = &t->processes[process];
	struct ctp_perfetto_lane *lane = &t->lanes[++t->nlanes];
	*lane = (struct ctp_perfetto_lane){.process = process, .track = ctp_perfetto_tracks_new(t, CTP_PERFETTO_LANE, process)};
	lane->track.parent = p->lanes.uuid;
	lane->track.rank = ++p->nlanes;
	snprintf(name, sizeof name, "lane %u", p->nlanes);
	say(t, &lane->track, name);
	return t->nlanes;
}

uint32_t ctp_perfetto_tracks_take(struct ctp_perfetto_tracks *t, uint32_t process, uint64_t born_ns)
{
	bool full = t->nlanes == t->max_lanes;
	uint32_t lane = unlink_free(t, &t->processes[process], born_ns, full);
	return lane || full ? lane : add_lane(t, process);
}

void ctp_perfetto_tracks_give(struct ctp_perfetto_tracks *t, uint32_t lane, uint64_t ts_ns)
{
	struct ctp_perfetto_process *p = &t->processes[t->lanes[lane].process];
	t->lanes[lane].free_ns = ts_ns;
	t->lanes[lane].next_free = 0;
	*(p->free_last ? &t->lanes[p->free_last].next_free : &p->free_first) = lane;
	p->free_last = lane;
}

uint32_t ctp_perfetto_tracks_share(struct ctp_perfetto_tracks *t, uint32_t process, uint32_t spawn)
{
	uint32_t i = 0;
	while (i < t->nshared && (t->shared[i].spawn != spawn || t->shared[i].process != process))
		i++;
	if (i == t->nshared && i < CTP_PERFETTO_SHARED) {
		char name[CTP_PERFETTO_TEXT_MAX + 16], valid[CTP_PERFETTO_TEXT_MAX];
		const char *site = spawn ? ctp_follow_text(t->follow, spawn) : NULL;
		bool last = i == CTP_PERFETTO_SHARED - 1;
		add_group(t, process);
		t->shared[i] = (struct ctp_perfetto_shared){.spawn = spawn, .process = process,
		                                            .track = ctp_perfetto_tracks_new(t, CTP_PERFETTO_LANE, process)};
		t->shared[i].track.parent = t->processes[process].lanes.uuid;
		t->shared[i].track.rank = t->max_lanes + 1 + i;
		site = last ? "other sites" : site ? ctp_perfetto_text(valid, site) : "site not known";
		snprintf(name, sizeof name, "%s (shared)", site);
		name[CTP_PERFETTO_TEXT_MAX - 1] = '\0';
		say(t, &t->shared[i].track, name);
		t->nshared++;
	}
	i = i < CTP_PERFETTO_SHARED ? i : CTP_PERFETTO_SHARED - 1;
	t->shared[i].coroutines++;
	return i + 1;
}
