/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ctp-asio.hpp - traces the C++20 coroutines of Asio (asio::awaitable) in a program whose source does not change:
 *
 *	c++ -std=c++20 -include ctp-asio.hpp server.cpp
 *
 * Each coroutine that returns an asio::awaitable is traced from its call to its end, and each co_await in it that gives up the
 * thread, with file, line and function. Asio's own coroutines are left out: the one that co_spawn puts below each coroutine of the
 * program, the one for each operation with use_awaitable, and those of the operators && and ||.
 *
 * How it works: std::coroutine_traits is specialised more narrowly than by Asio. The promise that it names is Asio's own,
 * awaitable_frame, followed by a probe; Asio uses the part that it knows. Wakes come from Asio's hooks for handler tracking
 * (ASIO_CUSTOM_HANDLER_TRACKING), and from the handler by which an operation resumes a coroutine, for which async_result is
 * specialised. A program that uses the hooks itself, or defines CTP_ASIO_NO_WAKE, has everything but wakes. What an operation waits
 * for, such as a timer's deadline or a socket, comes from the function object by which Asio initiates it. All files of a program
 * that include Asio must use this header, or none, as for handler tracking.
 */
#ifndef CTP_ASIO_HPP
#define CTP_ASIO_HPP

#define CTP_ASIO_VERSION "0.1.0"
#define CTP_ASIO_VERSION_NUMBER 100 /* 10000 * major + 100 * minor + patch */

#if !defined __cpp_impl_coroutine || !defined __cpp_concepts
#error "ctp-asio.hpp is for C++20: compile with -std=c++20, this file as all others of the program that include Asio"
#endif

#ifdef ASIO_VERSION
#error "include ctp-asio.hpp before Asio, or with -include"
#endif
#include <coroutine>

#if defined __clang__ && !defined ASIO_HAS_CO_AWAIT && !defined ASIO_DISABLE_CO_AWAIT
#define ASIO_HAS_CO_AWAIT 1 /* Asio 1.22 looks for clang's coroutines only in <experimental/coroutine> */
#endif

#if !defined CTP_ASIO_NO_WAKE && !defined ASIO_ENABLE_HANDLER_TRACKING && !defined ASIO_CUSTOM_HANDLER_TRACKING
#define CTP_ASIO_WAKE_ 1
#endif

#ifdef CTP_ASIO_WAKE_
#if __has_include(<ctp-asio.hpp>)
#define ASIO_CUSTOM_HANDLER_TRACKING <ctp-asio.hpp> /* Asio includes the rest of this file where it begins */
#else
#define ASIO_CUSTOM_HANDLER_TRACKING <cstddef>
#define CTP_ASIO_NOW_ 1
#endif
#define ASIO_ENABLE_HANDLER_TRACKING 1 /* as Asio does, but before all of its classes: with it, asio/awaitable.hpp of 1.38 includes us */
#define ASIO_INHERIT_TRACKED_HANDLER : public ::ctp::asio_::ctp_waited_for
#define ASIO_ALSO_INHERIT_TRACKED_HANDLER , public ::ctp::asio_::ctp_waited_for
#define ASIO_HANDLER_TRACKING_INIT (void)0
#define ASIO_HANDLER_LOCATION(args) (void)0
#define ASIO_HANDLER_CREATION(args) ::ctp::asio_::created args
#define ASIO_HANDLER_COMPLETION(args) ::ctp::asio_::completion ctp_completion args
#define ASIO_HANDLER_INVOCATION_BEGIN(args) ctp_completion.begin args
#define ASIO_HANDLER_INVOCATION_END (void)0
#define ASIO_HANDLER_OPERATION(args) ::ctp::asio_::operated args
#define ASIO_HANDLER_REACTOR_REGISTRATION(args) (void)0
#define ASIO_HANDLER_REACTOR_DEREGISTRATION(args) (void)0
#define ASIO_HANDLER_REACTOR_READ_EVENT 0
#define ASIO_HANDLER_REACTOR_WRITE_EVENT 0
#define ASIO_HANDLER_REACTOR_ERROR_EVENT 0
#define ASIO_HANDLER_REACTOR_EVENTS(args) (void)0
#define ASIO_HANDLER_REACTOR_OPERATION(args) ::ctp::asio_::performed args

#else
#define CTP_ASIO_NOW_ 1
#endif

/*
 * The promise of an awaitable's coroutine, which the rest defines. If some version of Asio does not include the rest, such a coroutine
 * does not compile. Otherwise it would have Asio's own promise, and the other files would read past its end. The namespace has the
 * number of ctp.h, which is not included here.
 */
namespace asio {
template <typename, typename> class awaitable;
} // namespace asio
namespace ctp::inline abi2::asio_ {
template <typename T, typename Executor, typename... Args> struct rest_of_ctp_asio_hpp;
} // namespace ctp::inline abi2::asio_
template <typename T, typename Executor, typename... Args>
	requires true
struct std::coroutine_traits<asio::awaitable<T, Executor>, Args...>
	: ctp::asio_::rest_of_ctp_asio_hpp<T, Executor, Args...> {};
