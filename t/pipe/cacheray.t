#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# Cacheray's traces to a stream and back: the real ones, in each spelling, damaged, live; and what other tools make of such a stream.
. t/helper/tap.sh
from=$BIN/ctp-fromcacheray to=$BIN/ctp-tocacheray
command -v python3 >/dev/null || skip_all 'there is no python3'

# --- traces -------------------------------------------------------------------------------------------------------------------
# trace ORDER ADDRESS_BYTES: two structures, 3 accesses of each, one of them atomic and one unaligned; then one structure is gone.
cat >"$tmp/trace.py" <<'EOF'
import struct, sys
order, width = {'little': '<', 'big': '>'}[sys.argv[1]], {'8': 'Q', '4': 'I'}[sys.argv[2]]
base = {'Q': 0x55d0c0de1000, 'I': 0x565a1000}[width]
def access(tag, address, size, thread): return struct.pack(order + 'B' + width + 'BQ', tag, address, size, thread)
def add(address, thread, size, count, name): return struct.pack(order + 'B' + width + 'QIII', 2, address, thread, size, count, len(name)) + name
def remove(address, thread): return struct.pack(order + 'B' + width + 'Q', 3, address, thread)
records = [
	add(base, 71, 24, 2, b'struct.Foo'), add(base + 0x100, 72, 8, 1, 'union.\u00e4 "b", c'.encode()),
	access(0, base + 8, 8, 71), access(0x41, base + 16, 4, 71), access(0x80, base + 1, 16, 72),
	access(1, base + 0x100, 8, 72), access(0xc1, base + 0x103, 2, 71), access(0, base + 0x107, 1, 72), remove(base, 71)]
sys.stdout.buffer.write(b''.join(records))
EOF
trace() { python3 "$tmp/trace.py" "$@"; }

for order in little big; do
	for width in 8 4; do
		what="$order, $width" file=$tmp/$order$width
		trace $order $width >"$file"
		"$from" "$file" >"$tmp/a.ctp"
		is "$what: read" $? 0
		"$to" "$tmp/a.ctp" >"$tmp/out"
		ok "$what: the trace is reproduced" cmp "$file" "$tmp/out"
		is "$what: the section has the spelling" "$("$BIN/ctp-tojsonl" -a "$tmp/a.ctp" | sed -n '1s/.*"cacheray.byte_order":"\([a-z]*\)","cacheray.address_bytes":"\([48]\)".*/\1 \2/p')" \
			"$order $width"
		"$from" -b $order -a $width "$file" | "$to" >"$tmp/out"
		ok "$what: a given spelling reproduces the trace" cmp "$file" "$tmp/out"
		"$BIN/ctp-tojsonl" -a "$tmp/a.ctp" | "$BIN/ctp-fromjsonl" | "$to" >"$tmp/out"
		ok "$what: JSONL reproduces the trace" cmp "$file" "$tmp/out"
		"$to" -b little -a 8 "$tmp/a.ctp" | "$from" | "$to" -b $order -a $width >"$tmp/out"
		ok "$what: another spelling and back reproduces the trace" cmp "$file" "$tmp/out"
	done
done

# --- real ones ----------------------------------------------------------------------------------------------------------------
# counts FILE: reads, writes, adds, removes.
counts() {
	"$from" "$1" | "$BIN/ctp-tojsonl" -a | awk '/"op":"read"/ { r++ } /"op":"write"/ { w++ } /^{"type":"cacheray_add"/ { a++ }
		/^{"type":"cacheray_remove"/ { d++ } END { print r + 0, w + 0, a + 0, d + 0 }'
}
is 'a trace has the expected numbers of records' "$(counts "$tmp/little8")" '3 3 2 1'
real=../shared/fixtures/cacheray
if [ -d $real ]; then
	is 'big.trace' "$(counts $real/big.trace)" '13344 3444 0 0'
	is 'cacheray.0.trace' "$(counts $real/cacheray.0.trace)" '5 2 3 2'
	is 'structs.trace' "$(counts $real/structs.trace)" '5 2 0 0'
	for file in "$real"/*; do
		"$from" "$file" | "$to" >"$tmp/out"
		ok "${file##*/} is reproduced" cmp "$file" "$tmp/out"
		[ -x "$BIN/ctp-fromctf" ] || continue
		rm -rf "$tmp/real"
		"$from" "$file" | "$BIN/ctp-toctf" -o "$tmp/real" && "$BIN/ctp-fromctf" "$tmp/real" | "$to" >"$tmp/out"
		ok "${file##*/} is reproduced through CTF" cmp "$file" "$tmp/out"
	done
