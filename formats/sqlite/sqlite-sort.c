/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* sqlite-sort.c - see sqlite-sort.h. Keys that fit in memory make no file, and a run that came in order is not sorted. */
#include "sqlite/sqlite-sort.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"

enum { RUN_BYTES = 16 << 20, READ_BYTES = 64 << 10 };

struct run {
	uint64_t *keys; /* at hand */
	size_t at, n;
	off_t next, end; /* of the keys that are still in the file */
};

struct ctp_sqlite_sort {
	unsigned words;
	const char *beside;
	int fd; /* the file of the runs; -1: none yet */
	uint64_t *keys;
	size_t nkeys, max;
	bool in_order;
	struct run *runs;
	size_t nruns, runs_room;
	size_t *heap; /* runs that have a key at hand, that with the least first */
	size_t nheap;
	off_t written;
};

int ctp_sqlite_scratch(const char *beside)
{
	char path[PATH_MAX];
	const char *slash = strrchr(beside, '/');
	int len = slash ? (int)(slash - beside + 1) : 2;
	snprintf(path, sizeof path, "%.*s", len, slash ? beside : "./");
	int fd = open(path, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT))
		return fd;
	if (snprintf(path, sizeof path, "%s.XXXXXX", beside) >= (int)sizeof path)
		return errno = ENAMETOOLONG, -1;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

struct ctp_sqlite_sort *ctp_sqlite_sort_new(unsigned words, const char *beside)
{
	struct ctp_sqlite_sort *s = calloc(1, sizeof *s);
	if (!s || !(s->keys = malloc(RUN_BYTES))) {
		free(s);
		return NULL;
	}
	s->words = words;
	s->beside = beside;
	s->fd = -1;
	s->max = RUN_BYTES / sizeof *s->keys / words;
	s->in_order = true;
	return s;
}

void ctp_sqlite_sort_free(struct ctp_sqlite_sort *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->nruns && s->fd >= 0; i++)
		free(s->runs[i].keys);
	if (s->fd >= 0)
		close(s->fd);
	free(s->runs);
	free(s->heap);
	free(s->keys);
	free(s);
}

/* --- runs ---------------------------------------------------------------------------------------------------------------- */

static inline int compare(const uint64_t *a, const uint64_t *b, unsigned words)
{
	for (unsigned i = 0; i < words; i++)
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	return 0;
}

/* One place for each value of a byte, for each byte of a word. */
struct places {
	size_t at[8][256];
};

static inline unsigned byte_of(uint64_t word, unsigned byte) { return word >> 8 * byte & 255; }

static void count_bytes(const struct ctp_sqlite_sort *s, const uint64_t *word, struct places *p)
{
	*p = (struct places){0};
	for (size_t i = 0; i < s->nkeys; i++, word += s->words)
		for (unsigned byte = 0; byte < 8; byte++)
			p->at[byte][byte_of(*word, byte)]++;
}

static void counts_to_places(size_t *at)
{
	size_t sum = 0;
	for (unsigned value = 0; value < 256; value++) {
		size_t n = at[value];
		at[value] = sum;
		sum += n;
	}
}

static void move_keys(const struct ctp_sqlite_sort *s, uint64_t *to, const uint64_t *from, unsigned word, unsigned byte, size_t *at)
{
	for (size_t i = 0; i < s->nkeys; i++, from += s->words)
		memcpy(to + at[byte_of(from[word], byte)]++ * s->words, from, s->words * sizeof *to);
}

/* By each byte from the least, but for those that are the same in all keys. */
static void radix_sort(const struct ctp_sqlite_sort *s, uint64_t *spare)
{
	struct places p;
	uint64_t *from = s->keys, *to = spare;
	for (unsigned word = s->words; word-- > 0;) {
		count_bytes(s, from + word, &p);
		for (unsigned byte = 0; byte < 8; byte++) {
			if (p.at[byte][byte_of(from[word], byte)] == s->nkeys)
				continue;
			counts_to_places(p.at[byte]);
			move_keys(s, to, from, word, byte, p.at[byte]);
			uint64_t *swap = from;
			from = to;
			to = swap;
		}
	}
	if (from != s->keys)
		memcpy(s->keys, from, s->nkeys * s->words * sizeof *from);
}

static bool sort_run(struct ctp_sqlite_sort *s)
{
	if (s->in_order)
		return true;
	uint64_t *spare = malloc(s->nkeys * s->words * sizeof *spare);
	if (!spare)
		return false;
	radix_sort(s, spare);
	free(spare);
	s->in_order = true;
	return true;
}

