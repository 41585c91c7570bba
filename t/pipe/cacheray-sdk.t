#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# The runtime in sdk/cacheray, linked to a program whose accesses are known by construction: with gcc and clang, into a file and a pipe,
# with threads, forks and crashes.
# Not under sanitizers: it compiles its programs itself.
. t/helper/tap.sh
from=$BIN/ctp-fromcacheray
sdk=sdk/cacheray
# sorts FILE: number of accesses of the added regions by kind, "r4 10" for 10 reads of 4 bytes.
sorts() {
	"$from" -q "$1" | "$BIN/ctp-tojsonl" -a -q | awk '
	function field(name) { return match($0, "\"" name "\":[^,}]*") ? substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 3) : "" }
	/^{"type":"cacheray_add"/ { a = field("address"); type[a] = field("@type"); base[substr(a, 1, 17)] = 1 }
	/^{"type":"cacheray_access"/ && substr(field("address"), 1, 17) in base {
		n[(field("atomic") == "true" ? "a" : "") substr(field("op"), 2, 1) field("size")]++ }
	END { for (s in n) print s, n[s] }' | sort | tr '\n' ' '
}
every='r1 10 r2 10 r4 10 r8 10 w1 10 w2 10 w4 10 w8 10 '
cc=${CC:-cc}
. t/helper/cacheray/compilers.sh
# build COMPILER FLAG...: the program as $tmp/COMPILER.
build() {
	b=$1
	shift
	{ [ -e "$tmp/rt-$b.o" ] || "$b" -std=gnu11 -Wall -Wextra -O2 -c -o "$tmp/rt-$b.o" $sdk/ctp-cacheray.c; } &&
		"$b" -O1 -w -I$sdk "$@" -fsanitize=thread -c -o "$tmp/p-$b.o" t/helper/cacheray/program.c &&
		"$b" -o "$tmp/$b" "$tmp/p-$b.o" "$tmp/rt-$b.o" -pthread
}

for c in $compilers; do
	p=$tmp/$c
	ok "$c: the program is built" build "$c"
	[ -x "$p" ] || continue
	export CACHERAY_OUT="$tmp/t.trace"
	"$p"
	is "$c: it runs" $? 0
	is "$c: the trace has exactly its accesses" "$(sorts "$tmp/t.trace")" "$every"
	"$from" "$tmp/t.trace" >/dev/null
	is "$c: the trace is valid" $? 0
	"$p" atomics
	is "$c: atomic operations are done" $? 0
	"$from" -q "$tmp/t.trace" | "$BIN/ctp-tojsonl" -a >"$tmp/j"
	for size in 1 2 4 8; do
		is "$c: atomic accesses of $size bytes are recorded" "$(grep -c "\"size\":$size,.*\"op\":\"read\",\"atomic\":true" "$tmp/j") $(grep -c "\"size\":$size,.*\"op\":\"write\",\"atomic\":true" "$tmp/j")" '13 11'
	done
	if build "$c" -DU128 2>/dev/null; then
		"$p" atomics
		is "$c: atomic accesses of 16 bytes are recorded" "$? $("$from" -q "$tmp/t.trace" | "$BIN/ctp-tojsonl" -a | grep -c '"size":16,.*"atomic":true')" '0 24'
	else
		skip "$c needs a library for atomic operations of 16 bytes"
		build "$c"
	fi
	"$p" threads
	"$from" -q "$tmp/t.trace" >"$tmp/t.ctp"
	is "$c: a trace of four threads is valid" $? 0
	is "$c: the writes of each thread are recorded" "$("$BIN/ctp-tojsonl" -a "$tmp/t.ctp" | grep -o '"size":4,"thread":[0-9]*,"op":"write"' | sort | uniq -c | awk '$1 >= 100000' | wc -l | tr -d ' ')" 4
	"$p" hand-over
	is "$c: accesses of another thread are between the add and the remove" "$("$from" -q "$tmp/t.trace" | "$BIN/ctp-tojsonl" -a | awk '
		function field(name) { return match($0, "\"" name "\":[^,}]*") ? substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 3) : "" }
		/^{"type":"cacheray_add"/ { a = substr(field("address"), 1, 18); live[a] = ever[a] = 1; adds++ }
		/^{"type":"cacheray_remove"/ { delete live[substr(field("address"), 1, 18)]; removes++ }
		/"size":8,.*"op":"write","atomic":false/ { a = substr(field("address"), 1, 18); if (a in live) inside++; else if (a in ever) outside++ }
		END { print inside + 0, outside + 0, adds, removes }')" '1000 0 1001 1000'
	"$p" packed
	is "$c: unaligned accesses are marked" "$("$from" -q "$tmp/t.trace" | "$BIN/ctp-tojsonl" -a | grep -c '"size":4,.*"op":"write","atomic":false,"unaligned":true')" 1

	# --- ends ---
	for how in segv kill _exit; do
		sh -c '"$0" "$1"; :' "$p" $how >/dev/null 2>&1
		is "$c: all accesses before $how are recorded" "$(sorts "$tmp/t.trace")" "$every"
		is "$c:   the missing exit is reported" "$("$from" -o /dev/null "$tmp/t.trace" 2>&1 | sed 's/.*: byte [0-9]*//')" \
			': zeros up to the end: the program did not end through exit, or a limit cut its trace; its records are those before'
	done
	rm -f "$tmp"/f.*
	CACHERAY_OUT="$tmp/f.%p" "$p" fork
	is "$c: a child has a trace of its own" "$? $(for f in "$tmp"/f.*; do sorts "$f"; done)$(ls "$tmp"/f.* | wc -l | tr -d ' ')" "0 $every${every}2"
	"$p" fork
	is "$c: a child without its own file has no trace" "$? $(sorts "$tmp/t.trace")" "0 $every"
	for name in e.%p e; do
		rm -f "$tmp"/e*
		CACHERAY_OUT="$tmp/$name" "$p" exec
		is "$c: each program of a process has a trace: $name" "$? $(for f in "$tmp"/e*; do sorts "$f"; done)$(ls "$tmp"/e* | grep -c '[.][12]$')" "0 $every$every${every}2"
	done
	(unset CACHERAY_OUT && cd "$tmp" && "$p")
	is "$c: without CACHERAY_OUT the program runs unchanged" $? 0
	CACHERAY_OUT="$tmp/none/x" "$p" 2>"$tmp/err"
	is "$c: a trace that cannot be written is reported" "$? $(cat "$tmp/err")" "0 ctp-cacheray: $tmp/none/x: cannot be written: No such file or directory: this process is not traced"

	rm -f "$tmp/go" "$tmp/ready"
	mkfifo "$tmp/go" "$tmp/ready"
	timeout 60 "$p" slow <"$tmp/go" >"$tmp/ready" &
	exec 8>"$tmp/go"
	read -r _ <"$tmp/ready"
	"$p" 2>"$tmp/err"
	is "$c: a file that another process writes is not touched" "$? $(cat "$tmp/err")" \
		"0 ctp-cacheray: $tmp/t.trace: is written by another process; %p in CACHERAY_OUT is its id: this process is not traced"
	echo >&8
	exec 8>&-
	wait
	is "$c: that file is whole" "$(sorts "$tmp/t.trace")" "$every"

	# --- pipes ---
	rm -f "$tmp/fifo"
	mkfifo "$tmp/fifo"
	export CACHERAY_OUT="$tmp/fifo"
	for how in '' segv busy; do
		sh -c '"$0" "$1"; :' "$p" "$how" >/dev/null 2>&1 &
		cat "$tmp/fifo" >"$tmp/t.trace"
		wait
		is "$c: the trace goes through a pipe${how:+, up to $how}" "$(sorts "$tmp/t.trace")" "$every"
	done
	mkfifo "$tmp/go-$c"
	timeout 60 "$p" slow <"$tmp/go-$c" >/dev/null &
	timeout 60 "$from" -q "$tmp/fifo" | "$BIN/ctp-tojsonl" -a | {
		exec 9>"$tmp/go-$c"
		while read -r line; do
			case $line in *'"size":8,'*'"op":"read"'*) [ "$seen" ] || { seen=1; echo seen; echo >&9; } ;; *'"@end","complete":true'*) echo ended ;; esac
		done
	} >"$tmp/seen"
	wait
	is "$c: accesses are seen while the program waits" "$(cat "$tmp/seen")" "$(printf 'seen\nended')"
	timeout 60 "$p" long &
	head -c 1000 "$tmp/fifo" >/dev/null
	wait $!
	is "$c: a reader that closes the pipe does no harm" $? 0
