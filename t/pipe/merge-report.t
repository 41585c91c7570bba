#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# ctp-report and ctp-tohtml of a merged stream: each origin is a section, with the findings and numbers that it has alone, and its name.
# Mostly waits.
. t/helper/tap.sh
command -v python3 >/dev/null || skip_all 'there is no python3'
ctp() { tool=$1; shift; "$BIN/ctp-$tool" "$@"; }

# MERGED INPUT...: reports as JSON. Prints how origins differ from their inputs.
cat >"$tmp/compare.py" <<'PY'
import json
import sys

SAME = ("events wakes coroutines alive threads_seen lost lost_of_nobody gaps in_gap missed untraced conflicts complete missing outcome "
        "status duration_ns quiet_ns command").split()
merged, *alone = [[s for s in json.load(open(path))["sections"]] for path in sys.argv[1:]]
alone = [s for sections in alone for s in sections]
print(f"{len(merged)} sections, {sum(len(s['findings']) for s in alone)} findings", file=sys.stderr)
if len(merged) != len(alone):
    print(f"{len(alone)} sections became {len(merged)}")
for number, (was, now) in enumerate(zip(alone, merged), 1):
    for key in SAME:
        if was.get(key) != now.get(key):
            print(f"origin {number}: {key} was {was.get(key)} and is {now.get(key)}")
    short = [[[f.get(k) for k in ("rule", "certainty", "members", "title", "place")] for f in s["findings"]] for s in (was, now)]
    if short[0] != short[1]:
        print(f"origin {number}: findings were {short[0]} and are {short[1]}")
    threads = [sorted(t["tid"] for t in s["threads"]) for s in (was, now)]
    members = [[[c["thread"], c["pid"]] for f in s["findings"] for c in f["coroutines"]] for s in (was, now)]
    for what, (before, after) in {"threads": threads, "threads of members": members, "pid": (was["pid"], now["pid"])}.items():
        if before != after:
            print(f"origin {number}: {what} were {before} and are {after}")
    if "origin" not in now or "origin" in was:
        print(f"origin {number}: it has no name")
PY
agrees() { # WHAT INPUT...
	what=$1 files='' jsons=''
	shift
	for name; do
		ctp report -j "$tmp/$name.ctp" >"$tmp/$name.json" 2>/dev/null
		files="$files $tmp/$name.ctp" jsons="$jsons $tmp/$name.json"
	done
	# shellcheck disable=SC2086
	ctp merge -q -o "$tmp/merged.ctp" $files
	ctp report -j "$tmp/merged.ctp" >"$tmp/merged.json" 2>/dev/null
	# shellcheck disable=SC2086
	is "$what: the origins are as they are alone" "$(python3 "$tmp/compare.py" "$tmp/merged.json" $jsons 2>"$tmp/says")" ''
	note "$what: $(cat "$tmp/says")"
}

