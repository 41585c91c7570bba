#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# ctp-mem: regions inside, over and after each other, types and members, lines that threads share; as text, JSON and picture.
# mem-valgrind.t checks the caches; here a model in Python checks every number.
. t/helper/tap.sh
. t/helper/mem/stream.sh

# A type of the JSON, up to its members: type NAME SIZE REGIONS COUNTS.
type() { has "$name: $1, $2 bytes" "{\"type\":$1,\"element_size\":$2,\"regions\":$3,$4"; }

# An outer region, one in it, one that replaces that, and what is left when they go. Removes of nothing.
stream regions <<'LIST'
read 1000 4 1
add 1000 16 4 struct.Outer
write 1008 8 1
add 1010 8 2 struct.Inner
read 1014 4 1
read 1020 4 1 atomic
add 1010 4 1 struct.New
read 1010 4 1
read 1014 4 1
remove 1010
read 1014 4 1
remove 1000
remove 1000
read 1008 8 1 unaligned
LIST
mem regions 0
type null 0 0 "$(counts 2 0 0 1)"
type '"struct.Outer"' 16 1 "$(counts 3 1 1)"
type '"struct.Inner"' 8 1 "$(counts 1 0)"
type '"struct.New"' 4 1 "$(counts 1 0)"
has 'regions: how they came and went' '"regions":{"added":3,"removed":2,"replaced":1,"unmatched_removes":1,"empty":0,"refused":0,"alive":0,"most_alive":2}'
has 'regions: an access belongs to what its element has at the offset' '"offset":4,"size":4,'"$(counts 2 0)"
has 'regions: a region by its address and times' '{"address":"0x0000000000001010","type":"struct.Inner","element_size":8,"count":2,"added":4,"removed":7,'

# Across elements; two sizes of one name; no bytes; the end of memory.
stream edges <<'LIST'
add 2000 12 2 struct.T
read 200a 4 1
read 200b 4 1
add 3000 16 1 struct.T
read 3000 16 1
add 4000 0 7 struct.Empty
read 4000 1 1
add fffffffffffffff0 4294967295 4294967295 struct.Last
read ffffffffffffffff 8 1
read 0 8 1
LIST
mem edges 0
type '"struct.T"' 12 1 "$(counts 2 0 0 0 2)"
type '"struct.T"' 16 1 "$(counts 1 0)"
type '"struct.Empty"' 0 1 "$(counts 0 0)"
type '"struct.Last"' 4294967295 1 "$(counts 1 0)"
type null 0 0 "$(counts 2 0)"

# A region that finds no room, here because it is too large, can be removed like any other, once.
{
	rows </dev/null | sed '$d; s/"type":"u32"/"type":"u64"/g'
	printf '{"type":"cacheray_%s","ts":%d,"address":"0x0000000000001000","thread":1%s}\n' \
		add 1 ',"element_size":4294967296,"count":1,"@type":"huge"' remove 2 '' remove 3 '' \
		add 4 ',"element_size":4294967296,"count":1,"@type":"huge"' add 5 ',"element_size":8,"count":1,"@type":"i64"' remove 6 '' remove 7 ''
} | "$BIN/ctp-fromjsonl" -q -o "$tmp/refused.ctp"
mem refused 3
has 'refused: its remove is not strange' '"regions":{"added":3,"removed":1,"replaced":0,"unmatched_removes":2,"empty":0,"refused":2,"alive":0,"most_alive":1}'

