#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# Whether the units of lib/stream and lib/collect would notice a defect. A mutant is one change in a copy of one file: the unit that
# is named with it must fail, and without the change it must pass.
# Not under sanitizers: it plants bugs and compiles them.
. t/helper/tap.sh
CC=${CC:-cc}
libs=$(tr ' ' '\n' <"$O/.flags" | grep '^-[lL]') # as the units of the build have them
passed=' '
mkdir "$tmp/plant"

# The copy is linked before the archives, so that its functions are taken instead of theirs.
build() { # UNIT
	rm -f "$tmp/unit"
	"$CC" -std=c11 -D_GNU_SOURCE -O0 -w -pthread -I"${file%/*}" -Ilib -Isdk/c -c -o "$tmp/plant.o" "$tmp/plant/${file##*/}" || return
	# shellcheck disable=SC2086
	"$CC" -pthread -o "$tmp/unit" "$O/t/unit/$1.o" "$tmp/plant.o" "$O/libformats.a" "$O/libctp.a" -Wl,--as-needed $libs
}

passes() { # UNIT
	cp "$file" "$tmp/plant" && build "$1" && timeout 120 "$tmp/unit"
}

# The unit is stopped at the first check that fails. If it is not over in a minute, it has noticed nothing.
fails() { # UNIT
	build "$1" || return
	{
		timeout 60 "$tmp/unit" 2>&1
		status=$?
		[ $status = 0 ] || [ $status = 124 ] || echo 'not ok: it was killed'
	} | grep -q '^not ok'
}

hangs() { # UNIT
	build "$1" || return
	timeout 3 "$tmp/unit"
	[ $? = 124 ]
}

# NEW in the place of OLD, which has to be there once.
change() { # OLD NEW
	OLD=$1 NEW=$2 command awk '{
		at = index($0, ENVIRON["OLD"])
		if (at) {
			rest = substr($0, at + length(ENVIRON["OLD"]))
			n += 1 + (index(rest, ENVIRON["OLD"]) > 0)
			$0 = substr($0, 1, at - 1) ENVIRON["NEW"] rest
		}
		print
	}
	END { exit n != 1 }' "$file" >"$tmp/plant/${file##*/}"
}

# Each unit has to pass with a copy that is not changed; make check-all, by EVERY, tries each with every file.
plant() { # HOW UNIT NAME OLD NEW
	if ! in_turn; then
		ok "$3: $file has the text once: $4" change "$4" "$5"
		return
	fi
	tried=$2${EVERY:+:$file}
	case $passed in
	*" $tried "*) ;;
	*)
		ok "$2 passes without a mutant of $file" passes "$2"
		passed="$passed$tried "
		;;
	esac
	if change "$4" "$5"; then
		ok "$2 notices: $3" "$1" "$2"
	else
		ok "planted: $3: $file has the text once: $4" false
	fi
}
mutant() { plant fails "$@"; }
endless() { plant hangs "$@"; } # the change makes a loop endless

file=lib/stream/reader.c
mutant stream "a packet that is due opens a section of its own" 'r->number >= r->next_number' 'r->number > r->next_number'
mutant stream "a single missing packet is not reported" 'if (r->number > r->next_number) {' 'if (r->number > r->next_number + 1) {'
mutant stream "a packet is reported as missing after each packet" 'r->next_number = r->number + 1;' 'r->next_number = r->number;'
mutant stream "the records of a damaged packet are not counted" \
	'r->stats.skipped_records += r->records_left;' 'r->stats.skipped_records += 0;'
mutant stream "only the last bytes that were skipped are counted" \
	'r->stats.skipped_bytes += skipped;' 'r->stats.skipped_bytes = skipped;'
mutant stream "the checksum of a payload is not checked" 'if (have < whole || !payload_ok(r, len)) {' 'if (have < whole) {'
mutant stream-writer "a reader takes one class too many" \
	'if (r->nclasses == CTP_CLASSES_MAX) {' 'if (r->nclasses > CTP_CLASSES_MAX) {'
mutant stream "the newest time before a gap is not known" 'r->times.last > r->newest_ns)' 'r->times.last < r->newest_ns)'
mutant stream "a gap ends before records that were read" \
	'r->times.first > r->newest_ns ? r->times.first : r->newest_ns + 1' 'r->times.first'
mutant order "a record at the watermark is late" 'if (ts >= from_ns) {' 'if (ts > from_ns) {'

file=lib/stream/writer.c
mutant stream-writer "the whole length of a string that was cut counts" 'sum += s->len < most ? s->len : most;' 'sum += s->len;'
endless stream-writer "the classes of earlier packets fill the table of a writer" \
	'while (w->slots[i].packet == w->packets && w->slots[i].cls != cls)' 'while (w->slots[i].cls && w->slots[i].cls != cls)'
