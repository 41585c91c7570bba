/* ppt-room.c - see ppt-room.h. */
#include "ppt/ppt-room.h"

#include <inttypes.h>

enum { SLOTS_LEAST = 2, DESCRIBED = 16 /* bytes that a byte of a description becomes, at most */ };
#define MIB UINT64_C(1048576)

static uint64_t limit_of(const struct ctp_ppt_live_conf *conf) { return (conf->memory_mib ? conf->memory_mib : CTP_PPT_LIVE_MIB) * MIB; }

/* A slot, and the sum of the frame in it. */
static uint64_t slot_bytes(const struct ctp_ppt_trace *t) { return t->layout->stride + sizeof *t->shared.sums; }
static uint64_t fixed_bytes(const struct ctp_ppt_trace *t)
{
	return DESCRIBED * (uint64_t)t->json_len + t->layout->size + CTP_PPT_CONTROL_MAX + t->layout->stride;
}
static uint64_t bytes_of(const struct ctp_ppt_trace *t, uint64_t slots) { return fixed_bytes(t) + slots * slot_bytes(t); }

static uint64_t used(const struct ctp_ppt_trace *traces, size_t n)
{
	uint64_t bytes = 0;
	for (size_t i = 0; i < n; i++)
		bytes += bytes_of(&traces[i], traces[i].at.ring.slots ? traces[i].at.ring.slots : traces[i].at.slots);
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

static uint32_t wanted_slots(const struct ctp_ppt_live_conf *conf, const struct ctp_ppt_trace *t)
{
	return conf->slots ? conf->slots : ctp_ppt_trace_slots(t->layout);
}

/* Gives each ring most bytes, or fewer if it wants fewer. True: a ring has fewer slots than it wants. */
static bool set_slots(const struct ctp_ppt_live_conf *conf, struct ctp_ppt_trace *traces, size_t n, uint64_t most)
{
	bool less = false;
	for (size_t i = 0; i < n; i++) {
		struct ctp_ppt_trace *t = &traces[i];
		uint64_t wanted = wanted_slots(conf, t), fixed = fixed_bytes(t), fit = most > fixed ? (most - fixed) / slot_bytes(t) : 0;
		fit = fit < SLOTS_LEAST ? SLOTS_LEAST : fit;
		less |= fit < wanted;
		t->at.slots = (uint32_t)(fit < wanted ? fit : wanted);
	}
	return less;
}

enum ctp_status ctp_ppt_room_share(const struct ctp_ppt_live_conf *conf, struct ctp_ppt_trace *traces, size_t n, struct ctp_err *err)
{
	uint64_t limit = limit_of(conf), low = 0, high = limit;
	set_slots(conf, traces, n, UINT64_MAX);
	uint64_t wanted = used(traces, n);
	if (wanted <= limit)
		return CTP_OK;
	if (conf->slots)
		return ctp_err_set(err, "-n %" PRIu32 ": rings of %zu buffers take %" PRIu64 " MiB, and --memory allows %" PRIu64, conf->slots, n,
		                   (wanted + MIB - 1) / MIB, limit / MIB);
	/* The largest share with which all together stay below. */
	while (high - low > 1) {
		uint64_t mid = low + (high - low) / 2;
		set_slots(conf, traces, n, mid);
		*(used(traces, n) <= limit ? &low : &high) = mid;
	}
	set_slots(conf, traces, n, low);
	if (used(traces, n) > limit)
		return ctp_err_set(err, "--memory %" PRIu64 ": rings of %zu buffers take %" PRIu64 " MiB at least; name fewer of them, or allow more",
		                   limit / MIB, n, (used(traces, n) + MIB - 1) / MIB);
	ctp_notice_say(conf->notice, "rings are smaller than usual, for --memory allows %" PRIu64 " MiB for all %zu", limit / MIB, n);
	return CTP_OK;
}