# Threads that write the same line: other bytes, the same, and both. A thread that only reads is no writer. A handover is no
# contention.
stream sharing <<'LIST'
add 1000 64 1 struct.Stats
add 2000 8 1 i64
write 1000 8 1
write 1008 8 2
write 1000 8 1
read 1008 8 3
write 2000 8 1
write 2000 8 2
write 2000 8 1
write 2000 8 2
write 3000 8 1
write 3004 8 2
write 3000 8 1
write 4000 8 1
write 4000 8 2
write 5000 8 1
read 5000 8 2
LIST
mem sharing 0
line() { has "sharing: $1" "\"address\":\"0x000000000000$2\",\"section\":0,\"verdict\":\"$3\",\"alternations\":$4,\"handovers\":{\"first\":$5,\"needed\":$6,\"needless\":$7,\"others\":0},\"writers\":[1,2]"; }
line 'other bytes' 1000 false 2 2 0 1
line 'the same bytes' 2000 true 3 1 2 0
line 'some bytes' 3000 true 2 1 1 0
line 'a hand-over' 4000 once 1 1 0 0
has 'sharing: four lines' '"shared":4,'
has 'sharing: who does what, from the second writer on' '"places":[{"thread":1,"byte":0,"type":"struct.Stats","element_size":64,"offset":0,"reads":0,"writes":1},{"thread":2,"byte":8,"type":"struct.Stats","element_size":64,"offset":8,"reads":0,"writes":1},{"thread":3,"byte":8,"type":"struct.Stats","element_size":64,"offset":8,"reads":1,"writes":0}]'
stream sizes <<'LIST'
add 1000 8 1 T
add 1008 16 1 T
write 1000 8 1
write 1008 8 2
write 1000 8 1
write 1008 8 2
LIST
mem sizes 0
is 'sharing: a place has the size of its type' "$(grep -o '"places":.*' "$tmp/json" | grep -o '"element_size":[0-9]*,"offset":[0-9]*' | tr -d '"' | tr '\n' ' ')" \
	'element_size:16,offset:0 element_size:8,offset:0 '
"$BIN/ctp-mem" --cache none "$tmp/sharing.ctp" >"$tmp/text"
like 'in words: false sharing' "$(cat "$tmp/text")" '^[0-9]\. FALSE sharing at 0x1000: changed hands 3 times: 1 without need, 2 for the first time; 2 threads write$'
like 'in words: who' "$(cat "$tmp/text")" '^     thread 1, byte 0: 1 write, 0 reads: struct.Stats \+0$'
like 'in words: hand-overs' "$(cat "$tmp/text")" '^  1 line was handed over, and no thread came back$'
like 'in words: all of it' "$(cat "$tmp/text")" '^15 accesses: 2 reads, 13 writes; 0 atomic, 0 unaligned, 0 across elements$'

# The verdict is about all threads, not only the listed ones.
writers() { # NAME LINES: the verdict on lines of 20 writers
	"$BIN/ctp-mem" -j --cache none "$tmp/$1.ctp" | grep -o '"verdict":"[a-z]*"\|"more_writers":[a-z]*' | tr -d '"' | tr '\n' ' '
	"$BIN/ctp-mem" --cache none "$tmp/$1.ctp" | sed -n 's/^1\. \(.*\) at .*: changed hands \([0-9]* times\): .*; \(.*\) write$/\1, \2, \3/p'
}
awk 'BEGIN { for (r = 0; r < 2; r++) for (i = 0; i < 20; i++) printf "write %x 2 %d\n", 4096 + 2 * i, i }' | stream false20
is 'sharing: 20 writers of other bytes' "$(writers false20)" 'verdict:false more_writers:true FALSE sharing, 39 times, 17 or more threads'
awk 'BEGIN { for (r = 0; r < 2; r++) for (i = 0; i < 20; i++) printf "write %x 2 %d\n", 4096 + (i < 16 ? 0 : 2 * i), i }' | stream mixed20
is 'sharing: 16 writers of the same bytes, 4 of others' "$(writers mixed20)" 'verdict:true more_writers:true true sharing, 39 times, 17 or more threads'
awk 'BEGIN { for (r = 0; r < 2; r++) for (i = 0; i < 20; i++) printf "write %x 2 %d\n", 4096 + (i < 16 ? 0 : 8), i }' | stream true20
is 'sharing: 16 writers of the same bytes, 4 of the same other bytes' \
	"$(writers true20)" 'verdict:true more_writers:true true sharing, 39 times, 17 or more threads'
awk 'BEGIN { for (r = 0; r < 2; r++) for (i = 0; i < 16; i++) printf "write %x 2 %d\n", 4096, i }' | stream true16
is 'sharing: 16 writers' "$(writers true16)" 'verdict:true more_writers:false true sharing, 31 times, 16 threads'

# With private caches, a write of one thread invalidates the line of the other.
"$BIN/ctp-mem" -j --private --cache 1k,16,64 --cache 4k,4,64 "$tmp/sharing.ctp" >"$tmp/json"
has 'private caches: lines are taken away' '"line":64,"private":true,"read_hits":0,"read_misses":2,"write_hits":0,"write_misses":13,"write_backs":8,"invalidated":8,"taken_misses":4}'
has 'private caches: and the last level is shared' '"line":64,"private":false,'
like 'private caches: in words' "$("$BIN/ctp-mem" --private --cache 1k,16,64 --cache 4k,4,64 "$tmp/sharing.ctp" | sed -n '/^Caches/,/L1/p')" \
	'^  L1 +1 KiB +16 +64 +2 +100\.0 % +13 +100\.0 % +8 +8 +4$'
