#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# JSONL to a stream and back: both forms byte for byte, foreign spellings, order, and what is rejected.
. t/helper/tap.sh
from=$BIN/ctp-fromjsonl to=$BIN/ctp-tojsonl
there_and_back() { "$from" -q "$1" | "$to" "${2--q}"; } # FILE [-a]

# --- the plain form -----------------------------------------------------------------------------------------------------------
cat >"$tmp/plain" <<'JSONL'
{"probe_id":123,"tid":456,"addr":"0x0000000000000000","seq":2,"is_active":true,"ts":123456789}
{"probe_id":123,"tid":456,"addr":"0x00007fffdeadbeef","seq":2,"is_active":false,"ts":123456789}
{"probe_id":0,"tid":1,"addr":"0x0000000000000000","seq":0,"is_active":false,"ts":123456790}
{"probe_id":18446744073709551615,"tid":18446744073709551615,"addr":"0xffffffffffffffff","seq":18446744073709551615,"is_active":true,"ts":18446744073709551615}
JSONL
there_and_back "$tmp/plain" >"$tmp/out"
is 'the plain form is read; a number that no coroutine can have is a conflict, status 3' $? 3
ok 'the plain form is reproduced byte for byte' cmp "$tmp/plain" "$tmp/out"
"$from" <"$tmp/plain" | "$to" - >"$tmp/out"
ok 'pipes give the same' cmp "$tmp/plain" "$tmp/out"
printf %s "$(cat "$tmp/plain")" | "$from" | "$to" >"$tmp/out"
ok 'a missing last newline changes nothing' cmp "$tmp/plain" "$tmp/out"

# The same rows as somebody else might write them.
cat >"$tmp/foreign" <<'JSONL'
 { "ts" : 123456789, "is_active": true, "seq":2.0 ,"addr":0,"tid":4.56e2, "probe_id":123, "more":{"a":[1,{"b":null}]},"x":"\u00e9" } 

{"\u0070robe_id":"0x7b","tid":456,"addr":"0x7fffDEADBEEF","seq":2,"is_active":0,"ts":123456789,"late":true}
{"probe_id":0,"tid":1,"addr":"0x0","seq":0,"is_active":false,"ts":123456790}
{"probe_id":18446744073709551615,"tid":18446744073709551615,"addr":"0xffffffffffffffff","seq":18446744073709551615,"is_active":1,"ts":18446744073709551615}
JSONL
sed 's/$/\r/' "$tmp/foreign" >"$tmp/crlf"
for file in foreign crlf; do
	there_and_back "$tmp/$file" >"$tmp/out"
	ok "$file spellings of the same rows are understood" cmp "$tmp/plain" "$tmp/out"
done