else
	skip "there is no $real"
fi

# --- several, and the options ---------------------------------------------------------------------------------------------------
cat "$tmp/little8" "$tmp/little8" >"$tmp/two"
"$from" "$tmp/little8" - <"$tmp/little8" >"$tmp/two.ctp"
is 'each input is a section' "$("$BIN/ctp-tojsonl" -a "$tmp/two.ctp" | grep -c '"@section"')" 2
"$to" -o "$tmp/out" "$tmp/two.ctp"
ok 'sections are concatenated in the trace' cmp "$tmp/two" "$tmp/out"
"$from" "$tmp/little8" "$tmp/big4" | "$to" >"$tmp/out" 2>"$tmp/err"
is 'sections of different spellings are refused' "$? $(wc -l <"$tmp/err")" '1 1'
like 'the message says which options help' "$(cat "$tmp/err")" 'big-endian with addresses of 4 bytes, the one before little with 8; -a 8 -b little makes one trace of them'
for other in 'big8 -b little' 'little4 -a 8'; do
	like "${other% -*} has ${other#* }" "$("$from" "$tmp/little8" "$tmp/${other%% *}" | "$to" 2>&1 >/dev/null)" "; ${other#* } makes one trace of them\$"
	# shellcheck disable=SC2086
	"$from" "$tmp/little8" "$tmp/${other%% *}" | "$to" ${other#* } >"$tmp/out" 2>/dev/null
	is "  that option helps" $? 0
done
"$from" "$tmp/little8" "$tmp/big4" | "$to" -b big -a 8 | "$from" -v 2>&1 >/dev/null | grep -q ': 18 records kept; damage at 0 places$'
is 'a given spelling writes both sections' $? 0
"$from" "$tmp/little8" | "$to" -a 4 >/dev/null 2>"$tmp/err"
is 'an address that does not fit is an error' "$? $(cat "$tmp/err")" '1 ctp-tocacheray: address 0x55d0c0de1000 does not fit into the trace; -a 8 has addresses of 8 bytes'
for wrong in '-a 5' '-b middle'; do
	# shellcheck disable=SC2086
	"$from" $wrong </dev/null >"$tmp/out" 2>"$tmp/err"
	is "$wrong is refused" "$? $(wc -l <"$tmp/err") $(wc -c <"$tmp/out")" '2 1 0'
done
zstd -q <"$tmp/little8" >"$tmp/z.zst" 2>/dev/null && "$from" "$tmp/z.zst" | "$to" >"$tmp/out" && ok 'zstd is recognised' cmp "$tmp/little8" "$tmp/out"
printf '{"type":"x","ts":1}\n' | "$BIN/ctp-fromjsonl" | "$to" >/dev/null 2>"$tmp/err"
is 'a stream of something else is refused' "$? $(wc -l <"$tmp/err")" '1 1'
if [ -w /dev/full ]; then
	"$from" "$tmp/little8" >/dev/full 2>"$tmp/err"
	is 'ctp-fromcacheray reports a full disk' "$? $(wc -l <"$tmp/err")" '1 1'
	"$to" "$tmp/two.ctp" >/dev/full 2>"$tmp/err"
	is 'ctp-tocacheray reports a full disk' "$? $(wc -l <"$tmp/err")" '1 1'
fi

# --- damage -------------------------------------------------------------------------------------------------------------------
i=0
while [ $i -lt 20 ]; do cat "$tmp/little8"; i=$((i + 1)); done >"$tmp/long"
size=$(($(wc -c <"$tmp/little8")))
{ head -c $((10 * size)) "$tmp/long"; printf garbage; tail -c $((10 * size)) "$tmp/long"; } >"$tmp/bad"
"$from" "$tmp/bad" >"$tmp/bad.ctp" 2>"$tmp/err"
is 'damage gives status 3' $? 3
is 'the offset and length of damage are reported' "$(sed -n 1p "$tmp/err")" "ctp-fromcacheray: $tmp/bad: byte $((10 * size)): 0x67 is no tag; 7 bytes skipped"
is 'damage is a record in its place' "$("$BIN/ctp-tojsonl" -a -q "$tmp/bad.ctp" | grep '^{"type":"cacheray_damage"')" \
	"{\"type\":\"cacheray_damage\",\"ts\":90,\"offset\":$((10 * size)),\"bytes\":7}"
is 'the summary counts records and damaged places' "$(sed -n 2p "$tmp/err")" 'ctp-fromcacheray: 180 records kept; damage at 1 place'
is 'the summary of ctp-tocacheray counts them too' "$("$to" -v "$tmp/bad.ctp" 2>&1 >/dev/null | tail -n 1)" 'ctp-tocacheray: 180 records; damage at 1 place'
"$to" -q "$tmp/bad.ctp" >"$tmp/out"
is 'ctp-tocacheray gives status 3' $? 3
ok 'all intact records are written' cmp "$tmp/long" "$tmp/out"
head -c $((size * 2 - 5)) "$tmp/two" >"$tmp/cut"
"$from" "$tmp/cut" >"$tmp/cut.ctp" 2>"$tmp/err"
is 'a truncated trace gives status 3' $? 3
like 'the truncated record is named' "$(cat "$tmp/err")" "byte $((size * 2 - 17)): cut short; 12 bytes skipped"
: >"$tmp/empty"
"$from" "$tmp/empty" "$tmp/little8" >"$tmp/empty.ctp" 2>"$tmp/err"
is 'an empty input beside another gives status 3' "$? $(cat "$tmp/err")" "3 ctp-fromcacheray: $tmp/empty: the input is empty"
"$to" "$tmp/empty.ctp" >"$tmp/out"
is 'the other input is reproduced' "$? $(cmp "$tmp/out" "$tmp/little8")" '0 '
"$from" -o "$tmp/none.ctp" "$tmp/empty" "$tmp/empty" 2>"$tmp/err"
is 'empty inputs alone fail' "$? $(tail -n 1 "$tmp/err")" '1 ctp-fromcacheray: there is not one record'
"$from" -o "$tmp/none.ctp" - <"$tmp/empty" 2>"$tmp/err"
is 'an empty pipe fails' "$? $(tail -n 1 "$tmp/err")" '1 ctp-fromcacheray: there is not one record'
head -c 5000 /dev/zero >"$tmp/zeros"
"$from" -o "$tmp/none.ctp" "$tmp/zeros" 2>"$tmp/err"
is 'an input of zeros fails' "$? $(tail -n 1 "$tmp/err")" '1 ctp-fromcacheray: there is not one record'
ok 'an input of zeros gives no stream' test ! -e "$tmp/none.ctp"
"$from" "$0" >"$tmp/out" 2>"$tmp/err"
is 'an input that is no trace fails' "$? $(tail -n 1 "$tmp/err")" '1 ctp-fromcacheray: not one record is whole'
like 'the message suggests options' "$(cat "$tmp/err")" 'most of it is damage: it is no trace, or its spelling was not found out; -a and -b say it'
"$from" -a 4 "$tmp/long" 2>&1 >/dev/null | grep -q 'most of it is damage: what was said by -a or -b may be wrong'
is 'a wrong option is reported' $? 0
"$from" "$tmp/long" 2>"$tmp/err" >/dev/null
is 'a valid trace gives no message' "$? $(cat "$tmp/err")" '0 '

# --- live ---------------------------------------------------------------------------------------------------------------------
# The writer goes on when its first record was seen at the other end.
mkfifo "$tmp/trace" "$tmp/go"
{ head -c 39 "$tmp/little8"; timeout 60 cat "$tmp/go"; tail -c +40 "$tmp/little8"; } >"$tmp/trace" &
timeout 60 "$from" -b little -a 8 "$tmp/trace" | timeout 60 "$BIN/ctp-tojsonl" -a | {
	while read -r line; do
		case $line in *struct.Foo*) echo seen; : >"$tmp/go" ;; *'"@end","complete":true'*) echo ended ;; esac
	done
} >"$tmp/seen"
wait
is 'records are sent while the writer waits' "$(cat "$tmp/seen")" "$(printf 'seen\nended')"

