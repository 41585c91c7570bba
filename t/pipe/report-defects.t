#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# ctp-report finds the defect of each program in t/defects, gives the right certainty, and finds nothing in its healthy twin.
# Not under sanitizers: it compiles its programs itself.
# Mostly waits.
. t/helper/tap.sh
CC=${CC:-cc} CXX=${CXX:-c++}
for program in "$CC" jq; do
	command -v "$program" >/dev/null || skip_all "there is no $program"
done

# --- programs and runs --------------------------------------------------------------------------------------------------------

build() { # PROGRAM SOURCE OPTION...
	build_to=$tmp/$1 source=$2
	shift 2
	cc_traced -g -Wall -Wextra -Werror "$@" -o "$build_to" "$source" || echo "$source" >>"$tmp/failed"
}
for source in t/defects/[a-k]*.c; do build "$(basename "$source" .c)" "$source"; done &
for source in t/defects/[l-z]*.c; do build "$(basename "$source" .c)" "$source"; done
build quiet t/defects/mailbox.c -DSCHED_QUIET
wait
ok 'the programs compile' test ! -e "$tmp/failed"

report() { # RUN [OPTION...]: of $tmp/RUN.ctp, to $tmp/RUN.json
	report_of=$tmp/$1
	shift
	"$BIN/ctp-report" -j "$@" "$report_of.ctp" >"$report_of.json" 2>"$report_of.err"
}
lossless=
# A program that has printed a line hangs, or is ready, and then gets the signal.
run() { # RUN SIGNAL COMMAND...
	run_name=$1 signal=$2
	shift 2
	mkfifo "$tmp/$run_name.says"
	"$BIN/ctp-collect" -q $lossless -o "$tmp/$run_name.ctp" "$@" >"$tmp/$run_name.says" &
	read -r _ <"$tmp/$run_name.says" && kill "-$signal" $!
	wait $! 2>/dev/null
	report "$run_name"
}

# --- what a report says -------------------------------------------------------------------------------------------------------

findings() { jq -r '.sections[].findings[] | "\(.rule) \(.members)"' "$tmp/$1.json"; } # RUN
of_rule() { jq -r --arg rule "^($2)\$" ".sections[].findings[] | select(.rule | test(\$rule)) | $3" "$tmp/$1.json"; } # RUN RULE WHAT
line() { grep -n "$2 here" "$1" | cut -d : -f 1; } # SOURCE WHAT
healthy() { # RUN
	is "$1: there are no findings" "$(jq -c '[.sections[].findings[] | "\(.rule) \(.members)"]' "$tmp/$1.json")" '[]'
}
# If events were lost, as on a busy machine, the certainty may be unknown.
sure() { # RUN RULE WANTED
	lost=$(jq '[.sections[] | .lost + .missed] | add' "$tmp/$1.json")
	if [ "$lost" = 0 ]; then
		like "$1: it is $3" "$(of_rule "$1" "$2" .certainty)" "^($3)\$"
	else
		note "$1: $lost events were lost"
		like "$1: it is $3, or not known" "$(of_rule "$1" "$2" .certainty)" "^($3|unknown)\$"
	fi
}
sick() { # RUN RULE MEMBERS SURE [ALSO]: that finding and no other, except those of the rules ALSO
	is "$1: $2" "$(of_rule "$1" "$2" .members)" "$3"
	sure "$1" "$2" "$4"
	is "$1: there is no other finding" "$(findings "$1" | grep -vE "^($2${5:+|$5}) ")" ''
}
place() { # RUN RULE PROGRAM: the finding's place is the marked line of its source
	like "$1: it is at the right line" "$(of_rule "$1" "$2" .suspend_site)" "$3.c:$(line "t/defects/$3.c" stuck):"
}
twins() { # PROGRAM SIGNAL RULE MEMBERS SURE [ALSO]
	run "$1" "$2" "$tmp/$1" &
	run "$1-bug" "$2" "$tmp/$1" bug
	wait
	healthy "$1"
	sick "$1-bug" "$3" "$4" "$5" "$6"
}

# --- each defect --------------------------------------------------------------------------------------------------------------

