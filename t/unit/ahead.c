/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* ahead.c - a file that a thread reads ahead gives the sink the same calls, notices and errors as one that the caller reads. */
#include "stream/ahead.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "packets.h"
#include "stream/sink.h"
#include "tap.h"

enum { EVENTS = 200000 };

static char path[] = "/tmp/ctp-ahead.XXXXXX";
static cpu_set_t cpus;

/* A sum over all calls of a sink, and over all notices. */
struct watcher {
	struct ctp_sink sink;
	pthread_t caller;
	uint32_t sum, notices_sum;
	uint64_t sections, records, late, ends, notices;
	uint64_t fails_at; /* the sink fails at this record */
	uint64_t strange;  /* calls from another thread, or during another call */
	unsigned calls;    /* that go on */
	uint64_t by_thread; /* notices */
	uint64_t done_bytes;
};

static void enter(struct watcher *w) { w->strange += !pthread_equal(pthread_self(), w->caller) || w->calls++; }

static void add(struct watcher *w, const void *data, size_t len) { w->sum = ctp_crc32c(w->sum, data, len); }

static enum ctp_status section(struct ctp_sink *sink, const struct ctp_section *sec, struct ctp_err *err)
{
	struct watcher *w = (struct watcher *)sink;
	(void)err;
	enter(w);
	w->sections++;
	for (uint32_t i = 0; i < sec->nattrs; i++)
		add(w, sec->attrs[i].value, strlen(sec->attrs[i].value) + 1);
	w->calls--;
	return CTP_OK;
}

static void add_record(struct watcher *w, const struct ctp_record *rec, bool late)
{
	add(w, &(uint64_t[]){rec->ts_ns, rec->cls->id, late}, 3 * sizeof(uint64_t));
	for (uint32_t i = 0; i < rec->cls->nfields; i++) {
		const struct ctp_str *s = ctp_type_is_text(rec->cls->fields[i].type) ? ctp_str_val(rec->val[i]) : NULL;
		if (s)
			add(w, s->data, s->len + 1);
		else
			add(w, &rec->val[i], sizeof rec->val[i]);
	}
}

static enum ctp_status records(struct ctp_sink *sink, const struct ctp_batch *batch, struct ctp_err *err)
{
	struct watcher *w = (struct watcher *)sink;
	enum ctp_status status = CTP_OK;
	enter(w);
	for (uint32_t i = 0; i < batch->n && !status; i++, w->records++) {
		add_record(w, &batch->rec[i], batch->late);
		w->late += batch->late;
		if (w->fails_at && w->records == w->fails_at)
			status = ctp_err_set(err, "the disk is full");
	}
	w->calls--;
	return status;
}

static enum ctp_status end(struct ctp_sink *sink, const struct ctp_section_end *how, struct ctp_err *err)
{
	struct watcher *w = (struct watcher *)sink;
	(void)err;
	enter(w);
	w->ends++;
	add(w, &(uint64_t[]){how->complete, how->missing}, 2 * sizeof(uint64_t));
	w->calls--;
	return CTP_OK;
}

/* From either thread: a notice must not come while the sink is called. */
static void say(void *arg, const char *text)
{
	struct watcher *w = arg;
	w->strange += w->calls++;
	w->notices++;
	w->by_thread += !pthread_equal(pthread_self(), w->caller);
	w->notices_sum = ctp_crc32c(w->notices_sum, text, strlen(text) + 1);
	w->calls--;
}

static void tick(void *arg, const struct ctp_input *in, uint64_t n)
{
	struct watcher *w = arg;
	uint64_t done, total;
	(void)n;
	enter(w);
	ctp_input_progress(in, &done, &total);
	w->strange += done < w->done_bytes || done > total;
	w->done_bytes = done;
	w->calls--;
}

struct told {
	enum ctp_status status;
	struct watcher w;
	struct ctp_convert_stats stats;
	struct ctp_err err;
};

/* Replaces the file under the input's descriptor: the read after the first megabyte fails. */
static void break_input(struct ctp_input *in)
{
	ctp_input_fill(in, 1 << 20);
	int folder = open("/tmp", O_RDONLY | O_DIRECTORY);
	for (int fd = 3; fd < 64; fd++) {
		char link[64], to[4096];
		snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
		ssize_t len = readlink(link, to, sizeof to - 1);
		if (len > 0 && (size_t)len == strlen(path) && !memcmp(to, path, (size_t)len) && dup2(folder, fd) < 0)
			abort();
	}
	close(folder);
}

static struct told convert(bool alone, uint64_t fails_at, bool breaks)
{
	static const struct ctp_sink_ops ops = {.section = section, .records = records, .end = end};
	struct told t = {.w = {.sink.ops = &ops, .caller = pthread_self(), .fails_at = fails_at}};
	struct ctp_input in;
	cpu_set_t one = cpus;
	for (int i = 0, n = 0; alone && i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &cpus) && n++)
			CPU_CLR(i, &one);
	if (sched_setaffinity(0, sizeof one, &one) || ctp_input_open(&in, path, &t.err))
		abort();
	if (breaks)
		break_input(&in);
	const struct ctp_notice notice = {.say = say, .arg = &t.w};
	const struct ctp_tick ticks = {.tick = tick, .arg = &t.w};
	t.status = ctp_convert(&in, &t.w.sink, &notice, &ticks, &t.stats, &t.err);
	ctp_input_close(&in);
	return t;
}

