/*
 * corotracer.cpp - a program for coroTracer's header, with another include: what it uses of that is all there. It needs neither
 * exceptions nor RTTI.
 */
#include "ctp.hpp"

#include <cstdio>
#include <cstdlib>

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
	std::printf("%d %d\n", sum, corotracer::get_ns() > 0);
	return 0;
}
