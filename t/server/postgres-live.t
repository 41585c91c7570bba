#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# ctp-postgres --live with a real server and programs that run: the tables during the run, at the end, and when the server, load or program ends early.
# Not under sanitizers: it waits for a server most of the time.
# Mostly waits.
. t/helper/tap.sh
. t/helper/postgres.sh
postgres=$BIN/ctp-postgres collect=$BIN/ctp-collect
for tool in "$postgres" "$collect" "$BIN/ctp-sqlite" "$O/t/helper/tracee" "$O/examples/lostwake"; do
	[ -x "$tool" ] || skip_all "$tool was not built"
done
python3 -c 'import sqlite3' 2>/dev/null || skip_all 'there is no python3 with sqlite3'
pg_need

sql() { psql -X -At -d "${db:-coro_tracer}" -c "$1"; }
anew() { dropdb --if-exists -f coro_tracer 2>/dev/null; }
until_is() { # QUERY ANSWER [NAME]: waits for it as long as the load goes on, but not for ever
	tries=0
	while [ "$(sql "$1" 2>/dev/null)" != "$2" ] && kill -0 $load 2>/dev/null && [ $((tries += 1)) -lt 600 ]; do sleep 0.1; done
	is "${3:-$1}" "$(sql "$1")" "$2"
}
now='SELECT coro, state, since_ns, tid, addr, name FROM'
same_now() { # NAME: equals the view that is computed from events
	is "$1" "$(sql "$now coroutines_now ORDER BY coro")" "$(sql "$now coroutine_states WHERE state <> 'dead' AND coro IS NOT NULL ORDER BY coro")"
}

# --- a complete run ---------------------------------------------------------------------------------------------------------------
"$collect" -q "$O/examples/lostwake" 2>/dev/null | tee "$tmp/lw.ctp" | "$postgres" -q --live
is 'a program that loses a wake-up is loaded live' $? 0
"$BIN/ctp-sqlite" -q -o "$tmp/a.sqlite" "$tmp/lw.ctp"
is 'one coroutine is left at the end' "$(sql "SELECT count(*), min(state), min(name) ~ '^handler [0-9]+\$' FROM coroutines_now")" '1|suspended|t'
same_now 'it is as the views have it'
is "a live load has BRIN indexes, and none of coroTracer's" "$(sql "SELECT substring(indexdef FROM 'USING (\w+ \(.*)') FROM pg_indexes WHERE tablename = 'coro_trace_events' ORDER BY 1")" \
	'brin (ts)
btree (id)'
"$postgres" -q -d loaded "$tmp/lw.ctp"
"$postgres" --append </dev/null 2>"$tmp/err"
is 'a load of nothing after it reports that' "$? $(cat "$tmp/err")" '3 ctp-postgres: stdin: the input is empty'
indexes='SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = $$public$$ AND indexdef NOT LIKE $$%brin%$$ AND tablename <> $$coroutines_now$$ ORDER BY 1, 2'
is 'it creates the indexes of a normal load' "$(sql "$indexes")" "$(db=loaded sql "$indexes")"
is 'there are as many indexes as in SQLite' "$(sql "SELECT count(*) FROM ($indexes) i WHERE indexname LIKE 'idx_%'")" "$(sqlite3 "$tmp/a.sqlite" "SELECT count(*) FROM sqlite_schema WHERE type = 'index' AND name LIKE 'idx_%'")"
is 'every table and view equals that of the file' "$(python3 t/helper/sql-same.py "$tmp/a.sqlite" psql -X --csv -P null='\N' -d coro_tracer)" ''
is 'coroTracer can insert into the table' "$(sql "INSERT INTO coro_trace_events (probe_id, tid, addr, seq, is_active, ts) VALUES (9, 8, '0x7', 7, false, 6) RETURNING section" | head -n 1)" 0

