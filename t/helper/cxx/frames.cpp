/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * frames.cpp - coroutines that give the address of their frame where they are suspended, and no place in the source: with
 * version 1 of the protocol, written by hand from its document, or with an argument as the probe does. It stays as it is until
 * its input ends.
 */
#include "ctp.hpp"
#include "task.hpp"

#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <memory>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

/* Where a coroutine is suspended, as either sort of probe says it. */
struct teller {
	virtual void suspend(std::uint64_t id, std::uint64_t addr) = 0;
	virtual void die() = 0;
	virtual ~teller() = default;
};

class version_1 : public teller {
	static inline char *base;
	volatile char *station = nullptr;

	static volatile std::uint64_t &word(volatile char *at) { return *reinterpret_cast<volatile std::uint64_t *>(at); }

public:
	static void open()
	{
		std::size_t bytes = 1024 * (1 + std::strtoul(std::getenv("CTP_MAX_STATIONS"), nullptr, 10));
		int fd = ::open(std::getenv("CTP_SHM_PATH"), O_RDWR);
		base = static_cast<char *>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
		close(fd);
	}
	void suspend(std::uint64_t id, std::uint64_t addr) override
	{
		auto *count = reinterpret_cast<std::uint32_t *>(base + 0x10);
		station = base + 1024 + 1024 * __atomic_fetch_add(count, 1, __ATOMIC_SEQ_CST);
		word(station) = id;
		word(station + 0x08) = ctp_now_ns_();
		word(station + 0x40 + 0x00) = ctp_now_ns_();
		word(station + 0x40 + 0x08) = static_cast<std::uint64_t>(syscall(SYS_gettid));
		word(station + 0x40 + 0x10) = addr;
		__atomic_store_n(&word(station + 0x40 + 0x18), 2, __ATOMIC_RELEASE);
	}
	void die() override { station[0x10] = 1; }
};

class ringed : public teller {
	ctp_coro co = {};

public:
	void suspend(std::uint64_t id, std::uint64_t addr) override
	{
		ctp_coro_new_in(&co, id, 0);
		ctp_coro_suspend_in(&co, reinterpret_cast<void *>(addr), 0);
	}
	void die() override { ctp_coro_death(&co); }
};

using task = task_of<no_base>;

[[gnu::noinline]] static task waits_for_a_reply() { co_await std::suspend_always(); }
[[gnu::noinline]] static task waits_for_a_lock() { co_await std::suspend_always(); }
[[gnu::noinline]] static task is_gone() { co_await std::suspend_always(); }

/* A place in the code that has the address of code in it: no frame all the same. */
asm(".text\n.balign 8\nplace_in_code: .quad place_in_code\n.previous");
extern "C" const char place_in_code[];

int main(int argc, char **)
{
	bool rings = argc > 1;
	if (!rings)
		version_1::open();
	std::vector<std::unique_ptr<teller>> all;
	auto tell = [&](std::uint64_t id, const void *addr) {
		all.push_back(rings ? std::unique_ptr<teller>(new ringed) : std::unique_ptr<teller>(new version_1));
		all.back()->suspend(id, reinterpret_cast<std::uintptr_t>(addr));
	};
	static std::uint64_t no_frame[2] = {1234567, 0};
	tell(1, waits_for_a_reply().h.address());
	tell(2, place_in_code);
	tell(3, no_frame);
	tell(4, &no_frame[1]);
	tell(5, reinterpret_cast<const void *>(0x1000)); /* no memory */
	tell(6, reinterpret_cast<const char *>(no_frame) + 1);
	tell(7, reinterpret_cast<const void *>(UINTPTR_MAX - 7));
	task gone = is_gone();
	tell(8, gone.h.address());
	all.back()->die();
	gone.h.destroy(); /* the next one reuses the frame */
	for (std::uint64_t id = 100; id < 300; id++)
		tell(id, id % 3 ? waits_for_a_lock().h.address() : reinterpret_cast<const void *>(id * 4096));
	tell(9, waits_for_a_reply().h.address());
	alarm(60); /* if nobody ever ends our input */
	while (std::getchar() != EOF)
		;
	return 0;
}
