/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* mem-print.h - the printers of memory's counts, and what they share: numbers and names. */
#ifndef CTP_MEM_PRINT_H
#define CTP_MEM_PRINT_H

#include "io/output.h"
#include "memory/mem-layout.h"
#include "memory/mem.h"

/* What is printed, and how. */
struct ctp_mem_style {
	bool json, all;      /* all: every row of the tables */
	uint32_t top;        /* rows of each table otherwise */
	const char *caches_from; /* "option", "system" or "usual" */
	const char *debug_info;  /* where names of members are; null: nowhere */
	struct ctp_output *svg;  /* null: no picture */
	const char *svg_type;    /* of this type alone; null: of those that cost most */
};

enum { CTP_MEM_NUMBER_MAX = 32, CTP_MEM_LABEL_MAX = 64 };
const char *ctp_mem_number(char to[CTP_MEM_NUMBER_MAX], uint64_t n); /* 7,264 */
const char *ctp_mem_brief(char to[CTP_MEM_NUMBER_MAX], uint64_t n);  /* 7264, 72.6k, 7.3M */
const char *ctp_mem_bytes(char to[CTP_MEM_NUMBER_MAX], uint64_t n);  /* 32 KiB, 100 bytes */

/* How often a line changed hands: "81 times: 77 without need, 2 for data, 2 for the first time". */
enum { CTP_MEM_HANDS_MAX = 6 * CTP_MEM_NUMBER_MAX };
const char *ctp_mem_hands(char to[CTP_MEM_HANDS_MAX], const struct ctp_shared_line *line);

/* Whether a type has this name, or another spelling of it. */
bool ctp_mem_is_named(const struct ctp_mem_type *type, const char *name);

/* The name of a member, "(padding)", or "" if it is not known or null. */
const char *ctp_mem_member_name(const struct ctp_mem_member *member);

/* A text, safe to show. */
void ctp_mem_put_name(struct ctp_output *out, const char *text);

/* The name of a type, safe to show; "(none)", "(others)". */
void ctp_mem_put_type(struct ctp_output *out, const struct ctp_mem *m, uint32_t type);

/* All counts: for programs, one JSON object on one line, described in ctp-mem(1); and for a person at a terminal. */
void ctp_mem_json(struct ctp_output *out, const struct ctp_mem *m, const struct ctp_mem_layouts *l,
                  const struct ctp_mem_style *style);
void ctp_mem_text(struct ctp_output *out, const struct ctp_mem *m, const struct ctp_mem_layouts *l,
                  const struct ctp_mem_style *style);

#endif
