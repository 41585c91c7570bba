/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * cxx.hpp - what the C++20 programs of the corpus share: tasks with symmetric transfer, executors of one to three threads, timers,
 * a channel, an async mutex, condition, event, semaphore, barrier, jobs, when_all and a generator; instrumented as ctp.hpp(3) says:
 * promises derive from ctp::promise, wakes are recorded where a coroutine enters a queue, locks and jobs record what they wait for.
 *
 * One lock, cx::world, guards all queues: those of the ready, those of the waiting and the timers. A suspended coroutine has a
 * node in its awaiter, which is in at most one queue; the node leaves it when the coroutine is made ready or is destroyed.
 *
 * The environment, see cx::main: CORPUS_NO_WAKE, CORPUS_ONE_PLACE, CORPUS_END.
 */
#ifndef CORPUS_CXX_HPP
#define CORPUS_CXX_HPP

#include "ctp.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace cx {

using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;
using std::chrono::milliseconds;

/* --- how the program was asked to run ------------------------------------------------------------------------------------- */

struct settings {
	bool no_wake = false, one_place = false, stay = false, faulty = false;
	clock::time_point began = clock::now();
};
inline settings asked;

inline double elapsed() { return std::chrono::duration<double>(clock::now() - asked.began).count(); }

/* The time before the fault. */
inline bool normal() { return elapsed() < 0.6; }

/* Whether traffic goes on: a defect's does until the watchdog ends the program. */
inline bool going(double seconds = 2.3) { return asked.stay || asked.faulty || elapsed() < seconds; }

inline void end_in(std::chrono::seconds time, int status)
{
	std::thread([=] {
		std::this_thread::sleep_for(time);
		if (status)
			std::fputs("the fault never came\n", stderr);
		std::exit(status);
	}).detach();
}

/* The fault bites now, and the program goes on for three seconds. */
inline void bite()
{
	static std::atomic<bool> bitten = false;
	if (asked.faulty && !asked.stay && !bitten.exchange(true))
		end_in(3s, 0);
}

/* --- promises whose awaits can have one place ----------------------------------------------------------------------------- */

/*
 * ctp::hooked as the promise that the compiler sees, with one thing in between: CORPUS_ONE_PLACE replaces the place of each await.
 * It has a hooked for its only member, so that a handle of either finds the same promise.
 */
template <class Self, class V> struct returning {
	template <class U> void return_value(U &&x) { static_cast<Self *>(this)->p.return_value(std::forward<U>(x)); }
};
template <class Self> struct returning<Self, void> {
	void return_void() { static_cast<Self *>(this)->p.return_void(); }
};

#define CX_PLACE const char *file = __builtin_FILE(), std::uint32_t line = __builtin_LINE(), const char *of = __builtin_FUNCTION()

template <class P, bool Placed> struct placing final : returning<placing<P, Placed>, typename P::value_type> {
	using hooks = ctp::hooked<P, Placed>;
	hooks p;

	template <class A> struct awaiter {
		A inner;
		bool await_ready() noexcept(noexcept(inner.await_ready())) { return inner.await_ready(); }
		auto await_suspend(std::coroutine_handle<placing> h)
			noexcept(noexcept(inner.await_suspend(std::coroutine_handle<hooks>())))
		{
			return inner.await_suspend(std::coroutine_handle<hooks>::from_address(h.address()));
		}
		decltype(auto) await_resume() noexcept(noexcept(inner.await_resume())) { return inner.await_resume(); }
	};
	static void replace(const char *&file, std::uint32_t &line, const char *&of)
	{
		if (asked.one_place)
			file = "park.hpp", line = 1, of = "park";
	}

	template <class... A> explicit placing(A &&...parameters) : p(static_cast<A &&>(parameters)...)
	{
		static_assert(sizeof(placing) == sizeof(P) && alignof(placing) == alignof(P));
	}
	decltype(auto) get_return_object(CX_PLACE) { return p.get_return_object(file, line, of); }
	auto initial_suspend(CX_PLACE)
	{
		return awaiter<decltype(p.initial_suspend(file, line, of))>{p.initial_suspend(file, line, of)};
	}
	auto final_suspend(CX_PLACE) noexcept
	{
		return awaiter<decltype(p.final_suspend(file, line, of))>{p.final_suspend(file, line, of)};
	}
	void unhandled_exception() { p.unhandled_exception(); }
	auto await_transform(ctp::self x) noexcept { return p.await_transform(x); }
	template <class T> auto await_transform(T &&x, CX_PLACE)
	{
		replace(file, line, of);
		using found = decltype(p.await_transform(static_cast<T &&>(x), file, line, of));
		return awaiter<found>{p.await_transform(static_cast<T &&>(x), file, line, of)};
	}
	template <class T> auto yield_value(T &&x, CX_PLACE)
	{
		replace(file, line, of);
		using found = decltype(p.yield_value(static_cast<T &&>(x), file, line, of));
		return awaiter<found>{p.yield_value(static_cast<T &&>(x), file, line, of)};
	}
};

