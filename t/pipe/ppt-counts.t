#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# The summary of ctp-ppt: frames by buffer, and why frames are missing.
. t/helper/tap.sh
. t/helper/ppt.sh
client=$O/t/helper/ppt-client
[ -x "$client" ] || skip_all 'there is no client'

pid=
trap '[ -z "$pid" ] || kill -9 $pid 2>/dev/null; rm -rf "$tmp"' EXIT
# begin ARGUMENT...: a client, its number in $pid. What it says goes to $tmp/said, by a pipe whose first line says that it runs.
begin() {
	rm -f "$tmp/pipe"
	mkfifo "$tmp/pipe"
	"$client" "$@" >"$tmp/pipe" 2>/dev/null </dev/null &
	pid=$!
	exec 3<"$tmp/pipe"
	read -r first <&3
}
finish() { # ends it, if it still runs
	kill -TERM "$pid" 2>/dev/null
	cat <&3 >"$tmp/said"
	exec 3<&-
	wait "$pid" 2>/dev/null
	pid=
}
# counted BUFFER: "FRAMES LOST" of its line in $tmp/err; without a name, of the last
counted() {
	if [ $# = 1 ]; then sed -n "s/^ctp-ppt: $1: \([0-9]*\) frames, \([0-9]*\) lost.*/\1 \2/p" "$tmp/err"
	else sed -n '$s/^ctp-ppt: \([0-9]*\) frames, \([0-9]*\) lost.*/\1 \2/p' "$tmp/err"; fi
}

# --- buffers ---------------------------------------------------------------------------------------------------------------
begin -2 -s 2000
"$ppt" list "$pid" >"$tmp/list" 2>&1 || skip_all "$(cat "$tmp/list")"
"$ppt" attach -v -o "$tmp/two-%b.ctp" "$pid" 2>"$tmp/err"
is 'two buffers: status' $? 0
finish
is 'each buffer has a line' "$(counted Foo), $(counted FooBar)" "$(saved Foo) 0, $(saved FooBar) 0"
is 'the last line is the sum' "$(counted)" "$(($(saved Foo) + $(saved FooBar))) 0"
begin -s 1000
"$ppt" attach -v -o "$tmp/one.ctp" "$pid" Foo 2>"$tmp/err"
finish
is 'of one buffer there is one line' "$(grep -c ' frames, ' "$tmp/err") $(counted)" "1 $(saved Foo) 0"
begin -2 -r 0
"$ppt" attach -n 16 -t 1 -o "$tmp/lost-%b.ctp" "$pid" 2>"$tmp/err"
is 'frames that are lost: status' $? 3
finish
like 'a buffer has its losses by cause' "$(cat "$tmp/err")" '^ctp-ppt: Foo: [0-9]+ frames, [1-9][0-9]* lost: [0-9]+ overwritten'
is 'and the last line is their sum' "$(counted)" "$({ counted Foo; counted FooBar; } | awk '{ a += $1; b += $2 } END { print a, b }')"
like 'the remedy is named once' "$(grep -c -- 'give more slots with -n' "$tmp/err") $(tail -1 "$tmp/err")" '^1 .*; give more slots with -n$'

# --- truncated files ----------------------------------------------------------------------------------------------------
# in_file BUFFER FILE: frames that can be read from it
in_file() { "$BIN/ctp-tojsonl" -aq "$2" 2>/dev/null | grep -c "\"type\":\"ppt_${1}_"; }
if command -v prlimit >/dev/null; then # more than Foo's file has, and less than the other's
	begin -2 -s 3000
	(trap '' XFSZ; exec prlimit --fsize=55000 "$ppt" attach -v -o "$tmp/some-%b.ctp" "$pid") 2>"$tmp/err"
	is 'one file of two fails: status' $? 3
	finish
	is 'the reason is reported once' "$(grep -c 'File too large' "$tmp/err") $(sed -n 's/^ctp-ppt: FooBar: what it saves is lost from now on: .*\(some-FooBar.ctp\): .*/\1/p' "$tmp/err")" \
		'1 some-FooBar.ctp'
	in=$(in_file FooBar "$tmp/some-FooBar.ctp")
	is 'frames that are not in the file do not count as written' "$(counted FooBar)" "$in $(($(saved FooBar) - in))"
	like 'the summary counts them as lost' "$(tail -1 "$tmp/err")" '^ctp-ppt: [0-9]+ frames, ([0-9]+) lost: [0-9]+ not written$'
	is 'the other file is complete' "$(counted Foo) $(in_file Foo "$tmp/some-Foo.ctp")" "$(saved Foo) 0 $(saved Foo)"
fi
if [ -e /dev/full ]; then
	begin
	"$ppt" attach -v -o /dev/full "$pid" Foo 2>"$tmp/err"
	is 'the stream fails: status' $? 1
	finish
	like 'no frame is written, and all count as lost' "$(tail -1 "$tmp/err")" '^ctp-ppt: 0 frames, ([1-9][0-9]*) lost: \1 not written$'
fi
for to in file stdout; do
	begin
	if [ $to = file ]; then (trap '' XFSZ; ulimit -f 16; exec "$ppt" attach -v -o "$tmp/main.ctp" "$pid" Foo) 2>"$tmp/err"
	else (trap '' XFSZ; ulimit -f 16; exec "$ppt" attach -v "$pid" Foo) 2>"$tmp/err" >"$tmp/main.ctp"; fi
	is "$to: it fails later on: status" $? 1
	finish
	is "$to: frames and losses add up, and frames are those in the file" "$(counted)" \
		"$(in_file Foo "$tmp/main.ctp") $(($(saved Foo) - $(in_file Foo "$tmp/main.ctp")))"
done

begin -2
(trap '' XFSZ; ulimit -f 16; exec "$ppt" attach -v -o "$tmp/own-%b.ctp" "$pid") 2>"$tmp/err"
is 'both fail: status' $? 1
finish
for b in Foo FooBar; do
	is "$b: the reason is reported once" "$(grep -c "/own-$b.ctp: " "$tmp/err")" 1
	is "$b: frames are those in the file" "$(counted $b)" \
		"$("$BIN/ctp-tojsonl" -aq "$tmp/own-$b.ctp" 2>/dev/null | grep -c "\"type\":\"ppt_${b}_") $(counted $b | cut -d ' ' -f 2)"
done
is 'frames and losses add up' "$(counted | awk '{ print $1 + $2 }')" "$(($(saved Foo) + $(saved FooBar)))"
done_testing
