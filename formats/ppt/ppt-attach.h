/*
 * ppt-attach.h - one buffer of a process: attach to it, have its ring, and leave it as it was.
 *
 * Nothing waits here: the caller comes back again and again, for a client does its part when its program next saves a frame. Stages:
 *
 *	freeing		the client still has a segment of an agent that has gone, or of ours; hmem is 0
 *	waiting		our segment is in hmem; the client has not attached it yet
 *	attached	the ring is there
 *	leaving		hmem is 0 again; the client has not let go yet
 *	over		nothing of ours is with the client, or nothing can be done about it
 *
 * `stat` is ours from the beginning to ctp_ppt_attach_end, hmem as long as a segment is in it. Neither is touched once it is
 * another's.
 */
#ifndef CTP_PPT_ATTACH_H
#define CTP_PPT_ATTACH_H

#include "base/err.h"
#include "ppt/ppt-control.h"
#include "ppt/ppt-layout.h"
#include "ppt/ppt-ring.h"
#include "ppt/ppt-shm.h"
#include "ppt/ppt-symbols.h"

enum ctp_ppt_stage { CTP_PPT_FREEING, CTP_PPT_WAITING, CTP_PPT_ATTACHED, CTP_PPT_LEAVING, CTP_PPT_OVER };

enum ctp_ppt_use { CTP_PPT_FREE, CTP_PPT_USED, CTP_PPT_ABANDONED };
struct ctp_ppt_user {
	enum ctp_ppt_use use;
	pid_t pid; /* of the agent; 0: not known */
	int id;    /* of its segment; 0: none */
};

/* Who is attached. False: the process has gone. */
bool ctp_ppt_attach_user(const struct ctp_ppt_memory *m, const struct ctp_ppt_buffer *b, struct ctp_ppt_user *user);

struct ctp_ppt_attach {
	/* Set by the caller. */
	const struct ctp_ppt_memory *memory;
	const struct ctp_ppt_buffer *buffer;
	const struct ctp_ppt_layout *layout;
	const struct ctp_ppt_counters *counters;
	uint32_t slots; /* of the ring, at least */
	uid_t user;     /* that the client acts as */

	enum ctp_ppt_stage stage;
	struct ctp_ppt_ring ring; /* once attached */
	uint32_t ncounters;       /* that the client was told of */

	/* The rest is ppt-attach.c's. */
	bool claimed, published;
	struct ctp_ppt_shm shm;    /* the control block, and the ring after it */
	struct ctp_ppt_shm freed;  /* that the client is to let go of */
	uint32_t attr_bytes;       /* of the client's perf_event_attr; 0: not known */
	bool probing;              /* attached only to find that out */
	unsigned refusals, empty; /* empty: looks that found it attached, without slots */
	unsigned troubles; /* that were returned */
	unsigned shared;   /* looks in a row that found another process with the ring */
	pid_t last;      /* that has let go of the ring, as it was seen; and when */
	int64_t last_s;
};

/* The buffer is ours. notice, which may be null, hears of what an agent left behind. Fails if another is attached, unless forced. */
enum ctp_status ctp_ppt_attach_begin(struct ctp_ppt_attach *a, bool force, const struct ctp_notice *notice, struct ctp_err *err);

/* Looks if the client has done its part, and does ours. CTP_FAILED: it cannot be attached; end it. */
enum ctp_status ctp_ppt_attach_step(struct ctp_ppt_attach *a, struct ctp_err *err);

/* Whether the buffer is still ours; if not, err says what has become of it. A look costs two system calls. */
enum ctp_ppt_hold {
	CTP_PPT_HELD,
	CTP_PPT_CLOSED, /* by its program, which has let go as for us; or its library is not there any more */
	CTP_PPT_TAKEN,  /* by another agent, as far as is known */
	CTP_PPT_GONE,   /* the memory of the process is */
};
enum ctp_ppt_hold ctp_ppt_attach_holds(const struct ctp_ppt_attach *a, struct ctp_err *err);

/* Flags of what is wrong, each of them once. */
enum {
	CTP_PPT_UNCOUNTED = 1, /* the client, or a thread of it, could not open the counters, and does without */
	CTP_PPT_CROWDED = 2,   /* a thread of the client has no counters: it has more threads than it has counters for */
	CTP_PPT_SHARED = 4,    /* another process has the ring too, as the child of a fork has; both write to it, each by its own numbers */
};
unsigned ctp_ppt_attach_troubles(struct ctp_ppt_attach *a);

/* Another process has the ring, or had since the last call: a child of this one. */
bool ctp_ppt_attach_others(struct ctp_ppt_attach *a);

void ctp_ppt_attach_leave(struct ctp_ppt_attach *a);

/* Stat is 0 again, and the target free; what the ring holds can still be read. */
void ctp_ppt_attach_release(struct ctp_ppt_attach *a);

/* The segments are given back too. To be called for each that was begun, on every way out. */
void ctp_ppt_attach_end(struct ctp_ppt_attach *a);

#endif
