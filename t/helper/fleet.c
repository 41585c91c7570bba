/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * fleet.c - traces of many machines that nobody has, and what is in them.
 *
 *	fleet write EVENTS HOST SECTION          one section as a raw stream on stdout
 *	fleet know EVENTS HOSTS SECTIONS         what the sections 0 .. SECTIONS-1 of the hosts 0 .. HOSTS-1 have
 *
 * The same numbers give the same section. A section is a server: an acceptor starts 4 dispatchers, and these start workers, which
 * live for a while. Each section has its own clock; some events are lost; in each 16th section a worker is never woken again; each
 * 97th section was cut by a collector that was killed.
 *
 * `know` answers the questions of ctp-scale(7) without a database and without the library's analysis: the simulation counts
 * while it goes. It prints a line for each answer, fields separated by tabs, the number of the question first. Of 1c, 2 and 4c, intervals
 * in which events were lost are left out, and of 3c coroutines that lost events later, as in ClickHouse's views; of 1, 3 and 4 they are
 * not. 2a is all of 2, without the limit.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/output.h"
#include "stream/events.h"
#include "stream/writer.h"

#define S UINT64_C(1000000000)

enum {
	COROS = 24,       /* alive at a time: the acceptor, the dispatchers, and workers */
	DISPATCHERS = 4,
	THREADS = 4,
	SITES = 8,
	GAP_NS = 300000000, /* between two events, about */
	TOP = 20,           /* rows of the questions that have a limit */
	MOST = 10,          /* and of the first question */
	PACKETS = 4,        /* of a section, about, so that one that is cut has some of its events */
};

struct coro {
	uint64_t id, parent, tid, index, lost, born_ns;
	bool active, woken, seen; /* seen: the last transition is in the stream; the rest is about that one: */
	bool was_active;
	bool told_lost;           /* a record after it says that events were lost */
	uint64_t site, ts, on;    /* where it suspended; when; its thread */
	uint64_t wakes, wake_ns;  /* how many came after it, and when the first did */
};

struct wait {
	uint64_t host, section, coro, site, ns;
};

struct latency {
	uint64_t site, hour_ns, wakes, sum_ns, max_ns;
};

/* What is known of all sections. */
static struct {
	uint64_t transitions, wakes, births, deaths, losses, lost, sections, cut, nlatencies;
	struct wait longest[MOST], longest_whole[MOST];
	struct latency latencies[4096];
	uint64_t graph[1 + COROS][1 + COROS]; /* wakes by the parents of both */
} known;

/* One section. w: null if only the answers are wanted. */
struct world {
	struct ctp_writer *w;
	struct ctp_class *transition, *birth, *death, *wake, *lost, *end;
	uint64_t rng, ts, host, section, next, events;
	struct coro coros[COROS];
	struct {
		uint64_t runs, busy_ns, whole_runs, whole_ns;
	} threads[THREADS];
};

static uint64_t draw(struct world *o, uint64_t below)
{
	o->rng ^= o->rng >> 12;
	o->rng ^= o->rng << 25;
	o->rng ^= o->rng >> 27;
	return (o->rng * UINT64_C(2685821657736338717) >> 33) % below;
}

static void put(struct world *o, const struct ctp_class *cls, const uint64_t *val)
{
	if (o->w)
		ctp_writer_record(o->w, cls, val);
}

static uint64_t probe_of(const struct coro *co) { return 0x7f0000000000 + co->id * 1264; }

/* --- answers -------------------------------------------------------------------------------------------------------------- */

static void know_wait(struct wait longest[MOST], const struct world *o, const struct coro *co, uint64_t ns)
{
	struct wait is = {o->host, o->section, co->id, co->site, ns};
	int at = MOST;
	while (at > 0 && longest[at - 1].ns < ns)
		at--;
	if (at == MOST)
		return;
	memmove(&longest[at + 1], &longest[at], (size_t)(MOST - 1 - at) * sizeof is);
	longest[at] = is;
}

