#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# ctp-report raises no false alarm: programs without a defect give no finding, even if they look suspicious. Examples
# with a planted defect give only that one.
# Not under sanitizers: it compiles its programs itself.
# Mostly waits.
. t/helper/tap.sh
CC=${CC:-cc} CXX=${CXX:-c++}
for program in "$CC" jq; do
	command -v "$program" >/dev/null || skip_all "there is no $program"
done
unset CTP_RECORD CTP_SHM_PATH CTP_SOCK_PATH CTP_MAX_STATIONS

findings() { # RUN: number and rules of the findings of $tmp/RUN.ctp
	"$BIN/ctp-report" -j "$tmp/$1.ctp" 2>"$tmp/$1.err" |
		jq -r '[.sections[].findings[]] | "\(length):", (.[] | "\(.rule) \(.members) \(.certainty) \(.suspend_site)")'
}
collect() { # RUN COMMAND...
	collect_to=$tmp/$1.ctp
	shift
	"$BIN/ctp-collect" -q -o "$collect_to" "$@" >"$tmp/said" 2>&1
}
clean() { # RUN: also with only the rows that coroTracer has
	is "$1: there are no findings" "$(findings "$1")" 0:
	"$BIN/ctp-tojsonl" -q "$tmp/$1.ctp" | "$BIN/ctp-fromjsonl" -q >"$tmp/$1-rows.ctp"
	is "$1, as coroTracer's rows: there are no findings" "$(findings "$1-rows")" 0:
}
one() { # RUN RULE FILE FUNCTION: exactly the defect of an example
	findings "$1" >"$tmp/found"
	like "$1: the planted defect is found" "$(cat "$tmp/found")" "^$2 1 (proved|likely) [^ ]*$3:[0-9]*:$4\$"
	is "$1: nothing else is found" "$(head -n 1 "$tmp/found")" 1:
}
at_most() { # RUN PATTERN: a short program may have the planted finding
	like "$1: nothing but the planted defect is found" "$(findings "$1" | paste -sd ' ')" "^(0:|1: $2[^ ]*)\$"
}
absent() { note "left out: $*"; }

# --- healthy programs that look suspicious ------------------------------------------------------------------------------------

ok 'a program compiles' cc_traced -g -o "$tmp/healthy" t/defects/healthy.c
healthy() { # NAME...
	for name; do collect "$name" "$tmp/healthy" "$name"; done
}
healthy accept compute burst reactor keepalive &
healthy pool timer news rampup
healthy service exit fork onesite
wait
for name in accept pool timer service compute exit burst reactor news keepalive rampup onesite fork; do
	clean $name
done

# --- the same, visited by a collector while they run ------------------------------------------------------------------

look_at() { # NAME COMMAND...: as often as there is time, or with $seek until there is a finding; $looks is the number of visits
	look_name=$1
	shift
	CTP_RECORD=1 "$@" >/dev/null 2>&1 &
	while kill -0 $! 2>/dev/null; do
		"$BIN/ctp-collect" -q -p $! --once -o "$tmp/$look_name-$looks.ctp" 2>/dev/null && looks=$((looks + 1))
		if [ "$seek" ] && [ $looks -gt 0 ] && [ "$(findings "$look_name-$((looks - 1))" | head -n 1)" != 0: ]; then
			kill $!
			mv "$tmp/$look_name-$((looks - 1)).ctp" "$tmp/$look_name-found.ctp"
			break
		fi
		sleep 0.1
	done
	wait
	if [ "$seek" ]; then [ -f "$tmp/$look_name-found.ctp" ]; else [ $looks -gt 0 ]; fi
}
look() { # as look_at, but tries again if a program on a busy machine ended before the visit
	looks=0
	for try in 1 2 3 4 5 6 7 8 9 10; do
		look_at "$@" && break
		note "$1 was over too soon, $try"
	done
}
seek=
for name in accept pool timer reactor news keepalive rampup onesite; do
	look $name "$tmp/healthy" $name
	for i in $(seq 0 $((looks - 1))); do findings "$name-$i"; done | sort -u >"$tmp/looks"
	is "$name, visited: there are no findings" "$((looks > 0)) $(cat "$tmp/looks")" '1 0:'
