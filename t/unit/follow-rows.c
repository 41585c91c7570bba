/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* follow-rows: coroutines from the rows of coroTracer, by the sequence numbers of their probes. */
#include "followed.h"

static struct ctp_class *rows;

/* coroTracer's rows have a probe, but no coroutine, index, birth or death. */
static void rows_begin(void)
{
	static const struct ctp_field fields[] = {
		{.name = "probe_id", .type = CTP_U64, .role = CTP_ROLE_PROBE},
		{.name = "tid", .type = CTP_U64, .role = CTP_ROLE_THREAD},
		{.name = "addr", .type = CTP_U64, .role = CTP_ROLE_ADDRESS},
		{.name = "seq", .type = CTP_U64, .role = CTP_ROLE_SEQUENCE},
		{.name = "is_active", .type = CTP_BOOL, .role = CTP_ROLE_STATE},
		{.name = "ts", .type = CTP_U64, .role = CTP_ROLE_TIME},
	};
	struct ctp_err err;
	begin(NULL);
	rows = ctp_class_new("row", CTP_KIND_TRANSITION, fields, 6, &err);
	if (!rows)
		abort();
	rows->id = CTP_EVENT_COUNT;
}

static void row(uint64_t probe, uint64_t tid, uint64_t addr, uint64_t seq, bool active, uint64_t ts)
{
	const struct ctp_record rec = {.cls = rows, .ts_ns = 0, .val = (const uint64_t[]){probe, tid, addr, seq, active, ts}};
	give(&f, &(struct ctp_batch){.rec = &rec, .n = 1});
}

static void rows_end(void)
{
	end();
	ctp_class_free(rows);
}

static void dialects(void)
{
	rows_begin();
	for (uint64_t k = 1; k <= 20; k++)
		row(77, 5, 1, k, k % 2, k);
	is_u64(f.counts.lost, 0, "a sequence that counts events shows no loss");
	row(77, 5, 1, 25, true, 30);
	is_u64(f.counts.lost, 0, "missing rows are counted by loss records, not by the follower");
	ok(strchr(so_far(), '!') == strrchr(so_far(), '!') && strstr(so_far(), "R77!"), "one span is not whole");
	rows_end();

	rows_begin();
	for (uint64_t k = 0; k < 24; k++)
		row(77, 5, 1, 2 * (k / 8 + 1), k % 2, k + 1);
	is_u64(f.counts.lost, 0, "a sequence that counts by two for each round of 8 slots shows no loss");
	ok(!strchr(so_far(), '!'), "all its spans are whole");
	row(77, 5, 1, 10, true, 30);
	ok(strchr(so_far(), '!') == strrchr(so_far(), '!') && strstr(so_far(), "R77!"),
	   "the span next to a missing round is not whole");
	rows_end();

	rows_begin();
	for (uint64_t k = 0; k < 9; k++)
		row(77, 5, 1, 2, k % 2, k + 1);
	row(77, 5, 1, 4, true, 10);
	is(so_far(), "S77 R77 S77 R77 S77 R77 S77 R77 L77! S77! L77! R77!",
	   "nine rows of one round are of several coroutines, and nothing is whole");
	is_u64(f.counts.lost, 0, "no number of lost events is invented");
	rows_end();

	rows_begin();
	row(0, 5, 1, 1238734, false, 1);
	row(77, 5, 1, 1, true, 1);
	row(77, 5, 1, UINT64_MAX, false, 2);
	row(77, 5, 1, UINT64_MAX - 1, false, 3);
	is(so_far(), "R77 L77! S77! L77! S77!", "implausible rows belong to no coroutine, or are next to a gap");
	rows_end();
}

