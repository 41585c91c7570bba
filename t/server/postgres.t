#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# ctp-postgres with a real server: every value, every view equal to SQLite's, and no remains after a failure.
# Not under sanitizers: it waits for a server most of the time.
. t/helper/tap.sh
. t/helper/postgres.sh
postgres=$BIN/ctp-postgres from=$BIN/ctp-fromjsonl
[ -x "$postgres" ] || skip_all 'ctp-postgres was not built'
[ -x "$BIN/ctp-sqlite" ] || skip_all 'ctp-sqlite was not built'
python3 -c 'import sqlite3' 2>/dev/null || skip_all 'there is no python3 with sqlite3'
pg_need

sql() { psql -X -At -d "${db:-coro_tracer}" -c "$1"; }
anew() { dropdb --if-exists -f coro_tracer 2>/dev/null; }
same() { # NAME: all tables and views of a.sqlite
	is "$1" "$(python3 t/helper/sql-same.py "$tmp/a.sqlite" psql -X --csv -P null='\N' -d coro_tracer)" ''
}

# --- tables and views ------------------------------------------------------------------------------------------------------------
python3 t/helper/sqlite-views.py make 1 $steps | sed 's/\("attrs": {\)[^}]*/\1"clock":"monotonic","boot_id":"b","wall_offset_ns":"5"/' | "$from" -q | "$BIN/ctp-merge" -q >"$tmp/merged.ctp"
"$BIN/ctp-sqlite" -q -o "$tmp/a.sqlite" "$tmp/merged.ctp"
anew
"$postgres" -q "$tmp/merged.ctp"
same 'a merged trace, whose origins end at different times: every table and view is that of SQLite'
for seed in 1 2; do
	python3 t/helper/sqlite-views.py make $seed $steps >"$tmp/made"
	"$from" -q "$tmp/made" >"$tmp/$seed.ctp"
	"$from" -q "$tmp/made" >"$tmp/$seed-again.ctp" # with other ids
	"$BIN/ctp-sqlite" -q -o "$tmp/a.sqlite" "$tmp/$seed.ctp"
	anew
	"$postgres" -q "$tmp/$seed.ctp"
	is "seed $seed: the load has status 3, for its losses" $? 3
	same "seed $seed: every table and view is SQLite's, row by row"
done
"$BIN/ctp-sqlite" -q --append -o "$tmp/a.sqlite" "$tmp/1.ctp"
"$postgres" -q --append "$tmp/1.ctp"
is 'append: the load succeeds' $? 3
same 'append: tables and views are those of SQLite'
anew
"$postgres" -q --bigint "$tmp/1.ctp"
"$BIN/ctp-sqlite" -q -o "$tmp/a.sqlite" "$tmp/1.ctp"
same 'with --bigint tables and views are those of SQLite'
is 'with --bigint numbers are BIGINT' "$(sql "SELECT data_type FROM information_schema.columns WHERE table_name = 'coro_trace_events' AND column_name = 'ts'")" bigint

# What coroutines wait for, and which of them hold it.
PYTHONDONTWRITEBYTECODE=1 python3 t/helper/objects.py make 2 | "$from" -q >"$tmp/objects.ctp"
"$BIN/ctp-sqlite" -q -o "$tmp/a.sqlite" "$tmp/objects.ctp"
for option in '' --bigint; do
	anew
	"$postgres" -q $option "$tmp/objects.ctp"
	same "objects, holders and reasons${option:+ with $option}"
	is 'there are such rows' "$(sql 'SELECT (SELECT count(*) FROM objects) > 0 AND (SELECT count(*) FROM holders) > 0 AND (SELECT count(*) FROM reasons) > 0')" t
done
is 'a known number of holders is that of the view holders' "$(sql 'SELECT bool_and(o.holders IS NOT DISTINCT FROM (SELECT count(*) FROM holders h WHERE h.object = o.object)) FROM objects o WHERE holders IS NOT NULL')" t
anew
"$postgres" -q --bigint "$tmp/1.ctp"
"$BIN/ctp-sqlite" -q -o "$tmp/a.sqlite" "$tmp/1.ctp"

