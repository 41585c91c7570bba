#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# The C++20 probe: whatever form an await has, the program behaves the same, and the trace has each suspension and its place.
# Not under sanitizers: it compiles its programs itself.
. t/helper/tap.sh
command -v g++ >/dev/null || command -v clang++ >/dev/null || skip_all 'there is no C++ compiler (package g++ or clang)'
strict='-std=c++20 -Wall -Wextra -Wpedantic -Wshadow -Werror -pthread'

build() { # COMPILER SOURCE PROGRAM FLAGS...
	build_with=$1 build_from=$2 build_to=$3
	shift 3
	# shellcheck disable=SC2086
	case " $* " in
	*' -c '*) "$build_with" $strict "$@" -Isdk/c++ -o "$build_to" "$build_from" ;;
	*) CXX=$build_with cxx_traced $strict "$@" -o "$build_to" "$build_from" ;;
	esac
}

# Each coroutine on a line: where it was spawned, by the function and the letter of that line in the source; then what happened to
# it: s for suspended, with the letter of the line, and a before that for its target, or j; r for resumed; w for woken, and by
# whom, l if that one was leaving; y for a yield, = if it stayed; n for a name, d for its death.
story() { # SOURCE TRACE
	"$BIN/ctp-tojsonl" -a "$2" | awk -v source="$1" '
	function field(name,    v) {
		v = $0
		if (!sub(".*[{,]\"" name "\":\"?", "", v))
			return ""
		sub(/[",}].*/, "", v)
		return v
	}
	function place(    part, n) {
		n = split(field("site_text"), part, ":")
		where = label[part[n - 1]]
		who = part[n]
		sub(/<.*/, "", who)
	}
	BEGIN {
		how["call"] = "w"
		how["leaving"] = "l"
		how["yield"] = "y"
		how["stayed"] = "="
		for (n = 1; (getline line < source) > 0; n++)
			if (line ~ /\/\/ [A-Za-z]$/)
				label[n] = substr(line, length(line))
	}
	{ coro = field("coro") + 0 }
	/"type":"birth"/ { place(); made[coro] = who where; parent[coro] = field("parent") + 0; if (coro > last) last = coro }
	/"type":"transition"/ { place(); did[coro] = did[coro] " " (/"is_active":true/ ? "r" : "s" where) }
	/"type":"wake"/ {
		by = field("by") + 0
		who = by == coro ? "" : by ? "(" made[by] ")" : ""
		did[coro] = did[coro] " " how[field("how")] who
	}
	/"type":"await"/ { did[coro] = did[coro] (/"joins":true/ ? " j(" : " a(") made[field("target") + 0] ")" }
	/"type":"name"/ { did[coro] = did[coro] " n(" field("name") ")" }
	/"type":"death"/ { did[coro] = did[coro] " d" }
	END {
		for (coro = 1; coro <= last; coro++)
			if (coro in made) # a number may be unused
				print made[coro] (parent[coro] ? " of " made[parent[coro]] : "") ":" did[coro]
	}'
}

cat >"$tmp/awaits" <<'WANT'
returns_void: s r sA r sB r d
returns_true: s r sC r d
returns_false: s r sD = r d
returns_handle: s r a(child) sF r d
child of returns_handle: s r sE r d
wants_its_promise: s r sG = r d
is_ready: s r d
operators: s r sH r sI r sJ r d
values: s r sK r sL r sM r sN r sO r sO r d
in_template: s r sP r d
member: s r sQ r d
operator(): s r se r d
throws_in: s r sS r d
throws_in: s r sR = r sS r d
throws_in: s r sR r sS r d
throws: s r sT r d
transforms: r sU r sV r d
throws_through: r sW r d
yields: s r sX r sY r d
is_woken: s r n(sleeper) sZ w(wakes_another) w(wakes_another) r sa r d
wakes_another: s r sb r d
holder: s r sh r d
says_its_target: s r a(holder) si r a(holder) sj r sk r sl r j(holder) sm r d
mainf: s r d
is_destroyed: s r sc d
is_over: s r d
is_stuck: s r sg
changes_thread: s r sd r d
WANT

cat >"$tmp/wakes" <<'WANT'
mark: r s l(hands_over) w(hands_over) l(ends) l(stays) w(stays) l(throws) w(throws) l(transfers) w(transfers_to) l(resumes_inside) w(is_inside) l(is_inside) w l(hands_over) w(runs_others) w(hands_over) w(runs_others) l(is_destroyed) w(goes_on_elsewhere) l(goes_on_elsewhere) w
hands_over: r s r d
ends: r d
requeues: r s y r d
yields: r s y r s r d
stays: r s = r d
throws: r s = r d
transfers_to: r s r d
transfers: r s
resumes_inside: r s
is_inside of resumes_inside: r s
makes_inside: r s
child of makes_inside: r d
runs_others: r d
hands_over of runs_others: r s r d
is_destroyed: r s d
goes_on_elsewhere: r s r d
WANT

# Where coroutines were spawned, if not where their function begins, and those with another place before they start. If a coroutine
# reports its spawn site, that is the call; for the rest no line is known.
elsewhere() { # SOURCE TRACE
	"$BIN/ctp-tojsonl" -a --symbols "$2" | jq -r 'select(.type == "birth" or .type == "transition" and .index == 0 and (.is_active | not)) |
		"\(.type) \(.site_text)"' | sort -u | while IFS=': ' read -r type file line function; do
		case $type$function in
		birthmain) want='knows_its_caller()' ;;
		*'operator()') want='-> task {' ;;
		transition) [ "$line" != knows_its_caller ] || continue ;;
		*) want=${function%%<*}'(' ;;
		esac
		awk -v line="$line" 'NR == line' "$1" | grep -Fq -e "$want" || echo "$type: $file:$line:$function"
	done
}

