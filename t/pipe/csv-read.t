#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# CSV from other sources: other columns and spellings, inferred classes, and messages for rows that cannot be read.
. t/helper/tap.sh
to=$BIN/ctp-tocsv from=$BIN/ctp-fromcsv json=$BIN/ctp-tojsonl
[ -x "$from" ] || skip_all 'built without libcsv: there is no ctp-fromcsv'

# --- the same rows in other ways ------------------------------------------------------------------------------------------------
cat >"$tmp/plain.csv" <<'CSV'
probe_id,tid,addr,seq,is_active,ts
123,456,0x0000000000000000,2,true,123456789
123,456,0x00007fffdeadbeef,2,false,123456789
18446744073709551615,18446744073709551615,0xffffffffffffffff,18446744073709551615,true,18446744073709551615
CSV
same() { # NAME: the input gives the rows above
	"$from" 2>"$tmp/err" | "$to" >"$tmp/out"
	ok "$1" cmp "$tmp/plain.csv" "$tmp/out"
	is "$1: no message is printed" "$(cat "$tmp/err")" ''
}
sed 's/$/\r/' "$tmp/plain.csv" >"$tmp/case"
same 'CRLF' <"$tmp/case"
tr '\n' '\r' <"$tmp/plain.csv" >"$tmp/case"
same 'CR' <"$tmp/case"
sed '2{N;s/\n/\r/;}' "$tmp/plain.csv" >"$tmp/case"
same 'CR and LF mixed' <"$tmp/case"
printf %s "$(cat "$tmp/plain.csv")" >"$tmp/case"
same 'no newline at the end' <"$tmp/case"
sed 's/[^,]*/"&"/g' "$tmp/plain.csv" >"$tmp/case"
same 'all in quotes' <"$tmp/case"
sed 's/[^,]*/"&"/g; s/$/\r/' "$tmp/plain.csv" >"$tmp/case"
same 'all in quotes, CRLF' <"$tmp/case"
sed 's/[^,]*/"&"/2' "$tmp/plain.csv" >"$tmp/case"
same 'some in quotes' <"$tmp/case"
{ printf '\357\273\277' && cat "$tmp/plain.csv"; } >"$tmp/case"
same 'a byte order mark' <"$tmp/case"
{ printf '\357\273\277' && sed 's/[^,]*/"&"/g' "$tmp/plain.csv"; } >"$tmp/case"
same 'a byte order mark before a quote' <"$tmp/case"
sed 's/,/ ,\t /g; s/^/ /; s/$/ /' "$tmp/plain.csv" >"$tmp/case"
same 'space around values' <"$tmp/case"
sed 's/^/\n\n/; s/$/\n   /' "$tmp/plain.csv" >"$tmp/case"
same 'empty lines' <"$tmp/case"
awk -F, -v OFS=, '{ print $6, $3, $1, $5, $4, $2 }' "$tmp/plain.csv" >"$tmp/case"
same 'another order' <"$tmp/case"
awk -F, -v OFS=, '{ print NR == 1 ? "" : NR - 2, $0, NR == 1 ? "more,and more" : "\"a,\"\"\nb\"," }' "$tmp/plain.csv" >"$tmp/case"
same 'columns that are not known, one without a name' <"$tmp/case"
sed 's/0x00007fffdeadbeef/0x7fffDEADBEEF/; s/0x0000000000000000/0/; s/true/True/; s/false/0/; s/,2,/,2.0,/; s/,456,/,4.56e2,/' "$tmp/plain.csv" >"$tmp/case"
same 'other spellings of values' <"$tmp/case"
tail -n +2 "$tmp/plain.csv" | sed '1s/^/ts,is_active,seq,addr,tid,probe_id\n/' | "$from" -q >/dev/null 2>&1
is 'columns are found by the header, not by order' $? 1
"$from" - "$tmp/plain.csv" <"$tmp/plain.csv" | "$to" >"$tmp/out"
is 'several files are read, each with its header' "$(wc -l <"$tmp/out")" 7
if command -v zstd >/dev/null; then zstd -qc "$tmp/plain.csv" >"$tmp/case" && same 'compressed' <"$tmp/case"; fi
"$from" "$tmp/plain.csv" | "$to" -a >"$tmp/full.csv"
printf 'type,b,a,late,@meta\n@section,,,,{}\n@schema,,,,%s\nx,17,4,,\n@end,,,,true\n' \
	'"{""name"":""x"",""fields"":[{""name"":""a"",""type"":""u8""},{""name"":""b"",""type"":""u8""}]}"' >"$tmp/x.csv"
