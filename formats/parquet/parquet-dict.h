/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* parquet-dict.h - the dictionary of a column: different values in the order in which they came, each with its code. */
#ifndef CTP_PARQUET_DICT_H
#define CTP_PARQUET_DICT_H

#include "base/map.h"
#include "parquet/parquet-thrift.h"

enum { CTP_PARQUET_DICT_MAX = 1 << 16, CTP_PARQUET_DICT_BYTES = 4 << 20 };

struct ctp_parquet_dict {
	struct ctp_map map; /* numbers are codes + 1 */
	uint32_t count;
	size_t room;
	uint64_t *value;              /* numbers; of texts where they end in `texts` */
	struct ctp_bytes texts; /* as a page has them: 4 bytes of length, and the bytes; failed: no memory, of numbers too */
};

enum { CTP_PARQUET_FULL = -1 }; /* no code: the dictionary is full, or there is no memory */

int32_t ctp_parquet_dict_number_new(struct ctp_parquet_dict *d, uint64_t v); /* if it is not there yet */
int32_t ctp_parquet_dict_text(struct ctp_parquet_dict *d, const char *text, uint32_t len);
size_t ctp_parquet_dict_bytes(const struct ctp_parquet_dict *d); /* of memory */
void ctp_parquet_dict_clear(struct ctp_parquet_dict *d);         /* keeps the memory */
void ctp_parquet_dict_fini(struct ctp_parquet_dict *d);

static inline bool ctp_parquet_dict_is(const void *values, uint32_t number, const void *v)
{
	return ((const uint64_t *)values)[number - 1] == *(const uint64_t *)v;
}

static inline int32_t ctp_parquet_dict_number(struct ctp_parquet_dict *d, uint64_t v)
{
	uint32_t number = d->count ? *ctp_map_slot(&d->map, v, ctp_parquet_dict_is, d->value, &v) : 0;
	return number ? (int32_t)number - 1 : ctp_parquet_dict_number_new(d, v);
}

#endif
