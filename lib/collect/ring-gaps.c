/*
 * ring-gaps.c - the queue of ring-gaps.h.
 */
#include "collect/ring-gaps.h"

#include <assert.h>

#include "base/pages.h"

enum ctp_status ctp_ring_gaps_init(struct ctp_ring_gaps *h, struct ctp_err *err)
{
	*h = (struct ctp_ring_gaps){.gaps = ctp_pages_new(CTP_RING_GAPS_MAX * sizeof *h->gaps), .oldest = 1, .next = 1};
	return h->gaps ? CTP_OK : ctp_err_set(err, "out of memory");
}

void ctp_ring_gaps_fini(struct ctp_ring_gaps *h) { ctp_pages_free(h->gaps, CTP_RING_GAPS_MAX * sizeof *h->gaps); }

void ctp_ring_gaps_add(struct ctp_ring_gaps *h, const struct ctp_ring_gap *hole, uint32_t *newest)
{
	struct ctp_ring_gap *at = &h->gaps[h->next % CTP_RING_GAPS_MAX];
	assert(ctp_ring_gaps_count(h) < CTP_RING_GAPS_MAX);
	*at = *hole;
	at->older = *newest;
	*newest = h->next++;
}

/* By its name, if it is still there and this station's. */
static struct ctp_ring_gap *named(const struct ctp_ring_gaps *h, uint32_t station, uint32_t name)
{
	struct ctp_ring_gap *hole = &h->gaps[name % CTP_RING_GAPS_MAX];
	return name - h->oldest < h->next - h->oldest && hole->station == station ? hole : NULL;
}

bool ctp_ring_gaps_any(const struct ctp_ring_gaps *h, uint32_t station, uint32_t newest)
{
	return named(h, station, newest);
}

struct ctp_ring_gap *ctp_ring_gaps_find(const struct ctp_ring_gaps *h, uint32_t station, uint32_t newest, uint64_t number)
{
	struct ctp_ring_gap *hole = named(h, station, newest);
	while (hole && !(number >= hole->from && number < hole->to))
		hole = named(h, station, hole->older);
	return hole;
}

void ctp_ring_gaps_fill(struct ctp_ring_gaps *h, struct ctp_ring_gap *hole, uint64_t number, uint64_t ts_ns, uint32_t *newest)
{
	assert(number >= hole->from && number < hole->to);
	if (number == hole->from) {
		hole->from++;
		hole->after_ns = ts_ns;
	} else if (number == hole->to - 1) {
		hole->to--;
		hole->ts_ns = ts_ns;
	} else {
		struct ctp_ring_gap rest = *hole;
		rest.from = number + 1;
		rest.after_ns = ts_ns;
		hole->to = number;
		hole->ts_ns = ts_ns;
		ctp_ring_gaps_add(h, &rest, newest);
	}
}
