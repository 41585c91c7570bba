/*
 * ppt-sought.h - names of buffers that a process has not yet, looked for while others are traced.
 */
#ifndef CTP_PPT_SOUGHT_H
#define CTP_PPT_SOUGHT_H

#include "ppt/ppt-symbols.h"

struct ctp_ppt_sought {
	/* To be read. */
	size_t missing; /* names that have no buffer so far */

	/* The rest is ppt-sought.c's. */
	char *const *names;
	unsigned *looks; /* of each name, that have found it */
	struct ctp_ppt_buffers *found; /* of each look that was the last one for a name */
	size_t nfound;
	struct ctp_distinct plain;
};

/* Names end with a null, and must be there until the fini; those of a buffer in all are found. */
enum ctp_status ctp_ppt_sought_init(struct ctp_ppt_sought *s, char *const *names, const struct ctp_ppt_buffers *all, struct ctp_err *err);
void ctp_ppt_sought_fini(struct ctp_ppt_sought *s); /* all zeros: nothing */

/* Buffers whose names were missing until now, which are there until the fini; null: none. A look costs a millisecond or so. */
const struct ctp_ppt_buffers *ctp_ppt_sought_look(struct ctp_ppt_sought *s, const struct ctp_ppt_memory *m);

/* The next name behind i that is missing; null: no more. i begins with 0. */
const char *ctp_ppt_sought_missing(const struct ctp_ppt_sought *s, size_t *i);

/* A description that can be read and understood. Before, a loader is still at work on the buffer. */
bool ctp_ppt_sought_readable(const struct ctp_ppt_memory *m, const struct ctp_ppt_buffer *b);

#endif
