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

# The headers that people copy give no warning in their builds. Each compiler of this list that is installed sees them.
flags='-fsyntax-only -Werror -Wall -Wextra -Wconversion -Wsign-conversion -Wshadow -pedantic -Isdk/c -Isdk/c++ -Isdk/ppt -Isdk/cacheray'
see() { # NAME HEADER COMPILER FLAGS...
	name=$1
	echo "#include \"$2\"" >"$tmp/header"
	shift 2
	# shellcheck disable=SC2086
	"$@" $flags "$tmp/header" >"$tmp/warnings" 2>&1
	is "$name: no warning" "$(head -n 5 "$tmp/warnings")" ''
}
see_c() { # COMPILER CXX HEADER [MACRO]
	see "$1, C11, $3 ${4-}" "$3" "$1" -x c -std=c11 ${4+"$4"}
	for standard in 17 20 2b; do
		see "$2, C++$standard, $3 ${4-}" "$3" "$2" -x c++ -std=c++$standard -Wold-style-cast ${4+"$4"}
	done
}
for compiler in gcc gcc-11 gcc-12 gcc-13 gcc-14 clang clang-14 clang-15 clang-16 clang-17 clang-18 clang-19; do
	cxx=$(echo "$compiler" | sed 's/gcc/g++/; s/clang/clang++/')
	command -v "$compiler" >/dev/null && command -v "$cxx" >/dev/null || continue
	for header in ctp.h ppt.h ctp-cacheray.h; do see_c "$compiler" "$cxx" $header; done
	see_c "$compiler" "$cxx" ctp.h -DCTP_LIBRARY
	for header in ctp.hpp ctp-asio.hpp; do
		for standard in 20 2b; do
			see "$cxx, C++$standard, $header" "$header" "$cxx" -x c++ -std=c++$standard -Wold-style-cast
		done
	done
done

# Their versions.
version=$(sed -n 's/^VERSION := //p' GNUmakefile)
number=$(echo "$version" | awk -F . '{ print 10000 * $1 + 100 * $2 + $3 }')
for header in c/ctp.h c++/ctp.hpp c++/ctp-asio.hpp ppt/ppt.h cacheray/ctp-cacheray.h; do
	is "$header: its version is that of the GNUmakefile" \
		"$(sed -n 's/^#define [A-Z_]*_VERSION "\(.*\)"$/\1/p; s/^#define [A-Z_]*_VERSION_NUMBER \([0-9]*\).*/\1/p' "sdk/$header" | tr '\n' ' ')" \
		"$version $number "
done
is 'sdk/rust/src/lib.rs: the same' "$(sed -n 's/^pub const VERSION: &str = "\(.*\)";$/\1/p' sdk/rust/src/lib.rs)" "$version"
for crate in sdk/rust/Cargo.toml sdk/rust/tokio/Cargo.toml; do
	is "$crate: the same" "$(sed -n 's/^version = "\(.*\)"$/\1/p' $crate)" "$version"
done

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
