#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# A circle is proved only if nobody who is not in the trace can end it: no coroutine without a station, no thread, and none that was
# handed what the others wait for. A deadlock that they cannot end stays proved.
# Not under sanitizers: it compiles its program itself.
. t/helper/tap.sh
command -v jq >/dev/null || skip_all "there is no jq"
unset CTP_RECORD CTP_SHM_PATH CTP_SOCK_PATH CTP_MAX_STATIONS

ok 'the program compiles' cc_traced -g -o "$tmp/unseen" t/defects/unseen.c
circles() { # SCENE STATIONS: the certainty and the members of each circle
	"$BIN/ctp-collect" -q -n "$2" -o "$tmp/$1.ctp" "$tmp/unseen" "$1" >"$tmp/said" 2>&1 || cat "$tmp/said"
	"$BIN/ctp-report" -j "$tmp/$1.ctp" 2>"$tmp/err" |
		jq -r '.sections[].findings[] | select(.rule == "wait-cycle") | "\(.certainty) \(.members)"'
}
is 'a permit of a coroutine without a station: no circle' "$(circles untraced 2)" ''
is 'that coroutine has no station' "$("$BIN/ctp-report" -j "$tmp/untraced.ctp" | jq '.sections[].untraced')" 1
is 'a permit of a thread: no circle' "$(circles thread 8)" ''
is 'a permit that was given to a coroutine which has not recorded it yet: no circle' "$(circles late 8)" ''
is 'a lock that was handed on to the coroutine that waits for it: no circle' "$(circles handed 8)" ''
for stations in 2 8; do
	is "two mutexes in two orders, $stations stations" "$(circles mutexes $stations)" 'proved 2'
	is "each holds a permit and wants the other, $stations stations" "$(circles permits $stations)" 'proved 2'
done
done_testing
