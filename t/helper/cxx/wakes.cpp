/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * wakes.cpp - wakes during the suspension of a coroutine. t/pipe/cxx.t checks the trace, by the names of the
 * functions: each wakes `mark`, which stays suspended, and which no coroutine awaits.
 */
#include "ctp.hpp"

#include <cstdio>
#include <stdexcept>
#include <thread>

struct task {
	struct promise_type : ctp::promise {
		ctp::waker next;

		task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
		std::suspend_never initial_suspend() noexcept { return {}; }
		struct wakes_next {
			bool await_ready() noexcept { return false; }
			void await_suspend(std::coroutine_handle<promise_type> me) noexcept { me.promise().next.wake(); }
			void await_resume() noexcept {}
		};
		wakes_next final_suspend() noexcept { return {}; }
		void return_void() {}
		void unhandled_exception() {}
	};
	std::coroutine_handle<promise_type> h;
};
using handle = std::coroutine_handle<task::promise_type>;

/* An awaiter whose await_suspend is a function. */
template <class F> struct does {
	F f;
	bool await_ready() { return false; }
	auto await_suspend(handle h) { return f(h); }
	void await_resume() {}
};
template <class F> does(F) -> does<F>;

static task mark() { co_await std::suspend_always(); }
static ctp::waker at_mark;
static void wake_mark() { at_mark.wake(); }

static task hands_over()
{
	co_await does{[](handle) { wake_mark(); }};
	wake_mark();
}
static task ends()
{
	auto &me = co_await ctp::self();
	me.next = at_mark;
}
static task requeues()
{
	co_await does{[](handle h) { ctp::wake(h); }};
}
struct give_way {
	bool queue;
	bool await_ready() { return false; }
	void await_suspend(std::coroutine_handle<>) {}
	void await_resume() {}
	bool ctp_yields() const { return queue; }
};
static task yields()
{
	co_await give_way{true};
	co_await give_way{false};
}
static task stays()
{
	co_await does{[](handle) { wake_mark(); return false; }};
	wake_mark();
}
static task throws()
{
	try {
		co_await does{[](handle) {
			wake_mark();
			throw std::runtime_error("");
		}};
	} catch (const std::runtime_error &) {
		wake_mark();
	}
}
static task transfers_to()
{
	co_await std::suspend_always();
	wake_mark();
}
static task transfers(handle to)
{
	co_await does{[to](handle) -> std::coroutine_handle<> { wake_mark(); return to; }};
}
static task is_inside()
{
	wake_mark();
	co_await does{[](handle) { wake_mark(); }};
}
/* A coroutine resumed inside is the waker; after that there is none. */
static task resumes_inside()
{
	co_await does{[](handle) { wake_mark(); is_inside(); wake_mark(); }};
}
static task child() { co_return; }
static task makes_inside()
{
	co_await does{[](handle) { child(); }};
}
static task runs_others()
{
	task other = hands_over();
	wake_mark();
	other.h.resume();
	wake_mark();
	co_return;
}
static task is_destroyed()
{
	co_await does{[](handle h) { h.destroy(); wake_mark(); }};
}
static task goes_on_elsewhere()
{
	co_await does{[](handle h) { std::thread([h] { h.resume(); }).join(); wake_mark(); }};
	wake_mark();
}

int main()
{
	at_mark = ctp::waker(mark().h);
	hands_over().h.resume();
	ends();
	requeues().h.resume();
	task t = yields();
	t.h.resume();
	t.h.resume();
	stays();
	throws();
	transfers(transfers_to().h);
	resumes_inside();
	makes_inside();
	runs_others();
	is_destroyed();
	goes_on_elsewhere();
	wake_mark();
	std::puts("all as it should be");
	return 0;
}
