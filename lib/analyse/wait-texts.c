/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* wait-texts.c - what coroutines wait for. */
#include "analyse/wait-texts.h"

#include <stdio.h>
#include <string.h>

const char *ctp_wait_kind(unsigned what)
{
	static const char *const kinds[CTP_WAITS_COUNT] = {
		"object", "timer", "descriptor", "lock", "pool", "queue", "queue", "event", "barrier", "object",
	};
	return kinds[what < CTP_WAITS_COUNT ? what : 0];
}

const char *ctp_wait_object(struct ctp_follow *f, const struct ctp_object *ob, unsigned what, uint64_t at, const char *quote,
                            char *text, size_t size)
{
	const char *made = ob && ob->site ? ctp_follow_text(f, ob->site) : NULL;
	if (ob && ob->name)
		snprintf(text, size, "%s%s%s", quote, ob->name, quote);
	else if (made)
		snprintf(text, size, "the %s made at %s", ctp_wait_kind(what), made);
	else
		snprintf(text, size, "the %s at 0x%jx", ctp_wait_kind(what), (uintmax_t)at);
	return text;
}

static void say_reason(struct ctp_follow *f, const struct ctp_reasons *r, uint32_t i, uint64_t since_ns, char *text, size_t size)
{
	const struct ctp_reason_of *reason = &r->list[i];
	const char *of = reason->what == CTP_WAITS_PERMITS ? "a permit of " : reason->what == CTP_WAITS_ITEM ? "an item of "
	                 : reason->what == CTP_WAITS_ROOM ? "room in " : "";
	size_t used = strlen(of);
	if (reason->what == CTP_WAITS_TIMER) {
		snprintf(text, size, "a timer");
	} else if (reason->what == CTP_WAITS_DESCRIPTOR) {
		snprintf(text, size, "descriptor %d", (int)reason->value);
	} else {
		snprintf(text, size, "%s", of);
		ctp_wait_object(f, ctp_objects_waited(f->objects, r, i, since_ns), reason->what, reason->value, "", text + used, size - used);
	}
}

const char *ctp_wait_text(struct ctp_follow *f, const struct ctp_coroutine *co, char text[CTP_WAIT_TEXT_MAX])
{
	const struct ctp_reasons *r = ctp_wait_reasons_of(f, co);
	size_t used = 0;
	*text = '\0';
	for (uint32_t i = 0; r && i < r->n; i++) {
		char one[CTP_SITE_TEXT_MAX + 60];
		say_reason(f, r, i, co->suspended_ns, one, sizeof one);
		used += (size_t)snprintf(text + used, CTP_WAIT_TEXT_MAX - used, "%s%s", i ? " or " : "", one);
	}
	return text;
}

uint64_t ctp_wait_holder(const struct ctp_follow *f, const struct ctp_coroutine *co)
{
	const struct ctp_reasons *r = ctp_wait_reasons_of(f, co);
	for (uint32_t i = 0; r && i < r->n; i++) {
		const struct ctp_object *ob = ctp_objects_waited(f->objects, r, i, co->suspended_ns);
		for (uint32_t k = 0; ob && ob->holders_known && k < ob->nholders; k++)
			if (ob->holders[k].count > 0)
				return ob->holders[k].coro;
	}
	return 0;
}
