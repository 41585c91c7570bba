#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# ctp-collect -p and -l on processes that run, are stopped, hang, or had a collector that was killed; attaching again after that.
# The program behaves the same, whatever happens.
# Mostly waits.
. t/helper/tap.sh
collect=$BIN/ctp-collect
export TMPDIR="$tmp/t"
mkdir "$tmp/t"
CC=${CC:-cc}
command -v "$CC" >/dev/null || skip_all "there is no $CC"
cc_traced -o "$tmp/target" t/helper/attach/target.c 2>"$tmp/err" || skip_all "$CC: $(head -n 1 "$tmp/err")"

line=$(grep -n 'the place that' t/helper/attach/target.c | sed 's/:.*//')
records() { "$BIN/ctp-tojsonl" -q -a "$2" 2>/dev/null | grep "^{\"type\":\"$1\""; }
transitions() { "$BIN/ctp-tojsonl" -q "$1" 2>/dev/null | wc -l; }
said() { sed -n "s/.*[ :]\([0-9][0-9]*\) $1.*/\1/p" "$2" | tail -n 1; } # said lost FILE: the number before that word
start() { # COMMAND...: $target is its pid
	rm -f "$tmp/in" "$tmp/out"
	mkfifo "$tmp/in" "$tmp/out"
	"$@" <"$tmp/in" >"$tmp/out" 2>"$tmp/errors" &
	target=$!
	exec 5>"$tmp/in" 6<"$tmp/out"
}
tell() { # WORD NUMBER: returns when it is done
	echo "$@" >&5
	read -r reply <&6
}
end() { # STATUS: ends it; $ended is its status
	echo "x $1" >&5
	exec 5>&- 6<&-
	wait $target
	ended=$?
}
state() { "$collect" -l 2>/dev/null | sed -n "s/^ *$1 \([^ ]* *[^ ]* *[0-9]*\)  .*/\1/p" | sed 's/  .*//'; }
attach() { # OPTION...: in the background, and attached when it returns; $collector is its process
	rm -f "$tmp/err"
	"$collect" "$@" >"$tmp/a.ctp" 2>"$tmp/err" &
	collector=$!
	until grep -q 'attached to process' "$tmp/err" 2>/dev/null; do kill -0 $collector 2>/dev/null || break; done
}
detach() { # SIGNAL: $left is the status of the collector
	kill "-$1" $collector
	wait $collector 2>/dev/null
	left=$?
}
descriptors() { find "/proc/$target/fd" -type l | wc -l; }

# --- what the memory of the process has ---
export CTP_RECORD=1
start "$tmp/target"
tell new 3
tell run 30 # 20 events for each
tell wake 1
before=$(descriptors)
is 'a process that records is listed as such' "$(state $target)" recording
like 'the line has its coroutines and its command' "$("$collect" -l | grep "$tmp/target")" "^ *$target recording +3 +0 $(id -un) +$(stat -Lc %i /proc/self/ns/pid) $tmp/target$"
"$collect" -p $target --once >"$tmp/a.ctp" 2>"$tmp/err"
is 'the report does not say that coroutines are not shown' "$("$BIN/ctp-report" -q "$tmp/a.ctp" | grep 'not shown')" ''
is '--once ends with status 0' $? 0
like '--once prints a closing line' "$(cat "$tmp/err")" '^ctp-collect: [0-9]+ events, 3 coroutines, 0 lost, 0 untraced, [0-9.]+ s$'
is 'each coroutine comes with a birth' "$(records birth "$tmp/a.ctp" | wc -l)" 3
is 'each coroutine has its name' "$(records name "$tmp/a.ctp" | grep -c '"name":"worker [012]"')" 3
n=$(transitions "$tmp/a.ctp") # not on every machine can the oldest be proved to be whole
ok "each coroutine has its eight newest events, or seven: $n" test "$n" -ge 21 -a "$n" -le 24
like 'the last event says where it is suspended' "$(records transition "$tmp/a.ctp" | tail -n 1)" '"is_active":false'
like 'the site has file, line and function' "$(records site "$tmp/a.ctp")" \
	'"file":"t/helper/attach/target.c","line":'"$line"',"function":"read_socket"'
