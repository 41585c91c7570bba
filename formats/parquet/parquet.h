/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* parquet.h - a stream as Parquet files: a file for each class, and one of the sections. */
#ifndef CTP_PARQUET_H
#define CTP_PARQUET_H

#include "io/output.h"
#include "stream/sink.h"

enum { CTP_PARQUET_GROUP_ROWS = 1 << 20, CTP_PARQUET_MEMORY = 256 << 20, CTP_PARQUET_KEYS_MAX = 2 };

enum ctp_parquet_key { CTP_PARQUET_HOST, CTP_PARQUET_DATE };

struct ctp_parquet_options {
	const char *dir;        /* the folder; null: out has the one class */
	struct ctp_output *out;
	const char *class_name; /* null: all */
	bool force;             /* write to a folder that is not empty */
	uint32_t nkeys;         /* of the partition; 0: there is none */
	enum ctp_parquet_key keys[CTP_PARQUET_KEYS_MAX];
	uint32_t group_rows;    /* at most */
	size_t memory;          /* of all row groups at hand; 0: CTP_PARQUET_MEMORY */
	const struct ctp_notice *notice; /* or null */
};

/* Reads "host", "date" or both with a comma; false: it is none of these. */
bool ctp_parquet_parse_keys(struct ctp_parquet_options *o, const char *text);

/* Takes options->out over: finish closes it, free abandons it. What options point to must be there until the free. */
struct ctp_sink *ctp_parquet_sink(const struct ctp_parquet_options *options, struct ctp_err *err);

#endif
