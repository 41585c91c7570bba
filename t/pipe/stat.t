#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# ctp-stat: its counts, as text and JSON, of streams that are complete, lossy, truncated or damaged.
# In check-fast.
. t/helper/tap.sh
number() { sed -n "s/^{[^[{]*\"$1\":\([0-9a-z]*\).*/\1/p" "$tmp/json"; } # of the first level, before classes and sections
counts() { # NAME STATUS FILE KEY=VALUE...
	what=$1 want=$2 file=$3
	shift 3
	"$BIN/ctp-stat" -qj "$file" >"$tmp/json"
	is "$what: status $want" $? "$want"
	is "$what: one line" "$(wc -l <"$tmp/json")" 1
	for pair; do is "$what: $pair" "${pair%%=*}=$(number "${pair%%=*}")" "$pair"; done
}

cat >"$tmp/a.jsonl" <<'JSONL'
{"type":"@section","attrs":{"host":"h\u001b[31m","pid":"42","argv":["./server","-v","a b"],"wall_offset_ns":"1700000000000000000"}}
{"type":"birth","ts":100,"probe_id":7,"coro":1,"station":0,"after":100,"before":100}
{"type":"birth","ts":101,"probe_id":7,"coro":2,"station":1,"after":101,"before":101}
{"type":"@schema","name":"transition","kind":"transition","fields":[{"name":"probe_id","type":"u64","role":"probe"},{"name":"tid","type":"u64","role":"thread"},{"name":"ts","type":"u64","role":"time","pred":"time"},{"name":"coro","type":"u64","role":"coroutine"}]}
{"type":"transition","probe_id":7,"tid":1,"ts":110,"coro":1}
{"type":"transition","probe_id":7,"tid":2,"ts":120,"coro":2}
{"type":"transition","probe_id":7,"tid":1,"ts":130,"coro":1}
{"type":"death","ts":140,"probe_id":7,"coro":1,"after":140,"before":140}
{"type":"end","ts":1000000150,"events":3,"lost":0,"unverified":0,"untraced":0,"births":2,"deaths":1,"outcome":"exited","status":7}
{"type":"@end","complete":true}
JSONL
"$BIN/ctp-fromjsonl" "$tmp/a.jsonl" >"$tmp/a.ctp"
counts whole 0 "$tmp/a.ctp" complete=true events=3 lost=0 unverified=0 untraced=0 births=2 deaths=1 coroutines=2 threads=2 late=0 \
	unseen=0 records=7 damaged_packets=0 missing_packets=0 cut_short=0 first_ns=100 last_ns=1000000150 duration_ns=1000000050
if command -v jq >/dev/null; then
	is 'jq reads the classes and sections' "$(jq -c '[.classes.birth, .section_count, (.sections[0] | .attrs.argv, .events, .outcome, .status)]' "$tmp/json")" \
		'[2,1,["./server","-v","a b"],3,"exited",7]'
fi
"$BIN/ctp-stat" "$tmp/a.ctp" >"$tmp/text"
is 'in words: status 0' $? 0
for line in 'sections:    1, complete' 'events:      3' 'coroutines:  2; 2 births, 1 death' 'threads:     2' \
	'  command:     ./server -v "a b"' '  ended:       exited with status 7' '  started:     2023-11-14 22:13:20 UTC' 'duration:    1.000000050 s, from the first record of a section to its last' '             2  birth' \
	"file:        $tmp/a.ctp, $(wc -c <"$tmp/a.ctp") bytes"; do
	ok "in words: $line" grep -qx -- "$line" "$tmp/text"
done
is 'the text does not have the offsets behind the times' "$(grep -c 'wall_offset_ns' "$tmp/text")" 0
is 'no control character of a name reaches the terminal' "$(grep -c "$(printf '\033')" "$tmp/text")" 0

