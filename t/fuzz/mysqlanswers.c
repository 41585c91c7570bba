/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * mysqlanswers.c - whatever a server of MySQL's protocol answers, ctp-mysql survives it, has a message if it fails, and sends rows
 * to LOAD DATA alone.
 * Covers: formats/mysql formats/sql
 */
#include "mysql/mysql.h"

#include "answers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t seq;
static bool logged_in, gets_file; /* gets_file: what comes is a file, until an empty packet */
static uint8_t lines;             /* of it */

#define EVENTS "t|probe_id;t|tid;t|addr;t|seq;t|is_active;t|ts;t|coro;t|index;t|site"
static const struct usual usual[] = {
	{"get_lock", "1"}, {"max_allowed_packet", "16777216"},
	{"concat('_ctp_load_', 'd')", "1"}, {"concat('_ctp_load_', 't')", "1"}, {"SELECT count(", "0"},
	{"SELECT coalesce(max(id), 0) + 1", "1"}, {"SELECT coalesce(max", "1"}, {"declaration = '{\"name\":\"death\"", "2"}, {"declaration = ", "1"},
	{"k.id = 2 ", "d|ts;d|probe_id;d|coro;d|after;d|before"}, {"SELECT k.table_name", EVENTS}, {"SELECT id, table_name", "1|t;2|d"},
	{"SELECT column_name", "c"}, {"SELECT t.table_name, substr", "_ctp_load_t|t"}, {"SELECT", ""}, {NULL, NULL},
};

static void put(const void *payload, size_t len)
{
	uint8_t head[4] = {(uint8_t)len, (uint8_t)(len >> 8), (uint8_t)(len >> 16), seq++};
	answers_put(head, sizeof head);
	answers_put(payload, len);
}

static void put_done(uint8_t rows) { put((const uint8_t[]){0, rows, 0, 2, 0, 0, 0}, 7); }
static void put_eof(void) { put((const uint8_t[]){0xfe, 0, 0, 2, 0}, 5); }

static void put_columns(unsigned n)
{
	static const uint8_t column[] = "\3def\0\0\0\1c\0\x0c\x2d\0\xff\0\0\0\xfd\0\0\0\0";
	put((const uint8_t[]){(uint8_t)n}, 1);
	for (unsigned i = 0; i < n; i++)
		put(column, sizeof column);
	put_eof();
}

static void put_usual(const char *rows)
{
	if (!rows) {
		put_done(0);
		return;
	}
	unsigned columns = 1;
	for (const char *c = rows; *c && *c != ';'; c++)
		columns += *c == '|';
	put_columns(columns);
	while (*rows) {
		uint8_t row[512];
		size_t n = 0, line = strcspn(rows, ";");
		for (const char *c = rows, *end = rows + line; c <= end; c += strcspn(c, "|;") + 1) {
			size_t len = strcspn(c, "|;");
			row[n++] = (uint8_t)len;
			memcpy(row + n, c, len);
			n += len;
		}
		put(row, n);
		rows += line + (rows[line] != '\0');
	}
	put_eof();
}

/* Rows and columns as the input says. */
static void put_rows(void)
{
	unsigned columns = answers_byte() % 10, rows = answers_byte() % 40;
	put_columns(columns);
	for (unsigned i = 0; i < rows; i++) {
		uint8_t row[10 * 256];
		size_t n = 0;
		for (unsigned j = 0; j < columns; j++) {
			const uint8_t *text;
			size_t len = answers_text(&text);
			row[n++] = len == 250 ? 251 : (uint8_t)(len < 250 ? len : 249);
			if (len < 250)
				memcpy(row + n, text, len), n += len;
		}
		put(row, n);
	}
	put_eof();
}

static void put_error(void)
{
	const uint8_t *text;
	uint8_t error[3 + 256] = {0xff, answers_byte(), answers_byte()};
	size_t len = answers_text(&text);
	memcpy(error + 3, text, len);
	put(error, 3 + len);
}

static void ask_for_file(const uint8_t *name, size_t len)
{
	uint8_t packet[256] = {0xfb};
	memcpy(packet + 1, name, len < 255 ? len : 255);
	put(packet, 1 + (len < 255 ? len : 255));
	gets_file = true;
	lines = 0;
}

static void answer(enum answer how, const char *statement)
{
	const uint8_t *text;
	size_t len;
	switch (how) {
	case ANSWER_USUAL:
		if (!strncmp(statement, "LOAD DATA", 9))
			ask_for_file((const uint8_t *)"ctp-mysql", 9);
		else
			put_usual(answers_usual(usual, statement));
		return;
	case ANSWER_ROWS:
		put_rows();
		break;
	case ANSWER_RAW:
	case ANSWER_FRAMED:
		len = answers_text(&text);
		how == ANSWER_RAW ? answers_put(text, len) : put(text, len);
		break;
	case ANSWER_ERROR:
		put_error();
		break;
	case ANSWER_WANTS:
		len = answers_text(&text);
		ask_for_file(text, len);
		break;
	case ANSWER_END:
		answers.over = true;
		break;
	default:
		put_done(answers_byte());
		break;
	}
	answers_after();
}

static void serve_connect(void)
{
	static const char hello[] = "\x0a" "5.5.5-10.11.0-MariaDB\0" "\7\0\0\0" "12345678\0"
		"\x8b\xa2\x2d\2\0\x0b\0\x15\0\0\0\0\0\0\0\0\0\0" "123456789012\0" "mysql_native_password";
	seq = 0;
	logged_in = gets_file = false;
	put(hello, sizeof hello);
}

static size_t serve(const uint8_t *data, size_t len)
{
	size_t n = len < 4 ? 0 : data[0] | (size_t)data[1] << 8 | (size_t)data[2] << 16;
	if (len < 4 || len < 4 + n)
		return 0;
	seq = (uint8_t)(data[3] + 1);
	for (size_t i = 0; gets_file && i < n; i++)
		lines += data[4 + i] == '\n';
	if (gets_file && n)
		return 4 + n;
	if (gets_file) {
		gets_file = false;
		put_done(lines);
		return 4;
	}
	char statement[4096];
	snprintf(statement, sizeof statement, "%.*s", n ? (int)(n - 1 < sizeof statement ? n - 1 : sizeof statement) : 0, (const char *)data + 5);
	answer(answers_next(), logged_in ? statement : "LOGIN");
	logged_in = true;
	return 4 + n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ctp_err err = {0};
	if (!size)
		return 0;
	setenv("HOME", "/nonexistent", 1);
	answers_start(data + 1, size - 1);
	struct ctp_mysql_options options = {.socket = "/nonexistent/ctp-fuzz", .user = "u", .database = "d", .append = data[0] & 1, .table = data[0] & 2 ? "e" : NULL};
	answers_load(ctp_mysql_sink(&options, NULL, &err), &err);
	return 0;
}
