/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * sink.h - the two contracts of a foreign format: a sink is fed what a stream holds, a source makes a stream.
 *
 * A format knows no tool; what it offers is a constructor that returns a struct ctp_sink (or struct ctp_source) as the first member
 * of its own state. The memory of an output that a constructor was given stays the caller's, and must be there until the sink is
 * freed; to write to it and to close it is the sink's from then on, also when the constructor fails: finish closes it, and free
 * abandons an output that was not closed. The maker of the sink calls finish, if all went well and the sink has one, and free. All
 * calls come from one thread.
 *
 * Names (of classes, fields, labels, units, attributes) hold any bytes but NUL, values of strings and bytes any at all: a format
 * that cannot have some of them has to spell them otherwise.
 */
#ifndef CTP_SINK_H
#define CTP_SINK_H

#include "base/err.h"
#include "base/linkage.h"
#include "io/input.h"
#include "stream/reader.h"
#include "stream/record.h"
#include "stream/writer.h"

CTP_C_BEGIN

/* tick, if not null, is called every few thousand records, for a progress line. in may be null. */
struct ctp_tick {
	void (*tick)(void *arg, const struct ctp_input *in, uint64_t records);
	void *arg;
};

struct ctp_convert_stats;

struct ctp_sink {
	const struct ctp_sink_ops *ops;
	struct ctp_tick tick; /* the tool's, for a sink to call that takes long to finish */
	const char *input;    /* the path of the input, as it was given; null: stdin, without a path */
	const struct ctp_convert_stats *stats; /* of all inputs so far; of one, when it was read. Null: there was none */
	uint64_t mark_ns; /* in flush: no record before this time follows in the section, but for late ones; 0: not known */
	const char *made_by;   /* of a sink that wants certain records: what makes such a stream of what is none; null: many do */
	const char *others_by; /* of a sink of transitions alone: the options that show the rest; null: of any other */
	int idle_again_ms;     /* flush again each time that so long nothing has come; 0: once */
	bool apart;  /* each section is whole on its own: an input that cannot be read need not end the others */
	bool failed; /* the sink has, and not its input; ctp_convert's */
	bool left_out; /* after finish: it has said of an input that it did not take all of it */
	bool skipped;  /* after finish: it has said of a section that it did not take it, as it should: status 3 */
	const struct ctp_notice *complaint; /* what is said also with -q; the tool's, null: nothing is said */
};

struct ctp_sink_ops {
	/* A section begins; it is good until its end. Null: the format has no place for it. */
	enum ctp_status (*section)(struct ctp_sink *sink, const struct ctp_section *sec, struct ctp_err *err);

	/*
	 * Records, in time order but for those of a batch that is late. The batch and its values are good until this returns, their
	 * classes until the next section begins; cls->id is dense from 0, below CTP_CLASSES_MAX. Never null.
	 */
	enum ctp_status (*records)(struct ctp_sink *sink, const struct ctp_batch *batch, struct ctp_err *err);

	/*
	 * The input waits, or the last flush is a second ago: show what there is. Null: nothing can be shown before finish.
	 */
	enum ctp_status (*flush)(struct ctp_sink *sink, struct ctp_err *err);

	/* The section is over. Null: nothing to do. */
	enum ctp_status (*end)(struct ctp_sink *sink, const struct ctp_section_end *end, struct ctp_err *err);

	/* All is delivered: make it whole and visible. Not called after a failure. Null: nothing to do. */
	enum ctp_status (*finish)(struct ctp_sink *sink, struct ctp_err *err);

	/* Always called, last, once. What was not finished is removed. Never null. */
	void (*free)(struct ctp_sink *sink);
};

struct ctp_source_stats {
	uint64_t accepted, rejected, late; /* rows or records of the foreign format */
	uint64_t lost;                     /* events that are missing by the numbers of rows, not by loss records */
	bool harmed;                       /* rows were rejected, the input was cut short, or has loss records: status 3 */
};

struct ctp_source {
	const struct ctp_source_ops *ops;
	struct ctp_tick tick; /* the tool's, for the source to call */
	struct ctp_source_stats stats;
};

struct ctp_source_ops {
	/* Reads one input to its end and writes its sections. Rows that cannot be read are counted, and the first few said. */
	enum ctp_status (*read)(struct ctp_source *src, struct ctp_input *in, struct ctp_writer *w,
	                        const struct ctp_notice *notice, struct ctp_err *err);

	/* In place of read, for a format that is a folder: the same for what a path names. One of the two is null. */
	enum ctp_status (*read_path)(struct ctp_source *src, const char *path, struct ctp_writer *w,
	                             const struct ctp_notice *notice, struct ctp_err *err);
	void (*free)(struct ctp_source *src);
};

/* Coroutines of the section that found no station so far, if the record tells; else 0. */
uint64_t ctp_record_untraced(const struct ctp_record *rec);

/* Events that are missing by the record: 0 if it is no loss, 1 of one that has no unsigned number to say how many. */
uint64_t ctp_record_lost(const struct ctp_record *rec);

/* Whether a class of losses is about a thread and no coroutine: wakes, names and such are missing, and no transitions. */
bool ctp_class_is_missed(const struct ctp_class *cls);

/*
 * Feeds one input, ordered, to the sink; not its finish, so that several inputs can follow each other. notice and tick may be null.
 * A file may be read by a thread: then the notice comes from there, but never while the sink or the tick is called.
 * CTP_FAILED: the input could not be read, or is no stream at all, or the sink failed; never CTP_EOF. stats is added to, and is all
 * zeros at first; lost counts the events of loss records, missed the other records that a thread could not write.
 * A sink of transitions alone that gets none, though there are records of the kind other, is worth a notice.
 */
struct ctp_convert_stats {
	struct ctp_reader_stats reader;
	uint64_t lost, missed, untraced;
	uint64_t conflicts; /* records by which the history of a coroutine is not exact */
	bool damaged; /* or cut short, and so what was there is not known */
	bool harmed; /* damaged, lost, missed, untraced or in conflict: status 3 */
};

/*
 * After work that goes on without the memory of some table, and before which errno was 0: CTP_FAILED if memory ran out.
 * where is an input's name, or "". ctp_convert asks so after each call of a sink.
 */
enum ctp_status ctp_memory_status(enum ctp_status status, const char *where, struct ctp_err *err);

void ctp_reader_stats_add(struct ctp_reader_stats *sum, const struct ctp_reader_stats *s);

enum ctp_status ctp_convert(struct ctp_input *in, struct ctp_sink *sink, const struct ctp_notice *notice,
                            const struct ctp_tick *tick, struct ctp_convert_stats *stats, struct ctp_err *err);

CTP_C_END

#endif
