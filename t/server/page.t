#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# The page of ctp-tohtml in a real browser: it loads without an error, search finds what exists, and the drawing agrees with the
# data.
# Not under sanitizers: it waits for a browser most of the time.
# Mostly waits.
. t/helper/tap.sh
command -v python3 >/dev/null || skip_all 'there is no python3'
if [ -x "$BIN/ctp-tohtml" ] && [ -x "$O/examples/lostwake" ]; then
	"$BIN/ctp-collect" -q "$O/examples/lostwake" 2>/dev/null | "$BIN/ctp-tohtml" -q -o "$tmp/real.html" 2>/dev/null
	for seed in 1 2 3; do python3 t/helper/gaps.py make $seed >"$tmp/gaps-$seed.jsonl"; done
	if [ -e ../shared/fixtures/truth/gap-with-wake.jsonl ]; then
		cp ../shared/fixtures/truth/gap-with-wake.jsonl "$tmp"
	else
		skip '../shared is not here: without gap-with-wake.jsonl'
	fi
	for rows in "$tmp"/*.jsonl; do "$BIN/ctp-fromjsonl" -q "$rows" >"${rows%l}"; done
	for rows in "$tmp"/*.jsonl; do "$BIN/ctp-tohtml" -q -o "${rows%.jsonl}.html" "${rows%l}"; done
	"$BIN/ctp-tohtml" -q --since 10ms --until 35ms -o "$tmp/part.html" "$tmp/gaps-2.json"
	# The second of two sections.
	mv "$tmp/gaps-3.html" "$tmp/alone.html"
	"$BIN/ctp-tohtml" -q --section 2 -o "$tmp/gaps-3.html" "$tmp/gaps-1.json" "$tmp/gaps-3.json"
	mkdir "$tmp/origins"
	python3 t/helper/pageorigins.py "$tmp/origins"
	for origin in alpha beta; do "$BIN/ctp-fromjsonl" -q "$tmp/origins/$origin.jsonl" >"$tmp/origins/$origin"; done
	"$BIN/ctp-merge" -q "$tmp/origins/alpha" "$tmp/origins/beta" | "$BIN/ctp-tohtml" -q -o "$tmp/origins.html"
else
	note 'ctp-tohtml or the example is not built: made-up pages only'
fi
python3 t/helper/page.py "$tmp"
