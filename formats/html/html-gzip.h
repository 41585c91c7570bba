/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * html-gzip.h - bytes into a page: one gzip stream as base64, in script elements that a browser can take one after the other.
 */
#ifndef CTP_HTML_GZIP_H
#define CTP_HTML_GZIP_H

#include "io/output.h"

enum { CTP_HTML_PIECE = 8 << 20 }; /* bytes of base64 in an element */

struct ctp_html_gzip;

/* out stays the caller's. part is in the ids of the elements. Null: out of memory. */
struct ctp_html_gzip *ctp_html_gzip_new(struct ctp_output *out, unsigned part);
void ctp_html_gzip_put(void *gzip, const void *data, size_t len_bytes); /* a ctp_html_put (html-pack.h) */
void ctp_html_gzip_finish(struct ctp_html_gzip *g); /* and frees it */

#endif
