/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * tap.h - the part of libtap's interface that these tests use; numbers are compared and shown with 64 bits.
 *
 *	plan(n) or done_testing() at the end; ok, is (strings), is_u64, like a cmp_ok for numbers; diag, note; skip, skip_all.
 */
#ifndef CTP_TAP_H
#define CTP_TAP_H

#include <errno.h> /* program_invocation_short_name */
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int tap_run, tap_failed;

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__ || __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TAP_SANITIZED 1
#else
#define TAP_SANITIZED 0
#endif

/*
 * A test with many cases of one kind, which are slow under sanitizers, tries only each n-th there. make check-all tries all, by the
 * variable EVERY; so does each run without sanitizers.
 */
static inline unsigned tap_stride(unsigned n) { return TAP_SANITIZED && !getenv("EVERY") ? n : 1; }

/* diag is for what went wrong: it goes to stderr, which prove shows. note is for the rest: stdout, shown by prove -v. */
#define diag(...) tap_say(stderr, __VA_ARGS__)
#define note(...) tap_say(stdout, __VA_ARGS__)
static inline void tap_say(FILE *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static inline void tap_say(FILE *f, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	fputs("# ", f);
	vfprintf(f, fmt, ap);
	putc('\n', f);
	fflush(f);
	va_end(ap);
}

static inline bool tap_ok(bool pass, const char *file, int line, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
static inline bool tap_ok(bool pass, const char *file, int line, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	printf("%sok %d - ", pass ? "" : "not ", ++tap_run);
	vprintf(fmt, ap);
	putchar('\n');
	va_end(ap);
	if (!pass) {
		tap_failed++;
		diag("  at %s line %d", file, line);
	}
	fflush(stdout);
	return pass;
}

static inline bool tap_is_u64(uint64_t got, uint64_t want, const char *file, int line, const char *name)
{
	bool pass = tap_ok(got == want, file, line, "%s", name);
	if (!pass)
		diag("  got %" PRIu64 " (0x%" PRIx64 "), expected %" PRIu64 " (0x%" PRIx64 ")", got, got, want, want);
	return pass;
}

static inline bool tap_is(const char *got, const char *want, const char *file, int line, const char *name)
{
	bool pass = tap_ok(got == want || (got && want && !strcmp(got, want)), file, line, "%s", name);
	if (!pass)
		diag("  got \"%s\", expected \"%s\"", got ? got : "(null)", want ? want : "(null)");
	return pass;
}

static inline int done_testing(void)
{
	printf("1..%d\n", tap_run);
	if (!tap_run)
		diag("no test was run");
	return tap_failed || !tap_run;
}

/* A part is not run here. make check lists at its end what is in the file $SKIPPED. */
static inline void skip(const char *why)
{
	const char *path = getenv("SKIPPED");
	FILE *f = path ? fopen(path, "ae") : NULL;
	if (f) {
		fprintf(f, "t/%s: %s\n", program_invocation_short_name, why);
		fclose(f);
	}
	note("skipped: %s", why);
}

static inline void skip_all(const char *why)
{
	printf("1..0 # SKIP %s\n", why);
	skip(why);
	exit(0);
}

#define ok(pass, ...) tap_ok((pass), __FILE__, __LINE__, __VA_ARGS__)
#define is(got, want, name) tap_is((got), (want), __FILE__, __LINE__, (name))
#define is_u64(got, want, name) tap_is_u64((uint64_t)(got), (uint64_t)(want), __FILE__, __LINE__, (name))

#endif
