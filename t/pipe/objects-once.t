#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# The state of locks, pools and queues as a late collector finds it: t/helper/attach/objects.c changes them at
# random on three threads, and keeps its own list, with which the report of a visit must agree. The report must mark what it
# does not know, and the number of such objects is limited.
# Mostly waits.
. t/helper/tap.sh
collect=$BIN/ctp-collect report=$BIN/ctp-report CC=${CC:-cc}
command -v python3 >/dev/null || skip_all "there is no python3"
cc_traced -o "$tmp/objects" t/helper/attach/objects.c 2>"$tmp/err" ||
	skip_all "$CC: $(head -n 1 "$tmp/err")"
mkfifo "$tmp/in" "$tmp/out"

start() { # SEED STEPS [RARE]
	CTP_RECORD=1 "$tmp/objects" "$1" "$2" "$tmp/book" ${3:-} <"$tmp/in" >"$tmp/out" &
	pid=$!
	exec 5>"$tmp/in" 6<"$tmp/out"
	read -r said <&6
}
more() { echo more >&5; }
ready() { read -r said <&6; }
stop() {
	exec 5>&- 6<&-
	wait $pid
}
compare() { # prints differences, and last: the numbers of known holders, of named ones, and of objects with unknown holders
	"$report" -j "$tmp/a.ctp" >"$tmp/report.json" 2>"$tmp/err"
	python3 - "$tmp/book" "$tmp/report.json" <<'PY'
import json, sys
book = {}
for line in open(sys.argv[1]):
    at, name, available, room, closed, *holders = line.rstrip("\n").split("|")
    book[int(at, 16)] = dict(name=None if name == "-" else name, available=int(available), room=None if room == "-" else int(room),
                             closed=closed == "1", holders=dict((h.split("=")[0], int(h.split("=")[1])) for h in holders))
said = {int(ob["object"], 16): ob for ob in json.load(open(sys.argv[2]))["sections"][0]["objects"]}
known = named = unknown = 0
reopened = []
for at, so in book.items():
    ob = said.get(at)
    if not ob:
        print(f"{at:#x} is not there")
        continue
    for what in "name", "available", "room", "closed":
        if what == "closed" and so[what] and not ob[what]:
            reopened.append(at) # what is closed after the last run was open when the program ended
        elif ob[what] != so[what] and not (what != "closed" and ob[what] is None):
            print(f"{at:#x}: {what}: {ob[what]} and not {so[what]}")
    if ob["holders"] is None:
        unknown += 1
        continue
    listed = {h["name"]: h["count"] for h in ob["holders"] if h["name"]}
    all_of_it = sum(h["count"] for h in ob["holders"]) + ob["held_by_others"]
    if all_of_it != sum(so["holders"].values()):
        print(f"{at:#x}: {all_of_it} is held, and not {sum(so['holders'].values())}")
    for name, n in listed.items():
        if so["holders"].get(name) != n and not ob["held_by_others"]:
            print(f"{at:#x}: {name} holds {n}, and not {so['holders'].get(name)}")
    known += len(ob["holders"])
    named += len(listed)
if len(reopened) > 1:
    print("open, although they were closed:", *map(hex, reopened))
print(known, named, unknown)
PY
}

# --- one moment --------------------------------------------------------------------------------------------------------------------
for seed in 1 2 3; do
	start $seed 400
	"$collect" -q --once -p $pid >"$tmp/a.ctp" 2>"$tmp/err"
	stop
	compare >"$tmp/said"
	is "seed $seed: the report agrees with the program" "$(sed '$d' "$tmp/said")" ''
	ok "seed $seed: holders are known, each with its name" awk 'END { exit !($1 >= 20 && $2 == $1) }' "$tmp/said"
	ok "seed $seed: at most 32 of 48 objects have unknown holders" awk 'END { exit !($3 <= 32) }' "$tmp/said"
