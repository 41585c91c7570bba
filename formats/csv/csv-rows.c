/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * csv-rows.c - the rows of a CSV file.
 *
 * A line without a quote, of which no field has space around it, is split at its commas where it lies, as libcsv would do.
 * All others go through libcsv, up to a CR or LF at a time, so that at most one row ends in each call and its line is known.
 */
#include "csv/csv-rows.h"

#include <csv.h>
#include <endian.h>
#include <stdlib.h>

#include "base/pages.h"

enum { QUICK_MAX = 64 << 10 }; /* a longer line goes through libcsv, which takes it in pieces */

static void begin_parser(struct ctp_csv_rows *rows)
{
	csv_init(rows->parser, CSV_STRICT | CSV_STRICT_FINI | CSV_REPALL_NL); /* fails only if the parser is null */
	csv_set_blk_size(rows->parser, 64 << 10);
}

enum ctp_status ctp_csv_rows_init(struct ctp_csv_rows *rows, struct ctp_input *in, struct ctp_err *err)
{
	*rows = (struct ctp_csv_rows){.in = in};
	rows->fields = ctp_pages_new(CTP_CSV_COLUMNS_MAX * sizeof *rows->fields);
	rows->text = ctp_pages_new(CTP_CSV_ROW_MAX);
	rows->parser = calloc(1, sizeof *rows->parser);
	if (!rows->fields || !rows->text || !rows->parser) {
		ctp_csv_rows_fini(rows);
		return ctp_err_as(err, CTP_ERR_MEMORY, "%s: out of memory", in->name);
	}
	begin_parser(rows);
	return CTP_OK;
}

void ctp_csv_rows_fini(struct ctp_csv_rows *rows)
{
	if (rows->parser)
		csv_free(rows->parser);
	free(rows->parser);
	ctp_pages_free(rows->text, CTP_CSV_ROW_MAX);
	ctp_pages_free(rows->fields, CTP_CSV_COLUMNS_MAX * sizeof *rows->fields);
	*rows = (struct ctp_csv_rows){0};
}

/* --- the quick way ------------------------------------------------------------------------------------------------------- */

static bool is_space(char c) { return c == ' ' || c == '\t'; }

/* The row has a byte that is not above a quote. True if it can stay split: it has no quote, no CR, no space around a field. */
static bool is_plain(const struct ctp_csv_rows *rows, const char *p, uint32_t len)
{
	for (uint32_t i = 0; i < rows->n; i++) {
		const struct ctp_csv_field *f = &rows->fields[i];
		if (f->len && (is_space(p[f->at]) || is_space(p[f->at + f->len - 1])))
			return false;
	}
	return !memchr(p, '"', len) && !memchr(p, '\r', len);
}

/* Splits a line, eight bytes at a time. False: libcsv must do it. */
static bool split(struct ctp_csv_rows *rows, const char *p, uint32_t len)
{
	static const uint64_t ones = 0x0101010101010101, low = 0x7f7f7f7f7f7f7f7f;
	struct ctp_csv_field *f = rows->fields, *last = f + CTP_CSV_COLUMNS_MAX - 1;
	uint64_t odd = 0;
	uint32_t from = 0;
	for (uint32_t i = 0; i < len; i += 8) {
		uint64_t word = ~UINT64_C(0);
		if (len - i >= 8)
			memcpy(&word, p + i, 8);
		else
			memcpy(&word, p + i, len - i);
		word = le64toh(word);
		/* A top bit is set if a byte is not above a quote: a quote, a space, a tab, a CR. */
		odd |= (word - ones * ('"' + 1)) & ~word;
		/* The top bit of a byte is set if and only if the byte is a comma: no carry goes from one to the next. */
		uint64_t comma = word ^ ones * ',';
		for (comma = ~(((comma & low) + low) | comma | low); comma; comma &= comma - 1) {
			uint32_t at = i + (uint32_t)__builtin_ctzll(comma) / 8;
			if (f == last)
				return false;
			*f++ = (struct ctp_csv_field){from, at - from};
			from = at + 1;
		}
	}
	*f++ = (struct ctp_csv_field){from, len - from};
	rows->n = (uint32_t)(f - rows->fields);
	return !(odd & ~low) || is_plain(rows, p, len);
}

