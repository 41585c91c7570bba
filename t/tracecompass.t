#!/bin/sh
# The analysis for Trace Compass fits the traces that ctp-toctf writes: the events and fields that it names are there, and what
# it makes of a trace is what happened. Trace Compass itself has no part in this: t/tracecompass.py does what it would do.
. t/tap.sh
xml=formats/ctp-tracecompass.xml toctf=$BIN/ctp-toctf
/usr/bin/python3 -c 'import bt2' 2>/dev/null || skip_all "there is no babeltrace2 for Python"
[ -x "$toctf" ] || skip_all 'ctp-toctf was not built'
ok 'it is XML' /usr/bin/python3 -c 'import sys, xml.etree.ElementTree as t; t.parse(sys.argv[1])' "$xml"

# Of a program in which one handler is never woken; and one whose events are more than anybody could read.
"$BIN/ctp-collect" -q "$O/examples/lostwake" >"$tmp/lw.ctp" 2>/dev/null
"$BIN/ctp-collect" -q "$O/t/tracee" -e 50000 >"$tmp/lost.ctp" 2>/dev/null
# And one whose coroutines have names and are woken: 1 and 4 wait, 2 runs, 3 did and took the thread of 1 before.
row() { # CORO TID RUNS TS
	printf '{"type":"transition","probe_id":%d,"tid":%d,"addr":"0x0000000000000000","seq":2,"is_active":%s,"ts":%d,"coro":%d,"index":%d,"site":0}\n' \
		"$1" "$2" "$3" "$4" "$1" "$4"
}
tell() { printf '{"type":"%s","ts":%d,"probe_id":1,"coro":%d,%s}\n' "$@"; } # TYPE TS CORO KEYS
{
	echo '{"type":"@section","attrs":{}}'
	tell name 1 1 '"name":"reader"' && tell name 1 2 '"name":"writer"'
	row 1 8 true 2 && row 2 9 true 3 && row 3 8 true 4 && row 1 8 false 5
	row 4 9 false 6 && row 4 9 true 7 && row 4 9 false 8 && row 2 9 true 9
	tell wake 10 1 '"tid":9,"by":2' && tell wake 10 2 '"tid":9,"by":0'
	echo '{"type":"@end","complete":true}'
} | "$BIN/ctp-fromjsonl" -q >"$tmp/woken.ctp"
cat "$tmp/lw.ctp" "$tmp/lost.ctp" "$tmp/woken.ctp" >"$tmp/both.ctp"
"$toctf" -q -o "$tmp/both" "$tmp/both.ctp" 2>/dev/null
/usr/bin/python3 t/tracecompass.py "$xml" "$tmp/both" >"$tmp/out" 2>&1
is 'every name that it uses is in the trace' "$(grep -v '^[CT]' "$tmp/out")" ''

"$toctf" -q -o "$tmp/lw" "$tmp/lw.ctp"
/usr/bin/python3 t/tracecompass.py "$xml" "$tmp/lw" >"$tmp/out" 2>/dev/null
"$BIN/ctp-tojsonl" -a "$tmp/lw.ctp" >"$tmp/lw.jsonl"
count() { grep -c "^{\"type\":\"$1\"" "$tmp/lw.jsonl"; }
births=$(count birth) deaths=$(count death)
is 'a row for each coroutine; who is not dead is suspended' "$(grep '^Coroutines [0-9]' "$tmp/out")" \
	"Coroutines $births [('dead', $deaths), ('suspended', $((births - deaths)))]"
threads=$(sed -n 's/^{"type":"transition".*"tid":\([0-9]*\),.*"is_active":true.*/\1/p' "$tmp/lw.jsonl" | sort -u | wc -l)
is 'a row for each thread that ran one, and none runs a coroutine at the end' "$(grep '^Threads' "$tmp/out")" \
	"Threads $threads [(None, $threads)]"

"$toctf" -q -o "$tmp/woken" "$tmp/woken.ctp"
/usr/bin/python3 t/tracecompass.py "$xml" "$tmp/woken" >"$tmp/out" 2>/dev/null
is 'rows have names; who was woken and does not run yet is told from who was not; threads run coroutines by name' \
	"$(grep '^[CT][a-z]* ' "$tmp/out")" "Coroutines named [('1', 'reader'), ('2', 'writer')]
Coroutines 4 [('running', 2), ('suspended', 1), ('woken, not yet running', 1)]
Threads 2 [('3', 1), ('writer', 1)]"
done_testing
