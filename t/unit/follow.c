/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* follow: states of coroutines from records. Each change is reported once, spans next to losses are marked, nothing is invented. */
#include "analyse/threads.h"
#include "followed.h"

static enum ctp_state state_of(uint64_t co) { return ctp_follow_find(&f, co)->state; }

/* --- lives ---------------------------------------------------------------------------------------------------------------- */

static void a_life(void)
{
	static const char *const attrs[] = {"pid", "100", NULL};
	begin(attrs);
	is_born(&h, 100, 1, 7);
	resumes(&h, 110, 1, 5);
	suspends(&h, 130, 1, 5, 8);
	is_woken(&h, 160, 1, 6, 2);
	is_woken(&h, 165, 1, 6, 2);
	resumes(&h, 200, 1, 6);
	const struct ctp_coroutine *co = ctp_follow_find(&f, 1);
	is_u64(co->run_ns, 20, "its running time is known");
	is_u64(co->wait_ns, 30, "it waits until it is woken");
	is_u64(co->ready_ns, 40, "from then on it is ready");
	is_u64(co->migrations, 1, "it moves to another thread once");
	dies(&h, 250, 1);
	is(so_far(), "B1 R1 S1 W1 R1 D1", "each change is reported once, and a second wake is no change");
	is_u64(co->run_ns + co->wait_ns + co->ready_ns + 10, 150, "the times add up to its life");
	is_u64(f.threads->list[1].busy_ns, 20, "its first thread was busy while it ran");
	is_u64(f.threads->list[2].busy_ns, 50, "its second thread was busy until its death");
	resumes(&h, 260, 1, 5);
	suspends(&h, 270, 1, 5, 8);
	dies(&h, 280, 1);
	is_woken(&h, 290, 1, 5, 0);
	is(so_far(), "B1 R1 S1 W1 R1 D1 X1", "a resume after death is reported, and nothing after it");
	is(idle, "W1 R1 S1 W1", "events that change nothing are reported as such");
	end();
}

/* A death that was found by polling lies between two times. */
static void death_observed(void)
{
	begin(NULL);
	is_born(&h, 100, 1, 0);
	resumes(&h, 110, 1, 5);
	BYHAND(&h, CTP_DEATH, [CTP_DEATH_TS] = 200, [CTP_DEATH_CORO] = 1, [CTP_DEATH_AFTER] = 150, [CTP_DEATH_BEFORE] = 200);
	is_u64(ctp_follow_find(&f, 1)->run_ns, 0, "a coroutine whose death was found by polling has no known running time");
	end();
}

static void death_while_suspended(void)
{
	begin(NULL);
	is_born(&h, 100, 1, 0);
	suspends(&h, 110, 1, 5, 8);
	dies(&h, 200, 1);
	is_u64(ctp_follow_find(&f, 1)->wait_ns, 90, "a coroutine that is destroyed while it waits has waited until then");
	h.late = true;
	transition(&h, 150, 1, 5, 0, true);
	is(so_far(), "B1 S1 D1", "an earlier event that arrives after the death is no use after death");
	end();
}

/* What the C++ probe writes by itself, without a call of ctp::wake. */
static void stays(void)
{
	begin(NULL);
	is_born(&h, 100, 1, 0);
	resumes(&h, 110, 1, 5);
	suspends(&h, 120, 1, 5, 8);
	is_woken_so(&h, 121, 1, 5, 1, CTP_WAKE_STAYED);
	ok(f.counts.wakes == 1 && !ctp_follow_has_wakes(&f.counts), "a coroutine that did not suspend counts as not woken");
	is_woken_so(&h, 122, 1, 5, 1, CTP_WAKE_CALL);
	ok(ctp_follow_has_wakes(&f.counts), "a coroutine woken by a call counts as woken");
	end();
}

