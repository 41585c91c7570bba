/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
// asio-sockets - servers and clients on socket pairs and on the loopback: frames, idle connections, time-outs, backpressure.
#include "verdict-asio.hpp"
#include <csignal>

struct socket_pair {
	stream_socket client, server;

	explicit socket_pair(io_context &io) : client(io), server(io) { asio::local::connect_pair(client, server); }
};

// framing: frames of a length and a body. For long bodies the writer counts a terminator that it does not send, so the reader
// waits for one byte more, and the writer for the acknowledgement.
static awaitable<void> frame_writer(stream_socket &socket)
{
	while (!over()) {
		std::string body(due() ? 300 : 20, 'x');
		uint32_t length = (uint32_t)body.size();
		if (length > 255 && faulty) {
			length++;
			bitten();
		}
		std::array<asio::const_buffer, 2> frame{asio::buffer(&length, sizeof(length)), asio::buffer(body)};
		co_await at(asio::async_write(socket, frame, use_awaitable));
		char ack;
		co_await at(asio::async_read(socket, asio::buffer(&ack, 1), use_awaitable));
		co_await nap(2);
	}
	socket.close();
}

static awaitable<void> frame_reader(stream_socket &socket)
{
	for (;;) {
		uint32_t length;
		co_await at(asio::async_read(socket, asio::buffer(&length, sizeof(length)), use_awaitable));
		std::string body(length, '\0');
		co_await at(asio::async_read(socket, asio::buffer(body), use_awaitable)); // HERE framing
		co_await at(asio::async_write(socket, asio::buffer("+", 1), use_awaitable));
	}
}

static void framing()
{
	io_context io;
	socket_pair pair(io);
	co_spawn(io, frame_writer(pair.client), detached);
	co_spawn(io, frame_reader(pair.server), detached);
	io.run();
}

// no_eof: a reply ends where the server closes the connection. A slow-request log that was added later keeps a duplicate of the
// descriptor, so the connection stays open and the client reads for ever.
static awaitable<void> reply_server(stream_socket socket)
{
	static std::vector<int> slow_requests;
	if (due() && faulty) {
		slow_requests.push_back(dup(socket.native_handle()));
		bitten();
	}
	co_await nap(1);
	co_await at(asio::async_write(socket, asio::buffer("hello\n", 6), use_awaitable));
	socket.close();
}

static awaitable<void> reply_client(io_context &io)
{
	while (!over()) {
		socket_pair pair(io);
		co_spawn(io, reply_server(std::move(pair.server)), detached);
		std::string reply;
		error_code ec;
		co_await at(asio::async_read(pair.client, asio::dynamic_buffer(reply), redirect_error(use_awaitable, ec))); // HERE no_eof
	}
}

static void no_eof()
{
	io_context io;
	co_spawn(io, reply_client(io), detached);
	io.run();
}

// sessions_leaked: each session has a coroutine that pings its peer once a second. A session that ends by a protocol error does
// not tell it, so it pings for ever, and one more is left behind with each such session.
struct ping_state {
	bool is_over = false;
	steady_timer timer;

	explicit ping_state(io_context &io) : timer(io) {}
};

static awaitable<void> pinger(std::shared_ptr<ping_state> state) // HERE sessions_leaked
{
	while (!state->is_over) {
		error_code ec;
		state->timer.expires_after(1s);
		co_await at(state->timer.async_wait(redirect_error(use_awaitable, ec))); // HERE sessions_leaked
	}
}

static awaitable<void> pinged_session(io_context &io)
{
	auto state = std::make_shared<ping_state>(io);
	co_spawn(io, pinger(state), detached);
	co_await nap(2);
	if (due() && faulty)
		co_return bitten();
	state->is_over = true;
	state->timer.cancel();
}

static awaitable<void> pinged_sessions(io_context &io)
{
	while (!over())
		co_await pinged_session(io);
}

static void sessions_leaked()
{
	io_context io;
	for (int i = 0; i < 3; i++)
		co_spawn(io, pinged_sessions(io), detached);
	io.run();
}

// chat_ctrl_c: a chat with twelve users; three of them talk for a while and then fall silent like the others. Ctrl-C stops it
// with all sessions parked in a read.
struct chat_room {
	std::vector<std::unique_ptr<socket_pair>> users;
};

static awaitable<void> chat_session(chat_room &room, stream_socket &socket)
{
	std::string line;
	for (;;) {
		size_t length = co_await at(asio::async_read_until(socket, asio::dynamic_buffer(line), '\n', use_awaitable));
		for (auto &user : room.users)
			co_await at(asio::async_write(user->server, asio::buffer(line.data(), length), use_awaitable));
		line.erase(0, length);
	}
}

