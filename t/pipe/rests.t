#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# Healthy servers, each looked at once and again while it runs: the report has no finding that is likely. Most of their connections
# rest, some go on. make check-all takes 224 looks, at servers in C, C++, Rust and with Asio.
# Not under sanitizers: a recorder needs more address space than TSan leaves.
# Mostly waits.
. t/helper/tap.sh
command -v python3 >/dev/null || skip_all 'there is no python3'
looks=${EVERY:+14}
looks=${looks:-2}
exes=$O/verdict/c-rests
[ ! "${EVERY:-}" ] || exes="$exes $O/verdict/asio-rests $O/verdict/cxx-rests $O/verdict/rust-rests"
[ -x "$O/verdict/c-rests" ] || skip_all "$O/verdict/c-rests is not built"

pids= servers=
for exe in $exes; do
	[ -x "$exe" ] || continue
	for name in $("$exe" list | sed 's/ .*//'); do
		CTP_RECORD=1 CORPUS_END=stay "$exe" "$name" >/dev/null 2>&1 &
		pids="$pids $!"
		servers="$servers ${exe##*/}/$name:$!"
	done
done
# shellcheck disable=SC2086
trap 'kill $pids 2>/dev/null; rm -rf "$tmp"' EXIT

# The findings that are likely or proved, a line each; "1 look" for each report.
likely() {
	"$BIN/ctp-report" -jq "$1" | python3 -c 'import json, sys
for section in json.load(sys.stdin)["sections"]:
    print("1 look")
    for f in section["findings"]:
        if f["certainty"] in ("likely", "proved"):
            print(f["certainty"], f["rule"], f["title"])'
}
turn=0
while [ $turn -lt "$looks" ]; do
	sleep 2
	turn=$((turn + 1))
	for server in $servers; do
		"$BIN/ctp-collect" -q --once -p "${server##*:}" -o "$tmp/a.ctp" 2>"$tmp/err" || diag "$server: $(cat "$tmp/err")"
		likely "$tmp/a.ctp" >>"$tmp/said.$(echo "${server%:*}" | tr / .)"
	done
done
for server in $servers; do
	name=${server%:*}
	is "$name has no likely finding in $looks looks" "$(sort "$tmp/said.$(echo "$name" | tr / .)" | uniq -c | sed 's/^ *//')" "$looks 1 look"
done
done_testing
