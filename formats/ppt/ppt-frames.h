/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ppt-frames.h - the classes of a ppt buffer, and the bytes of a frame to a record and back.
 *
 * A frame becomes a record of the class ppt_<buffer>_<frame>: ppt_seqno, then its members in the order of their offsets.
 *	- The first time is that of the record: u64, ns. A time that does not fit is cut. Other times are i64, ns.
 *	- An interval of time has start, end and <name>_duration.
 *	- An interval of a counter is <name>_<counter>, the difference, and its start, extra. A counter alone is <name>_<counter>.
 * Extra fields hold the rest of the bytes:
 *	- ppt_place: the place of the frame among those that were put, from 0, minus ppt_seqno;
 *	- ppt_padding: the bytes that belong to no member; empty where all are zero;
 *	- ppt_raw: the whole frame, if a time or a NaN holds more than its field can, or if the class has no room for another field;
 *	  else empty.
 * A name that is taken gets _2, _3 and so on at its end.
 *
 * Besides frames a section has ppt_header, the header of a file with `_json` in it, in parts; and ppt_lost.
 */
#ifndef CTP_PPT_FRAMES_H
#define CTP_PPT_FRAMES_H

#include "ppt/ppt-layout.h"
#include "stream/writer.h"

struct ctp_ppt_frames;

/*
 * layout must be there until the free, the names of the counters need not. The classes must outlive the writer's section. exact:
 * with the extra fields; without, there is only ppt_raw of a class that has no room for all members. Null: err.
 */
struct ctp_ppt_frames *ctp_ppt_frames_new(const struct ctp_ppt_layout *layout, const char *const *counters, uint32_t ncounters,
                                          bool exact, struct ctp_err *err);
void ctp_ppt_frames_free(struct ctp_ppt_frames *frames); /* null: nothing */

/* Adds the attributes clock, wall_offset_ns where that is known, and ppt.buffer. */
#define CTP_PPT_FILE "ppt.file" /* of a buffer of a process: the program or the library that has it, as the process sees it */
void ctp_ppt_frames_section(const struct ctp_ppt_frames *frames, struct ctp_section *sec);

/* Of the frame with this index in the layout. */
const struct ctp_class *ctp_ppt_frames_class(const struct ctp_ppt_frames *frames, uint32_t frame);

/*
 * Writes the header, which is the first record of a section: that of a file, or one that ctp_ppt_header has made. ts_ns: about when
 * the section begins, by the clock of the buffer; it is not written if the buffer has no times.
 */
void ctp_ppt_frames_header(struct ctp_ppt_frames *frames, struct ctp_writer *w, uint64_t ts_ns, const char *header, size_t len);

/* --- frames to records; bytes: layout->size of them, not aligned ---------------------------------------------------------- */

int32_t ctp_ppt_frames_seqno(const struct ctp_ppt_frames *frames, const uint8_t *bytes);

/* Index of its frame in the layout; -1: no such type. */
int ctp_ppt_frames_type(const struct ctp_ppt_frames *frames, const uint8_t *bytes);

/* Whether the type is known, and the numbers at the front and at the back are the same. */
bool ctp_ppt_frames_whole(const struct ctp_ppt_frames *frames, const uint8_t *bytes);

/* The time of a frame that is whole. False: it has none. */
bool ctp_ppt_frames_time(const struct ctp_ppt_frames *frames, const uint8_t *bytes, uint64_t *ts_ns);

/* Writes the record of a frame that is whole. Returns its time, or that of the last record that had one. */
uint64_t ctp_ppt_frames_put(struct ctp_ppt_frames *frames, struct ctp_writer *w, const uint8_t *bytes);

/* count frames are missing from seqno on; unverified of them were seen, and not whole. Times of the frames on both sides. */
struct ctp_ppt_loss {
	int32_t seqno;
	uint64_t count, unverified, after_ns, ts_ns;
};
void ctp_ppt_frames_lost(struct ctp_ppt_frames *frames, struct ctp_writer *w, const struct ctp_ppt_loss *loss);

/* The number of frames so far whose time did not fit, and was cut. */
uint64_t ctp_ppt_frames_cut(const struct ctp_ppt_frames *frames);

/* --- records to frames ---------------------------------------------------------------------------------------------------- */

/*
 * How records of a class of a stream become frames; malloced. Null: the layout has no such frame, and err is empty; or the class
 * lacks a field, and err says which.
 */
struct ctp_ppt_binding;
struct ctp_ppt_binding *ctp_ppt_frames_bind(const struct ctp_ppt_frames *frames, const struct ctp_class *cls, struct ctp_err *err);

/* The frame of a record: layout->size bytes. Returns its place among the frames of the section, which only exact records have. */
int64_t ctp_ppt_frames_back(const struct ctp_ppt_frames *frames, const struct ctp_ppt_binding *b, const uint64_t *val, uint8_t *bytes);

/* The parts of a header in a stream: records with part, parts, json and, where there is a time, ts. */
#define CTP_PPT_HEADER_CLASS "ppt_header"
#define CTP_PPT_LOST_CLASS "ppt_lost"
enum { CTP_PPT_PART_BYTES = 256 << 10 }; /* a JSON line has at most 4 MiB, and a byte can become 6 there */

#endif
