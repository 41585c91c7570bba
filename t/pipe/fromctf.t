#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# CTF to a stream: traces of ctp-toctf are reproduced, also through libbabeltrace2; other traces get classes of their own.
. t/helper/tap.sh
from=$BIN/ctp-fromctf to=$BIN/ctp-toctf json=$BIN/ctp-tojsonl
[ -x "$from" ] || skip_all 'ctp-fromctf was left out: there is no libbabeltrace2'

# All records of a stream, sorted, since late records change the order; the lines of a section have its number.
said() { "$json" -qa "$1" | grep -v '^{"type":"@schema"' | sed 's/,"late":true}$/}/' |
	awk '/^[{]"type":"@section"/ { n++ } { print n, $0 }' | LC_ALL=C sort; }
schemas() { "$json" -qa "$1" | grep '^{"type":"@schema"' | LC_ALL=C sort -u; }
# With one more comment the metadata is not that of ctp-toctf any more, so libbabeltrace2 reads it.
touch_metadata() { find "$1" -name metadata -exec sh -c 'echo "/* and more */" >>"$0"' {} \;; }

# --- what ctp-toctf wrote -----------------------------------------------------------------------------------------------------
for seed in 1 2 3 4; do
	"$O/t/helper/randstream" "$seed" >"$tmp/rand.ctp"
	rm -rf "$tmp/rand"
	"$to" -q -o "$tmp/rand" "$tmp/rand.ctp"
	said "$tmp/rand.ctp" >"$tmp/want"
	schemas "$tmp/rand.ctp" >"$tmp/want.schemas"
	for way in quick babeltrace2; do
		"$from" -q -o "$tmp/back.ctp" "$tmp/rand"
		is "seed $seed, $way: truncated sections and losses give status 3" $? 3
		said "$tmp/back.ctp" >"$tmp/got"
		ok "seed $seed, $way: every record is reproduced" cmp "$tmp/want" "$tmp/got"
		schemas "$tmp/back.ctp" >"$tmp/got"
		ok "seed $seed, $way: every class is reproduced" cmp "$tmp/want.schemas" "$tmp/got"
		touch_metadata "$tmp/rand"
	done
done

cat >"$tmp/edge.jsonl" <<'JSONL'
{"type":"@section","attrs":{"host":"h","pid":"17","argv":["./a b","",";"],"wall_offset_ns":"1700000000000000000","odd \u0001\"\\\n":"é\udcff"}}
{"type":"@schema","name":"odd \"\\\n é","kind":"other","fields":[{"name":"ts","type":"u64","role":"time","pred":"time","unit":"ns"},{"name":"a b","type":"u64"},{"name":"a_b","type":"i64"},{"name":"s","type":"string"},{"name":"y","type":"bytes"},{"name":"e","type":"enum","labels":{"one":1,"all":18446744073709551615}}]}
{"type":"odd \"\\\n é","ts":0,"a b":0,"a_b":0,"s":"","y":"","e":"one"}
{"type":"odd \"\\\n é","ts":1,"a b":4294967296,"a_b":-9223372036854775808,"s":"é, \"\n","y":"00ff","e":"all"}
{"type":"odd \"\\\n é","ts":2,"a b":9223372036854775808,"a_b":9223372036854775807,"s":"\u0000\udcff","y":"00","e":0}
{"type":"odd \"\\\n é","ts":1000000000000,"a b":18446744073709551615,"a_b":-1,"s":"x","y":"","e":255}
{"type":"odd \"\\\n é","ts":9223372036854775808,"a b":1,"a_b":-1,"s":"x","y":"","e":256}
{"type":"odd \"\\\n é","ts":18446744073709551615,"a b":1,"a_b":-1,"s":"LONG","y":"","e":0}
{"type":"@end","complete":true}
{"type":"@section","attrs":{"nothing":"in it"}}
{"type":"@end","complete":true}
{"type":"@section","attrs":{}}
{"type":"@schema","name":"untimed","kind":"other","fields":[{"name":"n","type":"u8"}]}
{"type":"untimed","n":1}
{"type":"untimed","n":2}
{"type":"@end","complete":true}
{"type":"@section","attrs":{}}
{"type":"@schema","name":"stripped","kind":"other","fields":[{"name":"_event","type":"u8"},{"name":"event","type":"u8"},{"name":"y","type":"bytes"},{"name":"y_length","type":"u8"}]}
{"type":"stripped","_event":1,"event":2,"y":"00","y_length":3}
{"type":"@end","complete":true}
JSONL
sed -i "s/LONG/$(head -c 65536 /dev/zero | tr '\0' x)/" "$tmp/edge.jsonl"
"$BIN/ctp-fromjsonl" -q -o "$tmp/edge.ctp" "$tmp/edge.jsonl"
"$to" -o "$tmp/edge" "$tmp/edge.ctp"
"$from" "$tmp/edge" >"$tmp/edge2.ctp"
is 'extreme values end with status 0' $? 0
"$json" -a "$tmp/edge2.ctp" >"$tmp/out"
ok 'extreme values, odd names, an empty section and one without times are reproduced byte for byte' cmp "$tmp/edge.jsonl" "$tmp/out"
touch_metadata "$tmp/edge/0001"
touch_metadata "$tmp/edge/0004"
"$from" "$tmp/edge/0001" "$tmp/edge/0002" "$tmp/edge/0003" "$tmp/edge/0004" | "$json" -a >"$tmp/out"
ok 'libbabeltrace2 reproduces them, with one operand for each section' cmp "$tmp/edge.jsonl" "$tmp/out"

