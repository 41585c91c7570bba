/*
 * analysis.h - makes a report of a stream, in one pass, with memory by the coroutines that are alive and not by events: follow.h follows
 * these, tally.h counts what they do, and judge.h judges that at the end of a section.
 */
#ifndef CTP_ANALYSIS_H
#define CTP_ANALYSIS_H

#include "analyse/report.h"

struct ctp_analysis_options {
	const char *const *ignore; /* patterns as of fnmatch(3), of a rule, a site or "rule site"; what matches is only counted */
	size_t nignore;
	uint64_t since_ns, until_ns; /* since the start of the section; until_ns 0: to its end */
	const char *const *debug_dirs;
	size_t ndebug_dirs;
	enum ctp_state sites_by; /* CTP_RUNNING, CTP_RUNNABLE or CTP_SUSPENDED, which is also the default */
};

struct ctp_analysis {
	struct ctp_report report;
	struct ctp_follow follow;
	const char *input; /* whoever feeds it says what the sections that begin are read from; null: nothing to name */
	struct ctp_analysis_priv *priv;
};

/* Null: *err says why. The texts that options point to are needed until the end. */
struct ctp_analysis *ctp_analysis_new(const struct ctp_analysis_options *options, struct ctp_err *err);
void ctp_analysis_free(struct ctp_analysis *a);

/*
 * What a sink is given, in this order. Whoever draws the same trace listens to the changes as well: also is called after each
 * of the analysis' own steps; before its end, the section of the report is there.
 */
void ctp_analysis_listen(struct ctp_analysis *a, const struct ctp_follow_ops *also, void *arg);
void ctp_analysis_section(struct ctp_analysis *a, const struct ctp_section *sec);
void ctp_analysis_records(struct ctp_analysis *a, const struct ctp_batch *batch);
void ctp_analysis_end(struct ctp_analysis *a, const struct ctp_section_end *end);

#endif
