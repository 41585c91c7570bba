#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# ctp-tohtml: the page has what the stream has, as read by a reader made from the manual alone; names that would break out
# of it stay text; it is written completely or not at all; omissions are mentioned.
. t/helper/tap.sh
command -v python3 >/dev/null || skip_all 'there is no python3'
to=$BIN/ctp-tohtml json=$BIN/ctp-tojsonl from=$BIN/ctp-fromjsonl report=$BIN/ctp-report
[ -x "$to" ] || skip_all 'ctp-tohtml is not built: zlib is not here'

judge() { python3 t/helper/html-judge.py "$@"; }
# Evaluates a Python expression on a page, with its meta and rows.
page() { python3 -c 'import sys; sys.path.insert(0, "t/helper"); import htmlpage; meta, rows = htmlpage.read(open(sys.argv[1], encoding="utf-8").read()); print(eval(sys.argv[2]))' "$1" "$2"; }

# --- what a page holds ----------------------------------------------------------------------------------------------------------
"$BIN/ctp-collect" -q -o "$tmp/lost.ctp" "$O/examples/lostwake" >/dev/null 2>&1
"$json" -a "$tmp/lost.ctp" >"$tmp/lost.jsonl"
"$to" -o "$tmp/lost.html" "$tmp/lost.ctp" 2>"$tmp/err"
is 'a collected trace becomes a page' "$? $(cat "$tmp/err")" '0 '
ok 'the page has what the stream has' judge "$tmp/lost.html" "$tmp/lost.jsonl" 0
"$report" -j "$tmp/lost.ctp" >"$tmp/report.json"
python3 -c 'import json, sys
hook = lambda pairs: {key: value for key, value in pairs if not key.endswith("place")}
json.dump(json.load(sys.stdin, object_pairs_hook=hook), sys.stdout)' <"$tmp/report.json" >"$tmp/texts.json"
is 'the page has the findings of ctp-report, with the texts of sites alone' \
	"$(page "$tmp/lost.html" "meta['report'] == __import__('json').load(open('$tmp/texts.json'))")" True
is 'a member of a finding is alive and waiting, with nothing missing' "$(page "$tmp/lost.html" \
	"[(r['died'], r['events'][-1][1], r['flags']) for r in rows if str(r['coro']) == meta['report']['sections'][0]['findings'][0]['coroutines'][0]['coro']]")" \
	"[(None, 'suspend', 1)]"
is 'its title is the command' "$(page "$tmp/lost.html" "meta['title']")" "$O/examples/lostwake"
is 'a page needs nothing from elsewhere' "$(grep -cE '(src|href)="?(https?:)?//' "$tmp/lost.html")" 0
"$to" --title 'a <title>' <"$tmp/lost.ctp" >"$tmp/out.html"
is 'on standard output, with another title' "$? $(page "$tmp/out.html" "meta['title'], meta['source']")" "0 ('a <title>', 'stdin')"

