#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# ctp-mem: members of types, with and without debug information, in words, as JSON and in the picture.
. t/helper/tap.sh
. t/helper/mem/stream.sh

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
is 'the same without debug information' "$(lines "$tmp/lines.svg")" '1 1 0 3 1 2 1'

# A type with one used member has a table, a number has none.
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
	like "a type with one used member has a table $option" "$(cat "$tmp/text")" '^ +40 +8 +0 +2 .* hot$'
	is "a number has no table $option" "$(grep -c '^Members of' "$tmp/text")" 1
	like "the picture has the used member $option" "$(cat "$tmp/hot.svg")" '>hot<'
	is "the picture has its line $option" "$(lines "$tmp/hot.svg")" 2
done

# Separate debug information is found by its link, if it belongs to the file.
linked() { # NAME OPTIONS...: of the compiler
	what=$1
	shift
	mkdir -p "$tmp/linked/.debug"
	${CC:-cc} -g "$@" -shared -o "$tmp/whole.so" "$tmp/hot.c" && objcopy --only-keep-debug "$tmp/whole.so" "$tmp/linked/.debug/hot.debug" &&
		objcopy --strip-debug --add-gnu-debuglink="$tmp/linked/.debug/hot.debug" "$tmp/whole.so" "$tmp/linked/hot.so" || return
	like "$what" "$("$BIN/ctp-mem" --cache none --debug-info "$tmp/linked/hot.so" "$tmp/hot.ctp")" '^ +40 +8 +0 +2 .* hot$'
	${CC:-cc} -g "$@" -DOTHER -shared -o "$tmp/other.so" "$tmp/hot.c"
	objcopy --only-keep-debug "$tmp/other.so" "$tmp/linked/.debug/hot.debug"
	"$BIN/ctp-mem" --cache none --debug-info "$tmp/linked/hot.so" "$tmp/hot.ctp" >"$tmp/out" 2>"$tmp/err"
	is "$what, of another file" "$? $(grep -c 'has no debug information' "$tmp/err")" '1 1'
}
printf '%s\n' '#ifdef OTHER' 'int other;' '#endif' >>"$tmp/hot.c"
if command -v objcopy >/dev/null; then
	linked 'by its sum' -Wl,--build-id=none
	linked 'by its build-id' -Wl,--build-id
else
	skip 'there is no objcopy'
fi

# Names that are no tags: typedefs, of each other, of a structure without a name, of one with another name.
named() { # TYPE OFFSET NAME, in $tmp/json
	got=$(sed 's/{"type":/\n&/g' "$tmp/json" | grep -F "{\"type\":\"$1\"," | grep -o "\"offset\":$2,\"size\":[0-9]*,\"name\":\"[^\"]*\"" | sed 's/.*:"//; s/"$//')
	is "$name: $1 +$2" "$got" "$3"
}
debug_info typedefs <<'C'
typedef struct { long hot, cold; } foo_t;
typedef foo_t bar_t;
typedef const bar_t baz_t;
typedef struct tag { int a, b; } tag_t;
typedef unsigned number_t;
struct size { long a, b; };
foo_t f; bar_t b; baz_t z; tag_t t; number_t n; struct size s;
C
cat >"$tmp/typedefs.list" <<'LIST'
add 1000 16 1 foo_t
add 1100 16 1 bar_t
add 1200 16 1 const baz_t
add 1300 8 1 tag_t
add 1400 8 1 const struct tag
add 1500 16 1 struct.foo_t
add 1600 8 1 struct.tag_t
add 1700 24 1 struct.size
add 1800 4 1 number_t
add 1900 8 1 foo_t *
add 1a00 8 1 nothing_t
add 1b00 48 1 int
add 1c00 16 1 long unsigned int
add 1d00 16 1 struct foo const *
add 1e00 16 1 std::uint32_t
add 1f00 64 1 i32
write 1008 8 1
write 1108 8 1
write 1208 8 1
write 1304 4 1
write 1404 4 1
write 1508 8 1
write 1604 4 1
write 1708 8 1
write 1801 1 1
write 1900 8 1
write 1a04 4 1
write 1b04 4 1
write 1c04 4 1
write 1d08 8 1
write 1e04 4 1
write 1f04 4 1
LIST
stream typedefs <"$tmp/typedefs.list"
mem typedefs 0 --debug-info "$tmp/typedefs.so"
named foo_t 8 cold
named bar_t 8 cold
named 'const baz_t' 8 cold
named tag_t 4 b
named 'const struct tag' 4 b
named struct.foo_t 8 cold
named struct.tag_t 4 ''
named struct.size 8 ''
has 'what the debug information has' '"debug_info":"found"'
is 'types that are absent there, or of another size, are marked' \
	"$(grep -o '"debug_info":"absent"' "$tmp/json" | wc -l) $(grep -o '"debug_info":"other_size"' "$tmp/json" | wc -l)" '7 1'
