/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* report-below.c - the folder that all files with an absolute path are in. */
#include "report/report-below.h"

#include <string.h>

#include "report/report-place.h"

struct below {
	const char *path;
	size_t bytes;
};

/* The folder in path, up to its last slash within these bytes. */
static size_t folder_in(const char *path, size_t bytes)
{
	while (bytes && path[bytes - 1] != '/')
		bytes--;
	return bytes;
}

static void learn(struct below *b, const char *site)
{
	struct ctp_report_place place;
	if (!site || *site != '/' || !ctp_report_place(&place, site))
		return;
	size_t same = 0, most = b->path && b->bytes < place.file_bytes ? b->bytes : place.file_bytes;
	if (!b->path)
		b->path = site;
	while (same < most && site[same] == b->path[same])
		same++;
	b->bytes = folder_in(site, same);
}

static void learn_members(struct below *b, const struct ctp_report_member *who, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		learn(b, who[i].place);
		learn(b, who[i].spawn);
	}
}

static void learn_still(struct below *b, const struct ctp_report_still *still, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		learn(b, still[i].place);
		learn(b, still[i].spawn);
	}
}

size_t ctp_report_below(const struct ctp_report_section *s, const char **path)
{
	struct below b = {NULL, 0};
	for (uint32_t i = 0; i < s->nfindings; i++) {
		learn(&b, s->findings[i].place);
		learn(&b, s->findings[i].spawn);
		learn_members(&b, s->findings[i].who, s->findings[i].nwho);
		learn_members(&b, s->findings[i].waiters, s->findings[i].nwaiters);
	}
	for (uint32_t i = 0; i < s->nsuspects; i++)
		learn_members(&b, s->suspects[i].who, s->suspects[i].nwho);
	learn_still(&b, s->waiting, s->nwaiting);
	learn_still(&b, s->running, s->nrunning);
	for (uint32_t i = 0; i < s->nobjects; i++)
		learn(&b, s->objects[i].made);
	for (uint32_t i = 0; i < s->nsites; i++)
		learn(&b, s->sites[i].place);
	*path = b.path;
	return b.bytes > 1 ? b.bytes : 0; /* the root is no folder that one would name */
}

const char *ctp_below_skip(const char *text, const char *path, size_t bytes)
{
	struct ctp_report_place place;
	if (!bytes || strncmp(text, path, bytes) || !ctp_report_place(&place, text))
		return text;
	/* A file's name that has a space would be another word of a sentence. */
	return memchr(text, ' ', place.file_bytes) ? text : text + bytes;
}