printf '%s\n' 'write 1000 8 1' 'write 1000 8 2' 'read 2000 8 1' 'read 3000 8 1' 'read 1000 8 1' | stream replaced
is 'private caches: a miss after the line was replaced is not caused by the other thread' \
	"$(for size in 64,1 128,2; do "$BIN/ctp-mem" -j --private --cache "$size,64" "$tmp/replaced.ctp" | grep -o '"taken_misses":[0-9]*'; done | xargs)" \
	'taken_misses:0 taken_misses:0'
is 'private caches: a miss before that is' "$("$BIN/ctp-mem" -j --private --cache 192,3,64 "$tmp/replaced.ctp" | grep -o '"taken_misses":[0-9]*')" '"taken_misses":1'
is 'caches are those of the machine, or default ones' "$("$BIN/ctp-mem" -j "$tmp/sharing.ctp" | grep -c '"caches_from":"\(system\|usual\)","caches":\[{"size"')" 1

is 'the summary of -v does not mention coroutines' "$("$BIN/ctp-mem" -v --cache none "$tmp/sharing.ctp" 2>&1 >/dev/null)" 'ctp-mem: 17 records; damage at 0 places'

# Each section is another program: its first 64 threads have caches of their own, whatever the section before had.
awk 'BEGIN { for (i = 1; i <= 64; i++) print "read", sprintf("%x", 4096 + 64 * i), 8, i }' | stream first
printf '%s\n' 'read 1000 8 65' 'read 1000 8 1' 'write 1000 8 65' 'read 1000 8 1' | stream second
misses() { "$BIN/ctp-mem" -j --private --cache 4k,8,64 "$@" | grep -o '"read_hits":.*"invalidated":[0-9]*' | tr -c '0-9\n' ' ' | xargs; }
is 'a section alone has its counts' "$(misses "$tmp/second.ctp")" '0 3 1 0 0 1'
is 'two sections add up' "$(misses "$tmp/first.ctp" "$tmp/second.ctp")" '0 67 1 0 0 1'
awk 'BEGIN { for (i = 1; i <= 65; i++) print "read", 1000, 8, i }' | stream many
is 'the 65th thread has the caches of the first' "$(misses "$tmp/many.ctp")" '1 64 0 0 0 0'

# Losses are reported, never estimated.
stream lost <<'LIST'
add 1000 8 1 i64
lost 7
read 1000 8 1
lost 0
LIST
mem lost 3
has 'lost: how many' '"complete":false,"losses":2,"lost":7,'
has 'lost: what is there is counted' "$(counts 1 0)"
like 'lost: in words' "$("$BIN/ctp-mem" -q --cache none "$tmp/lost.ctp")" '^  2 losses: the counts are of what is left'
bytes=$(wc -c <"$tmp/sharing.ctp") wrong=''
for n in 1 7 30 100 $((bytes / 2)) $((bytes - 30)) $((bytes - 1)); do
	head -c "$n" "$tmp/sharing.ctp" | "$BIN/ctp-mem" -qj >"$tmp/json" 2>"$tmp/err"
	status=$?
	case $status in 1 | 3) ;; *) wrong="$wrong $n:$status" ;; esac
done
is 'a truncated stream gives status 1 or 3' "$wrong" ''

