/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * shm.c - whatever is in shared memory, and however it changes between two looks, the collector survives it.
 *
 * The input is a list of steps: bytes for the memory, whole events, births and deaths as a probe writes them, looks, time that goes
 * by, a detach and another attach. The clock and the barrier are the fuzzer's, so that a find is reproducible. What the harvest
 * writes is taken here, and its accounts must hold: the figures of the stats are the records', a coroutine is born once and
 * dies once, marks go up, and each event number of a coroutine with rings is written once.
 * Covers: lib/shm/arena.c lib/shm/rings.c lib/shm/slots.c lib/shm/rawclock.c lib/collect/harvest.c lib/collect/coros.c lib/collect/coros-due.c
 * Covers: lib/collect/coros-snapshot.c lib/collect/coro-gaps.c lib/collect/ring-gaps.c lib/collect/row-sort.c lib/collect/v1-scan.c
 * Covers: lib/collect/v1-doubt.c lib/collect/v1-station.c lib/collect/shm-texts.c
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "must.h"
#include "base/capped.h"
#include "collect/frame-queue.h"
#include "collect/harvest.h"
#include "collect/thread-runs.h"
#include "shm/arena.h"
#include "shm/barrier.h"

/* Classes are kept. */
static struct ctp_class *kept_class(enum ctp_event event)
{
	static struct ctp_class *classes[CTP_EVENT_COUNT];
	return classes[event] = classes[event] ? classes[event] : ctp_event_class(event);
}
#define ctp_event_class kept_class
#define ctp_class_free(cls) ((void)(cls))
#include "collect/rows.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	STATIONS_FEW = 12,
	STATIONS = 272, /* more than one bucket of the sweep */
	SITES = 16,
	RINGS = 4,
	RING_BITS = 4,
	PART = 65536,
	SITES_AT = (1024 * (1 + STATIONS) + PART - 1) / PART * PART,
	RINGS_AT = SITES_AT + PART,
	OBJECTS = 2064, /* a few more than the first part has */
	OBJECT_BYTES = sizeof(uint64_t) + sizeof(struct ctp_shm_object), /* with its key */
	OBJECTS_AT = RINGS_AT + PART,
	ENTRIES_AT = OBJECTS_AT + (OBJECT_BYTES * OBJECTS + PART - 1) / PART * PART,
	BYTES = ENTRIES_AT + (RINGS << RING_BITS) * 32,
	STEPS = 400,
	TOLD = 1 << 14, /* runs of numbers that are remembered */
	COROS = 4096,
};

static _Alignas(PART) uint8_t memory[BYTES];
static struct ctp_shm_header *head(void) { return (struct ctp_shm_header *)(void *)memory; }

/* --- the clock, the barrier --------------------------------------------------------------------------------------------- */

static uint64_t fake_ns; /* 0: the clock is the system's */
static bool refuses;     /* the barrier is */

int clock_gettime(clockid_t clock, struct timespec *t)
{
	if (!fake_ns || clock != CLOCK_MONOTONIC)
		return (int)syscall(SYS_clock_gettime, clock, t);
	fake_ns += 500;
	*t = (struct timespec){(time_t)(fake_ns / 1000000000), (long)(fake_ns % 1000000000)};
	return 0;
}

void ctp_barrier_init(struct ctp_barrier *b) { *b = (struct ctp_barrier){.usable = !refuses}; }
void ctp_barrier_fini(struct ctp_barrier *b) { b->finished = true; }
uint64_t ctp_barrier_ask(struct ctp_barrier *b) { return ++b->asked; }
uint64_t ctp_barrier_passed(struct ctp_barrier *b) { return b->passed = b->asked; }
uint64_t ctp_barrier_wait(struct ctp_barrier *b, uint64_t n, uint64_t limit_ns)
{
	b->usable = !refuses;
	return n <= b->asked && limit_ns ? ctp_barrier_passed(b) : b->passed;
}

/* --- what is written ---------------------------------------------------------------------------------------------------- */

struct told_run {
	uint64_t coro, from, count;
};

static struct {
	struct ctp_harvest_stats stats; /* as the records have them */
	uint64_t mark_ns;
	uint8_t born[COROS], dead[COROS], doubtful[COROS];
	struct told_run runs[TOLD];
	unsigned nruns;
} told;

static void tell_run(uint64_t coro, uint64_t from, uint64_t count)
{
	if (told.nruns < TOLD && coro < COROS)
		told.runs[told.nruns++] = (struct told_run){coro, from, count};
}

