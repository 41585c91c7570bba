/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* coro-table: the tables of coroutines and of places, and histograms, each compared with a simple model. */
#include "analyse/coro-table.h"

#include "analyse/places.h"
#include "base/hist.h"
#include "tap.h"

static uint64_t seed = 1;

static uint64_t chance(uint64_t n)
{
	seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
	return seed % n;
}

/* --- coroutines ----------------------------------------------------------------------------------------------------------- */

enum { IDS = 60000, GONE = 0, ALIVE = 1, BURIED = 2 };

/* The order in which they died is the order in which they are forgotten. */
static void random_lives(const char *what, uint64_t (*id_of)(uint64_t n))
{
	static struct ctp_coro_table r;
	static uint8_t is[IDS];
	static uint32_t graves[IDS * 8];
	uint32_t ngraves = 0, forgotten = 0, alive = 0, wrong = 0;
	ctp_coro_table_init(&r);
	memset(is, GONE, sizeof(is));
	for (int step = 0; step < 300000; step++) {
		uint32_t n = (uint32_t)chance(IDS);
		struct ctp_coroutine *co = ctp_coro_table_find(&r, id_of(n));
		wrong += (co != NULL) != (is[n] != GONE) || (co && (co->id != id_of(n) || co->born_ns != n));
		if (is[n] == GONE) {
			co = ctp_coro_table_make(&r, id_of(n));
			co->born_ns = n;
			co->state = CTP_BORN;
			co->name = step % 5 ? NULL : strdup("name");
			is[n] = ALIVE;
			alive++;
		} else if (is[n] == ALIVE && (alive > IDS / 2 || chance(2)) && ngraves < IDS * 8) {
			co->state = CTP_DEAD;
			ctp_coro_table_release_dead(&r, co);
			graves[ngraves++] = n;
			is[n] = BURIED;
			alive--;
			if (ngraves - forgotten > CTP_CORO_TABLE_LIMBO)
				is[graves[forgotten++]] = GONE;
		}
	}
	uint32_t at = 0, seen = 0;
	for (struct ctp_coroutine *co; (co = ctp_coro_table_each(&r, &at)); seen++)
		wrong += is[co->born_ns] == GONE || co->id != id_of(co->born_ns);
	is_u64(wrong, 0, what);
	is_u64(seen, alive + ngraves - forgotten, "a walk visits each coroutine once");
	ok(forgotten > CTP_CORO_TABLE_LIMBO, "many were forgotten (%u)", forgotten);
	ctp_coro_table_clear(&r);
	ok(!ctp_coro_table_find(&r, id_of(0)), "after a clear the table is empty");
	ctp_coro_table_fini(&r);
}

static uint64_t dense(uint64_t n) { return n + 1; }
static uint64_t address(uint64_t n) { return 0x7f0000000000 + 192 * n; }
static uint64_t page(uint64_t n) { return (n + 1) << 12; }
static uint64_t high(uint64_t n) { return (n + 1) << 40; }
static uint64_t last(uint64_t n) { return UINT64_MAX - n; }

/* All of these collide under the usual multiplicative hash. */
static uint64_t colliding(uint64_t n) { return (n * UINT64_C(0xf1de83e19937733d)) << 3 | 1; }

/* --- places --------------------------------------------------------------------------------------------------------------- */

static uint32_t at_site(struct ctp_places *a, uint64_t site) { return ctp_places_number(a, (struct ctp_spot){.site = site}, 0, 1); }

static uint32_t at_address(struct ctp_places *a, uint64_t addr, uint64_t pid, uint64_t who)
{
	return ctp_places_number(a, (struct ctp_spot){.addr = addr}, pid, who);
}

