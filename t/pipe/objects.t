#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# The state of locks, pools and queues at the end of a trace, also with losses: the report and the views of ctp-sqlite are compared
# with a model (objects.py) that computes it from the rows alone.
# Under sanitizers only in check-all: its model takes long, and other scripts run the same code there.
. t/helper/tap.sh
command -v python3 >/dev/null || skip_all "there is no python3"

known=0 rows='0 0 0'
for seed in 1 2 3 4 5 6 7 8; do
	PYTHONDONTWRITEBYTECODE=1 python3 t/helper/objects.py make $seed >"$tmp/rows.jsonl"
	PYTHONDONTWRITEBYTECODE=1 python3 t/helper/objects.py know "$tmp/rows.jsonl" >"$tmp/know.json"
	"$BIN/ctp-fromjsonl" -q "$tmp/rows.jsonl" >"$tmp/a.ctp"
	"$BIN/ctp-report" -j "$tmp/a.ctp" >"$tmp/report.json" 2>"$tmp/err"
	said=$(python3 - "$tmp/know.json" "$tmp/report.json" <<'PY'
import json, sys
know, section = json.load(open(sys.argv[1])), json.load(open(sys.argv[2]))["sections"][0]
know = {int(at, 16): ob for at, ob in know.items()}
def check(at, what, got, want):
    if got != want:
        print(f"{at:#x}: {what}: {got} and not {want}")
seen, held, unknown = set(), 0, 0
for ob in section["objects"]:
    at = int(ob["object"], 16)
    seen.add(at)
    if at not in know:
        print(f"{at:#x} is not there")
        continue
    is_so = know[at]
    for what in ("available", "room", "total", "closed", "name", "waiters"):
        check(at, what, ob[what], is_so[what])
    if is_so["holders"] is None or ob["holders"] is None:
        check(at, "holders", ob["holders"], is_so["holders"])
        unknown += 1
        continue
    listed = {h["coro"]: h["count"] for h in ob["holders"]}
    check(at, "all that is held", sum(listed.values()) + ob["held_by_others"], sum(is_so["holders"].values()))
    if not ob["held_by_others"]:
        check(at, "holders", listed, is_so["holders"])
    held += len(listed)
check(0, "objects", sorted(seen), sorted(know))
print(f"{held} {unknown}")
PY
)
	is "seed $seed: the report agrees" "$(echo "$said" | sed '$d')" ''
	known=$((known + $(echo "$said" | awk 'END { print $1 }')))
	[ -x "$BIN/ctp-sqlite" ] || continue
	"$BIN/ctp-sqlite" -q -o "$tmp/a.sqlite" "$tmp/a.ctp"
	said=$(PYTHONDONTWRITEBYTECODE=1 python3 t/helper/objects.py sqlite "$tmp/rows.jsonl" "$tmp/report.json" "$tmp/a.sqlite" 2>&1)
	is "seed $seed: the database agrees" "$(echo "$said" | sed '$d')" ''
	rows=$(echo "$rows $(echo "$said" | tail -n 1)" | awk '{ print $1 + $4, $2 + $5, $3 + $6 }')
done
ok 'there are holders to compare' [ "$known" -gt 20 ]
if [ -x "$BIN/ctp-sqlite" ]; then
	ok "there are objects, holders and reasons in databases: $rows" [ "$(echo "$rows" | awk '$1 > 40 && $2 > 20 && $3 > 40')" ]
else
	note 'ctp-sqlite was not built'
fi
done_testing
