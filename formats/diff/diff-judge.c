/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * diff-judge.c - compares what the runs of both sides have: a row for each quantity.
 *
 * The more quantities are compared, the more of them differ by chance alone. So none is compared that cannot show anything: because
 * too few runs have it, because it is the same in all, or because it is a tiny part of the whole. None of these reasons depends on
 * which run is of which side. The p of the others are corrected together.
 *
 * Each time a quantity is compared, the correction takes something from all. So most of what there is to give, 5 %, goes to what
 * stands for much of the time: a function in which a program spends half of its time must not need more runs because it has
 * hundreds of others. Running times get more than waits, which vary more from run to run, and medians more than percentiles.
 */
#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "diff/diff-own.h"

#define SMALL 0.001 /* the part of all running or waiting that a group needs, to be compared */
#define EVENLY 0.25 /* the part of all weights that each quantity gets a like share of */

/* How the rest is given to the kinds of quantities. The quantities of a kind share it by their time or count. */
static const double parts[CTP_DIFF_WHATS] = {
	[CTP_DIFF_STILL] = 0.25, [CTP_DIFF_RESUMES] = 0.5, [CTP_DIFF_WAKES] = 0.25, [CTP_DIFF_COROUTINES] = 0.5, [CTP_DIFF_RUN_TOTAL] = 1,
	[CTP_DIFF_RUN_P50] = 2, [CTP_DIFF_RUN_P99] = 0.25, [CTP_DIFF_WAIT_P50] = 1, [CTP_DIFF_WAIT_P99] = 0.25,
	[CTP_DIFF_READY_P50] = 0.25, [CTP_DIFF_READY_P99] = 0.25,
};

void ctp_diff_init(struct ctp_diff *d, const struct ctp_diff_options *options)
{
	*d = (struct ctp_diff){.options = *options};
	ctp_text_table_init(&d->texts);
	d->matched = options->report.nignore ? calloc(options->report.nignore, sizeof *d->matched) : NULL;
	d->failed = options->report.nignore && !d->matched;
}

void ctp_diff_fini(struct ctp_diff *d)
{
	for (uint32_t i = 0; i < d->nruns; i++) {
		free(d->runs[i].file);
		free(d->runs[i].command);
	}
	for (size_t i = 0; i < d->ngroups; i++)
		for (unsigned k = 0; k < CTP_DIFF_STATES; k++)
			ctp_diff_hist_fini(&d->groups[i].spans[k]);
	for (uint32_t i = 0; i < d->nfindings; i++)
		free(d->findings[i].title);
	for (size_t i = 0; i < d->nrows; i++)
		free(d->rows[i].side[CTP_DIFF_BEFORE].values);
	free(d->runs);
	free(d->groups);
	free(d->findings);
	free(d->rows);
	free(d->matched);
	ctp_text_table_fini(&d->texts);
}

/* --- one number of one run ------------------------------------------------------------------------------------------------ */

enum has { HAS, HAS_NOT, TOUCHED };

static const unsigned state_of[CTP_DIFF_WHATS] = {
	[CTP_DIFF_RUN_P50] = CTP_DIFF_RUN, [CTP_DIFF_RUN_P99] = CTP_DIFF_RUN, [CTP_DIFF_WAIT_P50] = CTP_DIFF_WAIT,
	[CTP_DIFF_WAIT_P99] = CTP_DIFF_WAIT, [CTP_DIFF_READY_P50] = CTP_DIFF_READY, [CTP_DIFF_READY_P99] = CTP_DIFF_READY,
};

/* What is counted of a run without --per needs all of the run, and each unit of --per must have been counted. */
static bool is_short(const struct ctp_diff *d, const struct ctp_diff_run *run)
{
	return run->damaged || (d->options.per ? run->units_touched : run->cut);
}

static double per_unit(const struct ctp_diff *d, const struct ctp_diff_run *run, uint64_t n)
{
	return d->options.per ? (double)n / (double)run->units : (double)n;
}

