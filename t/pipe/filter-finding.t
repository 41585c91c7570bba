#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# ctp-filter --finding: the report of the part has the finding of the whole trace, with the same members and places; of each rule,
# of a wait that stands out, of programs with known bugs, with a window, without names, and of one origin of a merge.
# Mostly waits.
. t/helper/tap.sh
. t/helper/example-trace.sh
command -v jq >/dev/null || skip_all 'there is no jq'
filter=$BIN/ctp-filter report=$BIN/ctp-report

# All that findings and waits that stand out say, but for the line about where they are from.
said='[.sections[] | .findings[], .suspects[] | [.rule, .certainty, .title,
	[((.evidence // []) + [.excuse, .also])[] | select(. and (startswith("this is from the report of the whole trace") | not))],
	.next, .spawn_site, .suspend_site, .members // .count, .waiting, .from_ns // .since_ns, .to_ns // .for_ns,
	[(.coroutines + (.awaits // []))[] | [.coro, .name, .state, .since_ns, .for_ns, .spawn_site, .suspend_site, .reasons, .waits_for,
	.woken_by, .thread]]]]'
said() { "$report" -qj "$1" | jq -c "$said | .[$2 - 1]"; } # FILE NUMBER
count() { "$report" -qj "$1" | jq "$said | length"; } # FILE

cuts() { # WHAT FILE NUMBER OPTION...
	what=$1 file=$2 number=$3
	shift 3
	rm -f "$tmp/part.ctp"
	"$filter" -q --finding="$number" "$@" -o "$tmp/part.ctp" "$file" 2>"$tmp/err"
	status=$?
	if [ $status = 1 ] && grep -q 'is about the whole program' "$tmp/err"; then
		note "$what: $(cat "$tmp/err")"
		return
	fi
	like "$what $*: the status" "$status $(cat "$tmp/err")" '^[03] $'
	is "$what $*: the finding is the same" "$(said "$tmp/part.ctp" 1)" "$(said "$file" "$number")"
}

# --- each rule
sed -n 's/^\.\\" \(trace\|script\): //p' doc/ctp-rules.7 >"$tmp/traces"
while read -r rule grade; do
	block "trace: $rule $grade" doc/ctp-rules.7 | sed 's/^\\&//; s/\\(aq/'"'"'/g; s/\\e/\\/g' >"$tmp/rows"
	if [ ! -s "$tmp/rows" ]; then
		{ block functions doc/ctp-rules.7; block "script: $rule $grade" doc/ctp-rules.7; } >"$tmp/script"
		sh "$tmp/script" >"$tmp/rows"
	fi
	"$BIN/ctp-fromjsonl" -q "$tmp/rows" >"$tmp/rule.ctp" 2>"$tmp/err"
	case $rule in
	wait-cycle | possible) cp "$tmp/rows" "$tmp/$rule.rows" ;;
	esac
	cuts "$rule" "$tmp/rule.ctp" 1
	cuts "$rule" "$tmp/rule.ctp" 1 --around=10ms
	[ $status = 1 ] && continue
	is "$rule: it is the only one" "$(count "$tmp/part.ctp")" 1
	"$filter" -q --finding=1 "$tmp/part.ctp" >"$tmp/again.ctp"
	is "$rule: a part of the part has it, too" "$(said "$tmp/again.ctp" 1)" "$(said "$tmp/part.ctp" 1)"
done <"$tmp/traces"

# --- real programs
trace() { # NAME COMMAND...
	name=$1
	shift
	"$BIN/ctp-collect" -q -o "$tmp/$name.ctp" "$@" >"$tmp/said" 2>&1
}
coros() { "$BIN/ctp-tojsonl" -qa "$1" | jq -r 'select(.type == "transition").coro' | sort -u; } # FILE
trace other "$O/examples/lostwake" &
trace lost "$O/examples/lostwake"
wait
for options in '' --around=0s --around=2s; do
	# shellcheck disable=SC2086
	cuts 'a lost wake' "$tmp/lost.ctp" 1 $options
done
for defect in c-locks:forgotten-unlock c-locks:two-orders c-pools:permit-leaked; do
	exe=$tmp/${defect%:*}
	[ -x "$exe" ] || cc_traced -g -o "$exe" "t/defects/verdict/${defect%:*}.c" -lm >"$tmp/err" 2>&1
	trace "${defect#*:}" timeout -s TERM 6 "$exe" "${defect#*:}"
	like "${defect#*:}: there is a finding" "$(count "$tmp/${defect#*:}.ctp")" '^[1-9]'
	for options in '' --around=2s; do
		# shellcheck disable=SC2086
		cuts "${defect#*:}" "$tmp/${defect#*:}.ctp" 1 $options
	done
done
# Whoever holds the lock that members wait for is there with all that it did, as in the table of objects.
holder=$("$report" -qj "$tmp/forgotten-unlock.ctp" | jq -r '.sections[0] | .findings[0].coroutines[0].reasons[0].object as $at |
	.objects[] | select(.object == $at).holders[0].coro // empty')
like 'a lock has a holder' "$holder" '^[1-9]'
"$filter" -q --finding=1 "$tmp/forgotten-unlock.ctp" >"$tmp/part.ctp"
is 'which is in the part' "$(coros "$tmp/part.ctp" | grep -cx "$holder")" 1

sed '1s/"attrs":{}/"attrs":{"clock":"ordinal"}/' "$tmp/wait-cycle.rows" | "$BIN/ctp-fromjsonl" -q >"$tmp/ordinal.ctp"
"$filter" -q --finding=1 --around=1s "$tmp/ordinal.ctp" >"$tmp/none" 2>"$tmp/err"
is 'no clock: there is no time around a finding' "$? $(cat "$tmp/err")" \
	'1 ctp-filter: the section has no clock, and its records have numbers: leave out --around'
cuts 'no clock' "$tmp/ordinal.ctp" 1

# --- without names: the same, but for the names
rename() { sed 's/handler [0-9]*/NAME/g; s/client [0-9]*/NAME/g; s/[a-z_.\/]*lostwake\.c/FILE/g; s/[a-z]*_step/FUNCTION/g; s/task_spawn/FUNCTION/g
	s/name[0-9][0-9]*/NAME/g; s/file[0-9][0-9]*/FILE/g; s/function[0-9][0-9]*/FUNCTION/g'; }
"$filter" -q --finding=1 --around=50ms --anonymise "$tmp/lost.ctp" >"$tmp/part.ctp" 2>"$tmp/err"
is 'without names: the finding is the same' "$(said "$tmp/part.ctp" 1 | rename)" "$(said "$tmp/lost.ctp" 1 | rename)"
is 'without names: there is none' "$("$BIN/ctp-tojsonl" -qa "$tmp/part.ctp" | grep -c "lostwake\|handler\|client\|$(uname -n)\|task_spawn\|/usr")" 0
"$filter" -q --finding=1 "$tmp/lost.ctp" | "$filter" -q --anonymise >"$tmp/later.ctp" 2>"$tmp/err"
is 'names that are replaced later: there is none' "$("$BIN/ctp-tojsonl" -qa "$tmp/later.ctp" | grep -c "lostwake\|handler\|client\|$(uname -n)\|task_spawn\|/usr")" 0
is 'names that are replaced later: rule, members and places are the same' "$(said "$tmp/later.ctp" 1 | jq -c '[.[0, 1, 5, 6, 7, 11]]' | rename)" \
	"$(said "$tmp/lost.ctp" 1 | jq -c '[.[0, 1, 5, 6, 7, 11]]' | rename)"

# --- a merge: findings have numbers for each origin
"$BIN/ctp-merge" -q -o "$tmp/merged.ctp" "$tmp/lost.ctp" "$tmp/other.ctp"
"$filter" -q --finding=1 "$tmp/merged.ctp" >"$tmp/none" 2>"$tmp/err"
is 'a merge: which origin?' "$? $(cat "$tmp/err")" '1 ctp-filter: --finding 1: several origins have findings; add --origin N'
"$filter" -q --finding=1 --origin=2 -o "$tmp/part.ctp" "$tmp/merged.ctp"
is 'a merge: the finding of the second origin' "$(said "$tmp/part.ctp" 1)" "$(said "$tmp/merged.ctp" 2)"
is 'a merge: nothing of the first one is there' "$("$BIN/ctp-tojsonl" -qa "$tmp/part.ctp" | jq -r 'select(.origin) | .origin' | sort -u)" 2
# A finding goes before a wait that stands out, as in the last line of the report.
for host in one two; do
	sed '1s/"attrs":{/"attrs":{"host":"'$host'","clock":"monotonic","wall_offset_ns":"1700000000000000000",/' "$tmp/possible.rows" |
		"$BIN/ctp-fromjsonl" -q >"$tmp/$host.ctp"
done
"$BIN/ctp-merge" -q -o "$tmp/mixed.ctp" "$tmp/one.ctp" "$tmp/lost.ctp" "$tmp/two.ctp"
like 'a merge: one origin has a finding' "$("$report" -q "$tmp/mixed.ctp" | tail -n 1)" '^In 3 origins: 1 finding, in origin 2\.$'
"$filter" -q --finding=1 -o "$tmp/part.ctp" "$tmp/mixed.ctp" 2>"$tmp/err"
is 'a merge: the finding, although other origins have a wait that stands out' "$? $(cat "$tmp/err")$("$BIN/ctp-tojsonl" -qa "$tmp/part.ctp" |
	jq -r 'select(.type == "transition").origin' | sort -u)" '0 2'
"$BIN/ctp-merge" -q -o "$tmp/mixed.ctp" "$tmp/one.ctp" "$tmp/two.ctp"
"$filter" -q --finding=1 "$tmp/mixed.ctp" >"$tmp/none" 2>"$tmp/err"
is 'a merge: which wait?' "$? $(cat "$tmp/err")" '1 ctp-filter: --finding 1: several origins have waits that stand out; add --origin N'
json() { "$report" -qj "$1" 2>"$tmp/err" | jq -c "$2"; } # FILE WHAT
for options in --coro=351,352 --origin=1 --since=100ms --until=1s --anonymise; do
	"$filter" -q $options "$tmp/merged.ctp" >"$tmp/some.ctp" 2>"$tmp/err"
	is "a merge, $options: the ends count what is there" "$("$BIN/ctp-stat" -qj "$tmp/some.ctp" | jq -c '[.unseen, .lost]')" '[0,0]'
	"$BIN/ctp-tojsonl" -qa "$tmp/some.ctp" >"$tmp/rows"
	is "a merge, $options: and each the ends of its origin" "$(jq -c 'select(.type == "end") | [.origin, .events]' "$tmp/rows" | sort)" \
		"$(jq -sc '[.[] | select(.type == "end").origin] as $ended | [.[] | select(.type == "transition").origin] |
		. as $all | $ended[] | . as $o | [$o, ([$all[] | select(. == $o)] | length)]' "$tmp/rows" | sort)"
	origins='[.sections[] | [.complete, .start_ns, (.filtered != null)]]'
	case $options in
	--anonymise) want=$(json "$tmp/merged.ctp" "$origins") ;;
	--origin=1) want=$(json "$tmp/merged.ctp" "$origins | .[:1]") ;;
	*) want=$(json "$tmp/merged.ctp" "$origins | map(.[2] = true)") ;;
	esac
	is "a merge, $options: each origin is complete, filtered, and begins when it did" "$(json "$tmp/some.ctp" "$origins")" "$want"
