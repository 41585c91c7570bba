/*
 * ctf.h - a sink that writes CTF 1.8, as babeltrace2 and Trace Compass read it.
 *
 * A section is one trace: a folder with a file `metadata` and up to CTP_CTF_STREAMS stream files. A record is one event. Its
 * class has a number N, 0 for the first that appears in the section, and its event class is 4 * N + variant:
 *	wide   a value did not fit the sizes that are usual, so all numbers have 64 bits and a text is bytes with their count
 *	timed  the event's time is not the record's, so the payload has the record's time too
 * What the readers would not keep (roles, predictors, attributes ...) is in the trace's environment, as meta.h spells it.
 */
#ifndef CTP_CTF_H
#define CTP_CTF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stream/sink.h"

enum {
	CTP_CTF_WIDE = 1, CTP_CTF_TIMED = 2, CTP_CTF_VARIANTS = 4, /* of an event class */
	CTP_CTF_STREAMS = 4, /* files of a section: a stream must be in time order, and there are records that come late */
};

/*
 * Writes to the folder dir, which appears when it is whole. It must not exist, or be empty, or, with force, be what an earlier
 * run made. From here to the sink's end SIGINT, SIGTERM and SIGHUP first remove what there is so far. To be called while the
 * process has one thread.
 */
struct ctp_sink *ctp_ctf_sink(const char *dir, bool force, struct ctp_err *err);

/* --- between the files of this format ------------------------------------------------------------------------------------- */

/* A packet has a head of fixed size, and so has an event: a compact one where its id and the step in time allow that. */
#define CTP_CTF_MAGIC UINT32_C(0xc1fc1fc1)
enum {
	CTP_CTF_HEAD_BYTES = 72, /* header and context of a packet */
	CTP_CTF_HEAD_UUID = 4, CTP_CTF_HEAD_CLASS = 20, CTP_CTF_HEAD_BEGIN = 32, CTP_CTF_HEAD_CONTENT = 48, CTP_CTF_HEAD_PACKET = 56,
	CTP_CTF_COMPACT_BYTES = 4, /* of an event's */
	CTP_CTF_EXTENDED_BYTES = 13,
	CTP_CTF_COMPACT_IDS = 31, /* those below; 31 itself says that it is extended */
	CTP_CTF_COMPACT_ID_BITS = 5, CTP_CTF_COMPACT_TIME_BITS = 27,
};

/* How one field of a record is written. */
enum ctp_ctf_form {
	CTP_CTF_FORM_NUMBER,
	CTP_CTF_FORM_STRING,   /* the bytes and a NUL */
	CTP_CTF_FORM_SEQUENCE, /* 32 bits of count, and the bytes */
};

struct ctp_ctf_op {
	uint64_t excess; /* bits that are clear in a value which fits */
	uint8_t index;   /* of the field */
	uint8_t bytes;   /* of a number */
	uint8_t form;
	uint8_t top;     /* of the bool that is the top bit of the number's 32; index again: none is */
};

static inline bool ctp_ctf_has_top(const struct ctp_ctf_op *op) { return op->top != op->index; }

/* The payload of one event class. */
struct ctp_ctf_layout {
	size_t room; /* bytes that must be free to pack it, the texts' own not counted */
	bool has_text, is_frequent;
	uint32_t nops;
	struct ctp_ctf_op ops[];
};

struct ctp_ctf_layout *ctp_ctf_layout_new(const struct ctp_class *cls, unsigned variant); /* for free(); null: out of memory */

/* Bytes of a record's texts, at least. */
size_t ctp_ctf_text_bytes(const struct ctp_ctf_layout *layout, const uint64_t *val);

/* Writes a payload; returns the address behind it, or null if a value does not fit, which in a wide one cannot be. */
char *ctp_ctf_pack(char *p, const struct ctp_ctf_layout *layout, const uint64_t *val);

/* What the metadata says of a class. */
struct ctp_ctf_class {
	const struct ctp_class *cls;
	uint32_t number;
	unsigned used; /* bit V: variant V occurs */
	struct ctp_ctf_layout *layout[CTP_CTF_VARIANTS]; /* null: not needed so far */
};

struct ctp_output;

/* Writes the metadata: the first as a section begins, the others at its end. classes are in the order of their numbers. */
void ctp_ctf_metadata_begin(struct ctp_output *out, const struct ctp_section *sec, const uint8_t uuid[16]);
void ctp_ctf_metadata_end(struct ctp_output *out, const struct ctp_ctf_class *const *classes, size_t nclasses, bool complete);

#endif
