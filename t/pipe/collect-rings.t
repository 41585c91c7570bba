#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# Events that do not fit into a thread's ring are counted exactly, or waited for with --lossless; but a collector that is
# stopped does not delay the program for ever.
. t/helper/tap.sh
collect=$BIN/ctp-collect CC=${CC:-cc}
command -v "$CC" >/dev/null || skip_all "there is no $CC"
cc_traced -o "$tmp/target" t/helper/attach/target.c 2>"$tmp/err" ||
	skip_all "$CC: $(head -n 1 "$tmp/err")"
mkfifo "$tmp/in" "$tmp/out"
said() { sed -n "s/.*[ :]\([0-9][0-9]*\) $1.*/\1/p" "$tmp/err" | tail -n 1; } # the number before that word
start() { # OPTION...
	"$collect" "$@" -o "$tmp/a.ctp" "$tmp/target" <"$tmp/in" >"$tmp/out" 2>"$tmp/err" &
	collector=$!
	exec 5>"$tmp/in" 6<"$tmp/out"
}
tell() { # WORD NUMBER: returns when it is done
	echo "$@" >&5
	read -r _ <&6
}
end() {
	echo 'x 3' >&5
	exec 5>&- 6<&-
	wait $collector
	status=$?
}

start
tell new 10
kill -STOP $collector
tell run 100000
kill -CONT $collector
end
is 'a burst of 200,000 while the collector is stopped loses none' "$status $(said events) $(said lost)" '3 200010 0'

start --ring 100
tell new 10
kill -STOP $collector
tell run 10000
kill -CONT $collector
tell run 10000
end
is 'with a small ring lost events are counted' "$status $(($(said events) + $(said lost)))" '3 40010'
ok "some events are lost: $(said lost)" test "$(said lost)" -gt 10000
"$BIN/ctp-tojsonl" -q -a "$tmp/a.ctp" >"$tmp/json" 2>/dev/null
is 'the records of losses add up to that number' \
	"$(sed -n '/"type":"lost"/s/.*"count":\([0-9]*\).*/\1/p' "$tmp/json" | awk '{ n += $1 } END { print n }')" "$(said lost)"
is 'the gaps of rings cover at least these losses, since slots may have had more' \
	"$(sed -n '/"type":"missed"/s/.*"transitions":\([0-9]*\).*/\1/p' "$tmp/json" | awk -v lost="$(said lost)" '{ n += $1 } END { print (n >= lost) }')" 1

start --ring 100 --lossless=16000
tell new 10
tell run 50000
end
is '--lossless waits and loses nothing' "$status $(said events) $(said lost)" '3 100010 0'

start --ring 100 --lossless=20
tell new 10
kill -STOP $collector
tell run 10000
kill -CONT $collector
end
is '--lossless does not wait for ever: the program ends, and its events are counted' \
	"$status $(($(said events) + $(said lost)))" '3 20010'
ok 'the rest is counted as lost' test "$(said lost)" -gt 10000

start --bare -v
tell new 10
tell run 1000
end
is '--bare has every event too' "$status $(said events) $(said lost)" '3 2010 0'
like '-v counts the rings of threads, and the stations by kind' "$(cat "$tmp/err")" \
	'^ctp-collect: 1 rings of threads; stations: 10 with rings, 0 ordered, 0 of version 1; woken [0-9]+ times$'

start --bare --ring 100
tell new 10
kill -STOP $collector
tell run 10000
kill -CONT $collector
end
"$BIN/ctp-tojsonl" -q -a "$tmp/a.ctp" 2>/dev/null | grep '"type":"lost"' >"$tmp/losses"
is '--bare: lost events are counted' "$status $(($(said events) + $(said lost)))" '3 20010'
is '--bare: at the end they are one loss of unknown coroutines' \
	"$(sed 's/"ts":[0-9]*,//' "$tmp/losses")" \
	"{\"type\":\"lost\",\"probe_id\":0,\"coro\":0,\"index\":0,\"count\":$(said lost),\"unverified\":0,\"after\":0}"

refused() { # NAME PATTERN ARG...
	name=$1 pattern=$2
	shift 2
	"$collect" "$@" >/dev/null 2>"$tmp/err"
	like "$name" "$? $(cat "$tmp/err")" "^125 ctp-collect: $pattern"
}
refused 'no ring' '--ring 0: not a number from 1 to ' --ring 0 true
refused 'a ring that is too large' '--ring 268435457: not a number from 1 to 268435456$' --ring 268435457 true
refused 'no time to wait' '--lossless 0: not a number from 1 to 16777$' --lossless=0 true
done_testing
