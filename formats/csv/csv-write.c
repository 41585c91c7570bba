/*
 * csv-write.c - a sink that writes CSV; see csv.h for the forms.
 *
 * What a row has before each value, mostly commas, was made when its class was first seen, so that a record is a few copies and
 * the numbers between them, and the room for it is asked for once for each field at most. The full form goes through a spool,
 * because the columns come first and are known last; what comes out of the spool goes the way of the others.
 */
#include "csv/csv.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "common/meta.h"
#include "common/plain.h"
#include "common/spool.h"
#include "common/value.h"
#include "stream/events.h"
#include "symbols/place-texts.h"

enum {
	FORM_PLACE = CTP_FORM_BYTES + 1, /* not the number of a place but its text; at most CTP_SITE_SPELLED_MAX bytes */
	COMMAS = 8, SHORT = 32, /* bytes that are copied at once of what stands before a value: a few, or some more */
	SPARE = SHORT + CTP_TEXT_MAX, /* room for what is copied too much, and for a number or a row's end */
};

struct fixed {
	const char *text; /* `transition,,` or `,`; readable for SHORT bytes at least */
	uint32_t len;
};

/* How the rows of a class look: for each field that is shown, all that stands before its value. */
struct layout {
	uint32_t nkeys;
	size_t room;  /* of a row, where no value may be of any length */
	bool bounded; /* that is so, and an output can give it at once */
	struct fixed tail; /* what stands behind the last value; in the full form, of a record that is not late */
	struct key {
		struct fixed before;
		uint32_t column, index; /* index: in the record */
		uint8_t form;
		const struct ctp_field *field;
	} keys[];
};

struct csv_sink {
	struct ctp_sink sink;
	struct ctp_output *out;
	struct ctp_csv_options options;
	struct ctp_csv_columns columns; /* all there are; of the full form, without late and @meta */
	struct ctp_csv_columns others;  /* names of classes that are not shown */
	struct ctp_spool *spool;        /* of the full form */
	struct ctp_place_texts *texts;
	bool has_header;
	bool has_wall; /* the section at hand */
	int64_t wall_offset_ns;
	struct known { /* the section's classes, by id */
		const struct ctp_class *cls; /* null: not seen yet */
		struct layout *layout;       /* null: it is not shown */
		struct ctp_text_near *near;  /* one for each key */
		bool declared; /* and no other of its name since */
	} known[CTP_CLASSES_MAX];
};

static enum ctp_status outcome(const struct csv_sink *s, struct ctp_err *err)
{
	if (!s->out->failed)
		return CTP_OK;
	*err = s->out->err;
	return CTP_FAILED;
}

static enum ctp_status no_memory(const struct csv_sink *s, struct ctp_err *err)
{
	return ctp_err_set(err, "%s: out of memory", s->out->name);
}

/* --- texts --------------------------------------------------------------------------------------------------------------- */

static bool needs_quotes(const char *text, size_t len)
{
	if (!len)
		return false;
	if (text[0] == ' ' || text[len - 1] == ' ' || (len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)))
		return true;
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == ',' || text[i] == '"')
			return true;
	return false;
}

/* What stands between quotes: at most twice as long. */
static char *double_quotes(char *p, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		*p++ = text[i];
		if (text[i] == '"')
			*p++ = '"';
	}
	return p;
}

static void put_text(struct ctp_output *out, const char *text, size_t len)
{
	enum { PART = CTP_OUTPUT_ROOM / 2 };
	if (!needs_quotes(text, len)) {
		ctp_output_put(out, text, len);
		return;
	}
	ctp_output_put(out, "\"", 1);
	for (size_t part; (part = len < PART ? len : PART); text += part, len -= part)
		ctp_output_commit(out, double_quotes(ctp_output_reserve(out, 2 * part), text, part));
	ctp_output_put(out, "\"", 1);
}

/* The same into memory: at most twice as long, and the quotes around it. */
static char *spell(char *p, const char *text, size_t len)
{
	bool quoted = needs_quotes(text, len);
	*p = '"';
	p = double_quotes(p + quoted, text, len);
	*p = '"';
	return p + quoted;
}

