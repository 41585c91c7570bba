/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * report-doc.h - a report as a document: headings, lists and tables. report-body.c walks over a report and makes the document;
 * report-text.c and report-markdown.c render it.
 *
 * Three sorts of text are in it. Words are the report's own, and are written as they are. Code is a name, a site or a command: it
 * comes from the traced program, and may have any bytes. Prose is a sentence in which such names stand.
 */
#ifndef CTP_REPORT_DOC_H
#define CTP_REPORT_DOC_H

#include "report/report-print.h"

struct ctp_doc;

enum { CTP_DOC_COLUMNS = 16 };

/* Which sections have a column. */
enum ctp_doc_when { CTP_DOC_ALWAYS, CTP_DOC_WITH_CLOCK, CTP_DOC_WITHOUT_CLOCK };

/* Columns with a width come first, then those with texts of any length. */
struct ctp_doc_column {
	const char *title;
	const char *over;   /* a title above this column and its neighbours that have the same; or null */
	int width;          /* on a terminal; 0: a text of any length; below 0: of this width, and aligned to the left */
	enum ctp_doc_when when;
	const char *before; /* of a text but the first: what joins it to the text before, on a terminal */
	const char *after;  /* what ends it there; or null */
	bool words;         /* the cells are words; else, if they have any length, code */
};

struct ctp_doc_table {
	const char *title;
	const struct ctp_doc_column *columns;
	uint32_t ncolumns;
};

/* A renderer. indent: in columns of a terminal. */
struct ctp_doc_ops {
	uint32_t rows, findings, branches; /* shown unless all are wanted */
	const char *gap; /* between a coroutine of a tree and what it does */
	bool shortens;   /* leaves out the folder that all files are in, unless everything is wanted */
	bool names_file; /* in the list of what ran; else only in the heading, if there are several files */
	const char *(*ns)(char to[CTP_PRINT_NUMBER_MAX], uint64_t ns); /* in a cell */
	void (*code)(struct ctp_doc *doc, const char *text);
	void (*title)(struct ctp_doc *doc, const char *which, const char *file, const char *command); /* of a section */
	void (*heading)(struct ctp_doc *doc, const char *text);
	void (*finding)(struct ctp_doc *doc, uint32_t number, enum ctp_certainty certainty, const char *title, const char *rule);
	void (*members)(struct ctp_doc *doc, const struct ctp_finding *finding);
	void (*item)(struct ctp_doc *doc, unsigned indent, unsigned depth); /* of a list; a newline ends it */
	void (*sentence)(struct ctp_doc *doc, unsigned indent, const char *label, const char *prose); /* an item; label: "next: " */
	void (*paragraph)(struct ctp_doc *doc, unsigned indent, const char *text);
	void (*table)(struct ctp_doc *doc, const struct ctp_doc_table *table);
	void (*row)(struct ctp_doc *doc, const struct ctp_doc_table *table, const char *const cells[CTP_DOC_COLUMNS]);
};

enum ctp_doc_block { CTP_DOC_NOTHING, CTP_DOC_HEADING, CTP_DOC_LIST, CTP_DOC_TABLE, CTP_DOC_PARAGRAPH };

struct ctp_doc {
	const struct ctp_doc_ops *ops;
	struct ctp_output *out;
	const struct ctp_report *report;
	const struct ctp_report_style *style;
	const struct ctp_report_section *section;
	const char *below;  /* a site of the section that begins with the folder of all files, */
	size_t below_bytes; /* and the length of that folder, which is left out; 0: none */
	enum ctp_doc_block last; /* the renderer's: what was written last */
};

extern const struct ctp_doc_ops ctp_doc_text, ctp_doc_markdown;

/* Walks over the report. */
void ctp_doc_write(struct ctp_doc *doc);

/* Whether the section that is written has a column. */
static inline bool ctp_doc_has(const struct ctp_doc *doc, const struct ctp_doc_column *column)
{
	return column->when == CTP_DOC_ALWAYS || (column->when == CTP_DOC_WITHOUT_CLOCK) == doc->section->ordinal;
}

/* How many of n to show: all if that is asked for, else at most limit. */
static inline uint32_t ctp_doc_some(const struct ctp_doc *doc, uint32_t n, uint32_t limit)
{
	return doc->style->all || n < limit ? n : limit;
}

#endif
