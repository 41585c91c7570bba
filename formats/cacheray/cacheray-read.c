/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * cacheray-read.c - a source that makes a stream of Cacheray traces.
 *
 * What is at hand is gone through as far as it can be judged (cacheray-judge.h), and again when there is more. Before the input
 * waits, what is at hand is taken as if nothing bad would follow, and sent: a live reader sees all that has come.
 */
#include "cacheray/cacheray.h"

#include <stdlib.h>

#include "cacheray/cacheray-classes.h"
#include "cacheray/cacheray-judge.h"
#include "cacheray/cacheray-plan.h"

enum { BATCH = 128, MARK_RECORDS = 4096, GUESS_BYTES = 64 << 10, GUESS_BYTES_MIN = 18, LEARN_EVERY = 16, HINT_BYTES = 256 };

struct cacheray_source {
	struct ctp_source source;
	const char *tool;
	struct ctp_cacheray_spelling open;
	struct ctp_class *classes[CTP_CACHERAY_EVENTS];
	struct ctp_str *name; /* of an add, with room for any */

	/* of the input at hand */
	struct ctp_input *in;
	struct ctp_writer *writer;
	const struct ctp_notice *notice;
	bool open_section, seeking; /* seeking: the end of damage */
	struct ctp_cacheray_judge judge;
	struct ctp_cacheray_plan plan;
	uint64_t ordinal, marked;
	uint64_t damage_offset, damaged; /* bytes, so far */
	uint64_t zeros_offset; /* from where on the damage is nothing else, so far */
	uint64_t rest;         /* bytes of zeros at the end */
	struct ctp_err damage;
	uint32_t n; /* records that were not given to the writer yet */
	struct ctp_record rec[BATCH];
	uint64_t val[BATCH][CTP_ACCESS_FIELDS];
};

/* --- records ------------------------------------------------------------------------------------------------------------- */

static void put_batch(struct cacheray_source *s)
{
	if (s->n)
		ctp_writer_records(s->writer, &(struct ctp_batch){.rec = s->rec, .n = s->n});
	s->source.stats.accepted += s->n;
	s->n = 0;
	if (s->ordinal - s->marked < MARK_RECORDS)
		return;
	ctp_writer_mark(s->writer, s->marked = s->ordinal);
	const struct ctp_tick *tick = &s->source.tick;
	if (tick->tick)
		tick->tick(tick->arg, s->in, s->source.stats.accepted);
}

static uint64_t *next_record(struct cacheray_source *s, enum ctp_cacheray_event event)
{
	if (s->n == BATCH)
		put_batch(s);
	s->rec[s->n].cls = s->classes[event];
	return s->val[s->n++];
}

static inline __attribute__((always_inline)) void put_access(struct ctp_cacheray_spelling sp, const uint8_t *p, uint64_t ts, uint64_t *val)
{
	size_t after = ctp_cacheray_after_address(sp);
	val[CTP_ACCESS_TS] = ts;
	val[CTP_ACCESS_ADDRESS] = ctp_cacheray_get_address(sp, p);
	val[CTP_ACCESS_SIZE] = p[after];
	val[CTP_ACCESS_THREAD] = ctp_cacheray_u64(sp, p + after + 1);
	val[CTP_ACCESS_OP] = *p & CTP_CACHERAY_WRITE;
	val[CTP_ACCESS_ATOMIC] = *p >> 6 & 1;
	val[CTP_ACCESS_UNALIGNED] = *p >> 7;
}

/* Whether the record at p is an access like that of the record before, in which nothing is to be judged. */
static inline __attribute__((always_inline)) bool is_usual(struct ctp_cacheray_spelling sp, const uint8_t *p, uint64_t thread,
                                                           unsigned unaligned, unsigned canonical_bits)
{
	uint64_t address = ctp_cacheray_get_address(sp, p);
	uint8_t tag = *p, size = p[ctp_cacheray_after_address(sp)];
	bool aligned = !(address & (size - 1u)) || tag & unaligned;
	return !(tag & (CTP_CACHERAY_SORT - CTP_CACHERAY_WRITE)) && ctp_cacheray_usual_size(size) && aligned &&
	       !(address >> canonical_bits) && ctp_cacheray_u64(sp, p + ctp_cacheray_after_address(sp) + 1) == thread;
}