/* A quantity of the whole run. */
static enum has number_of_all(const struct ctp_diff *d, const struct ctp_diff_run *run, enum ctp_diff_what what, double *number)
{
	const uint64_t numbers[CTP_DIFF_WHATS] = {[CTP_DIFF_RESUMES] = run->resumes, [CTP_DIFF_WAKES] = run->wakes,
	                                          [CTP_DIFF_COROUTINES] = run->coroutines, [CTP_DIFF_RUN_TOTAL] = run->running_ns};
	bool transitions = what == CTP_DIFF_RESUMES || what == CTP_DIFF_RUN_TOTAL;
	if (what == CTP_DIFF_RUN_TOTAL && run->ordinal)
		return HAS_NOT;
	if (is_short(d, run) || (transitions ? run->lost : run->missed))
		return TOUCHED;
	*number = per_unit(d, run, numbers[what]);
	return HAS;
}

/* How many coroutines still wait does not depend on how much was done. g null: as below. */
static enum has still_of(const struct ctp_diff_run *run, const struct ctp_diff_group *g, double *number)
{
	if (run->damaged || run->cut || run->missed || (g ? g->touched : run->lost || run->crowded))
		return TOUCHED;
	*number = g ? (double)g->still : 0;
	return HAS;
}

/* g null: the run has nothing of the group. */
static enum has count_of(const struct ctp_diff *d, const struct ctp_diff_run *run, const struct ctp_diff_group *g,
                         enum ctp_diff_what what, double *number)
{
	bool touched = what == CTP_DIFF_COROUTINES ? run->missed : g ? g->touched : run->lost;
	if (is_short(d, run) || touched || (!g && run->crowded))
		return TOUCHED;
	*number = per_unit(d, run, g ? g->count : 0);
	return HAS;
}

static enum has time_of(const struct ctp_diff_run *run, const struct ctp_diff_group *g, enum ctp_diff_what what, double *number)
{
	unsigned state = state_of[what];
	const struct ctp_diff_hist *spans = g ? &g->spans[state] : NULL;
	if (!spans || spans->count < (ctp_diff_is_p99(what) ? CTP_DIFF_P99_SPANS : 1))
		return HAS_NOT;
	if (g->touched || run->damaged || (state != CTP_DIFF_RUN && run->missed))
		return TOUCHED;
	*number = ctp_diff_hist_quantile(spans, ctp_diff_is_p99(what) ? 0.99 : 0.5);
	return HAS;
}

/* --- rows ----------------------------------------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
	double p = *(const double *)a, q = *(const double *)b;
	return (p > q) - (p < q);
}

static void finish_sample(struct ctp_diff_sample *s)
{
	if (!s->n)
		return;
	qsort(s->values, s->n, sizeof *s->values, by_value);
	s->low = s->values[0];
	s->high = s->values[s->n - 1];
	s->median = (s->values[(s->n - 1) / 2] + s->values[s->n / 2]) / 2;
}

/* A row of the n groups of a key, sorted by run. A row that no run says anything about is left out. False: out of memory. */
static bool add_row(struct ctp_diff *d, const struct ctp_diff_group *groups, size_t n, struct ctp_diff_key key,
                    enum ctp_diff_what what)
{
	struct ctp_diff_row row = {.key = key, .what = what, .p = 1, .adjusted = 1};
	double *values = calloc(d->nruns, sizeof *values);
	if (!values || !CTP_ARRAY_RESERVE(d->rows, d->rows_room, d->nrows + 1, SIZE_MAX)) {
		free(values);
		return false;
	}
	row.side[CTP_DIFF_BEFORE].values = values;
	row.side[CTP_DIFF_AFTER].values = values + d->sides[CTP_DIFF_BEFORE];
	for (uint32_t i = 0; i < d->nruns; i++) {
		const struct ctp_diff_run *run = &d->runs[i];
		const struct ctp_diff_group *g = n && groups->run == i ? groups : NULL;
		struct ctp_diff_sample *s = &row.side[run->side];
		double *number = &s->values[s->n];
		enum has has = key.kind == CTP_DIFF_ALL ? number_of_all(d, run, what, number) :
		               what == CTP_DIFF_STILL ? still_of(run, g, number) :
		               ctp_diff_is_time(what) ? time_of(run, g, what, number) : count_of(d, run, g, what, number);
		if (g && has != HAS_NOT)
			row.weight += ctp_diff_is_time(what) ? (double)g->spans[state_of[what]].total_ns :
			              (double)(what == CTP_DIFF_STILL ? g->still : g->count);
		s->n += has == HAS;
		s->left_out += has == TOUCHED;
		if (g) {
			groups++;
			n--;
		}
	}
	row.weight = key.kind == CTP_DIFF_ALL ? DBL_MAX : row.weight;
	for (unsigned side = 0; side < CTP_DIFF_SIDES; side++)
		finish_sample(&row.side[side]);
	const struct ctp_diff_sample *before = &row.side[CTP_DIFF_BEFORE], *after = &row.side[CTP_DIFF_AFTER];
	if (before->n + after->n + before->left_out + after->left_out)
		d->rows[d->nrows++] = row;
	else
		free(values);
	return true;
}