"$BIN/ctp-mem" --debug-info "$tmp/typedefs.so" "$tmp/typedefs.ctp" | sed -n '/^Types that are not in/,/^$/p' >"$tmp/text"
is 'such types are reported once each, except pointers and numbers' "$(sed 1d "$tmp/text" | grep . | sort | tr '\n' ';')" \
	'  nothing_t, 8 bytes;  struct.size, 24 bytes: there it has 16;  struct.tag_t, 8 bytes: perhaps tag;'
is 'the message names the file' "$(head -n 1 "$tmp/text")" "Types that are not in the debug information of $tmp/typedefs.so"

# Elements have an index for each dimension, in names and in the picture, also for an array of arrays by a typedef.
debug_info arrays <<'C'
typedef short row_t[4];
struct arrays { double v[8][8]; row_t t[3]; char five[2][2][2][2][2]; char flat[5]; struct { int x, y; } pair[2][2]; } arrays;
C
stream arrays <<'LIST'
add 1000 608 1 struct.arrays
write 11d0 8 1
write 11d4 4 1
write 120e 2 1
write 121d 1 1
write 123a 1 1
write 1254 4 1
LIST
mem arrays 0 --debug-info "$tmp/arrays.so" --svg "$tmp/arrays.svg"
named struct.arrays 464 'v[7][2]'
named struct.arrays 468 'v[7][2]+4'
named struct.arrays 526 't[1][3]'
named struct.arrays 541 'five[5]'
named struct.arrays 570 'flat[2]'
named struct.arrays 596 'pair[1][0].y'
for name in 'v[7][2]' 't[1][3]' 'pair[1][1].x'; do
	ok "the picture has $name" grep -qF ">$name, offset" "$tmp/arrays.svg"
done

# Structures in arrays have their members in each element, unless there are too many elements.
debug_info parts <<'C'
struct part { int p; short q; struct { char c[2]; } deep[2]; };
struct parts { int n; struct part s[3]; struct { struct part t[2]; } in; struct { int x, y; } many[4096]; } parts;
C
stream parts <<'LIST'
add 1000 32832 1 struct.parts
write 1010 4 1
write 1014 2 1
write 1016 2 1
write 1019 1 1
write 1034 4 1
write 1044 4 1
write 1048 4 1
write 101c 8 1
LIST
mem parts 0 --debug-info "$tmp/parts.so" --svg "$tmp/parts.svg"
named struct.parts 16 's[1].p'
named struct.parts 20 's[1].q'
named struct.parts 22 's[1].deep[0].c[0]..[1]'
named struct.parts 25 's[1].deep[1].c[1]'
named struct.parts 28 's[2].p'
named struct.parts 32 's[2].q'
named struct.parts 52 'in.t[1].p'
named struct.parts 68 'many[0]+4'
named struct.parts 72 'many[1]'
for name in 's[0].p' 's[2].deep[1].c[0]..[1]' 'in.t[1].p'; do
	ok "the picture has $name" grep -qF ">$name, offset" "$tmp/parts.svg"
done

