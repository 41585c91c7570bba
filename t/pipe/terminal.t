#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# Names with terminal escape sequences are shown, and are harmless.
. t/helper/tap.sh
command -v python3 >/dev/null || skip_all 'there is no python3'

# CSI and OSC of seven and of eight bits, and characters that change the direction of writing.
evil='\u001b[31mred\u001b]0;title\u0007\u009b31m\u009dnine\u202eback\u2066in'
cat >"$tmp/evil.jsonl" <<JSON
{"type":"@section","attrs":{"host":"$evil","tool":"$evil","argv":["./a","$evil"]}}
{"type":"name","ts":1,"probe_id":1,"coro":1,"name":"$evil"}
{"type":"site","ts":1,"site":5,"file":"$evil","line":7,"function":"$evil","code":"0x0"}
{"type":"thread","ts":1,"tid":1,"pid":1,"name":"$evil"}
{"type":"transition","probe_id":1,"tid":1,"addr":"0x0","seq":2,"is_active":true,"ts":2,"coro":1,"index":0,"site":5}
{"type":"transition","probe_id":1,"tid":1,"addr":"0x0","seq":4,"is_active":false,"ts":3,"coro":1,"index":1,"site":5}
{"type":"$evil","ts":4,"$evil":1}
{"type":"@end","complete":true}
JSON
"$BIN/ctp-fromjsonl" -q "$tmp/evil.jsonl" >"$tmp/evil.ctp"

harm() { # the characters of a text that a terminal would interpret
	python3 -c '
import sys
text = sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
bad = {hex(ord(c)) for c in text if (c < " " and c not in "\n\t") or "\x7f" <= c <= "\x9f" or "\u202a" <= c <= "\u202e" or "\u2066" <= c <= "\u2069"}
print("nothing at all" if len(text) < 10 else " ".join(sorted(bad)))'
}
is 'ctp-stat' "$("$BIN/ctp-stat" "$tmp/evil.ctp" 2>&1 | harm)" ''
is 'ctp-report' "$("$BIN/ctp-report" -v "$tmp/evil.ctp" 2>&1 | harm)" ''
is 'ctp-report -j' "$("$BIN/ctp-report" -j "$tmp/evil.ctp" 2>&1 | harm)" ''
is 'ctp-tojsonl' "$("$BIN/ctp-tojsonl" -a "$tmp/evil.ctp" 2>&1 | harm)" ''
"$BIN/ctp-tojsonl" -a "$tmp/evil.ctp" >"$tmp/once.jsonl"
is 'JSON still has the same text' "$("$BIN/ctp-fromjsonl" -q "$tmp/once.jsonl" | "$BIN/ctp-tocsv" -aq | cksum)" "$("$BIN/ctp-tocsv" -aq "$tmp/evil.ctp" | cksum)"
is 'ctp-report -m' "$("$BIN/ctp-report" -mv "$tmp/evil.ctp" 2>&1 | harm)" ''
is 'ctp-report --folded' "$("$BIN/ctp-report" --folded=running --folded-unit ns "$tmp/evil.ctp" 2>&1 | harm)" ''
name=$(printf '/none/\033[31m\302\233\342\200\256x')
for tool in stat report tojsonl tocsv toctf tohtml toperfetto fromjsonl fromcsv; do
	is "ctp-$tool on standard error" "$("$BIN/ctp-$tool" "$name" 2>&1 >/dev/null | harm)" ''
