#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# ctp-toperfetto: Perfetto's own engine and a reader of Chrome's JSON see what ctp-report and ctp-stat see; gaps, sections, processes,
# early births, too many lanes, hostile names, sizes, full disks.
# Under sanitizers only in check-all: the engine takes most of the time.
. t/helper/tap.sh
command -v python3 >/dev/null || skip_all 'there is no python3'
to=$BIN/ctp-toperfetto from=$BIN/ctp-fromjsonl report=$BIN/ctp-report
engine=
if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
	skip "there is no node with npm: without Perfetto's engine"
elif said=$(t/helper/perfetto-engine build/perfetto 2>&1); then
	engine=build/perfetto
else
	skip "Perfetto's engine cannot be had from npm: $(echo "$said" | head -n 1)"
fi
# One engine answers all questions, because it takes long to start.
if [ "$engine" ]; then
	mkfifo "$tmp/questions" "$tmp/answers"
	node t/helper/perfetto-sql.js "$engine" <"$tmp/questions" >"$tmp/answers" &
	exec 8>"$tmp/questions" 9<"$tmp/answers"
fi
# Converts NAME.ctp; for Perfetto, its file is compared with the report.
judge() { # NAME [GAPS.json]
	"$report" -qj "$tmp/$1.ctp" >"$tmp/$1.report"
	"$to" -q -o "$tmp/$1.pftrace" "$tmp/$1.ctp"
	[ ! "$engine" ] || python3 t/helper/perfetto-judge.py "$tmp/$1.pftrace" "$tmp/$1.report" ${2:+"$2"}
}
# Rows of the questions on standard input, each question with a semicolon after its rows, all on one line.
sql() {
	{ echo "trace $tmp/$1" && cat && echo end; } >&8
	while IFS= read -r sql_line && [ "$sql_line" != end ]; do printf '%s\n' "$sql_line"; done <&9 | sed 's/^status 0$/;/' | tr '\n' ' '
}
errors="select name from stats where value > 0 and severity in ('error', 'data_loss')"
bytes_per_event() { echo $(($(wc -c <"$1") / $("$BIN/ctp-stat" -j "$2" | grep -o '"events":[0-9]*' | head -n 1 | cut -d : -f 2))); }

# --- a real program ----------------------------------------------------------------------------------------------------------------
"$BIN/ctp-collect" -q -o "$tmp/lost.ctp" "$O/examples/lostwake" >/dev/null 2>&1
ok 'Perfetto sees what the report of a collected trace has' judge lost
like 'with wakes, an event takes at most 84 bytes' "$(bytes_per_event "$tmp/lost.pftrace" "$tmp/lost.ctp")" '^([1-7][0-9]|8[0-4])$'
"$to" --threads-only -o "$tmp/threads.pftrace" "$tmp/lost.ctp"
like 'with --threads-only at most 16' "$(bytes_per_event "$tmp/threads.pftrace" "$tmp/lost.ctp")" '^1[0-6]$'
"$to" --chrome -o "$tmp/lost.json" "$tmp/lost.ctp"
ok 'the Chrome form has the same runs, wakes and waits' python3 t/helper/chrome-judge.py "$tmp/lost.json" "$tmp/lost.report"
if command -v protoc >/dev/null; then
	protoc --decode_raw <"$tmp/lost.pftrace" >"$tmp/raw" 2>"$tmp/err"
	is 'protoc reads the file' "$? $(cat "$tmp/err")" '0 '
	is 'each of its packets is there, and of the one sequence' "$(grep -c '^1 {' "$tmp/raw")" "$(grep -c '^  10: 1$' "$tmp/raw")"
else
	skip 'there is no protoc'
fi
"$to" <"$tmp/lost.ctp" | cmp - "$tmp/lost.pftrace"
is 'standard output gets the same bytes' $? 0
"$to" "$tmp/lost.ctp" >/dev/full 2>"$tmp/err"
is 'a full disk: status 1' $? 1
"$to" -o "$tmp/none.pftrace" "$tmp/missing.ctp" 2>/dev/null
is 'without an input there is no file' "$? $(ls "$tmp/none.pftrace" 2>/dev/null)" '1 '

