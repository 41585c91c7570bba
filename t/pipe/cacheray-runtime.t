#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# The runtime in sdk/cacheray under a limit of addresses, across forks and execs, switched off and on, up to a limit of its own, and beside the runtime
# of ThreadSanitizer.
# Not under sanitizers: it compiles its programs itself.
. t/helper/tap.sh
from=$BIN/ctp-fromcacheray
sdk=sdk/cacheray
. t/helper/cacheray/compilers.sh
# build COMPILER NAME FLAG...: $tmp/NAME of $tmp/NAME.c, with the runtime, which is compiled once.
runtime() { # COMPILER LEVEL: its name
	[ -e "$tmp/rt-$1$2.o" ] || "$1" -std=gnu11 "$2" -c -o "$tmp/rt-$1$2.o" $sdk/ctp-cacheray.c && echo "$tmp/rt-$1$2.o"
}
build() {
	b=$1 name=$2
	shift 2
	rt=$(runtime "$b" -O2) &&
		"$b" -O1 -w -I$sdk -fsanitize=thread -c -o "$tmp/$name.o" "$tmp/$name.c" &&
		"$b" -o "$tmp/$name" "$tmp/$name.o" "$rt" -pthread "$@"
}
# writes FILE: how many writes of 8 bytes there are.
writes() { "$from" -q "$1" | "$BIN/ctp-tojsonl" -a -q | grep -c '"size":8,.*"op":"write"'; }

# --- few addresses ------------------------------------------------------------------------------------------------------------------
cat >"$tmp/few.c" <<'C'
#include <stdlib.h>
static volatile long g;
static void *volatile much;
int main(void)
{
	for (int i = 0; i < 100000; i++)
		g = i;
	much = malloc((size_t)1300 << 20); /* of 2000 that there may be */
	return !much;
}
C
for c in $compilers; do
	ok "$c: a program that wants much memory" build "$c" few
	(ulimit -v 2048000 && CACHERAY_OUT=$tmp/t.trace exec "$tmp/few") 2>"$tmp/err"
	is "$c:   gets it under a limit" "$? $(cat "$tmp/err")" '0 '
	is "$c:   and a trace" "$(writes "$tmp/t.trace")" 100001
done

# --- little room --------------------------------------------------------------------------------------------------------------------
mkdir "$tmp/small"
ns=unshare
[ "$(id -u)" = 0 ] || ns='unshare -r'
for c in $compilers; do
	build "$c" few
	# shellcheck disable=SC2016
	$ns -m sh -c 'mount -t tmpfs -o size=512k none "$1" 2>/dev/null || exit 99
		CACHERAY_OUT=$1/t "$2" && cp "$1/t" "$3"' sh "$tmp/small" "$tmp/few" "$tmp/t.trace" 2>"$tmp/err"
	case $? in
	0)
		is "$c: a trace without room is reported" "$(cat "$tmp/err")" \
			"ctp-cacheray: $tmp/small/t: cannot grow: No space left on device: this process is not traced any more"
		"$from" -o /dev/null "$tmp/t.trace" 2>"$tmp/err"
		like "$c: a partial trace is there, followed by zeros" "$? $(cat "$tmp/err")" '^3 [^;]* byte 524268: zeros up to the end: '
		is "$c:   its records are whole" "$(wc -l <"$tmp/err" | tr -d ' ') $(writes "$tmp/t.trace" 2>/dev/null)" "1 $(((512 * 1024 - 18) / 18))"
		;;
	*) skip "a file system cannot be mounted here" ;;
	esac
done

