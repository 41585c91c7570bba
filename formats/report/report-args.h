/* report-args.h - what a person says on the command line of a tool that makes a report: times, and lists of texts. */
#ifndef CTP_REPORT_ARGS_H
#define CTP_REPORT_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/report.h"
#include "base/err.h"

/*
 * 12.5s, 300ms, 2m: a number and ns, us, ms, s, m or min, h; alone it is seconds. False: it is none, or has more nanoseconds
 * than 64 bits hold.
 */
bool ctp_duration_parse(const char *text, uint64_t *ns);

/* CTP_FAILED: a part of the time is asked for, and the section has no clock. */
enum ctp_status ctp_report_window(const struct ctp_report *r, const struct ctp_section *sec, struct ctp_err *err);

enum { CTP_TEXTS_MAX = 10000 };

/* All zeros at first. */
struct ctp_texts {
	char **list;
	size_t count, room;
};

enum ctp_status ctp_texts_add(struct ctp_texts *t, const char *text, struct ctp_err *err);

/* From a file: one on a line, without the space around it; lines that are empty or begin with # are none. */
enum ctp_status ctp_texts_read(struct ctp_texts *t, const char *path, struct ctp_err *err);
void ctp_texts_fini(struct ctp_texts *t);

#endif
