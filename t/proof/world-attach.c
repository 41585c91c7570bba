/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * world-attach.c - what the probe does once, and all of its threads at the same time: it maps the memory, allocates it, and connects.
 *
 *	recorded, followed  the memory is mapped and allocated piece by piece (ctp_extend_, ctp_reserve_, ctp_claim_): no thread may
 *	                    touch what is not there yet
 *	epochs              collectors come and go, and a thread connects to each (ctp_rouse_, ctp_connect_): with the epoch of a
 *	                    collector it has seen that one's path
 *	sockets             the same with several threads: none leaves a descriptor behind
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "real-probe.h"
#include "small-arena.h"
#include "view-kernel.h"
#include "view-machine.h"
#include "world.h"

enum { RECORDED, FOLLOWED, EPOCHS, SOCKETS };
enum { WRITERS = 3, EVENTS = 4, AWAKE_EVENTS = 8, COLLECTORS = 2, RINGS = 2, RING_BITS = 4 };
enum { AWAKE = CTP_MODE_RECORD | CTP_MODE_RINGS | CTP_MODE_BARE };
enum { MEM_FD = 5, MEM_INODE = 77, MEM_DEVICE = 78, SOCK_FD = 10, FDS = 64 };

static struct ctp_arena arena;
static unsigned kind, thread_of[WRITERS];
static uint64_t judged;
static bool left, wakes;
static unsigned sockets[FDS], nfds; /* by descriptor from SOCK_FD on: its inode; 0: it is closed */
static unsigned last_path;          /* the epoch of the collector whose path was connected to */

/* --- the kernel ----------------------------------------------------------------------------------------------------------- */

static long new_fd(unsigned inode)
{
	if (nfds == FDS)
		view_fail("more than %d descriptors", FDS);
	sockets[nfds] = inode;
	return SOCK_FD + nfds++;
}

static bool is_open(long fd) { return fd >= SOCK_FD && fd < SOCK_FD + FDS && sockets[fd - SOCK_FD]; }

static long stat_of(long fd, struct stat *st)
{
	memset(st, 0, sizeof *st);
	st->st_ino = fd == MEM_FD ? MEM_INODE : is_open(fd) ? sockets[fd - SOCK_FD] : 0;
	st->st_dev = fd == MEM_FD ? MEM_DEVICE : REAL_SOCK_DEVICE;
	return st->st_ino ? 0 : -EBADF;
}

static uint32_t epoch_noted(void)
{
	uint32_t epoch;
	real_probe_sock(&epoch);
	return epoch;
}

/* Only a thread that is alone has noted the epoch that it saw. */
static long connect_to(const struct sockaddr_un *un)
{
	last_path = (unsigned)(un->sun_path[0] - 'a');
	judged++;
	if (kind == EPOCHS && last_path < epoch_noted())
		view_fail("the epoch was %u, and the path was that of %u", epoch_noted(), last_path);
	return 0;
}

static long kernel(long number, const long *arg)
{
	view_wait(view_always, NULL);
	switch (number) {
	case SYS_fstat: return stat_of(arg[0], (struct stat *)arg[1]);
	case SYS_socket: return new_fd(nfds + 1);
	case SYS_connect: return connect_to((const struct sockaddr_un *)arg[1]);
	case SYS_fcntl: return is_open(arg[0]) ? new_fd(sockets[arg[0] - SOCK_FD]) : -EBADF;
	case SYS_sendto: return judged++, 1;
	case SYS_fallocate: return view_present("allocated", small_arena + arg[2], (size_t)arg[3]), 0;
	case SYS_close:
		if (!is_open(arg[0]))
			view_fail("a descriptor was closed twice");
		sockets[arg[0] - SOCK_FD] = 0;
		return 0;
	default: return -ENOSYS;
	}
}

static void *map(int fd, long at) { return fd == MEM_FD ? small_arena + at : MAP_FAILED; }

/* --- the threads ---------------------------------------------------------------------------------------------------------- */

static bool one_ended(void *unused)
{
	(void)unused;
	return left || view_ended(thread_of[0]) || view_ended(thread_of[1]);
}

static void write_events(void *arg)
{
	unsigned co = (unsigned)(uintptr_t)arg;
	if (co >= RINGS)
		view_wait(one_ended, NULL);
	if (wakes && co >= RINGS) {
		real_wake(0);
	} else if (real_new(co, 0)) {
		for (uint64_t n = view_random(EVENTS) + 1; n; n--, judged++)
			real_event(co, n % 2);
		if (!wakes && view_chance(2))
			real_death(co);
	}
	if (kind == FOLLOWED && view_chance(2)) {
		real_withdraw();
		left = true;
	}
}

