/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* files.c - see files.h. */
#include "common/files.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "io/folder.h"

static bool is_plain(char c, bool dots)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' || (dots && (c == '.' || c == '-'));
}

void ctp_file_name(char to[CTP_FILE_NAME_MAX + 32], const char *name, bool dots)
{
	char *p = to;
	const char *from = name;
	for (; *from && p - to <= CTP_FILE_NAME_MAX - 3; from++) {
		if (is_plain(*from, dots))
			*p++ = *from;
		else
			p += sprintf(p, "%%%02X", (uint8_t)*from);
	}
	*p = '\0';
	if (*from)
		sprintf(p, "~%08x", (uint32_t)ctp_map_bytes(UINT64_C(0xcbf29ce484222325), name, strlen(name)));
}

enum ctp_status ctp_files_none(int folder, const char *dir, const char *remedy, struct ctp_err *err)
{
	DIR *d = ctp_folder_list(folder);
	bool empty = true;
	if (!d)
		return ctp_err_sys(err, "%s", dir);
	for (struct dirent *e; empty && (e = readdir(d));)
		empty = !strcmp(e->d_name, ".") || !strcmp(e->d_name, "..");
	closedir(d);
	return empty ? CTP_OK : ctp_err_set(err, "%s: exists and is not empty; %s", dir, remedy);
}
