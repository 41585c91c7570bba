/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ctp-cacheray-calls.h - the functions that code compiled with -fsanitize=thread calls. A part of ctp-cacheray.c, which has
 * record(), begin() and the tags.
 */
#ifndef CTP_CACHERAY_CALLS_H
#define CTP_CACHERAY_CALLS_H

/* --- calls of the compiler ---------------------------------------------------------------------------------------------------- */

#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* the compiler knows them */

void __tsan_init(void) { begin(); }
void __tsan_func_entry(void *pc) { (void)pc; }
void __tsan_func_exit(void) { }
void __tsan_ignore_thread_begin(void) { ignoring++; }
void __tsan_ignore_thread_end(void) { ignoring--; }

#define ACCESSES(bytes) \
	void __tsan_read##bytes(void *p) { record(p, bytes, READ); } \
	void __tsan_write##bytes(void *p) { record(p, bytes, WRITE); } \
	void __tsan_read##bytes##_pc(void *p, void *pc) { (void)pc, record(p, bytes, READ); } \
	void __tsan_write##bytes##_pc(void *p, void *pc) { (void)pc, record(p, bytes, WRITE); } \
	void __tsan_read_write##bytes(void *p) { record(p, bytes, READ), record(p, bytes, WRITE); } \
	void __tsan_volatile_read##bytes(void *p) { record(p, bytes, READ); } \
	void __tsan_volatile_write##bytes(void *p) { record(p, bytes, WRITE); }
#define UNALIGNED_ACCESSES(bytes) \
	void __tsan_unaligned_read##bytes(void *p) { record(p, bytes, READ | UNALIGNED); } \
	void __tsan_unaligned_write##bytes(void *p) { record(p, bytes, WRITE | UNALIGNED); } \
	void __tsan_unaligned_read_write##bytes(void *p) { record(p, bytes, READ | UNALIGNED), record(p, bytes, WRITE | UNALIGNED); } \
	void __tsan_unaligned_volatile_read##bytes(void *p) { record(p, bytes, READ | UNALIGNED); } \
	void __tsan_unaligned_volatile_write##bytes(void *p) { record(p, bytes, WRITE | UNALIGNED); }
ACCESSES(1) ACCESSES(2) ACCESSES(4) ACCESSES(8) ACCESSES(16)
UNALIGNED_ACCESSES(1) UNALIGNED_ACCESSES(2) UNALIGNED_ACCESSES(4) UNALIGNED_ACCESSES(8) UNALIGNED_ACCESSES(16)

/* The program does these accesses itself. */
void __tsan_vptr_read(void **p) { record(p, sizeof *p, READ); }
void __tsan_vptr_update(void **p, void *value) { (void)value, record(p, sizeof *p, WRITE); }
void __tsan_read_range(void *p, size_t bytes) { record_range(p, bytes, READ); }
void __tsan_write_range(void *p, size_t bytes) { record_range(p, bytes, WRITE); }
void __tsan_read_range_pc(void *p, size_t bytes, void *pc) { (void)pc, record_range(p, bytes, READ); }
void __tsan_write_range_pc(void *p, size_t bytes, void *pc) { (void)pc, record_range(p, bytes, WRITE); }

/* The runtime must do these itself. */
void *__tsan_memcpy(void *to, const void *from, size_t bytes)
{
	record_range(from, bytes, READ);
	record_range(to, bytes, WRITE);
	return LIBRARY(memcpy)(to, from, bytes);
}

void *__tsan_memmove(void *to, const void *from, size_t bytes)
{
	record_range(from, bytes, READ);
	record_range(to, bytes, WRITE);
	return LIBRARY(memmove)(to, from, bytes);
}

void *__tsan_memset(void *to, int byte, size_t bytes)
{
	record_range(to, bytes, WRITE);
	return LIBRARY(memset)(to, byte, bytes);
}

