/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* sql-rows.c - see sql-rows.h. */
#include "sql/sql-rows.h"

/* --- columns ------------------------------------------------------------------------------------------------------------- */

struct finding {
	const struct ctp_sql *db;
	struct ctp_sql_columns *columns;
	bool no_memory;
};

/* table, column, and type if these are typed; a class without fields has a row with the table alone */
static void add_column(void *arg, const char *const *text)
{
	struct finding *f = arg;
	struct ctp_sql_columns *c = f->columns;
	if (!c->table)
		f->no_memory |= !(c->table = strdup(text[0]));
	if (!text[1])
		return;
	if (c->count >= c->cls->nfields || (c->typed && !text[2])) {
		c->differ = true;
		return;
	}
	ctp_sql_put(f->db, &c->names, ", %I", text[1]);
	if (c->typed)
		c->typed(c->arg, c->count, text[2]);
	c->count++;
}

enum ctp_status ctp_sql_columns_find(struct ctp_sql *db, struct ctp_sql_columns *c, int64_t class_id, struct ctp_err *err)
{
	struct finding f = {db, c, false};
	assert(c->cls && !c->table && !c->typed == !db->words->typed);
	ctp_bytes_text(&c->names, "section");
	const char *asked = db->words->typed ? "t??" : "t?";
	if (ctp_sql_ask(db, asked, add_column, &f, err, db->words->columns, "classes", "fields", class_id))
		return CTP_FAILED;
	if (f.no_memory || !ctp_bytes_str(&c->names))
		return ctp_sql_no_memory(db, err);
	if (!c->table)
		return ctp_err_set(err, "%s: the table classes has no class %jd", db->name, (intmax_t)class_id);
	if (c->differ || c->count != c->cls->nfields)
		return ctp_err_set(err, "%s: table %.100s lacks columns that the table fields lists; it was changed: load into a new database", db->name, c->table);
	return CTP_OK;
}

void ctp_sql_columns_fini(struct ctp_sql_columns *c)
{
	ctp_bytes_fini(&c->names);
	free(c->table);
}

/* --- tables -------------------------------------------------------------------------------------------------------------- */

struct ctp_sql_table *ctp_sql_table_find(const struct ctp_sql *db, const char *name)
{
	struct ctp_sql_table *t = db->tables;
	while (t && strcmp(t->name, name))
		t = t->next;
	return t;
}

enum ctp_status ctp_sql_no_table(const struct ctp_sql *db, const char *name, struct ctp_err *err)
{
	return ctp_err_set(err, "%s: the table classes names %.100s, and there is no such table", db->name, name);
}

int64_t ctp_sql_next_row(struct ctp_sql *db, const char *key, const char *table, struct ctp_err *err)
{
	return ctp_sql_counted(db, ctp_sql_look_up(db, err, "SELECT coalesce(max(%I), 0) + 1 FROM %I", key, table), err);
}

static void free_table(struct ctp_sql_table *t)
{
	free(t->name);
	free(t->key);
	free(t);
}

struct ctp_sql_table *ctp_sql_table_add(struct ctp_sql *db, const char *name, char *key, int64_t next_id, struct ctp_err *err)
{
	struct ctp_sql_table *t = next_id > 0 ? calloc(1, sizeof *t) : NULL;
	if (!t) {
		free(key);
	} else {
		*t = (struct ctp_sql_table){.next = db->tables, .name = strdup(name), .key = key, .next_id = next_id};
		if (t->name)
			return db->tables = t;
		free_table(t);
	}
	if (next_id > 0)
		ctp_sql_no_memory(db, err);
	return NULL;
}

void ctp_sql_tables_free(struct ctp_sql *db)
{
	for (struct ctp_sql_table *t; (t = db->tables);) {
		db->tables = t->next;
		free_table(t);
	}
}
