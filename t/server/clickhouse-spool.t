#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# ctp-toclickhouse --spool: whatever the server does, the stream is copied at once, byte for byte, and delivered once when the server is there.
# Not under sanitizers: it waits for a server most of the time.
# Mostly waits.
. t/helper/tap.sh
. t/helper/clickhouse.sh
to=$BIN/ctp-toclickhouse
ch_need
"$to" --schema | ch -n
quick=$(ch_quick 1) spool=$tmp/spool.ctp
ask() { $quick --query "$1" 2>/dev/null; }
until_is() { # NAME WANT COMMAND...: waits for it, but not for ever
	until_name=$1 until_want=$2 tries=0
	shift 2
	while until_got=$("$@"); [ "$until_got" != "$until_want" ] && [ $((tries += 1)) -lt 1200 ]; do sleep 0.05; done
	is "$until_name" "$until_got" "$until_want"
}
# shellcheck disable=SC2317 # for until_is
says() { grep -c "$1" "$tmp/err"; }
stream() { awk -v requests="$2" -v host="$1" -f t/bench/scale.awk | "$BIN/ctp-fromjsonl" -q; } # HOST REQUESTS
counts() { # of a host: transitions that are seen, those that are there, births; then deliveries of the host, and whether they are whole
	until [ "$(ask 'SELECT count() FROM system.mutations WHERE NOT is_done')" = 0 ]; do sleep 0.02; done
	of="section_id IN (SELECT section_id FROM sections WHERE hostname = '$1')"
	echo "$(ask "SELECT count() FROM delivered_transition WHERE $of") $(ask "SELECT count() FROM transition WHERE $of")" \
		"$(ask "SELECT count() FROM delivered_birth WHERE $of") $(ask "SELECT uniqExact(delivery) FROM sections WHERE $of") $(ask "SELECT min(whole) FROM deliveries WHERE $of")"
}
whole() { # HOST REQUESTS: what counts has of the whole stream
	want=$(($("$BIN/ctp-tocsv" -q "$tmp/$1.ctp" | wc -l) - 1))
	echo "$want $want $2 1 1"
}
run_again() { # what the last line says
	sed -n 's/.*: the stream was not delivered; run: ctp-toclickhouse //p' "$tmp/err" >"$tmp/line"
	eval "\"\$to\" -q $(cat "$tmp/line")"
}
mkfifo "$tmp/pipe" "$tmp/gate"

# --- the server goes, and is there again, while the stream goes on -----------------------------------------------------------------
stream gone 3000 >"$tmp/gone.ctp"
size=$(wc -c <"$tmp/gone.ctp")
"$to" --live 1 --spool "$spool" --load "$quick" <"$tmp/pipe" 2>"$tmp/err" &
load=$!
exec 9>"$tmp/pipe"
head -c $((size / 2)) "$tmp/gone.ctp" >&9
until_is 'rows are seen while their section goes on' 1 ask 'SELECT count() > 0 FROM coro_trace_events'
ch_kill 1
head -c $((size * 3 / 4)) "$tmp/gone.ctp" | tail -c +$((size / 2 + 1)) >&9
until_is 'without a server the stream is copied' $((size * 3 / 4)) sh -c "wc -c <'$spool'"
until_is 'and that the delivery failed is said' 1 sh -c "grep -c 'the delivery failed, and is tried again; $spool keeps all rows: .*clickhouse-http\|keeps all rows: .*refused' '$tmp/err' | sed 's/^[1-9].*/1/'"
ok 'what was delivered before is in a file that only its owner reads' [ "$(stat -c %a "$spool")" = 600 ]
ch_start 1
until_is 'when the server is there again, the delivery goes on, which is said once' 1 says "the delivery of $spool goes on"
tail -c +$((size * 3 / 4 + 1)) "$tmp/gone.ctp" >&9
exec 9>&-
wait $load
is 'all is delivered, once' "$? $(counts gone)" "0 $(whole gone 3000)"
ok 'and the copy is the stream' cmp "$spool" "$tmp/gone.ctp"
is 'nothing else is said' "$(grep -vc 'the delivery failed, and is tried again\|the delivery of' "$tmp/err")" 0

# --- down at the end ----------------------------------------------------------------------------------------------------------------
stream later 200 >"$tmp/later.ctp"
ch_kill 1
"$to" --live 1 --timeout 120 -f --spool "$spool" --load "$quick" <"$tmp/later.ctp" 2>"$tmp/err" &
load=$!
until_is 'after the end of the stream, too, the delivery is tried again' 1 says 'tried again'
ch_start 1
wait $load
is 'and ends when the server is there' "$? $(counts later)" "0 $(whole later 200)"
ok '-f replaces a copy' cmp "$spool" "$tmp/later.ctp"