ctp collect -q -o "$tmp/a.ctp" "$O/examples/lostwake" >/dev/null &
ctp collect -q -o "$tmp/b.ctp" "$O/examples/lostwake" >/dev/null &
wait
ctp collect -q -o "$tmp/lossy.ctp" "$O/t/helper/tracee" -c 5 -e 400 -j 2
head -c $(($(wc -c <"$tmp/a.ctp") * 2 / 3)) "$tmp/a.ctp" >"$tmp/cut.ctp"
agrees 'two of the same' a b
ctp report "$tmp/merged.ctp" >"$tmp/text"
like 'a coroutine has the name of its origin' "$(cat "$tmp/text")" ' \(#[0-9]+2\) on [^ ]+/[0-9]+, which has ended'
like 'and so has the section' "$(cat "$tmp/text")" '^ +origin [^ ]+/[0-9]+; pid [0-9]+ on [^ ]+; started '
like 'each says which one it is' "$(grep -c '^Origin [12] of 2, .*merged.ctp: .*lostwake$' "$tmp/text")" '^2$'
is 'and so does the last line' "$(tail -n 1 "$tmp/text")" 'In 2 origins: 2 findings, in origins 1, 2.'
like 'ctp-stat counts them alike' "$(ctp stat "$tmp/merged.ctp")" '^sections:    1, complete; of 2 origins$'
agrees 'one with losses does not harm others' a lossy b
agrees 'one that was cut does not harm others' cut b
ctp merge -q -o "$tmp/ab.ctp" "$tmp/a.ctp" "$tmp/b.ctp"
ctp merge -q -o "$tmp/again.ctp" "$tmp/ab.ctp" "$tmp/lossy.ctp"
ctp report -j "$tmp/again.ctp" >"$tmp/again.json" 2>/dev/null
is 'merged again: all origins' "$(grep -o '"origin":"[^"]*"' "$tmp/again.json" | wc -l)" 3
# shellcheck disable=SC2046
is 'merged again: as they are alone' "$(ctp report -j "$tmp/lossy.ctp" >"$tmp/lossy.json" 2>/dev/null
	python3 "$tmp/compare.py" "$tmp/again.json" "$tmp/lossy.json" "$tmp/a.json" "$tmp/b.json" 2>"$tmp/says")" ''