# Generators run in one another, many deep.
if [ -x "$O/examples/primes" ]; then
	"$BIN/ctp-collect" -q -o "$tmp/primes.ctp" "$O/examples/primes" >/dev/null
	ok 'a thread is busy as long as any of the runs on it that are in one another' judge primes
else
	skip 'there is no example in C++'
fi

# --- gaps, and what is waited for --------------------------------------------------------------------------------------------------
for seed in 1 2 3 ${EVERY:+4 5 6 7 8}; do
	python3 t/helper/gaps.py make "$seed" >"$tmp/gaps.jsonl"
	python3 t/helper/gaps.py know "$tmp/gaps.jsonl" >"$tmp/gaps.know"
	"$from" -q "$tmp/gaps.jsonl" >"$tmp/gaps.ctp"
	ok "what is lost is shown as lost, and nothing else, and each wake is there, seed $seed" judge gaps "$tmp/gaps.know"
	"$to" -q --chrome -o "$tmp/gaps.json" "$tmp/gaps.ctp"
	ok "in the Chrome form, too, and each arrow has both ends, seed $seed" \
		python3 t/helper/chrome-judge.py "$tmp/gaps.json" "$tmp/gaps.report"
done
python3 t/helper/objects.py make 1 >"$tmp/objects.jsonl"
"$from" -q "$tmp/objects.jsonl" >"$tmp/objects.ctp"
ok 'locks and queues change no slice' judge objects
like 'an event with what it waits for takes at most 120 bytes' "$(bytes_per_event "$tmp/objects.pftrace" "$tmp/objects.ctp")" '^([1-9][0-9]|1[01][0-9])$'

ok 'each field has the number and type of the protos, and arrows begin and end' \
	python3 t/helper/perfetto-fields.py "$tmp/lost.pftrace" "$tmp/objects.pftrace"

# A program that ends in order destroys what still waits.
awk 'BEGIN {
	print "{\"type\":\"@section\",\"attrs\":{\"pid\":\"9\"}}\n{\"type\":\"site\",\"ts\":1,\"site\":1,\"file\":\"s.c\",\"line\":1,\"function\":\"f\"}"
	for (c = 1; c <= 5; c++) printf "{\"type\":\"birth\",\"ts\":%d,\"probe_id\":%d,\"coro\":%d,\"station\":%d,\"after\":1,\"before\":1,\"parent\":0,\"site\":1,\"pid\":9}\n", c, c, c, c
	for (c = 1; c <= 5; c++) for (a = 1; a >= 0; a--)
		printf "{\"type\":\"transition\",\"probe_id\":%d,\"tid\":90,\"addr\":\"0x0000000000000000\",\"seq\":2,\"is_active\":%s,\"ts\":%d,\"coro\":%d,\"index\":%d,\"site\":%d}\n", c, a ? "true" : "false", 100 + c * 10 + (a ? 0 : 5), c, 1 - a, 1 - a
	for (c = 2; c <= 5; c++) printf "{\"type\":\"death\",\"ts\":%d,\"probe_id\":%d,\"coro\":%d,\"after\":%d,\"before\":%d}\n", 900 + c, c, c, 900 + c, 900 + c
	print "{\"type\":\"@end\",\"complete\":true}" }' | "$from" -q >"$tmp/over.ctp"
ok 'lives of coroutines that are destroyed at the end are closed, and their waits say so' judge over
like 'these are four' "$(cat "$tmp/over.report")" '"destroyed":4,'

"$to" -q --chrome -o "$tmp/over.json" "$tmp/over.ctp"
ok 'the Chrome form has the one that is alive, too' python3 t/helper/chrome-judge.py "$tmp/over.json" "$tmp/over.report"

