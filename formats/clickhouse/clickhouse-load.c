/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* clickhouse-load.c - see clickhouse-load.h. */
#include "clickhouse/clickhouse-load.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "clickhouse/clickhouse-name.h"
#include "clickhouse/clickhouse-server.h"

enum {
	MEMORY = 128 << 20,
	SECTIONS_MAX = 1000, /* of a batch */
	DAYS_MAX = 60,       /* of a batch: a server refuses an INSERT for more than 100 partitions */
	STEP_BITS = 40,      /* how far a delivery is from the one before, at most */
	SAID_MAX = 10,       /* sections that were left out, each with a line */
};
#define WAIT_NS (10 * CTP_SECOND_NS) /* for deletions */

struct ctp_clickhouse_load {
	struct ctp_clickhouse_options o;
	struct ctp_clickhouse_client client;
	struct ctp_clickhouse_batch *batch;
	struct ctp_clickhouse_tables had;
	struct ctp_clickhouse_table *said; /* rows for sections, in a state other than OVER */
	size_t memory;
	uint64_t sent_ns; /* when a batch was last sent; 0: none was, and the first need not wait */
	uint16_t days[DAYS_MAX];
	unsigned ndays;
	bool asked; /* for the tables */
	bool committing; /* so that a failure leaves open what the server has */
	uint64_t left_out; /* sections that the server has */
	bool refused;      /* sections, whose tables are missing or others */
	char *refused_of;  /* the last input of which that was said; null: there is none */
};

/* --- before rows are sent ------------------------------------------------------------------------------------------------- */

static void unquote(char *to, const char *type)
{
	for (; *type; type++)
		if (*type != '\'')
			*to++ = *type;
	*to = '\0';
}

struct check {
	const struct ctp_clickhouse_load *l;
	const struct ctp_clickhouse_table *t;
	struct ctp_err *err;
	enum ctp_status status;
};

/* LowCardinality(String) takes a String; DateTime64 is chosen by what the server has. */
static void check_column(void *arg, const char *name, const char *type)
{
	struct check *c = arg;
	const char *has = ctp_clickhouse_tables_find(&c->l->had, c->t->name, name);
	char mine[64];
	unquote(mine, type);
	if (c->status)
		return;
	if (!has)
		c->status = ctp_err_as(c->err, CTP_ERR_REFUSED,
		                       "%s: table %.100s has no column %.100s; ctp-toclickhouse --schema --upgrade FILE adds it",
		                       c->l->client.shown, c->t->name, name);
	else if (strcmp(has, mine) && (strcmp(mine, "String") || strcmp(has, "LowCardinality(String)")))
		c->status = ctp_err_as(c->err, CTP_ERR_REFUSED,
		                       "%s: column %.100s of table %.100s is %.40s, and the stream has %.40s; use another database",
		                       c->l->client.shown, name, c->t->name, has, mine);
}

static enum ctp_status check_table(const struct ctp_clickhouse_load *l, struct ctp_clickhouse_table *t, struct ctp_err *err)
{
	struct check c = {l, t, err, CTP_OK};
	if (!ctp_clickhouse_tables_find(&l->had, t->name, NULL))
		return ctp_err_as(err, CTP_ERR_REFUSED, "%s: there is no table %.100s; ctp-toclickhouse --schema%s makes it",
		                  l->client.shown, t->name, t == l->batch->sections ? "" : " --upgrade FILE");
	const char *wall = ctp_clickhouse_tables_find(&l->had, t->name, "wall");
	t->wall64 = wall && !strncmp(wall, "DateTime64", 10);
	ctp_clickhouse_table_each(t, check_column, &c);
	return c.status;
}

static const char *input_of(const struct ctp_clickhouse_delivery *d)
{
	const struct ctp_str *input = ctp_str_val(d->val[CTP_ABOUT_INPUT]);
	return input->len ? input->data : "stdin";
}

