/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * postgres-now.c - the table coroutines_now: the state of each coroutine that is alive, for queries while a program runs.
 *
 * What records say is kept here for the coroutines that changed since the last time, and then put into the table at once. A state is
 * newer if its index is not less, or where one has none its time. The index of a loss is the one before what was lost. A coroutine
 * that died has no row, whatever comes after its death: so a coroutine without a row is looked up among the deaths. A name makes no row, and
 * is found in its table when a state comes.
 */
#include "postgres/postgres-now.h"

#include "base/map.h"
#include "base/text.h"
#include "postgres/postgres-db.h"

enum { CHANGED_MAX = 16384, NAMES_MAX = 1 << 20 }; /* then they are put into the table before it is time; bytes of names */

enum state { NO_STATE, BORN, RUNNING, SUSPENDED, UNKNOWN, DEAD };
static const char *const state_names[] = {"\\N", "born", "running", "suspended", "unknown", "dead"};

struct change {
	uint64_t coro, probe, since_ns, index, tid, addr, site;
	uint64_t at_ns; /* by which it is newer than what has no index */
	bool has_index, has_thread, has_site;
	bool stale; /* may have come after the death: makes no row */
	enum state state;
	char *name; /* null: as it is */
};

struct ctp_postgres_now {
	struct ctp_map map;
	int64_t section;
	uint32_t n;
	size_t name_bytes;
	struct change changes[CHANGED_MAX];
};

static void forget(struct ctp_postgres_now *now)
{
	for (; now->n; now->n--)
		free(now->changes[now->n - 1].name);
	now->name_bytes = 0;
	ctp_map_clear(&now->map);
}

/* --- what a record says -------------------------------------------------------------------------------------------------- */

struct ctp_postgres_state_fields ctp_postgres_state_fields(const struct ctp_class *cls)
{
	struct ctp_postgres_state_fields f = {
		.coro = ctp_class_role(cls, CTP_ROLE_COROUTINE),
		.probe = ctp_class_role(cls, CTP_ROLE_PROBE),
		.index = ctp_class_field(cls, "index"),
		.state = ctp_class_role(cls, CTP_ROLE_STATE),
		.tid = ctp_class_role(cls, CTP_ROLE_THREAD),
		.addr = ctp_class_role(cls, CTP_ROLE_ADDRESS),
		.site = ctp_class_role(cls, CTP_ROLE_SITE),
		.name = ctp_class_role(cls, CTP_ROLE_NAME),
		.after = ctp_class_field(cls, "after"),
	};
	bool relevant = cls->kind == CTP_KIND_BIRTH || cls->kind == CTP_KIND_DEATH || cls->kind == CTP_KIND_LOSS || cls->kind == CTP_KIND_NAME ||
	            (cls->kind == CTP_KIND_TRANSITION && f.state >= 0);
	f.counts = relevant && f.coro >= 0 && cls->time_field >= 0;
	return f;
}

static bool is_newer(const struct change *c, const struct change *than)
{
	if (c->state == BORN || than->state == BORN)
		return c->state != BORN;
	return c->has_index && than->has_index ? c->index >= than->index : c->at_ns >= than->since_ns;
}

static void take_state(struct change *to, const struct change *c)
{
	if (to->state == DEAD || (to->state && c->state != DEAD && !is_newer(c, to)))
		return;
	struct change before = *to;
	*to = *c;
	to->name = before.name;
	to->stale = before.stale && c->stale;
	if (c->state == UNKNOWN && before.has_thread) {
		to->tid = before.tid;
		to->addr = before.addr;
		to->site = before.site;
		to->has_thread = true;
		to->has_site = before.has_site;
	}
}

static bool is_change(const void *items, uint32_t number, const void *key)
{
	return ((const struct change *)items)[number - 1].coro == *(const uint64_t *)key;
}

/* The change of this coroutine, which may be new. */
static struct change *find(struct ctp_postgres_now *now, uint64_t coro)
{
	uint32_t *slot = ctp_map_slot(&now->map, coro, is_change, now->changes, &coro);
	if (!*slot) {
		*slot = ++now->n;
		now->changes[*slot - 1] = (struct change){.coro = coro, .stale = true};
	}
	return &now->changes[*slot - 1];
}

static void read_loss(struct change *c, const struct ctp_postgres_state_fields *f, const struct ctp_record *rec)
{
	uint64_t index = ctp_record_number(rec, f->index), after = ctp_record_number(rec, f->after);
	c->state = UNKNOWN;
	c->has_index = index;
	c->index = index - 1;
	c->at_ns -= c->at_ns > 0;
	if (f->index >= 0 && !index)
		c->at_ns = 0;
	if (after)
		c->since_ns = after;
}

