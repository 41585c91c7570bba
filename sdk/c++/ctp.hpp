/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ctp.hpp - the cTP probe for C++20 coroutines: the code in a traced program. One header on top of ctp.h, nothing to link.
 *
 *	struct task {
 *		struct promise_type : ctp::promise { // this is all
 *			...
 *		};
 *	};
 *
 * From then on every coroutine that returns a task is traced: its birth and its start, each co_await and co_yield that suspends
 * it with the file, line and function of the await, and its end. The promise's own initial_suspend, final_suspend, yield_value
 * and await_transform keep their meaning. For promise types that cannot be changed there are ctp::traced and ctp::frame.
 *
 * How it works: std::coroutine_traits is specialised for return types whose promise_type derives from ctp::promise. It names a
 * class that derives from that promise_type, adds no member, and wraps what the compiler asks of a promise. A handle of either type
 * finds the same promise, because compilers compute its address from that of the frame by its alignment alone: see the assertions
 * in ctp::hooked. Awaiters and all other code of the program see only the program's own type.
 *
 * Names that end in _ are private. ctp.h lists what the probe never does.
 */
#ifndef CTP_HPP
#define CTP_HPP

#define CTP_HPP_VERSION "0.1.0"
#define CTP_HPP_VERSION_NUMBER 100 /* 10000 * major + 100 * minor + patch */

#if __cplusplus < 202002L
#error "ctp.hpp is for C++20: compile with -std=c++20"
#include "stop here" /* no such file: this ends the compilation before a page of further errors */
#endif

#if __has_include("ctp.h")
#include "ctp.h"
#else
#include "../c/ctp.h"
#endif
#if CTP_SDK_VERSION_NUMBER != CTP_HPP_VERSION_NUMBER
#error "ctp.hpp and ctp.h are of different versions: copy both from the same"
#endif

#include <coroutine>
#include <cstdint>
#include <type_traits> /* not <utility>, which takes as long to compile as all below */

/*
 * As in ctp.h: objects of the process do not share the probe, nor functions that use it. Clang does not hide member templates
 * unless their class is hidden; gcc does, and warns if a coroutine's frame has members of such a class.
 */
#define CTP_LOCAL_ [[gnu::visibility("hidden")]]
#ifdef __clang__
#define CTP_LOCAL_CLASS_ CTP_LOCAL_
#else
#define CTP_LOCAL_CLASS_
#endif

/*
 * The number is a part of all names, as in ctp.h: the linker merges inline functions by their names, and must not merge those of
 * different versions. Programs do not write it, because the namespace is inline.
 */
#define CTP_NUMBERED_(number) abi##number
#define CTP_NUMBERED_AS_(number) CTP_NUMBERED_(number)
#define CTP_ABI_SPACE_ CTP_NUMBERED_AS_(CTP_ABI_)

namespace corotracer::inline CTP_ABI_SPACE_ {
class PromiseMixin;
} // namespace corotracer

namespace ctp::inline CTP_ABI_SPACE_ {

/*
 * A place in the source. As the default of a parameter it is the place of the call. So a coroutine with such a parameter has its
 * caller as spawn site; without it, the spawn site is the coroutine's own function:
 *
 *	task handler(int fd, ctp::place = {});
 */
struct place {
	const char *file; /* this and function exist as long as the program */
	std::uint32_t line;   /* between the two: gcc would pack them into a vector for each await, which takes longer than two stores */
	const char *function;

