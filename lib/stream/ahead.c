/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ahead.c - the thread fills the chunks of a ring, and the caller empties them.
 *
 * Chunk n is in slot n % CHUNKS. Chunks before `filled` are the caller's, up to `emptied`; all others are the thread's. Each side
 * hands a chunk over by adding 1 to its number, under the lock, and looks at the number of the other side under the lock only:
 *
 *	thread	fills chunk `filled`	when filled - emptied < CHUNKS
 *	caller	empties chunk `emptied`	when emptied < filled
 *
 * The records of a chunk are its own: the order gives its runs away, and goes on with those that the caller has emptied. A section,
 * its end and a late record are the reader's, so the thread waits after them until the chunk is emptied. Classes are the reader's
 * too, up to the next section.
 *
 * While filled == emptied the caller waits in a next, and the thread may use the notice.
 */
#include "stream/ahead.h"

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "base/signals.h"
#include "stream/order.h"
#include "stream/runs.h"

enum { CHUNKS = 4 };

struct chunk {
	struct ctp_runs *runs;
	struct ctp_item item;   /* after the records of the runs; a batch of none: no item */
	enum ctp_status status; /* after the item */
	struct ctp_err err;
	uint64_t done, total;   /* bytes of the input */
};

struct ctp_ahead {
	struct ctp_input *in, shown;
	const struct ctp_notice *notice;
	struct ctp_notice in_turn;
	struct ctp_reader *reader;
	struct ctp_order *order;
	const struct ctp_section *section; /* of the last item */
	bool started, has_chunk;           /* has_chunk: the caller empties one */

	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t is_filled, is_emptied;
	uint64_t filled, emptied;
	uint64_t wanted; /* the count of emptied chunks that the thread waits for */
	bool stopped;
	struct chunk chunks[CHUNKS];
};

static bool has_item(const struct chunk *c) { return c->item.kind != CTP_ITEM_RECORDS || c->item.batch.n; }

/* --- the thread ----------------------------------------------------------------------------------------------------------- */

/* Waits until this many chunks are emptied. False: the caller has stopped. Under the lock. */
static bool wait_emptied(struct ctp_ahead *a, uint64_t wanted)
{
	a->wanted = wanted;
	while (!a->stopped && a->emptied < wanted)
		pthread_cond_wait(&a->is_emptied, &a->lock);
	return !a->stopped;
}

/* borrowed: the chunk has a part of the reader. Of a full ring, half is waited for: that wakes the thread less often. */
static bool hand_over(struct ctp_ahead *a, bool borrowed)
{
	pthread_mutex_lock(&a->lock);
	assert(a->filled - a->emptied < CHUNKS);
	a->filled++;
	pthread_cond_signal(&a->is_filled);
	bool full = a->filled - a->emptied == CHUNKS;
	bool goes_on = wait_emptied(a, borrowed ? a->filled : full ? a->filled - CHUNKS / 2 : 0);
	pthread_mutex_unlock(&a->lock);
	return goes_on;
}

static void *read_ahead(void *arg)
{
	struct ctp_ahead *a = arg;
	enum ctp_status status;
	bool borrowed;
	do {
		struct chunk *c = &a->chunks[a->filled % CHUNKS];
		c->status = status = ctp_order_gather(a->order, &c->runs, &c->item, &c->err);
		borrowed = has_item(c);
		ctp_input_progress(a->in, &c->done, &c->total);
	} while (hand_over(a, borrowed) && !status);
	return NULL;
}

static void say_in_turn(void *arg, const char *text)
{
	struct ctp_ahead *a = arg;
	bool goes_on = true;
	if (a->started) {
		pthread_mutex_lock(&a->lock);
		goes_on = wait_emptied(a, a->filled);
		pthread_mutex_unlock(&a->lock);
	}
	if (goes_on)
		ctp_notice_say(a->notice, "%s", text);
}

/* --- the caller ----------------------------------------------------------------------------------------------------------- */

static bool pays(const struct ctp_input *in)
{
	cpu_set_t cpus;
	uint64_t done, total;
	ctp_input_progress(in, &done, &total);
	return !in->eof && total > done && total - done >= CTP_AHEAD_PAYS &&
	       !sched_getaffinity(0, sizeof cpus, &cpus) && CPU_COUNT(&cpus) > 1;
}