static void know_latency(uint64_t site, uint64_t wake_ns, uint64_t ns)
{
	uint64_t hour_ns = wake_ns - wake_ns % (3600 * S), i = 0;
	while (i < known.nlatencies && (known.latencies[i].site != site || known.latencies[i].hour_ns != hour_ns))
		i++;
	if (i == sizeof known.latencies / sizeof *known.latencies)
		abort();
	struct latency *l = &known.latencies[i];
	known.nlatencies += i == known.nlatencies;
	*l = (struct latency){site, hour_ns, l->wakes + 1, l->sum_ns + ns, l->max_ns > ns ? l->max_ns : ns};
}

/* A transition that is in the stream follows the last one that is. whole: none between them was lost. */
static void know_transition(struct world *o, const struct coro *co, bool active, bool whole)
{
	uint64_t ns = o->ts - co->ts;
	known.transitions++;
	if (co->seen && !co->was_active)
		know_wait(known.longest, o, co, ns);
	if (co->seen && !co->was_active && whole)
		know_wait(known.longest_whole, o, co, ns);
	if (co->seen && co->was_active) {
		o->threads[co->on].runs++;
		o->threads[co->on].busy_ns += ns;
		o->threads[co->on].whole_runs += whole;
		o->threads[co->on].whole_ns += whole ? ns : 0;
	}
	if (co->seen && co->wakes && active && !co->was_active && whole)
		know_latency(co->site, co->wake_ns, o->ts - co->wake_ns);
}

/* --- events --------------------------------------------------------------------------------------------------------------- */

static void is_born(struct world *o, struct coro *co, uint64_t parent)
{
	*co = (struct coro){.id = o->next++, .parent = parent, .born_ns = o->ts, .tid = draw(o, THREADS)};
	known.births++;
	put(o, o->birth, (uint64_t[CTP_BIRTH_FIELDS]){
		[CTP_BIRTH_TS] = o->ts, [CTP_BIRTH_PROBE] = probe_of(co), [CTP_BIRTH_CORO] = co->id, [CTP_BIRTH_STATION] = co->id,
		[CTP_BIRTH_AFTER] = o->ts, [CTP_BIRTH_BEFORE] = o->ts, [CTP_BIRTH_PARENT] = parent, [CTP_BIRTH_SITE] = 1,
		[CTP_BIRTH_PID] = 1000 + o->section});
}

static void dies(struct world *o, struct coro *co)
{
	known.deaths++;
	put(o, o->death, (uint64_t[CTP_DEATH_FIELDS]){
		[CTP_DEATH_TS] = o->ts, [CTP_DEATH_PROBE] = probe_of(co), [CTP_DEATH_CORO] = co->id, [CTP_DEATH_AFTER] = o->ts,
		[CTP_DEATH_BEFORE] = o->ts});
	is_born(o, co, o->coros[1 + draw(o, DISPATCHERS)].id);
}

static void is_woken(struct world *o, struct coro *co)
{
	const struct coro *by = draw(o, 4) ? &o->coros[draw(o, COROS)] : NULL;
	co->woken = true;
	if (!co->wakes++)
		co->wake_ns = o->ts;
	known.wakes++;
	known.graph[by ? by->parent : 0][co->parent]++;
	put(o, o->wake, (uint64_t[CTP_WAKE_FIELDS]){
		[CTP_WAKE_TS] = o->ts, [CTP_WAKE_PROBE] = probe_of(co), [CTP_WAKE_CORO] = co->id, [CTP_WAKE_TID] = 40000 + draw(o, THREADS),
		[CTP_WAKE_BY] = by ? by->id : 0});
}

