#!/bin/sh
# coroTracer's own file, as it was found: three runs one behind the other, unsorted, with rows that never were events.
. t/helper/tap.sh
file=../shared/fixtures/corotracer/mini_redis.jsonl
[ -r "$file" ] || skip_all "there is no $file"
"$BIN/ctp-fromjsonl" "$file" >"$tmp/redis.ctp" 2>"$tmp/err"
is 'it ends with status 3' $? 3
like 'and says what it kept' "$(cat "$tmp/err")" ': 1422 rows kept, 91 rejected, 0 late; 162 events lost$'
"$BIN/ctp-tojsonl" "$tmp/redis.ctp" >"$tmp/out"
is 'which all who read the stream count too' $? 3

# The rule of jsonl-read.c, in other words: keep what has a probe_id, or a time and a thread.
awk -F '[:,]' '$2 != 0 || ($12 + 0 != 0 && $4 > 0 && $4 < 4294967296)' "$file" >"$tmp/kept"
is 'that is what the rule keeps' "$(wc -l <"$tmp/kept")" 1422
sort "$tmp/kept" >"$tmp/kept.sorted"
sort "$tmp/out" >"$tmp/out.sorted"
ok 'the rows that it keeps are there, each as it was' cmp "$tmp/kept.sorted" "$tmp/out.sorted"
# sort -s: equal times stay as they came.
sed 's/.*"ts":\([0-9]*\)}$/\1 &/' "$tmp/kept" | sort -s -n -k1,1 | cut -d ' ' -f 2- >"$tmp/want"
ok 'in time order, equal times as they came' cmp "$tmp/want" "$tmp/out"
"$BIN/ctp-fromjsonl" "$tmp/out" | "$BIN/ctp-tojsonl" | cmp - "$tmp/out"
is 'and from now on they come back byte for byte' $? 0
done_testing
