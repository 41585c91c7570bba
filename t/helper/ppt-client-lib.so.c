/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* ppt-client-lib.so.c - a library with a ppt buffer of its own in it, for ppt-client to load: Lib, 36 bytes of JSON in slots of 40. */
#include "ppt-byhand.h"

#define SYMBOL __attribute__((used, visibility("default")))

extern int _ppt_stat_Lib, _ppt_hmem_Lib;
extern const char *_ppt_json_Lib;
struct byhand *ppt_client_lib(void);
void ppt_client_lib_save(int n);

SYMBOL int _ppt_stat_Lib, _ppt_hmem_Lib;
SYMBOL const char *_ppt_json_Lib = BYHAND_JSON("Lib", 64, "", "ETimeClockMonotonicRaw", "",
	BYHAND_MARK);

static struct byhand lib = { .name = "Lib", .hmem = &_ppt_hmem_Lib, .stride = 40, .size = 36, .lock = PTHREAD_RWLOCK_INITIALIZER, .next = 1 };

SYMBOL struct byhand *ppt_client_lib(void)
{
	return &lib;
}

SYMBOL void ppt_client_lib_save(int n)
{
	struct byhand_mark m = { .n = n, .x = n / 2.0, .at = byhand_now(CLOCK_MONOTONIC_RAW) };
	byhand_save(&lib, &m);
}
