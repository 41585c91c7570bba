#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# Files of ppt: every value of every frame is decoded, and files are reproduced byte for byte through every format; duplicate and missing frames; and
# files that are damaged in any way. Files are made by pptfile.py, which also knows what is in them.
. t/helper/tap.sh
command -v python3 >/dev/null || skip_all "there is no python3"
fixtures=../shared/fixtures/ppt

ppt() { # decodes so that the file can be encoded again, unless --plain comes first
	case $1 in decode) shift; set -- decode --exact "$@" ;; --plain) shift ;; esac
	"$BIN/ctp-ppt" "$@"
}
make_file() { python3 t/helper/pptfile.py make "$1" "$tmp/$1.ppt1" "$tmp/$1.truth"; }
differs() { cmp "$1" "$2" 2>&1; }

# through NAME FILE COMMAND: a stream that goes through the command encodes to the same file.
through() { sh -c "$3" <"$2.ctp" >"$tmp/way.ctp" 2>"$tmp/err" && ppt encode -q -o "$tmp/back.ppt1" "$tmp/way.ctp"
	is "$1: the file is reproduced" "$(cat "$tmp/err")$(differs "$tmp/back.ppt1" "$2")" ''; }

ways() { # NAME FILE; FILE.ctp is its stream
	through "$1" "$2" cat
	through "$1, through JSONL" "$2" "'$BIN/ctp-tojsonl' -aq | '$BIN/ctp-fromjsonl' -q"
	through "$1, through CSV" "$2" "'$BIN/ctp-tocsv' -aq | '$BIN/ctp-fromcsv' -q"
	[ ! -x "$BIN/ctp-fromctf" ] || { rm -rf "$tmp/ctf"; through "$1, through CTF" "$2" \
		"'$BIN/ctp-toctf' -qo '$tmp/ctf' && '$BIN/ctp-fromctf' -q '$tmp/ctf'"; }
}

# --- every kind of file ---------------------------------------------------------------------------------------------------
for kind in mixed timeval one timeless wrap zero odd unordered header spelled wide; do
	make_file $kind
	ppt decode -q -o "$tmp/$kind.ppt1.ctp" "$tmp/$kind.ppt1"
	is "$kind: decode" $? 0
	is "$kind: all values" "$("$BIN/ctp-tojsonl" -a "$tmp/$kind.ppt1.ctp" | python3 t/helper/pptfile.py judge "$tmp/$kind.truth")" ''
	ways $kind "$tmp/$kind.ppt1"
done
clock_of() { "$BIN/ctp-tojsonl" -a "$tmp/$1.ppt1.ctp" | sed -n '1s/.*"clock":"\([a-z]*\)".*/\1/p'; }
is 'the clock is that of the layout' "$(clock_of mixed) $(clock_of one) $(clock_of timeval) $(clock_of timeless)" 'monotonic realtime realtime '
like 'a long header has parts' "$("$BIN/ctp-tojsonl" -a "$tmp/header.ppt1.ctp" | grep -c '"type":"ppt_header"')" '^[2-9]$'
if command -v zstd >/dev/null; then
	zstd -q "$tmp/mixed.ppt1"
	ppt decode "$tmp/mixed.ppt1.zst" | ppt encode -o "$tmp/back.ppt1"
	is 'a compressed file is decoded' "$(differs "$tmp/back.ppt1" "$tmp/mixed.ppt1")" ''
fi

# --- without the columns for encode ----------------------------------------------------------------------------------------
ppt --plain decode -q -o "$tmp/plain.ctp" "$tmp/mixed.ppt1"
is 'columns for encode are left out by default' "$("$BIN/ctp-tojsonl" -a "$tmp/plain.ctp" | grep -v '"type":"@' | grep -c '"ppt_place"\|"ppt_padding"\|"ppt_raw"\|_0_start"')" 0
without() { "$BIN/ctp-tojsonl" -a "$1" | grep '^{"type":"ppt_Mix' | sed 's/,"ppt_[pr][a-z]*":\("[^"]*"\|[-0-9]*\|null\)//g; s/,"[a-z]*_[0-9]_start":[0-9]*//g'; }
without "$tmp/mixed.ppt1.ctp" >"$tmp/exact.rows"
without "$tmp/plain.ctp" >"$tmp/plain.rows"
ok 'all other columns are there' sh -c 'test -s "$0" && cmp "$0" "$1"' "$tmp/exact.rows" "$tmp/plain.rows"
ppt encode -o "$tmp/plain.ppt1" "$tmp/plain.ctp" 2>"$tmp/err"
is 'encode accepts such a stream, and reports the missing columns' "$? $(sed 's/: padding.*//' "$tmp/err")" '0 ctp-ppt: Mix: the stream was made without --exact'
ppt --plain decode -q -o "$tmp/again.ctp" "$tmp/plain.ppt1"
without "$tmp/again.ctp" | sort >"$tmp/again.rows"
is 'the values are the same' "$(sort "$tmp/plain.rows" | cmp - "$tmp/again.rows" 2>&1)" ''

