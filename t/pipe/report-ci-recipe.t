#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# The recipe of ctp-report(1) for continuous integration: it passes for tests that pass, and fails for tests that hang, leave a
# coroutine stuck, fail, or are not traced; and each time the report and the page are there.
# Not under sanitizers: the tools have tests of their own.
# Mostly waits.
. t/helper/tap.sh
. t/helper/example-trace.sh
[ -x "$BIN/ctp-tohtml" ] || skip_all 'ctp-tohtml was not built'
block recipe doc/ctp-report.1 | sed 's/KILL 60/KILL 3/' >"$tmp/ci.sh"
is 'the page has the recipe' "$(grep -c 'timeout -s KILL 3 ./tests' "$tmp/ci.sh")" 1
examples=$(cd "$O/examples" && pwd)
PATH=$(cd "$BIN" && pwd):$PATH
cat >"$tmp/calm.c" <<'END'
/* Each coroutine waits once, is woken, and ends. */
#include <ctp.h>
int main(void)
{
	for (int i = 0; i < 100; i++) {
		struct ctp_coro co;
		ctp_coro_new(&co, 0);
		ctp_coro_resume(&co);
		ctp_coro_suspend(&co, CTP_HERE);
		ctp_coro_wake(&co);
		ctp_coro_resume(&co);
		ctp_coro_death(&co);
	}
	return 0;
}
END
cc_traced -o "$tmp/calm" "$tmp/calm.c" || skip_all 'no program can be compiled'

# What wakes coroutines is no coroutine, and forgets the last. The trace cannot tell that nothing will wake it.
sed -e 's/Each coroutine waits once, is woken, and ends./The last coroutine is not woken, and the program waits for it./' \
	-e 's/#include <ctp.h>/&\n#include <unistd.h>/' -e 's/\t\tctp_coro_wake(&co);/\t\tif (i == 99)\n\t\t\tpause();\n&/' \
	"$tmp/calm.c" >"$tmp/forgets.c"
cc_traced -o "$tmp/forgets" "$tmp/forgets.c" || exit

run() { # COMMAND...: its status, and which files are there
	rm -rf "$tmp/run" && mkdir "$tmp/run"
	printf '#!/bin/sh\n%s\n' "$*" >"$tmp/run/tests" && chmod +x "$tmp/run/tests"
	status=$(cd "$tmp/run" && sh ../ci.sh >out 2>err; echo $?)
	echo "$status $(cd "$tmp/run" && find report.* junit.xml -size +0 | sort | tr '\n' ' ')"
}
all='junit.xml report.html report.md report.sarif '
junit() { sed -n 's/^<testsuite .*\(failures="[0-9]*" errors="[0-9]*"\).*/\1/p' "$tmp/run/junit.xml"; }

is 'tests that pass' "$(run "exec '$tmp/calm'")" "0 $all"
is 'their suite passes' "$(junit)" 'failures="0" errors="0"'
is 'tests that leave a coroutine stuck' "$(run "exec '$examples/lostwake'")" "1 $all"
is 'their suite has a failure' "$(junit)" 'failures="1" errors="0"'
like 'it says where' "$(cat "$tmp/run/junit.xml")" '^<failure type="likely" message="likely: 1 coroutine suspended at .*lostwake\.c:[0-9]+:handler_step'
is 'tests that hang' "$(run "'$examples/lostwake'; exec sleep 1000")" "1 $all"
is 'the coroutine that hangs is found, and that the program hung' "$(junit)" 'failures="2" errors="0"'
is 'tests that hang, and nobody knows why' "$(run "exec '$tmp/forgets'")" "1 $all"
is 'that is a failure, too' "$(junit)" 'failures="1" errors="0"'
like 'it says how the tests ended' "$(cat "$tmp/run/junit.xml")" '^<failure type="hang" message="the program did not end by itself: timeout\(1\) stopped it: killed by SIGKILL after [0-9.]+ s"'
like 'and where a coroutine waits' "$(cat "$tmp/run/junit.xml")" '^1 coroutine still waits at .*forgets\.c:[0-9]+:main|^possible: 1 coroutine waits at .*forgets\.c:'
"$BIN/ctp-report" -q --fail-on likely "$tmp/run/t.ctp" >"$tmp/said"
is 'and --fail-on counts it at each level' $? 4
like 'a line says why, with -q too' "$("$BIN/ctp-report" -q --fail-on proved "$tmp/run/t.ctp" 2>&1 >/dev/null)" '^ctp-report: --fail-on: the program did not end by itself: timeout'
is 'tests that fail' "$(run "'$tmp/calm'; exit 1")" "1 $all"
is 'there is no finding' "$(junit)" 'failures="0" errors="0"'
is 'tests that are not traced' "$(run 'exit 0')" "1 $all"
is 'that is an error' "$(junit)" 'failures="0" errors="1"'
done_testing
