#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# ctp-diff: its numbers are those of an independent model; what it calls a difference, and what not; losses, hostile names, status.
. t/helper/tap.sh
. t/helper/example-trace.sh
. t/helper/manoutput.sh
for program in python3 jq; do
	command -v $program >/dev/null || skip_all "there is no $program"
done
diff=$BIN/ctp-diff
make() { python3 -B t/helper/diff-model.py make "$@" | "$BIN/ctp-fromjsonl" -q; }
query() { jq -r "$1" "$tmp/json"; }
# Several arguments are files, whose names have no space.
# shellcheck disable=SC2046,SC2086
diffs() { # OPTIONS A B: of the traces in $tmp
	"$diff" $1 $(for f in $2; do echo "$tmp/$f.ctp"; done) -- $(for f in $3; do echo "$tmp/$f.ctp"; done)
}

for i in 1 2 3 4 5 6; do
	make $i 1 >"$tmp/a$i.ctp"
	make 1$i 1.2 >"$tmp/b$i.ctp"
	make 2$i 1 >"$tmp/c$i.ctp"
	make 3$i 1.2 loses >"$tmp/l$i.ctp"
done
A='a1 a2 a3 a4 a5 a6' B='b1 b2 b3 b4 b5 b6' C='c1 c2 c3 c4 c5 c6'

# --- the numbers ----------------------------------------------------------------------------------------------------------------

agrees() { # NAME PER A B
	per=$2
	diffs "-j $([ "$per" = - ] || echo "--per $per")" "$3" "$4" >"$tmp/json" 2>"$tmp/err"
	for f in $3 $4; do "$BIN/ctp-tojsonl" -qa "$tmp/$f.ctp" >"$tmp/$f.jsonl"; done
	# shellcheck disable=SC2046,SC2086,SC2059
	python3 -B t/helper/diff-model.py check "$tmp/json" "$per" $(printf "$tmp/%s.jsonl " $3) -- $(printf "$tmp/%s.jsonl " $4) >"$tmp/says"
	is "$1: the model agrees" "$(sed '$d' "$tmp/says" | head -n 5)" ''
	like "$1: there are numbers to compare" "$(tail -n 1 "$tmp/says")" '^[0-9]{3,} numbers, 0 differences$'
}
agrees 'the same program' - "$A" "$C"
agrees 'a slower function' - "$A" "$B"
is 'a slower function: it is named' "$(query '.quantities[] | select(.verdict == "more" and .what == "running_p50_ns") | .suspend_site' | sort -u)" queue.c:pop
like 'a slower function: by how much' "$(query '[.quantities[] | select(.what == "running_p50_ns" and .suspend_site == "queue.c:pop").ratio * 100 | floor] | @csv')" \
	'^(1(1[89]|2[0-2]),?){2}$'
agrees 'per unit' server.c:accept "$A" "$B"
agrees 'with losses' - "$A" 'l1 l2 b3 b4 b5 b6'
agrees 'with losses, per unit' queue.c:pop "$A" 'l1 l2 b3 b4 b5 b6'
agrees 'five and four' - 'a1 a2 a3 a4 a5' 'b1 b2 b3 b4'
agrees 'two and three' - 'a1 a2' 'b1 b2 b3'
# More groups than there is room for at first.
for spawns in 70 300; do
	for i in 1 2; do
		make 4$i 1 $spawns >"$tmp/many$i.ctp"
		make 5$i 1 loses $spawns >"$tmp/manyless$i.ctp"
	done
	agrees "many groups, $spawns spawn sites" - 'many1 many2' 'manyless1 manyless2'
