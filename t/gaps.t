#!/bin/sh
# What was lost is unknown, for just as long as it was, on every surface: a trace with losses is made up, and what is not known of
# each of its coroutines and threads is worked out apart from the tools (gaps.py).
. t/tap.sh
command -v python3 >/dev/null || skip_all "there is no python3"

knows() { # NAME OPTION...: what the report tells of $tmp/a.ctp, and what the rows do, between times if options say so
	name=$1
	shift
	"$BIN/ctp-report" -j "$@" "$tmp/a.ctp" >"$tmp/report.json" 2>"$tmp/err"
	is "$name: losses are status 3" $? 3
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
		is "$name: so do folded stacks of time $state" \
			"$(awk '/\[unknown\] / { sum += $NF } END { printf "%d\n", sum }' "$tmp/$state.folded")" \
			"$(python3 -c 'import json, sys; print(sum(json.load(sys.stdin)["coroutines"].values()))' <"$tmp/know.json")"
	done
}

for seed in 1 2 3 4 5 6; do
	python3 t/gaps.py make $seed >"$tmp/rows.jsonl"
	"$BIN/ctp-fromjsonl" -q -o "$tmp/a.ctp" "$tmp/rows.jsonl"
	python3 t/gaps.py know "$tmp/rows.jsonl" >"$tmp/know.json"
	knows "trace $seed"
	is "trace $seed: what is lost, and of nobody" "$(python3 - "$tmp/know.json" "$tmp/report.json" <<'PY'
import json, sys
know, section = json.load(open(sys.argv[1])), json.load(open(sys.argv[2]))["sections"][0]
print([know[key] for key in ("lost", "of_nobody", "gaps")] == [section[key] for key in ("lost", "lost_of_nobody", "gaps")])
PY
)" True
	python3 t/gaps.py know "$tmp/rows.jsonl" 10000000 35000000 >"$tmp/know.json"
	knows "trace $seed, a part of it" --since 10ms --until 35ms
done
done_testing
