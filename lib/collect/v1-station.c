/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * v1-station.c - reads one station, against a writer that never waits.
 *
 * A visit copies the events that show the seq they should, asks afterwards whether the copies can have been spoilt, and keeps
 * those that cannot. "Written" below is the odd mark, payload and seq of an event; "published" is that its seq is visible.
 *
 * What proves a copy of event k, with the writer's side on the left and ours on the right:
 *
 *	fenced writer	publish k+7; seq_cst fence; write k+8	copy k; acquire fence; load seq of k+7: not yet published
 *	ordered writer	odd mark of k+8; release fence; payload	copy k; acquire fence; load seq of k: as it was
 *	marking writer	odd mark of k+8; payload		copy k; a barrier in every thread; load seq of k: as it was
 *
 * Had the copy seen anything of k+8, which is what overwrites k, then the fences would order what stands before the left one
 * before the load after the right one, and the load would show it. The odd mark alone proves nothing for the SDKs in the
 * field: they store it with release, which orders what comes before it and not the payload that follows. Their fence is the one
 * that precedes their look at tracer_sleeping. The first rule tests one slot for a whole run of copies: if k+7 was not
 * published at the end, nothing from k on was touched. A writer that is gone touches nothing, and its odd marks are all there;
 * but the plain dialect has none. There is_dead takes their place: it is stored after all events are published, so a
 * station that shows it, and after that, or after a barrier, still the seq of k, was not touched from k on.
 *
 * The first rule alone would give seven events of a station that is full and quiet, for k+7 is published. The third gives the
 * eighth. The barrier is membarrier(2) with MEMBARRIER_CMD_GLOBAL (barrier.c): between its call and its return every thread of
 * the machine passes a state in which all that stands before it in its program is visible, and nothing that stands after it.
 * If the copy saw a store of k+8's payload, that store was visible before the call, so it does not stand after that state, nor
 * does the mark, which stands before it in the program; so the mark is visible at the return, and the load after it shows it,
 * or what came later. It takes a grace period of RCU, so it is asked for only where a station that is full shows nothing new at
 * the next look (v1-doubt.c), and what is written meanwhile costs the event that is in doubt: it is counted as lost, unverified,
 * and so are all of them where the kernel refuses the barrier.
 *
 * One thing is left to be believed: that the compiler of the target left the mark before the payload. C11 lets it move a plain
 * store up across a release store. No compiler is known to, and of the field's SDKs only addr could be: between the mark and
 * each other word stands a system call. x86 makes every store visible in the order of the program, so with the same belief every
 * seqlock is an ordered one there. Proved in t/proof: the first rule as overrun_accepted, the second as accepted_is_written, the
 * barrier's as quiet_eighth; and torn_with_release_mark is what the second would accept of the field's SDKs.
 *
 * The plain dialect's document asks for no fence, so its writers may have none. A release store does not hold back the stores
 * after it: where the machine reorders stores, the payload of k+8 can be seen while the seq of k+7, or of k+3, is still in the
 * writer's store buffer (seen on a Neoverse N1: about one in 200,000 of the events read from a tight loop, up to five events
 * deep). No order of loads helps against that, but time does: a store buffer empties itself. So there the first rule is asked a
 * second time, by ctp_v1_station_recheck, when CTP_STATION_DRAIN_NS have passed since the copy.
 *
 * What one writer cannot do is publish event j and show, to a load ordered after the one that saw j, a slot of an event before
 * j as it was before that event; or step back. A station where that is seen has more writers (a fork), or hostile ones. It is
 * in conflict from then on: each slot is followed on its own, and what can be said is said, without proof.
 */
#include "collect/v1-station.h"

#include <string.h>

/* gcc says under -fsanitize=thread that it does not model fences. Nothing rests on that: the payload is read atomically. */
#if defined __SANITIZE_THREAD__ && !defined __clang__
#pragma GCC diagnostic ignored "-Wtsan"
#endif

enum { LAPS_MAX = 2 }; /* times that a visit begins again after an overrun; then it is left for the next */

/* No writer counts as far as this; a larger number is not a count. */
#define INDEX_MAX (UINT64_C(1) << 56)

