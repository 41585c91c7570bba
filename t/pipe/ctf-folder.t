#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# ctp-toctf writes its folder completely or not at all: existing folders, -f, a full disk, signals, a kill.
# In check-fast.
. t/helper/tap.sh
from=$BIN/ctp-fromjsonl to=$BIN/ctp-toctf
rows() { awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++)
	printf "{\"probe_id\":%d,\"tid\":1,\"addr\":\"0x%016x\",\"seq\":%d,\"is_active\":%s,\"ts\":%d}\n", 1 + i % 7, i, 1 + int(i / 7), i % 2 ? "true" : "false", i }'; }
rows 100 | "$from" >"$tmp/a.ctp"
cat "$tmp/a.ctp" "$tmp/a.ctp" >"$tmp/two.ctp"
rows 40000 | "$from" >"$tmp/long.ctp"
mkdir "$tmp/d"
here() { (cd "$tmp/d" && find . | sort | tr '\n' ' '); }

# fails NAME SAID WANT_HERE ARGUMENTS...: status 1, one line, and the folder d has the expected files.
fails() {
	name=$1 said=$2 want=$3
	shift 3
	"$to" "$@" >"$tmp/out" 2>"$tmp/err"
	is "$name: status 1" $? 1
	like "$name: it is reported" "$(cat "$tmp/err")" "^ctp-toctf: $said$"
	is "$name: in one line" "$(cat "$tmp/out" "$tmp/err" | wc -l)" 1
	is "$name: nothing else is there" "$(here)" "$want"
}

"$to" "$tmp/a.ctp" 2>"$tmp/err"
is 'without -o: status 2' $? 2
is 'without -o: said' "$(cat "$tmp/err")" 'ctp-toctf: a trace is a folder; name one with -o'
"$to" -o "$tmp/d/t" "$tmp/a.ctp"
is 'a trace: status 0' $? 0
is 'a trace: its files' "$(here)" '. ./t ./t/metadata ./t/stream_0 '
cp -r "$tmp/d/t" "$tmp/first"
one='. ./t ./t/metadata ./t/stream_0 '
fails 'it exists' ".*/d/t: exists and is not empty; remove it, or use -f to replace a trace" "$one" -o "$tmp/d/t" "$tmp/two.ctp"
ok 'an existing folder is not changed' diff -r "$tmp/first" "$tmp/d/t"
ok '-f replaces it' "$to" -f -o "$tmp/d/t" "$tmp/two.ctp"
is '-f leaves nothing of the old folder' "$(here)" '. ./t ./t/0001 ./t/0001/metadata ./t/0001/stream_0 ./t/0002 ./t/0002/metadata ./t/0002/stream_0 '
ok '-f replaces a folder of two sections' "$to" -f -o "$tmp/d/t/" "$tmp/a.ctp"
is '-f leaves nothing of the old sections' "$(here)" "$one"
fails 'an input that is not there' '.*/none: No such file or directory' "$one" -f -o "$tmp/d/t" "$tmp/none"
ok 'a missing input leaves the folder unchanged' diff -r "$tmp/first" "$tmp/d/t"
echo mine >"$tmp/d/t/notes"
fails 'something else in it' '.*/d/t: is not a trace that ctp-toctf wrote, so -f leaves it alone' '. ./t ./t/metadata ./t/notes ./t/stream_0 ' -f -o "$tmp/d/t" "$tmp/a.ctp"
mv "$tmp/d/t/notes" "$tmp/d/t/stream_notes"
fails 'something else with a name like ours' '.*/d/t: is not .*' "$one./t/stream_notes " -f -o "$tmp/d/t" "$tmp/a.ctp"
rm "$tmp/d/t/stream_notes"
echo '/* CTF 1.8 */' >"$tmp/d/t/metadata"
fails 'the trace of another' '.*/d/t: is not .*' "$one" -f -o "$tmp/d/t" "$tmp/a.ctp"
rm -r "$tmp/d/t"
echo mine >"$tmp/d/t"
fails 'a file' '.*/d/t: exists and is no folder' '. ./t ' -f -o "$tmp/d/t" "$tmp/a.ctp"
rm "$tmp/d/t"
mkdir "$tmp/d/t" && mkfifo "$tmp/d/t/metadata"
fails 'a pipe is not waited for' '.*/d/t: is not a trace that ctp-toctf wrote.*' '. ./t ./t/metadata ' -f -o "$tmp/d/t" "$tmp/a.ctp"
rm -r "$tmp/d/t"
mkdir -m 700 "$tmp/d/t"
ok 'an empty folder is used' "$to" -o "$tmp/d/t" "$tmp/a.ctp"
is 'an empty folder keeps its mode' "$(here) $(stat -c %a "$tmp/d/t")" "$one 700"
rm -r "$tmp/d/t"
mkdir "$tmp/real"
ln -s "$tmp/real" "$tmp/d/t"
ok 'a link is followed' "$to" -o "$tmp/d/t" "$tmp/a.ctp"
is 'the link stays a link' "$(readlink "$tmp/d/t") $(ls "$tmp/real" | tr '\n' ' ')" "$tmp/real metadata stream_0 "
rm "$tmp/d/t"
fails 'no parent' '.*/d/x/t: No such file or directory' '. ' -o "$tmp/d/x/t" "$tmp/a.ctp"
fails 'the root' '-o /: cannot be made anew; name a folder that does not exist' '. ' -o / "$tmp/a.ctp"
fails 'no stream' '.*/junk: is no ctp stream' '. ' -q -o "$tmp/d/t" "$(echo junk >"$tmp/junk" && echo "$tmp/junk")"
if ! root_part 'a full disk, a mount point, a read-only file system'; then
	chmod a-w "$tmp/d"
	fails 'a folder that may not be written' '.*/d/t: Permission denied' '. ' -o "$tmp/d/t" "$tmp/a.ctp"
	chmod u+w "$tmp/d"
