/*
 * mix [EVENTS] - the workload `mix` as a raw stream on stdout, as ctp-collect would write it: a mark after every few thousand
 * events, totals at the end.
 */
#include <stdio.h>
#include <stdlib.h>

#include "mixrecord.h"
#include "output.h"
#include "writer.h"

enum { MARK_EVERY = 4096 };

static int fail(const struct ctp_err *err)
{
	fprintf(stderr, "mix: %s\n", err->text);
	return 1;
}

int main(int argc, char **argv)
{
	uint64_t events = argc > 1 ? strtoull(argv[1], NULL, 10) : MIX_EVENTS;
	struct ctp_err err;
	struct ctp_output out;
	if (ctp_output_open(&out, NULL, true, false, &err) != CTP_OK)
		return fail(&err);
	struct ctp_writer *w = ctp_writer_new(ctp_output_packet, &out, &err);
	struct ctp_class *transition = ctp_event_class(CTP_TRANSITION), *end = ctp_event_class(CTP_END);
	if (!w || !transition || !end)
		return fail(&err);

	static struct mix m;
	static struct ctp_section sec;
	mix_init(&m);
	ctp_section_init(&sec);
	ctp_section_add_host(&sec, "mix");
	ctp_section_add(&sec, "argv[]", "mix");
	ctp_writer_begin(w, &sec);
	for (uint64_t i = 0; i < events && !ctp_writer_failed(w); i++) {
		uint64_t val[CTP_TRANSITION_FIELDS];
		struct mix_event e = mix_next(&m);
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
	ctp_section_fini(&sec);
	return ctp_output_close(&out, &err) == CTP_OK ? 0 : fail(&err);
}
