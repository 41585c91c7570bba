/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * version.h - which libctp a program runs with.
 *
 * Until version 1.0 each minor version may change what these headers declare, and the number in the library's soname with it; a
 * patch version changes neither. doc/CHANGES says what 1.0 will promise.
 */
#ifndef CTP_BASE_VERSION_H
#define CTP_BASE_VERSION_H

#include "base/linkage.h"

CTP_C_BEGIN

/* "0.1.0": of the library that is linked, or loaded, which may be newer than these headers. */
const char *ctp_version(void);

CTP_C_END

#endif
