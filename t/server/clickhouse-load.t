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
like 'which is said' "$(cat "$tmp/err")" 'the server has the whole section'

# --- two at once --------------------------------------------------------------------------------------------------------------
anew
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

# --- killed -------------------------------------------------------------------------------------------------------------------
# While one loader after another is killed at random, a reader sees nothing or all.
anew
for n in $(seq 60); do events k$n 1000 >"$tmp/k$n.ctp"; done
is 'while loaders are killed, a reader sees all rows of a section or none' \
	"$(LOAD="$load" QUICK="$quick" python3 t/helper/clickhouse-kill.py $kills 1000 "$tmp"/k*.ctp 2>"$tmp/ended")" ''
note "$(cat "$tmp/ended")"
"$load" -q --load "$quick" "$tmp"/k*.ctp 2>/dev/null
is 'the next loader delivers the rest' "$? $(counts | cut -d ' ' -f 1-2)" '0 60000 15000'
"$load" -q --clean --load "$quick"
is 'the rest is deleted' "$? $(counts)" '0 60000 15000 60000 15000 60'
done_testing