like 'the last wakes are known' "$(records wake "$tmp/a.ctp")" '"probe_id":1001'
like 'the section says whose it is' "$("$BIN/ctp-tojsonl" -a "$tmp/a.ctp" 2>/dev/null | head -n 1)" \
	"\"pid\":\"$target\".*\"attached\":\"yes\".*\"argv\":\\[\"$tmp/target\"\\]"
like 'the end record says that the program runs on' "$(records end "$tmp/a.ctp")" '"lost":0,.*"outcome":"running"'
like 'the mappings are recorded' "$(records mapping "$tmp/a.ctp")" "\"path\":\"$tmp/target\""
is 'the process is listed as before' "$(state $target)" recording

# --- followed, left, followed again ---
for signal in INT TERM; do
	attach -p $target
	tell run 3000
	detach $signal
	is "SIG$signal: detached with status 0" $left 0
	n=$(transitions "$tmp/a.ctp")
	is 'all events since the attach are there, after the last states' \
		"$((n - 6000 > 18 && n - 6000 <= 24)) $(said lost "$tmp/err")" '1 0'
	is 'the threads are recorded' "$(records thread "$tmp/a.ctp" | grep -c '"name":"target"')" 1
	is 'the process records as before' "$(state $target)" recording
done
outcomes=
for _ in 1 2 3; do
	attach -p $target
	for _ in $(seq 1000); do kill -TERM $collector 2>/dev/null; done # also while it ends: timeout(1) sends two
	detach TERM
	outcomes="$outcomes$left $(tail -n 1 "$tmp/err" | sed 's/.* s//'),"
done
is 'a signal that is repeated at once is one request to end' "$outcomes" '0 ,0 ,0 ,'
printf '#!/bin/sh\nexec strace -D -o /dev/null -e trace=write -e inject=write:delay_exit=200000 "%s" "$@"\n' "$collect" \
	>"$tmp/slow"
chmod +x "$tmp/slow"
if "$tmp/slow" -V >/dev/null 2>&1; then # it runs some time after each line it prints
	collect=$tmp/slow attach -p $target
	tell run 3000
	detach INT
	n=$(transitions "$tmp/a.ctp")
	ok "all events after its line are there: $n" test "$n" -gt 6018 -a "$n" -le 6024
fi
attach -p $target
is 'the list names the collector' "$(state $target)" "collected by $collector"
"$collect" -p $target >"$tmp/b.ctp" 2>"$tmp/other"
is 'a second collector is refused' "$? $(cat "$tmp/other")" \
	"125 ctp-collect: -p process $target: another collector is attached to it (pid $collector)"
"$collect" -p $collector >"$tmp/b.ctp" 2>"$tmp/other"
is 'a collector cannot be attached to' "$? $(cat "$tmp/other")" "125 ctp-collect: -p process $collector: is a collector"
is 'a collector is not listed' "$(state $collector)" ''

# --- a collector that is killed ---
tell run 30
detach KILL
tell run 30
is 'a killed collector leaves a process that can be attached to' "$(state $target)" recording
attach -p $target
tell run 30
tell new 2
tell die 1 # last, so that its station is not reused
detach INT
is 'the next collector gets all events' "$left $(said lost "$tmp/err") $(records birth "$tmp/a.ctp" | wc -l)" '0 0 5'
is 'deaths are recorded' "$(records death "$tmp/a.ctp" | wc -l)" 1

