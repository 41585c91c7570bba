/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * view-kernel.h - the system as the machine has it: the calls that the code makes are linked to these.
 */
#ifndef CTP_VIEW_KERNEL_H
#define CTP_VIEW_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

/* What a world does for a call that is not in view-kernel.c; null: it fails with ENOSYS. The result is the kernel's: -errno. */
extern long (*view_syscall)(long number, const long *arg);

/* The memory of descriptor fd, for a world in which it is mapped: then it is present as "mapped"; null: there is none. */
extern void *(*view_mmap)(int fd, long at);

/* Whether there is a membarrier(2). */
extern bool view_has_membarrier;

enum { VIEW_PID = 100, VIEW_TID = 1000 }; /* the tid of a thread is VIEW_TID and its number */

#endif
