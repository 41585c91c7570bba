/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * proc-stat.c - reads and parses, with nothing kept in between.
 */
#include "collect/proc-stat.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

enum { FLAGS_FIELD = 9, STATE_FIELD = 3 }; /* of stat, counted from 1 as in proc(5) */

/* --- texts ---------------------------------------------------------------------------------------------------------------- */

/* After the next blank, which all fields but the last have after them. */
static const char *next_field(const char *at, const char *end)
{
	const char *blank = memchr(at, ' ', (size_t)(end - at));
	return blank ? blank + 1 : end;
}

bool ctp_proc_stat_parse(const char *text, size_t len, struct ctp_proc_stat *st)
{
	const char *end = text + len, *at = memrchr(text, ')', len); /* the name's: after it there are numbers alone */
	uint64_t flags;
	if (!at || end - at < 4 || at[1] != ' ' || at[3] != ' ')
		return false;
	st->state = at[2];
	at += 2;
	for (int field = STATE_FIELD; field < FLAGS_FIELD; field++)
		at = next_field(at, end);
	if (!ctp_take_number(&at, end, 10, &flags) || at == end || *at != ' ' || flags > UINT32_MAX)
		return false;
	st->flags = (uint32_t)flags;
	return (st->state >= 'A' && st->state <= 'Z') || (st->state >= 'a' && st->state <= 'z');
}

bool ctp_schedstat_parse(const char *text, size_t len, struct ctp_schedstat *st)
{
	const char *at = text, *end = text + len;
	if (!ctp_take_number(&at, end, 10, &st->cpu_ns) || at == end || *at++ != ' ')
		return false;
	if (!ctp_take_number(&at, end, 10, &st->delay_ns) || at == end || (*at != ' ' && *at != '\n'))
		return false;
	return st->cpu_ns || st->delay_ns; /* a kernel that does not count says 0 of everything */
}

uint64_t ctp_proc_stat_number(const char *text, size_t len, unsigned *depth)
{
	static const char label[] = "\nNSpid:"; /* the name, in the first line, has its newlines escaped */
	const char *at = memmem(text, len, label, sizeof label - 1), *end = text + len;
	uint64_t number = 0;
	*depth = 0;
	for (at = at ? at + sizeof label - 1 : end; at < end && (*at == '\t' || *at == ' '); ++*depth) {
		at++;
		if (!ctp_take_number(&at, end, 10, &number) || !number || number > INT32_MAX)
			return *depth = 0;
	}
	return at < end && *at == '\n' && *depth ? number : (*depth = 0);
}

/* --- files ---------------------------------------------------------------------------------------------------------------- */

int ctp_proc_stat_open(int dir, uint64_t tid, const char *file)
{
	char path[40];
	snprintf(path, sizeof path, "%" PRIu64 "/%s", tid, file);
	return openat(dir, path, O_RDONLY | O_CLOEXEC);
}

bool ctp_proc_stat_read(int fd, struct ctp_proc_stat *st)
{
	char text[CTP_PROC_STAT_BYTES];
	ssize_t n = pread(fd, text, sizeof text, 0);
	return n > 0 && ctp_proc_stat_parse(text, (size_t)n, st);
}

static size_t read_file(int dir, uint64_t tid, const char *file, char text[CTP_PROC_STAT_BYTES])
{
	int fd = ctp_proc_stat_open(dir, tid, file);
	if (fd < 0)
		return 0;
	ssize_t n = read(fd, text, CTP_PROC_STAT_BYTES);
	close(fd);
	return n > 0 ? (size_t)n : 0;
}

bool ctp_proc_stat_of(int dir, uint64_t tid, struct ctp_proc_stat *st)
{
	char text[CTP_PROC_STAT_BYTES];
	return ctp_proc_stat_parse(text, read_file(dir, tid, "stat", text), st);
}

bool ctp_schedstat_of(int dir, uint64_t tid, struct ctp_schedstat *st)
{
	char text[CTP_PROC_STAT_BYTES];
	return ctp_schedstat_parse(text, read_file(dir, tid, "schedstat", text), st);
}

uint64_t ctp_proc_stat_number_of(int dir, uint64_t tid, unsigned *depth)
{
	char text[CTP_PROC_STAT_BYTES];
	return ctp_proc_stat_number(text, read_file(dir, tid, "status", text), depth);
}