# Damage is reported as what it is: missing in the middle, after the end, or everything.
awk 'BEGIN { for (i = 0; i < 200000; i++) printf "write %x 8 %d\n", 4096 + i * 2654435 % 1048576, i % 7 }' | stream packets
whole() { "$BIN/ctp-mem" -qj --cache none "$1" | sed 's/.*"complete":\([a-z]*\),.*"lost":\([0-9]*\),.*"unknown":0,"reads":\([0-9]*\),"writes":\([0-9]*\),.*/\1 \2 \3 \4/'; }
words() { "$BIN/ctp-mem" -q --cache none "$1" | sed -n '3,${/^$/q;p;}'; }
bytes=$(wc -c <"$tmp/packets.ctp")
is 'damage: none' "$(whole "$tmp/packets.ctp") $(words "$tmp/packets.ctp")" 'true 0 0 200000 '
{ head -c $((bytes / 2)) "$tmp/packets.ctp"; printf 'xxxx'; tail -c +$((bytes / 2 + 5)) "$tmp/packets.ctp"; } >"$tmp/middle.ctp"
set -- $(whole "$tmp/middle.ctp")
is 'damage in the middle: all records are counted or missing' "$1 $(($2 > 0)) $(($2 + $4))" 'false 1 200000'
picture() { "$BIN/ctp-mem" -q --cache none --svg "$tmp/harm.svg" "$1" >"$tmp/text"; grep -o '>the counts are[^<]*' "$tmp/harm.svg"; }
is 'damage: in the middle, in the picture' "$(picture "$tmp/middle.ctp" | tr -d ,)" ">the counts are incomplete: $2 records are missing and what comes after may be in wrong regions"
like 'damage: in the middle, in words' "$(words "$tmp/middle.ctp" | tr -d ,)" "^  $2 records are damaged and missing: the counts are of what is left and what comes after them may be in wrong regions\$"
is 'damage: in the middle, the end is there' "$(words "$tmp/middle.ctp" | grep -c 'orderly end')" 0
head -c 200 "$tmp/packets.ctp" >"$tmp/cut.ctp"
set -- $(whole "$tmp/cut.ctp")
is 'damage: of nothing that could be read' "$1 $(($2 > 0)) $4" 'false 1 0'
like 'damage: of nothing, in words' "$(words "$tmp/cut.ctp")" 'records are damaged and missing'
{ cat "$tmp/sharing.ctp"; head -c 100 "$tmp/packets.ctp"; } >"$tmp/after.ctp"
is 'damage: after a section' "$(whole "$tmp/after.ctp" | cut -d ' ' -f 1,3,4)" 'false 2 13'
{ cat "$tmp/sharing.ctp"; echo more; } >"$tmp/junk.ctp"
is 'damage: of bytes, in the picture' "$(picture "$tmp/junk.ctp")" '>the counts are incomplete: the input is damaged or cut short'
is 'damage: none, in the picture' "$(picture "$tmp/sharing.ctp")" ''
is 'damage: by a record, in the picture' "$(picture "$tmp/lost.ctp")" '>the counts are incomplete: 7 records are missing, and what comes after may be in wrong regions'
is 'damage: of bytes that are nothing' "$(whole "$tmp/junk.ctp")" 'false 0 2 13'
like 'damage: of bytes, in words' "$(words "$tmp/junk.ctp")" '^  the input is damaged or cut short: the counts are of what could be read$'
head -c $((bytes - 3)) "$tmp/packets.ctp" >"$tmp/short.ctp"
is 'damage: at the end' "$(whole "$tmp/short.ctp" | cut -d ' ' -f 1)" false

# What is no such stream.
fails() { # NAME STATUS PATTERN COMMAND...
	what=$1 want=$2 pattern=$3
	shift 3
	"$@" >"$tmp/out" 2>"$tmp/err"
	is "$what: status $want" $? "$want"
	is "$what: one line" "$(wc -l <"$tmp/err") $(wc -c <"$tmp/out")" '1 0'
	like "$what: says so" "$(cat "$tmp/err")" "$pattern"
}
echo '{"probe_id":1,"tid":1,"addr":"0x0000000000000000","seq":1,"is_active":true,"ts":110}' | "$BIN/ctp-fromjsonl" -q -o "$tmp/coro.ctp"
fails 'coroutines' 1 'no class is cacheray_access; ctp-fromcacheray makes such a stream' "$BIN/ctp-mem" "$tmp/coro.ctp"
echo '{"type":"cacheray_access","ts":1,"address":"text","size":1}' | "$BIN/ctp-fromjsonl" -q -o "$tmp/odd.ctp"
fails 'another class of that name' 1 'class cacheray_access: there is no field' "$BIN/ctp-mem" "$tmp/odd.ctp"
stream empty </dev/null
mem empty 0
type_count=$(grep -c '"types":\[\]' "$tmp/json")
is 'an empty stream is no failure' "$type_count" 1
: >"$tmp/none.ctp"
fails 'an empty file' 1 'there is nothing to count: not one byte of a stream' "$BIN/ctp-mem" -q "$tmp/none.ctp"
ok 'no picture is written for it' sh -c '! "$0" -q --svg "$1/none.svg" "$1/none.ctp" 2>/dev/null && test ! -e "$1/none.svg"' "$BIN/ctp-mem" "$tmp"
"$BIN/ctp-mem" -qj "$tmp/none.ctp" "$tmp/sharing.ctp" >/dev/null
is 'beside another file an empty one counts as damage' $? 3
for wrong in 32k 32k,8 0,1,64 100,1,64 1k,1,24 1k,0,64 1k,1,256 1k,1,64x 99999999m,1,64 -1,1,64; do
	fails "--cache $wrong" 2 "^ctp-mem: --cache $wrong: " "$BIN/ctp-mem" --cache="$wrong" "$tmp/sharing.ctp"
