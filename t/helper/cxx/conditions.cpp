// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
//
// conditions.cpp - coroutines that declare no variable but in the forms of ctp.hpp(3), which g++ 12 compiles: each awaits in a
// condition, four times, and goes round three times.
#include <coroutine>
#include <cstdio>
#include <exception>

#include "ctp.hpp"

static std::coroutine_handle<> waits;
static int rounds, asked;

struct next {
	bool await_ready() { return false; }
	void await_suspend(std::coroutine_handle<> h) { waits = h; }
	bool await_resume() { return ++asked % 4 != 0; }
};

struct task {
	struct promise_type : ctp::promise {
		task get_return_object() { return {}; }
		std::suspend_never initial_suspend() { return {}; }
		std::suspend_never final_suspend() noexcept { return {}; }
		void return_void() {}
		void unhandled_exception() { std::terminate(); }
	};
};

#ifdef CONDITION
static task plain()
{
	while (co_await next())
		rounds++;
}
#else
static task declared()
{
	while (bool more = co_await next())
		rounds += more;
}

static task loop()
{
	for (;;) {
		bool more = co_await next();
		if (!more)
			break;
		rounds++;
	}
}
#endif

static void run(task (*coroutine)())
{
	coroutine();
	while (waits) {
		std::coroutine_handle<> h = waits;
		waits = nullptr;
		h.resume();
	}
	std::printf("%d rounds\n", rounds);
}

int main()
{
#ifdef CONDITION
	run(plain);
#else
	run(declared);
	run(loop);
#endif
}