static void put_commas(struct ctp_output *out, uint32_t n)
{
	static const char commas[] = ",,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,";
	for (; n >= sizeof commas; n -= (uint32_t)sizeof commas - 1)
		ctp_output_put(out, commas, sizeof commas - 1);
	ctp_output_put(out, commas, n);
}

static void put_header(struct csv_sink *s)
{
	s->has_header = true;
	for (uint32_t i = 0; i < s->columns.n; i++) {
		put_commas(s->out, i > 0);
		put_text(s->out, s->columns.names[i], strlen(s->columns.names[i]));
	}
	static const char behind[] = "," CTP_CSV_LATE "," CTP_CSV_META;
	ctp_output_put(s->out, behind, s->options.all ? sizeof behind - 1 : 0);
	ctp_output_put(s->out, "\n", 1);
}

/* A row of the full form that is no record; its text is freed. */
static enum ctp_status put_meta(struct csv_sink *s, const char *type, char *text, size_t len, struct ctp_err *err)
{
	if (!text)
		return no_memory(s, err);
	ctp_output_put(s->out, type, strlen(type));
	put_commas(s->out, s->columns.n + 1);
	put_text(s->out, text, len);
	ctp_output_put(s->out, "\n", 1);
	free(text);
	return outcome(s, err);
}

/* --- classes ------------------------------------------------------------------------------------------------------------- */

static struct key key_of(const struct csv_sink *s, const struct ctp_class *cls, int field, int column)
{
	const struct ctp_field *f = &cls->fields[field];
	bool wall = s->options.wall && f->role == CTP_ROLE_TIME;
	return (struct key){.column = (uint32_t)column, .index = (uint32_t)field, .field = f,
	                    .form = (uint8_t)(wall ? CTP_FORM_WALL : ctp_form_of(f))};
}

/* coroTracer's columns: a field by its name, or else the first that has the role. */
static uint32_t plain_keys(const struct csv_sink *s, const struct ctp_class *cls, struct key *keys)
{
	uint32_t n = 0;
	for (int i = 0; i < CTP_PLAIN_FIELDS; i++) {
		int field = ctp_class_field(cls, ctp_plain_fields[i].name);
		if (field < 0)
			field = ctp_class_role(cls, ctp_plain_fields[i].role);
		if (field >= 0)
			keys[n++] = key_of(s, cls, field, i);
	}
	return n;
}

static int by_column(const void *a, const void *b)
{
	const struct key *x = a, *y = b;
	return (x->column > y->column) - (x->column < y->column);
}

/* The columns of a field, added where they are not there yet: its own, and that of its text if it refers to a place. */
static enum ctp_status add_columns(struct csv_sink *s, const struct ctp_class *cls, uint32_t field, struct ctp_err *err)
{
	const char *name = cls->fields[field].name;
	bool all = s->options.all;
	if (ctp_csv_columns_add(&s->columns, all ? ctp_csv_field_name(name).text : name, err) < 0)
		return CTP_FAILED;
	if (!ctp_place_texts_shows(s->texts, cls, field))
		return CTP_OK;
	struct ctp_csv_name text = ctp_csv_site_name(name, all);
	return ctp_csv_columns_add(&s->columns, text.text, err) < 0 ? CTP_FAILED : CTP_OK;
}

/* Every field, in the order of the columns. -1: one has no column. */
static int all_keys(const struct csv_sink *s, const struct ctp_class *cls, struct key *keys, struct ctp_err *err)
{
	int n = 0;
	for (uint32_t i = 0; i < cls->nfields; i++) {
		const char *name = cls->fields[i].name;
		int column = ctp_csv_columns_find(&s->columns, s->options.all ? ctp_csv_field_name(name).text : name);
		if (column < 0)
			return ctp_err_set(err, "class %.100s: has a field %.100s that its first records did not have; try -a",
			                   cls->name, name);
		keys[n++] = key_of(s, cls, (int)i, column);
		if (!ctp_place_texts_shows(s->texts, cls, i))
			continue;
		column = ctp_csv_columns_find(&s->columns, ctp_csv_site_name(name, s->options.all).text);
		if (column >= 0)
			keys[n++] = (struct key){.column = (uint32_t)column, .index = i, .field = &cls->fields[i],
			                         .form = FORM_PLACE};
	}
	qsort(keys, (size_t)n, sizeof *keys, by_column);
	return n;
}