static awaitable<void> chat_screen(stream_socket &socket)
{
	char text[256];
	for (;;)
		co_await at(socket.async_read_some(asio::buffer(text), use_awaitable));
}

static awaitable<void> chat_talker(stream_socket &socket)
{
	while (!after(900ms)) {
		co_await at(asio::async_write(socket, asio::buffer("hello\n", 6), use_awaitable));
		co_await nap(15);
	}
}

static void chat_ctrl_c()
{
	io_context io;
	chat_room room;
	asio::signal_set signals(io, SIGINT, SIGTERM);
	signals.async_wait([&io](error_code, int) { io.stop(); });
	ending end(io, [] { raise(SIGINT); });
	for (int i = 0; i < 12; i++)
		room.users.push_back(std::make_unique<socket_pair>(io));
	for (int i = 0; i < 12; i++) {
		co_spawn(io, chat_session(room, room.users[i]->server), detached);
		co_spawn(io, chat_screen(room.users[i]->client), detached);
		if (i < 3)
			co_spawn(io, chat_talker(room.users[i]->client), detached);
	}
	io.run();
}

// accept_idle: an echo server that had clients at first and has none now: one coroutine in accept, for most of the run. The
// program ends by exit.
static awaitable<void> echo_session(asio::ip::tcp::socket socket)
{
	char data[64];
	for (error_code ec;;) {
		size_t n = co_await at(socket.async_read_some(asio::buffer(data), redirect_error(use_awaitable, ec)));
		if (ec)
			co_return;
		co_await at(asio::async_write(socket, asio::buffer(data, n), use_awaitable));
	}
}

static awaitable<void> echo_listener(asio::ip::tcp::acceptor &acceptor)
{
	for (;;) {
		auto socket = co_await at(acceptor.async_accept(use_awaitable));
		co_spawn(co_await asio::this_coro::executor, echo_session(std::move(socket)), detached);
	}
}

static awaitable<void> echo_clients(asio::ip::tcp::endpoint where)
{
	while (!after(800ms)) {
		asio::ip::tcp::socket socket(co_await asio::this_coro::executor);
		co_await at(socket.async_connect(where, use_awaitable));
		for (int i = 0; i < 5; i++) {
			char c = 'x';
			co_await at(asio::async_write(socket, asio::buffer(&c, 1), use_awaitable));
			co_await at(asio::async_read(socket, asio::buffer(&c, 1), use_awaitable));
		}
		co_await nap(3);
	}
}

static void accept_idle()
{
	io_context io;
	asio::ip::tcp::acceptor acceptor(io, {asio::ip::address_v4::loopback(), 0});
	ending end(io, [] { exit(0); });
	co_spawn(io, echo_listener(acceptor), detached);
	co_spawn(io, echo_clients(acceptor.local_endpoint()), detached);
	io.run();
}

// keep_alive: ten connections that stay open after their last request, as HTTP/1.1 has it. The server waits for the next
// request of each, and the clients have no more.
static awaitable<void> kept_server(stream_socket &socket)
{
	for (;;) {
		char request;
		co_await at(asio::async_read(socket, asio::buffer(&request, 1), use_awaitable));
		co_await nap(1);
		co_await at(asio::async_write(socket, asio::buffer(&request, 1), use_awaitable));
	}
}

static awaitable<void> kept_client(stream_socket &socket, int requests)
{
	for (int i = 0; i < requests; i++) {
		char c = 'r';
		co_await at(asio::async_write(socket, asio::buffer(&c, 1), use_awaitable));
		co_await at(asio::async_read(socket, asio::buffer(&c, 1), use_awaitable));
	}
}

static void keep_alive()
{
	io_context io;
	std::deque<socket_pair> pairs;
	ending end(io);
	for (int i = 0; i < 10; i++) {
		auto &pair = pairs.emplace_back(io);
		co_spawn(io, kept_server(pair.server), detached);
		co_spawn(io, kept_client(pair.client, 60 * i), detached);
	}
	io.run();
}

// time_out_races: each request races its reply against a timer. Every tenth request gets no reply at all, and there the timer
// wins; elsewhere the timer is cancelled with its waiter. Both are what was meant.
static awaitable<void> moody_server(stream_socket &socket)
{
	for (int i = 0;; i++) {
		char request;
		co_await at(asio::async_read(socket, asio::buffer(&request, 1), use_awaitable));
		if (i % 10 != 9)
			co_await at(asio::async_write(socket, asio::buffer(&request, 1), use_awaitable));
	}
}

