/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * sql-sink.c - a sink that makes a database, or adds to one; see sql.h for its tables.
 *
 * The whole input is one transaction, unless the engine can show what there is. Rows are in their tables at the latest when their
 * section ends: their class is good until then.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/tids.h"
#include "common/meta.h"
#include "common/spool.h"
#include "sql/sql-end.h"
#include "sql/sql-facts.h"
#include "sql/sql-twin.h"
#include "sql/sql.h"
#include "symbols/sites.h"
#include "symbols/symbols.h"

enum { ADDRESSES_MAX = 8 }; /* fields of a class that are looked up */

struct sql_sink {
	struct ctp_sink sink;
	struct ctp_sql *db;
	const struct ctp_section *due; /* it has begun, and its row is not there yet; or null */
	int64_t section, first_section; /* first: of this run, or 0 */
	bool open, shown; /* open: the section has not ended; shown: nothing came since the last show */
	bool there;       /* the section is there already, and is left out */
	struct doubt {
		struct ctp_spool *spool;    /* null: the section is in no doubt */
		int64_t cut;                /* the section that it may replace; 0: it is merged */
		bool is_over;               /* it is taken, and comes from the spool */
		char stream[40];
		struct ctp_section_end end; /* what the spool does not have of it */
	} doubt;
	struct ctp_sql_end end;
	struct ctp_sql_facts *facts;
	struct ctp_symbols *symbols; /* null: none are looked up */
	struct ctp_tids listed;      /* addresses whose texts are in the table, of this section */
	struct target { /* by the class's id */
		struct ctp_sql_rows *rows;
		struct ctp_sql_twin *twin; /* null: the class has none */
		bool event;
		uint8_t naddresses, addresses[ADDRESSES_MAX]; /* fields */
	} targets[CTP_CLASSES_MAX];
};

/* --- sections ------------------------------------------------------------------------------------------------------------ */

static const char *spell(const struct sql_sink *s, char to[CTP_TEXT_MAX], uint64_t v)
{
	*(s->db->words->wraps ? ctp_text_i64(to, (int64_t)v) : ctp_text_u64(to, v)) = '\0';
	return to;
}

/* The attribute, if it is a number; else null. */
static const char *number(const struct sql_sink *s, char to[CTP_TEXT_MAX], const struct ctp_section *sec, const char *name)
{
	const char *text = ctp_section_get(sec, name);
	uint64_t v;
	return text && ctp_parse_u64(text, text + strlen(text), &v) ? spell(s, to, v) : NULL;
}

static const char *input_name(const struct sql_sink *s) { return s->sink.input ? s->sink.input : "stdin"; }

/* Its rows, in all tables. */
static enum ctp_status remove_section(struct sql_sink *s, int64_t section, struct ctp_err *err)
{
	struct ctp_sql *db = s->db;
	ctp_notice_say(s->sink.complaint, "%s: section %jd, which is not complete, is replaced by that of %s", db->name, (intmax_t)section,
	               input_name(s));
	if (db->ops->remove)
		return db->ops->remove(db, section, err);
	char number[CTP_TEXT_MAX], delete[CTP_TEXT_MAX + 40];
	*ctp_text_i64(number, section) = '\0';
	snprintf(delete, sizeof delete, "DELETE FROM %%I WHERE section = %s", number);
	enum ctp_status status = ctp_sql_exec_list(db, "", "; ", delete, "SELECT DISTINCT table_name FROM classes", err);
	return status ? status : ctp_sql_exec(db, err, "DELETE FROM symbols WHERE section = %d; DELETE FROM sections WHERE id = %d", section, section);
}

/* why goes on after the id of the section that is there. */
static void leave_out(struct sql_sink *s, int64_t there, const char *why)
{
	ctp_notice_say(s->sink.complaint, "%s: %s: skipped: section %jd %s", s->db->name, input_name(s), (intmax_t)there, why);
	s->there = s->sink.skipped = true;
}

/* Sections of this run do not count: a user that gives a trace twice wants it twice. */
static int64_t first_new(const struct sql_sink *s) { return s->first_section ? s->first_section : INT64_MAX; }

