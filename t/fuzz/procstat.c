/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * Any bytes as a text of /proc: that must not crash or read past its end.
 * Covers: lib/collect/proc-stat.c
 */
#include <stdlib.h>
#include <string.h>

#include "collect/proc-stat.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + !size); /* of exact size, so that an access past its end is seen */
	struct ctp_proc_stat stat;
	struct ctp_schedstat sched;
	unsigned depth;
	if (!text)
		abort();
	if (size)
		memcpy(text, data, size);
	if (ctp_proc_stat_parse(text, size, &stat) && !stat.state)
		abort();
	if (ctp_schedstat_parse(text, size, &sched) && !sched.cpu_ns && !sched.delay_ns)
		abort();
	if (!ctp_proc_stat_number(text, size, &depth) != !depth)
		abort();
	free(text);
	return 0;
}
