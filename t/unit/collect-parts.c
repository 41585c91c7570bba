/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* Parts of the collector that need no target: pace, rows, build-ids of hostile files, the queue to a slow or broken output. */
#include <elf.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collect/buildid.h"
#include "collect/collect.h"
#include "collect/pace.h"
#include "collect/row-sort.h"
#include "io/outqueue.h"
#include "tap.h"

static const uint64_t MS = 1000000;

static void look_often(struct ctp_pace *p, struct ctp_look look, uint64_t now)
{
	for (int i = 0; i < 100; i++)
		ctp_pace_found(p, &look, now);
}

static void test_pace(void)
{
	struct ctp_pace p = {0};
	uint64_t now = 1000 * MS;
	look_often(&p, (struct ctp_look){.found = 1, .busiest = 1}, now);
	struct ctp_rest rest = ctp_pace_next(&p, true, now);
	uint64_t longest = rest.ns;
	ok(!rest.sleep && longest >= 100000 && longest <= 1000000, "with few events the collector naps, and sets no flag");
	look_often(&p, (struct ctp_look){.found = 4, .busiest = 4}, now);
	is_u64(ctp_pace_next(&p, true, now).ns, longest, "a half-full station changes nothing");
	ctp_pace_found(&p, &(struct ctp_look){.found = 5, .busiest = 5}, now);
	uint64_t shorter = ctp_pace_next(&p, true, now).ns;
	ok(shorter && shorter < longest, "a station that is more than half full shortens the nap");
	look_often(&p, (struct ctp_look){.found = 8, .busiest = 8}, now);
	is_u64(ctp_pace_next(&p, true, now).ns, 0, "a full station means no nap");
	look_often(&p, (struct ctp_look){.found = 0}, now);
	is_u64(ctp_pace_next(&p, true, now).ns, longest, "the naps return when it is calm");

	now += 3 * MS;
	rest = ctp_pace_next(&p, true, now);
	ok(rest.sleep && !rest.sweep && rest.ns == 10 * MS,
	   "after a quiet while it sets the flag, looks at hot stations and sleeps 10 ms");
	rest = ctp_pace_next(&p, true, now);
	ok(rest.sleep && rest.sweep && rest.ns == 10 * MS, "then it looks at all stations");
	is_u64(ctp_pace_next(&p, true, now).ns, 100 * MS, "it sleeps longer and longer");
	for (int i = 0; i < 100; i++)
		rest = ctp_pace_next(&p, true, now);
	ok(rest.sleep && rest.sweep && rest.ns == 1000 * MS, "it sleeps a second at most");
	ok(ctp_pace_next(&p, false, now).ns <= 20 * MS, "it sleeps briefly if nobody could wake it");
	ctp_pace_found(&p, &(struct ctp_look){.doubt = true}, now);
	rest = ctp_pace_next(&p, true, now);
	ok(rest.sleep && rest.ns == 10 * MS, "it sleeps briefly while something is in doubt");
	ctp_pace_found(&p, &(struct ctp_look){.found = 0}, now);
	is_u64(ctp_pace_next(&p, true, now).ns, 1000 * MS, "it sleeps a second again when nothing is in doubt");
	ctp_pace_found(&p, &(struct ctp_look){.found = 1, .busiest = 1}, now);
	ok(!ctp_pace_next(&p, true, now).sleep, "an event makes it busy again");
	is_u64(ctp_pace_next(&p, true, now).ns, 0, "at first it does not nap");
}