/* What goes on live has nothing to go on with. */
static enum ctp_status look_for_same(struct sql_sink *s, const char *stream, struct ctp_err *err)
{
	int64_t had = ctp_sql_look_up(s->db, err, "SELECT id FROM %T WHERE stream = %L AND id < %d ORDER BY id LIMIT 1", "sections",
	                              stream, first_new(s));
	int64_t cut = had <= 0 ? had : ctp_sql_look_up(s->db, err, "SELECT 1 FROM %T WHERE id = %d AND NOT complete", "sections", had);
	if (cut < 0 || !had)
		return cut < 0 ? CTP_FAILED : CTP_OK;
	if (s->db->ops->show)
		return ctp_err_set(err, "%s: %s: section %jd is of the same trace%s; the manual says how to remove it", s->db->name,
		                   input_name(s), (intmax_t)had, cut ? ", and not complete" : "");
	if (cut && s->db->replaces)
		s->doubt.cut = had;
	else
		leave_out(s, had, cut ? "is of the same trace, and not complete; --replace replaces it" : "is of the same trace");
	return CTP_OK;
}

/* Whether it is taken is known at its end, and until then it is kept. */
static enum ctp_status begin_doubt(struct sql_sink *s, const struct ctp_section *sec, struct ctp_err *err)
{
	ctp_sql_end_begin(&s->end, sec);
	s->doubt.spool = ctp_spool_new(err);
	return s->doubt.spool ? ctp_spool_section(s->doubt.spool, sec, err) : CTP_FAILED;
}

static enum ctp_status find_doubt(struct sql_sink *s, const struct ctp_section *sec, struct ctp_err *err)
{
	if (look_for_same(s, s->doubt.stream, err))
		return CTP_FAILED;
	bool is_merged = ctp_section_get(sec, "merged") && !s->db->ops->show;
	int64_t before = is_merged ? ctp_sql_look_up(s->db, err, "SELECT id FROM %T WHERE id < %d LIMIT 1", "sections", first_new(s)) : 0;
	if (before < 0)
		return CTP_FAILED;
	return !s->there && (before || s->doubt.cut) ? begin_doubt(s, sec, err) : CTP_OK;
}

static enum ctp_status put_row(struct sql_sink *s, const struct ctp_section *sec, const char *attrs, const char *argv,
                               const char *stream, struct ctp_err *err)
{
	char pid[CTP_TEXT_MAX], start[CTP_TEXT_MAX], wall[CTP_TEXT_MAX];
	*ctp_text_i64(wall, sec->wall_offset_ns) = '\0';
	s->section = ctp_sql_next_id(s->db, "sections", err);
	s->first_section = s->first_section ? s->first_section : s->section;
	ctp_sql_end_begin(&s->end, sec);
	return s->section < 0 ? CTP_FAILED :
	       ctp_sql_exec(s->db, err, "INSERT INTO %T (id, attrs, argv, host, pid, tool, clock, wall_offset_ns, start_ns, complete, stream)"
	                                " VALUES (%d, %L, %L, %L, %L, %L, %L, %L, %L, FALSE, %L)",
	                    "sections", s->section, attrs, argv, ctp_section_get(sec, "host"), number(s, pid, sec, "pid"), ctp_section_get(sec, "tool"),
	                    ctp_section_get(sec, "clock"), sec->has_wall ? wall : NULL, number(s, start, sec, "start_ns"), stream);
}

/* first: the section's, or null: it has none, and no name. Parts of a divided stream could not be distinguished by that. */
static enum ctp_status put_section(struct sql_sink *s, const struct ctp_record *first, struct ctp_err *err)
{
	const struct ctp_section *sec = s->due;
	char *attrs = ctp_meta_attrs(sec, NULL), *argv = ctp_meta_list(sec, "argv[]", NULL);
	char *name = s->doubt.stream;
	enum ctp_status status = attrs && argv ? CTP_OK : ctp_sql_no_memory(s->db, err);
	if (!status && first && !s->doubt.is_over) {
		snprintf(name, sizeof s->doubt.stream, "%016" PRIx64 "-%016" PRIx64, sec->id, ctp_meta_mark(attrs, first));
		status = find_doubt(s, sec, err);
	}
	bool is_taken = !status && !s->there && !s->doubt.spool;
	if (is_taken) {
		ctp_sql_facts_section(s->facts, sec);
		status = put_row(s, sec, attrs, *argv ? argv : NULL, first ? name : NULL, err);
	}
	s->due = NULL;
	free(attrs);
	free(argv);
	return status;
}

