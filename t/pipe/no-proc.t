#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# Without /proc, as in a plain chroot, -o writes a file all the same.
. t/helper/tap.sh
without_proc() { unshare -m sh -c 'mount -t tmpfs none /proc && exec "$@"' sh "$@"; }
needs_root 'to mount something over /proc'
without_proc true 2>/dev/null || skip_all 'nothing can be mounted here'
printf '{"probe_id":1,"tid":1,"addr":"0x1","seq":1,"is_active":true,"ts":1}\n' >"$tmp/a.jsonl"
for name in new there; do
	[ $name = new ] || echo before >"$tmp/$name.ctp"
	ok "a file that is $name is written" without_proc "$BIN/ctp-fromjsonl" -q -o "$tmp/$name.ctp" "$tmp/a.jsonl"
	is "and is whole" "$("$BIN/ctp-tojsonl" -q "$tmp/$name.ctp" | grep -c probe_id)" 1
done
if [ -x "$BIN/ctp-sqlite" ] && command -v sqlite3 >/dev/null; then
	ok 'a database is written' without_proc "$BIN/ctp-sqlite" -q -o "$tmp/a.sqlite" "$tmp/new.ctp"
	is 'and is whole' "$(sqlite3 "$tmp/a.sqlite" 'PRAGMA integrity_check; SELECT count(*) FROM coro_trace_events')" 'ok
1'
fi
# Temporary files are read again: more than 64 sections are merged in rounds, and ctp-tocsv -a knows its columns at the end.
for i in $(seq 70); do
	printf '{"type":"@section","attrs":{"clock":"monotonic","boot_id":"b","wall_offset_ns":"5"}}\n'
	printf '{"probe_id":%d,"tid":1,"addr":"0x1","seq":1,"is_active":true,"ts":%d}\n' "$i" "$i"
done | "$BIN/ctp-fromjsonl" -q >"$tmp/many.ctp"
without_proc "$BIN/ctp-merge" -q -o "$tmp/merged.ctp" "$tmp/many.ctp"
is 'sections are merged in rounds' "$("$BIN/ctp-tojsonl" -q "$tmp/merged.ctp" | grep -c probe_id)" 70
awk 'BEGIN { for (i = 1; i < 40000; i++) printf "{\"probe_id\":%d,\"tid\":1,\"addr\":\"0x%x\",\"seq\":1,\"is_active\":true,\"ts\":%d}\n", i, i * 7919, i * 1000 }' |
	"$BIN/ctp-fromjsonl" -q >"$tmp/long.ctp"
is 'a table with all columns is written' "$(without_proc "$BIN/ctp-tocsv" -aq "$tmp/long.ctp" 2>&1 | cksum)" \
	"$("$BIN/ctp-tocsv" -aq "$tmp/long.ctp" | cksum)"

mkdir "$tmp/full" && mkdir "$tmp/full/x.ctp"
without_proc "$BIN/ctp-fromjsonl" -q -o "$tmp/full/x.ctp" "$tmp/a.jsonl" 2>/dev/null
is 'nothing is left of what failed' "$? $(ls "$tmp/full")" '1 x.ctp'
done_testing
