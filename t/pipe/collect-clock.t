#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# ctp-collect records the boot, the time namespace and both clocks, also while nothing happens; and tools print nothing else because
# of that.
# Mostly waits.
. t/helper/tap.sh
collect=$BIN/ctp-collect
records() { "$BIN/ctp-tojsonl" -a "$tmp/$1.ctp" 2>/dev/null; }
attribute() { records "$1" | sed -n "s/^{\"type\":\"@section\".*\"$2\":\"\([^\"]*\)\".*/\1/p"; }
field() { records "$1" | sed -n "s/^{\"type\":\"clock\".*\"$2\":\([0-9a-z]*\).*/\1/p" | sed -n "${3:-1}p"; }

"$collect" -q -o "$tmp/t.ctp" "$O/t/helper/tracee" -e 20
is 'the boot' "$(attribute t boot_id)" "$(cat /proc/sys/kernel/random/boot_id)"
if [ -e /proc/self/ns/time ]; then
	is 'the time namespace' "time:[$(attribute t time_namespace)]" "$(readlink /proc/self/ns/time)"
fi
is 'the clocks at the start and at the end' "$(records t | grep -c '"type":"clock"')" 2
is 'the first is the offset of the section' "$(($(field t wall_ns) - $(field t ts)))" "$(attribute t wall_offset_ns)"
drift=$(($(field t wall_ns 2) - $(field t wall_ns 1) - $(field t ts 2) + $(field t ts 1)))
ok "both clocks run at the same rate: $drift ns" test "${drift#-}" -lt 100000000
like 'the error of the wall clock' "$(field t error_ns)" '^[0-9]+$'
like 'whether it is synchronised' "$(field t synced)" '^(true|false)$'
is 'the last one is before the end' "$(records t | grep -v '"@' | tail -n 2 | sed 's/.*"type":"\([a-z]*\)".*/\1/' | tr '\n' ' ')" 'clock end '

# A program that does nothing: it goes on once the second record has been written.
mkfifo "$tmp/before"
"$collect" -q "$O/t/helper/tracee" -e 5 -b "$tmp/before" >"$tmp/idle.ctp" &
exec 3>"$tmp/before"
for _ in $(seq 300); do
	clocks=$(records idle | grep -c '"type":"clock"')
	[ "$clocks" -lt 2 ] || break
	sleep 0.1
done
exec 3>&-
wait
is 'an idle program: the clocks are recorded again' "$clocks" 2
like 'an idle program: and at the end' "$(records idle | grep -v '"@' | sed 's/.*"type":"\([a-z]*\)".*/\1/' | tail -n 2 | tr '\n' ' ')" 'clock end '

# A stream of an earlier version has neither records nor attributes of clocks.
records t | grep -v '"type":"clock"\|"name":"clock"' | sed 's/"boot_id":"[^"]*",//; s/"time_namespace":"[^"]*",//' |
	"$BIN/ctp-fromjsonl" -q -o "$tmp/old.ctp"
records t | "$BIN/ctp-fromjsonl" -q -o "$tmp/new.ctp"
for print in 'report' 'report -j' 'tojsonl' 'tocsv' 'tohtml'; do
	for which in old new; do
		cp "$tmp/$which.ctp" "$tmp/same.ctp"
		# shellcheck disable=SC2086
		"$BIN/ctp-${print%% *}" $(echo "$print" | sed 's/^[a-z]*//') "$tmp/same.ctp" >"$tmp/$which.out" 2>/dev/null
	done
	ok "ctp-$print prints the same as of a stream without clocks" cmp "$tmp/old.out" "$tmp/new.out"
done
for which in old new; do "$BIN/ctp-stat" -j "$tmp/$which.ctp" | grep -o '"duration_ns":[0-9]*' | head -n 1 >"$tmp/$which.out"; done
ok 'ctp-stat has the same duration' cmp "$tmp/old.out" "$tmp/new.out"

if unshare -T --fork --monotonic 100000 true 2>"$tmp/err"; then
	unshare -T --fork --monotonic 100000 "$collect" -q -o "$tmp/far.ctp" "$O/t/helper/tracee" -e 20
	is 'elsewhere: the same boot' "$(attribute far boot_id)" "$(attribute t boot_id)"
	ok 'elsewhere: another time namespace' test "$(attribute far time_namespace)" != "$(attribute t time_namespace)"
	ahead=$((($(field far ts) - $(field far wall_ns) - $(field t ts) + $(field t wall_ns)) / 1000000000))
	like 'elsewhere: 100,000 s ahead' "$ahead" '^(99999|100000)$'
else
	note "no other time namespace: $(cat "$tmp/err")"
fi
done_testing
