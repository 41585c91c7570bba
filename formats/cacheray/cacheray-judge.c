/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* cacheray-judge.c - tells records from damage. */
#include "cacheray/cacheray-judge.h"

enum {
	CANONICAL_BITS = 48,
	NULL_BYTES = 4096,      /* no system has memory below */
	PID_END = 1 << 22,      /* no system has a thread with this number */
	SMALL_LONG = 1024,      /* records, of threads with numbers of a system, after which one with another has to return */
	SHIFTED_MAX = 64,       /* threads that are looked at for a part of their number */
	RETURNS = 2,            /* a thread or size that comes again so often is meant */
	CHAIN = 8,              /* records in a row that end damage */
	CHAIN_DOUBTFUL = 24,    /* the same if some have doubtful threads, of which there may be */
	STRANGERS = 3,
	CHAIN_NAME_MAX = 4096,  /* of a name in such a row */
};

void ctp_cacheray_judge_init(struct ctp_cacheray_judge *j, struct ctp_cacheray_spelling spelling)
{
	*j = (struct ctp_cacheray_judge){.spelling = spelling, .threads = {.note_bytes = 1}};
}

void ctp_cacheray_judge_fini(struct ctp_cacheray_judge *j) { ctp_distinct_fini(&j->threads); }

/* --- one record ---------------------------------------------------------------------------------------------------------- */

bool ctp_cacheray_judge_knows(const struct ctp_cacheray_judge *j, uint64_t thread)
{
	return (thread == j->last && j->taken) || ctp_distinct_note(&j->threads, thread);
}

/* So far all records are of thread 0. */
static bool only_zero(const struct ctp_cacheray_judge *j) { return j->threads.count == 1 && !j->threads.ids[0]; }

/* The id is what a thread that is known would have, were its field some bytes later: larger, or in the other byte order smaller. */
static bool is_shifted(const struct ctp_cacheray_judge *j, uint64_t thread)
{
	uint64_t rest = thread;
	while (rest >>= 8)
		if (ctp_cacheray_judge_knows(j, rest))
			return true;
	for (uint32_t i = 0; i < j->threads.count && i < SHIFTED_MAX; i++)
		for (rest = j->threads.ids[i]; rest >>= 8;)
			if (rest == thread)
				return true;
	return false;
}

static bool thread_is_doubtful(const struct ctp_cacheray_judge *j, uint64_t thread)
{
	if (!j->threads.count || ctp_cacheray_judge_knows(j, thread))
		return false;
	return only_zero(j) || !thread || thread >= PID_END || is_shifted(j, thread);
}

static bool size_is_doubtful(const struct ctp_cacheray_judge *j, uint8_t size)
{
	return !ctp_cacheray_usual_size(size) && !(j->sizes[size / 64] >> size % 64 & 1);
}

static bool name_is_doubtful(const uint8_t *name, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (name[i] < ' ' || name[i] == 0x7f)
			return true;
	return false;
}

static bool is_access(uint8_t tag) { return (tag & CTP_CACHERAY_SORT) <= CTP_CACHERAY_WRITE; }

uint64_t ctp_cacheray_judge_thread(const struct ctp_cacheray_judge *j, const uint8_t *p)
{
	return ctp_cacheray_u64(j->spelling, p + ctp_cacheray_after_address(j->spelling) + is_access(*p));
}

static uint32_t name_bytes(const struct ctp_cacheray_judge *j, const uint8_t *p)
{
	return ctp_cacheray_u32(j->spelling, p + ctp_cacheray_add_bytes(j->spelling) - 4);
}

/* An access that is not flagged as unaligned, and is it. */
static bool is_misaligned(const struct ctp_cacheray_judge *j, const uint8_t *p)
{
	uint8_t size = p[ctp_cacheray_after_address(j->spelling)];
	return is_access(*p) && !(*p & CTP_CACHERAY_UNALIGNED) && ctp_cacheray_usual_size(size) &&
	       (ctp_cacheray_get_address(j->spelling, p) & (size - 1u));
}

/* An address that no processor takes, unless its upper bits are for something else. */
static bool is_wild(const struct ctp_cacheray_judge *j, const uint8_t *p)
{
	uint64_t top = ctp_cacheray_get_address(j->spelling, p) >> CANONICAL_BITS;
	return top && top != UINT64_MAX >> CANONICAL_BITS;
}

/* An access of nothing, nowhere, as zeros have it. */
static bool is_void(const struct ctp_cacheray_judge *j, const uint8_t *p)
{
	return is_access(*p) && !p[ctp_cacheray_after_address(j->spelling)] && ctp_cacheray_get_address(j->spelling, p) < NULL_BYTES;
}

