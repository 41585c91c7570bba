#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# ctp-mysql with a real MariaDB server, started by the test: values of every type, views equal to SQLite's, and refused loads.
# Not under sanitizers: it waits for a server most of the time.
. t/helper/tap.sh
. t/helper/mysql.sh
my_need
my_start

# --- values ---------------------------------------------------------------------------------------------------------------------
python3 t/helper/mysql.py make >"$tmp/values.jsonl"
"$from" -q "$tmp/values.jsonl" >"$tmp/values.ctp"
load -D local "$tmp/values.ctp" 2>"$tmp/err"
is 'values of every type are loaded' $? 0
like 'values that are not finite are counted' "$(cat "$tmp/err")" '^ctp-mysql: local: 3 numbers are not finite, and are NULL$'
sql -D local -e "$(python3 t/helper/mysql.py query)" >"$tmp/local"
python3 t/helper/mysql.py want >"$tmp/want"
ok 'values of every type are reproduced' cmp "$tmp/local" "$tmp/want"
is 'the table has the right types' "$(sql -D local -e "SELECT column_type FROM information_schema.columns WHERE table_schema = 'local' AND table_name = 'coro_trace_events' ORDER BY ordinal_position LIMIT 8" | tr '\n' ' ')" \
	'bigint(20) unsigned decimal(20,0) decimal(20,0) varchar(18) decimal(20,0) tinyint(1) decimal(20,0) bigint(20) '
is 'the table has the right keys' "$(sql -D local -e "SHOW KEYS FROM coro_trace_events" | awk '{print $3}' | uniq | tr '\n' ' ')" 'PRIMARY idx_probe_seq idx_tid_ts idx_ts idx_coro '
is "coroTracer's INSERT still works" "$(sql -D local -e "INSERT INTO coro_trace_events (probe_id, tid, addr, seq, is_active, ts) VALUES (18446744073709551615, 1, '0x1', 1, TRUE, 1); SELECT probe_id, section FROM coro_trace_events WHERE addr = '0x1'")" \
	"18446744073709551615	0"
sql -e 'SET GLOBAL local_infile = 0'
load -q -D inserts "$tmp/values.ctp"
is 'without local_infile values are inserted' "$(sql -D inserts -e "$(python3 t/helper/mysql.py query)" | cksum)" "$(cksum <"$tmp/want")"
sql -e 'SET GLOBAL local_infile = 1'
python3 t/helper/mysql.py odd | "$from" -q >"$tmp/odd.ctp"
load -q -D odd "$tmp/odd.ctp"
is 'long equal names, words of SQL, NUL, no UTF-8 and 2^64-1 are loaded' "$? $(sql -D odd -e "$(python3 t/helper/mysql.py oddly)" | tr '\n\t' '| ')" \
	"0 54 55|54 55|a\\x00\\xff' 00FF|18446744073709551615|h\\xff 18446744073709551615 1|"

cat >"$tmp/order.jsonl" <<'JSONL'
{"type":"@schema","name":"order","kind":"other","fields":[{"name":"ts","type":"u64","role":"time"},{"name":"id","type":"u64"},{"name":"_row","type":"u64"}]}
{"type":"order","ts":1,"id":40,"_row":7}
{"type":"order","ts":2,"id":60,"_row":8}
JSONL
for n in 1 2; do "$from" -q "$tmp/order.jsonl" >"$tmp/order.ctp"; load -q -D order --append "$tmp/order.ctp"; done
is 'a field id keeps its name, and its values are right' "$(sql -D order -e 'SELECT sum(id), sum(_row_2), sum(_row) FROM `order`')" '200	30	10'

# --- views ----------------------------------------------------------------------------------------------------------------------
for seed in 1 2; do
	python3 t/helper/sqlite-views.py make $seed $steps >"$tmp/made$seed"
	"$from" -q "$tmp/made$seed" >"$tmp/s$seed.ctp"
	load -q -D "v$seed" "$tmp/s$seed.ctp"
	"$BIN/ctp-sqlite" -q -o "$tmp/s$seed.sqlite" "$tmp/s$seed.ctp"
	same "views are as SQLite's, seed $seed" "v$seed" "$tmp/s$seed.sqlite"
