/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* parquet-column.c - see parquet-column.h. */
#include "parquet/parquet-column.h"

#include <stdlib.h>
#include <zstd.h>

#include "base/text.h"
#include "common/escape.h"
#include "parquet/parquet-bits.h"
#include "stream/value.h"

enum { ZSTD_LEVEL = 1, DATA_PAGE = 0, DICTIONARY_PAGE = 2, NEAR = 64 };

static bool is_narrow(const struct ctp_parquet_column *c) { return c->physical == CTP_PARQUET_INT32; }
static bool is_integer(const struct ctp_parquet_column *c) { return is_narrow(c) || c->physical == CTP_PARQUET_INT64; }
static bool is_text(const struct ctp_parquet_column *c) { return c->physical == CTP_PARQUET_BYTE_ARRAY; }
static unsigned value_bytes(const struct ctp_parquet_column *c) { return is_narrow(c) || c->physical == CTP_PARQUET_FLOAT ? 4 : 8; }

/* --- begin and end -------------------------------------------------------------------------------------------------------- */

struct ctp_parquet_work *ctp_parquet_work_new(void)
{
	struct ctp_parquet_work *w = calloc(1, sizeof *w);
	if (!w || !(w->zstd = ZSTD_createCCtx())) {
		free(w);
		return NULL;
	}
	ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL);
	ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_checksumFlag, 1);
	return w;
}

void ctp_parquet_work_free(struct ctp_parquet_work *w)
{
	if (!w)
		return;
	ZSTD_freeCCtx(w->zstd);
	ctp_bytes_fini(&w->raw);
	ctp_bytes_fini(&w->other);
	ctp_bytes_fini(&w->packed);
	ctp_bytes_fini(&w->text);
	free(w);
}

static void take_type(struct ctp_parquet_column *c, unsigned type)
{
	static const struct {
		uint8_t physical, meaning, bits;
		bool is_signed;
	} of[CTP_TYPE_COUNT] = {
		[CTP_U8] = {CTP_PARQUET_INT32, CTP_PARQUET_INTEGER, 8, false},   [CTP_U16] = {CTP_PARQUET_INT32, CTP_PARQUET_INTEGER, 16, false},
		[CTP_U32] = {CTP_PARQUET_INT32, CTP_PARQUET_INTEGER, 32, false}, [CTP_U64] = {CTP_PARQUET_INT64, CTP_PARQUET_INTEGER, 64, false},
		[CTP_I8] = {CTP_PARQUET_INT32, CTP_PARQUET_INTEGER, 8, true},    [CTP_I16] = {CTP_PARQUET_INT32, CTP_PARQUET_INTEGER, 16, true},
		[CTP_I32] = {CTP_PARQUET_INT32, CTP_PARQUET_INTEGER, 32, true},  [CTP_I64] = {CTP_PARQUET_INT64, CTP_PARQUET_INTEGER, 64, true},
		[CTP_BOOL] = {CTP_PARQUET_BOOLEAN, CTP_PARQUET_NOTHING, 0, false}, [CTP_F32] = {CTP_PARQUET_FLOAT, CTP_PARQUET_NOTHING, 0, false},
		[CTP_F64] = {CTP_PARQUET_DOUBLE, CTP_PARQUET_NOTHING, 0, false},   [CTP_ENUM] = {CTP_PARQUET_BYTE_ARRAY, CTP_PARQUET_STRING, 0, false},
		[CTP_STRING] = {CTP_PARQUET_BYTE_ARRAY, CTP_PARQUET_STRING, 0, false}, [CTP_BYTES] = {CTP_PARQUET_BYTE_ARRAY, CTP_PARQUET_NOTHING, 0, false},
	};
	c->physical = of[type].physical;
	c->meaning = of[type].meaning;
	c->bits = of[type].bits;
	c->is_signed = of[type].is_signed;
}

bool ctp_parquet_column_init(struct ctp_parquet_column *c, const char *name, const struct ctp_field *field)
{
	*c = (struct ctp_parquet_column){.field = field};
	take_type(c, field ? field->type : CTP_U64);
	c->differs = field && field->role == CTP_ROLE_TIME;
	return (c->name = strdup(name));
}

