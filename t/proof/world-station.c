/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * world-station.c - the writers of the field against lib/collect/v1-station.c: each row is one event, whole; none comes twice; and
 * rows and gaps together are what was published. One honest writer is never found to be two.
 *
 * With CTP_PROOF_LATER the first of eight rows may be in doubt. It is proved as v1-doubt.c does it: by a barrier in every thread
 * after the visit, and ctp_v1_station_quiet after that.
 */
#include <linux/membarrier.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collect/v1-station.h"
#include "real-field.h"
#include "view-kernel.h"
#include "view-machine.h"
#include "world.h"

enum { PROBE = 0xabc, BEFORE = 20, EVENTS = 20, VISITS = 6 };

static _Alignas(1024) struct ctp_shm_station station;
static struct ctp_v1_station st;
static struct ctp_v1_station_seen seen;
static enum real_field kind;
static bool later, dies;
static uint64_t before, events, rows_taken, gaps, next, judged;
static unsigned writer;

static void write_events(void *unused)
{
	(void)unused;
	for (uint64_t k = before; k < before + events; k++)
		real_field_write(kind, &station, k);
	if (dies)
		real_field_half(kind, &station, before + events);
}

static void judge(const struct ctp_row *row)
{
	uint64_t k = row->val[CTP_TRANSITION_INDEX];
	judged++;
	if (row->val[CTP_TRANSITION_TS] != real_field_word(k, 0) || row->val[CTP_TRANSITION_TID] != real_field_word(k, 1) ||
	    row->val[CTP_TRANSITION_ADDR] != real_field_word(k, 2) ||
	    row->val[CTP_TRANSITION_ACTIVE] != real_field_word(k, 3) >> 63)
		view_fail("event %llu was accepted and is torn", (unsigned long long)k);
	if (row->val[CTP_TRANSITION_PROBE] != PROBE || st.birth_ns != 1)
		view_fail("event %llu has the header of no coroutine", (unsigned long long)k);
	if (k != next)
		view_fail("event %llu came, and %llu was due", (unsigned long long)k, (unsigned long long)next);
	next++;
	rows_taken++;
}

static void take(const struct ctp_row *rows, unsigned n)
{
	gaps += st.gap;
	next += st.gap;
	st.gap = st.gap_unverified = 0;
	for (unsigned k = 0; k < n; k++)
		judge(&rows[k]);
}

static long __attribute__((noinline)) barrier(void) { return syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0); }

/* Returns whether there was anything. */
static bool visit(enum ctp_proof proof)
{
	struct ctp_row rows[CTP_STATION_ROWS];
	uint64_t gap = st.gap;
	unsigned n = ctp_v1_station_visit(&st, &station, &seen, proof, rows);
	if (st.flags & CTP_STATION_CONFLICT)
		view_fail("one writer was taken for two");
	bool found = n || st.gap != gap;
	if (!n)
		return found;
	if (st.doubt) {
		st.doubt = false;
		bool proved = !barrier() && real_station_quiet(&st, &station);
		st.gap += !proved;
		take(rows + !proved, n - !proved);
		return true;
	}
	take(rows, n);
	return true;
}

static bool ended(void *unused)
{
	(void)unused;
	return view_ended(writer);
}

static void collect(void *unused)
{
	(void)unused;
	for (uint64_t n = view_random(VISITS); n; n--) {
		visit(later ? CTP_PROOF_LATER : CTP_PROOF_NOW);
		if (view_chance(4))
			ctp_v1_station_audit(&st, &station, &seen);
	}
	view_wait(ended, NULL);
	view_join_thread(writer);
	while (visit(CTP_PROOF_GONE))
		;
	ctp_v1_station_audit(&st, &station, &seen);
	visit(CTP_PROOF_GONE);
	if (rows_taken + gaps + st.gap != before + events)
		view_fail("%llu events were published, %llu taken, %llu told lost", (unsigned long long)(before + events),
		          (unsigned long long)rows_taken, (unsigned long long)(gaps + st.gap));
}

static void init(void) { view_share("v1 station", &station, sizeof station); }

static void begin(unsigned dialect)
{
	static const enum real_field kinds[] = {REAL_FIELD, REAL_FIELD, REAL_ORDERED, REAL_PLAIN};
	kind = kinds[dialect];
	later = dialect == 1;
	dies = !view_random(4);
	before = view_random(BEFORE);
	events = view_random(EVENTS);
	view_has_membarrier = true;
	memset(&station, 0, sizeof station);
	memset(&st, 0, sizeof st);
	memset(&seen, 0, sizeof seen);
	st.dialect = CTP_DIALECT_AUTO;
	rows_taken = gaps = next = 0;
	real_field_birth(kind, &station, PROBE, 1);
	for (uint64_t k = 0; k < before; k++)
		real_field_write(kind, &station, k);
	writer = view_spawn("writer", write_events, NULL, VIEW_UNREGISTERED);
	view_spawn("collector", collect, NULL, VIEW_UNREGISTERED);
}

static uint64_t found(void) { return judged; }

static const char *const dialects[] = {"field", "field-later", "ordered", "plain", NULL};
const struct world world_station = {"station", dialects, init, begin, NULL, found};
