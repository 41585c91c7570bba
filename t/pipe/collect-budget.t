#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# Targets whose numbers would make the collector use all memory: --memory limits it.
# Not under sanitizers: it compiles its programs itself.
. t/helper/tap.sh
collect=$BIN/ctp-collect
command -v python3 >/dev/null || skip_all 'there is no python3'

# A sparse memory of 3 GiB, written by a program with plausible numbers: each head is a ring's size ahead.
cat >"$tmp/greedy.c" <<'C'
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#define CTP_LAYOUT_ONLY
#include "ctp.h"
#define PUT(at, value) __atomic_store_n(&(at), (value), __ATOMIC_RELAXED)
#define GET(at) __atomic_load_n(&(at), __ATOMIC_RELAXED)
enum { STATIONS = 1 << 20, SITES = 1 << 20, RINGS = 64, BITS = 20 };
static char *base;
static int fd;
static const uint64_t sites_at = 1024ull * STATIONS + 65536, rings_at = sites_at + 256ull * SITES, entries_at = rings_at + 65536,
                      bytes = entries_at + (32ull * RINGS << BITS);
static bool stop;
static void *punch(void *arg)
{
	(void)arg;
	while (!GET(stop))
		fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)entries_at, (off_t)(bytes - entries_at));
	return NULL;
}
static void make(void)
{
	fd = memfd_create("ctp", MFD_ALLOW_SEALING);
	if (fd < 0 || ftruncate(fd, (off_t)bytes) || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW))
		_exit(1);
	base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	struct ctp_shm_header *h = (void *)base;
	h->version = 1;
	h->max_stations = STATIONS;
	h->annex = CTP_ANNEX_MAGIC;
	h->bytes = bytes;
	h->sites_at = sites_at;
	h->rings_at = rings_at;
	h->entries_at = entries_at;
	h->max_sites = SITES;
	h->max_rings = RINGS;
	h->ring_bits = BITS;
	h->owner = (uint64_t)getpid();
	__atomic_store_n(&h->magic, CTP_SHM_MAGIC, __ATOMIC_RELEASE);
}
/* Eight events, again and again, that a reader of version 1 is in doubt about. */
static void fill(struct ctp_shm_station *s, uint64_t lap)
{
	PUT(s->probe_id, 7);
	PUT(s->birth_ts, 1);
	for (unsigned k = 0; k < 8; k++)
		PUT(s->slots[k].seq, 2 * lap);
}
int main(int argc, char **argv)
{
	(void)argc;
	sigset_t usr1;
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	sigprocmask(SIG_BLOCK, &usr1, NULL);
	alarm(120);
	make();
	struct ctp_shm_header *h = (void *)base;
	struct ctp_shm_ring *rings = (void *)(base + rings_at);
	struct ctp_shm_station *stations = (void *)(h + 1);
	const char *how = argv[1];
	pthread_t thread;
	struct stat st;
	if (!strcmp(how, "punch") && pthread_create(&thread, NULL, punch, NULL))
		return 1;
	printf("%d\n", (int)getpid());
	fflush(stdout);
	sigset_t pending;
	do /* a visit may be over already */
		usleep(1000);
	while (!(GET(h->mode) & CTP_MODE_RINGS) && !sigpending(&pending) && !sigismember(&pending, SIGUSR1));
	usleep(10000);
	if (strstr(how, "stations"))
		PUT(h->allocated_count, STATIONS);
	for (uint64_t lap = 1; GET(h->mode) & CTP_MODE_RINGS; lap++) {
		if (!strcmp(how, "full-stations"))
			for (unsigned i = 0; i < STATIONS / 4; i++)
				fill(&stations[i], lap);
		if (strstr(how, "stations"))
			continue;
		PUT(h->rings_used, RINGS);
		for (unsigned i = 0; i < RINGS; i++) {
			if (!strcmp(how, "punch"))
				memset(base + entries_at + (32ull * i << BITS), 1, 1 << 20);
			if (GET(rings[i].head) == GET(rings[i].tail))
				__atomic_store_n(&rings[i].head, GET(rings[i].tail) + (1 << BITS), __ATOMIC_RELEASE);
		}
	}
	PUT(stop, true);
	if (!strcmp(how, "punch"))
		pthread_join(thread, NULL);
	sigwait(&usr1, &(int){0});
	fstat(fd, &st);
	printf("%lld\n", (long long)st.st_blocks / 2048);
	return 0;
}
C
cc_traced -o "$tmp/greedy" "$tmp/greedy.c" 2>"$tmp/err" || skip_all "$(head -1 "$tmp/err")"