# --- others -------------------------------------------------------------------------------------------------------------------
"$from" "$tmp/little8" >"$tmp/a.ctp"
is 'CSV' "$("$BIN/ctp-tocsv" --class cacheray_access "$tmp/a.ctp" | sed -n '1p;3p')" \
	"$(printf 'ts,address,size,thread,op,atomic,unaligned\n3,0x000055d0c0de1010,4,71,write,true,false')"
if [ -x "$BIN/ctp-fromcsv" ]; then
	"$BIN/ctp-tocsv" -a "$tmp/a.ctp" | "$BIN/ctp-fromcsv" | "$to" >"$tmp/out"
	ok 'CSV reproduces the trace' cmp "$tmp/little8" "$tmp/out"
fi
if [ -x "$BIN/ctp-sqlite" ] && command -v sqlite3 >/dev/null; then
	"$BIN/ctp-sqlite" -o "$tmp/a.db" "$tmp/a.ctp"
	is 'SQLite' "$(sqlite3 "$tmp/a.db" "SELECT op, count(*), sum(size), sum(atomic) FROM cacheray_access GROUP BY op ORDER BY op")" \
		"$(printf 'read|3|25|0\nwrite|3|14|2')"
	is 'SQLite: the types' "$(sqlite3 "$tmp/a.db" "SELECT type FROM cacheray_add ORDER BY ts LIMIT 1")" struct.Foo
