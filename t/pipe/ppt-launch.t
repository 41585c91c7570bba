#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# ctp-ppt attach -- PROGRAM: a program is started, found and traced to its end, and its end is recorded.
. t/helper/tap.sh
. t/helper/ppt.sh
client=$O/t/helper/ppt-client
[ -x "$client" ] || skip_all 'there is no client'
trap '[ -z "$pid" ] || kill -9 $pid 2>/dev/null; rm -rf "$tmp"' EXIT
pid=
frames() { "$BIN/ctp-tojsonl" -aq "$1" | grep -c "\"type\":\"ppt_${2}_"; }

"$ppt" attach -v -o "$tmp/one.ctp" Foo -- "$client" -n 60000 -2 -s 1000 >"$tmp/said" 2>"$tmp/err"
status=$?
! grep -q 'ptrace_scope\|may not\|not permitted' "$tmp/err" || skip_all "$(cat "$tmp/err")"
is 'a program that is started, to its end: status' $status 0
is 'its options are its own, and its output is not redirected' "$(saved Foo "$tmp/said") $(saved FooBar "$tmp/said")" '1000 0'
is 'the stream has every frame since the attach' "$(frames "$tmp/one.ctp" Foo)" 1000
is 'the last line counts them, and does not mention status 0' "$(tail -n 1 "$tmp/err")" 'ctp-ppt: 1000 frames, 0 lost'
like 'the end record is that of the process' "$("$BIN/ctp-tojsonl" -aq "$tmp/one.ctp" | grep '"type":"ppt_end"')" '"outcome":"exited","status":0'
"$ppt" attach -q -o "$tmp/all-%b.ctp" -- "$client" -n 60000 -2 -s 2000 >"$tmp/said" 2>"$tmp/err"
is 'without names, all buffers: status' $? 0
is 'each buffer has its frames' "$(frames "$tmp/all-Foo.ctp" Foo) $(frames "$tmp/all-FooBar.ctp" FooBar)" "$(saved Foo "$tmp/said") $(saved FooBar "$tmp/said")"
"$ppt" attach -q Foo -- "$client" -n 60000 -s 1000 >"$tmp/all.ctp" 2>"$tmp/err"
is 'a stream on stdout is not mixed with the output of the program' "$(frames "$tmp/all.ctp" Foo)" "$(saved Foo "$tmp/err")"
"$ppt" attach -q -o "$tmp/lib.ctp" Lib -- "$client" -n 60000 -s 500 -l "$O/t/helper/ppt-client-lib.so" >"$tmp/said"
is 'a buffer of a library that is loaded later is waited for' "$? $(frames "$tmp/lib.ctp" Lib)" '0 500'
"$ppt" attach -o "$tmp/gamma-%b.ctp" Foo Gamma FooBar Gamma Foo -- "$client" -n 60000 -2 -s 500 >"$tmp/said" 2>"$tmp/err"
is 'a buffer that never appears does not affect the others: status, frames' "$? $(frames "$tmp/gamma-Foo.ctp" Foo) $(frames "$tmp/gamma-FooBar.ctp" FooBar)" \
	"3 $(saved Foo "$tmp/said") $(saved FooBar "$tmp/said")"
is 'the missing buffer is named once' "$(grep -c '^ctp-ppt: Gamma: no buffer of this name was found in the process$' "$tmp/err")" 1
"$ppt" attach -q -o "$tmp/exec.ctp" Foo -- sh -c 'sleep 0.2; exec "$0" -n 60000 -s 500' "$client" >"$tmp/said"
is 'a buffer of a program after exec is waited for' "$? $(frames "$tmp/exec.ctp" Foo)" '0 500'