/* The line at hand has len bytes without its newline. */
static bool take_quick(struct ctp_csv_rows *rows, size_t len)
{
	const char *p = (const char *)rows->in->ptr;
	bool cr = len && p[len - 1] == '\r';
	if (len > QUICK_MAX || !split(rows, p, (uint32_t)(len - cr)))
		return false;
	rows->base = p;
	rows->taken = len + 1;
	rows->looked = 0;
	rows->line = ++rows->lines;
	/* An empty line has one empty field, and is no row. */
	rows->n -= rows->n == 1 && !rows->fields[0].len;
	return true;
}

/* --- libcsv -------------------------------------------------------------------------------------------------------------- */

static void on_field(void *text, size_t len, void *arg)
{
	struct ctp_csv_rows *rows = arg;
	if (rows->n == CTP_CSV_COLUMNS_MAX) {
		rows->too_many = true;
		return;
	}
	/* There is room: the fields of a row are not longer than the row. */
	memcpy(rows->text + rows->used, text, len);
	rows->fields[rows->n++] = (struct ctp_csv_field){(uint32_t)rows->used, (uint32_t)len};
	rows->used += len;
}

static void on_row(int end, void *arg)
{
	(void)end;
	((struct ctp_csv_rows *)arg)->ended = true;
}

static void consume(struct ctp_csv_rows *rows, size_t len)
{
	ctp_input_skip(rows->in, len);
	rows->looked -= rows->looked < len ? rows->looked : len;
}

/* The length of the bytes at hand up to a CR or LF, and with it if there is one, which *whole says. */
static size_t piece(const struct ctp_input *in, bool *whole)
{
	size_t len = 0;
	while (len < in->avail && in->ptr[len] != '\n' && in->ptr[len] != '\r')
		len++;
	*whole = len < in->avail;
	return len + *whole;
}

/* Skips the piece at hand, and counts a line if the piece ends one. */
static void pass_piece(struct ctp_csv_rows *rows, size_t len, bool whole)
{
	uint8_t last = rows->in->ptr[len - 1];
	bool second = len == 1 && last == '\n' && rows->after_cr; /* the LF of a CRLF */
	rows->lines += whole && !second;
	rows->after_cr = whole && last == '\r';
	consume(rows, len);
}

/* Skips the rest of a line that cannot be read. */
static void pass_line(struct ctp_csv_rows *rows)
{
	bool whole = false;
	while (!whole && ctp_input_fill(rows->in, 1)) {
		size_t len = piece(rows->in, &whole);
		pass_piece(rows, len, whole);
	}
	csv_free(rows->parser); /* only a new parser forgets an open quote */
	begin_parser(rows);
}

static enum ctp_status fail(struct ctp_csv_rows *rows, struct ctp_err *why)
{
	if (csv_error(rows->parser) == CSV_EPARSE)
		ctp_err_set(why, "column %u: a quote where none may be; one in a text is written twice, and the text in quotes",
		            rows->n + 1);
	else
		ctp_err_set(why, "column %u: %s", rows->n + 1, csv_strerror(csv_error(rows->parser)));
	pass_line(rows);
	return CTP_FAILED;
}

/* The row is rejected: without its last digits a number would still look like one. */
static enum ctp_status cut_off(const struct ctp_csv_rows *rows, struct ctp_err *why)
{
	return ctp_err_set(why, "column %u: cut off with the input", rows->n);
}

/* The row of the last line, which has no newline. */
static enum ctp_status take_rest(struct ctp_csv_rows *rows, struct ctp_err *why)
{
	if (csv_fini(rows->parser, on_field, on_row, rows)) {
		pass_line(rows);
		return ctp_err_set(why, "column %u: a quote that is not closed until the end", rows->n + 1);
	}
	if (rows->n && rows->in->harmed)
		return cut_off(rows, why);
	return rows->n ? CTP_OK : CTP_EOF;
}

