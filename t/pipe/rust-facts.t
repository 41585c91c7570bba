#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# The Rust probe's records of what futures wait for, how much of it there is, and which of them holds it: first of a program that calls
# the probe itself, then of tokio's locks, channels and timers in the wrappers of sdk/rust/tokio.
# Not under sanitizers: it compiles its programs itself.
. t/helper/tap.sh
command -v cargo >/dev/null && command -v rustc >/dev/null || skip_all 'there is no cargo with rustc'
unset CTP_RECORD CTP_SHM_PATH CTP_SOCK_PATH CTP_MAX_STATIONS

# The facts of a trace as lines. Objects have their names, or else their places.
cat >"$tmp/told.awk" <<'AWK'
function get(key,    text) {
	if (!match($0, "\"" key "\":(\"[^\"]*\"|[^,}]*)"))
		return ""
	text = substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 3)
	gsub(/"/, "", text)
	return text
}
function called() { return object[get("object")] }
function line(    parts) { split(get("site_text"), parts, ":"); return parts[2] }
/"type":"@/ { next }
/"type":"name"/ { name[get("coro")] = get("name") }
/"type":"object_name"/ { object[get("object")] = get("name"); print get("name") " is made at line " made[get("object")] }
/"type":"object"/ && /"marks":"[a-z ]*made/ { made[get("object")] = line(); object[get("object")] = "that of line " line() }
/"type":"object"/ && !/"for":"none"/ { if (get("object") in object) print called() " has " get("available") " " get("for") }
/"type":"object"/ && /"for":"none"/ { print called() " is " get("marks") }
/"type":"reason"/ { print name[get("coro")] " waits for " get("count") " " get("for") (called() == "" ? "" : " of " called()) ", " get("marks") }
/"type":"hold"/ { print name[get("coro")] " holds " get("count") " of " called() }
/"type":"wake_for"/ { print name[get("coro")] " is woken for " called() }
/"type":"transition"/ && /"is_active":false/ { print name[get("coro")] " is suspended at line " line() }
AWK
trace() { # PROGRAM ARG...: leaves the facts of the trace in $tmp/told
	"$BIN/ctp-collect" -q -o "$tmp/t.ctp" "$@" >"$tmp/said" 2>&1 || return 1
	"$BIN/ctp-tojsonl" -q -a "$tmp/t.ctp" | awk -f "$tmp/told.awk" >"$tmp/told"
}
only() { grep -E "$1" "$tmp/told"; }
report() { "$BIN/ctp-report" "$tmp/t.ctp" | tr -s '\n ' ' '; } # on one line
visit() { # PROGRAM ARG...: a collector attaches at the end of a program that recorded
	CTP_RECORD=1 "$@" stay <"$tmp/in" >"$tmp/out" &
	visited=$!
	exec 5>"$tmp/in" 6<"$tmp/out"
	read -r said <&6
	"$BIN/ctp-collect" -q --once -p $visited -o "$tmp/t.ctp"
	exec 5>&- 6<&-
	wait $visited
}
mkfifo "$tmp/in" "$tmp/out"
line_of() { grep -nF "$1" "$2" | head -n 1 | cut -d : -f 1; }

# --- a program that calls the probe itself ------------------------------------------------------------------------------------

cat >"$tmp/own.rs" <<'RS'
use ctp::{waits, Hold, Kind, Object, Reason, TaskRef, TraceFutureExt};
use std::cell::{Cell, RefCell};
use std::future::{pending, Future};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::sleep;
use std::time::{Duration, Instant};

struct Lock {
    object: Object,
    is_free: Cell<bool>,
}

struct Get<'a>(&'a Lock);

impl<'a> Future for Get<'a> {
    type Output = Hold;

    fn poll(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Hold> {
        if !self.0.is_free.replace(false) {
            return Poll::Pending;
        }
        let hold = self.0.object.hold(1);
        self.0.object.available(0);
        Poll::Ready(hold)
    }
}

impl Lock {
    #[track_caller]
    fn new() -> Lock {
        Lock { object: Object::new(Kind::Lock, 1), is_free: Cell::new(true) }
    }

    #[track_caller]
    fn get(&self) -> impl Future<Output = Hold> + '_ {
        Get(self).here_for(Reason::of(&self.object, 1))
    }
}

/// In vain once.
struct GivesWay(bool);

impl Future for GivesWay {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}

struct Nobody;

impl Wake for Nobody {
    fn wake(self: Arc<Self>) {}
}

type Task = Pin<Box<dyn Future<Output = ()>>>;

