#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# A stream as a database: every record by the rules of the manual, coroTracer's table to the letter, appending, and failures.
. t/helper/tap.sh
sqlite=$BIN/ctp-sqlite from=$BIN/ctp-fromjsonl to=$BIN/ctp-tojsonl
[ -x "$sqlite" ] || skip_all 'ctp-sqlite was not built'
command -v sqlite3 >/dev/null || skip_all 'there is no sqlite3'
python3 -c 'import sqlite3' 2>/dev/null || skip_all 'there is no python3 with sqlite3'
command -v zstd >/dev/null || skip_all 'there is no zstd'
sql() { sqlite3 "$@"; }
judge() { python3 t/helper/sqlite-judge.py "$@"; } # DATABASE JSONL...

# --- everything that a stream can hold ---------------------------------------------------------------------------------------
for seed in 1 2 3 4 5; do
	"$O/t/helper/randstream" $seed >"$tmp/r$seed.ctp"
	"$to" -qa "$tmp/r$seed.ctp" >"$tmp/r$seed.jsonl"
	"$sqlite" -q -o "$tmp/r.sqlite" "$tmp/r$seed.ctp"
	ok "random classes are reproduced, seed $seed" judge "$tmp/r.sqlite" "$tmp/r$seed.jsonl"
done
"$sqlite" -q -o "$tmp/r.sqlite" "$tmp/r1.ctp" - "$tmp/r3.ctp" <"$tmp/r2.ctp"
ok 'several inputs are read, one of them stdin' judge "$tmp/r.sqlite" "$tmp/r1.jsonl" "$tmp/r2.jsonl" "$tmp/r3.jsonl"
"$BIN/ctp-collect" -q "$O/examples/lostwake" 2>/dev/null | zstd -q >"$tmp/real.ctp.zst"
"$to" -qa "$tmp/real.ctp.zst" >"$tmp/real.jsonl"
"$sqlite" -o "$tmp/real.sqlite" "$tmp/real.ctp.zst"
is 'a real stream ends with status 0' $? 0
ok 'a real compressed stream is reproduced' judge "$tmp/real.sqlite" "$tmp/real.jsonl"
like 'times of day are those of today' "$(sql "$tmp/real.sqlite" 'SELECT wall FROM wall_times LIMIT 1')" "^$(date -u +%Y)-"

