#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# coroTracer's own rows, without births, deaths, wakes and an end: what the report can say, and what it cannot. Generated rows; and
# real
# traces: three runs in one file, in slot order, with rows of garbage, one of them of a server that hangs; a healthy program, and
# a program that loses a wake.
. t/helper/tap.sh
command -v jq >/dev/null || skip_all 'no jq'

report() { "$BIN/ctp-fromjsonl" -q "$@" | "$BIN/ctp-report" -q -j; } # [FILE]
findings() { report "$@" | jq -c '[.sections[].findings[] | [.rule, .certainty, .members]]'; } # [FILE]

# rows ROUNDS OWN MS ELSEWHERE: ten coroutines wait at a place for 2 ms each time, in turn; number 10 for ever after OWN times, if
# that is less than ROUNDS. After these the trace continues for MS with another one that waits elsewhere. If ELSEWHERE, the first nine
# wait at another place than number 10.
rows() {
	awk -v rounds="$1" -v own="$2" -v ms="$3" -v elsewhere="${4-0}" '
	function row(who, active, addr, us) {
		printf "{\"probe_id\":%d,\"tid\":%d,\"addr\":\"0x%016x\",\"seq\":%d,\"is_active\":%s,\"ts\":%d000}\n",
			who, 1 + who % 3, active ? 0 : addr, ++n[who], active ? "true" : "false", us
	}
	BEGIN {
		for (i = 0; i < rounds; i++)
			for (who = 1; who <= 10; who++) {
				us = 1000000 + i * 3000 + who * 10
				if (who < 10 || i <= own)
					row(who, 0, elsewhere && who < 10 ? 8192 : 4096, us)
				if (who < 10 || i < own)
					row(who, 1, 0, us + 2000)
			}
		for (t = us + 3000; t < us + ms * 1000; t += 10000) {
			row(11, 0, 16384, t)
			row(11, 1, 0, t + 5000)
		}
	}'
}
rows 200 30 0 >"$tmp/rows"
is 'a coroutine that others overtake, and that resumed before, is found' "$(findings "$tmp/rows")" '[["suspended","likely",1]]'
is 'the finding names it' "$(report "$tmp/rows" | jq -r '.sections[].findings[] | .coroutines[].probe_id, .suspend_site')" '10
0x0000000000001000'
like 'the finding says why' "$(report "$tmp/rows" | jq -r '.sections[].findings[].evidence[]')" 'coroutines that began to wait there later have returned'
for times in 10 1000; do
	sed "s/\"ts\":\([0-9]*\)/\"ts\":\1${times#1}/" "$tmp/rows" >"$tmp/scaled"
	is "it is found in a program that is $times times as slow" "$(findings "$tmp/scaled")" '[["suspended","likely",1]]'
done
sed 's/\("ts":[0-9]*\)0}$/\1}/' "$tmp/rows" >"$tmp/scaled"
is 'it is not found in one ten times as fast: 50 ms are too little' "$(findings "$tmp/scaled")" '[]'
is 'it is not found if it has waited there only five times' "$(rows 200 5 0 | findings)" '[]'
is 'it is not found if no others wait at its place' "$(rows 200 30 0 1 | findings)" '[]'
is 'they are not found if all of them wait while others run: they are idle' "$(rows 40 40 600 | findings)" '[]'
is 'a program in which none waits for ever has no finding' "$(rows 200 200 0 | findings)" '[]'
sed '/"probe_id":10,.*"seq":41,/d' "$tmp/rows" >"$tmp/lossy"
is 'earlier losses do not matter' "$(findings "$tmp/lossy")" '[["suspended","likely",1]]'

truth=../shared/fixtures/truth
if [ -r "$truth/healthy.jsonl.zst" ] && command -v zstdcat >/dev/null; then
	zstdcat "$truth/healthy.jsonl.zst" >"$tmp/healthy"
	is 'a healthy program that ends while all wait has no finding' "$(findings "$tmp/healthy")" '[]'
	sed 's/}$/000}/' "$tmp/healthy" >"$tmp/scaled"
	is 'it has none if it is a thousand times as slow' "$(findings "$tmp/scaled")" '[]'
	zstdcat "$truth/lostwake.jsonl.zst" >"$tmp/lostwake"
	is 'a program that loses a wake has a finding' "$(findings "$tmp/lostwake")" '[["suspended","likely",1]]'
	is 'the finding is about this coroutine' \
		"$(report "$tmp/lostwake" | jq -r '.sections[].findings[].coroutines[].probe_id')" 217
	like 'the finding has this evidence' "$(report "$tmp/lostwake" | jq -r '.sections[].findings[].evidence[]')" '^1,172 other waits there ended: the longest took 8.38 ms'
