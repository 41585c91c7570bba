#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# The extension of SQLite: its tables show what the stream has, for all queries, also those that skip packets.
# Not under sanitizers: sqlite3 loads the extension, and has no sanitizer.
. t/helper/tap.sh
command -v sqlite3 >/dev/null || skip_all 'there is no sqlite3'
[ -f "$O/lib/ctp.so" ] || skip_all "$O/lib/ctp.so is not built"
sqlite3 :memory: 'pragma compile_options' | grep -q OMIT_LOAD_EXTENSION && skip_all 'this sqlite3 loads no extensions'
command -v python3 >/dev/null || skip_all 'there is no python3'
from=$BIN/ctp-fromjsonl to=$BIN/ctp-tojsonl ext=$PWD/$O/lib/ctp
case $O in /*) ext=$O/lib/ctp ;; esac
[ -x "$from" ] && [ -x "$to" ] || skip_all "$BIN has no ctp-fromjsonl and ctp-tojsonl"

q() { (cd "$tmp" && sqlite3 -cmd ".load $ext" :memory: "$@") 2>&1; }
answers() { # NAME WANT SQL...
	name=$1 want=$2
	shift 2
	is "$name" "$(q "$@")" "$want"
}
fails() { # NAME PATTERN SQL...
	name=$1 pattern=$2
	shift 2
	like "$name" "$(q "$@")" "$pattern"
	is "$name: in one line" "$(q "$@" | grep -c .)" 1
}

# --- transitions --------------------------------------------------------------------------------------------------------------
cat >"$tmp/plain.jsonl" <<'JSONL'
{"probe_id":123,"tid":456,"addr":"0x0000000000000000","seq":2,"is_active":true,"ts":123456789}
{"probe_id":123,"tid":456,"addr":"0x00007fffdeadbeef","seq":4,"is_active":false,"ts":123456789}
{"probe_id":9223372036854775808,"tid":1,"addr":"0x0000000000000000","seq":0,"is_active":false,"ts":9223372036854775808}
{"probe_id":18446744073709551615,"tid":18446744073709551615,"addr":"0xffffffffffffffff","seq":18446744073709551615,"is_active":true,"ts":18446744073709551615}
JSONL
"$from" -q -o "$tmp/plain.ctp" "$tmp/plain.jsonl"
answers 'columns of coroTracer come first; what the stream lacks is null' 'probe_id|tid|addr|seq|is_active|ts|section|coro|index|site
123|456|0x0000000000000000|2|1|123456789|1|-|-|-
123|456|0x00007fffdeadbeef|4|0|123456789|1|-|-|-
9223372036854775808|1|0x0000000000000000|0|0|-9223372036854775808|1|-|-|-
18446744073709551615|-1|0xffffffffffffffff|-1|1|-1|1|-|-|-' '.headers on' '.nullvalue -' "select * from ctp('plain.ctp')"
answers 'printf shows what is beyond 2^63' 18446744073709551615 "select printf('%u', ts) from ctp('plain.ctp') where ts = -1"
answers 'a probe_id is text, and found by a number too' '1|text' \
	"select count(*), typeof(probe_id) from ctp('plain.ctp') where probe_id = 123 and is_active"
answers 'texts outlive their rows' '0x00007fffdeadbeef|9223372036854775808|2' \
	"select max(addr), max(probe_id), count(distinct addr) from ctp('plain.ctp') where tid < 1000 and tid > 0"
answers 'none asked for are none' 0 "select count(*) from ctp('plain.ctp') where ts > 5 and ts < 3"

cat >"$tmp/other.jsonl" <<'JSONL'
{"type":"@section","attrs":{}}
{"type":"@schema","name":"run","kind":"transition","fields":[{"name":"when","type":"u64","role":"time"},{"name":"task","type":"u32","role":"coroutine"},{"name":"on","type":"bool","role":"state"},{"name":"where","type":"u32","role":"site"},{"name":"worker","type":"u16","role":"thread"},{"name":"coro","type":"u64"}]}
{"type":"run","when":10,"task":1,"on":true,"where":0,"worker":8,"coro":99}
{"type":"run","when":20,"task":1,"on":false,"where":4,"worker":8,"coro":99}
{"type":"@schema","name":"leap","kind":"transition","fields":[{"name":"when","type":"u64","role":"time"},{"name":"who","type":"u64","role":"probe"},{"name":"at","type":"u64","role":"address"},{"name":"index","type":"u64","role":"sequence"},{"name":"seq","type":"u64","role":"sequence"}]}
{"type":"leap","when":30,"who":5,"at":"0x7","index":1,"seq":2}
{"type":"@end","complete":true}
JSONL
"$from" -q -o "$tmp/other.ctp" "$tmp/other.jsonl"
answers 'fields of other names are known by their roles' '-|8|-|-|1|10|1|1|-|0
-|8|-|-|0|20|1|1|-|4
5|-|0x0000000000000007|2|-|30|1|-|1|-' '.nullvalue -' "select * from ctp('other.ctp')"
answers 'and can be asked for' 10 "select ts from ctp('other.ctp') where is_active and tid = 8 and site = 0 and coro = 1"

# --- other classes, extreme values --------------------------------------------------------------------------------------------
long=$(awk 'BEGIN { for (i = 0; i < 65536; i++) printf "x" }')
cat >"$tmp/all.jsonl" <<JSONL
{"type":"@section","attrs":{"host":"h","argv":["./server","-v"],"wall_offset_ns":"-5"}}
{"type":"@schema","name":"all","kind":"other","fields":[{"name":"ts","type":"u64","role":"time"},{"name":"i","type":"i64"},{"name":"x","type":"u64","extra":true},{"name":"e","type":"enum","labels":{"one":1,"uno":1,"3":7,"twice":8,"twice":9}},{"name":"f","type":"f32"},{"name":"d","type":"f64"},{"name":"s","type":"string"},{"name":"y","type":"bytes"}]}
{"type":"all","ts":1,"i":-9223372036854775808,"x":18446744073709551615,"e":"one","f":0.1,"d":0.1,"s":"","y":""}
{"type":"all","ts":2,"i":9223372036854775807,"x":0,"e":3,"f":"NaN","d":"-Infinity","s":"a\u0000b","y":"00ff10"}
{"type":"all","ts":3,"i":0,"x":1,"e":"3","f":0,"d":5e-324,"s":"it's, \"é\"\n😀","y":"61"}
{"type":"all","ts":4,"i":0,"x":1,"e":9,"f":0,"d":0,"s":"\udced\udca0\udc80","y":"61"}
{"type":"all","ts":5,"i":0,"x":1,"e":8,"f":0,"d":0,"s":"$long","y":"61"}
{"type":"@schema","name":"two","kind":"other","fields":[{"name":"section","type":"u8"},{"name":"N","type":"u8"},{"name":"n","type":"u8"},{"name":"n_2","type":"u8"},{"name":"file","type":"u8"},{"name":"select \"x","type":"u8"}]}
{"type":"two","section":1,"N":2,"n":3,"n_2":5,"file":6,"select \"x":7}
{"type":"@schema","name":"nothing","kind":"other","fields":[]}
{"type":"nothing"}
{"type":"@end","complete":true}
{"type":"@section","attrs":{}}
{"type":"@schema","name":"two","kind":"other","fields":[{"name":"n","type":"string"},{"name":"more","type":"u8"}]}
{"type":"two","n":"text","more":7}
{"type":"@schema","name":"all","kind":"other","fields":[{"name":"when","type":"u64","role":"time"},{"name":"ts","type":"u64"}]}
{"type":"all","when":9,"ts":1000}
{"type":"@end","complete":true}
JSONL
"$from" -q -o "$tmp/all.ctp" "$tmp/all.jsonl"
all="create virtual table a using ctp('all.ctp', 'all')"
answers 'plain fields, section, the others' 'ts|i|e|f|d|s|y|section|x' "$all" \
	"select group_concat(name, '|') from pragma_table_info('a')"
answers 'every value by its rule' "1|-9223372036854775808|'one'|0.100000001490116|0.1|''|X''|1|-1
2|9223372036854775807|3|'NaN'|-Inf|X'610062'|X'00FF10'|1|0
3|0|'3'|0.0|4.94065645841247e-324|'it''s, \"é\"
😀'|X'61'|1|1
4|0|9|0.0|0.0|X'EDA080'|X'61'|1|1" "$all" "select ts, i, quote(e),
	case typeof(f) when 'text' then quote(f) else f end, d, quote(s), quote(y), section, x from a where ts < 5"
answers 'a long text' 65536 "$all" 'select length(s) from a where ts = 5'
answers 'the time is the record'\''s own, whatever its name' '9' "$all" 'select ts from a where section = 2'
answers 'and so it is when packets are passed over by it' '9' "$all" 'select ts from a where ts between 8 and 10'
answers 'names that SQLite cannot tell apart are told apart' 'section_2|N|n_2|n_2_2|file_2|select "x|section' \
	"create virtual table t using ctp('all.ctp', 'two')" "select group_concat(name, '|') from pragma_table_info('t')"
answers 'of two classes of one name the first says the columns' "1|2|3|5|6|7|1
||'text'||||2" '.nullvalue ""' "create virtual table t using ctp('all.ctp', two)" \
	'select section_2, N, case section when 2 then quote(n_2) else n_2 end, n_2_2, file_2, "select ""x", section from t'
answers 'a class without fields' 1 "create virtual table n using ctp(\"all.ctp\", nothing)" 'select section from n'
answers 'what ctp-collect might have written is an empty table' '0|count' \
	"create virtual table l using ctp('all.ctp', 'lost')" \
	"select (select count(*) from l), name from pragma_table_info('l') where name = 'count'"
cp "$tmp/plain.ctp" "$tmp/it's.ctp"
answers 'an apostrophe in a name' 4 "create virtual table t using ctp('it''s.ctp')" 'select count(*) from t'

for name in zzz-first aaa-other; do
	printf '{"type":"@section","attrs":{}}\n{"type":"note","text":"%s"}\n{"type":"@end","complete":true}\n' $name
done | "$from" -q -o "$tmp/notes.ctp"
answers 'texts outlive their packets' 'zzz-first' "create virtual table n using ctp('notes.ctp', 'note')" \
	'select max(text) from n'

# --- what there is ------------------------------------------------------------------------------------------------------------
answers 'the sections' '1|h|-v|-5|1
2|||-|1' '.nullvalue -' "select section, coalesce(attrs ->> 'host', ''), coalesce(attrs ->> '\$.argv[1]', ''),
	wall_offset_ns, complete from ctp_sections('all.ctp')"
answers 'the classes' 'all|other|5|ts|u64|time
nothing|other|1|-|-|-
all|other|1|when|u64|time' '.nullvalue -' "select class, kind, records, field, type, role from ctp_classes('all.ctp')
	where role = 'time' or field is null order by ordinal"
printf '{"type":"@section","attrs":{}}\n{"type":"bad\\udcff","\\udcfe":1}\n' | "$from" -q -o "$tmp/bad.ctp"
answers 'a name that is no UTF-8 is a blob' "X'626164FF'|X'FE'" "select quote(class), quote(field) from ctp_classes('bad.ctp')"

# --- what goes wrong ----------------------------------------------------------------------------------------------------------
fails 'no such file' 'gone.ctp: No such file or directory$' "select * from ctp('gone.ctp')"
fails 'no such file, of sections' 'gone.ctp: No such file or directory$' "select * from ctp_sections('gone.ctp')"
fails 'a folder' '/: is a directory$' "select * from ctp('/')"
fails 'not a stream' 'plain.jsonl: not a raw stream: at 0x0: [0-9]+ bytes are no packet$' "select * from ctp('plain.jsonl')"
fails 'not a stream, of classes' 'plain.jsonl: not a raw stream: ' "select * from ctp_classes('plain.jsonl')"
fails 'not a stream, of sections' 'plain.jsonl: is JSON; pipe it through ctp-fromjsonl$' "select * from ctp_sections('plain.jsonl')"
: >"$tmp/empty"
fails 'nothing' "$tmp/empty: not a raw stream: the input is empty\$" "select * from ctp('$tmp/empty')"
fails 'no file' '/dev/zero: is no regular file; a table reads its file again and again$' "select * from ctp('/dev/zero')"
fails 'no file named' 'which file' 'select * from ctp'
fails 'null for a file' 'which file' 'select * from ctp(null)'
fails 'no such class' 'all.ctp: no class nope; there are: all, two, nothing, two, all$' \
	"create virtual table x using ctp('all.ctp', 'nope')"
fails 'a class where none can be' "create virtual table x using ctp\('all.ctp', 'two'\)$" "select * from ctp('all.ctp', 'two')"
answers 'a position that is no number is none' 0 "$all" "select count(*) from a where position = 'x'"
fails 'too many words' 'a file and a class, no more$' "create virtual table x using ctp('all.ctp', 'all', 'x')"
fails 'no schema of others opens a file' 'unsafe use of virtual table' \
	"create view v as select * from ctp('plain.ctp')" 'select * from v'
fails 'nothing can be written' 'may not be modified|read-only' "$all" 'delete from a'

# --- several at once ----------------------------------------------------------------------------------------------------------
rows() { awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++)
	printf "{\"probe_id\":%d,\"tid\":%d,\"addr\":\"0x%016x\",\"seq\":%d,\"is_active\":%s,\"ts\":%d}\n",
		1 + i % 7, i % 3, i % 5, i, i % 2 ? "true" : "false", 1000 + i }'; }
rows 200000 >"$tmp/many.jsonl"
"$from" -q -o "$tmp/many.ctp" "$tmp/many.jsonl"
answers 'as many rows as lines' 200000 "select count(*) from ctp('many.ctp')"
answers 'with a condition' "$(grep -c '"tid":2.*true' "$tmp/many.jsonl")" \
	"select count(*) from ctp('many.ctp') where is_active and tid = 2"
answers 'two files, an OR of which each part needs its own' 400000 \
	"select count(*) from ctp where (file = 'many.ctp' and tid >= 0) or (file = './many.ctp' and tid >= 0)"
answers 'an OR whose parts overlap has each row once' 150001 \
	"select count(*) from ctp('many.ctp') where ts between 1000 and 101000 or ts >= 51000 and ts <= 151000"
answers 'joined with itself' '7|0' "select count(*), sum(a.ts <> b.ts) from ctp('many.ctp') a join ctp('many.ctp') b using(seq)
	where a.ts < 1007 and b.ts between 1000 and 1010"
answers 'files from another table' '200000|1
4|1' "select (select count(*) from ctp(f)), (select max(section) from ctp(f))
	from (select 'many.ctp' f union all select 'plain.ctp')"
answers 'joined with another table' 'many.ctp|1
plain.ctp|1' "select f, max(section) from (select 'many.ctp' f union all select 'plain.ctp') cross join ctp(f) group by f"
answers 'cat of two is a stream of two sections' '1|200000
2|4' "$(cat "$tmp/many.ctp" "$tmp/plain.ctp" >"$tmp/both.ctp")select section, count(*) from ctp('both.ctp') group by 1"
if command -v zstd >/dev/null; then
	zstd -q "$tmp/many.ctp"
	answers 'zstd needs no option' '200000|200999' "select count(*), max(ts) from ctp('many.ctp.zst')"
fi
sqlite3 -cmd ".load $ext" "$tmp/kept.db" "create virtual table m using ctp('$tmp/many.ctp')"
is 'a table stays in a database' "$(sqlite3 -cmd ".load $ext" "$tmp/kept.db" 'select count(*) from m where ts < 1010')" 10


# --- a database from another user -----------------------------------------------------------------------------------------------
# Its trace has become a FIFO without a writer: opening it would block for ever.
sqlite3 -cmd ".load $ext" "$tmp/foreign.db" "create virtual table b using ctp('$tmp/trap.ctp', 'birth')" \
	'create view v as select * from b' 'create table t as select 1 as one' 2>"$tmp/foreign.err" ||
	cat "$tmp/foreign.err"
rm -f "$tmp/trap.ctp"
mkfifo "$tmp/trap.ctp"
foreign() { timeout 20 sqlite3 -cmd ".load $ext" "$tmp/foreign.db" "$@" 2>&1 </dev/null; }
is 'the tables of such a database can be listed' "$(foreign "select name from pragma_table_list where schema = 'main' and name in ('b', 't', 'v') order by 1" | tr '\n' ' ')" 'b t v '
is 'their columns can be listed' "$(foreign "select count(*) > 5 from pragma_table_info('b')")" 1
like 'its schema is shown' "$(foreign .schema)" 'CREATE VIRTUAL TABLE b'
like 'a query of such a table does not block' "$(foreign 'select * from b')" 'is no regular file'
like 'its view is refused, and opens nothing' "$(foreign 'select * from v')" 'unsafe use'
is 'its own tables can be read' "$(foreign 'select one from t')" 1
like 'a class that only the trace knows needs a temp table' "$(foreign "create virtual table x using ctp('$tmp/all.ctp', 'two')")" \
	'create virtual table temp.NAME'
is 'a temp table has its columns' "$(foreign "create virtual table temp.x using ctp('$tmp/all.ctp', 'two')" \
	"select count(*) > 5 from pragma_table_info('x')")" 1

# --- the range of times -------------------------------------------------------------------------------------------------------
# The header of the third packet gets wrong times: a reader that trusts them skips the packet.
cat >"$tmp/lie.py" <<'PY'
import struct, sys
sys.path.insert(0, 't/helper')
import ctpread
data, at = bytearray(open(sys.argv[1], 'rb').read()), 0
for _ in range(2):
    at += 64 + struct.unpack_from('<I', data, at + 16)[0]
struct.pack_into('<QQ', data, at + 40, *map(int, sys.argv[3:]))
struct.pack_into('<I', data, at + 8, ctpread.crc32c(data[at + 12:at + 64]))
open(sys.argv[2], 'wb').write(data)
PY
python3 -B "$tmp/lie.py" "$tmp/many.ctp" "$tmp/lie.ctp" 1 2
python3 -B "$tmp/lie.py" "$tmp/many.ctp" "$tmp/late.ctp" 300000 300001
answers 'a lie that nobody asks for' 200000 "select count(*) from ctp('lie.ctp')"
seen=$(q "select count(*) from ctp('lie.ctp') where ts >= 1000")
ok 'packets outside the range are skipped' [ "$seen" -gt 100000 -a "$seen" -lt 199999 ]
for range in 'ts > 1000 - 1' 'ts between 1000 and 300000' '(ts >= 1e3 and ts <= 3e5)' 'ts > 999.5' '1000 <= ts' \
	'ts >= 1000 and ts < 1e300'; do
	answers "so with $range" "$seen" "select count(*) from ctp('lie.ctp') where $range"
done
for range in 'ts > -1e300' 'ts <> 5' "ts in (select seq + 1000 from ctp('many.ctp'))" "ts >= '1000'" '+ts >= 1000' \
	'ts >= -5'; do
	answers "not with $range" 200000 "select count(*) from ctp('lie.ctp') where $range"
done
for range in 'ts <= 200999' 'ts < 2e5 + 1000' 'ts between -5 and 299999'; do
	answers "and with an upper end alone, $range" "$seen" "select count(*) from ctp('late.ctp') where $range"
done
last=$(q "select max(ts) from ctp('many.ctp') group by position >> 22 limit 1") # of a packet
for range in "ts between $last and $last + 1" "ts >= $last.0 and ts <= $last.0 + 1" \
	"ts > $last.0 - 0.5 and ts < $last.5 + 1"; do
	answers "the ends of $range belong to it" 2 "select count(*) from ctp('many.ctp') where $range"
done
hidden="from ctp('lie.ctp') where position not in (select position from ctp('lie.ctp') where ts >= 1000)"
answers 'what the lie is about' "$((200000 - seen))" "select count(*) $hidden"
time=$(q "select min(ts) $hidden")
answers 'by one time' '1|0|1' "select (select count(*) from ctp('lie.ctp') where ts = 1000),
	(select count(*) from ctp('lie.ctp') where ts = $time), (select count(*) from ctp('lie.ctp') where ts in ($time, 5))"

# --- damage -------------------------------------------------------------------------------------------------------------------
head -c $(($(wc -c <"$tmp/many.ctp") - 100)) "$tmp/many.ctp" >"$tmp/cut.ctp"
answers 'a trace that was cut short shows what is there' 1 "select count(*) between 100000 and 199999 from ctp('cut.ctp')"
answers 'and its section says so' '0|1' "select complete, damaged_packets from ctp_sections('cut.ctp')"
{ head -c 300000 "$tmp/many.ctp"; printf 'XXXX'; tail -c +300005 "$tmp/many.ctp"; } >"$tmp/hurt.ctp"
answers 'a damaged packet costs its rows' 1 \
	"select count(*) between 100000 and 199999 and max(ts) = 200999 from ctp('hurt.ctp')"
answers 'and the section says so' '0|1|1|1' \
	"select complete, damaged_packets, missing_packets, skipped_bytes > 0 from ctp_sections('hurt.ctp')"
answers 'a whole one is complete' '1|0|0|0' \
	"select complete, damaged_packets, missing_packets, skipped_bytes from ctp_sections('many.ctp')"

{ head -c 300000 "$tmp/many.ctp"; cat "$tmp/plain.ctp" "$tmp/many.ctp"; } >"$tmp/joined.ctp"
answers 'what follows a packet that was cut off is found, also where that one is passed over' '2|2' \
	"select count(*), max(section) from ctp('joined.ctp') where ts between 123456789 and 123456790"

# --- the manual's examples ----------------------------------------------------------------------------------------------------
row() { # PROBE_ID SEQ IS_ACTIVE TS CORO INDEX
	printf '{"type":"transition","probe_id":%d,"tid":5,"addr":"0x0000000000000007",' "$1"
	shift
	printf '"seq":%d,"is_active":%s,"ts":%d,"coro":%d,"index":%d}\n' "$@"
}
{
	echo '{"type":"@section","attrs":{"host":"h","wall_offset_ns":"1000000000000000000"}}'
	row 11 2 true 1000 1 0 && row 11 4 false 1001 1 1 # suspended
	row 12 2 true 1002 2 0 && row 12 4 false 1003 2 1 # dead
	echo '{"type":"death","ts":1004,"probe_id":12,"coro":2,"after":1004,"before":1004}'
	row 13 2 false 1005 3 0 && row 13 4 true 1006 3 1 # running
	echo '{"type":"@end","complete":true}'
} | "$from" -q -o "$tmp/t.ctp"
sed -n '/^\.Ss Queries/,/^\.Ss ctp/{/^\.Bd/,/^\.Ed/{/^\./d; s/\\(aq/'"'"'/g; p; }; }' doc/ctp-vtable.5 >"$tmp/examples.sql"
is 'the examples give rows' "$(cd "$tmp" && sqlite3 -cmd ".load $ext" :memory: <examples.sql 2>&1)" 'transition|6
death|1
1|1|0|0|0
1|1|11|0x0000000000000007|1|0
2001-09-09 01:46:40|11|5|0x0000000000000007|2|1|1000|1|1|0|
2001-09-09 01:46:40|11|5|0x0000000000000007|4|0|1001|1|1|1|
2001-09-09 01:46:40|12|5|0x0000000000000007|2|1|1002|1|2|0|
2001-09-09 01:46:40|12|5|0x0000000000000007|4|0|1003|1|2|1|
2001-09-09 01:46:40|13|5|0x0000000000000007|2|0|1005|1|3|0|
2001-09-09 01:46:40|13|5|0x0000000000000007|4|1|1006|1|3|1|'

# --- random streams: every class, every value, and ranges against the same question to a table --------------------------------
for seed in 1 2 3 ${EVERY:+4 5 6}; do
	"$O/t/helper/randstream" "$seed" >"$tmp/random.ctp"
	ok "random stream $seed is read completely" python3 t/helper/sqlite-extension.py "$ext" "$to" "$tmp/random.ctp"
done
done_testing