static uint64_t seq_of(const struct ctp_shm_station *shm, unsigned slot)
{
	return __atomic_load_n(&shm->slots[slot].seq, __ATOMIC_ACQUIRE); /* pairs with the writer's release store of seq */
}

static bool published(const struct ctp_v1_station *st, const struct ctp_shm_station *shm, uint64_t i)
{
	return seq_of(shm, ctp_v1_station_slot(st, i)) >= ctp_v1_station_want(st, i);
}

/* Number of the newest event that seq s, not 0, in this slot speaks of: complete, or for an odd mark being written. */
static uint64_t newest(const struct ctp_v1_station *st, unsigned slot, uint64_t s)
{
	if (st->dialect == CTP_DIALECT_PLAIN)
		return s - 1;
	uint64_t lap = s / 2 + s % 2 - 1;
	return lap < INDEX_MAX / CTP_SHM_SLOTS ? lap * CTP_SHM_SLOTS + slot : UINT64_MAX;
}

/* How many times this slot had been filled when it showed s. */
static uint64_t lap_of(const struct ctp_v1_station *st, unsigned slot, uint64_t s)
{
	return s ? newest(st, slot, s) / CTP_SHM_SLOTS + 1 : 0;
}

static void copy(struct ctp_row *row, const struct ctp_v1_station *st, const struct ctp_shm_slot *slot, uint64_t seq,
                 uint64_t index)
{
	row->val[CTP_TRANSITION_PROBE] = st->probe_id;
	row->val[CTP_TRANSITION_TID] = __atomic_load_n(&slot->tid, __ATOMIC_RELAXED);
	row->val[CTP_TRANSITION_ADDR] = __atomic_load_n(&slot->addr, __ATOMIC_RELAXED);
	row->val[CTP_TRANSITION_SEQ] = seq;
	row->val[CTP_TRANSITION_ACTIVE] = __atomic_load_n(&slot->is_active, __ATOMIC_RELAXED) != 0;
	row->val[CTP_TRANSITION_TS] = __atomic_load_n(&slot->timestamp, __ATOMIC_RELAXED);
	row->val[CTP_TRANSITION_CORO] = st->coro;
	row->val[CTP_TRANSITION_INDEX] = index;
	row->val[CTP_TRANSITION_SITE] = 0;
}

/*
 * Tells the dialect. The first event is in slot 0 or in slot 1; if we come late, slot 0 of a plain station holds multiples of
 * 8, which a seqlock reaches now and then. A nonzero s in slot i with s % 8 != i is no plain seq. While slot 0 of a seqlock
 * stays at s, slot 2 is at s, s - 1 or s - 2, and for s % 8 == 0 none of these is 2 modulo 8.
 */
static bool tell_dialect(struct ctp_v1_station *st, const struct ctp_shm_station *shm)
{
	uint64_t s1 = seq_of(shm, 1); /* before slot 0: a seqlock that is here has been there */
	uint64_t s0 = seq_of(shm, 0);
	if (!s0 && !s1)
		return false;
	if (!s0) {
		st->dialect = CTP_DIALECT_PLAIN;
	} else if (s0 % 8 != 0 || seq_of(shm, 1) % 8 != 1 || seq_of(shm, 2) % 8 != 2) {
		st->dialect = CTP_DIALECT_SEQLOCK;
	} else {
		if (seq_of(shm, 0) != s0)
			return false; /* overtaken: another time */
		st->dialect = CTP_DIALECT_PLAIN;
	}
	return true;
}

/* At the first event. The header and the announcement were written before it was published, so they are whole. */
static bool learn(struct ctp_v1_station *st, const struct ctp_shm_station *shm)
{
	if ((st->dialect == CTP_DIALECT_AUTO && !tell_dialect(st, shm)) || !published(st, shm, 0))
		return false;
	st->probe_id = __atomic_load_n(&shm->probe_id, __ATOMIC_RELAXED);
	st->birth_ns = __atomic_load_n(&shm->birth_ts, __ATOMIC_RELAXED);
	uint64_t announce = __atomic_load_n(&shm->announce, __ATOMIC_RELAXED);
	bool announced = CTP_ANNOUNCE_IS(announce) && CTP_ANNOUNCE_FLAGS(announce) & CTP_ANNOUNCE_ORDERED;
	if (st->dialect == CTP_DIALECT_SEQLOCK && (announced || CTP_STORES_IN_ORDER))
		st->flags |= CTP_STATION_ORDERED;
	st->flags |= CTP_STATION_KNOWN;
	return true;
}