sed 's/type,b,a/type,a,b/; s/17,4/4,17/' "$tmp/x.csv" >"$tmp/y.csv"
for files in 'full full' 'full x' 'x y' 'x full y'; do
	# shellcheck disable=SC2046,SC2086
	set -- $(printf "$tmp/%s.csv " $files)
	"$from" "$@" | "$json" -a >"$tmp/want"
	cat "$@" | "$from" | "$json" -a >"$tmp/got"
	ok "concatenated files of the full form are read like separate ones: $files" cmp "$tmp/want" "$tmp/got"
done
{ head -n 3 "$tmp/x.csv" && cat "$tmp/y.csv"; } | "$from" 2>"$tmp/err" | "$json" -aq >"$tmp/got"
is 'a truncated first file does not affect the second' "$(grep -c '"x","a":4,"b":17' "$tmp/got") $(cat "$tmp/err")" \
	'1 ctp-fromcsv: stdin: line 4: the section before has no end: it was cut short'
printf 'type,a,@meta\n@section,,{}\n@end,,true\n@schema,,%s\n' '"{""name"":""x"",""fields"":[{""name"":""a"",""type"":""u8""}]}"' >"$tmp/first.csv"
printf 'type,a,@meta\nx,-1,\n' >"$tmp/second.csv"
like 'a declaration of one file does not count for the next' "$("$from" "$tmp/first.csv" "$tmp/second.csv" | "$json" -a)" '^{"type":"x","a":-1}$'

# Fields longer than the fast path takes, and longer than one read.
awk 'BEGIN { print "probe_id,note,tid,addr,seq,is_active,ts"
	for (i = 1; i <= 5; i++) {
		printf "%d,\"", i
		for (j = 0; j < 30000; j++) printf "n, \"\"%d\n", j
		printf "\",1,0x0,2,true,%d\n", i
	} }' | "$from" | "$to" >"$tmp/out"
is 'long unknown fields are skipped' "$(tail -n 1 "$tmp/out")" '5,1,0x0000000000000000,2,true,5'

# --- what is rejected, with line and column -------------------------------------------------------------------------------------
good=1,2,0x0000000000000003,2,true,5
header=probe_id,tid,addr,seq,is_active,ts
rejects() { # NAME PATTERN ROW [LINE]: the row is rejected, the rows around it are not
	printf '%s\n%s\n%s\n%s\n' "$header" "$good" "$3" "$good" | "$from" >"$tmp/out.ctp" 2>"$tmp/err"
	is "$1: status 3" $? 3
	like "$1: the row is reported" "$(head -n 1 "$tmp/err")" "^ctp-fromcsv: stdin: line ${4:-3}: $2; rejected\$"
	like "$1: it is counted" "$(tail -n 1 "$tmp/err")" ': 2 rows kept, 1 rejected, 0 late$'
	is "$1: the others are kept" "$("$to" "$tmp/out.ctp" | grep -c "^$good\$")" 2
}
rejects 'a wrong number' 'column 2 \(tid\): "x" is not a u64' '1,x,0x3,4,true,5'
rejects 'one too large' 'column 4 \(seq\): "18446744073709551616" is not a u64' '1,2,0x3,18446744073709551616,true,5'
rejects 'a wrong address' 'column 3 \(addr\): "0xg" is not a u64' '1,2,0xg,4,true,5'
rejects 'a wrong bool' 'column 5 \(is_active\): "yes" is not a bool' '1,2,0x3,4,yes,5'
rejects 'a wrong time' 'column 6 \(ts\): "noon" is not a u64' '1,2,0x3,4,true,noon'
rejects 'a date among numbers' 'column 6 \(ts\): "2026-11-15T04:53:48Z" is not a u64' '1,2,0x3,4,true,2026-11-15T04:53:48Z'
rejects 'an empty value' 'column 1 \(probe_id\): is empty and not a u64' ',2,0x3,4,true,5'
rejects 'too few fields' '5 fields, and the header has 6' '1,2,0x3,4,true'
rejects 'too many' '7 fields, and the header has 6' '1,2,0x3,4,true,5,'
rejects 'a quote in a field' 'column 2: a quote where none may be; .*' '1,2"3,0x3,4,true,5'
rejects 'text after a closing quote' 'column 2: a quote where none may be; .*' '1,"2"3,0x3,4,true,5'
rejects 'a station that was not yet written' 'a row without probe_id whose time or thread is impossible' '0,0,0x3,4,true,0'
rejects 'a value on two lines: the row begins on the first' 'column 2 \(tid\): "2\\x0a3" is not a u64' '1,"2
3",0x3,4,true,5'
printf '%s\n%s\n%s\n' "$header" "$good" '1,"2,0x3,4,true,5' | "$from" 2>"$tmp/err" >"$tmp/out.ctp"
is 'a quote that is not closed: status 3' $? 3
is 'an open quote is reported' \
	"$(head -n 1 "$tmp/err")" 'ctp-fromcsv: stdin: line 3: column 2: a quote that is not closed until the end; rejected'
{ printf '%s\n%s\n1,"2' "$header" "$good" && head -c 5000000 /dev/zero | tr '\0' x && printf '\n%s\n' "$good"; } | "$from" 2>"$tmp/err" | "$to" >"$tmp/out"
like 'a row that is too long is reported' "$(head -n 1 "$tmp/err")" 'line 3: column 2: the row is longer than 4194304 bytes; is a quote not closed\?; rejected$'
is 'the rows after it are kept' "$(grep -c "^$good\$" "$tmp/out")" 2
{ echo "$header" && awk 'BEGIN { for (i = 0; i < 50; i++) print i }'; } | "$from" >"$tmp/out" 2>"$tmp/err"
is 'an input without a valid row gives status 1 and no stream' "$? $(wc -c <"$tmp/out")" '1 0'
is 'ten rows are reported, then the number of others' "$(grep -c rejected "$tmp/err") $(grep -c 'and 40 more' "$tmp/err")" '10 1'

