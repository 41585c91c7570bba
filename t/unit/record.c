/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * record.c - the probe's own memory: what it writes there for a later collector, checked in the same process.
 *
 * There is no collector here. Where one is needed the test plays it: sets the mode, reads a ring, frees a station.
 */
#include "ctp.h"
#include "tap.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

static const uint32_t followed = CTP_MODE_RECORD | CTP_MODE_RINGS | CTP_MODE_MEMBARRIER | CTP_MODE_KEEP;

static struct ctp_shm_header *head(void) { return ctp_current_->shm; }
static struct ctp_shm_ring *ring(unsigned i) { return (struct ctp_shm_ring *)(ctp_current_->base + ctp_current_->rings_at) + i; }
static struct ctp_shm_site *site(unsigned number)
{
	return (struct ctp_shm_site *)(ctp_current_->base + ctp_current_->sites_at) + number - 1;
}

/* Attaches again, to a new memory. */
static void start_anew(const char *record)
{
	for (int fd = CTP_FD_; fd <= CTP_FD_LAST_; fd++)
		close(fd);
	ctp_current_ = NULL;
	if (record)
		setenv("CTP_RECORD", record, 1);
	else
		unsetenv("CTP_RECORD");
	ctp_init();
}

/* As a collector: reads everything in ring i, and returns the last entry of a kind. */
static struct ctp_shm_entry drain(unsigned i, unsigned kind, unsigned *count)
{
	struct ctp_shm_entry last = { 0 }, *entries = ctp_current_->entries[i];
	uint64_t tail = ring(i)->tail, stop = __atomic_load_n(&ring(i)->head, __ATOMIC_ACQUIRE), mask = (1u << CTP_RING_BITS_) - 1;
	*count = 0;
	for (; tail != stop; tail++) {
		if (CTP_ENTRY_KIND(entries[tail & mask].what) == kind) {
			last = entries[tail & mask];
			++*count;
		}
	}
	__atomic_store_n(&ring(i)->tail, stop, __ATOMIC_RELEASE);
	return last;
}

static void test_off(void)
{
	struct ctp_coro co;
	start_anew("0");
	ok(!ctp_current_->mode && !ctp_init(), "with CTP_RECORD=0 nothing is mapped");
	start_anew(NULL);
	ok(ctp_current_->mode && !ctp_traced() && !ctp_current_->base, "without CTP_RECORD only a header is mapped");
	ctp_coro_new(&co, 5);
	ctp_coro_resume(&co);
	ctp_coro_name(&co, "nobody");
	ctp_coro_wake(&co);
	ok(!ctp_coro_traced(&co) && !head()->allocated_count && !ctp_coro_ref(&co),
	   "a coroutine has no station while recording is off");
	ok(ctp_record() && ctp_traced(), "ctp_record");
	ctp_coro_suspend(&co, CTP_HERE);
	ok(ctp_coro_traced(&co) && ctp_coro_id(&co) == 5, "it gets a station at its next event");
	is_u64(co.station_->birth_ts, 0, "the time of its birth is unknown then");
	ctp_coro_death(&co);
}

