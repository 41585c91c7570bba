/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* sql-text.c - statements as texts, and the simple questions. */
#include <stdarg.h>

#include "base/text.h"
#include "sql/sql-answer.h"

/* before: what stands before the text, or null */
static void put_quoted(struct ctp_bytes *to, const char *before, const char *text, char quote)
{
	ctp_bytes_byte(to, (uint8_t)quote);
	ctp_bytes_text(to, before ? before : "");
	for (; *text; text++) {
		if (*text == quote)
			ctp_bytes_byte(to, (uint8_t)quote);
		ctp_bytes_byte(to, (uint8_t)*text);
	}
	ctp_bytes_byte(to, (uint8_t)quote);
}

/* As x'c3'. */
static void put_blob(struct ctp_bytes *to, const char *text)
{
	size_t len = strlen(text);
	ctp_bytes_text(to, "x'");
	char *p = ctp_bytes_reserve(to, 2 * len);
	if (p)
		ctp_bytes_commit(to, ctp_escape_hex(p, text, len));
	ctp_bytes_text(to, "'");
}

static void put_text(struct ctp_bytes *to, const char *text, bool ascii)
{
	size_t len = strlen(text);
	char *escaped = malloc(CTP_ESCAPE_GROWTH * len + 1);
	if (escaped) {
		*ctp_escape(escaped, text, len, ascii) = '\0';
		put_quoted(to, NULL, escaped, '\'');
	}
	to->failed |= !escaped;
	free(escaped);
}

static void put_literal(struct ctp_bytes *to, const struct ctp_sql *db, const char *text)
{
	if (!text)
		ctp_bytes_text(to, "NULL");
	else if (db->words->blobs && !ctp_escape_is_plain(text, strlen(text)))
		put_blob(to, text);
	else
		put_text(to, text, db->words->naming->ascii);
}

static bool is_word(char c) { return c == '_' || (c >= 'a' && c <= 'z'); }

/* In a word that contains the name of coroTracer's table, that is replaced by our table's name. quote: what stands around the word. */
static void put_word(struct ctp_bytes *to, const char *events, const char *word, size_t len, char quote)
{
	const char *at = memmem(word, len, CTP_SQL_EVENTS, sizeof CTP_SQL_EVENTS - 1);
	size_t before = (size_t)(at - word), after = before + sizeof CTP_SQL_EVENTS - 1;
	ctp_bytes_text(to, quote ? "" : "\"");
	ctp_bytes_put(to, word, before);
	for (const char *c = events; *c; c++) {
		if (*c == (quote ? quote : '"'))
			ctp_bytes_byte(to, (uint8_t)*c);
		ctp_bytes_byte(to, (uint8_t)*c);
	}
	ctp_bytes_put(to, word + after, len - after);
	ctp_bytes_text(to, quote ? "" : "\"");
}

static void put_own(struct ctp_bytes *to, const struct ctp_sql *db, const char *text, size_t len)
{
	const char *end = text + len, *begin = text, *at;
	if (strcmp(db->events, CTP_SQL_EVENTS))
		for (; (at = memmem(begin, (size_t)(end - begin), CTP_SQL_EVENTS, sizeof CTP_SQL_EVENTS - 1)); begin = at) {
			const char *word = at;
			while (word > begin && is_word(word[-1]))
				word--;
			while (at < end && is_word(*at))
				at++;
			bool quoted = word > text && (word[-1] == '\'' || word[-1] == '"');
			ctp_bytes_put(to, begin, (size_t)(word - begin));
			put_word(to, db->events, word, (size_t)(at - word), quoted ? word[-1] : '\0');
		}
	ctp_bytes_put(to, begin, (size_t)(end - begin));
}

static void put_number(struct ctp_bytes *to, int64_t number)
{
	char *p = ctp_bytes_reserve(to, CTP_TEXT_MAX);
	if (p)
		ctp_bytes_commit(to, ctp_text_i64(p, number));
}

static void put_as(struct ctp_bytes *to, const struct ctp_sql *db, char form, const char *text)
{
	if (form == 'L')
		put_literal(to, db, text);
	else if (!text)
		to->failed = true; /* memory was out when the text was made */
	else if (form == 's')
		ctp_bytes_text(to, text);
	else if (form == 'V')
		put_own(to, db, text, strlen(text));
	else
		put_quoted(to, form == 'T' ? db->words->staging : NULL, text, '"');
}

static void put_all(const struct ctp_sql *db, struct ctp_bytes *to, const char *fmt, va_list ap)
{
	for (const char *percent; (percent = strchr(fmt, '%')); fmt = percent + 2) {
		put_own(to, db, fmt, (size_t)(percent - fmt));
		if (percent[1] == 'd')
			put_number(to, va_arg(ap, int64_t));
		else
			put_as(to, db, percent[1], va_arg(ap, const char *));
	}
	put_own(to, db, fmt, strlen(fmt));
}

void ctp_sql_put(const struct ctp_sql *db, struct ctp_bytes *to, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	put_all(db, to, fmt, ap);
	va_end(ap);
}

char *ctp_sql_vtext(const struct ctp_sql *db, const char *fmt, va_list ap)
{
	struct ctp_bytes text = {0};
	put_all(db, &text, fmt, ap);
	return ctp_bytes_take(&text);
}

