#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# ctp-ppt attach, list and describe on programs that run: hand-written clients like those of ppt, with their defects; what is read from them, and
# what is left in them.
# Mostly waits.
. t/helper/tap.sh
. t/helper/ppt.sh
command -v python3 >/dev/null || skip_all 'there is no python3'

running=
trap 'for p in $running; do kill -9 "$p" 2>/dev/null; done; rm -rf "$tmp"' EXIT
has() { grep -q -- "$2" "$1"; }
start() { # PROGRAM ARG...: its number in $pid, what it says in $tmp/said
	: >"$tmp/said"
	"$O/t/helper/$@" >"$tmp/said" 2>"$tmp/said2" &
	pid=$!
	running="$running $pid"
	await has "$tmp/said" ready
}
stop() { kill -TERM "$pid"; wait "$pid" 2>/dev/null; }
agent() { # ARG...: its number in $agent; returns when it is attached
	: >"$tmp/err"
	"$ppt" attach "$@" >"$tmp/out.ctp" 2>"$tmp/err" &
	agent=$!
	running="$running $agent"
	await has "$tmp/err" 'attached, with'
}
agents() { # as agent, of several buffers: join_all has what they wrote
	: >"$tmp/err"
	rm -f "$tmp"/each-*
	"$ppt" attach -o "$tmp/each-%b.ctp" "$@" 2>"$tmp/err" &
	agent=$!
	running="$running $agent"
	await has "$tmp/err" 'attached, with'
}
state() { "$ppt" list "$pid" 2>&1 | awk -v b="$1" '$1 == b { print $2 }'; }
taken() { "$BIN/ctp-tojsonl" -a "${1:-$tmp/out.ctp}" 2>/dev/null | python3 t/helper/pptjudge.py; }
descriptors() { ls "/proc/$pid/fd" | wc -l; }
has_ended() { case $(sed "s/.*) //; s/ .*//" "/proc/$agent/stat") in "" | Z) ;; *) false ;; esac }
has_ring() { grep -q /SYSV "/proc/$agent/maps"; }
segments() { grep -c /SYSV "/proc/$pid/maps"; }

start ppt-client
"$ppt" list "$pid" >"$tmp/list" 2>&1 || {
	stop
	skip_all "$(cat "$tmp/list")"
}

# --- list and describe -----------------------------------------------------------------------------------------------------------
is 'list has each buffer by its whole name' "$(awk 'NR > 1 { print $1, $2, $3 }' "$tmp/list")" 'Foo free request,tick
FooBar free sample'
"$ppt" describe "$pid" Foo >"$tmp/described"
like 'describe has the clock' "$(cat "$tmp/described")" '^clock +monotonic$'
like 'describe has the members, with offset, size and type' \
	"$(cat "$tmp/described")" '^ +16 +16 time +d_start +begin of d, with d_end$'
like 'a missing buffer is reported' "$("$ppt" describe "$pid" Fo 2>&1)" '^ctp-ppt: Fo: process [0-9]+ has no such buffer; '
stop
for kind in ppt-client-static ppt-client-stripped; do
	[ -x "$O/t/helper/$kind" ] || continue
	start "$kind"
	is "$kind: the buffers are found" "$("$ppt" list "$pid" | awk 'NR > 1 { print $1 }' | xargs)" 'Foo FooBar'
	ok "$kind: they can be attached to" "$ppt" attach -q -t 1 -o "$tmp/out.ctp" "$pid" Foo
	stop