fn turns(tasks: &mut [Task]) {
    let nobody = Waker::from(Arc::new(Nobody));
    for _ in 0..3 {
        for task in tasks.iter_mut() {
            let _ = task.as_mut().poll(&mut Context::from_waker(&nobody));
        }
    }
}

async fn both(first: Rc<Lock>, second: Rc<Lock>) {
    let _first = first.get().await;
    GivesWay(false).await;
    let _second = second.get().await;
}

/// Ends, and leaves what it holds to nobody.
async fn leaks(slots: Rc<Object>) {
    std::mem::forget(slots.hold(1));
    slots.available(0);
}

fn main() {
    let (a, b) = (Rc::new(Lock::new()), Rc::new(Lock::new()));
    a.object.set_name("a");
    let hold = RefCell::new(None);
    let hold: &'static RefCell<Option<Hold>> = Box::leak(Box::new(hold));
    let pool = Object::new(Kind::Permits, 3).named("pool").owned();
    let slots = Rc::new(Object::new(Kind::Permits, 1).named("slots").owned());
    let mut tasks: Vec<Task> = vec![
        Box::pin(both(a.clone(), b.clone()).traced_named("ab")),
        Box::pin(both(b, a).traced_named("ba")),
        Box::pin(pending().here_for(Reason::until(Instant::now() + Duration::from_millis(200))).traced_named("late")),
        Box::pin(pending().here_for(Reason::fd(0, 1).rests()).traced_named("reader")),
        Box::pin(
            async move {
                *hold.borrow_mut() = Some(pool.hold(3));
                pool.available(0);
                waits(Reason::until_ns(u64::MAX).cancellable().timed());
                pending().await
            }
            .traced_named("giver"),
        ),
        Box::pin(
            async move {
                hold.borrow_mut().as_mut().unwrap().hand(TaskRef::current());
                pending().await
            }
            .traced_named("taker"),
        ),
    ];
    let nobody = Waker::from(Arc::new(Nobody));
    let mut leaker = Box::pin(leaks(slots.clone()).traced_named("leaker"));
    assert!(leaker.as_mut().poll(&mut Context::from_waker(&nobody)).is_ready());
    tasks.push(Box::pin(async move { pending().here_for(Reason::of(&slots, 1)).await }.traced_named("starved")));
    turns(&mut tasks);
    sleep(Duration::from_millis(1500));
    if std::env::args().any(|arg| arg == "stay") {
        println!("all is over");
        let _ = std::io::stdin().read_line(&mut String::new());
    }
    std::mem::forget(tasks);
}
RS
alone='--edition 2021 --crate-type rlib --crate-name ctp'
ok 'rustc compiles the library' rustc $alone -o "$tmp/libctp.rlib" sdk/rust/src/lib.rs
ok 'a program that reports what it waits for compiles' \
	rustc --edition 2021 -D warnings --extern ctp="$tmp/libctp.rlib" -o "$tmp/own" "$tmp/own.rs"
ok 'it runs without a collector' "$tmp/own"
ok 'it runs with a collector' trace "$tmp/own"
made=$(line_of '= (Rc::new(Lock::new())' "$tmp/own.rs")
second=$(line_of '_second = second.get()' "$tmp/own.rs")
is 'locks are recorded' "$(only '^(a|ab|ba|that) ' | grep -v permits)" "that of line $made has 1 lock
that of line $made has 1 lock
a is made at line $made
ab holds 1 of a
a has 0 lock
ab is suspended at line $(line_of 'traced_named("ab")' "$tmp/own.rs")
ba holds 1 of that of line $made
that of line $made has 0 lock
ba is suspended at line $(line_of 'traced_named("ba")' "$tmp/own.rs")
ab waits for 1 lock of that of line $made, none
ab is suspended at line $second
ba waits for 1 lock of a, none
ba is suspended at line $second
ab waits for 1 lock of that of line $made, none
ab is suspended at line $second
ba waits for 1 lock of a, none
ba is suspended at line $second"
is 'a deadline and a descriptor are recorded' "$(only '^(late|reader) waits' | sort -u)" 'late waits for 1 timer, none
reader waits for 1 descriptor, rests'
is 'permits that are handed on are recorded' \
	"$(only '^(pool|giver|taker) (has|is made|holds|waits)' | sort -u)" "giver holds -3 of pool
giver holds 3 of pool
giver waits for 1 timer, timed cancellable
pool has 0 permits
pool has 3 permits
pool is made at line $(line_of 'named("pool")' "$tmp/own.rs")
taker holds 3 of pool"
like 'the report proves the circle' "$(report)" 'PROVED: 2 coroutines wait for one another in a circle'
like 'the report finds the late timer' "$(report)" '1 coroutine waits at [^ ]* for a timer that is long past due'

