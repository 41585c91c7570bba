#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# ctp-ppt needs pages of a process that are on a file system which does not answer: it reports that, and ends.
# Not under sanitizers: it runs programs whose timing matters.
# Mostly waits.
. t/helper/tap.sh
. t/helper/ppt.sh
needs_root 'a file system of its own, by FUSE'
[ -c /dev/fuse ] || skip_all 'there is no /dev/fuse'
needs unshare -m true
command -v python3 >/dev/null || skip_all 'there is no python3'

mkdir "$tmp/far"
mkfifo "$tmp/up"
: >"$tmp/pids"
unshare -m sh -c 'far=$0 planted=$1
	python3 -B t/helper/silent-fs.py "$far" "$2" "$3" >"$4" 2>&1 &
	trap "kill $!; kill \$(cat \"$5\")" TERM
	read -r up <"$4"; [ "$up" = mounted ] || { echo "$up" >"$5"; exit 1; }
	for what in json variables arguments code; do
		"$planted" $what "$far/code" >"$6-$what" 2>&1 & echo $! >>"$5"
	done
	wait' "$tmp/far" "$O/t/helper/ppt-planted" "$O/t/helper/ppt-planted" "$tmp/silent" "$tmp/up" "$tmp/pids" "$tmp/said" &
outer=$!
trap 'kill $outer 2>/dev/null; wait; rm -rf "$tmp"' EXIT
all_ready() {
	for what in json variables arguments code; do grep -q ready "$tmp/said-$what" || return 1; done
}
await all_ready || skip_all "no FUSE: $(cat "$tmp/pids" "$tmp"/said-*)"
{ read -r json && read -r variables && read -r arguments && read -r code; } <"$tmp/pids"
: >"$tmp/silent"

# run COMMAND...: its output in $tmp/out, its status in $status; "hangs": it does not end, even by TERM
run() {
	"$ppt" "$@" >"$tmp/out" 2>&1 &
	tool=$!
	status=
	await has_ended || kill -s TERM $tool
	await has_ended || { status=hangs; return; }
	wait $tool
	status=$?
}
has_ended() { case $(sed 's/.*) //; s/ .*//' /proc/$tool/stat) in '' | Z) ;; *) false ;; esac; }

run list "$json"
is 'list: an unreadable description: status' $status 0
like '  it is reported' "$(cat "$tmp/out")" '^Held +free +\(its description does not answer'
run list "$variables"
is 'list: unreadable variables: status' $status 0
like '  they are reported' "$(cat "$tmp/out")" '^Held +does not answer '
run describe "$json" Held
like 'describe fails' "$status $(cat "$tmp/out")" '^1 ctp-ppt: Held: its description does not answer'
run attach -t 1 "$json" Held
like 'attach: an unreadable description is reported' "$status $(cat "$tmp/out")" '^1 ctp-ppt: Held: its description does not answer'
run attach -t 1 "$variables" Held
like 'attach: unreadable variables are reported' \
	"$status $(cat "$tmp/out")" '^1 ctp-ppt: Held: the memory of the process does not answer'
"$ppt" attach "$variables" Held >"$tmp/out" 2>&1 &
tool=$!
kill -s TERM $tool
ok '  one signal ends it' await has_ended
wait $tool
run list "$code"
like 'list: an unreadable mapped file hides no buffer' "$status $(awk 'NR > 1 { print $1 }' "$tmp/out" | xargs)" '^0 Held Large1 Large2 Large3 Large4$'
grep prctl "$tmp/said-arguments" >"$tmp/refused" && note "$(cat "$tmp/refused")"
run list
is 'list of all: status' $status 0
like '  a process with unreadable arguments is listed' "$(cat "$tmp/out")" "^ *$arguments +Held +free"
done_testing