done
start ppt-client -2 -l "$O/t/helper/ppt-client-lib.so"
is 'a buffer of a library is found' "$("$ppt" list "$pid" | awk '$1 == "Lib" { print $2, $3, $4 }')" "free mark $(realpath "$O/t/helper/ppt-client-lib.so")"
ok 'all buffers can be attached to at once' attach_all "$tmp/out.ctp" -q -t 1 "$pid"
taken >"$tmp/taken"
stop
is 'each buffer is a section' "$(awk '{ print $1, $5, $6, $7 }' "$tmp/taken" | sort)" 'Foo 0 0 running
FooBar 0 0 running
Lib 0 0 running'
is 'every saved frame is there or counted as lost' "$(awk '{ print $1 ": " $3 + $4 }' "$tmp/taken" | sort)" "$(sed -n 's/ saved.*//p' "$tmp/said" | sort)"
start ppt-client -2
ok 'each buffer can have a file' "$ppt" attach -q -t 1 -o "$tmp/of-%b.ctp" "$pid"
is 'each file has the name of its buffer' "$(for b in Foo FooBar; do taken "$tmp/of-$b.ctp" | awk '{ print $1, $6 }'; done)" 'Foo 0
FooBar 0'
stop
cp "$O/t/helper/ppt-client" "$tmp/gone"
: >"$tmp/said"
"$tmp/gone" >"$tmp/said" &
pid=$! running="$running $pid"
await has "$tmp/said" ready
rm "$tmp/gone"
is 'buffers of a program whose file is gone are found' "$("$ppt" list "$pid" | awk 'NR > 1 { print $1 }' | xargs)" 'Foo FooBar'
stop

# --- ends of a process ----------------------------------------------------------------------------------------------------------
start ppt-client -t 2 -s 2000
"$ppt" attach -q "$pid" Foo >"$tmp/out.ctp"
is 'a process that ends: status' $? 0
wait "$pid"
is 'ends the stream' "$(taken | awk '{ print $5, $6, $7 }')" '0 0 ended'
is 'all saved frames are there' "$(taken | awk '{ print $3 }')" "$(saved Foo)"
start ppt-client -k 300
"$ppt" attach -q "$pid" Foo >"$tmp/out.ctp"
is 'one that is killed within a frame: status' $? 3
is 'all frames but that one are there, and it is counted' "$(taken | awk '{ print $3, $4, $5, $6, $7 }')" '299 1 1 0 ended'
for signal in INT TERM HUP QUIT; do
	start ppt-client -t 2 -a 112
	before=$(descriptors)
	agent "$pid" Foo -c page-faults
	kill -"$signal" "$agent"
	await has_ended || kill -9 "$agent"
	wait "$agent"
	is "SIG$signal: status" $? 0
	is "SIG$signal: the stream is complete" "$(taken | awk '{ print $6, $7 }')" '0 running'
	is "SIG$signal: the buffer is free, and its segment is removed" "$(state Foo) $(segments)" 'free 0'
	is "SIG$signal: no descriptor is left" "$(descriptors)" "$before"
	stop
	like "SIG$signal: the client has detached" "$(cat "$tmp/said")" '1 attaches, 1 detaches'
	like "SIG$signal: its descriptor 0 is open" "$(cat "$tmp/said")" '^fd 0: open'
done
start ppt-client -t 2
"$ppt" attach "$pid" Foo 2>/dev/null | head -c 100 >/dev/null
ok 'a pipe without a reader: the buffer is free' await test "$(state Foo)" = free
"$ppt" attach "$pid" Foo 2>"$tmp/err" >/dev/full
is 'a full disk: status' $? 1
like 'the full disk is reported' "$(tail -1 "$tmp/err")" '^ctp-ppt: stdout: .*No space left'
is 'the buffer is free' "$(state Foo) $(segments)" 'free 0'
stop
like 'after a full disk descriptor 0 is open' "$(cat "$tmp/said")" '^fd 0: open'
small() { (trap '' XFSZ; ulimit -f 16; exec "$ppt" attach "$@") 2>"$tmp/err"; echo $? >"$tmp/status"; }
start ppt-client -2 -r 100 # too few to fill a packet
"$ppt" attach -t 1 "$pid" 2>"$tmp/err" >"$tmp/out.ctp"
is 'two buffers in one stream are refused' "$? $(cat "$tmp/err") $(state Foo)" \
	'1 ctp-ppt: Foo, FooBar: each buffer has a file of its own: -o with %b in the name, or name one buffer free'
