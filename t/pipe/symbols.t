#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# Addresses as file, line and function: of a program that ran, at any load address, and on a machine without the program.
# Not under sanitizers: it compiles its programs itself.
. t/helper/tap.sh
to=$BIN/ctp-tojsonl from=$BIN/ctp-fromjsonl
command -v gcc >/dev/null && command -v objcopy >/dev/null && command -v addr2line >/dev/null ||
	skip_all 'there is no gcc or no binutils (packages gcc and binutils)'
ldd "$to" | grep -q libdw || skip_all 'it was built without libdw (package libdw-dev)'
work=$tmp/work other=$tmp/other
mkdir "$work" "$other"

cat >"$work/prog.c" <<'C'
#include "ctp.h"
#include <stdio.h>
static int spent;
__attribute__((noinline)) static const void *returns_to(void) { return __builtin_return_address(0); }
__attribute__((noinline)) void entered(struct ctp_coro *co) // E
{
	spent += co != 0;
}
__attribute__((noinline)) static void here(struct ctp_coro *co)
{
	spent++;
	ctp_coro_suspend(co, CTP_HERE); // H
	spent++;
	ctp_coro_resume(co);
}
static inline __attribute__((always_inline)) void inner(struct ctp_coro *co)
{
	ctp_coro_suspend(co, CTP_HERE); // I
	ctp_coro_resume(co);
}
__attribute__((noinline)) static void called(struct ctp_coro *co)
{
	const void *at = returns_to(); // R
	spent++;
	ctp_coro_suspend_in(co, at, 0);
	ctp_coro_resume(co);
}
int main(void)
{
	struct ctp_coro co;
	ctp_coro_new(&co, 1);
	ctp_coro_resume(&co);
	getchar();
	entered(&co);
	here(&co);
	inner(&co);
	called(&co);
	ctp_coro_suspend_in(&co, (const void *)entered, 0);
	ctp_coro_resume(&co);
	ctp_coro_suspend_in(&co, &spent, 0);
	ctp_coro_death(&co);
	return 0;
}
C
line() { grep -n "// $1\$" "$work/prog.c" | cut -d : -f 1; }
compile() { (cd "$work" && gcc -std=gnu11 -I"$OLDPWD/sdk/c" "$@" prog.c -o prog); } # FLAGS...
mkfifo "$tmp/hold"
run() { # it suspends only when the mappings are recorded
	rm -f "$tmp/t.ctp" # the trace of an earlier run must not be used
	"$BIN/ctp-collect" -q "$work/prog" >"$tmp/t.ctp" <"$tmp/hold" &
	exec 3>"$tmp/hold"
	until "$to" -aq "$tmp/t.ctp" 2>/dev/null | grep -q '"type":"mapping"'; do
		kill -0 $! || break
		sleep 0.05
	done
	exec 3>&-
	wait $!
}
texts() { # OPTIONS...: of the suspensions, in their order, - for none
	"$to" -a --symbols "$@" "$tmp/t.ctp" |
		sed -n 's/.*"type":"transition".*"addr":"\(0x0*[1-9a-f][^"]*\)"\(,"addr_text":"\([^"]*\)"\)*.*"is_active":false.*/\3/p' | sed 's/^$/-/'
}
want="prog.c:$(line H):here
prog.c:$(line I):inner
prog.c:$(line R):called
prog.c:$(line E):entered
-"

# --- with debug information ---------------------------------------------------------------------------------------------------
for how in '-g -O0' '-g -O2' '-g -O2 -no-pie' '-gdwarf-4 -O2' '-g1 -O2' '-g -O2 -gz'; do
	# shellcheck disable=SC2086
	compile $how && run
	is "gcc $how: texts for CTP_HERE, a call and a function; none for what is no code" "$(texts)" "$want"
done
if command -v clang >/dev/null; then # which writes no .debug_aranges
	(cd "$work" && clang -g -O2 -I"$OLDPWD/sdk/c" prog.c -o prog) && run
	is 'a program compiled by clang has its texts' "$(texts)" "$want"
