#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# The page of speedscope opens what ctp-toperfetto --chrome writes, in chromium: each thread has a profile with its runs.
# Not under sanitizers: it waits for a browser most of the time.
# Mostly waits.
. t/helper/tap.sh
for tool in python3 node npm; do command -v $tool >/dev/null || skip_all "there is no $tool"; done
python3 -c 'import sys; sys.path.insert(0, "t/helper"); import browser; sys.exit(not browser.chromium())' || skip_all 'there is no chromium'
said=$(t/helper/speedscope build/speedscope 2>&1) || skip_all "speedscope cannot be had from npm: $(echo "$said" | head -n 1)"
"$BIN/ctp-collect" -q -o "$tmp/t.ctp" "$O/examples/lostwake" >/dev/null 2>&1
"$BIN/ctp-toperfetto" -q --chrome -o "$tmp/lostwake.json" "$tmp/t.ctp"
cat >"$tmp/open.py" <<'PYTHON'
import base64
import pathlib
import sys

sys.path.insert(0, "t/helper")
from browser import Browser

page, trace = (pathlib.Path(arg).resolve() for arg in sys.argv[1:])
profile = trace.with_suffix(".js")
profile.write_text("speedscope.loadFileFromBase64(%r, '%s')" % (trace.name, base64.b64encode(trace.read_bytes()).decode()))
with Browser() as browser:
    browser.open(f"{page}#localProfilePath={profile}", ready="document.body.innerText.includes('pid')")
    print(browser.eval("document.body.innerText"))
    print("errors", [e for e in browser.errors if "WebGL" not in e])
PYTHON
python3 "$tmp/open.py" build/speedscope/dist/release/index.html "$tmp/lostwake.json" >"$tmp/said" 2>&1
threads=$(python3 -c 'import json, sys; print(len({e["tid"] for e in json.load(open(sys.argv[1]))["traceEvents"] if e["ph"] == "X"}))' "$tmp/lostwake.json")
like 'speedscope shows a profile of each thread' "$(tr '\n' ' ' <"$tmp/said")" "lostwake \\(pid [0-9]+\\), lostwake \\(tid [0-9]+\\) \\([0-9]/$threads\\)"
is 'and has no error' "$(grep '^errors' "$tmp/said")" 'errors []'
done_testing
