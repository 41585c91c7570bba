/*
 * ppt-child.h - a child of ours that does what may hang: it reads what a process has in pages that need not come.
 *
 * A page of a file whose file system does not answer holds who reads it, as a rule also against SIGKILL. So the child has no descriptor
 * but its own, and blocks all signals; it is waited for as long as it makes progress, and else killed and left alone. It ends when we do.
 * Both share an area: in it are the question and the answer.
 */
#ifndef CTP_PPT_CHILD_H
#define CTP_PPT_CHILD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct ctp_ppt_child {
	pid_t pid;
	int fd;       /* -1: there is none */
	void *area;
	size_t bytes;
	bool lost;    /* it did not answer: nor will it */
};

/* The area is bytes of zeros. False, and errno: it could not be started. */
bool ctp_ppt_child_start(struct ctp_ppt_child *c, size_t bytes);
void ctp_ppt_child_stop(struct ctp_ppt_child *c); /* all zeros: nothing */

/* Has it do this. False: it does not answer, in limit_ms; or for three seconds without progress. */
typedef void ctp_ppt_child_fn(void *area);
bool ctp_ppt_child_call(struct ctp_ppt_child *c, ctp_ppt_child_fn *fn, int limit_ms);

/* The child has got on. */
void ctp_ppt_child_progress(void);

#endif
