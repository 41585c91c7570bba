#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# ctp-collect as a command that runs a command: statuses, stdout and stderr, options, what the child inherits.
. t/helper/tap.sh
collect=$BIN/ctp-collect tracee=$O/t/helper/tracee
sum() { awk '{ n += $1 } END { print n + 0 }' "$1"; }
transitions() { "$BIN/ctp-tojsonl" -q "$@" 2>/dev/null | wc -l; }
records() { "$BIN/ctp-tojsonl" -q -a "$2" 2>/dev/null | grep "^{\"type\":\"$1\""; }
said() { sed -n "s/.*[ :]\([0-9][0-9]*\) $1.*/\1/p" "$2" | tail -n 1; } # said lost FILE: the number before that word

# --- status ---
status() { # NAME WANT COMMAND...
	name=$1 want=$2
	shift 2
	"$@" >/dev/null 2>"$tmp/err"
	is "$name" $? "$want"
}
status 'success is passed on' 0 "$collect" true
status 'a failure of the command is its status' 42 "$collect" sh -c 'exit 42'
status 'death by a signal is its status' 143 "$collect" sh -c 'kill $$'
status 'death by SIGKILL is its status' 137 "$collect" sh -c 'kill -9 $$'
status 'a command that is not there: 127' 127 "$collect" no-such-command-anywhere
like 'the missing command is named' "$(cat "$tmp/err")" '^ctp-collect: no-such-command-anywhere: No such file'
status 'a command line: 127' 127 "$collect" 'true 1 | cat'
like 'the message suggests sh -c' "$(cat "$tmp/err")" \
	"^ctp-collect: true 1 . cat: No such file.* [(]COMMAND is run without a shell: sh -c"
status 'one that cannot be run: 126' 126 "$collect" /etc
status 'no command: 125' 125 "$collect"
status 'an unknown option: 125' 125 "$collect" --no-such-option true
status 'no stations: 125' 125 "$collect" -n 0 true
is 'the message gives the limit' "$(cat "$tmp/err")" 'ctp-collect: -n 0: not a number from 1 to 2097150'
status 'more stations than the field can address: 125' 125 "$collect" -n 2097151 true
status 'as many as it can' 0 "$collect" -n 2097150 true
status 'a time that is none: 125' 125 "$collect" -t 1x true
status 'no time: 125' 125 "$collect" -t 0 true
is 'the message says what is wrong with it' "$(cat "$tmp/err")" 'ctp-collect: -t 0: must be more than 0'
status 'a dialect that is none: 125' 125 "$collect" --dialect lisp true
status 'options end at the command' 1 "$collect" sh -c '[ "$1" = -q ] && exit 1' - -q
status 'options end at --' 3 "$collect" -- sh -c 'exit 3'
status 'an output that cannot be opened: 125, and nothing runs' 125 "$collect" -o "$tmp/no/folder" touch "$tmp/ran"
like 'the option is named' "$(cat "$tmp/err")" '^ctp-collect: -o .*/no/folder: No such file'
is 'the command was not run' "$(ls "$tmp")" err
for name in old.ctp old.ctp.zst; do
	echo precious >"$tmp/$name"
	for command in no-such-command-anywhere /etc; do "$collect" -o "$tmp/$name" $command 2>/dev/null; done
	is "$name: the last trace stays where the command cannot be started" "$(cat "$tmp/$name")" precious
	"$collect" -o "$tmp/new-$name" no-such-command-anywhere 2>/dev/null
	ok "$name: no file is created if there was none" test ! -e "$tmp/new-$name"
	head -c 100000 /dev/zero >"$tmp/$name"
	"$collect" -q -o "$tmp/$name" true
	is "$name: it is replaced if the command can be started" "$("$BIN/ctp-tojsonl" "$tmp/$name" 2>&1; echo $?)" 0
	ok "$name: the old contents are gone" test "$(wc -c <"$tmp/$name")" -lt 100000
done

# --- stdout, stderr, output ---
# To lose nothing, a plain coroutine has 7 events: of 8, the first might be about to be overwritten.
"$collect" sh -c 'echo out; echo err >&2' >"$tmp/a.ctp" 2>"$tmp/err"
is "the stream has stdout to itself: the command's goes to stderr" "$(grep -cx 'out\|err' "$tmp/err")" 2
like 'a closing line has the totals' "$(tail -n 1 "$tmp/err")" \
	'^ctp-collect: 0 events, 0 coroutines, 0 lost, 0 untraced, [0-9.]+ s .no process attached: .*ctp[.]h.*--shm and --sock'
