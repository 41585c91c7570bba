/* sql-text.c - statements as texts, and the simple questions. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "sql/sql-answer.h"

/* before: what stands before the text, or null */
static void put_quoted(FILE *to, const char *before, const char *text, char quote)
{
	putc(quote, to);
	fputs(before ? before : "", to);
	for (; *text; text++) {
		if (*text == quote)
			putc(quote, to);
		putc(*text, to);
	}
	putc(quote, to);
}

/* As x'c3'. */
static void put_blob(FILE *to, const char *text)
{
	fputs("x'", to);
	for (; *text; text++)
		fprintf(to, "%02x", (uint8_t)*text);
	putc('\'', to);
}

/* With \x and two digits for each byte that is no UTF-8, or not for this database. */
static void put_text(FILE *to, const char *text, bool ascii)
{
	const char *end = text + strlen(text);
	putc('\'', to);
	while (text < end) {
		unsigned n = ctp_utf8_bytes(text, end);
		if (!n || (ascii && n > 1)) {
			fprintf(to, "\\x%02x", (uint8_t)*text++);
			continue;
		}
		if (*text == '\'')
			putc('\'', to);
		fwrite(text, 1, n, to);
		text += n;
	}
	putc('\'', to);
}

static void put_literal(FILE *to, const struct ctp_sql *db, const char *text)
{
	if (!text)
		fputs("NULL", to);
	else if (db->words->blobs && !ctp_sql_is_text(text, strlen(text)))
		put_blob(to, text);
	else
		put_text(to, text, db->words->naming->ascii);
}

static bool is_word(char c) { return c == '_' || (c >= 'a' && c <= 'z'); }

/* A word with the name of coroTracer's table in it is one with the name of ours. Between quotes it has these already. */
static void put_word(FILE *to, const char *events, const char *word, size_t len, char quote)
{
	const char *at = memmem(word, len, CTP_SQL_EVENTS, sizeof CTP_SQL_EVENTS - 1);
	size_t before = (size_t)(at - word), behind = before + sizeof CTP_SQL_EVENTS - 1;
	if (!quote)
		putc('"', to);
	fwrite(word, 1, before, to);
	for (const char *c = events; *c; c++) {
		if (*c == (quote ? quote : '"'))
			putc(*c, to);
		putc(*c, to);
	}
	fwrite(word + behind, 1, len - behind, to);
	if (!quote)
		putc('"', to);
}

static void put_own(FILE *to, const struct ctp_sql *db, const char *text, size_t len)
{
	const char *end = text + len, *begin = text, *at;
	if (strcmp(db->events, CTP_SQL_EVENTS))
		for (; (at = memmem(begin, (size_t)(end - begin), CTP_SQL_EVENTS, sizeof CTP_SQL_EVENTS - 1)); begin = at) {
			const char *word = at;
			while (word > begin && is_word(word[-1]))
				word--;
			while (at < end && is_word(*at))
				at++;
			fwrite(begin, 1, (size_t)(word - begin), to);
			put_word(to, db->events, word, (size_t)(at - word), word > text && (word[-1] == '\'' || word[-1] == '"') ? word[-1] : '\0');
		}
	fwrite(begin, 1, (size_t)(end - begin), to);
}

char *ctp_sql_vtext(const struct ctp_sql *db, const char *fmt, va_list ap)
{
	char *text = NULL;
	const char *own;
	size_t len;
	FILE *to = open_memstream(&text, &len);
	if (!to)
		return NULL;
	for (const char *percent; (percent = strchr(fmt, '%')); fmt = percent + 2) {
		put_own(to, db, fmt, (size_t)(percent - fmt));
		switch (percent[1]) {
		case 's':
			fputs(va_arg(ap, const char *), to);
			break;
		case 'V':
			own = va_arg(ap, const char *);
			put_own(to, db, own, strlen(own));
			break;
		case 'I':
			put_quoted(to, NULL, va_arg(ap, const char *), '"');
			break;
		case 'T':
			put_quoted(to, db->words->staging, va_arg(ap, const char *), '"');
			break;
		case 'L':
			put_literal(to, db, va_arg(ap, const char *));
			break;
		case 'd':
			fprintf(to, "%" PRId64, va_arg(ap, int64_t));
			break;
		}
	}
	put_own(to, db, fmt, strlen(fmt));
	bool bad = ferror(to);
	if (!fclose(to) && !bad)
		return text;
	free(text);
	return NULL;
}

char *ctp_sql_text(const struct ctp_sql *db, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	char *text = ctp_sql_vtext(db, fmt, ap);
	va_end(ap);
	return text;
}

static enum ctp_status no_memory(const struct ctp_sql *db, struct ctp_err *err) { return ctp_err_set(err, "%s: out of memory", db->name); }

enum ctp_status ctp_sql_exec(struct ctp_sql *db, struct ctp_err *err, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	char *sql = ctp_sql_vtext(db, fmt, ap);
	va_end(ap);
	enum ctp_status status = sql ? db->ops->exec(db, sql, err) : no_memory(db, err);
	free(sql);
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

static enum ctp_status ask(struct ctp_sql *db, char **first, struct ctp_err *err, const char *fmt, va_list ap)
{
	char *sql = ctp_sql_vtext(db, fmt, ap);
	struct first row = {0};
	enum ctp_status status = sql ? db->ops->query(db, sql, "?", keep_first, &row, err) : no_memory(db, err);
	free(sql);
	*first = row.text;
	return !status && row.failed ? no_memory(db, err) : status;
}

int64_t ctp_sql_look_up(struct ctp_sql *db, struct ctp_err *err, const char *fmt, ...)
{
	char *first;
	va_list ap;
	va_start(ap, fmt);
	enum ctp_status status = ask(db, &first, err, fmt, ap);
	va_end(ap);
	int64_t number = 0;
	if (!status && first && *first && !ctp_sql_number(first, &number))
		status = ctp_err_set(err, "%s: the database answered with \"%.40s\" where a number is", db->name, first);
	free(first);
	return status ? -1 : number;
}

int64_t ctp_sql_counted(const struct ctp_sql *db, int64_t number, struct ctp_err *err)
{
	return number ? number : ctp_err_set(err, "%s: the database answered with nothing where a number is", db->name);
}

char *ctp_sql_find(struct ctp_sql *db, enum ctp_status *status, struct ctp_err *err, const char *fmt, ...)
{
	char *first;
	va_list ap;
	va_start(ap, fmt);
	*status = ask(db, &first, err, fmt, ap);
	va_end(ap);
	return first;
}
