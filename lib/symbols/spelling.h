/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* spelling.h - one spelling for the names of a type, as source, LLVM, and the debug information of several compilers have them. */
#ifndef CTP_SPELLING_H
#define CTP_SPELLING_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The name without struct, class or union, qualifiers of the whole, the number that LLVM adds, a leading ::, and blanks that part no
 * words; numbers have few words, qualifiers come first: `Pair<int, long int> const` is `Pair<int,long>`. A long one is cut. True: the
 * name began with struct, class or union.
 */
bool ctp_spelling(char *to, size_t room, const char *type);

/* Takes the scopes out of a name that is so spelled, also those in template arguments. False: it has none. */
bool ctp_spelling_unscope(char *name);

/* Whether a name is of a number or a pointer, in C, C++ or LLVM: such have no members. */
bool ctp_spelling_is_number(const char *type);

/* Whether the last parts of two names, without template arguments, are the same but for capitals and `_t` or `_s` at their end. */
bool ctp_spelling_is_near(const char *a, const char *b);

#endif
