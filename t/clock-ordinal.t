#!/bin/sh
# A section without a clock, clock=ordinal: each tool shows its times as numbers, and makes no time of them.
. t/tap.sh
ctp() { tool=$1; shift; "$BIN/ctp-$tool" "$@"; }
one() { printf '%s\n' "$1" | grep -c "$2"; } # how many lines of a text are like this

# 5 * 10^9 would be five seconds, and the offset a date: neither may show. Of two clocks the first counts.
schema='{"type":"@schema","name":"transition","kind":"transition","fields":[{"name":"probe_id","type":"u64","role":"probe"},{"name":"tid","type":"u64","role":"thread"},{"name":"addr","type":"u64","role":"address"},{"name":"seq","type":"u64","role":"sequence"},{"name":"is_active","type":"bool","role":"state"},{"name":"ts","type":"u64","role":"time","pred":"time"},{"name":"coro","type":"u64","role":"coroutine"},{"name":"index","type":"u64","role":"sequence"}]}'
section() { printf '{"type":"@section","attrs":{%s}}\n' "$1"; }
birth() { printf '{"type":"birth","ts":%s,"probe_id":%s,"coro":%s,"station":%s,"after":%s,"before":%s}\n' "$1" "$2" "$2" "$2" "$1" "$1"; }
step() { # TIME CORO TID INDEX ACTIVE
	printf '{"type":"transition","probe_id":%s,"tid":%s,"addr":"0x0000000000001000","seq":%s,"is_active":%s,"ts":%s,"coro":%s,"index":%s}\n' \
		"$2" "$3" $(($4 + 1)) "$5" "$1" "$2" "$4"
}
await() { printf '{"type":"await","ts":%s,"probe_id":%s,"coro":%s,"target":%s,"joins":true}\n' "$1" "$2" "$2" "$3"; }
over() { # TIME EVENTS
	printf '{"type":"end","ts":%s,"events":%s,"lost":0,"unverified":0,"untraced":0,"births":2,"deaths":0,"outcome":"exited","status":0,"after":%s,"before":%s}\n' "$1" "$2" "$1" "$1"
	echo '{"type":"@end","complete":true}'
}
# Two coroutines, each of which joins the other.
circle() {
	birth 1 1
	birth 2 2
	echo "$schema"
	step 3 1 10 0 true
	await 4 1 2
	step 5 1 10 1 false
	step 6 2 11 0 true
	await 7 2 1
	step 5000000000 2 11 1 false
	over 5000000007 4
}
offset='"wall_offset_ns":"1700000000000000000"'
{ section "$offset,\"clock\":\"ordinal\""; circle; } | ctp fromjsonl >"$tmp/o.ctp"
{ section '"clock":"ordinal"'; circle; } | ctp fromjsonl >"$tmp/bare.ctp"
{ section "\"clock\":\"monotonic\",$offset"; circle; } | ctp fromjsonl >"$tmp/clock.ctp"
{ section '"clock":"monotonic"'; circle; } | ctp fromjsonl >"$tmp/nowall.ctp"
cat "$tmp/clock.ctp" "$tmp/o.ctp" >"$tmp/both.ctp"

# --- ctp-stat
stat=$(ctp stat "$tmp/o.ctp") json=$(ctp stat -j "$tmp/o.ctp")
like 'stat: the clock' "$stat" '^  clock: +ordinal$'
like 'stat: numbers' "$stat" '^  order: +1 to 5000000007$'
is 'stat: no duration, no date' "$(one "$stat" 'duration\| ns$\|started\|UTC')" 0
like 'stat -j: numbers' "$json" '"first":1,"last":5000000007,'
is 'stat -j: no times' "$(one "$json" 'duration_ns\|first_ns\|last_ns')" 0
like 'stat: beside a section with a clock, that one alone has a duration' "$(ctp stat "$tmp/both.ctp")" '^duration:    5.000000006 s$'
is 'stat: in that section and in the total' "$(ctp stat "$tmp/both.ctp" | grep -c 'duration')" 2
is 'stat: a clock that is not ordinal keeps its times' "$(ctp stat "$tmp/clock.ctp" | grep -c 'duration\|to 5000000007 ns$\|started')" 3
{ section "$offset,\"clock\":\"monotonic\",\"clock\":\"ordinal\""; circle; } | ctp fromjsonl >"$tmp/two.ctp"
is 'stat: of two clocks the first counts' "$(ctp stat "$tmp/two.ctp" | grep -c 'duration\|started')" 2

done_testing
