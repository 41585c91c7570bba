/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * cxx-channels.cpp - channels, actors, replies and subscribers, in C++20.
 */
#include "cxx.hpp"

using namespace cx;

/*
 * full-both: a gateway and a matcher talk through two channels of eight. Each sends before it receives; a burst fills both, and
 * both wait for room.
 */
namespace full_both {
struct pair {
	channel<int> to{8}, back{8};
};
static task<> matcher(pair &p)
{
	for (;;) {
		auto order = co_await p.to.receive();
		if (!order)
			co_return;
		for (int i = 0; i < *order; i++)
			co_await p.back.send(i); /* HERE full-both */
	}
}
static task<> drain(pair &p)
{
	for (;;) {
		auto fill = co_await p.back.receive();
		if (!fill)
			co_return;
	}
}
static task<> gateway(pair &p)
{
	while (going()) {
		co_await delay(3ms);
		bool calm = normal();
		int orders = calm ? 2 : 12, fills = calm ? 1 : 4;
		if (!calm)
			bite();
		for (int i = 0; i < orders; i++)
			co_await p.to.send(fills); /* HERE full-both */
		for (int i = 0; asked.faulty && i < orders * fills; i++)
			co_await p.back.receive();
	}
	p.to.close();
}
static task<> story(pair &p)
{
	std::vector<task<>> all;
	all.push_back(matcher(p));
	all.push_back(gateway(p));
	job reader = spawn(asked.faulty ? ticking(10ms) : drain(p), "reader");
	co_await when_all(std::move(all));
	p.back.close();
	co_await reader.end();
}
static void start()
{
	pair p;
	run(2, story(p));
}
} // namespace full_both

/*
 * no-close: an importer of files: three parsers send rows to one writer, and the last one to end closes the channel. A parser that
 * met a broken file returned early, past the place where they are counted.
 */
namespace no_close {
struct import {
	channel<int> rows{16};
	int parsers = 3, written = 0;
};
static task<> parser(import &im, int id)
{
	for (int row = 0; going(); row++) {
		co_await delay(2ms);
		if (id == 1 && !normal() && asked.faulty)
			co_return; /* a row without an end */
		if (!normal() && asked.faulty)
			break;
		co_await im.rows.send(row);
	}
	if (--im.parsers == 0)
		im.rows.close();
}
static task<> writer(import &im)
{
	for (;;) {
		auto row = co_await im.rows.receive(); /* HERE no-close */
		if (!row)
			co_return;
		im.written++;
	}
}
static task<> story(import &im)
{
	job w = spawn(writer(im), "writer");
	std::vector<task<>> all;
	for (int i = 0; i < 3; i++)
		all.push_back(parser(im, i));
	co_await when_all(std::move(all), "parser");
	bite();
	co_await w.end();
}
static void start()
{
	import im;
	run(1, story(im));
}
} // namespace no_close

/*
 * no-reply: an RPC server's dispatcher has a switch over the operations, without a default. A new client sends operation 3 and
 * waits for a reply that nobody sends.
 */
namespace no_reply {
struct request {
	int operation;
	oneshot<int> *reply;
};
static task<> server(channel<request> &c)
{
	for (;;) {
		auto r = co_await c.receive();
		if (!r)
			co_return;
		co_await delay(1ms);
		switch (r->operation) {
		case 0:
		case 1:
		case 2:
			r->reply->set(200);
			break;
		default:
			bite();
			if (!asked.faulty)
				r->reply->set(404);
		}
	}
}
static task<> client(channel<request> &c, int id)
{
	for (int i = 0; going(); i++) {
		oneshot<int> reply;
		co_await c.send({id == 4 && !normal() ? 3 : i % 3, &reply});
		co_await reply.get(); /* HERE no-reply */
		co_await delay(4ms);
	}
}
static task<> story(channel<request> &c)
{
	job s = spawn(server(c), "server");
	std::vector<task<>> all;
	for (int i = 0; i < 5; i++)
		all.push_back(client(c, i));
	co_await when_all(std::move(all), "client");
	c.close();
	co_await s.end();
}
static void start()
{
	channel<request> c(4);
	run(2, story(c));
}
} // namespace no_reply

/*
 * slow-subscriber: a market-data hub sends each tick to each subscriber's channel and waits for room. One subscriber opens a
 * dialogue and does not read any more: the hub waits for it, and all others get nothing.
 */
