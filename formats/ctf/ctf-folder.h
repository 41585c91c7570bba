/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ctf-folder.h - a folder that appears whole or not at all.
 *
 * The folder is filled under another name beside its own. If the program ends before the folder has its name, by a kill -9 too, a
 * child process removes it; after SIGINT, SIGTERM and SIGHUP it is removed before the program ends. Others may be able to write to
 * the folder that both names are in: all is done by descriptor, and nothing is removed but files with the names of a trace.
 */
#ifndef CTP_CTF_FOLDER_H
#define CTP_CTF_FOLDER_H

#include <limits.h>
#include <stdbool.h>

#include "base/err.h"

/* The metadata of a trace of ctp-toctf begins so. */
#define CTP_CTF_MARK "/* CTF 1.8 */\n/* ctp-toctf "

struct ctp_ctf_folder {
	char path[PATH_MAX];      /* that it gets */
	const char *name;         /* the last of path */
	char temp[NAME_MAX + 16]; /* its name while it is filled */
	int parent, fd;           /* the folder that both names are in; that which is filled */
	bool force;
};

/*
 * path must not exist, or be an empty folder, or, with force, be what an earlier run made. To be called while the process has
 * one thread, and for one folder at a time.
 */
enum ctp_status ctp_ctf_folder_begin(struct ctp_ctf_folder *f, const char *path, bool force, struct ctp_err *err);

/* Gives the folder its name, or, if inner is not NULL, the folder of that name in it; replaces the folder that had the name. */
enum ctp_status ctp_ctf_folder_publish(struct ctp_ctf_folder *f, const char *inner, struct ctp_err *err);

/* To be called last, also after a failure: removes temp, if it is still there. */
void ctp_ctf_folder_end(struct ctp_ctf_folder *f);

#endif
