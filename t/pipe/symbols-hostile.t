#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# Malicious debug information: even if libdw crashes, a tool continues and shows the module and the offset.
# Not under sanitizers: it compiles its programs itself.
. t/helper/tap.sh
ldd "$BIN/ctp-tojsonl" | grep -q libdw || skip_all 'it was built without libdw (package libdw-dev)'

# A program whose main has 50,000 scopes, each in the last: libdw descends into them recursively.
cat >"$tmp/bomb.s" <<'ASM'
	.section .debug_abbrev, "", %progbits
	.uleb128 1, 0x11
	.byte 1
	.uleb128 0x11, 0x01, 0x12, 0x07, 0, 0
	.uleb128 2, 0x2e
	.byte 1
	.uleb128 0x11, 0x01, 0x12, 0x07, 0, 0
	.uleb128 3, 0x0b
	.byte 1
	.uleb128 0x11, 0x01, 0x12, 0x07, 0, 0
	.byte 0
	.section .debug_info, "", %progbits
begin:
	.4byte end - begin - 4
	.2byte 4
	.4byte 0
	.byte 8
	.uleb128 1
	.8byte main, 16
	.uleb128 2
	.8byte main, 16
	.rept 50000
	.uleb128 3
	.8byte main, 16
	.endr
	.skip 50002
end:
ASM
echo 'int main(void) { volatile int x = 1; x++; x++; x++; x++; return x; }' >"$tmp/main.c"
cc -O0 -no-pie -Wl,--build-id -o "$tmp/bomb" "$tmp/main.c" "$tmp/bomb.s" 2>"$tmp/cc.err" ||
	skip_all 'the compiler does not make the program'

id=$(readelf -n "$tmp/bomb" 2>/dev/null | sed -n 's/.*Build ID: //p')
load=$(readelf -lW "$tmp/bomb" 2>/dev/null | awk '$1 == "LOAD" && /R E/ { print $2, $3; exit }')
main=$(nm "$tmp/bomb" | awk '$3 == "main" { print $1 }')
addr=$((0x10000000 + 0x$main + 8 - ${load#* } + ${load% *}))
offset=$(printf %x $((0x$main + 8 - ${load#* } + ${load% *})))
{
	echo '{"type":"@section","attrs":{}}'
	printf '{"type":"mapping","ts":1,"pid":1,"start":"0x10000000","stop":"0x20000000","offset":"0x0","path":"%s","build_id":"%s"}\n' "$tmp/bomb" "$id"
	echo '{"type":"thread","ts":1,"tid":1,"pid":1,"name":"t"}'
	printf '{"type":"transition","probe_id":1,"tid":1,"addr":"0x%016x","seq":2,"is_active":false,"ts":2,"coro":1,"index":0,"site":0}\n' "$addr"
	echo '{"type":"@end","complete":true}'
} >"$tmp/t.jsonl"
"$BIN/ctp-fromjsonl" -q "$tmp/t.jsonl" >"$tmp/t.ctp"

tries() { # NAME COMMAND...
	name=$1
	shift
	timeout 60 "$@" >"$tmp/out" 2>"$tmp/err"
	is "$name: exits with status 0" "$?" 0
	is "$name: prints no message" "$(cat "$tmp/err")" ''
	is "$name: shows the module and the offset" "$(grep -cF "bomb+0x$offset" "$tmp/out")" 1
}
tries ctp-tojsonl "$BIN/ctp-tojsonl" -a --symbols "$tmp/t.ctp"
tries ctp-tocsv "$BIN/ctp-tocsv" -a --symbols "$tmp/t.ctp"
tries ctp-report "$BIN/ctp-report" -j "$tmp/t.ctp"
tries ctp-tohtml "$BIN/ctp-tohtml" "$tmp/t.ctp"
tries ctp-toperfetto "$BIN/ctp-toperfetto" "$tmp/t.ctp"

# --no-symbols opens nothing: not even a file that exists.
command -v strace >/dev/null && strace -f -o "$tmp/trace" "$BIN/ctp-report" --no-symbols -q "$tmp/t.ctp" >"$tmp/out" 2>&1
if [ -s "$tmp/trace" ]; then
	is '--no-symbols opens no file of the trace' "$(grep -c "open.*bomb" "$tmp/trace")" 0
fi
like '--no-symbols shows the module and the offset' "$("$BIN/ctp-report" --no-symbols -j -q "$tmp/t.ctp")" "bomb\+0x$offset"
done_testing
