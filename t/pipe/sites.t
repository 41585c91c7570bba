#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# Sites are shown as file:line:function in every readable output, and these texts are ignored when they are read again.
. t/helper/tap.sh
from=$BIN/ctp-fromjsonl to=$BIN/ctp-tojsonl tocsv=$BIN/ctp-tocsv fromcsv=$BIN/ctp-fromcsv

row() { # TS SITE [TEXT]
	printf '{"type":"transition","probe_id":7,"tid":3,"addr":"0x0000000000000001","seq":2,"is_active":false,"ts":%s,"coro":1,"index":%s,"site":%s%s}\n' \
		"$1" "$1" "$2" "${3:+,\"site_text\":\"$3\"}"
}
site() { printf '{"type":"site","ts":%s,"site":%s,"file":"%s","line":%s,"function":"%s"}\n' "$@"; } # TS SITE FILE LINE FUNCTION
{
	echo '{"type":"@section","attrs":{}}'
	site 1 12 server.cpp 212 handle
	site 1 13 'a, \"b\" é\udcff.c' 0 ''
	row 2 12 server.cpp:212:handle
	row 3 0
	row 4 13 'a, \"b\" é\udcff.c'
	row 5 99
	site 6 12 server.cpp 300 moved
	row 7 12 server.cpp:300:moved
	printf '{"type":"birth","ts":8,"probe_id":9,"coro":2,"station":0,"after":8,"before":8,"parent":1,"site":13,"site_text":"%s","pid":5}\n' \
		'a, \"b\" é\udcff.c'
	echo '{"type":"wake","ts":9,"probe_id":7,"coro":1,"tid":3,"by":2}'
	echo '{"type":"name","ts":9,"probe_id":7,"coro":1,"name":"reader 1"}'
	echo '{"type":"@schema","name":"own","kind":"other","fields":[{"name":"site","type":"u64","role":"site"},{"name":"site_text","type":"string"}]}'
	echo '{"type":"own","site":12,"site_text":"mine"}'
	echo '{"type":"@schema","name":"two","kind":"other","fields":[{"name":"type","type":"u8","role":"site"},{"name":"@at","type":"u64","role":"site"},{"name":"note","type":"string"}]}'
	echo '{"type":"two","@type":12,"type_text":"server.cpp:300:moved","@@at":13,"@@at_text":"a, \"b\" é\udcff.c","note":"x"}'
	echo '{"type":"@end","complete":true}'
	echo '{"type":"@section","attrs":{}}'
	row 1 12
	echo '{"type":"@end","complete":true}'
} >"$tmp/in"
"$from" "$tmp/in" >"$tmp/t.ctp"
is 'an input with texts of sites is read without an error' $? 0
"$to" -a "$tmp/t.ctp" >"$tmp/jsonl"
grep -v -e '"@schema","name":"[a-np-s]' -e '"@schema","name":"transition' -e '"@schema","name":"wake' "$tmp/jsonl" >"$tmp/out"
ok 'texts are written right after their numbers' cmp "$tmp/in" "$tmp/out"
"$from" "$tmp/jsonl" | "$to" -a >"$tmp/out"
ok 'JSONL gives the same stream' cmp "$tmp/jsonl" "$tmp/out"
sed 's/"[^"]*_text":"[^,]*",//; s/,"site_text":".*"}$/}/' "$tmp/jsonl" | grep -v '"own"' | "$from" | "$to" -a | grep -v -e '"@' -e '"two"' >"$tmp/out"
grep -v -e '"@' -e '"two"' -e '"own"' "$tmp/jsonl" >"$tmp/want"
ok 'the stream does not depend on the texts' cmp "$tmp/want" "$tmp/out"
is 'the plain form has no texts' "$("$to" "$tmp/t.ctp" | grep -c site)" 0

# --- CSV ----------------------------------------------------------------------------------------------------------------------
if [ -x "$tocsv" ]; then
	"$tocsv" -a "$tmp/t.ctp" >"$tmp/csv"
	like 'CSV: a column' "$(head -n 1 "$tmp/csv")" ',site_text,'
	is 'the text is quoted where necessary' "$("$tocsv" --class transition "$tmp/t.ctp" | cut -d , -f 8-)" "$(
		printf 'index,site,site_text\n2,12,server.cpp:212:handle\n3,0,\n4,13,"a, ""b"" é\377.c"\n5,99,\n7,12,server.cpp:300:moved\n1,12,')"
	is 'each site has a column of texts' "$("$tocsv" --class two "$tmp/t.ctp" | head -n 1)" 'type,type_text,@at,@at_text,note'
	is 'a field of that name keeps its values' "$("$tocsv" --class own "$tmp/t.ctp" | tail -n 1)" '12,mine'
fi
if [ -x "$tocsv" ] && [ -x "$fromcsv" ]; then
	"$fromcsv" "$tmp/csv" | "$to" -a >"$tmp/out"
	ok 'CSV gives the same stream' cmp "$tmp/jsonl" "$tmp/out"
	"$tocsv" --class transition "$tmp/t.ctp" >"$tmp/one.csv"
	"$fromcsv" "$tmp/one.csv" | "$tocsv" --class transition | cut -d , -f -9 | sort >"$tmp/out"
	cut -d , -f -9 "$tmp/one.csv" | sort >"$tmp/want"
	ok 'a class by its columns alone is known with the text among them' cmp "$tmp/want" "$tmp/out"
fi
if [ -x "$BIN/ctp-sqlite" ] && command -v sqlite3 >/dev/null; then
	"$BIN/ctp-collect" -q "$O/examples/lostwake" 2>/dev/null | "$to" -a |
		sed 's/^{"type":"end","ts":\([0-9]*\).*/{"type":"lost","ts":\1,"probe_id":0,"coro":0,"index":0,"count":5,"unverified":0,"after":1}\n&/' |
		"$from" -q >"$tmp/lost.ctp" 2>/dev/null
	"$BIN/ctp-sqlite" -q -o "$tmp/lost.sqlite" "$tmp/lost.ctp" 2>/dev/null
	is 'after a loss of unknown coroutines no last state is certain' \
		"$(sqlite3 "$tmp/lost.sqlite" "select name, certain from coroutine_states where state = 'suspended'")" 'handler 17|0'
fi
done_testing