static void wakes(void)
{
	begin(NULL);
	is_born(&h, 1, 1, 0);
	resumes(&h, 10, 1, 5);
	is_woken(&h, 15, 1, 5, 0);
	suspends(&h, 20, 1, 5, 8);
	is_u64(state_of(1), CTP_RUNNABLE, "a coroutine woken while it ran is ready when it suspends");
	resumes(&h, 30, 1, 5);
	suspends(&h, 40, 1, 5, 8);
	is_u64(state_of(1), CTP_SUSPENDED, "a pending wake is used once");
	h.late = true;
	is_woken(&h, 25, 1, 6, 0);
	is_u64(state_of(1), CTP_SUSPENDED, "a late wake for an earlier suspension does not end this one");
	is_woken(&h, 35, 1, 6, 0);
	is_u64(state_of(1), CTP_RUNNABLE, "a late wake of the run before it does");
	is_u64(ctp_follow_find(&f, 1)->since_ns, 40, "it is ready since it suspended");
	is_u64(f.counts.wakes, 3, "all wakes are counted");
	end();

	begin(NULL);
	is_born(&h, 1, 1, 0);
	suspends(&h, 5, 1, 5, 8);
	resumes(&h, 10, 1, 5);
	is_woken(&h, 1010, 1, 6, 0);
	suspends(&h, 2000, 1, 5, 8);
	is_u64(state_of(1), CTP_SUSPENDED, "a wake from another thread right after a resume is the cause of that resume");
	is_woken(&h, 2010, 1, 6, 0);
	resumes(&h, 2020, 1, 5);
	is_woken(&h, 2030, 1, 6, 0);
	suspends(&h, 2100, 1, 5, 8);
	is_u64(state_of(1), CTP_RUNNABLE, "it is not if the coroutine was woken before");
	resumes(&h, 3000, 1, 5);
	suspends(&h, 3100, 1, 5, 8);
	resumes(&h, 3200, 1, 5);
	is_woken(&h, 4201, 1, 6, 0);
	suspends(&h, 5000, 1, 5, 8);
	is_u64(state_of(1), CTP_RUNNABLE, "it is not if it comes much later");
	end();

	begin(NULL);
	is_born(&h, 1, 1, 0);
	resumes(&h, 10, 1, 5);
	suspends(&h, 20, 1, 5, 8);
	is_woken(&h, 20, 1, 5, 0);
	is_u64(ctp_follow_find(&f, 1)->waker, 0, "the waker is unknown, also on the thread that the coroutine has just left");
	resumes(&h, 20, 1, 5);
	is(so_far(), "B1 R1 S1 W1 R1", "events of equal times are taken in the order of arrival");
	end();
}

/* --- what is missing ------------------------------------------------------------------------------------------------------ */