char *ctp_sql_text(const struct ctp_sql *db, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	char *text = ctp_sql_vtext(db, fmt, ap);
	va_end(ap);
	return text;
}

/* --- statements ---------------------------------------------------------------------------------------------------------- */

enum ctp_status ctp_sql_no_memory(const struct ctp_sql *db, struct ctp_err *err)
{
	return ctp_err_as(err, CTP_ERR_MEMORY, "%s: out of memory", db->name);
}

enum ctp_status ctp_sql_exec(struct ctp_sql *db, struct ctp_err *err, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	char *sql = ctp_sql_vtext(db, fmt, ap);
	va_end(ap);
	enum ctp_status status = sql ? db->ops->exec(db, sql, err) : ctp_sql_no_memory(db, err);
	free(sql);
	return status;
}

static enum ctp_status ask(struct ctp_sql *db, const char *asked, ctp_sql_row *row, void *arg, struct ctp_err *err, const char *fmt,
                           va_list ap)
{
	char *sql = ctp_sql_vtext(db, fmt, ap);
	enum ctp_status status = sql ? db->ops->query(db, sql, asked, row, arg, err) : ctp_sql_no_memory(db, err);
	free(sql);
	return status;
}

enum ctp_status ctp_sql_ask(struct ctp_sql *db, const char *asked, ctp_sql_row *row, void *arg, struct ctp_err *err,
                            const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	enum ctp_status status = ask(db, asked, row, arg, err, fmt, ap);
	va_end(ap);
	return status;
}

struct first {
	char *text; /* NULL: there was no row */
	bool failed;
};

static void keep_first(void *arg, const char *const *columns)
{
	struct first *first = arg;
	if (!first->text && !first->failed)
		first->failed = !(first->text = strdup(columns[0] ? columns[0] : ""));
}

static enum ctp_status ask_first(struct ctp_sql *db, char **first, struct ctp_err *err, const char *fmt, va_list ap)
{
	struct first row = {0};
	enum ctp_status status = ask(db, "?", keep_first, &row, err, fmt, ap);
	*first = row.text;
	return !status && row.failed ? ctp_sql_no_memory(db, err) : status;
}

int64_t ctp_sql_look_up(struct ctp_sql *db, struct ctp_err *err, const char *fmt, ...)
{
	char *first;
	va_list ap;
	va_start(ap, fmt);
	enum ctp_status status = ask_first(db, &first, err, fmt, ap);
	va_end(ap);
	int64_t number = 0;
	if (!status && first && *first && !ctp_sql_number(first, &number))
		status = ctp_err_set(err, "%s: the database answered with \"%.40s\" where a number is expected", db->name, first);
	free(first);
	return status ? -1 : number;
}

int64_t ctp_sql_counted(const struct ctp_sql *db, int64_t number, struct ctp_err *err)
{
	return number ? number : ctp_err_set(err, "%s: the database answered with nothing where a number is expected", db->name);
}

int64_t ctp_sql_next_id(struct ctp_sql *db, const char *table, struct ctp_err *err)
{
	return ctp_sql_counted(db, ctp_sql_look_up(db, err, "SELECT coalesce(max(id), 0) + 1 FROM %T", table), err);
}

char *ctp_sql_find(struct ctp_sql *db, enum ctp_status *status, struct ctp_err *err, const char *fmt, ...)
{
	char *first;
	va_list ap;
	va_start(ap, fmt);
	*status = ask_first(db, &first, err, fmt, ap);
	va_end(ap);
	return first;
}

/* --- lists --------------------------------------------------------------------------------------------------------------- */

struct list {
	const struct ctp_sql *db;
	const char *between, *fmt;
	struct ctp_bytes *to;
};

/* fmt takes as many columns as were asked for. */
static void add_piece(void *arg, const char *const *c)
{
	struct list *l = arg;
	if (l->to->len)
		ctp_bytes_text(l->to, l->between);
	ctp_sql_put(l->db, l->to, l->fmt, c[0], c[1], c[2], c[3]);
}

enum ctp_status ctp_sql_list(struct ctp_sql *db, struct ctp_bytes *to, const char *between, const char *fmt, const char *query,
                             struct ctp_err *err)
{
	static const char *const asked[] = {"*", "t*", "tt*", "ttt*", "tttt*"};
	size_t columns = 0;
	for (const char *c = fmt; (c = strchr(c, '%')); c += 2)
		columns++;
	assert(columns < sizeof asked / sizeof *asked);
	struct list list = {db, between, fmt, to};
	if (ctp_sql_ask(db, asked[columns], add_piece, &list, err, "%V", query))
		return CTP_FAILED;
	return ctp_bytes_str(to) ? CTP_OK : ctp_sql_no_memory(db, err);
}

enum ctp_status ctp_sql_exec_list(struct ctp_sql *db, const char *before, const char *between, const char *fmt, const char *query,
                                  struct ctp_err *err)
{
	struct ctp_bytes list = {0};
	enum ctp_status status = ctp_sql_list(db, &list, between, fmt, query, err);
	if (!status && list.len)
		status = ctp_sql_exec(db, err, "%s%s", before, list.data);
	ctp_bytes_fini(&list);
	return status;
}
