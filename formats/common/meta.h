/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * meta.h - what a stream says about itself, as JSON text: a section's attributes, the declaration of a class.
 *
 *	{"host":"a","pid":"17","argv":["./server","-v"]}
 *	{"name":"lost","kind":"loss","fields":[{"name":"ts","type":"u64","role":"time","pred":"time","unit":"ns"}, ...]}
 *
 * A format that has a place for a text can carry both, so that ctp-from... gives back the stream that ctp-to... was given. An
 * attribute whose name ends in [] is an element of an array. Texts are as json.h says.
 */
#ifndef CTP_META_H
#define CTP_META_H

#include "common/json.h"
#include "stream/record.h"

/* NUL-terminated, for free(); *len, unless len is null, is without that NUL. Null: out of memory. */
char *ctp_meta_attrs(const struct ctp_section *sec, size_t *len);
char *ctp_meta_class(const struct ctp_class *cls, size_t *len);
char *ctp_meta_list(const struct ctp_section *sec, const char *name, size_t *len); /* the array of such elements; "": there is none */

/*
 * A number that tells sections with the same id apart, as parts of a stream that was divided have: a hash of the attributes, in
 * ctp_meta_attrs' text, and of the first record, which may be null.
 */
uint64_t ctp_meta_mark(const char *attrs, const struct ctp_record *first);

/*
 * Read the object [p, end). scratch must have room for end - p bytes. The first adds the attributes to sec; the second returns a
 * class, which the caller frees; null: why. Unknown keys of a declaration are skipped, so that a later version may add some.
 */
enum ctp_status ctp_meta_read_attrs(const char *p, const char *end, char *scratch, struct ctp_section *sec, struct ctp_err *why);
struct ctp_class *ctp_meta_read_class(const char *p, const char *end, char *scratch, struct ctp_err *why);

#endif
