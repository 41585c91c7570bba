/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ctf-values.h - the values of one record, and its texts, which are good until the next record.
 *
 * The texts are in one buffer, which may move while it grows. So the value of a text is its offset in the buffer, plus one, until
 * the record is complete, and then its address.
 */
#ifndef CTP_CTF_VALUES_H
#define CTP_CTF_VALUES_H

#include "common/bytes.h"
#include "stream/record.h"

struct ctp_ctf_values {
	uint64_t val[CTP_FIELDS_MAX + 1]; /* the last for values that are not kept */
	struct ctp_bytes texts, json; /* json: a text that is being made */
	size_t sum;   /* bytes of the texts: at most CTP_STRING_MAX each, CTP_RECORD_TEXT_MAX together */
	uint64_t cut; /* number of texts that were cut to that */
};

/* Room for a text of len bytes, of which at most CTP_STRING_MAX count; the next call may move it. Null: out of memory. */
char *ctp_ctf_values_begin(struct ctp_ctf_values *v, size_t len);

/* The text is in that room; *val becomes its value. */
void ctp_ctf_values_end(struct ctp_ctf_values *v, uint64_t *val, size_t len);

/* Both calls, for a text in other memory. False: out of memory. */
bool ctp_ctf_values_text(struct ctp_ctf_values *v, uint64_t *val, const void *data, size_t len);

/* The record is complete: the values of texts become addresses. The next record may begin. */
void ctp_ctf_values_done(struct ctp_ctf_values *v, const struct ctp_class *cls);

void ctp_ctf_values_fini(struct ctp_ctf_values *v);

#endif
