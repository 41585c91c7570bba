#!/bin/sh
# Idle connected targets cost at most two system calls a second, of both threads together (judge: strace); and the first event
# after that wakes the collector.
. t/tap.sh
command -v strace >/dev/null || skip_all 'strace is not there'
collect=$BIN/ctp-collect tracee=$O/t/tracee
mkfifo "$tmp/before"
"$collect" -v "$tracee" -i 1000 -e 7 -r 200 -b "$tmp/before" >"$tmp/a.ctp" 2>"$tmp/closing" &
pid=$!
exec 3>"$tmp/before" # it is attached
sleep 1.5 # the rests grow to a second within that
began=$(date +%s)
timeout 6 strace -f -c -o "$tmp/trace" -p $pid >/dev/null 2>"$tmp/err"
seconds=$(($(date +%s) - began + 1)) # a busy machine ends it later
exec 3>&-
wait $pid
[ -s "$tmp/trace" ] || skip_all "strace cannot attach here: $(head -n 1 "$tmp/err")"
calls=$(awk '$NF == "total" { print $4 }' "$tmp/trace")
ok "at most two system calls a second: $calls in $seconds seconds" test "$calls" -le $((2 * seconds))
ok 'but more than none: it was looked at' test "$calls" -ge 3
like 'then it was woken' "$(cat "$tmp/closing")" 'woken [1-9][0-9]* times$'
like 'and has all' "$(cat "$tmp/closing")" ' 7 events, .* 0 lost'
done_testing
