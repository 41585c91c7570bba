#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# Perfetto's own timeline opens both files of ctp-toperfetto, in chromium; the Firefox Profiler opens the Chrome form.
# Not under sanitizers: it waits for a browser most of the time.
# Mostly waits.
. t/helper/tap.sh
for tool in python3 node npm; do command -v $tool >/dev/null || skip_all "there is no $tool"; done
"$BIN/ctp-collect" -q -o "$tmp/t.ctp" "$O/examples/lostwake" >/dev/null 2>&1
"$BIN/ctp-toperfetto" -q -o "$tmp/t.pftrace" "$tmp/t.ctp"
"$BIN/ctp-toperfetto" -q --chrome -o "$tmp/t.json" "$tmp/t.ctp"
"$BIN/ctp-report" -qj "$tmp/t.ctp" >"$tmp/report"
facts=$(python3 -c 'import json, sys
s = json.load(open(sys.argv[1]))["sections"][0]
print("%.3f" % (s["duration_ns"] / 1e9), s["coroutines"], sum(t["resumes"] > 0 for t in s["threads"]), sum(t["resumes"] for t in s["threads"]))' "$tmp/report")
set -- $facts

# --- Perfetto ----------------------------------------------------------------------------------------------------------------------
if ! python3 -c 'import sys; sys.path.insert(0, "t/helper"); import browser; sys.exit(not browser.chromium())'; then
	skip 'there is no chromium'
elif said=$(t/helper/perfetto-ui build/perfetto-ui 2>&1); then
	python3 t/helper/perfetto-page.py build/perfetto-ui "$tmp/t.pftrace" >"$tmp/said" 2>&1
	like 'Perfetto shows a lane for each coroutine, the counters, and no error' "$(tr '\n' ' ' <"$tmp/said")" \
		"^length $1 lanes $2 threads [0-9]+ counters 2 trace errors 0 errors \\[\\] $"
	python3 t/helper/perfetto-page.py build/perfetto-ui "$tmp/t.json" >"$tmp/said" 2>&1
	like 'of the Chrome form it shows all of the time, and no error' "$(tr '\n' ' ' <"$tmp/said")" \
		"^length $1 lanes 0 threads [0-9]+ counters 0 trace errors 0 errors \\[\\] $"
else
	skip "Perfetto's timeline cannot be had from npm: $(echo "$said" | head -n 1)"
fi

# --- the Firefox Profiler ----------------------------------------------------------------------------------------------------------
if said=$(t/helper/firefox-profiler build/firefox-profiler 2>&1); then
	firefox() { HOME="$tmp" timeout 60 node build/firefox-profiler/dist/profiler-cli.js "$@" 2>&1; }
	firefox load "$tmp/t.json" >"$tmp/said"
	trap 'firefox stop >/dev/null; rm -rf "$tmp"' EXIT
	is 'the Firefox Profiler has all of the time' "$(firefox profile info | awk -v want="$1" 'match($0, /Full: [0-9.]+/) {
		got = substr($0, RSTART + 6, RLENGTH - 6); print got - want < 0.005 && want - got < 0.005 }')" 1
	firefox thread list >"$tmp/said"
	is 'and a marker for each run' "$(awk -v n="$3" '$1 ~ /^t-[1-9]/ && !/waits that go on/ { sub(",", "", $NF); if ($NF > 0) { threads++; runs += $NF } }
		END { print threads >= n, runs }' "$tmp/said")" "1 $4"
	firefox stop >/dev/null
	trap 'rm -rf "$tmp"' EXIT
else
	skip "the Firefox Profiler cannot be had from npm: $(echo "$said" | head -n 1)"
fi
done_testing
