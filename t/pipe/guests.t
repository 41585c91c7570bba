#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# A program of somebody else uses the installed SDK: by CMake, by meson, with copied headers, and by cargo.
# Not under sanitizers: it builds the tree.
. t/helper/tap.sh

there=$tmp/opt
ok 'make install' make --no-print-directory O="$O" PREFIX="$there" DESTDIR= install

# --- the programs: a mail queue, in C, in C++ and in Rust ------------------------

mkdir "$tmp/mail"
cat >"$tmp/mail/mail.c" <<'END'
#include "ctp.h"
#include <stdio.h>
#if defined CTP_LIBRARY != defined LINKED
#error "who links the archive gets CTP_LIBRARY, and nobody else"
#endif

struct mail {
	struct ctp_coro trace;
	int parts_left;
};

static int step(struct mail *m)
{
	ctp_coro_resume(&m->trace);
	if (--m->parts_left > 0) {
		ctp_coro_suspend(&m->trace, CTP_HERE);
		return 1;
	}
	ctp_coro_death(&m->trace);
	return 0;
}

int main(void)
{
	struct mail queue[3];
	int sent = 0;
	for (int i = 0; i < 3; i++) {
		queue[i].parts_left = i + 1;
		ctp_coro_new(&queue[i].trace, 0);
		ctp_coro_name(&queue[i].trace, "mail");
	}
	for (int busy = 1; busy;) {
		busy = 0;
		for (int i = 0; i < 3; i++)
			if (queue[i].parts_left > 0) {
				busy = 1;
				sent += !step(&queue[i]);
			}
	}
	printf("sent %d, SDK %s\n", sent, CTP_SDK_VERSION);
	return 0;
}
END
cat >"$tmp/mail/mailer.cpp" <<'END'
#include "ctp.hpp"
#include <cstdio>
#include <exception>
#if defined CTP_LIBRARY != defined LINKED
#error "who links the archive gets CTP_LIBRARY, and nobody else"
#endif

struct mail {
	struct promise_type : ctp::promise {
		mail get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
		std::suspend_always initial_suspend() noexcept { return {}; }
		std::suspend_always final_suspend() noexcept { return {}; }
		void return_void() {}
		void unhandled_exception() { std::terminate(); }
	};
	std::coroutine_handle<promise_type> handle;
};

static mail send(int parts)
{
	ctp::name(co_await ctp::self(), "mail");
	while (--parts > 0)
		co_await std::suspend_always();
}

int main()
{
	mail queue[] = {send(1), send(2), send(3)};
	int sent = 0;
	for (auto &m : queue) {
		while (!m.handle.done())
			m.handle.resume();
		m.handle.destroy();
		sent++;
	}
	std::printf("sent %d, SDK %s\n", sent, CTP_HPP_VERSION);
}
END
version=$(sed -n 's/^VERSION := //p' GNUmakefile)
works() { # HOW PROGRAM: it runs alone, and the trace has its three coroutines
	is "$1: it runs" "$("$2" 2>&1)" "sent 3, SDK $version"
	rm -f "$tmp/a.ctp"
	"$BIN/ctp-collect" -q -o "$tmp/a.ctp" "$2" >"$tmp/out" 2>&1
	is "$1: the trace has its coroutines" "$("$BIN/ctp-tojsonl" -q -a "$tmp/a.ctp" | grep -c '"type":"name".*"name":"mail"')" 3
}

# --- headers that were copied into its tree -------------------------------------------------------------------------------------

mkdir "$tmp/copied"
cp "$there/include/ctp.h" "$there/include/ctp.hpp" "$tmp/copied"
strict='-Wall -Wextra -Wconversion -pedantic -Werror -O1'
# shellcheck disable=SC2086
{
	ok 'C with a copied header' "${CC:-cc}" -std=c11 $strict -I"$tmp/copied" -o "$tmp/mail-c" "$tmp/mail/mail.c"
	works 'C with a copied header' "$tmp/mail-c"
	ok 'C++ with copied headers' "${CXX:-c++}" -std=c++20 $strict -Wold-style-cast -I"$tmp/copied" -o "$tmp/mail-cxx" "$tmp/mail/mailer.cpp"
	works 'C++ with copied headers' "$tmp/mail-cxx"
}

# --- meson, by pkg-config -------------------------------------------------------------------------------------------------------