static void test_pace_rings(void)
{
	struct ctp_pace p = {0};
	uint64_t now = 1000 * MS;
	look_often(&p, (struct ctp_look){.found = 1}, now);
	uint64_t calm = ctp_pace_next(&p, true, now).ns;
	look_often(&p, (struct ctp_look){.found = 1, .fill = 70}, now);
	uint64_t quarter = ctp_pace_next(&p, true, now).ns;
	look_often(&p, (struct ctp_look){.found = 1, .fill = 140}, now);
	ok(calm >= 1 * MS && quarter < calm && quarter && !ctp_pace_next(&p, true, now).ns,
	   "the fuller the rings, the shorter the nap");
	look_often(&p, (struct ctp_look){.found = 1, .more = true}, now);
	is_u64(ctp_pace_next(&p, true, now).ns, 0, "it does not nap while there is more to read");

	/* An event every 8 ms, 125 a second, and then every 5.5 ms, 180 a second: the second kind may not all wake us. */
	unsigned woken[2] = {0};
	for (int rate = 0; rate < 2; rate++) {
		uint64_t step = rate ? 5500000 : 8 * MS, stop = now + 10000 * MS;
		for (; now < stop; now += step) {
			ctp_pace_found(&p, &(struct ctp_look){.found = 1}, now);
			if (ctp_pace_next(&p, true, now + step - 1000).sleep) {
				woken[rate]++;
				ctp_pace_woken(&p, now + step);
			}
		}
	}
	ok(woken[0] > 1200 && woken[1] <= 10 * 160 + 20, "wake bytes are limited (%u and %u in 10 s)", woken[0], woken[1]);
}

static void test_line(void)
{
	struct ctp_collect_result r = {.stats = {.events = 5, .lost = 7, .rings = 1}};
	char line[CTP_COLLECT_LINE_MAX];
	ctp_collect_line(&r, line);
	ok(strstr(line, "7 lost (--ring or --lossless would help), 0 untraced"),
	   "losses of rings: the line names the options that help");
	r.stats.overwritten = 3;
	ctp_collect_line(&r, line);
	ok(strstr(line, "7 lost (--ring or --lossless would help against 4 of them),"),
	   "losses of rings and stations: the line says how many the options help against");
	r.stats.overwritten = 7;
	ctp_collect_line(&r, line);
	ok(strstr(line, "7 lost (a station of version 1 holds 8: a probe with rings, as ctp.h, would help),"),
	   "losses of stations: the line does not suggest larger rings");
	r.stats.rings = 0;
	ctp_collect_line(&r, line);
	ok(strstr(line, "a probe with rings"), "without rings, the line does not suggest larger ones");
	r.stats = (struct ctp_harvest_stats){.events = UINT64_MAX, .lost = UINT64_MAX, .overwritten = 1, .unverified = UINT64_MAX,
	                                     .missed = UINT64_MAX, .untraced = UINT64_MAX, .births = UINT64_MAX, .rings = 1};
	r.broken = true;
	ctp_collect_line(&r, line);
	ok(strstr(line, "NOT complete"), "the longest line fits");
	r = (struct ctp_collect_result){.stats = {.lost = 7, .ringless = 7, .rings = 8192}, .max_rings = 8192};
	ctp_collect_line(&r, line);
	ok(strstr(line, "7 lost (of threads beyond the 8192 that have a ring),"),
	   "losses of threads without a ring: the line suggests no option");
	r.max_rings = 64;
	ctp_collect_line(&r, line);
	ok(strstr(line, "7 lost (of threads beyond the 64 that have a ring: a smaller --ring, or more of ulimit -v, would help),"),
	   "with few rings, the line suggests room for more");
	r.stats.rings = 3;
	ctp_collect_line(&r, line);
	ok(strstr(line, "7 lost (of threads without a ring: no memory; make room for --shm, or a smaller --ring)"),
	   "without memory for rings, the line suggests more memory");
	r.stats.rings = 8192;
	r.stats.ringless = 6;
	ctp_collect_line(&r, line);
	ok(strstr(line, "7 lost (--ring or --lossless would help),"),
	   "if other threads lost events too, the line says what helps them");
	r.stats = (struct ctp_harvest_stats){.events = 5};
	ctp_collect_line(&r, line);
	ok(!strstr(line, "help"), "without losses the line suggests nothing");
}

