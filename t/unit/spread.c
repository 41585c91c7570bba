/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* spread: numbers from outside, chosen to collide or consecutive, do not cluster in the hash tables. */
#include "base/spread.h"

#include "base/distinct.h"
#include "base/tids.h"
#include "symbols/sites.c" /* for its slots */
#include "tap.h"

enum { TABLES = 20, ROOM = 1 << 16 };

/* All of these collide under the usual multiplicative hash. */
static uint64_t chosen(uint64_t n) { return n * UINT64_C(0xf1de83e19937733d); }

/* The longest row of slots that are not free: the longest search. */
static uint32_t longest_row(bool (*is_used)(const void *table, uint32_t slot), const void *table, uint32_t slots)
{
	uint32_t longest = 0, row = 0;
	for (uint32_t i = 0; i < slots; i++) {
		row = is_used(table, i) ? row + 1 : 0;
		longest = row > longest ? row : longest;
	}
	return longest;
}

/* --- numbers that were chosen ---------------------------------------------------------------------------------------------- */

static bool distinct_uses(const void *table, uint32_t slot)
{
	const struct ctp_distinct *set = table;
	return set->map.slots[slot];
}

static bool tids_use(const void *table, uint32_t slot)
{
	const struct ctp_tids *tids = table;
	return tids->slots[slot];
}

static bool sites_use(const void *table, uint32_t slot)
{
	const struct ctp_sites *sites = table;
	return sites->map.slots[slot];
}

static char *spell(char *to, const char *text, size_t len) { return (char *)memcpy(to, text, len) + len; }

static void learn(struct ctp_sites *sites, struct ctp_class *cls, uint64_t id)
{
	ctp_sites_learn(sites, &(struct ctp_record){.cls = cls, .val = &id});
}

static void chosen_numbers(void)
{
	static const struct ctp_field field = {.name = "site", .type = CTP_U64, .role = CTP_ROLE_SITE};
	struct ctp_err err;
	struct ctp_class *cls = ctp_class_new("x", CTP_KIND_SITE, &field, 1, &err);
	uint32_t crowded[3] = {0}, missing = 0;
	for (int table = 0; table < TABLES; table++) {
		struct ctp_distinct set = {0};
		static struct ctp_tids tids;
		struct ctp_sites *sites = ctp_sites_new(spell);
		tids = (struct ctp_tids){0};
		for (uint64_t n = 1; n <= ROOM / 2; n++) {
			ctp_distinct_add(&set, chosen(n));
			learn(sites, cls, chosen(n));
			missing += n <= CTP_TIDS_MAX && !ctp_tids_add(&tids, chosen(n));
		}
		missing += set.count != ROOM / 2;
		crowded[0] += longest_row(distinct_uses, &set, set.map.nslots) > ROOM / 64;
		crowded[1] += longest_row(tids_use, &tids, CTP_TIDS_SLOTS) > CTP_TIDS_MAX / 4;
		crowded[2] += longest_row(sites_use, sites, sites->map.nslots) > ROOM / 64;
		ctp_distinct_fini(&set);
		ctp_sites_free(sites);
	}
	is_u64(missing, 0, "all numbers chosen to collide are stored");
	is_u64(crowded[0], 0, "they do not cluster in the set of numbers");
	is_u64(crowded[1], 0, "they do not cluster in the table of threads");
	is_u64(crowded[2], 0, "they do not cluster in the table of places");
	ctp_class_free(cls);
}

/* --- numbers in a row ------------------------------------------------------------------------------------------------------ */

static bool is_used(const void *table, uint32_t slot)
{
	const bool *used = table;
	return used[slot];
}

static void numbers_in_a_row(uint64_t numerator, uint64_t denominator)
{
	static bool used[ROOM];
	const uint64_t near = UINT64_MAX / denominator * numerator, off = UINT64_C(0x5bd1e995f) << 8;
	memset(used, 0, sizeof(used));
	for (uint64_t n = 1; n < ROOM / 2; n++) {
		uint32_t i = ctp_spread(n, (near + off) | 1, ROOM);
		while (used[i])
			i = (i + 1) % ROOM;
		used[i] = true;
	}
	ok(longest_row(is_used, used, ROOM) < ROOM / 64, "consecutive numbers do not cluster with a salt near %u/%u of 2^64",
	   (unsigned)numerator, (unsigned)denominator);
}

int main(void)
{
	chosen_numbers();
	numbers_in_a_row(0, 1);
	numbers_in_a_row(1, 2);
	numbers_in_a_row(2, 3);
	numbers_in_a_row(3, 7);
	return done_testing();
}
