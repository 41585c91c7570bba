/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * collect.h - runs a command, traced, or attaches to a process that runs: the whole of ctp-collect but its options.
 */
#ifndef CTP_COLLECT_H
#define CTP_COLLECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "collect/harvest.h"

enum { CTP_COLLECT_STATIONS = 65536, CTP_COLLECT_MIB = 2048, CTP_COLLECT_MIB_MIN = 128 };

struct ctp_collect_conf {
	char *const *argv;        /* the command, ended by null; not looked at if there is a pid */
	pid_t pid;                /* 0, or a process to attach to: it was not started by us and keeps everything that it has */
	bool once;                /* what it remembers, and no more */
	uint32_t max_stations;    /* at most CTP_STATIONS_MAX; 0: CTP_COLLECT_STATIONS. These two are for a command */
	uint32_t ring_events;     /* for each thread, rounded up to a power of two; 0: 2^CTP_ANNEX_RING_BITS */
	uint32_t modes;           /* CTP_MODE_LOSSLESS with wait_us, CTP_MODE_BARE */
	uint32_t wait_us;
	const char *output;       /* null or "-": stdout, and then the command's stdout goes to stderr */
	bool force;               /* even to a terminal */
	uint64_t limit_ns;        /* the trace ends after so long, the target runs on; 0: no limit */
	uint32_t memory_mib;      /* for us, and for what our looks make of the memory; 0: CTP_COLLECT_MIB */
	const char *shm_path, *sock_path; /* null: none */
	enum ctp_dialect dialect;
	/* What the user should know; what would look odd if nobody said it; what an interested one may. Each may be null. */
	const struct ctp_notice *warn, *news, *info;
};

struct ctp_collect_result {
	int status; /* to exit with: the command's, or 125, 126, 127 as env(1) has them; 0 of a process that was attached to */
	int signal; /* not 0: to die of, as the command did */
	bool attached; /* some process did use the memory or the socket */
	bool broken;   /* the output has failed: what was harvested is not all in the stream */
	uint32_t max_stations, max_rings;
	bool fixed;    /* these numbers are the program's */
	uint32_t short_mib; /* not 0: so much memory was not enough */
	struct ctp_harvest_stats stats;
	uint64_t duration_ns;
};

/*
 * Returns when the command and every traced process that it left behind are gone; or when the process that was attached to is,
 * or a signal has come, and then the probes are as they were before. It takes over the process's signals and
 * descriptors meanwhile, leaves the signals blocked if one has ended it, and is for a process that has one thread. CTP_FAILED: nothing was started, and result->status and err
 * say why. An output that fails later is said through warn and in the status; the command runs to its end all the same.
 */
enum ctp_status ctp_collect(const struct ctp_collect_conf *conf, struct ctp_collect_result *result, struct ctp_err *err);

/* "12 events, 3 coroutines, 0 lost, 0 untraced, 0.532 s", and where there is one, what to do about it */
enum { CTP_COLLECT_LINE_MAX = 400 };
void ctp_collect_line(const struct ctp_collect_result *result, char line[CTP_COLLECT_LINE_MAX]);

#endif
