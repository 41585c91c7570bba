#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# A load is complete or absent: with servers that are killed, stopped or full, a ctp-mysql that is killed, and coroTracer's own
# table.
# Not under sanitizers: it waits for a server most of the time.
# Mostly waits.
. t/helper/tap.sh
. t/helper/mysql.sh
my_need
my_start
mkfifo "$tmp/fifo"
for seed in 1 2; do
	python3 t/helper/sqlite-views.py make $seed $steps | "$from" -q >"$tmp/s$seed.ctp"
	"$BIN/ctp-sqlite" -q -o "$tmp/s$seed.sqlite" "$tmp/s$seed.ctp"
done
python3 t/helper/sqlite-views.py make 1 $steps | "$from" -q >"$tmp/s3.ctp" # as s1, with other ids
whole=$(sqlite3 "$tmp/s1.sqlite" 'SELECT count(*) FROM coro_trace_events')
is_whole() { [ "$(sql -D "$1" -e 'SELECT count(*) FROM coro_trace_events')" = "$whole" ]; }
# A shell ignores SIGINT in its background commands.
interruptible() { exec python3 -c 'import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])' "$@"; }
quiet=-q
begin() { # DATABASE [OPTION]: sends half of the rows
	# shellcheck disable=SC2086 # one option or none
	interruptible "$mysql" $quiet -S "$dir/s.sock" -u root -D "$@" <"$tmp/fifo" 2>"$tmp/err" &
	child=$!
	exec 9>"$tmp/fifo"
	trace=$tmp/s1.ctp
	[ "$2" != --append ] || trace=$tmp/s3.ctp # the other may be loaded already
	sent=$(($(wc -c <"$trace") / 2))
	head -c $sent "$trace" >&9 2>/dev/null
	until [ "$(left "$1")" -gt 0 ] || ! kill -0 $child 2>/dev/null; do sleep 0.1; done
}
go_on() {
	tail -c +$((sent + 1)) "$trace" >&9 2>/dev/null
	exec 9>&-
}
finish() {
	go_on
	wait $child
}

# --- a server that is killed while rows come -----------------------------------------------------------------------------------------
killed() { # DATABASE [OPTION]
	begin "$@"
	my_kill
	finish
	is "$1: a killed server gives status 1" "$? $(wc -l <"$tmp/err")" '1 1'
	like "$1: one message" "$(cat "$tmp/err")" "^ctp-mysql: $1: .*[Ss]erver"
	my_start
}
sql -e 'CREATE DATABASE killed'
killed killed
load -q -D killed "$tmp/s1.ctp"
is 'the next load removes temporary tables' "$(left killed)" 0
same 'the next load is complete' killed "$tmp/s1.sqlite"
killed killed --append
load -q -D killed --append "$tmp/s2.ctp"
cp "$tmp/s1.sqlite" "$tmp/k.sqlite"
"$BIN/ctp-sqlite" -q --append -o "$tmp/k.sqlite" "$tmp/s2.ctp"
same 'the old rows stay, and the next load appends' killed "$tmp/k.sqlite"
is 'no temporary table is left' "$(left killed)" 0