"$ppt" attach -t 1 -o "$tmp/out.ctp" "$pid" Foo FooBar 2>"$tmp/err"
is 'two named buffers in one stream are refused' "$? $(cat "$tmp/err")" '2 ctp-ppt: Foo, FooBar: each buffer needs a file of its own; write %b in the name after -o'
in_each() { for b in Foo FooBar; do [ "$("$BIN/ctp-tojsonl" -aq "$tmp/each-$b.ctp" 2>/dev/null | grep -c "\"type\":\"ppt_${b}_")" -gt 100 ] || return 1; done; }
agents "$pid"
ok 'each has its frames in its file while it is traced' await in_each
kill -9 "$agent"
wait "$agent" 2>/dev/null
ok 'each file has its frames after kill -9' in_each
stop
start ppt-client -2 -s 4000
small -v -o "$tmp/own-%b.ctp" "$pid"
is 'no room for files: status' "$(cat "$tmp/status")" 1
like 'the missing room is reported' "$(grep -v ' frames, ' "$tmp/err" | tail -1)" '^ctp-ppt: .*own-Foo(Bar)?.ctp: '
is 'no message is repeated' "$(sort "$tmp/err" | uniq -d)" ''
like 'the summary is printed all the same' "$(tail -1 "$tmp/err")" '^ctp-ppt: [1-9][0-9]* frames, [0-9]+ lost'
stop
start ppt-client
if "$BIN/ctp-ppt" attach -q -t 0.1 -o "$tmp/out.ctp.zst" "$pid" Foo 2>/dev/null; then
	small -o "$tmp/own.ctp.zst" "$pid" Foo
	like 'for a compressed file the message counts bytes before compression' "$(tail -1 "$tmp/err")" '^ctp-ppt: .*own.ctp.zst: after [0-9]+ bytes before compression: '
fi
stop
start ppt-client -i
"$ppt" attach "$pid" Foo 2>"$tmp/err" >"$tmp/out.ctp" &
agent=$! running="$running $agent"
await has_ring
kill -TERM "$agent"
wait "$agent"
is 'a signal before the first frame: status' $? 1
like 'the message says that a signal ended it' "$(cat "$tmp/err")" '^ctp-ppt: Foo: a signal has ended this after [0-9.e-]+ s, before the process has saved a frame$'
"$ppt" attach -t 1 "$pid" Foo 2>"$tmp/err" >"$tmp/out.ctp"
is 'a process that saves nothing: status' $? 1
like 'the missing frames are reported' "$(cat "$tmp/err")" '^ctp-ppt: Foo: the process has not saved a frame in [0-9.]+ s, and attaches only when it does$'
is 'nothing is written' "$(wc -c <"$tmp/out.ctp")" 0
is 'the buffer is free, and no segment is left' "$(state Foo) $(segments)" 'free 0'
stop

# --- on a terminal ---------------------------------------------------------------------------------------------------------------
on_terminal() { # ARG...: what ctp-ppt attach says to one
	python3 -c 'import os, pty, subprocess, sys
ours, theirs = pty.openpty()
agent = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=theirs)
os.close(theirs)
said = b""
try:
    while True:
        said += os.read(ours, 4096)
except OSError:
    agent.wait()
sys.stdout.write(said.decode())' "$ppt" attach "$@"
}
start ppt-client
on_terminal -t 2.5 "$pid" Foo >"$tmp/terminal"
like 'a terminal gets progress' "$(cat "$tmp/terminal")" 'ctp-ppt: [1-9][0-9]* frames, 0 lost, [1-9][0-9]* s'
on_terminal -q -t 1.5 "$pid" Foo >"$tmp/terminal"
is '-q prints no progress' "$(wc -c <"$tmp/terminal" | tr -d ' ')" 0
stop

