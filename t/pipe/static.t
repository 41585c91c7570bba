#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# make static: the collector traces a program where there is no other file than these two, as in an empty container. It is built in a
# folder that has a space in its name.
# Not under sanitizers: it builds a part of the tree.
. t/helper/tap.sh

o="$tmp/it's my folder"
is 'make -s static prints nothing' "$(make --no-print-directory -s -j2 O="$o" CFLAGS=-O0 WERROR=1 static 2>&1)" ''
collect=$tmp/ctp-collect
ok 'the program is in the folder' cp "$o/static/bin/ctp-collect" "$collect"
is 'a second make has nothing to do' "$(make --no-print-directory O="$o" CFLAGS=-O0 WERROR=1 static 2>&1 | grep '  [A-Z]')" ''
ok 'an archive without formats is made where there is no folder yet' make --no-print-directory O="$tmp/new" FORMATS= "$tmp/new/libformats.a"
ok 'make clean' make --no-print-directory O="$o" clean
is 'nothing is left of the folder' "$(ls -d "$o" .build-* 2>/dev/null | xargs -r -d '\n' -n 1 readlink -m | grep "$tmp")" ''
is 'the program needs no shared library' "$(ldd "$collect" 2>/dev/null | grep '=>')" ''
like 'it runs' "$("$collect" -V)" '^ctp-collect [0-9]'
ok 'a static program with the probe compiles' "${CC:-cc}" -static -pthread -O1 -D_GNU_SOURCE -Isdk/c -o "$tmp/lostwake" sdk/c/examples/lostwake.c

# Every container has /proc and /dev/shm. This one has nothing else: no /tmp, no /usr.
root=$tmp/root
mkdir -p "$root/proc" "$root/dev/shm"
cp "$collect" "$tmp/lostwake" "$root"
inside() { # COMMAND...: in the container
	# shellcheck disable=SC2016
	unshare $user --mount sh -c 'mount --rbind /proc "$0/proc" && mount -t tmpfs none "$0/dev/shm" && exec chroot "$0" "$@"' "$root" "$@"
}
user=--map-root-user
[ "$(id -u)" != 0 ] || user=
PATH=$PATH:/usr/sbin:/sbin
if ! inside /ctp-collect -V >/dev/null 2>&1; then
	skip 'no mount namespace can be made here'
	done_testing
fi
like 'it traces a program in an empty container' "$(inside /ctp-collect -o /t.ctp /lostwake 2>&1)" \
	'^ctp-collect: [1-9][0-9]* events, 48 coroutines, 0 lost'
like 'the report finds the lost wake' "$("$BIN/ctp-report" "$root/t.ctp")" '^1\. likely: 1 coroutine suspended at .*lostwake\.c:[0-9]+:handler_step '
done_testing
