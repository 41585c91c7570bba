/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* spread.c - the salt. */
#include "base/spread.h"

#include <sys/random.h>

uint64_t ctp_spread_salt(void)
{
	uint64_t salt;
	if (getrandom(&salt, sizeof salt, GRND_NONBLOCK) != sizeof salt)
		salt = UINT64_C(0x9e3779b97f4a7c15); /* so early after the system's start there is no better one */
	return salt | 1;
}
