#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# A suspension with only a frame address gets the coroutine's function while the frame exists, and no wrong one.
# Not under sanitizers: it compiles its programs itself.
. t/helper/tap.sh
command -v g++ >/dev/null || command -v clang++ >/dev/null || skip_all 'there is no C++ compiler (package g++ or clang)'
mkfifo "$tmp/in" "$tmp/out"

# Leaves the records in $tmp/records. The program waits for its input until the last function is recorded.
trace() { # PROGRAM [ARGUMENT]
	"$BIN/ctp-collect" -q "$@" <"$tmp/in" | "$BIN/ctp-tojsonl" -aq >"$tmp/out" &
	exec 3>"$tmp/in" 4<"$tmp/out"
	while read -r line <&4; do
		printf '%s\n' "$line"
		case $line in *'"type":"function"'*'"probe_id":9,'*) exec 3>&- ;; esac
	done >"$tmp/records"
	exec 3>&- 4<&-
	wait $!
}

# All except number 8, which ends so soon that it may have a function or not.
functions() {
	sed -n 's/.*"type":"function".*"probe_id":\([0-9]*\),.*/\1/p' "$tmp/records" | grep -vx 8 | sort -n | paste -sd' ' -
}
want="1 9 $(awk 'BEGIN { for (id = 100; id < 300; id++) if (id % 3) print id }' | paste -sd' ' -)"

# Functions that do not have the coroutine and the frame of a suspension.
strangers() {
	awk '
	function field(name,    v) {
		v = $0
		sub(".*[{,]\"" name "\":\"?", "", v)
		sub(/[",}].*/, "", v)
		return v
	}
	{ who = field("probe_id") " " field("coro") " " field("addr") }
	/"type":"transition"/ { known[who] = 1 }
	/"type":"function"/ && !known[who] { print who }' "$tmp/records"
}

# What the symbol table says of the code of a coroutine, without what compilers add to the name; "nothing" where there is none.
named() { # PROBE_ID
	code=$(sed -n "s/.*\"type\":\"function\".*\"probe_id\":$1,.*\"code\":\"\([^\"]*\)\".*/\1/p" "$tmp/records")
	if [ "$code" ]; then
		addr2line -f -C -e "$tmp/prog" "$code" | sed -n '1s/[^a-z_].*//p'
	else
		echo nothing
	fi
}

for cxx in g++ clang++; do
	command -v $cxx >/dev/null || { note "there is no $cxx"; continue; }
	ok "$cxx: it compiles" $cxx -std=c++20 -O2 -Wall -Wextra -Werror -no-pie -Isdk/c++ -o "$tmp/prog" t/helper/cxx/frames.cpp
	for how in '' rings; do
		# shellcheck disable=SC2086
		trace "$tmp/prog" $how
		is "$cxx ${how:-version 1}: each frame of a living coroutine has its function once, and nothing else has one" \
			"$(functions)" "$want"
		is 'each function record names its coroutine' "$(strangers)" ''
		if command -v addr2line >/dev/null; then
			is 'each function is the right one' "$(named 1) $(named 100)" 'waits_for_a_reply waits_for_a_lock'
			like 'it is never the function of a later coroutine in the same frame' "$(named 8)" '^(nothing|is_gone)$'
		else
			skip 'there is no addr2line (package binutils)'
		fi
	done
done
done_testing
