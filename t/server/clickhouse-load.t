#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# ctp-toclickhouse --load: each section is on the server once, whatever fails, and what fails is said in one line.
# Not under sanitizers: it waits for a server most of the time.
. t/helper/tap.sh
. t/helper/clickhouse.sh
load=$BIN/ctp-toclickhouse from=$BIN/ctp-fromjsonl
ch_need
"$load" --schema | ch -n
quick=$(ch_quick 1)
ask() { $quick --query "$1"; }
kills=200
# Unlike a pipeline of real loaders these all end.
anew() { for table in $(ask "SELECT name FROM system.tables WHERE database = 'default' AND engine = 'MergeTree' ORDER BY name"); do
	ask "ALTER TABLE $table DELETE WHERE 1"; done; settle; }
settle() { until [ "$(ask 'SELECT count() FROM system.mutations WHERE NOT is_done')" = 0 ]; do sleep 0.02; done; }
events() { # HOST N SECONDS: a stream of N transitions
	awk -v host="$1" -v n="$2" 'BEGIN {
		printf "{\"type\":\"@section\",\"attrs\":{\"host\":\"%s\",\"clock\":\"monotonic\",\"wall_offset_ns\":\"1794700800000000000\"}}\n", host
		print "{\"type\":\"@schema\",\"name\":\"transition\",\"kind\":\"transition\",\"fields\":[{\"name\":\"probe_id\",\"type\":\"u64\",\"role\":\"probe\"},{\"name\":\"tid\",\"type\":\"u64\",\"role\":\"thread\"},{\"name\":\"addr\",\"type\":\"u64\",\"role\":\"address\"},{\"name\":\"seq\",\"type\":\"u64\",\"role\":\"sequence\"},{\"name\":\"is_active\",\"type\":\"bool\",\"role\":\"state\"},{\"name\":\"ts\",\"type\":\"u64\",\"role\":\"time\"},{\"name\":\"coro\",\"type\":\"u64\",\"role\":\"coroutine\"},{\"name\":\"index\",\"type\":\"u64\",\"role\":\"sequence\"},{\"name\":\"site\",\"type\":\"u64\",\"role\":\"site\"}]}"
		print "{\"type\":\"@schema\",\"name\":\"wake\",\"kind\":\"wake\",\"fields\":[{\"name\":\"ts\",\"type\":\"u64\",\"role\":\"time\"},{\"name\":\"coro\",\"type\":\"u64\",\"role\":\"coroutine\"},{\"name\":\"tid\",\"type\":\"u64\",\"role\":\"thread\"}]}"
		for (i = 0; i < n; i++) {
			printf "{\"type\":\"transition\",\"probe_id\":%d,\"tid\":1,\"addr\":\"0x1\",\"seq\":%d,\"is_active\":%s,\"ts\":%d,\"coro\":%d,\"index\":%d,\"site\":0}\n", i % 10, i, i % 2 ? "true" : "false", 1000 + i, i % 10 + 1, int(i / 10)
			if (i % 4 == 0) printf "{\"type\":\"wake\",\"ts\":%d,\"coro\":%d,\"tid\":1}\n", 1000 + i, i % 10 + 1
		}
		print "{\"type\":\"@end\",\"complete\":true}"
	}' | "$from" -q
}
counts() { # rows that a reader sees, rows that there are, deliveries
	echo "$(ask 'SELECT count() FROM coro_trace_events') $(ask 'SELECT count() FROM wakes') $(ask 'SELECT count() FROM transition') $(ask 'SELECT count() FROM wake') $(ask 'SELECT uniqExact(delivery) FROM sections')"
}

