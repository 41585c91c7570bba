/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * parquet-column.h - one column of a row group: its values become pages as they come, and the pages wait for the end of the group.
 *
 * A page is compressed with zstd, which has a checksum there: readers refuse a page that was damaged. Columns end their pages each for
 * itself. Numbers have a dictionary or are written as differences, whichever was smaller for the first page of the group; times are
 * always differences. A text, and the label of an enum, has a dictionary until that is full, and is plain from then on.
 */
#ifndef CTP_PARQUET_COLUMN_H
#define CTP_PARQUET_COLUMN_H

#include "base/err.h"
#include "parquet/parquet-dict.h"
#include "stream/record.h"

enum { CTP_PARQUET_PAGE_ROWS = 1 << 15, CTP_PARQUET_PAGE_BYTES = 1 << 20, CTP_PARQUET_STAT_MAX = 64 };

/* Parquet's numbers. */
enum ctp_parquet_physical { CTP_PARQUET_BOOLEAN, CTP_PARQUET_INT32, CTP_PARQUET_INT64, CTP_PARQUET_FLOAT = 4, CTP_PARQUET_DOUBLE,
                            CTP_PARQUET_BYTE_ARRAY };
enum ctp_parquet_encoding { CTP_PARQUET_PLAIN, CTP_PARQUET_RLE = 3, CTP_PARQUET_DELTA = 5, CTP_PARQUET_RLE_DICTIONARY = 8 };

/* What a column holds beside its physical type. */
enum ctp_parquet_meaning { CTP_PARQUET_NOTHING, CTP_PARQUET_STRING, CTP_PARQUET_MICROS, CTP_PARQUET_INTEGER };

struct ctp_parquet_stat {
	bool any, none; /* a value was seen; there can be no statistics */
	uint64_t min, max; /* of numbers, in an order of unsigned ones */
	double min_float, max_float;
	uint32_t min_len, max_len;
	char min_text[CTP_PARQUET_STAT_MAX], max_text[CTP_PARQUET_STAT_MAX];
};

struct ctp_parquet_column {
	char *name;
	const struct ctp_field *field; /* null: none of the class */
	uint8_t physical, meaning, bits; /* bits: of an integer */
	bool is_signed, optional, runs, differs; /* runs: one value for many rows; differs: always written as differences */

	/* The page at hand. */
	uint32_t n;
	size_t room;
	uint64_t *words; /* of numbers; null: the values are codes, or are in plain */
	uint32_t *codes;
	struct ctp_bytes plain;
	uint64_t value; /* of a column of runs; whether all values are null, of one that is optional */
	bool null;

	/* The chunk: what was written of the row group. */
	struct ctp_parquet_dict dict;
	bool plain_now, wrote_dict;
	unsigned chosen; /* the width of codes with which a dictionary was found smaller; 0: nothing is known yet */
	struct ctp_bytes pages;
	uint64_t rows, nulls, raw_bytes;
	uint32_t encodings; /* bits */
	struct ctp_parquet_stat stat;
	struct {
		uint64_t value;
		uint32_t code1; /* 0: none */
	} near[64]; /* codes of enums */
};

/* What the columns of a sink share: the compressor, and memory. */
struct ctp_parquet_work {
	struct ZSTD_CCtx_s *zstd;
	struct ctp_bytes raw, other, packed, text;
	uint32_t codes[CTP_PARQUET_PAGE_ROWS];
	bool failed; /* out of memory, or a compressor that fails */
};

struct ctp_parquet_work *ctp_parquet_work_new(void); /* null: out of memory */
void ctp_parquet_work_free(struct ctp_parquet_work *w);

/* The column of a field, name included; false: out of memory. */
bool ctp_parquet_column_init(struct ctp_parquet_column *c, const char *name, const struct ctp_field *field);
void ctp_parquet_column_fini(struct ctp_parquet_column *c);

/* The values of n records' field, or of a column of runs the value, n times. */
void ctp_parquet_column_put(struct ctp_parquet_column *c, struct ctp_parquet_work *w, const struct ctp_record *rec, uint32_t n,
                            uint32_t field);
void ctp_parquet_column_run(struct ctp_parquet_column *c, struct ctp_parquet_work *w, uint64_t value, uint32_t n);

/* n numbers, of which null says that they are none. */
void ctp_parquet_column_numbers(struct ctp_parquet_column *c, struct ctp_parquet_work *w, const uint64_t *v, uint32_t n, bool null);

void ctp_parquet_column_end_page(struct ctp_parquet_column *c, struct ctp_parquet_work *w);
void ctp_parquet_column_dictionary(struct ctp_parquet_column *c, struct ctp_parquet_work *w, struct ctp_bytes *to);
void ctp_parquet_column_clear(struct ctp_parquet_column *c, bool keep_memory);
size_t ctp_parquet_column_bytes(const struct ctp_parquet_column *c);

/* Statistics: notes values; puts the smaller or the larger one as it stands in a file, and returns its length; -1: there is none. */
void ctp_parquet_stat_number(struct ctp_parquet_column *c, uint64_t v);
void ctp_parquet_stat_numbers(struct ctp_parquet_column *c, const uint64_t *v, uint32_t n);
void ctp_parquet_stat_text(struct ctp_parquet_column *c, const char *text, uint32_t len);
int ctp_parquet_stat_get(const struct ctp_parquet_column *c, bool max, uint8_t to[CTP_PARQUET_STAT_MAX]);

#endif
