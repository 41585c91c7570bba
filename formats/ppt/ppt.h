/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ppt.h - the files of ppt, PPT1.
 *
 *	u32, big-endian: 0x50505431, "PPT1"
 *	u32, big-endian: length of the header
 *	header: JSON {frFormat, frDate, frComment, frDeltaTime, frCounters, frJson}; frJson is the buffer's `_json`
 *	frames, little-endian, layout->size bytes each, until the end
 *
 * A file is a section: its header first, then a record for each frame, as ppt-frames.h has them, in the order of the file.
 */
#ifndef CTP_PPT_H
#define CTP_PPT_H

#include "io/output.h"
#include "stream/sink.h"

#define CTP_PPT_MAGIC "PPT1"

/*
 * A source of files. Duplicates are dropped by their number, and so are slots that were never written. Frames that are torn or of
 * an unknown type are rejected. Missing numbers are a loss. One notice for each file counts all that, and says where the first
 * damage is. verbose: there is a notice also for a file without damage. exact: with the extra fields, so that encode makes the same
 * file byte for byte. tool: the attribute of the section.
 */
struct ctp_source *ctp_ppt_source(const char *tool, bool exact, bool verbose, struct ctp_err *err);

/*
 * A sink that writes a section as a file, and takes over out. buffer: a name as in ppt-symbols.h, where FILE is the program, the
 * library or the PPT1 file; null: there must be only one. Sections without a header of ppt are passed over. notice, which may be
 * null, gets the number of frames at the end, if frames were lost or with verbose. whole, which may be null: nothing of
 * that section is missing, and the stream is not damaged.
 */
struct ctp_sink *ctp_ppt_sink(struct ctp_output *out, const char *buffer, const struct ctp_notice *notice, bool verbose, bool *whole,
                              struct ctp_err *err);

#endif
