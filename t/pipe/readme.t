#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# Each command of the README runs; its programs compile as they stand there, and are traced; its reports are what the tools print.
# Not under sanitizers: it builds the tree.
. t/helper/tap.sh
unset CTP_RECORD HANGS
top=$PWD work=$tmp/work
PATH=$(cd "$BIN" && pwd):$PATH
mkdir "$work" "$tmp/asio" "$tmp/rust" "$tmp/stub" || exit
ln -s "$(cd "$O" && pwd)" "$work/build"
: >"$tmp/ran"

block() { # PATTERN [FILE]: the indented block that has a line like this, without the indent
	awk -v pattern="$1" '
		/^[^ ]/ { if (found) exit; text = ""; next }
		{ text = text substr($0, 5) "\n"; if ($0 ~ pattern) found = 1 }
		END { if (found) printf "%s", text }' "${2:-README}"
}
commands() { # FILE: its commands, without comments
	sed -n 's/^    \$ /    /; /^    \(ctp-\|make\|c++\|sqlite3\|babeltrace2\|man \|CTP_RECORD=\|PATH=\|\.ci\)/s/^    //p' "$1" | sed 's/  .*//'
}
ran() { printf '%s\n' "$1" >>"$tmp/ran"; }
at_work() ( cd "$work" && PATH=$tmp/stub:$PATH && sh -c "$1" ) # COMMAND
# The README's command runs. AS: what runs instead, if a number or a folder differs here.
try() { # COMMAND [AS]
	ran "$1"
	ok "$1" at_work "${2:-$1}"
}
try_if() { # PROGRAM COMMAND [AS]: the same if there is such a program
	try_needs=$1
	shift
	if command -v "$try_needs" >/dev/null; then
		try "$@"
	else
		ran "$1"
		skip "there is no $try_needs"
	fi
}

# --- what the tools print -----------------------------------------------------------------------------------------------------

# Numbers vary, except line numbers and the one that begins a line.
same() { sed 's/\([^:0-9]\)[0-9][0-9.,]*/\1N/g; s/N [mun]\{0,1\}s\([ ,)]\)/N s\1/g; s/N [mun]\{0,1\}s$/N s/'; }
transcript() { # PATTERN: runs the commands of this block; what the README has after them must be a part of what they print
	block "$1" | sed '/^$/d' >"$tmp/transcript"
	grep '^\$ ' "$tmp/transcript" | sed 's/^..//' >"$tmp/to-run"
	while read -r command; do ran "$command"; done <"$tmp/to-run"
	grep -v '^\$ \|^\.\.\.$' "$tmp/transcript" | same >"$tmp/wanted"
	at_work "$(cat "$tmp/to-run")" 2>/dev/null | same >"$tmp/printed"
	case $(cat "$tmp/printed") in *"$(cat "$tmp/wanted")"*) true ;; *) false ;; esac
}
again() { # on a busy machine a program may be delayed so long that the report differs by a line
	for _ in 1 2 3; do "$@" && return; done
	diff "$tmp/wanted" "$tmp/printed"
	return 1
}
ok "the report is what ctp-report prints now: otherwise paste that, into doc/README.zh too" again transcript 'ctp-report t.ctp.zst$'
ok 'there is a report' test "$(wc -l <"$tmp/wanted")" -ge 10
end=$(awk '/^    \$ ctp-report/ { report = 1 } report && /^$/ { print NR - 1; exit }' README)
ok 'the report fits on the first screen' test "$end" -le 26
like 'the first lines name the other language' "$(head -n 5 README)" 'doc/README.zh$'
if command -v sqlite3 >/dev/null && [ -x "$BIN/ctp-sqlite" ]; then
	ok 'the answer in SQL is what ctp-sqlite gives now' again transcript 'sqlite3 t.sqlite'
	ok 'there is an answer' test "$(wc -l <"$tmp/wanted")" -ge 1
	try "sqlite3 -cmd '.load /usr/local/lib/ctp' :memory: \"select tid, count(*) from ctp('t.ctp.zst') group by tid\"" \
		"sqlite3 -cmd '.load build/lib/ctp' :memory: \"select tid, count(*) from ctp('t.ctp.zst') group by tid\""
	mkdir "$tmp/sql"
	PYTHONDONTWRITEBYTECODE=1 python3 t/helper/objects.py make 2 | sed 's/"thing 3000"/"db pool"/' | ctp-fromjsonl -q |
		ctp-sqlite -q -o "$tmp/sql/t.sqlite"
	block 'object_waits w JOIN' | sed '/^$/d' >"$tmp/sql/query"
	ran "$(head -n 1 "$tmp/sql/query")"
	like 'who waited for a pool, and who held it' "$(cd "$tmp/sql" && sed 's/+ 2000000000/+ 0/' query | sh)" \
		'│ [0-9]+ +│ +│ [0-9]+ +│ [01] +│ [0-9]+ +│ +│ [0-9]+ +│ [01] +│'
