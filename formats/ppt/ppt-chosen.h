/*
 * ppt-chosen.h - the buffers of a process that its user has named; all of them, if none is named. Names end with a null.
 *
 * A name is BUFFER or FILE:BUFFER, where FILE is a path or the end of one, in whole parts.
 */
#ifndef CTP_PPT_CHOSEN_H
#define CTP_PPT_CHOSEN_H

#include "ppt/ppt-symbols.h"

/* One name. file null: not known, and any FILE is another. */
bool ctp_ppt_chosen_by(const char *wanted, const char *buffer, const char *file);
size_t ctp_ppt_chosen_count(const char *name, const struct ctp_ppt_buffers *all);
bool ctp_ppt_chosen(char *const *names, const struct ctp_ppt_buffer *b);

/* Fails if a name is of no buffer, or the process has none. */
enum ctp_status ctp_ppt_chosen_check(char *const *names, const struct ctp_ppt_buffers *all, pid_t pid, struct ctp_err *err);

#endif