# --- the finish: another transaction locks a table, so that RENAME waits -------------------------------------------------------------
waiting() { sql -e "SELECT count(*) FROM information_schema.processlist WHERE info LIKE '$1%' AND state LIKE 'Waiting for%'"; }
hold() { # DATABASE TABLE
	(exec 9>&- && sql -D "$1" -e "START TRANSACTION; SELECT count(*) FROM $2; DO sleep(10000)" >/dev/null 2>&1) &
	until [ "$(sql -e "SELECT count(*) FROM information_schema.processlist WHERE info LIKE 'DO sleep%'")" = 1 ]; do sleep 0.1; done
}
release() { sql -e "KILL $(sql -e "SELECT id FROM information_schema.processlist WHERE info LIKE 'DO sleep%'")"; }
renaming() { # DATABASE
	sql -e "CREATE DATABASE $1"
	begin "$1"
	hold "$1" _ctp_load_sections
	go_on
	until [ "$(waiting RENAME)" = 1 ] || ! kill -0 $child 2>/dev/null; do sleep 0.1; done
}
base() { sql -e "SELECT count(*) FROM information_schema.tables WHERE table_schema = '$1' AND table_type = 'BASE TABLE' AND table_name NOT LIKE '\\_ctp\\_%'"; }
renaming finish
is 'until the end there is no table' "$(base finish)" 0
my_kill
wait $child
is 'a server that is killed in the finish gives status 1' $? 1
like 'the message says that the result is unknown' "$(cat "$tmp/err")" '^ctp-mysql: finish: .*; whether the [1-9][0-9]* rows are kept is not known: --append adds them, or says that they are$'
my_start
is 'the tables are not there' "$(base finish)" 0
load -q -D finish "$tmp/s1.ctp"
same 'the load after that is complete' finish "$tmp/s1.sqlite"
is 'no temporary table of the other is left' "$(left finish)" 0
renaming alone
kill -9 $child
wait $child 2>/dev/null
release
load -q -D alone --append "$tmp/s2.ctp"
is 'a ctp-mysql that is killed there leaves all or nothing' "$(sql -D alone -e "SELECT count(*) FROM sections" | grep -cxE "$(sqlite3 "$tmp/k.sqlite" 'SELECT count(*) FROM sections')|$(sqlite3 "$tmp/s2.sqlite" 'SELECT count(*) FROM sections')") $(left alone)" '1 0'

# --- the server's last answer is lost ---------------------------------------------------------------------------------------------------
unknown='; whether the [1-9][0-9]* rows are kept is not known: --append adds them, or says that they are$'
python3 t/helper/lost-answer.py "$dir/lost.sock" "$dir/s.sock" "START TRANSACTION" COMMIT >"$tmp/lost" &
proxy=$!
until [ -S "$dir/lost.sock" ]; do sleep 0.1; done
load -q -D answer "$tmp/s1.ctp"
"$mysql" -q -S "$dir/lost.sock" -u root -D answer --append "$tmp/s2.ctp" 2>"$tmp/err"
like 'a lost answer to COMMIT is reported' "$? $(cat "$tmp/lost") $(cat "$tmp/err")" "^1 lost ctp-mysql: answer: .*$unknown"
is 'no temporary table of that load is left' "$(left answer)" 0
load -q -D answer --append "$tmp/s2.ctp" 2>"$tmp/err"
is 'the same load again reports that it is there' "$? $(head -n 1 "$tmp/err")" "3 ctp-mysql: answer: $tmp/s2.ctp: skipped: section 7 is of the same trace"
same 'the rows are there once' answer "$tmp/k.sqlite"
kill $proxy
wait $proxy 2>/dev/null

# --- ctp-mysql is killed at some moment -----------------------------------------------------------------------------------------------
half=0
sql -e 'CREATE DATABASE some'
for tenths in 1 3 5 8 12 18; do
	"$mysql" -q -S "$dir/s.sock" -u root -D some "$tmp/s1.ctp" 2>/dev/null & # load would be a shell of its own
	child=$!
	sleep "$((tenths / 10)).$((tenths % 10))"
	kill -9 $child 2>/dev/null
	wait $child 2>/dev/null
	[ "$(base some)" = 0 ] && continue
	is_whole some || half=$((half + 1))
	sql -e 'DROP DATABASE some; CREATE DATABASE some'
done
is 'a killed load is complete or absent' $half 0
until [ "$(sql -e "SELECT count(*) FROM information_schema.processlist WHERE db = 'some'")" = 0 ]; do sleep 0.1; done
[ "$(base some)" = 0 ] || sql -e 'DROP DATABASE some; CREATE DATABASE some'
load -q -D some "$tmp/s1.ctp"
same 'the load after killed ones is complete' some "$tmp/s1.sqlite"
is 'no temporary table of killed loads is left' "$(left some)" 0

