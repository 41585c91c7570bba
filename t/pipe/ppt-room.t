#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# Buffers whose frames are large: the shared memory that ctp-ppt attach creates for all of them stays below --memory.
. t/helper/tap.sh
. t/helper/ppt.sh
trap 'kill -9 "$pid" "$agent" 2>/dev/null; rm -rf "$tmp"' EXIT
agent=
"$O/t/helper/ppt-planted" large >"$tmp/said" 2>&1 &
pid=$!
await grep -q ready "$tmp/said"
"$ppt" list "$pid" >"$tmp/list" 2>&1 || skip_all "$(cat "$tmp/list")"

# MiB of the segments that the agent has.
segments() {
	python3 -c 'import re, sys
maps = [line.split()[0].split("-") for line in open("/proc/%s/maps" % sys.argv[1]) if "/SYSV" in line]
print(sum(int(b, 16) - int(a, 16) for a, b in maps) >> 20, len(maps))' "$agent"
}
has_four() { [ "$(segments | sed 's/.* //')" = 4 ]; }
attach() { # OPTION...: to four buffers; the MiB in $made
	"$ppt" attach "$@" -o "$tmp/%b.ctp" "$pid" Large1 Large2 Large3 Large4 2>"$tmp/err" &
	agent=$!
	await has_four
	made=$(segments)
	kill $agent
	wait $agent
}
command -v python3 >/dev/null || skip_all 'there is no python3'
attach --memory 100
ok "four rings of large frames stay below the limit ($made)" [ "${made% *}" -le 100 ]
ok '  they use most of the limit' [ "${made% *}" -ge 80 ]
like '  their reduced size is reported' "$(cat "$tmp/err")" '^ctp-ppt: rings are smaller than usual, for --memory allows 100 MiB'
attach
ok "by default the rings have their full size ($made)" [ "${made% *}" -ge 400 ]
is '  nothing is reported then' "$(grep -c 'smaller than usual' "$tmp/err")" 0
attach -n 10 --memory 100
is '-n is obeyed if there is room' "$made" '44 4'
said=$("$ppt" attach -n 100 --memory 100 -t 1 "$pid" Large1 2>&1 >/dev/null)
like '-n without room is refused' "$? $said" '^1 ctp-ppt: -n 100: rings of 1 buffers take 1[0-9]{2} MiB, and --memory allows 100$'
said=$("$ppt" attach -n 700 -t 1 -o "$tmp/%b.ctp" "$pid" Large1 Large2 Large3 Large4 2>&1 >/dev/null)
like 'by default 2048 MiB are allowed' "$? $said" '^1 ctp-ppt: -n 700: rings of 4 buffers take 28[0-9]{2} MiB, and --memory allows 2048$'
said=$("$ppt" attach --memory 5 -t 1 -o "$tmp/%b.ctp" "$pid" Large1 Large2 Large3 Large4 2>&1 >/dev/null)
like 'rings that are too small are refused' "$? $said" '^1 ctp-ppt: --memory 5: rings of 4 buffers take [0-9]+ MiB at least; name fewer of them, or allow more$'
kill "$pid"
done_testing
