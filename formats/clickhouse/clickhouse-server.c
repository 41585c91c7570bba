/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* clickhouse-server.c - see clickhouse-server.h. */
#include "clickhouse/clickhouse-server.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "clickhouse/clickhouse-name.h"
#include "clickhouse/clickhouse.h"
#include "common/escape.h"

enum { HEX_MAX = 2 * 64 + 16, LOOK_US = 20000 };

/* --- tables --------------------------------------------------------------------------------------------------------------- */

static void add_column(void *arg, char *const *texts)
{
	struct ctp_clickhouse_tables *had = arg;
	if (!CTP_ARRAY_RESERVE(had->list, had->room, had->n + 1, SIZE_MAX)) {
		had->failed = true;
		return;
	}
	struct ctp_clickhouse_had *h = &had->list[had->n++];
	*h = (struct ctp_clickhouse_had){strdup(texts[0]), strdup(texts[1]), strdup(texts[2]), strcmp(texts[3], "Distributed") != 0};
	had->failed |= !h->table || !h->column || !h->type;
}

enum ctp_status ctp_clickhouse_tables_ask(struct ctp_clickhouse_tables *had, const struct ctp_clickhouse_client *client, struct ctp_err *err)
{
	ctp_clickhouse_tables_fini(had);
	/* A type has quotes, which are escaped. */
	if (ctp_clickhouse_ask(client, 4,
	                       "SELECT lower(hex(table)), lower(hex(name)), replaceAll(type, '''', ''), engine FROM"
	                       " (SELECT table, name, type FROM system.columns WHERE database = currentDatabase() AND table IN (SELECT table"
	                       " FROM system.columns WHERE database = currentDatabase() AND name = 'delivery')) AS c ANY LEFT JOIN"
	                       " (SELECT name AS table, engine FROM system.tables WHERE database = currentDatabase()) AS t USING table"
	                       " WHERE engine LIKE '%MergeTree' OR engine = 'Distributed'",
	                       add_column, had, err))
		return CTP_FAILED;
	return had->failed ? ctp_err_memory(err) : CTP_OK;
}

void ctp_clickhouse_tables_fini(struct ctp_clickhouse_tables *had)
{
	for (size_t i = 0; i < had->n; i++) {
		free(had->list[i].table);
		free(had->list[i].column);
		free(had->list[i].type);
	}
	free(had->list);
	*had = (struct ctp_clickhouse_tables){0};
}

/* Whether the digits spell the name. */
static bool spells(const char *digits, const char *name)
{
	char mine[HEX_MAX];
	size_t len = strlen(name);
	if (2 * len >= sizeof mine)
		return false;
	*ctp_escape_hex(mine, name, len) = '\0';
	return !strcmp(digits, mine);
}

static const struct ctp_clickhouse_had *find(const struct ctp_clickhouse_tables *had, const char *table, const char *column)
{
	for (size_t i = 0; i < had->n; i++)
		if (spells(had->list[i].table, table) && (!column || spells(had->list[i].column, column)))
			return &had->list[i];
	return NULL;
}

const char *ctp_clickhouse_tables_find(const struct ctp_clickhouse_tables *had, const char *table, const char *column)
{
	const struct ctp_clickhouse_had *h = find(had, table, column);
	return h ? h->type : NULL;
}

bool ctp_clickhouse_tables_local(const struct ctp_clickhouse_tables *had)
{
	const struct ctp_clickhouse_had *h = find(had, "sections", NULL);
	return h && h->local;
}

/* --- deliveries ----------------------------------------------------------------------------------------------------------- */

static void add_known(void *arg, char *const *texts)
{
	struct ctp_clickhouse_knowns *k = arg;
	struct ctp_clickhouse_known known = {0};
	uint64_t *const numbers[] = {&known.id, &known.mark, &known.delivery, &known.rows};
	if (!CTP_ARRAY_RESERVE(k->list, k->room, k->n + 1, SIZE_MAX)) {
		k->failed = true;
		return;
	}
	for (int i = 0; i < 4; i++)
		k->nonsense |= !ctp_parse_u64(texts[i], texts[i] + strlen(texts[i]), numbers[i]);
	known.committed = !strcmp(texts[4], "1");
	known.complete = known.committed && !strcmp(texts[5], "1");
	k->list[k->n++] = known;
}

static int by_number(const void *a, const void *b)
{
	const struct ctp_clickhouse_known *x = a, *y = b;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->delivery < y->delivery ? -1 : x->delivery > y->delivery;
}

static void put_ids(struct ctp_bytes *to, const uint64_t *ids, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ctp_clickhouse_put(to, i ? ", %d" : "%d", ids[i]);
}