# --- what has no place in the drawing ------------------------------------------------------------------------------------------------
# A wake a moment after its run, two for one run, one after a death, one on no thread; rows of no coroutine, and out of turn.
awk 'function run(c, tid, on, ts, i) { printf "{\"type\":\"transition\",\"probe_id\":%d,\"tid\":%d,\"addr\":\"0x0000000000000000\",\"seq\":2,\"is_active\":%s,\"ts\":%d,\"coro\":%d,\"index\":%d,\"site\":0}\n", c + 5, tid, on ? "true" : "false", ts, c, i }
function wake(c, tid, by, ts) { printf "{\"type\":\"wake\",\"ts\":%d,\"probe_id\":%d,\"coro\":%d,\"tid\":%d,\"by\":%d}\n", ts, c + 5, c, tid, by }
BEGIN {
	print "{\"type\":\"@section\",\"attrs\":{\"pid\":\"7\"}}"
	for (c = 1; c < 3; c++) printf "{\"type\":\"birth\",\"ts\":100,\"probe_id\":%d,\"coro\":%d,\"station\":%d,\"after\":100,\"before\":100,\"parent\":0,\"site\":0,\"pid\":7}\n", c + 5, c, c
	run(1, 70, 1, 200, 0); run(2, 71, 1, 201, 0); run(1, 70, 0, 300, 1); run(1, 70, 1, 1000, 2); wake(1, 71, 2, 1400)
	run(1, 70, 0, 2000, 3); wake(1, 71, 2, 2100); wake(1, 72, 0, 2200); run(1, 70, 1, 3000, 4)
	print "{\"type\":\"death\",\"ts\":3500,\"probe_id\":6,\"coro\":1,\"after\":3500,\"before\":3500}"
	wake(1, 71, 2, 3600); wake(2, 0, 0, 3700); wake(1, 0, 0, 3800); run(0, 70, 1, 3900, 0); run(2, 71, 0, 4000, 0); run(2, 0, 0, 4100, 1); run(2, 0, 1, 4200, 2)
	print "{\"type\":\"@end\",\"complete\":true}" }' | "$from" -q >"$tmp/idle.ctp"
undrawn='not drawn: 1 run without a coroutine; 1 suspension that came after a later one of the coroutine or after its death; '
for form in '' --chrome; do
	"$to" $form -o "$tmp/idle$form" "$tmp/idle.ctp" 2>"$tmp/err"
	is "a message says what is not drawn, form '$form'" "$(cat "$tmp/err")" \
		"ctp-toperfetto: $undrawn${form:+1 run without a thread; }1 wake without a thread: ctp-tojsonl -a shows these events"
done
if [ "$engine" ]; then
	is 'so does the file; each other wake is there, and only where the wake comes first does an arrow lead to the run' "$(sql idle <<SQL
select s.name from slice s join track t on s.track_id = t.id where t.name = 'trace' and s.name like 'not drawn%'
select ts, ifnull(extract_arg(arg_set_id, 'debug.coro'), 'arrow') from slice where name = 'wake' order by 1
select o.ts, i.ts from flow join slice o on o.id = slice_out join slice i on i.id = slice_in order by 1
$errors
SQL
)" "${undrawn}1 wake without a thread ; 1400|1 2100|arrow 2200|arrow 3600|1 3700|arrow ; 2100|2200 2200|3000 3700|4200 ; ; "
fi
is 'in the Chrome form the first of two has the arrow' "$(python3 -c 'import json, sys
print([(e["ph"], e["ts"], e["args"].get("coro")) for e in json.load(open(sys.argv[1]))["traceEvents"] if e["name"] == "wake" and e["ph"] in "isf"])' \
	"$tmp/idle--chrome")" "[('i', 1.3, 1), ('i', 2.1, 1), ('s', 2.0, None), ('f', 2.9, None), ('i', 3.5, 1), ('i', 3.6, 2)]"

