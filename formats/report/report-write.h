/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * report-write.h - writes a report in any of its forms: to an output, and to files beside it.
 *
 * A file appears when it is whole, and what had its name stays until then. A file that fails is named, and the others are written
 * all the same.
 */
#ifndef CTP_REPORT_WRITE_H
#define CTP_REPORT_WRITE_H

#include "report/report-print.h"
#include "stream/sink.h"

/* Nothing for folded stacks, which are no form of a report. */
void ctp_report_write(struct ctp_output *out, const struct ctp_report *r, const struct ctp_report_style *style);

enum { CTP_REPORT_FILES = 4 };

/* All zeros at first; the caller adds files, each with its format and its path, and says where notices go. */
struct ctp_report_files {
	struct ctp_report_file {
		enum ctp_report_format format;
		const char *path;
		bool open;
		struct ctp_output out; /* while it is open */
	} file[CTP_REPORT_FILES];
	unsigned count;
	struct ctp_notice notice; /* gets a line for each file that fails */
	bool failed;              /* one of them has */
};

/* Before the report is made, so that a wrong path is known at once. */
void ctp_report_files_open(struct ctp_report_files *files);

/* Writes and closes those that are open. style: of the report; the format is that of each file. */
void ctp_report_files_write(struct ctp_report_files *files, const struct ctp_report *r, const struct ctp_report_style *style);

/* In place of a write, or after it: what is open is given up, and leaves no file. */
void ctp_report_files_abandon(struct ctp_report_files *files);

#endif