#endif

/*
 * The rest takes as long to compile as the half of Asio that it needs, and ctp.hpp as long as <coroutine>. So Asio includes it, and
 * only in files that include Asio, where the compiler finds this file by its name; elsewhere it comes at once.
 */
#if (defined CTP_ASIO_NOW_ || defined ASIO_DETAIL_HANDLER_TRACKING_HPP) && !defined CTP_ASIO_REST_
#define CTP_ASIO_REST_

#if CTP_ASIO_VERSION_NUMBER != 100
#error "two versions of ctp-asio.hpp: one was included, and the compiler finds another one by its name"
#endif

#include "ctp.hpp"
#if CTP_HPP_VERSION_NUMBER != CTP_ASIO_VERSION_NUMBER
#error "ctp-asio.hpp and ctp.hpp are of different versions: copy both from the same"
#endif
#if CTP_ABI_ != 2
#error "rest_of_ctp_asio_hpp is declared above with another number than this"
#endif

#include <atomic>
#include <cerrno>
#include <concepts>
#include <cstring>
#include <poll.h>
#include <string_view>
#include <utility>

#ifdef CTP_ASIO_WAKE_

namespace asio {
class execution_context;
namespace detail {
template <typename> class redirect_error_handler;
template <typename, typename> class wait_handler;
} // namespace detail
template <typename, typename> class executor_binder;
template <typename, typename> class cancellation_slot_binder;
namespace experimental::detail {
template <typename> class as_tuple_handler;
template <typename> class as_single_handler;
} // namespace experimental::detail
} // namespace asio

namespace ctp::inline CTP_ABI_SPACE_::asio_ {

/*
 * Whether an operation resumes a coroutine when it is complete: its handler is that of a coroutine, perhaps in a wrapper that only
 * passes its arguments on. This is false for the steps of a composed operation (async_read, async_write ...), because another step
 * may follow, which wakes no coroutine. There the handler itself records the wake when it is called.
 */
template <typename, typename...> class handler;
template <typename> constexpr bool resumes = false;
template <typename E, typename... T> constexpr bool resumes<handler<E, T...>> = true;
template <typename H> constexpr bool resumes<asio::detail::redirect_error_handler<H>> = resumes<H>;
template <typename H, typename E> constexpr bool resumes<asio::executor_binder<H, E>> = resumes<H>;
template <typename H, typename S> constexpr bool resumes<asio::cancellation_slot_binder<H, S>> = resumes<H>;
template <typename H> constexpr bool resumes<asio::experimental::detail::as_tuple_handler<H>> = resumes<H>;
template <typename H> constexpr bool resumes<asio::experimental::detail::as_single_handler<H>> = resumes<H>;

/*
 * The word of the operation that this thread is initiating: see known_frame. Functions that use it are not inlined: a coroutine may
 * have changed threads, and the compiler may have kept the address.
 */
CTP_LOCAL_ inline constinit thread_local std::uint64_t *initiated = nullptr;
CTP_LOCAL_ [[gnu::noinline]] inline std::uint64_t *initiated_swap(std::uint64_t *waits) noexcept
{
	return std::exchange(initiated, waits);
}

template <typename> constexpr bool is_last_step = false;
template <template <typename...> class Operation, typename... T>
constexpr bool is_last_step<Operation<T...>> = (resumes<T> || ...);
template <typename> constexpr bool waits_for_timer = false;
template <typename H, typename E> constexpr bool waits_for_timer<asio::detail::wait_handler<H, E>> = true;

CTP_LOCAL_ inline void wake(std::uint64_t *waits)
{
	if (waits && *waits)
		ctp_ref_wake(std::exchange(*waits, 0));
}

/*
 * Timers that coroutines wait for. Many programs use a timer that never expires as a condition variable: the coroutine that cancels
 * it is the waker. That is known only at that moment, when the operation cannot be reached. So this table has what is needed then,
 * one timer in each line. If one coroutine waits, the wake is recorded at once. If several wait, or did since the line was taken,
 * it is not known then which one is woken: each wake is recorded when a thread takes up the operation, with the coroutine that
 * cancelled as waker. If the line belongs to another timer, or two coroutines have cancelled meanwhile, the waker is unknown. A
 * cancellation outside of a coroutine is also recorded later: it may be a destructor at the end of the program, and then no
 * operation is taken up.
 *
 * Asio allows only one call at a time for a timer, but its operations end on any thread.
 */
struct timer {
	std::atomic<std::uint64_t> word;  /* the timer, shifted, then several, then how many wait; 0: the line is free */
	std::atomic<std::uint64_t> waits; /* the coroutine that took the line; 0: its wake was recorded */
	std::atomic<std::uint64_t> by;    /* the coroutine that cancelled it while several waited; 0: none, or more than one */
	std::atomic<std::uint32_t> due;   /* operations that were cancelled by it and have not ended yet */

	static constexpr std::uint64_t several = 1 << 15, users = several - 1;
	static std::uint64_t key(const void *which) noexcept { return reinterpret_cast<std::uintptr_t>(which) << 16; }

