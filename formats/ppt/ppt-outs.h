/*
 * ppt-outs.h - where the sections of several buffers go that are traced at the same time.
 *
 * The sections of a stream follow each other, and what waits for its turn is lost if this program is killed. So each of several buffers
 * has a file of its own, whose path has %b in it.
 *
 * Each output has a thread that writes, so that no reader or disk holds up the look at a ring.
 */
#ifndef CTP_PPT_OUTS_H
#define CTP_PPT_OUTS_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "io/outqueue.h"
#include "stream/writer.h"

struct ctp_ppt_out {
	struct ctp_outqueue *queue;
	struct ctp_writer *writer;
	char *path;
	bool failed; /* it could not be written to the end */
};

struct ctp_ppt_outs {
	struct ctp_ppt_out *out; /* of each buffer */
	size_t n;
	struct ctp_outqueue *main; /* of the only one; null: each has a file */
	const char *path;    /* of main, the caller's; null: none that has nothing but the stream */
	bool piped;          /* main is a pipe or a socket */
	bool (*hopeless)(void);
	bool unread;         /* it failed because nobody reads the pipe any more */
	bool wrote;          /* somebody has a writer */
};

/* path null or "-": stdout. names of the buffers are for %b, which more than one need. hopeless: true when waiting for an output has to end. */
enum ctp_status ctp_ppt_outs_open(struct ctp_ppt_outs *outs, const char *path, bool force, const char *const *names, size_t n,
                                  bool (*hopeless)(void), struct ctp_err *err);

/* One more buffer, the last. On failure it is not there. */
enum ctp_status ctp_ppt_outs_add(struct ctp_ppt_outs *outs, const char *path, bool force, const char *name, struct ctp_err *err);

/* For the section of the i-th. Null: err. */
struct ctp_writer *ctp_ppt_outs_writer(struct ctp_ppt_outs *outs, size_t i, struct ctp_err *err);

/* A put might have to wait. */
bool ctp_ppt_outs_tight(const struct ctp_ppt_outs *outs, size_t i);

/* Descriptors that are readable when an output has failed; how many, at most room. of: whose each is, or CTP_PPT_OUTS_ALL. */
#define CTP_PPT_OUTS_ALL SIZE_MAX
size_t ctp_ppt_outs_watch(const struct ctp_ppt_outs *outs, struct pollfd *fds, size_t *of, size_t room);

/* To be called when the descriptor of output i is readable: its writer has ended, and err says why. kept: the frames in its file. */
#define CTP_PPT_OUTS_UNKNOWN UINT64_MAX
void ctp_ppt_outs_fail(struct ctp_ppt_outs *outs, size_t i, uint64_t *kept, struct ctp_err *err);

/* The file of output i is cut, and has kept frames. why: null if ctp_ppt_outs_fail or the close has said it. */
struct ctp_ppt_cut {
	void (*hear)(void *arg, size_t i, uint64_t kept, const char *why);
	void *arg;
};

/*
 * Writes everything, reports the first error. Where no writer was ever asked for, files stay as they were. A file of %b that has failed is no
 * error, as long as another one is whole, and cut hears of it. If the stream fails, cut hears what is in its file; of a pipe, what was
 * read is not known.
 */
enum ctp_status ctp_ppt_outs_close(struct ctp_ppt_outs *outs, const struct ctp_ppt_cut *cut, struct ctp_err *err);

#endif
