#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# A full disk is reported with status 1 by each tool, a reader that goes away ends it quietly; no incomplete file is left.
. t/helper/tap.sh
[ -w /dev/full ] || skip_all 'there is no /dev/full'

awk 'BEGIN { for (i = 0; i < 100000; i++)
	printf "{\"probe_id\":%d,\"tid\":1,\"addr\":\"0x%016x\",\"seq\":%d,\"is_active\":%s,\"ts\":%d}\n",
		1 + i * 7919 % 65537, i * 104729, i, i % 2 ? "true" : "false", 1000 + i }' >"$tmp/rows.jsonl"
"$BIN/ctp-fromjsonl" "$tmp/rows.jsonl" >"$tmp/rows.ctp"

# Status of a command whose stdout has no reader: the pipe's other end is closed before the command may begin.
unread() {
	rm -f "$tmp/gate" "$tmp/status"
	mkfifo "$tmp/gate"
	{ read -r _ <"$tmp/gate"; "$@" 2>"$tmp/err"; echo $? >"$tmp/status"; } | { exec <&-; echo go >"$tmp/gate"; }
	cat "$tmp/status"
}

"$BIN/ctp-tocsv" -o "$tmp/rows.csv" "$tmp/rows.ctp"
"$BIN/ctp-toctf" -o "$tmp/rows.ctf" "$tmp/rows.ctp"
printf '\001\020\000\000\000\000\000\000\000\010\001\000\000\000\000\000\000\000' >"$tmp/rows.trace" # a write
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do cat "$tmp/rows.trace" "$tmp/rows.trace" >"$tmp/twice" && mv "$tmp/twice" "$tmp/rows.trace"; done
"$BIN/ctp-fromcacheray" "$tmp/rows.trace" >"$tmp/accesses.ctp"

input_of() { # TOOL
	case $1 in
	ctp-fromjsonl) echo "$tmp/rows.jsonl" ;;
	ctp-fromcsv) echo "$tmp/rows.csv" ;;
	ctp-fromctf) echo "$tmp/rows.ctf" ;;
	ctp-fromcacheray) echo "$tmp/rows.trace" ;;
	ctp-tocacheray | ctp-mem) echo "$tmp/accesses.ctp" ;;
	*) echo "$tmp/rows.ctp" ;;
	esac
}

# checked INPUT TOOL [COMMAND]
checked() {
	input=$1
	shift
	tool=${1##*/} name="${1##*/}${2+ ${2##*/}}"
	"$@" "$input" >/dev/full 2>"$tmp/err"
	is "$name: a full disk is status 1" $? 1
	like "$name: the full disk is reported, with the place" \
		"$(cat "$tmp/err")" "^$tool: stdout: after [0-9]+ bytes: No space left on device$"
	is "$name: the message is one line" "$(wc -l <"$tmp/err")" 1
	"$@" -h >/dev/full 2>"$tmp/err"
	is "$name -h: a full disk is status 1" $? 1

	is "$name: without a reader it dies of SIGPIPE" "$(unread "$@" "$input")" 141
	is "$name: it prints nothing then" "$(cat "$tmp/err")" ''
	"$@" "$input" >&- 2>"$tmp/err"
	is "$name: a closed stdout is status 1" $? 1
	like "$name: the closed stdout is reported" "$(cat "$tmp/err")" "^$tool: stdout: .*Bad file descriptor$"
	case $name in ctp-fromctf | ctp-diff*) return ;; esac # these read no stdin unless it is named
	is "$name: without a reader it dies although its input never ends" "$(unread timeout 60 "$@" /dev/zero)" 141
	is "$name:   it prints nothing then" "$(cat "$tmp/err")" ''
	"$@" <&- 2>"$tmp/err" >"$tmp/out"
	is "$name: a closed stdin is status 1" $? 1
	like "$name: the closed stdin is reported" "$(cat "$tmp/err")" "^$tool: stdin: .*Bad file descriptor$"
}

for tool in "$BIN"/ctp-*; do
	# These write no data to stdout, or not without a command; see their own tests.
	case ${tool##*/} in ctp-collect | ctp-mysql | ctp-postgres | ctp-sqlite | ctp-toctf | ctp-toparquet | ctp-ppt) continue ;; esac
	set -- "$tool"
	[ "${tool##*/}" != ctp-toclickhouse ] || set -- "$tool" --class transition
	[ "${tool##*/}" != ctp-diff ] || set -- "$tool" "$tmp/rows.ctp" # it compares this with another
	checked "$(input_of "${tool##*/}")" "$@"
done
if command -v python3 >/dev/null; then
	python3 t/helper/pptfile.py make mixed "$tmp/rows.ppt1" "$tmp/truth"
	checked "$tmp/rows.ppt1" "$BIN/ctp-ppt" decode
	"$BIN/ctp-ppt" decode --exact -o "$tmp/frames.ctp" "$tmp/rows.ppt1"
	checked "$tmp/frames.ctp" "$BIN/ctp-ppt" encode
fi

"$BIN/ctp-tojsonl" "$tmp/rows.ctp" 2>"$tmp/err" | head -n 1 >"$tmp/out"
ok '| head gets its line' sh -c 'head -n 1 "$0" | cmp - "$1"' "$tmp/rows.jsonl" "$tmp/out"
is 'nothing is printed on stderr' "$(cat "$tmp/err")" ''

# Live: input is written before more input arrives. The writer's end of the first pipe stays open until the line was seen.
mkfifo "$tmp/in" "$tmp/live"
head -n 3 "$tmp/rows.jsonl" | "$BIN/ctp-fromjsonl" >"$tmp/few.ctp"
"$BIN/ctp-tojsonl" <"$tmp/in" >"$tmp/live" &
exec 3>"$tmp/in" 4<"$tmp/live"
cat "$tmp/few.ctp" >&3
is 'a live reader sees a line before the end' "$(timeout 60 head -n 3 <&4)" "$(head -n 3 "$tmp/rows.jsonl")"
exec 3>&- 4<&-
wait

# -o on a disk that is full: a file of at most 8 KiB may be written here.
for tool in ctp-tojsonl ctp-fromjsonl ctp-tocsv ctp-fromcsv ctp-fromctf; do
	[ -x "$BIN/$tool" ] || continue
	input=$(input_of $tool)
	(
		trap '' XFSZ
		ulimit -f 16
		"$BIN/$tool" -o "$tmp/big" "$input" 2>"$tmp/err"
		echo $? >"$tmp/status"
	)
	is "$tool -o: no room is status 1" "$(cat "$tmp/status")" 1
	like "$tool -o: the limit on the file size is reported" \
		"$(cat "$tmp/err")" "^$tool: .*/big: after [0-9]+ bytes: File too large$"
	is "$tool -o: no file is left" "$(find "$tmp" -name 'big*')" ''
done

# The program that is traced runs to its own end whatever happens to the trace.
if [ -x "$BIN/ctp-collect" ]; then
	"$BIN/ctp-collect" sh -c "echo ran >$tmp/ran" >/dev/full 2>"$tmp/err"
	like 'ctp-collect: a full disk is reported' "$(cat "$tmp/err")" '^ctp-collect: .*No space left on device'
	is 'ctp-collect: the program runs to its end' "$(cat "$tmp/ran")" ran
fi
done_testing
