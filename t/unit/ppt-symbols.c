/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* ppt-symbols.c - finding the buffers of this process in a file that is mapped as often as the system allows. */
#include "ppt/ppt-symbols.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "elf-byhand.h"
#include "tap.h"

enum { MAPPINGS = 60000 };

static char said[512];
static void hear(void *arg, const char *text) { snprintf(arg, sizeof said, "%s", text); }

/* This number of buffers, with the maximum number of symbols. */
static void write_file(int fd, unsigned buffers)
{
	struct elf_byhand e = {0};
	for (unsigned i = 0; i < buffers; i++)
		elf_buffer(&e, i);
	for (unsigned i = 3 * buffers; i < CTP_PPT_ELF_SYMBOLS_MAX; i++) {
		char name[64];
		snprintf(name, sizeof name, "_ppt_stat_X%u", i);
		elf_symbol(&e, elf_name(&e, name), 0);
	}
	elf_write(&e, fd, CTP_PPT_ELF_SEGMENTS_MAX);
}

/* Each mapping of the first page looks like a loaded program. */
static size_t map_often(char *at, int fd, size_t page)
{
	size_t n = 0;
	while (n < MAPPINGS && mmap(at + n * page, page, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0) != MAP_FAILED)
		n++;
	return n;
}

static void test_often(unsigned buffers, size_t want, const char *notice)
{
	char path[] = "/tmp/ppt-symbols-XXXXXX";
	struct ctp_ppt_buffers all = {0};
	struct ctp_err err = {0};
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd = mkstemp(path);
	char *at = mmap(NULL, MAPPINGS * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (fd < 0 || at == MAP_FAILED)
		abort();
	write_file(fd, buffers);
	size_t n = map_often(at, fd, page);
	said[0] = '\0';
	alarm(60); /* a quadratic search would take minutes */
	enum ctp_status status = ctp_ppt_symbols_find(&all, getpid(), NULL, &(struct ctp_notice){.say = hear, .arg = said}, &err);
	alarm(0);
	ok(!status && (!n || all.n == want), "%u buffers are found in a file that is mapped %zu times %s", buffers, n, err.text);
	ok(!n || strstr(said, notice), "the notice is right: %s", said);
	ctp_ppt_symbols_free(&all);
	munmap(at, MAPPINGS * page);
	close(fd);
	unlink(path);
}

int main(void)
{
	test_often(500, CTP_PPT_BUFFERS_MAX, "has more than 512 buffers");
	test_often(0, 0, "");
	return done_testing();
}