static bool has_rows(const struct ctp_clickhouse_table *t, const struct ctp_clickhouse_delivery *d)
{
	uint32_t i = 0;
	while (i < t->nruns && t->runs[i].sec != &d->sec)
		i++;
	return i < t->nruns;
}

/* Sections with rows for a table that cannot take them are not delivered; others are. Of each input one line is said. */
static void refuse(struct ctp_clickhouse_load *l, const struct ctp_clickhouse_table *t, const struct ctp_err *why)
{
	for (uint32_t i = 0; i < l->batch->ndeliveries; i++) {
		struct ctp_clickhouse_delivery *d = l->batch->deliveries[i];
		if (d->sec.unwanted || !has_rows(t, d))
			continue;
		d->sec.unwanted = l->refused = true;
		if (l->refused_of && !strcmp(l->refused_of, input_of(d)))
			continue;
		ctp_notice_say(l->o.complaint, "%.200s: is not delivered: %s", input_of(d), why->text);
		free(l->refused_of);
		l->refused_of = strdup(input_of(d));
	}
}

/* Once. */
static enum ctp_status ask_tables(struct ctp_clickhouse_load *l, struct ctp_err *err)
{
	if (!l->asked && (ctp_clickhouse_tables_ask(&l->had, &l->client, err) || check_table(l, l->batch->sections, err) || check_table(l, l->said, err)))
		return CTP_FAILED;
	l->asked = true;
	return CTP_OK;
}

/* Tables may be of a class that came with this batch. A live input is not read to its end in vain. */
static enum ctp_status check_tables(struct ctp_clickhouse_load *l, struct ctp_err *err)
{
	if (ask_tables(l, err))
		return CTP_FAILED;
	for (uint32_t i = 0; i < l->batch->ntables; i++)
		if (l->batch->tables[i]->nrows && check_table(l, l->batch->tables[i], err)) {
			if (l->o.every_ns)
				return CTP_FAILED;
			refuse(l, l->batch->tables[i], err);
		}
	return CTP_OK;
}

/* Says why a section is not sent; always true. */
static bool leave_out(struct ctp_clickhouse_load *l, const struct ctp_clickhouse_delivery *d, const char *why)
{
	if (l->o.attempt <= 1 && l->left_out++ < SAID_MAX)
		ctp_notice_say(l->o.notice, "%.200s: %s", input_of(d), why);
	return true;
}

/* Whether a delivery adds nothing to those that are there. */
static bool is_there(struct ctp_clickhouse_load *l, const struct ctp_clickhouse_delivery *d, const struct ctp_clickhouse_known *of, size_t n)
{
	if (ctp_clickhouse_known_winner(of, n))
		return leave_out(l, d, d->over && !d->complete ? "the server has the complete section, and this copy is not complete: it is not sent" :
		                       "the server has this section: it is not sent again");
	for (size_t i = 0; d->over && !d->complete && i < n; i++)
		if (of[i].committed && of[i].mark == d->val[CTP_CLICKHOUSE_MARK] && of[i].rows >= d->rows)
			return leave_out(l, d, "the server has as many rows of this incomplete section, or more: it is not sent");
	return false;
}

/* Smaller than all that the section has, and equal to none that another loader chooses at the same time. */
static enum ctp_status choose(const struct ctp_clickhouse_load *l, struct ctp_clickhouse_delivery *d, const struct ctp_clickhouse_known *of,
                              size_t n, struct ctp_err *err)
{
	uint64_t least = n ? of[0].delivery : CTP_CLICKHOUSE_BY_HAND, step;
	if (getrandom(&step, sizeof step, 0) != sizeof step)
		return ctp_err_sys(err, "getrandom");
	step = (step & ((UINT64_C(1) << STEP_BITS) - 1)) + 1;
	if (least < step)
		return ctp_err_as(err, CTP_ERR_REFUSED,
		                  "%s: section %ju has the delivery %ju, and no smaller number is left; delete it from the table sections",
		                  l->client.shown, (uintmax_t)d->sec.id, (uintmax_t)least);
	d->sec.delivery = least - step;
	return CTP_OK;
}

