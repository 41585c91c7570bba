/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
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

static void release(struct ctp_frame_reader *reader)
{
	pthread_cond_destroy(&reader->changed);
	pthread_mutex_destroy(&reader->lock);
	free(reader);
}

static void *run(void *arg)
{
	struct ctp_frame_reader *reader = arg;
	pthread_mutex_lock(&reader->lock);
	for (;;) {
		while (!reader->asked && !reader->over)
			pthread_cond_wait(&reader->changed, &reader->lock);
		if (reader->over)
			break;
		struct question q = reader->question;
		struct answer a;
		pthread_mutex_unlock(&reader->lock);
		read_words(&q, &a);
		pthread_mutex_lock(&reader->lock);
		reader->answer = a;
		reader->asked = false;
		pthread_cond_signal(&reader->changed);
	}
	bool last = reader->orphan;
	pthread_mutex_unlock(&reader->lock);
	if (last)
		release(reader);
	return NULL;
}

struct ctp_frame_reader *ctp_frame_reader_new(void)
{
	struct ctp_frame_reader *reader = calloc(1, sizeof *reader);
	if (!reader)
		return NULL;
	pthread_mutex_init(&reader->lock, NULL);
	ctp_clock_cond_init(&reader->changed);
	return reader;
}

/* Under the lock. False: there is no answer in time. */
static bool wait_answer(struct ctp_frame_reader *reader)
{
	struct timespec until = ctp_clock_deadline(PATIENCE_NS);
	while (reader->asked && !pthread_cond_timedwait(&reader->changed, &reader->lock, &until))
		;
	return !reader->asked;
}

ssize_t ctp_frame_reader_read(struct ctp_frame_reader *reader, pid_t pid, const uint64_t *addrs, size_t n, uint64_t *words)
{
	assert(n && n <= CTP_FRAME_QUEUE_AT_ONCE);
	int error = reader->started ? 0 : ctp_signals_thread(&reader->thread, run, reader);
	reader->started = !error;
	ssize_t got = -1;
	if (!error) {
		pthread_mutex_lock(&reader->lock);
		error = ETIMEDOUT;
		if (!reader->asked) {
			reader->question.pid = pid;
			reader->question.n = n;
			memcpy(reader->question.addrs, addrs, n * sizeof *addrs);
			reader->asked = true;
			pthread_cond_signal(&reader->changed);
			if (wait_answer(reader)) {
				got = reader->answer.n;
				error = reader->answer.error;
				if (got > 0)
					memcpy(words, reader->answer.words, (size_t)got * sizeof *words);
			}
		}
		pthread_mutex_unlock(&reader->lock);
	}
	errno = error;
	return got;
}

/* What is still asked is a page that does not come: the thread and what it writes to stay, until it does. */
void ctp_frame_reader_free(struct ctp_frame_reader *reader)
{
	if (!reader)
		return;
	pthread_mutex_lock(&reader->lock);
	bool held = reader->asked;
	reader->orphan = held;
	reader->over = true;
	if (held)
		pthread_detach(reader->thread);
	pthread_cond_signal(&reader->changed);
	pthread_mutex_unlock(&reader->lock);
	if (held)
		return;
	if (reader->started)
		pthread_join(reader->thread, NULL);
	release(reader);
}