namespace slow_subscriber {
struct hub {
	std::vector<std::unique_ptr<channel<int>>> subscribers;
	event dialogue_closed;
};
static task<> subscriber(hub &h, int id)
{
	for (;;) {
		auto tick = co_await h.subscribers[id]->receive();
		if (!tick)
			co_return;
		if (id == 2 && !normal())
			co_await h.dialogue_closed.wait(); /* HERE slow-subscriber */
	}
}
static task<> publisher(hub &h)
{
	for (int tick = 0; going(); tick++) {
		co_await delay(2ms);
		for (auto &s : h.subscribers)
			if (asked.faulty) {
				if (s->size() == 16)
					bite();
				co_await s->send(tick); /* HERE slow-subscriber */
			} else
				s->try_send(tick); /* it has been told that ticks can be left out */
	}
	for (auto &s : h.subscribers)
		s->close();
	h.dialogue_closed.set();
}
static task<> story(hub &h)
{
	std::vector<task<>> all;
	for (int i = 0; i < 4; i++) {
		h.subscribers.push_back(std::make_unique<channel<int>>(16));
		all.push_back(subscriber(h, i));
	}
	all.push_back(publisher(h));
	co_await when_all(std::move(all));
}
static void start()
{
	hub h;
	run(2, story(h));
}
} // namespace slow_subscriber

/*
 * asks-itself: actors with mailboxes, one of them an account. A transfer within one and the same account asks the receiving
 * account for its limit by a message, and waits for the reply: it is its own mailbox, which it does not read meanwhile.
 */
namespace asks_itself {
struct message {
	int to;
	oneshot<int> *reply; /* for a limit; null: a transfer */
};
using mailbox = std::unique_ptr<channel<message>>;
static task<> account(std::vector<mailbox> &boxes, int id)
{
	for (;;) {
		auto m = co_await boxes[id]->receive();
		if (!m)
			co_return;
		if (m->reply)
			m->reply->set(1000);
		else if (asked.faulty || m->to != id) {
			oneshot<int> limit;
			if (m->to == id)
				bite();
			co_await boxes[m->to]->send({0, &limit});
			co_await limit.get(); /* HERE asks-itself */
		}
	}
}
static task<> bank(std::vector<mailbox> &boxes)
{
	std::vector<job> accounts;
	for (int i = 0; i < 3; i++)
		boxes.push_back(std::make_unique<channel<message>>(8));
	for (int i = 0; i < 3; i++)
		accounts.push_back(spawn(account(boxes, i), "account " + std::to_string(i)));
	for (int i = 0; going(); i++) {
		co_await delay(3ms);
		if (normal())
			co_await boxes[i % 2]->send({2, nullptr});
		else
			boxes[i % 2]->try_send({i % 10 == 0 ? 0 : 2, nullptr});
	}
	for (int i = 0; i < 3; i++) { /* in this order: the last one is asked by the others */
		boxes[i]->close();
		co_await accounts[i].end();
	}
}
static void start()
{
	std::vector<mailbox> boxes;
	run(1, bank(boxes));
}
} // namespace asks_itself

/*
 * stale-slot: a client multiplexes calls over one connection. A call's slot is its number modulo eight; the ninth call that is
 * open takes the slot of the first, whose reply then goes to the other one.
 */
namespace stale_slot {
struct connection {
	std::map<int, oneshot<int> *> slots;
	channel<int> wire{64};
	int next = 0;
};
static task<int> call(connection &c)
{
	int number = c.next++, slot = asked.faulty ? number % 8 : number;
	oneshot<int> reply;
	c.slots[slot] = &reply;
	co_await c.wire.send(number);
	auto x = co_await reply.get(); /* HERE stale-slot */
	co_return *x;
}
static task<> server(connection &c)
{
	for (;;) {
		auto number = co_await c.wire.receive();
		if (!number)
			co_return;
		co_await delay(1ms);
		auto found = c.slots.find(asked.faulty ? *number % 8 : *number);
		if (found == c.slots.end())
			continue;
		found->second->set(*number);
		c.slots.erase(found);
	}
}
static task<> caller(connection &c, int id)
{
	while (going()) {
		if (id < 4 || !normal()) { /* the load doubles */
			if (id == 9)
				bite();
			co_await call(c);
		}
		co_await delay(2ms);
	}
}
static task<> story(connection &c)
{
	spawn(server(c), "server");
	std::vector<task<>> all;
	for (int i = 0; i < 12; i++)
		all.push_back(caller(c, i));
	co_await when_all(std::move(all), "caller");
}
static void start()
{
	connection c;
	run(1, story(c));
}
} // namespace stale_slot

