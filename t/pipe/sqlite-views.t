#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# The views of a database: each view compared with a model, the example of the manual, and the use of indexes.
# Under sanitizers only in check-all: the database takes most of the time.
. t/helper/tap.sh
sqlite=$BIN/ctp-sqlite from=$BIN/ctp-fromjsonl
[ -x "$sqlite" ] || skip_all 'ctp-sqlite was not built'
command -v sqlite3 >/dev/null || skip_all 'there is no sqlite3'
python3 -c 'import sqlite3' 2>/dev/null || skip_all 'there is no python3 with sqlite3'

sql() { sqlite3 "$tmp/$1.sqlite" "$2"; }
make() { # NAME < JSON lines
	"$from" -q | "$sqlite" -q -o "$tmp/$1.sqlite"
}

for seed in 1 2 ${EVERY:+3 4}; do
	python3 t/helper/sqlite-views.py make $seed >"$tmp/t$seed.jsonl"
	make t <"$tmp/t$seed.jsonl"
	ok "every view, seed $seed" python3 t/helper/sqlite-views.py check "$tmp/t.sqlite" "$tmp/t$seed.jsonl"
done
last=$seed
for seed in 1 2; do "$from" -q "$tmp/t$seed.jsonl" | "$sqlite" -q --append -o "$tmp/t.sqlite"; done
ok 'views are right after appending' \
	python3 t/helper/sqlite-views.py check "$tmp/t.sqlite" "$tmp/t$last.jsonl" "$tmp/t1.jsonl" "$tmp/t2.jsonl"

if [ -x "$BIN/ctp-report" ]; then
	report() { # NAME: for each section the time that coroutines ran, were suspended and are unknown, and the number of gaps
		"$from" -q "$tmp/$1.jsonl" | "$BIN/ctp-report" -q -j 2>/dev/null | python3 -c 'import json, sys
for s in json.load(sys.stdin)["sections"]: print(*(s["total_ns"][n] for n in ("running", "suspended", "unknown")), s["gaps"], sep="|")'
	}
	totals='SELECT sum(running_ns), sum(suspended_ns), l.unknown_ns, l.gaps FROM loss_totals l JOIN coroutine_times t USING (section)
		GROUP BY section'
	make t1 <"$tmp/t1.jsonl"
	# After a loss of unknown coroutines, last states are unknown in the report and uncertain in the views: the third section has
	# none.
	is 'unknown times are those of ctp-report' "$(sql t1 'SELECT nobodys, unknown_ns FROM loss_totals WHERE section = 3')" \
		"0|$(report t1 | sed -n 3p | cut -d '|' -f 3)"
	is "times of coroTracer's rows are those of ctp-report" "$(sql t1 "$totals" | tail -n 2)" "$(report t1 | tail -n 2)"
fi

