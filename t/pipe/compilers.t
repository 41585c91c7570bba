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

# The headers that people copy give no warning in their builds. In make check the system's two compilers see them; in make check-all each
# compiler of this list, which are those that Debian 12 has and two more.
warn='-Werror -Wall -Wextra -Wconversion -Wsign-conversion -Wshadow -Wundef -pedantic' include='-Isdk/c -Isdk/c++ -Isdk/ppt -Isdk/cacheray'
silent() { # NAME COMPILER FLAGS...
	name=$1
	shift
	# shellcheck disable=SC2086
	"$@" $warn >"$tmp/warnings" 2>&1
	is "$name: no warning" "$(head -n 5 "$tmp/warnings")" ''
}
see() { # NAME HEADER COMPILER FLAGS...
	see_name=$1
	echo "#include \"$2\"" >"$tmp/header"
	shift 2
	# shellcheck disable=SC2086
	silent "$see_name" "$@" -fsyntax-only $include "$tmp/header"
}
see_c() { # COMPILER CXX HEADER [MACRO]
	see "$1, C11, $3 ${4-}" "$3" "$1" -x c -std=c11 ${4+"$4"}
	for standard in 17 ${EVERY:+20} 2b; do
		see "$2, C++$standard, $3 ${4-}" "$3" "$2" -x c++ -std=c++$standard -Wold-style-cast ${4+"$4"}
	done
}
# What a header only defines, a compiler must see in use: macros, templates. With -O2 it warns of more.
optimize=-O${EVERY:+2}
cat >"$tmp/calls.c" <<'C'
#include "ctp.h"
void calls(struct ctp_coro *co, struct ctp_coro *other, const char *text, short few);
void calls(struct ctp_coro *co, struct ctp_coro *other, const char *text, short few)
{
	ctp_init();
	ctp_record();
	ctp_coro_new(co, 7);
	ctp_coro_name(co, text);
	ctp_object_new(text, CTP_FOR_PERMITS, 3, "permits", CTP_MARK_OWNED);
	ctp_object(text, CTP_FOR_ITEM, 1);
	ctp_coro_resume(co);
	ctp_coro_holds(co, text, few);
	ctp_coro_await(co, other);
	ctp_coro_join(co, other);
	ctp_coro_waits_until(co, 1, CTP_MARK_TIMED);
	ctp_coro_waits_fd(co, few, 1, 0);
	ctp_coro_waits_for(co, text, CTP_FOR_LOCK, 1, CTP_MARK_SHARED | CTP_MARK_CANCELLABLE);
	ctp_coro_suspend(co, CTP_HERE);
	ctp_coro_wake(co);
	ctp_coro_wake_for(co, text);
	ctp_ref_wake(ctp_coro_ref(co));
	ctp_ref_wake_for(ctp_coro_ref(co), text);
	ctp_ref_holds(ctp_coro_ref(co), text, -few);
	ctp_coro_yield(co, text);
	ctp_coro_suspend_in(co, CTP_HERE, ctp_site_number(__FILE__, __LINE__, __func__));
	ctp_object_close(text);
	ctp_object_end(text);
	if (ctp_traced() && ctp_coro_traced(co) && ctp_coro_id(co) == 7)
		ctp_coro_death(co);
}
C
see_all() { # COMPILER
	cxx=$(echo "$1" | sed 's/gcc/g++/; s/clang/clang++/')
	command -v "$1" >/dev/null && command -v "$cxx" >/dev/null || { skip "there is no $1 with $cxx"; return; }
	for header in ctp.h ppt.h ctp-cacheray.h; do see_c "$1" "$cxx" $header; done
	see_c "$1" "$cxx" ctp.h -DCTP_LIBRARY
	silent "$1, C11, calls" "$1" -std=c11 "$optimize" -DCTP_LIBRARY -Isdk/c -c -o "$tmp/calls.o" "$tmp/calls.c"
	silent "$cxx, C++17, calls" "$cxx" -x c++ -std=c++17 "$optimize" -Wold-style-cast -DCTP_LIBRARY -Isdk/c -c -o "$tmp/calls.o" "$tmp/calls.c"
	for standard in 20 2b; do
		see "$cxx, C++$standard, ctp.hpp" ctp.hpp "$cxx" -x c++ -std=c++$standard -Wold-style-cast
		see "$cxx, C++$standard, ctp-asio.hpp without Asio" ctp-asio.hpp "$cxx" -x c++ -std=c++$standard -Wold-style-cast
	done
	see "$cxx, ctp.hpp, no exceptions" ctp.hpp "$cxx" -x c++ -std=c++20 -fno-exceptions -fno-rtti -DCTP_LIBRARY
	for source in facts frames corotracer; do
		silent "$cxx, $source.cpp" "$cxx" -std=c++20 "$optimize" -Wold-style-cast -DCTP_LIBRARY -Isdk/c -Isdk/c++ -c -o "$tmp/calls.o" "t/helper/cxx/$source.cpp"
	done
	# asio.t has the system's compilers see all of ctp-asio.hpp.
	[ "${EVERY:-}" ] || return 0
	for standard in 20 2b; do
		# By its path: g++ is silent about what a header of the system includes, as Asio's is.
		silent "$cxx, C++$standard, Asio" "$cxx" -std=c++$standard -O2 -Wold-style-cast -include sdk/c++/ctp-asio.hpp \
			-c -o "$tmp/calls.o" t/helper/asio/features.cpp
	done
}
if [ "${EVERY:-}" ]; then
	for compiler in gcc-11 gcc-12 gcc-13 gcc-14 clang-14 clang-15 clang-16 clang-17 clang-18 clang-19; do see_all $compiler; done