# Wakes that change nothing, awaits, a parent that is born later, a birth that comes late, a coroutine that is destroyed.
cat >"$tmp/odd.jsonl" <<'JSONL'
{"type":"@section","attrs":{"pid":"7","wall_offset_ns":"1000"}}
{"type":"site","ts":100,"site":1,"file":"a.c","line":7,"function":"f"}
{"type":"birth","ts":100,"probe_id":5,"coro":1,"station":0,"after":100,"before":100,"parent":0,"site":1,"pid":7}
{"type":"birth","ts":110,"probe_id":5,"coro":2,"station":1,"after":110,"before":110,"parent":1,"site":1,"pid":7}
{"type":"wake","ts":115,"probe_id":5,"coro":2,"tid":3,"by":1}
{"type":"wake","ts":116,"probe_id":5,"coro":2,"tid":3,"by":1}
{"type":"transition","probe_id":5,"tid":3,"addr":"0x0000000000000000","seq":2,"is_active":true,"ts":120,"coro":2,"index":0,"site":0}
{"type":"wake","ts":125,"probe_id":5,"coro":2,"tid":4,"by":0}
{"type":"await","ts":129,"probe_id":5,"coro":2,"target":1}
{"type":"transition","probe_id":5,"tid":3,"addr":"0x0000000000000000","seq":2,"is_active":false,"ts":130,"coro":2,"index":1,"site":1}
{"type":"wake","ts":135,"probe_id":5,"coro":2,"tid":3,"by":1}
{"type":"transition","probe_id":5,"tid":4,"addr":"0x0000000000000000","seq":2,"is_active":true,"ts":140,"coro":2,"index":2,"site":0}
{"type":"transition","probe_id":5,"tid":4,"addr":"0x0000000000000000","seq":2,"is_active":false,"ts":150,"coro":2,"index":3,"site":1}
{"type":"death","ts":160,"probe_id":5,"coro":2,"after":160,"before":160}
{"type":"name","ts":160,"probe_id":5,"coro":1,"name":"first"}
{"type":"@end","complete":true}
JSONL
"$from" "$tmp/odd.jsonl" >"$tmp/odd.ctp"
"$json" -a "$tmp/odd.ctp" >"$tmp/odd.all"
"$to" -o "$tmp/odd.html" "$tmp/odd.ctp"
ok 'wakes that change nothing are not shown, the rest is' judge "$tmp/odd.html" "$tmp/odd.all" 0
is 'a coroutine that was destroyed while it waited is marked' "$(page "$tmp/odd.html" "[r['flags'] for r in rows]")" '[1, 3]'
is 'wall-clock time begins where the trace does' "$(page "$tmp/odd.html" "meta['t0_wall_ns'], meta['t0_ns'], meta['span_ns']")" "('1100', '100', 60)"
sed '/"coro":1,"station"/d; s/{"type":"transition".*"index":2.*/{"type":"lost","ts":138,"probe_id":5,"coro":2,"index":2,"count":2,"unverified":0,"after":130}/; /"index":3/d; /"death"/d' \
	"$tmp/odd.jsonl" | "$from" 2>"$tmp/err" | "$to" -q -o "$tmp/gap.html"
is 'a loss is an event, and after it nothing is sure' "$(page "$tmp/gap.html" "[(r['coro'], r['flags'], r['events'][-1:]) for r in rows]")" \
	"[(2, 16, [(28, 'lost', 2)]), (1, 4, [])]"

for seed in 4 5 6; do
	python3 t/helper/gaps.py make $seed | "$from" -q >"$tmp/gaps.ctp"
	"$json" -aq "$tmp/gaps.ctp" >"$tmp/gaps.jsonl"
	"$to" -q -o "$tmp/gaps.html" "$tmp/gaps.ctp"
	is "a trace with losses, $seed: status 3" $? 3
	ok 'the page has its gaps, of coroutines and of threads' judge "$tmp/gaps.html" "$tmp/gaps.jsonl" 0
	ok 'there are gaps of both' test "$(page "$tmp/gaps.html" "sum(e[1] == 'lost' for r in rows for e in r['events']) > 9 and sum(len(t['gaps']) for t in meta['threads']) > 2")" = True
done

# coroTracer's own rows: no births, no coroutines, a probe that begins again is another one.
for seq in 2 2 2 2; do printf '{"probe_id":9,"tid":1,"addr":"0x1","seq":%s,"is_active":true,"ts":%s}\n' $seq "$((n = n + 10))"; done >"$tmp/rows.jsonl"
printf '{"probe_id":9,"tid":1,"addr":"0x1","seq":%s,"is_active":false,"ts":%s}\n' 8 100 2 110 >>"$tmp/rows.jsonl"
"$from" -q "$tmp/rows.jsonl" | "$to" -q -o "$tmp/rows.html"
# The numbers count rounds of slots, so events missing before 8 may be missing between any rows with 2.
is 'a probe that begins again is another row, and a gap in its numbers is a loss' \
	"$(page "$tmp/rows.html" "[(r['probe'], r['born'], r['died'], r['flags'], [e[1] for e in r['events']]) for r in rows]")" \
	"[(9, 0, 100, 20, ['lost', 'resume', 'lost', 'resume', 'lost', 'resume', 'lost', 'resume', 'lost', 'suspend']), (9, 100, None, 4, ['suspend'])]"