# Loss, and what did not arrive: the end record of the writer tells.
cat >"$tmp/b.jsonl" <<'JSONL'
{"type":"@section","attrs":{}}
{"probe_id":1,"tid":1,"addr":"0x0000000000000000","seq":1,"is_active":true,"ts":110}
{"probe_id":2,"tid":1,"addr":"0x0000000000000000","seq":1,"is_active":true,"ts":111}
{"probe_id":1,"tid":1,"addr":"0x0000000000000000","seq":2,"is_active":false,"ts":112}
{"type":"lost","ts":120,"probe_id":1,"coro":1,"index":3,"count":5,"unverified":2,"after":112}
{"type":"lost","ts":121,"probe_id":1,"coro":1,"index":9,"count":1,"unverified":1,"after":120}
{"type":"untraced","ts":122,"count":3}
{"type":"untraced","ts":123,"count":4}
{"type":"conflict","ts":124,"probe_id":1,"coro":1}
{"type":"end","ts":150,"events":9,"lost":6,"unverified":3,"untraced":4,"births":0,"deaths":0,"outcome":"killed","status":9}
{"type":"@end","complete":true}
JSONL
"$BIN/ctp-fromjsonl" -q "$tmp/b.jsonl" >"$tmp/b.ctp"
counts lossy 3 "$tmp/b.ctp" complete=true events=3 lost=6 unverified=3 untraced=4 coroutines=2 conflicts=1 unseen=6
like 'in words' "$("$BIN/ctp-stat" "$tmp/b.ctp")" '^events:      3, and 6 in packets that are missing$'
like 'in words: a signal by its name' "$("$BIN/ctp-stat" "$tmp/b.ctp")" '^  ended:       killed by SIGKILL$'

# Records besides transitions. A site that is recorded twice counts once; a record that a thread missed is no lost transition.
cat >"$tmp/notes.jsonl" <<'JSONL'
{"type":"@section","attrs":{}}
{"type":"site","ts":1,"site":1,"file":"a.c","line":1,"function":"f"}
{"type":"site","ts":1,"site":2,"file":"a.c","line":2,"function":"f"}
{"type":"site","ts":2,"site":1,"file":"a.c","line":1,"function":"f"}
{"type":"birth","ts":3,"probe_id":7,"coro":1,"station":0,"after":3,"before":3,"parent":0,"site":1,"pid":42}
{"type":"name","ts":4,"probe_id":7,"coro":1,"name":"reader"}
{"type":"wake","ts":5,"probe_id":7,"coro":1,"tid":8,"by":0}
{"type":"wake","ts":6,"probe_id":7,"coro":1,"tid":8,"by":2}
{"type":"missed","ts":7,"tid":8,"count":4,"after":5,"transitions":0}
{"type":"@end","complete":true}
JSONL
"$BIN/ctp-fromjsonl" -q "$tmp/notes.jsonl" >"$tmp/notes.ctp"
counts notes 3 "$tmp/notes.ctp" events=0 births=1 names=1 wakes=2 sites=2 missed=4 lost=0 threads=1
for line in 'wakes:       2' 'names:       1' 'sites:       2' 'missed:      4 other records' 'lost:        0, of them 0 unverified'; do
	like "in words: $line" "$("$BIN/ctp-stat" "$tmp/notes.ctp")" "^$line\$"
done
"$BIN/ctp-tojsonl" "$tmp/notes.ctp" 2>"$tmp/err"
is 'the other tools count them too' "$? $(cat "$tmp/err")" '3 ctp-tojsonl: 8 records, 0 late; 0 events lost, 4 other records missed'
# The count of losses is limited, and never wraps to 0.
sed '/"lost",/{p;s/"count":[0-9]*/"count":18446744073709551615/;}' "$tmp/b.jsonl" | "$BIN/ctp-fromjsonl" -q >"$tmp/round.ctp"
counts 'a sum that would come round' 3 "$tmp/round.ctp" lost=18446744073709551615
# Nothing lost, but coroutines that found no station: the trace is incomplete too. By a record, or by the end record alone.
sed -e '/"lost",/d' -e 's/"events":9,"lost":6,"unverified":3/"events":3,"lost":0,"unverified":0/' "$tmp/b.jsonl" >"$tmp/u.jsonl"
grep -v '"untraced","ts"' "$tmp/u.jsonl" >"$tmp/v.jsonl"
for file in u v; do
	"$BIN/ctp-fromjsonl" -q -o "$tmp/u.ctp" "$tmp/$file.jsonl"
	is 'untraced: ctp-fromjsonl ends with status 3' $? 3
	counts untraced 3 "$tmp/u.ctp" complete=true events=3 lost=0 untraced=4 unseen=0
	"$BIN/ctp-tojsonl" "$tmp/u.ctp" "$tmp/u.ctp" >"$tmp/out" 2>"$tmp/err"
	is 'untraced: ctp-tojsonl ends with status 3' $? 3
	like 'untraced: it says why, for both sections' \
		"$(cat "$tmp/err")" '; 0 events lost, 0 other records missed, 8 coroutines untraced$'
