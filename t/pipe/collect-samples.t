#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# Samples of threads: of those in a long run, and of all when the program is silent. The test does not check how often, only
# that the records are consistent.
# Mostly waits.
. t/helper/tap.sh
. t/helper/collect/lib.sh
[ -r /proc/self/task/$$/schedstat ] || [ -r /proc/self/schedstat ] || skip_all 'the kernel counts nothing for threads'

samples() { sed -n '/"type":"sample"/s/.*"ts":\([0-9]*\),"tid":\([0-9]*\),"pid":\([0-9]*\),"cpu_ns":\([0-9]*\),"delay_ns":\([0-9]*\),"state":"\([a-z]*\)".*/\1 \2 \3 \4 \5 \6/p' "$tmp/json"; }
rounds() { sed -n '/"type":"process"/s/.*"ts":\([0-9]*\),"pid":\([0-9]*\),.*"threads":\([0-9]*\),"cpu_ns":\([0-9]*\).*/\1 \2 \3 \4/p' "$tmp/json" | awk '$3'; }
in_run() { # samples between the last resume and the suspension after it
	sed -n '/"type":"transition"/s/.*"is_active":\([a-z]*\),"ts":\([0-9]*\),.*/\1 \2/p' "$tmp/json" | tail -n 2 >"$tmp/run"
	samples | awk -v run="$tmp/run" 'BEGIN { while ((getline line < run) > 0) { split(line, f, " "); t[f[1]] = f[2] } }
		$1 - t["true"] >= 0 && $1 - t["false"] <= 0'
}
sane() { # NAME: what holds of all samples
	is "$1: of a thread, time and CPU time only grow" "$(samples | awk '$2 in ts && ($1 - ts[$2] < 0 || $4 - cpu[$2] < 0 || $5 - delay[$2] < 0) { bad++ }
		{ ts[$2] = $1; cpu[$2] = $4; delay[$2] = $5 } END { print bad + 0 }')" 0
	is "$1: each round has as many samples as it says, and their sum" "$( (samples | sed 's/^/s /'; rounds | sed 's/^/r /') |
		sort -s -k 2,2 -k 1,1r | awk '$1 == "s" { n[$2]++; cpu[$2] += $5 } $1 == "r" && (n[$2] < $4 || n[$2] > 2 * $4) { bad++ } END { print bad + 0 }')" 0
}

# --- runs --------------------------------------------------------------------------------------------------------------------------
start "$tmp/states"
tell resume
tell burn
tell suspend
echo exit >&5
ended
in_run >"$tmp/spin"
note "$(wc -l <"$tmp/spin") samples in the run"
ok 'a run that spins has samples' test "$(wc -l <"$tmp/spin")" -ge 2
ok 'they say that it used its processor' test "$(awk 'NR == 1 { first = $4 } { last = $4 } END { print (last - first > 0) }' "$tmp/spin")" = 1
is 'they say that it was always runnable' "$(awk '{ print $6 }' "$tmp/spin" | sort -u)" running
is 'they are of its thread' "$(awk '{ print $2, $3 }' "$tmp/spin" | sort -u | wc -l | tr -d ' ')" 1
sane 'a run that spins'

# A collector that does not run for a second then takes a sample of the run and a round of all threads at once: the one that is read
# first has the earlier time. In between, the thread uses CPU time only now and then.
start "$tmp/states"
for n in 1 2 3; do
	tell resume
	until_records $((2 * n - 1)) '"type":"sample"'
	kill -STOP $collector
	sleep 1.1
	echo yield >&5
	kill -CONT $collector
	until_records $n '"threads":1,'
	read -r said <&6
	tell suspend
done
echo exit >&5
ended
sane 'a run and a round at once'

# In the first it may not sleep yet, and before the last it may have been asked to suspend.
start "$tmp/states"
tell resume
until_records 4 '"type":"sample"'
tell suspend
echo exit >&5
ended
in_run >"$tmp/sleep"
ok 'a run that sleeps has samples' test "$(wc -l <"$tmp/sleep")" -ge 4
ok 'they say that it sleeps' test "$(awk '$6 == "sleeping"' "$tmp/sleep" | wc -l)" -ge 2
is 'they say that it used no CPU time' "$(tail -n 2 "$tmp/sleep" | awk '{ print $4 }' | sort -u | wc -l | tr -d ' ')" 1
sane 'a run that sleeps'

# --- silence -----------------------------------------------------------------------------------------------------------------------
start "$tmp/states"
tell thread
tell thread
until_records 2 '"threads":3,'
tell resume
tell suspend
until_records 4 '"threads":3,'
echo exit >&5
ended
is 'a silent program has two rounds of all threads, and two more after an event' "$(rounds | awk '{ print $3 }' | tr '\n' ' ')" '3 3 3 3 '
is 'each silence has two rounds' "$( (rounds | sed 's/ .*/ round/'; sed -n '/"type":"transition"/s/.*"ts":\([0-9]*\),.*/\1 event/p' "$tmp/json") | sort -n |
	awk '{ print $2 }' | uniq -c | awk '$2 == "round" { print $1 }' | tr '\n' ' ')" '2 2 '