fi
compile -g -O2 -Wl,--build-id=none && run
is 'a program without a build-id has its texts' "$(texts)" "$want"
cp "$work/prog" "$tmp/anonymous"
(cd "$work" && objcopy --only-keep-debug prog prog.dbg && strip prog && objcopy --add-gnu-debuglink=prog.dbg prog) && run
is 'its debuglink is found by the checksum' "$(texts)" "$want"
printf x >>"$work/prog.dbg"
like 'a debuglink with a wrong checksum is not used' "$(texts | head -n 1)" '^prog\+0x[0-9a-f]+$'
compile -g -O2
like 'a program with a build-id is not taken for it' "$(texts | head -n 1)" '^prog\+0x[0-9a-f]+$'
mkdir "$other/anonymous"
cp "$tmp/anonymous" "$other/anonymous/prog"
is '--debug-dir comes first' "$(texts --debug-dir "$other/anonymous")" "$want"
rm "$work/prog.dbg"
compile -g -O2 && run
texts >"$tmp/once"
"$to" -a "$tmp/t.ctp" | grep '"type":"mapping".*/prog"' >"$tmp/mapping.once"
run
"$to" -a "$tmp/t.ctp" | grep '"type":"mapping".*/prog"' >"$tmp/mapping.twice"
is 'another run at another address has the same texts' "$(texts)" "$(cat "$tmp/once")"
note "$(sed 's/.*"start":\("[^"]*"\).*/\1/' "$tmp/mapping.once" "$tmp/mapping.twice")"

# --- the same addresses in addr2line ----------------------------------------------------------------------
field() { sed "s/.*\"$1\":\"\\([^\"]*\\)\".*/\\1/" "$2"; }
start=$(field start "$tmp/mapping.twice") offset=$(field offset "$tmp/mapping.twice")
"$to" -a --symbols "$tmp/t.ctp" | sed -n 's/.*"addr":"\([^"]*\)","addr_text":"\([^"]*\)".*/\1 \2/p' | sort -u >"$tmp/ours"
agree=0
while read -r addr text; do
	at=$((addr - start + offset))
	# It may be the address itself, or the call before that returns there.
	for pc in $at $((at - 1)); do
		addr2line -fipe "$work/prog" "$(printf '0x%x' $pc)"
	done | sed "s|$work/||" >"$tmp/theirs"
	[ "${text##*:}" = entered ] && text=:entered # its line in the source, not that of its first instruction
	grep -qF -e "${text##*:} at ${text%:*}" "$tmp/theirs" && agree=$((agree + 1))
done <"$tmp/ours"
is 'addr2line agrees' "$agree of $(grep -c . "$tmp/ours")" '4 of 4'

