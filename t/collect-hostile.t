#!/bin/sh
# Targets that would have the collector open what is theirs to choose.
. t/tap.sh
collect=$BIN/ctp-collect
command -v unshare >/dev/null || skip_all 'there is no unshare (package util-linux)'
ns='unshare -m'
[ "$(id -u)" = 0 ] || ns='unshare -rm'
$ns mount -t tmpfs none /mnt 2>/dev/null || skip_all 'no mounts in a namespace of our own'

# A process with a descriptor that calls itself a probe's memory, and is a FIFO. To open it for writing would wake its reader.
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
is 'a FIFO has the name of a memory' "$link" '/memfd:ctp (deleted)'
timeout 60 "$collect" -l >"$tmp/list" 2>&1
timeout 60 "$collect" -p "$pid" >/dev/null 2>"$tmp/why"
is '-p is refused' $? 125
echo >&8
read -r said <&9
is 'and was not opened' "$said" 'left alone'
exec 8>&- 9<&-
wait
done_testing