# --- what a coroutine waits for -------------------------------------------------------------------------------------------------
transition() { echo '{"type":"transition","probe_id":'$1',"tid":3,"addr":"0x0000000000000000","seq":2,"is_active":'$2',"ts":'$3',"coro":'$1',"index":'$4',"site":0}'; } # CORO RUNS TIME INDEX
{
	echo '{"type":"@section","attrs":{"pid":"7"}}'
	for coro in 1 2; do echo '{"type":"birth","ts":100,"probe_id":'$coro',"coro":'$coro',"station":'$coro',"after":100,"before":100,"parent":0,"site":0,"pid":7}'; done
	echo '{"type":"object_name","ts":100,"pid":7,"object":"0x0000000000000010","name":"db"}'
	transition 1 true 110 0
	echo '{"type":"hold","ts":111,"probe_id":1,"coro":1,"pid":7,"object":"0x0000000000000010","count":1}'
	echo '{"type":"object","ts":112,"pid":7,"object":"0x0000000000000010","for":"lock","available":0,"site":0,"marks":"none"}'
	transition 2 true 200 0
	for round in 1 2 3; do
		at=$((round * 2000000))
		echo '{"type":"reason","ts":'$at',"probe_id":2,"coro":2,"pid":7,"for":"lock","deadline":0,"fd":-1,"object":"0x0000000000000010","count":1,"marks":"none"}'
		transition 2 false $at $((round * 2 - 1))
		[ $round = 3 ] || transition 2 true $((at + 1000000 + round)) $((round * 2))
	done
	echo '{"type":"@end","complete":true}'
} | "$from" >"$tmp/held.ctp"
"$to" -q -o "$tmp/held.html" "$tmp/held.ctp"
is 'what it waits for is told once for a place' "$(page "$tmp/held.html" "[e[1:] for e in rows[1]['events'] if e[1] == 'wait'], [e[1] for e in rows[1]['events']]")" \
	"([('wait', 'db')], ['resume', 'wait', 'suspend', 'held', 'resume', 'suspend', 'held', 'resume', 'suspend', 'held'])"
is 'a long wait, and one that goes on, tells who held it' "$(page "$tmp/held.html" "[e for e in rows[1]['events'] if e[1] == 'held']")" \
	"[(1999900, 'held', 0), (3999900, 'held', 0), (5999900, 'held', 0)]"
# The program counts its permits at first alone, and then says who holds them: four are there, and nobody holds any.
{
	echo '{"type":"@section","attrs":{"pid":"7"}}'
	for coro in 1 2; do echo '{"type":"birth","ts":100,"probe_id":'$coro',"coro":'$coro',"station":'$coro',"after":100,"before":100,"parent":0,"site":0,"pid":7}'; done
	at='"pid":7,"object":"0x0000000000000010"'
	echo '{"type":"object","ts":101,'$at',"for":"permits","available":4,"site":0,"marks":"owned made"}'
	transition 1 true 110 0
	for count in 1 -1; do echo '{"type":"hold","ts":'$((112 - count))',"probe_id":1,"coro":1,'$at',"count":'$count'}'; done
	transition 2 true 200 0
	echo '{"type":"reason","ts":300,"probe_id":2,"coro":2,"pid":7,"for":"permits","deadline":0,"fd":-1,"object":"0x0000000000000010","count":1,"marks":"none"}'
	transition 2 false 301 1
	transition 1 false 9000000000 1
	echo '{"type":"@end","complete":true}'
} | "$from" >"$tmp/free.ctp"
"$to" -q -o "$tmp/free.html" "$tmp/free.ctp"
like 'the text says what is available, and that it is not held' "$("$BIN/ctp-report" -q "$tmp/free.ctp" | tr -s '\n ' ' ')" '[(]4 free[)], which no coroutine holds .* 4 of 4 permits'
is 'and so does the page, from the same source' \
	"$(page "$tmp/free.html" "[[o[key] for key in ('available_text', 'unheld')] for o in meta['report']['sections'][0]['objects']]")" "[['4 of 4', True]]"
"$to" -q --finding 1 -o "$tmp/part.html" "$tmp/lost.ctp"
is '--finding has its coroutines and who woke them, and no others' \
	"$? $(page "$tmp/part.html" "[r['name'] for r in rows], meta['finding'], len(meta['report']['sections'][0]['findings'])")" "0 (['handler 17', 'client 17'], 1, 1)"
"$to" -q --finding 7 -o "$tmp/no.html" "$tmp/lost.ctp" 2>"$tmp/err"
is 'a finding that is not there: status 1, no file' "$? $(ls "$tmp/no.html" 2>/dev/null)" '1 '
is 'the message says where to find the numbers' "$(cat "$tmp/err")" 'ctp-tohtml: --finding 7: the trace has fewer findings; ctp-report lists them with their numbers'