# The largest memory of the collector, in MiB: its own pages, and those of the target that it has looked at.
cat >"$tmp/peak.py" <<'PY'
import resource, subprocess, sys
status = subprocess.call(sys.argv[1:])
print(status, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
PY

# HOW OPTIONS... [-- WITHOUT]: one visit. Leaves $status, $peak, $blocks (MiB that the target's memory has after it), $tmp/err.
visit() {
	how=$1 wrap=$2
	shift 2
	mkfifo "$tmp/fifo"
	"$tmp/greedy" "$how" >"$tmp/fifo" &
	greedy=$!
	exec 9<"$tmp/fifo"
	rm "$tmp/fifo"
	read -r pid <&9
	# shellcheck disable=SC2086
	read -r status peak <<-END
		$(python3 -B "$tmp/peak.py" $wrap "$collect" -p "$pid" "$@" -o "$tmp/out.ctp" 2>"$tmp/err")
	END
	kill -s USR1 $greedy
	read -r blocks <&9
	exec 9<&-
	kill $greedy 2>/dev/null
	wait $greedy 2>/dev/null
}

for wrap in '' "$O/t/helper/without userfaultfd"; do
	with=${wrap:+, without userfaultfd}
	${wrap:-env} true || { note "no filter$with"; continue; }
	for how in rings punch stations; do
		visit $how "$wrap" --memory 256 -t 2
		is "$how$with: the collector exits with status 0" "$status" 0
		ok "  it has used no more than the limit ($peak MiB)" [ "$peak" -le 288 ]
		ok "  the target's memory stays as small ($blocks MiB)" [ "$blocks" -le 320 ]
		like '  the limit is reported' "$(cat "$tmp/err")" '^ctp-collect: the 256 MiB of --memory are used up: '
		like '  the stream records it' "$("$BIN/ctp-stat" "$tmp/out.ctp")" '^(lost|untraced): +[1-9]'
		note "$how$with: $peak MiB, $blocks MiB: $(tail -1 "$tmp/err")"
	done
done
visit full-stations '' --memory 256 -t 3
ok "stations in doubt stay within the limit: $peak MiB, 256 of them the target's" [ "$peak" -le 560 ]
like '  untraced coroutines are counted' "$(cat "$tmp/err")" '[1-9][0-9]* untraced \(raise --memory, now 256\)'

visit rings '' --memory 256 --once
ok "--once stays within the limit: $peak MiB" [ "$peak" -le 288 ]

# A normal program with many coroutines, all of which are traced.
cat >"$tmp/honest.c" <<'C'
#include <ctp.h>
#include <stdio.h>
int main(void)
{
	static struct ctp_coro coro[500000];
	for (int i = 0; i < 500000; i++) {
		ctp_coro_new(&coro[i], (uint64_t)i + 1);
		ctp_coro_suspend(&coro[i], CTP_HERE);
	}
	return 0;
}
C
cc_traced -o "$tmp/honest" "$tmp/honest.c"
"$collect" -n 500000 --memory 256 -o "$tmp/out.ctp" "$tmp/honest" 2>"$tmp/err"
like 'half a million coroutines need little memory beyond their stations' "$(cat "$tmp/err")" \
	'^ctp-collect: 500000 events, 500000 coroutines, 0 lost, 0 untraced'
"$collect" --memory 64 true 2>"$tmp/err"
like 'a limit that is too small is refused' "$? $(head -1 "$tmp/err")" '^125 .*--memory 64: not a number from 128 to '
done_testing
