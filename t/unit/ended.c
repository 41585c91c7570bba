/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* ended: each outcome of the end record is read by its label and has a text; another writer's outcome is kept, without a text. */
#include <signal.h>
#include <stdlib.h>

#include "analyse/ended.h"
#include "tap.h"

static struct ctp_ended told(struct ctp_class *cls, uint64_t outcome, uint64_t status)
{
	uint64_t val[CTP_END_FIELDS] = {[CTP_END_OUTCOME] = outcome, [CTP_END_STATUS] = status};
	return ctp_ended_read(&(struct ctp_record){.cls = cls, .val = val});
}

int main(void)
{
	static const struct {
		enum ctp_outcome outcome;
		uint64_t status;
		const char *name, *text;
	} want[] = {
		{CTP_OUTCOME_EXITED, 3, "exited", "exited with status 3"},
		{CTP_OUTCOME_KILLED, SIGSEGV, "killed", "killed by SIGSEGV"},
		{CTP_OUTCOME_KILLED, 77, "killed", "killed by signal 77"},
		{CTP_OUTCOME_KILLED, (uint64_t)-1, "killed", "killed by signal -1"},
		{CTP_OUTCOME_RUNNING, 0, "running", "still running when the trace ended"},
		{CTP_OUTCOME_ENDED, 0, "ended", "how it ended is not known, for it was attached to"},
	};
	struct ctp_class *cls = ctp_event_class(CTP_END);
	char text[CTP_ENDED_TEXT_MAX];
	if (!cls)
		abort();
	for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
		struct ctp_ended e = told(cls, want[i].outcome, want[i].status);
		is(e.outcome, want[i].name, "an outcome has its label");
		is(ctp_ended_text(text, &e), want[i].text, "an outcome has its text");
		for (enum ctp_outcome o = CTP_OUTCOME_EXITED; o <= CTP_OUTCOME_ENDED; o++)
			ok(ctp_ended_is(&e, o) == (o == want[i].outcome), "%s is %s, or is not", e.outcome, ctp_outcome_name(o));
	}
	struct ctp_ended e = told(cls, CTP_OUTCOME_ENDED + 1, 5);
	is(e.outcome, "", "an outcome without a label is unknown");
	ok(!ctp_ended_text(text, &e), "an unknown outcome has no text");
	e = (struct ctp_ended){"crashed", 5};
	ok(!ctp_ended_text(text, &e) && !ctp_ended_is(&e, CTP_OUTCOME_KILLED),
	   "another writer's outcome has no text and is no known outcome");
	ctp_class_free(cls);
	return done_testing();
}