static volatile unsigned sum;
static void touch(const struct ctp_record *rec)
{
	for (uint32_t i = 0; i < rec->cls->nfields; i++) {
		const struct ctp_str *s = ctp_type_is_text(rec->cls->fields[i].type) ? ctp_str_val(rec->val[i]) : NULL;
		for (uint32_t j = 0; s && j <= s->len; j++)
			sum += (unsigned char)s->data[j];
	}
}

static void see(const struct ctp_record *rec)
{
	const uint64_t *val = rec->val;
	switch (rec->cls->kind) {
	case CTP_KIND_TRANSITION:
		told.stats.events++;
		if (val[CTP_TRANSITION_PROBE] || !val[CTP_TRANSITION_CORO]) /* else: of one that is dead, by who does not know */
			tell_run(val[CTP_TRANSITION_CORO], val[CTP_TRANSITION_INDEX], 1);
		break;
	case CTP_KIND_LOSS:
		if (!strcmp(rec->cls->name, "missed")) {
			ctp_add_capped(&told.stats.missed, val[CTP_MISSED_COUNT]);
			break;
		}
		ctp_add_capped(&told.stats.lost, val[CTP_LOST_COUNT]);
		if (val[CTP_LOST_CORO])
			tell_run(val[CTP_LOST_CORO], val[CTP_LOST_INDEX], val[CTP_LOST_COUNT]);
		break;
	case CTP_KIND_BIRTH:
		told.stats.births++;
		must(val[CTP_BIRTH_CORO] && (val[CTP_BIRTH_CORO] >= COROS || !told.born[val[CTP_BIRTH_CORO]]++), "born twice");
		break;
	case CTP_KIND_DEATH:
		told.stats.deaths++;
		must(val[CTP_DEATH_CORO] && (val[CTP_DEATH_CORO] >= COROS || !told.dead[val[CTP_DEATH_CORO]]++), "dead twice");
		break;
	case CTP_KIND_WAKE: told.stats.wakes++; break;
	case CTP_KIND_CONFLICT:
		told.stats.conflicts++;
		told.doubtful[val[CTP_CONFLICT_CORO] % COROS] = 1;
		break;
	default: break;
	}
	touch(rec);
}

void ctp_writer_records(struct ctp_writer *w, const struct ctp_batch *batch)
{
	(void)w;
	for (uint32_t i = 0; i < batch->n; i++)
		see(&batch->rec[i]);
}

void ctp_writer_mark(struct ctp_writer *w, uint64_t ts_ns)
{
	(void)w;
	must(ts_ns > told.mark_ns && ts_ns <= fake_ns, "a mark that goes backwards, or is in the future");
	told.mark_ns = ts_ns;
}

static int by_number(const void *a, const void *b)
{
	const struct told_run *x = a, *y = b;
	if (x->coro != y->coro)
		return x->coro < y->coro ? -1 : 1;
	return x->from < y->from ? -1 : x->from > y->from;
}

/* After the harvest's last: its figures are those of the records, and no number was written twice except in a conflict. */
static void check(const struct ctp_harvest_stats *s)
{
	must(s->events == told.stats.events, "events that were not written");
	must(s->lost == told.stats.lost, "losses that were not written");
	must(s->lost > INT64_MAX || (s->unverified <= s->lost && s->overwritten <= s->lost), "losses of no kind");
	must(s->births == told.stats.births && s->deaths == told.stats.deaths, "births or deaths that were not written");
	must(s->wakes == told.stats.wakes && s->conflicts == told.stats.conflicts, "wakes or conflicts that were not written");
	must(s->missed == told.stats.missed, "missed records that were not written");
	must(s->stations <= STATIONS && s->rings <= RINGS << RING_BITS, "more stations or rings than there can be");
	qsort(told.runs, told.nruns, sizeof *told.runs, by_number);
	for (unsigned k = 1; k < told.nruns; k++) {
		const struct told_run *a = &told.runs[k - 1], *b = &told.runs[k];
		must(a->coro != b->coro || told.doubtful[a->coro] || b->from - a->from >= a->count, "a number was written twice");
	}
}

/* --- the input ---------------------------------------------------------------------------------------------------------- */

struct input {
	const uint8_t *at;
	size_t left;
};

static unsigned byte(struct input *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->at++;
}

/* --- the harvest -------------------------------------------------------------------------------------------------------- */

static struct ctp_harvest *harvest;
static unsigned attaches;

static size_t find_code(void *arg, const struct ctp_frame *frames, size_t n, uint64_t *code)
{
	(void)arg;
	n = n > 3 ? 3 : n;
	for (size_t k = 0; k < n; k++)
		code[k] = frames[k].addr & frames[k].tid;
	return n;
}

