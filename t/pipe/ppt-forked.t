#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# A child of a client made by ppt's generator has its parent's ring, and saves to it with the same numbers: frames that it may have saved are
# counted as unverified, however short it lived.
. t/helper/tap.sh
. t/helper/ppt.sh
trap 'kill -9 "$pid" "$agent" 2>/dev/null; rm -rf "$tmp"' EXIT
agent=

# trace OPTION...: of the client, until it ends; the status in $status
trace() {
	: >"$tmp/said"
	"$O/t/helper/ppt-client" "$@" >"$tmp/said" 2>&1 &
	pid=$!
	await grep -q ready "$tmp/said"
	"$ppt" attach -v "$pid" Foo >"$tmp/out.ctp" 2>"$tmp/err"
	status=$?
	wait "$pid"
	"$BIN/ctp-tojsonl" -a "$tmp/out.ctp" >"$tmp/rows" 2>/dev/null
}
# Frames of the child: its n begins with 2^23.
of_child() { grep '^{"type":"ppt_Foo_' "$tmp/rows" | sed 's/.*"n":\([0-9]*\).*/\1/' | awk '$1 >= 8388608 { n++ } END { print n + 0 }'; }
unverified() { sed -n 's/^{"type":"ppt_unverified".*"count":\([0-9]*\).*/\1/p' "$tmp/rows" | awk '{ n += $1 } END { print n + 0 }'; }
summary() { sed -n '$s/.*, \([0-9]*\) unverified.*/\1/p' "$tmp/err"; }

trace -s 100
[ $status = 0 ] || skip_all "$(cat "$tmp/err")"
is 'a process without children: nothing is unverified' "$(unverified) $(summary)" '0 '

trace -d 300 -s 900
child=$(of_child) found=$(unverified)
note "$child frames of the child, $found unverified"
is 'a child that saves 200 frames, and ends: status' $status 3
ok "  all of its frames that were read are counted ($child, $found)" [ "$found" -ge "$child" ]
like '  the closing line has the same' "$(tail -1 "$tmp/err")" "^ctp-ppt: [0-9]+ frames, [0-9]+ lost.*, $found unverified: a child of the process may have saved them"
like '  the end of the section has the same' "$(grep '"type":"ppt_end"' "$tmp/rows")" "\"unverified\":$found,"
like '  ctp-stat knows the class' "$("$BIN/ctp-stat" "$tmp/out.ctp")" '  ppt_unverified$'
ok '  a file can be encoded from it' "$ppt" encode -q -o "$tmp/out.ppt1" "$tmp/out.ctp"

trace -e 300 -s 2500
is 'a child that becomes another program: status' $status 0
is '  nothing is unverified' "$(unverified) $(summary)" '0 '

# The parent saves no more, so it is unknown whether it would have saved the same.
trace -d 300 -s 301
is 'a parent that ends right after its child: status' $status 3
ok '  frames of the child are counted' [ "$(unverified)" -ge "$(of_child)" ]
done_testing
