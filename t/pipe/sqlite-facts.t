#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# ctp-sqlite: what coroutines wait for and which of them hold it, in the views object_waits and hold_intervals, and at the end of a
# section in objects, holders and reasons.
# t/pipe/objects.t compares them with a model; here are single cases, each also compared with ctp-report.
. t/helper/tap.sh
sqlite=$BIN/ctp-sqlite from=$BIN/ctp-fromjsonl
[ -x "$sqlite" ] || skip_all 'ctp-sqlite was not built'
command -v sqlite3 >/dev/null || skip_all 'there is no sqlite3'
command -v jq >/dev/null || skip_all 'there is no jq'
command -v python3 >/dev/null || skip_all 'there is no python3'

sql() { sqlite3 "$tmp/$1.sqlite" "$2"; }
report() { "$BIN/ctp-report" -q -j "$tmp/$1.ctp"; }

# rows NAME [CLOCK]: a section of these lines, in which T is short for a transition, R for a reason and so on. What is left out is
# 0, and of a descriptor -1.
rows() {
	python3 -c '
import json, shlex, sys
sys.path.insert(0, "t/helper")
sys.dont_write_bytecode = True
from gaps import CLASSES
from objects import FACTS
FACTS["reason"][1][-1]["labels"] = {str(n): n for n in range(32)}
FACTS["object"][1][-1]["labels"] = {str(n): n for n in range(16)}
SHORT = {"B": "birth", "D": "death", "T": "transition", "R": "reason", "O": "object", "N": "object_name", "H": "hold", "W": "wake",
         "L": "lost", "M": "missed", "S": "site", "E": "end", "n": "name"}
classes = {**CLASSES, **FACTS, "name": ("name", [*CLASSES["wake"][1][:3], {"name": "name", "type": "string", "role": "name"}])}
attrs = {"pid": "700", "clock": sys.argv[1], "start_ns": "1"}
print(json.dumps({"type": "@section", "attrs": attrs}))
for name, (kind, fields) in classes.items():
    print(json.dumps({"type": "@schema", "name": name, "kind": kind, "fields": fields}))
for line in sys.stdin:
    short, *said = shlex.split(line, comments=True) or [None]
    if not short:
        continue
    row = {"type": SHORT[short]}
    for f in classes[SHORT[short]][1]:
        kind = f["type"]
        row[f["name"]] = {"string": "", "bool": False, "enum": next(iter(f.get("labels", {"": 0})))}.get(kind, 0)
        if f["name"] == "fd":
            row["fd"] = -1
        if f["name"] == "pid":
            row["pid"] = 700
    for pair in said:
        key, value = pair.split("=")
        text = isinstance(row[key], str)
        row[key] = value == "1" if isinstance(row[key], bool) else value if text else int(value, 0)
    if "coro" in row and not row["probe_id"]:
        row["probe_id"] = 9000 + row["coro"]
    print(json.dumps(row))
print(json.dumps({"type": "@end", "complete": True}))' "${2:-monotonic}" >"$tmp/$1.jsonl"
	"$from" -q "$tmp/$1.jsonl" >"$tmp/$1.ctp"
	"$sqlite" -q -o "$tmp/$1.sqlite" "$tmp/$1.ctp"
}