static bool add_rows(struct ctp_diff *d)
{
	static const struct ctp_diff_key all = {.kind = CTP_DIFF_ALL};
	for (enum ctp_diff_what what = CTP_DIFF_RESUMES; what <= CTP_DIFF_RUN_TOTAL; what++)
		if (!add_row(d, NULL, 0, all, what))
			return false;
	for (size_t i = 0, upto; i < d->ngroups; i = upto) {
		const struct ctp_diff_group *g = &d->groups[i];
		bool still = false;
		for (upto = i; upto < d->ngroups && !memcmp(&d->groups[upto].key, &g->key, sizeof g->key); upto++)
			still |= d->groups[upto].still > 0;
		if (g->key.kind == CTP_DIFF_SPAWN && !add_row(d, g, upto - i, g->key, CTP_DIFF_COROUTINES))
			return false;
		if (g->key.kind != CTP_DIFF_PLACE)
			continue;
		if (!add_row(d, g, upto - i, g->key, CTP_DIFF_RESUMES) || (still && !add_row(d, g, upto - i, g->key, CTP_DIFF_STILL)))
			return false;
		for (enum ctp_diff_what what = CTP_DIFF_RUN_P50; what < CTP_DIFF_WHATS; what++)
			if (!add_row(d, g, upto - i, g->key, what))
				return false;
	}
	return true;
}

/* --- comparisons ---------------------------------------------------------------------------------------------------------- */

/* A group with a tiny part of all running or waiting matters to nobody, and would only cost the others their certainty. */
static void find_small(struct ctp_diff *d)
{
	double all[CTP_DIFF_WHATS] = {0};
	for (size_t i = 0; i < d->nrows; i++)
		if (d->rows[i].key.kind == CTP_DIFF_PLACE)
			all[d->rows[i].what] += d->rows[i].weight;
	for (size_t i = 0; i < d->nrows; i++) {
		struct ctp_diff_row *row = &d->rows[i];
		row->small = row->key.kind == CTP_DIFF_PLACE && ctp_diff_is_time(row->what) && row->weight < SMALL * all[row->what];
	}
}

static bool varies(const struct ctp_diff_row *row)
{
	const struct ctp_diff_sample *a = &row->side[CTP_DIFF_BEFORE], *b = &row->side[CTP_DIFF_AFTER];
	return a->n && b->n && fmax(a->high, b->high) > fmin(a->low, b->low);
}

static bool has_enough(const struct ctp_diff_row *row)
{
	return ctp_ranks_least_p(row->side[CTP_DIFF_BEFORE].n, row->side[CTP_DIFF_AFTER].n) <= CTP_DIFF_ALPHA;
}

static bool is_candidate(const struct ctp_diff_row *row) { return !row->small && varies(row); }
static bool is_compared(const struct ctp_diff_row *row) { return is_candidate(row) && has_enough(row); }

/* Of all rows of a kind; the whole run counts as much as all its groups. */
static double count_for(const struct ctp_diff_row *row, const double all[CTP_DIFF_WHATS])
{
	return row->key.kind == CTP_DIFF_ALL ? fmax(1, all[row->what]) : row->weight;
}

/* Gives each row that takes part its share, of which the mean is 1. Returns the least. */
static double give_shares(struct ctp_diff *d, bool (*takes_part)(const struct ctp_diff_row *row))
{
	double all[CTP_DIFF_WHATS] = {0}, whole[CTP_DIFF_WHATS] = {0}, sum = 0, least = DBL_MAX;
	uint32_t n = 0;
	for (size_t i = 0; i < d->nrows; i++)
		if (takes_part(&d->rows[i]) && d->rows[i].key.kind != CTP_DIFF_ALL)
			all[d->rows[i].what] += d->rows[i].weight;
	for (size_t i = 0; i < d->nrows; i++)
		if (takes_part(&d->rows[i]))
			whole[d->rows[i].what] += count_for(&d->rows[i], all);
	for (unsigned what = 0; what < CTP_DIFF_WHATS; what++)
		sum += whole[what] > 0 ? parts[what] : 0;
	for (size_t i = 0; i < d->nrows; i++)
		n += takes_part(&d->rows[i]);
	for (size_t i = 0; i < d->nrows; i++) {
		struct ctp_diff_row *row = &d->rows[i];
		if (!takes_part(row))
			continue;
		double part = whole[row->what] > 0 ? parts[row->what] * count_for(row, all) / whole[row->what] / sum : 0;
		row->share = sum > 0 ? EVENLY + (1 - EVENLY) * n * part : 1;
		least = fmin(least, row->share);
	}
	return n ? least : 1;
}