void *__wrap_memcpy(void *to, const void *from, size_t bytes) { return __tsan_memcpy(to, from, bytes); }
void *__wrap_memmove(void *to, const void *from, size_t bytes) { return __tsan_memmove(to, from, bytes); }
void *__wrap_memset(void *to, int byte, size_t bytes) { return __tsan_memset(to, byte, bytes); }

/*
 * --- calls of Cacheray's own pass, after malloc and the others
 * --------------------------------------------------------------------
 */

void __malloc_recorded(long bytes, char *type, void *at) { cacheray_added(at, type, (size_t)bytes, 1); }
void __calloc_recorded(long count, long bytes, char *type, void *at) { cacheray_added(at, type, (size_t)bytes, (size_t)count); }
void __free_recorded(void *at) { cacheray_removed(at); }

/* A realloc that failed has left the old memory. */
void __realloc_recorded(void *old, long bytes, char *type, void *at)
{
	if (at || !bytes)
		cacheray_removed(old);
	cacheray_added(at, type, (size_t)bytes, 1);
}

/*
 * --- atomic operations: done here, with the requested order ---------------------------------------------------------------------
 */

static inline void record_both(const volatile void *p, unsigned bytes)
{
	record((const void *)p, bytes, READ | ATOMIC);
	record((const void *)p, bytes, WRITE | ATOMIC);
}

/* The upper bits of an order are hints. */
#define ORDER(mo) ((mo) & 0x7fff)
#define IN_ORDER(mo, relaxed, acquire, release, acq_rel, seq_cst) \
	switch (ORDER(mo)) { \
	case __ATOMIC_RELAXED: relaxed; \
	case __ATOMIC_CONSUME: case __ATOMIC_ACQUIRE: acquire; \
	case __ATOMIC_RELEASE: release; \
	case __ATOMIC_ACQ_REL: acq_rel; \
	default: seq_cst; \
	}
#define RMW(bits, type, name, builtin) \
	type __tsan_atomic##bits##_##name(volatile type *p, type v, int mo) \
	{ \
		record_both(p, sizeof *p); \
		IN_ORDER(mo, return builtin(p, v, __ATOMIC_RELAXED), return builtin(p, v, __ATOMIC_ACQUIRE), \
		         return builtin(p, v, __ATOMIC_RELEASE), return builtin(p, v, __ATOMIC_ACQ_REL), \
		         return builtin(p, v, __ATOMIC_SEQ_CST)) \
	}
