#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# ctp-toclickhouse with a new ClickHouse, of 2026: tables, deliveries, and every row and view equal to SQLite's.
#
# The engine is a library in one process, and no server: no users, no network, no cluster.
# Not under sanitizers: it waits for an engine most of the time.
. t/helper/tap.sh
. t/helper/clickhouse.sh
to=$BIN/ctp-toclickhouse from=$BIN/ctp-fromjsonl
[ -x "$BIN/ctp-sqlite" ] || skip_all 'ctp-sqlite was not built'
for tool in node npm python3; do command -v $tool >/dev/null || skip_all "there is no $tool"; done
python3 -c 'import sqlite3' 2>/dev/null || skip_all 'there is no python3 with sqlite3'
# It is too big to be kept, unless a folder is named that has it.
engine=${CLICKHOUSE_ENGINE:-$tmp/engine}
said=$(t/helper/clickhouse-engine "$engine" 2>&1) || skip_all "a new ClickHouse cannot be had from npm: $(echo "$said" | head -n 1)"
once() { echo "node t/helper/clickhouse-new.js $engine $tmp/$1"; } # DATABASE: the command line of a client
http=$O/t/helper/clickhouse-http
serve() { # DATABASE: answers $quick
	$(once "$1") --listen "$tmp/port" 2>"$tmp/engine.log" &
	server=$!
	trap 'kill $server 2>/dev/null; rm -rf "$tmp"' EXIT
	until [ -s "$tmp/port" ]; do
		kill -0 $server 2>/dev/null || skip_all "the engine does not start: $(head -n 1 "$tmp/engine.log")"
		sleep 0.1
	done
	port=$(cat "$tmp/port") quick="$http --port $(cat "$tmp/port") --database=t"
}
ask() { $quick --query "$1"; }
anew() { # STREAM...: an empty database with tables for them
	for said in 'DROP DATABASE IF EXISTS t' 'CREATE DATABASE t'; do $http --port "$port" --query "$said"; done
	"$to" -q --schema --server 25 "$@" | $quick
}
same() { # NAME STREAM...
	same_name=$1
	shift
	rm -f "$tmp/a.sqlite"
	"$BIN/ctp-sqlite" -q -o "$tmp/a.sqlite" "$@" 2>/dev/null
	# shellcheck disable=SC2086 # a command line
	is "$same_name" "$(python3 t/helper/clickhouse-same.py "$tmp/a.sqlite" $quick)" ''
}

# --- a client of its own for each query ---------------------------------------------------------------------------------------
awk -v requests=30 -f t/bench/scale.awk | "$from" -q >"$tmp/web1.ctp"
is 'the statements are understood, and again' "$(for _ in 1 2; do "$to" --schema --server 25 | $(once a) 2>"$tmp/err" || cat "$tmp/err"; done)" ''
"$to" -q --load "$(once a)" "$tmp/web1.ctp"
is 'a section is delivered' "$? $($(once a) --query 'SELECT count() FROM coro_trace_events')" "0 $("$BIN/ctp-tojsonl" "$tmp/web1.ctp" | wc -l)"
"$to" --load "$(once a)" "$tmp/web1.ctp" 2>"$tmp/err"
is 'and is not delivered again' "$? $(grep -c 'the server has this section: it is not sent again' "$tmp/err")" '0 1'

serve b
# --- rows and views -------------------------------------------------------------------------------------------------------------
for seed in 1 2; do python3 t/helper/sqlite-views.py make $seed 120 | "$from" -q >"$tmp/$seed.ctp"; done
PYTHONDONTWRITEBYTECODE=1 python3 t/helper/objects.py make 2 | "$from" -q >"$tmp/objects.ctp"
awk -v requests=200 -f t/bench/scale.awk | "$from" -q >"$tmp/scale.ctp"
set -- "$tmp/1.ctp" "$tmp/2.ctp" "$tmp/objects.ctp" "$tmp/scale.ctp"
anew "$@"
"$to" -q --load "$quick" "$@" 2>/dev/null
is 'four traces are delivered, with status 3 for their losses' $? 3
rows=$(ask 'SELECT count() FROM transition')
"$to" -q --load "$quick" "$@" 2>/dev/null
is 'and only once' "$? $(ask 'SELECT count() FROM transition')" "3 $rows"
same 'every row, the sections and the views are those of SQLite' "$@"
is 'chains of coroutines that wait are there' "$(ask 'SELECT max(depth) > 1, countIf(root IS NULL) > 0 FROM wait_for')" '1	1'
is 'types are those of newer servers' \
	"$(ask "SELECT groupArray(type) FROM (SELECT DISTINCT type FROM system.columns WHERE database = 't' AND table = 'transition' AND name IN ('host', 'wall', 'ts') ORDER BY type)")" \
	"['DateTime64(9, \\'UTC\\')','LowCardinality(String)','UInt64']"
is 'a time on the wall has nanoseconds' "$(ask 'SELECT countIf(toUnixTimestamp64Nano(wall) - toInt64(ts) <> 1794700800000000000) FROM delivered_birth WHERE host = '"'web1'")" 0

