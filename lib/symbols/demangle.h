/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * demangle.h - the name of a function as its source has it, from the name of its symbol.
 *
 * A name says where the function is and what it is called: namespaces, types, the function. Parameters, template and generic
 * arguments and the hash that Rust appends are left out, and so is what compilers add when they cut a function up
 * (".actor" and ".resume" of coroutines, ".cold", ".constprop.0"):
 *
 *	_ZN3net7channelIiE4sendEOi                      net::channel::send
 *	_Z6handlePZ6handleiE15_Z6handlei.Frame.actor     handle
 *	_ZN6server6handle17h0123456789abcdefE            server::handle
 *	_RNCNvCs1_6server6handle0                        server::handle::{closure#0}
 *
 * The names come from files that anybody may have made: each is gone through once, in bounded depth and steps.
 */
#ifndef CTP_DEMANGLE_H
#define CTP_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CTP_DEMANGLED_MAX = 512 }; /* bytes, with the NUL; a longer name is not understood */

/* A symbol that is no mangled name, or is not understood, is copied, cut to fit, without a compiler's suffix. */
void ctp_demangle(const char *symbol, char to[CTP_DEMANGLED_MAX]);

/* --- between the parts --------------------------------------------------------------------------------------------------- */

/* A mangled name being read. A failure stays. */
struct ctp_demangle {
	const char *begin, *p, *end;
	char *to;
	size_t len;
	unsigned depth, steps;
	unsigned quiet; /* not 0: parts are read and not shown */
	bool failed;
};

enum { CTP_DEMANGLE_DEPTH = 200, CTP_DEMANGLE_STEPS = 1 << 16 };

/* Each begins at the name's first byte. True: the name is of this kind and was understood. */
bool ctp_demangle_cxx(struct ctp_demangle *d);
bool ctp_demangle_rust_legacy(struct ctp_demangle *d);
bool ctp_demangle_rust(struct ctp_demangle *d);

static inline bool ctp_demangle_fail(struct ctp_demangle *d)
{
	d->failed = true;
	return false;
}

/* Takes a part that can hold others; depth and steps are bounded. */
bool ctp_demangle_part(struct ctp_demangle *d, bool (*take)(struct ctp_demangle *));

/* Takes what is not shown. */
bool ctp_demangle_quietly(struct ctp_demangle *d, bool (*take)(struct ctp_demangle *));

static inline char ctp_demangle_peek(const struct ctp_demangle *d) { return d->failed || d->p == d->end ? '\0' : *d->p; }

/* Takes the text if it comes next. */
bool ctp_demangle_take(struct ctp_demangle *d, const char *text);

/* A decimal number. */
bool ctp_demangle_number(struct ctp_demangle *d, size_t *n);

void ctp_demangle_put(struct ctp_demangle *d, const char *text, size_t len);
void ctp_demangle_puts(struct ctp_demangle *d, const char *text);
void ctp_demangle_put_number(struct ctp_demangle *d, uint64_t n);

/* Between two parts of a path. */
void ctp_demangle_join(struct ctp_demangle *d);

#endif