#define SWAP(p, c, v, weak, mo) __atomic_compare_exchange_n((p), (c), (v), (weak), (mo), __ATOMIC_RELAXED)
/* The order of failure must not be stronger than that of success, so a stronger one is used for both. */
#define ATOMICS(bits, type) \
	static bool swap##bits(volatile type *p, type *c, type v, int mo, int fail) \
	{ \
		bool done; \
		record((const void *)p, sizeof *p, READ | ATOMIC); \
		if (ORDER(fail) != __ATOMIC_RELAXED) \
			done = __atomic_compare_exchange_n(p, c, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
		else \
			IN_ORDER(mo, done = SWAP(p, c, v, false, __ATOMIC_RELAXED); break, \
			         done = SWAP(p, c, v, false, __ATOMIC_ACQUIRE); break, done = SWAP(p, c, v, false, __ATOMIC_RELEASE); break, \
			         done = SWAP(p, c, v, false, __ATOMIC_ACQ_REL); break, done = SWAP(p, c, v, false, __ATOMIC_SEQ_CST)) \
		if (done) \
			record((const void *)p, sizeof *p, WRITE | ATOMIC); \
		return done; \
	} \
	type __tsan_atomic##bits##_load(const volatile type *p, int mo) \
	{ \
		record((const void *)p, sizeof *p, READ | ATOMIC); \
		IN_ORDER(mo, return __atomic_load_n(p, __ATOMIC_RELAXED), return __atomic_load_n(p, __ATOMIC_ACQUIRE), , , \
		         return __atomic_load_n(p, __ATOMIC_SEQ_CST)) \
	} \
	void __tsan_atomic##bits##_store(volatile type *p, type v, int mo) \
	{ \
		record((const void *)p, sizeof *p, WRITE | ATOMIC); \
		IN_ORDER(mo, __atomic_store_n(p, v, __ATOMIC_RELAXED); break, , __atomic_store_n(p, v, __ATOMIC_RELEASE); break, , \
		         __atomic_store_n(p, v, __ATOMIC_SEQ_CST)) \
	} \
	RMW(bits, type, exchange, __atomic_exchange_n) \
	RMW(bits, type, fetch_add, __atomic_fetch_add) \
	RMW(bits, type, fetch_sub, __atomic_fetch_sub) \
	RMW(bits, type, fetch_and, __atomic_fetch_and) \
	RMW(bits, type, fetch_or, __atomic_fetch_or) \
	RMW(bits, type, fetch_xor, __atomic_fetch_xor) \
	RMW(bits, type, fetch_nand, __atomic_fetch_nand) \
	int __tsan_atomic##bits##_compare_exchange_strong(volatile type *p, type *c, type v, int mo, int fail) { return swap##bits(p, c, v, mo, fail); } \
	int __tsan_atomic##bits##_compare_exchange_weak(volatile type *p, type *c, type v, int mo, int fail) { return swap##bits(p, c, v, mo, fail); } \
	type __tsan_atomic##bits##_compare_exchange_val(volatile type *p, type c, type v, int mo, int fail) { return swap##bits(p, &c, v, mo, fail), c; }
ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)

void __tsan_atomic_thread_fence(int mo)
{
	IN_ORDER(mo, break, __atomic_thread_fence(__ATOMIC_ACQUIRE); break, __atomic_thread_fence(__ATOMIC_RELEASE); break,
	         __atomic_thread_fence(__ATOMIC_ACQ_REL); break, __atomic_thread_fence(__ATOMIC_SEQ_CST))
}

void __tsan_atomic_signal_fence(int mo) { (void)mo, __atomic_signal_fence(__ATOMIC_SEQ_CST); }

#ifdef __SIZEOF_INT128__
typedef unsigned __int128 u128;

/* Uses the processor's instruction like libatomic, which then need not be linked. Returns the previous value. */
#ifdef __x86_64__
static u128 swap_words(volatile u128 *p, u128 c, u128 v)
{
	uint64_t low = (uint64_t)c, high = (uint64_t)(c >> 64);
	__asm__ volatile("lock cmpxchg16b %0"
	                 : "+m"(*p), "+a"(low), "+d"(high)
	                 : "b"((uint64_t)v), "c"((uint64_t)(v >> 64))
	                 : "cc", "memory");
	return (u128)high << 64 | low;
}
#define HAVE_U128 1
#elif defined __aarch64__
static u128 swap_words(volatile u128 *p, u128 c, u128 v)
{
	uint64_t low, high, differs;
	uint32_t failed;
	do {
		__asm__ volatile("ldaxp %0, %1, [%4]\n\t"
		                 "eor %2, %0, %5\n\t"
		                 "eor x16, %1, %6\n\t"
		                 "orr %2, %2, x16\n\t"
		                 "cmp %2, #0\n\t"
		                 "csel x16, %7, %0, eq\n\t"
		                 "csel x17, %8, %1, eq\n\t"
		                 "stlxp %w3, x16, x17, [%4]\n\t"
		                 : "=&r"(low), "=&r"(high), "=&r"(differs), "=&r"(failed)
		                 : "r"(p), "r"((uint64_t)c), "r"((uint64_t)(c >> 64)), "r"((uint64_t)v), "r"((uint64_t)(v >> 64))
		                 : "x16", "x17", "cc", "memory");
	} while (failed);
	return (u128)high << 64 | low;
}
#define HAVE_U128 1
#endif
#endif