else
	note "no $truth, or no zstdcat: two traces are left out"
fi

file=../shared/fixtures/corotracer/mini_redis.jsonl
[ -r "$file" ] || { note "no $file: that trace is left out"; done_testing; }
"$BIN/ctp-fromjsonl" -q "$file" >"$tmp/t.ctp"
"$BIN/ctp-report" -qj "$tmp/t.ctp" >"$tmp/r.json"
is 'three runs are three sections' "$(jq '.sections | length' "$tmp/r.json")" 3
is 'there is one finding, in the second, of 50 coroutines' \
	"$(jq -c '[.sections[] | [.findings[] | [.rule, .certainty, .members]]]' "$tmp/r.json")" '[[],[["suspended","likely",50]],[]]'
is 'all members are listed, each once' "$(jq '[.sections[1].findings[].coroutines[].probe_id] | unique | length' "$tmp/r.json")" 50
is 'they are on four threads' "$(jq '[.sections[1].findings[].coroutines[].thread] | unique | length' "$tmp/r.json")" 4
is 'address 0 of a resume is no place' "$(grep -c 0x0000000000000000 "$tmp/r.json")" 0
is 'a row without probe_id is no coroutine' "$(jq '[.. | .probe_id? | select(. == "0")] | length' "$tmp/r.json")" 0

# The last row of each coroutine in the file differs: the original tool believed that one.
"$BIN/ctp-report" -q --fail-on likely "$tmp/t.ctp" >"$tmp/out"
is '--fail-on likely' $? 4
like 'the text has the same finding' "$(cat "$tmp/out")" 'likely: 50 coroutines suspended '
# --- two runs in one file, less than a minute apart ---------------------------------------------------------------------------

# two_runs PAUSE_MS LATE: the first run leaves ten of twenty coroutines suspended, the second ends in order; LATE 1: one coroutine of the
# second does not begin with its first event; 2: a thread of the first run goes on at the end.
two_runs() {
	awk -v pause="$1" -v late="$2" '
	function row(who, tid, active) {
		printf "{\"probe_id\":%d,\"tid\":%d,\"addr\":\"0x%016x\",\"seq\":%d,\"is_active\":%s,\"ts\":%d000}\n",
			who, tid, active ? 0 : 16384, ++n[who], active ? "true" : "false", us
	}
	function run(first, tid, leave, step) {
		for (i = 0; i < 60; i++)
			for (k = 0; k < 20; k++) {
				if (k < leave && i > 40)
					continue
				us += step
				row(first + k, tid + k % 2, 1)
				us += step
				row(first + k, tid + k % 2, 0)
			}
	}
	BEGIN {
		us = 1000000
		run(1000, 11, 10, 400)
		us += pause * 1000
		run(5000, 21, 0, 2500)
		if (late == 1) { n[6000] = 6; row(6000, 21, 1) }
		if (late == 2) row(7000, 11, 1)
	}'
}
is 'two runs, a second apart: each has a part' "$(two_runs 1000 0 | report | jq '.sections | length')" 2
is 'and no coroutine is said to be suspended until the end of both' "$(two_runs 1000 0 | findings)" '[]'
like 'without a pause between them the findings are possible' "$(two_runs 10 0 | findings)" '^\[\["suspended","possible",(10|20)\]\]$'
like 'and say why' "$(two_runs 10 0 | report | jq -r '.sections[].findings[].evidence[]')" 'may have two runs of the program: from .* on all threads are others'
like 'so they are if a coroutine of the second does not begin with its first event' "$(two_runs 1000 1 | findings)" \
	'^\[\["suspended","possible",(10|20)\]\]$'
like 'they are likely if a thread goes on' "$(two_runs 1000 2 | findings)" '^\[\["suspended","likely",(10|20)\]\]$'

done_testing
