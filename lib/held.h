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

#include "err.h"
#include "record.h"

struct ctp_held_entry {
	uint64_t ts_ns;
	const struct ctp_held_record *rec;
};

struct ctp_held_record {
	const struct ctp_class *cls;
	uint64_t val[];
};

/* held.c's own, but for the two functions below that are called for each record. */
struct ctp_held {
	size_t limit, arena_bytes;
	struct ctp_held_arena {
		uint8_t *base;
		size_t used;
	} arena[2];
	unsigned current; /* arena that records are put into */
	struct ctp_held_entry *entries, *scratch;
	size_t cap;
	size_t out, ready, count; /* entries [out, ready) may go, [ready, count) are held back */
	bool sorted;
};

/* It is full when it holds limit_bytes; a record that is put all the same has room once. Pages are taken as they are used. */
struct ctp_held *ctp_held_new(size_t limit_bytes, struct ctp_err *err);
void ctp_held_free(struct ctp_held *h);

/*
 * Copies the record, its strings included. CTP_EOF: it did, and now it is full: release, and take what was released, before the next
 * put. CTP_FAILED: out of memory.
 */
enum ctp_status ctp_held_put(struct ctp_held *h, uint64_t ts_ns, const struct ctp_class *cls, const uint64_t *val);

/* Lets go what is older than ts_ns; all; the older half, at least one. The last returns the time of the newest that goes. */
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

#endif
