#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# The analyses for Trace Compass fit the traces that ctp-toctf writes, and show exactly what is true. Trace Compass
# itself is not used: t/helper/tracecompass.py does what it would do, and t/helper/tracecompass-truth.py computes what must be shown.
# Not under sanitizers: a model in Python works out the numbers, for minutes.
. t/helper/tap.sh
toctf=$BIN/ctp-toctf main=formats/ctf/ctp-tracecompass.xml
/usr/bin/python3 -c 'import bt2' 2>/dev/null || skip_all "there is no babeltrace2 for Python"
[ -x "$toctf" ] || skip_all 'ctp-toctf was not built'
python() { PYTHONIOENCODING=utf-8 /usr/bin/python3 "$@"; }

is 'the files keep to the schemas' "$(python t/helper/tracecompass-schema.py formats/ctf/ctp-tracecompass*.xml 2>&1)" ''
# Trace Compass searches the whole history for the name of each row: 118 s for 50,000 rows. There are few threads.
is 'rows of coroutines are named by their paths' "$(grep -c -e '<name ' -e '<id ' "$main")" 1

# FILE.ctp [OPTION]: what the analyses show of it is in $tmp/shown, what must be shown in $tmp/true, fields that are used but in no
# event in $tmp/missing. Empty rows are left out.
show() {
	rm -rf "$tmp/trace" && "$toctf" -q -o "$tmp/trace" "$1" 2>/dev/null
	"$BIN/ctp-tojsonl" -q -a "$1" >"$tmp/rows" 2>/dev/null
	for xml in formats/ctf/ctp-tracecompass*.xml; do
		# shellcheck disable=SC2086
		python t/helper/tracecompass.py $2 "$xml" "$tmp/trace" 2>&1
	done | grep -v ', \[\]\]$' | LC_ALL=C sort >"$tmp/all"
	grep 'no such field' "$tmp/all" >"$tmp/missing"
	grep -v 'no such field' "$tmp/all" >"$tmp/shown"
	python t/helper/tracecompass-truth.py rows "$tmp/rows" 2>"$tmp/unknown" | grep -v ', \[\]\]$' | LC_ALL=C sort >"$tmp/true"
}
shows() { # NAME FILE.ctp [OPTION]
	what=$1 && shift
	show "$@"
	is "$what" "$(diff "$tmp/true" "$tmp/shown" | head -n 20 | cut -c 1-300)" ''
}

# By hand. 1: a wake and two resumes in a gap; the loss is recorded after the transition. 2: lost before its first transition, and
# again at its end. 3: no birth, known first by a loss. The ring of thread 8 has a gap from 30 on.
row() { # CORO TID RUNS TS INDEX
	printf '{"type":"transition","probe_id":%d,"tid":%d,"addr":"0x0000000000000000","seq":2,"is_active":%s,"ts":%d,"coro":%d,"index":%d,"site":0}\n' \
		"$1" "$2" "$3" "$4" "$1" "$5"
}
tell() { printf '{"type":"%s","ts":%d,"probe_id":1,"coro":%d,%s}\n' "$@"; } # TYPE TS CORO KEYS
lost() { tell lost "$2" "$1" "\"index\":$3,\"count\":$4,\"unverified\":0,\"after\":$5"; } # CORO TS INDEX COUNT AFTER
birth() { tell birth "$2" "$1" "\"station\":0,\"after\":$2,\"before\":$2,\"parent\":0,\"site\":0,\"pid\":1"; } # CORO TS
section() { echo '{"type":"@section","attrs":{}}' && cat && echo '{"type":"@end","complete":true}'; }
{
	birth 1 10 && birth 2 11 && row 1 8 true 20 0 && row 1 8 false 25 1 && tell name 26 2 '"name":"\udcff"'
	row 2 8 true 28 4 && lost 2 28 0 4 11 && tell wake 40 1 '"tid":9,"by":0' && lost 3 45 7 2 0
	echo '{"type":"missed","ts":60,"tid":8,"count":0,"after":30,"transitions":9}'
	row 1 8 true 60 6 && lost 1 60 2 4 25 && row 1 8 false 65 7 && row 3 9 false 70 9 && tell wake 80 3 '"tid":9,"by":0'
	row 3 9 true 90 10 && lost 2 95 5 2 28 && tell death 100 3 '"after":100,"before":100'
} | section | "$BIN/ctp-fromjsonl" -q >"$tmp/hand.ctp"
show "$tmp/hand.ctp"
u='"unknown: events were lost"'
is 'a gap is unknown from the last transition before it to the next' "$(grep '^."Coroutines"' "$tmp/shown")" \
	'["Coroutines", ["Coroutines", "1"], [[10, 20, "created"], [20, 25, "running"], [25, 60, '"$u"'], [60, 65, "running"], [65, 100, "suspended"]]]
["Coroutines", ["Coroutines", "2"], [[11, 100, '"$u"']]]
["Coroutines", ["Coroutines", "3"], [[45, 70, '"$u"'], [70, 90, "suspended"], [90, 100, "running"]]]'
is 'a wake in a gap changes nothing' "$(grep -e '^."Woken' -e '^."segment' "$tmp/shown")" \
	'["Woken, not yet running", ["Woken", "3"], [[80, 90, "woken, not yet running"]]]
