/*
 * sink.h - the two contracts of a foreign format: a sink is fed what a stream holds, a source makes a stream.
 *
 * A format is one file in formats/. It knows no tool and no other format; what it offers is a constructor that returns a
 * struct ctp_sink (or struct ctp_source) with its own state behind it.
 */
#ifndef CTP_SINK_H
#define CTP_SINK_H

#include "base/err.h"
#include "io/input.h"
#include "stream/reader.h"
#include "stream/record.h"
#include "stream/writer.h"

/* tick, if not null, is called every few thousand records, for a progress line. in may be null. */
struct ctp_tick {
	void (*tick)(void *arg, const struct ctp_input *in, uint64_t records);
	void *arg;
};

struct ctp_sink {
	const struct ctp_sink_ops *ops;
	struct ctp_tick tick; /* the tool's, for a sink to call that takes long to finish */
	const char *input;    /* what is read, as it was given; null: stdin, which nobody named */
	bool missing;         /* when a section ends: packets of it are */
};

struct ctp_sink_ops {
	/* A section begins. Null: the format has no place for it. */
	enum ctp_status (*section)(struct ctp_sink *sink, const struct ctp_section *sec, struct ctp_err *err);

	/* A record, in time order but for rec->late. cls->id is dense; it and cls are good until the next section begins. */
	enum ctp_status (*record)(struct ctp_sink *sink, const struct ctp_record *rec, struct ctp_err *err);

	/* The section is over; complete as in struct ctp_item. Null: nothing to do. */
	enum ctp_status (*end)(struct ctp_sink *sink, bool complete, struct ctp_err *err);

	/* All is delivered: make it whole and visible. Not called after a failure. */
	enum ctp_status (*finish)(struct ctp_sink *sink, struct ctp_err *err);

	/* Always called, last. What was not finished is removed. */
	void (*free)(struct ctp_sink *sink);
};

struct ctp_source_stats {
	uint64_t accepted, rejected, late; /* rows or records of the foreign format */
	uint64_t lost;                     /* events that are missing by what these leave out, not by what they tell */
	bool harmed;                       /* some were rejected, the input was cut short, or it tells of what is missing: status 3 */
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

/* Coroutines that found no station, so far in the section, if the record is one that says so; else 0. */
uint64_t ctp_record_untraced(const struct ctp_record *rec);

/* Events that are missing by the record: 0 if it is no loss, 1 of one that has no unsigned number to say how many. */
uint64_t ctp_record_lost(const struct ctp_record *rec);

/* Whether a class of losses is about a thread and no coroutine: what is missing is wakes, names ... and no transitions. */
bool ctp_class_is_missed(const struct ctp_class *cls);

/*
 * Feeds one input, ordered, to the sink (not its finish). stats is added to; lost counts the events that loss records tell of, missed
 * what a thread could not tell beside them.
 */
struct ctp_convert_stats {
	struct ctp_reader_stats reader;
	uint64_t lost, missed, untraced;
	uint64_t conflicts; /* records that say that what is known of a coroutine is not exact */
	bool harmed; /* damaged, cut short, lost, missed, untraced or in conflict: status 3 */
};

void ctp_reader_stats_add(struct ctp_reader_stats *sum, const struct ctp_reader_stats *s);

enum ctp_status ctp_convert(struct ctp_input *in, struct ctp_sink *sink, const struct ctp_notice *notice,
                            const struct ctp_tick *tick, struct ctp_convert_stats *stats, struct ctp_err *err);

#endif
