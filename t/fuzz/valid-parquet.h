/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * valid-parquet.h - a strict judge of the structure of a Parquet file, which shares no code with the sink: magic at both ends, a footer
 * of the length that is said, chunks that follow each other without a gap, of pages that unpack to the length that is said and have as
 * many values as the row group has rows. What the values are is for DuckDB to say (parquet.t).
 */
#ifndef CTP_T_VALID_PARQUET_H
#define CTP_T_VALID_PARQUET_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "must.h"

enum { THRIFT_TRUE = 1, THRIFT_FALSE, THRIFT_BYTE, THRIFT_INT32 = 5, THRIFT_INT64, THRIFT_TEXT = 8, THRIFT_LISTED, THRIFT_STRUCTURE = 12 };

struct valid_parquet {
	const uint8_t *data, *p, *end; /* p to end: the Thrift at hand */
	size_t len, at;                /* at: where the next chunk begins */
	uint64_t rows, groups, columns;
};

/* --- Thrift's compact protocol -------------------------------------------------------------------------------------------- */

static inline uint8_t parquet_byte(struct valid_parquet *v)
{
	must(v->p < v->end, "the Thrift is cut short");
	return *v->p++;
}

static inline uint64_t parquet_varint(struct valid_parquet *v)
{
	uint64_t n = 0;
	for (unsigned shift = 0;; shift += 7) {
		uint8_t b = parquet_byte(v);
		must(shift < 64, "a number is too long");
		n |= (uint64_t)(b & 0x7f) << shift;
		if (b < 0x80)
			return n;
	}
}

static inline int64_t parquet_int(struct valid_parquet *v)
{
	uint64_t n = parquet_varint(v);
	return (int64_t)(n >> 1 ^ (0 - (n & 1)));
}

static inline size_t parquet_size(struct valid_parquet *v)
{
	int64_t n = parquet_int(v);
	must(n >= 0, "a size is negative");
	return (size_t)n;
}

/* The number of the next field of a structure, 0 at its end. */
static inline int parquet_field(struct valid_parquet *v, int *last, unsigned *type)
{
	uint8_t b = parquet_byte(v);
	if (!b)
		return 0;
	*type = b & 15;
	*last = b >> 4 ? *last + (b >> 4) : (int)parquet_int(v);
	return *last;
}

static inline size_t parquet_list(struct valid_parquet *v, unsigned *type)
{
	uint8_t b = parquet_byte(v);
	*type = b & 15;
	return b >> 4 == 15 ? (size_t)parquet_varint(v) : b >> 4;
}

static inline void parquet_skip(struct valid_parquet *v, unsigned type)
{
	int last = 0;
	unsigned of;
	size_t n;
	switch (type) {
	case THRIFT_TRUE: case THRIFT_FALSE: return;
	case THRIFT_BYTE: parquet_byte(v); return;
	case THRIFT_INT32: case THRIFT_INT64: parquet_varint(v); return;
	case THRIFT_TEXT:
		n = (size_t)parquet_varint(v);
		must(n <= (size_t)(v->end - v->p), "a text is too long");
		v->p += n;
		return;
	case THRIFT_LISTED:
		for (n = parquet_list(v, &of); n; n--)
			parquet_skip(v, of);
		return;
	case THRIFT_STRUCTURE:
		while (parquet_field(v, &last, &of))
			parquet_skip(v, of);
		return;
	default: must(0, "a type that nobody writes");
	}
}

/* --- pages ---------------------------------------------------------------------------------------------------------------- */

struct parquet_page {
	size_t type, raw, packed, values;
};

static inline void parquet_page_header(struct valid_parquet *v, struct parquet_page *page)
{
	unsigned type;
	*page = (struct parquet_page){.type = 99};
	for (int last = 0, field; (field = parquet_field(v, &last, &type));) {
		if (field == 1)
			page->type = parquet_size(v);
		else if (field == 2)
			page->raw = parquet_size(v);
		else if (field == 3)
			page->packed = parquet_size(v);
		else if (field == 5 || field == 7)
			for (int inner = 0, of; (of = parquet_field(v, &inner, &type));)
				if (of == 1)
					page->values = parquet_size(v);
				else
					parquet_skip(v, type);
		else
			parquet_skip(v, type);
	}
}

static inline void parquet_unpack(const uint8_t *data, const struct parquet_page *page)
{
	uint8_t *to = malloc(page->raw + 1);
	must(to, "no memory");
	must(ZSTD_decompress(to, page->raw + 1, data, page->packed) == page->raw, "a page does not unpack to its length");
	free(to);
}

