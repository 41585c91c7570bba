/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * rawclock.c - pairs, and the lines between them.
 */
#include "base/clock.h"
#include "base/fd.h"
#include "shm/rawclock.h"

#include <string.h>

enum { TRIES = 3 }; /* at a pair: an interrupt between two readings makes it a bad one */

#if defined __aarch64__
static const char source[] = "arch_sys_counter";

static uint64_t counter(void)
{
	uint64_t raw;
	__asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(raw)::"memory"); /* isb: not before what stands before it */
	return raw;
}

uint64_t ctp_rawclock_hz(void)
{
	uint64_t hz;
	__asm__("mrs %0, cntfrq_el0" : "=r"(hz));
	return hz;
}
#elif defined __x86_64__
static const char source[] = "tsc";

static uint64_t counter(void)
{
	uint32_t low, high;
	__asm__ volatile("lfence; rdtsc" : "=a"(low), "=d"(high)::"memory");
	return (uint64_t)high << 32 | low;
}

/* Measured, for a millisecond: the processor does not say it in a way that can be relied on. */
uint64_t ctp_rawclock_hz(void)
{
	uint64_t raw, ns, now_raw, now_ns;
	ctp_rawclock_pair(&raw, &ns);
	do
		ctp_rawclock_pair(&now_raw, &now_ns);
	while (now_ns - ns < 1000000);
	return (uint64_t)((unsigned __int128)(now_raw - raw) * 1000000000 / (now_ns - ns));
}
#else
static const char source[] = "";
static uint64_t counter(void) { return 0; }
uint64_t ctp_rawclock_hz(void) { return 0; }
#endif

bool ctp_rawclock_usable(void)
{
	char name[32];
	ctp_fd_read_file(AT_FDCWD, "/sys/devices/system/clocksource/clocksource0/current_clocksource", name, sizeof name);
	name[strcspn(name, "\n")] = '\0';
	return *source && !strcmp(name, source);
}

struct reading {
	uint64_t raw, ns, apart;
};

static struct reading read_both(void)
{
	uint64_t before = counter(), ns = ctp_clock_ns(), apart = counter() - before;
	return (struct reading){before + apart / 2, ns, apart};
}

uint64_t ctp_rawclock_pair(uint64_t *raw, uint64_t *ns)
{
	struct reading best = read_both();
	for (int i = 1; i < TRIES; i++) {
		struct reading next = read_both();
		best = next.apart < best.apart ? next : best;
	}
	*raw = best.raw;
	*ns = best.ns;
	return best.apart / 2;
}

/* --- the lines ------------------------------------------------------------------------------------------------------------ */

static struct ctp_rawline line(uint64_t raw, uint64_t ns, uint64_t stop_raw, uint64_t stop_ns)
{
	/* Rounded down, so that no time on the line is later than its end; where the counter stood still, it is steep. */
	unsigned __int128 slope = ((unsigned __int128)(stop_ns - ns) << 32) / (stop_raw - raw);
	return (struct ctp_rawline){raw, ns, slope < UINT64_MAX ? (uint64_t)slope : UINT64_MAX, stop_raw, stop_ns};
}

static bool sane(const struct ctp_rawline *l, uint64_t hz)
{
	unsigned __int128 want = ((unsigned __int128)1000000000 << 32) / hz;
	return l->slope > want - want / 100 && l->slope < want + want / 100;
}

void ctp_rawclock_init(struct ctp_rawclock *c, uint64_t made_raw, uint64_t made_ns)
{
	uint64_t raw, ns, hz = ctp_rawclock_hz();
	*c = (struct ctp_rawclock){.count = 0};
	ctp_rawclock_pair(&raw, &ns);
	hz = hz ? hz : 1000000000;
	if (made_raw < raw && made_ns < ns) {
		c->far = line(made_raw, made_ns, raw, ns);
		bool close = ns - made_ns < 1000000; /* then what the two say about speed tells nothing */
		if (close || sane(&c->far, hz))
			return;
	}
	uint64_t second = raw < hz ? raw : hz, second_ns = (uint64_t)((unsigned __int128)second * 1000000000 / hz);
	second_ns = second_ns < ns ? second_ns : ns;
	c->far = line(raw - second, ns - second_ns, raw, ns);
}

static const struct ctp_rawline *nth(const struct ctp_rawclock *c, unsigned n)
{
	return &c->lines[(c->first + n) % CTP_RAWCLOCK_LINES];
}

const struct ctp_rawline *ctp_rawclock_newest(const struct ctp_rawclock *c)
{
	return c->count ? nth(c, c->count - 1) : &c->far;
}

void ctp_rawclock_add(struct ctp_rawclock *c, uint64_t raw, uint64_t ns)
{
	const struct ctp_rawline *last = ctp_rawclock_newest(c);
	if ((int64_t)(raw - last->stop_raw) <= 0)
		return;
	struct ctp_rawline next = line(last->stop_raw, last->stop_ns, raw, ns > last->stop_ns ? ns : last->stop_ns);
	if (c->count == CTP_RAWCLOCK_LINES) {
		const struct ctp_rawline *oldest = nth(c, 0);
		c->far = line(c->far.raw, c->far.ns, oldest->stop_raw, oldest->stop_ns);
		c->first++;
		c->count--;
	}
	c->lines[(c->first + c->count++) % CTP_RAWCLOCK_LINES] = next;
}

uint64_t ctp_rawclock_take(struct ctp_rawclock *c)
{
	uint64_t raw, ns, apart = ctp_rawclock_pair(&raw, &ns);
	ctp_rawclock_add(c, raw, ns);
	uint64_t error_ns = (uint64_t)((unsigned __int128)apart * c->far.slope >> 32);
	c->error_ns = error_ns > c->error_ns ? error_ns : c->error_ns;
	return ns;
}

const struct ctp_rawline *ctp_rawclock_line(const struct ctp_rawclock *c, uint64_t raw)
{
	for (unsigned n = c->count; n-- > 0;) {
		const struct ctp_rawline *l = nth(c, n);
		if ((int64_t)(raw - l->raw) >= 0)
			return l;
	}
	return &c->far;
}
