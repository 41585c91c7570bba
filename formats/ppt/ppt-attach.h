/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ppt-attach.h - one buffer of a process: attaches to it, reads its ring, and leaves it as it was.
 *
 * Nothing waits here. A client attaches when its program next saves a frame, so the caller calls ctp_ppt_attach_step again and
 * again. Stages:
 *
 *	freeing		the client still has a segment of an earlier agent, or an earlier one of ours; hmem is 0
 *	waiting		our segment is in hmem; the client has not attached it yet
 *	attached	the ring is there
 *	leaving		hmem is 0 again; the client has not let go yet
 *	over		the client has let go, or nothing more can be done
 *
 * `stat` has our number from ctp_ppt_attach_begin to ctp_ppt_attach_release, and hmem the id of our segment while it is published.
 * Neither is written to while another agent's number or segment is in it.
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

/* Which agent is attached. False: the memory of the process cannot be read. */
bool ctp_ppt_attach_user(const struct ctp_ppt_memory *m, const struct ctp_ppt_buffer *b, struct ctp_ppt_user *user);

struct ctp_ppt_attach {
	/* Set by the caller. */
	const struct ctp_ppt_memory *memory;
	const struct ctp_ppt_buffer *buffer;
	const struct ctp_ppt_layout *layout;
	const struct ctp_ppt_counters *counters;
	uint32_t slots; /* of the ring, at least */
	uid_t user;     /* of the client */

	enum ctp_ppt_stage stage;
	struct ctp_ppt_ring ring; /* once attached; while leaving too, if the client has attached just before */
	uint32_t ncounters;       /* in the control block */

	/* The rest is ppt-attach.c's. */
	bool claimed, published;
	struct ctp_ppt_shm shm;    /* the control block, and the ring after it */
	struct ctp_ppt_shm freed;  /* that the client is to let go of */
	uint32_t attr_bytes;       /* of the client's perf_event_attr; 0: not known */
	bool probing;              /* attached only to find that out */
	unsigned refusals, empty; /* empty: looks that found the client attached, with 0 slots */
	unsigned troubles; /* that were returned */
	unsigned shared;   /* looks in a row that found another process with the ring */
	pid_t last;        /* the process that was the last to attach or let go, at the last look; and when it let go */
	int64_t last_s;
};

/*
 * Claims the buffer. notice, which may be null, gets a line about what an earlier agent has left. Fails if another is attached,
 * unless forced.
 */
enum ctp_status ctp_ppt_attach_begin(struct ctp_ppt_attach *a, bool force, const struct ctp_notice *notice, struct ctp_err *err);

/*
 * The next stage, if the client is ready for it. CTP_EOF: the process has ended, or become another program, and had not attached.
 * CTP_FAILED: it cannot be attached; call ctp_ppt_attach_end.
 */
enum ctp_status ctp_ppt_attach_step(struct ctp_ppt_attach *a, struct ctp_err *err);

/* Whether the buffer is still ours; if not, err says what has happened to it. */
enum ctp_ppt_hold {
	CTP_PPT_HELD,
	CTP_PPT_CLOSED, /* by its program, or its library was unloaded */
	CTP_PPT_TAKEN,  /* by another agent, it seems */
	CTP_PPT_GONE,   /* the memory of the process cannot be read any more */
};
enum ctp_ppt_hold ctp_ppt_attach_holds(const struct ctp_ppt_attach *a, struct ctp_err *err);

/* Flags of what is wrong, each of them once. */
enum {
	CTP_PPT_UNCOUNTED = 1, /* the client, or a thread of it, could not open the counters, and does without */
	CTP_PPT_CROWDED = 2,   /* a thread of the client has no counters: it has more threads than it has counters for */
	CTP_PPT_SHARED = 4,    /* a child of a fork has the ring too; both write to it, each by its own numbers */
};
unsigned ctp_ppt_attach_troubles(struct ctp_ppt_attach *a);

/* Another process, a child of this one, has the ring, or had it since the last call. */
bool ctp_ppt_attach_others(struct ctp_ppt_attach *a);

/* Unpublishes the segment. The stage is leaving, until the client has let go. */
void ctp_ppt_attach_leave(struct ctp_ppt_attach *a);

/* Sets stat to 0, so that others can attach. What the ring holds can still be read. */
void ctp_ppt_attach_release(struct ctp_ppt_attach *a);

/* Frees the segments too. Must be called after each begin, on every way out. */
void ctp_ppt_attach_end(struct ctp_ppt_attach *a);

#endif
