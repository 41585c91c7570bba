#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# sdk/ppt as a user sees it: it compiles with all compilers and standards, its JSON agrees with the compiler, its symbols are where an agent
# looks, and ctp-ppt reads what it saves.
# Not under sanitizers: it compiles its programs itself.
. t/helper/tap.sh
warn='-Wall -Wextra -Wpedantic -Wshadow -Wundef -Wvla -Wwrite-strings -Werror'
proto='-Wstrict-prototypes -Wmissing-prototypes'

# The manual's program is the example.
awk '/^\.Bd/ { inside = ++n == 1; next } /^\.Ed/ { inside = 0 } inside' doc/ctp-ppt.h.3 | sed 's/\\e/\\/g' >"$tmp/manual.c"
is 'the program in the manual is the example' "$(cat "$tmp/manual.c")" "$(sed 1,3d sdk/ppt/example.c)"

cat >"$tmp/frames.h" <<'C'
#include "ppt.h"
#define ALL_FRAMES \
	(small, (byte, b)), \
	(mixed, (int, i), (byte, b), (float, f), (double, d), (time, t), (counter, c), (interval_time, it), (interval_counter, ic), (byte, last)), \
	(many, (int, a0), (int, a1), (int, a2), (int, a3), (int, a4), (int, a5), (int, a6), (int, a7), (int, a8), (int, a9), (int, a10), \
	       (int, a11), (int, a12), (int, a13), (int, a14), (int, a15), (byte, a16), (double, a17), (byte, a18), (double, a19), (int, a20), \
	       (int, a21), (int, a22), (int, a23), (int, a24), (int, a25), (int, a26), (int, a27), (int, a28), (int, a29), (int, a30), (time, a31)), \
	(f4, (int, n)), (f5, (int, n)), (f6, (int, n)), (f7, (int, n)), (f8, (float, n))
PPT_DECLARE(All, ALL_FRAMES);
C
cat >"$tmp/define.c" <<'C'
#include "frames.h"
#include <stdio.h>
PPT_DEFINE(All, 9999999, boottime, ALL_FRAMES);
PPT_BUFFER(One, 7, realtime, (only, (int, n)));
#define AT(frame, member) printf("%s %s %zu %zu\n", #frame, #member, offsetof(struct ppt_All_##frame, member), sizeof ((struct ppt_All_##frame *)0)->member)
void save_all(void);
int main(int argc, char **argv)
{
	struct ppt_One_only o = {0};
	(void)argv;
	ppt_One_only_save(&o);
	save_all();
	if (argc > 1)
		return printf("%s\n%s\n", _ppt_json_All, _ppt_json_One) < 0;
	AT(small, b);
	AT(mixed, i), AT(mixed, b), AT(mixed, f), AT(mixed, d), AT(mixed, t), AT(mixed, c_0), AT(mixed, c_1), AT(mixed, c_2);
	AT(mixed, it_start), AT(mixed, it_end), AT(mixed, ic_0_start), AT(mixed, ic_0_end), AT(mixed, ic_1_start), AT(mixed, ic_1_end);
	AT(mixed, ic_2_start), AT(mixed, ic_2_end), AT(mixed, last);
	AT(many, a0), AT(many, a16), AT(many, a17), AT(many, a18), AT(many, a19), AT(many, a20), AT(many, a30), AT(many, a31);
	AT(f8, n);
	return 0;
}
C
cat >"$tmp/use.c" <<'C'
#include "frames.h"
#ifdef __cplusplus
extern "C"
#endif
void save_all(void);
void save_all(void)
{
	struct ppt_All_mixed m;
	memset(&m, 0, sizeof m);
	ppt_All_mixed_it_start(&m);
	ppt_All_mixed_ic_start(&m);
	ppt_All_mixed_t_now(&m);
	ppt_All_mixed_c_now(&m);
	ppt_All_mixed_save(&m);
	ppt_All_close();
}
C
cat >"$tmp/lib.c" <<'C'
#include "ppt.h"
PPT_BUFFER(InLib, 64, monotonic, (mark, (int, n), (time, at)));
void in_lib(int n);
void in_lib(int n)
{
	struct ppt_InLib_mark m = {.n = n};
	ppt_InLib_mark_at_now(&m);
	ppt_InLib_mark_save(&m);
}
C