static void is_told_lost(struct world *o, struct coro *co)
{
	known.losses += co->lost > 0;
	known.lost += co->lost;
	if (co->lost)
		put(o, o->lost, (uint64_t[CTP_LOST_FIELDS]){
			[CTP_LOST_TS] = o->ts, [CTP_LOST_PROBE] = probe_of(co), [CTP_LOST_CORO] = co->id, [CTP_LOST_INDEX] = co->index - co->lost,
			[CTP_LOST_COUNT] = co->lost, [CTP_LOST_AFTER] = co->seen ? co->ts : co->born_ns});
	co->told_lost = co->lost > 0;
	co->lost = 0;
}

static void moves(struct world *o, struct coro *co)
{
	bool active = !co->active;
	uint64_t index = co->index++, site = active ? 0 : 1 + draw(o, SITES);
	co->active = active;
	co->woken = false;
	if (active)
		co->tid = draw(o, THREADS);
	o->events++;
	if (draw(o, 200) == 0) {
		co->lost++;
		return;
	}
	bool whole = co->lost == 0;
	is_told_lost(o, co);
	know_transition(o, co, active, whole);
	put(o, o->transition, (uint64_t[CTP_TRANSITION_FIELDS]){
		[CTP_TRANSITION_PROBE] = probe_of(co), [CTP_TRANSITION_TID] = 40000 + co->tid, [CTP_TRANSITION_ADDR] = probe_of(co) + 32,
		[CTP_TRANSITION_SEQ] = 2 * (index / 8 + 1), [CTP_TRANSITION_ACTIVE] = active, [CTP_TRANSITION_TS] = o->ts,
		[CTP_TRANSITION_CORO] = co->id, [CTP_TRANSITION_INDEX] = index, [CTP_TRANSITION_SITE] = site});
	co->seen = true;
	co->was_active = active;
	co->site = site;
	co->ts = o->ts;
	co->on = co->tid;
	co->wakes = 0;
	co->told_lost = false;
}

/* --- a section ------------------------------------------------------------------------------------------------------------ */

static void begin(struct world *o)
{
	static struct ctp_section sec;
	char text[64];
	if (!o->w)
		return;
	ctp_section_init(&sec);
	snprintf(text, sizeof text, "web%04" PRIu64, o->host);
	ctp_section_add(&sec, "host", text);
	snprintf(text, sizeof text, "%" PRIu64, 1000 + o->section);
	ctp_section_add(&sec, "pid", text);
	ctp_section_add(&sec, "argv[]", "server");
	ctp_section_add(&sec, "clock", "monotonic");
	/* The sections of a host follow each other; the wall clocks of all hosts agree. */
	snprintf(text, sizeof text, "%" PRIu64, 1793000000 * S + o->section * 3600 * S - o->ts);
	ctp_section_add(&sec, "wall_offset_ns", text);
	snprintf(text, sizeof text, "%" PRIu64, o->ts);
	ctp_section_add(&sec, "start_ns", text);
	ctp_writer_begin(o->w, &sec);
	struct ctp_class *site = ctp_event_class(CTP_PLACE);
	for (uint64_t i = 1; i <= SITES; i++) {
		struct {
			uint32_t len;
			char data[16];
		} file = {8, "server.c"}, function;
		function.len = (uint32_t)snprintf(function.data, sizeof function.data, "handle_%u", (unsigned)i);
		put(o, site, (uint64_t[CTP_SITE_FIELDS]){
			[CTP_SITE_TS] = o->ts, [CTP_SITE_ID] = i, [CTP_SITE_FILE] = ctp_val_str((struct ctp_str *)&file), [CTP_SITE_LINE] = 100 + i,
			[CTP_SITE_FUNCTION] = ctp_val_str((struct ctp_str *)&function)});
	}
	ctp_writer_flush(o->w);
	ctp_class_free(site);
}