# --- the name of the events' table ---------------------------------------------------------------------------------------------
anew
EVENTS='user "%s" É'
"$postgres" -q --table "$EVENTS" "$tmp/1.ctp"
is '--table: the load succeeds' $? 3
export EVENTS
same 'every table and view is the same, with events of that name'
is 'indexes are named after the table' "$(sql "SELECT indexname FROM pg_indexes WHERE tablename = 'user \"%s\" É' ORDER BY 1")" \
	'idx_user "%s" É_coro
idx_user "%s" É_probe_seq
idx_user "%s" É_tid_ts
idx_user "%s" É_ts
user "%s" É_pkey'
is 'no table has the name of coroTracer' "$(sql "SELECT count(*) FROM pg_class WHERE relname LIKE '%coro_trace_events%'")" 0
"$BIN/ctp-sqlite" -q --append -o "$tmp/a.sqlite" "$tmp/2.ctp"
"$postgres" -q --append --table "$EVENTS" "$tmp/2.ctp"
is '--append --table: the load succeeds' $? 3
same '--append --table: tables and views are the same'
is 'its serial numbers continue' "$(sql "SELECT nextval(pg_get_serial_sequence('\"user \"\"%s\"\" É\"', 'id')) = max(id) + 1 FROM \"user \"\"%s\"\" É\"")" t
unset EVENTS
for append in '' --append; do
	"$postgres" -q $append "$tmp/1.ctp" 2>"$tmp/err"
	is "another name beside it is refused${append:+, with $append too}" "$? $(cat "$tmp/err")" \
		"1 ctp-postgres: coro_tracer at $PGHOST: its tables belong to the events of user \"%s\" É, not of coro_trace_events; --table SCHEMA.T puts all into a schema of its own"
done
"$postgres" -q --table "it's.theirs" "$tmp/1.ctp"
"$postgres" -q --table Third.coro_trace_events "$tmp/1.ctp"
"$postgres" -q --append --table "it's.theirs" "$tmp/2.ctp"
is 'another schema is created and loaded' "$(sql "SELECT nspname, count(*) > 50 FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname NOT LIKE 'pg%' AND nspname <> 'information_schema' GROUP BY 1 ORDER BY 1")" \
	"Third|t
it's|t
public|t"
is 'the other schema has all tables' "$(export EVENTS=theirs PGOPTIONS="-c search_path=it's"; python3 t/helper/sql-same.py "$tmp/a.sqlite" psql -X --csv -P null='\N' -d coro_tracer)" ''
for wrong in births CLASSES '' "$(printf %049d 0)" a.b.c .a "$(printf 'a\377')"; do
	"$postgres" -q --table "$wrong" "$tmp/1.ctp" 2>"$tmp/err"
	like "a bad table name is refused: $(printf %.20s "$wrong" | tr '\377' '?')" "$? $(wc -l <"$tmp/err") $(cat "$tmp/err")" '^1 1 ctp-postgres: --table'
done
"$BIN/ctp-sqlite" -q -o "$tmp/a.sqlite" "$tmp/1.ctp"

# --- the same trace again ------------------------------------------------------------------------------------------------
again() { # [OPTION...] TRACE...: appends, prints the status and what was said
	"$postgres" -q --append "$@" 2>"$tmp/err"
	echo "$? $(cat "$tmp/err")"
}
anew
"$postgres" -q "$tmp/1.ctp"
there="3 ctp-postgres: coro_tracer at $PGHOST: $tmp/1.ctp: skipped: section 1 is of the same trace"
cp "$tmp/a.sqlite" "$tmp/one.sqlite"
is '--append: a trace that is there is skipped' "$(again "$tmp/1.ctp" "$tmp/2.ctp" | head -n 1)" "$there"
awk 'BEGIN { for (i = 1; i <= 60000; i++) printf "{\"probe_id\":1,\"tid\":%d,\"addr\":\"0x1\",\"seq\":%d,\"is_active\":%s,\"ts\":%d}\n", i * i % 997, i, i % 2 ? "true" : "false", i }' |
	"$from" -q >"$tmp/whole.ctp"