done
cat "$tmp/a1.ctp" "$tmp/a2.ctp" >"$tmp/two.ctp"
zstd -q "$tmp/b1.ctp" -o "$tmp/packed.ctp" 2>/dev/null || cp "$tmp/b1.ctp" "$tmp/packed.ctp"
agrees 'several sections in a file' - 'two a3 a4 a5' 'b1 b2 b3 b4 b5'
diffs -j 'a1 a2 a3 a4 a5' 'b1 b2 b3 b4 b5' | jq -c .quantities >"$tmp/one"
diffs -j 'two a3 a4 a5' 'packed b2 b3 b4 b5' | jq -c .quantities >"$tmp/other"
ok 'each section is a run, and a compressed file the same as a plain one' cmp "$tmp/one" "$tmp/other"
"$diff" -j "$tmp/a1.ctp" "$tmp/a2.ctp" "$tmp/a3.ctp" "$tmp/a4.ctp" - -- "$tmp"/b[1-5].ctp <"$tmp/a5.ctp" | jq -c .quantities >"$tmp/other"
ok 'and so is standard input' cmp "$tmp/one" "$tmp/other"

# --- what is claimed ------------------------------------------------------------------------------------------------------------

# A pair is six runs and six others of the same program.
claims=0
for pair in 1 2 3 4 5 6 7 8; do
	for i in 1 2 3 4 5 6; do make 9$pair$i 1 >"$tmp/p$i.ctp"; done
	diffs -qj "$C" 'p1 p2 p3 p4 p5 p6' >"$tmp/json"
	[ "$(query '.differences + ([.findings[] | select(.change == "new" or .change == "gone")] | length)')" = 0 ] || claims=$((claims + 1))
done
ok "of 8 pairs of the same program at most one shows a difference: $claims" test $claims -le 1
diffs -q a1 b1 >"$tmp/text"
ok 'one of each: nothing is claimed' grep -q '^Too few runs to compare counts and times; no findings$' "$tmp/text"
like 'and the reason' "$(tr -s '\n ' ' ' <"$tmp/text")" 'a 99th percentile can be several times as long in another run of the same program, so neither it nor any other time or count is judged'
is 'no row has a change or a p' "$(grep -c ' 1+1 ' "$tmp/text") $(grep -c '? *- *1+1 ' "$tmp/text")" "$(grep -c ' 1+1 ' "$tmp/text") $(grep -c ' 1+1 ' "$tmp/text")"
agrees 'one and one' - a1 b1
is 'the model has 99th percentiles there, and none is judged' "$(query '[.quantities[] | select(.what | endswith("_p99_ns"))] | (length > 3), (map(.verdict) | unique)' | tr -d ' \n')" \
	'true["notjudged"]'
like 'three of each: too few' "$(diffs -q 'a1 a2 a3' 'b1 b2 b3' | tr -s '\n ' ' ')" '3 and 3 runs are too few to show a difference: take 5 or more of each side; 8 show a difference of any'
like 'four of each: too few for so many quantities' "$(diffs -q 'a1 a2 a3 a4' 'b1 b2 b3 b4' | tr -s '\n ' ' ')" \
	'4 and 4 runs are too few to show a difference among [0-9]+ quantities: take 5'
for i in 1 2 3 4 5; do
	for f in a b; do "$BIN/ctp-tojsonl" -qa "$tmp/$f$i.ctp" | grep -v '"type":"name"' | "$BIN/ctp-fromjsonl" -q >"$tmp/nameless$f$i.ctp"; done
done
diffs -qj 'namelessa1 namelessa2 namelessa3 namelessa4 namelessa5' 'namelessb1 namelessb2 namelessb3 namelessb4 namelessb5' >"$tmp/json"
is 'five of each: a function that has most of the running time is named' \
	"$(query '[.compared > 20, .alone > 0, (.quantities[] | select(.verdict == "more" and .what == "running_p50_ns").suspend_site)] | tojson')" \
	'[true,true,"queue.c:pop"]'
like 'five of each: two must differ' "$(diffs -q 'a1 a2 a3 a4 a5' 'b1 b2 b3 b4 b5' | tr -s '\n ' ' ')" \
	'5 and 5 runs show a difference only if at least [0-9]+ of the [0-9]+ quantities differ; 8 of each side are enough for each quantity'
like 'six of each: the largest are shown alone' "$(diffs -q "$A" "$B" | tr -s '\n ' ' ')" \
	'6 and 6 runs are enough for the largest ([0-9]+ )?quantit(y|ies), and for the other [0-9]+ only if several differ; 8 of each'
