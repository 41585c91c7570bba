/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* about.c - see about.h. */
#include "common/about.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "common/meta.h"

const struct ctp_field ctp_about_fields[CTP_ABOUT_FIELDS] = {
	[CTP_ABOUT_START] = {.name = "start_ns", .type = CTP_U64, .role = CTP_ROLE_TIME, .pred = CTP_PRED_TIME},
	[CTP_ABOUT_HAS_START] = {.name = "has_start", .type = CTP_BOOL},
	[CTP_ABOUT_HOST] = {.name = "hostname", .type = CTP_STRING},
	[CTP_ABOUT_PID] = {.name = "pid", .type = CTP_U64, .role = CTP_ROLE_PROCESS},
	[CTP_ABOUT_ARGV] = {.name = "argv", .type = CTP_STRING},
	[CTP_ABOUT_TOOL] = {.name = "tool", .type = CTP_STRING},
	[CTP_ABOUT_CLOCK] = {.name = "clock", .type = CTP_STRING},
	[CTP_ABOUT_HAS_WALL] = {.name = "has_wall", .type = CTP_BOOL},
	[CTP_ABOUT_WALL] = {.name = "wall_offset_ns", .type = CTP_I64},
	[CTP_ABOUT_INPUT] = {.name = "input", .type = CTP_STRING},
	[CTP_ABOUT_COMPLETE] = {.name = "complete", .type = CTP_BOOL},
	[CTP_ABOUT_ATTRS] = {.name = "attrs", .type = CTP_STRING},
};
static const uint8_t texts[] = {CTP_ABOUT_HOST, CTP_ABOUT_ARGV, CTP_ABOUT_TOOL, CTP_ABOUT_CLOCK, CTP_ABOUT_INPUT, CTP_ABOUT_ATTRS};

static bool number(const struct ctp_section *sec, const char *name, uint64_t *v)
{
	const char *text = ctp_section_get(sec, name);
	*v = 0;
	return text && ctp_parse_u64(text, text + strlen(text), v);
}

static struct ctp_str *text_of(const char *text)
{
	size_t len = text ? strlen(text) : 0;
	struct ctp_str *s = malloc(sizeof *s + len + 1);
	if (!s)
		return NULL;
	s->len = (uint32_t)len;
	memcpy(s->data, text ? text : "", len + 1);
	return s;
}

bool ctp_about_fill(uint64_t val[CTP_ABOUT_FIELDS], const struct ctp_section *sec, const char *attrs, const char *input, bool complete)
{
	char *argv = ctp_meta_list(sec, "argv[]", NULL);
	const char *text[CTP_ABOUT_FIELDS] = {
		[CTP_ABOUT_HOST] = ctp_section_get(sec, "host"), [CTP_ABOUT_ARGV] = argv, [CTP_ABOUT_TOOL] = ctp_section_get(sec, "tool"),
		[CTP_ABOUT_CLOCK] = ctp_section_get(sec, "clock"), [CTP_ABOUT_INPUT] = input, [CTP_ABOUT_ATTRS] = attrs,
	};
	bool ok = argv;
	val[CTP_ABOUT_HAS_START] = number(sec, "start_ns", &val[CTP_ABOUT_START]);
	number(sec, "pid", &val[CTP_ABOUT_PID]);
	val[CTP_ABOUT_HAS_WALL] = sec->has_wall;
	val[CTP_ABOUT_WALL] = (uint64_t)(sec->has_wall ? sec->wall_offset_ns : 0);
	val[CTP_ABOUT_COMPLETE] = complete;
	for (size_t i = 0; i < sizeof texts; i++)
		ok &= (val[texts[i]] = ctp_val_str(text_of(text[texts[i]]))) != 0;
	free(argv);
	return ok;
}

void ctp_about_fini(uint64_t val[CTP_ABOUT_FIELDS])
{
	for (size_t i = 0; i < sizeof texts; i++)
		free((void *)(uintptr_t)val[texts[i]]);
}

bool ctp_about_began(const struct ctp_section *sec, const struct ctp_record *first, int64_t *wall_s)
{
	uint64_t start;
	bool known = number(sec, "start_ns", &start);
	if (!known && first) {
		start = first->ts_ns;
		known = true;
	}
	__int128 wall = (__int128)start + sec->wall_offset_ns;
	*wall_s = (int64_t)((wall - (wall < 0 ? 999999999 : 0)) / 1000000000);
	return known && sec->has_wall && *wall_s >= INT64_C(-62167219200) && *wall_s < INT64_C(253402300800);
}