static void runs(void)
{
	rows_begin();
	for (uint64_t k = 1; k <= 4; k++)
		row(77, 5, 1, k, k % 2, k);
	row(77, 5, 1, 1, true, 10);
	is(so_far(), "R77 S77 R77 S77 D77! R77", "a probe whose sequence begins again is another coroutine");
	is_u64(f.counts.coroutines, 2, "it counts as one coroutine more");
	row(77, 5, 1, 2, false, UINT64_C(100000000000));
	ok(!strchr(so_far(), '|'), "silence alone does not end a section");
	row(78, 5, 1, 1, true, UINT64_C(200000000000));
	row(79, 6, 1, 1, true, UINT64_C(200000000001));
	ok(!strchr(so_far(), '|'), "a new thread alone does not end a section");
	row(77, 7, 1, 1, true, UINT64_C(300000000000));
	ok(strstr(so_far(), "|.R77"), "silence and a new thread together do");
	is_u64(f.counts.coroutines, 1, "no coroutine of the earlier section is left");
	rows_end();
}

enum { MS = 1000000 };

/* A run of two threads, 5 and 6, in which coroutine 77 stays suspended; from_ns on, rows of others follow. */
static void first_run(void)
{
	rows_begin();
	row(77, 5, 1, 1, true, 1);
	row(78, 6, 1, 1, true, 2);
	row(77, 5, 1, 2, false, 3);
	row(78, 6, 1, 2, false, 4);
	row(78, 6, 1, 3, true, 5);
}

static void close_runs(void)
{
	first_run();
	row(177, 15, 1, 1, true, 200 * MS);
	row(178, 16, 1, 1, true, 201 * MS);
	row(178, 16, 1, 2, false, 202 * MS);
	end();
	is(so_far(), "R77 R78 S77 S78 R78|.R177 R178 S178|", "threads and coroutines that are all others are another run");
	ctp_class_free(rows);

	first_run();
	row(77, 15, 1, 1, true, 200 * MS);
	end();
	is(so_far(), "R77 R78 S77 S78 R78|.R77|", "also if it has the address of a coroutine from before");
	ctp_class_free(rows);

	first_run();
	row(177, 15, 1, 1, true, 200 * MS);
	row(277, 25, 1, 1, true, 400 * MS);
	row(178, 15, 1, 1, true, 600 * MS);
	end();
	is(so_far(), "R77 R78 S77 S78 R78|.R177 R277 R178|", "a new thread is none if an earlier one goes on after it");
	ctp_class_free(rows);

	first_run();
	row(177, 15, 1, 1, true, 200 * MS);
	row(79, 6, 1, 1, true, 201 * MS);
	row(178, 15, 1, 1, true, 202 * MS);
	end();
	is(so_far(), "R77 R78 S77 S78 R78 R177 R79 R178|", "no other run: a thread goes on that ran before");
	is_u64(f.other_run_ns, 0, "and there is no doubt about that");
	ctp_class_free(rows);
}

/* What is doubtful is one run, and says from when on. */
static void doubtful_runs(void)
{
	first_run();
	row(177, 15, 1, 1, true, 200 * MS);
	row(77, 15, 1, 3, true, 201 * MS);
	is(so_far(), "R77 R78 S77 S78 R78 R177 R77", "no other run: a coroutine goes on that ran before");
	is_u64(f.other_run_ns, 0, "and there is no doubt about that, either");
	rows_end();

	first_run();
	row(177, 15, 1, 1, true, 50 * MS);
	end();
	is(so_far(), "R77 R78 S77 S78 R78 R177|", "with less of a pause it is one run");
	ctp_class_free(rows);

	first_run();
	row(177, 15, 1, 1, true, 200 * MS);
	row(178, 15, 1, 9, true, 201 * MS);
	for (uint64_t i = 0; i < 70000; i++)
		row(177, 15, 1, 2 + i, i % 2, 202 * MS + i);
	is_u64(f.other_run_ns, 200 * MS, "a coroutine that does not begin with its first event makes it doubtful");
	ok(!strchr(so_far(), '|'), "so it is one run");
	row(79, 6, 1, 1, true, 300 * MS);
	is_u64(f.other_run_ns, 0, "until a thread from before goes on");
	rows_end();
}

int main(void)
{
	dialects();
	runs();
	close_runs();
	doubtful_runs();
	return done_testing();
}
