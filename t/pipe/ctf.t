#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# ctp-toctf writes all records, in the format of its manual, as read by the test's own reader and by babeltrace2.
. t/helper/tap.sh
command -v python3 >/dev/null || skip_all 'there is no python3'
from=$BIN/ctp-fromjsonl jsonl=$BIN/ctp-tojsonl to=$BIN/ctp-toctf
bt2=
for python in python3 /usr/bin/python3; do $python -c 'import bt2' 2>/dev/null && bt2=$python; done
[ "$bt2" ] || skip 'there is no python3-bt2: babeltrace2 is not asked for values'
command -v babeltrace2 >/dev/null && has_babeltrace=yes || { has_babeltrace=; skip 'there is no babeltrace2'; }

# Converts FILE.ctp to the folder FILE and compares it with ctp-tojsonl -a: NAME FILE STATUS [PATTERN of ctfread's totals].
holds() {
	rm -rf "$tmp/$2"
	"$to" -q -o "$tmp/$2" "$tmp/$2.ctp" >"$tmp/out" 2>&1
	is "$1: status" $? "$3"
	"$jsonl" -qa "$tmp/$2.ctp" >"$tmp/$2.all"
	ok "$1: all records are there" python3 t/helper/ctfread.py "$tmp/$2" "$tmp/$2.all"
	[ -z "${4-}" ] || like "$1: $4" "$tap_said" "$4"
	[ -z "$bt2" ] || ok "$1: babeltrace2 says so too" $bt2 t/helper/ctfread.py --bt2 "$tmp/$2" "$tmp/$2.all"
	[ "$has_babeltrace" ] || return
	babeltrace2 "$tmp/$2" >"$tmp/text" 2>"$tmp/err"
	is "$1: babeltrace2 opens it" $? 0
	is "$1: babeltrace2 warns only of lost events" "$(grep -v 'Tracer discarded' "$tmp/err")" ''
}
make_stream() { "$from" -q >"$tmp/$1.ctp"; } # NAME, rows on stdin
schema() { printf '{"type":"@schema","name":"%s","kind":"%s","fields":[{"name":"ts","type":"u64","role":"time"},{"name":"n","type":"u64","role":"count"}]}\n' "$@"; }
section='{"type":"@section","attrs":{}}' end='{"type":"@end","complete":true}'

# --- every type, extreme values ---------------------------------------------------------------------------------------------
cat >"$tmp/rows" <<'JSONL'
{"type":"@section","attrs":{"host":"h \"x\"","pid":"17","argv":["./server","it's","-v",""],"clock":"monotonic","wall_offset_ns":"1700000000123456789","odd \u0001\"\\\n":"é\udcff"}}
{"type":"@schema","name":"all","kind":"other","fields":[{"name":"ts","type":"u64","role":"time","unit":"ns"},{"name":"u8","type":"u8"},{"name":"u16","type":"u16"},{"name":"u32","type":"u32"},{"name":"u64","type":"u64"},{"name":"i8","type":"i8"},{"name":"i16","type":"i16"},{"name":"i32","type":"i32"},{"name":"i64","type":"i64"},{"name":"hex","type":"i64","hex":true},{"name":"b","type":"bool"},{"name":"e","type":"enum","labels":{"one":1,"two":2,"uno":1,"twice":7,"twice":8,"big":300,"all":18446744073709551615}},{"name":"f","type":"f32"},{"name":"d","type":"f64"},{"name":"s","type":"string"},{"name":"y","type":"bytes"},{"name":"t2","type":"u64","role":"time"}]}
{"type":"all","ts":1,"u8":255,"u16":65535,"u32":4294967295,"u64":18446744073709551615,"i8":-128,"i16":-32768,"i32":-2147483648,"i64":-9223372036854775808,"hex":"0xffffffffffffffff","b":true,"e":18446744073709551615,"f":0.1,"d":0.1,"s":"x","y":"","t2":18446744073709551615}
{"type":"all","ts":1,"u8":0,"u16":0,"u32":0,"u64":4294967295,"i8":127,"i16":32767,"i32":2147483647,"i64":9223372036854775807,"hex":"0x7fffffffffffffff","b":false,"e":"one","f":"NaN","d":"-Infinity","s":"é€😀 \"\\\t\n,","y":"00ff10","t2":0}
{"type":"all","ts":2,"u8":0,"u16":0,"u32":0,"u64":9223372036854775808,"i8":0,"i16":0,"i32":0,"i64":0,"hex":"0x0000000000000000","b":false,"e":8,"f":3.4028235e+38,"d":5e-324,"s":"x","y":"ab","t2":9223372036854775808}
{"type":"all","ts":2,"u8":0,"u16":0,"u32":0,"u64":0,"i8":0,"i16":0,"i32":0,"i64":0,"hex":"0x0000000000000000","b":false,"e":300,"f":1e-45,"d":-0,"s":"a\u0000b","y":"ab","t2":0}
{"type":"all","ts":2,"u8":0,"u16":0,"u32":0,"u64":0,"i8":0,"i16":0,"i32":0,"i64":0,"hex":"0x0000000000000000","b":false,"e":"two","f":0,"d":0,"s":"\udcff","y":"","t2":0}
{"type":"@schema","name":"nothing","kind":"other","fields":[]}
{"type":"nothing"}
{"type":"@schema","name":"@odd \"é\udcff","kind":"birth","fields":[{"name":"a b","type":"u8"},{"name":"a_b","type":"string"},{"name":"a-b","type":"bytes"},{"name":"_a_b_length","type":"u8"},{"name":"Bool","type":"u8"},{"name":"é","type":"u8"},{"name":"int","type":"u8"}]}
{"type":"@@odd \"é\udcff","a b":1,"a_b":"","a-b":"00","_a_b_length":4,"Bool":5,"é":6,"int":7}
{"type":"@@odd \"é\udcff","a b":1,"a_b":"x","a-b":"","_a_b_length":4,"Bool":5,"é":6,"int":7}
{"type":"@schema","name":"all","kind":"other","fields":[{"name":"n","type":"u8"}]}
{"type":"all","n":1}
{"type":"@end","complete":true}
JSONL
make_stream types <"$tmp/rows"
holds 'every type' types 0
like 'the environment has the command and host' "$(tr '\n' ' ' <"$tmp/types/metadata")" \
	'tracer_name = "ctptools";.*hostname = "h \\\\\\"x\\\\\\"";.*pid = 17;.*argv = ".*it'
