/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * rouse.c - two threads that find a new collector at the same moment make one connection to it, and leave no descriptor behind.
 *
 * In the first test, the second thread is a call in the middle of the first one's, after the close(2) of the connection to the
 * collector before.
 */
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

static long (*const real_syscall)(long number, ...) = syscall;
static int interrupted; /* the second thread runs when this descriptor is closed; 0: none */
static void interrupt(void);

/* Each call has six arguments, so that this function reads none that was not passed. */
static long hooked_syscall(long number, ...)
{
	long arg[6];
	va_list list;
	va_start(list, number);
	for (int i = 0; i < 6; i++)
		arg[i] = va_arg(list, long);
	va_end(list);
	long result = real_syscall(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
	if (number == SYS_close && interrupted && (int)arg[0] == interrupted)
		interrupt();
	return result;
}

#define syscall(...) hooked_syscall(__VA_ARGS__, 0L, 0L, 0L, 0L, 0L, 0L)
#include "onemap.h"
#undef syscall

#include "tap.h"

enum { MODE = CTP_MODE_RECORD | CTP_MODE_RINGS, THREADS = 3, COLLECTORS = 500 };

static bool enough;

static void interrupt(void)
{
	interrupted = 0;
	ctp_rouse_(ctp_current_);
}

static int listening(const char *path)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	snprintf(un.sun_path, sizeof un.sun_path, "%s", path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&un, sizeof un) || listen(fd, 16))
		abort();
	return fd;
}

static unsigned descriptors(void)
{
	unsigned n = 0;
	for (int fd = 0; fd <= CTP_FD_LAST_; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static unsigned connections(int fd)
{
	unsigned n = 0;
	for (int peer; (peer = accept(fd, NULL, NULL)) >= 0; n++)
		close(peer);
	return n;
}

static void *rouse(void *arg)
{
	while (!__atomic_load_n(&enough, __ATOMIC_RELAXED))
		ctp_rouse_(ctp_current_);
	return arg;
}

/* Collectors come one after the other, and all threads see each at about the same time. */
static void come_and_go(struct ctp_arena *arena, int fd, const char *path)
{
	pthread_t threads[THREADS];
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, rouse, NULL))
			abort();
	for (int i = 0; i < COLLECTORS; i++) {
		ctp_arena_open(arena, MODE, 0, path);
		for (int looks = 0; looks < 10 && !connections(fd); looks++)
			sched_yield();
	}
	__atomic_store_n(&enough, true, __ATOMIC_RELAXED);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	ctp_rouse_(ctp_current_);
	connections(fd);
}

int main(void)
{
	char folder[] = "/tmp/rouse-XXXXXX", path[64];
	if (!mkdtemp(folder))
		abort();
	snprintf(path, sizeof path, "%s/s", folder);
	int fd = listening(path);
	struct ctp_arena arena = onemap_open(8, MODE);
	ctp_arena_open(&arena, MODE, 0, path);
	ctp_rouse_(ctp_current_);
	is_u64(connections(fd), 1, "there is one connection to the collector");
	unsigned before = descriptors();

	ctp_arena_open(&arena, MODE, 0, path); /* another one comes */
	interrupted = (int)(uint32_t)ctp_current_->sock - 1;
	ctp_rouse_(ctp_current_);
	ok(!interrupted, "the old connection is closed, and another thread runs meanwhile");
	is_u64(connections(fd), 1, "there is one connection to the next collector");
	is_u64(descriptors(), before, "no descriptor is left open");
	ok(ctp_fd_ours_(&ctp_current_->sock, &ctp_current_->sock_dev) >= 0, "the connection is stored");
	come_and_go(&arena, fd, path);
	ok(descriptors() <= before, "no descriptor is left open after many collectors, with many threads");
	unlink(path);
	rmdir(folder);
	return done_testing();
}