# --- a merged trace, whose origins end at different times -----------------------------------------------------------------------
python3 t/helper/sqlite-views.py make 1 120 | awk '/@section/ { n++ } n == 1 || n == 3' | sed 's/\("attrs": {\)[^}]*/\1"clock":"monotonic","boot_id":"b","wall_offset_ns":"5"/' |
	"$from" -q | "$BIN/ctp-merge" -q >"$tmp/merged.ctp"
anew "$tmp/merged.ctp"
"$to" -q --load "$quick" "$tmp/merged.ctp" 2>/dev/null
is 'two origins have an end' "$(ask 'SELECT uniqExact(end_ns) FROM origins_at_end')" 2
same 'all views are those of SQLite' "$tmp/merged.ctp" # but for the column of origins, which only births have

# --- copies that were replaced ---------------------------------------------------------------------------------------------------
anew
awk -v requests=2500 -v host=web2 -f t/bench/scale.awk | "$from" -q >"$tmp/web2.ctp"
size=$(wc -c <"$tmp/web2.ctp")
head -c $((size * 3 / 4)) "$tmp/web2.ctp" >"$tmp/cut.ctp"
"$to" -q --load "$quick" "$tmp/cut.ctp" 2>/dev/null
cut=$(ask 'SELECT count() > 0 FROM coro_trace_events')
"$to" -q --load "$quick" "$tmp/web2.ctp"
is 'the whole section replaces one that was cut' "$? $cut $(ask 'SELECT count(), uniqExact(section) FROM coro_trace_events')" \
	"0 1 $("$BIN/ctp-tojsonl" "$tmp/web2.ctp" | wc -l)	1"
"$to" -v --clean --load "$quick" 2>"$tmp/err"
is 'what was replaced is deleted' "$? $(ask 'SELECT uniqExact(delivery), count() FROM birth')" '0 1	2500'

# --- the questions and panels of ctp-scale(7) ----------------------------------------------------------------------------------------
anew
hosts=6 sections=3 events=300 fleet=$O/t/helper/fleet
for n in $(seq 0 $((hosts * sections - 1))); do "$fleet" write $events $((n / sections)) $((n % sections)) >"$tmp/fleet$n.ctp"; done
"$to" -q --load "$quick" "$tmp"/fleet*.ctp
is 'a fleet is delivered' $? 3
"$fleet" know $events $hosts $sections >"$tmp/know"
. t/helper/clickhouse-questions.sh
questions "$fleet" $events $hosts

# --- by hand, and tables that grow -------------------------------------------------------------------------------------------------
anew "$tmp/objects.ctp"
"$to" -q --server 25 -o "$tmp/folder" "$tmp/objects.ctp"
for file in "$tmp"/folder/*.native; do
	table=$(basename "$file" .native)
	[ "$table" = sections ] || ask "INSERT INTO $table FORMAT Native" <"$file"
done
is 'rows that are inserted by hand do not count' "$(ask 'SELECT count() FROM coro_trace_events')" 0
"$to" --server 25 --class sections "$tmp/objects.ctp" | ask 'INSERT INTO sections FORMAT Native'
same 'before their sections are' "$tmp/objects.ctp"
ch_own a >"$tmp/own1.ctp"
ch_own a b c >"$tmp/own2.ctp"
for own in 1 2; do
	"$to" -q --load "$quick" "$tmp/own$own.ctp" 2>"$tmp/err"
	like 'what is missing is said' "$? $(cat "$tmp/err")" '^1 ctp-toclickhouse: .*(there is no table own|table own has no column b); ctp-toclickhouse --schema'
	"$to" --schema --server 25 --upgrade --load "$quick" "$tmp/own$own.ctp" | $quick
	"$to" -q --load "$quick" "$tmp/own$own.ctp"
	is '--upgrade adds it' $? 0
done
is 'and all rows are there' "$(ask 'SELECT a, b, c FROM delivered_own ORDER BY b' | tr '\t\n' ', ')" '7,0,0 7,7,7 '
is 'then there are only the views to upgrade' "$("$to" --schema --server 25 --upgrade --load "$quick" "$tmp/own2.ctp" | grep -c '^ALTER\|^CREATE TABLE')" 0
ask 'ALTER TABLE own DROP COLUMN c' && ask 'DROP TABLE wakes'
"$to" --schema --server 25 --upgrade --load "$quick" "$tmp/own2.ctp" >"$tmp/up.sql"
is 'the statements can be repeated' "$(for _ in 1 2; do $quick <"$tmp/up.sql"; done 2>&1) $(grep -c ^ALTER "$tmp/up.sql") $(ask 'SELECT sum(c) FROM delivered_own') $(ask 'SELECT count() FROM wakes')" ' 1 0 0'
note "CPU time of the engine that answers: $(awk -v hz="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); print ($12 + $13) * 1000 / hz " ms" }' "/proc/$server/stat")"
done_testing