/* Such accesses, as many as follow each other. */
static inline __attribute__((always_inline)) void take_run(struct cacheray_source *s, struct ctp_cacheray_spelling sp)
{
	const struct ctp_class *cls = s->classes[CTP_CACHERAY_ACCESS];
	const size_t bytes = ctp_cacheray_access_bytes(sp);
	const uint64_t thread = s->judge.last;
	const unsigned unaligned = s->judge.misaligned ? UINT8_MAX : CTP_CACHERAY_UNALIGNED, bits = s->judge.wild ? 63 : 48;
	const uint8_t *p = s->in->ptr, *end = p + s->in->avail;
	for (bool more = true; more;) {
		uint32_t n = s->n;
		uint64_t ts = s->ordinal;
		for (; n < BATCH && (more = (size_t)(end - p) >= bytes && is_usual(sp, p, thread, unaligned, bits)); n++, p += bytes) {
			s->rec[n].cls = cls;
			put_access(sp, p, ts++, s->val[n]);
		}
		for (uint32_t i = s->n; i < n; i += LEARN_EVERY)
			ctp_cacheray_plan_learn(&s->plan, s->val[i][CTP_ACCESS_ADDRESS]);
		s->judge.taken += ts - s->ordinal;
		s->ordinal = ts;
		s->n = n;
		if (n == BATCH)
			put_batch(s);
	}
	ctp_input_skip(s->in, (size_t)(p - s->in->ptr));
}

static void take_accesses(struct cacheray_source *s)
{
	struct ctp_cacheray_spelling sp = s->judge.spelling;
	if (!s->judge.taken)
		return;
	if (sp.order == CTP_CACHERAY_LITTLE && sp.address_bytes == 8) /* compiled for this one, which most traces have */
		take_run(s, (struct ctp_cacheray_spelling){CTP_CACHERAY_LITTLE, 8});
	else
		take_run(s, sp);
}

static void take_add(struct cacheray_source *s, const uint8_t *p, size_t bytes)
{
	struct ctp_cacheray_spelling sp = s->judge.spelling;
	size_t fixed = ctp_cacheray_add_bytes(sp);
	uint64_t val[CTP_ADD_FIELDS] = {
		[CTP_ADD_TS] = s->ordinal,
		[CTP_ADD_ADDRESS] = ctp_cacheray_get_address(sp, p),
		[CTP_ADD_THREAD] = ctp_cacheray_u64(sp, p + ctp_cacheray_after_address(sp)),
		[CTP_ADD_ELEMENT] = ctp_cacheray_u32(sp, p + fixed - 12),
		[CTP_ADD_COUNT] = ctp_cacheray_u32(sp, p + fixed - 8),
		[CTP_ADD_TYPE] = ctp_val_str(s->name),
	};
	s->name->len = (uint32_t)(bytes - fixed);
	memcpy(s->name->data, p + fixed, bytes - fixed);
	s->name->data[bytes - fixed] = 0;
	put_batch(s);
	ctp_writer_record(s->writer, s->classes[CTP_CACHERAY_ADD], val);
	s->source.stats.accepted++;
}

