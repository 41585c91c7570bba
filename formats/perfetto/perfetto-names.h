/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * perfetto-names.h - texts of a section that come again and again: sites, and what coroutines wait for. Each is written once, and
 * then by a number.
 */
#ifndef CTP_PERFETTO_NAMES_H
#define CTP_PERFETTO_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

enum {
	CTP_PERFETTO_CUT = 2000,                         /* bytes of a text; what is longer is cut */
	CTP_PERFETTO_TEXT_MAX = 4 * CTP_PERFETTO_CUT + 1, /* as it is written, with its NUL */
	CTP_PERFETTO_NAMES_MAX = 1 << 20,
};

struct ctp_perfetto_name {
	char *text;
	uint32_t as_name, as_value; /* the form's: the numbers that it has been given; 0: none yet */
};

/* A text as it is written: valid UTF-8. Returns to. */
char *ctp_perfetto_text(char to[CTP_PERFETTO_TEXT_MAX], const char *text);

struct ctp_perfetto_names {
	struct ctp_perfetto_name **list; /* a name stays at its address */
	uint32_t count;                  /* and 1: number 0 is none */
	size_t room;
	struct ctp_map map;
	bool failed; /* out of memory at some point */
};

void ctp_perfetto_names_init(struct ctp_perfetto_names *n);
void ctp_perfetto_names_fini(struct ctp_perfetto_names *n);

/* The name with this text; null: there is no room for it. */
struct ctp_perfetto_name *ctp_perfetto_names_get(struct ctp_perfetto_names *n, const char *text);

#endif
