/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* files.h - for formats that are a folder with a file for each class: names, whatever bytes a class has, and whether a folder is empty. */
#ifndef CTP_FILES_H
#define CTP_FILES_H

#include <stdbool.h>

#include "base/err.h"

enum { CTP_FILE_NAME_MAX = 160 };

/*
 * A name of letters, digits, _ and, if dots is set, . and -; any other byte is % and two digits, as in folders of partitions. One that is
 * longer than CTP_FILE_NAME_MAX is cut and has a ~ and a hash of all of it.
 */
void ctp_file_name(char to[CTP_FILE_NAME_MAX + 32], const char *name, bool dots);

/* Fails if anything is in the folder, whose path is dir. remedy: what the user can do. */
enum ctp_status ctp_files_none(int folder, const char *dir, const char *remedy, struct ctp_err *err);

#endif