if command -v meson >/dev/null && command -v ninja >/dev/null && command -v pkg-config >/dev/null; then
	cat >"$tmp/mail/meson.build" <<-'END'
	project('mail', 'c', 'cpp', default_options: ['cpp_std=c++20', 'c_std=c11', 'warning_level=3', 'werror=true'])
	probe = dependency('ctp-probe', version: '>= 0.1')
	executable('mail', 'mail.c', dependencies: probe, c_args: '-DLINKED')
	executable('mailer', 'mailer.cpp', dependencies: probe, cpp_args: '-DLINKED')
	END
	ok 'meson: configure' env PKG_CONFIG_PATH="$there/lib/pkgconfig" meson setup "$tmp/meson" "$tmp/mail"
	ok 'meson: compile' meson compile -C "$tmp/meson"
	works 'meson, C' "$tmp/meson/mail"
	works 'meson, C++' "$tmp/meson/mailer"
else
	skip 'meson, ninja or pkg-config is missing'
fi

# --- cargo, by a path -----------------------------------------------------------------------------------------------------------

if command -v cargo >/dev/null && command -v rustc >/dev/null; then
	mkdir -p "$tmp/crate/src"
	cat >"$tmp/crate/Cargo.toml" <<-END
	[package]
	name = "mail"
	version = "1.0.0"
	edition = "2021"

	[dependencies]
	ctp = { path = "$there/share/ctptools/rust" }
	END
	cat >"$tmp/crate/src/main.rs" <<-'END'
	use ctp::TraceFutureExt;
	use std::future::Future;
	use std::pin::Pin;
	use std::sync::Arc;
	use std::task::{Context, Poll, Wake};

	struct Nobody;
	impl Wake for Nobody {
	    fn wake(self: Arc<Self>) {}
	}

	struct Parts(u32);
	impl Future for Parts {
	    type Output = ();
	    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
	        self.0 -= 1;
	        if self.0 > 0 { Poll::Pending } else { Poll::Ready(()) }
	    }
	}

	async fn send(parts: u32) {
	    Parts(parts).here().await
	}

	fn main() {
	    let waker = Arc::new(Nobody).into();
	    let mut cx = Context::from_waker(&waker);
	    let mut sent = 0;
	    for parts in 1..=3 {
	        let mut mail = Box::pin(send(parts).traced_named("mail"));
	        while mail.as_mut().poll(&mut cx).is_pending() {}
	        sent += 1;
	    }
	    println!("sent {}, SDK {}", sent, ctp::VERSION);
	}
	END
	ok 'cargo: compile' cargo build --offline -q --manifest-path "$tmp/crate/Cargo.toml" --target-dir "$tmp/cargo"
	works cargo "$tmp/cargo/debug/mail"
	for crate in rust rust/tokio; do
		ok "$crate: it is installed with its licence" cmp LICENSE "$there/share/ctptools/$crate/LICENSE"
		ok "$crate: and with a README" test -s "$there/share/ctptools/$crate/README.md"
	done
else
	skip 'there is no cargo with rustc'
fi

# --- CMake, after the installed tree was moved ----------------------------------------------------------------------------------

