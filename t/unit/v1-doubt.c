/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * v1-doubt.c - full stations: all eight events are read if the writer is quiet, seven if it writes on, and never an event
 * that is not proved. On machines that keep stores in order there is no doubt, and all eight are read at once.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/membarrier.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "collect/v1-station.h"
#include "memstream.h"
#include "rawprobe.h"
#include "tap.h"

enum { STATIONS = 300, ROUNDS = 24 };

struct reading {
	struct memstream *m;
	struct {
		uint64_t next;
		bool dead;
	} coro[STATIONS + 1];
	uint64_t events, lost, unverified, deaths, died_ns, lived_ns, wrong, late;
};

static void see(void *arg, const char *cls, const uint64_t *val)
{
	struct reading *r = arg;
	if (!strcmp(cls, "transition")) {
		uint64_t c = val[CTP_TRANSITION_CORO], index = val[CTP_TRANSITION_INDEX];
		r->wrong += r->coro[c].dead || index != r->coro[c].next || val[CTP_TRANSITION_TID] != word(index, 1) ||
		            val[CTP_TRANSITION_ADDR] != word(index, 2) || val[CTP_TRANSITION_ACTIVE] != word(index, 3) >> 63;
		r->late += val[CTP_TRANSITION_TS] < r->m->mark_ns;
		r->coro[c].next = index + 1;
		r->events++;
	} else if (!strcmp(cls, "lost")) {
		uint64_t c = val[CTP_LOST_CORO];
		r->wrong += r->coro[c].dead || val[CTP_LOST_INDEX] != r->coro[c].next;
		r->coro[c].next += val[CTP_LOST_COUNT];
		r->lost += val[CTP_LOST_COUNT];
		r->unverified += val[CTP_LOST_UNVERIFIED];
	} else if (!strcmp(cls, "death")) {
		r->coro[val[CTP_DEATH_CORO]].dead = true;
		r->deaths++;
		r->lived_ns = val[CTP_DEATH_AFTER];
		r->died_ns = val[CTP_DEATH_BEFORE];
	}
}

static void start(struct memstream *m, struct reading *r, enum writer kind, uint32_t stations)
{
	*r = (struct reading){.m = m};
	memstream_open(m, stations);
	for (uint32_t i = 0; i < stations; i++)
		write_birth(kind, memstream_station(m, i), 0x1000 + i, 900);
	memstream_allocate(m, stations);
}

static void publish(struct memstream *m, enum writer kind, uint64_t from, uint64_t to)
{
	for (uint64_t k = from; k < to; k++) {
		write_event(kind, memstream_station(m, 0), k);
		put(memstream_station(m, 0) + 0x40 + (k + !is_seqlock(kind)) % 8 * 64, ctp_clock_ns());
	}
}

static void pass_ms(unsigned ms)
{
	for (uint64_t start_ns = ctp_clock_ns(); ctp_clock_ns() - start_ns < ms * UINT64_C(1000000);)
		;
}

static uint64_t counted(const struct memstream *m)
{
	const struct ctp_harvest_stats *s = ctp_harvest_stats(m->harvest);
	return s->events + s->lost;
}

static void scan_until(struct memstream *m, uint64_t count)
{
	while (counted(m) < count)
		ctp_harvest_scan(m->harvest, NULL);
}

static void is_read(struct memstream *m, struct reading *r, uint64_t events, uint64_t lost, uint64_t unverified, const char *what)
{
	bool whole = memstream_close(m, see, r);
	ok(whole && r->events == events && r->lost == lost && r->unverified == unverified && !r->wrong,
	   "%s: %" PRIu64 " read, %" PRIu64 " lost, %" PRIu64 " unverified", what, r->events, r->lost, r->unverified);
}

/* --- step by step -------------------------------------------------------------------------------------------------------- */

