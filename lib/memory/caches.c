/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * caches.c - see caches.h.
 *
 * A set is its lines, the last used first. A line is the number of its block, and two bits below that: there, and written. A block
 * has at least 16 bytes, so its number leaves room for them. A line that another thread took has the bit above instead: it is after
 * those that are there, the last taken first, and before places that were never used, until another line needs the place.
 */
#include "memory/caches.h"

#include <stdlib.h>
#include <string.h>

#include "base/pages.h"
#include "base/text.h"

enum { THERE = 1, WRITTEN = 2, STATE_BITS = 2 };

static const uint64_t TAKEN = UINT64_C(1) << 63;

struct cache {
	uint64_t *lines; /* null: not used yet */
	size_t bytes;
};

struct level {
	struct ctp_cache_shape shape;
	unsigned line_bits;
	uint32_t sets, mask; /* mask 0: the sets are no power of two */
	bool own;
	struct cache caches[CTP_CACHE_OWNERS]; /* the first is all there is, unless threads have their own */
	uint32_t ncaches;
	struct ctp_cache_counts counts;
};

struct ctp_caches {
	unsigned nlevels;
	uint64_t memory_writes;
	bool failed;
	struct level level[CTP_CACHE_LEVELS];
};

/* --- shapes -------------------------------------------------------------------------------------------------------------- */

static bool parse_size(const char *p, const char *end, uint64_t *n)
{
	unsigned bits = 0;
	if (end > p && strchr("kKmM", end[-1]))
		bits = strchr("kK", *--end) ? 10 : 20;
	if (!ctp_parse_u64(p, end, n) || *n > UINT64_MAX >> 24)
		return false;
	*n <<= bits;
	return true;
}

static enum ctp_status check_shape(const struct ctp_cache_shape *s, const char *text, struct ctp_err *err)
{
	if (s->line < CTP_CACHE_LINE_MIN || s->line > CTP_CACHE_LINE_MAX || s->line & (s->line - 1))
		return ctp_err_as(err, CTP_ERR_USAGE, "%s: a line has 16, 32, 64 or 128 bytes", text);
	if (!s->ways || s->ways > CTP_CACHE_WAYS_MAX)
		return ctp_err_as(err, CTP_ERR_USAGE, "%s: there are 1 to %d ways", text, CTP_CACHE_WAYS_MAX);
	if (!s->size)
		return ctp_err_as(err, CTP_ERR_USAGE, "%s: the size is 0; --cache none is for no cache", text);
	if (s->size % ((uint64_t)s->line * s->ways))
		return ctp_err_as(err, CTP_ERR_USAGE, "%s: the size is no multiple of ways times line, %u", text,
		                  s->line * s->ways);
	if (s->size / s->line > CTP_CACHE_LINES_MAX)
		return ctp_err_as(err, CTP_ERR_USAGE, "%s: more than %d lines", text, CTP_CACHE_LINES_MAX);
	return CTP_OK;
}

enum ctp_status ctp_cache_shape_parse(struct ctp_cache_shape *shape, const char *text, struct ctp_err *err)
{
	const char *ways = strchr(text, ','), *line = ways ? strchr(ways + 1, ',') : NULL;
	uint64_t nways, nline;
	if (!line || !parse_size(text, ways, &shape->size) || !ctp_parse_u64(ways + 1, line, &nways) || nways > UINT32_MAX ||
	    !ctp_parse_u64(line + 1, line + strlen(line), &nline) || nline > UINT32_MAX)
		return ctp_err_as(err, CTP_ERR_USAGE, "%s: is no cache such as 32k,8,64: size, ways, bytes of a line", text);
	shape->ways = (uint32_t)nways;
	shape->line = (uint32_t)nline;
	return check_shape(shape, text, err);
}

/* --- a cache ------------------------------------------------------------------------------------------------------------- */

static uint64_t *set_of(const struct level *l, const struct cache *c, uint64_t block)
{
	uint32_t set = (uint32_t)(l->mask || l->sets == 1 ? block & l->mask : block % l->sets);
	return c->lines + (size_t)set * l->shape.ways;
}

/* The line of a block; null: it is not there. */
static uint64_t *line_of(const struct level *l, const struct cache *c, uint64_t block)
{
	uint64_t *set = set_of(l, c, block);
	for (uint32_t i = 0; i < l->shape.ways; i++)
		if ((set[i] & ~(uint64_t)WRITTEN) == (block << STATE_BITS | THERE))
			return &set[i];
	return NULL;
}

