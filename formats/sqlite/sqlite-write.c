/*
 * sqlite-write.c - a sink that makes a database, or adds to one; see sqlite.h for its tables.
 *
 * The whole input is one transaction. Records wait in a batch for each class, and are written at the latest when their section
 * ends: their class is good until then.
 */
#include "sqlite/sqlite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/tids.h"
#include "common/meta.h"
#include "sqlite/sqlite-db.h"
#include "sqlite/sqlite-end.h"
#include "sqlite/sqlite-twin.h"
#include "symbols/sites.h"
#include "symbols/symbols.h"

enum { ADDRESSES_MAX = 8 }; /* fields of a class that are looked up */

struct sqlite_sink {
	struct ctp_sink sink;
	struct ctp_sqlite sql;
	struct ctp_sqlite_module module;
	struct ctp_output *out; /* null: the database was there before */
	int64_t section;
	struct ctp_sqlite_end end;
	struct ctp_sqlite_events *events; /* null: the database is not new */
	struct ctp_symbols *symbols;      /* null: none are looked up */
	sqlite3_stmt *insert_symbol;
	struct ctp_tids told; /* addresses whose texts are in the table, of this section */
	struct target { /* by the class's id: one of the first two is null */
		struct ctp_sqlite_batch *batch;
		struct ctp_sqlite_columns *columns;
		struct ctp_sqlite_twin *twin; /* null: the class has none */
		uint8_t naddresses, addresses[ADDRESSES_MAX]; /* fields */
	} targets[CTP_CLASSES_MAX];
};

/* --- sections ------------------------------------------------------------------------------------------------------------ */

/* Binds a number of the section's attributes; NULL if the attribute is none. */
static void bind_number(sqlite3_stmt *stmt, int i, const char *text)
{
	char *end;
	if (!text || *text < '0' || *text > '9')
		return;
	errno = 0;
	unsigned long long v = strtoull(text, &end, 10);
	if (!errno && !*end)
		sqlite3_bind_int64(stmt, i, (sqlite3_int64)v);
}

static enum ctp_status put_section(struct sqlite_sink *s, const struct ctp_section *sec, const char *attrs, struct ctp_err *err)
{
	sqlite3_stmt *stmt = ctp_sqlite_prepare(&s->sql, err,
		"INSERT INTO sections (attrs, argv, host, pid, tool, clock, wall_offset_ns, start_ns, complete)"
		" VALUES (?1, json_extract(?1, '$.argv'), ?2, ?3, ?4, ?5, ?6, ?7, 0)");
	if (!stmt)
		return CTP_FAILED;
	ctp_sqlite_bind(stmt, 1, attrs);
	ctp_sqlite_bind(stmt, 2, ctp_section_get(sec, "host"));
	ctp_sqlite_bind(stmt, 3, ctp_section_get(sec, "pid"));
	ctp_sqlite_bind(stmt, 4, ctp_section_get(sec, "tool"));
	ctp_sqlite_bind(stmt, 5, ctp_section_get(sec, "clock"));
	if (sec->has_wall)
		sqlite3_bind_int64(stmt, 6, sec->wall_offset_ns);
	bind_number(stmt, 7, ctp_section_get(sec, "start_ns"));
	enum ctp_status status = ctp_sqlite_step(&s->sql, stmt, err);
	sqlite3_finalize(stmt);
	s->section = sqlite3_last_insert_rowid(s->sql.db);
	ctp_sqlite_end_begin(&s->end, sec);
	return status;
}

static enum ctp_status write_section(struct ctp_sink *sink, const struct ctp_section *sec, struct ctp_err *err)
{
	struct sqlite_sink *s = (struct sqlite_sink *)sink;
	if (s->symbols)
		ctp_symbols_forget(s->symbols);
	s->told = (struct ctp_tids){0};
	size_t len;
	char *attrs = ctp_meta_attrs(sec, &len);
	enum ctp_status status = attrs ? put_section(s, sec, attrs, err) : ctp_err_set(err, "%s: out of memory", s->sql.name);
	free(attrs);
	return status;
}

static void forget_classes(struct sqlite_sink *s)
{
	for (size_t i = 0; i < CTP_CLASSES_MAX; i++) {
		ctp_sqlite_batch_free(s->targets[i].batch);
		free(s->targets[i].columns);
		ctp_sqlite_twin_free(s->targets[i].twin);
		s->targets[i] = (struct target){0};
	}
}

