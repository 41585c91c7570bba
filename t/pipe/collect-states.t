#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# States of the process in the trace: stopped, exiting, dumping, and between which times it ended. They are compared with what the
# program prints, and with what the test does to it; how soon a state is noticed is not checked.
# Mostly waits.
. t/helper/tap.sh
. t/helper/collect/lib.sh

until_record() { until_records 1 "\"state\":\"$1\",\"threads\":0,"; } # STATE
states() { sed -n '/"type":"process"/s/.*"state":"\([a-z]*\)","threads":0,.*/\1/p' "$tmp/json" | tr '\n' ' '; }
lively() { states | sed 's/exiting $//'; } # its end may be seen, or not
sane() { # NAME: what holds of every end, and of every record of a process
	ok "$1: the last event, after, before and the end are in order" \
		in_order "$(newest)" "$(field end after)" "$(field end before)" "$(field end ts)"
	is "$1: each state has its bounds" "$(sed -n '/"type":"process"/s/.*"ts":\([0-9]*\),.*"after":\([0-9]*\),.*/\1 \2/p' "$tmp/json" |
		awk '$2 + 0 <= 0 || $2 - $1 > 0' | wc -l | tr -d ' ')" 0
}

# --- stopped ----------------------------------------------------------------------------------------------------------------------
start "$tmp/states"
tell resume
tell suspend
pid=$(child_of $collector)
tell now
before=${said% *}
kill -STOP "$pid"
until_record stopped
kill -CONT "$pid"
until_record executing
tell now
after=${said% *}
echo exit >&5
ended
is 'a command is stopped and continued, and its status is passed on' "$(lively)$status" 'stopped executing 3'
at() { sed -n "/\"type\":\"process\".*\"state\":\"$1\"/s/.*\"$2\":\([0-9]*\),.*/\1/p" "$tmp/json" | head -n 1; }
ok 'the times of these states are right' in_order "$before" "$(at stopped ts)" "$(at executing ts)" "$after" "$(field end before)"
ok 'it was seen stopped until shortly before it was continued' \
	in_order "$(at stopped ts)" "$(at executing after)" "$(at executing ts)"
is 'the records are of its process' "$(at stopped pid)" "$pid"
sane 'stopped'

# --- a debugger ------------------------------------------------------------------------------------------------------------------
start "$tmp/states" hold "$tmp/held"
tell resume
if [ "$said" = done ]; then
	tell suspend
	echo trap >&5
	read -r said <&6
	is 'the debugger has stopped it' "$said" held
	until_record stopped
	: >"$tmp/held"
	read -r said <&6
	until_record executing
	echo exit >&5
	read -r said <&6
	is 'it is about to exit, and stopped there' "$said" leaving
	until_records 3 '"threads":0,'
	: >"$tmp/held"
	ended
	# Before Linux 5.16 a process held at its exit looks like a stopped one.
	like 'states of a debugged process: stopped, executing, exiting; the debugger has none' "$(states)$status" \
		'^stopped executing (exiting|stopped)( exiting)? 3$'
	sane 'a debugger'
	ok 'the time in which it was held at its exit is after the end' in_order "$(field end after)" \
		"$(sed -n '/"type":"process".*"threads":0,/s/.*"ts":\([0-9]*\),.*/\1/p' "$tmp/json" | sed -n 3p)" "$(field end before)"
else
	ended
	skip 'no debugger may be one here'
fi

# --- a main thread that ends ---------------------------------------------------------------------------------------------------
start "$tmp/states"
tell resume
tell leave
tell now
left=${said% *}
tell suspend
pid=$(child_of $collector)
kill -STOP "$pid"
until_record stopped
kill -CONT "$pid"
until_record executing
echo exit >&5
ended
is 'without its main thread it executes, is stopped, and executes' "$(lively)$status" 'stopped executing 3'
ok 'it was seen to execute after its main thread had ended' in_order "$left" "$(field end after)"
sane 'without its main thread'