static void test_states(void)
{
	struct ctp_coro parent, child;
	start_anew("1");
	ok(ctp_traced() && head()->owner == (uint64_t)getpid(), "CTP_RECORD=1");
	ctp_coro_new(&parent, 1);
	ctp_coro_resume(&parent);
	unsigned line = __LINE__ + 1;
	ctp_coro_new(&child, 2);
	struct ctp_shm_station *st = child.station_;
	is_u64(st->parent, ctp_coro_ref(&parent), "the parent is the running coroutine");
	is_u64(site(st->spawn_site)->line, line, "the spawn site has its line");
	ctp_coro_suspend(&child, CTP_HERE); /* the child has not run; the parent still runs */
	unsigned number = CTP_ENTRY_SITE(st->slots[0].what);
	ok(site(number)->ready == 1 && site(number)->line == line + 4, "the suspend site has its line");
	struct ctp_shm_site *where = site(number);
	char text[256];
	snprintf(text, sizeof text, "%.*s|%.*s", where->file_bytes, where->text, where->function_bytes, where->text + where->file_bytes);
	is(text, __FILE__ "|test_states", "the site has its file and function");
	ctp_coro_wake(&child);
	const struct ctp_shm_wake *wake = &st->wakes[st->nwakes - 1];
	ok(wake->waker == ctp_coro_ref(&parent) && wake->generation == st->generation && wake->ts >= st->birth_ts,
	   "the wake has its waker");
	ctp_coro_resume(&child);
	ctp_coro_suspend(&child, CTP_HERE);
	ctp_coro_wake(&child);
	is_u64(wake[1].waker, ctp_coro_ref(&parent), "when it suspends, its parent runs again");
	ctp_coro_name(&child, "worker \xc3\xa9");
	ok(st->name_bytes == 9 && !memcmp(st->name, "worker \xc3\xa9", 9) && st->name_seq % 2 == 0, "a name is stored");
	char longer[200];
	memset(longer, 'x', sizeof longer - 1);
	longer[sizeof longer - 1] = 0;
	ctp_coro_name(&child, longer);
	is_u64(st->name_bytes, sizeof st->name, "a name that is too long is cut");
	for (int i = 0; i < 20; i++) {
		ctp_coro_resume(&child);
		ctp_coro_suspend(&child, CTP_HERE);
	}
	is_u64(child.events_, 43, "all events are counted");
	ok(st->slots[42 % 8].seq == 2 * (42 / 8 + 1) && CTP_ENTRY_NUMBER(st->slots[42 % 8].what) == 42,
	   "the last event is in its slot");
	ctp_coro_death(&child);
	ctp_coro_death(&parent);
	is_u64(ctp_self_.current, 0, "no coroutine runs");
}

static void test_reuse(void)
{
	struct ctp_coro co;
	start_anew("1");
	ctp_coro_new(&co, 1);
	struct ctp_shm_station *st = co.station_;
	ctp_coro_death(&co);
	ctp_coro_new(&co, 2);
	ok(co.station_ != st && (uint32_t)head()->free == 1, "a new station is taken, and the ended coroutine's is left as it is");
	ctp_coro_death(&co);
	head()->free = 0;
	head()->allocated_count = CTP_FRESH_; /* from this number of stations on, free ones are reused */
	uint64_t refs[3] = { 0 };
	for (int i = 0; i < 3; i++) {
		ctp_coro_new(&co, 7);
		ctp_coro_resume(&co);
		refs[i] = ctp_coro_ref(&co);
		is_u64(co.station_->first, (unsigned)i, "event numbers continue those of the station's previous coroutine");
		is_u64(co.station_->is_dead, 0, "the reused station is alive");
		ctp_coro_death(&co);
	}
	ok(head()->allocated_count == CTP_FRESH_ + 1 && refs[0] != refs[1] && refs[1] != refs[2],
	   "three coroutines share one station, with three references");
	ctp_coro_new(&co, 8);
	ctp_ref_wake(refs[0]);
	is_u64(co.station_->nwakes, 0, "a wake of an ended coroutine is not stored for its successor");
	head()->mode = followed;
	st = co.station_;
	ctp_coro_death(&co);
	ok(st->is_dead == 1 && !(uint32_t)head()->free, "with a collector, stations of ended coroutines wait to be freed by it");
	ctp_coro_new(&co, 9);
	ok(co.station_ != st && head()->allocated_count == CTP_FRESH_ + 2, "the next coroutine gets another station");
	ctp_free_(ctp_current_, st, st->generation);
	ctp_free_(ctp_current_, st, st->generation);
	ctp_coro_death(&co);
	ctp_coro_new(&co, 10);
	ok(co.station_ == st, "a freed station is reused");
	struct ctp_coro other;
	ctp_coro_new(&other, 11);
	ok(other.station_ != st, "it is not used twice");
	ctp_coro_death(&co);
	ctp_coro_death(&other);
}

static void test_dead_collector(void)
{
	enum { MANY = CTP_STATIONS_ };
	static struct ctp_coro cos[MANY + 1];
	start_anew("1");
	head()->mode = followed; /* but nobody holds the lock */
	unsigned traced = 0;
	for (int i = 0; i < MANY; i++) {
		ctp_coro_new(&cos[i], 1);
		ctp_coro_death(&cos[i]);
	}
	for (int i = 0; i <= MANY; i++) {
		ctp_coro_new(&cos[i], 1);
		traced += ctp_coro_traced(&cos[i]);
	}
	is_u64(traced, MANY, "when stations run out, those that a killed collector did not free are reused");
	is_u64(head()->mode, CTP_MODE_RECORD | CTP_MODE_KEEP, "the mode says that there is no collector any more");
	for (int i = 0; i < MANY; i++)
		ctp_coro_death(&cos[i]);
}

