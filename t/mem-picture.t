#!/bin/sh
# ctp-mem --svg: the picture has the cells that the tables have rows, and the lines that cost most.
. t/tap.sh
. t/mem/stream.sh

cat >"$tmp/types.c" <<'C'
struct has { char k; union { int i; double d; char c[12]; } u; short s; } has;
struct far { long first; char cold[8184]; long hot; long tail[1022]; } far;
C
${CC:-cc} -g -shared -o "$tmp/types.so" "$tmp/types.c" 2>"$tmp/err" || skip_all 'there is no compiler'
printf '%s\n' 'add 1000 8 1 i64' 'read 1000 8 1' | stream one
"$BIN/ctp-mem" --debug-info "$tmp/types.so" "$tmp/one.ctp" >"$tmp/out" 2>"$tmp/err" || skip_all "no names of members: $(cat "$tmp/err")"
draw() { "$BIN/ctp-mem" -qj --cache none --debug-info "$tmp/types.so" --svg "$tmp/$1.svg" "$tmp/$1.ctp" >"$tmp/json"; }
cells() { sed -n '/<title>/{s/.*<title>//;N;s/\n/; /;s/<.*//;/ 0 reads, 0 writes/d;s/, offset.*reads, / /;p;}' "$tmp/$1.svg" | grep -v ' 0 writes' | paste -s -d , -; }

# Where members overlap, a cell is the member that is accessed; the cells have together what the heading has.
awk 'BEGIN {
	print "add 1000 32 1 struct.has\nwrite 1000 1 1"
	for (i = 0; i < 100; i++) print "write 1008 4 1\nwrite 1008 8 1"
	print "write 1013 1 1\nwrite 1018 2 1"
}' | stream has
draw has
is 'a union: cells' "$(cells has)" 'k 1 write,u.d 200 writes,u.c[11] 1 write,s 1 write'
ok 'a union: heading' grep -q '; 0 reads, 203 writes<' "$tmp/has.svg"
is 'a union: rows' "$(grep -o '"name":"[^"]*","reads":0,"writes":[0-9]*' "$tmp/json" | cut -d '"' -f 4,9 | tr -d '":' | paste -s -d ,)" 'k1,u.d200,u.c[11]1,s1'
done_testing
