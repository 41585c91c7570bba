/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * report-place.h - the parts of a place: programs that show findings in a source want its file, its line and its function apart.
 */
#ifndef CTP_REPORT_PLACE_H
#define CTP_REPORT_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Pointers are into the text that was split, and the bytes of the file and of the function are those of the traced program. */
struct ctp_report_place {
	const char *file;
	size_t file_bytes;
	uint64_t line;
	const char *function; /* null: not known */
};

/* Splits FILE:LINE:FUNCTION or FILE:LINE. False: the text is null, or has no file and no line that a source can have; line is 0. */
bool ctp_report_place(struct ctp_report_place *to, const char *text);

#endif