done

# --- a program that closes what it did not open, and what may not be written ---
cat >"$tmp/closes.c" <<'C'
#include <fcntl.h>
#include <unistd.h>
static volatile long words[64];
int main(int argc, char **argv)
{
	for (int fd = 3; fd < 100; fd++)
		close(fd);
	if (argc > 1 && ftruncate(open(argv[1], O_RDWR | O_CREAT, 0600), 5000000))
		return 1;
	for (int k = 0; k < 200000; k++)
		words[k % 64] = k;
	return 0;
}
C
for c in $compilers; do
	ok "$c: a program that closes all descriptors compiles" sh -c '"$0" -O1 -w -fsanitize=thread -c -o "$1.o" "$1.c" && "$0" -o "$1" "$1.o" "$2" -pthread' "$c" "$tmp/closes" "$tmp/rt-$c.o"
	CACHERAY_OUT=$tmp/t.trace "$tmp/closes" "$tmp/mine" 2>"$tmp/err"
	is "$c:   it runs without a message" "$? $(cat "$tmp/err")" '0 '
	is "$c:   its own file is unchanged" "$(wc -c <"$tmp/mine" | tr -d ' ')" 5000000
	is "$c:   its trace is complete" "$("$from" -q "$tmp/t.trace" | "$BIN/ctp-tojsonl" -a -q | grep -c '"op":"write"')" 200000
	rm -f "$tmp/fifo"
	mkfifo "$tmp/fifo"
	timeout 60 cat "$tmp/fifo" >/dev/null &
	CACHERAY_OUT=$tmp/fifo "$tmp/closes" 2>"$tmp/err"
	is "$c:   a pipe that it closes is reported" "$? $(cat "$tmp/err")" "0 ctp-cacheray: $tmp/fifo: was closed by the program: this process is not traced any more"
	wait
	(ulimit -f 4000 && CACHERAY_OUT=$tmp/t.trace exec "$tmp/closes") 2>"$tmp/err"
	is "$c: a limit on file size ends the trace, not the program" $? 0
	like "$c:   the limit is reported" \
		"$(cat "$tmp/err")" 't.trace: cannot grow: File too large: this process is not traced any more'
	(ulimit -f 100 && CACHERAY_OUT=$tmp/t.trace exec "$tmp/closes") 2>"$tmp/err"
	is "$c: a trace smaller than one step is written up to the limit" "$? $(sed 's/.*trace: //' "$tmp/err")" '0 cannot grow: File too large: this process is not traced any more'
	"$from" -o /dev/null "$tmp/t.trace" 2>"$tmp/err"
	like "$c:   the limit is reported when it is read" "$? $(cat "$tmp/err")" '^3 .*: zeros up to the end: .* or a limit cut its trace; its records are those before$'
	is "$c:   its records are whole" "$(grep -c . "$tmp/err") $(($(wc -c <"$tmp/t.trace") / 51000))" "1 $(ulimit -f 100 && head -c 1000000 /dev/zero 2>/dev/null >"$tmp/z"; echo $(($(wc -c <"$tmp/z") / 51000)))"
	(ulimit -f 0 && CACHERAY_OUT=$tmp/t.trace exec "$tmp/closes") 2>"$tmp/err"
	is "$c: a message that cannot be written does not end the program" $? 0
	if [ -w /dev/full ]; then
		CACHERAY_OUT=/dev/full "$p" 2>"$tmp/err"
		like "$c: a full device is reported" "$? $(cat "$tmp/err")" '^0 ctp-cacheray: /dev/full: cannot be written'
	fi
