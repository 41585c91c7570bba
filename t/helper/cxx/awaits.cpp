/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * awaits.cpp - every form of co_await and co_yield, in a coroutine each. Here it is checked that the program sees what it would
 * see untraced; t/pipe/cxx.t checks what the trace has of it, by the names of the functions and the letters at the ends of lines.
 */
#include "ctp.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

static int failures;
#define CHECK(what) ((what) ? (void)0 : (void)(failures++, std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #what)))

/* --- a coroutine type, whose awaiters leave their handle here ------------------------------------------------------------- */

static std::coroutine_handle<> parked;

struct task {
	struct promise_type : ctp::promise {
		std::coroutine_handle<> next = std::noop_coroutine();
		bool threw = false;

		task get_return_object() { return task(std::coroutine_handle<promise_type>::from_promise(*this)); }
		std::suspend_always initial_suspend() noexcept { return {}; }
		struct to_next {
			bool await_ready() noexcept { return false; }
			auto await_suspend(std::coroutine_handle<promise_type> me) noexcept { return me.promise().next; }
			void await_resume() noexcept {}
		};
		to_next final_suspend() noexcept { return {}; }
		void return_void() {}
		void unhandled_exception() { threw = true; }
	};
	std::coroutine_handle<promise_type> h;

	explicit task(std::coroutine_handle<promise_type> handle) : h(handle) {}
	task(task &&other) noexcept : h(std::exchange(other.h, nullptr)) {}
	~task()
	{
		if (h)
			h.destroy();
	}
	auto operator co_await() &&
	{
		struct child {
			std::coroutine_handle<promise_type> h;
			bool await_ready() { return false; }
			auto await_suspend(std::coroutine_handle<> parent)
			{
				h.promise().next = parent;
				return h;
			}
			void await_resume() {}
		};
		return child{h};
	}
};

/* Until it is done, or destroyed. */
static bool run(task t)
{
	for (t.h.resume(); !t.h.done(); std::exchange(parked, nullptr).resume())
		CHECK(parked);
	return !t.h.promise().threw;
}

struct park {
	bool await_ready() { return false; }
	void await_suspend(std::coroutine_handle<> h) { parked = h; }
	void await_resume() {}
};

/* --- what await_suspend returns ------------------------------------------------------------------------------------------- */

static task returns_void()
{
	co_await park(); // A
	co_await park(); // B
}

struct park_if : park {
	bool wait;
	explicit park_if(bool w) : wait(w) {}
	bool await_suspend(std::coroutine_handle<> h)
	{
		if (wait)
			parked = h;
		return wait;
	}
};

static task returns_true()
{
	co_await park_if(true); // C
}
static task returns_false()
{
	co_await park_if(false); // D
}

static task child()
{
	co_await park(); // E
}
static task returns_handle()
{
	co_await child(); // F
}

struct typed : park {
	bool await_suspend(std::coroutine_handle<task::promise_type> h)
	{
		CHECK(std::coroutine_handle<task::promise_type>::from_promise(h.promise()) == h);
		return false;
	}
};
static task wants_its_promise()
{
	co_await typed(); // G
}

struct ready : park {
	bool await_ready() { return true; }
	void await_suspend(std::coroutine_handle<>) { CHECK(!"reached"); }
};
static task is_ready()
{
	co_await ready();
	co_await std::suspend_never();
}

/* --- what is awaited ------------------------------------------------------------------------------------------------------ */

struct by_member {
	park operator co_await() const { return {}; }
};
struct by_function {};
static park operator co_await(by_function &&) { return {}; }
struct by_reference {
	park mine;
	park &operator co_await() { return mine; }
};
static task operators()
{
	co_await by_member(); // H
	co_await by_function(); // I
	by_reference r;
	co_await r; // J
}

struct pinned : park {
	std::string text;
	explicit pinned(const char *t) : text(t) {}
	pinned(pinned &&) = delete;
	std::string &await_resume() { return text; }
};
struct only_moves : park {
	std::unique_ptr<int> value = std::make_unique<int>(7);
	std::unique_ptr<int> await_resume() { return std::move(value); }
};
static only_moves make_one() { return {}; }
static task values()
{
	park lasting;
	co_await lasting; // K
	park &ref = lasting;
	co_await static_cast<park &&>(ref); // L
	pinned p("lvalue");
	std::string &text = co_await p; // M
	CHECK(&text == &p.text);
	CHECK((co_await pinned("more than what a string keeps in itself")).size() == 39); // N
	CHECK(*co_await make_one() + *co_await only_moves() == 14); // O
}