/* One block, for free(). */
static struct layout *new_layout(const struct csv_sink *s, const struct ctp_class *cls, struct ctp_err *err)
{
	bool all = s->options.all;
	uint32_t last = all ? s->columns.n + 1 : s->columns.n - 1; /* of the full form: @meta, behind late */
	size_t text_bytes = s->columns.n + 2 * (CTP_NAME_MAX + 2) + SPARE;
	uint32_t most = cls->nfields > CTP_PLAIN_FIELDS ? 2 * cls->nfields : 2 * CTP_PLAIN_FIELDS;
	struct layout *l = calloc(1, sizeof *l + most * sizeof l->keys[0] + text_bytes);
	if (!l) {
		no_memory(s, err);
		return NULL;
	}
	int n = all || s->options.class_name ? all_keys(s, cls, l->keys, err) : (int)plain_keys(s, cls, l->keys);
	if (n < 0) {
		free(l);
		return NULL;
	}
	l->nkeys = (uint32_t)n;
	l->bounded = true;
	char *p = (char *)(l->keys + most), *from = p;
	uint32_t column = 0;
	if (all) {
		struct ctp_csv_name type = ctp_csv_class_name(cls->name);
		p = spell(p, type.text, strlen(type.text));
	}
	for (struct key *k = l->keys; k < l->keys + n; k++, from = p) {
		memset(p, ',', k->column - column);
		p += k->column - column;
		column = k->column;
		k->before = (struct fixed){from, (uint32_t)(p - from)};
		l->room += k->before.len + (k->form == FORM_PLACE ? CTP_SITE_SPELLED_MAX : CTP_TEXT_MAX);
		l->bounded &= k->form < CTP_FORM_ENUM || k->form == FORM_PLACE;
	}
	memset(p, ',', last - column);
	p[last - column] = '\n';
	l->tail = (struct fixed){from, (uint32_t)(p + (last - column) + 1 - from)};
	l->room += l->tail.len + SPARE;
	l->bounded &= l->room <= CTP_OUTPUT_ROOM;
	return l;
}

static enum ctp_status declare(struct csv_sink *s, struct known *k, struct ctp_err *err)
{
	/* A row's type must mean the class that was declared last under that name, also where a section has two of them. */
	for (size_t i = 0; i < CTP_CLASSES_MAX; i++)
		if (s->known[i].declared && !strcmp(s->known[i].cls->name, k->cls->name))
			s->known[i].declared = false;
	k->declared = true;
	size_t len;
	char *text = ctp_meta_class(k->cls, &len);
	return put_meta(s, "@schema", text, len, err);
}

/* The columns are those of the first class with the name that was asked for. */
static enum ctp_status begin_class(struct csv_sink *s, const struct ctp_class *cls, struct ctp_err *err)
{
	if (!cls->nfields)
		return ctp_err_set(err, "class %.100s: has no fields, and so no columns; -a shows its records", cls->name);
	for (uint32_t i = 0; i < cls->nfields; i++)
		if (add_columns(s, cls, i, err))
			return CTP_FAILED;
	put_header(s);
	return CTP_OK;
}

static bool is_wanted(const struct csv_sink *s, const struct ctp_class *cls)
{
	return s->options.all || (s->options.class_name ? !strcmp(cls->name, s->options.class_name) :
	                                                  cls->kind == CTP_KIND_TRANSITION);
}

/* The first record of a class in a section: from here on its layout is known. */
static enum ctp_status meet(struct csv_sink *s, struct known *k, const struct ctp_class *cls, struct ctp_err *err)
{
	k->cls = cls;
	if (!is_wanted(s, cls)) {
		bool room = s->others.n < CTP_CLASSES_MAX; /* they are for a message, which has less */
		return room && ctp_csv_columns_add(&s->others, cls->name, err) < 0 ? CTP_FAILED : CTP_OK;
	}
	if (s->options.wall && cls->time_field >= 0 && !s->has_wall)
		return ctp_err_set(err, "a section does not say how its times relate to wall-clock time; leave out --wall");
	if (!s->has_header && begin_class(s, cls, err))
		return CTP_FAILED;
	if (!(k->layout = new_layout(s, cls, err)))
		return CTP_FAILED;
	k->near = calloc(k->layout->nkeys + 1, sizeof *k->near);
	return k->near ? CTP_OK : no_memory(s, err);
}