static void gaps(void)
{
	begin(NULL);
	is_born(&h, 1, 1, 0);
	resumes(&h, 10, 1, 5);
	h.next[1] += 3;
	suspends(&h, 50, 1, 5, 8);
	is(so_far(), "B1 R1 L1 S1!", "a gap in the numbers makes a span that is not whole");
	is_u64(ctp_follow_find(&f, 1)->run_ns, 0, "such a span counts as no time");
	resumes(&h, 60, 1, 5);
	is_u64(ctp_follow_find(&f, 1)->wait_ns, 10, "the span after the gap counts");
	h.next[1] = 2;
	suspends(&h, 70, 1, 5, 8);
	is(so_far(), "B1 R1 L1 S1! R1", "an event with a lower number than the last one is ignored");
	end();

	begin(NULL);
	is_born(&h, 1, 1, 0);
	resumes(&h, 10, 1, 5);
	are_lost(&h, 10, 40, 1, 2);
	ok(ctp_follow_find(&f, 1)->flags & CTP_CO_TAIL, "if events are lost after its last one, a coroutine's state is unknown");
	suspends(&h, 50, 1, 5, 8);
	ok(!(ctp_follow_find(&f, 1)->flags & CTP_CO_TAIL), "the next event ends that");
	is(so_far(), "B1 R1 L1 S1!", "the span before it is not whole");
	h.next[1] = 1;
	are_lost(&h, 10, 40, 1, 2);
	ok(!(ctp_follow_find(&f, 1)->flags & CTP_CO_TAIL), "a loss reported after that event changes nothing");
	is_u64(f.counts.lost, 4, "such a loss is counted");
	BYHAND(&h, CTP_LOST, [CTP_LOST_TS] = 60, [CTP_LOST_CORO] = 1, [CTP_LOST_INDEX] = 9, [CTP_LOST_COUNT] = UINT64_MAX);
	ok(ctp_follow_find(&f, 1)->flags & CTP_CO_TAIL && f.counts.lost == UINT64_MAX, "the count of losses does not wrap");
	are_lost(&h, 10, 70, 0, 1);
	is_u64(f.unsure_ns, 70, "a loss of unknown coroutines affects all of them");
	are_missed(&h, 10, 80, 5);
	is_u64(f.missed_ns, 80, "the time of missing wakes is known");
	end();

	begin(NULL);
	h.next[1] = 5;
	is_born(&h, 1, 1, 0);
	resumes(&h, 10, 1, 5);
	is(so_far(), "B1 L1 R1!", "a coroutine whose first events are lost begins with a span that is not whole");
	end();

	begin(NULL);
	is_born(&h, 1, 1, 0);
	BYHAND(&h, CTP_CONFLICT, [CTP_CONFLICT_TS] = 2, [CTP_CONFLICT_CORO] = 1);
	resumes(&h, 10, 1, 5);
	resumes(&h, 11, 1, 6);
	is(so_far(), "B1 R1! R1!", "if two write to one station, nothing is whole and no double resume is reported");
	end();
}

static uint64_t times_of(uint64_t co)
{
	const struct ctp_coroutine *c = ctp_follow_find(&f, co);
	return c->run_ns * 1000000 + c->ready_ns * 10000 + c->wait_ns * 100 + c->unknown_ns;
}

/* A gap is known only at its end, so wakes inside it arrive before it. */
static void wakes_in_gaps(bool told_first)
{
	begin(NULL);
	is_born(&h, 1, 1, 0);
	resumes(&h, 10, 1, 5);
	suspends(&h, 12, 1, 5, 8);
	is_woken(&h, 15, 1, 6, 3);
	is_u64(times_of(1), 2000000, "a wake ends a wait only once it is known that no event is missing");
	if (told_first)
		are_lost(&h, 12, 22, 1, 2);
	else
		h.next[1] += 2;
	resumes(&h, 22, 1, 5);
	is_u64(times_of(1), 2000010, "a gap reaches from the last transition to the next");
	ok(!ctp_follow_find(&f, 1)->waker && !ctp_follow_find(&f, 1)->before, "a wake inside a gap names no waker");
	is_woken(&h, 23, 1, 6, 3);
	if (told_first)
		are_lost(&h, 22, 30, 1, 1);
	else
		h.next[1] += 1;
	suspends(&h, 30, 1, 5, 8);
	is_u64(state_of(1), CTP_SUSPENDED, "a wake in a gap is not pending after the gap");
	is_woken(&h, 33, 1, 6, 3);
	resumes(&h, 38, 1, 5);
	is_u64(times_of(1), 2050318, "after a gap all times count again");
	is_u64(f.counts.gaps, 2, "gaps are counted");
	end();
}

