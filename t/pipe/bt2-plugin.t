#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# babeltrace2 opens raw streams through our plugin: it finds them by itself, shows what they hold, and its own filters and sinks
# work on them.
# Not under sanitizers: babeltrace2 loads the plugin, and has no sanitizer.
. t/helper/tap.sh
command -v babeltrace2 >/dev/null || skip_all 'there is no babeltrace2'
[ -f "$O/plugins/babeltrace-plugin-ctp.so" ] || skip_all 'the plugin was not built'
to=$BIN/ctp-tojsonl from=$BIN/ctp-fromjsonl rand=$O/t/helper/randstream
BABELTRACE_PLUGIN_PATH=$(cd "$O/plugins" && pwd)
export BABELTRACE_PLUGIN_PATH TZ=UTC
bt() { babeltrace2 "$@" 2>"$tmp/err"; }
# CTF 1.8 has no truth values: some make numbers of them, and some names.
plain() { sed 's/ = false\([ ,]\)/ = 0\1/g; s/ = true\([ ,]\)/ = 1\1/g; s/( "false" : container = 0 )/0/g; s/( "true" : container = 1 )/1/g'; }
# FILE DIR: by its own sink, which from 2.1 on has to be told that it is CTF 1.8.
write_ctf() {
	case $(babeltrace2 --version) in
	*' 2.0.'*) bt "$1" -o ctf -w "$2" ;;
	*) bt "$1" -c sink.ctf.fs -p "path=\"$2\",ctf-version=\"1\"" ;;
	esac >/dev/null
}
records() { "$to" -aq "$@" 2>/dev/null | grep -vEc '^\{"type":"@(section|schema|end)"'; }

# Two sections with one clock, and one with another; each a file.
row() { printf '{"probe_id":%d,"tid":2,"addr":"0x0000000000abcdef","seq":2,"is_active":%s,"ts":%d}\n' "$@"; }
{ row 1 true 100 && row 1 false 200 && row 1 true 300; } | "$from" >"$tmp/a.ctp"
{ row 2 true 150 && row 2 false 250; } | "$from" >"$tmp/b.ctp"
cat >"$tmp/wall.jsonl" <<'END'
{"type":"@section","attrs":{"host":"there","pid":"17","argv":["./server","-v"],"clock":"monotonic","wall_offset_ns":"1000000000000000000"}}
{"type":"@schema","name":"odd","fields":[{"name":"ts","type":"u64","role":"time"},{"name":"a b","type":"bool"},{"name":"a-b","type":"string"},{"name":"7","type":"bytes"},{"name":"e","type":"enum","labels":{"one":1,"uno":1,"two":2}},{"name":"i","type":"i64"},{"name":"f","type":"f32"}]}
{"type":"odd","ts":5,"a b":true,"a-b":"x\udcffy\u0000z","7":"00ff","e":2,"i":-9223372036854775808,"f":0.5}
{"type":"odd","ts":6,"a b":false,"a-b":"","7":"","e":18446744073709551615,"i":9223372036854775807,"f":"Infinity"}
{"type":"@schema","name":"gone","kind":"loss","fields":[{"name":"ts","type":"u64","role":"time"},{"name":"n","type":"u64","role":"count"}]}
{"type":"gone","ts":8,"n":41}
{"type":"odd","ts":9223372036854775808,"a b":false,"a-b":"","7":"","e":0,"i":0,"f":0}
{"type":"@end","complete":true}
END
"$from" <"$tmp/wall.jsonl" >"$tmp/wall.ctp"

# --- what it looks like -----------------------------------------------------------------------------------------------------
transition() { echo "[00:00:00.000000$1] transition: { probe_id = $2, tid = 2, addr = 0xABCDEF, seq = 2, is_active = ( $3 ) }"; }
running='"running" : container = 1' suspended='"suspended" : container = 0'
is 'a file is found to be a stream, and printed' "$(bt --no-delta "$tmp/a.ctp")" "$(transition 100 1 "$running"
	transition 200 1 "$suspended"
	transition 300 1 "$running")"
