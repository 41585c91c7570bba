/*
 * html-pack.h - what each coroutine did, kept in a few bytes for each event until the page is written.
 *
 * A row is a coroutine. Its events come as they happen; what they refer to (places, threads) are the caller's numbers, which
 * become those of the page when it is written, and other rows are referred to by their handles. The page's form is in
 * ctp-tohtml.1.
 *
 * There is room for so many events. Beyond that, what a reader of the page will miss least goes first: dead coroutines, whole,
 * those that died first before the others; and where that is not enough, the oldest events of those that live, so that each
 * keeps its newest ones. A row that lost events in that way says so.
 */
#ifndef CTP_HTML_PACK_H
#define CTP_HTML_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	CTP_HTML_ROWS_MAX = 1 << 22,
	CTP_HTML_LEFT_OUT = INT32_MAX, /* handle of a coroutine that has no row any more: its events are only counted */
};

/* Times of the page are numbers of JavaScript: exact below 2^53, an event's kind in three more bits. This is 13 days. */
#define CTP_HTML_TIME_MAX (((uint64_t)1 << 50) - 1)

/* As they are in the page. */
enum {
	CTP_HTML_CERTAIN = 1,   /* nothing of it is missing */
	CTP_HTML_DESTROYED = 2, /* while it was suspended */
	CTP_HTML_UNSEEN = 4,    /* its birth was not */
	CTP_HTML_OMITTED = 8,   /* it had events, which were left out */
	CTP_HTML_TAIL = 16,     /* something may have happened behind its last event */
};

enum ctp_html_event {
	CTP_HTML_SUSPEND, /* with a place */
	CTP_HTML_RESUME,  /* with a thread */
	CTP_HTML_WAKE,    /* with the handle of who did it, 0: not known */
	CTP_HTML_LOST,    /* with how many, 0: not known */
	CTP_HTML_AWAIT,   /* with the handle of whom it waits for, 0: not known */
};

struct ctp_html_row {
	/* The caller's. */
	uint64_t id, probe;
	uint64_t born_ns; /* may become less */
	uint32_t name, spawn; /* spawn: a place */
	uint32_t parent;      /* handle, 0: not known */
	uint8_t flags;
	bool keep; /* rather than others that are dead */
	bool older; /* it did more than is shown */

	/* The pack's. */
	bool dead;
	uint64_t died_ns, base_ns, last_ns; /* base_ns: the time from which the first event that is kept counts */
	uint32_t base_place, base_thread;   /* and what was said last before it */
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

/* A new row, as its handle; CTP_HTML_LEFT_OUT beyond what there is room for. */
uint32_t ctp_html_pack_row(struct ctp_html_pack *pack, uint64_t id, uint64_t probe, uint64_t born_ns);

/* The row, to be filled in; null for 0 and CTP_HTML_LEFT_OUT. Good until the next row is made. */
static inline struct ctp_html_row *ctp_html_pack_at(const struct ctp_html_pack *pack, uint32_t handle)
{
	return handle && handle != CTP_HTML_LEFT_OUT ? &pack->rows[handle - 1] : NULL;
}

/* A time that goes back is taken for the time of the event before. */
void ctp_html_pack_event(struct ctp_html_pack *pack, uint32_t handle, uint64_t ts_ns, enum ctp_html_event event, uint64_t arg);
void ctp_html_pack_died(struct ctp_html_pack *pack, uint32_t handle, uint64_t ts_ns);

/* Makes room, to be called where events > max_events. */
void ctp_html_pack_trim(struct ctp_html_pack *pack);

uint64_t ctp_html_pack_shown(const struct ctp_html_pack *pack); /* events that the page has */

/* How the caller's numbers become the page's: by index, 0 beyond. Times are since t0_ns. */
struct ctp_html_view {
	uint64_t t0_ns;
	const uint32_t *places, *threads;
	uint32_t nplaces, nthreads;
	const struct ctp_html_gaps *gaps; /* sorted (html-gaps.h) */
	uint32_t nshown; /* threads of the page, which are in the order of the caller's numbers */
};

/* Gives the columns, events and gaps of the page, in pieces, to put. False: out of memory. */
typedef void ctp_html_put(void *arg, const void *data, size_t len_bytes);
bool ctp_html_pack_write(struct ctp_html_pack *pack, const struct ctp_html_view *view, ctp_html_put *put, void *arg);

#endif
