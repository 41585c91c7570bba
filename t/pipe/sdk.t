#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# The C probe as a user sees it: it compiles with all compilers and standards, its users share one state, and a traced program does
# what it does untraced, whatever happens to the collector.
# Not under sanitizers: it compiles its programs itself.
. t/helper/tap.sh
lostwake=$O/examples/lostwake
warn='-pedantic -Wall -Wextra -Wshadow -Wundef -Wvla -Wwrite-strings -Werror'
proto='-Wstrict-prototypes -Wmissing-prototypes'

cat >"$tmp/one.c" <<'C'
#include "ctp.h"
#include <dlfcn.h>
#include <stdio.h>
void *other_state(void);
void other_use(struct ctp_coro *co);
int main(int argc, char **argv)
{
	struct ctp_coro co;
	ctp_coro_new(&co, 42);
	ctp_coro_suspend(&co, CTP_HERE);
	other_use(&co);
	int traced = ctp_traced(), shared = other_state() == (void *)&ctp_current_, own = 0;
	if (argc > 1) {
		void *so = dlopen(argv[1], RTLD_NOW);
		if (!so)
			return fputs(dlerror(), stderr), 1;
		void *(*state)(void), (*use)(struct ctp_coro *co);
		*(void **)&state = dlsym(so, "other_state");
		*(void **)&use = dlsym(so, "other_use");
		own = state() != (void *)&ctp_current_;
		use(&co);
		for (int i = argc > 2 ? atoi(argv[2]) : 0; i > 0; i--) {
			ctp_coro_suspend(&co, CTP_HERE);
			use(&co); /* two more events, one of them of our coroutine */
		}
	}
	printf("traced %d, shared %d, own %d, events %d\n", traced, shared, own, (int)co.events_);
	ctp_coro_death(&co);
	return 0;
}
C
cat >"$tmp/two.cc" <<'C'
#define CTP_LAYOUT_ONLY
#include "ctp.h"
#undef CTP_LAYOUT_ONLY
#include "ctp.h"
extern "C" void *other_state(void) { return &ctp_current_; }
extern "C" void other_use(struct ctp_coro *co)
{
	struct ctp_coro mine;
	ctp_coro_resume(co);
	ctp_coro_new(&mine, 43);
	ctp_coro_suspend(&mine, CTP_HERE);
	ctp_coro_death(&mine);
}
C

cat >"$tmp/many.c" <<'C'
#include "ctp.h"
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	struct ctp_coro co;
	ctp_coro_new(&co, 42);
	for (int i = 1; i < argc; i++) {
		void *so = dlopen(argv[i], RTLD_NOW), (*use)(struct ctp_coro *co);
		if (!so)
			return fputs(dlerror(), stderr), 1;
		*(void **)&use = dlsym(so, "other_use");
		use(&co);
	}
	return 0;
}
C

