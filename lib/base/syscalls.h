/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * syscalls.h - system calls that the headers of an older system do not have, and functions that musl does not have. The numbers of
 * the calls are the same on all machines.
 */
#ifndef CTP_SYSCALLS_H
#define CTP_SYSCALLS_H

#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_openat2 /* Linux 5.6 */
#define SYS_openat2 437
#endif
#ifndef SYS_close_range /* Linux 5.9 */
#define SYS_close_range 436
#endif
#ifndef SYS_epoll_pwait2 /* Linux 5.11 */
#define SYS_epoll_pwait2 441
#endif

/* Where the C library has the function, its headers have the flags as well. */
#ifndef STATX_TYPE
#include <linux/stat.h>
static inline int statx(int dir, const char *restrict path, int flags, unsigned mask, struct statx *restrict st)
{
	return (int)syscall(SYS_statx, dir, path, flags, mask, st);
}
#endif
#ifndef RENAME_EXCHANGE
#define RENAME_EXCHANGE 2
static inline int renameat2(int from, const char *old, int to, const char *new, unsigned flags)
{
	return (int)syscall(SYS_renameat2, from, old, to, new, flags);
}
#endif

#endif
