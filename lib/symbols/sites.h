/*
 * sites.h - what the numbers of places in the source stand for, as text: "server.cpp:212:handle".
 *
 * Records of CTP_KIND_SITE are taken in as they pass; what comes behind them can be shown with the text. A number that is told
 * of again means what was said last, and a section begins with none. A text leaves out what is not known: line 0, an empty
 * function.
 *
 * Memory is bounded: CTP_SITES_MAX numbers, whose texts have CTP_SITES_BYTES together and CTP_SITE_TEXT_MAX each. What is
 * beyond that has no text; the number is there all the same.
 */
#ifndef CTP_SITES_H
#define CTP_SITES_H

#include "stream/record.h"

enum {
	CTP_SITES_MAX = 1 << 16,
	CTP_SITES_BYTES = 16 << 20,
	CTP_SITE_TEXT_MAX = 1000,
	CTP_SITE_SPELLED_MAX = 6 * CTP_SITE_TEXT_MAX + 8, /* as a sink spells it */
};

/* Of a field that refers to a place: the text is shown behind it, under the field's name with this behind. */
#define CTP_SITE_SUFFIX "_text"

struct ctp_sites_text {
	uint64_t id; /* 0: there is none, and so in a table it is free */
	const char *data;
	uint32_t len;
};

/*
 * Writes a text as the format has it, at most CTP_SITE_SPELLED_MAX bytes, and returns the end. It is called once for each text; a
 * text has any bytes.
 */
typedef char *ctp_sites_spell(char *to, const char *text, size_t len);

struct ctp_sites;
struct ctp_symbols;
struct ctp_sites *ctp_sites_new(ctp_sites_spell *spell); /* null: out of memory */
void ctp_sites_free(struct ctp_sites *sites);           /* null: nothing */
void ctp_sites_forget(struct ctp_sites *sites); /* a section begins */

/*
 * From now on lines that a record leaves to debug information are looked for there, when a text is first asked for: by then the
 * mappings are known. It outlives the sites.
 */
void ctp_sites_use(struct ctp_sites *sites, struct ctp_symbols *symbols);

/* Takes in a record, which must be of CTP_KIND_SITE; it is copied. */
void ctp_sites_learn(struct ctp_sites *sites, const struct ctp_record *rec);

/* The text as it was spelled, without a NUL, until the next record is taken in or the sites are forgotten. Null: not known. */
const struct ctp_sites_text *ctp_sites_find(struct ctp_sites *sites, uint64_t id);

/*
 * Whether the class's field may have a text behind it: it refers to a place, by the number of a site or by an address (but not
 * of a mapping, which has its path), and no field is called as the text would be.
 */
bool ctp_site_shown(const struct ctp_class *cls, uint32_t field);

/* Whether this is the name of such a text of the class. */
bool ctp_site_is_text(const struct ctp_class *cls, const char *name);

#endif
