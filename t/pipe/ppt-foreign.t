#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# A process claims a segment that belongs to another process: ctp-ppt attach, which may be root, does not touch it.
. t/helper/tap.sh
. t/helper/ppt.sh
command -v ipcmk >/dev/null || skip_all 'there is no ipcmk (package util-linux)'
command -v python3 >/dev/null || skip_all 'there is no python3'

ids=
trap 'for id in $ids; do ipcrm -m "$id" 2>/dev/null; done; kill -9 "$pid" 2>/dev/null; rm -rf "$tmp"' EXIT

# segment [MODE]: one of 200,000 bytes, in $id; its creator, $maker, has ended
segment() {
	ipcmk -p "${1:-0600}" -M 200000 >"$tmp/made" 2>&1 &
	maker=$!
	wait $maker || skip_all "$(cat "$tmp/made")"
	id=$(sed 's/[^0-9]*//' "$tmp/made")
	ids="$ids $id"
}

# word: the 13th of the segment, which is nr_perf_ctrs of a control block; "gone": it does not exist, or is marked for removal
word() {
	python3 -c 'import ctypes, sys
libc = ctypes.CDLL(None)
libc.shmat.restype = ctypes.c_void_p
at = libc.shmat(int(sys.argv[1]), None, 0o10000)
print("gone" if at in (None, 2 ** 64 - 1) else ctypes.c_uint32.from_address(at + 48).value)' "$id"
}
is_going() { ipcs -m -i "$id" >"$tmp/ipcs" 2>&1; ! grep -q "shmid=$id" "$tmp/ipcs" || grep -q 'mode=01' "$tmp/ipcs"; }

plant() { # [ro|rw]
	: >"$tmp/said"
	"$O/t/helper/ppt-planted" foreign "$maker" "$id" "$@" >"$tmp/said" 2>&1 &
	pid=$!
	await grep -q ready "$tmp/said"
}
stop() { kill "$pid" && wait "$pid"; } 2>/dev/null

segment
plant
"$ppt" list "$pid" >"$tmp/list" 2>&1 || skip_all "$(cat "$tmp/list")"
like 'the buffer names a segment of a dead agent' "$(cat "$tmp/list")" "^Held +left by $maker, dead "
"$ppt" attach -q -t 0.1 "$pid" Held >"$tmp/out" 2>"$tmp/err"
is 'a segment that the process does not have is not changed' "$(word)" 0
ok '  it exists, and is not removed' eval '! is_going'
like '  the buffer is free again' "$("$ppt" list "$pid")" '^Held +free '
stop

segment
plant ro
"$ppt" attach -q -t 0.1 "$pid" Held >"$tmp/out" 2>"$tmp/err"
is 'a segment that the process has for reading is not changed' "$(word)" 0
ok '  it exists, and is not removed' eval '! is_going'
stop

segment
plant rw
"$ppt" attach -q -t 0.1 "$pid" Held >"$tmp/out" 2>"$tmp/err"
is 'with a segment that the process has for writing, its descriptor 0 is saved' "$(word)" 4294967295
ok '  the segment is removed' is_going
stop

if root_part 'a segment of another user' && can setpriv --reuid 65534 --clear-groups true; then
	chmod 755 "$tmp"
	cp "$O/t/helper/ppt-planted" "$tmp/planted" # where another user finds it
	for how in '' ro rw; do
		segment 0666
		: >"$tmp/said"
		setpriv --reuid 65534 --clear-groups "$tmp/planted" foreign "$maker" "$id" $how >"$tmp/said" 2>&1 &
		pid=$!
		await grep -q ready "$tmp/said"
		"$ppt" attach -q -t 0.1 "$pid" Held >"$tmp/out" 2>"$tmp/err"
		ok "root does not remove the segment of another user: ${how:-unmapped}" eval '! is_going'
		[ "$how" = rw ] || is '  nor does it change it' "$(word)" 0
		stop
	done
fi
done_testing
