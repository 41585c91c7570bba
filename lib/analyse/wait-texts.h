/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * wait-texts.h - what a coroutine waits for, in words: "an item of jobs or a timer". Findings, pages and timelines share these.
 */
#ifndef CTP_WAIT_TEXTS_H
#define CTP_WAIT_TEXTS_H

#include "analyse/follow.h"
#include "analyse/objects.h"

enum { CTP_WAIT_TEXT_MAX = CTP_REASONS_MAX * (CTP_SITE_TEXT_MAX + 64) };

/* "lock", of enum ctp_waits_for; of any other number "object". */
const char *ctp_wait_kind(unsigned what);

/*
 * An object by its name, or else by the place where it was made or by its address: "jobs", "the queue made at pool.c:12:make",
 * "the lock at 0x7f00". quote is around the name. ob null: nothing is known of it but what and at.
 */
const char *ctp_wait_object(struct ctp_follow *f, const struct ctp_object *ob, unsigned what, uint64_t at, const char *quote,
                            char *text, size_t size);

/* What a suspended coroutine waits for; "": not known. */
const char *ctp_wait_text(struct ctp_follow *f, const struct ctp_coroutine *co, char text[CTP_WAIT_TEXT_MAX]);

/* The coroutine that holds what another one waits for; 0: none, or not known. */
uint64_t ctp_wait_holder(const struct ctp_follow *f, const struct ctp_coroutine *co);

/* The reasons of the last suspension of a coroutine; null: it has none. */
static inline const struct ctp_reasons *ctp_wait_reasons_of(const struct ctp_follow *f, const struct ctp_coroutine *co)
{
	return co->next && f->objects->nreasons ? ctp_objects_reasons(f->objects, co->id, co->next - 1) : NULL;
}

#endif