diffs -qj "$A" "$B" >"$tmp/json"
is 'what is needed for one difference is the size of the table of the page' "$(query '[.candidates, .runs_needed] | if .[0] > 21 and .[0] <= 80 then .[1] else . end')" 8

# --- what still waits at the end --------------------------------------------------------------------------------------------------
# Three more coroutines that wait in reply, one that was woken there, and one that has ended there.
for i in 1 2 3 4 5 6; do
	"$BIN/ctp-tojsonl" -qa "$tmp/c$i.ctp" | awk '/"type":"end"/ { match($0, /"ts":[0-9]*/); ts = substr($0, RSTART + 5, RLENGTH - 5) - 9000
			for (c = 9001; c <= 9005; c++) {
				print "{\"type\":\"birth\",\"ts\":" ts ",\"coro\":" c ",\"site\":2,\"pid\":100}"
				for (n = 0; n < 2; n++) printf "{\"type\":\"transition\",\"ts\":%s,\"coro\":%d,\"index\":%d,\"tid\":5,\"is_active\":%s,\"site\":%d}\n", ts + n, c, n, n ? "false" : "true", n ? 4 : 0
				if (c == 9004) print "{\"type\":\"wake\",\"ts\":" ts + 2 ",\"coro\":" c ",\"by\":1,\"tid\":5}"
				if (c == 9005) print "{\"type\":\"death\",\"ts\":" ts + 2 ",\"coro\":" c ",\"after\":" ts + 2 "}"
			} } { print }' | "$BIN/ctp-fromjsonl" -q >"$tmp/w$i.ctp"
done
W='w1 w2 w3 w4 w5 w6'
agrees 'waits at the end' - "$A" "$W"
is 'waits at the end that are new are a difference; those that were there are none' "$(query '.quantities[] | select(.what == "still_waiting") |
	"\(.suspend_site) \(.verdict) \(.before.median) \(.after.median)"' | sort)" 'queue.c:reply more 0 3
server.c:accept no difference shown 2 2'
like 'they have a table' "$(diffs -q "$A" "$W" | sed -n '/^Coroutines that wait at the end/,/^$/p')" '^ +0 +3 .*6\+6 still waiting +queue\.c:reply'
diffs '-q --fail-on worse --min-change 1000%' "$A" "$W" >"$tmp/text"
is 'what was not there before is a difference, whatever change is asked for' $? 4
diffs '-qj --per queue.c:pop' "$A" "$W" >"$tmp/json"
is 'they do not depend on units' "$(query '.quantities[] | select(.what == "still_waiting" and .suspend_site == "queue.c:reply").after.median')" 3

# --- commands -------------------------------------------------------------------------------------------------------------------
for i in 1 2 3 4; do python3 -B t/helper/diff-model.py make $i 1 | sed "s|./server|./server$i|" | "$BIN/ctp-fromjsonl" -q >"$tmp/command$i.ctp"; done
is 'all commands of a side are said' "$(diffs -q 'command1 command2 command1 command3 command4' 'command2 command2' | sed -n "s|$tmp/||g; 1,3p")" \
	'Before and after, the first of several commands: ./server1, then ./server2
  before: 5 runs of ./server1, ./server2, ./server3 and 1 more in command1.ctp, command2.ctp, command1.ctp and 2 more
  after: 2 runs of ./server2 in command2.ctp'
is 'that of the other side too' "$(diffs -q 'command1' 'command2 command2' | sed -n "s|$tmp/||g; 1,3p")" \
	'Before and after: ./server1, then ./server2
  before: 1 run of ./server1 in command1.ctp
  after: 2 runs of ./server2 in command2.ctp'

# --- the same site ----------------------------------------------------------------------------------------------------------------