fixture=../shared/fixtures/corotracer/mini_redis.jsonl
if [ -r "$fixture" ]; then
	"$from" -q "$fixture" >"$tmp/redis.ctp" 2>/dev/null
	"$to" -o "$tmp/redis.pftrace" "$tmp/redis.ctp" 2>"$tmp/err"
	like 'rows of a layout bug are said' "$(grep not "$tmp/err")" \
		'^ctp-toperfetto: not drawn: 19 runs and 5 suspensions without a coroutine; 2 runs that came after a later one of the coroutine or after its death: '
	if [ "$engine" ]; then
		is 'all other runs are there' "$(sql redis.pftrace <<SQL
select count(*) from slice s join thread_track k on s.track_id = k.id where s.name not in ('wake', 'lost')
$errors
SQL
)" "$(($(grep -c '"is_active": *true' "$fixture") - 21)) ; ; "
	fi
else
	note "$fixture is not there"
fi

# --- births before the trace, processes, sections ------------------------------------------------------------------------------------
cat >"$tmp/early.jsonl" <<'JSONL'
{"type":"@section","attrs":{"pid":"7","argv[]":"/bin/a\"\n</script>","start_ns":"1000000","attached":"yes","wall_offset_ns":"1700000000000000000"}}
{"type":"site","ts":100,"site":1,"file":"a.c","line":7,"function":"f"}
{"type":"birth","ts":100,"probe_id":5,"coro":1,"station":0,"after":100,"before":100,"parent":0,"site":1,"pid":7}
{"type":"birth","ts":1000100,"probe_id":6,"coro":2,"station":1,"after":1000100,"before":1000100,"parent":1,"site":1,"pid":8}
{"type":"thread","ts":1000100,"tid":80,"pid":8,"name":"w\u0000x"}
{"type":"name","ts":1000100,"probe_id":6,"coro":2,"name":"\u0001\"\\</script>\u202e\udcff"}
{"type":"transition","probe_id":6,"tid":80,"addr":"0x0000000000000000","seq":2,"is_active":true,"ts":1000200,"coro":2,"index":0,"site":0}
{"type":"transition","probe_id":5,"tid":70,"addr":"0x0000000000000000","seq":2,"is_active":true,"ts":1000300,"coro":1,"index":0,"site":0}
{"type":"transition","probe_id":6,"tid":80,"addr":"0x0000000000000000","seq":2,"is_active":false,"ts":1000400,"coro":2,"index":1,"site":1}
{"type":"@end","complete":true}
JSONL
"$from" -q "$tmp/early.jsonl" >"$tmp/early.ctp"
"$to" -q -o "$tmp/early.pftrace" "$tmp/early.ctp"
"$to" -q --chrome -o "$tmp/early.json" "$tmp/early.ctp"
is 'odd names are valid text in JSON' "$(python3 -c 'import json, sys
names = {e["name"] for e in json.load(open(sys.argv[1], encoding="utf-8"))["traceEvents"] if e["ph"] == "b"}
print(sorted(n for n in names if "#2" in n))' "$tmp/early.json")" "['\\x01\"\\\\</script>\\u202e\\\\xff #2']"
# An origin of which a filter has left no event has the clock of the others, and its end, if it has one, is at their time.
"$BIN/ctp-tojsonl" -qa "$tmp/lost.ctp" | sed '1s/"pid":"[0-9]*"/"pid":"1"/' | "$from" -q >"$tmp/again.ctp"
"$BIN/ctp-tojsonl" -qa "$tmp/again.ctp" | grep -v '"type":"@*end"' | "$from" -q >"$tmp/short.ctp"
for case in again:1 again:2 short:1 short:2; do
	origin=${case#*:}
	"$BIN/ctp-merge" -q -o "$tmp/again-lost.ctp" "$tmp/lost.ctp" "$tmp/${case%:*}.ctp"
	"$to" -q --chrome -o "$tmp/whole.json" "$tmp/again-lost.ctp"
	coro=$("$BIN/ctp-tojsonl" -qa "$tmp/again-lost.ctp" | grep '"type":"transition".*"origin":'$origin | head -n 1 | sed 's/.*"coro":\([0-9]*\).*/\1/')
	"$BIN/ctp-filter" -q --coro "$coro" -o "$tmp/one.ctp" "$tmp/again-lost.ctp"
	"$to" --chrome -o "$tmp/one.json" "$tmp/one.ctp" 2>"$tmp/err"
	is "$case: only that origin has events: nothing is said of its clock" "$(grep -v ': the section has no end: ' "$tmp/err")" ''
	is "$case: only that origin has events: no time is later than in the whole" "$(python3 -c 'import json, sys
one, whole = (max(e["ts"] for e in json.load(open(name))["traceEvents"] if "ts" in e) for name in sys.argv[1:])
print("it is" if one <= whole else (one, whole))' "$tmp/one.json" "$tmp/whole.json")" 'it is'
done
# The same program again, in a section that is older than the first; and rows without a clock.
sed 's/"wall_offset_ns":"1700/"wall_offset_ns":"1600/' "$tmp/early.jsonl" | "$from" -q >"$tmp/older.ctp"
sed 's/"wall_offset_ns":"1700000000000000000"/"clock":"ordinal"/; s/"start_ns":"[0-9]*",//; s/,"attached":"yes"//' "$tmp/early.jsonl" | "$from" -q >"$tmp/ordinal.ctp"
sed 's/"wall_offset_ns":"1700000000000000000"/"wall_offset_ns":"1700000000000500000"/' "$tmp/early.jsonl" | "$from" -q >"$tmp/later.ctp"
if [ "$engine" ]; then
	is 'births before the trace begin a life, each process has its threads, and there is no error' "$(sql early.pftrace <<SQL
select s.ts, s.dur, s.name, extract_arg(s.arg_set_id, 'debug.born_before') from slice s where s.depth = 0 and s.dur = -1 and s.track_id in (select id from track where parent_id in (select id from track where name = 'coroutines')) order by 1
select p.pid, t.tid from thread_track k join thread t using (utid) join process p using (upid) order by 2
$errors
SQL
)" '100|-1|f #1|yes 1000100|-1|'"$(printf '\001')"'"\</script>'"$(printf '\342\200\256')"'\xff #2|null ; 7|70 8|80 ; ; '
	"$to" -o "$tmp/all.pftrace" "$tmp/early.ctp" "$tmp/older.ctp" "$tmp/later.ctp" "$tmp/ordinal.ctp" 2>"$tmp/err"
	like 'sections that have no clock in common with the first are said' "$(cat "$tmp/err")" '^ctp-toperfetto: 2 of 4 sections '
	is 'each section has its processes, threads and runs, and the time of its clock' "$(sql all.pftrace <<SQL