/* Takes a block in, or to the front. Hit: true. *out: the line that was replaced; 0: none. */
static inline __attribute__((always_inline)) bool refer(const struct level *l, const struct cache *c, uint64_t block, bool write, uint64_t *out)
{
	uint64_t *set = set_of(l, c, block), want = block << STATE_BITS | THERE;
	uint32_t last = l->shape.ways - 1, i = 0;
	*out = 0;
	while (i < last && (set[i] & ~(uint64_t)WRITTEN) != want)
		i++;
	uint64_t line = set[i];
	bool hit = (line & ~(uint64_t)WRITTEN) == want;
	if (!hit) {
		*out = line;
		line = want;
	}
	for (; i; i--)
		set[i] = set[i - 1];
	set[0] = line | (write ? WRITTEN : 0);
	return hit;
}

/*
 * Whether a block that was just taken in, for `out`, had been taken by another thread. Then it has its place again, and what is after
 * that, which is not there either, stays.
 */
static __attribute__((noinline)) bool was_taken(const struct level *l, const struct cache *c, uint64_t block, uint64_t out)
{
	uint64_t *set = set_of(l, c, block), was = TAKEN | block << STATE_BITS;
	uint32_t last = l->shape.ways - 1, i = 1;
	if (out == was || out & THERE)
		return out == was;
	while (i <= last && set[i] && set[i] != was)
		i++;
	if (i > last || !set[i])
		return false;
	memmove(&set[i], &set[i + 1], (last - i) * sizeof *set);
	set[last] = out;
	return true;
}

static struct cache *cache_of(struct ctp_caches *c, struct level *l, uint32_t i)
{
	struct cache *cache = &l->caches[i];
	if (cache->lines)
		return cache;
	cache->bytes = (size_t)l->sets * l->shape.ways * sizeof *cache->lines;
	cache->lines = ctp_pages_new(cache->bytes);
	c->failed |= !cache->lines;
	if (i >= l->ncaches)
		l->ncaches = i + 1;
	return cache->lines ? cache : NULL;
}

/* --- levels -------------------------------------------------------------------------------------------------------------- */

struct ctp_caches *ctp_caches_new(const struct ctp_cache_shape *shapes, unsigned nlevels, bool own, struct ctp_err *err)
{
	struct ctp_caches *c = ctp_err_calloc(err, sizeof *c);
	if (!c)
		return NULL;
	c->nlevels = nlevels;
	for (unsigned i = 0; i < nlevels; i++) {
		struct level *l = &c->level[i];
		l->shape = shapes[i];
		l->line_bits = (unsigned)__builtin_ctz(l->shape.line);
		l->sets = (uint32_t)(l->shape.size / l->shape.line / l->shape.ways);
		l->mask = l->sets & (l->sets - 1) ? 0 : l->sets - 1;
		l->own = own && (i + 1 < nlevels || nlevels == 1);
		if (i && l->shape.line < shapes[i - 1].line) {
			ctp_err_as(err, CTP_ERR_USAGE, "a line of level %u is shorter than one of level %u", i + 1, i);
			free(c);
			return NULL;
		}
	}
	return c;
}

void ctp_caches_free(struct ctp_caches *c)
{
	if (!c)
		return;
	for (unsigned i = 0; i < c->nlevels; i++)
		for (uint32_t k = 0; k < c->level[i].ncaches; k++)
			ctp_pages_free(c->level[i].caches[k].lines, c->level[i].caches[k].bytes);
	free(c);
}

void ctp_caches_clear(struct ctp_caches *c)
{
	for (unsigned i = 0; i < c->nlevels; i++)
		for (uint32_t k = 0; k < c->level[i].ncaches; k++)
			if (c->level[i].caches[k].lines)
				ctp_pages_clear(c->level[i].caches[k].lines, c->level[i].caches[k].bytes);
}

/* A line that had been written leaves a level: the next that has it takes it, else memory. */
static void write_back(struct ctp_caches *c, unsigned level, uint32_t thread, uint64_t line)
{
	uint64_t address = (line >> STATE_BITS) << c->level[level].line_bits;
	while (++level < c->nlevels) {
		struct level *l = &c->level[level];
		struct cache *cache = cache_of(c, l, l->own ? thread % CTP_CACHE_OWNERS : 0);
		uint64_t *there = cache ? line_of(l, cache, address >> l->line_bits) : NULL;
		if (there) {
			*there |= WRITTEN;
			return;
		}
	}
	c->memory_writes++;
}

/* The last byte of an access: memory ends at 2^64. */
static uint64_t end_of(uint64_t address, uint32_t size) { return size - 1 > ~address ? UINT64_MAX : address + (size - 1); }

/*
 * Every line that the access touches is taken in, also after one that is not there. A write marks lines of the first level. `own` is
 * what the level says, and known when this is compiled.
 */
