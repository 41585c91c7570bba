#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# A section without a clock, clock=ordinal: each tool shows its times as numbers, never as durations or dates.
. t/helper/tap.sh
ctp() { tool=$1; shift; "$BIN/ctp-$tool" "$@"; }
one() { printf '%s\n' "$1" | grep -c "$2"; } # number of lines that match

# 5 * 10^9 would be five seconds, and the offset a date: neither may show. Of two clocks the first counts.
schema='{"type":"@schema","name":"transition","kind":"transition","fields":[{"name":"probe_id","type":"u64","role":"probe"},{"name":"tid","type":"u64","role":"thread"},{"name":"addr","type":"u64","role":"address"},{"name":"seq","type":"u64","role":"sequence"},{"name":"is_active","type":"bool","role":"state"},{"name":"ts","type":"u64","role":"time","pred":"time"},{"name":"coro","type":"u64","role":"coroutine"},{"name":"index","type":"u64","role":"sequence"}]}'
section() { printf '{"type":"@section","attrs":{%s}}\n' "$1"; }
birth() { printf '{"type":"birth","ts":%s,"probe_id":%s,"coro":%s,"station":%s,"after":%s,"before":%s}\n' "$1" "$2" "$2" "$2" "$1" "$1"; }
step() { # TIME CORO TID INDEX ACTIVE
	printf '{"type":"transition","probe_id":%s,"tid":%s,"addr":"0x0000000000001000","seq":%s,"is_active":%s,"ts":%s,"coro":%s,"index":%s}\n' \
		"$2" "$3" $(($4 + 1)) "$5" "$1" "$2" "$4"
}
await() { printf '{"type":"await","ts":%s,"probe_id":%s,"coro":%s,"target":%s,"joins":true}\n' "$1" "$2" "$2" "$3"; }
over() { # TIME EVENTS
	printf '{"type":"end","ts":%s,"events":%s,"lost":0,"unverified":0,"untraced":0,"births":2,"deaths":0,"outcome":"exited","status":0,"after":%s,"before":%s}\n' "$1" "$2" "$1" "$1"
	echo '{"type":"@end","complete":true}'
}
# Two coroutines, each of which joins the other.
circle() {
	birth 1 1
	birth 2 2
	echo "$schema"
	step 3 1 10 0 true
	await 4 1 2
	step 5 1 10 1 false
	step 6 2 11 0 true
	await 7 2 1
	step 5000000000 2 11 1 false
	over 5000000007 4
}
offset='"wall_offset_ns":"1700000000000000000"'
{ section "$offset,\"clock\":\"ordinal\""; circle; } | ctp fromjsonl >"$tmp/o.ctp"
{ section '"clock":"ordinal"'; circle; } | ctp fromjsonl >"$tmp/bare.ctp"
{ section "\"clock\":\"monotonic\",$offset"; circle; } | ctp fromjsonl >"$tmp/clock.ctp"
{ section '"clock":"monotonic"'; circle; } | ctp fromjsonl >"$tmp/nowall.ctp"
cat "$tmp/clock.ctp" "$tmp/o.ctp" >"$tmp/both.ctp"

# With a clock, a wake soon after a resume may be its cause. Without one, it simply comes after it.
for clock in ordinal monotonic; do
	{ section "\"clock\":\"$clock\""
	  birth 1 1
	  echo "$schema"
	  step 2 1 10 0 true
	  echo '{"type":"wake","ts":3,"probe_id":1,"coro":1,"tid":11,"by":0}'
	  step 4 1 10 1 false
	  over 5 2
	} | ctp fromjsonl >"$tmp/wake-$clock.ctp"
done

