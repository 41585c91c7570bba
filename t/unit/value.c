/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* Values as text: each type as value.h says, strings through the format's escaping, and nothing is cut. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "stream/value.h"
#include "tap.h"

/* The text of the value; valid until the next call. */
static const char *put(const struct ctp_field *f, uint64_t v, ctp_value_spell *spell)
{
	static char *got;
	struct ctp_output out;
	struct ctp_err err;
	FILE *file = tmpfile();
	if (!file || ctp_output_fd(&out, fileno(file), "memory", &err))
		abort();
	ctp_value_put(&out, f, v, spell);
	off_t len = ctp_output_close(&out, &err) ? -1 : lseek(fileno(file), 0, SEEK_END);
	free(got);
	if (len < 0 || !(got = calloc(1, (size_t)len + 1)) || pread(fileno(file), got, (size_t)len, 0) != len)
		abort();
	fclose(file);
	return got;
}

/* A spelling of the maximum length. */
static char *spell(char *to, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		to += sprintf(to, "<%02x>%02x", (unsigned char)text[i], (unsigned char)i % 16);
	return to;
}

static void test_numbers(void)
{
	struct {
		uint8_t type, role, flags;
		uint64_t v;
		const char *want;
	} cases[] = {
		{CTP_U64, 0, 0, UINT64_MAX, "18446744073709551615"},
		{CTP_U8, 0, 0, 7, "7"},
		{CTP_I8, 0, 0, (uint64_t)-7, "-7"},
		{CTP_U64, CTP_ROLE_ADDRESS, 0, 255, "0x00000000000000ff"},
		{CTP_U32, 0, CTP_FIELD_HEX, 255, "0x00000000000000ff"},
		{CTP_BOOL, 0, 0, 1, "true"},
		{CTP_BOOL, 0, 0, 0, "false"},
		{CTP_F64, 0, 0, ctp_double_val(CTP_F64, 0.1), "0.1"},
		{CTP_F32, 0, 0, ctp_double_val(CTP_F32, 0.1), "0.1"},
		{CTP_F64, 0, 0, ctp_double_val(CTP_F64, -INFINITY), "-Infinity"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct ctp_field f = {.name = "f", .type = cases[i].type, .role = cases[i].role, .flags = cases[i].flags};
		is(put(&f, cases[i].v, spell), cases[i].want, "a number is not escaped");
	}
}

static void test_labels(void)
{
	const struct ctp_label labels[] = {{1, "one"}, {2, "one"}, {3, "4"}};
	struct ctp_field f = {.name = "f", .type = CTP_ENUM, .labels = labels, .nlabels = 3};
	is(put(&f, 1, NULL), "one", "a value with a label is written as its label");
	is(put(&f, 1, spell), "<6f>00<6e>01<65>02", "a label is escaped");
	is(put(&f, 2, NULL), "2", "a label that another value has already is not used");
	is(put(&f, 3, NULL), "3", "a label that looks like a number is not used");
	is(put(&f, 9, spell), "9", "a value without a label is written as a number");
}

static void test_texts(void)
{
	struct ctp_field text = {.name = "f", .type = CTP_STRING}, bytes = {.name = "f", .type = CTP_BYTES};
	enum { LONG = 100000 };
	struct ctp_str *s = calloc(1, sizeof *s + LONG + 1);
	memcpy(s->data, "a\0b", s->len = 3);
	is(put(&text, ctp_val_str(s), spell), "<61>00<00>01<62>02", "a string is escaped, its NUL too");
	is(put(&bytes, ctp_val_str(s), spell), "610062", "bytes are hexadecimal digits");
	is(put(&text, 0, spell), "", "a null is an empty string");
	is(put(&bytes, 0, spell), "", "a null of type bytes is empty");
	memset(s->data, 'x', s->len = LONG);
	is_u64(strlen(put(&text, ctp_val_str(s), NULL)), LONG, "a long string is not cut");
	is_u64(strlen(put(&text, ctp_val_str(s), spell)), LONG * CTP_SPELLED_MAX, "a long escaped string is not cut");
	free(s);
}

int main(void)
{
	test_numbers();
	test_labels();
	test_texts();
	return done_testing();
}
