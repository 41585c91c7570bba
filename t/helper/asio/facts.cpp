/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
// facts - Asio operations of all kinds, each waiting for something. It prints the names of its descriptors and addresses;
// t/pipe/asio-facts.t checks the trace.
#include <asio.hpp>
#include <asio/experimental/as_single.hpp>
#include <asio/experimental/as_tuple.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/experimental/channel.hpp>
#include <asio/experimental/concurrent_channel.hpp>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <memory>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

using asio::awaitable;
using asio::use_awaitable;
using asio::ip::tcp;
using asio::ip::udp;
using namespace asio::experimental::awaitable_operators;
using namespace std::chrono_literals;
using channel = asio::experimental::channel<void(asio::error_code, int)>;
using concurrent = asio::experimental::concurrent_channel<void(asio::error_code, int)>;
using local = asio::local::stream_protocol::socket;

// What has been printed stays open, so that its descriptor is not another's.
static std::vector<std::shared_ptr<void>> kept;
template <class T> static void keep(T &x) { kept.push_back(std::make_shared<T>(std::move(x))); }

static void is(const char *name, const void *address) { std::printf("object %s %p\n", name, address); }
static void is(const char *name, int fd) { std::printf("fd %s %d\n", name, fd); }

static void is(const char *name, std::chrono::steady_clock::time_point at)
{
	std::printf("deadline %s %lld\n", name, static_cast<long long>(at.time_since_epoch().count()));
}

static awaitable<void> timers(asio::io_context &io)
{
	auto at = std::chrono::steady_clock::now();
	asio::steady_timer steady(io, at);
	is("steady", at);
	is("moved", at - 1ns);
	co_await steady.async_wait(use_awaitable);
	asio::system_timer system(io, std::chrono::system_clock::time_point());
	co_await system.async_wait(use_awaitable);
	asio::error_code error;
	co_await steady.async_wait(asio::redirect_error(use_awaitable, error));
	co_await steady.async_wait(asio::experimental::as_tuple(use_awaitable));
	co_await steady.async_wait(asio::bind_executor(io.get_executor(), use_awaitable));
	co_await steady.async_wait(asio::experimental::as_single(use_awaitable));
	asio::cancellation_signal signal;
	co_await steady.async_wait(asio::bind_cancellation_slot(signal.slot(), use_awaitable));
	auto later = steady.async_wait(use_awaitable);
	steady.expires_at(at - 1ns); // what counts is when it is awaited
	co_await std::move(later);
}

static awaitable<void> event(asio::steady_timer &e)
{
	asio::error_code error;
	co_await e.async_wait(asio::redirect_error(use_awaitable, error));
}

static awaitable<void> hour(asio::system_timer &t)
{
	asio::error_code error;
	co_await t.async_wait(asio::redirect_error(use_awaitable, error));
}

static awaitable<void> cancels(asio::steady_timer &e, asio::system_timer &t)
{
	e.cancel();
	t.cancel();
	co_return;
}

static awaitable<void> accepts(tcp::acceptor &a)
{
	co_await a.async_wait(tcp::acceptor::wait_read, use_awaitable);
	tcp::socket first = co_await a.async_accept(use_awaitable);
	tcp::socket second(a.get_executor());
	co_await a.async_accept(second, use_awaitable);
}

static awaitable<void> connects(tcp::endpoint to)
{
	tcp::socket s(co_await asio::this_coro::executor, tcp::v4()), t(co_await asio::this_coro::executor);
	is("connecting", s.native_handle());
	co_await s.async_connect(to, use_awaitable);
	co_await t.async_connect(to, use_awaitable); // which opens it
	is("connecting next", t.native_handle());
	keep(s);
	keep(t);
}

static awaitable<void> reads(local s)
{
	char c[4];
	std::string line;
	co_await s.async_wait(local::wait_read, use_awaitable);
	co_await s.async_read_some(asio::buffer(c, 1), use_awaitable);
	co_await s.async_receive(asio::buffer(c, 1), use_awaitable);
	co_await asio::async_read(s, asio::buffer(c, 2), use_awaitable);
	co_await asio::async_read_until(s, asio::dynamic_buffer(line), '\n', use_awaitable);
	keep(s);
}

static awaitable<void> writes(local s)
{
	co_await s.async_wait(local::wait_write, use_awaitable);
	char text[] = "ab";
	co_await s.async_write_some(asio::buffer(text, 1), use_awaitable); // a mutable buffer can be written from, too
	co_await s.async_send(asio::buffer(text, 1), use_awaitable);
	co_await asio::async_write(s, asio::buffer("cd", 2), use_awaitable);
	std::string line("e\n");
	co_await asio::async_write(s, asio::dynamic_buffer(line), use_awaitable);
	keep(s);
}

static awaitable<void> datagrams(udp::socket &s)
{
	char c[1] = {'u'};
	udp::endpoint from;
	co_await s.async_send_to(asio::buffer(c), s.local_endpoint(), use_awaitable);
	co_await s.async_receive_from(asio::buffer(c), from, use_awaitable);
}