/* Fills p and shares of the rows that are compared, and number with where they are. */
static bool test(struct ctp_diff *d, double *p, double *shares, size_t *number)
{
	struct ctp_ranks ranks = {0};
	bool tested = true;
	for (size_t i = 0; i < d->nrows && tested; i++) {
		struct ctp_diff_row *row = &d->rows[i];
		const struct ctp_diff_sample *a = &row->side[CTP_DIFF_BEFORE], *b = &row->side[CTP_DIFF_AFTER];
		d->small += row->small;
		d->touched += a->left_out || b->left_out;
		d->candidates += is_candidate(row);
		row->verdict = !row->small && a->n && b->n && has_enough(row) ? CTP_DIFF_SAME : CTP_DIFF_UNTOLD;
		if (!is_compared(row))
			continue;
		row->p = ctp_ranks_p(&ranks, a->values, a->n, b->values, b->n);
		tested = row->p >= 0;
		p[d->compared] = row->p;
		shares[d->compared] = row->share;
		number[d->compared++] = i;
	}
	ctp_ranks_fini(&ranks);
	return tested && ctp_ranks_adjust(p, shares, d->compared);
}

static double mean(const struct ctp_diff_sample *s)
{
	double sum = 0;
	for (uint32_t i = 0; i < s->n; i++)
		sum += s->values[i];
	return sum / s->n;
}

/* Which side has more. Medians may be equal although the ranks differ. */
static bool is_more(const struct ctp_diff_row *row)
{
	const struct ctp_diff_sample *a = &row->side[CTP_DIFF_BEFORE], *b = &row->side[CTP_DIFF_AFTER];
	return b->median > a->median || (b->median >= a->median && mean(b) > mean(a));
}

/* With a median of 0 before, any change is large. */
static bool is_slight(const struct ctp_diff *d, const struct ctp_diff_row *row)
{
	double before = row->side[CTP_DIFF_BEFORE].median, after = row->side[CTP_DIFF_AFTER].median;
	return fabs(after - before) < d->options.min_change * before;
}

static void judge_row(struct ctp_diff *d, struct ctp_diff_row *row)
{
	if (row->adjusted > CTP_DIFF_ALPHA)
		return;
	if (is_slight(d, row)) {
		row->verdict = CTP_DIFF_SLIGHT;
		d->slight++;
		return;
	}
	row->verdict = is_more(row) ? CTP_DIFF_MORE : CTP_DIFF_LESS;
	d->shown++;
}

/* How many runs of each side show a difference of any single quantity, if least is the smallest share. */
static void count_needed(struct ctp_diff *d, double least)
{
	double n = d->candidates ? d->candidates : 1;
	for (d->needed = 1; ctp_ranks_least_p(d->needed, d->needed) * n > CTP_DIFF_ALPHA * least;)
		d->needed++;
}

static int largest_first(const void *a, const void *b)
{
	double p = *(const double *)a, q = *(const double *)b;
	return (p < q) - (p > q);
}

/* Of how many quantities the runs can show a difference alone; and how many must differ, those with the largest shares. */
static void count_alone(struct ctp_diff *d, double *shares)
{
	double least = ctp_ranks_least_p(d->sides[CTP_DIFF_BEFORE], d->sides[CTP_DIFF_AFTER]);
	qsort(shares, d->compared, sizeof *shares, largest_first);
	for (uint32_t i = 0; i < d->compared; i++) {
		d->alone += least * d->compared <= CTP_DIFF_ALPHA * shares[i];
		if (!d->together && least * d->compared <= CTP_DIFF_ALPHA * shares[i] * (i + 1))
			d->together = i + 1;
	}
}

