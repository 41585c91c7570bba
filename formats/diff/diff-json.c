/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* diff-json.c - a comparison for programs. */
#include "base/text.h"
#include "common/json.h"
#include "diff/diff-print.h"

#define putf ctp_output_putf

static const char *const sides[CTP_DIFF_SIDES] = {"before", "after"};

static const char *boolean(bool b) { return b ? "true" : "false"; }

static void text(struct ctp_output *out, const char *key, const char *value)
{
	putf(out, "\"%s\":", key);
	if (value)
		ctp_json_put(out, value, strlen(value));
	else
		putf(out, "null");
}

/* As JSON has numbers: all of them are finite here. */
static void real(struct ctp_output *out, const char *key, double value)
{
	char number[CTP_TEXT_MAX];
	*ctp_text_double(number, value) = '\0';
	putf(out, ",\"%s\":%s", key, number);
}

static void run(struct ctp_output *out, const struct ctp_diff *d, const struct ctp_diff_run *r)
{
	text(out, "file", r->file);
	putf(out, ",");
	text(out, "command", r->command);
	putf(out, ",\"events\":%ju,\"lost\":%ju,\"missed\":%ju,\"untraced\":%ju,\"conflicts\":%ju", r->events, r->lost, r->missed,
	     r->untraced, r->conflicts);
	putf(out, ",\"complete\":%s,\"ordinal\":%s", boolean(!r->cut && !r->damaged), boolean(r->ordinal));
	putf(out, d->options.per ? ",\"units\":%ju}" : ",\"units\":null}", r->units);
}

static void runs(struct ctp_output *out, const struct ctp_diff *d)
{
	for (unsigned side = 0; side < CTP_DIFF_SIDES; side++) {
		bool first = true;
		putf(out, ",\"%s\":[", sides[side]);
		for (uint32_t i = 0; i < d->nruns; i++) {
			if (d->runs[i].side != side)
				continue;
			putf(out, first ? "{" : ",{");
			run(out, d, &d->runs[i]);
			first = false;
		}
		putf(out, "]");
	}
}

static void findings(struct ctp_output *out, const struct ctp_diff *d)
{
	static const char *const changes[CTP_DIFF_CHANGES] = {"new", "gone", "chance", "both"};
	putf(out, ",\"findings\":[");
	for (uint32_t i = 0; i < d->nfindings; i++) {
		const struct ctp_diff_finding *f = &d->findings[i];
		putf(out, "%s{\"rule\":\"%s\",\"certainty\":\"%s\",\"change\":\"%s\",", i ? "," : "", ctp_rule_name(f->rule),
		     ctp_certainty_name(f->certainty), changes[ctp_diff_change_of(d, f)]);
		text(out, "suspend_site", ctp_diff_text(d, f->place));
		putf(out, ",");
		text(out, "spawn_site", ctp_diff_text(d, f->spawn));
		putf(out, ",");
		text(out, "title", f->title);
		putf(out, ",\"runs_before\":%u,\"runs_after\":%u}", f->runs[CTP_DIFF_BEFORE], f->runs[CTP_DIFF_AFTER]);
	}
	putf(out, "]");
}

static void sample(struct ctp_output *out, const char *key, const struct ctp_diff_sample *s)
{
	putf(out, ",\"%s\":{\"runs\":%u,\"left_out\":%u", key, s->n, s->left_out);
	if (s->n) {
		real(out, "median", s->median);
		real(out, "min", s->low);
		real(out, "max", s->high);
	}
	putf(out, ",\"values\":[");
	for (uint32_t i = 0; i < s->n; i++) {
		char number[CTP_TEXT_MAX];
		*ctp_text_double(number, s->values[i]) = '\0';
		putf(out, "%s%s", i ? "," : "", number);
	}
	putf(out, "]}");
}

static void row(struct ctp_output *out, const struct ctp_diff *d, const struct ctp_diff_row *r)
{
	static const char *const whats[CTP_DIFF_WHATS] = {
		[CTP_DIFF_STILL] = "still_waiting",
		[CTP_DIFF_RESUMES] = "resumes", [CTP_DIFF_WAKES] = "wakes", [CTP_DIFF_COROUTINES] = "coroutines",
		[CTP_DIFF_RUN_TOTAL] = "running_total_ns", [CTP_DIFF_RUN_P50] = "running_p50_ns",
		[CTP_DIFF_RUN_P99] = "running_p99_ns",
		[CTP_DIFF_WAIT_P50] = "suspended_p50_ns", [CTP_DIFF_WAIT_P99] = "suspended_p99_ns",
		[CTP_DIFF_READY_P50] = "runnable_p50_ns", [CTP_DIFF_READY_P99] = "runnable_p99_ns",
	};
	static const char *const verdicts[] = {
		[CTP_DIFF_UNTOLD] = "not judged", [CTP_DIFF_SAME] = "no difference shown",
		[CTP_DIFF_SLIGHT] = "less than min_change", [CTP_DIFF_LESS] = "less", [CTP_DIFF_MORE] = "more",
	};
	static const char *const kinds[] = {[CTP_DIFF_ALL] = "run", [CTP_DIFF_PLACE] = "suspend", [CTP_DIFF_SPAWN] = "spawn"};
	putf(out, "{\"what\":\"%s\",\"of\":\"%s\",", whats[r->what], kinds[r->key.kind]);
	text(out, "suspend_site", ctp_diff_text(d, r->key.place));
	putf(out, ",");
	text(out, "spawn_site", ctp_diff_text(d, r->key.spawn));
	putf(out, ",");
	text(out, "name", ctp_diff_text(d, r->key.name));
	putf(out, ",\"verdict\":\"%s\"", verdicts[r->verdict]);
	for (unsigned side = 0; side < CTP_DIFF_SIDES; side++)
		sample(out, sides[side], &r->side[side]);
	const struct ctp_diff_sample *a = &r->side[CTP_DIFF_BEFORE], *b = &r->side[CTP_DIFF_AFTER];
	if (a->n && b->n && a->median > 0)
		real(out, "ratio", b->median / a->median);
	if (r->verdict != CTP_DIFF_UNTOLD) {
		real(out, "p", r->p);
		real(out, "p_adjusted", r->adjusted);
	}
	putf(out, ",\"small\":%s}", boolean(r->small));
}

void ctp_diff_print_json(struct ctp_output *out, const struct ctp_diff *d)
{
	putf(out, "{");
	text(out, "per", d->options.per);
	putf(out, ",\"differences\":%u,\"compared\":%u,\"candidates\":%u,\"runs_needed\":%u,\"together\":%u", d->shown, d->compared,
	     d->candidates, d->needed, d->together);
	putf(out, ",\"alone\":%u,\"slight\":%u", d->alone, d->slight);
	real(out, "min_change", d->options.min_change);
	putf(out, ",\"small\":%u,\"touched\":%u,\"ignored\":%ju", d->small, d->touched, d->ignored);
	runs(out, d);
	findings(out, d);
	putf(out, ",\"quantities\":[");
	for (size_t i = 0; i < d->nrows; i++) {
		putf(out, "%s", i ? "," : "");
		row(out, d, &d->rows[i]);
	}
	putf(out, "]}\n");
}
