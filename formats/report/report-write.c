/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* report-write.c - one report in several forms. */
#include "report/report-write.h"

#include <assert.h>

#include "report/report-annotations.h"
#include "report/report-json.h"
#include "report/report-junit.h"
#include "report/report-markdown.h"
#include "report/report-sarif.h"
#include "report/report-text.h"

static void write_json(struct ctp_output *out, const struct ctp_report *r, const struct ctp_report_style *style)
{
	(void)style;
	ctp_report_json(out, r, false);
	ctp_output_put(out, "\n", 1);
}

void ctp_report_write(struct ctp_output *out, const struct ctp_report *r, const struct ctp_report_style *style)
{
	typedef void writer(struct ctp_output *out, const struct ctp_report *r, const struct ctp_report_style *style);
	static writer *const writers[CTP_REPORT_FORMATS] = {
		[CTP_REPORT_AS_TEXT] = ctp_report_text, [CTP_REPORT_AS_MARKDOWN] = ctp_report_markdown,
		[CTP_REPORT_AS_JSON] = write_json, [CTP_REPORT_AS_BRIEF] = ctp_report_brief,
		[CTP_REPORT_AS_SARIF] = ctp_report_sarif, [CTP_REPORT_AS_JUNIT] = ctp_report_junit,
		[CTP_REPORT_AS_GITHUB] = ctp_report_github, [CTP_REPORT_AS_GITLAB] = ctp_report_gitlab,
	};
	assert(style->format < CTP_REPORT_FORMATS);
	if (writers[style->format])
		writers[style->format](out, r, style);
}

/* --- files ---------------------------------------------------------------------------------------------------------------- */

static void fail(struct ctp_report_files *files, const struct ctp_err *err)
{
	files->failed = true;
	ctp_notice_say(&files->notice, "%s", err->text);
}

void ctp_report_files_open(struct ctp_report_files *files)
{
	struct ctp_err err;
	for (unsigned i = 0; i < files->count; i++) {
		struct ctp_report_file *file = &files->file[i];
		file->open = ctp_output_create(&file->out, file->path, false, false, &err) == CTP_OK;
		if (!file->open)
			fail(files, &err);
	}
}

void ctp_report_files_write(struct ctp_report_files *files, const struct ctp_report *r, const struct ctp_report_style *style)
{
	struct ctp_report_style own = *style;
	struct ctp_err err;
	own.colour = false;
	for (unsigned i = 0; i < files->count; i++) {
		struct ctp_report_file *file = &files->file[i];
		if (!file->open)
			continue;
		own.format = file->format;
		ctp_report_write(&file->out, r, &own);
		file->open = false;
		if (ctp_output_close(&file->out, &err))
			fail(files, &err);
	}
}

void ctp_report_files_abandon(struct ctp_report_files *files)
{
	for (unsigned i = 0; i < files->count; i++) {
		if (files->file[i].open)
			ctp_output_abandon(&files->file[i].out);
		files->file[i].open = false;
	}
}
