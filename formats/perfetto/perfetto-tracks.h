/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * perfetto-tracks.h - the tracks of a section: its processes, their threads, and lanes for coroutines.
 *
 * A lane has one coroutine after another, so there are only as many as coroutines were alive at once. The number of lanes is
 * limited. Beyond it, coroutines of one spawn site share a row, which shows one run at a time; what it does not show is counted.
 *
 * Numbers of processes and threads are those of their systems, also in a section that was merged with others; but for a process
 * that a section before had, too: Perfetto would make one of the two.
 */
#ifndef CTP_PERFETTO_TRACKS_H
#define CTP_PERFETTO_TRACKS_H

#include <stdbool.h>
#include <stddef.h>

#include "analyse/follow.h"
#include "perfetto/perfetto-form.h"

enum {
	CTP_PERFETTO_PROCESSES = 64, /* of a section; further ones count as its first */
	CTP_PERFETTO_NESTED = 64,    /* runs on a thread, each in the one before */
	CTP_PERFETTO_SHARED = 100,   /* rows that coroutines share; the last is for all further spawn sites */
	CTP_PERFETTO_PIDS = 4096,    /* of all sections, that are remembered */
};

struct ctp_perfetto_process {
	uint64_t pid;
	struct ctp_perfetto_track track, lanes; /* lanes: their group; its uuid is 0 if there is none yet */
	uint32_t free_first, free_last;         /* lanes without a coroutine, the one that became so first is the first */
	uint32_t nlanes;
};

struct ctp_perfetto_thread {
	struct ctp_perfetto_track track, lost; /* uuid 0: not there yet */
	uint32_t process;
	bool named;
	uint64_t last_ns; /* the last begin or end */
	uint32_t depth;
	struct ctp_perfetto_run {
		uint32_t coro; /* the caller's number */
		uint64_t from_ns;
		uint64_t flow; /* the arrow that ends where the run begins; 0: none */
	} runs[CTP_PERFETTO_NESTED];
};

struct ctp_perfetto_lane {
	struct ctp_perfetto_track track;
	uint32_t process, next_free; /* a number from 1 on */
	uint64_t free_ns;            /* when its last coroutine ended */
};

struct ctp_perfetto_shared {
	struct ctp_perfetto_track track;
	uint32_t spawn, process;
	uint32_t coro; /* whose run is shown; 0: none */
	uint64_t coroutines, waits, runs; /* waits, runs: that are not shown */
};

struct ctp_perfetto_tracks {
	struct ctp_perfetto_form *form;
	struct ctp_follow *follow;
	uint32_t uuid, section;
	uint32_t max_lanes;
	char name[CTP_PERFETTO_TEXT_MAX]; /* of the program; "": not known */
	uint64_t origin, stride; /* of an origin of a merged section: number x of its input is x * stride + origin; else 0 */
	struct ctp_perfetto_process processes[CTP_PERFETTO_PROCESSES];
	uint32_t nprocesses;
	struct ctp_perfetto_thread **threads; /* by number; null: none yet */
	size_t threads_room;
	uint32_t nthreads;
	struct ctp_perfetto_lane *lanes; /* number 1 is the first */
	uint32_t nlanes;
	struct ctp_perfetto_shared shared[CTP_PERFETTO_SHARED];
	uint32_t nshared;
	uint64_t pids[CTP_PERFETTO_PIDS]; /* of sections before */
	uint32_t npids, npids_before;
	bool failed; /* out of memory at some point */
};

bool ctp_perfetto_tracks_init(struct ctp_perfetto_tracks *t, struct ctp_perfetto_form *form, struct ctp_follow *f,
                              uint32_t max_lanes);
void ctp_perfetto_tracks_fini(struct ctp_perfetto_tracks *t);

/* Another section. sec: as the stream has it. */
void ctp_perfetto_tracks_section(struct ctp_perfetto_tracks *t, uint32_t section, const struct ctp_section *sec);

/* A process or thread as its own system numbers it. */
uint64_t ctp_perfetto_tracks_real(const struct ctp_perfetto_tracks *t, uint64_t number);

/* A new track; the caller fills in the kind and says it to the form. */
struct ctp_perfetto_track ctp_perfetto_tracks_new(struct ctp_perfetto_tracks *t, enum ctp_perfetto_kind kind, uint32_t process);

/* A process by its pid; 0, the first one, is that of the section. */
uint32_t ctp_perfetto_tracks_process(struct ctp_perfetto_tracks *t, uint64_t pid);

/* A thread by its number; null: it has no track. Number 0 is of records without a thread: these may be of any. */
struct ctp_perfetto_thread *ctp_perfetto_tracks_add_thread(struct ctp_perfetto_tracks *t, uint32_t thread);
static inline struct ctp_perfetto_thread *ctp_perfetto_tracks_thread(struct ctp_perfetto_tracks *t, uint32_t thread)
{
	struct ctp_perfetto_thread *th = thread && thread < t->nthreads ? t->threads[thread] : NULL;
	return th || !thread ? th : ctp_perfetto_tracks_add_thread(t, thread);
}

/* The track of what is missing of a thread. */
struct ctp_perfetto_track *ctp_perfetto_tracks_lost(struct ctp_perfetto_tracks *t, struct ctp_perfetto_thread *th);

/* Names that became known late. */
void ctp_perfetto_tracks_rename(struct ctp_perfetto_tracks *t);

/* A lane for a coroutine that was born at born_ns; 0: there is none. The life may begin a little later: at its free_ns. */
uint32_t ctp_perfetto_tracks_take(struct ctp_perfetto_tracks *t, uint32_t process, uint64_t born_ns);
void ctp_perfetto_tracks_give(struct ctp_perfetto_tracks *t, uint32_t lane, uint64_t ts_ns);

/* The row of a coroutine without a lane, as a number from 1 on. */
uint32_t ctp_perfetto_tracks_share(struct ctp_perfetto_tracks *t, uint32_t process, uint32_t spawn);

#endif
