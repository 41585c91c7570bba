/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * csv.h - a line of comma-separated values for each record, RFC 4180 with LF.
 *
 * The plain form is coroTracer's own: transitions only, with its six columns. The form of one class has the class's fields for
 * columns. The full form holds all that a stream holds and can be made a stream again:
 *
 *	type,probe_id,tid,addr,seq,is_active,ts,coro,index,site,site_text,station, ... ,late,@meta
 *	@section, ... ,"{""host"":""a"",""argv"":[""./server"",""-v""], ... }"        before what belongs to it
 *	@schema, ... ,"{""name"":""lost"",""kind"":""loss"",""fields"":[{""name"":""ts"", ...}, ...]}"   before its first record
 *	lost, ... ,17, ... ,,                                                      a record; empty where its class has no field
 *	@end, ... ,true                                                            or false: it is not complete
 *
 * The columns are those of all classes in order of their first appearance; late is true or empty; @meta is as meta.h says.
 * A class whose own name begins with @ has another @ before it, and so has a field that is called type or late or begins with
 * @: nothing collides. In the other forms fields have their own names.
 *
 * In the last two forms a field that refers to a place in the source is followed by a column with the place's text, if that is
 * known: site,site_text and 12,server.cpp:212:handle. With symbols an address has such a column too, addr_text. Readers of rows
 * skip these columns.
 *
 * Values are as value.h says. A text is quoted where it must be, and where a reader might strip a part of it: if it holds a comma,
 * a quote or a control character, begins or ends in a space, begins with a byte order mark, or is empty and alone in its row.
 */
#ifndef CTP_CSV_H
#define CTP_CSV_H

#include "io/output.h"
#include "stream/sink.h"

struct ctp_csv_options {
	bool all;               /* the full form */
	const char *class_name; /* the form of this class; null: the plain form, unless all */
	bool wall;              /* times as wall-clock time */
	bool guard;             /* no text can be taken for a formula */
	struct ctp_symbols *symbols; /* for the texts of addresses; taken over; null: none */
};

/*
 * A sink that takes out over: finish closes it, free abandons it. The full form's header is known only at the end; until then the
 * records wait in a spool.
 */
struct ctp_sink *ctp_csv_sink(struct ctp_output *out, const struct ctp_csv_options *options, struct ctp_err *err);

/*
 * Reads these forms and other CSV files; csv-read.c has the rules. tool: the attribute of sections that the input lacks.
 * class_name, if not null: the class of all rows; a column called type is then a field like others.
 */
struct ctp_source *ctp_csv_source(const char *tool, const char *class_name, struct ctp_err *err);

/* --- between the two ----------------------------------------------------------------------------------------------------- */

enum { CTP_CSV_COLUMNS_MAX = 16384 }; /* no spreadsheet takes more */

#define CTP_CSV_TYPE "type"
#define CTP_CSV_LATE "late"
#define CTP_CSV_META "@meta"

/* Names of columns, in order, each once. All zeros: no columns. */
struct ctp_csv_columns {
	char **names;
	uint32_t *sorted; /* their numbers, sorted by name */
	uint32_t n;
	size_t names_room, sorted_room;
};

void ctp_csv_columns_fini(struct ctp_csv_columns *cols);
int ctp_csv_columns_find(const struct ctp_csv_columns *cols, const char *name); /* -1: not there */

/* The number of the column, which is added if it is new. -1: err. */
int ctp_csv_columns_add(struct ctp_csv_columns *cols, const char *name, struct ctp_err *err);

/* A field's or class's name as the full form has it. */
struct ctp_csv_name {
	char text[CTP_NAME_MAX + 8]; /* with an @ before it, CTP_SITE_SUFFIX after */
};
struct ctp_csv_name ctp_csv_field_name(const char *name);
struct ctp_csv_name ctp_csv_class_name(const char *name);

/* The name of the column with the text of a field that refers to a place. */
struct ctp_csv_name ctp_csv_site_name(const char *field, bool all);

#endif
