/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ctp-cacheray.c - a runtime that writes each memory access of a program as a Cacheray trace.
 *
 * The program is compiled with -fsanitize=thread, which calls __tsan_read4 and similar functions before each access. It is linked
 * without that option, but with this file, which is compiled without it. ctp-cacheray.h(3) is the manual.
 *
 * All threads write to one log. A record reserves its place by one fetch_add of `tail`, so that the log has one order, which agrees
 * with the happens-before order of the program: what a thread does after an add or a remove of another thread comes after it.
 *	- A file is mapped far beyond its end, and grows step by step. Records that were written survive the process, however it ends.
 *	- A pipe gets the blocks of a ring. Each block counts its written bytes. The thread with the lock `sending` sends a block when
 *	  all of it is written, or all that was reserved, and at least ten times a second.
 * A fetch_add of CLOSED closes the log: a record that is reserved after that is not written, and earlier ones are below it.
 * A log that ends before the program, at a limit, has CUT_BYTES of zeros at its end, for which room is always kept.
 *
 * An access calls no malloc and no stdio, takes no lock, is no cancellation point, and does not change errno.
 */
#define _GNU_SOURCE 1
#include "ctp-cacheray.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if defined __SANITIZE_THREAD__
#error "compile ctp-cacheray.c without -fsanitize=thread"
#elif defined __has_feature
#if __has_feature(thread_sanitizer)
#error "compile ctp-cacheray.c without -fsanitize=thread"
#endif
#endif

enum {
	READ, WRITE, ADD, REMOVE, ATOMIC = 0x40, UNALIGNED = 0x80, /* tags */
	STEP_BYTES = 1 << 20,          /* by which a file grows */
	BLOCK_BYTES = 64 << 10,        /* of the ring */
	BLOCKS = 16,
	RING_BYTES = BLOCKS * BLOCK_BYTES,
	NAME_MAX_BYTES = 1000,
	FIXED_BYTES = 1 + sizeof(void *) + 8,
	CUT_BYTES = FIXED_BYTES + 1,   /* zeros after the last record of a truncated trace */
	SEND_NS = 100000000,           /* between two sendings */
	WAIT_NS = 50000,
	MAP_SHARE = 4,                 /* the file gets one in MAP_SHARE of the addresses that a process may have */
	EXECS = 1000,                  /* traces of one process */
	EXEC_DIGITS = 3,
	LAST_WAITS = 2000,             /* at the end, for threads that are writing a record */
};
#define CLOSED (UINT64_C(1) << 62)
#define MAP_BYTES_MAX (sizeof(void *) == 8 ? (size_t)(UINT64_C(1) << 40) : (size_t)1 << 29)
#define MAP_BYTES_MIN ((size_t)STEP_BYTES)

#pragma weak pthread_create /* a program without threads may be linked without it */
extern int __tsan_get_report_data(void); /* from ThreadSanitizer's own runtime, which must not be linked */
#pragma weak __tsan_get_report_data

enum { NEW, BUSY, FILE_LOG, PIPE_LOG, OFF };
static int state; /* by __atomic */
static struct {
	int fd;
	dev_t dev;       /* the file of fd, if the program has not closed it */
	ino_t ino;
	char path[PATH_MAX];
	uint64_t tail;   /* where the next record goes */
	uint64_t end;    /* what tail was when the log was closed */
	uint64_t limit;  /* the maximum of tail, without CUT_BYTES */
	/* of a file */
	uint8_t *map;
	size_t map_bytes;
	uint64_t grown;  /* bytes of the file that may be written; CUT_BYTES more are there */
	int growing;     /* a lock */
	/* of a pipe */
	uint64_t sent;
	int sending;     /* a lock */
	uint32_t written[BLOCKS]; /* bytes of each block */
	uint8_t ring[RING_BYTES];
} log_;
static char out_pattern[PATH_MAX];

static int paused; /* by __atomic: accesses are not recorded */

static _Thread_local uint64_t own_tid __attribute__((tls_model("initial-exec")));
static _Thread_local int ignoring __attribute__((tls_model("initial-exec")));

/*
 * In a program that is linked with --wrap=memcpy and so on, calls of memcpy are recorded. The runtime itself calls the library's.
 */