# --- ctp-stat
stat=$(ctp stat "$tmp/o.ctp") json=$(ctp stat -j "$tmp/o.ctp")
like 'stat: the clock' "$stat" '^  clock: +ordinal$'
like 'stat: numbers' "$stat" '^  order: +1 to 5000000007$'
is 'stat: no duration, no date' "$(one "$stat" 'duration\| ns$\|started\|UTC')" 0
like 'stat -j: numbers' "$json" '"first":1,"last":5000000007,'
is 'stat -j: no times' "$(one "$json" 'duration_ns\|first_ns\|last_ns')" 0
like 'stat: beside a section with a clock, that one alone has a duration' "$(ctp stat "$tmp/both.ctp")" '^duration:    5.000000006 s, from the first record of a section to its last$'
is 'stat: in that section and in the total' "$(ctp stat "$tmp/both.ctp" | grep -c 'duration')" 2
is 'stat: a clock that is not ordinal keeps its times' "$(ctp stat "$tmp/clock.ctp" | grep -c 'duration\|to 5000000007 ns$\|started')" 3
{ section '"clock":"ordinal"'; birth 70000000000 1; echo '{"type":"@end","complete":true}'; } | ctp fromjsonl >"$tmp/far.ctp"
like 'stat -j: the totals are of sections with a clock' "$(cat "$tmp/clock.ctp" "$tmp/far.ctp" | ctp stat -j)" \
	'^[^[]*"duration_ns":5000000006,"first_ns":1,"last_ns":5000000007,.*"sections"'
{ section "$offset,\"clock\":\"monotonic\",\"clock\":\"ordinal\""; circle; } | ctp fromjsonl >"$tmp/two.ctp"
is 'stat: of two clocks the first counts' "$(ctp stat "$tmp/two.ctp" | grep -c 'duration\|started')" 2

# --- ctp-tojsonl, ctp-tocsv, and back
ctp tojsonl -a "$tmp/o.ctp" >"$tmp/o.jsonl"
ctp tocsv -a "$tmp/o.ctp" >"$tmp/o.csv"
like 'tojsonl: the number is the time' "$(cat "$tmp/o.jsonl")" '^.*"is_active":false,"ts":5000000000,'
ctp fromjsonl "$tmp/o.jsonl" | ctp tojsonl -a >"$tmp/again"
ok 'fromjsonl: the section comes back' cmp "$tmp/o.jsonl" "$tmp/again"
ctp fromcsv "$tmp/o.csv" | ctp tojsonl -a >"$tmp/again"
ok 'fromcsv: the section comes back' cmp "$tmp/o.jsonl" "$tmp/again"
like 'tocsv: the number is the time' "$(ctp tocsv "$tmp/o.ctp")" '^2,11,0x0000000000001000,2,false,5000000000$'
said=$(ctp tocsv --wall "$tmp/o.ctp" 2>&1)
is 'tocsv --wall: status 1' $? 1
is 'tocsv --wall: one line' "$said" 'ctp-tocsv: a section does not say how its times relate to wall-clock time; leave out --wall'
section '"clock":"ordinal"' | ctp fromjsonl -q >"$tmp/none.ctp"
said=$(ctp tocsv --wall "$tmp/none.ctp" 2>&1)
is 'tocsv --wall: so it is without a row' "$?: $said" '1: ctp-tocsv: a section does not say how its times relate to wall-clock time; leave out --wall'
like 'tocsv --wall: another clock has dates' "$(ctp tocsv --wall "$tmp/clock.ctp")" '2023-11-14T22:13:25.000000000Z$'

# --- CTF
if [ -x "$BIN/ctp-toctf" ]; then
	ctp toctf -o "$tmp/o.ctf" "$tmp/o.ctp"
	like 'toctf: the description says so' "$(cat "$tmp/o.ctf/metadata")" '^	description = "ordinal: counts records, not time";$'
	is 'toctf: no offset' "$(grep -c '^	offset_s = 0;$\|^	offset = 0;$' "$tmp/o.ctf/metadata")" 2
	ctp toctf -o "$tmp/both.ctf" "$tmp/both.ctp"