/*
 * lost-credit: a stream with a window of credits: the receiver gives one back for each message it has taken. Messages that come
 * after the receiver's own time limit are thrown away, and their credits with them; in the end the window is zero.
 */
namespace lost_credit {
struct stream {
	semaphore credits{8};
	channel<int> data{8};
	int late = 0;
};
static task<> sender(stream &s)
{
	for (int i = 0; going(); i++) {
		co_await s.credits.acquire(); /* HERE lost-credit */
		co_await s.data.send(i);
		co_await delay(1ms);
	}
	s.data.close();
}
static task<> receiver(stream &s)
{
	for (int i = 0;; i++) {
		auto x = co_await s.data.receive();
		if (!x)
			co_return;
		if (!normal() && i % 3 == 0 && s.late < 8) { /* thrown away: out of date */
			s.late++;
			if (s.late == 8)
				bite();
			if (asked.faulty)
				continue;
		}
		s.credits.release();
	}
}
static task<> story(stream &s)
{
	std::vector<task<>> both;
	both.push_back(sender(s));
	both.push_back(receiver(s));
	spawn(ticking(25ms), "keep-alive");
	co_await when_all(std::move(both));
}
static void start()
{
	stream s;
	run(2, story(s));
}
} // namespace lost_credit

/*
 * idle-actors (healthy): two hundred actors, most of whose mailboxes never get a message. They are parked from the start to the
 * exit.
 */
namespace idle_actors {
static task<> actor(channel<int> &box)
{
	for (;;) {
		auto m = co_await box.receive();
		if (!m)
			co_return;
		co_await delay(1ms);
	}
}
static task<> story(std::vector<std::unique_ptr<channel<int>>> &boxes)
{
	for (int i = 0; i < 200; i++) {
		boxes.push_back(std::make_unique<channel<int>>(4));
		spawn(actor(*boxes.back()), "actor " + std::to_string(i));
	}
	for (int i = 0; going(); i++) {
		co_await boxes[i % 5]->send(i);
		co_await delay(2ms);
	}
}
static void start()
{
	std::vector<std::unique_ptr<channel<int>>> boxes;
	run(2, story(boxes));
}
} // namespace idle_actors

/*
 * backpressure (healthy): a disk is slow for 1.4 seconds; the whole pipeline before it fills and stands still, and goes on where
 * it stopped.
 */
namespace backpressure {
struct pipeline {
	channel<int> a{4}, b{4};
	int written = 0;
};
static task<> reader(pipeline &p)
{
	for (int i = 0; going(); i++) {
		co_await p.a.send(i);
		co_await delay(1ms);
	}
	p.a.close();
}
static task<> packer(pipeline &p)
{
	for (;;) {
		auto x = co_await p.a.receive();
		if (!x)
			break;
		co_await p.b.send(*x);
	}
	p.b.close();
}
static task<> writer(pipeline &p)
{
	for (bool slow = false;;) {
		auto x = co_await p.b.receive();
		if (!x)
			co_return;
		if (!slow && !normal()) {
			slow = true;
			co_await delay(1400ms);
		}
		p.written++;
	}
}
static task<> story(pipeline &p)
{
	std::vector<task<>> all;
	all.push_back(reader(p));
	all.push_back(packer(p));
	all.push_back(writer(p));
	co_await when_all(std::move(all));
}
static void start()
{
	pipeline p;
	run(2, story(p));
}
} // namespace backpressure

/*
 * quiet-topics (healthy): subscribers of topics on which nothing is published, beside one that is busy. At shutdown all channels
 * are closed and all subscribers end.
 */
namespace quiet_topics {
static task<> subscriber(channel<int> &topic)
{
	for (;;) {
		auto x = co_await topic.receive();
		if (!x)
			co_return;
	}
}
static task<> story(std::vector<std::unique_ptr<channel<int>>> &topics)
{
	std::vector<job> all;
	for (int i = 0; i < 12; i++) {
		topics.push_back(std::make_unique<channel<int>>(4));
		for (int k = 0; k < 3; k++)
			all.push_back(spawn(subscriber(*topics[i]), "subscriber of " + std::to_string(i)));
	}
	while (going()) {
		co_await topics[0]->send(1);
		co_await delay(2ms);
	}
	for (auto &t : topics)
		t->close();
	for (auto &j : all)
		co_await j.end();
}
static void start()
{
	std::vector<std::unique_ptr<channel<int>>> topics;
	run(2, story(topics));
}
} // namespace quiet_topics