select count(distinct upid), count(distinct utid) from thread_track join thread using (utid)
select count(*) from slice s join thread_track k on s.track_id = k.id where s.name like '% #_'
select count(*) from slice where name = 'running' and ts = 1500300
$errors
SQL
)" '8|8 ; 8 ; 1 ; ; '
	cp "$tmp/lost.json" "$tmp/chrome.json"
	is 'Perfetto reads the Chrome form, too' "$(printf '%s\nselect count(*) from flow\n' "$errors" | sql chrome.json)" \
		"; $("$BIN/ctp-stat" -j "$tmp/lost.ctp" | grep -o '"wakes":[0-9]*' | head -n 1 | cut -d : -f 2) ; "

	# --- several hosts, and filtered ---------------------------------------------------------------------------------------------
	# The same numbers on two hosts; the second input began earlier.
	sed 's/"pid":"7",/"pid":"7","host":"one","boot_id":"1",/' "$tmp/early.jsonl" | "$from" -q >"$tmp/one.ctp"
	sed 's/"pid":"7",/"pid":"7","host":"two","boot_id":"2",/; s/_ns":"1700000000000000000"/_ns":"1699999999999500000"/' "$tmp/early.jsonl" |
		"$from" -q >"$tmp/two.ctp"
	"$BIN/ctp-merge" -q -o "$tmp/both.ctp" "$tmp/one.ctp" "$tmp/two.ctp"
	"$to" -o "$tmp/both.pftrace" "$tmp/both.ctp" 2>"$tmp/err"
	is 'a merged trace: nothing is left out' "$(cat "$tmp/err")" ''
	about="extract_arg(arg_set_id, 'debug.origin'), extract_arg(arg_set_id, 'debug.host'), extract_arg(arg_set_id, 'debug.pid')"
	is 'each origin has its processes and threads, with their numbers where these are free, its command and its times' "$(sql both.pftrace <<SQL
