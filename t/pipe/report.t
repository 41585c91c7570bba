#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# ctp-report, the tool: what it prints in each form, its options, its exit status. The rules have tests of their own.
. t/helper/tap.sh
report=$BIN/ctp-report

# A server spawns five handlers. Each waits a hundred times for 1 ms, is woken, is ready for 0.2 ms and runs for 0.1 ms; but the third
# is not woken again after ten times, while the others still are for 100 ms and more. The server runs all the time, and is woken once all the same. NAME is that one's; what stands in MORE comes before the end.
trace() { # NAME [MORE]
	cat <<-'JSONL'
	{"type":"@section","attrs":{"host":"h","pid":"42","argv":["./server","-v","a b"],"wall_offset_ns":"1700000000000000000"}}
	{"type":"@schema","name":"transition","kind":"transition","fields":[{"name":"probe_id","type":"u64","role":"probe"},{"name":"tid","type":"u64","role":"thread"},{"name":"is_active","type":"bool","role":"state"},{"name":"ts","type":"u64","role":"time","pred":"time"},{"name":"coro","type":"u64","role":"coroutine"},{"name":"index","type":"u64","role":"sequence"},{"name":"site","type":"u64","role":"site"}]}
	{"type":"site","ts":1000000000,"site":1,"file":"main.c","line":10,"function":"main"}
	{"type":"site","ts":1000000000,"site":2,"file":"server.c","line":20,"function":"serve"}
	{"type":"site","ts":1000000000,"site":3,"file":"handler.c","line":30,"function":"read it; now 7"}
	{"type":"thread","ts":1000000000,"tid":50,"pid":42,"name":"worker"}
	JSONL
	# The name is in the environment: what is given with -v, each awk reads in its own way where it has backslashes.
	name=$1 awk 'function move(id, active, site) {
		printf "{\"type\":\"transition\",\"probe_id\":%d,\"tid\":50,\"is_active\":%s,\"ts\":%d,\"coro\":%d,\"index\":%d,\"site\":%d}\n", 100 + id, active, t, id, n[id]++, site }
	function birth(id, parent, site) {
		printf "{\"type\":\"birth\",\"ts\":%d,\"probe_id\":%d,\"coro\":%d,\"station\":%d,\"after\":%d,\"before\":%d,\"parent\":%d,\"site\":%d,\"pid\":42}\n", t, 100 + id, id, id, t, t, parent, site }
	function death(id) { printf "{\"type\":\"death\",\"ts\":%d,\"probe_id\":%d,\"coro\":%d,\"after\":%d,\"before\":%d}\n", t, 100 + id, id, t, t }
	BEGIN {
		t = 1000000000
		birth(1, 0, 1); move(1, "true", 0)
		for (id = 2; id <= 6; id++) birth(id, 1, 2)
		printf "{\"type\":\"wake\",\"ts\":%d,\"probe_id\":101,\"coro\":1,\"tid\":50,\"by\":2}\n", t + 50000
		printf "{\"type\":\"name\",\"ts\":%d,\"probe_id\":104,\"coro\":4,\"name\":\"%s\"}\n", t, ENVIRON["name"]
		for (id = 2; id <= 6; id++) { t += 100000; move(id, "true", 0); t += 100000; move(id, "false", 3) }
		for (round = 0; round < 100; round++) for (id = 2; id <= 6; id++) {
			t += 100000
			if (id == 4 && round >= 10) continue
			printf "{\"type\":\"wake\",\"ts\":%d,\"probe_id\":%d,\"coro\":%d,\"tid\":50,\"by\":1}\n", t, 100 + id, id
			t += 200000; move(id, "true", 0)
			t += 100000
			if (round < 99) move(id, "false", 3); else death(id)
		}
		t += 1000; death(1)
	}'
	[ -z "$2" ] || printf '%s\n' "$2"
	cat <<-'JSONL'
	{"type":"end","ts":3000000000,"events":197,"lost":0,"unverified":0,"untraced":0,"births":6,"deaths":5,"outcome":"exited","status":7}
	{"type":"@end","complete":true}
	JSONL
}
trace 'handler 3' >"$tmp/a.jsonl"
"$BIN/ctp-fromjsonl" -q "$tmp/a.jsonl" >"$tmp/a.ctp"
# The same without the one that is stuck: it, and its events, are left out.
grep -v '"coro":4,' "$tmp/a.jsonl" | sed 's/"births":6/"births":5/' | "$BIN/ctp-fromjsonl" -q >"$tmp/clean.ctp"
lost='{"type":"lost","ts":2000000000,"probe_id":102,"coro":2,"index":900,"count":5,"unverified":0,"after":1900000000}'
trace 'handler 3' "$lost" | "$BIN/ctp-fromjsonl" -q >"$tmp/lossy.ctp"
# Adds a coroutine that is resumed while it runs, which is proved; and further lines.
twice='{"type":"birth","ts":2900000000,"probe_id":109,"coro":9,"station":9,"after":2900000000,"before":2900000000,"parent":1,"site":2,"pid":42}
{"type":"transition","probe_id":109,"tid":50,"is_active":true,"ts":2900000001,"coro":9,"index":0,"site":0}
{"type":"transition","probe_id":109,"tid":50,"is_active":false,"ts":2900000002,"coro":9,"index":1,"site":3}
{"type":"transition","probe_id":109,"tid":50,"is_active":true,"ts":2900000003,"coro":9,"index":2,"site":0}
{"type":"transition","probe_id":109,"tid":51,"is_active":true,"ts":2900000004,"coro":9,"index":3,"site":0}
{"type":"death","ts":2900000005,"probe_id":109,"coro":9,"after":2900000005,"before":2900000005}'
trace 'handler 3' "$twice" | "$BIN/ctp-fromjsonl" -q >"$tmp/proved.ctp"
trace 'handler 3' "$twice
$lost" | "$BIN/ctp-fromjsonl" -q >"$tmp/lossyproved.ctp"
two='{"type":"conflict","ts":2000000000,"probe_id":102,"coro":2}
{"type":"conflict","ts":2000000001,"probe_id":102,"coro":2}
{"type":"conflict","ts":2000000002,"probe_id":103,"coro":3}'
trace 'handler 3' "$two" | "$BIN/ctp-fromjsonl" -q >"$tmp/conflict.ctp"

