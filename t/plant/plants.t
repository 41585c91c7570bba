#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# Checks that ringrace.c, v1-doubt.c, v1-station.c, remember.c and object-race.c notice bugs: they must pass unchanged, ringrace.c under
# TSan, and must fail with each of these bugs planted in a copy of the probe or of a reader.
# Not under sanitizers: it plants bugs and compiles them.
. t/helper/tap.sh
CC=${CC:-cc}
cat >"$tmp/try.c" <<'END'
int main(void) { return 0; }
END
flags="-std=c11 -D_GNU_SOURCE -O1 -g -w -pthread -fsanitize=thread"
# shellcheck disable=SC2086
"$CC" $flags -o "$tmp/try" "$tmp/try.c" 2>/dev/null && "$tmp/try" 2>/dev/null || skip_all "$CC has no -fsanitize=thread"

# shellcheck disable=SC2086
compile() { "$CC" $flags -I"$tmp/plant" -Isdk/c -Ilib -It/helper "$@"; }

race() { # with the files in $tmp/plant, or else those in the tree
	reader=lib/shm/rings.c
	[ -e "$tmp/plant/rings.c" ] && reader=$tmp/plant/rings.c
	compile -o "$tmp/race" t/unit/ringrace.c "$reader" "$tmp"/*.o && TSAN_OPTIONS=halt_on_error=1 timeout 120 "$tmp/race" 4
}

# The same for the other tests, which need more of the library, and no TSan.
hold() { # TEST...
	for test do
		# shellcheck disable=SC2046,SC2086
		"$CC" ${flags%-fsanitize=thread} -I"$tmp/plant" -Isdk/c -Ilib -It/helper -o "$tmp/race" "t/unit/$test.c" $(ls "$tmp"/plant/*.c 2>/dev/null) "$O/libctp.a" \
			$(${PKG_CONFIG:-pkg-config} --libs libzstd) && timeout 60 "$tmp/race" || return
	done
}
stations() { hold v1-doubt v1-station; }
remembers() { hold remember; }
objects() { hold object-race; }

# A race that passes by chance, as one in thirty does, is run again.
noticed() {
	rm -f "$tmp/race"
	for try in 1 2 3; do
		"$judge" || { [ -e "$tmp/race" ]; return; }
	done
	return 1
}

plant() { # FILE NAME SED...
	file=$1 name=$2
	shift 2
	rm -rf "$tmp/plant" && mkdir "$tmp/plant"
	sed "$@" "$file" >"$tmp/plant/${file##*/}"
	if cmp -s "$file" "$tmp/plant/${file##*/}"; then
		ok "a bug is planted: $name" false
	elif in_turn; then
		ok "the bug is noticed: $name" noticed
	else
		ok "the bug can be planted: $name" true
	fi
}

mkdir "$tmp/plant"
for source in shm/arena shm/rawclock base/err; do
	compile -c -o "$tmp/${source##*/}.o" "lib/$source.c" || exit
done
judge=race
ok "without a bug ringrace.c passes" race
plant sdk/c/ctp.h "head is not released" 's/\(&lane->ring->head, lane->head, __ATOMIC_\)RELEASE/\1RELAXED/'
plant sdk/c/ctp.h "head comes before the entry" \
	's/^	e->ts = ts;/	__atomic_store_n(\&lane->ring->head, lane->head + 1, __ATOMIC_RELEASE);\n&/'
plant sdk/c/ctp.h "tail is not acquired" 's/\(__atomic_load_n(&ring->tail, __ATOMIC_\)ACQUIRE/\1RELAXED/'
plant sdk/c/ctp.h "there is room for one too many" 's/return tail + size;/return tail + size + 1;/'
plant sdk/c/ctp.h "a writer goes back whatever the ring holds" 's/ || lane->head - tail > turn \/ 2)/)/'
plant sdk/c/ctp.h "a writer does not go over what was not taken" 's/^	if (tail >= lane->back_to)$/	if (1)/'
plant sdk/c/ctp.h "a loss is not counted" 's/__atomic_fetch_add(note ? &ring->lost_notes : &ring->lost_events, 1, /(void)(0, /'
plant sdk/c/ctp.h "what was lost is told twice" 's/CTP_PUT_(&ring->said_events, .*/;/'
plant sdk/c/ctp.h "a handler writes to the ring that it interrupts" \
	's/&t->lanes\[depth < CTP_LANES_ ? depth : CTP_LANES_ - 1\]/t->lanes/'
