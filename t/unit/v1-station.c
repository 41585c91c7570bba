/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * v1-station.c - one station, step by step: dialects, counting, deaths, proofs, conflicts. No threads here: see race.c.
 */
#include <stdint.h>

#include "collect/v1-station.h"
#include "rawprobe.h"
#include "tap.h"

/* A reader of one station, and what it has read. */
struct reader {
	_Alignas(1024) unsigned char mem[1024];
	struct ctp_v1_station st;
	struct ctp_v1_station_seen seen;
	uint64_t events, lost, unverified, wrong, next;
};

static void reader_init(struct reader *r, enum writer kind)
{
	memset(r, 0, sizeof(*r));
	write_birth(kind, r->mem, 0xabc, 0xdef);
}

static void publish(struct reader *r, enum writer kind, uint64_t from, uint64_t to)
{
	for (uint64_t i = from; i < to; i++)
		write_event(kind, r->mem, i);
}

/* Visits until nothing is new. */
static void drain(struct reader *r, bool gone)
{
	const struct ctp_shm_station *shm = (const void *)r->mem;
	struct ctp_row rows[CTP_STATION_ROWS];
	for (unsigned tries = 0; tries < 100; tries++) {
		uint64_t gap = r->st.gap;
		unsigned n = ctp_v1_station_visit(&r->st, shm, &r->seen, gone ? CTP_PROOF_GONE : CTP_PROOF_NOW, rows);
		if (!n && r->st.gap == gap)
			break;
		for (unsigned k = 0; k < n; k++) {
			uint64_t index = rows[k].val[CTP_TRANSITION_INDEX];
			r->wrong += index != r->next + (k ? 0 : r->st.gap) ||
			            rows[k].val[CTP_TRANSITION_TS] != word(index, 0) ||
			            rows[k].val[CTP_TRANSITION_TID] != word(index, 1) ||
			            rows[k].val[CTP_TRANSITION_ADDR] != word(index, 2) ||
			            rows[k].val[CTP_TRANSITION_ACTIVE] != word(index, 3) >> 63 ||
			            rows[k].val[CTP_TRANSITION_PROBE] != 0xabc;
			r->next = index + 1;
		}
		r->events += n;
		if (n) {
			r->lost += r->st.gap;
			r->unverified += r->st.gap_unverified;
			r->st.gap = r->st.gap_unverified = 0;
		}
	}
}

static uint64_t lost(const struct reader *r) { return r->lost + r->st.gap; }
static uint64_t unverified(const struct reader *r) { return r->unverified + r->st.gap_unverified; }
static bool conflict(const struct reader *r) { return r->st.flags & CTP_STATION_CONFLICT; }

/*
 * Whatever the writer did before the first look is read and counted correctly. half: it died in the middle of the next event.
 */
static void test_first_look(enum writer kind, bool gone, bool half, bool dead)
{
	uint64_t told = 0, exact = 0, kept = 0, looks = 200;
	for (uint64_t n = 1; n <= looks; n++) {
		struct reader r;
		reader_init(&r, kind);
		publish(&r, kind, 0, n);
		if (half)
			write_half(kind, r.mem, n);
		((struct ctp_shm_station *)(void *)r.mem)->is_dead = dead;
		drain(&r, gone);
		ctp_v1_station_audit(&r.st, (const void *)r.mem, &r.seen);
		told += r.st.dialect == (is_seqlock(kind) ? CTP_DIALECT_SEQLOCK : CTP_DIALECT_PLAIN);
		exact += r.events + lost(&r) == n && !r.wrong && !conflict(&r);
		/* All 8 can be read if an unchanged seq is proof, and none is being overwritten. */
		bool proof = kind == ORDERED || (is_seqlock(kind) && (gone || CTP_STORES_IN_ORDER)) || (gone && dead);
		uint64_t most = !half && proof ? 8 : 7;
		kept += r.events == (n < most ? n : most);
	}
	ok(told == looks && exact == looks && kept == looks, "first look after 1 to 200 events: %s%s%s", writer_names[kind],
	   gone ? dead ? ", gone and dead" : ", gone" : dead ? ", dead" : "", half ? ", half-way through one more" : "");
}

