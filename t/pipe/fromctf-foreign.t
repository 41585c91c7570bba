#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# CTF traces of other tracers: every kind of field, several streams, odd clocks, lost events, limits. Made by hand, and by
# babeltrace2.
. t/helper/tap.sh
from=$BIN/ctp-fromctf json=$BIN/ctp-tojsonl
[ -x "$from" ] || skip_all 'ctp-fromctf was left out: there is no libbabeltrace2'
command -v python3 >/dev/null || skip_all 'there is no python3 to make traces with'

cat >"$tmp/ctf.py" <<'PYTHON'
import os, struct

TYPES = '''
typealias integer { size = 8; align = 8; } := u8;
typealias integer { size = 16; align = 8; } := u16;
typealias integer { size = 32; align = 8; } := u32;
typealias integer { size = 64; align = 8; } := u64;
typealias integer { size = 64; align = 8; base = hex; } := x64;
typealias integer { size = 8; align = 8; signed = true; } := i8;
typealias integer { size = 16; align = 8; signed = true; } := i16;
typealias integer { size = 32; align = 8; signed = true; } := i32;
typealias integer { size = 64; align = 8; signed = true; } := i64;
typealias floating_point { exp_dig = 8; mant_dig = 24; align = 8; } := f32;
typealias floating_point { exp_dig = 11; mant_dig = 53; align = 8; } := f64;
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; u8 stream_id; }; };
'''
# For a clock that is called ticks.
TIMED = '''
typealias integer { size = 64; align = 8; map = clock.ticks.value; } := at;
struct context { at timestamp_begin; at timestamp_end; u64 content_size; u64 packet_size; u64 events_discarded; u32 cpu_id; };
'''

def trace(path, metadata, streams):
	os.makedirs(path)
	with open(path + '/metadata', 'w') as f:
		f.write('/* CTF 1.8 */\n' + TYPES + metadata)
	for name, packets in streams.items():
		with open(path + '/' + name, 'wb') as f:
			f.write(b''.join(packets))

def packet(stream, cpu, lost, events):
	body = b''.join(struct.pack('<HQ', id, ts) + rest for id, ts, rest in events)
	bits = 8 * (49 + len(body))
	return struct.pack('<IBQQQQQI', 0xc1fc1fc1, stream, events[0][1], events[-1][1], bits, bits, lost, cpu) + body
PYTHON
make_trace() { (cd "$tmp" && python3 -); }

# --- every kind of field ------------------------------------------------------------------------------------------------------
make_trace <<'PYTHON'
from ctf import *
META = '''
env { hostname = "h\\"x"; vpid = 17; name = "n"; number = -3; };
clock { name = ticks; freq = 1000; offset_s = 100; offset = 500; absolute = TRUE; };
''' + TIMED + '''
stream { id = 0; packet.context := struct context; event.header := struct { u16 id; at timestamp; };
	event.context := struct { i32 _vtid; }; };
stream { id = 1; packet.context := struct context; event.header := struct { u16 id; at timestamp; }; };
event { name = "numbers"; id = 0; stream_id = 0; context := struct { u32 own; };
	fields := struct { u8 a; u16 b; u32 c; u64 d; i8 e; i16 f; i32 g; i64 h; x64 ip; f32 r; f64 s; string ts; }; };
event { name = "shapes"; id = 1; stream_id = 0; fields := struct {
	struct { u8 x; struct { i16 y; } in; } a;
	u8 n; u16 seq[n]; u8 count; u8 raw[count]; i8 fixed[2];
	struct { i8 k; string s; f64 d; enum : u8 { one = 1 } e; } many[2];
	enum : u8 { none = 0, word = 1, pair = 2 } tag;
	variant <tag> { struct {} none; string word; struct { u8 l; u8 r; } pair; } v;
	enum : i8 { minus = -1, few = 1 ... 2, lots = 3 ... 127 } e; }; };
event { name = "other"; id = 7; stream_id = 1; fields := struct { u8 tid; }; };
'''
def numbers(ts, *v):
	return 0, ts, struct.pack('<iIBHIQbhiqQfd', *v[:-1]) + v[-1] + b'\0'