/* The deliveries of a batch that pass the test; for free(), null: out of memory. */
static uint64_t *ids_of(const struct ctp_clickhouse_load *l, bool (*test)(const struct ctp_clickhouse_delivery *d), size_t *n)
{
	uint64_t *ids = malloc((l->batch->ndeliveries + 1) * sizeof *ids);
	*n = 0;
	for (uint32_t i = 0; ids && i < l->batch->ndeliveries; i++)
		if (test(l->batch->deliveries[i]))
			ids[(*n)++] = l->batch->deliveries[i]->sec.id;
	return ids;
}

static bool is_new(const struct ctp_clickhouse_delivery *d) { return d->is_new; }
static bool is_committed(const struct ctp_clickhouse_delivery *d) { return d->over && !d->sec.unwanted; }
static bool may_be_replaced(const struct ctp_clickhouse_delivery *d) { return is_committed(d) || d->yields; }

/* Of two copies in one batch the better one is sent; a user that gives a trace twice gets it once. */
static void drop_twins(const struct ctp_clickhouse_load *l, struct ctp_clickhouse_delivery *d, uint32_t at)
{
	for (uint32_t i = 0; i < at && !d->sec.unwanted; i++) {
		struct ctp_clickhouse_delivery *other = l->batch->deliveries[i];
		if (other->sec.id != d->sec.id || other->sec.unwanted)
			continue;
		bool same = other->val[CTP_CLICKHOUSE_MARK] == d->val[CTP_CLICKHOUSE_MARK];
		if (other->complete || (same && !d->complete && d->over && other->rows >= d->rows))
			d->sec.unwanted = true;
		else if (other->is_new && (d->complete || (same && d->over)))
			other->sec.unwanted = true;
	}
}

/* Which sections are to be sent, and under which numbers. */
static enum ctp_status choose_all(struct ctp_clickhouse_load *l, const struct ctp_clickhouse_knowns *k, struct ctp_err *err)
{
	for (uint32_t i = 0; i < l->batch->ndeliveries; i++) {
		struct ctp_clickhouse_delivery *d = l->batch->deliveries[i];
		size_t n;
		const struct ctp_clickhouse_known *of = ctp_clickhouse_known_of(k, d->sec.id, &n);
		if (!d->is_new)
			continue;
		d->sec.unwanted = d->sec.unwanted || is_there(l, d, of, n);
		if (choose(l, d, of, n, err))
			return CTP_FAILED;
	}
	for (uint32_t i = 0; i < l->batch->ndeliveries; i++)
		if (l->batch->deliveries[i]->is_new)
			drop_twins(l, l->batch->deliveries[i], i);
	return CTP_OK;
}

/* --- rows ----------------------------------------------------------------------------------------------------------------- */

struct blocks {
	struct ctp_clickhouse_table *t;
	uint32_t at;
};

static bool more_blocks(void *arg, struct ctp_bytes *to)
{
	struct blocks *b = arg;
	return ctp_clickhouse_table_block(b->t, &b->at, to) > 0;
}

static void put_column(void *arg, const char *name, const char *type)
{
	struct ctp_bytes *to = arg;
	(void)type;
	ctp_clickhouse_put(to, to->data[to->len - 1] == '(' ? "%I" : ", %I", name);
}

static bool has_wanted(const struct ctp_clickhouse_table *t)
{
	for (uint32_t i = 0; i < t->nruns; i++)
		if (!t->runs[i].sec->unwanted)
			return true;
	return false;
}

static enum ctp_status insert(const struct ctp_clickhouse_load *l, struct ctp_clickhouse_table *t, struct ctp_err *err)
{
	struct ctp_bytes query = {0};
	if (!has_wanted(t))
		return CTP_OK;
	ctp_clickhouse_put(&query, "INSERT INTO %I (", t->name);
	if (!query.failed)
		ctp_clickhouse_table_each(t, put_column, &query);
	ctp_clickhouse_put(&query, ") FORMAT Native");
	const char *text = ctp_bytes_str(&query);
	enum ctp_status status = text ? ctp_clickhouse_insert(&l->client, text, more_blocks, &(struct blocks){t, 0}, err) : ctp_err_memory(err);
	ctp_bytes_fini(&query);
	return status;
}

