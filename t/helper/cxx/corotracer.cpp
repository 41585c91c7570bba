/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * corotracer.cpp - a program for coroTracer's header, with another include: what it uses of that is all there. It needs neither
 * exceptions nor RTTI.
 */
#include "ctp.hpp"

#include <cstdio>
#include <cstdlib>
#include <utility>

struct plain {
	struct promise_type : public corotracer::PromiseMixin {
		plain get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
		std::suspend_never initial_suspend() { return {}; }
		std::suspend_always final_suspend() noexcept { return {}; }
		void return_void() {}
		void unhandled_exception() { std::abort(); }
	};
	std::coroutine_handle<promise_type> h;
};

/* With an await_transform of its own that does what the mixin's did, and one that leaves it to the mixin. */
struct joined {
	struct promise_type : public corotracer::PromiseMixin {
		using corotracer::PromiseMixin::await_transform;
		auto await_transform(int n)
		{
			return corotracer::TracedAwaiter<counter>{counter{n}, this};
		}

		struct counter : std::suspend_always {
			int n;
			explicit counter(int value) : n(value) {}
			int await_resume() { return n; }
		};
		joined get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
		std::suspend_never initial_suspend() { return {}; }
		std::suspend_always final_suspend() noexcept { return {}; }
		void return_void() {}
		void unhandled_exception() { std::abort(); }
	};
	std::coroutine_handle<promise_type> h;
};

/* Writes its initial suspension by hand, as one must for coroTracer, which does not trace that: by its constructor (c), by
 * initial_suspend (i), by the awaiter of that (a); or leaves it to its scheduler (s). */
template <char By> struct by_hand {
	struct promise_type : public corotracer::PromiseMixin {
		struct initial {
			promise_type &p;
			bool await_ready() noexcept { return false; }
			void await_suspend(std::coroutine_handle<> me) noexcept
			{
				if (By == 'a')
					p.write_trace(reinterpret_cast<std::uintptr_t>(me.address()), false);
			}
			void await_resume() noexcept
			{
				if (By != 's')
					p.write_trace(0, true);
			}
		};
		promise_type()
		{
			if (By == 'c')
				write_trace(reinterpret_cast<std::uintptr_t>(this), false);
		}
		by_hand get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
		initial initial_suspend()
		{
			if (By == 'i')
				write_trace(reinterpret_cast<std::uintptr_t>(this), false);
			return {*this};
		}
		std::suspend_always final_suspend() noexcept
		{
			write_trace(0, false);
			return {};
		}
		void return_void() {}
		void unhandled_exception() { std::abort(); }
	};
	std::coroutine_handle<promise_type> h;

	void run()
	{
		while (!h.done()) {
			if (By == 's')
				h.promise().write_trace(0, true);
			h.resume();
			if (By == 's')
				h.promise().write_trace(0, false);
		}
		h.destroy();
	}
};

static by_hand<'c'> third()
{
	co_await std::suspend_always();
}

static by_hand<'i'> fourth()
{
	co_await std::suspend_always();
}

static by_hand<'a'> fifth()
{
	co_await std::suspend_always();
}

static by_hand<'s'> sixth()
{
	co_await std::suspend_always();
}

/* Writes in its constructor that it runs, and so it does. All that it has of the mixin is its own business. */
class eager {
public:
	class promise_type : corotracer::PromiseMixin {
	public:
		using corotracer::PromiseMixin::await_transform;
		promise_type() { write_trace(0, true); }
		eager get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
		std::suspend_never initial_suspend() { return {}; }
		std::suspend_always final_suspend() noexcept { return {}; }
		void return_void() {}
		void unhandled_exception() { std::abort(); }
	};
	std::coroutine_handle<promise_type> h;
};

static eager eighth()
{
	co_await std::suspend_never();
	co_await std::suspend_always();
}

/* A promise that has the mixin for a member (true), or knows nothing of it (false). */
template <bool Has> struct aside {
	struct knows {
		corotracer::PromiseMixin mixin;
		template <class A> auto await_transform(A &&x) { return mixin.await_transform(std::forward<A>(x)); }
	};
	struct knows_not {};
	struct promise_type : std::conditional_t<Has, knows, knows_not> {
		aside get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
		std::suspend_never initial_suspend() { return {}; }
		std::suspend_always final_suspend() noexcept { return {}; }
		void return_void() {}
		void unhandled_exception() { std::abort(); }
	};
	std::coroutine_handle<promise_type> h;
};

static aside<true> ninth()
{
	co_await std::suspend_always();
	co_await std::suspend_never();
	co_await std::suspend_always();
}

static aside<false> tenth(corotracer::PromiseMixin *mixin)
{
	co_await corotracer::TracedAwaiter<std::suspend_always>{{}, mixin};
	co_await corotracer::TracedAwaiter<std::suspend_always>{{}, mixin};
}

template <class Task> static void finish(Task task)
{
	while (!task.h.done())
		task.h.resume();
	task.h.destroy();
}

static plain first()
{
	co_await std::suspend_always();
	co_await std::suspend_always();
}

static joined second(int *sum)
{
	*sum += co_await 3;
	co_await std::suspend_always();
}

int main()
{
	corotracer::InitTracer();
	int sum = 4;
	plain a = first();
	joined b = second(&sum);
	for (; !a.h.done(); a.h.resume())
		;
	for (; !b.h.done(); b.h.resume())
		;
	b.h.promise().write_trace(corotracer::get_tid(), false); /* it is over: this does nothing */
	a.h.destroy();
	b.h.destroy();
	third().run();
	fourth().run();
	fifth().run();
	sixth().run();
	{
		corotracer::PromiseMixin seventh; /* no coroutine's promise: all is by hand */
		seventh.write_trace(0, true);
		seventh.write_trace(0, true); /* nothing new */
		seventh.write_trace(1, false);
		seventh.write_trace(0, true);
		seventh.write_trace(0, true);
	}
	finish(eighth());
	finish(ninth());
	{
		corotracer::PromiseMixin mixin, copy = mixin; /* which is another */
		mixin.write_trace(0, false);
		finish(tenth(&copy));
	}
	corotracer::trigger_uds_wakeup();
	std::printf("%d %d\n", sum, corotracer::get_ns() > 0);
	return 0;
}
