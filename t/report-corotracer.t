#!/bin/sh
# A real trace of coroTracer's: three runs in one file, in slot order, with rows of garbage. In one of the runs a server hangs.
. t/tap.sh
file=../shared/fixtures/corotracer/mini_redis.jsonl
[ -e "$file" ] || skip_all "no $file: that trace is not part of the source"
command -v jq >/dev/null || skip_all 'no jq'

"$BIN/ctp-fromjsonl" -q "$file" >"$tmp/t.ctp"
"$BIN/ctp-report" -j "$tmp/t.ctp" >"$tmp/r.json"
is 'three runs are three sections' "$(jq '.sections | length' "$tmp/r.json")" 3
is 'there is one finding, in the second, of 50 coroutines' \
	"$(jq -c '[.sections[] | [.findings[] | [.rule, .certainty, .members]]]' "$tmp/r.json")" '[[],[["suspended","likely",50]],[]]'
is 'all of them are listed, and each once' "$(jq '[.sections[1].findings[].coroutines[].probe_id] | unique | length' "$tmp/r.json")" 50
is 'on four threads' "$(jq '[.sections[1].findings[].coroutines[].thread] | unique | length' "$tmp/r.json")" 4
is 'address 0 of a resume is no place' "$(grep -c 0x0000000000000000 "$tmp/r.json")" 0
is 'nor is a row without probe_id a coroutine' "$(jq '[.. | .probe_id? | select(. == "0")] | length' "$tmp/r.json")" 0

# The last row of each in the file says something else: that is what the original tool believed.
"$BIN/ctp-report" --fail-on likely "$tmp/t.ctp" >"$tmp/out"
is '--fail-on likely' $? 4
like 'people are told the same' "$(cat "$tmp/out")" 'likely: 50 coroutines suspended for good'
done_testing
