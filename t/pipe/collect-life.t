#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# ctp-collect with programs that fork, exec, become daemons, get signals or are killed; a collector that is killed; outputs that
# fail.
. t/helper/tap.sh
collect=$BIN/ctp-collect tracee=$O/t/helper/tracee
export TMPDIR="$tmp/t"
mkdir "$tmp/t"
mkfifo "$tmp/before" "$tmp/after" "$tmp/pub" "$tmp/pipe" "$tmp/say"
sum() { awk '{ n += $1 } END { print n + 0 }' "$1"; }
transitions() { "$BIN/ctp-tojsonl" -q "$1" 2>/dev/null | wc -l; }
total() { awk '$3 == "events," { print $2 + $6 }' "$1"; } # read and lost, from a closing line
records() { "$BIN/ctp-tojsonl" -q -a "$2" 2>/dev/null | grep "^{\"type\":\"$1\""; }
gone() { # PID: no child of ours, so it cannot be waited for; a zombie is gone too
	while state=$(sed 's/.*) \(.\).*/\1/' "/proc/$1/stat" 2>/dev/null) && [ "$state" != Z ]; do sleep 0.01; done
}
child() { # COLLECTOR NAME: its child of that name
	for c in $(cat "/proc/$1/task/$1/children"); do
		[ "$(cat "/proc/$c/comm" 2>/dev/null)" = "$2" ] && echo "$c"
	done
}
keeper_of() { # COLLECTOR: waits until it has its name, which it sets last
	until keeper=$(child "$1" ctp-keeper); [ -n "$keeper" ]; do :; done
}

# --- every event is read or counted as lost ---
accounted() { # NAME TRACEE-OPTION...
	name=$1
	shift
	rm -f "$tmp/n"
	"$collect" "$tracee" -p "$tmp/n" "$@" >"$tmp/a.ctp" 2>"$tmp/err"
	is "$name: every event is read or counted as lost" "$(total "$tmp/err")" "$(sum "$tmp/n")"
	is "$name: ${lines:-1} counts of events were written" "$(wc -l <"$tmp/n")" "${lines:-1}"
}
for dialect in seqlock plain; do
	accounted "$dialect, exits at once" -d $dialect -e 5
	lines=5 accounted "$dialect, forks" -d $dialect -f 4 -c 20 -e 200
	lines=3 accounted "$dialect, execs" -d $dialect -x 2 -c 20 -e 200
	accounted "$dialect, reconnects" -d $dialect -s 50 -c 20 -e 200
	accounted "$dialect, closes its socket" -d $dialect -S -c 20 -e 200
	accounted "$dialect, never connects" -d $dialect -u -c 20 -e 200
	accounted "$dialect, leaves a daemon" -d $dialect -D -c 20 -e 200
	accounted "$dialect, leaves a daemon without a socket" -d $dialect -D -u -c 20 -e 200
done
cp "$tracee" "$tmp/another"
TRACEE_EXEC=$tmp/another "$collect" -v "$tracee" -x 1 -e 5 -a "$tmp/after" >"$tmp/a.ctp" 2>"$tmp/say" &
exec 3<"$tmp/say"
for _ in 1 2; do
	read -r _ <&3 # it has connected, and was read
	: >"$tmp/after"
done
wait $!
exec 3<&-
is 'the mappings of a process that execs are recorded again' "$(records mapping "$tmp/a.ctp" | grep -c '/tracee"\|/another"')" 2
for _ in 1 2 3 4 5; do # a collector that does not run for 0.2 s sees the end alone
	"$collect" -q "$tracee" -F -e 400 -r 2000 >"$tmp/a.ctp"
	[ -z "$(records conflict "$tmp/a.ctp")" ] || break
done
is 'two writers in one station are recorded' "$(records conflict "$tmp/a.ctp" | wc -l)" 1
distrust='the numbers of 1 coroutine may be wrong'
for form in '' -m -j; do
	# shellcheck disable=SC2086
	like "the report explains two writers $form" "$("$BIN/ctp-report" -q $form "$tmp/a.ctp")" "$distrust"
done
like 'the report counts them' "$("$BIN/ctp-report" -q -j "$tmp/a.ctp")" '"conflicts":1[,}]'

# --- a target that is killed ---
"$collect" "$tracee" -d plain -c 10 -e 100 -k 537 >"$tmp/a.ctp" 2>"$tmp/err"
is 'the exit status shows that the target was killed' $? 137
is 'every event of a killed target is read or counted as lost' "$(total "$tmp/err")" 537
"$collect" "$tracee" -c 10 -e 100 -k 537 -h >"$tmp/a.ctp" 2>"$tmp/err"
is 'a half-written event of a killed target is no event' "$(total "$tmp/err")" 536
like 'the stream has its end, with the signal' "$(records end "$tmp/a.ctp")" '"outcome":"killed","status":9'

