#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# Records of descriptors that coroutines wait for, compared with what the program itself knows; the collector records
# nothing of those that it may not read; and the findings of the report.
# Mostly waits.
. t/helper/tap.sh
collect=$BIN/ctp-collect tojson=$BIN/ctp-tojsonl report=$BIN/ctp-report CC=${CC:-cc}
case $BIN in /*) ;; *) collect=$PWD/$collect ;; esac
command -v "$CC" >/dev/null || skip_all "there is no $CC"
cc_traced -o "$tmp/waiter" t/helper/collect/waiter.c 2>"$tmp/err" ||
	skip_all "$CC: $(head -n 1 "$tmp/err")"
mkfifo "$tmp/in" "$tmp/out"
chmod 755 "$tmp"

opened() { # waits until it is ready
	exec 5>"$tmp/in" 6<"$tmp/out"
	read -r said <&6
}
tell() {
	echo "$1" >&5
	read -r said <&6
}
run() { # [COMMAND...] -- KIND...: under a collector
	: >"$tmp/a.ctp"
	: >"$tmp/err"
	as=
	while [ "$1" != -- ]; do
		as="$as $1"
		shift
	done
	shift
	# shellcheck disable=SC2086
	(cd "$tmp" && exec "$collect" -q $options -o a.ctp $as "$tmp/waiter" "$tmp/known" "$@" <in >out 2>err) &
	collector=$!
	opened
}
options= # options of the collector
ended() {
	echo exit >&5
	exec 5>&- 6<&-
	wait $collector
	"$tojson" -q -a "$tmp/a.ctp" >"$tmp/json" 2>/dev/null
}
records() { # records of descriptors: fd, unread, unsent, type
	sed -n '/"type":"descriptor"/s/.*"fd":\([-0-9]*\),"@type":"\([a-z ]*\)","unread":\([0-9]*\),"unsent":\([0-9]*\).*/\1 \3 \4 \2/p' "$tmp/json"
}
ended_ones() { sed -n '/"type":"descriptor".*"ended":true/s/.*"fd":\([-0-9]*\),.*/\1/p' "$tmp/json" | sort -n; }
known() { awk '$5 != "-" { print $2, $3, $4, $5 ($6 == "" ? "" : " " $6) }' "$tmp/known"; }
until_records() { # N PATTERN
	left=600
	while [ "$("$tojson" -q -a "$tmp/a.ctp" 2>/dev/null | grep '"type":"[a-z]*","ts":[0-9]*,' | grep -c -- "$2")" -lt "$1" ] &&
		[ $left -gt 0 ]; do
		left=$((left - 1))
		sleep 0.05
	done
}
exact() { grep -v ' udp$' | sort -n; } # of UDP the kernel counts memory

# --- all sorts ---------------------------------------------------------------------------------------------------------------------
has_ipv6=$(grep -c . /proc/net/if_inet6 2>/dev/null)
run -- tcp tcp-none tcp-end tcp-end-bytes tcp-full listener listener-empty udp udp-empty unix again unix-empty unix-listener \
	pipe pipe-empty unix-end pipe-end timer timer-later eventfd file closed signal
[ "$said" = ready ] || skip_all 'the program cannot make what it waits for'
until_records 20 '"type":"descriptor"'
ended
is 'each descriptor has a record of its type, with the numbers of the program itself' "$(records | exact)" "$(known | exact)"
is 'ten descriptors have unread data' "$(records | awk '$2' | wc -l | tr -d ' ')" 10
is 'the right descriptors have a peer that hung up' "$(ended_ones)" "$(awk '$1 ~ /-end/ { print $2 }' "$tmp/known" | sort -n)"
is 'the right descriptor has unsent data' "$(records | awk '$3 { print $4 }')" tcp
udp=$(awk '$1 == "udp" { print $2 }' "$tmp/known")
ok 'UDP: the memory of a datagram is more than its bytes' test "$(records | awk -v fd="$udp" '$1 == fd { print $2 }')" -ge 100
is 'UDP: without a datagram there are 0 bytes' "$(records | awk -v fd="$udp" '$4 == "udp" && $1 != fd { print $2 }')" 0
is 'each descriptor has one record' "$(records | awk '{ print $1 }' | sort | uniq -d)" ''
is 'records have the process that named the descriptor' "$(sed -n '/"type":"\(descriptor\|reason\)"/s/.*"pid":\([0-9]*\),.*/\1/p' "$tmp/json" | sort -u | wc -l | tr -d ' ')" 1
is 'records come after a second without events' "$(sed -n '/"type":"\(transition\|descriptor\)"/s/.*"type":"\([a-z]*\)".*"ts":\([0-9]*\),.*/\2 \1/p' "$tmp/json" | sort -n |
	awk '$2 == "descriptor" && $1 - last < 1e9 { bad++ } $2 == "transition" { last = $1 } END { print bad + 0 }')" 0