/* As a collector does it: the number of stations is read once, and the memory may change before the next look. */
static bool begin(struct input *in, unsigned how)
{
	struct ctp_err err;
	struct ctp_arena arena;
	struct ctp_harvest_conf conf = {.shm = memory, .bytes = BYTES, .attach = how & 1,
	                                .dialect = (enum ctp_dialect)((how >> 1) % 3), .find_code = how & 8 ? find_code : NULL};
	memset(&told, 0, offsetof(__typeof__(told), runs));
	told.nruns = 0;
	conf.max_stations = head()->max_stations <= STATIONS ? head()->max_stations : STATIONS_FEW;
	bool found = !ctp_arena_find(&arena, memory, BYTES, &err);
	if (found) {
		conf.max_stations = arena.geo.max_stations;
		ctp_arena_open(&arena, 3, 0, how & 16 ? "/run/ctp.sock" : NULL);
	} else if (how & 1) {
		return false; /* nothing to attach to */
	}
	if (how & 32) {
		unsigned at = byte(in);
		at |= byte(in) << 8;
		memory[at % 1024] = (uint8_t)byte(in);
	}
	harvest = ctp_harvest_new(&conf, &err);
	return harvest != NULL;
}

static void end(bool gone)
{
	if (!harvest)
		return;
	ctp_harvest_last(harvest, gone);
	if (!gone)
		ctp_harvest_release(harvest);
	check(ctp_harvest_stats(harvest));
	ctp_harvest_free(harvest);
	harvest = NULL;
}

/* --- steps -------------------------------------------------------------------------------------------------------------- */

/* One of the numbers that a reader might stumble over, in a byte or two; or any. */
static uint64_t number(struct input *in)
{
	unsigned how = byte(in);
	uint64_t any = 0;
	switch (how >> 5) {
	case 0: case 1: return how;
	case 2: return UINT64_MAX - how % 32;
	case 3: return UINT64_C(1) << (how % 32 + 32 * (byte(in) & 1));
	case 4: return fake_ns - how % 32 * 1000;
	case 5: return fake_ns + ((uint64_t)byte(in) << how % 32);
	case 6: return (uint64_t)(how % 32 + 1) << 32 | byte(in);
	default:
		for (unsigned k = 0; k < 8; k++)
			any = any << 8 | byte(in);
		return any;
	}
}

static const struct {
	uint32_t at, bytes;
} parts[] = {{0, 1024}, {1024, 1024 * STATIONS}, {SITES_AT, 256 * SITES}, {RINGS_AT, 128 * RINGS}, {ENTRIES_AT, BYTES - ENTRIES_AT},
           {OBJECTS_AT, OBJECT_BYTES * OBJECTS}};
enum { PARTS = sizeof parts / sizeof *parts };

static bool dirty[STATIONS + 1];

static uint8_t *place(struct input *in, unsigned len)
{
	unsigned part = byte(in) % PARTS, at = byte(in);
	at |= byte(in) << 8;
	uint32_t to = parts[part].at + (at * (part == 1 ? 8u : 1u)) % (parts[part].bytes - len);
	if (part == 1)
		dirty[to / 1024 - 1] = dirty[to / 1024] = true; /* it may go over the end of one */
	return memory + to;
}

static void put64(void *at, uint64_t value) { memcpy(at, &value, sizeof value); }
static void put32(void *at, uint64_t value) { memcpy(at, &value, sizeof(uint32_t)); }

static struct ctp_shm_station *station(unsigned i)
{
	dirty[i % STATIONS] = true;
	return (struct ctp_shm_station *)(void *)(memory + 1024) + i % STATIONS;
}

static struct ctp_shm_ring *ring(unsigned i) { return (struct ctp_shm_ring *)(void *)(memory + RINGS_AT) + i % RINGS; }

static void put_bytes(struct input *in)
{
	unsigned len = byte(in);
	uint8_t *at = place(in, len);
	for (; len && in->left; len--)
		*at++ = (uint8_t)byte(in);
}

static void put_word(struct input *in)
{
	uint8_t *at = place(in, 16);
	put64(memory + (at - memory) / 8 * 8, number(in));
}

