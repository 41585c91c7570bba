/*
 * threads.c - a hash table of numbers; and when each thread was busy.
 *
 * Runs and gaps are told when they end, so a run that is nested in one was told before. The last spans are kept, to take their time
 * back then. Where there is no room, the two oldest spans become one, which has the sum.
 */
#include "analyse/threads.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"

bool ctp_threads_init(struct ctp_threads *t)
{
	*t = (struct ctp_threads){
		.list = calloc(CTP_THREADS_MAX, sizeof *t->list), .map = ctp_map_new(CTP_THREADS_MAX)};
	return t->list && t->map;
}

void ctp_threads_fini(struct ctp_threads *t)
{
	for (uint32_t i = 0; i < t->most; i++)
		free(t->list[i].spans);
	free(t->list);
	ctp_map_free(t->map);
}

/* Makes the entry another thread's, which keeps the room for spans. */
static void renew(struct ctp_thread *th, uint64_t tid) { *th = (struct ctp_thread){.tid = tid, .spans = th->spans}; }

void ctp_threads_clear(struct ctp_threads *t)
{
	if (t->count > 1)
		ctp_map_clear(t->map);
	memset(t->recent, 0, sizeof t->recent);
	renew(&t->list[0], 0);
	t->count = 1;
	t->most = t->most ? t->most : 1;
}

static bool is_thread(const void *list, uint32_t number, const void *tid)
{
	return ((const struct ctp_thread *)list)[number].tid == *(const uint64_t *)tid;
}

static uint32_t *slot_of(const struct ctp_threads *t, uint64_t tid) { return ctp_map_slot(t->map, tid, is_thread, t->list, &tid); }

bool ctp_threads_has(const struct ctp_threads *t, uint64_t tid) { return *slot_of(t, tid); }

uint32_t ctp_threads_add(struct ctp_threads *t, uint64_t tid)
{
	uint32_t *slot = slot_of(t, tid);
	if (!*slot) {
		if (!tid || t->count == CTP_THREADS_MAX)
			return 0;
		renew(&t->list[t->count], tid);
		*slot = t->count++;
		t->most = t->count > t->most ? t->count : t->most;
	}
	return t->recent[tid % CTP_THREADS_RECENT] = *slot;
}

/* --- runs and gaps -------------------------------------------------------------------------------------------------------- */

static struct ctp_thread_span *span_at(const struct ctp_thread *th, uint32_t n)
{
	return &th->spans[(th->first_span + n) % CTP_THREAD_SPANS];
}

static inline void put_span(struct ctp_thread *th, uint64_t from_ns, uint64_t to_ns)
{
	if (!th->spans && !(th->spans = calloc(CTP_THREAD_SPANS, sizeof *th->spans)))
		return;
	if (th->nspans == CTP_THREAD_SPANS) {
		struct ctp_thread_span *oldest = span_at(th, 0), *next = span_at(th, 1);
		next->from_ns = oldest->from_ns < next->from_ns ? oldest->from_ns : next->from_ns;
		next->done_ns += oldest->done_ns;
		th->first_span = (th->first_span + 1) % CTP_THREAD_SPANS;
		th->nspans--;
	}
	*span_at(th, th->nspans++) = (struct ctp_thread_span){from_ns, to_ns, to_ns - from_ns};
}

/*
 * The time behind from_ns that is accounted for. Spans behind from_ns are dropped; of a span that reaches across it, the part
 * behind is.
 */
static inline uint64_t take_spans(struct ctp_thread *th, uint64_t from_ns)
{
	uint64_t done_ns = 0;
	while (th->nspans) {
		struct ctp_thread_span *last = span_at(th, th->nspans - 1);
		if (last->to_ns <= from_ns)
			break;
		uint64_t behind_ns = last->from_ns < from_ns ? last->to_ns - from_ns : last->done_ns;
		behind_ns = behind_ns < last->done_ns ? behind_ns : last->done_ns;
		done_ns += behind_ns;
		if (last->from_ns < from_ns) {
			last->done_ns -= behind_ns;
			last->to_ns = from_ns;
			break;
		}
		th->nspans--;
	}
	return done_ns;
}

void ctp_thread_ran_into(struct ctp_thread *th, uint64_t from_ns, uint64_t to_ns)
{
	if (from_ns >= to_ns)
		return;
	uint64_t done_ns = take_spans(th, from_ns);
	th->busy_ns += to_ns - from_ns > done_ns ? to_ns - from_ns - done_ns : 0;
	put_span(th, from_ns, to_ns);
}

uint64_t ctp_thread_busy_ns(const struct ctp_thread *th, uint64_t from_ns)
{
	uint64_t ns = 0;
	for (uint32_t i = th->nspans; i--;) {
		const struct ctp_thread_span *span = span_at(th, i);
		if (span->to_ns <= from_ns)
			break;
		uint64_t behind_ns = span->to_ns - (span->from_ns > from_ns ? span->from_ns : from_ns);
		ns += behind_ns < span->done_ns ? behind_ns : span->done_ns;
	}
	return ns;
}

void ctp_thread_gap(struct ctp_thread *th, uint64_t from_ns, uint64_t to_ns)
{
	from_ns = from_ns > th->gap_ns ? from_ns : th->gap_ns;
	if (from_ns >= to_ns)
		return;
	th->busy_ns -= take_spans(th, from_ns); /* runs: the last gap ended before that */
	th->unknown_ns += to_ns - from_ns;
	th->gap_ns = to_ns;
	put_span(th, from_ns, to_ns);
}