	constexpr place(const char *in = __builtin_FILE(), std::uint32_t at = __builtin_LINE(),
	                const char *of = __builtin_FUNCTION()) noexcept
		: file(in), line(at), function(of)
	{
	}
};

/* The base of a promise type. */
class promise {
public:
	promise() noexcept = default;
	promise(const promise &) = delete;
	promise &operator=(const promise &) = delete;
	CTP_LOCAL_ ~promise() { ctp_coro_death(&ctp_coro_); }

private:
	friend struct ::ctp_coro *coro(promise &p) noexcept;
	struct ::ctp_coro ctp_coro_ = {};
};

template <class P>
concept traced_promise = std::is_base_of_v<promise, P>;

/* For the functions of ctp.h. */
inline struct ::ctp_coro *coro(promise &p) noexcept { return &p.ctp_coro_; }

/* Only such a cast, which is C's in the form of a function call, finds a base that is private. */
template <class Base, class P> Base &base_(P &p) noexcept
{
	using to = Base &;
	return to(p);
}
template <traced_promise P> struct ::ctp_coro *coro_of_(P &p) noexcept { return ctp::coro(ctp::base_<promise>(p)); }

/*
 * For schedulers: the coroutine becomes ready to run. Call this before it can be resumed. In await_suspend and final_suspend, the
 * waker is the coroutine that is being suspended. A coroutine that wakes itself there yields, and does not wait.
 */
CTP_LOCAL_ inline void wake(promise &p) noexcept { ctp_coro_wake(ctp::coro(p)); }
template <traced_promise P> CTP_LOCAL_ void wake(std::coroutine_handle<P> h) noexcept { ctp_coro_wake(coro_of_(h.promise())); }

template <class P> void wake(std::coroutine_handle<P>) noexcept
{
	static_assert(traced_promise<P>, "ctp::wake: this handle does not tell which coroutine it is of: keep a ctp::waker beside it, "
	                                 "or derive its promise from ctp::promise");
}

/* The same, with the object that the wake is for, such as a queue with a new item. */
CTP_LOCAL_ inline void wake_for(promise &p, const void *object) noexcept { ctp_coro_wake_for(ctp::coro(p), object); }
template <traced_promise P> CTP_LOCAL_ void wake_for(std::coroutine_handle<P> h, const void *object) noexcept
{
	ctp_coro_wake_for(coro_of_(h.promise()), object);
}

template <class P> void wake_for(std::coroutine_handle<P>, const void *) noexcept
{
	static_assert(traced_promise<P>, "ctp::wake_for: this handle does not tell which coroutine it is of: keep a ctp::waker beside "
	                                 "it, or derive its promise from ctp::promise");
}

/* Names it for people. */
CTP_LOCAL_ inline void name(promise &p, const char *text) noexcept { ctp_coro_name(ctp::coro(p), text); }
template <traced_promise P> CTP_LOCAL_ void name(std::coroutine_handle<P> h, const char *text) noexcept
{
	ctp_coro_name(coro_of_(h.promise()), text);
}

/*
 * Wakes a coroutine whose type is not known at that time, or which may be destroyed: for awaiters that keep a coroutine_handle<>.
 * For a coroutine that is not traced it does nothing.
 */
class waker {
public:
	waker() noexcept = default;
	explicit waker(promise &p) noexcept : ref(ctp_coro_ref(ctp::coro(p))) {}
	template <class P> explicit waker(std::coroutine_handle<P> h) noexcept
	{
		if constexpr (traced_promise<P>)
			ref = h ? ctp_coro_ref(coro_of_(h.promise())) : 0;
	}
	void wake() const noexcept { ctp_ref_wake(ref); }
	CTP_LOCAL_ void wake_for(const void *object) const noexcept { ctp_ref_wake_for(ref, object); }
	CTP_LOCAL_ void awaited_by_(struct ::ctp_coro *co) const noexcept { ctp_coro_await_ref(co, ref); }
	CTP_LOCAL_ void joined_by_(struct ::ctp_coro *co) const noexcept { ctp_coro_join_ref(co, ref); }

private:
	friend class holds;
	std::uint64_t ref = 0;
};

/* `co_await ctp::self()` is the coroutine's own promise, without suspending: ctp::name(co_await ctp::self(), "client 7"). */
struct self {};

/* --- what a coroutine waits for, and what it holds ------------------------------------------------------------------------ */

enum what : std::uint32_t {
	lock = CTP_FOR_LOCK,
	permits = CTP_FOR_PERMITS,
	item = CTP_FOR_ITEM,
	room = CTP_FOR_ROOM,
	event = CTP_FOR_EVENT,
	barrier = CTP_FOR_BARRIER,
	other = CTP_FOR_OTHER,
};

/* CTP_MARK_... of ctp.h; combine them with |. */
inline constexpr std::uint32_t shared = CTP_MARK_SHARED, timed = CTP_MARK_TIMED, cancellable = CTP_MARK_CANCELLABLE,
                               rests = CTP_MARK_RESTS, owned = CTP_MARK_OWNED;

/*
 * What a suspension waits for. An awaiter has a member function that returns one reason, or a range of up to four. The first that
 * is fulfilled ends the wait:
 *
 *	ctp::reason ctp_waits() const { return ctp::waits_for(&queue, ctp::item); }
 *
 * The probe calls it just before await_suspend, if the coroutine is traced. It must not throw. A default reason says nothing.
 */
class reason {
public:
	constexpr reason() noexcept = default;
	constexpr reason(std::uint64_t of, std::uint32_t what_and_marks) noexcept : value(of), number(what_and_marks) {}
	constexpr explicit operator bool() const noexcept { return number; }
	CTP_LOCAL_ void told_by_(struct ::ctp_coro *co) const noexcept
	{
		if (number)
			ctp_reason_(co, value, number);
	}

private:
	std::uint64_t value = 0;
	std::uint32_t number = 0; /* CTP_REASON */
};

/* Whether the compiler's name of a type contains a text. */
template <class T> constexpr bool is_named_(const char *text) noexcept
{
	for (const char *at = __PRETTY_FUNCTION__; *at; at++) {
		std::size_t n = 0;
		while (text[n] && at[n] == text[n])
			n++;
		if (!text[n])
			return true;
	}
	return false;
}

/*
 * Converts a time of any clock to CLOCK_MONOTONIC in ns. std::chrono::steady_clock is that clock; others are compared with it now.
 * <chrono> is not included, because it takes as long to compile as this header.
 */
template <class T>
concept time_point_ = requires(const T &t) {
	typename T::clock;
	T::clock::now();
	t.time_since_epoch().count();
};
__extension__ using wide_ = __int128;
template <time_point_ T> constexpr wide_ ns_of_(const T &t) noexcept
{
	using period = typename decltype(t.time_since_epoch())::period;
	auto count = t.time_since_epoch().count();
	if constexpr (std::is_floating_point_v<decltype(count)>)
		return static_cast<wide_>(count * (1e9 * period::num / period::den));
	else
		return static_cast<wide_>(count) * (static_cast<wide_>(1000000000) * period::num) / period::den;
}
template <time_point_ T> std::uint64_t monotonic_ns_(const T &t) noexcept
{
	using clock = typename T::clock;
	wide_ ns = ns_of_(t);
	if constexpr (!is_named_<clock>("= std::chrono::") || !is_named_<clock>("::steady_clock"))
		ns += ctp_now_ns_() - ns_of_(clock::now());
	return ns < 0 ? 0 : ns > static_cast<wide_>(UINT64_MAX) ? UINT64_MAX : static_cast<std::uint64_t>(ns);
}

/* Like ctp_coro_waits_until, ctp_coro_waits_fd and ctp_coro_waits_for in ctp.h. */
constexpr reason waits_until(std::uint64_t deadline_ns, std::uint32_t marks = 0) noexcept
{
	return {deadline_ns, CTP_REASON(CTP_FOR_TIMER, marks, 1)};
}
template <time_point_ T> reason waits_until(const T &deadline, std::uint32_t marks = 0) noexcept
{
	return ctp::waits_until(monotonic_ns_(deadline), marks);
}
constexpr reason waits_fd(int fd, std::uint32_t events, std::uint32_t marks = 0) noexcept
{
	return {static_cast<std::uint32_t>(fd), CTP_REASON(CTP_FOR_FD, marks, events)};
}
inline reason waits_for(const void *object, what kind, std::uint32_t n = 1, std::uint32_t marks = 0) noexcept
{
	return {reinterpret_cast<std::uintptr_t>(object), CTP_REASON(kind, marks, n)};
}

/*
 * Records an object that coroutines wait for, such as a lock, a queue or a pool. Make it a member of that. waits_for, holds and
 * wake_for take its address. name: a string that exists as long as the program, or null. marks: owned.
 */
class object {
public:
	CTP_LOCAL_ explicit object(what kind, std::uint64_t available, const char *name = nullptr, std::uint32_t marks = 0,
	                           const place &made = {}) noexcept
		: is(kind)
	{
		if (ctp_init())
			ctp_object_in(this, is, available, name, marks | CTP_MARK_MADE,
			              ctp_site_number(made.file, made.line, made.function));
	}
	object(const object &) = delete;
	object &operator=(const object &) = delete;
	CTP_LOCAL_ ~object() { ctp_object_end(this); }