certain='proved|likely'
twins mailbox TERM never-woken 1 "$certain"
place mailbox-bug never-woken mailbox
twins dropped TERM woken-not-resumed 1 "$certain" never-woken
place dropped-bug woken-not-resumed dropped
twins shutdown INT never-woken 3 "$certain" # judged as before it destroys them
place shutdown-bug never-woken shutdown
is 'shutdown-bug: the signal is recorded' "$(jq -r '.sections[0] | .signal, (.signal_ns <= .judged_ns)' "$tmp/shutdown-bug.json" | xargs)" 'SIGINT true'
like 'shutdown-bug: the text names the signal' "$("$BIN/ctp-report" -q "$tmp/shutdown-bug.ctp" 2>/dev/null)" \
	'judged at .*, before [0-9]* coroutines were destroyed; SIGINT came at [0-9.]* m?s'
twins cycle TERM wait-cycle 3 likely
twins orphan TERM awaits-dead 1 likely
place orphan-bug awaits-dead orphan
twins leak TERM leaked 4 "$certain"
place leak-bug leaked leak
twins unstarted TERM never-started 3 "$certain"
twins longrun TERM "blocking-call|long-run" 1 "$certain"
lossless=--lossless # more events than a ring holds: a delayed collector would lose some, and a storm with gaps is not found
twins storm TERM self-wake-storm 1 "$certain"
lossless=
twins double TERM double-resume 1 proved
twins migrate TERM migration-storm 1 "$certain"
twins stall TERM "blocking-call|stalled-thread" 1 "$certain"
twins worker TERM never-woken 3 "$certain"
place worker-bug never-woken worker
run collapse TERM "$tmp/collapse" &
run collapse-bug TERM "$tmp/collapse" bug
wait
healthy collapse
place collapse-bug never-woken collapse
like 'collapse-bug: the loss of throughput is mentioned' "$(jq -r '.sections[0].findings[0].evidence[]' "$tmp/collapse-bug.json")" \
	'after .*, throughput fell from [0-9,]+ resumes a second to [0-9,]+, and stayed at that for '
like 'collapse-bug: the stopped coroutines are counted' "$(jq -r '.sections[0].findings[0].evidence[]' "$tmp/collapse-bug.json")" \
	'around then [0-9]+ coroutines went to wait and did not come back, (all|[0-9]+ of them) at .*collapse.c:'
twins growth TERM growth 600 "$certain" 'leaked|never-woken'
like 'growth-bug: the finding has the spawn site' "$(of_rule growth-bug growth .spawn_site)" \
	"growth.c:$(line t/defects/growth.c grows):"

# If the collector is late, a use after death may seem to be before the death.
run afterdeath TERM "$tmp/afterdeath"
run afterdeath-bug TERM "$tmp/afterdeath" bug
healthy afterdeath
like 'afterdeath-bug: use-after-death' "$(findings afterdeath-bug)" '^(use-after-death|double-resume) 1$'

# --- one defect in many variants -------------------------------------------------------------------------------------------------

run quiet TERM "$tmp/quiet" &
run quiet-bug TERM "$tmp/quiet" bug
wait
healthy quiet
sick quiet-bug suspended 1 "$certain"
place quiet-bug suspended mailbox

