#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# ctp-diff.1: the page shows the current output of the tool, of the traces that its scripts make.
. t/helper/tap.sh
. t/helper/example-trace.sh
. t/helper/manoutput.sh
command -v jq >/dev/null || skip_all 'there is no jq'
page=doc/ctp-diff.1
block functions doc/ctp-rules.7 >"$tmp/trace.sh"
block example $page >"$tmp/server.sh"
block runs $page >"$tmp/runs.sh"
(cd "$tmp" && PATH=$bin:$PATH sh runs.sh) >"$tmp/said" 2>&1
set -- "$tmp"/before[1-6].ctp "$tmp"/after[1-6].ctp
is 'the scripts make traces' "$(cat "$tmp/said"; echo $#)" 12
page_is_current $page
done_testing