is 'nothing else is printed' "$(cat "$tmp/err")" ''
is 'files are merged by time' "$(bt --no-delta "$tmp/a.ctp" "$tmp/b.ctp" | cut -c17-18)" '10
15
20
25
30'
cat "$tmp/a.ctp" "$tmp/b.ctp" >"$tmp/ab.ctp"
is 'sections are merged by time' "$(bt --no-delta "$tmp/ab.ctp")" "$(bt --no-delta "$tmp/a.ctp" "$tmp/b.ctp")"
bt --no-delta --clock-date "$tmp/wall.ctp" >"$tmp/out"
is 'wall time, every type, odd names, and late and huge times are shown' "$(cat "$tmp/out")" \
	'[2001-09-09 01:46:40.000000005] there odd: { a_b = true, a_b_ = "x\\xffy\\x00z", _7_length = 2, _7 = [ [0] = 0x0, [1] = 0xFF ], e = ( "two" : container = 2 ), i = -9223372036854775808, f = 0.5 }
[2001-09-09 01:46:40.000000006] there odd: { a_b = false, a_b_ = "", _7_length = 0, _7 = [ ], e = ( <unknown> : container = 18446744073709551615 ), i = 9223372036854775807, f = inf }
[2001-09-09 01:46:40.000000008] there gone: { n = 41 }
[2001-09-09 01:46:40.000000008] there odd: { ts = 9223372036854775808, a_b = false, a_b_ = "", _7_length = 0, _7 = [ ], e = ( <unknown> : container = 0 ), i = 0, f = 0 }'
like 'lost events are discarded events' "$(cat "$tmp/err")" 'discarded 41 events between .*000000008\] and .*000000008\]'
bt "$tmp/wall.ctp" -c sink.text.details >"$tmp/out"
for entry in 'tracer_name: ctptools' 'hostname: there' 'pid: 17' 'argv: ./server -v' 'ctp_section: {"host":"there"'; do
	ok "the environment has $entry" grep -qF "$entry" "$tmp/out"
done
for offset in -9223372036854775808 -1 0 9223372036854775807; do
	sed "s/\"wall_offset_ns\":\"[0-9]*\"/\"wall_offset_ns\":\"$offset\"/; s/\"ts\":9223372036854775808/\"ts\":9223372036854775807/" \
		"$tmp/wall.jsonl" | "$from" -q >"$tmp/odd.ctp"
	is "with an offset of $offset every event is shown" "$(bt "$tmp/odd.ctp" | wc -l)" 4
done
cat "$tmp/wall.ctp" "$tmp/ab.ctp" >"$tmp/mixed.ctp"
is 'sections with and without wall time are shown' "$(bt "$tmp/mixed.ctp" | wc -l)" 9

# --- its own filters and sinks ----------------------------------------------------------------------------------------------
is 'a time range selects events' "$(bt --no-delta --begin 0.00000015 --end 0.00000025 "$tmp/ab.ctp" | cut -c17-18)" '15
20
25'
like 'babeltrace2 counts the events' "$(bt "$tmp/ab.ctp" -c sink.utils.counter | tr -s ' \n' '  ')" ' 5 Event messages 2 Stream beginning messages 2 Stream end'
write_ctf "$tmp/wall.ctp" "$tmp/ctf"
is 'its own CTF sink writes all events' "$(bt --no-delta "$tmp/ctf" | grep -c ': { ')" 4
like 'its own CTF sink writes the number of discarded events' "$(cat "$tmp/err")" 'discarded 41 events'
if [ -x "$BIN/ctp-fromctf" ]; then
	"$BIN/ctp-fromctf" -q "$tmp/ctf" | "$to" -aq >"$tmp/out"
	is 'ctp-fromctf reads wall time, losses and an end from that' \
		"$(grep -cE '^{"type":"(@section".*"wall_offset_ns":"1000000000000000000"|odd","ts":5,|lost".*"count":41,|@end","complete":true)' "$tmp/out")" 4
fi
if "$BIN/ctp-collect" -q "$O/examples/lostwake" >"$tmp/lw.ctp" 2>/dev/null; [ -s "$tmp/lw.ctp" ]; then
	bt "$tmp/lw.ctp" | plain >"$tmp/text"
	is 'every event of a real trace is shown' "$(wc -l <"$tmp/text")" "$(records "$tmp/lw.ctp")"
	write_ctf "$tmp/lw.ctp" "$tmp/lw"
	bt "$tmp/lw" >"$tmp/out"
	ok 'its own CTF sink writes the same events' cmp "$tmp/text" "$tmp/out"
	if [ -x "$BIN/ctp-toctf" ]; then
		"$BIN/ctp-toctf" -q -o "$tmp/toctf" "$tmp/lw.ctp"
		bt "$tmp/toctf" | plain >"$tmp/out"
		ok 'ctp-toctf writes the same events' cmp "$tmp/text" "$tmp/out"
	fi
	if zstd -q "$tmp/lw.ctp" -o "$tmp/lw.ctp.zst" 2>/dev/null && "$to" "$tmp/lw.ctp.zst" >/dev/null 2>&1; then
		bt "$tmp/lw.ctp.zst" | plain >"$tmp/out"
		ok 'a compressed stream is read' cmp "$tmp/text" "$tmp/out"
	fi
	head -c $(($(wc -c <"$tmp/lw.ctp") / 2)) "$tmp/lw.ctp" | cat "$tmp/lw.ctp" - "$tmp/wall.ctp" "$tmp/a.ctp" >"$tmp/half.ctp"
	is 'a section after a truncated one is read' "$(bt "$tmp/half.ctp" | wc -l)" "$(records "$tmp/half.ctp")"
	is 'the truncation is reported once' "$(grep -c 'has no end' "$tmp/err")" 1