# --- a child knows the regions in memory --------------------------------------------------------------------------------------------
cat >"$tmp/child.c" <<'C'
#include <sys/wait.h>
#include <unistd.h>
#include "ctp-cacheray.h"
struct a { volatile long x, y; };
enum { N = 20000 };
int main(void)
{
	static struct a *all[N];
	for (int i = 0; i < N; i++)
		all[i] = CACHERAY_CALLOC(struct a, 1);
	for (int i = 0; i < N; i++)
		if (i % 4)
			CACHERAY_FREE(all[i]);
	long *last = CACHERAY_CALLOC(long, 3);
	if (!fork()) {
		all[0]->x = last[0] = 1;
		CACHERAY_FREE(last);
		return 0;
	}
	int status = 1;
	wait(&status);
	return status;
}
C
for c in $compilers; do
	ok "$c: a program that forks" build "$c" child
	rm -f "$tmp"/c.*
	CACHERAY_OUT="$tmp/c.%p" "$tmp/child" &
	id=$!
	wait $id
	is "$c:   runs" $? 0
	mv "$tmp/c.$id" "$tmp/parent"
	"$from" "$tmp"/c.* >"$tmp/child.ctp"
	is "$c:   the trace of its child is whole" $? 0
	"$BIN/ctp-tojsonl" -a -q "$tmp/child.ctp" >"$tmp/j"
	is "$c:   it begins with the 5,001 existing regions" "$(grep '^{"type":"cacheray_a' "$tmp/j" | head -n 5001 | sed -n 's/.*"@type":"\([^"]*\)".*/\1/p' | sort | uniq -c | tr -s ' \n' ' ')" ' 1 long 5000 struct.a '
	is "$c:   each region is there once, at its address" "$(sed -n 's/.*cacheray_add.*"address":"\([^"]*\)".*/\1/p' "$tmp/j" | sort -u | wc -l | tr -d ' ')" 5001
	"$from" -q "$tmp/parent" | "$BIN/ctp-tojsonl" -a -q | awk '
		function field(name) { return match($0, "\"" name "\":[^,}]*") ? substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 3) : "" }
		/^{"type":"cacheray_add"/ { live[field("address")] = 1 }
		/^{"type":"cacheray_remove"/ { delete live[field("address")] }
		END { for (a in live) print a }' | sort >"$tmp/want"
	sed -n 's/.*"cacheray_add".*"address":\("[^"]*"\).*/\1/p' "$tmp/j" | sort >"$tmp/got"
	ok "$c:   the regions are those of its parent" cmp "$tmp/want" "$tmp/got"
done

# --- another program in the same process ------------------------------------------------------------------------------------------------
cat >"$tmp/execs.c" <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile long g;
static void *write_some(void *p)
{
	for (int i = 0; i < 1000; i++)
		g = i;
	return p;
}
__attribute__((no_sanitize_thread)) int main(int argc, char **argv)
{
	char how = argc > 1 ? *argv[1] : 'x', *again[] = {argv[0], NULL, NULL};
	pthread_t thread;
	int status = 0;
	if (how == 'f') { /* the child of a fork */
		write_some(NULL);
		if (fork())
			return wait(&status), status;
	}
	if (how == 't') { /* the first record is not the first thread's */
		pthread_create(&thread, NULL, write_some, NULL);
		pthread_join(thread, NULL);
	} else {
		write_some(NULL);
	}
	if (how == 'n') { /* another name */
		setenv("CACHERAY_OUT", argv[2], 1);
		execv(argv[0], again);
	}
	if (how == 'e') { /* an environment of its own making */
		char *made[] = {getenv("CACHERAY_OUT") - strlen("CACHERAY_OUT="), NULL};
		execve(argv[0], again, made);
	}
	if (how == 't' || how == 'f') {
		again[1] = "x";
		execv(argv[0], again);
	}
	return 0;
}
C
# traces: the number of each trace x* and its writes.
traces() { for f in "$tmp"/x*; do echo "${f##*/x}:$(writes "$f")"; done | sed "s/^[.]\{0,1\}[0-9]\{3,\}/ID/" | sort | tr '\n' ' '; }
for c in $compilers; do
	ok "$c: a program that calls exec" build "$c" execs
	rm -f "$tmp"/x*
	for i in 1 2; do
		CACHERAY_OUT=$tmp/x "$tmp/execs" t 2>"$tmp/err"
		is "$c:   each program has a trace, whichever thread was first, $i" \
			"$? $(traces)$(cat "$tmp/err")" '0 .1:1000 :1000 '
	done
	CACHERAY_OUT=$tmp/x "$tmp/execs" n "$tmp/xother"
	is "$c:   the trace has the announced name" "$(traces)" '.1:1000 :1000 other:1000 '
	rm -f "$tmp"/x*
	CACHERAY_OUT=$tmp/x.%p "$tmp/execs" f
	is "$c:   a child that calls exec has a trace of each" "$? $(traces)" '0 ID.1:1000 ID:1000 ID:1000 '
	rm -f "$tmp"/x*
	CACHERAY_OUT=$tmp/x "$tmp/execs" e 2>"$tmp/err"
	is "$c:   each has a trace if the environment does not name the first" "$? $(traces)$(cat "$tmp/err")" \
		"0 .1:1000 :1000 ctp-cacheray: $tmp/x: seems to be a trace of this process: the next has another name"
	if $ns --pid --fork true 2>/dev/null; then
		rm -f "$tmp"/x*
		for i in 1 2 3; do $ns --pid --fork env CACHERAY_OUT="$tmp/x" "$tmp/execs"; done
		is "$c:   a later process with the same pid writes its trace under the same name" "$? $(traces)" '0 :1000 '
	else
		skip "processes cannot have the same id here"
	fi
done

# --- off and on, and a limit ----------------------------------------------------------------------------------------------------------
cat >"$tmp/switch.c" <<'C'
#include <pthread.h>
#include "ctp-cacheray.h"
static void write_some(volatile long *p, int n)
{
	for (int i = 0; i < n; i++)
		*p = i;
}
static void *write_many(void *p) { return write_some((volatile long *)p, 50000), NULL; }
int main(int argc, char **argv)
{
	long *p = CACHERAY_CALLOC(long, 4);
	if (argc > 1) {
		pthread_t id[4];
		for (int i = 0; i < 4; i++)
			pthread_create(&id[i], NULL, write_many, p + i);
		for (int i = 0; i < 4; i++)
			pthread_join(id[i], NULL);
		return 0;
	}
	write_some(p, 100);
	CACHERAY_RECORD(1);
	write_some(p, 1000);
	CACHERAY_RECORD(0);
	write_some(p, 10000);
	CACHERAY_FREE(p);
	return 0;
}
C
cut='zeros up to the end: the program did not end through exit, or a limit cut its trace; its records are those before'
for c in $compilers; do
	ok "$c: a program that switches" build "$c" switch
	for way in file pipe; do
		rm -f "$tmp/w"
		[ $way = file ] || mkfifo "$tmp/w"
		out=$tmp/w
		# run ENVIRONMENT... -- ARGUMENT...: its trace is $tmp/t then, what it says is $tmp/err
		run() {
			[ $way = file ] || { timeout 60 cat "$tmp/w" >"$tmp/t" & }
			env CACHERAY_OUT="$out" "$@" 2>"$tmp/err"
			ran=$?
			wait
			[ $way = pipe ] || cp "$tmp/w" "$tmp/t"
		}
		run "$tmp/switch"
		is "$c, $way: accesses are recorded until recording is switched off" "$ran $(writes "$tmp/t")" '0 1100'
		run CACHERAY_RECORD=off "$tmp/switch"
		is "$c, $way: accesses are recorded from where it is switched on" "$ran $(writes "$tmp/t")" '0 1000'
		is "$c, $way: types are recorded all the time" "$("$from" -q "$tmp/t" | "$BIN/ctp-tojsonl" -a -q | grep -c '^{"type":"cacheray_[ar][de]')" 2
		run CACHERAY_LIMIT=1M "$tmp/switch" threads
		is "$c, $way: a limit ends the trace, not the program" "$ran $(cat "$tmp/err")" "0 ctp-cacheray: $tmp/w: CACHERAY_LIMIT is reached: this process is not traced any more"
		size=$(wc -c <"$tmp/t" | tr -d ' ')
		ok "$c, $way: the trace ends with the last record that fits: $size" test "$size" -le 1048576 -a "$size" -gt 1048500
		"$from" -o "$tmp/t.ctp" "$tmp/t" 2>"$tmp/err"
		is "$c, $way:   the limit is reported when the trace is read" "$? $(sed 's/.*: byte/byte/' "$tmp/err")" "3 byte $((size - 18)): $cut"
		is "$c, $way:   the section has no end" "$("$BIN/ctp-tojsonl" -a -q "$tmp/t.ctp" | tail -n 1)" '{"type":"@end","complete":false}'
		"$BIN/ctp-tocacheray" -q "$tmp/t.ctp" >"$tmp/out"
		ok "$c, $way:   all records are whole" sh -c 'head -c "$0" "$1" | cmp - "$2"' $((size - 18)) "$tmp/t" "$tmp/out"
		run CACHERAY_LIMIT=100k "$tmp/switch"
		"$from" -o /dev/null "$tmp/t"
		is "$c, $way: a trace below its limit is complete" "$? $(cat "$tmp/err")" '0 '
	done
	CACHERAY_OUT=$tmp/w CACHERAY_LIMIT=1X "$tmp/switch" 2>"$tmp/err"
	is "$c: an invalid limit is reported" "$? $(cat "$tmp/err")" '0 ctp-cacheray: CACHERAY_LIMIT: is no number of bytes, like 500M: this process is not traced'
done

# --- names that are too long ------------------------------------------------------------------------------------------------------------
for c in $compilers; do
	build "$c" few
	for n in 4092 4096 9000; do
		CACHERAY_OUT=$(printf "%0${n}d" 0) "$tmp/few" 2>"$tmp/err"
		is "$c: a name of $n bytes is reported" "$? $(cat "$tmp/err")" '0 ctp-cacheray: CACHERAY_OUT: is too long for a name: this process is not traced'
	done
done

# --- types with commas ------------------------------------------------------------------------------------------------------------------
cat >"$tmp/pair.cpp" <<'C'
#include <map>
#include <utility>
#include "ctp-cacheray.h"
int main()
{
	std::pair<int, long> *p = CACHERAY_MALLOC(std::pair<int, long>, 3);
	static std::map<int, std::pair<int, long>> map;
	CACHERAY_ADD(&map, std::map<int, std::pair<int, long>>, 1);
	CACHERAY_FREE(p);
	CACHERAY_FREE(CACHERAY_CALLOC(struct node *, 2));
}
C
for c in g++ clang++; do
	command -v $c >/dev/null || { skip "there is no $c"; continue; }
	rt=$tmp/rt-$(case $c in g++) echo gcc ;; *) echo clang ;; esac)-O2.o
	[ -f "$rt" ] || { skip "there is no $rt"; continue; }
	ok "$c: a program with commas in type names compiles" "$c" -std=c++14 -Wall -Wextra -Werror -O1 -I$sdk -fsanitize=thread -c -o "$tmp/pair.o" "$tmp/pair.cpp"
	"$c" -o "$tmp/pair" "$tmp/pair.o" "$rt" -pthread
	CACHERAY_OUT=$tmp/t.trace "$tmp/pair"
	is "$c:   the type names are recorded unchanged" "$("$from" "$tmp/t.trace" | "$BIN/ctp-tojsonl" -a -q | sed -n 's/.*"element_size":\([0-9]*\),"count":\([0-9]\),"@type":"\([^"]*\)".*/\1 \2 \3;/p' | sed 's/^[0-9]* 1/SIZE 1/' | tr '\n' ' ')" \
		'16 3 std::pair<int, long>; SIZE 1 std::map<int, std::pair<int, long>>; 8 2 struct.node *; '
done

# --- the runtime of ThreadSanitizer -------------------------------------------------------------------------------------------------------
if command -v gcc >/dev/null && gcc -fsanitize=thread -o "$tmp/both" "$tmp/few.o" "$tmp/rt-gcc-O2.o" -pthread 2>/dev/null; then
	CACHERAY_OUT=$tmp/t.trace "$tmp/both" 2>"$tmp/err"
	grep -q 'FATAL: ThreadSanitizer' "$tmp/err" ||
		like 'the presence of the ThreadSanitizer runtime is reported' "$(grep ctp-cacheray "$tmp/err")" \
			"t.trace: ThreadSanitizer's runtime is linked too; link without -fsanitize=thread: this process is not traced"
else
	skip 'the two runtimes cannot be linked together'
fi

# --- a library that is loaded later -------------------------------------------------------------------------------------------------------
cat >"$tmp/library.c" <<'C'
void write_some(volatile long *p)
{
	for (int i = 0; i < 777; i++)
		*p = i;
}
C
cat >"$tmp/loads.c" <<'C'
#include <dlfcn.h>
#include <stdio.h>
static long g;
int main(int argc, char **argv)
{
	void *library = dlopen(argv[1], RTLD_NOW);
	if (!library)
		return puts(dlerror()), 1;
	((void (*)(volatile long *))dlsym(library, "write_some"))(&g);
	return 0;
}
C
for c in $compilers; do
	ok "$c: a library" sh -c '"$0" -O1 -fPIC -fsanitize=thread -c -o "$1.o" "$1.c" && "$0" -shared -o "$1.so" "$1.o"' "$c" "$tmp/library"
	ok "$c: a program that loads it, with -rdynamic" build "$c" loads -rdynamic -ldl
	CACHERAY_OUT=$tmp/t.trace "$tmp/loads" "$tmp/library.so"
	is "$c:   accesses of the library are recorded" "$? $(writes "$tmp/t.trace")" '0 777'
done

# --- what compilers make of copies, and of reads before a write --------------------------------------------------------------------------
cat >"$tmp/copies.c" <<'C'
#include <string.h>
#include "ctp-cacheray.h"
struct big { long a, b; char c[80]; };
__attribute__((noinline)) void add(long *p)
{
	for (int i = 0; i < 10; i++) {
		*p += i;
		__asm__ volatile("" ::: "memory");
	}
}
__attribute__((noinline)) void assign(struct big *to, const struct big *from) { *to = *from; }
__attribute__((noinline)) void clear(struct big *to) { *to = (struct big){0}; }
__attribute__((noinline)) void call(void *to, const void *from, size_t n) { memcpy(to, from, n); }
int main(int argc, char **argv)
{
	struct big *p = CACHERAY_CALLOC(struct big, 2);
	CACHERAY_RECORD(1);
	switch (*argv[1]) {
	case 'a': add(&p->a); break;
	case 'b': assign(p + 1, p); break;
	case 'c': clear(p); break;
	case 'd': call(p + 1, p, (size_t)argc * 48); break;
	}
	CACHERAY_RECORD(0);
	return 0;
}
C
wrap=-Wl,--wrap=memcpy,--wrap=memmove,--wrap=memset
# ways FLAG...: bytes that are read and written by additions, by an assignment, by clearing, and by a call of memcpy, of the program built so.
ways() {
	b=$1 level=$2
	shift 2
	rt=$(runtime "$b" "$level")
	# shellcheck disable=SC2086
	"$b" -O1 -w -I$sdk -fsanitize=thread "$@" -c -o "$tmp/copies.o" "$tmp/copies.c" && "$b" -o "$tmp/copies" "$tmp/copies.o" "$rt" -pthread $link
	for way in a b c d; do
		CACHERAY_RECORD=off CACHERAY_OUT=$tmp/t.trace "$tmp/copies" $way
		"$from" "$tmp/t.trace" | "$BIN/ctp-tojsonl" -a -q | awk '
			function field(name) { return match($0, "\"" name "\":[^,}]*") ? substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 3) : "" }
			/^{"type":"cacheray_add"/ { base = substr(field("address"), 1, 16) }
			/^{"type":"cacheray_access"/ && substr(field("address"), 1, 16) == base { n[field("op")] += field("size") }
			END { printf "%d/%d ", n["\"read\""], n["\"write\""] }'
	done
}
for c in $compilers; do
	set --
	[ "$c" = gcc ] || set -- -mllvm -tsan-instrument-read-before-write=1
	link=
	is "$c: a read before a write is recorded" "$(ways "$c" -O2 "$@" | cut -d ' ' -f 1)" 80/80
	link=$wrap
	for level in -O2 -O0; do
		is "$c: copies are recorded if their calls are wrapped, $level" "$(ways "$c" $level "$@")" '80/80 96/96 0/96 96/96 '
	done
done
done_testing
