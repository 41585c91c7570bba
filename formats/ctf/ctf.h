/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ctf.h - a sink that writes CTF 1.8, as babeltrace2 and Trace Compass read it.
 *
 * A section is one trace: a folder with a file `metadata` and up to CTP_CTF_STREAMS stream files. A record is one event. Its
 * class has a number N, 0 for the first that appears in the section, and an event class for each variant that occurs:
 *	wide     a value did not fit the sizes that are usual, so all numbers have 64 bits and a text is bytes with their count
 *	timed    the event's time is not the record's, so the payload has the record's time too
 *	spelled  a name is not one that Trace Compass takes, so the payload ends with each text once more, spelled in ASCII
 * A wide event whose class has names is spelled too, for it has no strings. Readers of ours drop the spellings.
 * They are not a field that is empty otherwise: babeltrace2 2.0 shows an empty string as what the field held before, and the usual
 * event would be longer.
 * Facts that CTF has no place for (roles, predictors, attributes ...) are in the trace's environment, as meta.h spells them.
 */
#ifndef CTP_CTF_H
#define CTP_CTF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stream/sink.h"

enum {
	CTP_CTF_WIDE = 1, CTP_CTF_TIMED = 2, CTP_CTF_SPELLED = 4, CTP_CTF_VARIANTS = 8, /* of a class; wide and spelled: only wide */
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

/*
 * The id of an event class: 4 * N and the lower two bits of the variant. Spelled ones have ids after all others, so that these
 * stay small: only small ones have a place in a compact head.
 */
enum { CTP_CTF_ID_STEP = 4, CTP_CTF_IDS = CTP_CTF_ID_STEP * CTP_CLASSES_MAX };

static inline uint32_t ctp_ctf_id(uint32_t number, unsigned variant)
{
	return CTP_CTF_ID_STEP * number + variant % CTP_CTF_ID_STEP + (variant & CTP_CTF_SPELLED ? CTP_CTF_IDS : 0);
}

/* The class's number, which may be one that is not declared, and the variant of an id. */
static inline uint64_t ctp_ctf_number(uint64_t id) { return (id < CTP_CTF_IDS ? id : id - CTP_CTF_IDS) / CTP_CTF_ID_STEP; }
static inline unsigned ctp_ctf_variant(uint64_t id)
{
	return (unsigned)(id % CTP_CTF_ID_STEP) | (id < CTP_CTF_IDS ? 0 : CTP_CTF_SPELLED);
}

/* How one field of a record is written. */
enum ctp_ctf_form {
	CTP_CTF_FORM_NUMBER,
	CTP_CTF_FORM_STRING,   /* the bytes and a NUL */
	CTP_CTF_FORM_NAME,     /* the same, of a text that is its own spelling */
	CTP_CTF_FORM_SEQUENCE, /* 32 bits of count, and the bytes */
	CTP_CTF_FORM_SPELLING, /* of a text that is there already: a string that readers of ours drop */
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
	bool has_text, has_names, is_frequent;
	uint32_t nops;
	struct ctp_ctf_op ops[];
};

/* Whether the class has names, for which its texts are spelled. */
bool ctp_ctf_has_names(const struct ctp_class *cls);

struct ctp_ctf_layout *ctp_ctf_layout_new(const struct ctp_class *cls, unsigned variant); /* for free(); null: out of memory */

/* Bytes that a record's texts may need, without NULs and counts. */
size_t ctp_ctf_text_bytes(const struct ctp_ctf_layout *layout, const uint64_t *val);

/* Writes a payload and returns its end; null: a value does not fit, which cannot be in a wide one. */
char *ctp_ctf_pack(char *p, const struct ctp_ctf_layout *layout, const uint64_t *val);

/*
 * The spelling of a text: printable ASCII, never empty, at most CTP_CTF_SPELLING_MAX bytes. Different texts have different ones; of
 * those that are too long, by a hash of 64 bits. Most names are their own spelling.
 */
enum { CTP_CTF_SPELLING_MAX = INT16_MAX, CTP_CTF_SPELLING_GROWTH = 4 };
bool ctp_ctf_is_spelling(const struct ctp_str *str);

/* Writes it without a NUL, and returns its end. */
char *ctp_ctf_spell(char *p, const struct ctp_str *str);
size_t ctp_ctf_spelling_room(const struct ctp_str *str); /* bytes that it has at most */

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