/* Without memory or a thread the caller reads. */
static void start(struct ctp_ahead *a)
{
	struct ctp_err err;
	for (int i = 0; i < CHUNKS; i++)
		if (!(a->chunks[i].runs = ctp_runs_new(CTP_ORDER_BYTES, &err)))
			return;
	a->started = true; /* the thread looks at this */
	if (ctp_signals_thread(&a->thread, read_ahead, a))
		a->started = false;
}

struct ctp_ahead *ctp_ahead_new(struct ctp_input *in, const struct ctp_notice *notice, struct ctp_err *err)
{
	struct ctp_ahead *a = ctp_err_calloc(err, sizeof *a);
	if (!a)
		return NULL;
	a->in = in;
	a->notice = notice;
	a->in_turn = (struct ctp_notice){.say = say_in_turn, .arg = a};
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->is_filled, NULL);
	pthread_cond_init(&a->is_emptied, NULL);
	a->reader = ctp_reader_new(in, notice ? &a->in_turn : NULL, err);
	a->order = a->reader ? ctp_order_new(a->reader, 0, err) : NULL;
	if (!a->order) {
		ctp_ahead_free(a);
		return NULL;
	}
	if (pays(in))
		start(a);
	return a;
}

const struct ctp_reader *ctp_ahead_stop(struct ctp_ahead *a)
{
	if (a->started) {
		pthread_mutex_lock(&a->lock);
		a->stopped = true;
		pthread_cond_signal(&a->is_emptied);
		pthread_mutex_unlock(&a->lock);
		pthread_join(a->thread, NULL);
		a->started = false;
	}
	return a->reader;
}

void ctp_ahead_free(struct ctp_ahead *a)
{
	if (!a)
		return;
	ctp_ahead_stop(a);
	for (int i = 0; i < CHUNKS; i++)
		ctp_runs_free(a->chunks[i].runs);
	ctp_order_free(a->order);
	ctp_reader_free(a->reader);
	pthread_cond_destroy(&a->is_emptied);
	pthread_cond_destroy(&a->is_filled);
	pthread_mutex_destroy(&a->lock);
	free(a);
}

__attribute__((unused)) static bool is_emptied(const struct chunk *c) { return !ctp_runs_released(c->runs) && !has_item(c); }

/* Gives back the chunk that is emptied, and waits for the next. */
static struct chunk *next_chunk(struct ctp_ahead *a)
{
	assert(!a->has_chunk || is_emptied(&a->chunks[a->emptied % CHUNKS])); /* the order may use its runs again */
	pthread_mutex_lock(&a->lock);
	a->emptied += a->has_chunk;
	assert(a->emptied <= a->filled);
	if (a->has_chunk && a->emptied == a->wanted)
		pthread_cond_signal(&a->is_emptied);
	while (a->filled == a->emptied)
		pthread_cond_wait(&a->is_filled, &a->lock);
	pthread_mutex_unlock(&a->lock);
	a->has_chunk = true;
	struct chunk *c = &a->chunks[a->emptied % CHUNKS];
	a->shown = (struct ctp_input){.name = a->in->name, .offset = c->done, .avail = c->total - c->done};
	return c;
}

enum ctp_status ctp_ahead_next(struct ctp_ahead *a, struct ctp_item *item, struct ctp_err *err)
{
	if (!a->started)
		return ctp_order_next(a->order, item, err);
	struct chunk *c = a->has_chunk ? &a->chunks[a->emptied % CHUNKS] : next_chunk(a);
	for (;; c = next_chunk(a)) {
		if (ctp_runs_next(c->runs, &item->batch)) {
			item->kind = CTP_ITEM_RECORDS;
			item->section = a->section;
			return CTP_OK;
		}
		if (has_item(c)) {
			*item = c->item;
			a->section = item->section;
			c->item = (struct ctp_item){.kind = CTP_ITEM_RECORDS};
			return CTP_OK;
		}
		if (c->status) {
			*err = c->err;
			return c->status;
		}
	}
}

uint64_t ctp_ahead_mark(const struct ctp_ahead *a) { return a->started ? 0 : ctp_order_mark(a->order); }

const struct ctp_input *ctp_ahead_shown(const struct ctp_ahead *a) { return a->has_chunk ? &a->shown : a->in; }