static void test_quiet(void)
{
	struct memstream m;
	struct reading r;
	struct ctp_look look;
	start(&m, &r, FIELD, 1);
	ctp_harvest_scan(m.harvest, NULL);
	publish(&m, FIELD, 0, 8);
	is_u64(ctp_harvest_scan(m.harvest, &look), 8, "a full station is found at once");
	ok(look.doubt == !CTP_STORES_IN_ORDER, "it is to be read again if this machine reorders stores");
	pass_ms(3); /* a mark would be beyond them now */
	ctp_harvest_scan(m.harvest, NULL);
	ctp_harvest_settle(m.harvest);
	is_u64(counted(&m), CTP_STORES_IN_ORDER ? 8 : 0, "nothing is written before a barrier that began after the copy");
	scan_until(&m, 8);
	ctp_harvest_scan(m.harvest, &look);
	ok(!look.doubt, "after the barrier there is no doubt");
	publish(&m, FIELD, 8, 9);
	scan_until(&m, 9);
	ctp_harvest_last(m.harvest, false);
	is_read(&m, &r, 9, 0, 0, "all eight events are read, and the next");
	is_u64(r.late, 0, "no mark is later than them");

	start(&m, &r, FIELD, 1);
	publish(&m, FIELD, 0, 100);
	pass_ms(2);
	scan_until(&m, 100);
	ctp_harvest_last(m.harvest, false);
	is_read(&m, &r, 8, 92, 0, "all eight are read after an overrun, if it is over");

	start(&m, &r, PLAIN, 1);
	publish(&m, PLAIN, 0, 8);
	scan_until(&m, 8);
	ctp_harvest_last(m.harvest, false);
	is_read(&m, &r, 7, 1, 1, "seven events of a plain writer are read");
}

/* The mark of the ninth event, and what it may have spoilt; then that event. */
static void test_overwritten(void)
{
	struct memstream m;
	struct reading r;
	unsigned spoilt = !CTP_STORES_IN_ORDER;
	start(&m, &r, FIELD, 1);
	publish(&m, FIELD, 0, 8);
	ctp_harvest_scan(m.harvest, NULL);
	write_half(FIELD, memstream_station(&m, 0), 8);
	ctp_harvest_scan(m.harvest, NULL);
	is_u64(counted(&m), 8, "a mark ends the doubt without a barrier");
	publish(&m, FIELD, 8, 9);
	scan_until(&m, 9);
	ctp_harvest_last(m.harvest, false);
	is_read(&m, &r, 9 - spoilt, spoilt, spoilt, "all events except one overwritten in doubt are read, and the next");

	start(&m, &r, FIELD, 1);
	publish(&m, FIELD, 0, 8);
	ctp_harvest_scan(m.harvest, NULL);
	publish(&m, FIELD, 8, 16);
	scan_until(&m, 16);
	ctp_harvest_last(m.harvest, false);
	is_read(&m, &r, 16 - spoilt, spoilt, spoilt, "of a station that fills twice, only the event overwritten in doubt is lost");

	start(&m, &r, FIELD, 1);
	publish(&m, FIELD, 0, 8);
	ctp_harvest_scan(m.harvest, NULL);
	write_half(FIELD, memstream_station(&m, 0), 8);
	ctp_harvest_last(m.harvest, true);
	is_read(&m, &r, 8 - spoilt, spoilt, spoilt, "a writer that ends in the middle of a ninth event has spoilt the first");
}

static void test_end(void)
{
	struct memstream m;
	struct reading r;
	for (unsigned gone = 0; gone < 2; gone++)
		for (unsigned scans = 0; scans < 3; scans++) {
			start(&m, &r, FIELD, 1);
			publish(&m, FIELD, 0, 8);
			for (unsigned k = 0; k < scans; k++)
				ctp_harvest_scan(m.harvest, NULL);
			ctp_harvest_last(m.harvest, gone);
			is_read(&m, &r, 8, 0, 0, gone ? "all eight of ended writers are read" : "all eight are read at the end");
		}
}

static void test_death(void)
{
	struct memstream m;
	struct reading r;
	start(&m, &r, FIELD, 1);
	ctp_harvest_scan(m.harvest, NULL);
	ctp_harvest_lives(m.harvest);
	publish(&m, FIELD, 0, 8);
	uint64_t before_ns = ctp_clock_ns();
	__atomic_store_n(memstream_station(&m, 0) + 0x10, 1, __ATOMIC_RELEASE);
	ctp_harvest_lives(m.harvest);
	uint64_t seen_ns = ctp_clock_ns();
	scan_until(&m, 8);
	ctp_harvest_lives(m.harvest);
	ctp_harvest_last(m.harvest, false);
	is_read(&m, &r, 8, 0, 0, "all eight events of an ended coroutine are read");
	ok(r.deaths == 1 && r.lived_ns <= before_ns && r.died_ns >= before_ns && r.died_ns <= seen_ns,
	   "its death comes after them, with the time when it was seen");
}

