/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* ended.c - the end record, and its words. */
#include "analyse/ended.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "analyse/roles.h"

struct ctp_signalled ctp_signalled_read(const struct ctp_record *signal, uint64_t ts)
{
	struct ctp_signalled s = {.ts_ns = ts};
	int16_t number = ctp_roles_named(signal->cls, "signal");
	const char *label = number < 0 ? NULL : ctp_field_label(&signal->cls->fields[number], signal->val[number]);
	snprintf(s.name, sizeof s.name, "%s", label ? label : "a signal");
	return s;
}

struct ctp_ended ctp_ended_read(const struct ctp_record *end)
{
	struct ctp_ended e = {0};
	int outcome = ctp_class_field(end->cls, "outcome"), status = ctp_class_field(end->cls, "status");
	const char *label = outcome < 0 ? NULL : ctp_field_label(&end->cls->fields[outcome], end->val[outcome]);
	snprintf(e.outcome, sizeof e.outcome, "%s", label ? label : "");
	if (status >= 0 && !ctp_type_is_text(end->cls->fields[status].type) && !ctp_type_is_float(end->cls->fields[status].type))
		e.status = (int64_t)end->val[status];
	return e;
}

/* The time after "after" is the end itself: a heap torn down, a core dump. */
uint64_t ctp_ended_ns(const struct ctp_record *end, uint64_t ts)
{
	uint64_t after_ns = ctp_roles_value(end->val, ctp_roles_named(end->cls, "after"));
	return after_ns && after_ns < ts ? after_ns : ts;
}

bool ctp_ended_is(const struct ctp_ended *e, enum ctp_outcome outcome) { return !strcmp(e->outcome, ctp_outcome_name(outcome)); }

/* Null: not known. (sigabbrev_np is in glibc since 2.32 alone.) */
static const char *signal_text(int64_t number)
{
	static const char *const names[] = {
		[SIGHUP] = "SIGHUP", [SIGINT] = "SIGINT", [SIGQUIT] = "SIGQUIT", [SIGILL] = "SIGILL", [SIGTRAP] = "SIGTRAP",
		[SIGABRT] = "SIGABRT", [SIGBUS] = "SIGBUS", [SIGFPE] = "SIGFPE", [SIGKILL] = "SIGKILL", [SIGUSR1] = "SIGUSR1",
		[SIGSEGV] = "SIGSEGV", [SIGUSR2] = "SIGUSR2", [SIGPIPE] = "SIGPIPE", [SIGALRM] = "SIGALRM", [SIGTERM] = "SIGTERM",
		[SIGSTKFLT] = "SIGSTKFLT", [SIGCHLD] = "SIGCHLD", [SIGCONT] = "SIGCONT", [SIGSTOP] = "SIGSTOP", [SIGTSTP] = "SIGTSTP",
		[SIGTTIN] = "SIGTTIN", [SIGTTOU] = "SIGTTOU", [SIGURG] = "SIGURG", [SIGXCPU] = "SIGXCPU", [SIGXFSZ] = "SIGXFSZ",
		[SIGVTALRM] = "SIGVTALRM", [SIGPROF] = "SIGPROF", [SIGWINCH] = "SIGWINCH", [SIGIO] = "SIGIO", [SIGPWR] = "SIGPWR",
		[SIGSYS] = "SIGSYS",
	};
	return number > 0 && number < (int64_t)(sizeof names / sizeof *names) ? names[number] : NULL;
}

/* What other writers have: ctp-ppt. Null: not known. */
static const char *other_text(const char *outcome)
{
	return !strcmp(outcome, "closed")   ? "closed by its program, which went on" :
	       !strcmp(outcome, "replaced") ? "became another program" :
	                                      NULL;
}

const char *ctp_ended_text(char to[CTP_ENDED_TEXT_MAX], const struct ctp_ended *e)
{
	const char *signal_name = signal_text(e->status);
	if (ctp_ended_is(e, CTP_OUTCOME_EXITED))
		snprintf(to, CTP_ENDED_TEXT_MAX, "exited with status %jd", (intmax_t)e->status);
	else if (ctp_ended_is(e, CTP_OUTCOME_KILLED) && signal_name)
		snprintf(to, CTP_ENDED_TEXT_MAX, "killed by %s", signal_name);
	else if (ctp_ended_is(e, CTP_OUTCOME_KILLED))
		snprintf(to, CTP_ENDED_TEXT_MAX, "killed by signal %jd", (intmax_t)e->status);
	else if (ctp_ended_is(e, CTP_OUTCOME_RUNNING))
		strcpy(to, "still running when the trace ended");
	else if (ctp_ended_is(e, CTP_OUTCOME_ENDED))
		strcpy(to, "how it ended is not known, for it was attached to");
	else
		return other_text(e->outcome);
	return to;
}