/* A first look while the first event, or the second, is being written. */
static void test_first_mark(void)
{
	struct reader r;
	reader_init(&r, FIELD);
	put_seq(r.mem + 0x40, 1);
	drain(&r, false);
	ok(!r.events && !(r.st.flags & CTP_STATION_KNOWN), "an odd mark alone is no event, and needs no header");
	publish(&r, FIELD, 0, 1);
	drain(&r, false);
	ok(r.events == 1 && !r.wrong, "the event is read once it is published");

	reader_init(&r, PLAIN);
	r.st.dialect = CTP_DIALECT_SEQLOCK;
	publish(&r, PLAIN, 0, 1);
	drain(&r, false);
	is_u64(r.events, 0, "with a forced dialect, an event in slot 1 is not a seqlock's first");
}

/* Reader and writer in turns, in steps of every size. */
static void test_steps(enum writer kind)
{
	uint64_t bad = 0;
	for (uint64_t step = 1; step < 40; step++) {
		struct reader r;
		reader_init(&r, kind);
		uint64_t n = 0;
		for (unsigned k = 0; k < 20; k++, n += step) {
			publish(&r, kind, n, n + step);
			drain(&r, false);
		}
		bad += r.events + lost(&r) != n || r.wrong || conflict(&r) || (step <= 7 && lost(&r));
	}
	is_u64(bad, 0, writer_names[kind]);
}

/*
 * A visit that can use a barrier says which event needs it: the oldest of eight, no other, and not of a writer
 * without a mark, unless its station is dead. The second look is that of ctp_v1_station_quiet.
 */
static void test_later(enum writer kind, bool dead)
{
	uint64_t right = 0, looks = 200;
	for (uint64_t n = 1; n <= looks; n++) {
		struct reader r;
		struct ctp_row rows[CTP_STATION_ROWS];
		const struct ctp_shm_station *shm = (const void *)r.mem;
		reader_init(&r, kind);
		publish(&r, kind, 0, n);
		((struct ctp_shm_station *)(void *)r.mem)->is_dead = dead;
		unsigned most = is_seqlock(kind) || dead ? 8 : 7;
		unsigned had = ctp_v1_station_visit(&r.st, shm, &r.seen, CTP_PROOF_LATER, rows);
		bool doubt = n >= 8 && (is_seqlock(kind) ? kind == FIELD && !CTP_STORES_IN_ORDER : dead);
		right += had == (n < most ? n : most) && r.st.doubt == doubt && had + r.st.gap == n && r.st.next == n &&
		         rows[0].val[CTP_TRANSITION_INDEX] == n - had && ctp_v1_station_quiet(&r.st, shm) &&
		         !ctp_v1_station_visit(&r.st, shm, &r.seen, CTP_PROOF_LATER, rows);
		write_half(kind, r.mem, n);
		right += ctp_v1_station_quiet(&r.st, shm) == !is_seqlock(kind);
	}
	ok(right == 2 * looks, "a visit knows what a barrier would prove, after 1 to 200 events: %s%s", writer_names[kind],
	   dead ? ", dead" : "");
}

/* What overwrites event 0 is visible, and nothing else of it: no mark, no seq. Only the presence of the eighth event shows it. */
static void test_overtaken(enum writer kind)
{
	if (is_seqlock(kind) && CTP_STORES_IN_ORDER)
		return;
	struct reader r;
	reader_init(&r, kind);
	publish(&r, kind, 0, 8);
	unsigned char *slot = r.mem + 0x40 + (is_seqlock(kind) ? 0 : 64);
	put(slot + 0x10, word(8, 2));
	drain(&r, false);
	ok(r.events == 7 && lost(&r) == 1 && unverified(&r) == 1 && !r.wrong,
	   "an event that cannot be proved is counted as lost: %s", writer_names[kind]);
}

/* Rows that seemed whole when they were copied. */
static void test_recheck(void)
{
	struct reader r;
	struct ctp_row rows[CTP_STATION_ROWS];
	unsigned maybe;
	const struct ctp_shm_station *shm = (const void *)r.mem;
	reader_init(&r, PLAIN);
	publish(&r, PLAIN, 0, 3);
	is_u64(ctp_v1_station_visit(&r.st, shm, &r.seen, CTP_PROOF_NOW, rows), 3, "three rows are read");
	publish(&r, PLAIN, 3, 7);
	is_u64(ctp_v1_station_recheck(&r.st, shm, 0, 3, &maybe), 0, "none is in doubt while no slot can have been overwritten");
	publish(&r, PLAIN, 7, 9);
	is_u64(ctp_v1_station_recheck(&r.st, shm, 0, 3, &maybe), 2, "two are in doubt once their slots can have been overwritten");
	is_u64(maybe, 1, "one of these may still be right");
}

/* --- more than one writer ------------------------------------------------------------------------------------------------ */

