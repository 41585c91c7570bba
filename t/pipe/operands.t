#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# One rule for all tools: of several files, one that is not there or is of another kind is named, and the others are read.
. t/helper/tap.sh

event() { printf '{"probe_id":%d,"tid":1,"addr":"0x1","seq":1,"is_active":true,"ts":%d}\n' "$1" "$1"; }
for n in 1 2; do
	event $n >"$tmp/$n.jsonl"
	"$BIN/ctp-fromjsonl" -q "$tmp/$n.jsonl" >"$tmp/$n.ctp"
	"$BIN/ctp-tocsv" "$tmp/$n.ctp" >"$tmp/$n.csv"
done
echo 'this is something else altogether' >"$tmp/else"

# SUFFIX BAD COMMAND: the file BAD stands at each place among two that the tool reads
among() {
	suffix=$1 bad=$tmp/$2 command=$3 tool=${3%% *}
	a=$tmp/1.$suffix b=$tmp/2.$suffix
	for files in "$bad $a $b" "$a $bad $b" "$a $b $bad"; do
		# shellcheck disable=SC2086 # words
		"$BIN"/$command $files >"$tmp/out" 2>"$tmp/err"
		is "$command: $2 among $(echo "$files" | sed "s,$tmp/,,g"): status 3, said once" \
			"$? $(grep -c "^$tool: $bad: .*; it is skipped\$" "$tmp/err")" '3 1'
		[ "$suffix" != ctp ] || for n in 1 2; do
			ok 'the file after it is read, and the one before' grep -q "$n" "$tmp/out"
		done
	done
	# shellcheck disable=SC2086
	"$BIN"/$command "$bad" "$bad" >"$tmp/out" 2>"$tmp/err"
	is "$command: $2 alone: status 1" $? 1
}
for command in ctp-tojsonl ctp-tocsv ctp-report ctp-stat 'ctp-filter --no-symbols' ctp-toperfetto; do
	for bad in none else; do
		among ctp $bad "$command"
	done
done
among jsonl none ctp-fromjsonl
among jsonl 1.ctp ctp-fromjsonl
among csv none ctp-fromcsv
if [ -x "$BIN/ctp-sqlite" ]; then
	for bad in none else; do
		"$BIN/ctp-sqlite" -o "$tmp/$bad.sqlite" "$tmp/1.ctp" "$tmp/$bad" "$tmp/2.ctp" 2>"$tmp/err"
		is "ctp-sqlite: $bad: status 3, said once" "$? $(grep -c "$bad: .*; it is skipped" "$tmp/err")" '3 1'
		! command -v sqlite3 >/dev/null ||
			is 'both sections are there' "$(sqlite3 "$tmp/$bad.sqlite" 'SELECT count(*) FROM sections')" 2
	done
fi
for command in ctp-merge "ctp-diff --no-symbols $tmp/1.ctp --"; do
	# shellcheck disable=SC2086
	"$BIN"/$command "$tmp/1.ctp" "$tmp/none" "$tmp/2.ctp" >"$tmp/out" 2>"$tmp/err"
	is "$command needs all files: status 1" "$?" 1
	like 'the missing file is named' "$(cat "$tmp/err")" '/none: No such file'
done
done_testing
