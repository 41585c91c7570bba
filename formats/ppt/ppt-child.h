/*
 * ppt-child.h - a child process that does what may hang, such as reading pages of another process.
 *
 * If a page is in a file whose file system does not answer, a process that reads it hangs, as a rule also after SIGKILL. So the child has no
 * descriptor but its own, and blocks all signals. It is waited for as long as it makes progress; else it is killed, and not waited for. It
 * ends when we do. Question and answer are in an area that both share.
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
	bool lost;    /* it has not answered in time, and is not asked again */
};

/* The area has this many bytes, all zero. False: errno. */
bool ctp_ppt_child_start(struct ctp_ppt_child *c, size_t bytes);
void ctp_ppt_child_stop(struct ctp_ppt_child *c); /* all zeros: nothing */

/* Runs fn in the child. False: it has not answered in limit_ms, or has made no progress for three seconds. */
typedef void ctp_ppt_child_fn(void *area);
bool ctp_ppt_child_call(struct ctp_ppt_child *c, ctp_ppt_child_fn *fn, int limit_ms);

/* Called in the child: it makes progress. */
void ctp_ppt_child_progress(void);

#endif