def shapes(ts, seq, raw, tag, v, e):
	many = b'\xff"\xff\0' + struct.pack('<dB', 0.5, 1) + b'\2\0' + struct.pack('<dB', float('inf'), 9)
	return 1, ts, struct.pack('<iBhB%dHB' % len(seq), 5, 1, -2, len(seq), *seq, len(raw)) + raw + b'\x80\x01' + many + \
		bytes([tag]) + v + struct.pack('<b', e)
M = 2 ** 64 - 1
trace('all', META, {
	's0': [packet(0, 3, 0, [numbers(1, 9, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, b''),
		numbers(4, 9, 8, 255, 65535, 2**32 - 1, M, -128, -2**15, -2**31, -2**63, M, 0.1, 0.1, b'"\xff,\n')]),
		packet(0, 2, 7, [shapes(6, [], b'', 0, b'', 1), shapes(8, [1, 2], b'\0\xff', 1, b'w\0', -1),
		shapes(9, [65535], b'x', 2, b'\1\2', 100)])],
	's1': [packet(1, 0, 0, [(7, 2, b'\5'), (7, 7, b'\6')])],
})
PYTHON
"$from" "$tmp/all" >"$tmp/all.ctp" 2>"$tmp/err"
is 'a trace with lost events gives status 3' $? 3
is 'the losses are reported' "$(cat "$tmp/err")" "ctp-fromctf: $tmp/all: 7 events are missing: the tracer had no room for them"
"$json" -qa "$tmp/all.ctp" | sed "s|$tmp/||; s|ctp-fromctf [0-9.]*|TOOL|" >"$tmp/out"
cat >"$tmp/want" <<'JSONL'
{"type":"@section","attrs":{"tool":"TOOL","source":"all","clock":"ticks","wall_offset_ns":"100500000000","host":"h\"x","pid":"17","env.name":"n","env.number":"-3"}}
{"type":"@schema","name":"numbers","kind":"other","fields":[{"name":"ts","type":"u64","role":"time","pred":"time","unit":"ns"},{"name":"packet.cpu_id","type":"u32","pred":"prev"},{"name":"ctx.vtid","type":"i32","role":"thread","pred":"prev"},{"name":"ctx.own","type":"u32","pred":"prev"},{"name":"a","type":"u8","pred":"prev"},{"name":"b","type":"u16","pred":"prev"},{"name":"c","type":"u32","pred":"prev"},{"name":"d","type":"u64","pred":"prev"},{"name":"e","type":"i8","pred":"prev"},{"name":"f","type":"i16","pred":"prev"},{"name":"g","type":"i32","pred":"prev"},{"name":"h","type":"i64","pred":"prev"},{"name":"ip","type":"u64","pred":"prev","hex":true},{"name":"r","type":"f32","pred":"prev"},{"name":"s","type":"f64","pred":"prev"},{"name":"ts_2","type":"string","pred":"prev"}]}
{"type":"numbers","ts":1000000,"packet.cpu_id":3,"ctx.vtid":9,"ctx.own":8,"a":0,"b":0,"c":0,"d":0,"e":0,"f":0,"g":0,"h":0,"ip":"0x0000000000000000","r":0,"s":0,"ts_2":""}
{"type":"@schema","name":"other","kind":"other","fields":[{"name":"ts","type":"u64","role":"time","pred":"time","unit":"ns"},{"name":"packet.cpu_id","type":"u32","pred":"prev"},{"name":"tid","type":"u8","role":"thread","pred":"prev"}]}
{"type":"other","ts":2000000,"packet.cpu_id":0,"tid":5}
{"type":"numbers","ts":4000000,"packet.cpu_id":3,"ctx.vtid":9,"ctx.own":8,"a":255,"b":65535,"c":4294967295,"d":18446744073709551615,"e":-128,"f":-32768,"g":-2147483648,"h":-9223372036854775808,"ip":"0xffffffffffffffff","r":0.1,"s":0.1,"ts_2":"\"\udcff,\n"}
{"type":"@schema","name":"shapes","kind":"other","fields":[{"name":"ts","type":"u64","role":"time","pred":"time","unit":"ns"},{"name":"packet.cpu_id","type":"u32","pred":"prev"},{"name":"ctx.vtid","type":"i32","role":"thread","pred":"prev"},{"name":"a.x","type":"u8","pred":"prev"},{"name":"a.in.y","type":"i16","pred":"prev"},{"name":"seq","type":"string","pred":"prev"},{"name":"raw","type":"bytes","pred":"prev"},{"name":"fixed","type":"bytes","pred":"prev"},{"name":"many","type":"string","pred":"prev"},{"name":"tag","type":"enum","pred":"prev","labels":{"none":0,"word":1,"pair":2}},{"name":"v","type":"enum","pred":"prev","labels":{"none":0,"word":1,"pair":2}},{"name":"v.word","type":"string","pred":"prev"},{"name":"v.pair.l","type":"u8","pred":"prev"},{"name":"v.pair.r","type":"u8","pred":"prev"},{"name":"e","type":"enum","pred":"prev","labels":{"minus":18446744073709551615,"few (1)":1,"few (2)":2}}]}
{"type":"shapes","ts":6000000,"packet.cpu_id":2,"ctx.vtid":5,"a.x":1,"a.in.y":-2,"seq":"[]","raw":"","fixed":"8001","many":"[{\"k\":-1,\"s\":\"\\\"\\udcff\",\"d\":0.5,\"e\":\"one\"},{\"k\":2,\"s\":\"\",\"d\":\"Infinity\",\"e\":9}]","tag":"none","v":"none","v.word":"","v.pair.l":0,"v.pair.r":0,"e":"few (1)"}
{"type":"other","ts":7000000,"packet.cpu_id":0,"tid":6}
{"type":"shapes","ts":8000000,"packet.cpu_id":2,"ctx.vtid":5,"a.x":1,"a.in.y":-2,"seq":"[1,2]","raw":"00ff","fixed":"8001","many":"[{\"k\":-1,\"s\":\"\\\"\\udcff\",\"d\":0.5,\"e\":\"one\"},{\"k\":2,\"s\":\"\",\"d\":\"Infinity\",\"e\":9}]","tag":"word","v":"word","v.word":"w","v.pair.l":0,"v.pair.r":0,"e":"minus"}
{"type":"@schema","name":"lost","kind":"loss","fields":[{"name":"ts","type":"u64","role":"time","pred":"time","unit":"ns"},{"name":"probe_id","type":"u64","role":"probe","pred":"same"},{"name":"coro","type":"u64","role":"coroutine","pred":"key"},{"name":"index","type":"u64","role":"sequence"},{"name":"count","type":"u64","role":"count"},{"name":"unverified","type":"u64","role":"unverified","pred":"prev"},{"name":"after","type":"u64","role":"time","unit":"ns"}]}
{"type":"lost","ts":9000000,"probe_id":0,"coro":0,"index":0,"count":7,"unverified":0,"after":4000000}
{"type":"shapes","ts":9000000,"packet.cpu_id":2,"ctx.vtid":5,"a.x":1,"a.in.y":-2,"seq":"[65535]","raw":"78","fixed":"8001","many":"[{\"k\":-1,\"s\":\"\\\"\\udcff\",\"d\":0.5,\"e\":\"one\"},{\"k\":2,\"s\":\"\",\"d\":\"Infinity\",\"e\":9}]","tag":"pair","v":"pair","v.word":"","v.pair.l":1,"v.pair.r":2,"e":100}
{"type":"@end","complete":true}
JSONL
ok 'every kind of field is as the manual says' diff "$tmp/want" "$tmp/out"
if /usr/bin/python3 -c 'import bt2' 2>/dev/null; then
	/usr/bin/python3 - "$tmp/all" >"$tmp/want" <<'PYTHON'