void ctp_parquet_column_clear(struct ctp_parquet_column *c, bool keep_memory)
{
	if (!keep_memory) {
		free(c->words);
		free(c->codes);
		c->words = NULL;
		c->codes = NULL;
		c->room = 0;
		ctp_bytes_fini(&c->plain);
		ctp_bytes_fini(&c->pages);
		ctp_parquet_dict_fini(&c->dict);
	}
	ctp_parquet_dict_clear(&c->dict);
	c->n = 0;
	c->plain.len = c->pages.len = 0;
	c->plain_now = c->wrote_dict = false;
	c->chosen = 0;
	c->rows = c->nulls = c->raw_bytes = 0;
	c->encodings = 0;
	c->stat = (struct ctp_parquet_stat){0};
	memset(c->near, 0, sizeof c->near);
}

void ctp_parquet_column_fini(struct ctp_parquet_column *c)
{
	ctp_parquet_column_clear(c, false);
	free(c->name);
}

size_t ctp_parquet_column_bytes(const struct ctp_parquet_column *c)
{
	return c->room * (is_text(c) ? sizeof *c->codes : sizeof *c->words) + c->plain.room + c->pages.room + ctp_parquet_dict_bytes(&c->dict);
}

/* --- pages ---------------------------------------------------------------------------------------------------------------- */

static void put_header(struct ctp_bytes *to, int type, size_t raw, size_t packed, uint64_t n, enum ctp_parquet_encoding encoding)
{
	int page = 0, data = 0;
	ctp_thrift_int(to, &page, 1, CTP_THRIFT_I32, type);
	ctp_thrift_int(to, &page, 2, CTP_THRIFT_I32, (int64_t)raw);
	ctp_thrift_int(to, &page, 3, CTP_THRIFT_I32, (int64_t)packed);
	ctp_thrift_field(to, &page, type == DATA_PAGE ? 5 : 7, CTP_THRIFT_STRUCT);
	ctp_thrift_int(to, &data, 1, CTP_THRIFT_I32, (int64_t)n);
	ctp_thrift_int(to, &data, 2, CTP_THRIFT_I32, encoding);
	if (type == DATA_PAGE) {
		ctp_thrift_int(to, &data, 3, CTP_THRIFT_I32, CTP_PARQUET_RLE);
		ctp_thrift_int(to, &data, 4, CTP_THRIFT_I32, CTP_PARQUET_RLE);
	}
	ctp_thrift_stop(to);
	ctp_thrift_stop(to);
}

/* Into w->packed; returns its length. */
static size_t compress(struct ctp_parquet_work *w, const struct ctp_bytes *raw)
{
	size_t room = ZSTD_compressBound(raw->len);
	w->packed.len = 0;
	uint8_t *to = raw->failed ? NULL : ctp_bytes_reserve(&w->packed, room);
	size_t n = to ? ZSTD_compress2(w->zstd, to, room, raw->data, raw->len) : 0;
	if (!to || ZSTD_isError(n))
		w->failed = true;
	return w->packed.len = w->failed ? 0 : n;
}

/* A page of c->n values, compressed in w->packed. */
static void put_page(struct ctp_parquet_column *c, struct ctp_parquet_work *w, size_t raw, enum ctp_parquet_encoding encoding)
{
	size_t before = c->pages.len;
	put_header(&c->pages, DATA_PAGE, raw, w->packed.len, c->n, encoding);
	c->raw_bytes += c->pages.len - before + raw;
	ctp_bytes_put(&c->pages, w->packed.data, w->packed.len);
	c->encodings |= 1U << encoding;
	c->wrote_dict |= encoding == CTP_PARQUET_RLE_DICTIONARY;
	c->rows += c->n;
	c->nulls += c->null ? c->n : 0;
	w->failed |= c->pages.failed;
	c->n = 0;
}

/* Bits of a code. From 3 to 7 they are 8: zstd makes less of whole bytes than bits of them take. */
static unsigned code_width(const struct ctp_parquet_dict *d)
{
	unsigned bits = d->count > 2 ? 32 - (unsigned)__builtin_clz(d->count - 1) : 1;
	return bits > 2 && bits < 8 ? 8 : bits;
}

/* Definition levels, of a column that may be null: one run. */
static void put_levels(struct ctp_parquet_column *c, struct ctp_bytes *raw)
{
	uint8_t run[16], *end = ctp_parquet_varint(run + 4, (uint64_t)c->n << 1);
	*end++ = !c->null;
	ctp_parquet_le(run, (uint64_t)(end - run - 4), 4);
	if (c->optional)
		ctp_bytes_put(raw, run, (size_t)(end - run));
}