moved() { "$BIN/ctp-tojsonl" -qa "$tmp/$1.ctp" | sed 's|"file":"\(queue.c\)","line":[0-9]*|"file":"/src/'"$2"'/\1","line":'"$3"'|; s|"file":"\(server.c\)"|"file":"/src/'"$2"'/\1"|' | "$BIN/ctp-fromjsonl" -q >"$tmp/$4.ctp"; }
for i in 1 2 3 4 5; do
	moved a$i old 7 o$i
	moved b$i new 9 n$i
done
diffs -qj 'o1 o2 o3 o4 o5' 'n1 n2 n3 n4 n5' >"$tmp/json"
is 'another folder and other lines: the same sites, as they are after' "$(query '[.quantities[].suspend_site | strings] | unique | join(" ")')" \
	'/src/new/queue.c:pop /src/new/queue.c:reply /src/new/server.c:accept'
diffs -j 'a1 a2 a3 a4 a5' 'b1 b2 b3 b4 b5' | jq -c '[.quantities[] | [.what, .before.values, .p, .verdict]] | sort' >"$tmp/one"
jq -c '[.quantities[] | [.what, .before.values, .p, .verdict]] | sort' "$tmp/json" >"$tmp/other"
ok 'and the same numbers' cmp "$tmp/one" "$tmp/other"
diffs '-q --per server.c:accept' 'o1 o2' 'n1 n2' >"$tmp/text"
is 'a unit is found in another folder' "$?" 0
diffs '--folded=running' 'o1 o2' 'n1 n2' | sed 's,/src/new/,,g' | sort >"$tmp/one"
diffs '--folded=running' 'a1 a2' 'b1 b2' | sort >"$tmp/other"
ok 'folded stacks are joined, too' cmp "$tmp/one" "$tmp/other"
# Each number of a stack is the mean of what ctp-report --folded has.
for f in a1 a2 b1 b2; do
	"$BIN/ctp-report" -q --folded --folded-unit ns "$tmp/$f.ctp" | sed 's/\([a-z.]*\):[0-9]*:/\1:/g' |
		awk '{ sum[$1] += $2 } END { for (s in sum) print s, sum[s] }' >"$tmp/$f.folded"
done
awk '{ side = FILENAME ~ /b[12].folded/; sum[$1, side] += $2; seen[$1] } END { for (s in seen) printf "%s %d %d\n", s, sum[s, 0] / 2, sum[s, 1] / 2 }' \
	"$tmp"/[ab][12].folded | sort >"$tmp/one"
diffs '--folded --folded-unit ns' 'a1 a2' 'b1 b2' | sort >"$tmp/other"
is 'folded stacks have the means of ctp-report --folded' "$(awk 'NR == FNR { b[$1] = $2; a[$1] = $3; next }
	{ d = b[$1] - $2; e = a[$1] - $3; if (d * d > 4 || e * e > 4 || !($1 in b)) print }' "$tmp/one" "$tmp/other"; wc -l <"$tmp/other")" "$(wc -l <"$tmp/one")"
is 'two numbers after each stack' "$(grep -cv '^[^ ]* [0-9]* [0-9]*$' "$tmp/other")" 0

diffs '-j --per queue.c:pop' 'a1 a2' 'b1 b2' >"$tmp/json"
diffs '--folded --folded-unit ns --per queue.c:pop' 'a1 a2' 'b1 b2' | sort >"$tmp/one"
is 'with --per they have the time of a unit' "$(awk -v before="$(query '[.before[].units] | add')" -v after="$(query '[.after[].units] | add')" '
	NR == FNR { b[$1] = $2; a[$1] = $3; next }
	{ d = b[$1] - int($2 * 2 / before); e = a[$1] - int($3 * 2 / after); if (d * d > 4 || e * e > 4 || !($1 in b)) print }' "$tmp/one" "$tmp/other"
	wc -l <"$tmp/one")" "$(wc -l <"$tmp/other")"
is 'their unit is the microsecond' "$(diffs '--folded --per queue.c:pop' 'a1 a2' 'b1 b2')" "$(diffs '--folded --folded-unit us --per queue.c:pop' 'a1 a2' 'b1 b2')"
diffs '--folded --per nowhere' 'a1 a2' 'b1 b2' >"$tmp/text" 2>"$tmp/err"
is 'a unit that is nowhere: status 1, and nothing is printed' "$? $(wc -c <"$tmp/text")" '1 0'
like 'and why' "$(cat "$tmp/err")" '^ctp-diff: --per nowhere: no coroutine was resumed there in '

