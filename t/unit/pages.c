/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* Blocks of many pages are zeros when new and when cleared, and a write past their end crashes. */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/pages.h"
#include "tap.h"

static const size_t sizes[] = {1, 64, 4000, 4096, 65536, (4 << 20) + 2322, 16 << 20};

static bool is_zero(const uint8_t *block, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		if (block[i])
			return false;
	return true;
}

/* Signal of a child that writes at this offset of the block; 0: none. */
static int dies_at(uint8_t *block, size_t offset)
{
	int status = 0;
	fflush(NULL);
	pid_t pid = fork();
	if (!pid) {
		signal(SIGSEGV, SIG_DFL);
		signal(SIGBUS, SIG_DFL);
		*(volatile uint8_t *)(block + offset) = 1;
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

int main(void)
{
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		size_t n = sizes[i], slack = (64 - n % 64) % 64;
		uint8_t *block = ctp_pages_new(n);
		ok(block && !((uintptr_t)block % 64) && is_zero(block, n), "%zu bytes are aligned zeros", n);
		memset(block, 0xa5, n);
		ctp_pages_clear(block, n);
		ok(is_zero(block, n), "%zu bytes are zeros again", n);
		memset(block, 0xa5, n);
		ok(dies_at(block, n - 1) == 0, "the last of %zu bytes can be written", n);
		ok(dies_at(block, n + slack) != 0, "a write past %zu bytes crashes", n);
		ctp_pages_free(block, n);
	}
	ctp_pages_free(NULL, 4096);
	ok(!ctp_pages_new(SIZE_MAX - 100), "a block larger than the address space is refused");
	return done_testing();
}
