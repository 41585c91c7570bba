/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * sdk.c - the C probe with a minimal engine: a file and a listening socket; the test checks the raw bytes.
 *
 * A process attaches once; forget() makes the probe believe that it has not, so that each test begins with a new engine.
 */
#include "ctp.h"
#include "tap.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { STATION = 1024, SLOT = 64, STATIONS = 16 };

static struct engine {
	char dir[64], shm_path[96], sock_path[96];
	int shm, listener;
	uint8_t *mem;
} eng;

static void forget(void)
{
	if (ctp_current_ && ctp_current_->link)
		ctp_current_->link->holders = 0; /* another copy of the probe does not find it either */
	ctp_current_ = NULL;
}

static uint64_t u64(size_t at)
{
	uint64_t v;
	if (pread(eng.shm, &v, sizeof v, (off_t)at) != sizeof v)
		return UINT64_MAX;
	return v;
}

static uint32_t u32(size_t at)
{
	return (uint32_t)u64(at);
}

static void put(size_t at, uint64_t v, size_t bytes)
{
	if (pwrite(eng.shm, &v, bytes, (off_t)at) != (ssize_t)bytes)
		abort();
}

static uint64_t in_slot(unsigned station, unsigned slot, unsigned at)
{
	return u64(STATION * (1 + station) + 0x40 + SLOT * slot + at);
}

static void engine_listen(int backlog)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	snprintf(un.sun_path, sizeof un.sun_path, "%s", eng.sock_path);
	eng.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (bind(eng.listener, (struct sockaddr *)&un, sizeof un) || listen(eng.listener, backlog))
		abort();
}

