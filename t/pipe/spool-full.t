#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# --spool of ctp-toclickhouse, whose file cannot be written to its end: no message says that all rows are kept.
. t/helper/tap.sh
awk 'BEGIN { for (i = 1; i <= 60000; i++) printf "{\"probe_id\":1,\"tid\":%d,\"addr\":\"0x1\",\"seq\":%d,\"is_active\":%s,\"ts\":%d}\n", i * i % 997, i, i % 2 ? "true" : "false", i }' |
	"$BIN/ctp-fromjsonl" -q >"$tmp/a.ctp"
spool() { # BLOCKS|unlimited: how large the file can be
	(ulimit -f "$1" && "$BIN/ctp-toclickhouse" --live 1 --timeout 2 --spool "$tmp/spool.$1" --load 'echo down >&2; false #' <"$tmp/a.ctp") 2>"$tmp/err"
}
spool unlimited
is 'a server that is down gives status 1' $? 1
like 'the file keeps all rows' "$(cat "$tmp/err")" 'is tried again; .* keeps all rows: '
ok 'it does' cmp "$tmp/a.ctp" "$tmp/spool.unlimited"
spool 16
is 'a full disk gives status 1' $? 1
like 'the message says so' "$(cat "$tmp/err")" 'spool.16: .*too large'
is 'and no message that all rows are kept' "$(grep 'keeps all rows' "$tmp/err")" ''
like 'but which' "$(cat "$tmp/err")" 'is tried again; .* keeps the rows that were copied: '
done_testing
