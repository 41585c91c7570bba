/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * pganswers.c - whatever a PostgreSQL server answers, ctp-postgres survives it (also live), with a message if it fails.
 * Covers: formats/postgres formats/sql
 */
#include "postgres/postgres.h"

#include "answers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool logged_in;

#define EVENTS "t|a|bigint;t|b|bigint;t|c|text;t|d|bigint;t|e|boolean;t|f|numeric(20,0);t|g|bigint;t|h|bigint;t|i|bigint"
static const struct usual usual[] = {
	{"advisory", "1"}, {"SELECT coalesce(max", "1"}, {"declaration = '{\"name\":\"death\"", "2"}, {"declaration = ", "1"},
	{"k.id = 2 ", "d|a|bigint;d|b|bigint;d|c|bigint;d|d|bigint;d|e|bigint"}, {"SELECT k.table_name", EVENTS},
	{"SELECT id, table_name", "1|t;2|d"}, {"SELECT column_name", "c"}, {"SELECT DISTINCT table_name", "t;d"},
	{"SELECT DISTINCT ON", "t|ts;d|ts"}, {"SELECT", ""}, {NULL, NULL},
};

static void put(char type, const void *body, size_t len)
{
	size_t n = len + 4;
	answers_put((const uint8_t[]){(uint8_t)type, (uint8_t)(n >> 24), (uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n}, 5);
	answers_put(body, len);
}

static void put_done(void)
{
	put('C', "DONE", 5);
	put('Z', "T", 1);
}

static void put_columns(unsigned n)
{
	static const uint8_t column[] = "c\0\0\0\0\0\0\0\0\0\0\x19\xff\xff\xff\xff\xff\xff\0";
	uint8_t all[2 + 16 * sizeof column] = {0, (uint8_t)n};
	for (unsigned i = 0; i < n; i++)
		memcpy(all + 2 + i * sizeof column, column, sizeof column);
	put('T', all, 2 + n * sizeof column);
}

static void put_usual(const char *rows)
{
	unsigned columns = 1;
	for (const char *c = rows; c && *c && *c != ';'; c++)
		columns += *c == '|';
	if (rows)
		put_columns(columns);
	while (rows && *rows) {
		uint8_t row[512] = {0, (uint8_t)columns};
		size_t n = 2, line = strcspn(rows, ";");
		for (const char *c = rows, *end = rows + line; c <= end; c += strcspn(c, "|;") + 1) {
			size_t len = strcspn(c, "|;");
			row[n + 3] = (uint8_t)len;
			memcpy(row + n + 4, c, len);
			n += 4 + len;
		}
		put('D', row, n);
		rows += line + (rows[line] != '\0');
	}
	put_done();
}

/* Rows and columns as the input says. */
static void put_rows(void)
{
	unsigned columns = answers_byte() % 12, rows = answers_byte() % 40;
	put_columns(columns);
	for (unsigned i = 0; i < rows; i++) {
		uint8_t row[2 + 12 * 260] = {0, (uint8_t)columns};
		size_t n = 2;
		for (unsigned j = 0; j < columns; j++) {
			const uint8_t *text;
			size_t len = answers_text(&text);
			memset(row + n, len == 250 ? 0xff : 0, 4);
			if (len != 250)
				row[n + 3] = (uint8_t)len, memcpy(row + n + 4, text, len);
			n += 4 + (len == 250 ? 0 : len);
		}
		put('D', row, n);
	}
	put_done();
}

static void answer(enum answer how, const char *statement)
{
	const uint8_t *text;
	size_t len;
	uint8_t kind;
	switch (how) {
	case ANSWER_USUAL:
		if (strncmp(statement, "COPY", 4))
			put_usual(answers_usual(usual, statement));
		else
			put('G', "\0\0", 3);
		return;
	case ANSWER_ROWS:
		put_rows();
		break;
	case ANSWER_RAW:
	case ANSWER_FRAMED:
		kind = how == ANSWER_RAW ? 0 : answers_byte();
		len = answers_text(&text);
		kind ? put((char)kind, text, len) : answers_put(text, len);
		break;
	case ANSWER_ERROR:
		len = answers_text(&text);
		put('E', text, len);
		put('Z', "E", 1);
		break;
	case ANSWER_WANTS:
		put('G', "\0\0", 3);
		break;
	case ANSWER_GIVES:
		put('H', "\0\0", 3);
		break;
	case ANSWER_END:
		answers.over = true;
		break;
	default:
		put_done();
		break;
	}
	answers_after();
}

static void serve_connect(void) { logged_in = false; }

/* The first message has no type; before it come requests for encryption, which are refused. */
static size_t log_in(const uint8_t *data, size_t n)
{
	if (n < 8 || data[4] || data[5] != 3) {
		answers_put("N", 1);
		return n;
	}
	logged_in = true;
	if (answers_next() != ANSWER_USUAL) {
		const uint8_t *text;
		size_t len = answers_text(&text);
		answers_put(text, len);
		answers_after();
	}
	put('R', "\0\0\0", 4);
	put('S', "server_encoding\0UTF8", 21);
	put('K', "\0\0\0\1\0\0\0\2", 8);
	put('Z', "I", 1);
	return n;
}

static size_t serve(const uint8_t *data, size_t len)
{
	size_t type = logged_in, n = len < type + 4 ? 0 : (size_t)data[type] << 24 | (size_t)data[type + 1] << 16 | (size_t)data[type + 2] << 8 | data[type + 3];
	if (len < type + 4 || len < type + n || n < 4)
		return 0;
	if (!logged_in)
		return log_in(data, n);
	if (data[0] == 'Q')
		answer(answers_next(), (const char *)data + 5);
	else if (data[0] == 'c' || data[0] == 'f' || data[0] == 'p')
		answer(answers_next(), "COMPLETE");
	return type + n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ctp_err err = {0};
	if (!size)
		return 0;
	setenv("HOME", "/nonexistent", 1);
	answers_start(data + 1, size - 1);
	struct ctp_postgres_options options = {.conninfo = "host=/nonexistent user=u password=p dbname=d", .append = data[0] & 1, .live = data[0] & 2,
	                                       .bigint = data[0] & 4, .table = data[0] & 8 ? "s.e" : NULL};
	answers_load(ctp_postgres_sink(&options, NULL, &err), &err);
	return 0;
}