like 'merged again: the titles have their numbers' "$(ctp report "$tmp/again.ctp" 2>/dev/null)" '^Origin 21 \(3 of 3\), .*again.ctp: '
like 'a merge among other files' "$(ctp report "$tmp/a.ctp" "$tmp/ab.ctp" 2>/dev/null)" '^Section 2 of 2, origin 1 of 2, .*ab.ctp: '
tid=$(grep -o '"threads":\[{"tid":[0-9]*' "$tmp/b.json" | grep -o '[0-9]*$')
ctp filter -q --thread="$tid" "$tmp/ab.ctp" | ctp report -j >"$tmp/thread.json" 2>/dev/null
is 'ctp-filter --thread takes the numbers of the report' "$(grep -o '"threads":\[{"tid":[0-9]*[^]]*' "$tmp/thread.json" | grep -o '"tid":[0-9]*')" "\"tid\":$tid"
is 'standard input' "$(ctp report -j <"$tmp/ab.ctp" 2>/dev/null | grep -o '"origin":"[^"]*"' | wc -l)" 2
ctp tohtml -q -o "$tmp/page.html" "$tmp/ab.ctp"
is 'the page has a section for each origin' "$(grep -o '"title":"[^"]* on [^"/]*/[0-9]*"' "$tmp/page.html" | sort -u | wc -l)" 2
merges() { grep -o '"section":[0-9]*,"merge":[0-9]*' "$1" | tr -d '\n'; }
is 'and says that they are from one merge' "$(merges "$tmp/page.html")" '"section":0,"merge":1"section":1,"merge":1'
ctp tohtml -q -o "$tmp/more.html" "$tmp/a.ctp" "$tmp/ab.ctp" "$tmp/again.ctp" 2>/dev/null
is 'each merge has a number, other sections have none' "$(merges "$tmp/more.html")" \
	'"section":1,"merge":1"section":2,"merge":1"section":3,"merge":2"section":4,"merge":2"section":5,"merge":2'
if command -v node >/dev/null; then
	# The last page opens on all origins of a stream with gaps, wakes and findings.
	for page in page more; do
		is "$page: all origins on one time axis are as they are alone" "$(node t/helper/page/origins.js "$tmp/$page.html" 2>"$tmp/says")" ''
		like "$page: that compares something" "$(cat "$tmp/says")" '^[23] origins, [0-9]{2,} rows, [0-9]{4,} events, [0-9]+ threads, [2-9] findings'
	done
	ctp tohtml -q --since=100ms --until=300ms -o "$tmp/since.html" "$tmp/ab.ctp"
	ctp report -q --since=100ms --until=300ms --folded --folded-unit ns "$tmp/ab.ctp" 2>/dev/null |
		awk '{ sum[$1] += $2 } END { for (stack in sum) printf "%s %.0f\n", stack, sum[stack] }' | LC_ALL=C sort >"$tmp/want"
	node t/helper/page/flame.js "$tmp/since.html" suspended | LC_ALL=C sort >"$tmp/got"
	is 'the flame view adds up all origins, each from its own start on' "$(cat "$tmp/got")" "$(cat "$tmp/want")"
else
	skip 'there is no node'
fi
TMPDIR=/nonexistent ctp report "$tmp/ab.ctp" >"$tmp/out" 2>"$tmp/err"
is 'no folder for temporary files: status' $? 1
like 'no folder for temporary files: the message' "$(cat "$tmp/err")" 'temporary file in /nonexistent'

# Databases and CTF have the origin in each row, and a table of the origins.
if [ -x "$BIN/ctp-sqlite" ] && command -v sqlite3 >/dev/null; then
	ctp sqlite -q -o "$tmp/ab.sqlite" "$tmp/ab.ctp"
	is 'SQL: the origins' "$(sqlite3 "$tmp/ab.sqlite" 'SELECT origin, input FROM origins')" "1|$tmp/a.ctp
2|$tmp/b.ctp"
	is 'SQL: which origin the stuck coroutines are from' "$(sqlite3 "$tmp/ab.sqlite" "SELECT coro % 10, o.origin FROM coroutine_states s
		JOIN coroutine_origins o USING (section, coro) WHERE state = 'suspended' ORDER BY 1")" '1|1
2|2'
	is 'SQL: transitions have it, too' "$(sqlite3 "$tmp/ab.sqlite" 'SELECT count(*) FROM coro_trace_events WHERE origin <> coro % 10')" 0
fi
if command -v babeltrace2 >/dev/null; then
	ctp toctf -q -o "$tmp/ctf" "$tmp/ab.ctp"
	babeltrace2 "$tmp/ctf" >"$tmp/ctf.text" 2>"$tmp/err"
	is 'CTF: transitions have it, too' "$(grep -c ' transition: .* origin = [12] }' "$tmp/ctf.text")" "$(grep -c ' transition: ' "$tmp/ctf.text")"
fi

# More origins than there is room for: a message, status 3, and ctp-filter has the others. The model counts what is put in.
many=258 room=256
python3 - "$many" >"$tmp/many.in" <<'PY'
import sys

for i in range(1, int(sys.argv[1]) + 1):
    print('{"type":"@section","attrs":{"clock":"monotonic","boot_id":"b","pid":"%d","wall_offset_ns":"5"}}' % i)
    for ts in (i, 1000 + i):
        print('{"probe_id":%d,"tid":%d,"addr":"0x0000000000000010","seq":%d,"is_active":%s,"ts":%d}'
              % (i, i, ts // 1000 + 1, "false" if ts > 1000 else "true", ts))
PY
ctp fromjsonl -q -o "$tmp/many.ctp" "$tmp/many.in"
ctp merge -q -o "$tmp/merged.ctp" "$tmp/many.ctp"
says() { # TOOL OPTION...
	tool=$1
	shift
	ctp "$tool" "$@" >"$tmp/out" 2>"$tmp/err"
	is "$tool $1: too many origins: status and message" "$? $(grep -c "^ctp-$tool: $((many - room)) origins are left out: .*; ctp-filter --origin N " "$tmp/err")" '3 1'
}
says report -j "$tmp/merged.ctp"
is 'the report has the first ones' "$(grep -o '"origin":"[^"]*"' "$tmp/out" | wc -l)" $room
says tohtml "$tmp/merged.ctp"
says toperfetto "$tmp/merged.ctp"
ctp filter -q --origin $many "$tmp/merged.ctp" | ctp report -j >"$tmp/out" 2>"$tmp/err"
is 'the last one alone' "$(grep -o '"origin":"[^"]*"' "$tmp/out" | wc -l) $(grep -c 'left out' "$tmp/err")" '1 0'
done_testing
