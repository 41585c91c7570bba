/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * tohtml.c - whatever records come, in whatever classes, the page is the one that was written but for its data, whose elements
 * close, whose JSON is JSON without anything that could end its element, and whose events are whole.
 * Covers: formats/html lib/analyse
 */
#include <zlib.h>

#include "textmem.h"
#include "html/html.h"
#include "steps.h"
#include "valid.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int digit(char c)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = c ? strchr(digits, c) : NULL;
	return at ? (int)(at - digits) : -1;
}

/* Base64 of a whole gzip stream. */
static void check_events(const char *from, const char *upto)
{
	uint8_t out[4096], three[3];
	z_stream z = {0};
	int status = Z_OK;
	must(inflateInit2(&z, 15 + 16) == Z_OK && (upto - from) % 4 == 0 && from < upto, "no base64");
	for (; from < upto && status == Z_OK; from += 4) {
		unsigned pad = from[3] != '=' ? 0 : from[2] != '=' ? 1 : 2;
		int d[4] = {digit(from[0]), digit(from[1]), pad > 1 ? 0 : digit(from[2]), pad ? 0 : digit(from[3])};
		must(d[0] >= 0 && d[1] >= 0 && d[2] >= 0 && d[3] >= 0 && (!pad || from + 4 == upto), "no base64");
		uint32_t v = (uint32_t)d[0] << 18 | (uint32_t)d[1] << 12 | (uint32_t)d[2] << 6 | (uint32_t)d[3];
		three[0] = (uint8_t)(v >> 16), three[1] = (uint8_t)(v >> 8), three[2] = (uint8_t)v;
		z.next_in = three;
		z.avail_in = 3 - pad;
		do {
			z.next_out = out;
			z.avail_out = sizeof out;
			status = inflate(&z, Z_NO_FLUSH);
		} while (status == Z_OK && z.avail_in);
		if (status == Z_BUF_ERROR)
			status = Z_OK; /* wants more */
	}
	must(status == Z_STREAM_END && from == upto, "the events are not whole");
	inflateEnd(&z);
}

static void check_script(const char *tag, const char *from, const char *upto)
{
	static const char json[] = "<script type=\"application/json\"", events[] = "<script type=\"application/octet-stream\"";
	if (!strncmp(tag, json, sizeof json - 1)) {
		valid_must(valid_json(from, (size_t)(upto - from)), "no JSON", from, (size_t)(upto - from));
		for (const char *p = from; p < upto; p++)
			valid_must(*p != '<' && *p != '>' && *p != '&', "markup in the data", p, (size_t)(upto - p));
	} else {
		valid_must(!strncmp(tag, events, sizeof events - 1), "a script that is no data", tag, (size_t)(upto - tag));
		check_events(from, upto);
	}
}

/* The page itself is judged once, the data each time. */
static void check(const char *text, size_t len)
{
	static bool judged;
	const char *data = strstr(ctp_html_page, CTP_HTML_DATA), *rest = data + strlen(CTP_HTML_DATA);
	size_t before = (size_t)(data - ctp_html_page), after = strlen(rest);
	if (!judged)
		valid_html(ctp_html_page, strlen(ctp_html_page), NULL);
	judged = true;
	must(len > before + after && !memcmp(text, ctp_html_page, before) && !memcmp(text + len - after, rest, after),
	           "another page");
	valid_html(text + before, len - before - after, check_script);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct textmem text;
	char title[CTP_NAME_MAX + 1], source[CTP_NAME_MAX + 1];
	struct ctp_output out;
	struct steps s;
	steps_start(&s, data, size);
	uint8_t how = steps_byte(&s);
	struct ctp_html_options options = {.max_events = how & 1 ? 4 : CTP_HTML_EVENTS_MAX, .report.no_symbols = how & 2};
	options.title = how & 4 ? steps_name(&s, title) : NULL;
	options.source = how & 8 ? steps_name(&s, source) : "x";
	if (how & 16)
		options.report.since_ns = steps_number(&s), options.report.until_ns = steps_number(&s);
	textmem_open(&out);
	struct ctp_sink *sink = ctp_html_sink(&out, &options, &s.err);
	must(sink, "no sink");
	steps_run(&s, sink);
	if (steps_finish(&s)) {
		textmem_take(&text);
		check((const char *)text.data, text.len);
	} else {
		must(strstr(s.err.text, "has no clock"), s.err.text);
	}
	steps_fini(&s);
	return 0;
}
