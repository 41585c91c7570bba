#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# ctp.h with CTP_LIBRARY: files only get the calls, and libctp-probe.a, or one file, has the probe. Objects of a process that have a copy
# each share one attachment.
# Not under sanitizers: it compiles its programs itself.
. t/helper/tap.sh
cc=${CC:-cc} archive=$O/libctp-probe.a
library='-DCTP_LIBRARY -Isdk/c -pthread'

cat >"$tmp/quiet.c" <<'C'
#include "ctp.h"
C
cat >"$tmp/plugin.c" <<'C'
#include "ctp.h"
static struct ctp_coro co;
__attribute__((visibility("default"))) void NAME(void)
{
	ctp_coro_new(&co, 0);
	ctp_coro_name(&co, TEXT);
	ctp_coro_resume(&co);
	ctp_coro_suspend(&co, CTP_HERE);
	ctp_coro_wake(&co);
	ctp_coro_resume(&co);
	ctp_coro_death(&co);
}
C
cat >"$tmp/main.c" <<'C'
#include "ctp.h"
void one(void);
void two(void);
int main(void)
{
	struct ctp_coro co;
	ctp_coro_new(&co, 0);
	ctp_coro_name(&co, "main");
	ctp_coro_resume(&co);
	one();
	two();
	ctp_coro_death(&co);
	return !ctp_traced();
}
C
cat >"$tmp/probe.c" <<'C'
#define CTP_IMPLEMENTATION
#include "ctp.h"
C

# FILE: bytes of code and data
bytes() { size "$1" | awk 'NR == 2 { print $4 }'; }
for compiler in $cc $(command -v clang); do
	# shellcheck disable=SC2086
	ok "$compiler: a file that calls nothing compiles" $compiler -std=c11 -O2 -Wall -Wextra -Werror $library -c -o "$tmp/quiet.o" "$tmp/quiet.c"
	is "$compiler: it has no code and no data" "$(bytes "$tmp/quiet.o")" 0
done
for standard in 17 20 23; do
	command -v g++ >/dev/null || continue
	# shellcheck disable=SC2086
	ok "C++$standard has the calls" g++ -x c++ -std=c++$standard -Wall -Wextra -Werror $library -c -o "$tmp/quiet.o" "$tmp/quiet.c"
	is "C++$standard: it has no code and no data" "$(bytes "$tmp/quiet.o")" 0
done

# The names of the coroutines.
story() { "$BIN/ctp-tojsonl" -q -a "$tmp/a.ctp" | sed -n 's/.*"type":"name".*"name":"\([a-z]*\)".*/\1/p' | sort | tr '\n' ' '; }
runs() { # HOW PROGRAM
	"$BIN/ctp-collect" -q -o "$tmp/a.ctp" "$2"
	is "$1: it is traced" $? 0
	is "$1: the trace has all three coroutines" "$(story)" 'main one two '
	is "$1: nothing is lost" "$("$BIN/ctp-stat" -q "$tmp/a.ctp" | sed -n 's,^lost: *,,p')" '0, of them 0 unverified'
}