like 'the report finds the permit of an ended task' "$(report)" "1 coroutine waits at [^ ]* for 'slots', held by a coroutine that has ended"
ok 'it runs with a collector that attaches at the end' visit "$tmp/own"
like 'that collector gives a proved circle' "$(report)" 'PROVED: 2 coroutines wait for one another in a circle'
like 'the holders of its locks are known' "$(report)" "ba \(#[0-9]*\) waits for 'a', held by ab \(#[0-9]*\)"
like 'the permit of an ended task is found' "$(report)" "1 coroutine waits at [^ ]* for 'slots', held by a coroutine that has ended"

sed -n '/^Here is a program that waits/,/^\.Ed/p' doc/ctp-rust.3 | grep -v '^\.\|^Here' >"$tmp/worker.rs"
ok 'the example of the manual compiles' \
	rustc --edition 2021 -D warnings --extern ctp="$tmp/libctp.rlib" -o "$tmp/worker" "$tmp/worker.rs"
ok 'the example runs' trace "$tmp/worker"
is 'the trace has what it waits for' "$(only 'jobs')" "jobs is made at line $(line_of 'Object::new' "$tmp/worker.rs")
worker waits for 1 item of jobs, none
jobs is gone"

ok 'the library compiles with tracing disabled' rustc $alone --cfg 'feature="off"' -o "$tmp/liboff.rlib" sdk/rust/src/lib.rs
ok 'the program compiles with tracing disabled' \
	rustc --edition 2021 -D warnings --extern ctp="$tmp/liboff.rlib" -o "$tmp/none" "$tmp/own.rs"
ok 'it runs with tracing disabled' "$tmp/none"

# --- tokio --------------------------------------------------------------------------------------------------------------------

# A package beside the build, so that the next run finds tokio compiled. Its sources are those that cargo has, or those that a
# system's packages have installed.
package=$O/rust-facts/package
installed=/usr/share/cargo/registry
mkdir -p "$package"
here=$PWD
cat >"$package/Cargo.toml" <<TOML
[package]
name = "facts"
version = "0.1.0"
edition = "2021"

[features]
off = ["ctp-tokio/off"]

[dependencies]
ctp = { path = "$here/sdk/rust" }
ctp-tokio = { path = "$here/sdk/rust/tokio", features = ["rt"] }
tokio = { version = "1.24", features = ["macros", "rt-multi-thread", "sync", "time"] }

[[bin]]
name = "facts"
path = "$here/t/helper/rust-facts.rs"

[workspace]
TOML
config=$O/rust-facts/.cargo/config.toml
target=$(cd "$O/rust-facts" && pwd)/target
run_cargo() ( # SUBCOMMAND ARG...
	run_what=$1
	shift
	cd "$package" && CARGO_TARGET_DIR=$target cargo "$run_what" --offline -q "$@"
)
has_tokio() { run_cargo metadata --format-version 1 >"$tmp/metadata" 2>&1; }
rm -f "$package/Cargo.lock" "$config"
if ! has_tokio; then
	mkdir -p "${config%/*}"
	printf '[source.crates-io]\nreplace-with = "installed"\n[source.installed]\ndirectory = "%s"\n' "$installed" >"$config"
	if ! has_tokio; then
		skip 'cargo has no tokio'
		done_testing
	fi
fi
source=t/helper/rust-facts.rs
ok 'a program with the wrappers of tokio compiles' run_cargo build
facts=$target/debug/facts
all='deadlock pool leak tokens queue timers elsewhere race readers asleep spawned crowd'
is 'without a collector it works' "$(for which in $all; do "$facts" $which; done | sort | paste -sd,)" \
	"$(for which in $all; do echo "$which is over"; done | sort | paste -sd,)"

ok 'a program with two locks in two orders is traced' trace "$facts" deadlock
auditor=$(line_of '// the auditor' $source) payer=$(line_of '// the payer' $source)
journal=$(line_of 'let journal =' $source)
is 'the trace has what each task holds and waits for' \
	"$(only 'holds|waits|at line ('"$auditor|$payer"')$')" "payer holds 1 of accounts