python3 -c 'import sys
whole = open(sys.argv[1], "rb").read()
open(sys.argv[2], "wb").write(whole[:whole.index(whole[:8], len(whole) // 2)]) # a packet begins there' "$tmp/whole.ctp" "$tmp/part.ctp"
"$postgres" -q --table part.coro_trace_events "$tmp/part.ctp"
is '--replace replaces a copy that was cut' "$(again --replace --table part.coro_trace_events "$tmp/whole.ctp")" \
	"0 ctp-postgres: coro_tracer at $PGHOST: section 1, which is not complete, is replaced by that of $tmp/whole.ctp"
is 'no row is there twice' "$(sql 'SELECT count(*), count(DISTINCT section) FROM part.coro_trace_events')" '60000|1'
sql 'DROP SCHEMA part CASCADE' >/dev/null 2>&1
for n in 7 8 9 10 11 12; do pg_manual $n; done
is "the commands of the manual remove sections" "$(sql 'SELECT count(*), max(id) FROM sections')" '6|6'
same 'they remove nothing else'
pg_manual 1
is 'after that the trace can be appended' "$(again "$tmp/2.ctp") $(sql 'SELECT count(*), max(id) FROM sections')" '3  11|12'
anew
"$postgres" -q "$tmp/1.ctp"
# An earlier version had no such column, and keys called id.
sql 'ALTER TABLE sections DROP COLUMN stream' >/dev/null
echo "SELECT format('ALTER TABLE %I RENAME _row TO id', table_name) FROM information_schema.columns WHERE column_name = '_row' \\gexec" |
	psql -X -q -d coro_tracer
sqlite3 "$tmp/one.sqlite" "SELECT 'ALTER TABLE \"' || m.name || '\" RENAME _row TO id;' FROM sqlite_master AS m, pragma_table_info(m.name) AS c
	WHERE m.type = 'table' AND c.name = '_row'" >"$tmp/rename.sql"
sqlite3 "$tmp/one.sqlite" <"$tmp/rename.sql"
"$BIN/ctp-sqlite" -q --append -o "$tmp/one.sqlite" "$tmp/2.ctp"
is 'a SQLite file of an earlier version can be appended to' "$? $(sqlite3 "$tmp/one.sqlite" 'SELECT count(*) FROM sections')" '3 12'
is 'a database of an earlier version can be appended to' "$(again "$tmp/2.ctp") $(sql 'SELECT count(*), count(stream) FROM sections')" '3  12|6'
sqlite3 "$tmp/one.sqlite" 'UPDATE sections SET stream = NULL WHERE id <= 6'
is 'it is the same as the SQLite file' \
	"$(python3 t/helper/sql-same.py "$tmp/one.sqlite" psql -X --csv -P null='\N' -d coro_tracer)" ''

# --- the server's last answer is lost ------------------------------------------------------------------------------------------
mkdir "$tmp/lost"
python3 t/helper/lost-answer.py "$tmp/lost/.s.PGSQL.5432" "$PGHOST/.s.PGSQL.5432" COMMIT >"$tmp/dropped" &
proxy=$!
until [ -S "$tmp/lost/.s.PGSQL.5432" ]; do sleep 0.1; done
unknown='; whether the [1-9][0-9]* rows are kept is not known: --append adds them, or says that they are$'
anew
"$postgres" -q "$tmp/1.ctp"
like 'a lost answer to COMMIT is reported' "$(again -d "host=$tmp/lost dbname=coro_tracer" "$tmp/2.ctp")" "^1 ctp-postgres: coro_tracer at .*$unknown"
is 'the answer was lost' "$(cat "$tmp/dropped")" lost
is 'the same load again reports that it is there' "$(again "$tmp/2.ctp" | head -n 1)" "3 ctp-postgres: coro_tracer at $PGHOST: $tmp/2.ctp: skipped: section 7 is of the same trace"
kill $proxy
wait $proxy 2>/dev/null
pg_manual 12
sql 'CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END$$;
	CREATE CONSTRAINT TRIGGER dies AFTER INSERT ON sections DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION die()' >/dev/null
like 'a server that ends in COMMIT is reported' "$(again "$tmp/1-again.ctp")" "^1 ctp-postgres: coro_tracer at .*$unknown"
sql 'DROP TRIGGER dies ON sections' >/dev/null
is 'the same load again succeeds' "$(again "$tmp/1-again.ctp") $(sql 'SELECT count(*) FROM sections')" '3  17'

# --- values -------------------------------------------------------------------------------------------------------------------
cat >"$tmp/odd.jsonl" <<'JSONL'
{"type":"@section","attrs":{"host":"h\udcff","argv":["a b","c'd"],"pid":"18446744073709551615"}}
{"type":"@schema","name":"odd","kind":"other","fields":[{"name":"id","type":"u64","role":"none"},{"name":"I","type":"i64","role":"none"},{"name":"f","type":"f64","role":"none"},{"name":"b","type":"bool","role":"none"},{"name":"e","type":"enum","role":"none","labels":{"on'":1,"off":2}},{"name":"s","type":"string","role":"none"},{"name":"raw","type":"bytes","role":"none"},{"name":"at","type":"u64","role":"address"},{"name":"small","type":"u8","role":"none"}]}
{"type":"odd","id":18446744073709551615,"I":-9223372036854775808,"f":1e308,"b":true,"e":"on'","s":"\u0000a\udcff\\\"'\t\n\ud83d\ude00","raw":"00ff","at":"0x1","small":255}
{"type":"odd","id":0,"I":9223372036854775807,"f":"NaN","b":false,"e":7,"s":"","raw":"","at":"0xffffffffffffffff","small":0}
{"type":"odd","id":10000,"I":-10000,"f":"-Infinity","b":false,"e":"off","s":"x","raw":"00","at":"0x0","small":1}
{"type":"odd","id":100000001,"I":0,"f":-0.5,"b":false,"e":"off","s":"","raw":"","at":"0x0","small":1}
JSONL
"$from" -q "$tmp/odd.jsonl" >"$tmp/odd.ctp"
anew
"$postgres" -q "$tmp/odd.ctp"
is 'odd values of a section without an end are loaded' $? 3
is 'each value is reproduced' "$(sql 'SELECT id, "I", f, b, e, replace(replace(s, chr(10), $$<nl>$$), chr(9), $$<tab>$$), raw, at, small FROM odd ORDER BY _row')" \
	"18446744073709551615|-9223372036854775808|1e+308|t|on'|\\x00a\\xff\\\"'<tab><nl>😀|\\x00ff|0x0000000000000001|255
0|9223372036854775807|NaN|f|7||\\x|0xffffffffffffffff|0
10000|-10000|-Infinity|f|off|x|\\x00|0x0000000000000000|1
100000001|0|-0.5|f|off||\\x|0x0000000000000000|1"
is 'the section is reproduced' \
	"$(sql 'SELECT host, argv, pid, complete FROM sections')" 'h\xff|["a b","c'"'"'d"]|18446744073709551615|f'

cat >"$tmp/system.jsonl" <<'JSONL'
{"type":"@section","attrs":{}}
{"type":"@schema","name":"mvcc","kind":"other","fields":[{"name":"xmin","type":"u64"},{"name":"CTID","type":"string"},{"name":"xmin_2","type":"u64"},{"name":"tableoid","type":"u8"},{"name":"cmin","type":"u8"},{"name":"cmax","type":"u8"},{"name":"xmax","type":"u8"}]}
{"type":"mvcc","xmin":1,"CTID":"2","xmin_2":3,"tableoid":4,"cmin":5,"cmax":6,"xmax":7}
{"type":"@schema","name":"transition","kind":"transition","fields":[{"name":"probe_id","type":"u64","role":"probe"},{"name":"tid","type":"u64","role":"thread"},{"name":"addr","type":"u64","role":"address"},{"name":"seq","type":"u64","role":"sequence"},{"name":"is_active","type":"bool","role":"state"},{"name":"ts","type":"u64","role":"time"},{"name":"xmax","type":"u64"}]}
{"type":"transition","probe_id":1,"tid":2,"addr":"0x0000000000000003","seq":4,"is_active":true,"ts":5,"xmax":8}
JSONL
"$from" -q "$tmp/system.jsonl" >"$tmp/system.ctp"
"$postgres" -q --append "$tmp/system.ctp"
is "fields that are called as the server's own columns" "$? $(sql 'SELECT xmin_2, "CTID_2", xmin_2_2, tableoid_2, cmin_2, cmax_2, xmax_2 FROM mvcc; SELECT xmax_2 FROM coro_trace_events WHERE xmax_2 > 0')" '3 1|2|3|4|5|6|7
8'

head -c 400000 /dev/zero | tr '\0' 'y' >"$tmp/long"
printf '{"type":"@section","attrs":{}}\n{"type":"@schema","name":"%s","kind":"other","fields":[{"name":"s","type":"string","role":"none"}]}\n{"type":"%s","s":"%s"}\n' \
	"$(head -c 200 "$tmp/long")é" "$(head -c 200 "$tmp/long")é" "$(cat "$tmp/long")" | "$from" -q >"$tmp/long.ctp"
"$postgres" -q --append "$tmp/long.ctp"
is 'a long text in a table with a long name is loaded' "$(sql "SELECT length(table_name), kind FROM classes WHERE name LIKE 'yyy%'; SELECT length(s) FROM \"$(sql "SELECT table_name FROM classes WHERE name LIKE 'yyy%'")\"")" '63|other
400000'

# --- settings and objects of others -----------------------------------------------------------------------------------
cat >"$tmp/inject.jsonl" <<'JSONL'
{"type":"@section","attrs":{"host":"h\\'"}}
{"type":"@schema","name":"x\\'); COMMIT; CREATE TABLE pwned (); --","kind":"other","fields":[{"name":"a\\","type":"string","role":"none"}]}
{"type":"x\\'); COMMIT; CREATE TABLE pwned (); --","a\\":"\\'"}
JSONL
"$from" -q "$tmp/inject.jsonl" >"$tmp/inject.ctp"
anew
PGOPTIONS='-c standard_conforming_strings=off' "$postgres" -q "$tmp/inject.ctp"
is 'a trace is only data, also with standard_conforming_strings off' "$? $(sql "SELECT count(*) FILTER (WHERE relname = 'pwned'), count(*) FILTER (WHERE relname LIKE 'x_%pwned%') FROM pg_class WHERE relkind = 'r'")" '3 0|1'
is 'its texts are reproduced' \
	"$(sql 'SELECT host FROM sections; SELECT "a\" FROM "x\'"'"'); COMMIT; CREATE TABLE pwned (); --"')" "h\\'
\\'"

anew
"$postgres" -q "$tmp/1.ctp"
mkfifo "$tmp/reader"
psql -X -At -d coro_tracer <"$tmp/reader" >"$tmp/read" 2>&1 &
exec 4>"$tmp/reader"
echo 'BEGIN; SELECT count(*) FROM coroutine_states;' >&4
until [ -s "$tmp/read" ]; do sleep 0.1; done
PGOPTIONS='-c lock_timeout=60s' "$postgres" -q --append "$tmp/1-again.ctp"
is 'a reader of a view does not block an append of known classes' "$? $(sql 'SELECT count(*) > 0 FROM coroutine_states')" '3 t'
exec 4>&-

anew
createdb -E LATIN1 --locale=C -T template0 coro_tracer
printf '%s\n' '{"type":"@section","attrs":{"host":"ł"}}' '{"type":"@schema","name":"ł","kind":"other","fields":[{"name":"é","type":"string","role":"none"}]}' \
	'{"type":"ł","é":"é"}' | "$from" -q >"$tmp/latin.ctp"
"$postgres" -q "$tmp/latin.ctp"
is 'names that the encoding lacks are escaped' "$? $(sql 'SELECT host, c.name, table_name, column_name FROM sections, classes c JOIN fields f ON f.class = c.id WHERE c.kind = $$other$$ AND f.type = $$string$$
	AND c.table_name LIKE $$_xc5%$$; SELECT "\xc3\xa9" FROM "\xc5\x82"')" '3 \xc5\x82|\xc5\x82|\xc5\x82|\xc3\xa9
\xc3\xa9'

for other in 'TABLE sections (a INT)' 'VIEW gaps AS SELECT 1'; do
	anew
	createdb coro_tracer
	sql "CREATE $other" >/dev/null
	"$postgres" -q "$tmp/1.ctp" 2>"$tmp/err"
	like "an object of others is named in the message: $other" "$? $(cat "$tmp/err")" '^1 ctp-postgres: coro_tracer at .*: has a table or view (sections|gaps) that is no trace.s; --table SCHEMA.T puts'
done
anew
"$postgres" -q "$tmp/nowhere" 2>"$tmp/err"
is 'no database is created for unreadable input' "$? $(cat "$tmp/err") $(db=postgres sql "SELECT count(*) FROM pg_database WHERE datname = 'coro_tracer'")" \
	"1 ctp-postgres: $tmp/nowhere: No such file or directory 0"

# --- coroTracer's -------------------------------------------------------------------------------------------------------------
anew
createdb coro_tracer
sql 'CREATE TABLE coro_trace_events (id BIGSERIAL PRIMARY KEY, probe_id NUMERIC(20,0) NOT NULL, tid NUMERIC(20,0) NOT NULL, addr VARCHAR(18) NOT NULL,
	seq NUMERIC(20,0) NOT NULL, is_active BOOLEAN NOT NULL, ts NUMERIC(20,0) NOT NULL);
	INSERT INTO coro_trace_events (probe_id, tid, addr, seq, is_active, ts) VALUES (9, 8, $$0x7$$, 6, true, 5)' >/dev/null
"$postgres" -q "$tmp/1.ctp" 2>"$tmp/err"
is "an existing table is not written to: status 1, one message" "$? $(wc -l <"$tmp/err") $(sql 'SELECT count(*) FROM coro_trace_events')" '1 1 1'
like 'the message says what to do' \
	"$(cat "$tmp/err")" 'ctp-postgres: coro_tracer at .*: has a table coro_trace_events; --append adds to it'
"$postgres" -q --append "$tmp/1.ctp"
is "--append adds to coroTracer's own table" "$? $(sql 'SELECT * FROM coro_trace_events WHERE id = 1')" '3 1|9|8|0x7|6|t|5|0|||'
is 'coroTracer can still insert into it' "$(sql 'INSERT INTO coro_trace_events (probe_id, tid, addr, seq, is_active, ts) VALUES (9, 8, $$0x7$$, 7, false, 6) RETURNING id > (SELECT max(id) FROM coro_trace_events), section' | head -n 1)" 't|0'
is 'the views have rows of coroTracer' "$(sql 'SELECT state, certain FROM coroutine_states WHERE section = 0')" 'suspended|f'
sql 'CREATE VIEW theirs AS SELECT * FROM births' >/dev/null
"$postgres" -q --append "$tmp/2.ctp"
is "a user's view on one of ctp-postgres's does not prevent a load" "$? $(sql 'SELECT count(*) = (SELECT count(*) FROM births) FROM theirs')" '3 t'
"$postgres" -q --append "$tmp/1-again.ctp" & one=$!
"$postgres" -q --append "$tmp/2-again.ctp"
two=$?
wait $one
is 'two loads at the same time run one after the other' "$? $two $(sql 'SELECT count(*), count(DISTINCT section) FROM (SELECT section FROM coro_trace_events WHERE section > 0) e')" \
	"3 3 $(($(sqlite3 "$tmp/a.sqlite" 'SELECT count(*) FROM coro_trace_events') * 2 + $("$BIN/ctp-tojsonl" -q "$tmp/2.ctp" | wc -l) * 2))|24"

# --- where it fails -----------------------------------------------------------------------------------------------------------
nothing() { sql "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace"; }
sed 's/"probe_id":1[0-9]*/"probe_id":9223372036854775808/' <<'JSONL' | "$from" -q >"$tmp/big.ctp"
{"probe_id":1,"tid":1,"addr":"0x1","seq":1,"is_active":true,"ts":1}
JSONL
anew
"$postgres" -q --bigint "$tmp/big.ctp" 2>"$tmp/err"
is '--bigint: a number that does not fit' "$? $(cat "$tmp/err")" "1 ctp-postgres: coro_tracer at $PGHOST: probe_id of transition is 9223372036854775808, beyond a BIGINT; load it without --bigint, into a new database"
is 'it leaves nothing' "$(nothing)" 0

half() { # starts a load, and feeds half of it
	rm -f "$tmp/pipe"
	mkfifo "$tmp/pipe"
	"$postgres" -q ${1:+"$@"} "$tmp/pipe" 2>"$tmp/err" &
	load=$!
	exec 3>"$tmp/pipe"
	sent=$(($(wc -c <"$tmp/1.ctp") / 2))
	head -c $sent "$tmp/1.ctp" >&3
	until [ "$(db=postgres sql "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'ctp-postgres'")" -gt 0 ]; do sleep 0.1; done
}
rest() { # feeds the rest
	tail -c +$((sent + 1)) "$tmp/1.ctp" >&3 2>/dev/null
	exec 3>&-
	wait $load
}
anew
half
db=postgres sql "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'ctp-postgres'" >/dev/null
rest
is 'a lost connection gives status 1 and one message, and leaves nothing' "$? $(wc -l <"$tmp/err") $(nothing)" '1 1 0'
half
like 'no argument shows what may be a password' "$(tr '\0' ' ' <"/proc/$load/cmdline")" 'ctp-postgres'
pg_stop immediate
rest
status=$?
pg_start
is 'a killed server gives the same' "$status $(wc -l <"$tmp/err") $(nothing)" '1 1 0'
half
pid=$(db=postgres sql "SELECT pid FROM pg_stat_activity WHERE application_name = 'ctp-postgres'")
kill -STOP "$pid"
(sleep 3; kill -CONT "$pid") &
rest
is 'a server that stops for a while is waited for' "$? $(cat "$tmp/err")" '3 '

db=postgres sql 'CREATE ROLE weak LOGIN' >/dev/null
"$postgres" -q -d 'user=weak dbname=not_there' "$tmp/1.ctp" 2>"$tmp/err"
like 'a missing right to create a database is reported' "$? $(cat "$tmp/err")" '^1 ctp-postgres: not_there at .*: there is no such database, and it cannot be made: permission denied'
anew
createdb coro_tracer
"$postgres" -q -d 'user=weak dbname=coro_tracer' "$tmp/1.ctp" 2>"$tmp/err"
like 'a missing right to create tables is reported' "$? $(wc -l <"$tmp/err") $(cat "$tmp/err")" '^1 1 ctp-postgres: coro_tracer at .*: permission denied'
for wrong in 'postgresql://ctp:secret@[x/y' 'host=x password=secret oops' 'dbname=x pasword=secret'; do
	"$postgres" -q -d "$wrong" "$tmp/1.ctp" 2>"$tmp/err"
	is "no message has the password: $wrong" "$? $(wc -l <"$tmp/err") $(grep -c secret "$tmp/err")" '1 1 0'
done
half -d "postgresql://ctp:secret@/coro_tracer?host=$PGHOST"
is 'ps does not show the password' "$(tr '\0' ' ' <"/proc/$load/cmdline" | grep -c secret)" 0
rest
is 'that load succeeds' $? 3
PGDATABASE=other "$postgres" -q "$tmp/1.ctp"
is "libpq's variables name the database, and it is created" "$? $(db=other sql 'SELECT count(*) > 0 FROM births')" '3 t'
"$postgres" -q -d third "$tmp/1.ctp"
is 'a name alone names the database' "$? $(db=third sql 'SELECT count(*) > 0 FROM births')" '3 t'
head -c $(($(wc -c <"$tmp/1.ctp") / 2)) "$tmp/1.ctp" >"$tmp/cut.ctp"
anew
"$postgres" -q "$tmp/cut.ctp"
status=$?
"$BIN/ctp-sqlite" -q -o "$tmp/a.sqlite" "$tmp/cut.ctp"
is 'a truncated stream is loaded' $status 3
same 'it is loaded up to the cut'

is "the page's examples print what it says" "$(O=$O BIN=$BIN python3 -B t/helper/manrun.py doc/ctp-postgres.1 run-postgres)" 'commands 2'
done_testing