static void set_conflict(struct ctp_v1_station *st, struct ctp_v1_station_seen *seen)
{
	for (uint64_t i = st->next; i < st->next + CTP_SHM_SLOTS; i++)
		seen->seq[ctp_v1_station_slot(st, i)] = ctp_v1_station_idle(st, i);
	st->flags |= CTP_STATION_CONFLICT;
}

/* Copies the run of events from st->next on that are all there, and returns how many. *stop: the seq found where it ended. */
static unsigned copy_run(const struct ctp_v1_station *st, const struct ctp_shm_station *shm, struct ctp_row *rows, uint64_t *stop)
{
	unsigned n;
	for (n = 0; n < CTP_STATION_ROWS; n++) {
		unsigned slot = ctp_v1_station_slot(st, st->next + n);
		*stop = seq_of(shm, slot);
		if (*stop != ctp_v1_station_want(st, st->next + n))
			break;
		copy(&rows[n], st, &shm->slots[slot], *stop, st->next + n);
	}
	return n;
}

/* The first rule of the table above, for the n events copied from base on. */
static unsigned overtaken(const struct ctp_v1_station *st, const struct ctp_shm_station *shm, uint64_t base, unsigned n,
                          unsigned *unverified)
{
	unsigned bad = 0;
	while (bad < n && published(st, shm, base + bad + CTP_SHM_SLOTS - 1))
		bad++;
	for (uint64_t i = base; i < base + bad; i++)
		*unverified += seq_of(shm, ctp_v1_station_slot(st, i)) == ctp_v1_station_want(st, i);
	return bad;
}

/* The second. */
static unsigned rewritten(const struct ctp_v1_station *st, const struct ctp_shm_station *shm, uint64_t base, unsigned n)
{
	while (n && seq_of(shm, ctp_v1_station_slot(st, base + n - 1)) == ctp_v1_station_want(st, base + n - 1))
		n--;
	return n;
}

unsigned ctp_v1_station_recheck(const struct ctp_v1_station *st, const struct ctp_shm_station *shm, uint64_t base, unsigned n,
                                unsigned *unverified)
{
	*unverified = 0;
	return overtaken(st, shm, base, n, unverified);
}

/*
 * Keeps what is proved of the n events copied from st->next on, moved to the front of rows, and counts the rest. The last of
 * those that are not proved, where its seq is as it was, may be proved later if all that came after it are with it; where they
 * are not, *again: they are to be copied from it on.
 */
static unsigned keep_run(struct ctp_v1_station *st, const struct ctp_shm_station *shm, struct ctp_v1_station_seen *seen,
                         enum ctp_proof proof, struct ctp_row *rows, unsigned n, bool *again)
{
	unsigned unverified = 0, bad;
	/* Pairs with the writer's fence, either of the two in the table above. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	bool marks = st->dialect == CTP_DIALECT_SEQLOCK || __atomic_load_n(&shm->is_dead, __ATOMIC_RELAXED);
	if (st->flags & CTP_STATION_ORDERED || (proof == CTP_PROOF_GONE && marks))
		bad = rewritten(st, shm, st->next, n);
	else
		bad = overtaken(st, shm, st->next, n, &unverified);
	uint64_t known = st->next + bad + CTP_SHM_SLOTS - 2; /* if any is bad: this one was found published */
	if (unverified == 1 && proof == CTP_PROOF_LATER && marks) {
		bad--;
		unverified = 0;
		st->doubt = n - bad == CTP_SHM_SLOTS;
		if (!st->doubt)
			*again = true, n = bad;
	}
	st->next += n;
	if (bad) {
		st->gap += bad;
		st->gap_unverified += unverified;
		memmove(rows, rows + bad, (n - bad) * sizeof *rows);
		if (known > st->next && !published(st, shm, st->next))
			set_conflict(st, seen);
	}
	return n - bad;
}

/*
 * The slot of the next event shows one beyond it: all that is 8 or more before the newest of all slots is gone. Where that
 * happens again at once the writer laps us, and it is better to have its latest than to run after its oldest. False: that is no
 * count.
 */