"$BIN/ctp-collect" -q "$O/examples/lostwake" >"$tmp/live.ctp" 2>/dev/null
"$to" -o "$tmp/live" "$tmp/live.ctp"
"$json" -qa "$tmp/live.ctp" >"$tmp/want"
"$from" -q "$tmp/live" | "$json" -qa >"$tmp/out"
ok 'a collected trace is reproduced byte for byte' cmp "$tmp/want" "$tmp/out"
if command -v babeltrace2 >/dev/null; then
	babeltrace2 "$tmp/live" -c sink.ctf.fs -p "path=\"$tmp/copy\",assume-single-trace=yes,quiet=yes" 2>"$tmp/err"
	"$from" -q "$tmp/copy" | "$json" -qa >"$tmp/out"
	ok 'a copy by babeltrace2 gives the same' cmp "$tmp/want" "$tmp/out"
fi

# Names that are escaped for Trace Compass, beside a field that has the escaped name.
schema='{"type":"@schema","name":"x","kind":"other","fields":[{"name":"ts","type":"u64","role":"time","pred":"time"},{"name":"s","type":"string","role":"name"},{"name":"n","type":"u64"},{"name":"_s_ascii","type":"string"}]}'
{
	printf '%s\n' '{"type":"@section","attrs":{}}' "$schema"
	for ts in 1 18446744073709551615; do
		for s in plain Straße 😀 '\n' '\\x0a' '*' '\udcff' '\u0000' ''; do
			printf '{"type":"x","ts":%s,"s":"%s","n":%s,"_s_ascii":"%s"}\n' $ts "$s" 1 x $ts "$s" 18446744073709551615 x $ts "$s" 1 €
		done
	done
	echo '{"type":"@end","complete":true}'
} >"$tmp/names.jsonl"
"$BIN/ctp-fromjsonl" -q "$tmp/names.jsonl" | "$to" -o "$tmp/names"
"$from" "$tmp/names" | "$json" -a >"$tmp/out"
ok 'escaped names are reproduced byte for byte' cmp "$tmp/names.jsonl" "$tmp/out"
if command -v babeltrace2 >/dev/null; then
	babeltrace2 "$tmp/names" -c sink.ctf.fs -p "path=\"$tmp/names.copy\",assume-single-trace=yes,quiet=yes" 2>"$tmp/err"
	"$from" "$tmp/names.copy" | "$json" -a >"$tmp/out"
	ok 'a copy by babeltrace2 gives the same names' cmp "$tmp/names.jsonl" "$tmp/out"
