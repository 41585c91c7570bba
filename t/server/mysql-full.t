#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# A server whose disk is full: the load fails in one line, and with room again the next one is whole.
# Not under sanitizers: it waits for a server most of the time.
# Mostly waits.
. t/helper/tap.sh
. t/helper/mysql.sh
needs_root 'a server with a small file system'
my_need
mkdir "$dir/small"
needs mount -t tmpfs -o size=192m tmpfs "$dir/small"
# shellcheck disable=SC2317 # mysql.sh calls it
my_end() { umount -l "$dir/small"; }
small="--innodb-log-file-size=4M --innodb-autoextend-increment=1"
# shellcheck disable=SC2086 # two options
my_start $small
sql -e SHUTDOWN
wait "$pid"
chown nobody "$dir/small"
cp -a "$dir/data/." "$dir/small" || skip_all 'the data of a new server have no room there'
# shellcheck disable=SC2086
my_start $small --datadir="$dir/small"
for copy in a b; do python3 t/helper/sqlite-views.py make 1 | "$from" -q >"$tmp/$copy.ctp"; done # with other ids
"$BIN/ctp-sqlite" -q -o "$tmp/a.sqlite" "$tmp/a.ctp"
sql -e 'CREATE DATABASE full'
room() { df -k "$dir/small" | awk 'NR == 2 {print $4}'; }
fill() { # KIB: this much stays free
	dd if=/dev/zero of="$dir/small/filler" bs=1024 count=$(($(room) - $1)) 2>/dev/null
}
empty() { # a server that was ended by the full disk is started again
	rm "$dir/small/filler"
	sql -e 'DO 0' 2>/dev/null && return
	wait "$pid"
	# shellcheck disable=SC2086
	my_start $small --datadir="$dir/small"
}

# --- at the first table, and when all of them are there --------------------------------------------------------------------------------
for free in 200 2000; do
	fill "$free"
	load -q -D full "$tmp/a.ctp" 2>"$tmp/err"
	is "$free KiB are not enough: one message" "$? $(wc -l <"$tmp/err")" '1 1'
	like 'the message says why' "$(cat "$tmp/err")" '^ctp-mysql: full: .*(errno: 28|[Ff]ull|No space|server)'
	empty
	is 'no table is created' "$(tables full | tr ' ' '\n' | grep -vc _ctp_load_)" 0
done
load -q -D full "$tmp/a.ctp"
same 'with room again the next load is complete' full "$tmp/a.sqlite"
is 'no temporary table is left' "$(left full)" 0
fill 2000
load -q -D full --append "$tmp/b.ctp" 2>"$tmp/err"
is 'an appending load fails in the same way' "$? $(wc -l <"$tmp/err")" '1 1'
empty
same 'the old rows stay' full "$tmp/a.sqlite"
load -q -D full --append "$tmp/b.ctp"
"$BIN/ctp-sqlite" -q --append -o "$tmp/a.sqlite" "$tmp/b.ctp"
same 'with room again the append is complete' full "$tmp/a.sqlite"
is 'no temporary table of the failed append is left' "$(left full)" 0
done_testing