# Declarations that are not as the definition, each after a word that names the difference.
cat >"$tmp/others" <<'E'
type (y, (int, n), (float, a)), (z, (int, n))
name (y, (int, n), (double, b)), (z, (int, n))
order (y, (double, a), (int, n)), (z, (int, n))
more (y, (int, n), (double, a), (double, b)), (z, (int, n))
fewer (y, (int, n)), (z, (int, n))
frames (z, (int, n)), (y, (int, n), (double, a))
alone (y, (int, n), (double, a))
interval (y, (int, n), (double, a)), (z, (int, n), (interval_time, t))
E
saves='void save_it(void); void save_it(void) { struct ppt_Mm_y y; memset(&y, 0, sizeof y); ppt_Mm_y_save(&y); }'
printf '#include "ppt.h"\nPPT_BUFFER(Mm, 512, monotonic, (y, (int, n), (double, a)), (z, (int, n)));\n' >"$tmp/mm.c"
printf '#include "ppt.h"\nPPT_DECLARE(Mm, (y, (int, n), (double, a)), (z, (int, n)));\n%s\n' "$saves" >"$tmp/same.c"
# COMPILER FLAGS...: the symbol that the linker misses, for each.
differ() {
	while read -r what frames; do
		printf '#include "ppt.h"\nPPT_DECLARE(Mm, %s);\n%s\n' "$frames" "$saves" >"$tmp/differ.c"
		"$@" -Isdk/ppt -fPIC -c -o "$tmp/differ.o" "$tmp/differ.c" || return
		# shellcheck disable=SC2086
		LC_ALL=C $cc $lto -shared -o "$tmp/differ.so" "$tmp/differ.o" "$tmp/mm.o" 2>&1 | grep -o 'ppt_Mm_defined_as_[a-z_]*' | head -n 1
	done <"$tmp/others"
}
differing='ppt_Mm_defined_as_y_int_n_float_a_and_z_int_n
ppt_Mm_defined_as_y_int_n_double_b_and_z_int_n
ppt_Mm_defined_as_y_double_a_int_n_and_z_int_n
ppt_Mm_defined_as_y_int_n_double_a_double_b_and_z_int_n
ppt_Mm_defined_as_y_int_n_and_z_int_n
ppt_Mm_defined_as_z_int_n_and_y_int_n_double_a
ppt_Mm_defined_as_y_int_n_double_a
ppt_Mm_defined_as_y_int_n_double_a_and_z_int_n_interval_time_t'

