/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* parquet-dict.c - see parquet-dict.h. */
#include "parquet/parquet-dict.h"

enum { VALUES_MIN = 128 };

struct text {
	const char *data;
	size_t len;
};

static struct text text_at(const struct ctp_parquet_dict *d, uint32_t number)
{
	size_t from = (number > 1 ? d->value[number - 2] : 0) + 4;
	return (struct text){d->texts.data + from, d->value[number - 1] - from};
}

static bool is_text(const void *dict, uint32_t number, const void *key)
{
	struct text had = text_at(dict, number);
	const struct text *text = key;
	return had.len == text->len && !memcmp(had.data, text->data, text->len);
}

static uint64_t hash_text(const void *dict, uint32_t number)
{
	struct text text = text_at(dict, number);
	return ctp_map_bytes(((const struct ctp_parquet_dict *)dict)->map.salt, text.data, text.len);
}

static uint64_t hash_number(const void *values, uint32_t number) { return ((const uint64_t *)values)[number - 1]; }

/* For a value more. False: no memory. */
static bool make_room(struct ctp_parquet_dict *d, ctp_map_hash *hash, const void *items)
{
	bool made = d->map.slots ? ctp_map_reserve(&d->map, d->count, hash, items) : ctp_map_init(&d->map, VALUES_MIN);
	made = made && CTP_ARRAY_RESERVE(d->value, d->room, d->map.nslots / 2, CTP_PARQUET_DICT_MAX);
	d->texts.failed |= !made;
	return made;
}

int32_t ctp_parquet_dict_number_new(struct ctp_parquet_dict *d, uint64_t v)
{
	if (d->count == CTP_PARQUET_DICT_MAX || !make_room(d, hash_number, d->value))
		return CTP_PARQUET_FULL;
	d->value[d->count++] = v;
	*ctp_map_slot(&d->map, v, ctp_parquet_dict_is, d->value, &v) = d->count;
	return (int32_t)d->count - 1;
}

int32_t ctp_parquet_dict_text(struct ctp_parquet_dict *d, const char *text, uint32_t len)
{
	const struct text key = {text, len};
	if (d->count < CTP_PARQUET_DICT_MAX && !make_room(d, hash_text, d))
		return CTP_PARQUET_FULL;
	uint32_t *slot = ctp_map_slot(&d->map, ctp_map_bytes(d->map.salt, text, len), is_text, d, &key);
	if (*slot)
		return (int32_t)*slot - 1;
	if (d->count == CTP_PARQUET_DICT_MAX || d->texts.len + len + 4 > CTP_PARQUET_DICT_BYTES)
		return CTP_PARQUET_FULL;
	uint8_t *to = ctp_bytes_reserve(&d->texts, (size_t)len + 4);
	if (!to)
		return CTP_PARQUET_FULL;
	memcpy(ctp_parquet_le(to, len, 4), text, len);
	d->texts.len += (size_t)len + 4;
	d->value[d->count] = d->texts.len;
	*slot = ++d->count;
	return (int32_t)d->count - 1;
}

size_t ctp_parquet_dict_bytes(const struct ctp_parquet_dict *d)
{
	return d->map.nslots * sizeof *d->map.slots + d->room * sizeof *d->value + d->texts.room;
}

void ctp_parquet_dict_clear(struct ctp_parquet_dict *d)
{
	ctp_map_clear(&d->map);
	d->count = 0;
	d->texts.len = 0;
}

void ctp_parquet_dict_fini(struct ctp_parquet_dict *d)
{
	ctp_map_fini(&d->map);
	free(d->value);
	ctp_bytes_fini(&d->texts);
	*d = (struct ctp_parquet_dict){0};
}
