/*
 * ctp-cacheray.h - types of memory for a trace of memory accesses, which the runtime in ctp-cacheray.c writes.
 *
 *	struct foo *f = CACHERAY_MALLOC(struct foo, 10); // ten of them stand there from now on
 *	CACHERAY_FREE(f);                                // and no more
 *	CACHERAY_ADD(&table, struct entry, 100);         // the same of memory that was had otherwise
 *	CACHERAY_REMOVE(&table);
 *	CACHERAY_RECORD(0);                              // accesses are not recorded until CACHERAY_RECORD(1)
 *
 * Where the runtime is not linked, these calls do nothing, and the macros for the heap are malloc, calloc and free. For C and C++.
 * ctp-cacheray.h(3) has the rest.
 */
#ifndef CTP_CACHERAY_RUNTIME_H
#define CTP_CACHERAY_RUNTIME_H

#include <stddef.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

/* count elements of a type stand at ptr; "struct foo" is written as struct.foo. Names are cut to 1,000 bytes. */
__attribute__((weak)) void cacheray_add(const void *ptr, const char *type, size_t element_bytes, size_t count);
__attribute__((weak)) void cacheray_remove(const void *ptr);

/* Accesses are recorded from now on, or they are not. Types of memory always are. */
__attribute__((weak)) void cacheray_record(int on);

/* All that was recorded so far is in the file, or was written to the pipe. */
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

/* The region ends before another thread can have the memory. */
static inline void cacheray_free(void *ptr)
{
	cacheray_removed(ptr);
	free(ptr);
}

#define CACHERAY_ADD(ptr, type, count) ((void)cacheray_added((void *)(ptr), #type, sizeof(type), (count)))
#define CACHERAY_REMOVE(ptr) cacheray_removed(ptr)
#define CACHERAY_MALLOC(type, count) ((type *)cacheray_malloc(#type, sizeof(type), (count)))
#define CACHERAY_CALLOC(type, count) ((type *)cacheray_added(calloc((count), sizeof(type)), #type, sizeof(type), (count)))
#define CACHERAY_FREE(ptr) cacheray_free(ptr)
#define CACHERAY_RECORD(on) (cacheray_record ? cacheray_record(on) : (void)0)

#ifdef __cplusplus
}
#endif

#endif
