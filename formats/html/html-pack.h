/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * html-pack.h - the events of each coroutine, in a few bytes each, until the page is written.
 *
 * A row is a coroutine. Its events refer to places and threads by the caller's numbers, which become numbers of the page when that
 * is written, and to other rows by their handles. ctp-tohtml.1 describes the format of the page.
 *
 * The number of events is limited. When there are more, all events of dead coroutines are dropped, the earliest deaths first. If
 * that is not enough, living coroutines lose their oldest events. A row that lost events in this way says so.
 */
#ifndef CTP_HTML_PACK_H
#define CTP_HTML_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	CTP_HTML_ROWS_MAX = 1 << 22,
	CTP_HTML_LEFT_OUT = INT32_MAX, /* the handle of a coroutine without a row: its events are only counted */
};

/* Times of the page are numbers of JavaScript: exact below 2^53, an event's kind in three more bits. This is 13 days. */
#define CTP_HTML_TIME_MAX (((uint64_t)1 << 50) - 1)

/* Flags of a row, as in the page. */
enum {
	CTP_HTML_CERTAIN = 1,   /* no event of the coroutine is missing */
	CTP_HTML_DESTROYED = 2, /* the coroutine was destroyed while it was suspended */
	CTP_HTML_UNSEEN = 4,    /* its birth is not in the trace */
	CTP_HTML_OMITTED = 8,   /* its events were left out */
	CTP_HTML_TAIL = 16,     /* events may be missing after its last one */
};

enum { CTP_HTML_WAITS = 2 };

enum ctp_html_event {
	CTP_HTML_SUSPEND, /* with a place */
	CTP_HTML_RESUME,  /* with a thread */
	CTP_HTML_WAKE,    /* with the handle of the waker; 0: not known */
	CTP_HTML_LOST,    /* with the number of events; 0: not known */
	CTP_HTML_AWAIT,   /* with the handle of the awaited coroutine; 0: not known */
	CTP_HTML_WAIT,    /* before a SUSPEND: what it will wait for there, a number of the page; 0: not known */
	CTP_HTML_HELD,    /* with the handle of the coroutine that holds what this one waits for */
};

struct ctp_html_row {
	/* The caller's. */
	uint64_t id, probe;
	uint64_t born_ns; /* may become less */
	uint32_t name, spawn; /* spawn: a place */
	uint32_t parent;      /* handle, 0: not known */
	uint32_t holder;      /* handle of the one that held what this one waits for, when the wait began; 0: none, or not known */
	struct ctp_html_wait {
		uint32_t place, reason;
	} waits[CTP_HTML_WAITS]; /* what it waited for at its last places */
	uint8_t flags;
	bool keep; /* drop other dead rows first */
	bool older; /* it has events before those that are shown */
	bool drop;  /* do not write it */

	/* The pack's. */
	bool dead;
	uint64_t died_ns, base_ns, last_ns; /* base_ns: the time before the first event that is kept */
	uint32_t base_place, base_thread;   /* and the place and thread before it */
	uint32_t place, thread;
	uint32_t first, last; /* blocks */
	uint32_t kept, cut;   /* events */
	uint32_t next_dead;   /* handle */
};

struct ctp_html_pack {
	struct ctp_html_row *rows; /* by handle - 1 */
	uint32_t nrows;
	size_t room;
	uint64_t max_events, events;
	uint64_t omitted_coroutines, omitted_events;
	bool failed; /* out of memory at some point */
	uint32_t first_dead, last_dead;
	struct ctp_html_pool {
		uint8_t **slabs;
		uint32_t nslabs, at;
		size_t room;
		uint32_t unused[8]; /* first block of each size that is free */
	} pool;
};

void ctp_html_pack_init(struct ctp_html_pack *pack, uint64_t max_events);
void ctp_html_pack_fini(struct ctp_html_pack *pack);

/* Adds a row, and returns its handle; CTP_HTML_LEFT_OUT: there is no room. */
uint32_t ctp_html_pack_row(struct ctp_html_pack *pack, uint64_t id, uint64_t probe, uint64_t born_ns);

/* The row, to be filled in; null for 0 and CTP_HTML_LEFT_OUT. Valid until the next row is added. */
static inline struct ctp_html_row *ctp_html_pack_at(const struct ctp_html_pack *pack, uint32_t handle)
{
	return handle && handle != CTP_HTML_LEFT_OUT ? &pack->rows[handle - 1] : NULL;
}

/* An event that is earlier than the one before it gets the time of that one. */
void ctp_html_pack_event(struct ctp_html_pack *pack, uint32_t handle, uint64_t ts_ns, enum ctp_html_event event, uint64_t arg);
void ctp_html_pack_died(struct ctp_html_pack *pack, uint32_t handle, uint64_t ts_ns);

/* Drops events. To be called if events > max_events. */
void ctp_html_pack_trim(struct ctp_html_pack *pack);

/* The number of events and of rows in the page. */
uint64_t ctp_html_pack_shown(const struct ctp_html_pack *pack);
uint32_t ctp_html_pack_rows(const struct ctp_html_pack *pack);

/* Maps the caller's numbers to those of the page; a number that is too large becomes 0. Times are relative to t0_ns. */
struct ctp_html_view {
	uint64_t t0_ns;
	const uint32_t *places, *threads;
	uint32_t nplaces, nthreads;
	const struct ctp_html_gaps *gaps; /* sorted (html-gaps.h) */
	uint32_t nshown; /* threads of the page, which are in the order of the caller's numbers */
};

/* Passes the columns, events and gaps of the page to put, in pieces. False: out of memory. */
typedef void ctp_html_put(void *arg, const void *data, size_t len_bytes);
bool ctp_html_pack_write(struct ctp_html_pack *pack, const struct ctp_html_view *view, ctp_html_put *put, void *arg);

#endif
