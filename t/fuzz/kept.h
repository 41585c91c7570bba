/*
 * kept.h - memory that a fuzz target keeps from one run to the next: a block that is freed goes to the next who asks for as many
 * bytes. For files of the library that take much of it, which include this before them: most of a run would be the sanitizer's
 * marking of large blocks. Blocks have their exact sizes, so that ASan sees a read beyond the end.
 */
#ifndef CTP_T_KEPT_H
#define CTP_T_KEPT_H

#include <stdlib.h>

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

static inline void kept_free(void *at)
{
	for (unsigned k = 0; k < KEPT; k++)
		if (kept[k].at == at)
			kept[k].taken = 0;
}

#define malloc kept_malloc
#define free kept_free
#define aligned_alloc kept_aligned

#endif
