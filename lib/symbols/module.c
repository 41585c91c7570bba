/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * module.c - asks libdw; see module.h.
 *
 * A module has two tables, both sorted by address: functions, from the symbol table, and units, the ranges of code of each unit of
 * the debug information. (.debug_aranges would be the second, but not every compiler writes it.)
 */
#include "symbols/module.h"

#ifndef HAVE_LIBDW

struct ctp_module *ctp_module_open(const struct ctp_module_want *want)
{
	(void)want;
	return NULL;
}

void ctp_module_free(struct ctp_module *m) { (void)m; }

bool ctp_module_find(struct ctp_module *m, const struct ctp_module_at *at, struct ctp_module_place *place)
{
	(void)m, (void)at;
	*place = (struct ctp_module_place){.line = 0};
	return false;
}

#else

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/compare.h"
#include "symbols/debugfile.h"
#include "symbols/die.h"

enum { RANGES_MAX = 1 << 22, SYMBOLS_MAX = 1 << 24 }; /* in a table; read from a file */
enum { DEPTH_MAX = 64, DIES_MAX = 1 << 24 }; /* of nested DIEs; visited for one address */

/* Sorted by start, then by length. */
struct range {
	uint64_t start, stop;
	union {
		const char *symbol;
		Dwarf_Off unit;
	};
};

struct ranges {
	struct range *r;
	size_t n, room;
};

struct ctp_module {
	struct ctp_debugfile code, debug;
	Dwarf *dwarf; /* null: none */
	struct ranges functions, units;
};

/* --- tables -------------------------------------------------------------------------------------------------------------- */

/* A range for which there is no room is left out. */
static void add_range(struct ranges *to, const struct range *r)
{
	if (CTP_ARRAY_RESERVE(to->r, to->room, to->n + 1, RANGES_MAX))
		to->r[to->n++] = *r;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct range *x = a, *y = b;
	return ctp_compare(x->start, y->start) ?: ctp_compare(x->stop, y->stop);
}

static void sort_ranges(struct ranges *ranges)
{
	if (ranges->n)
		qsort(ranges->r, ranges->n, sizeof *ranges->r, compare_ranges);
}

/* The last range that begins at pc or before, if it holds pc. */
static const struct range *find_range(const struct ranges *ranges, uint64_t pc)
{
	size_t n;
	CTP_ARRAY_FIRST(n, ranges->n, ranges->r[n].start > pc);
	return n && pc < ranges->r[n - 1].stop ? &ranges->r[n - 1] : NULL;
}

/* Functions written in assembly may have no size: they end where the next begins. */
static void close_gaps(struct ranges *functions)
{
	for (size_t i = 0; i + 1 < functions->n; i++)
		if (functions->r[i].stop == functions->r[i].start)
			functions->r[i].stop = functions->r[i + 1].start;
}

static void read_symbols(struct ranges *to, Elf *elf, GElf_Word type)
{
	GElf_Shdr shdr;
	GElf_Sym sym;
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != type)
			continue;
		Elf_Data *data = elf_getdata(scn, NULL);
		for (int i = 0; data && i < SYMBOLS_MAX && gelf_getsym(data, i, &sym); i++) {
			int kind = GELF_ST_TYPE(sym.st_info);
			const char *name = elf_strptr(elf, shdr.sh_link, sym.st_name);
			if ((kind == STT_FUNC || kind == STT_GNU_IFUNC) && sym.st_shndx != SHN_UNDEF && name && *name)
				add_range(to, &(struct range){sym.st_value, sym.st_value + sym.st_size, {.symbol = name}});
		}
	}
	sort_ranges(to);
	close_gaps(to);
}

static void read_units(struct ranges *to, Dwarf *dwarf)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	while (!dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL)) {
		Dwarf_Addr base, start, stop;
		for (ptrdiff_t at = 0; (at = dwarf_ranges(&die, at, &base, &start, &stop)) > 0;)
			if (start < stop) /* the linker leaves an empty range of code that it dropped */
				add_range(to, &(struct range){start, stop, {.unit = dwarf_dieoffset(&die)}});
	}
	sort_ranges(to);
}

