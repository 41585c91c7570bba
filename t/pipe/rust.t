#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# The Rust probe: its layout is that of the C header, a traced program behaves as it does untraced, and the trace has its
# coroutines, their places, wakers and targets.
# Not under sanitizers: it compiles its programs itself.
. t/helper/tap.sh
command -v cargo >/dev/null && command -v rustc >/dev/null || skip_all 'there is no cargo with rustc'
run_cargo() { # SUBCOMMAND ARG...
	run_what=$1
	shift
	cargo "$run_what" --offline --locked -q --manifest-path sdk/rust/Cargo.toml --target-dir "$O/rust" "$@"
}
unset CTP_RECORD CTP_SHM_PATH CTP_SOCK_PATH CTP_MAX_STATIONS
bin=$O/rust/debug
source=sdk/rust/examples/lostwake.rs

# --- it compiles, and agrees with the header ---------------------------------------------------------------------------------

ok 'the library and its examples compile' run_cargo build --lib --examples
export CTP_LAYOUT="$tmp/layout"
ok 'its own tests pass' run_cargo test
unset CTP_LAYOUT
[ ! "${EVERY:-}" ] || ok 'the tests of a difficult program also pass with optimization' run_cargo test --release --lib unkind
{
	echo '#include "ctp.h"'
	sed 's/.*/_Static_assert(&, "&");/' "$tmp/layout"
} >"$tmp/layout.c"
ok 'it has the layout of sdk/c/ctp.h' ${CC:-cc} -DCTP_LAYOUT_ONLY -Isdk/c -fsyntax-only "$tmp/layout.c"
sed -n 's/^#define \(CTP_\(MODE\|CLOCK\|ANNOUNCE\)_[A-Z]*\) .*/\1/p; s/^\t\(CTP_ENTRY_[A-Z]*\) = .*/\1/p
	s/^#define \(CTP_MARK_[A-Z]*\) .*/\1/p; s/^\t\(CTP_FOR_[A-Z]*\)\( = [0-9]*\)*,.*/\1/p' sdk/c/ctp.h |
	grep -v _MONOTONIC | grep -v _IS | grep -Ev '_(LEAVING|YIELD|STAYED|JOIN)$' >"$tmp/names" # Rust has no such marks
is 'it has all constants of the header' \
	"$(while read -r name; do grep -q "^$name ==" "$tmp/layout" || echo "$name"; done <"$tmp/names")" ''
ok 'there are some' test "$(wc -l <"$tmp/names")" -gt 40
alone='--edition 2021 --crate-type rlib --crate-name ctp -D warnings'
ok 'rustc alone compiles it' rustc $alone -o "$tmp/libctp.rlib" sdk/rust/src/lib.rs
ok 'rustc compiles it with tracing disabled' rustc $alone --cfg 'feature="off"' -o "$tmp/liboff.rlib" sdk/rust/src/lib.rs
if cargo clippy --version >/dev/null 2>&1; then
	ok 'clippy has nothing to say' run_cargo clippy --all-targets -- -D warnings
fi
if cargo fmt --version >/dev/null 2>&1; then
	ok 'rustfmt has nothing to do' cargo fmt --check --manifest-path sdk/rust/Cargo.toml
fi
ok 'its documentation is complete' env RUSTDOCFLAGS='-D warnings' cargo doc --offline --locked -q --no-deps --manifest-path sdk/rust/Cargo.toml --target-dir "$O/rust"
is 'its package has its licence and README' \
	"$(cargo package --offline --allow-dirty --list --manifest-path sdk/rust/Cargo.toml --target-dir "$O/rust" 2>/dev/null | grep -cx 'LICENSE\|README.md\|src/lib.rs')" 3
ok 'the source tree is unchanged' test ! -e sdk/rust/target

# --- a traced program ---------------------------------------------------------------------------------------------------------

story() { # COMMAND...: what it prints, and how it ends
	"$@" 2>&1
	echo "status $?"
}
told='lostwake: 48 futures, 47 done
status 0'
is 'untraced' "$(story "$bin/examples/lostwake")" "$told"
is 'with recording the output is the same' "$(story env CTP_RECORD=1 "$bin/examples/lostwake")" "$told"
is 'with CTP_RECORD=0 the output is the same' "$(story env CTP_RECORD=0 "$bin/examples/lostwake")" "$told"
is 'with a limit on the size of files the output is the same' "$(ulimit -f 1000 && story "$bin/examples/lostwake")" "$told"
is 'with variables of a collector that is gone the output is the same' \
	"$(story env CTP_SHM_PATH=/nonexistent CTP_SOCK_PATH=/nonexistent CTP_MAX_STATIONS=8 "$bin/examples/lostwake")" "$told"