/* A type whose name is not for people to read. */
static bool has_odd_name(const struct ctp_cacheray_judge *j, const uint8_t *p)
{
	return *p == CTP_CACHERAY_RTTA_ADD && name_is_doubtful(p + ctp_cacheray_add_bytes(j->spelling), name_bytes(j, p));
}

/* What of a record of which all bytes are there is doubtful. */
struct doubts {
	bool thread, size, type, name, address;
};

static struct doubts doubts_of(const struct ctp_cacheray_judge *j, const uint8_t *p)
{
	struct doubts d = {.thread = thread_is_doubtful(j, ctp_cacheray_judge_thread(j, p))};
	d.size = is_access(*p) && size_is_doubtful(j, p[ctp_cacheray_after_address(j->spelling)]);
	d.name = !j->odd_names && has_odd_name(j, p);
	/* Or without a name, or of no bytes. A region may have none. */
	d.type = d.name || (*p == CTP_CACHERAY_RTTA_ADD &&
	                    (!name_bytes(j, p) || !ctp_cacheray_u32(j->spelling, p + ctp_cacheray_add_bytes(j->spelling) - 12)));
	d.address = (!j->misaligned && is_misaligned(j, p)) || (!j->wild && is_wild(j, p));
	return d;
}

size_t ctp_cacheray_judge_length(const struct ctp_cacheray_judge *j, const uint8_t *p, size_t avail, bool *at_hand)
{
	size_t bytes;
	*at_hand = false;
	if (is_access(*p)) {
		bytes = ctp_cacheray_access_bytes(j->spelling);
	} else if (*p == CTP_CACHERAY_RTTA_REMOVE) {
		bytes = ctp_cacheray_remove_bytes(j->spelling);
	} else if (*p == CTP_CACHERAY_RTTA_ADD) {
		bytes = ctp_cacheray_add_bytes(j->spelling);
		if (avail < bytes)
			return bytes;
		if (name_bytes(j, p) > CTP_CACHERAY_NAME_MAX)
			return 0;
		bytes += name_bytes(j, p);
	} else {
		return 0;
	}
	*at_hand = avail >= bytes;
	return bytes;
}

enum ctp_cacheray_verdict ctp_cacheray_judge_record(const struct ctp_cacheray_judge *j, const uint8_t *p, size_t avail, size_t *bytes)
{
	bool at_hand;
	*bytes = ctp_cacheray_judge_length(j, p, avail, &at_hand);
	if (!at_hand)
		return *bytes ? CTP_RECORD_SHORT : CTP_RECORD_BAD;
	struct doubts d = doubts_of(j, p);
	int doubts = d.thread + d.size + d.type;
	return doubts > 1 || is_void(j, p) ? CTP_RECORD_BAD : doubts || d.address ? CTP_RECORD_DOUBTFUL : CTP_RECORD_WHOLE;
}

void ctp_cacheray_judge_why(const struct ctp_cacheray_judge *j, const uint8_t *p, size_t avail, struct ctp_err *why)
{
	bool at_hand;
	size_t bytes = ctp_cacheray_judge_length(j, p, avail, &at_hand);
	if (!bytes && *p == CTP_CACHERAY_RTTA_ADD) {
		ctp_err_set(why, "a name of %u bytes, of which there may be %d", name_bytes(j, p), CTP_CACHERAY_NAME_MAX);
	} else if (!bytes) {
		ctp_err_set(why, "0x%02x is no tag", *p);
	} else if (!at_hand) {
		ctp_err_set(why, "cut short");
	} else {
		struct doubts d = doubts_of(j, p);
		if (d.size || is_void(j, p))
			ctp_err_set(why, "an access of %u bytes", p[ctp_cacheray_after_address(j->spelling)]);
		else if (d.thread)
			ctp_err_set(why, "thread 0x%llx is none", (unsigned long long)ctp_cacheray_judge_thread(j, p));
		else if (d.name)
			ctp_err_set(why, "a name with control characters");
		else if (d.type)
			ctp_err_set(why, "a type without a name, or of no bytes");
		else
			ctp_err_set(why, "address %#llx is none, or not aligned",
			            (unsigned long long)ctp_cacheray_get_address(j->spelling, p));
	}
}