# --- the end ------------------------------------------------------------------------------------------------------------------
# RECORDS: a coroutine that waits, and what the collector saw of the program, long before it was done.
ending() {
	cat <<-JSONL
	{"type":"@section","attrs":{"pid":"7"}}
	{"type":"@schema","name":"thread","kind":"thread","fields":[{"name":"ts","type":"u64","role":"time"},{"name":"tid","type":"u64","role":"thread"}]}
	{"type":"@schema","name":"process","kind":"process","fields":[{"name":"ts","type":"u64","role":"time"},{"name":"pid","type":"u64","role":"process"}]}
	{"type":"@schema","name":"end","kind":"end","fields":[{"name":"ts","type":"u64","role":"time"},{"name":"after","type":"u64","role":"time"}]}
	{"type":"@schema","name":"transition","kind":"transition","fields":[$coro,{"name":"ts","type":"u64","role":"time"},{"name":"probe_id","type":"u64","role":"probe"},{"name":"tid","type":"u64","role":"thread"},{"name":"addr","type":"u64","role":"address"},{"name":"seq","type":"u64","role":"sequence"},{"name":"is_active","type":"bool","role":"state"},{"name":"index","type":"u64","role":"sequence"}]}
	{"type":"transition","ts":10,"probe_id":1,"coro":1,"tid":1,"addr":"0x1","seq":1,"is_active":true,"index":0}
	{"type":"transition","ts":20,"probe_id":1,"coro":1,"tid":1,"addr":"0x1","seq":1,"is_active":false,"index":1}
	$1
	{"type":"thread","ts":900,"tid":1}
	{"type":"@end","complete":true}
	JSONL
}
coro='{"name":"coro","type":"u64","role":"coroutine"}'
process() { printf '{"type":"process","ts":%s,"pid":%s}\n' "$@"; }
for case in '70 {"type":"end","ts":1000,"after":70}' '1000 {"type":"end","ts":1000,"after":0}' '20 {"type":"end","ts":1000,"after":5}' '20 ' \
	"50 $(process 50 7 80 7)" "20 $(process 50 8 80 8)"; do
	ending "${case#* }" >"$tmp/ending.jsonl"
	make ending <"$tmp/ending.jsonl"
	last=${case%% *}
	is "the section ends at $last, not with what was written then" "$(sql ending 'SELECT end_ns FROM sections; SELECT stop_ns, duration_ns, open, certain FROM wait_intervals; SELECT for_ns FROM coroutine_states')" \
		"$last
$last|$((last - 20))|1|1
$((last - 20))"
	[ ! -x "$BIN/ctp-report" ] || is "as ctp-report says: $last" "$(sql ending "$totals")" "$(report ending)"
done
echo '{"type":"@section","attrs":{}}
{"type":"note","ts":5}
{"type":"@end","complete":true}' | make ending
is 'a section without coroutines ends with its records' "$(sql ending 'SELECT end_ns FROM sections')" 5

# --- origins ------------------------------------------------------------------------------------------------------------------
# PID BEGIN END: two coroutines that wait when the program ends. Of a merged section, each origin has an end of its own.
origin() {
	python3 - "$@" <<-'PY'
	import json, sys
	pid, begin, end = map(int, sys.argv[1:])
	def put(**row): print(json.dumps(row))
	def schema(kind, *fields): put(type="@schema", name=kind, kind=kind, fields=[dict(name=n, type=t, role=r) for n, t, r in fields])
	time, after = ("ts", "u64", "time"), ("after", "u64", "time")
	coro = [time, ("probe_id", "u64", "probe"), ("coro", "u64", "coroutine")]
	put(type="@section", attrs=dict(clock="monotonic", boot_id="b", wall_offset_ns="5", pid=str(pid), host="h"))
	schema("transition", *coro, ("tid", "u64", "thread"), ("addr", "u64", "address"), ("seq", "u64", "sequence"),
	       ("is_active", "bool", "state"), ("index", "u64", "sequence"))
	schema("await", *coro, ("target", "u64", ""))
	schema("end", time, after)
	for coro in 1, 2:
	    who = dict(probe_id=100 + coro, coro=coro)
	    put(type="transition", ts=begin + 10 * coro, tid=1, addr="0x1", seq=1, is_active=True, index=0, **who)
	    put(type="await", ts=begin + 10 * coro + 1, target=coro + 1, **who)
	    put(type="transition", ts=begin + 10 * coro + 2, tid=1, addr="0x1", seq=1, is_active=False, index=1, **who)
	put(type="end", ts=end, after=end)
	put(type="@end", complete=True)
	PY
}
origin 7 1000 5000 | "$from" -q >"$tmp/7.ctp"
origin 8 2000 90000 | "$from" -q >"$tmp/8.ctp"
origin 9 3000 7000 | grep -v '@end' | "$from" -q >"$tmp/9.ctp"
"$BIN/ctp-merge" -q -o "$tmp/merged.ctp" "$tmp/7.ctp" "$tmp/8.ctp"
"$BIN/ctp-merge" -q -o "$tmp/origins.ctp" "$tmp/merged.ctp" "$tmp/9.ctp"
"$sqlite" -q -o "$tmp/origins.sqlite" "$tmp/origins.ctp"
is 'what waits in a merged section waits until its own origin ends, and is certain if that is complete' \
	"$(sql origins 'SELECT coro, stop_ns, certain FROM wait_intervals WHERE open ORDER BY coro')" '12|7000|0