# A function with two sites.
two() { # TRACE LINE LINE NEW
	"$BIN/ctp-tojsonl" -qa "$tmp/$1.ctp" | sed 's|"line":[0-9]*,"function":"pop"|"line":'"$2"',"function":"pop"|
		s|"line":[0-9]*,"function":"reply"|"line":'"$3"',"function":"pop"|' | "$BIN/ctp-fromjsonl" -q >"$tmp/$4.ctp"
}
for i in 1 2 3 4 5; do
	two a$i 10 20 s$i
	two b$i 10 20 t$i
	two b$i 15 27 u$i
	two b$i 15 15 v$i
	two b$i 1$i 2$i w$i
done
sites() { diffs -qj 's1 s2 s3 s4 s5' "$1" | tee "$tmp/json" | jq -r '[.quantities[].suspend_site | strings] | unique | join(" ")'; }
same() { jq -c '[.quantities[] | [.what, .before.values, .after.values, .p, .verdict]] | sort' "$tmp/$1"; }
diffs -j 'a1 a2 a3 a4 a5' 'b1 b2 b3 b4 b5' >"$tmp/other"
is 'two lines of a function are two sites' "$(sites 't1 t2 t3 t4 t5')" 'queue.c:10:pop queue.c:20:pop server.c:accept'
is 'with the numbers of two functions' "$(same json)" "$(same other)"
is 'lines that moved are the same sites, as they are after' "$(sites 'u1 u2 u3 u4 u5')" 'queue.c:15:pop queue.c:27:pop server.c:accept'
is 'with the same numbers' "$(same json)" "$(same other)"
units() { diffs "-qj --per $1" "$2" "$3" | jq -c '[.before[].units, .after[].units]'; }
is 'a unit is a line as it is after' "$(units queue.c:15:pop 's1 s2 s3' 'u1 u2 u3')" "$(units queue.c:pop 'a1 a2 a3' 'b1 b2 b3')"
is 'or all lines of a function' "$(units queue.c:pop 's1 s2 s3' 'u1 u2 u3')" "$(units 'queue.c:*' 'a1 a2 a3' 'b1 b2 b3')"
is 'a site that is ignored can be the unit' "$(units 'queue.c:pop --ignore queue.c:pop' a1 b1)" "$(units queue.c:pop a1 b1)"
diffs '--per queue.c:10:pop' 's1 s2' 'u1 u2' >"$tmp/text" 2>"$tmp/err"
is 'a line that is only there before is none' "$? $(wc -c <"$tmp/text")" '1 0'
is 'another number of lines: the function is one site' "$(sites 'v1 v2 v3 v4 v5')" 'queue.c:pop server.c:accept'
is 'so it is if the runs of a side have different lines' "$(sites 'w1 w2 w3 w4 w5')" 'queue.c:pop server.c:accept'

# Names beyond 32 at one place do not count; digits never do.
sed_names() { "$BIN/ctp-tojsonl" -qa "$tmp/$1.ctp" | awk '/"type":"name"/ { n++; c = ""; for (k = n; k; k = int(k / 7)) c = c sprintf("%c", 97 + k % 7)
	sub(/"name":"[^"]*"/, "\"name\":\"" c "\"") } { print }' | "$BIN/ctp-fromjsonl" -q >"$tmp/$2.ctp"; }
sed_names a1 m1
sed_names b1 m2
diffs -qj m1 m2 >"$tmp/json"
is 'too many names are none' "$(query '[.quantities[] | select(.suspend_site == "queue.c:pop").name] | unique | tojson')" '[null]'
is 'and nothing is counted twice or not at all' "$(query '.quantities[] | select(.what == "resumes" and .suspend_site == "queue.c:pop").before.values | tojson')" \
	"$(diffs -j a1 b1 | jq '[.quantities[] | select(.what == "resumes" and .suspend_site == "queue.c:pop").before.values[]] | add | [.]' | tr -d ' \n')"