	static timer &of(const void *which) noexcept;

	/* A coroutine waits for the timer. Returns its line, and whether it was free; null: it belongs to another timer. */
	static timer *wait(const void *which, std::uint64_t ref, bool &first) noexcept
	{
		timer &t = of(which);
		std::uint64_t now = 0;
		first = t.word.compare_exchange_strong(now, key(which) | 1, std::memory_order_acquire, std::memory_order_relaxed);
		if (first) {
			t.by.store(0, std::memory_order_relaxed);
			t.due.store(0, std::memory_order_relaxed);
			t.waits.store(ref, std::memory_order_release); /* pairs with the load in cancel */
			return &t;
		}
		while ((now & ~(users | several)) == key(which) && (now & users) < users) /* it may become free meanwhile */
			if (t.word.compare_exchange_weak(now, (now | several) + 1, std::memory_order_relaxed))
				return &t;
		return nullptr;
	}
	/* The timer is cancelled before it expired, for one waiting coroutine or for all. */
	CTP_LOCAL_ [[gnu::noinline]] static void cancel(const void *which, bool one) noexcept
	{
		std::uint64_t self = ctp_self_.leaving ? ctp_self_.leaving : ctp_self_.current;
		timer &t = of(which);
		std::uint64_t now = t.word.load(std::memory_order_relaxed);
		std::uint64_t ref = t.waits.load(std::memory_order_acquire); /* pairs with the store in wait */
		if ((now & ~(users | several)) != key(which))
			return;
		if (now & several) {
			/* At most as many end as wait: operations that were cancelled before and have not ended are among them. */
			const std::uint32_t all = now & users;
			std::uint32_t was = t.due.load(std::memory_order_relaxed);
			while (!t.due.compare_exchange_weak(was, one && was < all ? was + 1 : all, std::memory_order_relaxed))
				;
			if (was == 0)
				t.by.store(self, std::memory_order_relaxed);
			else if (t.by.load(std::memory_order_relaxed) != self)
				t.by.store(0, std::memory_order_relaxed);
		} else if (self && ref && t.waits.compare_exchange_strong(ref, 0, std::memory_order_relaxed)) {
			ctp_ref_wake(ref);
		}
	}
	/* An operation was cancelled, and its wake is not recorded yet: returns the waker, or 0. */
	std::uint64_t cancelled() noexcept
	{
		std::uint64_t who = by.load(std::memory_order_relaxed);
		std::uint32_t n = due.load(std::memory_order_relaxed);
		while (n && !due.compare_exchange_weak(n, n - 1, std::memory_order_relaxed))
			;
		return n ? who : 0;
	}
	/* An operation is complete or discarded. first: it took the line; returns whether its wake was recorded. */
	bool leave(bool first) noexcept
	{
		bool recorded = first && !waits.exchange(0, std::memory_order_relaxed);
		std::uint64_t now = word.load(std::memory_order_relaxed);
		/* Release: pairs with the exchange in wait, which writes the other fields after us. */
		while (!word.compare_exchange_weak(now, (now & users) > 1 ? now - 1 : 0, std::memory_order_release,
		                                   std::memory_order_relaxed))
			;
		return recorded;
	}
};
CTP_LOCAL_ inline constinit timer timers[256] = {};
inline timer &timer::of(const void *which) noexcept
{
	return timers[reinterpret_cast<std::uintptr_t>(which) * 0x9e3779b97f4a7c15u >> 56];
}

/* A base of each of Asio's operations, so its names must differ from theirs. */
struct ctp_waited_for {
	std::uint64_t *ctp_waiter = nullptr; /* that word, which exists as long as the handler */
	timer *ctp_timer = nullptr; /* the line of the timer that it waits for */
	bool ctp_first = false;     /* it took that line */
};

template <typename Operation, typename Object, typename... Rest>
inline void created(asio::execution_context &, Operation &op, const char *, const Object &object, Rest &&...)
{
	if constexpr (is_last_step<Operation>) {
		op.ctp_waiter = initiated_swap(nullptr);
		if constexpr (waits_for_timer<Operation>)
			if (op.ctp_waiter)
				op.ctp_timer = timer::wait(object, *op.ctp_waiter, op.ctp_first);
	}
}

/* An operation on an object, such as cancelling it. */
template <typename... Rest> inline void operated(asio::execution_context &, const char *, Rest &&...) {}
template <typename Timer, typename Handle, std::size_t Bytes>
	requires requires(Timer t) { t.timer_data; decltype(t.expiry)::clock::now(); }
inline void operated(asio::execution_context &, const char *, Timer *which, Handle &&, const char (&)[Bytes])
{
	if (ctp_traced() && which->expiry > decltype(which->expiry)::clock::now())
		timer::cancel(which, Bytes == sizeof "cancel_one");
}

/* The reactor has read or written. (Errors include those after which it tries again, so they are recorded on completion.) */
template <typename Error>
inline void performed(ctp_waited_for &op, const char *, const Error &error, std::size_t)
{
	if (!error)
		wake(op.ctp_waiter);
}
/* Connecting and accepting: here, no error does not mean success. */
template <typename Error> inline void performed(ctp_waited_for &, const char *, const Error &) {}

/* It was woken by other code, a moment ago. */
CTP_LOCAL_ [[gnu::noinline]] inline void wake_by(std::uint64_t *waits, std::uint64_t who) noexcept
{
	std::uint64_t runs = std::exchange(ctp_self_.current, who);
	wake(waits);
	ctp_self_.current = runs;
}

/* A thread has taken the operation from its queue. From here to the coroutine there may still be a strand. */
template <typename Operation> struct completion {
	std::uint64_t *waits = nullptr, by = 0;
	timer *line = nullptr;
	bool first = false;

	explicit completion(const Operation &op)
	{
		if constexpr (is_last_step<Operation>)
			waits = op.ctp_waiter;
		if constexpr (waits_for_timer<Operation>) {
			line = op.ctp_timer;
			first = op.ctp_first;
		}
	}
	completion(const completion &) = delete;
	~completion()
	{
		if (line) /* the handler is discarded */
			line->leave(first);
	}

	/* Not reached if the handler is discarded. Here the handler still exists, and so does the word. */
	template <typename... Args> void begin(const Args &...args)
	{
		if (timer *t = std::exchange(line, nullptr)) {
			if ((is_cancelled(args) || ...))
				by = t->cancelled();
			if (t->leave(first))
				*waits = 0;
		}
		if (by)
			wake_by(waits, by);
		else
			wake(waits);
	}
	template <typename Arg> static bool is_cancelled(const Arg &arg) noexcept
	{
		if constexpr (requires { arg.category(); }) /* an error_code, which asio has not declared yet */
			return arg.value() == ECANCELED;
		return false;
	}
};

} // namespace ctp::asio_