compilers=
for pair in gcc:g++ clang:clang++; do
	cc=${pair%:*} cxx=${pair#*:}
	command -v $cc >/dev/null || { note "there is no $cc"; continue; }
	compilers="$compilers $cc"
	for std in c11 gnu17; do
		for opt in -O0 -O2; do
			ok "$cc $opt -std=$std: the example" $cc -std=$std $warn $proto $opt -Isdk/ppt -pthread -o "$tmp/example" "$tmp/manual.c"
			ok "$cc $opt -std=$std: many frames" $cc -std=$std $warn $proto $opt -Isdk/ppt -pthread -o "$tmp/all" "$tmp/define.c" "$tmp/use.c"
		done
	done
	ok "$cc -flto" $cc -flto -O2 $warn -Isdk/ppt -pthread -o "$tmp/lto" "$tmp/define.c" "$tmp/use.c"
	is '-flto keeps the symbols' "$(nm "$tmp/lto" | grep -c '_ppt_\(stat\|hmem\|json\)_\(All\|One\)$')" 6
	ok "$cc: sections of one's own, and none unused" $cc -O2 -ffunction-sections -fdata-sections -Wl,--gc-sections $warn -Isdk/ppt -pthread \
		-o "$tmp/gc" "$tmp/define.c" "$tmp/use.c"
	is 'the removal of unused sections keeps the symbols' \
		"$(nm "$tmp/gc" | grep -c '_ppt_\(stat\|hmem\|json\)_\(All\|One\)$')" 6
	ok "$cc: a shared object" $cc -O2 -fvisibility=hidden -fPIC -shared $warn -Isdk/ppt -o "$tmp/lib.so" "$tmp/lib.c"
	is 'it exports its symbols, and no others' \
		"$(nm -D --defined-only "$tmp/lib.so" | sed 's/.* //' | sort | paste -sd ' ' -)" \
		'_ppt_hmem_InLib _ppt_json_InLib _ppt_stat_InLib'
	for opt in -O0 -O2 '-O3 -fvisibility=hidden' '-O2 -flto'; do
		in_turn || continue
		lto=
		case $opt in *lto) lto=-flto ;; esac
		# shellcheck disable=SC2086
		$cc $opt $warn -Isdk/ppt -fPIC -c -o "$tmp/mm.o" "$tmp/mm.c"
		# shellcheck disable=SC2086
		is "$cc $opt: a different declaration does not link, and the missing symbol says why" \
			"$(differ $cc $opt)" "$differing"
	done
	printf 'void save_it(void); int main(void) { save_it(); return 0; }\n' >"$tmp/main.c"
	$cc -Isdk/ppt -c -o "$tmp/mm.o" "$tmp/mm.c" && rm -f "$tmp/libmm.a" && ar rc "$tmp/libmm.a" "$tmp/mm.o"
	ok "$cc: a static library with the same declaration links" \
		$cc -Isdk/ppt -pthread -o "$tmp/mm" "$tmp/main.c" "$tmp/same.c" "$tmp/libmm.a"
	like 'a static library with another declaration does not' "$($cc -Isdk/ppt -pthread -o "$tmp/mm" "$tmp/main.c" "$tmp/differ.c" "$tmp/libmm.a" 2>&1)" 'ppt_Mm_defined_as_.*_interval_time_t'
	printf '#include "ppt.h"\nPPT_DECLARE(Mm, (y, (int, n)));\nPPT_DEFINE(Mm, 512, monotonic, (y, (float, n)));\n' >"$tmp/both.c"
	like "$cc: in one file another definition does not compile" "$($cc -Isdk/ppt -c -o "$tmp/both.o" "$tmp/both.c" 2>&1)" \
		'error.*ppt_Mm_defined_as_y_float_n'
	refused() { # NAME WHAT IT SAYS
		printf '#include "ppt.h"\n%s;\n' "$2" >"$tmp/refused.c"
		like "$cc: $1" "$($cc -Isdk/ppt -c -o "$tmp/refused.o" "$tmp/refused.c" 2>&1)" "error.*$3"
	}
	refused 'a definition has a declaration before it' 'PPT_DEFINE(Mm, 512, monotonic, (y, (int, n)))' ppt_Mm_defined_as_y_int_n
	refused 'too many elements' 'PPT_BUFFER(Mm, 10000000, monotonic, (y, (int, n)))' 'the elements of Mm are not from 0 to 9999999'
	refused 'fewer than none' 'PPT_BUFFER(Mm, -1, monotonic, (y, (int, n)))' 'the elements of Mm are not from 0 to 9999999'
	refused 'a long name' "PPT_BUFFER(M$(printf '%0100d' 0), 1, monotonic, (y, (int, n)))" 'is longer than 100 bytes'
	refused 'a long name of a frame' "PPT_BUFFER(M, 1, monotonic, (y$(printf '%0100d' 0), (int, n)))" 'is longer than 100 bytes'
	refused 'a long name of a field, with its suffix' "PPT_BUFFER(M, 1, monotonic, (y, (interval_counter, n$(printf '%092d' 0))))" '_0_start is longer than 100 bytes'
	printf '#include "ppt.h"\nPPT_DECLARE(Mm, (y, (int, n)));\n' >"$tmp/unused.c"
	ok "$cc: a declaration that is not used" $cc $warn -Isdk/ppt -c -o "$tmp/unused.o" "$tmp/unused.c"
	is 'it needs no definition' "$(nm -u "$tmp/unused.o" | grep ppt_)" ''
	printf '#include <stdio.h>\n#include "ppt.h"\n' >"$tmp/late.c"
	like "$cc: a strict standard and a late include: it says what to do" \
		"$($cc -std=c11 -Isdk/ppt -c -o "$tmp/late.o" "$tmp/late.c" 2>&1)" 'include ppt.h before the system.s headers'
	command -v $cxx >/dev/null || continue
	for std in c++11 c++20; do
		ok "$cxx -std=$std: declares and saves" $cxx -std=$std $warn -x c++ -Isdk/ppt -c -o "$tmp/use.o" "$tmp/use.c"
		ok 'it links with the definition in C' $cc -std=c11 -Isdk/ppt -pthread -o "$tmp/all" "$tmp/define.c" "$tmp/use.o"
	done
	printf '#include "ppt.h"\nPPT_BUFFER(Mm, 512, monotonic, (y, (int, n)));\nvoid save_it() { ppt_Mm_y y = {}; ppt_Mm_y_save(&y); }\n' >"$tmp/buffer.cpp"
	is "$cxx: PPT_BUFFER says what to do, and nothing else" "$($cxx -std=c++11 -Isdk/ppt -c -o "$tmp/buffer.o" "$tmp/buffer.cpp" 2>&1 | grep ': error' |
		sed "s/.*ppt: PPT_BUFFER of Mm is for a file in C[.] C++ has PPT_DECLARE(Mm, frames) alone; link a C file that has the same PPT_DECLARE, and PPT_DEFINE(Mm, .*/said/")" said
	printf '#include "ppt.h"\nPPT_DECLARE(Mm, (y, (int, n)));\nPPT_DEFINE(Mm, 512, monotonic, (y, (int, n)));\n' >"$tmp/buffer.cpp"
	like "$cxx: PPT_DEFINE says what to do" "$($cxx -std=c++11 -Isdk/ppt -c -o "$tmp/buffer.o" "$tmp/buffer.cpp" 2>&1)" 'PPT_DEFINE of Mm is for a file in C'
	lto=
	is "$cxx: a different declaration does not link, and the missing symbol says why" \
		"$(differ $cxx -x c++ $warn)" "$differing"
