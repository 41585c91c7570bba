#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# A stream to CSV and back: every form, judged by Python's csv module; extreme values; where an output or an input fails.
# In check-fast.
. t/helper/tap.sh
to=$BIN/ctp-tocsv from=$BIN/ctp-fromcsv json=$BIN/ctp-tojsonl fromjson=$BIN/ctp-fromjsonl
[ -x "$from" ] || skip_all 'built without libcsv: there is no ctp-fromcsv'
judge() { # plain|all STREAM [-a]
	"$json" -q ${3+"$3"} "$2" >"$tmp/judge.jsonl"
	"$to" -q ${3+"$3"} "$2" >"$tmp/judge.csv"
	python3 t/helper/csv-judge.py "$1" "$tmp/judge.csv" "$tmp/judge.jsonl"
}
has_python=$(command -v python3)
[ -z "$has_python" ] || python3 -c 'import csv; next(csv.reader(["\0"]))' 2>/dev/null || {
	has_python=
	skip 'what Python reads: before 3.11 it refuses a NUL'
}

# --- the plain form -------------------------------------------------------------------------------------------------------------
cat >"$tmp/plain.csv" <<'CSV'
probe_id,tid,addr,seq,is_active,ts
123,456,0x0000000000000000,2,true,123456789
123,456,0x00007fffdeadbeef,2,false,123456789
0,1,0x0000000000000000,0,false,123456790
18446744073709551615,18446744073709551615,0xffffffffffffffff,18446744073709551615,true,18446744073709551615
CSV
"$from" "$tmp/plain.csv" >"$tmp/plain.ctp"
is 'the plain form is read; a number that no coroutine can have is a conflict, status 3' $? 3
"$to" "$tmp/plain.ctp" >"$tmp/out"
ok 'the plain form is reproduced byte for byte' cmp "$tmp/plain.csv" "$tmp/out"
"$json" "$tmp/plain.ctp" | "$fromjson" | "$to" | cmp -s - "$tmp/plain.csv"
is 'JSONL reproduces the plain form' $? 0
[ -z "$has_python" ] || ok 'it is what Python writes' judge plain "$tmp/plain.ctp"
printf 'probe_id,tid,addr,seq,is_active,ts\n' >"$tmp/header.csv"
"$from" "$tmp/header.csv" >"$tmp/out.ctp"
is 'a header alone is a trace without events' $? 0
"$to" "$tmp/out.ctp" | cmp -s - "$tmp/header.csv"
is 'a trace without events gives the header alone' $? 0
: | "$to" >"$tmp/out" 2>"$tmp/err"
is 'an empty input gives the header alone, with status 3' "$? $(cat "$tmp/out")" "3 $(cat "$tmp/header.csv")"

# Transitions of other sources: by name, then by role; missing fields stay empty.
cat >"$tmp/other.jsonl" <<'JSONL'
{"type":"@section","attrs":{}}
{"type":"@schema","name":"sw","kind":"transition","fields":[{"name":"at","type":"u64","role":"time"},{"name":"tid","type":"u32"},{"name":"note","type":"string"},{"name":"state","type":"bool","role":"state"}]}
{"type":"sw","at":5,"tid":7,"note":"x","state":true}
{"type":"@end","complete":true}
JSONL
is 'a transition with other fields has them in the right columns' \
	"$("$fromjson" "$tmp/other.jsonl" | "$to" | tail -n 1)" ',7,,,true,5'