# --- children --------------------------------------------------------------------------------------------------------------------
start ppt-client -f 50
"$ppt" attach "$pid" Foo 2>"$tmp/err" >"$tmp/out.ctp" &
agent=$! running="$running $agent"
ok 'a process that forks is reported' await has "$tmp/err" '^ctp-ppt: Foo: a child that the process has forked has its ring too'
kill -INT "$agent"
wait "$agent"
is 'the status is not 0' $? 3
stop
start ppt-client -e 50
"$ppt" attach -t 2 "$pid" Foo 2>"$tmp/err" >"$tmp/out.ctp"
is 'a child that becomes another program: status' $? 0
is 'a child that calls exec is not reported' "$(grep -c forked "$tmp/err")" 0
ok 'there was a child' grep -q . "/proc/$pid"/task/*/children
stop

# --- buffers that are closed -------------------------------------------------------------------------------------------------------
start ppt-client-sdk -2
agents "$pid" -n 4096
await has "$tmp/err" 'Mark: attached'
kill -USR1 "$pid"
ok 'a program that closes a buffer is reported' await has "$tmp/err" '^ctp-ppt: Sdk: the program has closed it$'
is 'the agent stays attached to the other buffer' \
	"$(state Sdk) $("$ppt" list "$pid" | awk '$1 == "Mark" { print $4 }')" "free $agent"
kill -INT "$agent"
wait "$agent"
is 'closing a buffer does no harm: status' $? 0
join_all >"$tmp/out.ctp"
is 'the outcome is the close' "$(taken | awk '{ print $1, $4, $6, $7, ($3 > 0) }' | sort)" 'Mark 0 0 running 1
Sdk 0 0 closed 1'
like 'ctp-stat knows the outcome' "$("$BIN/ctp-stat" "$tmp/out.ctp")" 'ended: +closed by its program'
agent "$pid" Sdk
kill -USR1 "$pid"
wait "$agent"
is 'closing the only buffer ends the trace: status' $? 0
stop
start ppt-client -l "$O/t/helper/ppt-client-lib.so"
agents "$pid" Lib Foo
await has "$tmp/err" 'Lib: attached'
kill -USR1 "$pid"
ok 'an unloaded library is reported' await has "$tmp/err" '^ctp-ppt: Lib: the program has closed it: its library was unloaded$'
kill -INT "$agent"
wait "$agent"
is 'the other buffers are traced on: status' $? 0
join_all >"$tmp/out.ctp"
is 'they are traced to the end' "$(taken | awk '{ print $1, $4, $6, $7, ($3 > 0) }' | sort)" 'Foo 0 0 running 1
Lib 0 0 closed 1'
stop
start ppt-client -l "$O/t/helper/ppt-client-lib.so"
agents "$pid" Lib Foo
await has "$tmp/err" 'Lib: attached'
kill -USR2 "$pid"
ok 'a library that is loaded again at once is reported' await has "$tmp/err" '^ctp-ppt: Lib: the program has closed it: its library was '
await has "$tmp/said" '^loaded'
is 'the buffer it has now is another one' "$(state Lib)" free
kill -INT "$agent"
wait "$agent"
is 'loading it again does no harm: status' $? 0
join_all >"$tmp/out.ctp"
is 'the other buffer is traced to the end' "$(taken | awk '{ print $1, $4, $6, $7, ($3 > 0) }' | sort)" 'Foo 0 0 running 1
Lib 0 0 closed 1'
stop

# --- several agents --------------------------------------------------------------------------------------------------------------
start ppt-client -t 2
agent "$pid" Foo -c cpu-clock
like 'list names the agent' "$("$ppt" list "$pid")" "^Foo +attached by $agent "
like 'a second agent is refused' \
	"$("$ppt" attach "$pid" Foo 2>&1 >/dev/null)" "^ctp-ppt: Foo: process $agent is attached to it; --force "
first=$agent
"$ppt" attach --force -t 1 "$pid" Foo 2>"$tmp/err2" >"$tmp/out2.ctp"
is 'a second agent can be forced: status' $? 0
like 'the force is reported' "$(cat "$tmp/err2")" "taken from process $first"
wait "$first"
is 'the first agent ends: status' $? 3
like 'the first agent reports why' "$(cat "$tmp/err")" '^ctp-ppt: Foo: .*(taken it over|let go of it)'
is 'both agents have whole frames' "$(taken | awk '{ print $6 }') $(taken "$tmp/out2.ctp" | awk '{ print $6 }')" '0 0'
agent "$pid" Foo -c cpu-clock
kill -9 "$agent"
wait "$agent" 2>/dev/null
like 'the buffer of a killed agent is listed as left by a dead one' "$("$ppt" list "$pid")" "^Foo +left by $agent, dead "
"$ppt" attach -t 1 "$pid" Foo 2>"$tmp/err" >"$tmp/out.ctp"
is 'the next agent attaches: status' $? 0
like 'it reports that it has recovered the buffer' "$(cat "$tmp/err")" "^ctp-ppt: Foo: process $agent was attached, and has died"
is 'no segment is left' "$(state Foo) $(segments)" 'free 0'
stop
like 'after the recovery descriptor 0 is open' "$(cat "$tmp/said")" '^fd 0: open'

# Another implementation's agent, which has died: its segment still exists, and does not say how the client closes its counters.
if [ -x "$O/t/helper/ppt-client-static" ] && command -v ipcmk >/dev/null && command -v nm >/dev/null; then
	symbol() { nm "$O/t/helper/ppt-client-static" | awk -v s="$1" '$3 == s { print "0x" $1 }'; }
	poke() { # ADDRESS VALUE
		python3 -c 'import os, sys
fd = os.open("/proc/%s/mem" % sys.argv[1], os.O_RDWR)
os.pwrite(fd, int(sys.argv[3]).to_bytes(4, sys.byteorder), int(sys.argv[2], 16))' "$pid" "$1" "$2"
	}
	has_segment() { [ "$(segments)" = 1 ]; }
	start ppt-client-static
	agent "$pid" Foo
	kill -STOP "$agent"
	poke "$(symbol _ppt_hmem_Foo)" 0
	poke "$(symbol _ppt_stat_Foo)" 0
	kill -CONT "$agent"
	wait "$agent"
	is 'both words are 0, as after a reload of a library: status' $? 0
	is 'the outcome is a close' "$(taken | awk '{ print $1, $4, $6, $7 }') $(tail -1 "$tmp/err")" \
		'Foo 0 0 closed ctp-ppt: Foo: the program has closed it: its library was loaded again'
	stop
	for dead in maker other; do
		start ppt-client-static
		ipcmk -M 200000 >"$tmp/made" &
		maker=$!
		wait $maker
		id=$(sed 's/[^0-9]*//' "$tmp/made")
		agent=$maker
		[ $dead = maker ] || agent=$$
		poke "$(symbol _ppt_stat_Foo)" "$agent"
		poke "$(symbol _ppt_hmem_Foo)" "$id"
		await has_segment
		like "$dead: the buffer is left by a dead agent, also if its pid was reused" "$("$ppt" list "$pid")" "^Foo +left by $agent, dead "
		ok "$dead: the buffer is recovered" "$ppt" attach -q -t 1 -o "$tmp/out.ctp" "$pid" Foo
		is "$dead: the client has detached" "$(state Foo) $(segments)" 'free 0'
		ipcs -m -i "$id" >"$tmp/there" 2>&1 && ipcrm -m "$id" 2>"$tmp/removed"
		like "$dead: a segment is removed only if the ended process created it" "$dead $(grep -c "shmid=$id" "$tmp/there")" 'maker 0|other 1'
		stop
		like "$dead: descriptor 0 is open" "$(cat "$tmp/said")" '^fd 0: open'
	done
