/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ppt-symbols.h - the ppt buffers in a process: in its executable and in the libraries that it has mapped.
 *
 * A buffer is three symbols of one file, in either spelling: _ppt_stat_X, _ppt_hmem_X and _ppt_json_X of the generated code, or
 * __ppt_X_stat, __ppt_X_hmem and __ppt_X_json of the document. Their addresses are where the file is loaded: a file that is mapped
 * several times has its buffers once for each time that it is loaded as a program.
 */
#ifndef CTP_PPT_SYMBOLS_H
#define CTP_PPT_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/distinct.h"
#include "base/err.h"
#include "ppt/ppt-elf.h"
#include "ppt/ppt-memory.h"

enum { CTP_PPT_BUFFERS_MAX = 512 }; /* of a process */

struct ctp_ppt_buffer {
	char name[CTP_PPT_BUFFER_MAX + 1];
	uint64_t at[CTP_PPT_PARTS]; /* addresses in the process */
	uint64_t json_bytes;        /* of that symbol; 0: not known */
	const char *file;           /* as the process sees it */
	const char *label;          /* for messages: the name, or FILE:NAME where another file has one of this name */
};

struct ctp_ppt_buffers {
	struct ctp_ppt_buffer *buffer; /* by name */
	size_t n;
	const char *deleted; /* paths of deleted files that cannot be opened, each ended by a NUL, and an empty one */
	struct ctp_ppt_search *found; /* the memory of all these */
};

/*
 * A process without buffers is no failure; one whose mappings cannot be read is. notice, which may be null, gets a line for each
 * file that could not be read. plain, which may be null, is for several searches: files without buffers are added to it, and not
 * read again.
 */
#define CTP_PPT_PLAIN {.note_bytes = 1} /* it begins so */
enum ctp_status ctp_ppt_symbols_find(struct ctp_ppt_buffers *all, pid_t pid, struct ctp_distinct *plain,
                                     const struct ctp_notice *notice, struct ctp_err *err);
void ctp_ppt_symbols_free(struct ctp_ppt_buffers *all); /* all zeros: nothing */

/*
 * The layout of a buffer, by its `_json`, which is malloced where json is not null, and len bytes long. Null: err, without the name
 * of the buffer.
 */
struct ctp_ppt_layout *ctp_ppt_symbols_layout(const struct ctp_ppt_memory *m, const struct ctp_ppt_buffer *b, char **json,
                                              size_t *len, struct ctp_err *err);

/*
 * A name is BUFFER or FILE:BUFFER, where FILE is a path or the end of one, in whole parts. file null: not known, and any FILE is
 * another. Lists of names end with a null; an empty list names all buffers.
 */
bool ctp_ppt_chosen_by(const char *wanted, const char *buffer, const char *file);
size_t ctp_ppt_chosen_count(const char *name, const struct ctp_ppt_buffers *all);
bool ctp_ppt_chosen(char *const *names, const struct ctp_ppt_buffer *b);

/* Fails if a name is that of no buffer, or the process has none. */
enum ctp_status ctp_ppt_chosen_check(char *const *names, const struct ctp_ppt_buffers *all, pid_t pid, struct ctp_err *err);

#endif