# --- text ---------------------------------------------------------------------------------------------------------------
"$report" "$tmp/a.ctp" >"$tmp/text" 2>"$tmp/err"
is 'status 0, whatever is found' $? 0
is 'nothing on stderr' "$(cat "$tmp/err")" ''
is 'the command comes first' "$(head -n 1 "$tmp/text")" "./server -v 'a b'"
like 'the head has start, duration and outcome' "$(sed -n 2p "$tmp/text")" '^  pid 42 on h; started 2023-11-14 22:13:21 UTC; 2\.00 s; exited with status 7$'
like 'the head counts coroutines and events' \
	"$(sed -n 3p "$tmp/text")" '^  6 coroutines, 1 alive at the end; run by 1 thread; [0-9]+ events, 411 wakes; nothing lost$'
# Line N after the head, which ends with an empty line.
after() { # N FILE
	sed '1,/^$/d' "$2" | sed -n "$1p"
}
is 'then comes the number of findings' "$(after 1 "$tmp/text")" '1 finding: 0 proved, 1 likely, 0 unknown'
like 'then comes the finding' "$(after 2 "$tmp/text")" '^1\. likely: .*handler\.c:30:.*\[never-woken\]$'
is 'a likely finding is not called proved' "$(grep -c PROVED "$tmp/text")" 0
"$report" "$tmp/proved.ctp" >"$tmp/out"
is 'a proved finding comes first' "$(sed -n '/^[0-9]\. /p' "$tmp/out" | sed 's/: .*\[/ [/')" '1. PROVED [double-resume]
2. likely [never-woken]'
like 'the finding lists its coroutines' "$(cat "$tmp/text")" '^   who: handler 3 \(#4\)$'
ok 'the finding says what to look at' grep -q '^   next: ' "$tmp/text"
ok 'the text fits on one screen' test "$(wc -l <"$tmp/text")" -le 40
is 'stdin gives the same report' "$("$report" <"$tmp/a.ctp")" "$(cat "$tmp/text")"
like 'the absence of findings is reported' "$("$report" "$tmp/clean.ctp")" '^No findings$'
ok 'a complete trace has no section on what is missing' sh -c '! "$0" "$1" | grep "could not see"' "$report" "$tmp/clean.ctp"
like 'a trace with losses has that section' "$("$report" -q "$tmp/lossy.ctp")" '^  5 events were lost: '
for form in '' -m -j; do # 2 and 3, one of them told of twice
	# shellcheck disable=SC2086
	like "two writers in one station are mentioned: $form" "$("$report" -q $form "$tmp/conflict.ctp")" \
		'the numbers of 2 coroutines may be wrong'
done
is 'without that conflict nothing is mentioned' "$("$report" -j "$tmp/a.ctp" | grep -c 'may be wrong: two')" 0
"$report" -v "$tmp/a.ctp" >"$tmp/all" 2>"$tmp/err"
like '-v: each member has its details' "$(cat "$tmp/all")" '^     handler 3 \(#4\): suspended for [0-9.]+ s, since [0-9.]+ ms after the start, '
like '-v: how many records, on stderr' "$(cat "$tmp/err")" ' records, '