static void encode_codes(struct ctp_parquet_column *c, struct ctp_bytes *raw, const uint32_t *codes)
{
	put_levels(c, raw);
	uint8_t *to = ctp_bytes_reserve(raw, ctp_parquet_codes_bound(c->n));
	if (!to)
		return;
	*to = (uint8_t)code_width(&c->dict);
	ctp_bytes_commit(raw, ctp_parquet_codes(to + 1, codes, c->n, *to));
}

static void encode_delta(struct ctp_parquet_column *c, struct ctp_bytes *raw)
{
	put_levels(c, raw);
	uint8_t *to = ctp_bytes_reserve(raw, ctp_parquet_delta_bound(c->n));
	if (to)
		ctp_bytes_commit(raw, ctp_parquet_delta(to, c->words, c->n, is_narrow(c)));
	ctp_parquet_stat_numbers(c, c->words, c->n);
}

static void encode_plain(struct ctp_parquet_column *c, struct ctp_bytes *raw)
{
	put_levels(c, raw);
	uint8_t *to = ctp_bytes_reserve(raw, (size_t)c->n * 8 + 8);
	if (!to || c->null)
		return;
	ctp_parquet_stat_numbers(c, c->words, c->n);
	if (c->physical == CTP_PARQUET_BOOLEAN)
		to = ctp_parquet_bools(to, c->words, c->n);
	else
		for (uint32_t i = 0; i < c->n; i++)
			to = ctp_parquet_le(to, c->words[i], value_bytes(c));
	ctp_bytes_commit(raw, to);
}

/* The codes of a page of numbers, into w->codes; false: there are too many different ones. */
static bool find_codes(struct ctp_parquet_column *c, struct ctp_parquet_work *w)
{
	uint64_t last = 0;
	int32_t code = CTP_PARQUET_FULL;
	for (uint32_t i = 0; i < c->n; i++) {
		uint64_t v = c->words[i];
		if (v != last || code < 0) {
			uint32_t before = c->dict.count;
			code = ctp_parquet_dict_number(&c->dict, v);
			w->failed |= c->dict.texts.failed;
			if (code < 0)
				return false;
			if (c->dict.count > before)
				ctp_parquet_stat_number(c, v);
			last = v;
		}
		w->codes[i] = (uint32_t)code;
	}
	return true;
}

/* Without a dictionary: differences of integers, or the values as they are. */
static enum ctp_parquet_encoding encode_other(struct ctp_parquet_column *c, struct ctp_bytes *raw)
{
	if (is_integer(c) && !c->null) {
		encode_delta(c, raw);
		return CTP_PARQUET_DELTA;
	}
	encode_plain(c, raw);
	return CTP_PARQUET_PLAIN;
}

/* The first page of a group decides, and each that needs wider codes; a dictionary with most values of the page in it is none. */
static void choose(struct ctp_parquet_column *c, struct ctp_parquet_work *w)
{
	w->other.len = 0;
	encode_codes(c, &w->other, w->codes);
	encode_other(c, &w->raw);
	size_t values = c->dict.count * value_bytes(c) / 2;
	c->plain_now = c->dict.count > c->n / 2 + 8 || compress(w, &w->other) + values > compress(w, &w->raw);
	c->chosen = code_width(&c->dict);
	w->raw.len = 0;
}

static void end_numbers(struct ctp_parquet_column *c, struct ctp_parquet_work *w)
{
	enum ctp_parquet_encoding encoding = CTP_PARQUET_RLE_DICTIONARY;
	bool plain = c->plain_now || c->differs || c->null || c->physical == CTP_PARQUET_BOOLEAN;
	if (!plain && !find_codes(c, w))
		c->plain_now = plain = true;
	if (!plain && c->chosen != code_width(&c->dict)) {
		choose(c, w);
		plain = c->plain_now;
	}
	if (plain)
		encoding = encode_other(c, &w->raw);
	else
		encode_codes(c, &w->raw, w->codes);
	compress(w, &w->raw);
	put_page(c, w, w->raw.len, encoding);
}