/*
 * A process that was forked after m events goes on where the parent was, with its own count and each slot's seq as it finds it.
 */
static void write_forked(struct reader *r, uint64_t index)
{
	unsigned char *slot = r->mem + 0x40 + index % 8 * 64;
	uint64_t seq = __atomic_load_n((uint64_t *)(void *)(slot + 0x18), __ATOMIC_RELAXED);
	put_seq(slot, seq + 1);
	put_payload(slot, index);
	put_seq(slot, seq + 2);
}

static void test_fork(void)
{
	struct reader r;
	reader_init(&r, FIELD);
	publish(&r, FIELD, 0, 4);
	drain(&r, false);
	for (uint64_t i = 4; i < 7; i++)
		write_forked(&r, i);
	drain(&r, false);
	ok(!conflict(&r) && r.events == 7, "one of two writers alone is no conflict");
	for (uint64_t i = 4; i < 7; i++)
		write_forked(&r, i); /* the other writer, into the same slots */
	drain(&r, false);
	ok(!conflict(&r), "a conflict in slots where no event is due is not noticed");
	ctp_v1_station_audit(&r.st, (const void *)r.mem, &r.seen);
	ok(conflict(&r), "an audit notices it");
	drain(&r, false);
	is_u64(r.events, 10, "the events are still read, slot by slot");
	for (uint64_t i = 7; i < 9; i++)
		write_forked(&r, i);
	drain(&r, false);
	is_u64(r.events + lost(&r), 12, "later events are read or counted as lost");

	reader_init(&r, FIELD);
	publish(&r, FIELD, 0, 4);
	drain(&r, false);
	for (unsigned k = 0; k < 2; k++)
		for (uint64_t i = 4; i < 8; i++)
			write_forked(&r, i);
	for (unsigned k = 0; k < 2; k++)
		write_forked(&r, 8);
	drain(&r, false);
	ok(conflict(&r), "two writers are noticed when they write where an event is due");
}

static void test_backwards(void)
{
	for (enum writer kind = FIELD; kind <= PLAIN; kind += PLAIN - FIELD) {
		struct reader r;
		reader_init(&r, kind);
		publish(&r, kind, 0, 20);
		drain(&r, false);
		uint64_t events = r.events;
		publish(&r, kind, 4, 5); /* where number 20 is due */
		drain(&r, false);
		ok(conflict(&r), "a seq that goes back is a conflict: %s", writer_names[kind]);
		ok(r.events <= events + 8, "the number of events is bounded");
	}
}

static void test_absurd(void)
{
	static const uint64_t seqs[] = {3, 16, 1000, UINT64_C(1) << 40, UINT64_C(1) << 57, UINT64_C(1) << 62, INT64_MAX,
	                                UINT64_MAX - 7, UINT64_MAX - 1, UINT64_MAX};
	unsigned survived = 0, n = sizeof(seqs) / sizeof(*seqs);
	for (unsigned forced = CTP_DIALECT_AUTO; forced <= CTP_DIALECT_PLAIN; forced++)
		for (unsigned k = 0; k < n * n * 8; k++) {
			struct reader r;
			reader_init(&r, FIELD);
			r.st.dialect = (uint8_t)forced;
			publish(&r, forced == CTP_DIALECT_PLAIN ? PLAIN : FIELD, 0, k % 11);
			drain(&r, false);
			put_seq(r.mem + 0x40 + k % 8 * 64, seqs[k / 8 % n]);
			put_seq(r.mem + 0x40 + (k + 1) % 8 * 64, seqs[k / 8 / n]);
			drain(&r, k % 2);
			ctp_v1_station_audit(&r.st, (const void *)r.mem, &r.seen);
			drain(&r, false);
			survived += r.events < 11 + 3 * 8;
		}
	is_u64(survived, 3 * n * n * 8, "absurd numbers give few events");
}

/* --- the batch ----------------------------------------------------------------------------------------------------------- */

static uint64_t random64(void)
{
	static uint64_t x = 88172645463325252;
	return x ^= x << 13, x ^= x >> 7, x ^= x << 17;
}

/* Sorted by time, stably; rows to be skipped may be anywhere. */
static bool is_sorted(const struct ctp_row_sort *b, const uint8_t *skip)
{
	const uint64_t *before = NULL;
	uint64_t bad = 0, seen = 0, n = b->count;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = ctp_row_sort_at(b, i);
		const uint64_t *ts = &b->ts_ns[at];
		seen += at;
		if (skip[at])
			continue;
		bad += before && (*ts < *before || (*ts == *before && ts < before));
		before = ts;
	}
	return !bad && seen == n * (n - 1) / 2;
}

