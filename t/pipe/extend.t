#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# ctp-extend(7), followed literally: its programs are built against an installed tree and nothing else, and its files
# are added to a copy of the tree, where they make a tool, its page, its test and a rule.
# Not under sanitizers: it builds the tree.
. t/helper/tap.sh
command -v pkg-config >/dev/null || skip_all 'there is no pkg-config'

page=doc/ctp-extend.7 root=$tmp/root prefix=/opt/ctp used=
top=$root$prefix

# The block after the file's name, as text; and as it is written in a page.
block() {
	awk -v want="$1" '/^\.Pa / && !inside { name = $2; next } /^\.Ed/ { inside = 0; name = "" } inside && name == want
		/^\.Bd -literal/ { inside = 1 }' $page | sed 's/^\\&//; s/\\e/\\/g'
}
save() { # NAME FILE
	block "$1" >"$2"
	used="$used $1"
	ok "the page has $1" test -s "$2"
}

make --no-print-directory O="$O" DESTDIR="$root" PREFIX=$prefix install >"$tmp/log" 2>&1 || diag "$(cat "$tmp/log")"
export LD_LIBRARY_PATH="$top/lib"
installed() { PKG_CONFIG_PATH=$top/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root pkg-config "$@"; }
build() { # PROGRAM SOURCE...: elsewhere, so that nothing of the tree is found
	program=$1
	shift
	# shellcheck disable=SC2046,SC2086
	(cd "$tmp/outside" &&
		${CC:-cc} $how -std=c11 -Wall -Wextra -Wshadow -Wstrict-prototypes -Werror -o "$program" "$@" $(installed --cflags --libs libctp $also))
}
how='' also=''

# --- outside the tree ---
mkdir "$tmp/outside"
for file in lines.h lines.c run.h tolines.c fromlog.c beats.c waits.c findings.c; do save $file "$tmp/outside/$file"; done
ok 'the format builds' build tolines tolines.c lines.c
for program in fromlog beats waits findings; do ok "$program builds" build $program $program.c; done
is 'the command of the page is the one that was used' "$(block '' | head -1)" \
	'$ cc -o tolines tolines.c lines.c $(pkg-config --cflags --libs libctp)'
also=--static
ok 'pkg-config --static will do as well' build tolines-too tolines.c lines.c
is 'it names no library that is not used' "$(installed --static --libs libctp | grep -c 'bz2\|lzma\|-lz ')" 0
like 'the page says how to link a static program' "$(cat doc/ctp-extend.7)" \
	'^\.Dl \$ cc -static -o tolines .* \$\(pkg-config --static --cflags --libs libctp libzstd libdw\)$'
if ! pkg-config --exists 'libdw >= 0.171' libzstd || ! echo '#include <bzlib.h>' | ${CC:-cc} -E - >/dev/null 2>&1; then
	skip 'no static libdw, or no libbz2 for it (packages libdw-dev and libbz2-dev)'
else
	how=-static also='--static libzstd libdw'
	ok 'the static program builds' build tolines-static tolines.c lines.c
fi
PATH=$tmp/outside:$PATH

# A source, and its class in all that read it.
printf '%s\n' '2000 7 wait the net' '1000 7 run' '1500 8 run a=b%' 'nonsense' '3000 7 run' '9000 8 wait' '9500 8 walk' >"$tmp/log"
fromlog "$tmp/log" >"$tmp/log.ctp" 2>"$tmp/err"
is 'invalid lines are counted, with status 3' "$? $(cat "$tmp/err")" '3 fromlog: 2 lines were not understood'
is 'rows become records in time order' "$(tolines "$tmp/log.ctp" | sed 1d)" 'transition ts=1000 coro=7 is_active=true text=
transition ts=1500 coro=8 is_active=true text=a%3db%25
transition ts=2000 coro=7 is_active=false text=the%20net
transition ts=3000 coro=7 is_active=true text=
transition ts=9000 coro=8 is_active=false text=
@end complete'
like 'a section has its attributes' "$(tolines "$tmp/log.ctp" | head -1)" '^@section tool=fromlog%201\.0 host=.* wall_offset_ns=0$'
is 'its times are wall-clock times' "$("$BIN/ctp-tocsv" --class transition --wall "$tmp/log.ctp" | sed -n 2p)" \
	'1970-01-01T00:00:00.000001000Z,7,true,'
