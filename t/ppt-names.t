#!/bin/sh
# Buffers of one name in one process, in its program and in two libraries: each is told from the others by its file, wherever a buffer is
# shown, chosen, counted or written. And names that are long.
. t/tap.sh
command -v cc >/dev/null || skip_all 'there is no compiler'
ppt=$BIN/ctp-ppt
long=ABufferWhoseNameIsMuchLongerThanAnyColumn

# The n of a frame says whose it is: 1, 2 or 3 million and some.
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
is 'a long name: the columns stand below each other' "$(column "$tmp/list" ' free ')" "$((${#long} + 1))"
is 'below their names' "$(column "$tmp/list" STATE) $(column "$tmp/list" FILE)" "$((${#long} + 2)) $(column "$tmp/list" "$tmp/" | awk '{ print $1 }')"
"$ppt" list -q >"$tmp/all"
is 'of all processes, too' "$(awk -v pid="$pid" 'NR == 1 { print index($0, "STATE") } $1 == pid { print index($0, " free ") + 1 }' "$tmp/all" | sort -u | wc -l | xargs)" 1
done_testing