fi
if [ -x "$BIN/ctp-toctf" ] && command -v babeltrace2 >/dev/null; then
	like 'toctf: babeltrace2 shows the numbers' "$(babeltrace2 --clock-cycles "$tmp/o.ctf" | tail -1)" '^\[0*5000000007\]'
	is 'toctf: beside a section with a clock' "$(babeltrace2 "$tmp/both.ctf" | wc -l)" 18
	if [ -x "$BIN/ctp-fromctf" ]; then
		ctp fromctf "$tmp/o.ctf" | ctp tojsonl -a >"$tmp/again"
		ok 'fromctf: the section comes back' cmp "$tmp/o.jsonl" "$tmp/again"
	fi
fi
if [ -e "$O/plugins/babeltrace-plugin-ctp.so" ] && command -v babeltrace2 >/dev/null; then
	BABELTRACE_PLUGIN_PATH=$O/plugins
	export BABELTRACE_PLUGIN_PATH
	like 'plugin: the numbers' "$(babeltrace2 --clock-cycles "$tmp/o.ctp" | tail -1)" '^\[0*5000000007\]'
	is 'plugin: no date' "$(babeltrace2 --clock-date --clock-gmt "$tmp/o.ctp" | grep -c 2023)" 0
	babeltrace2 "$tmp/o.ctp" -c sink.text.details >"$tmp/details" 2>"$tmp/err"
	like 'plugin: the clock says so' "$(cat "$tmp/details")" 'Description: ordinal: counts records, not time'
	like 'plugin: its name' "$(cat "$tmp/details")" 'Name: ordinal'
	if [ -x "$BIN/ctp-fromctf" ]; then # the name of its clock is what is left
		babeltrace2 "$tmp/o.ctp" -o ctf -w "$tmp/theirs" >"$tmp/out" 2>&1
		like 'plugin: ctp-fromctf reads the clock' "$(ctp fromctf "$tmp/theirs"/* | ctp stat)" '^  order: +1 to 5000000007$'
	fi
	cat "$tmp/nowall.ctp" "$tmp/bare.ctp" >"$tmp/beside.ctp" # later versions merge by the UUID alone
	is 'plugin: two clocks without wall time have one UUID' "$(babeltrace2 "$tmp/beside.ctp" -c sink.text.details 2>"$tmp/err" |
		awk '/clock class/ { inside = 1 } /[Ss]tream class/ { inside = 0 } inside && /UUID:/ { print $NF }' | sort | uniq -c | awk '{ print $1 }')" 2
	for beside in clock nowall; do
		cat "$tmp/$beside.ctp" "$tmp/bare.ctp" >"$tmp/beside.ctp"
		is "plugin: beside $beside" "$(babeltrace2 "$tmp/beside.ctp" 2>&1 | wc -l)" 18
	done
	is 'plugin: that section keeps its date' "$(babeltrace2 --clock-date --clock-gmt "$tmp/both.ctp" | grep -c '^.2023')" 9
fi

