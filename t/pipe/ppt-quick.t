#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# ctp-ppt attach and a process that attaches, saves and ends, or closes its buffer, before the next look: its frames are in our
# segment, and each of them is taken.
. t/helper/tap.sh
. t/helper/ppt.sh
client=$O/t/helper/ppt-client
[ -x "$client" ] || skip_all 'there is no client'
command -v python3 >/dev/null || skip_all 'there is no python3'
running=
trap 'for p in $running; do kill -9 "$p" 2>/dev/null; done; rm -rf "$tmp"' EXIT
taken() { "$BIN/ctp-tojsonl" -a "$1" 2>/dev/null | python3 t/helper/pptjudge.py; }
counts() { awk '{ print $1 ": " $3 " of " $3 + $4 ", wrong " $6 ", " $7 }' | sort; }

# --- as users run it ---------------------------------------------------------------------------------------------------------
"$ppt" attach -v -o "$tmp/out.ctp" Foo -- "$client" -n 60000 -s 500 -r 0 >"$tmp/said" 2>"$tmp/err"
! grep -q 'ptrace_scope\|may not\|not permitted' "$tmp/err" || skip_all "$(cat "$tmp/err")"
for i in $(seq 10); do
	"$ppt" attach -v -o "$tmp/out.ctp" Foo -- "$client" -r 0 -s 500 >"$tmp/said" 2>"$tmp/err"
	echo "$? $(tail -n 1 "$tmp/err")"
done >"$tmp/runs"
is 'a program that saves 500 frames and ends, ten times' "$(sort "$tmp/runs" | uniq -c | xargs)" \
	'10 0 ctp-ppt: 500 frames, 0 lost'

# --- with the agent stopped meanwhile ----------------------------------------------------------------------------------------
switches() { sed -n 's/^voluntary_ctxt_switches:[^0-9]*//p' "/proc/$agent/status"; }
has_ring() { grep -q /SYSV "/proc/$agent/maps"; }
has_turned() { [ "$(switches)" -gt $((before + 20)) ]; }
# between CLIENT-OPTION... -- BUFFER...: the client runs between two looks of the agent, which waits for it to attach
between() {
	rm -f "$tmp"/each-*
	clients=
	while [ "$1" != -- ]; do
		clients="$clients $1"
		shift
	done
	shift
	: >"$tmp/said"
	# shellcheck disable=SC2086 # options
	"$client" $clients >"$tmp/said" 2>&1 &
	pid=$! running="$running $pid"
	await grep -q ready "$tmp/said"
	kill -STOP "$pid"
	"$ppt" attach -v -o "$tmp/each-%b.ctp" "$pid" "$@" 2>"$tmp/err" &
	agent=$! running="$running $agent"
	await has_ring
	before=$(switches)
	await has_turned # so that the segments are published
	kill -STOP "$agent"
	kill -CONT "$pid"
}
resume() { kill -CONT "$agent" && wait "$agent"; }

between -r 0 -s 500 -- Foo
wait "$pid"
resume
is 'a process that has ended before the second look: status' "$?" 0
is 'all its frames are there' "$(join_all >"$tmp/all.ctp"; taken "$tmp/all.ctp" | counts)" 'Foo: 500 of 500, wrong 0, ended'
is 'the last line counts them' "$(tail -n 1 "$tmp/err")" 'ctp-ppt: 500 frames, 0 lost'

between -r 0 -s 60000 -2 -l "$O/t/helper/ppt-client-lib.so" --
wait "$pid"
resume
is 'of three buffers: status' "$?" 0
join_all >"$tmp/all.ctp"
is 'each has all its frames' "$(taken "$tmp/all.ctp" | counts)" "$(for b in Foo FooBar Lib; do
	echo "$b: $(saved $b) of $(saved $b), wrong 0, ended"
done)"

between -r 0 -k 300 -- Foo
wait "$pid" 2>/dev/null
resume
is 'a process that was killed in a frame: status' "$?" 3
is 'that frame is lost, and no other' "$(join_all >"$tmp/all.ctp"; taken "$tmp/all.ctp" | counts)" 'Foo: 299 of 300, wrong 0, ended'

between -l "$O/t/helper/ppt-client-lib.so" -- Lib
attaches() { grep -q 'SYSV.* '"$(sed -n 's,.* \([0-9]*\) */SYSV.*,\1,p' "/proc/$agent/maps")" "/proc/$pid/maps"; }
await attaches
kill -USR2 "$pid"
await grep -q loaded "$tmp/said"
resume
is 'a buffer that was closed before the second look: status' "$?" 0
is 'its frames are there, up to the close' "$(join_all >"$tmp/all.ctp"; taken "$tmp/all.ctp" | awk '{ print $1, ($3 > 0), $4, $6, $7 }')" \
	'Lib 1 0 0 closed'
kill "$pid"

between -b 1000 -- Foo
await grep -q burst "$tmp/said"
kill -TERM "$agent"
resume
is 'a signal before the second look: status' "$?" 0
kill -TERM "$pid"
wait "$pid"
is 'all frames that were saved until then are there' "$(join_all >"$tmp/all.ctp"; taken "$tmp/all.ctp" | counts)" \
	"Foo: $(saved Foo) of $(saved Foo), wrong 0, running"

between -i -- Foo
kill -KILL "$pid"
wait "$pid" 2>/dev/null
resume
is 'a process that ends without a frame: status and message' "$? $(cat "$tmp/err")" \
	"1 ctp-ppt: process $pid: has ended, and saved no frame before"
done_testing
