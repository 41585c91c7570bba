/*
 * kept.h - memory that a fuzz target keeps from one run to the next: a block that is freed goes to the next who asks for as many
 * bytes. For files of the library that take much of it, which include this before them: most of a run would be the sanitizer's
 * marking of large blocks. Blocks have their exact sizes, so that ASan sees a read beyond the end.
 */
#ifndef CTP_T_KEPT_H
#define CTP_T_KEPT_H

#include <stdlib.h>
#include <string.h>

enum { KEPT = 16 };
static struct {
	void *at;
	size_t bytes;
	int taken;
} kept[KEPT];

static inline void *kept_aligned(size_t align, size_t bytes)
{
	unsigned k = 0;
	while (k < KEPT && kept[k].at && (kept[k].taken || kept[k].bytes != bytes))
		k++;
	if (k == KEPT)
		abort(); /* a file with more of them needs more room here */
	if (!kept[k].at && !(kept[k].at = aligned_alloc(align, bytes)))
		return NULL;
	kept[k].bytes = bytes;
	kept[k].taken = 1;
	return kept[k].at;
}

static inline void *kept_malloc(size_t bytes) { return kept_aligned(16, bytes); }

static inline unsigned kept_number(const void *at)
{
	unsigned k = 0;
	while (k < KEPT && kept[k].at != at)
		k++;
	return k;
}

static inline void kept_free(void *at)
{
	unsigned k = kept_number(at);
	if (!at || k == KEPT)
		free(at); /* of calloc's */
	else
		kept[k].taken = 0;
}

static inline void *kept_realloc(void *at, size_t bytes)
{
	unsigned k = kept_number(at);
	void *more = kept_malloc(bytes);
	if (more && at && k < KEPT)
		memcpy(more, at, kept[k].bytes < bytes ? kept[k].bytes : bytes);
	if (more)
		kept_free(at);
	return more;
}

#define malloc kept_malloc
#define realloc kept_realloc
#define free kept_free
#define aligned_alloc kept_aligned

#endif
