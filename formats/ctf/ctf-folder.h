/*
 * ctf-folder.h - a folder that appears whole or not at all.
 *
 * The folder is filled under another name beside its own. If the program ends before the folder has its name, by a kill -9 too, a
 * child process removes it; after SIGINT, SIGTERM and SIGHUP it is removed before the program ends.
 */
#ifndef CTP_CTF_FOLDER_H
#define CTP_CTF_FOLDER_H

#include <limits.h>
#include <stdbool.h>

#include "base/err.h"

/* The metadata of a trace of ctp-toctf begins so. */
#define CTP_CTF_MARK "/* CTF 1.8 */\n/* ctp-toctf "

struct ctp_ctf_folder {
	char path[PATH_MAX];      /* the name that it gets */
	char temp[PATH_MAX + 16]; /* its name while it is filled */
	bool force;
};

/*
 * path must not exist, or be an empty folder, or, with force, be what an earlier run made. To be called while the process has
 * one thread, and for one folder at a time.
 */
enum ctp_status ctp_ctf_folder_begin(struct ctp_ctf_folder *f, const char *path, bool force, struct ctp_err *err);

/* Renames `what`, which is temp or a folder in it, to path, and replaces the folder that had that name. */
enum ctp_status ctp_ctf_folder_publish(struct ctp_ctf_folder *f, const char *what, struct ctp_err *err);

/* To be called last, also after a failure: removes temp, if it is still there. */
void ctp_ctf_folder_end(struct ctp_ctf_folder *f);

#endif
