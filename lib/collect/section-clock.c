/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* section-clock.c - reads the clocks, and what /proc shows of them. */
#include "collect/section-clock.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "stream/events.h"

enum { READINGS = 8, BOOT_ID_BYTES = 36 };

/* The closest of a few readings. */
static void read_both(struct ctp_clock_pair *pair)
{
	uint64_t best_ns = UINT64_MAX;
	for (int i = 0; i < READINGS; i++) {
		uint64_t before_ns = ctp_clock_ns(), wall_ns = ctp_clock_of(CLOCK_REALTIME);
		uint64_t took_ns = ctp_clock_ns() - before_ns;
		if (took_ns >= best_ns)
			continue;
		best_ns = took_ns;
		pair->mono_ns = before_ns + took_ns / 2;
		pair->wall_ns = wall_ns;
		pair->read_ns = took_ns - took_ns / 2;
	}
}

void ctp_clock_pair_read(struct ctp_clock_pair *pair)
{
	struct timex tx = {.modes = 0};
	*pair = (struct ctp_clock_pair){0};
	read_both(pair);
	int state = adjtimex(&tx);
	if (state < 0 || tx.maxerror < 0)
		return;
	pair->error_ns = (uint64_t)tx.maxerror * 1000;
	pair->synced = state != TIME_ERROR && !(tx.status & STA_UNSYNC);
}

void ctp_clock_pair_write(const struct ctp_clock_pair *pair, struct ctp_writer *w, const struct ctp_class *cls)
{
	const uint64_t val[CTP_CLOCK_FIELDS] = {
		[CTP_CLOCK_TS] = pair->mono_ns,
		[CTP_CLOCK_WALL] = pair->wall_ns,
		[CTP_CLOCK_READ] = pair->read_ns,
		[CTP_CLOCK_ERROR] = pair->error_ns,
		[CTP_CLOCK_SYNCED] = pair->synced,
	};
	ctp_writer_record(w, cls, val);
}

static void add_boot(struct ctp_section *sec)
{
	char id[BOOT_ID_BYTES + 1] = "";
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && read(fd, id, BOOT_ID_BYTES) == BOOT_ID_BYTES)
		ctp_section_add(sec, "boot_id", id);
	ctp_fd_close(fd);
}

/* The number of a namespace, from a link such as "time:[4026531834]"; 0: the kernel has none, or does not show it. */
static uint64_t namespace_of(const char *path)
{
	char link[64];
	ssize_t len = readlink(path, link, sizeof link - 1);
	const char *number = len > 0 ? memchr(link, '[', (size_t)len) : NULL;
	link[len > 0 ? len : 0] = '\0';
	return number ? strtoull(number + 1, NULL, 10) : 0;
}

bool ctp_section_add_clock(struct ctp_section *sec, pid_t pid)
{
	char path[64] = "/proc/self/ns/time_for_children";
	if (pid)
		snprintf(path, sizeof path, "/proc/%d/ns/time", (int)pid);
	uint64_t ours = namespace_of("/proc/self/ns/time"), its = namespace_of(path);
	add_boot(sec);
	if (its || ours)
		ctp_section_addf(sec, "time_namespace", "%ju", (uintmax_t)(its ? its : ours));
	return !its || !ours || its == ours;
}
