/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* version.c - see version.h. */
#include "base/version.h"

const char *ctp_version(void) { return CTP_VERSION; }
