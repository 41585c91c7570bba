#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# Addresses in C++ and Rust get the names of their sources; and streams with arbitrary claims about files.
# Not under sanitizers: it compiles its programs itself.
. t/helper/tap.sh
to=$BIN/ctp-tojsonl from=$BIN/ctp-fromjsonl
ldd "$to" | grep -q libdw || skip_all 'it was built without libdw (package libdw-dev)'

now=1
mapping() { # PATH BUILD_ID [PID [START [STOP]]]
	printf '{"type":"mapping","ts":'$now',"pid":%s,"start":"0x%016x","stop":"0x%016x","offset":"0x0000000000000000","path":"%s","build_id":"%s"}\n' \
		"${3:-1}" "${4:-268435456}" "${5:-536870912}" "$1" "$2"
}
at() { # ADDRESS [TID]
	printf '{"type":"transition","probe_id":1,"tid":%s,"addr":"0x%016x","seq":2,"is_active":false,"ts":'$now',"coro":1,"index":0,"site":0}\n' "${2:-1}" "$1"
}
section() {
	echo '{"type":"@section","attrs":{}}'
	cat
	echo '{"type":"@end","complete":true}'
}
show() { "$from" -q | timeout 120 "$to" -aq --symbols "$@" | sed -n 's/.*"addr":"[^"]*"\(,"addr_text":"\([^"]*\)"\)*,"seq".*/\2/p' | sed 's/^$/-/'; }
id_of() { readelf -n "$1" 2>/dev/null | sed -n 's/.*Build ID: //p'; }