fi
touch_metadata "$tmp/names"
"$from" "$tmp/names" 2>"$tmp/err" | "$json" -a >"$tmp/out"
ok 'libbabeltrace2 gives the same names' cmp "$tmp/names.jsonl" "$tmp/out"
is 'libbabeltrace2 reads them without a message' "$(cat "$tmp/err")" ''
# A wide event as it was before there were spellings.
{
	printf '%s\n' '{"type":"@section","attrs":{}}' "$schema" '{"type":"x","ts":1,"s":"é","n":4294967296,"_s_ascii":"y"}' '{"type":"@end","complete":true}'
} >"$tmp/old.jsonl"
"$BIN/ctp-fromjsonl" -q "$tmp/old.jsonl" | "$to" -o "$tmp/old"
is 'a wide event ends with two spellings' "$(tail -c 9 "$tmp/old/stream_0" | tr '\0' .)" '\u00e9.y.'
sed -i '/^\t\tstring /d' "$tmp/old/metadata"
if command -v python3 >/dev/null; then
	python3 - "$tmp/old/stream_0" <<'PYTHON'
import struct, sys
data = open(sys.argv[1], 'rb').read()[:-9]
bits = struct.pack('<QQ', 8 * len(data), 8 * len(data))
open(sys.argv[1], 'wb').write(data[:48] + bits + data[64:])
PYTHON
	"$from" "$tmp/old" 2>"$tmp/err" | "$json" -a >"$tmp/out"
	ok 'a wide event without them is read' cmp "$tmp/old.jsonl" "$tmp/out"
	is 'it is read without a message' "$(cat "$tmp/err")" ''
fi

# Two streams, as where records were late, and long enough for marks: made of two traces.
if command -v python3 >/dev/null; then
	python3 - "$tmp" <<'PYTHON'
import sys
schema = '{"type":"@schema","name":"n","kind":"other","fields":[{"name":"ts","type":"u64","role":"time","pred":"time"}]}'
for name, first in ('even', 0), ('odd', 1):
	with open('%s/%s' % (sys.argv[1], name), 'w') as f:
		print('{"type":"@section","attrs":{}}', schema, sep='\n', file=f)
		for ts in range(first, 20000, 2):
			print('{"type":"n","ts":%d}' % ts, file=f)
		print('{"type":"@end","complete":true}', file=f)
PYTHON
	for name in even odd; do "$BIN/ctp-fromjsonl" -q "$tmp/$name" | "$to" -o "$tmp/$name.ctf"; done
	python3 - "$tmp" <<'PYTHON'
import struct, sys
even, odd = ('%s/%s.ctf/stream_0' % (sys.argv[1], name) for name in ('even', 'odd'))
uuid, data, at = open(even, 'rb').read()[4:20], bytearray(open(odd, 'rb').read()), 0
while at < len(data):
	data[at + 4:at + 20] = uuid
	data[at + 24:at + 32] = struct.pack('<Q', 1)
	at += struct.unpack_from('<Q', data, at + 56)[0] // 8
open(even[:-1] + '1', 'wb').write(data)
PYTHON
	for way in quick babeltrace2; do
		"$from" "$tmp/even.ctf" | "$json" -a | sed -n 's/^[{]"type":"n","ts"://p' >"$tmp/out"
		seq 0 19999 | sed 's/$/}/' >"$tmp/merged"
		ok "$way: streams are merged by time" cmp "$tmp/merged" "$tmp/out"
		touch_metadata "$tmp/even.ctf"
	done
fi

sed -i 's/ctp_class_0 = "/&?/' "$tmp/live/metadata"
"$from" "$tmp/live" 2>"$tmp/err" >"$tmp/out.ctp"
like 'an invalid environment is reported' "$(cat "$tmp/err")" 'the environment is not what ctp-toctf wrote: .*; read as any other$'
is 'its events are kept' "$("$json" -qa "$tmp/out.ctp" | grep -c '^{"type":"transition","ts":')" "$(grep -c '^{"type":"transition"' "$tmp/want")"

