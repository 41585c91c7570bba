/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * jsonl.h - one JSON object on a line for each record.
 *
 * The plain form is coroTracer's own: transitions only, their fields without CTP_FIELD_EXTRA, no type. The full form holds all
 * that a stream holds and can be made a stream again:
 *
 *	{"type":"@section","attrs":{"host":"a","argv":["./server","-v"], ...}}     before what belongs to it
 *	{"type":"@schema","name":"lost","kind":"loss","fields":[{"name":"ts","type":"u64", ...}, ...]}   before its first record
 *	{"type":"lost","ts":17, ...}                                               a record: every field, in the schema's order
 *	{"type":"@end","complete":true}
 *
 * A late record ends in "late":true. An attribute whose name ends in [] is an element of an array. A class whose own name
 * begins with @ has another @ before it, and so has a field that is called type or late or begins with @: nothing collides.
 *
 * A field that refers to a place in the source is followed by the place's text, if that is known:
 * "site":12,"site_text":"server.cpp:212:handle". With symbols an address has such a text too, "addr_text". Readers of rows skip
 * these texts.
 *
 * Values: whole numbers as they are; addresses and what is flagged hexadecimal as text, "0x" and 16 digits; an enum by its
 * label where it has one; floating point shortest, or "NaN", "Infinity", "-Infinity" (of a NaN's bits nothing is kept); bytes
 * as hexadecimal text; texts as json.h says.
 */
#ifndef CTP_JSONL_H
#define CTP_JSONL_H

#include "common/template.h"
#include "io/output.h"
#include "stream/sink.h"

struct ctp_symbols; /* symbols.h */

/*
 * A sink that takes out over: finish closes it, free abandons it. all: the full form, which alone uses symbols; these are taken
 * over too; null: none.
 */
struct ctp_sink *ctp_jsonl_sink(struct ctp_output *out, bool all, struct ctp_symbols *symbols, struct ctp_err *err);

/* Reads rows of both forms, also mixed; jsonl-read.c says which are kept. tool: the attribute of sections that the input lacks. */
struct ctp_source *ctp_jsonl_source(const char *tool, struct ctp_err *err);

/* --- between the two ----------------------------------------------------------------------------------------------------- */

/*
 * The template of a class. texts are the sink's; null: the template is for reading. symbols: addresses may have texts. cls must
 * outlive the template. Null: out of memory.
 */
struct ctp_template *ctp_jsonl_template(const struct ctp_class *cls, bool all, bool symbols, struct ctp_place_texts *texts);

/* Whether a field of this name must have an @ before it; a class must if its name begins with one. */
bool ctp_jsonl_field_reserved(const char *name);

#endif