# Texts of the functions whose symbols match, as if the program were mapped at 0x10000000.
functions() { # PROGRAM PATTERN
	set -- "$1" "$2" "$(readelf -lW "$1" 2>/dev/null | awk '$1 == "LOAD" && /R E/ { print $2, $3; exit }')"
	{
		mapping "$1" "$(id_of "$1")"
		nm "$1" | awk '$2 ~ /[tTwW]/' | grep -E -- "$2" | while read -r addr _; do
			at $((0x10000000 + 0x$addr - ${3#* } + ${3% *}))
		done
	} | section | show | sed 's|.*/||' | sort -u
}

# --- C++ ------------------------------------------------------------------------------------------------------------------------
cat >"$tmp/x.cpp" <<'CXX'
#include <coroutine>
struct task { // T
	struct promise_type {
		task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
		std::suspend_always initial_suspend() { return {}; }
		std::suspend_always final_suspend() noexcept { return {}; }
		void return_void() {}
		void unhandled_exception() {}
	};
	std::coroutine_handle<promise_type> handle;
};
int spent;
namespace net {
template <class T> struct channel {
	__attribute__((noinline)) void send(T &&value) { spent += value; } // S
	__attribute__((noinline)) channel &operator<<(T) { spent++; return *this; } // O
};
namespace {
__attribute__((noinline)) void hidden(int (*)(char)) { spent++; } // H
}
task serve(int n) // C
{
	spent += n;
	co_await std::suspend_always();
}
}
int main()
{
	net::channel<int> c;
	c.send(1);
	c << 2;
	net::hidden(nullptr);
	auto lambda = [](int n) __attribute__((noinline)) { spent += n; }; // L
	lambda(3);
	net::serve(4).handle.resume();
	return spent == 0;
}
CXX
line() { grep -n "// $1\$" "$tmp/$2" | cut -d : -f 1; }
cxx_want="x.cpp:$(line C x.cpp):net::serve
x.cpp:$(line H x.cpp):net::(anonymous namespace)::hidden
x.cpp:$(line L x.cpp):main::{lambda#1}::operator()
x.cpp:$(line O x.cpp):net::channel::operator<<
x.cpp:$(line S x.cpp):net::channel::send"
for cxx in g++ clang++; do
	command -v $cxx >/dev/null || continue
	resume=actor
	[ $cxx = clang++ ] && resume=resume
	for how in '-g' '-g -O2'; do
		# shellcheck disable=SC2086
		(cd "$tmp" && $cxx -std=c++20 $how x.cpp -o "$cxx.prog") 2>"$tmp/err" || { note "$cxx: $(head -n 1 "$tmp/err")"; continue; }
		is "$cxx $how: functions have the names of the source, also parts of a split coroutine" \
			"$(functions "$tmp/$cxx.prog" "send|hidden|channel|UliE|[$]_0|serve.*\\.$resume\$" |
				sed -e "s/:$(($(line C x.cpp) + 1)):/:$(line C x.cpp):/" -e 's/[$]_0/{lambda#1}/' | sort)" "$(echo "$cxx_want" | sort)"
	done
	[ -x "$tmp/$cxx.prog" ] || continue
	strip -g "$tmp/$cxx.prog"
	is "$cxx, a symbol table alone gives the names" "$(functions "$tmp/$cxx.prog" 'send|hidden' | sed 's/+0x[0-9a-f]*/+/')" "$cxx.prog+:net::(anonymous namespace)::hidden
$cxx.prog+:net::channel::send"
done

# --- Rust -----------------------------------------------------------------------------------------------------------------------
if command -v rustc >/dev/null; then
	cat >"$tmp/r.rs" <<'RUST'
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
struct Conn<T>(T);
impl Future for Conn<u8> {
    type Output = ();
    #[inline(never)]
    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> { // P
        println!("polled");
        Poll::Pending
    }
}
async fn handle(n: u32) -> u32 { // A
    Conn(1u8).await;
    n
}
fn main() {
    let made: Pin<Box<dyn Future<Output = u32>>> = Box::pin(handle(3));
    println!("{}", std::mem::size_of_val(&*made));
}
RUST
	(cd "$tmp" && rustc --edition 2021 -g r.rs -o r.prog) 2>"$tmp/err" || note "$(cat "$tmp/err")"
	like 'Rust: an async function has its name' "$(functions "$tmp/r.prog" '1r6handle.*(closure|0B)')" \
		"^r\\.rs:$(line A r.rs):r::handle::\\{+closure(#0)?\\}+\$"
	like 'Rust: a future has its name' "$(functions "$tmp/r.prog" 'Conn.*4poll')" "^r\\.rs:$(line P r.rs):<r::Conn.* as core::future::future::Future>::poll\$"
else
	skip 'there is no rustc'
fi

# --- processes ------------------------------------------------------------------------------------------------------------------
thread() { printf '{"type":"thread","ts":1,"tid":%s,"pid":%s,"name":"x"}\n' "$1" "$2"; }
got=$({
	mapping /none/a 01 10 4096 8192
	mapping /none/b 02 20 4096 8192
	mapping /none/c 02 20 16384 20480
	thread 11 10
	thread 21 20
	at 4100 11
	at 4100 21
	at 16385 99
	at 16385 11
	at 8192 11
	now=2
	mapping /none/d 03 10 4000 4200
	at 4199 11
	at 4200 11
} | section | show)
is 'each process has its own mappings; an unknown one uses any; a new mapping replaces what it overlaps' "$got" 'a+0x4
b+0x4
c+0x1
-
-
d+0xc7
-'
is 'a section begins without mappings' "$({ mapping /none/a 01 | section; at 268435457 | section; } | show)" -

# --- hostile --------------------------------------------------------------------------------------------------------------------
mkfifo "$tmp/fifo"
truncate -s 1T "$tmp/huge" 2>/dev/null || truncate -s 1G "$tmp/huge"
printf '\177ELF' | dd of="$tmp/huge" conv=notrunc 2>/dev/null
head -c 64 "$to" >"$tmp/cut"
for path in "$tmp/fifo" /dev/zero /dev/null /dev/tty /proc/kmsg /proc/self/mem / "$tmp/huge" "$tmp/cut" relative '[vdso]' \
	"$tmp/gone (deleted)" "$(printf '%5000s' / | tr ' ' /)" 'a\u0000b'; do
	case $path in
	?????????*///) want=- ;; # longer than any path is
	*u0000*) want=- ;;
	/) want='+0x10' ;;
	*) want=$(basename "${path% (deleted)}")+0x10 ;;
	esac
	for id in '' 0102 "$(printf '%0200d' 0)"; do
		[ ${#id} -gt 128 ] && want=-
		is "$(printf '%.40s' "$path"), build-id $(printf '%.4s' "$id")" \
			"$({ mapping "$path" "$id"; at 268435472; } | section | show --debug-dir "$tmp" --debug-dir "$tmp/fifo")" "$want"
	done
done
mkdir -p "$tmp/.build-id/01"
mkfifo "$tmp/.build-id/01/02.debug"
is 'a pipe in the place of debug information is not opened' \
	"$({ mapping /none/a 0102; at 268435472; } | section | show --debug-dir "$tmp")" 'a+0x10'
{
	awk 'BEGIN {
		f = "{\"type\":\"mapping\",\"ts\":1,\"pid\":%d,\"start\":\"0x%016x\",\"stop\":\"0x%016x\",\"offset\":\"0x%016x\",\"path\":\"/none/%d\",\"build_id\":\"%08x\"}\n"
		for (i = 0; i < 200000; i++)
			printf f, i % 3000, i * 7919 % 1000003 * 4096, i * 7919 % 1000003 * 4096 + 8192, i, i, i
	}'
	at 4097 9
} | section | "$from" -q >"$tmp/many.ctp"
timeout 120 "$to" -aq --symbols "$tmp/many.ctp" >"$tmp/out"
is 'very many mappings, files and processes are handled' $? 0
done_testing
