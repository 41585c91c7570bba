#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# A real file of coroTracer: three runs one after the other, unsorted, with rows that are no events.
. t/helper/tap.sh
file=../shared/fixtures/corotracer/mini_redis.jsonl
[ -r "$file" ] || skip_all "there is no $file"
"$BIN/ctp-fromjsonl" "$file" >"$tmp/redis.ctp" 2>"$tmp/err"
is 'it ends with status 3' $? 3
like 'it reports how many rows it kept' "$(cat "$tmp/err")" ': 1422 rows kept, 91 rejected, 0 late; 162 events lost$'
"$BIN/ctp-tojsonl" "$tmp/redis.ctp" >"$tmp/out"
is 'ctp-tojsonl gives status 3 for the stream' $? 3

# The rule of jsonl-read.c, again: keep rows with a probe_id, or with a time and a thread.
awk -F '[:,]' '$2 != 0 || ($12 + 0 != 0 && $4 > 0 && $4 < 4294967296)' "$file" >"$tmp/kept"
is 'the rule keeps the same number' "$(wc -l <"$tmp/kept")" 1422
sort "$tmp/kept" >"$tmp/kept.sorted"
sort "$tmp/out" >"$tmp/out.sorted"
ok 'the kept rows are unchanged' cmp "$tmp/kept.sorted" "$tmp/out.sorted"
# sort -s: equal times stay in order.
sed 's/.*"ts":\([0-9]*\)}$/\1 &/' "$tmp/kept" | sort -s -n -k1,1 | cut -d ' ' -f 2- >"$tmp/want"
ok 'rows are sorted by time, stably' cmp "$tmp/want" "$tmp/out"
"$BIN/ctp-fromjsonl" "$tmp/out" | "$BIN/ctp-tojsonl" | cmp - "$tmp/out"
is 'the result is then reproduced byte for byte' $? 0
done_testing
