/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * stat-print.c - prints the counts of a stream, for people and for programs.
 *
 * No control character from the stream reaches a terminal: names and values are printed as JSON texts; for people, only if they
 * have other than plain characters. Times have 64 bits, which jq and JavaScript round; durations and counts are smaller.
 */
#include "stat/stat-print.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/visible.h"
#include "common/meta.h"

#define putf ctp_output_putf

static void put_text(struct ctp_output *out, const char *text) { ctp_json_put(out, text, strlen(text)); }

static uint64_t sections_kept(const struct ctp_stat *stat)
{
	return stat->nsections < CTP_STAT_SECTIONS_MAX ? stat->nsections : CTP_STAT_SECTIONS_MAX;
}

/* --- for people ---------------------------------------------------------------------------------------------------------- */

static const char *plural(uint64_t n) { return n == 1 ? "" : "s"; }

/* The text as it is, if it is printable ASCII and, as a word of a command, nothing that a shell would change; else in quotes. */
static void put_plain(struct ctp_output *out, const char *text, size_t len, bool word)
{
	bool plain = len > 0;
	for (size_t i = 0; i < len && plain; i++)
		plain = word ? isalnum((unsigned char)text[i]) || strchr("_./:=,+@%-", text[i]) : text[i] >= ' ' && text[i] <= '~';
	if (plain) {
		ctp_output_put(out, text, len);
		return;
	}
	char c[CTP_VISIBLE_MAX];
	unsigned columns;
	ctp_output_put(out, "\"", 1);
	for (const char *p = text; p < text + len;) {
		if (*p == '"')
			ctp_output_put(out, "\\", 1);
		unsigned bytes = ctp_visible_char(c, &p, &columns);
		ctp_output_put(out, c, bytes);
	}
	ctp_output_put(out, "\"", 1);
}

static void text_counts(struct ctp_output *out, const struct ctp_stat_counts *c, const char *indent)
{
	const char *more = c->at_least ? " or more" : "";
	putf(out, "%sevents:      %ju%s", indent, c->events, c->unseen ? "" : "\n");
	if (c->unseen)
		putf(out, ", and %ju in packets that are missing\n", c->unseen);
	putf(out, "%scoroutines:  %ju%s; %ju birth%s, %ju death%s\n", indent, c->coroutines, more, c->births, plural(c->births),
	     c->deaths, plural(c->deaths));
	putf(out, "%sthreads:     %ju%s\n", indent, c->threads, more);
	if (c->wakes)
		putf(out, "%swakes:       %ju\n", indent, c->wakes);
	if (c->names)
		putf(out, "%snames:       %ju\n", indent, c->names);
	if (c->sites)
		putf(out, "%ssites:       %ju%s\n", indent, c->sites, more);
	putf(out, "%slost:        %ju, of them %ju unverified\n", indent, c->lost, c->unverified);
	if (c->missed)
		putf(out, "%smissed:      %ju other record%s\n", indent, c->missed, plural(c->missed));
	putf(out, "%suntraced:    %ju coroutine%s\n", indent, c->untraced, plural(c->untraced));
	if (c->conflicts)
		putf(out, "%sconflicts:   %ju station%s with two writers\n", indent, c->conflicts, plural(c->conflicts));
	putf(out, "%slate:        %ju\n", indent, c->late);
	if (!c->ordinal)
		putf(out, "%sduration:    %ju.%09ju s, from the first record of a section to its last\n", indent, c->duration_ns / 1000000000,
		     c->duration_ns % 1000000000);
}

static void text_times(struct ctp_output *out, const struct ctp_stat_section *s)
{
	if (s->counts.first_ns > s->counts.last_ns)
		return;
	if (s->counts.ordinal)
		putf(out, "  order:       %ju to %ju\n", s->counts.first_ns, s->counts.last_ns);
	else
		putf(out, "  times:       %ju to %ju ns\n", s->counts.first_ns, s->counts.last_ns);
	if (!s->who || !s->who->has_wall)
		return;
	time_t wall = (time_t)((int64_t)(s->counts.first_ns + (uint64_t)s->who->wall_offset_ns) / 1000000000);
	struct tm tm;
	char text[64];
	if (gmtime_r(&wall, &tm) && strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &tm))
		putf(out, "  started:     %s UTC\n", text);
}