# --- losses -----------------------------------------------------------------------------------------------------------------------

diffs -qv "$A" 'l1 l2 b3 b4 b5 b6' >"$tmp/text"
is 'losses: status 3' $? 3
like 'losses are said' "$(tr -s '\n ' ' ' <"$tmp/text")" 'after: 2 of 6 runs lack events \([0-9]+ are known to be lost\), and may lack findings: .* quantities are not known of all runs'
is 'a row of which no run is known is not shown' "$(diffs -q 'l1 l2' 'l1 l2' | grep -c ' 0+0 ')" 0
ok 'a group with losses is compared without the run' grep -q '6+4 running p50 .*queue.c:pop' "$tmp/text"
ok 'a group without losses is compared with it' grep -q '6+6 running p50 .*server.c:accept' "$tmp/text"
ok 'a count of the whole run is compared without it' grep -q '6+4 resumes .*whole' "$tmp/text"
"$BIN/ctp-tojsonl" -qa "$tmp/b1.ctp" | sed '/"type":"end"/i {"type":"missed","ts":2000,"tid":5,"count":3,"after":1000,"transitions":0}' |
	"$BIN/ctp-fromjsonl" -q >"$tmp/missed.ctp" 2>/dev/null
diffs -qv "$A" 'missed b2 b3 b4 b5 b6' >"$tmp/text"
is 'missed wakes: status 3' $? 3
ok 'waits are compared without the run' grep -q '6+5 suspended p50 .*queue.c:pop' "$tmp/text"
ok 'wakes too' grep -q '6+5 wakes ' "$tmp/text"
ok 'running times are compared with it' grep -q '6+6 running p50 .*queue.c:pop' "$tmp/text"
"$BIN/ctp-tojsonl" -qa "$tmp/b1.ctp" | grep -v '"type":"@*end"' | "$BIN/ctp-fromjsonl" -q >"$tmp/cut.ctp"
diffs '' "$A" 'cut b2 b3 b4 b5 b6' >"$tmp/text" 2>"$tmp/err"
is 'truncated: status 3' $? 3
like 'truncated: it is said' "$(tr -s '\n ' ' ' <"$tmp/text")" 'after: 1 of 6 runs has no end'
: >"$tmp/empty.ctp"
diffs '' "$A" empty >"$tmp/text" 2>"$tmp/err"
is 'an empty side: status 1, and nothing is printed' "$? $(wc -c <"$tmp/text")" '1 0'
like 'and why' "$(cat "$tmp/err")" 'ctp-diff: no run from after the change: the traces have no section$'
echo '{"type":"@section","attrs":{}}' | "$BIN/ctp-fromjsonl" -q >"$tmp/none.ctp" 2>/dev/null
diffs '-q --fail-on worse' "$A" none >"$tmp/text" 2>"$tmp/err"
is 'no event: status 3' $? 3

# --- hostile names ----------------------------------------------------------------------------------------------------------------

for f in a1 b1; do
	# shellcheck disable=SC2016
	"$BIN/ctp-tojsonl" -qa "$tmp/$f.ctp" | sed 's/"function":"pop"/"function":"p|`p\\u001b[31m<b>\\u202e"/; s/"name":"client \([0-9]*\)"/"name":"*`|@all <img>\\u000a#\1"/
		s/"file":"server.c"/"file":"ser ver;.c"/' | "$BIN/ctp-fromjsonl" -q >"$tmp/h$f.ctp"
done
diffs -qvm ha1 hb1 >"$tmp/md"
diffs -q ha1 hb1 >"$tmp/text"
diffs -qj ha1 hb1 >"$tmp/json"
diffs -q --folded ha1 hb1 >"$tmp/folded" 2>/dev/null || diffs '-q --folded' ha1 hb1 >"$tmp/folded"
for form in md text json folded; do
	is "$form: no control character gets out" "$(LC_ALL=C grep -c "$(printf '[\001-\010\013-\037\177]')" "$tmp/$form") $(grep -c "$(printf '\342\200\256')" "$tmp/$form")" \
		'0 0'