#endif

#ifdef CTP_ASIO_NOW_
#include <asio/awaitable.hpp>
#include <asio/use_awaitable.hpp>
#else
#include <asio/async_result.hpp>
#endif

#ifdef ASIO_HAS_CO_AWAIT

namespace asio {
template <typename, typename> class awaitable;
template <typename> struct use_awaitable_t;
} // namespace asio

namespace asio::detail {
template <typename, typename> class awaitable_frame;
template <typename> class awaitable_thread;
template <typename, typename...> class awaitable_handler;
struct awaitable_thread_entry_point;
template <typename, typename> class awaitable_as_function;
class initiate_post;
class initiate_defer;
class initiate_dispatch;
template <typename> class initiate_post_with_executor;
template <typename> class initiate_defer_with_executor;
template <typename> class initiate_dispatch_with_executor;
} // namespace asio::detail

namespace ctp::inline CTP_ABI_SPACE_::asio_ {

/*
 * The object of Asio that an operation waits for, such as a timer, and a function that gets the reason from the object. It is
 * called when a coroutine is about to wait, because a timer's deadline may change until then.
 *
 * Both come from the initiation, a function object that Asio passes to async_result. Its only member is a pointer or a reference to
 * the object. Most initiations are of private classes, so specialisations cannot name them; is_named_ can, and asker finds the type
 * of the object.
 */
struct waited {
	void *object = nullptr;
	ctp::reason (*ask)(void *object) noexcept = nullptr;

	ctp::reason reason() const noexcept { return ask ? ask(object) : ctp::reason(); }
};

/* The operands of `a || b || c`: the first that is complete ends the wait. Empty if one of them is unknown. */
struct any_of {
	static constexpr std::size_t most = CTP_SHM_REASONS;
	waited of[most];
	std::size_t n = 0;

	void set(const any_of &a, const any_of &b) noexcept
	{
		if (!a.n || !b.n || a.n + b.n > most)
			return;
		for (const any_of *operand : {&a, &b})
			for (std::size_t i = 0; i < operand->n; i++)
				of[n++] = operand->of[i];
	}
};

/* What each of them waits for; empty if one of them is unknown. */
struct reasons {
	ctp::reason of[any_of::most];
	std::size_t n = 0;