fi

# --- counters ------------------------------------------------------------------------------------------------------------------------
for attr in 112 128; do
	start ppt-client -a $attr
	"$ppt" attach -q -t 1 -c task-clock,page-faults,cpu-clock "$pid" Foo >"$tmp/out.ctp" 2>"$tmp/err"
	status=$?
	if [ $status != 0 ] && grep -q 'not permitted\|no such counter' "$tmp/err"; then
		note "counters: $(cat "$tmp/err")"
		stop
		continue
	fi
	is "$attr: three counters: status" $status 0
	"$BIN/ctp-tojsonl" -a "$tmp/out.ctp" | grep '^{"type":"ppt_Foo_request"' >"$tmp/rows"
	like "$attr: the columns have their names" "$(head -1 "$tmp/rows")" '"ev_task_clock":.*"ev_page_faults":.*"ev_cpu_clock":'
	ok "$attr: no value is from the stack (0xa5a5...)" sh -c "! grep -q -- '11936128518282651045' $tmp/rows"
	stop
	like "$attr: descriptor 0 is open" "$(cat "$tmp/said")" '^fd 0: open'
done
like 'an unknown counter is refused' "$("$ppt" attach -c nonesuch 1 2>&1)" '^ctp-ppt: -c nonesuch: no such counter; '
said=$("$ppt" attach -c task-clock,page-faults,Page-Faults 1 2>&1)
is 'a counter that is named twice is refused' "$? $said" '2 ctp-ppt: -c Page-Faults: is named twice'
for counter in cycles instructions cache-misses stalled-cycles-frontend bus-cycles; do
	said=$("$ppt" attach -c $counter $$ Foo 2>&1 >/dev/null)
	status=$?
	case $said in *'no such counter' | *'not permitted'*)
		is 'a counter that the machine lacks is named, and is no usage error' "$status ${said%: *}" "1 ctp-ppt: -c $counter"
		break ;;
	esac