done
is 'JSON has the names as they are' "$(query '[.quantities[].suspend_site | strings | select(startswith("queue.c:p"))] | unique | tojson')" \
	"$(printf '["queue.c:p|`p\\u001b[31m<b>\342\200\256"]')"
like 'Markdown has them as code, and no cell ends early' "$(grep 'running p50.*queue.c:p' "$tmp/md" | head -n 1)" '\| `` queue.c:p\\\|`p\\x1b\[31m<b>\\u202e `` \|'
is 'each row of a table has as many cells as its head' "$(sed 's/\\|//g' "$tmp/md" | awk -F'|' '!/^\|/ { head = 0; next } !head { head = NF; tables++ }
	NF != head { print } END { print tables }')" 4
like 'folded: a frame has no space and no semicolon' "$(cat "$tmp/folded")" '^(.*;)?ser_ver:\.c:accept(;.*)? [0-9]+ [0-9]+$'

# --- findings and status ------------------------------------------------------------------------------------------------------------

diffs '-q --fail-on worse' "$A" "$B" >"$tmp/text"
is '--fail-on worse: a longer run gives status 4' $? 4
diffs '-q --fail-on worse' "$B" "$A" >"$tmp/text"
is 'a shorter one does not' $? 0
ok 'but it is shown' grep -q -- '-1[67]\.[0-9] % .*running p50 .*queue.c:pop' "$tmp/text"
diffs '-q --fail-on new' "$A" "$B" >"$tmp/text"
is '--fail-on new: nor does a longer run' $? 0
diffs '--fail-on worse' a1 b1 >"$tmp/text" 2>"$tmp/err"
is '--fail-on worse with one run each: status 0, and it is said that times are not judged' "$? $(cat "$tmp/err")" \
	"0 ctp-diff: --fail-on worse: 1 and 1 runs are too few to show a longer time or a larger count: take $(diffs -j a1 b1 | jq .runs_needed) on each side"
# The traces of the page: since the change a coroutine is stuck.
block functions doc/ctp-rules.7 >"$tmp/trace.sh"
block example doc/ctp-diff.1 >"$tmp/server.sh"
block runs doc/ctp-diff.1 >"$tmp/runs.sh"
(cd "$tmp" && PATH=$bin:$PATH sh runs.sh)
diffs '-q --fail-on new' before1 after1 >"$tmp/text"
is 'a new finding gives status 4, also with one run each' $? 4
ok 'and is shown' grep -q '^1. likely: 1 coroutine suspended at queue.c:45:pop .*never-woken' "$tmp/text"
diffs '-q --fail-on new' after1 before1 >"$tmp/text"
is 'one that is gone does not' $? 0
ok 'and is shown, too' grep -q '^Findings that are gone' "$tmp/text"
diffs '-q --fail-on new' 'after1 after2' 'after3 after4' >"$tmp/text"
is 'nor does one that both sides have' $? 0
# Without the change, a few counts are larger by 0.2 to 0.5 %, and nothing else is.
before='before1 before2 before3 before4 before5 before6' after='after1 after2 after3 after4 after5 after6'
for min in '' 2% 2 0.6% .6; do
	diffs "-q --fail-on worse ${min:+--min-change $min}" "$after" "$before" >"$tmp/text"
	is "counts that are 0.5 % larger are not worse: ${min:-the default}" $? 0
done
for min in 0 0% 0.4%; do
	diffs "-q --fail-on worse --min-change $min" "$after" "$before" >"$tmp/text"
	is "they are with --min-change $min" $? 4
done
diffs '-q --fail-on worse --per server.c:accept' "$after" "$before" >"$tmp/text"
is 'nor are they per unit' "$? $(grep -c '+0\.[0-9] %' "$tmp/text")" '0 0'
diffs -qv "$after" "$before" >"$tmp/text"
ok 'such a row says that its change is small' grep -q ' < 2 % *0\.006 *6+6 resumes  *queue.c:pop' "$tmp/text"
ok 'and so does a sentence' grep -q '3 further quantities differ, by less than 2 %, which does not count: --min-change$' "$tmp/text"
diffs -qj "$after" "$before" >"$tmp/json"
is 'JSON, too' "$(query '[.min_change, .slight, ([.quantities[] | select(.verdict == "less than min_change")] | length),
	.differences == ([.quantities[] | select(.verdict == "more" or .verdict == "less")] | length)] | tojson')" '[0.02,3,3,true]'
