/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* ctp-probe.c - the probe of ctp.h as a library, for programs whose files are compiled with CTP_LIBRARY. */
#define CTP_IMPLEMENTATION
#include "ctp.h"
