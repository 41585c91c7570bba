/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
// asio-channels - coroutines that talk by asio::experimental::channel: queues, actors, permits, publish and subscribe.
#include "verdict-asio.hpp"

// both_full: a gateway between two bounded channels. The client sends all its requests before it reads a reply, the server sends
// each reply before it takes the next request. From the batch on that is larger than both channels, each waits for the other.
struct gateway {
	channel<int> requests, replies;

	explicit gateway(io_context &io) : requests(io, 8), replies(io, 8) {}
};

static awaitable<void> gateway_server(gateway &g)
{
	for (;;) {
		int request = co_await at(g.requests.async_receive(use_awaitable));
		co_await at(g.replies.async_send(error_code(), request * 2, use_awaitable)); // HERE both_full
	}
}

static awaitable<void> gateway_client(gateway &g)
{
	while (!over()) {
		int size = due() && faulty ? 64 : 8;
		if (size > 8)
			bitten();
		for (int i = 0; i < size; i++)
			co_await at(g.requests.async_send(error_code(), i, use_awaitable)); // HERE both_full
		for (int i = 0; i < size; i++)
			co_await at(g.replies.async_receive(use_awaitable));
		co_await nap(2);
	}
}

static void both_full()
{
	io_context io;
	gateway g(io);
	ending end(io);
	co_spawn(io, gateway_server(g), detached);
	co_spawn(io, gateway_client(g), detached);
	io.run();
}

// never_closed: an import. Its readers send records to one that stores them; the last reader to leave should close the channel.
// One that meets a bad file leaves early and does not count itself out, so the store waits for more, and the import for the
// store.
struct import_run {
	channel<int> records;
	channel<int> stored;
	int readers = 3;

	explicit import_run(io_context &io) : records(io, 4), stored(io, 1) {}
};

static awaitable<void> import_reader(std::shared_ptr<import_run> r, bool is_bad)
{
	for (int i = 0; i < 5; i++) {
		co_await at(r->records.async_send(error_code(), i, use_awaitable));
		co_await nap(1);
		if (is_bad && i == 3 && faulty)
			co_return bitten();
	}
	if (!--r->readers)
		r->records.close();
}

static awaitable<void> import_store(std::shared_ptr<import_run> r)
{
	error_code ec;
	while (!ec)
		co_await at(r->records.async_receive(redirect_error(use_awaitable, ec))); // HERE never_closed
	co_await at(r->stored.async_send(error_code(), 1, use_awaitable));
}

static awaitable<void> imports(io_context &io)
{
	while (!over()) {
		auto r = std::make_shared<import_run>(io);
		bool is_bad = due();
		for (int i = 0; i < 3; i++)
			co_spawn(io, import_reader(r, is_bad && i == 1), detached);
		co_spawn(io, import_store(r), detached);
		co_await at(r->stored.async_receive(use_awaitable));
	}
}

static void never_closed()
{
	io_context io;
	co_spawn(io, imports(io), detached);
	io.run();
}

// detached_throw: a log shipper. The parser was spawned detached, a line without a number makes std::stoi throw, the exception
// goes nowhere, and the consumer waits for a result that nobody makes.
static awaitable<void> line_parser(channel<std::string> &lines, channel<int> &numbers)
{
	for (;;) {
		std::string line = co_await at(lines.async_receive(use_awaitable));
		if (!faulty && line.empty())
			line = "0";
		if (line.empty())
			bitten();
		int number = std::stoi(line);
		co_await at(numbers.async_send(error_code(), number, use_awaitable));
	}
}

static awaitable<void> line_consumer(channel<std::string> &lines, channel<int> &numbers)
{
	for (int i = 0; !over(); i++) {
		std::string line;
		if (!due())
			line = std::to_string(i);
		co_await at(lines.async_send(error_code(), line, use_awaitable));
		(void)co_await at(numbers.async_receive(use_awaitable)); // HERE detached_throw
		co_await nap(2);
	}
}

static void detached_throw()
{
	io_context io;
	channel<std::string> lines(io, 1);
	channel<int> numbers(io, 1);
	ending end(io);
	co_spawn(io, line_parser(lines, numbers), detached);
	co_spawn(io, line_consumer(lines, numbers), detached);
	io.run();
	remain();
}

// permit_leaked: at most three queries at once, by permits in a channel. A query that fails returns before it gives its permit
// back. When three have failed, all wait.
static awaitable<void> query(channel<int> &permits, bool fails)
{
	co_await at(permits.async_receive(use_awaitable)); // HERE permit_leaked
	co_await nap(2);
	if (fails && faulty)
		co_return bitten();
	co_await at(permits.async_send(error_code(), 1, use_awaitable));
}