# --- signals ---
cat >"$tmp/trap" <<EOF
trap 'kill \$!; exit 7' TERM
trap 'kill \$!; exit 8' USR2
sleep 1000 &
echo ready >"$tmp/say"
wait
EOF
for want in TERM:7 USR2:8; do
	"$collect" -q -o "$tmp/a.ctp" sh "$tmp/trap" >/dev/null 2>&1 &
	read -r _ <"$tmp/say"
	kill -"${want%:*}" $!
	wait $!
	is "SIG${want%:*} is passed on" $? "${want#*:}"
	like '  the signal is recorded' "$("$BIN/ctp-tojsonl" -a "$tmp/a.ctp" 2>/dev/null)" "\"signal\":\"SIG${want%:*}\""
done
"$collect" -q sh -c "echo \$\$ >'$tmp/say'; exec '$tracee' -a '$tmp/after'" >"$tmp/a.ctp" &
read -r _ <"$tmp/say"
kill $!
wait $! 2>/dev/null
is 'the collector dies of the same signal as the command' $? 143

"$collect" "$tracee" -c 3 -e 5 -p "$tmp/pub" -a "$tmp/after" >"$tmp/a.ctp" 2>"$tmp/say" &
pid=$!
exec 3<"$tmp/say"
read -r _ <"$tmp/pub"
kill -USR1 $pid
read -r line <&3
like 'SIGUSR1 prints the totals' "$line" '^ctp-collect: [0-9]+ events, [0-9]+ coroutines, 0 lost, 0 untraced, [0-9.]+ s'
: >"$tmp/after"
wait $pid
is 'SIGUSR1 changes nothing' $? 0
exec 3<&-

# A daemon that stays: the collector stays too, until a signal, which has no command to go to.
"$collect" "$tracee" -D -e 5 -p "$tmp/pub" -a "$tmp/after" >"$tmp/a.ctp" 2>"$tmp/err" &
pid=$!
read -r _ <"$tmp/pub"
while [ -n "$(child $pid tracee)" ]; do :; done
kill $pid
wait $pid
is 'with only a daemon left, a signal ends the trace' "$? $(total "$tmp/err")" '0 5'
like 'the trace has an end record' "$(records end "$tmp/a.ctp")" '"type":"end"'
: >"$tmp/after"

# --- -t ---
for limit in 1 20; do # the longer one if the command was too slow
	cat "$tmp/pipe" >"$tmp/a.ctp" &
	reader=$!
	"$collect" -q -t $limit "$tracee" -e 5 -a "$tmp/after" -X 9 >"$tmp/pipe" &
	pid=$!
	wait $reader
	kill -0 $pid
	alive=$?
	: >"$tmp/after"
	wait $pid
	status=$?
	[ "$(transitions "$tmp/a.ctp")" != 5 ] || break
done
is '-t ends the stream while the command runs' $alive 0
like 'the end record says that it runs' "$(records end "$tmp/a.ctp")" '"outcome":"running"'
is 'the stream has the events so far' "$(transitions "$tmp/a.ctp")" 5
is "the collector exits with the command's status" $status 9
"$collect" -t 0.01 "$tracee" -a "$tmp/after" 2>"$tmp/say" >/dev/null &
exec 3<"$tmp/say"
read -r line <&3
like 'the collector says what it waits for' "$line" "^ctp-collect: trace ended by -t; waiting for $tracee [(]pid [0-9]+[)]$"
: >"$tmp/after"
read -r line <&3
like 'the closing line comes at the end' "$line" '^ctp-collect: [0-9]+ events, '
wait $!
exec 3<&-
slow= # the end of the memory takes long, for as many as want to see what is in between
can strace -o /dev/null true && slow='strace -o /dev/null -e trace=dup3 -e inject=dup3:delay_enter=300000'
# shellcheck disable=SC2016,SC2086
$slow "$collect" -q -t 0.01 sh -c 'while readlink "$CTP_SHM_PATH" | grep -q memfd; do :; done; cat "$CTP_SHM_PATH"' >/dev/null 2>"$tmp/cat"
like 'the memory cannot be opened after its end, nor anything in its place' "$? $(grep cat: "$tmp/cat")" '^1 .*(No such device|Permission denied)'
# A program that connects when the end is written, and waits.
cat >"$tmp/late.py" <<'PY'
import os, socket, subprocess, sys, time
if sys.argv[1] == 'late':
    while 'memfd' in os.readlink(os.environ['CTP_SHM_PATH']):
        pass
    late = socket.socket(socket.AF_UNIX)
    late.connect(os.environ['CTP_SOCK_PATH'])
    time.sleep(0.2)  # so that it is noticed
    os.write(int(sys.argv[2]), b'x')
    sys.exit(7)
