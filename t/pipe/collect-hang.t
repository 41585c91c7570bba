#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# A target has mapped a file on a file system that stops answering: the collector does not wait for it.
# Not under sanitizers: it compiles its programs itself.
# Mostly waits.
. t/helper/tap.sh
collect=$BIN/ctp-collect
needs_root 'a file system of its own, by FUSE'
[ -c /dev/fuse ] || skip_all 'there is no /dev/fuse'
needs unshare -m true
command -v python3 >/dev/null || skip_all 'there is no python3'

cat >"$tmp/maps.c" <<'C'
#include <ctp.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#include <stdlib.h>
#include <fcntl.h>
#include <time.h>
int main(int argc, char **argv)
{
	struct ctp_coro c;
	int fd = open(argv[argc - 1], O_RDONLY);
	if (fd < 0 || mmap(NULL, 8192, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		return 1;
	ctp_coro_new(&c, 1);
	puts("ready");
	for (fflush(stdout); getchar() != EOF; fflush(stdout)) {
		for (int k = 0; k < 1000; k++) {
			ctp_coro_resume(&c);
			ctp_coro_suspend(&c, CTP_HERE);
		}
		puts("done");
	}
	return 0;
}
C
cc_traced -Wl,--build-id -o "$tmp/maps" "$tmp/maps.c" 2>"$tmp/err" || skip_all "$(head -1 "$tmp/err")"
mkdir "$tmp/far"
mkfifo "$tmp/in" "$tmp/out" "$tmp/up"
unshare -m sh -c 'exec 3<&0; python3 -B "$0" "$1" "$2" "$3" >"$4" 2>&1 & trap "kill $!" TERM
	read -r up <"$4"; [ "$up" = mounted ] || { echo "$up"; exit 1; }
	CTP_RECORD=1 "$2" "$1/code" <&3 & echo $!; wait $!' \
	t/helper/silent-fs.py "$tmp/far" "$tmp/maps" "$tmp/silent" "$tmp/up" <"$tmp/in" >"$tmp/out" &
outer=$!
exec 8>"$tmp/in" 9<"$tmp/out"
read -r one <&9
read -r two <&9
case "$one $two" in
*ready*) pid=${one#ready} pid=${pid:-$two} ;;
*) kill $outer; skip_all "no FUSE: $one" ;;
esac
far() { "$BIN/ctp-tojsonl" -a "$tmp/a.ctp" 2>/dev/null | grep '"type":"mapping"' | grep '/far/code'; }

timeout 60 "$collect" -q -p "$pid" --once -o "$tmp/a.ctp" 2>"$tmp/err"
is 'with a file system that answers the collector ends' "$? $(cat "$tmp/err")" '0 '
like '  its file has a build-id' "$(far)" '"build_id":"[0-9a-f]{16}'

: >"$tmp/silent"
"$collect" -p "$pid" -o "$tmp/a.ctp" 2>"$tmp/err" &
collector=$!
tries=0
until grep -q 'attached to' "$tmp/err" || [ $((tries += 1)) -gt 2000 ]; do sleep 0.01; done
echo >&8
read -r _ <&9
kill -s TERM $collector
until [ ! -e /proc/$collector/fd/0 ] || [ $((tries += 1)) -gt 4000 ]; do sleep 0.01; done
ok 'with one that does not answer the collector ends' [ ! -e /proc/$collector/fd/0 ]
kill $outer # this ends the file system, and what hangs continues
wait $collector
is '  its status is 0' $? 0
like '  it has all events' "$(tail -1 "$tmp/err")" ': 20[0-9]* events, 1 coroutines, 0 lost'
like '  it says why something is missing' "$(cat "$tmp/err")" '/far/code: its file system does not answer; build-ids there are left out'
like '  it has the mapping' "$(far)" '"build_id":""'
exec 8>&- 9<&-
wait $outer 2>/dev/null
done_testing