static awaitable<void> query_client(channel<int> &permits)
{
	while (!over())
		co_await query(permits, due());
}

static void permit_leaked()
{
	io_context io;
	channel<int> permits(io, 3);
	for (int i = 0; i < 3; i++)
		permits.try_send(error_code(), 1);
	for (int i = 0; i < 6; i++)
		co_spawn(io, query_client(permits), detached);
	io.run();
}

// asks_itself: an actor that owns the accounts. A transfer whose both sides are its own asks for the second balance by a message
// to its own mailbox, and waits for the reply instead of reading it.
struct balance_request {
	int account;
	std::shared_ptr<channel<int>> reply;
};

static awaitable<int> ask_balance(channel<balance_request> &mailbox, int account)
{
	auto reply = std::make_shared<channel<int>>(co_await asio::this_coro::executor, 1);
	co_await at(mailbox.async_send(error_code(), balance_request{account, reply}, use_awaitable));
	co_return co_await at(reply->async_receive(use_awaitable)); // HERE asks_itself
}

static awaitable<void> bank(channel<balance_request> &mailbox)
{
	for (;;) {
		balance_request r = co_await at(mailbox.async_receive(use_awaitable));
		int balance = r.account * 10;
		if (r.account == 7 && due() && faulty) {
			bitten();
			balance += co_await ask_balance(mailbox, 8); // HERE asks_itself
		}
		co_await at(r.reply->async_send(error_code(), balance, use_awaitable));
	}
}

static awaitable<void> bank_client(channel<balance_request> &mailbox)
{
	for (int i = 0; !over(); i++) {
		(void)co_await ask_balance(mailbox, i % 10);
		co_await nap(1);
	}
}

static void asks_itself()
{
	io_context io;
	channel<balance_request> mailbox(io, 4);
	ending end(io);
	co_spawn(io, bank(mailbox), detached);
	co_spawn(io, bank_client(mailbox), detached);
	io.run();
}

// gone_subscriber: a broker. A subscriber that left is still in the list; its channel fills up, the publisher waits for room in
// it, and all other subscribers hear nothing more.
static awaitable<void> publisher(std::vector<channel<int>> &topics, const bool &is_gone)
{
	for (int i = 0; !over(); i++) {
		for (auto &topic : topics) {
			if (&topic == &topics[2] && is_gone && !faulty)
				continue;
			co_await at(topic.async_send(error_code(), i, use_awaitable)); // HERE gone_subscriber
		}
		co_await nap(2);
	}
}

static awaitable<void> subscriber(channel<int> &topic, bool leaves, bool &is_gone)
{
	do
		(void)co_await at(topic.async_receive(use_awaitable));
	while (!(leaves && due()));
	is_gone = true;
	bitten();
}

static void gone_subscriber()
{
	io_context io;
	bool is_gone = false;
	std::vector<channel<int>> topics;
	for (int i = 0; i < 4; i++)
		topics.emplace_back(io, 8);
	ending end(io);
	for (int i = 0; i < 4; i++)
		co_spawn(io, subscriber(topics[i], i == 2, is_gone), detached);
	co_spawn(io, publisher(topics, is_gone), detached);
	io.run();
}

// empty_mailboxes: actors that had work at the start and have none now. Each waits at its mailbox, as it should.
static awaitable<void> actor(channel<int> &mailbox)
{
	for (;;)
		(void)co_await at(mailbox.async_receive(use_awaitable));
}

static awaitable<void> first_messages(std::deque<channel<int>> &mailboxes)
{
	for (int i = 0; !after(800ms); i++) {
		co_await at(mailboxes[i % 20].async_send(error_code(), i, use_awaitable));
		co_await nap(1);
	}
}

static void empty_mailboxes()
{
	io_context io;
	std::deque<channel<int>> mailboxes;
	ending end(io);
	for (int i = 0; i < 20; i++) {
		mailboxes.emplace_back(io, 4);
		co_spawn(io, actor(mailboxes.back()), detached);
	}
	co_spawn(io, first_messages(mailboxes), detached);
	io.run();
}

// stalled_pipeline: three stages with small channels. The last one pauses for a second (its disk is busy), all channels are
// full, and everybody waits to send. Then it goes on, and everything ends in order.
static awaitable<void> pipe_source(channel<int> &out)
{
	for (int i = 0; !over(); i++)
		co_await at(out.async_send(error_code(), i, use_awaitable));
	out.close();
}

