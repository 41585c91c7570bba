/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * cxx-io.cpp - sockets and pipes under epoll, in C++20: a reactor's thread makes coroutines ready when their file is.
 */
#include "cxx.hpp"

#include <arpa/inet.h>
#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

using namespace cx;

/* One direction of a file. Readiness that nobody waits for is kept for the next. */
struct side {
	int fd;
	std::uint32_t events; /* of poll(2) */
	bool ready = false;
	queue waiting{};
	bool try_wait() { return std::exchange(ready, false); }
	ctp::reason reason() const { return ctp::waits_fd(fd, events, ctp::cancellable); }
	waiting_for<side> wait() { return waiting_for<side>(*this); }
	waiting_for<side> wait_for(milliseconds t) { return waiting_for<side>(*this, t); }
	void fire()
	{
		ready = waiting.empty();
		while (!waiting.empty())
			make_ready(*waiting.front());
	}
};
struct source {
	int fd;
	side in{fd, POLLIN}, out{fd, POLLOUT};
	std::map<std::uint64_t, source *> *known = nullptr; /* the reactor's */
	std::uint64_t id = 0;
	explicit source(int of) : fd(of) {}
	source(const source &) = delete;
	~source()
	{
		locked l(world);
		if (known)
			known->erase(id);
		::close(fd);
	}
};

class reactor {
	std::map<std::uint64_t, source *> known; /* an event may be of a source that is gone */
	std::uint64_t last = 0;
	int ep = epoll_create1(EPOLL_CLOEXEC), bell = eventfd(0, EFD_CLOEXEC);
	std::thread t;

public:
	bool hears_hang_up = true;

	reactor()
	{
		control(EPOLL_CTL_ADD, bell, EPOLLIN, 0);
		t = std::thread([this] { loop(); });
	}
	~reactor()
	{
		std::uint64_t one = 1;
		if (write(bell, &one, sizeof one) < 0)
			abort();
		t.join();
		::close(ep);
		::close(bell);
	}
	void control(int what, int fd, std::uint32_t events, std::uint64_t id)
	{
		epoll_event e{};
		e.events = events, e.data.u64 = id;
		if (epoll_ctl(ep, what, fd, &e))
			abort();
	}
	void add(source &s, std::uint32_t events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET)
	{
		locked l(world);
		s.id = ++last, s.known = &known, known[s.id] = &s;
		control(EPOLL_CTL_ADD, s.fd, events, s.id);
	}
	void rearm(source &s) { control(EPOLL_CTL_MOD, s.fd, EPOLLIN | EPOLLONESHOT, s.id); }

private:
	void loop()
	{
		for (;;) {
			epoll_event all[16];
			int n = epoll_wait(ep, all, 16, -1);
			locked l(world);
			for (int i = 0; i < n; i++) {
				std::uint32_t hang_up = hears_hang_up ? EPOLLHUP | EPOLLRDHUP | EPOLLERR : 0;
				if (all[i].data.u64 == 0)
					return;
				auto found = known.find(all[i].data.u64);
				if (found == known.end())
					continue;
				if (all[i].events & (EPOLLIN | hang_up))
					found->second->in.fire();
				if (all[i].events & (EPOLLOUT | hang_up))
					found->second->out.fire();
			}
		}
	}
};

/* Two ends of a stream. */
struct stream {
	std::unique_ptr<source> a, b;
	explicit stream(reactor &r, std::uint32_t events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET)
	{
		int fds[2];
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds))
			abort();
		a = std::make_unique<source>(fds[0]), b = std::make_unique<source>(fds[1]);
		r.add(*a);
		r.add(*b, events);
	}
};

