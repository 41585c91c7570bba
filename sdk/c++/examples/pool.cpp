/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * pool.cpp - clients wait for one of a few connections, and one of them waits for ever: a lost wake-up, in C++20.
 *
 * For the trace there is a promise type that derives from ctp::promise, which would suffice; and also a scheduler that records
 * each wake (ctp::wake), names (ctp::name), and coroutines whose spawn site is their caller (ctp::place).
 */
#include "ctp.hpp"

#include <cstdio>
#include <deque>
#include <exception>
#include <string>

/* --- a detached coroutine, and the scheduler that runs it ----------------------------------------------------------------- */

struct task {
	struct promise_type : ctp::promise {
		task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
		std::suspend_always initial_suspend() { return {}; }
		std::suspend_never final_suspend() noexcept { return {}; }
		void return_void() {}
		void unhandled_exception() { std::terminate(); }
	};
	using handle = std::coroutine_handle<promise_type>;
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

/* --- the pool ------------------------------------------------------------------------------------------------------------- */

class pool {
	int unused;
	std::deque<task::handle> waiting;

public:
	explicit pool(int connections) : unused(connections) {}

	auto connection()
	{
		struct awaiter {
			pool &p;
			bool await_ready() { return p.unused > 0 && p.unused--; }
			void await_suspend(task::handle h) { p.waiting.push_back(h); }
			void await_resume() {}
		};
		return awaiter{*this};
	}

	/* The connection goes to the first client that waits for one. */
	void give_back()
	{
		if (waiting.empty()) {
			unused++;
			return;
		}
		make_ready(waiting.front());
		waiting.pop_front();
	}

	/* The connection broke: open another one, for the first client that waits. */
	void replace()
	{
		unused++;
		if (!waiting.empty())
			waiting.pop_front(); /* the bug: it is removed, but not woken */
	}
};

static int done;

static task client(int number, pool &p, ctp::place = {})
{
	ctp::name(co_await ctp::self(), ("client " + std::to_string(number)).c_str());
	co_await p.connection();
	co_await yield(); /* ask, and wait for the answer */
	if (number == 2)
		p.replace();
	else
		p.give_back();
	std::printf("client %d is done\n", number);
	done++;
}

int main()
{
	pool p(2);
	for (int i = 1; i <= 6; i++)
		make_ready(client(i, p).h);
	while (!run_queue.empty()) {
		task::handle h = run_queue.front();
		run_queue.pop_front();
		h.resume();
	}
	std::printf("nothing left to do, and %d clients of 6 are done\n", done);
	return 0;
}
