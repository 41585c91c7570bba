/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * records [EVENTS] - the workload `mix` as plain records of 64 bytes, slots as they stand in shared memory, on stdout: what a
 * collector without an encoding of its own would write.
 */
#include <stdio.h>
#include <stdlib.h>

#include "mix.h"

int main(int argc, char **argv)
{
	uint64_t events = argc > 1 ? strtoull(argv[1], NULL, 10) : MIX_EVENTS;
	static struct mix m;
	mix_init(&m);
	for (uint64_t i = 0; i < events; i++) {
		struct mix_event e = mix_next(&m);
		uint64_t slot[8] = { e.ts, e.tid, e.addr, 2 * (uint64_t)(e.index / 8 + 1), e.addr - 32, e.coro + 1, 0,
		                     (uint64_t)e.active << 56 };
		fwrite(slot, sizeof slot, 1, stdout);
	}
	return fflush(stdout) || ferror(stdout) ? 1 : 0;
}
