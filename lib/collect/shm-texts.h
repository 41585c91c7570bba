/*
 * shm-texts.h - names of coroutines and places in the source, as the target has left them in shared memory: texts that it may be
 * writing, and lengths that need not be true.
 */
#ifndef CTP_LABELS_H
#define CTP_LABELS_H

#include <stdint.h>

#include "collect/rows.h"
#include "shm/arena.h"

struct ctp_labels {
	const struct ctp_annex *annex;
	struct ctp_basket *basket;
	uint8_t *written; /* sites that are in the stream */
};

enum ctp_status ctp_labels_init(struct ctp_labels *l, const struct ctp_annex *annex, struct ctp_basket *basket,
                                struct ctp_err *err);
void ctp_labels_fini(struct ctp_labels *l);

/* Puts a record of the site in front of the first that refers to it. Returns its number, or 0 while it is not to be had. */
uint64_t ctp_labels_site_new(struct ctp_labels *l, uint32_t site, uint64_t ts_ns);

static inline uint64_t ctp_labels_site(struct ctp_labels *l, uint32_t site, uint64_t ts_ns)
{
	if (site - 1 < l->annex->geo.max_sites && l->written[site - 1])
		return site;
	return ctp_labels_site_new(l, site, ts_ns);
}

/*
 * The name that a station has now. Returns its length, 0: none, or it is just being written. *seq: the low bits of its
 * name_seq, which tell one name from another.
 */
uint32_t ctp_labels_name(const struct ctp_shm_station *shm, char name[sizeof(((struct ctp_shm_station *)0)->name)],
                         uint16_t *seq);

#endif