pairs=0
for pair in gcc:g++ clang:clang++; do
	cc=${pair%:*} cxx=${pair#*:}
	command -v $cc >/dev/null && command -v $cxx >/dev/null || { note "there is no $cc with $cxx"; continue; }
	pairs=$((pairs + 1))
	for opt in -O0 -O2; do
		ok "$cc $opt -std=c11" $cc -std=c11 $warn $proto $opt -Isdk/c -c -o "$tmp/one.o" "$tmp/one.c"
		ok "$cc $opt -std=gnu17" $cc -std=gnu17 $warn $proto $opt -Isdk/c -c -o "$tmp/one17.o" "$tmp/one.c"
		for std in c++11 c++20; do
			ok "$cxx $opt -std=$std" $cxx -std=$std $warn $opt -Isdk/c -c -o "$tmp/two.o" "$tmp/two.cc"
		done
	done
	ok "$cxx: a shared object" $cxx -fPIC -shared -Isdk/c -o "$tmp/two.so" "$tmp/two.cc"
	ok "$cc and $cxx: a program of both" $cc -rdynamic -o "$tmp/prog" "$tmp/one.o" "$tmp/two.o" -ldl
	is 'its files share one state; a shared object that is loaded has its own' \
		"$("$tmp/prog" "$tmp/two.so")" 'traced 0, shared 1, own 1, events 0'
	is 'all of them are traced' "$("$BIN/ctp-collect" -q -o "$tmp/prog.ctp" "$tmp/prog" "$tmp/two.so")" \
		'traced 1, shared 1, own 1, events 3'
	"$BIN/ctp-tojsonl" "$tmp/prog.ctp" | sed 's/.*probe_id":\([0-9]*\).*is_active":\([a-z]*\).*/\1 \2/' >"$tmp/events"
	is 'two probes that write in turn on one thread do not disturb each other' \
		"$("$BIN/ctp-collect" -o "$tmp/many.ctp" "$tmp/prog" "$tmp/two.so" 5000 2>&1 >/dev/null | sed 's/, [^,]* s$//')" \
		'ctp-collect: 15005 events, 5003 coroutines, 0 lost, 0 untraced'
	for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
		cp "$tmp/two.so" "$tmp/copy$n.so"
	done
	ok "$cc: a program that loads" $cc -std=c11 -Isdk/c -o "$tmp/loads" "$tmp/many.c" -ldl
	ok 'it can load any number of objects with a probe' "$BIN/ctp-collect" -q -o "$tmp/loads.ctp" "$tmp/loads" "$tmp"/copy*.so
	is 'the trace of the program of both has all its events' \
		"$(paste -sd, "$tmp/events")" '42 false,42 true,43 false,42 true,43 false'
done
ok 'there is a compiler' test $pairs -gt 0

printf '#include <stdio.h>\n#include "ctp.h"\nstruct ctp_coro co;\n' >"$tmp/late.c"
for cc in gcc clang; do
	command -v $cc >/dev/null || continue
	$cc -std=c11 -Isdk/c -c -o "$tmp/late.o" "$tmp/late.c" 2>"$tmp/late.err"
	like "$cc, a strict standard and a late include: it says what to do" \
		"$(grep error: "$tmp/late.err" | head -n 1)" 'include ctp.h before the system.s headers'
	is 'there is only one error more' "$(grep -c error: "$tmp/late.err")" 2
done

sed -n 's/^static inline .*[ *]\(ctp_[a-z_]*[a-z]\)(.*);$/\1/p' sdk/c/ctp.h >"$tmp/calls"
is 'there are thirty-two calls' "$(wc -l <"$tmp/calls")" 32
is 'the manual has each, and describes it' "$(while read -r call; do
	grep -q "^\.Fn $call" doc/ctp.h.3 && sed -n '/^.Sh DESCRIPTION/,$p' doc/ctp.h.3 | grep -q "Fn ${call%_[ai][tn]}\>" || echo "$call"
done <"$tmp/calls")" ''

# Each way to record a yield, and a wake by another coroutine beside it; awaits and joins.
cat >"$tmp/yields.c" <<'C'
#include "ctp.h"
int main(void)
{
	static struct ctp_site here = { "place.c", "gives_way", 7, 0 };
	struct ctp_coro a, b;
	ctp_coro_new(&a, 1);
	ctp_coro_new(&b, 2);
	ctp_coro_resume(&a);
	ctp_coro_yield(&a, CTP_HERE);
	ctp_coro_resume(&a);
	ctp_coro_yield_at(&a, CTP_HERE, &here);
	ctp_coro_resume(&a);
	ctp_coro_yield_in(&a, CTP_HERE, ctp_site_number("place.c", 8, "gives_way"));
	ctp_coro_resume(&a);
	ctp_coro_wake(&a); /* in this order too */
	ctp_coro_suspend(&a, CTP_HERE);
	ctp_coro_resume(&a);
	ctp_coro_wake(&b);
	ctp_coro_suspend(&a, CTP_HERE);
	ctp_coro_wake(&a); /* by nobody */
	for (int i = 0; i < 4; i++) {
		ctp_coro_resume(&a);
		if (i < 2)
			i % 2 ? ctp_coro_await_ref(&a, ctp_coro_ref(&b)) : ctp_coro_await(&a, &b);
		else
			i % 2 ? ctp_coro_join_ref(&a, ctp_coro_ref(&b)) : ctp_coro_join(&a, &b);
		ctp_coro_suspend(&a, CTP_HERE);
	}
	return 0;
}
C
ok 'a program that yields compiles' cc -std=c11 -Isdk/c -o "$tmp/yields" "$tmp/yields.c"
ok 'it runs untraced' "$tmp/yields"
"$BIN/ctp-collect" -q -o "$tmp/yields.ctp" "$tmp/yields"
"$BIN/ctp-tojsonl" -a "$tmp/yields.ctp" >"$tmp/yields.jsonl"
is 'each yield is recorded as one, whatever is recorded first' "$(sed -n -e 's/.*"type":"wake".*"coro":\([12]\),.*"by":\([0-9]*\),"how":"\([a-z]*\)".*/\1 \3 by \2/p' \
	-e 's/.*"is_active":false.*/suspend/p' -e 's/.*"is_active":true.*/resume/p' "$tmp/yields.jsonl" | paste -sd, -)" \
	'resume,suspend,1 yield by 1,resume,suspend,1 yield by 1,resume,suspend,1 yield by 1,resume,1 yield by 1,suspend,resume,2 call by 1,suspend,1 call by 0,resume,suspend,resume,suspend,resume,suspend,resume,suspend'
