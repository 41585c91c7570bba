/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* demangle.c - tries a symbol as each kind of name; a symbol of no kind is shown as it stands. */
#include "symbols/demangle.h"

#include <string.h>

/* The end of the name, where a compiler's suffix begins. */
static size_t without_suffix(const char *symbol)
{
	static const char *const suffixes[] = {".actor",  ".destroy", ".resume", ".cleanup", ".cold",
	                                       ".constprop.", ".isra.", ".part.", ".lto_priv.", ".llvm."};
	const char *end = symbol + strlen(symbol), *mark = strstr(symbol, " (."); /* clang's for people: "f (.resume)" */
	if (mark && mark > symbol)
		end = mark;
	for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
		const char *at = strstr(symbol, suffixes[i]);
		if (at && at > symbol && at < end)
			end = at;
	}
	return (size_t)(end - symbol);
}

void ctp_demangle(const char *symbol, char to[CTP_DEMANGLED_MAX])
{
	static bool (*const kinds[])(struct ctp_demangle *) = {ctp_demangle_rust_legacy, ctp_demangle_rust, ctp_demangle_cxx};
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		struct ctp_demangle d = {.begin = symbol, .p = symbol, .end = symbol + strlen(symbol), .to = to};
		to[0] = '\0';
		if (kinds[i](&d) && !d.failed && d.len)
			return;
	}
	size_t len = without_suffix(symbol);
	len = len < CTP_DEMANGLED_MAX ? len : CTP_DEMANGLED_MAX - 1;
	memcpy(to, symbol, len);
	to[len] = '\0';
}