is 'with invalid variables the output is the same' \
	"$(story env CTP_SHM_PATH=/dev/zero CTP_SOCK_PATH=/dev/zero CTP_MAX_STATIONS=99999999999 "$bin/examples/lostwake")" "$told"
is 'traced, the output is the same' "$(story "$BIN/ctp-collect" -q -o "$tmp/lost.ctp" "$bin/examples/lostwake")" "$told"
is 'traced with too few stations, the output is the same' \
	"$(story "$BIN/ctp-collect" -q -n 5 -o "$tmp/few.ctp" "$bin/examples/lostwake")" "$told"
like 'untraced coroutines are counted' "$("$BIN/ctp-stat" -j "$tmp/few.ctp")" '"untraced":[1-9]'
like 'nothing is lost' "$("$BIN/ctp-stat" -j "$tmp/lost.ctp")" '"lost":0'

"$BIN/ctp-tojsonl" -q -a "$tmp/lost.ctp" >"$tmp/lost"
line() { grep -nF "$1" "$source" | cut -d : -f 1; }
cat >"$tmp/look.awk" <<'AWK'
function get(key,    text) {
	if (!match($0, "\"" key "\":(\"[^\"]*\"|[^,}]*)"))
		return ""
	text = substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 3)
	gsub(/"/, "", text)
	return text
}
{ type = get("type"); coro = get("coro") }
type == "name" { name[coro] = get("name") }
type == "birth" { parent[coro] = get("parent"); spawned[coro] = get("site_text"); births++ }
type == "death" { dead[coro] = 1; deaths++ }
type == "transition" { state[coro] = get("is_active"); if (state[coro] == "false") at[coro] = get("site_text") }
type == "wake" {
	split(name[coro], woken, " ")
	split(name[get("by")], waker, " ")
	wakes++
	bad += woken[1] == waker[1] || (woken[2] != waker[2] && woken[1] != "hang")
}
END {
	print "births", births, "deaths", deaths
	print (wakes > 1000 ? "many wakes, " : wakes " wakes, ") bad + 0 " by others"
	for (coro in name) {
		if (!(coro in dead))
			print "left", name[coro], state[coro], at[coro], spawned[coro]
		if (name[coro] == "hang up")
			print "hang up is of", name[parent[coro]]
	}
}
AWK
awk -f "$tmp/look.awk" "$tmp/lost" | sort >"$tmp/seen"
waits="examples/lostwake.rs:$(line 'connection.request.get().here()'):lostwake::Get"
made="examples/lostwake.rs:$(line 'traced_named(format!("handler'):lostwake::main"
is 'each coroutine has its last place and its wakers' "$(sed "s/<'_>//" "$tmp/seen")" "births 49 deaths 48
hang up is of client 17
left handler 17 false $waits $made
many wakes, 0 by others"

ok 'a program with coroutines that are no futures runs' "$BIN/ctp-collect" -q -o "$tmp/poll.ctp" "$bin/examples/polltrace"
is 'these coroutines take turns' "$("$BIN/ctp-tojsonl" -q -a "$tmp/poll.ctp" | sed -n '
	/"type":"transition"/s/.*"addr":"0x0*\([0-9]*\)".*"is_active":\([a-z]*\).*"coro":\([12]\).*/\3 \2 \1/p
	/"type":"wake"/s/.*"coro":\([12]\).*"by":\([12]\).*/\1 by \2/p' | paste -sd,)" \
	'1 true ,2 by 1,1 false 1,2 true ,1 by 2,2 false 1,1 true ,2 by 1,1 false 2,2 true ,1 by 2,2 false 2,1 true '

sed -n '/^\.\\" file first.rs/,/^\.Ed/p' doc/ctp-rust.3 | grep -v '^\.' >"$tmp/first.rs"
ok 'the example of the manual compiles' \
	rustc --edition 2021 -D warnings --extern ctp="$tmp/libctp.rlib" -o "$tmp/first" "$tmp/first.rs"
ok 'the example runs' "$BIN/ctp-collect" -q -o "$tmp/first.ctp" "$tmp/first"
"$BIN/ctp-tojsonl" -q -a "$tmp/first.ctp" >"$tmp/first.jsonl"
like 'the trace has the name of its coroutine' "$(cat "$tmp/first.jsonl")" '"type":"name".*"name":"the first"'
like 'it waits at its line' "$(grep '"is_active":false' "$tmp/first.jsonl")" \
	"\"$tmp/first.rs:$(grep -n 'here().await' "$tmp/first.rs" | cut -d : -f 1):core::future::pending::Pending<\(\)>\""