	/*
	 * How much is available, and in a queue with a limit, how much room there is. Call it when that becomes 0, when it stops
	 * being 0, and at each change if coroutines wait for more than one. Call it before you wake a coroutine because of it.
	 */
	CTP_LOCAL_ void available(std::uint64_t n) const noexcept { ctp_object_in(this, is, n, nullptr, 0, 0); }
	CTP_LOCAL_ void room(std::uint64_t n) const noexcept { ctp_object_in(this, CTP_FOR_ROOM, n, nullptr, 0, 0); }
	/* All coroutines that wait for it should be resumed without it. */
	CTP_LOCAL_ void close() const noexcept { ctp_object_close(this); }

private:
	what is;
};

/* The coroutine that runs on this thread, or is being suspended on it; 0: none. */
CTP_LOCAL_ inline std::uint64_t running_() noexcept
{
	struct ::ctp_probe_ *p = __atomic_load_n(&ctp_current_, __ATOMIC_ACQUIRE); /* as in ctp_ref_wake */
	return ctp_on_(p) ? ctp_running_(p) : 0;
}

/*
 * A coroutine holds n of an object as long as this exists. Construct it after the coroutine got them, and destroy it before they
 * are given back. Without a promise, handle or waker, the holder is the coroutine that runs on this thread. If that is not traced,
 * nothing is recorded.
 */
class [[nodiscard]] CTP_LOCAL_CLASS_ holds {
public:
	holds() noexcept = default;
	CTP_LOCAL_ explicit holds(const void *object, int n = 1, const place &at = {}) noexcept : holds(running_(), object, n)
	{
		get(at);
	}
	CTP_LOCAL_ holds(promise &p, const void *object, int n = 1, const place &at = {}) noexcept
		: holds(ctp_coro_ref(ctp::coro(p)), object, n)
	{
		get(at);
	}
	CTP_LOCAL_ holds(const waker &w, const void *object, int n = 1, const place &at = {}) noexcept : holds(w.ref, object, n)
	{
		get(at);
	}
	template <traced_promise P>
	CTP_LOCAL_ holds(std::coroutine_handle<P> h, const void *object, int n = 1, const place &at = {}) noexcept
		: holds(ctp_coro_ref(coro_of_(h.promise())), object, n)
	{
		get(at);
	}
	holds(holds &&from) noexcept : holds(from.ref, from.what_of, from.amount) { from.ref = 0; }
	CTP_LOCAL_ holds &operator=(holds &&from) noexcept
	{
		if (this != &from) {
			release();
			ref = from.ref;
			what_of = from.what_of;
			amount = from.amount;
			from.ref = 0;
		}
		return *this;
	}
	CTP_LOCAL_ ~holds() { release(); }

	/* Does what the destructor does. */
	CTP_LOCAL_ void release() noexcept
	{
		if (ref)
			ctp_ref_holds_in(ref, what_of, -amount, 0);
		ref = 0;
	}
	/* Another coroutine holds them from now on, as long as the result exists. */
	[[nodiscard]] CTP_LOCAL_ holds hand(const waker &to, const place &at = {}) noexcept
	{
		release();
		holds its(to.ref, what_of, amount);
		its.get(at);
		return its;
	}

private:
	holds(std::uint64_t whose, const void *object, int n) noexcept : ref(whose), what_of(object), amount(n) {}
	CTP_LOCAL_ void get(const place &at) const noexcept
	{
		if (ref)
			ctp_ref_holds_in(ref, what_of, amount, ctp_site_number(at.file, at.line, at.function));
	}