static void forget_classes(struct csv_sink *s)
{
	for (size_t i = 0; i < CTP_CLASSES_MAX; i++) {
		free(s->known[i].layout);
		free(s->known[i].near);
		s->known[i] = (struct known){0};
	}
}

/* --- records ------------------------------------------------------------------------------------------------------------- */

/* What has no bound that a row's room could count on. */
static void put_long(struct csv_sink *s, const struct key *key, uint64_t v)
{
	if (key->form == CTP_FORM_ENUM) {
		const char *label = ctp_value_label(key->field, v);
		if (label)
			put_text(s->out, label, strlen(label));
		else
			ctp_output_commit(s->out, ctp_text_u64(ctp_output_reserve(s->out, CTP_TEXT_MAX), v));
		return;
	}
	const struct ctp_str *str = ctp_str_val(v);
	size_t len = str ? str->len : 0;
	if (!len) /* an empty line would be none */
		ctp_output_put(s->out, "\"\"", s->columns.n == 1 ? 2 : 0);
	else
		(key->form == CTP_FORM_TEXT ? put_text : ctp_value_put_hex)(s->out, str->data, len);
}

static char *put_place(char *p, struct ctp_place_texts *texts, const struct ctp_field *field, uint64_t v)
{
	const struct ctp_sites_text *text = ctp_place_texts_find(texts, field, v);
	if (!text)
		return p;
	memcpy(p, text->data, text->len);
	return p + text->len;
}

static inline char *put_value(const struct csv_sink *s, char *p, const struct key *key, uint64_t v, struct ctp_text_near *near)
{
	static const char words[2][8] = {"false", "true"}; /* looked up: whether a coroutine runs is nothing to be guessed */
	switch (key->form) {
	case CTP_FORM_UNSIGNED:
		return ctp_text_u64_near(p, v, near);
	case CTP_FORM_SIGNED:
		return ctp_text_i64(p, (int64_t)v);
	case CTP_FORM_HEX:
		return ctp_text_hex16(p, v);
	case CTP_FORM_BOOL:
		memcpy(p, words[v != 0], 8);
		return p + 5 - (v != 0);
	case CTP_FORM_WALL:
		return ctp_value_put_wall(p, v, s->wall_offset_ns);
	case FORM_PLACE:
		return put_place(p, s->texts, key->field, v);
	case CTP_FORM_F32:
		return ctp_text_float(p, (float)ctp_val_double(CTP_F32, v));
	default:
		return ctp_text_double(p, ctp_val_double(CTP_F64, v));
	}
}

/* Mostly it is a comma: a fixed number of bytes is quicker to copy than the right number. */
static inline char *put_fixed(char *p, const struct fixed *f)
{
	memcpy(p, f->text, COMMAS);
	if (f->len > COMMAS)
		memcpy(p + COMMAS, f->text + COMMAS, SHORT - COMMAS);
	if (f->len > SHORT)
		memcpy(p + SHORT, f->text + SHORT, f->len - SHORT);
	return p + f->len;
}

/* A row whose room is known, but for its tail. */
static inline char *put_bounded(const struct csv_sink *s, char *p, const struct known *k, const uint64_t *val)
{
	struct ctp_text_near *near = k->near;
	for (const struct key *key = k->layout->keys, *end = key + k->layout->nkeys; key < end; key++, near++)
		p = put_value(s, put_fixed(p, &key->before), key, val[key->index], near);
	return p;
}

static void put_unbounded(struct csv_sink *s, const struct known *k, const uint64_t *val)
{
	struct ctp_text_near *near = k->near;
	for (const struct key *key = k->layout->keys, *end = key + k->layout->nkeys; key < end; key++, near++) {
		char *p = put_fixed(ctp_output_reserve(s->out, key->before.len + SPARE + CTP_SITE_SPELLED_MAX), &key->before);
		if (key->form < CTP_FORM_ENUM || key->form == FORM_PLACE) {
			ctp_output_commit(s->out, put_value(s, p, key, val[key->index], near));
		} else {
			ctp_output_commit(s->out, p);
			put_long(s, key, val[key->index]);
		}
	}
}

