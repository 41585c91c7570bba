/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * writeback.c - the ring and the thread that empties it.
 *
 * head, tail, lap, finished and failed change under the lock. These hold whenever it is free:
 *   - the bytes from tail to head belong to the thread, or to lap and from 0 to head where there is a lap; the rest are the
 *     producer's, which alone moves head;
 *   - a block is never broken: where less than a room is left after head, that is the lap, and the next block is made at 0;
 *   - an empty ring begins at 0 again, so that no more memory is touched than is needed;
 *   - failed stays, and the thread calls neither write nor idle from then on.
 * given_up is the producer's alone: the thread hangs in a write, with a part of the ring, so rooms are then given out after the ring's end.
 * The thread waits for `more` (signalled by commit and finish), the producer for `taken` (signalled by call). What the thread has
 * written to memory in a call the producer may read once it has seen, under the lock, that the call is over: by settle, or by
 * failed.
 */
#include "io/writeback.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/signals.h"

enum { CHUNK_BYTES = 1 << 20 }; /* room is given back in steps of at most this */

struct ctp_writeback {
	const struct ctp_writeback_ops *ops;
	void *arg;
	size_t bytes, room_bytes, chunk_bytes;
	pthread_mutex_t lock;
	pthread_cond_t more, taken;
	pthread_t thread;
	size_t head, tail; /* where the next block is made; what is written next */
	size_t lap;        /* where the lap of tail ends, if head is in the next one; else 0 */
	bool finished, failed, joined, given_up;
	char ring[]; /* and a room */
};

static bool is_empty(const struct ctp_writeback *wb) { return wb->head == wb->tail && !wb->lap; }

/* Under the lock: [tail, head) waits to be written; or [tail, lap), and then [0, head). */
static void check(const struct ctp_writeback *wb)
{
	(void)wb; /* without assertions */
	assert(wb->head <= wb->bytes && wb->lap <= wb->bytes);
	assert(wb->lap ? wb->head <= wb->tail && wb->tail < wb->lap : wb->tail <= wb->head);
}

/* --- the thread ---------------------------------------------------------------------------------------------------------- */

/* Write, or idle where there is no data; the lock is let go meanwhile. */
static void call(struct ctp_writeback *wb, const char *data, size_t len_bytes)
{
	pthread_mutex_unlock(&wb->lock);
	bool good = data ? wb->ops->write(wb->arg, data, len_bytes) : wb->ops->idle(wb->arg);
	pthread_mutex_lock(&wb->lock);
	wb->failed |= !good;
	pthread_cond_signal(&wb->taken); /* pairs with the waits in room and settle */
}

static void write_chunk(struct ctp_writeback *wb)
{
	size_t len = (wb->lap ? wb->lap : wb->head) - wb->tail;
	if (len > wb->chunk_bytes)
		len = wb->chunk_bytes;
	assert(len && len <= wb->bytes - wb->tail);
	call(wb, wb->ring + wb->tail, len);
	wb->tail += len;
	if (wb->tail == wb->lap)
		wb->tail = wb->lap = 0;
	check(wb);
	if (is_empty(wb) && !wb->failed && wb->ops->idle)
		call(wb, NULL, 0);
}

static void *write_blocks(void *arg)
{
	struct ctp_writeback *wb = arg;
	pthread_mutex_lock(&wb->lock);
	while (!wb->failed && !(wb->finished && is_empty(wb))) {
		if (is_empty(wb))
			pthread_cond_wait(&wb->more, &wb->lock);
		else
			write_chunk(wb);
	}
	pthread_mutex_unlock(&wb->lock);
	if (wb->ops->end)
		wb->ops->end(wb->arg);
	return NULL;
}

/* --- the producer -------------------------------------------------------------------------------------------------------- */

static void destroy(struct ctp_writeback *wb)
{
	pthread_cond_destroy(&wb->taken);
	pthread_cond_destroy(&wb->more);
	pthread_mutex_destroy(&wb->lock);
	free(wb);
}

