/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * place-texts.h - the text of a field that refers to a place: to one in the source by its number (sites.h), or to one in the code by
 * its address (symbols.h). For sinks that show texts.
 */
#ifndef CTP_PLACE_TEXTS_H
#define CTP_PLACE_TEXTS_H

#include "base/linkage.h"
#include "symbols/sites.h"
#include "symbols/symbols.h"

CTP_C_BEGIN

struct ctp_place_texts;

/* Owns symbols from here on, even if the call fails; symbols may be null: addresses then have no text. Null: out of memory. */
struct ctp_place_texts *ctp_place_texts_new(ctp_sites_spell *spell, struct ctp_symbols *symbols);
void ctp_place_texts_free(struct ctp_place_texts *texts); /* null: nothing */
void ctp_place_texts_forget(struct ctp_place_texts *texts); /* a section begins */

/* Is called with each record, of any kind, in order and before its texts are asked for. */
void ctp_place_texts_learn(struct ctp_place_texts *texts, const struct ctp_record *rec);

/* Whether the field of the class may have a text: ctp_site_shown, and for an address, that there are symbols. */
bool ctp_place_texts_shows(const struct ctp_place_texts *texts, const struct ctp_class *cls, uint32_t field);

/* The spelled text of such a field of the last record, without a NUL, good until the next call. Null: not known. */
const struct ctp_sites_text *ctp_place_texts_find(struct ctp_place_texts *texts, const struct ctp_field *field, uint64_t v);

CTP_C_END

#endif