static void gaps_at_the_ends(void)
{
	begin(NULL);
	are_lost(&h, 10, 30, 1, 4);
	resumes(&h, 30, 1, 5);
	is_u64(times_of(1), 20, "a gap may be the first that is known of a coroutine");
	are_lost(&h, 30, 35, 1, 1);
	is_woken(&h, 37, 1, 6, 3);
	is_u64(state_of(1), CTP_RUNNING, "a wake in a known gap changes nothing");
	are_lost(&h, 35, 36, 1, 1);
	dies(&h, 40, 1);
	is_u64(times_of(1), 30, "a gap at the end reaches to the death, and each moment counts once");
	is_born(&h, 50, 2, 0);
	resumes(&h, 60, 2, 5);
	are_lost(&h, 60, 70, 2, 1);
	ctp_follow_account(&f, ctp_follow_find(&f, 2), 80);
	is_u64(times_of(2), 20, "a gap at the end reaches to the end of the trace");
	are_lost(&h, 1, 90, 0, 7);
	is_u64(f.counts.lost_apart, 7, "losses of unknown coroutines are counted separately");
	end();

	begin(NULL);
	is_born(&h, 1, 1, 0);
	resumes(&h, 10, 1, 5);
	h.next[1] += 2;
	are_lost(&h, 30, 40, 1, 1);
	is_u64(times_of(1), 0, "a loss does not begin where the event before it is missing, too");
	suspends(&h, 50, 1, 5, 8);
	is_u64(times_of(1), 40, "the gap begins at the last event that is there");
	end();

	begin(NULL);
	f.since_ns = 15;
	f.until_ns = 35;
	is_born(&h, 1, 1, 0);
	resumes(&h, 10, 1, 5);
	suspends(&h, 20, 1, 5, 8);
	are_lost(&h, 20, 30, 1, 2);
	resumes(&h, 30, 1, 5);
	suspends(&h, 40, 1, 5, 8);
	is_u64(times_of(1), 10000010, "only the requested range of times counts");
	is_u64(f.threads->list[1].busy_ns, 10, "the range holds for threads too");
	end();
}

static uint32_t place_of(uint64_t co) { return ctp_follow_place(&f, ctp_follow_find(&f, co)); }

/* A coroutine that is resumed after a gap may have suspended anywhere. */
static void place_after_gap(void)
{
	begin(NULL);
	is_born(&h, 1, 1, 0);
	resumes(&h, 10, 1, 5);
	suspends(&h, 20, 1, 5, 8);
	uint32_t place = place_of(1);
	ok(place, "a suspension has a place");
	h.next[1] += 2;
	resumes(&h, 30, 1, 5);
	is_u64(place_of(1), 0, "after a gap, the place of the last suspension is not known");
	suspends(&h, 40, 1, 5, 8);
	is_u64(place_of(1), place, "the next suspension is known, at the same place too");
	resumes(&h, 50, 1, 5);
	is_u64(place_of(1), place, "a resume with nothing missing keeps the place");
	h.next[1]++;
	resumes(&h, 60, 1, 5);
	is_u64(place_of(1), 0, "a gap between two resumes leaves no place either");
	end();
}

static void thread_gaps(void)
{
	begin(NULL);
	is_born(&h, 1, 1, 0);
	resumes(&h, 10, 1, 5);
	ring_lost(&h, 12, 17, 5, 3);
	suspends(&h, 20, 1, 5, 8);
	is_u64(f.threads->list[1].busy_ns, 5, "a thread is not busy in a gap of its ring");
	ring_lost(&h, 22, 30, 5, 1);
	ring_lost(&h, 25, 32, 5, 1);
	is_u64(f.threads->list[1].unknown_ns, 5 + 10, "each moment of a thread's gaps counts once");
	ring_lost(&h, 40, 50, 0, 1);
	ring_lost(&h, 50, 40, 5, 1);
	ring_lost(&h, 50, 60, 6, UINT64_MAX);
	ok(f.counts.ring_lost == UINT64_MAX && f.threads->list[1].unknown_ns == 15,
	   "gaps with nonsense or unknown threads do no harm");
	is_u64(f.threads->list[2].unknown_ns, 10, "a thread may be known only by its gap");
	ok(f.counts.lost == 0 && !f.missed_ns && f.counts.missed == 0, "a ring's losses are not counted a second time");
	end();
}