template <class T> static task in_template(T)
{
	co_await park(); // P
}
struct object {
	int x = 3;
	task member()
	{
		co_await park(); // Q
		CHECK(x == 3);
	}
};

/* --- exceptions ----------------------------------------------------------------------------------------------------------- */

struct bad : park {
	int where;
	explicit bad(int w) : where(w) {}
	bool await_ready() { return where == 0 ? throw std::runtime_error("ready") : false; }
	void await_suspend(std::coroutine_handle<> h)
	{
		if (where == 1)
			throw std::runtime_error("suspend");
		parked = h;
	}
	void await_resume() { throw std::runtime_error("resume"); }
};
static task throws_in(int where, std::string &what)
{
	try {
		co_await bad(where); // R
	} catch (const std::exception &e) {
		what = e.what();
	}
	co_await park(); // S
}
static task throws()
{
	co_await park(); // T
	throw std::runtime_error("out of the body");
}

/* --- promises with an await_transform ------------------------------------------------------------------------------------ */

struct wilful {
	struct promise_type : ctp::promise {
		static inline bool no_memory;
		int sum = 0;

		explicit promise_type(int first) : sum(first) {}
		wilful get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
		static wilful get_return_object_on_allocation_failure() { return {nullptr}; }
		/* Out of line, or gcc takes one for not the other's. */
		[[gnu::noinline]] void *operator new(std::size_t bytes, int) noexcept
		{
			return no_memory ? nullptr : std::malloc(bytes);
		}
		[[gnu::noinline]] void operator delete(void *p) { std::free(p); }
		std::suspend_never initial_suspend() { return {}; }
		std::suspend_never final_suspend() noexcept { return {}; }
		void return_void() {}
		void unhandled_exception() { throw; }
		template <class T> T &&await_transform(T &&x) { return static_cast<T &&>(x); }
		park_if await_transform(int n)
		{
			sum += n;
			return park_if(n > 10);
		}
		void await_transform(const char *) = delete;
	};
	std::coroutine_handle<promise_type> h;
};
static wilful transforms(int)
{
	co_await 20; // U
	co_await park(); // V
	CHECK((co_await ctp::self()).sum == 25);
}
static wilful throws_through(int)
{
	co_await park(); // W
	throw 1;
}

struct pairs {
	struct promise_type : ctp::promise {
		std::pair<int, std::string> value;
		pairs get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
		std::suspend_always initial_suspend() noexcept { return {}; }
		std::suspend_always final_suspend() noexcept { return {}; }
		std::suspend_always yield_value(std::pair<int, std::string> v) noexcept
		{
			value = std::move(v);
			return {};
		}
		void return_void() {}
		void unhandled_exception() { std::terminate(); }
		void await_transform() = delete;
	};
	std::coroutine_handle<promise_type> h;
};
static pairs yields()
{
	co_yield {1, "one"}; // X
	std::pair<int, std::string> two(2, "two");
	co_yield two; // Y
}

/* --- names, wakers and spawners ------------------------------------------------------------------------------------------- */

struct park_waker {
	ctp::waker *to;
	bool await_ready() { return false; }
	template <class P> void await_suspend(std::coroutine_handle<P> h)
	{
		*to = ctp::waker(h);
		parked = h;
	}
	void await_resume() {}
};
static task is_woken(ctp::waker *w)
{
	ctp::name(co_await ctp::self(), "sleeper");
	co_await park_waker{w}; // Z
	co_await park(); // a
}
static task wakes_another(std::coroutine_handle<task::promise_type> h, ctp::waker *w)
{
	w->wake();
	ctp::wake(h);
	co_await park(); // b
}

/* --- awaits --------------------------------------------------------------------------------------------------- */

