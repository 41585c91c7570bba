/*
 * sqlite-sort.h - any number of keys, each a few 64-bit words, into their order with bounded memory: sorted runs in a file
 * without a name, then merged.
 */
#ifndef CTP_SQLITE_SORT_H
#define CTP_SQLITE_SORT_H

#include <stdbool.h>
#include <stdint.h>

enum { CTP_SQLITE_WORDS_MAX = 4 };

/* beside: a file in whose folder the runs go. Null: out of memory. */
struct ctp_sqlite_sort;
struct ctp_sqlite_sort *ctp_sqlite_sort_new(unsigned words, const char *beside);
void ctp_sqlite_sort_free(struct ctp_sqlite_sort *s);

/* Compared word by word, unsigned. False: failed, and errno says why. */
bool ctp_sqlite_sort_add(struct ctp_sqlite_sort *s, const uint64_t *key);

/* After the last was added; then one key at a time, in order. 0: no more. -1: failed, and errno says why. */
bool ctp_sqlite_sort_begin(struct ctp_sqlite_sort *s);
int ctp_sqlite_sort_next(struct ctp_sqlite_sort *s, uint64_t *key);

/* A descriptor for a file in the folder of beside that has no name and is gone when it is closed. -1: errno. */
int ctp_sqlite_scratch(const char *beside);

#endif
