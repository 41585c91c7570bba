/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * foreign.cpp - how to trace coroutines whose promise type belongs to a library and stays as it is: ctp::traced wraps what is
 * awaited, and ctp::frame makes all awaits of a coroutine those of one coroutine in the trace.
 */
#include "ctp.hpp"

#include <cstdio>
#include <deque>
#include <exception>
#include <string>
#include <utility>

/* --- the library ---------------------------------------------------------------------------------------------------------- */

namespace library {

struct job {
	struct promise_type {
		job get_return_object() { return {}; }
		std::suspend_never initial_suspend() { return {}; }
		std::suspend_never final_suspend() noexcept { return {}; }
		void return_void() {}
		void unhandled_exception() { std::terminate(); }
	};
};

class channel {
	std::deque<std::string> messages;
	std::coroutine_handle<> reader;

public:
	auto receive()
	{
		struct awaiter {
			channel &c;
			bool await_ready() { return !c.messages.empty(); }
			void await_suspend(std::coroutine_handle<> h) { c.reader = h; }
			std::string await_resume()
			{
				std::string message = c.messages.front();
				c.messages.pop_front();
				return message;
			}
		};
		return awaiter{*this};
	}

	void send(const char *message)
	{
		messages.push_back(message);
		if (reader)
			std::exchange(reader, nullptr).resume();
	}
};

} // namespace library

/* --- the program ---------------------------------------------------------------------------------------------------------- */

/* Each await that suspends is a coroutine of its own in the trace, which ends with the await. */
static library::job reader(library::channel &c)
{
	for (int i = 0; i < 2; i++)
		std::printf("reader: %s\n", (co_await ctp::traced(c.receive())).c_str());
}

/* Both awaits belong to one coroutine in the trace, which ends with its frame. */
static library::job greeter(library::channel &c)
{
	ctp::frame frame;
	frame.name("greeter");
	std::string greeting = co_await ctp::traced(c.receive(), frame);
	std::string name = co_await ctp::traced(c.receive(), frame);
	std::printf("greeter: %s, %s\n", greeting.c_str(), name.c_str());
}

int main()
{
	library::channel a, b;
	reader(a);
	greeter(b);
	a.send("one");
	b.send("hello");
	a.send("two");
	b.send("world");
	return 0;
}
