#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# Two versions of the SDK in one program, told apart by CTP_ABI_: in C, a file does not link with the archive of another version; in C++
# each half uses its own inline functions and classes; and shared objects of different versions share no attachment.
# Not under sanitizers: it compiles its programs itself.
. t/helper/tap.sh
cc=${CC:-cc} archive=$O/libctp-probe.a
number=$(sed -n 's/^#define CTP_ABI_ //p' sdk/c/ctp.h)
next=$((number + 1))
like 'the SDK has a number' "$number" '^[0-9]+$'

# Another version, whose struct ctp_coro begins with something else.
mkdir "$tmp/next"
cp sdk/c/ctp.h sdk/c++/ctp.hpp "$tmp/next"
sed -i "s/^#define CTP_ABI_ .*/#define CTP_ABI_ $next/; s/^struct ctp_coro {/&uint64_t another_[4];/" "$tmp/next/ctp.h"

cat >"$tmp/main.c" <<'C'
#include "ctp.h"
int main(void)
{
	struct ctp_coro co;
	ctp_coro_new(&co, 0);
	ctp_coro_death(&co);
	return 0;
}
C
"$cc" -DCTP_LIBRARY -I"$tmp/next" -c -o "$tmp/main.o" "$tmp/main.c" && "$cc" -o "$tmp/no" "$tmp/main.o" "$archive" 2>"$tmp/err"
is 'a header and an archive of different versions do not link' $? 1
like 'the linker names the number' "$(cat "$tmp/err")" "undefined reference to .ctp_[a-z]*_$next"

# Shared objects of different versions have an attachment each.
cat >"$tmp/plugin.c" <<'C'
#include "ctp.h"
__attribute__((visibility("default"))) const void *attachment(void) { return ctp_init() ? ctp_current_ : NULL; }
C
cat >"$tmp/host.c" <<'C'
#include "ctp.h"
#include <stdio.h>
const void *attachment(void);
int main(void)
{
	const void *mine = ctp_init() ? ctp_current_ : NULL, *other = attachment();
	puts(!mine || !other ? "none" : mine == other ? "one" : "two");
	return 0;
}
C
attachments() { # WANT NAME FOLDER: of ctp.h for the shared object
	ok "$2: a shared object" "$cc" -fPIC -shared -I"$3" -o "$tmp/plugin.so" "$tmp/plugin.c"
	ok "$2: a program" "$cc" -Isdk/c -o "$tmp/host" "$tmp/host.c" "$tmp/plugin.so" -pthread
	is "$2: attachments" "$(CTP_RECORD=1 "$tmp/host")" "$1"
}
attachments one 'the same number' sdk/c
mkdir "$tmp/raised"
sed "s/^#define CTP_ABI_ .*/#define CTP_ABI_ $next/" sdk/c/ctp.h >"$tmp/raised/ctp.h"
attachments two 'another number' "$tmp/raised"

# --- C++ ------------------------------------------------------------------------------------------------------------------------

cat >"$tmp/half.cpp" <<'CPP'
#include "ctp.hpp"
#include <exception>
namespace {
struct job {
	struct promise_type : ctp::promise {
		job get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
		std::suspend_always initial_suspend() noexcept { return {}; }
		std::suspend_always final_suspend() noexcept { return {}; }
		void return_void() {}
		void unhandled_exception() { std::terminate(); }
	};
	std::coroutine_handle<promise_type> handle;
};
job work()
{
	ctp::object lock(ctp::lock, 1, "lock");
	ctp::holds held(co_await ctp::self(), &lock);
	ctp::name(co_await ctp::self(), TEXT);
	for (;;)
		co_await std::suspend_always();
}
}
void NAME()
{
	job jobs[] = {work(), work()};
	for (int i = 0; i < 3; i++)
		for (job &j : jobs) {
			ctp::wake(j.handle);
			j.handle.resume();
		}
	for (job &j : jobs)
		j.handle.destroy();
}
CPP
cat >"$tmp/main.cpp" <<'CPP'
void one();
void two();
int main()
{
	one();
	two();
}
CPP
half() { # NAME FOLDER...: -O0 inlines nothing, so the linker may merge everything
	half_name=$1
	shift
	"$cxx" -std=c++20 -O0 "$@" "-DNAME=$half_name" "-DTEXT=\"$half_name\"" -c -o "$tmp/$half_name.o" "$tmp/half.cpp"
}
# The inline functions and variables of the SDK in an object, and those of Asio that only the SDK has, without the number.
without_number() {
	nm -C --defined-only "$1" | grep ' [WVu] ' | grep -v "abi$number::\|\[abi:ctp$number\]" |
		grep 'ctp::\|corotracer::\|^[^(]*async_result<asio::use_awaitable_t<[^(]*)>::initiate'
}
for cxx in g++ clang++; do
	if ! command -v $cxx >/dev/null || ! echo '#include <coroutine>' | $cxx -std=c++20 -x c++ -E - >/dev/null 2>&1; then
		skip "there is no $cxx with coroutines"
		continue
	fi
	ok "$cxx: a file with this version" half one -Isdk/c -Isdk/c++
	ok "$cxx: a file with another one" half two -I"$tmp/next"
	for order in 'one two' 'two one'; do
		# shellcheck disable=SC2086
		ok "$cxx, $order: both are linked" "$cxx" -o "$tmp/both" "$tmp/main.cpp" $(printf "$tmp/%s.o " $order) -pthread
		"$BIN/ctp-collect" -q -o "$tmp/a.ctp" "$tmp/both"
		is "$cxx, $order: they run, traced" $? 0
		is "$cxx, $order: each has its coroutines" \
			"$("$BIN/ctp-tojsonl" -q -a "$tmp/a.ctp" | sed -n 's/.*"type":"name".*"name":"\([a-z]*\)".*/\1/p' | sort | uniq -c | tr -s ' \n' ' ')" \
			' 2 one 2 two '
	done
	is "$cxx: each symbol has the number" "$(without_number "$tmp/one.o")" ''
	for source in corotracer facts frames wakes; do
		"$cxx" -std=c++20 -O0 -DCTP_LIBRARY -Isdk/c -Isdk/c++ -c -o "$tmp/object.o" "t/helper/cxx/$source.cpp"
		is "$cxx, $source.cpp: each symbol has the number" "$(without_number "$tmp/object.o")" ''
	done