fi

# --- streams of every kind, value by value ----------------------------------------------------------------------------------
python=
/usr/bin/python3 -c 'import bt2' 2>/dev/null && python=/usr/bin/python3
raised=0
for seed in 1 2 3 4 5; do
	"$rand" "$seed" >"$tmp/r.ctp"
	"$to" -aq "$tmp/r.ctp" >"$tmp/r.jsonl" 2>/dev/null
	is "random stream $seed: every event" "$(bt "$tmp/r.ctp" | wc -l)" "$(records "$tmp/r.ctp")"
	is "random stream $seed: no warning except of losses and of a missing end" \
		"$(grep -vE 'has no end|Tracer (may have )?discarded' "$tmp/err")" ''
	rm -rf "$tmp/r"
	write_ctf "$tmp/r.ctp" "$tmp/r"
	is "random stream $seed: as CTF" "$(bt "$tmp/r" | wc -l)" "$(records "$tmp/r.ctp")"
	[ "$python" ] || continue
	"$python" t/helper/bt2-plugin.py "$tmp/r.jsonl" "$tmp/r.ctp" >"$tmp/out" 2>"$tmp/err"
	is "random stream $seed: every value" "$? $(grep -v 'has no end' "$tmp/err")" '0 '
	raised=$((raised + $(cut -d' ' -f2 "$tmp/out")))
done
[ -z "$python" ] || ok 'some of which came late' test "$raised" -gt 0

# --- damage -----------------------------------------------------------------------------------------------------------------
head -c 5000 "$tmp/r.ctp" | cat "$tmp/a.ctp" - "$tmp/b.ctp" >"$tmp/hurt.ctp"
{ echo rubbish && cat "$tmp/ab.ctp"; } >"$tmp/bad.ctp"
bt "$tmp/hurt.ctp" >"$tmp/out"
is 'the rest of a damaged stream is shown' "$? $(wc -l <"$tmp/out")" "0 $(records "$tmp/hurt.ctp")"
like 'the damage is reported with its place' "$(cat "$tmp/err")" "source.ctp.fs: $tmp/hurt.ctp: packet at 0x[0-9a-f]+: "
bt -c source.ctp.fs -p "inputs=[\"$tmp/bad.ctp\"]" >"$tmp/out"
is 'a stream that begins with rubbish is read if it is named' "$? $(wc -l <"$tmp/out")" "0 $(records "$tmp/bad.ctp")"
is 'the rubbish is reported once' "$(grep -c 'at 0x0: 8 bytes are no packet' "$tmp/err")" 1
bt -l E "$tmp/hurt.ctp" >/dev/null
is 'nothing is reported if babeltrace2 is to be quiet' "$(cat "$tmp/err")" ''

# --- failure ----------------------------------------------------------------------------------------------------------------
fails() { # NAME PATTERN PARAMETERS
	bt -c source.ctp.fs -p "$3" >/dev/null
	is "$1: failed" $? 1
	like "$1: said" "$(tr -s '\n ' '  ' <"$tmp/err")" "$2"
}
fails 'no such file' "$tmp/none: No such file" "inputs=[\"$tmp/none\"]"
fails 'no stream' "$tmp/wall.jsonl: is not a raw stream" "inputs=[\"$tmp/wall.jsonl\"]"
mkfifo "$tmp/pipe"
fails 'a pipe' 'is not a regular file' "inputs=[\"$tmp/pipe\"]"
fails 'no inputs' '.inputs. must be an array' 'inputs=7'
fails 'a parameter too many' 'there are no parameters but' "inputs=[\"$tmp/a.ctp\"],x=1"
done_testing