#ifdef HAVE_U128
#define RMW128(name, result) \
	u128 __tsan_atomic128_##name(volatile u128 *p, u128 v, int mo) \
	{ \
		u128 seen = 0, had; \
		(void)mo; \
		record_both(p, sizeof *p); \
		do { \
			had = seen; \
			seen = swap_words(p, had, (result)); \
		} while (seen != had); \
		return seen; \
	}
RMW128(exchange, v)
RMW128(fetch_add, had + v)
RMW128(fetch_sub, had - v)
RMW128(fetch_and, had & v)
RMW128(fetch_or, had | v)
RMW128(fetch_xor, had ^ v)
RMW128(fetch_nand, ~(had & v))

u128 __tsan_atomic128_load(const volatile u128 *p, int mo)
{
	(void)mo;
	record((const void *)p, sizeof *p, READ | ATOMIC);
	return swap_words((volatile u128 *)p, 0, 0);
}

void __tsan_atomic128_store(volatile u128 *p, u128 v, int mo)
{
	u128 seen = 0, had;
	(void)mo;
	record((const void *)p, sizeof *p, WRITE | ATOMIC);
	do {
		had = seen;
		seen = swap_words(p, had, v);
	} while (seen != had);
}

u128 __tsan_atomic128_compare_exchange_val(volatile u128 *p, u128 c, u128 v, int mo, int fail)
{
	(void)mo, (void)fail;
	record((const void *)p, sizeof *p, READ | ATOMIC);
	u128 seen = swap_words(p, c, v);
	if (seen == c)
		record((const void *)p, sizeof *p, WRITE | ATOMIC);
	return seen;
}

int __tsan_atomic128_compare_exchange_strong(volatile u128 *p, u128 *c, u128 v, int mo, int fail)
{
	u128 seen = __tsan_atomic128_compare_exchange_val(p, *c, v, mo, fail);
	bool done = seen == *c;
	*c = seen;
	return done;
}

int __tsan_atomic128_compare_exchange_weak(volatile u128 *p, u128 *c, u128 v, int mo, int fail)
{
	return __tsan_atomic128_compare_exchange_strong(p, c, v, mo, fail);
}
#endif

/*
 * --- annotations for a race detector: ignored -----------------------------------------------------------------------------------
 */

void __tsan_acquire(void *p) { (void)p; }
void __tsan_release(void *p) { (void)p; }
void __tsan_mutex_create(void *p, unsigned flags) { (void)p, (void)flags; }
void __tsan_mutex_destroy(void *p, unsigned flags) { (void)p, (void)flags; }
void __tsan_mutex_pre_lock(void *p, unsigned flags) { (void)p, (void)flags; }
void __tsan_mutex_post_lock(void *p, unsigned flags, int recursion) { (void)p, (void)flags, (void)recursion; }
int __tsan_mutex_pre_unlock(void *p, unsigned flags) { return (void)p, (void)flags, 0; }
void __tsan_mutex_post_unlock(void *p, unsigned flags) { (void)p, (void)flags; }
void __tsan_mutex_pre_signal(void *p, unsigned flags) { (void)p, (void)flags; }
void __tsan_mutex_post_signal(void *p, unsigned flags) { (void)p, (void)flags; }
void __tsan_mutex_pre_divert(void *p, unsigned flags) { (void)p, (void)flags; }
void __tsan_mutex_post_divert(void *p, unsigned flags) { (void)p, (void)flags; }
void *__tsan_get_current_fiber(void) { return NULL; }
void *__tsan_create_fiber(unsigned flags) { return (void)flags, (void *)1; }
void __tsan_destroy_fiber(void *fiber) { (void)fiber; }
void __tsan_switch_to_fiber(void *fiber, unsigned flags) { (void)fiber, (void)flags; }
void __tsan_set_fiber_name(void *fiber, const char *name) { (void)fiber, (void)name; }

#endif