template <class T = void> class task;
template <class T> class generator;

} // namespace cx

template <class T, class... Parameters> struct std::coroutine_traits<cx::task<T>, Parameters...> {
	static constexpr bool placed = (std::is_same_v<std::remove_cvref_t<Parameters>, ctp::place> || ...);
	using promise_type = cx::placing<typename cx::task<T>::promise_type, placed>;
};
template <class T, class... Parameters> struct std::coroutine_traits<cx::generator<T>, Parameters...> {
	static constexpr bool placed = (std::is_same_v<std::remove_cvref_t<Parameters>, ctp::place> || ...);
	using promise_type = cx::placing<typename cx::generator<T>::promise_type, placed>;
};

namespace cx {

/* --- nodes and executors -------------------------------------------------------------------------------------------------- */

struct node;
class executor;
class mutex;
using queue = std::list<node *>;
using alarms = std::multimap<clock::time_point, node *>;
enum { woken, late, closed };

inline std::mutex world;
using locked = std::lock_guard<std::mutex>;

struct running {
	executor *on = nullptr;
	int priority = 0;
};
/* Not inlined, for a coroutine may be on another thread after an await. */
[[gnu::noinline]] inline running &here()
{
	static thread_local running r;
	return r;
}

inline void tell(const ctp::waker &w)
{
	if (!asked.no_wake)
		w.wake();
}

/*
 * What a wait is for, and how much of that there is, as a library knows it that has these things. Here any wait may be cut short, by the
 * destruction of its task. A program that tells of no wakes tells nothing of this either.
 */
using reasons = std::vector<ctp::reason>;

inline reasons waits(const void *object, ctp::what kind, std::optional<milliseconds> limit = {})
{
	reasons all;
	if (asked.no_wake)
		return all;
	if (object)
		all.push_back(ctp::waits_for(object, kind, 1, ctp::cancellable));
	if (limit)
		all.push_back(ctp::waits_until(clock::now() + *limit, ctp::cancellable));
	return all;
}

inline void has(const void *object, ctp::what kind, std::size_t available)
{
	if (!asked.no_wake)
		ctp_object(object, kind, available);
}

/* A suspended coroutine. All but the destructor is called with the world locked. */
struct node {
	std::coroutine_handle<> h;
	ctp::waker w;
	executor *home = nullptr;
	queue *in = nullptr;
	queue::iterator at;
	bool timed = false;
	alarms::iterator alarm;
	mutex *relock = nullptr; /* a condition's lock, which is locked again before it resumes */
	int result = woken, priority = 0;

	node() = default;
	node(const node &) = delete;
	node &operator=(const node &) = delete;
	~node()
	{
		if (home) {
			locked l(world);
			leave();
		}
	}
	template <class P> void park(std::coroutine_handle<P> me, queue *q)
	{
		h = me, w = ctp::waker(me), home = here().on, priority = here().priority;
		if (q)
			enter(*q);
	}
	template <class P> void park(std::coroutine_handle<P> me, queue *q, milliseconds limit);
	void enter(queue &q) { in = &q, at = q.insert(q.end(), this); }
	void leave();
};

/* Threads that run what is ready. Each lives for ever, so that exit() need not wait for its threads. */
class executor {
public:
	std::condition_variable change;
	queue ready;
	alarms timers;
	bool stopping = false;

	executor() = default;
	executor(const executor &) = delete;
	virtual ~executor() = default;
	virtual void put(node &n) { n.enter(ready); }
	virtual node *take()
	{
		if (ready.empty())
			return nullptr;
		node *n = ready.front();
		n->leave();
		return n;
	}

	void run()
	{
		here().on = this;
		std::unique_lock<std::mutex> l(world);
		while (!stopping) {
			while (!timers.empty() && timers.begin()->first <= clock::now())
				expire(*timers.begin()->second);
			if (node *n = take()) {
				std::coroutine_handle<> h = n->h;
				here().priority = n->priority;
				l.unlock();
				h.resume();
				l.lock();
			} else if (timers.empty())
				change.wait(l);
			else
				change.wait_until(l, clock::time_point(timers.begin()->first));
		}
	}
	void stop()
	{
		locked l(world);
		stopping = true;
		change.notify_all();
	}

private:
	static void expire(node &n);
};

inline void node::leave()
{
	if (in)
		in->erase(at), in = nullptr;
	if (timed)
		home->timers.erase(alarm), timed = false;
}
template <class P> void node::park(std::coroutine_handle<P> me, queue *q, milliseconds limit)
{
	park(me, q);
	alarm = home->timers.emplace(clock::now() + limit, this), timed = true;
	if (alarm == home->timers.begin())
		home->change.notify_one();
}

/* It can run from now on. */
inline void make_ready(node &n, int result = woken)
{
	n.leave();
	n.result = result;
	tell(n.w);
	n.home->put(n);
	n.home->change.notify_one();
}

/* --- tasks ---------------------------------------------------------------------------------------------------------------- */

struct job_state {
	queue waiting;
	bool done = false;
	ctp::waker of;
	std::coroutine_handle<> frame;
};
void finish(job_state &s);

struct promise : ctp::promise {
	std::coroutine_handle<> after;
	std::exception_ptr error;
	std::shared_ptr<job_state> job; /* of a task that was spawned */
	node start;