done

# A copied header and an installed one: ctp-asio.hpp is included twice, the second time by its name.
mkdir "$tmp/copied"
cp sdk/c/ctp.h sdk/c++/ctp.hpp sdk/c++/ctp-asio.hpp "$tmp/copied"
echo '#define ASIO_DETAIL_HANDLER_TRACKING_HPP
#include ASIO_CUSTOM_HANDLER_TRACKING' >"$tmp/hooks.cpp"
two_copies() { # FILE [INCLUDED]: in which the copies have another version
	# shellcheck disable=SC2086
	sed -i 's/\(_VERSION_NUMBER\) [0-9][0-9]*/\1 999999/' "$tmp"/copied/$1
	g++ -std=c++20 -fsyntax-only -include "$tmp/copied/${2-ctp-asio.hpp}" -Isdk/c -Isdk/c++ "$tmp/hooks.cpp" 2>&1 | grep -o '#error.*'
	cp sdk/c/ctp.h sdk/c++/ctp.hpp sdk/c++/ctp-asio.hpp "$tmp/copied"
}
if command -v g++ >/dev/null; then
	like 'ctp.hpp of another version than ctp.h' "$(two_copies ctp.hpp ctp.hpp)" 'ctp.hpp and ctp.h are of different versions'
	like 'ctp-asio.hpp of another version than ctp.hpp' "$(two_copies ctp-asio.hpp)" 'ctp-asio.hpp and ctp.hpp are of different versions'
	like 'two versions of ctp-asio.hpp' "$(two_copies '*')" 'two versions of ctp-asio.hpp'
fi

# One compiler, because Asio takes seconds.
cat >"$tmp/nap.cpp" <<'CPP'
#include <asio.hpp>
asio::awaitable<void> nap(asio::steady_timer &timer)
{
	co_await timer.async_wait(asio::use_awaitable);
	timer.cancel();
}
void start(asio::io_context &context, asio::steady_timer &timer) { asio::co_spawn(context, nap(timer), asio::detached); }
CPP
if g++ -std=c++20 -O0 -DCTP_LIBRARY -Isdk/c -Isdk/c++ -include ctp-asio.hpp -c -o "$tmp/nap.o" "$tmp/nap.cpp" 2>"$tmp/err"; then
	is 'Asio: each symbol has the number' "$(without_number "$tmp/nap.o")" ''
	like 'Asio: the test sees those of the SDK' "$(nm -C "$tmp/nap.o")" "::initiate\[abi:ctp$number\]"
else
	skip "there is no Asio: $(head -n 1 "$tmp/err")"
fi

# --- whoever changes what files must agree on has to notice -----------------------------------------------------------------------

# All code of the headers but the implementation and the versions, without comments and spaces.
shared_code() {
	sed '/^#if defined CTP_DEFINES_ && !defined CTP_DEFINED_$/,$d' sdk/c/ctp.h | cat - sdk/c++/ctp.hpp sdk/c++/ctp-asio.hpp |
		sed '/^#define CTP_[A-Z]*_VERSION[ _]["N]/d; /^#define CTP_ABI_ /d' |
		awk '{
			line = $0
			while (line != "") {
				at = index(line, inside ? "*/" : "/*")
				if (!inside)
					printf "%s", at ? substr(line, 1, at - 1) : line
				line = at ? substr(line, at + 2) : ""
				inside = at ? !inside : inside
			}
			print ""
		}' | tr -d ' \t\n'
}
sum=$(shared_code | cksum | cut -d ' ' -f 1)
is 'the code that files share is that of its number: if a release had the number, raise CTP_ABI_; put the sum here' \
	"$number $sum" "$(sed -n 's/^# number and sum: //p' "$0")"
# number and sum: 2 580173386
done_testing
