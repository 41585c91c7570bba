/*
 * module.h - a program or library that was mapped, and what its debug information says of an address in it.
 *
 * An address of a trace is one of three things, and the answer is about that:
 *	- where CTP_HERE stood in the source, if that gave the instruction's own address, as on ARM: the debug information has
 *	  the probe's ctp_here_ inlined there;
 *	- the first address of a function: the function, and the line where it is written;
 *	- else the address behind an instruction, the one in question: a call that returns there, or what took the address, as
 *	  CTP_HERE does on x86.
 *
 * What the probe's header has inlined is not shown: the place is where the program says it.
 *
 * Built without libdw, nothing is ever known.
 */
#ifndef CTP_MODULE_H
#define CTP_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/demangle.h"

enum { CTP_MODULE_FILE_MAX = 400 }; /* bytes, with the NUL; of a longer path the end is shown */

/* What the stream says of it. */
struct ctp_module_want {
	const char *path; /* where it was; what does not begin with a '/' is no file */
	const uint8_t *id;
	size_t id_bytes;  /* 0: it had none */
	bool id_known;    /* else the stream says nothing of build-ids, and any will do */
	const char *const *dirs; /* to look in first */
	size_t ndirs;
};

/* Null: there is no file of it here, or no memory. */
struct ctp_module;
struct ctp_module *ctp_module_open(const struct ctp_module_want *want);
void ctp_module_free(struct ctp_module *m);

/* Where the address is, as the mappings tell. */
struct ctp_module_at {
	uint64_t offset; /* in the file */
	uint64_t first;  /* where in the file the first mapping of its code begins */
	uint64_t page;   /* size of a page of that machine */
	bool within;     /* what is asked for is the function that called the probe there: where that is written */
};

struct ctp_module_place {
	char function[CTP_DEMANGLED_MAX]; /* "": not known */
	char file[CTP_MODULE_FILE_MAX];   /* "": not known. As the compiler was given it */
	unsigned line;                    /* 0: not known */
};

/* False: nothing is known, and the place is empty. */
bool ctp_module_find(struct ctp_module *m, const struct ctp_module_at *at, struct ctp_module_place *place);

#endif
