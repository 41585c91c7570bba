/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* parquet-path.c - see parquet-path.h. */
#include "parquet/parquet-path.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "common/files.h"

static const char NO_VALUE[] = "__HIVE_DEFAULT_PARTITION__"; /* null, to all that read such folders */

bool ctp_parquet_parse_keys(struct ctp_parquet_options *o, const char *text)
{
	static const char *const names[] = {[CTP_PARQUET_HOST] = "host", [CTP_PARQUET_DATE] = "date"};
	for (o->nkeys = 0; o->nkeys < CTP_PARQUET_KEYS_MAX;) {
		size_t len = strcspn(text, ",");
		unsigned k = 0;
		while (k < 2 && (strlen(names[k]) != len || strncmp(text, names[k], len)))
			k++;
		if (k == 2 || (o->nkeys && o->keys[0] == k))
			return false;
		o->keys[o->nkeys++] = k;
		text += len;
		if (!*text++)
			return true;
	}
	return false;
}

/* A host that engines would take for null (DuckDB takes null itself, in any case) has its first letter as % and digits. */
static const char *key_value(char to[CTP_FILE_NAME_MAX + 32], enum ctp_parquet_key key, const struct ctp_section *sec, bool has_wall,
                             int64_t wall_s)
{
	const char *named = ctp_section_get(sec, "host"), *host = named ? named : "";
	char wall[CTP_TEXT_MAX];
	if (key == CTP_PARQUET_HOST) {
		bool taken = !strcasecmp(host, "null") || !strcmp(host, NO_VALUE);
		int len = taken ? sprintf(to, "%%%02X", (uint8_t)*host) : 0;
		ctp_file_name(to + len, host + taken, true);
	} else {
		ctp_text_wall(wall, wall_s, 0);
		snprintf(to, CTP_FILE_NAME_MAX, "%.10s", has_wall ? wall : "");
	}
	return *to ? to : NO_VALUE;
}

bool ctp_parquet_folder(char to[PATH_MAX], const struct ctp_parquet_options *o, const struct ctp_section *sec, bool has_wall, int64_t wall_s)
{
	char value[CTP_FILE_NAME_MAX + 32];
	size_t len = (size_t)snprintf(to, PATH_MAX, "%s", o->dir);
	for (uint32_t i = 0; i < o->nkeys && len < PATH_MAX; i++)
		len += (size_t)snprintf(to + len, PATH_MAX - len, "/%s=%s", o->keys[i] == CTP_PARQUET_HOST ? "host" : "date",
		                        key_value(value, o->keys[i], sec, has_wall, wall_s));
	return len < PATH_MAX;
}