done
fails 'no size' 2 '^ctp-mem: --cache 0,8,64: the size is 0; --cache none is for no cache$' "$BIN/ctp-mem" --cache 0,8,64 "$tmp/sharing.ctp"
printf '\2\0\2\110\265\252' >"$tmp/a.trace"
fails 'a trace of Cacheray' 1 'a\.trace: is no ctp stream; pipe a trace of Cacheray through ctp-fromcacheray$' "$BIN/ctp-mem" -q "$tmp/a.trace"
fails 'four levels' 2 'at most 3 levels' "$BIN/ctp-mem" --cache 1k,1,64 --cache 1k,1,64 --cache 1k,1,64 --cache 1k,1,64 "$tmp/sharing.ctp"
fails 'a shorter line' 2 'level 2 are shorter than those of level 1: 32 bytes, and 64; make them at least as long$' "$BIN/ctp-mem" --cache 1k,1,64 --cache 1k,1,32 "$tmp/sharing.ctp"
fails 'no caches and one' 2 'none: give no other' "$BIN/ctp-mem" --cache 1k,1,64 --cache none "$tmp/sharing.ctp"
fails 'no caches, each thread its own' 2 '--private needs caches; leave out --cache none$' "$BIN/ctp-mem" --private --cache none "$tmp/sharing.ctp"
fails '--type alone' 2 'give --svg, too' "$BIN/ctp-mem" --type i64 "$tmp/sharing.ctp"
fails 'a type that is not there' 1 '^ctp-mem: no region of type struct\.Stat; there are: struct\.Stats, i64$' \
	"$BIN/ctp-mem" --svg "$tmp/none.svg" --type struct.Stat "$tmp/sharing.ctp"
stream near <<'LIST'
add 1000 64 1 struct.Hot
add 2000 8 1 class.ns::Stats_t
add 3000 64 1 Pair<int, long int>
read 1000 8 1
read 1000 8 1
read 2000 8 1
read 3008 8 1
LIST
fails 'the nearest is the first' 1 '^ctp-mem: no region of type stats; there are: class\.ns::Stats_t, struct\.Hot, Pair<int, long int>$' \
	"$BIN/ctp-mem" --svg "$tmp/none.svg" --type stats "$tmp/near.ctp"
for spelling in Hot 'struct Hot' struct.Hot 'Hot const' 'Pair<int,long>'; do
	ok "--type $spelling" "$BIN/ctp-mem" --svg "$tmp/near.svg" --type "$spelling" "$tmp/near.ctp"
done
ok 'a wrong type leaves no picture' test ! -e "$tmp/none.svg"
fails 'a type where there is none' 1 'no region of type i64; there are none$' "$BIN/ctp-mem" --svg "$tmp/none.svg" --type i64 "$tmp/empty.ctp"
fails 'a picture over the input' 1 'is also the input' "$BIN/ctp-mem" --svg "$tmp/sharing.ctp" "$tmp/sharing.ctp"
if [ -w /dev/full ]; then
	fails 'no room' 1 'No space left' sh -c "'$BIN/ctp-mem' -j '$tmp/sharing.ctp' >/dev/full"
	fails 'no room for the picture' 1 'No space left' "$BIN/ctp-mem" --svg /dev/full "$tmp/sharing.ctp"
fi