done
cat "$tmp/a.ctp" "$tmp/b.ctp" "$tmp/a.ctp" >"$tmp/aba.ctp"
counts 'three sections' 3 "$tmp/aba.ctp" complete=true events=9 lost=6 births=4 coroutines=6 threads=5 duration_ns=1000000090
"$BIN/ctp-stat" -j "$tmp/a.ctp" "$tmp/b.ctp" "$tmp/a.ctp" >"$tmp/three"
ok 'three operands give the same as their concatenation' cmp "$tmp/three" "$tmp/json"

# A merge has the end of each origin: each different one, and how many origins have it.
n=0
for how in exited:0 killed:9 killed:9 none:0; do
	n=$((n + 1))
	{
		echo "{\"type\":\"@section\",\"attrs\":{\"host\":\"h\",\"pid\":\"$n\",\"clock\":\"monotonic\",\"wall_offset_ns\":\"1700000000000000000\"}}"
		echo "{\"type\":\"birth\",\"ts\":100,\"probe_id\":7,\"coro\":1,\"station\":0,\"after\":100,\"before\":100}"
		[ $how = none:0 ] || echo "{\"type\":\"end\",\"ts\":200,\"events\":0,\"lost\":0,\"unverified\":0,\"untraced\":0,\"births\":1,\"deaths\":0,\"outcome\":\"${how%:*}\",\"status\":${how#*:}}"
		echo '{"type":"@end","complete":true}'
	} | "$BIN/ctp-fromjsonl" -q >"$tmp/end$n.ctp"
done
ends() { "$BIN/ctp-merge" -q -o "$tmp/ends.ctp" "$@" && "$BIN/ctp-stat" -q "$tmp/ends.ctp" | sed -n 's/^  ended:  *//p' | tr '\n' ';'; }
is 'a merge: the ends of all origins' "$(ends "$tmp/end1.ctp" "$tmp/end2.ctp" "$tmp/end3.ctp" "$tmp/end4.ctp")" \
	'exited with status 0 (1 origin);killed by SIGKILL (2 origins);not recorded (1 origin);'
if command -v jq >/dev/null; then
	is 'a merge: the ends in JSON' "$("$BIN/ctp-stat" -qj "$tmp/ends.ctp" | jq -c '.sections[0] | [.outcome, [.ends[] | [.outcome, .status, .origins]]]')" \
		'[null,[["exited",0,1],["killed",9,2]]]'
	is 'a merge: an end that all origins have' "$(ends "$tmp/end2.ctp" "$tmp/end3.ctp"
		"$BIN/ctp-stat" -qj "$tmp/ends.ctp" | jq -c '.sections[0] | [.outcome, .status]')" 'killed by SIGKILL (2 origins);["killed",9]'
fi

