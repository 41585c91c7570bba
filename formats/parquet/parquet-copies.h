/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * parquet-copies.h - copies of one section in a folder of a tree: parts of it, copies that were cut short, and the complete one.
 *
 * The files of a complete one are CLASS-ID-HASH.parquet and sections-ID-HASH.parquet. Those of any other are CLASS-ID-HASH.cut.parquet
 * and sections-ID.cut.parquet, and last until the complete one is there, which has all that they have:
 *
 *	complete   gives its classes their names, then its sections; then, if there is a sections-ID.cut, removes what is cut
 *	cut        gives its sections its name, then its classes; then, if there is a complete one, removes what is cut again
 *
 * Of two that do so at the same time the last to look sees the other. One that is killed leaves what running it again replaces.
 * A folder is a descriptor (io/folder.h), and a link in it is no copy.
 */
#ifndef CTP_PARQUET_COPIES_H
#define CTP_PARQUET_COPIES_H

#include "parquet/parquet-file.h"

/* Whether the folder has a copy that is cut, by its sections; whether it has a complete one. The second reads the folder. */
bool ctp_parquet_has_cut(int folder, uint64_t id);
bool ctp_parquet_has_complete(int folder, uint64_t id);

/* Removes the copies that are cut. */
void ctp_parquet_remove_cut(int folder, uint64_t id);

/* Closes a file of a copy that is complete, in place of the one that is cut. */
enum ctp_status ctp_parquet_close_complete(struct ctp_parquet_file *f, struct ctp_parquet_work *w, struct ctp_err *err);

/* Closes a file of a copy that is cut, unless there is one with more rows: then *stays is set. */
enum ctp_status ctp_parquet_close_cut(struct ctp_parquet_file *f, struct ctp_parquet_work *w, bool *stays, struct ctp_err *err);

#endif
