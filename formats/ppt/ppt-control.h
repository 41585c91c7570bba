/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ppt-control.h - the control block at the beginning of a buffer's segment, as ppt's clients have it.
 *
 * The sizes of the three counters' entries follow from the perf_event_attr of the headers that a client was built with: 112 bytes in
 * older ones and 128 in newer, so that the block has 416 or 464 bytes.
 */
#ifndef CTP_PPT_CONTROL_H
#define CTP_PPT_CONTROL_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum {
	CTP_PPT_CONTROL_COUNTERS = 3,
	CTP_PPT_CONTROL_ENTRY = 8,       /* bytes in front of an attr: its index, and padding */
	CTP_PPT_CONTROL_MAX = 464,       /* bytes of the block */
	CTP_PPT_CONTROL_MARKED = 0x70000000, /* `ours`: the block was made by an agent like this; the low bits name the buffer */
	CTP_PPT_CONTROL_CLOSING = 0x08000000, /* nr_perf_ctrs is set for the client's closing loop */
	CTP_PPT_CONTROL_BUFFER = 0x07ffffff,
};

/*
 * client_flags, of clients made with sdk/ppt: a thread has no counters, because other threads use them all, or because they cannot
 * be opened.
 */
enum { CTP_PPT_CLIENT_CROWDED = 1, CTP_PPT_CLIENT_UNOPENED = 2 };

struct ctp_ppt_control {
	_Atomic uint64_t bytes;
	_Atomic uint64_t data_id;          /* data_block_hmem: 0, for the ring follows in the same segment */
	_Atomic uint64_t data_id_attached; /* not 0: the client has attached, all else that it sets is set */
	_Atomic uint64_t data;             /* in the client's memory */
	_Atomic uint64_t slots;
	_Atomic uint64_t client_flags;
	_Atomic uint32_t ncounters;
	_Atomic uint32_t ours;             /* padding, to clients */
	unsigned char counters[];
};

_Static_assert(offsetof(struct ctp_ppt_control, data_id) == 8, "data_block_hmem");
_Static_assert(offsetof(struct ctp_ppt_control, data_id_attached) == 16, "data_block_hmem_attached");
_Static_assert(offsetof(struct ctp_ppt_control, data) == 24, "data_block");
_Static_assert(offsetof(struct ctp_ppt_control, slots) == 32, "data_block_sz");
_Static_assert(offsetof(struct ctp_ppt_control, client_flags) == 40, "client_flags");
_Static_assert(offsetof(struct ctp_ppt_control, ncounters) == 48, "nr_perf_ctrs");
_Static_assert(offsetof(struct ctp_ppt_control, ours) == 52, "four bytes of padding");
_Static_assert(offsetof(struct ctp_ppt_control, counters) == 56, "counterdata");

/* The mark of the buffer with hmem at this address. */
static inline uint32_t ctp_ppt_control_mark(uint64_t hmem_at)
{
	return CTP_PPT_CONTROL_MARKED | ((uint32_t)(hmem_at >> 2) & CTP_PPT_CONTROL_BUFFER);
}

/*
 * Called before hmem is set to 0. The client's closing loop closes one descriptor more than nr_perf_ctrs says, and that is
 * descriptor 0. So the number is decremented, once. (The client sets it to 0 itself if it could not open the counters.) False: it
 * was decremented already.
 */
static inline int ctp_ppt_control_closing(uint32_t *ours, uint32_t *ncounters)
{
	int marked = (*ours & CTP_PPT_CONTROL_MARKED) == CTP_PPT_CONTROL_MARKED;
	if (marked && *ours & CTP_PPT_CONTROL_CLOSING)
		return 0;
	if (*ncounters <= CTP_PPT_CONTROL_COUNTERS)
		--*ncounters;
	if (marked)
		*ours |= CTP_PPT_CONTROL_CLOSING;
	return 1;
}

static inline void ctp_ppt_control_close(struct ctp_ppt_control *c)
{
	uint32_t ours = atomic_load_explicit(&c->ours, memory_order_relaxed), n = atomic_load_explicit(&c->ncounters, memory_order_relaxed);
	if (!ctp_ppt_control_closing(&ours, &n))
		return;
	atomic_store_explicit(&c->ncounters, n, memory_order_relaxed);
	atomic_store_explicit(&c->ours, ours, memory_order_relaxed);
}

/* --- counters by their names, as perf_event_attr for a client to open ----------------------------------------------------- */

enum { CTP_PPT_ATTR_BYTES = 112 }; /* any client has room for these */

struct ctp_ppt_counters {
	uint32_t n;
	const char *names[CTP_PPT_CONTROL_COUNTERS];
	uint8_t attr[CTP_PPT_CONTROL_COUNTERS][CTP_PPT_ATTR_BYTES];
};

/* "cycles,page-faults". The list is changed. Fails at a name that is unknown or repeated, and at a fourth. */
enum ctp_status ctp_ppt_counters_parse(struct ctp_ppt_counters *counters, char *list, struct ctp_err *err);

/* Fails if this machine has no such counter, or does not permit it. */
enum ctp_status ctp_ppt_counters_try(const struct ctp_ppt_counters *counters, struct ctp_err *err);

#endif
