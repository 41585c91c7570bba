#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# Traces of a real program with lost events and missing packets: the report is compared with the records.
# Not under sanitizers: it compiles its programs itself.
. t/helper/tap.sh
: "${CC:=cc}"
for program in "$CC" python3; do
	command -v "$program" >/dev/null || skip_all "there is no $program"
done
cat >"$tmp/burst.c" <<'C'
#include <ctp.h>
#include <pthread.h>
#include <unistd.h>

static void *burst(void *arg)
{
	enum { COROS = 20, BURSTS = 5, TURNS = 2000 };
	struct ctp_coro c[COROS];
	for (int i = 0; i < COROS; i++)
		ctp_coro_new(&c[i], (uint64_t)i + 1 + (uint64_t)(uintptr_t)arg);
	for (int b = 0; b < BURSTS; b++, usleep(5000))
		for (int k = 0; k < TURNS; k++)
			for (int i = 0; i < COROS; i++) {
				ctp_coro_resume(&c[i]);
				ctp_coro_suspend(&c[i], CTP_HERE);
				ctp_coro_wake(&c[i]);
			}
	return NULL;
}

int main(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, burst, (void *)100);
	burst(NULL);
	pthread_join(thread, NULL);
	return 0;
}
C
cc_traced -o "$tmp/burst" "$tmp/burst.c" 2>"$tmp/err" || skip_all "$CC: $(head -n 1 "$tmp/err")"

# For each thread: the sum of runs with both ends, without its gaps; and its gaps. Up to the report's end.
cat >"$tmp/model.py" <<'PY'
import collections, json, sys
section = json.load(open(sys.argv[2]))["sections"][0]
end = int(section["start_ns"]) + section["duration_ns"]
events, gaps = collections.defaultdict(dict), collections.defaultdict(list)
for line in open(sys.argv[1]):
    row = json.loads(line)
    if row["type"] == "transition":
        events[row["coro"]][row["index"]] = (row["ts"], row["is_active"], row["tid"])
    elif row["type"] == "missed" and row["transitions"]:
        gaps[row["tid"]].append((row["after"], min(row["ts"], end)))
def union(spans):
    out = []
    for a, b in sorted(spans):
        if out and a <= out[-1][1]:
            out[-1][1] = max(out[-1][1], b)
        elif a < b:
            out.append([a, b])
    return out
def total(spans):
    return sum(b - a for a, b in spans)
runs = collections.defaultdict(list)
for coro in events.values():
    for index, (ts, active, tid) in coro.items():
        if active and index + 1 in coro:
            runs[tid].append((ts, min(coro[index + 1][0], end)))
for thread in section["threads"]:
    tid = thread["tid"]
    both, unknown = union(runs[tid] + gaps[tid]), union(gaps[tid])
    want = total(both) - total(unknown), total(unknown)
    if (thread["busy_ns"], thread["unknown_ns"]) != want:
        print(f"thread {tid}: {thread['busy_ns']}, {thread['unknown_ns']} and not {want}")
print("compared" if gaps and section["threads"] else "nothing was lost")
PY
for ring in 256 1024 4096; do
	"$BIN/ctp-collect" -q --ring $ring -o "$tmp/a.ctp" "$tmp/burst"
	"$BIN/ctp-tojsonl" -qa "$tmp/a.ctp" >"$tmp/rows.jsonl"
	"$BIN/ctp-report" -qj "$tmp/a.ctp" >"$tmp/report.json"
	is "rings of $ring: busy time of threads is the sum of their runs" "$(python3 "$tmp/model.py" "$tmp/rows.jsonl" "$tmp/report.json")" compared
done

is 'the end is not before the last event' "$(python3 - "$tmp/rows.jsonl" <<'PY'
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
end = next(row for row in rows if row["type"] == "end")
print(max(row["ts"] for row in rows if row["type"] == "transition") <= end["after"] <= end["ts"])
PY
)" True

# A coroutine that is woken and never runs waits since its wake, not since the machine was started.
cat >"$tmp/woken.c" <<'C'
#include <ctp.h>
#include <unistd.h>
int main(void)
{
	struct ctp_coro a, b;
	ctp_coro_new(&a, 1);
	ctp_coro_new(&b, 2);
	ctp_coro_wake(&b);
	ctp_coro_resume(&a);
	usleep(20000);
	ctp_coro_suspend(&a, CTP_HERE);
	return 0;
}
C
cc_traced -o "$tmp/woken" "$tmp/woken.c" && "$BIN/ctp-collect" -q -o "$tmp/w.ctp" "$tmp/woken"
is 'no wait is longer than the trace' "$("$BIN/ctp-report" -qj "$tmp/w.ctp" | python3 -c '
import json, sys
s = json.load(sys.stdin)["sections"][0]
print(len(s["waiting"]), all(g["longest_ns"] <= s["duration_ns"] for g in s["waiting"]))')" '2 True'
if [ -x "$BIN/ctp-sqlite" ] && command -v sqlite3 >/dev/null; then
	"$BIN/ctp-collect" -q --ring 256 -o "$tmp/s.ctp" "$tmp/burst"
	"$BIN/ctp-sqlite" -q -o "$tmp/s.sqlite" "$tmp/s.ctp"
	# A transition from a station lies in the gap of its thread, or at an end of it, as those may that the ring has.
	is 'what threads had no room for is lost, or was found in a station' "$(sqlite3 "$tmp/s.sqlite" "
		WITH found(less, most) AS (SELECT total(ts > start_ns AND ts < stop_ns), count(*) FROM thread_gaps g
			JOIN coro_trace_events e ON e.tid = g.tid AND ts BETWEEN start_ns AND stop_ns)
		SELECT lost > 0, of_threads - lost BETWEEN less AND most FROM loss_totals, found")" '1|1'
	"$BIN/ctp-sqlite" -q -o "$tmp/a.sqlite" "$tmp/a.ctp"
	is 'ctp-sqlite has the same busy times' "$(sqlite3 "$tmp/a.sqlite" 'select tid, busy_ns, unknown_ns from thread_times order by tid')" \
		"$(python3 -c '