done
start ppt-client -2
if attach_all "$tmp/out.ctp" -c page-faults -t 1 "$pid" 2>"$tmp/err"; then
	is 'a buffer without members for counters is attached all the same' "$(taken | awk '{ print $1, $6, ($3 > 0) }' | sort)" 'Foo 0 1
FooBar 0 1'
	is 'the missing members are not reported' "$(grep -c without "$tmp/err")" 0
	attach_until 'has "$tmp/err" "attached, with"' -c page-faults -o "$tmp/out.ctp" "$pid" FooBar
	is 'if the buffer was named: status' $? 0
	like 'if the buffer was named, it is reported' \
		"$(head -n 1 "$tmp/err")" '^ctp-ppt: FooBar: has no members for counters, and is attached without$'
else
	like 'counters that cannot be opened are reported' "$(cat "$tmp/err")" '^ctp-ppt: -c page-faults: '
fi
stop

# --- numbers -------------------------------------------------------------------------------------------------------------------------
start ppt-client -q 2147483600
ok 'a client with negative numbers is attached to' "$ppt" attach -q -t 1 -o "$tmp/out.ctp" "$pid" Foo
stop
is 'it loses no frame' "$(taken | awk '{ print $4, $6 }')" '0 0'
is 'every number has its frame' "$(taken | awk '{ print $3 }')" "$(saved Foo)"
start ppt-client -t 2 -r 0
"$ppt" attach -q -n 64 -t 0.4 "$pid" Foo >"$tmp/out.ctp"
stop
taken >"$tmp/taken"
is 'no frame of a ring that is too small is torn' "$(awk '{ print $6 }' "$tmp/taken")" 0
is 'every number is a frame or lost' "$(awk '{ print $2 - 1 + $3 + $4 }' "$tmp/taken")" "$(saved Foo)"
# A client that saves more than its ring holds before the agent's first look.
start_late() { # OPTION...: of the client
	start ppt-client -b 1000 "$@"
	kill -STOP "$pid"
	"$ppt" attach -v -n 64 "$pid" Foo >"$tmp/out.ctp" 2>"$tmp/err" &
	agent=$! running="$running $agent"
	await has_ring
	kill -STOP "$agent"
	kill -CONT "$pid"
	await has "$tmp/said" burst
	kill -CONT "$agent"
}
start_late
ok 'a ring that is full before the first look is reported' await has "$tmp/err" '^ctp-ppt: Foo: its ring was full before the first look: the trace begins with frame [0-9]*, '
kill -INT "$agent"
wait "$agent"
stop
like 'the summary mentions it' "$(tail -1 "$tmp/err")" '; frames before the first one are not known; give more slots with -n$'
like 'the trace has it as a record' "$("$BIN/ctp-tojsonl" -a "$tmp/out.ctp" 2>/dev/null | grep '^{"type":"ppt_late"')" '"ppt_seqno":[1-9]'
like 'ctp-stat counts the record' "$("$BIN/ctp-stat" "$tmp/out.ctp")" '^ +1  ppt_late$'
is 'later losses have times in order' "$(taken | awk '{ print $6 }')" 0
start_late -r 0
await has "$tmp/err" 'the trace begins with frame'
kill -INT "$agent"
wait "$agent"
stop
"$BIN/ctp-tojsonl" -a "$tmp/out.ctp" 2>/dev/null >"$tmp/rows"
numbers() { sed -n "s/^{\"type\":\"ppt_$1[a-z]*\".*\"ppt_seqno\":\(-*[0-9]*\).*/\1/p" "$tmp/rows" | sort -n | head -1; }
is 'the record and the notice name the first frame' "$(numbers late) $(sed -n 's/.* begins with frame \([0-9]*\),.*/\1/p' "$tmp/err")" \
	"$(numbers Foo_) $(numbers Foo_)"
