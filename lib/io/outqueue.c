/*
 * outqueue.c - the ring and the thread that empties it.
 *
 * head, tail and lap change under the lock. The bytes from tail to head belong to the thread, the rest to the one who puts, who
 * alone moves head. A packet is never broken at the end of the ring, which has room for one more behind it: the packet that
 * crosses CTP_OUTQUEUE_BYTES is the last of a lap, and the next is made at the beginning. Where the ring has run empty the next
 * one is made there too, so that the ring touches no more memory than it needs.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "io/outqueue.h"

enum { CHUNK_BYTES = 1 << 20 }; /* room is given back in steps of at most this */

struct ctp_outqueue {
	pthread_mutex_t lock;
	pthread_cond_t more, room;
	pthread_t thread;
	size_t head, tail; /* where the next packet is made; what is written next */
	size_t lap;        /* where the lap of tail ends, if head is in the next one; else 0 */
	bool finished, abandoned, failed;
	int event_fd;
	struct ctp_err err;
	struct ctp_output out; /* the thread's */
	char ring[];
};

static bool is_empty(const struct ctp_outqueue *q) { return q->head == q->tail && !q->lap; }

/* Writes what is there, unlocked meanwhile; returns with the ring empty. */
static void drain(struct ctp_outqueue *q)
{
	while (!is_empty(q)) {
		const char *from = q->ring + q->tail;
		size_t len = (q->lap ? q->lap : q->head) - q->tail;
		if (len > CHUNK_BYTES)
			len = CHUNK_BYTES;
		pthread_mutex_unlock(&q->lock);
		ctp_output_pass(&q->out, from, len);
		pthread_mutex_lock(&q->lock);
		q->tail += len;
		if (q->tail == q->lap)
			q->tail = q->lap = 0;
		q->failed |= q->out.failed;
		pthread_cond_signal(&q->room);
	}
	pthread_mutex_unlock(&q->lock);
	ctp_output_flush(&q->out);
	pthread_mutex_lock(&q->lock);
	q->failed |= q->out.failed;
}

static void *writer_main(void *arg)
{
	struct ctp_outqueue *q = arg;
	pthread_mutex_lock(&q->lock);
	while (!q->failed && (!q->finished || !is_empty(q))) {
		if (is_empty(q))
			pthread_cond_wait(&q->more, &q->lock);
		else
			drain(q);
	}
	bool abandoned = q->abandoned, failed = false;
	pthread_mutex_unlock(&q->lock);
	struct ctp_err err;
	if (abandoned)
		ctp_output_abandon(&q->out);
	else
		failed = ctp_output_close(&q->out, &err) != CTP_OK;
	pthread_mutex_lock(&q->lock);
	if (failed) {
		q->failed = true;
		q->err = err;
	}
	pthread_cond_signal(&q->room);
	pthread_mutex_unlock(&q->lock);
	eventfd_write(q->event_fd, 1);
	return NULL;
}

struct ctp_outqueue *ctp_outqueue_new(const struct ctp_output *out, struct ctp_err *err)
{
	struct ctp_outqueue *q = malloc(sizeof(*q) + CTP_OUTQUEUE_BYTES + CTP_OUTQUEUE_ROOM); /* untouched, it costs nothing */
	if (!q) {
		ctp_err_set(err, "out of memory");
		return NULL;
	}
	memset(q, 0, sizeof(*q));
	q->out = *out;
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->more, NULL);
	pthread_cond_init(&q->room, NULL);
	sigset_t all, before;
	sigfillset(&all);
	q->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int error = q->event_fd < 0 ? errno : pthread_create(&q->thread, NULL, writer_main, q);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error) {
		errno = error;
		ctp_err_sys(err, "starting the writer thread");
		if (q->event_fd >= 0)
			close(q->event_fd);
		free(q);
		return NULL;
	}
	return q;
}

void *ctp_outqueue_room(void *queue)
{
	struct ctp_outqueue *q = queue;
	pthread_mutex_lock(&q->lock);
	for (;; pthread_cond_wait(&q->room, &q->lock)) {
		if (is_empty(q))
			q->head = q->tail = 0;
		if (!q->lap && q->head >= CTP_OUTQUEUE_BYTES) {
			q->lap = q->head;
			q->head = 0;
		}
		if (q->failed || !q->lap || q->tail - q->head >= CTP_OUTQUEUE_ROOM)
			break;
	}
	void *room = q->ring + q->head;
	pthread_mutex_unlock(&q->lock);
	return room;
}

/* What was made in the room. */
static bool commit(struct ctp_outqueue *q, size_t len_bytes)
{
	pthread_mutex_lock(&q->lock);
	bool taken = !q->failed;
	q->head += taken ? len_bytes : 0;
	pthread_cond_signal(&q->more);
	pthread_mutex_unlock(&q->lock);
	return taken;
}

bool ctp_outqueue_put(void *queue, const void *packet, size_t len_bytes)
{
	struct ctp_outqueue *q = queue;
	if (packet == q->ring + q->head)
		return commit(q, len_bytes);
	bool taken = true;
	for (const char *from = packet; taken && len_bytes;) {
		size_t len = len_bytes < CTP_OUTQUEUE_ROOM ? len_bytes : CTP_OUTQUEUE_ROOM;
		memcpy(ctp_outqueue_room(q), from, len);
		taken = commit(q, len);
		from += len;
		len_bytes -= len;
	}
	return taken;
}

bool ctp_outqueue_tight(struct ctp_outqueue *q)
{
	pthread_mutex_lock(&q->lock);
	bool tight = q->lap + q->head - q->tail > CTP_OUTQUEUE_BYTES / 2 && !q->failed;
	pthread_mutex_unlock(&q->lock);
	return tight;
}

int ctp_outqueue_fd(const struct ctp_outqueue *q) { return q->event_fd; }

bool ctp_outqueue_unread(struct ctp_outqueue *q)
{
	pthread_mutex_lock(&q->lock);
	bool unread = q->failed && q->out.epipe;
	pthread_mutex_unlock(&q->lock);
	return unread;
}

void ctp_outqueue_finish(struct ctp_outqueue *q)
{
	pthread_mutex_lock(&q->lock);
	q->finished = true;
	pthread_cond_signal(&q->more);
	pthread_mutex_unlock(&q->lock);
}

enum ctp_status ctp_outqueue_close(struct ctp_outqueue *q, struct ctp_err *err)
{
	pthread_join(q->thread, NULL);
	enum ctp_status st = q->failed ? CTP_FAILED : CTP_OK;
	if (q->failed)
		*err = q->err;
	close(q->event_fd);
	pthread_cond_destroy(&q->room);
	pthread_cond_destroy(&q->more);
	pthread_mutex_destroy(&q->lock);
	free(q);
	return st;
}

void ctp_outqueue_abandon(struct ctp_outqueue *q)
{
	struct ctp_err ignored;
	pthread_mutex_lock(&q->lock);
	q->abandoned = true;
	pthread_mutex_unlock(&q->lock);
	ctp_outqueue_finish(q);
	ctp_outqueue_close(q, &ignored);
}
