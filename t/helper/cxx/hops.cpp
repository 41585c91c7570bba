/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * hops.cpp - coroutines that go from thread to thread: a coroutine may run on another one before its await_suspend returns. Each
 * spawns children, waits for some, and destroys others. Prints what the trace should have.
 */
#include "ctp.hpp"

#include <condition_variable>
#include <cstdio>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

enum { THREADS = 3, ROOTS = 16, ROUNDS = 20 };

static struct {
	std::mutex lock;
	std::condition_variable change;
	std::deque<std::coroutine_handle<>> queue;
	int alive = ROOTS;
} sched;

static void make_ready(std::coroutine_handle<> h, ctp::waker w)
{
	std::lock_guard<std::mutex> guard(sched.lock);
	w.wake();
	sched.queue.push_back(h);
	sched.change.notify_one();
}

struct hop {
	bool await_ready() noexcept { return false; }
	template <class P> void await_suspend(std::coroutine_handle<P> h) { make_ready(h, ctp::waker(h)); }
	void await_resume() noexcept {}
};

class task {
public:
	struct promise_type : ctp::promise {
		std::coroutine_handle<> next = std::noop_coroutine();
		task get_return_object() { return task(std::coroutine_handle<promise_type>::from_promise(*this)); }
		std::suspend_always initial_suspend() noexcept { return {}; }
		auto final_suspend() noexcept
		{
			struct to_next : std::suspend_always {
				auto await_suspend(std::coroutine_handle<promise_type> p) noexcept { return p.promise().next; }
			};
			return to_next();
		}
		void return_void() {}
		void unhandled_exception() { std::terminate(); }
	};

	explicit task(std::coroutine_handle<promise_type> handle) : h(handle) {}
	task(task &&other) noexcept : h(std::exchange(other.h, nullptr)) {}
	~task()
	{
		if (h)
			h.destroy();
	}
	bool await_ready() { return false; }
	auto await_suspend(std::coroutine_handle<> parent)
	{
		h.promise().next = parent;
		return h;
	}
	void await_resume() {}
	std::coroutine_handle<promise_type> h;
};

static task child() { co_await hop(); }

static task root()
{
	for (int i = 0; i < ROUNDS; i++) {
		co_await hop();
		co_await child();
		task never_started = child();
	}
	std::lock_guard<std::mutex> guard(sched.lock);
	if (!--sched.alive)
		sched.change.notify_all();
}

static void work()
{
	std::unique_lock<std::mutex> guard(sched.lock);
	for (;;) {
		sched.change.wait(guard, [] { return !sched.alive || !sched.queue.empty(); });
		if (sched.queue.empty())
			return;
		std::coroutine_handle<> h = sched.queue.front();
		sched.queue.pop_front();
		guard.unlock();
		h.resume();
		guard.lock();
	}
}

int main()
{
	std::vector<task> roots;
	std::vector<std::thread> threads;
	for (int i = 0; i < ROOTS; i++) {
		roots.push_back(root());
		make_ready(roots.back().h, ctp::waker(roots.back().h));
	}
	for (int i = 0; i < THREADS; i++)
		threads.emplace_back(work);
	for (std::thread &t : threads)
		t.join();

	/* Of a root: its start (2), its end, and in each round a hop, an await, a child (5), and one that does not start. */
	std::printf("transitions %d\n", ROOTS * (2 + ROUNDS * (2 + 2 + 4 + 1)));
	std::printf("births %d\n", ROOTS * (1 + 2 * ROUNDS));
	std::printf("wakes %d\n", ROOTS * (1 + 2 * ROUNDS));
	return 0;
}