awk -v to="$tmp/panel" '/^\.Bd/ { on = 1; next } /^\.Ed/ { on = 0 } on && /^(SELECT|WITH)/ && !open { open = 1; n++ }
	on && open { gsub(/\\\(dq/, "\""); print >(to n); if (/;$/) open = 0 }' doc/ctp-postgres.1
is 'the panels of the manual show states' "$(psql -X -At -d coro_tracer -f "$tmp/panel1")" 'suspended|1'
like 'a panel shows the longest waits' "$(psql -X -At -d coro_tracer -f "$tmp/panel2")" '^[0-9]+\|handler [0-9]+\|sdk/c/examples/lostwake.c:[0-9]+\|[0-9]+\|[0-9.]+$'
psql -X -At -d coro_tracer -f "$tmp/panel3" >"$tmp/latency"
is 'a panel shows the time from wake to resume' "$(awk -F '|' '{ n += $2; if ($3 + 0 > $4 + 0 || $4 < 0) bad++ } END { print (n > 1000), bad + 0 }' "$tmp/latency")" '1 0'

anew
awk 'function step(index_, active, ts) { printf "{\"type\":\"transition\",\"probe_id\":1,\"tid\":7,\"addr\":\"0x0000000000000001\",\"seq\":1,\"is_active\":%s,\"ts\":%d,\"coro\":1,\"index\":%d,\"site\":0}\n", active ? "true" : "false", ts, index_ }
	function wake(ts) { printf "{\"type\":\"wake\",\"ts\":%d,\"probe_id\":1,\"coro\":1,\"tid\":1,\"by\":0,\"how\":\"call\"}\n", ts }
	BEGIN {
		print "{\"type\":\"@section\",\"attrs\":{\"host\":\"a\",\"clock\":\"monotonic\",\"wall_offset_ns\":\"0\"}}"
		step(0, 1, 10)
		step(1, 0, 100); wake(200); step(2, 1, 300) # 100
		wake(310); step(3, 0, 400); wake(450); wake(490); wake(500); step(4, 1, 600) # 150, by the first of three
		step(5, 0, 700); wake(700); wake(800); step(6, 1, 800) # 100: at once, and at the last moment
		wake(850); step(7, 0, 900); step(8, 1, 1000) # no wake since
		step(9, 0, 1100); wake(1200); step(12, 1, 1300) # events are missing
	}' | "$BIN/ctp-fromjsonl" -q | "$postgres" -q --live --bigint
is 'the time counts from the first wake after the suspension' "$(psql -X -At -d coro_tracer -c "SET timezone = 'UTC'" -f "$tmp/panel3" | tail -n 1)" '1970-01-01 00:00:00+00|3|100|150'
is 'a range of times uses the index of times' "$({ echo 'SET enable_seqscan = off; EXPLAIN'; cat "$tmp/panel3"; } | psql -X -At -d coro_tracer | grep -c 'Bitmap Index Scan on .*_ts_idx')" 2

for seed in 1 2; do
	python3 t/helper/sqlite-views.py make $seed | awk -v to="$tmp/part$seed." '/"@section"/ { n++ } { print >(to n) }'
	for part in 1 4; do
		anew
		"$BIN/ctp-fromjsonl" -q "$tmp/part$seed.$part" | "$postgres" -q --live
		same_now "with losses and what comes late: seed $seed, section $part"
	done
done

# --- a class of the table's name ----------------------------------------------------------------------------------------------
anew
printf '%s\n' '{"type":"@section","attrs":{"host":"a"}}' \
	'{"type":"@schema","name":"Coroutines_now","kind":"other","fields":[{"name":"ts","type":"u64","role":"time"},{"name":"coro","type":"u64"},{"name":"state","type":"string"}]}' \
	'{"type":"Coroutines_now","ts":1,"coro":2,"state":"mine"}' | "$BIN/ctp-fromjsonl" -q >"$tmp/class.ctp"
"$postgres" -q "$tmp/class.ctp"
"$postgres" -q --live --append <"$tmp/lw.ctp"
is 'a class that is called coroutines_now has another name' "$? $(sql 'SELECT state FROM "Coroutines_now_2"; SELECT count(*) FROM coroutines_now')" '0 mine
1'
sql 'ALTER TABLE coroutines_now ADD note TEXT' >/dev/null
"$postgres" -q --live --append <"$tmp/lw.ctp" 2>/dev/null
is 'a trace that is already loaded changes nothing' "$? $(sql 'SELECT count(*) FROM coroutines_now')" '1 1'
"$BIN/ctp-tojsonl" -aq "$tmp/lw.ctp" | "$BIN/ctp-fromjsonl" -q | "$postgres" -q --live --append # with another id
is 'the table may have further columns after its own' "$? $(sql 'SELECT count(*), count(note) FROM coroutines_now')" '0 1|0'
for kind in TABLE VIEW; do
	sql 'DROP TABLE IF EXISTS coroutines_now' >/dev/null
	sql "CREATE $kind coroutines_now AS SELECT 1 AS id, 1 AS section, 'mine' AS state" >/dev/null
	"$postgres" -q --live --append <"$tmp/lw.ctp" 2>"$tmp/err"
	is "another object of that name is not touched: $kind" "$? $(cat "$tmp/err") $(sql 'SELECT state FROM coroutines_now; SELECT count(*) FROM sections')" \
		"1 ctp-postgres: coro_tracer at $PGHOST: has a table or view coroutines_now that is not ours; --table SCHEMA.T puts all into a schema of its own mine
3"
done

# --- after a death -----------------------------------------------------------------------------------------------------------
awk 'function put(type, coro, ts, more) { printf "{\"type\":\"%s\",\"ts\":%d,\"probe_id\":%d,\"coro\":%d%s}\n", type, ts, coro + 100, coro, more }
	function birth(coro) { put("birth", coro, ++ts, ",\"station\":1,\"after\":1,\"before\":1,\"parent\":0,\"site\":0,\"pid\":1,\"by_hand\":false") }
	function name(coro) { put("name", coro, ++ts, ",\"name\":\"n" coro "\"") }
	function lost(coro) { put("lost", coro, ++ts, ",\"index\":3,\"count\":2,\"unverified\":0,\"after\":" ts - 1) }
	function step(coro, nth) { put("transition", coro, ++ts, ",\"tid\":7,\"addr\":\"0x0000000000000001\",\"seq\":1,\"is_active\":true,\"index\":" nth ",\"site\":0") }
	function fill(n,    i) { for (i = 0; i < n; i++) birth(++others) }
	BEGIN {
		print "{\"type\":\"@section\",\"attrs\":{\"host\":\"a\",\"clock\":\"monotonic\"}}"
		others = 1000
		for (i = 1; i <= 9; i++) if (i != 7) { birth(i); step(i, 0); put("death", i, ++ts, ",\"after\":1,\"before\":1") }
		name(7); name(10)
		fill(120000)
		name(1); step(2, 1); lost(3); birth(4); name(5); lost(5); step(7, 0)
		fill(20000) # more than are kept
		put("death", 1001, ++ts, ",\"after\":1,\"before\":1"); put("death", 1002, ++ts, ",\"after\":1,\"before\":1"); name(11)
		fill(20000)
		lost(1001); name(1002); birth(11)
		fill(80000)
	}' | "$BIN/ctp-fromjsonl" -q >"$tmp/after.ctp"
anew
mkfifo "$tmp/after"
"$postgres" -q --live <"$tmp/after" &
load=$!
exec 4>"$tmp/after"
head -c $(($(wc -c <"$tmp/after.ctp") / 3)) "$tmp/after.ctp" >&4
until_is 'SELECT count(*) FROM deaths' 8 'eight have died'
tail -c +$(($(wc -c <"$tmp/after.ctp") / 3 + 1)) "$tmp/after.ctp" >&4
exec 4>&-
wait $load
is 'records after a death do not restore an ended coroutine, and a name finds its coroutine' \
	"$(sql 'SELECT coro, probe_id, state, name FROM coroutines_now WHERE coro < 1010 ORDER BY coro LIMIT 5')" \
	'7|107|running|n7
11|111|born|n11
1003|1103|born|
1004|1104|born|
1005|1105|born|'
is 'all other coroutines are there' "$(sql 'SELECT count(*) FROM coroutines_now WHERE coro > 1000')" 239998

# --- while it runs ------------------------------------------------------------------------------------------------------------
mkfifo "$tmp/hold" "$tmp/pipe"
run() { # TRACEE-OPTION... [-- OPTION...]: a program that waits at its end for `release`; $load is the pid of the load
	rm -f "$tmp/status"
	tracee=
	while [ $# -gt 0 ] && [ "$1" != -- ]; do tracee="$tracee $1"; shift; done
	[ $# = 0 ] || shift
	# shellcheck disable=SC2086
	"$collect" -q "$O/t/helper/tracee" $tracee -a "$tmp/hold" >"$tmp/pipe" 2>/dev/null &
	collector=$!
	"$postgres" -q --live "$@" <"$tmp/pipe" 2>"$tmp/err" &
	load=$!
	exec 4>"$tmp/hold"
}
wanted() { sql 'SELECT CASE WHEN count(*) > 0 THEN 3 ELSE 0 END FROM losses WHERE section = (SELECT max(id) FROM sections)'; } # its status
release() {
	exec 4>&-
	wait $load
}
anew
run -c 5 -e 100 -r 2000 -z
until_is 'SELECT count(*) + (SELECT coalesce(sum(count), 0) FROM losses) FROM coro_trace_events' 500 'while it runs all events are there, and what is lost is counted'
is 'during the run the section is not complete' \
	"$(sql 'SELECT complete, end_ns >= (SELECT max(ts) FROM coro_trace_events) FROM sections')" 'f|t'
until_is 'SELECT count(*) FROM coroutines_now' 5 'five coroutines are there'
same_now 'as the views have them'
until_is "SELECT state FROM pg_stat_activity WHERE application_name = 'ctp-postgres'" idle 'nothing is kept open'

"$postgres" -q --live <"$tmp/lw.ctp" 2>"$tmp/err2"
like 'a second live load needs --append' "$? $(cat "$tmp/err2")" '^1 ctp-postgres: coro_tracer at .*: has a table coro_trace_events; --append adds to it$'
"$postgres" -q --live --append <"$tmp/lw.ctp" 2>"$tmp/err2"
like 'a second live load is refused even with --append' "$? $(cat "$tmp/err2")" '^1 ctp-postgres: coro_tracer at .*: another ctp-postgres writes to coro_trace_events now; --table SCHEMA.T puts all into a schema of its own$'
"$postgres" -q --append "$tmp/lw.ctp" 2>"$tmp/err2"
like 'a normal load is refused during a live one' "$? $(cat "$tmp/err2")" '^1 ctp-postgres: coro_tracer at .*: another ctp-postgres --live writes to coro_trace_events now; --table SCHEMA.T puts all into a schema of its own$'
"$postgres" -q --live --table other.events <"$tmp/lw.ctp"
is 'a load into another schema is not' "$? $(sql 'SELECT count(*) FROM other.coroutines_now')" '0 1'
release
is 'at its end the section is complete' "$? $(sql 'SELECT complete FROM sections')" "$(wanted) t"
is 'every event is there or counted as lost' \
	"$(sql 'SELECT count(*) + (SELECT coalesce(sum(count), 0) FROM losses) FROM coro_trace_events')" 500
"$postgres" -q --live "$tmp/lw.ctp" 2>"$tmp/err"
is 'a file is refused with --live' "$? $(cat "$tmp/err")" '2 ctp-postgres: --live reads standard input: leave out the TRACE, or --live'

run -c 3 -e 40 -- --append
until_is 'SELECT count(*) + (SELECT coalesce(sum(count), 0) FROM losses WHERE section = 2) FROM coro_trace_events WHERE section = 2' 120 '--append: another section beside it'
until_is 'SELECT count(*) FROM coroutines_now' 0 'whose coroutines are dead, and those of the first are gone'
release
is 'the load ends' "$? $(sql 'SELECT count(*) FROM sections WHERE complete')" "$(wanted) 2"

anew
"$collect" -q "$O/t/helper/tracee" -c 2 -e 300000 2>/dev/null | "$postgres" -q --live --bigint
is 'at full speed the losses of rings are counted exactly' "$(sql 'SELECT count(*) + (SELECT coalesce(sum(count), 0) FROM losses) FROM coro_trace_events')" 600000

anew
exec 4>&-
awk 'BEGIN { for (;;) printf "{\"probe_id\":1,\"tid\":2,\"addr\":\"0x0000000000000003\",\"seq\":%d,\"is_active\":%s,\"ts\":%d}\n", ++n, n % 2 ? "true" : "false", n }' 2>/dev/null | "$BIN/ctp-fromjsonl" -q 2>/dev/null >"$tmp/pipe" &
"$postgres" -q --live <"$tmp/pipe" 2>"$tmp/err" &
load=$!
until_is 'SELECT count(*) > 0 FROM coro_trace_events' t 'of a stream that never waits there are rows as well'
rows=$(sql 'SELECT count(*) FROM coro_trace_events')
until_is "SELECT count(*) > $rows FROM coro_trace_events" t 'and then more'
kill $load
kill $load
wait $load

# --- ends ---------------------------------------------------------------------------------------------------------------------
anew
run -c 5 -e 100 -r 2000 -z
until_is 'SELECT count(*) FROM coroutines_now' 5 'a program that does not end'
kill -TERM $load
kill -INT $load
wait $load
is 'two signals end the load, and the section has no end' "$? $(sql 'SELECT count(*), bool_or(complete) FROM sections')" '3 1|f'
release
wait $collector
anew
run -c 5 -e 100 -r 2000 -z
until_is 'SELECT count(*) FROM coroutines_now' 5 'another'
kill -INT $load
release
is 'after one signal the rest of the stream is read' "$? $(sql 'SELECT complete FROM sections')" "$(wanted) t"

lost() { # NAME STATUS: the load has ended, and its message has the count; of rows that were sent last it may not know
	kept=$(sed -n 's/.*; \([0-9]*\) rows are committed.*/\1/p' "$tmp/err")
	unsure=$(sed -n 's/.* and of \([0-9]*\) more it is not known$/\1/p' "$tmp/err")
	tables=$(sql "SELECT string_agg(format('SELECT count(*) AS n FROM %I', t), ' UNION ALL ') FROM (SELECT DISTINCT table_name AS t FROM classes) q")
	is "$1: status 1, one message" "$2 $(wc -l <"$tmp/err")" '1 1'
	loaded=$(sql "SELECT sum(n) FROM ($tables) q")
	[ "$loaded" != $((kept + ${unsure:-0})) ] || loaded=$kept
	is "$1: the message counts the loaded rows" "$kept" "$loaded"
}
anew
run -c 5 -e 100 -r 2000 -z
until_is 'SELECT count(*) FROM coroutines_now' 5 'and another'
db=postgres sql "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'ctp-postgres'" >/dev/null
release
lost 'a connection that is lost' $?
anew
run -c 5 -e 100 -r 2000 -z
until_is 'SELECT count(*) FROM coroutines_now' 5 'the last'
pg_stop immediate
release
status=$?
pg_start
lost 'a server that is killed' $status
anew
head -c $(($(wc -c <"$tmp/lw.ctp") / 2)) "$tmp/lw.ctp" | "$postgres" -q --live
is 'a truncated stream gives status 3' "$? $(sql 'SELECT complete, count(*) FROM sections JOIN coro_trace_events e ON e.section = sections.id GROUP BY 1' | sed 's/|.*//')" '3 f'
"$postgres" -q --append "$tmp/lw.ctp" 2>"$tmp/err"
is 'the file of the same trace is skipped' "$? $(cat "$tmp/err")" "3 ctp-postgres: coro_tracer at $PGHOST: $tmp/lw.ctp: skipped: section 1 is of the same trace, and not complete; --replace replaces it"
"$postgres" -q --live --append <"$tmp/lw.ctp" 2>"$tmp/err"
is 'a live load of it is refused, too' "$? $(cat "$tmp/err") $(sql 'SELECT count(*) FROM sections')" "1 ctp-postgres: coro_tracer at $PGHOST: stdin: section 1 is of the same trace, and not complete; the manual says how to remove it 1"
pg_manual 1
"$postgres" -q --append "$tmp/lw.ctp"
is 'it can be loaded once the section is removed' "$? $(python3 t/helper/sql-same.py "$tmp/a.sqlite" psql -X --csv -P null='\N' -d coro_tracer)" '0 '
anew
{
	for n in 1 2 3 9223372036854775808; do
		echo "{\"probe_id\":$n,\"tid\":1,\"addr\":\"0x0000000000000001\",\"seq\":1,\"is_active\":true,\"ts\":1}" | "$BIN/ctp-fromjsonl" -q
	done
} | "$postgres" -q --live --bigint 2>"$tmp/err"
lost 'a number beyond a BIGINT' $?
like 'the message names the number' "$(cat "$tmp/err")" '^ctp-postgres: coro_tracer at .*: probe_id of transition is 9223372036854775808, beyond a BIGINT; load it without --bigint, into a new database; [0-9]+ rows are committed$'
if echo | tee -p "$tmp/teed" >/dev/null 2>&1; then
	anew
	default= # default signals, as in a terminal
	! env --default-signal=PIPE true 2>/dev/null || default='env --default-signal=PIPE'
	mkfifo "$tmp/teepipe"
	"$collect" -q "$O/t/helper/tracee" -c 5 -e 10000000 -r 2000 -z >"$tmp/pipe" 2>/dev/null &
	collector=$!
	# shellcheck disable=SC2086
	$default tee -p "$tmp/teed" <"$tmp/pipe" >"$tmp/teepipe" 2>/dev/null &
	"$postgres" -q --live --bigint <"$tmp/teepipe" 2>"$tmp/err" &
	load=$!
	until_is 'SELECT count(*) FROM coroutines_now' 5 "a pipeline with the manual's tee"
	pg_stop immediate
	wait $load
	status=$?
	size=$(wc -c <"$tmp/teed") tries=0
	until [ "$(wc -c <"$tmp/teed")" -gt "$size" ] || [ $((tries += 1)) -gt 100 ]; do sleep 0.1; done
	kill -TERM $collector
	wait
	pg_start
	lost 'its server is killed' $status
	"$BIN/ctp-sqlite" -q -o "$tmp/teed.sqlite" "$tmp/teed"
	is 'the file is written to its end' "$(sqlite3 "$tmp/teed.sqlite" 'SELECT complete FROM sections')" 1
fi
like 'the manual has this command' "$(cat doc/ctp-postgres.1)" 'tee -p t\.ctp \| ctp-postgres --live --bigint'
db=postgres sql 'CREATE ROLE weak LOGIN' >/dev/null
anew
createdb coro_tracer
"$postgres" -q --live -d 'user=weak dbname=coro_tracer' <"$tmp/lw.ctp" 2>"$tmp/err"
like 'a missing right to create tables is reported' "$? $(wc -l <"$tmp/err") $(cat "$tmp/err")" '^1 1 ctp-postgres: coro_tracer at .*: permission denied'
done_testing