# --- SQLite
sql() { sqlite3 "$@" 2>&1; }
if [ -x "$BIN/ctp-sqlite" ] && command -v sqlite3 >/dev/null; then
	ctp sqlite -o "$tmp/o.db" "$tmp/both.ctp"
	is 'sqlite: the sections' "$(sql "$tmp/o.db" 'SELECT clock, wall_offset_ns, end_ns FROM sections ORDER BY id')" \
		"$(printf 'monotonic|1700000000000000000|5000000007\nordinal||5000000007')"
	is 'sqlite: no wall-clock time' "$(sql "$tmp/o.db" 'SELECT section, count(*), count(wall), count(wall_ns) FROM wall_times GROUP BY 1')" \
		"$(printf '1|4|4|4\n2|4|0|0')"
	for span in intervals.duration_ns wait_intervals.duration_ns run_intervals.duration_ns await_intervals.duration_ns \
		thread_runs.duration_ns coroutine_states.for_ns coroutine_states.unknown_ns coroutine_times.running_ns \
		coroutine_times.suspended_ns coroutine_times.unknown_ns thread_times.busy_ns thread_times.unknown_ns wait_for.for_ns \
		suspend_addresses.total_ns suspend_addresses.max_ns suspend_sites.total_ns loss_totals.unknown_ns; do
		is "sqlite: $span is null" "$(sql "$tmp/o.db" "SELECT section, count(*) > 0, count(${span#*.}) = iif(section = 1, count(*), 0)
			FROM ${span%.*} GROUP BY 1")" "$(printf '1|1|1\n2|1|1')"
	done
	is 'sqlite: states and their order are kept' "$(sql "$tmp/o.db" "SELECT section, coro, state, since_ns, certain
		FROM coroutine_states WHERE section = 2 ORDER BY coro")" "$(printf '2|1|suspended|5|1\n2|2|suspended|5000000000|1')"
	for clock in ordinal monotonic; do ctp sqlite -o "$tmp/$clock.db" "$tmp/wake-$clock.ctp"; done
	is 'sqlite: a wake after a resume counts' "$(sql "$tmp/ordinal.db" 'SELECT woken, woken_ns FROM coroutine_states')" '1|3'
	is 'sqlite: with a clock it does not' "$(sql "$tmp/monotonic.db" 'SELECT woken, woken_ns FROM coroutine_states')" '|'
	{ section '"clock":"ordinal"'
	  birth 1 1
	  echo "$schema"
	  step 2 1 10 0 true
	  echo '{"type":"missed","ts":4,"tid":10,"count":0,"after":2,"transitions":2}'
	  echo '{"type":"lost","ts":4,"probe_id":1,"coro":1,"index":1,"count":2,"unverified":0,"after":2}'
	  step 5 1 10 3 false
	  over 6 2
	} | ctp fromjsonl -q >"$tmp/gap.ctp"
	ctp sqlite -q -o "$tmp/gap.db" "$tmp/gap.ctp"
	for view in gaps thread_gaps; do
		is "sqlite: $view have a position and no duration" "$(sql "$tmp/gap.db" "SELECT start_ns, duration_ns, lost FROM $view")" '2||2'
	done
	like 'report: a gap is counted, without a duration' \
		"$(ctp report -q "$tmp/gap.ctp")" '^  coroutines have 1 gap: what they did then is not counted$'
	if [ -e "$O/lib/ctp.so" ]; then
		is 'the virtual table' "$(sql :memory: ".load $O/lib/ctp" "SELECT attrs ->> 'clock', wall_offset_ns, first_ts, last_ts
			FROM ctp_sections('$tmp/o.ctp')")" 'ordinal||1|5000000007'
	fi
fi

# --- ctp-report
units='[0-9] ?(ns|us|ms|s|min|h|%)([ ,;|)]|$)'
no_units() { is "$1: no unit of time, no share, no date" "$(printf '%s\n' "$2" | grep -Ec "$units|UTC|started")" 0; }
text=$(ctp report -v "$tmp/o.ctp" 2>/dev/null) markdown=$(ctp report -mv "$tmp/o.ctp" 2>/dev/null) json=$(ctp report -j "$tmp/o.ctp")
like 'report: the circle is proved by order alone' "$text" '^1[.] PROVED: 2 coroutines wait for one another .*wait-cycle'
is 'report: one line says that there is no clock' "$(one "$text" 'the section has no clock')" 1
like 'report: its numbers' "$text" '^  numbered 1 to 5000000007; exited'
like 'report: a member' "$text" '#2: suspended since 5000000000, on thread 11$'
like 'report: a thread' "$text" '^ +1 +5000000000  11$'
no_units 'report' "$text"
like 'report -m: a member' "$markdown" '^[|] `#2` [|] suspended [|] 5000000000 [|]  [|]$'
no_units 'report -m' "$markdown"
is 'report -m: each row of a table is as wide as its head' "$(printf '%s\n' "$markdown" | awk -F'|' '
	!/^[|]/ { n = 0 } /^[|]/ { if (n && NF != n) bad++; n = NF } END { print bad + 0 }')" 0
like 'report -j: the section' "$json" '"ordinal":true,"start_ns":null,"duration_ns":null,"ended_ns":null,"first":"1","last":"5000000007"'
like 'report -j: a member' "$json" '"since_ns":null,"for_ns":null,"since":"5000000000"'
is 'report -j: no time is a number' "$(printf '%s\n' "${json%%],\"since_ns\"*}" | grep -Eo '"[a-z0-9_]*_ns":"?[0-9]+' | wc -l)" 0
if command -v jq >/dev/null; then ok 'report -j: jq reads it' jq -n --argjson it "$json" '$it'; fi
like 'report -j: a section with a clock' "$(ctp report -j "$tmp/clock.ctp")" '"ordinal":false,"start_ns":"1","duration_ns":5000000006,"ended_ns":5000000006,"outcome"'
is 'report --folded: numbers, whatever the unit' "$(ctp report --folded --folded-unit s "$tmp/o.ctp")" '0x0000000000001000 5000000009'
for option in --since --until; do
	said=$(ctp report $option 1s "$tmp/o.ctp" 2>&1)
	is "report $option: status 1" $? 1
	is "report $option: one line" "$said" "ctp-report: a section has no clock, and its records have numbers: leave out $option"
done
# A circle in which a lock may have been handed on is judged by its duration, so here it is not reported.
{ section '"clock":"ordinal"'; circle | sed 's/"joins":true/"joins":false/; s/5000000000/8/'; } | ctp fromjsonl >"$tmp/loose.ctp"
like 'report: a circle without joins is no finding' "$(ctp report "$tmp/loose.ctp")" '^No findings in the order of its records$'
is 'report: a wake after a resume counts' "$(ctp report -j "$tmp/wake-ordinal.ctp" | grep -Eo '"runnable":[01],"longest_ns"')" \
	'"runnable":1,"longest_ns"'
is 'report: with a clock it does not' "$(ctp report -j "$tmp/wake-monotonic.ctp" | grep -Eo '"runnable":[01],"longest_ns"')" \
	'"runnable":0,"longest_ns"'
{ section '"clock":"ordinal"'
  birth 1001 1 | sed 's/}$/,"parent":0,"site":0,"pid":42}/' # as this project's probes write it
  echo "$schema"
  step 1002 1 10 0 true
  step 1003 1 10 1 false
  step 1004 1 10 2 true
  step 2001 1 11 3 true
  over 2002 4
} | ctp fromjsonl >"$tmp/twice.ctp"
twice=$(ctp report "$tmp/twice.ctp")
like 'report: a double resume is one of order' "$twice" '^1[.] PROVED: .*double-resume'
like 'report: a place in a sentence is a number' "$twice" '^   first at number 2001$'
like 'report: without a record there is no number' "$(ctp report -q "$tmp/none.ctp")" 'nothing numbered'
like 'report -j: nor in JSON' "$(ctp report -j "$tmp/none.ctp")" '"ordinal":true,.*"first":null,"last":null'
# Rows without a process are of two runs if a minute is between them, and a thread is new. Plain numbers have no minutes.
for clock in ordinal monotonic; do
	{ section "\"clock\":\"$clock\""
	  echo '{"probe_id":1,"tid":1,"addr":"0x0000000000000010","seq":1,"is_active":true,"ts":1}'
	  echo '{"probe_id":2,"tid":2,"addr":"0x0000000000000010","seq":1,"is_active":true,"ts":70000000000}'
	} | ctp fromjsonl -q >"$tmp/runs-$clock.ctp"
done
is 'report: no distance of numbers begins another run' "$(ctp report -q "$tmp/runs-ordinal.ctp" | grep -c '^Section')" 0
is 'report: a silence by a clock does' "$(ctp report -q "$tmp/runs-monotonic.ctp" | grep -c '^Section')" 2
if [ -x "$BIN/ctp-collect" ] && [ -x "$O/examples/lostwake" ]; then
	"$BIN/ctp-collect" -q "$O/examples/lostwake" 2>/dev/null | ctp tojsonl -qa >"$tmp/lost.jsonl"
	like 'report: a lost wake is found with a clock' "$(ctp fromjsonl -q "$tmp/lost.jsonl" | ctp report -qj)" '"rule":"never-woken"'
	sed 's/"clock":"monotonic"/"clock":"ordinal"/' "$tmp/lost.jsonl" | ctp fromjsonl -q >"$tmp/lost.ctp"
	like 'report: a lost wake is not found without a clock' \
		"$(ctp report -qj "$tmp/lost.ctp")" '"ordinal":true.*"findings":\[\]'
	like 'report: coroutines that still wait are listed' \
		"$(ctp report -q "$tmp/lost.ctp")" '^Still waiting at the end, but no finding$'
	no_units 'report: a real program' "$(ctp report -qv "$tmp/lost.ctp" 2>/dev/null)"
fi

# --- ctp-tohtml
browse() { python3 t/helper/browser.py "$@" 2>"$tmp/err"; }
if [ -x "$BIN/ctp-tohtml" ]; then
	ctp tohtml -q -o "$tmp/o.html" "$tmp/o.ctp"
	ctp tohtml -q --section 2 -o "$tmp/both.html" "$tmp/both.ctp"
	like 'tohtml: the page knows that there is no clock' "$(cat "$tmp/o.html")" '"t0_wall_ns":null,"ordinal":true,"t0_ns":"1"'
	like 'tohtml --since: one line' "$(ctp tohtml --since 1s -o "$tmp/x.html" "$tmp/o.ctp" 2>&1)" '^ctp-tohtml: a section has no clock'
fi
if [ -e "$tmp/o.html" ] && python3 -c 'import sys; sys.path.insert(0, "t/helper"); import browser; sys.exit(not browser.chromium())' 2>/dev/null; then
	browse "$tmp/o.html" 'document.body.innerText' 'ticksOf(0, 5e9, 5).at.map(t => moment(t))' \
		'describeCoroutine(ctp.model, 0, 3e9, 1)' 'describeCoroutine(ctp.model, 0, 3, 1e9)' 'describeThread(ctp.model, 1, 3e9, 1)' \
		'[...document.querySelectorAll("#findings details")].map(node => node.textContent)' \
		'[coroutinePage(ctp.app, 0).node, ...Object.keys(TABLES).map(page => tablePage(ctp.app, page).node)].map(n => n.textContent)' \
		>"$tmp/page"
	is 'page: no error' $? 0
	like 'page: what it is' "$(sed -n 1p "$tmp/page")" 'no clock, numbered 1 to 5,000,000,007 '
	like 'page: the axis' "$(sed -n 2p "$tmp/page")" '"2,000,000,000", "3,000,000,000"'
	is 'page: a tip' "$(sed -n 3p "$tmp/page")" '["coroutine  #1", "suspended from 5 to 5,000,000,007, until the end", "waits for #2 at 0x0000000000001000"]'
	like 'page: a pixel' "$(sed -n 4p "$tmp/page")" '3 events in the 1,000,000,000 records of this pixel: running, suspended, not started"'
	like 'page: a thread' "$(sed -n 5p "$tmp/page")" 'from 6 to 5,000,000,000"'
	like 'page: a member' "$(sed -n 6p "$tmp/page")" '#2 suspended since 5,000,000,000'
	is 'page: no unit of time, no share' "$(grep -Ec '[0-9] ?(ns|\\u00b5s|ms|s|%)\b' "$tmp/page")" 0
	browse "$tmp/both.html" '[...document.querySelectorAll("#findings .head")].at(-1).click()' '[...document.querySelectorAll("#findings details")].map(node => node.textContent)' >"$tmp/page"
	like 'page: a finding of a section with a clock has times' "$(cat "$tmp/page")" '#1 suspended for 5[.]00 s'
fi

done_testing
