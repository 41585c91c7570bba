/*
 * held.h - records that are held back until they may go, and then go in time order: bounded memory, one pass.
 *
 * Both who reads a stream in order and who sorts rows before writing them put records in as they come and release the oldest of them,
 * by a time or by half when the memory is full. Equal times keep the order in which they came.
 */
#ifndef CTP_HELD_H
#define CTP_HELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "stream/record.h"

struct ctp_held_entry {
	uint64_t ts_ns;
	const struct ctp_held_record *rec;
};

struct ctp_held_record {
	const struct ctp_class *cls;
	uint64_t val[];
};

/* held.c's own, but for the functions below that are called for each record. */
struct ctp_held {
	size_t limit, arena_bytes;
	uint8_t *arena, *spare; /* records are in the first */
	size_t used;            /* bytes of it */
	struct ctp_held_entry *entries, *scratch;
	size_t cap;
	size_t out, ready, count; /* entries [out, ready) may go, [ready, count) are held back */
	uint64_t last_ts;         /* of the last entry; 0: all have gone */
	bool sorted;
};

/* It is full when it holds limit_bytes; a record that is put all the same has room. Pages are taken as they are used. */
struct ctp_held *ctp_held_new(size_t limit_bytes, struct ctp_err *err);
void ctp_held_free(struct ctp_held *h);

/*
 * Copies the record, its strings included, which have at most CTP_PAYLOAD_MAX bytes. CTP_EOF: it did, and now it is full: release
 * half, and take what was released, before the next one. CTP_FAILED: out of memory.
 */
enum ctp_status ctp_held_put(struct ctp_held *h, uint64_t ts_ns, const struct ctp_class *cls, const uint64_t *val);

/* Lets go what is older than ts_ns; all; the older half of the bytes. The last returns the time of the newest that goes. */
void ctp_held_release_before(struct ctp_held *h, uint64_t ts_ns);
void ctp_held_release_all(struct ctp_held *h);
uint64_t ctp_held_release_half(struct ctp_held *h);

/* The next of those that may go, good until the next call of any of these; false if there is none. */
static inline bool ctp_held_next(struct ctp_held *h, struct ctp_record *rec, uint64_t *ts_ns)
{
	if (h->out == h->ready)
		return false;
	const struct ctp_held_entry *e = &h->entries[h->out++];
	*rec = (struct ctp_record){ .cls = e->rec->cls, .val = e->rec->val };
	*ts_ns = e->ts_ns;
	return true;
}

void ctp_held_compact(struct ctp_held *h);
bool ctp_held_grow(struct ctp_held *h);
void ctp_held_copy_texts(struct ctp_held *h, struct ctp_held_record *rec);

static inline struct ctp_held_record *ctp_held_top(const struct ctp_held *h)
{
	return (struct ctp_held_record *)(h->arena + h->used);
}

/* What has its values at the top becomes a record. */
static inline struct ctp_held_record *ctp_held_push(struct ctp_held *h, const struct ctp_class *cls)
{
	struct ctp_held_record *rec = ctp_held_top(h);
	h->used += sizeof *rec + cls->nfields * sizeof *rec->val;
	rec->cls = cls;
	if (cls->has_text)
		ctp_held_copy_texts(h, rec);
	return rec;
}

/* ctp_held_put in two steps, without the copy: here is room for CTP_FIELDS_MAX values; and now they are there. */
static inline uint64_t *ctp_held_room(struct ctp_held *h)
{
	if (h->out)
		ctp_held_compact(h);
	return ctp_held_top(h)->val;
}

static inline void ctp_held_add(struct ctp_held *h, uint64_t ts_ns, const struct ctp_class *cls)
{
	h->entries[h->count++] = (struct ctp_held_entry){ ts_ns, ctp_held_push(h, cls) };
	if (ts_ns < h->last_ts)
		h->sorted = false;
	h->last_ts = ts_ns;
}

static inline enum ctp_status ctp_held_keep(struct ctp_held *h, uint64_t ts_ns, const struct ctp_class *cls)
{
	if (h->count == h->cap && !ctp_held_grow(h))
		return CTP_FAILED;
	ctp_held_add(h, ts_ns, cls);
	return h->used > h->limit ? CTP_EOF : CTP_OK;
}

/* Whether ctp_held_add does for a record of the class: it has a time and no text, and it does not fill what there is. */
static inline bool ctp_held_is_easy(const struct ctp_held *h, const struct ctp_class *cls)
{
	return cls->time_field >= 0 && !cls->has_text && h->count < h->cap &&
	       h->used + sizeof(struct ctp_held_record) + cls->nfields * sizeof(uint64_t) <= h->limit;
}

#endif