["segment", 80, 90, "(no name)", {"coroutine": 3, "thread": 9, "woken by": 0}]'
is "a thread's gap is unknown likewise" "$(grep '^."Threads' "$tmp/shown")" \
	'["Threads and their coroutines", ["Threads", "8", "8"], [[20, 25, "1"], [28, 60, '"$u"'], [60, 65, "1"]]]
["Threads and their coroutines", ["Threads", "9", "9"], [[90, 100, "3"]]]'
is 'an independent model agrees' "$(diff "$tmp/true" "$tmp/shown")" ''

# Probes without sites, as those of coroTracer: by address.
{
	birth 1 10 && row 1 8 true 20 0 && row 1 8 false 30 1 && birth 2 31 && row 2 8 true 32 0 && row 2 8 false 35 1
	row 1 8 true 40 2 && row 1 8 false 45 3 && row 2 8 true 50 2 && tell death 60 2 '"after":60,"before":60'
} | sed '/"coro":1,.*"ts":45,\|"ts":45,"coro":1/!s/"addr":"0x0000000000000000"/"addr":"0x0000000000001000"/' | section |
	"$BIN/ctp-fromjsonl" -q >"$tmp/plain.ctp"
shows 'waits without sites are right' "$tmp/plain.ctp"
is 'they have a row for each address' "$(grep '^."Where' "$tmp/shown")" \
	'["Where coroutines wait", ["Waits", "at address", "4096", "1"], [[30, 40, "suspended"]]]
["Where coroutines wait", ["Waits", "at address", "4096", "2"], [[35, 50, "suspended"]]]'

for seed in 1 2; do
	python t/helper/tracecompass-truth.py make $seed | "$BIN/ctp-fromjsonl" -q >"$tmp/random.ctp"
	shows "random losses, $seed: each row of each view, each segment and each frame are right" "$tmp/random.ctp"
	is 'every field that is used is in the trace' "$(cat "$tmp/missing")" ''
	like 'there is unknown time to compare' "$(cat "$tmp/unknown")" '^unknown for [1-9][0-9]{5,} ns$'
done
shows 'the same in CTF 2, where an enumeration is a number' "$tmp/random.ctp" --ctf2

# Names that are longer than a state may be, and the same up to there.
long=$(printf '%032768d' 0)
{
	for c in 1 2; do birth $c 10 && tell name 11 $c "\"name\":\"$long$c\"" && row $c $c false 20 0; done
	for c in 1 2; do tell wake 30 $c '"tid":9,"by":0' && row $c $c true 40 1; done
	tell death 50 1 '"after":50,"before":50'
} | section | "$BIN/ctp-fromjsonl" -q >"$tmp/long.ctp"
show "$tmp/long.ctp"
is 'two long names stay different: in rows, segments, threads and frames' \
	"$(grep -oE '0\\\\[.]{3}[0-9a-f]{16}"' "$tmp/shown" | sort | uniq -c | awk '{ print $1 }' | tr '\n' ' ')" '4 4 '

# Real traces: a handler that is never woken; a coroutine with hardly an event read; threads that write faster than
# the collector reads, with some late events.
"$BIN/ctp-collect" -q "$O/examples/lostwake" >"$tmp/lostwake.ctp" 2>/dev/null
"$BIN/ctp-collect" -q "$O/t/helper/tracee" -e 50000 >"$tmp/tracee.ctp" 2>/dev/null
cat >"$tmp/hot.c" <<'end'
#include <ctp.h>
#include <pthread.h>
#include <stdlib.h>

static void *work(void *arg)
{
	unsigned seed = (unsigned)(size_t)arg;
	struct ctp_coro co[8];
	for (int i = 0; i < 8; i++) {
		ctp_coro_new(&co[i], (uintptr_t)&co[i]);
		ctp_coro_name(&co[i], i % 2 ? "odd" : "even");
		ctp_coro_suspend(&co[i], CTP_HERE);
	}
	for (int n = 0; n < 1500; n++) {
		struct ctp_coro *one = &co[rand_r(&seed) % 8];
		ctp_coro_wake(one);
		ctp_coro_resume(one);
		ctp_coro_suspend(one, CTP_HERE);
	}
	for (int i = 0; i < 8; i++)
		ctp_coro_death(&co[i]);
	return NULL;
}

int main(void)
{
	pthread_t threads[2];
	for (size_t i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, (void *)(i + 1));
	for (size_t i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
end
ok 'a program that overruns its rings compiles' cc_traced -o "$tmp/hot" "$tmp/hot.c"
"$BIN/ctp-collect" -q --ring 64 "$tmp/hot" >"$tmp/hot.ctp" 2>/dev/null
for name in lostwake tracee hot; do shows "$name: all that is shown is true" "$tmp/$name.ctp"; done

# coroTracer's own files do not say which coroutine an event belongs to.
echo '{"probe_id":7,"tid":8,"addr":"0x0000000000000009","seq":2,"is_active":true,"ts":10}' |
	"$BIN/ctp-fromjsonl" -q >"$tmp/plain.ctp"
show "$tmp/plain.ctp"
is 'without coroutines in transitions nothing is shown, and nothing is logged' "$(cat "$tmp/shown")" ''
done_testing