start ppt-client-sdk -t 2 -2
before=$(descriptors)
attach_all "$tmp/out.ctp" -q -t 1 -n 4096 "$pid"
is 'a program with sdk/ppt: status' $? 0
is 'its frames are whole' "$(taken | awk '{ print $1, $4, $6 }' | sort)" 'Mark 0 0
Sdk 0 0'
if "$ppt" attach -q -t 1 --exact -c task-clock,page-faults,cpu-clock "$pid" Sdk >"$tmp/out.ctp" 2>"$tmp/err"; then
	"$BIN/ctp-tojsonl" -a "$tmp/out.ctp" | grep '^{"type":"ppt_Sdk_request"' >"$tmp/rows"
	is 'in no frame of any thread the first counter starts at 0' "$(grep -c '"ev_0_start":0' "$tmp/rows")" 0
	like 'a frame has all three counters' "$(tail -1 "$tmp/rows")" '"ev_task_clock":.*"ev_0_start":[1-9].*"ev_page_faults":.*"ev_cpu_clock":[0-9]*,"ev_2_start":[1-9]'
fi
is 'no descriptor is left open' "$(descriptors)" "$before"
stop
start ppt-client-sdk -t 70 -r 50
if "$ppt" attach --exact -t 1 -c task-clock "$pid" Sdk >"$tmp/out.ctp" 2>"$tmp/err"; then
	is 'threads without counters are reported once' "$(grep -c '^ctp-ppt: Sdk: more threads read counters than can have them.* PPT_THREADS ' "$tmp/err")" 1
	is 'their counters are 0' "$("$BIN/ctp-tojsonl" -a "$tmp/out.ctp" | sed -n '/"ev_0_start":0/s/.*"n":\([0-9]*\).*/\1/p' | awk '{ of[int($1 / 16777216)] = 1 } END { for (t in of) n++; print n }')" 6
fi
stop
start ppt-client-sdk -t 2 -2 -r 0
"$ppt" attach -q -n 16 -t 0.4 "$pid" Mark >"$tmp/out.ctp"
is 'an overwritten ring has whole frames, and every number is accounted for' "$(taken | awk '{ print $6 }')" 0
stop