# --- the full form --------------------------------------------------------------------------------------------------------------
for seed in 1 2 3 4 5 6; do
	"$O/t/helper/randstream" "$seed" >"$tmp/random.ctp"
	[ -z "$has_python" ] || ok "random stream $seed: Python finds what JSONL says" judge all "$tmp/random.ctp" -a
	"$json" -qa "$tmp/random.ctp" | sort >"$tmp/want"
	"$to" -qa "$tmp/random.ctp" | "$from" -q >"$tmp/again.ctp"
	"$json" -qa "$tmp/again.ctp" | sort | sed 's/,"late":true}$/}/' >"$tmp/got"
	sed 's/,"late":true}$/}/' "$tmp/want" | sort >"$tmp/want.sorted"
	ok "random stream $seed: every record is reproduced" sh -c 'sort "$0" | cmp - "$1"' "$tmp/got" "$tmp/want.sorted"
	"$json" -qa "$tmp/random.ctp" | "$fromjson" -q | "$json" -qa >"$tmp/want"
	"$json" -qa "$tmp/again.ctp" >"$tmp/got"
	ok "random stream $seed: records have the same order as in JSONL" cmp "$tmp/want" "$tmp/got"
done
cat "$tmp/random.ctp" "$tmp/plain.ctp" "$tmp/plain.ctp" >"$tmp/three.ctp"
[ -z "$has_python" ] || ok 'a section that is there twice is there twice' judge all "$tmp/three.ctp" -a

# A late record is read in its place, so the order differs. This happens in one of a few hundred traces on a busy machine.
for _ in 1 2 3 4 5; do
	"$BIN/ctp-collect" -q -o "$tmp/lost.ctp" "$O/examples/lostwake" >/dev/null 2>&1
	"$json" -a "$tmp/lost.ctp" >"$tmp/want"
	grep -q '"late":true}$' "$tmp/want" || break
done
for options in -a '-a --wall'; do
	# shellcheck disable=SC2086
	"$to" $options "$tmp/lost.ctp" | "$from" | "$json" -a >"$tmp/got"
	ok "a collected trace is reproduced: $options" cmp "$tmp/want" "$tmp/got"
done
"$to" "$tmp/lost.ctp" >"$tmp/want"
"$from" "$tmp/want" | "$to" >"$tmp/got"
ok 'its transitions are reproduced' cmp "$tmp/want" "$tmp/got"

# Everything that a value can be. Python writes the stream's JSONL, for a shell has no NUL.
if [ "$has_python" ]; then
	python3 - >"$tmp/extreme.jsonl" <<'PYTHON'
import json
texts = ["", " ", "a", " a", "a ", "\ta", "a\t", ",", '"', '""', "a,b", 'a"b', "\n", "\r", "\r\n", "a\nb\n", "\0", "a\0b", "\ufeff", "\ufeffa",
         "true", "17", "-", "=1+1", "#", "'", "\\", "\\N", "é€😀", "\udcff\udc80", "\u0001\u001f\u007f", "\u00a0a", "x" * 65536, '"' * 65536,
         "\n," * 32768, "y" * (1 << 20)]
print('{"type":"@section","attrs":{"odd, \\"\\n":" x, \\"y\\"\\n"}}')
fields = [("s", "string"), ("u", "u64"), ("i", "i64"), ("h", "u64"), ("b", "bool"), ("e", "enum"), ("f", "f32"), ("d", "f64"), ("y", "bytes"), ("t", "string")]
schema = {"type": "@schema", "name": "every, \"thing\"", "kind": "other", "fields": [dict(name=n, type=t) for n, t in fields]}
schema["fields"][3]["hex"] = True
schema["fields"][5]["labels"] = {"a": 1, "b,": 2, " ": 5, "\n": 6, "a": 7, '"': 8}
print(json.dumps(schema))
numbers = [(0, 0, 0, 0.0), (2**63, -2**63, 1, 1e300), (2**64 - 1, 2**63 - 1, 2, 5e-324), (2**63 - 1, -1, 3, -0.0), (2**32, 1, 4, 1.5),
           (10**19, -10, 5, 0.1), (9, 9, 6, 2.0**53), (10, 10, 7, -1e-7), (99, 99, 8, 1.0)]
for n, text in enumerate(texts):
    u, i, e, d = numbers[n % len(numbers)]
    data = text.encode("utf-8", "surrogateescape")[:5000].hex()
    label = {1: 1, 2: "b,", 5: " ", 6: "\n", 7: "a", 8: '"'}.get(e, e)
    row = dict(type='every, "thing"', s=text, u=u, i=i, h="0x%016x" % u, b=bool(n % 2), e=label, f=["NaN", "Infinity", "-Infinity", 0.1][n % 4],
               d=d, y=data, t=text if len(text) < 2**20 else "z")
    print(json.dumps(row))
