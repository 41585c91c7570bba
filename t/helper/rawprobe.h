/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * rawprobe.h - what a traced program does to its stations, by hand from the tables of the protocol document: raw offsets,
 * nothing shared with the collector. Each word of a payload is a function of the event's number, so that a mixed
 * payload is noticed.
 */
#ifndef CTP_T_RAWPROBE_H
#define CTP_T_RAWPROBE_H

#include <stdbool.h>
#include <stdint.h>

enum writer {
	FIELD,   /* seqlock as the SDKs in the field have it: release stores, and a fence after them */
	ORDERED, /* seqlock that announces a release fence between the odd mark and the payload */
	PLAIN,   /* as the document has it, with the fence that the wake-up needs */
	BARE,    /* as the document has it, to the letter */
	WRITERS
};
static const char *const writer_names[] = {"seqlock as in the field", "seqlock, ordered", "plain", "plain, without a fence"};

/* Word 0 is the time, which grows with the number. */
static inline uint64_t word(uint64_t index, unsigned which)
{
	return which ? (index * 8 + which) * UINT64_C(0x9e3779b97f4a7c15) : 1000 + index;
}

static inline void put(unsigned char *at, uint64_t v) { __atomic_store_n((uint64_t *)(void *)at, v, __ATOMIC_RELAXED); }

static inline void put_payload(unsigned char *slot, uint64_t index)
{
	put(slot + 0x00, word(index, 0));
	put(slot + 0x08, word(index, 1));
	put(slot + 0x10, word(index, 2));
	__atomic_store_n(slot + 0x3f, word(index, 3) >> 63, __ATOMIC_RELAXED);
}

static inline void put_seq(unsigned char *slot, uint64_t seq)
{
	__atomic_store_n((uint64_t *)(void *)(slot + 0x18), seq, __ATOMIC_RELEASE);
}

#if defined __SANITIZE_THREAD__ && !defined __clang__
#pragma GCC diagnostic ignored "-Wtsan"
#endif

static inline void write_seqlock(unsigned char *station, uint64_t index, bool ordered)
{
	unsigned char *slot = station + 0x40 + index % 8 * 64;
	put_seq(slot, index / 8 * 2 + 1);
	if (ordered)
		__atomic_thread_fence(__ATOMIC_RELEASE);
	put_payload(slot, index);
	put_seq(slot, index / 8 * 2 + 2);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static inline void write_plain(unsigned char *station, uint64_t index, bool fence)
{
	uint64_t seq = index + 1;
	unsigned char *slot = station + 0x40 + seq % 8 * 64;
	put_payload(slot, index);
	put_seq(slot, seq);
	if (fence)
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/*
 * Number of payloads that may be wrong whatever a reader does: of a writer without a fence, on a machine that reorders stores,
 * those still in its store buffer at the second look (see v1-station.c). Seen once in some fifty runs on a machine that
 * others used too: the eight of one station.
 */
static inline uint64_t wrong_allowed(enum writer kind)
{
#if defined __x86_64__ || defined __i386__
	(void)kind;
	return 0;
#else
	return kind == BARE ? 16 : 0;
#endif
}

static inline bool is_seqlock(enum writer kind) { return kind == FIELD || kind == ORDERED; }

static inline void write_event(enum writer kind, unsigned char *station, uint64_t index)
{
	if (is_seqlock(kind))
		write_seqlock(station, index, kind == ORDERED);
	else
		write_plain(station, index, kind == PLAIN);
}

/* Leaves the slot of event number index as a writer that is killed half-way: no seq, and half of the payload. */
static inline void write_half(enum writer kind, unsigned char *station, uint64_t index)
{
	unsigned char *slot = station + 0x40 + (is_seqlock(kind) ? index : index + 1) % 8 * 64;
	if (is_seqlock(kind))
		put_seq(slot, index / 8 * 2 + 1);
	if (kind == ORDERED)
		__atomic_thread_fence(__ATOMIC_RELEASE);
	put(slot + 0x08, word(index, 1));
}

static inline void write_birth(enum writer kind, unsigned char *station, uint64_t probe_id, uint64_t birth_ns)
{
	put(station + 0x00, probe_id);
	put(station + 0x08, birth_ns);
	if (kind == ORDERED)
		__atomic_store_n((uint64_t *)(void *)(station + 0x240), UINT64_C(0x000000012b505443), __ATOMIC_RELEASE);
}

#endif