import bt2, sys
origin = 100500000000
for m in bt2.TraceCollectionMessageIterator(sys.argv[1]):
	if type(m) is bt2._EventMessageConst:
		e = m.event
		print(e.name, m.default_clock_snapshot.ns_from_origin - origin, int(e.packet.context_field['cpu_id']),
		      [int(v) for k, v in e.payload_field.items() if e.name != 'shapes' and (k in 'abcdefgh' or k == 'tid')])
PYTHON
	python3 - "$tmp/out" >"$tmp/got" <<'PYTHON'
import json, sys
for line in open(sys.argv[1]):
	r = json.loads(line)
	name = r['type']
	if name[0] != '@' and name != 'lost':
		print(name, r['ts'], r['packet.cpu_id'], [r[k] for k in r if name != 'shapes' and (k in 'abcdefgh' or k == 'tid')])
PYTHON
	ok "babeltrace2's own binding finds the same" diff "$tmp/want" "$tmp/got"
fi

# --- clocks -------------------------------------------------------------------------------------------------------------------
make_trace <<'PYTHON'
from ctf import *
trace('clocks', '''
clock { name = ticks; freq = 1000000000; offset_s = 7; absolute = TRUE; };
clock { name = later; freq = 1000000000; offset_s = 8; absolute = TRUE; };
typealias integer { size = 64; align = 8; map = clock.later.value; } := later;
''' + TIMED + '''
struct other { later timestamp_begin; later timestamp_end; u64 content_size; u64 packet_size; u64 events_discarded; u32 cpu_id; };
stream { id = 0; packet.context := struct other; event.header := struct { u16 id; later timestamp; }; };
stream { id = 1; packet.context := struct context; event.header := struct { u16 id; at timestamp; }; };
event { name = "a"; id = 0; stream_id = 0; fields := struct { u8 n; }; };
event { name = "b"; id = 0; stream_id = 1; fields := struct { u8 n; }; };
''', {'a': [packet(0, 0, 0, [(0, 1, b'\1'), (0, 3, b'\2')])],
	'b': [packet(1, 0, 0, [(0, 5, b'\3'), (0, 10**9 + 2, b'\4')])]})