done
start 4 30000
"$collect" -q --once -p $pid >"$tmp/a.ctp" 2>"$tmp/err"
stop
compare >"$tmp/said"
is "after thousands of coroutines, the report agrees with the program" "$(sed '$d' "$tmp/said")" ''
ok "holders that ended long ago are known, without names" awk 'END { exit !($1 >= 8 && $2 < $1) }' "$tmp/said"
like "they are reported as ended" "$("$report" -j "$tmp/a.ctp" 2>/dev/null)" '"name":null,"count":[0-9]+,"since_ns":[0-9]+,"alive":false'

# --- while the program runs -------------------------------------------------------------------------------------------------------------
for seed in 5 6 7; do
	start $seed 20000 16
	rm -f "$tmp/a.ctp"
	"$collect" -q -o "$tmp/a.ctp" -p $pid 2>"$tmp/err" 5>&- 6<&- &
	collector=$!
	left=300
	until [ -s "$tmp/a.ctp" ] || [ $left = 0 ]; do
		more
		ready
		left=$((left - 1))
	done
	more
	ready
	stop
	wait $collector
	compare >"$tmp/said"
	is "seed $seed: a collector that attaches during changes agrees with the program" "$(sed '$d' "$tmp/said")" ''
	ok "seed $seed: holders are known" awk 'END { exit !($1 >= 8) }' "$tmp/said"
done

# --- an ended coroutine gives back -------------------------------------------------------------------------------------------------
cat >"$tmp/later.c" <<'C'
#include "ctp.h"
#include <stdio.h>
static int lock, pool;
static void others(int n)
{
	for (struct ctp_coro co; n; n--) {
		ctp_coro_new(&co, 0);
		ctp_coro_resume(&co);
		ctp_coro_death(&co);
	}
}
int main(void)
{
	struct ctp_coro co;
	ctp_object_new(&lock, CTP_FOR_LOCK, 1, "lock", 0);
	ctp_object_new(&pool, CTP_FOR_PERMITS, 8, "pool", CTP_MARK_OWNED);
	others(2000); /* so that stations are used again */
	ctp_coro_new(&co, 0);
	ctp_coro_name(&co, "giver");
	ctp_coro_resume(&co);
	uint64_t ref = ctp_coro_ref(&co);
	ctp_coro_holds(&co, &lock, 1);
	ctp_coro_holds(&co, &pool, 3);
	ctp_coro_death(&co);
	others(9000);
	puts("ready");
	fflush(stdout);
	getchar();
	ctp_ref_holds(ref, &lock, -1);
	ctp_ref_holds(ref, &pool, -1);
	others(1);
	return 0;
}
C
ok "a program whose coroutine ends with a lock compiles" \
	cc_traced -o "$tmp/later" "$tmp/later.c"
held() { # how much is held of each, and by how many
	"$BIN/ctp-tojsonl" -q -a "$tmp/a.ctp" | sed -n 's/.*"type":"hold".*"coro":\([0-9]*\).*"object":"\([^"]*\)".*"count":\([-0-9]*\).*/\2 \1 \3/p' |
		awk '{ n[$1] += $3; who[$2] } END { for (i in n) printf "%d ", n[i]; print length(who) }' | tr ' ' '\n' | sort -n | paste -sd' '
}
echo | "$collect" -q -o "$tmp/a.ctp" "$tmp/later" >"$tmp/out.txt"
is "its lock is given back after its station was reused thousands of times" "$(held)" '0 1 2'
CTP_RECORD=1 "$tmp/later" <"$tmp/in" >"$tmp/out" &
pid=$!
exec 5>"$tmp/in" 6<"$tmp/out"
ready
mkfifo "$tmp/say"
"$collect" -v -o "$tmp/a.ctp" -p $pid 2>"$tmp/say" 5>&- 6<&- &
collector=$!
exec 7<"$tmp/say"
read -r said <&7 # it is attached
stop
cat <&7 >"$tmp/rest"
wait $collector
like "a collector attaches later" "$said" "^ctp-collect: .*$pid"
is "the lock is given back for a later collector, too" "$(held)" '0 1 2'
done_testing