stream never 200 >"$tmp/never.ctp"
ch_kill 1
rm "$spool"
"$to" --live 1 --timeout 1 --spool "$spool" --load "$quick" <"$tmp/never.ctp" 2>"$tmp/err"
is 'a server that is down to the end is status 1' $? 1
ok 'the copy is the stream' cmp "$spool" "$tmp/never.ctp"
like 'what to do is the last line' "$(wc -l <"$tmp/err") $(tail -n 1 "$tmp/err")" \
	"^[23] ctp-toclickhouse: the stream was not delivered; run: ctp-toclickhouse --load '$quick' $spool\$"
"$to" -q --live 1 --timeout 1 -f --spool "$spool" --load "$quick --password secret" <"$tmp/never.ctp" 2>"$tmp/err2"
like 'with -q the retries are not said, and a password never' "$(wc -l <"$tmp/err2") $(tail -n 1 "$tmp/err2")" "^2 .*; run: ctp-toclickhouse --load \.\.\. $spool\$"
is 'no line has it' "$(grep -c secret "$tmp/err2")" 0
ch_start 1
run_again
is 'the line delivers it' "$? $(counts never)" "0 $(whole never 200)"

# --- hanging: who writes is not held back --------------------------------------------------------------------------------------------
# The client waits for the gate once, and fails then.
stream more 2000 >"$tmp/more.ctp"
stream hang 20000 >"$tmp/hang.ctp"
printf '[ -e "%s/open" ] || { cat "%s/gate"; exit 7; }\nexec %s "$@"\n' "$tmp" "$tmp" "$quick" >"$tmp/client"
: >"$tmp/err"
{ cat "$tmp/hang.ctp" && : >"$tmp/written"; } | "$to" --live 1 -f --spool "$spool" --load "sh $tmp/client" 2>"$tmp/err" &
load=$!
ok 'there is more than pipes hold' [ "$(wc -c <"$tmp/hang.ctp")" -gt 2000000 ]
# shellcheck disable=SC2016 # of the shell
until_is 'while the server hangs, all is copied and its writer ends' 1 sh -c '[ -e "$1" ] && cmp -s "$2" "$3" && echo 1' sh "$tmp/written" "$tmp/hang.ctp" "$spool"
is 'and nothing is said yet' "$(cat "$tmp/err")" ''
: >"$tmp/open"
timeout 60 sh -c ": >'$tmp/gate'"
wait $load
is 'then it is delivered' "$? $(counts hang)" "0 $(whole hang 20000)"
like 'and both lines are said' "$(tr '\n' ' ' <"$tmp/err")" "tried again; $spool keeps all rows: sh: ended with status 7 and printed no reason ctp-toclickhouse: the delivery of $spool goes on \$"

"$to" --live 1 -f --spool "$spool" --load 'sleep 1000 #' <"$tmp/pipe" 2>"$tmp/err" &
load=$!
exec 9>"$tmp/pipe"
cat "$tmp/more.ctp" >&9
until_is 'while it hangs, a stream that goes on is copied' "$(wc -c <"$tmp/more.ctp")" sh -c "wc -c <'$spool'"
kill $load
wait $load 2>/dev/null
is 'a signal ends the work, and a line says what is left to do' "$? $(cat "$tmp/err")" \
	"143 ctp-toclickhouse: the stream was not delivered; run: ctp-toclickhouse --load ... $spool"
exec 9>&-
ok 'and the copy stays' cmp "$spool" "$tmp/more.ctp"

# --- what trying again cannot mend -----------------------------------------------------------------------------------------------------
ch_own a >"$tmp/first.ctp"
cat "$tmp/first.ctp" "$tmp/more.ctp" >"$tmp/own.ctp"
"$to" --live 1 -f --spool "$spool" --load "$quick" <"$tmp/pipe" 2>"$tmp/err" &
load=$!
exec 9>"$tmp/pipe"
cat "$tmp/first.ctp" >&9
until_is 'a table that is missing is said at once' 1 says "there is no table own; ctp-toclickhouse --schema --upgrade FILE makes it"
cat "$tmp/more.ctp" >&9
exec 9>&-
wait $load
is 'and is status 1' $? 1
ok 'but all is copied' cmp "$spool" "$tmp/own.ctp"
is 'it was not tried again' "$(says 'tried again') $(wc -l <"$tmp/err")" '0 2'
"$to" --schema --upgrade --load "$quick" "$spool" | ch -n
run_again
is 'after an upgrade the line delivers it' "$? $(counts more) $(ask 'SELECT count() FROM delivered_own')" "0 $(whole more 2000) 1"

