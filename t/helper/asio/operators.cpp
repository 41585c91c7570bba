/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
// operators - coroutines that await several others at once, on one thread: t/pipe/asio.t checks their parents and wakers. The
// children of one end in the order in which they are written, those of the other in the opposite one.
#include <asio.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <chrono>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

using asio::awaitable;
using asio::use_awaitable;
using namespace asio::experimental::awaitable_operators;

static awaitable<void> breathe(int times)
{
	for (int i = 0; i < times; i++)
		co_await asio::post(use_awaitable);
}

static awaitable<void> quick() { co_await breathe(1); }
static awaitable<void> slow() { co_await breathe(5); }
static awaitable<void> both() { co_await (quick() && slow()); }
static awaitable<void> both_reversed() { co_await (slow() && quick()); }

// The loser is cancelled, and its end resumes the parent.
static awaitable<void> loser()
{
	asio::steady_timer timer(co_await asio::this_coro::executor, asio::steady_timer::time_point::max());
	co_await timer.async_wait(use_awaitable);
}
static awaitable<void> winner() { co_await breathe(1); }
static awaitable<void> either() { co_await (winner() || loser()); }
static awaitable<void> either_reversed() { co_await (loser() || winner()); }

// A value without a default constructor goes through one more coroutine of Asio, which an operator makes.
struct value {
	int n;
	explicit value(int m) : n(m) {}
};
static awaitable<value> gives(int n)
{
	co_await breathe(n);
	co_return value(n);
}
static awaitable<void> values()
{
	auto [one, three] = co_await (gives(1) && gives(3));
	std::printf("values %d %d\n", one.n, three.n);
}

// Of three the operators make two pairs, of which one is in the other.
static awaitable<void> first() { co_await breathe(1); }
static awaitable<void> second() { co_await breathe(2); }
static awaitable<void> third() { co_await breathe(9); }
static awaitable<void> all() { co_await (first() && second() && third()); }

static awaitable<void> throws()
{
	co_await breathe(1);
	throw std::runtime_error("thrown");
}
static awaitable<void> cancelled()
{
	asio::steady_timer timer(co_await asio::this_coro::executor, asio::steady_timer::time_point::max());
	co_await timer.async_wait(use_awaitable);
}
static awaitable<void> catches()
{
	try {
		co_await (throws() && cancelled());
	} catch (const std::exception &) {
		std::puts("caught");
	}
}

// One of them never ends: the coroutine that awaits both is not woken.
static awaitable<void> never()
{
	asio::steady_timer timer(co_await asio::this_coro::executor, asio::steady_timer::time_point::max());
	co_await timer.async_wait(use_awaitable);
}
static awaitable<void> ends() { co_await breathe(1); }
static awaitable<void> stuck() { co_await (ends() && never()); }

// The program's own operators that take an awaitable and more are traced like any other.
static awaitable<void> in_turn(awaitable<void> a, awaitable<void> b)
{
	co_await std::move(a);
	co_await std::move(b);
}
static awaitable<void> counted(awaitable<void> a, int *count)
{
	co_await std::move(a);
	++*count;
}
static awaitable<void> named(awaitable<void> a, std::string &&name)
{
	std::string mine = std::move(name);
	co_await std::move(a);
}
static awaitable<void> one_by_one()
{
	int count = 0;
	co_await in_turn(breathe(1), breathe(2));
	co_await counted(breathe(1), &count);
	co_await named(breathe(1), "a name");
}

int main()
{
	asio::io_context io(1);
	int left = 0;
	for (auto make : {both, both_reversed, either, either_reversed, values, all, catches, one_by_one}) {
		left++;
		asio::co_spawn(io, make(), [&](std::exception_ptr) {
			if (!--left)
				io.stop();
		});
	}
	asio::co_spawn(io, stuck(), asio::detached);
	io.run();
	std::puts("stopped");
	return 0;
}
