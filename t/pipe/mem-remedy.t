#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# ctp-mem: the advice that separates the threads of a falsely shared line is given if it is certain to help, and only then.
. t/helper/tap.sh
. t/helper/mem/stream.sh

cat >"$tmp/types.c" <<'C'
struct slot { long hits, pad; };
struct queue { long head, tail, both, left; struct { long low, high; } in; long far[8]; };
struct table { struct slot slots[4]; long counts[4]; };
struct over { long first; union { struct { int x, y; }; struct { int z, w; }; }; };
struct flags { unsigned up : 8, down : 8; int rest; };
struct queue q; struct table t; struct over o; struct flags f;
C
${CC:-cc} -g -shared -o "$tmp/types.so" "$tmp/types.c" 2>"$tmp/err" || skip_all 'there is no compiler'
printf '%s\n' 'add 1000 8 1 i64' 'read 1000 8 1' | stream one
"$BIN/ctp-mem" --debug-info "$tmp/types.so" "$tmp/one.ctp" >"$tmp/out" 2>"$tmp/err" || skip_all "no names of members: $(cat "$tmp/err")"

# Writes of threads, in turn: THREAD:ADDRESS[:SIZE]...; the advice for the worst line.
remedy() { # NAME ADD OPTIONS WANT WRITES...
	what=$1 add=$2 options=$3 want=$4
	shift 4
	{
		printf '%s\n' "$add"
		for round in 1 2 3; do
			for write; do
				size=${write#*:*:}
				at=${write#*:}
				[ "$size" = "$write" ] && size=8
				echo "write ${at%%:*} $size ${write%%:*}"
			done
		done
	} | stream remedy
	"$BIN/ctp-mem" --cache none $options "$tmp/remedy.ctp" >"$tmp/text"
	is "$what" "$(sed -n '/^Lines of/,/^2\./s/^ *\(.*\) parts them$/\1/p' "$tmp/text")" "$want"
}
debug="--debug-info $tmp/types.so"
queue='add 1000 112 1 struct.queue'
remedy 'two members' "$queue" "$debug" 'alignas(64) on tail' 1:1000 2:1008
"$BIN/ctp-mem" -j --cache none $debug --svg "$tmp/remedy.svg" "$tmp/remedy.ctp" >"$tmp/json"
has 'in JSON' '"unplaced":0,"remedy":"alignas(64) on tail"}'
ok 'the picture has the advice' grep -q '^alignas(64) on tail parts them' "$tmp/remedy.svg"
remedy 'members of one thread stay together' "$queue" "$debug" 'alignas(64) on both' 1:1000 1:1008 2:1010 2:1018
remedy 'threads in turn' "$queue" "$debug" 'alignas(64) on tail and on both' 1:1000 2:1008 1:1010
remedy 'a structure in it' "$queue" "$debug" 'alignas(64) on in.high' 1:1020 2:1028
remedy 'one write to two members' "$queue" "$debug" 'alignas(64) on both' 1:1000:16 2:1010
remedy 'without names nothing is known of members' "$queue" '' '' 1:1000 2:1008
remedy 'within a member nothing helps' "$queue" "$debug" '' 1:1000:4 2:1004:4
remedy 'elements of an array' 'add 1000 96 1 struct.table' "$debug" 'alignas(64) on each element of slots' 1:1000 2:1010 1:1020 1:1028
remedy 'of numbers' 'add 1000 96 1 struct.table' "$debug" 'alignas(64) on each element of counts' 1:1040 2:1048
remedy 'not two threads in one element' 'add 1000 96 1 struct.table' "$debug" '' 1:1000 2:1008 1:1010
remedy 'not two arrays' 'add 1020 96 1 struct.table' "$debug" '' 1:1050:8 2:1060:8
remedy 'elements of a type' 'add 1000 16 4 struct.slot' '' 'alignas(64) on each element of type struct.slot' 1:1000 2:1010 3:1028
remedy 'that is a number' 'add 1000 8 8 i64' '' 'alignas(64) on each element of type i64' 1:1000 2:1008
remedy 'not two threads in one of them' 'add 1000 16 4 struct.slot' '' '' 1:1000 2:1008 3:1018
remedy 'not where members overlap' 'add 1000 16 1 struct.over' "$debug" '' 1:1000 2:100c:4
remedy 'not in bit fields' 'add 1000 8 1 struct.flags' "$debug" '' 1:1000:1 2:1001:1
remedy 'two types' 'add 1000 8 1 i64
add 1008 8 1 double' "$debug" '' 1:1000 2:1008
remedy 'in no region' 'add 2000 8 1 i64' "$debug" '' 1:1000 2:1008
remedy 'true sharing' "$queue" "$debug" '' 1:1000 2:1000
remedy 'some of it true' "$queue" "$debug" '' 1:1000 2:1008 2:1000
remedy 'a write from the line before' 'add 1038 16 4 struct.slot' '' '' 1:103c:8 2:1050
remedy 'as before' "$queue" "$debug" 'alignas(64) on tail' 1:1000 2:1008
"$BIN/ctp-mem" --cache 32k,8,128 $debug "$tmp/remedy.ctp" >"$tmp/text"
like 'the advice uses the length of a line' "$(cat "$tmp/text")" '^     alignas\(128\) on tail parts them$'

# With the advice followed, members and elements have lines of their own.
cat >"$tmp/apart.c" <<'C'
#include <stddef.h>
struct queue { long head; _Alignas(64) long tail; _Alignas(64) long both; };
struct slot { _Alignas(64) long hits; long pad; };
struct table { struct slot slots[4]; };
int main(void)
{
	return offsetof(struct queue, head) / 64 == offsetof(struct queue, tail) / 64 ||
	       offsetof(struct queue, tail) / 64 == offsetof(struct queue, both) / 64 ||
	       offsetof(struct table, slots[0].pad) / 64 == offsetof(struct table, slots[1].hits) / 64;
}
C
if ${CC:-cc} -o "$tmp/apart" "$tmp/apart.c" 2>/dev/null; then
	ok 'compilers lay them out so' "$tmp/apart"
else
	note 'the compiler has no _Alignas'
fi
done_testing
