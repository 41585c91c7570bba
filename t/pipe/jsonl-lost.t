#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# Events that coroTracer's engine loses are counted once, and by all tools the same. See jsonl-lost.py.
# Under sanitizers only in check-all: its model takes long, and other scripts run the same code there.
. t/helper/tap.sh
truth=../shared/fixtures/truth

# row PROBE SEQ TS: a suspension at an even time, else a resume
row() { printf '{"probe_id":%d,"tid":5,"addr":"0x%016x","seq":%d,"is_active":%s,"ts":%d}\n' "$1" 64 "$2" "$([ $(($3 % 2)) = 0 ] && echo false || echo true)" "$3"; }
lost_of() { tr ',' '\n' <"$1" | sed -n 's/.*"lost": *\([0-9]*\).*/\1/p' | head -n 1; }
# all FILE: what each tool counts as lost, and its status
all() {
	"$BIN/ctp-fromjsonl" "$1" >"$tmp/t.ctp" 2>"$tmp/err"
	printf 'from %d ' $?
	"$BIN/ctp-stat" -j "$tmp/t.ctp" >"$tmp/stat"
	printf 'stat %d %s ' $? "$(lost_of "$tmp/stat")"
	"$BIN/ctp-report" -q -j "$tmp/t.ctp" >"$tmp/report"
	printf 'report %d %s ' $? "$(lost_of "$tmp/report")"
	"$BIN/ctp-tojsonl" -q "$tmp/t.ctp" >"$tmp/back"
	printf 'to %d' $?
}

for i in 1 2 3 7 8; do row 9 $i $i; done >"$tmp/hole"
is 'a gap in numbers that count events is a loss' "$(all "$tmp/hole")" 'from 3 stat 3 3 report 3 3 to 3'
like 'the loss is reported' "$(cat "$tmp/err")" ': 5 rows kept, 0 rejected, 0 late; 3 events lost$'
is 'the loss is between two rows' "$("$BIN/ctp-tojsonl" -qa "$tmp/t.ctp" | grep '"type":"lost"')" \
	'{"type":"lost","ts":7,"probe_id":9,"count":3,"after":3}'
ok 'the rows are reproduced byte for byte' cmp "$tmp/hole" "$tmp/back"
"$BIN/ctp-tojsonl" -qa "$tmp/t.ctp" >"$tmp/full"
"$BIN/ctp-fromjsonl" -q "$tmp/full" | "$BIN/ctp-tojsonl" -qa | cmp - "$tmp/full"
is 'in the full form nothing is lost twice' $? 0
"$BIN/ctp-tocsv" -qa "$tmp/t.ctp" | "$BIN/ctp-fromcsv" -q | "$BIN/ctp-tojsonl" -qa | cmp - "$tmp/full"
is 'as CSV nothing is lost twice' $? 0
"$BIN/ctp-tocsv" -q "$tmp/t.ctp" | "$BIN/ctp-fromcsv" 2>"$tmp/err" >"$tmp/csv.ctp"
like "coroTracer's CSV has it too" "$(cat "$tmp/err")" '; 3 events lost$'

{ for i in 1 2 3 4 5 6 7 8; do row 9 2 $i; done; row 9 4 9; row 9 4 10; } >"$tmp/rounds"
is 'complete numbers that count rounds give no loss' "$(all "$tmp/rounds")" 'from 0 stat 0 0 report 0 0 to 0'
{ row 9 2 2; row 9 2 4; row 9 2 3; row 9 4 5; row 9 2 10; row 9 2 11; } >"$tmp/rounds"
is 'a round with five missing, out of order; then another coroutine' "$(all "$tmp/rounds")" 'from 3 stat 3 5 report 3 5 to 3'
is 'the loss is between its rows: the last record has the count' \
	"$("$BIN/ctp-tojsonl" -qa "$tmp/t.ctp" | sed -n 's/.*"lost","ts":\([0-9]*\),.*"count":\([0-9]*\),.*/\1:\2/p' | tr '\n' ' ')" '2:0 3:0 4:0 5:5 '
{ for i in 0 1 2 3 4 5 6 7 8 9 10; do row 9 2 $i; done; row 9 6 11; } >"$tmp/mixed"
is 'too many rows of a round: the number of losses is unknown, and none is invented' "$(all "$tmp/mixed")" \
	'from 3 stat 3 0 report 3 0 to 3'
is 'the rows are reported as those of several coroutines' "$("$BIN/ctp-tojsonl" -a "$tmp/t.ctp" | grep '"type":"conflict"')" '{"type":"conflict","ts":0,"probe_id":9}'
{ row 9 2 2; row 8 2 100000000002; sed 's/:5,/:6,/' "$tmp/rounds"; } >"$tmp/runs"
"$BIN/ctp-fromjsonl" -q "$tmp/runs" | "$BIN/ctp-tojsonl" -qa | grep -c '"type":"conflict"' >"$tmp/n"
is 'a probe of another run is another coroutine' "$(cat "$tmp/n")" 0

# Each of two probes has lost its first event. That rows count events is seen only later, at the number 3.
{ row 9 2 1; row 8 2 2; row 9 3 3; row 8 3 4; } >"$tmp/first"
is 'numbers that count events, from 2 on: one is missing of each' "$(all "$tmp/first")" 'from 3 stat 3 2 report 3 2 to 3'
is 'the losses are before the first rows' \
	"$("$BIN/ctp-tojsonl" -qa "$tmp/t.ctp" | sed -n 's/.*"lost","ts":\([0-9]*\),.*"probe_id":\([0-9]*\),"count":\([0-9]*\),.*/\1:\2:\3/p' | tr '\n' ' ')" '1:9:1 2:8:1 '
{ row 9 2 1; row 8 2 2; row 9 2 3; row 8 2 4; } >"$tmp/first"
is 'numbers that count rounds, from 2 on: nothing is missing' "$(all "$tmp/first")" 'from 0 stat 0 0 report 0 0 to 0'
{ row 9 2 1; row 8 2 2; } >"$tmp/first"
is 'one number alone may be that of a round' "$(all "$tmp/first")" 'from 0 stat 0 0 report 0 0 to 0'

if [ -r "$truth/seq-repeats.jsonl" ] && command -v zstdcat >/dev/null; then
	for i in healthy lostwake; do zstdcat "$truth/$i.jsonl.zst" >"$tmp/$i"; done
	is 'reused frames give the right losses' "$(all "$truth/seq-repeats.jsonl")" 'from 3 stat 3 0 report 3 0 to 3'
	is 'a busy program has the right losses' "$(all "$tmp/healthy")" \
		'from 3 stat 3 26 report 3 26 to 3'
	is 'a program that lost nothing has no losses' "$(all "$tmp/lostwake")" 'from 0 stat 0 0 report 0 0 to 0'
else
	note "no $truth, or no zstdcat: they are left out"
fi

if command -v python3 >/dev/null; then
	python3 t/helper/jsonl-lost.py "$BIN" >"$tmp/judge"
	is 'a random slow engine has the right losses' $? 0
	note "$(cat "$tmp/judge")"
else
	skip 'no python3: the engine by chance is left out'
fi
done_testing
