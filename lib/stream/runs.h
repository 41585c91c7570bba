/*
 * runs.h - records that are held back until they may go, and then go in time order: bounded memory, one pass.
 *
 * Both who reads a stream in order and who sorts rows before writing them put records in as they come and release the oldest of them,
 * by a time or by half when the memory is full. Equal times keep the order in which they came.
 */
#ifndef CTP_RUNS_H
#define CTP_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "stream/record.h"

struct ctp_runs_entry {
	uint64_t ts_ns;
	const struct ctp_runs_record *rec;
};

struct ctp_runs_record {
	const struct ctp_class *cls;
	uint64_t val[];
};

/* runs.c's own, but for the functions below that are called for each record. */
struct ctp_runs {
	size_t limit, arena_bytes;
	uint8_t *arena, *spare; /* records are in the first */
	size_t used;            /* bytes of it */
	struct ctp_runs_entry *entries, *scratch;
	size_t cap;
	size_t out, ready, count; /* entries [out, ready) may go, [ready, count) are held back */
	uint64_t last_ts;         /* of the last entry; 0: all have gone */
	bool sorted;
};

/* It is full when it holds limit_bytes; a record that is put all the same has room. Pages are taken as they are used. */
struct ctp_runs *ctp_runs_new(size_t limit_bytes, struct ctp_err *err);
void ctp_runs_free(struct ctp_runs *h);

/*
 * Copies the record, its strings included, which have at most CTP_PAYLOAD_MAX bytes. CTP_EOF: it did, and now it is full: release
 * half, and take what was released, before the next one. CTP_FAILED: out of memory.
 */
enum ctp_status ctp_runs_put(struct ctp_runs *h, uint64_t ts_ns, const struct ctp_class *cls, const uint64_t *val);

/* Lets go what is older than ts_ns; all; the older half of the bytes. The last returns the time of the newest that goes. */
void ctp_runs_release_before(struct ctp_runs *h, uint64_t ts_ns);
void ctp_runs_release_all(struct ctp_runs *h);
uint64_t ctp_runs_release_half(struct ctp_runs *h);

/* The next of those that may go, good until the next call of any of these; false if there is none. */
static inline bool ctp_runs_next(struct ctp_runs *h, struct ctp_record *rec, uint64_t *ts_ns)
{
	if (h->out == h->ready)
		return false;
	const struct ctp_runs_entry *e = &h->entries[h->out++];
	*rec = (struct ctp_record){ .cls = e->rec->cls, .val = e->rec->val };
	*ts_ns = e->ts_ns;
	return true;
}

void ctp_runs_compact(struct ctp_runs *h);
bool ctp_runs_grow(struct ctp_runs *h);
void ctp_runs_copy_texts(struct ctp_runs *h, struct ctp_runs_record *rec);

static inline struct ctp_runs_record *ctp_runs_top(const struct ctp_runs *h)
{
	return (struct ctp_runs_record *)(h->arena + h->used);
}

/* What has its values at the top becomes a record. */
static inline struct ctp_runs_record *ctp_runs_push(struct ctp_runs *h, const struct ctp_class *cls)
{
	struct ctp_runs_record *rec = ctp_runs_top(h);
	h->used += sizeof *rec + cls->nfields * sizeof *rec->val;
	rec->cls = cls;
	if (cls->has_text)
		ctp_runs_copy_texts(h, rec);
	return rec;
}

/* ctp_runs_put in two steps, without the copy: here is room for CTP_FIELDS_MAX values; and now they are there. */
static inline uint64_t *ctp_runs_room(struct ctp_runs *h)
{
	if (h->out)
		ctp_runs_compact(h);
	return ctp_runs_top(h)->val;
}

static inline void ctp_runs_add(struct ctp_runs *h, uint64_t ts_ns, const struct ctp_class *cls)
{
	h->entries[h->count++] = (struct ctp_runs_entry){ ts_ns, ctp_runs_push(h, cls) };
	if (ts_ns < h->last_ts)
		h->sorted = false;
	h->last_ts = ts_ns;
}

static inline enum ctp_status ctp_runs_keep(struct ctp_runs *h, uint64_t ts_ns, const struct ctp_class *cls)
{
	if (h->count == h->cap && !ctp_runs_grow(h))
		return CTP_FAILED;
	ctp_runs_add(h, ts_ns, cls);
	return h->used > h->limit ? CTP_EOF : CTP_OK;
}

/* Whether ctp_runs_add does for a record of the class: it has a time and no text, and it does not fill what there is. */
static inline bool ctp_runs_is_easy(const struct ctp_runs *h, const struct ctp_class *cls)
{
	return cls->time_field >= 0 && !cls->has_text && h->count < h->cap &&
	       h->used + sizeof(struct ctp_runs_record) + cls->nfields * sizeof(uint64_t) <= h->limit;
}

#endif
