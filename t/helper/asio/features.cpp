/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
// features - Asio coroutines in all the ways that the examples of Asio do not show, on four threads. It prints the same whether
// it is traced or not; t/pipe/asio.t checks the trace.
#include <asio.hpp>
#include <asio/experimental/as_tuple.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

using asio::awaitable;
using asio::use_awaitable;
using namespace asio::experimental::awaitable_operators;
using namespace std::chrono_literals;

struct alignas(64) wide {
	int value;
};

static awaitable<void> sleep_ms(int ms)
{
	asio::steady_timer timer(co_await asio::this_coro::executor, std::chrono::milliseconds(ms));
	co_await timer.async_wait(use_awaitable);
}

static awaitable<std::unique_ptr<int>> move_only()
{
	co_await sleep_ms(1);
	co_return std::make_unique<int>(7);
}

static awaitable<wide> overaligned()
{
	co_await sleep_ms(1);
	wide w{8};
	co_return w;
}

static awaitable<int> thrower()
{
	co_await sleep_ms(1);
	throw std::runtime_error("thrown");
}

static awaitable<int> catcher()
{
	try {
		co_return co_await thrower();
	} catch (const std::runtime_error &) {
	}
	co_await sleep_ms(1);
	co_return 9;
}

static awaitable<void> for_ever()
{
	asio::steady_timer timer(co_await asio::this_coro::executor, asio::steady_timer::time_point::max());
	co_await timer.async_wait(use_awaitable);
}

// Asks for the executor, awaits values, is cancelled by an operator, and sees an error as a value.
static awaitable<int> values()
{
	int sum = *co_await move_only() + (co_await overaligned()).value + co_await catcher();
	auto first = co_await (for_ever() || sleep_ms(1));
	sum += static_cast<int>(first.index());
	co_await (sleep_ms(1) && sleep_ms(2));
	asio::steady_timer timer(co_await asio::this_coro::executor, 1ms);
	auto [error] = co_await timer.async_wait(asio::experimental::as_tuple(use_awaitable));
	co_return sum + !error;
}

// Many coroutines of one strand count without a lock, others hop between threads.
static awaitable<void> count(long &counter, int rounds)
{
	for (int i = 0; i < rounds; i++) {
		counter++;
		co_await asio::post(co_await asio::this_coro::executor, use_awaitable);
	}
}

static awaitable<void> ping(asio::local::stream_protocol::socket a, int rounds)
{
	for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(rounds); i++) {
		std::uint32_t back = 0;
		co_await asio::async_write(a, asio::buffer(&i, sizeof i), use_awaitable);
		co_await asio::async_read(a, asio::buffer(&back, sizeof back), use_awaitable);
		if (back != i)
			throw std::runtime_error("echoed wrong");
	}
}

static awaitable<void> pong(asio::local::stream_protocol::socket b)
{
	char data[64];
	asio::error_code error;
	for (;;) {
		std::size_t n = co_await b.async_read_some(asio::buffer(data), asio::redirect_error(use_awaitable, error));
		if (error)
			co_return;
		co_await asio::async_write(b, asio::buffer(data, n), use_awaitable);
	}
}

int main()
{
	asio::io_context io;
	auto strand = asio::make_strand(io);
	long counter = 0;
	auto sum = asio::co_spawn(io, values(), asio::use_future);
	for (int i = 0; i < 8; i++)
		asio::co_spawn(strand, count(counter, 50), asio::detached);
	for (int i = 0; i < 4; i++) {
		asio::local::stream_protocol::socket a(io), b(io);
		asio::local::connect_pair(a, b);
		asio::co_spawn(io, ping(std::move(a), 50), asio::detached);
		asio::co_spawn(asio::make_strand(io), pong(std::move(b)), asio::detached);
	}
	// An operation that no traced coroutine awaits, and a coroutine that never starts.
	asio::steady_timer timer(io, 1ms);
	asio::co_spawn(io, timer.async_wait(use_awaitable), asio::detached);
	{
		awaitable<void> unstarted = for_ever();
	}

	std::vector<std::thread> threads;
	for (int i = 0; i < 4; i++)
		threads.emplace_back([&] { io.run(); });
	for (auto &t : threads)
		t.join();
	std::printf("sum %d, counter %ld\n", sum.get(), counter);

	// One that is still suspended when its context goes.
	auto last = std::make_unique<asio::io_context>();
	asio::co_spawn(*last, for_ever(), asio::detached);
	last->poll();
	last.reset();
	std::puts("done");
	return 0;
}