/*
 * long-poll (healthy): clients ask for news and are answered after 900 ms with "nothing new". None of the waits is ended by an
 * event.
 */
namespace long_poll {
static task<> client(channel<int> &news, int &empty)
{
	while (going(2.2)) {
		auto x = co_await news.receive_for(900ms);
		if (!x)
			empty++;
		co_await delay(10ms);
	}
}
static task<> story(channel<int> &news, int &empty)
{
	std::vector<task<>> all;
	for (int i = 0; i < 20; i++)
		all.push_back(client(news, empty));
	job log = spawn(ticking(5ms, 2), "access log");
	co_await when_all(std::move(all), "client");
	co_await log.end();
}
static void start()
{
	channel<int> news(1);
	int empty = 0;
	run(2, story(news, empty));
}
} // namespace long_poll

/*
 * slow-last (healthy): a hundred requests are answered at once, the last one, a report over all data, takes a second and a half.
 * The client waits for its reply alone.
 */
namespace slow_last {
static task<> handler(oneshot<int> &reply, milliseconds time, ctp::place = {})
{
	co_await delay(time);
	reply.set(200);
}
static task<> story()
{
	spawn(ticking(50ms, 2), "metrics");
	for (int i = 0; i < 100 || normal(); i++) {
		oneshot<int> reply;
		spawn(handler(reply, 3ms), "handler");
		co_await reply.get();
	}
	oneshot<int> reply;
	spawn(handler(reply, 1500ms), "report");
	co_await reply.get();
	co_await delay(20ms);
}
static void start()
{
	run(2, story());
}
} // namespace slow_last

/*
 * unread-mail (healthy): an audit channel is large and is read once, at the end, in one go. Its reader waits at a gate until then,
 * and messages pile up as planned.
 */
namespace unread_mail {
struct audit {
	channel<int> log{100000};
	event closing;
	int lines = 0;
};
static task<> auditor(audit &a)
{
	co_await a.closing.wait();
	for (;;) {
		auto x = co_await a.log.receive();
		if (!x)
			co_return;
		a.lines++;
	}
}
static task<> story(audit &a)
{
	job j = spawn(auditor(a), "auditor");
	for (int i = 0; going(); i++) {
		co_await a.log.send(i);
		co_await delay(1ms);
	}
	a.log.close();
	a.closing.set();
	co_await j.end();
}
static void start()
{
	audit a;
	run(1, story(a));
}
} // namespace unread_mail

/*
 * abandoned-generators (healthy): each query looks at the first few of an endless generator's values and drops it. None of those
 * generators ever comes to its end. One lives on as a source of numbers.
 */
namespace abandoned_generators {
static generator<long> squares(long from)
{
	for (long i = from;; i++)
		co_yield i * i;
}
static task<> story(long &sum)
{
	generator<long> kept = squares(0);
	for (int i = 0; going(); i++) {
		generator<long> g = squares(i);
		sum += *g.next() + *g.next() + *g.next() + (i % 100 ? 0 : *kept.next());
		if (i % 10 == 0)
			squares(i); /* not even begun */
		co_await delay(1ms);
	}
}
static void start()
{
	long sum = 0;
	run(1, story(sum));
}
} // namespace abandoned_generators

int main(int argc, char **argv)
{
	return cx::main(argc, argv, {
		{"full-both", defect, full_both::start},
		{"no-close", defect, no_close::start},
		{"no-reply", defect, no_reply::start},
		{"slow-subscriber", defect, slow_subscriber::start},
		{"asks-itself", defect, asks_itself::start},
		{"stale-slot", defect, stale_slot::start},
		{"lost-credit", defect, lost_credit::start},
		{"idle-actors", healthy, idle_actors::start},
		{"backpressure", healthy, backpressure::start},
		{"quiet-topics", healthy, quiet_topics::start},
		{"long-poll", healthy, long_poll::start},
		{"slow-last", healthy, slow_last::start},
		{"unread-mail", healthy, unread_mail::start},
		{"abandoned-generators", healthy, abandoned_generators::start},
	});
}