	std::uint64_t ref = 0;
	const void *what_of = nullptr;
	int amount = 0;
};

/* --- one await ------------------------------------------------------------------------------------------------------------ */

template <class P, bool Placed> class hooked;

enum class point_ { start, start_placed, middle, end };
template <point_ Point> constexpr bool is_start_ = Point == point_::start || Point == point_::start_placed;

/* From here on the hooks record a coroutine that wrote by hand. Release: as in ctp_birth_. */
inline void by_hooks_(struct ::ctp_coro *co, std::uint64_t id) noexcept
{
	std::uint64_t hand = CTP_ANNOUNCE(CTP_ANNOUNCE_HAND) ^ CTP_ANNOUNCE(0);
	__atomic_store_n(&co->station_->announce, CTP_GET_(&co->station_->announce) & ~hand, __ATOMIC_RELEASE);
	co->id_ = id;
}

/*
 * Where a coroutine's function begins: a promise cannot know more about where the coroutine was spawned. Clang provides that line.
 * g++ provides the line of the closing brace, which only distinguishes functions. So with g++ the site has no line, but an address
 * in the function's code, for which debug information has the line. CTP_RAMP_ ensures that this address is in no other function.
 */
#ifdef __clang__
#define CTP_RAMP_
#define CTP_CODE_ nullptr
inline std::uint32_t function_find_(struct ::ctp_probe_ *p, const place &at, const void *) noexcept
{
	return ctp_place_find_(p, at.file, at.line, at.function);
}
#else
#define CTP_RAMP_ [[gnu::always_inline]]
#define CTP_CODE_ __builtin_return_address(0)
inline std::uint32_t function_add_(struct ::ctp_probe_ *p, const place &at, const void *code) noexcept
{
	return ctp_site_add_(p, at.file, 0, at.function, code);
}
/* Like ctp_place_new_, but by the address of the name instead of the file, because an await may be on the same line. */
CTP_LOCAL_ [[gnu::noinline]] inline std::uint32_t function_new_(struct ::ctp_probe_ *p, const place &at, const void *code) noexcept
{
	std::uint64_t key = ctp_place_key_(at.function, at.line);
	for (std::uint32_t i = 0, first = ctp_place_at_(key); i < 8; i++) {
		struct ::ctp_place_ *found = &p->places[(first + i) % CTP_PLACES_];
		std::uint64_t none = 0;
		if (ctp_place_take_(p, (first + i) % CTP_PLACES_, key, &none))
			CTP_PUT_(&found->number, function_add_(p, at, code));
		if (!none || none == key)
			return CTP_GET_(&found->number);
	}
	return 0;
}
inline std::uint32_t function_find_(struct ::ctp_probe_ *p, const place &at, const void *code) noexcept
{
	std::uint64_t key = ctp_place_key_(at.function, at.line);
	const struct ::ctp_place_ *found = &p->places[ctp_place_at_(key)];
	bool known = __atomic_load_n(&found->key, __ATOMIC_ACQUIRE) == key; /* pairs with ctp_place_take_ */
	return __builtin_expect(known, 1) ? CTP_GET_(&found->number) : function_new_(p, at, code);
}
#endif

/* Out of line: otherwise each await of a program would have its own copy. */
CTP_LOCAL_ [[gnu::noinline]] inline void born_(struct ::ctp_coro *co, void *id, const place &at) noexcept
{
	ctp_init(); /* without an attachment, sites have no numbers */
	if (ctp_coro_traced(co)) /* the constructor of its promise has already written: see PromiseMixin */
		by_hooks_(co, reinterpret_cast<std::uintptr_t>(id));
	else
		ctp_coro_new_in(co, reinterpret_cast<std::uintptr_t>(id), ctp_site_number(at.file, at.line, at.function));
}
CTP_LOCAL_ [[gnu::noinline]] inline void born_first_(struct ::ctp_coro *co, void *id, const place &at, const void *code) noexcept
{
	struct ::ctp_probe_ *p = ctp_probe_get_();
	if (ctp_coro_traced(co)) /* as above */
		by_hooks_(co, reinterpret_cast<std::uintptr_t>(id));
	else
		ctp_coro_new_in(co, reinterpret_cast<std::uintptr_t>(id), ctp_on_(p) && p->annex ? function_find_(p, at, code) : 0);
}
CTP_LOCAL_ [[gnu::noinline]] inline void born_on_(struct ::ctp_coro *co, const place &at, const void *code) noexcept
{
	ctp_birth_(co, co->probe_->annex ? function_find_(co->probe_, at, code) : 0, false);
}
/* For the beginning of a function: what ctp_coro_new_in does to a zeroed struct, without a call if nothing is recorded. */
CTP_LOCAL_ [[gnu::noinline]] inline void born_here_(struct ::ctp_coro *co, void *id, const place &at) noexcept
{
	struct ::ctp_probe_ *p = __atomic_load_n(&ctp_current_, __ATOMIC_ACQUIRE); /* as in ctp_probe_get_ */
	const std::uint32_t *mode = p && p->tried ? p->mode : nullptr;
	if (!mode || co->station_) {
		born_first_(co, id, at, CTP_CODE_);
		return;
	}
	co->id_ = reinterpret_cast<std::uintptr_t>(id);
	co->events_ = 0;
	CTP_PUT_(&co->probe_, p);
	co->mode_ = mode;
	if (CTP_GET_(mode))
		born_on_(co, at, CTP_CODE_);
}
CTP_LOCAL_ [[gnu::noinline]] inline void suspended_first_(struct ::ctp_coro *co, void *frame, const place &at) noexcept
{
	std::uint32_t site = ctp_place_find_(co->probe_, at.file, at.line, at.function);
	ctp_depart_(co, reinterpret_cast<std::uintptr_t>(frame), site);
}
/* Both calls are the last of the function, so that no registers are saved. */
CTP_LOCAL_ [[gnu::noinline]] inline void suspended_(struct ::ctp_coro *co, void *frame, const place &at) noexcept
{
	std::uint32_t site;
	if (ctp_place_known_(co->probe_, at.file, at.line, &site))
		ctp_depart_(co, reinterpret_cast<std::uintptr_t>(frame), site);
	else
		suspended_first_(co, frame, at);
}
/* Before its start it is suspended at its spawn site, unless that is in another function. */
CTP_LOCAL_ [[gnu::noinline]] inline void unstarted_(struct ::ctp_coro *co, void *frame, const place &at, bool placed) noexcept
{
	std::uint32_t site = placed || !co->station_ ? 0 : CTP_GET_(&co->station_->spawn_site);
	if (!site && co->probe_->annex)
		site = function_find_(co->probe_, at, nullptr);
	ctp_depart_(co, reinterpret_cast<std::uintptr_t>(frame), site);
}

/*
 * While a coroutine's await_suspend runs, after its suspension was recorded, the coroutine is the waker of what is woken there.
 * This is a local variable, because when await_suspend returns, the coroutine may be destroyed, or another one may have been
 * resumed.
 */
class leaving_ {
public:
	leaving_() noexcept = default;
	leaving_(const leaving_ &) = delete;
	leaving_ &operator=(const leaving_ &) = delete;
	~leaving_()
	{
		if (recorded)
			::ctp_leaving_(0);
	}
	template <point_ Point> void suspended(struct ::ctp_coro *co, void *frame, const place &at, bool yields) noexcept
	{
		recorded = true;
		if constexpr (is_start_<Point>)
			unstarted_(co, frame, at, Point == point_::start_placed);
		else
			suspended_(co, frame, at);
		if (yields)
			ctp_coro_ready_(co, CTP_MARK_YIELD);
	}
	/* Recorded by calls of ctp.h, and so without the mark leaving. */
	void since(std::uint64_t ref) noexcept
	{
		recorded = ref;
		if (recorded)
			::ctp_leaving_(ref);
	}
	/* It continues, and never gave up its thread. */
	void stays(struct ::ctp_coro *co) const noexcept
	{
		if (recorded)
			ctp_coro_ready_(co, CTP_MARK_STAYED);
	}

private:
	bool recorded = false;
};

/* std::declval, which is in <utility>. */
template <class T> std::add_rvalue_reference_t<T> some_() noexcept;

/* The awaiter of an awaitable, found as the language does. */
template <class T>
concept has_member_co_await_ = requires { some_<T>().operator co_await(); };
template <class T>
concept has_free_co_await_ = requires { operator co_await(some_<T>()); };
struct itself_ {};
template <class T> decltype(auto) awaiter_of_(T &&x)
{
	if constexpr (has_member_co_await_<T>)
		return static_cast<T &&>(x).operator co_await();
	else if constexpr (has_free_co_await_<T>)
		return operator co_await(static_cast<T &&>(x));
	else
		return itself_();
}

/*
 * The coroutine that an await waits for, if it is known. An awaiter may hold any handle, and a wrong target is worse than none. So
 * there are two ways. The awaiter has a member function ctp_target that returns a handle or a waker, or ctp_join if only the end of
 * that coroutine ends the wait. Or it is the awaiter of a task, which is a class whose promise_type is traced, and its first member
 * is a handle of that promise, which is then the task's. (Such an await is not a join, because the task may be cancelled.)
 */
template <class T> struct just_ { /* converts to a T, and to nothing else */
	template <class U>
		requires std::is_same_v<T, U>
	operator U() const noexcept;
};
template <class T, class First>
concept begins_with_ = std::is_aggregate_v<T> && std::is_standard_layout_v<T> && requires { T{just_<First>()}; };
template <class Task, class Awaiter>
concept awaits_task_ = traced_promise<typename Task::promise_type> &&
                       begins_with_<Awaiter, std::coroutine_handle<typename Task::promise_type>>;
template <class Awaitable, class Awaiter> CTP_LOCAL_ void tell_target_(Awaiter &awaiter, struct ::ctp_coro *co) noexcept
{
	using task = std::remove_cvref_t<Awaitable>;
	if constexpr (requires { awaiter.ctp_join(); })
		waker(awaiter.ctp_join()).joined_by_(co);
	else if constexpr (requires { awaiter.ctp_target(); })
		waker(awaiter.ctp_target()).awaited_by_(co);
	else if constexpr (awaits_task_<task, std::remove_cv_t<Awaiter>>)
		waker(reinterpret_cast<const std::coroutine_handle<typename task::promise_type> &>(awaiter)).awaited_by_(co);
}

/* What an await waits for, from the awaiter's member function ctp_waits. */
template <class Awaiter>
concept says_reasons_ = requires(Awaiter &awaiter) { awaiter.ctp_waits(); };
template <says_reasons_ Awaiter> CTP_LOCAL_ void tell_reasons_(Awaiter &awaiter, struct ::ctp_coro *co) noexcept
{
	if constexpr (requires { reason(awaiter.ctp_waits()); })
		reason(awaiter.ctp_waits()).told_by_(co);
	else
		for (const reason &r : awaiter.ctp_waits())
			r.told_by_(co);
}

/* Whether an await only yields, from the awaiter's member function ctp_yields. */
template <class Awaiter> bool yields_(Awaiter &awaiter) noexcept
{
	if constexpr (requires { awaiter.ctp_yields(); })
		return static_cast<bool>(awaiter.ctp_yields());
	else
		return false;
}

/*
 * Code that only traced coroutines need. Inlined, it would make clang save more registers in all coroutines. gcc does not, and
 * would only pay for the call.
 */
#ifdef __clang__
#define CTP_APART_ [[gnu::noinline]]
#else
#define CTP_APART_
#endif

/* Clang before 18 may keep variables of an inlined await_suspend in the coroutine's frame, which may be destroyed by then. */
#if defined __clang__ && __clang_major__ < 18
#define CTP_OUT_OF_LINE_ [[gnu::noinline]]
#else
#define CTP_OUT_OF_LINE_
#endif

/*
 * Wraps the awaiter of an awaitable. An awaitable that is a value is stored; a reference is valid until the end of the expression
 * that awaits it. An await_ never moves, because the inner awaiter may refer to the awaitable.
 */
template <class Awaitable, point_ Point = point_::middle> class CTP_LOCAL_CLASS_ await_ {
	using found = decltype(awaiter_of_(some_<Awaitable>()));

	Awaitable awaitable;
	[[no_unique_address]] found awaiter;
	struct ::ctp_coro *co; /* null: not suspended */
	place at;

	auto &inner() noexcept
	{
		if constexpr (std::is_same_v<found, itself_>)
			return awaitable;
		else
			return awaiter;
	}

protected:
	/*
	 * While the inner await_suspend runs, another thread may resume or destroy the coroutine. So everything is recorded before,
	 * and the coroutine is not touched after, unless it stays: if await_suspend returns false, it continues with await_resume,
	 * and if it throws, from here.
	 */
	template <class P> CTP_LOCAL_ CTP_OUT_OF_LINE_ auto suspend(std::coroutine_handle<P> h, struct ::ctp_coro *whose)
		noexcept(noexcept(inner().await_suspend(h)))
	{
		co = whose;
		if constexpr (Point == point_::end) {
			if (std::uint64_t ref = ctp_coro_ref(co))
				return end(h, ref);
			ctp_coro_death(co);
		} else if (ctp_coro_on_(co)) {
			return depart(h);
		}
		return inner().await_suspend(h);
	}

private:
	template <class H> CTP_LOCAL_ CTP_APART_ auto end(H h, std::uint64_t ref) noexcept(noexcept(inner().await_suspend(h)))
	{
		leaving_ leaving;
		ctp_coro_death(co); /* instead of a suspension, after which somebody would have to resume it */
		leaving.since(ref);
		return inner().await_suspend(h);
	}
	template <class H> CTP_LOCAL_ CTP_APART_ auto depart(H h) noexcept(noexcept(inner().await_suspend(h)))
	{
		leaving_ leaving;
		tell_target_<Awaitable>(inner(), co);
		if constexpr (says_reasons_<decltype(inner())>)
			tell_reasons_(inner(), co);
		leaving.template suspended<Point>(co, h.address(), at, yields_(inner()));
		return enter(h, leaving);
	}
	template <class H> auto enter(H h, leaving_ &leaving) noexcept(noexcept(inner().await_suspend(h)))
	{
#ifdef __cpp_exceptions
		if constexpr (!noexcept(inner().await_suspend(h))) {
			try {
				return enter_plainly(h, leaving);
			} catch (...) {
				leaving.stays(co);
				ctp_coro_resume(co);
				throw;
			}
		}
#endif
		return enter_plainly(h, leaving);
	}
	template <class H> auto enter_plainly(H h, leaving_ &leaving) noexcept(noexcept(inner().await_suspend(h)))
	{
		if constexpr (std::is_same_v<decltype(inner().await_suspend(h)), bool>) {
			bool goes = inner().await_suspend(h);
			if (!goes)
				leaving.stays(co);
			return goes;
		} else {
			return inner().await_suspend(h);
		}
	}

public:
	/*
	 * make returns the awaitable, which need not be moved then. A coroutine that starts without a suspension runs from
	 * await_resume on, unless that is already recorded (whose is null).
	 */
	template <class Make>
	await_(struct ::ctp_coro *whose, const place &where, Make &&make)
		: awaitable(make()), awaiter(awaiter_of_(static_cast<Awaitable &&>(awaitable))),
		  co(is_start_<Point> ? whose : nullptr), at(where)
	{
	}
	await_(const await_ &) = delete;
	await_ &operator=(const await_ &) = delete;

	bool await_ready() noexcept(noexcept(inner().await_ready())) { return static_cast<bool>(inner().await_ready()); }

	template <class P, bool Placed> CTP_LOCAL_ auto await_suspend(std::coroutine_handle<hooked<P, Placed>> h)
		noexcept(noexcept(suspend(std::coroutine_handle<P>(), nullptr)))
	{
		return suspend(std::coroutine_handle<P>::from_promise(h.promise()), coro_of_(h.promise()));
	}

	CTP_LOCAL_ decltype(auto) await_resume() noexcept(noexcept(inner().await_resume()))
	{
		if (co)
			ctp_coro_resume(co);
		return inner().await_resume();
	}
};

/* --- the promise that the compiler sees ----------------------------------------------------------------------------------- */

/* Whether P has any await_transform, even a deleted one: then the name is ambiguous here. */
struct await_transform_ {
	void await_transform();
};
template <class P> struct with_await_transform_ : P, await_transform_ {};
template <class P>
concept transforms_ = !requires { &with_await_transform_<P>::await_transform; };

/* Awaiters of coroTracer's mixin are awaited without a wrapper. */
template <class P, class T>
concept transforms_by_mixin_ = requires(P &p, T &&x) { p.await_transform(static_cast<T &&>(x)).ctp_inner_(); };

/* Whether the constructor of the promise has recorded that the coroutine runs. */
template <class P, class Mixin = corotracer::PromiseMixin> bool runs_by_hand_(P &p) noexcept
{
	if constexpr (std::is_base_of_v<Mixin, P>)
		return ctp::base_<Mixin>(p).ctp_runs_;
	else
		return false;
}

/* The parameter type of a yield_value that is not overloaded, so that `co_yield { ... }` finds it. */
template <class R, class C, class A> A argument_(R (C::*)(A));
template <class R, class C, class A> A argument_(R (C::*)(A) const);
template <class P> struct yielded_ {
	struct type;
};
template <class P>
	requires requires { argument_(&P::yield_value); }
struct yielded_<P> {
	using type = decltype(argument_(&P::yield_value));
};

/* The site of an await. Not a ctp::place, which compilers would first make in the frame and then copy. */
#define CTP_PLACE_                                                                        \
	const char *file = __builtin_FILE(), std::uint32_t line = __builtin_LINE(),       \
	const char *function = __builtin_FUNCTION()

/*
 * P with its hooks. A coroutine is spawned when its return object is made, or before, if a parameter has its spawn site (Placed).
 * It ends at its final suspension, or when it is destroyed before that.
 */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow" /* P may have members of any name */
template <class P, bool Placed = false> class hooked final : public P {
	void *frame() noexcept
	{
		static_assert(sizeof(hooked) == sizeof(P) && alignof(hooked) == alignof(P), "a handle of P finds this promise");
		return std::coroutine_handle<hooked>::from_promise(*this).address();
	}
	template <class T> CTP_LOCAL_ void placed(const T &parameter) noexcept
	{
		if constexpr (std::is_same_v<T, place>)
			born_(coro_of_(*this), frame(), parameter);
	}
	template <point_ Point = point_::middle, class Make> auto awaiting(const place &at, Make make)
	{
		bool known = is_start_<Point> && runs_by_hand_(*this);
		return await_<decltype(make()), Point>(known ? nullptr : coro_of_(*this), at, make);
	}

public:
	/* A promise may take the coroutine's parameters. */
	template <class... A>
		requires(std::is_constructible_v<P, A...>)
	CTP_LOCAL_ explicit hooked(A &&...parameters) : P(static_cast<A &&>(parameters)...)
	{
		(placed(parameters), ...);
	}
	template <class... A>
		requires(!std::is_constructible_v<P, A...>)
	CTP_LOCAL_ explicit hooked(A &&...parameters)
	{
		(placed(parameters), ...);
	}

	CTP_LOCAL_ CTP_RAMP_ decltype(auto) get_return_object(CTP_PLACE_)
	{
		if constexpr (requires(P &p) { p.ctp_left_out(file, function); })
			if (P::ctp_left_out(file, function))
				return P::get_return_object();
		if constexpr (!Placed)
			born_here_(coro_of_(*this), frame(), {file, line, function});
		return P::get_return_object();
	}

	auto initial_suspend(CTP_PLACE_)
	{
		auto make = [this]() -> decltype(auto) { return P::initial_suspend(); };
		return awaiting<Placed ? point_::start_placed : point_::start>({file, line, function}, make);
	}

	auto final_suspend(CTP_PLACE_) noexcept
	{
		auto make = [this]() -> decltype(auto) { return P::final_suspend(); };
		return awaiting<point_::end>({file, line, function}, make);
	}

#ifdef __cpp_exceptions
	CTP_LOCAL_ void unhandled_exception() noexcept(noexcept(some_<hooked &>().P::unhandled_exception())) /* for g++ 11 */
	{
		if constexpr (noexcept(P::unhandled_exception()))
			P::unhandled_exception();
		else
			try {
				P::unhandled_exception();
			} catch (...) { /* there is no final suspension then */
				ctp_coro_death(coro_of_(*this));
				throw;
			}
	}
#endif

	template <class T = typename yielded_<P>::type>
		requires requires(P &p, T &&x) { p.yield_value(static_cast<T &&>(x)); }
	auto yield_value(T &&x, CTP_PLACE_)
	{
		auto make = [&]() -> decltype(auto) { return P::yield_value(static_cast<T &&>(x)); };
		return awaiting({file, line, function}, make);
	}

	template <class T> auto await_transform(T &&x, CTP_PLACE_)
	{
		auto make = [&]() -> decltype(auto) {
			if constexpr (transforms_by_mixin_<P, T>)
				return P::await_transform(static_cast<T &&>(x)).ctp_inner_();
			else if constexpr (transforms_<P>)
				return P::await_transform(static_cast<T &&>(x));
			else
				return static_cast<T &&>(x);
		};
		return awaiting({file, line, function}, make);
	}

	auto await_transform(self) noexcept
	{
		struct at_once : std::suspend_never {
			P &p;
			explicit at_once(P &promise) : p(promise) {}
			P &await_resume() noexcept { return p; }
		};
		return at_once(*this);
	}
};

#pragma GCC diagnostic pop

/* --- promise types that cannot be changed --------------------------------------------------------------------------------- */

/*
 * A coroutine in the trace as long as this exists. Declare it at the beginning of the coroutine. Its awaits are those with
 * `co_await ctp::traced(x, frame)`.
 */
class frame {
public:
	CTP_LOCAL_ explicit frame(const place &at = {}) noexcept
	{
		born_(&co, this, at);
		ctp_coro_resume(&co);
	}
	frame(const frame &) = delete;
	frame &operator=(const frame &) = delete;
	~frame() { ctp_coro_death(&co); }
	void name(const char *text) noexcept { ctp_coro_name(&co, text); }

private:
	template <class> friend class traced_;
	struct ::ctp_coro co = {};
};

/* Has a coroutine of its own during the await, unless there is a frame or a traced promise. */
template <class Awaitable> class CTP_LOCAL_CLASS_ await_alone_ : await_<Awaitable> {
	using base = await_<Awaitable>;
	struct ::ctp_coro mine = {}, *whose;
	const place &at;

public:
	template <class Make>
	await_alone_(struct ::ctp_coro *frame, const place &where, Make &&make)
		: base(nullptr, where, make), whose(frame ? frame : &mine), at(where)
	{
	}
	CTP_LOCAL_ ~await_alone_() { ctp_coro_death(&mine); }

	using base::await_ready;
	using base::await_resume;
	template <class P> CTP_LOCAL_ auto await_suspend(std::coroutine_handle<P> h) noexcept(noexcept(base::suspend(h, whose)))
	{
		if (!traced_promise<P> && whose == &mine)
			born_(&mine, h.address(), at);
		return base::suspend(h, whose);
	}
};

/* Stored if it is a value that can be moved. */
template <class T> class traced_ {
	T x;
	struct ::ctp_coro *co;
	place at;

	template <class U> auto awaiter() noexcept
	{
		return await_alone_<U &&>(co, at, [this]() -> U && { return static_cast<U &&>(x); });
	}

public:
	traced_(T &&awaitable, frame *f, const place &where)
		: x(static_cast<T &&>(awaitable)), co(f ? &f->co : nullptr), at(where)
	{
	}
	auto operator co_await() & { return awaiter<T &>(); }
	auto operator co_await() && { return awaiter<T>(); }
};

/*
 * Traces one await. Without a frame it is a coroutine of its own in the trace, whose id is the address of the frame: it is spawned
 * and suspended here, and ends with the await. A coroutine whose promise is traced needs neither.
 */
template <class T> using kept_ = std::conditional_t<std::is_move_constructible_v<T>, T, T &&>;
template <class T> [[nodiscard]] auto traced(T &&x, const place &at = {})
{
	return traced_<kept_<T>>(static_cast<T &&>(x), nullptr, at);
}
template <class T> [[nodiscard]] auto traced(T &&x, frame &f, const place &at = {})
{
	return traced_<kept_<T>>(static_cast<T &&>(x), &f, at);
}

} // namespace ctp