static void text_end(struct ctp_output *out, const struct ctp_stat_section *s, const struct ctp_ended *e, const char *otherwise,
                     uint64_t origins)
{
	char to[CTP_ENDED_TEXT_MAX];
	const char *text = e ? ctp_ended_text(to, e) : otherwise;
	putf(out, "  ended:       ");
	if (text) {
		putf(out, "%s", text);
	} else {
		put_plain(out, e->outcome, strlen(e->outcome), false);
		putf(out, " %jd", (intmax_t)e->status);
	}
	if (s->norigins)
		putf(out, " (%ju origin%s)", origins, plural(origins));
	putf(out, "\n");
}

/* A line for each different end. */
static void text_ended(struct ctp_output *out, const struct ctp_stat_section *s)
{
	uint64_t recorded = s->other_ends;
	for (uint32_t i = 0; i < s->nends; i++) {
		text_end(out, s, &s->ends[i].ended, NULL, s->ends[i].origins);
		recorded += s->ends[i].origins;
	}
	if (s->other_ends)
		text_end(out, s, NULL, "in other ways", s->other_ends);
	if (!recorded || recorded < s->norigins)
		text_end(out, s, NULL, "not recorded", s->norigins - recorded);
}

/* The attributes; a list is on one line. text_times shows those that are times. */
static void text_attrs(struct ctp_output *out, const struct ctp_section *who)
{
	for (uint32_t i = 0; i < who->nattrs; i++) {
		const char *name = who->attrs[i].name;
		size_t len = strlen(name);
		bool list = len > 2 && !strcmp(name + len - 2, "[]");
		if (!strcmp(name, "wall_offset_ns") || !strcmp(name, "start_ns"))
			continue;
		if (!strcmp(name, "argv[]")) {
			name = "command";
			len = strlen(name);
		} else if (list) {
			len -= 2;
		}
		putf(out, "  ");
		put_plain(out, name, len, false);
		putf(out, ":%*s", len < 12 ? (int)(12 - len) : 1, "");
		for (;; i++) {
			const char *value = who->attrs[i].value;
			put_plain(out, value, strlen(value), list);
			if (!list || i + 1 == who->nattrs || strcmp(who->attrs[i].name, who->attrs[i + 1].name))
				break;
			putf(out, " ");
		}
		putf(out, "\n");
	}
}

static void text_section(struct ctp_output *out, const struct ctp_stat_section *s, uint64_t number)
{
	putf(out, "\nsection %ju: %s\n", number,
	     s->counts.complete ? "complete" : "cut short or damaged (or it is still being written)");
	if (s->who)
		text_attrs(out, s->who);
	text_times(out, s);
	text_ended(out, s);
}

void ctp_stat_print_file(struct ctp_output *out, const struct ctp_input *in)
{
	uint64_t done, total;
	ctp_input_progress(in, &done, &total);
	putf(out, "file:        ");
	put_plain(out, in->name, strlen(in->name), false);
	putf(out, ", %ju byte%s\n", total ? total : done, plural(total ? total : done));
}

void ctp_stat_print_text(struct ctp_output *out, const struct ctp_stat *stat)
{
	const struct ctp_reader_stats *r = &stat->reader;
	putf(out, "sections:    %ju, %s", stat->nsections, stat->all.complete ? "complete" : "not complete");
	if (stat->nsections && r->cut_short)
		putf(out, "; %ju cut short", r->cut_short);
	if (stat->norigins)
		putf(out, "; of %ju origin%s", stat->norigins, plural(stat->norigins));
	if (stat->nfiltered)
		putf(out, "; %ju filtered", stat->nfiltered);
	putf(out, "\n");
	text_counts(out, &stat->all, "");
	putf(out, "packets:     %ju; %ju damaged, %ju missing\n", r->packets, r->damaged_packets, r->missing_packets);
	if (r->skipped_bytes)
		putf(out, "skipped:     %ju byte%s, %ju record%s\n", r->skipped_bytes, plural(r->skipped_bytes), r->skipped_records,
		     plural(r->skipped_records));
	putf(out, "records:     %ju\n", r->records);
	for (uint32_t i = 0; i < stat->nclasses; i++) {
		putf(out, "  %12ju  ", stat->classes[i].records);
		put_plain(out, stat->classes[i].name, strlen(stat->classes[i].name), false);
		putf(out, "\n");
	}
	for (uint64_t i = 0; i < sections_kept(stat); i++) {
		text_section(out, &stat->sections[i], i + 1);
		if (stat->nsections > 1)
			text_counts(out, &stat->sections[i].counts, "  ");
	}
	if (stat->nsections > CTP_STAT_SECTIONS_MAX)
		putf(out, "\nand %ju section%s more\n", stat->nsections - CTP_STAT_SECTIONS_MAX,
		     plural(stat->nsections - CTP_STAT_SECTIONS_MAX));
}