/* Tells the server how far deliveries have come. */
static enum ctp_status say(struct ctp_clickhouse_load *l, bool (*test)(const struct ctp_clickhouse_delivery *d), enum ctp_clickhouse_state state,
                           struct ctp_err *err)
{
	ctp_clickhouse_table_clear(l->said, true);
	for (uint32_t i = 0; i < l->batch->ndeliveries; i++)
		if (test(l->batch->deliveries[i]))
			ctp_clickhouse_batch_say(l->batch, l->said, l->batch->deliveries[i], state);
	return l->said->failed ? ctp_err_memory(err) : insert(l, l->said, err);
}

/* --- step 3: what the server has ------------------------------------------------------------------------------------------ */

static void count_row(void *arg, char *const *texts)
{
	const struct ctp_clickhouse_load *l = arg;
	uint64_t delivery = strtoull(texts[0], NULL, 10), rows = strtoull(texts[1], NULL, 10);
	for (uint32_t i = 0; i < l->batch->ndeliveries; i++) {
		struct ctp_clickhouse_delivery *d = l->batch->deliveries[i];
		if (is_committed(d) && d->sec.delivery == delivery)
			d->has_all = rows == d->rows;
	}
}

/* Another loader may have delivered a section meanwhile, and deleted rows of this delivery: then it is there. */
static enum ctp_status yield_to_others(struct ctp_clickhouse_load *l, const uint64_t *ids, size_t n, struct ctp_err *err)
{
	struct ctp_clickhouse_knowns k = {0};
	enum ctp_status status = ctp_clickhouse_known_ask(&k, &l->client, "sections", ids, n, err);
	for (uint32_t i = 0; !status && i < l->batch->ndeliveries; i++) {
		struct ctp_clickhouse_delivery *d = l->batch->deliveries[i];
		size_t count;
		const struct ctp_clickhouse_known *of = ctp_clickhouse_known_of(&k, d->sec.id, &count);
		const struct ctp_clickhouse_known *winner = ctp_clickhouse_known_winner(of, count);
		if (!is_committed(d) || d->has_all)
			continue;
		if (!winner || winner->delivery >= d->sec.delivery)
			status = ctp_err_set(err, "%s: it ended with success, but the server does not have all rows; none of them counts, run it again", l->client.shown);
		d->yields = d->sec.unwanted = true;
	}
	ctp_clickhouse_known_fini(&k);
	return status;
}

/* The first of the tables with its name. */
static bool is_first(const struct ctp_clickhouse_batch *b, uint32_t at)
{
	for (uint32_t i = 0; i < at; i++)
		if (!strcmp(b->tables[i]->name, b->tables[at]->name))
			return false;
	return true;
}

static char *count_query(const struct ctp_clickhouse_load *l, const uint64_t *ids, size_t n)
{
	struct ctp_bytes query = {0};
	const char *between = "";
	ctp_clickhouse_put(&query, "SELECT toString(delivery), toString(count()) FROM (");
	for (uint32_t i = 0; i < l->batch->ntables; i++) {
		if (!is_first(l->batch, i) || !ctp_clickhouse_tables_find(&l->had, l->batch->tables[i]->name, NULL))
			continue;
		ctp_clickhouse_put(&query, "%sSELECT delivery FROM %I WHERE section_id IN (", between, l->batch->tables[i]->name);
		for (size_t k = 0; k < n; k++)
			ctp_clickhouse_put(&query, k ? ", %d" : "%d", ids[k]);
		ctp_clickhouse_put(&query, ")");
		between = " UNION ALL ";
	}
	ctp_clickhouse_put(&query, ") GROUP BY delivery");
	return ctp_bytes_take(&query);
}