# --- futures within futures ----------------------------------------------------------------------------------------------------

cat >"$tmp/within.rs" <<'RS'
use ctp::TraceFutureExt;
use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

struct Nobody;

impl Wake for Nobody {
    fn wake(self: Arc<Self>) {}
}

struct Signal<'a>(&'a RefCell<Option<Waker>>);

impl Future for Signal<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        match self.0.replace(Some(cx.waker().clone())) {
            None => Poll::Pending,
            Some(_) => Poll::Ready(()),
        }
    }
}

fn main() {
    let signal = &RefCell::new(None);
    let leaf = Signal(signal).traced_named("leaf");
    let middle = async { leaf.await }.traced_named("middle");
    let mut outermost = Box::pin(async { middle.await }.traced_named("outermost"));
    let mut waker = Box::pin(async { signal.borrow().iter().for_each(Waker::wake_by_ref) }.traced_named("waker"));
    let nobody = Waker::from(Arc::new(Nobody));
    let mut cx = Context::from_waker(&nobody);
    assert!(outermost.as_mut().poll(&mut cx).is_pending());
    assert!(waker.as_mut().poll(&mut cx).is_ready());
    assert!(outermost.as_mut().poll(&mut cx).is_ready());
}
RS
ok 'futures within futures compile' \
	rustc --edition 2021 -D warnings --extern ctp="$tmp/libctp.rlib" -o "$tmp/within" "$tmp/within.rs"
ok 'futures within futures run' "$BIN/ctp-collect" -q -o "$tmp/within.ctp" "$tmp/within"
"$BIN/ctp-tojsonl" -q -a "$tmp/within.ctp" >"$tmp/within.jsonl"
cat >"$tmp/within.awk" <<'AWK'
/"type":"name"/ { name[get("coro")] = get("name") }
/"type":"await"/ { print name[get("coro")] " awaits " name[get("target")] }
/"type":"wake"/ { print name[get("coro")] " is woken by " name[get("by")] }
AWK
sed -n '/^function get/,/^}/p' "$tmp/look.awk" >>"$tmp/within.awk"
is 'each awaits the next, and a wake of the leaf wakes all' "$(awk -f "$tmp/within.awk" "$tmp/within.jsonl")" 'middle awaits leaf
outermost awaits middle
leaf is woken by waker
middle is woken by waker
outermost is woken by waker'

# --- under an engine that knows version 1 alone -------------------------------------------------------------------------------

{
	printf 'RCRTOROC\001\000\000\000\010\000\000\000'
	head -c 9200 /dev/zero
} >"$tmp/v1"
word() { od -A n -t u8 -j "$1" -N 8 "$tmp/v1" | tr -d ' '; }
CTP_SHM_PATH=$tmp/v1 CTP_SOCK_PATH=$tmp/none CTP_MAX_STATIONS=8 "$bin/examples/polltrace" >"$tmp/said"
is 'under version 1 the output is the same' "$(cat "$tmp/said")" 'polltrace: 3 and 2 turns'
is 'two stations are used' "$(od -A n -t u4 -j 16 -N 4 "$tmp/v1" | tr -d ' ')" 2
is 'their events are in their slots' "$(word 1112) $(word 1368) $(word 1432)" '2 2 0' # seq of the first, the fifth, the sixth
is 'their deaths are recorded' "$(od -A n -t u1 -j 1040 -N 1 "$tmp/v1")$(od -A n -t u1 -j 2064 -N 1 "$tmp/v1")" '   1   1'

# --- a program that was written for coroTracer's crate ------------------------------------------------------------------------

cat >"$tmp/moved.rs" <<'RS'
use corotracer::{init_tracer, trace_future, tracer_enabled, PollTrace, TraceFutureExt, TracedFuture};
use std::future::{ready, Future, Ready};
use std::pin::Pin;
use std::task::{Context, Poll};

fn poll_one<F: Future>(mut future: Pin<&mut F>, cx: &mut Context<'_>, trace: &mut PollTrace) -> Poll<F::Output> {
    trace.on_resume();
    match future.as_mut().poll(cx) {
        Poll::Pending => {
            trace.on_pending(future.as_mut());
            Poll::Pending
        }
        Poll::Ready(output) => {
            trace.on_ready();
            Poll::Ready(output)
        }
    }
}