ok 'the metadata is ASCII' sh -c '! LC_ALL=C grep -q "[^ -~	]" "$1"' - "$tmp/types/metadata"
is 'the first line is the one that readers look for' "$(head -n 1 "$tmp/types/metadata")" '/* CTF 1.8 */'
"$to" -o "$tmp/again" "$tmp/types.ctp"
ok 'the same stream gives the same bytes' diff -r "$tmp/types" "$tmp/again"
# Names that are equal for a reader that strips an underscore, in both orders, and with the length of a text between them.
{
	printf '%s\n%s\n' "$section" '{"type":"@schema","name":"x","kind":"other","fields":[{"name":"_event","type":"u8"},{"name":"event","type":"u8"},{"name":"@a","type":"u8"},{"name":"a","type":"u8"},{"name":"b","type":"u8"},{"name":"_b","type":"u8"},{"name":"_Bool_","type":"u8"},{"name":"Bool","type":"u8"},{"name":"y","type":"bytes"},{"name":"y_length","type":"u8"},{"name":"___","type":"u8"},{"name":"__","type":"bytes"},{"name":"_","type":"u8"},{"name":"@@","type":"u8"},{"name":"@","type":"u8"}]}'
	echo '{"type":"x","_event":1,"event":2,"@@a":3,"a":4,"b":5,"_b":6,"_Bool_":7,"Bool":8,"y":"00","y_length":9,"___":10,"__":"01","_":11,"@@@":12,"@@":13}'
	echo "$end"
} | make_stream stripped
holds 'stripped names' stripped 0
[ -z "$has_babeltrace" ] || like 'stripped names: as they were where that is possible' "$(cat "$tmp/text")" '_event = 1, event_ = 2, _a = 3, a_ = 4, b = 5, _b = 6,'
# The largest that has the usual size, and the next, which has not: of a place, a counter, one with a bool in its top bit.
{
	printf '%s\n%s\n' "$section" '{"type":"@schema","name":"x","kind":"other","fields":[{"name":"s","type":"u64","role":"site"},{"name":"b0","type":"bool"},{"name":"n","type":"u64"},{"name":"m","type":"u64"},{"name":"ts","type":"u64","role":"time"},{"name":"b","type":"bool"},{"name":"b2","type":"bool"},{"name":"p","type":"u64","role":"probe"}]}'
	printf '{"type":"x","s":%s,"b0":%s,"n":%s,"m":%s,"b":%s,"b2":%s,"p":%s,"ts":1}\n' 0 true 0 0 false true 0 \
		65535 false 4294967295 2147483647 true false 18446744073709551615 1 true 2 3 true true 4 1 true 2 3 false false 4 \
		65536 true 0 0 true true 0  0 true 4294967296 0 true false 0  0 false 0 2147483648 true false 0
	echo "$end"
} | make_stream sizes
holds 'sizes' sizes 0 'events 7 timed 0 wide 3 '
# An empty string must not become the string of an earlier event, whose object babeltrace2 reuses.
{
	printf '%s\n%s\n' "$section" '{"type":"@schema","name":"x","kind":"other","fields":[{"name":"s","type":"string"}]}'
	awk 'BEGIN { for (i = 0; i < 200; i++) printf "{\"type\":\"x\",\"s\":\"%s\"}\n", i < 100 ? "abc" : "" }'
	echo "$end"
} | make_stream hollow
holds 'empty texts' hollow 0 'events 200 timed 0 wide 100 '
# Names that Trace Compass does not take are spelled, also beside fields that are called as the spelling would be; others cost nothing.
{
	printf '%s\n' "$section" '{"type":"@schema","name":"x","kind":"other","fields":[{"name":"s","type":"string","role":"name"},{"name":"n","type":"u64"},{"name":"_s_ascii","type":"string"},{"name":"s_ascii","type":"u8"},{"name":"__s_ascii","type":"u8"},{"name":"y","type":"bytes"}]}'
	for s in plain Straße € Ж 字 😀 'a\tb' '\u007f' '\u0085' 'C:\\u20ac' '\\' '\\x2a' '*' '**' '\"' '\udcff' '\u0000' '' "$(printf '%032767d' 0)" \
		"$(printf '%032767d' 1)0" "$(printf '%032767d' 1)1" "$(printf '%08192d' 0 | sed 's/0/é/g')"; do
		printf '{"type":"x","s":"%s","n":%s,"_s_ascii":"%s","s_ascii":3,"__s_ascii":4,"y":"c3"}\n' "$s" 1 x "$s" 4294967296 x "$s" 1 é
	done
	echo '{"type":"name","ts":1,"probe_id":1,"coro":1,"name":"plain"}'
	echo '{"type":"name","ts":2,"probe_id":1,"coro":1,"name":"Straße"}'
	echo "$end"
} | make_stream names
holds 'names' names 0 'events 68 timed 0 wide 28 spelled 63 '
[ -z "$has_babeltrace" ] || is 'names: they read well' "$(babeltrace2 --no-delta "$tmp/names" 2>&1 | grep '[]] name:' | cut -d' ' -f 2-)" \
	'name: { probe_id = 1, coro = 1, name = "plain" }