struct ctp_module *ctp_module_open(const struct ctp_module_want *want)
{
	struct ctp_module *m = calloc(1, sizeof *m);
	if (!m)
		return NULL;
	ctp_debugfile_find(want, &m->code, &m->debug);
	const struct ctp_debugfile *best = m->debug.elf ? &m->debug : &m->code;
	if (!best->elf) {
		free(m);
		return NULL;
	}
	if (best->has_symbols || m->code.has_symbols)
		read_symbols(&m->functions, best->has_symbols ? best->elf : m->code.elf, SHT_SYMTAB);
	else if (m->code.elf)
		read_symbols(&m->functions, m->code.elf, SHT_DYNSYM);
	m->dwarf = best->has_dwarf ? dwarf_begin_elf(best->elf, DWARF_C_READ, NULL) : NULL;
	if (m->dwarf)
		read_units(&m->units, m->dwarf);
	ctp_debugfile_settle(&m->code);
	ctp_debugfile_settle(&m->debug);
	return m;
}

void ctp_module_free(struct ctp_module *m)
{
	if (!m)
		return;
	dwarf_end(m->dwarf);
	ctp_debugfile_close(&m->debug);
	ctp_debugfile_close(&m->code);
	free(m->functions.r);
	free(m->units.r);
	free(m);
}

/* --- addresses ----------------------------------------------------------------------------------------------------------- */

/*
 * The address that the file was linked for. A file of debug information alone has lost the offsets of its segments; but the first
 * mapping of code is the first segment of code, from the page on in which the segment begins.
 */
static bool linked_address(const struct ctp_module *m, const struct ctp_module_at *at, uint64_t *pc)
{
	Elf *elf = m->code.elf ? m->code.elf : m->debug.elf;
	size_t n;
	GElf_Phdr seg;
	if (elf_getphdrnum(elf, &n))
		return false;
	for (size_t i = 0; i < n && gelf_getphdr(elf, (int)i, &seg); i++) {
		if (seg.p_type != PT_LOAD || !(seg.p_flags & PF_X))
			continue;
		uint64_t from = m->code.elf ? seg.p_offset : at->first + seg.p_vaddr % at->page;
		if (at->offset < from || at->offset - from >= seg.p_memsz)
			continue;
		*pc = at->offset - from + seg.p_vaddr;
		return true;
	}
	return false;
}

/* --- what the debug information says ------------------------------------------------------------------------------------- */

static bool unit_at(const struct ctp_module *m, uint64_t pc, Dwarf_Die *unit)
{
	const struct range *r = find_range(&m->units, pc);
	return r && dwarf_offdie(m->dwarf, r->unit, unit);
}

/* The scopes at pc, innermost first; for free(). Null: not known. */
static Dwarf_Die *scopes_at(const struct ctp_module *m, uint64_t pc, int *n)
{
	Dwarf_Die *around = NULL, *scopes = NULL, unit, split;
	uint8_t type = 0;
	*n = 0;
	if (!unit_at(m, pc, &unit))
		return NULL;
	/* The functions of a skeleton unit are in its split unit. */
	bool is_split = !dwarf_cu_info(unit.cu, NULL, &type, NULL, &split, NULL, NULL, NULL) && type == DW_UT_skeleton &&
	                split.cu;
	/* Around an inlined function libdw names the scopes of its source; the second call names those of its code. */
	if (dwarf_getscopes(is_split ? &split : &unit, pc, &around) > 0)
		*n = dwarf_getscopes_die(&around[0], &scopes);
	free(around);
	return *n > 0 ? scopes : NULL;
}

static const char *linkage_name(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	if (!dwarf_attr_integrate(die, DW_AT_linkage_name, &attr) && !dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attr))
		return NULL;
	return dwarf_formstring(&attr);
}

/* Private functions of the probe's header end in '_'. */
static bool is_probe(Dwarf_Die *die)
{
	const char *name = dwarf_tag(die) == DW_TAG_inlined_subroutine ? dwarf_diename(die) : NULL;
	return name && !strncmp(name, "ctp_", 4) && name[strlen(name) - 1] == '_';
}