enum ctp_status ctp_clickhouse_known_ask(struct ctp_clickhouse_knowns *k, const struct ctp_clickhouse_client *client, const char *sections,
                                         const uint64_t *ids, size_t n, struct ctp_err *err)
{
	struct ctp_bytes query = {0};
	k->n = 0;
	ctp_clickhouse_put(&query, "SELECT toString(section_id), toString(any(mark)), toString(delivery), toString(max(rows)), toString(max(state) >= 1),"
	                           " toString(max(state = 2 AND complete AND delivery <> %d)) FROM %I", CTP_CLICKHOUSE_BY_HAND, sections);
	if (n) {
		ctp_clickhouse_put(&query, " WHERE section_id IN (");
		put_ids(&query, ids, n);
		ctp_clickhouse_put(&query, ")");
	} else {
		ctp_clickhouse_put(&query, " WHERE section_id IN (SELECT section_id FROM %I GROUP BY section_id"
		                           " HAVING uniqExact(delivery) > 1 OR max(state) = 0)", sections);
	}
	ctp_clickhouse_put(&query, " GROUP BY section_id, delivery");
	const char *text = ctp_bytes_str(&query);
	enum ctp_status status = text ? ctp_clickhouse_ask(client, 6, text, add_known, k, err) : ctp_err_memory(err);
	ctp_bytes_fini(&query);
	if (!status && k->failed)
		status = ctp_err_memory(err);
	if (!status && k->nonsense)
		status = ctp_err_set(err, "%s: the server answered with something that is not a number", client->shown);
	if (!status && k->n)
		qsort(k->list, k->n, sizeof *k->list, by_number);
	return status;
}

void ctp_clickhouse_known_fini(struct ctp_clickhouse_knowns *k)
{
	free(k->list);
	*k = (struct ctp_clickhouse_knowns){0};
}

const struct ctp_clickhouse_known *ctp_clickhouse_known_of(const struct ctp_clickhouse_knowns *k, uint64_t id, size_t *n)
{
	size_t first, upto;
	CTP_ARRAY_FIRST(first, k->n, k->list[first].id >= id);
	CTP_ARRAY_FIRST(upto, k->n, k->list[upto].id > id);
	*n = upto - first;
	return *n ? k->list + first : NULL;
}

const struct ctp_clickhouse_known *ctp_clickhouse_known_winner(const struct ctp_clickhouse_known *of, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (of[i].complete)
			return &of[i];
	return NULL;
}

/* --- deletions ------------------------------------------------------------------------------------------------------------ */

/* Whether readers see the delivery, as the view deliveries has it. */
static bool counts(const struct ctp_clickhouse_known *of, size_t n, const struct ctp_clickhouse_known *winner, const struct ctp_clickhouse_known *it)
{
	if (winner || !it->committed)
		return it == winner;
	for (const struct ctp_clickhouse_known *o = of; o < of + n; o++)
		if (o->committed && o->mark == it->mark && (o->rows > it->rows || (o->rows == it->rows && o->delivery < it->delivery)))
			return false;
	return true;
}

/* Appends (id, delivery) of each that was replaced, or, if no loader runs, that no reader sees, and returns how many. */
static size_t put_replaced(const struct ctp_clickhouse_knowns *k, bool unfinished, struct ctp_bytes *to)
{
	size_t count = 0, n;
	for (size_t i = 0; i < k->n; i += n) {
		const struct ctp_clickhouse_known *of = ctp_clickhouse_known_of(k, k->list[i].id, &n), *winner = ctp_clickhouse_known_winner(of, n);
		for (size_t j = 0; j < n; j++)
			if (unfinished ? !counts(of, n, winner, &of[j]) : winner && of[j].delivery > winner->delivery)
				ctp_clickhouse_put(to, count++ ? ", (%d, %d)" : "(%d, %d)", of[j].id, of[j].delivery);
	}
	return count;
}

static void set_found(void *arg, char *const *texts) { *(bool *)arg |= strcmp(texts[0], "0") != 0; }

/* Waits until the server has deleted all that it was told to. Returns whether it has. */
static enum ctp_status await(const struct ctp_clickhouse_client *client, uint64_t wait_ns, bool *done, struct ctp_err *err)
{
	for (uint64_t began = ctp_clock_ns();; usleep(LOOK_US)) {
		bool found = false;
		if (ctp_clickhouse_ask(client, 1, "SELECT toString(count()) FROM system.mutations WHERE database = currentDatabase() AND NOT is_done",
		                       set_found, &found, err))
			return CTP_FAILED;
		*done = !found;
		if (*done || ctp_clock_ns() - began > wait_ns)
			return CTP_OK;
	}
}

