/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* plain-locale.c - see plain-locale.h. */
#include "base/plain-locale.h"

locale_t ctp_plain_locale_begin(void)
{
	static locale_t plain; /* made once, and kept */
	locale_t mine = __atomic_load_n(&plain, __ATOMIC_ACQUIRE); /* with the release of the thread that has made it */
	if (!mine) {
		locale_t none = (locale_t)0;
		mine = newlocale(LC_ALL_MASK, "C", none);
		if (mine && !__atomic_compare_exchange_n(&plain, &none, mine, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
			freelocale(mine); /* another thread was first */
			mine = none;
		}
	}
	return uselocale(mine); /* 0, without memory: no change */
}