/* Takes the record at hand, which has this number of bytes. */
static void take(struct cacheray_source *s, size_t bytes)
{
	struct ctp_cacheray_spelling sp = s->judge.spelling;
	const uint8_t *p = s->in->ptr;
	uint64_t *val;
	ctp_cacheray_judge_learn(&s->judge, p);
	ctp_cacheray_plan_learn(&s->plan, ctp_cacheray_get_address(sp, p));
	if (*p == CTP_CACHERAY_RTTA_ADD) {
		take_add(s, p, bytes);
	} else if (*p == CTP_CACHERAY_RTTA_REMOVE) {
		val = next_record(s, CTP_CACHERAY_REMOVE);
		val[CTP_REMOVE_TS] = s->ordinal;
		val[CTP_REMOVE_ADDRESS] = ctp_cacheray_get_address(sp, p);
		val[CTP_REMOVE_THREAD] = ctp_cacheray_u64(sp, p + ctp_cacheray_after_address(sp));
	} else {
		put_access(sp, p, s->ordinal, next_record(s, CTP_CACHERAY_ACCESS));
	}
	s->ordinal++;
	ctp_input_skip(s->in, bytes);
}

/* --- damage -------------------------------------------------------------------------------------------------------------- */

static void skip_damage(struct cacheray_source *s)
{
	bool zero = !*s->in->ptr;
	ctp_input_skip(s->in, 1);
	if (!zero)
		s->zeros_offset = s->in->offset;
}

static void begin_damage(struct cacheray_source *s)
{
	struct ctp_input *in = s->in;
	ctp_cacheray_judge_why(&s->judge, in->ptr, in->avail, &s->damage);
	s->damage_offset = s->zeros_offset = in->offset;
	s->seeking = true;
	skip_damage(s);
}

static void end_damage(struct cacheray_source *s, uint64_t upto)
{
	uint64_t bytes = upto - s->damage_offset;
	const uint64_t val[CTP_DAMAGE_FIELDS] = {
		[CTP_DAMAGE_TS] = s->ordinal++, [CTP_DAMAGE_OFFSET] = s->damage_offset, [CTP_DAMAGE_BYTES] = bytes};
	put_batch(s);
	ctp_writer_record(s->writer, s->classes[CTP_CACHERAY_DAMAGE], val);
	ctp_notice_say(s->notice, "byte %llu: %.100s; %llu byte%s skipped", (unsigned long long)s->damage_offset, s->damage.text,
	               (unsigned long long)bytes, bytes == 1 ? "" : "s");
	s->source.stats.rejected++;
	s->damaged += bytes;
}

/* Zeros up to the end are no damage: the trace has no end, since the program had none, or was cut before. */
static bool is_rest(const struct cacheray_source *s)
{
	bool alone = s->zeros_offset == s->damage_offset;
	uint64_t zeros = s->in->offset - s->zeros_offset;
	return !s->in->avail && zeros >= (alone ? ctp_cacheray_access_bytes(s->judge.spelling) : CTP_CACHERAY_REST);
}

static void end_rest(struct cacheray_source *s)
{
	if (s->zeros_offset > s->damage_offset)
		end_damage(s, s->zeros_offset);
	s->rest = s->in->offset - s->zeros_offset;
	ctp_notice_say(s->notice,
	               "byte %llu: zeros up to the end: the program did not end through exit, or a limit cut its trace; its records are those before",
	               (unsigned long long)s->zeros_offset);
}

static bool make_plan(struct cacheray_source *s, enum ctp_cacheray_after after)
{
	return ctp_cacheray_plan_make(&s->plan, &s->judge, s->in->ptr, s->in->avail, s->in->offset, after);
}

/* Whether records begin again where the input is. */
static enum ctp_cacheray_answer resumes(struct cacheray_source *s, enum ctp_cacheray_after after)
{
	if (!make_plan(s, after))
		return CTP_ANSWER_WAIT;
	if (!ctp_cacheray_plan_resumes(&s->plan, s->in->offset))
		return CTP_ANSWER_NO;
	return ctp_cacheray_judge_resume(&s->judge, s->in->ptr, s->in->avail, after);
}

/* Whether to take the doubtful record at hand. */
static enum ctp_cacheray_answer accepts(struct cacheray_source *s, enum ctp_cacheray_after after)
{
	enum ctp_cacheray_answer answer = ctp_cacheray_judge_take(&s->judge, s->in->ptr, s->in->avail, s->in->offset, after);
	if (answer != CTP_ANSWER_YES || *s->in->ptr == CTP_CACHERAY_RTTA_ADD)
		return answer;
	if (!make_plan(s, after))
		return CTP_ANSWER_WAIT;
	return ctp_cacheray_plan_breaks(&s->plan, s->in->offset) ? CTP_ANSWER_NO : CTP_ANSWER_YES;
}

