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
cat "$tmp/lw.ctp" "$tmp/lost.ctp" >"$tmp/both.ctp"
"$toctf" -q -o "$tmp/both" "$tmp/both.ctp" 2>/dev/null
/usr/bin/python3 t/tracecompass.py "$xml" "$tmp/both" >"$tmp/out" 2>&1
is 'every name that it uses is in the trace' "$(grep -v '^[CT]' "$tmp/out")" ''

"$toctf" -q -o "$tmp/lw" "$tmp/lw.ctp"
/usr/bin/python3 t/tracecompass.py "$xml" "$tmp/lw" >"$tmp/out" 2>/dev/null
"$BIN/ctp-tojsonl" -a "$tmp/lw.ctp" >"$tmp/lw.jsonl"
count() { grep -c "^{\"type\":\"$1\"" "$tmp/lw.jsonl"; }
births=$(count birth) deaths=$(count death)
is 'a row for each coroutine; who is not dead is suspended' "$(grep '^Coroutines' "$tmp/out")" \
	"Coroutines $births [('dead', $deaths), ('suspended', $((births - deaths)))]"
threads=$(sed -n 's/^{"type":"transition".*"tid":\([0-9]*\),.*"is_active":true.*/\1/p' "$tmp/lw.jsonl" | sort -u | wc -l)
is 'a row for each thread that ran one, and none runs a coroutine at the end' "$(grep '^Threads' "$tmp/out")" \
	"Threads $threads [(None, $threads)]"
done_testing