else
	commands README | grep '^sqlite3\|^ctp-sqlite ' >>"$tmp/ran"
	skip 'there is no sqlite3, or ctp-sqlite was left out'
fi

# --- programs -----------------------------------------------------------------------------------------------------------------

# The block that begins with the include, with its statements in a main.
block 'include <ctp.h>' >"$tmp/block"
is 'the six calls are there' "$(grep -c '^ctp_coro' "$tmp/block")" 6
{
	grep '#include' "$tmp/block"
	echo 'int main(void) {'
	grep -v '#include' "$tmp/block"
	echo 'return 0; }'
} >"$tmp/six.c"
for cc in cc c++ clang; do
	command -v $cc >/dev/null || continue
	case $cc in c++) lang=c++ ;; *) lang=c ;; esac
	ok "$cc compiles the six calls without a warning" $cc -x $lang -Wall -Wextra -Werror -Isdk/c -o "$tmp/six" "$tmp/six.c"
done
ok 'with ctp.h as the first header -std=c11 works' cc -std=c11 -Wall -Wextra -Werror -Isdk/c -o "$tmp/six" "$tmp/six.c"
ctp-collect -q "$tmp/six" | ctp-tojsonl -a >"$tmp/six.jsonl"
is 'the six calls are traced as two transitions' "$(grep -c '"type":"transition"' "$tmp/six.jsonl")" 2
for type in birth name wake death; do like "and a $type" "$(cat "$tmp/six.jsonl")" "^{\"type\":\"$type\""; done

# The park function records where it was called.
{
	printf '#include <ctp.h>\nstruct task { struct ctp_coro co; };\n'
	block 'define park'
	printf 'int main(void) { struct task t; ctp_coro_new(&t.co, 1); ctp_coro_resume(&t.co);\n#line 77 "caller.c"\n'
	printf 'park(&t); ctp_coro_death(&t.co); return 0; }\n'
} >"$tmp/park.c"
ok 'the park function compiles' cc -Wall -Wextra -Werror -Isdk/c -o "$tmp/park" "$tmp/park.c"
like 'it records the place of its caller' "$(ctp-collect -q "$tmp/park" | ctp-tojsonl -a)" 'caller.c:77:main'

