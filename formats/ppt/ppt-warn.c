/* ppt-warn.c - see ppt-warn.h. */
#include "ppt/ppt-warn.h"

#include <inttypes.h>

void ctp_ppt_warn_uncounted(const struct ctp_ppt_live_conf *conf, const struct ctp_ppt_trace *traces, size_t n)
{
	bool any = false;
	for (size_t i = 0; i < n; i++)
		any |= traces[i].at.counters->n > 0;
	for (size_t i = 0; conf->counters.n && i < n; i++)
		if (!traces[i].at.counters->n && (!any || conf->buffers[0]))
			ctp_notice_say(conf->warn, "%s: has no members for counters, and is attached without", traces[i].buffer->label);
}

void ctp_ppt_warn_late(const struct ctp_ppt_live_conf *conf, struct ctp_ppt_trace *t)
{
	if (!t->has_header || !t->at.ring.late || t->late)
		return;
	ctp_notice_say(conf->warn, "%s: its ring was full before the first look: the trace begins with frame %" PRId32
	               ", and what was saved before is not known", t->buffer->label, t->begins);
	t->late = true;
}

void ctp_ppt_warn_counters(const struct ctp_ppt_live_conf *conf, struct ctp_ppt_trace *t)
{
	if (ctp_ppt_attach_uncounted(&t->at))
		ctp_notice_say(conf->warn, "%s: the process may not open the counters, or has too many files open: their columns are 0",
		               t->buffer->label);
	if (ctp_ppt_attach_crowded(&t->at))
		ctp_notice_say(conf->warn, "%s: more threads read counters than can have them, and to the others they are 0; "
		               "a program that is built with a larger PPT_THREADS has more", t->buffer->label);
}

bool ctp_ppt_warn(const struct ctp_ppt_live_conf *conf, struct ctp_ppt_trace *t)
{
	ctp_ppt_warn_late(conf, t);
	ctp_ppt_warn_counters(conf, t);
	if (!ctp_ppt_attach_shared(&t->at))
		return true;
	ctp_notice_say(conf->warn, "%s: a child that the process has forked has its ring too: what both save is lost, or mixed of two",
	               t->buffer->label);
	return false;
}