if command -v zstd >/dev/null; then
	# Blocks of zstd's are of 128 KiB, and the second ends within the last number.
	{ echo "$header" && yes 1,2,0x0,4,true,1234567890123456789 | head -n 10000; } | zstd -q | head -c -8 | "$from" 2>"$tmp/err" | "$to" -q >"$tmp/out"
	like 'a row cut in half by a truncated compressed input is reported' "$(head -n 1 "$tmp/err")" 'line 7490: column 6: cut off with the input; rejected$'
	is 'it is not taken for a whole row' "$(tail -n +2 "$tmp/out" | sort -u)" 1,2,0x0000000000000000,4,true,1234567890123456789
fi

text() { head -c "$1" /dev/zero | tr '\0' x; }
{ printf 'a,b\n1,x\n2,' && text 1048577 && printf '\n3,' && text 1048576 && echo; } | "$from" --class x 2>"$tmp/err" | "$json" -aq >"$tmp/out"
is 'a text too long is rejected' "$(head -n 1 "$tmp/err")" \
	'ctp-fromcsv: stdin: line 3: column 2 (b): 1048577 bytes; a text may have 1048576, and all of a row 2097152; rejected'
is 'a text of the maximum length is kept' "$(grep -c '"type":"x"' "$tmp/out")" 2

