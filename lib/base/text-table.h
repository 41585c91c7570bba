/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * text-table.h - texts that are referred to by number, each once, in the order of their first use. Number 0 is the empty text.
 */
#ifndef CTP_TEXT_TABLE_H
#define CTP_TEXT_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"

struct ctp_text_table {
	char *bytes; /* each text with its NUL, one after the other */
	size_t used, room;
	size_t *starts; /* where each text starts */
	uint32_t count;
	size_t starts_room;
	struct ctp_map map;
	bool failed; /* out of memory at some point */
};

void ctp_text_table_init(struct ctp_text_table *t);
void ctp_text_table_fini(struct ctp_text_table *t);

/* The number of a text, which is added if it is new; null is the empty one. 0 also if there is no memory for it. */
uint32_t ctp_text_table_number(struct ctp_text_table *t, const char *text);

/* The number of a text; 0: it is empty, or not in the table. */
uint32_t ctp_text_table_find(const struct ctp_text_table *t, const char *text);

/* The text, good until another is added. */
const char *ctp_text_table_at(const struct ctp_text_table *t, uint32_t number);

#endif
