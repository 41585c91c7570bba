#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# The C++20 probe: what a coroutine waits for, holds, and is woken for, as awaiters and guards report it.
# Not under sanitizers: it compiles its programs itself.
. t/helper/tap.sh
command -v g++ >/dev/null || command -v clang++ >/dev/null || skip_all 'there is no C++ compiler (package g++ or clang)'
command -v jq >/dev/null || skip_all 'there is no jq'
strict='-std=c++20 -Wall -Wextra -Wpedantic -Wshadow -Werror'

build() { # COMPILER PROGRAM FLAGS...
	build_with=$1 build_to=$2
	shift 2
	# shellcheck disable=SC2086
	CXX=$build_with cxx_traced $strict "$@" -o "$build_to" t/helper/cxx/facts.cpp
}

# Each record on a line. The program has printed the names and addresses of its objects.
facts() { # TRACE SAID
	"$BIN/ctp-tojsonl" -a "$1" | jq -rn --rawfile said "$2" '
	def hex: ltrimstr("0x") | ltrimstr("0000") | ascii_downcase;
	[$said | scan("([a-z]+) 0x([0-9a-f]+)") | {key: .[1], value: .[0]}] | from_entries as $objects |
	def named: (.object | hex) as $at | $objects[$at] // "unknown";
	def marked: if .marks == "none" then "" else " \(.marks)" end;
	foreach inputs as $r ({}; if $r.type == "name" then .["\($r.coro)"] = $r.name else . end; . as $names | $r |
		($names["\(.coro)"] // "nobody") as $who |
		if .type == "reason" then
			"\($who) waits: " + if .for == "timer" then "until " +
				if $who == "clocks" and .deadline > 0 then "\((.deadline - .ts) / 1e11 | round)00 s later"
				else "\(.deadline)" end
			elif .for == "descriptor" then "fd \(.fd) \(.count)"
			else "\(.for) \(.count) of \(named)" end + marked
		elif .type == "hold" then "\($who) holds: \(.count) of \(named)"
		elif .type == "wake_for" then "\($who) woken: for \(named)"
		elif .type == "object_name" then "\(named) is \(.name)"
		elif .type == "object" then "\(named) has: \(.for) \(.available)" + marked +
			if .site > 0 then " in \(.site_text | split(":")[2])" else "" end
		elif .type == "transition" and (.is_active | not) then "\($who) is suspended"
		else empty end)'
}

cat >"$tmp/want" <<'WANT'
queue has: item 0 made in main
queue is jobs
pool has: permits 9 made in main
queue has: room 4
lock has: lock 1 owned made in lock
lock is a lock
first holds: 1 of lock
lock has: lock 0
first is suspended
second waits: lock 1 of lock
second is suspended
first holds: -1 of lock
second holds: 1 of lock
second woken: for lock
lock has: lock 0
second is suspended
second holds: -1 of lock
lock has: lock 1
lock has: none 0 gone
reasons waits: until 7000000001 rests
reasons is suspended
reasons waits: until 8000000000
reasons is suspended
reasons waits: until 8500000000
reasons is suspended
reasons waits: until 3600000000000
reasons is suspended
reasons waits: until 0
reasons is suspended
reasons waits: fd 5 5
reasons is suspended
reasons waits: fd 6 1
reasons waits: until 9 timed
reasons is suspended
reasons is suspended
reasons is suspended
reasons is suspended
reasons waits: permits 3 of queue shared cancellable
reasons is suspended
reasons waits: item 1 of queue
reasons waits: room 1 of pool
reasons waits: event 1 of queue
reasons waits: barrier 1 of pool
reasons is suspended
reasons waits: other 1 of pool
reasons is suspended
clocks waits: until 1000 s later
clocks is suspended
clocks waits: until 3600 s later
clocks is suspended
clocks waits: until 0
clocks is suspended
keeps holds: 2 of pool
keeps holds: 3 of pool
keeps holds: 4 of pool
pool has: permits 0
keeps holds: -4 of pool
keeps is suspended
keeps holds: -2 of pool
pool has: permits 6
keeps is suspended
keeps holds: -3 of pool
leaves is suspended
leaves holds: 1 of queue
leaves holds: -1 of queue
framed holds: 1 of queue
framed waits: event 1 of queue
framed is suspended
framed holds: -1 of queue
is woken waits: item 1 of queue
is woken is suspended
queue has: item 1
is woken woken: for queue
is woken waits: item 1 of queue
is woken is suspended
is woken woken: for queue
is woken waits: item 1 of queue
is woken is suspended
is woken woken: for queue
queue has: none 0 closed
pool has: none 0 gone
queue has: none 0 gone
WANT

printf '%s\n' '#include "ctp.hpp"' 'void f(std::coroutine_handle<> h, int &x) { ctp::wake_for(h, &x); }' >"$tmp/whose.cpp"

for cxx in g++ clang++; do
	command -v $cxx >/dev/null || { note "there is no $cxx"; continue; }
	case ${EVERY:+all}$cxx in # make check-all runs all of them
	g++) opts=-O2 by=thread ;;
	clang++) opts=-O0 by=address,undefined ;;
	*) opts='-O0 -O2' by='address,undefined thread' ;;
	esac
	for opt in $opts; do
		ok "$cxx $opt: coroutines that report what they wait for compile" build $cxx "$tmp/prog" $opt
		is 'untraced, their awaiters are not asked' "$("$tmp/prog" | tail -n 1)" 'as it should be'
		"$BIN/ctp-collect" -q -o "$tmp/facts.ctp" "$tmp/prog" >"$tmp/said"
		is 'traced, each awaiter is asked once for each suspension' "$(tail -n 1 "$tmp/said")" 'as it should be'
		facts "$tmp/facts.ctp" "$tmp/said" >"$tmp/facts"
		ok 'the trace has all reasons and holders' diff "$tmp/want" "$tmp/facts"
	done
	"$BIN/ctp-collect" -q -o "$tmp/circle.ctp" "$tmp/prog" circle
	is 'the report finds the circle of two locks taken in either order' "$("$BIN/ctp-report" "$tmp/circle.ctp" |
		sed -n "s/^ *\([a-z]*\) (#[0-9]) waits for 'a lock', held by \([a-z]*\) .*/\1 \2/p" | sort)" \
		"$(printf '%s\n' 'back there' 'there back')"
	for sanitizers in $by; do
		ok "$cxx: with -fsanitize=$sanitizers" \
			build $cxx "$tmp/prog" -O1 -fsanitize=$sanitizers -fno-sanitize-recover=all
		"$BIN/ctp-collect" -q -o "$tmp/facts.ctp" "$tmp/prog" >"$tmp/said" 2>&1
		is 'the sanitizer reports nothing' "$(grep -v ' 0x' "$tmp/said")" 'as it should be'
	done
	like 'waking an untyped handle for something does not compile, and the error says why' \
		"$($cxx -std=c++20 -Isdk/c++ -c -o "$tmp/whose.o" "$tmp/whose.cpp" 2>&1)" \
		'ctp::wake_for: this handle does not tell which coroutine it is of'
done

# --- awaits in conditions, which g++ 12 miscompiles in coroutines that declare no variable -------------------------------------
for cxx in g++ clang++; do
	command -v $cxx >/dev/null || continue
	conditions() { CXX=$cxx cxx_traced $strict -O2 "$@" t/helper/cxx/conditions.cpp; }
	ok "$cxx: the forms of the manual compile" conditions -o "$tmp/conditions"
	is "$cxx: they await in each round" "$("$tmp/conditions" | xargs)" '3 rounds 6 rounds'
	is "$cxx: traced, too" "$("$BIN/ctp-collect" -q -o "$tmp/c.ctp" "$tmp/conditions" | xargs)" '3 rounds 6 rounds'
	conditions -DCONDITION -o "$tmp/condition" &&
		note "$cxx: a condition alone: $( ("$tmp/condition"; echo "status $?") 2>&1 | xargs)"
done

done_testing
