/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * rawring.h - what a program with rings does to its memory, by hand: offsets written out, nothing shared with the collector or
 * the SDK. One writer for one thread; coroutines may move from one writer to another, if the caller synchronizes that.
 *
 * raw_bug plants a bug for the tests to find: 1: head is stored before the entry; 2: a ring is never full.
 */
#ifndef CTP_T_RAWRING_H
#define CTP_T_RAWRING_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static unsigned raw_bug;

enum { RAW_SUSPEND, RAW_RESUME, RAW_BIRTH = 3, RAW_DEATH, RAW_WAKE, RAW_NAME, RAW_THREAD, RAW_GAP };

struct rawmem {
	unsigned char *base;
	uint32_t stations, rings, bits;
	uint64_t sites_at, rings_at, entries_at, bytes;
};

/* A coroutine, as its program knows it. */
struct rawcoro {
	unsigned char *station;
	uint64_t ref, events;
	uint32_t index;
};

struct rawring {
	struct rawmem *mem;
	unsigned char *ring, *entries;
	uint64_t head, mask, tid, lost_events, lost_notes, said_events, said_notes, gap_ts;
	uint64_t ts; /* of the next entry; 0: the caller's own clock, see raw_now */
	uint64_t (*clock)(void);
};

static inline uint64_t raw64(const unsigned char *p)
{
	return __atomic_load_n((const uint64_t *)(const void *)p, __ATOMIC_RELAXED);
}
static inline uint32_t raw32(const unsigned char *p)
{
	return __atomic_load_n((const uint32_t *)(const void *)p, __ATOMIC_RELAXED);
}
static inline void put64(unsigned char *p, uint64_t v) { __atomic_store_n((uint64_t *)(void *)p, v, __ATOMIC_RELAXED); }
static inline void put32(unsigned char *p, uint32_t v) { __atomic_store_n((uint32_t *)(void *)p, v, __ATOMIC_RELAXED); }
static inline void release64(unsigned char *p, uint64_t v) { __atomic_store_n((uint64_t *)(void *)p, v, __ATOMIC_RELEASE); }

static inline uint64_t raw_round(uint64_t n) { return (n + 65535) / 65536 * 65536; }

/* Where everything is, for a memory of zeros; rawmem_make writes the header. */
static inline void rawmem_plan(struct rawmem *m, uint32_t stations, uint32_t rings, uint32_t bits)
{
	*m = (struct rawmem){.stations = stations, .rings = rings, .bits = bits};
	m->sites_at = raw_round(1024 + 1024 * (uint64_t)stations);
	m->rings_at = m->sites_at + raw_round(256 * 64);
	m->entries_at = m->rings_at + raw_round(128 * (uint64_t)rings);
	m->bytes = m->entries_at + ((uint64_t)rings << bits) * 32;
}

/* Times are nanoseconds of CLOCK_MONOTONIC. mode: as an attached collector sets it. */
static inline void rawmem_make(struct rawmem *m, unsigned char *base, uint32_t mode)
{
	m->base = base;
	put32(base + 0x08, 1);
	put32(base + 0x0c, m->stations);
	put64(base + 0x40, UINT64_C(0x3158454e4e415443));
	put64(base + 0x48, m->bytes);
	put64(base + 0x50, m->sites_at);
	put64(base + 0x58, m->rings_at);
	put64(base + 0x60, m->entries_at);
	put32(base + 0x68, 64);
	put32(base + 0x6c, m->rings);
	put32(base + 0x70, m->bits);
	put32(base + 0x80, mode);
	release64(base + 0x00, UINT64_C(0x434f524f54524352));
}

/* --- entries -------------------------------------------------------------------------------------------------------------- */

static inline uint64_t raw_now(struct rawring *r) { return r->ts ? r->ts++ : r->clock(); }

static inline void raw_store(struct rawring *r, uint64_t ts, uint64_t value, uint64_t ref, uint64_t what)
{
	unsigned char *e = r->entries + (r->head & r->mask) * 32;
	r->head++;
	if (raw_bug == 1) {
		release64(r->ring, r->head);
		if (r->head % 16 == 0)
			sched_yield(); /* the bug is there without it, but rarely shows */
	}
	put64(e, ts);
	put64(e + 8, value);
	put64(e + 16, ref);
	put64(e + 24, what);
	if (raw_bug != 1)
		release64(r->ring, r->head);
}

