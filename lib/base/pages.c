/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* pages.c - the block ends where the guard begins, so its first page may begin with bytes of nobody. */
#include "base/pages.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ALIGNED = 64 };

struct span {
	size_t page, all; /* all: without the guard */
	size_t skip;      /* bytes before the block */
};

static struct span span_of(size_t bytes)
{
	struct span s = {.page = (size_t)sysconf(_SC_PAGESIZE)};
	size_t used = (bytes + ALIGNED - 1) & ~(size_t)(ALIGNED - 1);
	s.all = (used + s.page - 1) & ~(s.page - 1);
	s.skip = s.all - used;
	return s;
}

void *ctp_pages_new(size_t bytes)
{
	struct span s = span_of(bytes);
	if (bytes > SIZE_MAX / 2)
		return NULL;
	uint8_t *p = mmap(NULL, s.all + s.page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	if (mprotect(p + s.all, s.page, PROT_NONE)) {
		munmap(p, s.all + s.page);
		return NULL;
	}
	return p + s.skip;
}

void ctp_pages_free(void *block, size_t bytes)
{
	struct span s = span_of(bytes);
	if (block)
		munmap((uint8_t *)block - s.skip, s.all + s.page);
}

void ctp_pages_clear(void *block, size_t bytes)
{
	struct span s = span_of(bytes);
	if (madvise((uint8_t *)block - s.skip, s.all, MADV_DONTNEED))
		memset(block, 0, bytes);
}
