#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# ctp-mem: arrays that Cacheray's pass records as one element of all bytes (from malloc); memory without a type; arrays without accesses in the picture.
. t/helper/tap.sh
. t/helper/mem/stream.sh

cat >"$tmp/types.c" <<'C'
struct pair { long x; int y; };
struct open { long n; long data[]; };
struct none { long n; long data[0]; };
struct odd { long a, b, c; };
struct user { long id; char name[32]; long last; short slot[8]; long end; };
struct pair p; struct open o; struct none z; struct odd d; struct user u;
C
${CC:-cc} -g -shared -o "$tmp/types.so" "$tmp/types.c" 2>"$tmp/err"

# accesses TYPE: two threads, each of which has every second element of ten, and copies across elements.
accesses() {
	for i in 0 1 2 3 4 5 6 7 8 9; do
		printf 'write 10%x0 8 %d\nread 10%x8 4 %d\nread 10%x4 4 2\n' $i $((i % 2 + 1)) $i $((i % 2 + 1)) $i
	done
	echo 'write 1018 16 1'
}
{ echo 'add 1000 16 10 struct.pair'; accesses; echo 'remove 1000'; } | stream array
{ echo 'add 1000 160 1 struct.pair'; accesses; echo 'remove 1000'; } | stream one
"$BIN/ctp-mem" -qj --debug-info "$tmp/types.so" "$tmp/array.ctp" >"$tmp/array.json" 2>"$tmp/err" || skip_all "no names of members: $(cat "$tmp/err")"
# Of a thread and a region it is not known later what went across elements.
plain() { sed 's/"straddles":[0-9]*,//g' "$1"; }
"$BIN/ctp-mem" -qj --debug-info "$tmp/types.so" "$tmp/one.ctp" >"$tmp/json"
is 'an array recorded as one element is shown as an array' "$(plain "$tmp/json")" "$(plain "$tmp/array.json")"
has 'with the size of its elements' '{"type":"struct.pair","element_size":16,"regions":1,'
has 'and what goes across them' '"reads":20,"writes":11,"atomics":0,"unaligned":0,"straddles":1,'
"$BIN/ctp-mem" --cache none --debug-info "$tmp/types.so" --svg "$tmp/one.svg" "$tmp/one.ctp" >"$tmp/text"
is 'the table of its type has the members' "$(sed -n '/^Members of struct.pair, 16 bytes each/,/^$/p' "$tmp/text" | sed -n '3,$s/.*%  \([^ ]*\).*/\1/p' | sort | tr '\n' ' ')" '(padding) x x+4 y '
like 'its region has the elements' "$(cat "$tmp/text")" ' 0x1000, 10 x struct.pair$'
is 'the picture has its members' "$(grep -o '<title>[^,]*, offset [0-9]*' "$tmp/one.svg" | sed 's/<title>//; s/, offset//' | sort -u | tr '\n' ';')" \
	'padding 12;x 0;x+4 4;y 8;'
is 'no type is missing in the debug information' "$(grep -c 'not in the debug information' "$tmp/text")" 0

# Sizes of a name are one type, whichever there are.
for sizes in '160 16' '16 160' '160 320' '32 16 160 320'; do
	at=1000
	for size in $sizes; do
		printf 'add %s %s 1 struct.pair\nwrite %s 8 1\n' $at "$size" "${at%000}010"
		at=$((at + 1000))
	done | stream sizes
	mem sizes 0 --debug-info "$tmp/types.so"
	is "sizes $sizes are one type" "$(grep -o '{"type":"struct.pair","element_size":[0-9]*,"regions":[0-9]*' "$tmp/json" | sort -u | head -n 1)" \
		"{\"type\":\"struct.pair\",\"element_size\":16,\"regions\":$(echo "$sizes" | wc -w | tr -d ' ')"
	is '  the type has its member' "$(grep -o '"offset":0,"size":8,"name":"x"' "$tmp/json" | wc -l | tr -d ' ')" 1
done

# A type that may have any size, does not fit its regions, or is unknown, makes no array.
stays() { # NAME SIZE...
	type=$1
	shift
	at=1000
	for size; do
		printf 'add %s %s 1 %s\nwrite %s 8 1\n' $at "$size" "$type" "${at%000}010"
		at=$((at + 1000))
	done | stream stays
	mem stays 0 --debug-info "$tmp/types.so"
	is "$type of $*: stays what it is" "$(grep -o '"type":"[^"]*","element_size":[0-9]*,"regions"' "$tmp/json" | grep -o '[0-9]\{2,\}' | sort -n | tr '\n' ' ')" "$* "
}
stays struct.open 80
stays struct.none 80
stays struct.odd 48 100
stays struct.absent 160

# Without a structure the name is that of the pointer.
stream names <<'LIST'
add 1000 400 1 i32*
add 2000 400 1 struct.pair**
add 3000 8 1 i32*
add 4000 4000 1 void*
add 5000 24 1 double*
write 1010 4 1
write 1014 4 1
write 2010 8 1
write 3000 8 1
write 4000 8 1
write 4008 8 1
write 4110 4 1
write 5008 8 1
LIST
mem names 0 --svg "$tmp/names.svg"
has 'an array of numbers' '{"type":"i32*","element_size":4,"regions":1,'
has 'of pointers' '{"type":"struct.pair**","element_size":8,"regions":1,'
has 'of doubles' '{"type":"double*","element_size":8,"regions":1,'
has 'what may be a pointer is one' '{"type":"i32*","element_size":8,"regions":1,'
has 'what is of no type has no members' '{"type":"void*","element_size":4000,"regions":1,"reads":0,"writes":3,"atomics":0,"unaligned":0,"straddles":0,"misses":[],"cost":3,"unplaced":0,"repeats":0,"members":[]}'
is 'memory without a type is not drawn' "$(grep -c 'void' "$tmp/names.svg")" 0
is 'there is no table of members' "$("$BIN/ctp-mem" "$tmp/names.ctp" | grep -c '^Members of')" 0

# In the picture, adjacent elements of an array without accesses are one cell.
stream user <<'LIST'
add 1000 72 1 struct.user
write 1000 8 1
write 1028 8 1
write 1034 2 1
LIST
mem user 0 --debug-info "$tmp/types.so" --svg "$tmp/user.svg"
is 'an array without accesses is one cell' "$(grep -o '<title>[^,]*, offset [0-9]*, [0-9]*' "$tmp/user.svg" | sed 's/<title>//; s/, offset / /; s/, / /' | tr '\n' ';')" \
	'id 0 8;name[0]..[31] 8 32;last 40 8;slot[0]..[1] 48 4;slot[2] 52 2;slot[3]..[7] 54 10;end 64 8;'
done_testing