print(json.dumps({"type": "@schema", "name": "one", "kind": "other", "fields": [{"name": "only", "type": "string"}]}))
for text in texts:
    print(json.dumps({"type": "one", "only": text}))
print('{"type":"@end","complete":true}')
PYTHON
	"$fromjson" "$tmp/extreme.jsonl" >"$tmp/extreme.ctp"
	is 'extreme values are understood' $? 0
	ok 'Python reads the same values' judge all "$tmp/extreme.ctp" -a
	"$json" -a "$tmp/extreme.ctp" >"$tmp/want"
	"$to" -a "$tmp/extreme.ctp" | "$from" | "$json" -a >"$tmp/got"
	ok 'extreme values are reproduced' cmp "$tmp/want" "$tmp/got"
	"$to" --class one "$tmp/extreme.ctp" >"$tmp/one.csv"
	"$json" -a "$tmp/extreme.ctp" | grep '"type":"one"' | sed 's/"type":"one",//' >"$tmp/want"
	python3 - "$tmp/one.csv" >"$tmp/got" <<'PYTHON'
import csv, json, sys
csv.field_size_limit(1 << 24)
with open(sys.argv[1], encoding="utf-8", errors="surrogateescape", newline="") as f:
    for row in csv.DictReader(f):
        print(json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogateescape").decode("utf-8", "replace"))
PYTHON
	is 'a column alone has a line for an empty text too' "$(wc -l <"$tmp/got")" "$(wc -l <"$tmp/want")"
	"$from" --class one "$tmp/one.csv" | "$json" -a | grep -c '"type":"one"' >"$tmp/got"
	is 'a single column is read as a class of that name' "$(cat "$tmp/got")" "$(wc -l <"$tmp/want" | tr -d ' ')"
fi

# A label that looks like a number would be read as one.
labels='{"type":"@section","attrs":{}}
{"type":"@schema","name":"x","kind":"other","fields":[{"name":"e","type":"enum","labels":{"3":4,"a":5}}]}
{"type":"x","e":"3"}
{"type":"x","e":3}
{"type":"x","e":"a"}
{"type":"@end","complete":true}'
is 'a label that looks like a number is not written' "$(echo "$labels" | "$fromjson" | "$to" --class x | tr '\n' ' ')" 'e 4 3 a '
is 'its value is reproduced' "$(echo "$labels" | "$fromjson" | "$to" -a | "$from" | "$json" -a)" "$labels"

# --- one class ------------------------------------------------------------------------------------------------------------------
"$to" --class transition "$tmp/lost.ctp" >"$tmp/out"
is 'a class has all its fields as columns' "$(head -n 1 "$tmp/out")" 'probe_id,tid,addr,seq,is_active,ts,coro,index,site,site_text'
for class in transition birth death thread mapping end; do
	"$to" --class $class "$tmp/lost.ctp" >"$tmp/$class.csv"
	# The texts of sites are another class's.
	"$json" -a "$tmp/lost.ctp" | grep -e "\"type\":\"$class\"" -e "\"@schema\",\"name\":\"$class\"" |
		sed 's/,"site_text":"[^"]*"//' >"$tmp/want"
	"$from" "$tmp/$class.csv" | "$json" -a | grep -v -e '@section' -e '@end' >"$tmp/got"
	ok "class $class is reproduced from its columns alone" cmp "$tmp/want" "$tmp/got"
done
"$to" --class nosuch -o "$tmp/nosuch.csv" "$tmp/lost.ctp" 2>"$tmp/err"
is 'no such class: status 1, no file' "$? $(ls "$tmp/nosuch.csv" 2>/dev/null)" '1 '
like 'the message lists the classes that exist' "$(cat "$tmp/err")" '^ctp-tocsv: --class nosuch: there is no such record; there are: .*transition.*death'
is 'a known class without records gives no rows' "$("$to" --class conflict "$tmp/lost.ctp")" ts,probe_id,coro
: | "$to" --class x 2>"$tmp/err"
like 'for an empty trace the message says that there are no classes' "$(cat "$tmp/err")" 'there are: none at all$'
two() { printf '{"type":"@section","attrs":{}}\n{"type":"@schema","name":"x","kind":"other","fields":[%s]}\n{"type":"x",%s}\n{"type":"@end","complete":true}\n' "$@"; }
a='{"name":"a","type":"u8"}' b='{"name":"b","type":"u8"}'
{ two "$a,$b" '"a":1,"b":2' && two "$b" '"b":3' && two "$b,$a" '"b":4,"a":5'; } | "$fromjson" >"$tmp/two.ctp"
is 'a class that is declared again differently keeps its columns' \
	"$("$to" --class x "$tmp/two.ctp" | tr '\n' ' ')" 'a,b 1,2 ,3 5,4 '
"$to" "$tmp/two.ctp" >"$tmp/out" 2>"$tmp/err"
is 'no transitions, but others: status 0, a header' "$? $(cat "$tmp/out")" "0 $(cat "$tmp/header.csv")"
is 'and a notice names each class once' "$(cat "$tmp/err")" \
	"ctp-tocsv: $tmp/two.ctp: no transitions, but records of x: --class NAME shows those of one class, -a all"
is '-q, -a and --class give no notice' "$("$to" -q "$tmp/two.ctp" 2>&1 >/dev/null; "$to" -a "$tmp/two.ctp" 2>&1 >/dev/null; "$to" --class x "$tmp/two.ctp" 2>&1 >/dev/null)" ''
is 'an empty trace, or one with transitions, gives no notice' "$("$from" "$tmp/header.csv" | "$to" 2>&1 >/dev/null; "$to" "$tmp/lost.ctp" 2>&1 >/dev/null | grep -c 'no transitions')" 0
{ two "$b" '"b":3' && two "$a,$b" '"a":1,"b":2'; } | "$fromjson" | "$to" --class x -o "$tmp/y.csv" 2>"$tmp/err"
is 'a class that gets more columns later gives status 1 and no file' "$? $(ls "$tmp/y.csv" 2>/dev/null)" '1 '
like 'the new columns are reported' \
	"$(cat "$tmp/err")" '^ctp-tocsv: class x: has a field a that its first records did not have; try -a$'
two '' '"a":1' | sed 's/,"a":1//' | "$fromjson" | "$to" --class x 2>"$tmp/err"
is 'a class without fields gives status 1' $? 1
like 'the missing fields are reported' "$(cat "$tmp/err")" 'class x: has no fields, and so no columns'
"$to" -a --class x "$tmp/two.ctp" 2>"$tmp/err"
is '-a and --class: status 2' $? 2

# --- wall-clock time ------------------------------------------------------------------------------------------------------------
wall() { printf '{"type":"@section","attrs":{"wall_offset_ns":"%s"}}\n{"type":"birth","ts":%s,"probe_id":1,"coro":2,"station":3,"after":%s,"before":%s}\n{"type":"@end","complete":true}\n' "$1" "$2" "$2" "$2"; }
for case in '0 0 1970-01-01T00:00:00.000000000Z' '1700000000000000000 1 2023-11-14T22:13:20.000000001Z' \
	'-1 0 1969-12-31T23:59:59.999999999Z' '9223372036854775807 18446744073709551615 2846-10-30T23:21:50.564327422Z' \
	'-9223372036854775808 0 1677-09-21T00:12:43.145224192Z' '951782399999999999 1 2000-02-29T00:00:00.000000000Z'; do
	# shellcheck disable=SC2086
	set -- $case
	wall "$1" "$2" | "$fromjson" >"$tmp/wall.ctp"
	is "offset $1 and time $2 is $3" "$("$to" --wall --class birth "$tmp/wall.ctp" | tail -n 1)" "$3,1,2,3,$3,$3"
	"$json" -a "$tmp/wall.ctp" >"$tmp/want"
	"$to" --wall -a "$tmp/wall.ctp" | "$from" | "$json" -a >"$tmp/got"
	ok 'wall-clock times are reproduced' cmp "$tmp/want" "$tmp/got"
done
"$to" --wall "$tmp/lost.ctp" >"$tmp/want"
"$from" "$tmp/want" >"$tmp/wall.ctp"
is 'transitions with wall-clock times are read' $? 0
"$to" --wall "$tmp/wall.ctp" >"$tmp/got"
ok 'they have the same times' cmp "$tmp/want" "$tmp/got"
"$to" --wall -o "$tmp/y.csv" "$tmp/plain.ctp" 2>"$tmp/err"
is 'a section without wall-clock time: status 1, no file' "$? $(ls "$tmp/y.csv" 2>/dev/null)" '1 '
like 'the message says what to do' "$(cat "$tmp/err")" 'does not say how its times relate to wall-clock time; leave out --wall'

# --- files ----------------------------------------------------------------------------------------------------------------------
"$to" -q -o "$tmp/x.csv" "$tmp/plain.ctp"
ok '-o writes a file' test -s "$tmp/x.csv"
ok 'the file is complete' cmp "$tmp/x.csv" "$tmp/plain.csv"
if [ -c /dev/full ]; then
	for options in '' -a '--class transition'; do
		# shellcheck disable=SC2086
		"$to" $options "$tmp/lost.ctp" >/dev/full 2>"$tmp/err"
		is "to a full disk: status 1 ${options:-plain}" "$? $(cat "$tmp/err")" '1 ctp-tocsv: stdout: after 0 bytes: No space left on device'
	done
	"$from" "$tmp/plain.csv" >/dev/full 2>"$tmp/err"
	is 'a stream to a full disk: status 1' "$? $(cat "$tmp/err")" '1 ctp-fromcsv: stdout: after 0 bytes: No space left on device'
fi
mkdir "$tmp/spool"
TMPDIR=$tmp/spool "$to" -a "$tmp/lost.ctp" >/dev/null
is 'nothing is left in TMPDIR' "$(ls -A "$tmp/spool")" ''
TMPDIR=$tmp/nonexistent "$to" -a -o "$tmp/y.csv" "$tmp/lost.ctp" 2>"$tmp/err"
is 'a missing TMPDIR gives status 1 and no file' "$? $(ls "$tmp/y.csv" 2>/dev/null)" '1 '
is 'the missing TMPDIR is reported' \
	"$(cat "$tmp/err")" "ctp-tocsv: temporary file in $tmp/nonexistent, which TMPDIR can name: No such file or directory"
"$O/t/helper/randstream" 1 >"$tmp/random.ctp"
cp "$tmp/random.ctp" "$tmp/long.ctp" # longer than the buffer of a spool, so that its file is used
n=1
while [ "$(wc -c <"$tmp/long.ctp")" -lt 600000 ]; do
	cat "$tmp/random.ctp" >>"$tmp/long.ctp"
	n=$((n + 1))
done
once=$("$to" -a "$tmp/random.ctp" 2>/dev/null | grep -c '^@')
is 'a spool in a file gives the same as one in memory' "$("$to" -a "$tmp/long.ctp" 2>/dev/null | grep -c '^@')" "$((n * once))"
(ulimit -f 2 && trap '' XFSZ && TMPDIR=$tmp/spool exec "$to" -a "$tmp/long.ctp") 2>"$tmp/err" | cat >"$tmp/out"
like 'a temporary file that cannot grow is reported' \
	"$(cat "$tmp/err")" '^ctp-tocsv: temporary file in .*: File too large; TMPDIR can name another folder$'
is 'if the temporary file cannot grow, nothing is written' "$(wc -c <"$tmp/out")" 0
"$to" "$tmp/plain.csv" 2>"$tmp/err" >"$tmp/out"
is 'an input that is no stream gives status 1 and no header' "$? $(wc -c <"$tmp/out")" '1 0'
done_testing
