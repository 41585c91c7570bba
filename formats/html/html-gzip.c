/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* html-gzip.c - deflate, then base64, in elements of CTP_HTML_PIECE bytes. */
#include "html/html-gzip.h"

#include <stdio.h>
#include <stdlib.h>

#include <zlib.h>

enum {
	LEVEL = 4, /* 6 makes packed events no smaller, and takes half as long again */
	GZIP_BITS = 15 + 16, /* the largest window; 16: with the header of gzip */
	MEMORY = 9,          /* what zlib may take; more is a little quicker */
	OUT = 3 << 13,       /* bytes that are encoded at once: a multiple of 3, and a divisor of a piece */
	PIECE_BYTES = CTP_HTML_PIECE / 4 * 3,
};

_Static_assert(PIECE_BYTES % OUT == 0, "a piece ends where a buffer does");

struct ctp_html_gzip {
	struct ctp_output *out;
	z_stream z;
	uint64_t bytes; /* compressed bytes so far */
	unsigned part, pieces;
	uint8_t buf[OUT];
};

struct ctp_html_gzip *ctp_html_gzip_new(struct ctp_output *out, unsigned part)
{
	struct ctp_html_gzip *g = calloc(1, sizeof *g);
	if (g && deflateInit2(&g->z, LEVEL, Z_DEFLATED, GZIP_BITS, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK) {
		free(g);
		return NULL;
	}
	if (g) {
		g->out = out;
		g->part = part;
		g->z.next_out = g->buf;
		g->z.avail_out = OUT;
	}
	return g;
}

static char *spell(char *to, const uint8_t *p, size_t n)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	for (; n; p += 3, n -= n < 3 ? n : 3) {
		uint32_t v = (uint32_t)p[0] << 16 | (n > 1 ? (uint32_t)p[1] << 8 : 0) | (n > 2 ? p[2] : 0);
		*to++ = digits[v >> 18];
		*to++ = digits[v >> 12 & 63];
		*to++ = n > 1 ? digits[v >> 6 & 63] : '=';
		*to++ = n > 2 ? digits[v & 63] : '=';
	}
	return to;
}

static void end_piece(struct ctp_html_gzip *g)
{
	static const char end[] = "</script>\n";
	ctp_output_put(g->out, end, sizeof end - 1);
}

/* Writes the buffer, which is full except the last time. */
static void put_buffer(struct ctp_html_gzip *g)
{
	size_t n = OUT - g->z.avail_out;
	_Static_assert(OUT / 3 * 4 <= CTP_OUTPUT_ROOM, "a buffer, spelled, fits the output's room");
	if (g->bytes % PIECE_BYTES == 0) {
		static const char head[] = "<script type=\"application/octet-stream\" id=\"ctp-data-";
		char begin[sizeof head + 32];
		int len = snprintf(begin, sizeof begin, "%s%u-%u\">", head, g->part, g->pieces++);
		ctp_output_put(g->out, begin, (size_t)len);
	}
	ctp_output_commit(g->out, spell(ctp_output_reserve(g->out, OUT / 3 * 4), g->buf, n));
	g->bytes += n;
	if (g->bytes % PIECE_BYTES == 0)
		end_piece(g);
	g->z.next_out = g->buf;
	g->z.avail_out = OUT;
}

void ctp_html_gzip_put(void *gzip, const void *data, size_t len_bytes)
{
	struct ctp_html_gzip *g = gzip;
	g->z.next_in = (Bytef *)(uintptr_t)data; /* zlib only reads it */
	g->z.avail_in = (uInt)len_bytes;
	while (g->z.avail_in) {
		deflate(&g->z, Z_NO_FLUSH);
		if (!g->z.avail_out)
			put_buffer(g);
	}
}

void ctp_html_gzip_finish(struct ctp_html_gzip *g)
{
	while (deflate(&g->z, Z_FINISH) == Z_OK)
		put_buffer(g);
	if (g->z.avail_out < OUT)
		put_buffer(g);
	if (g->bytes % PIECE_BYTES)
		end_piece(g);
	deflateEnd(&g->z);
	free(g);
}
