/*
 * kept.h - large blocks of memory are kept from one run of a fuzz target to the next: one that is freed goes to the next who asks for
 * as many bytes. Else most of a run is the sanitizer's marking of them.
 *
 * A target that includes this is linked with --wrap, so that the library's calls come here, and those of shared objects do not.
 * Blocks have their exact sizes, and the ends of a free one are poisoned: ASan sees what is beyond the end, and most of what comes
 * after a free.
 */
#ifndef CTP_T_KEPT_H
#define CTP_T_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t n, size_t bytes);
void *__real_realloc(void *at, size_t bytes);
void *__real_aligned_alloc(size_t align, size_t bytes);
void __real_free(void *at);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *__wrap_realloc(void *at, size_t bytes);
void *__wrap_aligned_alloc(size_t align, size_t bytes);
void __wrap_free(void *at);

#if defined __SANITIZE_ADDRESS__
#define KEPT_ASAN 1
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define KEPT_ASAN 1
#endif
#endif
#ifdef KEPT_ASAN
#include <sanitizer/asan_interface.h>
#define KEPT_POISON(at, bytes) __asan_poison_memory_region(at, bytes)
#define KEPT_UNPOISON(at, bytes) __asan_unpoison_memory_region(at, bytes)
#else
#define KEPT_POISON(at, bytes) ((void)(at))
#define KEPT_UNPOISON(at, bytes) ((void)(at))
#endif

enum { KEPT = 64, KEPT_LEAST = 32 << 10, KEPT_END = 4 << 10 };
static struct {
	uint8_t *at;
	size_t bytes;
	bool taken;
} kept[KEPT];

static inline void *kept_take(size_t align, size_t bytes)
{
	unsigned k = 0;
	while (k < KEPT && kept[k].at && (kept[k].taken || kept[k].bytes != bytes || (uintptr_t)kept[k].at % align))
		k++;
	if (bytes < KEPT_LEAST || k == KEPT)
		return NULL;
	if (!kept[k].at && !(kept[k].at = align > 16 ? __real_aligned_alloc(align, bytes) : __real_malloc(bytes)))
		return NULL;
	KEPT_UNPOISON(kept[k].at, KEPT_END);
	KEPT_UNPOISON(kept[k].at + bytes - KEPT_END, KEPT_END);
	memset(kept[k].at, 0xbe, KEPT_END);
	kept[k].bytes = bytes;
	kept[k].taken = true;
	return kept[k].at;
}

static inline unsigned kept_number(const void *at)
{
	unsigned k = 0;
	while (k < KEPT && kept[k].at && kept[k].at != at)
		k++;
	return k < KEPT && kept[k].at ? k : KEPT;
}

void *__wrap_malloc(size_t bytes)
{
	void *at = kept_take(16, bytes);
	return at ? at : __real_malloc(bytes);
}

void *__wrap_aligned_alloc(size_t align, size_t bytes)
{
	void *at = kept_take(align, bytes);
	return at ? at : __real_aligned_alloc(align, bytes);
}

void *__wrap_calloc(size_t n, size_t bytes)
{
	size_t all;
	void *at = __builtin_mul_overflow(n, bytes, &all) ? NULL : kept_take(16, all);
	return at ? memset(at, 0, all) : __real_calloc(n, bytes);
}

void __wrap_free(void *at)
{
	unsigned k = at ? kept_number(at) : KEPT;
	if (k == KEPT) {
		__real_free(at);
		return;
	}
	kept[k].taken = false;
	KEPT_POISON(kept[k].at, KEPT_END);
	KEPT_POISON(kept[k].at + kept[k].bytes - KEPT_END, KEPT_END);
}

void *__wrap_realloc(void *at, size_t bytes)
{
	unsigned k = kept_number(at);
	if (k == KEPT)
		return __real_realloc(at, bytes);
	void *more = __wrap_malloc(bytes);
	if (!more)
		return NULL;
	memcpy(more, at, kept[k].bytes < bytes ? kept[k].bytes : bytes);
	__wrap_free(at);
	return more;
}

#endif
