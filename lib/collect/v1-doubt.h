/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * v1-doubt.h - rows that a visit has copied and that are not proved yet; between v1-scan.c, which finds them, and v1-doubt.c, which
 * keeps them until they are proved or lost.
 */
#ifndef CTP_V1_DOUBT_H
#define CTP_V1_DOUBT_H

#include "collect/v1-scan.h"

/* These rows, the last ones, are to be asked about again: see ctp_v1_station_doubtful. */
void ctp_v1_doubt_rows(struct ctp_v1_scan *scan, const struct ctp_v1_doubt_run *run);

/* Waits until those have been. */
void ctp_v1_doubt_drain(void *scan);

/*
 * A visit has set the station's doubt; its eight rows are after the last row. They are taken out of there, or seven of them
 * in. lapped: the visit has found events overwritten.
 */
void ctp_v1_doubt_station(struct ctp_v1_scan *scan, uint32_t i, bool lapped);

/* Such a station was seen to be dead: it is released when its rows are taken in. */
void ctp_v1_doubt_death(struct ctp_v1_scan *scan, uint32_t i, uint64_t after_ns, uint64_t before_ns);

/* The first of such a station's rows is proved, or lost; the others always were. */
void ctp_v1_doubt_end(struct ctp_v1_scan *scan, uint32_t i, bool proved);

/* At the end of a scan: drains, ends the doubts that can be ended, and asks about the others. */
void ctp_v1_doubt_pass(struct ctp_v1_scan *scan);

/* At the end of the trace: all of them, and no new ones. */
void ctp_v1_doubt_finish(struct ctp_v1_scan *scan);

/* --- what v1-doubt.c needs of v1-scan.c ----------------------------------------------------------------------------------- */

/* n rows of a station stand after the last row, not yet counted: takes them in, after what has to stand before them. */
void ctp_v1_scan_take(struct ctp_v1_scan *scan, uint32_t i, unsigned n);

/* The end of a station, all of whose rows are taken in. It was alive at after_ns. */
void ctp_v1_scan_release(struct ctp_v1_scan *scan, uint32_t i, uint64_t after_ns, uint64_t before_ns);

#endif
