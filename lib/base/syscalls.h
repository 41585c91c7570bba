/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* syscalls.h - system calls that the headers of an older system do not have. Their numbers are the same on all machines. */
#ifndef CTP_SYSCALLS_H
#define CTP_SYSCALLS_H

#include <sys/syscall.h>

#ifndef SYS_openat2 /* Linux 5.6 */
#define SYS_openat2 437
#endif
#ifndef SYS_close_range /* Linux 5.9 */
#define SYS_close_range 436
#endif
#ifndef SYS_epoll_pwait2 /* Linux 5.11 */
#define SYS_epoll_pwait2 441
#endif

#endif
