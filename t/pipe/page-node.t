#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# The scripts of ctp-tohtml's page under node: what they compute, without a browser.
# Not under sanitizers: it runs no tool that a sanitizer could watch.
. t/helper/tap.sh
command -v node >/dev/null || skip_all 'there is no node'

for script in t/helper/page/*.js; do
	[ "$script" != t/helper/page/load.js ] || continue
	node "$script" >"$tmp/tap" 2>"$tmp/err"
	status=$?
	plan=$(sed -n 's/^1\.\.//p' "$tmp/tap")
	is "$script: all of its tests run and pass" "$status $(grep -c '^ok ' "$tmp/tap") $(grep -c '^not ok ' "$tmp/tap")" "0 $plan 0" ||
		{ diag "$(grep -A 1 '^not ok ' "$tmp/tap")"; diag "$(cat "$tmp/err")"; }
done

done_testing