static enum ctp_status write_record(struct csv_sink *s, const struct ctp_record *rec, bool late, struct ctp_err *err)
{
	struct known *k = &s->known[rec->cls->id];
	if (!k->cls && meet(s, k, rec->cls, err))
		return CTP_FAILED;
	ctp_place_texts_learn(s->texts, rec);
	if (!k->layout)
		return CTP_OK;
	if (s->options.all && !k->declared && declare(s, k, err))
		return CTP_FAILED;
	const struct layout *l = k->layout;
	char *p;
	if (l->bounded) {
		p = put_bounded(s, ctp_output_reserve(s->out, l->room), k, rec->val);
	} else {
		put_unbounded(s, k, rec->val);
		p = ctp_output_reserve(s->out, l->tail.len + SPARE);
	}
	p = put_fixed(p, &l->tail);
	if (s->options.all && late) {
		memcpy(p - 2, "true,\n", 6);
		p += 4;
	}
	ctp_output_commit(s->out, p);
	return CTP_OK;
}

static enum ctp_status write_records(struct ctp_sink *sink, const struct ctp_batch *batch, struct ctp_err *err)
{
	struct csv_sink *s = (struct csv_sink *)sink;
	for (uint32_t i = 0; i < batch->n; i++)
		if (write_record(s, &batch->rec[i], batch->late, err))
			return CTP_FAILED;
	return outcome(s, err);
}

static enum ctp_status flush(struct ctp_sink *sink, struct ctp_err *err)
{
	struct csv_sink *s = (struct csv_sink *)sink;
	ctp_output_flush(s->out);
	return outcome(s, err);
}

/* --- sections ------------------------------------------------------------------------------------------------------------ */

static enum ctp_status write_section(struct ctp_sink *sink, const struct ctp_section *sec, struct ctp_err *err)
{
	struct csv_sink *s = (struct csv_sink *)sink;
	forget_classes(s);
	ctp_place_texts_forget(s->texts);
	s->has_wall = sec->has_wall;
	s->wall_offset_ns = sec->wall_offset_ns;
	if (!s->has_header && !s->options.class_name)
		put_header(s);
	if (!s->options.all)
		return outcome(s, err);
	size_t len;
	char *text = ctp_meta_attrs(sec, &len);
	return put_meta(s, "@section", text, len, err);
}

static enum ctp_status write_end(struct ctp_sink *sink, const struct ctp_section_end *end, struct ctp_err *err)
{
	struct csv_sink *s = (struct csv_sink *)sink;
	if (!s->options.all)
		return outcome(s, err);
	char *text = strdup(end->complete ? "true" : "false");
	return put_meta(s, "@end", text, text ? strlen(text) : 0, err);
}

static const struct ctp_sink_ops rows = {
	.section = write_section,
	.records = write_records,
	.end = write_end,
};
/* --- the full form: first the columns, then the rows --------------------------------------------------------------------- */

static enum ctp_status spool_section(struct ctp_sink *sink, const struct ctp_section *sec, struct ctp_err *err)
{
	struct csv_sink *s = (struct csv_sink *)sink;
	forget_classes(s);
	return ctp_spool_section(s->spool, sec, err);
}

static enum ctp_status meet_columns(struct csv_sink *s, const struct ctp_class *cls, struct ctp_err *err)
{
	struct known *k = &s->known[cls->id];
	struct ctp_err why;
	for (uint32_t i = 0; i < cls->nfields; i++)
		if (add_columns(s, cls, i, &why))
			return ctp_err_set(err, "class %.100s: %.100s; --class has those of one class", cls->name, why.text);
	k->cls = cls;
	return CTP_OK;
}

static enum ctp_status spool_records(struct ctp_sink *sink, const struct ctp_batch *batch, struct ctp_err *err)
{
	struct csv_sink *s = (struct csv_sink *)sink;
	for (uint32_t i = 0; i < batch->n; i++)
		if (!s->known[batch->rec[i].cls->id].cls && meet_columns(s, batch->rec[i].cls, err))
			return CTP_FAILED;
	return ctp_spool_records(s->spool, batch, err);
}

