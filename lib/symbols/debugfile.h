/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * debugfile.h - finds the files of a module on this machine: its code, and its debug information.
 *
 * Paths come from a stream that anybody may have written. So only regular files are opened, and a file with another build-id is not
 * used: wrong lines are worse than none. A file without a build-id is used only if the stream says that the module had none.
 * The network is never asked.
 */
#ifndef CTP_DEBUGFILE_H
#define CTP_DEBUGFILE_H

#include <libelf.h>
#include <stdbool.h>

#include "symbols/module.h"

struct ctp_debugfile {
	Elf *elf; /* null: none */
	int fd;
	char *path;
	bool has_code, has_symbols, has_dwarf;
};

/*
 * code: the file that was mapped, whole or stripped. debug: the file that knows most of the source, unless code is that file.
 * Either may be missing. The caller closes both.
 */
void ctp_debugfile_find(const struct ctp_module_want *want, struct ctp_debugfile *code, struct ctp_debugfile *debug);
void ctp_debugfile_close(struct ctp_debugfile *file);

/* Closes the descriptor; the mapping stays. */
void ctp_debugfile_settle(struct ctp_debugfile *file);

#endif
