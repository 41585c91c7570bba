/*
 * ctf-values.h - room for one record, and for the texts in it until the next.
 *
 * Texts gather in one buffer, which may move while it grows: until the record is complete such a value is its text's place in
 * there, plus one, and then its address.
 */
#ifndef CTP_CTF_VALUES_H
#define CTP_CTF_VALUES_H

#include "stream/record.h"

struct ctp_ctf_values {
	uint64_t val[CTP_FIELDS_MAX + 1]; /* the last for what is not wanted */
	char *text;
	size_t len, cap;
	size_t sum;   /* of the texts alone; each has CTP_STRING_MAX at most, and all CTP_RECORD_TEXT_MAX */
	uint64_t cut; /* texts so far that were longer than that */
};

/* Where a text of len bytes may be put; at most CTP_STRING_MAX count. It moves when asked for again. Null: no memory. */
char *ctp_ctf_values_begin(struct ctp_ctf_values *v, size_t len);

/* It is there, and *val says so. */
void ctp_ctf_values_end(struct ctp_ctf_values *v, uint64_t *val, size_t len);

/* Both, for a text that is elsewhere. False: out of memory. */
bool ctp_ctf_values_text(struct ctp_ctf_values *v, uint64_t *val, const void *data, size_t len);

/* The record is complete, and those of its values that are texts have their addresses. The next may begin. */
void ctp_ctf_values_done(struct ctp_ctf_values *v, const struct ctp_class *cls);

void ctp_ctf_values_fini(struct ctp_ctf_values *v);

#endif
