/*
 * ppt-plain.h - which files have no ppt buffers: what many processes have mapped is looked at once.
 */
#ifndef CTP_PPT_PLAIN_H
#define CTP_PPT_PLAIN_H

#include <stdbool.h>

#include "collect/proc-maps.h"

struct ctp_ppt_plain;

struct ctp_ppt_plain *ctp_ppt_plain_new(void); /* null: out of memory */
void ctp_ppt_plain_free(struct ctp_ppt_plain *p);

/* A file is known by its number and its path; p may be null. */
bool ctp_ppt_plain_has(const struct ctp_ppt_plain *p, const struct ctp_map *map);
void ctp_ppt_plain_add(struct ctp_ppt_plain *p, const struct ctp_map *map);

#endif