static void clock_goes_back(void)
{
	begin(NULL);
	is_born(&h, 1, 1, 0);
	resumes(&h, 10, 1, 5);
	h.next[1] = 2;
	resumes(&h, 20, 1, 6); /* the suspension between has a later time, from another processor's clock */
	h.next[1] = 1;
	suspends(&h, 21, 1, 5, 8);
	is_u64(state_of(1), CTP_RUNNING, "event numbers decide, not times");
	is(so_far(), "B1 R1 L1 R1!", "a resume after a gap is no double resume");
	is(idle, "S1", "what is overtaken changes nothing");
	h.next[1] = 3;
	suspends(&h, 15, 1, 6, 8);
	is_u64(ctp_follow_find(&f, 1)->run_ns, 0, "a run that ends before it begins took no time");
	end();
}

static void thread_seen_last(void)
{
	begin(NULL);
	is_born(&h, 1, 1, 0);
	is_born(&h, 1, 2, 0);
	resumes(&h, 10, 1, 5);
	suspends(&h, 90, 1, 5, 8);
	h.late = true;
	resumes(&h, 20, 2, 5);
	is_u64(f.threads->list[1].last_ns, 90, "a thread was seen last at its latest event, not at the one that was read last");
	dies(&h, 30, 2);
	is_u64(f.threads->list[1].last_ns, 90, "a late death does not change that");
	end();
}

static void attached(void)
{
	static const char *const attrs[] = {"pid", "100", "attached", "yes", "start_ns", "1000", NULL};
	begin(attrs);
	is_born(&h, 10, 1, 0);
	is_born(&h, 1100, 2, 0);
	BYHAND(&h, CTP_BIRTH, [CTP_BIRTH_TS] = 1200, [CTP_BIRTH_CORO] = 3, [CTP_BIRTH_BEFORE] = 1200);
	ok(ctp_follow_find(&f, 1)->flags & CTP_CO_BEFORE && ctp_follow_find(&f, 3)->flags & CTP_CO_BEFORE,
	   "a coroutine older than the trace is marked as that");
	ok(!(ctp_follow_find(&f, 2)->flags & CTP_CO_BEFORE), "a coroutine that the trace saw spawned is not");
	is_u64(f.missed_ns, 1000, "wakes before the trace count as missing");
	end();
}

static void whom_they_await(void)
{
	begin(NULL);
	is_born(&h, 1, 1, 0);
	is_born(&h, 1, 2, 0);
	awaits(&h, 5, 1, 9);
	is_u64(ctp_follow_find(&f, 1)->awaits, 0, "an await of a coroutine that was never seen has no target");
	awaits(&h, 6, 1, 2);
	suspends(&h, 7, 1, 5, 8);
	is_u64(ctp_follow_find(&f, 1)->awaits, 2, "an await of a known coroutine has its target");
	resumes(&h, 8, 1, 5);
	is_u64(ctp_follow_find(&f, 1)->awaits, 0, "a resume ends the await");
	end();
}

/* --- odd ones ------------------------------------------------------------------------------------------------------------- */

static void odd_classes(void)
{
	static const struct ctp_field fields[] = {
		{.name = "who", .type = CTP_F64, .role = CTP_ROLE_COROUTINE},
		{.name = "tid", .type = CTP_STRING, .role = CTP_ROLE_THREAD},
		{.name = "index", .type = CTP_BYTES, .role = CTP_ROLE_SEQUENCE},
		{.name = "p", .type = CTP_I8, .role = CTP_ROLE_PROBE},
	};
	struct ctp_err err;
	begin(NULL);
	struct ctp_str *text = calloc(1, sizeof(*text) + 1);
	for (unsigned kind = 0; kind < CTP_KIND_COUNT && text; kind++) {
		struct ctp_class *cls = ctp_class_new("odd", (enum ctp_kind)kind, fields, 4, &err);
		uint64_t val[] = {1, ctp_val_str(text), ctp_val_str(text), (uint64_t)-3};
		if (!cls)
			abort();
		cls->id = CTP_EVENT_COUNT + kind;
		give(&f, &(struct ctp_batch){.rec = &(struct ctp_record){.cls = cls, .val = val}, .n = 1});
		ctp_class_free(cls);
	}
	free(text);
	const struct ctp_coroutine *co = ctp_follow_find(&f, (uint64_t)-3);
	ok(co && co->state == CTP_DEAD && co->thread == 0,
	   "a float is no coroutine, a text no thread; a number below 0 is one");
	end();
}

