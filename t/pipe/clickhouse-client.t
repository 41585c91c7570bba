#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# ctp-toclickhouse --load with a client, or a program that it has started, which writes errors without end: --timeout ends both.
. t/helper/tap.sh
printf '{"probe_id":1,"tid":1,"addr":"0x1","seq":1,"is_active":true,"ts":1}\n' | "$BIN/ctp-fromjsonl" -q >"$tmp/a.ctp"
deliver() { # COMMAND
	timeout 120 "$BIN/ctp-toclickhouse" -q --timeout 1 --load "$1" "$tmp/a.ctp" >/dev/null 2>"$tmp/err"
}
deliver 'yes >&2 #'
like 'a client that only complains is ended' "$? $(cat "$tmp/err")" '^1 .*: has neither read nor written anything .*; see --timeout$'
deliver 'echo $$ >&2; yes >&2 & wait #'
like 'so is what it has started' "$? $(cat "$tmp/err")" '^1 .*; see --timeout$'
deliver 'yes >&2 & exit 7 #'
is 'a client that has ended is not waited for' "$? $(wc -l <"$tmp/err")" '1 1'
done_testing
