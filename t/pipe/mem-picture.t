#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# ctp-mem --svg: the picture has a cell for each row of the tables, and the most expensive lines.
. t/helper/tap.sh
. t/helper/mem/stream.sh

cat >"$tmp/types.c" <<'C'
struct has { char k; union { int i; double d; char c[12]; } u; short s; } has;
struct far { long first; char cold[8184]; long hot; long tail[1022]; } far;
C
${CC:-cc} -g -shared -o "$tmp/types.so" "$tmp/types.c" 2>"$tmp/err" || skip_all 'there is no compiler'
printf '%s\n' 'add 1000 8 1 i64' 'read 1000 8 1' | stream one
"$BIN/ctp-mem" --debug-info "$tmp/types.so" "$tmp/one.ctp" >"$tmp/out" 2>"$tmp/err" || skip_all "no names of members: $(cat "$tmp/err")"
draw() { "$BIN/ctp-mem" -qj --cache none --debug-info "$tmp/types.so" --svg "$tmp/$1.svg" "$tmp/$1.ctp" >"$tmp/json"; }
cells() { sed -n '/<title>/{s/.*<title>//;N;s/\n/; /;s/<.*//;/ 0 reads, 0 writes/d;s/, offset.*reads, / /;p;}' "$tmp/$1.svg" | grep -v ' 0 writes' | paste -s -d , -; }

# Where members overlap, a cell is the member that is accessed; the cells add up to the heading.
awk 'BEGIN {
	print "add 1000 32 1 struct.has\nwrite 1000 1 1"
	for (i = 0; i < 100; i++) print "write 1008 4 1\nwrite 1008 8 1"
	print "write 1013 1 1\nwrite 1018 2 1"
}' | stream has
draw has
is 'a union: cells' "$(cells has)" 'k 1 write,u.d 200 writes,u.c[11] 1 write,s 1 write'
ok 'a union: heading' grep -q '; 0 reads, 203 writes<' "$tmp/has.svg"
is 'a union: rows' "$(grep -o '"name":"[^"]*","reads":0,"writes":[0-9]*' "$tmp/json" | cut -d '"' -f 4,9 | tr -d '":' | paste -s -d ,)" 'k1,u.d200,u.c[11]1,s1'

# A large structure: its most expensive lines, in order; each gap says how many are left out.
rows_of() { sed -n 's/.*text-anchor="end">\(+[0-9]*\)<.*/\1/p; s/.*>\([0-9,]* lines* left out, [^<]*\)<.*/\1/p' "$tmp/$1.svg" | paste -s -d / -; }
high() { sed -n 's/.* height="\([0-9]*\)">$/\1/p; 2q' "$tmp/$1.svg"; }
lowest() { grep -o ' y="[0-9]*"' "$tmp/$1.svg" | tr -dc '0-9\n' | sort -n | tail -1; }
printf '%s\n' 'add 1000 16376 1 struct.far' 'write 1000 8 1' 'write 3000 8 1' 'write 3000 8 1' | stream far
draw far
is 'far: cells' "$(cells far)" 'first 1 write,hot 2 writes'
is 'far: lines' "$(rows_of far)" '+0/127 lines left out, without accesses/+8192/127 lines left out, without accesses'
like 'far: heading' "$(cat "$tmp/far.svg")" '0 reads, 3 writes; drawn: the dearest 2 of 256 lines, 254 left out<'
ok 'far: the picture is high enough for its contents' test "$(lowest far)" -lt "$(high far)"
if command -v python3 >/dev/null; then
	ok 'far: XML' python3 -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' "$tmp/far.svg"
fi

# Line i of 80 has i accesses, but the one at 256 has most: the 32 most expensive are that one and those from 49 on.
awk 'BEGIN {
	print "add 10000 5120 1 plain"
	for (i = 0; i < 80; i++)
		for (k = 0; k < (i == 4 ? 99 : i + 1); k++)
			printf "read %x 8 1\n", 65536 + i * 64 + 8
}' | stream plain
draw plain
is 'dearest: lines' "$(rows_of plain)" "4 lines left out, 0 % of the cost/+256/44 lines left out, 36 % of the cost$(awk 'BEGIN { for (i = 49; i < 80; i++) printf "/+%d", i * 64 }')"
like 'dearest: heading' "$(cat "$tmp/plain.svg")" '; drawn: the dearest 32 of 80 lines, 48 left out<'
is 'dearest: the warmest' "$(grep -A 1 'class="c h7"' "$tmp/plain.svg" | sed -n 's/.*<title>//p;/reads/s/<.*//p' | paste -s -d ' ' -)" 'offset 264, 8 bytes 99 reads, 0 writes'

# Two threads write a line that is drawn only because it is expensive: it is not counted as hidden.
awk 'BEGIN {
	print "add 1000 16376 1 struct.far"
	for (i = 0; i < 9; i++) print "write 3000 8 1\nwrite 3008 8 2"
}' | stream shared
draw shared
is 'shared: cells' "$(cells shared)" 'hot 9 writes,tail[0]..[6] 9 writes'
ok 'shared: marked' grep -q 'FALSE sharing of the line at 0x3000' "$tmp/shared.svg"
is 'shared: not hidden' "$(grep -c 'not in what is drawn' "$tmp/shared.svg")" 0

# In a region of 4 GiB only accessed lines are visited.
printf '%s\n' 'add 100000000 4294967295 1 huge' 'read 1fffffff0 8 1' 'read 1fffffffc 8 1' 'read 100000000 1 1' | stream huge
draw huge
is 'huge: lines' "$(rows_of huge)" '+0/67,108,862 lines left out, without accesses/+4294967232'
done_testing