extern void *__real_memcpy(void *to, const void *from, size_t bytes);
extern void *__real_memmove(void *to, const void *from, size_t bytes);
extern void *__real_memset(void *to, int byte, size_t bytes);
#pragma weak __real_memcpy
#pragma weak __real_memmove
#pragma weak __real_memset
#define LIBRARY(f) (__real_##f ? __real_##f : f)

static inline __attribute__((always_inline)) void copy(void *to, const void *from, size_t bytes)
{
#ifdef __OPTIMIZE__
	if (__builtin_constant_p(bytes))
		memcpy(to, from, bytes); /* expanded, not a call */
	else
		LIBRARY(memcpy)(to, from, bytes);
#else
	for (size_t i = 0; i < bytes; i++)
		((char *)to)[i] = ((const char *)from)[i];
#endif
}

#define LOAD(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define STORE(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)

/* --- the slow paths: errno is preserved, and signals are blocked ------------------------------------------------------------ */

struct quiet {
	int error;
	sigset_t signals;
};

static struct quiet quiet_begin(void)
{
	struct quiet q = {.error = errno};
	sigset_t all;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &q.signals);
	return q;
}

static void quiet_end(const struct quiet *q)
{
	pthread_sigmask(SIG_SETMASK, &q->signals, NULL);
	errno = q->error;
}

static void wait_some(long ns) { syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &(struct timespec){.tv_nsec = ns}, NULL); }

/* Discards a signal that our own write has raised. All signals are blocked. */
static void take_back(int sig)
{
	sigset_t one;
	sigemptyset(&one);
	sigaddset(&one, sig);
	sigtimedwait(&one, NULL, &(struct timespec){0});
}

#include "ctp-cacheray-say.h"

/* --- the descriptor, which a program may close with all others, and reuse ----------------------------------------------------- */

static bool is_log(int fd)
{
	struct stat st;
	return !fstat(fd, &st) && st.st_dev == log_.dev && st.st_ino == log_.ino;
}

/* Opens a file again at the same descriptor. */
static bool has_log(void)
{
	if (is_log(log_.fd))
		return true;
	int fd = log_.map ? open(log_.path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) : -1;
	if (fd >= 0 && is_log(fd)) {
		log_.fd = fd;
		return true;
	}
	if (fd >= 0)
		close(fd);
	return false;
}

/* --- a file ---------------------------------------------------------------------------------------------------------------- */

/* 0, or an error. Allocates, because a store into the map would raise SIGBUS on a full disk. */
static int allocate(uint64_t upto)
{
	long failed = syscall(SYS_fallocate, log_.fd, 0, (off_t)log_.grown, (off_t)(upto - log_.grown));
	if (failed && errno == EOPNOTSUPP)
		failed = ftruncate(log_.fd, (off_t)upto);
	int error = failed ? errno : 0;
	if (error == EFBIG)
		take_back(SIGXFSZ);
	return error;
}

static bool is_full(int error) { return error == ENOSPC || error == EFBIG || error == EDQUOT; }

/* Grows by a step, or by less if there is no room for one. */
static int grow_to(uint64_t bytes)
{
	uint64_t most = log_.limit < log_.map_bytes - CUT_BYTES ? log_.limit : log_.map_bytes - CUT_BYTES;
	int error = bytes > most ? ENOMEM : !has_log() ? ESTALE : ENOSPC;
	for (uint64_t step = STEP_BYTES; step && is_full(error); step /= 2) {
		uint64_t want = (bytes + CUT_BYTES + step - 1) / step * step;
		want = want < most + CUT_BYTES ? want : most + CUT_BYTES;
		error = allocate(want);
		if (!error)
			STORE(&log_.grown, want - CUT_BYTES);
	}
	return error;
}

static const char limit_is_reached[] = "CACHERAY_LIMIT is reached", too_long[] = "is too long for a name";

/* Truncates the file before this record, for which there is no room. */
static void end_file(uint64_t at)
{
	if (at <= log_.grown && has_log() && !ftruncate(log_.fd, (off_t)(at + CUT_BYTES)))
		STORE(&log_.grown, at);
}