# --- what is no such file -------------------------------------------------------------------------------------------------------
refuses() { # NAME PATTERN: the input is refused, and nothing is written
	"$from" >"$tmp/out" 2>"$tmp/err"
	is "$1: status 1, no stream" "$? $(wc -c <"$tmp/out")" '1 0'
	is "$1: one line" "$(wc -l <"$tmp/err")" 1
	like "$1: said" "$(cat "$tmp/err")" "^ctp-fromcsv: stdin: $2\$"
}
tail -n +2 "$tmp/plain.csv" >"$tmp/case"
refuses 'no header' 'line 1: is no header; the first row must name the columns' <"$tmp/case"
printf 'a,b,a\n1,2,3\n' >"$tmp/case"
refuses 'a column that is there twice' 'line 1: columns 1 and 3 are both called a' <"$tmp/case"
printf 'a;b\n1;2\n' >"$tmp/case"
refuses 'semicolons' 'line 1: only one column; they must be separated by commas' <"$tmp/case"
printf 'a,"b\n1,2\n' >"$tmp/case"
refuses 'a header that is not closed' 'line 1: column 2: a quote that is not closed until the end' <"$tmp/case"
printf '{"probe_id":1}\n' >"$tmp/case"
refuses 'JSON' 'is JSON; ctp-fromjsonl reads it' <"$tmp/case"
"$from" "$tmp/plain.csv" >"$tmp/case"
refuses 'a raw stream' 'is a raw stream already; .*' <"$tmp/case"
printf '\177ELF\2\1\1\0\0\0\0\0\n' >"$tmp/case"
refuses 'a binary file' 'line 1: column 1: has no usable name; is this CSV\?' <"$tmp/case"
awk 'BEGIN { for (i = 0; i < 100000; i++) printf "c%d,", i; print "" }' >"$tmp/case"
refuses 'a hundred thousand columns' 'line 1: more than 16384 columns' <"$tmp/case"
head -c 5000000 /dev/zero | tr '\0' , >"$tmp/case"
refuses 'a header of five million' 'line 1: .*(more than 16384 columns|longer than 4194304 bytes).*' <"$tmp/case"
awk 'BEGIN { for (i = 0; i < 200; i++) printf "c%d,", i; print ""; }' >"$tmp/case"
refuses 'more columns than a class has fields' 'line 1: more than 128 columns make no class; leave some out' <"$tmp/case"
: | "$from" 2>"$tmp/err" >"$tmp/out.ctp"
is 'an empty input gives status 3 and a message' "$? $(cat "$tmp/err")" '3 ctp-fromcsv: stdin: the input is empty'

# --- classes that are inferred --------------------------------------------------------------------------------------------------
infers() { # NAME FIELDS: the class inferred from the input, as ctp-tojsonl shows it
	is "$1" "$("$from" --class x 2>&1 | "$json" -a | sed -n 's/.*"name":"x","kind":"other","fields":\(.*\)}$/\1/p')" "$2"
}
f() { printf '{"name":"%s","type":"%s","pred":"prev"%s}' "$@"; }
printf 'a,b\n1,2\n-3,4\n' >"$tmp/case"
infers 'whole numbers' "[$(f a i64 ''),$(f b u64 '')]" <"$tmp/case"
printf 'a,b,c\n1,1,18446744073709551615\n1.5,NaN,-1\n' >"$tmp/case"
infers 'other numbers, and those that fit none' "[$(f a f64 ''),$(f b f64 ''),$(f c string '')]" <"$tmp/case"
printf 'a,b,c\ntrue,0x00000000000000ff,x\nFalse,0xffffffffffffffff,1\n' >"$tmp/case"
infers 'truth, addresses, text' "[$(f a bool ''),$(f b u64 ',"hex":true'),$(f c string '')]" <"$tmp/case"
printf 'a,b\n007,0\n8,0.5\n' >"$tmp/case"
infers 'digits after a leading zero are text' "[$(f a string ''),$(f b f64 '')]" <"$tmp/case"
printf 'a,b\n1,\n,x\n' >"$tmp/case"
infers 'columns with holes are text' "[$(f a string ''),$(f b string '')]" <"$tmp/case"
printf 'ts,type\n1,b\n' >"$tmp/case"
infers 'ts is the time; with --class, type is a column' '[{"name":"ts","type":"u64","role":"time","pred":"time","unit":"ns"},'"$(f type string '')]" <"$tmp/case"
printf 'when,x\n2026-11-15T04:53:48.5Z,1\n' >"$tmp/case"
infers 'a date and time is the time' '[{"name":"when","type":"u64","role":"time","pred":"time","unit":"ns"},'"$(f x u64 '')]" <"$tmp/case"
printf 'when,ts\n2026-11-15T04:53:48.5Z,1\n' >"$tmp/case"
infers 'and then ts is a number' '[{"name":"when","type":"u64","role":"time","pred":"time","unit":"ns"},'"$(f ts u64 '')]" <"$tmp/case"
printf 'a,b\n' >"$tmp/case"
infers 'without rows there is no class' '' <"$tmp/case"
printf 'a\n1\n' >"$tmp/some.thing.csv"
like 'its name is the name of the file' "$("$from" "$tmp/some.thing.csv" | "$json" -a)" '^{"type":"some","a":1}$'
{ echo a && awk 'BEGIN { for (i = 0; i < 1500; i++) print i }' && echo x; } | "$from" --class x 2>"$tmp/err" | "$json" -aq >"$tmp/out"
is 'types are inferred from the first rows' "$(head -n 1 "$tmp/err")" 'ctp-fromcsv: stdin: line 1502: column 1 (a): "x" is not a u64; rejected'
is 'the rows used for inference are kept' "$(grep -c '"type":"x"' "$tmp/out")" 1500
printf 'ts,is,b\n2026-11-15T04:53:48.000000001Z,1,x\n2026-11-15 04:53:49+00:00,2,y\n' | "$from" --class x 2>"$tmp/err" | "$json" -a >"$tmp/out"
like 'dates and times: the section says what they are' "$(sed -n 1p "$tmp/out")" '"wall_offset_ns":"0"'
is 'dates and times become nanoseconds' "$(grep -o '"ts":[0-9]*' "$tmp/out" | tr '\n' ' ')" '"ts":1794718428000000001 "ts":1794718429000000000 '
printf '%s\n1,2,3,4,true,2026-11-15T04:53:48Z\n%s\n' "$header" "$good" | "$from" 2>&1 >/dev/null | head -n 1 >"$tmp/err"
is 'a number among dates is rejected' "$(cat "$tmp/err")" 'ctp-fromcsv: stdin: line 3: column 6 (ts): "5" is not a date and time, as the rows before have it; rejected'

