# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# scale.awk - a server of three hours as JSON lines, for ctp-scale(7): 15 records for a request, which is a coroutine.
#
# -v requests=N (667,000, 10 million records), -v host=NAME, -v seed=N. 1,000 requests are at hand at a time, in 8 threads. Each is born,
# runs and is suspended four times, at one of 16 sites, is woken by another one before it runs again, and dies. A site waits the longer
# the higher its number; from a wake it takes longer in the second hour. One in 5,000 is never woken.
# Plain numbers, below 2^53, so that any awk writes the same.
function random(n) { # from 0 to n - 1
	state = (state * 16807) % 2147483647
	return state % n
}
function put(type, slot, more) {
	printf "{\"type\":\"%s\",\"ts\":%.0f,\"probe_id\":%d,\"coro\":%d%s}\n", type, ts, 140000000 + slot * 512, coro[slot], more
}
function step(slot, active, site) {
	printf "{\"type\":\"transition\",\"probe_id\":%d,\"tid\":%d,\"addr\":\"0x%016x\",\"seq\":%d,\"is_active\":%s,\"ts\":%.0f,\"coro\":%d,\"index\":%d,\"site\":%d}\n",
		140000000 + slot * 512, tid[slot], 4096 + slot * 192, done[slot] + 1, (active ? "true" : "false"), ts, coro[slot], done[slot], site
	done[slot]++
}
function run(slot) { # and be suspended, or die
	tid[slot] = 100 + int(random(100) / 13)
	step(slot, 1, 0)
	ts += 1000 + random(20000)
	if (done[slot] == 9) {
		put("death", slot, sprintf(",\"after\":%.0f", ts))
		coro[slot] = 0
		return
	}
	site[slot] = 1 + random(16)
	rounds[slot] = random(1 + site[slot])
	step(slot, 0, site[slot])
	stuck[slot] = coro[slot] % 5000 == 4999 && done[slot] == 4
}
function turn(slot) {
	if (!coro[slot]) {
		if (born == requests)
			return 0
		coro[slot] = ++born
		done[slot] = 0
		put("birth", slot, ",\"parent\":" (born > 8 ? born % 8 + 1 : 0) ",\"site\":17")
		run(slot)
	} else if (stuck[slot]) {
		return 0
	} else if (rounds[slot]-- <= 0) {
		put("wake", slot, ",\"tid\":" 100 + random(8) ",\"by\":" coro[(slot + 1 + random(3)) % 1000] + 0)
		ts += 500 + random(4000) + site[slot] * 100 + (ts - first > hour && ts - first < 2 * hour ? 2000 : 0)
		run(slot)
	}
	return 1
}
function schema(name, kind, fields,    n, i, f, part) {
	printf "{\"type\":\"@schema\",\"name\":\"%s\",\"kind\":\"%s\",\"fields\":[", name, kind
	n = split(fields, f, " ")
	for (i = 1; i <= n; i++) {
		split(f[i] "::", part, ":")
		printf "%s{\"name\":\"%s\",\"type\":\"%s\"%s}", (i > 1 ? "," : ""), part[1], (part[3] == "" ? "u64" : part[3]),
			(part[2] == "" ? "" : ",\"role\":\"" part[2] "\"" (part[2] == "time" && part[1] == "ts" ? ",\"pred\":\"time\"" : ""))
	}
	print "]}"
}
BEGIN {
	requests = requests ? requests : 667000
	state = 1 + seed
	hour = 3600000000000
	who = "ts:time probe_id:probe coro:coroutine"
	ts = first = 1000000000
	printf "{\"type\":\"@section\",\"attrs\":{\"tool\":\"scale.awk\",\"host\":\"%s\",\"clock\":\"monotonic\",\"start_ns\":\"%.0f\",\"wall_offset_ns\":\"1794700800000000000\"}}\n",
		(host == "" ? "web1" : host), ts
	schema("transition", "transition", "probe_id:probe tid:thread addr:address seq:sequence is_active:state:bool ts:time coro:coroutine index:sequence site:site")
	schema("birth", "birth", who " parent site:site")
	schema("death", "death", who " after:time")
	schema("wake", "wake", who " tid:thread by")
	schema("site", "site", "ts:time site:site file::string line function:name:string")
	for (i = 1; i <= 17; i++)
		printf "{\"type\":\"site\",\"ts\":%.0f,\"site\":%d,\"file\":\"server.c\",\"line\":%d,\"function\":\"handle_%d\"}\n", ts, i, 100 + i, i
	gap = int(3 * hour / requests / 25) # of turns, of which a request takes about 25
	for (some = 1; some;)
		for (slot = some = 0; slot < 1000; slot++)
			if (turn(slot)) {
				some = 1
				ts += gap
			}
	print "{\"type\":\"@end\",\"complete\":true}"
}