elif can mount -t tmpfs -o size=600k tmpfs "$tmp/d"; then
	trap 'umount "$tmp/d"; rm -rf "$tmp"' EXIT
	fails 'a full disk' '.*/d/t: after [0-9]* bytes: No space left on device' '. ' -o "$tmp/d/t" "$tmp/long.ctp"
	# A mount point cannot be replaced, which is checked before the work.
	mkdir "$tmp/d/t" && mount -t tmpfs tmpfs "$tmp/d/t"
	fails 'a mount point' '.*/d/t: a file system is mounted there; name a folder in it' '. ./t ' -o "$tmp/d/t" "$tmp/none"
	umount "$tmp/d/t" && rmdir "$tmp/d/t"
	mount -o remount,ro "$tmp/d"
	fails 'a read-only file system' '.*/d/t: Read-only file system' '. ' -o "$tmp/d/t" "$tmp/a.ctp"
	mount -o remount,rw "$tmp/d"
fi

# --- ended by signals -----------------------------------------------------------------------------------------------------
# Reads from a pipe that stays open, so that it is in the middle of its work; stderr is closed when all its processes have ended.
mkfifo "$tmp/in" "$tmp/said"
ended_by() { # SIGNAL
	# A shell has its background commands ignore SIGINT.
	env --default-signal=INT "$to" -o "$tmp/d/t" <"$tmp/in" 2>"$tmp/said" &
	pid=$!
	exec 3>"$tmp/in" 4<"$tmp/said"
	cat "$tmp/a.ctp" >&3
	until ls "$tmp"/d/t.*/0001 >/dev/null 2>&1; do :; done
	kill -s "$1" $pid
	if [ "$1" = INT ]; then
		read -r said <&4
		like 'INT: the first one is only told' "$said" '^ctp-toctf: interrupted: reads on .* interrupt again to stop now$'
		kill -s INT $pid
	fi
	[ "$1" != KILL ] || cat <&4
	wait $pid 2>/dev/null
	is "$1: it dies of the signal" "$(kill -l $?)" "$1"
	is "$1: it leaves no files" "$(here)" '. '
	exec 3>&- 4<&-
}
if env --default-signal=INT true 2>/dev/null; then
	for signal in INT TERM HUP KILL; do ended_by $signal; done
else
	note 'env(1) has no --default-signal: signals are not tried'
fi
# A signal that is ignored, as by nohup(1), stays ignored.
(trap '' HUP && exec "$to" -o "$tmp/d/t" <"$tmp/in") &
pid=$!
exec 3>"$tmp/in"
until ls -d "$tmp"/d/t.* >/dev/null 2>&1; do :; done
cat "$tmp/a.ctp" >&3
kill -s HUP $pid
exec 3>&-
wait $pid
is 'with the signal ignored it does its work' "$? $(here)" "0 $one"
done_testing
