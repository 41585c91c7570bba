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
 * In the last two forms a field that refers to a place in the source has behind it a column that says what that is, where it is
 * known: site,site_text and 12,server.cpp:212:handle. With symbols, so has an address, addr_text. That is for people, and not
 * read again.
 *
 * Values are as value.h says. A text is quoted where it must be, and where a reader might strip something of it: it holds a
 * comma, a quote or a control character, begins or ends in a space, begins with a byte order mark, or is empty and alone in its
 * row.
 */
#ifndef CTP_CSV_H
#define CTP_CSV_H

#include "io/output.h"
#include "stream/sink.h"

struct ctp_csv_options {
	bool all;               /* the full form */
	const char *class_name; /* or that of this class; null: the plain form */
	bool wall;              /* times as wall-clock time */
	struct ctp_symbols *symbols; /* what addresses stand for, taken over; null: that is not shown */
};

/*
 * Writes to out, which it takes over: finish closes it, free abandons it. The full form's header is known at the end only; what
 * there is until then waits in a spool.
 */
struct ctp_sink *ctp_csv_sink(struct ctp_output *out, const struct ctp_csv_options *options, struct ctp_err *err);

/*
 * Reads any of these forms and others' files; see csv-read.c for what becomes of them. tool: what sections without their own
 * say. class_name, if not null: what all rows are, a column called type being one like the others.
 */
struct ctp_source *ctp_csv_source(const char *tool, const char *class_name, struct ctp_err *err);

/* --- between the two ----------------------------------------------------------------------------------------------------- */

enum { CTP_CSV_COLUMNS_MAX = 16384 }; /* more than that no spreadsheet takes */

#define CTP_CSV_TYPE "type"
#define CTP_CSV_LATE "late"
#define CTP_CSV_META "@meta"

/* Names of columns, in order and none twice. All zeros is an empty one. */
struct ctp_csv_columns {
	char **names;
	uint32_t *sorted; /* the same by name */
	uint32_t n, cap;
};

void ctp_csv_columns_fini(struct ctp_csv_columns *cols);
int ctp_csv_columns_find(const struct ctp_csv_columns *cols, const char *name); /* -1: not there */

/* Adds it if it is not there. -1: err says why. */
int ctp_csv_columns_add(struct ctp_csv_columns *cols, const char *name, struct ctp_err *err);

/* A field's or class's name as the full form has it. */
struct ctp_csv_name {
	char text[CTP_NAME_MAX + 8]; /* with what comes before and behind */
};
struct ctp_csv_name ctp_csv_field_name(const char *name);
struct ctp_csv_name ctp_csv_class_name(const char *name);

/* The name of the column with the text of a field that refers to a place. */
struct ctp_csv_name ctp_csv_site_name(const char *field, bool all);

#endif
