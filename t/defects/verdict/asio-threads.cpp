/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
// asio-threads - what threads, strands and pools make of coroutines: blocking calls, spinning, locks, contexts that have ended.
#include "verdict-asio.hpp"
#include <csignal>
#include <fstream>
#include <future>
#include <mutex>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>

static void run_by(io_context &io, int threads)
{
	std::vector<std::thread> others;
	for (int i = 1; i < threads; i++)
		others.emplace_back([&io] { io.run(); });
	io.run();
	for (auto &other : others)
		other.join();
}

// strand_blocked: accounts on a strand. A value from elsewhere is asked for by a future, and get() blocks the thread until it
// is there; one caller asks the strand on which it runs itself, which cannot answer as long as it waits.
using strand = asio::strand<io_context::executor_type>;

static awaitable<void> accounts(io_context &io, strand &own)
{
	while (!over()) {
		co_await nap(2); // HERE strand_blocked
		std::promise<int> promise;
		auto answer = promise.get_future();
		if (due() && faulty) {
			bitten();
			asio::post(own, [&promise] { promise.set_value(1); });
		} else {
			asio::post(io, [&promise] { promise.set_value(2); });
		}
		answer.get();
	}
}

static awaitable<void> account_reader(strand &own)
{
	while (!over()) {
		co_await at(asio::post(own, use_awaitable));
		co_await nap(1);
	}
}

static void strand_blocked()
{
	io_context io;
	strand own(io.get_executor());
	co_spawn(own, accounts(io, own), detached);
	for (int i = 0; i < 3; i++)
		co_spawn(own, account_reader(own), detached);
	co_spawn(io, ticking(), detached);
	run_by(io, 2);
}

// blocking_poll: a licence is checked at a local daemon by poll() without a limit, on the only thread. On the day that the
// daemon does not answer, nothing moves.
static awaitable<void> licence_check(io_context &io)
{
	int fds[2];
	if (pipe(fds))
		abort();
	asio::posix::stream_descriptor answers(io, fds[0]);
	for (;;) {
		co_await nap(2); // HERE blocking_poll
		if (!due() && write(fds[1], "y", 1) != 1)
			abort();
		if (due())
			bitten();
		if (faulty) {
			pollfd p{fds[0], POLLIN, 0};
			poll(&p, 1, -1);
		}
		char c;
		co_await (at(answers.async_read_some(asio::buffer(&c, 1), use_awaitable)) || nap(100));
	}
}

static void blocking_poll()
{
	io_context io;
	ending end(io);
	co_spawn(io, licence_check(io), detached);
	for (int i = 0; i < 3; i++)
		co_spawn(io, ticking(), detached);
	io.run();
}

// spins_on_flag: one coroutine waits for a flag in a loop without a pause, and the one that sets it needs the same thread. It went
// well as long as there was a pause before the loop, which was taken out to be faster.
static awaitable<void> flag_reader(std::atomic<int> &flag, event &wanted)
{
	for (int i = 1; !over(); i++) {
		wanted.notify_all();
		if (due())
			bitten();
		if (!due() || !faulty)
			co_await nap(3); // HERE spins_on_flag
		while (flag.load() < i)
			;
	}
}

static awaitable<void> flag_setter(std::atomic<int> &flag, event &wanted)
{
	for (;;) {
		co_await at(wanted.wait());
		flag++;
	}
}

static void spins_on_flag()
{
	io_context io;
	std::atomic<int> flag = 0;
	event wanted(io);
	ending end(io);
	co_spawn(io, flag_setter(flag, wanted), detached);
	co_spawn(io, flag_reader(flag, wanted), detached);
	co_spawn(io, ticking(), detached);
	io.run();
}

// pool_exhausted: a directory walker on a pool of two threads. Each level starts the next one on the pool and blocks its thread
// until that is done; the first tree that is deeper than the pool is wide stops all.
static awaitable<int> walk(asio::thread_pool &pool, int depth)
{
	co_await nap(1); // HERE pool_exhausted
	if (!depth)
		co_return 1;
	if (faulty)
		co_return 1 + co_spawn(pool, walk(pool, depth - 1), asio::use_future).get();
	co_return 1 + co_await walk(pool, depth - 1);
}

static awaitable<void> walker(asio::thread_pool &pool)
{
	while (!over()) {
		int depth = due() ? 2 : 1;
		if (depth == 2)
			bitten();
		co_await at(co_spawn(pool, walk(pool, depth), use_awaitable));
	}
}

static void pool_exhausted()
{
	io_context io;
	asio::thread_pool pool(2);
	co_spawn(io, walker(pool), detached);
	co_spawn(io, ticking(), detached);
	io.run();
	remain();
}