/* An entry as a probe publishes one. */
static void put_entry(struct input *in)
{
	unsigned which = byte(in), r = which % RINGS, kind = byte(in), i = byte(in), generation = byte(in);
	struct ctp_shm_ring *to = ring(r);
	uint64_t at = (uint64_t)r << RING_BITS | to->head % (1 << RING_BITS);
	struct ctp_shm_entry *e = (struct ctp_shm_entry *)(void *)(memory + ENTRIES_AT) + at;
	e->ref = which & 4 ? number(in) : CTP_REF(generation % 8, i);
	e->value = which & 8 ? number(in) : CTP_REF(generation / 8, i + 1u);
	e->ts = which & 16 ? number(in) : fake_ns - byte(in);
	unsigned site = which & 32 ? byte(in) : 0;
	e->what = CTP_ENTRY((uint64_t)kind % 12, site, (uint32_t)(which & 64 ? number(in) : byte(in)));
	to->head++;
	head()->rings_used = head()->rings_used > r ? head()->rings_used : r + 1;
}

/* An event as one of version 1 does: of either dialect. */
static void put_slot(struct input *in)
{
	unsigned which = byte(in), i = byte(in);
	uint64_t index = which & 4 ? number(in) : byte(in);
	bool plain = which & 1;
	struct ctp_shm_slot *slot = &station(i)->slots[(index + plain) % 8];
	slot->timestamp = which & 8 ? number(in) : fake_ns;
	slot->tid = which >> 6;
	slot->addr = which & 16 ? 0x4000 + i : 0;
	slot->what = which & 32 ? number(in) : (uint64_t)!slot->addr << 56 | (uint32_t)index;
	slot->seq = plain ? index + 1 : (index / 8 + 1) * 2;
}

static void put_birth(struct input *in)
{
	unsigned which = byte(in), i = byte(in) % STATIONS;
	struct ctp_shm_station *st = station(i);
	st->generation = which & 1 ? st->generation + 1 : 0;
	st->first = which & 2 ? number(in) : st->events;
	st->parent = which & 4 ? number(in) : 0;
	st->spawn_site = which & 8 ? byte(in) : 0;
	st->probe_id = 0x10000 + i;
	st->birth_ts = which & 16 ? number(in) : fake_ns;
	st->pid = 1;
	if (which & 32) {
		st->name_seq += 2;
		st->name_bytes = byte(in);
		memset(st->name, 'n', sizeof st->name);
	}
	st->announce = CTP_ANNOUNCE(which & 64 ? byte(in) : CTP_ANNOUNCE_ORDERED | CTP_ANNOUNCE_ANNEX);
	st->is_dead = 0;
	head()->allocated_count = head()->allocated_count > i ? head()->allocated_count : i + 1;
}

static void put_death(struct input *in)
{
	unsigned which = byte(in);
	struct ctp_shm_station *st = station(byte(in));
	st->events = which & 1 ? number(in) : st->first + byte(in) % 16;
	st->death_ts = which & 2 ? number(in) : fake_ns;
	st->is_dead = (uint8_t)(1 + (which >> 2) % 2);
}

static void put_site(struct input *in)
{
	unsigned i = byte(in);
	struct ctp_shm_site *site = (struct ctp_shm_site *)(void *)(memory + SITES_AT) + i % SITES;
	site->file_bytes = (uint16_t)number(in);
	site->function_bytes = (uint16_t)number(in);
	site->code_bytes = i & 16 ? 8 : byte(in);
	memset(site->text, 's', sizeof site->text);
	site->ready = 1;
}

/* Of a ring, mostly the numbers near its head. */
static void put_ring(struct input *in)
{
	unsigned which = byte(in);
	struct ctp_shm_ring *r = ring(which >> 6);
	uint64_t *words[] = {&r->head, &r->lost_events, &r->lost_notes, &r->tail, &r->back_from, &r->back_to, &r->over_from, &r->over_to};
	uint64_t near = r->head + (uint64_t)(int64_t)(int8_t)(which & 8 ? byte(in) : 0);
	put64(words[which % 8], which & 16 ? number(in) : near);
	if (which & 32)
		r->clock = CTP_CLOCK_RAW;
}

/* An object, in one of the first places or in the second part of the table. */
static void put_object(struct input *in)
{
	unsigned which = byte(in), i = which & 128 ? OBJECTS - 1 - which % 8 : which % 8;
	uint64_t *keys = (uint64_t *)(void *)(memory + OBJECTS_AT);
	struct ctp_shm_object *o = (struct ctp_shm_object *)(void *)(keys + OBJECTS) + i;
	put32(&head()->objects_used, which & 128 ? 2 : 1);
	o->pid = which & 8 ? byte(in) : 1;
	o->object = 0x7000 + which % 4;
	keys[i] = which & 16 ? number(in) : CTP_OBJECT_KEY(o->pid, o->object);
	o->done = which & 32 ? byte(in) : o->begun;
	o->what = byte(in) % 10 | (which & 64 ? CTP_OBJECT_RAW : 0);
	o->made = byte(in) % SITES;
	o->label = byte(in) % SITES;
	uint64_t *words[] = {&o->made_ts, &o->available, &o->available_ts, &o->room_ts, &o->closed_ts, &o->held_ts};
	for (unsigned k = 0; k < sizeof words / sizeof *words; k++)
		put64(words[k], number(in));
	o->holders_used = byte(in);
	for (unsigned k = 0; k < 4; k++) {
		uint64_t holder = CTP_HOLDER(CTP_REF(byte(in) % 4, byte(in)));
		o->holders[k] = which & 4 ? number(in) : holder << 16 | k;
	}
}