static void engine_start(void)
{
	forget();
	snprintf(eng.dir, sizeof eng.dir, "/tmp/ctp-sdk-XXXXXX");
	if (!mkdtemp(eng.dir))
		abort();
	snprintf(eng.shm_path, sizeof eng.shm_path, "%s/shm", eng.dir);
	snprintf(eng.sock_path, sizeof eng.sock_path, "%s/sock", eng.dir);
	eng.shm = open(eng.shm_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (ftruncate(eng.shm, STATION * (1 + STATIONS)))
		abort();
	put(0, 0x434F524F54524352, 8);
	put(8, 1, 4);
	put(12, STATIONS, 4);
	engine_listen(4);
	setenv("CTP_SHM_PATH", eng.shm_path, 1);
	setenv("CTP_SOCK_PATH", eng.sock_path, 1);
	setenv("CTP_MAX_STATIONS", "16", 1);
}

static void engine_stop(void)
{
	close(eng.shm);
	close(eng.listener);
	unlink(eng.shm_path);
	unlink(eng.sock_path);
	rmdir(eng.dir);
	unsetenv("CTP_SHM_PATH");
	unsetenv("CTP_SOCK_PATH");
	unsetenv("CTP_MAX_STATIONS");
	forget();
}

static int engine_accept(void)
{
	return accept4(eng.listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

/* The received bytes, up to 63, as text. */
static const char *received(int fd)
{
	static char buf[64];
	ssize_t n = read(fd, buf, sizeof buf - 1);
	buf[n > 0 ? n : 0] = 0;
	return buf;
}

static void test_untraced(void)
{
	struct ctp_coro co = { 0 };
	ctp_coro_suspend(&co, CTP_HERE);
	ctp_coro_death(&co);
	errno = 77;
	ok(!ctp_traced() && !ctp_init() && !ctp_traced(), "without its variables a program is not traced");
	memset(&co, 0xff, sizeof co);
	ctp_coro_new(&co, 5);
	ctp_coro_suspend(&co, CTP_HERE);
	ctp_coro_resume(&co);
	ok(!ctp_coro_traced(&co) && !ctp_coro_id(&co), "its coroutines are not traced");
	ctp_coro_death(&co);
	ctp_coro_death(&co);
	is_u64(errno, 77, "errno is left alone");
	forget();
}

static void test_environment(void)
{
	static const struct {
		const char *max, *what;
		unsigned stations;
	} max[] = { { "", "empty", 0 }, { "x", "no number", 0 }, { "-1", "negative", 0 }, { "12x", "half a number", 0 },
	            { " 3", "a space", 0 }, { "0", "none", 0 }, { "3", "fewer than the engine says", 3 },
	            { "99", "more than the engine says", STATIONS }, { "99999999999999999999999", "absurd", STATIONS },
	            { "18446744073709551615", "2^64 - 1", STATIONS } };
	engine_start();
	for (size_t i = 0; i < sizeof max / sizeof *max; i++) {
		setenv("CTP_MAX_STATIONS", max[i].max, 1);
		ctp_init();
		is_u64(ctp_current_->max_stations, max[i].stations, max[i].what);
		forget();
	}
	unsetenv("CTP_MAX_STATIONS");
	ok(!ctp_init(), "CTP_MAX_STATIONS missing");
	forget();
	setenv("CTP_MAX_STATIONS", "16", 1);

	static const char *const paths[] = { "", "/nonexistent", "/dev/null", "/tmp", "/dev/tty", "/proc/self/maps" };
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		setenv("CTP_SHM_PATH", paths[i], 1);
		ok(!ctp_init(), "CTP_SHM_PATH=%s", paths[i]);
		forget();
	}
	setenv("CTP_SHM_PATH", eng.shm_path, 1);

	put(0, 0x434F524F54524353, 8);
	ok(!ctp_init(), "a file with a wrong magic is refused");
	forget();
	put(0, 0x434F524F54524352, 8);
	put(8, 2, 4);
	ok(!ctp_init(), "a file with a wrong version is refused");
	forget();
	put(8, 1, 4);
	put(12, UINT32_MAX, 4);
	setenv("CTP_MAX_STATIONS", "4294967295", 1);
	ok(ctp_init(), "a file with fewer stations than its header says is accepted");
	is_u64(ctp_current_->max_stations, STATIONS, "only the stations in the file are used");
	struct ctp_coro co;
	for (int i = 0; i < STATIONS + 2; i++) {
		ctp_coro_new(&co, 0);
		ctp_coro_resume(&co);
	}
	forget();
	if (ftruncate(eng.shm, STATION * 2 - 1))
		abort();
	ok(!ctp_init(), "a file without room for a station is refused");
	forget();

	engine_stop();
	engine_start();
	setenv("CTP_SOCK_PATH", "/tmp/ctp-a-path-that-is-too-long-for-a-socket-address/"
	       "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", 1);
	put(0x14, 1, 4);
	ctp_coro_new(&co, 0);
	ctp_coro_resume(&co);
	ok(ctp_traced() && in_slot(0, 0, 0x18) == 2 && u32(0x14) == 1,
	   "without a socket the program is traced, and the flag is left set");
	engine_stop();
}

static void test_bytes(void)
{
	engine_start();
	struct ctp_coro co, second;
	uint64_t before = ctp_clock_();
	ctp_coro_new(&co, 0xabcdef);
	ctp_coro_new(&second, 0);
	is_u64(u32(0x10), 2, "allocated_count");
	is_u64(u64(STATION), 0xabcdef, "probe_id");
	ok(u64(STATION + 8) >= before && u64(STATION + 8) <= ctp_clock_(), "birth_ts");
	is_u64(u64(STATION + 0x240), UINT64_C(0x12b505443), "announce");
	is_u64(ctp_coro_id(&co), 0xabcdef, "ctp_coro_id");
	is_u64(ctp_coro_id(&second), 2, "a chosen id is kept");
	is_u64(in_slot(0, 0, 0x18), 0, "a new station has no event");

	const char *here = NULL, *self = (const char *)(uintptr_t)test_bytes;
	for (uint64_t k = 0; k < 20; k++) {
		uint64_t t = ctp_clock_();
		if (k % 2)
			ctp_coro_resume(&co);
		else
			ctp_coro_suspend(&co, here = CTP_HERE);
		unsigned slot = k % 8;
		if (in_slot(0, slot, 0x18) != 2 * (k / 8 + 1) || in_slot(0, slot, 0x08) != (uint64_t)syscall(SYS_gettid) ||
		    in_slot(0, slot, 0x10) != (k % 2 ? 0 : (uintptr_t)here) || in_slot(0, slot, 0) < t ||
		    in_slot(0, slot, 0) > ctp_clock_() || in_slot(0, slot, 0x38) >> 56 != k % 2 || in_slot(0, slot, 0x20))
			ok(0, "event %u", (unsigned)k);
	}
	ok(here > self && here < self + 65536, "CTP_HERE is in this function");
	is_u64(in_slot(0, 3, 0x18), 6, "event 19 is in slot 3, third lap");
	is_u64(in_slot(0, 4, 0x18), 4, "event 12 is in slot 4, second lap");
	is_u64(in_slot(1, 0, 0x18), 0, "the other station has none");
	is_u64(u64(STATION + 0x10), 0, "the station is marked as alive");
	ctp_coro_death(&co);
	is_u64(u64(STATION + 0x10), 1, "the station is marked as dead");
	ctp_coro_resume(&co);
	ctp_coro_death(&co);
	is_u64(in_slot(0, 4, 0x18), 4, "no event is written after the death");
	ok(!ctp_coro_traced(&co) && ctp_coro_traced(&second), "ctp_coro_traced");

	for (int i = 2; i < STATIONS + 5; i++)
		ctp_coro_new(&co, 0);
	ok(!ctp_coro_traced(&co) && !ctp_coro_id(&co), "a coroutine without a station is not traced");
	ctp_coro_resume(&co);
	is_u64(u32(0x10), STATIONS + 5, "the count includes those that found no station");
	put(0x10, UINT32_MAX, 4);
	ctp_coro_new(&co, 0);
	ctp_coro_new(&co, 0);
	ok(u32(0x10) == UINT32_MAX && !ctp_coro_traced(&co), "the count does not wrap to 0");
	engine_stop();
}

static void test_wake(void)
{
	struct ctp_coro co;
	engine_start();
	ctp_coro_new(&co, 0);
	int conn = engine_accept();
	ok(conn >= 0 && engine_accept() < 0, "the probe connects once");
	ctp_coro_resume(&co);
	is(received(conn), "", "no byte is sent while the collector is awake");
	put(0x14, 1, 4);
	errno = 77;
	ctp_coro_suspend(&co, NULL);
	ctp_coro_resume(&co);
	is(received(conn), "1", "one byte is sent for each sleep");
	is_u64(u32(0x14), 0, "the flag is reset");
	put(0x14, 2, 4);
	ctp_coro_resume(&co);
	ok(u32(0x14) == 2 && !*received(conn), "a flag of 2 does not mean asleep");

	int bytes = 0;
	for (bool full = false; !full && bytes < 1000000; bytes++) {
		put(0x14, 1, 4);
		ctp_coro_resume(&co);
		int fd = (int)((uint32_t)ctp_current_->sock - 1);
		full = send(fd, "x", 1, MSG_DONTWAIT) < 0;
	}
	ok(bytes < 1000000, "a collector that does not read does not block the probe, after %d bytes", bytes);
	put(0x14, 1, 4);
	ctp_coro_resume(&co);
	close(conn);
	close(eng.listener);
	put(0x14, 1, 4);
	ctp_coro_resume(&co);
	put(0x14, 1, 4);
	ctp_coro_resume(&co);
	ok(ctp_traced(), "a write to a collector that died raises no signal");
	is_u64(errno, EAGAIN, "errno is as the test's own send left it");
	engine_stop();

	engine_start();
	close(eng.listener);
	put(0x14, 1, 4);
	ctp_coro_new(&co, 0);
	ctp_coro_resume(&co);
	ok(in_slot(0, 0, 0x18) == 2 && u32(0x14) == 1, "without a listener the program is traced all the same");
	engine_stop();

	engine_start();
	close(eng.listener);
	unlink(eng.sock_path);
	engine_listen(0);
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	snprintf(un.sun_path, sizeof un.sun_path, "%s", eng.sock_path);
	int filler[8];
	for (int i = 0; i < 8; i++) {
		filler[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
		connect(filler[i], (struct sockaddr *)&un, sizeof un);
	}
	ctp_coro_new(&co, 0);
	ok(ctp_coro_traced(&co) && !ctp_current_->sock, "a full backlog does not block");
	for (int i = 0; i < 8; i++)
		close(filler[i]);
	engine_stop();
}

/* Numbers of files are unique only on one device. */
static void test_mapped(void)
{
	struct stat st;
	int fd = memfd_create("mapped", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, 4096) || fstat(fd, &st))
		abort();
	ok(!ctp_mapped_(&st), "a file that is not mapped is not found");
	void *page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	ok(ctp_mapped_(&st), "a mapped file is found");
	st.st_dev++;
	ok(!ctp_mapped_(&st), "a mapped file with the same number on another device is another one");
	munmap(page, 4096);
	close(fd);
}

static void test_descriptors(void)
{
	struct ctp_coro co;
	int p[2];
	engine_start();
	if (pipe2(p, O_NONBLOCK))
		abort();
	int low = dup(p[0]), next = dup(p[0]);
	close(low);
	close(next);
	ctp_coro_new(&co, 0);
	int low_now = dup(p[0]), next_now = dup(p[0]), fd = (int)((uint32_t)ctp_current_->sock - 1);
	ok(low_now == low && next_now == next, "the program's own descriptors get the same numbers");
	ok(fcntl(fd, F_GETFD) & FD_CLOEXEC && fcntl(fd, F_GETFL) & O_NONBLOCK, "close-on-exec, non-blocking");
	close(low_now);
	close(next_now);
	int conn = engine_accept(), pair[2];

	put(0x14, 1, 4);
	dup2(p[1], fd);
	ctp_coro_resume(&co);
	is(received(p[0]), "", "a descriptor that the program reused gets nothing");
	close(conn);
	conn = engine_accept();
	fd = (int)((uint32_t)ctp_current_->sock - 1);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair))
		abort();
	dup2(pair[0], fd);
	ctp_coro_resume(&co);
	is(received(pair[1]), "", "a socket of the program in a reused descriptor gets nothing");
	close(pair[0]);
	close(pair[1]);
	int conn2 = engine_accept();
	ok(conn2 >= 0 && u32(0x14) == 1, "a new connection is made instead, which wakes the collector by itself");
	ctp_coro_resume(&co);
	is(received(conn2), "1", "the new connection is used from then on");
	close((int)((uint32_t)ctp_current_->sock - 1));
	unlink(eng.sock_path);
	put(0x14, 1, 4);
	ctp_coro_resume(&co);
	ctp_coro_resume(&co);
	ok(!ctp_current_->sock && u32(0x14) == 1 && in_slot(0, 4, 0x18) == 2,
	   "if it cannot connect again, the program is traced without wakes");
	close(fd);
	close(conn);
	close(conn2);
	engine_stop();

	engine_start();
	struct rlimit limit, none;
	getrlimit(RLIMIT_NOFILE, &limit);
	none = limit;
	none.rlim_cur = 3;
	setrlimit(RLIMIT_NOFILE, &none);
	bool traced = ctp_init();
	none.rlim_cur = 256;
	setrlimit(RLIMIT_NOFILE, &none);
	ok(!traced, "without a free descriptor the program is not traced");
	forget();
	ok(ctp_init() && ctp_current_->sock && (uint32_t)ctp_current_->sock <= 256,
	   "without a free descriptor above 960 a low one is used");
	setrlimit(RLIMIT_NOFILE, &limit);
	close((int)((uint32_t)ctp_current_->sock - 1));
	close(p[0]);
	close(p[1]);
	engine_stop();
}