name: { probe_id = 1, coro = 1, name = "Straße", _name_ascii = "Stra\\u00dfe" }'
# Texts longer than a packet.
{
	printf '%s\n%s\n' "$section" '{"type":"@schema","name":"x","kind":"other","fields":[{"name":"s","type":"string"},{"name":"y","type":"bytes"},{"name":"n","type":"u64"}]}'
	python3 -c 'for n, v in (65536, 1), (1, 2), (1 << 20, 3), (1 << 20, 1 << 40), (5, 4), (300000, 1 << 32), (262000, 5):
		print("{\"type\":\"x\",\"s\":\"%s\",\"y\":\"%s\",\"n\":%d}" % ("x" * n, "ab" * (n // 2), v))'
	echo "$end"
} | make_stream large
asked=$bt2 bt2='' shown=$has_babeltrace has_babeltrace='' # a million elements take them half a minute
holds 'large texts' large 0 'events 7 timed 0 wide 2 .* packets [3-7]$'
bt2=$asked has_babeltrace=$shown
[ -z "$has_babeltrace" ] || is 'large texts: babeltrace2 opens it' "$(babeltrace2 "$tmp/large" -c sink.utils.dummy 2>&1; echo $?)" 0

# --- random streams ---------------------------------------------------------------------------------------------------------
if [ -x "$O/t/helper/randstream" ]; then
	for seed in 1 2; do
		"$O/t/helper/randstream" $seed >"$tmp/random.ctp"
		holds "random stream $seed" random 3 'events 2400 '
	done
else
	note "there is no $O/t/helper/randstream"
fi

# --- times ------------------------------------------------------------------------------------------------------------------
{
	printf '%s\n' "$section" && schema x other
	# Around the 27 bits that an event has of its time, and steps of minutes and of years.
	for ts in 0 1 134217727 134217728 134217729 268435455 402653182 402653183 536870911 536870912 120000000000 120134217727 \
		120134217728 360134217728 360134217729 4611686018427387904 9223372036854775807 9223372036854775808 18446744073709551615; do
		printf '{"type":"x","ts":%s,"n":1}\n' $ts
	done
	echo "$end"
} | make_stream gaps
holds 'gaps' gaps 0 'events 19 timed 3 wide 0 .* streams 1 '
{ printf '%s\n' '{"type":"@section","attrs":{"wall_offset_ns":"-5"}}' && schema x other && echo '{"type":"x","ts":7,"n":1}' && echo "$end"; } | make_stream minus
holds 'a wall clock before its epoch' minus 0
like 'the clock is an unknown one' "$(cat "$tmp/minus/metadata")" 'offset_s = 0;'

# Every variant of more classes than the short form of an event has numbers for.
{
	echo "$section"
	for i in 0 1 2 3 4 5 6 7 8 9; do
		schema x$i other
		printf '{"type":"x%d","ts":%s,"n":%s}\n' $i 1 1 $i 1 1099511627776 $i 18446744073709551615 1 $i 18446744073709551615 1099511627776
	done
	echo "$end"
} | make_stream classes
holds 'ten classes' classes 0 'events 40 timed 20 wide 20 .* packets 1$'

# More than a packet holds.
awk 'BEGIN { for (i = 0; i < 10000; i++)
	printf "{\"probe_id\":%d,\"tid\":1,\"addr\":\"0x%016x\",\"seq\":%d,\"is_active\":%s,\"ts\":%d}\n", 1 + i % 7, i, 1 + int(i / 7), i % 2 ? "true" : "false", i }' |
	make_stream many
holds 'many events' many 0 'events 10000 .* packets 2$'
is '28 bytes each, and 72 for each packet' "$(wc -c <"$tmp/many/stream_0")" $((10000 * (4 + 8 + 4 + 8 + 4) + 2 * 72))

# --- lost events ------------------------------------------------------------------------------------------------------------
{
	printf '%s\n' "$section" && schema x other && schema gone loss
	awk 'BEGIN { for (i = 1; i <= 4000; i++) {
		printf "{\"type\":\"x\",\"ts\":%d,\"n\":1}\n", i
		if (i == 100 || i == 101 || i > 2000 && i % 20 == 0) printf "{\"type\":\"gone\",\"ts\":%d,\"n\":3}\n", i } }'
	echo "$end"
} | make_stream lost
# 33 KB: a packet that ends before the first loss, one of 4 KiB with two, one up to the next, and of 4 KiB what is left.
holds 'lost events' lost 3 'events 4102 .* discarded 306 streams 1 packets [78]$'
[ -z "$has_babeltrace" ] || is 'babeltrace2 counts them' \
	"$(sed -n 's/.*Tracer discarded \([0-9]*\) event.*/\1/p' "$tmp/err" | awk '{ n += $1 } END { print n }')" 306
{ printf '%s\n' "$section" && schema gone loss && schema x other && echo '{"type":"gone","ts":1,"n":18446744073709551615}' && echo '{"type":"x","ts":2,"n":1}' && echo "$end"; } |
	make_stream first