auditor holds 1 of that of line $journal
payer waits for 1 lock of that of line $journal, cancellable
payer is suspended at line $payer
auditor waits for 1 lock of accounts, cancellable
auditor is suspended at line $auditor"
like 'the report finds the circle' "$(report)" "likely: 2 coroutines wait for one another in a circle, at [^ ]*:$payer:[^ ]* and [^ ]*:$auditor:"
like 'it names one lock and its holder' "$(report)" "auditor \(#[0-9]*\) waits for 'accounts', held by payer \(#[0-9]*\)"
like 'it names the other lock by its place' "$(report)" "payer \(#[0-9]*\) waits for the lock made at [^ ]*$source:$journal, held by auditor \(#[0-9]*\)"

ok 'a collector attaches at the end of that program' visit "$facts" deadlock
like 'that report finds the circle' "$(report)" "likely: 2 coroutines wait for one another in a circle, at [^ ]*:$payer:[^ ]* and [^ ]*:$auditor:"
like 'it names the lock and its holder' "$(report)" "auditor \(#[0-9]*\) waits for 'accounts', held by payer \(#[0-9]*\)"
like 'it names the other lock' \
	"$(report)" "payer \(#[0-9]*\) waits for the lock made at [^ ]*$source:$journal, held by auditor \(#[0-9]*\)"

ok 'a program with a pool is traced' trace "$facts" pool
is 'the permits of the pool are recorded' "$(only 'db pool' | grep -v 'is made')" 'holder holds 2 of db pool
holder holds 1 of db pool
db pool has 0 permits
waiter waits for 2 permits of db pool, cancellable
holder holds -2 of db pool
db pool has 2 permits
waiter is woken for db pool
db pool has 0 permits
holder holds -1 of db pool
db pool has 1 permits
waiter holds 2 of db pool
db pool has 1 permits
last holds 1 of db pool
db pool has 0 permits
last waits for 1 permits of db pool, cancellable
waiter holds -2 of db pool
db pool has 1 permits
db pool is closed
last holds -1 of db pool
db pool is gone'

for how in trace visit; do
	ok "a pool whose permits are forgotten, for a collector to $how" $how "$facts" leak
	like 'forgotten permits are missing for ever' "$(report)" "1 coroutine waits at [^ ]* for 'connections', held by a coroutine that has ended"
	ok "one to which permits are added, to $how" $how "$facts" tokens
	ok 'added permits are not missing' [ "$(report | grep -c 'has ended')" = 0 ]
done
is 'after permits are added, no task is named as their holder' \
	"$(trace "$facts" tokens; only 'request holds' | awk '{ sum += $3; n++ } END { print sum, (n >= 8) }')" '0 1'

ok 'a program with a queue is traced' trace "$facts" queue
is 'the queue is empty, then full' "$(only 'jobs' | sed 6q)" "jobs is made at line $(line_of 'named("jobs")' $source)
worker waits for 1 item of jobs, cancellable
jobs has 1 item
worker is woken for jobs
jobs has 0 room
producer waits for 1 room of jobs, cancellable"
is 'the queue is closed then' "$(only 'jobs' | tail -n 4)" 'jobs is closed
jobs has 1 room
jobs has 0 item
jobs is gone'
is 'a queue closed by its receiver is recorded' "$(only 'notes' | tail -n 3)" 'notes has 1 item
notes is closed
notes is gone'

ok 'a program with timers is traced' trace "$facts" timers
is 'the deadlines of two sleeps are recorded' \
	"$(only '^sleeper waits' | sort | uniq -c | tr -s ' ')" ' 2 sleeper waits for 1 timer, cancellable'
is 'a time-out is recorded, and marks the wait inside it' "$(only '^impatient (waits|is sus)')" "impatient waits for 1 lock of busy, timed cancellable
impatient waits for 1 timer, cancellable
impatient is suspended at line $(line_of 'spawn("impatient"' $source)"

ok 'a program whose guard is dropped by another task is traced' trace "$facts" elsewhere
is 'the lock is held by the task that locked it until then' "$(only 'baton' | grep -v 'is made')" 'giver holds 1 of baton
baton has 0 lock
giver holds -1 of baton
baton has 1 lock
baton is gone'

ok 'a program with a select is traced' trace "$facts" race
is 'the branch that lost is not waited for afterwards' \
	"$(only '^racer (waits|is sus)')" "racer waits for 1 item of lost, cancellable
racer waits for 1 event of won, cancellable
racer is suspended at line $(line_of 'changed = went.changed()' $source)
racer is suspended at line $(line_of 'tokio::spawn(future.traced_named' $source)"

ok 'a program with readers and a writer is traced' trace "$facts" readers
is 'a condition is recorded' "$(only '^(writer|late) ' | grep -v suspended)" 'writer waits for 1 lock of table, cancellable
late waits for 1 event of done, cancellable
writer is woken for table
writer holds 1 of table
writer holds -1 of table
late is woken for done'

