/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * collect-loop.h - a collector at work: between collect.c, which begins and ends it, and collect-loop.c, which looks and rests.
 */
#ifndef CTP_COLLECT_LOOP_H
#define CTP_COLLECT_LOOP_H

#include "base/clock.h"
#include "collect/collect.h"
#include "collect/conn-keeper.h"
#include "collect/event-loop.h"
#include "collect/pace.h"
#include "collect/sampler.h"
#include "collect/section-clock.h"
#include "collect/targets.h"
#include "io/outqueue.h"
#include "shm/arena.h"
#include "shm/memory.h"
#include "shm/sock.h"
#include "stream/events.h"
#include "stream/writer.h"

#define CTP_SHM_VARIABLE "CTP_SHM_PATH"

struct ctp_collect_loop {
	const struct ctp_collect_conf *conf;
	struct ctp_collect_result *result;
	struct ctp_memory shm;
	struct ctp_budget budget;
	struct ctp_arena arena;
	struct ctp_sock sock;
	struct ctp_conn_keeper keeper;
	struct ctp_event_loop watch;
	struct ctp_outqueue *queue; /* null: closed */
	struct ctp_writer *writer;
	struct ctp_harvest *harvest;
	struct ctp_targets *targets;
	struct ctp_sampler sampler;
	struct ctp_class *end_class, *clock_class;
	struct ctp_map_file file;
	struct ctp_pace pace;
	bool announced; /* the probes were told of us */
	bool unreachable; /* they cannot wake us */
	bool unread;    /* the output has failed: a pipe without a reader */
	bool asleep;    /* tracer_sleeping is set, if no probe has taken it back */
	bool idle;      /* all that was found is sent, marked, and there was nothing since */
	bool piped;     /* the output is a pipe or a socket, where somebody may read as it is written */
	bool stalled;   /* the queue is full, and it was said */
	bool truncated; /* the memory was, and it was said */
	bool over;      /* the end is written: no more records */
	bool tight;     /* the budget is used up, and it was said */
	bool unused;    /* no process had it mapped when that was last asked, */
	bool asked;     /* and nothing was found since */
	uint64_t start_ns, now_ns;
	uint64_t waited_ns, dirty_ns, lives_ns, refresh_ns, asked_ns, marked_ns, ended_ns; /* when last, or since when; 0: it is not */
	uint64_t refresh_events;
	uint64_t clock_due_ns; /* of the next record of the clocks; 0: the section has none */
};

/* Harvests until there is a reason to end. True when the target is gone and so all that will ever be published has been. */
bool ctp_collect_loop_run(struct ctp_collect_loop *c);

/* Writes a record of both clocks, and sets when the next one is due. */
void ctp_collect_loop_clock(struct ctp_collect_loop *c, const struct ctp_clock_pair *pair);

/* Tells the user if the memory was found cut off; if there is no more of our own. */
void ctp_collect_loop_truncated(struct ctp_collect_loop *c);
void ctp_collect_loop_tight(struct ctp_collect_loop *c);

/* The totals so far: to the result, and to the user. */
void ctp_collect_loop_total(struct ctp_collect_loop *c);
void ctp_collect_loop_say(struct ctp_collect_loop *c);

#endif
