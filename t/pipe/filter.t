#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# ctp-filter writes what a model in Python says, of random rows with random options; what it leaves out is never called lost; and
# nothing that was left out leads to a finding.
# Mostly waits.
. t/helper/tap.sh
command -v python3 >/dev/null || skip_all 'there is no python3'
filter=$BIN/ctp-filter from=$BIN/ctp-fromjsonl to=$BIN/ctp-tojsonl stat=$BIN/ctp-stat report=$BIN/ctp-report
number() { grep -o "\"$1\":[0-9]*" "$2" | head -n 1 | cut -d : -f 2; } # of JSON: the first of that name

# --- the model: random rows, with losses, several sections, sections without an end, two filters one after the other
compare() { # SEED
	python3 t/helper/filter-model.py make "$1" >"$tmp/all.jsonl"
	"$from" -q "$tmp/all.jsonl" >"$tmp/all.ctp"
	"$to" -qa "$tmp/all.ctp" >"$tmp/all.jsonl"
	for turn in 0 1 2; do
		eval "set -- $1 $(python3 t/helper/filter-model.py options $(($1 * 10 + turn)))"
		seed=$1
		shift
		"$filter" -q "$@" "$tmp/all.ctp" >"$tmp/some.ctp" 2>"$tmp/err"
		"$to" -qa "$tmp/some.ctp" >"$tmp/some.jsonl" 2>>"$tmp/err"
		python3 t/helper/filter-model.py check "$tmp/all.jsonl" "$tmp/some.jsonl" "$@" >"$tmp/says"
		note "$seed: $* $(tail -n 1 "$tmp/says")"
		is "rows $seed, $*: as the model says" "$(sed '$d' "$tmp/says" | head -n 5; cat "$tmp/err")" ''
		set -- "$seed"
	done
}
for seed in 1 2 3 5 7 11 13 20 27 34 124; do compare $seed; done
if [ "${EVERY:-}" ]; then for seed in $(seq 100 200); do compare "$seed"; done; fi

# --- without options: the same records, in the same order
for seed in 1 2 3; do
	"$O/t/helper/randstream" $seed >"$tmp/random.ctp"
	"$filter" -q "$tmp/random.ctp" >"$tmp/copy.ctp" 2>"$tmp/err"
	like "random stream $seed: the copy has a status" $? '^[03]$'
	"$to" -qa "$tmp/random.ctp" >"$tmp/a" 2>"$tmp/err"
	"$to" -qa "$tmp/copy.ctp" >"$tmp/b" 2>"$tmp/err"
	ok "random stream $seed: the copy has the same records" cmp "$tmp/a" "$tmp/b"
	for options in --coro=3 --since=50ns "--until=70ns --thread=2" --anonymise; do
		"$filter" -q $options "$tmp/random.ctp" >"$tmp/some.ctp" 2>"$tmp/err"
		"$stat" -q "$tmp/some.ctp" >"$tmp/out" 2>&1
		is "random stream $seed, $options: each section is there" "$(sed -n 's/^sections:  *\([0-9]*\),.*/\1/p' "$tmp/out")" 8
	done
done

# --- packets that are missing in the input are missing in the output
"$BIN/ctp-collect" -q -o "$tmp/lostwake.ctp" "$O/examples/lostwake" >"$tmp/said" 2>&1
bytes=$(wc -c <"$tmp/lostwake.ctp")
{ head -c $((bytes / 3)) "$tmp/lostwake.ctp"; tail -c +$((bytes / 2)) "$tmp/lostwake.ctp"; } >"$tmp/hole.ctp"
for options in -q --coro=5; do
	"$filter" -q $options "$tmp/hole.ctp" >"$tmp/copy.ctp"
	is "a missing packet, $options: status 3" $? 3
	"$stat" -qj "$tmp/copy.ctp" >"$tmp/json"
	is "a reader of the output finds one missing, too, $options" "$? $(number missing_packets "$tmp/json")" '3 1'
done
head -c $((bytes / 2)) "$tmp/lostwake.ctp" >"$tmp/cut.ctp"
"$filter" -q --coro 5 "$tmp/cut.ctp" >"$tmp/copy.ctp"
is 'a section without an end has none in the output' "$("$stat" -q "$tmp/copy.ctp" | sed -n 's/^sections: *//p')" '1, not complete; 1 cut short; 1 filtered'

# --- a whole section is not filtered, and its report says as much as before
findings() { "$report" -qj "$1" | grep -o '"filtered":[^,]*\|"certainty":"[a-z]*"' | tr '\n' ' '; }
is 'a stuck coroutine is likely' "$(findings "$tmp/lostwake.ctp")" '"filtered":null "certainty":"likely" '
cat "$tmp/lostwake.ctp" "$tmp/lostwake.ctp" >"$tmp/twice.ctp"
for options in --section=2 --since=0 "--section=1 --anonymise"; do
	"$filter" -q $options "$tmp/twice.ctp" >"$tmp/copy.ctp"
	is "$options: whole sections are not filtered" "$(findings "$tmp/copy.ctp" | sed 's/\(.* \)\1$/\1/')" '"filtered":null "certainty":"likely" '
done
"$filter" -q --coro 5 "$tmp/twice.ctp" | "$filter" -q --section 1 >"$tmp/copy.ctp"
is 'a section stays filtered that was before' "$(findings "$tmp/copy.ctp")" '"filtered":"--coro 5" '