static enum ctp_status write_end(struct ctp_sink *sink, const struct ctp_section_end *end, struct ctp_err *err)
{
	struct sqlite_sink *s = (struct sqlite_sink *)sink;
	for (size_t i = 0; i < CTP_CLASSES_MAX; i++) {
		struct ctp_sqlite_batch *own = s->targets[i].batch, *twin = s->targets[i].twin ? s->targets[i].twin->batch : NULL;
		if ((own && ctp_sqlite_batch_flush(own, &s->sql, &s->module, err)) ||
		    (twin && ctp_sqlite_batch_flush(twin, &s->sql, &s->module, err)))
			return CTP_FAILED;
	}
	forget_classes(s);
	uint64_t end_ns;
	bool has_end = ctp_sqlite_end_ns(&s->end, &end_ns);
	return ctp_sqlite_exec(&s->sql, err, "UPDATE sections SET complete = %d, end_ns = iif(%d, %lld, NULL) WHERE id = %lld",
	                       end->complete, has_end, (long long)end_ns, (long long)s->section);
}

/* --- symbols ------------------------------------------------------------------------------------------------------------- */

static void note_addresses(struct target *to, const struct ctp_class *cls)
{
	for (uint32_t i = 0; i < cls->nfields && to->naddresses < ADDRESSES_MAX; i++)
		if (cls->fields[i].role == CTP_ROLE_ADDRESS && ctp_site_shown(cls, i))
			to->addresses[to->naddresses++] = (uint8_t)i;
}

static enum ctp_status put_symbol(struct sqlite_sink *s, uint64_t addr, const struct ctp_str *text, struct ctp_err *err)
{
	char spelled[CTP_TEXT_MAX];
	*ctp_text_hex16(spelled, addr) = '\0';
	sqlite3_bind_int64(s->insert_symbol, 1, s->section);
	ctp_sqlite_bind(s->insert_symbol, 2, spelled);
	ctp_sqlite_bind(s->insert_symbol, 3, text->data);
	return ctp_sqlite_step(&s->sql, s->insert_symbol, err);
}

/* Adds the texts of a record's addresses, each once. */
static enum ctp_status tell_symbols(struct sqlite_sink *s, const struct target *to, const struct ctp_record *rec,
                                    struct ctp_err *err)
{
	ctp_symbols_learn(s->symbols, rec);
	uint64_t pid = to->naddresses ? ctp_symbols_pid(s->symbols, rec) : 0;
	for (unsigned i = 0; i < to->naddresses; i++) {
		uint64_t addr = rec->val[to->addresses[i]];
		const struct ctp_str *text = ctp_symbols_find(s->symbols, pid, addr);
		/* A text has one address in memory, so the pair is new if the symbol of the address has changed. */
		if (text && ctp_tids_add(&s->told, addr * UINT64_C(0x9e3779b97f4a7c15) ^ ctp_val_str(text)) &&
		    put_symbol(s, addr, text, err))
			return CTP_FAILED;
	}
	return CTP_OK;
}

/* --- records ------------------------------------------------------------------------------------------------------------- */

static enum ctp_status meet(struct sqlite_sink *s, const struct ctp_class *cls, struct ctp_err *err)
{
	struct target *to = &s->targets[cls->id];
	note_addresses(to, cls);
	if (s->events && ctp_sqlite_is_event(cls)) {
		to->columns = ctp_sqlite_columns(&s->sql, cls, err);
		return to->columns ? CTP_OK : CTP_FAILED;
	}
	if (ctp_sqlite_has_twin(cls) && !(to->twin = ctp_sqlite_twin_new(&s->sql, s->events, s->section, cls, err)))
		return CTP_FAILED;
	sqlite3_stmt *insert = ctp_sqlite_insert(&s->sql, cls, err);
	if (insert && !(to->batch = ctp_sqlite_batch_new(cls, insert, s->section)))
		ctp_err_set(err, "%s: out of memory", s->sql.name);
	return to->batch ? CTP_OK : CTP_FAILED;
}

static enum ctp_status write_twin(struct sqlite_sink *s, const struct ctp_sqlite_twin *twin, const uint64_t *val,
                                  struct ctp_err *err)
{
	uint64_t own[CTP_TRANSITION_FIELDS];
	ctp_sqlite_twin_values(twin, val, own);
	if (twin->columns)
		return ctp_sqlite_events_add(s->events, twin->columns, s->section, own, err);
	return ctp_sqlite_batch_add(twin->batch, &s->sql, &s->module, own, err);
}

