/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * schema.h - a class of records: its name, its fields, and how each field is predicted.
 *
 * Everything that travels in a stream is a record of some class, and each packet declares the classes that it uses. Sinks work
 * from what is said here (type, role, unit, kind) and have no list of classes of their own. The predictors are what makes a
 * record small; see ctp-stream(5) for how they work.
 */
#ifndef CTP_SCHEMA_H
#define CTP_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/linkage.h"

CTP_C_BEGIN

/* The numbers below are in the stream (ctp-stream.5): append, never renumber. */

enum ctp_type {
	CTP_U8 = 1, CTP_U16, CTP_U32, CTP_U64,
	CTP_I8, CTP_I16, CTP_I32, CTP_I64,
	CTP_BOOL,
	CTP_ENUM,   /* an unsigned number of 64 bits with names for some of its values */
	CTP_F32, CTP_F64,
	CTP_STRING, /* text, UTF-8 by intention; nothing enforces it */
	CTP_BYTES,
	CTP_TYPE_COUNT
};

/* What a number is about. */
enum ctp_role {
	CTP_ROLE_NONE = 0,
	CTP_ROLE_TIME,      /* the section's clock, nanoseconds; a number in an ordinal section. The first such field is the record's own time */
	CTP_ROLE_THREAD,    /* id of an OS thread */
	CTP_ROLE_PROCESS,   /* id of an OS process */
	CTP_ROLE_ADDRESS,   /* in the target; shown as 0x and 16 digits */
	CTP_ROLE_COROUTINE, /* identity of a coroutine, unique within the section */
	CTP_ROLE_PROBE,     /* the id that the probe chose; may be reused for another coroutine */
	CTP_ROLE_STATE,     /* running or not */
	CTP_ROLE_SEQUENCE,
	CTP_ROLE_COUNT,     /* how many; of a loss: how many events are missing */
	CTP_ROLE_UNVERIFIED, /* of a loss: how many of those were seen but could not be proved whole */
	CTP_ROLE_NAME,
	CTP_ROLE_SITE,      /* a place in the source, by its number: a record of CTP_KIND_SITE says which; 0: not known */
	CTP_ROLE_ORIGIN,    /* of a merged section: the section that the record is from, by a number that a record of CTP_KIND_ORIGIN has */
	CTP_ROLE_COUNT_
};

/*
 * How a field is predicted. "Key" is the record's field with CTP_PRED_KEY, "state" its field with CTP_ROLE_STATE. Those marked
 * * are always written; the others cost a bit in a mask and are written only where the prediction failed.
 */
enum ctp_pred {
	CTP_PRED_NONE = 0, /* * as it is */
	CTP_PRED_TIME,     /* * difference to the time before, of whatever class; at most one field, with CTP_ROLE_TIME */
	CTP_PRED_KEY,      /* * difference to the key before, of this class; at most one field */
	CTP_PRED_PREV,     /* as in the record before of this class */
	CTP_PRED_SAME,     /* as in the record before with this key */
	CTP_PRED_STATE,    /* as in the record before with this key and state */
	CTP_PRED_STEP,     /* that of the record before with this key, plus the same step as then */
	CTP_PRED_TOGGLE,   /* the opposite of the record before with this key (0 and 1) */
	CTP_PRED_COUNT
};

