/* frame-reader.c - one question at a time, under a lock; what comes too late is dropped. */
#include "collect/frame-reader.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "base/clock.h"
#include "base/signals.h"

static const uint64_t PATIENCE_NS = 500000000;

struct question {
	pid_t pid;
	size_t n;
	uint64_t addrs[CTP_FRAME_QUEUE_AT_ONCE];
};

struct answer {
	ssize_t n; /* words; -1: error says why */
	int error;
	uint64_t words[CTP_FRAME_QUEUE_AT_ONCE];
};

struct ctp_frame_reader {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_t thread;
	bool started, over;
	bool asked;  /* and not answered: the thread is in the target's memory, or on its way there */
	bool orphan; /* freed meanwhile: the thread is the last that has it */
	struct question question;
	struct answer answer;
};

static void read_words(const struct question *q, struct answer *a)
{
	struct iovec local = {a->words, q->n * sizeof *a->words}, remote[CTP_FRAME_QUEUE_AT_ONCE];
	for (size_t i = 0; i < q->n; i++)
		remote[i] = (struct iovec){(void *)(uintptr_t)q->addrs[i], sizeof *a->words};
	ssize_t got = process_vm_readv(q->pid, &local, 1, remote, q->n, 0);
	a->error = errno;
	a->n = got < 0 ? -1 : got / (ssize_t)sizeof *a->words;
}

static void release(struct ctp_frame_reader *r)
{
	pthread_cond_destroy(&r->changed);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

static void *run(void *arg)
{
	struct ctp_frame_reader *r = arg;
	pthread_mutex_lock(&r->lock);
	for (;;) {
		while (!r->asked && !r->over)
			pthread_cond_wait(&r->changed, &r->lock);
		if (r->over)
			break;
		struct question q = r->question;
		struct answer a;
		pthread_mutex_unlock(&r->lock);
		read_words(&q, &a);
		pthread_mutex_lock(&r->lock);
		r->answer = a;
		r->asked = false;
		pthread_cond_signal(&r->changed);
	}
	bool last = r->orphan;
	pthread_mutex_unlock(&r->lock);
	if (last)
		release(r);
	return NULL;
}

struct ctp_frame_reader *ctp_frame_reader_new(void)
{
	struct ctp_frame_reader *r = calloc(1, sizeof *r);
	if (!r)
		return NULL;
	pthread_mutex_init(&r->lock, NULL);
	ctp_clock_cond_init(&r->changed);
	return r;
}

static int start(struct ctp_frame_reader *r)
{
	int error = ctp_signals_thread(&r->thread, run, r);
	r->started = !error;
	return error;
}

/* Under the lock. False: there is no answer in time. */
static bool wait_answer(struct ctp_frame_reader *r)
{
	struct timespec until = ctp_clock_deadline(PATIENCE_NS);
	while (r->asked && !pthread_cond_timedwait(&r->changed, &r->lock, &until))
		;
	return !r->asked;
}

ssize_t ctp_frame_reader_read(struct ctp_frame_reader *r, pid_t pid, const uint64_t *addrs, size_t n, uint64_t *words)
{
	assert(n && n <= CTP_FRAME_QUEUE_AT_ONCE);
	int error = r->started ? 0 : start(r);
	ssize_t got = -1;
	if (!error) {
		pthread_mutex_lock(&r->lock);
		error = ETIMEDOUT;
		if (!r->asked) {
			r->question.pid = pid;
			r->question.n = n;
			memcpy(r->question.addrs, addrs, n * sizeof *addrs);
			r->asked = true;
			pthread_cond_signal(&r->changed);
			if (wait_answer(r)) {
				got = r->answer.n;
				error = r->answer.error;
				if (got > 0)
					memcpy(words, r->answer.words, (size_t)got * sizeof *words);
			}
		}
		pthread_mutex_unlock(&r->lock);
	}
	errno = error;
	return got;
}

/* What is still asked is a page that does not come: the thread and what it writes to stay, until it does. */
void ctp_frame_reader_free(struct ctp_frame_reader *r)
{
	if (!r)
		return;
	pthread_mutex_lock(&r->lock);
	bool held = r->asked;
	r->orphan = held;
	r->over = true;
	if (held)
		pthread_detach(r->thread);
	pthread_cond_signal(&r->changed);
	pthread_mutex_unlock(&r->lock);
	if (held)
		return;
	if (r->started)
		pthread_join(r->thread, NULL);
	release(r);
}
