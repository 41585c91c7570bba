/*
 * ctp-asio.hpp - traces the C++20 coroutines of Asio (asio::awaitable) in a program that knows nothing of it:
 *
 *	c++ -std=c++20 -include ctp-asio.hpp server.cpp
 *
 * Each coroutine that returns an asio::awaitable is traced from its call to its end, and each co_await in it that gives up the
 * thread, with file, line and function. Asio's own are left out: the coroutine that co_spawn puts below each of the program's,
 * and the one that every operation with use_awaitable is.
 *
 * How: std::coroutine_traits is specialised once more, and more narrowly than by Asio. The promise that it names is Asio's own,
 * awaitable_frame, with a probe behind it; Asio goes on with the part that it knows. Wakes come from Asio's hooks for handler
 * tracking (ASIO_CUSTOM_HANDLER_TRACKING); a program that uses these itself, or says CTP_ASIO_NO_WAKE, has all but wakes. All
 * files of a program that include Asio must agree on this header, as they must on handler tracking.
 */
#ifndef CTP_ASIO_HPP
#define CTP_ASIO_HPP

#if !defined __cpp_impl_coroutine || !defined __cpp_concepts
#error "ctp-asio.hpp is for C++20: compile with -std=c++20, this file as all others of the program that include Asio"
#endif

#ifdef ASIO_VERSION
#error "include ctp-asio.hpp before Asio, or with -include"
#endif
#include "ctp.hpp"

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#if defined __clang__ && !defined ASIO_HAS_CO_AWAIT && !defined ASIO_DISABLE_CO_AWAIT
#define ASIO_HAS_CO_AWAIT 1 /* Asio 1.22 looks for clang's coroutines in <experimental/coroutine> alone */
#endif

#if !defined CTP_ASIO_NO_WAKE && !defined ASIO_ENABLE_HANDLER_TRACKING && !defined ASIO_CUSTOM_HANDLER_TRACKING
#define CTP_ASIO_WAKE_ 1
#endif

namespace ctp::asio_ {

/*
 * Whose co_await has just pushed an operation on Asio's stack: set when that coroutine is suspended, and taken back when the
 * operation was initiated, or when a coroutine is resumed instead. In between nothing else runs on the thread. What uses it is
 * not inlined: a coroutine may have changed threads, and the compiler may have kept the address.
 */
#ifdef CTP_ASIO_WAKE_
CTP_LOCAL_ inline constinit thread_local std::uint64_t awaiting = 0;
CTP_LOCAL_ [[gnu::noinline]] inline void awaiting_set(std::uint64_t ref) noexcept { awaiting = ref; }
CTP_LOCAL_ [[gnu::noinline]] inline std::uint64_t awaiting_get() noexcept { return awaiting; }
#else
inline void awaiting_set(std::uint64_t) noexcept {}
#endif

} // namespace ctp::asio_

#ifdef CTP_ASIO_WAKE_

namespace asio {
class execution_context;
namespace detail {
template <typename, typename...> class awaitable_handler;
template <typename> class redirect_error_handler;
} // namespace detail
template <typename, typename> class executor_binder;
template <typename, typename> class cancellation_slot_binder;
namespace experimental::detail {
template <typename> class as_tuple_handler;
template <typename> class as_single_handler;
} // namespace experimental::detail
} // namespace asio

namespace ctp::asio_ {

/*
 * Whether an operation resumes a coroutine when it is done: where its handler is a coroutine's, or that in a wrapper which only
 * passes on what it is given. Not so for the steps of a composed operation (async_read, async_write ...): what follows one may
 * be another, and then nobody was woken.
 */
template <typename> constexpr bool resumes = false;
template <typename E, typename... T> constexpr bool resumes<asio::detail::awaitable_handler<E, T...>> = true;
template <typename H> constexpr bool resumes<asio::detail::redirect_error_handler<H>> = resumes<H>;
template <typename H, typename E> constexpr bool resumes<asio::executor_binder<H, E>> = resumes<H>;
template <typename H, typename S> constexpr bool resumes<asio::cancellation_slot_binder<H, S>> = resumes<H>;
template <typename H> constexpr bool resumes<asio::experimental::detail::as_tuple_handler<H>> = resumes<H>;
template <typename H> constexpr bool resumes<asio::experimental::detail::as_single_handler<H>> = resumes<H>;

template <typename> constexpr bool is_last_step = false;
template <template <typename...> class Operation, typename... T>
constexpr bool is_last_step<Operation<T...>> = (resumes<T> || ...);

/* A base of each of Asio's operations: so its names are visible in them, and must be none of theirs. */
struct ctp_waited_for {
	std::uint64_t ctp_waits = 0; /* the coroutine that this resumes; 0: none, or it has been told */
};

template <typename Operation, typename... Rest>
inline void created(asio::execution_context &, Operation &op, Rest &&...)
{
	if constexpr (is_last_step<Operation>)
		op.ctp_waits = awaiting_get();
}

CTP_LOCAL_ inline void wake(std::uint64_t &waits)
{
	if (waits)
		ctp_ref_wake(std::exchange(waits, 0));
}

/* The reactor tried to read or write, and could. (Errors include those that make it try again: they are told on completion.) */
template <typename Error>
inline void performed(ctp_waited_for &op, const char *, const Error &error, std::size_t)
{
	if (!error)
		wake(op.ctp_waits);
}
/* Connecting and accepting: here, no error does not mean success. */
template <typename Error> inline void performed(ctp_waited_for &, const char *, const Error &) {}

/* A thread has taken the operation from its queue. From here to the coroutine there may still be a strand. */
struct completion {
	std::uint64_t waits;
	explicit completion(const ctp_waited_for &op) : waits(op.ctp_waits) {}
	template <typename... Args> void begin(const Args &...) { wake(waits); } /* not reached when the handler is thrown away */
};

} // namespace ctp::asio_