# --- how it ends -----------------------------------------------------------------------------------------------------------
"$ppt" attach -o "$tmp/killed.ctp" Foo -- "$client" -n 60000 -k 300 >/dev/null 2>"$tmp/err"
is 'a program that is killed: status, the last line' "$? $(tail -n 1 "$tmp/err")" '3 ctp-ppt: 299 frames, 1 lost: 1 half-written; ended by signal 9'
like 'the end record has the signal' "$("$BIN/ctp-tojsonl" -aq "$tmp/killed.ctp" | grep '"type":"ppt_end"')" '"outcome":"killed","status":9'
like 'ctp-stat shows the signal' "$("$BIN/ctp-stat" -q "$tmp/killed.ctp")" 'killed by SIGKILL'
if command -v cc >/dev/null; then
	printf '#include "ppt.h"\nPPT_BUFFER(Three, 64, monotonic, (y, (int, n)));
		int main(void) { struct ppt_Three_y y = {0}; for (int k = 0; k < 60000 && y.n < 100; k++, usleep(1000)) { ppt_Three_y_save(&y); y.n += _ppt_hmem_Three.is.attached > 0; } return 3; }\n' >"$tmp/three.c"
	if cc -std=gnu11 -Isdk/ppt -pthread -o "$tmp/three" "$tmp/three.c"; then
		"$ppt" attach -o "$tmp/three.ctp" -- "$tmp/three" 2>"$tmp/err"
		is 'a program that fails gives the status of ctp-ppt' $? 0
		like 'its own status is in the last line' \
			"$(tail -n 1 "$tmp/err")" '^ctp-ppt: [0-9]+ frames, 0 lost; exit status 3$'
		like 'its own status is in the stream, as ctp-stat shows' \
			"$("$BIN/ctp-stat" -q "$tmp/three.ctp")" 'exited with status 3'
	fi
fi
"$ppt" attach -o "$tmp/none.ctp" -- sh -c 'exit 3' 2>"$tmp/err"
is 'a program without buffers: status' $? 1
is 'the missing buffers are reported' "$(cat "$tmp/err")" 'ctp-ppt: sh: has ended before ppt buffers were found in it: it has none, was too quick, or a child has them, as of sh -c without exec; exit status 3'
ok 'nothing is written for it' test ! -e "$tmp/none.ctp"
"$ppt" attach -t 0.2 -o "$tmp/none.ctp" Nonesuch -- "$client" -s 1 -n 3000 >/dev/null 2>"$tmp/err"
is 'a program without the named buffer: status' $? 1
like 'the missing named buffer is reported' "$(cat "$tmp/err")" '^ctp-ppt: .*ppt-client: has no ppt buffers Nonesuch after [0-9.]+ s, and goes on without us$'
"$ppt" attach -o "$tmp/nonesuch/x.ctp" -- sh -c ': >"$0"' "$tmp/ran" 2>"$tmp/err"
is 'an output that cannot be created: status' $? 1
like 'the output is reported' "$(cat "$tmp/err")" '^ctp-ppt: .*nonesuch/x.ctp: No such file'
ok 'the program is not started' test ! -e "$tmp/ran"
"$ppt" attach -- "$tmp/nonesuch" >/dev/null 2>"$tmp/err"
is 'a missing program is reported' "$? $(cat "$tmp/err")" "1 ctp-ppt: $tmp/nonesuch: No such file or directory"
"$ppt" attach -- 2>"$tmp/err"
is 'without a program the usage is wrong' "$? $(cat "$tmp/err")" '2 ctp-ppt: name a program after --'

# --- signals ------------------------------------------------------------------------------------------------------
"$ppt" attach -o "$tmp/cut.ctp" Foo -- "$client" -i >"$tmp/said" 2>"$tmp/err" &
agent=$!
await grep -q ready "$tmp/said"
has_ring() { grep -q /SYSV "/proc/$agent/maps"; }
await has_ring
has_child() { # the list of children may lack one while others end, and includes the child that reads the memory
	for pid in $(cat "/proc/$agent/task/$agent/children") ''; do
		! grep -q ppt-client "/proc/$pid/comm" 2>/dev/null || return 0
	done
	return 1
}
await has_child
kill -TERM "$agent"
wait "$agent"
ok 'a signal ends ctp-ppt, not the program' kill -0 "$pid"
is 'the buffer of the program is free' "$("$ppt" list "$pid" | awk '$1 == "Foo" { print $2 }')" free
kill "$pid"
done_testing