template <class R, class... Parameters>
	requires ctp::traced_promise<typename R::promise_type>
struct std::coroutine_traits<R, Parameters...> {
	static_assert(!std::is_final_v<typename R::promise_type>, "a promise_type that is final cannot be traced");
	static constexpr bool placed = (std::is_same_v<std::remove_cvref_t<Parameters>, ctp::place> || ...);
	using promise_type = ctp::hooked<typename R::promise_type, placed>;
};

/* --- coroTracer's names --------------------------------------------------------------------------------------------------- */

/*
 * The promise mixin of coroTracer traces what ctp::promise does. Its view of the shared memory is not here; nor are <iostream> and
 * <thread>, which its header includes, because they take three times as long to compile as this one.
 */

namespace corotracer::inline CTP_ABI_SPACE_ {

inline void InitTracer() { ctp_init(); }
inline void trigger_uds_wakeup() {} /* events wake the collector by themselves */
inline std::uint64_t get_ns() { return ctp_now_ns_(); }
inline std::uint64_t get_tid() { return ctp_tid_(); }

/*
 * Writes an await by hand. In a coroutine with hooks this does nothing (see write_trace). It is for promises that have a mixin
 * which is not their base.
 */
template <class InnerAwaiter> struct TracedAwaiter {
	InnerAwaiter inner;
	PromiseMixin *tracer;

	bool await_ready() { return inner.await_ready(); }
	template <class Promise> auto await_suspend(std::coroutine_handle<Promise> h);
	decltype(auto) await_resume();
};

/* Made by the mixin itself, so that hooks can recognise it and unwrap the awaitable. */
template <class Awaitable> struct by_mixin_ : TracedAwaiter<Awaitable> {
	Awaitable ctp_inner_() { return static_cast<Awaitable &&>(this->inner); }
};

class PromiseMixin : public ctp::promise {
public:
	PromiseMixin() noexcept = default;
	PromiseMixin(const PromiseMixin &) noexcept : ctp::promise() {} /* a copy is another object */
	PromiseMixin &operator=(const PromiseMixin &) noexcept { return *this; }