done
# --- signals that end a program which has a pipe ---
cat >"$tmp/dies.c" <<'C'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static volatile long words[64];
int main(int argc, char **argv)
{
	for (int k = 0; k < 1000; k++)
		words[k % 64] = k;
	if (argc > 1)
		raise(atoi(argv[1]));
	else if (write(1, "ready", 5) == 5)
		pause();
	return 0;
}
C
# dies SIGNALS HOW ARGUMENT...: status of the program with these signals set up like this, and number of writes in its pipe.
dies() {
	# shellcheck disable=SC2016
	timeout 60 perl -e '$SIG{$_} = $ARGV[1] for split / /, $ARGV[0]; splice @ARGV, 0, 2; system @ARGV; print $? & 127' "$1" "$2" "$tmp/dies" "$3" &
	timeout 60 cat "$tmp/fifo" >"$tmp/t.trace"
	wait
	echo " $("$from" -q "$tmp/t.trace" | "$BIN/ctp-tojsonl" -a -q | grep -c '"op":"write"')"
}
for c in $compilers; do
	command -v perl >/dev/null || { skip 'there is no perl'; continue; }
	"$c" -O1 -w -fsanitize=thread -c -o "$tmp/dies.o" "$tmp/dies.c" && "$c" -o "$tmp/dies" "$tmp/dies.o" "$tmp/rt-$c.o" -pthread
	rm -f "$tmp/fifo"
	mkfifo "$tmp/fifo"
	export CACHERAY_OUT="$tmp/fifo"
	for sig in 1 2 3 6 15; do
		is "$c: signal $sig ends the program, and its pipe has all accesses" "$(dies 'HUP INT QUIT ABRT TERM' DEFAULT $sig)" "$sig 1000"
	done
	for sig in 1 2 3; do
		is "$c: an ignored signal $sig stays ignored" "$(dies 'HUP INT QUIT' IGNORE $sig)" '0 1000'
	done
	command -v python3 >/dev/null || { skip 'there is no python3'; continue; }
	timeout 60 cat "$tmp/fifo" >"$tmp/t.trace" &
	is "$c: an interrupt key ends it at once" "$(timeout 60 python3 -c '
import os, pty, signal, sys
id, fd = pty.fork()
if not id:
	signal.signal(signal.SIGINT, signal.SIG_DFL)
	os.execv(sys.argv[1], sys.argv[1:])
os.read(fd, 5)
os.write(fd, b"\3")
print(os.waitpid(id, 0)[1] & 127)' "$tmp/dies")" 2
	wait
done
unset CACHERAY_OUT
is 'the macros need no runtime' "$($cc -O1 -I$sdk -o "$tmp/bare" t/helper/cacheray/program.c -pthread 2>&1 && "$tmp/bare" && echo runs)" runs
like 'the runtime is not compiled with -fsanitize=thread' "$($cc -fsanitize=thread -c -o /dev/null $sdk/ctp-cacheray.c 2>&1)" 'compile ctp-cacheray.c without'
done_testing