# Bit fields are as wide as the bytes of their bits, and those that share bytes are one, whatever begins in them.
bits() { # COMPILER OPTION
	name="bits, $1 $2"
	"$1" -g "$2" -shared -o "$tmp/bits.so" "$tmp/bits.c" 2>/dev/null || return 0
	"$BIN/ctp-mem" -qj --cache none --debug-info "$tmp/bits.so" --svg "$tmp/bits.svg" "$tmp/bits.ctp" >"$tmp/json"
	member 0 1 a "$(counts 0 1)"
	member 1 1 b "$(counts 0 1)"
	member 4 4 d "$(counts 0 2)"
	member 4 4 x..w "$(counts 1 3)"
	member 8 2 post "$(counts 0 1)"
	member 10 1 in.one "$(counts 0 1)"
	is "$name: members begin where accesses begin, and nowhere else" "$(grep -o '"name":"[^"]*' "$tmp/json" | sort -u | sed 's/.*"//' | tr '\n' ' ')" 'a b d in.one post x..w '
	has "$name: of a shared line" '"offset":6,"name":"x..w","reads":0,"writes":1}'
	is "$name: in the picture" "$(grep -o '<title>[^p][^,]*, offset [0-9]*, [0-9]*' "$tmp/bits.svg" | sed 's/<title>//; s/, offset / /; s/, / /' | tr '\n' ';')" \
		'x..w 4 4;in.one 10 1;in.two..three 11 1;a 0 1;b 1 1;c 2 2;d 4 4;'
}
member() { # OFFSET SIZE NAME COUNTS
	has "$name: +$1 $3" "{\"offset\":$1,\"size\":$2,${3:+\"name\":\"$3\",}$4"
}
cat >"$tmp/bits.c" <<'C'
struct bg { unsigned long a : 4; char b; short c; int d; } bg;
struct bh { int pre; unsigned x : 10, y : 10, w : 12; short post; struct { unsigned char one : 8, two : 3, three : 5; } in; } bh;
C
stream bits <<'LIST'
add 1000 8 1 struct.bg
add 1100 12 1 struct.bh
write 1000 1 1
write 1001 1 1
write 1004 4 1
write 1004 4 1
read 1104 4 1
write 1105 2 1
write 1106 2 1
write 1106 1 2
write 1108 2 1
write 110a 1 1
LIST
for compiler in "${CC:-cc}" gcc clang; do
	for option in -gdwarf-5 -gdwarf-4 -gdwarf-2; do
		bits "$compiler" $option
	done
done

# An access counts for each member that it touches: by debug information, or else by where accesses begin.
debug_info touch <<'C'
struct touch { long a, b; char c[32]; union { double d; struct { int x, y; }; }; int e, f; } touch;
C
stream touch <<'LIST'
add 1000 64 2 struct.touch
read 1000 16 1
read 1000 16 1
write 1008 8 1
write 1010 16 1
write 1018 8 1
write 1030 8 1
read 1034 4 1
write 103c 16 1 unaligned
LIST
mem touch 0 --debug-info "$tmp/touch.so" --svg "$tmp/touch.svg"
member 0 8 a "$(counts 2 0)"
member 8 8 b "$(counts 2 1)"
member 16 8 'c[0]..[7]' "$(counts 0 1)"
member 24 8 'c[8]..[15]' "$(counts 0 2)"
member 48 4 d "$(counts 0 1)"
member 52 4 y "$(counts 1 1)"
member 60 4 f "$(counts 0 1 0 1 1)"
has 'touch: the type has each access once' "$(counts 3 5 0 1 1)"
has 'touch: and members have some again' '"repeats":4,'
is 'touch: the line of the picture has each access once' "$(lines "$tmp/touch.svg")" 8
ok 'touch: the picture has a cell of the long array' grep -qF '>c[8]..[15], offset 24, 8 bytes' "$tmp/touch.svg"
is 'touch: the cell counts each access that touches it' \
	"$(sed -n '/>c\[8\]\.\.\[15\], offset/{n;s/<.*//;p;}' "$tmp/touch.svg")" '0 reads, 2 writes'
is 'touch: one access counts once' "$(sed -n '/>c\[0\]\.\.\[7\], offset/{n;s/<.*//;p;}' "$tmp/touch.svg")" '0 reads, 1 write'
like 'touch: in words' "$("$BIN/ctp-mem" -q --cache none --debug-info "$tmp/touch.so" "$tmp/touch.ctp")" \
	'^  an access counts for each member that it touches: all rows are 4 more than the type$'
mem touch 0
member 0 8 '' "$(counts 2 0)"
member 8 8 '' "$(counts 2 1)"
has 'touch: without debug information' '"repeats":4,'

# The tables and the picture have the same members and padding: an overlapping member begins after the one before it.
debug_info cut <<'C'
struct cut { char a; int b; char c; long d; short e; } cut;
struct over { union { int i; struct __attribute__((packed)) { short p; int q; }; }; char r; } over;
C
cells() { grep -o '<title>[^,]*, offset [0-9]*, [0-9]*' "$1" | sed 's/<title>//; s/, offset / /; s/, / /; s/^padding/(padding)/' | awk '{ print $2, $3, $1 }' | sort -n | tr '\n' ';'; }
same() { # TYPE SIZE CUTS
	printf '%s\n' "add 1000 $2 1 struct.$1" "write 1000 $2 1" | stream cut
	"$BIN/ctp-mem" -v --cache none --debug-info "$tmp/cut.so" --svg "$tmp/cut.svg" "$tmp/cut.ctp" >"$tmp/text" 2>/dev/null
	is "$1: in the table" "$(sed -n '/^Members/,/^$/p' "$tmp/text" | awk '/%/ { print $1, $2, $NF }' | sort -n | tr '\n' ';')" "$3"
	is "$1: in the picture" "$(cells "$tmp/cut.svg")" "$3"
}
same cut 32 '0 1 a;1 3 (padding);4 4 b;8 1 c;9 7 (padding);16 8 d;24 2 e;26 6 (padding);'
same over 12 '0 4 i;4 2 q+2;6 2 (padding);8 1 r;9 3 (padding);'
name=cut
mem cut 0 --debug-info "$tmp/cut.so"
has 'padding in JSON' '{"offset":9,"size":3,"padding":true,'

# The picture has what is falsely shared in frames, and says which thread wrote what; not truly shared data, nor data that is
# handed over.
debug_info shared <<'C'
struct queue { long head, tail, both, left; long cold[8]; } queue;
C
stream shared <<'LIST'
add 1000 96 1 struct.queue
add 2000 8 8 i64
add 4000 96 1 struct.true
write 1000 8 7
write 1008 8 8
write 1000 8 7
write 1008 8 8
read 1018 8 8
write 2000 8 7
write 2008 8 8
write 2000 8 7
write 4000 8 7
write 4000 8 8
write 4000 8 7
write 4048 8 7
write 4050 8 8
write 3000 8 7
write 3008 8 8
write 3000 8 7
LIST
frames() { grep -o '<rect class="s"[^>]*height="50"/>.*<title>[^,]*' "$1" | sed 's/.*>//' | tr '\n' ' '; }
mem shared 0 --debug-info "$tmp/shared.so" --svg "$tmp/shared.svg"
is 'falsely shared members are framed, and elements of a type without members' "$(frames "$tmp/shared.svg")" 'head tail offset 0 '
sed -n '/<title>tail/,/<\/title>/p' "$tmp/shared.svg" | sed 's/<\/title>.*//' >"$tmp/text"
is 'the tool tip says which thread wrote what' "$(tail -n 4 "$tmp/text" | tr '\n' ';')" \
	'FALSE sharing of the line at 0x1000, which changed hands 3 times: 2 without need, 1 for the first time;thread 8 wrote byte 8, +8 tail: 2 times;thread 7 wrote byte 0, +0 head: 1 time;alignas(64) on tail parts them;'
is 'the line of the picture says so' "$(grep -c '>FALSE</text>' "$tmp/shared.svg")" 2
is 'the legend explains the frame' "$(grep -c '>false sharing<' "$tmp/shared.svg")" 1
is 'a falsely shared line that is not drawn is mentioned' \
	"$(grep -o '>1 falsely shared line is not in what is drawn<' "$tmp/shared.svg" | wc -l)" 1
mem shared 0 --svg "$tmp/shared.svg" --type struct.true
is 'truly shared members have no frame' "$(frames "$tmp/shared.svg")" ''

# Names that do not fit into their cells are in notes below the line, with the same number in the cell; the picture has room for them.
debug_info narrow <<'C'
struct narrow { char state, flags, e; short id; char tag[6]; struct { char first_letter; int length_of_the_word; } word; char untouched; } narrow;
C
stream narrow <<'LIST'
add 1000 24 1 struct.narrow
write 1000 1 1
read 1001 1 1
write 1002 1 1
read 1004 2 1
write 1006 1 1
write 100c 1 1
write 1010 4 1
LIST
mem narrow 0 --debug-info "$tmp/narrow.so" --svg "$tmp/narrow.svg"
is 'narrow members that were accessed have notes' "$(sed -n 's/^<text [^>]*><tspan class="f">\([0-9]* \)<\/tspan>\(.*\)<tspan class="f">\(.*\)<\/tspan><\/text>$/\1\2\3/p' "$tmp/narrow.svg" | tr '\n' ';')" \
	'1 state 0r 1w;2 flags 1r 0w;3 tag[0] 0r 1w;4 word.first_letter 0r 1w;5 word.length_of_the_word 0r 1w;'
is 'their numbers are in the cells' "$(grep -o '<text class="n [^>]*>[0-9]*<' "$tmp/narrow.svg" | sed 's/.*>\([0-9]*\)<$/\1/' | tr '\n' ' ')" '1 2 3 4 '
like 'a cell with room has the beginning of the name' "$(cat "$tmp/narrow.svg")" '>5 word…</text>'
like 'a name of one letter fits' "$(cat "$tmp/narrow.svg")" '>e</text>'
like 'a name without a note is cut, with an ellipsis' "$("$BIN/ctp-mem" -q --cache none --debug-info "$tmp/parts.so" --svg /dev/stdout "$tmp/parts.ctp")" '>many[^<]*…<|>s\[[^<]*…<'
for picture in narrow parts shared arrays; do
	[ -e "$tmp/$picture.svg" ] || continue
	is "$picture: nothing is below the picture" "$(sed -n 's/.*viewBox="0 0 [0-9]* \([0-9]*\)".*/\1/p' "$tmp/$picture.svg" | while read -r high; do
		grep -o ' y="[0-9]*"' "$tmp/$picture.svg" | tr -dc '0-9\n' | awk -v high="$high" '$1 > high { n++ } END { print n + 0 }'; done)" 0