{ echo '{"a":1}'; head -c 300000 /dev/zero; } >"$tmp/none"
"$to" --live 1 -f --spool "$spool" --load "$quick" <"$tmp/none" 2>"$tmp/err"
like 'what is no stream is said in one line' "$? $(wc -l <"$tmp/err") $(cat "$tmp/err")" "^1 1 ctp-toclickhouse: $spool: is JSON; pipe it through ctp-fromjsonl\$"
ok 'and copied' cmp "$spool" "$tmp/none"
stream hurt 2000 >"$tmp/hurt.ctp"
{ head -c 20000 "$tmp/hurt.ctp"; head -c 5000 /dev/zero; tail -c +25001 "$tmp/hurt.ctp"; } >"$tmp/broken"
"$to" -q --live 1 -f --spool "$spool" --load "$quick" <"$tmp/broken"
is 'a stream that is damaged is delivered, with status 3' "$? $(ask "SELECT count() > 0 FROM delivered_sections WHERE hostname = 'hurt'")" '3 1'
ok 'and copied with the damage' cmp "$spool" "$tmp/broken"
"$to" --live 1 -f --spool "$spool" --load "$quick" </dev/null 2>"$tmp/err"
is 'an empty stream is said' "$? $(wc -c <"$spool") $(cat "$tmp/err")" "3 0 ctp-toclickhouse: $spool: the input is empty"

# --- the disk is full ------------------------------------------------------------------------------------------------------------------
stream full 20000 >"$tmp/full.ctp"
rm "$spool"
{
	cat "$tmp/full.ctp" 2>/dev/null
	echo $? >"$tmp/status"
} | (ulimit -f 1200 && exec "$to" -q --live 1 --spool "$spool" --load "$quick") 2>"$tmp/err"
like 'a full disk is said in one line, and status 1' "$? $(wc -l <"$tmp/err") $(cat "$tmp/err")" "^1 1 ctp-toclickhouse: $spool: after [0-9]+ bytes: File too large\$"
ok 'the writer does not go on' [ "$(cat "$tmp/status")" != 0 ]
ok 'the copy is the beginning of the stream' sh -c "head -c $(wc -c <"$spool") '$tmp/full.ctp' | cmp - '$spool'"
ok 'which is delivered' [ "$(counts full | cut -d ' ' -f 1)" -gt 1000 ]

# --- usage -----------------------------------------------------------------------------------------------------------------------------
echo kept >"$spool"
"$to" --live 1 --spool "$spool" --load "$quick" <"$tmp/never.ctp" 2>"$tmp/err"
is 'a file that exists is not replaced' "$? $(cat "$spool") $(cat "$tmp/err")" "1 kept ctp-toclickhouse: $spool: exists; remove it, or use -f to replace it"
wrong() { # PATTERN OPTION...
	wrong_pattern=$1
	shift
	"$to" "$@" <"$tmp/never.ctp" 2>"$tmp/err"
	like "it is wrong to say ctp-toclickhouse $(echo "$*" | sed "s|$tmp/||g; s|$quick|COMMAND|")" "$? $(wc -l <"$tmp/err") $(cat "$tmp/err")" "^2 1 ctp-toclickhouse: .*$wrong_pattern"
}
needs='--spool needs --load and --live'
wrong "$needs" --spool "$tmp/new"
wrong "$needs" --spool "$tmp/new" --load "$quick"
wrong "$needs" --spool "$tmp/new" --load "$quick" --live 1 --clean
wrong '--live needs --load' --spool "$tmp/new" --live 1
wrong 'give no other FILE' --spool "$tmp/new" --live 1 --load "$quick" "$tmp/never.ctp"
wrong 'is also the input' --spool "$tmp/never.ctp" -f --live 1 --load "$quick"
ok 'no file is made then' [ ! -e "$tmp/new" ]
"$to" -f --spool /dev/full --live 1 --load "$quick" <"$tmp/never.ctp" 2>"$tmp/err"
is 'a device cannot be delivered' "$? $(cat "$tmp/err")" '1 ctp-toclickhouse: /dev/full: is no plain file'
# shellcheck disable=SC2016 # of the shell that runs the client
"$to" -q -f --spool "$spool" --live 1 --timeout 1 --load 'echo "blocked $(sed -n "s/^SigBlk:.0*//p" /proc/self/status) signals" >&2; exit 7 #' <"$tmp/never.ctp" 2>"$tmp/err"
like 'clients do not inherit what is blocked' "$(cat "$tmp/err")" '^ctp-toclickhouse: .*: blocked  signals'
done_testing
