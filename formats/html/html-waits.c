/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* html-waits.c - what coroutines wait for. */
#include "html/html-waits.h"

#include <stdio.h>
#include <string.h>

#include "analyse/objects.h"

static const struct ctp_reasons *reasons_of(const struct ctp_follow *f, const struct ctp_coroutine *co)
{
	return co->next && f->objects->nreasons ? ctp_objects_reasons(f->objects, co->id, co->next - 1) : NULL;
}

static void say_object(struct ctp_follow *f, const struct ctp_reason_of *r, const struct ctp_object *ob, char *text, size_t size)
{
	static const char *const kinds[CTP_WAITS_COUNT] = {
		"object", "timer", "descriptor", "lock", "semaphore", "queue", "queue", "event", "barrier", "object",
	};
	const char *of = r->what == CTP_WAITS_PERMITS ? "a permit of " : r->what == CTP_WAITS_ITEM ? "an item of "
	                 : r->what == CTP_WAITS_ROOM ? "room in " : "";
	const char *kind = kinds[r->what < CTP_WAITS_COUNT ? r->what : 0], *made = ob && ob->site ? ctp_follow_text(f, ob->site) : NULL;
	if (ob && ob->name)
		snprintf(text, size, "%s%s", of, ob->name);
	else if (made)
		snprintf(text, size, "%sthe %s made at %s", of, kind, made);
	else
		snprintf(text, size, "%sthe %s at 0x%jx", of, kind, (uintmax_t)r->value);
}

uint32_t ctp_html_wait_reason(struct ctp_html_texts *texts, struct ctp_follow *f, const struct ctp_coroutine *co)
{
	const struct ctp_reasons *r = reasons_of(f, co);
	char text[CTP_REASONS_MAX * 400] = "";
	size_t used = 0;
	for (uint32_t i = 0; r && i < r->n; i++) {
		char one[360];
		if (r->list[i].what == CTP_WAITS_TIMER)
			snprintf(one, sizeof one, "a timer");
		else if (r->list[i].what == CTP_WAITS_DESCRIPTOR)
			snprintf(one, sizeof one, "descriptor %d", (int)r->list[i].value);
		else
			say_object(f, &r->list[i], ctp_objects_wanted(f->objects, r, i), one, sizeof one);
		used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? " or " : "", one);
	}
	return *text && texts->count < CTP_HTML_REASONS_MAX ? ctp_html_texts_number(texts, text) : 0;
}

uint64_t ctp_html_wait_holder(const struct ctp_follow *f, const struct ctp_coroutine *co)
{
	const struct ctp_reasons *r = reasons_of(f, co);
	for (uint32_t i = 0; r && i < r->n; i++) {
		const struct ctp_object *ob = ctp_objects_wanted(f->objects, r, i);
		for (uint32_t k = 0; ob && ob->holders_known && k < ob->nholders; k++)
			if (ob->holders[k].count > 0)
				return ob->holders[k].coro;
	}
	return 0;
}
