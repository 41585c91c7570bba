/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * mutex.cpp - a mutex for coroutines, in C++20. Each customer waits for a visit that it makes, and the visit for the mutex.
 * With the bug one of them leaves the mutex to the next, and does not tell it.
 */
#include "ctp.hpp"

#include <chrono>
#include <cstdio>
#include <cstring>
#include <deque>
#include <exception>
#include <thread>
#include <utility>

enum { CUSTOMERS = 12, VISITS = 15, UNLUCKY = 5, UNLUCKY_VISIT = 4 };

static bool bug;
/* Starts when it is awaited, and resumes its awaiter; or is started by the scheduler, without an awaiter. */
class task {
public:
	struct promise_type : ctp::promise {
		std::coroutine_handle<> next = std::noop_coroutine();
		task get_return_object() { return task(std::coroutine_handle<promise_type>::from_promise(*this)); }
		std::suspend_always initial_suspend() noexcept { return {}; }
		auto final_suspend() noexcept
		{
			struct to_next : std::suspend_always {
				auto await_suspend(std::coroutine_handle<promise_type> self) noexcept { return self.promise().next; }
			};
			return to_next();
		}
		void return_void() {}
		void unhandled_exception() { std::terminate(); }
	};

	using handle = std::coroutine_handle<promise_type>;
	explicit task(handle of) : h(of) {}
	task(task &&other) noexcept : h(std::exchange(other.h, nullptr)) {}
	~task()
	{
		if (h)
			h.destroy();
	}
	bool await_ready() { return false; }
	auto await_suspend(std::coroutine_handle<> awaits)
	{
		h.promise().next = awaits;
		return h;
	}
	void await_resume() {}
	handle h;
};

static std::deque<task::handle> run_queue;

static void make_ready(task::handle h)
{
	ctp::wake(h); /* before anybody can resume it */
	run_queue.push_back(h);
}

struct yield {
	bool await_ready() { return false; }
	void await_suspend(task::handle h) { make_ready(h); }
	void await_resume() {}
};

static class {
	bool taken = false;
	std::deque<task::handle> waiting;

public:
	auto &lock() { return *this; }
	bool await_ready() { return !std::exchange(taken, true); }
	void await_suspend(task::handle h) { waiting.push_back(h); }
	void await_resume() {}
	void unlock(bool forget)
	{
		taken = !waiting.empty() && !forget;
		if (waiting.empty())
			return;
		if (!forget) /* the bug: it was to be told */
			make_ready(waiting.front());
		waiting.pop_front();
	}
} mutex;

static task visit(int customer, int number)
{
	co_await mutex.lock(); /* stuck here */
	co_await yield();
	mutex.unlock(bug && customer == UNLUCKY && number == UNLUCKY_VISIT);
}

static task customer(int number)
{
	for (int i = 0; i < VISITS; i++)
		co_await visit(number, i);
}

int main(int argc, char **argv)
{
	bug = argc > 1 && !std::strcmp(argv[1], "bug");
	auto start = std::chrono::steady_clock::now();
	std::deque<task> customers;
	for (int i = 0; i < CUSTOMERS; i++) {
		customers.push_back(customer(i));
		make_ready(customers.back().h);
	}
	while (!run_queue.empty()) {
		task::handle h = run_queue.front();
		run_queue.pop_front();
		std::this_thread::sleep_for(std::chrono::microseconds(300)); /* what it does takes some work */
		h.resume();
	}
	if (bug) { /* it hangs: after a while somebody notices */
		std::this_thread::sleep_for(8 * (std::chrono::steady_clock::now() - start));
		std::puts("hung");
		std::fflush(stdout);
		std::this_thread::sleep_for(std::chrono::hours(1));
	}
	return 0;
}