# --- tables that have their names, and not all of their views ------------------------------------------------------------------------
views() { sql -D "$1" -e "SELECT count(*) FROM information_schema.tables WHERE table_schema = database() AND table_type = 'VIEW'"; }
all=$(views some)
like 'a load creates views' "$all" '^[1-9][0-9]+$'
sql -D some -e 'DROP VIEW steps, coroutine_states'
load -q -D some --append </dev/null
is 'the next load creates missing views' "$(views some) $(left some)" "$all 0"
same 'the views are as before' some "$tmp/s1.sqlite"

# --- a signal ends ctp-mysql ------------------------------------------------------------------------------------------------------------
ended() { # NAME SIGNAL STATUS
	kill "-$2" $child
	if [ "$2" = INT ]; then # the first one is only told
		until grep -q '^ctp-mysql: interrupted: reads on' "$tmp/err" || ! kill -0 $child 2>/dev/null; do sleep 0.1; done
		kill -INT $child
	fi
	wait $child 2>/dev/null
	is "$1" "$? $(grep -v '^ctp-mysql: interrupted: reads on .* interrupt again to stop now$' "$tmp/err")" "$3 "
}
sql -e 'CREATE DATABASE ended'
for signal in 'TERM 143' 'HUP 129' 'INT 130'; do
	[ "$signal" != 'INT 130' ] || quiet='' # it says that the first one is ignored
	begin ended
	quiet=-q
	# shellcheck disable=SC2086 # its name and its status
	ended "a load that waits for its input ends by SIG$signal, without a word" $signal
	exec 9>&-
	none ended "SIG$signal"
done
load -q -D ended "$tmp/s1.ctp"
begin ended --append
ended 'so does one that adds to others' TERM 143
exec 9>&-
same 'the old rows stay after a signal' ended "$tmp/s1.sqlite"
is 'no temporary table is left after a signal' "$(left ended)" 0
sql -e 'DROP DATABASE ended'
renaming ended
kill -TERM $child
until [ "$(waiting DROP)" = 1 ] || ! kill -0 $child 2>/dev/null; do sleep 0.1; done
is 'after a signal a load waits for a transaction that holds a table' "$(waiting DROP)" 1
ended 'but not with a second signal' TERM 143
release
load -q -D ended "$tmp/s1.ctp"
same 'the load after a signal is complete' ended "$tmp/s1.sqlite"
is 'no temporary table of the interrupted load is left' "$(left ended)" 0
sql -e "CREATE DATABASE waits; DO get_lock(concat('ctp-mysql ', left(sha2('waits', 256), 40)), 0); DO sleep(10000)" 2>/dev/null &
until [ "$(sql -e "SELECT count(*) FROM information_schema.processlist WHERE info LIKE 'DO sleep%'")" = 1 ]; do sleep 0.1; done
"$mysql" -S "$dir/s.sock" -u root -D waits "$tmp/s1.ctp" 2>"$tmp/err" &
child=$!
until grep -q waits "$tmp/err"; do sleep 0.1; done
like 'a load that waits for another says what that one does' "$(cat "$tmp/err")" '^ctp-mysql: waits: waits for another ctp-mysql, connection [0-9]+, which runs DO sleep\(10000\) \.\.\. since [0-9]+ s$'
: >"$tmp/err"
ended 'a load that waits for another ends at once' TERM 143
release

# --- a server that is stopped ------------------------------------------------------------------------------------------------------------
sql -e 'CREATE DATABASE stopped'
begin stopped
kill -STOP $pid
go_on
kill -CONT $pid
wait $child
is 'a server that stops for a while is waited for' "$(sql -D stopped -e 'SELECT count(*) FROM coro_trace_events') $(left stopped)" "$whole 0"

# --- a value that the server alters ------------------------------------------------------------------------------------------------------
sql -e 'CREATE DATABASE altered'
begin altered
until [ "$(sql -e "SELECT count(*) FROM information_schema.processlist WHERE db = 'altered' AND command = 'Sleep' AND time >= 2")" = 1 ] ||
	! kill -0 $child 2>/dev/null; do sleep 0.1; done # the load waits for input, and uses no table while it is altered