/* --- for programs -------------------------------------------------------------------------------------------------------- */

static const char *boolean(bool b) { return b ? "true" : "false"; }

static void json_counts(struct ctp_output *out, const struct ctp_stat_counts *c)
{
	putf(out, "\"complete\":%s,\"events\":%ju,\"lost\":%ju,\"unverified\":%ju,\"untraced\":%ju",
	     boolean(c->complete), c->events, c->lost, c->unverified, c->untraced);
	putf(out, ",\"births\":%ju,\"deaths\":%ju,\"conflicts\":%ju,\"late\":%ju,\"unseen\":%ju",
	     c->births, c->deaths, c->conflicts, c->late, c->unseen);
	putf(out, ",\"wakes\":%ju,\"names\":%ju,\"missed\":%ju,\"sites\":%ju", c->wakes, c->names, c->missed, c->sites);
	putf(out, ",\"coroutines\":%ju,\"threads\":%ju,\"at_least\":%s", c->coroutines, c->threads, boolean(c->at_least));
	if (!c->ordinal)
		putf(out, ",\"duration_ns\":%ju", c->duration_ns);
	if (c->first_ns <= c->last_ns)
		putf(out, c->ordinal ? ",\"first\":%ju,\"last\":%ju" : ",\"first_ns\":%ju,\"last_ns\":%ju", c->first_ns, c->last_ns);
}

/* As in JSONL. who is null if there was no memory for it. */
static void json_attrs(struct ctp_output *out, const struct ctp_section *who)
{
	size_t len = 0;
	char *attrs = who ? ctp_meta_attrs(who, &len) : NULL;
	ctp_output_put(out, attrs ? attrs : "{}", attrs ? len : 2);
	if (who && !attrs && !out->failed) {
		ctp_err_as(&out->err, CTP_ERR_MEMORY, "%s: out of memory", out->name);
		out->failed = true;
	}
	free(attrs);
}

static void json_end(struct ctp_output *out, const struct ctp_ended *e)
{
	putf(out, "\"outcome\":");
	put_text(out, e->outcome);
	putf(out, ",\"status\":%jd", e->status);
}

static void json_ended(struct ctp_output *out, const struct ctp_stat_section *s)
{
	const struct ctp_ended *all = ctp_stat_ended(s);
	if (all) {
		putf(out, ",");
		json_end(out, all);
	}
	if (!s->norigins)
		return;
	putf(out, ",\"ends\":[");
	for (uint32_t i = 0; i < s->nends; i++) {
		putf(out, i ? ",{" : "{");
		json_end(out, &s->ends[i].ended);
		putf(out, ",\"origins\":%ju}", s->ends[i].origins);
	}
	putf(out, "]");
}

void ctp_stat_print_json(struct ctp_output *out, const struct ctp_stat *stat)
{
	const struct ctp_reader_stats *r = &stat->reader;
	putf(out, "{");
	json_counts(out, &stat->all);
	putf(out, ",\"records\":%ju,\"packets\":%ju,\"damaged_packets\":%ju,\"missing_packets\":%ju",
	     r->records, r->packets, r->damaged_packets, r->missing_packets);
	putf(out, ",\"skipped_records\":%ju,\"skipped_bytes\":%ju,\"cut_short\":%ju,\"classes\":{",
	     r->skipped_records, r->skipped_bytes, r->cut_short);
	for (uint32_t i = 0; i < stat->nclasses; i++) {
		putf(out, i ? "," : "");
		put_text(out, stat->classes[i].name);
		putf(out, ":%ju", stat->classes[i].records);
	}
	putf(out, "},\"section_count\":%ju,\"origin_count\":%ju,\"filtered\":%ju,\"sections\":[", stat->nsections, stat->norigins,
	     stat->nfiltered);
	for (uint64_t i = 0; i < sections_kept(stat); i++) {
		putf(out, i ? ",{" : "{");
		json_counts(out, &stat->sections[i].counts);
		json_ended(out, &stat->sections[i]);
		putf(out, ",\"attrs\":");
		json_attrs(out, stat->sections[i].who);
		putf(out, "}");
	}
	putf(out, "]}\n");
}
