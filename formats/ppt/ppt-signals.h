/*
 * ppt-signals.h - the signals of a trace, as a descriptor: INT, TERM, HUP and QUIT urge it to end.
 *
 * There is one trace in a process. They come also where they were ignored before, because they are blocked.
 */
#ifndef CTP_PPT_SIGNALS_H
#define CTP_PPT_SIGNALS_H

#include <stdbool.h>

#include "base/err.h"

enum ctp_status ctp_ppt_signals_take(struct ctp_err *err);
void ctp_ppt_signals_give_back(void);

int ctp_ppt_signals_fd(void);     /* readable: hear them */
void ctp_ppt_signals_hear(void);
bool ctp_ppt_signals_urged(void); /* one was heard: the trace is to end */
bool ctp_ppt_signals_hopeless(void); /* hears, too; two were: the wait for a reader is to end as well */

#endif
