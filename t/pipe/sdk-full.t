#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# A shared memory on a file system that is full, or becomes so: the traced program continues, and coroutines without room are
# counted.
# Not under sanitizers: it compiles its programs itself.
. t/helper/tap.sh
command -v unshare >/dev/null || skip_all 'there is no unshare(1)'
unshare -rm sh -c "mount -t tmpfs -o size=4m ctp '$tmp'" 2>/dev/null || skip_all 'no file system can be mounted here'

cat >"$tmp/full.c" <<'C'
#include "ctp.h"
#include <stdio.h>
enum { MAX = 9000 };
static struct ctp_coro co[MAX];
static int used;
static void make(int n)
{
	for (; n; n--, used++) {
		ctp_coro_new(&co[used], (uint64_t)used + 1);
		ctp_coro_resume(&co[used]);
		ctp_coro_suspend_in(&co[used], CTP_HERE, ctp_site_number("full.c", (uint32_t)used + 100, "make"));
	}
}
static int traced(void)
{
	int n = 0;
	for (int i = 0; i < used; i++)
		n += ctp_coro_traced(&co[i]);
	return n;
}
/* Takes all that is left, and gives it back. */
static void fill(const char *path)
{
	static const char page[4096];
	int fd = open(path, O_WRONLY | O_CREAT, 0600);
	for (size_t n = sizeof page; n; n /= 2)
		while (write(fd, page, n) > 0)
			;
	close(fd);
}
int main(int argc, char **argv)
{
	if (argc < 2) {
		make(MAX);
	} else {
		make(100);
		fill(argv[1]);
		int before = traced();
		make(3000);
		int during = traced() - before;
		unlink(argv[1]);
		make(1000);
		fprintf(stderr, "%d, %s, %s\n", before, during < 3000 ? "fewer" : "all", traced() - before - during > 500 ? "again" : "no more");
	}
	for (int i = 0; i < used; i++) {
		ctp_coro_wake(&co[i]);
		ctp_coro_name(&co[i], "one of many");
		ctp_coro_resume(&co[i]);
	}
	fprintf(stderr, "traced %d\n", traced());
	for (int i = 0; i < used; i++)
		ctp_coro_death(&co[i]);
	make(MAX - used);
	return 0;
}
C
ok 'a program with many coroutines compiles' ${CC:-cc} -std=c11 -O1 -Isdk/c -o "$tmp/full" "$tmp/full.c"

mkdir "$tmp/fs"
# SCRIPT: as root of a namespace with a small file system in $tmp/fs, where $collect is a collector with small rings.
confined() {
	tmp=$tmp collect="$BIN/ctp-collect --ring 2048 --shm $tmp/fs/m -o $tmp/t.ctp" unshare -rm sh -c \
		'mount -t tmpfs -o "size=${SIZE:-4m}" ctp "$tmp/fs" || exit; '"$1"
}
counts() { # from the closing line in FILE: coroutines, and whether there are untraced ones
	sed -n 's/^ctp-collect: [0-9]* events, \([0-9]*\) coroutines, .* \([0-9]*\) untraced.*/\1 \2/p' "$1"
}

confined '$collect "$tmp/full"' 2>"$tmp/err"
is 'a program with more coroutines than fit ends normally' $? 0
set -- $(counts "$tmp/err")
ok 'some coroutines are traced' test "${1:-0}" -gt 1000
is 'the other coroutines are counted' "$((${1:-0} + ${2:-0}))" 9000
like 'the message says what helps' "$(cat "$tmp/err")" 'untraced .no memory: make room for --shm.'
like 'a coroutine with a station is traced to its end' "$(cat "$tmp/err")" "^traced $1\$"

confined '$collect "$tmp/full" "$tmp/fs/filler"' 2>"$tmp/err"
is 'a file system that becomes full does no harm' $? 0
like 'all are traced before, fewer while it is full, and some again after it' "$(cat "$tmp/err")" '^100, fewer, again$'
set -- $(counts "$tmp/err")
is 'all coroutines are counted' "$((${1:-0} + ${2:-0}))" 9000

confined 'head -c 5M /dev/zero >"$tmp/fs/filler" 2>/dev/null; $collect "$tmp/full"' 2>"$tmp/err"
is 'without any room the collector fails' $? 125
like 'the collector says why' "$(cat "$tmp/err")" '^ctp-collect: --shm .*: room for its header: No space left'

# Rings have no room, stations have.
SIZE=512k confined '$collect "$tmp/full"' 2>"$tmp/err"
is 'a program with hardly any room ends normally' $? 0
set -- $(counts "$tmp/err")
is 'all coroutines are counted there, too' "$((${1:-0} + ${2:-0}))" 9000
done_testing