# --- no probe will ever run again ---
kill -STOP $target
"$collect" -p $target --once >"$tmp/a.ctp" 2>"$tmp/err"
is 'stopped by SIGSTOP: the last states are recorded' "$? $(records birth "$tmp/a.ctp" | wc -l) $(said lost "$tmp/err")" '0 5 0'
"$collect" -p $target -t 0.1 >"$tmp/a.ctp" 2>"$tmp/err"
is '-t ends a collector of a stopped process' "$? $(records birth "$tmp/a.ctp" | wc -l) $(said lost "$tmp/err")" '0 5 0'
kill -CONT $target
tell hang 0
"$collect" -p $target --once >"$tmp/a.ctp" 2>"$tmp/err"
is 'in a deadlock the last states are recorded' "$? $(records birth "$tmp/a.ctp" | wc -l) $(said lost "$tmp/err")" '0 5 0'
is 'the names are recorded' "$(records name "$tmp/a.ctp" | grep -c '"name":"worker [01234]"')" 5
is 'ended coroutines whose stations are not reused are recorded' "$(records death "$tmp/a.ctp" | wc -l)" 1
is 'the last event of all five coroutines is a suspension' "$(records transition "$tmp/a.ctp" |
	sed 's/.*"probe_id":\([0-9]*\),.*"is_active":\([a-z]*\).*/\1 \2/' | awk '
	{ last[$1] = $2 } END { for (i in last) print last[i] }' | sort | uniq -c | tr -s ' ')" ' 5 false'
ok 'the process has at most one more descriptor' test "$(descriptors)" -le $((before + 1))
attach -p $target
kill -9 $target
wait $collector
is 'a process that is killed ends the trace in order' $? 0
like 'the trace has an end record' "$(records end "$tmp/a.ctp")" '"outcome":"ended"'
exec 5>&- 6<&-
wait $target 2>/dev/null

# --- who waits for whom ---
cc_traced -o "$tmp/cycle" t/defects/cycle.c 2>"$tmp/err"
mkfifo "$tmp/says"
"$tmp/cycle" bug >"$tmp/says" &
target=$!
read -r _ <"$tmp/says"
"$collect" -p $target --once >"$tmp/a.ctp" 2>"$tmp/err"
is 'the last states show three coroutines that wait for each other' "$? $(records await "$tmp/a.ctp" |
	sed 's/.*"coro":\([0-9]*\),"target":\([0-9]*\),.*/\1 \2/' | sort -n | awk '
	NR == 1 { before = $1 - 1 } { print $1 - before, $2 - before }' | paste -sd,)" '0 1 2,2 3,3 1'
like 'the report finds the circle' "$("$BIN/ctp-report" "$tmp/a.ctp" 2>&1)" '3 coroutines wait for one another in a circle'
kill -KILL $target
wait $target 2>/dev/null

# --- coroutines that end while a collector is attached ---
start "$tmp/target"
tell new 3
attach -p $target
kill -STOP $collector # so that it sees their deaths and its own signal at once
tell die 3
kill -INT $collector
kill -CONT $collector
wait $collector
is 'deaths up to the last moment are recorded' "$? $(records death "$tmp/a.ctp" | wc -l)" '0 3'
tell new 3
"$collect" -q -p $target --once >"$tmp/a.ctp"
is 'later coroutines use new stations, so the next collector sees the ended ones' \
	"$(records birth "$tmp/a.ctp" | wc -l) $(records death "$tmp/a.ctp" | wc -l)" '6 3'
end 0

# --- a process that does not record ---
unset CTP_RECORD
start "$tmp/target"
tell new 3
is 'a process that does not record is idle' "$(state $target)" idle
attach -p $target
tell run 30
detach INT
like 'the collector says that it did not record' "$(cat "$tmp/err")" "^ctp-collect: process $target was started without CTP_RECORD=1: "
is 'events during the visit are there' "$(transitions "$tmp/a.ctp") $(said lost "$tmp/err")" '60 0'
like 'and so does the report' "$("$BIN/ctp-report" -q "$tmp/a.ctp")" '^  the program recorded nothing before the collector attached: '
is 'after the visit it is idle again' "$(state $target)" idle
tell die 3
attach -p $target
tell new 2
kill -9 $collector
wait $collector 2>/dev/null
"$collect" -q -p $target --once >"$tmp/a.ctp"
is 'a killed collector does not make it record for ever' "$(state $target)" idle
is 'events recorded by then are known' "$(records birth "$tmp/a.ctp" | wc -l)" 2
end 7
is 'the program ends with its usual status' $ended 7