static inline __attribute__((always_inline)) bool refer_all(struct ctp_caches *c, unsigned level, uint32_t thread, uint64_t address,
                                                           uint32_t size, bool write, bool own)
{
	struct level *l = &c->level[level];
	struct cache *cache = cache_of(c, l, own ? thread % CTP_CACHE_OWNERS : 0);
	uint64_t upto = end_of(address, size), out;
	bool hit = true, taken = false;
	for (uint64_t b = address >> l->line_bits; cache && b <= upto >> l->line_bits; b++) {
		bool there = refer(l, cache, b, write && !level, &out);
		hit &= there;
		if (own && !there && l->counts.invalidated)
			taken |= was_taken(l, cache, b, out);
		if (out & WRITTEN) {
			l->counts.write_backs++;
			write_back(c, level, thread, out);
		}
	}
	*(hit ? &l->counts.hits[write] : &l->counts.misses[write]) += 1;
	if (own && taken)
		l->counts.taken++;
	return hit;
}

/* A line is taken out, and those after it that are there move up. */
static void drop(const struct level *l, const struct cache *cache, uint64_t *line)
{
	uint64_t block = *line >> STATE_BITS, *end = set_of(l, cache, block) + l->shape.ways;
	for (; line + 1 < end && line[1] & THERE; line++)
		line[0] = line[1];
	*line = TAKEN | block << STATE_BITS;
}

/* Takes blocks out of one cache; a line that had been written there goes on before. */
static void take_out(struct ctp_caches *c, unsigned level, uint32_t owner, uint64_t first, uint64_t last)
{
	struct level *l = &c->level[level];
	const struct cache *cache = &l->caches[owner];
	for (uint64_t b = first; cache->lines && b <= last; b++) {
		uint64_t *line = line_of(l, cache, b), was = line ? *line : 0;
		if (!line)
			continue;
		drop(l, cache, line);
		l->counts.invalidated++;
		if (was & WRITTEN) {
			l->counts.write_backs++;
			write_back(c, level, owner, was);
		}
	}
}

/* What a thread writes is old in the caches of the others. */
static void invalidate(struct ctp_caches *c, uint32_t thread, uint64_t address, uint32_t size)
{
	uint64_t upto = end_of(address, size);
	for (unsigned i = 0; i < c->nlevels && c->level[i].own; i++)
		for (uint32_t k = 0; k < c->level[i].ncaches; k++)
			if (k != thread % CTP_CACHE_OWNERS)
				take_out(c, i, k, address >> c->level[i].line_bits, upto >> c->level[i].line_bits);
}

/* Whether an access is to one line, and that is the last used of its set in the first level. */
static inline bool is_last_used(struct ctp_caches *c, uint32_t owner, uint64_t address, uint32_t size, bool write)
{
	struct level *l = &c->level[0];
	uint64_t block = address >> l->line_bits;
	if (!l->caches[owner].lines || end_of(address, size) >> l->line_bits != block)
		return false;
	uint64_t *line = set_of(l, &l->caches[owner], block);
	if ((*line & ~(uint64_t)WRITTEN) != (block << STATE_BITS | THERE))
		return false;
	*line |= write ? WRITTEN : 0;
	l->counts.hits[write]++;
	return true;
}

/* The levels from one on that all threads share; in how many it missed, with those before. */
static unsigned access_shared(struct ctp_caches *c, uint32_t thread, uint64_t address, uint32_t size, bool write, unsigned missed)
{
	while (missed < c->nlevels && !refer_all(c, missed, thread, address, size, write, false))
		missed++;
	return c->failed ? CTP_CACHE_LEVELS + 1 : missed;
}

static unsigned access_own(struct ctp_caches *c, uint32_t thread, uint64_t address, uint32_t size, bool write)
{
	unsigned missed = 0;
	if (write)
		invalidate(c, thread, address, size);
	else if (is_last_used(c, thread % CTP_CACHE_OWNERS, address, size, false))
		return 0;
	for (; missed < c->nlevels && c->level[missed].own; missed++)
		if (refer_all(c, missed, thread, address, size, write, true))
			return c->failed ? CTP_CACHE_LEVELS + 1 : missed;
	return access_shared(c, thread, address, size, write, missed);
}

unsigned ctp_caches_access(struct ctp_caches *c, uint32_t thread, uint64_t address, uint32_t size, bool write)
{
	if (c->level[0].own)
		return access_own(c, thread, address, size, write);
	return is_last_used(c, 0, address, size, write) ? 0 : access_shared(c, thread, address, size, write, 0);
}

const struct ctp_cache_shape *ctp_caches_shape(const struct ctp_caches *c, unsigned level) { return &c->level[level].shape; }
const struct ctp_cache_counts *ctp_caches_counts(const struct ctp_caches *c, unsigned level) { return &c->level[level].counts; }
uint64_t ctp_caches_memory_writes(const struct ctp_caches *c) { return c->memory_writes; }
bool ctp_caches_own(const struct ctp_caches *c, unsigned level) { return c->level[level].own; }