static bool skip_overrun(struct ctp_v1_station *st, const struct ctp_shm_station *shm, unsigned lap, enum ctp_proof proof)
{
	uint64_t last = 0;
	for (unsigned slot = 0; slot < CTP_SHM_SLOTS; slot++) {
		uint64_t s = seq_of(shm, slot), j = s ? newest(st, slot, s) : 0;
		if (s && (j >= INDEX_MAX || ctp_v1_station_slot(st, j) != slot))
			return false;
		last = j > last ? j : last;
	}
	uint64_t next = last - (CTP_SHM_SLOTS - 1);
	if (proof != CTP_PROOF_GONE)
		next += lap * 3; /* last - 7, last - 4, last - 1: all published, for they come before it */
	if (last < CTP_SHM_SLOTS || next <= st->next)
		return false;
	st->gap += next - st->next;
	st->next = next;
	return true;
}

/* A station in conflict: every slot for itself. Index and gap are best effort: they follow the numbers found there. */
static unsigned visit_slots(struct ctp_v1_station *st, const struct ctp_shm_station *shm, struct ctp_v1_station_seen *seen,
                            struct ctp_row *rows)
{
	unsigned n = 0;
	for (unsigned slot = 0; slot < CTP_SHM_SLOTS; slot++) {
		uint64_t s = seq_of(shm, slot), old = seen->seq[slot];
		bool complete = st->dialect == CTP_DIALECT_PLAIN ? s % CTP_SHM_SLOTS == slot : s % 2 == 0;
		if (s == old || !s || !complete)
			continue;
		copy(&rows[n], st, &shm->slots[slot], s, newest(st, slot, s));
		__atomic_thread_fence(__ATOMIC_ACQUIRE); /* pairs with an ordered writer's, as in keep_run */
		if (seq_of(shm, slot) != s)
			continue; /* it will show a new one */
		seen->seq[slot] = s;
		n++;
		uint64_t skipped = lap_of(st, slot, s) - lap_of(st, slot, old) - 1;
		if (s > old && skipped < INDEX_MAX)
			st->gap += skipped;
	}
	return n;
}

unsigned ctp_v1_station_visit(struct ctp_v1_station *st, const struct ctp_shm_station *shm, struct ctp_v1_station_seen *seen,
                              enum ctp_proof proof, struct ctp_row *rows)
{
	if (!(st->flags & CTP_STATION_KNOWN) && !learn(st, shm))
		return 0;
	bool due = false; /* it is known that the next event was published */
	for (unsigned lap = 0; !(st->flags & CTP_STATION_CONFLICT); lap++) {
		uint64_t s, want = ctp_v1_station_want(st, st->next);
		unsigned n = copy_run(st, shm, rows, &s);
		if (n) {
			bool again = false;
			if (lap == LAPS_MAX && proof == CTP_PROOF_LATER)
				proof = CTP_PROOF_NOW;
			n = keep_run(st, shm, seen, proof, rows, n, &again);
			if (n || lap == LAPS_MAX)
				return n;
			due = again;
		} else if (s < want) {
			bool marked = st->dialect == CTP_DIALECT_SEQLOCK && s == want - 1;
			if (!due && (marked || s == ctp_v1_station_idle(st, st->next)))
				return 0;
			set_conflict(st, seen);
		} else if (lap == LAPS_MAX) {
			return 0;
		} else if (skip_overrun(st, shm, lap, proof)) {
			due = true;
		} else {
			set_conflict(st, seen);
		}
	}
	return visit_slots(st, shm, seen, rows);
}

void ctp_v1_station_audit(struct ctp_v1_station *st, const struct ctp_shm_station *shm, struct ctp_v1_station_seen *seen)
{
	if ((st->flags & (CTP_STATION_KNOWN | CTP_STATION_CONFLICT)) != CTP_STATION_KNOWN)
		return;
	for (uint64_t i = st->next; i < st->next + CTP_SHM_SLOTS; i++) {
		unsigned slot = ctp_v1_station_slot(st, i);
		uint64_t s = seq_of(shm, slot);
		bool ahead = s && newest(st, slot, s) > st->next && !published(st, shm, st->next);
		if (ahead || s < ctp_v1_station_idle(st, i)) {
			set_conflict(st, seen);
			return;
		}
	}
}
