/*
 * ppt-launch.h - a program that is started to be attached to: it runs at once, and its buffers are looked for meanwhile.
 */
#ifndef CTP_PPT_LAUNCH_H
#define CTP_PPT_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct ctp_ppt_launch {
	char *const *argv;
	bool stdout_to_stderr;
	char *const *buffers; /* one of these is waited for; none: any */
	uint64_t limit_ns;    /* to wait for them, at most; 0: until the program ends */
	const struct ctp_notice *notice; /* may be null */

	pid_t pid; /* once it runs */
};

/*
 * Starts it, and returns when it has buffers, with descriptions that can be read. CTP_FAILED: it could not be started, or has ended
 * before, or may not be read. Where it runs, it goes on.
 */
enum ctp_status ctp_ppt_launch(struct ctp_ppt_launch *l, struct ctp_err *err);

/* "exit status 3", "ended by signal 11"; "": it runs, or its status was 0. To be asked once. */
enum { CTP_PPT_FATE_BYTES = 48 };
void ctp_ppt_launch_fate(const struct ctp_ppt_launch *l, char text[CTP_PPT_FATE_BYTES]);

#endif