# --- sections -------------------------------------------------------------------------------------------------------------------
cat "$tmp/odd.ctp" "$tmp/lost.ctp" >"$tmp/two.ctp"
"$json" -a "$tmp/two.ctp" >"$tmp/two.jsonl"
"$to" -o "$tmp/two.html" "$tmp/two.ctp"
ok 'of two sections the last is shown' judge "$tmp/two.html" "$tmp/two.jsonl" 1
"$to" -o "$tmp/calm.html" "$tmp/lost.ctp" "$tmp/odd.ctp"
is 'a section with findings is preferred' "$(page "$tmp/calm.html" "meta['section'], [len(s['findings']) for s in meta['report']['sections']]")" '(0, [1, 0])'
"$to" --ignore never-woken -o "$tmp/calm.html" "$tmp/lost.ctp" "$tmp/odd.ctp"
is 'ignored findings do not count for that' "$(page "$tmp/calm.html" "meta['section'], [len(s['findings']) for s in meta['report']['sections']]")" '(1, [0, 0])'
both="[(p['section'], p['coroutines']) for p in meta['parts']], meta['shown'], len(htmlpage.read(open('$tmp/two.html', encoding='utf-8').read(), 0)[1])"
is 'the page has the events of both sections' "$(page "$tmp/two.html" "$both")" '([(0, 2), (1, 48)], 1, 2)'
is 'the page has the findings of both sections' "$(page "$tmp/two.html" "len(meta['report']['sections'])")" 2
"$to" --section 1 -o "$tmp/two.html" "$tmp/two.ctp"
ok '--section 1 shows the first' judge "$tmp/two.html" "$tmp/two.jsonl" 0
"$to" -o "$tmp/two.html" "$tmp/odd.ctp" "$tmp/lost.ctp"
ok 'two files give the same as their concatenation' judge "$tmp/two.html" "$tmp/two.jsonl" 1
printf '{"type":"@section","attrs":{}}\n{"type":"@end","complete":true}\n' | "$from" >"$tmp/none.ctp"
"$to" -o "$tmp/two.html" "$tmp/lost.ctp" "$tmp/none.ctp"
is 'a last section in which nothing happens is not shown' "$? $(page "$tmp/two.html" "meta['section'], len(rows)")" '0 (0, 48)'
"$to" --section 3 -o "$tmp/three.html" "$tmp/two.ctp" 2>"$tmp/err"
is 'no such section: status 1, no file' "$? $(ls "$tmp/three.html" 2>/dev/null)" '1 '
is 'the missing section is reported' "$(cat "$tmp/err")" 'ctp-tohtml: --section 3: the last is 2'
: | "$to" -o "$tmp/empty.html" 2>"$tmp/err"
is 'nothing at all is a page without rows, and status 3' "$? $(page "$tmp/empty.html" "len(rows), meta['events'], meta['report']['sections']")" '3 (0, 0, [])'
"$to" -o "$tmp/empty.html" "$tmp/none.ctp"
is 'so is a section without records, with status 0' "$? $(page "$tmp/empty.html" "len(rows), meta['span_ns'], len(meta['report']['sections'])")" '0 (0, 0, 1)'

# --- times ----------------------------------------------------------------------------------------------------------------------
"$to" --since 35ns --until 55ns -o "$tmp/cut.html" "$tmp/odd.ctp"
is '--since shows the states at that time, and later events' "$(page "$tmp/cut.html" "[(r['coro'], [tuple(e) for e in r['events']]) for r in rows]")" \
	"[(1, []), (2, [(10, 'lost', 0), (30, 'suspend', 'a.c:7:f'), (30, 'wake', None), (40, 'resume', 4), (50, 'suspend', 'a.c:7:f')])]"
is 'an older coroutine has its parent, in which nothing happens since' "$("$to" --since 35ns -o "$tmp/cut2.html" "$tmp/odd.ctp" &&
	page "$tmp/cut2.html" "[(r['coro'], r['parent'], r['died']) for r in rows]")" '[(1, None, None), (2, 0, 60)]'
is '--until ends the page' "$(page "$tmp/cut.html" "meta['span_ns'], [r['died'] for r in rows]")" '(50, [None, None])'
"$to" --since 18ns -o "$tmp/cut.html" "$tmp/odd.ctp"
is 'a coroutine that had not run yet is ready' "$(page "$tmp/cut.html" "[(e[0], e[1]) for e in rows[1]['events'][:3]], rows[1]['flags']")" \
	"([(15, 'wake'), (20, 'resume'), (25, 'wake')], 3)"