# The calls of a pool, for a payer that ends with both permits, and a buyer.
block ctp_object_new >"$tmp/block"
call() { grep -F -- "$1" "$tmp/block"; }
{
	printf '#include <ctp.h>\n#include <unistd.h>\nint main(void) {\nstatic int pool[1];\n'
	call ctp_object_new
	printf '{ struct ctp_coro co; ctp_coro_new(&co, 1); ctp_coro_name(&co, "payer"); ctp_coro_resume(&co);\n'
	call 'pool, 1)'
	call 'pool, -1'
	call 'pool, 1)'
	printf '#line 31 "app.c"\n'
	call 'pool, 1)'
	call 'ctp_object('
	printf 'ctp_coro_death(&co); }\n{ struct ctp_coro co; ctp_coro_new(&co, 2); ctp_coro_name(&co, "buyer"); ctp_coro_resume(&co);\n'
	call ctp_coro_waits_for
	printf 'ctp_coro_suspend(&co, CTP_HERE); }\nsleep(2); return 0; }\n'
} >"$tmp/pool.c"
ok 'the calls of a pool compile' cc -Wall -Wextra -Werror -Isdk/c -o "$tmp/pool" "$tmp/pool.c"
without_times() { tr -s '\n ' ' ' | sed 's/ for [0-9.]* s/ for N s/g; s/^ //; s/ $//'; }
wanted=$(block 'buyer .#2. waits' | sed '/^$/d' | without_times)
ok 'the README has a line of the report for it' test "$wanted"
is 'ctp-report prints the same' "$(ctp-collect -q "$tmp/pool" | ctp-report | without_times | grep -oF -- "$wanted")" "$wanted"
block 'ctp_coro_wake, ctp::wake' | sed 's/  .*//; s/, /\n/; s/ctp:://' | sed '/^$/d' >"$tmp/calls"
ok 'there is a table of calls' test "$(wc -l <"$tmp/calls")" -ge 15
is 'each call is in the SDK' "$(while read -r name; do grep -qw "$name" sdk/c/ctp.h sdk/c++/ctp.hpp || echo "$name"; done <"$tmp/calls")" ''

block 'include <ctp.hpp>' | awk '
	/as before/ && ++n == 1 {
		print "task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }"
		print "std::suspend_always initial_suspend() { return {}; }"
		print "std::suspend_never final_suspend() noexcept { return {}; }"
		print "void return_void() {}"
		print "void unhandled_exception() {}"
		next
	}
	/as before/ { print "std::coroutine_handle<promise_type> h;"; next }
	{ print }' >"$tmp/task.cpp"
{
	printf 'static task work()\n{\n#line 88 "work.cpp"\n\tco_await std::suspend_always();\n}\n'
	printf 'int main()\n{\n\tauto handle = work().h;\n\thandle.resume();\n'
	block 'ctp::wake.handle'
	printf '\thandle.resume();\n}\n'
} >>"$tmp/task.cpp"
if echo '#include <coroutine>' | c++ -std=c++20 -x c++ -E - >/dev/null 2>&1; then
	ok 'the program in C++ compiles' c++ -std=c++20 -Wall -Wextra -Werror -Isdk/c++ -o "$tmp/task" "$tmp/task.cpp"
	ctp-collect -q "$tmp/task" | ctp-tojsonl -a >"$tmp/task.jsonl"
	like 'it is traced with the place of its co_await' "$(cat "$tmp/task.jsonl")" 'work.cpp:88:'
	like 'its wake is traced' "$(cat "$tmp/task.jsonl")" '^{"type":"wake"'
else
	skip 'there is no compiler for C++20'
fi

cat >"$tmp/asio/server.cpp" <<'CPP'
#include <asio.hpp>
static asio::awaitable<void> nap()
{
	asio::steady_timer timer(co_await asio::this_coro::executor, std::chrono::milliseconds(1));
	co_await timer.async_wait(asio::use_awaitable);
}
int main()
{
	asio::io_context context;
	asio::co_spawn(context, nap(), asio::detached);
	context.run();
}
CPP
asio='c++ -std=c++20 -include ctp-asio.hpp -o server server.cpp -pthread'
ran "$asio"
if c++ -std=c++20 -E "$tmp/asio/server.cpp" >/dev/null 2>&1; then
	ok "$asio" env CPATH="$top/sdk/c++" sh -c "cd '$tmp/asio' && $asio"
	like 'a program with Asio is traced' "$(ctp-collect -q "$tmp/asio/server" | ctp-tojsonl -a)" 'server.cpp:5:nap'
else
	skip 'there is no Asio'
fi