# The whole duration. sections CLOCK FIRST LAST ...: a stream with a section for each, of two records. CLOCK is a name, or a wall_offset_ns.
sections() {
	while [ $# -gt 0 ]; do
		case $1 in
		[a-z]*) attrs="\"clock\":\"$1\"" ;;
		*) attrs="\"clock\":\"x\",\"wall_offset_ns\":\"$1\"" ;;
		esac
		printf '{"type":"@section","attrs":{%s}}\n{"type":"@schema","name":"r","kind":"other","fields":[{"name":"ts","type":"u64","role":"time"}]}\n' "$attrs"
		printf '{"type":"r","ts":%d}\n{"type":"r","ts":%d}\n{"type":"@end","complete":true}\n' "$2" "$3"
		shift 3
	done | "$BIN/ctp-fromjsonl" -q >"$tmp/spans.ctp"
}
sections monotonic 100 200 monotonic 150 250
counts 'sections at the same time' 0 "$tmp/spans.ctp" duration_ns=150 first_ns=100 last_ns=250
sections monotonic 100 200 monotonic 120 130
counts 'one within another' 0 "$tmp/spans.ctp" duration_ns=100
sections monotonic 150 250 monotonic 100 150
counts 'that touch' 0 "$tmp/spans.ctp" duration_ns=150
sections monotonic 900 950 monotonic 100 200
counts 'that are apart' 0 "$tmp/spans.ctp" duration_ns=150
sections monotonic 100 200 boottime 100 200
counts 'on two clocks' 0 "$tmp/spans.ctp" duration_ns=200
sections 1000 100 200 50 1075 1175
counts 'on two clocks with wall-clock times' 0 "$tmp/spans.ctp" duration_ns=125
# Random sections, compared with a bitmap.
awk 'BEGIN { srand(15); for (i = 0; i < 60; i++) { wall = int(rand() * 3); first = 1 + int(rand() * 900); last = first + 1 + int(rand() * 30)
	off = wall * 500; for (t = first; t < last; t++) { k = wall ? "w" (t + off) : "m" t; n += !(k in seen); seen[k] }
	print wall ? off : "monotonic", first, last } print n }' >"$tmp/board"
# shellcheck disable=SC2046
sections $(sed '$d' "$tmp/board")
counts 'sixty of them' 0 "$tmp/spans.ctp" duration_ns="$(tail -n 1 "$tmp/board")"

# Cut and damaged.
size=$(wc -c <"$tmp/a.ctp")
head -c $((size - 1)) "$tmp/a.ctp" >"$tmp/cut.ctp"
counts cut 3 "$tmp/cut.ctp" complete=false events=0
{ cat "$tmp/a.ctp"; head -c $((size - 1)) "$tmp/a.ctp"; } >"$tmp/cut.ctp"
counts 'cut in a second section' 3 "$tmp/cut.ctp" complete=false events=3
: >"$tmp/empty"
counts 'nothing at all' 3 "$tmp/empty" complete=false events=0
"$BIN/ctp-stat" "$tmp/empty" >"$tmp/text" 2>"$tmp/err"
is 'an empty input is reported once' "$(cat "$tmp/err")" "ctp-stat: $tmp/empty: the input is empty"
ok 'an empty input is no section' sh -c 'grep -qx "sections:    0, not complete" "$0" && ! grep "cut short" "$0"' "$tmp/text"
head -n 3 "$tmp/a.jsonl" | "$BIN/ctp-fromjsonl" -q >"$tmp/open.ctp"
"$BIN/ctp-stat" "$tmp/open.ctp" >"$tmp/text" 2>"$tmp/err"
like 'a possible truncation is reported' "$(cat "$tmp/err")" 'no end: it was cut short, or is still being written$'
ok 'the text counts the truncated section' grep -qx 'sections:    1, not complete; 1 cut short' "$tmp/text"

# An input that is no stream gives a message and no table; the other operands are read.
echo 'this is something else altogether' >"$tmp/else"
for file in a.jsonl else nonexistent; do
	for tool in ctp-stat ctp-tojsonl; do
		"$BIN/$tool" -q "$tmp/$file" >"$tmp/out" 2>"$tmp/err"
		is "$tool $file: status 1" $? 1
		is "$tool $file: one message" "$(wc -l <"$tmp/err") $(wc -c <"$tmp/out")" '1 0'
	done
	"$BIN/ctp-stat" -j "$tmp/$file" "$tmp/a.ctp" "$tmp/$file" 2>/dev/null >"$tmp/json"
	is "$file and a stream: status 3" $? 3
	is "$file and a stream: the stream is counted" "$(number events)" 3
