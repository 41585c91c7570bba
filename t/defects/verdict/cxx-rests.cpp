/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * cxx-rests.cpp - healthy services in C++20 whose load has ended or is uneven: what c-rests.c has in C.
 */
#include "cxx.hpp"

using namespace cx;

/*
 * topics (healthy): subscribers of eight topics. Some topics have news all the time, some now and then, some had a few at the
 * beginning.
 */
namespace topics {
static task<> subscriber(channel<int> &topic)
{
	for (;;) {
		auto news = co_await topic.receive();
		if (!news)
			co_return;
		co_await delay(1ms);
	}
}
static task<> publisher(std::deque<channel<int>> &all)
{
	for (int i = 0; going(); i++) {
		co_await all[i % 2].send(i);
		if (i % 150 == 0)
			co_await all[2 + i / 150 % 3].send(i);
		if (normal())
			co_await all[5 + i % 3].send(i);
		co_await delay(2ms);
	}
	for (auto &topic : all)
		topic.close();
}
static task<> story(std::deque<channel<int>> &all)
{
	std::vector<job> jobs;
	for (int i = 0; i < 24; i++)
		jobs.push_back(spawn(subscriber(all[i % 8]), "subscriber"));
	co_await publisher(all);
	for (auto &j : jobs)
		co_await j.end();
}
static void start()
{
	std::deque<channel<int>> all;
	for (int i = 0; i < 8; i++)
		all.emplace_back(16);
	run(2, story(all));
}
} // namespace topics

/*
 * periods (healthy): tasks with timers of very different periods, and one that backs off: its waits become longer and longer.
 */
namespace periods {
static task<> every(milliseconds period, long &count)
{
	while (going()) {
		co_await delay(period);
		count++;
	}
}
static task<> backs_off(long &count)
{
	for (milliseconds t = 1ms; going(); t = std::min<milliseconds>(t * 2, 60s)) {
		co_await delay(t);
		count++;
	}
}
static task<> story(long &count)
{
	for (int ms : {2, 3, 5, 200, 1000, 30000})
		spawn(every(milliseconds(ms), count), "period");
	spawn(backs_off(count), "retry");
	co_await ticking(7ms);
	std::_Exit(0); /* the longest are not due yet */
}
static void start()
{
	long count = 0;
	run(2, story(count));
}
} // namespace periods

/*
 * jobs (healthy): requests become jobs for a pool of workers, and wait for their results; most of them come at the beginning.
 */
namespace jobs {
struct request {
	oneshot<int> answer;
};
static task<> worker(channel<request *> &queue)
{
	while (auto r = co_await queue.receive()) {
		co_await delay(2ms);
		(*r)->answer.set(1);
	}
}
static task<> session(channel<request *> &queue)
{
	while (going()) {
		request r;
		co_await queue.send(&r);
		co_await r.answer.get();
		co_await delay(normal() ? 3ms : 900ms);
	}
}
static task<> story(channel<request *> &queue)
{
	std::vector<job> all;
	for (int i = 0; i < 6; i++)
		spawn(worker(queue), "worker");
	for (int i = 0; i < 8; i++)
		all.push_back(spawn(session(queue), "session"));
	for (auto &j : all)
		co_await j.end();
	queue.close();
}
static void start()
{
	channel<request *> queue(16);
	run(2, story(queue));
}
} // namespace jobs

int main(int argc, char **argv)
{
	return cx::main(argc, argv, {
		{"topics", healthy, topics::start},
		{"periods", healthy, periods::start},
		{"jobs", healthy, jobs::start},
	});
}