ok 'a program with a worker that is not woken is traced' trace "$facts" asleep
like 'the worker is found' "$(report)" "1 coroutine waits at [^ ]*::recv for what 'inbox' has, and was not woken"

ok 'a program that only spawns tasks is traced' trace "$facts" spawned
births() { "$BIN/ctp-tojsonl" -q -a "$tmp/t.ctp" | sed -n '/"type":"birth"/s/.*"site_text":"[^":]*:\([0-9]*\):.*/\1/p' | paste -sd' '; }
line() { line_of "// $1" $source; }
is 'each task is traced once' "$(births)" "$(line 'a plain task') $(line 'and one with a name') $(line 'one of a set') \
$(line_of 'tokio::spawn(future.traced_named' $source)"
sites=$("$BIN/ctp-tojsonl" -q -a "$tmp/t.ctp" | sed -n '/"is_active":false/s/.*"site_text":"[^":]*:\([0-9]*:[^"]*\)".*/\1/p' | sort | uniq -c | tr -s ' ')
is 'tasks wait in the functions that they called' "$sites" " 3 $(line_of '*lock.lock().await += 1' $source):tokio::sync::Mutex::lock
 1 $(line 'the joiner'):tokio::task::JoinSet::join_next"

ok 'a program with many tasks is traced' trace "$facts" crowd
like 'it has no findings' "$(report)" 'No findings'
is 'everything that was held is given back' "$(only 'holds' | sed 's/.* holds \([-0-9]*\) of crowded \(.*\)/\1 \2/' |
	awk '{ sum[$2] += $1; n[$2]++ } END { for (i in sum) print i, sum[i], (n[i] > 1000) }' | sort | paste -sd,)" \
	'lock 0 1,pool 0 1,table 0 1'

ok 'the program compiles with tracing disabled' run_cargo build --features off
is 'the program runs with tracing disabled' "$("$facts" crowd)" 'crowd is over'
ok 'its trace is collected' trace "$facts" crowd
is 'its trace has no facts' "$(cat "$tmp/told")" ''
if cargo clippy --version >/dev/null 2>&1; then
	ok 'clippy has nothing to say' run_cargo clippy -- -D warnings
fi
if cargo fmt --version >/dev/null 2>&1 && command -v rustfmt >/dev/null; then
	ok 'rustfmt has nothing to do' cargo fmt --check --manifest-path sdk/rust/tokio/Cargo.toml
	ok 'rustfmt changes nothing in the test' rustfmt --edition 2021 --check --config-path sdk/rust/rustfmt.toml $source
fi

# --- a program whose source does not change at all ----------------------------------------------------------------------------

mkdir -p "$package-as/src"
cat >"$package-as/Cargo.toml" <<TOML
[package]
name = "as-it-was"
version = "0.1.0"
edition = "2021"

[dependencies]
tokio = { package = "ctp-tokio", path = "$here/sdk/rust/tokio", features = ["macros", "rt-multi-thread"] }

[workspace]
TOML
cat >"$package-as/src/main.rs" <<'RS'
use std::sync::Arc;
use tokio::sync::{mpsc, Mutex};
use tokio::time::{sleep, Duration};

#[tokio::main]
async fn main() {
    let lock = Arc::new(Mutex::new(0));
    let (tx, mut rx) = mpsc::channel(1);
    let locked = lock.clone();
    tokio::spawn(async move {
        *locked.lock().await += 1;
        tx.send(()).await.unwrap();
    });
    tokio::select! {
        _ = rx.recv() => (),
        _ = sleep(Duration::from_secs(60)) => panic!("nothing came"),
    }
    println!("{} is there", lock.lock().await);
}
RS
package=$package-as
rm -f "$package/Cargo.lock"
ok 'a program in which only the dependency is changed compiles' run_cargo build
is 'that program runs' "$("$target/debug/as-it-was")" '1 is there'
ok 'that program is traced' trace "$target/debug/as-it-was"
like 'its lock is recorded' "$(cat "$tmp/told")" "that of line $(line_of 'Mutex::new(0)' "$package/src/main.rs") has 0 lock"
is 'the lock is held by a spawned task' "$(only 'holds' | sed 's/^ *//')" "holds 1 of that of line $(line_of 'Mutex::new(0)' "$package/src/main.rs")
holds -1 of that of line $(line_of 'Mutex::new(0)' "$package/src/main.rs")"
ok 'the source tree is unchanged' test ! -e sdk/rust/tokio/target -a ! -e sdk/rust/tokio/Cargo.lock
done_testing
