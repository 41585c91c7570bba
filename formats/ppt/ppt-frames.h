/*
 * ppt-frames.h - the classes of a ppt buffer, and the bytes of a frame to a record and back.
 *
 * A frame becomes a record of the class ppt_<buffer>_<frame>: ppt_seqno, then its members in the order of their offsets.
 *	- The first time is the record's own: u64, ns. One that no u64 of them can be is cut to what can be. Other times are i64, ns.
 *	- An interval of time has start, end and <name>_duration.
 *	- An interval of a counter is <name>_<counter>, the difference, and its start, extra. A counter alone is <name>_<counter>.
 * What else the bytes hold is in extra fields:
 *	- ppt_place: what to add to ppt_seqno for the place of the frame among those that were put, from 0;
 *	- ppt_padding: the bytes that belong to no member; empty where all are zero;
 *	- ppt_raw: the whole frame, where a time or a NaN has more in it than its field can say, or the class has no room for another field;
 *	  else empty.
 * A name that is taken has _2 or so behind it.
 *
 * Beside the frames a section has ppt_header, the header of a file, with `_json` in it, in parts that are to be joined; and ppt_lost.
 */
#ifndef CTP_PPT_FRAMES_H
#define CTP_PPT_FRAMES_H

#include "ppt/ppt-layout.h"
#include "stream/writer.h"

struct ctp_ppt_frames;

/*
 * layout must be there until the free, the names of the counters need not. The classes must outlive the writer's section. exact: with the
 * extra fields; without, there is only ppt_raw of a class that has no room for all members. Null: err.
 */
struct ctp_ppt_frames *ctp_ppt_frames_new(const struct ctp_ppt_layout *layout, const char *const *counters, uint32_t ncounters, bool exact,
                                          struct ctp_err *err);
void ctp_ppt_frames_free(struct ctp_ppt_frames *frames); /* null: nothing */

/* Adds the attributes clock, wall_offset_ns where that is known, and ppt.buffer. */
#define CTP_PPT_FILE "ppt.file" /* of a buffer of a process: the program or the library that has it, as the process sees it */
void ctp_ppt_frames_section(const struct ctp_ppt_frames *frames, struct ctp_section *sec);

/* Of the frame with this index in the layout. */
const struct ctp_class *ctp_ppt_frames_class(const struct ctp_ppt_frames *frames, uint32_t frame);

/*
 * Writes the header; the first of a section. Of a file as it is, of a live buffer as ctp_ppt_header makes it. ts_ns: about when the
 * section begins, by the buffer's clock; a buffer without times has none.
 */
void ctp_ppt_frames_header(struct ctp_ppt_frames *frames, struct ctp_writer *w, uint64_t ts_ns, const char *header, size_t len);

/* --- frames to records; bytes: layout->size of them, not aligned ---------------------------------------------------------- */

int32_t ctp_ppt_frames_seqno(const struct ctp_ppt_frames *frames, const uint8_t *bytes);

/* Index of its frame in the layout; -1: no such type. */
int ctp_ppt_frames_type(const struct ctp_ppt_frames *frames, const uint8_t *bytes);

/* Whether the type is known, and the numbers in front and at the back are the same. */
bool ctp_ppt_frames_whole(const struct ctp_ppt_frames *frames, const uint8_t *bytes);

/* The frame's own time, of one that is whole; false: it has none. */
bool ctp_ppt_frames_time(const struct ctp_ppt_frames *frames, const uint8_t *bytes, uint64_t *ts_ns);

/* Writes the record of a frame that is whole. The time of the record, or of the last that had one. */
uint64_t ctp_ppt_frames_put(struct ctp_ppt_frames *frames, struct ctp_writer *w, const uint8_t *bytes);

/* count frames are missing from seqno on; unverified of them were seen, and not whole. Times of the frames on both sides. */
struct ctp_ppt_loss {
	int32_t seqno;
	uint64_t count, unverified, after_ns, ts_ns;
};
void ctp_ppt_frames_lost(struct ctp_ppt_frames *frames, struct ctp_writer *w, const struct ctp_ppt_loss *loss);

/* So far: frames whose own time is before the clock's zero or beyond what a record can have. */
uint64_t ctp_ppt_frames_cut(const struct ctp_ppt_frames *frames);

/* --- and back -------------------------------------------------------------------------------------------------------------- */

/*
 * How records of a class of a stream become frames. Null: the class is none of the layout's, and err has no text; or it lacks a
 * field, and err says which. malloced.
 */
struct ctp_ppt_binding;
struct ctp_ppt_binding *ctp_ppt_frames_bind(const struct ctp_ppt_frames *frames, const struct ctp_class *cls, struct ctp_err *err);

/* The frame of a record: layout->size bytes. Its place among the frames of the section, which plain frames do not know. */
int64_t ctp_ppt_frames_back(const struct ctp_ppt_frames *frames, const struct ctp_ppt_binding *b, const uint64_t *val, uint8_t *bytes);

/* The parts of a header in a stream: records with part, parts, json and, where there is a time, ts. */
#define CTP_PPT_HEADER_CLASS "ppt_header"
#define CTP_PPT_LOST_CLASS "ppt_lost"
enum { CTP_PPT_PART_BYTES = 256 << 10 }; /* a JSON line has at most 4 MiB, and a byte can become 6 there */

#endif