/* True if there is room for n entries; else one more is lost. */
static inline bool raw_room(struct rawring *r, unsigned n, bool note)
{
	uint64_t tail = __atomic_load_n((uint64_t *)(void *)(r->ring + 0x40), __ATOMIC_ACQUIRE);
	if (raw_bug == 2 || r->head - tail + n <= r->mask + 1)
		return true;
	if (note)
		put64(r->ring + 0x18, ++r->lost_notes);
	else
		put64(r->ring + 0x10, ++r->lost_events);
	return false;
}

static inline bool raw_entry(struct rawring *r, uint64_t ts, uint64_t value, uint64_t ref, uint64_t what)
{
	bool note = what >> 56 > RAW_RESUME, gap = r->lost_events != r->said_events || r->lost_notes != r->said_notes;
	if (!raw_room(r, gap ? 2 : 1, note)) {
		r->gap_ts = gap ? r->gap_ts : ts;
		return false;
	}
	if (gap) {
		raw_store(r, r->gap_ts, r->lost_events - r->said_events, 0, (uint64_t)RAW_GAP << 56 | (r->lost_notes - r->said_notes));
		put64(r->ring + 0x28, r->said_events = r->lost_events);
		put64(r->ring + 0x30, r->said_notes = r->lost_notes);
	}
	raw_store(r, ts, value, ref, what);
	return true;
}

