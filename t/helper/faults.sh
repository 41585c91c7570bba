# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# faults.sh - `. t/helper/faults.sh`, after tap.sh: faults ARG... runs faults.py in $tmp, with a test for each of its lines.
#
# FAULTS is how many n of each kind are tried; 0, as in make check-all: all of them.
# shellcheck shell=sh disable=SC2154 # tap.sh has $tmp
command -v python3 >/dev/null || skip_all 'there is no python3'
[ -e "$O/t/helper/faults.so" ] || skip_all 'there is no library that makes calls fail'
in=$tmp/in
mkdir "$in"
"$BIN/ctp-collect" -q "$O/examples/lostwake" >"$in/real.ctp" 2>/dev/null

faults() {
	O=$O BIN=$BIN python3 t/helper/faults.py -n "${FAULTS:-3}" "$@" >"$tmp/out" 2>"$tmp/err"
	while read -r name call faults _ coped _ said _ silent rest; do
		is "$name: $call fails, $faults times: $coped coped, $said said" "$silent $rest" '0 silent'
	done <"$tmp/out"
	is 'the tools were tried to the end' "$(cat "$tmp/err")" ''
}
