/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* ctf-about.h - facts about a section for readers of CTF, which both the CTF sink and the babeltrace2 plugin give. */
#ifndef CTP_CTF_ABOUT_H
#define CTP_CTF_ABOUT_H

#include "stream/record.h"

/* The clock's offset to the epoch, as readers can hold it: 0 where the section's own is unknown, negative or too large. */
uint64_t ctp_ctf_clock_offset(const struct ctp_section *sec);

/* What its description says of an ordinal section: viewers show its numbers as nanoseconds since 1970. */
#define CTP_CTF_ORDINAL "ordinal: counts records, not time"

/* The last time of that clock which readers can show. */
uint64_t ctp_ctf_time_max(const struct ctp_section *sec);

/* The arguments of the traced program as a shell takes them; "": there are none. For free(); null: out of memory. */
char *ctp_ctf_argv(const struct ctp_section *sec);

#endif