fi
if command -v babeltrace2 >/dev/null; then
	"$BIN/ctp-toctf" -o "$tmp/ctf" "$tmp/a.ctp"
	babeltrace2 "$tmp/ctf" >"$tmp/out" 2>&1
	is 'CTF: babeltrace2 reads all of it' "$? $(grep -c cacheray_ "$tmp/out")" '0 9'
	like 'CTF: a record' "$(grep cacheray_access "$tmp/out" | sed -n 2p)" 'address = 0x55D0C0DE1010, size = 4, thread = 71, op = \( "write".*atomic = \( "true"'
	"$BIN/ctp-fromctf" "$tmp/ctf" | "$to" >"$tmp/out"
	ok 'CTF reproduces the trace' cmp "$tmp/little8" "$tmp/out"
fi
"$BIN/ctp-stat" "$tmp/a.ctp" >"$tmp/out"
is 'stat' "$? $(grep -c '^ *6  cacheray_access$\|^ *2  cacheray_add$\|^ *1  cacheray_remove$' "$tmp/out")" '0 3'
"$BIN/ctp-report" "$tmp/a.ctp" >"$tmp/out" 2>&1
is 'report: a trace without coroutines has status 3' $? 3
"$BIN/ctp-report" "$tmp/bad.ctp" >"$tmp/out" 2>&1
is 'report: damage' $? 3
done_testing
