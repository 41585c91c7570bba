#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# A short soak (make soak is a long one): every event is accounted for, whatever goes wrong, and nothing is left behind.
# Not under sanitizers: it kills at random moments.
# Mostly waits.
. t/helper/tap.sh
command -v python3 >/dev/null || skip_all 'there is no python3'
[ -e "/proc/$$/task/$$/children" ] || skip_all 'the kernel does not list the children of a process'
root_part 'the rounds with a full disk' || :
mkdir "$tmp/t"
TMPDIR=$tmp/t t/helper/soak.py -s 155 -n 20 >"$tmp/out" 2>"$tmp/err"
is 'twenty rounds of a soak succeed' "$? $(cat "$tmp/err")" '0 '
note "$(cat "$tmp/out")"
is 'every event is accounted for' "$(awk '$1 == "unaccounted" { print $2 }' "$tmp/out")" 0
ok 'there are events to account for' test "$(awk '$4 == "in" && $5 == "all;" { print $2 }' "$tmp/out")" -gt 100000
is 'no file is left' "$(ls "$tmp/t")" ''
done_testing