# --- a trace with losses: only losses are lost
python3 t/helper/gaps.py make 11 | "$from" -q -o "$tmp/gaps.ctp"
"$to" -qa "$tmp/gaps.ctp" >"$tmp/gaps.jsonl"
for options in --coro=1,2,3 --since=1ms --last=1ms --state=suspended "--class=wake --coro=4" "--thread=701 --until=3ms"; do
	"$filter" -q $options "$tmp/gaps.ctp" >"$tmp/some.ctp" 2>"$tmp/err"
	"$to" -qa "$tmp/some.ctp" >"$tmp/some.jsonl" 2>"$tmp/err"
	lost=$(sed -n 's/^{"type":"lost",.*"count":\([0-9]*\),.*/\1/p' "$tmp/some.jsonl" | awk '{ n += $1 } END { print n + 0 }')
	"$stat" -qj "$tmp/some.ctp" >"$tmp/stat.json"
	"$report" -j "$tmp/some.ctp" >"$tmp/report.json" 2>"$tmp/err"
	is "$options: stat and report count what loss records count" "$(number lost "$tmp/stat.json") $(number lost "$tmp/report.json")" "$lost $lost"
	is "$options: the end counts what is there" "$(number unseen "$tmp/stat.json")" 0
	"$report" "$tmp/some.ctp" >"$tmp/text" 2>"$tmp/err"
	[ "$lost" != 0 ] || is "$options: nothing is called lost" "$(grep -i ' lost\|lost ' "$tmp/text" | grep -v '; nothing lost$')" ''
	like "$options: the report says that it is filtered" "$(sed -n '/filtered: /p' "$tmp/text")" "^  filtered: ${options%%=*} "
done

# --- nothing is left out of the coroutines: what was lost stays lost, in each tool
lost_in() { # NAME: what each tool calls lost, and left out
	"$report" -qj "$tmp/$1.ctp" >"$tmp/report.json"
	echo "report: $(number gaps "$tmp/report.json") gaps"
	if [ -x "$BIN/ctp-toperfetto" ]; then
		"$BIN/ctp-toperfetto" -q --chrome -o "$tmp/chrome.json" "$tmp/$1.ctp"
		echo "perfetto: $(grep -o '"name":"\(lost\|left out\)"' "$tmp/chrome.json" | sort | uniq -c | tr -s ' \n' ' ')"
	fi
	if [ -x "$BIN/ctp-sqlite" ] && command -v sqlite3 >/dev/null; then
		"$BIN/ctp-sqlite" -q -o "$tmp/lost.db" "$tmp/$1.ctp"
		echo "sqlite: $(sqlite3 "$tmp/lost.db" 'select gaps, lost from loss_totals' 'select count(*), sum(lost) from gaps' | tr '\n' ' ')"
	fi
}
lost_in gaps >"$tmp/whole"
note "$(cat "$tmp/whole")"
for options in --until=1m "--coro=$(seq -s, 999)" '--class=*'; do
	"$filter" -q "$options" "$tmp/gaps.ctp" >"$tmp/some.ctp"
	is "$(echo "$options" | cut -c 1-20): all gaps are still lost" "$(lost_in some)" "$(cat "$tmp/whole")"
done
# Without losses of unknown coroutines, which may be in any gap.
"$to" -qa "$tmp/gaps.ctp" | grep -v '^{"type":"lost".*"coro":0,' | "$from" -q -o "$tmp/known.ctp"
lost_in known >"$tmp/whole"
"$filter" -q --state=running "$tmp/known.ctp" >"$tmp/some.ctp"
lost_only() { grep -o 'report.*\|[0-9]* "name":"lost"\|sqlite: [^ ]*'; }
is 'with other gaps, the same events are lost' "$(lost_in some | lost_only)" "$(lost_only <"$tmp/whole")"
"$to" -qa "$tmp/known.ctp" | sed 's/"attrs":{/&"filtered":"--state running",/' | "$from" -q -o "$tmp/some.ctp"
is 'also if the loss comes after the next transition' "$(lost_in some | grep 'report\|sqlite')" "$(grep 'report\|sqlite' "$tmp/whole")"

# --- losses that ended before --since are left out, also those that are late, and no coroutine waits that may have gone on in them
awk 'function on(ts, coro, index_, active) {
	printf "{\"type\":\"transition\",\"ts\":%d,\"coro\":%d,\"tid\":7,\"is_active\":%s,\"index\":%d,\"addr\":\"0x5\"}\n", ts, coro, active ? "true" : "false", index_ }
function lost(ts, coro, index_, count, after) {
	printf "{\"type\":\"lost\",\"ts\":%d,\"coro\":%d,\"index\":%d,\"count\":%d,\"after\":%d}\n", ts, coro, index_, count, after }
