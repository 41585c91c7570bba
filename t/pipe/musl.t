#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# With musl instead of glibc: static tools, and a static example, trace and find the same.
# Not under sanitizers: it builds a part of the tree.
. t/helper/tap.sh
command -v musl-gcc >/dev/null || skip_all 'there is no musl-gcc (package musl-tools)'
[ -d /usr/include/linux ] || skip_all "the kernel's headers are not there (package linux-libc-dev)"

o=$tmp/o
# shellcheck disable=SC2046
ok 'the collector, the report and an example compile with musl-gcc' make --no-print-directory -s -j2 O="$o" CC=musl-gcc CFLAGS=-O0 WERROR=1 \
	FORMATS="$(echo formats/common/*.c formats/jsonl/*.c formats/report/*.c)" \
	$(for p in bin/ctp-collect bin/ctp-tojsonl bin/ctp-report examples/lostwake; do echo "$o/$p"; done)
is 'they need no shared library' "$(for p in "$o"/bin/ctp-* "$o/examples/lostwake"; do ldd "$p" 2>/dev/null; done | grep '=>')" ''
like 'the collector reports what it has' "$("$o/bin/ctp-collect" -o "$tmp/t.ctp" "$o/examples/lostwake" 2>&1)" \
	'^ctp-collect: [1-9][0-9]* events, 48 coroutines, 0 lost'
like 'the report names the place that lost the wake' "$("$o/bin/ctp-report" "$tmp/t.ctp")" \
	'^1\. likely: 1 coroutine suspended at sdk/c/examples/lostwake\.c:[0-9]+:handler_step '
# shellcheck disable=SC2086
for tool in ctp-tojsonl 'ctp-report --no-symbols'; do
	"$o"/bin/$tool "$tmp/t.ctp" >"$tmp/musl.out"
	"$BIN"/$tool "$tmp/t.ctp" >"$tmp/out"
	ok "$tool writes the same as with the other C library" cmp "$tmp/musl.out" "$tmp/out"
done
done_testing