done

cat >"$tmp/cxx.cpp" <<'C'
namespace ns {
struct base { int a, b; };
using alias = base;
template <class T> struct box { T first, second; };
typedef box<int> box_t;
typedef struct { int x, y; } point_t;
}
ns::alias a; ns::box_t b; ns::point_t p;
template <class A, class B> struct Pair { A first; B second; };
template <class T, unsigned long N> struct Arr { T head, tail[N - 1]; };
struct plain { int a, b; };
namespace { struct hidden { int h, i; }; }
Pair<int, long> pair; Pair<const char *, unsigned long long> other; Arr<unsigned short, 4> arr; plain plain; hidden hid; Pair<ns::base, ns::base *> scoped;
void *use() { return &hid; }
C
# The spellings of one type, by source and by compilers.
spelled() { # COMPILER
	"$1" -g -shared -o "$tmp/spelled.so" "$tmp/cxx.cpp" 2>/dev/null || return 0
	while IFS=: read -r size offset member type; do
		printf '%s\n' "add 1000 $size 1 $type" "write $(printf %x $((4096 + offset))) 2 1" | stream spelled
		"$BIN/ctp-mem" -qj --cache none --debug-info "$tmp/spelled.so" "$tmp/spelled.ctp" >"$tmp/json"
		name="$1"
		named "$type" "$offset" "$member"
	done <<'LIST'
16:8:second:Pair<int, long int>
16:8:second:Pair<int, long>
16:8:second:struct Pair<int,long>
16:8:second:Pair< int , signed long int > const
16:8:second:Pair<base, base *>
16:8:second:Pair<const char*, long long unsigned int>
16:8:second:Pair<char const *, unsigned long long>
8:2:tail[0]:Arr<short unsigned int, 4>
8:2:tail[0]:Arr<unsigned short, 4ul>
8:4:b:struct  plain
8:4:b:::plain
8:4:b:struct plain const
8:4:b:const struct ::plain
8:4:b:volatile struct.plain.3
8:4:i:(anonymous namespace)::hidden
8:4:y:class ::ns::point_t
LIST
}
if ${CXX:-c++} -g -shared -o "$tmp/cxx.so" "$tmp/cxx.cpp" 2>/dev/null; then
	stream cxx <<'LIST'
