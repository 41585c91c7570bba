/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * linkage.h - what a header of the library declares has C's linkage, in C++ too, and libctp.so exports it.
 */
#ifndef CTP_LINKAGE_H
#define CTP_LINKAGE_H

#ifdef __cplusplus
#define CTP_C_BEGIN _Pragma("GCC visibility push(default)") extern "C" {
#define CTP_C_END } _Pragma("GCC visibility pop")
#else
#define CTP_C_BEGIN _Pragma("GCC visibility push(default)")
#define CTP_C_END _Pragma("GCC visibility pop")
#endif

#endif
