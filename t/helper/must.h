/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* must.h - a condition that a fuzz target, or a helper of tests, needs: else it prints why, and aborts for a debugger. */
#ifndef CTP_T_MUST_H
#define CTP_T_MUST_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static inline void must(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

#endif