static struct change read_state(const struct ctp_postgres_state_fields *f, const struct ctp_record *rec)
{
	struct change c = {
		.coro = rec->val[f->coro],
		.probe = ctp_record_number(rec, f->probe),
		.since_ns = rec->val[rec->cls->time_field],
	};
	c.at_ns = c.since_ns;
	switch (rec->cls->kind) {
	case CTP_KIND_TRANSITION:
		c.has_index = f->index >= 0;
		c.index = ctp_record_number(rec, f->index);
		c.state = rec->val[f->state] ? RUNNING : SUSPENDED;
		c.tid = ctp_record_number(rec, f->tid);
		c.addr = ctp_record_number(rec, f->addr);
		c.site = ctp_record_number(rec, f->site);
		c.has_thread = true;
		c.has_site = f->site >= 0;
		c.stale = f->probe >= 0 && !c.probe;
		break;
	case CTP_KIND_BIRTH:
		c.state = BORN;
		break;
	case CTP_KIND_DEATH:
		c.state = DEAD;
		break;
	default:
		read_loss(&c, f, rec);
		break;
	}
	return c;
}

static enum ctp_status take_name(struct ctp_postgres *p, struct change *to, const struct ctp_str *name, struct ctp_err *err)
{
	char *escaped = name ? malloc(CTP_ESCAPE_GROWTH * (size_t)name->len + 1) : NULL;
	if (!escaped)
		return name ? ctp_sql_no_memory(&p->sql, err) : CTP_OK;
	*ctp_escape(escaped, name->data, name->len, p->escapes) = '\0';
	p->now->name_bytes += strlen(escaped);
	free(to->name);
	to->name = escaped;
	return CTP_OK;
}

/* The table is of one section. */
static enum ctp_status begin_section(struct ctp_postgres *p, int64_t section, struct ctp_err *err)
{
	forget(p->now);
	p->now->section = section;
	return ctp_postgres_exec(&p->sql, "DELETE FROM coroutines_now", err);
}

bool ctp_postgres_now_is_full(const struct ctp_postgres_now *now) { return now->n == CHANGED_MAX || now->name_bytes >= NAMES_MAX; }

enum ctp_status ctp_postgres_now_note(struct ctp_postgres *p, const struct ctp_postgres_state_fields *f, int64_t section,
                                      const struct ctp_record *rec, struct ctp_err *err)
{
	struct ctp_postgres_now *now = p->now;
	if (section != now->section && begin_section(p, section, err))
		return CTP_FAILED;
	if (!f->counts || !rec->val[f->coro])
		return CTP_OK;
	assert(!ctp_postgres_now_is_full(now));
	struct change *to = find(now, rec->val[f->coro]);
	if (rec->cls->kind == CTP_KIND_NAME)
		return take_name(p, to, ctp_record_str(rec, f->name, CTP_STRING), err);
	struct change c = read_state(f, rec);
	take_state(to, &c);
	return CTP_OK;
}

/* --- the table ----------------------------------------------------------------------------------------------------------- */

#define COLUMNS(number) \
	" (section BIGINT NOT NULL, coro " number " NOT NULL, probe_id " number ", state TEXT, since_ns " number ", tid " number \
	", addr VARCHAR(18), site " number ", \"index\" " number ", name TEXT"

/* A row changes often, so a page has room for its next versions. */
#define NOW(number) \
	"CREATE TABLE coroutines_now" COLUMNS(number) ", PRIMARY KEY (section, coro)) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05)"
#define CHANGES(number) "CREATE TEMP TABLE ctp_changes" COLUMNS(number) ", at_ns " number ", stale BOOLEAN NOT NULL) ON COMMIT DELETE ROWS"
static const char *const now_table[] = {NOW("NUMERIC(20,0)"), NOW("BIGINT")}, *const changes_table[] = {CHANGES("NUMERIC(20,0)"), CHANGES("BIGINT")};

/* A row: the table is not ours. Columns of others may be after ours. */
static const char foreign[] =
	"SELECT 1 FROM (SELECT array_agg(attname::text ORDER BY attnum) AS columns FROM pg_attribute JOIN pg_class c ON c.oid = attrelid"
	" WHERE c.oid = to_regclass('coroutines_now') AND relkind = 'r' AND attnum > 0 AND NOT attisdropped) q"
	" WHERE columns[1:10] IS DISTINCT FROM '{section,coro,probe_id,state,since_ns,tid,addr,site,index,name}'";

/* In a database that was made before the name was reserved, a class may have it. */
static enum ctp_status make_table(struct ctp_postgres *p, struct ctp_err *err)
{
	struct ctp_sql *db = &p->sql;
	int64_t there = ctp_sql_look_up(db, err, db->words->taken, "coroutines_now");
	if (there <= 0)
		return there < 0 ? CTP_FAILED : ctp_postgres_exec(db, now_table[p->options.bigint], err);
	int64_t other = ctp_sql_look_up(db, err, foreign);
	if (other > 0)
		return ctp_err_set(err, "%s: has a table or view coroutines_now that is not ours; " CTP_POSTGRES_INSTEAD, p->name);
	return other < 0 ? CTP_FAILED : CTP_OK;
}