# --- the full form ------------------------------------------------------------------------------------------------------------
cat >"$tmp/full" <<'JSONL'
{"type":"@section","attrs":{"host":"h","argv":["./server","-v",""],"empty":"","odd \u0001\"\\\n":"é\udcff\udced\udca0\udc80"}}
{"type":"@schema","name":"all","kind":"other","fields":[{"name":"ts","type":"u64","role":"time","pred":"time","unit":"ns"},{"name":"u8","type":"u8"},{"name":"u16","type":"u16"},{"name":"u32","type":"u32"},{"name":"i8","type":"i8"},{"name":"i16","type":"i16","pred":"prev"},{"name":"i32","type":"i32"},{"name":"i64","type":"i64"},{"name":"hex","type":"i64","hex":true},{"name":"b","type":"bool"},{"name":"e","type":"enum","labels":{"one":1,"two":2,"uno":1,"twice":7,"twice":8}},{"name":"f","type":"f32"},{"name":"d","type":"f64"},{"name":"s","type":"string","role":"name","extra":true},{"name":"y","type":"bytes"}]}
{"type":"all","ts":1,"u8":255,"u16":65535,"u32":4294967295,"i8":-128,"i16":-32768,"i32":-2147483648,"i64":-9223372036854775808,"hex":"0xffffffffffffffff","b":true,"e":"one","f":0.1,"d":0.1,"s":"","y":""}
{"type":"all","ts":1,"u8":0,"u16":0,"u32":0,"i8":127,"i16":32767,"i32":2147483647,"i64":9223372036854775807,"hex":"0x7fffffffffffffff","b":false,"e":3,"f":"NaN","d":"-Infinity","s":"\u0000 é € 😀 \udcff\udc80 \"\\/\b\f\n\r\t\u001f","y":"00ff10"}
{"type":"all","ts":2,"u8":0,"u16":0,"u32":0,"i8":0,"i16":0,"i32":0,"i64":0,"hex":"0x0000000000000000","b":false,"e":"twice","f":3.4028235e+38,"d":5e-324,"s":"x","y":"ab"}
{"type":"all","ts":2,"u8":0,"u16":0,"u32":0,"i8":0,"i16":0,"i32":0,"i64":0,"hex":"0x0000000000000000","b":false,"e":8,"f":1e-45,"d":-0,"s":"x","y":"ab"}
{"type":"@schema","name":"nothing","kind":"other","fields":[]}
{"type":"nothing"}
{"type":"@schema","name":"@odd","kind":"birth","fields":[{"name":"type","type":"u8"},{"name":"late","type":"u8"},{"name":"@","type":"u8"},{"name":"é","type":"u8"}]}
{"type":"@@odd","@type":1,"@late":2,"@@":3,"é":4}
{"type":"@@odd","@type":5,"@late":6,"@@":7,"é":8}
{"type":"@schema","name":"all","kind":"other","fields":[{"name":"n","type":"u8"}]}
{"type":"all","n":1}
{"type":"@schema","name":"two","kind":"other","fields":[{"name":"n","type":"u8"}]}
{"type":"two","n":1}
{"type":"@schema","name":"two","kind":"other","fields":[{"name":"m","type":"u8"}]}
{"type":"two","m":2}
{"type":"@schema","name":"two","kind":"other","fields":[{"name":"n","type":"u8"}]}
{"type":"two","n":3}
{"type":"@end","complete":true}
{"type":"@section","attrs":{}}
{"type":"@end","complete":true}
{"type":"@section","attrs":{"x":"y"}}
{"type":"@schema","name":"all","kind":"loss","fields":[{"name":"n","type":"u64","role":"count"}]}
{"type":"all","n":5}
{"type":"@end","complete":false}
{"type":"@section","attrs":{"x":"z"}}
{"type":"@end","complete":false}
JSONL
"$from" -q "$tmp/full" >"$tmp/full.ctp"
is 'the full form with a loss and a truncated section gives status 3' $? 3
"$to" -qa "$tmp/full.ctp" >"$tmp/out"
is 'converting it back gives status 3' $? 3
ok 'the full form is reproduced byte for byte' diff "$tmp/full" "$tmp/out"
"$to" -qa "$tmp/full.ctp" "$tmp/full.ctp" >"$tmp/out"
cat "$tmp/full" "$tmp/full" >"$tmp/want"
ok 'two operands are two streams' cmp "$tmp/want" "$tmp/out"
if command -v jq >/dev/null; then
	is 'jq reads every line of it' "$(jq -c .type <"$tmp/full" | wc -l)" "$(wc -l <"$tmp/full")"
	is 'jq reads the same text' "$(jq -r 'select(.ts == 1 and .u8 == 0).s' <"$tmp/full" | od -An -tx1 -N 16 | tr -d '\n')" \
		' 00 20 c3 a9 20 e2 82 ac 20 f0 9f 98 80 20 ef bf'
fi
head -n 3 "$tmp/full" | "$from" -q >"$tmp/cut.ctp"
is 'a section without its end counts as truncated' $? 3
is 'it is truncated in the stream, too' "$("$to" -qa "$tmp/cut.ctp" | tail -n 1)" '{"type":"@end","complete":false}'