static enum ctp_status delete_from(const struct ctp_clickhouse_client *client, const char *table, const char *list, struct ctp_err *err)
{
	struct ctp_bytes query = {0};
	ctp_clickhouse_put(&query, "ALTER TABLE %I DELETE WHERE (section_id, delivery) IN (%s)", table, list);
	const char *text = ctp_bytes_str(&query);
	enum ctp_status status = text ? ctp_clickhouse_tell(client, text, err) : ctp_err_memory(err);
	ctp_bytes_fini(&query);
	return status;
}

/* Two digits stand for each byte of the name. False: the digits stand for no name that this tool has made. */
static bool unspell(char name[HEX_MAX / 2], const char *digits)
{
	size_t len = strlen(digits) / 2;
	if (len >= HEX_MAX / 2)
		return false;
	for (size_t i = 0; i < len; i++) {
		unsigned byte;
		if (sscanf(digits + 2 * i, "%2x", &byte) != 1)
			return false;
		name[i] = (char)byte;
	}
	name[len] = '\0';
	return true;
}

struct deletion {
	const struct ctp_clickhouse_client *client;
	const char *list;
	struct ctp_err *err;
	enum ctp_status status;
};

static void delete_found(void *arg, char *const *texts)
{
	struct deletion *d = arg;
	char name[HEX_MAX / 2];
	if (!d->status && unspell(name, texts[0]))
		d->status = delete_from(d->client, name, d->list, d->err);
}

static const char *local_sections(const struct ctp_clickhouse_tables *had)
{
	return find(had, "sections" CTP_CLICKHOUSE_LOCAL, NULL) ? "sections" CTP_CLICKHOUSE_LOCAL : "sections";
}

/* Which tables have any of these rows: most have none. */
static char *find_query(const struct ctp_clickhouse_tables *had, const char *sections, const char *list)
{
	struct ctp_bytes query = {0};
	char name[HEX_MAX / 2];
	for (size_t i = 0; i < had->n; i++) {
		const struct ctp_clickhouse_had *h = &had->list[i];
		if (!h->local || !spells(h->column, "delivery") || spells(h->table, sections) || !unspell(name, h->table))
			continue;
		ctp_clickhouse_put(&query, "%sSELECT %L FROM (SELECT 1 FROM %I WHERE (section_id, delivery) IN (%s) LIMIT 1)",
		                   query.len ? " UNION ALL " : "", h->table, name, list);
	}
	return query.len ? ctp_bytes_take(&query) : NULL;
}

static enum ctp_status delete_list(const struct ctp_clickhouse_tables *had, const struct ctp_clickhouse_client *client, uint64_t wait_ns,
                                   const char *list, struct ctp_err *err)
{
	const char *sections = local_sections(had);
	struct deletion d = {client, list, err, CTP_OK};
	bool done = false;
	char *query = find_query(had, sections, list);
	enum ctp_status status = query ? ctp_clickhouse_ask(client, 1, query, delete_found, &d, err) : ctp_err_memory(err);
	free(query);
	if (status || d.status || await(client, wait_ns, &done, err))
		return CTP_FAILED;
	return done ? delete_from(client, sections, list, err) : CTP_OK;
}

enum ctp_status ctp_clickhouse_delete_replaced(const struct ctp_clickhouse_knowns *k, const struct ctp_clickhouse_tables *had,
                                               const struct ctp_clickhouse_client *client, bool unfinished, uint64_t wait_ns, size_t *n,
                                               struct ctp_err *err)
{
	struct ctp_bytes list = {0};
	enum ctp_status status = CTP_OK;
	*n = put_replaced(k, unfinished, &list);
	const char *text = ctp_bytes_str(&list);
	if (!text)
		status = ctp_err_memory(err);
	else if (*n)
		status = delete_list(had, client, wait_ns, text, err);
	ctp_bytes_fini(&list);
	return status;
}

enum ctp_status ctp_clickhouse_clean(const char *client_command, uint64_t timeout_ns, bool unfinished, uint64_t *n, struct ctp_err *err)
{
	struct ctp_clickhouse_client own, *client = &own;
	size_t count = 0;
	struct ctp_clickhouse_tables had = {0};
	struct ctp_clickhouse_knowns k = {0};
	ctp_clickhouse_client_init(client, client_command, timeout_ns);
	enum ctp_status status = ctp_clickhouse_tables_ask(&had, client, err);
	if (!status && !find(&had, "sections", NULL))
		status = ctp_err_set(err, "%s: there is no table sections; ctp-toclickhouse --schema makes it", client->shown);
	if (!status)
		status = ctp_clickhouse_known_ask(&k, client, local_sections(&had), NULL, 0, err);
	if (!status)
		status = ctp_clickhouse_delete_replaced(&k, &had, client, unfinished, timeout_ns, &count, err);
	*n = count;
	ctp_clickhouse_known_fini(&k);
	ctp_clickhouse_tables_fini(&had);
	return status;
}