done
like 'JSON is recognised' "$("$BIN/ctp-stat" "$tmp/a.jsonl" 2>&1)" '/a.jsonl: is JSON; pipe it through ctp-fromjsonl$'
like 'other input is not recognised' "$("$BIN/ctp-stat" "$tmp/else" 2>&1)" '/else: is no ctp stream$'

"$BIN/ctp-stat" "$tmp/a.ctp" -j >"$tmp/json"
is 'an option may follow a file' "$(number events)" 3
"$BIN/ctp-stat" -- "$tmp/a.ctp" -j >"$tmp/out" 2>/dev/null
is 'after -- it is a file' $? 3

# More ids than the small set holds: the set grows, and 0 is an ordinary id.
awk 'BEGIN { for (i = 0; i < 5000; i++)
	printf "{\"probe_id\":%d,\"tid\":%d,\"addr\":\"0x0\",\"seq\":%d,\"is_active\":true,\"ts\":%d}\n", i * 4096 % 12288000, 1 + i % 600, i < 3000 ? 1 : 2, 1 + i }' |
	"$BIN/ctp-fromjsonl" >"$tmp/many.ctp"
counts many 0 "$tmp/many.ctp" events=5000 coroutines=3000 threads=600 at_least=false
# A probe that begins again is another coroutine, also after a single event; numbers that count rounds begin with 2.
rows() { # SEQ...
	ts=0
	for seq; do
		ts=$((ts + 10))
		printf '{"probe_id":7,"tid":1,"addr":"0x1","seq":%d,"is_active":false,"ts":%d}\n' $seq $ts
	done | "$BIN/ctp-fromjsonl" -q >"$tmp/rows.ctp"
}
for case in '2 1 1 2 3' '3 1 2 1 2 1' '2 2 2 4 2' '1 2 2 2 2' '1 1 2 3 2'; do
	rows ${case#* }
	"$BIN/ctp-stat" -qj "$tmp/rows.ctp" >"$tmp/json"
	is "coroutines of one probe with the numbers ${case#* }" "$(number coroutines)" ${case%% *}
	is 'ctp-report counts the same' "$("$BIN/ctp-report" -qj "$tmp/rows.ctp" | sed 's/.*"coroutines":\([0-9]*\),"alive".*/\1/')" ${case%% *}
done
awk 'BEGIN { for (i = 0; i < 6000; i++)
	printf "{\"probe_id\":%d,\"tid\":1,\"addr\":\"0x0\",\"seq\":1,\"is_active\":true,\"ts\":%d}\n", 1 + i % 3000, 1 + i }' |
	"$BIN/ctp-fromjsonl" >"$tmp/many.ctp"
counts 'each of many again' 0 "$tmp/many.ctp" events=6000 coroutines=6000
# Late means after a mark with a later time. ctp-fromjsonl writes a mark when its window is full.
awk 'BEGIN { for (i = 0; i <= 200000; i++)
	printf "{\"probe_id\":1,\"tid\":1,\"addr\":\"0x0\",\"seq\":1,\"is_active\":true,\"ts\":%d}\n", i < 200000 ? 1000 + i : 1 }' |
	"$BIN/ctp-fromjsonl" >"$tmp/late.ctp"
counts late 3 "$tmp/late.ctp" events=200001 late=1
# --- streams of any classes: repeated runs give the same ------------------------------------------------------------
differ=
for seed in 21 22 23 24 25 26 27 28; do
	"$O/t/helper/randstream" $seed >"$tmp/any.ctp"
	head -c $(($(wc -c <"$tmp/any.ctp") * 2 / 3)) "$tmp/any.ctp" >"$tmp/cut.ctp"
	for n in 1 2; do "$BIN/ctp-stat" -j "$tmp/cut.ctp" >"$tmp/said-$n" 2>/dev/null; done
	cmp -s "$tmp/said-1" "$tmp/said-2" || differ="$differ $seed"
done
is 'two runs on a stream give the same, so no text is added up' "$differ" ''
done_testing
