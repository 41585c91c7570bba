#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# Buffers of one name in one process, in its program and in two libraries: each is distinguished by its file, wherever a buffer is
# shown, chosen, counted or written. Also long names.
. t/helper/tap.sh
. t/helper/ppt.sh
command -v cc >/dev/null || skip_all 'there is no compiler'
long=ABufferWhoseNameIsMuchLongerThanAnyColumn

# The n of a frame shows its buffer: more than 1, 2 or 3 million.
cat >"$tmp/lib.c" <<'C'
#include "ppt.h"
PPT_BUFFER(Same, 64, monotonic, (mark, (int, n), (time, at)));
void save_mark(int n);
void save_mark(int n)
{
	struct ppt_Same_mark m = {.n = n};
	ppt_Same_mark_at_now(&m);
	ppt_Same_mark_save(&m);
}
C
cat >"$tmp/prog.c" <<C
#include "ppt.h"
#include <dlfcn.h>
#include <stdio.h>
PPT_BUFFER($long, 64, monotonic, (one, (int, n)));
void save_mark(int n);
int main(int argc, char **argv)
{
	void (*save[2])(int);
	struct ppt_${long}_one o = {0};
	if (argc < 3)
		return 2;
	for (int i = 0; i < 2; i++) {
		void *lib = dlopen(argv[1 + i], RTLD_NOW | RTLD_LOCAL);
		if (!lib || !(*(void **)&save[i] = dlsym(lib, "save_mark")))
			return fprintf(stderr, "%s\n", dlerror()), 2;
	}
	puts("ready");
	fflush(stdout);
	for (int n = 0; n < 900000; n++) {
		save_mark(1000000 + n);
		save[0](2000000 + n);
		save[1](3000000 + n);
		ppt_${long}_one_save(&o);
		usleep(1000);
	}
	return 0;
}
C
mkdir "$tmp/a" "$tmp/b"
for dir in a b; do
	cc -std=gnu11 -O1 -fPIC -shared -Isdk/ppt -o "$tmp/$dir/same.so" "$tmp/lib.c" || skip_all 'no library can be made'
done
cc -std=gnu11 -O1 -Isdk/ppt -o "$tmp/prog" "$tmp/prog.c" "$tmp/lib.c" -ldl -lpthread || skip_all 'no program can be made'
mkfifo "$tmp/said"
"$tmp/prog" "$tmp/a/same.so" "$tmp/b/same.so" >"$tmp/said" &
pid=$!
trap 'kill -9 $pid 2>/dev/null; rm -rf "$tmp"' EXIT
read -r first <"$tmp/said"
is 'a program with three buffers of one name' "$first" ready
"$ppt" list "$pid" >"$tmp/list" 2>"$tmp/err" || skip_all "$(cat "$tmp/err")"

# --- tables ----------------------------------------------------------------------------------------------------------------
# column TABLE WORD: where the word begins in each row that has it
column() { awk -v word="$2" 'index($0, word) { print index($0, word) }' "$1" | sort -u | xargs; }
is 'with a long name the columns are aligned' "$(column "$tmp/list" ' free ')" "$((${#long} + 1))"
is 'the columns are below their headings' "$(column "$tmp/list" STATE) $(column "$tmp/list" FILE)" "$((${#long} + 2)) $(column "$tmp/list" "$tmp/" | awk '{ print $1 }')"
"$ppt" list -q >"$tmp/all"
is 'the list of all processes is aligned, too' "$(awk -v pid="$pid" 'NR == 1 { print index($0, "STATE") } $1 == pid { print index($0, " free ") + 1 }' "$tmp/all" | sort -u | wc -l | xargs)" 1

# --- choosing a buffer -----------------------------------------------------------------------------------------------------
files() { sed -n "s|^file *$tmp/||p" | xargs; }
is 'describe of a name shows all buffers that have it' "$("$ppt" describe "$pid" Same | files)" 'a/same.so b/same.so prog'
is 'describe of a file and a name shows that buffer' "$("$ppt" describe "$pid" prog:Same | files)" prog
is 'a buffer can be chosen by a path' "$("$ppt" describe "$pid" "$tmp/b/same.so:Same" | files)" b/same.so
is 'a buffer can be chosen by the end of a path' "$("$ppt" describe "$pid" a/same.so:Same | files), $("$ppt" describe "$pid" ./a/same.so:Same | files)" 'a/same.so, a/same.so'
is 'the end of a path may match two buffers' "$("$ppt" describe "$pid" same.so:Same | files)" 'a/same.so b/same.so'
for wrong in rog:Same :Same Same:Same prog:Sam a/b/same.so:Same; do
	like "$wrong matches no buffer" \
		"$("$ppt" describe "$pid" "$wrong" 2>&1)" "^ctp-ppt: $wrong: process $pid has no such buffer; "
