# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# lives.awk - short-lived coroutines, as JSON lines: a trace of a server with one coroutine for each connection.
#
# -v coroutines=N of them (94,000), of which 972 are alive at a time and have the probe_ids in turn. Each is born, named, resumed and
# suspended four times, woken before it is resumed again, and dies; every fourth waits for another one; every 50th has lost events,
# and each of the eight threads loses some now and then.
# fields: name:role:type, u64 where there is no type
function schema(name, kind, fields,    n, i, f, part, sep) {
	printf "{\"type\":\"@schema\",\"name\":\"%s\",\"kind\":\"%s\",\"fields\":[", name, kind
	n = split(fields, f, " ")
	for (i = 1; i <= n; i++) {
		split(f[i] "::", part, ":")
		if (part[2] != "")
			part[2] = ",\"role\":\"" part[2] "\""
		if (part[3] == "")
			part[3] = "u64"
		printf "%s{\"name\":\"%s\",\"type\":\"%s\"%s}", sep, part[1], part[3], part[2]
		sep = ","
	}
	print "]}"
}
function put(type, slot, more) {
	printf "{\"type\":\"%s\",\"ts\":%d,\"probe_id\":%d,\"coro\":%d%s}\n", type, ts, 140000000 + slot * 512, coro[slot], more
}
function step(slot) {
	tid[slot] = active[slot] ? tid[slot] : 100 + int(ts / 1000) % 8
	active[slot] = !active[slot]
	printf "{\"type\":\"transition\",\"probe_id\":%d,\"tid\":%d,\"addr\":\"0x%016x\",\"seq\":%d,\"is_active\":%s,\"ts\":%d,\"coro\":%d,\"index\":%d,\"site\":%d}\n",
		140000000 + slot * 512, tid[slot], 4096 + slot * 16, done[slot] + 1, active[slot] ? "true" : "false", ts, coro[slot], done[slot],
		active[slot] ? 0 : 1 + done[slot] % 16
	last[slot] = ts
	done[slot]++
}
function loses(slot,    from) { # the pair that comes next; a wake is in the gap
	from = done[slot]
	done[slot] += 2
	ts += 50
	put("wake", slot, ",\"tid\":100,\"by\":0")
	ts += 50
	put("lost", slot, ",\"index\":" from ",\"count\":2,\"after\":" last[slot])
}
function turn(slot) {
	if (!coro[slot] || done[slot] >= 8) {
		if (coro[slot]) {
			put("death", slot, ",\"after\":" ts)
			if (born == coroutines)
				return 0
		}
		coro[slot] = ++born
		done[slot] = active[slot] = 0
		put("birth", slot, ",\"parent\":" (born > 8 ? born % 8 + 1 : 0) ",\"site\":17")
		put("name", slot, ",\"name\":\"connection\"")
		return 1
	}
	if (coro[slot] % 50 == 0 && done[slot] == 4)
		loses(slot)
	else if (!active[slot] && done[slot])
		put("wake", slot, ",\"tid\":" 100 + ts % 8 ",\"by\":" coro[(slot + 1) % 972])
	if (active[slot] && coro[slot] % 4 == 0)
		put("await", slot, ",\"target\":" coro[(slot + 7) % 972] + 0)
	ts += 7
	step(slot)
	return 1
}
BEGIN {
	if (!coroutines)
		coroutines = 94000
	who = "ts:time probe_id:probe coro:coroutine"
	print "{\"type\":\"@section\",\"attrs\":{\"tool\":\"lives.awk\",\"clock\":\"monotonic\"}}"
	schema("transition", "transition", "probe_id:probe tid:thread addr:address seq:sequence is_active:state:bool ts:time coro:coroutine index:sequence site:site")
	schema("birth", "birth", who " parent site:site")
	schema("death", "death", who " after:time")
	schema("name", "name", who " name:name:string")
	schema("wake", "wake", who " tid:thread by")
	schema("await", "await", who " target")
	schema("lost", "loss", who " index:sequence count:count after:time")
	schema("missed", "loss", "ts:time tid:thread count:count after:time transitions:count")
	schema("site", "site", "ts:time site:site file::string line function:name:string")
	ts = 1000000
	for (i = 1; i <= 17; i++)
		printf "{\"type\":\"site\",\"ts\":%d,\"site\":%d,\"file\":\"server.c\",\"line\":%d,\"function\":\"handle_%d\"}\n", ts, i, 100 + i, i
	for (some = 1; some;) {
		some = 0
		for (slot = 0; slot < 972; slot++)
			if (!over[slot]) {
				over[slot] = !turn(slot)
				some = 1
				ts += 10
			}
		if (++round % 20 == 0)
			printf "{\"type\":\"missed\",\"ts\":%d,\"tid\":%d,\"count\":0,\"after\":%d,\"transitions\":5}\n", ts, 100 + round / 20 % 8, ts - 2000
	}
	print "{\"type\":\"@end\",\"complete\":true}"
}