sql -D altered -e 'SET sql_mode = ""; ALTER TABLE _ctp_load_coro_trace_events MODIFY ts DECIMAL(1,0)' # existing rows do not prevent it
finish
is 'a load whose values the server alters fails' "$? $(wc -l <"$tmp/err")" '1 1'
like 'the message names the column and the row' "$(cat "$tmp/err")" "^ctp-mysql: altered: table coro_trace_events: the server altered or refused rows, and took [0-9]+ of [1-9][0-9]*: Out of range value for column 'ts' at row [0-9]+; [0-9]+ rows were sent, and none is kept\$"
none altered 'an altered value'

# --- coroTracer's own table --------------------------------------------------------------------------------------------------------------
seven='id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT, probe_id DECIMAL(20,0) NOT NULL, tid DECIMAL(20,0) NOT NULL, addr VARCHAR(18) NOT NULL,
	seq DECIMAL(20,0) NOT NULL, is_active BOOLEAN NOT NULL, ts DECIMAL(20,0) NOT NULL, PRIMARY KEY (id), KEY idx_probe_seq (probe_id, seq), KEY idx_tid_ts (tid, ts), KEY idx_ts (ts)'
sql -e "CREATE DATABASE theirs; USE theirs; CREATE TABLE coro_trace_events ($seven) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;
	INSERT INTO coro_trace_events (probe_id, tid, addr, seq, is_active, ts) VALUES (9, 8, '0x7', 6, TRUE, 5)"
load -q -D theirs "$tmp/s1.ctp" 2>"$tmp/err"
is 'an existing table is not written to' "$? $(cat "$tmp/err")" '1 ctp-mysql: theirs: has a table coro_trace_events; --append adds to it'
shape() { sql -D theirs -e 'SHOW CREATE TABLE coro_trace_events; SELECT * FROM coro_trace_events'; }
before=$(shape)
begin theirs --append
hold theirs coro_trace_events # the ALTER waits
go_on
until [ "$(waiting ALTER)" = 1 ] || ! kill -0 $child 2>/dev/null; do sleep 0.1; done
sql -e "KILL QUERY $(sql -e "SELECT id FROM information_schema.processlist WHERE info LIKE 'ALTER%'")"
wait $child
is 'a failed load gives status 1' "$? $(wc -l <"$tmp/err")" '1 1'
release
is 'a failed load leaves the table unchanged' "$(shape)" "$before"
is 'a failed load leaves no temporary table' "$(tables theirs)" 'coro_trace_events '
load -q -D theirs --append "$tmp/s1.ctp"
is '--append adds to it' "$? $(sql -D theirs -e 'SELECT * FROM coro_trace_events WHERE id = 1; SELECT count(*) FROM coro_trace_events')" "3 1	9	8	0x7	6	1	5	0	NULL	NULL	NULL
$((whole + 1))"
is 'coroTracer can still insert into it' "$(sql -D theirs -e "INSERT INTO coro_trace_events (probe_id, tid, addr, seq, is_active, ts) VALUES (9, 8, '0x7', 7, FALSE, 6); SELECT count(*), max(section = 0) FROM coro_trace_events WHERE probe_id = 9")" '2	1'
like 'an INSERT without a list of columns fails' "$(sql -D theirs -e "INSERT INTO coro_trace_events VALUES (NULL, 9, 8, '0x7', 7, FALSE, 6)" 2>&1)" "Column count doesn't match"
is 'the views have rows of coroTracer' "$(sql -D theirs -e 'SELECT state, certain FROM coroutine_states WHERE section = 0')" 'suspended	0'
sql -e 'CREATE DATABASE not_theirs; CREATE TABLE not_theirs.coro_trace_events (id INT PRIMARY KEY, what TEXT)'
load -q -D not_theirs --append "$tmp/s1.ctp" 2>"$tmp/err"
is 'a table of that name with other columns is refused, and unchanged' "$? $(cat "$tmp/err") $(tables not_theirs)" \
	"1 ctp-mysql: not_theirs: its table coro_trace_events has no column probe_id, so it is not coroTracer's coro_trace_events "

done_testing
