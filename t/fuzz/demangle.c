/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * Any bytes as the name of a symbol: that must not crash, take long, read past its end or write more than there is room for. The
 * result is a terminated text.
 * Covers: lib/symbols/demangle.c lib/symbols/demangle-cxx.c lib/symbols/demangle-rust.c lib/symbols/demangle-text.c
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Both of exact size, so that an access past their end is seen. */
	char *symbol = malloc(size + 1), *to = malloc(CTP_DEMANGLED_MAX);
	if (!symbol || !to)
		abort();
	if (size)
		memcpy(symbol, data, size);
	symbol[size] = '\0';
	ctp_demangle(symbol, to);
	if (!memchr(to, '\0', CTP_DEMANGLED_MAX)) {
		fprintf(stderr, "the name has no end\n");
		abort();
	}
	free(symbol);
	free(to);
	return 0;
}
