/* parquet-dict.c - see parquet-dict.h. */
#include "parquet/parquet-dict.h"

#include "base/map.h"

enum { SLOTS_MIN = 256 };

static const char *text_at(const struct ctp_parquet_dict *d, uint32_t i, size_t *len)
{
	size_t from = (i ? d->value[i - 1] : 0) + 4;
	*len = d->value[i] - from;
	return d->texts.data + from;
}

static uint64_t hash_text(const struct ctp_parquet_dict *d, const void *text, size_t len) { return ctp_map_bytes(d->salt, text, len); }

static void put_slot(struct ctp_parquet_dict *d, uint64_t hash, uint32_t code)
{
	uint32_t i = ctp_spread(hash, d->salt, d->nslots);
	while (d->slots[i])
		i = (i + 1) & (d->nslots - 1);
	d->slots[i] = code + 1;
}

/* At most half of the slots are used. */
static bool is_full(const struct ctp_parquet_dict *d) { return d->count == d->nslots / 2; }

/* Twice as many slots. False: no memory. */
static bool grow(struct ctp_parquet_dict *d, bool texts)
{
	uint32_t nslots = d->nslots ? 2 * d->nslots : SLOTS_MIN;
	uint32_t *slots = calloc(nslots, sizeof *slots);
	if (!slots || !CTP_ARRAY_RESERVE(d->value, d->room, nslots / 2, CTP_PARQUET_DICT_MAX)) {
		d->texts.failed = true;
		free(slots);
		return false;
	}
	free(d->slots);
	d->slots = slots;
	d->nslots = nslots;
	d->salt = d->salt ? d->salt : ctp_spread_salt();
	for (uint32_t i = 0; i < d->count; i++) {
		size_t len;
		const char *text = texts ? text_at(d, i, &len) : NULL;
		put_slot(d, texts ? hash_text(d, text, len) : d->value[i], i);
	}
	return true;
}

int32_t ctp_parquet_dict_number_new(struct ctp_parquet_dict *d, uint64_t v)
{
	if (d->count == CTP_PARQUET_DICT_MAX || (is_full(d) && !grow(d, false)))
		return CTP_PARQUET_FULL;
	d->value[d->count] = v;
	put_slot(d, v, d->count);
	return (int32_t)d->count++;
}

int32_t ctp_parquet_dict_text(struct ctp_parquet_dict *d, const char *text, uint32_t len)
{
	if (is_full(d) && d->count < CTP_PARQUET_DICT_MAX && !grow(d, true))
		return CTP_PARQUET_FULL;
	uint32_t i = ctp_spread(hash_text(d, text, len), d->salt, d->nslots), code;
	for (; (code = d->slots[i]); i = (i + 1) & (d->nslots - 1)) {
		size_t had_len;
		const char *had = text_at(d, code - 1, &had_len);
		if (had_len == len && !memcmp(had, text, len))
			return (int32_t)code - 1;
	}
	if (d->count == CTP_PARQUET_DICT_MAX || d->texts.len + len + 4 > CTP_PARQUET_DICT_BYTES)
		return CTP_PARQUET_FULL;
	uint8_t *to = ctp_bytes_reserve(&d->texts, (size_t)len + 4);
	if (!to)
		return CTP_PARQUET_FULL;
	memcpy(ctp_parquet_le(to, len, 4), text, len);
	d->texts.len += (size_t)len + 4;
	d->value[d->count] = d->texts.len;
	d->slots[i] = ++d->count;
	return (int32_t)d->count - 1;
}

size_t ctp_parquet_dict_bytes(const struct ctp_parquet_dict *d)
{
	return d->nslots * sizeof *d->slots + d->room * sizeof *d->value + d->texts.room;
}

void ctp_parquet_dict_clear(struct ctp_parquet_dict *d)
{
	if (d->nslots)
		memset(d->slots, 0, d->nslots * sizeof *d->slots);
	d->count = 0;
	d->texts.len = 0;
}

void ctp_parquet_dict_fini(struct ctp_parquet_dict *d)
{
	free(d->slots);
	free(d->value);
	ctp_bytes_fini(&d->texts);
	*d = (struct ctp_parquet_dict){0};
}