static void test_buildid(void)
{
	uint8_t id[CTP_BUILD_ID_MAX], again[CTP_BUILD_ID_MAX];
	static uint8_t image[8192], bent[8192];
	const void *vdso = (const void *)getauxval(AT_SYSINFO_EHDR);
	size_t len = vdso ? ctp_buildid_image(vdso, 4096, id) : 0;
	ok(!vdso || len == 20, "the vdso has a build-id");
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, image, sizeof(image));
	len = ctp_buildid_file(fd, id);
	close(fd);
	ok(n == sizeof(image) && len && ctp_buildid_image(image, sizeof(image), again) == len && !memcmp(id, again, len),
	   "a file and its beginning in memory have the same build-id");
	size_t wrong = 0;
	for (size_t cut = 0; cut < sizeof(image); cut++) {
		size_t got = ctp_buildid_image(image, cut, again);
		wrong += got && (got != len || memcmp(id, again, len));
	}
	is_u64(wrong, 0, "an image cut anywhere has the same build-id or none");
	for (size_t at = 0; at < 1024; at++) {
		memcpy(bent, image, sizeof(bent));
		for (unsigned v = 0; v < 256; v += 15) {
			bent[at] = (uint8_t)v;
			wrong += ctp_buildid_image(bent, sizeof(bent), again) > CTP_BUILD_ID_MAX;
		}
	}
	is_u64(wrong, 0, "an image with any byte changed has no build-id beyond the limit");
	memset(bent, 0xff, sizeof(bent));
	memcpy(bent, image, EI_NIDENT);
	is_u64(ctp_buildid_image(bent, sizeof(bent), again), 0, "an image full of absurd numbers has no build-id");
}

static bool wait_ready(struct ctp_outqueue *q)
{
	struct pollfd p = {.fd = ctp_outqueue_fd(q), .events = POLLIN};
	return poll(&p, 1, 60000) == 1;
}

static void test_queue(void)
{
	enum { PACKET = 100003, PACKETS = 3000 };
	static uint8_t packet[PACKET], back[PACKET];
	struct ctp_output out;
	struct ctp_err err;
	int fds[2];
	if (pipe(fds) || ctp_output_fd(&out, fds[1], "pipe", &err))
		exit(1);
	struct ctp_outqueue *q = ctp_outqueue_new(&out, &err);
	/* Nobody reads yet: it fills to half its size, and reports that. In all, four times its size goes through. */
	unsigned put = 0, got = 0;
	bool good = true;
	while (!ctp_outqueue_tight(q)) {
		memset(packet, (int)(put++ % 251), PACKET);
		good &= ctp_outqueue_put(q, packet, PACKET);
	}
	ok(good && put > 300 && put < 700, "a queue without a reader reports that it is half full");
	FILE *in = fdopen(fds[0], "r");
	for (; got < PACKETS && good; got++) {
		good &= fread(back, 1, PACKET, in) == PACKET && back[0] == got % 251 && !memcmp(back, back + 1, PACKET - 1);
		if (put < PACKETS) {
			uint8_t *at = got % 3 ? ctp_outqueue_room(q) : packet; /* made in the ring, or copied to it */
			memset(at, (int)(put++ % 251), PACKET);
			good &= ctp_outqueue_put(q, at, PACKET);
		}
	}
	ok(good && got == PACKETS, "everything arrives, in order");
	ctp_outqueue_finish(q);
	ok(wait_ready(q), "the queue signals that all is written");
	ok(ctp_outqueue_close(q, &err) == CTP_OK, "the close reports no failure");

	ctp_output_fd(&out, fds[1], "pipe", &err);
	q = ctp_outqueue_new(&out, &err);
	while (!ctp_outqueue_tight(q))
		ctp_outqueue_put(q, packet, PACKET);
	fclose(in); /* the thread is in a write to it */
	ok(wait_ready(q), "the queue signals a closed pipe on its own");
	while (ctp_outqueue_put(q, packet, PACKET))
		;
	ok(!ctp_outqueue_put(q, ctp_outqueue_room(q), PACKET), "after that a put fails without waiting");
	ok(ctp_outqueue_close(q, &err) == CTP_FAILED && strstr(err.text, "Broken pipe"),
	   "the close reports the broken pipe: %s", err.text);
	close(fds[1]);
}

