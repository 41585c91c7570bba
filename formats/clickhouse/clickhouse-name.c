/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* clickhouse-name.c - see clickhouse-name.h. */
#include "clickhouse/clickhouse-name.h"

#include <ctype.h>
#include <stdarg.h>

#include "base/text.h"
#include "clickhouse/clickhouse-views.h"
#include "sql/sql-form.h"

/* A name of a table or column is one of a file, in which each byte that is no letter is three. */
enum { NAME_MAX_BYTES = 64 };

/* Those after ours are virtual: a server, of whatever version, would give its own values. */
static const char *const own_columns[] = {
	CTP_CLICKHOUSE_OWN, "_part", "_part_index", "_part_uuid", "_part_offset", "_part_starting_offset", "_part_data_version", "_partition_id",
	"_partition_value", "_sample_factor", "_table", "_database", "_shard_num", "_row_exists", "_block_number", "_block_offset",
	"_disk_name", "_distance", NULL};
static const struct ctp_sql_naming columns = {.columns = own_columns, .max_bytes = NAME_MAX_BYTES};
static const char *const reserved[] = {CTP_CLICKHOUSE_DELIVERED, ".", NULL}; /* the server hides tables with a dot */
static const struct ctp_sql_naming tables = {.reserved = reserved, .max_bytes = NAME_MAX_BYTES};

bool ctp_clickhouse_is_ours(const char *name) { return name && (!strcmp(name, "sections") || !strcmp(name, "lacks")); }

/* Whether no class can have the name. */
static bool is_taken(const char *name)
{
	size_t len = strlen(name), local = sizeof CTP_CLICKHOUSE_LOCAL - 1;
	return ctp_clickhouse_is_ours(name) || ctp_clickhouse_is_view(name) ||
	       (len >= local && !strcmp(name + len - local, CTP_CLICKHOUSE_LOCAL));
}

/*
 * Whether it is such a name with any number of _2, _3 ... after it. Nothing says which class a table is of, so the name of a class must
 * not be what another class gets in place of its own.
 */
static bool is_like_taken(const char *name)
{
	char *base = strdup(name);
	bool taken = base && is_taken(base);
	while (base && !taken) {
		char *end = base + strlen(base);
		for (; end > base && isdigit((unsigned char)end[-1]); end--)
			;
		if (end == base || end[-1] != '_' || !*end)
			break;
		end[-1] = '\0';
		taken = is_taken(base);
	}
	free(base);
	return taken;
}

char *ctp_clickhouse_table_name(const char *class_name)
{
	char *name = ctp_sql_name(&tables, class_name, 1);
	if (!name || !is_like_taken(name))
		return name;
	free(name);
	return ctp_sql_name(&tables, class_name, 2);
}

char *ctp_clickhouse_column_name(const char *field_name, char *const *taken, size_t ntaken)
{
	return ctp_sql_name_beside(&columns, field_name, taken, ntaken);
}

const char *ctp_clickhouse_type(const struct ctp_field *f)
{
	static const char *const types[CTP_TYPE_COUNT] = {
		[CTP_U8] = "UInt8", [CTP_U16] = "UInt16", [CTP_U32] = "UInt32", [CTP_U64] = "UInt64",
		[CTP_I8] = "Int8", [CTP_I16] = "Int16", [CTP_I32] = "Int32", [CTP_I64] = "Int64",
		[CTP_BOOL] = "UInt8", [CTP_ENUM] = "String", [CTP_F32] = "Float32", [CTP_F64] = "Float64",
		[CTP_STRING] = "String", [CTP_BYTES] = "String",
	};
	return types[f->type];
}

static void put_quoted(struct ctp_bytes *to, const char *text, char quote)
{
	ctp_bytes_byte(to, (uint8_t)quote);
	for (; *text; text++) {
		if (*text == quote || *text == '\\')
			ctp_bytes_byte(to, '\\');
		ctp_bytes_byte(to, (uint8_t)*text);
	}
	ctp_bytes_byte(to, (uint8_t)quote);
}

static void put_number(struct ctp_bytes *to, uint64_t v)
{
	char *p = ctp_bytes_reserve(to, CTP_TEXT_MAX);
	if (p)
		ctp_bytes_commit(to, ctp_text_u64(p, v));
}

void ctp_clickhouse_put(struct ctp_bytes *to, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	for (const char *percent; (percent = strchr(fmt, '%')); fmt = percent + 2) {
		ctp_bytes_put(to, fmt, (size_t)(percent - fmt));
		if (percent[1] == 'd')
			put_number(to, va_arg(ap, uint64_t));
		else if (percent[1] == 's')
			ctp_bytes_text(to, va_arg(ap, const char *));
		else
			put_quoted(to, va_arg(ap, const char *), percent[1] == 'I' ? '`' : '\'');
	}
	ctp_bytes_text(to, fmt);
	va_end(ap);
}