# Rows with a type and no schema: a known class, or one inferred from the values.
cat >"$tmp/known" <<'JSONL'
{"type":"untraced","ts":5,"count":7}
{"type":"new","ts":6,"a":1,"b":-1,"c":1.5,"d":true,"e":"text","f":"0x0000000000000010"}
{"type":"new","ts":7,"a":2,"b":-2,"c":2.5,"d":false,"e":"","f":"0x0000000000000020"}
{"type":"transition","probe_id":1,"tid":2,"addr":"0x0000000000000003","seq":4,"is_active":true,"ts":8}
JSONL
there_and_back "$tmp/known" -qa >"$tmp/out"
ok 'rows without a schema are reproduced' sh -c 'grep -v "\"@" "$1" | diff "$2" -' - "$tmp/out" "$tmp/known"
like 'untraced is known' "$(cat "$tmp/out")" '"name":"untraced","kind":"untraced"'
like 'transition is known with six fields' "$(cat "$tmp/out")" '"kind":"transition".*"name":"is_active","type":"bool","role":"state"'
like 'the other class is inferred' "$(cat "$tmp/out")" '"name":"b","type":"i64".*"name":"c","type":"f64".*"name":"f","type":"u64".*"hex":true'

# --- order --------------------------------------------------------------------------------------------------------------------
rows() { awk -v n="$1" -v step="$2" 'BEGIN { for (i = 0; i < n; i++)
	printf "{\"probe_id\":%d,\"tid\":1,\"addr\":\"0x%016x\",\"seq\":%d,\"is_active\":%s,\"ts\":%d}\n",
		1 + i % 7, i % 7, i, i % 2 ? "true" : "false", 1000 + int(i / step) }'; }
rows 200000 3 >"$tmp/sorted"
there_and_back "$tmp/sorted" >"$tmp/out"
ok 'more rows than the window holds are reproduced byte for byte' cmp "$tmp/sorted" "$tmp/out"
# Groups of 3000 rows in reverse, which for rows of the same time must not be seen: so each has its own.
rows 150000 1 >"$tmp/sorted"
awk '{ line[n++] = $0 } n == 3000 { while (n) print line[--n] }' "$tmp/sorted" >"$tmp/mixed"
there_and_back "$tmp/mixed" >"$tmp/out"
ok 'rows out of order within the window are sorted' cmp "$tmp/sorted" "$tmp/out"
{ cat "$tmp/sorted"; rows 1 1; } | "$from" -v 2>"$tmp/err" | "$to" -a >"$tmp/out"
like 'rows too late for the window are counted' "$(cat "$tmp/err")" ': 150001 rows kept, 0 rejected, 1 late'
is 'they are marked late' "$(grep -c '"ts":1000,"late":true}$' "$tmp/out")" 1
is 'they are not lost' "$(grep -c '^{"type":"transition"' "$tmp/out")" 150001
{ echo '{"probe_id":1,"tid":1,"addr":"0x0000000000000000","seq":1,"is_active":true,"ts":18446744073709551615}'
	cat "$tmp/sorted"; } >"$tmp/outlier"
there_and_back "$tmp/outlier" >"$tmp/out"
ok 'one row of an absurd time does not spoil the order of the rest' sh -c 'head -n 150000 "$1" | cmp "$2" -' - "$tmp/out" "$tmp/sorted"

# --- numbers ------------------------------------------------------------------------------------------------------------------
# Numbers of all lengths, in all orders: the parser reuses digits of the row before.
awk 'BEGIN {
	n = split("0 7 11111111 1111111 111111111 12345678 123456780 123456789012 1234567890123456 12345678901234567 18446744073709551615 1234567800000000", v)
	split("0000000000000000 1111111111111111 11111111ffffffff 1111111f11111111 00000000deadbeef ffffffffffffffff deadbeef00000000", a)
	for (i = 1; i <= n; i++)
		for (k = 1; k <= n; k++) {
			printf "{\"probe_id\":9,\"tid\":%s,\"addr\":\"0x%s\",\"seq\":2,\"is_active\":true,\"ts\":8}\n", v[i], a[(i + k) % 7 + 1]
			printf "{\"probe_id\":9,\"tid\":%s,\"addr\":\"0x%s\",\"seq\":2,\"is_active\":false,\"ts\":8}\n", v[k], a[(i * k) % 7 + 1]
		}
}' >"$tmp/numbers"
ok 'numbers of all lengths are reproduced' sh -c '"$1" -q <"$2" | "$3" -q | cmp "$2" -' - "$from" "$tmp/numbers" "$to"