static task<int> read_some(source &s, char *to, std::size_t n)
{
	for (;;) {
		ssize_t got = read(s.fd, to, n);
		if (got >= 0 || errno != EAGAIN)
			co_return static_cast<int>(got);
		co_await s.in.wait();
	}
}
static task<bool> write_all(source &s, const char *from, std::size_t n)
{
	while (n) {
		ssize_t put = write(s.fd, from, n);
		if (put > 0)
			from += put, n -= put;
		else if (errno == EAGAIN)
			co_await s.out.wait();
		else
			co_return false;
	}
	co_return true;
}

/* A client that sends a message of so many bytes, the first of which is the length, and waits for one byte. */
static task<bool> exchange(source &s, unsigned char length)
{
	std::string message(length, static_cast<char>(length));
	char reply;
	bool sent = co_await write_all(s, message.data(), length);
	if (!sent)
		co_return false;
	int got = co_await read_some(s, &reply, 1);
	co_return got == 1;
}

/*
 * undrained: a server under edge-triggered epoll reads once for each event, into 64 bytes. All messages were shorter, until one
 * of 100 came: the rest stays in the socket, and there is no second edge.
 */
namespace undrained {
static task<> server(source &s)
{
	for (unsigned have = 0;;) {
		co_await s.in.wait(); /* HERE undrained */
		ssize_t got;
		do {
			unsigned char buffer[64];
			got = read(s.fd, buffer, sizeof buffer);
			if (got == 0)
				co_return;
			if (got < 0)
				break;
			have += got;
			if (have == buffer[0]) {
				have = 0;
				co_await write_all(s, "y", 1);
			}
		} while (!asked.faulty);
	}
}
static task<> story(stream &quiet, stream &busy)
{
	spawn(server(*quiet.b), "server");
	spawn(server(*busy.b), "server");
	job other = spawn([](source &s) -> task<> {
		while (going()) {
			co_await exchange(s, 20);
			co_await delay(2ms);
		}
	}(*quiet.a), "client of short messages");
	while (going()) {
		bool large = !normal();
		if (large)
			bite();
		co_await exchange(*busy.a, large ? 100 : 30);
		co_await delay(2ms);
	}
	co_await other.end();
}
static void start()
{
	reactor r;
	stream quiet(r), busy(r);
	run(2, story(quiet, busy));
}
} // namespace undrained

/*
 * not-rearmed: one-shot registrations, which have to be set anew after each event. The handler of a ping, which has an early
 * continue, does not; the connection is deaf from then on.
 */
namespace not_rearmed {
static task<> server(reactor &r, source &s)
{
	for (;;) {
		co_await s.in.wait(); /* HERE not-rearmed */
		unsigned char buffer[256];
		ssize_t got = read(s.fd, buffer, sizeof buffer);
		if (got == 0)
			co_return;
		bool ping = buffer[0] == 1;
		co_await write_all(s, "y", 1);
		if (ping && asked.faulty)
			continue;
		r.rearm(s);
	}
}
static task<> story(reactor &r, stream &c)
{
	spawn(server(r, *c.b), "server");
	spawn(ticking(6ms), "statistics");
	for (int i = 0; going(); i++) {
		bool ping = !normal() && i % 20 == 0;
		co_await exchange(*c.a, ping ? 1 : 30);
		if (ping)
			bite();
		co_await delay(2ms);
	}
}
static void start()
{
	reactor r;
	stream c(r, EPOLLIN | EPOLLONESHOT);
	run(1, story(r, c));
}
} // namespace not_rearmed

/*
 * deaf-to-hang-up: a supervisor follows the output of its children through pipes. Its reactor looks at EPOLLIN alone; of a pipe
 * whose writer has gone, epoll says EPOLLHUP and nothing else, and the follower waits for a line.
 */
