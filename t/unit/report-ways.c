/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * report-ways: usual transitions are counted in a fast loop without a listener (tally.c), and reported one by one with one
 * (follow.c). Random lives, with losses, wakes, conflicts and invalid events, give the same report both ways.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "analyse/analysis.h"
#include "byhand.h"
#include "report/report-json.h"
#include "tap.h"

enum { COROS = 300, THREADS = 5, BATCH = 100, EVENTS = 30000 };

struct way {
	struct ctp_analysis *analysis;
	uint32_t most; /* records in a batch */
};

static uint64_t seed;

static uint64_t chance(uint64_t n)
{
	seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
	return seed % n;
}

/* Records wait here until a batch is full. */
static struct {
	struct ctp_record rec[BATCH];
	uint64_t val[BATCH][CTP_FIELDS_MAX];
	uint32_t n;
	struct way *way;
} queue;

static void flush(void)
{
	if (queue.n)
		ctp_analysis_records(queue.way->analysis, &(struct ctp_batch){.rec = queue.rec, .n = queue.n});
	queue.n = 0;
}

static void give(void *to, const struct ctp_batch *batch)
{
	(void)to;
	if (batch->late) {
		flush();
		ctp_analysis_records(queue.way->analysis, batch);
		return;
	}
	queue.rec[queue.n] = *batch->rec;
	queue.rec[queue.n].val = memcpy(queue.val[queue.n], batch->rec->val, batch->rec->cls->nfields * sizeof(uint64_t));
	if (++queue.n >= queue.way->most)
		flush();
}

/* The next event of a coroutine: nearly always the expected one. */
static void live(struct byhand *h, uint64_t ts, uint64_t co, bool *alive, bool *runs)
{
	uint64_t tid = 1 + chance(THREADS), what = chance(1000);
	if (!*alive && chance(3))
		is_born(h, ts, co, 50 + co % 3);
	*alive = true;
	if (what < 5)
		are_lost(h, ts - chance(1000), ts, co, 1 + chance(3));
	else if (what < 7)
		are_missed(h, ts - chance(1000), ts, tid);
	else if (what < 9)
		ring_lost(h, ts - chance(100000), ts, tid, 3);
	else if (what < 11)
		BYHAND(h, CTP_CONFLICT, [CTP_CONFLICT_TS] = ts, [CTP_CONFLICT_CORO] = co);
	else if (what < 13)
		h->next[co] += 2;
	else if (what < 150)
		is_woken(h, ts, co, tid, chance(COROS));
	else if (what < 200)
		awaits(h, ts, co, chance(COROS));
	else if (what < 230 && !(*alive = false))
		dies(h, ts, co);
	else if ((*runs = *runs == (what < 235))) /* a few repeat the last event */
		resumes(h, ts, co, tid);
	else
		suspends(h, ts, co, tid, 1 + chance(20) / 3 * (co % 5));
	h->late = what == 999;
}

static char *report(struct way *way, uint64_t start, const struct ctp_analysis_options *options, bool listened)
{
	static const struct ctp_follow_ops nothing;
	static struct byhand h;
	static struct ctp_section sec;
	bool alive[COROS + 1] = {0}, runs[COROS + 1] = {0};
	struct ctp_err err;
	if (!(way->analysis = ctp_analysis_new(options, &err)))
		abort();
	if (listened)
		ctp_analysis_listen(way->analysis, &nothing, NULL);
	seed = start;
	queue.way = way;
	byhand_init(&h, give, NULL);
	ctp_section_init(&sec);
	ctp_section_add(&sec, "pid", "100");
	ctp_analysis_section(way->analysis, &sec);
	uint64_t ts = 1000000;
	for (int i = 0; i < EVENTS; i++) {
		uint64_t co = 1 + chance(COROS);
		ts += chance(1000) ? chance(20000) : chance(200000000);
		if (start % 2 && !chance(5000))
			becomes(&h, ts, ts, chance(2) ? CTP_PROCESS_STOPPED : CTP_PROCESS_EXECUTING);
		live(&h, ts, co, &alive[co], &runs[co]);
	}
	is_over(&h, ts + 3000000000, CTP_OUTCOME_KILLED);
	flush();
	ctp_analysis_end(way->analysis, &(struct ctp_section_end){.complete = true});
	byhand_fini(&h);
	ctp_section_fini(&sec);

	struct ctp_output out;
	int fd = memfd_create("json", 0);
	if (fd < 0 || ctp_output_fd(&out, dup(fd), "json", &err))
		abort();
	ctp_report_json(&out, &way->analysis->report, false);
	if (ctp_output_close(&out, &err))
		abort();
	off_t size = lseek(fd, 0, SEEK_END);
	char *text = calloc(1, (size_t)size + 1);
	if (!text || pread(fd, text, (size_t)size, 0) != size)
		abort();
	close(fd);
	ctp_analysis_free(way->analysis);
	return text;
}

int main(void)
{
	static const struct ctp_analysis_options parts[] = {{0}, {.since_ns = 200000000}, {.until_ns = 300000000}};
	unsigned findings = 0;
	for (uint64_t start = 1; start <= 12; start++) {
		const struct ctp_analysis_options *part = &parts[start % 6 < 3 ? 0 : start % 3];
		char *one = report(&(struct way){.most = 1}, start, part, true);
		char *many = report(&(struct way){.most = BATCH}, start, part, false);
		ok(!strcmp(one, many), "records give the same report one by one with a listener and in batches without (%ju)",
		   (uintmax_t)start);
		findings += !!strstr(one, "\"rule\"");
		free(one);
		free(many);
	}
	ok(findings > 3, "the reports have findings (%u)", findings);
	return done_testing();
}
