/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * parquet-file.h - one Parquet file: the rows of a class in row groups, and the footer, in one pass.
 *
 * Its columns: section and section_id, wall where the class has a time, and the fields. They follow from the declaration alone.
 */
#ifndef CTP_PARQUET_FILE_H
#define CTP_PARQUET_FILE_H

#include "io/output.h"
#include "parquet/parquet-column.h"

/* The section that rows belong to. */
struct ctp_parquet_section {
	uint32_t number; /* from 1 */
	uint64_t id;
	bool has_wall;
	int64_t wall_offset_ns;
};

struct ctp_parquet_file {
	struct ctp_class *cls; /* its own copy */
	struct ctp_output own, *out; /* out: its own, or the caller's */
	bool open;
	int folder;
	char *path; /* the last name is that in the folder */
	uint64_t offset, rows;
	uint32_t group_rows, rows_max;
	struct ctp_parquet_column *columns;
	uint32_t ncolumns, wall; /* wall: the number of that column, 0: there is none */
	uint32_t ngroups, nnotes;
	struct ctp_bytes groups, notes; /* elements of the footer's lists */
	size_t bytes; /* of memory, as of the last put */
};

/*
 * path is copied; folder is the one that it is in, open until the close. out, if it is not null, is written to instead, and closed.
 * Null: err.
 */
struct ctp_parquet_file *ctp_parquet_file_new(int folder, const char *path, const struct ctp_class *cls, uint32_t rows_max,
                                              struct ctp_output *out, struct ctp_err *err);
void ctp_parquet_file_free(struct ctp_parquet_file *f); /* abandons what was not closed */

/* An entry of the footer. */
void ctp_parquet_file_note(struct ctp_parquet_file *f, const char *key, const char *value);

enum ctp_status ctp_parquet_file_put(struct ctp_parquet_file *f, struct ctp_parquet_work *w, const struct ctp_parquet_section *sec,
                                     const struct ctp_record *rec, uint32_t n, struct ctp_err *err);

static inline uint64_t ctp_parquet_file_rows(const struct ctp_parquet_file *f) { return f->rows + f->group_rows; }

/* Another name, in the same folder, for a file that is not closed yet. */
enum ctp_status ctp_parquet_file_rename(struct ctp_parquet_file *f, const char *path, struct ctp_err *err);

/* Ends the row group, and gives its memory back. */
enum ctp_status ctp_parquet_file_group(struct ctp_parquet_file *f, struct ctp_parquet_work *w, bool keep_memory, struct ctp_err *err);

/* The rest, and the footer: the file has its name. */
enum ctp_status ctp_parquet_file_close(struct ctp_parquet_file *f, struct ctp_parquet_work *w, struct ctp_err *err);

#endif
