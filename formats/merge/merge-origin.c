/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* merge-origin.c - the two classes, and their records. */
#include "merge/merge-origin.h"

#include <stdlib.h>
#include <string.h>

#define U64(n, r, u, p) {.name = (n), .type = CTP_U64, .role = CTP_ROLE_##r, .unit = (u), .pred = CTP_PRED_##p}
#define TEXT(n, r) {.name = (n), .type = CTP_STRING, .role = CTP_ROLE_##r, .pred = CTP_PRED_SAME}
#define COUNT(array) (sizeof(array) / sizeof *(array))

static const struct ctp_label states[] = {
	{CTP_MERGE_BEGINS, "begins"}, {CTP_MERGE_COMPLETE, "complete"}, {CTP_MERGE_CUT, "cut"}, {CTP_MERGE_DAMAGED, "damaged"},
};

enum { TS, ORIGIN, NAME, HOST, PID, START, COMMAND, INPUT, SECTION, BY_WALL, ERROR, ERROR_KNOWN, STATE, MISSING, FIELDS };
static const struct ctp_field origin[] = {
	[TS] = U64("ts", TIME, "ns", TIME),
	[ORIGIN] = U64("origin", ORIGIN, "", KEY),
	[NAME] = TEXT("name", NAME),
	[HOST] = TEXT("host", NONE),
	[PID] = U64("pid", PROCESS, "", SAME),
	[START] = U64("start", TIME, "ns", SAME),
	[COMMAND] = TEXT("command", NONE),
	[INPUT] = TEXT("input", NONE),
	[SECTION] = U64("section", NONE, "", SAME),
	[BY_WALL] = {.name = "by_wall", .type = CTP_BOOL, .pred = CTP_PRED_SAME},
	[ERROR] = U64("error_ns", NONE, "ns", SAME),
	[ERROR_KNOWN] = {.name = "error_known", .type = CTP_BOOL, .pred = CTP_PRED_SAME},
	[STATE] = {.name = "state", .type = CTP_ENUM, .labels = states, .nlabels = COUNT(states)},
	[MISSING] = U64("missing_before", TIME, "ns", NONE),
};

enum { A_TS, A_ORIGIN, A_NAME, A_VALUE, A_FIELDS };
static const struct ctp_field attribute[] = {
	[A_TS] = U64("ts", TIME, "ns", TIME),
	[A_ORIGIN] = U64("origin", ORIGIN, "", KEY),
	[A_NAME] = {.name = "name", .type = CTP_STRING, .role = CTP_ROLE_NAME, .pred = CTP_PRED_NONE},
	[A_VALUE] = {.name = "value", .type = CTP_STRING, .pred = CTP_PRED_NONE},
};
_Static_assert(COUNT(origin) == FIELDS && COUNT(attribute) == A_FIELDS, "each field has its number");

bool ctp_merge_origins_init(struct ctp_merge_origins *o, struct ctp_err *err)
{
	o->origin = ctp_class_new("origin", CTP_KIND_ORIGIN, origin, FIELDS, err);
	o->attribute = ctp_class_new("origin_attribute", CTP_KIND_ATTRIBUTE, attribute, A_FIELDS, err);
	return o->origin && o->attribute;
}

void ctp_merge_origins_fini(struct ctp_merge_origins *o)
{
	ctp_class_free(o->origin);
	ctp_class_free(o->attribute);
}

/* A copy, for free(); null is an empty text, and so is one for which there is no memory: errno tells. */
static struct ctp_str *str_of(const char *text)
{
	size_t len = text ? strlen(text) : 0;
	struct ctp_str *s = len && len <= CTP_STRING_MAX ? malloc(sizeof *s + len + 1) : NULL;
	if (!s)
		return NULL;
	s->len = (uint32_t)len;
	memcpy(s->data, text, len + 1);
	return s;
}

static void put(struct ctp_writer *w, const struct ctp_class *cls, uint64_t *val, unsigned ntexts, const uint8_t *at, const char *const *texts)
{
	struct ctp_str *copies[4];
	for (unsigned i = 0; i < ntexts; i++)
		val[at[i]] = ctp_val_str(copies[i] = str_of(texts[i]));
	ctp_writer_record(w, cls, val);
	for (unsigned i = 0; i < ntexts; i++)
		free(copies[i]);
}

void ctp_merge_origins_put(const struct ctp_merge_origins *o, struct ctp_writer *w, uint64_t ts_ns, const struct ctp_merge_origin *of)
{
	uint64_t val[FIELDS] = {
		[TS] = ts_ns, [ORIGIN] = of->number, [PID] = of->pid, [START] = of->start_ns, [SECTION] = of->section, [BY_WALL] = of->by_wall,
		[ERROR] = of->error_known ? of->error_ns : 0, [ERROR_KNOWN] = of->error_known, [STATE] = of->state, [MISSING] = of->missing_ns,
	};
	put(w, o->origin, val, 4, (const uint8_t[]){NAME, HOST, COMMAND, INPUT},
	    (const char *const[]){of->name, of->host, of->command, of->input});
}

void ctp_merge_origins_attribute(const struct ctp_merge_origins *o, struct ctp_writer *w, uint64_t ts_ns, uint64_t number,
                                 const char *name, const char *value)
{
	uint64_t val[A_FIELDS] = {[A_TS] = ts_ns, [A_ORIGIN] = number};
	put(w, o->attribute, val, 2, (const uint8_t[]){A_NAME, A_VALUE}, (const char *const[]){name, value});
}
