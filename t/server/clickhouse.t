#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# ctp-toclickhouse with a real server: every value, every row and view equal to SQLite's, in all ways in which rows can get there.
# Not under sanitizers: it waits for a server most of the time.
. t/helper/tap.sh
. t/helper/clickhouse.sh
to=$BIN/ctp-toclickhouse from=$BIN/ctp-fromjsonl
[ -x "$BIN/ctp-sqlite" ] || skip_all 'ctp-sqlite was not built'
python3 -c 'import sqlite3' 2>/dev/null || skip_all 'there is no python3 with sqlite3'
ch_need
steps=${EVERY:+700}
quick="$(ch_quick 1)"
anew() { # STREAM...: an empty database with tables for them
	ch -n -q 'DROP DATABASE IF EXISTS t; CREATE DATABASE t' && "$to" -q --schema "$@" | ch -d t -n
}
same() { # NAME STREAM...
	same_name=$1
	shift
	"$BIN/ctp-sqlite" -q -o "$tmp/a.sqlite" "$@" 2>/dev/null
	is "$same_name" "$(python3 t/helper/clickhouse-same.py "$tmp/a.sqlite" $quick --database=t)" ''
}
ask() { $quick --database=t --query "$1"; }

# --- rows and views ---------------------------------------------------------------------------------------------------------
for seed in 1 2; do python3 t/helper/sqlite-views.py make $seed "${steps:-120}" | "$from" -q >"$tmp/$seed.ctp"; done
PYTHONDONTWRITEBYTECODE=1 python3 t/helper/objects.py make 2 | "$from" -q >"$tmp/objects.ctp"
awk -v requests=400 -f t/bench/scale.awk | "$from" -q >"$tmp/scale.ctp"
# Two transitions with one number, at times that are 0 to 2 ns apart.
python3 t/helper/sqlite-views.py make 3 "${steps:-120}" | awk '
	{ print }
	/"type": "transition"/ && /"index":/ && n++ % 7 == 3 {
		match($0, /"ts": *[0-9]+/)
		time = substr($0, RSTART, RLENGTH)
		sub(/.* /, "", time)
		sub(/"is_active": true/, "\"is_active\": false")
		sub(/"ts": *[0-9]+/, "\"ts\": " (time + n % 3))
		print
	}' | "$from" -q >"$tmp/twice.ctp"
# A merged trace, whose origins end at different times.
python3 t/helper/sqlite-views.py make 1 "${steps:-120}" | awk '/@section/ { n++ } n == 1 || n == 3' | sed 's/\("attrs": {\)[^}]*/\1"clock":"monotonic","boot_id":"b","wall_offset_ns":"5"/' |
	"$from" -q | "$BIN/ctp-merge" -q >"$tmp/two.ctp"
set -- "$tmp/1.ctp" "$tmp/2.ctp" "$tmp/twice.ctp" "$tmp/objects.ctp" "$tmp/scale.ctp" "$tmp/two.ctp"
anew "$@"
"$to" -q --load "$(ch_at 1) -d t" "$@" 2>/dev/null
is 'six traces are delivered, with status 3 for their losses' $? 3
is 'two origins have an end' "$(ask 'SELECT uniqExact(end_ns) FROM origins_at_end')" 2
same 'every row, the sections and the views are those of SQLite' "$@" # but for the column of origins, which only births have
is 'what coroutines wait for is there' "$(ask 'SELECT count() > 0 FROM objects') $(ask 'SELECT count() > 0 FROM holders')" '1 1'
awk -v requests=40 -v seed=2 -v host=web2 -f t/bench/scale.awk | "$from" -q >"$tmp/web2.ctp"
"$BIN/ctp-merge" -q -o "$tmp/merged.ctp" "$tmp/scale.ctp" "$tmp/web2.ctp" 2>/dev/null
anew "$tmp/merged.ctp" "$tmp/web2.ctp"
"$to" -q --load "$quick --database=t" "$tmp/merged.ctp" "$tmp/web2.ctp"
is 'only births of merged sections have an origin' "$(ask 'SELECT origin, count() FROM births GROUP BY origin ORDER BY origin' | tr '\t\n' ', ')" '1,400 2,40 \N,40 '
is 'and coroutines, whose they are' "$(ask 'SELECT origin, origin_name, host, uniqExact(coro) FROM coroutine_origins GROUP BY origin, origin_name, host ORDER BY origin' | tr '\t\n' ', ')" '1,web1,web1,400 2,web2,web2,40 '