22|7000|0
111|5000|1
121|90000|1
211|5000|1
221|90000|1'
is 'other views say the same' "$(sql origins 'SELECT coro, s.since_ns + s.for_ns, w.since_ns + w.for_ns, t.end_ns, s.certain, w.certain FROM coroutine_states s
	JOIN wait_for w USING (section, coro) JOIN coroutine_times t USING (section, coro) ORDER BY coro')" '12|7000|7000|7000|0|0
22|7000|7000|7000|0|0
111|5000|5000|5000|1|1
121|90000|90000|90000|1|1
211|5000|5000|5000|1|1
221|90000|90000|90000|1|1'
[ ! -x "$BIN/ctp-report" ] || is 'and so does ctp-report' "$(sql origins 'SELECT sum(running_ns), sum(suspended_ns) FROM coroutine_times GROUP BY CASE coro % 10 WHEN 2 THEN 2 ELSE coro % 100 END ORDER BY 1, 2')" \
	"$("$BIN/ctp-report" -q -j "$tmp/origins.ctp" 2>/dev/null | python3 -c 'import json, sys
for t in sorted((s["total_ns"]["running"], s["total_ns"]["suspended"]) for s in json.load(sys.stdin)["sections"]): print(*t, sep="|")')"

# --- gaps ---------------------------------------------------------------------------------------------------------------------
truth=../shared/fixtures/truth
if [ -f $truth/gap-with-wake.jsonl ]; then
	make wake <$truth/gap-with-wake.jsonl
	is 'a gap is from the last transition to the next, whatever wakes are in it' \
		"$(sql wake 'SELECT coro, start_ns - 484448190965, duration_ns, lost FROM gaps ORDER BY coro')" '1|2000000|99000000|100
2|3000000|100000000|101'
	is 'an interval in a gap has no duration' \
		"$(sql wake 'SELECT is_active, duration_ns FROM intervals ORDER BY id')" '1|1000000
0|
1|
1|1000000
0|8000000
1|1000000
0|6000000'
	is 'the time of the gap is unknown' "$(sql wake 'SELECT name, running_ns, suspended_ns, unknown_ns FROM coroutine_times ORDER BY coro')" \
		'victim|2000000|8000000|99000000
runner|1000000|6000000|100000000'
	is 'the view of last states has the unknown time, too' \
		"$(sql wake 'SELECT state, woken, unknown_ns FROM coroutine_states ORDER BY coro')" \
		'suspended|0|99000000
suspended|0|100000000'
	is 'the thread was not busy in its gap' "$(sql wake 'SELECT busy_ns, certain FROM thread_times')" '3000000|0'
else
	note "SKIP gap-with-wake: there is no $truth"
fi

