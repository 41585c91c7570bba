/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * walk.c - a program for valgrind's tools: a list in random order, strides, and accesses that cross lines.
 *
 * It has no libc, so that each run has the same accesses at the same addresses, and no exclusive stores, of which lackey makes endless
 * loops on ARM. The volatile variable has a value so that there is a segment of data: valgrind cannot load a program without.
 */
#include <stdint.h>

static volatile uint64_t seed = 88172645463325252u;
static struct node {
	struct node *next;
	uint64_t payload[5];
} nodes[4096];
static char text[100000];
static uint32_t table[20000];

static uint64_t make_list(void)
{
	uint64_t x = seed;
	for (int i = 0; i < 4096; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		nodes[i].next = &nodes[x % 4096];
		nodes[i].payload[x % 5] = x;
	}
	return x;
}

static uint64_t walk_list(uint64_t sum)
{
	struct node *n = nodes;
	for (int i = 0; i < 20000; i++) {
		sum += n->payload[i % 5]++;
		n = i % 7 ? n->next : &nodes[sum % 4096];
	}
	return sum;
}

static uint64_t cross_lines(uint64_t sum)
{
	for (unsigned i = 1; i + 8 < sizeof text; i += 61) {
		volatile uint64_t *v = (volatile uint64_t *)(text + i);
		sum += *v;
		*v = sum;
	}
	return sum;
}

static long work_once(void)
{
	uint64_t sum = walk_list(make_list());
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < 20000; i += 3)
			table[i] += (uint32_t)i;
	return cross_lines(sum) == 1;
}

#ifndef TIMES
#define TIMES 1
#endif

static long work(void)
{
	long sum = 0;
	for (int i = 0; i < TIMES; i++)
		sum += work_once();
	return sum != 0;
}

void _start(void) __attribute__((noreturn));
void _start(void)
{
	long status = work();
#if defined __x86_64__
	__asm__ volatile("syscall" : : "a"(231), "D"(status));
#elif defined __aarch64__
	register long x0 __asm__("x0") = status, x8 __asm__("x8") = 94;
	__asm__ volatile("svc 0" : : "r"(x0), "r"(x8));
#else
#error "how does a program end here?"
#endif
	for (;;)
		;
}