static bool one_connected(void *unused) { return (void)unused, last_path || view_ended(thread_of[0]); }

static void write_awake(void *arg)
{
	unsigned co = (unsigned)(uintptr_t)arg;
	real_new(co, 0);
	if (co)
		view_wait(one_connected, NULL);
	for (unsigned n = 0; n < AWAKE_EVENTS; n++) {
		real_event(co, n % 2);
		view_wait(view_always, NULL);
	}
}

static void come_and_go(void *unused)
{
	(void)unused;
	for (uint64_t i = view_random(COLLECTORS) + 1; i; i--) {
		char path[] = {(char)('a' + arena.header->epoch + 1), 0};
		ctp_arena_open(&arena, AWAKE, 0, path);
		view_store(&arena.header->tracer_sleeping, sizeof arena.header->tracer_sleeping, 1, __ATOMIC_RELAXED);
		for (uint64_t n = view_random(20); n; n--)
			view_wait(view_always, NULL);
		if (view_chance(3)) /* the others are killed */
			ctp_arena_close(&arena, CTP_MODE_RECORD | CTP_MODE_KEEP);
	}
}

/* --- runs ----------------------------------------------------------------------------------------------------------------- */

static void after(void)
{
	uint32_t epoch, kept = 0;
	uint64_t sock = real_probe_sock(&epoch);
	if (kind == EPOCHS && epoch && epoch == arena.header->epoch && *arena.header->sock && last_path != epoch)
		view_fail("the epoch is %u, and nothing was connected in it", epoch);
	for (unsigned i = 0; i < nfds; i++)
		kept += sockets[i] && SOCK_FD + i + 1 != (uint32_t)sock;
	if (kept)
		view_fail("%u descriptors were left open", kept);
}

static void init(void) { small_arena_share(); }

static void begin_absent(void)
{
	uint32_t mode = kind == RECORDED ? CTP_MODE_RECORD | CTP_MODE_KEEP : CTP_MODE_RECORD | CTP_MODE_RINGS | CTP_MODE_BARE;
	bool named = view_random(2);
	wakes = view_random(2);
	small_arena_open(&arena, 2, RINGS, RING_BITS, mode);
	real_probe_attach(arena.header, RING_BITS, true, arena.clock == CTP_CLOCK_RAW);
	real_probe_lazy(MEM_FD, MEM_INODE, MEM_DEVICE, named);
	size_t ring_bytes = sizeof(struct ctp_shm_entry) << RING_BITS;
	for (unsigned i = 0; i < WRITERS; i++)
		thread_of[i] = view_spawn("writer", write_events, (void *)(uintptr_t)i, VIEW_UNREGISTERED);
	for (unsigned k = 0; k < 2u - wakes; k++) { /* who wakes another need not know that it is allocated: the order is the kernel's */
		const char *what = k ? "allocated" : "mapped";
		view_absent(what, arena.stations, 2 * sizeof *arena.stations, ~0u);
		if (!k) /* one that is allocated is counted after that, and others look at it then: the order is the kernel's */
			view_absent(what, arena.rings, RINGS * sizeof *arena.rings, ~0u);
		for (unsigned i = 0; i < RINGS && (!k || named); i++)
			view_absent(what, (char *)arena.entries + i * ring_bytes, ring_bytes, ~0u);
	}
}

static void begin(unsigned dialect)
{
	kind = dialect;
	view_has_membarrier = view_random(2);
	view_syscall = kernel;
	view_mmap = map;
	left = false;
	nfds = last_path = 0;
	if (kind < EPOCHS) {
		begin_absent();
		return;
	}
	unsigned writers = kind == EPOCHS ? 1 : 2;
	small_arena_open(&arena, 2, RINGS, RING_BITS, AWAKE); /* by one that was killed while it slept */
	arena.header->epoch = 0;
	arena.header->tracer_sleeping = 1;
	real_probe_attach(arena.header, RING_BITS, true, false);
	real_probe_lazy(MEM_FD, MEM_INODE, MEM_DEVICE, false);
	for (unsigned i = 0; i < writers; i++)
		thread_of[i] = view_spawn(i ? "writer 1" : "writer 0", write_awake, (void *)(uintptr_t)i, VIEW_UNREGISTERED);
	view_spawn("collectors", come_and_go, NULL, VIEW_UNREGISTERED);
}

static uint64_t found(void) { return judged; }

static const char *const dialects[] = {"recorded", "followed", "epochs", "sockets", NULL};
const struct world world_attach = {"attach", dialects, init, begin, after, found};