out, end = socket.socketpair()
hear, said = os.pipe()
end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)
collect = subprocess.Popen([sys.argv[1], '-q', '-t', '0.01', 'python3', '-B', sys.argv[0], 'late', str(said)] + 40 * ['x' * 1000],
                           stdout=end, pass_fds=[said])
end.close()
os.close(said)
os.read(hear, 1)
while out.recv(65536):
    pass
print(collect.wait())
PY
is 'a program that connects after the end changes nothing' "$(timeout 60 python3 -B "$tmp/late.py" "$collect" 2>&1)" 7

# --- a collector that is killed: the target does not die of SIGPIPE ---
"$collect" "$tracee" -e 5 -b "$tmp/before" -p "$tmp/pub" >"$tmp/pipe" 2>/dev/null &
pid=$!
cat "$tmp/pipe" >"$tmp/a.ctp" &
reader=$!
exec 4>"$tmp/before" # it is attached, and waits
keeper_of $pid
kill -9 $pid
wait $reader
ok 'the reader of the stream sees its end at once' kill -0 "$keeper"
like 'the stream is reported as truncated' "$("$BIN/ctp-tojsonl" "$tmp/a.ctp" 2>&1 >/dev/null; echo $?)" '3$'
exec 4>&-
read -r n <"$tmp/pub"
is 'the target lives on' "$n" 5
ok 'its keeper process ends with it' gone "$keeper"
is 'no file is left behind' "$(ls "$tmp/t")" ''

"$collect" --shm "$tmp/m" --sock "$tmp/s" "$tracee" -b "$tmp/before" -p "$tmp/pub" >/dev/null 2>&1 &
pid=$!
exec 4>"$tmp/before"
keeper_of $pid
kill -9 $pid
exec 4>&-
read -r n <"$tmp/pub"
gone "$keeper"
is 'paths given by options are removed, even then' "$n $(ls "$tmp/m" "$tmp/s" 2>/dev/null)" '100 '

# --- an output that fails ---
rm -f "$tmp/n"
{ "$collect" "$tracee" -c 100 -e 2000 -b "$tmp/before" -p "$tmp/n" 2>"$tmp/err"; echo $? >"$tmp/status"; } | {
	head -c 100 >/dev/null
	exec </dev/null # now there is no reader
	: >"$tmp/before"
}
is 'a closed pipe gives status 125' "$(cat "$tmp/status")" 125
is 'the command runs to its end' "$(cat "$tmp/n")" 200000
like 'the closed pipe is reported' "$(cat "$tmp/err")" 'ctp-collect: stdout: .*Broken pipe'
like 'the message says what helps' "$(cat "$tmp/err")" \
	'^ctp-collect: the reader of the pipe has ended before the trace; -o FILE needs no reader$'
like 'the closing line mentions it' "$(tail -n 1 "$tmp/err")" \
	'^ctp-collect: [0-9]+ events harvested, .* s; the stream is NOT complete$'
rm -f "$tmp/n"
"$collect" "$tracee" -p "$tmp/n" >/dev/full 2>"$tmp/err"
is 'a full disk gives status 125' $? 125
is 'with a full disk the command runs to its end' "$(wc -l <"$tmp/n")" 1 # traced or not: we may be through before it is there
like 'the full disk is reported' "$(cat "$tmp/err")" 'ctp-collect: stdout: .*No space left'
is 'no other reason is reported' "$(grep -c 'no process attached' "$tmp/err")" 0

# --- hostile ---
"$collect" --shm "$tmp/m" "$tracee" -c 100 -e 1000 -r 100000 -t -X 4 >"$tmp/a.ctp" 2>"$tmp/err"
is 'a target that truncates the memory harms only itself' $? 4
like 'the truncation is reported' "$(cat "$tmp/err")" 'was truncated'
like 'the stream has its end' "$(records end "$tmp/a.ctp")" '"type":"end"'
"$collect" -q "$tracee" -t >/dev/null 2>"$tmp/err"
is 'the memory without a name cannot be truncated' "$? $(cat "$tmp/err")" '99 ftruncate: Operation not permitted'
done_testing