/* Impossible times are before all others, or after them. */
static bool is_apart(const struct ctp_row_sort *b, const uint8_t *skip)
{
	uint32_t first = 0, last = b->count;
	while (first < last && b->ts_ns[ctp_row_sort_at(b, first)] == 0)
		first++;
	while (last > first && b->ts_ns[ctp_row_sort_at(b, last - 1)] > UINT64_MAX - CTP_ROW_SORT_ROWS)
		last--;
	for (; first < last && !skip[ctp_row_sort_at(b, first)]; first++)
		;
	return first == last;
}

static void test_sort(uint32_t n, uint64_t now, uint64_t range, bool garbage)
{
	struct ctp_row_sort b;
	struct ctp_err err;
	uint8_t skip[CTP_ROW_SORT_ROWS] = {0};
	if (ctp_row_sort_init(&b, &err) != CTP_OK)
		exit(1);
	for (uint32_t i = 0; i < n; i++) {
		skip[i] = garbage && i % 5 == 0;
		b.ts_ns[i] = skip[i] ? (i % 2 ? 0 : UINT64_MAX - i) : now - range + random64() % (range + 1);
	}
	b.count = n;
	ctp_row_sort_sort(&b, now);
	ok(is_sorted(&b, skip), "rows are sorted stably: %u over %" PRIu64 " ns%s", n, range,
	   garbage ? ", with impossible times among them" : "");
	if (garbage)
		ok(is_apart(&b, skip), "  impossible times are apart from the others");
	ctp_row_sort_fini(&b);
}

/* Rings one after the other, each sorted and of any length. */
static void test_runs(unsigned runs, uint64_t step, bool garbage)
{
	struct ctp_row_sort b;
	struct ctp_err err;
	const uint64_t now = UINT64_C(1) << 45;
	uint8_t skip[CTP_ROW_SORT_ROWS] = {0};
	if (ctp_row_sort_init(&b, &err) != CTP_OK)
		exit(1);
	for (unsigned run = 0; run < runs; run++) {
		uint64_t ts = now - random64() % (1000 * step);
		for (uint64_t left = 1 + random64() % (CTP_ROW_SORT_ROWS / runs); left; left--)
			b.ts_ns[b.count++] = ts += random64() % step;
		if (garbage) { /* later than all: it ends the run */
			skip[b.count - 1] = 1;
			b.ts_ns[b.count - 1] = UINT64_MAX - run;
		}
	}
	ctp_row_sort_sort(&b, now);
	ok(is_sorted(&b, skip), "rows are sorted, from %u runs with steps below %" PRIu64 " ns%s", runs, step,
	   garbage ? ", with an impossible time at the end of each" : "");
	if (runs == 1)
		ok(b.sorted, "sorted rows are left as they are");
	ctp_row_sort_fini(&b);
}

int main(void)
{
	for (enum writer kind = FIELD; kind <= PLAIN; kind++)
		for (unsigned k = 0; k < 4; k++)
			test_first_look(kind, k & 1, k & 2, false);
	for (unsigned gone = 0; gone < 2; gone++)
		test_first_look(PLAIN, gone, false, true);
	test_first_mark();
	for (enum writer kind = FIELD; kind <= PLAIN; kind++)
		test_steps(kind);
	for (enum writer kind = FIELD; kind <= PLAIN; kind++)
		test_later(kind, false);
	test_later(PLAIN, true);
	test_overtaken(FIELD);
	test_overtaken(PLAIN);
	test_recheck();
	test_fork();
	test_backwards();
	test_absurd();
	for (unsigned bits = 32; bits < 64; bits += 13)
		for (unsigned k = 0; k < 2; k++) {
			uint64_t now = UINT64_C(1) << bits;
			test_sort(10, now, 1000, k);
			test_sort(500, now, 3, k);
			test_sort(CTP_ROW_SORT_ROWS, now, 1000000, k);
			test_sort(CTP_ROW_SORT_ROWS, now, UINT64_C(1) << 31, k);
		}
	static const unsigned runs[] = {1, 2, 3, 4, 5, 7, 31, 32, 33, 100};
	for (unsigned r = 0; r < sizeof(runs) / sizeof(*runs); r++)
		for (unsigned k = 0; k < 4; k++)
			test_runs(runs[r], k & 1 ? 1000 : 2, k & 2);
	return done_testing();
}
