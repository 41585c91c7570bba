/*
 * proc-seen.h - what a process was seen to do from outside, beside what its coroutines tell: when it was stopped, whether a thread ran on
 * a processor or slept, and whether all of it slept.
 */
#ifndef CTP_PROC_SEEN_H
#define CTP_PROC_SEEN_H

#include <stdbool.h>
#include <stdint.h>

#include "stream/record.h"

enum { CTP_PROC_SEEN_STOPS = 1024 }; /* that are kept; later ones are part of the last */

/* What samples told of a thread within one run: they count if there are two at least. */
struct ctp_proc_seen_run {
	uint64_t first_ns, last_ns;   /* of the first sample and of the last */
	uint64_t cpu_ns, delay_ns;    /* in between: on a processor; ready to be, and not */
	uint64_t cpu_first_ns, delay_first_ns;
	uint32_t samples, asleep;     /* asleep: so many of them saw it sleep, or blocked in the kernel */
};

struct ctp_proc_seen {
	struct ctp_proc_seen_stop {
		uint64_t from_ns, to_ns;
	} *stops; /* in the order of time */
	uint32_t nstops;
	uint64_t total_ns;   /* of all of them */
	uint64_t stopped_ns; /* it is stopped since then; 0: it is not */
	struct ctp_proc_seen_round {
		uint64_t ts_ns, cpu_ns, threads;
		bool asleep; /* all of them */
	} round, before; /* all threads of the process: the one that is being told, and the last that was whole */
	uint64_t looked_ns, sure_ns; /* when the collector looked last, and the time before: what happened up to that one is told by now */
	uint64_t still_from_ns, still_to_ns; /* at these two times all of it slept, without any CPU time in between; 0: never */
};

void ctp_proc_seen_clear(struct ctp_proc_seen *seen);
void ctp_proc_seen_fini(struct ctp_proc_seen *seen);

/* Records of the kinds process and sample. last_ns: of the last event; run: what samples told of the thread so far. */
void ctp_proc_seen_process(struct ctp_proc_seen *seen, const struct ctp_record *rec, uint64_t ts, uint64_t last_ns);
void ctp_proc_seen_sample(struct ctp_proc_seen *seen, const struct ctp_record *rec, uint64_t ts, struct ctp_proc_seen_run *run);

/* An event: so it is not stopped any more. */
void ctp_proc_seen_went_on(struct ctp_proc_seen *seen, uint64_t ts);

/* The time up to which all is told, as far as looks at the process say; 0: they say nothing. What stands still has nothing more to tell. */
static inline uint64_t ctp_proc_seen_all_ns(const struct ctp_proc_seen *seen)
{
	return seen->sure_ns > seen->still_to_ns ? seen->sure_ns : seen->still_to_ns;
}

/* Of that time, how long it was stopped. */
uint64_t ctp_proc_seen_stopped_ns(const struct ctp_proc_seen *seen, uint64_t from_ns, uint64_t to_ns);

#endif
