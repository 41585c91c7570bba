/*
 * ring-gaps.c - the queue of ring-gaps.h.
 */
#include "collect/ring-gaps.h"

#include <stdlib.h>

enum ctp_status ctp_holes_init(struct ctp_holes *h, struct ctp_err *err)
{
	*h = (struct ctp_holes){.holes = malloc(CTP_HOLES_MAX * sizeof(*h->holes)), .oldest = 1, .next = 1};
	return h->holes ? CTP_OK : ctp_err_set(err, "out of memory");
}

void ctp_holes_fini(struct ctp_holes *h) { free(h->holes); }

void ctp_holes_add(struct ctp_holes *h, const struct ctp_hole *hole, uint32_t *newest)
{
	struct ctp_hole *at = &h->holes[h->next % CTP_HOLES_MAX];
	*at = *hole;
	at->older = *newest;
	*newest = h->next++;
}

/* By its name, if it is still there and this station's. */
static struct ctp_hole *named(const struct ctp_holes *h, uint32_t station, uint32_t name)
{
	struct ctp_hole *hole = &h->holes[name % CTP_HOLES_MAX];
	return name - h->oldest < h->next - h->oldest && hole->station == station ? hole : NULL;
}

bool ctp_holes_any(const struct ctp_holes *h, uint32_t station, uint32_t newest)
{
	return named(h, station, newest);
}

struct ctp_hole *ctp_holes_find(const struct ctp_holes *h, uint32_t station, uint32_t newest, uint64_t number)
{
	struct ctp_hole *hole = named(h, station, newest);
	while (hole && !(number >= hole->from && number < hole->to))
		hole = named(h, station, hole->older);
	return hole;
}

void ctp_holes_fill(struct ctp_holes *h, struct ctp_hole *hole, uint64_t number, uint64_t ts_ns, uint32_t *newest)
{
	if (number == hole->from) {
		hole->from++;
		hole->after_ns = ts_ns;
	} else if (number == hole->to - 1) {
		hole->to--;
		hole->ts_ns = ts_ns;
	} else {
		struct ctp_hole rest = *hole;
		rest.from = number + 1;
		rest.after_ns = ts_ns;
		hole->to = number;
		hole->ts_ns = ts_ns;
		ctp_holes_add(h, &rest, newest);
	}
}