function missed(ts, count, after) { printf "{\"type\":\"missed\",\"ts\":%d,\"tid\":7,\"count\":%d,\"after\":%d,\"transitions\":0}\n", ts, count, after }
function u64(name, role) { return "{\"name\":\"" name "\",\"type\":\"u64\",\"role\":\"" role "\"}" }
BEGIN {
	print "{\"type\":\"@section\",\"attrs\":{\"pid\":\"5\"}}"
	print "{\"type\":\"@schema\",\"name\":\"transition\",\"kind\":\"transition\",\"fields\":[" u64("ts", "time") "," u64("coro", "coroutine") "," \
		u64("tid", "thread") ",{\"name\":\"is_active\",\"type\":\"bool\",\"role\":\"state\"}," u64("index", "sequence") ",{\"name\":\"addr\",\"type\":\"u64\",\"role\":\"address\",\"hex\":true}]}"
	print "{\"type\":\"@schema\",\"name\":\"lost\",\"kind\":\"loss\",\"fields\":[" u64("ts", "time") "," u64("coro", "coroutine") "," u64("index", "sequence") "," u64("count", "count") "," u64("after", "time") "]}"
	print "{\"type\":\"@schema\",\"name\":\"missed\",\"kind\":\"loss\",\"fields\":[" u64("ts", "time") "," u64("tid", "thread") "," u64("count", "count") "," u64("after", "time") ",{\"name\":\"transitions\",\"type\":\"u64\"}]}"
	on(1000, 1, 0, 1); on(1100, 2, 0, 1); on(1150, 3, 0, 1); on(1170, 4, 0, 1)
	on(1200, 2, 1, 0); on(1300, 3, 1, 0); on(1350, 4, 1, 0)
	lost(1400, 0, 0, 9, 1390)                       # of unknown coroutines: 2, 3 and 4 may have gone on
	on(1500, 1, 3, 0); lost(1500, 1, 1, 2, 1000)    # the state after it is known
	lost(1600, 2, 2, 2, 1200)                       # and here it is not
	missed(1700, 7, 1400); missed(2300, 5, 1900)    # the second overlaps
	on(2400, 3, 6, 1); lost(2400, 3, 2, 4, 1300)    # and so does this
	on(2500, 1, 4, 1); on(2600, 1, 5, 0)
	for (i = 0; i < 150000; i++) on(3000 + i, 9, i, i % 2 == 0)
	lost(1450, 1, 1, 1, 1000)
	print "{\"type\":\"@end\",\"complete\":true}"
}' | "$from" -q -o "$tmp/before.ctp" 2>"$tmp/err"
last_ns=$("$to" -qa "$tmp/before.ctp" | grep -o '"ts":[0-9]*' | cut -d : -f 2 | sort -n | tail -n 1)
for options in --since=1us "--last=$((last_ns - 2000))ns" "--since=1us --class=*" "--since=1us --coro=1,2,3,4,9"; do
	"$filter" -q $options "$tmp/before.ctp" >"$tmp/some.ctp" 2>"$tmp/err"
	"$to" -qa "$tmp/some.ctp" >"$tmp/some.jsonl"
	is "$options: losses of this time" "$(grep '"type":"\(lost\|missed\)"' "$tmp/some.jsonl" | grep -o '"ts":[0-9]*' | tr '\n' ' ')" '"ts":2300 "ts":2400 '
	"$report" -qj "$tmp/some.ctp" >"$tmp/report.json"
	is "$options: in the report, too" "$(for name in lost missed gaps; do number $name "$tmp/report.json"; done | tr '\n' ' ')" '4 5 1 '
	like "$options: and without the time of other gaps" "$("$report" -q "$tmp/some.ctp")" '^  coroutines have 1 gap: what they did then is not counted$'
	case $options in
	*class*) continue ;; # nothing of 2 and 4 is written
	esac
	is "$options: of 2 and 4 nobody knows whether they wait" "$(grep '"type":"left_out"' "$tmp/some.jsonl" | grep -o '"coro":[0-9]*,"after":[0-9]*' | sort | tr '\n' ' ')" \
		'"coro":2,"after":1200 "coro":4,"after":1350 '
	is "$options: so they are in a gap" "$(number in_gap "$tmp/report.json")" 2
done

"$to" -qa "$tmp/before.ctp" | grep -v '"coro":9,' | sed 's/"pid":"5"/"pid":"5","clock":"monotonic","wall_offset_ns":"1000"/' >"$tmp/some.jsonl"
"$from" -q -o "$tmp/a.ctp" "$tmp/some.jsonl"
grep -v '"coro":0,' "$tmp/some.jsonl" | "$from" -q -o "$tmp/b.ctp"
"$BIN/ctp-merge" -q -o "$tmp/ab.ctp" "$tmp/a.ctp" "$tmp/b.ctp"
"$filter" -q --since=1us "$tmp/ab.ctp" | "$report" -qj >"$tmp/report.json"
is 'a loss of unknown coroutines is one of its origin' "$(grep -o '"in_gap":[0-9]*' "$tmp/report.json" | tr '\n' ' ')" '"in_gap":2 "in_gap":1 '

# --- what threads did before --since is not known
threads() { "$report" -j "$@" 2>"$tmp/err" | jq -c '[.sections[] | [.threads[] | select(.busy_ns > 0) | [.tid, .busy_ns, .busy_share]] | sort]'; }
if command -v jq >/dev/null; then
	"$to" -qa "$tmp/lostwake.ctp" | sed '1s/"boot_id":"[^"]*"/"boot_id":"another"/; 1s/"wall_offset_ns":"[0-9]*/&7/' | "$from" -q >"$tmp/other.ctp"
	"$BIN/ctp-merge" -q -o "$tmp/merge.ctp" "$tmp/lostwake.ctp" "$tmp/other.ctp"
	for file in lostwake merge; do
		want=$(threads --since 100ms --until 300ms "$tmp/$file.ctp")
		"$filter" -q --since=100ms "$tmp/$file.ctp" | "$filter" -q --since=50ms --until=300ms >"$tmp/some.ctp"
		is "$file: threads are busy as in the same time of the whole trace" "$(threads "$tmp/some.ctp")" "$want"
		"$filter" -q --since=50ms --until=300ms "$tmp/$file.ctp" | "$filter" -q --since=100ms --anonymise >"$tmp/some.ctp"
		is "$file: two filters, and without names" "$(threads "$tmp/some.ctp")" "$want"
	done
	for file in lostwake other; do "$filter" -q --since=100ms --until=300ms -o "$tmp/some-$file.ctp" "$tmp/$file.ctp"; done
	"$BIN/ctp-merge" -q -o "$tmp/some.ctp" "$tmp/some-lostwake.ctp" "$tmp/some-other.ctp"
	is 'merged after that, by wall-clock time' "$(threads "$tmp/some.ctp")" "$want"