fields=$coro',{"name":"ts","type":"u64","role":"time"},{"name":"probe_id","type":"u64","role":"probe"}'
transition='{"type":"@schema","name":"transition","kind":"transition","fields":['$fields',{"name":"tid","type":"u64","role":"thread"},{"name":"addr","type":"u64","role":"address"},{"name":"seq","type":"u64","role":"sequence"},{"name":"is_active","type":"bool","role":"state"},{"name":"index","type":"u64","role":"sequence"}]}'
step() { # TS CORO INDEX IS_ACTIVE
	printf '{"type":"transition","ts":%s,"probe_id":%s,"coro":%s,"tid":1,"addr":"0x1","seq":1,"is_active":%s,"index":%s}\n' $1 ${5-7} $2 $4 $3
}
end() { echo '{"type":"@end","complete":true}'; }
section() { echo '{"type":"@section","attrs":{}}'; echo "$transition"; }
{
	section
	echo '{"type":"@schema","name":"death","kind":"death","fields":['$fields',{"name":"after","type":"u64","role":"time"}]}'
	step 10 1 0 true; step 20 1 1 false
	echo '{"type":"death","ts":30,"probe_id":7,"coro":1,"after":30}'
	step 50 1 2 true 0; step 60 1 4 false 0
	end
} | make stale
is 'events of an ended coroutine end no wait, and are no gap' "$(sql stale 'SELECT start_ns, stop_ns FROM intervals; SELECT count(*) FROM gaps; SELECT state, since_ns FROM coroutine_states')" \
	'10|20
20|30
0
dead|30'

