/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* lookup.c - debug information is read in a child; a file that kills the child loses its own answers, and no others. */
#include <limits.h>

#include "symbols/module.h"

#ifdef HAVE_LIBDW
/* Simulated faults of libdw in the child, at offsets that no file has. */
enum { SPINS = -1, OVERFLOWS = -2, TAKES_ALL = -3 };
static bool find(struct ctp_module *m, const struct ctp_module_at *at, struct ctp_module_place *place);
#define ctp_module_find find
#endif
#include "symbols/lookup.c" /* for its limits */
#undef ctp_module_find

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "tap.h"

int probe_me(int x);
__attribute__((noinline)) int probe_me(int x) { return x * 3 + 1; }

#ifdef HAVE_LIBDW
enum { ENOUGH_MIB = 2 * (CTP_LOOKUP_BYTES >> 20) }; /* the test tries no more */

static unsigned nest(volatile unsigned *up)
{
	volatile unsigned here[64] = {*up};
	return *up == UINT_MAX ? 0 : nest(here) + here[1];
}

static bool find(struct ctp_module *m, const struct ctp_module_at *at, struct ctp_module_place *place)
{
	volatile unsigned n = 0;
	while (at->offset == (uint64_t)SPINS)
		n++;
	if (at->offset == (uint64_t)OVERFLOWS)
		n = nest(&n);
	if (at->offset != (uint64_t)TAKES_ALL)
		return ctp_module_find(m, at, place);
	*place = (struct ctp_module_place){0};
	for (char *volatile p; place->line < ENOUGH_MIB && (p = malloc(1 << 20)); place->line++)
		p[0] = 1;
	return true;
}

static char self[PATH_MAX];
static struct ctp_module_want self_want, copy_want;

/* Where probe_me is in this program's file. */
static bool locate(struct ctp_module_at *at)
{
	char line[PATH_MAX + 200];
	unsigned long start, stop, offset;
	uintptr_t addr = (uintptr_t)probe_me;
	FILE *f = fopen("/proc/self/maps", "r");
	*at = (struct ctp_module_at){.page = 4096};
	bool found = false;
	while (f && !found && fgets(line, sizeof line, f)) {
		found = sscanf(line, "%lx-%lx %*s %lx", &start, &stop, &offset) == 3 && addr >= start && addr < stop;
		at->offset = at->first = offset;
		at->offset += addr - start;
	}
	if (f)
		fclose(f);
	return found;
}

static bool copy(const char *from, const char *to)
{
	char bytes[65536];
	FILE *in = fopen(from, "r"), *out = fopen(to, "w");
	size_t n;
	while (in && out && (n = fread(bytes, 1, sizeof bytes, in)))
		fwrite(bytes, 1, n, out);
	bool ok = in && out && !ferror(in) && !ferror(out);
	if (in)
		fclose(in);
	return out && !fclose(out) && ok;
}