fi

# --- how large a part of the time threads are busy is not known if coroutines or their events are left out
shares() { "$report" -j "$@" 2>"$tmp/err" | jq -c '[.sections[] | [.threads[].busy_share | type] | unique | join(" ")]'; }
if command -v jq >/dev/null; then
	cp "$tmp/lostwake.ctp" "$tmp/part.ctp"
	for option in --coro=11,21 --name='handler*' --finding=1 --place='*:*' --state=running; do
		"$filter" -q "$option" "$tmp/lostwake.ctp" >"$tmp/part.ctp"
		is "$option: the share is not known" "$(shares "$tmp/part.ctp")" '["null"]'
	done
	is 'nor is it in the text' "$("$report" -q "$tmp/part.ctp" | awk '/^ +busy +share/ { n = 5 } --n > 0 && $2 != "share" { print $2 }' | sort -u)" -
	pid=$("$to" -qa "$tmp/lostwake.ctp" | sed -n '1s/.*"pid":"\([0-9]*\)".*/\1/p')
	is '--process leaves no event of its threads out' "$("$filter" -q --process="$pid" "$tmp/lostwake.ctp" >"$tmp/all.ctp"; shares "$tmp/all.ctp")" '["number"]'
	is 'after another filter, and without names' "$("$filter" -q --since=1ms --anonymise "$tmp/part.ctp" >"$tmp/some.ctp"; shares "$tmp/some.ctp")" '["null"]'
	"$BIN/ctp-merge" -q -o "$tmp/some.ctp" "$tmp/part.ctp" "$tmp/other.ctp"
	is 'merged: it is not known in that origin' "$(shares "$tmp/some.ctp")" '["null","number"]'
	"$filter" -q --name='handler*' "$tmp/merge.ctp" >"$tmp/ones.ctp"
	is 'a part of a merge: in none' "$(shares "$tmp/ones.ctp")" '["null","null"]'
	"$BIN/ctp-merge" -q -o "$tmp/some.ctp" "$tmp/ones.ctp" "$tmp/other.ctp"
	is 'merged once more: still' "$(shares "$tmp/some.ctp" | grep -c number)" 0
fi

# --- all tools say so
"$filter" -q --coro=1,2 "$tmp/gaps.ctp" >"$tmp/some.ctp"
like 'ctp-stat' "$("$stat" -q "$tmp/some.ctp")" '^  filtered:    --coro 1,2$'
like 'ctp-stat -j' "$("$stat" -qj "$tmp/some.ctp")" '"filtered":1,.*"filtered":"--coro 1,2"'
like 'ctp-report -m' "$("$report" -m "$tmp/some.ctp" 2>"$tmp/err")" 'filtered: `*--coro 1,2`*$'
like 'ctp-report -j' "$("$report" -j "$tmp/some.ctp" 2>"$tmp/err")" '"filtered":"--coro 1,2"'
for tool in tojsonl tocsv; do
	like "ctp-$tool -a" "$("$BIN/ctp-$tool" -qa "$tmp/some.ctp" | head -n 3)" 'filtered.*--coro 1,2'
done
if [ -x "$BIN/ctp-toctf" ]; then
	"$BIN/ctp-toctf" -q -o "$tmp/ctf" "$tmp/some.ctp" 2>"$tmp/err"
	like 'ctp-toctf' "$(cat "$tmp/ctf"/metadata "$tmp/ctf"/*/metadata 2>/dev/null)" 'filtered = "--coro 1,2";'