diffs '-q --fail-on worse --min-change 30%' "$A" "$B" >"$tmp/text"
is 'nor does a longer run count that is less than asked for' "$? $(grep -c 'running p50 .*queue.c:pop' "$tmp/text")" '0 2'
diffs "-q --fail-on new --ignore never-woken" before1 after1 >"$tmp/text"
is 'nor one that is ignored' $? 0
diffs '-q --fail-on worse --ignore queue.c:pop --ignore server.c:accept' "$A" "$B" >"$tmp/text"
is 'a quantity of a site that is ignored is not there' "$(grep -c 'queue.c:pop' "$tmp/text")" 0
like 'a pattern that matches nothing is named' "$(diffs '--ignore nothing' a1 b1 2>&1 >/dev/null)" "^ctp-diff: --ignore: no finding is like 'nothing'$"
"$diff" --per nowhere "$tmp/a1.ctp" "$tmp/b1.ctp" >"$tmp/text" 2>"$tmp/err"
is 'a unit that is nowhere: status 1' $? 1
like 'and the remedy' "$(cat "$tmp/err")" "^ctp-diff: --per nowhere: no coroutine was resumed there in $tmp/a1.ctp; give FILE:FUNCTION, or a site"
"$diff" "$tmp/a1.ctp" -- "$tmp/missing" "$tmp/b1.ctp" >"$tmp/text" 2>"$tmp/err"
is 'a trace that cannot be read: status 1, one line, and nothing is printed' "$? $(wc -l <"$tmp/err") $(wc -c <"$tmp/text")" '1 1 0'
for args in '' 'a' 'a b c' 'a --' '-- b' '-j -m a b' '--fail-on bad a b' '--folded --fail-on new a b' '--top 0 a b' '--folded-unit ms a b' \
	'--min-change x a b' '--min-change 2%% a b' '--min-change -1 a b' '--min-change nan a b' '--min-change . a b' '--min-change 1e3 a b' \
	'--folded --min-change 2% a b'; do
	# shellcheck disable=SC2086
	"$diff" $args >"$tmp/text" 2>"$tmp/err"
	is "usage '$args': status 2, one line" "$? $(wc -l <"$tmp/err")" '2 1'
done
"$diff" -- "$tmp/a1.ctp" "$tmp/b1.ctp" >"$tmp/text" 2>"$tmp/err"
is 'two files after --: a side is missing' $? 2
if [ -w /dev/full ]; then
	for form in '' -j -m --folded; do
		# shellcheck disable=SC2086
		"$diff" $form "$tmp/a1.ctp" "$tmp/b1.ctp" >/dev/full 2>"$tmp/err"
		is "a full disk, $form: status 1, one line" "$? $(wc -l <"$tmp/err")" '1 1'
	done
fi

# --- any stream ---------------------------------------------------------------------------------------------------------------------

for seed in 1 2 3 4 5 6; do
	"$O/t/helper/randstream" $seed >"$tmp/any.ctp"
	head -c $(($(wc -c <"$tmp/any.ctp") * 2 / 3)) "$tmp/any.ctp" >"$tmp/part.ctp"
	for form in -j -m --folded -v; do
		"$diff" -q $form "$tmp/any.ctp" "$tmp/part.ctp" -- "$tmp/any.ctp" >"$tmp/text" 2>"$tmp/err"
		like "a stream of any classes, $seed $form" $? '^[013]$'
	done
done
done_testing