// mutex_across_await: a std::mutex is held over a co_await. The second coroutine on the same thread that wants it blocks the
// thread on which the first would go on.
static awaitable<void> mutex_holder(std::mutex &mutex, event &locked)
{
	while (!over()) {
		{
			std::unique_lock lock(mutex);
			if (due()) {
				bitten();
				locked.notify_all();
				if (!faulty)
					lock.unlock();
				co_await nap(5); // HERE mutex_across_await
			}
		}
		co_await nap(2);
	}
}

static awaitable<void> mutex_user(std::mutex &mutex, event &locked)
{
	for (;;) {
		if (due())
			co_await at(locked.wait()); // HERE mutex_across_await
		else
			co_await nap(1); // HERE mutex_across_await
		std::unique_lock lock(mutex);
	}
}

static void mutex_across_await()
{
	io_context io;
	std::mutex mutex;
	event locked(io);
	ending end(io);
	co_spawn(io, mutex_user(mutex, locked), detached);
	co_spawn(io, mutex_holder(mutex, locked), detached);
	co_spawn(io, ticking(), detached);
	io.run();
}

// post_storm: a coroutine looks for the end of a job in a loop, with post() to let others run. The job was cancelled and never says that it is done:
// the loop goes on for ever and takes a whole core, and nobody waits for a thread.
static awaitable<void> job_done(bool &is_done, bool is_cancelled)
{
	co_await nap(2);
	if (is_cancelled && faulty)
		co_return bitten();
	is_done = true;
}

static awaitable<void> job_poller(io_context &io)
{
	while (!over()) {
		bool is_done = false;
		co_spawn(io, job_done(is_done, due()), detached);
		while (!is_done) {
			std::ifstream("/proc/self/status").get();
			co_await at(asio::post(use_awaitable)); // HERE post_storm
		}
		co_await nap(10);
	}
}

static void post_storm()
{
	io_context io;
	co_spawn(io, job_poller(io), detached);
	co_spawn(io, ticking(), detached);
	io.run();
}

// guard_forgotten: a second context for disk work has a thread and no work guard. Its run() returns in the first moment without
// work, and what is spawned there later never starts.
static awaitable<int> disk_job() // HERE guard_forgotten
{
	co_return 1;
}

static awaitable<void> flusher()
{
	while (!due())
		co_await nap(20);
}

static awaitable<void> disk_user(io_context &disk)
{
	while (!over()) {
		co_await at(co_spawn(disk, disk_job(), use_awaitable)); // HERE guard_forgotten
		co_await nap(3);
	}
}

static void guard_forgotten()
{
	io_context io, disk;
	auto guard = asio::make_work_guard(disk);
	co_spawn(disk, flusher(), detached);
	if (faulty)
		guard.reset();
	std::thread thread([&disk] {
		disk.run();
		bitten();
	});
	co_spawn(io, disk_user(disk), detached);
	co_spawn(io, ticking(), detached);
	io.run();
	guard.reset();
	thread.join();
}

// crash: a session was removed from the table while its coroutine waited, and what it then gets from the table is no session.
struct table_entry {
	volatile int hits = 0;
};

static awaitable<void> session_user(std::vector<std::unique_ptr<table_entry>> &table, size_t i)
{
	for (;;) {
		co_await nap(3); // HERE crash
		if (table[i] || faulty)
			table[i].get()->hits = 1;
	}
}

static awaitable<void> session_reaper(std::vector<std::unique_ptr<table_entry>> &table)
{
	while (!due())
		co_await nap(10);
	table[5].reset();
}

static void crash()
{
	io_context io;
	std::vector<std::unique_ptr<table_entry>> table;
	rlimit none{0, 0};
	setrlimit(RLIMIT_CORE, &none);
	ending end(io);
	for (size_t i = 0; i < 8; i++) {
		table.push_back(std::make_unique<table_entry>());
		co_spawn(io, session_user(table, i), detached);
	}
	co_spawn(io, session_reaper(table), detached);
	io.run();
}

// long_computation: an image is rendered on a pool of its own for 1.5 s without a pause, which is what the pool is for. Nobody
// waits for that thread; the network goes on meanwhile.
static awaitable<unsigned> render()
{
	unsigned sum = 1;
	for (auto start = corpus_clock::now(); corpus_clock::now() - start < 1500ms;)
		for (int i = 0; i < 100000; i++)
			sum = sum * 1103515245 + 12345;
	co_return sum;
}

static awaitable<void> render_user(asio::thread_pool &pool)
{
	while (!due())
		co_await nap(3);
	(void)co_await at(co_spawn(pool, render(), use_awaitable));
	while (!over())
		co_await nap(3);
}