mutant stream "a class of an earlier packet is not declared again" \
	'if (slot->packet != w->packets || slot->cls != cls)' 'if (slot->cls != cls)'
mutant stream "a packet promises more records than it has" 'w->records += n;' 'w->records += n + 1;'
mutant stream-writer "a section that is cut short gets an empty packet" 'if (!w->at.heads && complete)' 'if (!w->at.heads)'

file=lib/stream/runs.c
mutant runs "a record that is older than the one before it does not ask for a sort" \
	'if (ts_ns < r->last_ts)' 'if (ts_ns > r->last_ts)'
endless order "records of the same time are never one run" \
	'while (i < n && rec[i - 1].ts_ns <= rec[i].ts_ns)' 'while (i < n && rec[i - 1].ts_ns < rec[i].ts_ns)'
mutant order "a record at the mark is released" \
	'first_above(r->rec + r->ready, r->count - r->ready, ts_ns - 1)' \
	'first_above(r->rec + r->ready, r->count - r->ready, ts_ns)'
mutant stream "the last bytes of a text are overwritten" 'r->used += text_bytes(s);' 'r->used += text_bytes(s) - 8;'
mutant order "the watermark is the time of the first record that is held back" \
	'return r->rec[r->ready - 1].ts_ns;' 'return r->rec[r->ready].ts_ns;'

file=lib/stream/codec-decode.c
mutant runs "a handle beyond the last string is accepted" 'if (*v > c->nstrings)' 'if (*v > c->nstrings + 1)'
mutant said "a packet may name any amount of text" 'if (sum > CTP_PAYLOAD_MAX || sum > c->said_left)' 'if (sum > CTP_PAYLOAD_MAX)'
mutant runs "a class beyond the last one is accepted" 'if (n >= c->nclasses)' 'if (n > c->nclasses)'
mutant runs "a head may name a field that the class does not have" 'if (mask >> plan->nmasked)' 'if (mask >> plan->nmasked >> 1)'

file=lib/stream/codec-encode.c
mutant stream "a string is taken for a longer one that begins with it" \
	'slot->len == s->len && !memcmp(' 'slot->len >= s->len && !memcmp('

file=lib/stream/order.c
mutant order "a mark does not release records" 'if (item->mark_ns > o->watermark)' 'if (item->mark_ns < o->watermark)'

file=lib/stream/sorter.c
mutant sorter "there is no mark after the older half" 'if (newest > sorter->mark_ns)' 'if (newest < sorter->mark_ns)'
mutant sorter "a row at the mark is late" 'some.rec[i].ts_ns < sorter->mark_ns' 'some.rec[i].ts_ns <= sorter->mark_ns'

file=lib/stream/class.c
mutant stream "a second key is accepted after a key in the first field" 'if (cls->key_field >= 0)' 'if (cls->key_field > 0)'
mutant stream "an enum with as many labels as the limit says is refused" \
	'f->nlabels > CTP_LABELS_MAX' 'f->nlabels >= CTP_LABELS_MAX'

file=lib/collect/coros.c
mutant rings-late "the station of an ended coroutine of which nothing is known is never freed" \
	'life->flags & CTP_LIFE_UNKNOWN ? life->events_before : life->generation' 'life->generation'
mutant rings-late "events are not lost if the end of their coroutine is" \
	'head->generation == life->generation + 1 ? head->first : life->next' 'life->next'
mutant rings-late "a forgotten parent that is dead is spawned again" \
	'if (depth < ANCESTORS && adopt_ref' 'if (depth <= ANCESTORS && adopt_ref'
mutant rings "the station of a dead coroutine is never released" \
	'if (life->flags & CTP_LIFE_QUEUED)' 'if (life->flags & CTP_LIFE_DEAD)'
mutant rings-late "the tag of the stack of the free does not change" \
	'((top >> 32) + 1) << 32 | c->first' '((top >> 32)) << 32 | c->first'
mutant rings "missing events have no time between their neighbours" \
	'ctp_not_before(*ts_ns, life->last_ns + 1)' 'ctp_not_before(*ts_ns, life->last_ns)'
mutant rings "an event after a gap is due again" 'life->next = *number + 1;' 'life->next = *number;'
mutant rings "a death comes before the losses of its coroutine" 'if (ctp_ring_gaps_any(&coros->gaps, i, life->hole))' 'if (0)'
mutant rings "the last event of a dead coroutine is not missed" \
	'if (events > life->next && events - life->next < CTP_LIFE_AHEAD_MAX' \
	'if (events > life->next + 1 && events - life->next < CTP_LIFE_AHEAD_MAX'