	const ctp::reason *begin() const noexcept { return of; }
	const ctp::reason *end() const noexcept { return of + n; }
	explicit reasons(const any_of &w) noexcept
	{
		for (std::size_t i = 0; i < w.n; i++)
			of[i] = w.of[i].reason();
		for (n = 0; n < w.n && of[n];)
			n++;
		if (n < w.n)
			n = 0;
	}
};

template <typename Object> ctp::reason timer_reason(Object &timer) noexcept
{
	auto expiry = timer.expiry();
	if (expiry == decltype(expiry)::max()) /* probably a condition variable: another coroutine has to cancel it */
		return ctp::waits_for(&timer, ctp::event, 1, ctp::cancellable);
	return ctp::waits_until(expiry, ctp::cancellable);
}

/* The handle of an SSL stream is a pointer. Files are left out, because poll(2) always finds them ready. */
template <typename Object>
concept descriptor = requires(Object o) { { o.native_handle() } -> std::same_as<int>; } &&
                     !is_named_<Object>("= asio::basic_stream_file<") && !is_named_<Object>("= asio::basic_random_access_file<");

template <typename Object> ctp::reason descriptor_reason(Object &o, short events) noexcept
{
	int fd = o.native_handle();
	return fd < 0 ? ctp::reason() : ctp::waits_fd(fd, static_cast<std::uint32_t>(events), ctp::cancellable);
}

/* Initiation is a class within Object. Events: what it waits for if Object is a descriptor. */
template <typename Initiation, short Events, typename Object> ctp::reason reason_of(Object &o) noexcept
{
	if constexpr (is_named_<Initiation>("= asio::experimental::basic_channel<") ||
	              is_named_<Initiation>("= asio::experimental::basic_concurrent_channel<"))
		return ctp::waits_for(&o, is_named_<Initiation>("::initiate_async_send]") ? ctp::room : ctp::item, 1, ctp::cancellable);
	else if constexpr (is_named_<Initiation>("= asio::basic_signal_set<"))
		return ctp::waits_for(&o, ctp::event, 1, ctp::cancellable | ctp::rests);
	else if constexpr (requires { o.expiry(); })
		return timer_reason(o);
	else if constexpr (descriptor<Object> && Events != 0)
		return descriptor_reason(o, Events);
	else
		return {};
}

/* Whether it is a class within another one, and of this name. */
template <typename Initiation> constexpr bool is_named_within(const char *operation) noexcept
{
	char text[64] = "::initiate_async_";
	std::size_t n = sizeof "::initiate_async_" - 1;
	while (*operation)
		text[n++] = *operation++;
	text[n] = ']';
	return is_named_<Initiation>(text);
}

/* What an operation of one step waits for on a descriptor; 0: an argument says it, or the object is not a descriptor. */
template <typename Initiation> constexpr short events_of() noexcept
{
	for (const char *name : {"receive", "receive_from", "receive_with_flags", "read_some", "accept", "move_accept"})
		if (is_named_within<Initiation>(name))
			return POLLIN;
	for (const char *name : {"send", "send_to", "write_some", "connect"})
		if (is_named_within<Initiation>(name))
			return POLLOUT;
	return 0;
}

/* Converts to the pointer that the constructor of an initiation takes: the conversion knows the type of the object. */
template <typename Initiation, short Events> struct asker {
	void *object;
	mutable ctp::reason found{};

	template <typename Object> operator Object *() const noexcept
	{
		found = reason_of<Initiation, Events>(*static_cast<Object *>(object));
		return static_cast<Object *>(object);
	}
	static ctp::reason ask(void *object) noexcept
	{
		asker a{object};
		static_cast<void>(Initiation(a));
		return a.found;
	}
};

/* An argument of async_wait says what it waits for. */
template <typename Initiation, typename Arg>
auto asked_for(const Arg &arg, ctp::reason (*otherwise)(void *) noexcept) noexcept
{
	if constexpr (is_named_<Arg>("::wait_type]"))
		return arg == Arg::wait_read ? asker<Initiation, POLLIN>::ask
		     : arg == Arg::wait_write ? asker<Initiation, POLLOUT>::ask : asker<Initiation, POLLPRI>::ask;
	else
		return otherwise;
}

template <typename Stream, short Events> ctp::reason stream_reason(void *stream) noexcept
{
	return descriptor_reason(*static_cast<Stream *>(stream), Events);
}

/* async_read, async_read_until and async_write, if their stream is a descriptor. */
template <typename> constexpr short stream_events = 0;
template <template <typename> class Initiation, descriptor Stream>
constexpr short stream_events<Initiation<Stream>> =
	is_named_<Initiation<Stream>>("= asio::detail::initiate_async_read_at_") ||
			is_named_<Initiation<Stream>>("= asio::detail::initiate_async_write_at_") ? 0
	: is_named_<Initiation<Stream>>("= asio::detail::initiate_async_read_") ? POLLIN
	: is_named_<Initiation<Stream>>("= asio::detail::initiate_async_write_") ? POLLOUT
	                                                                         : 0;
template <typename> struct stream_of;
template <template <typename> class Initiation, typename Stream> struct stream_of<Initiation<Stream>> {
	using type = Stream;
};

template <typename Initiation>
concept has_object = is_named_<Initiation>("= asio::") && is_named_<Initiation>("::initiate_async_") &&
                     std::is_constructible_v<Initiation, const asker<Initiation, 0> &>;

template <typename Initiation, typename... Args> waited waited_by(const Initiation &initiation, const Args &...args) noexcept
{
	waited w;
	if constexpr (requires { initiation.initiation_; }) { /* wrapped, as by redirect_error */
		w = waited_by(initiation.initiation_, args...);
	} else if constexpr (sizeof initiation == sizeof(void *) && std::is_trivially_copyable_v<Initiation>) {
		std::memcpy(&w.object, static_cast<const void *>(&initiation), sizeof w.object);
		if constexpr (stream_events<Initiation> != 0) {
			w.ask = stream_reason<typename stream_of<Initiation>::type, stream_events<Initiation>>;
		} else if constexpr (has_object<Initiation>) {
			w.ask = asker<Initiation, events_of<Initiation>()>::ask;
			((w.ask = asked_for<Initiation>(args, w.ask)), ...);
		}
	}
	return w;
}

/*
 * The frame of each asio::awaitable of the program: that of a coroutine or of an operation. It should be small, because Asio reuses
 * the memory of frames if they fit.
 */
template <typename T, typename Executor>
class known_frame : public asio::detail::awaitable_frame<T, Executor> {
public:
	/*
	 * The coroutine whose end ends this one, if it is known: itself, or one that it has spawned. For one that is left out of
	 * the trace: the coroutine that awaits it, and is woken in its place. The low bits are flags.
	 */
	std::uintptr_t ctp_known = 0;
	static constexpr std::uintptr_t operation = 1, yields = 2; /* yields: its awaiter is ready to run at once */
	static constexpr std::uintptr_t left_out = 4, flags = operation | yields | left_out;
	static_assert(alignof(ctp::promise) > flags);

