#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# ctp-toclickhouse --live without --spool while its server is killed, or hangs: the program runs on, what is dropped is said, and what is kept is delivered once.
# Not under sanitizers: it waits for a server most of the time.
# Mostly waits.
. t/helper/tap.sh
. t/helper/clickhouse.sh
to=$BIN/ctp-toclickhouse collect=$BIN/ctp-collect tracee=$O/t/helper/tracee
for tool in "$collect" "$tracee"; do [ -x "$tool" ] || skip_all "$tool was not built"; done
ch_need
"$to" --schema | ch -n
quick=$(ch_quick 1)
ask() { $quick --query "$1" 2>/dev/null; }
counts() { # all events, lost ones included; sections, and whether all are whole; deliveries of them; transitions that are there twice
	until [ "$(ask 'SELECT count() FROM system.mutations WHERE NOT is_done')" = 0 ]; do sleep 0.02; done
	ask 'SELECT count() + (SELECT sum(count) FROM delivered_lost) FROM coro_trace_events'
	ask 'SELECT count(), min(whole) FROM deliveries'
	ask 'SELECT uniqExact(section_id, delivery) FROM sections'
	ask 'SELECT count() - uniqExact(section_id, coro, index) FROM delivered_transition'
}
until_is() { # NAME WANT COMMAND...: waits for it, but not for ever
	until_name=$1 until_want=$2 tries=0
	shift 2
	while until_got=$("$@"); [ "$until_got" != "$until_want" ] && [ $((tries += 1)) -lt 1200 ]; do sleep 0.05; done
	is "$until_name" "$until_got" "$until_want"
}
# shellcheck disable=SC2317 # for until_is
published() { cat "$tmp/published" 2>/dev/null; }
program() { # OPTION...: runs a program that waits at its end to be released, with its stream on stdout
	rm -f "$tmp/published"
	exec "$collect" -q "$tracee" -z "$@" -p "$tmp/published" -a "$tmp/hold" 2>/dev/null
}
release() { timeout 60 sh -c ": >'$tmp/hold'"; }
mkfifo "$tmp/hold" "$tmp/pipe" "$tmp/gate"

# --- killed: tee keeps the stream -----------------------------------------------------------------------------------------------
(program -c 5 -e 600 -r 1000) | tee -p "$tmp/t.ctp" >"$tmp/pipe" &
program=$!
"$to" --live 1 --load "$quick" <"$tmp/pipe" 2>"$tmp/err" &
load=$!
until_is 'rows are seen while their section goes on' 1 ask 'SELECT count() > 0 FROM coro_trace_events'
ch_kill 1
until_is 'the program comes to its end without a server' 3000 published
release
wait $program
wait $load
is 'the loader fails' $? 1
like 'and says what it dropped' "$(wc -l <"$tmp/err") $(cat "$tmp/err")" '^1 ctp-toclickhouse: [0-9]+ rows and all after them were dropped, deliver the whole stream again: .'
ch_start 1
ok 'what was delivered before is still seen' [ "$(ask 'SELECT count() FROM coro_trace_events')" -gt 0 ]
"$to" -q --load "$quick" "$tmp/t.ctp"
like 'what tee has kept is delivered' $? '^[03]$' # 3: with losses
is 'once, and all of it' "$(counts | tr '\t\n' '  ')" '3000 1 1 1 0 '

# --- silent: what came before a pause is seen -------------------------------------------------------------------------------------------
(program -c 5 -e 100) | "$to" -q --live 1 --load "$quick" &
load=$!
all_seen() { ask "SELECT (SELECT count() FROM delivered_transition WHERE section_id <> $first) + (SELECT sum(count) FROM delivered_lost WHERE section_id <> $first)"; }
first=$(ask 'SELECT any(section_id) FROM deliveries')
until_is 'all events are seen while the program does nothing more' 500 all_seen
release
wait $load
is 'and when it has ended' "$(all_seen)" 500

# --- hanging: the program is not held back ------------------------------------------------------------------------------------------
# More than the pipes hold waits for a client that waits for the gate.
(program -c 50 -e 4000 -r 100000) | tee -p "$tmp/u.ctp" >"$tmp/pipe" &
program=$!
"$to" --live 1 --load "cat $tmp/gate; exit 7 #" <"$tmp/pipe" 2>"$tmp/err" &
load=$!
until_is 'while the server hangs, the program comes to its end' 200000 published
ok 'and the loader still waits' kill -0 $load
timeout 60 sh -c ": >'$tmp/gate'"
wait $load
like 'when the client fails, it says what it dropped' "$? $(cat "$tmp/err")" '^1 ctp-toclickhouse: [0-9]+ rows and all after them were dropped, .*ended with status 7 and printed no reason$'
release
wait $program
"$to" -q --load "$quick" "$tmp/u.ctp"
like 'what tee has kept is delivered again' $? '^[03]$'
is 'with what was lost' "$(counts | tr '\t\n' '  ')" '203500 3 1 3 0 '

done_testing