static enum ctp_status spool_end(struct ctp_sink *sink, const struct ctp_section_end *end, struct ctp_err *err)
{
	return ctp_spool_end(((struct csv_sink *)sink)->spool, end, err);
}

/* --- begin and end ------------------------------------------------------------------------------------------------------- */

static enum ctp_status no_such_class(const struct csv_sink *s, struct ctp_err *err)
{
	char names[300] = "";
	size_t len = 0;
	for (uint32_t i = 0; i < s->others.n && len < sizeof names; i++)
		len += (size_t)snprintf(names + len, sizeof names - len, "%s%s", i ? ", " : "", s->others.names[i]);
	return ctp_err_set(err, "--class %.100s: there is no such record; there are: %s%s", s->options.class_name,
	                   s->others.n ? names : "none at all", len < sizeof names ? "" : " ...");
}

/* A class that ctp-collect writes, and of which there was none, is a table without rows. */
static enum ctp_status begin_known_class(struct csv_sink *s, struct ctp_err *err)
{
	enum ctp_status status = CTP_EOF;
	for (int event = 0; event < CTP_EVENT_COUNT && status == CTP_EOF; event++) {
		struct ctp_class *cls = ctp_event_class((enum ctp_event)event);
		if (!cls)
			return no_memory(s, err);
		if (!strcmp(cls->name, s->options.class_name))
			status = begin_class(s, cls, err);
		ctp_class_free(cls);
	}
	return status == CTP_EOF ? no_such_class(s, err) : status;
}

static enum ctp_status finish(struct ctp_sink *sink, struct ctp_err *err)
{
	struct csv_sink *s = (struct csv_sink *)sink;
	if (s->spool && ctp_spool_replay(s->spool, &rows, sink, err))
		return CTP_FAILED;
	if (!s->has_header && s->options.class_name && begin_known_class(s, err))
		return CTP_FAILED;
	if (!s->has_header)
		put_header(s);
	return ctp_output_close(s->out, err);
}

static void free_sink(struct ctp_sink *sink)
{
	struct csv_sink *s = (struct csv_sink *)sink;
	forget_classes(s);
	ctp_csv_columns_fini(&s->columns);
	ctp_csv_columns_fini(&s->others);
	ctp_spool_free(s->spool);
	ctp_place_texts_free(s->texts);
	ctp_output_abandon(s->out);
	free(s);
}

static const struct ctp_sink_ops direct = {
	.section = write_section, .records = write_records, .flush = flush, .end = write_end, .finish = finish, .free = free_sink,
};

static const struct ctp_sink_ops spooled = {
	.section = spool_section, .records = spool_records, .end = spool_end, .finish = finish, .free = free_sink,
};

/* The columns that are known before anything is read. */
static bool first_columns(struct csv_sink *s, struct ctp_err *err)
{
	if (s->options.all)
		return ctp_csv_columns_add(&s->columns, CTP_CSV_TYPE, err) >= 0;
	for (int i = 0; i < CTP_PLAIN_FIELDS && !s->options.class_name; i++)
		if (ctp_csv_columns_add(&s->columns, ctp_plain_fields[i].name, err) < 0)
			return false;
	return true;
}

struct ctp_sink *ctp_csv_sink(struct ctp_output *out, const struct ctp_csv_options *options, struct ctp_err *err)
{
	_Static_assert(2 * CTP_SITE_TEXT_MAX + 2 <= CTP_SITE_SPELLED_MAX, "a place's text, quoted, has room");
	struct csv_sink *s = calloc(1, sizeof *s);
	struct ctp_place_texts *texts = ctp_place_texts_new(spell, options->symbols);
	if (!s || !texts) {
		ctp_err_set(err, "%s: out of memory", out->name);
		ctp_output_abandon(out);
		ctp_place_texts_free(texts);
		free(s);
		return NULL;
	}
	s->sink.ops = options->all ? &spooled : &direct;
	s->out = out;
	s->options = *options;
	s->texts = texts;
	if (!first_columns(s, err) || (options->all && !(s->spool = ctp_spool_new(err)))) {
		free_sink(&s->sink);
		return NULL;
	}
	return &s->sink;
}
