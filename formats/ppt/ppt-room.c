/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ppt-room.c - how many slots each ring has.
 *
 * The process chooses the size of a frame, the number of buffers and the length of their descriptions.
 */
#include "ppt/ppt-live.h"

#include <assert.h>
#include <inttypes.h>

enum {
	SLOTS_LEAST = 2,
	DESCRIBED = 16, /* bytes of memory for each byte of a description, at most */
	RING_BYTES = 16 << 20, SLOTS_MIN = 128, /* of a ring, by default */
	RING_MAX = 1 << 28, /* bytes, however many slots a description asks for */
};
#define MIB UINT64_C(1048576)

static uint64_t limit_of(const struct ctp_ppt_live_conf *conf) { return (conf->memory_mib ? conf->memory_mib : CTP_PPT_LIVE_MIB) * MIB; }

/* A slot, and the sum of the frame in it. */
static uint64_t slot_bytes(const struct ctp_ppt_trace *t) { return t->layout->stride + sizeof *t->shared.sums; }
static uint64_t fixed_bytes(const struct ctp_ppt_trace *t)
{
	return DESCRIBED * (uint64_t)t->json_len + t->layout->size + CTP_PPT_CONTROL_MAX + t->layout->stride;
}

static uint64_t used(const struct ctp_ppt_trace *traces, size_t n)
{
	uint64_t bytes = 0;
	for (size_t i = 0; i < n; i++)
		bytes += fixed_bytes(&traces[i]) + traces[i].at.slots * slot_bytes(&traces[i]);
	return bytes;
}

enum ctp_status ctp_ppt_room_describe(const struct ctp_ppt_live_conf *conf, const struct ctp_ppt_trace *traces, size_t n,
                                      struct ctp_err *err)
{
	uint64_t bytes = 0;
	for (size_t i = 0; i < n; i++)
		bytes += DESCRIBED * (uint64_t)traces[i].json_len;
	if (bytes <= limit_of(conf) / 2)
		return CTP_OK;
	return ctp_err_set(err, "%s: there is no room for its description, for --memory allows %" PRIu64 " MiB", traces[n - 1].buffer->label,
	                   limit_of(conf) / MIB);
}

static uint32_t wanted_slots(const struct ctp_ppt_live_conf *conf, const struct ctp_ppt_layout *layout)
{
	uint32_t slots = RING_BYTES / layout->stride;
	slots = slots < SLOTS_MIN ? SLOTS_MIN : slots > CTP_PPT_SLOTS_MAX ? CTP_PPT_SLOTS_MAX : slots;
	/* The target can ask for more, within limits. */
	if (slots < layout->min_elements && layout->min_elements <= RING_MAX / layout->stride)
		slots = (uint32_t)layout->min_elements;
	return conf->slots ? conf->slots : slots;
}

/* Gives each ring most bytes, or fewer if it wants fewer. */
static void set_slots(const struct ctp_ppt_live_conf *conf, struct ctp_ppt_trace *traces, size_t n, uint64_t most)
{
	for (struct ctp_ppt_trace *t = traces; t < traces + n; t++) {
		uint64_t wanted = wanted_slots(conf, t->layout), fixed = fixed_bytes(t);
		uint64_t fit = most > fixed ? (most - fixed) / slot_bytes(t) : 0;
		fit = fit < SLOTS_LEAST ? SLOTS_LEAST : fit;
		t->at.slots = (uint32_t)(fit < wanted ? fit : wanted);
	}
}

enum ctp_status ctp_ppt_room_share(const struct ctp_ppt_live_conf *conf, struct ctp_ppt_trace *traces, size_t n, struct ctp_err *err)
{
	uint64_t limit = limit_of(conf);
	assert(n);
	set_slots(conf, traces, n, UINT64_MAX);
	uint64_t wanted = used(traces, n);
	if (wanted <= limit)
		return CTP_OK;
	if (conf->slots)
		return ctp_err_set(err, "-n %" PRIu32 ": rings of %zu buffers take %" PRIu64 " MiB, and --memory allows %" PRIu64, conf->slots, n,
		                   (wanted + MIB - 1) / MIB, limit / MIB);
	set_slots(conf, traces, n, limit / n);
	if (used(traces, n) > limit)
		return ctp_err_set(err, "--memory %" PRIu64 ": rings of %zu buffers take %" PRIu64 " MiB at least; name fewer of them, or allow more",
		                   limit / MIB, n, (used(traces, n) + MIB - 1) / MIB);
	ctp_notice_say(conf->notice, "rings are smaller than usual, for --memory allows %" PRIu64 " MiB for all %zu",
	               limit / MIB, n);
	return CTP_OK;
}
