/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * symbols.h - what the addresses of a trace stand for, as text, on any machine.
 *
 * Symbols learn from records of CTP_KIND_MAPPING and CTP_KIND_THREAD. These say which file was where in which process, so that an
 * address means the same in each run, wherever the system has put the code. A text is spelled as sites.h spells one,
 *
 *	server.cpp:212:handle          where there is debug information
 *	libfoo.so.1+0x1234:handle      where there is a symbol table
 *	libfoo.so.1+0x1234             where the file is not on this machine, or has another build-id
 *
 * with the offset in the file after the '+'. Files are looked for on this machine only: at the path of the mapping, in the
 * folders that the caller names, and where distributions put debug information. A build without libdw has only the third form.
 * A child process reads the files, because they may be hostile: a program that waits for any child sees it end.
 *
 * The numbers of processes, mappings, files, opened files and texts are bounded within a section. An address beyond the bounds has
 * no text; an address of a file that could not be opened has the third form.
 */
#ifndef CTP_SYMBOLS_H
#define CTP_SYMBOLS_H

#include "base/err.h"
#include "base/linkage.h"
#include "stream/record.h"

CTP_C_BEGIN

struct ctp_symbols;

/* debug_dirs are searched before the system's folders, in order, and must outlive the symbols. Null: err says why. */
struct ctp_symbols *ctp_symbols_new(const char *const *debug_dirs, size_t ndirs, struct ctp_err *err);
void ctp_symbols_free(struct ctp_symbols *s); /* null: nothing */
void ctp_symbols_forget(struct ctp_symbols *s); /* a section begins */
void ctp_symbols_without_files(struct ctp_symbols *s); /* from now on all texts have the third form, and no file is opened */

/* Copies what a record of the two kinds says; ignores other records. */
void ctp_symbols_learn(struct ctp_symbols *s, const struct ctp_record *rec);

/* At most CTP_SITE_TEXT_MAX bytes, without control characters, good until forget. Null: no mapping has the address. */
const struct ctp_str *ctp_symbols_find(struct ctp_symbols *s, uint64_t pid, uint64_t addr);

/*
 * The file that holds an address, as a number from 1 on, and the offset in the file; 0: no mapping has the address. Two processes
 * that map the same code have the same file and offset. ctp_symbols_text: the text of such a place, as ctp_symbols_find has it.
 */
uint32_t ctp_symbols_locate(const struct ctp_symbols *s, uint64_t pid, uint64_t addr, uint64_t *offset);
const struct ctp_str *ctp_symbols_text(struct ctp_symbols *s, uint32_t file, uint64_t offset);

/*
 * The line at which the function begins that called the probe at an address, if that function is in a file of this name (folders
 * are not compared); 0: not known. Any process that maps the address serves, as pid 0 does below.
 */
uint32_t ctp_symbols_begins(struct ctp_symbols *s, uint64_t addr, const char *file, size_t len);

/*
 * The process that a record is about, from its field of a process or of a thread. 0, or a process without mappings, stands for any
 * process that maps the address; if several map different files there, the address has no text.
 */
uint64_t ctp_symbols_pid(const struct ctp_symbols *s, const struct ctp_record *rec);

CTP_C_END

#endif