select name from process where pid > 0 order by pid
select p.pid & 0x3fffff, t.tid & 0x3fffff, count(*) from thread_track k join thread t using (utid) join process p using (upid) group by 1, 2
select t.name from thread_track k join thread t using (utid) order by 1
select $about from slice where name = 'the trace begins' order by 1
select max(ts) - min(ts) from slice s where name = 'running' and s.ts % 1000 = 200
$errors
SQL
)" 'script> on one script> on one script> on two, process 7 script> on two, process 8 ; 7|70|2 8|80|2 ; thread 70 thread 70 w w, thread 80 ; one|one|7 two|two|7 ; 500000 ; ; '
	"$BIN/ctp-filter" -q --state running "$tmp/lost.ctp" >"$tmp/filtered.ctp"
	"$to" -q -o "$tmp/filtered.pftrace" "$tmp/filtered.ctp"
	kinds="select distinct name from slice where name in ('lost', 'left out', 'suspended')"
	is 'what a filter has left out is not called lost' "$(echo "$kinds" | sql filtered.pftrace)" 'left out ; '
	# A loss in a filtered trace is one.
	python3 t/helper/gaps.py make 1 | sed 's/"attrs":{/&"filtered":"--state running",/' | "$from" -q >"$tmp/mixed.ctp"
	"$to" -q -o "$tmp/mixed.pftrace" "$tmp/mixed.ctp"
	is 'what is lost is called that in a filtered trace, too' "$(echo "$kinds and name like 'l%' order by 1" | sql mixed.pftrace)" 'left out lost ; '
	"$BIN/ctp-filter" -q --coro 2 "$tmp/lost.ctp" >"$tmp/filtered.ctp"
	for form in '' --chrome; do
		"$to" $form -o "$tmp/filtered" "$tmp/filtered.ctp"
		is "a filtered trace says so, form '$form'" \
			"$(printf "select ts - start_ts, s.name from slice s, trace_bounds where name like 'filtered%%'\n%s\n" "$errors" | sql filtered)" \
			'0|filtered: --coro 2 ; ; '
	done

	# --- a part of the time --------------------------------------------------------------------------------------------------------
	"$to" -q --since 100ms --until 150ms -o "$tmp/part.pftrace" "$tmp/lost.ctp"
	"$report" -qj --since 100ms --until 150ms "$tmp/lost.ctp" >"$tmp/part.report"
	like 'a part of the time has all coroutines that live then, the time of their runs, and no more' "$(sql part.pftrace <<SQL
$errors
select count(*) from slice s where depth = 0 and name like '%#%' and track_id in (select id from track where name like 'lane%')
select sum(case when dur = -1 then (select end_ts from trace_bounds) - ts else dur end) from slice where name = 'running'
select end_ts - start_ts from trace_bounds
SQL
)" "^; 48 ; $(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["sections"][0]["total_ns"]["running"])' "$tmp/part.report") ; (4[0-9]|50)[0-9]{6} ; "'$'
fi