/* In a child: 0, or the number of the check that failed. */
static int child(struct ctp_coro *inherited)
{
	struct ctp_coro own;
	if (ctp_traced() || ctp_coro_traced(inherited))
		return 1;
	ctp_coro_resume(inherited);
	ctp_coro_suspend(inherited, NULL);
	ctp_coro_death(inherited);
	ctp_coro_new(&own, 0);
	if (!ctp_traced() || ctp_coro_id(&own) != 2)
		return 2;
	ctp_coro_resume(&own);
	if (in_slot(1, 0, 0x08) != (uint64_t)syscall(SYS_gettid))
		return 3;
	return 0;
}

static void test_fork(bool raw)
{
	struct ctp_coro co, more;
	if (!madvise(ctp_current_, sizeof *ctp_current_, 9999)) {
		skip("this is an emulator that ignores madvise(2), by which a child knows that it is one");
		return;
	}
	engine_start();
	ctp_coro_new(&co, 0);
	ctp_coro_resume(&co);
	pid_t pid = raw ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : fork();
	if (!pid)
		_exit(child(&co));
	int status;
	waitpid(pid, &status, 0);
	is_u64(status, 0, raw ? "a clone that runs no handlers has its own stations" : "the child of a fork has its own stations");
	ok(in_slot(0, 1, 0x18) == 0 && !u64(STATION + 0x10), "the child does not write to its parent's station");
	ctp_coro_suspend(&co, NULL);
	is_u64(in_slot(0, 1, 0x08), syscall(SYS_gettid), "the parent continues in its station");
	ctp_coro_new(&more, 0);
	is_u64(ctp_coro_id(&more), 3, "the parent's next coroutine gets the next id");
	int first = engine_accept(), second = engine_accept();
	ok(first >= 0 && second >= 0 && engine_accept() < 0, "parent and child have a connection each");
	close(first);
	close(second);
	engine_stop();
}

