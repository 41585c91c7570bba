/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * shm-texts.h - names of coroutines and places in the source, as the target has left them in shared memory: texts that it may be
 * writing, and lengths that need not be true.
 */
#ifndef CTP_SHM_TEXTS_H
#define CTP_SHM_TEXTS_H

#include <stdint.h>

#include "collect/rows.h"
#include "shm/arena.h"

struct ctp_shm_texts {
	const struct ctp_arena *arena;
	struct ctp_rows *rows;
	uint8_t *written; /* sites that are in the stream */
};

enum ctp_status ctp_shm_texts_init(struct ctp_shm_texts *texts, const struct ctp_arena *arena, struct ctp_rows *rows,
                                   struct ctp_err *err);
void ctp_shm_texts_fini(struct ctp_shm_texts *texts);

enum { CTP_SHM_TEXT_MAX = sizeof(((struct ctp_shm_site *)0)->text) };

/* The function of a site, or what stands in its place. Returns its length; 0: there is none yet. */
uint32_t ctp_shm_texts_function(const struct ctp_shm_texts *texts, uint32_t site, char text[CTP_SHM_TEXT_MAX]);

/* Puts a record of the site in front of the first that refers to it. Returns its number, or 0 while the site is not ready. */
uint64_t ctp_shm_texts_site_new(struct ctp_shm_texts *texts, uint32_t site, uint64_t ts_ns);

static inline uint64_t ctp_shm_texts_site(struct ctp_shm_texts *texts, uint32_t site, uint64_t ts_ns)
{
	if (site - 1 < texts->arena->geo.max_sites && texts->written[site - 1])
		return site;
	return ctp_shm_texts_site_new(texts, site, ts_ns);
}

/*
 * The name that a station has now. Returns its length, 0: none, or it is just being written. *seq: the low bits of its
 * name_seq, which tell one name from another.
 */
uint32_t ctp_shm_texts_name(const struct ctp_shm_station *shm, char name[sizeof(((struct ctp_shm_station *)0)->name)],
                            uint16_t *seq);

#endif