static awaitable<void> impatient_client(stream_socket &socket)
{
	while (!over()) {
		char c = 'q';
		co_await at(asio::async_write(socket, asio::buffer(&c, 1), use_awaitable));
		steady_timer limit(co_await asio::this_coro::executor, 40ms);
		co_await (at(asio::async_read(socket, asio::buffer(&c, 1), use_awaitable)) || at(limit.async_wait(use_awaitable)));
		co_await nap(1);
	}
	socket.close();
}

static void time_out_races()
{
	io_context io;
	socket_pair pair(io);
	co_spawn(io, moody_server(pair.server), detached);
	co_spawn(io, impatient_client(pair.client), detached);
	io.run();
}

// backpressure: a download whose reader pauses for 1.2 s. The writer waits with a full socket that long, then both go on to
// the end.
static awaitable<void> download_writer(stream_socket &socket)
{
	std::string chunk(200000, 'd');
	while (!over())
		co_await at(asio::async_write(socket, asio::buffer(chunk), use_awaitable));
	socket.close();
}

static awaitable<void> download_reader(stream_socket &socket)
{
	std::string chunk(50000, '\0');
	bool has_paused = false;
	for (error_code ec; !ec;) {
		co_await at(asio::async_read(socket, asio::buffer(chunk), redirect_error(use_awaitable, ec)));
		co_await nap(due() && !has_paused ? 1200 : 3);
		has_paused = due();
	}
}

static void backpressure()
{
	io_context io;
	socket_pair pair(io);
	co_spawn(io, download_writer(pair.server), detached);
	co_spawn(io, download_reader(pair.client), detached);
	io.run();
}

// long_poll: sixteen clients wait for news. There are none for almost two seconds, then one item answers all of them at once.
static awaitable<void> poll_server(stream_socket &socket, event &news, const bool &is_there)
{
	char c;
	co_await at(asio::async_read(socket, asio::buffer(&c, 1), use_awaitable));
	while (!is_there)
		co_await at(news.wait());
	co_await at(asio::async_write(socket, asio::buffer("n", 1), use_awaitable));
}

static awaitable<void> poll_client(stream_socket &socket)
{
	char c = 'p';
	co_await at(asio::async_write(socket, asio::buffer(&c, 1), use_awaitable));
	co_await at(asio::async_read(socket, asio::buffer(&c, 1), use_awaitable));
}

static void long_poll()
{
	io_context io;
	event news(io);
	bool is_there = false;
	std::deque<socket_pair> pairs;
	for (int i = 0; i < 16; i++) {
		auto &pair = pairs.emplace_back(io);
		co_spawn(io, poll_server(pair.server, news, is_there), detached);
		co_spawn(io, poll_client(pair.client), detached);
	}
	ending end(io, [&] {
		is_there = true;
		news.notify_all();
	});
	io.run();
}

// slow_last: thirty requests at once; twenty-nine are done within 0.7 s, the last one, a report over all data, takes 2.3 s. One
// coroutine waits for all of them.
static awaitable<void> one_of_many(int ms, int &left, event &done)
{
	co_await nap(ms);
	if (!--left)
		done.notify_all();
}

static awaitable<void> wait_for_many(io_context &io, event &done)
{
	int left = 30;
	for (int i = 0; i < 30; i++)
		co_spawn(io, one_of_many(i == 7 ? 2300 : 20 * i, left, done), detached);
	co_await at(done.wait());
}

static void slow_last()
{
	io_context io;
	event done(io);
	co_spawn(io, wait_for_many(io, done), detached);
	io.run();
}

// hedged: each request goes to two replicas, the first answer counts, and the other request is cancelled where it waits. Half of
// all requests end without an answer, as planned.
static awaitable<void> replica(int ms)
{
	steady_timer answer(co_await asio::this_coro::executor, std::chrono::milliseconds(ms));
	co_await at(answer.async_wait(use_awaitable));
}

static awaitable<void> hedging_client()
{
	for (int i = 0; !over(); i++)
		co_await (replica(i % 3 ? 2 : 900) || replica(i % 3 ? 800 : 3));
}

static void hedged()
{
	io_context io;
	for (int i = 0; i < 4; i++)
		co_spawn(io, hedging_client(), detached);
	io.run();
}

static const scenario all[] = {
	{"framing", "defect", framing},
	{"no_eof", "defect", no_eof},
	{"sessions_leaked", "defect", sessions_leaked},
	{"chat_ctrl_c", "healthy", chat_ctrl_c},
	{"accept_idle", "healthy", accept_idle},
	{"keep_alive", "healthy", keep_alive},
	{"time_out_races", "healthy", time_out_races},
	{"backpressure", "healthy", backpressure},
	{"long_poll", "healthy", long_poll},
	{"slow_last", "healthy", slow_last},
	{"hedged", "healthy", hedged},
};

int main(int argc, char **argv)
{
	return corpus_main(all, argc, argv);
}
