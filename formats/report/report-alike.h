/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* report-alike.h - objects that differ in nothing but their addresses, as one. */
#ifndef CTP_REPORT_ALIKE_H
#define CTP_REPORT_ALIKE_H

#include "report/report-print.h"

/* One or several objects; and how many coroutines wait for them, of which one has waited longest. */
struct ctp_alike {
	const struct ctp_report_object *first;
	uint64_t waiters, longest_ns;
	uint32_t count;
};

/*
 * Objects of one kind with one name, or created at one place, that are in the same state, if no coroutine holds them; and those without
 * name and place for which none waits. apart: each is alone. Those with the most waiters come first. Returns how many there are.
 */
uint32_t ctp_report_alike(struct ctp_alike to[CTP_REPORT_OBJECTS], const struct ctp_report_section *s, bool apart);

/* "queue 'write queue' x 32". */
const char *ctp_alike_title(char to[CTP_PRINT_LABEL_MAX], const struct ctp_alike *a);

#endif
