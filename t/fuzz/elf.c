/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * elf.c - any bytes as a file that a process has mapped: its build-id, its symbols, and its debug information.
 *
 * libelf reads the file. libdw is not called: it trusts its files, and so runs in a child (lookup.h); an answer of libdw is made
 * from the input instead, whatever its interface allows. The first byte says how many bytes are answers, the second how the module
 * is asked for; the file begins after the answers.
 * Covers: lib/collect/buildid.c lib/symbols/module.c lib/symbols/debugfile.c
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "must.h"
#include "collect/buildid.h"
#include "symbols/module.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* --- libdw ---------------------------------------------------------------------------------------------------------------- */

static const uint8_t *answers;
static size_t nanswers;

#ifdef HAVE_LIBDW
#include <dwarf.h>
#include <elfutils/libdw.h>

static unsigned answer(void)
{
	if (!nanswers)
		return 0;
	nanswers--;
	return *answers++;
}

static Dwarf_Files *const some_files = (Dwarf_Files *)&answers;
static Dwarf_Line *const some_line = (Dwarf_Line *)&answers;

static const char *any_text(void)
{
	static const char *const texts[] = {NULL, "", "/", "a.c", "/src", "/src/a.c", "ctp_", "ctp_here_", "ctp__", "_Z", "_ZN3ctp3fooEv",
	                                    "_ZNK3ctp", "_R", "_RNvC1a1b", "_ZN1aC2Ev"};
	static char longs[2][1200];
	unsigned which = answer();
	if (which < 250)
		return texts[which % (sizeof texts / sizeof *texts)];
	memset(longs[0], 'x', sizeof longs[0] - 1);
	memset(longs[1], 'y', CTP_MODULE_FILE_MAX - 1 + which % 2);
	longs[1][CTP_MODULE_FILE_MAX - 1 + which % 2] = '\0';
	return longs[which % 2];
}

static uint64_t any_address(void)
{
	unsigned high = answer();
	return high & 0x80 ? UINT64_MAX - (high & 15) : (uint64_t)high << 8 | answer();
}

static bool any_die(Dwarf_Die *die)
{
	*die = (Dwarf_Die){.addr = (void *)1, .cu = (Dwarf_CU *)1};
	return answer() % 4;
}

static int any_dies(Dwarf_Die **dies)
{
	int n = (int)(answer() % 8) - 2;
	*dies = n > 0 ? calloc((size_t)n, sizeof **dies) : NULL;
	return n;
}

Dwarf *dwarf_begin_elf(Elf *elf, Dwarf_Cmd cmd, Elf_Scn *group)
{
	(void)elf, (void)cmd, (void)group;
	return answer() ? (Dwarf *)&answers : NULL;
}

int dwarf_end(Dwarf *dwarf) { return (void)dwarf, 0; }

int dwarf_get_units(Dwarf *dwarf, Dwarf_CU *cu, Dwarf_CU **next, Dwarf_Half *version, uint8_t *type, Dwarf_Die *die, Dwarf_Die *sub)
{
	(void)dwarf, (void)cu, (void)version, (void)type, (void)sub;
	*next = (Dwarf_CU *)1;
	return any_die(die) ? 0 : 1;
}

ptrdiff_t dwarf_ranges(Dwarf_Die *die, ptrdiff_t at, Dwarf_Addr *base, Dwarf_Addr *start, Dwarf_Addr *stop)
{
	(void)die, (void)base;
	*start = any_address();
	*stop = any_address();
	return answer() % 4 ? at + 1 : 0;
}

Dwarf_Off dwarf_dieoffset(Dwarf_Die *die) { return (void)die, answer(); }
Dwarf_Die *dwarf_offdie(Dwarf *dwarf, Dwarf_Off at, Dwarf_Die *die) { return (void)dwarf, (void)at, any_die(die) ? die : NULL; }

int dwarf_cu_info(Dwarf_CU *cu, Dwarf_Half *version, uint8_t *type, Dwarf_Die *die, Dwarf_Die *sub, uint64_t *id, uint8_t *address,
                  uint8_t *offset)
{
	(void)cu, (void)version, (void)die, (void)id, (void)address, (void)offset;
	*type = answer() & 1 ? DW_UT_skeleton : DW_UT_compile;
	*sub = (Dwarf_Die){.cu = answer() & 1 ? (Dwarf_CU *)1 : NULL};
	return answer() % 8 ? 0 : -1;
}

int dwarf_getscopes(Dwarf_Die *die, Dwarf_Addr pc, Dwarf_Die **dies) { return (void)die, (void)pc, any_dies(dies); }
int dwarf_getscopes_die(Dwarf_Die *die, Dwarf_Die **dies) { return (void)die, any_dies(dies); }

int dwarf_tag(Dwarf_Die *die)
{
	static const int tags[] = {DW_TAG_subprogram, DW_TAG_inlined_subroutine, DW_TAG_structure_type, DW_TAG_lexical_block};
	(void)die;
	return tags[answer() % 4];
}

