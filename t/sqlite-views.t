#!/bin/sh
# The views of a database: each against the same by hand, the story of the manual, and that they go by the indexes.
. t/tap.sh
sqlite=$BIN/ctp-sqlite from=$BIN/ctp-fromjsonl
[ -x "$sqlite" ] || skip_all 'ctp-sqlite was not built'
command -v sqlite3 >/dev/null || skip_all 'there is no sqlite3'
python3 -c 'import sqlite3' 2>/dev/null || skip_all 'there is no python3 with sqlite3'

for seed in 1 2 3 4; do
	python3 t/sqlite-views.py make $seed | "$from" -q >"$tmp/t$seed.ctp"
	"$sqlite" -q -o "$tmp/t.sqlite" "$tmp/t$seed.ctp"
	ok "every view, seed $seed" python3 t/sqlite-views.py check "$tmp/t.sqlite"
done
"$sqlite" -q --append -o "$tmp/t.sqlite" "$tmp/t1.ctp"
"$sqlite" -q --append -o "$tmp/t.sqlite" "$tmp/t2.ctp"
ok 'and after appending' python3 t/sqlite-views.py check "$tmp/t.sqlite"

# Without indexes nothing but the section says that a packet is missing, and the longest waits are those across it.
awk 'BEGIN { for (i = 0; i < 200000; i++)
	printf "{\"probe_id\":%d,\"tid\":1,\"addr\":\"0x%016x\",\"seq\":%d,\"is_active\":%s,\"ts\":%d}\n",
		1 + i % 5, i % 3, i, int(i / 5) % 2 ? "true" : "false", 1000 + i }' | "$from" -q >"$tmp/plain.ctp"
{ head -c 300000 "$tmp/plain.ctp"; printf 'XXXX'; tail -c +300005 "$tmp/plain.ctp"; } >"$tmp/hurt.ctp"
"$sqlite" -q -o "$tmp/hurt.sqlite" "$tmp/hurt.ctp"
is 'what spans a damaged packet is uncertain' \
	"$(sqlite3 "$tmp/hurt.sqlite" 'SELECT count(*), max(certain) FROM intervals WHERE duration_ns > 5 AND NOT open')" '5|0'

{
	echo '{"type":"@section","attrs":{"wall_offset_ns":"-3000000001"}}'
	echo '{"type":"@schema","name":"birth","kind":"birth","fields":[{"name":"ts","type":"u64","role":"time"},{"name":"probe_id","type":"u64","role":"probe"},{"name":"coro","type":"u64","role":"coroutine"}]}'
	echo '{"type":"birth","ts":1,"probe_id":5,"coro":1}'
	for ts in 1000000000 3000000001; do
		printf '{"type":"transition","probe_id":7,"tid":1,"addr":"0x0000000000000001","seq":1,"is_active":true,"ts":%s}\n' $ts
	done
} >"$tmp/odd.jsonl"
end() { echo '{"type":"@end","complete":true}'; }
{ cat "$tmp/odd.jsonl"; end; } | "$from" -q | "$sqlite" -q -o "$tmp/odd.sqlite"
is 'times of day before 1970' "$(sqlite3 "$tmp/odd.sqlite" 'SELECT wall FROM wall_times')" '1969-12-31T23:59:57.999999999Z
1970-01-01T00:00:00.000000000Z'
born="SELECT state, certain FROM coroutine_states WHERE probe_id = '5'"
is 'who has no transitions was born' "$(sqlite3 "$tmp/odd.sqlite" "$born")" 'born|1'
{
	cat "$tmp/odd.jsonl"
	echo '{"type":"@schema","name":"step","kind":"transition","fields":[{"name":"coro","type":"u64","role":"coroutine"},{"name":"why","type":"string"}]}'
	echo '{"type":"step","coro":1,"why":"x"}'
	end
} | "$from" -q | "$sqlite" -q -o "$tmp/odd.sqlite"
is 'but not surely where there are some in another table' "$(sqlite3 "$tmp/odd.sqlite" "$born")" 'born|0'

"$BIN/ctp-collect" -q "$O/examples/lostwake" 2>"$tmp/err" >"$tmp/lost.ctp"
"$sqlite" -o "$tmp/lost.sqlite" "$tmp/lost.ctp"
if [ "$(sqlite3 "$tmp/lost.sqlite" 'SELECT count(*) FROM losses')" = 0 ]; then
	is 'the coroutine that nobody woke is the one that is suspended' \
		"$(sqlite3 "$tmp/lost.sqlite" "SELECT probe_id, certain FROM coroutine_states WHERE state <> 'dead'")" \
		"$(sed -n 's/.*lost handler .*probe_id \([0-9]*\).*/\1/p' "$tmp/err")|1"
	is 'and waits longest' "$(sqlite3 "$tmp/lost.sqlite" 'SELECT probe_id FROM longest_waits LIMIT 1')" \
		"$(sqlite3 "$tmp/lost.sqlite" "SELECT probe_id FROM coroutine_states WHERE state = 'suspended'")"
fi

# What has a condition on a coroutine reads that one's events, and its losses and death by an index.
plan=$(sqlite3 "$tmp/lost.sqlite" "EXPLAIN QUERY PLAN SELECT * FROM intervals WHERE probe_id = '100'")
like 'one coroutine is searched for' "$plan" 'SEARCH coro_trace_events USING INDEX idx_coro_trace_events_probe_seq'
like 'its death too' "$plan" 'SEARCH death USING .*INDEX idx_death_coro'
like 'and its losses' "$plan" 'SEARCH lost USING .*INDEX idx_lost_coro'
is 'nothing is scanned' "$(echo "$plan" | grep 'SCAN \(coro\|death\|lost\|birth\)')" ''
done_testing