static void names_and_threads(void)
{
	static char big[1 << 20];
	begin(NULL);
	memset(big, 'x', sizeof(big));
	is_born(&h, 1, 1, 0);
	is_named(&h, 2, 1, "", 0);
	ok(!ctp_follow_find(&f, 1)->name, "an empty name is none");
	is_named(&h, 3, 1, big, sizeof(big));
	is_u64(strlen(ctp_follow_find(&f, 1)->name), CTP_FOLLOW_NAME_MAX, "a long name is cut");
	for (uint64_t tid = 1; tid < CTP_THREADS_MAX + 100; tid++)
		transition(&h, tid, 1, tid, 0, tid % 2);
	is_u64(f.threads->count, CTP_THREADS_MAX, "the number of threads is limited");
	is_u64(ctp_follow_find(&f, 1)->thread, 0, "a coroutine on a thread beyond the limit has no thread");
	transition(&h, 1 << 20, 1, 17, 0, true);
	is_u64(f.threads->list[ctp_follow_find(&f, 1)->thread].tid, 17, "threads within the limit are kept");
	end();
}

/* Many coroutines at random: the reported times add up to lives, and each state follows from the one before. */
static void at_random(void)
{
	enum { COROS = 50, STEPS = 20000 };
	uint64_t state[COROS + 1], born[COROS + 1] = {0}, seed = 7, bad = 0;
	static const char *const attrs[] = {"pid", "100", NULL};
	begin(attrs);
	for (uint64_t co = 1; co <= COROS; co++) {
		is_born(&h, co, co, 1 + co % 3);
		state[co] = CTP_BORN;
		born[co] = co;
	}
	for (uint64_t ts = 100; ts < 100 + STEPS; ts++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		uint64_t co = 1 + (seed >> 33) % COROS, tid = 1 + co % 4;
		if (state[co] == CTP_RUNNING)
			suspends(&h, ts, co, tid, 1 + (seed >> 40) % 5), state[co] = CTP_SUSPENDED;
		else if (state[co] == CTP_SUSPENDED && seed >> 63)
			is_woken(&h, ts, co, tid, 1 + (seed >> 50) % COROS), state[co] = CTP_RUNNABLE;
		else
			resumes(&h, ts, co, tid), state[co] = CTP_RUNNING;
		bad += state_of(co) != state[co];
	}
	for (uint64_t co = 1; co <= COROS; co++) {
		dies(&h, 100 + STEPS, co);
		const struct ctp_coroutine *c = ctp_follow_find(&f, co);
		const uint64_t *spans = spans_ns[co];
		uint64_t life_ns = spans[CTP_BORN] + spans[CTP_RUNNING] + spans[CTP_RUNNABLE] + spans[CTP_SUSPENDED];
		bad += life_ns != 100 + STEPS - born[co];
		bad += c->run_ns != spans[CTP_RUNNING] || c->ready_ns != spans[CTP_RUNNABLE];
		bad += c->wait_ns != spans[CTP_SUSPENDED];
	}
	is_u64(bad, 0, "each of 50 coroutines has the right states, and its spans add up to its life");
	end();
}

int main(void)
{
	a_life();
	death_observed();
	death_while_suspended();
	stays();
	wakes();
	gaps();
	wakes_in_gaps(false);
	wakes_in_gaps(true);
	gaps_at_the_ends();
	place_after_gap();
	thread_gaps();
	clock_goes_back();
	thread_seen_last();
	attached();
	whom_they_await();
	odd_classes();
	names_and_threads();
	at_random();
	return done_testing();
}
