/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ctf-write.c - a sink that writes CTF; see ctf.h for the form.
 *
 * A packet is built in the buffer of its file's output, which writes one packet at a time. The packet's head gets its size and last
 * time when the packet is closed. No packet is empty: an event that finds no packet begins one.
 *
 * A stream must not go back in time. So there are a few streams, and a late record goes to the one whose last time is closest
 * before the record's; if all are later, the record goes to the earliest of them and gets its last time.
 */
#include "ctf/ctf.h"

#include <assert.h>
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctf/ctf-about.h"
#include "ctf/ctf-folder.h"
#include "io/folder.h"
#include "io/output.h"

enum {
	LOSS_PACKET_BYTES = 4096, /* size at which a packet with a loss is closed */
};

struct stream {
	struct ctp_output out;
	bool open;
	uint32_t instance;
	char *start, *p, *end; /* the open packet, its next event, and the end of its room; all null: none is open */
	char *large;           /* memory of a packet that is larger than the output's buffer */
	uint64_t begin_ns, last_ns;
	uint64_t packets, discarded; /* so far */
};

struct ctf_sink {
	struct ctp_sink sink;
	struct ctp_ctf_folder folder;
	uint64_t sections;
	char section[32]; /* the name of the folder of the section at hand */
	int at;           /* that folder; -1: there is none */
	uint8_t uuid[16];
	uint64_t time_max_ns; /* the last time that readers can show */
	struct ctp_output metadata;
	bool has_metadata;
	struct stream streams[CTP_CTF_STREAMS];
	struct ctp_ctf_class classes[CTP_CLASSES_MAX]; /* by their id in the stream */
	const struct ctp_ctf_class *numbered[CTP_CLASSES_MAX];
	uint32_t nclasses;
	struct plain { /* by the same id, for the short way; layout null: records of the class go the long way */
		const struct ctp_ctf_layout *layout;
		uint32_t id, time_field;
	} plain[CTP_CLASSES_MAX];
};

/* --- files ---------------------------------------------------------------------------------------------------------------- */

/* Errors have the name that the user gave. */
static enum ctp_status create(struct ctf_sink *s, struct ctp_output *out, const char *name, struct ctp_err *err)
{
	char path[PATH_MAX + 32];
	snprintf(path, sizeof path, "%s/%s", s->folder.path, name);
	if (ctp_output_create_in(out, s->at, path, true, err))
		return CTP_FAILED;
	out->name = s->folder.path;
	return CTP_OK;
}

static enum ctp_status open_stream(struct ctf_sink *s, struct stream *st, struct ctp_err *err)
{
	char name[32];
	st->instance = (uint32_t)(st - s->streams);
	snprintf(name, sizeof name, "stream_%u", st->instance);
	if (create(s, &st->out, name, err))
		return CTP_FAILED;
	st->open = true;
	return CTP_OK;
}

/* --- packets -------------------------------------------------------------------------------------------------------------- */

static char *put_u32(char *p, uint32_t v)
{
	v = htole32(v);
	memcpy(p, &v, sizeof v);
	return p + sizeof v;
}

static char *put_u64(char *p, uint64_t v)
{
	v = htole64(v);
	memcpy(p, &v, sizeof v);
	return p + sizeof v;
}

static void put_head(const struct stream *st, const uint8_t uuid[16], uint64_t discarded)
{
	uint64_t bits = 8 * (uint64_t)(st->p - st->start);
	char *p = put_u32(st->start, CTP_CTF_MAGIC);
	memcpy(p, uuid, 16);
	p = put_u32(p + 16, 0); /* the stream class */
	p = put_u64(p, st->instance);
	p = put_u64(p, st->begin_ns);
	p = put_u64(p, st->last_ns);
	p = put_u64(p, bits); /* content */
	p = put_u64(p, bits); /* packet */
	put_u64(p, discarded);
}

static void drop_packet(struct stream *st)
{
	free(st->large);
	st->large = st->start = st->p = st->end = NULL;
}

/*
 * Readers count lost events by the difference to the packet before. So the first packet has a count of 0, unless it is the last
 * too: babeltrace2 could not say how many are lost.
 */