/* Packets as large as can be, more of them than the queue holds. */
enum { LARGE_PACKETS = 70 };

static void *read_large(void *arg)
{
	static uint8_t back[CTP_OUTQUEUE_ROOM];
	FILE *in = arg;
	unsigned got = 0;
	for (; got < LARGE_PACKETS; got++) {
		size_t len = CTP_OUTQUEUE_ROOM - got;
		if (fread(back, 1, len, in) != len || back[0] != got || memcmp(back, back + 1, len - 1))
			break;
	}
	while (fread(back, 1, sizeof back, in))
		;
	return (void *)(uintptr_t)got;
}

static void test_queue_laps(void)
{
	struct ctp_output out;
	struct ctp_err err;
	int fds[2];
	if (pipe(fds) || ctp_output_fd(&out, fds[1], "pipe", &err))
		exit(1);
	struct ctp_outqueue *q = ctp_outqueue_new(&out, &err);
	FILE *in = fdopen(fds[0], "r");
	pthread_t reader;
	void *got;
	pthread_create(&reader, NULL, read_large, in);
	for (unsigned put = 0; put < LARGE_PACKETS; put++) {
		uint8_t *at = ctp_outqueue_room(q);
		memset(at, (int)put, CTP_OUTQUEUE_ROOM);
		ctp_outqueue_put(q, at, CTP_OUTQUEUE_ROOM - put);
	}
	ctp_outqueue_finish(q);
	ok(wait_ready(q) && ctp_outqueue_close(q, &err) == CTP_OK, "a queue that is full makes its writer wait");
	close(fds[1]);
	pthread_join(reader, &got);
	is_u64((uintptr_t)got, LARGE_PACKETS, "no packet overwrites another");
	fclose(in);
}

static void test_rows(void)
{
	uint32_t most = 0;
	for (int e = 0; e < CTP_EVENT_COUNT; e++) {
		struct ctp_class *cls = ctp_event_class(e);
		bool waits = e != CTP_END && e < CTP_ORIGIN; /* those after it are not the collector's */
		most = waits && cls->nfields > most ? cls->nfields : most;
		ctp_class_free(cls);
	}
	is_u64(sizeof(struct ctp_row), most * sizeof(uint64_t), "a row has room for exactly the longest record that waits in it");
}

/*
 * Sorts rows that come in `runs` ascending runs, and a shorter one if count is no multiple. Returns how many rows are out of order then;
 * rows of the same time must keep their order.
 */
static unsigned unsorted(struct ctp_row_sort *sort, uint32_t count, uint32_t runs)
{
	const uint64_t now = 1000000 * MS;
	unsigned wrong = 0;
	sort->count = count;
	for (uint32_t i = 0; i < sort->count; i++)
		sort->ts_ns[i] = now + i % (sort->count / runs) * 10 - i / (sort->count / runs) % 2;
	ctp_row_sort_sort(sort, now);
	for (uint32_t i = 1; i < sort->count; i++) {
		uint32_t before = ctp_row_sort_at(sort, i - 1), at = ctp_row_sort_at(sort, i);
		wrong += sort->ts_ns[before] > sort->ts_ns[at] || (sort->ts_ns[before] == sort->ts_ns[at] && before >= at);
	}
	return wrong;
}

static void test_row_sort(void)
{
	struct ctp_row_sort sort;
	struct ctp_err err;
	unsigned wrong = 0;
	if (ctp_row_sort_init(&sort, &err))
		exit(1);
	for (uint32_t runs = 1; runs <= 500; runs++)
		wrong += unsorted(&sort, 1000, runs);
	for (uint32_t count = 900; count < 1000; count++)
		for (uint32_t runs = 2; runs <= 10; runs++)
			wrong += unsorted(&sort, count, runs);
	is_u64(wrong, 0, "rows are sorted, however many runs they come in");
	ctp_row_sort_fini(&sort);
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	test_pace();
	test_pace_rings();
	test_rows();
	test_row_sort();
	test_line();
	test_buildid();
	test_queue();
	test_queue_laps();
	return done_testing();
}