namespace deaf_to_hang_up {
static task<> follower(source &s, long &bytes)
{
	for (;;) {
		char buffer[64];
		ssize_t got = read(s.fd, buffer, sizeof buffer);
		if (got == 0)
			co_return;
		if (got > 0)
			bytes += got;
		else
			co_await s.in.wait(); /* HERE deaf-to-hang-up */
	}
}
static task<> story(reactor &r, long &bytes)
{
	spawn(ticking(9ms), "status page");
	while (going()) {
		int fds[2];
		if (pipe2(fds, O_NONBLOCK | O_CLOEXEC))
			abort();
		source s(fds[0]);
		r.add(s, EPOLLIN | EPOLLET);
		job j = spawn(follower(s, bytes), "follower");
		for (int i = 0; i < 20; i++) {
			if (write(fds[1], "line\n", 5) != 5)
				abort();
			co_await delay(2ms);
		}
		if (normal())
			j.cancel(); /* its child has said good-bye */
		else
			bite(); /* and this one has crashed */
		close(fds[1]);
		co_await j.end();
	}
}
static void start()
{
	reactor r;
	long bytes = 0;
	r.hears_hang_up = !asked.faulty;
	run(1, story(r, bytes));
}
} // namespace deaf_to_hang_up

/*
 * wrong-direction: a sender whose socket is full waits until it is readable instead of writable: a line that was copied. Only
 * large files fill the socket, and the peer has nothing to say.
 */
namespace wrong_direction {
static task<> send_file(source &s, std::size_t n)
{
	static const char block[4096] = {};
	while (n) {
		ssize_t put = write(s.fd, block, std::min(n, sizeof block));
		if (put > 0)
			n -= put;
		else if (asked.faulty) {
			bite();
			co_await s.in.wait(); /* HERE wrong-direction */
		} else
			co_await s.out.wait();
	}
}
static task<> receiver(source &s, long &bytes)
{
	static char buffer[16384];
	for (;;) {
		int got = co_await read_some(s, buffer, sizeof buffer);
		if (got <= 0)
			co_return;
		bytes += got;
		co_await delay(1ms);
	}
}
static task<> story(stream &c, long &bytes)
{
	spawn(receiver(*c.b, bytes), "receiver");
	spawn(ticking(5ms), "user interface");
	while (going()) {
		co_await send_file(*c.a, normal() ? 2000 : 2000000);
		co_await delay(3ms);
	}
}
static void start()
{
	reactor r;
	stream c(r);
	long bytes = 0;
	run(1, story(c, bytes));
}
} // namespace wrong_direction

/*
 * idle-listener (healthy): a server on a port of its own to which a few clients came in the beginning. Then nobody comes any more,
 * and the accept loop waits.
 */
