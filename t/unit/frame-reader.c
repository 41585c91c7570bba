/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* frame-reader.c - reading words of a process's memory, and a page fault there that does not end. */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collect/frame-reader.h"
#include "tap.h"

static uintptr_t at(const void *p) { return (uintptr_t)p; }

/* A page whose fault lasts until bring() is called; null: userfaultfd is not available. */
static void *held_page(int *fd, size_t size)
{
	void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register reg = {.range = {at(page), size}, .mode = UFFDIO_REGISTER_MODE_MISSING};
	*fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	return *fd < 0 || page == MAP_FAILED || ioctl(*fd, UFFDIO_API, &api) || ioctl(*fd, UFFDIO_REGISTER, &reg) ? NULL : page;
}

static bool bring(int fd, const void *page, size_t size)
{
	struct uffdio_zeropage zero = {.range = {at(page), size}};
	return !ioctl(fd, UFFDIO_ZEROPAGE, &zero);
}

static void test_held(struct ctp_frame_reader *r)
{
	static const uint64_t there = 7;
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	int fd;
	void *page = held_page(&fd, size);
	uint64_t word = 1, addr[] = {at(page), at(&there)};
	if (!page) {
		note("userfaultfd is not available for faults of other processes");
		return;
	}
	ok(ctp_frame_reader_read(r, getpid(), addr, 1, &word) < 0 && errno == ETIMEDOUT,
	   "a read of a page that does not arrive times out");
	ok(ctp_frame_reader_read(r, getpid(), addr + 1, 1, &word) < 0 && errno == ETIMEDOUT,
	   "  another read meanwhile times out too");
	is_u64(word, 1, "  and nothing is written");
	ok(bring(fd, page, size), "  the page arrives");
	ssize_t got = -1;
	while (got < 0 && (got = ctp_frame_reader_read(r, getpid(), addr + 1, 1, &word)) < 0 && errno == ETIMEDOUT)
		usleep(1000);
	is_u64((uint64_t)got, 1, "  then reads succeed again");
	is_u64(word, 7, "  with the right value");
	close(fd);
}

int main(void)
{
	static const uint64_t words[] = {11, 22, 33};
	struct ctp_frame_reader *r = ctp_frame_reader_new();
	uint64_t addr[] = {at(&words[2]), at(&words[0]), 8, at(&words[1])}, got[4] = {0};
	if (!r)
		skip_all("out of memory");
	is_u64((uint64_t)ctp_frame_reader_read(r, getpid(), addr, 4, got), 2,
	       "a read gives all words up to the first unreadable one");
	ok(got[0] == 33 && got[1] == 11 && !got[2], "  the words are in order");
	ok(ctp_frame_reader_read(r, getpid(), addr + 2, 2, got) < 0 && errno == EFAULT,
	   "a read fails if its first word is unreadable");
	ok(ctp_frame_reader_read(r, 1 << 30, addr, 1, got) < 0 && errno == ESRCH, "a read of a process that does not exist fails");
	test_held(r);
	ctp_frame_reader_free(r);
	r = ctp_frame_reader_new();
	ctp_frame_reader_free(r);
	int fd;
	void *page = held_page(&fd, (size_t)sysconf(_SC_PAGESIZE));
	if (page && (r = ctp_frame_reader_new())) {
		addr[0] = at(page);
		ok(ctp_frame_reader_read(r, getpid(), addr, 1, got) < 0, "a reader whose read hangs");
		ctp_frame_reader_free(r);
		ok(bring(fd, page, (size_t)sysconf(_SC_PAGESIZE)), "  can be freed");
		usleep(100000); /* its thread ends, and takes what is left along; a sanitizer says where it does not */
	}
	return done_testing();
}
