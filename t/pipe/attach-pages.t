#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# A collector that leaves gives back the memory of the rings. If it is killed, the next collector does that.
. t/helper/tap.sh
collect=$BIN/ctp-collect

cat >"$tmp/busy.c" <<'C'
#include <ctp.h>
#include <pthread.h>
#include <stdio.h>
enum { THREADS = 8, EVENTS = 100000 };
static pthread_barrier_t bar;
static void *run(void *arg)
{
	struct ctp_coro c;
	ctp_coro_new(&c, (uint64_t)(uintptr_t)arg + 1);
	for (;;) {
		pthread_barrier_wait(&bar);
		for (int k = 0; k < EVENTS; k++) {
			ctp_coro_resume(&c);
			ctp_coro_suspend(&c, CTP_HERE);
		}
		pthread_barrier_wait(&bar);
	}
	return NULL;
}
int main(void)
{
	pthread_t thread;
	pthread_barrier_init(&bar, NULL, THREADS + 1);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread, NULL, run, (void *)(uintptr_t)i);
	puts("ready");
	for (fflush(stdout); getchar() != EOF; fflush(stdout)) {
		pthread_barrier_wait(&bar);
		pthread_barrier_wait(&bar);
		puts("done");
	}
	return 0;
}
C
cc_traced -o "$tmp/busy" "$tmp/busy.c" 2>"$tmp/err" || skip_all "$(head -1 "$tmp/err")"

# KiB of the memory of $busy.
pages() {
	for fd in /proc/$busy/fd/*; do
		[ "$(readlink "$fd")" = '/memfd:ctp (deleted)' ] && echo $(($(stat -L -c %b "$fd") / 2)) && return
	done
	echo none
}

# A round of 1,600,000 events: by the time that it returns, they are written.
round() {
	echo >&8
	read -r _ <&9
}

# Attaches a collector and stops it: events stay in the rings.
halt() { # OPTIONS...
	rm -f "$tmp/err" # of the one before
	"$collect" -p $busy -o "$tmp/out.ctp" "$@" 2>"$tmp/err" &
	collector=$!
	until grep -qs 'attached to process' "$tmp/err" || ! kill -0 $collector; do sleep 0.01; done
	kill -s STOP $collector
	until grep -q '^State:.T' /proc/$collector/status; do sleep 0.01; done
	round
	during=$(pages)
}

mkfifo "$tmp/in" "$tmp/out"
CTP_RECORD=1 "$tmp/busy" <"$tmp/in" >"$tmp/out" &
busy=$!
exec 8>"$tmp/in" 9<"$tmp/out"
read -r _ <&9
round
before=$(pages)
halt
ok "with a stopped collector the rings fill up ($before KiB, $during KiB)" [ "$during" -gt $((before + 40000)) ]
kill -s INT $collector
kill -s CONT $collector
wait $collector
like 'the collector has all events' "$(tail -1 "$tmp/err")" ': 1600[0-9]* events, 8 coroutines, 0 lost'
after=$(pages)
ok "it leaves little memory in use ($after KiB)" [ "$after" -lt $((before + 2048)) ]

halt
kill -s KILL $collector
wait $collector 2>/dev/null
ok "a killed collector leaves the rings in use ($(pages) KiB)" [ "$(pages)" -gt $((before + 40000)) ]
round
"$collect" -q -p $busy --once -o "$tmp/out.ctp"
is 'the next collector attaches' $? 0
like 'it finds the last states' "$("$BIN/ctp-tojsonl" -a "$tmp/out.ctp" 2>/dev/null | grep -c '"type":"birth"')" '^8$'
ok "it leaves little memory in use ($(pages) KiB)" [ "$(pages)" -lt $((before + 2048)) ]

for k in 1 2 3; do
	halt --lossless
	kill -s TERM $collector
	kill -s CONT $collector
	wait $collector
	like "visit $k: all events are there" "$(tail -1 "$tmp/err")" ': 1600[0-9]* events, 8 coroutines, 0 lost'
done
ok "little memory is in use after three more visits ($(pages) KiB)" [ "$(pages)" -lt $((before + 2048)) ]
exec 8>&- 9<&-
wait $busy
done_testing