mv "$there" "$tmp/elsewhere"
if command -v cmake >/dev/null; then
	cat >"$tmp/mail/CMakeLists.txt" <<-'END'
	cmake_minimum_required(VERSION 3.10)
	project(mail C CXX)
	set(CMAKE_CXX_STANDARD 20)
	find_package(ctptools 0.1 REQUIRED)
	add_executable(mail mail.c)
	target_link_libraries(mail PRIVATE ctptools::probe)
	target_compile_definitions(mail PRIVATE LINKED)
	add_executable(mailer mailer.cpp)
	target_link_libraries(mailer PRIVATE ctptools::probe)
	target_compile_definitions(mailer PRIVATE LINKED)
	add_executable(whole mail.c)
	target_link_libraries(whole PRIVATE ctptools::headers)
	add_executable(reader reader.c)
	target_link_libraries(reader PRIVATE ctptools::ctp)
	file(WRITE "${CMAKE_BINARY_DIR}/found" "${ctptools_VERSION}")
	END
	# For the library, the first program of its manual.
	awk '/^\.Bd/ { inside = ++n == 1; next } /^\.Ed/ { inside = 0 } inside' doc/ctp.3 | sed 's/\\e/\\/g' >"$tmp/mail/reader.c"
	ok 'CMake: configure' cmake -S "$tmp/mail" -B "$tmp/cmake" -DCMAKE_PREFIX_PATH="$tmp/elsewhere"
	is 'CMake: the version' "$(cat "$tmp/cmake/found")" "$version"
	ok 'CMake: compile' cmake --build "$tmp/cmake"
	ok 'CMake: a program with libctp is there' test -x "$tmp/cmake/reader"
	works 'CMake, C' "$tmp/cmake/mail"
	works 'CMake, C++' "$tmp/cmake/mailer"
	works 'CMake, headers only' "$tmp/cmake/whole"
	sed -i 's/ctptools 0.1 /ctptools 0.9 /' "$tmp/mail/CMakeLists.txt"
	like 'CMake: a version that is not there' "$(cmake -S "$tmp/mail" -B "$tmp/cmake9" -DCMAKE_PREFIX_PATH="$tmp/elsewhere" 2>&1 | tr -s ' \n' ' ')" \
		"version: $version"
	cat >"$tmp/ask.cmake" <<-'END'
	string(REGEX REPLACE "^([0-9]+).*" "\\1" PACKAGE_FIND_VERSION_MAJOR "${PACKAGE_FIND_VERSION}")
	string(REGEX REPLACE "^[0-9]+\\.([0-9]+).*" "\\1" PACKAGE_FIND_VERSION_MINOR "${PACKAGE_FIND_VERSION}")
	include("${FILE}")
	message(STATUS "${PACKAGE_VERSION_COMPATIBLE}")
	END
	answers() { # VERSION ASKED...: for each, whether that version is compatible
		sed "s/@VERSION@/$1/" sdk/cmake/ctptools-config-version.cmake >"$tmp/version.cmake"
		shift
		for asked; do cmake -DFILE="$tmp/version.cmake" -DPACKAGE_FIND_VERSION="$asked" -P "$tmp/ask.cmake"; done | tr -d '\n-'
	}
	is 'CMake: from 1.0 on, a version has what older minor versions have' "$(answers 1.2.0 1.0 1.2 1.3 2.0 0.9)" ' TRUE TRUE FALSE FALSE FALSE'
	is 'CMake: before, it need not' "$(answers 0.2.1 0.1 0.2 0.2.2 1.0)" ' FALSE TRUE FALSE FALSE'

	# Headers in a folder of their own, and a libdir of an architecture.
	cat >"$tmp/mail/CMakeLists.txt" <<-'END'
	cmake_minimum_required(VERSION 3.10)
	project(mail C)
	find_package(ctptools REQUIRED)
	add_executable(mail mail.c)
	target_link_libraries(mail PRIVATE ctptools::probe)
	target_compile_definitions(mail PRIVATE LINKED)
	END
	ok 'make install, other folders' make --no-print-directory O="$O" DESTDIR="$tmp/root" PREFIX="/opt/a & b" \
		libdir="/opt/a & b/lib/some-arch" includedir=/inc/ctptools install
	ok 'CMake, other folders: configure' cmake -S "$tmp/mail" -B "$tmp/cmake-other" \
		-Dctptools_DIR="$tmp/root/opt/a & b/lib/some-arch/cmake/ctptools"
	ok 'CMake, other folders: compile' cmake --build "$tmp/cmake-other"
	works 'CMake, other folders' "$tmp/cmake-other/mail"
	rm "$tmp/root/opt/a & b/lib/some-arch"/libctp.*
	sed -i 's/ctptools REQUIRED/ctptools REQUIRED COMPONENTS probe ctp/' "$tmp/mail/CMakeLists.txt"
	like 'CMake: a component that is not there' "$(cmake -S "$tmp/mail" -B "$tmp/cmake-part" \
		-Dctptools_DIR="$tmp/root/opt/a & b/lib/some-arch/cmake/ctptools" 2>&1 | tr -s ' \n' ' ')" 'the files of ctptools::ctp are not in'
	rm "$tmp/root/inc/ctptools/ctp.h"
	like 'CMake: without the headers it is not found' "$(cmake -S "$tmp/mail" -B "$tmp/cmake-none" \
		-Dctptools_DIR="$tmp/root/opt/a & b/lib/some-arch/cmake/ctptools" 2>&1 | tr -s ' \n' ' ')" 'ctp.h is not in'
else
	skip 'there is no cmake'
fi
done_testing