trace('relative', 'clock { name = ticks; freq = 1000000000; offset_s = 7; };' + TIMED + '''
stream { packet.context := struct context; event.header := struct { u16 id; at timestamp; }; };
event { name = "a"; id = 0; fields := struct { u8 n; }; };
''', {'a': [packet(0, 0, 0, [(0, 1, b'\1'), (0, 2**62, b'\2')])]})
trace('back', 'clock { name = ticks; freq = 1000000000; };' + TIMED + '''
stream { packet.context := struct context; event.header := struct { u16 id; at timestamp; }; };
event { name = "a"; id = 0; fields := struct { u8 n; }; };
''', {'a': [packet(0, 0, 0, [(0, ts, b'\1') for ts in list(range(10, 3000)) + [3, 4000]])]})
trace('packets', 'clock { name = ticks; freq = 1000000000; };' + TIMED + '''
stream { packet.context := struct { at timestamp_begin; at timestamp_end; u64 content_size; u64 packet_size; u64 packet_seq_num; };
	event.header := struct { u8 id; at timestamp; }; };
event { name = "a"; id = 0; fields := struct { u8 n; }; };
''', {'a': [struct.pack('<IBQQQQQBQB', 0xc1fc1fc1, 0, ts, ts, 8 * 55, 8 * 55, number, 0, ts, 1) for ts, number in ((5, 0), (9, 4))]})
trace('first', 'clock { name = ticks; freq = 1000000000; };' + TIMED + '''
stream { packet.context := struct context; event.header := struct { u16 id; at timestamp; }; };
event { name = "a"; id = 0; fields := struct { u8 n; }; };
''', {'a': [packet(0, 0, 5, [(0, 1, b'\1'), (0, 3, b'\2')])]})
trace('half', 'clock { name = ticks; freq = 1000000000; };' + TIMED + '''
stream { packet.context := struct context; event.header := struct { u16 id; at timestamp; }; };
event { name = "a"; id = 0; fields := struct { u32 n; }; };
''', {'a': [packet(0, 0, 0, [(0, 1, b'1234'), (0, 3, b'12')])]})
far = packet(0, 0, 0, [(0, 1, b'\1'), (0, 2**60, b'\2')])
trace('far', 'clock { name = ticks; freq = 1000; };' + TIMED + '''
stream { packet.context := struct context; event.header := struct { u16 id; at timestamp; }; };
event { name = "a"; id = 0; fields := struct { u8 n; }; };
''', {'a': [far[:13] + far[5:13] + far[21:]]})
trace('timeless', '''
stream { packet.context := struct { u64 content_size; u64 packet_size; }; event.header := struct { u8 id; }; };
event { name = "a"; id = 0; fields := struct { u8 n; }; };
event { name = ""; id = 1; };
''', {'a': [struct.pack('<IBQQBBBBB', 0xc1fc1fc1, 0, 8 * 26, 8 * 26, 0, 9, 1, 0, 8)]})
PYTHON
rows() { "$from" "$tmp/$1" | "$json" -qa | grep -v '^{"type":"@[es]'; }
is 'the section has the clock that begins first' \
	"$("$from" "$tmp/clocks" | "$json" -qa | grep -c '"clock":"ticks","wall_offset_ns":"7000000000"')" 1
