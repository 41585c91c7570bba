/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * pages.h - a large block of which the usual run touches little: a table as long as its limit, a buffer for the longest row.
 *
 * A page is zeros, and takes no memory, until it is touched. After the block is a page that nobody may touch, so that an overrun is
 * a crash in every build.
 */
#ifndef CTP_PAGES_H
#define CTP_PAGES_H

#include <stddef.h>


void *ctp_pages_new(size_t bytes); /* aligned to 64 bytes; null: out of memory */
void ctp_pages_free(void *block, size_t bytes); /* null: nothing */
void ctp_pages_clear(void *block, size_t bytes); /* zeros again, and the pages go back to the system */

#endif