/* Passes over what is no record. False: there is not enough at hand to tell. */
static bool seek(struct cacheray_source *s, enum ctp_cacheray_after after)
{
	struct ctp_input *in = s->in;
	enum ctp_cacheray_answer answer = CTP_ANSWER_NO;
	while (in->avail && (answer = resumes(s, after)) == CTP_ANSWER_NO)
		skip_damage(s);
	if (answer != CTP_ANSWER_YES && after != CTP_AFTER_NOTHING)
		return false;
	if (is_rest(s))
		end_rest(s);
	else
		end_damage(s, in->offset);
	s->seeking = false;
	return true;
}

/* --- an input ------------------------------------------------------------------------------------------------------------ */

static void begin_section(struct cacheray_source *s, struct ctp_cacheray_spelling spelling)
{
	struct ctp_section sec;
	ctp_cacheray_judge_init(&s->judge, spelling);
	s->open_section = true;
	ctp_section_init(&sec);
	ctp_section_add(&sec, "tool", s->tool);
	ctp_section_add(&sec, "source", s->in->name);
	ctp_section_add(&sec, "clock", "ordinal");
	ctp_section_add(&sec, CTP_CACHERAY_ORDER, spelling.order == CTP_CACHERAY_BIG ? "big" : "little");
	ctp_section_addf(&sec, CTP_CACHERAY_ADDRESS, "%u", spelling.address_bytes);
	ctp_writer_begin(s->writer, &sec);
	ctp_writer_mark(s->writer, 0); /* makes the section exist even if it is empty */
	ctp_section_fini(&sec);
}

/* The section begins as soon as the spelling is known. False: not yet. */
static bool find_spelling(struct cacheray_source *s, enum ctp_cacheray_after after)
{
	struct ctp_input *in = s->in;
	bool known = s->open.order && s->open.address_bytes;
	if (in->avail < GUESS_BYTES && after != CTP_AFTER_NOTHING &&
	    (after == CTP_AFTER_MORE || in->avail < GUESS_BYTES_MIN))
		return false;
	size_t some = in->avail < GUESS_BYTES ? in->avail : GUESS_BYTES;
	begin_section(s, known ? s->open : ctp_cacheray_guess(s->open, in->ptr, some));
	ctp_cacheray_plan_begin(&s->plan, &s->judge, in->ptr, some);
	return true;
}

/* Goes through what is at hand, as far as it can be judged. */
static void read_records(struct cacheray_source *s, enum ctp_cacheray_after after)
{
	struct ctp_input *in = s->in;
	if (!s->open_section && !find_spelling(s, after))
		return;
	while (!ctp_writer_failed(s->writer)) {
		if (s->seeking && !seek(s, after))
			return;
		take_accesses(s);
		if (!in->avail)
			return;
		size_t bytes;
		enum ctp_cacheray_verdict v = ctp_cacheray_judge_record(&s->judge, in->ptr, in->avail, &bytes);
		enum ctp_cacheray_answer answer = v == CTP_RECORD_WHOLE ? CTP_ANSWER_YES : CTP_ANSWER_NO;
		if (v == CTP_RECORD_SHORT && after != CTP_AFTER_NOTHING)
			return;
		if (v == CTP_RECORD_DOUBTFUL)
			answer = accepts(s, after);
		if (answer == CTP_ANSWER_WAIT)
			return;
		if (answer == CTP_ANSWER_YES)
			take(s, bytes);
		else
			begin_damage(s);
	}
}

static void send(struct cacheray_source *s)
{
	if (!s->open_section)
		return;
	put_batch(s);
	if (s->marked < s->ordinal)
		ctp_writer_mark(s->writer, s->marked = s->ordinal);
	ctp_writer_flush(s->writer);
}

