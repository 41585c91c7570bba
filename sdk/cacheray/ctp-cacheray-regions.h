/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ctp-cacheray-regions.h - the current regions, with which the trace of a child begins. A part of ctp-cacheray.c.
 *
 * A table by address, under a lock, that grows up to REGIONS_MAX; a child does not get regions that do not fit. Regions share the
 * memory of their name with recent regions of the same name.
 */
#ifndef CTP_CACHERAY_REGIONS_H
#define CTP_CACHERAY_REGIONS_H

enum { REGIONS_MIN = 1 << 12, REGIONS_MAX = 1 << 20, NAMES_BYTES = 4 << 20, NAME_SLOTS = 256 };

struct region {
	const void *ptr; /* null: none */
	uint32_t element_bytes, count;
	uint32_t name, name_bytes;
};

static struct {
	bool kept;
	uint64_t owner;      /* thread that holds the lock */
	struct region *of;
	uint32_t room, n;    /* room is a power of 2 */
	char *names;
	uint32_t names_bytes;
	struct region recent[NAME_SLOTS]; /* with the most recent names */
} regions;

/* False: this thread holds the lock already, below a signal handler. The acquire pairs with the release in regions_unlock. */
static bool regions_lock(void)
{
	uint64_t none = 0;
	if (__atomic_load_n(&regions.owner, __ATOMIC_RELAXED) == tid())
		return false;
	for (; !__atomic_compare_exchange_n(&regions.owner, &none, tid(), false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED); none = 0) {
		int error = errno;
		wait_some(WAIT_NS);
		errno = error;
	}
	return true;
}

/* STORE is a release: pairs with the exchange of regions_lock. */
static void regions_unlock(void) { STORE(&regions.owner, 0); }

static void *regions_map(size_t bytes)
{
	int error = errno;
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	errno = error;
	return p == MAP_FAILED ? NULL : p;
}

static uint32_t region_home(const void *ptr)
{
	return (uint32_t)((uintptr_t)ptr * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (regions.room - 1);
}

/* The slot where it is, or would be. */
static struct region *region_slot(const void *ptr)
{
	uint32_t i = region_home(ptr);
	while (regions.of[i].ptr && regions.of[i].ptr != ptr)
		i = (i + 1) & (regions.room - 1);
	return &regions.of[i];
}

/* Makes room for one more, so that at least half of the table stays empty. */
static bool regions_fit(void)
{
	struct region *had = regions.of;
	uint32_t room = regions.room;
	if (had && regions.n < room / 2)
		return true;
	if (room >= REGIONS_MAX)
		return false;
	struct region *more = regions_map((room ? 2 * room : REGIONS_MIN) * sizeof *more);
	if (!more)
		return false;
	regions.of = more;
	regions.room = room ? 2 * room : REGIONS_MIN;
	for (uint32_t i = 0; i < room; i++)
		if (had[i].ptr)
			*region_slot(had[i].ptr) = had[i];
	if (had)
		munmap(had, room * sizeof *had);
	return true;
}

static bool region_name(struct region *r, const char *name, uint32_t bytes)
{
	uint32_t hash = bytes;
	for (uint32_t i = 0; i < bytes; i++)
		hash = hash * 31 + (uint8_t)name[i];
	struct region *recent = &regions.recent[hash % NAME_SLOTS];
	if (!regions.names && !(regions.names = regions_map(NAMES_BYTES)))
		return false;
	if (recent->name_bytes != bytes || memcmp(regions.names + recent->name, name, bytes)) {
		if (bytes > NAMES_BYTES - regions.names_bytes)
			return false;
		recent->name = regions.names_bytes;
		recent->name_bytes = bytes;
		copy(regions.names + regions.names_bytes, name, bytes);
		regions.names_bytes += bytes;
	}
	r->name = recent->name;
	r->name_bytes = bytes;
	return true;
}

/* Moves later slots into the empty one, so that each region is still found from its first slot on. */
static void region_clear(struct region *slot)
{
	uint32_t mask = regions.room - 1, hole = (uint32_t)(slot - regions.of);
	for (uint32_t i = (hole + 1) & mask; regions.of[i].ptr; i = (i + 1) & mask) {
		if (((i - region_home(regions.of[i].ptr)) & mask) < ((i - hole) & mask))
			continue;
		regions.of[hole] = regions.of[i];
		hole = i;
	}
	regions.of[hole] = (struct region){0};
	regions.n--;
}

static void regions_remove(const void *ptr)
{
	if (!regions.kept || !ptr || !regions_lock())
		return;
	struct region *slot = regions.of ? region_slot(ptr) : NULL;
	if (slot && slot->ptr)
		region_clear(slot);
	regions_unlock();
}

static void regions_add(const struct region *region, const char *name)
{
	struct region r = *region;
	if (!regions.kept || !r.ptr || !regions_lock())
		return;
	if (regions_fit() && region_name(&r, name, r.name_bytes)) {
		struct region *slot = region_slot(r.ptr);
		regions.n += !slot->ptr;
		*slot = r;
	}
	regions_unlock();
}

#endif
