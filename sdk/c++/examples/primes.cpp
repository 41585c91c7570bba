/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * primes.cpp - a sieve of generators, each of which reads from the previous one. The trace needs only the base class of the
 * promise: each co_yield is a suspension, and the parent of a generator is the one that spawned it.
 */
#include "ctp.hpp"

#include <cstdio>
#include <exception>
#include <utility>

class numbers {
public:
	struct promise_type : ctp::promise {
		int value = 0;

		numbers get_return_object() { return numbers(std::coroutine_handle<promise_type>::from_promise(*this)); }
		std::suspend_always initial_suspend() { return {}; }
		std::suspend_always final_suspend() noexcept { return {}; }
		std::suspend_always yield_value(int number)
		{
			value = number;
			return {};
		}
		void return_void() {}
		void unhandled_exception() { std::terminate(); }
	};

	numbers(numbers &&other) noexcept : h(std::exchange(other.h, nullptr)) {}
	~numbers()
	{
		if (h)
			h.destroy();
	}

	/* False at the end. */
	bool next(int &number)
	{
		h.resume();
		number = h.promise().value;
		return !h.done();
	}

private:
	explicit numbers(std::coroutine_handle<promise_type> handle) : h(handle) {}
	std::coroutine_handle<promise_type> h;
};

static numbers count(int from, int to)
{
	for (int i = from; i <= to; i++)
		co_yield i;
}

static numbers primes(numbers from)
{
	int prime, number;
	if (!from.next(prime))
		co_return;
	co_yield prime;
	auto others = [](numbers all, int divisor) -> numbers {
		for (int n; all.next(n);)
			if (n % divisor)
				co_yield n;
	};
	for (numbers rest = primes(others(std::move(from), prime)); rest.next(number);)
		co_yield number;
}

int main()
{
	numbers all = primes(count(2, 30));
	for (int prime; all.next(prime);)
		std::printf("%d ", prime);
	std::puts("");
	return 0;
}
