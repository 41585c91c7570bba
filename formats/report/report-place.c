/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* report-place.c - splits the text of a place. */
#include "report/report-place.h"

#include <string.h>

#include "analyse/report.h"

bool ctp_report_place(struct ctp_report_place *to, const char *text)
{
	*to = (struct ctp_report_place){.file = text};
	to->line = ctp_report_line(text, &to->file_bytes);
	if (!to->line || to->line > INT32_MAX || !to->file_bytes) {
		*to = (struct ctp_report_place){0};
		return false;
	}
	const char *function = strchr(text + to->file_bytes + 1, ':');
	to->function = function && function[1] ? function + 1 : NULL;
	return true;
}