static void test_ring(void)
{
	struct ctp_coro co;
	unsigned n;
	start_anew("1");
	head()->mode = followed;
	ctp_coro_new(&co, 3);
	ok(ring(0)->owner == ((uint64_t)getpid() << 32 | (uint64_t)syscall(SYS_gettid)), "this thread owns a ring");
	for (int i = 0; i < 10; i++) {
		ctp_coro_resume(&co);
		ctp_coro_suspend(&co, (void *)0x77);
	}
	ctp_coro_wake(&co);
	ctp_coro_name(&co, "x");
	is_u64(ring(0)->head, 1 + 1 + 20 + 2, "entries: thread, birth, events, wake, name");
	struct ctp_shm_entry e = ctp_current_->entries[0][21];
	ok(e.value == 0x77 && e.ref == ctp_coro_ref(&co) && CTP_ENTRY_KIND(e.what) == CTP_ENTRY_SUSPEND && CTP_ENTRY_NUMBER(e.what) == 19,
	   "the ring has the entry");
	struct ctp_shm_slot *slot = &co.station_->slots[19 % 8];
	ok(slot->what == e.what && slot->timestamp == e.ts && slot->addr == e.value, "the slot has the same event");
	struct ctp_coro other, none = { 0 };
	ctp_coro_new(&other, 4);
	ctp_coro_await(&co, &other);
	e = ctp_current_->entries[0][ring(0)->head - 1];
	ok(e.value == ctp_coro_ref(&other) && e.ref == ctp_coro_ref(&co) && CTP_ENTRY_KIND(e.what) == 9, "an await has its target");
	uint64_t said = ring(0)->head;
	ctp_coro_await(&co, &none);
	ctp_coro_await(&none, &co);
	is_u64(ring(0)->head, said, "nothing is written about an await if one of the two is not traced");
	ctp_coro_death(&other);
	head()->mode = followed | CTP_MODE_BARE;
	ctp_coro_await(&co, &co);
	ctp_coro_resume(&co);
	ok(slot[1].seq == 4 && drain(0, CTP_ENTRY_RESUME, &n).ts && n == 11, "in bare mode only the ring has an event");
	head()->mode = CTP_MODE_RECORD;
	uint64_t before = ring(0)->head;
	struct ctp_shm_station *st = co.station_;
	ok(st->awaits != ctp_coro_ref(&co), "in bare mode the station has no target of an await");
	ctp_coro_await(&co, &co);
	ctp_coro_suspend(&co, CTP_HERE);
	ok(ring(0)->head == before && slot[2].seq == 6, "without a collector only the slots have an event");
	ok(st->awaits == ctp_coro_ref(&co) && st->await_event == 21 && st->await_generation == st->generation,
	   "without a collector the station has the target of an await");
	ctp_coro_death(&co);
}

static void test_overflow(void)
{
	enum { SIZE = 1 << CTP_RING_BITS_ };
	struct ctp_coro co;
	unsigned n;
	start_anew("1");
	head()->mode = followed;
	ctp_coro_new(&co, 3); /* two entries */
	for (int i = 0; i < SIZE - 2 + 5; i++)
		ctp_coro_resume(&co);
	ctp_coro_wake(&co);
	ctp_coro_await(&co, &co);
	is_u64(ring(0)->lost_events, 5, "events that found no room are counted");
	is_u64(ring(0)->lost_notes, 2, "other entries that found no room are counted");
	is_u64(ring(0)->head, SIZE, "nothing is overwritten");
	ring(0)->tail = 1;
	ctp_coro_resume(&co);
	is_u64(ring(0)->lost_events, 6, "with room for one entry, the gap cannot be written yet");
	drain(0, CTP_ENTRY_GAP, &n);
	ctp_coro_suspend(&co, CTP_HERE);
	struct ctp_shm_entry gap = drain(0, CTP_ENTRY_GAP, &n);
	ok(n == 1 && gap.value == 6 && CTP_ENTRY_NUMBER(gap.what) == 2 && gap.ts, "a gap says how many are missing");
	ctp_coro_suspend(&co, CTP_HERE);
	drain(0, CTP_ENTRY_GAP, &n);
	is_u64(n, 0, "the gap is written once");

	head()->mode = followed | CTP_MODE_LOSSLESS;
	head()->wait_us = 2000;
	for (int i = 0; i < SIZE + 50; i++)
		ctp_coro_resume(&co);
	is_u64(ring(0)->lost_events, 6 + 50, "lossless: after one wait in vain the probe waits no more, and the loss is counted");
	ctp_coro_death(&co);
}