/* stuck: a worker that is not touched from then on. */
static void run(struct world *o, uint64_t events)
{
	bool cut = (o->host * 31 + o->section) % 97 == 96, sticks = (o->host + o->section) % 16 == 3;
	uint64_t all = cut ? events * 3 / 5 : events, stuck = COROS, flush = 0;
	for (unsigned i = 0; i < COROS; i++)
		is_born(o, &o->coros[i], i == 0 ? 0 : i <= DISPATCHERS ? 1 : 2 + i % DISPATCHERS);
	while (o->events < all) {
		if (o->w && o->events >= flush) {
			ctp_writer_flush(o->w);
			flush += 1 + events / PACKETS;
		}
		unsigned i = (unsigned)draw(o, COROS);
		struct coro *co = &o->coros[i];
		o->ts += 1 + draw(o, 2 * GAP_NS);
		if (sticks && stuck == COROS && o->events > all / 2 && i > DISPATCHERS && co->seen && !co->active && !co->was_active && !co->woken)
			stuck = i;
		if (i == stuck)
			continue;
		if (co->active && i > DISPATCHERS && draw(o, 20) == 0 && !co->lost)
			dies(o, co);
		else if (!co->active && (!co->woken || draw(o, 50) == 0) && draw(o, 2))
			is_woken(o, co);
		else
			moves(o, co);
	}
	for (unsigned i = 0; i < COROS && !cut; i++)
		is_told_lost(o, &o->coros[i]);
	known.sections++;
	known.cut += cut;
	if (!o->w)
		return;
	if (!cut)
		put(o, o->end, (uint64_t[CTP_END_FIELDS]){ [CTP_END_TS] = o->ts, [CTP_END_EVENTS] = known.transitions, [CTP_END_LOST] = known.lost,
			[CTP_END_BIRTHS] = known.births, [CTP_END_DEATHS] = known.deaths });
	if (cut)
		ctp_writer_flush(o->w);
	else
		ctp_writer_end(o->w, true);
}

static void start(struct world *o, struct ctp_writer *w, uint64_t host, uint64_t section)
{
	*o = (struct world){.w = w, .host = host, .section = section, .next = 1,
	                    .rng = UINT64_C(0x9e3779b97f4a7c15) * (1 + host * 4099 + section * 131)};
	for (int i = 0; i < 8; i++)
		draw(o, 2);
	o->ts = 3600 * S * (1 + host % 7) + section * 1700 * S + draw(o, 1000 * S);
}

/* --- what it prints ------------------------------------------------------------------------------------------------------- */

static void print_thread(const char *question, const struct world *o, unsigned thread, uint64_t runs, uint64_t busy_ns)
{
	if (runs)
		printf("%s\tweb%04" PRIu64 "\t%" PRIu64 "\t%u\t%" PRIu64 "\t%" PRIu64 "\n", question, o->host, 1000 + o->section, 40000 + thread, runs,
		       busy_ns);
}

static void print_wait(const char *question, const struct wait *is)
{
	printf("%s\tweb%04" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\thandle_%" PRIu64 "\t%" PRIu64 "\n", question, is->host, 1000 + is->section,
	       is->coro, is->site, is->ns);
}

static void print_waits(const char *question, const struct wait waits[MOST])
{
	for (int i = 0; i < MOST && waits[i].ns; i++)
		print_wait(question, &waits[i]);
}

/* Of the section that has ended: coroutines that are stuck, and threads. */
static void print_section(const struct world *o)
{
	uint64_t end_ns = 0;
	for (unsigned i = 0; i < COROS; i++)
		end_ns = o->coros[i].seen && o->coros[i].ts > end_ns ? o->coros[i].ts : end_ns;
	for (unsigned i = 0; i < COROS; i++) {
		const struct coro *co = &o->coros[i];
		if (!co->seen || co->was_active || end_ns - co->ts <= 60 * S)
			continue;
		struct wait is = {o->host, o->section, co->id, co->site, end_ns - co->ts};
		print_wait("3", &is);
		if (!co->told_lost)
			print_wait("3c", &is);
	}
	for (unsigned i = 0; i < THREADS; i++) {
		print_thread("4", o, i, o->threads[i].runs, o->threads[i].busy_ns);
		print_thread("4c", o, i, o->threads[i].whole_runs, o->threads[i].whole_ns);
	}
}

