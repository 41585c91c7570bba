#!/bin/sh
# The runtime in sdk/cacheray under a limit of addresses, across forks, switched off and on, up to a limit of its own, and beside the runtime
# of ThreadSanitizer.
. t/tap.sh
from=$BIN/ctp-fromcacheray
sdk=sdk/cacheray
compilers=
for c in gcc clang; do
	if command -v $c >/dev/null; then compilers="$compilers $c"; else note "skipped: there is no $c"; fi
done
[ "$compilers" ] || skip_all 'there is neither gcc nor clang'
# build COMPILER NAME FLAG...: $tmp/NAME of $tmp/NAME.c, with the runtime.
build() {
	b=$1 name=$2
	shift 2
	"$b" -std=gnu11 -O2 -c -o "$tmp/rt-$b.o" $sdk/ctp-cacheray.c &&
		"$b" -O1 -w -I$sdk -fsanitize=thread -c -o "$tmp/$name.o" "$tmp/$name.c" &&
		"$b" -o "$tmp/$name" "$tmp/$name.o" "$tmp/rt-$b.o" -pthread "$@"
}
# writes FILE: how many writes of 8 bytes there are.
writes() { "$from" -q "$1" | "$BIN/ctp-tojsonl" -a -q | grep -c '"size":8,.*"op":"write"'; }

# --- few addresses ------------------------------------------------------------------------------------------------------------------
cat >"$tmp/few.c" <<'C'
#include <stdlib.h>
static volatile long g;
static void *volatile much;
int main(void)
{
	for (int i = 0; i < 100000; i++)
		g = i;
	much = malloc((size_t)1300 << 20); /* of 2000 that there may be */
	return !much;
}
C
for c in $compilers; do
	ok "$c: a program that wants much memory" build "$c" few
	(ulimit -v 2048000 && CACHERAY_OUT=$tmp/t.trace exec "$tmp/few") 2>"$tmp/err"
	is "$c:   gets it under a limit" "$? $(cat "$tmp/err")" '0 '
	is "$c:   and a trace" "$(writes "$tmp/t.trace")" 100001
done
done_testing
