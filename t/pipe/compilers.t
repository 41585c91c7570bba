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

# PKG_CONFIG=false finds nothing, as on a system without the libraries; NDEBUG shows what only an assertion used.
ok 'nothing optional: everything compiles' quiet_make PKG_CONFIG=false CFLAGS='-O1 -DNDEBUG' O="$O/bare" all
ok 'nothing optional: the tools work' works "$O/bare"
like 'nothing optional: make says what it left out, and the package' \
	"$(quiet_make PKG_CONFIG=false CFLAGS='-O1 -DNDEBUG' O="$O/bare" all 2>&1)" '^left out: .*zst.*libzstd-dev'
is 'make -s prints nothing' "$(quiet_make -s PKG_CONFIG=false CFLAGS='-O1 -DNDEBUG' O="$O/bare" all 2>&1)" ''
if command -v zstd >/dev/null; then
	printf '' | zstd -q >"$tmp/empty.zst"
	like 'nothing optional: a .zst is refused with the remedy' "$("$O/bare/bin/ctp-stat" "$tmp/empty.zst" 2>&1)" 'zstdcat'
fi
done_testing