# --- once ---------------------------------------------------------------------------------------------------------------------
events a 60000 >"$tmp/a.ctp"
events b 400 >"$tmp/b.ctp"
"$load" -q --load "$(ch_at 1)" "$tmp/a.ctp" "$tmp/b.ctp"
is 'two sections are delivered by clickhouse-client' "$? $(counts)" '0 60400 15100 60400 15100 2'
"$load" --load "$quick" "$tmp/b.ctp" "$tmp/a.ctp" 2>"$tmp/err"
is 'and are not delivered again' "$? $(counts)" '0 60400 15100 60400 15100 2'
is 'which is said of each' "$(grep -c 'has this section' "$tmp/err")" 2
anew
"$load" -q --load "$quick" "$tmp/a.ctp" "$tmp/a.ctp"
is 'nor is one that is given twice' "$? $(counts)" '0 60000 15000 60000 15000 1'

# --- copies that are not whole ----------------------------------------------------------------------------------------------------
anew
size=$(wc -c <"$tmp/a.ctp")
for part in 2 3; do head -c $((size * part / 4)) "$tmp/a.ctp" >"$tmp/cut$part.ctp"; done
"$load" -q --load "$quick" "$tmp/cut2.ctp" 2>/dev/null
first=$(ask 'SELECT count() FROM coro_trace_events')
is 'a copy that was cut is delivered' "$([ "$first" -gt 0 ] && [ "$first" -lt 60000 ] && echo yes)" yes
"$load" -q --load "$quick" "$tmp/cut3.ctp" 2>/dev/null
second=$(ask 'SELECT count() FROM coro_trace_events')
ok 'one with more rows is seen instead' [ "$second" -gt "$first" ]
"$load" -q --load "$quick" "$tmp/cut2.ctp" 2>/dev/null
is 'not the other way round' "$(ask 'SELECT count() FROM coro_trace_events')" "$second"
"$load" -q --load "$quick" "$tmp/a.ctp"
settle
is 'the whole section replaces both' "$? $(counts)" '0 60000 15000 60000 15000 1'
"$load" --load "$quick" "$tmp/cut3.ctp" 2>"$tmp/err"
is 'and is not replaced' "$? $(counts)" '3 60000 15000 60000 15000 1'
like 'which is said' "$(cat "$tmp/err")" 'the server has the complete section'

# --- two at once --------------------------------------------------------------------------------------------------------------
anew
note "$(ch_cpu) ms so far"
for round in 1 2 3 4 5; do
	events c$round 300 >"$tmp/c.ctp"
	"$load" -q --load "$quick" "$tmp/c.ctp" &
	one=$!
	"$load" -q --load "$quick" "$tmp/c.ctp" || echo "round $round: $?"
	wait $one || echo "round $round: $?"
done >"$tmp/said"
settle
is 'two loaders at once both succeed' "$(cat "$tmp/said")" ''
is 'and end with one copy' "$(counts)" '1500 375 1500 375 5'

# --- live ---------------------------------------------------------------------------------------------------------------------
anew
awk -v requests=6000 -v host=live -f t/bench/scale.awk | "$from" -q >"$tmp/live.ctp"
size=$(wc -c <"$tmp/live.ctp")
mkfifo "$tmp/pipe"
"$load" -q --live 1 --load "$quick" <"$tmp/pipe" &
live=$!
exec 9>"$tmp/pipe"
head -c $((size * 3 / 4)) "$tmp/live.ctp" >&9
for _ in $(seq 100); do
	seen=$(ask 'SELECT count() FROM coro_trace_events')
	[ "$seen" = 0 ] || break
	sleep 0.1
done
ok 'while a section goes on, its rows are seen' [ "$seen" -gt 0 ]
is 'as those of one that is not complete' "$(ask 'SELECT uniqExact(section_id), max(complete) FROM delivered_sections' | tr '\t' ' ')" '1 0'
tail -c +$((size * 3 / 4 + 1)) "$tmp/live.ctp" >&9
exec 9>&-
wait $live
is 'when it has ended, it is complete' "$? $(ask 'SELECT count() FROM births') $(ask 'SELECT uniqExact(delivery), max(complete) FROM delivered_sections' | tr '\t' ' ')" '0 6000 1 1'

