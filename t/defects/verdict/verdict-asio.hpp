/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
// verdict-asio.hpp - what the Asio programs of the corpus share: how a scenario is chosen, when its fault is due and when it
// ends, and the two things that programs on Asio write for themselves again and again, a nap and an event.
//
// A fault that has bitten is left alone for 3 s, then a plain thread ends the program. All else ends by itself after 2.5 s.
// With CORPUS_END=stay nothing ends. Wakes are left out by compiling with CTP_ASIO_NO_WAKE, so CORPUS_NO_WAKE is not read here.
#pragma once
#include <asio.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/experimental/channel.hpp>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

using asio::awaitable;
using asio::detached;
using asio::error_code;
using asio::io_context;
using asio::redirect_error;
using asio::steady_timer;
using asio::use_awaitable;
using namespace asio::experimental::awaitable_operators;
using namespace std::chrono_literals;
using corpus_clock = std::chrono::steady_clock;
using stream_socket = asio::local::stream_protocol::socket;
template <class T> using channel = asio::experimental::channel<void(error_code, T)>;

inline bool faulty, stay, one_place;
inline corpus_clock::time_point corpus_start;

inline bool after(std::chrono::milliseconds time)
{
	return corpus_clock::now() - corpus_start >= time;
}

// Whether the program has worked for long enough that the story may begin.
inline bool due()
{
	return after(700ms);
}

// Whether a program without a fault has done its work.
inline bool over()
{
	return !stay && !faulty && after(2500ms);
}

// The fault has happened. In a twin it has not.
inline void bitten()
{
	static std::atomic<bool> before;
	if (!faulty || stay || before.exchange(true))
		return;
	std::thread([] {
		std::this_thread::sleep_for(3s);
		exit(0);
	}).detach();
}

// Where a scenario could return, and what it has parked must not be torn down.
inline void remain()
{
	while (stay || faulty)
		pause();
}

// Calls a function after 2.5 s of a program without a fault. It is no coroutine.
struct ending {
	steady_timer timer;

	template <class Executor, class Function> ending(Executor &&executor, Function function)
		: timer(executor, corpus_start + 2500ms)
	{
		if (!stay && !faulty)
			timer.async_wait([function](error_code ec) {
				if (!ec)
					function();
			});
	}
	explicit ending(io_context &io) : ending(io, [&io] { io.stop(); }) {}
};

template <class T> awaitable<T> through_one_place(awaitable<T> what)
{
	co_return co_await std::move(what);
}

// All operations are awaited as `co_await at(operation)`.
template <class T> awaitable<T> at(awaitable<T> what)
{
	if (one_place)
		return through_one_place(std::move(what));
	return what;
}

inline awaitable<void> nap(int ms)
{
	steady_timer timer(co_await asio::this_coro::executor, std::chrono::milliseconds(ms));
	co_await at(timer.async_wait(use_awaitable));
}

// What else the program does all the time.
inline awaitable<void> ticking()
{
	while (!over())
		co_await nap(5);
}

// Asio's condition variable: a timer that never expires, and cancelling it is the signal.
struct event {
	steady_timer timer;
	error_code ignored;

	template <class Executor> explicit event(Executor &&executor) : timer(executor, steady_timer::time_point::max()) {}
	awaitable<void> wait() { return timer.async_wait(redirect_error(use_awaitable, ignored)); }
	void notify_all() { timer.cancel(); }
	void notify_one() { timer.cancel_one(); }
};

struct scenario {
	const char *name, *verdict; // "healthy", "defect" or "defect RULE,..."
	void (*run)();
};

template <size_t N> int corpus_main(const scenario (&all)[N], int argc, char **argv)
{
	const char *end = getenv("CORPUS_END");
	const char *place = getenv("CORPUS_ONE_PLACE");
	stay = end && !strcmp(end, "stay");
	one_place = place && !strcmp(place, "1");
	corpus_start = corpus_clock::now();
	for (const scenario &s : all) {
		if (argc == 2 && !strcmp(argv[1], "list"))
			printf("%s %s\n", s.name, s.verdict);
		if (argc < 2 || strcmp(argv[1], s.name))
			continue;
		faulty = !strncmp(s.verdict, "defect", 6) && !(argc > 2 && !strcmp(argv[2], "twin"));
		s.run();
		remain();
		return 0;
	}
	return argc == 2 && !strcmp(argv[1], "list") ? 0 : 2;
}