	template <class Awaitable> auto await_transform(Awaitable &&x)
	{
		return by_mixin_<ctp::kept_<Awaitable>>{{static_cast<Awaitable &&>(x), this}};
	}

	/*
	 * The hooks of a coroutine record all its suspensions and resumptions, so an event that its promise or scheduler writes by
	 * hand would be a duplicate. So this writes only if there are no hooks, with the id of this object, or if the hooks do not
	 * exist yet, in the constructor of the promise. coroTracer's programs also write a resumption for a coroutine that was not
	 * suspended. It would look like two resumptions, so it is left out.
	 */
	void write_trace(std::uint64_t addr, bool is_active)
	{
		struct ::ctp_coro *co = ctp::coro(*this);
		auto mine = reinterpret_cast<std::uintptr_t>(this);
		if (!co->id_) /* its first event */
			ctp_coro_new_with_(co, mine, 0, CTP_ANNOUNCE_HAND);
		if (co->id_ != mine || (is_active && ctp_runs_))
			return;
		std::uint64_t before = co->station_ ? co->events_ : UINT64_MAX;
		if (is_active)
			ctp_coro_resume(co);
		else
			ctp_coro_suspend_in(co, reinterpret_cast<const void *>(addr), 0);
		ctp_runs_ = is_active && co->station_ && co->events_ != before;
	}

	bool ctp_runs_ = false; /* the last event written by hand and recorded is a resumption */
};

template <class InnerAwaiter>
template <class Promise>
auto TracedAwaiter<InnerAwaiter>::await_suspend(std::coroutine_handle<Promise> h)
{
	ctp::leaving_ leaving;
	tracer->write_trace(reinterpret_cast<std::uintptr_t>(h.address()), false);
	leaving.since(ctp_coro_ref(ctp::coro(*tracer)));
	return inner.await_suspend(h);
}

template <class InnerAwaiter> decltype(auto) TracedAwaiter<InnerAwaiter>::await_resume()
{
	tracer->write_trace(0, true);
	return inner.await_resume();
}

} // namespace corotracer

#endif
