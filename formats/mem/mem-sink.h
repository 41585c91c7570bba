/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* mem-sink.h - a stream of Cacheray's records becomes counts, which are printed when all of it was read. */
#ifndef CTP_MEM_SINK_H
#define CTP_MEM_SINK_H

#include "mem/mem-print.h"
#include "stream/sink.h"

/* m stays the caller's, style is copied, out is the sink's to close, and so is the picture. Null: err says why. */
struct ctp_sink *ctp_mem_sink(struct ctp_mem *m, struct ctp_output *out, const struct ctp_mem_style *style, struct ctp_err *err);

#endif