# --- hostile processes ----------------------------------------------------------------------------------------------------------------------------
for lie in $("$O/t/helper/ppt-hostile"); do
	start ppt-hostile "$lie"
	limits=0.3
	case $lie in
	exec | none) limits=20 ;;
	nonsense | random | backwards | jumps | gate | shrinks | type) limits='0.3 10' ;; # a busy machine may take long to get to the lie
	esac
	for limit in $limits; do
		timeout 60 "$ppt" attach -t $limit "$pid" >"$tmp/out.ctp" 2>"$tmp/err"
		status=$?
		! grep -q 'with an impossible' "$tmp/err" || break
	done
	case $lie in
	nonsense | random | backwards | jumps | gate | shrinks | type)
		is "$lie: the error is reported" "$status $(sed -n '$s/.* lost: .* with \(an impossible number or type\).*/\1/p' "$tmp/err")" '3 an impossible number or type'
		[ $lie = nonsense ] || ok "$lie: without advice that does not help" sh -c "! grep -q -- ' -n ' $tmp/err" ;;
	exec) is "$lie: it is another program then" "$status $(taken | awk '{ print $7 }') $(tail -1 "$tmp/err")" \
		"0 replaced ctp-ppt: process $pid: has become another program" ;;
	resizable) is "$lie: is refused" "$status $(cat "$tmp/err")" \
		'1 ctp-ppt: Liar: its ring can be resized, and such a buffer cannot be traced: make it one of a fixed size' ;;
	none) like "$lie: is named" "$status $(cat "$tmp/err")" '^1 ctp-ppt: Liar: .* 0 slots$' ;;
	*) is "$lie: a line and a status" "$(wc -l <"$tmp/err" | tr -d ' ') $status" '1 1' ;;
	esac
	is "$lie: the buffer is free" "$(state Liar)" free
	stop
done
like 'a missing process is reported' "$("$ppt" list 2147483647 2>&1)" '^ctp-ppt: process 2147483647: there is none$'
sleep 1000 &
pid=$! running="$running $pid"
like 'a process without buffers is reported' \
	"$("$ppt" attach "$pid" 2>&1 >/dev/null)" '^ctp-ppt: process [0-9]+: no ppt buffers in it'

# --- other users, other namespaces -----------------------------------------------------------------------------------------------------
if root_part 'the process of another user' && can setpriv --reuid 65534 --clear-groups true; then
	chmod 755 "$tmp"
	cp "$O/t/helper/ppt-client" "$tmp/client"
	: >"$tmp/said"
	setpriv --reuid 65534 --clear-groups "$tmp/client" >"$tmp/said" &
	pid=$! running="$running $pid"
	await has "$tmp/said" ready
	ok 'root attaches to the process of another user' "$ppt" attach -q -t 1 -o "$tmp/out.ctp" "$pid" Foo
	is 'root gets its frames' "$(taken | awk '{ print $6, ($3 > 0) }')" '0 1'
	start ppt-client
	cp "$ppt" "$tmp/ctp-ppt"
	other=$(setpriv --reuid 65534 --clear-groups "$tmp/ctp-ppt" list "$pid" 2>&1)
	like 'another user gets the reason for the refusal' \
		"$other" '^ctp-ppt: process [0-9]+: (is of the user 0, and we are 65534|kernel.yama)'
	stop
fi
if root_part 'other PID and IPC namespaces' && can unshare -fpi --mount-proc true; then
	: >"$tmp/said"
	unshare -fpi --mount-proc "$O/t/helper/ppt-client" >"$tmp/said" 2>/dev/null &
	shell=$!
	await has "$tmp/said" ready
	pid=$(cat "/proc/$shell/task/$shell/children")
	pid=${pid% }
	running="$running $pid"
	ok 'a process in other PID and IPC namespaces is attached to' "$ppt" attach -q -t 1 -o "$tmp/out.ctp" "$pid" Foo
	is 'its frames are whole, too' "$(taken | awk '{ print $6, ($3 > 0) }')" '0 1'
	is 'its buffer is free again' "$(state Foo)" free
	kill -9 "$pid"
	cat >"$tmp/limited" <<'LIMITED'
echo 100000 >/proc/sys/kernel/shmmax
"$1" -r 100 >"$3" &
until grep -q ready "$3"; do sleep 0.05; done
"$2" attach -t 5 $! Foo 2>&1 >/dev/null
kill $!
LIMITED
	: >"$tmp/said3"
	limited=$(unshare -i sh "$tmp/limited" "$O/t/helper/ppt-client" "$ppt" "$tmp/said3")
	like 'too little shared memory is reported' "$limited" '^ctp-ppt: a ring of [0-9]+ bytes: kernel.shmmax is 100000; -n takes fewer slots$'
fi
done_testing
