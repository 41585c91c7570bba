/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * bytes.h - a buffer of bytes that grows: for texts, and for what a file or a server is given at once.
 *
 * Zeros are an empty buffer. Puts return nothing: after the first that finds no memory, failed is set, and later puts do nothing.
 */
#ifndef CTP_BYTES_H
#define CTP_BYTES_H

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

struct ctp_bytes {
	char *data;
	size_t len, room;
	bool failed; /* out of memory */
};

/* Room for n more bytes, where the next put goes; ctp_bytes_commit says where the used ones end. Null: failed. */
static inline void *ctp_bytes_reserve(struct ctp_bytes *b, size_t n)
{
	assert(b->len <= b->room);
	if (b->room - b->len < n && !b->failed)
		b->failed = !CTP_ARRAY_RESERVE(b->data, b->room, b->len + n, SIZE_MAX);
	return b->failed ? NULL : b->data + b->len;
}

static inline void ctp_bytes_commit(struct ctp_bytes *b, const void *upto)
{
	b->len = (size_t)((const char *)upto - b->data);
	assert(b->len <= b->room);
}

static inline void ctp_bytes_put(struct ctp_bytes *b, const void *data, size_t n)
{
	void *to = n ? ctp_bytes_reserve(b, n) : NULL;
	if (to) {
		memcpy(to, data, n);
		b->len += n;
	}
}

static inline void ctp_bytes_byte(struct ctp_bytes *b, uint8_t byte) { ctp_bytes_put(b, &byte, 1); }
static inline void ctp_bytes_text(struct ctp_bytes *b, const char *text) { ctp_bytes_put(b, text, strlen(text)); }

/* A word for a shell, in quotes if it needs them. */
static inline void ctp_bytes_word(struct ctp_bytes *b, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,@%+";
	const char *quote = *word && word[strspn(word, plain)] == '\0' ? "" : "'";
	ctp_bytes_text(b, quote);
	for (; *word; word++)
		if (*word == '\'')
			ctp_bytes_text(b, "'\\''");
		else
			ctp_bytes_byte(b, (uint8_t)*word);
	ctp_bytes_text(b, quote);
}

static inline void ctp_bytes_fini(struct ctp_bytes *b)
{
	free(b->data);
	*b = (struct ctp_bytes){0};
}

/* The bytes as a text: a NUL follows them, which does not count. Good until the next put. Null: failed. */
static inline const char *ctp_bytes_str(struct ctp_bytes *b)
{
	char *end = ctp_bytes_reserve(b, 1);
	if (end)
		*end = '\0';
	return end ? b->data : NULL;
}

/* The bytes as a text that ends with a NUL, for free(); the buffer is empty then. Null: out of memory, now or before. */
static inline char *ctp_bytes_take(struct ctp_bytes *b)
{
	ctp_bytes_byte(b, '\0');
	char *text = b->failed ? NULL : b->data;
	if (b->failed)
		free(b->data);
	*b = (struct ctp_bytes){0};
	return text;
}

#endif