"$to" --since 28ns -o "$tmp/cut.html" "$tmp/odd.ctp"
is 'a coroutine that was woken while it ran is ready once it suspends' "$(page "$tmp/cut.html" "[(e[0], e[1]) for e in rows[1]['events'][:5]], rows[1]['flags']")" \
	"([(10, 'lost'), (20, 'resume'), (20, 'wake'), (29, 'await'), (30, 'suspend')], 2)"
"$to" --since 2s --until 1s "$tmp/odd.ctp" 2>"$tmp/err"
is '--since after --until gives status 2' "$? $(cat "$tmp/err")" '2 ctp-tohtml: --since and --until leave no time between them'
for bad in '--since x' '--section 0' '--max-events -1' '--max-events x'; do
	# shellcheck disable=SC2086
	"$to" $bad "$tmp/odd.ctp" >"$tmp/out" 2>"$tmp/err"
	is "$bad: status 2, nothing written" "$? $(wc -c <"$tmp/out") $(wc -l <"$tmp/err")" '2 0 1'
done

# --- hostile --------------------------------------------------------------------------------------------------------------------
cat >"$tmp/bad.jsonl" <<'JSONL'
{"type":"@section","attrs":{"host":"</script><b>","pid":"7","argv":["./<!--x-->","a&b","\u2028","\udcff\udcfe"]}}
{"type":"site","ts":5,"site":1,"file":"</script>\u2029.c","line":7,"function":"f<int>&"}
{"type":"birth","ts":10,"probe_id":18446744073709551615,"coro":18446744073709551615,"station":0,"after":10,"before":10,"parent":18446744073709551615,"site":1,"pid":7}
{"type":"name","ts":10,"probe_id":18446744073709551615,"coro":18446744073709551615,"name":"</script><script>alert(1)</script>\u2028\udcff\u202e&lt;<!--\u0000\"\\"}
{"type":"thread","ts":11,"tid":18446744073709551615,"pid":7,"name":"</script>"}
{"type":"transition","probe_id":18446744073709551615,"tid":18446744073709551615,"addr":"0x0000000000000001","seq":2,"is_active":true,"ts":20,"coro":18446744073709551615,"index":0,"site":0}
{"type":"transition","probe_id":18446744073709551615,"tid":18446744073709551615,"addr":"0x0000000000000001","seq":2,"is_active":false,"ts":9223372036854775808,"coro":18446744073709551615,"index":1,"site":1}
{"type":"wake","ts":18446744073709551615,"probe_id":18446744073709551615,"coro":18446744073709551615,"tid":1,"by":3}
{"type":"transition","probe_id":1,"tid":2,"addr":"0x0000000000000001","seq":2,"is_active":false,"ts":1,"coro":1,"index":0,"site":1}
{"type":"@end","complete":true}
JSONL
"$from" "$tmp/bad.jsonl" >"$tmp/bad.ctp"
"$to" -o "$tmp/bad.html" "$tmp/bad.ctp"
is 'names that would break out: status 0' $? 0
sed -n '/id="ctp-meta"/,$p' "$tmp/bad.html" >"$tmp/data"
is 'in the data there are no tags but its own' "$(grep -o '<[^>]*>' "$tmp/data" | sed 's/-[0-9]*-[0-9]*"/-N"/' | sort | uniq -c | awk '{ $1 = $1; print }' | tr '\n' ' ')" \
	'1 </body> 1 </div> 1 </html> 2 </script> 1 <div id="ctp-end" hidden> 1 <script type="application/json" id="ctp-meta"> 1 <script type="application/octet-stream" id="ctp-data-N"> '
is 'the policy names the hashes of the page'\''s scripts and of its styles, and allows no others' \
	"$(sed -n "s/.*script-src\(.*\); style-src\(.*\); base-uri.*/\1;\2/p" "$tmp/bad.html")" "$(python3 -c 'import sys; sys.path.insert(0, "t/helper"); import htmlpage
