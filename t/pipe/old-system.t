#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# On a system that is older than this one: a kernel without epoll_pwait2, and a C library before 2.32.
# Not under sanitizers: they need another C library, and more of the system.
. t/helper/tap.sh
without="$O/t/helper/without epoll_pwait2"

if $without true 2>/dev/null; then
	# On a machine that is very busy other waits are nearly as long, and there is no finding.
	found() { "$BIN/ctp-report" -q "$1" | sed -n 's/^1\. \([a-z]*: 1 coroutine suspended at [^ ]*\).*\(\[.*\]\)$/\1 \2/p'; }
	for _ in 1 2 3 4 5 6 7 8; do
		# shellcheck disable=SC2086
		$without "$BIN/ctp-collect" -o "$tmp/then.ctp" "$O/examples/lostwake" >/dev/null 2>"$tmp/err"
		status=$?
		[ -z "$(found "$tmp/then.ctp")" ] || break
	done
	is 'without epoll_pwait2 the collector exits with status 0' $status 0
	like 'nothing is lost' "$(cat "$tmp/err")" '^ctp-collect: [1-9][0-9]* events, 48 coroutines, 0 lost'
	is 'the report finds the same' "$(found "$tmp/then.ctp")" 'likely: 1 coroutine suspended at sdk/c/examples/lostwake.c:230:handler_step [never-woken]'
else
	skip 'no filter for system calls can be set here'
fi

# A program needs the newest version of the C library among the versions of the functions that it calls. Where 2.34 made libpthread
# and others a part of libc, their old functions got that version: these do not count.
command -v objdump >/dev/null || { skip 'there is no objdump'; done_testing; }
moved='^(__libc_start_main|pthread_|__pthread_|sem_|dl|shm_|timer_|aio_|stat$|fstat|lstat|mknod|fcntl64|__sig)'
for tool in "$BIN"/ctp-*; do
	newer=$(objdump -T "$tool" | sed -n 's/.*(GLIBC_2\.\([0-9]*\)) *\([^ ]*\)$/\1 \2/p' | awk -v moved="$moved" '$1 > 31 && $2 !~ moved { print $2 " of 2." $1 }')
	is "${tool##*/} calls no function that glibc 2.31 does not have" "$newer" ''
done
done_testing
