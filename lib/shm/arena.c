/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * arena.c - the arithmetic of an arena, and what stands in its header.
 */
#include "shm/arena.h"

#include <assert.h>
#include <linux/membarrier.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "shm/rawclock.h"

#define PART UINT64_C(65536) /* parts begin at multiples of this: the largest page that there is */

_Static_assert(CTP_ANNEX_SITES <= 1 << 24, "an entry has 24 bits for a site");

struct plan {
	uint64_t sites_at, rings_at, objects_at, entries_at, bytes;
};

#define OBJECT_BYTES (sizeof(uint64_t) + sizeof(struct ctp_shm_object)) /* with its key */

static uint64_t part_up(uint64_t at) { return (at + PART - 1) & ~(PART - 1); }

/* Nothing here wraps: no count has more than 32 bits, nothing counted more than 2^(5 + CTP_ANNEX_RING_BITS_MAX) bytes. */
static struct plan plan_of(const struct ctp_geometry *geo)
{
	struct plan p;
	p.sites_at = part_up(sizeof(struct ctp_shm_header) + sizeof(struct ctp_shm_station) * (uint64_t)geo->max_stations);
	p.rings_at = p.sites_at + part_up(sizeof(struct ctp_shm_site) * (uint64_t)geo->max_sites);
	p.objects_at = p.rings_at + part_up(sizeof(struct ctp_shm_ring) * (uint64_t)geo->max_rings);
	p.entries_at = p.objects_at + part_up(OBJECT_BYTES * (uint64_t)geo->max_objects);
	p.bytes = p.entries_at + (sizeof(struct ctp_shm_entry) * (uint64_t)geo->max_rings << geo->ring_bits);
	return p;
}
_Static_assert(5 + CTP_ANNEX_RING_BITS_MAX < 63 - 24, "and no count of rings has more than 24 bits");

static bool possible(const struct ctp_geometry *geo)
{
	return geo->max_stations && geo->max_stations <= 1 << 21 && geo->max_sites <= 1 << 24 && geo->max_rings <= 1 << 16 &&
	       geo->ring_bits >= 1 && geo->ring_bits <= CTP_ANNEX_RING_BITS_MAX && geo->max_objects <= CTP_ANNEX_OBJECTS;
}

/* Whether the parts begin in this order and have room. Another collector's plan may differ from the one above. */
static bool fits(const struct plan *p, const struct ctp_geometry *geo, uint64_t bytes)
{
	struct plan size = plan_of(geo);
	return p->bytes <= bytes && p->entries_at <= p->bytes && p->rings_at <= p->entries_at && p->sites_at <= p->rings_at &&
	       (p->sites_at | p->rings_at | p->entries_at) % PART == 0 && size.sites_at <= p->sites_at &&
	       size.rings_at - size.sites_at <= p->rings_at - p->sites_at &&
	       size.objects_at - size.rings_at <= p->entries_at - p->rings_at &&
	       size.bytes - size.entries_at <= p->bytes - p->entries_at;
}

/* Whether there is a table of objects, and it has room. A memory may have none. */
static bool has_objects(const struct plan *p, const struct ctp_geometry *geo)
{
	struct plan size = plan_of(geo);
	return geo->max_objects > CTP_SHM_OBJECTS_FEW && geo->max_objects <= CTP_ANNEX_OBJECTS && geo->max_objects % 16 == 0 &&
	       p->objects_at % PART == 0 && p->rings_at <= p->objects_at && p->objects_at <= p->entries_at &&
	       size.objects_at - size.rings_at <= p->objects_at - p->rings_at &&
	       size.entries_at - size.objects_at <= p->entries_at - p->objects_at;
}

size_t ctp_arena_bytes(const struct ctp_geometry *geo)
{
	return possible(geo) ? plan_of(geo).bytes : 0;
}

void ctp_arena_make(void *base, const struct ctp_geometry *geo)
{
	assert(possible(geo)); /* ctp_arena_bytes was not 0 */
	struct ctp_shm_header *head = base;
	struct plan p = plan_of(geo);
	head->version = CTP_SHM_VERSION;
	head->max_stations = geo->max_stations;
	head->bytes = p.bytes;
	head->sites_at = p.sites_at;
	head->rings_at = p.rings_at;
	head->entries_at = p.entries_at;
	head->max_sites = geo->max_sites;
	head->max_rings = geo->max_rings;
	head->objects_at = geo->max_objects ? p.objects_at : 0;
	head->max_objects = geo->max_objects;
	head->ring_bits = geo->ring_bits;
	if (ctp_rawclock_usable()) {
		head->clock = CTP_CLOCK_RAW;
		head->raw_hz = ctp_rawclock_hz();
		ctp_rawclock_pair(&head->made_raw, &head->made_ns);
	}
	head->annex = CTP_ANNEX_MAGIC;
	/* Release: the rest is there. Pairs with the acquire load of magic in ctp_arena_find, and in a probe that attaches. */
	__atomic_store_n(&head->magic, CTP_SHM_MAGIC, __ATOMIC_RELEASE);
}

/* Each of these is for one field, and reads it once. */
#define READ(field) __atomic_load_n(&(field), __ATOMIC_RELAXED)

