/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * beginning.h - tells an input that is no stream at all from one that is damaged.
 */
#ifndef CTP_BEGINNING_H
#define CTP_BEGINNING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "io/input.h"

/*
 * Around the reading of a stream: the first fails if the input is JSON or CSV, the second if it is something else altogether, of which
 * not one packet could be read. A stream that is damaged or empty is neither's business.
 */
enum ctp_status ctp_beginning_check(struct ctp_input *in, bool *strange, struct ctp_err *err);
enum ctp_status ctp_beginning_end(const struct ctp_input *in, bool strange, uint64_t packets, const char *made_by,
                                  struct ctp_err *err); /* made_by: what makes one of it; null: that is not known */

#endif
