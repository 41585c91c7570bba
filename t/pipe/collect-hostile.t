#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# Outputs and targets that try to block the collector or make it open other files.
# Not under sanitizers: it compiles its programs itself.
# Mostly waits.
. t/helper/tap.sh
collect=$BIN/ctp-collect

# --- signals always end the collector -------------------------------------------------------------------------------------------
# Opening a FIFO without a reader blocks; a signal ends the collector all the same.
mkfifo "$tmp/unread"
for signal in TERM INT HUP QUIT; do
	"$collect" -q -o "$tmp/unread" touch "$tmp/ran" 2>"$tmp/err" &
	pid=$!
	tries=0
	until { grep -q 'ctp-collect' "/proc/$pid/comm" && grep -q 'SigBlk:.*[1-9a-f]' "/proc/$pid/status"; } 2>/dev/null ||
		[ $((tries += 1)) -gt 1000 ]; do sleep 0.01; done
	kill -s $signal $pid
	timeout 20 tail --pid=$pid -f /dev/null
	ok "$signal ends a collector whose FIFO has no reader" [ ! -e /proc/$pid/fd/0 ]
	kill -9 $pid 2>/dev/null
	wait $pid 2>/dev/null
	status=$?
	case $signal in # a shell ignores the others in the background: they are noticed, and do not kill
	TERM) is "$signal: and it dies of that" $status 143 ;;
	HUP) is "$signal: and it dies of that" $status 129 ;;
	*) like "$signal: and it is said" "$status $(cat "$tmp/err")" '^125 .*nobody has opened it to read, and a signal came$' ;;
	esac
done
ok 'the command is not run' [ ! -e "$tmp/ran" ]
"$collect" -q -o "$tmp/unread" touch "$tmp/ran" 2>"$tmp/err" &
"$BIN/ctp-stat" "$tmp/unread" >"$tmp/stat"
wait $!
like 'a reader that opens the FIFO late gets a complete stream' "$(cat "$tmp/stat")" '^sections: +1, complete'