# --- rejections ---------------------------------------------------------------------------------------------------------------
good='{"probe_id":1,"tid":2,"addr":"0x0000000000000003","seq":2,"is_active":true,"ts":5}'
rejects() { # NAME WHY ROW
	printf '%s\n%s\n%s\n' "$good" "$3" "$good" | "$from" >"$tmp/out" 2>"$tmp/err"
	is "$1: status 3" $? 3
	like "$1: it is reported with its line" "$(cat "$tmp/err")" "stdin: line 2: .*$2.*; rejected"
	is "$1: the others are kept" "$("$to" "$tmp/out")" "$good
$good"
}
rejects 'no JSON' 'not a JSON object' 'hello'
rejects 'half a row' 'not JSON' '{"probe_id":1,"tid":2,"addr":"0x0000000000000003","seq":4,"is_active":true,"ts":5'
rejects 'text after the object' 'not JSON' "$good}"
rejects 'a missing key' 'lacks "seq"' '{"probe_id":1,"tid":2,"addr":"0x0000000000000003","is_active":true,"ts":5}'
rejects 'null is missing' 'lacks "seq"' '{"probe_id":1,"tid":2,"addr":"0x0000000000000003","seq":null,"is_active":true,"ts":5}'
rejects 'a key twice' 'has "tid" twice' '{"probe_id":1,"tid":2,"tid":2,"addr":"0x0000000000000003","seq":4,"is_active":true,"ts":5}'
rejects 'a number too large' '"ts" is not a u64' '{"probe_id":1,"tid":2,"addr":"0x3","seq":4,"is_active":true,"ts":18446744073709551616}'
rejects 'one more than fits' '"ts" is not a u64' '{"probe_id":1,"tid":2,"addr":"0x0000000000000003","seq":4,"is_active":true,"ts":18446744073709551616}'
rejects 'many more' '"seq" is not a u64' '{"probe_id":1,"tid":2,"addr":"0x0000000000000003","seq":123456789012345678901234567890,"is_active":true,"ts":5}'
rejects 'a number below 0' '"ts" is not a u64' '{"probe_id":1,"tid":2,"addr":"0x3","seq":4,"is_active":true,"ts":-1}'
rejects 'a needless 0' 'not JSON' '{"probe_id":1,"tid":2,"addr":"0x0000000000000003","seq":4,"is_active":true,"ts":05}'
rejects 'a nested value' '"tid" is not a u64' '{"probe_id":1,"tid":[2],"addr":"0x3","seq":4,"is_active":true,"ts":5}'
rejects 'a wrong bool' '"is_active" is not a bool' '{"probe_id":1,"tid":2,"addr":"0x3","seq":4,"is_active":"yes","ts":5}'
rejects 'a wrong text' 'not JSON' '{"probe_id":1,"x":"\ud800","tid":2,"addr":"0x3","seq":4,"is_active":true,"ts":5}'
rejects 'a section line that makes no sense' 'not a valid' '{"type":"@schema","name":7}'
rejects 'a line of ours that does not exist' '"@x"' '{"type":"@x"}'
rejects 'a schema that breaks a rule' 'two fields are called a' '{"type":"@schema","name":"x","fields":[{"name":"a","type":"u8"},{"name":"a","type":"u8"}]}'
rejects 'a station that was not yet written' 'without probe_id' '{"probe_id":0,"tid":0,"addr":"0x0000000000000003","seq":4,"is_active":true,"ts":0}'
deep=$(awk 'BEGIN { for (i = 0; i < 100; i++) printf "["; for (i = 0; i < 100; i++) printf "]" }')
rejects 'nested too deep' 'not JSON' "{\"x\":$deep,\"probe_id\":1,\"tid\":2,\"addr\":\"0x3\",\"seq\":4,\"is_active\":true,\"ts\":5}"
# A shell's argument has no NUL: there is another byte for it until printf has written the row.
nul() { printf '%s\n' "$good" "$1" "$good" | tr '~' '\000' | "$from" 2>/dev/null | "$to"; }
eight=~~~~~~~~
is 'bytes of 0 are no digits' "$(nul "{\"probe_id\":1,\"tid\":${eight}2,\"addr\":\"0x0000000000000003\",\"seq\":4,\"is_active\":true,\"ts\":5}")" "$good
$good"
is 'bytes of 0 are no digits of an address' "$(nul "{\"probe_id\":1,\"tid\":2,\"addr\":\"0x${eight}00000003\",\"seq\":4,\"is_active\":true,\"ts\":5}")" "$good
$good"
long=$(awk 'BEGIN { for (i = 0; i < 4200; i++) printf "%01000d", 0 }' | tr 0 x)
printf '%s\n{"x":"%s"}\n%s\n' "$good" "$long" "$good" | "$from" 2>"$tmp/err" | "$to" >"$tmp/out"
like 'a line that is too long is skipped' "$(cat "$tmp/err")" 'line 2: longer than 4194304 bytes; rejected'
is 'the rows after it are kept' "$(cat "$tmp/out")" "$good
$good"
awk 'BEGIN { for (i = 0; i < 50; i++) print i }' | "$from" >/dev/null 2>"$tmp/err"
is 'ten rows are reported, then the number of others' "$(grep -c rejected "$tmp/err") $(grep -c 'and 40 more' "$tmp/err")" '10 1'
printf '{\n  "probe_id": 1\n}\n' | "$from" >"$tmp/out" 2>"$tmp/err"
is 'an input without a valid row gives status 1 and no stream' "$? $(wc -c <"$tmp/out")" '1 0'
like 'for a row on many lines the message says what to do' \
	"$(cat "$tmp/err")" 'line 1: a row must be on one line, as jq -c prints it; rejected'