static void end_run(struct ctp_parquet_column *c, struct ctp_parquet_work *w)
{
	int32_t code = ctp_parquet_dict_number(&c->dict, c->value);
	uint8_t raw[32], *end = raw;
	unsigned width = code_width(&c->dict);
	if (code >= 0) {
		*end++ = (uint8_t)width;
		end = ctp_parquet_le(ctp_parquet_varint(end, (uint64_t)c->n << 1), (uint32_t)code, (width + 7) / 8);
		ctp_bytes_put(&w->raw, raw, (size_t)(end - raw));
	}
	for (uint32_t i = 0; code < 0 && i < c->n; i++)
		ctp_bytes_put(&w->raw, raw, (size_t)(ctp_parquet_le(raw, c->value, value_bytes(c)) - raw));
	ctp_parquet_stat_number(c, c->value);
	compress(w, &w->raw);
	put_page(c, w, w->raw.len, code < 0 ? CTP_PARQUET_PLAIN : CTP_PARQUET_RLE_DICTIONARY);
}

static void end_texts(struct ctp_parquet_column *c, struct ctp_parquet_work *w)
{
	if (!c->plain_now)
		encode_codes(c, &w->raw, c->codes);
	const struct ctp_bytes *raw = c->plain_now ? &c->plain : &w->raw;
	compress(w, raw);
	put_page(c, w, raw->len, c->plain_now ? CTP_PARQUET_PLAIN : CTP_PARQUET_RLE_DICTIONARY);
	c->plain.len = 0;
}

void ctp_parquet_column_end_page(struct ctp_parquet_column *c, struct ctp_parquet_work *w)
{
	if (!c->n)
		return;
	assert(c->runs || c->n <= CTP_PARQUET_PAGE_ROWS);
	w->raw.len = 0;
	if (c->runs)
		end_run(c, w);
	else if (is_text(c))
		end_texts(c, w);
	else
		end_numbers(c, w);
}

void ctp_parquet_column_dictionary(struct ctp_parquet_column *c, struct ctp_parquet_work *w, struct ctp_bytes *to)
{
	if (!c->wrote_dict)
		return;
	w->raw.len = 0;
	for (uint32_t i = 0; !is_text(c) && i < c->dict.count; i++) {
		uint8_t v[8];
		ctp_bytes_put(&w->raw, v, (size_t)(ctp_parquet_le(v, c->dict.value[i], value_bytes(c)) - v));
	}
	const struct ctp_bytes *raw = is_text(c) ? &c->dict.texts : &w->raw;
	size_t before = to->len, packed = compress(w, raw);
	put_header(to, DICTIONARY_PAGE, raw->len, packed, c->dict.count, CTP_PARQUET_PLAIN);
	c->raw_bytes += to->len - before + raw->len;
	ctp_bytes_put(to, w->packed.data, packed);
	c->encodings |= 1U << CTP_PARQUET_PLAIN;
	w->failed |= to->failed;
}

/* --- values --------------------------------------------------------------------------------------------------------------- */

/* Room for a value more in the page, which grows to its full size. */
static bool make_room(struct ctp_parquet_column *c, struct ctp_parquet_work *w)
{
	if (c->n < c->room)
		return true;
	if (c->n == CTP_PARQUET_PAGE_ROWS) {
		ctp_parquet_column_end_page(c, w);
		return true;
	}
	bool more = is_text(c) ? CTP_ARRAY_RESERVE(c->codes, c->room, c->n + 1, CTP_PARQUET_PAGE_ROWS) :
	                         CTP_ARRAY_RESERVE(c->words, c->room, c->n + 1, CTP_PARQUET_PAGE_ROWS);
	w->failed |= !more;
	return more;
}

/* A text that has a code or is plain; if the dictionary is full now, the page ends before it. */
static int32_t put_text(struct ctp_parquet_column *c, struct ctp_parquet_work *w, const char *text, uint32_t len)
{
	if (!make_room(c, w))
		return CTP_PARQUET_FULL;
	if (!c->plain_now) {
		uint32_t before = c->dict.count;
		int32_t code = ctp_parquet_dict_text(&c->dict, text, len);
		if (code >= 0) {
			if (c->dict.count > before)
				ctp_parquet_stat_text(c, text, len);
			c->codes[c->n++] = (uint32_t)code;
			return code;
		}
		w->failed |= c->dict.texts.failed;
		ctp_parquet_column_end_page(c, w);
		c->plain_now = true;
	}
	uint8_t length[4];
	ctp_bytes_put(&c->plain, length, (size_t)(ctp_parquet_le(length, len, 4) - length));
	ctp_bytes_put(&c->plain, text, len);
	ctp_parquet_stat_text(c, text, len);
	w->failed |= c->plain.failed;
	c->n++;
	if (c->plain.len >= CTP_PARQUET_PAGE_BYTES)
		ctp_parquet_column_end_page(c, w);
	return CTP_PARQUET_FULL;
}

