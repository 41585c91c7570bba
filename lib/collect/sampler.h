/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * sampler.h - what the traced program does when it writes nothing: whether it executes at all, and what its threads do.
 *
 * From /proc, beside the harvest. An event proves that the program executed at that time; so /proc is asked only where there was
 * none for a while, at most every 10 ms while the collector looks, and 500 ms apart when a silence begins. Of this come the
 * records `process` where the state changes, and the bounds of the end.
 *
 * Of threads there are samples (sampler-threads.c). Whoever reads them sees whether a thread used its time, slept, or was ready and
 * had no processor:
 *	- of those that are in a run for more than 20 ms, the next when it is a quarter longer, and one when it is over
 *	- of those that run coroutines, every 100 ms while there are events
 *	- of the same when there was no event for 20 ms and a coroutine is ready, the next when the silence is a quarter longer
 *	- rounds of all, when the program has been silent for a second, and once more a second later
 *
 * It asks what the kernel has for the descriptors that coroutines wait for (sampler-fds.c): when the program has been silent for a
 * second, every 10 s after that, and at the end.
 *
 * The program is one process: COMMAND, or the one that was attached to; where that has no part in the trace, as a shell that
 * starts the program, the first that has. What cannot be read is not recorded.
 */
#ifndef CTP_SAMPLER_H
#define CTP_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "collect/descriptors.h"
#include "collect/harvest.h"
#include "collect/proc-state.h"
#include "collect/targets.h"

enum {
	CTP_ROUND_THREADS = 256, /* with more, there is no round */
	CTP_RUNS_AT_ONCE = 64,   /* samples of runs after one look */
	CTP_BEAT_THREADS = 16,   /* samples of threads that run coroutines, at once */
};

/* A ring whose thread is in a run. */
struct ctp_sampler_run {
	uint64_t since_ns, next_ns; /* when it is to be sampled next */
	uint64_t tid;               /* of the thread that was sampled in this run; 0: it was not */
};

/* A thread has one number here, and one in its own PID namespace. */
struct ctp_sampler_alias {
	uint64_t here, there;
};

struct ctp_sampler {
	struct ctp_harvest *harvest;
	struct ctp_targets *targets;
	bool started;
	pid_t own;             /* the section's */
	pid_t pid;             /* the one that is looked at, */
	struct ctp_proc_state proc;
	enum ctp_process_state state; /* as last recorded */
	uint64_t begin_ns;     /* when we came */
	uint64_t looked_ns;    /* when last; */
	uint64_t seen_ns;      /* and something was seen */
	uint64_t executing_ns; /* when it was last known to execute */
	uint64_t gone_ns;      /* when it was known to be gone; 0: not yet */
	uint64_t own_ns, all_ns; /* time of the newest event: of the process, of all */

	/* sampler-threads.c's */
	struct ctp_sampler_run *runs; /* for each ring */
	uint32_t nruns, next_run;     /* next_run: with which to begin */
	uint64_t early[CTP_RUNS_AT_ONCE]; /* threads that may be in a run since before we came */
	size_t nearly;
	uint64_t early_ns;            /* when they are to be sampled next; 0: they are not known yet */
	uint64_t runs_ns, runs_due_ns; /* when the rings were last gone through, and when they should be again */
	uint64_t beat_ns, ready_ns;   /* the last samples of threads that run coroutines; ready_ns: when they are to be looked at again */
	uint32_t next_beat;    /* the ring with which to begin */
	unsigned rounds;       /* of this silence */
	uint64_t silent_ns;    /* since when; */
	uint64_t round_ns;     /* the last one */
	unsigned depth;        /* of its PID namespace below ours: 1 if it is ours, 0: not known yet */
	uint64_t aliases_ns;   /* when these were last read */
	unsigned naliases;
	struct ctp_sampler_alias aliases[CTP_ROUND_THREADS];
	const struct ctp_notice *info;
	bool blind;            /* the threads are not to be seen, and it was said */

	/* sampler-fds.c's */
	struct ctp_descriptors descriptors;
	uint64_t fds_ns;       /* when they were last looked at; 0: not yet */
	uint64_t fds_from_ns, fds_next_ns; /* no look before that; and when the next of those that were known then is due */
	uint32_t fds_adds;     /* of ctp_waited_fds, at that time */
	uint64_t fds_again_ns; /* when what had something to read is looked at again; 0: nothing had yet */
};

/*
 * The program is this process, and what is found about it goes to the harvest. started: it has just been, and so executes. shm:
 * what the targets have mapped; it must outlive the sampler. info gets what may be of interest. Without memory there are no samples
 * of runs.
 */
void ctp_sampler_init(struct ctp_sampler *s, struct ctp_harvest *h, struct ctp_targets *targets, const struct ctp_map_file *shm,
                      pid_t own, bool started, uint32_t max_rings, const struct ctp_notice *info);
void ctp_sampler_fini(struct ctp_sampler *s);

/* After a look of the harvest. stirred: something may have happened to the process, or it is the last look. */
void ctp_sampler_look(struct ctp_sampler *s, bool stirred);

/* When it should be called again, if there is nothing else to do. */
uint64_t ctp_sampler_due_ns(const struct ctp_sampler *s);

/*
 * After the last of the harvest, which had all that was put there before: between which times the program ended. ended_ns: when
 * its own process was known to have; 0: it has not.
 */
struct ctp_end_bounds {
	uint64_t after_ns, before_ns;
};
struct ctp_end_bounds ctp_sampler_end(struct ctp_sampler *s, uint64_t ended_ns);

/*
 * When the trace ends before the program does: looks at the descriptors, if that was not done just now. once: or at all. Before the
 * last of the harvest.
 */
void ctp_sampler_last_fds(struct ctp_sampler *s, bool once);

/* There was one round in this silence, or one look at descriptors that had something to read, and there is another to come. */
bool ctp_sampler_between(const struct ctp_sampler *s);

/* --- between sampler.c, sampler-threads.c and sampler-fds.c ---------------------------------------------------------------- */

/* Whether the process is in another PID namespace, and so has numbers of its own for itself and its threads. */
bool ctp_sampler_elsewhere(struct ctp_sampler *s);

/* Looks at the descriptors, if that is due at now_ns. */
void ctp_sampler_fds(struct ctp_sampler *s, uint64_t now_ns);
uint64_t ctp_sampler_fds_due_ns(const struct ctp_sampler *s);
bool ctp_sampler_fds_between(const struct ctp_sampler *s);

/* Puts the record; threads and cpu_ns where it is of a round. */
void ctp_sampler_process(struct ctp_sampler *s, uint64_t ts_ns, uint64_t after_ns, uint64_t threads, uint64_t cpu_ns);

/* Samples what is due at now_ns. */
void ctp_sampler_runs(struct ctp_sampler *s, uint64_t now_ns);
void ctp_sampler_beat(struct ctp_sampler *s, uint64_t now_ns);
void ctp_sampler_rounds(struct ctp_sampler *s, uint64_t now_ns);
uint64_t ctp_sampler_threads_due_ns(const struct ctp_sampler *s);

#endif
