/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
// task.hpp - a coroutine for tests: it starts at once, returns nothing, and is left suspended at its end unless Final says otherwise.
#pragma once

#include <coroutine>
#include <cstdlib>

struct no_base {};

// Base: of its promise.
template <class Base, class Final = std::suspend_always> struct task_of {
	struct promise_type : Base {
		task_of get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
		std::suspend_never initial_suspend() { return {}; }
		Final final_suspend() noexcept { return {}; }
		void return_void() {}
		void unhandled_exception() { std::abort(); }
	};
	std::coroutine_handle<promise_type> h;
};
