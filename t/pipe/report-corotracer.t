#!/bin/sh
# coroTracer's own rows, without births, deaths, wakes and an end: what can be said of them, and what cannot. Made ones; and real
# traces: three runs in one file, in slot order, with rows of garbage, in one of which a server hangs; a program that is healthy, and
# one that loses a wake.
. t/helper/tap.sh
command -v jq >/dev/null || skip_all 'no jq'

report() { "$BIN/ctp-fromjsonl" -q "$@" | "$BIN/ctp-report" -q -j; } # [FILE]
findings() { report "$@" | jq -c '[.sections[].findings[] | [.rule, .certainty, .members]]'; } # [FILE]

# rows ROUNDS OWN MS ELSEWHERE: ten coroutines wait at a place for 2 ms each time, in turn; number 10 for good after OWN times, if
# that is less than ROUNDS. After these the trace goes on for MS with another that waits elsewhere; in all that time too if ELSEWHERE.
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
is 'one that the others overtake, and that came back before' "$(findings "$tmp/rows")" '[["suspended","likely",1]]'
is 'it is named' "$(report "$tmp/rows" | jq -r '.sections[].findings[] | .coroutines[].probe_id, .suspend_site')" '10
0x0000000000001000'
like 'and why' "$(report "$tmp/rows" | jq -r '.sections[].findings[].evidence[]')" 'coroutines that began to wait there later have returned'
for times in 10 1000; do
	sed "s/\"ts\":\([0-9]*\)/\"ts\":\1${times#1}/" "$tmp/rows" >"$tmp/scaled"
	is "the same, $times times as slow" "$(findings "$tmp/scaled")" '[["suspended","likely",1]]'
done
sed 's/\("ts":[0-9]*\)0}$/\1}/' "$tmp/rows" >"$tmp/scaled"
is 'ten times as fast: 50 ms are too little to say' "$(findings "$tmp/scaled")" '[]'
is 'one that has waited there five times: it may be another sort' "$(rows 200 5 0 | findings)" '[]'
is 'one whose place the others do not share' "$(rows 200 30 0 1 | findings)" '[]'
is 'all of them wait, and something else goes on: they are idle' "$(rows 40 40 600 | findings)" '[]'
is 'nobody waits for good' "$(rows 200 200 0 | findings)" '[]'
sed '/"probe_id":10,.*"seq":41,/d' "$tmp/rows" >"$tmp/lossy"
is 'what was lost earlier does not matter' "$(findings "$tmp/lossy")" '[["suspended","likely",1]]'

truth=../shared/fixtures/truth
if [ -r "$truth/healthy.jsonl.zst" ] && command -v zstdcat >/dev/null; then
	zstdcat "$truth/healthy.jsonl.zst" >"$tmp/healthy"
	is 'a healthy program that ends while all wait' "$(findings "$tmp/healthy")" '[]'
	sed 's/}$/000}/' "$tmp/healthy" >"$tmp/scaled"
	is 'also if it is a thousand times as slow' "$(findings "$tmp/scaled")" '[]'
	zstdcat "$truth/lostwake.jsonl.zst" >"$tmp/lostwake"
	is 'a program that loses a wake' "$(findings "$tmp/lostwake")" '[["suspended","likely",1]]'
	is 'of this coroutine' "$(report "$tmp/lostwake" | jq -r '.sections[].findings[].coroutines[].probe_id')" 217
	like 'with this evidence' "$(report "$tmp/lostwake" | jq -r '.sections[].findings[].evidence[]')" '^1,172 other waits there ended: the longest took 8.38 ms'
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
is 'all of them are listed, and each once' "$(jq '[.sections[1].findings[].coroutines[].probe_id] | unique | length' "$tmp/r.json")" 50
is 'on four threads' "$(jq '[.sections[1].findings[].coroutines[].thread] | unique | length' "$tmp/r.json")" 4
is 'address 0 of a resume is no place' "$(grep -c 0x0000000000000000 "$tmp/r.json")" 0
is 'nor is a row without probe_id a coroutine' "$(jq '[.. | .probe_id? | select(. == "0")] | length' "$tmp/r.json")" 0

# The last row of each in the file says something else: that is what the original tool believed.
"$BIN/ctp-report" -q --fail-on likely "$tmp/t.ctp" >"$tmp/out"
is '--fail-on likely' $? 4
like 'people are told the same' "$(cat "$tmp/out")" 'likely: 50 coroutines suspended '
done_testing