is 'its tasks are coroutines' "$("$BIN/ctp-stat" -j "$tmp/log.ctp" | sed 's/.*"coroutines":\([0-9]*\).*/\1/')" 2
is 'their waits are followed' "$(waits "$tmp/log.ctp")" '7 1000 -'
fromlog "$tmp/log" 2>/dev/null | tolines >"$tmp/piped"
is 'all of it works in a pipe' "$(sed 1d "$tmp/piped")" "$(tolines "$tmp/log.ctp" | sed 1d)"
awk 'BEGIN {
	for (i = 0; i < 300000; i++) print i * 10 + (i % 7) * 30, i % 100, i % 200 < 100 ? "run" : "wait", "row", i
	print 5, 1, "run too late" # the sorter holds a third of these rows
}' | fromlog >"$tmp/many.ctp"
tolines "$tmp/many.ctp" >"$tmp/many"
is 'many rows are sorted' \
	"$(awk '/^transition/ && !/ late$/ { split($2, ts, "="); bad += ts[2] + 0 < last; last = ts[2] + 0; n++ }
		END { print n, bad + 0 }' "$tmp/many")" '300000 0'
is 'late rows are marked' "$(grep ' late$' "$tmp/many")" 'transition ts=5 coro=1 is_active=true text=too%20late late'

# A live source: the next line is sent when the one before has arrived at the other end.
cat >"$tmp/live" <<'EOF'
exec 3>"$1" 4<"$2"
for n in 1 2 3; do
	echo >&3
	while read -r line <&4 && case $line in beat*) false ;; esac; do :; done
	echo "${line##* }"
done
exec 3>&-
cat <&4
EOF
mkfifo "$tmp/in" "$tmp/out"
beats <"$tmp/in" | tolines >"$tmp/out" &
is 'flushed rows arrive at once' "$(timeout 60 sh "$tmp/live" "$tmp/in" "$tmp/out" | tr '\n' ' ')" \
	'line=1 line=2 line=3 @end complete '
wait

# What the tools write.
"$BIN/ctp-collect" -q -o "$tmp/lost.ctp" "$O/examples/lostwake" >/dev/null 2>&1
tolines "$tmp/lost.ctp" >"$tmp/lines"
is 'each record has a line' "$(grep -cv '^@' "$tmp/lines")" \
	"$("$BIN/ctp-tojsonl" -a "$tmp/lost.ctp" | grep -cv '^{"type":"@')"
like 'a site has its text' "$(grep '^transition' "$tmp/lines")" 'site=[0-9]+\([^ ]*lostwake\.c:[0-9]+:handler_step\)'
if pkg-config --exists 'libdw >= 0.171'; then
	like 'an address has its text' "$(grep '^transition' "$tmp/lines")" 'addr=0x[0-9a-f]{16}\([^ ]*lostwake\.c:[0-9]+:[a-z_]+\)'
fi
is 'names are escaped' "$(grep -c '^name .* name=handler%20[0-9]*$' "$tmp/lines")" 24
if command -v zstd >/dev/null && pkg-config --exists libzstd; then
	zstd -q <"$tmp/lost.ctp" >"$tmp/lost.ctp.zst"
	tolines "$tmp/lost.ctp.zst" >"$tmp/lines.zst"
	ok 'a compressed stream is read' cmp "$tmp/lines" "$tmp/lines.zst"
fi
printf '%s\n' '{"type":"a@b c","ts":1,"x\ty":"\u0000%"}' | "$BIN/ctp-fromjsonl" -q >"$tmp/odd.ctp"
is 'odd bytes of names and values are escaped' "$(tolines "$tmp/odd.ctp" | sed -n 2p)" 'a%40b%20c ts=1 x%09y=%00%25'
head -c -20 "$tmp/lost.ctp" >"$tmp/cut.ctp"
tolines "$tmp/cut.ctp" >"$tmp/cut" 2>"$tmp/err"
is 'a truncated stream gives status 3' $? 3
is 'it is reported as incomplete' "$(tail -1 "$tmp/cut")" '@end incomplete'
like 'the reason is reported' "$(cat "$tmp/err")" "^$tmp/cut.ctp: "
tolines t/pipe/extend.t >"$tmp/none" 2>"$tmp/err"
is 'an input that is no stream gives status 1' "$? $(cat "$tmp/none") $(tail -1 "$tmp/err")" '1  t/pipe/extend.t: is no ctp stream'
rm "$tmp/none"
for program in tolines waits findings; do
	$program "$tmp/lost.ctp" >/dev/full 2>"$tmp/err"
	is "$program: a full disk is status 1" $? 1
	like 'the full disk is reported' "$(cat "$tmp/err")" 'No space left'
	$program "$tmp/none" >/dev/null 2>"$tmp/err"
	is "$program: a file that is not there is status 1" "$? $(wc -l <"$tmp/err")" '1 1'
done

