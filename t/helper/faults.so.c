/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * faults.so.c - a library for LD_PRELOAD: the n-th call of one kind fails, as it does when a machine has no memory or no disk left.
 *
 * FAULT_CALL names the kind (a name of `kinds`), FAULT_N the call, counted from 1 from the beginning of main, in the first process
 * alone. FAULT_LOG is a file of zeros that is mapped: it has the counts of all kinds, and whether a call has failed, however the
 * program ends. Calls that libc makes itself are not seen, unless they allocate memory. What the program starts has no faults.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))

enum kind { MALLOC, WRITE, CLOSE, FSYNC, RENAME, MMAP, KINDS };
static const struct {
	const char *name;
	int error;
} kinds[KINDS] = {
	[MALLOC] = {"malloc", ENOMEM}, [WRITE] = {"write", ENOSPC}, [CLOSE] = {"close", EIO},
	[FSYNC] = {"fsync", EIO}, [RENAME] = {"rename", EIO}, [MMAP] = {"mmap", ENOMEM},
};

struct log {
	_Atomic uint32_t count[KINDS], failed;
};
static struct log *counts; /* null: before main */
static enum kind chosen = KINDS;
static uint32_t nth;
static long process;

/* True if this call is to fail. */
static bool fails(enum kind kind)
{
	if (!counts || syscall(SYS_getpid) != process)
		return false;
	uint32_t n = atomic_fetch_add(&counts->count[kind], 1) + 1;
	if (kind != chosen || n != nth)
		return false;
	atomic_store(&counts->failed, 1);
	errno = kinds[kind].error;
	return true;
}

/* --- memory ---------------------------------------------------------------------------------------------------------------- */

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *p, size_t bytes);
void *__libc_memalign(size_t align, size_t bytes);

PUBLIC void *malloc(size_t bytes) { return fails(MALLOC) ? NULL : __libc_malloc(bytes); }
PUBLIC void *calloc(size_t n, size_t bytes) { return fails(MALLOC) ? NULL : __libc_calloc(n, bytes); }
PUBLIC void *realloc(void *p, size_t bytes) { return fails(MALLOC) ? NULL : __libc_realloc(p, bytes); }
PUBLIC void *aligned_alloc(size_t align, size_t bytes) { return fails(MALLOC) ? NULL : __libc_memalign(align, bytes); }

PUBLIC int posix_memalign(void **p, size_t align, size_t bytes)
{
	int before = errno;
	*p = fails(MALLOC) ? NULL : __libc_memalign(align, bytes);
	errno = before;
	return *p ? 0 : ENOMEM;
}

PUBLIC void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	return fails(MMAP) ? MAP_FAILED : (void *)syscall(SYS_mmap, addr, len, prot, flags, fd, offset);
}

/* --- files ----------------------------------------------------------------------------------------------------------------- */

/* Files, pipes and sockets: a descriptor for events cannot be full, and messages are to be seen. */
static bool is_output(int fd)
{
	struct stat st;
	return fd != STDERR_FILENO && !fstat(fd, &st) && st.st_mode & S_IFMT;
}

PUBLIC ssize_t write(int fd, const void *data, size_t len)
{
	return is_output(fd) && fails(WRITE) ? -1 : syscall(SYS_write, fd, data, len);
}

/* A connection that cannot be written to has ended: a reader that waits for an answer must see that. */
PUBLIC ssize_t send(int fd, const void *data, size_t len, int flags)
{
	if (!fails(WRITE))
		return syscall(SYS_sendto, fd, data, len, flags, NULL, 0);
	shutdown(fd, SHUT_RDWR);
	errno = ECONNRESET;
	return -1;
}

PUBLIC ssize_t writev(int fd, const struct iovec *vec, int n)
{
	return is_output(fd) && fails(WRITE) ? -1 : syscall(SYS_writev, fd, vec, n);
}

PUBLIC ssize_t pwrite(int fd, const void *data, size_t len, off_t at)
{
	return fails(WRITE) ? -1 : syscall(SYS_pwrite64, fd, data, len, at);
}
#ifndef pwrite64 /* musl: another name for pwrite */
PUBLIC ssize_t pwrite64(int fd, const void *data, size_t len, off_t at) __attribute__((alias("pwrite")));
#endif

/* A close of a file that is only read cannot lose data. */
static bool is_written(int fd)
{
	int flags = fcntl(fd, F_GETFL);
	return flags >= 0 && !(flags & O_PATH) && (flags & O_ACCMODE) != O_RDONLY;
}

/* The descriptor is gone all the same, as on Linux. */
PUBLIC int close(int fd)
{
	bool bad = is_written(fd) && fails(CLOSE);
	int result = (int)syscall(SYS_close, fd);
	if (bad)
		errno = kinds[CLOSE].error;
	return bad ? -1 : result;
}

PUBLIC int fsync(int fd) { return fails(FSYNC) ? -1 : (int)syscall(SYS_fsync, fd); }
PUBLIC int fdatasync(int fd) { return fails(FSYNC) ? -1 : (int)syscall(SYS_fdatasync, fd); }

PUBLIC int renameat2(int from, const char *old, int to, const char *new, unsigned flags); /* musl does not have it */
PUBLIC int renameat2(int from, const char *old, int to, const char *new, unsigned flags)
{
	return fails(RENAME) ? -1 : (int)syscall(SYS_renameat2, from, old, to, new, flags);
}
PUBLIC int renameat(int from, const char *old, int to, const char *new) { return renameat2(from, old, to, new, 0); }
PUBLIC int rename(const char *old, const char *new) { return renameat2(AT_FDCWD, old, AT_FDCWD, new, 0); }
PUBLIC int linkat(int from, const char *old, int to, const char *new, int flags)
{
	return fails(RENAME) ? -1 : (int)syscall(SYS_linkat, from, old, to, new, flags);
}

/* --- main ------------------------------------------------------------------------------------------------------------------ */

static int (*real_main)(int argc, char **argv, char **env);

static int begin(int argc, char **argv, char **env)
{
	const char *log = getenv("FAULT_LOG"), *call = getenv("FAULT_CALL"), *n = getenv("FAULT_N");
	int fd = log ? open(log, O_RDWR | O_CLOEXEC) : -1;
	void *at = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		_exit(99);
	close(fd);
	for (enum kind i = 0; call && n && i < KINDS; i++)
		if (!strcmp(call, kinds[i].name))
			chosen = i;
	nth = n ? (uint32_t)strtoul(n, NULL, 10) : 0;
	process = syscall(SYS_getpid);
	unsetenv("LD_PRELOAD");
	counts = at;
	return real_main(argc, argv, env);
}

int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end);

/* The first thing that a program calls. What libraries did before is not the program's. */
PUBLIC int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void), void (*fini)(void),
                             void (*rtld_fini)(void), void *stack_end)
{
	int (*next)(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void), void (*)(void), void *) =
		dlsym(RTLD_NEXT, "__libc_start_main");
	real_main = main;
	return next(begin, argc, argv, init, fini, rtld_fini, stack_end);
}
