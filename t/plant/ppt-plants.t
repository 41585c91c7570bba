#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# Checks that ppt-ring.c notices bugs: it must pass unchanged, and must fail with each of these bugs planted in a copy of the
# reader.
# Not under sanitizers: it plants bugs and compiles them.
. t/helper/tap.sh
CC=${CC:-cc}

race() { # READER
	"$CC" -std=c11 -D_GNU_SOURCE -O1 -g -w -pthread -Iformats -Ilib -It/helper -o "$tmp/race" t/unit/ppt-ring.c "$1" lib/base/crc32c.c && timeout 120 "$tmp/race"
}
noticed() {
	rm -f "$tmp/race"
	race "$tmp/planted.c" && return 1
	[ -e "$tmp/race" ]
}
plant() { # NAME SED...
	name=$1
	shift
	sed "$@" formats/ppt/ppt-ring.c >"$tmp/planted.c"
	if cmp -s formats/ppt/ppt-ring.c "$tmp/planted.c"; then
		ok "a bug is planted: $name" false
	elif in_turn; then
		ok "the bug is noticed: $name" noticed
	else
		ok "the bug can be planted: $name" true
	fi
}

ok 'without a bug ppt-ring.c passes' race formats/ppt/ppt-ring.c
plant 'the front is not looked at after the copy' 's/return front_of(r, index) == number;/return true;/'
plant 'the back is not looked at before it' 's/if (back_of(r, index) != number)/if (0)/'
plant 'an overrun is not seen' 's/uint64_t gone = overrun_all(r);/uint64_t gone = 0;/'
plant 'one frame more is lost' 's/(uint64_t)by - r->slots + 1 +/(uint64_t)by - r->slots + 2 +/'
plant 'a frame in flight is not waited for' 's/now_ns - r->stuck_ns < PATIENCE_NS/0/'
plant 'one that never becomes whole is' 's/^	return is_passed(r);/	return false;/'
plant 'a number beyond 2^31 is old' 's/return (int32_t)(number - of);/return (int32_t)number > (int32_t)of ? 1 : -1;/'
plant 'a ring that was full already is taken for a new one' 's/r->late |= .*/;/'
plant 'what is older than slot 0 is not read' 's/^	r->first = older ? .*/	r->first = number; older = false;/'
plant 'a number that cannot be there is waited for' 's/if (!is_wrong(/if (1 || !is_wrong(/'
plant 'and one that is too far ahead is believed' 's/<= r->slots + r->most/>= 0/'
plant '0 is a number' 's/if (!ctp_ppt_ring_number(r) || /if (/'
done_testing