done
# whose STREAM: the millions of n, of each section
whose() { "$BIN/ctp-tojsonl" -aq "$1" | sed -n 's/^{"type":"ppt_Same_mark".*"n":\([0-9]\)[0-9]*,.*/\1/p' | sort -u | xargs; }
attach_until '[ "$(whose "$tmp/a.ctp")" ]' -q -o "$tmp/a.ctp" "$pid" a/same.so:Same
is 'attach to one of them: status' $? 0
is 'the stream has its frames and no others' "$(whose "$tmp/a.ctp")" 2
three() { [ "$(for file in "$1.ctp" "$1-2.ctp" "$1-3.ctp"; do whose "$file"; done | sort | xargs)" = '1 2 3' ]; }
attach_until 'three "$tmp/each-Same"' --exact -o "$tmp/each-%b.ctp" "$pid" Same
is 'attach to all: status' $? 0
cat "$tmp"/each-*.ctp >"$tmp/all.ctp"
is 'messages distinguish them' "$(sed -n 's/^ctp-ppt: \(.*\): attached, with.*/\1/p' "$tmp/err" | sort)" \
	"$(printf '%s\n' "$tmp/a/same.so:Same" "$tmp/b/same.so:Same" prog:Same | sort)"
is 'sections distinguish them, by an attribute' "$("$BIN/ctp-tojsonl" -aq "$tmp/all.ctp" | sed -n 's/.*"ppt.file":"\([^"]*\)".*/\1/p' | sort | xargs)" \
	"$tmp/a/same.so $tmp/b/same.so $tmp/prog"
attach_until 'three "$tmp/of-Same"' -q -o "$tmp/of-%b.ctp" "$pid" Same
is 'with %b the second file ends with -2' \
	"$(whose "$tmp/of-Same.ctp") $(whose "$tmp/of-Same-2.ctp") $(whose "$tmp/of-Same-3.ctp")" '2 3 1'
rm "$tmp/b/same.so"
if root_part 'a deleted file, which the kernel opens for root alone'; then
	is 'a deleted file is found by its former name' "$("$ppt" describe "$pid" b/same.so:Same | files)" 'b/same.so (deleted)'
else
	gone="process $pid: $tmp/b/same.so was deleted, and cannot be opened without root, so its buffers are not known\$"
	like 'a deleted file that cannot be opened is reported' "$("$ppt" describe "$pid" b/same.so:Same 2>&1)" "^ctp-ppt: b/same.so:Same: $gone"
	like '  so it is for a name that no other file has' "$("$ppt" describe "$pid" Sam 2>&1)" "^ctp-ppt: Sam: $gone"
	like '  it is not for a name in an existing file' "$("$ppt" describe "$pid" prog:Sam 2>&1)" "^ctp-ppt: prog:Sam: process $pid has no such buffer; "
	like '  it is not for a file that never existed' "$("$ppt" describe "$pid" c/same.so:Same 2>&1)" "^ctp-ppt: c/same.so:Same: process $pid has no such buffer; "
	is '  buffers of existing files are found' "$("$ppt" describe "$pid" Same | files)" 'a/same.so prog'
	like '  list -v names the file' "$("$ppt" list -v "$pid" 2>&1 >/dev/null)" "^ctp-ppt: $tmp/b/same.so: was deleted, and cannot be opened without root; it may have buffers\$"
fi

# --- encode ----------------------------------------------------------------------------------------------------------------
"$ppt" encode -o "$tmp/no.ppt1" "$tmp/all.ctp" 2>"$tmp/err"
is 'encode of one name in three files: status' $? 1
like 'the message says how to choose' "$(cat "$tmp/err")" \
	"^ctp-ppt: .*two sections of the buffer Same, of $tmp/[^ ]* and $tmp/[^ ]*; choose one with --buffer FILE:Same$"
for choice in prog:1 a/same.so:2 b/same.so:3; do
	"$ppt" encode --buffer "${choice%:*}:Same" -o "$tmp/one.ppt1" "$tmp/all.ctp" 2>"$tmp/err"
	"$ppt" decode -q --exact -o "$tmp/one.ctp" "$tmp/one.ppt1"
	is "--buffer ${choice%:*}:Same" "$(cat "$tmp/err")$(whose "$tmp/one.ctp")" "${choice#*:}"
done
like 'for a missing buffer the message lists the others' "$("$ppt" encode --buffer c.so:Same "$tmp/a.ctp" 2>&1 >/dev/null)" "no buffer c.so:Same, but $tmp/a/same.so:Same$"
cp "$tmp/one.ppt1" "$tmp/two.ppt1"
"$ppt" decode -q --exact -o "$tmp/both.ctp" "$tmp/one.ppt1" "$tmp/two.ppt1"
like 'two PPT1 files of one buffer are ambiguous' "$("$ppt" encode "$tmp/both.ctp" 2>&1 >/dev/null)" "of $tmp/one.ppt1 and $tmp/two.ppt1; choose one with --buffer FILE:Same$"
"$ppt" encode --buffer two.ppt1:Same -o "$tmp/back.ppt1" "$tmp/both.ctp"
is 'they are chosen by the names of their files' "$(cmp "$tmp/back.ppt1" "$tmp/two.ppt1" 2>&1)" ''
like 'for one file twice the message has another remedy' "$("$ppt" encode "$tmp/a.ctp" "$tmp/a.ctp" 2>&1 >/dev/null)" 'one file, .*a/same.so, .* encode each stream by itself$'
done_testing