text = open(sys.argv[1], encoding="utf-8").read(); print(htmlpage.hashes("script", text) + ";" + htmlpage.hashes("style", text))' "$tmp/bad.html")"
is 'these are two and one' "$(grep -o "'sha256-[A-Za-z0-9+/]*='" "$tmp/bad.html" | wc -l)" 3
is 'nor is there a line separator' "$(grep -c "$(printf '\342\200[\250\251]')" "$tmp/data")" 0
ok 'it is UTF-8' iconv -f UTF-8 -t UTF-16 -o /dev/null "$tmp/bad.html"
is 'the name is unchanged, up to its NUL' "$(page "$tmp/bad.html" "[ascii(r['name']) for r in rows][1]")" \
	"'</script><script>alert(1)</script>\\u2028\\udcff\\u202e&lt;<!--'"
is 'ids have all their bits, and times stay within what a browser counts' \
	"$(page "$tmp/bad.html" "[(r['coro'], r['probe'], r['born'], [e[0] for e in r['events']]) for r in rows], meta['span_ns']")" \
	"([(1, 1, 0, [0]), (18446744073709551615, 18446744073709551615, 9, [19, 1125899906842623, 1125899906842623])], 1125899906842623)"
for seed in 1 2 3 4; do
	"$O/t/helper/randstream" "$seed" | "$to" -q >"$tmp/random.html"
	like "a random stream, seed $seed, is a page" "$? $(page "$tmp/random.html" 'len(rows) == meta["coroutines"]')" '^[03] True$'
done
head -c -20 "$tmp/lost.ctp" | "$to" -q -o "$tmp/cut.html"
is 'a truncated stream gives status 3, and a page of the rest' "$? $(page "$tmp/cut.html" "len(rows) > 0 and not meta['report']['sections'][0]['complete']")" '3 True'

# --- too much -------------------------------------------------------------------------------------------------------------------
"$to" --max-events 1000 -o "$tmp/less.html" "$tmp/lost.ctp"
is '--max-events: no more events than that, plus one in each shortened row' "$(page "$tmp/less.html" "meta['events'] <= 1000 + len(rows)")" True
is 'omitted events are counted' "$(page "$tmp/less.html" \
	"sum(e[1] != 'lost' for r in rows for e in r['events']) + meta['omitted_events'], meta['omitted_coroutines'] == sum(r['flags'] >> 3 & 1 for r in rows)")" \
	"($(page "$tmp/lost.html" "meta['events']"), True)"
is 'ended coroutines are left out whole' "$(page "$tmp/less.html" "all(not r['events'] and r['died'] for r in rows if r['flags'] & 8), any(r['flags'] & 8 for r in rows)")" '(True, True)'
is 'the others have the number of missing events, then their newest' "$(page "$tmp/less.html" \
	"all(r['events'][1:] == f['events'][r['events'][0][2]:] and not r['flags'] & 1 if r['events'][0][1] == 'lost' else r['events'] == f['events'] for r, f in zip(rows, htmlpage.read(open('$tmp/lost.html').read())[1]) if r['events'])")" \
	True
is 'the stuck coroutine is among them' "$(page "$tmp/less.html" "[r['flags'] & 8 or r['events'][-1][1] for r in rows if r['died'] is None]")" "['suspend']"

# 40 coroutines end one after the other: the first was the last to wake a living one, the second was destroyed while it waited.
{
	step() { printf '{"type":"transition","probe_id":%s,"tid":1,"addr":"0x1","seq":2,"is_active":%s,"ts":%s,"coro":%s,"index":%s,"site":0}\n' "$1" "$2" "$3" "$1" "$4"; }
	about() { printf '{"type":"%s","ts":%s,"probe_id":%s,"coro":%s,"after":%s,"before":%s%s}\n' "$1" "$2" "$3" "$3" "$2" "$2" "$4"; }
	echo '{"type":"@section","attrs":{"pid":"7"}}'
	about birth 1 100 ',"station":0,"parent":0,"site":0,"pid":7'
	step 100 false 2 0
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40; do
		about birth "${i}0" "$i" ',"station":1,"parent":0,"site":0,"pid":7'
		step "$i" true "${i}1" 0
		[ "$i" != 1 ] || echo '{"type":"wake","ts":11,"probe_id":100,"coro":100,"tid":1,"by":1}'
		step "$i" false "${i}2" 1
		[ "$i" = 2 ] || step "$i" true "${i}3" 2
		about death "${i}4" "$i" ''
	done
	echo '{"type":"@end","complete":true}'
} | "$from" | "$to" --max-events 60 -o "$tmp/kept.html"
is 'of ended coroutines, wakers of living ones and destroyed waiters are left out last' \
	"$(page "$tmp/kept.html" "[(r['coro'], len(r['events'])) for r in rows if r['coro'] in (1, 2, 3, 4, 40, 100)]")" \
	'[(100, 2), (1, 3), (2, 2), (3, 0), (4, 0), (40, 3)]'

