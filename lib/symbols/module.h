/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * module.h - a program or library that was mapped, and what its debug information says of an address in it.
 *
 * An address of a trace is one of three things:
 *	- the instruction of a CTP_HERE, on ARM, where the debug information has the probe's ctp_here_ inlined;
 *	- the first address of a function: the answer is the function and the line where it is written;
 *	- else the address after the instruction in question: after a call, which returns there, or after the instruction that
 *	  took the address, as CTP_HERE does on x86.
 *
 * Functions of the probe's header that were inlined are left out: the place is the program's own line.
 *
 * A build without libdw knows nothing.
 */
#ifndef CTP_MODULE_H
#define CTP_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/demangle.h"

enum { CTP_MODULE_FILE_MAX = 400 }; /* bytes, with the NUL; of a longer path the end is shown */

/* What the stream says of a module. */
struct ctp_module_want {
	const char *path; /* when it was mapped; a path that does not begin with '/' is no file */
	const uint8_t *id;
	size_t id_bytes;  /* 0: the module had none */
	bool id_known;    /* false: the stream says nothing of build-ids, and any will do */
	const char *const *dirs; /* searched first */
	size_t ndirs;
};

/* Null: this machine has no file of the module, or no memory. */
struct ctp_module;
struct ctp_module *ctp_module_open(const struct ctp_module_want *want);
void ctp_module_free(struct ctp_module *m);

/* An address, as the mappings place it. */
struct ctp_module_at {
	uint64_t offset; /* in the file */
	uint64_t first;  /* offset of the first mapping of the file's code */
	uint64_t page;   /* page size of the traced machine */
	bool within;     /* asks for the line where the function is written that called the probe there */
};

struct ctp_module_place {
	char function[CTP_DEMANGLED_MAX]; /* "": not known */
	char file[CTP_MODULE_FILE_MAX];   /* "": not known. As the compiler was given it */
	unsigned line;                    /* 0: not known */
};

/* False: nothing is known, and the place is empty. */
bool ctp_module_find(struct ctp_module *m, const struct ctp_module_at *at, struct ctp_module_place *place);

#endif