add 1000 8 1 ns::alias
add 1100 8 1 ns::box_t
add 1200 8 1 struct.ns::point_t
add 1300 8 1 box_t
write 1004 4 1
write 1104 4 1
write 1204 4 1
write 1304 4 1
LIST
	mem cxx 0 --debug-info "$tmp/cxx.so"
	for compiler in "${CXX:-c++}" g++ clang++; do
		spelled "$compiler"
	done
	# Virtual bases are shown if their place is unique, as the program knows it; else their bytes are not called padding.
	cat >"$tmp/virtual.cpp" <<'C'
#include <cstdio>
struct Plain { int plain; };
struct Table { virtual ~Table() {} int tabled; };
struct Bare { virtual void bare() {} };
struct One : virtual Table { int one; };
struct Tail : virtual Plain { int tail; };
struct Two : virtual Table, virtual Plain { int two; };
struct Both : One, Tail { long both; };
struct Holder { One held; int holder; };
struct Over : virtual Both { char over; };
struct Lean : virtual Bare { int lean; };
struct Char { char flag; };
struct Snug : virtual Char { long snug; };
struct Gap { long high; char low; };
struct Loose : virtual Char { Gap loose; };
static One one; static Tail tail; static Two two; static Both both; static Holder holder; static Over over; static Lean lean; static Loose loose; static Snug snug;
#define SAY(type, of, member) printf(#type " %zu %td " #member "\n", sizeof of, (char *)&of.member - (char *)&of)
int main()
{
	SAY(One, one, one), SAY(One, one, tabled), SAY(Tail, tail, tail), SAY(Tail, tail, plain), SAY(Two, two, two), SAY(Two, two, tabled);
	SAY(Two, two, plain), SAY(Both, both, one), SAY(Both, both, tail), SAY(Both, both, both), SAY(Both, both, tabled), SAY(Both, both, plain);
	SAY(Holder, holder, held.one), SAY(Holder, holder, held.tabled), SAY(Holder, holder, holder), SAY(Over, over, both), SAY(Over, over, over);
	SAY(Over, over, plain), SAY(Lean, lean, lean), SAY(Loose, loose, loose.low), SAY(Snug, snug, snug), SAY(Snug, snug, flag);
}
C
	virtual() { # COMPILER
		"$1" -g -o "$tmp/virtual" "$tmp/virtual.cpp" 2>/dev/null && "$tmp/virtual" >"$tmp/virtual.says" || return 0
		while read -r type size offset member; do
			printf '%s\n' "add 1000 $size 1 $type" "write $(printf %x $((4096 + offset))) 1 1" | stream virtual
			"$BIN/ctp-mem" -qj --cache none --debug-info "$tmp/virtual" "$tmp/virtual.ctp" >"$tmp/json"
			name="$1"
			named "$type" "$offset" "$member"
		done <"$tmp/virtual.says"
		printf '%s\n' 'add 1000 32 1 Loose' 'write 1011 1 1' 'write 1018 1 1' 'add 2000 16 1 Lean' 'write 2000 8 1' | stream virtual
		"$BIN/ctp-mem" -qj --cache none --debug-info "$tmp/virtual" --svg "$tmp/virtual.svg" "$tmp/virtual.ctp" >"$tmp/json"
		named Loose 24 '(virtual base Char?)+7'
		is "$1: it is no padding in the picture" "$(grep -c '<title>(virtual base Char?)' "$tmp/virtual.svg") $(grep -c '<title>padding, offset [123][0-9], \(1[0-9]\|[5-9]\)' "$tmp/virtual.svg")" '4 0'
		like "$1: the table of a virtual base" "$(cat "$tmp/json")" '"offset":0,"size":8,"name":"_vptr'
	}
	for compiler in "${CXX:-c++}" g++ clang++; do
		virtual "$compiler"
	done
	stream near <<'LIST'
add 1000 16 1 Pair<int, unsigned>
add 1100 8 1 struct.other::Point
add 1200 8 1 struct.nowhere
write 1004 4 1
write 1104 4 1
write 1204 4 1
LIST
	is 'the message suggests types' "$("$BIN/ctp-mem" --cache none --debug-info "$tmp/cxx.so" "$tmp/near.ctp" | sed -n '/^Types that/,/^$/p' | sed 's/ int>/>/; 1d; s/\(Pair<int, long\)[^>]*>.*/\1>/')" \
		'  Pair<int, unsigned>, 16 bytes: perhaps Pair<int, long>
  struct.other::Point, 8 bytes: perhaps ns::point_t
  struct.nowhere, 8 bytes'
	mem cxx 0 --debug-info "$tmp/cxx.so"
	named ns::alias 4 b
	named ns::box_t 4 second
	named struct.ns::point_t 4 y
	named box_t 4 second
else
	skip 'there is no compiler of C++'
fi
done_testing