done
[ -n "$compilers" ] || skip_all 'there is no compiler'

"$tmp/all" json >"$tmp/json"
"$tmp/all" | sort >"$tmp/offsets"
if command -v jq >/dev/null; then
	is 'the JSON is valid' "$(jq -c '[.abi, .emit._eBuffer.ebName, .emit._eBuffer.ebMinElements, .emit._eTimeRep.contents]' "$tmp/json")" \
		'["1.0.0","All",9999999,"ETimeClockBoottime"]
["1.0.0","One",7,"ETimeClockRealtime"]'
	jq -r '.frames[] | ._flName as $f | ._flLayout[] | "\($f) \(._lName) \(._lOffset) \(._lSize)"' "$tmp/json" | sort >"$tmp/json.offsets"
	is 'its offsets are those of the compiler' "$(comm -23 "$tmp/offsets" "$tmp/json.offsets")" ''
	is 'members do not overlap' "$(jq -r '.frames[]._flLayout | sort_by(._lOffset) | . as $l | range(1; length) |
		select($l[.]._lOffset < $l[. - 1]._lOffset + $l[. - 1]._lSize) | $l[.]._lName' "$tmp/json")" ''
	is 'the number at the back has the same offset in all frames' \
		"$(jq -r 'select(.emit._eBuffer.ebName == "All") | .frames[]._flLayout[-1] | "\(._lName) \(._lOffset)"' "$tmp/json" | uniq | wc -l)" 1
	is 'sizes with padding add up to the frame, since ppt uses their sum' \
		"$(jq -c '[.frames[]._flLayout | (map(._lSize) | add) - .[-1]._lOffset - .[-1]._lSize]' "$tmp/json")" '[0,0,0,0,0,0,0,0]
