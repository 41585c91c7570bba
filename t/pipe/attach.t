#!/bin/sh
# ctp-collect -p and -l: attached to, left and attached to again; stopped, hung, abandoned by a collector that was killed; and
# whatever happens, the program does as it always does.
# Mostly waits.
. t/helper/tap.sh
collect=$BIN/ctp-collect
export TMPDIR="$tmp/t"
mkdir "$tmp/t"
CC=${CC:-cc}
command -v "$CC" >/dev/null || skip_all "there is no $CC"
"$CC" -std=gnu11 -O1 -Isdk/c -pthread -o "$tmp/target" t/helper/attach/target.c 2>"$tmp/err" || skip_all "$CC: $(head -n 1 "$tmp/err")"

line=$(grep -n 'the place that' t/helper/attach/target.c | sed 's/:.*//')
records() { "$BIN/ctp-tojsonl" -q -a "$2" 2>/dev/null | grep "^{\"type\":\"$1\""; }
transitions() { "$BIN/ctp-tojsonl" -q "$1" 2>/dev/null | wc -l; }
said() { sed -n "s/.*[ :]\([0-9][0-9]*\) $1.*/\1/p" "$2" | tail -n 1; } # said lost FILE: the number before that word
start() { # COMMAND...: $target is its process
	rm -f "$tmp/in" "$tmp/out"
	mkfifo "$tmp/in" "$tmp/out"
	"$@" <"$tmp/in" >"$tmp/out" 2>"$tmp/errors" &
	target=$!
	exec 5>"$tmp/in" 6<"$tmp/out"
}
tell() { # WORD NUMBER: when it returns that is done
	echo "$@" >&5
	read -r reply <&6
}
end() { # STATUS: ends it; $ended is what it ended with
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

# --- what it remembers ---
export CTP_RECORD=1
start "$tmp/target"
tell new 3
tell run 30 # 20 events for each
tell wake 1
before=$(descriptors)
is 'a process that records is listed as such' "$(state $target)" recording
like 'with its coroutines and its command' "$("$collect" -l | grep "$tmp/target")" "^ *$target recording +3 +0 $(id -un) +$(stat -Lc %i /proc/self/ns/pid) $tmp/target$"
"$collect" -p $target --once >"$tmp/a.ctp" 2>"$tmp/err"
is '--once ends with status 0' $? 0
like 'and a closing line' "$(cat "$tmp/err")" '^ctp-collect: [0-9]+ events, 3 coroutines, 0 lost, 0 untraced, [0-9.]+ s$'
is 'each coroutine comes with a birth' "$(records birth "$tmp/a.ctp" | wc -l)" 3
is 'and a name' "$(records name "$tmp/a.ctp" | grep -c '"name":"worker [012]"')" 3
n=$(transitions "$tmp/a.ctp") # of the oldest it cannot be proved everywhere that it is whole
ok "its newest events, eight or one less: $n" test "$n" -ge 21 -a "$n" -le 24
like 'of which the last says where it is suspended' "$(records transition "$tmp/a.ctp" | tail -n 1)" '"is_active":false'
like 'by file, line and function' "$(records site "$tmp/a.ctp")" \
	'"file":"t/helper/attach/target.c","line":'"$line"',"function":"read_socket"'
like 'who was woken last is known' "$(records wake "$tmp/a.ctp")" '"probe_id":1001'
like 'the section says whose it is' "$("$BIN/ctp-tojsonl" -a "$tmp/a.ctp" 2>/dev/null | head -n 1)" \
	"\"pid\":\"$target\".*\"attached\":\"yes\".*\"argv\":\\[\"$tmp/target\"\\]"
like 'the end says that it runs on' "$(records end "$tmp/a.ctp")" '"lost":0,.*"outcome":"running"'
like 'the mappings are there' "$(records mapping "$tmp/a.ctp")" "\"path\":\"$tmp/target\""
is 'and it is as it was' "$(state $target)" recording

# --- followed, left, followed again ---
for signal in INT TERM; do
	attach -p $target
	tell run 3000
	detach $signal
	is "SIG$signal: detached with status 0" $left 0
	n=$(transitions "$tmp/a.ctp")
	is 'everything since is there, after what it remembered' \
		"$((n - 6000 > 18 && n - 6000 <= 24)) $(said lost "$tmp/err")" '1 0'
	is 'with the threads' "$(records thread "$tmp/a.ctp" | grep -c '"name":"target"')" 1
	is 'and it records as before' "$(state $target)" recording
done
printf '#!/bin/sh\nexec strace -D -o /dev/null -e trace=write -e inject=write:delay_exit=200000 "%s" "$@"\n' "$collect" \
	>"$tmp/slow"
chmod +x "$tmp/slow"
if "$tmp/slow" -V >/dev/null 2>&1; then # it goes on some time after each of its words
	collect=$tmp/slow attach -p $target
	tell run 3000
	detach INT
	n=$(transitions "$tmp/a.ctp")
	ok "from its word on everything is there: $n" test "$n" -gt 6018 -a "$n" -le 6024
fi
attach -p $target
is 'who collects is told' "$(state $target)" "collected by $collector"
"$collect" -p $target >"$tmp/b.ctp" 2>"$tmp/other"
is 'a second collector is refused' "$? $(cat "$tmp/other")" \
	"125 ctp-collect: -p process $target: another collector is attached to it (pid $collector)"
"$collect" -p $collector >"$tmp/b.ctp" 2>"$tmp/other"
is 'nor is there one to be attached to' "$? $(cat "$tmp/other")" "125 ctp-collect: -p process $collector: is a collector"
is 'it is not listed' "$(state $collector)" ''

# --- a collector that is killed ---
tell run 30
detach KILL
tell run 30
is 'a killed collector leaves a process that can be attached to' "$(state $target)" recording
attach -p $target
tell run 30
tell new 2
tell die 1 # last, so that nobody gets its station
detach INT
is 'which is followed as if nothing had been' "$left $(said lost "$tmp/err") $(records birth "$tmp/a.ctp" | wc -l)" '0 0 5'
is 'with its deaths' "$(records death "$tmp/a.ctp" | wc -l)" 1

# --- no probe will ever run again ---
kill -STOP $target
"$collect" -p $target --once >"$tmp/a.ctp" 2>"$tmp/err"
is 'stopped by SIGSTOP: the last states come out' "$? $(records birth "$tmp/a.ctp" | wc -l) $(said lost "$tmp/err")" '0 5 0'
"$collect" -p $target -t 0.1 >"$tmp/a.ctp" 2>"$tmp/err"
is '-t ends it' "$? $(records birth "$tmp/a.ctp" | wc -l) $(said lost "$tmp/err")" '0 5 0'
kill -CONT $target
tell hang 0
"$collect" -p $target --once >"$tmp/a.ctp" 2>"$tmp/err"
is 'in a deadlock: the last states come out' "$? $(records birth "$tmp/a.ctp" | wc -l) $(said lost "$tmp/err")" '0 5 0'
is 'with their names' "$(records name "$tmp/a.ctp" | grep -c '"name":"worker [01234]"')" 5
is 'and who is dead, for nobody has its station yet' "$(records death "$tmp/a.ctp" | wc -l)" 1
is 'all suspended' "$(records transition "$tmp/a.ctp" |
	sed 's/.*"probe_id":\([0-9]*\),.*"is_active":\([a-z]*\).*/\1 \2/' | awk '
	{ last[$1] = $2 } END { for (i in last) print last[i] }' | sort | uniq -c | tr -s ' ')" ' 5 false'
ok 'nothing was left open in it but one descriptor' test "$(descriptors)" -le $((before + 1))
attach -p $target
kill -9 $target
wait $collector
is 'a process that is killed ends the trace in order' $? 0
like 'with an end' "$(records end "$tmp/a.ctp")" '"outcome":"ended"'
exec 5>&- 6<&-
wait $target 2>/dev/null

# --- who waits for whom ---
"$CC" -std=gnu11 -O1 -Isdk/c -pthread -o "$tmp/cycle" t/defects/cycle.c 2>"$tmp/err"
mkfifo "$tmp/says"
"$tmp/cycle" bug >"$tmp/says" &
target=$!
read -r _ <"$tmp/says"
"$collect" -p $target --once >"$tmp/a.ctp" 2>"$tmp/err"
is 'three that wait for each other: the last states say so' "$? $(records await "$tmp/a.ctp" |
	sed 's/.*"coro":\([0-9]*\),"target":\([0-9]*\),.*/\1 \2/' | sort -n | awk '
	NR == 1 { before = $1 - 1 } { print $1 - before, $2 - before }' | paste -sd,)" '0 1 2,2 3,3 1'
like 'and a report' "$("$BIN/ctp-report" "$tmp/a.ctp" 2>&1)" '3 coroutines wait for one another in a circle'
kill -KILL $target
wait $target 2>/dev/null

# --- what dies while we are there is not left lying about ---
start "$tmp/target"
tell new 3
attach -p $target
kill -STOP $collector # so that it hears of their death and of its own end at once
tell die 3
kill -INT $collector
kill -CONT $collector
wait $collector
is 'deaths are seen to the last moment' "$? $(records death "$tmp/a.ctp" | wc -l)" '0 3'
tell new 3
"$collect" -q -p $target --once >"$tmp/a.ctp"
is 'and those who come later find new stations, so that who comes after these hears of the dead' \
	"$(records birth "$tmp/a.ctp" | wc -l) $(records death "$tmp/a.ctp" | wc -l)" '6 3'
end 0

# --- one that does not record ---
unset CTP_RECORD
start "$tmp/target"
tell new 3
is 'a process that does not record is idle' "$(state $target)" idle
attach -p $target
tell run 30
detach INT
like 'it is said that it did not' "$(cat "$tmp/err")" "^ctp-collect: process $target was started without CTP_RECORD=1: "
is 'what it does while we look is there' "$(transitions "$tmp/a.ctp") $(said lost "$tmp/err")" '60 0'
is 'and then it is idle again' "$(state $target)" idle
tell die 3
attach -p $target
tell new 2
kill -9 $collector
wait $collector 2>/dev/null
"$collect" -q -p $target --once >"$tmp/a.ctp"
is 'who was killed has not made it record for ever' "$(state $target)" idle
is 'what it had recorded is known' "$(records birth "$tmp/a.ctp" | wc -l)" 2
end 7
is 'it ends as it always does' $ended 7

CTP_RECORD=0 start "$tmp/target"
tell new 3
is 'CTP_RECORD=0: there is nothing to attach to' "$(state $target)" ''
end 0

# --- the processes of a collector that is killed, or has ended ---
start "$collect" -o "$tmp/b.ctp" "$tmp/target"
tell new 3
collector=$target
target=$(sed 's/ .*//' "/proc/$collector/task/$collector/children")
[ "$(cat "/proc/$target/comm")" = target ] || target=$(sed 's/.* \([0-9]*\) .*/\1/' "/proc/$collector/task/$collector/children")
is 'what a collector has started is collected by it' "$(state "$target")" "collected by $collector"
"$collect" -p "$target" >"$tmp/a.ctp" 2>"$tmp/err"
is 'and by nobody else' "$?" 125
tell run 30
kill -9 $collector
wait $collector 2>/dev/null
"$collect" -p "$target" --once >"$tmp/a.ctp" 2>"$tmp/err"
is 'until that is killed' "$? $(records birth "$tmp/a.ctp" | wc -l) $(records name "$tmp/a.ctp" | wc -l)" '0 3 3'
attach -p "$target"
tell run 300
detach INT
ok 'and then it can be followed' test "$(transitions "$tmp/a.ctp")" -gt 600
echo x 0 >&5
exec 5>&- 6<&-

start "$collect" -q -t 0.05 -o "$tmp/b.ctp" "$tmp/target"
tell new 3
until "$BIN/ctp-tojsonl" -q "$tmp/b.ctp" >/dev/null 2>&1; do :; done # it has its end
command=$target target=$("$collect" -l | sed -n "s,^ *\([0-9]*\) .* $tmp/target\$,\1,p")
is '-t lets go of it' "$(state "$target")" idle
attach -p "$target"
tell run 30
detach INT
like 'so that another may come' "$left $(transitions "$tmp/a.ctp")" '^0 6[0-3]$' # each of the 3 may be from before or after
target=$command
end 5
is "and in the end there is the command's status" $ended 5

# --- the program does as it always does ---
script='new 80 run 1000 wake 5 die 50 run 500 new 20 x 3'
echo "new 20 $script" | "$tmp/target" >"$tmp/want" 2>&1
want=$?
start "$tmp/target"
tell new 20
attach -p $target
echo "$script" >&5
{ echo "$reply" && cat <&6; } >"$tmp/got"
wait $target
is 'attached to, it says and ends with the same' "$? $(cmp "$tmp/got" "$tmp/want" 2>&1)" "$want "
wait $collector
is 'and the collector ends with it' $? 0
is 'and has all of it' "$(transitions "$tmp/a.ctp") $(said lost "$tmp/err")" '3100 0'
exec 5>&- 6<&-

start "$tmp/target"
tell new 20
attach -p $target
tell run 300
echo e 0 >&5
wait $collector
is 'a process that becomes another program is left' "$? $(transitions "$tmp/a.ctp") $(said lost "$tmp/err")" '0 600 0'
like 'which is not its end' "$(records end "$tmp/a.ctp")" '"outcome":"running"'
ok 'but it lives' kill -0 $target
exec 5>&- 6<&-
wait $target

start "$tmp/target"
tell new 20
attach --sock "$tmp/sock" -p $target
rm "$tmp/sock" # before it has made a connection
echo e 0 >&5
wait $collector
is 'nor need it have made a connection' $? 0
exec 5>&- 6<&-
wait $target

if root_part 'a target in another PID namespace' && command -v unshare >/dev/null && unshare --pid --fork true 2>/dev/null; then
	CTP_RECORD=1 start unshare --pid --fork "$tmp/target"
	tell new 3
	outer=$target target=$("$collect" -l | sed -n "s,^ *\([0-9]*\) .* $tmp/target\$,\1,p")
	is 'the list shows its PID namespace' "$("$collect" -l | sed -n "s,^ *$target .* \([0-9]*\) $tmp/target\$,\1,p")" \
		"$(stat -Lc %i "/proc/$target/ns/pid")"
	attach -p "$target"
	tell run 30
	detach INT
	is 'a process in another PID namespace' "$left $(records birth "$tmp/a.ctp" | wc -l) $(said lost "$tmp/err")" '0 3 0'
	like 'it is said what it lacks there' "$(cat "$tmp/err")" \
		"^ctp-collect: process $target is in another PID namespace: .* --sock PATH"
	attach --sock "$tmp/sock" -p "$target"
	tell run 30
	detach INT
	is 'a path that it sees makes up for that' "$left $(grep -c -e --sock "$tmp/err") $(ls "$tmp/sock" 2>/dev/null)" '0 0 '
	target=$outer
	end 0
fi

# --- what cannot be ---
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
is 'leaves it as it was' "$(state $target)" recording
"$collect" -p $target --once >/dev/full 2>"$tmp/err"
is 'so does one that fails' "$? $(state $target)" '125 recording'
like 'which is said' "$(cat "$tmp/err")" 'No space left.*the process runs on$'
if root_part 'the target of another user' && command -v setpriv >/dev/null && setpriv --reuid 65534 --clear-groups test -x "$collect"; then
	setpriv --reuid 65534 --clear-groups "$collect" -p $target --once >"$tmp/b.ctp" 2>"$tmp/err"
	like "another user's" "$? $(cat "$tmp/err")" "^125 .*process $target: is not ours to look at; run .* as root$"
	setpriv --reuid 65534 --clear-groups "$collect" -l >"$tmp/b.ctp" 2>"$tmp/err"
	is 'there is nothing to list: status 1' "$? $(cat "$tmp/b.ctp")" '1 '
	like 'which is said too' "$(cat "$tmp/err")" '^ctp-collect: no process to attach to'
	like 'and what would show more' "$(cat "$tmp/err")" '^ctp-collect: [1-9][0-9]* process(es)? could not be looked at: run as root to see more$'
	is 'not where nothing would' "$("$collect" -l 2>&1 | grep -c 'try as root')" 0
fi
"$collect" -l >/dev/full 2>"$tmp/err"
is 'a list to a full disk' "$?" 1
end 0
is 'nothing is left in TMPDIR' "$(ls "$tmp/t")" ''
done_testing