/* A name is asked for twice: it is the same then. */
const char *dwarf_diename(Dwarf_Die *die)
{
	static const char *names[256];
	static uint8_t n;
	if (!die->padding__) {
		names[n] = any_text();
		die->padding__ = 1 + n++;
	}
	return names[die->padding__ - 1];
}

int dwarf_entrypc(Dwarf_Die *die, Dwarf_Addr *pc) { return (void)die, *pc = any_address(), answer() & 1 ? 0 : -1; }

static Dwarf_Attribute *any_attr(Dwarf_Attribute *attr) { return answer() % 4 ? *attr = (Dwarf_Attribute){.code = 1}, attr : NULL; }
Dwarf_Attribute *dwarf_attr(Dwarf_Die *die, unsigned name, Dwarf_Attribute *attr) { return (void)die, (void)name, any_attr(attr); }
Dwarf_Attribute *dwarf_attr_integrate(Dwarf_Die *die, unsigned name, Dwarf_Attribute *attr)
{
	return (void)die, (void)name, any_attr(attr);
}

const char *dwarf_formstring(Dwarf_Attribute *attr) { return (void)attr, any_text(); }
int dwarf_formudata(Dwarf_Attribute *attr, Dwarf_Word *value) { return (void)attr, *value = any_address(), answer() % 8 ? 0 : -1; }
Dwarf_Die *dwarf_formref_die(Dwarf_Attribute *attr, Dwarf_Die *die) { return (void)attr, any_die(die) ? die : NULL; }
Dwarf_Line *dwarf_getsrc_die(Dwarf_Die *die, Dwarf_Addr pc) { return (void)die, (void)pc, answer() % 4 ? some_line : NULL; }
int dwarf_lineno(Dwarf_Line *at, int *line) { return (void)at, *line = (int)answer() - 2, answer() % 8 ? 0 : -1; }

const char *dwarf_linesrc(Dwarf_Line *line, Dwarf_Word *mtime, Dwarf_Word *length)
{
	return (void)line, (void)mtime, (void)length, any_text();
}

int dwarf_getsrcfiles(Dwarf_Die *die, Dwarf_Files **files, size_t *n)
{
	(void)die;
	*files = some_files;
	*n = answer();
	return answer() % 8 ? 0 : -1;
}

const char *dwarf_filesrc(Dwarf_Files *files, size_t at, Dwarf_Word *mtime, Dwarf_Word *length)
{
	return (void)files, (void)at, (void)mtime, (void)length, any_text();
}

int dwarf_child(Dwarf_Die *die, Dwarf_Die *child) { return (void)die, any_die(child) ? 0 : 1; }
int dwarf_siblingof(Dwarf_Die *die, Dwarf_Die *next) { return (void)die, any_die(next) ? 0 : 1; }
int dwarf_haspc(Dwarf_Die *die, Dwarf_Addr pc) { return (void)die, (void)pc, (int)(answer() % 3) - 1; }
#endif

/* --- the file ------------------------------------------------------------------------------------------------------------- */

static int file = -1;
static char path[64];

static void make_file(const uint8_t *data, size_t size)
{
	if (file < 0 && (file = memfd_create("elf", MFD_CLOEXEC)) < 0)
		abort();
	if (ftruncate(file, (off_t)size) || pwrite(file, data, size, 0) != (ssize_t)size)
		abort();
	snprintf(path, sizeof path, "/proc/self/fd/%d", file);
}

static void check_id(const uint8_t *data, size_t size)
{
	uint8_t of_file[CTP_BUILD_ID_MAX], of_image[CTP_BUILD_ID_MAX];
	size_t n = ctp_buildid_file(file, of_file);
	must(n <= CTP_BUILD_ID_MAX && n == ctp_buildid_image(data, size, of_image),
	     "file and image have build-ids of different lengths");
	must(!memcmp(of_file, of_image, n), "file and image have different build-ids");
}

static void find(struct ctp_module *m, unsigned which, uint64_t offset)
{
	struct ctp_module_place place;
	struct ctp_module_at at = {.offset = offset, .first = which & 1 ? 4096 : 0, .page = 4096u << which % 5, .within = which & 2};
	bool known = ctp_module_find(m, &at, &place);
	must(memchr(place.function, 0, sizeof place.function) && memchr(place.file, 0, sizeof place.file), "a text without an end");
	must(known == (place.function[0] || place.line) || at.within, "a place is known, but has no function and line");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2 || size - 2 < data[0])
		return 0;
	unsigned which = data[1];
	static const uint8_t id[20] = {1, 2, 3};
	static const char *const dirs[] = {"/nonexistent"};
	struct ctp_module_want want = {.path = path, .id = id, .id_bytes = which & 8 ? sizeof id : 0, .id_known = which & 4,
	                               .dirs = dirs, .ndirs = which >> 4 & 1};
	answers = data + 2;
	nanswers = data[0];
	data += 2 + nanswers;
	size -= 2 + nanswers;
	make_file(data, size);
	check_id(data, size);
	struct ctp_module *m = ctp_module_open(&want);
	for (unsigned k = 0; m && k < 8; k++)
		find(m, which + k, k < 4 ? k * (size / 4) : UINT64_MAX >> (k * 8 - 32));
	ctp_module_free(m);
	return 0;
}