static awaitable<void> pipes(asio::posix::stream_descriptor &in, asio::posix::stream_descriptor &out)
{
	char c[1] = {'p'};
	co_await out.async_write_some(asio::buffer(c), use_awaitable);
	co_await in.async_read_some(asio::buffer(c), use_awaitable);
	asio::readable_pipe r(in.get_executor());
	asio::writable_pipe w(in.get_executor());
	asio::connect_pipe(r, w);
	is("readable", r.native_handle());
	is("writable", w.native_handle());
	co_await w.async_write_some(asio::buffer(c), use_awaitable);
	co_await asio::async_read(r, asio::buffer(c), use_awaitable);
	asio::serial_port serial(in.get_executor(), posix_openpt(O_RDWR | O_NOCTTY));
	is("serial", serial.native_handle());
	co_await serial.async_write_some(asio::buffer(c), use_awaitable);
	keep(r);
	keep(w);
	keep(serial);
}

template <class Channel> static awaitable<void> receives(Channel &c) { co_await c.async_receive(use_awaitable); }
template <class Channel> static awaitable<void> sends(Channel &c)
{
	co_await c.async_send(asio::error_code(), 1, use_awaitable);
}

static awaitable<void> signals(asio::signal_set &set) { co_await set.async_wait(use_awaitable); }

// The first of several operations; recorded only if the reason of each is known, and not if all must complete.
static awaitable<void> either(asio::steady_timer &t, asio::steady_timer &never, channel &c)
{
	char data[1];
	local in(t.get_executor()), out(t.get_executor());
	asio::local::connect_pair(in, out);
	is("either", in.native_handle());
	auto read = [&] { return in.async_read_some(asio::buffer(data), use_awaitable); };
	co_await (t.async_wait(use_awaitable) || never.async_wait(use_awaitable));
	co_await (read() || t.async_wait(use_awaitable) || c.async_receive(use_awaitable));
	co_await (asio::async_read(in, asio::buffer(data), use_awaitable) || receives(c) || t.async_wait(use_awaitable));
	auto due = [&] { return t.async_wait(use_awaitable); };
	co_await (due() || due() || due() || due());
	co_await (due() || due() || due() || due() || due());
	co_await (t.async_wait(use_awaitable) && t.async_wait(use_awaitable));
	co_await (never.async_wait(use_awaitable) || (t.async_wait(use_awaitable) && t.async_wait(use_awaitable)));
	keep(in);
}

// A composed operation of the program's own.
static auto composed(asio::steady_timer &t)
{
	auto step = [&t, begun = false](auto &self, asio::error_code error = {}) mutable {
		if (std::exchange(begun, true))
			self.complete(error);
		else
			t.async_wait(std::move(self));
	};
	return asio::async_compose<const asio::use_awaitable_t<> &, void(asio::error_code)>(step, use_awaitable, t);
}

// Operations whose reason is not known: another coroutine, a place in a queue, a name, the first of several endpoints.
static awaitable<void> nothing(asio::io_context &io, tcp::endpoint to)
{
	asio::steady_timer t(io, asio::steady_timer::time_point());
	co_await composed(t);
	tcp::socket s(io);
	std::array<tcp::endpoint, 1> endpoints{to};
	co_await asio::async_connect(s, endpoints, use_awaitable);
	co_await asio::post(use_awaitable);
	tcp::resolver r(io);
	co_await r.async_resolve("127.0.0.1", "80", use_awaitable);
	co_await asio::co_spawn(io, []() -> awaitable<void> { co_return; }, use_awaitable);
}

int main()
{
	asio::io_context io;
	asio::steady_timer e(io, asio::steady_timer::time_point::max());
	asio::system_timer t(io, 1h);
	is("event", &e);
	tcp::acceptor a(io, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
	is("acceptor", a.native_handle());
	local in(io), out(io);
	asio::local::connect_pair(in, out);
	is("in", in.native_handle());
	is("out", out.native_handle());
	udp::socket u(io, udp::endpoint(asio::ip::address_v4::loopback(), 0));
	is("datagrams", u.native_handle());
	int ends[2];
	if (pipe(ends))
		return 1;
	asio::posix::stream_descriptor pipe_in(io, ends[0]), pipe_out(io, ends[1]);
	is("pipe in", ends[0]);
	is("pipe out", ends[1]);
	channel c(io);
	concurrent d(io);
	is("channel", &c);
	is("concurrent", &d);
	asio::signal_set set(io, SIGUSR1);
	is("signals", &set);

	auto go = [&](awaitable<void> x) { asio::co_spawn(io, std::move(x), asio::detached); };
	go(timers(io));
	go(event(e));
	go(hour(t));
	go(cancels(e, t));
	go(accepts(a));
	go(connects(a.local_endpoint()));
	go(reads(std::move(in)));
	go(writes(std::move(out)));
	go(datagrams(u));
	go(pipes(pipe_in, pipe_out));
	go(receives(c));
	go(sends(c));
	go(sends(d));
	go(receives(d));
	go(signals(set));
	go(nothing(io, a.local_endpoint()));
	asio::steady_timer due(io, asio::steady_timer::time_point()), never(io, asio::steady_timer::time_point::max());
	channel empty(io);
	is("never", &never);
	is("empty", &empty);
	go(either(due, never, empty));
	std::raise(SIGUSR1);
	io.run();
	kept.clear();
	std::puts("done");
	return 0;
}
