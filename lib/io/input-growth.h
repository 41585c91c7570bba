/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* input-growth.h - for an input whose file is written while it is read. */
#ifndef CTP_INPUT_GROWTH_H
#define CTP_INPUT_GROWTH_H

#include "io/input.h"

enum ctp_growth {
	CTP_GROWTH_WAITS, /* there is no more yet */
	CTP_GROWTH_MORE,
	CTP_GROWTH_ENDED, /* the end of the file is that of the input */
};

struct ctp_input_growth {
	/* Whether the file has more than `done` bytes, or has ended; waits for that, but no longer than wait_ms; -1: however long. */
	enum ctp_growth (*wait)(void *arg, uint64_t done, int wait_ms);
	void *arg;
};

/* After the open. growth must be there until the close. */
void ctp_input_grows(struct ctp_input *in, const struct ctp_input_growth *growth);

#endif