/* Ring number n becomes this thread's, new or left by another. */
static inline void raw_claim(struct rawring *r, struct rawmem *m, uint32_t n, uint32_t pid, uint32_t tid)
{
	*r = (struct rawring){.mem = m, .mask = (UINT64_C(1) << m->bits) - 1, .tid = tid, .clock = r->clock, .ts = r->ts};
	r->ring = m->base + m->rings_at + 128 * (uint64_t)n;
	r->entries = m->base + m->entries_at + ((uint64_t)n << m->bits) * 32;
	r->head = raw64(r->ring);
	r->lost_events = raw64(r->ring + 0x10);
	r->lost_notes = raw64(r->ring + 0x18);
	r->said_events = raw64(r->ring + 0x28);
	r->said_notes = raw64(r->ring + 0x30);
	put64(r->ring + 0x08, (uint64_t)pid << 32 | tid);
	uint32_t used = raw32(m->base + 0xcc);
	while (used <= n && !__atomic_compare_exchange_n((uint32_t *)(void *)(m->base + 0xcc), &used, n + 1, false,
	                                                 __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
	raw_entry(r, raw_now(r), (uint64_t)pid << 32 | tid, 0, (uint64_t)RAW_THREAD << 56);
}

/* --- coroutines ----------------------------------------------------------------------------------------------------------- */

#if defined __SANITIZE_THREAD__ && !defined __clang__
#pragma GCC diagnostic ignored "-Wtsan"
#endif

static inline unsigned char *raw_station(const struct rawmem *m, uint32_t index)
{
	return m->base + 1024 + 1024 * (uint64_t)index;
}

/* Index of a free station, or of a new one; UINT32_MAX: there is none. */
static inline uint32_t raw_take_station(struct rawmem *m)
{
	uint64_t *free = (uint64_t *)(void *)(m->base + 0xc0), top = __atomic_load_n(free, __ATOMIC_ACQUIRE), below;
	while ((uint32_t)top) {
		below = ((top >> 32) + 1) << 32 | raw32(raw_station(m, (uint32_t)top - 1) + 0x24c);
		if (__atomic_compare_exchange_n(free, &top, below, false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE))
			return (uint32_t)top - 1;
	}
	uint32_t *count = (uint32_t *)(void *)(m->base + 0x10), index = __atomic_load_n(count, __ATOMIC_RELAXED);
	if (index < m->stations)
		index = __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
	return index < m->stations ? index : UINT32_MAX;
}

/* False: no station. */
static inline bool raw_birth(struct rawring *r, struct rawcoro *co, uint64_t probe_id, uint64_t parent)
{
	uint32_t index = raw_take_station(r->mem);
	*co = (struct rawcoro){0};
	if (index == UINT32_MAX)
		return false;
	unsigned char *st = raw_station(r->mem, index);
	uint32_t generation = raw32(st + 0x248) + 1;
	uint64_t ts = raw_now(r);
	*co = (struct rawcoro){.station = st, .index = index, .events = raw64(st + 0x258),
	                       .ref = (uint64_t)generation << 32 | (index + 1)};
	put64(st + 0x248, generation | UINT64_C(0xffffffff) << 32); /* it is owned */
	__atomic_thread_fence(__ATOMIC_RELEASE);
	put64(st + 0x250, co->events);
	put64(st + 0x268, parent);
	put32(st + 0x270, 0);
	put32(st + 0x274, 4711);
	put32(st + 0x27c, 0);
	put32(st + 0x29c, 0);
	put64(st + 0x00, probe_id);
	put64(st + 0x08, ts);
	release64(st + 0x240, UINT64_C(0x2b505443) | UINT64_C(3) << 32); /* ORDERED and ANNEX */
	__atomic_store_n(st + 0x10, 0, __ATOMIC_RELEASE);
	raw_entry(r, ts, probe_id, co->ref, (uint64_t)RAW_BIRTH << 56 | (uint32_t)co->events);
	return true;
}

/* The flight recorder's slot. */
static inline void raw_slot(struct rawcoro *co, uint64_t ts, uint64_t tid, uint64_t addr, uint64_t what)
{
	unsigned char *slot = co->station + 0x40 + co->events % 8 * 64;
	put64(slot + 0x18, co->events / 8 * 2 + 1);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	put64(slot + 0x00, ts);
	put64(slot + 0x08, tid);
	put64(slot + 0x10, addr);
	put64(slot + 0x38, what);
	release64(slot + 0x18, co->events / 8 * 2 + 2);
}

/* kind: suspend or resume. slots: keep the flight recorder. False: it was not written to the ring. */
static inline bool raw_event(struct rawring *r, struct rawcoro *co, unsigned kind, uint64_t addr, uint32_t site, bool slots)
{
	uint64_t ts = raw_now(r), what = (uint64_t)kind << 56 | (uint64_t)site << 32 | (uint32_t)co->events;
	if (slots)
		raw_slot(co, ts, r->tid, addr, what);
	co->events++;
	return raw_entry(r, ts, addr, co->ref, what);
}

static inline void raw_death(struct rawring *r, struct rawcoro *co)
{
	uint64_t ts = raw_now(r);
	put64(co->station + 0x258, co->events);
	put64(co->station + 0x260, ts);
	__atomic_store_n(co->station + 0x10, 1, __ATOMIC_RELEASE);
	raw_entry(r, ts, co->events, co->ref, (uint64_t)RAW_DEATH << 56 | (uint32_t)co->events);
}

static inline void raw_wake(struct rawring *r, uint64_t ref, uint64_t by)
{
	raw_entry(r, raw_now(r), by, ref, (uint64_t)RAW_WAKE << 56);
}

static inline void raw_name(struct rawring *r, struct rawcoro *co, const char *name)
{
	uint32_t seq = (raw32(co->station + 0x298) | 1) + 1, len = (uint32_t)strlen(name);
	put32(co->station + 0x298, seq - 1);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	for (uint32_t i = 0; i < len; i++)
		__atomic_store_n(co->station + 0x2a0 + i, (unsigned char)name[i], __ATOMIC_RELAXED);
	put32(co->station + 0x29c, len);
	__atomic_store_n((uint32_t *)(void *)(co->station + 0x298), seq, __ATOMIC_RELEASE);
	raw_entry(r, raw_now(r), 0, co->ref, (uint64_t)RAW_NAME << 56 | seq);
}

static inline void raw_site(struct rawmem *m, uint32_t number, const char *file, uint32_t line, const char *function)
{
	unsigned char *site = m->base + m->sites_at + 256 * (uint64_t)(number - 1);
	uint16_t lens[2] = {(uint16_t)strlen(file), (uint16_t)strlen(function)};
	put32(site + 4, line);
	memcpy(site + 8, lens, 4);
	memcpy(site + 16, file, lens[0]);
	memcpy(site + 16 + lens[0], function, lens[1]);
	__atomic_store_n((uint32_t *)(void *)site, 1, __ATOMIC_RELEASE);
}

#endif