# --- more coroutines than lanes --------------------------------------------------------------------------------------------------------
awk 'BEGIN {
	print "{\"type\":\"@section\",\"attrs\":{\"pid\":\"9\"}}"
	for (s = 1; s < 4; s++) printf "{\"type\":\"site\",\"ts\":1,\"site\":%d,\"file\":\"s.c\",\"line\":%d,\"function\":\"f%d\"}\n", s, s, s
	for (c = 1; c <= 1003; c++) printf "{\"type\":\"birth\",\"ts\":%d,\"probe_id\":%d,\"coro\":%d,\"station\":%d,\"after\":1,\"before\":1,\"parent\":0,\"site\":%d,\"pid\":9}\n", c, c, c, c, 1 + (c == 1003)
	for (r = 0; r < 2; r++) for (c = 1; c <= 1003; c++) for (a = 1; a >= 0; a--)
		printf "{\"type\":\"transition\",\"probe_id\":%d,\"tid\":%d,\"addr\":\"0x0000000000000000\",\"seq\":2,\"is_active\":%s,\"ts\":%d,\"coro\":%d,\"index\":%d,\"site\":%d}\n", c, 90 + c % 2, a ? "true" : "false", 2000 + r * 10000 + c * 4 + (a ? 0 : 3), c, 2 * r + 1 - a, a ? 0 : 3
	print "{\"type\":\"@end\",\"complete\":true}" }' >"$tmp/many.jsonl"
grep -v '"coro":100[123]' "$tmp/many.jsonl" | "$from" -q >"$tmp/just.ctp"
"$from" -q "$tmp/many.jsonl" >"$tmp/many.ctp"
"$to" -o "$tmp/just.pftrace" "$tmp/just.ctp" 2>"$tmp/err"
is '1,000 coroutines at once have 1,000 lanes' "$? $(cat "$tmp/err")" '0 '
"$to" -o "$tmp/many.pftrace" "$tmp/many.ctp" 2>"$tmp/err"
is 'a message says what is not drawn of 1,003' "$(cat "$tmp/err")" \
	'ctp-toperfetto: more than 1000 coroutines were alive at once: 3 have no lane of their own, and 6 waits and 0 runs of them are not drawn: see less with --since or --until'
if [ "$engine" ]; then
	ok 'with 1,000 all is drawn' judge just
	lanes="select (select count(*) from track where name like 'lane %'), (select count(*) from track where name like '%(shared)')"
	is 'there are as many lanes, and no row is shared' "$(echo "$lanes" | sql just.pftrace)" '1000|0 ; '
	is 'of 1,003, three share two rows, which have their runs, and say what is not drawn' "$(sql many.pftrace <<SQL
$lanes
select t.name, count(*) from slice s join track t on s.track_id = t.id where t.name like '%(shared)' and dur > 0 group by 1 order by 1
select s.name from slice s join track t on s.track_id = t.id where t.name like 's.c:1%(shared)' and s.dur = 0
$errors
SQL
)" '1000|2 ; s.c:1:f1 (shared)|4 s.c:2:f2 (shared)|2 ; 2 coroutines share this row, for there were more than 1000 at once: 4 waits and 0 runs are not drawn ; ; '
fi
"$to" --lanes 0 -q -o "$tmp/none.pftrace" "$tmp/many.ctp"
is 'without lanes all share' $? 0

# --- more than a browser holds ---------------------------------------------------------------------------------------------------------
n=$((5100000 / $("$BIN/ctp-stat" -j "$tmp/lost.ctp" | grep -o '"events":[0-9]*' | head -n 1 | cut -d : -f 2)))
(i=0; while [ $i -lt $n ]; do cat "$tmp/lost.ctp"; i=$((i + 1)); done) | "$to" --threads-only 2>"$tmp/err" >/dev/null
like 'too many transitions are said' "$(cat "$tmp/err")" '^ctp-toperfetto: 5,[0-9]{3},[0-9]{3} transitions are more than a browser can hold, which is about 5 million: see less with --since or --until$'
if [ "$engine" ]; then
	exec 8>&-
	wait # its CPU time counts
fi
done_testing
