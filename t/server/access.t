#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# The page of ctp-tohtml for everybody: by keyboard, by touch, with a screen reader, with large text, on a phone and on paper; in chromium,
# and by make check-all in firefox.
# Not under sanitizers: it waits for a browser most of the time.
# Mostly waits.
. t/helper/tap.sh
command -v python3 >/dev/null || skip_all 'there is no python3'
axe=
if ! command -v npm >/dev/null; then
	skip 'there is no npm: without axe-core'
elif said=$(t/helper/axe build/axe 2>&1); then
	axe=build/axe/axe.min.js
else
	skip "axe-core cannot be had from npm: $(echo "$said" | head -n 1)"
fi
python3 t/helper/page/access.py "$tmp" $axe