/* The probe of C++ is in a namespace. */
static bool is_hook(Dwarf_Die *die)
{
	const char *name = dwarf_tag(die) == DW_TAG_inlined_subroutine ? linkage_name(die) : NULL;
	return name && (!strncmp(name, "_ZN3ctp", 7) || !strncmp(name, "_ZNK3ctp", 8));
}

static bool is_function(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);
	return tag == DW_TAG_inlined_subroutine || tag == DW_TAG_subprogram;
}

/* Whether a CTP_HERE took this address. */
static bool is_here(const struct ctp_module *m, uint64_t pc)
{
	int n;
	Dwarf_Die *scopes = scopes_at(m, pc, &n);
	bool found = false;
	for (int i = 0; i < n && !found; i++)
		found = is_probe(&scopes[i]) && !strcmp(dwarf_diename(&scopes[i]), "ctp_here_");
	free(scopes);
	return found;
}

static bool is_entry(const struct ctp_module *m, uint64_t pc)
{
	const struct range *r = find_range(&m->functions, pc);
	Dwarf_Addr entry;
	int n;
	if (r)
		return r->start == pc;
	Dwarf_Die *scopes = scopes_at(m, pc, &n);
	bool found = false;
	for (int i = 0; i < n && !found; i++)
		found = dwarf_tag(&scopes[i]) == DW_TAG_subprogram && !dwarf_entrypc(&scopes[i], &entry) && entry == pc;
	free(scopes);
	return found;
}

/* The address to look up; see the top of module.h. entry: the address stands for the function that begins there. */
static uint64_t meant(const struct ctp_module *m, uint64_t pc, bool *entry)
{
	bool here = is_here(m, pc);
	*entry = !here && is_entry(m, pc);
	return here || *entry || !pc ? pc : pc - 1;
}

/* The path as the compiler was given it: without DW_AT_comp_dir. */
static void put_file(struct ctp_module_place *place, Dwarf_Die *unit, const char *path)
{
	Dwarf_Attribute attr;
	const char *dir = dwarf_attr(unit, DW_AT_comp_dir, &attr) ? dwarf_formstring(&attr) : NULL;
	size_t len = dir ? strlen(dir) : 0;
	if (len && !strncmp(path, dir, len) && path[len] == '/' && path[len + 1])
		path += len + 1;
	len = strlen(path);
	snprintf(place->file, sizeof place->file, "%s", len < sizeof place->file ? path : path + len - sizeof place->file + 1);
}

static void put_line(struct ctp_module_place *place, Dwarf_Die *unit, uint64_t pc)
{
	Dwarf_Line *at = dwarf_getsrc_die(unit, pc);
	const char *path = at ? dwarf_linesrc(at, NULL, NULL) : NULL;
	int line;
	if (!path || dwarf_lineno(at, &line) || line <= 0)
		return;
	put_file(place, unit, path);
	place->line = (unsigned)line;
}

/* The file and line in two attributes of a DIE: of the call of an inlined function, or of a declaration. */
static void put_said(struct ctp_module_place *place, Dwarf_Die *unit, Dwarf_Die *die, unsigned file_name, unsigned line_name)
{
	Dwarf_Files *files;
	Dwarf_Word file, line;
	size_t n;
	if (!ctp_die_number(die, file_name, &file) || !ctp_die_number(die, line_name, &line) ||
	    dwarf_getsrcfiles(unit, &files, &n) || file >= n)
		return;
	const char *path = dwarf_filesrc(files, file, NULL, NULL);
	if (!path || line > UINT32_MAX)
		return;
	put_file(place, unit, path);
	place->line = (unsigned)line;
}

