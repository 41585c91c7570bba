#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# The manual page of the stream is enough to read it: ctpread.py, written from the page alone, and the library's reader find the
# same records in the same order, and the same damage.
# In check-fast.
# Under sanitizers only in check-all: its model takes long, and other scripts run the same code there.
. t/helper/tap.sh
command -v python3 >/dev/null || skip_all 'there is no python3'
from=$BIN/ctp-fromjsonl to=$BIN/ctp-tojsonl

# The sections and records among lines of JSON, each in one canonical spelling.
cat >"$tmp/records.py" <<'PYTHON'
import json, sys
def number(text):
    if text.lstrip("-").isdigit():
        return text
    text = repr(float(text))
    return text[:-2] if text.endswith(".0") else text
for line in open(sys.argv[1], encoding="utf-8"):
    record = json.loads(line, parse_int=number, parse_float=number)
    if not record["type"].startswith("@") or record["type"].startswith("@@") or record["type"] == "@section":
        print(json.dumps(record))
PYTHON
records() { python3 "$tmp/records.py" "$1"; } # FILE
in_any_order() { records "$1" | sed 's/, "late": true}$/}/' | sort; } # FILE

# The totals of a stream in the form of ctpread.py.
totals() { # STREAM
	"$BIN/ctp-stat" -jq "$1" | python3 -c 'import json, sys
stat = json.load(sys.stdin)
totals = ("records", "packets", "missing_packets", "skipped_bytes", "cut_short")
print("ctpread:", ", ".join(f"{name} {stat[name]}" for name in totals))'
}

agree() { # NAME STREAM: leaves the lines of ctp-tojsonl in $tmp/theirs and of ctpread.py in $tmp/ours
	"$to" -aq "$2" >"$tmp/theirs"
	status=$?
	python3 t/helper/ctpread.py "$2" >"$tmp/ours" 2>"$tmp/totals"
	harmed=$?
	records "$tmp/theirs" >"$tmp/theirs.records"
	records "$tmp/ours" >"$tmp/ours.records"
	ok "$1: both find the same records in the same order" cmp "$tmp/ours.records" "$tmp/theirs.records"
	is "$1: both count the same" "$(cat "$tmp/totals")" "$(totals "$2")"
	# ctp-tojsonl ends with 3 for a complete stream with losses, ctpread.py does not.
	[ $harmed = 0 ] || is "$1: both say so in their status" "$harmed" "$status"
}