	ctp::promise *ctp_other() const noexcept { return reinterpret_cast<ctp::promise *>(ctp_known & ~flags); }
	ctp::promise *ctp_ends() const noexcept { return ctp_known & left_out ? nullptr : ctp_other(); }

	/* The frame of an awaitable, or of a class whose only member is one. */
	template <typename Awaitable> static known_frame *of(const Awaitable &a) noexcept
	{
		static_assert(sizeof a == sizeof(void *) && std::is_standard_layout_v<Awaitable>);
		using frame = asio::detail::awaitable_frame<T, Executor>;
		return static_cast<known_frame *>(reinterpret_cast<frame *const &>(a));
	}
};

template <typename T, typename Executor>
class operation_frame : public known_frame<T, Executor> {
public:
	std::uint64_t ctp_waiter = 0; /* the coroutine that awaits it and has to be woken; 0: none, or it was recorded */
	waited ctp_waited;
};

template <typename, typename> class taking;

template <typename T, typename Executor>
class promise : public known_frame<T, Executor>, public ctp::promise {
	using frame = asio::detail::awaitable_frame<T, Executor>;
	template <typename, typename> friend class taking;

	template <typename U> static known_frame<U, Executor> *known(const asio::awaitable<U, Executor> &a) noexcept
	{
		return known_frame<U, Executor>::of(a);
	}
	template <typename U> static operation_frame<U, Executor> *operation_of(known_frame<U, Executor> *f) noexcept
	{
		return static_cast<operation_frame<U, Executor> *>(f);
	}
	template <typename U> static any_of waited_of(known_frame<U, Executor> *f) noexcept
	{
		any_of w;
		if (f->ctp_known & f->left_out)
			w = static_cast<taking<U, Executor> *>(f)->ctp_waited;
		else if (f->ctp_known & f->operation && operation_of(f)->ctp_waited.ask)
			w.of[w.n++] = operation_of(f)->ctp_waited;
		return w;
	}
	/* The coroutine in the trace for this one. */
	ctp::promise *in_trace() noexcept { return this->ctp_known & this->left_out ? this->ctp_other() : this; }

	/* A coroutine that waits for an operation is woken when that is complete. */
	template <typename U> static void waits(known_frame<U, Executor> *f, promise &by) noexcept
	{
		ctp::promise *who = by.in_trace();
		if (f->ctp_known & f->left_out)
			f->ctp_known = f->left_out | reinterpret_cast<std::uintptr_t>(who);
		else if (f->ctp_known & f->operation)
			operation_of(f)->ctp_waiter =
				who && !(f->ctp_known & f->yields) ? ctp_coro_ref(coro(*who)) : 0;
	}

	/* Asio's awaiters request a handle of the promise that they know. */
	template <typename Awaiter>
	struct adapted {
		Awaiter awaiter;
		static constexpr bool is_known = requires(Awaiter a) { known(a); };

		bool await_ready() { return awaiter.await_ready(); }
		template <std::derived_from<promise> P> void await_suspend(std::coroutine_handle<P> h)
		{
			/*
			 * Compilers compute a handle from the address of the promise and its alignment. The first base has the same
			 * address if nothing is virtual. Asio itself relies on both when it makes its handle.
			 */
			static_assert(alignof(P) == alignof(frame) && !std::is_polymorphic_v<P>);
			if constexpr (is_known)
				waits(known(awaiter), h.promise());
			awaiter.await_suspend(std::coroutine_handle<frame>::from_promise(h.promise()));
		}
		decltype(auto) await_resume() { return awaiter.await_resume(); }

		/* Only the end of a coroutine resumes the one that awaits it: a cancellation goes to the innermost one. */
		ctp::waker ctp_join() const noexcept { return ctp_target(); }
		ctp::waker ctp_target() const noexcept
		{
			if constexpr (is_known)
				if (ctp::promise *ends = known(awaiter)->ctp_ends())
					return ctp::waker(*ends);
			return {};
		}
		reasons ctp_waits() const noexcept
		{
			if constexpr (is_known)
				return reasons(waited_of(known(awaiter)));
			return reasons({});
		}
		bool ctp_yields() const noexcept
		{
			if constexpr (is_known)
				return known(awaiter)->ctp_known & known(awaiter)->yields;
			return false;
		}
	};

public:
	promise() noexcept { this->ctp_known = reinterpret_cast<std::uintptr_t>(static_cast<ctp::promise *>(this)); }

#ifndef ASIO_DISABLE_AWAITABLE_FRAME_RECYCLING
	/* Not inlined: g++ may inline one of them, and warn that it does not match the other. */
	[[gnu::noinline]] static void *operator new(std::size_t bytes) { return frame::operator new(bytes); }
	[[gnu::noinline]] static void operator delete(void *at, std::size_t bytes) { frame::operator delete(at, bytes); }
#endif