# --- killed -------------------------------------------------------------------------------------------------------------------
note "$(ch_cpu) ms so far"
# While one loader after another is killed at random, a reader sees nothing or all.
anew
for n in $(seq 60); do events k$n 1000 >"$tmp/k$n.ctp"; done
is 'while loaders are killed, a reader sees all rows of a section or none' \
	"$(LOAD="$load" QUICK="$quick" python3 t/helper/clickhouse-kill.py $kills 1000 "$tmp"/k*.ctp 2>"$tmp/ended")" ''
note "$(cat "$tmp/ended")"
"$load" -q --load "$quick" "$tmp"/k*.ctp 2>/dev/null
is 'the next loader delivers the rest' "$? $(counts | cut -d ' ' -f 1-2)" '0 60000 15000'
"$load" -q --clean --load "$quick"
is 'of what was cut off nothing is seen' "$? $(counts | cut -d ' ' -f 1-2)" '0 60000 15000'
# A client may outlive its loader, and begin while the next one looks: clickhouse-load.h.
ok 'nearly all of it is deleted' [ "$(counts | cut -d ' ' -f 3)" -le 63000 ]
ask "INSERT INTO sections (section_id, delivery, state) SELECT 7, 8, 0" && ask "INSERT INTO wake (section_id, delivery) VALUES (7, 8)"
"$load" -q --clean --unfinished --load "$quick"
settle
is 'all that did not end is deleted, too' "$? $(counts)" '0 60000 15000 60000 15000 60'

anew
for percent in 40 70; do head -c $(($(wc -c <"$tmp/a.ctp") * percent / 100)) "$tmp/a.ctp" | "$load" -q --load "$quick" 2>/dev/null; done
two=$(ask 'SELECT uniqExact(delivery) FROM transition') seen=$(ask 'SELECT count() FROM coro_trace_events')
"$load" -q --clean --unfinished --load "$quick"
settle
is 'and the shorter of two copies that are not complete' \
	"$? $two $(ask 'SELECT uniqExact(delivery), count() FROM transition' | tr '\t' ' ') $(ask 'SELECT count() FROM coro_trace_events')" "0 2 1 $seen $seen"

# --- hostile and broken servers -------------------------------------------------------------------------------------------------
note "$(ch_cpu) ms so far"
anew
mkdir "$tmp/cut"
for n in $(seq 12); do events h$n 500 >"$tmp/cut/$n.ctp"; done
is 'a connection that breaks at any byte is one line and status 1, and no part is seen' \
	"$(LOAD="$load" QUICK="$O/t/helper/clickhouse-http --port %d" python3 t/helper/clickhouse-cut.py "$(ch_http 1)" 40 500 "$tmp"/cut/?.ctp 2>"$tmp/ended")" ''
note "$(cat "$tmp/ended")"
is 'the same with clickhouse-client' \
	"$(LOAD="$load" QUICK='clickhouse-client --host 127.0.0.1 --port %d' python3 t/helper/clickhouse-cut.py "$(ch_port 1)" 8 500 "$tmp"/cut/??.ctp 2>"$tmp/ended")" ''
note "$(cat "$tmp/ended")"

