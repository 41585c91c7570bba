#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# Times at or above 2^63 ns, and before 1970: every view of every engine is right, or NULL where the engine has no room.
# Not under sanitizers: it waits for servers most of the time.
. t/helper/tap.sh
. t/helper/mysql.sh
. t/helper/postgres.sh
. t/helper/clickhouse.sh
[ -x "$BIN/ctp-postgres" ] || skip_all 'ctp-postgres was not built'
my_need
pg_need
ch_need
trap 'pg_stop; [ -z "$pid" ] || kill -9 "$pid"; ch_end; rm -rf "$dir" "$tmp"' EXIT
my_start
export PGDATABASE=coro_tracer
lite() { "$BIN/ctp-sqlite" -q -o "$tmp/$1.sqlite" "$tmp/$1.ctp"; }
odd() { python3 t/helper/times.py "$@"; }
walls='SELECT tid, wall, wall_ns FROM wall_times'

# --- the time of day ------------------------------------------------------------------------------------------------------------
odd make | "$from" -q >"$tmp/odd.ctp"
odd make bigint | "$from" -q >"$tmp/small.ctp"
lite odd
is 'SQLite: wall_times' "$(sqlite3 -separator '	' -nullvalue '\N' "$tmp/odd.sqlite" "$walls" | odd check sqlite)" ''
"$BIN/ctp-postgres" -q "$tmp/odd.ctp"
is 'PostgreSQL: wall_times' "$(psql -X -At -F '	' -P null='\N' -c "$walls" | odd check postgres)" ''
dropdb coro_tracer
"$BIN/ctp-postgres" -q --bigint "$tmp/small.ctp"
is 'PostgreSQL with --bigint: wall_times' "$(psql -X -At -F '	' -P null='\N' -c "$walls" | odd check bigint)" ''
dropdb coro_tracer
load -q -D odd "$tmp/odd.ctp"
is 'MySQL: wall_times' "$(sql -D odd -e "$walls" | sed 's/NULL/\\N/g' | odd check mysql)" ''
ch -q 'CREATE DATABASE odd'
"$BIN/ctp-toclickhouse" --schema | ch -d odd -n
"$BIN/ctp-toclickhouse" -q --load "$(ch_at 1) -d odd" "$tmp/odd.ctp"
is 'ClickHouse: wall_times' "$(ch -d odd -q "$walls" | odd check clickhouse)" ''

# --- the same trace, later: every view is the same ------------------------------------------------------------------------------
python3 t/helper/sqlite-views.py make 1 60 >"$tmp/made"
"$from" -q "$tmp/made" >"$tmp/early.ctp"
odd late <"$tmp/made" | "$from" -q >"$tmp/late.ctp"
lite early
lite late
LATE=1
export LATE
is 'SQLite: every view' "$(python3 t/helper/sql-same.py --once "$tmp/early.sqlite" python3 t/helper/times.py csv "$tmp/late.sqlite")" ''
"$BIN/ctp-postgres" -q "$tmp/late.ctp"
is 'PostgreSQL: every view' "$(python3 t/helper/sql-same.py "$tmp/early.sqlite" psql -X --csv -P null='\N')" ''
load -q -D late "$tmp/late.ctp"
same 'MySQL: every view' late "$tmp/early.sqlite"
quick="$(ch_quick 1)"
for db in early late; do
	ch -q "CREATE DATABASE $db"
	"$BIN/ctp-toclickhouse" --schema "$tmp/$db.ctp" | ch -d $db -n
	"$BIN/ctp-toclickhouse" -q --load "$(ch_at 1) -d $db" "$tmp/$db.ctp"
	for view in $($quick --query "SELECT name FROM system.tables WHERE database = '$db' AND engine = 'View'"); do
		echo "$view $($quick --database=$db --query "SELECT count() FROM $view")"
	done >"$tmp/$db.counts"
	$quick --database=$db --query 'SELECT coro, name, target, target_name, duration_ns, open, certain, site_text, target_state FROM await_intervals ORDER BY coro, duration_ns, target, open' \
		>"$tmp/$db.awaits"
done
is 'ClickHouse: every view has as many rows' "$(diff "$tmp/early.counts" "$tmp/late.counts")" ''
is 'ClickHouse: await_intervals' "$(diff "$tmp/early.awaits" "$tmp/late.awaits" | head -n 5)" ''
done_testing