static task holder()
{
	co_await park(); // h
}
template <class Target> struct park_for : park {
	Target target;
	explicit park_for(Target t) : target(t) {}
	Target ctp_target() const { return target; }
};
struct park_until_end : park {
	std::coroutine_handle<task::promise_type> h;
	explicit park_until_end(std::coroutine_handle<task::promise_type> target) : h(target) {}
	auto ctp_join() const { return h; }
};
struct park_with { /* a handle that may be any: it says nothing */
	std::coroutine_handle<task::promise_type> h;
	bool await_ready() { return false; }
	void await_suspend(std::coroutine_handle<> me) { parked = me; }
	void await_resume() {}
};
static task says_its_target(std::coroutine_handle<task::promise_type> h)
{
	co_await park_for(h); // i
	co_await park_for(ctp::waker(h)); // j
	co_await park_for(std::coroutine_handle<task::promise_type>()); // k
	co_await park_with{h}; // l
	co_await park_until_end(h); // m
}

static task knows_its_caller(ctp::place = {}) { co_return; }
static task is_destroyed()
{
	co_await park(); // c
}
static task is_over() { co_return; }
static task is_stuck()
{
	co_await park(); // g
}
static task changes_thread()
{
	long before = syscall(SYS_gettid); /* compilers keep what pthread_self returned */
	co_await park(); // d
	CHECK(before != syscall(SYS_gettid));
}

/* --- all of it ------------------------------------------------------------------------------------------------------------ */

std::coroutine_handle<> thrown_through; /* not static: a compiler that sees all uses would remove it */

static void run_promises()
{
	wilful w = transforms(5);
	CHECK(w.h.promise().sum == 25);
	parked.resume();
	parked.resume();
	throws_through(1);
	bool caught = false;
	try {
		parked.resume();
	} catch (int) {
		caught = true;
	}
	CHECK(caught && parked.done());
	thrown_through = parked; /* not destroyed, but ended */
	wilful::promise_type::no_memory = true;
	CHECK(!transforms(5).h);

	pairs p = yields();
	p.h.resume();
	CHECK(p.h.promise().value.second == "one");
	p.h.resume();
	CHECK(p.h.promise().value.first == 2);
	p.h.resume();
	CHECK(p.h.done());
	p.h.destroy();
}

static void run_wakes()
{
	ctp::waker w;
	{
		task sleeper = is_woken(&w);
		sleeper.h.resume();
		auto s = parked;
		task waker = wakes_another(sleeper.h, &w);
		waker.h.resume();
		parked.resume();
		s.resume();
		parked.resume();
		CHECK(sleeper.h.done() && waker.h.done());
	}
	w.wake(); /* it has ended: the wake has no effect */
	ctp::waker().wake();
	ctp::waker(std::noop_coroutine()).wake();
}

static void run_targets()
{
	task held = holder();
	held.h.resume();
	auto h = parked;
	CHECK(run(says_its_target(held.h)));
	h.resume();
	CHECK(held.h.done());
}

int main()
{
	CHECK(run(returns_void()));
	CHECK(run(returns_true()));
	CHECK(run(returns_false()));
	CHECK(run(returns_handle()));
	CHECK(run(wants_its_promise()));
	CHECK(run(is_ready()));
	CHECK(run(operators()));
	CHECK(run(values()));
	CHECK(run(in_template(2.0)));
	CHECK(run(object().member()));
	auto lambda = [x = 4](int y) -> task {
		co_await park(); // e
		CHECK(x + y == 9);
	};
	CHECK(run(lambda(5)));
	std::string what[3];
	for (int i = 0; i < 3; i++)
		CHECK(run(throws_in(i, what[i])));
	CHECK(what[0] == "ready" && what[1] == "suspend" && what[2] == "resume");
	CHECK(!run(throws()));
	run_promises();
	run_wakes();
	run_targets();
	CHECK(run(knows_its_caller())); // f
	{
		task t = is_destroyed();
		t.h.resume();
	}
	static task *never_destroyed[] = {new task(is_over()), new task(is_stuck())};
	for (task *t : never_destroyed)
		t->h.resume();
	task t = changes_thread();
	t.h.resume();
	std::thread([] { parked.resume(); }).join();
	CHECK(t.h.done());
	std::puts(failures ? "failed" : "all as it should be");
	return failures != 0;
}
