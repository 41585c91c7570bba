#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# ctp-mem's caches compared with cachegrind's: the accesses of one program, recorded by lackey, miss the first level equally often.
#
# cachegrind counts a modify as a read, ctp-mem as a read and a write: the write after its read is always a hit. The last level of cachegrind
# has instructions too. If it is so large that nothing is replaced, the first access to a line misses: lines that data found
# because of an earlier instruction are counted in lackey's trace. In a smaller one each line of instructions, which is used once,
# replaces one line of data, and that one can be missed once more or less.
# Not under sanitizers: valgrind runs the program.
. t/helper/tap.sh
command -v valgrind >/dev/null || skip_all 'there is no valgrind'
case $(uname -m) in x86_64 | aarch64) ;; *) skip_all "walk.c cannot end on $(uname -m)" ;; esac
${CC:-cc} -O1 -static -nostdlib -ffreestanding -fno-stack-protector -fno-tree-loop-distribute-patterns -o "$tmp/walk" t/helper/mem/walk.c 2>"$tmp/err" ||
	skip_all "no program without a libc can be made: $(head -n 1 "$tmp/err")"
timeout 300 valgrind --tool=lackey --trace-mem=yes --log-file="$tmp/lackey" "$tmp/walk" ||
	skip_all "lackey does not run here: $(tail -n 1 "$tmp/lackey")"

awk -f t/helper/mem/lackey.awk "$tmp/lackey" | "$BIN/ctp-fromjsonl" -q -o "$tmp/walk.ctp"
is 'lackey becomes a stream' $? 0
modified=$(awk '$1 == "M" { n++ } END { print n + 0 }' "$tmp/lackey")

# Lines of 64 bytes that held an instruction before data: the number of reads and writes that hit them in a cache that keeps all.
found() {
	awk -v want="$1" '
	function line(at,    part) { split(at, part, ","); return substr("0000000000000000", length(part[1]) + 1) part[1] }
	function block(hex) { return substr(hex, 1, 14) int(index("0123456789abcdef", substr(hex, 15, 1)) / 4.0001) }
	$1 == "I" { code[block(line($2))] = 1 }
	$1 == "L" || $1 == "S" || $1 == "M" { b = block(line($2)); if (!(b in data)) { data[b] = 1; if (b in code) n[$1 == "S"]++ } }
	END { print n[want] + 0 }' "$tmp/lackey"
}

# The numbers of cachegrind: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw.
cachegrind() { # D1 LL
	timeout 300 valgrind --tool=cachegrind --cache-sim=yes --I1=32768,8,64 --D1="$1" --LL="$2" --cachegrind-out-file="$tmp/cg" "$tmp/walk" \
		>"$tmp/said" 2>&1 || return
	sed -n 's/^summary: //p' "$tmp/cg"
}
ours() { # LEVEL KEY, from the list of caches
	sed 's/.*"caches":\[\([^]]*\)\].*/\1/; s/},{/}\n{/g' "$tmp/json" | sed -n "$1p" | sed "s/.*\"$2\":\([0-9]*\).*/\1/"
}
within() { # NAME DIFFERENCE LIMIT
	[ "${2#-}" -le "$3" ]
	tap_result $? "$1" || diag "differs by $2, and $3 is the limit"
}

for geometry in '4096,2,64 16777216,16,64' '32768,8,64 16777216,16,64' '1024,1,64 16777216,8,64' '4096,4,32 16777216,16,32' \
	'2048,32,64 65536,8,64' '8192,2,64 32768,4,64'; do
	d1=${geometry% *} ll=${geometry#* }
	# shellcheck disable=SC2046
	set -- $(cachegrind "$d1" "$ll")
	[ $# -ge 9 ] || { ok "cachegrind runs with $geometry" false; continue; }
	"$BIN/ctp-mem" -j --cache "$d1" --cache "$ll" "$tmp/walk.ctp" >"$tmp/json"
	is "$geometry: reads" "$(($(ours 1 read_hits) + $(ours 1 read_misses)))" "$4"
	is "$geometry: writes" "$(($(ours 1 write_hits) + $(ours 1 write_misses) - modified))" "$7"
	is "$geometry: reads that miss D1" "$(ours 1 read_misses)" "$5"
	is "$geometry: writes that miss D1" "$(ours 1 write_misses)" "$8"
	case $ll in
	16777216,*,64)
		is "$geometry: reads that miss LL" $(($(ours 2 read_misses) - $(found 0))) "$6"
		is "$geometry: writes that miss LL" $(($(ours 2 write_misses) - $(found 1))) "$9" ;;
	*)
		within "$geometry: what misses LL" $(($(ours 2 read_misses) + $(ours 2 write_misses) - $6 - $9)) "$2" ;;
	esac
	ok "$geometry: there are misses to compare" test "$5" -gt 1000
done
done_testing
