#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# An idle collector makes at most two system calls a second, and five every ten seconds, in all its threads together (counted by
# strace), and five more a second if its output is a pipe: if the targets are idle and connected, and their first event then wakes it;
# if they are gone, but COMMAND is not; and if all was quiet for so long that the threads were sampled, which is done once.
# Not under sanitizers: it counts system calls.
# Mostly waits.
. t/helper/tap.sh
command -v strace >/dev/null || skip_all 'strace is not there'
collect=$BIN/ctp-collect tracee=$O/t/helper/tracee

count_calls() { # PID
	sleep 1.5 # the rests grow to a second within that
	began=$(date +%s)
	timeout 6 strace -f -c -o "$tmp/trace" -p "$1" >/dev/null 2>"$tmp/err"
	seconds=$(($(date +%s) - began + 1)) # a busy machine ends it later
	calls=$(awk '$NF == "total" { print $4 }' "$tmp/trace")
}

few_calls() { # NAME [MORE]: so many more a second
	[ -s "$tmp/trace" ] || skip_all "strace cannot attach here: $(head -n 1 "$tmp/err")"
	# Five are for the clocks, which are recorded every ten seconds.
	a_second=$((2 + ${2:-0}))
	ok "$1: at most $a_second system calls a second: $calls in $seconds seconds" test "$calls" -le $((a_second * seconds + 5))
	ok "$1: it makes some system calls" test "$calls" -ge 3
}

mkfifo "$tmp/before" "$tmp/gone" "$tmp/go"
"$collect" -v "$tracee" -i 1000 -e 7 -r 200 -b "$tmp/before" >"$tmp/a.ctp" 2>"$tmp/closing" &
pid=$!
exec 3>"$tmp/before" # it is attached
count_calls $pid
exec 3>&-
wait $pid
few_calls idle
like 'the first event wakes the collector' "$(cat "$tmp/closing")" 'woken [1-9][0-9]* times$'
like 'it has all events' "$(cat "$tmp/closing")" ' 7 events, .* 0 lost'

mkfifo "$tmp/again" "$tmp/pipe"
cat "$tmp/pipe" >"$tmp/a.ctp" &
"$collect" -q "$tracee" -i 1000 -e 7 -b "$tmp/again" >"$tmp/pipe" &
pid=$!
exec 3>"$tmp/again"
count_calls $pid
exec 3>&-
wait $pid
few_calls 'a pipe' 5

# shellcheck disable=SC2016
"$collect" -v sh -c '"$1" -e 8; : >"$2"; read -r _ <"$3"; "$1" -e 5; "$1" -u -e 6' - "$tracee" "$tmp/gone" "$tmp/go" \
	>"$tmp/a.ctp" 2>"$tmp/closing" &
pid=$!
: <"$tmp/gone"
count_calls $pid
echo >"$tmp/go"
wait $pid
few_calls 'nobody connected'
like 'a target that starts later is found, connected or not' "$(cat "$tmp/closing")" ' 19 events, 3 coroutines, 0 lost'

if (command -v "${CC:-cc}" >/dev/null); then
	. t/helper/collect/lib.sh
	start "$tmp/states"
	tell resume
	tell suspend
	until_records 2 '"threads":1,'
	sleep 3.5 # five seconds after the last event a silence is nothing new
	count_calls $collector
	tell resume
	tell suspend
	echo exit >&5
	ended
	few_calls 'silent for long'
	is 'it has all events here, too' "$(grep -c '"type":"transition"' "$tmp/json")" 6
fi
done_testing