enum ctp_status ctp_arena_find(struct ctp_arena *a, void *base, size_t bytes, struct ctp_err *err)
{
	struct ctp_shm_header *head = base;
	*a = (struct ctp_arena){.header = head};
	if (bytes < sizeof *head || __atomic_load_n(&head->magic, __ATOMIC_ACQUIRE) != CTP_SHM_MAGIC) /* see above */
		return ctp_err_as(err, CTP_ERR_NOT_STREAM, "no shared memory of cTP");
	uint32_t version = READ(head->version);
	if (version != CTP_SHM_VERSION)
		return ctp_err_set(err, "version %u of cTP's shared memory, not %u", version, CTP_SHM_VERSION);
	if (READ(head->annex) != CTP_ANNEX_MAGIC)
		return ctp_err_set(err, "shared memory of cTP without an annex");
	a->geo = (struct ctp_geometry){READ(head->max_stations), READ(head->max_sites), READ(head->max_rings),
	                               READ(head->ring_bits), 0};
	struct plan p = {READ(head->sites_at), READ(head->rings_at), READ(head->objects_at), READ(head->entries_at), READ(head->bytes)};
	uint32_t max_objects = READ(head->max_objects);
	if (!possible(&a->geo))
		return ctp_err_set(err, "an annex of %u stations, %u sites, %u rings of 2^%u entries", a->geo.max_stations,
		                   a->geo.max_sites, a->geo.max_rings, a->geo.ring_bits);
	if (!fits(&p, &a->geo, bytes))
		return ctp_err_set(err, "an annex that is larger than the memory of %zu bytes, or not laid out as it should be",
		                   bytes);
	a->geo.max_objects = max_objects;
	if (!has_objects(&p, &a->geo))
		a->geo.max_objects = 0;
	a->keys = (uint64_t *)(void *)((char *)base + p.objects_at * !!a->geo.max_objects);
	a->objects = (struct ctp_shm_object *)(void *)(a->keys + a->geo.max_objects);
	a->stations = (struct ctp_shm_station *)(head + 1);
	a->sites = (struct ctp_shm_site *)((char *)base + p.sites_at);
	a->rings = (struct ctp_shm_ring *)((char *)base + p.rings_at);
	a->entries = (struct ctp_shm_entry *)((char *)base + p.entries_at);
	a->owner = READ(head->owner);
	a->clock = READ(head->clock);
	a->made_raw = READ(head->made_raw);
	a->made_ns = READ(head->made_ns);
	return CTP_OK;
}

/* --- coming and going ----------------------------------------------------------------------------------------------------- */

static void announce(struct ctp_arena *a, uint32_t mode, const char *sock_path)
{
	struct ctp_shm_header *head = a->header;
	size_t len = sock_path ? strlen(sock_path) : 0;
	len = len < sizeof head->sock ? len : 0;
	for (size_t i = 0; i < sizeof head->sock; i++)
		__atomic_store_n(&head->sock[i], i < len ? sock_path[i] : 0, __ATOMIC_RELAXED);
	/* Release: sock is there. Pairs with the probe's acquire load of epoch before it connects. */
	__atomic_fetch_add(&head->epoch, 1, __ATOMIC_RELEASE);
	uint32_t before = READ(head->mode);
	if (!(before & CTP_MODE_RECORD) || before & CTP_MODE_BARE) /* a time without slots is over, if it is */
		__atomic_store_n(&head->since_ns, ctp_clock_ns(), __ATOMIC_RELAXED);
	uint32_t gaps = mode ? READ(head->gaps) : __atomic_add_fetch(&head->gaps, 1, __ATOMIC_RELAXED);
	/*
	 * Release: where the rings begin is there. Pairs with nothing: a probe that reads an older mode wrote to no ring, or
	 * will.
	 */
	__atomic_store_n(&head->mode, mode ? mode | CTP_MODE_GAPS(gaps) : 0, __ATOMIC_RELEASE);
	/* The mode is seen from now on, by probes with a fence and without. Pairs with what is in ctp_death_ after is_dead. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	ctp_membarrier();
}

void ctp_arena_open(struct ctp_arena *a, uint32_t mode, uint32_t wait_us, const char *sock_path)
{
	struct ctp_shm_header *head = a->header;
	uint32_t used = READ(head->rings_used);
	used = used < a->geo.max_rings ? used : a->geo.max_rings;
	for (uint32_t i = 0; i < used; i++) {
		struct ctp_shm_ring *ring = &a->rings[i];
		/* Acquire and release as for a reader that has taken all: see rings.c. */
		__atomic_store_n(&ring->tail, __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE), __ATOMIC_RELEASE);
	}
	__atomic_store_n(&head->tracer_sleeping, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&head->wait_us, wait_us, __ATOMIC_RELAXED);
	announce(a, mode, sock_path);
}

void ctp_arena_close(struct ctp_arena *a, uint32_t mode)
{
	announce(a, mode, NULL);
	__atomic_store_n(&a->header->tracer_sleeping, 0, __ATOMIC_RELAXED);
}

bool ctp_membarrier(void)
{
	return !syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
}
