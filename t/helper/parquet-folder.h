/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* parquet-folder.h - every file of a folder that ctp_parquet_sink() made, gone through by the judge of the structure. */
#ifndef CTP_T_PARQUET_FOLDER_H
#define CTP_T_PARQUET_FOLDER_H

#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "valid-parquet.h"

struct parquet_folder {
	uint64_t files, rows, groups; /* of all but the sections */
	uint64_t section_files, sections;
	const char *name; /* that a file begins with, to be counted; null: any */
};

static struct parquet_folder parquet_seen;

static inline int parquet_judge(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	if (type != FTW_F)
		return 0;
	FILE *f = fopen(path, "rb");
	uint8_t *data = malloc((size_t)st->st_size + 1);
	must(f && data && fread(data, 1, (size_t)st->st_size, f) == (size_t)st->st_size, path);
	fclose(f);
	struct valid_parquet v = valid_parquet(data, (size_t)st->st_size);
	free(data);
	const char *name = path + ftw->base;
	if (!strncmp(name, "sections", 8) && name[8] != '~') {
		parquet_seen.section_files++;
		parquet_seen.sections += v.rows;
	} else if (!parquet_seen.name || !strncmp(name, parquet_seen.name, strlen(parquet_seen.name))) {
		parquet_seen.files++;
		parquet_seen.rows += v.rows;
		parquet_seen.groups += v.groups;
	}
	return 0;
}

static inline struct parquet_folder parquet_folder(const char *path, const char *name)
{
	parquet_seen = (struct parquet_folder){.name = name};
	must(!nftw(path, parquet_judge, 8, FTW_PHYS), path);
	return parquet_seen;
}

static inline int parquet_remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

static inline void parquet_remove(const char *path) { nftw(path, parquet_remove_one, 8, FTW_DEPTH | FTW_PHYS); }

#endif