static bool is_mangled(const char *name) { return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R'); }

/* gcc gives a static function no linkage name; its symbol has the namespace. */
static void put_function(const struct ctp_module *m, uint64_t pc, struct ctp_module_place *place, Dwarf_Die *die)
{
	const struct range *r = dwarf_tag(die) == DW_TAG_subprogram ? find_range(&m->functions, pc) : NULL;
	const char *plain = dwarf_diename(die), *linkage = linkage_name(die);
	if (!linkage && r && is_mangled(r->symbol))
		linkage = r->symbol;
	if (linkage)
		ctp_demangle(linkage, place->function);
	if (plain && (!linkage || is_mangled(place->function)))
		ctp_demangle(plain, place->function);
}

static void put_source(const struct ctp_module *m, uint64_t pc, bool entry, struct ctp_module_place *place)
{
	Dwarf_Die unit;
	int n;
	if (!unit_at(m, pc, &unit))
		return;
	put_line(place, &unit, pc);
	Dwarf_Die *scopes = scopes_at(m, pc, &n);
	for (int i = 0; i < n; i++) {
		if (is_probe(&scopes[i])) {
			put_said(place, &unit, &scopes[i], DW_AT_call_file, DW_AT_call_line);
		} else if (is_function(&scopes[i]) && (!entry || dwarf_tag(&scopes[i]) == DW_TAG_subprogram)) {
			put_function(m, pc, place, &scopes[i]);
			if (entry)
				put_said(place, &unit, &scopes[i], DW_AT_decl_file, DW_AT_decl_line);
			break;
		}
	}
	free(scopes);
}

/* The first DIE in a chain of origins and specifications. */
static Dwarf_Die first_said(Dwarf_Die die)
{
	Dwarf_Attribute attr;
	Dwarf_Die next;
	for (int i = 0; i < 4; i++, die = next)
		if ((!dwarf_attr(&die, DW_AT_abstract_origin, &attr) && !dwarf_attr(&die, DW_AT_specification, &attr)) ||
		    !dwarf_formref_die(&attr, &next))
			break;
	return die;
}

/* Where a function is written; gcc says it of a lambda's class only. */
static void put_beginning(struct ctp_module_place *place, Dwarf_Die *unit, Dwarf_Die *die)
{
	Dwarf_Die said = first_said(*die), *around = NULL;
	put_said(place, unit, die, DW_AT_decl_file, DW_AT_decl_line);
	if (!place->line && dwarf_getscopes_die(&said, &around) > 1 && dwarf_tag(&around[1]) == DW_TAG_structure_type)
		put_said(place, unit, &around[1], DW_AT_decl_file, DW_AT_decl_line);
	free(around);
}

/* Searches all DIEs: dwarf_getscopes does not find a lambda, whose code is not inside that of its function. */
static bool search_function(Dwarf_Die *below, uint64_t pc, int depth, int *left, Dwarf_Die *found)
{
	Dwarf_Die child;
	if (depth > DEPTH_MAX || dwarf_child(below, &child))
		return false;
	do {
		if (--*left < 0)
			return false;
		if (dwarf_tag(&child) == DW_TAG_subprogram && dwarf_haspc(&child, pc) > 0) {
			*found = child;
			return true;
		}
		if (search_function(&child, pc, depth + 1, left, found))
			return true;
	} while (!dwarf_siblingof(&child, &child));
	return false;
}

/* The function that holds pc, other than the probe's own. */
static void put_within(const struct ctp_module *m, uint64_t pc, struct ctp_module_place *place)
{
	Dwarf_Die unit, found;
	int n, i = 0, left = DIES_MAX;
	if (!unit_at(m, pc, &unit))
		return;
	Dwarf_Die *scopes = scopes_at(m, pc, &n);
	while (i < n && (!is_function(&scopes[i]) || is_probe(&scopes[i]) || is_hook(&scopes[i])))
		i++;
	if (i < n)
		put_beginning(place, &unit, &scopes[i]);
	else if (search_function(&unit, pc, 0, &left, &found))
		put_beginning(place, &unit, &found);
	free(scopes);
}

bool ctp_module_find(struct ctp_module *m, const struct ctp_module_at *at, struct ctp_module_place *place)
{
	uint64_t pc;
	bool entry;
	*place = (struct ctp_module_place){.line = 0};
	if (!linked_address(m, at, &pc))
		return false;
	if (at->within) {
		put_within(m, pc - 1, place);
		return place->line;
	}
	pc = meant(m, pc, &entry);
	put_source(m, pc, entry, place);
	const struct range *r = place->function[0] ? NULL : find_range(&m->functions, pc);
	if (r)
		ctp_demangle(r->symbol, place->function);
	return place->function[0] || place->line;
}

#endif