/* Makes room in the file for this record. False: not possible, and nothing more is recorded. */
static __attribute__((noinline)) bool grow(uint64_t at, size_t len)
{
	struct quiet q = quiet_begin();
	while (__atomic_exchange_n(&log_.growing, 1, __ATOMIC_ACQUIRE))
		wait_some(WAIT_NS);
	bool full = at + len > log_.limit, on = LOAD(&state) == FILE_LOG;
	int error = on && !full && at + len > log_.grown ? grow_to(at + len) : 0;
	bool grown = at + len <= log_.grown;
	if (!grown && on) {
		STORE(&state, OFF);
		say_error(log_.path, full ? limit_is_reached : "cannot grow", error);
	}
	if (!grown)
		end_file(at);
	STORE(&log_.growing, 0);
	quiet_end(&q);
	return grown;
}

static inline void append_to_file(const void *rec, size_t len)
{
	uint64_t at = __atomic_fetch_add(&log_.tail, len, __ATOMIC_RELAXED);
	if (__builtin_expect(at + len > LOAD(&log_.grown), 0) && (at >= CLOSED || !grow(at, len)))
		return;
	copy(log_.map + at, rec, len);
}

#include "ctp-cacheray-pipe.h"

/* --- regions --------------------------------------------------------------------------------------------------------------- */

static __attribute__((noinline)) uint64_t find_tid(void)
{
	int error = errno;
	own_tid = (uint64_t)syscall(SYS_gettid);
	errno = error;
	return own_tid;
}

static inline uint64_t tid(void) { return __builtin_expect(own_tid != 0, 1) ? own_tid : find_tid(); }

#include "ctp-cacheray-regions.h"

/* --- begin and end ---------------------------------------------------------------------------------------------------------- */

#include "ctp-cacheray-text.h"
#include "ctp-cacheray-exec.h"

/* If addresses are limited, most of them are for the program. */
static size_t map_bytes_max(void)
{
	struct rlimit few;
	size_t bytes = MAP_BYTES_MAX;
	while (!getrlimit(RLIMIT_AS, &few) && bytes > few.rlim_cur / MAP_SHARE && bytes > MAP_BYTES_MIN)
		bytes /= 2;
	return bytes;
}

static int map_file(void)
{
	log_.grown = 0;
	log_.map = MAP_FAILED;
	for (size_t bytes = map_bytes_max(); log_.map == MAP_FAILED && bytes >= MAP_BYTES_MIN; bytes /= 2)
		log_.map = mmap(NULL, log_.map_bytes = bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, log_.fd, 0);
	if (log_.map == MAP_FAILED)
		log_.map = NULL;
	return log_.map ? grow_to(1) : ENOMEM;
}

/* Checks the file with the name of the log. NEW: a trace of this process. */
static int open_path(void)
{
	const char *path = log_.path;
	struct stat st;
	/*
	 * A FIFO waits for its reader here. It must not be opened for reading, or this process would not notice that the reader has
	 * gone.
	 */
	bool plain = stat(path, &st) || S_ISREG(st.st_mode);
	log_.fd = open(path, (plain ? O_RDWR | O_CREAT : O_WRONLY) | O_CLOEXEC | O_NOCTTY, 0600);
	if (log_.fd < 0 || fstat(log_.fd, &st))
		return say_error(path, "cannot be written", errno), OFF;
	log_.dev = st.st_dev;
	log_.ino = st.st_ino;
	if (!S_ISREG(st.st_mode)) {
		log_.sent = 0;
		memset(log_.written, 0, sizeof log_.written);
		return PIPE_LOG;
	}
	/* Another process must not truncate the file while it is mapped here. */
	if (flock(log_.fd, LOCK_EX | LOCK_NB))
		return say(path, "is written by another process; %p in CACHERAY_OUT is its id"), OFF;
	if (may_be_own(log_.fd)) {
		tell(path, "seems to be a trace of this process", 0, ": the next has another name");
		close(log_.fd);
		return NEW;
	}
	int error = ftruncate(log_.fd, 0) ? errno : map_file();
	return error ? say_error(path, "cannot grow", error), OFF : FILE_LOG;
}