is 'the stream is complete' "$("$BIN/ctp-tojsonl" "$tmp/a.ctp" 2>&1 >/dev/null; echo $?)" 0
is '-o leaves stdout to the command' "$("$collect" -q -o "$tmp/b.ctp" echo out 2>&1)" out
is "a trace is its owner's alone" "$(umask 022 && "$collect" -q -o "$tmp/own.ctp" true && stat -c %a "$tmp/own.ctp")" 600
is 'a stream converted from another format has the same mode' \
	"$(umask 022 && "$BIN/ctp-tojsonl" -qa -o "$tmp/own.jsonl" "$tmp/own.ctp" &&
	"$BIN/ctp-fromjsonl" -q -o "$tmp/again.ctp" "$tmp/own.jsonl" && stat -c %a "$tmp/again.ctp" "$tmp/own.jsonl" | tr '\n' ' ')" '600 644 '
is '-q prints nothing' "$("$collect" -q true 2>&1 >/dev/null)" ''

for dialect in seqlock plain; do
	"$collect" "$tracee" -d "$dialect" -c 20 -e 500 -j 2 -p "$tmp/$dialect" >"$tmp/$dialect.ctp" 2>"$tmp/err"
	is "$dialect: read and lost events add up to those written" \
		"$(($(said events "$tmp/err") + $(said lost "$tmp/err")))" "$(sum "$tmp/$dialect")"
	is "$dialect: the stream agrees with the closing line" "$(transitions "$tmp/$dialect.ctp")" \
		"$(said events "$tmp/err")"
	is "$dialect: births" "$(records birth "$tmp/$dialect.ctp" | wc -l)" 20
	is "$dialect: deaths" "$(records death "$tmp/$dialect.ctp" | wc -l)" 20
	"$collect" -q --dialect "$dialect" "$tracee" -d "$dialect" -e 7 >"$tmp/c.ctp"
	is "$dialect: with --dialect all events are read" "$(transitions "$tmp/c.ctp")" 7
done
like 'the section has the pid, the clock and the command' "$("$BIN/ctp-tojsonl" -a "$tmp/plain.ctp" 2>/dev/null | head -n 1)" \
	"\"pid\":\"[0-9]+\".*\"clock\":\"monotonic\".*\"argv\":\\[\"$tracee\",\"-d\",\"plain\""
like 'the end record has the status' "$(records end "$tmp/plain.ctp")" '"outcome":"exited","status":0'
"$collect" -q -o "$tmp/d.ctp.zst" "$tracee" -c 10 -e 7
is 'a .zst is what zstd reads' "$(zstd -qdc "$tmp/d.ctp.zst" | "$BIN/ctp-tojsonl" 2>/dev/null | wc -l)" 70
is 'a .zst is read by the tools' "$(transitions "$tmp/d.ctp.zst")" 70
"$collect" -n 4 "$tracee" -c 10 -e 7 >"$tmp/e.ctp" 2>"$tmp/err"
is 'coroutines beyond -n are counted' "$(said untraced "$tmp/err")" 6
like 'the message says what to do' "$(cat "$tmp/err")" ' 6 untraced [(]raise -n, now 4[)], '
is 'the stream counts them' "$(records untraced "$tmp/e.ctp" | sed -n 's/.*"count":\([0-9]*\).*/\1/p' | tail -n 1)" 6

# --- what must be recorded while the target lives ---
mkfifo "$tmp/say" "$tmp/pub" "$tmp/after"
"$collect" -v "$tracee" -e 5 -p "$tmp/pub" -a "$tmp/after" >"$tmp/e.ctp" 2>"$tmp/say" &
exec 3<"$tmp/say"
read -r line <&3
like 'a connection is reported' "$line" 'process [0-9]+ has connected'
read -r _ <"$tmp/pub"
until [ "${line#ctp-collect: 5 events}" != "$line" ]; do # until it has seen the events, and so the thread
	kill -USR1 $!
	read -r line <&3
done
: >"$tmp/after"
wait $!
exec 3<&-
like "the target's own mapping is recorded" "$(records mapping "$tmp/e.ctp")" "\"path\":\"[^\"]*/tracee\""
like 'its thread is recorded' "$(records thread "$tmp/e.ctp")" '"name":"tracee"'
if command -v readelf >/dev/null; then
	id=$(readelf -n "$tracee" 2>/dev/null | sed -n 's/.*Build ID: //p')
	[ -z "$id" ] || like 'with its build-id' "$(records mapping "$tmp/e.ctp")" "tracee\",\"build_id\":\"$id\""
fi

