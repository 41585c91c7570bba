/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * sqlite-sort.h - sorts any number of keys, each a few 64-bit words, in bounded memory: sorted runs in a file without a name are
 * merged.
 */
#ifndef CTP_SQLITE_SORT_H
#define CTP_SQLITE_SORT_H

#include <stdbool.h>
#include <stdint.h>

enum { CTP_SQLITE_WORDS_MAX = 4 };

/* The runs are in the folder of the file beside. Null: out of memory. */
struct ctp_sqlite_sort;
struct ctp_sqlite_sort *ctp_sqlite_sort_new(unsigned words, const char *beside);
void ctp_sqlite_sort_free(struct ctp_sqlite_sort *s);

/* Adds a key. Keys are compared word by word, unsigned. False: failed, and errno says why. */
bool ctp_sqlite_sort_add(struct ctp_sqlite_sort *s, const uint64_t *key);

/* The first is called when all keys are added; the second gives one key after the other. 0: no more. -1: failed; errno says why. */
bool ctp_sqlite_sort_begin(struct ctp_sqlite_sort *s);
int ctp_sqlite_sort_next(struct ctp_sqlite_sort *s, uint64_t *key);

/* A descriptor of a file without a name in the folder of beside, which is gone when closed. -1: errno. */
int ctp_sqlite_scratch(const char *beside);

#endif
