/*
 * report-folded.h - folded stacks, which flamegraph.pl and speedscope read: for each chain of parents and each place how long
 * coroutines were running, runnable or suspended there.
 *
 *	main.c:88:serve;accept.c:41:accept_loop;handler.c:212:read_request 1730
 *
 * The last frame is the place where the coroutine suspended last. The frames before it are the spawn places of the coroutine, its
 * parent and so on. An unknown place is left out, or is [no_place] if the stack needs a frame. The number is in the unit that was
 * asked for; in a section without a clock it is a difference of record numbers. A stack may come in several lines: add their
 * numbers.
 *
 * Only spans of which nothing is missing count. A span that lasts until the end counts too, so that a stuck coroutine is seen. Gaps
 * are in stacks that end in [unknown], whatever state was asked for. Memory is bounded: a stack has at most CTP_FOLDED_DEPTH
 * frames, and there are at most CTP_FOLDED_NODES stacks. Time of further ones counts for the parent's stack.
 */
#ifndef CTP_REPORT_FOLDED_H
#define CTP_REPORT_FOLDED_H

#include "analyse/analysis.h"
#include "io/output.h"

enum { CTP_FOLDED_DEPTH = 64, CTP_FOLDED_NODES = 1 << 20 };

struct ctp_folded;

/*
 * Listens to the analysis, and writes to out when a section ends. state is CTP_RUNNING, CTP_RUNNABLE or CTP_SUSPENDED. Numbers
 * are units of unit_ns, rounded, and at least 1, so that no stack is lost. Null: err says why.
 */
struct ctp_folded *ctp_folded_new(struct ctp_analysis *a, enum ctp_state state, uint64_t unit_ns, struct ctp_output *out,
                                  struct ctp_err *err);
void ctp_folded_free(struct ctp_folded *f);

#endif
