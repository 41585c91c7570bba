/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * confine.h - a child process for code that believes its input: no descriptor but its socket, and bounds on memory, CPU time, time by
 * the clock, which on a busy machine is much longer, and time without progress.
 *
 * The parent may have threads: until it is confined, and later, the child calls what a fork leaves usable, and glibc and musl leave
 * malloc so.
 */
#ifndef CTP_CONFINE_H
#define CTP_CONFINE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { CTP_CONFINED_FD = 3, CTP_CONFINED_STALL_S = 20, CTP_CONFINED_CLOCK_S = 30 };

/* In the child: fd becomes CTP_CONFINED_FD, all others are closed, 0 to 2 are nothing, memory is bounded. False: it cannot be. */
bool ctp_confine(int fd, const char *name, uint64_t more_bytes);

/* In the child: SIGXCPU ends it when it has used so much more. */
void ctp_confine_cpu(uint64_t more_ns);
uint64_t ctp_confined_cpu_ns(void); /* has been used */

/*
 * In the parent: waits until fd can be read, as long as the child makes progress, and until that time of ctp_clock_ns at the latest.
 * False: it made none for CTP_CONFINED_STALL_S, or it is that late.
 */
bool ctp_confined_wait(pid_t child, int fd, uint64_t until_ns);

/* Ends the child, if it has not ended. stalled: a file system may hold it, so that it is not waited for for long. */
void ctp_confined_end(pid_t child, bool stalled);

#endif