# same NAME: the report has the same objects, also those that it only counts.
same() {
	report "$1" | jq -r '.sections[-1].objects | sort_by(.object)[] | [.pid, .object, .name, .kind, .made_site, .available, .room, .total,
		if .closed then 1 else 0 end, if .owned then 1 else 0 end, if .holders then .held_by_others + (.holders | map(.count) | add // 0) else null end,
		.waiters, .longest_ns] | map(. // (if . == false then 0 else "" end) | tostring) | join("|")' >"$tmp/said"
	is "$1: the report agrees" "$(sql "$1" "SELECT pid, object, name, kind, made_site, available, room, total, closed, owned, held, waiters,
		longest_ns FROM objects WHERE section = (SELECT max(id) FROM sections) ORDER BY object")" "$(cat "$tmp/said")"
}

# --- complete traces ------------------------------------------------------------------------------------------------------------
rows known <<'ROWS'
S ts=1 site=5 file=pool.c line=30 function=main
S ts=1 site=6 file=serve.c line=9 function=serve
O ts=10 object=0x1000 for=lock available=1 site=5 marks=8
N ts=11 object=0x1000 name='the lock'
B ts=12 coro=1
n ts=12 coro=1 name=holder
H ts=13 coro=1 object=0x1000 count=1 site=5
O ts=14 object=0x1000 for=lock available=0
B ts=15 coro=2
n ts=15 coro=2 name=waiter
T ts=20 coro=2 index=0 is_active=1 tid=1
R ts=21 coro=2 for=lock object=0x1000 count=1 marks=2 # with a time limit
T ts=22 coro=2 index=1 tid=1 site=6
T ts=30 coro=3 index=0 is_active=1 tid=1
R ts=31 coro=3 for=timer deadline=5000
R ts=31 coro=3 for=descriptor fd=7 count=1 marks=4
T ts=32 coro=3 index=1 tid=1
T ts=40 coro=4 index=0 is_active=1 tid=1
R ts=41 coro=4 for=lock object=0x1000 count=1 # it has resumed since
T ts=42 coro=4 index=1 tid=1
T ts=43 coro=4 index=2 is_active=1 tid=1
T ts=50 coro=5 index=0 is_active=1 tid=1
R ts=51 coro=5 for=lock object=0x1000 count=1
T ts=52 coro=5 index=1 tid=1
W ts=53 coro=5 tid=1 # it was woken
T ts=60 coro=6 index=0 is_active=1 tid=1
R ts=61 coro=6 for=lock object=0x1000 count=1
T ts=62 coro=6 index=1 tid=1
L ts=63 coro=6 index=2 count=1 after=62 # its state is unknown since then
O ts=70 object=0x2000 for=lock available=1 marks=8
N ts=71 object=0x2000 name=old
H ts=72 coro=1 object=0x2000 count=1
O ts=73 object=0x2000 marks=4 # it is destroyed, and another has its address
O ts=74 object=0x2000 for=permits available=3 marks=9
O ts=80 object=0x3000 for=item available=2
O ts=81 object=0x3000 for=room available=6
O ts=82 object=0x3000 marks=2
T ts=90 coro=7 index=0 is_active=1 tid=1
R ts=91 coro=7 for=item object=0x3000 count=1 marks=25 # it may have other reasons
T ts=92 coro=7 index=1 tid=1
E ts=1000
ROWS
is 'the view objects is right' "$(sql known 'SELECT * FROM objects ORDER BY object')" \
	'1|700|0x0000000000001000|the lock|lock|pool.c:30:main|0||1|0|0|1|1|1|978|1
1|700|0x0000000000002000||permits||3||3|0|1|0|0|0|0|1
1|700|0x0000000000003000||queue||2|6|2|1|0|0|0|0|0|1'
is 'the view hold_intervals has the site of each' "$(sql known 'SELECT object_name, site, site_text FROM hold_intervals ORDER BY start_ns')" \
	"$(printf '%s\n' 'the lock|5|pool.c:30:main' 'old|0|')"
is 'the view holders is right' "$(sql known 'SELECT * FROM holders')" '1|700|0x0000000000001000|the lock|1|9001|holder|1|1|1|pool.c:30:main'
is 'the view reasons has what a coroutine still waits for' "$(sql known 'SELECT coro, name, since_ns, site_text, pid, what, object, object_name, count FROM reasons ORDER BY coro, what')" \
	'2|waiter|22|serve.c:9:serve|700|lock|0x0000000000001000|the lock|1
3||32||700|descriptor|||
3||32||700|timer|||
7||92||700|item|0x0000000000003000||1'
is 'reasons have deadlines and descriptors' \
	"$(sql known 'SELECT what, deadline_ns, fd, poll_events FROM reasons ORDER BY coro, what')" \
	'lock|||
descriptor||7|1
timer|5000||
item|||'
is 'reasons have marks' \
	"$(sql known 'SELECT coro, what, shared, timed, cancellable, rests, more FROM reasons ORDER BY coro, what')" \
	'2|lock|0|1|0|0|0
3|descriptor|0|0|1|0|0
3|timer|0|0|0|0|0
7|item|1|0|0|1|1'
same known

# --- losses -------------------------------------------------------------------------------------------------------------
rows missed <<'ROWS'
O ts=10 object=0x1000 for=lock available=1 marks=8
H ts=11 coro=1 object=0x1000 count=1
O ts=12 object=0x2000 for=permits available=4 marks=8
H ts=13 coro=1 object=0x2000 count=1
T ts=20 coro=2 index=0 is_active=1 tid=1
R ts=21 coro=2 for=lock object=0x1000 count=1
T ts=22 coro=2 index=1 tid=1
M ts=30 tid=1 count=1 after=25
T ts=40 coro=3 index=0 is_active=1 tid=1
R ts=41 coro=3 for=lock object=0x1000 count=1
T ts=42 coro=3 index=1 tid=1
O ts=50 object=0x2000 for=permits available=4
H ts=51 coro=3 object=0x2000 count=2
H ts=52 coro=1 object=0x1000 count=1
E ts=1000
ROWS
is 'after a loss the holders are unknown, until everything is available' "$(sql missed 'SELECT object, available, holders, held FROM objects ORDER BY object')" \
	'0x0000000000001000|||
0x0000000000002000|4|1|2'
is 'only the known holder is named then' "$(sql missed 'SELECT object, coro, count FROM holders')" '0x0000000000002000|3|2'
is 'a wait that the loss may have ended, or given other reasons, is not certain' "$(sql missed 'SELECT coro, certain FROM reasons ORDER BY coro')" '2|0
3|1'
same missed

rows taken <<'ROWS'
O ts=10 object=0x1000 for=permits available=4 marks=8
H ts=11 coro=1 object=0x1000 count=2
H ts=12 coro=2 object=0x1000 count=-1
E ts=1000
ROWS
is 'a coroutine gives back what it did not have: the records are incomplete' "$(sql taken 'SELECT holders, held, (SELECT count(*) FROM holders) FROM objects')" '||0'
same taken

# --- more holders than a report names -------------------------------------------------------------------------------------------
{
	echo 'O ts=10 object=0x1000 for=permits available=200 marks=8'
	for co in $(seq 1 100); do
		echo "H ts=$((co + 10)) coro=$co object=0x1000 count=2"
		[ "$co" -gt 90 ] || [ "$co" -le 10 ] || echo "H ts=$((co + 10)) coro=$co object=0x1000 count=-2"
	done
	echo 'E ts=1000'
} >"$tmp/many.rows"
rows many <"$tmp/many.rows"
is 'all holders of a pool are listed, and their sum' "$(sql many 'SELECT count(*), min(coro), min(count), max(count) FROM holders; SELECT holders, held FROM objects')" \
	'20|1|2|2
20|40'
same many
# --- the end ------------------------------------------------------------------------------------------------------------------
ends() { # HOW the program ends
	for co in 1 2 3 4; do
		cat <<-ROWS
			B ts=$co coro=$co
			T ts=${co}0 coro=$co index=0 is_active=1 tid=1
			R ts=${co}1 coro=$co for=event object=0x1000 count=1
			T ts=${co}2 coro=$co index=1 tid=1
		ROWS
	done
	echo 'O ts=60 object=0x1000 for=event available=0'
	[ "$1" = waiting ] || for co in 1 2 3 4; do echo "D ts=500 coro=$co after=500"; done
	echo 'E ts=1000'
}
ends waiting | rows waiting
is 'four coroutines wait for an event' \
	"$(sql waiting 'SELECT waiters, longest_ns, (SELECT count(*) FROM reasons) FROM objects')" '4|988|4'
same waiting
ends shutdown | rows shutdown
is 'if the program destroys them at its end, the moment before counts' \
	"$(sql shutdown 'SELECT waiters, longest_ns, (SELECT count(*) FROM reasons) FROM objects')" '4|488|4'
same shutdown
ends waiting | rows ordinal ordinal
is 'without a clock, no wait has a length' "$(sql ordinal 'SELECT waiters, longest_ns, (SELECT count(*) FROM reasons) FROM objects')" '||4'
head -n -2 "$tmp/waiting.jsonl" | "$from" -q >"$tmp/cut.ctp"
"$sqlite" -q -o "$tmp/cut.sqlite" "$tmp/cut.ctp"
is 'a wait that may have ended is not certain' "$(sql cut 'SELECT DISTINCT certain FROM reasons; SELECT certain, waiters FROM objects')" '0
0|4'
PYTHONDONTWRITEBYTECODE=1 python3 t/helper/objects.py make 1 | "$from" -q >"$tmp/whole.ctp"
python3 - "$tmp/whole.ctp" >"$tmp/damaged.ctp" <<'PY'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
data[len(data) // 2] ^= 1
sys.stdout.buffer.write(data)
PY
"$sqlite" -q -o "$tmp/damaged.sqlite" "$tmp/damaged.ctp" 2>/dev/null
is 'holders are unknown if a packet is missing' \
	"$? $(sql damaged 'SELECT count(holders), count(*) > 0, (SELECT count(*) FROM holders) FROM objects')" '3 0|1|0'

# --- intervals ------------------------------------------------------------------------------------------------------------------
waited='SELECT coro, name, what, object_name, start_ns, stop_ns, duration_ns, open, certain, site_text FROM object_waits ORDER BY coro, start_ns, what'
held='SELECT object, object_name, coro, name, count, start_ns, stop_ns, duration_ns, open, certain FROM hold_intervals ORDER BY object, coro, start_ns'
rows spans <<'ROWS'
S ts=1 site=6 file=serve.c line=9 function=serve
O ts=10 object=0x1000 for=permits available=4 marks=8
N ts=11 object=0x1000 name=pool
n ts=12 coro=1 name=holder
n ts=12 coro=2 name=waiter
H ts=13 coro=1 object=0x1000 count=1
H ts=14 coro=1 object=0x1000 count=2
T ts=20 coro=2 index=0 is_active=1 tid=1
R ts=21 coro=2 for=permits object=0x1000 count=2
R ts=21 coro=2 for=permits object=0x1000 count=2 # recorded twice
R ts=21 coro=2 for=timer deadline=5000
R ts=21 coro=2 for=lock object=0x3000 count=1
T ts=22 coro=2 index=1 tid=1 site=6
H ts=25 coro=1 object=0x1000 count=-1
H ts=29 coro=1 object=0x1000 count=-2
W ts=30 coro=2 tid=1
T ts=31 coro=2 index=2 is_active=1 tid=1
H ts=32 coro=2 object=0x1000 count=2
H ts=33 coro=1 object=0x1000 count=1
T ts=40 coro=2 index=3 tid=1 # it waits for nothing that is recorded
O ts=50 object=0x2000 for=lock available=1 marks=8
N ts=50 object=0x2000 name=old
H ts=51 coro=1 object=0x2000 count=1
O ts=55 object=0x2000 marks=4 # destroyed while it is held
O ts=56 object=0x2000 for=lock available=1 marks=8
N ts=57 object=0x2000 name=new
H ts=58 coro=3 object=0x2000 count=1
O ts=59 object=0x2000 for=lock available=1 marks=8 # another is there, and the end of this one is not recorded
T ts=60 coro=4 index=0 is_active=1 tid=1
R ts=61 coro=4 for=lock object=0x2000 count=1
T ts=62 coro=4 index=1 tid=1
D ts=90 coro=4 after=80
T ts=70 coro=5 index=0 is_active=1 tid=1
R ts=71 coro=5 for=lock object=0x2000 count=1
T ts=72 coro=5 index=1 tid=1
E ts=1000
ROWS
is 'a wait for two objects has two rows, with the names of all; one that goes on, and one that a death ended at about a time' \
	"$(sql spans "$waited")" '2|waiter|lock||22|31|9|0|1|serve.c:9:serve
2|waiter|permits|pool|22|31|9|0|1|serve.c:9:serve
4||lock||62|80|18|0|0|
5||lock||72|1000|928|1|1|'
is 'they have the number of reasons, and each object once' "$(sql spans 'SELECT DISTINCT coro, count, reasons, timed, more FROM object_waits WHERE coro = 2')" \
	'2|2|4|0|0
2|1|4|0|0'
is 'who held what, the most at a time, also if it was destroyed' "$(sql spans "$held")" \
	'0x0000000000001000|pool|1|holder|3|13|29|16|0|1
0x0000000000001000|pool|1|holder|1|33|1000|967|1|1
0x0000000000001000|pool|2|waiter|2|32|1000|968|1|1
0x0000000000002000|old|1|holder|1|51|55|4|0|1
0x0000000000002000|new|3||1|58||||0'
is 'the longest waits have the first object' "$(sql spans 'SELECT coro, name, duration_ns, what, object_name FROM longest_waits WHERE stop_ns IS NOT NULL')" \
	'2|waiter|960||
5||928|lock|
4||18|lock|
2|waiter|9|permits|pool'
for columns in '(section, "coro", "ts")' '(section, "object", "coro", "ts")'; do
	is "records and intervals have an index on $columns" "$(sqlite3 "$tmp/spans.sqlite" "SELECT count(*) FROM sqlite_schema
		WHERE type = 'index' AND tbl_name IN ('hold', 'reason', 'hold_interval', 'object_wait') AND instr(sql, '$columns')")" 4
done

rows torn <<'ROWS'
O ts=10 object=0x1000 for=permits available=4 marks=8
H ts=11 coro=1 object=0x1000 count=1
H ts=12 coro=1 object=0x1000 count=-1 # before all losses
H ts=20 coro=2 object=0x1000 count=1
H ts=35 coro=2 object=0x1000 count=-1 # after the first record that was lost
H ts=36 coro=3 object=0x1000 count=1
M ts=40 tid=1 count=2 after=30
H ts=50 coro=3 object=0x1000 count=-1 # it may have given it back before, and have it again
H ts=51 coro=4 object=0x1000 count=1
H ts=52 coro=4 object=0x1000 count=-1 # it may have had more before
H ts=53 coro=5 object=0x1000 count=1
O ts=60 object=0x1000 for=permits available=4 # so 5 has given back
H ts=61 coro=6 object=0x1000 count=1
H ts=62 coro=6 object=0x1000 count=-1
H ts=63 coro=7 object=0x1000 count=1
H ts=64 coro=8 object=0x1000 count=-1 # the program does not record all
T ts=70 coro=9 index=0 is_active=1 tid=1
R ts=71 coro=9 for=permits object=0x1000 count=1
T ts=72 coro=9 index=1 tid=1
L ts=75 coro=9 index=2 count=1 after=72
T ts=76 coro=9 index=3 tid=1
T ts=80 coro=10 index=0 is_active=1 tid=1
R ts=81 coro=10 for=permits object=0x1000 count=1
T ts=82 coro=10 index=1 tid=1
L ts=85 coro=10 index=2 count=1 after=82
E ts=1000
ROWS
is 'a hold that a loss may have cut has no end' "$(sql torn 'SELECT coro, start_ns, stop_ns, duration_ns, open, certain FROM hold_intervals ORDER BY coro')" \
	'1|11|12|1|0|1
2|20||||0
3|36||||0
4|51|52|1|0|0
5|53||||0
6|61|62|1|0|1
7|63||||0'
is 'nor has a wait in which events are lost' "$(sql torn 'SELECT coro, start_ns, stop_ns, duration_ns, open, certain FROM object_waits ORDER BY coro')" \
	'9|72|||0|0
10|82||||0'
is 'without all packets, no hold is certain' "$(sql damaged 'SELECT count(*) > 0, sum(certain), count(stop_ns), sum(open) FROM hold_intervals')" '1|0|0|'
is 'of a trace that is cut short, what is over is certain' "$(
	head -n -2 "$tmp/spans.jsonl" | "$from" -q >"$tmp/cut.ctp"
	"$sqlite" -q -o "$tmp/cut.sqlite" "$tmp/cut.ctp"
	sql cut 'SELECT certain, count(*), sum(open) FROM hold_intervals GROUP BY certain')" '0|3|2
1|2|0'
is 'without a clock nothing has a length' "$(sql ordinal 'SELECT count(*), count(duration_ns), count(start_ns) FROM object_waits')" '4|0|4'
is 'an end destroys waits as it does in wait_intervals' "$(sql shutdown 'SELECT DISTINCT stop_ns, open FROM object_waits')" '500|0'

# A loss that reaches back beyond all holds that are kept.
{
	echo 'O ts=10 object=0x1000 for=permits available=4 marks=8'
	awk 'BEGIN { for (i = 0; i < 66000; i++) printf "H ts=%d coro=1 object=0x1000 count=1\nH ts=%d coro=1 object=0x1000 count=-1\n", 20 + 2 * i, 21 + 2 * i }'
	echo 'M ts=200000 tid=1 count=1 after=30'
	echo 'O ts=200001 object=0x1000 for=permits available=4'
	echo 'H ts=200002 coro=1 object=0x1000 count=1'
	echo 'E ts=300000'
} >"$tmp/far.rows"
rows far <"$tmp/far.rows"
is 'no hold before its end is certain then' "$(sql far 'SELECT certain, count(*), count(stop_ns), min(start_ns) FROM hold_intervals GROUP BY certain')" \
	'0|66000|0|20
1|1|1|200002'

for seed in 1 2 3; do
	PYTHONDONTWRITEBYTECODE=1 python3 t/helper/objects.py make $seed >"$tmp/random.jsonl"
	"$from" -q "$tmp/random.jsonl" >"$tmp/random.ctp"
	"$sqlite" -q -o "$tmp/random.sqlite" "$tmp/random.ctp"
	is "seed $seed: waits for objects are those of wait_intervals" "$(sql random 'SELECT count(*) > 0, sum(w.id IS NULL) FROM object_waits o
		LEFT JOIN wait_intervals w ON w.section = o.section AND w.coro = o.coro AND w.start_ns = o.start_ns AND w.stop_ns IS o.stop_ns
			AND w.duration_ns IS o.duration_ns AND w.open IS o.open AND w.certain = o.certain AND w.site_text IS o.site_text')" '1|0'
	is "seed $seed: what is certain of holds is true, and all is there if nothing is lost" "$(PYTHONDONTWRITEBYTECODE=1 python3 t/helper/objects.py holds $seed "$tmp/random.sqlite")" ''
	is "seed $seed: those that go on and are certain are the holders" "$(sql random 'SELECT object, coro FROM hold_intervals WHERE open AND certain EXCEPT SELECT object, coro FROM holders')" ''
done

# --- other databases ------------------------------------------------------------------------------------------------------------
"$sqlite" -q --append -o "$tmp/known.sqlite" "$tmp/waiting.ctp"
is 'a second section has its own objects' \
	"$(sql known 'SELECT section, count(*), sum(waiters) FROM objects GROUP BY section')" '1|3|1
2|1|4'
"$BIN/ctp-collect" -q "$O/examples/lostwake" 2>/dev/null >"$tmp/plain.ctp"
"$sqlite" -q -o "$tmp/plain.sqlite" "$tmp/plain.ctp"
is 'a program without such records has empty views' "$(sql plain 'SELECT count(*) FROM objects; SELECT count(*) FROM holders; SELECT count(*) FROM reasons' | tr '\n' ' ')" '0 0 0 '
remove=$(awk '/here that with the id 3/ { on = 1 } on && /^    / { print } /^\.Ed/ { on = 0 }' doc/ctp-sqlite.1)
like 'the manual says how to remove a section' "$remove" 'section = 3'
sqlite3 "$tmp/known.sqlite" "SELECT DISTINCT printf('DELETE FROM \"%w\" WHERE section = 1;', table_name) FROM classes" | sqlite3 "$tmp/known.sqlite"
is 'removing a section removes these rows, too' "$(sql known 'SELECT DISTINCT section FROM objects; SELECT DISTINCT section FROM reasons; SELECT count(*) FROM holders' | tr '\n' ' ')" '2 2 0 '
# --- a merged trace: the longest wait ends with its own origin, as in ctp-report -----------------------------------------------------
# NAME END: a coroutine waits for a lock up to the end.
lock() {
	rows "$1" <<-ROWS
	O ts=10 object=0x1000 for=lock available=0 marks=8
	B ts=15 coro=2
	T ts=20 coro=2 index=0 is_active=1 tid=1
	R ts=21 coro=2 for=lock object=0x1000 count=1
	T ts=22 coro=2 index=1 tid=1
	E ts=$2
	ROWS
}
lock short 500
lock long 9000
for name in short long; do sed 's/"clock"/"boot_id": "b", "wall_offset_ns": "5", "clock"/' "$tmp/$name.jsonl" | "$from" -q >"$tmp/$name.ctp"; done
"$BIN/ctp-merge" -q -o "$tmp/both.ctp" "$tmp/short.ctp" "$tmp/long.ctp"
"$sqlite" -q -o "$tmp/both.sqlite" "$tmp/both.ctp"
is 'the longest wait for an object ends with its origin' "$(sql both 'SELECT pid, longest_ns FROM objects ORDER BY pid')" '7001|478
7002|8978'
is 'and in the report' "$(report both | jq -r '.sections[].objects[].longest_ns')" '478
8978'

done_testing
