/*
 * ctf-folder.h - a folder that appears whole or not at all.
 *
 * It is filled under another name beside its own. Whatever ends the program before it has its name, a kill -9 included, a small
 * process of ours removes what there is; for SIGINT, SIGTERM and SIGHUP it has done so by the time the program has ended.
 */
#ifndef CTP_CTF_FOLDER_H
#define CTP_CTF_FOLDER_H

#include <limits.h>
#include <stdbool.h>

#include "base/err.h"

/* How the metadata of a trace of ours begins. */
#define CTP_CTF_MARK "/* CTF 1.8 */\n/* ctp-toctf "

struct ctp_ctf_folder {
	char path[PATH_MAX];      /* what it shall be called */
	char temp[PATH_MAX + 16]; /* what it is called, now that it is filled */
	bool force;
};

/*
 * path must not exist, or be an empty folder, or, with force, be what an earlier run made. To be called while the process has
 * one thread, and for one folder at a time.
 */
enum ctp_status ctp_ctf_folder_begin(struct ctp_ctf_folder *f, const char *path, bool force, struct ctp_err *err);

/* Gives `what`, which is temp or a folder in it, the name that was asked for, in place of what had it. */
enum ctp_status ctp_ctf_folder_publish(struct ctp_ctf_folder *f, const char *what, struct ctp_err *err);

/* To be called last, in any case: what is still called temp goes. */
void ctp_ctf_folder_end(struct ctp_ctf_folder *f);

#endif