# --- coroTracer's table -------------------------------------------------------------------------------------------------------
schema='CREATE TABLE coro_trace_events (id INTEGER PRIMARY KEY AUTOINCREMENT, probe_id TEXT NOT NULL, tid INTEGER NOT NULL, addr TEXT NOT NULL, seq INTEGER NOT NULL, is_active INTEGER NOT NULL CHECK (is_active IN (0, 1)), ts INTEGER NOT NULL'
is 'the table begins with the columns of coroTracer' "$(sql "$tmp/real.sqlite" "SELECT substr(sql, 1, ${#schema}) FROM sqlite_schema WHERE name = 'coro_trace_events'")" "$schema"
is 'further columns follow' "$(sql "$tmp/real.sqlite" "SELECT group_concat(name) FROM (SELECT name FROM pragma_table_info('coro_trace_events') ORDER BY cid)")" \
	'id,probe_id,tid,addr,seq,is_active,ts,section,coro,index,site'
is 'the indexes of coroTracer and further ones exist' "$(sql "$tmp/real.sqlite" "SELECT l.name || ' ' || group_concat(i.name) FROM pragma_index_list('coro_trace_events') l, pragma_index_info(l.name) i GROUP BY l.name")" \
	'idx_coro_trace_events_coro coro,section,index
idx_coro_trace_events_probe_seq probe_id,seq
idx_coro_trace_events_tid_ts tid,ts
idx_coro_trace_events_ts ts'
sql "$tmp/real.sqlite" "INSERT INTO coro_trace_events (probe_id, tid, addr, seq, is_active, ts) VALUES ('1', 2, '0x3', 4, 0, 5)"
is 'a row can be added, and its id is the next' "$(sql "$tmp/real.sqlite" 'SELECT max(id) - count(*) FROM coro_trace_events; PRAGMA integrity_check')" '0
ok'

# --- edges --------------------------------------------------------------------------------------------------------------------
row() { printf '{"probe_id":%s,"tid":%s,"addr":"%s","seq":%s,"is_active":%s,"ts":%s}\n' "$@"; }
{
	for n in 0 9223372036854775807 9223372036854775808 18446744073709551615; do row 7 $n 0x0000000000000001 $n true $n; done
	i=0
	for p in 1 10 100 2 19 9223372036854775808 9999999999999999999 10000000000000000000 18446744073709551615 1844674407370955161; do
		row $p 1 0xffffffffffffffff $((i += 1)) false 5
	done
} | "$from" -q | tee "$tmp/edge.ctp" | "$to" -qa >"$tmp/edge.jsonl"
"$sqlite" -q -o "$tmp/edge.sqlite" "$tmp/edge.ctp"
ok 'the largest numbers are reproduced' judge "$tmp/edge.sqlite" "$tmp/edge.jsonl"
is '2^63 and more are shown by printf' "$(sql "$tmp/edge.sqlite" "SELECT ts, printf('%llu', ts) FROM coro_trace_events WHERE probe_id = '7' ORDER BY id DESC LIMIT 1")" \
	'-1|18446744073709551615'
is 'the index on probe_id is in the order of text' "$(sql "$tmp/edge.sqlite" 'SELECT group_concat(probe_id) FROM (SELECT probe_id FROM coro_trace_events INDEXED BY idx_coro_trace_events_probe_seq WHERE seq < 11 AND seq > 0 ORDER BY probe_id, seq)')" \
	'1,10,100,10000000000000000000,1844674407370955161,18446744073709551615,19,2,9223372036854775808,9999999999999999999'
{
	fields='{"name":"probe_id","type":"u64","role":"probe"},{"name":"tid","type":"u64"},{"name":"addr","type":"u64","hex":true},{"name":"seq","type":"u64"},{"name":"is_active","type":"bool"},{"name":"ts","type":"u64","role":"time"}'
	coro='{"name":"coro","type":"u64","role":"coroutine"}' index='{"name":"index","type":"u64"}'
	for more in "$coro,$index" "$coro" "$index"; do
		printf '{"type":"@section","attrs":{}}\n{"type":"@schema","name":"transition","kind":"transition","fields":[%s,%s]}\n' "$fields" "$more"
		for n in 18446744073709551615 9223372036854775808 9223372036854775807 0 1; do
			for k in 9223372036854775808 1 0; do
				printf '{"type":"transition","probe_id":1,"tid":1,"addr":"0x1","seq":1,"is_active":true,"ts":5'
				case $more in *coro*) printf ',"coro":%s' $n ;; esac
				case $more in *index*) printf ',"index":%s' $k ;; esac
				echo '}'
			done
		done
		echo '{"type":"@end","complete":true}'
	done
} | "$from" -q | "$sqlite" -q -o "$tmp/coro.sqlite"
order='SELECT group_concat(id) FROM (SELECT id FROM coro_trace_events %s ORDER BY coro, section, "index", id)'
is 'the index on coro is in order, with those that have none' \
	"$(sql "$tmp/coro.sqlite" "$(printf "$order" 'INDEXED BY idx_coro_trace_events_coro'); SELECT count(*) FROM coro_trace_events; PRAGMA integrity_check")" \
	"$(sql "$tmp/coro.sqlite" "$(printf "$order" 'NOT INDEXED')")
45
ok"
long=$(awk 'BEGIN { for (i = 0; i < 64; i++) printf "%01024d", i }')
{
	echo '{"type":"@section","attrs":{"host":"h\"","argv":["a b",""],"wall_offset_ns":"-5"}}'
	echo '{"type":"@schema","name":"t","kind":"other","fields":[{"name":"s","type":"string"},{"name":"y","type":"bytes"},{"name":"d","type":"f64"}]}'
	for s in '' "$long" 'quote \" comma , newline \n' 'nul \u0000' 'bad \udcff' "it's"; do
		printf '{"type":"t","s":"%s","y":"00ff","d":"NaN"}\n' "$(printf %s "$s" | sed 's/\\/\\/g')"
	done
	echo '{"type":"t","s":"","y":"","d":"-Infinity"}'
	echo '{"type":"@end","complete":true}'
} >"$tmp/text.jsonl"
"$from" -q "$tmp/text.jsonl" >"$tmp/text.ctp"
"$sqlite" -q -o "$tmp/text.sqlite" "$tmp/text.ctp"
ok 'texts of all kinds are reproduced' judge "$tmp/text.sqlite" "$tmp/text.jsonl"
is 'a value that is no text is a blob' "$(sql "$tmp/text.sqlite" 'SELECT group_concat(typeof(s)), group_concat(typeof(y), "") = replace("bbbbbbb", "b", "blob") FROM t')" \
	'text,text,text,blob,blob,text,text|1'
