/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * accesses RECORDS - a Cacheray trace of this number of records, to stdout: four threads in turns, each with loops over arrays,
 * with lists whose nodes are anywhere in a heap, with locals on its stack, and short-lived structures.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cacheray/cacheray-bytes.h"

enum { THREADS = 4, TURN = 300, REGION_EVERY = 100 };
static const struct ctp_cacheray_spelling spelling = {CTP_CACHERAY_LITTLE, 8};

static uint64_t next_random(void)
{
	static uint64_t state = 1;
	state = state * 6364136223846793005u + 1442695040888963407u;
	return state >> 33;
}

static size_t put_access(uint8_t *to, uint64_t n, uint64_t thread)
{
	static const uint8_t sizes[] = {8, 8, 8, 4, 4, 1, 2, 16};
	uint64_t slot = next_random() % 32;
	uint8_t size = n % 3 == 1 ? sizes[slot % sizeof sizes] : 8, *p = to;
	uint64_t address = n % 3 == 0 ? 0x7f0000000000 + (thread << 24) + n / 3 * 8 % 65536 :
	                   n % 3 == 1 ? 0x7ffc00000000 + (thread << 23) - slot * 16 : 0x55aa00000000 + next_random() % (1 << 16) * 48;
	*p++ = n % 3 == 1 && slot % 2;
	p = ctp_cacheray_put_u64(spelling, p, address & ~(uint64_t)(size - 1));
	*p++ = size;
	return (size_t)(ctp_cacheray_put_u64(spelling, p, 4000 + thread) - to);
}

static size_t put_region(uint8_t *to, uint64_t n, uint64_t thread)
{
	uint8_t *p = to;
	*p++ = n % (2 * REGION_EVERY) ? CTP_CACHERAY_RTTA_REMOVE : CTP_CACHERAY_RTTA_ADD;
	p = ctp_cacheray_put_u64(spelling, p, 0x55aa00000000 + n / (2 * REGION_EVERY) % (1 << 16) * 48);
	p = ctp_cacheray_put_u64(spelling, p, 4000 + thread);
	if (*to == CTP_CACHERAY_RTTA_REMOVE)
		return (size_t)(p - to);
	p = ctp_cacheray_put_u32(spelling, p, 48);
	p = ctp_cacheray_put_u32(spelling, p, 1);
	p = ctp_cacheray_put_u32(spelling, p, 11);
	memcpy(p, "struct.Node", 11);
	return (size_t)(p - to) + 11;
}

int main(int argc, char **argv)
{
	uint64_t records = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
	uint8_t rec[CTP_CACHERAY_FIXED_MAX + 16];
	for (uint64_t n = 0; n < records; n++) {
		uint64_t thread = n / TURN % THREADS;
		size_t bytes = n % REGION_EVERY ? put_access(rec, n, thread) : put_region(rec, n, thread);
		fwrite(rec, bytes, 1, stdout);
	}
	return fflush(stdout) != 0;
}