run fifty TERM "$tmp/mailbox" bug 50 &
run one-thread TERM "$tmp/mailbox" bug 2 1
wait
for way in fifty:50 one-thread:2; do
	sick ${way%:*} never-woken ${way#*:} "$certain"
	place ${way%:*} never-woken mailbox
done
is 'fifty: all of them are members' "$(of_rule fifty never-woken '.coroutines | map(.coro) | unique | length')" 50

mkfifo "$tmp/recorded.says"
CTP_RECORD=1 "$tmp/mailbox" bug 50 >"$tmp/recorded.says" &
hangs=$!
read -r _ <"$tmp/recorded.says"
"$BIN/ctp-collect" -q -p $hangs --once -o "$tmp/recorded.ctp"
kill -TERM $hangs
wait $hangs 2>/dev/null
report recorded
sick recorded never-woken 50 likely
place recorded never-woken mailbox

"$BIN/ctp-collect" -q -n 5 -o "$tmp/few.ctp" "$tmp/mailbox" >/dev/null
report few
sick few untraced 115 proved

if cxx_traced -g -o "$tmp/mutex" t/defects/mutex.cpp 2>"$tmp/mutex.err"; then
	run mutex TERM "$tmp/mutex" &
	run mutex-bug TERM "$tmp/mutex" bug
	wait
	healthy mutex
	like 'mutex-bug: the visit is stuck' "$(of_rule mutex-bug never-woken .suspend_site)" \
		"mutex.cpp:$(line t/defects/mutex.cpp stuck):visit"
else
	note "no program in C++20: $(head -n 1 "$tmp/mutex.err")"
fi

# --- gaps make findings unknown ---------------------------------------------------------------------------------------------------

# The same trace with one more line about a coroutine at the end: AWK prints it, for the next event number and a time.
edit() { # RUN NEW COROUTINE AWK
	"$BIN/ctp-tojsonl" -q -a "$tmp/$1.ctp" | awk -v coro="$3" '
	function number(name,    v) { v = $0; sub(".*\"" name "\":", "", v); sub(/[,}].*/, "", v); return v }
	/^[{]"type":"[a-z]/ { ts = number("ts") }
	/"type":"transition"/ && number("coro") == coro { probe = number("probe_id"); due = number("index") + 1 }
	/"type":"@schema","name":"end"/ { '"$4"' }
	{ print }' | "$BIN/ctp-fromjsonl" -q >"$tmp/$2.ctp"
	report "$2"
}
lose() { # RUN NEW COROUTINE: events of it
	edit "$1" "$2" "$3" '
		print "{\"type\":\"@schema\",\"name\":\"lost\",\"kind\":\"loss\",\"fields\":[" \
			"{\"name\":\"ts\",\"type\":\"u64\",\"role\":\"time\"},{\"name\":\"probe_id\",\"type\":\"u64\",\"role\":\"probe\"}," \
			"{\"name\":\"coro\",\"type\":\"u64\",\"role\":\"coroutine\"},{\"name\":\"index\",\"type\":\"u64\",\"role\":\"sequence\"}," \
			"{\"name\":\"count\",\"type\":\"u64\",\"role\":\"count\"}]}"
		printf "{\"type\":\"lost\",\"ts\":%s,\"probe_id\":%s,\"coro\":%s,\"index\":%d,\"count\":2}\n", ts, probe, coro, due'
}
resume() { # RUN NEW COROUTINE
	edit "$1" "$2" "$3" '
		printf "{\"type\":\"transition\",\"probe_id\":%s,\"tid\":1,\"addr\":\"0x0000000000000000\",\"seq\":%d," \
			"\"is_active\":true,\"ts\":%s,\"coro\":%s,\"index\":%d,\"site\":0}\n", probe, due + 1, ts, coro, due'
}
"$BIN/ctp-tojsonl" -q -a "$tmp/mailbox-bug.ctp" | "$BIN/ctp-fromjsonl" -q >"$tmp/copied.ctp"
report copied
sick copied never-woken 1 "$certain"
for run in mailbox:never-woken quiet:suspended orphan:awaits-dead cycle:wait-cycle; do
	name=${run%:*} rule=${run#*:}
	lose "$name-bug" "$name-gap" "$(of_rule "$name-bug" "$rule" '.coroutines[0].coro')"
	is "$name: with a gap after its last event the finding is unknown" "$(of_rule "$name-gap" "$rule" .certainty)" unknown
done
# A wake in the gap may have been for another wait.
for run in dropped:woken-not-resumed 'stall:blocking-call|stalled-thread'; do
	name=${run%:*} rule=${run#*:}
	lose "$name-bug" "$name-gap" "$(of_rule "$name-bug" "$rule" '.coroutines[0].coro')"
	like "$name: with a gap after its last event it is in no finding, or in an unknown one" "$(of_rule "$name-gap" "$rule" .certainty)" '^(unknown)?$'
	is "$name: the report says that its state is unknown" "$(jq '[.sections[].in_gap] | add' "$tmp/$name-gap.json")" 1
done
lose mailbox-bug other-gap "$(of_rule mailbox-bug never-woken '.coroutines[0].coro | tonumber + 2')"
like 'mailbox: a gap of another coroutine changes nothing' "$(of_rule other-gap never-woken .certainty)" "^($certain)$"

resume afterdeath late-resume 5
sick late-resume use-after-death 1 proved
done_testing