is 'a section has its command and host' "$(sql "$tmp/text.sqlite" 'SELECT host, argv, wall_offset_ns, complete FROM sections')" 'h"|["a b",""]|-5|1'
for start in 7 18446744073709551615 18446744073709551616 -5 now ''; do
	printf '{"type":"@section","attrs":{"start_ns":"%s"}}\n{"type":"@end","complete":true}\n' "$start"
done | "$from" -q | "$sqlite" -q -o "$tmp/start.sqlite"
is 'a start that is no number, and the end of no records, are null' \
	"$(sql "$tmp/start.sqlite" "SELECT group_concat(coalesce(start_ns, '-'), ' '), count(end_ns) FROM sections")" '7 -1 - - - -|0'
: | "$from" -q >"$tmp/empty.ctp"
"$sqlite" -q -o "$tmp/empty.sqlite" "$tmp/empty.ctp"
is 'a stream without records gives a database' "$(sql "$tmp/empty.sqlite" 'SELECT count(*) FROM coro_trace_events; SELECT count(*) FROM coroutine_states; PRAGMA integrity_check')" '0
0
ok'

# --- names --------------------------------------------------------------------------------------------------------------------
transition='{"name":"probe_id","type":"u64","role":"probe"},{"name":"tid","type":"u64"},{"name":"addr","type":"u64","role":"address"},{"name":"seq","type":"u64"},{"name":"is_active","type":"bool"},{"name":"ts","type":"u64","role":"time"}'
values='"probe_id":1,"tid":2,"addr":"0x0000000000000003","seq":4,"is_active":true,"ts":5'
{
	echo '{"type":"@section","attrs":{"host":"bad\udcff","argv":["\udcff","x"]}}'
	for name in select sqlite_master sections coro_trace_events Birth steps ctp_batch pragma_table_info 'a\"b' 'bad\udcff'; do
		printf '{"type":"@schema","name":"%s","kind":"other","fields":[{"name":"id","type":"u8"},{"name":"ID","type":"u8"},{"name":"section","type":"u8"},{"name":"group","type":"u8"},{"name":"\\udcfe","type":"u8"}]}\n' "$name"
		printf '{"type":"%s","id":1,"ID":2,"section":3,"group":4,"\\udcfe":5}\n' "$name"
	done
	echo '{"type":"@schema","name":"idx_x_c","kind":"death","fields":[{"name":"c","type":"u8","role":"coroutine"}]}'
	echo '{"type":"idx_x_c","c":1}'
	echo '{"type":"@schema","name":"x","kind":"death","fields":[{"name":"c","type":"u8","role":"coroutine"}]}'
	echo '{"type":"x","c":1}'
	echo '{"type":"@schema","name":"select","kind":"other","fields":[{"name":"other","type":"u8"}]}'
	echo '{"type":"select","other":1}'
	printf '{"type":"@schema","name":"transition","kind":"transition","fields":[%s,{"name":"more","type":"f64"},{"name":"Section","type":"u8"}]}\n' "$transition"
	printf '{"type":"transition",%s,"more":1.5,"Section":6}\n' "$values"
	printf '{"type":"@schema","name":"transition","kind":"transition","fields":[%s,{"name":"text","type":"string"}]}\n' "$transition"
	printf '{"type":"transition",%s,"text":"x"}\n' "$values"
	printf '{"type":"@schema","name":"transition","kind":"transition","fields":[{"name":"ts","type":"u64","role":"time"}]}\n'
	printf '{"type":"transition","ts":9}\n'
	echo '{"type":"@end","complete":true}'
} >"$tmp/names.jsonl"
"$from" -q "$tmp/names.jsonl" | "$sqlite" -q -o "$tmp/names.sqlite"
ok 'names that are taken or reserved are reproduced' judge "$tmp/names.sqlite" "$tmp/names.jsonl"
is 'such classes have other table names' "$(sql "$tmp/names.sqlite" "SELECT group_concat(table_name, ' ') FROM (SELECT * FROM classes WHERE id > 37 ORDER BY id)")" \
	'select _sqlite_master sections_2 coro_trace_events_2 Birth_2 steps_2 ctp_batch_2 pragma_table_info_2 a"b bad\xff idx_x_c x select_2 coro_trace_events transition transition_2'
