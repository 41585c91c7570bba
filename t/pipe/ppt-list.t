#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# ctp-ppt list of all processes, and the records that describe announces, compared with what attach and ctp-tocsv give.
. t/helper/tap.sh
ppt=$BIN/ctp-ppt
client=$O/t/helper/ppt-client-sdk
[ -x "$client" ] || skip_all 'there is no client'

# begin NAME ARGUMENT...: a client, its number in $pid. Its first line says that it runs.
begin() {
	mkfifo "$tmp/$1"
	name=$1
	shift
	"$client" "$@" >"$tmp/$name" 2>/dev/null </dev/null &
	pid=$!
	read -r first <"$tmp/$name"
}
listed() { awk -v pid="$1" '$1 == pid { print $2, $3 }' "$tmp/list" | sort | xargs; }

sleep 1000 &
other=$!
begin one -t 2 -2
one=$pid
begin two -t 2 -2
two=$pid
trap 'kill $one $two $other $agent 2>/dev/null; rm -rf "$tmp"' EXIT
"$ppt" list "$one" >/dev/null 2>"$tmp/err" || skip_all "$(cat "$tmp/err")"

"$ppt" list >"$tmp/list" 2>"$tmp/err"
is 'list without a process: status' $? 0
is 'the list has a header' "$(sed -n 1p "$tmp/list" | xargs)" 'PID BUFFER STATE COMMAND'
is 'it has the buffers of each process, though their files are the same' "$(listed "$one"), $(listed "$two")" 'Mark free Sdk free, Mark free Sdk free'
is 'it has the command of each process' \
	"$(awk -v pid="$one" '$1 == pid && $2 == "Sdk" { print $4, $5, $6, $7 }' "$tmp/list")" "$client -t 2 -2"
is 'a program without buffers is not listed' "$(listed "$other")" ''
is 'processes are in the order of their pids' "$(awk 'NR > 1 { print $1 }' "$tmp/list" | sort -nc 2>&1)" ''
is 'there is at most one more line' "$(grep -vc '^ctp-ppt: [0-9]* process[es]* could not be read' "$tmp/err") $(($(wc -l <"$tmp/err") < 2))" '0 1'
is '-q leaves that line out' "$("$ppt" list -q 2>&1 >/dev/null)" ''

mkfifo "$tmp/stream"
"$ppt" attach -q "$one" Sdk >"$tmp/stream" 2>/dev/null &
agent=$!
exec 3<"$tmp/stream"
head -c 1 <&3 >/dev/null
"$ppt" list -q >"$tmp/list"
like 'an attached buffer is shown as attached' "$(cat "$tmp/list")" "^ *$one Sdk +attached by $agent +$client"
like 'the other buffers are shown as free' "$(listed "$one"), $(listed "$two")" '^Mark free Sdk attached, Mark free Sdk free$'
kill "$agent"
cat <&3 >/dev/null
exec 3<&-
wait "$agent"

# --- the announced records --------------------------------------------------------------------------------------------------
"$ppt" describe "$one" Sdk >"$tmp/described"
is 'describe has the class of each frame' "$(sed -n 's/^class \([^:]*\): of frame \(.*\)/\1 \2/p' "$tmp/described" | xargs)" \
	'ppt_Sdk_request request ppt_Sdk_tick tick'
"$ppt" attach -q -t 0.3 "$one" Sdk >"$tmp/sdk.ctp"
for class in ppt_Sdk_request ppt_Sdk_tick; do
	columns=$(awk -v class="$class:" '$1 == "class" { on = $2 == class; next } on && $NF == "(extra)" { print $(NF - 1); next } on && $NF != "column" { print $NF }' \
		"$tmp/described" | paste -sd , -)
	is "$class: its columns" "$("$BIN/ctp-tocsv" -q --class $class "$tmp/sdk.ctp" | head -n 1)" "$columns"
done

# --- another user ----------------------------------------------------------------------------------------------------------
if root_part 'the processes of another user' && can setpriv --reuid 65534 --clear-groups true; then
	chmod 755 "$tmp"
	cp "$ppt" "$tmp/ctp-ppt"
	said=$(cd / && setpriv --reuid 65533 --clear-groups "$tmp/ctp-ppt" list 2>&1)
	is 'another user: status' $? 1
	like 'the number of unreadable processes is reported, and not each of them' "$said" '^ctp-ppt: [0-9]+ processes could not be read, and may have buffers; run this as root to read more$'
	is 'the empty list is reported' "$(echo "$said" | sed 1d)" 'ctp-ppt: no process that can be read has ppt buffers'
fi
done_testing
