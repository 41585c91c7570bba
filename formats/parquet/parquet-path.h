/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* parquet-path.h - the folders of a partition, whatever bytes a host has. */
#ifndef CTP_PARQUET_PATH_H
#define CTP_PARQUET_PATH_H

#include <limits.h>

#include "parquet/parquet.h"

/* DIR, or DIR/host=.../date=...; has_wall: wall_s is when the section began. False: too long. */
bool ctp_parquet_folder(char to[PATH_MAX], const struct ctp_parquet_options *o, const struct ctp_section *sec, bool has_wall, int64_t wall_s);

#endif