fi
if [ -x "$BIN/ctp-tohtml" ]; then
	like 'ctp-tohtml' "$("$BIN/ctp-tohtml" -q "$tmp/some.ctp" 2>"$tmp/err" | grep -o '"filtered":"[^"]*"')" '"--coro 1,2"'
fi
if [ -x "$BIN/ctp-sqlite" ] && command -v sqlite3 >/dev/null; then
	"$BIN/ctp-sqlite" -q "$tmp/some.db" "$tmp/some.ctp" 2>"$tmp/err" || "$BIN/ctp-sqlite" -q -o "$tmp/some.db" "$tmp/some.ctp" 2>"$tmp/err"
	like 'ctp-sqlite' "$(sqlite3 "$tmp/some.db" 'select attrs from sections')" '"filtered":"--coro 1,2"'
	"$filter" -q --state=suspended "$tmp/gaps.ctp" >"$tmp/waits.ctp"
	"$BIN/ctp-sqlite" -q "$tmp/waits.db" "$tmp/waits.ctp" 2>"$tmp/err" || "$BIN/ctp-sqlite" -q -o "$tmp/waits.db" "$tmp/waits.ctp" 2>"$tmp/err"
	is 'gaps in its views are not lost' "$(sqlite3 "$tmp/waits.db" 'select count(*) > 100, coalesce(sum(lost), 0) - (select coalesce(sum(count), 0) from losses where coro <> 0) <= 0 from gaps')" '1|1'
fi

# --- a finding, and what a report of a part may still say
"$report" "$tmp/lostwake.ctp" >"$tmp/text" 2>"$tmp/err"
like 'the whole trace has a finding' "$(cat "$tmp/text")" '^1\. likely: .*never-woken'
stuck=$("$report" -j "$tmp/lostwake.ctp" | grep -o '"coroutines":\[{"coro":"[0-9]*' | head -n 1 | grep -o '[0-9]*$')
for options in "--coro=$stuck" '--name=handler*' --state=suspended --class=transition --place=handler_step --since=200ms; do
	"$filter" -q $options "$tmp/lostwake.ctp" >"$tmp/some.ctp"
	is "$options: status" $? 0
	"$report" -j "$tmp/some.ctp" >"$tmp/report.json" 2>"$tmp/err"
	is "$options: no finding rests on what was left out" "$? $(grep -o '"rule":"[^"]*"' "$tmp/report.json")" '3 '
done
"$filter" -q --coro="$stuck" "$tmp/lostwake.ctp" >"$tmp/some.ctp"
like 'what still waits is there, with its place' "$("$report" "$tmp/some.ctp")" 'handler_step, spawned at .*longest: handler 17$'
is 'all of its transitions are there' "$("$to" -qa "$tmp/some.ctp" | grep '"type":"transition"' | sort)" \
	"$("$to" -qa "$tmp/lostwake.ctp" | grep '"type":"transition"' | grep "\"coro\":$stuck," | sort)"
is 'and each wake, with the name of the waker' "$("$to" -qa "$tmp/some.ctp" | sed -n 's/.*"type":"name".*"name":"\(.*\)".*/\1/p' | sort)" 'client 17
handler 17'
"$filter" -q --finding=1 --around=10ms "$tmp/lostwake.ctp" >"$tmp/around.ctp"
like '--finding --around: the finding is there' "$("$report" "$tmp/around.ctp")" '^   who: handler 17 '
"$filter" -q --finding=1 <"$tmp/lostwake.ctp" >"$tmp/none" 2>"$tmp/err"
is '--finding needs a file' "$? $(cat "$tmp/err")" '2 ctp-filter: --finding 1: the input is read twice, so give files, not standard input'
"$filter" -q --finding=9 "$tmp/lostwake.ctp" >"$tmp/none" 2>"$tmp/err"
is '--finding that does not exist' "$? $(cat "$tmp/err")" '1 ctp-filter: --finding 9: the trace has fewer findings; ctp-report lists them with their numbers'

# A circle of joins is proved by its members alone, and else comes from the report of the whole trace; a lock that a coroutine holds that was left out is held by nobody who is known.
if cc_traced -g -o "$tmp/cycle" t/defects/cycle.c 2>"$tmp/err"; then
	timeout -s TERM 3 "$BIN/ctp-collect" -q -o "$tmp/cycle.ctp" "$tmp/cycle" bug >"$tmp/said" 2>&1
	rules=$("$report" -j "$tmp/cycle.ctp" 2>"$tmp/err" | grep -o '"rule":"[^"]*","certainty":"[^"]*"' | head -n 1)
	"$filter" -q --finding=1 "$tmp/cycle.ctp" >"$tmp/some.ctp"
	after=$("$report" -j "$tmp/some.ctp" 2>"$tmp/err" | grep -o '"rule":"[^"]*","certainty":"[^"]*"' | head -n 1)
	is 'a circle stays one' "$after" "$rules"
	"$filter" -q --coro="$("$report" -j "$tmp/cycle.ctp" 2>"$tmp/err" | grep -o '{"coro":"[0-9]*' | grep -o '[0-9]*$' | paste -sd, )" "$tmp/cycle.ctp" >"$tmp/some.ctp"
	after=$("$report" -j "$tmp/some.ctp" 2>"$tmp/err" | grep -o '"rule":"[^"]*","certainty":"[^"]*"' | head -n 1)
	case $rules in
	*proved*) is 'a circle that is proved stays proved' "$after" "$rules" ;;
	*) is 'a circle that is likely is not judged' "$after" '' ;;
	esac