static enum ctp_status check_rows(struct ctp_clickhouse_load *l, struct ctp_err *err)
{
	bool all = true, any = false;
	size_t n;
	uint64_t *ids = ids_of(l, is_committed, &n);
	for (uint32_t i = 0; i < l->batch->ndeliveries; i++) {
		struct ctp_clickhouse_delivery *d = l->batch->deliveries[i];
		d->has_all = !d->rows;
		any |= is_committed(d) && d->rows;
	}
	char *query = ids && any ? count_query(l, ids, n) : NULL;
	enum ctp_status status = CTP_OK;
	if (!ids || (any && !query))
		status = ctp_err_memory(err);
	else if (any)
		status = ctp_clickhouse_ask(&l->client, 2, query, count_row, l, err);
	for (uint32_t i = 0; i < l->batch->ndeliveries; i++)
		all &= !is_committed(l->batch->deliveries[i]) || l->batch->deliveries[i]->has_all;
	if (!status && !all)
		status = yield_to_others(l, ids, n, err);
	free(query);
	free(ids);
	return status;
}

/* --- step 5: what was replaced -------------------------------------------------------------------------------------------- */

/* The commit stands, whatever fails here. */
static void clean(struct ctp_clickhouse_load *l)
{
	struct ctp_clickhouse_knowns k = {0};
	struct ctp_err err;
	size_t n, replaced = 0;
	uint64_t *ids = ids_of(l, may_be_replaced, &n);
	enum ctp_status status = CTP_OK;
	bool local = ctp_clickhouse_tables_local(&l->had);
	if (!ids || !n)
		status = ids ? CTP_OK : ctp_err_memory(&err);
	else
		status = ctp_clickhouse_known_ask(&k, &l->client, "sections", ids, n, &err);
	if (!status && local)
		status = ctp_clickhouse_delete_replaced(&k, &l->had, &l->client, false, WAIT_NS, &replaced, &err);
	if (status)
		ctp_notice_say(l->o.notice, "all rows are delivered, but copies that they replace are not deleted: %s; see --clean", err.text);
	ctp_clickhouse_known_fini(&k);
	free(ids);
}

/* --- a batch -------------------------------------------------------------------------------------------------------------- */

static bool begins(const struct ctp_clickhouse_delivery *d) { return d->is_new && !d->sec.unwanted; }
static bool goes_on(const struct ctp_clickhouse_delivery *d) { return !d->over && !d->sec.unwanted; }

static enum ctp_status begin(struct ctp_clickhouse_load *l, struct ctp_err *err)
{
	struct ctp_clickhouse_knowns k = {0};
	size_t n;
	uint64_t *ids = ids_of(l, is_new, &n);
	enum ctp_status status = ids ? CTP_OK : ctp_err_memory(err);
	if (!status && n)
		status = ctp_clickhouse_known_ask(&k, &l->client, "sections", ids, n, err);
	if (!status && n)
		status = choose_all(l, &k, err);
	if (!status && n)
		status = say(l, begins, CTP_CLICKHOUSE_BEGUN, err);
	for (uint32_t i = 0; i < l->batch->ndeliveries; i++)
		l->batch->deliveries[i]->is_new = false;
	ctp_clickhouse_known_fini(&k);
	free(ids);
	return status;
}

/* Sends what there is. */
static enum ctp_status send_all(struct ctp_clickhouse_load *l, struct ctp_err *err)
{
	struct ctp_clickhouse_batch *b = l->batch;
	l->committing = false;
	if (check_tables(l, err) || begin(l, err))
		return CTP_FAILED;
	for (uint32_t i = 0; i < b->ntables; i++)
		if (insert(l, b->tables[i], err))
			return CTP_FAILED;
	if (check_rows(l, err))
		return CTP_FAILED;
	l->committing = true;
	if (insert(l, b->sections, err))
		return l->o.attempt ? CTP_FAILED : ctp_err_before(err, "it is not known whether the last sections were delivered, run it again: ");
	l->committing = false;
	if (l->o.every_ns && say(l, goes_on, CTP_CLICKHOUSE_GOES_ON, err))
		return CTP_FAILED;
	clean(l);
	ctp_clickhouse_batch_clear(b);
	l->ndays = 0;
	l->sent_ns = ctp_clock_ns();
	ctp_notice_say(l->o.sent, "a batch");
	return CTP_OK;
}