fn main() {
    init_tracer();
    println!("enabled {}", tracer_enabled());
    let mut probe = PollTrace::default();
    println!("probe {}", probe.is_enabled());
    probe.on_pending_addr(0xdead_beef);
    probe.on_resume();
    probe.mark_dead();
    probe.mark_dead();
    let mut wrapped: TracedFuture<Ready<u32>> = trace_future(ready(1));
    wrapped.trace_mut().on_pending_addr(2);
    let _: Ready<u32> = wrapped.into_inner();
    fn is_send<T: Send>(_: T) {}
    is_send(async {}.traced());
    let _ = poll_one::<Ready<()>>;
}
RS
ok 'a program written for coroTracer compiles' \
	rustc --edition 2021 --extern corotracer="$tmp/libctp.rlib" -o "$tmp/moved" "$tmp/moved.rs"
is 'untraced, it runs' "$("$tmp/moved" | paste -sd,)" 'enabled false,probe false'
is 'traced, its probe is enabled' "$("$BIN/ctp-collect" -q -o "$tmp/moved.ctp" "$tmp/moved" | paste -sd,)" 'enabled true,probe true'
like 'the trace has all its events' "$("$BIN/ctp-stat" -j "$tmp/moved.ctp")" '"events":3'

# --- with C in one process, and a collector that attaches later ------------------------------------------------------------------

cat >"$tmp/c.c" <<'C'
#include "ctp.h"
static struct ctp_coro co;
void c_part(void)
{
	ctp_coro_new(&co, 4711);
	ctp_coro_name(&co, "of C");
	ctp_coro_resume(&co);
	ctp_coro_suspend(&co, CTP_HERE);
}
C
cat >"$tmp/both.rs" <<'RS'
use std::io::Read;
extern "C" {
    fn c_part();
}
fn main() {
    let mut trace = ctp::PollTrace::new();
    trace.set_name("of Rust");
    trace.on_resume();
    trace.on_pending_addr(1);
    unsafe { c_part() };
    println!("ready");
    let _ = std::io::stdin().read(&mut [0]);
    drop(trace);
}
RS
ok 'the C part of a mixed program compiles' ${CC:-cc} -O2 -Isdk/c -c -o "$tmp/c.o" "$tmp/c.c"
ok 'the mixed program links' rustc --edition 2021 --extern ctp="$tmp/libctp.rlib" -C link-arg="$tmp/c.o" -C link-arg=-lgcc -o "$tmp/both" "$tmp/both.rs"
mkfifo "$tmp/in" "$tmp/out"
CTP_RECORD=1 "$tmp/both" <"$tmp/in" >"$tmp/out" &
both=$!
exec 3>"$tmp/in" 4<"$tmp/out"
read -r said <&4
is 'it runs' "$said" ready
is 'both languages share one memory' "$(for fd in /proc/$both/fd/*; do
	case $(readlink "$fd") in "/memfd:ctp (deleted)") stat -Lc %i "$fd" ;; esac
done | sort -u | wc -l)" 1
ok 'a collector attaches' "$BIN/ctp-collect" -q --once -p $both -o "$tmp/both.ctp"
exec 3>&-
wait $both
is 'it ends with status 0' $? 0
"$BIN/ctp-tojsonl" -q -a "$tmp/both.ctp" >"$tmp/both.jsonl"
is 'it finds coroutines of both languages' \
	"$(sed -n 's/.*"type":"name".*"name":"\([^"]*\)".*/\1/p' "$tmp/both.jsonl" | sort | paste -sd,)" \
	'of C,of Rust'
is 'both are suspended' "$(grep -c '"is_active":false' "$tmp/both.jsonl")" 2
# A file system without room for all: coroutines without room are untraced, and counted.
cat >"$tmp/many.rs" <<'RUST'
fn main() {
    let mut all: Vec<ctp::PollTrace> = (0..9000).map(|_| ctp::PollTrace::new()).collect();
    for trace in &mut all {
        trace.on_resume();
        trace.on_pending_addr(1);
    }
}
RUST
ok 'a program with many coroutines compiles' rustc --edition 2021 --extern ctp="$tmp/libctp.rlib" -o "$tmp/many" "$tmp/many.rs"
mkdir "$tmp/fs"
if unshare -rm true 2>/dev/null; then
	for size in 4m 512k; do
		unshare -rm sh -c 'mount -t tmpfs -o size=$1 ctp "$2/fs" && exec "$3" --ring 2048 --shm "$2/fs/m" -o "$2/m.ctp" "$2/many"' \
			- $size "$tmp" "$BIN/ctp-collect" 2>"$tmp/err"
		is "$size of room: the program ends normally" $? 0
		is 'all coroutines are counted' "$(sed -n 's/.* events, \([0-9]*\) coroutines, .* \([0-9]*\) untraced.*/\1 + \2/p' "$tmp/err" | xargs expr)" 9000
		like 'the message says what helps' "$(cat "$tmp/err")" 'untraced .no memory: make room for --shm.'
	done
else
	skip 'no namespaces of our own'
fi
done_testing
