/*
 * place-texts.h - what stands behind a field that refers to a place: to one in the source by its number, or to one in the code by
 * its address. Sinks that show texts use this; what the texts are is in sites.h and symbols.h.
 */
#ifndef CTP_PLACETEXTS_H
#define CTP_PLACETEXTS_H

#include "symbols/sites.h"
#include "symbols/symbols.h"

struct ctp_placetexts;

/* Takes symbols over; null: addresses have no text. Null: out of memory. */
struct ctp_placetexts *ctp_placetexts_new(ctp_sites_spell *spell, struct ctp_symbols *symbols);
void ctp_placetexts_free(struct ctp_placetexts *texts);
void ctp_placetexts_forget(struct ctp_placetexts *texts); /* a section begins */

/* Before the texts of a record are asked for: takes it in, whatever it is. */
void ctp_placetexts_learn(struct ctp_placetexts *texts, const struct ctp_record *rec);

/* Whether the field of the class may have a text, as ctp_site_shown says, and there are texts of its kind. */
bool ctp_placetexts_shows(const struct ctp_placetexts *texts, const struct ctp_class *cls, uint32_t field);

/* The text of such a field with this value, spelled, until the next call. Null: not known. */
const struct ctp_sites_text *ctp_placetexts_find(struct ctp_placetexts *texts, const struct ctp_field *field, uint64_t v);

#endif
