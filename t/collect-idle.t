#!/bin/sh
# Idle connected targets cost at most two system calls a second, of both threads together (judge: strace); and the first event
# after that wakes the collector, or most of those that follow would be lost.
. t/tap.sh
command -v strace >/dev/null || skip_all 'strace is not there'
collect=$BIN/ctp-collect tracee=$O/t/tracee
mkfifo "$tmp/before"
"$collect" "$tracee" -i 1000 -e 30 -r 200 -b "$tmp/before" >"$tmp/a.ctp" 2>"$tmp/closing" &
pid=$!
exec 3>"$tmp/before" # it is attached
sleep 1.5 # the rests grow to a second within that
timeout 6 strace -f -c -o "$tmp/trace" -p $pid >/dev/null 2>"$tmp/err"
exec 3>&-
wait $pid
[ -s "$tmp/trace" ] || skip_all "strace cannot attach here: $(head -n 1 "$tmp/err")"
calls=$(awk '$NF == "total" { print $4 }' "$tmp/trace")
note "$calls system calls in 6 seconds"
ok "at most 12 system calls in 6 seconds: $calls" test "$calls" -le 12
ok 'but more than none: it was looked at' test "$calls" -ge 3
like 'then it was woken in time' "$(cat "$tmp/closing")" ' 30 events, .* 0 lost'
done_testing