# 2 waits for 1, 3 and 4 for 2, at different depths; 5 and 6 for one another, and 7 for 5. 8 awaited 1 earlier, but not where it is now;
# 9 was woken since, 10 has ended, 11 has a missing event after that, and 12 awaits an unknown coroutine.
{
	section
	echo '{"type":"@schema","name":"await","kind":"await","fields":['$fields',{"name":"target","type":"u64"}]}'
	echo '{"type":"@schema","name":"name","kind":"name","fields":['$fields',{"name":"name","type":"string","role":"name"}]}'
	echo '{"type":"@schema","name":"wake","kind":"wake","fields":['$fields']}'
	echo '{"type":"@schema","name":"death","kind":"death","fields":['$fields',{"name":"after","type":"u64","role":"time"}]}'
	echo '{"type":"@schema","name":"lost","kind":"loss","fields":['$fields',{"name":"index","type":"u64","role":"sequence"},{"name":"count","type":"u64","role":"count"},{"name":"after","type":"u64","role":"time"}]}'
	echo '{"type":"name","ts":1,"probe_id":7,"coro":1,"name":"holder"}'
	step 5 1 0 true
	for pair in 2:1 3:2 4:2 5:6 6:5 7:5 8:1 9:1 10:1 11:1 12:0; do
		step $((10 * ${pair%:*})) ${pair%:*} 0 true
		printf '{"type":"await","ts":%s,"probe_id":7,"coro":%s,"target":%s}\n' $((10 * ${pair%:*} + 1)) ${pair%:*} ${pair#*:}
		step $((10 * ${pair%:*} + 2)) ${pair%:*} 1 false
	done
	step 200 8 2 true; step 210 8 3 false
	echo '{"type":"wake","ts":220,"probe_id":7,"coro":9}'
	echo '{"type":"death","ts":230,"probe_id":7,"coro":10,"after":230}'
	echo '{"type":"lost","ts":240,"probe_id":7,"coro":11,"index":2,"count":1,"after":112}'
	end
} | make waits
is 'the view has the waiters at the end, and their distance from the one that all wait for' \
	"$(sql waits 'SELECT coro, awaits, root, root_name, depth, since_ns, for_ns, certain FROM wait_for ORDER BY coro')" '2|1|1|holder|1|22|208|1
3|2|1|holder|2|32|198|1
4|2|1|holder|2|42|188|1
5|6||||52|178|1
6|5||||62|168|1
7|5||||72|158|1'
is 'the query of the manual prints a tree' "$(sql waits "$(awk '/^WITH RECURSIVE tree/ { on = 1 } /^\.Ed/ { on = 0 } on' doc/ctp-sqlite.1)")" "holder #1
   #2 at ?
     #3 at ?
     #4 at ?"

# Rows without numbers: seq shows gaps, either to the writer of the stream or to the views.
row() { printf '{"type":"transition","probe_id":1,"tid":1,"addr":"0x1","seq":%s,"is_active":%s,"ts":%s}\n' $1 $2 $3; }
{
	for i in 1 3 5 7; do row 2 true $i; row 2 false $((i + 1)); done
	row 4 true 9; row 4 false 10; row 8 true 20; row 2 true 30; row 2 false 31
} >"$tmp/rounds.jsonl"
sed 's/"type":"transition",//' "$tmp/rounds.jsonl" | make rounds
rounds='SELECT start_ns, stop_ns, lost FROM gaps; SELECT start_ns, coalesce(duration_ns, -1) FROM intervals WHERE start_ns > 7 ORDER BY id'
is "missing rows of coroTracer are a gap" "$(sql rounds "$rounds")" '8|9|0
9|10|0
10|20|14
8|-1
9|-1
10|-1
20|-1
30|1
31|0'
{
	echo '{"type":"@section","attrs":{}}'
	echo "$transition" | sed "s/$coro,//; s/,{\"name\":\"index\"[^}]*}//"
	cat "$tmp/rounds.jsonl"
	end
} | make rounds
is "coroTracer's seq shows gaps, and where another coroutine begins" "$(sql rounds "$rounds")" '10|20|
8|1
9|1
10|-1
20|-1
30|1
31|0'

# Numbers of two coroutines mixed: times are unknown from the conflict record on, until another coroutine begins; ctp-report says the same.
plain() { sed 's/"type":"transition",//' | tee "$tmp/$1.jsonl" | make $1; }
{
	ts=0
	for seq in 2 2 2 2 2 2 2 2 2 2 4 4 4; do ts=$((ts + 10)); row $seq $([ $((ts % 20)) = 0 ] && echo true || echo false) $ts; done
	row 6 false 200; row 2 false 300; row 2 true 310; row 2 false 330
} | plain two
is 'rows of two coroutines: only one that begins after them has a time' \
	"$(sql two 'SELECT start_ns, duration_ns FROM intervals WHERE duration_ns IS NOT NULL ORDER BY id')" '300|10
310|20
330|0'
is 'waits of the others are not among the longest' "$(sql two 'SELECT start_ns, duration_ns FROM longest_waits LIMIT 1')" '300|10'
is 'the others have no times' "$(sql two 'SELECT running_ns, suspended_ns, unknown_ns FROM coroutine_times')" '20|10|120'
{ row 1 false 1000; row 1 false 501000; row 2 true 502000; row 3 false 503000; } | plain one
is 'a coroutine that begins after a single event is another one' "$(sql one 'SELECT start_ns, coalesce(duration_ns, -1) FROM intervals ORDER BY id; SELECT gap FROM steps LIMIT 1')" \
	'1000|-1
501000|1000
502000|1000
503000|0
2'
if [ -x "$BIN/ctp-report" ]; then
	for name in two one; do is "ctp-report says the same: $name" "$(sql $name "$totals")" "$(report $name)"; done
	if [ -f $truth/seq-repeats.jsonl ]; then
		cp $truth/seq-repeats.jsonl "$tmp/repeats.jsonl"
		zstd -qdc $truth/healthy.jsonl.zst >"$tmp/healthy.jsonl"
		for name in repeats healthy; do
			make $name <"$tmp/$name.jsonl"
			is "ctp-report has the same times: $name" "$(sql $name "$totals")" "$(report $name)"
		done
	else
		note "SKIP seq-repeats, healthy: there is no $truth"
	fi
fi
{
	section
	echo '{"type":"@schema","name":"conflict","kind":"conflict","fields":['$fields']}'
	step 10 1 0 true; step 20 1 1 false; step 30 1 2 true
	echo '{"type":"conflict","ts":35,"probe_id":7,"coro":1}'
	step 50 1 3 false; step 60 1 4 true
	end
} | tee "$tmp/late.jsonl" | make late
is 'a conflict removes the durations of intervals that end after its record' "$(sql late 'SELECT start_ns, coalesce(duration_ns, -1), coalesce(open, -1), certain FROM intervals ORDER BY id')" \
	'10|10|0|0
20|10|0|0
30|-1|0|0
50|-1|0|0
60|-1|-1|0'
[ ! -x "$BIN/ctp-report" ] || is 'ctp-report says the same: late' "$(sql late "$totals")" "$(report late)"

# Without event numbers only the section shows that a packet is missing, and the longest waits are those across it.
awk 'BEGIN { for (i = 0; i < 200000; i++)
	printf "{\"probe_id\":%d,\"tid\":1,\"addr\":\"0x%016x\",\"seq\":0,\"is_active\":%s,\"ts\":%d}\n",
		1 + i % 5, i % 3, int(i / 5) % 2 ? "true" : "false", 1000 + i }' | "$from" -q >"$tmp/plain.ctp"
{ head -c 300000 "$tmp/plain.ctp"; printf 'XXXX'; tail -c +300005 "$tmp/plain.ctp"; } >"$tmp/hurt.ctp"
"$sqlite" -q -o "$tmp/hurt.sqlite" "$tmp/hurt.ctp"
is 'intervals across a damaged packet are uncertain' \
	"$(sql hurt 'SELECT count(*), max(certain) FROM intervals WHERE duration_ns > 5 AND NOT open')" '5|0'