# --- other programs read it -------------------------------------------------------------------------------------------------
if command -v sqlite3 >/dev/null && [ -x "$BIN/ctp-sqlite" ]; then
	"$BIN/ctp-sqlite" -qo "$tmp/mixed.sqlite" "$tmp/mixed.ppt1.ctp"
	is 'sqlite3 has the values' "$(sqlite3 "$tmp/mixed.sqlite" "select count(*), sum(d_duration) > 0, sum(ev_page_faults), min(n) < 0 from ppt_Mix_all")" \
		"200|1|$(seq 0 299 | awk '$1 % 3 < 2 { sum += 30 * $1 } END { print sum }')|1"
	is 'sqlite3: of the other frame' "$(sqlite3 "$tmp/mixed.sqlite" 'select sum(n), count(*) from ppt_Mix_small')" '-15050|100'
fi
if command -v babeltrace2 >/dev/null && [ -x "$BIN/ctp-toctf" ]; then
	rm -rf "$tmp/ctf"
	"$BIN/ctp-toctf" -qo "$tmp/ctf" "$tmp/mixed.ppt1.ctp"
	babeltrace2 "$tmp/ctf" >"$tmp/bt2"
	is 'babeltrace2 has the frames' "$(grep -c 'ppt_Mix_all: {' "$tmp/bt2") $(grep -c 'ppt_Mix_small: {' "$tmp/bt2")" '200 100'
	like 'babeltrace2 has a negative number' "$(grep 'ppt_Mix_small: {' "$tmp/bt2" | head -n 1)" ' n = -2,'
fi
is 'CSV has the values' "$("$BIN/ctp-tocsv" --class ppt_Mix_small "$tmp/mixed.ppt1.ctp" | sed -n '1,2p' | cut -d , -f 1-5)" \
	"$(printf 'ppt_seqno,n,c_page_faults,c_cpu_clock,c_2\n3,-2,18446744073709551613,2,7')"

python3 -c 'import sys; sys.stdout.buffer.write(open(sys.argv[1], "rb").read().replace(b"\"frFormat\": \"1.0.0\"", b"\"frFormat\": \"9.9\"  ").replace(b"\"frFormat\":\"1.0.0\"", b"\"frFormat\":\"9.9\"  "))' \
	"$tmp/mixed.ppt1" >"$tmp/later.ppt1"
ppt decode -o "$tmp/later.ctp" "$tmp/later.ppt1" 2>"$tmp/err"
is 'a file of a format that is not known is refused' "$? $(sed 's/.*later.ppt1: //' "$tmp/err")" '1 the layout of the buffer: its frFormat is 9.9, and 1.0.0 is known'

# --- duplicate and missing frames ------------------------------------------------------------------------------------------
f=$tmp/one.ppt1
python3 t/helper/pptfile.py frames "$f"
pick() { cat "$f.head"; for i; do cat "$f.$i"; done; }
# decoded NAME STATUS NOTICE: of $tmp/d.ppt1; its stream is $tmp/d.ctp.
decoded() {
	ppt decode "$tmp/d.ppt1" >"$tmp/d.ctp" 2>"$tmp/err"
	is "$1: status" $? "$2"
	is "$1: the message, if any" "$(sed 's/^ctp-ppt: [^ ]*d.ppt1: [A-Za-z0-9]*: //' "$tmp/err")" "$3"
	ppt encode -q "$tmp/d.ctp" >"$tmp/back.ppt1"
}
rows() { "$BIN/ctp-tojsonl" -aq "$tmp/d.ctp" | grep "^{\"type\":\"$1\""; }

