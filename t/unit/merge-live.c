/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * merge-live.c - ctp-merge reads pipes in which little or nothing happens. At any time, all records from before the least of their
 * last marks come out, in order, although the pipes stay open. If the merge waits for more, nothing ends this test but the alarm.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "merge/merge.h"
#include "packets.h"
#include "stream/order.h"
#include "tap.h"

enum { PIPES = 3, STEPS = 300, PATH_BYTES = 32, RECORDS_MAX = STEPS * 4, ALARM_S = 300 };

struct source {
	int fd;
	struct ctp_writer *writer;
	uint64_t last_ns, mark_ns; /* no record is older than the mark */
};

static struct ctp_class *cls;
static struct source sources[PIPES];
static char paths[PIPES][PATH_BYTES];
static struct { uint64_t ts_ns; unsigned source; } expected[RECORDS_MAX], got[RECORDS_MAX]; /* got: as it came */
static unsigned put, taken;
static int merged[2];

static bool write_all(void *arg, const void *packet, size_t len)
{
	return write(((struct source *)arg)->fd, packet, len) == (ssize_t)len;
}

static void open_source(unsigned i)
{
	struct ctp_err err;
	struct ctp_section sec;
	int ends[2];
	if (pipe(ends))
		abort();
	snprintf(paths[i], sizeof paths[i], "/dev/fd/%d", ends[0]);
	sources[i] = (struct source){.fd = ends[1]};
	sources[i].writer = ctp_writer_new(write_all, &sources[i], &err);
	ctp_section_init(&sec);
	ctp_section_add(&sec, "clock", "monotonic");
	ctp_section_add(&sec, "boot_id", "b");
	ctp_writer_begin(sources[i].writer, &sec);
	ctp_section_fini(&sec);
	ctp_writer_flush(sources[i].writer);
}

static void *run_merge(void *arg)
{
	struct ctp_err err;
	struct ctp_output out;
	struct ctp_merge_stats stats;
	char *files[PIPES + 1] = {paths[0], paths[1], paths[2], NULL};
	static char failed[] = "failed";
	(void)arg;
	bool ok = !ctp_output_fd(&out, merged[1], "merged", &err) && !ctp_merge(files, &out, NULL, NULL, &stats, &err) &&
	          !ctp_output_close(&out, &err) && stats.sections == PIPES && !stats.late;
	close(merged[1]);
	return ok ? NULL : failed;
}

/* Some records, or none, and a mark. */
static void add(unsigned i)
{
	struct source *s = &sources[i];
	s->last_ns = s->last_ns > s->mark_ns ? s->last_ns : s->mark_ns;
	for (uint64_t n = rnd() % 4; n > 0 && put < RECORDS_MAX; n--) {
		s->last_ns += rnd() % 3 * (rnd() % 50);
		put_event(s->writer, cls, s->last_ns + 1, 0);
		expected[put].ts_ns = s->last_ns + 1;
		expected[put++].source = i;
		if (rnd() % 4 == 0)
			ctp_writer_flush(s->writer);
	}
	s->mark_ns = (s->last_ns > s->mark_ns ? s->last_ns : s->mark_ns) + 1 + rnd() % 40 - rnd() % 2;
	ctp_writer_mark(s->writer, s->mark_ns);
	ctp_writer_flush(s->writer);
}

/* How many records are older than all that may still come. */
static unsigned due(void)
{
	uint64_t least = UINT64_MAX;
	unsigned n = 0;
	for (unsigned i = 0; i < PIPES; i++)
		least = sources[i].mark_ns < least ? sources[i].mark_ns : least;
	for (unsigned i = 0; i < put; i++)
		n += expected[i].ts_ns < least;
	return n;
}

static void take(const struct ctp_record *rec)
{
	int origin = ctp_class_role(rec->cls, CTP_ROLE_ORIGIN);
	if (rec->cls->kind != CTP_KIND_TRANSITION || taken == RECORDS_MAX)
		return;
	got[taken].ts_ns = rec->ts_ns;
	got[taken++].source = (unsigned)rec->val[origin] - 1;
}

/* Takes records until n are there; with end, until the streams have ended, and notes how. */
static bool read_until(struct ctp_order *o, unsigned n, struct ctp_section_end *end)
{
	struct ctp_item item;
	struct ctp_err err;
	while (taken < n || end) {
		enum ctp_status status = ctp_order_next(o, &item, &err);
		if (status)
			return end && status == CTP_EOF;
		for (uint32_t i = 0; item.kind == CTP_ITEM_RECORDS && i < item.batch.n; i++)
			take(&item.batch.rec[i]);
		if (end && item.kind == CTP_ITEM_END)
			*end = item.end;
	}
	return true;
}

/* Those of one source came in the order in which they were put, and all by time and then by source. */
static bool in_order(void)
{
	bool right = true;
	for (unsigned i = 1; i < taken; i++)
		right &= got[i - 1].ts_ns != got[i].ts_ns ? got[i - 1].ts_ns < got[i].ts_ns : got[i - 1].source <= got[i].source;
	for (unsigned i = 0; i < PIPES; i++) {
		unsigned k = 0;
		for (unsigned e = 0; e < put; e++) {
			if (expected[e].source != i)
				continue;
			while (k < taken && got[k].source != i)
				k++;
			right &= k < taken && got[k++].ts_ns == expected[e].ts_ns;
		}
	}
	return right && taken == put;
}

int main(void)
{
	struct ctp_err err;
	struct ctp_input in;
	struct ctp_section_end end = {.complete = false};
	pthread_t thread;
	char path[PATH_BYTES];
	void *failed;
	bool live = true;
	unsigned early = 0;
	alarm(ALARM_S);
	cls = ctp_event_class(CTP_TRANSITION);
	for (unsigned i = 0; i < PIPES; i++)
		open_source(i);
	if (pipe(merged) || pthread_create(&thread, NULL, run_merge, NULL))
		abort();
	snprintf(path, sizeof path, "/dev/fd/%d", merged[0]);
	if (ctp_input_open(&in, path, &err))
		abort();
	struct ctp_reader *r = ctp_reader_new(&in, NULL, &err);
	struct ctp_order *o = ctp_order_new(r, 0, &err);
	for (unsigned i = 0; i < STEPS && live; i++) {
		add((unsigned)(rnd() % (i % 20 < 10 ? PIPES : PIPES - 1))); /* the last one is silent for some time */
		live = read_until(o, due(), NULL);
		early = taken < put ? taken : early;
	}
	ok(live, "all records from before the least mark come out, while the pipes are open");
	ok(put > STEPS && early > put / 2, "there were %u of %u", early, put);
	for (unsigned i = 0; i < PIPES; i++) {
		ctp_writer_end(sources[i].writer, true);
		ctp_writer_free(sources[i].writer);
		close(sources[i].fd);
	}
	ok(read_until(o, put, &end) && end.complete, "the merged section is complete");
	ok(!pthread_join(thread, &failed) && !failed, "the merge ends well, and no record is late");
	ok(!ctp_reader_stats(r)->late, "none is for a reader of the merge");
	ok(in_order(), "records are in order, by time and then by input, and none is missing: %u of %u", taken, put);
	ctp_order_free(o);
	ctp_reader_free(r);
	ctp_input_close(&in);
	ctp_class_free(cls);
	return done_testing();
}