namespace idle_listener {
static task<> serve(int fd, reactor &r, int &served)
{
	source s(fd);
	char c;
	r.add(s);
	int got = co_await read_some(s, &c, 1);
	served += got == 1;
}
static task<> listener(source &l, reactor &r, int &served)
{
	for (;;) {
		int fd = accept4(l.fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd >= 0)
			spawn(serve(fd, r, served), "connection");
		else
			co_await l.in.wait();
	}
}
static task<> story(source &l, reactor &r, sockaddr_in &at, int &served)
{
	spawn(listener(l, r, served), "listener");
	while (normal()) {
		source s(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
		if (connect(s.fd, reinterpret_cast<sockaddr *>(&at), sizeof at) || write(s.fd, "x", 1) != 1)
			abort();
		co_await delay(10ms);
	}
	while (going())
		co_await delay(400ms);
}
static void start()
{
	reactor r;
	source l(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
	sockaddr_in at{};
	socklen_t size = sizeof at;
	int served = 0;
	at.sin_family = AF_INET, at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(l.fd, reinterpret_cast<sockaddr *>(&at), size) || listen(l.fd, 8) ||
	    getsockname(l.fd, reinterpret_cast<sockaddr *>(&at), &size))
		abort();
	r.add(l);
	run(1, story(l, r, at, served));
}
} // namespace idle_listener

/*
 * silent-connections (healthy): sixty connections are open and say nothing, four talk. A server's connection waits for its client's
 * next word for as long as the client likes.
 */
namespace silent_connections {
static task<> story(std::vector<std::unique_ptr<stream>> &all)
{
	for (auto &s : all)
		spawn(undrained::server(*s->b), "connection");
	for (int i = 0; going(); i++) {
		co_await exchange(*all[i % 4]->a, 10);
		co_await delay(2ms);
	}
}
static void start()
{
	reactor r;
	std::vector<std::unique_ptr<stream>> all;
	for (int i = 0; i < 64; i++)
		all.push_back(std::make_unique<stream>(r));
	run(2, story(all));
}
} // namespace silent_connections

/*
 * slow-reader (healthy): a peer does not read for 1.3 seconds; the sender's socket is full, it waits until it can write, and goes on
 * when the peer does.
 */
namespace slow_reader {
static task<> receiver(source &s, long &bytes)
{
	static char buffer[65536];
	for (bool paused = false;;) {
		int got = co_await read_some(s, buffer, sizeof buffer);
		if (got <= 0)
			co_return;
		bytes += got;
		if (!paused && !normal()) {
			paused = true;
			co_await delay(1300ms);
		}
	}
}
static task<> story(stream &c, long &bytes)
{
	static const char block[16384] = {};
	job j = spawn(receiver(*c.b, bytes), "receiver");
	while (going()) {
		co_await write_all(*c.a, block, sizeof block);
		co_await delay(2ms);
	}
	shutdown(c.a->fd, SHUT_WR);
	co_await j.end();
}
static void start()
{
	reactor r;
	stream c(r);
	long bytes = 0;
	run(2, story(c, bytes));
}
} // namespace slow_reader

/*
 * half-line (healthy): somebody types at a terminal: half of a line, and after a second and a half the rest. The reader waits for
 * the end of the line, which comes.
 */
namespace half_line {
static task<> shell(source &s, int &lines)
{
	for (;;) {
		char c;
		int got = co_await read_some(s, &c, 1);
		if (got <= 0)
			co_return;
		lines += c == '\n';
	}
}
static task<> story(stream &c, int &lines)
{
	job j = spawn(shell(*c.b, lines), "shell");
	while (normal()) {
		co_await write_all(*c.a, "ls -l\n", 6);
		co_await delay(20ms);
	}
	do {
		co_await write_all(*c.a, "rm -r", 5);
		co_await delay(1500ms);
		co_await write_all(*c.a, " x\n", 3);
	} while (asked.stay);
	shutdown(c.a->fd, SHUT_WR);
	co_await j.end();
}
static void start()
{
	reactor r;
	stream c(r);
	int lines = 0;
	run(1, story(c, lines));
}
} // namespace half_line

/*
 * lost-peers (healthy): peers that go without a word. Each wait for them has a time limit of 200 ms, after which the connection is
 * closed; all of them end that way.
 */
namespace lost_peers {
static task<> connection(reactor &r, int &lost)
{
	stream c(r);
	bool heard = co_await c.b->in.wait_for(200ms);
	lost += !heard;
}
static task<> story(reactor &r, int &lost)
{
	while (going(2)) {
		spawn(connection(r, lost), "connection");
		co_await delay(10ms);
	}
	co_await delay(250ms);
}
static void start()
{
	reactor r;
	int lost = 0;
	run(1, story(r, lost));
}
} // namespace lost_peers

int main(int argc, char **argv)
{
	return cx::main(argc, argv, {
		{"undrained", defect, undrained::start},
		{"not-rearmed", defect, not_rearmed::start},
		{"deaf-to-hang-up", defect, deaf_to_hang_up::start},
		{"wrong-direction", defect, wrong_direction::start},
		{"idle-listener", healthy, idle_listener::start},
		{"silent-connections", healthy, silent_connections::start},
		{"slow-reader", healthy, slow_reader::start},
		{"half-line", healthy, half_line::start},
		{"lost-peers", healthy, lost_peers::start},
	});
}
