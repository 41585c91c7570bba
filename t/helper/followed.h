/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * followed.h - records made by hand (byhand.h) go to a follower, and the changes that it reports are given as a line.
 */
#ifndef CTP_T_FOLLOWED_H
#define CTP_T_FOLLOWED_H

#include "analyse/follow.h"
#include "byhand.h"
#include "tap.h"

/* What was reported: kind and coroutine, then '!' if the span is not whole; "." where a section begins, "|" where one ends. */
static char told[4096];
static size_t ntold;
static struct ctp_follow f;
static struct byhand h;
static uint64_t spans_ns[BYHAND_COROS][CTP_STATES]; /* of whole spans */

static void section(void *arg, const struct ctp_section *sec)
{
	(void)arg, (void)sec;
	told[ntold++] = '.';
}

static void change(void *arg, const struct ctp_change *ch)
{
	(void)arg;
	if (ch->whole && ch->co->id < BYHAND_COROS && ch->ts_ns > ch->was_ns && ch->co->state != ch->was)
		spans_ns[ch->co->id][ch->was] += ch->ts_ns - ch->was_ns;
	if (ntold < sizeof(told) - 32)
		ntold += (size_t)sprintf(told + ntold, "%s%c%ju%s", ntold && told[ntold - 1] != '.' ? " " : "",
		                         "BSRWALDX"[ch->kind], (uintmax_t)ch->co->id, ch->whole ? "" : "!");
}

/* Events that change nothing, as told; "-" for no coroutine. */
static char idle[256];
static size_t nidle;

static void unchanged(void *arg, const struct ctp_change *ch)
{
	char who[24] = "-";
	(void)arg;
	if (ch->co)
		sprintf(who, "%ju", (uintmax_t)ch->co->id);
	if (nidle < sizeof(idle) - 32)
		nidle += (size_t)sprintf(idle + nidle, "%s%c%s", nidle ? " " : "", "BSRWALDX"[ch->kind], who);
}

static void ended(void *arg, const struct ctp_follow_end *end)
{
	(void)arg, (void)end;
	told[ntold++] = '|';
}

static void give(void *to, const struct ctp_batch *batch) { ctp_follow_records(to, batch); }

/* A section begins, with these attributes: name, value ... up to a null. */
static void begin(const char *const *attrs)
{
	static const struct ctp_follow_ops ops = {.section = section, .change = change, .end = ended, .unchanged = unchanged};
	struct ctp_section sec;
	struct ctp_err err;
	ntold = 0;
	memset(told, 0, sizeof(told));
	memset(idle, 0, sizeof(idle));
	nidle = 0;
	memset(spans_ns, 0, sizeof(spans_ns));
	byhand_init(&h, give, &f);
	if (ctp_follow_init(&f, &ops, NULL, &err))
		abort();
	ctp_section_init(&sec);
	for (; attrs && *attrs; attrs += 2)
		ctp_section_add(&sec, attrs[0], attrs[1]);
	ctp_follow_section(&f, &sec);
	ctp_section_fini(&sec);
	ntold = 0;
}

static void end(void)
{
	ctp_follow_finish(&f, &(struct ctp_section_end){.complete = true});
	ctp_follow_fini(&f);
	byhand_fini(&h);
}

static const char *so_far(void)
{
	told[ntold] = '\0';
	return told;
}

#endif