holds 'lost before anything else, and beyond counting' first 3 'discarded 9223372036854775807 '

# --- sections ---------------------------------------------------------------------------------------------------------------
cat "$tmp/types.ctp" "$tmp/gaps.ctp" "$tmp/types.ctp" >"$tmp/three.ctp"
holds 'three sections' three 0
is 'each section has its folder' "$(cd "$tmp/three" && echo *)" '0001 0002 0003'
is 'each section has its own uuid' "$(sed -n 's/^	uuid = //p' "$tmp"/three/*/metadata | sort -u | wc -l)" 3
printf '%s\n%s\n' "$section" "$end" | make_stream bare
holds 'a section without records' bare 0 'events 0 '
is 'a section without records is a trace without streams' "$(ls "$tmp/bare")" metadata
: >"$tmp/void.ctp"
"$to" -o "$tmp/void" "$tmp/void.ctp" 2>"$tmp/err"
is 'no section: status 3' $? 3
is 'no section: a trace without streams' "$(ls "$tmp/void")" metadata
[ -z "$has_babeltrace" ] || is 'which babeltrace2 opens' "$(babeltrace2 "$tmp/void" 2>&1; echo $?)" 0
head -c $(($(wc -c <"$tmp/types.ctp") / 2)) "$tmp/types.ctp" >"$tmp/cut.ctp"
holds 'a stream that was cut short' cut 3

# --- how it reads -----------------------------------------------------------------------------------------------------------
if [ "$has_babeltrace" ]; then
	printf '%s\n' '{"type":"@section","attrs":{"host":"here","wall_offset_ns":"1700000000000000000"}}' \
		'{"type":"transition","probe_id":7,"tid":11,"addr":"0x00007fffdeadbeef","seq":2,"is_active":true,"ts":5}' \
		'{"type":"transition","probe_id":7,"tid":11,"addr":"0x0000000000000000","seq":4,"is_active":false,"ts":1000000006}' "$end" | make_stream read
	holds 'two transitions' read 0
	is 'babeltrace2 prints the events readably' "$(babeltrace2 --clock-gmt --clock-date --no-delta "$tmp/read")" \
'[2023-11-14 22:13:20.000000005] here transition: { probe_id = 7, tid = 11, addr = 0x7FFFDEADBEEF, seq = 2, is_active = ( "running" : container = 1 ) }
[2023-11-14 22:13:21.000000006] here transition: { probe_id = 7, tid = 11, addr = 0x0, seq = 4, is_active = ( "suspended" : container = 0 ) }'
fi
done_testing
