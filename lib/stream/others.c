/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* others.c - the classes of records that a sink has no place for. */
#include "stream/others.h"

#include <stdio.h>
#include <string.h>

#define BETWEEN ", "
#define MORE " ..."

static bool has(const struct ctp_others *o, const char *name)
{
	size_t len = strlen(name), between = sizeof BETWEEN - 1;
	for (const char *at = o->text; len && (at = strstr(at, name)); at++) {
		bool begins = at == o->text || ((size_t)(at - o->text) > between && !memcmp(at - between, BETWEEN, between));
		if (begins && (!at[len] || !strncmp(at + len, BETWEEN, between)))
			return true;
	}
	return false;
}

void ctp_others_note(struct ctp_others *o, const struct ctp_class *cls)
{
	size_t len = strlen(o->text);
	if (o->noted[cls->id])
		return;
	o->noted[cls->id] = true;
	if (o->full || has(o, cls->name))
		return;
	o->full = len + sizeof BETWEEN + strlen(cls->name) + sizeof MORE > sizeof o->text;
	snprintf(o->text + len, sizeof o->text - len, "%s%s", o->full ? MORE : len ? BETWEEN : "", o->full ? "" : cls->name);
}

void ctp_others_section(struct ctp_others *o) { memset(o->noted, 0, sizeof o->noted); }