static bool compare(struct ctp_diff *d)
{
	double *p = calloc(d->nrows + 1, sizeof *p), *shares = calloc(d->nrows + 1, sizeof *shares);
	size_t *number = calloc(d->nrows + 1, sizeof *number);
	find_small(d);
	double least = give_shares(d, is_candidate);
	give_shares(d, is_compared);
	bool compared = p && shares && number && test(d, p, shares, number);
	for (uint32_t i = 0; compared && i < d->compared; i++) {
		struct ctp_diff_row *row = &d->rows[number[i]];
		row->adjusted = p[i];
		judge_row(d, row);
	}
	if (compared) {
		count_needed(d, least);
		count_alone(d, shares);
	}
	free(p);
	free(shares);
	free(number);
	return compared;
}

static unsigned table_of(enum ctp_diff_what what)
{
	return what == CTP_DIFF_STILL ? 0 : what < CTP_DIFF_RUN_TOTAL ? 1 : what < CTP_DIFF_WAIT_P50 ? 2 : 3;
}

static int by_importance(const void *a, const void *b)
{
	const struct ctp_diff_row *r = a, *s = b;
	unsigned tables[] = {table_of(r->what), table_of(s->what)};
	bool shown[] = {r->verdict >= CTP_DIFF_LESS, s->verdict >= CTP_DIFF_LESS};
	if (tables[0] != tables[1])
		return tables[0] < tables[1] ? -1 : 1;
	if (shown[0] != shown[1])
		return shown[0] ? -1 : 1;
	if (r->weight < s->weight || r->weight > s->weight)
		return r->weight > s->weight ? -1 : 1;
	int order = memcmp(&r->key, &s->key, sizeof r->key);
	return order ? order : (r->what > s->what) - (r->what < s->what);
}

enum ctp_status ctp_diff_check(struct ctp_diff *d, struct ctp_err *err)
{
	static const char *const names[CTP_DIFF_SIDES] = {"before", "after"};
	for (uint32_t i = 0; i < d->nruns; i++)
		d->sides[d->runs[i].side]++;
	for (unsigned side = 0; side < CTP_DIFF_SIDES; side++)
		if (!d->sides[side])
			return ctp_err_set(err, "no run from %s the change: the traces have no section", names[side]);
	if (d->failed || d->texts.failed || !ctp_diff_join(d))
		return ctp_err_memory(err);
	for (uint32_t i = 0; i < d->nruns; i++)
		if (d->options.per && !d->runs[i].units)
			return ctp_err_set(err, "--per %s: no coroutine was resumed there in %s; give FILE:FUNCTION, or a site as "
			                   "ctp-diff prints it", d->options.per, d->runs[i].file);
	return CTP_OK;
}

enum ctp_status ctp_diff_judge(struct ctp_diff *d, struct ctp_err *err)
{
	if (ctp_diff_check(d, err))
		return CTP_FAILED;
	if (!add_rows(d) || !compare(d))
		return ctp_err_memory(err);
	qsort(d->rows, d->nrows, sizeof *d->rows, by_importance);
	return CTP_OK;
}

enum ctp_diff_change ctp_diff_change_of(const struct ctp_diff *d, const struct ctp_diff_finding *f)
{
	uint32_t before = f->runs[CTP_DIFF_BEFORE], after = f->runs[CTP_DIFF_AFTER];
	bool by_machine = ctp_rule_needs_clock(f->rule) && !ctp_rule_stops(f->rule);
	if (before && after)
		return CTP_DIFF_BOTH;
	if (after && (!by_machine || 2 * after > d->sides[CTP_DIFF_AFTER]))
		return CTP_DIFF_NEW;
	return before && 2 * before > d->sides[CTP_DIFF_BEFORE] ? CTP_DIFF_GONE : CTP_DIFF_CHANCE;
}

bool ctp_diff_has_new(const struct ctp_diff *d)
{
	for (uint32_t i = 0; i < d->nfindings; i++)
		if (ctp_diff_change_of(d, &d->findings[i]) == CTP_DIFF_NEW && d->findings[i].certainty >= CTP_CERTAIN_LIKELY)
			return true;
	return false;
}

bool ctp_diff_has_worse(const struct ctp_diff *d)
{
	bool worse = ctp_diff_has_new(d);
	for (size_t i = 0; i < d->nrows && !worse; i++)
		worse = d->rows[i].verdict == CTP_DIFF_MORE;
	return worse;
}
