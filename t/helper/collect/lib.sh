# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# lib.sh - for t/pipe/collect-states.t and t/pipe/collect-samples.t: the program of states.c, under a collector or before one, and what the
# stream says of it.
# shellcheck shell=sh disable=SC2034,SC2154
collect=$BIN/ctp-collect tojson=$BIN/ctp-tojsonl CC=${CC:-cc}
case $BIN in /*) ;; *) collect=$PWD/$collect ;; esac
command -v "$CC" >/dev/null || skip_all "there is no $CC"
cc_traced -o "$tmp/states" t/helper/collect/states.c 2>"$tmp/err" ||
	skip_all "$CC: $(head -n 1 "$tmp/err")"
mkfifo "$tmp/in" "$tmp/out" "$tmp/held"

opened() { exec 5>"$tmp/in" 6<"$tmp/out"; }
tell() { # WORD: returns when it is done; the answer is in $said
	echo "$1" >&5
	read -r said <&6
}
start() { # COMMAND...
	: >"$tmp/a.ctp"
	(cd "$tmp" && exec "$collect" -q -o a.ctp "$@" <in >out 2>err) &
	collector=$!
	opened
}
ended() {
	exec 5>&- 6<&-
	wait $collector 2>/dev/null
	status=$?
	"$tojson" -q -a "$tmp/a.ctp" >"$tmp/json" 2>/dev/null
}
child_of() { sed 's/.*) [^ ]* \([0-9]*\).*/\1 &/' /proc/[0-9]*/stat 2>/dev/null | sed -n "s/^$1 \([0-9]*\) (states).*/\1/p" | head -n 1; }
until_records() { # N PATTERN: waits for this number of records in the stream, which is written as they are found
	left=600
	while [ "$("$tojson" -q -a "$tmp/a.ctp" 2>/dev/null | grep '"type":"[a-z]*","ts":[0-9]*,' | grep -c -- "$2")" -lt "$1" ] &&
		[ $left -gt 0 ]; do
		left=$((left - 1))
		sleep 0.05
	done
}
field() { sed -n "/\"type\":\"$1\"/s/.*\"$2\":\([0-9]*\)[,}].*/\1/p" "$tmp/json" | tail -n 1; } # of the last record of a class
newest() { sed -n '/"type":"transition"/s/.*"ts":\([0-9]*\),.*/\1/p' "$tmp/json" | tail -n 1; }
in_order() { # TIME...
	[ "$(awk -v list="$*" 'BEGIN { n = split(list, t, " "); for (i = 2; i <= n; i++) bad += t[i] - t[1] < t[i - 1] - t[1]; print bad + 0, n }')" = "0 $#" ]
}