plant lib/shm/rings.c "head is not acquired" 's/\(__atomic_load_n(&shm->head, __ATOMIC_\)ACQUIRE/\1RELAXED/'
plant lib/shm/rings.c "tail is not released" 's/\((\*ring)->tail, __ATOMIC_\)RELEASE/\1RELAXED/'
plant lib/shm/rings.c "tail comes before the copy" \
	's/^	ring->lost_events = .*/	__atomic_store_n(\&shm->tail, ring->head, __ATOMIC_RELEASE);\n&/'
plant lib/shm/rings.c "a skip that is past is believed" 's/see_skip(ring, ring->tail, /see_skip(ring, 0, /'
plant lib/shm/rings.c "a skip is not seen" 's/^	return s.from - first < .*/	return none;/'
rm -rf "$tmp/plant" && mkdir "$tmp/plant"
judge=stations
ok "without a bug the tests of stations pass" stations
case $(uname -m)-$("$O/t/unit/v1-doubt" | grep -c '# skip') in
x86_64-* | i?86-*) note 'this machine keeps stores in order: there is no doubt' ;;
*-0)
	plant lib/collect/v1-station.c "a seqlock of the field is believed as far as eight" 's/(announced || CTP_STORES_IN_ORDER)/true/'
	plant lib/collect/v1-station.c "a plain writer is believed to have a mark" 's/ && proof == CTP_PROOF_LATER && .*SEQLOCK)/ \&\& proof == CTP_PROOF_LATER)/'
	plant lib/collect/v1-doubt.c "there is no barrier" 's/(full->barrier && full->barrier <= passed)/true/'
	plant lib/collect/v1-doubt.c "there is no second look" 's/scan->proof != CTP_PROOF_NOW && ctp_v1_station_quiet(.*));/true);/'
	plant lib/collect/v1-doubt.c "a refusal is not seen" 's/if (!scan->barrier.usable .*/if (0)/'
	plant lib/collect/v1-doubt.c "the mark is not held back" 's/scan->doubt_ns = full->promise_ns.*;/;/'
	plant lib/collect/v1-doubt.c "a death is of the time when it was told" 's/full->lived_ns, full->died_ns);/scan->rows->now_ns, ctp_clock_ns());/'
	;;
*) skip 'there is no barrier here, or no seccomp to refuse it' ;;
esac

# Between two looks the collector may have to wait for a core, and meanwhile the coroutine goes on, or another takes its station.
judge=remembers
waits='s/whole &= shows/whole \&= (k % 200 != 30 || !usleep(2000)) \&\& shows/'
rm -rf "$tmp/plant" && mkdir "$tmp/plant"
sed "$waits" lib/shm/slots.c >"$tmp/plant/slots.c"
ok "remember.c passes with a delayed collector" remembers
plant lib/shm/slots.c "the oldest event is looked at first" -e "$waits" -e 's/unsigned k = n; k-- > 0;/unsigned k = 0; k < n; k++/'

judge=objects
rm -rf "$tmp/plant" && mkdir "$tmp/plant"
ok "without a bug object-race.c passes" objects
plant lib/shm/object-copy.c "a copy is whole whatever was counted" 's/return to->begun == to->done;/return true;/'
plant lib/shm/object-copy.c "begun is loaded before the copy" -e 's/^\tto->begun = .*//' \
	-e 's/^\tto->done = .*/\tto->done = to->begun = READ(from->done);/'
plant sdk/c/ctp.h "a change is counted when it is made, and not before" \
	's/uint32_t number = __atomic_add_fetch(&o->begun, 1, __ATOMIC_RELAXED);/uint32_t number = o->begun += 1; o->done = number - 1; o->begun -= 1;/'
plant sdk/c/ctp.h "two who take at once are one" -e 's/if (__atomic_compare_exchange_n(&o->holders\[at\], &word, next, .*) {/if (o->holders[at] = next, true) {/'
done_testing
