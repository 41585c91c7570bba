#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# The frame of a coroutine is in a page whose fault never ends, by userfaultfd(2): the collector does not wait for it.
# Not under sanitizers: it compiles its programs itself.
# Mostly waits.
. t/helper/tap.sh
needs_root 'userfaultfd for the faults of others'
cat >"$tmp/held.c" <<'C'
#include <ctp.h>
#include <linux/userfaultfd.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <sys/ioctl.h>
int main(void)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register reg = {.range = {(uintptr_t)page, size}, .mode = UFFDIO_REGISTER_MODE_MISSING};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	if (fd < 0 || page == MAP_FAILED || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &reg))
		return 1;
	struct ctp_coro c;
	ctp_coro_new(&c, 1);
	for (int k = 0; k < 1000; k++) {
		ctp_coro_resume(&c);
		ctp_coro_suspend_in(&c, page, 0);
	}
	puts("done");
	fflush(stdout);
	pause();
	return 0;
}
C
cc_traced -o "$tmp/held" "$tmp/held.c" 2>"$tmp/err" || skip_all "$(head -1 "$tmp/err")"
(exec "$tmp/held" </dev/null) >"$tmp/said" 2>&1 &
alone=$!
tries=0
until [ -s "$tmp/said" ] || [ ! -e /proc/$alone/exe ] || [ $((tries += 1)) -gt 2000 ]; do sleep 0.01; done
kill $alone 2>/dev/null
grep -q done "$tmp/said" || skip_all 'there is no userfaultfd for the faults of others'

mkfifo "$tmp/out"
"$BIN/ctp-collect" -o "$tmp/a.ctp" "$tmp/held" >"$tmp/out" 2>"$tmp/err" &
collector=$!
read -r said <"$tmp/out"
is 'the program runs' "$said" 'done'
tries=0
until grep -q 'does not answer' "$tmp/err" || [ $((tries += 1)) -gt 2000 ]; do sleep 0.01; done
like 'the collector says what is missing' "$(cat "$tmp/err")" 'process [0-9]*: its memory does not answer; functions of coroutines are left out'
kill -s TERM $collector
tries=0
until [ ! -e /proc/$collector/fd/0 ] || [ $((tries += 1)) -gt 2000 ]; do sleep 0.01; done
ok 'one signal ends the collector' [ ! -e /proc/$collector/fd/0 ]
kill -s KILL $collector 2>/dev/null && pkill -f "$tmp/held"
wait $collector
like '  it has all events' "$(tail -1 "$tmp/err")" ': 200[0-9] events, 1 coroutines, 0 lost'
done_testing
