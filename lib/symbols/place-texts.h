/*
 * place-texts.h - what stands behind a field that refers to a place: to one in the source by its number, or to one in the code by
 * its address. Sinks that show texts use this; what the texts are is in sites.h and symbols.h.
 */
#ifndef CTP_PLACE_TEXTS_H
#define CTP_PLACE_TEXTS_H

#include "symbols/sites.h"
#include "symbols/symbols.h"

struct ctp_place_texts;

/* Takes symbols over, also where it fails; null: addresses have no text. Null: out of memory. */
struct ctp_place_texts *ctp_place_texts_new(ctp_sites_spell *spell, struct ctp_symbols *symbols);
void ctp_place_texts_free(struct ctp_place_texts *texts); /* null: nothing */
void ctp_place_texts_forget(struct ctp_place_texts *texts); /* a section begins */

/* Takes in a record of any kind: each in its turn, before its texts are asked for. Others behind it may refer to what it says. */
void ctp_place_texts_learn(struct ctp_place_texts *texts, const struct ctp_record *rec);

/* Whether the field of the class may have a text, as ctp_site_shown says, and there are texts of its kind. */
bool ctp_place_texts_shows(const struct ctp_place_texts *texts, const struct ctp_class *cls, uint32_t field);

/* The text of such a field of the record that was taken in last, spelled, without a NUL, until the next call. Null: not known. */
const struct ctp_sites_text *ctp_place_texts_find(struct ctp_place_texts *texts, const struct ctp_field *field, uint64_t v);

#endif
