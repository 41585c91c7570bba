/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * others.h - the classes of records that a sink has no place for, for a message.
 */
#ifndef CTP_OTHERS_H
#define CTP_OTHERS_H

#include "stream/schema.h"

enum { CTP_OTHERS_BYTES = 300 };

/* All zeros: none. */
struct ctp_others {
	bool noted[CTP_CLASSES_MAX]; /* by the id of the section at hand */
	bool full;
	char text[CTP_OTHERS_BYTES]; /* the names, each once, as far as there is room: "a, b ..." */
};

void ctp_others_note(struct ctp_others *o, const struct ctp_class *cls);
void ctp_others_section(struct ctp_others *o); /* another section begins */

#endif
