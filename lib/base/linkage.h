/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * linkage.h - what a header of the library declares has C's linkage, in C++ too.
 */
#ifndef CTP_LINKAGE_H
#define CTP_LINKAGE_H

#ifdef __cplusplus
#define CTP_C_BEGIN extern "C" {
#define CTP_C_END }
#else
#define CTP_C_BEGIN
#define CTP_C_END
#endif

#endif