static void places(void)
{
	struct ctp_places a;
	uint32_t wrong = 0;
	ok(ctp_places_init(&a), "a table of places is created");
	is_u64(at_site(&a, 0), 0, "without site and address there is no place");
	for (uint64_t i = 1; i <= 5000; i++)
		wrong += at_site(&a, i) != 2 * i - 1 || at_address(&a, i, 7, 1) != 2 * i;
	for (uint64_t i = 5000; i; i--)
		wrong += at_site(&a, i) != 2 * i - 1 || at_address(&a, i, 7, 1) != 2 * i;
	is_u64(wrong, 0, "a site and an address of the same number are two places with stable numbers");
	ok(a.place[1].shared && !a.place[2].shared,
	   "a site counts as a source line at once, an address that one coroutine used does not");
	at_address(&a, 1, 7, 2);
	ok(a.place[2].shared && !a.place[4].shared, "an address that two coroutines used counts as a source line");
	is_u64(a.place[2].pid, 7, "the place belongs to that process");
	at_address(&a, 1, 8, 2);
	at_address(&a, 1, 7, 2);
	is_u64(a.place[2].pid, 0, "a place that two processes use has no process");
	uint32_t in[] = {ctp_places_number(&a, (struct ctp_spot){.addr = 1, .file = 1}, 7, 1),
	                 ctp_places_number(&a, (struct ctp_spot){.addr = 1, .file = 2}, 8, 1),
	                 ctp_places_number(&a, (struct ctp_spot){.addr = 1, .file = 1}, 8, 1),
	                 ctp_places_number(&a, (struct ctp_spot){.addr = 0, .file = 1}, 8, 1)};
	ok(in[0] && in[1] && in[0] != in[1] && in[0] != 2 && in[3] != in[0],
	   "the same address in two files and in none gives three places");
	is_u64(in[2], in[0], "the same file and address in two processes is one place");
	ok(a.place[in[0]].shared && a.place[in[1]].shared, "an address in a file counts as a source line at once");
	ctp_places_clear(&a);
	is_u64(at_address(&a, 0x1000000, 7, 1), 1, "after a clear the numbers begin again");
	for (uint64_t i = 1; i < CTP_PLACES_MAX + 10; i++)
		at_site(&a, i);
	is_u64(a.count, CTP_PLACES_MAX, "the number of places is limited");
	is_u64(at_site(&a, CTP_PLACES_MAX + 100), 0, "a site beyond the limit has no place");
	is_u64(at_site(&a, 7), 8, "known places are kept");
	ctp_places_fini(&a);
}

/* --- histograms ----------------------------------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

static void edges(void)
{
	static const uint64_t values[] = {0, 1, 7, 8, 9, 15, 16, 17, 18, 31, 32, 1000, UINT64_C(1) << 32,
	                                  (UINT64_C(1) << 63) - 1, UINT64_C(1) << 63, UINT64_MAX - 1, UINT64_MAX};
	unsigned before = 0, wrong = 0;
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		struct ctp_hist h = {0};
		unsigned bucket = ctp_hist_bucket(values[i]);
		ctp_hist_add(&h, values[i]);
		wrong += bucket < before || bucket >= CTP_HIST_BUCKETS;
		wrong += ctp_hist_quantile(&h, 0) != values[i] || ctp_hist_quantile(&h, 1) != values[i];
		before = bucket;
	}
	is_u64(wrong, 0, "buckets are in order, and each quantile of a single value is that value");
	is_u64(ctp_hist_bucket(UINT64_MAX), CTP_HIST_BUCKETS - 1, "the largest number has the last bucket");
	for (uint64_t ns = 1; ns < 100000; ns++)
		wrong += ctp_hist_bucket(ns) - ctp_hist_bucket(ns - 1) > 1;
	is_u64(wrong, 0, "no bucket is left out");
	struct ctp_hist none = {0};
	is_u64(ctp_hist_quantile(&none, 0.5), 0, "a quantile of no values is 0");
}

static void quantiles(void)
{
	enum { COUNT = 20000 };
	static const double shares[] = {0, 0.01, 0.5, 0.9, 0.99, 0.999, 1};
	static uint64_t sorted[COUNT];
	static struct ctp_hist h;
	uint64_t total = 0;
	for (int i = 0; i < COUNT; i++) {
		sorted[i] = chance(UINT64_MAX) >> chance(60);
		total += sorted[i];
		ctp_hist_add(&h, sorted[i]);
	}
	qsort(sorted, COUNT, sizeof(*sorted), by_size);
	for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++) {
		size_t at = (size_t)(shares[i] * COUNT);
		uint64_t is = sorted[at < COUNT ? at : COUNT - 1], got = ctp_hist_quantile(&h, shares[i]);
		ok(got >= is && got - is <= is / 8, "%g: %ju is at most an eighth above %ju", shares[i], (uintmax_t)got,
		   (uintmax_t)is);
	}
	is_u64(h.max_ns, sorted[COUNT - 1], "the longest is exact");
	is_u64(h.count, COUNT, "the count is exact");
	is_u64(h.total_ns, total, "the sum is exact");
}

int main(void)
{
	random_lives("numbers one after the other", dense);
	random_lives("addresses of frames of one size", address);
	random_lives("numbers with nothing in their low bits", page);
	random_lives("numbers with nothing in their low half", high);
	random_lives("the last numbers", last);
	random_lives("numbers chosen to collide", colliding);
	places();
	edges();
	quantiles();
	return done_testing();
}