pick $(seq 0 19) $(seq 25 29) 28 29 20 21 22 23 24 25 26 27 >"$tmp/d.ppt1"
decoded 'the ring again, with what was missing' 0 '30 frames kept, 5 dropped that came again'
pick $(seq 0 19) $(seq 25 29) 20 21 22 23 24 >"$tmp/once.ppt1"
is 'the other frames are unchanged' "$(differs "$tmp/back.ppt1" "$tmp/once.ppt1")" ''
is 'there is no loss' "$(rows ppt_lost)" ''
pick 5 6 7 8 9 0 1 2 3 4 >"$tmp/d.ppt1"
decoded 'a ring from its middle on' 0 ''
is 'the order is kept' "$(differs "$tmp/back.ppt1" "$tmp/d.ppt1")" ''
pick 0 1 2 3 >"$tmp/d.ppt1"
ppt decode -q "$tmp/d.ppt1" | "$BIN/ctp-tojsonl" -aq >"$tmp/d.jsonl"
place() { # SEQNO PLACE: encodes them with another ppt_place
	sed "/\"ppt_seqno\":$1,/s/\"ppt_place\":-1000/\"ppt_place\":$2/" "$tmp/d.jsonl" | "$BIN/ctp-fromjsonl" -q >"$tmp/d.ctp"
	ppt encode -q "$tmp/d.ctp" >"$tmp/back.ppt1" 2>"$tmp/err"
}
place 1001 9223372036854774806
pick 0 2 3 1 >"$tmp/d.ppt1"
is 'a frame with the last place is written last' "$(differs "$tmp/back.ppt1" "$tmp/d.ppt1")" ''
place 1002 -1001
like 'two frames at one place are refused' "$? $(cat "$tmp/err")" '^1 ctp-ppt: .*frame 1 of the section comes twice, or too late for its place$'
pick 0 1 5 6 9 5 6 >"$tmp/d.ppt1"
decoded 'gaps' 3 '5 frames kept, 2 dropped that came again, 5 lost'
is 'each gap is a loss' "$(rows ppt_lost)" "$(printf '{"type":"ppt_lost","ppt_seqno":%d,"count":%d,"unverified":0,"ts":170000000%d00000000%d,"after":170000000%d00000000%d}\n' \
	1002 3 5 5 1 1 1007 2 9 9 6 6)"
if command -v sqlite3 >/dev/null && [ -x "$BIN/ctp-sqlite" ]; then
	"$BIN/ctp-sqlite" -qo "$tmp/lost.sqlite" "$tmp/d.ctp"
	is 'sqlite3 has them among all losses' "$(sqlite3 "$tmp/lost.sqlite" 'select "index", count, after, ts from losses' | paste -sd ' ' -)" \
		'1002|3|1700000001000000001|1700000005000000005 1007|2|1700000006000000006|1700000009000000009'
	is 'the sum includes them' "$(sqlite3 "$tmp/lost.sqlite" 'select lost from loss_totals')" 5
fi
is 'ctp-stat counts them' "$("$BIN/ctp-stat" "$tmp/d.ctp" | sed -n 's/^lost: *//p')" '5, of them 0 unverified'
ppt encode "$tmp/d.ctp" >/dev/null 2>&1
is 'encode of a stream that tells of losses: status' $? 3
make_file holes
cp "$tmp/holes.ppt1" "$tmp/d.ppt1"
decoded 'more gaps than are kept' 3 '10000 frames kept, 9999 lost'
is 'the file is reproduced' "$(differs "$tmp/back.ppt1" "$tmp/d.ppt1")" ''
is 'each gap is a record' "$(rows ppt_lost | grep -c '"count":1,')" 9999
f=$tmp/wrap.ppt1
python3 t/helper/pptfile.py frames "$f"
pick 0 1 8 9 11 12 >"$tmp/d.ppt1"
decoded 'a gap where numbers become negative' 3 '6 frames kept, 7 lost'
is 'its number is negative' "$(rows ppt_lost | sed -n '2s/.*"ppt_seqno":\([-0-9]*\),"count":\([0-9]*\).*/\1 \2/p')" '-2147483648 1'
f=$tmp/one.ppt1

