/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * plain-locale.h - a decimal point is a point, whatever locale a program that uses the library has set.
 */
#ifndef CTP_PLAIN_LOCALE_H
#define CTP_PLAIN_LOCALE_H

#include <locale.h>

/* The calling thread has the locale "C" from the first to the second; the other threads keep theirs. */
locale_t ctp_plain_locale_begin(void);
static inline void ctp_plain_locale_end(locale_t before) { uselocale(before); }

#endif
