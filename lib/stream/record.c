/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * record.c - the parts of records and sections that are not coding.
 */
#include "stream/record.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"

double ctp_val_double(unsigned type, uint64_t v)
{
	if (type == CTP_F32) {
		uint32_t half = (uint32_t)v;
		float f;
		memcpy(&f, &half, sizeof f);
		return f;
	}
	double d;
	memcpy(&d, &v, sizeof d);
	return d;
}

uint64_t ctp_double_val(unsigned type, double d)
{
	uint64_t v = 0;
	if (type == CTP_F32) {
		float f = (float)d;
		uint32_t half;
		memcpy(&half, &f, sizeof half);
		return half;
	}
	memcpy(&v, &d, sizeof v);
	return v;
}

void ctp_section_init(struct ctp_section *sec)
{
	memset(sec, 0, sizeof *sec);
	if (getrandom(&sec->id, sizeof sec->id, GRND_NONBLOCK) != sizeof sec->id)
		sec->id = ctp_clock_of(CLOCK_REALTIME) + ((uint64_t)getpid() << 48);
}

void ctp_section_fini(struct ctp_section *sec)
{
	for (uint32_t i = 0; i < sec->nattrs; i++) {
		free(sec->attrs[i].name);
		free(sec->attrs[i].value);
	}
	sec->nattrs = 0;
}

/* What the fields say follows from the attributes, in whatever order they come. */
static void learn(struct ctp_section *sec, const struct ctp_attr *a)
{
	if (!strcmp(a->name, "filtered")) {
		sec->filtered = true;
	} else if (!strcmp(a->name, "clock") && !strcmp(a->value, "ordinal")) {
		sec->ordinal = true;
		sec->wall_offset_ns = 0;
		sec->has_wall = false;
	} else if (!strcmp(a->name, "wall_offset_ns") && !sec->ordinal) {
		sec->wall_offset_ns = strtoll(a->value, NULL, 10);
		sec->has_wall = true;
	}
}

/* Bytes of a name without the [] of a list. */
static size_t stem_bytes(const char *name)
{
	size_t len = strlen(name);
	return len >= 2 && !strcmp(name + len - 2, "[]") ? len - 2 : len;
}

bool ctp_section_repeats(const struct ctp_section *sec, const char *name)
{
	size_t len = stem_bytes(name);
	if (name[len] && sec->nattrs && !strcmp(sec->attrs[sec->nattrs - 1].name, name))
		return false;
	for (uint32_t i = 0; i < sec->nattrs; i++)
		if (stem_bytes(sec->attrs[i].name) == len && !memcmp(sec->attrs[i].name, name, len))
			return true;
	return false;
}

bool ctp_section_add(struct ctp_section *sec, const char *name, const char *value)
{
	size_t bytes = strlen(name) + strlen(value) + 2;
	if (sec->nattrs == CTP_ATTRS_MAX || bytes > CTP_SECTION_BYTES_MAX - sec->bytes || ctp_section_repeats(sec, name))
		return false;
	struct ctp_attr *a = &sec->attrs[sec->nattrs];
	a->name = strdup(name);
	a->value = strdup(value);
	if (!a->name || !a->value) {
		free(a->name);
		free(a->value);
		return false;
	}
	sec->nattrs++;
	sec->bytes += bytes;
	learn(sec, a);
	return true;
}

bool ctp_section_addf(struct ctp_section *sec, const char *name, const char *fmt, ...)
{
	char text[512];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	return ctp_section_add(sec, name, text);
}

const char *ctp_section_get(const struct ctp_section *sec, const char *name)
{
	for (uint32_t i = 0; i < sec->nattrs; i++)
		if (!strcmp(sec->attrs[i].name, name))
			return sec->attrs[i].value;
	return NULL;
}

void ctp_section_add_host(struct ctp_section *sec, const char *tool)
{
	struct utsname u;
	ctp_section_add(sec, "tool", tool);
	if (!uname(&u)) {
		ctp_section_add(sec, "host", u.nodename);
		ctp_section_add(sec, "machine", u.machine);
		ctp_section_addf(sec, "system", "%s %s", u.sysname, u.release);
	}
	ctp_section_addf(sec, "page_size", "%ld", sysconf(_SC_PAGESIZE));
}
