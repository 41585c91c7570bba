/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * sites.h - what the numbers of places in the source stand for, as text: "server.cpp:212:handle".
 *
 * Sites learn from records of CTP_KIND_SITE; records after them can be shown with the text. The last record of a number counts, and
 * a section begins with none. A text leaves out a line that is 0 and a function that is empty.
 *
 * Memory is bounded: CTP_SITES_MAX numbers, whose texts have CTP_SITES_BYTES together and CTP_SITE_TEXT_MAX each. A number beyond
 * the bounds has no text.
 */
#ifndef CTP_SITES_H
#define CTP_SITES_H

#include "base/linkage.h"
#include "stream/record.h"

CTP_C_BEGIN

enum {
	CTP_SITES_MAX = 1 << 16,
	CTP_SITES_BYTES = 16 << 20,
	CTP_SITE_TEXT_MAX = 1000,
	CTP_SITE_SPELLED_MAX = 6 * CTP_SITE_TEXT_MAX + 8, /* as a sink spells it */
};

/* The text of a field that refers to a place is shown after the field, as a field with this added to its name. */
#define CTP_SITE_SUFFIX "_text"

struct ctp_sites_text {
	uint64_t id; /* 0: none */
	const char *data;
	uint32_t len;
};

/* Writes a text, of any bytes, as the format spells it, at most CTP_SITE_SPELLED_MAX bytes; returns the end. Called once for a text. */
typedef char *ctp_sites_spell(char *to, const char *text, size_t len);

struct ctp_sites;
struct ctp_symbols;
struct ctp_sites *ctp_sites_new(ctp_sites_spell *spell); /* null: out of memory */
void ctp_sites_free(struct ctp_sites *sites);           /* null: nothing */
void ctp_sites_forget(struct ctp_sites *sites); /* a section begins */

/*
 * From now on symbols find the lines that a record leaves to debug information, when the text is first asked for: by then the
 * mappings are known. The symbols outlive the sites.
 */
void ctp_sites_use(struct ctp_sites *sites, struct ctp_symbols *symbols);

/* Copies a record, which must be of CTP_KIND_SITE. */
void ctp_sites_learn(struct ctp_sites *sites, const struct ctp_record *rec);

/* The spelled text, without a NUL, good until the next learn or forget. Null: not known. */
const struct ctp_sites_text *ctp_sites_find(struct ctp_sites *sites, uint64_t id);

/*
 * Whether a field may have a text: the field refers to a place, by the number of a site or by an address (but not of a mapping,
 * which has its path), and no field has the text's name.
 */
bool ctp_site_shown(const struct ctp_class *cls, uint32_t field);

/* Whether this is the name of such a text of the class. */
bool ctp_site_is_text(const struct ctp_class *cls, const char *name);

CTP_C_END

#endif
