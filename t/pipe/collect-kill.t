#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# kill -9 of the target and of the collector, at random moments. A seed that failed is printed: SEED=n repeats it.
# Not under sanitizers: it kills at random moments.
. t/helper/tap.sh
collect=$BIN/ctp-collect tracee=$O/t/helper/tracee
seed=${SEED:-$(date +%s)} rounds=${ROUNDS:-25}
note "SEED=$seed"
export TMPDIR="$tmp/t"
mkdir "$tmp/t"
mkfifo "$tmp/before"
random() { # the next of our numbers, below $1
	seed=$(((seed * 1103515245 + 12345) % 2147483648))
	n=$((seed / 65536 % $1))
}
gone() { # PID: no child of ours, so it cannot be waited for; a zombie is gone too
	while state=$(sed 's/.*) \(.\).*/\1/' "/proc/$1/stat" 2>/dev/null) && [ "$state" != Z ]; do sleep 0.01; done
}

wrong=
for _ in $(seq "$rounds"); do
	random 2
	[ $n = 0 ] && dialect=plain || dialect=seqlock
	random 4000
	after=$((n + 1))
	random 2
	[ $n = 0 ] && half= || half=-h
	"$collect" "$tracee" -d $dialect -c 16 -e 250 -k $after $half >"$tmp/a.ctp" 2>"$tmp/err"
	[ $? = 137 ] || wrong="$wrong status($after)"
	total=$(awk '$3 == "events," { print $2 + $6 }' "$tmp/err")
	want=$((after - ${#half} / 2))
	[ "$total" = $want ] || wrong="$wrong $dialect$half:$total!=$want"
	"$BIN/ctp-tojsonl" -q "$tmp/a.ctp" >"$tmp/j" 2>&1
	[ "$(wc -l <"$tmp/j")" = "$(awk '$3 == "events," { print $2 }' "$tmp/err")" ] || wrong="$wrong stream"
done
is 'a target killed at random: its events are all read or counted as lost' "$wrong" ''

# ctp.h: killed after an event is in its slot, or a coroutine in its station, and before the entry that tells of it is in the ring.
cat >"$tmp/between.c" <<'END'
#define CTP_IMPLEMENTATION
#include "ctp.h"
#include <signal.h>
int main(int argc, char **argv)
{
	struct ctp_coro co, born;
	ctp_coro_new(&co, 1);
	for (int k = atoi(argv[1]); k > 0; k--)
		ctp_coro_suspend(&co, CTP_HERE);
	uint32_t *mode = &co.probe_->shm->mode, was = *mode;
	*mode = was & ~CTP_MODE_RINGS; /* so that there is no entry */
	ctp_coro_suspend(&co, CTP_HERE);
	ctp_coro_new(&born, 2);
	*mode = was;
	return kill(getpid(), SIGKILL) + argc;
}
END
if ok 'a program that is killed between a slot and its entry' cc_traced -o "$tmp/between" "$tmp/between.c"; then
	for before in 0 3 8 20; do
		"$collect" "$tmp/between" $before 2>&1 >"$tmp/a.ctp" | sed 's/.*: //; s/, [^,]*$//'
		"$BIN/ctp-tojsonl" -q "$tmp/a.ctp" | wc -l
	done >"$tmp/got" 2>/dev/null
	is 'the event comes from its slot, and the coroutine from its station' "$(cat "$tmp/got")" \
		"$(for n in 1 4 9 21; do printf '%s events, 2 coroutines, 0 lost, 0 untraced\n%s\n' $n $n; done)"
fi

wrong=
for _ in $(seq "$rounds"); do
	random 2
	[ $n = 0 ] && dialect=plain || dialect=seqlock
	random 90
	rm -f "$tmp/n"
	"$collect" "$tracee" -d $dialect -c 50 -e 40 -r 20000 -b "$tmp/before" -p "$tmp/n" >"$tmp/a.ctp" 2>/dev/null &
	pid=$!
	: >"$tmp/before" # it is attached
	family=$(cat /proc/$pid/task/$pid/children 2>/dev/null)
	sleep "0.0$((n + 10))"
	kill -9 $pid 2>/dev/null # or it was faster
	wait $pid 2>/dev/null
	for p in $family; do gone "$p"; done
	[ "$(cat "$tmp/n")" = 2000 ] || wrong="$wrong target($(cat "$tmp/n"))"
	"$BIN/ctp-tojsonl" "$tmp/a.ctp" >/dev/null 2>"$tmp/err"
	case $? in 0 | 3) ;; *) wrong="$wrong reader" ;; esac # 0: it was faster
	grep -q 'damage\|checksum' "$tmp/err" && wrong="$wrong damaged"
done
is 'a collector killed at random: the target runs to its end, the stream is readable up to the cut' "$wrong" ''
is 'no file is left behind' "$(ls "$tmp/t")" ''
done_testing