# --- the example in the page --------------------------------------------------------------------------------------------------
byte='[0-9a-f][0-9a-f]'
sed -n "/^\.Sh EXAMPLES/,/^\.Sh SEE/s/^ *\(\($byte \)*$byte\)\( .*\)\{0,1\}$/\1/p" doc/ctp-stream.5 >"$tmp/hex"
python3 -c 'import sys; sys.stdout.buffer.write(bytes.fromhex(sys.stdin.read()))' <"$tmp/hex" >"$tmp/example.ctp"
agree "the page's example" "$tmp/example.ctp"
like 'the page has an example' "$(cat "$tmp/ours")" '"jump"'
is 'the example has the records that the page lists' \
	"$(grep -v '^{"type":"@' "$tmp/ours")" "$(grep '^{"type":"jump"' doc/ctp-stream.5)"

# --- the kinds in the page ----------------------------------------------------------------------------------------------------
is 'each kind has its fields' "$(sed -n '/^\.Ss Fields of the kinds/,/^\.Ss Predictors/s/^\.It //p' doc/ctp-stream.5)" \
	"$(sed -n '/^Kinds say/,/^\.Sx/p' doc/ctp-stream.5 | grep -o '[0-9][0-9]* [a-z_]*' | sed '1d; s/.* //')"

# --- rows of JSON -------------------------------------------------------------------------------------------------------------
cat >"$tmp/rows.py" <<'PYTHON'
import json, sys
def row(type_, **fields):
    print(json.dumps({"type": type_, **fields}))

# A coroutine is born while the one 1021 before it runs: by their numbers both have the same context, and are of two classes.
def coroutines():
    row("@section", attrs={})
    events = [0] * 1100
    for born in range(1100):
        row("birth", ts=sum(events) + born, probe_id=64 * born, coro=born, station=born, after=0, before=0)
        for coro in (born, max(born - 1021, 0), born, max(born - 1021, 0)):
            index, addr, ts = events[coro], f"0x{4096 * coro:016x}", sum(events) + born
            row("transition", probe_id=64 * coro, tid=coro % 3, addr=addr, seq=index + 2, is_active=index % 3 > 0, ts=ts,
                coro=coro, index=index)
            events[coro] += 1
    row("@end", complete=True)

# The same, with words of one type where the other class expects another.
def types():
    for a, b in ((("u64", "same", 5), ("bool", "same", False)), (("u64", "same", 5), ("bool", "toggle", True)),
                 (("i64", "same", -1), ("string", "same", "new")), (("u64", "step", 300), ("u8", "step", 7)),
                 (("f64", "same", 1e300), ("f32", "same", 0.1)), (("i8", "same", -1), ("u64", "step", 255))):
        row("@section", attrs={})
        for name, (type_, pred, _) in ("a", a), ("b", b):
            fields = [{"name": "k", "type": "u64", "pred": "key"}, {"name": "v", "type": type_, "pred": pred}]
            row("@schema", name=name, kind="other", fields=fields)
        for _ in range(3):
            row("a", k=5 + 1021, v=a[2])
            row("b", k=5, v=b[2])
        row("@end", complete=True)

{"coroutines": coroutines, "types": types}[sys.argv[1]]()
PYTHON

for rows in coroutines types; do
	python3 "$tmp/rows.py" $rows >"$tmp/$rows"
	"$from" -q "$tmp/$rows" >"$tmp/rows.ctp"
	agree "rows of $rows" "$tmp/rows.ctp"
	records "$tmp/$rows" >"$tmp/want"
	ok "rows of $rows are reproduced" cmp "$tmp/want" "$tmp/ours.records"
done

# --- a traced program ---------------------------------------------------------------------------------------------------------
"$BIN/ctp-collect" -q "$O/examples/lostwake" >"$tmp/trace.ctp" 2>/dev/null
agree 'a traced program' "$tmp/trace.ctp"
ok 'it has transitions' grep -q '"type": "transition"' "$tmp/ours.records"

# --- repeated attributes -----------------------------------------------------------------------------------------------
cat >"$tmp/attrs.py" <<'PYTHON'
import sys
sys.path.insert(0, "t/helper")
import ctpread
def varint(n): return bytes([n << 1 | 1])
def text(s): return varint(len(s)) + s.encode()
attrs = [("a", "1"), ("l[]", "x"), ("l[]", "y"), ("a", "2"), ("l[]", "z"), ("b", "3"), ("l[]", "u"), ("l", "w"), ("a[]", "v"), ("m[]", "")]
body = varint(len(attrs)) + b"".join(text(name) + text(value) for name, value in attrs)
payload = b"\x07" + varint(len(body)) + body
rest = (ctpread.crc32c(payload), len(payload), 0, 1, 0, 1, 0, 2, 1, len(payload).to_bytes(3, "little"), bytes(3))
head = ctpread.HEADER.pack(ctpread.MAGIC, 0, *rest)
sys.stdout.buffer.write(ctpread.HEADER.pack(ctpread.MAGIC, ctpread.crc32c(head[12:]), *rest) + payload)
PYTHON
python3 -B "$tmp/attrs.py" >"$tmp/attrs.ctp"
agree 'repeated attributes' "$tmp/attrs.ctp"
is 'repeated attributes are ignored' \
	"$(head -1 "$tmp/theirs")" '{"type":"@section","attrs":{"a":"1","l":["x","y","z"],"b":"3","m":[""]}}'
echo '{"type":"@section","attrs":{"a":"1","b":["x"],"a":"2","b":"y","c":"3"}}' | "$from" -q | "$to" -aq >"$tmp/again"
is 'JSON does not have them' "$(head -1 "$tmp/again")" '{"type":"@section","attrs":{"a":"1","b":["x"],"c":"3"}}'

# --- random classes -----------------------------------------------------------------------------------------------------------
# Both readers could agree on a writer's error: so records are written again, and read as known rows.
for seed in 1 2 3; do
	"$O/t/helper/randstream" $seed >"$tmp/random.ctp"
	agree "random classes, seed $seed" "$tmp/random.ctp"
	in_any_order "$tmp/theirs" >"$tmp/want"
	"$from" -q "$tmp/theirs" >"$tmp/again.ctp"
	python3 t/helper/ctpread.py "$tmp/again.ctp" >"$tmp/again" 2>"$tmp/totals"
	in_any_order "$tmp/again" >"$tmp/got"
	ok "random classes, seed $seed: written again, they are the same" cmp "$tmp/want" "$tmp/got"
done

# --- damage -------------------------------------------------------------------------------------------------------------------
size=$(wc -c <"$tmp/random.ctp")
part() { tail -c +$(($1 + 1)) "$tmp/random.ctp" | head -c "$2"; } # OFFSET LENGTH
part 0 $((size / 2)) >"$tmp/cut.ctp"
agree 'a truncated stream' "$tmp/cut.ctp"
{
	part 0 $((size / 3))
	printf 'damage'
	part $((size / 3 + 6)) $((size / 3))
	printf '\216cTP\r\n\032\n'
	part $((size * 2 / 3)) "$size"
} >"$tmp/spoilt.ctp"
agree 'a stream with wrong bytes' "$tmp/spoilt.ctp"
part $((size / 5)) "$size" >"$tmp/headless.ctp"
agree 'a stream without its beginning' "$tmp/headless.ctp"
cat "$tmp/cut.ctp" "$tmp/trace.ctp" "$tmp/headless.ctp" "$tmp/trace.ctp" "$tmp/trace.ctp" >"$tmp/joined.ctp"
agree 'streams after each other' "$tmp/joined.ctp"
: >"$tmp/empty.ctp"
agree 'an empty stream' "$tmp/empty.ctp"
done_testing