: | "$from" 2>"$tmp/err" >"$tmp/empty.ctp"
is 'an empty input gives status 3' $? 3
is 'an empty input is reported' "$(cat "$tmp/err")" 'ctp-fromjsonl: stdin: the input is empty'
"$to" -a "$tmp/empty.ctp" >"$tmp/out"
is 'an empty input gives a section without records' \
	"$(grep -c . "$tmp/out") $(tail -n 1 "$tmp/out")" '2 {"type":"@end","complete":true}'

# --- the manual's first example: coroutines that are suspended at the end -------------------------------------------------------
if command -v jq >/dev/null; then
	transition='{"type":"@schema","name":"transition","kind":"transition","fields":[{"name":"ts","type":"u64","role":"time"},{"name":"coro","type":"u64"},{"name":"is_active","type":"bool"}]}'
	row() { printf '{"type":"transition","ts":%d,"coro":%d,"is_active":%s}\n' "$@"; }
	life() { printf '{"type":"%s","ts":%d,"coro":%d}\n' "$@"; }
	{
		printf '{"type":"@section","attrs":{}}\n%s\n' "$transition"
		life birth 10 1 && life birth 11 2 && life birth 12 3 && life birth 13 4 && life birth 14 5
		row 20 1 true && row 21 1 false             # suspended
		row 22 2 true && row 23 2 false && life death 24 2 # dead
		row 25 3 true                               # running; 4 never ran
		row 26 5 true && row 27 5 false && row 28 5 true && row 29 5 false
		printf '{"type":"@end","complete":true}\n{"type":"@section","attrs":{}}\n%s\n' "$transition"
		row 30 1 true && row 31 3 false             # others, of the same number
		echo '{"type":"@end","complete":true}'
	} | "$from" >"$tmp/t.ctp.zst"
	sed -n '/jq -nc/,/^\.Ed/{/^\.Ed/d; /^{"/d; s/^\$ //; s/\\(aq/'"'/g; p; }" doc/ctp-tojsonl.1 >"$tmp/recipe"
	bin=$(cd "$BIN" && pwd)
	is 'the example finds the suspended coroutines' "$(cd "$tmp" && PATH=$bin:$PATH sh ./recipe | jq -r '"\(.type) \(.ts) \(.coro)"' | sort)" \
		'birth 13 4