is 'times of both clocks are converted to it, in order' "$(rows clocks | sed 's/"packet.cpu_id":0,//' | tr -d '\n')" \
	'{"type":"b","ts":5,"n":3}{"type":"a","ts":1000000001,"n":1}{"type":"b","ts":1000000002,"n":4}{"type":"a","ts":1000000003,"n":2}'
is 'a clock that does not count from 1970 has no wall_offset_ns' "$("$from" "$tmp/relative" | "$json" -qa | grep -c wall_offset)" 0
is 'such a clock keeps its times' "$(rows relative | tr -d '\n')" \
	'{"type":"a","ts":1,"packet.cpu_id":0,"n":1}{"type":"a","ts":4611686018427387904,"packet.cpu_id":0,"n":2}'
is 'without a clock there are no times, and an event without a name has its number' "$(rows timeless | tr -d '\n')" \
	'{"type":"a","n":9}{"type":"event_1"}{"type":"a","n":8}'
is 'an event that goes back in time is kept as late' "$("$from" -v "$tmp/back" 2>"$tmp/err" | "$json" -qa |
	sed -n '/"ts":3,/p')$(cat "$tmp/err")" \
	'{"type":"a","ts":3,"packet.cpu_id":0,"n":1,"late":true}ctp-fromctf: 2992 rows kept, 0 rejected, 1 late'
is 'missing packets count as lost events' "$(rows packets 2>"$tmp/err" | tr -d '\n')" \
	'{"type":"a","ts":5,"n":1}{"type":"lost","ts":9,"probe_id":0,"coro":0,"index":0,"count":3,"unverified":0,"after":5}{"type":"a","ts":9,"n":1}'
like 'events lost before the first packet count as at least one' "$(rows first 2>/dev/null)" '"type":"lost",.*"count":1,'
"$from" -o "$tmp/none.ctp" "$tmp/half" 2>"$tmp/err"
is 'a last packet that ends within an event: status 1, no file' "$? $(ls "$tmp/none.ctp" 2>/dev/null)" '1 '
like 'a last packet that ends within an event is reported' \
	"$(cat "$tmp/err")" 'half: after 1 events: a stream ends within an event$'
is 'a time too large for nanoseconds becomes the largest time' "$(rows far | sed 's/"packet.cpu_id":0,//' | tr -d '\n')" \
	'{"type":"a","ts":1000000,"n":1}{"type":"a","ts":9223372036854775807,"n":2}'

# --- limits -------------------------------------------------------------------------------------------------------------------
make_trace <<'PYTHON'
from ctf import *
START = 'clock { name = ticks; freq = 1000000000; };' + TIMED + \
	'stream { packet.context := struct context; event.header := struct { u16 id; at timestamp; }; };\n'
long = 'x' * 300
trace('fields', START +
	'event { name = "wide"; id = 0; fields := struct { %s }; };\n' % ' '.join('u8 g%d;' % i for i in range(200)) +
	'event { name = "%s"; id = 1; fields := struct { u8 %s; u8 %sy; u8 ts; u8 ts_2; }; };' % (long, long, long),
	{'s': [packet(0, 0, 0, [(0, 1, bytes(range(200))), (1, 2, b'\1\2\3\4')])]})
for name, count in ('huge', 2**30), ('absurd', 2**32 - 1):
	trace(name, START + 'event { name = "text"; id = 0; fields := struct { u32 n; u16 a[n]; }; };',
		{'s': [packet(0, 0, 0, [(0, 1, struct.pack('<IH', count, 7))])]})
trace('classes', START + ''.join('event { name = "e%d"; id = %d; fields := struct { u8 f; }; };\n' % (i, i) for i in range(600)),
	{'s': [packet(0, 0, 0, [(i, i, b'\1') for i in range(600)])]})