/* What a class stands for, where a tool gives it a meaning. */
enum ctp_kind {
	CTP_KIND_OTHER = 0,
	CTP_KIND_TRANSITION,
	CTP_KIND_BIRTH,
	CTP_KIND_DEATH,
	CTP_KIND_LOSS,
	CTP_KIND_END,      /* the totals that close a section */
	CTP_KIND_THREAD,
	CTP_KIND_MAPPING,
	CTP_KIND_UNTRACED,
	CTP_KIND_CONFLICT, /* two writers in one station */
	CTP_KIND_WAKE,     /* somebody made a coroutine ready to run */
	CTP_KIND_NAME,     /* a coroutine is called so from now on */
	CTP_KIND_SITE,     /* a place in the source: comes before what refers to it */
	CTP_KIND_AWAIT,    /* the coroutine that another waits for, from its next suspension on */
	CTP_KIND_FUNCTION, /* the code of a coroutine whose transitions have the address of its frame */
	CTP_KIND_PROCESS,  /* what a process was seen to do: executing, stopped, ending */
	CTP_KIND_SAMPLE,   /* how much CPU time a thread has had, and what it was seen to do */
	CTP_KIND_SIGNAL,   /* one that was passed on to a process */
	CTP_KIND_REASON,   /* what the next suspension of a coroutine waits for */
	CTP_KIND_OBJECT,   /* how much of an object is available, that coroutines wait for */
	CTP_KIND_LABEL, /* an object is called so from now on */
	CTP_KIND_HOLD,     /* a coroutine holds more or less of an object */
	CTP_KIND_CAUSE, /* the object because of which a coroutine was woken just now */
	CTP_KIND_DESCRIPTOR, /* what the kernel has for a descriptor that a coroutine waits for */
	CTP_KIND_LEFT_OUT, /* a filter has left out records of a coroutine */
	CTP_KIND_CLOCK,    /* the wall clock at a time of the section */
	CTP_KIND_ORIGIN,   /* a section that was merged with others into this one begins or ends */
	CTP_KIND_ATTRIBUTE, /* an attribute of such a section */
	CTP_KIND_FINDING,  /* what a report of the whole trace says, in a part of it */
	CTP_KIND_COUNT
};

enum {
	CTP_FIELD_HEX = 1,   /* show in hexadecimal */
	CTP_FIELD_EXTRA = 2, /* beyond what coroTracer has: left out of the plain views of a class */

	CTP_FIELDS_MAX = 128,  /* of a class */
	CTP_MASKED_MAX = 56,   /* of a class: fields with a predictor that can fail */
	CTP_LABELS_MAX = 256,  /* of an enum */
	CTP_NAME_MAX = 255,    /* bytes, of a class, field, label or unit */
	CTP_CLASSES_MAX = 512, /* in one packet, and in one reader or writer */
};

struct ctp_label {
	uint64_t value;
	const char *name;
};

struct ctp_field {
	const char *name;
	uint8_t type, role, pred, flags;
	const char *unit; /* "ns", "bytes" ...; null or "" for none */
	const struct ctp_label *labels;
	uint32_t nlabels;
};

/* Made by ctp_class_new, never changed afterwards. */
struct ctp_class {
	const char *name;
	uint32_t nfields;
	uint8_t kind;
	bool has_text; /* a field is a string or bytes */
	const struct ctp_field *fields;
	int time_field, key_field, state_field; /* -1: none */
	uint32_t id;     /* dense, given by the reader or the caller that keeps the class: index for a sink's own table */
	struct ctp_codec_plan *plan; /* how records are coded, for the library */
	const uint8_t *decl;   /* the declaration as it stands in a packet */
	size_t decl_bytes;
};

/* Copies and checks everything; the class is the caller's to free. Null: it breaks a limit or a rule, and err says which. */
struct ctp_class *ctp_class_new(const char *name, enum ctp_kind kind, const struct ctp_field *fields, uint32_t nfields,
                                struct ctp_err *err);

/* The same from the bytes of a declaration, which are hostile. */
struct ctp_class *ctp_class_parse(const uint8_t *decl, size_t decl_bytes, struct ctp_err *err);

void ctp_class_free(struct ctp_class *cls); /* null: nothing */

/* Index of the field with this name; of the first field with this role. -1: none. */
int ctp_class_field(const struct ctp_class *cls, const char *name);
int ctp_class_role(const struct ctp_class *cls, enum ctp_role role);

/* Name of an enum's value, good as long as the class, or null. */
const char *ctp_field_label(const struct ctp_field *field, uint64_t value);

/* Names of the numbers above, as JSONL and the manual spell them ("u64", "time", "same", "transition"); null beyond the last. */
const char *ctp_type_name(unsigned type);
const char *ctp_role_name(unsigned role);
const char *ctp_pred_name(unsigned pred);
const char *ctp_kind_name(unsigned kind);

static inline bool ctp_type_is_text(unsigned type) { return type == CTP_STRING || type == CTP_BYTES; }
static inline bool ctp_type_is_float(unsigned type) { return type == CTP_F32 || type == CTP_F64; }
static inline bool ctp_type_is_signed(unsigned type) { return type >= CTP_I8 && type <= CTP_I64; }

CTP_C_END

#endif
