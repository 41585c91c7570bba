/*
 * symbols.h - what the addresses of a trace stand for, as text, on whatever machine it is read.
 *
 * Records of CTP_KIND_MAPPING and CTP_KIND_THREAD are taken in as they pass. They say which file was where in which process, so
 * that an address means the same in each run, wherever the system has put it. A text is spelled as sites.h spells one,
 *
 *	server.cpp:212:handle          where there is debug information
 *	libfoo.so.1+0x1234:handle      where there is a symbol table
 *	libfoo.so.1+0x1234             where the file is not here, or is not the one that was mapped: its build-id is another
 *
 * with the place in the file behind the '+'. Files are looked for on this machine only: where they were when they were mapped, in
 * the folders that are given, and where distributions put debug information. One whose build-id is another is not used. Built
 * without libdw, only the last of the three is ever known.
 *
 * All is bounded, within a section: processes, mappings and files that are known, those that are opened, and texts. An address
 * beyond that has no text, one of a file beyond that the last of the three.
 */
#ifndef CTP_SYMBOLS_H
#define CTP_SYMBOLS_H

#include "base/err.h"
#include "stream/record.h"

struct ctp_symbols;

/* The folders (none: null, 0) are looked in before the system's, in this order, and must outlive it. Null: err says why. */
struct ctp_symbols *ctp_symbols_new(const char *const *debug_dirs, size_t ndirs, struct ctp_err *err);
void ctp_symbols_free(struct ctp_symbols *s); /* null: nothing */
void ctp_symbols_forget(struct ctp_symbols *s); /* a section begins */

/* Takes in a record of either kind, of which nothing is needed afterwards; others are no matter. */
void ctp_symbols_learn(struct ctp_symbols *s, const struct ctp_record *rec);

/* At most CTP_SITE_TEXT_MAX bytes, without control characters, good until forget. Null: no mapping has the address. */
const struct ctp_str *ctp_symbols_find(struct ctp_symbols *s, uint64_t pid, uint64_t addr);

/*
 * Which file an address is in, as a number from 1 on, and where in it; 0: no mapping has the address, which is no code as far as
 * is known. The same code of two processes is the same place, wherever it is mapped; and it stays what it is when another file
 * is mapped there. text: as found above.
 */
uint32_t ctp_symbols_locate(const struct ctp_symbols *s, uint64_t pid, uint64_t addr, uint64_t *offset);
const struct ctp_str *ctp_symbols_text(struct ctp_symbols *s, uint32_t file, uint64_t offset);

/*
 * The line at which the function begins that called the probe at an address, if it is in a file of that name, with any folders; 0:
 * not known. Of whichever process has the address mapped, as below.
 */
uint32_t ctp_symbols_begins(struct ctp_symbols *s, uint64_t addr, const char *file, size_t len);

/*
 * For all: the process that a record is about, by its process or its thread. 0, and one without mappings, is whichever has the
 * address mapped; if several have, and not the same there, nobody knows which is meant.
 */
uint64_t ctp_symbols_pid(const struct ctp_symbols *s, const struct ctp_record *rec);

#endif