fi
cat >"$tmp/lock.jsonl" <<'JSONL'
{"type":"@section","attrs":{"pid":"5"}}
{"type":"@schema","name":"birth","kind":"birth","fields":[{"name":"ts","type":"u64","role":"time"},{"name":"coro","type":"u64","role":"coroutine"},{"name":"pid","type":"u64","role":"process"}]}
{"type":"@schema","name":"transition","kind":"transition","fields":[{"name":"ts","type":"u64","role":"time"},{"name":"coro","type":"u64","role":"coroutine"},{"name":"tid","type":"u64","role":"thread"},{"name":"is_active","type":"bool","role":"state"},{"name":"index","type":"u64","role":"sequence"},{"name":"addr","type":"u64","role":"address","hex":true}]}
{"type":"@schema","name":"reason","kind":"reason","fields":[{"name":"ts","type":"u64","role":"time"},{"name":"coro","type":"u64","role":"coroutine"},{"name":"pid","type":"u64","role":"process"},{"name":"for","type":"enum","labels":{"lock":3}},{"name":"object","type":"u64","role":"address","hex":true},{"name":"count","type":"u64"}]}
{"type":"@schema","name":"object","kind":"object","fields":[{"name":"ts","type":"u64","role":"time"},{"name":"pid","type":"u64","role":"process"},{"name":"object","type":"u64","role":"address","hex":true},{"name":"for","type":"enum","labels":{"lock":3}},{"name":"available","type":"u64","role":"count"},{"name":"marks","type":"u64"}]}
{"type":"@schema","name":"hold","kind":"hold","fields":[{"name":"ts","type":"u64","role":"time"},{"name":"coro","type":"u64","role":"coroutine"},{"name":"pid","type":"u64","role":"process"},{"name":"object","type":"u64","role":"address","hex":true},{"name":"count","type":"i32","role":"count"}]}
{"type":"birth","ts":10,"coro":1,"pid":5}
{"type":"birth","ts":10,"coro":2,"pid":5}
{"type":"object","ts":20,"pid":5,"object":"0x0000000000001000","for":"lock","available":1,"marks":8}
{"type":"transition","ts":30,"coro":1,"tid":7,"is_active":true,"index":0,"addr":"0x0"}
{"type":"hold","ts":40,"coro":1,"pid":5,"object":"0x0000000000001000","count":1}
{"type":"object","ts":40,"pid":5,"object":"0x0000000000001000","for":"lock","available":0,"marks":0}
{"type":"transition","ts":50,"coro":1,"tid":7,"is_active":false,"index":1,"addr":"0x5"}
{"type":"transition","ts":60,"coro":2,"tid":7,"is_active":true,"index":0,"addr":"0x0"}
{"type":"reason","ts":70,"coro":2,"pid":5,"for":"lock","object":"0x0000000000001000","count":1}
{"type":"transition","ts":80,"coro":2,"tid":7,"is_active":false,"index":1,"addr":"0x6"}
{"type":"transition","ts":20000000000,"coro":1,"tid":8,"is_active":true,"index":2,"addr":"0x0"}
{"type":"@end","complete":true}
JSONL
"$from" -q "$tmp/lock.jsonl" >"$tmp/lock.ctp"
like 'the whole trace knows the holder' "$("$report" -j "$tmp/lock.ctp" 2>"$tmp/err")" '"holders":\[{"coro":"1"'
"$filter" -q --coro=2 "$tmp/lock.ctp" >"$tmp/some.ctp"
"$report" -j "$tmp/some.ctp" >"$tmp/report.json" 2>"$tmp/err"
like 'a holder that was left out is not known' "$(cat "$tmp/report.json")" '"available":0,.*"holders":null'
is 'so the lock is not held by none' "$(grep -c held-by-none "$tmp/report.json")" 0

# What a coroutine did last is left out: nobody knows whether it still waits.
"$filter" -q --thread=7 "$tmp/lock.ctp" >"$tmp/some.ctp"
"$report" -j "$tmp/some.ctp" >"$tmp/report.json" 2>"$tmp/err"
is 'a coroutine whose last events are left out does not wait' "$(number in_gap "$tmp/report.json") $(sed 's/.*"waiting":\[//' "$tmp/report.json" | grep -o '"coroutines":[0-9]*' | head -n 1)" '1 "coroutines":1'
like 'the report does not call that lost' "$("$report" "$tmp/some.ctp" 2>"$tmp/err")" '^  what 1 coroutine did last is not in the filtered trace'
"$filter" -q --state=suspended "$tmp/lostwake.ctp" >"$tmp/some.ctp"
"$report" -j "$tmp/some.ctp" >"$tmp/report.json" 2>"$tmp/err"
is 'gaps that were made are no losses' "$(number gaps "$tmp/report.json") $(number lost "$tmp/report.json") $(number running "$tmp/report.json")" '0 0 0'

# --- nothing is selected: the section begins when it did
"$filter" --name=nobody "$tmp/lostwake.ctp" >"$tmp/some.ctp" 2>"$tmp/err"
is 'nobody: a notice' "$? $(cat "$tmp/err")" '0 ctp-filter: no coroutine of the trace matches --name nobody'
for option in '--class=wakes/--class: the trace has no such class; ctp-stat shows the classes' \
	'--place=nowhere/--place: no coroutine is suspended at such a place; ctp-report shows the places' \
	'--thread=1/--thread: the trace has no record of such a thread; ctp-report shows the threads'; do
	"$filter" "${option%%/*}" "$tmp/lostwake.ctp" 2>"$tmp/err" >/dev/null
	is "${option%%/*}: a notice" "$? $(cat "$tmp/err")" "0 ctp-filter: ${option#*/}"
done
is 'each has none if it matches' "$("$filter" '--class=w*' --class=transition --place=handler_step \
	--thread="$("$report" -j "$tmp/lostwake.ctp" | grep -o '"threads":\[{"tid":[0-9]*' | grep -o '[0-9]*$')" "$tmp/lostwake.ctp" 2>&1 >/dev/null)" ''
"$report" -j "$tmp/some.ctp" >"$tmp/report.json" 2>"$tmp/err"
"$report" -j "$tmp/lostwake.ctp" >"$tmp/whole.json" 2>"$tmp/err"
for name in start_ns start_wall_ns; do
	is "nobody: $name" "$(grep -o "\"$name\":\"[0-9]*\"" "$tmp/report.json")" "$(grep -o "\"$name\":\"[0-9]*\"" "$tmp/whole.json")"
done
is 'nobody: duration_ns' "$(number duration_ns "$tmp/report.json")" "$(number duration_ns "$tmp/whole.json")"

