#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# Names that a database refuses, cuts or confuses: each writer of SQL loads all of them, and no two are one table or column.
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
lite() { sqlite3 -separator "	" "$tmp/names.sqlite" "$1"; }
pg() { psql -X -At -F '	' -c "$1"; }
my() { sql -D names -e "SET SESSION sql_mode = 'ANSI_QUOTES,PIPES_AS_CONCAT', group_concat_max_len = 1000000; $1"; }
house() { ch -d names -q "$1" --max_query_size=1000000; }

"$O/t/helper/badnames" >"$tmp/names.ctp"
all=$("$BIN/ctp-tojsonl" -a "$tmp/names.ctp" | grep '"@schema"' | grep -vc '"name":"fields of') # names

check() { # ENGINE STATEMENT COLUMNS: the statement makes a query of the tables' names; a row begins with so many columns that are ours
	check_query=$($1 "$2")
	check_tables=$(printf %s "$check_query" | sed 's/ UNION ALL /\n&/g' | grep -c ' UNION ALL ')
	is "$1: each class has a table of its own, with its row" "$check_tables $($1 "$check_query" | sort -n | uniq | wc -l)" "$((all - 1)) $all"
	for check_first in 0 100 200; do
		$1 "SELECT * FROM \"fields of $check_first\"" | tr '\t' '\n' | tail -n +$(($3 + 1))
	done >"$tmp/fields"
	is "$1: each field has a column of its own" "$(seq 0 $((all - 1)) | diff - "$tmp/fields")" ""
}
ours="FROM classes WHERE name NOT LIKE 'fields of %' AND id > (SELECT max(id) FROM classes) - $all - 3"

ok 'SQLite takes all names' "$BIN/ctp-sqlite" -q -o "$tmp/names.sqlite" "$tmp/names.ctp"
check lite "SELECT group_concat(printf('SELECT n FROM (SELECT n FROM \"%w\")', table_name), ' UNION ALL ') $ours" 2
ok 'PostgreSQL takes all names' "$BIN/ctp-postgres" -q "$tmp/names.ctp"
check pg "SELECT string_agg(format('SELECT n FROM %I', table_name), ' UNION ALL ') $ours" 2
for options in '' --live; do
	dropdb coro_tracer
	ok "PostgreSQL takes all names from a pipe${options:+ with $options}" sh -c '"$0" -q $1 <"$2"' "$BIN/ctp-postgres" "$options" "$tmp/names.ctp"
done
check pg "SELECT string_agg(format('SELECT n FROM %I', table_name), ' UNION ALL ') $ours" 2
ok 'MySQL takes all names' load -q -D names "$tmp/names.ctp"
check my "SELECT group_concat('SELECT n FROM \"' || replace(table_name, '\"', '\"\"') || '\"' SEPARATOR ' UNION ALL ') $ours" 2
for engine in lite pg my; do
	is "$engine: the view has the wakes of each table" "$($engine "SELECT count(*) FROM wakes WHERE coro = 1")" $((all / 2))
done
ch -q 'CREATE DATABASE names'
"$BIN/ctp-toclickhouse" --schema "$tmp/names.ctp" | ch -d names -n
is 'ClickHouse takes tables with all names' $? 0
ok 'ClickHouse takes all names' "$BIN/ctp-toclickhouse" -q --load "$(ch_at 1) -d names" "$tmp/names.ctp"
check house "SELECT arrayStringConcat(groupArray(concat('SELECT n FROM \`', replaceAll(replaceAll(name, '\\\\', '\\\\\\\\'), '\`', '\\\\\`'), '\`')), ' UNION ALL ')
	FROM system.tables WHERE database = 'names' AND engine LIKE '%MergeTree' AND name IN (SELECT table FROM system.columns WHERE database = 'names' AND name = 'n')
	FORMAT TabSeparatedRaw" 4
done_testing