/* --- a system that refuses ------------------------------------------------------------------------------------------------ */

/* This and all higher commands of membarrier(2) fail with EPERM. */
static bool refuse(unsigned command)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, command, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = sizeof(code) / sizeof(*code), .filter = code};
	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static void test_refused(unsigned command, const char *what)
{
	int status = 0;
	pid_t pid = fork();
	if (!pid) {
		struct memstream m;
		struct reading r;
		if (!refuse(command))
			_exit(2);
		start(&m, &r, FIELD, 1);
		publish(&m, FIELD, 0, 8);
		scan_until(&m, 8);
		ctp_harvest_last(m.harvest, false);
		bool whole = memstream_close(&m, see, &r);
		_exit(!(whole && !r.wrong && r.events == 7 + CTP_STORES_IN_ORDER && r.events + r.lost == 8));
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || (WIFEXITED(status) && WEXITSTATUS(status) == 2))
		ok(true, "%s # skip no seccomp here", what);
	else
		is_u64((unsigned)status, 0, what);
}

/* --- against writers that do not wait ------------------------------------------------------------------------------------ */

struct crowd {
	struct memstream m;
	enum writer kind;
	uint64_t published, counted, scans;
	unsigned done;
};

static void *crowd_writer(void *arg)
{
	struct crowd *c = arg;
	uint64_t count[STATIONS] = {0};
	uint32_t random = 1;
	for (unsigned round = 0; round < ROUNDS; round++) {
		for (uint32_t i = 0; i < STATIONS; i++) {
			random = random * 1664525 + 1013904223;
			for (unsigned n = (random >> 8) % 12; n; n--, c->published++)
				write_event(c->kind, memstream_station(&c->m, i), count[i]++);
		}
		/* Sometimes waits until nothing is in doubt, and else so briefly that most is in doubt. */
		uint64_t scans = __atomic_load_n(&c->scans, __ATOMIC_RELAXED) + (random >> 8) % 16;
		while (round % 3 ? __atomic_load_n(&c->scans, __ATOMIC_RELAXED) < scans
		                 : __atomic_load_n(&c->counted, __ATOMIC_RELAXED) < c->published)
			sched_yield();
	}
	__atomic_store_n(&c->done, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void test_crowd(enum writer kind)
{
	struct crowd c = {.kind = kind};
	struct reading r;
	pthread_t thread;
	start(&c.m, &r, kind, STATIONS);
	if (pthread_create(&thread, NULL, crowd_writer, &c))
		exit(1);
	while (!__atomic_load_n(&c.done, __ATOMIC_ACQUIRE)) {
		ctp_harvest_scan(c.m.harvest, NULL);
		__atomic_store_n(&c.counted, counted(&c.m), __ATOMIC_RELAXED);
		__atomic_fetch_add(&c.scans, 1, __ATOMIC_RELAXED);
	}
	pthread_join(thread, NULL);
	ctp_harvest_last(c.m.harvest, false);
	bool whole = memstream_close(&c.m, see, &r);
	ok(whole && r.events + r.lost == c.published && r.events && !r.wrong,
	   "%u stations, %s: exact, and every payload its event's own (%" PRIu64 " are not)", STATIONS, writer_names[kind], r.wrong);
	note("%" PRIu64 " published, %" PRIu64 " lost, %" PRIu64 " of them unverified", c.published, r.lost, r.unverified);
}

int main(void)
{
	test_refused(MEMBARRIER_CMD_QUERY, "an event in doubt is not read if the system has no barrier");
	test_refused(MEMBARRIER_CMD_GLOBAL, "an event in doubt is not read if the system refuses its barrier");
	long commands = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
	if (!CTP_STORES_IN_ORDER && (commands < 0 || !(commands & MEMBARRIER_CMD_GLOBAL))) {
		ok(true, "all eight # skip this kernel has no MEMBARRIER_CMD_GLOBAL");
		return done_testing();
	}
	test_quiet();
	test_overwritten();
	test_end();
	test_death();
	test_crowd(FIELD);
	test_crowd(ORDERED);
	return done_testing();
}