	std::suspend_always initial_suspend() noexcept { return {}; }
	void unhandled_exception()
	{
		if (job)
			std::terminate(); /* as a thread's would */
		error = std::current_exception();
	}
	struct final_awaiter {
		bool await_ready() noexcept { return false; }
		template <class P> std::coroutine_handle<> await_suspend(std::coroutine_handle<P> h) noexcept
		{
			promise &p = h.promise();
			if (!p.job)
				return p.after ? p.after : std::noop_coroutine();
			auto ended = p.job;
			h.destroy();
			finish(*ended);
			return std::noop_coroutine();
		}
		void await_resume() noexcept {}
	};
	final_awaiter final_suspend() noexcept { return {}; }

	/* An awaiter that cannot ask who awaits it, because it may be ready, is told here. */
	template <class T> T &&await_transform(T &&x)
	{
		if constexpr (requires { x.awaited_by(ctp::waker(*this)); })
			x.awaited_by(ctp::waker(*this));
		return static_cast<T &&>(x);
	}
};

template <class T> struct value_promise : promise {
	using value_type = T;
	std::optional<T> value;
	template <class U> void return_value(U &&x) { value.emplace(std::forward<U>(x)); }
	T result() { return std::move(*value); }
};
template <> struct value_promise<void> : promise {
	using value_type = void;
	void return_void() {}
	void result() {}
};

/* Starts when it is awaited or spawned, and is destroyed with the object. */
template <class T> class [[nodiscard]] task {
public:
	struct promise_type : value_promise<T> {
		task get_return_object() { return task(std::coroutine_handle<promise_type>::from_promise(*this)); }
	};
	using handle = std::coroutine_handle<promise_type>;

	struct awaiter {
		handle h;
		bool await_ready() const noexcept { return !h || h.done(); }
		std::coroutine_handle<> await_suspend(std::coroutine_handle<> me) noexcept
		{
			h.promise().after = me;
			return h;
		}
		T await_resume()
		{
			if (h.promise().error)
				std::rethrow_exception(h.promise().error);
			return h.promise().result();
		}
	};
	awaiter operator co_await() const noexcept { return {h}; }

	task(task &&other) noexcept : h(std::exchange(other.h, nullptr)) {}
	task &operator=(task &&other) noexcept
	{
		std::swap(h, other.h);
		return *this;
	}
	~task()
	{
		if (h)
			h.destroy();
	}
	handle release() { return std::exchange(h, nullptr); }

private:
	explicit task(handle of) : h(of) {}
	handle h;
};

/* A task that runs by itself. */
class job {
public:
	std::shared_ptr<job_state> s;

	struct awaiter {
		job_state &s;
		node n{};
		explicit awaiter(job_state &of) : s(of) {}
		bool await_ready()
		{
			locked l(world);
			return s.done;
		}
		ctp::waker ctp_target() { return s.of; }
		template <class P> bool await_suspend(std::coroutine_handle<P> me)
		{
			locked l(world);
			if (!s.done)
				n.park(me, &s.waiting);
			return !s.done;
		}
		void await_resume() {}
	};
	awaiter end() const { return awaiter(*s); }