# --- by hand --------------------------------------------------------------------------------------------------------------------
anew "$tmp/objects.ctp" "$tmp/scale.ctp"
"$to" -q -o "$tmp/folder" "$tmp/objects.ctp" "$tmp/scale.ctp"
is 'a folder is written, of traces with losses' $? 3
for file in "$tmp"/folder/*.native; do
	table=$(basename "$file" .native)
	[ "$table" = sections ] || ask "INSERT INTO $table FORMAT Native" <"$file"
done
is 'rows that are inserted by hand do not count' "$(ask 'SELECT count() FROM coro_trace_events')" 0
ask 'INSERT INTO sections FORMAT Native' <"$tmp/folder/sections.native"
same 'before their sections are' "$tmp/objects.ctp" "$tmp/scale.ctp"
is 'a section that was inserted by hand may lack rows' "$(ask 'SELECT DISTINCT whole FROM deliveries')" 0
"$to" -q --load "$quick --database=t" "$tmp/scale.ctp" 2>"$tmp/err"
until [ "$(ask 'SELECT count() FROM system.mutations WHERE NOT is_done')" = 0 ]; do sleep 0.02; done
is 'so a delivery replaces it' "$? $(ask 'SELECT max(whole) FROM deliveries') $(ask "SELECT uniqExact(delivery), count() FROM birth WHERE host = 'web1'" | tr '\t' ' ')" '0 1 1 400'
anew "$tmp/scale.ctp"
for class in lacks transition wake birth death site sections; do
	"$to" --class $class "$tmp/scale.ctp" | ch -d t -q "INSERT INTO $class FORMAT Native"
done
is 'classes come through pipes' "$(ask 'SELECT count() FROM coro_trace_events') $(ask 'SELECT count() FROM wakes') $(ask 'SELECT count() FROM sites')" \
	"$("$BIN/ctp-tojsonl" -a "$tmp/scale.ctp" | awk -F '"' '$4 == "wake" { w++ } $4 == "site" { s++ } $4 == "transition" { t++ } END { print t, w, s }')"
"$to" -o "$tmp/folder" "$tmp/scale.ctp" 2>"$tmp/err"
is 'a folder that is not empty is left as it is' "$? $(cat "$tmp/err")" "1 ctp-toclickhouse: $tmp/folder: exists and is not empty; remove it, or use -f"
"$to" --class nothing "$tmp/scale.ctp" 2>"$tmp/err" >"$tmp/out"
is 'a class that is not there is said' "$? $(cat "$tmp/err")" '1 ctp-toclickhouse: class nothing: the input has no record of it; ctp-stat shows the classes'

# --- values -------------------------------------------------------------------------------------------------------------------
cat >"$tmp/odd.jsonl" <<'JSONL'
{"type":"@section","attrs":{"host":"h\udcff'\\","argv":["a b","c'd"],"pid":"18446744073709551615","clock":"monotonic","wall_offset_ns":"1794700800000000000"}}
{"type":"@schema","name":"odd'`\\ é","kind":"other","fields":[{"name":"host","type":"u64"},{"name":"I","type":"i64"},{"name":"f`'\\","type":"f64"},{"name":"g","type":"f32"},{"name":"b","type":"bool"},{"name":"e","type":"enum","labels":{"on'":1,"off":2}},{"name":"s","type":"string"},{"name":"raw","type":"bytes"},{"name":"at","type":"u64","role":"address"},{"name":"small","type":"i8"},{"name":"ts","type":"u64","role":"time"}]}
{"type":"odd'`\\ é","host":18446744073709551615,"I":-9223372036854775808,"f`'\\":1e308,"g":0.1,"b":true,"e":"on'","s":"\u0000a\udcff\\\"'\t\n\ud83d\ude00","raw":"00ff","at":"0x1","small":-128,"ts":1}
{"type":"odd'`\\ é","host":0,"I":9223372036854775807,"f`'\\":"NaN","g":"-Infinity","b":false,"e":7,"s":"","raw":"","at":"0xffffffffffffffff","small":127,"ts":18446744073709551615}
{"type":"@schema","name":"sections","kind":"other","fields":[{"name":"delivery","type":"u64"}]}
{"type":"sections","delivery":5}
{"type":"@schema","name":"births","kind":"other","fields":[{"name":"x","type":"u8"}]}
{"type":"births","x":6}
{"type":"@schema","name":"delivered_x_local","kind":"other","fields":[{"name":"x","type":"u8"}]}
{"type":"delivered_x_local","x":7}
JSONL
"$from" -q "$tmp/odd.jsonl" >"$tmp/odd.ctp" 2>/dev/null
anew "$tmp/odd.ctp"
"$to" -q --load "$quick --database=t" "$tmp/odd.ctp" 2>/dev/null
is 'odd values are delivered' $? 3
cat >"$tmp/odd.sql" <<'SQL'
SELECT host_2, I, `f\`'\\`, g, b, hex(e), hex(s), hex(raw), at, small, ts, wall FROM `odd'\`\\ é` ORDER BY ts
SQL
is 'each is there, byte by byte' "$(ask "$(cat "$tmp/odd.sql")" | tr '\t' ' ')" \
	"18446744073709551615 -9223372036854775808 1e308 0.1 1 6F6E27 0061FF5C2227090AF09F9880 00FF 1 -128 1 2026-11-15 00:00:00
0 9223372036854775807 nan -inf 0 37   18446744073709551615 127 18446744073709551615 0000-00-00 00:00:00"
is 'names that are taken are others' "$(ask 'SELECT delivery_2 FROM sections_2') $(ask 'SELECT x FROM births_2') $(ask 'SELECT x FROM _delivered_x_local_2')" '5 6 7'
is 'the section is there' "$(ask 'SELECT hex(hostname), argv, pid, complete, day FROM delivered_sections')" \
	"$(printf '68FF275C\t["a b","c\\'"'"'d"]\t18446744073709551615\t0\t2026-11-15')"
printf '{"type":"@section","attrs":{}}\n{"type":"@schema","name":"two","kind":"other","fields":[{"name":"x","type":"u8"}]}\n{"type":"two","x":1}\n{"type":"@section","attrs":{}}\n{"type":"@schema","name":"two","kind":"other","fields":[{"name":"x","type":"string"}]}\n{"type":"two","x":"1"}\n' |
	"$from" -q >"$tmp/two.ctp" 2>/dev/null
"$to" -q --schema "$tmp/two.ctp" >"$tmp/out" 2>"$tmp/err"
like 'one name with two types is refused' "$? $(cat "$tmp/err")" '^1 ctp-toclickhouse: .*class two: its field x is declared as String and as UInt8'

# --- tables -------------------------------------------------------------------------------------------------------------------
ch_own a >"$tmp/own1.ctp"
ch_own a b c >"$tmp/own2.ctp"
anew
is '--schema can be repeated' "$("$to" --schema | ch -d t -n 2>&1)" ''
"$to" -q --load "$quick --database=t" "$tmp/own1.ctp" 2>"$tmp/err"
like 'a table that is missing is said' "$? $(cat "$tmp/err")" '^1 ctp-toclickhouse: .*there is no table own; ctp-toclickhouse --schema --upgrade FILE makes it$'
"$to" --schema --upgrade --load "$quick --database=t" "$tmp/own1.ctp" >"$tmp/up.sql"
ch -d t -n <"$tmp/up.sql"
"$to" -q --load "$quick --database=t" "$tmp/own1.ctp"
is '--upgrade adds a table' $? 0
"$to" -q --load "$quick --database=t" "$tmp/own2.ctp" 2>"$tmp/err"
like 'a column that is missing is said' "$? $(cat "$tmp/err")" '^1 ctp-toclickhouse: .*table own has no column b; ctp-toclickhouse --schema --upgrade FILE adds it$'
"$to" --schema --upgrade --load "$quick --database=t" "$tmp/own2.ctp" >"$tmp/up.sql"
is '--upgrade adds two columns' "$(grep -c 'ALTER TABLE `own` ADD COLUMN `[bc]` UInt32;' "$tmp/up.sql") $(grep -c '^CREATE TABLE' "$tmp/up.sql")" '2 0'
ch -d t -n <"$tmp/up.sql"
"$to" -q --load "$quick --database=t" "$tmp/own2.ctp"
is 'and all rows are there' "$? $(ask 'SELECT a, b, c FROM delivered_own ORDER BY b' | tr '\t\n' ', ')" '0 7,0,0 7,7,7 '
"$to" --schema --upgrade --load "$quick --database=t" "$tmp/own2.ctp" >"$tmp/up2.sql"
is 'then there are only the views to upgrade' "$(grep -c '^ALTER\|^CREATE TABLE' "$tmp/up2.sql") $(grep -c '^CREATE VIEW IF NOT EXISTS `wakes`' "$tmp/up2.sql")" '0 1'
ask 'DROP TABLE coro_trace_events'
is 'which are made, and again' "$(for _ in 1 2; do ch -d t -n <"$tmp/up2.sql" 2>&1; done) $(ask 'SELECT count() FROM coro_trace_events')" ' 0'
"$to" --schema --upgrade --cluster two --database t --load "$quick --database=t" >"$tmp/out" 2>"$tmp/err"
like 'tables that are not of a cluster stay so' "$? $(cat "$tmp/err" "$tmp/out")" '^1 ctp-toclickhouse: .*its tables are not those of a cluster; leave --cluster out$'
ch -d t -q 'ALTER TABLE own MODIFY COLUMN c UInt64'
ch_own a b c >"$tmp/own3.ctp"
"$to" -q --load "$quick --database=t" "$tmp/own3.ctp" 2>"$tmp/err"
like 'a column of another type is said' "$? $(cat "$tmp/err")" '^1 ctp-toclickhouse: .*column c of table own is UInt64, and the stream has UInt32; use another database$'
"$to" --load "$quick --database=t" "$tmp/scale.ctp" "$tmp/own3.ctp" "$tmp/two.ctp" "$tmp/nothing" "$tmp/objects.ctp" 2>"$tmp/all"
is 'of several files that cannot be delivered each is said' "$? $(grep -o 'own3.ctp: is not.*class\|[a-z0-9]*.ctp: is not delivered\|nothing: No such' "$tmp/all" | sort | tr '\n' ';')" \
	'1 nothing: No such;own3.ctp: is not delivered;two.ctp: is not delivered;'
is 'and others are delivered' "$(ask 'SELECT count() FROM deliveries') $(ask "SELECT uniqExact(host) FROM delivered_transition WHERE host = 'web1'")" '4 1'
"$to" --schema --server 23 >"$tmp/23.sql"
is 'a newer server has DateTime64, codecs, few words and an index' \
	"$(grep -c "^CREATE TABLE.* \`transition\` .*\`host\` LowCardinality(String) CODEC(ZSTD(1)), \`wall\` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)).*\`seq\` UInt64 CODEC(Delta, ZSTD(1)).*INDEX times \`ts\` TYPE minmax" "$tmp/23.sql")" 1
is 'and no other types' "$(sed "s/LowCardinality(String)\|DateTime64(9, 'UTC')/X/g" "$tmp/23.sql" | grep '^CREATE TABLE' | grep -o '` [A-Z][A-Za-z0-9]*[,) ]' | tr -d ',)' | grep -v TYPE | sort -u | tr -d '\n`' | tr -s ' ')" ' Date Int32 Int64 String UInt64 UInt8 X '

is 'one with recursion has one view more' "$(for n in 18 23 25; do "$to" --schema --server $n | grep -c '^CREATE VIEW.* `wait_for` '; done | tr '\n' ' ')" '0 0 1 '

# --- days and users -------------------------------------------------------------------------------------------------------------
anew
for day in 0 1; do awk -v requests=20 -v day=$day -f t/bench/scale.awk | sed "s/1794700800000000000/$((1794700800 + 86400 * day))000000000/" | "$from" -q >"$tmp/day$day.ctp"; done
"$to" -q --load "$quick --database=t" "$tmp/day0.ctp" "$tmp/day1.ctp"
days=$(ask 'SELECT day, count() FROM delivered_birth GROUP BY day ORDER BY day' | tr '\t\n' ', ')
is 'two days are there' "$days" '2026-11-15,20 2026-11-16,20 '
for table in sections $(ask "SELECT name FROM system.tables WHERE database = 't' AND engine = 'MergeTree' AND name <> 'sections' ORDER BY name"); do
	ask "ALTER TABLE \`$table\` DROP PARTITION '2026-11-15'"
done
is 'one is dropped, as a whole' "$(ask 'SELECT day, count() FROM delivered_birth GROUP BY day' | tr '\t\n' ', ') $(ask 'SELECT count() FROM transition WHERE day = toDate(16754) OR day < toDate(20407)')" '2026-11-16,20  0'
printf '{"type":"@section","attrs":{"host":"empty","wall_offset_ns":"1794700800000000000"}}\n{"type":"@end","complete":true}\n{"type":"@section","attrs":{"host":"late","wall_offset_ns":"1794700800000000000"}}\n{"type":"@schema","name":"wake","kind":"wake","fields":[{"name":"ts","type":"u64","role":"time"}]}\n{"type":"wake","ts":3600000000000}\n{"type":"@end","complete":true}\n' |
	"$from" -q >"$tmp/late.ctp"
"$to" -q --load "$quick --database=t" "$tmp/late.ctp"
is 'a section begins at its first record, or at no time' "$(ask 'SELECT host, wall, day FROM delivered_sections WHERE host IN ('"'empty', 'late'"') ORDER BY host' | tr '\t\n' ' ;')" \
	'empty 0000-00-00 00:00:00 0000-00-00;late 2026-11-15 01:00:00 2026-11-15;'

# --- the manual -----------------------------------------------------------------------------------------------------------------
# Its commands, in order, with a client that knows where `db` is, and each shard is this server.
anew
mkdir "$tmp/bin" "$tmp/dir"
printf '#!/bin/sh\nfor a; do shift; case $a in db | db[12] | --host) ;; *) set -- "$@" "$a" ;; esac; done\nexec %s -d t "$@"\n' \
	"$(command -v clickhouse-client) --host 127.0.0.1 --port $(ch_port 1)" >"$tmp/bin/clickhouse-client"
chmod +x "$tmp/bin/clickhouse-client"
# The one that is live needs a program, and a retention a day of the trace.
sed -n '/^\.Bd -literal/,/^\.Ed/p' doc/ctp-toclickhouse.1 | grep -v '^\.' | sed 's/^\$ //; s/\\(aq/'"'"'/g; s/^day=.*/day=2026-11-15/' |
	sed '/^: >t.ctp/,/^done/d' | grep -v '^ctp-collect\|^ctp-toclickhouse: ' >"$tmp/manual.sh"
bin=$(cd "$BIN" && pwd)
zstd -q -o "$tmp/dir/t.ctp.zst" "$tmp/scale.ctp"
(cd "$tmp/dir" && PATH=$tmp/bin:$bin:$PATH sh -e "$tmp/manual.sh") >"$tmp/out" 2>"$tmp/err"
is 'the commands of the manual work' "$? $(wc -l <"$tmp/manual.sh") $(wc -l <"$tmp/out")" '0 21 11'
is 'the message is that of the manual' "$(grep -c '^ctp-toclickhouse: t.ctp.zst: the server has this section: it is not sent again$' "$tmp/err")" 2
is 'and the day is dropped' "$(ask 'SELECT count() FROM transition')" 0
note "CPU time of the server: $(ch_cpu) ms"
done_testing