done
"$BIN/ctp-tocsv" --class "$(printf 'x\033[31m\302\233')" "$tmp/evil.ctp" >/dev/null 2>"$tmp/err"
is 'a class name in a message is harmless' "$(harm <"$tmp/err")" ''
if [ -e "$O/lib/ctp.so" ] && command -v sqlite3 >/dev/null; then
	# sqlite3 itself escapes the query that it repeats.
	is 'the extension of SQLite' "$(sqlite3 :memory: ".load $O/lib/ctp" "select * from ctp('$name')" 2>&1 | sed "s/ctp('.*//" | harm)" ''
fi
# Of values, which are in quotes, babeltrace2 takes care itself.
if [ -e "$O/plugins/babeltrace-plugin-ctp.so" ] && command -v babeltrace2 >/dev/null; then
	is 'the plugin of babeltrace2' "$(babeltrace2 --plugin-path "$O/plugins" "$tmp/evil.ctp" 2>&1 | sed 's/"[^"]*"//g' | harm)" ''
fi

# --- a spreadsheet ------------------------------------------------------------------------------------------------------------
# Each cell of text that begins as a formula does has an apostrophe before it; numbers are numbers.
cat >"$tmp/sheet.jsonl" <<'JSON'
{"type":"@section","attrs":{}}
{"type":"@schema","name":"=x","kind":"event","fields":[{"name":"ts","type":"u64","role":"time","unit":"ns"},{"name":"=cmd","type":"string"},{"name":"n","type":"i64"},{"name":"how","type":"enum","labels":{"0":"@SUM","1":"b"}}]}
{"type":"=x","ts":1,"=cmd":"=HYPERLINK(\"x\")","n":-5,"how":"@SUM"}
{"type":"=x","ts":2,"=cmd":"+1","n":5,"how":"b"}
{"type":"=x","ts":3,"=cmd":"a=b","n":0,"how":"b"}
{"type":"=x","ts":4,"=cmd":"\tx","n":0,"how":"b"}
{"type":"=x","ts":5,"=cmd":"\n=1","n":0,"how":"b"}
{"type":"=x","ts":6,"=cmd":" \u000b\u00a0\u3000=1","n":0,"how":"b"}
{"type":"=x","ts":7,"=cmd":"\ufeff\u200b-1","n":0,"how":"b"}
{"type":"=x","ts":8,"=cmd":"\uff1d1","n":0,"how":"b"}
{"type":"=x","ts":9,"=cmd":"\u0001\u2028\uff20x","n":0,"how":"b"}
{"type":"=x","ts":10,"=cmd":"\u22121","n":0,"how":"b"}
{"type":"=x","ts":11,"=cmd":" a=b","n":0,"how":"b"}
{"type":"@end","complete":true}
JSON
"$BIN/ctp-fromjsonl" -q "$tmp/sheet.jsonl" >"$tmp/sheet.ctp" || cat "$tmp/err"
formulas() { # OPTION...: cells that a spreadsheet takes for a formula
	"$BIN/ctp-tocsv" -q "$@" "$tmp/sheet.ctp" | python3 -c '
import csv, itertools, re, sys, unicodedata
rows = list(csv.reader(sys.stdin))
blank = lambda c: c.isspace() or unicodedata.category(c) in ("Cc", "Cf")
begins = lambda c: "".join(itertools.dropwhile(blank, c))[:1]
cells = [c for row in rows for c in row if c[:1] and (c[0] in "\t\r\n" or begins(c) in list("=+-@\uff1d\uff0b\uff0d\uff20\u2212"))
         and not re.fullmatch("-?[0-9]+", c)]
print(len(rows), len([c for c in cells if not c.startswith("@s") and not c.startswith("@e") and not c in ("@meta",)]))'
}
is 'by default texts are unchanged' "$(formulas --class '=x')" '12 11'
is '--guard: no cell is a formula' "$(formulas --guard --class '=x')" '12 0'
is '--guard: other texts are unchanged' "$("$BIN/ctp-tocsv" -q --guard --class '=x' "$tmp/sheet.ctp" | grep -c '^3,a=b,\|^11," a=b",')" 2
like '--guard: all texts are readable' "$("$BIN/ctp-tocsv" -q --guard --class '=x' "$tmp/sheet.ctp")" "\"'=HYPERLINK\(\"\"x\"\"\)\",-5,"
done_testing