# --- a child that lives on -------------------------------------------------------------------------------------------------------
start "$tmp/states"
tell child
child=${said% *}
echo exit >&5
while kill -0 $collector 2>/dev/null && kill -0 "$(child_of $collector)" 2>/dev/null; do sleep 0.05; done # it is reaped
kill "$child"
ended
sane 'a child that lives on'
ok 'its end is its own, not that of its child' test "$(field end before)" -lt "$(field end ts)"

# --- a process that COMMAND started ----------------------------------------------------------------------------------------------
# A silent process is looked at in detail twice, after one second and after two. The wait goes on after that, until timeout ends it.
cc_traced -o "$tmp/locks" t/defects/verdict/c-locks.c 2>"$tmp/err"
is 'c-locks.c compiles' "$?" 0
: >"$tmp/a.ctp"
"$collect" -q -o "$tmp/a.ctp" timeout -s KILL 7 "$tmp/locks" forgotten-unlock >/dev/null 2>&1
"$tojson" -q -a "$tmp/a.ctp" >"$tmp/json"
is 'the last record of the process says how long it was seen' "$(field process after)" "$(field end after)"
sane 'started by timeout'
"$BIN/ctp-report" -q -j "$tmp/a.ctp" >"$tmp/report"
first() { tr ',{' '\n\n' <"$tmp/report" | sed -n "s/^\"$1\":\"*\([0-9]*\)\"*.*/\1/p" | head -n 1; } # KEY: its first number
is 'the report: the wait lasted until then' $(($(first start_ns) + $(first to_ns))) "$(field end after)"

# --- slow ends -------------------------------------------------------------------------------------------------------------------
for how in exit dump; do
	start "$tmp/states"
	tell grow
	[ "$said" = done ] || { ended; continue; }
	tell resume
	tell suspend
	echo $how >&5
	ended
	sane "a slow $how"
	note "seen: $(states)"
	is "a slow $how: no other state was seen" "$(states | sed 's/dumping //; s/exiting //')" ''
	rm -f "$tmp"/core*
done

# --- a collector that is late ----------------------------------------------------------------------------------------------------
start "$tmp/states"
tell resume
pid=$(child_of $collector)
kill -STOP $collector
until grep -q '^State:.T' /proc/$collector/status; do :; done
tell suspend
tell now
after=${said% *}
echo exit >&5
until grep -q '^State:.Z' "/proc/$pid/status"; do :; done
kill -CONT $collector
ended
ok 'a late collector knows only the last event before the end' in_order "$(newest)" "$(field end after)" "$after" \
	"$(field end before)"
is 'the last sign of life is its last event' "$(field end after)" "$(newest)"
sane 'late'

# --- a process that was there before ---------------------------------------------------------------------------------------------
if grep -q __tsan_init "$collect"; then # TSan leaves too little address space for a recorder
	note 'left out: attaching, with a collector that TSan watches'
	done_testing
fi
CTP_RECORD=1 "$tmp/states" <"$tmp/in" >"$tmp/out" &
pid=$!
opened
tell resume
tell suspend
kill -STOP $pid
until grep -q '^State:.T' /proc/$pid/status; do :; done
"$collect" -q -p $pid --once -o "$tmp/a.ctp"
"$tojson" -q -a "$tmp/a.ctp" >"$tmp/json"
is '--once says that a process is stopped' "$(states)" 'stopped '
is 'since its last event it was not seen to execute' "$(at stopped after) $(field end after)" "$(newest) $(newest)"
sane '--once'
: >"$tmp/a.ctp" # no record of an earlier run may be there
"$collect" -q -p $pid -o "$tmp/a.ctp" &
collector=$!
until_record stopped
kill -CONT $pid
until_record executing
tell resume
tell suspend
echo exit >&5
ended
wait $pid
is 'a stopped process that continues has both states' "$(lively)$status" 'stopped executing 0'
sane 'attached'
done_testing