done
PYTHONDONTWRITEBYTECODE=1 python3 t/helper/objects.py make 2 | "$from" -q >"$tmp/objects.ctp"
load -q -D objects "$tmp/objects.ctp"
"$BIN/ctp-sqlite" -q -o "$tmp/objects.sqlite" "$tmp/objects.ctp"
same 'objects, holders and reasons are those of SQLite' objects "$tmp/objects.sqlite"
is 'there are such rows' "$(sql -D objects -e 'SELECT (SELECT count(*) FROM objects) > 0 AND (SELECT count(*) FROM holders) > 0 AND (SELECT count(*) FROM reasons) > 0')" 1
load -q -D objects --append "$tmp/s1.ctp"
"$BIN/ctp-sqlite" -q --append -o "$tmp/objects.sqlite" "$tmp/s1.ctp"
same 'they are after appending a trace without such rows' objects "$tmp/objects.sqlite"
events1=$(sql -D v1 -e 'SELECT count(*) FROM coro_trace_events')
load -q -D v1 --append "$tmp/s2.ctp"
"$BIN/ctp-sqlite" -q --append -o "$tmp/s1.sqlite" "$tmp/s2.ctp"
same 'views are right after appending' v1 "$tmp/s1.sqlite"
is 'no table of the load is left' "$(left v1)" 0
sed 's/\("attrs": {\)[^}]*/\1"clock":"monotonic","boot_id":"b","wall_offset_ns":"5"/' "$tmp/made1" | "$from" -q | "$BIN/ctp-merge" -q >"$tmp/merged.ctp"
load -q -D v1 --append "$tmp/merged.ctp"
"$BIN/ctp-sqlite" -q --append -o "$tmp/s1.sqlite" "$tmp/merged.ctp"
same 'and of a merged trace, whose origins end at different times' v1 "$tmp/s1.sqlite"
events=$(sql -D v1 -e 'SELECT count(*) FROM coro_trace_events')
load -q -D v1 "$tmp/s2.ctp" 2>"$tmp/err"
is 'a second load without --append is refused' "$? $(cat "$tmp/err")" '1 ctp-mysql: v1: has a table coro_trace_events; --append adds to it'
is 'a refused load adds nothing' "$(sql -D v1 -e 'SELECT count(*) FROM coro_trace_events')" "$events"
sql -e 'CREATE DATABASE other; CREATE TABLE other.names (id INT)'
load -q -D other "$tmp/s1.ctp" 2>"$tmp/err"
is "another's table is refused" "$? $(cat "$tmp/err")" "1 ctp-mysql: other: has a table or view names that is not ctp-mysql's; -D names another database"
is 'that table is unchanged' "$(sql -D other -e 'SHOW TABLES')" names