enum { THREADS = 8 };
static pthread_barrier_t barrier;

static void *attach(void *arg)
{
	struct ctp_coro *co = arg;
	pthread_barrier_wait(&barrier);
	ctp_coro_new(co, 0);
	ctp_coro_resume(co);
	return NULL;
}

static void test_attach_race(void)
{
	struct ctp_coro co[THREADS];
	pthread_t t[THREADS];
	uint64_t ids = 0;
	int alone = 0, rounds = 50;
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (int round = 0; round < rounds; round++) {
		engine_start();
		for (int i = 0; i < THREADS; i++)
			pthread_create(&t[i], NULL, attach, &co[i]);
		for (int i = 0; i < THREADS; i++)
			pthread_join(t[i], NULL);
		ids = 0;
		for (int i = 0; i < THREADS; i++)
			ids |= UINT64_C(1) << ctp_coro_id(&co[i]);
		int conn = engine_accept();
		alone += ids == 0x1fe && conn >= 0 && engine_accept() < 0;
		close(conn);
		close((int)((uint32_t)ctp_current_->sock - 1));
		engine_stop();
	}
	is_u64(alone, rounds, "threads that attach at once make one connection and get a station each");
}

enum { EVENTS = 400000 };

static void *write_events(void *arg)
{
	struct ctp_coro *co = arg;
	for (uint64_t k = 0; k < EVENTS; k++)
		if (k % 2)
			ctp_coro_resume(co);
		else
			ctp_coro_suspend(co, (const void *)(uintptr_t)(k + 1));
	return NULL;
}