# --- damage -------------------------------------------------------------------------------------------------------------------
fails() { # NAME FOLDER PATTERN: one line, no file
	rm -f "$tmp/none.ctp"
	"$from" -o "$tmp/none.ctp" "$2" 2>"$tmp/err"
	is "$1: status 1" $? 1
	is "$1: no file" "$(ls "$tmp/none.ctp" 2>/dev/null)" ''
	is "$1: one line" "$(wc -l <"$tmp/err")" 1
	like "$1: the message says why" "$(cat "$tmp/err")" "$3"
}
hurt() { rm -rf "$tmp/hurt" && cp -r "$tmp/edge/0003" "$tmp/hurt"; }
size=$(wc -c <"$tmp/edge/0003/stream_0")
cut=0
while [ "$cut" -lt "$size" ]; do
	hurt
	truncate -s "$cut" "$tmp/hurt/stream_0"
	"$from" -o "$tmp/none.ctp" "$tmp/hurt" 2>>"$tmp/cuts"
	[ $? = 1 ] && [ ! -e "$tmp/none.ctp" ] || diag "cut at $cut: taken for whole"
	cut=$((cut + 1))
done
is 'a stream cut at any byte fails, in one line each' "$(grep -c '^ctp-fromctf: .*/hurt.*: .*cut short' "$tmp/cuts")" "$size"
hurt && printf x | dd of="$tmp/hurt/stream_0" bs=1 seek=2 conv=notrunc 2>/dev/null
fails 'a packet of something else' "$tmp/hurt" 'hurt/stream_0: packet at 0x0: is not one of this trace'
hurt && printf '\377' | dd of="$tmp/hurt/stream_0" bs=1 seek=72 conv=notrunc 2>/dev/null
fails 'an event that is none' "$tmp/hurt" 'hurt/stream_0: packet at 0x0: ends within an event'
hurt && rm "$tmp/hurt/stream_0"
fails 'a stream that is gone' "$tmp/hurt" 'hurt/stream_0: No such file'
hurt && touch_metadata "$tmp/hurt" && truncate -s 80 "$tmp/hurt/stream_0"
fails 'a cut stream, to libbabeltrace2' "$tmp/hurt" '^ctp-fromctf: .*/hurt: .*; babeltrace2 .*/hurt says more$'
hurt && echo 'event {' >>"$tmp/hurt/metadata"
fails 'metadata that is none' "$tmp/hurt" '^ctp-fromctf: .*/hurt: .*; babeltrace2 .*/hurt says more$'
# CTF 2: its metadata is JSON, each object after a record separator; LTTng has it in packets.
mkdir "$tmp/ctf2" "$tmp/packed"
printf '\036{"type":"preamble","version":2}\n\036{"type":"trace-class"}\n' >"$tmp/ctf2/metadata"
{ printf '\127\035\321\165' && head -c 31 /dev/zero && printf '\2\0' && cat "$tmp/ctf2/metadata"; } >"$tmp/packed/metadata"
case $(babeltrace2 --version 2>/dev/null) in
*' 2.0.'*)
	for form in ctf2 packed; do
		fails "CTF 2, $form" "$tmp/$form" "/$form: is CTF 2, which libbabeltrace2 2\.0\.[0-9]+ does not read: version 2\.1 and later do\$"
	done
	;;
esac
mkdir "$tmp/folder" && fails 'a folder without a trace' "$tmp/folder" 'folder: is no CTF trace: no folder there has a file called metadata'
fails 'a path that is not there' "$tmp/nowhere" 'nowhere: No such file or directory'
mkfifo "$tmp/folder/metadata" && fails 'a pipe for metadata' "$tmp/folder" 'folder: is no CTF trace'
hurt && mkfifo "$tmp/hurt/stream_1" && fails 'a pipe for a stream' "$tmp/hurt" 'hurt/stream_1: is not a regular file'
"$from" </dev/null 2>"$tmp/err" >/dev/null
is 'a missing operand is a usage error' $? 2
"$from" "$tmp/edge" 2>"$tmp/err" >/dev/full
is 'a full disk: status 1' $? 1
like 'a full disk is reported' "$(cat "$tmp/err")" 'stdout: .*No space left on device'
ln -s "$tmp/edge" "$tmp/link" && ln -s "$tmp/edge" "$tmp/edge/loop"
"$from" "$tmp/link" | "$json" -a >"$tmp/out"
ok 'a link is followed as an operand, and ignored in a folder' cmp "$tmp/edge.jsonl" "$tmp/out"
done_testing
