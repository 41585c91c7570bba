#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# ctp-report repeats nothing: of objects and chains that differ only in numbers it shows one, with how many there are; the folder that all
# files are in is named once; and coroutines without a name have that of their function.
# In check-fast.
. t/helper/tap.sh
root=/home/somebody/work/projects/messages/server-of-messages/crates/network/

# Two coroutines await one another. Ten clients await the first, and a reader without a name awaits each client. Of 33 queues with one
# name, one has 5 items, and three coroutines wait for it.
{
	echo '{"type":"@section","attrs":{"pid":"7","host":"here"}}'
	echo '{"type":"site","ts":1,"site":1,"file":"'$root'listener/src/accept.rs","line":20,"function":"app::serve::<alloc::string::String>::{{closure}}"}'
	echo '{"type":"site","ts":1,"site":2,"file":"'$root'session/src/lib.rs","line":7,"function":"app::join"}'
	command awk 'BEGIN {
		for (i = 1; i <= 25; i++) {
			target = i == 1 ? 2 : i == 2 || i < 13 ? 1 : i < 23 ? i - 10 : 0
			t = 1000 * i
			printf "{\"type\":\"birth\",\"ts\":%d,\"probe_id\":%d,\"coro\":%d,\"station\":%d,\"after\":%d,\"before\":%d,\"parent\":0,\"site\":1,\"pid\":7}\n", t, 100 + i, i, i, t, t
			if (i < 13) printf "{\"type\":\"name\",\"ts\":%d,\"probe_id\":%d,\"coro\":%d,\"name\":\"%s %d\"}\n", t, 100 + i, i, i < 3 ? "worker" : "client", i
			rest = rest sprintf("{\"type\":\"transition\",\"probe_id\":%d,\"tid\":9,\"is_active\":true,\"ts\":%d,\"coro\":%d,\"index\":0,\"site\":0}\n", 100 + i, t + 50000, i)
			if (target)
				rest = rest sprintf("{\"type\":\"await\",\"ts\":%d,\"probe_id\":%d,\"coro\":%d,\"target\":%d,\"joins\":true}\n", t + 50100, 100 + i, i, target)
			else
				rest = rest sprintf("{\"type\":\"reason\",\"ts\":%d,\"probe_id\":%d,\"coro\":%d,\"pid\":7,\"for\":\"item\",\"deadline\":0,\"fd\":-1,\"object\":\"0x%016x\",\"count\":1,\"marks\":\"none\"}\n", t + 50100, 100 + i, i, 65556)
			rest = rest sprintf("{\"type\":\"transition\",\"probe_id\":%d,\"tid\":9,\"is_active\":false,\"ts\":%d,\"coro\":%d,\"index\":1,\"site\":2}\n", 100 + i, t + 50101, i)
		}
		for (i = 0; i < 33; i++) {
			printf "{\"type\":\"object\",\"ts\":40000,\"pid\":7,\"object\":\"0x%016x\",\"for\":\"item\",\"available\":%d,\"site\":0,\"marks\":\"none\"}\n", 65536 + i, i == 20 ? 5 : 0
			printf "{\"type\":\"object_name\",\"ts\":40000,\"pid\":7,\"object\":\"0x%016x\",\"name\":\"write queue\"}\n", 65536 + i
		}
		printf "%s", rest
	}'
	echo '{"type":"@mark","ts":3000000000}'
	echo '{"type":"@end","complete":true}'
} >"$tmp/rows.jsonl"
"$BIN/ctp-fromjsonl" -q "$tmp/rows.jsonl" >"$tmp/rows.ctp"
"$BIN/ctp-report" -q "$tmp/rows.ctp" >"$tmp/text"
"$BIN/ctp-report" -qv "$tmp/rows.ctp" >"$tmp/all"

is 'of 33 queues with one name, 32 are a row, and the one that has items is the first' \
	"$(grep "queue 'write queue'" "$tmp/text" | sed 's/  */ /g; s/^ //')" "3 2.00us some queue 'write queue'
0 - 0 queue 'write queue' x 32"
is '-v has them all' "$(grep -c "queue 'write queue'" "$tmp/all")" 33
is 'of ten chains there is one, and how many are like it' "$(grep -c 'client [0-9]* (#[0-9]*)  at' "$tmp/text") $(grep -c 'and 9 more like it' "$tmp/text")" '1 1'
is '-v has them all, too' "$(grep -c 'client [0-9]* (#[0-9]*)  at' "$tmp/all")" 10
like 'a coroutine without a name has that of its function' "$(cat "$tmp/text")" '^ *serve \(#[0-9]+\)  at session/src/lib.rs:7:app::join'
is 'the folder of all files is named once' "$(grep -c "$root" "$tmp/text") $(grep "$root" "$tmp/text")" "1   files are in $root"
like 'and is left out of titles and sentences' "$(cat "$tmp/text")" '^1\. .* at session/src/lib\.rs:7:app::join'
ok '-v names sites whole' test "$(grep -c "${root}session" "$tmp/all")" -gt 10
ok 'so does JSON' test "$("$BIN/ctp-report" -qj "$tmp/rows.ctp" | grep -o "${root}session" | wc -l)" -gt 10
done_testing