[0]'
	is 'padding has the names that ppt gives it' "$(jq -r '.frames[:2][]._flLayout[] | select(._lKind.tag == "LKPadding") |
		"\(._lName) \(._lOffset) \(._lSize) \(._lKind.contents) \(._lType.contents[0])"' "$tmp/json" | paste -sd ';' -)" \
		'__ppt_endpad_163 9 163 163 PPByte;__pad_13 13 3 3 PPByte;__pad_20 20 4 4 PPByte;__ppt_endpad_19 153 19 19 PPByte;__ppt_endpad_4 8 4 4 PPByte'
	is 'several types of frames have a type field' \
		"$(jq -c '[.frames[]._flLayout[] | select(._lKind.tag == "LKTypeDescrim") | ._lKind.contents]' "$tmp/json")" '[8,8,8,8,8,8,8,8]
[]'
	is 'an interval has two ends, and a counter three numbers' \
		"$(jq -c '.frames[] | select(._flName == "mixed") | ._flLayout[] | select(._lName | test("^i[tc]")) | [._lName, ._lKind.contents[1].tag, ._lKind.contents[1].contents[0]]' "$tmp/json" | paste -sd ' ' -)" \
		'["it_start","IntBegin",0] ["it_end","IntEnd",0] ["ic_0_start","IntBegin",0] ["ic_0_end","IntEnd",0] ["ic_1_start","IntBegin",1] ["ic_1_end","IntEnd",1] ["ic_2_start","IntBegin",2] ["ic_2_end","IntEnd",2]'
	is 'and there are no options' "$(jq -c .emit._eOptions "$tmp/json")" '[]
[]'
else
	skip 'there is no jq to judge the JSON'
fi

# The system calls that a seccomp filter must allow.
if command -v strace >/dev/null && strace -o "$tmp/strace" true 2>/dev/null; then
	printf '#include "ppt.h"\nPPT_BUFFER(Cpu, 1, thread_cputime_id, (y, (time, t)));\nint main(void) { struct ppt_Cpu_y y = {0}; _ppt_hmem_Cpu.is.hmem = 0x7fffffff;
		for (int i = 0; i < 2; i++) { ppt_Cpu_y_t_now(&y); ppt_Cpu_y_save(&y); _ppt_hmem_Cpu.is.hmem = i ? 0 : 0x7ffffffe; } return 0; }\n' >"$tmp/cpu.c"
	"${compilers##* }" -Isdk/ppt -pthread -o "$tmp/cpu" "$tmp/cpu.c"
	strace -o "$tmp/strace" "$tmp/cpu"
	is 'the manual lists each system call' "$(sed -n '/shmctl/,$s/(.*//p' "$tmp/strace" | grep -v exit | sort -u | while read -r call; do
		grep -q "^\.Xr $call 2" doc/ctp-ppt.h.3 || echo "$call"
	done)" ''
else
	skip 'there is no strace that works'
fi

is 'the manual has each macro' "$(sed -n 's/^#define \(PPT_[A-Z_]*[A-Z]\)(.*/\1/p' sdk/ppt/ppt.h | while read -r m; do
	grep -q "^\.Fn $m " doc/ctp-ppt.h.3 || echo "$m"
done)" ''
is 'and each clock' "$(sed -n 's/^#define PPT_CLOCK_\([a-z_]*\)_(is).*/\1/p' sdk/ppt/ppt.h | while read -r c; do
	grep -q "\<$c\>" doc/ctp-ppt.h.3 || echo "$c"
done)" ''

# --- and an agent ----------------------------------------------------------------------------------------------------------
[ -x "$BIN/ctp-ppt" ] || { skip 'there is no ctp-ppt'; done_testing; }

