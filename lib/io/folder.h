/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * folder.h - folders that others may write to, by descriptor.
 *
 * The folder that a user names may be a link. Below it no link is followed: anybody who may write to the folder could have put one there,
 * to have another file written by a user with more rights. A descriptor stays with its folder when names change, so files are
 * made, renamed and removed by descriptor and name (io/output.h).
 */
#ifndef CTP_FOLDER_H
#define CTP_FOLDER_H

#include <dirent.h>
#include <stdbool.h>

#include "base/err.h"

/* A descriptor for openat(2) and its relatives, or -1. make: the folder, and those above it, are made if they are missing. */
int ctp_folder_open(const char *path, bool make, struct ctp_err *err);

/* The same for a folder below another: names with a slash between them. Messages have path, which is the other's, before them. */
int ctp_folder_below(int folder, const char *path, const char *names, bool make, struct ctp_err *err);

/* What is in the folder, for readdir; NULL: errno. */
DIR *ctp_folder_list(int folder);

/* The folder that path is in, and its last name in *name. */
int ctp_folder_of(const char *path, const char **name, struct ctp_err *err);

#endif
