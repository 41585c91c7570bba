#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# Asio's own examples, as Debian has them, are traced by nothing but -include ctp-asio.hpp: they behave the same, and the
# trace has each of their coroutines, the places where it suspended, and nothing else.
# Not under sanitizers: it compiles its programs itself.
. t/helper/tap.sh
examples=/usr/share/doc/libasio-dev/examples/cpp17/coroutines_ts
warn='-Wall -Wextra -Wshadow -Wundef -Werror'
connections=3 rounds=5
for program in cc g++ python3; do
	command -v $program >/dev/null || skip_all "there is no $program"
done
echo '#include <asio/awaitable.hpp>' >"$tmp/asio.cpp"
g++ -std=c++20 -E -o "$tmp/asio.i" "$tmp/asio.cpp" 2>/dev/null || skip_all 'there is no Asio: package libasio-dev has it'
[ -d $examples ] || skip_all 'there are no examples of Asio: package libasio-doc has them'
cc -D_GNU_SOURCE -O2 -o "$tmp/client" t/bench/echo-client.c || exit
cc -D_GNU_SOURCE -shared -fPIC -o "$tmp/port.so" t/helper/asio/port.c || exit
mkfifo "$tmp/port" || exit

# Two at a time, for they take long, and one program optimized; make check-all optimizes all, by EVERY, and has more
# variants of the echo server. What the compilers say is kept.
rest=${EVERY:+-O2}
rest=${rest:--O0}
clang=$(command -v clang++) || skip 'there is no clang++'
compile() { # NAME SOURCE COMPILER OPTION...: as $tmp/NAME
	compile_to=$1 source=$2
	shift 2
	"$@" -std=c++20 -o "$tmp/$compile_to" "$source" "$O/libctp-probe.a" -pthread >"$tmp/$compile_to.said" 2>&1
}
# A header that is found by its name leaves most of itself to Asio's own includes; one that is given by its path, or is for a program
# without wakes, does not. features and features_quiet have it by its path, and compile the probe, too. There g++ also warns of the
# header: it is silent about what a header of the system includes, as Asio's is.
strict='-Wconversion -Wsign-conversion -Wold-style-cast -pedantic'
by_path='-include sdk/c++/ctp-asio.hpp' by_name='-DCTP_LIBRARY -Isdk/c -Isdk/c++ -include ctp-asio.hpp'
traced() { # NAME SOURCE COMPILER OPTION...
	traced_name=$1 traced_source=$2 compiler=$3
	shift 3
	# shellcheck disable=SC2086
	case $traced_name in features*) include="$by_path $strict" ;; *) include=$by_name ;; esac
	compile "$traced_name" "$traced_source" "$compiler" "$optimize" $warn $include "$@"
}
example() { # NAME [COMPILER [OPTION]]
	traced "$1" "$examples/$1.cpp" "${2:-g++}" ${3:+"$3"}
}
optimize=-O2
{
	traced features t/helper/asio/features.cpp g++
	optimize=$rest
	traced operators t/helper/asio/operators.cpp g++
	example refactored_echo_server
	[ ! "${EVERY:-}" ] || example echo_server_with_as_tuple_default
	compile plain $examples/refactored_echo_server.cpp g++
} &
optimize=$rest
traced signals t/helper/asio/signals.cpp "${clang:-g++}"
example chat_server
example echo_server "$clang"
servers=echo_server
if [ "${EVERY:-}" ]; then
	example echo_server_with_default "$clang"
	example echo_server_with_as_single_default "$clang"
	servers='echo_server echo_server_with_default echo_server_with_as_tuple_default echo_server_with_as_single_default'
fi
traced features_quiet t/helper/asio/features.cpp "${clang:-g++}" -DCTP_ASIO_NO_WAKE
[ ! "$clang" ] || example range_based_for "$clang" -Wno-deprecated-coroutine # g++ has no `for co_await`, like C++20
wait

# g++ gives more warnings for code in a header.
cat >"$tmp/nap.hpp" <<'CPP'
inline asio::awaitable<void> nap(asio::steady_timer &timer) { co_await timer.async_wait(asio::use_awaitable); }
CPP
printf '#include <asio.hpp>\n#include "nap.hpp"\n' >"$tmp/header.cpp"
# shellcheck disable=SC2086
g++ -std=c++20 -O0 $warn $by_name -c -o "$tmp/header.o" "$tmp/header.cpp" >"$tmp/header.o.said" 2>&1
is 'an operation that is awaited in a header compiles without a word' "$(cat "$tmp/header.o.said")" ''