sides() { sed -n '/"type":"descriptor"/s/.*"fd":\([-0-9]*\),.*"side":"\([a-z]*\)","last":"\([a-z]*\)".*/\1 \2 \3/p' "$tmp/json" | sort -n | cut -d' ' -f2-; }
run -- tcp-accepted tcp-asked tcp-answered tcp-none unix-empty
until_records 5 '"type":"descriptor"'
ended
is 'records say which side began a connection, and what came last on it' "$(sides)" 'accepted unknown
connected sent
connected received
unknown unknown
unknown unknown'
if [ "$has_ipv6" -gt 0 ]; then
	run -- tcp6
	until_records 1 '"type":"descriptor"'
	ended
	is 'TCP over IPv6 has its record' "$(records)" "$(known)"
fi

# --- repeated looks ---------------------------------------------------------------------------------------------------------------
# After a look that takes long, as on a busy machine, the next is later: then once more.
for _ in 1 2 3 4 5; do
	run -- unix pipe
	until_records 2 '"type":"descriptor"'
	tell more
	until_records 3 '"type":"descriptor"'
	ended
	apart=$(sed -n '/"type":"descriptor"/s/.*"ts":\([0-9]*\),.*/\1/p' "$tmp/json" | sort -n | uniq |
		awk 'NR > 1 && $1 - last < 1e9 { soon++ } NR > 1 && $1 - last > 5e9 { late++ } { last = $1 } END { print NR, soon + 0, late + 0 }')
	case $apart in *' 0') break ;; esac
done
is 'a later look records only what has changed' "$(records | awk '{ print $4, $2 }')" "$(printf 'unix 7\npipe 11\nunix 11\n')"
is 'it comes a second later if there was data' "$apart" '2 0 0'

run -- unix-empty
until_records 1 '"type":"descriptor"'
tell more
until_records 2 '"type":"descriptor"'
ended
is 'it comes ten seconds later if there was none' "$(sed -n '/"type":"descriptor"/s/.*"ts":\([0-9]*\),.*/\1/p' "$tmp/json" | sort -n | uniq |
	awk 'NR > 1 && $1 - last < 1e10 { bad++ } { last = $1 } END { print NR, bad + 0 }')" '2 0'

# A program that is never silent: its descriptor is read all the same.
run -- tcp
tell run
until_records 1 '"type":"descriptor"'
ended
is 'a descriptor is read although other coroutines are busy' "$(records)" "$(known)"
options='-t 2'
run -- tcp
tell run
until_records 1 '"type":"end"'
ended
options=
is 'a program that is never silent is read when the trace ends first' "$(records)" "$(known)"
run -- tcp
tell run
ended
is 'a program that ends first is not read' "$(records)" ''

run -- 'unix*300'
until_records 300 '"type":"descriptor"'
ended
is 'all of 300 descriptors have a record' "$(records | sort -n)" "$(known | sort -n)"
# On a busy machine the first look may come before all of them wait.
is '256 are read at once, and others a second later' "$(sed -n '/"type":"descriptor"/s/.*"ts":\([0-9]*\),.*/\1/p' "$tmp/json" | sort -n | uniq -c |
	awk '(NR > 1 && $2 - last < 1e9) || $1 > 256 { bad++ } { last = $2; sum += $1 } END { print sum, (NR > 1), bad + 0 }')" '300 1 0'

# --- the report --------------------------------------------------------------------------------------------------------------------
for kind in tcp listener pipe tcp-end pipe-end; do
	run -- $kind
	until_records 1 '"type":"descriptor"'
	until_records 2 '"threads":1,' # a second later
	ended
	like "$kind with something to read is a finding" \
		"$("$report" "$tmp/a.ctp")" 'wait.* for a descriptor that has something to read +\[unread-data\]'
done
run -- tcp-none listener-empty pipe-empty timer-later
until_records 4 '"type":"descriptor"'
until_records 2 '"threads":1,'
ended
is 'with nothing to read there is no such finding' "$("$report" "$tmp/a.ctp" | grep -c unread-data)" 0

# --- descriptors that may not be read -----------------------------------------------------------------------------------------------------
nobody=
if [ "$(id -u)" = 0 ]; then
	nobody='setpriv --reuid=65534 --regid=65534 --clear-groups'
	# shellcheck disable=SC2086
	can $nobody true || nobody=no
	cp "$collect" "$tmp/ctp-collect" # they may not read our home
	collect=$tmp/ctp-collect
fi
if [ "$nobody" != no ]; then
	mkdir "$tmp/theirs"
	chmod 777 "$tmp/theirs" "$tmp/in" "$tmp/out"
	for mode in '' undumpable; do
		# shellcheck disable=SC2086
		$nobody "$collect" -t 3 -o "$tmp/theirs/a.ctp$mode" "$tmp/waiter" "$tmp/theirs/known" $mode tcp unix pipe eventfd <"$tmp/in" >"$tmp/out" 2>"$tmp/err$mode" &
		collector=$!
		opened
		left=600
		until grep -q 'trace ended' "$tmp/err$mode" || [ $left = 0 ]; do
			left=$((left - 1))
			sleep 0.05
		done
		echo exit >&5
		exec 5>&- 6<&-
		wait $collector
		"$tojson" -q -a "$tmp/theirs/a.ctp$mode" >"$tmp/json"
		if [ "$mode" ]; then
			is 'without permission there is no record' "$(records)" ''
			is 'without permission the reasons are there' "$(grep -c '"type":"reason".*"descriptor"' "$tmp/json")" 4
			is 'without permission there is no message' "$(sed 's/(pid [0-9]*)//; s/[0-9.]* s$//' "$tmp/err$mode")" "$(sed 's/(pid [0-9]*)//; s/[0-9.]* s$//' "$tmp/err")"
		else
			is 'the same user gets all records' "$(records | sort -n)" "$(awk '{ print $2, $3, $4, $5 }' "$tmp/theirs/known" | sort -n)"
		fi
	done
