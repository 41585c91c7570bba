#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# ctp-mem: which handovers of a line are needed. Accesses of one thread before the others begin, and after they end, are no
# contention.
. t/helper/tap.sh
. t/helper/mem/stream.sh

# Accesses are [r]THREAD:ADDRESS[:SIZE]; "N x" repeats what follows up to "end".
list() {
	awk 'BEGIN { RS = " " } { gsub(/\n/, "") }
	$1 == "x" { n = before; body = ""; open = 1; next }
	$1 == "end" { for (i = 0; i < n; i++) printf "%s", body; open = 0; next }
	/^[0-9]+$/ { before = $1; next }
	/:/ {
		op = /^r/ ? "read" : "write"
		sub(/^r/, "")
		k = split($1, part, ":")
		line = op " " part[2] " " (k > 2 ? part[3] : 8) " " part[1] "\n"
		if (open) body = body line
		else printf "%s", line
	}'
}
verdict() { # NAME WANT REMEDY ACCESSES: FIRST NEEDED NEEDLESS
	{ echo 'add 1000 16 4 struct.slot'; echo "$4 " | list; } | stream line
	"$BIN/ctp-mem" -j --cache none "$tmp/line.ctp" >"$tmp/json"
	is "$1" "$(sed 's/.*"verdict":"\([a-z]*\)".*"handovers":{"first":\([0-9]*\),"needed":\([0-9]*\),"needless":\([0-9]*\),.*/\1 \2 \3 \4/' "$tmp/json")" "$2"
	is "$1: remedy" "$(grep -o '"remedy":"[^"]*' "$tmp/json" | cut -d '"' -f 4)" "${3:+alignas(64) on each element of type struct.slot}"
}
verdict 'counters' 'false 1 0 18' yes '10 x 1:1000 2:1010 end'
verdict 'counters that main cleared' 'false 2 0 18' yes '9:1000:64 10 x 1:1000 2:1010 end'
verdict 'one by one' 'false 2 0 18' yes '9:1000 9:1010 9:1020 10 x 1:1000 2:1010 end'
verdict 'between the others' 'false 2 0 199' yes '9:1000:16 1:1000 9:1010:16 2:1010 99 x 1:1000 2:1010 end'
verdict 'and summed up' 'false 2 1 18' yes '9:1000:64 10 x 1:1000 2:1010 end r9:1000 r9:1010'
verdict 'and summed up by one of them' 'false 2 1 18' yes '9:1000:64 10 x 1:1000 2:1010 end r1:1010'
verdict 'an atomic that main cleared with the line' 'true 2 18 0' '' '9:1000:64 10 x r1:1000 1:1000 r2:1000 2:1000 end'
verdict 'a question and its answer' 'true 1 19 0' '' '10 x 1:1000 r2:1000 2:1010 r1:1010 end'
verdict 'what is read late is read' 'true 1 19 0' '' '10 x 1:1000 2:1010 r2:1000 r1:1010 end'
verdict 'reads between are no loss' 'true 1 27 0' '' '10 x r2:1000 1:1000 r2:1000 1:1000 2:1000 end'
verdict 'data that is old news' 'false 1 0 10' '' '1:1000 2:1010 10 x r2:1000 1:1008 end'
verdict 'a reader of other bytes' 'false 2 0 9' yes '9:1000:64 10 x 1:1000 r2:1010 end'
verdict 'a reader of the same element' 'false 2 0 9' '' '9:1000:64 10 x 1:1000 r2:1008 end'
verdict 'both' 'mixed 1 19 19' '' '10 x 1:1000 2:1010 1:1000 2:1000 end'
verdict 'each once' 'once 3 0 0' '' '1:1000 2:1008 3:1010 4:1018'

# More threads than are distinguished, and the text about them.
{ echo 'add 1000 1 64 i8'; awk 'BEGIN { for (r = 0; r < 2; r++) for (i = 0; i < 70; i++) printf "write %x 1 %d\n", 4096 + i % 64, i }'; } | stream many
mem many 0
has 'threads beyond the limit' '"handovers":{"first":63,"needed":6,"needless":58,"others":12},'
like 'in words' "$("$BIN/ctp-mem" --cache none "$tmp/many.ctp")" \
	'^1\. FALSE sharing at 0x1000: changed hands 139 times: 58 without need, 6 for data, 63 for the first time, 12 of other threads; 17 or more threads write$'
done_testing