/* Its row is made with the first record, by which it is known. */
static enum ctp_status write_section(struct ctp_sink *sink, const struct ctp_section *sec, struct ctp_err *err)
{
	struct sql_sink *s = (struct sql_sink *)sink;
	(void)err;
	if (s->symbols)
		ctp_symbols_forget(s->symbols);
	s->listed = (struct ctp_tids){0};
	s->due = sec;
	s->open = true;
	s->shown = s->there = false;
	return CTP_OK;
}

static void forget_classes(struct sql_sink *s)
{
	for (size_t i = 0; i < CTP_CLASSES_MAX; i++) {
		s->db->ops->drop(s->targets[i].rows);
		ctp_sql_twin_free(s->db, s->targets[i].twin);
		s->targets[i] = (struct target){0};
	}
}

/* Rows are in their tables, and the section says up to when. */
static enum ctp_status write_so_far(struct sql_sink *s, bool complete, struct ctp_err *err)
{
	for (size_t i = 0; i < CTP_CLASSES_MAX; i++) {
		const struct target *t = &s->targets[i];
		if ((t->rows && s->db->ops->end(s->db, t->rows, err)) || (t->twin && s->db->ops->end(s->db, t->twin->rows, err)))
			return CTP_FAILED;
	}
	if (ctp_sql_facts_so_far(s->facts, err))
		return CTP_FAILED;
	uint64_t end_ns;
	char end_text[CTP_TEXT_MAX];
	bool has_end = ctp_sql_end_ns(&s->end, &end_ns);
	return ctp_sql_exec(s->db, err, "UPDATE %T SET complete = %s, end_ns = %s WHERE id = %d", "sections", complete ? "TRUE" : "FALSE",
	                    has_end ? spell(s, end_text, end_ns) : "NULL", s->section);
}

static void end_doubt(struct sql_sink *s)
{
	ctp_spool_free(s->doubt.spool);
	s->doubt = (struct doubt){0};
}

/* 1: it has more than the section that it would replace; 0: it has not; -1: err. */
static int64_t has_more(struct sql_sink *s, const struct ctp_section_end *end, struct ctp_err *err)
{
	uint64_t end_ns;
	char text[CTP_TEXT_MAX];
	if (end->complete)
		return 1;
	if (!ctp_sql_end_ns(&s->end, &end_ns))
		return 0;
	return ctp_sql_look_up(s->db, err, "SELECT 1 FROM %T WHERE id = %d AND (end_ns IS NULL OR end_ns < %s)", "sections", s->doubt.cut,
	                       spell(s, text, end_ns));
}

static enum ctp_status settle_doubt(struct sql_sink *s, const struct ctp_section_end *end, struct ctp_err *err)
{
	struct ctp_spool *spool = s->doubt.spool;
	int64_t cut = s->doubt.cut, more = cut ? has_more(s, end, err) : 1;
	if (!more)
		leave_out(s, cut, "is of the same trace, and no shorter");
	if (more <= 0)
		return more < 0 ? CTP_FAILED : CTP_OK;
	if ((cut && remove_section(s, cut, err)) || ctp_spool_end(spool, end, err))
		return CTP_FAILED;
	s->doubt.end = *end;
	s->doubt.is_over = true;
	s->doubt.spool = NULL;
	enum ctp_status status = ctp_spool_replay(spool, s->sink.ops, &s->sink, err);
	s->doubt.spool = spool;
	return status;
}

