#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# sdk/ppt with ppt's own agent and decoder: t/helper/ppt-original.py follows their rules, which differ from those for a generated client.
# Not under sanitizers: it compiles its programs itself.
. t/helper/tap.sh
command -v python3 >/dev/null || skip_all 'there is no python3'
cat >"$tmp/saves.c" <<'C'
#include "ppt.h"
#include <stdio.h>
#define WIDE(n) (double, n##0), (double, n##1), (double, n##2), (double, n##3), (double, n##4), (double, n##5), (double, n##6), (double, n##7)
PPT_BUFFER(One, 64, monotonic, (y, (int, n)));
PPT_BUFFER(Small, 64, monotonic, (y, (int, n), (double, d)), (z, (byte, b), (int, n)));
PPT_BUFFER(Odd, 64, monotonic, (y, (byte, b), (int, n), (double, d), (byte, e)), (z, (byte, b), (byte, c), (int, n)));
PPT_BUFFER(Middle, 64, monotonic, (y, (byte, b), (int, n), (double, d), (interval_time, t), (interval_counter, c), (counter, e)), (z, (int, n)));
PPT_BUFFER(Large, 64, monotonic, (y, (int, n), (double, d), WIDE(a), WIDE(b), WIDE(c)), (z, (int, n), (float, f)));
PPT_BUFFER(Huge, 64, monotonic, (y, (int, n), (double, d), WIDE(a), WIDE(b), WIDE(c), (interval_time, t), (interval_counter, k), (counter, l),
	(interval_time, u), (interval_counter, m), (counter, o)), (z, (int, n), (float, f)));
#define SAVE_BOTH(buffer) \
	if (i % 2) { struct ppt_##buffer##_y y = {.n = i, .d = i / 2.0}; ppt_##buffer##_y_save(&y); } \
	else { struct ppt_##buffer##_z z = {.n = i}; ppt_##buffer##_z_save(&z); }
static void save(char which, int i)
{
	struct ppt_One_y y = {.n = i};
	switch (which) {
	case 'n': ppt_One_y_save(&y); break;
	case 'm': SAVE_BOTH(Small); break;
	case 'd': SAVE_BOTH(Odd); break;
	case 'i': SAVE_BOTH(Middle); break;
	case 'a': SAVE_BOTH(Large); break;
	case 'u': SAVE_BOTH(Huge); break;
	}
}
int main(int argc, char **argv)
{
	for (int i = 0, n; argc > 1 && scanf("%d", &n) == 1; puts("saved"), fflush(stdout))
		while (n-- > 0)
			save(argv[1][1], ++i);
	return 0;
}
C
compiler=${CC:-cc}
ok 'a program is built' $compiler -std=gnu11 -O1 -Isdk/ppt -pthread -o "$tmp/saves" "$tmp/saves.c"
"$compiler" -std=gnu11 -O1 -no-pie -Isdk/ppt -pthread -o "$tmp/fixed" "$tmp/saves.c" 2>/dev/null || cp "$tmp/saves" "$tmp/fixed"
for buffer in One Small Odd Middle Large Huge; do
	got=$(timeout 60 t/helper/ppt-original.py "$tmp/saves" $buffer "$tmp/$buffer.ppt1" 5 100 2>"$tmp/err")
	if grep -q PermissionError "$tmp/err"; then skip_all 'the memory of a child cannot be read here'; fi
	is "$buffer: ppt's agent has each frame, and its decoder reads it" "$(echo "$got" | awk '{ print $1, $3, $4 }') $(tail -n 1 "$tmp/err")" "$buffer 500 0 "
	note "$got"
	is '  ctp-ppt reads what they wrote' "$("$BIN/ctp-ppt" decode "$tmp/$buffer.ppt1" 2>&1 | "$BIN/ctp-tojsonl" -a -q 2>&1 | grep -c '"type":"ppt_[A-Z][a-z]*_[yz]"')" 500
done
is 'a program at a fixed address is read' \
	"$(timeout 60 t/helper/ppt-original.py "$tmp/fixed" Middle "$tmp/m" 3 100 | awk '{ print $3, $4 }')" '300 0'
for counters in 1 2; do
	is "with room for $counters counters" "$(timeout 60 t/helper/ppt-original.py "$tmp/saves" Middle "$tmp/m" 3 100 $counters | awk '{ print $3, $4 }')" '300 0'
done
done_testing