# A promise may have members of any name, and what it forbids stays forbidden.
cat >"$tmp/forbidden.cpp" <<'CPP'
#include "ctp.hpp"
struct generator {
	struct promise_type : ctp::promise {
		generator get_return_object() { return {}; }
		std::suspend_always initial_suspend() { return {}; }
		std::suspend_always final_suspend() noexcept { return {}; }
		std::suspend_always yield_value(int) { return {}; }
		void return_void() {}
		void unhandled_exception() {}
		void await_transform() = delete;
		int x, at, file, line, function, parameters, make, coro, born, placed, awaiting, await_;
	};
};
generator counts()
{
	co_yield 1;
#ifdef AWAITS
	co_await std::suspend_always();
#endif
}
CPP

# A compiler that inlines, and one that does not, and a sanitizer for each; make check-all runs both with both, by EVERY.
for cxx in g++ clang++; do
	command -v $cxx >/dev/null || { note "there is no $cxx"; continue; }
	case ${EVERY:+all}$cxx in
	g++) opts=-O2 ;;
	clang++) opts=-O0 ;;
	*) opts='-O0 -O2' ;;
	esac
	for opt in $opts; do
		ok "$cxx $opt: every form of await compiles" build $cxx t/helper/cxx/awaits.cpp "$tmp/debug" $opt -g
		strip -o "$tmp/prog" "$tmp/debug" # the same program without debug information
		is 'untraced, the program passes its own checks' "$("$tmp/prog")" 'all as it should be'
		is 'traced, the program passes its own checks' \
			"$("$BIN/ctp-collect" -q -o "$tmp/awaits.ctp" "$tmp/prog")" 'all as it should be'
		story t/helper/cxx/awaits.cpp "$tmp/awaits.ctp" | sed 's/ d w$/ d/' >"$tmp/story" # an ended coroutine may be woken
		ok 'the trace has each step, and its place' diff "$tmp/awaits" "$tmp/story"
		is 'no step is on a line where no coroutine waits' "$("$BIN/ctp-tojsonl" -a "$tmp/awaits.ctp" |
			jq -r 'select(.type == "site" and .line > 0) | .line' | while read -r line; do
				sed -n "${line}p" t/helper/cxx/awaits.cpp | grep '^	*}'
			done)" ''
		# A delayed collector records the mappings after the births, and then earlier records have no line.
		for _ in 1 2 3 4 5 6 7 8 9; do
			"$BIN/ctp-collect" -q -o "$tmp/made.ctp" "$tmp/debug" >/dev/null
			"$BIN/ctp-tojsonl" -a "$tmp/made.ctp" | grep -Em 1 '"type":"(mapping|birth)"' | grep -q mapping && break
		done
		is 'each coroutine has its spawn line, or that of its function' "$(elsewhere t/helper/cxx/awaits.cpp "$tmp/made.ctp")" ''

		ok "$cxx $opt: a program with wakes during suspensions compiles" build $cxx t/helper/cxx/wakes.cpp "$tmp/prog" $opt
		is 'traced, it behaves the same' "$("$BIN/ctp-collect" -q -o "$tmp/wakes.ctp" "$tmp/prog")" 'all as it should be'
		story t/helper/cxx/wakes.cpp "$tmp/wakes.ctp" >"$tmp/story"
		ok 'each wake has its waker' diff "$tmp/wakes" "$tmp/story"
	done
	if [ "${EVERY:+all}$cxx" != g++ ]; then
		ok "$cxx: with AddressSanitizer" \
			build $cxx t/helper/cxx/awaits.cpp "$tmp/prog" -O1 -fsanitize=address,undefined -fno-sanitize-recover=all
		is 'AddressSanitizer reports nothing' "$(CTP_RECORD=1 "$tmp/prog" 2>&1)" 'all as it should be'
	fi

	if [ "${EVERY:+all}$cxx" != clang++ ]; then
		ok "$cxx: coroutines that change threads, with ThreadSanitizer" \
			build $cxx t/helper/cxx/hops.cpp "$tmp/hops" -O1 -fsanitize=thread
		"$BIN/ctp-collect" -q -o "$tmp/hops.ctp" "$tmp/hops" >"$tmp/said" 2>&1
		is 'ThreadSanitizer reports nothing' "$(grep -Ev '^(transitions|births|wakes) [0-9]*$' "$tmp/said")" ''
		"$BIN/ctp-tojsonl" -a "$tmp/hops.ctp" >"$tmp/hops.jsonl"
		for type in transition birth wake; do
			is "every $type is there" \
				"$(grep -c "\"type\":\"$type\"" "$tmp/hops.jsonl")" "$(sed -n "s/^${type}s //p" "$tmp/said")"
		done
		is 'all coroutines died' "$(grep -c '"type":"death"' "$tmp/hops.jsonl")" "$(sed -n 's/^births //p' "$tmp/said")"
	fi

	ok "$cxx: a program for coroTracer compiles without exceptions and RTTI" \
		build $cxx t/helper/cxx/corotracer.cpp "$tmp/prog" -O2 -fno-exceptions -fno-rtti
	is 'it behaves the same' "$("$BIN/ctp-collect" -q -o "$tmp/old.ctp" "$tmp/prog")" '7 1'
	story t/helper/cxx/corotracer.cpp "$tmp/old.ctp" >"$tmp/story"
	is 'it is traced' "$(sed -n 1,2p "$tmp/story")" "$(printf '%s\n' 'first: r s r s r d' 'second: r s r s r d')"
	is 'events written by hand are there once; one before the birth is the birth' "$(sed 1,2d "$tmp/story")" \
		"$(printf '%s\n' ': s s r s r d' 'fourth: s r s r d' 'fifth: s r s r d' 'sixth: s r s r d' ': r s r d' \
			': r s r d' ': s r s r d' ': s d' ': s r s r d')"
	# 3 and 8 begin by hand and get hooks later: which of the two is recorded depends on when the collector looks.
	is 'the births of coroutines without hooks are marked' "$("$BIN/ctp-tojsonl" -a "$tmp/old.ctp" |
		sed -n 's/.*"type":"birth".*"coro":\([0-9]*\),.*"by_hand":true.*/\1/p' | grep -vx '[38]' | paste -sd' ' -)" '7 9 10 11'
	is 'they give no finding' "$("$BIN/ctp-report" -j "$tmp/old.ctp" | jq -c ".sections[].findings")" '[]'

	ok "$cxx: a generator compiles" build $cxx "$tmp/forbidden.cpp" "$tmp/forbidden.o" -c
	like 'an await that its promise forbids does not compile' \
		"$(build $cxx "$tmp/forbidden.cpp" "$tmp/forbidden.o" -c -DAWAITS 2>&1)" 'error: '

	printf '%s\n' '#include "ctp.hpp"' 'void f(std::coroutine_handle<> h) { ctp::wake(h); }' >"$tmp/whose.cpp"
	like 'waking an untyped handle does not compile, and the error says why' \
		"$(build $cxx "$tmp/whose.cpp" "$tmp/whose.o" -c 2>&1)" 'ctp::wake: this handle does not tell which coroutine it is of'

	for example in pool primes foreign; do
		ok "$cxx: the example $example" build $cxx sdk/c++/examples/$example.cpp "$tmp/$example" -O2
		"$tmp/$example" >"$tmp/$example.untraced"
		"$BIN/ctp-collect" -q -o "$tmp/$example.ctp" "$tmp/$example" >"$tmp/$example.traced"
		ok 'it prints the same when it is traced' cmp "$tmp/$example.untraced" "$tmp/$example.traced"
	done
	is 'pool: one client has not ended' "$(story sdk/c++/examples/pool.cpp "$tmp/pool.ctp" | grep -v ' d$')" \
		'main: s w r n(client 4) s'
	like 'it waits for a connection' \
		"$("$BIN/ctp-tojsonl" -a "$tmp/pool.ctp" | grep '"type":"transition".*"coro":4,' | tail -n 1)" \
		"pool.cpp:$(grep -n 'co_await p.connection' sdk/c++/examples/pool.cpp | cut -d: -f1):client"
	is 'primes: a sieve of generators, each spawned by the one before' \
		"$(story sdk/c++/examples/primes.cpp "$tmp/primes.ctp" | sed 's/:.*//' | sort | uniq -c | tr -s ' ' ,)" \
		"$(printf '%s\n' ,1,count ,10,operator\(\),of,primes ,1,primes ,10,primes,of,primes)"
	is 'foreign: an await for each, or one frame for all' "$(story sdk/c++/examples/foreign.cpp "$tmp/foreign.ctp")" \
		"$(printf '%s\n' 'reader: s r d' 'greeter: r n(greeter) s r s r d' 'reader: s r d')"
done

done_testing