static enum ctp_status close_packet(const struct ctf_sink *s, struct stream *st, bool last, struct ctp_err *err)
{
	/* A packet may be empty here: its first event was too large for its room, and is wide. */
	if (st->start && st->p - st->start > CTP_CTF_HEAD_BYTES) {
		put_head(st, s->uuid, st->packets++ || last ? st->discarded : 0);
		if (st->large)
			ctp_output_put(&st->out, st->large, (size_t)(st->p - st->start));
		else
			ctp_output_commit(&st->out, st->p);
		ctp_output_drain(&st->out);
	}
	drop_packet(st);
	if (!st->out.failed)
		return CTP_OK;
	*err = st->out.err;
	return CTP_FAILED;
}

/* The output's buffer is empty at that point: close_packet has drained it. */
static enum ctp_status begin_packet(struct ctf_sink *s, struct stream *st, size_t room, uint64_t now_ns, struct ctp_err *err)
{
	if (close_packet(s, st, false, err) || (!st->open && open_stream(s, st, err)))
		return CTP_FAILED;
	st->start = st->out.ptr;
	st->end = st->out.end;
	if ((size_t)(st->end - st->start) < CTP_CTF_HEAD_BYTES + room) {
		st->start = st->large = malloc(CTP_CTF_HEAD_BYTES + room);
		if (!st->large)
			return ctp_err_as(err, CTP_ERR_MEMORY, "%s: out of memory", s->folder.path);
		st->end = st->start + CTP_CTF_HEAD_BYTES + room;
	}
	st->p = st->start + CTP_CTF_HEAD_BYTES;
	st->begin_ns = st->last_ns = now_ns;
	return CTP_OK;
}

/* --- events --------------------------------------------------------------------------------------------------------------- */

static inline char *put_compact_head(char *p, uint32_t id, uint64_t now_ns)
{
	return put_u32(p, id | (uint32_t)now_ns << (32 - CTP_CTF_COMPACT_TIME_BITS));
}

static char *put_event_head(char *p, uint32_t id, uint64_t now_ns, uint64_t step_ns)
{
	if (id < CTP_CTF_COMPACT_IDS && !(step_ns >> CTP_CTF_COMPACT_TIME_BITS))
		return put_compact_head(p, id, now_ns);
	*p++ = CTP_CTF_COMPACT_IDS;
	return put_u64(put_u32(p, id), now_ns);
}

/* EOF: the record does not fit this variant. */
static enum ctp_status put_event(struct ctf_sink *s, struct stream *st, struct ctp_ctf_class *c, unsigned variant,
                                 uint64_t now_ns, const uint64_t *val, struct ctp_err *err)
{
	struct ctp_ctf_layout *layout = c->layout[variant];
	if (!layout && !(layout = c->layout[variant] = ctp_ctf_layout_new(c->cls, variant)))
		return ctp_err_as(err, CTP_ERR_MEMORY, "%s: out of memory", s->folder.path);
	size_t room = CTP_CTF_EXTENDED_BYTES + layout->room + (layout->has_text ? ctp_ctf_text_bytes(layout, val) : 0);
	if ((size_t)(st->end - st->p) < room && begin_packet(s, st, room, now_ns, err))
		return CTP_FAILED;
	char *p = put_event_head(st->p, ctp_ctf_id(c->number, variant), now_ns, now_ns - st->last_ns);
	p = ctp_ctf_pack(p, layout, val);
	if (!p)
		return CTP_EOF;
	assert(p <= st->end && now_ns >= st->last_ns);
	st->p = p;
	st->last_ns = now_ns;
	c->used |= 1u << variant;
	return CTP_OK;
}

static void add_discarded(struct stream *st, uint64_t lost)
{
	st->discarded = lost > INT64_MAX - st->discarded ? INT64_MAX : st->discarded + lost;
}

/* The count belongs to the whole packet, which is closed soon: so readers see about where the events are missing. */
static void count_lost(struct stream *st, uint64_t lost)
{
	size_t most = st->packets ? LOSS_PACKET_BYTES : 0;
	add_discarded(st, lost);
	if ((size_t)(st->end - st->start) > most)
		st->end = (size_t)(st->p - st->start) > most ? st->p : st->start + most;
}

/* The stream for a record that is too early for the first one; *now_ns becomes the event's time. */
static struct stream *find_stream(struct ctf_sink *s, uint64_t *now_ns)
{
	struct stream *fit = NULL, *least = s->streams;
	for (struct stream *st = s->streams; st < s->streams + CTP_CTF_STREAMS; st++) {
		if (st->last_ns <= *now_ns && (!fit || st->last_ns > fit->last_ns))
			fit = st;
		if (st->last_ns < least->last_ns)
			least = st;
	}
	if (fit)
		return fit;
	*now_ns = least->last_ns;
	return least;
}

