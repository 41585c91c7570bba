#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# ctp-report.1: the page shows the current output of the tool. Each block after a comment "output" has a command and its output; the trace is
# that of the block "example".
. t/helper/tap.sh
. t/helper/example-trace.sh
. t/helper/manoutput.sh
command -v jq >/dev/null || skip_all 'there is no jq'
page=doc/ctp-report.1
rules=doc/ctp-rules.7
make_trace example $page t.ctp
make_trace 'script: possible possible' $rules possible.ctp
sed -n '/^\.\\" output/,/^\.Ed/s/^\$ cat \([a-z]*\);.*/\1/p' $page >"$tmp/shown"
is 'one file is shown before it is used' "$(cat "$tmp/shown")" known
sed -n '/^\$ cat known;/,/^\.Ed/p' $page | sed '1d; /^No findings/,$d' >"$tmp/known"

page_is_current $page
done_testing