# Asio 1.38 includes its handler tracking from asio/awaitable.hpp only if the macro is there before. Where an Asio does not at all, the
# coroutine must not get another promise than in the files that include more of it.
printf '#include <asio/awaitable.hpp>\n%s\n' 'asio::awaitable<void> again(int n) { while (n--) co_await again(n); }' >"$tmp/alone.cpp"
mkdir -p "$tmp/later/asio"
cat >"$tmp/later/asio/awaitable.hpp" <<'CPP'
#ifndef ASIO_ENABLE_HANDLER_TRACKING
#error "too late"
#endif
namespace asio {
template <typename T, typename Executor = int> class awaitable {};
} // namespace asio
namespace std {
template <typename T, typename Executor, typename... Args> struct coroutine_traits<asio::awaitable<T, Executor>, Args...> {
	using promise_type = typename T::promise_of_asio;
};
} // namespace std
CPP
for compiler in g++ $clang; do
	# shellcheck disable=SC2086
	ok "${compiler##*/}: a file with asio/awaitable.hpp alone" $compiler -std=c++20 $warn $by_name -c -o "$tmp/alone.o" "$tmp/alone.cpp"
	like "${compiler##*/}: its coroutines are traced" "$(nm -C "$tmp/alone.o")" 'ctp::.*::promise<void, '
	# shellcheck disable=SC2086
	$compiler -std=c++20 $by_name -I"$tmp/later" -c -o "$tmp/alone.o" "$tmp/alone.cpp" >"$tmp/said" 2>&1
	like "${compiler##*/}: without the rest of the header they do not compile" "$(cat "$tmp/said")" 'incomplete type|undefined template'
	is "${compiler##*/}: the message names the header" "$(grep -c 'error: too late' "$tmp/said") $(grep -c -m 1 'rest_of_ctp_asio_hpp' "$tmp/said")" '0 1'
done

