/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * findings-kept.h - findings as records of a stream, for a part of a trace.
 *
 * Most rules compare with all of the program, and so find nothing in a part. Who cuts a finding out of a trace writes it down
 * there, as it is in the report of the whole trace; who reads the part gets it back.
 */
#ifndef CTP_FINDINGS_KEPT_H
#define CTP_FINDINGS_KEPT_H

#include "analyse/judge-groups.h"
#include "stream/writer.h"

/* --- writing -------------------------------------------------------------------------------------------------------------- */

enum { CTP_KEPT_CLASSES = CTP_EVENT_COUNT - CTP_FOUND };

struct ctp_kept_writer {
	struct ctp_writer *writer; /* the caller's */
	struct ctp_class *classes[CTP_KEPT_CLASSES];
	uint64_t origin; /* of a merged section; 0: it was not merged */
	uint64_t stride; /* of the numbers of threads and processes there; 0: none */
};

/* False: out of memory; to be freed all the same. */
bool ctp_kept_writer_init(struct ctp_kept_writer *w, struct ctp_writer *writer, uint64_t origin);
void ctp_kept_writer_fini(struct ctp_kept_writer *w);

/* ts_ns: when the section begins. */
void ctp_kept_write(const struct ctp_kept_writer *w, uint64_t ts_ns, const struct ctp_finding *f);

/* --- reading -------------------------------------------------------------------------------------------------------------- */

struct ctp_kept {
	struct ctp_kept_item *list; /* in the order of the records */
	size_t n, room;
	bool failed; /* out of memory */
};

void ctp_kept_clear(struct ctp_kept *k);
void ctp_kept_fini(struct ctp_kept *k);
void ctp_kept_take(struct ctp_kept *k, const struct ctp_record *rec); /* of kind CTP_KIND_FINDING; hostile */

/*
 * Moves all to the section. A finding of the section that has the same rule and the same first member gives way. Members that live get
 * CTP_CO_FOUND.
 */
void ctp_kept_give(struct ctp_kept *k, struct ctp_judge *j, struct ctp_report *r, struct ctp_report_section *s);

#endif