static enum ctp_status take_slow(struct ctp_csv_rows *rows, struct ctp_err *why)
{
	size_t row_bytes = 0;
	rows->n = 0;
	rows->used = 0;
	rows->ended = rows->too_many = false;
	rows->base = rows->text;
	rows->line = rows->lines + 1;
	while (!rows->ended && ctp_input_fill(rows->in, 1)) {
		bool whole;
		size_t len = piece(rows->in, &whole);
		row_bytes += len;
		if (row_bytes > CTP_CSV_ROW_MAX) {
			pass_line(rows);
			return ctp_err_set(why, "column %u: the row is longer than %d bytes; is a quote not closed?",
			                   rows->n + 1, CTP_CSV_ROW_MAX);
		}
		if (csv_parse(rows->parser, rows->in->ptr, len, on_field, on_row, rows) != len)
			return fail(rows, why);
		pass_piece(rows, len, whole);
	}
	enum ctp_status status = rows->ended ? CTP_OK : take_rest(rows, why);
	if (status)
		return status;
	return rows->too_many ? ctp_err_set(why, "more than %d columns", CTP_CSV_COLUMNS_MAX) : CTP_OK;
}

/* --- both ---------------------------------------------------------------------------------------------------------------- */

/* Where the next row begins. */
static void pass_row(struct ctp_csv_rows *rows)
{
	struct ctp_input *in = rows->in;
	consume(rows, rows->taken);
	rows->taken = 0;
	if (rows->after_cr && ctp_input_fill(in, 1) && *in->ptr == '\n')
		consume(rows, 1);
	rows->after_cr = false;
	if (!rows->begun && ctp_input_fill(in, 3) >= 3 && !memcmp(in->ptr, "\xef\xbb\xbf", 3))
		consume(rows, 3);
	rows->begun = true;
}

/* Null: there is none, or not within what may be split where it lies. */
static const uint8_t *find_newline(struct ctp_csv_rows *rows)
{
	struct ctp_input *in = rows->in;
	while (rows->looked <= QUICK_MAX) {
		if (in->avail == rows->looked && ctp_input_fill(in, rows->looked + 1) == rows->looked)
			break;
		const uint8_t *newline = memchr(in->ptr + rows->looked, '\n', in->avail - rows->looked);
		if (newline)
			return newline;
		rows->looked = in->avail;
	}
	return NULL;
}

enum ctp_status ctp_csv_rows_next(struct ctp_csv_rows *rows, struct ctp_err *why)
{
	struct ctp_input *in = rows->in;
	enum ctp_status status = CTP_OK;
	do {
		pass_row(rows);
		const uint8_t *newline = find_newline(rows);
		if (!newline || !take_quick(rows, (size_t)(newline - in->ptr)))
			status = take_slow(rows, why);
	} while (status == CTP_OK && !rows->n);
	/* The input puts a NUL and a newline where bytes are missing. */
	const struct ctp_csv_field *last = status ? NULL : &rows->fields[rows->n - 1];
	if (last && in->harmed && last->len && !rows->base[last->at + last->len - 1])
		status = cut_off(rows, why);
	return in->failed ? CTP_EOF : status;
}

size_t ctp_csv_rows_peek(struct ctp_csv_rows *rows, size_t most, const char **from)
{
	struct ctp_input *in = rows->in;
	ctp_input_fill(in, rows->taken + most);
	if (rows->taken) /* the row is in the input */
		rows->base = (const char *)in->ptr;
	*from = (const char *)in->ptr + rows->taken;
	size_t n = in->avail - rows->taken;
	if (n > most || !in->eof || in->harmed) {
		const char *newline = memrchr(*from, '\n', n < most ? n : most);
		n = newline ? (size_t)(newline + 1 - *from) : 0;
	}
	return n;
}