# --- a station that is full ---
# Eight events at once and then silence: all are read, while the program lives and at its end.
mkfifo "$tmp/before"
"$collect" -v "$tracee" -c 200 -e 8 -z -b "$tmp/before" -p "$tmp/pub" -a "$tmp/after" >"$tmp/e.ctp" 2>"$tmp/say" &
exec 3<"$tmp/say"
read -r line <&3 # it has connected
kill -STOP $!
: >"$tmp/before"
read -r _ <"$tmp/pub"
kill -CONT $!
until [ "$((${events:-0} + ${lost:-0}))" -eq 1600 ]; do
	kill -USR1 $!
	read -r line <&3
	events=$(echo "$line" | said events -) lost=$(echo "$line" | said lost -)
done
if "$O/t/unit/v1-doubt" | grep -q '# skip this kernel'; then
	skip 'there is no barrier here'
else
	like 'all events of 200 full and quiet stations are read' "$line" ': 1600 events, 200 coroutines, 0 lost,'
fi
: >"$tmp/after"
wait $!
exec 3<&-
for dead in '' -z; do
	# shellcheck disable=SC2086
	"$collect" "$tracee" -c 200 -e 8 $dead >"$tmp/e.ctp" 2>"$tmp/err"
	is "all events are read if the program ends early $dead" "$(said events "$tmp/err") $(said lost "$tmp/err")" '1600 0'
	is "the stream has all events $dead" "$(transitions "$tmp/e.ctp")" 1600
done

if "$O/t/unit/v1-doubt" | grep -q '# skip this kernel'; then
	skip 'there is no barrier here'
else
	"$collect" "$tracee" -d plain -c 200 -e 8 >"$tmp/e.ctp" 2>"$tmp/err"
	is 'so they are of dead stations in the plain dialect' "$(said events "$tmp/err") $(said lost "$tmp/err")" '1600 0'
fi

# --- the child inherits signals, limits and descriptors as without the collector ---
# Signals up to 28: 32 and 33 are libc's own, and make leaves them ignored in its children.
cat >"$tmp/show" <<'EOF'
grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status | sed 's/:.*\(.\{7\}\)$/ \1/'
cat /proc/self/timerslack_ns
ulimit -n
ls /proc/self/fd | wc -l
cut -d ' ' -f 5 /proc/$$/stat
EOF
sh "$tmp/show" >"$tmp/want"
"$collect" -q -o "$tmp/f.ctp" sh "$tmp/show" >"$tmp/got"
is 'signals, limits, descriptors and group are inherited as they were' "$(cat "$tmp/got")" "$(cat "$tmp/want")"
(trap '' PIPE CHLD HUP && sh "$tmp/show" >"$tmp/want" && "$collect" -q -o "$tmp/f.ctp" sh "$tmp/show" >"$tmp/got")
is 'ignored signals are inherited' "$(cat "$tmp/got")" "$(cat "$tmp/want")"

# --- paths ---
cat >"$tmp/modes" <<'EOF'
stat -c '%a %F' "$CTP_SHM_PATH" "$CTP_SOCK_PATH"
EOF
case $collect in /*) absolute=$collect ;; *) absolute=$PWD/$collect ;; esac
is 'memory and socket have the requested paths, for their owner alone' \
	"$(cd "$tmp" && "$absolute" -q -o g.ctp --shm m --sock s sh ./modes)" "600 regular file
600 socket"
is 'both paths are removed at the end' "$(ls "$tmp/m" "$tmp/s" 2>/dev/null)" ''
"$collect" -q --shm "$tmp/m" --sock "$tmp/s" "$tracee" -c 10 -e 7 >"$tmp/h.ctp"
is 'a program is traced through these paths' "$(transitions "$tmp/h.ctp")" 70
echo mine >"$tmp/m"
status 'an existing file is not used as the memory' 125 "$collect" --shm "$tmp/m" true
is 'the message names the existing file' "$(cat "$tmp/err")" "ctp-collect: --shm $tmp/m: exists already; it must not"
is 'the existing file is not changed' "$(cat "$tmp/m")" mine
status 'an existing file is not used as the socket' 125 "$collect" --sock "$tmp/m" true
is 'an existing file as the socket is reported' "$(cat "$tmp/err")" "ctp-collect: --sock $tmp/m: exists already; it must not"
is 'the existing file is not removed' "$(cat "$tmp/m")" mine
is 'no folder is left in TMPDIR' "$(mkdir "$tmp/t" && TMPDIR=$tmp/t "$collect" -q "$tracee" >/dev/null; ls "$tmp/t")" ''
done_testing