is 'each coroutine that waited has a longest wait' "$(waits "$tmp/lost.ctp" | wc -l)" \
	"$("$BIN/ctp-tojsonl" -a "$tmp/lost.ctp" | grep '"is_active":true' | sed 's/.*"coro":\([0-9]*\).*/\1/' | sort -u | wc -l)"
like 'the longest wait has its place' "$(waits "$tmp/lost.ctp" | head -1)" '^[0-9]+ [0-9]+ .*lostwake\.c:[0-9]+:[a-z_]+$'
is 'findings are those of ctp-report' "$(findings "$tmp/lost.ctp" | cut -d' ' -f 1-3)" \
	"$("$BIN/ctp-report" -j "$tmp/lost.ctp" | grep -v '"certainty":"unknown"' | sed 's/.*"rule":"\([^"]*\)","certainty":"\([^"]*\)".*"members":\([0-9]*\),.*/\2 \1 \3/')"

like 'a finding has its file and its line' "$(findings "$tmp/lost.ctp")" '^likely never-woken [0-9]+ [^ ]*lostwake\.c [0-9]+ '

# --- inside the tree ---
tree=$tmp/tree
mkdir "$tree" "$tree/sdk"
cp -Rp GNUmakefile doc formats lib t tools "$tree" && cp -Rp sdk/c sdk/c++ sdk/ppt "$tree/sdk"
case $O in
/*) inner=build ;; # what was made knows its folder by that name
*) inner=$O && mkdir -p "$tree/$O" && cp -Rp "$O/.flags" "$O/lib" "$O/formats" "$O/tools" "$O/page.html" "$tree/$O" 2>/dev/null ;;
esac
in_tree() { (cd "$tree" && make --no-print-directory O="$inner" WERROR=1 "$@"); }
try() { (cd "$tree" && SKIPPED= O=$inner BIN=$inner/bin "$@"); }
mkdir "$tree/formats/lines"
cp "$tmp/outside/lines.h" "$tmp/outside/lines.c" "$tree/formats/lines"
for file in tools/ctp-tolines.c doc/ctp-tolines.1 t/pipe/lines.t; do save $file "$tree/$file"; done
chmod +x "$tree/t/pipe/lines.t"
ok 'the files of a format make a tool' in_tree "$inner/bin/ctp-tolines" "$inner/bin/ctp-fromjsonl"
like 'make lists the new tool' "$(in_tree -n all)" 'bin/ctp-tolines'
ok 'its test passes' try t/pipe/lines.t
if command -v mandoc >/dev/null; then ok 'and so does that of its page' try t/pipe/man.t; fi
is 'it writes the same as the program outside' "$("$tree/$inner/bin/ctp-tolines" "$tmp/log.ctp")" "$(tolines "$tmp/log.ctp")"
ok 'the needs.mk of the page exists in the tree' grep -qxF "$(block needs.mk)" formats/html/needs.mk

# A rule.
for file in lib/analyse/rules.h doc/ctp-rules.7; do save $file "$tmp/${file##*/}"; done
save lib/analyse/judge-crowd.c "$tree/lib/analyse/judge-crowd.c"
before() { # PATTERN TEXT FILE: puts the text in front of the line
	awk -v pattern="$1" -v text="$2" '$0 ~ pattern { while ((getline line <text) > 0) print line } { print }' "$3" >"$tmp/new"
	cat "$tmp/new" >"$3"
}
before 'RULE[(]MIGRATION,' "$tmp/rules.h" "$tree/lib/analyse/rules.h"
before '^[.]Ss migration-storm' "$tmp/ctp-rules.7" "$tree/doc/ctp-rules.7"
ok 'a row, two functions and a section of the page make a rule' in_tree "$inner/bin/ctp-report" "$inner/t/unit/report-table" "$inner/t/unit/report-words" \
	"$inner/t/unit/report-rules"
ok 'the table and the page agree' try "$inner/t/unit/report-table"
if command -v jq >/dev/null; then ok 'the page has a trace that shows it' try t/pipe/rules-page.t; fi
ok 'its texts agree with their numbers' try "$inner/t/unit/report-words"
ok 'the other rules find the same as before' try "$inner/t/unit/report-rules"
crowd() { awk -v n="$1" 'BEGIN { for (i = 1; i <= n; i++) print 1000 + i, i, "run" }' | fromlog | "$tree/$inner/bin/ctp-report" -j; }
like 'the new rule finds its defect' "$(crowd 1001)" '"rule":"crowd".*"title":"1,001 coroutines spawned at a place that the trace does not name want to run at the end"'
is 'the new rule finds nothing in 1,000 coroutines' "$(crowd 1000 | grep -c '"rule":"crowd"')" 0

is 'there is no other block in the page' "$(grep -c '^\.Bd' $page)" "$(($(echo "$used" | wc -w) + 2))"
done_testing