else
	for compiler in gcc clang; do see_all $compiler; done
fi

# Their versions.
version=$(sed -n 's/^VERSION := //p' GNUmakefile)
number=$(echo "$version" | awk -F . '{ print 10000 * $1 + 100 * $2 + $3 }')
for header in c/ctp.h c++/ctp.hpp c++/ctp-asio.hpp ppt/ppt.h cacheray/ctp-cacheray.h; do
	is "$header: its version is that of the GNUmakefile" \
		"$(sed -n 's/^#define [A-Z_]*_VERSION "\(.*\)"$/\1/p; s/^#define [A-Z_]*_VERSION_NUMBER \([0-9]*\).*/\1/p' "sdk/$header" | tr '\n' ' ')" \
		"$version $number "
done
is 'sdk/rust/src/lib.rs: the same' "$(sed -n 's/^pub const VERSION: &str = "\(.*\)";$/\1/p' sdk/rust/src/lib.rs)" "$version"
is 'ctp-asio.hpp: the number that its second half expects' "$(sed -n 's/^#if CTP_ASIO_VERSION_NUMBER != //p' sdk/c++/ctp-asio.hpp)" "$number"
is 'ctp-tokio asks for ctp of this version' "$(sed -n 's/^ctp = {.* version = "\(.*\)".*/\1/p' sdk/rust/tokio/Cargo.toml)" "$version"
for crate in sdk/rust/Cargo.toml sdk/rust/tokio/Cargo.toml; do
	is "$crate: the same" "$(sed -n 's/^version = "\(.*\)"$/\1/p' $crate)" "$version"
done

# PKG_CONFIG=false finds nothing, as on a system without the libraries; NDEBUG shows what only an assertion used: to clang also functions.
# In make check this is the library, with a few tools and what they need of formats; in make check-all it is everything.
command -v clang >/dev/null && export CC=clang
few=
[ "${EVERY:-}" ] || few='ctp-fromjsonl ctp-report ctp-stat ctp-tojsonl'
bare() { # [ARG...]
	set -- PKG_CONFIG=false CFLAGS="-O${EVERY:+1} -DNDEBUG" O="$O/bare" "$@" all
	[ ! "$few" ] || set -- "$@" TOOLS="$few" EXAMPLES= CXX_EXAMPLES= MODULES= FORMATS="$(echo formats/common/*.c formats/jsonl/*.c formats/report/*.c formats/stat/*.c)"
	quiet_make "$@"
}
ok 'nothing optional: everything compiles' bare
ok 'nothing optional: the tools work' works "$O/bare"
like 'nothing optional: make says what it left out, and the package' \
	"$(bare 2>&1)" '^left out: .*zst.*libzstd-dev'
is 'make -s prints nothing' "$(bare -s 2>&1)" ''
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