void ctp_cacheray_judge_learn(struct ctp_cacheray_judge *j, const uint8_t *p)
{
	if (is_access(*p)) {
		uint8_t size = p[ctp_cacheray_after_address(j->spelling)];
		j->sizes[size / 64] |= UINT64_C(1) << size % 64;
		j->odd_sizes |= !ctp_cacheray_usual_size(size);
	}
	j->misaligned |= is_misaligned(j, p);
	j->wild |= is_wild(j, p);
	j->odd_names |= has_odd_name(j, p);
	j->large |= ctp_cacheray_judge_thread(j, p) >= PID_END;
	ctp_distinct_add(&j->threads, j->last = ctp_cacheray_judge_thread(j, p));
	j->taken++;
}

/* --- what follows -------------------------------------------------------------------------------------------------------- */

/* Records from one on, as long as none is bad or short, at least up to `upto`. */
struct walk {
	size_t at;    /* where it ended */
	size_t again; /* records with the doubtful thread or size of the first */
	size_t strange; /* records with any doubtful thread, or any such size */
	enum ctp_cacheray_verdict end;
};

static bool is_again(const struct ctp_cacheray_judge *j, struct doubts d, const uint8_t *first, const uint8_t *p)
{
	size_t size = ctp_cacheray_after_address(j->spelling);
	if (d.thread)
		return ctp_cacheray_judge_thread(j, first) == ctp_cacheray_judge_thread(j, p);
	if (d.name)
		return has_odd_name(j, p);
	return d.size && is_access(*p) && first[size] && first[size] == p[size];
}

static bool is_strange(const struct ctp_cacheray_judge *j, struct doubts d, const uint8_t *p)
{
	if (d.size)
		return is_access(*p) && size_is_doubtful(j, p[ctp_cacheray_after_address(j->spelling)]);
	return d.thread && thread_is_doubtful(j, ctp_cacheray_judge_thread(j, p));
}

/* Zeros are the rest of a file whose program did not end through exit, and nothing bad. SHORT: there are too few to tell. */
static enum ctp_cacheray_verdict judge_rest(const uint8_t *p, size_t avail)
{
	size_t n = 0;
	while (n < avail && n < CTP_CACHERAY_REST && !p[n])
		n++;
	return n == CTP_CACHERAY_REST ? CTP_RECORD_WHOLE : n == avail ? CTP_RECORD_SHORT : CTP_RECORD_BAD;
}

static struct walk walk_from(const struct ctp_cacheray_judge *j, const uint8_t *p, size_t at, size_t avail, size_t upto)
{
	struct doubts d = doubts_of(j, p);
	struct walk w = {.at = at, .end = CTP_RECORD_WHOLE};
	while (w.at < upto) {
		size_t bytes;
		w.end = w.at < avail ? ctp_cacheray_judge_record(j, p + w.at, avail - w.at, &bytes) : CTP_RECORD_SHORT;
		bool bad = w.end == CTP_RECORD_BAD;
		if (bad)
			w.end = judge_rest(p + w.at, avail - w.at);
		if (bad || w.end == CTP_RECORD_SHORT)
			return w;
		w.again += is_again(j, d, p, p + w.at);
		w.strange += is_strange(j, d, p + w.at);
		w.at += bytes;
	}
	w.end = CTP_RECORD_WHOLE;
	return w;
}

/*
 * Whether the records after the doubtful one are whole, CHAIN of them or up to the end: then it has the right length. Records that
 * are mixed, or of a wrong phase, have doubtful ones after them. A name must not hide records that are in it.
 */
static bool is_followed(const struct ctp_cacheray_judge *j, const uint8_t *p, size_t avail, enum ctp_cacheray_after after)
{
	struct doubts d = doubts_of(j, p);
	bool at_hand;
	size_t at = ctp_cacheray_judge_length(j, p, avail, &at_hand);
	if (d.type || (d.address && (d.size || d.thread)))
		return false;
	for (unsigned n = 0; n < CHAIN; n++) {
		size_t bytes;
		if (at == avail)
			return after == CTP_AFTER_NOTHING;
		if (ctp_cacheray_judge_record(j, p + at, avail - at, &bytes) != CTP_RECORD_WHOLE)
			return false;
		at += bytes;
	}
	return true;
}