	template <typename Awaitable>
	auto await_transform(Awaitable &&a)
	{
		using awaiter = decltype(frame::await_transform(std::forward<Awaitable>(a)));
		return adapted<awaiter>{frame::await_transform(std::forward<Awaitable>(a))};
	}
};

/*
 * For a coroutine that takes an awaitable by value, as those of Asio's operators && and || do. These are left out of the trace: the
 * coroutine that awaits `a || b` waits there, and is woken by what ends the wait of the operator. A coroutine that only wraps
 * another awaitable ends with it.
 */
template <typename T, typename Executor>
class taking : public promise<T, Executor> {
public:
	any_of ctp_waited; /* empty unless this is `a || b` */

	template <typename A, typename B> taking(asio::awaitable<A, Executor> &a, B &&b) noexcept
	{
		if constexpr (std::is_pointer_v<std::remove_reference_t<B>>) {
			this->ctp_known = reinterpret_cast<std::uintptr_t>(known_frame<A, Executor>::of(a)->ctp_ends());
		} else {
			this->ctp_known = this->left_out;
			if constexpr (requires { this->known(b); })
				ctp_waited.set(this->waited_of(this->known(a)), this->waited_of(this->known(b)));
		}
	}

	[[gnu::always_inline]] bool ctp_left_out(const char *file, const char *function) noexcept
	{
		constexpr std::string_view name = "/awaitable_operators.hpp", either = "operator||";
		bool is_asio = std::string_view(file).ends_with(name);
		if (!is_asio)
			this->ctp_known = reinterpret_cast<std::uintptr_t>(static_cast<ctp::promise *>(this));
		if (!is_asio || !std::string_view(function).starts_with(either))
			ctp_waited.n = 0;
		return is_asio;
	}
};

/* Another parameter of such a coroutine of Asio: another awaitable, or a pointer that selects an overload. */
template <typename> constexpr bool taken_with = false;
template <typename T, typename Executor> constexpr bool taken_with<asio::awaitable<T, Executor>> = true;
template <typename T> constexpr bool taken_with<T *> = true;

/* A coroutine's return type in the form that ctp.hpp expects. */
template <typename Promise>
struct task {
	using promise_type = Promise;
};

/* co_spawn's own coroutines return this. */
template <typename T>
concept ours = !std::is_same_v<T, asio::detail::awaitable_thread_entry_point>;

/* Operations that only put a coroutine at the end of a queue, recognised by their initiation. */
template <typename> constexpr bool yields = false;
#ifdef CTP_ASIO_WAKE_
template <> inline constexpr bool yields<asio::detail::initiate_post> = true;
template <> inline constexpr bool yields<asio::detail::initiate_defer> = true;
template <> inline constexpr bool yields<asio::detail::initiate_dispatch> = true;
template <typename E> constexpr bool yields<asio::detail::initiate_post_with_executor<E>> = true;
template <typename E> constexpr bool yields<asio::detail::initiate_defer_with_executor<E>> = true;
template <typename E> constexpr bool yields<asio::detail::initiate_dispatch_with_executor<E>> = true;
#endif

/* An operation with use_awaitable: a coroutine that runs once, to initiate itself. Its promise gets its parameters. */
template <typename T, typename Executor>
class initiator : public operation_frame<T, Executor> {
	using frame = asio::detail::awaitable_frame<T, Executor>;

	template <typename P> void parameter(const P &) noexcept { this->ctp_known |= asio_::yields<P> ? this->yields : 0; }
	template <typename U, typename E> void parameter(const asio::detail::awaitable_as_function<U, E> &spawned) noexcept
	{
		this->ctp_known |= reinterpret_cast<std::uintptr_t>(known_frame<U, E>::of(spawned)->ctp_ends());
	}

public:
	template <typename Initiation, typename Token, typename... P>
	explicit initiator(Initiation &how, Token &, P &...parameters) noexcept
	{
		this->ctp_known = this->operation;
		parameter(how);
		(parameter(parameters), ...);
		this->ctp_waited = waited_by(how, parameters...);
	}

#ifdef CTP_ASIO_WAKE_
private:
	template <typename Awaiter>
	struct initiation : Awaiter {
		[[gnu::noinline]] void await_suspend(std::coroutine_handle<> h)
		{
			std::uint64_t &waits = static_cast<initiator *>(this->this_)->ctp_waiter;
			if (waits)
				initiate(h, waits);
			else
				Awaiter::await_suspend(h);
		}
		[[gnu::noinline]] void initiate(std::coroutine_handle<> h, std::uint64_t &waits)
		{
			::ctp_leaving_(waits); /* the waiting coroutine is the waker of what is woken here */
			initiated_swap(&waits);
			Awaiter::await_suspend(h); /* from here on *this may be destroyed */
			initiated_swap(nullptr);
			::ctp_leaving_(0);
		}
	};

public:
	template <typename Function>
	auto await_transform(Function &&f)
	{
		using awaiter = decltype(frame::await_transform(std::forward<Function>(f)));
		return initiation<awaiter>{frame::await_transform(std::forward<Function>(f))};
	}
#endif
};

#ifdef CTP_ASIO_WAKE_
/* co_spawn's own coroutine below one of the program: when that ends, it is the waker of what is woken after it. */
template <typename Executor>
class entry_point : public asio::detail::awaitable_frame<asio::detail::awaitable_thread_entry_point, Executor> {
	using frame = asio::detail::awaitable_frame<asio::detail::awaitable_thread_entry_point, Executor>;