static bool write_run(struct ctp_sqlite_sort *s)
{
	size_t left = s->nkeys * s->words * sizeof *s->keys;
	const char *from = (const char *)s->keys;
	if (!CTP_ARRAY_RESERVE(s->runs, s->runs_room, s->nruns + 1, SIZE_MAX) ||
	    (s->fd < 0 && (s->fd = ctp_sqlite_scratch(s->beside)) < 0))
		return false;
	s->runs[s->nruns++] = (struct run){.next = s->written, .end = s->written + (off_t)left};
	while (left) {
		ssize_t n = write(s->fd, from, left);
		if (n <= 0 && errno != EINTR)
			return false;
		left -= n > 0 ? (size_t)n : 0;
		from += n > 0 ? n : 0;
	}
	s->written = s->runs[s->nruns - 1].end;
	s->nkeys = 0;
	return true;
}

bool ctp_sqlite_sort_add(struct ctp_sqlite_sort *s, const uint64_t *key)
{
	if (s->nkeys == s->max && !(sort_run(s) && write_run(s)))
		return false;
	uint64_t *to = s->keys + s->nkeys * s->words;
	if (s->nkeys++)
		s->in_order &= compare(to - s->words, key, s->words) <= 0;
	memcpy(to, key, s->words * sizeof *to);
	return true;
}

/* --- merging ------------------------------------------------------------------------------------------------------------- */

static const uint64_t *head(const struct ctp_sqlite_sort *s, size_t run)
{
	return s->runs[run].keys + s->runs[run].at * s->words;
}

static bool is_less(const struct ctp_sqlite_sort *s, size_t a, size_t b)
{
	return compare(head(s, s->heap[a]), head(s, s->heap[b]), s->words) < 0;
}

static void sift_down(struct ctp_sqlite_sort *s, size_t i)
{
	for (size_t child; (child = 2 * i + 1) < s->nheap; i = child) {
		if (child + 1 < s->nheap && is_less(s, child + 1, child))
			child++;
		if (!is_less(s, child, i))
			return;
		size_t swap = s->heap[i];
		s->heap[i] = s->heap[child];
		s->heap[child] = swap;
	}
}

/* Reads the next keys of a run from the file. 1: there are some, 0: there are none, -1: failed. */
static int refill(struct ctp_sqlite_sort *s, struct run *r)
{
	size_t room = READ_BYTES / sizeof *r->keys / s->words * s->words * sizeof *r->keys;
	size_t want = r->end - r->next < (off_t)room ? (size_t)(r->end - r->next) : room, got = 0;
	while (got < want) {
		ssize_t n = pread(s->fd, (char *)r->keys + got, want - got, r->next + (off_t)got);
		if (n == 0)
			errno = EIO;
		if (n <= 0 && (n == 0 || errno != EINTR))
			return -1;
		got += n > 0 ? (size_t)n : 0;
	}
	r->next += (off_t)want;
	r->at = 0;
	r->n = want / sizeof *r->keys / s->words;
	return want > 0;
}

/* Without a file all keys are one run, in memory. */
static bool begin_in_memory(struct ctp_sqlite_sort *s)
{
	if (!(s->runs = calloc(1, sizeof *s->runs)))
		return false;
	s->runs[0] = (struct run){.keys = s->keys, .n = s->nkeys};
	s->nruns = 1;
	return true;
}

static bool begin_in_file(struct ctp_sqlite_sort *s)
{
	if (s->nkeys && !write_run(s))
		return false;
	free(s->keys);
	s->keys = NULL;
	for (size_t i = 0; i < s->nruns; i++)
		if (!(s->runs[i].keys = malloc(READ_BYTES)) || refill(s, &s->runs[i]) < 0)
			return false;
	return true;
}

bool ctp_sqlite_sort_begin(struct ctp_sqlite_sort *s)
{
	if (!sort_run(s) || !(s->fd < 0 ? begin_in_memory(s) : begin_in_file(s)))
		return false;
	if (!(s->heap = calloc(s->nruns, sizeof *s->heap)))
		return false;
	for (size_t i = 0; i < s->nruns; i++)
		if (s->runs[i].n)
			s->heap[s->nheap++] = i;
	for (size_t i = s->nheap; i-- > 0;)
		sift_down(s, i);
	return true;
}

int ctp_sqlite_sort_next(struct ctp_sqlite_sort *s, uint64_t *key)
{
	if (!s->nheap)
		return 0;
	struct run *r = &s->runs[s->heap[0]];
	memcpy(key, head(s, s->heap[0]), s->words * sizeof *key);
	int more = ++r->at < r->n ? 1 : s->fd >= 0 ? refill(s, r) : 0;
	if (more < 0)
		return -1;
	if (!more)
		s->heap[0] = s->heap[--s->nheap];
	sift_down(s, 0);
	return 1;
}
