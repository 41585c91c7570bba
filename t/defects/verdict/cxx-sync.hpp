/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * cxx-sync.hpp - the rest of cxx.hpp, which includes it: what coroutines wait for. An event, a semaphore, a barrier, a mutex and its
 * condition, a channel, a value that comes once; and a generator.
 */
#ifndef CORPUS_CXX_SYNC_HPP
#define CORPUS_CXX_SYNC_HPP

#include "cxx.hpp"

namespace cx {

/* What waits in a queue unless there is no need to. Of is asked with the world locked: try_wait(). */
template <class Of> struct waiting_for {
	Of &of;
	std::optional<milliseconds> limit;
	node n{};
	explicit waiting_for(Of &x, std::optional<milliseconds> t = {}) : of(x), limit(t) {}
	reasons ctp_waits() const
	{
		if constexpr (requires { of.reason(); })
			return asked.no_wake ? reasons{} : reasons{of.reason()};
		else {
			locked l(world);
			of.tell_state();
			return waits(&of, Of::kind, limit);
		}
	}
	bool await_ready()
	{
		locked l(world);
		return of.try_wait();
	}
	template <class P> bool await_suspend(std::coroutine_handle<P> me)
	{
		locked l(world);
		if (of.try_wait())
			return false;
		if (limit)
			n.park(me, &of.waiting, *limit);
		else
			n.park(me, &of.waiting);
		return true;
	}
	bool await_resume() { return n.result == woken; } /* false: it took too long */
};

class event {
public:
	static constexpr ctp::what kind = ctp::event;
	bool is_set = false;
	queue waiting;
	void tell_state() const { has(this, kind, is_set); }
	bool try_wait() { return is_set; }
	waiting_for<event> wait() { return waiting_for<event>(*this); }
	waiting_for<event> wait_for(milliseconds t) { return waiting_for<event>(*this, t); }
	void set()
	{
		locked l(world);
		is_set = true;
		tell_state();
		while (!waiting.empty())
			make_ready(*waiting.front());
	}
	/* Those that wait go on; later ones wait. */
	void pulse()
	{
		locked l(world);
		while (!waiting.empty())
			make_ready(*waiting.front());
	}
	void reset()
	{
		locked l(world);
		is_set = false;
		tell_state();
	}
};

class semaphore {
public:
	static constexpr ctp::what kind = ctp::permits;
	int permits;
	queue waiting;
	explicit semaphore(int n) : permits(n) {}
	void tell_state() const { has(this, kind, permits > 0 ? static_cast<std::size_t>(permits) : 0); }
	bool try_wait()
	{
		if (permits <= 0)
			return false;
		if (!--permits)
			tell_state();
		return true;
	}
	waiting_for<semaphore> acquire() { return waiting_for<semaphore>(*this); }
	waiting_for<semaphore> acquire_for(milliseconds t) { return waiting_for<semaphore>(*this, t); }
	void release(int n = 1)
	{
		locked l(world);
		for (; n; n--)
			if (!waiting.empty())
				make_ready(*waiting.front());
			else if (permits++ == 0)
				tell_state();
	}
};

class barrier {
	int parties, missing;

public:
	queue waiting;
	explicit barrier(int n) : parties(n), missing(n) {}
	struct awaiter {
		barrier &b;
		node n{};
		explicit awaiter(barrier &of) : b(of) {}
		reasons ctp_waits() const { return waits(&b, ctp::barrier); }
		bool await_ready() { return false; }
		template <class P> bool await_suspend(std::coroutine_handle<P> me)
		{
			locked l(world);
			if (--b.missing) {
				n.park(me, &b.waiting);
				return true;
			}
			b.missing = b.parties;
			while (!b.waiting.empty())
				make_ready(*b.waiting.front());
			return false;
		}
		void await_resume() {}
	};
	awaiter arrive() { return awaiter(*this); }
};

/* First come, first served: unlock() hands it on. */
class mutex {
	bool held = false;
	ctp::waker holder;
	ctp::holds hold;
	friend class condition;
	friend class executor;

public:
	queue waiting;
	struct guard {
		mutex *m;
		explicit guard(mutex *of) : m(of) {}
		guard(guard &&other) noexcept : m(std::exchange(other.m, nullptr)) {}
		~guard()
		{
			if (m)
				m->unlock();
		}
	};
	struct awaiter {
		mutex &m;
		ctp::waker me{};
		node n{};
		explicit awaiter(mutex &of) : m(of) {}
		void awaited_by(ctp::waker w) { me = w; }
		reasons ctp_waits() const { return waits(&m, ctp::lock); }
		bool await_ready()
		{
			locked l(world);
			return m.try_lock(me);
		}
		ctp::waker ctp_target()
		{
			locked l(world);
			return m.holder;
		}
		template <class P> bool await_suspend(std::coroutine_handle<P> h)
		{
			locked l(world);
			if (m.try_lock(me))
				return false;
			n.park(h, &m.waiting);
			return true;
		}
		void await_resume() {}
	};
	struct scoped_awaiter : awaiter {
		using awaiter::awaiter;
		guard await_resume() { return guard(&m); }
	};
	awaiter lock() { return awaiter(*this); }
	scoped_awaiter scoped() { return scoped_awaiter(*this); }
	void unlock()
	{
		locked l(world);
		hand_on();
	}

private:
	bool try_lock(ctp::waker who)
	{
		if (held)
			return false;
		held = true, holder = who;
		if (!asked.no_wake)
			hold = ctp::holds(who, this);
		has(this, ctp::lock, 0);
		return true;
	}
	void hand_on()
	{
		held = !waiting.empty();
		holder = held ? waiting.front()->w : ctp::waker();
		if (asked.no_wake || !held)
			hold.release();
		else
			hold = hold.hand(holder);
		if (!held)
			has(this, ctp::lock, 1);
		if (held)
			make_ready(*waiting.front(), waiting.front()->result);
	}
	/* For one that has waited for something else: it goes on as soon as it has the lock. */
	void take_or_wait(node &n, int result)
	{
		n.leave();
		n.result = result;
		if (try_lock(n.w))
			make_ready(n, result);
		else
			n.enter(waiting);
	}
};

inline void executor::expire(node &n)
{
	if (n.relock)
		n.relock->take_or_wait(n, late);
	else
		make_ready(n, late);
}

class condition {
public:
	queue waiting;
	struct awaiter {
		condition &c;
		mutex &m;
		std::optional<milliseconds> limit;
		node n{};
		awaiter(condition &of, mutex &with, std::optional<milliseconds> t) : c(of), m(with), limit(t) {}
		reasons ctp_waits() const { return waits(&c, ctp::event, limit); }
		bool await_ready() { return false; }
		template <class P> void await_suspend(std::coroutine_handle<P> me)
		{
			locked l(world);
			n.relock = &m;
			if (limit)
				n.park(me, &c.waiting, *limit);
			else
				n.park(me, &c.waiting);
			m.hand_on();
		}
		bool await_resume() { return n.result == woken; }
	};
	awaiter wait(mutex &m) { return awaiter(*this, m, {}); }
	awaiter wait_for(mutex &m, milliseconds t) { return awaiter(*this, m, t); }
	void notify_one()
	{
		locked l(world);
		if (!waiting.empty())
			waiting.front()->relock->take_or_wait(*waiting.front(), woken);
	}
	void notify_all()
	{
		locked l(world);
		while (!waiting.empty())
			waiting.front()->relock->take_or_wait(*waiting.front(), woken);
	}
};

/* Bounded; of capacity 0 it is a rendezvous. */
template <class T> class channel {
	struct sending : node {
		channel &c;
		T value;
		sending(channel &of, T x) : c(of), value(std::move(x)) {}
		reasons ctp_waits() const
		{
			c.tell_state();
			return waits(&c, ctp::room);
		}
		bool await_ready() { return false; }
		template <class P> bool await_suspend(std::coroutine_handle<P> me)
		{
			locked l(world);
			if (c.is_closed)
				this->result = closed;
			else if (!c.give(value)) {
				this->park(me, &c.senders);
				return true;
			}
			return false;
		}
		bool await_resume() { return this->result == woken; } /* false: closed */
	};
	struct receiving : node {
		channel &c;
		std::optional<milliseconds> limit;
		std::optional<T> value;
		receiving(channel &of, std::optional<milliseconds> t) : c(of), limit(t) {}
		reasons ctp_waits() const
		{
			c.tell_state();
			return waits(&c, ctp::item, limit);
		}
		bool await_ready()
		{
			locked l(world);
			return c.is_closed && !c.holds() ? true : (value = c.get()).has_value();
		}
		template <class P> bool await_suspend(std::coroutine_handle<P> me)
		{
			locked l(world);
			value = c.get();
			if (value || c.is_closed)
				return false;
			if (limit)
				this->park(me, &c.receivers, *limit);
			else
				this->park(me, &c.receivers);
			return true;
		}
		std::optional<T> await_resume() { return std::move(value); } /* nothing: closed, or it took too long */
	};

	std::size_t capacity;
	std::deque<T> items;
	queue senders, receivers;
	bool is_closed = false;

	void tell_counts() const
	{
		has(this, ctp::item, items.size());
		has(this, ctp::room, capacity - items.size());
	}
	void tell_state() const
	{
		locked l(world);
		tell_counts();
	}
	bool holds() { return !items.empty() || !senders.empty(); }
	bool give(T &x)
	{
		if (!receivers.empty()) {
			auto *r = static_cast<receiving *>(receivers.front());
			r->value = std::move(x);
			make_ready(*r);
		} else if (items.size() < capacity) {
			items.push_back(std::move(x));
			tell_counts();
		} else
			return false;
		return true;
	}
	std::optional<T> get()
	{
		std::optional<T> x;
		if (!items.empty()) {
			x = std::move(items.front());
			items.pop_front();
			if (!senders.empty()) {
				auto *s = static_cast<sending *>(senders.front());
				items.push_back(std::move(s->value));
				make_ready(*s);
			}
			tell_counts();
		} else if (!senders.empty()) {
			auto *s = static_cast<sending *>(senders.front());
			x = std::move(s->value);
			make_ready(*s);
		}
		return x;
	}

public:
	explicit channel(std::size_t n) : capacity(n) {}
	sending send(T x) { return sending(*this, std::move(x)); }
	receiving receive() { return receiving(*this, {}); }
	receiving receive_for(milliseconds t) { return receiving(*this, t); }
	bool try_send(T x)
	{
		locked l(world);
		return !is_closed && give(x);
	}
	std::size_t size()
	{
		locked l(world);
		return items.size();
	}
	void close()
	{
		locked l(world);
		is_closed = true;
		if (!asked.no_wake)
			ctp_object_close(this);
		while (!receivers.empty())
			make_ready(*receivers.front(), closed);
		while (!senders.empty())
			make_ready(*senders.front(), closed);
	}
};

/* One value, for one that waits for it. */
template <class T> class oneshot {
public:
	static constexpr ctp::what kind = ctp::item;
	std::optional<T> value;
	queue waiting;
	void tell_state() const { has(this, kind, value.has_value()); }
	struct awaiter : waiting_for<oneshot> {
		using waiting_for<oneshot>::waiting_for;
		std::optional<T> await_resume() { return std::move(this->of.value); }
	};
	bool try_wait() { return value.has_value(); }
	awaiter get() { return awaiter(*this); }
	awaiter get_for(milliseconds t) { return awaiter(*this, t); }
	void set(T x)
	{
		locked l(world);
		value = std::move(x);
		tell_state();
		if (!waiting.empty())
			make_ready(*waiting.front());
	}
};

/* --- a generator ---------------------------------------------------------------------------------------------------------- */

template <class T> class generator {
public:
	struct promise_type : ctp::promise {
		using value_type = void;
		std::optional<T> value;
		generator get_return_object() { return generator(std::coroutine_handle<promise_type>::from_promise(*this)); }
		std::suspend_always initial_suspend() noexcept { return {}; }
		std::suspend_always final_suspend() noexcept { return {}; }
		std::suspend_always yield_value(T x)
		{
			value = std::move(x);
			return {};
		}
		void return_void() {}
		void unhandled_exception() { std::terminate(); }
	};
	generator(generator &&other) noexcept : h(std::exchange(other.h, nullptr)) {}
	~generator()
	{
		if (h)
			h.destroy();
	}
	std::optional<T> next()
	{
		if (h.done())
			return {};
		h.promise().value.reset();
		h.resume();
		return std::move(h.promise().value);
	}

private:
	explicit generator(std::coroutine_handle<promise_type> of) : h(of) {}
	std::coroutine_handle<promise_type> h;
};

} // namespace cx

#endif
