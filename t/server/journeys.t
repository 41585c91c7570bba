#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# What people do with the page of ctp-tohtml, journey by journey, in chromium and in firefox. SHOTS=FOLDER keeps a screenshot of each.
# Not under sanitizers: it waits for a browser most of the time.
# Mostly waits.
. t/helper/tap.sh
command -v python3 >/dev/null || skip_all 'there is no python3'
if [ -x "$BIN/ctp-tohtml" ] && [ -x "$O/examples/lostwake" ] && [ -x "$O/examples/pool" ]; then
	for program in lostwake pool; do "$BIN/ctp-collect" -q "$O/examples/$program" >"$tmp/$program.ctp" 2>/dev/null; done
	"$BIN/ctp-tohtml" -q -o "$tmp/real.html" "$tmp/lostwake.ctp"
	"$BIN/ctp-tohtml" -q -o "$tmp/sections.html" "$tmp/lostwake.ctp" "$tmp/pool.ctp"
	"$BIN/ctp-tohtml" -q --baseline "$tmp/pool.ctp" -o "$tmp/baseline.html" "$tmp/lostwake.ctp"
	"$BIN/ctp-tohtml" -q --finding 1 -o "$tmp/alone.html" "$tmp/lostwake.ctp"
else
	skip 'ctp-tohtml or an example is not built: made-up pages only'
fi
python3 t/helper/page/journeys.py "$tmp"