	bool done() const
	{
		locked l(world);
		return s->done;
	}
	/* Destroys it. It is suspended: its executor has one thread, on which the caller runs. */
	void cancel()
	{
		if (done())
			return;
		auto of = s; /* the promise has the other reference */
		of->frame.destroy();
		finish(*of);
	}
};

/* All that run by themselves, so that they are found at the end. */
inline auto &jobs = *new std::list<std::shared_ptr<job_state>>;

inline void finish(job_state &s)
{
	locked l(world);
	s.done = true;
	while (!s.waiting.empty())
		make_ready(*s.waiting.front());
	jobs.remove_if([&](auto &j) { return j.get() == &s; });
}

inline job spawn(executor &on, task<> t, const char *name = nullptr, int priority = 0)
{
	auto h = t.release();
	auto &p = h.promise();
	auto s = std::make_shared<job_state>();
	if (name)
		ctp::name(h, name);
	s->of = ctp::waker(h), s->frame = h, p.job = s;
	locked l(world);
	jobs.push_back(s);
	p.start.h = h, p.start.w = s->of, p.start.home = &on, p.start.priority = priority;
	make_ready(p.start);
	return job{s};
}
inline job spawn(task<> t, const char *name = nullptr, int priority = 0)
{
	return spawn(*here().on, std::move(t), name, priority);
}
inline job spawn(task<> t, const std::string &name) { return spawn(std::move(t), name.c_str()); }

/* Destroys what is still there. Nothing runs any more. */
inline void tear_down()
{
	while (!jobs.empty())
		job{jobs.front()}.cancel();
}

inline task<> when_all(std::vector<task<>> tasks, const char *name = nullptr)
{
	std::vector<job> all;
	for (auto &t : tasks)
		all.push_back(spawn(std::move(t), name));
	for (auto &j : all)
		co_await j.end();
}

/* Runs main to its end, and whatever it has spawned until then, on this number of threads. */
inline task<> stop_after(task<> main, executor &e)
{
	co_await main;
	e.stop();
}
inline void run(int threads, task<> main, executor &e = *new executor)
{
	static auto &all = *new std::vector<executor *>;
	all.push_back(&e);
	spawn(e, stop_after(std::move(main), e), "main");
	std::vector<std::thread> more;
	for (int i = 1; i < threads; i++)
		more.emplace_back([&e] { e.run(); });
	e.run();
	for (auto &t : more)
		t.join();
}

/* --- awaitables ----------------------------------------------------------------------------------------------------------- */

struct delay {
	milliseconds time;
	node n{};
	explicit delay(milliseconds t) : time(t) {}
	reasons ctp_waits() const { return waits(nullptr, ctp::other, time); }
	bool await_ready() { return false; }
	template <class P> void await_suspend(std::coroutine_handle<P> me)
	{
		locked l(world);
		n.park(me, nullptr, time);
	}
	void await_resume() {}
};

struct yield {
	node n{};
	yield() = default;
	bool await_ready() { return false; }
	template <class P> void await_suspend(std::coroutine_handle<P> me)
	{
		locked l(world);
		n.park(me, nullptr);
		make_ready(n);
	}
	void await_resume() {}
};

/* Goes on, on that executor. */
struct on {
	executor &to;
	node n{};
	explicit on(executor &e) : to(e) {}
	bool await_ready() { return false; }
	template <class P> void await_suspend(std::coroutine_handle<P> me)
	{
		locked l(world);
		n.park(me, nullptr);
		n.home = &to;
		make_ready(n);
	}
	void await_resume() {}
};

/* --- parts of stories ----------------------------------------------------------------------------------------------------- */

/* Something that happens from time to time beside the story. */
inline task<> ticking(milliseconds period, double seconds = 2.3)
{
	while (going(seconds))
		co_await delay(period);
}

inline void compute(std::chrono::microseconds time)
{
	for (auto until = clock::now() + time; clock::now() < until;)
		;
}

/* --- the program ---------------------------------------------------------------------------------------------------------- */

/* A scenario with rules, "" for none, is a defect; one without (null) is healthy. What it runs asks cx::asked.faulty. */
struct scenario {
	const char *name;
	const char *rules;
	void (*run)();
};
inline constexpr const char *healthy = nullptr, *defect = "";

template <std::size_t N> int main(int argc, char **argv, const scenario (&all)[N])
{
	auto set = [](const char *name) { return std::getenv(name) && *std::getenv(name) && std::strcmp(std::getenv(name), "0"); };
	const char *end = std::getenv("CORPUS_END");
	asked.no_wake = set("CORPUS_NO_WAKE");
	asked.one_place = set("CORPUS_ONE_PLACE");
	asked.stay = end && !std::strcmp(end, "stay");
	if (argc == 2 && !std::strcmp(argv[1], "list")) {
		for (auto &s : all)
			std::printf("%s %s%s%s\n", s.name, s.rules ? "defect" : "healthy", s.rules && *s.rules ? " " : "",
			            s.rules ? s.rules : "");
		return 0;
	}
	bool twin = argc == 3 && !std::strcmp(argv[2], "twin");
	for (auto &s : all)
		if ((argc == 2 || twin) && !std::strcmp(argv[1], s.name)) {
			asked.faulty = s.rules && !twin;
			if (asked.faulty && !asked.stay)
				end_in(20s, 3);
			s.run();
			while (asked.stay || asked.faulty)
				pause();
			return 0;
		}
	std::fprintf(stderr, "usage: %s list | NAME [twin]\n", argv[0]);
	return 2;
}

} // namespace cx

#include "cxx-sync.hpp"

#endif