CTP_RECORD=0 start "$tmp/target"
tell new 3
is 'a process with CTP_RECORD=0 is not listed' "$(state $target)" ''
end 0

# --- the processes of a collector that is killed, or has ended ---
start "$collect" -o "$tmp/b.ctp" "$tmp/target"
tell new 3
collector=$target
target=$(sed 's/ .*//' "/proc/$collector/task/$collector/children")
[ "$(cat "/proc/$target/comm")" = target ] || target=$(sed 's/.* \([0-9]*\) .*/\1/' "/proc/$collector/task/$collector/children")
is 'the list shows the collector of a process that it started' "$(state "$target")" "collected by $collector"
"$collect" -p "$target" >"$tmp/a.ctp" 2>"$tmp/err"
is 'another collector is refused' "$?" 125
tell run 30
kill -9 $collector
wait $collector 2>/dev/null
"$collect" -p "$target" --once >"$tmp/a.ctp" 2>"$tmp/err"
is 'a process whose collector was killed can be attached to' \
	"$? $(records birth "$tmp/a.ctp" | wc -l) $(records name "$tmp/a.ctp" | wc -l)" '0 3 3'
attach -p "$target"
tell run 300
detach INT
ok 'its later events are recorded' test "$(transitions "$tmp/a.ctp")" -gt 600
echo x 0 >&5
exec 5>&- 6<&-

start "$collect" -q -t 0.05 -o "$tmp/b.ctp" "$tmp/target"
tell new 3
until "$BIN/ctp-tojsonl" -q "$tmp/b.ctp" >/dev/null 2>&1; do :; done # the stream has its end
command=$target target=$("$collect" -l | sed -n "s,^ *\([0-9]*\) .* $tmp/target\$,\1,p")
is 'after -t the process is idle' "$(state "$target")" idle
attach -p "$target"
tell run 30
detach INT
like 'then another collector can attach' \
	"$left $(transitions "$tmp/a.ctp")" '^0 6[0-3]$' # each of the 3 may be from before or after
target=$command
end 5
is "the first collector exits with the command's status" $ended 5

# --- the program behaves the same ---
script='new 80 run 1000 wake 5 die 50 run 500 new 20 x 3'
echo "new 20 $script" | "$tmp/target" >"$tmp/want" 2>&1
want=$?
start "$tmp/target"
tell new 20
attach -p $target
echo "$script" >&5
{ echo "$reply" && cat <&6; } >"$tmp/got"
wait $target
is 'a program prints and exits the same when attached to' "$? $(cmp "$tmp/got" "$tmp/want" 2>&1)" "$want "
wait $collector
is 'the collector ends with the program' $? 0
is 'the collector has all events' "$(transitions "$tmp/a.ctp") $(said lost "$tmp/err")" '3100 0'
exec 5>&- 6<&-

start "$tmp/target"
tell new 20
attach -p $target
tell run 300
echo e 0 >&5
wait $collector
is 'the collector leaves a process that calls exec' "$? $(transitions "$tmp/a.ctp") $(said lost "$tmp/err")" '0 600 0'
like 'the outcome is not the end of the process' "$(records end "$tmp/a.ctp")" '"outcome":"running"'
ok 'the process lives on' kill -0 $target
exec 5>&- 6<&-
wait $target

start "$tmp/target"
tell new 20
attach --sock "$tmp/sock" -p $target
rm "$tmp/sock" # before it has made a connection
echo e 0 >&5
wait $collector
is 'the collector also leaves a process that calls exec before it has connected' $? 0
exec 5>&- 6<&-
wait $target

