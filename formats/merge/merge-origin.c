/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* merge-origin.c - writes the records. */
#include "merge/merge-origin.h"

#include <stdlib.h>

#include "stream/events.h"
#include "stream/str-new.h"

bool ctp_merge_origins_init(struct ctp_merge_origins *o, struct ctp_err *err)
{
	o->origin = ctp_event_class(CTP_ORIGIN);
	o->attribute = ctp_event_class(CTP_ORIGIN_ATTRIBUTE);
	return (o->origin && o->attribute) || !ctp_err_memory(err);
}

void ctp_merge_origins_fini(struct ctp_merge_origins *o)
{
	ctp_class_free(o->origin);
	ctp_class_free(o->attribute);
}

static void put(struct ctp_writer *w, const struct ctp_class *cls, uint64_t *val, unsigned ntexts, const uint8_t *at,
                const char *const *texts)
{
	struct ctp_str *copies[4];
	for (unsigned i = 0; i < ntexts; i++)
		val[at[i]] = ctp_val_str(copies[i] = ctp_str_new(texts[i]));
	ctp_writer_record(w, cls, val);
	for (unsigned i = 0; i < ntexts; i++)
		free(copies[i]);
}

void ctp_merge_origins_put(const struct ctp_merge_origins *o, struct ctp_writer *w, uint64_t ts_ns,
                           const struct ctp_merge_origin *of)
{
	uint64_t val[CTP_ORIGIN_FIELDS] = {
		[CTP_ORIGIN_TS] = ts_ns, [CTP_ORIGIN_NUMBER] = of->number, [CTP_ORIGIN_PID] = of->pid, [CTP_ORIGIN_START] = of->start_ns,
		[CTP_ORIGIN_SECTION] = of->section, [CTP_ORIGIN_BY_WALL] = of->by_wall,
		[CTP_ORIGIN_ERROR] = of->error_known ? of->error_ns : 0, [CTP_ORIGIN_ERROR_KNOWN] = of->error_known,
		[CTP_ORIGIN_STATE] = of->state, [CTP_ORIGIN_MISSING] = of->missing_ns, [CTP_ORIGIN_STRIDE] = of->stride,
		[CTP_ORIGIN_SECTION_ID] = of->section_id,
	};
	put(w, o->origin, val, 4, (const uint8_t[]){CTP_ORIGIN_NAME, CTP_ORIGIN_HOST, CTP_ORIGIN_COMMAND, CTP_ORIGIN_INPUT},
	    (const char *const[]){of->name, of->host, of->command, of->input});
}

void ctp_merge_origins_attribute(const struct ctp_merge_origins *o, struct ctp_writer *w, uint64_t ts_ns, uint64_t number,
                                 const char *name, const char *value)
{
	uint64_t val[CTP_ATTRIBUTE_FIELDS] = {[CTP_ATTRIBUTE_TS] = ts_ns, [CTP_ATTRIBUTE_ORIGIN] = number};
	put(w, o->attribute, val, 2, (const uint8_t[]){CTP_ATTRIBUTE_NAME, CTP_ATTRIBUTE_VALUE}, (const char *const[]){name, value});
}