block TraceFutureExt >"$tmp/block"
rust() { grep -F -- "$1" "$tmp/block"; }
mkdir "$tmp/rust/src" || exit
{
	printf '[package]\nname = "server"\nversion = "0.1.0"\nedition = "2021"\n'
	sed -n '/^\[dependencies\]/,/^ctp/p' "$tmp/block" | sed "s,/usr/local/share/ctptools/rust,$top/sdk/rust,"
} >"$tmp/rust/Cargo.toml"
cat >"$tmp/rust/src/main.rs" <<RUST
$(rust 'use ctp')
use std::{future::Future, pin::Pin, sync::Arc, task::{Context, Poll, Wake, Waker}};

struct Later(bool);
impl Future for Later {
	type Output = ();
	fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
		if std::mem::replace(&mut self.0, true) { Poll::Ready(()) } else { Poll::Pending }
	}
}
async fn read(connection: u32) -> u32 {
	Later(false).await;
	connection
}
async fn handle(connection: u32) {
	$(rust 'let request')
	assert_eq!(request, connection);
}
struct Nothing;
impl Wake for Nothing {
	fn wake(self: Arc<Self>) {}
}
fn spawn(future: impl Future<Output = ()>) {
	let (mut future, waker) = (Box::pin(future), Waker::from(Arc::new(Nothing)));
	while future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending() {}
}
fn main() {
	let connection = 1;
	$(rust spawn)
}
RUST
if command -v cargo >/dev/null && command -v rustc >/dev/null; then
	ok 'the program in Rust compiles' cargo build --offline -q --manifest-path "$tmp/rust/Cargo.toml" --target-dir "$tmp/rust/target"
	ctp-collect -q "$tmp/rust/target/debug/server" | ctp-tojsonl -a >"$tmp/rust.jsonl"
	like 'it is traced with its name' "$(cat "$tmp/rust.jsonl")" '"name":"connection"'
	line=$(grep -n 'let request' "$tmp/rust/src/main.rs" | cut -d : -f 1)
	like 'it is traced with the line of its await' "$(cat "$tmp/rust.jsonl")" "main.rs:$line:"
	ok 'the crate ctp-tokio is at the given path' test -f sdk/rust/tokio/Cargo.toml
	mkdir -p "$tmp/rust-tokio/src" "$tmp/rust-tokio/.cargo"
	{
		printf '[package]\nname = "server"\nversion = "0.1.0"\nedition = "2021"\n'
		block ctp-tokio | sed "s,/usr/local/share/ctptools/rust,$top/sdk/rust,"
	} >"$tmp/rust-tokio/Cargo.toml"
	cat >"$tmp/rust-tokio/src/main.rs" <<-'RUST'
	use std::sync::Arc;
	use tokio::sync::Mutex;
	use tokio::time::{sleep, Duration};

	async fn pay(from: Arc<Mutex<u32>>, to: Arc<Mutex<u32>>) {
	    let _from = from.lock().await;
	    sleep(Duration::from_millis(20)).await;
	    *to.lock().await += 1;
	}

	#[tokio::main]
	async fn main() {
	    let (a, b) = (Arc::new(Mutex::new(0)), Arc::new(Mutex::new(0)));
	    tokio::spawn(pay(a.clone(), b.clone()));
	    tokio::spawn(pay(b, a));
	    sleep(Duration::from_millis(1500)).await;
	    std::process::exit(0); // the runtime would drop the tasks, and with them their guards
	}
	RUST
	cargo_tokio() ( cd "$tmp/rust-tokio" && CARGO_TARGET_DIR=$tmp/rust-tokio/target cargo "$@" --offline -q )
	cargo_tokio metadata --format-version 1 >/dev/null 2>&1 || # the sources may be those of the system's packages
		printf '[source.crates-io]\nreplace-with = "installed"\n[source.installed]\ndirectory = "%s"\n' \
			/usr/share/cargo/registry >"$tmp/rust-tokio/.cargo/config.toml"
	if cargo_tokio metadata --format-version 1 >/dev/null 2>&1; then
		ok 'a program with tokio compiles' cargo_tokio build
		ctp-collect -q -o "$tmp/tokio.ctp" "$tmp/rust-tokio/target/debug/server"
		like 'the report finds its deadlock' "$(ctp-report "$tmp/tokio.ctp")" 'src/main.rs:8:tokio::sync::Mutex::lock  .wait-cycle'
	else
		skip 'cargo has no tokio'
	fi
