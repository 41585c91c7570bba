/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
// facts - coroutines that say what they wait for and what they hold. It prints the addresses of its objects, by which t/pipe/cxx-facts.t
// knows them, and the same whether it is traced or not.
#include "ctp.hpp"
#include "task.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <optional>
#include <poll.h>
#include <vector>

using task = task_of<ctp::promise>;
using handle = std::coroutine_handle<task::promise_type>;

static int asked; // how often anybody has asked an awaiter

// A suspension with whatever reasons there are.
template <class Reasons> struct waits {
	Reasons reasons;
	bool await_ready() { return false; }
	void await_suspend(std::coroutine_handle<>) {}
	void await_resume() {}
	Reasons ctp_waits() const
	{
		asked++;
		return reasons;
	}
};

// Not in a coroutine itself: g++ 12 makes errors of aggregates there.
template <class... R> static auto either(R... r) { return waits<std::array<ctp::reason, sizeof...(r)>>{{r...}}; }
static auto several(ctp::reason r) { return waits<std::vector<ctp::reason>>{{r}}; }

// A lock that is handed on to the first waiter, with its guard.
class lock {
	ctp::object told{ctp::lock, 1, "a lock", ctp::owned};
	ctp::holds now;
	std::deque<handle> queue;
	bool taken = false;

	struct acquire {
		lock &l;
		bool await_ready() { return !l.taken; }
		void await_suspend(handle h) { l.queue.push_back(h); }
		ctp::reason ctp_waits() const { return ctp::waits_for(&l.told, ctp::lock); }
		void await_resume()
		{
			if (!l.taken)
				l.now = ctp::holds(&l.told);
			l.taken = true;
			l.told.available(0);
		}
	};

public:
	const void *address() const { return &told; }
	acquire get() { return {*this}; }
	handle put()
	{
		if (queue.empty()) {
			now.release();
			taken = false;
			told.available(1);
			return {};
		}
		handle next = queue.front();
		queue.pop_front();
		now = now.hand(ctp::waker(next));
		ctp::wake_for(next, &told);
		return next;
	}
};

static task named(const char *name, lock &l)
{
	ctp::name(co_await ctp::self(), name);
	co_await l.get();
	co_await std::suspend_always();
	if (handle next = l.put())
		next.resume();
}