static enum ctp_status write_record(struct sqlite_sink *s, const struct ctp_record *rec, struct ctp_err *err)
{
	const struct ctp_class *cls = rec->cls;
	const struct target *to = &s->targets[cls->id];
	if (!to->batch && !to->columns && meet(s, cls, err))
		return CTP_FAILED;
	if (cls->time_field >= 0 && to->columns)
		ctp_sqlite_end_event(&s->end, rec->val[cls->time_field]);
	else if (cls->time_field >= 0)
		ctp_sqlite_end_record(&s->end, rec);
	if (s->symbols && tell_symbols(s, to, rec, err))
		return CTP_FAILED;
	if (to->columns)
		return ctp_sqlite_events_add(s->events, to->columns, s->section, rec->val, err);
	if (to->twin && write_twin(s, to->twin, rec->val, err))
		return CTP_FAILED;
	return ctp_sqlite_batch_add(to->batch, &s->sql, &s->module, rec->val, err);
}

static enum ctp_status write_records(struct ctp_sink *sink, const struct ctp_batch *batch, struct ctp_err *err)
{
	for (uint32_t i = 0; i < batch->n; i++)
		if (write_record((struct sqlite_sink *)sink, &batch->rec[i], err))
			return CTP_FAILED;
	return CTP_OK;
}

/* --- begin and end ------------------------------------------------------------------------------------------------------- */

static enum ctp_status finish(struct ctp_sink *sink, struct ctp_err *err)
{
	struct sqlite_sink *s = (struct sqlite_sink *)sink;
	if (ctp_sqlite_views(&s->sql, true, err) || (s->events && ctp_sqlite_events_announce(s->events, &s->sql, err)) ||
	    ctp_sqlite_exec(&s->sql, err, "COMMIT"))
		return CTP_FAILED;
	sqlite3_finalize(s->insert_symbol);
	s->insert_symbol = NULL;
	if (sqlite3_close(s->sql.db))
		return ctp_sqlite_error(&s->sql, err);
	s->sql.db = NULL;
	if (!s->out)
		return CTP_OK;
	if (ctp_sqlite_events_finish(s->events, s->out, &sink->tick, err) || ctp_sqlite_check_place(s->out->name, err))
		return CTP_FAILED;
	return ctp_output_close(s->out, err);
}

/* Closing rolls an open transaction back. */
static void free_sink(struct ctp_sink *sink)
{
	struct sqlite_sink *s = (struct sqlite_sink *)sink;
	forget_classes(s);
	ctp_sqlite_end_fini(&s->end);
	ctp_sqlite_events_free(s->events);
	ctp_symbols_free(s->symbols);
	sqlite3_finalize(s->insert_symbol);
	sqlite3_close(s->sql.db);
	if (s->out)
		ctp_output_abandon(s->out);
	free(s);
}

static const struct ctp_sink_ops ops = {
	.section = write_section,
	.records = write_records,
	.end = write_end,
	.finish = finish,
	.free = free_sink,
};

/* An address with different texts in different processes gets no text. */
static const char insert_symbol[] = "INSERT INTO symbols VALUES (?1, ?2, ?3)"
                                    " ON CONFLICT DO UPDATE SET text = iif(text IS excluded.text, text, NULL)";

static struct ctp_sink *new_sink(struct ctp_output *out, const char *path, struct ctp_symbols *symbols, struct ctp_err *err)
{
	struct sqlite_sink *s = calloc(1, sizeof *s);
	if (!s) {
		ctp_err_set(err, "%s: out of memory", out ? out->name : path);
		if (out)
			ctp_output_abandon(out);
		ctp_symbols_free(symbols);
		return NULL;
	}
	s->sink.ops = &ops;
	s->out = out;
	s->symbols = symbols;
	if ((out ? ctp_sqlite_open_new(&s->sql, out, err) : ctp_sqlite_open_old(&s->sql, path, err)) ||
	    ctp_sqlite_module(&s->sql, &s->module, err) || ctp_sqlite_schema(&s->sql, err) ||
	    (symbols && !(s->insert_symbol = ctp_sqlite_prepare(&s->sql, err, "%s", insert_symbol))) ||
	    (out && !(s->events = ctp_sqlite_events_new(out->name, err)))) {
		free_sink(&s->sink);
		return NULL;
	}
	return &s->sink;
}

struct ctp_sink *ctp_sqlite_sink(struct ctp_output *out, struct ctp_symbols *symbols, struct ctp_err *err)
{
	return new_sink(out, NULL, symbols, err);
}

struct ctp_sink *ctp_sqlite_append(const char *path, struct ctp_symbols *symbols, struct ctp_err *err)
{
	return new_sink(NULL, path, symbols, err);
}