# --- the flame view, and a baseline ---------------------------------------------------------------------------------------------
for seed in 1 2; do python3 t/helper/page/nested.py $seed $((3 * seed)) | "$from" >"$tmp/nested$seed.ctp"; done
"$to" --baseline "$tmp/nested2.ctp" -o "$tmp/flame.html" "$tmp/nested1.ctp" 2>"$tmp/err"
is 'a page with a baseline' "$? $(cat "$tmp/err")" '0 '
# The stacks of the baseline in a page, as lines of ctp-report --folded.
cat >"$tmp/stacks.py" <<'PYTHON'
import sys
sys.path.insert(0, "t/helper")
import htmlpage
b = htmlpage.read(open(sys.argv[1], encoding="utf-8").read())[0]["baseline"]
for *frames, state, ns in b["stacks"]:
    if state in (int(sys.argv[2]), 3):
        names = [b["frames"][i].replace(" ", "_") or "[no_place]" for i in frames] + ["[unknown]"] * (state == 3)
        print(";".join(names) or "[no_place]", ns)
PYTHON
state=0
for name in suspended runnable running; do
	"$report" --folded=$name --folded-unit ns "$tmp/nested2.ctp" | LC_ALL=C sort >"$tmp/want"
	python3 "$tmp/stacks.py" "$tmp/flame.html" $state | LC_ALL=C sort >"$tmp/got"
	is "the baseline has the stacks of ctp-report --folded=$name" "$(cat "$tmp/got")" "$(cat "$tmp/want")"
	state=$((state + 1))
done
is 'it says what it is of' "$(page "$tmp/flame.html" "meta['baseline']['title'], meta['baseline']['source'], meta['baseline']['ordinal'], meta['baseline']['left_out']")" \
	"('./server --port 80', '$tmp/nested2.ctp', False, 0)"
is 'its totals are the sums of its stacks' "$(page "$tmp/flame.html" "meta['baseline']['total_ns'] == [sum(s[-1] for s in meta['baseline']['stacks'] if s[-2] == i) for i in range(4)]")" True
is 'without --baseline there is none' "$(page "$tmp/lost.html" "'baseline' in meta")" False
"$to" --baseline "$tmp/bad.ctp" -o "$tmp/flame.html" "$tmp/nested1.ctp"
sed -n '/id="ctp-meta"/p' "$tmp/flame.html" >"$tmp/data"
is 'texts of a baseline cannot break out' "$? $(grep -o '<[^>]*>' "$tmp/data" | tr '\n' ' ')" '0 <script type="application/json" id="ctp-meta"> </script> '
# 12,000 sites: the page keeps the 10,000 largest stacks.
awk 'BEGIN {
	print "{\"type\":\"@section\",\"attrs\":{\"pid\":\"7\"}}"
	for (i = 1; i <= 12000; i++) {
		printf "{\"type\":\"site\",\"ts\":1,\"site\":%d,\"file\":\"a.c\",\"line\":%d,\"function\":\"f\"}\n", i, i
		printf "{\"type\":\"birth\",\"ts\":1,\"probe_id\":%d,\"coro\":%d,\"station\":0,\"after\":1,\"before\":1,\"parent\":0,\"site\":%d,\"pid\":7}\n", i, i, i
	}
	for (i = 1; i <= 12000; i++)
		printf "{\"type\":\"transition\",\"probe_id\":%d,\"tid\":1,\"addr\":\"0x1\",\"seq\":2,\"is_active\":true,\"ts\":%d,\"coro\":%d,\"index\":0,\"site\":0}\n", i, 1 + i, i
	print "{\"type\":\"@end\",\"complete\":true}"
}' | "$from" -q >"$tmp/many.ctp"
"$to" -q --baseline "$tmp/many.ctp" -o "$tmp/flame.html" "$tmp/nested1.ctp"
is 'the largest stacks of a baseline are kept, the others counted' "$(page "$tmp/flame.html" \
	"(lambda b: (len(b['stacks']), b['left_out'], b['total_ns'][2] == b['left_out_ns'][2] + sum(s[-1] for s in b['stacks']), b['stacks'][-1][-1]))(meta['baseline'])")" \
	'(10000, 1999, True, 2000)'