# --- stripped, moved, replaced ----------------------------------------------------------------------------------------------------
id=$(readelf -n "$work/prog" | sed -n 's/.*Build ID: //p')
mkdir -p "$work/.debug" "$other/id/.build-id/${id%"${id#??}"}" "$other/link" "$other/whole" "$other/root$work" "$other/cache/$id"
objcopy --only-keep-debug "$work/prog" "$work/prog.debug"
cp "$work/prog" "$other/whole/prog"
cp "$work/prog" "$other/root$work/prog"
(cd "$work" && strip -o stripped prog && objcopy --add-gnu-debuglink=prog.debug stripped && mv stripped prog)
is 'a stripped program uses its debuglink beside it' "$(texts)" "$want"
mv "$work/prog.debug" "$work/.debug/"
is 'a debuglink in .debug is found' "$(texts)" "$want"
mv "$work/.debug/prog.debug" "$other/link/"
like 'a stripped program without debug information shows offsets' "$(texts | head -n 1)" '^prog\+0x[0-9a-f]+$'
is 'a debuglink in --debug-dir is found' "$(texts --debug-dir "$other/none" --debug-dir "$other/link")" "$want"
cp "$other/link/prog.debug" "$other/id/.build-id/${id%"${id#??}"}/${id#??}.debug"
is 'debug information is found by its build-id' "$(texts --debug-dir "$other/id")" "$want"
mv "$work/prog" "$tmp/away"
is 'the build-id is enough if the program is gone' "$(texts --debug-dir "$other/id")" "$want"
is 'a copy of the program is found in --debug-dir' "$(texts --debug-dir "$other/whole")" "$want"
is 'a copy of its file system is found in --debug-dir' "$(texts --debug-dir "$other/root")" "$want"
cp "$other/link/prog.debug" "$other/cache/$id/debuginfo"
is 'a cache of debuginfod is used' "$(texts --debug-dir "$other/cache")" "$want"
if command -v eu-strip >/dev/null; then
	mkdir "$other/eu"
	eu-strip -f "$other/eu/prog.debug" -o "$tmp/rest" "$other/whole/prog"
	is 'debug information split by eu-strip is used' "$(texts --debug-dir "$other/eu")" "$want"
fi
first=$("$to" -a "$tmp/t.ctp" | sed -n 's/.*"addr":"\(0x0*[1-9a-f][^"]*\)".*"is_active":false.*/\1/p' | head -n 1)
is 'without any file the text is the offset in the file' "$(texts | head -n 1)" "$(printf 'prog+0x%x' $((first - start + offset)))"
compile -g -O1
is 'another program at the same path is not used' "$(texts | head -n 1)" "$(printf 'prog+0x%x' $((first - start + offset)))"
compile -O2 && run
is 'a symbol table alone gives functions' \
	"$(texts | sed 's/+0x[0-9a-f]*/+/')" "$(printf 'prog+:here\nprog+:main\nprog+:called\nprog+:entered\n-')"
(cd "$work" && strip prog) && run
is 'without a symbol table there are offsets' "$(texts | sed 's/+0x[0-9a-f]*/+/')" "$(printf 'prog+\nprog+\nprog+\nprog+\n-')"

# --- a mapping whose offset differs from its address -------------------------------------------------------------------
compile -g -O2 -Wl,-z,separate-code -Wl,-Ttext-segment=0x70000000 -no-pie && run
is 'a program linked at a fixed address has its texts' "$(texts)" "$want"
cp "$work/prog" "$tmp/linked"
mkdir "$other/linked"
objcopy --only-keep-debug "$work/prog" "$other/linked/prog.debug"
rm "$work/prog"
is 'its debug information is enough if it is gone' "$(texts --debug-dir "$other/linked")" "$want"

# --- the other outputs, and back ----------------------------------------------------------------------------------------------------
cp "$tmp/linked" "$work/prog"
"$to" -a "$tmp/t.ctp" >"$tmp/without"
"$to" -a --symbols "$tmp/t.ctp" >"$tmp/with"
"$from" "$tmp/with" | "$to" -a >"$tmp/back"
ok 'JSONL: texts are ignored when they are read' cmp "$tmp/without" "$tmp/back"
is 'there are texts to ignore' "$(grep -c addr_text "$tmp/with")" 4
"$to" --symbols "$tmp/t.ctp" >/dev/null 2>"$tmp/err"
is 'the plain form refuses --symbols' "$? $(cat "$tmp/err")" "2 ctp-tojsonl: --symbols: coroTracer's form has no place for symbols; add -a"
if [ -x "$BIN/ctp-tocsv" ]; then
	like 'CSV: a column' "$("$BIN/ctp-tocsv" --class transition --symbols "$tmp/t.ctp" | cut -d , -f 3,4 | tr '\n' ' ')" \
		"^addr,addr_text .*,prog.c:$(line H):here .*,prog.c:$(line R):called "
	is 'without --symbols there is no column' "$("$BIN/ctp-tocsv" -a "$tmp/t.ctp" | grep -c addr_text)" 0
	"$BIN/ctp-tocsv" --symbols "$tmp/t.ctp" >/dev/null 2>&1
	is 'the plain form of CSV refuses --symbols' $? 2
fi
if [ -x "$BIN/ctp-tocsv" ] && [ -x "$BIN/ctp-fromcsv" ]; then
	"$BIN/ctp-tocsv" -a --symbols "$tmp/t.ctp" >"$tmp/csv"
	"$BIN/ctp-fromcsv" "$tmp/csv" | "$to" -a >"$tmp/back"
	ok 'CSV: texts are ignored when they are read' cmp "$tmp/without" "$tmp/back"
	"$BIN/ctp-tocsv" --class transition --symbols "$tmp/t.ctp" >"$tmp/one.csv"
	is 'so they are without a schema' "$("$BIN/ctp-fromcsv" "$tmp/one.csv" | "$BIN/ctp-tocsv" --class transition | head -n 1)" \
		"$("$BIN/ctp-tocsv" --class transition "$tmp/t.ctp" | head -n 1)"
fi
if [ -x "$BIN/ctp-sqlite" ] && command -v sqlite3 >/dev/null; then
	"$BIN/ctp-sqlite" --symbols -o "$tmp/db" "$tmp/t.ctp"
	is 'SQLite: a table' "$(sqlite3 "$tmp/db" 'SELECT text FROM symbols ORDER BY text')" "$(echo "$want" | sed '/^-$/d' | sort)"
	is 'the views have it if there is no site' \
		"$(sqlite3 "$tmp/db" "SELECT coalesce(site_text, '-') FROM wait_intervals ORDER BY start_ns; SELECT count(addr_text) FROM suspend_addresses")" \
		"$want
4"
	"$BIN/ctp-sqlite" -o "$tmp/db" "$tmp/t.ctp"
	is 'without symbols it is empty' "$(sqlite3 "$tmp/db" 'SELECT count(*) FROM symbols')" 0
fi
done_testing