#if defined __SANITIZE_THREAD__ && !defined __clang__
#pragma GCC diagnostic ignored "-Wtsan" /* gcc does not model fences; nothing rests on that, the payload is atomic */
#endif

/* The protocol's reader, as short as it can be: each complete slot has its own number in two words. */
static void test_reader(void)
{
	struct ctp_coro co;
	pthread_t t;
	engine_start();
	ctp_coro_new(&co, 0);
	struct ctp_shm_station *st = (struct ctp_shm_station *)(ctp_current_->shm + 1);
	pthread_create(&t, NULL, write_events, &co);
	uint64_t whole = 0, torn = 0, newest = 0;
	while (newest < EVENTS - 1) {
		for (unsigned i = 0; i < 8; i++) {
			struct ctp_shm_slot *slot = &st->slots[i];
			uint64_t seq = __atomic_load_n(&slot->seq, __ATOMIC_ACQUIRE);
			if (!seq || seq % 2)
				continue;
			uint64_t addr = __atomic_load_n(&slot->addr, __ATOMIC_RELAXED);
			uint64_t ts = __atomic_load_n(&slot->timestamp, __ATOMIC_RELAXED);
			uint8_t active = __atomic_load_n(&slot->is_active, __ATOMIC_RELAXED);
			__atomic_thread_fence(__ATOMIC_ACQUIRE);
			if (__atomic_load_n(&slot->seq, __ATOMIC_RELAXED) != seq)
				continue;
			uint64_t k = (seq / 2 - 1) * 8 + i;
			whole++;
			torn += addr != (k % 2 ? 0 : k + 1) || active != k % 2 || !ts;
			newest = k > newest ? k : newest;
		}
	}
	pthread_join(t, NULL);
	ok(whole > 0 && !torn, "%" PRIu64 " slots read while they were written, %" PRIu64 " torn", whole, torn);
	engine_stop();
}

int main(void)
{
	setenv("CTP_RECORD", "0", 1); /* an engine of version 1, or nothing */
	alarm(120); /* nothing here may block */
	unsetenv("CTP_SHM_PATH");
	test_untraced();
	test_environment();
	test_bytes();
	test_wake();
	test_mapped();
	test_descriptors();
	test_fork(false);
	test_fork(true);
	test_attach_race();
	test_reader();
	return done_testing();
}