head -c -200 "$tmp/nested2.ctp" >"$tmp/short.ctp"
for bad in none.such short.ctp lost.jsonl none.ctp; do
	"$to" -q --baseline "$tmp/$bad" -o "$tmp/not.html" "$tmp/nested1.ctp" 2>"$tmp/err"
	is "a baseline that cannot be used ($bad): status 1, a message, no page" "$? $(grep -c "$bad" "$tmp/err") $(ls "$tmp/not.html" 2>/dev/null)" '1 1 '
done
"$to" --baseline "$tmp/nested2.ctp" -o "$tmp/nested2.ctp" "$tmp/nested1.ctp" 2>"$tmp/err"
is 'an output that is the baseline is refused' "$? $(cat "$tmp/err")" "1 ctp-tohtml: -o $tmp/nested2.ctp: is also the baseline; name another file"
"$to" --baseline - "$tmp/nested1.ctp" >"$tmp/out" 2>"$tmp/err"
is 'a baseline needs a name' "$? $(cat "$tmp/err") $(wc -c <"$tmp/out")" '2 ctp-tohtml: --baseline -: give the name of a file 0'
if command -v node >/dev/null; then
	node t/helper/page/flame.js >"$tmp/tap"
	is 'the model of the flame view, on traces with known answers' "$? $(grep -v '^ok' "$tmp/tap" | sed 's/[0-9]*$/N/')" '0 1..N'
	python3 t/helper/gaps.py make 5 | "$from" -q >"$tmp/gaps.ctp"
	for trace in lost nested1 gaps; do
		"$to" -q -o "$tmp/flame.html" "$tmp/$trace.ctp"
		for name in suspended runnable running; do
			"$report" -q --folded=$name --folded-unit ns "$tmp/$trace.ctp" |
				awk '{ sum[$1] += $2 } END { for (stack in sum) printf "%s %.0f\n", stack, sum[stack] }' | LC_ALL=C sort >"$tmp/want"
			node t/helper/page/flame.js "$tmp/flame.html" $name | LC_ALL=C sort >"$tmp/got"
			is "the flame view has the sums of ctp-report --folded=$name ($trace)" "$(cat "$tmp/got")" "$(cat "$tmp/want")"
		done
	done
	node t/helper/page/tables.js >"$tmp/tap"
	is 'the tables, on traces with known answers' "$? $(grep -v '^ok' "$tmp/tap" | sed 's/[0-9]*$/N/')" '0 1..N'
	for trace in lost nested1 gaps; do
		"$json" -qa "$tmp/$trace.ctp" >"$tmp/rows.jsonl"
		"$to" -q -o "$tmp/tables.html" "$tmp/$trace.ctp"
		ok "the tables have what the stream has ($trace)" python3 t/helper/page/tables.py "$tmp/rows.jsonl" "$tmp/tables.html"
	done
else
	skip 'there is no node to run the model of the flame view'
fi

# --- files ----------------------------------------------------------------------------------------------------------------------
if [ -c /dev/full ]; then
	"$to" "$tmp/lost.ctp" >/dev/full 2>"$tmp/err"
	is 'to a full disk: status 1' "$? $(cat "$tmp/err")" '1 ctp-tohtml: stdout: after 0 bytes: No space left on device'
	"$to" -o /dev/full "$tmp/lost.ctp" 2>"$tmp/err"
	is 'with -o a full disk gives status 1' $? 1
fi
mkdir "$tmp/files"
echo before >"$tmp/files/there.html"
"$to" -o "$tmp/files/there.html" "$tmp/lost.jsonl" 2>"$tmp/err"
is 'an input that is no stream gives status 1, and the old file stays' "$? $(cat "$tmp/files/there.html")" '1 before'
(ulimit -f 40 && trap '' XFSZ && exec "$to" -o "$tmp/files/there.html" "$tmp/lost.ctp") 2>"$tmp/err"
is 'an output that cannot grow gives status 1, and the old file stays' "$? $(cat "$tmp/files/there.html")" '1 before'
"$to" -o "$tmp/lost.ctp" "$tmp/lost.ctp" 2>"$tmp/err"
is 'an output that is the input is refused' "$? $(cat "$tmp/err")" "1 ctp-tohtml: -o $tmp/lost.ctp: is also the input; name another file"
is 'no other file is left behind' "$(ls -A "$tmp/files")" there.html
done_testing