static void long_computation()
{
	io_context io;
	asio::thread_pool pool(1);
	co_spawn(io, render_user(pool), detached);
	co_spawn(io, ticking(), detached);
	io.run();
	pool.join();
}

// blocking_pool: calls that block (a database driver of the old kind) are done on a pool that exists for them; one takes 1.3 s
// in a system call. Its thread stands still, the others go on, and so does the program.
static awaitable<void> old_driver(int ms)
{
	usleep((unsigned)ms * 1000);
	co_return;
}

static awaitable<void> driver_user(asio::thread_pool &pool, bool is_slow)
{
	bool was_slow = false;
	while (!over()) {
		int ms = is_slow && due() && !was_slow ? 1300 : 2;
		was_slow = due();
		co_await at(co_spawn(pool, old_driver(ms), use_awaitable));
	}
}

static void blocking_pool()
{
	io_context io;
	asio::thread_pool pool(2);
	co_spawn(io, driver_user(pool, true), detached);
	co_spawn(io, driver_user(pool, false), detached);
	co_spawn(io, ticking(), detached);
	io.run();
	pool.join();
}

// polite_batch: a re-index that gives way after each record by post(). It is ready to run all the time, is resumed a hundred
// thousand times, and lets everybody pass.
volatile unsigned index_sum;

static awaitable<void> re_index()
{
	unsigned sum = 0;
	while (!over()) {
		for (int i = 0; i < 20000; i++)
			sum = sum * 31 + 7;
		co_await at(asio::post(use_awaitable));
	}
	index_sum = sum;
}

static void polite_batch()
{
	io_context io;
	co_spawn(io, re_index(), detached);
	for (int i = 0; i < 3; i++)
		co_spawn(io, ticking(), detached);
	io.run();
}

// busy_strand: twenty coroutines share a strand on three threads, one of them is always ready to run and has to wait for its
// turn. All get on.
static awaitable<void> strand_user(strand &shared, int &counter)
{
	while (!over()) {
		co_await at(asio::post(shared, use_awaitable));
		counter++;
		co_await nap(1);
	}
}

static void busy_strand()
{
	io_context io;
	strand shared(io.get_executor());
	int counter = 0;
	for (int i = 0; i < 20; i++)
		co_spawn(shared, strand_user(shared, counter), detached);
	run_by(io, 3);
}

// never_awaited: lazy coroutines are made in advance for each request, and dropped unstarted where the cache had the answer. One
// is kept in a variable until the end, just in case.
static awaitable<int> expensive(int key)
{
	co_await nap(2);
	co_return key;
}

static awaitable<void> cached()
{
	auto just_in_case = expensive(-1);
	for (int key = 0; !over(); key++) {
		auto answer = expensive(key);
		if (key % 4)
			co_await nap(1);
		else
			(void)co_await std::move(answer);
	}
}

static void never_awaited()
{
	io_context io;
	co_spawn(io, cached(), detached);
	io.run();
}

// stopped_for_a_while: somebody presses Ctrl-Z and goes on a second later. All stood still, nobody was late.
static void stopped_for_a_while()
{
	io_context io;
	pid_t self = getpid();
	steady_timer suspend(io, 800ms);
	suspend.async_wait([&io, self](error_code) {
		io.notify_fork(io_context::fork_prepare);
		pid_t child = fork();
		if (!child) {
			sleep(1);
			kill(self, SIGCONT);
			_exit(0);
		}
		io.notify_fork(io_context::fork_parent);
		raise(SIGSTOP);
		waitpid(child, nullptr, 0);
	});
	for (int i = 0; i < 3; i++)
		co_spawn(io, ticking(), detached);
	io.run();
}

static const scenario all[] = {
	{"strand_blocked", "defect long-run", strand_blocked},
	{"blocking_poll", "defect long-run", blocking_poll},
	{"spins_on_flag", "defect long-run", spins_on_flag},
	{"pool_exhausted", "defect long-run", pool_exhausted},
	{"mutex_across_await", "defect long-run", mutex_across_await},
	{"post_storm", "defect", post_storm},
	{"guard_forgotten", "defect", guard_forgotten},
	{"crash", "defect crash", crash},
	{"long_computation", "healthy", long_computation},
	{"blocking_pool", "healthy", blocking_pool},
	{"polite_batch", "healthy", polite_batch},
	{"busy_strand", "healthy", busy_strand},
	{"never_awaited", "healthy", never_awaited},
	{"stopped_for_a_while", "healthy", stopped_for_a_while},
};

int main(int argc, char **argv)
{
	return corpus_main(all, argc, argv);
}