python3 -c 'import sys; d = bytearray(sys.stdin.buffer.read()); d[len(d) // 2] ^= 255; sys.stdout.buffer.write(d)' <"$tmp/s2.ctp" >"$tmp/damaged.ctp"
"$BIN/ctp-sqlite" -q -o "$tmp/damaged.sqlite" "$tmp/damaged.ctp"
load -q -D damaged "$tmp/damaged.ctp"
is 'a damaged stream gives status 3' $? 3
same "the intact part is the same as in SQLite" damaged "$tmp/damaged.sqlite"
# shellcheck disable=SC2089,SC2090 # the quotes are part of the name
export EVENTS='Table "%s"'
load -q -D named --table "$EVENTS" "$tmp/s2.ctp"
same "--table: views are as SQLite's, with events of that name" named "$tmp/s2.sqlite"
load -q -D named --append --table "$EVENTS" "$tmp/s1.ctp"
"$BIN/ctp-sqlite" -q --append -o "$tmp/s2.sqlite" "$tmp/s1.ctp"
same '--table: views are right after appending' named "$tmp/s2.sqlite"
is '--table: the table has its keys' "$(sql -D named -e "SHOW KEYS FROM \`$EVENTS\`" | cut -f 3 | uniq | tr '\n' ' ')" 'PRIMARY idx_probe_seq idx_tid_ts idx_ts idx_coro '
is '--table: no temporary table is left' "$(left named) $(sql -D named -e "SHOW TABLES LIKE '%coro_trace_events%'")" '0 '
for append in '' --append; do
	load -q -D named $append "$tmp/s1.ctp" 2>"$tmp/err"
	is "another name beside it is refused${append:+, with $append too}" "$? $(cat "$tmp/err")" \
		"1 ctp-mysql: named: its tables belong to the events of $EVENTS, not of coro_trace_events; -D names another database"
done
same 'a refused name changes nothing' named "$tmp/s2.sqlite"
unset EVENTS
for wrong in births CLASSES '' _ctp_x "$(printf %049d 0)"; do
	load -q -D wrong --table "$wrong" "$tmp/s1.ctp" 2>"$tmp/err"
	like "a bad table name is refused: $(printf %.20s "$wrong")" \
		"$? $(wc -l <"$tmp/err") $(cat "$tmp/err")" '^1 1 ctp-mysql: --table'
done

# --- the same trace again -----------------------------------------------------------------------------------------------------
for seed in 1 2; do "$BIN/ctp-sqlite" -q -o "$tmp/s$seed.sqlite" "$tmp/s$seed.ctp"; done
cp "$tmp/s1.sqlite" "$tmp/both.sqlite"
"$BIN/ctp-sqlite" -q --append -o "$tmp/both.sqlite" "$tmp/s2.ctp"
again() { # TRACE...: appends, prints the status and what was said
	load -q -D again --append "$@" 2>"$tmp/err"
	echo "$? $(cat "$tmp/err")"
}
manual() { # SECTION: the commands of ctp-mysql.1
	sed -n '/^\$ mariadb -N -r/,/^\.Ed/p' doc/ctp-mysql.1 | sed '/^\.Ed/d; s/^\$ //' | sed "s/= 3/= $1/g; s/coro_tracer/again/; s#mariadb#& --no-defaults --ssl=0 -S $dir/s.sock -u root#" | sh
}
load -q -D again "$tmp/s1.ctp"
is '--append: a trace is refused a second time' "$(again "$tmp/s2.ctp" "$tmp/s1.ctp" | head -n 1)" \
	"3 ctp-mysql: again: $tmp/s1.ctp: skipped: section 1 is of the same trace"
same 'the other one is added' again "$tmp/both.sqlite"
sql -e 'DROP DATABASE again'
awk 'BEGIN { for (i = 1; i <= 60000; i++) printf "{\"probe_id\":1,\"tid\":%d,\"addr\":\"0x1\",\"seq\":%d,\"is_active\":%s,\"ts\":%d}\n", i * i % 997, i, i % 2 ? "true" : "false", i }' |
	"$from" -q >"$tmp/whole.ctp"
python3 -c 'import sys
whole = open(sys.argv[1], "rb").read()
open(sys.argv[2], "wb").write(whole[:whole.index(whole[:8], len(whole) // 2)]) # a packet begins there' "$tmp/whole.ctp" "$tmp/part.ctp"
load -q -D again "$tmp/part.ctp"
is 'a copy that was cut is not replaced by one that has no more' "$(again --replace "$tmp/part.ctp" | grep -o 'skipped: .*')" \
	'skipped: section 1 is of the same trace, and no shorter'
is 'a copy that was cut is replaced' "$(again --replace "$tmp/whole.ctp")" "0 ctp-mysql: again: section 1, which is not complete, is replaced by that of $tmp/whole.ctp"
is 'and no row is there twice' "$(sql -D again -e 'SELECT count(*), count(DISTINCT section) FROM coro_trace_events; SELECT id, complete FROM sections')" '60000	1
2	1'
sql -e 'DROP DATABASE again'
load -q -D again "$tmp/s1.ctp"
is 'the refused trace leaves no table' "$(left again)" 0
load -q -D again --append "$tmp/s2.ctp"
for n in 7 8 9 10 11 12; do manual $n; done
is "the commands of the manual remove sections" "$(sql -D again -e 'SELECT count(*), max(id) FROM sections')" '6	6'
same 'they remove nothing else' again "$tmp/s1.sqlite"
# An earlier version had no such column, and keys called id.
sql -D again -e 'ALTER TABLE sections DROP COLUMN stream'
sql -D again -e "SELECT concat('ALTER TABLE \`', table_name, '\` RENAME COLUMN _row TO id;') FROM information_schema.columns
	WHERE table_schema = database() AND column_name = '_row'" | sql -D again
sqlite3 "$tmp/both.sqlite" "SELECT 'ALTER TABLE \"' || m.name || '\" RENAME _row TO id;' FROM sqlite_master AS m, pragma_table_info(m.name) AS c
	WHERE m.type = 'table' AND c.name = '_row'" >"$tmp/rename.sql"
sqlite3 "$tmp/both.sqlite" <"$tmp/rename.sql"
is 'a database of an earlier version can be appended to' "$(again "$tmp/s2.ctp") $(sql -D again -e 'SELECT count(*), count(stream) FROM sections')" '3  12	6'
sqlite3 "$tmp/both.sqlite" 'UPDATE sections SET stream = NULL WHERE id <= 6'
same "it is the same as SQLite's" again "$tmp/both.sqlite"

# --- permissions and passwords ----------------------------------------------------------------------------------------------------
sql -e "CREATE DATABASE few; CREATE USER few IDENTIFIED BY 'geheim'; GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER, INDEX ON few.* TO few"
MYSQL_PWD=geheim "$mysql" -q -S "$dir/s.sock" -u few -D few "$tmp/s1.ctp" 2>"$tmp/err"
is 'without the right to make views it fails' $? 1
like 'the message says so, with a count' "$(cat "$tmp/err")" '^ctp-mysql: few: CREATE VIEW command denied to user .*; [1-9][0-9]* rows were sent, and none is kept$'
none few 'a refused permission'
MYSQL_PWD=falsch "$mysql" -q -S "$dir/s.sock" -u few -D few "$tmp/s1.ctp" 2>"$tmp/err"
is 'a wrong password gives status 1' "$? $(grep -c falsch "$tmp/err")" '1 0'
like 'the message says that access is denied' "$(cat "$tmp/err")" '^ctp-mysql: few: Access denied for user .*$'
sql -e "CREATE USER loader; $(sed -n '/^GRANT/,/;$/s/coro_tracer/granted/p; /^GRANT/p' doc/ctp-mysql.1 | tr '\n' ' ')"
"$mysql" -q -S "$dir/s.sock" -u loader -D granted "$tmp/s1.ctp"
is "the manual's rights are enough to make a database" $? 3
append() { "$from" -q "$tmp/made1" | "$mysql" -q -S "$dir/s.sock" -u loader -D granted --append; } # with other ids
append
is 'they are enough to append' $? 3
append
is 'they are enough to append again, and ids have no gap' "$? $(sql -D granted -e 'SELECT count(*), max(id) FROM coro_trace_events')" "3 $((3 * events1))	$((3 * events1))"
sql -e "GRANT ALL ON few.* TO few"
printf '[client]\nsocket=%s\nuser=few\npassword=geheim\n' "$dir/s.sock" >"$tmp/.my.cnf"
mkfifo "$tmp/fifo"
"$mysql" -q -D few <"$tmp/fifo" &
child=$!
exec 9>"$tmp/fifo"
head -c 1000 "$tmp/s1.ctp" >&9
until [ "$(left few)" -gt 0 ] || ! kill -0 $child; do sleep 0.1; done
is 'the password is not in ps' "$(tr '\0' '\n' <"/proc/$child/cmdline" | grep -c geheim)" 0
tail -c +1001 "$tmp/s1.ctp" >&9
exec 9>&-
wait $child
is 'an option file has user, password and socket' "$(sql -D few -e 'SELECT count(*) FROM coro_trace_events')" "$events1"
rm "$tmp/.my.cnf"

printf '[client]\nsocket=%s\nuser=root\n' "$dir/s.sock" >"$tmp/.my.cnf"
is "the page's examples print what it says" "$(O=$O BIN=$BIN python3 -B t/helper/manrun.py doc/ctp-mysql.1 run-mysql)" 'commands 3'
rm "$tmp/.my.cnf"

done_testing