mutant rings-more "an event of a handle of long ago is a row of the last one that died" \
	'if (ago == 1 && life->back && after >= 0) {' 'if (ago >= 1 && life->back && after >= 0) {'

file=lib/collect/rows.c
mutant rows "a mark promises times that were not looked at yet" \
	'last_ns > rows->promise_ns)' 'last_ns > rows->promise_ns + 1000000000)'
mutant rows "a mark is written although there is nothing new" \
	'if (rows->newest_ns >= rows->marked_ns)' 'if (1)'
mutant rows "a text is overwritten by the next" 'rows->text_bytes += string_bytes(len);' 'rows->text_bytes += len;'
mutant rows "a spoilt row is written" 'if (event == CTP_ROWS_SPOILT)' 'if (0)'

file=lib/collect/row-sort.c
mutant collect-parts "some rows that are out of order are not seen" \
	'if (__builtin_expect(sort->ts_ns[i] >= sort->ts_ns[i - 1], 1))' \
	'if (__builtin_expect(sort->ts_ns[i] >= sort->ts_ns[i - 1] || i % 64 == 63, 1))'
mutant collect-parts "one run more is noted than there is room for" 'if (n == RUNS)' 'if (n > RUNS)'
mutant collect-parts "a merge goes on in the wrong run" 'b += !first;' 'b += first;'

file=lib/collect/coro-gaps.c
mutant rings "an event that the slots have is lost as well" 'from = picks[k].number + 1;' 'from = picks[k].number;'
mutant rings "losses with a place are counted once more at the end" 'coros->accounted += to - from;' 'coros->accounted += 0;'
mutant rings "of a long gap the oldest events are looked for in the slots" \
	'if (next > CTP_SHM_SLOTS && from < next - CTP_SHM_SLOTS)' 'if (0)'
mutant rings "a gap is not settled after two more rounds" \
	'round + ROUNDS <= coros->rings->rounds' 'round + ROUNDS + 1000 <= coros->rings->rounds'

file=lib/collect/ring-gaps.c
mutant rings "the event after a gap is in the gap" \
	'!(number >= hole->from && number < hole->to' '!(number >= hole->from && number <= hole->to'
mutant rings "the event that parts a gap is still missing" 'rest.from = number + 1;' 'rest.from = number;'

file=lib/collect/harvest.c
mutant harvest "the promise never grows" 'h->rows.promise_ns = ctp_most(h->rows.promise_ns, oldest);' 'ctp_most(h->rows.promise_ns, oldest);'

file=lib/collect/coros-due.c
mutant rings "a due event is due again" 'life->next = number + 1;' 'life->next = number;'
mutant rings-more "an event is of whichever coroutine has the station" \
	'if (life->generation != generation || (uint32_t)number' 'if ((uint32_t)number'
mutant rings "wakes are counted as events" 'coros->rows->stats.events += n - wakes;' 'coros->rows->stats.events += n;'

file=lib/collect/coros-snapshot.c
mutant rings-more "the target of an earlier suspension is written" \
	'pick->whole && last && !dead && CTP_ENTRY_KIND' 'pick->whole && !dead && CTP_ENTRY_KIND'
mutant rings-more "the target of a suspension is written although the next event has begun" \
	'if (seq > ctp_slot_seq(next) - 2 ||' 'if ('
mutant rings-late "a coroutine that ended during the snapshot lives for ever" \
	'if (head.newborn || (!dead && head.is_dead == 2))' 'if (head.newborn)'

file=lib/collect/shm-texts.c
mutant rings "a site beyond the last one is read" 'if (!site || site > texts->arena->geo.max_sites)' 'if (!site)'
mutant rings-more "half of a name is written" 'if (!(before & 1) && __atomic' 'if (__atomic'

file=lib/collect/coro-objects.c
mutant objects-late "a coroutine whose station another has is not known to have ended" \
	'return head.generation != generation || head.is_dead;' 'return head.is_dead;'

file=lib/collect/v1-scan.c
mutant harvest "the count of coroutines without a station is not written" \
	'if (untraced == scan->untraced_said)' 'if (untraced != scan->untraced_said)'
mutant harvest "one event too many is counted in each look" 'scan->rows->stats.events += n;' 'scan->rows->stats.events += n + 1;'

file=lib/collect/pace.c
mutant collect-parts "a station more than half full makes naps longer" 'p->nap_ns -= p->nap_ns / 4;' 'p->nap_ns += p->nap_ns / 4;'
mutant collect-parts "a rest is short although the target could wake us" \
	'if (!wakeable && rest.ns > blind_ns)' 'if (rest.ns > blind_ns)'
done_testing