static void print_latencies(const char *question, uint64_t most)
{
	for (uint64_t i = 0; i < known.nlatencies && i < most; i++)
		printf("%s\thandle_%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n", question, known.latencies[i].site,
		       known.latencies[i].hour_ns, known.latencies[i].wakes, known.latencies[i].sum_ns, known.latencies[i].max_ns);
}

static int by_sum(const void *x, const void *y)
{
	const struct latency *a = x, *b = y;
	return a->sum_ns < b->sum_ns ? 1 : a->sum_ns > b->sum_ns ? -1 : a->site < b->site ? -1 : a->site > b->site;
}

static void print_known(void)
{
	printf("0\ttransition\t%" PRIu64 "\n0\twake\t%" PRIu64 "\n0\tbirth\t%" PRIu64 "\n0\tdeath\t%" PRIu64 "\n0\tlost\t%" PRIu64
	       "\n0\tlost events\t%" PRIu64 "\n0\tsections\t%" PRIu64 "\n0\tcut\t%" PRIu64 "\n", known.transitions, known.wakes, known.births,
	       known.deaths, known.losses, known.lost, known.sections, known.cut);
	print_waits("1", known.longest);
	print_waits("1c", known.longest_whole);
	qsort(known.latencies, known.nlatencies, sizeof *known.latencies, by_sum);
	print_latencies("2", TOP);
	print_latencies("2a", known.nlatencies);
	for (unsigned i = 0; i <= COROS; i++)
		for (unsigned k = 0; k <= COROS; k++)
			if (known.graph[i][k])
				printf("5\t%u\t%u\t%" PRIu64 "\n", i, k, known.graph[i][k]);
}

static int write_one(uint64_t events, uint64_t host, uint64_t section)
{
	struct ctp_err err;
	struct ctp_output out;
	struct world o;
	struct ctp_writer *w = ctp_output_open(&out, NULL, true, false, &err) == CTP_OK ? ctp_writer_to(&out, &err) : NULL;
	if (!w) {
		fprintf(stderr, "fleet: %s\n", err.text);
		return 1;
	}
	start(&o, w, host, section);
	o.transition = ctp_event_class(CTP_TRANSITION), o.birth = ctp_event_class(CTP_BIRTH), o.death = ctp_event_class(CTP_DEATH);
	o.wake = ctp_event_class(CTP_WAKE), o.lost = ctp_event_class(CTP_LOST), o.end = ctp_event_class(CTP_END);
	begin(&o);
	run(&o, events);
	ctp_writer_free(w);
	for (struct ctp_class **cls = (struct ctp_class *[]){o.transition, o.birth, o.death, o.wake, o.lost, o.end, NULL}; *cls; cls++)
		ctp_class_free(*cls);
	return ctp_output_close(&out, &err) != CTP_OK;
}

int main(int argc, char **argv)
{
	if (argc != 5 || (strcmp(argv[1], "write") && strcmp(argv[1], "know"))) {
		fprintf(stderr, "usage: fleet write EVENTS HOST SECTION | fleet know EVENTS HOSTS SECTIONS\n");
		return 2;
	}
	uint64_t events = strtoull(argv[2], NULL, 10), a = strtoull(argv[3], NULL, 10), b = strtoull(argv[4], NULL, 10);
	if (argv[1][0] == 'w')
		return write_one(events, a, b);
	for (uint64_t host = 0; host < a; host++) {
		for (uint64_t section = 0; section < b; section++) {
			struct world o;
			start(&o, NULL, host, section);
			run(&o, events);
			print_section(&o);
		}
	}
	print_known();
	return 0;
}
