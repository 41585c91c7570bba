/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ppt-counters.c - the table of names, and a try whether the system would open one.
 *
 * A client reads its counters as a group, and takes the second word for the first counter: so it has to be PERF_FORMAT_GROUP. The kernel
 * is excluded, because then no permission is needed, except for events that happen only in the kernel.
 */
#include "ppt/ppt-control.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CACHE(cache, op, result) (PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_##op << 8 | PERF_COUNT_HW_CACHE_RESULT_##result << 16)

static const struct counter {
	const char *name;
	uint32_t type;
	uint64_t config;
	bool kernel; /* of what only the kernel does */
} counters_known[] = {
	{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false},
	{"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, false},
	{"cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, false},
	{"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, false},
	{"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, false},
	{"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, false},
	{"bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES, false},
	{"ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES, false},
	{"stalled-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, false},
	{"stalled-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND, false},
	{"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, false},
	{"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, false},
	{"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, false},
	{"minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN, false},
	{"major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ, false},
	{"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, true},
	{"cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, true},
	{"L1-dcache-loads", PERF_TYPE_HW_CACHE, CACHE(L1D, READ, ACCESS), false},
	{"L1-dcache-load-misses", PERF_TYPE_HW_CACHE, CACHE(L1D, READ, MISS), false},
	{"L1-icache-load-misses", PERF_TYPE_HW_CACHE, CACHE(L1I, READ, MISS), false},
	{"LLC-loads", PERF_TYPE_HW_CACHE, CACHE(LL, READ, ACCESS), false},
	{"LLC-load-misses", PERF_TYPE_HW_CACHE, CACHE(LL, READ, MISS), false},
	{"dTLB-load-misses", PERF_TYPE_HW_CACHE, CACHE(DTLB, READ, MISS), false},
	{"iTLB-load-misses", PERF_TYPE_HW_CACHE, CACHE(ITLB, READ, MISS), false},
};
enum { KNOWN = sizeof counters_known / sizeof *counters_known };

static const struct counter *find(const char *name)
{
	for (unsigned i = 0; i < KNOWN; i++)
		if (!strcasecmp(counters_known[i].name, name))
			return &counters_known[i];
	return NULL;
}

/* Opens it for ourselves. The target may still be refused, but a counter that this machine lacks is found now. */
static enum ctp_status try_it(const char *name, const struct perf_event_attr *attr, struct ctp_err *err)
{
	int fd = (int)syscall(SYS_perf_event_open, attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd >= 0) {
		close(fd);
		return CTP_OK;
	}
	if (errno == EACCES || errno == EPERM)
		return ctp_err_set(err, "-c %s: not permitted; see /proc/sys/kernel/perf_event_paranoid", name);
	if (errno == ENOENT || errno == EOPNOTSUPP || errno == ENODEV)
		return ctp_err_set(err, "-c %s: this machine has no such counter", name);
	return ctp_err_sys(err, "-c %s", name);
}

static enum ctp_status add(struct ctp_ppt_counters *counters, const char *name, struct ctp_err *err)
{
	const struct counter *known = find(name);
	if (!known)
		return ctp_err_set(err, "-c %s: no such counter; ctp-ppt(1) has their names", name);
	if (counters->n == CTP_PPT_CONTROL_COUNTERS)
		return ctp_err_set(err, "-c %s: there can be %d counters", name, CTP_PPT_CONTROL_COUNTERS);
	for (uint32_t i = 0; i < counters->n; i++)
		if (counters->names[i] == known->name)
			return ctp_err_set(err, "-c %s: is named twice", name);
	struct perf_event_attr attr = {.type = known->type, .size = CTP_PPT_ATTR_BYTES, .config = known->config,
	                               .read_format = PERF_FORMAT_GROUP, .exclude_kernel = !known->kernel, .exclude_hv = 1};
	_Static_assert(sizeof attr >= CTP_PPT_ATTR_BYTES, "a client may be older than this");
	memcpy(counters->attr[counters->n], &attr, CTP_PPT_ATTR_BYTES);
	counters->names[counters->n++] = known->name;
	return CTP_OK;
}

enum ctp_status ctp_ppt_counters_parse(struct ctp_ppt_counters *counters, char *list, struct ctp_err *err)
{
	char *rest = list, *name;
	*counters = (struct ctp_ppt_counters){0};
	while ((name = strsep(&rest, ",")))
		if (add(counters, name, err))
			return CTP_FAILED;
	return CTP_OK;
}

enum ctp_status ctp_ppt_counters_try(const struct ctp_ppt_counters *counters, struct ctp_err *err)
{
	for (uint32_t i = 0; i < counters->n; i++) {
		struct perf_event_attr attr = {0};
		memcpy(&attr, counters->attr[i], CTP_PPT_ATTR_BYTES);
		if (try_it(counters->names[i], &attr, err))
			return CTP_FAILED;
	}
	return CTP_OK;
}
