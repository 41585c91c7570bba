/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ppt-live.h - the buffers of a process, as `ctp-ppt list`, `describe` and `attach` have them: everything but their options.
 */
#ifndef CTP_PPT_LIVE_H
#define CTP_PPT_LIVE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "io/output.h"
#include "ppt/ppt-trace.h"

enum { CTP_PPT_LIVE_MIB = 2048 }; /* for all rings together, by default */
enum { CTP_PPT_LIVE_WAIT_S = 10 }; /* for a first frame, where there is no limit */

struct ctp_ppt_live_result {
	struct ctp_ppt_counts all;
	struct ctp_ppt_live_part {
		char name[300];
		struct ctp_ppt_counts counts;
	} *part; /* of each buffer; malloced */
	size_t nparts;
	bool partial;   /* a buffer that was wanted was not traced, or not to its end */
	bool unread;    /* the reader of the pipe has gone */
};

struct ctp_ppt_live_conf {
	char *const *argv;     /* of a program to be started; null: pid runs already */
	pid_t pid;
	char *const *buffers;  /* names, ended by null; none: all */
	uint32_t slots;        /* of each ring; 0: about 16 MiB of them */
	uint64_t memory_mib;   /* for all rings and descriptions together; 0: CTP_PPT_LIVE_MIB */
	struct ctp_ppt_counters counters;
	uint64_t limit_ns;     /* of the trace; 0: none */
	bool exact;            /* with the fields that only encode needs */
	bool force;            /* although another agent is attached */
	const char *output;    /* null or "-": stdout; with %b: a file for each buffer */
	bool to_terminal;
	const char *tool;      /* name and version */
	const struct ctp_notice *notice; /* may be null */
	/* Called ten times in a second or so, with what was counted by then; may be null. */
	void (*tick)(void *arg, struct ctp_ppt_counts by_now);
	void *arg;
};

/*
 * Starts the program of argv, and returns when it has one of the buffers, with a description that can be read; pid is set. A first
 * frame of it is waited for as long as it runs. CTP_FAILED: it could not be started, or has ended before, or may not be read. Where
 * it runs, it goes on.
 */
enum ctp_status ctp_ppt_launch(struct ctp_ppt_live_conf *conf, struct ctp_err *err);

/* "exit status 3", "ended by signal 11"; "": it runs, or its status was 0. To be asked once. */
enum { CTP_PPT_FATE_BYTES = 48 };
void ctp_ppt_launch_fate(pid_t pid, char text[CTP_PPT_FATE_BYTES]);

/*
 * Returns when the process has ended, the time is over or a signal has come: INT, TERM, HUP, QUIT. Then the process is as it was before. It
 * takes over these signals. CTP_FAILED: nothing was traced, or the output has failed. The result is there in any case, and its part
 * is to be freed.
 */
enum ctp_status ctp_ppt_live(const struct ctp_ppt_live_conf *conf, struct ctp_ppt_live_result *result, struct ctp_err *err);

/* --- of ppt-room.c: how many slots each ring has, so that all of them together stay below a limit ------------------------- */

enum { CTP_PPT_SLOTS_MAX = 1 << 18 }; /* of a ring, by default */

/* Sets the slots of all traces. They have no rings yet. */
enum ctp_status ctp_ppt_room_share(const struct ctp_ppt_live_conf *conf, struct ctp_ppt_trace *traces, size_t n, struct ctp_err *err);

/* Fails if there is no room for the description of the last one. */
enum ctp_status ctp_ppt_room_describe(const struct ctp_ppt_live_conf *conf, const struct ctp_ppt_trace *traces, size_t n,
                                      struct ctp_err *err);

/* --- of ppt-show.c: the buffers for people ---------------------------------------------------------------------------------- */

/* Each buffer with its state, its frames and its file. Fails if the process has none. */
enum ctp_status ctp_ppt_show_list(struct ctp_output *out, pid_t pid, const struct ctp_notice *notice, struct ctp_err *err);

/*
 * Each buffer of each process, with its state. denied: the number of processes that may not be read, without those of the kernel.
 * Fails if there are no buffers.
 */
enum ctp_status ctp_ppt_show_all(struct ctp_output *out, uint64_t *denied, const struct ctp_notice *notice, struct ctp_err *err);

/* What its description says: clock, tags, frames and their members; and the classes and columns of its records. */
enum ctp_status ctp_ppt_show_buffer(struct ctp_output *out, pid_t pid, char *name, const struct ctp_notice *notice,
                                    struct ctp_err *err);

#endif