# --- odd ones -----------------------------------------------------------------------------------------------------------------
{
	echo '{"type":"@section","attrs":{"wall_offset_ns":"-3000000001"}}'
	echo '{"type":"@schema","name":"birth","kind":"birth","fields":[{"name":"ts","type":"u64","role":"time"},{"name":"probe_id","type":"u64","role":"probe"},{"name":"coro","type":"u64","role":"coroutine"}]}'
	echo '{"type":"birth","ts":1,"probe_id":5,"coro":1}'
	for ts in 1000000000 3000000001; do
		printf '{"type":"transition","probe_id":7,"tid":1,"addr":"0x0000000000000001","seq":1,"is_active":true,"ts":%s}\n' $ts
	done
} >"$tmp/odd.jsonl"
{ cat "$tmp/odd.jsonl"; end; } | "$from" -q | "$sqlite" -q -o "$tmp/odd.sqlite"
is 'times of day before 1970' "$(sqlite3 "$tmp/odd.sqlite" 'SELECT wall FROM wall_times')" '1969-12-31T23:59:57.999999999Z
1970-01-01T00:00:00.000000000Z'
born="SELECT state, certain FROM coroutine_states WHERE probe_id = '5'"
is 'a coroutine without transitions is in the state born' "$(sqlite3 "$tmp/odd.sqlite" "$born")" 'born|1'
{
	cat "$tmp/odd.jsonl"
	echo '{"type":"@schema","name":"step","kind":"transition","fields":[{"name":"coro","type":"u64","role":"coroutine"},{"name":"why","type":"string"}]}'
	echo '{"type":"step","coro":1,"why":"x"}'
	end
} | "$from" -q | "$sqlite" -q -o "$tmp/odd.sqlite"
is 'its state is unknown if transitions have no time' "$(sqlite3 "$tmp/odd.sqlite" "$born")" 'unknown|0'