# A reader that has opened it and does not read, and more events at the end than the queue holds.
cat >"$tmp/many.c" <<'C'
#include <ctp.h>
#include <pthread.h>
static void *many(void *arg)
{
	struct ctp_coro c;
	ctp_coro_new(&c, (uint64_t)(uintptr_t)arg + 1);
	for (int k = 0; k < 500000; k++) {
		ctp_coro_resume(&c);
		ctp_coro_suspend(&c, CTP_HERE);
	}
	return NULL;
}
int main(void)
{
	enum { THREADS = 24 };
	pthread_t thread[THREADS];
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, many, (void *)(uintptr_t)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
C
cat >"$tmp/busy.c" <<'C'
#include <ctp.h>
int main(void)
{
	struct ctp_coro c;
	for (ctp_coro_new(&c, 1);;) {
		ctp_coro_resume(&c);
		ctp_coro_suspend(&c, CTP_HERE);
	}
}
C
gives_up() { # NAME: the collector $pid ends, without its last packets
	timeout 60 tail --pid=$pid -f /dev/null
	ok "$1" [ ! -e /proc/$pid/fd/0 ]
	kill -9 $pid 2>/dev/null
	wait $pid 2>/dev/null
	is 'the exit status is a failure' $? 125
	like 'the failure is reported' "$(cat "$tmp/err")" 'the last packets were not taken in time'
}
if cc_traced -o "$tmp/many" "$tmp/many.c" 2>/dev/null &&
	cc_traced -o "$tmp/busy" "$tmp/busy.c" 2>/dev/null; then
	sleep 600 <"$tmp/unread" &
	reader=$!
	"$collect" -o "$tmp/unread" sh -c '"$0"; touch "$1"' "$tmp/many" "$tmp/over" 2>"$tmp/err" &
	pid=$!
	tries=0
	until [ -e "$tmp/over" ] || [ $((tries += 1)) -gt 6000 ]; do sleep 0.01; done
	# Its shell has ended then, but may still be a zombie.
	while grep -qs '^State:.[^Z]' $(pgrep -x -P $pid sh | sed 's|.*|/proc/&/status|') /dev/null && [ $((tries += 1)) -lt 6000 ]; do sleep 0.01; done
	kill -s TERM $pid
	gives_up 'TERM ends a collector whose reader has stalled'
	# The same if the signal was for the command, which has ended later.
	rm "$tmp/over"
	"$collect" -o "$tmp/unread" sh -c 'trap "" TERM; "$0"; touch "$1"; until [ -e "$1.go" ]; do sleep 0.1; done' \
		"$tmp/many" "$tmp/over" 2>"$tmp/err" &
	pid=$!
	until [ -e "$tmp/over" ] || [ $((tries += 1)) -gt 9000 ]; do sleep 0.01; done
	kill -s TERM $pid
	sleep 1
	touch "$tmp/over.go"
	gives_up 'so does one that was passed on to the command'
	# With -p, the first signal ends the trace; and when the reader takes nothing for a time, all.
	CTP_RECORD=1 sh -c 'exec "$0" >/dev/null' "$tmp/busy" &
	busy=$!
	until "$collect" -q -p $busy --once >/dev/null 2>&1 || [ $((tries += 1)) -gt 9000 ]; do sleep 0.01; done
	rm -f "$tmp/err"
	"$collect" -p $busy >"$tmp/unread" 2>"$tmp/err" &
	pid=$!
	until grep -qs 'attached to' "$tmp/err" || ! kill -0 $pid; do sleep 0.01; done
	# More than a pipe holds.
	until grep -q '[0-9]\{7\} events' "$tmp/err" || [ $((tries += 1)) -gt 15000 ]; do kill -s USR1 $pid; sleep 0.01; done
	kill -s TERM $pid
	gives_up 'one TERM ends a visit whose reader has stalled'
	kill $busy $reader
fi

# --- files that a target names --------------------------------------------------------------------------------------------------
command -v unshare >/dev/null || { skip 'there is no unshare (package util-linux)'; done_testing; exit; }
ns='unshare -m'
[ "$(id -u)" = 0 ] || ns='unshare -rm'
$ns mount -t tmpfs none /mnt 2>/dev/null || { skip 'no mounts in a namespace of our own'; done_testing; exit; }

# A process with a descriptor that has the name of a probe's memory, but is a FIFO. To open it for writing would wake its reader.
cat >"$tmp/trap.py" <<'PY'
import os, subprocess, sys, time
folder, name = sys.argv[1], sys.argv[1] + '/memfd:ctp (deleted)'
subprocess.check_call(['mount', '-t', 'tmpfs', 'none', folder])
os.mkfifo(name)
place = os.open(name, os.O_PATH)
reader = os.fork()
if not reader:
    os.open(name, os.O_RDONLY)
    os._exit(0)
while open(f'/proc/{reader}/wchan').read() in ('0', '') and open(f'/proc/{reader}/stat').read().split(') ')[1][0] != 'S':
    time.sleep(0.01)
subprocess.check_call(['umount', '-l', folder])
print(os.getpid(), os.readlink(f'/proc/self/fd/{place}'), flush=True)
sys.stdin.readline()
opened = os.waitpid(reader, os.WNOHANG)[0] != 0
print('opened' if opened else 'left alone', flush=True)
if not opened:
    os.kill(reader, 9)
PY
mkdir "$tmp/folder"
mkfifo "$tmp/in" "$tmp/out"
$ns python3 -B "$tmp/trap.py" "$tmp/folder" <"$tmp/in" >"$tmp/out" 2>"$tmp/err" &
exec 8>"$tmp/in" 9<"$tmp/out"
read -r pid link <&9
is 'a FIFO has the name of the memory of a probe' "$link" '/memfd:ctp (deleted)'
timeout 60 "$collect" -l >"$tmp/list" 2>&1
timeout 60 "$collect" -p "$pid" >/dev/null 2>"$tmp/why"
is '-p is refused' $? 125
echo >&8
read -r said <&9
is 'the FIFO was not opened' "$said" 'left alone'
exec 8>&- 9<&-
wait
done_testing