else
	skip 'there is no cargo with rustc'
fi

# --- a server that loses a wake, and hangs if asked to -------------------------------------------------------------------

cat >"$tmp/server.c" <<'C'
#define main lostwake
#include "sdk/c/examples/lostwake.c"
#undef main
#include <stdlib.h>
#include <unistd.h>
int main(void)
{
	lostwake();
	alarm(600); /* it is gone some time later, even if this test is killed */
	if (getenv("HANGS"))
		pause();
	return 0;
}
C
ok 'the example is compiled as a server' cc -D_GNU_SOURCE -O2 -g -pthread -Isdk/c -I. -o "$work/server" "$tmp/server.c"
cp "$work/server" "$work/tests"
printf '#!/bin/sh\nshift\nexec sh -c "$*"\n' >"$tmp/stub/ssh" # HOST COMMAND, here
chmod +x "$tmp/stub/ssh"
found='likely: 1 coroutine suspended at .*lostwake.c:[0-9]*:handler_step'

# It hangs once its last line is printed.
mkfifo "$tmp/said" || exit
recorded='CTP_RECORD=1 ./server --port 8080'
ran "$recorded"
(cd "$work" && HANGS=1 exec sh -c "exec env $recorded") >"$tmp/said" &
pid=$!
while read -r line; do case $line in *': lost handler'*) break ;; esac done <"$tmp/said"
try 'ctp-collect -l'
like 'the list has the server' "$tap_said" "(^| )$pid recording .* \./server"
try 'ctp-collect -p PID --once -o t.ctp.zst' "ctp-collect -p $pid --once -o t.ctp.zst"
try 'ctp-report t.ctp.zst'
like 'the report has the handler that hangs' "$tap_said" "$found"
try 'ctp-collect -p PID -o t.ctp.zst' "timeout --preserve-status 4 ctp-collect -p $pid -o t.ctp.zst"
ok 'the server still runs' kill "$pid"
wait "$pid" 2>/dev/null

block 'failed=0' >"$tmp/ci.sh"
grep '^ctp-' "$tmp/ci.sh" >>"$tmp/ran"
ci() { (cd "$work" && env "$@" sh ci.sh) >"$tmp/ci" 2>&1; } # [VARIABLE=VALUE]
for seconds in 5 60; do # a minute is for a very busy machine
	sed "s/ 60 / $seconds /" "$tmp/ci.sh" >"$work/ci.sh"
	ci HANGS=1
	status=$?
	! grep -q "$found" "$tmp/ci" || break
done
is 'CI fails if a test hangs' $status 1
like 'the report says where it hangs' "$(cat "$tmp/ci")" "$found"
ci
is 'CI fails if a test leaves a stuck coroutine' $? 1
cat >"$tmp/good.c" <<'END'
#include <ctp.h>
int main(void)
{
	struct ctp_coro co = {0};
	ctp_coro_new(&co, 1);
	ctp_coro_resume(&co);
	ctp_coro_death(&co);
	return 0;
}
END
ok 'a test without a hang compiles' cc -Isdk/c -o "$work/tests" "$tmp/good.c"
ci
is 'CI passes if none hangs' $? 0
printf '#include <ctp.h>\nint main(void) { return 0; }\n' >"$tmp/untraced.c"
ok 'a test that traces nothing compiles' cc -Isdk/c -o "$work/tests" "$tmp/untraced.c"
ci
is 'CI fails if nothing is traced' $? 1
printf '#!/bin/sh\nexit 7\n' >"$work/tests"
ci
is 'CI fails if a test fails' $? 1

# --- the other commands -------------------------------------------------------------------------------------------------------

