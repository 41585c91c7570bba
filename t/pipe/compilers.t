#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# The tree compiles without warnings, without optional libraries and without assertions, and the tools work. Both compilers see all of
# it in make check: the tools under test are built with cc, those with AddressSanitizer with clang.
# Not under sanitizers: it builds the tree.
. t/helper/tap.sh

quiet_make() { make --no-print-directory -j"$(nproc)" WERROR=1 "$@"; }
works() { # FOLDER: a stream from text, and text from the stream
	row='{"probe_id":7,"tid":8,"addr":"0x0000000000000009","seq":2,"is_active":true,"ts":10}'
	[ "$(echo "$row" | "$1/bin/ctp-fromjsonl" | "$1/bin/ctp-tojsonl")" = "$row" ]
}

# PKG_CONFIG=false finds nothing, as on a system without the libraries; NDEBUG shows what only an assertion used: to clang also functions.
command -v clang >/dev/null && export CC=clang
ok 'nothing optional: everything compiles' quiet_make PKG_CONFIG=false CFLAGS='-O1 -DNDEBUG' O="$O/bare" all
ok 'nothing optional: the tools work' works "$O/bare"
like 'nothing optional: make says what it left out, and the package' \
	"$(quiet_make PKG_CONFIG=false CFLAGS='-O1 -DNDEBUG' O="$O/bare" all 2>&1)" '^left out: .*zst.*libzstd-dev'
is 'make -s prints nothing' "$(quiet_make -s PKG_CONFIG=false CFLAGS='-O1 -DNDEBUG' O="$O/bare" all 2>&1)" ''
if command -v zstd >/dev/null; then
	printf '' | zstd -q >"$tmp/empty.zst"
	like 'nothing optional: a .zst is refused with the remedy' "$("$O/bare/bin/ctp-stat" "$tmp/empty.zst" 2>&1)" 'zstdcat'
fi

# All of it, with its tests and without assertions, and as it is debugged: what a compiler warns of depends on how much it optimises.
if [ "${EVERY:-}" ]; then
	for with in 'gcc g++ -O0' 'clang clang++ -O0' 'gcc g++ -O3 -DNDEBUG' 'clang clang++ -O3 -DNDEBUG'; do
		# shellcheck disable=SC2086
		set -- $with
		command -v "$1" >/dev/null && command -v "$2" >/dev/null || continue
		cc=$1 cxx=$2
		shift 2
		is "$with: no warning" "$(quiet_make -s CC="$cc" CXX="$cxx" CFLAGS="$*" O="$tmp/o" all tests verdict-programs 2>&1)" ''
		for unit in "$tmp"/o/t/unit/*; do
			[ ! -x "$unit" ] || ok "$with: ${unit##*/}" env O="$tmp/o" BIN="$tmp/o/bin" "$unit"
		done
		rm -rf "$tmp/o"
	done
fi
done_testing
