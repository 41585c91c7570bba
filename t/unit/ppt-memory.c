/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* ppt-memory.c - reading the memory of a process: the number of a thread is refused, and a text must have an end. */
#include "ppt/ppt-memory.h"

#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tap.h"

static sem_t began, over;
static pid_t thread;

static void *be_there(void *arg)
{
	thread = (pid_t)syscall(SYS_gettid);
	sem_post(&began);
	sem_wait(&over);
	return arg;
}

static void test_thread(void)
{
	struct ctp_ppt_memory m;
	struct ctp_err err = {0};
	pthread_t t;
	sem_init(&began, 0, 0);
	sem_init(&over, 0, 0);
	if (pthread_create(&t, NULL, be_there, NULL))
		abort();
	sem_wait(&began);
	bool opened = !ctp_ppt_memory_open(&m, thread, false, &err);
	ok(!opened && strstr(err.text, "is a thread; name its process"), "the number of a thread is refused: %s", err.text);
	if (opened)
		ctp_ppt_memory_close(&m);
	sem_post(&over);
	pthread_join(t, NULL);
}

/* The text at this address, of at most this length, or the error. */
static const char *text_at(const struct ctp_ppt_memory *m, uint64_t at, size_t max)
{
	static struct ctp_err said;
	size_t len;
	char *text = ctp_ppt_memory_text(m, at, max, &len, &said);
	if (text)
		snprintf(said.text, sizeof said.text, "%zu: %s", len, text);
	free(text);
	return said.text;
}

static void test_text(const struct ctp_ppt_memory *m)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *end = p + page, gone[64];
	if (p == MAP_FAILED || munmap(end, page))
		abort();
	memcpy(end - 6, "hello", 6);
	is(text_at(m, (uintptr_t)end - 6, 5), "5: hello", "a text at the end of memory is read");
	is(text_at(m, (uintptr_t)end - 6, 4), "is longer than 4 bytes", "a text that is too long is refused");
	end[-1] = '!';
	snprintf(gone, sizeof gone, "does not end: there is no memory at 0x%lx", (unsigned long)end);
	is(text_at(m, (uintptr_t)end - 6, 100), gone, "a text without an end is refused");
	ok(strstr(text_at(m, UINT64_MAX - 2, 100), "does not end: "), "a text at the highest addresses is refused");
	munmap(p, page);
}

int main(void)
{
	struct ctp_ppt_memory m;
	struct ctp_err err;
	if (ctp_ppt_memory_open(&m, getpid(), false, &err))
		skip_all(err.text);
	test_text(&m);
	if (m.process >= 0) /* else the system cannot say */
		test_thread();
	ctp_ppt_memory_close(&m);
	return done_testing();
}