done
# In a part a record at the time of one that is late may be late, too.
for origin in 1 2; do
	"$filter" -q --origin=$origin "$tmp/merged.ctp" >"$tmp/some.ctp"
	is "a merge, --origin=$origin: the report is as that of all" "$(json "$tmp/some.ctp" '.sections[0] | del(.file, .late)')" \
		"$(json "$tmp/merged.ctp" ".sections[$((origin - 1))] | del(.file, .late)")"
done
"$filter" -q --coro=35 "$tmp/lost.ctp" >"$tmp/a.ctp"
"$BIN/ctp-merge" -q -o "$tmp/ab.ctp" "$tmp/a.ctp" "$tmp/other.ctp"
is 'a merge of a filtered trace: the other one is not filtered' "$(json "$tmp/ab.ctp" '[.sections[] | [.filtered, (.findings | length)]]')" \
	'[["--coro 35",0],[null,1]]'
like 'a merge of a filtered trace: as a whole it is filtered' "$("$BIN/ctp-stat" -q "$tmp/ab.ctp")" '^  filtered: .*: --coro 35$'
is 'a merge of a filtered trace: nor is it alone' "$(for n in 1 2; do "$filter" -q --origin=$n "$tmp/ab.ctp" >"$tmp/some.ctp"
	json "$tmp/some.ctp" '[.sections[] | [.filtered, (.findings | length)]]'; done | tr '\n' ' ')" '[["--coro 35",0]] [[null,1]] '