	template <typename T>
	struct spawned {
		asio::awaitable<T, Executor> awaiter;
		std::uint64_t ref = 0;

		bool await_ready() const noexcept { return false; }
		void await_suspend(std::coroutine_handle<entry_point> h)
		{
			if (ctp::promise *ends = known_frame<T, Executor>::of(awaiter)->ctp_ends())
				ref = ctp_coro_ref(coro(*ends));
			awaiter.await_suspend(std::coroutine_handle<frame>::from_promise(h.promise()));
		}
		T await_resume()
		{
			if (ref)
				::ctp_leaving_(ref);
			return awaiter.await_resume();
		}
	};

public:
	using frame::await_transform;
	template <typename T> auto await_transform(asio::awaitable<T, Executor> a)
	{
		return spawned<T>{frame::await_transform(std::move(a))};
	}
	auto final_suspend() noexcept
	{
		::ctp_leaving_(0);
		return frame::final_suspend();
	}
};

/* An operation calls this when it is complete. It records the wake, unless the last step has done so. */
template <typename Executor, typename... T>
class handler : public asio::detail::awaitable_handler<Executor, T...> {
	using base = asio::detail::awaitable_handler<Executor, T...>;

public:
	using base::base;

	template <typename... Args> [[gnu::flatten]] void operator()(Args &&...args)
	{
		using value = typename base::awaitable_type::value_type;
		wake(&static_cast<operation_frame<value, Executor> *>(this->frame())->ctp_waiter);
		base::operator()(std::forward<Args>(args)...);
	}
};
#endif

/* What std::coroutine_traits is for an awaitable, as declared above. */
template <typename T, typename Executor, typename... Args>
struct rest_of_ctp_asio_hpp : std::coroutine_traits<task<promise<T, Executor>>, Args...> {};

template <typename T, typename Executor, typename A, typename B>
	requires(ours<T> && taken_with<B>)
struct rest_of_ctp_asio_hpp<T, Executor, asio::awaitable<A, Executor>, B>
	: std::coroutine_traits<task<taking<T, Executor>>, asio::awaitable<A, Executor>, B> {};

template <typename T, typename Executor, typename Initiation, typename... Args>
	requires ours<T>
struct rest_of_ctp_asio_hpp<T, Executor, Initiation, asio::use_awaitable_t<Executor>, Args...> {
	using promise_type = initiator<T, Executor>;
};

template <typename Executor, typename... Args>
struct rest_of_ctp_asio_hpp<asio::detail::awaitable_thread_entry_point, Executor, Args...> {
#ifdef CTP_ASIO_WAKE_
	using promise_type = entry_point<Executor>;
#else
	using promise_type = asio::detail::awaitable_frame<asio::detail::awaitable_thread_entry_point, Executor>;
#endif
};

} // namespace ctp::asio_

#ifdef CTP_ASIO_WAKE_
/* Like Asio's own, except for the handler. */
#pragma GCC diagnostic push
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wsubobject-linkage" /* for handlers in an unnamed namespace, or lambdas, which are in the frame */
#endif
namespace asio {
template <typename Executor, typename R, typename... Args>
	requires true
class async_result<use_awaitable_t<Executor>, R(Args...)> {
public:
	using handler_type = ctp::asio_::handler<Executor, std::decay_t<Args>...>;
	using return_type = typename handler_type::awaitable_type;

	/* Its name has the number, as those in ctp.hpp. */
	template <typename Initiation, typename... InitArgs>
	[[gnu::abi_tag("ctp" CTP_QUOTED_AS_(CTP_ABI_))]] static return_type initiate(Initiation initiation, use_awaitable_t<Executor>, InitArgs... args)
	{
		co_await [&](auto *frame) -> detail::awaitable_thread<Executor> * {
			handler_type handler(frame->detach_thread());
			std::move(initiation)(std::move(handler), std::move(args)...);
			return nullptr;
		};
		__builtin_unreachable(); /* the handler pops this frame */
	}
};
} // namespace asio
#pragma GCC diagnostic pop
#endif

#endif
#endif
