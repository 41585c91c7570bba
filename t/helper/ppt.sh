# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# ppt.sh - what the tests of ctp-ppt have in common: `. t/helper/ppt.sh`, after t/helper/tap.sh. Gives $ppt.
# shellcheck shell=sh disable=SC2034,SC2154 # tap.sh has $tmp, and the tests use $ppt
ppt=$BIN/ctp-ppt

# A condition is waited for, half a minute at most.
await() {
	for i in $(seq 600); do
		"$@" >/dev/null 2>&1 && return
		sleep 0.05
	done
	return 1
}

# saved BUFFER [FILE]: frames, as a client printed them in FILE
saved() { sed -n "s/^$1: \([0-9]*\) saved.*/\1/p" "${2:-$tmp/said}"; }

# attach_all FILE ARGUMENT...: of several buffers, each of which has a file; all of them are in FILE then
attach_all() {
	all=$1
	shift
	rm -f "$tmp"/each-*
	"$ppt" attach -o "$tmp/each-%b.ctp" "$@"
	all_status=$?
	join_all >"$all"
	return $all_status
}
join_all() { cat "$tmp"/each-*.ctp 2>/dev/null; }

# attach_until CONDITION ARGUMENT...: attaches until the condition is true, however long a busy machine takes to get there; what
# it says is in $tmp/err
attach_until() {
	until_true=$1
	shift
	"$ppt" attach "$@" 2>"$tmp/err" &
	until_agent=$!
	await eval "$until_true"
	kill -INT $until_agent
	wait $until_agent
}