/* After an exec the process has the same id: its trace is NAME.1 then, and so on. */
static int open_log(void)
{
	int next = NEW;
	unsigned n = execs_before();
	size_t len;
	log_.tail = 0;
	if (!make_path(log_.path, sizeof log_.path - EXEC_DIGITS - 2, out_pattern))
		return say(asked_by(), too_long), OFF;
	len = strlen(log_.path);
	for (; n < EXECS && next == NEW; n++) {
		if (n)
			put_digits(put_text(log_.path + len, "."), n, '\0');
		next = open_path();
	}
	if (next == FILE_LOG)
		note_exec(n);
	return next != NEW ? next : (say(log_.path, "there are too many traces of this process"), OFF);
}

static void before_fork(void);
static void after_fork(void);
static void after_fork_in_child(void);

static void begin(void)
{
	int expected = NEW;
	if (!__atomic_compare_exchange_n(&state, &expected, BUSY, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return;
	struct quiet q = quiet_begin();
	const char *by = asked_by();
	bool wanted = true;
	int next = OFF;
	const char *limit = getenv("CACHERAY_LIMIT"), *on = getenv("CACHERAY_RECORD");
	paused = on && !strcmp(on, "off");
	if (__tsan_get_report_data) {
		; /* at_start() says so: this may be too early for the environment */
	} else if (by && gains_privileges()) {
		say(by, "does not count in a program that gains privileges");
	} else if (by && !read_limit(limit)) {
		say("CACHERAY_LIMIT", "is no number of bytes, like 500M");
	} else if (by && !read_name(&wanted)) {
		say(by, too_long);
	} else if (by && wanted) {
		next = open_log();
		regions.kept = next != OFF && strstr(out_pattern, "%p");
		pthread_atfork(before_fork, after_fork, after_fork_in_child);
	}
	if (next == PIPE_LOG)
		watch_deaths();
	STORE(&state, next);
	if (next == PIPE_LOG)
		start_sender(); /* which inherits that all signals are blocked */
	quiet_end(&q);
}

/* The lock is held during a fork, so that the child finds the regions consistent. */
static bool fork_has_regions;
static void before_fork(void) { fork_has_regions = regions.kept && regions_lock(); }

static void after_fork(void)
{
	if (fork_has_regions)
		regions_unlock();
}

static void record_add(const struct region *r, const char *name);

/* The child has a trace of its own if that has another name, and none otherwise. */
static void after_fork_in_child(void)
{
	bool file = LOAD(&state) == FILE_LOG, own = strstr(out_pattern, "%p");
	own_tid = 0;
	regions.owner = 0;
	log_.growing = log_.sending = 0;
	if (LOAD(&state) != FILE_LOG && LOAD(&state) != PIPE_LOG)
		return;
	STORE(&state, OFF);
	if (file)
		munmap(log_.map, log_.map_bytes);
	log_.map = NULL;
	if (is_log(log_.fd))
		close(log_.fd);
	if (own)
		STORE(&state, open_log());
	if (LOAD(&state) == PIPE_LOG)
		start_sender();
	for (uint32_t i = 0; fork_has_regions && LOAD(&state) != OFF && i < regions.room; i++)
		if (regions.of[i].ptr)
			record_add(&regions.of[i], regions.names + regions.of[i].name);
}

__attribute__((constructor(101))) static void at_start(void)
{
	const char *out = getenv("CACHERAY_OUT");
	begin();
	if (__tsan_get_report_data && out)
		say(out, "ThreadSanitizer's runtime is linked too; link without -fsanitize=thread");
}

__attribute__((destructor(101))) static void at_end(void)
{
	int had = LOAD(&state);
	if (had != FILE_LOG && had != PIPE_LOG && !log_.map)
		return;
	struct quiet q = quiet_begin();
	uint64_t end = __atomic_fetch_add(&log_.tail, CLOSED, __ATOMIC_ACQ_REL);
	if (had == PIPE_LOG && end > log_.limit)
		end = LOAD(&log_.end);
	STORE(&log_.end, end);
	if (log_.map && had != PIPE_LOG && end < CLOSED) {
		STORE(&state, OFF);
		if (!has_log() || ftruncate(log_.fd, (off_t)(end <= log_.grown ? end : log_.grown + CUT_BYTES)))
			errno = 0; /* zeros remain at its end then */
	}
	for (int i = 0; had == PIPE_LOG && LOAD(&log_.sent) < end && i < LAST_WAITS && LOAD(&state) == PIPE_LOG; i++) {
		send_log(true);
		if (LOAD(&log_.sent) < end)
			wait_some(WAIT_NS);
	}
	quiet_end(&q);
}

/* --- records ---------------------------------------------------------------------------------------------------------------- */

static __attribute__((noinline)) void append_slow(const void *rec, size_t len)
{
	if (LOAD(&state) == NEW)
		begin();
	if (LOAD(&state) == FILE_LOG)
		append_to_file(rec, len);
	else if (LOAD(&state) == PIPE_LOG)
		append_to_pipe(rec, len);
}

static inline void append(const void *rec, size_t len)
{
	if (__builtin_expect(LOAD(&state) == FILE_LOG, 1))
		append_to_file(rec, len);
	else
		append_slow(rec, len);
}

static void record(const void *address, unsigned size, unsigned tag)
{
	uint8_t rec[FIXED_BYTES + 1];
	uint64_t thread;
	if (LOAD(&state) == OFF || ignoring || __atomic_load_n(&paused, __ATOMIC_RELAXED))
		return;
	thread = tid();
	rec[0] = (uint8_t)tag;
	copy(rec + 1, &address, sizeof address);
	rec[1 + sizeof address] = (uint8_t)size;
	copy(rec + 2 + sizeof address, &thread, sizeof thread);
	append(rec, sizeof rec);
}

/* Records a range as aligned accesses of the usual sizes. gcc also uses this call for one unaligned access. */
static void record_range(const void *address, size_t bytes, unsigned tag)
{
	if ((bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16) && (uintptr_t)address % bytes) {
		record(address, (unsigned)bytes, tag | UNALIGNED);
		return;
	}
	for (uintptr_t at = (uintptr_t)address, end = at + bytes; at < end;) {
		unsigned size = 16;
		while (size > 1 && (at % size || size > end - at))
			size /= 2;
		record((const void *)at, size, tag);
		at += size;
	}
}

static size_t put_head(uint8_t *rec, unsigned tag, const void *ptr)
{
	uint64_t thread = tid();
	rec[0] = (uint8_t)tag;
	copy(rec + 1, &ptr, sizeof ptr);
	copy(rec + 1 + sizeof ptr, &thread, sizeof thread);
	return FIXED_BYTES;
}

static void record_add(const struct region *r, const char *name)
{
	uint8_t rec[FIXED_BYTES + 12 + NAME_MAX_BYTES];
	size_t n = put_head(rec, ADD, r->ptr);
	uint32_t numbers[3] = {r->element_bytes, r->count, r->name_bytes};
	copy(rec + n, numbers, sizeof numbers);
	n += sizeof numbers;
	copy(rec + n, name, r->name_bytes);
	append(rec, n + r->name_bytes);
}

static uint32_t at_most_u32(size_t n) { return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX; }

void cacheray_add(const void *ptr, const char *type, size_t element_bytes, size_t count)
{
	static const char *const kinds[] = {"struct ", "union ", "class ", "enum "};
	char name[NAME_MAX_BYTES];
	struct region r = {.ptr = ptr, .element_bytes = at_most_u32(element_bytes), .count = at_most_u32(count)};
	if (LOAD(&state) == NEW)
		begin();
	if (LOAD(&state) == OFF)
		return;
	r.name_bytes = (uint32_t)strnlen(type, NAME_MAX_BYTES);
	copy(name, type, r.name_bytes);
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (r.name_bytes > strlen(kinds[i]) && !memcmp(type, kinds[i], strlen(kinds[i])))
			name[strlen(kinds[i]) - 1] = '.';
	regions_add(&r, name);
	record_add(&r, name);
}

void cacheray_remove(const void *ptr)
{
	uint8_t rec[FIXED_BYTES];
	if (LOAD(&state) == NEW)
		begin();
	if (LOAD(&state) == OFF)
		return;
	regions_remove(ptr);
	append(rec, put_head(rec, REMOVE, ptr));
}

void cacheray_record(int on) { __atomic_store_n(&paused, !on, __ATOMIC_RELAXED); }

void cacheray_flush(void)
{
	int error = errno;
	while (LOAD(&state) == PIPE_LOG && LOAD(&log_.sent) < log_end()) {
		send_log(true);
		if (LOAD(&log_.sent) < log_end())
			wait_some(WAIT_NS);
	}
	errno = error;
}

#include "ctp-cacheray-calls.h"
