/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* cacheray-plan.c - the cheapest way to read a part of a trace, found from its end to its beginning. */
#include "cacheray/cacheray-plan.h"

enum { RESUMES = 1, BREAKS = 2 }; /* marks */
enum { PAGE_BITS = 12, AREA_BITS = 24, NEAR = 1 << 16, NULL_BYTES = 4096, PID_END = 1 << 22, NAME_MAX_BYTES = 4096 };

/* Prices, in bits. */
enum {
	NO_RECORD = 1 << 20,
	BYTE = 8,
	BREAK = 40, RESUME = 16,
	TAG = 3, USUAL_SIZE = 3, KNOWN_SIZE = 5, OTHER_SIZE = 14, NO_SIZE = 24,
	KNOWN_THREAD = 3, SAME_THREAD = 12, SMALL_THREAD = 26, OTHER_THREAD = 50,
	KNOWN_PAGE = 14, NEAR_NEXT = 20, KNOWN_AREA = 28, SHORT_ADDRESS = 34, OTHER_ADDRESS = 52, WILD_ADDRESS = 64, NULL_ADDRESS = 64,
	MISALIGNED = 8,
	TYPE_SIZE = 24, NAME_BYTE = 7, HIGH_NAME_BYTE = 9, ODD_NAME_BYTE = 16, /* any bytes are more than BYTE each */
};

/* --- places of addresses --------------------------------------------------------------------------------------------------- */

static uint64_t *slot(uint64_t *of, unsigned slots, uint64_t number)
{
	return &of[number * UINT64_C(0x9e3779b97f4a7c15) >> 40 & (slots - 1)];
}

void ctp_cacheray_plan_learn(struct ctp_cacheray_plan *plan, uint64_t address)
{
	*slot(plan->page, CTP_CACHERAY_PAGES, address >> PAGE_BITS) = (address >> PAGE_BITS) + 1;
	*slot(plan->area, CTP_CACHERAY_AREAS, address >> AREA_BITS) = (address >> AREA_BITS) + 1;
}

static bool page_is_known(struct ctp_cacheray_plan *plan, uint64_t page)
{
	return *slot(plan->page, CTP_CACHERAY_PAGES, page) == page + 1;
}

/* --- prices ---------------------------------------------------------------------------------------------------------------- */

/* A part of a trace, and what is known of it. */
struct part {
	struct ctp_cacheray_plan *plan;
	const struct ctp_cacheray_judge *judge;
	const uint8_t *p;
	size_t bytes;
};

static uint32_t address_price(const struct part *part, uint64_t address, uint64_t next)
{
	uint64_t page = address >> PAGE_BITS, area = address >> AREA_BITS, away = address > next ? address - next : next - address;
	uint32_t most = part->judge->spelling.address_bytes == 4 ? SHORT_ADDRESS : address >> 48 ? WILD_ADDRESS : OTHER_ADDRESS;
	if (address < NULL_BYTES)
		return NULL_ADDRESS;
	if (page_is_known(part->plan, page))
		return KNOWN_PAGE;
	if (away < NEAR || page_is_known(part->plan, page - 1) || page_is_known(part->plan, page + 1))
		return NEAR_NEXT;
	return *slot(part->plan->area, CTP_CACHERAY_AREAS, area) == area + 1 ? KNOWN_AREA : most;
}

static uint32_t thread_price(const struct part *part, uint64_t thread, bool same)
{
	if (ctp_cacheray_judge_knows(part->judge, thread))
		return KNOWN_THREAD;
	return same ? SAME_THREAD : thread && thread < PID_END ? SMALL_THREAD : OTHER_THREAD;
}

static uint32_t size_price(const struct part *part, uint8_t size)
{
	if (ctp_cacheray_usual_size(size))
		return USUAL_SIZE;
	return !size ? NO_SIZE : part->judge->sizes[size / 64] >> size % 64 & 1 ? KNOWN_SIZE : OTHER_SIZE;
}

/* Of an add, apart from its address and thread. */
static uint32_t type_price(const struct part *part, size_t at, size_t bytes)
{
	size_t name = at + ctp_cacheray_add_bytes(part->judge->spelling);
	if (at + bytes - name > NAME_MAX_BYTES)
		return NO_RECORD;
	return 3 * TYPE_SIZE + part->plan->name[at + bytes] - part->plan->name[name];
}

/* Of the record there, all of which is there. */
static uint32_t record_price(const struct part *part, size_t at, size_t bytes)
{
	const struct ctp_cacheray_judge *j = part->judge;
	const uint8_t *p = part->p + at;
	struct ctp_cacheray_spelling sp = j->spelling;
	bool access = (*p & CTP_CACHERAY_SORT) <= CTP_CACHERAY_WRITE;
	size_t after = ctp_cacheray_after_address(sp), fixed = ctp_cacheray_access_bytes(sp), next = at + bytes;
	bool followed = next + fixed <= part->bytes;
	uint64_t address = ctp_cacheray_get_address(sp, p), thread = ctp_cacheray_judge_thread(j, p);
	uint64_t next_address = followed ? ctp_cacheray_get_address(sp, part->p + next) : 0;
	bool same = followed && thread == ctp_cacheray_judge_thread(j, part->p + next);
	uint32_t price = TAG + address_price(part, address, next_address) + thread_price(part, thread, same);
	if (*p == CTP_CACHERAY_RTTA_ADD)
		return price + type_price(part, at, bytes);
	if (!access)
		return price;
	if (!p[after] && address < NULL_BYTES)
		return NO_RECORD; /* zeros */
	price += size_price(part, p[after]);
	if (!j->misaligned && !(*p & CTP_CACHERAY_UNALIGNED) && ctp_cacheray_usual_size(p[after]) && (address & (p[after] - 1u)))
		price += MISALIGNED;
	return price;
}