import json, sys
for t in sorted(json.load(sys.stdin)["sections"][0]["threads"], key=lambda t: t["tid"]):
    print(t["tid"], t["busy_ns"], t["unknown_ns"], sep="|")' <"$tmp/report.json")"
fi

# --- packets that are missing -------------------------------------------------------------------------------------------------
# Each coroutine lives for a while; five have an event now and then until the end.
awk 'BEGIN {
	print "{\"type\":\"@section\",\"attrs\":{}}"
	n = 60000
	for (i = 0; i < n + 400; i++) {
		t = 10 * i
		if (i < n || i < n + 5) {
			printf "{\"type\":\"birth\",\"ts\":%d,\"probe_id\":%d,\"coro\":%d,\"station\":0,\"after\":%d,\"before\":%d,\"parent\":0,\"site\":0,\"pid\":1,\"by_hand\":false}\n", t, i + 1, i + 1, t, t
			printf "{\"type\":\"transition\",\"probe_id\":%d,\"tid\":1,\"addr\":\"0x0\",\"seq\":2,\"is_active\":true,\"ts\":%d,\"coro\":%d,\"index\":0,\"site\":0}\n", i + 1, t + 1, i + 1
			printf "{\"type\":\"transition\",\"probe_id\":%d,\"tid\":1,\"addr\":\"0x0\",\"seq\":4,\"is_active\":false,\"ts\":%d,\"coro\":%d,\"index\":1,\"site\":0}\n", i + 1, t + 2, i + 1
		}
		if (i >= 300 && i - 300 < n)
			printf "{\"type\":\"death\",\"ts\":%d,\"probe_id\":%d,\"coro\":%d,\"after\":%d,\"before\":%d}\n", t + 3, i - 299, i - 299, t + 3, t + 3
	}
	print "{\"type\":\"@end\",\"complete\":true}"
}' </dev/null | "$BIN/ctp-fromjsonl" -q >"$tmp/whole.ctp"
cat >"$tmp/drop.py" <<'PY'
import struct, sys
data, packets, at = open(sys.argv[1], "rb").read(), [], 0
while at < len(data):
    size = 64 + struct.unpack_from("<I", data, at + 16)[0]
    packets.append(data[at:at + size])
    at += size
drop = {int(n) % len(packets) for n in sys.argv[2:]}
sys.stdout.buffer.write(b"".join(p for n, p in enumerate(packets) if n not in drop))
PY
facts() {
	"$BIN/ctp-report" -qj "$1" | python3 -c '
import json, sys
s = json.load(sys.stdin)["sections"][0]
print(s["alive"] - s["in_gap"], s["missing"], any("missing" in c for c in s["caveats"]), s["in_gap"] > 0)'
}
is 'without losses five coroutines are alive' "$(facts "$tmp/whole.ctp")" '5 False False False'
python3 "$tmp/drop.py" "$tmp/whole.ctp" 3 >"$tmp/mid.ctp"
is 'with a missing packet five are known to be alive, others are unknown' "$(facts "$tmp/mid.ctp")" '5 True True True'
like 'the text says so' "$("$BIN/ctp-report" -q "$tmp/mid.ctp")" 'not seen to die'
python3 "$tmp/drop.py" "$tmp/whole.ctp" 3 -1 >"$tmp/cut.ctp"
like 'with the end missing, too, the report has the missing packet and the unknown coroutines' \
	"$(facts "$tmp/cut.ctp")" ' True True True$'
python3 "$tmp/drop.py" "$tmp/a.ctp" 1 >"$tmp/less.ctp"
is 'ctp-stat counts the losses of the records' \
	"$("$BIN/ctp-stat" -j "$tmp/less.ctp" 2>/dev/null | sed 's/.*"complete":false,"events":[0-9]*,"lost":\([0-9]*\),.*/\1/')" \
	"$("$BIN/ctp-tojsonl" -qa "$tmp/less.ctp" | sed -n 's/^{"type":"lost",.*"count":\([0-9]*\),.*/\1/p' | awk '{ n += $1 } END { print n + 0 }')"
done_testing