enum ctp_cacheray_answer ctp_cacheray_judge_take(struct ctp_cacheray_judge *j, const uint8_t *p, size_t avail, uint64_t offset,
                                                 enum ctp_cacheray_after after)
{
	struct doubts d = doubts_of(j, p);
	bool at_hand, may_return = !d.name && !(d.thread && (only_zero(j) || is_shifted(j, ctp_cacheray_judge_thread(j, p))));
	bool rare = (d.size && !j->odd_sizes) || ((d.name || (d.thread && !j->large)) && j->taken >= SMALL_LONG);
	bool must_return = rare && after != CTP_AFTER_LATER;
	size_t bytes = ctp_cacheray_judge_length(j, p, avail, &at_hand), upto = bytes + CTP_CACHERAY_WINDOW;
	size_t from = j->clean_upto >= offset + bytes && !must_return ? (size_t)(j->clean_upto - offset) : bytes;
	struct walk w = walk_from(j, p, from, avail, upto);
	if (w.end == CTP_RECORD_SHORT && after == CTP_AFTER_MORE)
		return CTP_ANSWER_WAIT;
	if (is_followed(j, p, avail, after))
		return CTP_ANSWER_YES;
	/* The input may end within a record that would have a name, and what is there of it is none. */
	size_t name = w.at + ctp_cacheray_add_bytes(j->spelling);
	bool ends_badly = avail > name && p[w.at] == CTP_CACHERAY_RTTA_ADD && name_is_doubtful(p + name, avail - name);
	if (w.end == CTP_RECORD_BAD || (w.end == CTP_RECORD_SHORT && after == CTP_AFTER_NOTHING && ends_badly)) {
		if (from > bytes)
			w = walk_from(j, p, bytes, avail, upto);
		return w.again >= RETURNS && may_return ? CTP_ANSWER_YES : CTP_ANSWER_NO;
	}
	j->clean_upto = offset + w.at;
	return must_return && !w.again && w.strange < RETURNS ? CTP_ANSWER_NO : CTP_ANSWER_YES;
}

/* Doubtful threads of some records in a row. */
struct strangers {
	unsigned n;
	struct {
		uint64_t thread;
		unsigned records;
	} of[STRANGERS];
};

/* False: they are too many. */
static bool add_stranger(struct strangers *s, uint64_t thread)
{
	unsigned i = 0;
	while (i < s->n && s->of[i].thread != thread)
		i++;
	if (i == STRANGERS)
		return false;
	s->n += i == s->n;
	s->of[i].thread = thread;
	s->of[i].records++;
	return true;
}

static bool all_return(const struct strangers *s)
{
	for (unsigned i = 0; i < s->n; i++)
		if (s->of[i].records < RETURNS)
			return false;
	return true;
}

enum ctp_cacheray_answer ctp_cacheray_judge_resume(struct ctp_cacheray_judge *j, const uint8_t *p, size_t avail,
                                                   enum ctp_cacheray_after after)
{
	struct strangers strangers = {0};
	if (*p == CTP_CACHERAY_RTTA_REMOVE) /* an access whose tag is damaged is one too, a byte later */
		return CTP_ANSWER_NO;
	unsigned n = 0;
	for (size_t at = 0, bytes = 0; n < (strangers.n ? CHAIN_DOUBTFUL : CHAIN); n++, at += bytes) {
		if (at == avail && n && !strangers.n && after == CTP_AFTER_NOTHING)
			break;
		enum ctp_cacheray_verdict v = at < avail ? ctp_cacheray_judge_record(j, p + at, avail - at, &bytes) : CTP_RECORD_SHORT;
		enum ctp_cacheray_verdict rest = CTP_RECORD_BAD;
		bool long_name = at < avail && p[at] == CTP_CACHERAY_RTTA_ADD && bytes > CTP_CACHERAY_FIXED_MAX + CHAIN_NAME_MAX;
		if (v == CTP_RECORD_BAD && n && !strangers.n)
			rest = v = judge_rest(p + at, avail - at);
		if (rest == CTP_RECORD_WHOLE || (rest == CTP_RECORD_SHORT && after == CTP_AFTER_NOTHING))
			break;
		if (v == CTP_RECORD_BAD || long_name)
			return CTP_ANSWER_NO;
		if (v == CTP_RECORD_SHORT)
			return after == CTP_AFTER_NOTHING ? CTP_ANSWER_NO : CTP_ANSWER_WAIT;
		struct doubts d = doubts_of(j, p + at);
		if (d.size || d.type || d.address || (d.thread && !add_stranger(&strangers, ctp_cacheray_judge_thread(j, p + at))))
			return CTP_ANSWER_NO;
	}
	if (!all_return(&strangers))
		return CTP_ANSWER_NO;
	for (unsigned i = 0; i < strangers.n; i++)
		ctp_distinct_add(&j->threads, strangers.of[i].thread);
	j->clean_upto = 0;
	return CTP_ANSWER_YES;
}