static void same(const char *what, uint64_t fails_at, bool breaks)
{
	struct told one = convert(true, fails_at, breaks), two = convert(false, fails_at, breaks);
	ok(one.status == two.status && (!one.status || !strcmp(one.err.text, two.err.text)),
	   "%s: both reads end the same way", what);
	ok(one.status == (fails_at || breaks ? CTP_FAILED : CTP_OK) && one.w.records > 0, "that end is the expected one");
	is_u64(two.w.records, one.w.records, "both give as many records");
	ok(two.w.sections == one.w.sections && two.w.ends == one.w.ends && two.w.late == one.w.late && two.w.sum == one.w.sum,
	   "all records are the same");
	if (!fails_at)
		ok(two.w.notices == one.w.notices && two.w.notices_sum == one.w.notices_sum &&
		   !memcmp(&two.stats.reader, &one.stats.reader, sizeof two.stats.reader), "notices and statistics are the same");
	is_u64(two.w.strange, 0, "the sink is called by one thread, one call at a time");
}

static void write_file(const struct mem *m)
{
	int fd = open(path, O_WRONLY | O_TRUNC);
	if (m->len < CTP_AHEAD_PAYS || fd < 0 || write(fd, m->data, m->len) != (ssize_t)m->len)
		abort();
	close(fd);
}

/* Shape of a stream: marks lag by `lag`, one record in `lates` is late, one in `names` is a text, one in `each` ends a section. */
struct way {
	const char *what;
	uint64_t mark_each, lag, lates, names, each;
};

static void make(struct mem *m, const struct way *way)
{
	struct ctp_class *cls = ctp_event_class(CTP_TRANSITION), *name = ctp_event_class(CTP_NAME);
	struct ctp_str *text = malloc(sizeof *text + 2000);
	struct ctp_writer *w = begin(m, way->what);
	for (uint64_t i = 0; i < EVENTS; i++) {
		uint64_t ts = 1000000 + 10 * i + rnd() % 30;
		if (way->lates && rnd() % way->lates == 0)
			ts -= 500000;
		put_event(w, cls, ts, rnd());
		if (way->names && rnd() % way->names == 0) {
			text->len = (uint32_t)(rnd() % 2000);
			memset(text->data, 'a' + (int)(rnd() % 26), text->len);
			text->data[text->len] = 0;
			ctp_writer_record(w, name, (uint64_t[CTP_NAME_FIELDS]){[CTP_NAME_TS] = ts, [CTP_NAME_TEXT] = ctp_val_str(text)});
		}
		if (way->mark_each && i % way->mark_each == 0 && i > way->lag)
			ctp_writer_mark(w, 1000000 + 10 * (i - way->lag));
		if (way->each && i % way->each == way->each - 1) {
			ctp_writer_end(w, true);
			ctp_writer_free(w);
			w = begin(m, "another");
		}
	}
	ctp_writer_end(w, true);
	ctp_writer_free(w);
	ctp_class_free(cls);
	ctp_class_free(name);
	free(text);
}

static void damage(struct mem *m)
{
	for (int i = 0; i < 8; i++)
		m->data[rnd() % m->len] ^= 0x55;
	m->len -= 1000;
	write_file(m);
}

int main(void)
{
	static const struct way ways[] = {
		{.what = "marks", .mark_each = 1000},
		{.what = "a mark for each few", .mark_each = 7},
		{.what = "marks that lag behind", .mark_each = 100, .lag = 30000},
		{.what = "no marks"},
		{.what = "late records", .mark_each = 1000, .lates = 3000},
		{.what = "texts", .mark_each = 500, .names = 50},
		{.what = "many sections", .mark_each = 300, .each = 5000},
	};
	struct mem m = {0};
	int fd = mkstemp(path);
	if (fd < 0 || sched_getaffinity(0, sizeof cpus, &cpus))
		abort();
	close(fd);
	alarm(300); /* a deadlock would last for ever */
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		m.len = m.npackets = 0;
		make(&m, &ways[i]);
		write_file(&m);
		same(ways[i].what, 0, false);
		damage(&m);
		same("the same with damage", 0, false);
	}
	m.len = m.npackets = 0;
	make(&m, &ways[0]);
	write_file(&m);
	same("a sink that fails", EVENTS / 3, false);
	same("a sink that fails at once", 1, false);
	same("a read that fails", 0, true);
	damage(&m);
	same("damage, and a sink that fails", EVENTS / 10, false);
	struct told told = convert(false, 0, false);
	ok(told.w.notices && told.stats.harmed, "the damage is reported");
	ok(told.w.by_thread == (CPU_COUNT(&cpus) > 1 ? told.w.notices : 0),
	   "the thread reports it if there is more than one processor");
	unlink(path);
	free(m.data);
	return done_testing();
}