is 'an await and a join are recorded as such' "$(sed -n 's/.*"type":"await".*"target":2,"joins":\([a-z]*\).*/\1/p' "$tmp/yields.jsonl" | paste -sd, -)" \
	'false,false,true,true'
is 'each has its place' "$(grep -c 'place.c:[78]:gives_way' "$tmp/yields.jsonl")" 2

# The example takes two seconds, mostly waiting: so all at once. The collectors of the last two are stopped, and killed, when
# they have begun; the stopped one is continued when its program has printed all.
story() { # FILE COMMAND...: what it prints, and how it ends
	story_to=$1
	shift
	{ "$@"; echo "status $?"; } >"$story_to" 2>&1
}
story "$tmp/untraced" "$lostwake" &
story "$tmp/stale" env CTP_SHM_PATH=/nonexistent CTP_SOCK_PATH=/nonexistent CTP_MAX_STATIONS=8 "$lostwake" &
story "$tmp/wrong" env CTP_SHM_PATH=/dev/zero CTP_SOCK_PATH=/dev/zero CTP_MAX_STATIONS=99999999999 "$lostwake" &
story "$tmp/recorded" env CTP_RECORD=1 "$lostwake" &
story "$tmp/bounded" sh -c 'ulimit -n 4; ulimit -v 400000; exec env CTP_RECORD=1 "$0"' "$lostwake" &
story "$tmp/poor" "$BIN/ctp-collect" -q -o "$tmp/poor.ctp" sh -c 'ulimit -n 4; ulimit -v 400000; exec "$0"' "$lostwake" &
story "$tmp/traced" "$BIN/ctp-collect" -q -o "$tmp/trace.ctp" "$lostwake" &
story "$tmp/few" "$BIN/ctp-collect" -q -n 5 -o "$tmp/few.ctp" "$lostwake" &
mkfifo "$tmp/to-stopped" "$tmp/to-killed"
copy_line() { read -r line && echo "$line"; }
{
	"$BIN/ctp-collect" -q -o "$tmp/stopped.ctp" "$lostwake" >"$tmp/to-stopped" 2>&1 &
	{
		copy_line
		kill -STOP $!
		copy_line
		copy_line
		kill -CONT $!
		cat
	} <"$tmp/to-stopped"
	wait $!
	echo "status $?"
} >"$tmp/stopped" &
{
	"$BIN/ctp-collect" -q -o "$tmp/killed.ctp" "$lostwake" >"$tmp/to-killed" 2>/dev/null &
	{
		copy_line
		kill -KILL $!
		cat
	} <"$tmp/to-killed"
	echo 'status 0' # the killed collector has no status to report
} >"$tmp/killed" 2>/dev/null &
wait

is 'untraced' "$(cat "$tmp/untraced")" 'lostwake: 48 coroutines, made by the main thread and run by 4 others
lostwake: 47 done, 1 never resumed
lostwake: lost handler 17, probe_id 217
status 0'
ok 'with variables of a collector that is gone the output is the same' cmp "$tmp/untraced" "$tmp/stale"
ok 'with invalid variables the output is the same' cmp "$tmp/untraced" "$tmp/wrong"
ok 'recorded, the output is the same' cmp "$tmp/untraced" "$tmp/recorded"
ok 'recorded with few descriptors and little memory, the output is the same' cmp "$tmp/untraced" "$tmp/bounded"
ok 'traced with few descriptors and little memory, the output is the same' cmp "$tmp/untraced" "$tmp/poor"
ok 'traced, the output is the same' cmp "$tmp/untraced" "$tmp/traced"
ok 'traced with too few stations, the output is the same' cmp "$tmp/untraced" "$tmp/few"
ok 'traced with a stopped collector, the output is the same' cmp "$tmp/untraced" "$tmp/stopped"
ok 'traced with a killed collector, the output is the same' cmp "$tmp/untraced" "$tmp/killed"
like 'the trace of a collector that was stopped is complete' "$("$BIN/ctp-stat" -j "$tmp/stopped.ctp")" '"complete":true'
like 'coroutines without a station are counted' "$("$BIN/ctp-stat" -j "$tmp/few.ctp")" '"untraced":43'
is 'one of 48 coroutines did not end, and it is suspended' "$("$BIN/ctp-tojsonl" -a "$tmp/trace.ctp" | awk '
	{ id = $0; sub(/.*"probe_id":/, "", id); sub(/,.*/, "", id) }
	/"type":"transition"/ { last[id] = $0 }
	/"type":"death"/ { delete last[id] }
	END { for (id in last) print id, (last[id] ~ /"is_active":false/) }')" '217 1'
done_testing