# Names that must not be interpreted by a terminal or in a picture.
stream names <<'LIST'
add 1000 64 1 <script>\u001b[31m&\"\u202e
read 1000 8 1
write 1010 8 1
LIST
mem names 0 --svg "$tmp/names.svg"
like 'a name in the picture is text' "$(cat "$tmp/names.svg")" '&#60;script&#62;\\x1b\[31m&#38;'
is 'no script and no control character there' "$(grep -c "<script\|$(printf '\033')" "$tmp/names.svg")" 0
is 'a terminal gets no control character' "$("$BIN/ctp-mem" --cache none -v "$tmp/names.ctp" 2>&1 | grep -c "$(printf '\033')")" 0
if command -v python3 >/dev/null; then
	ok 'the picture is XML' python3 -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' "$tmp/names.svg"
	ok 'every number agrees with the model'\''s' python3 t/helper/mem-model.py "$BIN" 1 2 3 4 5 6 7 8 9 10 11 12 18 91 110 123 245 301 3059
else
	skip 'there is no python3 for the model'
fi

# More types than the limit.
awk 'BEGIN { for (i = 0; i < 70000; i++) printf "add %x 8 1 t%d\nread %x 8 1\n", 4096 + 8 * i, i, 4096 + 8 * i }' | stream types
mem types 0
has 'types: those beyond the limit are together' '{"type":null,"others":true,"element_size":0,"regions":4464,'
has 'types: and no access is missing' "\"unknown\":0,$(counts 70000 0)"
like 'types: in words' "$("$BIN/ctp-mem" --cache none "$tmp/types.ctp")" '^  4,464 regions are of types that found no room'

# Names of members.
cat >"$tmp/named.c" <<'C'
struct inner { int a, b; };
struct named { void *next; struct inner in; unsigned short slot[4]; union { double d; float f; }; unsigned bits : 3; } named;
struct { struct named x; } unnamed;
C
stream named <<'LIST'
add 1000 40 2 struct.named
add 2000 48 2 struct.named
read 1000 8 1
read 100c 4 1
write 1012 2 1
read 1013 1 1
read 1018 4 1
write 1020 4 1
read 2000 8 1
LIST
if ${CC:-cc} -g -shared -o "$tmp/named.so" "$tmp/named.c" 2>/dev/null && "$BIN/ctp-mem" --debug-info "$tmp/named.so" "$tmp/named.ctp" >/dev/null 2>"$tmp/err"; then
	mem named 0 --debug-info "$tmp/named.so" --svg "$tmp/named.svg"
	for pair in 0:next 12:in.b 18:slot\[1\] 19:slot\[1\]+1 24:f 32:bits; do
		ok "named: ${pair#*:} at ${pair%%:*}" grep -Eq "\"offset\":${pair%%:*},\"size\":[0-9]+,\"name\":\"$(printf %s "${pair#*:}" | sed 's/[][+.]/\\&/g')\"" "$tmp/json"
	done
	is 'named: members of a type of another size have no names' \
		"$(grep -o '"element_size":48.*' "$tmp/json" | sed 's/"type":.*//' | grep -c name)" 0
	like 'named: the picture has members that were not accessed' "$(cat "$tmp/named.svg")" '>in\.a<'
	${CC:-cc} -shared -o "$tmp/bare.so" "$tmp/named.c"
	fails 'no debug information' 1 'has no debug information; compile with -g' "$BIN/ctp-mem" --debug-info "$tmp/bare.so" "$tmp/named.ctp"
	${CC:-cc} -g -c -o "$tmp/object.o" "$tmp/named.c"
	fails 'not linked' 1 'is an object file; name the program' "$BIN/ctp-mem" --debug-info "$tmp/object.o" "$tmp/named.ctp"
	fails 'no object' 1 'has no debug information' "$BIN/ctp-mem" --debug-info "$tmp/named.c" "$tmp/named.ctp"
	fails 'no file' 1 'No such file' "$BIN/ctp-mem" --debug-info "$tmp/nothing" "$tmp/named.ctp"
	fails 'a folder' 1 'is no file' "$BIN/ctp-mem" --debug-info "$tmp" "$tmp/named.ctp"
	# With changed bytes in it names may be wrong or missing, and nothing worse.
	size=$(wc -c <"$tmp/named.so") i=0 wrong=''
	while [ $i -lt 40 ]; do
		at=$((i * size / 40))
		{ head -c $at "$tmp/named.so"; printf '\377\377\377'; tail -c +$((at + 4)) "$tmp/named.so"; } >"$tmp/evil.so"
		"$BIN/ctp-mem" -qj --debug-info "$tmp/evil.so" "$tmp/named.ctp" >/dev/null 2>"$tmp/err"
		status=$?
		[ $status -le 1 ] && [ "$(wc -l <"$tmp/err")" = $status ] || wrong="$wrong $at:$status"
		i=$((i + 1))
	done
	is 'damaged debug information gives at most one message' "$wrong" ''
else
	note "no names of members: $(cat "$tmp/err")"
fi
done_testing
