/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * memory-guard.c - survives the truncation of the memory, and pays for its holes.
 *
 * A page beyond the end of a truncated file raises SIGBUS. The handler puts anonymous zeros over everything from that page to
 * the end of the mapping, which is what the file has lost at that moment, and the read is done again. Each such fault lies
 * below the one before, so the number of mappings stays small.
 *
 * A page that is a hole would be made by a look at it through a mapping, and would be ours to pay for: a target of a few pages
 * could so have us fill all memory. What lseek(2) says of holes is old when it is said. So the mapping is one of userfaultfd(2), by
 * which a look at a hole raises SIGBUS as well (UFFD_FEATURE_SIGBUS): the handler makes the page, if the budget has it. Where the
 * system does not let us have that, the mapping begins without any right to look; the handler of SIGSEGV gives it, piece by
 * piece, and the budget pays for all of a piece, whoever made its pages.
 *
 * When the budget has no more, the memory is severed: all but its first piece, which has the header, is zeros from then on.
 */
#include "shm/memory-guard.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

enum { PIECE = 65536 }; /* the largest page that there is */

static struct {
	uintptr_t start, stop, page;
	volatile sig_atomic_t hit, severed;
	struct ctp_budget *budget; /* null: holes have no price */
	int holes_fd;              /* of userfaultfd; -1: none */
	struct sigaction before, segv_before;
} guard = {.holes_fd = -1};

static bool put_zeros(uintptr_t from)
{
	return from >= guard.stop || mmap((void *)from, guard.stop - from, PROT_READ | PROT_WRITE,
	                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) != MAP_FAILED;
}

static bool sever(void)
{
	guard.severed = 1;
	return put_zeros(guard.start + PIECE);
}

static bool is_first(uintptr_t at) { return at < guard.start + PIECE; }

/* Makes a page where there is a hole. False: that is not what is wrong. */
static bool fill_hole(uintptr_t at)
{
	if (guard.holes_fd < 0)
		return false;
	bool paid = ctp_budget_take(guard.budget, guard.page);
	if (!paid && !is_first(at))
		return sever();
	struct uffdio_zeropage zero = {.range = {at, guard.page}};
	if (!ioctl(guard.holes_fd, UFFDIO_ZEROPAGE, &zero))
		return true;
	if (paid)
		ctp_budget_give(guard.budget, guard.page);
	return errno == EEXIST || errno == EAGAIN; /* the target has made it meanwhile; the mappings are just being changed */
}

/* Not ours: the instruction runs again and ends us as it would have. */
static void decline(int sig, const siginfo_t *info)
{
	signal(sig, SIG_DFL);
	if (info->si_code <= 0)
		raise(sig);
}

static bool is_ours(const siginfo_t *info)
{
	uintptr_t at = (uintptr_t)info->si_addr;
	return info->si_code > 0 && at >= guard.start && at < guard.stop;
}

static void on_bus(int sig, siginfo_t *info, void *context)
{
	(void)context;
	int saved = errno;
	uintptr_t at = (uintptr_t)info->si_addr & ~(guard.page - 1);
	if (!is_ours(info))
		decline(sig, info);
	else if (!fill_hole(at)) {
		if (put_zeros(at))
			guard.hit = 1;
		else
			decline(sig, info);
	}
	errno = saved;
}

/* Where there is no userfaultfd: the first look at a piece. */
static void on_segv(int sig, siginfo_t *info, void *context)
{
	(void)context;
	int saved = errno;
	uintptr_t at = guard.start + ((uintptr_t)info->si_addr - guard.start) / PIECE * PIECE;
	size_t bytes = guard.stop - at < PIECE ? guard.stop - at : PIECE;
	if (!is_ours(info))
		decline(sig, info);
	else if (!ctp_budget_take(guard.budget, bytes) || mprotect((void *)at, bytes, PROT_READ | PROT_WRITE))
		if (!sever())
			decline(sig, info);
	errno = saved;
}

static bool catch(int sig, void (*fn)(int, siginfo_t *, void *), struct sigaction *before)
{
	struct sigaction act = {.sa_sigaction = fn, .sa_flags = SA_SIGINFO};
	sigemptyset(&act.sa_mask);
	return !sigaction(sig, &act, before);
}

enum ctp_status ctp_memory_guard(const struct ctp_memory *shm, struct ctp_err *err)
{
	guard.page = (uintptr_t)sysconf(_SC_PAGESIZE);
	guard.start = (uintptr_t)shm->base;
	guard.stop = (guard.start + shm->bytes + guard.page - 1) & ~(guard.page - 1);
	guard.hit = guard.severed = 0;
	return catch(SIGBUS, on_bus, &guard.before) ? CTP_OK : ctp_err_sys(err, "sigaction");
}

void ctp_memory_guard_end(const struct ctp_memory *shm)
{
	if (!guard.start || guard.start != (uintptr_t)shm->base)
		return;
	sigaction(SIGBUS, &guard.before, NULL);
	if (guard.budget && guard.holes_fd < 0)
		sigaction(SIGSEGV, &guard.segv_before, NULL);
	ctp_fd_close(guard.holes_fd);
	guard.holes_fd = -1;
	guard.budget = NULL;
	guard.start = guard.stop = 0;
}

bool ctp_memory_truncated(void) { return guard.hit; }
bool ctp_memory_severed(void) { return guard.severed; }

/* --- the price ------------------------------------------------------------------------------------------------------------ */

static int open_holes(void)
{
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
	if (fd < 0 && errno == EINVAL)
		fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC); /* a system before 5.11 */
	struct uffdio_api api = {.api = UFFD_API, .features = UFFD_FEATURE_SIGBUS | UFFD_FEATURE_MISSING_SHMEM};
	struct uffdio_register all = {.range = {guard.start, guard.stop - guard.start}, .mode = UFFDIO_REGISTER_MODE_MISSING};
	bool done = fd >= 0 && !ioctl(fd, UFFDIO_API, &api) && !ioctl(fd, UFFDIO_REGISTER, &all) &&
	            all.ioctls & UINT64_C(1) << _UFFDIO_ZEROPAGE;
	if (done || fd < 0)
		return fd;
	close(fd);
	return -1;
}

enum ctp_status ctp_memory_charge(const struct ctp_memory *shm, struct ctp_budget *budget, struct ctp_err *err)
{
	if (guard.start != (uintptr_t)shm->base && ctp_memory_guard(shm, err))
		return CTP_FAILED;
	guard.budget = budget;
	guard.holes_fd = open_holes();
	if (guard.holes_fd >= 0 || guard.stop - guard.start <= PIECE)
		return CTP_OK;
	if (!catch(SIGSEGV, on_segv, &guard.segv_before))
		return ctp_err_sys(err, "sigaction");
	size_t bytes = guard.stop - guard.start - PIECE;
	return mprotect((void *)(guard.start + PIECE), bytes, PROT_NONE) ? ctp_err_sys(err, "mprotect") : CTP_OK;
}