transition 21 1
transition 29 5
transition 31 3'
fi

# --- files --------------------------------------------------------------------------------------------------------------------
"$from" -q -o "$tmp/x.ctp" "$tmp/plain"
ok '-o writes a file' test -s "$tmp/x.ctp"
ok 'the file has the stream' sh -c '"$0" "$1" | cmp - "$2"' "$to" "$tmp/x.ctp" "$tmp/plain"
"$to" -o "$tmp/y.jsonl" "$tmp/nonexistent" 2>"$tmp/err"
is 'an operand that is not there: status 1' $? 1
like 'the missing operand is named' "$(cat "$tmp/err")" '^ctp-tojsonl: .*/nonexistent: No such file or directory$'
ok 'no incomplete file is left' test ! -e "$tmp/y.jsonl"
"$from" -o "$tmp/y.ctp" "$tmp/x.ctp" 2>"$tmp/err"
is 'a raw stream is no JSON: status 1' $? 1
is 'the message is one line' "$(cat "$tmp/err")" "ctp-fromjsonl: $tmp/x.ctp: is a raw stream already; ctp-tojsonl reads it"
ok 'no file is left' test ! -e "$tmp/y.ctp"
printf 'probe_id,tid,addr,seq,is_active,ts\n1,2,0x0,4,true,5\n' >"$tmp/x.csv"
is 'CSV is no JSON' "$("$from" "$tmp/x.csv" 2>&1)" "ctp-fromjsonl: $tmp/x.csv: is CSV; ctp-fromcsv reads it"
is 'CSV is no stream' "$("$to" "$tmp/x.csv" 2>&1)" "ctp-tojsonl: $tmp/x.csv: looks like CSV; pipe it through ctp-fromcsv"
cp "$tmp/x.ctp" "$tmp/self.ctp"
"$to" "$tmp/plain" -o "$tmp/self.ctp" "$tmp/self.ctp" 2>"$tmp/err"
is '-o an input: status 1' $? 1
is '-o that is an input is reported' "$(cat "$tmp/err")" "ctp-tojsonl: -o $tmp/self.ctp: is also the input; name another file"
"$to" -o "$tmp/self.ctp" <"$tmp/self.ctp" 2>/dev/null
is '-o what is stdin: status 1' $? 1
ok 'the input is unchanged' cmp "$tmp/x.ctp" "$tmp/self.ctp"
if command -v zstd >/dev/null && "$from" -q -o "$tmp/x.ctp.zst" "$tmp/plain" 2>/dev/null; then
	"$to" "$tmp/x.ctp.zst" >"$tmp/out"
	ok '-o x.zst compresses, and the result is recognised' cmp "$tmp/plain" "$tmp/out"
	zstd -qc "$tmp/plain" | "$from" | zstd -q | "$to" >"$tmp/out"
	ok 'zstd on both sides needs no option' cmp "$tmp/plain" "$tmp/out"
fi
if script -qec true /dev/null </dev/null >/dev/null 2>&1; then # there is one, and a pseudo-terminal for it
	script -qec "$from $tmp/plain" /dev/null </dev/null >"$tmp/out"
	is 'binary to a terminal is refused' $? 1
	like 'the message says what to do' "$(cat "$tmp/out")" 'terminal; use a pipe, or -f'
fi

other='{"type":"@section","attrs":{}}
{"type":"@schema","name":"a b","kind":"other","fields":[{"name":"n","type":"u8"}]}
{"type":"a b","n":1}
{"type":"@end","complete":true}'
is 'no transitions, but others: a notice names the classes' "$(echo "$other" | "$from" | "$to" 2>&1)" \
	'ctp-tojsonl: stdin: no transitions, but records of a b: -a shows them'
is 'a trace of coroutines gives no notice' "$(echo "$other" | sed 's/"other"/"birth"/' | "$from" | "$to" 2>&1)" ''
is '-a shows the records of other classes' "$(echo "$other" | "$from" | "$to" -a 2>&1)" "$other"
done_testing