static uint64_t waiting_rows(const struct ctp_clickhouse_load *l)
{
	uint64_t rows = 0;
	for (uint32_t i = 0; i < l->batch->ntables; i++)
		rows += l->batch->tables[i]->nrows;
	return rows;
}

/* A live input cannot be read again here: whoever keeps it must know what is missing. */
static enum ctp_status deliver(struct ctp_clickhouse_load *l, struct ctp_err *err)
{
	enum ctp_status status = send_all(l, err);
	if (status && l->o.every_ns && !l->o.attempt && !l->committing)
		ctp_err_before(err, "%ju rows and all after them were dropped, deliver the whole stream again: ", (uintmax_t)waiting_rows(l));
	return status;
}

/* --- for the sink --------------------------------------------------------------------------------------------------------- */

struct ctp_clickhouse_load *ctp_clickhouse_load_new(const struct ctp_clickhouse_options *options, struct ctp_clickhouse_batch *batch,
                                                    struct ctp_err *err)
{
	struct ctp_clickhouse_load *l = ctp_err_calloc(err, sizeof *l);
	if (!l)
		return NULL;
	l->o = *options;
	ctp_clickhouse_client_init(&l->client, options->client, options->timeout_ns ? options->timeout_ns : CTP_CLICKHOUSE_TIMEOUT_S * CTP_SECOND_NS);
	l->memory = options->memory ? options->memory : MEMORY;
	l->batch = batch;
	batch->any_types = true;
	l->said = ctp_clickhouse_table_new(batch->sections->cls, "sections", false, err);
	if (!l->said) {
		free(l);
		return NULL;
	}
	return l;
}

void ctp_clickhouse_load_free(struct ctp_clickhouse_load *l)
{
	if (!l)
		return;
	ctp_clickhouse_tables_fini(&l->had);
	ctp_clickhouse_table_free(l->said);
	free(l->refused_of);
	free(l);
}

/* The days of the sections so far; too many: they are sent. Nothing is read in vain for a server that is not there. */
enum ctp_status ctp_clickhouse_load_section(struct ctp_clickhouse_load *l, struct ctp_err *err)
{
	const struct ctp_clickhouse_batch *b = l->batch;
	if (l->o.attempt && ask_tables(l, err))
		return CTP_FAILED;
	if (!b->ndeliveries)
		return CTP_OK;
	uint16_t day = b->deliveries[b->ndeliveries - 1]->sec.day;
	unsigned i = 0;
	while (i < l->ndays && l->days[i] != day)
		i++;
	if (i == l->ndays)
		l->days[l->ndays++] = day;
	return b->ndeliveries >= SECTIONS_MAX || l->ndays == DAYS_MAX ? deliver(l, err) : CTP_OK;
}

enum ctp_status ctp_clickhouse_load_more(struct ctp_clickhouse_load *l, struct ctp_err *err)
{
	return ctp_clickhouse_batch_bytes(l->batch) >= l->memory ? deliver(l, err) : CTP_OK;
}

enum ctp_status ctp_clickhouse_load_flush(struct ctp_clickhouse_load *l, struct ctp_err *err)
{
	return (waiting_rows(l) || l->batch->sections->nrows) && ctp_clock_ns() - l->sent_ns >= l->o.every_ns ? deliver(l, err) : CTP_OK;
}

enum ctp_status ctp_clickhouse_load_finish(struct ctp_clickhouse_load *l, struct ctp_err *err)
{
	enum ctp_status status = deliver(l, err);
	if (l->left_out > SAID_MAX)
		ctp_notice_say(l->o.notice, "%ju sections in all were not sent, because the server has them", (uintmax_t)l->left_out);
	return status;
}

bool ctp_clickhouse_load_refused(const struct ctp_clickhouse_load *l) { return l->refused; }
