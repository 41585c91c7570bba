/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* beginning.c - looks at the first bytes of an input. */
#include "stream/beginning.h"

#include <ctype.h>
#include <string.h>

#include "stream/packet.h"

enum { MAGIC_BYTES = sizeof CTP_PACKET_MAGIC - 1 };

static bool is_json(const uint8_t *p, size_t n) { return n >= 2 && p[0] == '{' && memchr("\" \t\r\n}", p[1], 6); }

/* A header of CSV begins as text with a comma. A stream without its beginning has other bytes as well. */
static bool is_csv(const uint8_t *p, size_t n)
{
	enum { ENOUGH = 16 };
	size_t text = 0;
	while (text < n && text < ENOUGH && (isprint(p[text]) || isspace(p[text])))
		text++;
	return text && (text == n || text == ENOUGH) && memchr(p, ',', text);
}

enum ctp_status ctp_beginning_check(struct ctp_input *in, bool *strange, struct ctp_err *err)
{
	size_t n = ctp_input_fill(in, MAGIC_BYTES);
	*strange = memcmp(in->ptr, CTP_PACKET_MAGIC, n < MAGIC_BYTES ? n : MAGIC_BYTES) != 0;
	if (is_json(in->ptr, n))
		return ctp_err_as(err, CTP_ERR_NOT_STREAM, "%s: is JSON; pipe it through ctp-fromjsonl", in->name);
	return is_csv(in->ptr, in->avail) ? ctp_err_as(err, CTP_ERR_NOT_STREAM, "%s: looks like CSV; pipe it through ctp-fromcsv",
	                                               in->name) : CTP_OK;
}

enum ctp_status ctp_beginning_end(const struct ctp_input *in, bool strange, uint64_t packets, const char *made_by,
                                  struct ctp_err *err)
{
	if (!strange || packets)
		return CTP_OK;
	return ctp_err_as(err, CTP_ERR_NOT_STREAM, "%s: is no ctp stream%s%s", in->name, made_by ? "; " : "",
	                  made_by ? made_by : "");
}