trace('long', START + 'event { name = "text"; id = 0; fields := struct { u32 n; u16 a[n]; string s; u32 m; u8 b[m]; }; };',
	{'s': [packet(0, 0, 0, [(0, 1, struct.pack('<I', 400000) + b'\xff\xff' * 400000 + b's' * 1100000 + b'\0' +
		struct.pack('<I', 5) + b'12345')])]})
PYTHON
for trace in huge absurd; do
	"$from" --memory 256 -o "$tmp/none.ctp" "$tmp/$trace" 2>"$tmp/err"
	is "a $trace array: status 1, no file" "$? $(ls "$tmp/none.ctp" 2>/dev/null)" '1 '
	if grep -q Sanitizer "$tmp/err"; then
		note "a $trace array: said by the sanitizer, whose memory it is"
		continue
	fi
	is "a $trace array: one line" "$(grep -c . "$tmp/err") $(grep -c '^ctp-fromctf: libbabeltrace2 gave up: ' "$tmp/err")" '1 1'
	is "a $trace array: the message says what to do" "$(grep -c -e '--memory 256$' -e 'the trace is damaged$' "$tmp/err")" 1
done
"$from" --memory 1 "$tmp/huge" >/dev/null 2>&1
is 'too little memory to begin with is a usage error' $? 2
"$from" "$tmp/fields" 2>"$tmp/err" | "$json" -qa >"$tmp/out"
like 'fields beyond the 128th are reported' "$(cat "$tmp/err")" 'fields: event wide: 74 fields beyond the first 128 are left out$'
is 'the first 128 fields are kept' "$(grep -c '^{"type":"wide","ts":1,"packet.cpu_id":0,"g0":0,.*"g125":125}$' "$tmp/out")" 1
x=$(printf %0255d 0 | tr 0 x)
is 'long names are cut, and made different' "$(grep '^{"type":"x' "$tmp/out")" \
	"{\"type\":\"$x\",\"ts\":2,\"packet.cpu_id\":0,\"$x\":1,\"${x%???????????}_2\":2,\"ts_2\":3,\"ts_2_2\":4}"
"$from" "$tmp/classes" >"$tmp/out.ctp" 2>"$tmp/err"
is 'more than 512 classes end with status 3' $? 3
is 'the first 512 are kept' "$("$json" -qa "$tmp/out.ctp" | grep -c '^{"type":"e')" 512
like 'events of other classes are counted' "$(cat "$tmp/err")" '88 rejected'
"$from" "$tmp/long" >"$tmp/out.ctp" 2>"$tmp/err"
is 'texts of more than 1 MiB, and of more than 2 in an event, end with status 3' $? 3
like 'long texts are reported' "$(cat "$tmp/err")" 'long: 3 texts were too long, and were cut$'
is 'long texts are cut, all of an event to 2 MiB' "$("$json" -qa "$tmp/out.ctp" |
	sed -n '/^{"type":"text"/{s/.*"a":"\([^"]*\)","s":"\([^"]*\)","b":""}$/\1 \2/;p}' |
	awk '{ print length($1), length($2) }')" '1048576 1048576'

# --- traces that babeltrace2 makes --------------------------------------------------------------------------------------------
if command -v babeltrace2 >/dev/null; then
	printf '[    1.000001] one\n[    2.500000] two "words"\n' >"$tmp/dmesg"
	babeltrace2 -c source.text.dmesg -p "path=\"$tmp/dmesg\"" -c sink.ctf.fs \
		-p "path=\"$tmp/log\",assume-single-trace=yes,quiet=yes" 2>"$tmp/err"
	is 'a kernel log written by babeltrace2 is read' "$(rows log | tr -d '\n')" \
		'{"type":"string","ts":1000001000,"str":"one"}{"type":"string","ts":2500000000,"str":"two \"words\""}'
fi
mkdir "$tmp/session" && mv "$tmp/clocks" "$tmp/session/9" && mv "$tmp/relative" "$tmp/session/10"
is 'each trace below a folder is a section, in the order of their numbers' \
	"$("$from" "$tmp/session" | "$json" -qa | sed -n 's/.*"source":"[^"]*\/\([^"]*\)".*/\1/p' | tr '\n' ' ')" '9 10 '
done_testing
