/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * view-tsan.c - what gcc and clang call under -fsanitize=thread, in place of libtsan: accesses to shared bytes are steps of the
 * machine, all others are done as they are. An access has the order that its place has in this mutant: see view-sites.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view-machine.h"
#include "view-sites.h"

#if defined __GNUC__ && !defined __clang__
#pragma GCC diagnostic ignored "-Wbuiltin-declaration-mismatch"
#endif
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

struct view_site view_sites[VIEW_SITES];
uint64_t view_world;

int view_order(const void *at, enum view_kind kind, int order)
{
	uintptr_t key = ((uintptr_t)at * VIEW_KINDS + kind) * 8 + (unsigned)order; /* a compiler can make one call of two */
	for (size_t i = key * 2654435761u % VIEW_SITES;; i = (i + 1) % VIEW_SITES) {
		struct view_site *site = &view_sites[i];
		if (!site->at)
			*site = (struct view_site){at, kind, order, order, 0};
		if (site->at == at && site->kind == kind && site->order == order) {
			site->worlds |= view_world;
			return site->now;
		}
	}
}

#define HERE __builtin_return_address(0)

/* --- plain accesses ------------------------------------------------------------------------------------------------------- */

static void plain_read(const void *at, size_t bytes)
{
	if (view_shared(at))
		view_plain_read(at, bytes);
}

static void plain_write(void *at, size_t bytes)
{
	if (view_shared(at))
		view_plain_write(at, bytes);
}

#define PLAIN(n)                                                                     \
	void __tsan_read##n(void *at) { plain_read(at, n); }                         \
	void __tsan_write##n(void *at) { plain_write(at, n); }                       \
	void __tsan_read##n##_pc(void *at, void *pc) { (void)pc, plain_read(at, n); }   \
	void __tsan_write##n##_pc(void *at, void *pc) { (void)pc, plain_write(at, n); } \
	void __tsan_volatile_read##n(void *at) { plain_read(at, n); }                \
	void __tsan_volatile_write##n(void *at) { plain_write(at, n); }              \
	void __tsan_unaligned_read##n(const void *at) { plain_read(at, n); }         \
	void __tsan_unaligned_write##n(void *at) { plain_write(at, n); }
PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

void __tsan_read_range(void *at, size_t bytes) { plain_read(at, bytes); }
void __tsan_write_range(void *at, size_t bytes) { plain_write(at, bytes); }
void __tsan_vptr_update(void **at, void *value) { (void)at, (void)value; }
void __tsan_vptr_read(void **at) { (void)at; }
void __tsan_func_entry(void *pc) { (void)pc; }
void __tsan_func_exit(void) {}
void __tsan_init(void) {}

/* --- atomic accesses ------------------------------------------------------------------------------------------------------ */

#define ATOMIC(bits, type)                                                                                            \
	type __tsan_atomic##bits##_load(const volatile type *at, int order)                                           \
	{                                                                                                             \
		if (!view_shared(at))                                                                                 \
			return __atomic_load_n(at, __ATOMIC_SEQ_CST);                                                 \
		return (type)view_load(at, sizeof *at, view_order(HERE, VIEW_LOAD, order));                           \
	}                                                                                                             \
	void __tsan_atomic##bits##_store(volatile type *at, type value, int order)                                    \
	{                                                                                                             \
		if (!view_shared(at))                                                                                 \
			__atomic_store_n(at, value, __ATOMIC_SEQ_CST);                                                \
		else                                                                                                  \
			view_store(at, sizeof *at, value, view_order(HERE, VIEW_STORE, order));                       \
	}                                                                                                             \
	static bool cas##bits(volatile type *at, type *expected, type value, bool weak, int order, int failure, const void *here) \
	{                                                                                                             \
		if (!view_shared(at))                                                                                 \
			return __atomic_compare_exchange_n(at, expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
		uint64_t want = *expected;                                                                            \
		int succeeds = view_order(here, VIEW_CHANGE, order), fails = view_order(here, VIEW_FAILURE, failure);  \
		bool done = view_cas(at, sizeof *at, &want, value, weak, succeeds, fails);                            \
		*expected = (type)want;                                                                               \
		return done;                                                                                          \
	}                                                                                                             \
	int __tsan_atomic##bits##_compare_exchange_strong(volatile type *at, type *expected, type value, int order, int failure) \
	{                                                                                                             \
		return cas##bits(at, expected, value, false, order, failure, HERE);                                   \
	}                                                                                                             \
	int __tsan_atomic##bits##_compare_exchange_weak(volatile type *at, type *expected, type value, int order, int failure) \
	{                                                                                                             \
		return cas##bits(at, expected, value, true, order, failure, HERE);                                    \
	}                                                                                                             \
	type __tsan_atomic##bits##_compare_exchange_val(volatile type *at, type expected, type value, int order, int failure) \
	{                                                                                                             \
		cas##bits(at, &expected, value, false, order, failure, HERE);                                         \
		return expected;                                                                                      \
	}                                                                                                             \
	CHANGE(bits, type, exchange, VIEW_EXCHANGE, __atomic_exchange_n)                                              \
	CHANGE(bits, type, fetch_add, VIEW_ADD, __atomic_fetch_add)                                                   \
	CHANGE(bits, type, fetch_sub, VIEW_SUB, __atomic_fetch_sub)                                                   \
	CHANGE(bits, type, fetch_and, VIEW_AND, __atomic_fetch_and)                                                   \
	CHANGE(bits, type, fetch_or, VIEW_OR, __atomic_fetch_or)                                                      \
	CHANGE(bits, type, fetch_xor, VIEW_XOR, __atomic_fetch_xor)

#define CHANGE(bits, type, name, what, builtin)                                                                       \
	type __tsan_atomic##bits##_##name(volatile type *at, type value, int order)                                   \
	{                                                                                                             \
		if (!view_shared(at))                                                                                 \
			return builtin(at, value, __ATOMIC_SEQ_CST);                                                  \
		return (type)view_rmw(at, sizeof *at, what, value, view_order(HERE, VIEW_CHANGE, order));             \
	}

ATOMIC(8, uint8_t)
ATOMIC(16, uint16_t)
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)

void __tsan_atomic_thread_fence(int order)
{
	if (!view_running)
		return;
	int now = view_order(HERE, VIEW_FENCE, order);
	if (now != VIEW_NONE)
		view_fence(now);
}

/* The machine does what the program says in its order: for the compiler's order alone there is nothing to do. */
void __tsan_atomic_signal_fence(int order) { (void)order; }

/* An assert of the code is one of the things that a run may break. */
void __assert_fail(const char *what, const char *file, unsigned line, const char *function)
{
	if (view_running)
		view_fail("%s:%u: %s: assertion failed: %s", file, line, function, what);
	fprintf(stderr, "%s:%u: %s: assertion failed: %s\n", file, line, function, what);
	abort();
}