"$filter" -q --since=1ms "$tmp/ab.ctp" >"$tmp/some.ctp"
is 'a merge of a filtered trace: and then both are' "$(json "$tmp/some.ctp" '[.sections[] | .filtered]')" '["--coro 35 | --since 1ms","--since 1ms"]'
# Without clock records, by which a merge stretches time where the system's clock was being corrected.
"$BIN/ctp-tojsonl" -qa "$tmp/a.ctp" | grep -v '"type":"clock"' >"$tmp/rows"
"$BIN/ctp-fromjsonl" -q "$tmp/rows" >"$tmp/a.ctp"
sed '1s/"boot_id":"[^"]*"/"boot_id":"another"/; 1s/\("wall_offset_ns":"[0-9]*\)[0-9]"/\17"/' "$tmp/rows" | "$BIN/ctp-fromjsonl" -q >"$tmp/b.ctp"
"$BIN/ctp-merge" -q -o "$tmp/ab.ctp" "$tmp/a.ctp" "$tmp/b.ctp"
length='[.sections[].duration_ns]'
is 'a merge of filtered traces by wall-clock time: they last as long as before' "$(json "$tmp/ab.ctp" "$length")" "$(json "$tmp/a.ctp" "$length | . + .")"
"$filter" -q --finding=1 --origin=3 "$tmp/merged.ctp" >"$tmp/none" 2>"$tmp/err"
is 'a merge: there is no such origin' "$? $(cat "$tmp/err")" '1 ctp-filter: --origin 3: the trace has no such origin'
done_testing