/* The input is about to wait. */
static enum ctp_status flush_before_wait(void *arg, struct ctp_err *err)
{
	struct cacheray_source *s = arg;
	read_records(s, CTP_AFTER_LATER);
	send(s);
	return ctp_writer_failed(s->writer) ? ctp_err_set(err, "%s: the stream made from it could not be written", s->in->name) : CTP_OK;
}

static enum ctp_status finish(struct cacheray_source *s, struct ctp_err *err)
{
	struct ctp_input *in = s->in;
	struct ctp_source_stats *stats = &s->source.stats;
	bool empty = !in->offset && !in->harmed;
	if (in->failed) {
		*err = in->err;
		return CTP_FAILED;
	}
	put_batch(s);
	if (in->harmed)
		ctp_notice_say(s->notice, "%s", in->err.text);
	if (empty)
		ctp_notice_say(s->notice, "the input is empty");
	bool mostly_damage = s->damaged >= HINT_BYTES && s->damaged > (in->offset - s->rest) / 2;
	if (mostly_damage && (s->open.order || s->open.address_bytes))
		ctp_notice_say(s->notice, "most of it is damage: what was said by -a or -b may be wrong, and is found out where nothing is said");
	else if (mostly_damage)
		ctp_notice_say(s->notice, "most of it is damage: it is no trace, or its spelling was not found out; -a and -b say it");
	stats->harmed |= in->harmed || empty || stats->rejected || s->rest;
	ctp_writer_end(s->writer, !in->harmed && !s->rest);
	if (ctp_writer_failed(s->writer))
		return ctp_err_set(err, "%s: the stream made from it could not be written", in->name);
	return CTP_OK;
}

static enum ctp_status read_input(struct ctp_source *source, struct ctp_input *in, struct ctp_writer *w,
                                  const struct ctp_notice *notice, struct ctp_err *err)
{
	struct cacheray_source *s = (struct cacheray_source *)source;
	s->in = in;
	s->writer = w;
	s->notice = notice;
	s->open_section = s->seeking = false;
	s->ordinal = s->marked = s->damaged = s->rest = 0;
	memset(&s->plan, 0, offsetof(struct ctp_cacheray_plan, record));
	in->idle = flush_before_wait;
	in->idle_arg = s;
	for (size_t had = 0; !ctp_writer_failed(w) && ctp_input_fill(in, in->avail + 1) > had; had = in->avail)
		read_records(s, CTP_AFTER_MORE);
	in->idle = NULL;
	if (!in->failed)
		read_records(s, CTP_AFTER_NOTHING);
	enum ctp_status status = finish(s, err);
	ctp_cacheray_judge_fini(&s->judge);
	return status;
}

static void free_source(struct ctp_source *source)
{
	struct cacheray_source *s = (struct cacheray_source *)source;
	for (int i = 0; i < CTP_CACHERAY_EVENTS; i++)
		ctp_class_free(s->classes[i]);
	free(s->name);
	free(s);
}

static const struct ctp_source_ops ops = {
	.read = read_input,
	.free = free_source,
};

struct ctp_source *ctp_cacheray_source(const char *tool, struct ctp_cacheray_spelling spelling, struct ctp_err *err)
{
	struct cacheray_source *s = calloc(1, sizeof *s);
	bool made = s && (s->name = malloc(sizeof *s->name + CTP_CACHERAY_NAME_MAX + 1));
	for (int i = 0; s && i < CTP_CACHERAY_EVENTS; i++)
		made &= (s->classes[i] = ctp_cacheray_class(i)) != NULL;
	if (!made) {
		ctp_err_memory(err);
		if (s)
			free_source(&s->source);
		return NULL;
	}
	for (uint32_t i = 0; i < BATCH; i++)
		s->rec[i].val = s->val[i];
	s->source.ops = &ops;
	s->tool = tool;
	s->open = spelling;
	return &s->source;
}