is 'rounds are a second apart, the first after a second' "$( (rounds | sed 's/ .*/ round/'; sed -n '/"type":"transition"/s/.*"ts":\([0-9]*\),.*/\1 event/p' "$tmp/json") | sort -n |
	awk '$2 == "round" && $1 - last < 1e9 { bad++ } { last = $1 } END { print bad + 0 }')" 0
is 'no CPU time is used between the two rounds of a silence' \
	"$(rounds | awk '{ print $4 }' | uniq -c | awk '{ print $1 }' | tr '\n' ' ')" '2 2 '
# On a busy machine, a run of nothing may be long enough for a sample of its own.
is 'in the rounds all threads sleep' "$( (rounds | sed 's/^/r /'; samples | sed 's/^/s /') | awk '$1 == "r" { at[$2] } $1 == "s" && $2 in at { print $7 }' | sort -u)" sleeping
sane 'a silent program'

start "$tmp/states"
tell resume
tell suspend
kill -STOP "$(child_of $collector)"
until_records 1 '"state":"stopped"'
left=$(($(date +%s) + 3))
until [ "$(date +%s)" -ge $left ]; do sleep 0.2; done
kill -CONT "$(child_of $collector)"
until_records 1 '"state":"executing","threads":0'
echo exit >&5
ended
# On a busy machine it may be silent for a second before it is stopped, or afterwards.
is 'a stopped program is not sampled as silent' "$(sed -n '/"type":"process"/s/.*"state":"\([a-z]*\)","threads":\([0-9]*\),.*/\1 \2/p' "$tmp/json" |
	awk '$1 == "stopped" { seen = on = 1 } $1 == "executing" && $2 == 0 { on = 0 } on && $2 { n++ } END { print seen + 0, n + 0 }')" '1 0'

# --- a process that was there before ----------------------------------------------------------------------------------------------
if grep -q __tsan_init "$collect"; then # TSan leaves too little address space for a recorder
	note 'left out: attaching, with a collector that TSan watches'
	done_testing
fi
CTP_RECORD=1 "$tmp/states" <"$tmp/in" >"$tmp/out" &
pid=$!
opened
tell thread
tell resume
tell suspend
: >"$tmp/a.ctp" # no record of an earlier run may be there
"$collect" -q -p $pid -o "$tmp/a.ctp" &
collector=$!
until_records 2 '"threads":2,'
kill -INT $collector
wait $collector
"$tojson" -q -a "$tmp/a.ctp" >"$tmp/json"
is 'attached: a silence has two rounds' "$(rounds | awk -v pid=$pid '{ print $3, ($2 == pid) }' | tr '\n' ' ')" '2 1 2 1 '
is 'attached: no CPU time is used between the two rounds' "$(rounds | awk '{ print $4 }' | sort -u | wc -l | tr -d ' ')" 1
sane attached
tell resume
: >"$tmp/a.ctp" # no record of an earlier run may be there
"$collect" -q -p $pid -o "$tmp/a.ctp" &
collector=$!
until_records 2 '"type":"sample".*"tid":'$pid,
tell burn
kill -INT $collector
wait $collector
tell suspend
"$tojson" -q -a "$tmp/a.ctp" >"$tmp/json"
is 'the thread of a run that began before the attach is sampled' "$(samples | awk -v pid=$pid '$2 == pid' | awk 'NR == 1 { first = $4 } { last = $4 } END { print (NR >= 2 && last - first > 0) }')" 1
sane 'a run that began before'
until_quiet() { # waits until there was no event for a second, which --once shows by its samples
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
		"$collect" -q -p $pid --once -o "$tmp/b.ctp"
		"$tojson" -q -a "$tmp/b.ctp" | grep -q '"threads":2,' && return
		sleep 0.2
	done
}
until_quiet
"$collect" -q -p $pid --once -o "$tmp/a.ctp"
is '--once of a silent program ends with status 0' $? 0
"$tojson" -q -a "$tmp/a.ctp" >"$tmp/json"
is '--once of a silent program has two rounds' "$(rounds | awk '{ print $3 }' | tr '\n' ' ')" '2 2 '
sane '--once'
kill -STOP $pid
until ! grep -hs '^State:' /proc/$pid/task/*/status | grep -qv stopped; do sleep 0.01; done # each thread stops in its own time
"$collect" -q -p $pid --once -o "$tmp/a.ctp"
"$tojson" -q -a "$tmp/a.ctp" >"$tmp/json"
is '--once of a stopped program has no rounds' "$(rounds | wc -l | tr -d ' ')" 0
kill -CONT $pid
exec 5>&- 6<&-
wait $pid
done_testing
