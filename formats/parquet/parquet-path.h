/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* parquet-path.h - the names of files and folders, whatever bytes a class or a host has. */
#ifndef CTP_PARQUET_PATH_H
#define CTP_PARQUET_PATH_H

#include <limits.h>

#include "parquet/parquet.h"

enum { CTP_PARQUET_NAME_MAX = 160 };

/*
 * A name of letters, digits, _ and, if dots is set, . and -; any other byte is % and two digits, as in folders of partitions. One that is
 * longer than CTP_PARQUET_NAME_MAX is cut and has a ~ and a hash of all of it.
 */
void ctp_parquet_safe_name(char to[CTP_PARQUET_NAME_MAX + 32], const char *name, bool dots);

/* DIR, or DIR/host=.../date=...; has_wall: wall_s is when the section began. False: too long. */
bool ctp_parquet_folder(char to[PATH_MAX], const struct ctp_parquet_options *o, const struct ctp_section *sec, bool has_wall, int64_t wall_s);

/* Whether there is nothing in the folder, whose path is dir. */
enum ctp_status ctp_parquet_check_empty(int folder, const char *dir, struct ctp_err *err);

#endif
