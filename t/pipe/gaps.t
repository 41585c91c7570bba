#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# Lost events make exactly the right time unknown, in every tool: a trace with losses is generated, and the unknown time of
# each coroutine and thread is computed independently (gaps.py).
# Under sanitizers only in check-all: its model takes long, and other scripts run the same code there.
. t/helper/tap.sh
command -v python3 >/dev/null || skip_all "there is no python3"

knows() { # NAME OPTION...: compares the report of $tmp/a.ctp with the rows, within a range of times if there are options
	name=$1
	shift
	"$BIN/ctp-report" -j "$@" "$tmp/a.ctp" >"$tmp/report.json" 2>"$tmp/err"
	is "$name: losses give status 3" $? 3
	is "$name: the report agrees" "$(python3 - "$tmp/know.json" "$tmp/report.json" <<'PY'
import json, sys
know, section = json.load(open(sys.argv[1])), json.load(open(sys.argv[2]))["sections"][0]
def check(what, got, want):
    if got != want:
        print(f"{what}: {got} and not {want}")
if not know["coroutines"]:
    print("there is no gap")
top = sorted(know["coroutines"].values(), reverse=True)[:20]
check("unknown of all", section["total_ns"]["unknown"], sum(know["coroutines"].values()))
check("the most", [co["ns"] for co in section["top"]["unknown"]], top)
for co in section["top"]["unknown"]:
    check("coroutine " + co["coro"], co["ns"], know["coroutines"].get(co["coro"], 0))
for thread in section["threads"]:
    check(f"thread {thread['tid']}", thread["unknown_ns"], know["threads"].get(str(thread["tid"]), 0))
    known = section["looked_ns"] - thread["unknown_ns"]
    check("share", thread["busy_share"], round(thread["busy_ns"] / known, 4) if known else 0)
    check("room for what is busy", thread["busy_ns"] <= known, True)
PY
)" ''
	for state in running runnable suspended; do
		"$BIN/ctp-report" -q --folded=$state --folded-unit ns "$@" "$tmp/a.ctp" >"$tmp/$state.folded"
		is "$name: folded stacks of $state time agree" \
			"$(awk '/\[unknown\] / { sum += $NF } END { printf "%d\n", sum }' "$tmp/$state.folded")" \
			"$(python3 -c 'import json, sys; print(sum(json.load(sys.stdin)["coroutines"].values()))' <"$tmp/know.json")"
	done
}

# The views of ctp-sqlite, if it was built: waits there reach from a suspension to the resume.
views() { # NAME
	[ -x "$BIN/ctp-sqlite" ] || return
	rm -f "$tmp/a.sqlite"
	"$BIN/ctp-sqlite" -q -o "$tmp/a.sqlite" "$tmp/a.ctp"
	is "$1: the views of SQLite agree" "$(python3 - "$tmp/know.json" "$tmp/report.json" "$tmp/a.sqlite" <<'PY'
import json, sqlite3, sys
know, section = json.load(open(sys.argv[1])), json.load(open(sys.argv[2]))["sections"][0]
db = sqlite3.connect(sys.argv[3])
ask = lambda text: dict(db.execute(text).fetchall())
def check(what, got, want):
    if got != want:
        print(f"{what}: {got} and not {want}")
check("coroutines", ask("select cast(coro as text), unknown_ns from coroutine_times where unknown_ns > 0"), know["coroutines"])
check("threads", ask("select cast(tid as text), unknown_ns from thread_times where unknown_ns > 0"), know["threads"])
for table in ("coroutine_times", "coroutine_states", "gaps"):
    column = "duration_ns" if table == "gaps" else "unknown_ns"
    check(table, db.execute(f"select sum({column}) from {table}").fetchone()[0], section["total_ns"]["unknown"])
total = section["total_ns"]
ran, waited = db.execute("select sum(running_ns), sum(suspended_ns) from coroutine_times").fetchone()
check("running", ran, total["running"])
check("no more waits than there are", total["suspended"] <= waited <= total["suspended"] + total["runnable"], True)
check("busy", ask("select tid, busy_ns from thread_times"), {th["tid"]: th["busy_ns"] for th in section["threads"]})
check("losses", db.execute("select lost, nobodys, gaps from loss_totals").fetchone(),
      (section["lost"], section["lost_of_nobody"], section["gaps"]))
PY
)" ''
}

for seed in 1 2 3 4 5 6; do
	python3 t/helper/gaps.py make $seed >"$tmp/rows.jsonl"
	"$BIN/ctp-fromjsonl" -q -o "$tmp/a.ctp" "$tmp/rows.jsonl"
	python3 t/helper/gaps.py know "$tmp/rows.jsonl" >"$tmp/know.json"
	knows "trace $seed"
	views "trace $seed"
	is "trace $seed: losses, and those of unknown coroutines, are counted" \
		"$(python3 - "$tmp/know.json" "$tmp/report.json" <<'PY'
import json, sys
know, section = json.load(open(sys.argv[1])), json.load(open(sys.argv[2]))["sections"][0]
print([know[key] for key in ("lost", "of_nobody", "gaps")] == [section[key] for key in ("lost", "lost_of_nobody", "gaps")])
PY
)" True
	python3 t/helper/gaps.py know "$tmp/rows.jsonl" 10000000 35000000 >"$tmp/know.json"
	knows "trace $seed, a part of it" --since 10ms --until 35ms
done
done_testing
