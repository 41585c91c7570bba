/*
 * aside.h - work that may hang, done by a thread, so that the collector does not.
 *
 * A target chooses what it maps and where its memory lies: on a file system that never answers, or behind a userfaultfd. Work that
 * touches either is done aside, and the collector waits CTP_ASIDE_WAIT_MS at most. Work that has not come back by then goes on alone,
 * with a copy of all that it needs; until it comes back there is no other.
 */
#ifndef CTP_ASIDE_H
#define CTP_ASIDE_H

#include <stdbool.h>
#include <stddef.h>

enum { CTP_ASIDE_WAIT_MS = 1000, CTP_ASIDE_BYTES = 8 << 10 };

struct ctp_aside;

struct ctp_aside *ctp_aside_new(void); /* null: out of memory. The thread is made by the first work */
void ctp_aside_free(struct ctp_aside *a); /* null: nothing. Does not wait for work that hangs */

/* Calls work with a copy of job, of at most CTP_ASIDE_BYTES, and copies it back. False: it was not done, or hangs. */
bool ctp_aside_do(struct ctp_aside *a, void (*work)(void *job), void *job, size_t bytes);

#endif