static void *drain_slowly(void *arg)
{
	for (uint64_t all = 0; all < (uint64_t)(uintptr_t)arg;) {
		unsigned n;
		uint64_t tail = ring(0)->tail;
		sched_yield();
		drain(0, CTP_ENTRY_RESUME, &n);
		all += ring(0)->tail - tail;
	}
	return NULL;
}

static void test_lossless(void)
{
	enum { EVENTS = 3 << CTP_RING_BITS_ };
	struct ctp_coro co;
	pthread_t thread;
	start_anew("1");
	head()->mode = followed | CTP_MODE_LOSSLESS;
	head()->wait_us = CTP_WAIT_US_;
	ctp_coro_new(&co, 3);
	pthread_create(&thread, NULL, drain_slowly, (void *)(uintptr_t)(2 + EVENTS));
	for (int i = 0; i < EVENTS; i++)
		ctp_coro_resume(&co);
	pthread_join(thread, NULL);
	ok(!ring(0)->lost_events && ring(0)->head == 2 + EVENTS,
	   "lossless: three times the ring's size is written, and nothing is lost");
	ctp_coro_death(&co);
}

static struct ctp_coro in_handler;
static volatile sig_atomic_t handled;
static void on_signal(int sig)
{
	(void)sig;
	handled = handled + 1;
	ctp_coro_resume(&in_handler);
	ctp_coro_suspend(&in_handler, CTP_HERE);
}

static void *interrupt(void *arg)
{
	for (int i = 0; i < 2000; i++) {
		pthread_kill(*(pthread_t *)arg, SIGUSR1);
		sched_yield();
	}
	return NULL;
}

/* Whatever it interrupts, the entries of all rings are exactly those of the calls, whole, and each coroutine's in order. */
static void test_handler(void)
{
	struct ctp_coro co;
	pthread_t me = pthread_self(), thread;
	start_anew("1");
	head()->mode = followed;
	ctp_coro_new(&in_handler, 100);
	ctp_coro_new(&co, 200);
	signal(SIGUSR1, on_signal);
	handled = 0;
	pthread_create(&thread, NULL, interrupt, &me);
	uint64_t calls = 0;
	while (handled < 500 && calls < 200000) {
		struct ctp_coro brief;
		ctp_coro_resume(&co);
		ctp_coro_suspend(&co, (void *)(uintptr_t)calls);
		ctp_coro_new(&brief, 300);
		struct ctp_shm_station *st = brief.station_;
		ctp_coro_death(&brief);
		ctp_free_(ctp_current_, st, st->generation);
		calls++;
	}
	pthread_join(thread, NULL);
	signal(SIGUSR1, SIG_DFL);
	uint64_t next[2] = { 0 }, wrong = 0, rings = head()->rings_used;
	uint64_t ref[2] = { ctp_coro_ref(&co), ctp_coro_ref(&in_handler) };
	for (unsigned i = 0; i < rings; i++) {
		for (uint64_t at = 0; at < ring(i)->head; at++) {
			struct ctp_shm_entry e = ctp_current_->entries[i][at];
			int who = e.ref == ref[0] ? 0 : e.ref == ref[1] ? 1 : -1;
			if (who < 0 || CTP_ENTRY_KIND(e.what) > CTP_ENTRY_RESUME)
				continue;
			next[who]++;
			if (!who && CTP_ENTRY_KIND(e.what) == CTP_ENTRY_SUSPEND)
				wrong += e.value != CTP_ENTRY_NUMBER(e.what) / 2;
		}
	}
	note("%d signals, %u rings", (int)handled, (unsigned)rings);
	ok(handled && next[0] == 2 * calls && next[1] == 2 * (uint64_t)handled && !wrong, "a handler that traces disturbs nothing");
	is_u64(ctp_self_.depth, 0, "the handler's nesting level is undone");
	ctp_coro_death(&co);
	ctp_coro_death(&in_handler);
}