static void add_class(struct ctf_sink *s, struct ctp_ctf_class *c, const struct ctp_class *cls)
{
	c->cls = cls;
	c->number = s->nclasses;
	s->numbered[s->nclasses++] = c;
}

/* If the class has had a usual event, its next ones may go the short way. */
static void note_plain(struct ctf_sink *s, const struct ctp_ctf_class *c)
{
	const struct ctp_class *cls = c->cls;
	uint32_t id = ctp_ctf_id(c->number, 0);
	if (c->used & 1 && id < CTP_CTF_COMPACT_IDS && cls->kind != CTP_KIND_LOSS && !cls->has_text && cls->time_field >= 0)
		s->plain[cls->id] = (struct plain){c->layout[0], id, (uint32_t)cls->time_field};
}

/* Any record. */
static enum ctp_status put_record(struct ctf_sink *s, const struct ctp_record *rec, struct ctp_err *err)
{
	struct ctp_ctf_class *c = &s->classes[rec->cls->id];
	struct stream *st = s->streams;
	if (!c->cls)
		add_class(s, c, rec->cls);
	uint64_t now_ns = rec->cls->time_field >= 0 ? rec->val[rec->cls->time_field] : st->last_ns, ts = now_ns;
	if (now_ns > s->time_max_ns)
		now_ns = st->last_ns;
	else if (now_ns < st->last_ns)
		st = find_stream(s, &now_ns);
	unsigned variant = now_ns == ts ? 0 : CTP_CTF_TIMED;
	enum ctp_status status;
	if (rec->cls->kind == CTP_KIND_LOSS && !st->packets && close_packet(s, st, false, err))
		return CTP_FAILED;
	while ((status = put_event(s, st, c, variant, now_ns, rec->val, err)) == CTP_EOF) {
		bool spell = c->layout[variant]->has_names && !(variant & CTP_CTF_SPELLED);
		variant = spell ? variant | CTP_CTF_SPELLED : (variant & ~(unsigned)CTP_CTF_SPELLED) | CTP_CTF_WIDE;
	}
	if (rec->cls->kind == CTP_KIND_LOSS && status == CTP_OK)
		count_lost(st, ctp_record_lost(rec));
	note_plain(s, c);
	return status;
}

/*
 * The short way, for usual records: in order, soon after the one before, without a text. Writes the usual records from rec on, of
 * one class, as long as the packet has room; returns the first other record, or end.
 */
static const struct ctp_record *write_plain(struct ctf_sink *s, const struct ctp_record *rec, const struct ctp_record *end)
{
	const struct plain plain = s->plain[rec->cls->id];
	const struct ctp_class *cls = rec->cls;
	struct stream *st = s->streams;
	size_t room = plain.layout ? CTP_CTF_COMPACT_BYTES + plain.layout->room : SIZE_MAX;
	for (; rec < end && rec->cls == cls && (size_t)(st->end - st->p) >= room; rec++) {
		uint64_t now_ns = rec->val[plain.time_field], step_ns = now_ns - st->last_ns;
		if (step_ns >> CTP_CTF_COMPACT_TIME_BITS || now_ns > s->time_max_ns)
			break;
		char *p = ctp_ctf_pack(put_compact_head(st->p, plain.id, now_ns), plain.layout, rec->val);
		if (!p)
			break;
		st->p = p;
		st->last_ns = now_ns;
	}
	return rec;
}

static enum ctp_status write_records(struct ctp_sink *sink, const struct ctp_batch *batch, struct ctp_err *err)
{
	struct ctf_sink *s = (struct ctf_sink *)sink;
	for (const struct ctp_record *rec = batch->rec, *end = rec + batch->n, *next; rec < end; rec = next) {
		next = write_plain(s, rec, end);
		if (next == rec && put_record(s, next++, err))
			return CTP_FAILED;
	}
	return CTP_OK;
}

/* --- sections ------------------------------------------------------------------------------------------------------------- */

/* The same input gives the same uuids, one for each section. */
static void make_uuid(uint8_t uuid[16], uint64_t id, uint64_t ordinal)
{
	uint64_t x = id + ordinal * 0x9e3779b97f4a7c15;
	for (unsigned i = 0; i < 16; i += 8) {
		x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
		x = (x ^ x >> 27) * 0x94d049bb133111eb;
		x ^= x >> 31;
		put_u64((char *)uuid + i, x);
	}
	uuid[6] = 0x80 | (uuid[6] & 0x0f); /* version 8: defined by the application */
	uuid[8] = 0x80 | (uuid[8] & 0x3f);
}