# The command runs a server, the client is given its port, and then the server gets a signal to end. What both print, and how they
# end, is in $tmp/NAME.out.
serve() { # NAME CLIENT COMMAND...
	serve_to=$tmp/$1.out client=$2
	shift 2
	env PORT_FIFO="$tmp/port" "$@" >"$tmp/server" 2>&1 &
	$client "$(timeout 20 cat "$tmp/port" | cut -d ' ' -f 1)" >"$tmp/talk" 2>&1
	echo "client $?" >>"$tmp/talk"
	kill -INT $!
	wait $!
	echo "server $?" >>"$tmp/server"
	sed 's/^round_trips_s .*/round trips/' "$tmp/talk" "$tmp/server" >"$serve_to"
}
echoes() { "$tmp/client" "$1" "$connections" "$rounds"; } # PORT
chats() { "$tmp/client" -c "$1" "$connections" "$rounds"; }
hellos() { python3 -c '
import socket, sys
for i in range(int(sys.argv[2])):
    print(socket.create_connection(("127.0.0.1", int(sys.argv[1]))).recv(100))' "$1" "$connections"; }
preload=LD_PRELOAD=$tmp/port.so
judge() { # NAME: of $tmp/NAME.ctp
	"$BIN/ctp-tojsonl" -a -q "$tmp/$1.ctp" >"$tmp/$1.jsonl" && python3 t/helper/asio/judge.py "$tmp/$1.jsonl" >"$tmp/$1.judged" 2>&1
	is "$1: nothing is lost, doubled or without a place" "$(grep -v '^[acstw][a-z]* ' "$tmp/$1.judged")" ''
}
collect() { # NAME CLIENT [ARGUMENT...]
	collect_name=$1 collect_client=$2
	shift 2
	is "$collect_name compiles without a word" "$(cat "$tmp/$collect_name.said")" ''
	serve "$collect_name" "$collect_client" \
		"$BIN/ctp-collect" -q -o "$tmp/$collect_name.ctp" env "$preload" "$tmp/$collect_name" "$@"
	judge "$collect_name"
}
line() { grep -n "co_await $2" "$examples/$1.cpp" | cut -d : -f 1; } # EXAMPLE TEXT
has() { # NAME WHAT LINE...: what the judge says has these
	has_judged=$tmp/$1.judged has_name="$1: $2"
	shift 2
	is "$has_name" "$(for l; do grep -Fxq "$l" "$has_judged" || echo "not there: $l"; done)" ''
}

reads=$((connections * (rounds + 1))) writes=$((connections * rounds)) accepts=$((connections + 1))
for server in $servers; do
	collect $server echoes
	like "$server: it echoes" "$(paste -sd ' ' "$tmp/$server.out")" '^round trips client 0 .*server 0$'
	has $server 'a coroutine for each connection' "coroutine echo births $connections deaths $connections of listener" \
		'coroutine listener births 1 deaths 1 of -'
	has $server 'where they wait' "suspended echo $server.cpp:$(line $server socket) $reads" \
		"suspended echo $server.cpp:$(line $server async_write) $writes" \
		"suspended listener $server.cpp:$(line $server acceptor) $accepts"
	has $server 'what wakes them' "woken echo $((reads + writes))" "woken listener $connections" 'threads 1'
done

server=refactored_echo_server
collect $server echoes
has $server 'coroutines that await others' "coroutine echo births $connections deaths $connections of listener" \
	"coroutine echo_once births $reads deaths $reads of echo" "suspended echo $server.cpp:$(line $server echo_once) $reads" \
	"suspended echo_once $server.cpp:$(line $server async_write) $writes" "woken echo_once $((reads + writes))" \
	"awaits echo echo_once $reads"
is "$server: nobody else awaits a coroutine" "$(grep -c ^awaits "$tmp/$server.judged")" 1
serve plain echoes env "$preload" "$tmp/plain"
serve untraced echoes env "$preload" "$tmp/$server"
serve recorded echoes env "$preload" CTP_RECORD=1 "$tmp/$server"
like "$server: without the probe it echoes" "$(paste -sd ' ' "$tmp/plain.out")" \
	'^round trips client 0 (echo Exception: End of file ){3}server 0$'
for way in $server untraced recorded; do ok "$way: the same" cmp "$tmp/plain.out" "$tmp/$way.out"; done

server=chat_server
collect $server chats 55555
like "$server: each client gets the messages of all" "$(paste -sd ' ' "$tmp/$server.out")" '^round trips client 0 server 0$'
for part in reader writer; do
	has $server "each has a $part" "coroutine $part births $connections deaths $connections of listener"
done
from=$(line $server 'asio::async_read_until') # of several lines: which one, compilers do not agree
like "$server: a reader waits at its line" "$(cat "$tmp/$server.judged")" \
	"^suspended reader $server.cpp:($from|$((from + 1))) $reads$"
like "$server: a writer waits at its line" "$(cat "$tmp/$server.judged")" "^suspended writer $server.cpp:$(line $server timer_) "
like "$server: a reader that cancels the timer wakes its writer" "$(cat "$tmp/$server.judged")" '^told writer by reader [1-9]'
has $server 'a reader is woken from outside, once for each line' "told reader by - $reads"

if [ "$clang" ]; then
	server=range_based_for
	collect $server hellos
	is "$server: it says hello" "$(grep -c hello "$tmp/$server.out")" $connections
	has $server 'operators that are coroutines' 'coroutine begin births 1 deaths 1 of listener' \
		"coroutine operator++ births $connections deaths $connections of listener"
fi

story='sum 26, counter 400
done'
is 'features: untraced' "$("$tmp/features")" "$story"
for program in features features_quiet; do
	is "$program compiles without a word" "$(cat "$tmp/$program.said")" ''
	is "$program: traced, the same" "$("$BIN/ctp-collect" -q -o "$tmp/$program.ctp" "$tmp/$program")" "$story"
	judge $program
	has $program 'cancelled, thrown, thrown away and never started: all are dead' \
		'coroutine for_ever births 2 deaths 2 of -' 'coroutine for_ever births 1 deaths 1 of values' \
		'coroutine thrower births 1 deaths 1 of catcher' 'coroutine count births 8 deaths 8 of -'
	is "$program: Asio's own coroutines are not in the trace" "$(grep -c '^coroutine' "$tmp/$program.judged")" 15
	like "$program: it runs on two to five threads" "$(grep threads "$tmp/$program.judged")" '^threads [2-5]$'
done
has features 'what wakes: an operation, with wrappers or without; not the steps of a composed one' 'woken ping 400' \
	'woken pong 404' 'woken sleep_ms 7' 'woken for_ever 1' 'woken values 3' 'told count yield count 400'
is 'features: nothing else does' "$(grep -c ^woken "$tmp/features.judged")" 6
for program in features features_quiet; do
	is "$program: awaits have the right targets" "$(sed -n 's/^awaits //p' "$tmp/$program.judged" | paste -sd ,)" \
		'catcher sleep_ms 1,catcher thrower 1,move_only sleep_ms 1,overaligned sleep_ms 1,thrower sleep_ms 1,'\
'values catcher 1,values move_only 1,values overaligned 1'
done
is 'features_quiet: CTP_ASIO_NO_WAKE' "$(grep -c ^woken "$tmp/features_quiet.judged")" 0

is 'signals compiles without a word' "$(cat "$tmp/signals.said")" ''
is 'signals: traced, it ends' "$("$BIN/ctp-collect" -q -o "$tmp/signals.ctp" "$tmp/signals")" stopped
judge signals
has signals 'a signal that was lost: from the outermost to the leaf, each awaits the next' \
	'awaits outermost middle 1' 'awaits middle leaf 1' 'awaits leaf wait 1'
has signals 'nothing wakes that one, nor does it that the context is destroyed' 'woken wait 4' \
	'coroutine wait births 1 deaths 1 of leaf' 'coroutine outermost births 1 deaths 1 of -'
is 'signals: coroutines destroyed with the context can be distinguished from others' \
	"$(sed -n 's/^shut //p' "$tmp/signals.judged" | paste -sd ,)" 'leaf 1,middle 1,outermost 1,wait 1'
has signals 'one that is spawned, and awaited, wakes at its end' 'awaits spawner breathe 1' 'told spawner leaving breathe 1'
has signals 'so does the last of several' 'told both leaving wait 1'
has signals 'a timer wakes by whom it is cancelled, one or several, unless it has expired' 'told wait by signaller 4' \
	'told late by - 1'
has signals 'of several that wait for one timer, each is woken by who cancelled it, unless two have meanwhile' \
	'told crowd by frees_one 1' 'told crowd by frees_all 2' 'told crowd by - 3'
has signals 'a channel: by the other side, or at once' 'told receiver by tries 1' 'told sender leaving receiver 1' \
	'told receiver yield receiver 1'
has signals 'who only goes to the end of a queue is ready at once' 'told writer yield writer 10' 'told breathe yield breathe 2'
has signals 'composed operations: one wake for each' 'told reader by - 2' 'told resolver by - 1' 'told writer by - 5'

is 'operators compiles without a word' "$(cat "$tmp/operators.said")" ''
is 'operators: traced, it does what it did' "$("$BIN/ctp-collect" -q -o "$tmp/operators.ctp" "$tmp/operators" | sort | paste -sd ,)" \
	'caught,stopped,values 1 3'
judge operators
has operators 'the parent of each is who has called it' 'coroutine quick births 1 deaths 1 of both' \
	'coroutine slow births 1 deaths 1 of both_reversed' 'coroutine winner births 1 deaths 1 of either' \
	'coroutine loser births 1 deaths 1 of either_reversed' 'coroutine gives births 2 deaths 2 of values' \
	'coroutine third births 1 deaths 1 of all' 'coroutine never births 1 deaths 1 of stuck'
is "operators: Asio's own coroutines are not there" "$(grep -e 'operator[&|]' -e awaitable_ "$tmp/operators.judged")" ''
has operators 'who awaits several waits at that line' 'suspended both operators.cpp:26 1' 'suspended stuck operators.cpp:87 1'
is 'operators: the operation that ends last wakes, cancelled or not' \
	"$(sed -n 's/^told \(.*\) leaving \([^b].*\) 1$/\1 \2/p' "$tmp/operators.judged" | paste -sd ,)" \
	'all third,both slow,both_reversed slow,catches cancelled,either loser,either_reversed loser,values gives'
is 'operators: with several operations the last one is unknown' "$(grep -E '^awaits (all|both|either|stuck|values|catches)' "$tmp/operators.judged")" ''
has operators "coroutines of the program's own that take one" 'coroutine in_turn births 1 deaths 1 of one_by_one' \
	'awaits one_by_one in_turn 1' 'awaits in_turn breathe 2' 'awaits counted breathe 1' 'awaits named breathe 1'
has operators 'one of two that never ends: nobody is woken' 'shut stuck 1' 'shut never 1'
done_testing
