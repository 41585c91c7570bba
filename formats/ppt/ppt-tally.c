/* ppt-tally.c - see ppt-tally.h. */
#include "ppt/ppt-tally.h"

#include <stdlib.h>
#include <string.h>

static struct ctp_ppt_live_counts counts_of(const struct ctp_ppt_trace *t)
{
	return (struct ctp_ppt_live_counts){
		.frames = t->taken, .lost = t->lost, .overrun = t->at.ring.overrun, .torn = t->torn - t->at.ring.wrong - t->unknown,
		.wrong = t->at.ring.wrong + t->unknown, .unkept = t->unkept, .unverified = t->unverified, .late = t->late,
	};
}

static void add(struct ctp_ppt_live_counts *to, const struct ctp_ppt_live_counts *c)
{
	to->frames += c->frames;
	to->lost += c->lost;
	to->overrun += c->overrun;
	to->torn += c->torn;
	to->wrong += c->wrong;
	to->unkept += c->unkept;
	to->unverified += c->unverified;
	to->late |= c->late;
}

void ctp_ppt_tally(struct ctp_ppt_live_result *result, const struct ctp_ppt_trace *traces, size_t n)
{
	result->part = calloc(n ? n : 1, sizeof *result->part);
	for (size_t i = 0; i < n; i++) {
		struct ctp_ppt_live_counts counts = counts_of(&traces[i]);
		add(&result->all, &counts);
		char *name = result->part ? strdup(traces[i].buffer->label) : NULL;
		if (name)
			result->part[result->nparts++] = (struct ctp_ppt_live_part){name, counts};
	}
}

struct ctp_ppt_live_counts ctp_ppt_tally_by_now(const struct ctp_ppt_trace *traces, size_t n)
{
	struct ctp_ppt_live_counts by_now = {0};
	for (size_t i = 0; i < n; i++) {
		by_now.frames += traces[i].taken;
		by_now.lost += traces[i].lost;
	}
	return by_now;
}

void ctp_ppt_live_result_free(struct ctp_ppt_live_result *result)
{
	for (size_t i = 0; i < result->nparts; i++)
		free(result->part[i].name);
	free(result->part);
	result->part = NULL;
	result->nparts = 0;
}
