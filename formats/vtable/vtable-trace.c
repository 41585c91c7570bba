/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* vtable-trace.c - a trace as the tables of the SQLite extension read it. */
#include "vtable/vtable-trace.h"

SQLITE_EXTENSION_INIT3

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/visible.h"

int ctp_vtable_fail(char **why, const char *fmt, ...)
{
	char text[sizeof(struct ctp_err)], shown[2 * sizeof text];
	va_list args;
	va_start(args, fmt);
	sqlite3_vsnprintf(sizeof text, text, fmt, args);
	va_end(args);
	ctp_visible(shown, sizeof shown, text); /* a shell prints it on a terminal */
	sqlite3_free(*why);
	*why = sqlite3_mprintf("%s", shown);
	return SQLITE_ERROR;
}

static void keep_first(void *arg, const char *text)
{
	struct ctp_vtable_trace *t = arg;
	if (!t->said.text[0])
		snprintf(t->said.text, sizeof t->said.text, "%s", text);
}

int ctp_vtable_trace_open(struct ctp_vtable_trace *t, const char *path, char **why)
{
	struct ctp_err err;
	struct stat st;
	if (!path)
		return ctp_vtable_fail(why, "which file? Name it as in: select * from ctp('t.ctp')");
	/* A table may be of a database from elsewhere, and a FIFO or a terminal would hold who looks at it. */
	if (!stat(path, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return ctp_vtable_fail(why, "%s: is no regular file; a table reads its file again and again", path);
	memset(t, 0, sizeof *t);
	t->notice = (struct ctp_notice){ keep_first, t };
	t->path = sqlite3_mprintf("%s", path);
	if (!t->path)
		return SQLITE_NOMEM;
	if (ctp_input_open(&t->in, t->path, &err)) {
		sqlite3_free(t->path);
		return ctp_vtable_fail(why, "%s", err.text);
	}
	t->reader = ctp_reader_new(&t->in, &t->notice, &err);
	if (t->reader)
		return SQLITE_OK;
	ctp_input_close(&t->in);
	sqlite3_free(t->path);
	return SQLITE_NOMEM;
}

void ctp_vtable_trace_close(struct ctp_vtable_trace *t)
{
	if (!t->reader)
		return;
	ctp_reader_free(t->reader);
	ctp_input_close(&t->in);
	sqlite3_free(t->path);
	t->reader = NULL;
}

int ctp_vtable_trace_check(const struct ctp_vtable_trace *t, const struct ctp_reader_stats *stats, char **why)
{
	if (stats->sections)
		return SQLITE_OK;
	return ctp_vtable_fail(why, "%s: not a raw stream: %s", t->in.name, t->in.harmed ? t->in.err.text : t->said.text);
}

int ctp_vtable_trace_next(struct ctp_vtable_trace *t, struct ctp_item *item, char **why)
{
	struct ctp_err err;
	enum ctp_status status = CTP_OK;
	if (!t->batch.n) {
		status = ctp_reader_next(t->reader, item, &err);
		if (!status && item->kind == CTP_ITEM_RECORDS)
			t->batch = item->batch;
	}
	switch (status) {
	case CTP_OK:
		if (t->batch.n) {
			item->batch = (struct ctp_batch){ .rec = t->batch.rec++, .n = 1 };
			t->batch.n--;
		}
		return SQLITE_ROW;
	case CTP_EOF: {
		int rc = ctp_vtable_trace_check(t, ctp_reader_stats(t->reader), why);
		return rc ? rc : SQLITE_DONE;
	}
	default:
		return ctp_vtable_fail(why, "%s", err.text);
	}
}

int ctp_vtable_trace_plan(sqlite3_index_info *info, int column)
{
	info->idxNum = 0;
	info->estimatedCost = 1e99;
	for (int i = 0; i < info->nConstraint; i++) {
		const struct sqlite3_index_constraint *c = &info->aConstraint[i];
		if (c->iColumn != column || c->op != SQLITE_INDEX_CONSTRAINT_EQ)
			continue;
		if (!c->usable)
			return SQLITE_CONSTRAINT;
		info->aConstraintUsage[i].argvIndex = info->idxNum = 1;
		info->aConstraintUsage[i].omit = 1;
		info->estimatedCost = CTP_SQLITE_PASS;
		break;
	}
	return SQLITE_OK;
}