# COMMAND...: runs until it is told to end, its pid in $pid. Its first line says that it runs.
begin() {
	rm -f "$tmp/said"
	mkfifo "$tmp/said"
	"$@" >"$tmp/said" 2>"$tmp/err" </dev/null &
	pid=$!
	exec 3<"$tmp/said"
	read -r first <&3
}
finish() {
	kill "$pid" && wait "$pid"
	cat <&3 >"$tmp/said.rest"
	exec 3<&-
}
state() { "$BIN/ctp-ppt" list "$pid" 2>&1 | awk -v b="$1" '$1 == b { print $2 }'; }
frames() { "$BIN/ctp-ppt" attach "$pid" "$@" 2>"$tmp/attach.err" | "$BIN/ctp-tojsonl" -a 2>/dev/null | grep -m 2000 '"type":"ppt_[SM][da][kr]' >"$tmp/frames"; }

"$tmp/example" 1000000 </dev/null >/dev/null &
pid=$!
command=$(sed -n "s/^\.Dl \(ctp-ppt attach\) -t 10 PID/\1 $pid/p" doc/ctp-ppt.h.3)
if [ "$("$BIN/ctp-ppt" list "$pid" 2>/dev/null | awk '$1 == "Server" { print $2 }')" = free ]; then
	like 'the command in the manual shows the requests' "$(PATH=$BIN:$PATH sh -c "$command" 2>/dev/null | awk -F , 'NR < 4 { print $2 } NR == 3 { exit }' | paste -sd ' ' -)" \
		'^status (200|404) (200|404)$'
fi
kill "$pid"
wait "$pid" 2>/dev/null

# What the manual says of 64 bits: 2^53 in a double, and 2^62 + 5 - 2^63 in two ints.
printf '#include "ppt.h"\n#include <stdio.h>\nPPT_BUFFER(Wide, 64, monotonic, (y, (double, d), (int, high), (int, low)));
	int main(void) { int64_t v = INT64_MIN / 2 + 5; struct ppt_Wide_y y = {.d = 9007199254740992.0, .high = (int)(v >> 32), .low = (int)v};
	puts("ready"); fflush(stdout); for (;;) { ppt_Wide_y_save(&y); usleep(1000); } }\n' >"$tmp/wide.c"
"${compilers##* }" -Isdk/ppt -pthread -o "$tmp/wide" "$tmp/wide.c"
begin "$tmp/wide"
if [ "$(state Wide)" = free ]; then
	"$BIN/ctp-ppt" attach -q -t 1 "$pid" | "$BIN/ctp-tocsv" -q --class ppt_Wide_y 2>/dev/null | sed -n 2p | tr , ' ' >"$tmp/row"
	read -r seqno d high low rest <"$tmp/row"
	is 'numbers of 64 bits: in a double up to 2^53, and in two ints' "$(printf '%.0f' "$d") $(((high << 32) + (low & 0xffffffff)))" '9007199254740992 -4611686018427387899'
fi
finish 2>/dev/null

begin "$O/t/helper/ppt-client-sdk" -t 2 -2 -f
kill -0 "$pid"
if [ "$(state Sdk)" != free ]; then
	note "not attached: $("$BIN/ctp-ppt" list "$pid" 2>&1 | head -n 1)"
	finish
	done_testing
fi
for buffer in Sdk Mark; do
	frames $buffer
	is "$buffer: frames are read" "$(wc -l <"$tmp/frames" | tr -d ' ')" 2000
	is 'each frame is unchanged, and none is of a child' "$(sed 's/.*"type":"ppt_[A-Za-z]*_\([a-z]*\)"/\1/; s/,"/ "/g' "$tmp/frames" | awk '
		function value(name,  i, v) { for (i = 2; i <= NF; i++) if (index($i, "\"" name "\":") == 1) { v = $i; sub(/.*:/, "", v); return v + 0 } }
		{ n = value("n") }
		$1 == "request" && (n % 2 || value("f") != n % 1000) || $1 == "tick" && (n % 2 == 0 || value("x") != n / 2 || value("b") != n % 256) ||
		$1 == "mark" && value("x") != n / 2 || n < 0')" ''
	is 'after that no agent is attached' "$(state $buffer)" free
done
finish
is 'descriptor 0 is open' "$(tail -n 1 "$tmp/said.rest")" 'fd 0: open'
is 'nothing was printed' "$(cat "$tmp/err")" ''
done_testing
