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
is 'the coroutine that hangs is found' "$(junit)" 'failures="1" errors="0"'
is 'tests that fail' "$(run "'$tmp/calm'; exit 1")" "1 $all"
is 'there is no finding' "$(junit)" 'failures="0" errors="0"'
is 'tests that are not traced' "$(run 'exit 0')" "1 $all"
is 'that is an error' "$(junit)" 'failures="0" errors="1"'
done_testing