static awaitable<void> pipe_stage(channel<int> &in, channel<int> &out)
{
	for (error_code ec;;) {
		int i = co_await at(in.async_receive(redirect_error(use_awaitable, ec)));
		if (ec)
			break;
		co_await at(out.async_send(error_code(), i + 1, use_awaitable));
	}
	out.close();
}

static awaitable<void> pipe_sink(channel<int> &in)
{
	bool has_paused = false;
	for (error_code ec; !ec;) {
		co_await at(in.async_receive(redirect_error(use_awaitable, ec)));
		co_await nap(due() && !has_paused ? 1000 : 1);
		has_paused = due();
	}
}

static void stalled_pipeline()
{
	io_context io;
	channel<int> first(io, 2), second(io, 2), third(io, 2);
	co_spawn(io, pipe_source(first), detached);
	co_spawn(io, pipe_stage(first, second), detached);
	co_spawn(io, pipe_stage(second, third), detached);
	co_spawn(io, pipe_sink(third), detached);
	io.run();
}

// shrinking_pool: workers that go away after 400 ms without work: the receive is raced with a timer, and the loser cancelled.
// One worker stays for ever and waits with no limit.
static awaitable<void> pool_worker(channel<int> &work, bool stays)
{
	for (;;) {
		if (stays) {
			(void)co_await at(work.async_receive(use_awaitable));
			continue;
		}
		steady_timer idle(co_await asio::this_coro::executor, 400ms);
		auto done = co_await (at(work.async_receive(use_awaitable)) || at(idle.async_wait(use_awaitable)));
		if (done.index() == 1)
			co_return;
		co_await nap(1);
	}
}

static awaitable<void> pool_user(channel<int> &work)
{
	for (int i = 0; !after(900ms); i++) {
		co_await at(work.async_send(error_code(), i, use_awaitable));
		co_await nap(1);
	}
}

static void shrinking_pool()
{
	io_context io;
	channel<int> work(io, 2);
	ending end(io);
	for (int i = 0; i < 5; i++)
		co_spawn(io, pool_worker(work, i == 0), detached);
	co_spawn(io, pool_user(work), detached);
	io.run();
}

// warm_spare: a leader holds the only token and works, two followers wait for it. The leader does not fail in this run, so they
// have waited since the start.
static awaitable<void> candidate(channel<int> &leadership)
{
	co_await at(leadership.async_receive(use_awaitable));
	while (!over())
		co_await nap(3);
	co_await at(leadership.async_send(error_code(), 1, use_awaitable));
}

static void warm_spare()
{
	io_context io;
	channel<int> leadership(io, 1);
	leadership.try_send(error_code(), 1);
	for (int i = 0; i < 3; i++)
		co_spawn(io, candidate(leadership), detached);
	io.run();
}

// lock_chain: a channel of one as a mutex, handed along a chain of twelve. One holder keeps it for 1.2 s, and eleven wait
// behind it; they get it one after the other.
static awaitable<void> lock_user(channel<int> &lock, bool &has_been_slow)
{
	while (!over()) {
		co_await at(lock.async_receive(use_awaitable));
		bool is_slow = due() && !has_been_slow;
		has_been_slow |= is_slow;
		co_await nap(is_slow ? 1200 : 1);
		co_await at(lock.async_send(error_code(), 1, use_awaitable));
	}
}

static void lock_chain()
{
	io_context io;
	channel<int> lock(io, 1);
	bool has_been_slow = false;
	lock.try_send(error_code(), 1);
	for (int i = 0; i < 12; i++)
		co_spawn(io, lock_user(lock, has_been_slow), detached);
	io.run();
}

static const scenario all[] = {
	{"both_full", "defect", both_full},
	{"never_closed", "defect", never_closed},
	{"detached_throw", "defect", detached_throw},
	{"permit_leaked", "defect", permit_leaked},
	{"asks_itself", "defect", asks_itself},
	{"gone_subscriber", "defect", gone_subscriber},
	{"empty_mailboxes", "healthy", empty_mailboxes},
	{"stalled_pipeline", "healthy", stalled_pipeline},
	{"shrinking_pool", "healthy", shrinking_pool},
	{"warm_spare", "healthy", warm_spare},
	{"lock_chain", "healthy", lock_chain},
};

int main(int argc, char **argv)
{
	return corpus_main(all, argc, argv);
}
