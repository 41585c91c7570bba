/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * view-machine.h - C11's weak memory as a machine that runs real code.
 *
 * A location is some bytes of shared memory that are accessed together. It has a history: one message for each store, in the
 * order of modification. A message has a timestamp, a value, and the view that it releases. A view says, for each location, the
 * oldest message that may still be read. A thread has three views:
 *
 *	rel <= cur <= acq
 *	cur   what the thread has seen: a load reads any message that is not older
 *	acq   what an acquire fence makes of cur: with all that its relaxed loads have found in messages
 *	rel   cur at its last release fence: what its relaxed stores release
 *
 *	load      takes a message; cur and acq have its timestamp; acq has its view, and with acquire cur too
 *	store     makes a message after cur's, not always after all others; with release its view is cur, otherwise rel
 *	exchange  reads a message and stores right after it; the view has that of the message which was read (release sequence)
 *	fence     acquire: cur becomes acq; release: rel becomes cur; seq_cst: both, with the global view in between
 *	plain     has no choice: with a conflicting access that does not happen before it, it is a data race, and the run fails
 *
 * membarrier is a seq_cst fence of the caller, then one of each registered thread, which happens at any time and in any order, and
 * another of the caller. The machine makes no promises: a load reads what was stored before. So it forbids load buffering.
 *
 * Happens-before, for data races alone, is a clock for each thread that views carry along. The global view of seq_cst fences does
 * not: such a fence synchronises only by what was read and stored around it.
 *
 * Each choice comes from a generator of random numbers, so that a seed is a schedule.
 */
#ifndef CTP_VIEW_MACHINE_H
#define CTP_VIEW_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VIEW_THREADS = 6, VIEW_LOCATIONS = 2048, VIEW_REGIONS = 12 };

enum view_barrier { VIEW_UNREGISTERED, VIEW_REGISTERED };

/* --- threads: view-threads.c ---------------------------------------------------------------------------------------------- */

/* From here on accesses to these bytes are steps of the machine. */
void view_share(const char *name, void *at, size_t bytes);

/* These bytes are always one location, although some accesses are to a part of them. */
void view_whole(void *at, size_t bytes);

/*
 * For a world, as it begins: for these threads (a bit for each number) there is no memory here until one of them makes it, by
 * view_present, and an access that does not happen after that fails. what: "mapped", or anything else that all of it must be.
 */
void view_absent(const char *what, const void *at, size_t bytes, unsigned threads);
void view_present(const char *what, const void *at, size_t bytes);
void view_undo(const char *what, const void *at, size_t bytes); /* that this thread has made it */

/* Bytes that each thread has for itself, as thread-local variables are. */
void view_private(void *at, size_t bytes);

/* A thread; returns its number. One that is spawned by a thread begins with what that has seen. */
unsigned view_spawn(const char *name, void (*main)(void *), void *arg, enum view_barrier registered);

/*
 * Runs the threads that `begin` spawns, until all have ended, or no thread can go on, or one has failed. If none has, `after` can look at the shared bytes,
 * and fail too; then they are as they were before the run. Returns the reason of the failure, or null.
 */
const char *view_run(uint64_t seed, void (*begin)(void), void (*after)(void));

/* For a thread of a run. */
unsigned view_self(void);
bool view_ended(unsigned thread);
void view_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
void view_wait(bool (*ready)(void *), void *arg); /* does not go on before that */
bool view_always(void *unused);                   /* for that: others may go on first */
uint64_t view_random(uint64_t below);             /* of the schedule */
bool view_chance(unsigned one_in);
uint64_t view_clock(void);                        /* of the run: it grows, sometimes, at each look and at each step */
void view_register(void);                         /* membarrier reaches this thread */
void view_join_thread(unsigned thread);           /* what a thread that has ended did happens before this */
bool view_stuck(void); /* for after: threads were left that could not go on */

/* --- accesses: view-memory.c ------------------------------------------------------------------------------------------------ */

extern bool view_running;

/* Whether it is a step: the machine runs, and the bytes are shared. */
bool view_shared(const volatile void *at);

enum view_rmw { VIEW_EXCHANGE, VIEW_ADD, VIEW_SUB, VIEW_AND, VIEW_OR, VIEW_XOR };
uint64_t view_load(const volatile void *at, unsigned bytes, int order);
void view_store(volatile void *at, unsigned bytes, uint64_t value, int order);
uint64_t view_rmw(volatile void *at, unsigned bytes, enum view_rmw what, uint64_t value, int order);
bool view_cas(volatile void *at, unsigned bytes, uint64_t *expected, uint64_t value, bool weak, int order, int failure);
void view_fence(int order);
void view_plain_read(const volatile void *at, size_t bytes);
void view_plain_write(volatile void *at, size_t bytes); /* before it is done: the value is read at the thread's next step */
void view_membarrier(bool all); /* all: of threads that have not registered too */

/* The value that is last in the order of modification. Not a step. */
uint64_t view_last(const volatile void *at, unsigned bytes);

extern uint64_t view_steps;  /* in all runs */
extern bool view_trace;      /* prints each step */
extern unsigned view_steps_most; /* of a run; with more it fails */

#endif
