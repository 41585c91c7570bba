/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* parquet-stat.c - the smallest and the largest value of a column, by which engines skip a row group. */
#include "parquet/parquet-column.h"

static const uint64_t SIGN = UINT64_C(1) << 63;

static void note_float(struct ctp_parquet_stat *s, double d)
{
	if (d != d)
		s->none = true;
	s->min_float = !s->any || d < s->min_float ? d : s->min_float;
	s->max_float = !s->any || d > s->max_float ? d : s->max_float;
}

void ctp_parquet_stat_number(struct ctp_parquet_column *c, uint64_t v)
{
	struct ctp_parquet_stat *s = &c->stat;
	uint64_t key = c->is_signed ? v ^ SIGN : v;
	if (c->physical == CTP_PARQUET_FLOAT || c->physical == CTP_PARQUET_DOUBLE)
		note_float(s, ctp_val_double(c->field->type, v));
	s->min = !s->any || key < s->min ? key : s->min;
	s->max = !s->any || key > s->max ? key : s->max;
	s->any = true;
}

/* For floats that is all; of integers the smallest and the largest stand for the others. */
void ctp_parquet_stat_numbers(struct ctp_parquet_column *c, const uint64_t *v, uint32_t n)
{
	if (c->physical == CTP_PARQUET_FLOAT || c->physical == CTP_PARQUET_DOUBLE) {
		for (uint32_t i = 0; i < n; i++)
			ctp_parquet_stat_number(c, v[i]);
	} else if (n) {
		uint64_t flip = c->is_signed ? SIGN : 0, min = v[0] ^ flip, max = min;
		for (uint32_t i = 1; i < n; i++) {
			uint64_t key = v[i] ^ flip;
			min = key < min ? key : min;
			max = key > max ? key : max;
		}
		ctp_parquet_stat_number(c, min ^ flip);
		ctp_parquet_stat_number(c, max ^ flip);
	}
}

/* A prefix of a long text would do for min, but what is more than max is not a prefix: there is none of either. */
void ctp_parquet_stat_text(struct ctp_parquet_column *c, const char *text, uint32_t len)
{
	struct ctp_parquet_stat *s = &c->stat;
	if (len > CTP_PARQUET_STAT_MAX)
		s->none = true;
	if (s->none)
		return;
	int low = memcmp(text, s->min_text, len < s->min_len ? len : s->min_len);
	int high = memcmp(text, s->max_text, len < s->max_len ? len : s->max_len);
	if (!s->any || low < 0 || (low == 0 && len < s->min_len))
		memcpy(s->min_text, text, s->min_len = len);
	if (!s->any || high > 0 || (high == 0 && len > s->max_len))
		memcpy(s->max_text, text, s->max_len = len);
	s->any = true;
}

/* A smallest 0 is written as -0 and a largest as +0, because the order does not tell them apart. */
static uint64_t float_bits(const struct ctp_parquet_column *c, bool max)
{
	double d = max ? c->stat.max_float : c->stat.min_float;
	if (d == 0)
		d = max ? 0.0 : -0.0;
	return ctp_double_val(c->field->type, d);
}

int ctp_parquet_stat_get(const struct ctp_parquet_column *c, bool max, uint8_t to[CTP_PARQUET_STAT_MAX])
{
	const struct ctp_parquet_stat *s = &c->stat;
	if (s->none || !s->any)
		return -1;
	uint64_t v = (max ? s->max : s->min) ^ (c->is_signed ? SIGN : 0);
	switch (c->physical) {
	case CTP_PARQUET_BYTE_ARRAY:
		memcpy(to, max ? s->max_text : s->min_text, max ? s->max_len : s->min_len);
		return (int)(max ? s->max_len : s->min_len);
	case CTP_PARQUET_BOOLEAN:
		to[0] = v != 0;
		return 1;
	case CTP_PARQUET_FLOAT:
	case CTP_PARQUET_DOUBLE:
		v = float_bits(c, max);
		break;
	}
	return (int)(ctp_parquet_le(to, v, c->physical == CTP_PARQUET_INT32 || c->physical == CTP_PARQUET_FLOAT ? 4 : 8) - to);
}