static enum ctp_status write_end(struct ctp_sink *sink, const struct ctp_section_end *end, struct ctp_err *err)
{
	struct sql_sink *s = (struct sql_sink *)sink;
	if (s->doubt.spool) {
		enum ctp_status settled = settle_doubt(s, end, err);
		end_doubt(s);
		return settled;
	}
	end = s->doubt.is_over ? &s->doubt.end : end;
	enum ctp_status status = s->due ? put_section(s, NULL, err) : CTP_OK;
	if (!status && !s->there && (ctp_sql_facts_end(s->facts, s->section, end, err) || write_so_far(s, end->complete, err)))
		status = CTP_FAILED;
	forget_classes(s);
	s->open = s->shown = false;
	return status;
}

static enum ctp_status show(struct ctp_sink *sink, struct ctp_err *err)
{
	struct sql_sink *s = (struct sql_sink *)sink;
	if (s->shown)
		return CTP_OK;
	s->shown = true;
	return s->open && !s->due && write_so_far(s, false, err) ? CTP_FAILED : s->db->ops->show(s->db, err);
}

/* --- symbols ------------------------------------------------------------------------------------------------------------- */

static enum ctp_status put_symbol(struct sql_sink *s, uint64_t addr, const struct ctp_str *text, struct ctp_err *err)
{
	char spelled[CTP_TEXT_MAX];
	*ctp_text_hex16(spelled, addr) = '\0';
	return ctp_sql_exec(s->db, err, "INSERT INTO %T (section, addr, text) VALUES (%d, %L, %L) %s", "symbols", s->section, spelled, text->data,
	                    s->db->words->symbol_again);
}

/* Adds the texts of a record's addresses, each once. */
static enum ctp_status add_symbols(struct sql_sink *s, const struct target *to, const struct ctp_record *rec, struct ctp_err *err)
{
	ctp_symbols_learn(s->symbols, rec);
	uint64_t pid = to->naddresses ? ctp_symbols_pid(s->symbols, rec) : 0;
	for (unsigned i = 0; i < to->naddresses; i++) {
		uint64_t addr = rec->val[to->addresses[i]];
		const struct ctp_str *text = ctp_symbols_find(s->symbols, pid, addr);
		/* A text has one address in memory, so the pair is new if the symbol of the address has changed. */
		if (text && ctp_tids_add(&s->listed, addr * UINT64_C(0x9e3779b97f4a7c15) ^ ctp_val_str(text)) &&
		    put_symbol(s, addr, text, err))
			return CTP_FAILED;
	}
	return CTP_OK;
}

/* --- records ------------------------------------------------------------------------------------------------------------- */

static enum ctp_status add_class(struct sql_sink *s, const struct ctp_class *cls, struct ctp_err *err)
{
	struct target *to = &s->targets[cls->id];
	for (uint32_t i = 0; i < cls->nfields && to->naddresses < ADDRESSES_MAX; i++)
		if (cls->fields[i].role == CTP_ROLE_ADDRESS && ctp_site_shown(cls, i))
			to->addresses[to->naddresses++] = (uint8_t)i;
	to->event = ctp_sql_is_event(cls);
	if (ctp_sql_has_twin(cls) && !(to->twin = ctp_sql_twin_new(s->db, cls, err)))
		return CTP_FAILED;
	int64_t id = ctp_sql_class(s->db, cls, err);
	return id > 0 && (to->rows = s->db->ops->rows(s->db, cls, id, err)) ? CTP_OK : CTP_FAILED;
}

static enum ctp_status write_twin(struct sql_sink *s, const struct ctp_sql_twin *twin, const uint64_t *val, struct ctp_err *err)
{
	uint64_t own[CTP_TRANSITION_FIELDS];
	ctp_sql_twin_values(twin, val, own);
	return s->db->ops->add(s->db, twin->rows, s->section, own, err);
}

static void note_time(struct sql_sink *s, const struct ctp_record *rec, bool is_event)
{
	int field = rec->cls->time_field;
	if (field >= 0 && is_event)
		ctp_sql_end_event(&s->end, rec->val[field]);
	else if (field >= 0)
		ctp_sql_end_record(&s->end, rec);
}

