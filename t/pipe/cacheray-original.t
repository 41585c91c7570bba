#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# The runtime in sdk/cacheray in place of Cacheray's own: objects of its pass for malloc and free link and are recorded, and CACHERAY_OPTIONS
# is read. In a set-uid program the environment names no file.
# Not under sanitizers: it compiles its programs itself.
. t/helper/tap.sh
from=$BIN/ctp-fromcacheray
sdk=sdk/cacheray
. t/helper/cacheray/compilers.sh

# A program as Cacheray's pass compiles it: each call of malloc, calloc ... is followed by a call of the runtime with its result and type.
cat >"$tmp/pass.c" <<'C'
#include <stdlib.h>
void __malloc_recorded(long bytes, char *type, void *at);
void __calloc_recorded(long count, long bytes, char *type, void *at);
void __realloc_recorded(void *old, long bytes, char *type, void *at);
void __free_recorded(void *at);
struct pair { volatile long x, y; };
int main(void)
{
	struct pair *one = malloc(10 * sizeof *one);
	__malloc_recorded(10 * sizeof *one, "struct.pair", one);
	one[9].y = 1;
	long *two = calloc(3, sizeof *two);
	__calloc_recorded(3, sizeof *two, "i64*", two);
	struct pair *more = realloc(one, 20 * sizeof *more);
	__realloc_recorded(one, 20 * sizeof *more, "struct.pair", more);
	void *first = realloc(NULL, 8), *none = NULL;
	__realloc_recorded(NULL, 8, "void*", first);
	__malloc_recorded(8, "void*", none);
	__calloc_recorded(1, 8, "void*", none);
	__realloc_recorded(first, (long)1 << 40, "void*", none); /* failed: what was there is there still */
	free(more);
	__free_recorded(more);
	free(none);
	__free_recorded(none);
	free(two);
	__free_recorded(two);
	return 0;
}
C
for c in $compilers; do
	ok "$c: a program compiled by Cacheray's pass links" sh -c '"$0" -std=gnu11 -Wall -Wextra -O2 -c -o "$1/rt-$0.o" "$2/ctp-cacheray.c" &&
		"$0" -O1 -w -fsanitize=thread -c -o "$1/pass.o" "$1/pass.c" && "$0" -o "$1/pass-$0" "$1/pass.o" "$1/rt-$0.o" -pthread' "$c" "$tmp" $sdk
	CACHERAY_OUT=$tmp/t.trace "$tmp/pass-$c"
	is "$c:   it runs" $? 0
	is "$c:   its heap blocks are recorded" "$("$from" -q "$tmp/t.trace" | "$BIN/ctp-tojsonl" -a -q | sed -n '
		s/.*cacheray_add.*"element_size":\([0-9]*\),"count":\([0-9]*\),"@type":"\([^"]*\)".*/\1x\2 \3/p
		s/^{"type":"cacheray_remove.*/remove/p' | tr '\n' ';')" '160x1 struct.pair;8x3 i64*;remove;320x1 struct.pair;8x1 void*;remove;remove;'
done

# --- options as Cacheray's own runtime has them ---------------------------------------------------------------------------------------
for c in $compilers; do
	# run VARIABLE=VALUE...: prints its status, its messages, and the files that exist then.
	run() {
		rm -rf "$tmp/in" && mkdir "$tmp/in"
		(cd "$tmp/in" && env "$@" "../pass-$c" 2>../err; echo $?) | tr '\n' ' '
		cat "$tmp/err"
		(cd "$tmp/in" && ls | tr '\n' ' ')
	}
	is "$c: tracefile= names the trace" "$(run CACHERAY_OPTIONS=tracefile=a.trace)" '0 a.trace '
	ok "$c:   the file is a trace" "$from" -q -o /dev/null "$tmp/in/a.trace"
	is "$c: the default name is cacheray.trace" "$(run CACHERAY_OPTIONS=enabled=1)" '0 cacheray.trace '
	is "$c: enabled=0 writes no trace" "$(run CACHERAY_OPTIONS=tracefile=a.trace:enabled=0)" '0 '
	is "$c:   enabled=0 writes no trace with CACHERAY_OUT either" "$(run CACHERAY_OPTIONS=enabled=0 CACHERAY_OUT=b.trace)" '0 '
	is "$c: an unknown option is reported" "$(run CACHERAY_OPTIONS=verbose=1:tracefile=a.trace)" \
		'0 ctp-cacheray: CACHERAY_OPTIONS: verbose=1 is neither tracefile=FILE nor enabled=0 or 1: it is ignored
a.trace '
	is "$c: CACHERAY_OUT takes precedence, with a message" "$(run CACHERAY_OPTIONS=tracefile=a.trace CACHERAY_OUT=b.trace)" \
		'0 ctp-cacheray: CACHERAY_OUT: names the trace: tracefile= of CACHERAY_OPTIONS is ignored
b.trace '
	is "$c: a name that is too long is reported" "$(run CACHERAY_OPTIONS=tracefile="$(printf '%05000d' 0)")" \
		'0 ctp-cacheray: CACHERAY_OPTIONS: is too long for a name: this process is not traced'
	is "$c: without options there is no trace" "$(run CACHERAY_OPTIONS=)" '0 '
done

# --- a program with more privileges than its caller -------------------------------------------------------------------------------------
# Root has a set-uid program run by another user; another has a program that is set-gid to a second group of theirs.
cat >"$tmp/gains.c" <<'C'
#include <stdio.h>
#include <sys/auxv.h>
int main(void) { return printf("%lu\n", getauxval(AT_SECURE)) < 0; }
C
chmod 755 "$tmp"
mkdir "$tmp/secret"
echo secret >"$tmp/secret/file"
chmod 700 "$tmp/secret"
as=
if root_part 'a set-uid program'; then
	as='setpriv --reuid=65534 --regid=65534 --clear-groups'
	own() { chown 0:0 "$1" && chmod 4755 "$1"; }
else
	own() { chgrp "$other" "$1" && chmod 2755 "$1"; }
	for other in $(id -G); do [ "$other" = "$(id -g)" ] || break; done
fi
why=
$as true 2>/dev/null || why='no other user can be had'
[ "$(id -u)" = 0 ] || [ "${other:-$(id -g)}" != "$(id -g)" ] || why='neither root nor a second group'
for c in $compilers; do
	[ ! "$why" ] || { note "skipped: set-uid: $why"; break; }
	for allowed in '' -DCACHERAY_SETUID; do
		# shellcheck disable=SC2086
		"$c" -std=gnu11 -O2 $allowed -c -o "$tmp/rt.o" $sdk/ctp-cacheray.c && "$c" -O1 -w -fsanitize=thread -c -o "$tmp/gains.o" "$tmp/gains.c" &&
			"$c" -o "$tmp/gains" "$tmp/gains.o" "$tmp/rt.o" -pthread && own "$tmp/gains"
		for by in CACHERAY_OUT= CACHERAY_OPTIONS=tracefile=; do
			echo secret >"$tmp/secret/file"
			# shellcheck disable=SC2086
			secure=$($as env $by"$tmp/secret/file" "$tmp/gains" 2>"$tmp/err")
			[ "$secure" = 1 ] || { note "skipped: set-uid: this file system does not have it"; break; }
			if [ "$allowed" ]; then
				ok "$c: a set-uid program built with -DCACHERAY_SETUID is traced by ${by%%=*}" \
					sh -c '! grep -q secret "$0"' "$tmp/secret/file"
			else
				is "$c: a set-uid program does not write the file that ${by%%=*} names" \
					"$(cat "$tmp/secret/file")" secret
				is "$c:   the refusal is reported" "$(cat "$tmp/err")" \
					"ctp-cacheray: ${by%%=*}: does not count in a program that gains privileges: this process is not traced"
			fi
		done
	done
done
done_testing
