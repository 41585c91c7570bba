/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * writer.h - the raw stream, going out.
 *
 * Records are coded into a packet; a full packet goes to `put` in one call. Errors are sticky: puts return nothing, the calls
 * that close something report. No allocation after the first records of a class. Records, marks and an end belong to a section: one of
 * them before ctp_writer_begin or after ctp_writer_end is a bug of the caller, and an assert fails.
 */
#ifndef CTP_WRITER_H
#define CTP_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/linkage.h"
#include "io/output.h"
#include "stream/record.h"
#include "stream/schema.h"

CTP_C_BEGIN

struct ctp_writer;

/* Packets go to out, which stays the caller's to close, and must be there until the writer is freed. Null: err says why. */
struct ctp_writer *ctp_writer_to(struct ctp_output *out, struct ctp_err *err);

/* Takes one whole packet; false if it could not be taken (the caller of the writer knows why and says so). */
typedef bool ctp_writer_put(void *arg, const void *packet, size_t len_bytes);

/* The same for packets that go elsewhere. arg is the caller's, and must be there until the writer is freed. */
struct ctp_writer *ctp_writer_new(ctp_writer_put *put, void *arg, struct ctp_err *err);

/*
 * The same for a put that has memory of its own, so that it need not copy: a packet is made where `room` says, in
 * CTP_WRITER_ROOM bytes that are the writer's until put gets their address. Each room is followed by one put, or by none where
 * the writer ends before.
 */
enum { CTP_WRITER_ROOM = 64 + (4 << 20) };
typedef void *ctp_writer_room(void *arg);
struct ctp_writer *ctp_writer_new_in(ctp_writer_room *room, ctp_writer_put *put, void *arg, struct ctp_err *err);
void ctp_writer_free(struct ctp_writer *w); /* what was not flushed is dropped */

/* Opens a section; sec is copied. One that is open is closed first, as cut short. */
void ctp_writer_begin(struct ctp_writer *w, const struct ctp_section *sec);

/*
 * One record, in a section; it is copied, but cls must outlive the section. val as in record.h; values that do not fit the field's
 * type are cut to it, and so is a string longer than CTP_STRING_MAX.
 */
void ctp_writer_record(struct ctp_writer *w, const struct ctp_class *cls, const uint64_t *val);

void ctp_writer_records(struct ctp_writer *w, const struct ctp_batch *batch); /* the same of many */

/* Promise: of everything that happened before ts_ns, all that is known has been written. Lets readers order and go on. */
void ctp_writer_mark(struct ctp_writer *w, uint64_t ts_ns);

/*
 * Leaves out the number of a packet: readers say that one is missing here. For a writer whose own input misses records that nobody
 * has counted.
 */
void ctp_writer_skip(struct ctp_writer *w);

/*
 * Sends the packet that is being filled, if it holds anything. Call it when a live reader should wait no longer: an output is flushed
 * as well; a caller with a put of its own flushes what that writes to.
 */
void ctp_writer_flush(struct ctp_writer *w);
size_t ctp_writer_pending(const struct ctp_writer *w); /* bytes not yet sent */

/*
 * Closes the section, which is open: complete if its last packet says so. False if any put of this writer ever failed,
 * memory ran out, or a class did not fit into a packet.
 */
bool ctp_writer_end(struct ctp_writer *w, bool complete);

bool ctp_writer_failed(const struct ctp_writer *w);

CTP_C_END

#endif