# --- transitions of other sources ---------------------------------------------------------------------------------------------
# Fields are known by their roles. The state of these is 3 where the coroutine runs.
cat >"$tmp/other.jsonl" <<'JSONL'
{"type":"@section","attrs":{}}
{"type":"@schema","name":"begin","kind":"birth","fields":[{"name":"when","type":"u64","role":"time"},{"name":"task","type":"u32","role":"coroutine"}]}
{"type":"@schema","name":"run","kind":"transition","fields":[{"name":"when","type":"u64","role":"time"},{"name":"task","type":"u32","role":"coroutine"},{"name":"on","type":"u8","role":"state"},{"name":"where","type":"u32","role":"site"},{"name":"worker","type":"u16","role":"thread"},{"name":"why","type":"string"},{"name":"index","type":"u8"}]}
{"type":"@schema","name":"place","kind":"site","fields":[{"name":"when","type":"u64","role":"time"},{"name":"no","type":"u32","role":"site"},{"name":"file","type":"string"},{"name":"line","type":"u32"},{"name":"fn","type":"string","role":"name"}]}
{"type":"place","when":1,"no":4,"file":"a.c","line":7,"fn":"f"}
{"type":"begin","when":1,"task":1}
{"type":"begin","when":2,"task":2}
{"type":"begin","when":3,"task":3}
{"type":"run","when":10,"task":1,"on":3,"where":0,"worker":8,"why":"x","index":0}
{"type":"run","when":20,"task":1,"on":0,"where":4,"worker":8,"why":"x","index":1}
{"type":"run","when":30,"task":2,"on":3,"where":0,"worker":8,"why":"x","index":0}
{"type":"run","when":60,"task":1,"on":3,"where":0,"worker":8,"why":"x","index":2}
{"type":"run","when":70,"task":2,"on":0,"where":4,"worker":9,"why":"x","index":1}
{"type":"run","when":100,"task":1,"on":0,"where":4,"worker":8,"why":"x","index":3}
{"type":"@end","complete":true}
JSONL
make other <"$tmp/other.jsonl"
sed 's/,{"name":"index","type":"u8"}//; s/,"index":[0-9]//' "$tmp/other.jsonl" >"$tmp/unnumbered.jsonl"
make unnumbered <"$tmp/unnumbered.jsonl"
states='SELECT coro, state, since_ns, for_ns, site_text, certain FROM coroutine_states ORDER BY coro'
is 'the views follow transitions by the roles of their fields' "$(sql other "$states")" '1|suspended|100|0|a.c:7:f|1
2|suspended|70|30|a.c:7:f|1
3|born|3|97||1'
is 'without the number of an event they are not certain' "$(sql unnumbered "$states")" '1|suspended|100|0|a.c:7:f|0
2|suspended|70|30|a.c:7:f|0
3|born|3|97||1'
for name in other unnumbered; do
	is "$name: durations are right" "$(sql $name 'SELECT coro, runs, running_ns, waits, suspended_ns FROM coroutine_times ORDER BY coro')" '1|2|50|2|40
2|1|40|1|30
3|0|0|0|0'
	[ ! -x "$BIN/ctp-report" ] || is "$name: as ctp-report says" "$(sql $name "$totals")" "$(report $name)"
	is "$name: threads are right" "$(sql $name 'SELECT tid, runs, busy_ns FROM thread_times')" '8|3|80'
	is "$name: the records are in their table too" "$(sql $name 'SELECT count(*), sum("on") FROM run; PRAGMA integrity_check')" '6|9
ok'
	rm -f "$tmp/added.sqlite"
	"$from" -q "$tmp/$name.jsonl" | "$sqlite" -q --append -o "$tmp/added.sqlite"
	"$from" -q "$tmp/$name.jsonl" | "$sqlite" -q --append -o "$tmp/added.sqlite"
	is "$name: the same holds after appending" "$(sql added 'SELECT * FROM coro_trace_events WHERE section = 2')" \
		"$(sql $name 'SELECT id + 6, probe_id, tid, addr, seq, is_active, ts, 2, coro, "index", site FROM coro_trace_events')"
done
is 'missing fields are 0, or null' "$(sql unnumbered 'SELECT * FROM coro_trace_events WHERE id = 2')" \
	'2|0|8|0x0000000000000000|0|0|20|1|1||4'