if root_part 'a target in another PID namespace' && can unshare --pid --fork true; then
	CTP_RECORD=1 start unshare --pid --fork "$tmp/target"
	tell new 3
	outer=$target target=$("$collect" -l | sed -n "s,^ *\([0-9]*\) .* $tmp/target\$,\1,p")
	is 'the list shows its PID namespace' "$("$collect" -l | sed -n "s,^ *$target .* \([0-9]*\) $tmp/target\$,\1,p")" \
		"$(stat -Lc %i "/proc/$target/ns/pid")"
	attach -p "$target"
	tell run 30
	detach INT
	is 'a process in another PID namespace is attached to' \
		"$left $(records birth "$tmp/a.ctp" | wc -l) $(said lost "$tmp/err")" '0 3 0'
	like 'the collector says what is missing there' "$(cat "$tmp/err")" \
		"^ctp-collect: process $target is in another PID namespace: .* --sock PATH"
	attach --sock "$tmp/sock" -p "$target"
	tell run 30
	detach INT
	is 'a path that the process can see solves that' \
		"$left $(grep -c -e --sock "$tmp/err") $(ls "$tmp/sock" 2>/dev/null)" '0 0 '
	target=$outer
	end 0
fi

# --- errors ---
refused() { # NAME PATTERN ARG...
	name=$1 pattern=$2
	shift 2
	"$collect" "$@" >"$tmp/b.ctp" 2>"$tmp/err"
	like "$name" "$? $(cat "$tmp/err")" "^125 ctp-collect: $pattern"
}
refused 'no such process' '-p process 2147483647: there is none$' -p 2147483647
refused 'no probe in it' "-p process $$: no probe [(]ctp[.]h[)] has been used in it" -p $$
refused 'no number' '-p x: not a number from 1 to' -p x
refused 'a command too' 'true: no COMMAND can be run with -p' -p $$ true
refused 'a list and a process' '-p and -l exclude each other' -p $$ -l
refused 'a list and a command' 'true: no COMMAND can be run with -l' -l true
refused '--once without -p' '--once needs -p PID$' --once true
for option in '-n 5' '--ring 5' "--shm $tmp/m"; do
	# shellcheck disable=SC2086 # an option and its argument
	refused "${option% *} with -p" "${option% *} is for a COMMAND" $option -p $$
done
export CTP_RECORD=1
start "$tmp/target"
tell new 3
refused 'an output that cannot be opened' "-o $tmp/no/folder" -p $target -o "$tmp/no/folder"
is 'a refused attach leaves the process as it was' "$(state $target)" recording
"$collect" -p $target --once >/dev/full 2>"$tmp/err"
is 'a failed attach leaves the process as it was' "$? $(state $target)" '125 recording'
like 'the failure is reported' "$(cat "$tmp/err")" 'No space left.*the process runs on$'
if root_part 'the target of another user' && can setpriv --reuid 65534 --clear-groups true; then
	chmod 755 "$tmp"
	cp "$collect" "$tmp/ctp-collect" # they may not read our home
	collect=$tmp/ctp-collect
	setpriv --reuid 65534 --clear-groups "$collect" -p $target --once >"$tmp/b.ctp" 2>"$tmp/err"
	like "a process of another user is refused" "$? $(cat "$tmp/err")" "^125 .*process $target: is not ours to look at; run .* as root$"
	setpriv --reuid 65534 --clear-groups "$collect" -l >"$tmp/b.ctp" 2>"$tmp/err"
	is 'an empty list has status 1' "$? $(cat "$tmp/b.ctp")" '1 '
	like 'an empty list is reported' "$(cat "$tmp/err")" '^ctp-collect: no process to attach to'
	like 'the message says how to see more' "$(cat "$tmp/err")" '^ctp-collect: [1-9][0-9]* process(es)? could not be looked at: run as root to see more$'
	is 'it does not if nothing would show more' "$("$collect" -l 2>&1 | grep -c 'run as root')" 0
fi
"$collect" -l >/dev/full 2>"$tmp/err"
is 'a list to a full disk has status 1' "$?" 1
end 0
is 'nothing is left in TMPDIR' "$(ls "$tmp/t")" ''
done_testing
