#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# A collector whose program does nothing says so in a pipe, so that ctp-merge can go on with other streams; in a file it does not.
# t/unit/merge-live.c has what ctp-merge makes of it.
# Mostly waits.
. t/helper/tap.sh
ctp() { tool=$1; shift; "$BIN/ctp-$tool" "$@"; }
transitions() { ctp tojsonl -qa "$tmp/$1" 2>/dev/null | grep -c '"type":"transition".*'"$2"; }

mkfifo "$tmp/before" "$tmp/idle"
exec 3<>"$tmp/before" # the program waits until this is closed
"$BIN/ctp-collect" -q -o "$tmp/idle" "$O/t/helper/tracee" -e 7 -b "$tmp/before" 3>&- 2>"$tmp/err.idle" &
exec 4<"$tmp/idle"
"$BIN/ctp-collect" -q -o "$tmp/busy.ctp" "$O/t/helper/tracee" -c 2 -e 20 3>&- 4<&-
"$BIN/ctp-merge" -q - "$tmp/busy.ctp" <&4 3>&- 4<&- >"$tmp/live.ctp" 2>"$tmp/err" &
exec 4<&-
n=$(transitions busy.ctp) # some are lost if the machine is busy
ok 'the others did something' test "$n" -gt 0
left=600
while [ "$(transitions live.ctp '"origin":2')" -lt "$n" ] && [ $left -gt 0 ]; do
	left=$((left - 1))
	sleep 0.1
done
is 'what others did comes out while a program does nothing' "$(transitions live.ctp '"origin":1') $(transitions live.ctp '"origin":2')" "0 $n"
exec 3>&-
wait
is 'there is no message' "$(cat "$tmp/err" "$tmp/err.idle")" ''
is 'then it does something, and that comes after it' \
	"$(ctp tojsonl -qa "$tmp/live.ctp" | sed -n 's/.*"type":"transition".*"origin":\([0-9]*\).*/\1/p' | uniq -c | tr -s ' ' | tr '\n' ,)" " $n 2, 7 1,"
is 'the merged section is complete, and nothing is late' "$(ctp tojsonl -a "$tmp/live.ctp" 2>&1 | grep -c '"late":true\|"complete":false')" 0
done_testing