static void ask(unsigned i)
{
	struct ctp_thread_run run;
	uint64_t own_ns, all_ns;
	ctp_harvest_newest(harvest, (pid_t)i, &own_ns, &all_ns);
	ctp_harvest_wrote(harvest, i);
	for (uint32_t k = 0; k < ctp_harvest_rings(harvest); k++)
		ctp_harvest_run(harvest, k, &run);
	must(ctp_harvest_floor_ns(harvest) <= fake_ns, "a floor that is in the future");
}

static bool step(struct input *in)
{
	unsigned op = byte(in);
	switch (op % 16) {
	case 0: put_bytes(in); break;
	case 1: put_word(in); break;
	case 2: case 15: put_entry(in); break;
	case 3: put_slot(in); break;
	case 4: put_birth(in); break;
	case 5: put_death(in); break;
	case 6: ctp_harvest_scan(harvest, NULL); break;
	case 7: ctp_harvest_sweep(harvest, NULL); break;
	case 8: ctp_harvest_lives(harvest); break;
	case 9: ctp_harvest_settle(harvest); break;
	case 10:
		if (attaches++ == 3)
			return false;
		end(op & 16);
		return begin(in, byte(in));
	case 11: fake_ns += (uint64_t)(byte(in) + 1) << (op >> 4) * 2; break;
	case 12:
		if (op & 64)
			put_object(in);
		else
			put_site(in);
		break;
	case 13: put_ring(in); break;
	case 14: put32(op & 16 ? &head()->rings_used : &head()->allocated_count, number(in)); break;
	}
	return true;
}

/* What the run before has left is wiped out. */
static void make_memory(unsigned how)
{
	static struct ctp_shm_header made[2]; /* is costly */
	const struct ctp_geometry geo = {STATIONS, SITES, RINGS, RING_BITS, OBJECTS};
	if (!made[1].magic) {
		ctp_arena_make(&made[1], &geo);
		made[0] = made[1];
		made[0].max_stations = STATIONS_FEW;
	}
	for (unsigned k = 0; k < STATIONS; k++)
		if (dirty[k])
			memset(memory + 1024 + 1024 * k, 0, 1024);
	memset(dirty, 0, sizeof dirty);
	for (unsigned k = 2; k < PARTS - 1; k++)
		memset(memory + parts[k].at, 0, parts[k].bytes);
	if (head()->objects_used) /* nothing else writes there, but for a few bytes */
		memset(memory + OBJECTS_AT, 0, OBJECT_BYTES * OBJECTS);
	*head() = made[how >> 2 & 1];
	if (!(how & 1))
		memset(&head()->annex, 0, sizeof *head() - offsetof(struct ctp_shm_header, annex));
	if (!(how & 2))
		head()->clock = 0;
}

static void too_long(int sig) { (void)sig, must(false, "a few bytes took ten seconds"); }

/* The first byte is the memory, then come steps until the second says that the harvest begins, which is another byte. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct itimerval limit = {.it_value = {.tv_sec = 10}};
	struct input in = {data, size};
	signal(SIGVTALRM, too_long);
	setitimer(ITIMER_VIRTUAL, &limit, NULL);
	fake_ns = UINT64_C(1000000000000);
	unsigned how = byte(&in), before = byte(&in);
	make_memory(how);
	refuses = how & 8;
	attaches = 0;
	for (; before && in.left; before--) {
		unsigned op = *in.at % 16;
		if ((op >= 6 && op <= 10) || !step(&in))
			byte(&in);
	}
	bool goes = begin(&in, how >> 4 | (byte(&in) & 0xf0));
	for (unsigned steps = 0; goes && in.left && steps < STEPS; steps++) {
		goes = step(&in);
		if (goes && steps % 16 == 0)
			ask(steps);
	}
	end(how & 128);
	fake_ns = 0;
	return 0;
}
