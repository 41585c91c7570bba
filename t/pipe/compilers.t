#!/bin/sh
# The tree compiles without a warning with the other compiler, and without what is optional; what comes out works.
#
# The build that is under test anyway was made with one compiler; this one takes the other.
# Not under sanitizers: it builds the tree.
. t/helper/tap.sh

quiet_make() { make --no-print-directory -j"$(nproc)" WERROR=1 "$@"; }
works() { # FOLDER: a stream from text, and text from the stream
	row='{"probe_id":7,"tid":8,"addr":"0x0000000000000009","seq":2,"is_active":true,"ts":10}'
	[ "$(echo "$row" | "$1/bin/ctp-fromjsonl" | "$1/bin/ctp-tojsonl")" = "$row" ]
}

for cc in gcc clang; do
	if ! command -v $cc >/dev/null; then
		note "there is no $cc"
		continue
	fi
	ok "$cc: everything compiles" quiet_make CC=$cc O="$O/$cc" tests
	ok "$cc: and works" works "$O/$cc"
done

# PKG_CONFIG=false finds nothing, as on a system without the libraries; NDEBUG shows what only an assertion used.
ok 'nothing optional: everything compiles' quiet_make PKG_CONFIG=false CFLAGS='-O3 -DNDEBUG' O="$O/bare" all
ok 'nothing optional: and works' works "$O/bare"
like 'nothing optional: make says what it left out, and the package' \
	"$(quiet_make PKG_CONFIG=false CFLAGS='-O3 -DNDEBUG' O="$O/bare" all 2>&1)" '^left out: .*zst.*libzstd-dev'
if command -v zstd >/dev/null; then
	printf '' | zstd -q >"$tmp/empty.zst"
	like 'nothing optional: a .zst is refused with the remedy' "$("$O/bare/bin/ctp-stat" "$tmp/empty.zst" 2>&1)" 'zstdcat'
fi
done_testing