static enum ctp_status write_record(struct sql_sink *s, const struct ctp_record *rec, struct ctp_err *err)
{
	const struct ctp_class *cls = rec->cls;
	const struct target *to = &s->targets[cls->id];
	if (!to->rows && add_class(s, cls, err))
		return CTP_FAILED;
	note_time(s, rec, to->event);
	if ((s->symbols && add_symbols(s, to, rec, err)) || (to->twin && write_twin(s, to->twin, rec->val, err)))
		return CTP_FAILED;
	return s->db->ops->add(s->db, to->rows, s->section, rec->val, err);
}

/* A merged section is there already if one is that was merged into it. */
static enum ctp_status look_for_origin(struct sql_sink *s, const struct ctp_record *rec, struct ctp_err *err)
{
	int field = ctp_class_field(rec->cls, "section_id");
	uint64_t id = ctp_record_number(rec, field);
	char pattern[CTP_TEXT_MAX];
	snprintf(pattern, sizeof pattern, "%016" PRIx64 "-%%", id);
	int64_t had = id ? ctp_sql_look_up(s->db, err, "SELECT id FROM %T WHERE stream LIKE %L AND id < %d ORDER BY id LIMIT 1", "sections",
	                                   pattern, first_new(s)) : 0;
	if (had <= 0)
		return had < 0 ? CTP_FAILED : CTP_OK;
	leave_out(s, had, "is one of those that were merged into it; append the others by themselves");
	end_doubt(s);
	return CTP_OK;
}

static enum ctp_status keep_records(struct sql_sink *s, const struct ctp_batch *batch, struct ctp_err *err)
{
	for (uint32_t i = 0; i < batch->n; i++) {
		const struct ctp_record *rec = &batch->rec[i];
		if (rec->cls->kind == CTP_KIND_ORIGIN && look_for_origin(s, rec, err))
			return CTP_FAILED;
		if (s->there)
			return CTP_OK;
		note_time(s, rec, ctp_sql_is_event(rec->cls));
	}
	return ctp_spool_records(s->doubt.spool, batch, err);
}

static enum ctp_status write_records(struct ctp_sink *sink, const struct ctp_batch *batch, struct ctp_err *err)
{
	struct sql_sink *s = (struct sql_sink *)sink;
	s->shown = false;
	if (s->due && batch->n && put_section(s, batch->rec, err))
		return CTP_FAILED;
	if (s->there)
		return CTP_OK;
	if (s->doubt.spool)
		return keep_records(s, batch, err);
	for (uint32_t i = 0; i < batch->n; i++)
		if (write_record(s, &batch->rec[i], err))
			return CTP_FAILED;
	return ctp_sql_facts_records(s->facts, s->section, batch, err);
}

/* --- begin and end ------------------------------------------------------------------------------------------------------- */

static enum ctp_status finish(struct ctp_sink *sink, struct ctp_err *err)
{
	struct ctp_sql *db = ((struct sql_sink *)sink)->db;
	return !db->words->late && ctp_sql_views_last(db, err) ? CTP_FAILED : db->ops->finish(db, &sink->tick, err);
}

static void free_sink(struct ctp_sink *sink)
{
	struct sql_sink *s = (struct sql_sink *)sink;
	forget_classes(s);
	end_doubt(s);
	ctp_sql_end_fini(&s->end);
	ctp_sql_facts_free(s->facts);
	ctp_symbols_free(s->symbols);
	s->db->ops->free(s->db);
	free(s);
}

#define OPS .section = write_section, .records = write_records, .end = write_end, .finish = finish, .free = free_sink

static const struct ctp_sink_ops ops = {OPS}, live_ops = {OPS, .flush = show};

struct ctp_sink *ctp_sql_sink(struct ctp_sql *db, struct ctp_symbols *symbols, struct ctp_err *err)
{
	struct sql_sink *s = calloc(1, sizeof *s);
	if (!s) {
		ctp_sql_no_memory(db, err);
		ctp_symbols_free(symbols);
		db->ops->free(db);
		return NULL;
	}
	s->sink.ops = db->ops->show ? &live_ops : &ops;
	s->db = db;
	s->symbols = symbols;
	s->facts = ctp_sql_facts_new(db, err);
	if (!s->facts || ctp_sql_schema(db, err) || (db->ops->begin && db->ops->begin(db, err))) {
		free_sink(&s->sink);
		return NULL;
	}
	return &s->sink;
}