printf 'ts,is_active,seq,addr,tid,probe_id\n2026-11-15T04:53:48Z,true,4,0x3,0,0\n5,true,2,0x3,2,1\n' | "$from" 2>/dev/null | "$to" >"$tmp/out"
is 'a row that is rejected does not decide what a time is' "$(tail -n 1 "$tmp/out")" "$good"

# --- the full form by hand ------------------------------------------------------------------------------------------------------
cat >"$tmp/typed.csv" <<'CSV'
ts,type,probe_id,coro,station,after,before,note
5,birth,1,2,3,5,5,
6,mine,,,,,,a
7,mine,,,,,,17
8,@@odd,,,,,,
CSV
"$from" "$tmp/typed.csv" 2>"$tmp/err" | "$json" -a | sed '/"@section"/d; s/"kind":"birth".*/"kind":"birth"/' >"$tmp/out"
is 'types without a schema: the classes are inferred' "$(cat "$tmp/out")" '{"type":"@schema","name":"birth","kind":"birth"
{"type":"birth","ts":5,"probe_id":1,"coro":2,"station":3,"after":5,"before":5}
{"type":"@schema","name":"mine","kind":"other","fields":[{"name":"ts","type":"u64","role":"time","pred":"time","unit":"ns"},{"name":"note","type":"string","pred":"prev"}]}
{"type":"mine","ts":6,"note":"a"}
{"type":"mine","ts":7,"note":"17"}
{"type":"@schema","name":"@odd","kind":"other","fields":[{"name":"ts","type":"u64","role":"time","pred":"time","unit":"ns"}]}
{"type":"@@odd","ts":8}
{"type":"@end","complete":true}'
typed() { printf 'type,a,@meta\n%s\n' "$2" | "$from" 2>&1 >/dev/null | head -n 1 >"$tmp/err"; is "$1" "$(cat "$tmp/err")" "ctp-fromcsv: stdin: $3"; }
typed 'a type that is empty' ',1,' 'line 2: column 1 (type): no usable name; rejected'
typed 'a type of ours that does not exist' '@x,,' 'line 2: "@x" is not a type that is allowed here; rejected'
typed 'an end without a section' '@end,,true' 'line 2: "@end" is not a type that is allowed here; rejected'
typed 'a schema that is none' '@schema,,{}' 'line 2: not a valid description of a section or class; rejected'
typed 'a section that cannot be read' '@section,,[]' 'line 2: not a valid description of a section or class; rejected'
typed 'a field that has no column' '@schema,,"{""name"":""x"",""kind"":""other"",""fields"":[{""name"":""b"",""type"":""u8""}]}"
x,1,' 'line 3: x: there is no column b; rejected'
typed 'a section without an end' '@section,,' 'the section has no end: it was cut short'

if command -v zstd >/dev/null; then
	{ echo "$header" && yes "${good}678901234" | head -n 10000; } | zstd -q | head -c -8 >"$tmp/torn.zst"
	printf '%s\n' "$good" | zstd -q >>"$tmp/torn.zst"
	"$from" "$tmp/torn.zst" 2>"$tmp/err" | "$to" | tail -n +2 | sort -u >"$tmp/out"
	is 'a row at a gap in the input is rejected' "$(paste -sd' ' "$tmp/out")" "$good ${good}678901234"
fi

done_testing