# A class may have coroTracer's columns, and another for the coroutine.
{
	echo '{"type":"@section","attrs":{}}'
	echo '{"type":"@schema","name":"hop","kind":"transition","fields":[{"name":"probe_id","type":"u64","role":"probe"},{"name":"tid","type":"u64","role":"thread"},{"name":"addr","type":"u64","role":"address"},{"name":"seq","type":"u64","role":"sequence"},{"name":"is_active","type":"bool","role":"state"},{"name":"ts","type":"u64","role":"time"},{"name":"task","type":"u64","role":"coroutine"}]}'
	echo '{"type":"hop","probe_id":7,"tid":1,"addr":"0x1","seq":1,"is_active":true,"ts":5,"task":17}'
	end
} | make hop
is 'a role takes precedence over a name' "$(sql hop 'SELECT coro, probe_id FROM coro_trace_events; SELECT coro, state FROM coroutine_states; SELECT task FROM hop')" '17|7
17|running
17'

"$BIN/ctp-collect" -q "$O/examples/lostwake" 2>"$tmp/err" >"$tmp/lost.ctp"
"$sqlite" -o "$tmp/lost.sqlite" "$tmp/lost.ctp"
if [ "$(sqlite3 "$tmp/lost.sqlite" 'SELECT count(*) FROM losses')" = 0 ]; then
	is 'the coroutine that was not woken is the suspended one' \
		"$(sqlite3 "$tmp/lost.sqlite" "SELECT probe_id, certain FROM coroutine_states WHERE state <> 'dead'")" \
		"$(sed -n 's/.*lost handler .*probe_id \([0-9]*\).*/\1/p' "$tmp/err")|1"
	is 'it has the longest wait' "$(sqlite3 "$tmp/lost.sqlite" 'SELECT probe_id FROM longest_waits LIMIT 1')" \
		"$(sqlite3 "$tmp/lost.sqlite" "SELECT probe_id FROM coroutine_states WHERE state = 'suspended'")"
fi

# --- query plans ------------------------------------------------------------------------------------------------------------
# A query for one coroutine reads its events, losses and death by an index.
plan() { sqlite3 "$tmp/$1.sqlite" "EXPLAIN QUERY PLAN $2"; }
plan=$(plan lost 'SELECT * FROM intervals WHERE coro = 100')
like 'events of one coroutine are searched by an index' "$plan" 'SEARCH y USING INDEX idx_coro_trace_events_coro .coro='
like 'its death is searched by an index' "$plan" 'SEARCH death USING .*INDEX idx_death_coro'
like 'its losses are searched by an index' "$plan" 'SEARCH lost USING .*INDEX idx_lost_coro'
is 'nothing is scanned' "$(echo "$plan" | grep 'SCAN \(coro\|death\|lost\|birth\)')" ''
like 'without coro the probe_id is searched by an index' "$(plan lost "SELECT * FROM intervals WHERE coro IS NULL AND probe_id = '100'")" \
	'SEARCH coro_trace_events USING INDEX idx_coro_trace_events_'

# Work for each row is an index search, also if a kind has several tables. t.sqlite has two of each but for transitions.
views=$(sql t "SELECT name FROM sqlite_schema WHERE type = 'view'")
for view in $views; do
	is "$view: no scan for each row" "$(plan t "SELECT * FROM $view" | awk '
		{ depth = match($0, /[A-Z(]/); if (under && depth <= under) under = 0 }
		/CORRELATED/ && !under { under = depth }
		under && /SCAN/ && !/SCAN r$|SCAN CONSTANT|SCAN s$|SCAN c$/')" ''
done

# --- the manual ---------------------------------------------------------------------------------------------------------------
awk '/^\.Ss Views/ { on = 1 } /^\.Ss Appending/ { on = 0 }
	on && /^\.Dl SELECT/ { sub(/^\.Dl /, ""); gsub(/\\\(aq/, "\047"); gsub(/\\&/, ""); print }' doc/ctp-sqlite.1 >"$tmp/examples"
for view in $views; do
	example=$(grep -m 1 -w "FROM $view" "$tmp/examples")
	ok "$view: its example in the manual" sqlite3 -bail "$tmp/t.sqlite" "${example:-SELECT no_example}"
done
done_testing
