/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
// asio-rests - healthy servers on Asio whose load has ended or is uneven, with clients that are not traced: what c-rests.c has in C.
#include "verdict-asio.hpp"
#include "loopback.h"

using tcp = asio::ip::tcp;

static tcp::acceptor listener(io_context &io)
{
	return tcp::acceptor(io, {asio::ip::address_v4::loopback(), 0});
}

static void clients(int n, lo_client what)
{
	for (int i = 0; i < n; i++) {
		what.pause_ms++;
		lo_start(what);
	}
}

template <class Serve> static awaitable<void> accepting(tcp::acceptor &acceptor, Serve serve)
{
	for (;;)
		co_spawn(acceptor.get_executor(), serve(co_await at(acceptor.async_accept(use_awaitable))), detached);
}

// echo: the server of Asio's manual. Most connections are kept and not used any more, some are used now and then.
static awaitable<void> echo_once(tcp::socket &socket)
{
	char data[64];
	std::size_t n = co_await at(socket.async_read_some(asio::buffer(data), use_awaitable));
	co_await at(async_write(socket, asio::buffer(data, n), use_awaitable));
}

static awaitable<void> echo_session(tcp::socket socket)
{
	for (;;)
		co_await echo_once(socket);
}

static void echo()
{
	io_context io;
	tcp::acceptor acceptor = listener(io);
	ending end(io, [] { exit(0); });
	lo_client c{};
	c.port = acceptor.local_endpoint().port(), c.first = "hello", c.answer = 5, c.pause_ms = 2, c.busy_ms = 800;
	clients(16, c);
	c.busy_ms = 0, c.pause_ms = 40;
	clients(4, c);
	co_spawn(io, accepting(acceptor, echo_session), detached);
	io.run();
}

// database: each session asks a backend twice for a request, over a connection of its own; the functions that do so are coroutines.
static int backend_port;

static void *backend_serve(void *fd)
{
	char c;
	while (recv((int)(long)fd, &c, 1, 0) > 0) {
		lo_nap(1);
		if (send((int)(long)fd, &c, 1, MSG_NOSIGNAL) < 0)
			break;
	}
	return nullptr;
}

static void *backend(void *fd)
{
	for (int next; (next = accept((int)(long)fd, nullptr, nullptr)) >= 0;)
		lo_thread(backend_serve, (void *)(long)next);
	return nullptr;
}

static awaitable<char> request_of(tcp::socket &socket)
{
	char c;
	co_await at(async_read(socket, asio::buffer(&c, 1), use_awaitable));
	co_return c;
}

static awaitable<char> query(tcp::socket &database, char c)
{
	co_await at(async_write(database, asio::buffer(&c, 1), use_awaitable));
	co_await at(async_read(database, asio::buffer(&c, 1), use_awaitable));
	co_return c;
}

static awaitable<void> database_session(tcp::socket socket)
{
	tcp::socket own(socket.get_executor());
	co_await at(own.async_connect({asio::ip::address_v4::loopback(), (asio::ip::port_type)backend_port}, use_awaitable));
	for (;;) {
		char c = co_await request_of(socket);
		c = co_await query(own, c);
		c = co_await query(own, c);
		co_await at(async_write(socket, asio::buffer(&c, 1), use_awaitable));
	}
}

static void database()
{
	io_context io;
	tcp::acceptor acceptor = listener(io), other = listener(io);
	ending end(io, [] { exit(0); });
	backend_port = other.local_endpoint().port();
	lo_thread(backend, (void *)(long)other.native_handle());
	lo_client c{};
	c.port = acceptor.local_endpoint().port(), c.first = "q", c.answer = 1, c.pause_ms = 2, c.busy_ms = 800;
	clients(12, c);
	c.busy_ms = 0, c.pause_ms = 7;
	clients(4, c);
	co_spawn(io, accepting(acceptor, database_session), detached);
	io.run();
}

// chat: what one says goes to all. Each connection has a reader and a writer, which waits for something to write. Few speak.
struct member {
	tcp::socket socket;
	std::deque<char> to_write;
	event news;

	explicit member(tcp::socket s) : socket(std::move(s)), news(socket.get_executor()) {}
};
static std::vector<std::shared_ptr<member>> room;

static awaitable<void> chat_writer(std::shared_ptr<member> me)
{
	for (;;) {
		while (me->to_write.empty())
			co_await at(me->news.wait());
		char c = me->to_write.front();
		me->to_write.pop_front();
		co_await at(async_write(me->socket, asio::buffer(&c, 1), use_awaitable));
	}
}

static awaitable<void> chat_reader(tcp::socket socket)
{
	auto me = std::make_shared<member>(std::move(socket));
	room.push_back(me);
	co_spawn(me->socket.get_executor(), chat_writer(me), detached);
	for (;;) {
		char c;
		co_await at(async_read(me->socket, asio::buffer(&c, 1), use_awaitable));
		for (auto &other : room) {
			other->to_write.push_back(c);
			other->news.notify_one();
		}
	}
}

static void chat()
{
	io_context io;
	tcp::acceptor acceptor = listener(io);
	ending end(io, [] { exit(0); });
	lo_client c{};
	c.port = acceptor.local_endpoint().port(), c.first = "t", c.pause_ms = 7, c.busy_ms = 500;
	clients(4, c);
	c.busy_ms = 0, c.pause_ms = 700;
	clients(1, c);
	co_spawn(io, accepting(acceptor, chat_reader), detached);
	io.run();
}

// events: each client asks once, and gets an event every 200 ms, later every second; a second coroutine sees whether it closes.
struct hub {
	event news;
	int sent = 0;
	explicit hub(io_context &io) : news(io) {}
};
static hub *the_hub;

static awaitable<void> events_writer(std::shared_ptr<tcp::socket> socket)
{
	for (int seen = the_hub->sent;; seen++) {
		while (seen == the_hub->sent)
			co_await at(the_hub->news.wait());
		co_await at(async_write(*socket, asio::buffer("data\n", 5), use_awaitable));
	}
}

static awaitable<void> events_session(tcp::socket accepted)
{
	auto socket = std::make_shared<tcp::socket>(std::move(accepted));
	char request[64];
	co_await at(socket->async_read_some(asio::buffer(request), use_awaitable));
	co_spawn(socket->get_executor(), events_writer(socket), detached);
	for (;;)
		co_await at(socket->async_read_some(asio::buffer(request), use_awaitable));
}

static awaitable<void> events_source()
{
	for (;;) {
		co_await nap(after(1000ms) ? 1000 : 20);
		the_hub->sent++;
		the_hub->news.notify_all();
	}
}

static void server_sent_events()
{
	io_context io;
	hub own(io);
	the_hub = &own;
	tcp::acceptor acceptor = listener(io);
	ending end(io, [] { exit(0); });
	lo_client c{};
	c.port = acceptor.local_endpoint().port(), c.first = "GET", c.answer = 1 << 30;
	clients(12, c);
	co_spawn(io, accepting(acceptor, events_session), detached);
	co_spawn(io, events_source(), detached);
	io.run();
}

static const scenario all[] = {
	{"echo", "healthy", echo},
	{"database", "healthy", database},
	{"chat", "healthy", chat},
	{"server-sent-events", "healthy", server_sent_events},
};

int main(int argc, char **argv)
{
	return corpus_main(all, argc, argv);
}
