/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * births.c - each coroutine of a program without stations left is traced, or counted as untraced, once: whether a station is freed
 * while it looks for one, and whether a collector that was killed has left any.
 */
#include <sys/syscall.h>
#include <unistd.h>

static void (*interrupt)(void); /* called once, when the probe asks for the collector's lock */

#define syscall(...) births_syscall(__VA_ARGS__, 0L, 0L, 0L, 0L, 0L, 0L)
static long births_syscall(long number, ...);
#include "onemap.h"
#undef syscall

#include <stdarg.h>

#include "tap.h"

enum { STATIONS = 4, FOLLOWED = CTP_MODE_RECORD | CTP_MODE_RINGS | CTP_MODE_KEEP };

static struct ctp_arena arena;
static struct ctp_coro coros[STATIONS];

static long births_syscall(long number, ...)
{
	long arg[6];
	va_list args;
	va_start(args, number);
	for (int i = 0; i < 6; i++)
		arg[i] = va_arg(args, long);
	va_end(args);
	if (number == SYS_fcntl && arg[1] == 37 /* F_OFD_SETLK */ && interrupt) {
		interrupt();
		interrupt = NULL;
	}
	return syscall(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
}

static void lock(short type)
{
	struct flock l = {.l_type = type};
	if (fcntl(atoi(getenv("CTP_SHM_PATH") + strlen("/proc/self/fd/")), F_OFD_SETLK, &l))
		abort();
}

/* As a collector does. */
static void free_first(void)
{
	ctp_free_(ctp_current_, coros[0].station_, coros[0].station_->generation);
}

/* One more coroutine, which asks for the lock. */
static void spawn(uint32_t mode, bool traced, uint32_t untraced, const char *name)
{
	struct ctp_coro co;
	__atomic_store_n(&arena.header->mode, mode, __ATOMIC_RELAXED);
	ctp_current_->unserved = 0;
	ctp_coro_new(&co, 0);
	ok(ctp_coro_traced(&co) == traced && arena.header->allocated_count == STATIONS + untraced, "%s", name);
	if (traced)
		coros[0] = co;
}

int main(void)
{
	arena = onemap_open(STATIONS, FOLLOWED);
	for (int i = 0; i < STATIONS; i++)
		ctp_coro_new(&coros[i], 0);
	is_u64(arena.header->allocated_count, STATIONS, "each coroutine has a station");
	spawn(FOLLOWED, false, 1, "the collector lives: one without a station is counted");
	ctp_coro_death(&coros[0]);
	interrupt = free_first;
	spawn(FOLLOWED, true, 1, "a station is freed meanwhile: its coroutine is traced, and is not counted");
	ok(!interrupt, "  it was");
	lock(F_UNLCK);
	spawn(FOLLOWED, false, 2, "a killed collector has left no station: the coroutine is counted");
	__atomic_store_n(&arena.header->mode, FOLLOWED, __ATOMIC_RELAXED);
	ctp_coro_death(&coros[0]);
	spawn(FOLLOWED, true, 2, "it has left one: the coroutine is traced, and is not counted");
	return done_testing();
}