ran 'PATH=$PWD/build/bin:$PATH'
is 'the PATH has the tools' "$(cd "$work" && PATH=$PWD/build/bin:$PATH && command -v ctp-report)" "$work/build/bin/ctp-report"
try 'ctp-collect -o t.ctp.zst ./server --port 8080'
try_if ctp-tohtml 'ctp-tohtml -o t.html t.ctp.zst'
try 'ctp-stat t.ctp.zst'
try_if zstd 'ctp-collect ./server --port 8080 | zstd > t.ctp.zst'
try "ctp-collect ./server --port 8080 | ssh host 'cat > t.ctp'"
ok 'the result is a trace' ctp-stat "$work/t.ctp"
# shellcheck disable=SC2016
try 'ctp-diff --fail-on worse before?.ctp -- after?.ctp' \
	'for i in 1 2 3 4 5 6; do cp t.ctp before$i.ctp; cp t.ctp after$i.ctp; done; ctp-diff --fail-on worse before?.ctp -- after?.ctp'
try 'ctp-collect ./server --port 8080 | ctp-tojsonl'
try_if jq "ctp-tojsonl t.ctp.zst | jq -c 'select(.is_active)'"
try 'ctp-tojsonl -a --symbols t.ctp.zst'
try 'ctp-tocsv -o t.csv t.ctp.zst'
try_if babeltrace2 'ctp-toctf -o t.ctf t.ctp.zst; babeltrace2 t.ctf'
try_if babeltrace2 'babeltrace2 t.ctp.zst' 'BABELTRACE_PLUGIN_PATH=build/plugins babeltrace2 t.ctp.zst'
try 'ctp-report --folded=suspended t.ctp.zst > t.folded'

# In the list of tools a command is only a name.
sed -n '/^The tools/,/^Some commands/s/^    //p' README | grep -o 'ctp-[a-z]*' | sort -u >"$tmp/tools"
is 'the list has each tool' "$(cat "$tmp/tools")" "$(cd tools && ls ctp-*.c | sed 's/\.c$//' | sort)"
cat "$tmp/tools" >>"$tmp/ran"
ok 'the list has the header for ppt' grep -q '^    ctp-ppt .*sdk/ppt' README

cat README doc/CONTRIBUTING >"$tmp/both"
commands "$tmp/both" | grep '^make\|^man\|^\.ci' | sort -u >"$tmp/targets"
make -pnq NODEPS=1 2>/dev/null >"$tmp/rules"
while read -r program target variables; do
	ran "$program${target:+ $target}${variables:+ $variables}"
	# shellcheck disable=SC2086
	case $program in
	make) ok "make $target $variables is a target" grep -q "^${target:-all}:" "$tmp/rules" ;;
	man) ok "man $target $variables is a manual" test -f "${variables:+doc/}${variables:-$target}${variables:+.$target}" ;;
	*) ok "$program can be run" test -x "$program" ;;
	esac
done <"$tmp/targets"

commands "$tmp/both" | sort -u >"$tmp/commands"
ok 'there are many commands' test "$(wc -l <"$tmp/commands")" -gt 40
is 'each command of README and CONTRIBUTING is run here' "$(sort -u "$tmp/ran" | comm -13 - "$tmp/commands")" ''
is 'each command that is run here is in README or CONTRIBUTING' \
	"$(sort -u "$tmp/ran" | comm -23 - "$tmp/commands" | grep -vxFf "$tmp/tools")" ''
is 'doc/CONTRIBUTING has each folder of the library, and no other' \
	"$(sed -n 's,^    \(lib/[a-z]*\) .*,\1,p' doc/CONTRIBUTING | sort)" "$(find lib -mindepth 1 -maxdepth 1 -type d | sort)"
is 'no line is too long' "$(awk 'length > 132' README doc/CONTRIBUTING)" ''

# ctptools(7), where readers of the manuals begin.
for page in doc/ctp*.[0-9]; do
	[ "$page" != doc/ctptools.7 ] || continue
	name=${page##*/}
	ok "ctptools.7 leads to $name" grep -q "^\.It Xr ${name%.*} ${name##*.}\$" doc/ctptools.7
done

done_testing