// Times, descriptors, several, none, too many.
static task reasons(const void *one, const void *other)
{
	using namespace std::chrono;
	ctp::name(co_await ctp::self(), "reasons");
	co_await waits<ctp::reason>{ctp::waits_until(7'000'000'001, ctp::rests)};
	co_await waits<ctp::reason>{ctp::waits_until(steady_clock::time_point(seconds(8)))};
	co_await waits<ctp::reason>{ctp::waits_until(time_point<steady_clock, duration<double>>(duration<double>(8.5)))};
	co_await waits<ctp::reason>{ctp::waits_until(time_point_cast<hours>(steady_clock::time_point(hours(1))))};
	co_await waits<ctp::reason>{ctp::waits_until(steady_clock::time_point(-seconds(1)))};
	co_await waits<ctp::reason>{ctp::waits_fd(5, POLLIN | POLLOUT)};
	co_await either(ctp::waits_fd(6, POLLIN), ctp::waits_until(9, ctp::timed));
	co_await either();
	co_await waits<ctp::reason>{};
	co_await std::suspend_always();
	co_await waits<ctp::reason>{ctp::waits_for(one, ctp::permits, 3, ctp::shared | ctp::cancellable)};
	co_await either(ctp::waits_for(one, ctp::item), ctp::waits_for(other, ctp::room), ctp::waits_for(one, ctp::event),
	                ctp::waits_for(other, ctp::barrier));
	co_await several(ctp::waits_for(other, ctp::other));
}

// A clock of the program's own is compared with CLOCK_MONOTONIC.
struct slow_clock {
	using duration = std::chrono::seconds;
	using rep = duration::rep;
	using period = duration::period;
	using time_point = std::chrono::time_point<slow_clock>;
	static constexpr bool is_steady = true;
	static time_point now() { return time_point(duration(100)); }
};
static task clocks()
{
	ctp::name(co_await ctp::self(), "clocks");
	co_await waits<ctp::reason>{ctp::waits_until(slow_clock::time_point(std::chrono::seconds(1100)))};
	co_await waits<ctp::reason>{ctp::waits_until(std::chrono::system_clock::now() + std::chrono::hours(1))};
	co_await waits<ctp::reason>{ctp::waits_until(std::chrono::system_clock::time_point())};
}

// By whoever runs, by a promise, by a handle; moved, released, and over with the coroutine.
static task keeps(ctp::object &pool)
{
	auto &self = co_await ctp::self();
	ctp::name(self, "keeps");
	std::optional<ctp::holds> outlives;
	{
		ctp::holds two(&pool, 2);
		ctp::holds three(self, &pool, 3);
		ctp::holds four(handle::from_promise(self), &pool, 4), none;
		pool.available(0);
		outlives.emplace(std::move(three));
		none = std::move(four);
		none.release();
		none.release();
		co_await std::suspend_always();
	}
	pool.available(6);
	co_await std::suspend_always();
}

// In an await_suspend the coroutine is still the one that is meant.
struct holds_inside {
	const void *object;
	ctp::holds guard{};
	bool await_ready() { return false; }
	bool await_suspend(std::coroutine_handle<>)
	{
		guard = ctp::holds(object);
		return true;
	}
	void await_resume() {}
};
static task leaves(const void *object)
{
	ctp::name(co_await ctp::self(), "leaves");
	co_await holds_inside{object};
}

// A promise that one does not change.
using foreign = task_of<no_base, std::suspend_never>;
static foreign framed(const void *object)
{
	ctp::frame frame;
	frame.name("framed");
	ctp::holds one(object);
	co_await ctp::traced(waits<ctp::reason>{ctp::waits_for(object, ctp::event)}, frame);
}

static task is_woken(const void *object, std::optional<ctp::waker> &by_ref)
{
	auto &self = co_await ctp::self();
	ctp::name(self, "is woken");
	by_ref.emplace(self);
	for (int i = 0; i < 3; i++)
		co_await waits<ctp::reason>{ctp::waits_for(object, ctp::item)};
}

// Two locks in one order, and in the other.
static task takes_both(const char *name, lock &a, lock &b)
{
	ctp::name(co_await ctp::self(), name);
	co_await a.get();
	co_await std::suspend_always();
	co_await b.get();
	b.put();
	a.put();
}
static void circle()
{
	lock a, b;
	handle there = takes_both("there", a, b).h, back = takes_both("back", b, a).h;
	there.resume();
	back.resume();
	std::fflush(stdout);
	std::_Exit(0);
}

static void run(handle h)
{
	while (!h.done())
		h.resume();
	h.destroy();
}

int main(int argc, char **)
{
	if (argc > 1)
		circle();
	ctp::object queue(ctp::item, 0, "jobs"), pool(ctp::permits, 9);
	queue.room(4);
	{
		lock l;
		handle first = named("first", l).h, second = named("second", l).h;
		std::printf("lock %p\n", l.address());
		first.resume(); // and that one the second
		second.resume();
		first.destroy();
		second.destroy();
	}
	run(reasons(&queue, &pool).h);
	run(clocks().h);
	handle h = keeps(pool).h;
	h.resume();
	h.destroy();
	run(leaves(&queue).h);
	framed(&queue).h.resume();

	ctp::holds outside(&queue); // nobody's
	std::optional<ctp::waker> by_ref;
	h = is_woken(&queue, by_ref).h;
	queue.available(1);
	ctp::wake_for(h, &queue);
	h.resume();
	ctp::wake_for(h.promise(), &queue);
	h.resume();
	by_ref->wake_for(&queue);
	run(h);
	queue.close();
	std::printf("queue %p\npool %p\n", static_cast<void *>(&queue), static_cast<void *>(&pool));
	std::printf("%s\n", ctp_traced() == (asked == 19) && ctp_traced() == (asked != 0) ? "as it should be" : "asked");
	return 0;
}
