#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# Skipped tests are listed at the end of make check, for shell and C; tests that need root say so, and with AS_ROOT they run.
# Not under sanitizers: it runs no tool.
. t/helper/tap.sh

try() { # UID SCRIPT: its output, and its note
	: >"$tmp/skipped"
	printf '. t/helper/tap.sh\ntap_root=%s\n%s\n' "$1" "$2" >"$tmp/x.t"
	SKIPPED="$tmp/skipped" AS_ROOT="$as_root" sh "$tmp/x.t" | tr '\n' ' '
	sed "s,$tmp/,," "$tmp/skipped"
}
part='root_part "a disk" && ok one true; ok two true; done_testing'
as_root=''
is 'a skipped part is noted' "$(try 1000 'skip why; ok one true; done_testing')" '# skipped: why ok 1 - one 1..1 x.t: why'
is 'a skipped script is noted' "$(try 1000 'skip_all why')" '1..0 # SKIP why x.t: why'
is 'a script for root is noted as such' "$(try 1000 'needs_root "a disk"; ok one true; done_testing')" '1..0 # SKIP a disk (for root) x.t: a disk (for root)'
is 'root runs a script for root' "$(try 0 'needs_root "a disk"; ok one true; done_testing')" 'ok 1 - one 1..1 '
is 'a part for root is noted as such' "$(try 1000 "$part")" '# skipped: a disk (for root) ok 1 - two 1..1 x.t: a disk (for root)'
is 'root runs a part for root' "$(try 0 "$part")" 'ok 1 - one ok 2 - two 1..2 '
like 'a part asks for what it uses, and its message is noted' "$(try 0 'can sh -c "echo not in a chroot >&2; exit 1" && ok one true; ok two true; done_testing' | head -n 1)" \
	'^# skipped: sh -c .*: not in a chroot ok 1 - two 1..1 x.t: sh -c .*: not in a chroot'
like 'a script asks for what it uses, and its message is noted' "$(try 0 'needs no-such-tool; ok one true; done_testing')" \
	'^1[.][.]0 # SKIP no-such-tool: .*not found x.t: no-such-tool: '
is 'what is possible runs' "$(try 0 'needs true; can true && ok one true; done_testing')" 'ok 1 - one 1..1 '
as_root='sudo -n'
is 'with AS_ROOT a part for root is not noted as skipped' "$(try 1000 "$part")" 'ok 1 - two 1..1 '

echo 'int main(void) { skip("part"); skip_all("all"); }' >"$tmp/x.c"
if ok 'a test in C' "${CC:-cc}" -D_GNU_SOURCE -include t/helper/tap.h -o "$tmp/x" "$tmp/x.c"; then
	: >"$tmp/skipped"
	SKIPPED="$tmp/skipped" "$tmp/x" >"$tmp/out"
	is 'a test in C notes the same' "$(cat "$tmp/skipped")" 't/x: part
t/x: all'
fi

# make check, with a script of each kind.
# shellcheck disable=SC2016
mkdir -p "$tmp/tree/t/helper" "$tmp/tree/t/pipe" "$tmp/tree/build"
cp GNUmakefile "$tmp/tree"
cp t/helper/tap.sh t/helper/run-test t/helper/slowest "$tmp/tree/t/helper"
printf '#!/bin/sh\n. t/helper/tap.sh\ntap_root=${PRETEND:-1000}\nneeds_root "a disk"\nok one true\ndone_testing\n' >"$tmp/tree/t/pipe/whole.t"
printf '#!/bin/sh\n. t/helper/tap.sh\ntap_root=${PRETEND:-1000}\nroot_part "a mount" && ok one true\nok two true\ndone_testing\n' >"$tmp/tree/t/pipe/some.t"
chmod +x "$tmp"/tree/t/pipe/*.t
check() { (cd "$tmp/tree" && make --no-print-directory -s -o tests check-now O=build T='whole.t some.t' "$@" 2>&1); }
is 'skipped tests are listed at the end' "$(check AS_ROOT= | sed '1,/^Result/d')" 'skipped: t/pipe/some.t: a mount (for root)
skipped: t/pipe/whole.t: a disk (for root)'
check AS_ROOT='env PRETEND=0' >"$tmp/out"
is 'with AS_ROOT nothing is listed' "$(sed '1,/^Result/d' "$tmp/out")" ''
is 'with AS_ROOT all of them run' "$(sed -n 's/^Files=\([0-9]*\), Tests=\([0-9]*\),.*/\1 \2/p' "$tmp/out")" '3 4'

# The table of the slowest tests.
for i in 1 2 3 4 5 6 7 8 9 10 11; do echo "$i.5 1.25 0.5 t/$i"; done >"$tmp/times"
is 'ten tests are listed, the slowest first, and all are added up' "$(t/helper/slowest "$tmp/times" | sed 's/  */ /g; 1d; 3,10d')" ' 11.5 1.8 t/11
 2.5 1.8 t/2
 19.2 all 11 tests'
: >"$tmp/times"
like 'without time(1) the table says what it needs' "$(t/helper/slowest "$tmp/times")" 'package time'
TIMES=$tmp/times t/helper/run-test sh -c 'exit 3'
is 'run-test keeps the status' $? 3
mkdir "$tmp/bin"
printf '#!/bin/sh\necho "$3"\n' >"$tmp/bin/timeout"
chmod +x "$tmp/bin/timeout"
is 'a test has half an hour, and six hours in make check-all' \
	"$(for every in '' 1; do EVERY=$every TIMES='' PATH="$tmp/bin:$PATH" t/helper/run-test true; done | tr '\n' ' ')" '1800 21600 '
done_testing