/* Where the first byte stands that is no UTF-8, or a backslash before an x, which those are spelled with. */
static const char *find_odd(const char *p, const char *end)
{
	for (unsigned n; p < end; p += n) {
		n = (uint8_t)*p < 0x80 ? 1 : ctp_utf8_bytes(p, end);
		if (!n || (*p == '\\' && p + 1 < end && p[1] == 'x'))
			return p;
	}
	return end;
}

/* A text with \x and two digits for each odd byte. */
static int32_t put_string(struct ctp_parquet_column *c, struct ctp_parquet_work *w, const char *text, uint32_t len)
{
	const char *end = text + len, *odd = find_odd(text, end);
	if (odd == end)
		return put_text(c, w, text, len);
	w->text.len = 0;
	for (; text < end; text = odd < end ? odd + 1 : end, odd = find_odd(text, end)) {
		ctp_bytes_put(&w->text, text, (size_t)(odd - text));
		char escaped[CTP_ESCAPE_GROWTH];
		if (odd < end)
			ctp_bytes_put(&w->text, escaped, (size_t)(ctp_escape_byte(escaped, *odd) - escaped));
	}
	w->failed |= w->text.failed;
	return put_text(c, w, w->text.data, (uint32_t)w->text.len);
}

static void put_enum(struct ctp_parquet_column *c, struct ctp_parquet_work *w, uint64_t v)
{
	unsigned slot = v % NEAR;
	if (c->near[slot].code1 && c->near[slot].value == v && !c->plain_now && make_room(c, w)) {
		c->codes[c->n++] = c->near[slot].code1 - 1;
		return;
	}
	char digits[CTP_TEXT_MAX];
	const char *label = ctp_value_label(c->field, v, false);
	if (!label)
		*ctp_text_u64(digits, v) = '\0';
	int32_t code = put_string(c, w, label ? label : digits, (uint32_t)strlen(label ? label : digits));
	c->near[slot].value = v;
	c->near[slot].code1 = (uint32_t)(code + 1);
}

void ctp_parquet_column_put(struct ctp_parquet_column *c, struct ctp_parquet_work *w, const struct ctp_record *rec, uint32_t n,
                            uint32_t field)
{
	for (uint32_t i = 0; !is_text(c) && i < n && make_room(c, w);) {
		uint32_t left = (uint32_t)c->room - c->n, here = n - i < left ? n - i : left;
		uint64_t *to = c->words + c->n;
		for (uint32_t k = 0; k < here; k++)
			to[k] = rec[i + k].val[field];
		c->n += here;
		i += here;
	}
	if (!is_text(c))
		return;
	for (uint32_t i = 0; i < n && !w->failed; i++) {
		const struct ctp_str *s = ctp_str_val(rec[i].val[field]);
		if (c->field->type == CTP_ENUM)
			put_enum(c, w, rec[i].val[field]);
		else if (c->field->type == CTP_STRING)
			put_string(c, w, s ? s->data : "", s ? s->len : 0);
		else
			put_text(c, w, s ? s->data : "", s ? s->len : 0);
	}
}

void ctp_parquet_column_run(struct ctp_parquet_column *c, struct ctp_parquet_work *w, uint64_t value, uint32_t n)
{
	if (value != c->value || c->n >= CTP_PARQUET_PAGE_ROWS)
		ctp_parquet_column_end_page(c, w);
	c->value = value;
	c->n += n;
}

void ctp_parquet_column_numbers(struct ctp_parquet_column *c, struct ctp_parquet_work *w, const uint64_t *v, uint32_t n, bool null)
{
	if (null != c->null)
		ctp_parquet_column_end_page(c, w);
	c->null = null;
	for (uint32_t i = 0; i < n && make_room(c, w); i++)
		c->words[c->n++] = v[i];
}