is 'such fields have other column names' "$(sql "$tmp/names.sqlite" "SELECT group_concat(name, ' ') FROM pragma_table_info('select')")" '_row section id ID_2 section_2 group \xfe'
is 'a name that is no UTF-8 is a blob there' "$(sql "$tmp/names.sqlite" "SELECT typeof(host), argv FROM sections; SELECT hex(name) FROM classes WHERE typeof(name) = 'blob'; SELECT count(*) FROM fields WHERE typeof(name) = 'blob'")" \
	'blob|["\udcff","x"]
626164FF
10'
is 'a transition with further numbers has further columns' "$(sql "$tmp/names.sqlite" 'SELECT probe_id, ts, section, coro, more, Section_2 FROM coro_trace_events')" \
	'1|5|1||1.5|6'

# Fields of one name and several types must not share a column, because SQLite would convert values to its type.
for fields in '{"name":"x","type":"u64"}|"x":9223372036854775808' '{"name":"x","type":"u64","role":"probe"}|"x":9223372036854775808' \
	'{"name":"x","type":"f64"},{"name":"x_3","type":"u8"}|"x":1,"x_3":2' '{"name":"X","type":"i64"}|"X":9007199254740993'; do
	echo '{"type":"@section","attrs":{}}'
	printf '{"type":"@schema","name":"transition","kind":"transition","fields":[%s,%s]}\n' "$transition" "${fields%|*}"
	printf '{"type":"transition",%s,%s}\n{"type":"@end","complete":true}\n' "$values" "${fields#*|}"
done >"$tmp/types.jsonl"
"$from" -q "$tmp/types.jsonl" >"$tmp/types.ctp"
"$sqlite" -q -o "$tmp/types.sqlite" "$tmp/types.ctp"
ok 'further columns are of one type' judge "$tmp/types.sqlite" "$tmp/types.jsonl"
is 'several fields of one name have several columns' \
	"$(sql "$tmp/types.sqlite" 'SELECT x, quote(x_2), x_3, x_3_2 FROM coro_trace_events')" \
	"-9223372036854775808|NULL||
|'9223372036854775808'||
|NULL|1.0|2
9007199254740993|NULL||"
"$from" -q "$tmp/types.jsonl" | "$sqlite" -q --append -o "$tmp/types.sqlite"
ok 'appended streams have the same columns' judge "$tmp/types.sqlite" "$tmp/types.jsonl" "$tmp/types.jsonl"

# --- appending ----------------------------------------------------------------------------------------------------------------
"$sqlite" -q --append -o "$tmp/app.sqlite" "$tmp/r1.ctp"
is 'append makes a database where there is none' "$?" 3
"$sqlite" -q --append -o "$tmp/app.sqlite" "$tmp/r2.ctp"
"$sqlite" -q --append -o "$tmp/app.sqlite" "$tmp/real.ctp.zst"
"$sqlite" -q --append -o "$tmp/app.sqlite" "$tmp/names.sqlite" 2>"$tmp/err"
is 'an input that is no stream is not appended' "$? $(cat "$tmp/err")" "1 ctp-sqlite: $tmp/names.sqlite: is no ctp stream"
for n in 2 3; do "$from" -q "$tmp/real.jsonl" >"$tmp/real$n.ctp"; done # the same with another id
"$sqlite" -q --append -o "$tmp/app.sqlite" "$tmp/real2.ctp"
ok 'several streams are appended one after another' \
	judge "$tmp/app.sqlite" "$tmp/r1.jsonl" "$tmp/r2.jsonl" "$tmp/real.jsonl" "$tmp/real.jsonl"
cp "$tmp/app.sqlite" "$tmp/before.sqlite"
"$sqlite" -q --append -o "$tmp/app.sqlite" "$tmp/real3.ctp" /proc/self/mem 2>"$tmp/err"
is 'an append that fails at its second input gives status 1' "$? $(grep -c /proc/self/mem "$tmp/err")" '1 1'
ok 'a failed append leaves the database unchanged' cmp "$tmp/before.sqlite" "$tmp/app.sqlite"
there=$(sql "$tmp/app.sqlite" 'SELECT max(id) - 1 FROM sections')
zstdcat "$tmp/real.ctp.zst" >"$tmp/real.ctp"
"$sqlite" -q --append -o "$tmp/app.sqlite" "$tmp/real3.ctp" "$tmp/real.ctp" 2>"$tmp/err"
is 'a trace that is there is skipped' "$? $(cat "$tmp/err")" \
	"3 ctp-sqlite: $tmp/app.sqlite: $tmp/real.ctp: skipped: section $there is of the same trace"
