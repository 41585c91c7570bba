/*
 * ctf.h - a sink that writes CTF 1.8, as babeltrace2 and Trace Compass read it.
 *
 * A section is one trace: a folder with a file `metadata` and up to CTP_CTF_STREAMS stream files. A record is one event. Its
 * class has a number N, 0 for the first that appears in the section, and its event class is 4 * N + variant:
 *	wide   a value did not fit the sizes that are usual, so all numbers have 64 bits and a text is bytes with their count
 *	timed  the event's time is not the record's, so the payload has the record's time too
 * Facts that CTF has no place for (roles, predictors, attributes ...) are in the trace's environment, as meta.h spells them.
 */
#ifndef CTP_CTF_H
#define CTP_CTF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stream/sink.h"

enum {
	CTP_CTF_WIDE = 1, CTP_CTF_TIMED = 2, CTP_CTF_VARIANTS = 4, /* of an event class */
	CTP_CTF_STREAMS = 4, /* files of a section: each stream is in time order, and some records come late */
};

/*
 * A sink that writes the folder dir, which appears when it is whole. dir must not exist, or be empty, or, with force, be the output
 * of an earlier run. Until the sink is freed, SIGINT, SIGTERM and SIGHUP remove the unfinished folder before they end the program.
 * To be called while the process has one thread.
 */
struct ctp_sink *ctp_ctf_sink(const char *dir, bool force, struct ctp_err *err);

/* --- between the files of this format ------------------------------------------------------------------------------------- */

/* The head of a packet has a fixed size. That of an event is compact if its id and the step in time allow that, else extended. */
#define CTP_CTF_MAGIC UINT32_C(0xc1fc1fc1)
enum {
	CTP_CTF_HEAD_BYTES = 72, /* header and context of a packet */
	CTP_CTF_HEAD_UUID = 4, CTP_CTF_HEAD_CLASS = 20, CTP_CTF_HEAD_BEGIN = 32, CTP_CTF_HEAD_CONTENT = 48, CTP_CTF_HEAD_PACKET = 56,
	CTP_CTF_COMPACT_BYTES = 4, /* of an event's head */
	CTP_CTF_EXTENDED_BYTES = 13,
	CTP_CTF_COMPACT_IDS = 31, /* ids below that; in an extended head it stands for the id */
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
	size_t room; /* bytes that must be free to pack a payload, without those of its texts */
	bool has_text, is_frequent;
	uint32_t nops;
	struct ctp_ctf_op ops[];
};

struct ctp_ctf_layout *ctp_ctf_layout_new(const struct ctp_class *cls, unsigned variant); /* for free(); null: out of memory */

/* Bytes of a record's texts, without NULs and counts. */
size_t ctp_ctf_text_bytes(const struct ctp_ctf_layout *layout, const uint64_t *val);

/* Writes a payload and returns its end; null: a value does not fit, which cannot be in a wide one. */
char *ctp_ctf_pack(char *p, const struct ctp_ctf_layout *layout, const uint64_t *val);

/* A class, and its variants that occur. */
struct ctp_ctf_class {
	const struct ctp_class *cls;
	uint32_t number;
	unsigned used; /* bit V: variant V occurs */
	struct ctp_ctf_layout *layout[CTP_CTF_VARIANTS]; /* null: not needed so far */
};

struct ctp_output;

/* Write the metadata: the first when a section begins, the second at its end. classes are in the order of their numbers. */
void ctp_ctf_metadata_begin(struct ctp_output *out, const struct ctp_section *sec, const uint8_t uuid[16]);
void ctp_ctf_metadata_end(struct ctp_output *out, const struct ctp_ctf_class *const *classes, size_t nclasses, bool complete);

#endif
