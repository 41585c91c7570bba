/*
 * collect.h - runs a command, traced: the whole of ctp-collect but its options.
 */
#ifndef CTP_COLLECT_H
#define CTP_COLLECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"
#include "harvest.h"

struct ctp_collect_conf {
	char *const *argv;        /* the command, ended by null */
	uint32_t max_stations;    /* 1 .. CTP_STATIONS_MAX */
	const char *output;       /* null or "-": stdout, and then the command's stdout goes to stderr */
	bool force;               /* even to a terminal */
	uint64_t limit_ns;        /* the trace ends after so long, the command runs on; 0: no limit */
	const char *shm_path, *sock_path; /* null: none */
	enum ctp_dialect dialect;
	/* What the user should know; what would look odd if nobody said it; what an interested one may. Each may be null. */
	const struct ctp_notice *warn, *news, *info;
};

struct ctp_collect_result {
	int status; /* to exit with: the command's, or 125, 126, 127 as env(1) has them */
	int signal; /* not 0: to die of, as the command did */
	bool attached; /* some process did use the memory or the socket */
	bool broken;   /* the output has failed: what was harvested is not all in the stream */
	uint32_t max_stations;
	struct ctp_harvest_stats stats;
	uint64_t duration_ns;
};

/*
 * Returns when the command and every traced process that it left behind are gone. It takes over the process's signals and
 * descriptors meanwhile, and is for a process that has one thread. CTP_FAILED: nothing was started, and result->status and err
 * say why. An output that fails later is said through warn and in the status; the command runs to its end all the same.
 */
enum ctp_status ctp_collect(const struct ctp_collect_conf *conf, struct ctp_collect_result *result, struct ctp_err *err);

/* "12 events, 3 coroutines, 0 lost, 0 untraced, 0.532 s", and where there is one, what to do about it */
enum { CTP_COLLECT_LINE_MAX = 320 };
void ctp_collect_line(const struct ctp_collect_result *result, char line[CTP_COLLECT_LINE_MAX]);

#endif