fi

if root_part 'other network namespaces' && can unshare -n true; then
	run unshare -n -- unix pipe unix-listener
	until_records 1 '"type":"descriptor"'
	ended
	is 'in another network namespace there are pipes, and no sockets' "$(records)" "$(known | grep pipe)"
fi
if root_part 'other PID namespaces' && can unshare --pid --fork --mount-proc true; then
	options="--shm $tmp/shm --sock $tmp/sock"
	run unshare --pid --fork --mount-proc -- unix pipe eventfd
	until_records 3 '"type":"descriptor"'
	ended
	options=
	is 'in another PID namespace there are all records' "$(records | sort -n)" "$(known | sort -n)"
	is 'they have the pid of that namespace' "$(sed -n '/"type":"\(descriptor\|reason\)"/s/.*"pid":\([0-9]*\),.*/\1/p' "$tmp/json" | sort -u)" 1
fi

if root_part 'a file that is taken for a pipe, and does not answer' && can test -c /dev/fuse && [ -x "$O/t/unit/descriptors" ] && command -v python3 >/dev/null; then
	mkdir "$tmp/far"
	trap 'umount -l "$tmp/far" 2>/dev/null; rm -rf "$tmp"' EXIT
	echo content >"$tmp/content"
	python3 -B t/helper/silent-fs.py "$tmp/far" "$tmp/content" "$tmp/silent" >"$tmp/mounted" 2>&1 &
	server=$!
	left=600
	until [ -s "$tmp/mounted" ] || [ $left = 0 ]; do
		left=$((left - 1))
		sleep 0.05
	done
	if [ "$(cat "$tmp/mounted")" = mounted ]; then
		"$O/t/unit/descriptors" "$tmp/far/code" <"$tmp/in" >"$tmp/out" &
		pid=$!
		opened
		: >"$tmp/silent"
		tell go
		exec 5>&- 6<&-
		kill $server
		wait $server $pid 2>/dev/null
		umount "$tmp/far"
		is 'a descriptor that is no longer a pipe, and whose close hangs, is given up' "$said" 'given up, not found, in time'
	else
		skip "a file that does not answer: $(cat "$tmp/mounted")"
		kill $server 2>/dev/null
	fi
fi

# --- a process that was there before -----------------------------------------------------------------------------------------------
if grep -q __tsan_init "$collect"; then # TSan leaves too little address space for a recorder
	note 'left out: attaching, with a collector that TSan watches'
	done_testing
fi
CTP_RECORD=1 "$tmp/waiter" "$tmp/known" tcp unix pipe eventfd pipe-empty <"$tmp/in" >"$tmp/out" &
pid=$!
opened
: >"$tmp/a.ctp"
"$collect" -q -p $pid -o "$tmp/a.ctp" &
collector=$!
until_records 5 '"type":"descriptor"'
kill -INT $collector
wait $collector
"$tojson" -q -a "$tmp/a.ctp" >"$tmp/json"
is 'attached: the reasons of the last suspensions are there' "$(sed -n '/"type":"reason"/s/.*"fd":\([0-9]*\),.*/\1/p' "$tmp/json" | sort -n)" "$(known | sed 's/ .*//' | sort -n)"
is 'attached: each descriptor has the same record' "$(records | sort -n)" "$(known | sort -n)"
"$collect" -q -p $pid --once -o "$tmp/a.ctp"
"$tojson" -q -a "$tmp/a.ctp" >"$tmp/json"
is '--once: each descriptor has the same record' "$(records | sort -n)" "$(known | sort -n)"
like '--once: the report has the finding' "$("$report" "$tmp/a.ctp")" '4 coroutines wait.* for a descriptor that has something to read +\[unread-data\]'
tell wait
tell run
"$collect" -q -p $pid --once -o "$tmp/a.ctp"
"$tojson" -q -a "$tmp/a.ctp" >"$tmp/json"
is '--once of a busy program has the same records' "$(records | sort -n)" "$(known | sort -n)"
sleep 1.2
"$collect" -q -p $pid --once -o "$tmp/a.ctp"
like '--once of a busy program finds data that stays unread for a second' "$("$report" "$tmp/a.ctp")" \
	'coroutines wait.* for a descriptor that has something to read +\[unread-data\]'
exec 5>&- 6<&-
wait $pid
done_testing
