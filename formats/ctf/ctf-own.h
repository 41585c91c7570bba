/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* ctf-own.h - traces of ctp-toctf, read without libbabeltrace2. */
#ifndef CTP_CTF_OWN_H
#define CTP_CTF_OWN_H

#include "ctf/ctf-values.h"
#include "ctf/ctf.h"
#include "io/input.h"

/* A stream file; before the first call all zeros but in and uuid. */
struct ctp_ctf_stream {
	struct ctp_input in;
	const uint8_t *uuid;   /* of the trace, 16 bytes */
	size_t packet_bytes;   /* of the packet at hand, which begins at in.ptr */
	const uint8_t *p, *end; /* the rest of the packet */
	uint64_t now_ns;       /* of the event at hand */
	uint32_t id;
};

/* Goes to the next event, whose time and id are then known. EOF: there is none. The event before must have been taken. */
enum ctp_status ctp_ctf_stream_next(struct ctp_ctf_stream *st, struct ctp_err *err);

/* Takes the event's payload: all fields that the layout has. */
enum ctp_status ctp_ctf_stream_take(struct ctp_ctf_stream *st, const struct ctp_ctf_layout *layout, const struct ctp_class *cls,
                                    struct ctp_ctf_values *v, struct ctp_err *err);

struct ctp_ctf_own;

/* EOF: the metadata is not, byte for byte, what ctp-toctf writes. folder must outlive it. */
enum ctp_status ctp_ctf_own_open(struct ctp_ctf_own **own, const char *folder, struct ctp_err *err);
const struct ctp_section *ctp_ctf_own_section(const struct ctp_ctf_own *own, bool *complete);

/* The next record of all streams, in the order of their time in the trace, which is *now_ns. */
enum ctp_status ctp_ctf_own_next(struct ctp_ctf_own *own, struct ctp_ctf_values *v, const struct ctp_class **cls,
                                 uint64_t *now_ns, struct ctp_err *err);
void ctp_ctf_own_free(struct ctp_ctf_own *own);

#endif