# --- torn and strange -------------------------------------------------------------------------------------------------------
size=$(wc -c <"$f.0")
# poke FILE OFFSET BYTES: BYTES as printf has them
poke() { printf "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null; }
pick 0 1 2 3 4 >"$tmp/d.ppt1"
head=$(wc -c <"$f.head")
poke "$tmp/d.ppt1" $((head + 3 * size - 4)) '\001'
decoded 'a torn frame' 3 "4 frames kept, 1 torn, 1 lost; the first damage is at byte $((head + 2 * size))"
like 'the torn frame is reported' "$(rows ppt_lost)" '"ppt_seqno":1002,"count":1,"unverified":1,'
pick 0 1 2 1 2 1 1 >"$tmp/d.ppt1"
poke "$tmp/d.ppt1" $((head + 3 * size + 4)) X
poke "$tmp/d.ppt1" $((head + 5 * size + 4)) X
decoded 'two frames with one number' 3 "5 frames kept, 2 of these with the number of another, 2 dropped that came again; the first damage is at byte $((head + 3 * size))"
is 'both frames are there' \
	"$(rows ppt_One_only | sed 's/.*"ppt_seqno":\([0-9]*\),.*/\1/' | paste -sd ' ' -)" '1000 1001 1001 1001 1002'
{ pick 0 1 2 && tail -c $((4 * size)) "$tmp/d.ppt1" | head -c "$size" && pick 1 | tail -c "$size"; } >"$tmp/twice.ppt1"
is 'both are reproduced' "$(differs "$tmp/back.ppt1" "$tmp/twice.ppt1")" ''
pick 0 1 2 >"$tmp/d.ppt1"
head -c "$size" /dev/zero >>"$tmp/d.ppt1"
decoded 'a slot that was never written' 0 '3 frames kept, 1 slots never written'
python3 t/helper/pptfile.py frames "$tmp/mixed.ppt1"
cat "$tmp/mixed.ppt1.head" "$tmp/mixed.ppt1.0" "$tmp/mixed.ppt1.1" "$tmp/mixed.ppt1.2" >"$tmp/d.ppt1"
second=$(($(wc -c <"$tmp/mixed.ppt1.head") + $(wc -c <"$tmp/mixed.ppt1.0")))
poke "$tmp/d.ppt1" $((second + 4)) '\003'
decoded 'a type that is none' 3 "2 frames kept, 1 of no known type, 1 lost; the first damage is at byte $second"
like 'the message names the buffer' "$(cat "$tmp/err")" '^ctp-ppt: [^ ]*d.ppt1: Mix: 2 frames kept, '
cat "$tmp/mixed.ppt1.head" "$tmp/mixed.ppt1.0" >"$tmp/d.ppt1"
poke "$tmp/d.ppt1" $((second - 4)) '\111'
decoded 'not one frame that is whole' 3 "0 frames kept, 1 torn; the first damage is at byte $(wc -c <"$tmp/mixed.ppt1.head" | xargs)"

# --- damaged files ---------------------------------------------------------------------------------------------------------
pick 0 1 2 >"$tmp/d.ppt1"
printf 1234567 >>"$tmp/d.ppt1"
decoded 'a file that is cut short' 3 "3 frames kept, 7 bytes of a frame that is cut short; the first damage is at byte $((head + 3 * size))"
pick 0 1 2 >"$tmp/small.ppt1"
is 'whole frames are kept' "$(differs "$tmp/back.ppt1" "$tmp/small.ppt1")" ''
fails() { # NAME PATTERN: decode of $tmp/d.ppt1
	ppt decode -o "$tmp/none.ctp" "$tmp/d.ppt1" >"$tmp/out" 2>"$tmp/err"
	is "$1: status" $? 1
	like "$1: one line" "$(cat "$tmp/err")" "$2"
	is "$1: no file is left" "$(wc -l <"$tmp/err") $(ls "$tmp"/none* 2>/dev/null)" '1 '
}
echo 'no ppt at all' >"$tmp/d.ppt1"
fails 'another file' 'is no file of ppt'
: >"$tmp/d.ppt1"
fails 'an empty file' 'is no file of ppt'
printf 'PPT1\377\377\377\377' >"$tmp/d.ppt1"
fails 'a header of 4 GiB' 'header of 4294967295 bytes'
printf 'PPT1\000\000\000\002[' >"$tmp/d.ppt1"
fails 'a file that is cut in its header' 'is cut short within its header, at byte 9$'
printf 'PPT1\000\000\000\002[]' >"$tmp/d.ppt1"
fails 'a header that is no layout' 'the layout of the buffer: '
cp "$tmp/mixed.ppt1.ctp" "$tmp/d.ppt1"
fails 'a stream' 'is a raw stream already'

# --- summaries -------------------------------------------------------------------------------------------------------------
is 'decode -v: frames, by file and buffer' "$(ppt decode -v -o "$tmp/two.ctp" "$tmp/one.ppt1" "$tmp/mixed.ppt1" 2>&1)" \
	"$(printf 'ctp-ppt: %s: %s frames kept\n' "$tmp/one.ppt1" 'One: 50' "$tmp/mixed.ppt1" 'Mix: 300')"
is 'encode -v: frames, of its buffer' "$(ppt encode -v --buffer One -o "$tmp/back.ppt1" "$tmp/two.ctp" 2>&1)" 'ctp-ppt: One: 50 frames, 0 lost'
pick 0 1 5 6 9 5 6 >"$tmp/d.ppt1"
ppt decode -q -o "$tmp/d.ctp" "$tmp/d.ppt1"
is 'encode: losses of the stream are counted' "$(ppt encode -o "$tmp/back.ppt1" "$tmp/d.ctp" 2>&1)" 'ctp-ppt: One: 5 frames, 5 lost'
ppt encode -q --buffer Mix -o "$tmp/back.ppt1" "$tmp/mixed.ppt1.ctp" "$tmp/d.ctp"
is 'losses of another section do not matter: status' "$? $(differs "$tmp/back.ppt1" "$tmp/mixed.ppt1")" '0 '
head -c -9 "$tmp/d.ctp" >"$tmp/cut.ctp"
ppt encode -q --buffer Mix -o "$tmp/back.ppt1" "$tmp/mixed.ppt1.ctp" "$tmp/cut.ctp" 2>/dev/null
is 'damage counts for any section' $? 3
is 'the summary counts losses of other sections' "$(ppt encode --buffer Mix -o "$tmp/back.ppt1" "$tmp/mixed.ppt1.ctp" "$tmp/d.ctp" 2>&1)" 'ctp-ppt: Mix: 300 frames, 0 lost; 5 in other sections'
is '-q prints nothing' "$(ppt encode -qv -o "$tmp/back.ppt1" "$tmp/d.ctp" 2>&1)" ''
if command -v zstd >/dev/null; then
	zstd -q1 -f "$tmp/header.ppt1" -o "$tmp/cut.zst"
	truncate -s -3 "$tmp/cut.zst"
	zstd -q1 -f "$tmp/mixed.ppt1.ctp" -o "$tmp/cut.ctp.zst"
	truncate -s -3 "$tmp/cut.ctp.zst"
	ppt encode -o "$tmp/back.ppt1" "$tmp/cut.ctp.zst" 2>"$tmp/err"
	is 'encode of a stream whose compression is cut after its end: status' "$? $(differs "$tmp/back.ppt1" "$tmp/mixed.ppt1")" '3 '
	ppt decode -o "$tmp/d.ctp" "$tmp/cut.zst" 2>"$tmp/err"
	like 'a truncated compressed file is reported' "$? $(wc -l <"$tmp/err" | xargs) $(cat "$tmp/err")" '^3 1 ctp-ppt: .*cut.zst: [A-Za-z]*: [0-9]+ frames kept.*; zstd: .* at byte [0-9]+ of the file'
fi

# --- sections --------------------------------------------------------------------------------------------------------------
ppt decode -o "$tmp/two.ctp" "$tmp/one.ppt1" "$tmp/mixed.ppt1"
is 'two files: status' $? 0
is 'two files are two sections' "$("$BIN/ctp-tojsonl" -a "$tmp/two.ctp" | grep -c '"type":"@section"')" 2
ppt encode -o "$tmp/no.ppt1" "$tmp/two.ctp" 2>"$tmp/err"
is 'two buffers: status' $? 1
like 'two buffers: how to choose' "$(cat "$tmp/err")" 'One and Mix; choose one with --buffer'
ok 'two buffers: no file' test ! -e "$tmp/no.ppt1"
for buffer in One:one Mix:mixed; do
	ppt encode --buffer "${buffer%:*}" -o "$tmp/back.ppt1" "$tmp/two.ctp"
	is "--buffer ${buffer%:*}" "$(differs "$tmp/back.ppt1" "$tmp/${buffer#*:}.ppt1")" ''
done
like 'a buffer that is not there' "$(ppt encode --buffer Two "$tmp/two.ctp" 2>&1 >/dev/null)" 'has no buffer Two, but One, Mix$'
like 'a buffer that is there twice' "$(ppt encode "$tmp/one.ppt1.ctp" "$tmp/one.ppt1.ctp" 2>&1 >/dev/null)" 'two sections of the buffer One'
echo '{"probe_id":1,"tid":2,"addr":"0x0000000000000000","seq":2,"is_active":true,"ts":5}' | "$BIN/ctp-fromjsonl" -q >"$tmp/foreign.ctp"
like 'a stream without ppt' "$(ppt encode "$tmp/foreign.ctp" 2>&1 >/dev/null)" 'has no header of ppt'
cat "$tmp/foreign.ctp" "$tmp/one.ppt1.ctp" | ppt encode -q -o "$tmp/back.ppt1"
is 'other sections are skipped' "$(differs "$tmp/back.ppt1" "$tmp/one.ppt1")" ''

# A frame that began before the section did.
"$BIN/ctp-tojsonl" -a "$tmp/one.ppt1.ctp" | sed 's/\("type":"ppt_header".*"ts":\)[0-9]*/\11700000020000000000/' | "$BIN/ctp-fromjsonl" -q >"$tmp/early.ctp"
is 'frames come before the header' "$("$BIN/ctp-tojsonl" -a "$tmp/early.ctp" | grep -v '"@' | sed -n '3s/.*"type":"\([a-zA-Z_]*\)".*/\1/p')" ppt_One_only
ppt encode -o "$tmp/back.ppt1" "$tmp/early.ctp"
is 'such frames are written all the same' "$(differs "$tmp/back.ppt1" "$tmp/one.ppt1")" ''
"$BIN/ctp-tojsonl" -a "$tmp/one.ppt1.ctp" | sed 's/"n"/"m"/' | "$BIN/ctp-fromjsonl" -q >"$tmp/lacks.ctp"
like 'a class that is not as the header says' "$(ppt encode "$tmp/lacks.ctp" 2>&1 >/dev/null)" 'ppt_One_only has no field n of type i32'

# A frame that is missing in the stream is left out; a duplicate frame is an error.
"$BIN/ctp-tojsonl" -a "$tmp/one.ppt1.ctp" | sed '/"ppt_seqno":1002,/d' | "$BIN/ctp-fromjsonl" -q | ppt encode -o "$tmp/back.ppt1"
pick 0 1 $(seq 3 49) >"$tmp/once.ppt1"
is 'a frame that is missing in the stream' "$(differs "$tmp/back.ppt1" "$tmp/once.ppt1")" ''
like 'a frame that is there twice' "$("$BIN/ctp-tojsonl" -a "$tmp/one.ppt1.ctp" | sed '/"ppt_seqno":1002,/p' | "$BIN/ctp-fromjsonl" -q | ppt encode 2>&1 >/dev/null)" \
	'frame 2 of the section comes twice'

# --- the tool --------------------------------------------------------------------------------------------------------------
for command in decode encode; do
	is "$command -h has the synopsis of the page" "$(ppt $command -h | sed -n '1s/^usage: //p')" \
		"$(mandoc -T ascii -O width=1000 doc/ctp-ppt.1 2>/dev/null | sed "s/.$(printf '\b')//g" | sed -n "s/^ *\(ctp-ppt $command .*\)/\1/p")"
	like "$command -V" "$(ppt $command -V)" '^ctp-ppt [0-9]'
	[ ! -e /dev/full ] || like "$command to a full device" "$(ppt $command "$tmp/one.ppt1$([ $command = decode ] || echo .ctp)" 2>&1 >/dev/full)" 'No space left'
done
for wrong in '' nonsense 'decode -x' 'encode --buffer' '-x decode'; do
	# shellcheck disable=SC2086
	ppt $wrong </dev/null >"$tmp/out" 2>"$tmp/err"
	is "ctp-ppt $wrong: status, lines" "$? $(wc -l <"$tmp/err")" '2 1'
done
cp "$tmp/one.ppt1" "$tmp/d.ppt1"
like '-o that is the input' "$(ppt decode -o "$tmp/d.ppt1" "$tmp/d.ppt1" 2>&1)" 'is also the input'
is 'a pipe' "$(ppt decode <"$tmp/one.ppt1" | ppt encode | cmp - "$tmp/one.ppt1" 2>&1)" ''

# --- files captured and decoded by ppt itself -----------------------------------------------------------------------------------
if [ -r $fixtures/f232.ppt1 ]; then
	cp $fixtures/f232.ppt1 "$tmp/real.ppt1"
	ppt decode -o "$tmp/real.ppt1.ctp" "$tmp/real.ppt1"
	is 'a file of ppt: status' $? 0
	is 'a file of ppt: values are those of its tables' \
		"$("$BIN/ctp-tojsonl" -a "$tmp/real.ppt1.ctp" | python3 t/helper/pptfile.py csv $fixtures/f232.big.csv $fixtures/f232.tiny.csv)" ''
	ways 'a file of ppt' "$tmp/real.ppt1"
else
	note "$fixtures is not there: nothing of ppt itself was read"
fi
done_testing
