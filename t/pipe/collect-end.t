#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# Targets that would occupy the collector for ever: -t and signals end it all the same, and what it did not read is counted.
# Not under sanitizers: it compiles its programs itself.
# Mostly waits.
. t/helper/tap.sh
collect=$BIN/ctp-collect

# A memory of a few MiB whose rings are full again whenever they are read.
cat >"$tmp/endless.c" <<'C'
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#define CTP_LAYOUT_ONLY
#include "ctp.h"
#define PUT(at, value) __atomic_store_n(&(at), (value), __ATOMIC_RELAXED)
#define GET(at) __atomic_load_n(&(at), __ATOMIC_RELAXED)
enum { STATIONS = 1024, RINGS = 20, BITS = 13, ENTRIES = 1 << BITS, GAPS = 65536 };
static const uint64_t sites_at = 1024ull * STATIONS + 65536, rings_at = sites_at + 65536, entries_at = rings_at + 65536,
                      bytes = entries_at + (32ull * RINGS << BITS);
static struct ctp_shm_header *make(void)
{
	int fd = memfd_create("ctp", MFD_ALLOW_SEALING);
	if (fd < 0 || ftruncate(fd, (off_t)bytes) || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW))
		_exit(1);
	struct ctp_shm_header *h = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	h->version = 1;
	h->max_stations = STATIONS;
	h->annex = CTP_ANNEX_MAGIC;
	h->bytes = bytes;
	h->sites_at = sites_at;
	h->rings_at = rings_at;
	h->entries_at = entries_at;
	h->max_sites = 64;
	h->max_rings = RINGS;
	h->ring_bits = BITS;
	h->owner = (uint64_t)getpid();
	h->rings_used = RINGS;
	h->allocated_count = STATIONS;
	__atomic_store_n(&h->magic, CTP_SHM_MAGIC, __ATOMIC_RELEASE);
	return h;
}
/* One coroutine: first as many gaps as are waited for, then events that are in none of them, so that all are looked through. */
static void fill(struct ctp_shm_entry *entries, uint64_t lap, uint32_t generation)
{
	for (uint64_t n = 0; n < RINGS * ENTRIES; n++) {
		uint64_t number = lap * 4 * GAPS + 2 * (n < GAPS ? n + 1 : 1);
		PUT(entries[n].ts, lap * RINGS * ENTRIES + n);
		PUT(entries[n].ref, CTP_REF(generation, 0));
		PUT(entries[n].what, (uint64_t)CTP_ENTRY_RESUME << 56 | (uint32_t)number);
	}
}
int main(void)
{
	alarm(300);
	struct ctp_shm_header *h = make();
	struct ctp_shm_station *stations = (void *)(h + 1);
	struct ctp_shm_ring *rings = (void *)((char *)h + rings_at);
	struct ctp_shm_entry *entries = (void *)((char *)h + entries_at);
	PUT(stations[0].generation, 1);
	PUT(stations[0].birth_ts, 1);
	PUT(stations[0].probe_id, 7);
	PUT(stations[0].announce, CTP_ANNOUNCE(CTP_ANNOUNCE_ANNEX));
	printf("%d\n", (int)getpid());
	fflush(stdout);
	for (uint64_t lap = 1;; lap++) {
		bool empty;
		fill(entries, lap, 1);
		for (unsigned i = 0; i < RINGS; i++)
			__atomic_store_n(&rings[i].head, GET(rings[i].tail) + ENTRIES, __ATOMIC_RELEASE);
		do {
			usleep(1000);
			empty = true;
			for (unsigned i = 0; i < RINGS; i++)
				empty &= GET(rings[i].head) == GET(rings[i].tail);
		} while (!empty);
	}
}
C
"${CC:-cc}" -std=gnu11 -D_GNU_SOURCE -O1 -Isdk/c -o "$tmp/endless" "$tmp/endless.c" 2>"$tmp/err" || skip_all "$(head -1 "$tmp/err")"
mkfifo "$tmp/fifo"
"$tmp/endless" >"$tmp/fifo" &
target=$!
read -r pid <"$tmp/fifo"

# Without a limit this took more than ten minutes; with one it takes some seconds of CPU time.
timeout -s KILL 120 "$collect" -p "$pid" -t 1 -o "$tmp/a.ctp" 2>"$tmp/err"
is '-t ends a look that would last for ever' $? 0
like '  the early end is reported' \
	"$(cat "$tmp/err")" 'the last look took too long: [1-9][0-9]* that it did not come to are counted as lost'
like '  unread events are counted' "$(tail -1 "$tmp/err")" ' [1-9][0-9]* lost \([1-9][0-9]* of them the last look did not come to\)'
"$BIN/ctp-stat" "$tmp/a.ctp" >"$tmp/stat"
is '  ctp-stat gives status 3 for the stream' $? 3
like '  the stream counts lost events' "$(cat "$tmp/stat")" '^lost: +[1-9]'

# Signals are checked in each look: the first ends the trace, the second ends the last look. On a busy machine the target may not have
# filled its rings again when the first one comes: then the trace ends at once, and it is tried once more.
signalled() {
	"$collect" -p "$pid" -o "$tmp/a.ctp" 2>"$tmp/err" &
	collector=$!
	tries=0
	until grep -q 'attached to' "$tmp/err" || [ $((tries += 1)) -gt 2000 ]; do sleep 0.01; done
	sleep "0.$1"
	kill -s TERM $collector
	until [ ! -e /proc/$collector/fd/0 ] || [ $((tries += 1)) -gt 12000 ]; do
		kill -s TERM $collector 2>/dev/null
		sleep 0.01
	done
	[ ! -e /proc/$collector/fd/0 ]
	ended=$?
	kill -9 $collector 2>/dev/null
	wait $collector 2>/dev/null
}
for pause in 0 1 3 5 9; do
	signalled $pause
	[ $ended = 0 ] && ! grep -q 'was ended by a signal' "$tmp/err" || break
done
is 'SIGTERM ends a look that would last for ever' $ended 0
like '  the early end is reported here, too' "$(cat "$tmp/err")" 'the last look was ended by a signal: [1-9]'
kill $target
wait $target 2>/dev/null
done_testing