enum ctp_status ctp_postgres_now_begin(struct ctp_postgres *p, struct ctp_err *err)
{
	struct ctp_sql *db = &p->sql;
	p->now = calloc(1, sizeof *p->now);
	if (!p->now || !ctp_map_init(&p->now->map, CHANGED_MAX))
		return ctp_sql_no_memory(&p->sql, err);
	return make_table(p, err) || ctp_postgres_exec(db, changes_table[p->options.bigint], err) ? CTP_FAILED : CTP_OK;
}

void ctp_postgres_now_free(struct ctp_postgres_now *now)
{
	if (!now)
		return;
	forget(now);
	ctp_map_fini(&now->map);
	free(now);
}

static void put(struct ctp_bytes *to, bool has, char *(*spell)(char *to, uint64_t v), uint64_t v)
{
	char text[1 + CTP_TEXT_MAX + 1] = "\t";
	*spell(text + 1, v) = '\0';
	ctp_bytes_text(to, has ? text : "\t\\N");
}

static void put_number(struct ctp_bytes *to, bool has, uint64_t v) { put(to, has, ctp_text_u64, v); }

static void put_name(struct ctp_bytes *to, const char *name)
{
	ctp_bytes_text(to, name ? "\t" : "\t\\N");
	for (; name && *name; name++) {
		bool control = *name >= '\b' && *name <= '\r';
		if (*name == '\\' || control)
			ctp_bytes_byte(to, '\\');
		ctp_bytes_byte(to, (uint8_t)(control ? "btnvfr"[*name - '\b'] : *name));
	}
}

static void put_change(struct ctp_bytes *to, const char *section, const struct change *c)
{
	ctp_bytes_text(to, section);
	put_number(to, true, c->coro);
	put_number(to, c->probe, c->probe);
	ctp_bytes_text(to, "\t");
	ctp_bytes_text(to, state_names[c->state]);
	put_number(to, c->state, c->since_ns);
	put_number(to, c->has_thread, c->tid);
	put(to, c->has_thread, ctp_text_hex16, c->addr);
	put_number(to, c->has_site, c->site);
	put_number(to, c->has_index, c->index);
	put_name(to, c->name);
	put_number(to, c->state, c->at_ns);
	ctp_bytes_text(to, c->stale ? "\tt\n" : "\tf\n");
}

/* A birth is older than all else. */
#define NEWER \
	"n.state IS NOT NULL AND CASE WHEN 'born' IN (n.state, c.state) THEN n.state <> 'born'" \
	" ELSE coalesce(n.\"index\" >= c.\"index\", n.at_ns >= c.since_ns) END"
#define NEW(column) column " = CASE WHEN " NEWER " THEN n." column " ELSE c." column " END"
#define LAST(column) column " = CASE WHEN " NEWER " THEN coalesce(n." column ", c." column ") ELSE c." column " END" /* a loss knows none */

#define MINE "r.section = n.section AND r.coro = n.coro"

static const char merge[] =
	"DELETE FROM coroutines_now c USING ctp_changes n WHERE c.section = n.section AND c.coro = n.coro AND n.state = 'dead';"
	"UPDATE coroutines_now c SET " NEW("state") ", " NEW("since_ns") ", " LAST("tid") ", " LAST("addr") ", " LAST("site") ", " NEW("\"index\"")
	", probe_id = coalesce(n.probe_id, c.probe_id), name = coalesce(n.name, c.name)"
	" FROM ctp_changes n WHERE c.section = n.section AND c.coro = n.coro AND (" NEWER " OR n.name IS NOT NULL);"
	"INSERT INTO coroutines_now SELECT n.section, n.coro, n.probe_id, n.state, n.since_ns, n.tid, n.addr, n.site, n.\"index\","
	" coalesce(n.name, (SELECT r.name FROM names r WHERE " MINE " ORDER BY r.ts DESC LIMIT 1))"
	" FROM (SELECT * FROM ctp_changes n WHERE NOT n.stale AND n.state <> 'dead'"
	"       AND NOT EXISTS (SELECT 1 FROM coroutines_now c WHERE c.section = n.section AND c.coro = n.coro) OFFSET 0) n"
	" WHERE (SELECT 1 FROM deaths r WHERE " MINE " LIMIT 1) IS NULL;"
	"TRUNCATE ctp_changes";

enum ctp_status ctp_postgres_now_put(struct ctp_postgres *p, struct ctp_err *err)
{
	struct ctp_bytes text = {0};
	char section[CTP_TEXT_MAX];
	if (!p->now->n)
		return CTP_OK;
	*ctp_text_i64(section, p->now->section) = '\0';
	for (uint32_t i = 0; i < p->now->n; i++)
		put_change(&text, section, &p->now->changes[i]);
	enum ctp_status status = text.failed ? ctp_sql_no_memory(&p->sql, err) :
	                                       ctp_postgres_copy_text(p, "COPY ctp_changes FROM STDIN", text.data, text.len, err);
	ctp_bytes_fini(&text);
	forget(p->now);
	return status ? status : ctp_postgres_exec(&p->sql, merge, err);
}
