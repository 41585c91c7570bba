#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# Checks that ppt-sdk.c and ppt-sdk-race.c notice bugs: they must pass unchanged, and must fail with each of these bugs planted in a copy
# of sdk/ppt/ppt.h.
# Not under sanitizers: it plants bugs and compiles them.
. t/helper/tap.sh
CC=${CC:-cc}
flags='-std=c11 -D_GNU_SOURCE -O1 -g -w -pthread'
san=-fsanitize=thread
echo 'int main(void) { return 0; }' >"$tmp/try.c"
"$CC" $san -o "$tmp/try" "$tmp/try.c" 2>/dev/null && "$tmp/try" 2>/dev/null || { note "$CC has no $san"; san=; }
mkdir "$tmp/plant"
cp sdk/ppt/ppt.h "$tmp/plant"

holds() { # TEST FLAGS...
	test=$1
	shift
	rm -f "$tmp/planted"
	# shellcheck disable=SC2086
	"$CC" $flags "$@" -I"$tmp/plant" -It/helper -o "$tmp/planted" "t/unit/$test.c" || return
	TSAN_OPTIONS=halt_on_error=1 timeout 120 "$tmp/planted" >"$tmp/out" 2>&1
}
# A race that passes by chance is run again.
noticed() { # TEST FLAGS...
	for try in 1 2 3; do
		holds "$@" || { [ -e "$tmp/planted" ]; return; }
	done
	return 1
}
plant() { # NAME TEST SED...
	name=$1 test=$2
	shift 2
	sed "$@" sdk/ppt/ppt.h >"$tmp/plant/ppt.h"
	if cmp -s sdk/ppt/ppt.h "$tmp/plant/ppt.h"; then
		ok "a bug is planted: $name" false
	elif ! in_turn; then
		ok "the bug can be planted: $name" true
	else
		ok "the bug is noticed: $name" noticed "$test" $(case $test in *race) echo "$san" ;; esac)
	fi
}

ok 'without a bug ppt-sdk.c passes' holds ppt-sdk
ok 'without a bug ppt-sdk-race.c passes' holds ppt-sdk-race $san
plant 'a slot that has a writer is written' ppt-sdk 's/^	if (then != __atomic_load_n(back, __ATOMIC_ACQUIRE) || /	if (/'
plant 'and so is one with a newer frame' ppt-sdk 's/ || (then && PPT_TO_(int32_t, number - then) <= 0)//'
plant 'frames have the number 0' ppt-sdk 's/ || !number ||$/ ||/'
plant 'indexes come back with numbers' ppt-sdk 's/ index = last + .*/ index = (uint32_t)(number - page->first);/'
plant 'the page is not wiped' ppt-sdk 's/, MADV_WIPEONFORK)/, MADV_NORMAL)/'
plant 'children inherit the segment' ppt-sdk 's/, MADV_DONTFORK)/, MADV_NORMAL)/'
plant 'children inherit a request' ppt-sdk 's/pthread_atfork(NULL, NULL, [^)]*)/(void)ppt_forked_##b##_/'
plant 'a descriptor is closed whatever it is' ppt-sdk 's/^		if (ppt_is_ours_(c->fd\[i\], c->id\[i\]))/		if (c->fd[i])/'
plant 'a descriptor is read whatever it is' ppt-sdk 's/!ppt_is_ours_(c->fd\[0\], c->id\[0\])/!c->fd[0]/'
plant 'counters keep the numbers that they got' ppt-sdk 's/^	int fd = PPT_TO_(int, syscall(SYS_fcntl, low, .*/	int fd = low;\n	return fd;/'
plant 'counters are read one by one' ppt-sdk 's/attr.read_format = PERF_FORMAT_GROUP;/;/'
plant 'counters of a thread that has ended are not reused' ppt-sdk 's/ && errno == ESRCH && / \&\& errno == EINVAL \&\& /'
plant 'threads without counters set no flag' ppt-sdk 's/^	ppt_tell_(page, PPT_CROWDED_);//'
plant 'an entry always has 136 bytes' ppt-sdk 's/ % 136 ? 120 : 136;/ ? 136 : 136;/'
plant 'an interval may begin before the attachment' ppt-sdk 's/ || (mark && mark != PPT_MARK_(gate))//'
plant 'a change of the segment is not noticed' ppt-sdk \
	-e 's/w.is.hmem == w.is.attached && PPT_GET_(&page->gate)/w.is.hmem \&\& w.is.attached \&\& PPT_GET_(\&page->gate)/'
plant 'any segment is written to' ppt-sdk 's/if (control_bytes >= sizeof \*page->control && control_bytes <= PPT_CONTROL_MAX_ && /if (/'
plant 'errno is changed' ppt-sdk '/^PPT_FN_ __attribute__((noinline, cold)) void ppt_turn_/,/^}/s/^	errno = err;/	errno = 1;/'
plant 'the gate is busy while threads are inside' ppt-sdk-race 's/gate & PPT_INSIDE_MASK_ ? PPT_CLOSING_ : PPT_BUSY_/PPT_BUSY_/'
plant 'an attach is made twice' ppt-sdk 's/ || (gate & PPT_OPEN_ && w.is.hmem == w.is.attached))/)/'
# One writer sleeps between reading the numbers and writing its own, the next writer of the same slot after writing its own.
plant 'the numbers of a slot are not swapped' ppt-sdk-race 's/ ||$/ || 0)/; s/^	    !PPT_SWAP_(front, &then, number, __ATOMIC_RELAXED))/		return;\n	extern int usleep(unsigned);\n	index % page->count == 5 \&\& number % 3 == 0 \&\& usleep(100);\n	PPT_PUT_(front, number);\n	index % page->count == 5 \&\& number % 3 == 1 \&\& usleep(100);\n	if (0)/'
[ -z "$san" ] || {
	plant 'an open gate is not released' ppt-sdk-race 's/__atomic_store_n(&page->gate, gate, __ATOMIC_RELEASE)/PPT_PUT_(\&page->gate, gate)/'
	plant 'bytes are not atomic' ppt-sdk-race 's/^	PPT_PUT_(PPT_TO_(uint64_t \*, PPT_TO_(void \*, slot)), word);/	*(uint64_t *)(void *)slot = word;/'
}
done_testing