static int descriptors(void)
{
	int n = 0;
	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static bool knows(struct ctp_lookup *l, uint32_t number, const struct ctp_module_want *want, const struct ctp_module_at *at)
{
	struct ctp_module_place place;
	return ctp_lookup_find(l, number, want, at, &place) && strstr(place.function, "probe_me");
}

static void test_truncated(struct ctp_lookup *l, const struct ctp_module_at *at, const char *path)
{
	ok(knows(l, 0, &self_want, at), "a function of this program is found");
	ok(copy(self, path) && knows(l, 1, &copy_want, at), "a function of its copy is found");
	pid_t first = l->child;
	ok(!truncate(path, 4096), "the copy is cut short while it is mapped");
	struct ctp_module_at other = *at;
	struct ctp_module_place place = {.line = 7};
	other.offset += 4;
	other.within = true;
	ok(!ctp_lookup_find(l, 1, &copy_want, &other, &place) && !place.line && !place.function[0],
	   "then the copy's functions are not found");
	is_u64(l->deaths, 1, "a child has died");
	ok(!knows(l, 1, &copy_want, at), "they are not found later either");
	ok(knows(l, 0, &self_want, at) && l->child != first, "another child answers for the other file");
	is_u64(l->deaths, 1, "that child lives");
}

static void test_limit(struct ctp_lookup *l, const struct ctp_module_at *at)
{
	struct ctp_module_at bad = *at;
	unsigned deaths = l->deaths;
	bad.offset = (uint64_t)SPINS;
	l->module_ns = 1000 * CTP_SECOND_NS;
	l->module_clock_ns = CTP_SECOND_NS / 10;
	alarm(100); /* ends the test, if nothing but CPU time would end the child */
	ok(!knows(l, 3, &self_want, &bad) && l->deaths == deaths + 1 && l->modules[3].dead, "a child that takes too long by the clock dies");
	alarm(0);
	ok(l->clock_ns >= CTP_SECOND_NS / 10 && !l->modules[3].cpu_ns, "it dies however little CPU time it has used");
	l->module_clock_ns = CTP_CONFINED_CLOCK_S * CTP_SECOND_NS;
	deaths = l->deaths;
	l->module_ns = CTP_SECOND_NS;
	ok(!knows(l, 4, &self_want, &bad) && l->deaths == deaths + 1, "a child that spins dies");
	bad.offset = (uint64_t)OVERFLOWS;
	ok(!knows(l, 5, &self_want, &bad) && l->deaths == deaths + 2, "a child whose stack overflows dies");
	bad.offset = (uint64_t)TAKES_ALL;
	struct ctp_module_place got = {.line = 0};
	bool answers = ctp_lookup_find(l, 6, &self_want, &bad, &got);
	note("it got %u MiB", got.line);
	ok(!answers || (got.line && got.line <= CTP_LOOKUP_BYTES >> 20), "a child that would take all memory does not get it");
	l->module_ns = 1;
	knows(l, 2, &self_want, at);
	ok(l->modules[2].dead, "a module that has used up its time is not read again");
	l->module_ns = CTP_LOOKUP_MODULE_S * CTP_SECOND_NS;
	l->cpu_ns = CTP_LOOKUP_TOTAL_S * CTP_SECOND_NS;
	ok(!knows(l, 0, &self_want, at), "nothing is found once all CPU time is used up");
	l->cpu_ns = 0;
	uint64_t clock_ns = l->clock_ns;
	l->clock_ns = CTP_LOOKUP_TOTAL_S * CTP_SECOND_NS;
	ok(!knows(l, 0, &self_want, at), "nothing is found once all time by the clock is used up");
	l->clock_ns = clock_ns;
	ok(knows(l, 0, &self_want, at), "functions are found while there is time left");
	for (unsigned i = 0; i < 3 * CTP_LOOKUP_DEATHS; i++) {
		if (l->fd >= 0)
			kill(l->child, SIGKILL);
		knows(l, 7 + i, &self_want, at);
	}
	is_u64(l->deaths, CTP_LOOKUP_DEATHS, "the number of children that may die is limited");
	ok(l->fd < 0, "after that there is no child");
}

int main(void)
{
	struct ctp_module_at at;
	struct ctp_lookup *l = ctp_lookup_new();
	char path[] = "/tmp/ctp-lookup-XXXXXX";
	int fd = mkstemp(path), before = descriptors();
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	if (!l || fd < 0 || n <= 0)
		abort();
	self_want = (struct ctp_module_want){.path = self};
	copy_want = (struct ctp_module_want){.path = path};
	ok(locate(&at), "the function's file is found");
	test_truncated(l, &at, path);
	is_u64((uint64_t)descriptors(), (uint64_t)before + 1, "the child takes one descriptor");
	test_limit(l, &at);
	ctp_lookup_forget(l);
	l->deaths = 0;
	ok(knows(l, 1, &self_want, &at), "a number that was forgotten can be used for another file");
	ctp_lookup_free(l);
	is_u64((uint64_t)descriptors(), (uint64_t)before, "no descriptor is left open");
	unlink(path);
	ok(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD, "no child is left");
	return done_testing();
}
#else
int main(void)
{
	skip_all("built without libdw");
}
#endif
