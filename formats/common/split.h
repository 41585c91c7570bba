/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * split.h - gives a sink the origins of a merged section one after the other, each as a section of its own.
 *
 * For a sink that judges: what ended, what is missing and when the collector came is known of each origin, and not of the whole.
 * Times and numbers stay those of the merged section, but for those of threads and processes, which get back the numbers that they
 * have on their host. A section of an origin has the attributes that its input had, and
 *
 *	origin, origin_number    its name, and its number in the merged section
 *	origin_pid               its process, as its input has it
 *	origin_section           which merged section it is, from 1
 *	origin_error_ns          how far its times may be off, or "unknown"; no such attribute if all origins have one clock
 *	merged_first_ns          the first time in the merged section
 */
#ifndef CTP_SPLIT_H
#define CTP_SPLIT_H

#include "stream/sink.h"

/* The first origins of a section, by their records; others are left out. Each takes a descriptor, of which many systems give 1024. */
enum { CTP_SPLIT_ORIGINS = 256 };

/*
 * Takes the sink over, which may be null: then so is what it returns. Sections that were not merged go through as they come. The
 * sink's own fields are those of the returned one. Null: it is freed, and err says why. left_out, if not null, must be there until
 * the sink is freed; how many origins were left out is added to it.
 */
struct ctp_sink *ctp_split_sink(struct ctp_sink *to, uint64_t *left_out, struct ctp_err *err);

#endif