/* --- the plan -------------------------------------------------------------------------------------------------------------- */

/* From a record there on. cut: nothing comes after the part. */
static uint32_t take_price(const struct part *part, size_t at, bool cut)
{
	bool at_hand;
	size_t left = part->bytes - at, bytes = ctp_cacheray_judge_length(part->judge, part->p + at, left, &at_hand);
	if (!bytes)
		return NO_RECORD;
	if (!at_hand)
		return (uint32_t)(bytes > NAME_MAX_BYTES ? NO_RECORD : left * (cut ? BYTE : BYTE / 4));
	return record_price(part, at, bytes) + part->plan->record[at + bytes];
}

static void price_names(const struct part *part)
{
	uint32_t *name = part->plan->name;
	name[0] = 0;
	for (size_t i = 0; i < part->bytes; i++) {
		uint8_t c = part->p[i];
		name[i + 1] = name[i] + (c < ' ' || c == 0x7f ? ODD_NAME_BYTE : c < 0x80 ? NAME_BYTE : HIGH_NAME_BYTE);
	}
}

static void price_all(const struct part *part, bool cut)
{
	struct ctp_cacheray_plan *plan = part->plan;
	price_names(part);
	plan->record[part->bytes] = plan->damage[part->bytes] = 0;
	for (size_t i = part->bytes; i-- > 0;) {
		uint32_t take = take_price(part, i, cut), skip = BYTE + plan->damage[i + 1];
		/* An access whose tag is damaged is a remove, a byte later: no record to go on with. */
		bool resumes = part->p[i] != CTP_CACHERAY_RTTA_REMOVE && take + RESUME < skip, breaks = skip + BREAK < take;
		plan->damage[i] = resumes ? take + RESUME : skip;
		plan->record[i] = breaks ? skip + BREAK : take;
		plan->mark[i] = (uint8_t)((resumes ? RESUMES : 0) | (breaks ? BREAKS : 0));
	}
}

bool ctp_cacheray_plan_make(struct ctp_cacheray_plan *plan, const struct ctp_cacheray_judge *j, const uint8_t *p, size_t avail,
                            uint64_t offset, enum ctp_cacheray_after after)
{
	bool whole = avail >= CTP_CACHERAY_PLAN;
	size_t bytes = whole ? CTP_CACHERAY_PLAN : avail;
	if (offset >= plan->from && offset < plan->upto && (plan->upto < plan->end || plan->end == offset + avail))
		return true;
	if (!whole && after == CTP_AFTER_MORE)
		return false;
	plan->from = offset;
	plan->end = offset + bytes;
	plan->upto = whole && (bytes < avail || after != CTP_AFTER_NOTHING) ? plan->end - CTP_CACHERAY_AHEAD : plan->end;
	price_all(&(struct part){plan, j, p, bytes}, plan->upto == plan->end && after == CTP_AFTER_NOTHING);
	return true;
}

bool ctp_cacheray_plan_resumes(const struct ctp_cacheray_plan *plan, uint64_t offset) { return plan->mark[offset - plan->from] & RESUMES; }
bool ctp_cacheray_plan_breaks(const struct ctp_cacheray_plan *plan, uint64_t offset) { return plan->mark[offset - plan->from] & BREAKS; }

/* --- the beginning -------------------------------------------------------------------------------------------------------- */

enum { SEEDS = 64, SEED_SHARE = 8 };

struct votes {
	unsigned n, most;
	struct vote {
		uint64_t thread;
		unsigned n;
	} of[SEEDS];
};

static void vote(struct votes *v, uint64_t thread)
{
	unsigned i = 0;
	while (i < v->n && v->of[i].thread != thread)
		i++;
	if (i == SEEDS)
		return;
	if (i == v->n)
		v->of[v->n++] = (struct vote){.thread = thread};
	v->of[i].n++;
	v->most = v->of[i].n > v->most ? v->of[i].n : v->most;
}

/* The thread is another one's id and some bytes, or a part of it, and the other one has more votes. */
static bool is_part(const struct votes *v, struct vote of)
{
	for (unsigned i = 0; i < v->n; i++) {
		uint64_t a = of.thread, b = v->of[i].thread;
		if (v->of[i].n <= of.n)
			continue;
		for (unsigned shift = 8; shift < 64; shift += 8)
			if (a >> shift == b || b >> shift == a)
				return true;
	}
	return false;
}

void ctp_cacheray_plan_begin(struct ctp_cacheray_plan *plan, struct ctp_cacheray_judge *j, const uint8_t *p, size_t avail)
{
	struct votes v = {0};
	bool damaged = false, at_hand;
	if (!avail || !ctp_cacheray_plan_make(plan, j, p, avail, 0, CTP_AFTER_LATER))
		return;
	for (size_t at = 0, bytes; at < plan->end; at += bytes) {
		damaged = damaged ? !ctp_cacheray_plan_resumes(plan, at) : ctp_cacheray_plan_breaks(plan, at);
		bytes = damaged ? 1 : ctp_cacheray_judge_length(j, p + at, plan->end - at, &at_hand);
		if (!damaged && !at_hand)
			break;
		if (!damaged)
			vote(&v, ctp_cacheray_judge_thread(j, p + at));
	}
	for (unsigned i = 0; i < v.n && v.most > 1; i++)
		if (v.of[i].n > 1 && v.of[i].n >= v.most / SEED_SHARE && !is_part(&v, v.of[i]))
			ctp_distinct_add(&j->threads, v.of[i].thread);
	plan->upto = 0; /* it has to be made anew: of threads that are known */
}
