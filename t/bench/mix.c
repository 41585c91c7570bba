/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * mix [EVENTS [COROUTINES [BOOT]]] - the workload `mix` as a raw stream on stdout, as ctp-collect would write it: a mark after every few
 * thousand events, totals at the end. With more coroutines than the workload has, each of these is replaced by another one, again
 * and again, when it has had its share of the events; the replaced ones stay suspended. With a BOOT, the clock is that of the boot.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/output.h"
#include "mixrecord.h"
#include "stream/writer.h"

enum { MARK_EVERY = 4096 };

static int fail(const struct ctp_err *err)
{
	fprintf(stderr, "mix: %s\n", err->text);
	return 1;
}

/* Where coroutines are suspended. */
static void put_sites(struct ctp_writer *w, const struct ctp_class *site, uint64_t ts)
{
	struct {
		uint32_t len;
		char data[16];
	} file = {8, "server.c"}, function;
	for (uint64_t i = 1; i <= MIX_SITES; i++) {
		function.len = (uint32_t)snprintf(function.data, sizeof function.data, "handle_%u", (unsigned)i);
		ctp_writer_record(w, site, (uint64_t[CTP_SITE_FIELDS]){ [CTP_SITE_TS] = ts, [CTP_SITE_ID] = i,
			[CTP_SITE_FILE] = ctp_val_str((struct ctp_str *)&file), [CTP_SITE_LINE] = 100 + i,
			[CTP_SITE_FUNCTION] = ctp_val_str((struct ctp_str *)&function) });
	}
}

/* The event as one of another coroutine, once the one that it belongs to has had its share. */
static void become_others(struct mix_event *e, uint64_t share)
{
	static uint32_t who[MIX_COROS], first[MIX_COROS], known = MIX_COROS;
	uint32_t slot = e->coro;
	if (e->index - first[slot] >= share && e->active) {
		who[slot] = known++;
		first[slot] = e->index;
	}
	e->coro = who[slot] ? who[slot] : slot;
	e->index -= first[slot];
	e->addr = mix_addr(e->coro);
}

int main(int argc, char **argv)
{
	uint64_t events = argc > 1 ? strtoull(argv[1], NULL, 10) : MIX_EVENTS;
	uint64_t share = argc > 2 && strcmp(argv[2], "0") ? events / strtoull(argv[2], NULL, 10) : UINT64_MAX;
	struct ctp_err err;
	struct ctp_output out;
	if (ctp_output_open(&out, NULL, true, false, &err) != CTP_OK)
		return fail(&err);
	struct ctp_writer *w = ctp_writer_to(&out, &err);
	struct ctp_class *transition = ctp_event_class(CTP_TRANSITION), *end = ctp_event_class(CTP_END);
	struct ctp_class *site = ctp_event_class(CTP_PLACE);
	if (!w || !transition || !end || !site)
		return fail(&err);

	static struct mix m;
	static struct ctp_section sec;
	mix_init(&m);
	ctp_section_init(&sec);
	ctp_section_add_host(&sec, "mix " CTP_VERSION);
	ctp_section_add(&sec, "argv[]", "mix");
	if (argc > 3) {
		ctp_section_add(&sec, "clock", "monotonic");
		ctp_section_add(&sec, "boot_id", argv[3]);
		ctp_section_add(&sec, "wall_offset_ns", "1700000000000000000");
	}
	ctp_writer_begin(w, &sec);
	put_sites(w, site, m.ts);
	for (uint64_t i = 0; i < events && !ctp_writer_failed(w); i++) {
		uint64_t val[CTP_TRANSITION_FIELDS];
		struct mix_event e = mix_next(&m);
		become_others(&e, share);
		mix_record(&e, val);
		ctp_writer_record(w, transition, val);
		if (i % MARK_EVERY == MARK_EVERY - 1)
			ctp_writer_mark(w, e.ts);
	}
	ctp_writer_record(w, end, (uint64_t[CTP_END_FIELDS]){ [CTP_END_TS] = m.ts, [CTP_END_EVENTS] = events });
	ctp_writer_end(w, true);

	ctp_writer_free(w);
	ctp_class_free(transition);
	ctp_class_free(end);
	ctp_class_free(site);
	ctp_section_fini(&sec);
	return ctp_output_close(&out, &err) == CTP_OK ? 0 : fail(&err);
}
