#!/bin/sh
# ctp-mem: members of types, with and without debug information, in words, as JSON and in the picture.
. t/tap.sh
. t/mem/stream.sh

# What the picture says of each line of a type, from its right edge.
lines() { grep -o '>accesses [^<]*' "$1" | sed 's/>accesses //' | tr '\n' ' ' | sed 's/ $//'; }
debug_info() { # NAME: a library with debug information from the C that comes
	cat >"$tmp/$1.c"
	${CC:-cc} -g -shared -o "$tmp/$1.so" "$tmp/$1.c" 2>"$tmp/err"
}
stream one <<'LIST'
add 1000 8 1 i64
read 1000 8 1
LIST
debug_info one <<'C'
struct one { long a; } one;
C
"$BIN/ctp-mem" --debug-info "$tmp/one.so" "$tmp/one.ctp" >"$tmp/out" 2>"$tmp/err" || skip_all "no names of members: $(cat "$tmp/err")"

# Accesses are drawn in the line that they are in, also those of an array with many elements, or of long ones.
debug_info lines <<'C'
struct buf { long hdr[8]; char data[192]; struct { long part[12]; } record[2]; } buf;
C
stream lines <<'LIST'
add 1000 448 1 struct.buf
write 1000 8 1
write 1041 1 1
write 10fe 1 1
write 10fe 1 1
write 10ff 1 1
write 1118 8 1
write 1158 8 1
write 1158 8 1
write 11b8 8 1
LIST
mem lines 0 --debug-info "$tmp/lines.so" --svg "$tmp/lines.svg"
is 'accesses of each line' "$(lines "$tmp/lines.svg")" '1 1 0 3 1 2 1'
mem lines 0 --svg "$tmp/lines.svg"
is 'and without debug information' "$(lines "$tmp/lines.svg")" '1 1 0 3 1 2 1'

# One member that is used is one to show, and a number has none.
debug_info hot <<'C'
struct conn { char cold[40]; long hot; long c2; } conn;
C
stream hot <<'LIST'
add 1000 56 3 struct.conn
add 2000 8 3 i64
write 1060 8 1
write 1028 8 1
read 2010 8 1
LIST
for option in '' -v; do
	"$BIN/ctp-mem" $option --cache none --debug-info "$tmp/hot.so" --svg "$tmp/hot.svg" "$tmp/hot.ctp" >"$tmp/text" 2>/dev/null
	like "a single member is in a table $option" "$(cat "$tmp/text")" '^ +40 +8 +0 +2 .* hot$'
	is "but not that of a number $option" "$(grep -c '^Members of' "$tmp/text")" 1
	like "and in the picture $option" "$(cat "$tmp/hot.svg")" '>hot<'
	is "with its line $option" "$(lines "$tmp/hot.svg")" 2
done
done_testing