is 'the other one is added' "$(sql "$tmp/app.sqlite" 'SELECT max(id) FROM sections')" $((there + 2))
cp "$tmp/before.sqlite" "$tmp/app.sqlite"
head -c 5000 /dev/urandom | tr '\0-\377' 'a-z' >"$tmp/strange"
"$sqlite" -q --append -o "$tmp/app.sqlite" "$tmp/strange" "$tmp/real3.ctp" 2>"$tmp/err"
like 'a file that is no stream is skipped' "$? $(cat "$tmp/err")" "^3 ctp-sqlite: $tmp/strange: is no ctp stream.*; it is skipped$"
is 'the other one is added' "$(sql "$tmp/app.sqlite" 'SELECT max(id) FROM sections')" $((there + 2))
cp "$tmp/before.sqlite" "$tmp/app.sqlite"
"$sqlite" -q -o "$tmp/strange.sqlite" "$tmp/strange" "$tmp/strange" 2>"$tmp/err"
is 'without a stream nothing is made' "$? $(wc -l <"$tmp/err") $(ls "$tmp/strange.sqlite" 2>/dev/null)" '1 2 '
again() { # FILE: appends to once.sqlite, prints the status and the messages
	"$sqlite" -q --append -o "$tmp/once.sqlite" "$1" 2>"$tmp/err"
	echo "$? $(sed 's/.*: //' "$tmp/err")"
}
awk 'BEGIN { for (i = 1; i <= 60000; i++) printf "{\"probe_id\":1,\"tid\":%d,\"addr\":\"0x1\",\"seq\":%d,\"is_active\":%s,\"ts\":%d}\n", i * i % 997, i, i % 2 ? "true" : "false", i }' |
	"$from" -q >"$tmp/whole.ctp"
