/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * filter-anon.h - numbers in place of texts, so that a trace can be given away.
 *
 * Each text becomes the name of its field or attribute and a number: path3, name17, host1. The same text has the same number
 * everywhere, in the order in which the texts came, so the numbers say nothing about the texts.
 */
#ifndef CTP_FILTER_ANON_H
#define CTP_FILTER_ANON_H

#include "stream/record.h"

enum { CTP_FILTER_TEXTS_MAX = 1 << 22, CTP_FILTER_TEXT_BYTES = 256 << 20 }; /* different ones, and all their bytes */

struct ctp_filter_anon;
struct ctp_filter_anon *ctp_filter_anon_new(struct ctp_err *err);
void ctp_filter_anon_free(struct ctp_filter_anon *a); /* null: nothing */

/* The values of a record with other texts, good until the next call. Null: err says why, as that there are too many texts. */
const uint64_t *ctp_filter_anon_record(struct ctp_filter_anon *a, const struct ctp_record *rec, struct ctp_err *err);

/*
 * The same of a record of kind CTP_KIND_FINDING: texts of places keep their form, FILE:LINE:FUNCTION, and sentences are left out. A
 * class that has only sentences is written without its records.
 */
const uint64_t *ctp_filter_anon_finding(struct ctp_filter_anon *a, const struct ctp_record *rec, struct ctp_err *err);
bool ctp_filter_anon_is_sentence(const struct ctp_class *cls);

/* The same of an attribute of an origin: its value stays if *stays is true. */
const uint64_t *ctp_filter_anon_attribute(struct ctp_filter_anon *a, const struct ctp_record *rec, bool *stays,
                                          struct ctp_err *err);

/* The name of an attribute: the same if the tools know it, else a number. Good until the next call; null as above. */
const char *ctp_filter_anon_attr_name(struct ctp_filter_anon *a, const char *name, struct ctp_err *err);

/*
 * The value of an attribute, good until the next call: the same if it cannot say whose trace it is, and then *stays is true. Null
 * as above.
 */
const char *ctp_filter_anon_attr(struct ctp_filter_anon *a, const struct ctp_attr *attr, bool *stays, struct ctp_err *err);

#endif
