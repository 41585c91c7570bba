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
