/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
// signals - coroutines of Asio that wait for each other, on one thread, in all the ways in which one can wake another: t/pipe/asio.t
// checks awaits and wakers. One signal is lost three coroutines deep: those still wait when all others have
// ended, and the context is destroyed.
#include <asio.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/experimental/channel.hpp>
#include <chrono>
#include <cstdio>
#include <string>

using asio::awaitable;
using asio::detached;
using asio::use_awaitable;
using namespace asio::experimental::awaitable_operators;
using namespace std::chrono_literals;
using channel = asio::experimental::channel<void(asio::error_code, int)>;
using socket_type = asio::local::stream_protocol::socket;

// A timer in place of a condition variable: the coroutine that cancels it wakes the waiting one.
struct event : asio::steady_timer {
	explicit event(asio::io_context &io) : asio::steady_timer(io, time_point::max()) {}
	awaitable<void> wait()
	{
		asio::error_code cancelled;
		co_await async_wait(asio::redirect_error(use_awaitable, cancelled));
	}
};

static awaitable<void> waiter(event &e) { co_await e.wait(); }
static awaitable<void> one_of_two(event &e) { co_await e.wait(); }
static awaitable<void> signaller(event &e, event &shared)
{
	e.cancel();
	shared.cancel();
	co_return;
}

// A deadline that is past when it is cancelled: it has expired, so there is no waker.
static awaitable<void> late(asio::steady_timer &timer) { co_await timer.async_wait(use_awaitable); }
static awaitable<void> too_late(asio::steady_timer &timer)
{
	while (std::chrono::steady_clock::now() < timer.expiry())
		;
	timer.cancel();
	co_return;
}

static awaitable<void> receiver(channel &c, int n)
{
	for (int i = 0; i < n; i++)
		co_await c.async_receive(use_awaitable);
}
static awaitable<void> tries(channel &c)
{
	c.try_send(asio::error_code(), 1);
	co_return;
}
static awaitable<void> sender(channel &c) { co_await c.async_send(asio::error_code(), 1, use_awaitable); }

// A read in three parts is one wait.
static awaitable<void> reader(socket_type s)
{
	std::string line;
	co_await asio::async_read_until(s, asio::dynamic_buffer(line), '\n', use_awaitable);
	co_await asio::async_read(s, asio::dynamic_buffer(line), asio::transfer_exactly(2), use_awaitable);
}
static awaitable<void> writer(socket_type s)
{
	for (const char *part : {"a", "b", "\n", "c", "d"}) {
		co_await asio::async_write(s, asio::buffer(part, 1), use_awaitable);
		co_await asio::post(use_awaitable);
		co_await asio::post(use_awaitable);
	}
}

static awaitable<void> resolver(asio::io_context &io)
{
	asio::ip::tcp::resolver r(io);
	co_await r.async_resolve("127.0.0.1", "80", use_awaitable);
}

static awaitable<void> breathe() { co_await asio::post(use_awaitable); }
static awaitable<void> spawner(asio::io_context &io) { co_await asio::co_spawn(io, breathe(), use_awaitable); }
static awaitable<void> both(event &e) { co_await (breathe() && e.wait()); }

static awaitable<void> leaf(event &lost) { co_await lost.wait(); }
static awaitable<void> middle(event &lost) { co_await leaf(lost); }
static awaitable<void> outermost(event &lost) { co_await middle(lost); }

// Three wait for one timer. Two coroutines cancel it, one after the other: the second when all is done that the first has begun, or
// before, and then the waker is unknown.
static awaitable<void> crowd(asio::steady_timer &timer)
{
	asio::error_code cancelled;
	co_await timer.async_wait(asio::redirect_error(use_awaitable, cancelled));
}
static awaitable<void> frees_one(asio::steady_timer &timer)
{
	timer.cancel_one();
	co_return;
}
static awaitable<void> frees_all(asio::steady_timer &timer)
{
	timer.cancel();
	co_return;
}
static void crowds(bool at_once)
{
	asio::io_context io;
	asio::steady_timer timer(io, asio::steady_timer::time_point::max());
	for (int i = 0; i < 3; i++)
		co_spawn(io, crowd(timer), detached);
	io.poll();
	co_spawn(io, frees_one(timer), detached);
	if (!at_once)
		io.poll();
	co_spawn(io, frees_all(timer), detached);
	io.poll();
}

int main()
{
	crowds(false);
	crowds(true);
	asio::io_context io(1);
	event e(io), shared(io), of_both(io), lost(io);
	asio::steady_timer deadline(io, 1ms);
	channel c(io);
	socket_type a(io), b(io);
	asio::local::connect_pair(a, b);
	int left = 0;
	auto spawn = [&](awaitable<void> started) {
		left++;
		asio::co_spawn(io, std::move(started), [&](std::exception_ptr) {
			if (!--left)
				io.stop();
		});
	};
	spawn(late(deadline));
	spawn(too_late(deadline));
	spawn(waiter(e));
	spawn(one_of_two(shared));
	spawn(one_of_two(shared));
	spawn(both(of_both));
	spawn(signaller(e, shared));
	spawn(signaller(of_both, shared));
	spawn(receiver(c, 2));
	spawn(tries(c));
	spawn(sender(c));
	spawn(reader(std::move(a)));
	spawn(writer(std::move(b)));
	spawn(resolver(io));
	spawn(spawner(io));
	asio::co_spawn(io, outermost(lost), detached);
	io.run();
	std::puts("stopped");
	return 0;
}
