/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * view-kernel.c - see view-kernel.h. The linker's --wrap leads the calls here; while the machine does not run they go on to libc.
 *
 * A thread that asks whether another has ended, and hears that it has, has seen all that it did: the kernel ends a thread after
 * its last store, and answers after that.
 */
#include "view-kernel.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "view-machine.h"
#include "view-sites.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

long (*view_syscall)(long number, const long *arg);
void *(*view_mmap)(int fd, long at);
bool view_has_membarrier = true;

long __real_syscall(long number, ...);
bool __real_ctp_membarrier(void);

static long membarrier(const void *from, long command)
{
	if (!view_has_membarrier)
		return -ENOSYS;
	switch (command) {
	case MEMBARRIER_CMD_QUERY:
		return MEMBARRIER_CMD_GLOBAL | MEMBARRIER_CMD_GLOBAL_EXPEDITED | MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED;
	case MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED:
		view_register();
		return 0;
	default:
		if (view_order(from, VIEW_MEMBARRIER, __ATOMIC_SEQ_CST) != VIEW_NONE)
			view_membarrier(command == MEMBARRIER_CMD_GLOBAL);
		return 0;
	}
}

static long tgkill(long tid)
{
	unsigned thread = (unsigned)(tid - VIEW_TID);
	if (tid < VIEW_TID || thread >= VIEW_THREADS || !view_ended(thread))
		return 0;
	view_join_thread(thread);
	return -ESRCH;
}

long __wrap_syscall(long number, ...)
{
	long arg[6];
	va_list ap;
	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		arg[i] = va_arg(ap, long);
	va_end(ap);
	if (!view_running)
		return __real_syscall(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
	long result;
	if (number == SYS_membarrier)
		result = membarrier(__builtin_return_address(0), arg[0]);
	else if (number == SYS_gettid)
		result = VIEW_TID + (long)view_self();
	else if (number == SYS_getpid)
		result = VIEW_PID;
	else if (number == SYS_tgkill)
		result = tgkill(arg[1]);
	else
		result = view_syscall ? view_syscall(number, arg) : -ENOSYS;
	if (result >= 0)
		return result;
	errno = (int)-result;
	return -1;
}

/* --- memory: what is shared is there already, and only its time comes now -------------------------------------------------- */

void *__real_mmap(void *at, size_t bytes, int prot, int flags, int fd, off_t offset);
int __real_munmap(void *at, size_t bytes);
int __real_munlock(const void *at, size_t bytes);
int __real_mprotect(void *at, size_t bytes, int prot);
int __real_madvise(void *at, size_t bytes, int advice);

void *__wrap_mmap(void *at, size_t bytes, int prot, int flags, int fd, off_t offset)
{
	if (!view_running || fd < 0)
		return __real_mmap(at, bytes, prot, flags, fd, offset);
	return view_mmap ? view_mmap(fd, offset) : MAP_FAILED;
}

/* What another thread has mapped has another address. */
int __wrap_munmap(void *at, size_t bytes) { return view_shared(at) ? view_undo("mapped", at, bytes), 0 : __real_munmap(at, bytes); }
int __wrap_munlock(const void *at, size_t bytes) { return view_shared(at) ? 0 : __real_munlock(at, bytes); }

int __wrap_mprotect(void *at, size_t bytes, int prot)
{
	if (!view_shared(at))
		return __real_mprotect(at, bytes, prot);
	view_present("mapped", at, bytes);
	return 0;
}

int __wrap_madvise(void *at, size_t bytes, int advice)
{
	if (!view_shared(at))
		return __real_madvise(at, bytes, advice);
	if (advice == 23 /* MADV_POPULATE_WRITE */)
		view_present("allocated", at, bytes);
	return 0;
}

/* Each of its calls has a place of its own. */
bool __wrap_ctp_membarrier(void)
{
	if (view_running && view_has_membarrier && view_order(__builtin_return_address(0), VIEW_MEMBARRIER, __ATOMIC_SEQ_CST) == VIEW_NONE)
		return true;
	return __real_ctp_membarrier();
}

/* Also while a world begins: what it writes then has times from before the run. */
int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
	uint64_t ns = view_clock();
	(void)clock;
	*t = (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
	return 0;
}
