/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* report.c - frees reports, and matches patterns of findings to ignore. */
#include "analyse/report.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *ctp_report_copy(const char *text, bool *failed)
{
	char *copy = text ? strdup(text) : NULL;
	*failed |= text && !copy;
	return copy;
}

static void members_fini(struct ctp_report_member *members, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		ctp_report_member_fini(&members[i]);
	free(members);
}

void ctp_report_member_fini(struct ctp_report_member *m)
{
	free(m->name);
	free(m->in);
	free(m->place);
	free(m->spawn);
	free(m->waits_for_name);
}

void ctp_finding_fini(struct ctp_finding *f)
{
	free(f->title);
	free(f->excuse);
	for (int i = 0; i < CTP_REPORT_LINES; i++) {
		free(f->evidence[i]);
		free(f->next[i]);
	}
	free(f->spawn);
	free(f->place);
	members_fini(f->who, f->nwho);
	members_fini(f->waiters, f->nwaiters);
}

static void findings_fini(struct ctp_finding *findings, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		ctp_finding_fini(&findings[i]);
	free(findings);
}

void ctp_report_object_fini(struct ctp_report_object *o)
{
	free(o->name);
	free(o->made);
	for (uint32_t i = 0; i < o->nholders; i++) {
		free(o->holders[i].name);
		free(o->holders[i].taken);
	}
}

static void still_fini(struct ctp_report_still *still, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		free(still[i].spawn);
		free(still[i].place);
		free(still[i].name);
	}
	free(still);
}

static void section_fini(struct ctp_report_section *s)
{
	free(s->command);
	free(s->file);
	free(s->host);
	free(s->origin);
	free(s->origin_error_ns);
	free(s->pid);
	free(s->source);
	free(s->tool);
	free(s->filtered);
	findings_fini(s->findings, s->nfindings);
	findings_fini(s->suspects, s->nsuspects);
	free(s->one_site);
	still_fini(s->waiting, s->nwaiting);
	still_fini(s->running, s->nrunning);
	for (uint32_t i = 0; i < s->nsites; i++)
		free(s->sites[i].place);
	free(s->sites);
	for (uint32_t i = 0; i < s->nthreads; i++)
		free(s->threads[i].name);
	free(s->threads);
	for (uint32_t i = 0; i < s->nobjects; i++)
		ctp_report_object_fini(&s->objects[i]);
	free(s->objects);
	for (int k = 0; k < CTP_HEAVY_KINDS; k++)
		for (uint32_t i = 0; i < s->nheavy[k]; i++) {
			free(s->heavy[k][i].name);
			free(s->heavy[k][i].spawn);
		}
}

void ctp_report_fini(struct ctp_report *r)
{
	for (uint32_t i = 0; i < r->nsections; i++)
		section_fini(&r->sections[i]);
	free(r->sections);
	free(r->matched);
}

static bool matches(const char *pattern, const char *what, const char *const sites[2])
{
	bool match = !fnmatch(pattern, what, 0);
	for (int k = 0; k < 2 && !match; k++) {
		char *both = NULL;
		match = sites[k] && !fnmatch(pattern, sites[k], 0);
		if (sites[k] && !match && asprintf(&both, "%s %s", what, sites[k]) >= 0) {
			match = !fnmatch(pattern, both, 0);
			free(both);
		}
	}
	return match;
}

/* Looks at all patterns, because those that match nothing are named in the end. */
bool ctp_report_ignores(struct ctp_report *r, const char *what, const char *place, const char *spawn)
{
	bool any = false;
	for (size_t i = 0; i < r->nignore; i++) {
		bool match = matches(r->ignore[i], what, (const char *const[]){place, spawn});
		r->matched[i] += match;
		any |= match;
	}
	return any;
}

const char *ctp_report_unmatched(const struct ctp_report *r, size_t *at)
{
	bool judged = r->matched && r->outside < r->sections_seen;
	while (judged && *at < r->nignore) {
		size_t i = (*at)++;
		if (!r->matched[i])
			return r->ignore[i];
	}
	return NULL;
}

uint64_t ctp_report_line(const char *place, size_t *file_bytes)
{
	for (const char *p = place ? strchr(place, ':') : NULL; p; p = strchr(p + 1, ':')) {
		size_t digits = strspn(p + 1, "0123456789");
		if (digits && (!p[1 + digits] || p[1 + digits] == ':')) {
			*file_bytes = (size_t)(p - place);
			return strtoull(p + 1, NULL, 10);
		}
	}
	return 0;
}