# --- parents: one that has the name is not among those whose parent is not known
cat >"$tmp/names.jsonl" <<'JSONL'
{"type":"@section","attrs":{"pid":"5"}}
{"type":"@schema","name":"birth","kind":"birth","fields":[{"name":"ts","type":"u64","role":"time"},{"name":"coro","type":"u64","role":"coroutine"},{"name":"parent","type":"u64"}]}
{"type":"@schema","name":"name","kind":"name","fields":[{"name":"ts","type":"u64","role":"time"},{"name":"coro","type":"u64","role":"coroutine"},{"name":"name","type":"string","role":"name"}]}
{"type":"birth","ts":10,"coro":1,"parent":0}
{"type":"name","ts":10,"coro":1,"name":"chosen"}
{"type":"birth","ts":20,"coro":2,"parent":1}
{"type":"birth","ts":30,"coro":3,"parent":9}
{"type":"@end","complete":true}
JSONL
"$from" -q "$tmp/names.jsonl" | "$filter" --name=chosen --descendants 2>"$tmp/err" >"$tmp/some.ctp"
is 'unknown parents' "$(cat "$tmp/err")" 'ctp-filter: the parent of 1 coroutine is not known: whether it descends from the selected ones is not known, either'
is 'the selected one and its child are there' "$("$to" -qa "$tmp/some.ctp" | grep -c '"type":"birth"')" 2
"$filter" --origin=2 "$tmp/lostwake.ctp" >"$tmp/none" 2>"$tmp/err"
is 'a section that was not merged has no origin' "$? $(cat "$tmp/err")" '1 ctp-filter: --origin 2: section 1 was not merged, and has no origins'

# --- filters of a filter, which make one
"$filter" -q --name='handler*' "$tmp/lostwake.ctp" | "$filter" -q --coro="$stuck" >"$tmp/two.ctp"
"$filter" -q --coro="$stuck" "$tmp/lostwake.ctp" >"$tmp/one.ctp"
for n in one two; do "$to" -qa "$tmp/$n.ctp" | grep -v '"@section"\|"type":"sample"\|"type":"process"' >"$tmp/$n"; done
ok 'a filter of a filter leaves the same' cmp "$tmp/one" "$tmp/two"
like 'and both say so' "$("$stat" -q "$tmp/two.ctp")" "^  filtered:    --name handler\\* \\| --coro $stuck\$"

# --- time goes on while a program is idle, and two inputs
"$BIN/ctp-collect" -q "$O/examples/lostwake" 2>"$tmp/err" | "$filter" -q --coro=1 >"$tmp/live.ctp"
is 'packets without a record, but with a mark, say so' "$(python3 - "$tmp/live.ctp" <<'PYTHON'
import sys
sys.path.insert(0, "t/helper")
import ctpread
with open(sys.argv[1], "rb") as file:
    packets = list(ctpread.Stream(file.read()).valid_packets())
print(any(header.records == 0 and any(cls is None for cls, _ in packet.items()) for header, packet in packets))
PYTHON
)" True
"$filter" -q --coro="$stuck" "$tmp/lostwake.ctp" "$tmp/lostwake.ctp" >"$tmp/twice.ctp"
is 'two inputs are two sections' "$("$stat" -qj "$tmp/twice.ctp" | grep -o '"section_count":[0-9]*')" '"section_count":2'

# --- anonymous
"$filter" --anonymise "$tmp/lostwake.ctp" >"$tmp/anon.ctp" 2>"$tmp/says"
strings=$("$to" -qa "$tmp/anon.ctp" | grep -c "lostwake\\|handler\\|client\\|$(uname -n)\\|task_spawn\\|/usr")
is 'no name, path, host or argument is left' "$strings" 0
like 'it lists what is left' "$(cat "$tmp/says")" '^ctp-filter: still in the trace: the attributes .*pid'
"$BIN/ctp-merge" -q -o "$tmp/merged.ctp" "$tmp/lostwake.ctp"
"$filter" --anonymise "$tmp/lostwake.ctp" 2>&1 >/dev/null | grep -o 'attributes .*' | grep -o '[a-z_]*' | sort >"$tmp/a"
"$filter" --anonymise "$tmp/merged.ctp" 2>&1 >/dev/null | grep -o 'attributes .*' | grep -o '[a-z_]*' | sort >"$tmp/b"
printf 'merged\nstride\n' | sort - "$tmp/a" >"$tmp/want"
ok 'of a merged trace the attributes of its origins, too' cmp "$tmp/want" "$tmp/b"
"$filter" -q --anonymise "$tmp/merged.ctp" >"$tmp/hidden.ctp"
for file in merged hidden; do "$stat" -q "$tmp/$file.ctp" | grep '^  merged:\|^  stride:' >"$tmp/numbers-$file"; done
is 'numbers of a merged trace stay' "$(cat "$tmp/numbers-hidden")" "$(cat "$tmp/numbers-merged")"
"$report" -j "$tmp/lostwake.ctp" | grep -o '"rule":"[^"]*","certainty":"[^"]*"' >"$tmp/a"
"$report" -j "$tmp/anon.ctp" 2>"$tmp/err" | grep -o '"rule":"[^"]*","certainty":"[^"]*"' >"$tmp/b"
ok 'the findings are the same' cmp "$tmp/a" "$tmp/b"
for program in /usr/bin/timeout ./timeout; do # which one it is says only that the program hung
	"$to" -qa "$tmp/lostwake.ctp" | sed "s,\"argv\":\[[^]]*\],\"argv\":[\"$program\"\,\"9\"\,\"./secret\"],; s/\"exited\",\"status\":0/\"exited\",\"status\":137/" |
		"$from" -q >"$tmp/hung.ctp"
	like "$program: the trace of a program that hung says so" "$("$report" -q --annotations "$tmp/hung.ctp")" '^::error .*hang::'
	"$filter" -q --anonymise "$tmp/hung.ctp" >"$tmp/hidden.ctp"
	like "$program: so does the anonymous trace" "$("$report" -q --annotations "$tmp/hidden.ctp")" '^::error .*hang::timeout argv[0-9]+ argv[0-9]+ did not end by itself'
	"$BIN/ctp-merge" -qo "$tmp/merged.ctp" "$tmp/hung.ctp" "$tmp/lostwake.ctp"
	"$filter" -q --anonymise "$tmp/merged.ctp" >"$tmp/hidden.ctp"
	like "$program: so does the anonymous trace of several programs" "$("$report" -q --annotations "$tmp/hidden.ctp")" '^::error .*hang::timeout value[0-9]+ value[0-9]+ did not end by itself'