python3 -c 'import sys
whole = open(sys.argv[1], "rb").read()
at = whole.index(whole[:8], len(whole) // 2) # a packet begins there
open(sys.argv[2] + "1.ctp", "wb").write(whole[:at])
open(sys.argv[2] + "2.ctp", "wb").write(whole[at:])' "$tmp/whole.ctp" "$tmp/part"
is 'different parts of a stream can be appended' "$(again "$tmp/part1.ctp"), $(again "$tmp/part2.ctp")" '3 , 3 '
is 'each part is refused a second time' "$(again "$tmp/part1.ctp"), $(again "$tmp/part2.ctp")" \
	'3 section 1 is of the same trace, and not complete; --replace replaces it, 3 section 2 is of the same trace, and not complete; --replace replaces it'
is 'a truncated copy counts as the same trace' "$(again "$tmp/whole.ctp")" '3 section 1 is of the same trace, and not complete; --replace replaces it'
cp "$tmp/once.sqlite" "$tmp/cut.sqlite"
"$sqlite" -q --append --replace -o "$tmp/cut.sqlite" "$tmp/whole.ctp" 2>"$tmp/err"
is '--replace replaces it' "$? $(sed 's/.*: //' "$tmp/err") $(sql "$tmp/cut.sqlite" 'SELECT section, count(*) > 50000, complete FROM coro_trace_events JOIN sections s ON s.id = section GROUP BY section ORDER BY 2' | tr '\n' ' ')" \
	"0 section 1, which is not complete, is replaced by that of $tmp/whole.ctp 2|0|0 3|1|1 "
"$sqlite" -q --append --replace -o "$tmp/cut.sqlite" "$tmp/whole.ctp" 2>"$tmp/err"
is '--replace leaves a complete one' "$? $(sed 's/.*: //' "$tmp/err")" '3 section 3 is of the same trace'
awk 'BEGIN { for (i = 1; i <= 120000; i++) printf "{\"probe_id\":1,\"tid\":%d,\"addr\":\"0x1\",\"seq\":%d,\"is_active\":%s,\"ts\":%d}\n", i * i % 997, i, i % 2 ? "true" : "false", i }' |
	"$from" -q >"$tmp/three.ctp"
python3 -c 'import sys
whole, at = open(sys.argv[1], "rb").read(), 0
for name in "short", "long": # one packet, two packets
    at = whole.index(whole[:8], at + 1)
    open(sys.argv[2] + name + ".ctp", "wb").write(whole[:at])' "$tmp/three.ctp" "$tmp/"
replace() { # FILE: what it says, and the rows and their last time
	"$sqlite" -q --append --replace -o "$tmp/lengths.sqlite" "$1" 2>"$tmp/err"
	echo "$? $(sed 's/.*: //' "$tmp/err") $(sql "$tmp/lengths.sqlite" 'SELECT count(*) > 20000, count(*) > 70000, max(ts) = max(end_ns) FROM coro_trace_events, sections')"
}
is '--replace: a copy is loaded' "$(replace "$tmp/short.ctp")" '3  1|0|1'
is '--replace: a longer one takes its place' "$(replace "$tmp/long.ctp")" \
	"3 section 1, which is not complete, is replaced by that of $tmp/long.ctp 1|1|1"
for copy in short long; do
	is "--replace: the $copy copy does not" "$(replace "$tmp/$copy.ctp")" '3 section 1 is of the same trace, and no shorter 1|1|1'
done
"$BIN/ctp-fromjsonl" -q <<-'END' >"$tmp/m1.ctp"
	{"type":"@section","attrs":{"clock":"monotonic","boot_id":"b","wall_offset_ns":"5"}}
	{"probe_id":1,"tid":1,"addr":"0x1","seq":1,"is_active":true,"ts":1}
	{"type":"@section","attrs":{"clock":"monotonic","boot_id":"b","wall_offset_ns":"5","pid":"2"}}
	{"probe_id":2,"tid":1,"addr":"0x1","seq":1,"is_active":true,"ts":2}
END
"$BIN/ctp-merge" -q "$tmp/m1.ctp" >"$tmp/merged.ctp"
"$sqlite" -q -o "$tmp/origins.sqlite" "$tmp/m1.ctp"
"$sqlite" -q --append -o "$tmp/origins.sqlite" "$tmp/merged.ctp" 2>"$tmp/err"
is 'a merge of sections that are there is skipped' "$? $(sed 's/.*: //' "$tmp/err") $(sql "$tmp/origins.sqlite" 'SELECT count(*) FROM coro_trace_events')" \
	'3 section 1 is one of those that were merged into it; append the others by themselves 2'
"$sqlite" -q -o "$tmp/alone.sqlite" "$tmp/merged.ctp"
"$sqlite" -q -o "$tmp/beside.sqlite" "$tmp/real.ctp"
"$sqlite" -q --append -o "$tmp/beside.sqlite" "$tmp/merged.ctp" 2>"$tmp/err"
merged() { sql "$1" "SELECT probe_id, tid, ts, coro FROM coro_trace_events WHERE section = $2; SELECT attrs, complete, stream, end_ns FROM sections WHERE id = $2;
	SELECT origin, name, section_id FROM origin WHERE section = $2"; }
is 'a merge of others is there as if it were alone' "$(merged "$tmp/beside.sqlite" 2)" "$(merged "$tmp/alone.sqlite" 1)"
manual() { # SECTION DATABASE: the commands of ctp-sqlite.1
	sed -n '/^\$ sqlite3 night.sqlite "SELECT .BEGIN/,/^\.Ed/p' doc/ctp-sqlite.1 | sed '/^\.Ed/d; s/^\$ //; s/\\e/\\/g' | sed "s/= 3/= $1/g; s#night.sqlite#$2#g" | sh
}
rows() { sql "$1" .dump | grep ^INSERT | grep -v '^INSERT INTO "*\(classes\|fields\|sqlite_sequence\)"* ' | cksum; }
cp "$tmp/once.sqlite" "$tmp/two.sqlite"
"$sqlite" -q --append -o "$tmp/two.sqlite" "$tmp/real.ctp"
manual 3 "$tmp/two.sqlite"
is "the commands of the manual remove a section" "$(rows "$tmp/two.sqlite")" "$(rows "$tmp/once.sqlite")"
manual 1 "$tmp/once.sqlite"
is 'after that its trace can be appended' "$(again "$tmp/whole.ctp") $(sql "$tmp/once.sqlite" 'SELECT id FROM sections' | tr '\n' ' ')" '0  2 3 '
sql "$tmp/once.sqlite" 'ALTER TABLE sections DROP COLUMN stream'
is 'a database of an earlier version can be appended to' "$(again "$tmp/real.ctp") $(sql "$tmp/once.sqlite" 'SELECT id, stream IS NULL FROM sections' | tr '\n' ' ')" '0  2|1 3|1 4|0 '
is 'from then on it refuses a trace a second time' \
	"$(again "$tmp/real.ctp")" '3 section 4 is of the same trace'
ok 'refused appends have left it unchanged' cmp "$tmp/before.sqlite" "$tmp/app.sqlite"
mkfifo "$tmp/fifo"
"$sqlite" -q --append -o "$tmp/app.sqlite" "$tmp/real3.ctp" "$tmp/fifo" & pid=$!
exec 3>"$tmp/fifo" # it has read the first
kill -9 $pid
wait $pid 2>/dev/null
exec 3>&-
is 'a killed append leaves the database unchanged' "$(sql "$tmp/app.sqlite" 'SELECT count(*), max(id) FROM coro_trace_events; SELECT count(*) FROM sections; PRAGMA integrity_check')" \
	"$(sql "$tmp/before.sqlite" 'SELECT count(*), max(id) FROM coro_trace_events; SELECT count(*) FROM sections; PRAGMA integrity_check')"

case $sqlite in /*) bin=$sqlite ;; *) bin=$PWD/$sqlite ;; esac
mkdir "$tmp/names"
for name in :memory: 'file:x?mode=memory'; do
	(cd "$tmp/names" && for n in 2 3; do "$bin" -q --append -o "$name" ../real$n.ctp; done)
	is "a file called $name can be appended to" "$? $(sql "$tmp/names/$name" 'SELECT count(*) FROM sections')" '0 2'
done

sql "$tmp/theirs.sqlite" "$schema); INSERT INTO coro_trace_events (probe_id, tid, addr, seq, is_active, ts) VALUES ('9', 8, '0x7', 6, 1, 5); CREATE TABLE birth (theirs);"
"$sqlite" -q --append -o "$tmp/theirs.sqlite" "$tmp/real.ctp.zst"
is 'a database of coroTracer can be appended to' "$? $(sql "$tmp/theirs.sqlite" 'SELECT * FROM coro_trace_events WHERE id = 1; SELECT count(*) FROM birth; PRAGMA integrity_check' | tr '\n' ' ')" \
	'0 1|9|8|0x7|6|1|5|0||| 0 ok '
is 'births go to a table of another name, and the old one is kept' "$(sql "$tmp/theirs.sqlite" 'SELECT count(*) FROM birth_2')" "$(grep -c '"type":"birth"' "$tmp/real.jsonl")"
is 'rows of coroTracer are coroutines of their own' "$(sql "$tmp/theirs.sqlite" 'SELECT state, certain FROM coroutine_states WHERE section = 0')" 'running|0'
sql "$tmp/older.sqlite" "$schema, section INTEGER); INSERT INTO coro_trace_events (probe_id, tid, addr, seq, is_active, ts) VALUES ('9', 8, '0x7', 6, 1, 5)"
"$sqlite" -q --append -o "$tmp/older.sqlite" "$tmp/real.ctp.zst"
is 'the same holds if the column has no default' "$(sql "$tmp/older.sqlite" 'SELECT state, certain FROM coroutine_states WHERE section = 0')" 'running|0'
refuses() { # NAME WHY FILE
	cp "$3" "$tmp/copy"
	"$sqlite" -q --append -o "$3" "$tmp/real.ctp.zst" 2>"$tmp/err"
	is "append to $1: status 1" $? 1
	like "append to $1: it is reported" "$(cat "$tmp/err")" "^ctp-sqlite: $3: $2\$"
	ok "append to $1: it is unchanged" cmp "$3" "$tmp/copy"
}
echo 'some text that is long enough to be no empty database' >"$tmp/text"
refuses 'what is no database' 'file is not a database' "$tmp/text"
sql "$tmp/odd.sqlite" 'CREATE TABLE coro_trace_events (id INTEGER, ts INTEGER)'
refuses 'a table that is not coroTracer'"'"'s' '.*no column.*' "$tmp/odd.sqlite"
sql "$tmp/view.sqlite" 'CREATE TABLE steps (a)'
refuses 'a table in the place of a view' '.*steps.*' "$tmp/view.sqlite"
sql "$tmp/own.sqlite" 'CREATE VIEW births AS SELECT 1'
refuses 'a view of somebody else in the place of one' '.*births.*' "$tmp/own.sqlite"

# --- failures -----------------------------------------------------------------------------------------------------------------
mkdir "$tmp/dir"
left() { (cd "$tmp/dir" && ls -A | tr '\n' ' '); }
"$sqlite" "$tmp/real.ctp.zst" 2>"$tmp/err"
is 'a missing -o is a usage error' "$? $(wc -l <"$tmp/err")" '2 1'
for path in /dev/full /dev/null "$tmp/dir" "$tmp/dir/no/x.sqlite" "$tmp/dir/x.sqlite.zst"; do
	"$sqlite" -q -o "$path" "$tmp/real.ctp.zst" 2>"$tmp/err"
	is "-o ${path#"$tmp"/}: status 1 and one line with its name" "$? $(grep -c "^ctp-sqlite: $path: " "$tmp/err") $(wc -l <"$tmp/err")" '1 1 1'
done
"$sqlite" -q -o "$tmp/dir/a.sqlite" "$tmp/nothing.ctp" 2>"$tmp/err"
is 'a missing input leaves no file' "$? $(left)" '1 '
echo old >"$tmp/dir/old"
"$sqlite" -q -o "$tmp/dir/old" "$tmp/real.ctp.zst" "$tmp/nothing.ctp" 2>"$tmp/err"
is 'a failed run leaves an existing file unchanged' "$? $(left)$(cat "$tmp/dir/old")" '1 old old'
"$sqlite" -q -o "$tmp/dir/old" "$tmp/real.ctp.zst" 2>"$tmp/err"
is 'an existing file that is no database always stays' "$? $(cat "$tmp/err") $(cat "$tmp/dir/old")" \
	"1 ctp-sqlite: $tmp/dir/old: is there and no SQLite database; remove it, or name another file old"
sql "$tmp/dir/new" 'CREATE TABLE t (x)' && mv "$tmp/dir/new" "$tmp/dir/old"
chmod 600 "$tmp/dir/old"
"$sqlite" -q -o "$tmp/dir/old" "$tmp/real.ctp.zst"
is 'a successful run replaces a database, with its mode' "$? $(left)$(stat -c %a "$tmp/dir/old") $(sql "$tmp/dir/old" 'PRAGMA integrity_check')" '0 old 600 ok'
"$sqlite" -q -o "$tmp/real.ctp.zst" "$tmp/real.ctp.zst" 2>"$tmp/err"
is 'an output that is the input is refused' \
	"$? $(cat "$tmp/err")" "1 ctp-sqlite: -o $tmp/real.ctp.zst: is also the input; name another file"
for end in journal wal; do
	: >"$tmp/dir/old-$end"
	cp "$tmp/dir/old" "$tmp/copy"
	"$sqlite" -q -o "$tmp/dir/old" "$tmp/r1.ctp" 2>"$tmp/err"
	is "a database that has a $end is not replaced" "$? $(grep -c "old-$end belongs" "$tmp/err")" '1 1'
	ok 'it is unchanged' cmp "$tmp/dir/old" "$tmp/copy"
	rm "$tmp/dir/old-$end"
done
for signal in TERM KILL; do
	"$sqlite" -q -o "$tmp/dir/killed" "$tmp/real.ctp.zst" "$tmp/fifo" & pid=$!
	exec 3>"$tmp/fifo"
	kill -$signal $pid
	wait $pid 2>/dev/null
	exec 3>&-
	is "killed by SIG$signal it leaves no file" "$(left)" 'old '
done
"$O/t/helper/randstream" 9 | "$sqlite" -q -o "$tmp/dir/old"
is 'status 3 where events were lost or the end is missing' $? 3
rm "$tmp/dir/old"
(ulimit -f 40 && trap '' XFSZ && exec "$sqlite" -q -o "$tmp/dir/big" "$tmp/r1.ctp") 2>"$tmp/err"
is 'an early limit on file size gives status 1 and a message, and leaves no file' "$? $(grep -c "^ctp-sqlite: $tmp/dir/big: " "$tmp/err") $(left)" '1 1 '
for i in 1 2 3 4 5 6 7 8 9; do zstdcat "$tmp/real.ctp.zst"; done >"$tmp/many.ctp"
if root_part 'a full disk' && can mount -t tmpfs -o size=64k none "$tmp/dir"; then
	for size in 64k 1m 3m 4m; do # full at the first page, while rows are read, while trees are built
		mount -o remount,size=$size "$tmp/dir"
		"$sqlite" -q -o "$tmp/dir/full" "$tmp/many.ctp" 2>"$tmp/err"
		is "a disk of $size: status 1, a message, no file left" \
			"$? $(grep -c "^ctp-sqlite: $tmp/dir/full: .*\(full\|No space\)" "$tmp/err") $(left)" '1 1 '
	done
	umount "$tmp/dir"
fi
if [ "$(id -u)" != 0 ]; then
	chmod 500 "$tmp/dir"
	"$sqlite" -q -o "$tmp/dir/a" "$tmp/real.ctp.zst" 2>"$tmp/err"
	is 'a folder without write permission is reported' "$? $(grep -c 'Permission denied' "$tmp/err")" '1 1'
fi
done_testing