static void *brief_thread(void *arg)
{
	struct ctp_coro co;
	ctp_coro_new(&co, (uint64_t)(uintptr_t)arg);
	ctp_coro_death(&co);
	return NULL;
}

static void test_threads(void)
{
	start_anew("1");
	head()->mode = followed;
	for (uintptr_t i = 1; i <= 100; i++) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, brief_thread, (void *)i) || pthread_join(thread, NULL))
			abort();
	}
	ok(head()->rings_used < 10, "rings of ended threads are reused (%u)", head()->rings_used);
	uint64_t entries = 0;
	for (unsigned i = 0; i < head()->rings_used; i++)
		entries += ring(i)->head;
	is_u64(entries, 300, "they have all that was written: thread, birth, death");
}

static void test_fork(void)
{
	struct ctp_coro co, own;
	if (!madvise(ctp_current_, sizeof *ctp_current_, 9999)) {
		skip("this is an emulator that ignores madvise(2), by which a child knows that it is one");
		return;
	}
	start_anew("1");
	head()->mode = followed;
	ctp_coro_new(&co, 3);
	ctp_coro_resume(&co);
	uint64_t events = ring(0)->head, seq = co.station_->slots[1].seq;
	struct ctp_shm_station *st = co.station_;
	struct ctp_shm_ring *mine = ring(0);
	pid_t pid = fork();
	if (!pid) {
		ctp_coro_suspend(&co, CTP_HERE);
		ctp_coro_wake(&co);
		ctp_coro_name(&co, "child");
		ctp_coro_new(&own, 4);
		ctp_coro_resume(&own);
		bool apart = ctp_coro_traced(&own) && head()->owner == (uint64_t)getpid() && own.station_ != st;
		ctp_coro_death(&co);
		ctp_coro_death(&own);
		_exit(apart ? 0 : 1);
	}
	int status = -1;
	waitpid(pid, &status, 0);
	is_u64((unsigned)status, 0, "the child of a fork has a memory of its own");
	ok(mine->head == events && st->slots[1].seq == seq && !st->is_dead && !st->name_bytes,
	   "the child does not touch its parent's memory");
	ctp_coro_death(&co);
}

static void test_vfork(void)
{
	struct ctp_coro co;
	start_anew("1");
	ctp_coro_new(&co, 3);
	ctp_coro_resume(&co);
	pid_t pid = vfork();
	if (!pid) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	int status = -1;
	waitpid(pid, &status, 0);
	ctp_coro_suspend(&co, CTP_HERE);
	ok(!status && co.station_->slots[1].seq == 2, "a vfork and an exec change nothing");
	ctp_coro_death(&co);
}

/* A program that closes everything, as daemons do, and one that has no descriptors left. */
static void test_descriptors(void)
{
	struct ctp_coro co;
	start_anew("1");
	ctp_coro_new(&co, 3);
	for (int fd = 3; fd < 1024; fd++)
		close(fd);
	for (int i = 0; i < 20; i++)
		ctp_coro_resume(&co);
	ok(co.station_->slots[3].seq == 6, "closing all descriptors does not end the recording");
	head()->mode = followed;
	ctp_coro_suspend(&co, CTP_HERE);
	ok(!ring(0)->head, "no ring can be created then");
	struct rlimit limit, low;
	getrlimit(RLIMIT_NOFILE, &limit);
	low = limit;
	low.rlim_cur = 3;
	setrlimit(RLIMIT_NOFILE, &low);
	ctp_current_ = NULL;
	struct ctp_coro none;
	ctp_coro_new(&none, 1);
	ctp_coro_resume(&none);
	ctp_coro_death(&none);
	ok(!ctp_coro_traced(&none), "without a descriptor there is no memory, and no harm");
	setrlimit(RLIMIT_NOFILE, &limit);
}

int main(void)
{
	unsetenv("CTP_SHM_PATH");
	test_off();
	test_states();
	test_reuse();
	test_dead_collector();
	test_ring();
	test_overflow();
	test_lossless();
	test_handler();
	test_threads();
	test_fork();
	test_vfork();
	test_descriptors();
	return done_testing();
}