struct ctp_writeback *ctp_writeback_new(const struct ctp_writeback_ops *ops, void *arg, size_t bytes, size_t room_bytes,
                                        struct ctp_err *err)
{
	assert(ops->write && room_bytes && room_bytes <= bytes);
	struct ctp_writeback *wb = malloc(sizeof *wb + bytes + room_bytes); /* untouched, it costs nothing */
	if (!wb) {
		ctp_err_memory(err);
		return NULL;
	}
	*wb = (struct ctp_writeback){.ops = ops, .arg = arg, .bytes = bytes, .room_bytes = room_bytes,
	                             .chunk_bytes = room_bytes < CHUNK_BYTES ? room_bytes : CHUNK_BYTES};
	pthread_mutex_init(&wb->lock, NULL);
	pthread_cond_init(&wb->more, NULL);
	ctp_clock_cond_init(&wb->taken);
	errno = ctp_signals_thread(&wb->thread, write_blocks, wb);
	if (errno) {
		ctp_err_sys(err, "starting the writer thread");
		destroy(wb);
		return NULL;
	}
	return wb;
}

/* Moves head to where a room would be; false: the thread has that still. After a failure it has nothing. */
static bool find_room(struct ctp_writeback *wb)
{
	if (wb->failed || is_empty(wb))
		wb->head = wb->tail = wb->lap = 0;
	if (!wb->lap && wb->bytes - wb->head < wb->room_bytes) {
		wb->lap = wb->head;
		wb->head = 0;
	}
	check(wb);
	return !wb->lap || wb->tail - wb->head >= wb->room_bytes;
}

/* Waits until something is taken. True: nothing was, and the producer has to end. */
static bool wait_taken(struct ctp_writeback *wb)
{
	struct timespec until = ctp_clock_deadline(CTP_WRITEBACK_PATIENCE_MS * UINT64_C(1000000));
	if (pthread_cond_timedwait(&wb->taken, &wb->lock, &until) != ETIMEDOUT) /* pairs with the signal in call */
		return false;
	return wb->ops->has_to_end && wb->ops->has_to_end(wb->arg);
}

char *ctp_writeback_room(struct ctp_writeback *wb)
{
	pthread_mutex_lock(&wb->lock);
	while (!wb->given_up && !find_room(wb))
		wb->given_up = wait_taken(wb);
	assert(wb->given_up || wb->bytes - wb->head >= wb->room_bytes);
	char *room = wb->ring + (wb->given_up ? wb->bytes : wb->head);
	pthread_mutex_unlock(&wb->lock);
	return room;
}

static bool commit(struct ctp_writeback *wb, size_t len_bytes)
{
	assert(len_bytes <= wb->room_bytes);
	pthread_mutex_lock(&wb->lock);
	bool good = !wb->failed;
	wb->head += good ? len_bytes : 0;
	check(wb);
	pthread_cond_signal(&wb->more); /* pairs with the wait in write_blocks */
	pthread_mutex_unlock(&wb->lock);
	return good;
}

bool ctp_writeback_put(struct ctp_writeback *wb, const void *block, size_t len_bytes)
{
	if (!wb->given_up && block == wb->ring + wb->head)
		return commit(wb, len_bytes);
	bool good = !wb->given_up;
	for (const char *from = block; good && len_bytes;) {
		size_t len = len_bytes < wb->room_bytes ? len_bytes : wb->room_bytes;
		memcpy(ctp_writeback_room(wb), from, len);
		good = !wb->given_up && commit(wb, len);
		from += len;
		len_bytes -= len;
	}
	return good;
}

bool ctp_writeback_settle(struct ctp_writeback *wb)
{
	pthread_mutex_lock(&wb->lock);
	while (!is_empty(wb) && !wb->failed)
		pthread_cond_wait(&wb->taken, &wb->lock); /* pairs with the signal in call */
	bool good = !wb->failed;
	pthread_mutex_unlock(&wb->lock);
	return good;
}

size_t ctp_writeback_held(struct ctp_writeback *wb)
{
	pthread_mutex_lock(&wb->lock);
	size_t held = wb->failed || wb->given_up ? 0 : wb->lap + wb->head - wb->tail;
	pthread_mutex_unlock(&wb->lock);
	return held;
}

void ctp_writeback_finish(struct ctp_writeback *wb)
{
	pthread_mutex_lock(&wb->lock);
	wb->finished = true;
	pthread_cond_signal(&wb->more); /* pairs with the wait in write_blocks */
	pthread_mutex_unlock(&wb->lock);
}

void ctp_writeback_join(struct ctp_writeback *wb)
{
	if (!wb->joined)
		pthread_join(wb->thread, NULL);
	wb->joined = true;
}

void ctp_writeback_free(struct ctp_writeback *wb)
{
	if (!wb)
		return;
	ctp_writeback_finish(wb);
	ctp_writeback_join(wb);
	destroy(wb);
}