done
seek=1
look lostwake "$O/examples/lostwake"
one lostwake-found '(never-woken|suspended)' lostwake.c handler_step

# --- the examples, and the tests' own programs --------------------------------------------------------------------------------

collect lostwake "$O/examples/lostwake"
one lostwake never-woken lostwake.c handler_step
for dialect in seqlock plain; do
	collect $dialect "$O/t/helper/tracee" -d $dialect -c 20 -e 400 -j 2 -r 20000
	clean $dialect
	collect $dialect-alive "$O/t/helper/tracee" -d $dialect -c 20 -e 400 -j 2 -z
	clean $dialect-alive
	collect $dialect-forks "$O/t/helper/tracee" -d $dialect -c 4 -e 100 -f 2
	clean $dialect-forks
done

if echo '#include <coroutine>' | "$CXX" -std=c++20 -x c++ -E - >/dev/null 2>&1; then
	for source in sdk/c++/examples/*.cpp t/helper/cxx/*.cpp; do
		name=$(basename "$source" .cpp)
		ok "$name compiles" cxx_traced -O0 -o "$tmp/$name" "$source"
		collect "$name" "$tmp/$name"
		case $name in
		pool) at_most pool 'never-woken 1 [^ ]* [^ ]*pool.cpp:' ;;
		awaits) at_most awaits '[^ ]* 1 .*is_stuck' ;;
		*) clean "$name" ;;
		esac
	done
else
	absent 'C++20: there is no compiler'
fi

if command -v cargo >/dev/null; then
	ok 'the examples in Rust compile' cargo build --offline --locked -q --manifest-path sdk/rust/Cargo.toml \
		--target-dir "$O/rust" --examples
	collect rust-lostwake "$O/rust/debug/examples/lostwake"
	at_most rust-lostwake 'never-woken 1 [^ ]* [^ ]*lostwake.rs:'
	collect rust-polltrace "$O/rust/debug/examples/polltrace"
	clean rust-polltrace
else
	absent 'Rust: there is no cargo'
fi

# --- servers of Asio, which get a signal when their clients have gone -------------------------------------------------------

examples=/usr/share/doc/libasio-dev/examples/cpp17/coroutines_ts
asio() { # NAME
	cxx_traced -O0 -include ctp-asio.hpp -o "$tmp/$1" "$examples/$1.cpp" >"$tmp/$1.said" 2>&1
}
serve() { # NAME CLIENT-OPTION SERVER-ARGUMENT
	env PORT_FIFO="$tmp/port" "$BIN/ctp-collect" -q -o "$tmp/$1.ctp" \
		env LD_PRELOAD="$tmp/port.so" "$tmp/$1" ${3:+"$3"} >"$tmp/said" 2>&1 &
	"$tmp/client" ${2:+"$2"} "$(timeout 20 cat "$tmp/port" | cut -d ' ' -f 1)" 5 50 >"$tmp/talk" 2>&1
	kill -INT $!
	wait $!
}
echo '#include <asio/awaitable.hpp>' >"$tmp/asio.cpp"
if [ -d $examples ] && "$CXX" -std=c++20 -E -o "$tmp/asio.i" "$tmp/asio.cpp" 2>/dev/null; then
	"$CC" -D_GNU_SOURCE -O2 -o "$tmp/client" t/bench/echo-client.c
	"$CC" -D_GNU_SOURCE -shared -fPIC -o "$tmp/port.so" t/helper/asio/port.c
	mkfifo "$tmp/port"
	if [ "${EVERY:-}" ]; then # by make check-all
		asio refactored_echo_server
		serve refactored_echo_server
		clean refactored_echo_server
	fi
	asio chat_server
	serve chat_server -c 55555
	clean chat_server
else
	absent 'Asio: there is no package libasio-dev with its examples'
fi
done_testing
