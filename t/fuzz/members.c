/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * members.c - any bytes as debug information, in search of the members of types.
 *
 * The input is an ELF file, and libdw reads it: in the tools that is done by a child (confine.h), since libdw trusts its files. Here the
 * file is followed by zeros, which end an unterminated text; what is compressed, or in another file, is not read; and fewer
 * entries are. Types are asked for by the names in the corpus, twice: the first time with no size, which gives the sizes that
 * they have.
 * Covers: lib/symbols/members.c lib/symbols/type-members.c lib/symbols/virtual-bases.c lib/symbols/die.c lib/memory/mem-layout.c
 */
#include <stdint.h>

#include "must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#ifndef HAVE_LIBDW
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { return (void)data, (void)size, 0; }
#else
#include "memory/mem-layout.h"
#include "symbols/members.c"

enum { INPUT_MAX = 64 << 10, BEHIND = 4096, DIES = 20000, MEMBERS = 4096 };

static const char *const names[] = {"struct A", "B", "class.ns::C", "struct.D.12", "union U", "E", "ns::T<int, 3>", "F", "int", "Alias"};
enum { WANTS = sizeof names / sizeof *names };
static struct ctp_members_want want[WANTS];
static struct ctp_member found[MEMBERS];
static uint32_t nfound;

static bool take_member(const struct ctp_member *m)
{
	char index[CTP_MEMBER_INDEX_MAX];
	must(m->want < WANTS && memchr(m->name, 0, sizeof m->name) && m->name[0], "a member without a name");
	must(m->size <= want[m->want].size && m->offset <= want[m->want].size - m->size, "a member beyond its type");
	must(!m->stride || (m->dim[0] && m->stride <= m->size), "an array without elements");
	for (uint32_t i = 0; m->stride && i < m->size / m->stride && i < 8; i++)
		must(strlen(ctp_member_index(index, m, i)) < sizeof index, "an index");
	if (nfound < MEMBERS)
		found[nfound++] = *m;
	return nfound < MEMBERS;
}

static int by_offset(const void *a, const void *b)
{
	const struct ctp_member *x = a, *y = b;
	if (x->want != y->want)
		return x->want < y->want ? -1 : 1;
	return x->offset != y->offset ? (x->offset < y->offset ? -1 : 1) : (x->size < y->size) - (x->size > y->size);
}

/* Parts leave nothing out, and do not overlap. */
static void check_parts(uint32_t type)
{
	struct ctp_mem_layouts l = {.member = found, .n = nfound};
	struct ctp_mem_parts parts;
	struct ctp_mem_part part;
	uint32_t at = 0;
	ctp_mem_parts_of(&parts, &l, type, want[type].size);
	bool known = parts.left;
	while (ctp_mem_parts_next(&parts, &part)) {
		must(part.offset == at && part.size, "a part that does not follow the one before");
		at += part.size;
		char *name = part.member ? ctp_mem_part_name(&part) : NULL;
		must(!part.member || (name && *name), "a part without a name");
		free(name);
	}
	must(!known || at == want[type].size, "parts that are not all of a type");
}

/* What libdw would open or unpack. */
static bool is_elsewhere(Elf *elf)
{
	GElf_Shdr header;
	size_t texts;
	if (elf_getshdrstrndx(elf, &texts))
		return true;
	for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));) {
		const char *name = gelf_getshdr(s, &header) ? elf_strptr(elf, texts, header.sh_name) : NULL;
		if (!name || header.sh_flags & SHF_COMPRESSED || !strncmp(name, ".zdebug", 7) || strstr(name, "alt") || strstr(name, "sup"))
			return true;
	}
	return false;
}

static void walk_once(Dwarf *dwarf, bool big)
{
	static struct walk w;
	struct wanted *wanted = sort_wanted(want, WANTS);
	must(wanted, "no memory");
	memset(&w, 0, sizeof w);
	w.of = (struct ctp_type_members){.emit = take_member, .big = big, .dies = CTP_DIES_MAX - DIES};
	w.wanted = wanted;
	w.nwanted = WANTS;
	nfound = 0;
	walk_all(&w, dwarf);
	for (uint32_t i = 0; i < WANTS; i++) {
		must(memchr(wanted[i].near[0], 0, CTP_MEMBERS_NEAR_BYTES) && memchr(wanted[i].near[1], 0, CTP_MEMBERS_NEAR_BYTES), "a name");
		want[wanted[i].want].other_size = wanted[i].found ? wanted[i].size : wanted[i].other_size;
	}
	free(wanted);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char image[INPUT_MAX + BEHIND];
	GElf_Ehdr header;
	size = size < INPUT_MAX ? size : INPUT_MAX;
	memset(image, 0, sizeof image);
	memcpy(image, data, size);
	elf_version(EV_CURRENT);
	Elf *elf = elf_memory(image, size);
	Dwarf *dwarf = elf && gelf_getehdr(elf, &header) && !is_elsewhere(elf) ? dwarf_begin_elf(elf, DWARF_C_READ, NULL) : NULL;
	for (uint32_t i = 0; i < WANTS; i++)
		want[i] = (struct ctp_members_want){.type = names[i]};
	for (int i = 0; dwarf && i < 2; i++) {
		walk_once(dwarf, header.e_ident[EI_DATA] == ELFDATA2MSB);
		qsort(found, nfound, sizeof *found, by_offset);
		for (uint32_t type = 0; type < WANTS; type++)
			check_parts(type);
		for (uint32_t type = 0; type < WANTS; type++)
			want[type].size = want[type].other_size;
	}
	dwarf_end(dwarf);
	elf_end(elf);
	return 0;
}
#endif