# The rest of the command line is a comment to the shell, if it is not wanted.
events x 100 >"$tmp/x.ctp"
anew
printf 'case "$*" in *INSERT*) cat >/dev/null ;; *) exec %s "$@" ;; esac\n' "$quick" >"$tmp/liar"
printf 'case "$*" in *INSERT*) exec %s "$@" ;; *) exec %s "$@" | tr 0-9 x ;; esac\n' "$quick" "$quick" >"$tmp/letters"
printf 'case "$*" in *INSERT*) exit 0 ;; *) exec %s "$@" ;; esac\n' "$quick" >"$tmp/lazy"
printf 'case "$*" in *INSERT*wake*) head -c 50 | %s "$@" ;; *) exec %s "$@" ;; esac\n' "$quick" "$quick" >"$tmp/short"
hostile() { # WHAT PATTERN COMMAND
	"$load" -q --timeout 1 --load "$3" "$tmp/x.ctp" >"$tmp/out" 2>"$tmp/err"
	like "$1 is said" "$? $(wc -l <"$tmp/err") $(cat "$tmp/err")" "^1 1 ctp-toclickhouse: .*$2"
	is "$1: nothing counts" "$(cat "$tmp/out")$(ask 'SELECT count() FROM deliveries')" 0
}
garbage='its answer does not fit the query'
hostile 'a client that says nothing' "$garbage" 'cat >/dev/null; true #'
hostile 'garbage' "$garbage" 'cat >/dev/null; echo garbage #'
hostile 'an echo' "$garbage" 'cat #'
hostile 'zeros' "$garbage" 'head -c 100000 /dev/zero #'
hostile 'an answer without end' 'its answer is too long' 'yes #'
hostile 'two ends' "$garbage" 'cat >/dev/null; printf "ctp-end\t\t\t\nctp-end\t\t\t\n" #'
hostile 'a row too short' "$garbage" 'cat >/dev/null; printf "1\nctp-end\t\t\t\n" #'
hostile 'an answer without its last row' "$garbage" 'cat >/dev/null; printf "61\t62\tUInt64\tMergeTree\n" #'
hostile 'a server without tables' 'there is no table sections; ctp-toclickhouse --schema makes it' 'cat >/dev/null; printf "ctp-end\t\t\t\n" #'
hostile 'a client that fails in silence' 'ended with status 7 and printed no reason' 'sh -c "exit 7" #'
hostile 'a client that is killed' 'was killed by signal 9' 'kill -9 $$ #'
hostile 'a client that is not there' 'not found' '/nonexistent/client'
hostile 'a client that is late' 'has neither read nor written anything for 1.0 s' 'sleep 60 #'
hostile 'a client that takes no rows' 'has neither read nor written anything for 1.0 s' 'exec 0<&-; exec 0</dev/null; sleep 60 #'
hostile 'a client that swallows rows' 'the server does not have all rows' "sh $tmp/liar"
hostile 'a client that reads no rows' 'the server does not have all rows|ended before' "sh $tmp/lazy"
hostile 'a client that passes on a part' 'Cannot read all data' "sh $tmp/short"
hostile 'letters for numbers' 'there is no table sections|not a number' "sh $tmp/letters"
for said in '--password secret' '--password=secret' "--password 'a secret'" '-u me:secret' 'http://me:secret@127.0.0.1/' '--pass secret --user you' 'a "secret'; do
	"$load" --load "clickhouse-client --host 127.0.0.1 --port 1 $said --database t" "$tmp/x.ctp" 2>>"$tmp/shown"
	"$load" --load "PASSWORD=${said##* } clickhouse-client --host 127.0.0.1 --port 1" "$tmp/x.ctp" 2>>"$tmp/shown"
done
is 'no message has a password' "$(grep -c secret "$tmp/shown")" 0
like 'but the program and the server' "$(head -n 1 "$tmp/shown")" '^ctp-toclickhouse: clickhouse-client --host 127.0.0.1 --port 1 --database t: .*refused'
hostile 'a server that is not there' 'refused' 'clickhouse-client --host 127.0.0.1 --port 1'
hostile 'a user who may not insert' 'Cannot insert into table in readonly mode|readonly' "$(ch_at 1) --user reader"
"$load" -q --load "$(ch_at 1) --user writer" "$tmp/x.ctp"
is 'a user who can only insert and read delivers' "$? $(ask 'SELECT count() FROM coro_trace_events')" '0 100'
note "CPU time of the server: $(ch_cpu) ms"
ch_kill 1
"$load" -q --load "$(ch_at 1)" "$tmp/x.ctp" 2>"$tmp/err"
like 'a server that was killed is said' "$? $(wc -l <"$tmp/err") $(cat "$tmp/err")" '^1 1 ctp-toclickhouse: .*Connection refused'
ch_start 1
"$load" -q --load "$quick" "$tmp/x.ctp" 2>/dev/null
is 'when it is there again, it has what it had' "$? $(ask 'SELECT count() FROM coro_trace_events')" '0 100'
done_testing