# shellcheck disable=SC2086
{
	ok 'a program compiles' $cc -O2 $library -c -o "$tmp/main.o" "$tmp/main.c"
	for name in one two; do
		ok "plugin $name compiles" $cc -O2 -fPIC $library -DNAME=$name "-DTEXT=\"$name\"" -c -o "$tmp/$name.o" "$tmp/plugin.c"
		ok "plugin $name is linked with a copy of its own" $cc -shared -o "$tmp/lib$name.so" "$tmp/$name.o" "$archive"
	done
	ok 'the program is linked with the archive and the plugins' \
		$cc -o "$tmp/three" "$tmp/main.o" "$archive" -L"$tmp" -lone -ltwo "-Wl,-rpath,$tmp" -pthread
	runs 'three copies' "$tmp/three"
	is 'three copies: no object exports the probe' "$(nm -D --defined-only "$tmp/three" "$tmp/libone.so" | grep -c ' ctp_')" 0

	ok 'all in one program' $cc -o "$tmp/whole" "$tmp/main.o" "$tmp/one.o" "$tmp/two.o" "$archive" -pthread
	runs 'one copy' "$tmp/whole"

	ok 'one file with CTP_IMPLEMENTATION' $cc -O2 $library -c -o "$tmp/probe.o" "$tmp/probe.c"
	ok 'instead of the archive' $cc -o "$tmp/own" "$tmp/main.o" "$tmp/one.o" "$tmp/two.o" "$tmp/probe.o" -pthread
	runs 'CTP_IMPLEMENTATION' "$tmp/own"

	# Whatever has included the header before, the definitions are weak, and none is inlined.
	cat >"$tmp/late.c" <<-'C'
	#include "ctp.h"
	#define CTP_IMPLEMENTATION
	#include "ctp.h"
	void yield(void);
	void step(void)
	{
		ctp_leaving_(1);
		yield(); /* changes threads */
		ctp_leaving_(0);
	}
	C
	for language in c c++; do
		for compiler in $(command -v gcc) $(command -v clang); do
			$compiler -x $language -O2 -fPIC -Wall -Wextra -Werror $library -S -o "$tmp/late.s" "$tmp/late.c" && $compiler -c -o "$tmp/late.o" "$tmp/late.s"
			is "${compiler##*/}, $language: CTP_IMPLEMENTATION after an include: all is weak" \
				"$(nm --defined-only "$tmp/late.o" | grep ' ctp_' | grep -v ' [VWtrdb] ')" ''
			is "${compiler##*/}, $language: and nothing that finds the thread is inlined" \
				"$(sed -n '/^[a-zA-Z0-9_]*step[a-z0-9]*:/,/\.size/p' "$tmp/late.s" | grep -cE '(callq?|bl?|jmp)[[:space:]]+ctp_leaving_')" 2
		done
	done

	ok 'a file that compiles the probe itself, among others that do not' \
		$cc -O2 -Isdk/c -DNAME=one '-DTEXT="one"' -o "$tmp/mixed" "$tmp/main.o" "$tmp/two.o" "$tmp/plugin.c" -pthread
	runs 'mixed' "$tmp/mixed"

	ok 'with link-time optimization' $cc -O2 -flto $library -DNAME=one '-DTEXT="one"' -o "$tmp/lto" "$tmp/main.c" "$tmp/two.o" \
		"$tmp/plugin.c" "$tmp/probe.c"
	runs 'link-time optimization' "$tmp/lto"
	ok 'with link-time optimization and the archive' $cc -O2 -flto $library -DNAME=one '-DTEXT="one"' -o "$tmp/lto" "$tmp/main.c" \
		"$tmp/two.o" "$tmp/plugin.c" "$archive"
	runs 'link-time optimization and the archive' "$tmp/lto"
}

# A distribution builds everything with link-time optimization, and programs have other compilers.
if command -v clang >/dev/null; then
	ok 'the archive, built with -flto' make --no-print-directory O="$tmp/lto-build" CC="$cc" CFLAGS='-O2 -flto' "$tmp/lto-build/libctp-probe.a"
	# shellcheck disable=SC2086
	ok 'a program of another compiler is linked with it' clang $library -DNAME=one '-DTEXT="one"' -o "$tmp/lto" "$tmp/main.c" "$tmp/two.o" \
		"$tmp/plugin.c" "$tmp/lto-build/libctp-probe.a"
else
	skip 'there is no clang'
fi

# --- a program with more privileges than its caller: CTP_SETUID counts where the probe is compiled -------------------------------------

# shellcheck disable=SC2086
{
	$cc $library -DCTP_SETUID -c -o "$tmp/no.o" "$tmp/main.c" 2>"$tmp/err"
	is 'CTP_SETUID in a file without the probe is an error' $? 1
	like 'the message has the remedy' "$(cat "$tmp/err")" 'define it with CTP_IMPLEMENTATION in one file'
	ok 'it goes with CTP_IMPLEMENTATION' $cc -O2 $library -DCTP_SETUID -c -o "$tmp/allowed.o" "$tmp/probe.c"
}
cat >"$tmp/gains.c" <<'C'
#include "ctp.h"
#include <stdio.h>
#include <sys/auxv.h>
int main(void) { return printf("secure %d, traced %d\n", !!getauxval(AT_SECURE), ctp_init()) < 0; }
C
if root_part 'CTP_SETUID, with a set-uid program' && can setpriv --reuid=65534 --regid=65534 --clear-groups true; then
	chmod 755 "$tmp"
	# shellcheck disable=SC2086
	for with in "0 $archive" "0 $tmp/probe.o" "1 $tmp/allowed.o"; do
		$cc $library -o "$tmp/gains" "$tmp/gains.c" "${with#* }" && chown 0:0 "$tmp/gains" && chmod 4755 "$tmp/gains"
		said=$(setpriv --reuid=65534 --regid=65534 --clear-groups env CTP_RECORD=1 "$tmp/gains")
		case $said in
		'secure 0'*) note 'skipped: set-uid: this file system does not have it' ;;
		*) is "a set-uid program with ${with##*/}" "$said" "secure 1, traced ${with%% *}" ;;
		esac
	done
fi
done_testing