/* The pages from one place up to another: a dictionary first, if there is one, and the values of the rest are counted. */
static inline void parquet_pages(const struct valid_parquet *file, size_t from, size_t data, size_t upto, size_t values, size_t raw)
{
	struct valid_parquet v = {.p = file->data + from, .end = file->data + upto};
	size_t all = 0, raw_all = 0;
	must(from < upto && (data == from || (data > from && data < upto)), "a chunk begins elsewhere");
	while (v.p < v.end) {
		const uint8_t *header = v.p;
		struct parquet_page page;
		parquet_page_header(&v, &page);
		must(page.packed <= (size_t)(v.end - v.p), "a page is too long");
		bool first = header == file->data + from;
		must(page.type == (first && data > from ? 2 : 0), "a page of another type");
		must(!(first && data > from) || v.p + page.packed == file->data + data, "the dictionary ends elsewhere");
		parquet_unpack(v.p, &page);
		raw_all += (size_t)(v.p - header) + page.raw;
		all += page.type ? 0 : page.values;
		v.p += page.packed;
	}
	must(all == values, "pages have more or fewer values");
	must(raw_all == raw, "pages are larger or smaller when unpacked");
}

/* --- the footer ----------------------------------------------------------------------------------------------------------- */

static inline size_t parquet_chunk(struct valid_parquet *v, size_t *packed_sum, size_t *raw_sum)
{
	size_t values = 0, raw = 0, packed = 0, data = 0, dict = 0;
	unsigned type;
	for (int last = 0, field; (field = parquet_field(v, &last, &type));) {
		if (field != 3) {
			parquet_skip(v, type);
			continue;
		}
		for (int meta = 0, of; (of = parquet_field(v, &meta, &type));) {
			size_t *to = of == 5 ? &values : of == 6 ? &raw : of == 7 ? &packed : of == 9 ? &data : of == 11 ? &dict : NULL;
			if (to)
				*to = parquet_size(v);
			else
				parquet_skip(v, type);
		}
	}
	size_t from = dict ? dict : data;
	must(from == v->at && packed <= v->len - from, "a chunk does not follow the one before");
	parquet_pages(v, from, data, from + packed, values, raw);
	v->at += packed;
	*packed_sum += packed;
	*raw_sum += raw;
	return values;
}

static inline void parquet_group(struct valid_parquet *v)
{
	size_t rows = 0, raw = 0, packed = 0, raw_sum = 0, packed_sum = 0, values[4096], n = 0;
	unsigned type, of;
	for (int last = 0, field; (field = parquet_field(v, &last, &type));) {
		if (field == 1) {
			n = parquet_list(v, &of);
			must(n == v->columns && n <= sizeof values / sizeof *values, "a row group has more or fewer columns");
			for (size_t i = 0; i < n; i++)
				values[i] = parquet_chunk(v, &packed_sum, &raw_sum);
		} else if (field == 2 || field == 3 || field == 6) {
			*(field == 2 ? &raw : field == 3 ? &rows : &packed) = parquet_size(v);
		} else {
			parquet_skip(v, type);
		}
	}
	must(rows && raw == raw_sum && packed == packed_sum, "a row group has another size");
	for (size_t i = 0; i < n; i++)
		must(values[i] == rows, "a column has more or fewer values than rows");
	v->rows += rows;
	v->groups++;
}

/* Goes through a file, and says what is in it. */
static inline struct valid_parquet valid_parquet(const uint8_t *data, size_t len)
{
	struct valid_parquet v = {.data = data, .len = len, .at = 4};
	must(len >= 12 && !memcmp(data, "PAR1", 4) && !memcmp(data + len - 4, "PAR1", 4), "no magic");
	size_t footer = data[len - 8] | (size_t)data[len - 7] << 8 | (size_t)data[len - 6] << 16 | (size_t)data[len - 5] << 24, rows = 0;
	must(footer <= len - 12, "the footer is too long");
	v.p = data + len - 8 - footer;
	v.end = data + len - 8;
	unsigned type, of;
	for (int last = 0, field; (field = parquet_field(&v, &last, &type));) {
		if (field == 2) {
			size_t n = parquet_list(&v, &of);
			must(n > 1, "no columns");
			for (v.columns = n - 1; n; n--)
				parquet_skip(&v, of);
		} else if (field == 3) {
			rows = parquet_size(&v);
		} else if (field == 4) {
			for (size_t n = parquet_list(&v, &of); n; n--)
				parquet_group(&v);
		} else {
			parquet_skip(&v, type);
		}
	}
	must(v.p == v.end, "something follows the footer");
	must(v.at == len - 8 - footer, "something stands between the chunks and the footer");
	must(rows == v.rows, "the footer has another number of rows");
	return v;
}

#endif
