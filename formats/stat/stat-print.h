/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* stat-print.h - the numbers of stat.h for people, or as one JSON object on one line. */
#ifndef CTP_STAT_PRINT_H
#define CTP_STAT_PRINT_H

#include "analyse/stat.h"
#include "io/output.h"

/* Before the text, for each input that was read: its name and size. */
void ctp_stat_print_file(struct ctp_output *out, const struct ctp_input *in);
void ctp_stat_print_text(struct ctp_output *out, const struct ctp_stat *stat);
void ctp_stat_print_json(struct ctp_output *out, const struct ctp_stat *stat);

#endif
