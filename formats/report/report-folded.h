/*
 * report-folded.h - folded stacks, which flamegraph.pl and speedscope read: for each chain of parents and each place how long
 * coroutines were running, runnable or suspended there.
 *
 *	main.c:88:serve;accept.c:41:accept_loop;handler.c:212:read_request 1730
 *
 * The last frame is the place where the coroutine suspended last, those before it are where it, its parent and so on were made;
 * an unknown place is left out, or is [no_place] where a frame is needed. The number is of the unit that was asked for; in a section
 * without a clock it is a difference of its numbers. A stack may come in several lines, whose numbers are to be added.
 *
 * Only spans of which nothing is missing count, and at the end those that last until then: a coroutine that is stuck is the one
 * to be seen. Gaps are there too, whatever state was asked for, in stacks that end in [unknown]. Memory is bounded: a stack has at
 * most CTP_FOLDED_DEPTH frames, and there are CTP_FOLDED_NODES stacks; time beyond that counts for the stack below.
 */
#ifndef CTP_REPORT_FOLDED_H
#define CTP_REPORT_FOLDED_H

#include "analyse/analysis.h"
#include "io/output.h"

enum { CTP_FOLDED_DEPTH = 64, CTP_FOLDED_NODES = 1 << 20 };

struct ctp_folded;

/*
 * Listens to the analysis, and writes to out when a section ends. state is CTP_RUNNING, CTP_RUNNABLE or CTP_SUSPENDED. Numbers
 * are units of unit_ns, rounded, but 1 at least: no stack goes. Null: err says why.
 */
struct ctp_folded *ctp_folded_new(struct ctp_analysis *a, enum ctp_state state, uint64_t unit_ns, struct ctp_output *out,
                                  struct ctp_err *err);
void ctp_folded_free(struct ctp_folded *f);

#endif
