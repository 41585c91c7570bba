/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ctp-cacheray.h - adds types of memory to a trace of memory accesses, which the runtime in ctp-cacheray.c writes.
 *
 *	struct foo *f = CACHERAY_MALLOC(struct foo, 10); // memory with ten of them
 *	CACHERAY_FREE(f);                                // the end of that
 *	CACHERAY_ADD(&table, struct entry, 100);         // the same for other memory
 *	CACHERAY_REMOVE(&table);
 *	CACHERAY_RECORD(0);                              // accesses are not recorded until CACHERAY_RECORD(1)
 *
 * If the runtime is not linked, these calls do nothing, and the macros for the heap are malloc, calloc and free. For C and C++.
 * See ctp-cacheray.h(3).
 */
#ifndef CTP_CACHERAY_RUNTIME_H
#define CTP_CACHERAY_RUNTIME_H

#define CTP_CACHERAY_VERSION "0.1.0"
#define CTP_CACHERAY_VERSION_NUMBER 100 /* 10000 * major + 100 * minor + patch */

#include <stddef.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

/* There are count elements of a type at ptr; "struct foo" is written as struct.foo. Names are cut to 1,000 bytes. */
__attribute__((weak)) void cacheray_add(const void *ptr, const char *type, size_t element_bytes, size_t count);
__attribute__((weak)) void cacheray_remove(const void *ptr);

/* Turns the recording of accesses on or off. Types of memory are always recorded. */
__attribute__((weak)) void cacheray_record(int on);

/* Ensures that everything recorded so far is in the file, or was written to the pipe. */
__attribute__((weak)) void cacheray_flush(void);

static inline void *cacheray_added(void *ptr, const char *type, size_t element_bytes, size_t count)
{
	if (ptr && cacheray_add)
		cacheray_add(ptr, type, element_bytes, count);
	return ptr;
}

static inline void cacheray_removed(const void *ptr)
{
	if (ptr && cacheray_remove)
		cacheray_remove(ptr);
}

static inline void *cacheray_malloc(const char *type, size_t element_bytes, size_t count)
{
	size_t bytes;
	if (__builtin_mul_overflow(element_bytes, count, &bytes))
		return NULL;
	return cacheray_added(malloc(bytes), type, element_bytes, count);
}

/* The region ends before another thread can get the memory. */
static inline void cacheray_free(void *ptr)
{
	cacheray_removed(ptr);
	free(ptr);
}

/* A type may contain commas, as in std::pair<int, int>: the last argument is the count. */
#define CACHERAY_ADD(...) CACHERAY_TYPED(CACHERAY_ADD_OF, __VA_ARGS__)
#define CACHERAY_REMOVE(ptr) cacheray_removed(ptr)
#define CACHERAY_MALLOC(...) CACHERAY_TYPED(CACHERAY_MALLOC_OF, 0, __VA_ARGS__)
#define CACHERAY_CALLOC(...) CACHERAY_TYPED(CACHERAY_CALLOC_OF, 0, __VA_ARGS__)
#define CACHERAY_FREE(ptr) cacheray_free(ptr)
#define CACHERAY_RECORD(on) (cacheray_record ? cacheray_record(on) : (void)0)


/* Calls of(ptr, count, type) for the arguments ptr, type, count; the type has up to six parts. */
#define CACHERAY_TYPED(of, ...) \
	CACHERAY_NINTH(__VA_ARGS__, CACHERAY_6, CACHERAY_5, CACHERAY_4, CACHERAY_3, CACHERAY_2, CACHERAY_1, , , 0)(of, __VA_ARGS__)
#define CACHERAY_NINTH(a, b, c, d, e, f, g, h, ninth, ...) ninth
#define CACHERAY_1(of, ptr, a, count) of(ptr, count, a)
#define CACHERAY_2(of, ptr, a, b, count) of(ptr, count, a, b)
#define CACHERAY_3(of, ptr, a, b, c, count) of(ptr, count, a, b, c)
#define CACHERAY_4(of, ptr, a, b, c, d, count) of(ptr, count, a, b, c, d)
#define CACHERAY_5(of, ptr, a, b, c, d, e, count) of(ptr, count, a, b, c, d, e)
#define CACHERAY_6(of, ptr, a, b, c, d, e, f, count) of(ptr, count, a, b, c, d, e, f)
#define CACHERAY_ADD_OF(ptr, count, ...) ((void)cacheray_added((void *)(ptr), #__VA_ARGS__, sizeof(__VA_ARGS__), (count)))
#define CACHERAY_MALLOC_OF(ptr, count, ...) ((__VA_ARGS__ *)cacheray_malloc(#__VA_ARGS__, sizeof(__VA_ARGS__), (count)))
#define CACHERAY_CALLOC_OF(ptr, count, ...) \
	((__VA_ARGS__ *)cacheray_added(calloc((count), sizeof(__VA_ARGS__)), #__VA_ARGS__, sizeof(__VA_ARGS__), (count)))

#ifdef __cplusplus
}
#endif

#endif