static enum ctp_status begin_section(struct ctp_sink *sink, const struct ctp_section *sec, struct ctp_err *err)
{
	struct ctf_sink *s = (struct ctf_sink *)sink;
	snprintf(s->section, sizeof s->section, "%04llu", (unsigned long long)++s->sections);
	s->at = ctp_folder_below(s->folder.fd, s->folder.path, s->section, true, err);
	if (s->at < 0 || create(s, &s->metadata, "metadata", err))
		return CTP_FAILED;
	s->has_metadata = true;
	s->time_max_ns = ctp_ctf_time_max(sec);
	make_uuid(s->uuid, sec->id, s->sections);
	ctp_ctf_metadata_begin(&s->metadata, sec, s->uuid);
	return CTP_OK;
}

/* Frees and resets all that belongs to the section. */
static void forget_section(struct ctf_sink *s)
{
	for (struct stream *st = s->streams; st < s->streams + CTP_CTF_STREAMS; st++) {
		drop_packet(st);
		if (st->open)
			ctp_output_abandon(&st->out);
		*st = (struct stream){0};
	}
	if (s->has_metadata)
		ctp_output_abandon(&s->metadata);
	s->has_metadata = false;
	if (s->at >= 0)
		close(s->at);
	s->at = -1;
	for (size_t i = 0; i < CTP_CLASSES_MAX; i++) {
		for (unsigned variant = 0; variant < CTP_CTF_VARIANTS; variant++)
			free(s->classes[i].layout[variant]);
		s->classes[i] = (struct ctp_ctf_class){0};
		s->plain[i] = (struct plain){0};
	}
	s->nclasses = 0;
}

static enum ctp_status end_section(struct ctp_sink *sink, const struct ctp_section_end *end, struct ctp_err *err)
{
	struct ctf_sink *s = (struct ctf_sink *)sink;
	for (struct stream *st = s->streams + CTP_CTF_STREAMS; st-- > s->streams;) {
		if (!st->open)
			continue;
		if (!st->packets && st > s->streams) {
			/* babeltrace2 could not say how many events are missing in a stream's only packet. */
			add_discarded(s->streams, st->discarded);
			st->discarded = 0;
		}
		if (close_packet(s, st, true, err))
			return CTP_FAILED;
		st->open = false;
		if (ctp_output_close(&st->out, err))
			return CTP_FAILED;
	}
	ctp_ctf_metadata_end(&s->metadata, s->numbered, s->nclasses, end->complete);
	s->has_metadata = false;
	if (ctp_output_close(&s->metadata, err))
		return CTP_FAILED;
	forget_section(s);
	return CTP_OK;
}

/* --- begin and end -------------------------------------------------------------------------------------------------------- */

static enum ctp_status finish(struct ctp_sink *sink, struct ctp_err *err)
{
	struct ctf_sink *s = (struct ctf_sink *)sink;
	/* An input without a section gives a trace without events. */
	static const struct ctp_section none;
	static const struct ctp_section_end cut;
	if (!s->sections && (begin_section(sink, &none, err) || end_section(sink, &cut, err)))
		return CTP_FAILED;
	return ctp_ctf_folder_publish(&s->folder, s->sections == 1 ? s->section : NULL, err);
}

static void free_sink(struct ctp_sink *sink)
{
	struct ctf_sink *s = (struct ctf_sink *)sink;
	forget_section(s);
	ctp_ctf_folder_end(&s->folder);
	free(s);
}

static const struct ctp_sink_ops ops = {
	.section = begin_section,
	.records = write_records,
	.end = end_section,
	.finish = finish,
	.free = free_sink,
};

struct ctp_sink *ctp_ctf_sink(const char *dir, bool force, struct ctp_err *err)
{
	struct ctf_sink *s = calloc(1, sizeof *s);
	if (!s)
		return ctp_err_as(err, CTP_ERR_MEMORY, "%s: out of memory", dir), NULL;
	s->sink.ops = &ops;
	s->at = -1;
	if (ctp_ctf_folder_begin(&s->folder, dir, force, err)) {
		free(s);
		return NULL;
	}
	return &s->sink;
}