done
"$from" -q >"$tmp/own.ctp" <<'JSON'
{"type":"@section","attrs":{"pid":"7","secret_owner":"bob","secret_list":["a","bob"]}}
{"type":"@schema","name":"own","kind":"event","fields":[{"name":"ts","type":"u64","role":"time"},{"name":"n","type":"u64","unit":"parsecs"}]}
{"type":"own","ts":1,"n":2}
{"type":"@end","complete":true}
JSON
"$BIN/ctp-merge" -q -o "$tmp/own-merged.ctp" "$tmp/own.ctp"
for file in own own-merged; do
	"$filter" --anonymise "$tmp/$file.ctp" >"$tmp/hidden.ctp" 2>"$tmp/says"
	is "$file: names of attributes that the tools do not know are numbers, too" \
		"$("$to" -qa "$tmp/hidden.ctp" | grep -c 'secret\|bob') $("$to" -qa "$tmp/hidden.ctp" | grep -c 'attribute[0-9]')" \
		"0 $("$to" -qa "$tmp/$file.ctp" | grep -c secret)"
	like "$file: units stay, and it says so" "$(cat "$tmp/says")" 'names of classes, fields, labels and units'
done
is 'the same text has the same number' "$("$to" -qa "$tmp/anon.ctp" | grep '"type":"site"' | grep -o '"file":"[^"]*"' | sort -u | wc -l)" 1

# --- memory, latency, usage
if [ -x "$O/t/bench/mix" ]; then
	"$O/t/bench/mix" 3000000 300 | { ulimit -v 700000; "$filter" -q --coro 5 >"$tmp/some.ctp"; }
	is 'a long trace needs no more memory than a short one' $? 0
fi
is 'a live reader waits for nothing' "$({ cat "$tmp/cut.ctp" 2>/dev/null || cat "$tmp/lostwake.ctp"; sleep 1; } | "$filter" -q --since 0s 2>/dev/null | head -c 100 | wc -c)" 100
"$filter" -q "$tmp/lostwake.ctp" >/dev/full 2>"$tmp/err"
is 'a full disk is a failure' $? 1
fails() { # STATUS TEXT OPTION...
	want="$1 ctp-filter: $2"
	shift 2
	"$filter" "$@" "$tmp/lostwake.ctp" >"$tmp/none" 2>"$tmp/err"
	is "$*: is refused" "$? $(cat "$tmp/err")" "$want"
}
fails 2 '--coro 5,x: is no list of numbers from 1 on, such as 5 or 5,7,9' --coro 5,x
fails 2 '--state late: is neither running nor suspended' --state late
fails 2 '--descendants: say of which coroutines, with --coro, --spawn, --name or --process' --descendants
fails 2 '--since and --until leave no time between them' --since 2s --until 1s
fails 2 '--around is for --finding; --since and --until select another time' --around 1s
fails 2 '--last selects a time: it excludes --since, --until and --around' --last 1s --until 2s
fails 2 '--last 0s: leaves no time' --last 0s
"$filter" -q --last=5ms "$tmp/lostwake.ctp" "$tmp/gaps.ctp" | "$to" -qa >"$tmp/both"
for name in lostwake gaps; do "$filter" -q --last=5ms "$tmp/$name.ctp" | "$to" -qa; done >"$tmp/each"
ok '--last of two files is that of each' cmp "$tmp/both" "$tmp/each"
# More rows than a reader holds back, and one that is late. 1001 are in the last microsecond; before it, 7 coroutines have a state.
awk 'BEGIN { for (i = 0; i <= 150000; i++) printf "{\"probe_id\":%d,\"tid\":1,\"addr\":\"0x0000000000000001\",\"seq\":%d,\"is_active\":%s,\"ts\":%d}\n",
	1 + i % 7, i, i % 2 ? "true" : "false", 1000 + (i < 150000 ? i : 0) }' | "$from" -q -o "$tmp/late.ctp" 2>"$tmp/err"
for options in --last=1us --since=148999ns; do "$filter" -q $options "$tmp/late.ctp" 2>"$tmp/err" | "$to" -qa | grep -v '^{"type":"@section"' >"$tmp/late$options"; done
ok '--last is --since from so much before the latest record' cmp "$tmp/late--last=1us" "$tmp/late--since=148999ns"
is 'with the states at that time' "$(grep -c '^{"type":"transition"' "$tmp/late--last=1us")" 1008
is '--last and --finding: of its coroutines' "$("$filter" -q --finding=1 --last=5ms "$tmp/lostwake.ctp" | "$report" -q | sed -n 's/^1\. \([a-z]*\): .*\[\(.*\)\]$/\1 \2/p')" \
	'likely never-woken'
"$filter" -q --last 1s - <"$tmp/lostwake.ctp" >"$tmp/none" 2>"$tmp/err"
is '--last of standard input' "$? $(cat "$tmp/err")" '2 ctp-filter: --last: -: the input is read twice, so give files'
"$filter" -q --last 1s <"$tmp/lostwake.ctp" >"$tmp/none" 2>"$tmp/err"
is '--last without a file' "$? $(cat "$tmp/err")" '2 ctp-filter: --last: the input is read twice, so give files, not standard input'
fails 2 '--since soon: is no time such as 12.5s, 300ms or 2m' --since soon
done_testing