#define ASIO_CUSTOM_HANDLER_TRACKING <cstddef> /* Asio includes this for what follows */
#define ASIO_INHERIT_TRACKED_HANDLER : public ::ctp::asio_::ctp_waited_for
#define ASIO_ALSO_INHERIT_TRACKED_HANDLER , public ::ctp::asio_::ctp_waited_for
#define ASIO_HANDLER_TRACKING_INIT (void)0
#define ASIO_HANDLER_LOCATION(args) (void)0
#define ASIO_HANDLER_CREATION(args) ::ctp::asio_::created args
#define ASIO_HANDLER_COMPLETION(args) ::ctp::asio_::completion ctp_completion args
#define ASIO_HANDLER_INVOCATION_BEGIN(args) ctp_completion.begin args
#define ASIO_HANDLER_INVOCATION_END (void)0
#define ASIO_HANDLER_OPERATION(args) (void)0
#define ASIO_HANDLER_REACTOR_REGISTRATION(args) (void)0
#define ASIO_HANDLER_REACTOR_DEREGISTRATION(args) (void)0
#define ASIO_HANDLER_REACTOR_READ_EVENT 0
#define ASIO_HANDLER_REACTOR_WRITE_EVENT 0
#define ASIO_HANDLER_REACTOR_ERROR_EVENT 0
#define ASIO_HANDLER_REACTOR_EVENTS(args) (void)0
#define ASIO_HANDLER_REACTOR_OPERATION(args) ::ctp::asio_::performed args

#endif

#include <asio/awaitable.hpp>
#include <asio/use_awaitable.hpp>

#ifdef ASIO_HAS_CO_AWAIT

namespace ctp::asio_ {

template <typename T, typename Executor>
class promise : public asio::detail::awaitable_frame<T, Executor>, public ctp::promise {
	using frame = asio::detail::awaitable_frame<T, Executor>;

	/* Asio's awaiters ask for a handle by the promise that they know. */
	template <typename Awaiter>
	struct adapted {
		Awaiter awaiter;

		bool await_ready() { return awaiter.await_ready(); }
		void await_suspend(std::coroutine_handle<promise> h)
		{
			/*
			 * For the compilers a handle is the promise's address less a distance that its alignment makes. And a first
			 * base is in front, where nothing is virtual. Asio itself relies on both when it makes its handle.
			 */
			static_assert(alignof(promise) == alignof(frame) && !std::is_polymorphic_v<promise>);
			awaiting_set(ctp_coro_ref(coro(h.promise())));
			awaiter.await_suspend(std::coroutine_handle<frame>::from_promise(h.promise()));
		}
		decltype(auto) await_resume()
		{
			awaiting_set(0);
			return awaiter.await_resume();
		}
	};

public:
#ifndef ASIO_DISABLE_AWAITABLE_FRAME_RECYCLING
	/* Not inlined, or g++ may inline one and warn that it does not match the other. */
	[[gnu::noinline]] static void *operator new(std::size_t bytes) { return frame::operator new(bytes); }
	[[gnu::noinline]] static void operator delete(void *at, std::size_t bytes) { frame::operator delete(at, bytes); }
#endif

	auto initial_suspend() noexcept
	{
		struct start : std::suspend_always {
			void await_resume() const noexcept { awaiting_set(0); }
		};
		return start();
	}

	template <typename Awaitable>
	auto await_transform(Awaitable &&a)
	{
		using awaiter = decltype(frame::await_transform(std::forward<Awaitable>(a)));
		return adapted<awaiter>{frame::await_transform(std::forward<Awaitable>(a))};
	}
};

/* A coroutine's return type as ctp.hpp knows them. */
template <typename T, typename Executor>
struct task {
	using promise_type = promise<T, Executor>;
};

/* co_spawn's own coroutines return this. */
template <typename T>
concept ours = !std::is_same_v<T, asio::detail::awaitable_thread_entry_point>;

#ifdef CTP_ASIO_WAKE_
/* An operation with use_awaitable: it runs once, to initiate itself. */
template <typename T, typename Executor>
class initiator : public asio::detail::awaitable_frame<T, Executor> {
	using frame = asio::detail::awaitable_frame<T, Executor>;

	template <typename Awaiter>
	struct initiation : Awaiter {
		[[gnu::noinline]] void await_suspend(std::coroutine_handle<> h)
		{
			Awaiter::await_suspend(h); /* from here on *this may be gone */
			awaiting_set(0);
		}
	};

public:
	template <typename Function>
	auto await_transform(Function &&f)
	{
		using awaiter = decltype(frame::await_transform(std::forward<Function>(f)));
		return initiation<awaiter>{frame::await_transform(std::forward<Function>(f))};
	}
};
#else
template <typename T, typename Executor> using initiator = asio::detail::awaitable_frame<T, Executor>;
#endif

} // namespace ctp::asio_

template <typename T, typename Executor, typename... Args>
	requires ctp::asio_::ours<T>
struct std::coroutine_traits<asio::awaitable<T, Executor>, Args...>
	: std::coroutine_traits<ctp::asio_::task<T, Executor>, Args...> {};

template <typename T, typename Executor, typename Initiation, typename... Args>
	requires ctp::asio_::ours<T>
struct std::coroutine_traits<asio::awaitable<T, Executor>, Initiation, asio::use_awaitable_t<Executor>, Args...> {
	using promise_type = ctp::asio_::initiator<T, Executor>;
};

#endif
#endif
