/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * probe-cxx [EVENTS] - what it costs, in ns, that a C++ coroutine is traced: half of a suspension and a resumption, less the
 * same without the probe. "cxx_ns" or, where nobody traces it, "cxx_untraced_ns".
 *
 * As in probe.c: 61 coroutines suspend themselves and are resumed in turn, in bursts that fit into the ring, which was written
 * once before, with pauses to drain it.
 */
#include "ctp.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <vector>

#include "wait.h"

struct untouched {};

template <class Base> struct loop {
	struct promise_type : Base {
		loop get_return_object() { return { std::coroutine_handle<promise_type>::from_promise(*this) }; }
		std::suspend_always initial_suspend() noexcept { return {}; }
		std::suspend_always final_suspend() noexcept { return {}; }
		void return_void() {}
		void unhandled_exception() { std::terminate(); }
	};
	std::coroutine_handle<promise_type> handle;
};

template <class Base> static loop<Base> suspend_for_ever()
{
	for (;;)
		co_await std::suspend_always();
}

constexpr unsigned coros = 61, burst_events = 1 << 18, ring_events = 1 << 20;
constexpr std::uint64_t before = ring_events / burst_events + 1;
constexpr std::uint64_t pause_ns = 100000000;

/* The mean time of an event, but for the slowest hundredth of the rounds, in which the system did something else. */
template <class Base> static double measure(std::uint64_t bursts)
{
	std::array<std::coroutine_handle<>, coros> all;
	for (auto &handle : all)
		handle = suspend_for_ever<Base>().handle;
	std::vector<std::uint64_t> round_ns;
	round_ns.reserve(bursts * burst_events / 2 / coros);
	for (std::uint64_t i = 0; i < before + bursts; i++) {
		clock_sleep(pause_ns);
		std::uint64_t start_ns = ctp_clock_ns();
		for (unsigned round = 0; round < burst_events / 2 / coros; round++) {
			for (auto handle : all)
				handle.resume();
			std::uint64_t stop_ns = ctp_clock_ns();
			if (i >= before)
				round_ns.push_back(stop_ns - start_ns);
			start_ns = stop_ns;
		}
	}
	for (auto handle : all)
		handle.destroy();

	std::sort(round_ns.begin(), round_ns.end());
	round_ns.resize(round_ns.size() - round_ns.size() / 100);
	std::uint64_t sum_ns = 0;
	for (auto ns : round_ns)
		sum_ns += ns;
	return static_cast<double>(sum_ns) / static_cast<double>(round_ns.size()) / (2 * coros);
}

int main(int argc, char **argv)
{
	std::uint64_t bursts = (argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10000000) / burst_events + 1;
	double without_ns = measure<untouched>(bursts), with_ns = measure<ctp::promise>(bursts);
	std::printf("%s %.3f\n", ctp_traced() ? "cxx_ns" : "cxx_untraced_ns", with_ns - without_ns);
	return std::fflush(stdout) ? 1 : 0;
}
