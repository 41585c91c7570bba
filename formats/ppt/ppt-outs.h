/*
 * ppt-outs.h - where the sections of several buffers go that are traced at the same time.
 *
 * The sections of a stream follow each other. So the first buffer that has something to say has the stream, live; what the others
 * say waits in files without a name and is appended at the end. Or each has a file of its own, if the path has %b in it.
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
	int spool; /* the nameless file; -1: none */
	bool failed; /* it could not be written to the end */
	bool shared; /* the stream that all of them come into */
	size_t section; /* of that stream, from 1; 0: none yet */
};

struct ctp_ppt_outs {
	struct ctp_ppt_out *out; /* of each buffer */
	size_t n;
	struct ctp_outqueue *main; /* null: each has a file */
	const char *path;    /* of main, the caller's; null: none that has nothing but the stream */
	size_t sections;     /* that main has */
	bool piped;          /* main is a pipe or a socket */
	bool taken;          /* somebody has it */
	bool (*hopeless)(void);
	bool unread;         /* it failed because nobody reads the pipe any more */
	bool wrote;          /* somebody has a writer */
};

/* path null or "-": stdout. names of the buffers are for %b. hopeless: true when waiting for an output has to end. */
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

/*
 * The descriptor of the i-th is readable: its writer is gone, and err says why. The others go on. kept: so many frames are in its
 * spool; CTP_PPT_OUTS_UNKNOWN: it has a file of its own.
 */
#define CTP_PPT_OUTS_UNKNOWN UINT64_MAX
void ctp_ppt_outs_fail(struct ctp_ppt_outs *outs, size_t i, uint64_t *kept, struct ctp_err *err);

/*
 * The spool or the file of the i-th is cut, or the stream that all come into; so many frames are in it. why null: it is known, by
 * ctp_ppt_outs_fail or by the close.
 */
struct ctp_ppt_cut {
	void (*hear)(void *arg, size_t i, uint64_t kept, const char *why);
	void *arg;
};

/*
 * Joins what was spooled, writes everything, reports the first error. Where no writer was ever asked for, files stay as they were. A
 * spool that has failed is no error: the whole packets that it has are appended behind the others, and cut hears of it. Nor is a file of
 * %b, as long as another one is whole. If the stream fails, cut hears what of each is in its file; of a pipe, what was read is not known.
 */
enum ctp_status ctp_ppt_outs_close(struct ctp_ppt_outs *outs, const struct ctp_ppt_cut *cut, struct ctp_err *err);

#endif