# Two join one another; one without a name awaits one of them, and a child of that one awaits it.
circle=$(awk 'BEGIN { for (i = 10; i < 14; i++) {
	target = i == 10 ? 11 : i - 1
	t = 2000000000 + i * 1000
	printf "{\"type\":\"birth\",\"ts\":%d,\"probe_id\":%d,\"coro\":%d,\"station\":%d,\"after\":%d,\"before\":%d,\"parent\":%d,\"site\":2,\"pid\":42}\n", t, 100 + i, i, i, t, t, i == 10 ? 1 : 10
	if (i < 12) printf "{\"type\":\"name\",\"ts\":%d,\"probe_id\":%d,\"coro\":%d,\"name\":\"joiner %d\"}\n", t, 100 + i, i, i
	printf "{\"type\":\"transition\",\"probe_id\":%d,\"tid\":50,\"is_active\":true,\"ts\":%d,\"coro\":%d,\"index\":0,\"site\":0}\n", 100 + i, t + 1, i
	more = sprintf("{\"type\":\"await\",\"ts\":%d,\"probe_id\":%d,\"coro\":%d,\"target\":%d,\"joins\":%s}\n", t + 9000, 100 + i, i, target, i < 12 ? "true" : "false") \
		sprintf("{\"type\":\"transition\",\"probe_id\":%d,\"tid\":50,\"is_active\":false,\"ts\":%d,\"coro\":%d,\"index\":1,\"site\":%d}\n", 100 + i, t + 9001, i, i % 2 ? 3 : 2)
	rest = rest more
} printf "%s", rest }')
trace 'handler 3' "$circle" | "$BIN/ctp-fromjsonl" -q >"$tmp/circle.ctp"
is 'waiters are listed below what they wait for' "$("$report" "$tmp/circle.ctp" | sed -n '/^1\./,/^   next/p')" \
"1. PROVED: 2 coroutines wait for one another in a circle, at server.c:20:serve and handler.c:30:read it; now 7  [wait-cycle]
   joiner 10 (#10) awaits joiner 11 (#11) at server.c:20:serve
   joiner 11 (#11) awaits joiner 10 (#10) at handler.c:30:read it; now 7
   2 others wait because of them
   who: at server.c:20:serve: joiner 10 (#10)
        at handler.c:30:read it; now 7: joiner 11 (#11)
   waiting because of them:
     joiner 11 (#11)
       serve (#12), in joiner 10  at server.c:20:serve, for 1.00 s
         serve (#13), in joiner 10  at handler.c:30:read it; now 7, for 1.00 s
   next: each waits for another one to end: let one of them go on without that, or cancel it"
is 'Markdown has the waiters as a list' \
	"$("$report" -m "$tmp/circle.ctp" | sed -n '/^waiting/,/^- next/p' | sed '$d' | grep '^ *-')" \
'- `joiner 11 (#11)`
  - `serve (#12), in joiner 10` at `server.c:20:serve`, for 1.00 s
    - `serve (#13), in joiner 10` at `handler.c:30:read it; now 7`, for 1.00 s'

# --- Markdown -----------------------------------------------------------------------------------------------------------------
"$report" -m "$tmp/a.ctp" >"$tmp/md"
is 'Markdown: status 0' $? 0
is 'the command is its heading' "$(head -n 1 "$tmp/md")" "# \`./server -v 'a b'\`"
ok 'the finding is a heading' grep -q '^### 1\. likely: ' "$tmp/md"
ok 'the members of the finding are a table' grep -q '^| `handler 3 (#4)` | suspended | ' "$tmp/md"

# --- JSON and folded stacks ---------------------------------------------------------------------------------------------------
"$report" -j "$tmp/a.ctp" >"$tmp/json"
is 'JSON: one line' "$(wc -l <"$tmp/json")" 1
if command -v jq >/dev/null; then
	is 'jq reads it' "$(jq -c '.sections[0] | [.command, .pid, .outcome, .status, .complete, .coroutines, .alive, .wakes, .lost, .start_wall_ns]' "$tmp/json")" \
		'[["./server","-v","a b"],"42","exited",7,true,6,1,411,0,"1700000001000000000"]'
	is 'JSON has the finding' "$(jq -c '.sections[0].findings[] | [.rule, .certainty, .members, .spawn_site, .suspend_site, .coroutines[0].coro, .coroutines[0].probe_id, .coroutines[0].name]' "$tmp/json")" \
		'["never-woken","likely",1,"server.c:20:serve","handler.c:30:read it; now 7","4","104","handler 3"]'
	is 'JSON has the parts of each site' "$(jq -c '.sections[0] | (.findings[] | .spawn_place, .suspend_place), .findings[].coroutines[].suspend_place, .sites[1].place' "$tmp/json")" \
		'{"file":"server.c","line":20,"function":"serve"}
{"file":"handler.c","line":30,"function":"read it; now 7"}
{"file":"handler.c","line":30,"function":"read it; now 7"}
null'
	is 'JSON has the waiters' "$("$report" -j "$tmp/circle.ctp" | jq -c '.sections[0].findings[0] | .waiting, (.awaits | sort_by(.coro)[] | [.coro, .name, .in, .suspend_site, .spawn_site, .waits_for, .told])')" \
		'2
["12",null,"joiner 10","server.c:20:serve","server.c:20:serve","11",true]
["13",null,"joiner 10","handler.c:30:read it; now 7","server.c:20:serve","12",true]'
	"$report" -j "$tmp/circle.ctp" >"$tmp/json"
	is 'JSON says what each member waits for' "$(jq -c '.sections[0].findings[0].coroutines | sort_by(.coro)[] | [.coro, .waits_for, .reasons]' "$tmp/json")" \
		'["10","11",[]]
["11","10",[]]'
	is 'each key is in the manual' "$(jq -r 'paths | map(select(type == "string"))[-1]' "$tmp/json" | sort -u |
		while read -r key; do grep -q "\"$key\"" doc/ctp-report.1 || echo "$key"; done)" ''
	"$report" -j "$tmp/a.ctp" >"$tmp/json"
fi

# A line is frames and a number, by flamegraph.pl's own pattern; the part before the number must not end with another number.
folded() { # STATE FILE...
	state=$1
	shift
	"$report" -q --folded="$state" --folded-unit ns "$@" >"$tmp/folded"
	ok "folded, $state: every line is a stack and a number" sh -c '! grep -Ev "^[^ ;]+(;[^ ;]+)* [0-9]+$" "$0"' "$tmp/folded"
}
folded suspended "$tmp/a.ctp"
is 'a stack has the spawn sites of parent and child, and the place of the wait' "$(cut -d ' ' -f 1 "$tmp/folded")" 'main.c:10:main;server.c:20:serve;handler.c:30:read_it:_now_7'
is '--folded alone shows suspended time' "$("$report" --folded --folded-unit ns "$tmp/a.ctp")" "$(cat "$tmp/folded")"
folded runnable "$tmp/a.ctp"
is 'runnable: 410 times 0.2 ms' "$(cut -d ' ' -f 2 "$tmp/folded")" $((410 * 200000))
is '--since excludes earlier time' "$("$report" --folded=runnable --since 1s "$tmp/a.ctp")" ''
folded running "$tmp/a.ctp"
is 'running: 410 times 0.1 ms from there, and 0.1 ms each at first' "$(sed -n 's/.*;handler.* //p; s/.*:serve //p' "$tmp/folded" | sort -n | tr '\n' ' ')" "$((5 * 100000)) $((410 * 100000)) "
if command -v python3 >/dev/null; then
	for state in suspended runnable running; do
		folded $state "$tmp/a.ctp"
		# shellcheck disable=SC2016
		ok "folded, $state: the sum is that of the sites and of unfinished waits" python3 -c '
import json, sys
section = json.load(open(sys.argv[1]))["sections"][0]
folded = sum(int(line.split(" ")[1]) for line in open(sys.argv[2]))
sites = sum(site[sys.argv[3]]["total_ns"] for site in section["sites"])
stuck = sum(who["for_ns"] for f in section["findings"] for who in f["coroutines"]) if sys.argv[3] == "suspended" else 0
print(folded, sites, stuck)
sys.exit(folded != sites + stuck or not folded)' "$tmp/json" "$tmp/folded" $state
	done
fi
# More stacks than there is room for at first: each coroutine is spawned at a site of its own.
awk -v n=600 'BEGIN {
	print "{\"type\":\"@section\",\"attrs\":{\"pid\":\"1\"}}"
	for (i = 1; i <= n + 1; i++) printf "{\"type\":\"site\",\"ts\":1,\"site\":%d,\"file\":\"a.c\",\"line\":%d,\"function\":\"f%d\"}\n", i, i, i
	for (i = 1; i <= n; i++) {
		ts = 10000 * i
		printf "{\"type\":\"birth\",\"ts\":%d,\"coro\":%d,\"site\":%d,\"pid\":1}\n", ts, i, i
		for (k = 0; k < 3; k++)
			printf "{\"type\":\"transition\",\"ts\":%d,\"coro\":%d,\"index\":%d,\"tid\":5,\"is_active\":%s,\"site\":%d}\n",
				ts + 1000 * k, i, k, k == 1 ? "false" : "true", k == 1 ? n + 1 : 0
		printf "{\"type\":\"death\",\"ts\":%d,\"coro\":%d,\"after\":%d}\n", ts + 3000, i, ts + 3000
	}
	print "{\"type\":\"@end\",\"complete\":true}" }' | "$BIN/ctp-fromjsonl" -q >"$tmp/many.ctp"
folded suspended "$tmp/many.ctp"
is '600 spawn sites: as many stacks, each with its time' "$(sed 's/.* //' "$tmp/folded" | sort | uniq -c | tr -s ' ')" ' 600 1000'
# Numbers are milliseconds: the Firefox Profiler makes a sample of each unit, and fails with nanoseconds. Each number is rounded, but is at least 1.
folded running "$tmp/a.ctp"
for unit in ms:1000000 us:1000 s:1000000000; do
	"$report" --folded=running --folded-unit "${unit%:*}" "$tmp/a.ctp" >"$tmp/units"
	is "--folded-unit ${unit%:*}: each stack, in that unit" "$(cat "$tmp/units")" \
		"$(awk -v unit="${unit#*:}" '{ n = int($2 / unit + 0.5); print $1, n ? n : 1 }' "$tmp/folded")"
done
for state in suspended:ms runnable:us running:us; do
	is "--folded=${state%:*}: the unit is ${state#*:}, if none is given" "$("$report" --folded="${state%:*}" "$tmp/a.ctp")" \
		"$("$report" --folded="${state%:*}" --folded-unit "${state#*:}" "$tmp/a.ctp")"
done
"$report" --folded=running --folded-unit ms "$tmp/a.ctp" >"$tmp/ms"
is 'half a unit is rounded to one' "$(sed -n 's/.*:serve //p' "$tmp/folded" "$tmp/ms" | tr '\n' ' ')" '500000 1 '
is 'a small part of a unit is rounded to one' "$("$report" --folded=runnable --folded-unit s "$tmp/a.ctp" | cut -d ' ' -f 2)" 1
# 200 generations; and three that are each other's parents, with unknown spawn sites.
awk 'BEGIN { for (i = 1; i <= 203; i++) {
	parent = i <= 200 ? i - 1 : i < 203 ? i + 1 : 201
	printf "{\"type\":\"birth\",\"ts\":%d,\"probe_id\":%d,\"coro\":%d,\"station\":%d,\"after\":%d,\"before\":%d,\"parent\":%d,\"site\":%d,\"pid\":1}\n", i, i, i, i, i, i, parent, i <= 200 ? i : 0
	printf "{\"type\":\"wake\",\"ts\":%d,\"probe_id\":%d,\"coro\":%d,\"tid\":1,\"by\":0}\n", i + 300, i, i } }' |
	"$BIN/ctp-fromjsonl" -q >"$tmp/deep.ctp"
folded runnable "$tmp/deep.ctp"
is 'folded: a stack has at most 64 frames' "$(awk -F ';' 'NF > most { most = NF } END { print most }' "$tmp/folded")" 64
is 'all time is there' "$(awk '{ sum += $2 } END { print sum }' "$tmp/folded")" $((203 * 202 / 2))
is 'a circle of parents has no frame' "$(grep '^\[no_place\] ' "$tmp/folded")" '[no_place] 3'
# A coroutine waits for its child, which waits for its own child: that counts as one wait, of the last. Another wait is separate.
awk 'BEGIN {
	for (i = 1; i <= 4; i++)
		printf "{\"type\":\"birth\",\"ts\":%d,\"probe_id\":%d,\"coro\":%d,\"station\":%d,\"after\":%d,\"before\":%d,\"parent\":%d,\"site\":%d,\"pid\":1}\n", i, i, i, i, i, i, i < 4 ? i - 1 : 0, i
	for (i = 1; i <= 4; i++) {
		printf "{\"type\":\"await\",\"ts\":%d,\"probe_id\":%d,\"coro\":%d,\"target\":%d}\n", 10 * i, i, i, i < 3 ? i + 1 : i == 4 ? 3 : 0
		printf "{\"type\":\"transition\",\"probe_id\":%d,\"tid\":1,\"addr\":\"0x0000000000000000\",\"seq\":2,\"is_active\":false,\"ts\":%d,\"coro\":%d,\"index\":0,\"site\":9}\n", i, 10 * i, i
	}
	for (i = 4; i >= 1; i--)
		printf "{\"type\":\"transition\",\"probe_id\":%d,\"tid\":1,\"addr\":\"0x0000000000000000\",\"seq\":2,\"is_active\":true,\"ts\":%d,\"coro\":%d,\"index\":1,\"site\":0}\n", i, 140 - 10 * i, i }' |
	"$BIN/ctp-fromjsonl" -q >"$tmp/nested.ctp"
folded suspended "$tmp/nested.ctp"
is 'folded: a wait for a child is the wait of that child' "$(sort "$tmp/folded")" 'site_1;site_2;site_3;site_9 80
site_4;site_9 60'

# --- options ------------------------------------------------------------------------------------------------------------------
status() { # NAME STATUS ARGUMENT...
	what=$1 want=$2
	shift 2
	"$report" -q "$@" >"$tmp/out" 2>"$tmp/err"
	is "$what: status $want" $? "$want"
}
status '--fail-on proved' 4 --fail-on proved "$tmp/proved.ctp"
status '--fail-on proved, what is likely' 0 --fail-on proved "$tmp/a.ctp"
status '--fail-on likely' 4 --fail-on likely "$tmp/a.ctp"
ok '--fail-on prints the report all the same' cmp -s "$tmp/out" "$tmp/text"
status '--fail-on likely as JSON' 4 --fail-on likely -j "$tmp/a.ctp"
status '--fail-on with --folded' 4 --fail-on likely --folded "$tmp/a.ctp"
status '--fail-on, nothing found' 0 --fail-on likely "$tmp/clean.ctp"
# Three coroutines wait for 3 ms or less, thirty times; then only one of them continues so, for two seconds.
awk 'function both(c, n, ts) { row(c, 2 * n + 1, "true", ts); row(c, 2 * n + 2, "false", ts + 50000) }
	function row(c, seq, active, ts) { printf "{\"probe_id\":%d,\"tid\":7,\"addr\":\"0x50\",\"seq\":%d,\"is_active\":%s,\"ts\":%.0f}\n", c, seq, active, ts }
	BEGIN { for (n = 0; n < 30; n++) for (c = 1; c <= 3; c++) both(c, n, ts += 1000000)
		for (; n < 2000; n++) both(2, n, ts += 1000000) }' | "$BIN/ctp-fromjsonl" -q >"$tmp/possible.ctp"
status '--fail-on possible' 4 --fail-on possible "$tmp/possible.ctp"

# Two sessions are answered by one worker, thirty times, once after 300 ms; then the worker waits where no wait has ended.
awk 'function at(ms) { ts = ms * 1000000 }
	function row(c, active, site) { printf "{\"type\":\"transition\",\"ts\":%.0f,\"coro\":%d,\"index\":%d,\"tid\":7,\"is_active\":%s,\"site\":%d}\n", ts += 10, c, n[c]++, active, site }
	function wake(c, by) { printf "{\"type\":\"wake\",\"ts\":%.0f,\"coro\":%d,\"tid\":7,\"by\":%d}\n", ts += 10, c, by }
	BEGIN { at(1); for (c = 1; c <= 4; c++) { printf "{\"type\":\"birth\",\"ts\":%.0f,\"coro\":%d,\"pid\":100}\n", ts += 10, c; row(c, "true", 0); row(c, "false", c == 3 ? 40 : c == 4 ? 50 : 30) }
		for (i = 0; i < 30; i++) { at(2 + i * 4 + (i > 9) * 300); wake(3, 0); row(3, "true", 0)
			for (c = 1; c <= 2; c++) { wake(c, 3); row(c, "true", 0); row(c, "false", 30) }
			row(3, "false", 40) }
		wake(3, 0); row(3, "true", 0); row(3, "false", 41)
		for (i = 0; i < 500; i++) { at(500 + i * 4); wake(4, 0); row(4, "true", 0); row(4, "false", 50) } }' |
	"$BIN/ctp-fromjsonl" -q >"$tmp/behind.ctp"
"$report" -q "$tmp/behind.ctp" >"$tmp/behind"
like 'the heading counts coroutines that may wait because of a wait that stands out' "$(cat "$tmp/behind")" \
	'^No findings, but 1 wait stands out, and 2 other coroutines may wait because of it'
is 'a wait that stands out is not listed again' "$(sed '1,/^Still waiting/d; /^Where/,$d' "$tmp/behind" | grep -c 'site 41')" 0
is 'other waits are' "$(sed '1,/^Still waiting/d; /^Where/,$d' "$tmp/behind" | grep -c 'site [35]0')" 2
status '--fail-on likely, what is possible' 0 --fail-on likely "$tmp/possible.ctp"
status '--fail-on possible, what is proved' 4 --fail-on possible "$tmp/proved.ctp"
status '--fail-on possible, nothing stands out' 0 --fail-on possible "$tmp/clean.ctp"
status '--fail-on possible, and that is ignored' 0 --fail-on possible --ignore possible "$tmp/possible.ctp"
status 'events were lost' 3 "$tmp/lossy.ctp"
status '--fail-on outranks that' 4 --fail-on proved "$tmp/lossyproved.ctp"
status '--fail-on, in the second file' 4 --fail-on proved "$tmp/clean.ctp" "$tmp/proved.ctp"
for pattern in never-woken 'handler.c:*' server.c:20:serve 'never-woken *:30:*'; do
	status "--ignore '$pattern'" 0 --fail-on likely --ignore "$pattern" "$tmp/a.ctp"
	is 'an ignored finding is counted with the findings' "$(after 1 "$tmp/out")" 'No findings; 1 ignored, as asked'
	like 'Markdown counts it' "$("$report" -qm --ignore "$pattern" "$tmp/a.ctp")" '^## No findings; 1 ignored, as asked$'
	like 'JSON counts it' "$("$report" -qj --ignore "$pattern" "$tmp/a.ctp")" '"findings":\[\],"ignored":1,.*"ignored":1,"ignore_unmatched":\[\]}$'
	is 'nothing else is printed' "$("$report" --ignore "$pattern" "$tmp/a.ctp" 2>&1 >/dev/null)" ''
done
status '--ignore, one of two' 4 --fail-on likely --ignore never-woken "$tmp/proved.ctp"
is 'another finding is not ignored' "$(after 1 "$tmp/out")" '1 finding: 1 proved, 0 likely, 0 unknown; 1 ignored, as asked'
status '--ignore of something else' 4 --fail-on likely --ignore leaked --ignore 'leaked *' --ignore handler.c "$tmp/a.ctp"
is '-q does not name patterns that match nothing' "$(cat "$tmp/err")" ''
is 'a pattern that matches nothing is named' "$("$report" --ignore leaked --ignore never-woken --ignore 'leaked *' "$tmp/a.ctp" 2>&1 >/dev/null)" \
	"ctp-report: --ignore: no finding is like 'leaked', 'leaked *'"
is 'a pattern is not named if it matches a finding that another one ignores' "$("$report" --ignore never-woken --ignore 'never-*' "$tmp/a.ctp" 2>&1 >/dev/null)" ''
like 'JSON names unmatched patterns' "$("$report" -qj --ignore leaked --ignore never-woken --ignore '"' "$tmp/a.ctp")" '"ignore_unmatched":\["leaked","\\""\]}$'
is 'of many unmatched patterns some are named' "$("$report" --ignore a --ignore b --ignore c --ignore d --ignore e --ignore f --ignore g "$tmp/a.ctp" 2>&1 >/dev/null)" \
	"ctp-report: --ignore: no finding is like 'a', 'b', 'c', 'd', 'e' and 2 more"
like 'the closing lines count ignored findings of all sections' "$("$report" --ignore never-woken "$tmp/a.ctp" "$tmp/clean.ctp" "$tmp/a.ctp")" \
	'^2 findings were ignored, as asked\.$'
printf '# known\n\n  leaked  \r\n\tnever-woken handler.c:*\n' >"$tmp/known"
status '--ignore-file' 0 --fail-on likely --ignore-file "$tmp/known" "$tmp/a.ctp"
status '--ignore-file that is not there' 1 --ignore-file "$tmp/nonexistent" "$tmp/a.ctp"
like 'the error is reported' "$(cat "$tmp/err")" "^ctp-report: $tmp/nonexistent: No such file"
status '--until' 0 --fail-on likely --until 5ms "$tmp/a.ctp"
like 'a restricted range is mentioned' "$(cat "$tmp/out")" '^  looked at only from 0 ns to 5\.00 ms$'
like 'with --until the outcome is not mentioned' "$(sed -n 2p "$tmp/out")" '; 5\.00 ms; and went on after that$'
status '--since' 4 --fail-on likely --since 5ms "$tmp/a.ctp"
like '--since is mentioned' "$(cat "$tmp/out")" '^  looked at only from 5\.00 ms to the end$'
# A range after the end, or before the beginning.
for way in '-q:No verdict: nothing lies in the time' '-m:No verdict: nothing lies in the time' '-j:"in_range":false,"findings":\[\]' \
	"--fail-on proved:No verdict: nothing lies in the time"; do
	# shellcheck disable=SC2086
	status "--since beyond the end, ${way%%:*}" 1 ${way%%:*} --since 100s "$tmp/a.ctp"
	like 'a range without events has no verdict' "$(cat "$tmp/out")" "${way#*:}"
	is 'the message gives the length of the trace' "$(cat "$tmp/err")" 'ctp-report: --since: nothing is as late as 1.67 min: the trace ends 2.00 s after its start'
done
status '--since beyond the end, --folded' 1 --folded --since 100s "$tmp/a.ctp"
is 'a range without events has no stack' "$(cat "$tmp/out")" ''
status '--since just before the end' 0 --since 1.9s "$tmp/a.ctp"
like 'a range without events but with waits is judged' "$(cat "$tmp/out")" '^Still waiting at the end'
status '--since at the end' 1 --since 2s "$tmp/a.ctp"
grep -v '"coro":4,' "$tmp/a.jsonl" | sed 's/"ts":3000000000/"ts":1500000000/' | "$BIN/ctp-fromjsonl" -q >"$tmp/short.ctp"
status '--since beyond the end of one of two' 0 --fail-on proved --since 1s "$tmp/short.ctp" "$tmp/a.ctp"
is 'a section outside the range has no verdict' "$(grep -c '^No verdict' "$tmp/out") $(sed -n 's/^  the trace ends \(.*\) after its start, .*/\1/p' "$tmp/out")" '1 500 ms'
is 'the closing lines say so' "$(tail -n 1 "$tmp/out")" '1 of them ends before the time that was asked for, and is not judged.'
status '--since beyond the end of both' 1 --fail-on proved --since 5s "$tmp/short.ctp" "$tmp/a.ctp"
like 'the message gives the end of the longest section' "$(cat "$tmp/err")" 'the longest section ends 2\.00 s after its start$'
for wrong in '--since 1s --until 1s' '--since 5x' '--until -1' '--since 2s --until 1s' '--fail-on unknown' '--folded=dead' '--folded --folded-unit m' '--folded --folded-unit 1' '--folded-unit ms' '-j --folded-unit ms' '--sort dead' '--top 0' '--top x' '-j -m' '-m --folded'; do
	# shellcheck disable=SC2086
	status "$wrong" 2 $wrong "$tmp/a.ctp"
	is 'in one line' "$(wc -l <"$tmp/err") $(wc -c <"$tmp/out")" '1 0'
done

# Of three coroutines, the first is suspended for 9 ns, at site 1; the next is runnable for as long, and the last runs. All else takes 1 ns.
awk 'function row(type, id, more) { printf "{\"type\":\"%s\",\"ts\":%d,\"probe_id\":%d,\"coro\":%d%s}\n", type, t, id, id, more }
function move(id, active, site) { row("transition", id, ",\"tid\":5,\"is_active\":" active ",\"index\":" n[id]++ ",\"site\":" site) }
BEGIN { for (id = 1; id <= 3; id++) {
	t += 1000; row("birth", id, ",\"after\":" t ",\"before\":" t ",\"site\":0,\"pid\":42"); move(id, "true", 0)
	move(id, "false", id)
	t += id == 1 ? 9 : 1; row("wake", id, ",\"tid\":5,\"by\":0")
	t += id == 2 ? 9 : 1; move(id, "true", 0)
	t += id == 3 ? 9 : 1; move(id, "false", id)
} }' >"$tmp/rows"
{ sed -n '1,2p' "$tmp/a.jsonl"; cat "$tmp/rows"; } | "$BIN/ctp-fromjsonl" -q >"$tmp/three.ctp"
for way in suspended:1 runnable:2 running:3; do
	status "--sort ${way%:*}" 3 --sort "${way%:*}" --top 1 "$tmp/three.ctp"
	is 'the site with the most time is the first, and with --top 1 the only one' "$(sed -n '/^Where/,/^$/s/.*  \(site [0-9]\)$/\1/p' "$tmp/out")" "site ${way#*:}"
	ok 'the heading gives the order' grep -q "for how long (by time ${way%:*})$" "$tmp/out"
	status 'the same in Markdown' 3 -m --sort "${way%:*}" --top 1 "$tmp/three.ctp"
	is 'the site with the most time is the first in Markdown' \
		"$(sed -n '/^## Where/,/^## /s/^| `\(site [0-9]\)` .*/\1/p' "$tmp/out")" "site ${way#*:}"
done
is 'suspended is the default' "$("$report" -q "$tmp/three.ctp")" "$("$report" -q --sort suspended "$tmp/three.ctp")"

# --- several, none, damaged -----------------------------------------------------------------------------------------------------
"$report" "$tmp/clean.ctp" "$tmp/a.ctp" "$tmp/clean.ctp" >"$tmp/out"
is 'three files give three parts, each with its name' "$(sed -n 's/^Section \(.\) of 3, .*\/\(.*\): \.\/server -v .a b.$/\1 \2/p' "$tmp/out" | tr '\n' ' ')" \
	'1 clean.ctp 2 a.ctp 3 clean.ctp '
is 'the last line names the sections with findings' "$(tail -n 1 "$tmp/out")" 'In 3 sections: 1 finding, in section 2.'
cat "$tmp/clean.ctp" "$tmp/a.ctp" "$tmp/clean.ctp" | "$report" >"$tmp/cat"
for _ in 1 2 3 4 5 6 7 8 9; do cat "$tmp/a.ctp"; done | "$report" | tail -n 1 >"$tmp/last"
is 'of many sections the first eight are named' "$(cat "$tmp/last")" 'In 9 sections: 9 findings, in sections 1, 2, 3, 4, 5, 6, 7, 8 and others.'
sed 's/^\(Section . of 3\), [^:]*/\1/' "$tmp/out" >"$tmp/nameless"
ok 'the concatenation gives the same, except for the names' cmp "$tmp/cat" "$tmp/nameless"
"$report" "$tmp/clean.ctp" - <"$tmp/a.ctp" >"$tmp/out"
like 'stdin among files has a name too' "$(cat "$tmp/out")" '^Section 2 of 2, -: \./server '
"$report" "$tmp/clean.ctp" "$tmp/nonexistent" >"$tmp/out" 2>"$tmp/err"
like 'if one of two files is missing, the section names its file' "$(head -n 1 "$tmp/out")" '^.*/clean\.ctp: \./server '
"$report" -m "$tmp/clean.ctp" "$tmp/a.ctp" >"$tmp/out"
is 'Markdown names each file' "$(sed -n 's/^- trace `.*\/\(.*\)`$/\1/p' "$tmp/out" | tr '\n' ' ')" 'clean.ctp a.ctp '
if command -v jq >/dev/null; then
	is 'JSON names each file' "$("$report" -j "$tmp/clean.ctp" - <"$tmp/a.ctp" | jq -c '[.sections[].file | sub(".*/"; "")]')" '["clean.ctp","-"]'
	is 'stdin alone has no name in JSON' "$("$report" -j <"$tmp/a.ctp" | jq -c '[.sections[].file]')" '[null]'
fi
sed '/"type":"@\{0,1\}end"/d' "$tmp/a.jsonl" | "$BIN/ctp-fromjsonl" -q >"$tmp/cut.ctp"
status 'cut short' 3 "$tmp/cut.ctp"
like 'the truncation is reported' "$(cat "$tmp/out")" '^  the trace is truncated: '
: >"$tmp/empty"
status 'empty' 3 "$tmp/empty"
is 'an empty trace is reported as empty' "$(cat "$tmp/out")" 'There is nothing in the trace.'
status 'no stream' 1 "$tmp/a.jsonl"
is 'prints nothing' "$(cat "$tmp/out")" ''
if command -v zstd >/dev/null && "$BIN/ctp-stat" -V >/dev/null; then
	zstd -q "$tmp/a.ctp"
	is 'zstd is recognised' "$("$report" "$tmp/a.ctp.zst" 2>&1)" "$(cat "$tmp/text")"
fi
if [ -c /dev/full ]; then
	for form in -q -m -j --folded; do
		"$report" $form "$tmp/a.ctp" >/dev/full 2>"$tmp/err"
		is "a full disk, $form: status 1" $? 1
		like 'the full disk is reported' "$(cat "$tmp/err")" '^ctp-report: stdout: .*No space left on device$'
	done
fi

# --- hostile --------------------------------------------------------------------------------------------------------------------
trace '\u001b[2Jx\u202e\u009b|`</script>' | "$BIN/ctp-fromjsonl" -q >"$tmp/hostile.ctp"
for form in -q -v -m --folded; do
	"$report" -q $form "$tmp/hostile.ctp" >"$tmp/out" 2>"$tmp/err"
	is "hostile, $form: no escape reaches the terminal" "$(LC_ALL=C grep -c "$(printf '\033\\|\342\200\256\\|\302\233')" "$tmp/out")" 0
done
like 'escaped names are readable' "$("$report" "$tmp/hostile.ctp")" '^   who: \\x1b\[2Jx\\u202e\\u009b\|`</script> \(#4\)$'
# Colour is used on a terminal, unless NO_COLOR is set.
if script -qec true /dev/null </dev/null >/dev/null 2>&1; then # there is one, and a pseudo-terminal for it
	tty() { script -qec "$*" /dev/null </dev/null; }
	is 'a terminal gets colour' "$(TERM=xterm NO_COLOR='' tty "$report" -q "$tmp/proved.ctp" | grep -c "$(printf '\033')\[1;31mPROVED")" 1
	is 'NO_COLOR disables colour' "$(TERM=xterm NO_COLOR=1 tty "$report" -q "$tmp/a.ctp" | grep -c "$(printf '\033')")" 0
	is 'a dumb terminal gets no colour' "$(TERM=dumb tty "$report" -q "$tmp/a.ctp" | grep -c "$(printf '\033')")" 0
fi
# --- how much of an object is free: the text and the page have one number ----------------------------------------------------

cat >"$tmp/pool.jsonl" <<'ROWS'
{"type":"birth","ts":1,"coro":1,"pid":100}
{"type":"object","ts":2,"pid":100,"object":"0xa0","for":"permits","available":4,"marks":"made"}
{"type":"hold","ts":3,"coro":1,"pid":100,"object":"0xa0","count":1}
{"type":"object","ts":4,"pid":100,"object":"0xb0","for":"item","available":2,"marks":"none"}
ROWS
"$BIN/ctp-fromjsonl" -q "$tmp/pool.jsonl" >"$tmp/pool.ctp"
is 'the JSON has what the holders leave, and null where only some is known' \
	"$("$BIN/ctp-report" -j "$tmp/pool.ctp" 2>/dev/null | jq -c '[.sections[].objects[] | [.object[-2:], .available, .free]] | sort')" \
	'[["a0",4,3],["b0",2,null]]'
like 'the text has the same number' "$("$BIN/ctp-report" "$tmp/pool.ctp" 2>/dev/null)" ' 3 of 4 '

done_testing
