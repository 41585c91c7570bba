/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ppt-elf.c - goes through the names first: a table of strings without one of ours spares its symbols.
 *
 * A linker lets one name be the end of another, so names are found by their text at any place, and symbols by the place of their name.
 */
#include "ppt/ppt-elf.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	PIECE_BYTES = 64 << 10,
	NAME_BYTES = CTP_PPT_BUFFER_MAX + 16, /* a symbol's, with its NUL */
	NAMES_MAX = CTP_PPT_ELF_SYMBOLS_MAX,
	SECTIONS_MAX = 1 << 16,
	TABLES_MAX = 16,     /* of symbols; there are two */
	TRIES_MAX = 1 << 16, /* places in a table of strings that may be names */
};

static const uint64_t strings_max = UINT64_C(1) << 30, symbols_max = UINT64_C(1) << 31;
static const uint64_t read_min = 4096; /* bytes of the budget that any read costs: a call is work too */

struct file {
	int fd;
	uint64_t *budget;
	struct ctp_ppt_elf *elf;
	uint64_t sections; /* where they are */
	uint32_t nsections;
	uint32_t nnames;   /* of the table of strings that is being looked at, by their place */
	struct name {
		uint64_t at;
		struct ctp_ppt_symbol symbol;
	} *names;
	uint8_t *piece;
};

/* --- reading --------------------------------------------------------------------------------------------------------------- */

static bool spend(struct file *f, uint64_t bytes)
{
	bool enough = *f->budget >= bytes;
	*f->budget = enough ? *f->budget - bytes : 0;
	return enough;
}

/* Bytes that were read: fewer than len at the end of the file, or of the budget. */
static size_t fetch_some(struct file *f, uint64_t at, void *to, size_t len)
{
	if (at > INT64_MAX - len || !spend(f, len > read_min ? len : read_min))
		return 0;
	ssize_t n = pread(f->fd, to, len, (off_t)at);
	return n > 0 ? (size_t)n : 0;
}

static bool fetch(struct file *f, uint64_t at, void *to, size_t len) { return fetch_some(f, at, to, len) == len; }

static bool section(struct file *f, uint32_t i, Elf64_Shdr *sec)
{
	return i < f->nsections && fetch(f, f->sections + i * sizeof *sec, sec, sizeof *sec);
}

/* --- names ----------------------------------------------------------------------------------------------------------------- */

static const char *const parts[CTP_PPT_PARTS] = {[CTP_PPT_STAT] = "stat", [CTP_PPT_HMEM] = "hmem", [CTP_PPT_JSON] = "json"};
enum { PART_BYTES = 4 };

bool ctp_ppt_elf_name(const char *name, struct ctp_ppt_symbol *symbol)
{
	static const char ours[] = "_ppt_";
	size_t len = strlen(name), head = sizeof ours - 1;
	*symbol = (struct ctp_ppt_symbol){.by_document = name[0] == '_' && name[1] == '_'};
	name += symbol->by_document;
	len -= symbol->by_document;
	if (len < head + PART_BYTES + 2 || len > head + PART_BYTES + 1 + CTP_PPT_BUFFER_MAX || strncmp(name, ours, head))
		return false;
	const char *part = symbol->by_document ? name + len - PART_BYTES : name + head;
	const char *buffer = symbol->by_document ? name + head : part + PART_BYTES + 1;
	if (part[symbol->by_document ? -1 : PART_BYTES] != '_')
		return false;
	for (symbol->part = 0; symbol->part < CTP_PPT_PARTS; symbol->part++)
		if (!strncmp(part, parts[symbol->part], PART_BYTES)) {
			memcpy(symbol->buffer, buffer, len - head - PART_BYTES - 1); /* the rest is zeros */
			return true;
		}
	return false;
}

static void add_name(struct file *f, const Elf64_Shdr *strings, uint64_t at)
{
	char text[NAME_BYTES];
	struct ctp_ppt_symbol symbol;
	uint64_t room = strings->sh_size - at;
	size_t len = fetch_some(f, strings->sh_offset + at, text, room < sizeof text ? (size_t)room : sizeof text);
	if (f->nnames < NAMES_MAX && memchr(text, 0, len) && ctp_ppt_elf_name(text, &symbol))
		f->names[f->nnames++] = (struct name){.at = at, .symbol = symbol};
}

/* Pieces overlap by what is looked for, and the character before it. */
static void find_names(struct file *f, const Elf64_Shdr *strings)
{
	static const char ours[] = "_ppt_";
	const size_t overlap = sizeof ours - 1;
	unsigned tries = 0;
	f->nnames = 0;
	if (strings->sh_type != SHT_STRTAB || strings->sh_size > strings_max || strings->sh_offset > INT64_MAX - strings_max)
		return;
	for (uint64_t from = 0; from < strings->sh_size;) {
		uint64_t left = strings->sh_size - from;
		size_t len = fetch_some(f, strings->sh_offset + from, f->piece, left < PIECE_BYTES ? (size_t)left : PIECE_BYTES);
		const uint8_t *p = f->piece, *end = p + len;
		for (; tries < TRIES_MAX && (p = memmem(p, (size_t)(end - p), ours, sizeof ours - 1)); p++, tries++) {
			uint64_t at = from + (uint64_t)(p - f->piece);
			if (p > f->piece && p[-1] == '_')
				add_name(f, strings, at - 1);
			if (p > f->piece || !from)
				add_name(f, strings, at);
		}
		if (len <= overlap)
			return;
		from += len < left ? len - overlap : len;
	}
}

/* --- symbols --------------------------------------------------------------------------------------------------------------- */

static int compare_names(const void *a, const void *b)
{
	uint64_t x = ((const struct name *)a)->at, y = ((const struct name *)b)->at;
	return (x > y) - (x < y);
}

/* Looking through those that are there is paid for like reading them. */
static void add_symbol(struct file *f, const struct ctp_ppt_symbol *named, const Elf64_Sym *sym)
{
	struct ctp_ppt_elf *elf = f->elf;
	unsigned type = ELF64_ST_TYPE(sym->st_info);
	bool data = type == STT_OBJECT || type == STT_NOTYPE || type == STT_COMMON;
	if (!data || sym->st_shndx == SHN_UNDEF || elf->nsymbols == CTP_PPT_ELF_SYMBOLS_MAX ||
	    !spend(f, elf->nsymbols * sizeof elf->symbols->value))
		return;
	for (uint32_t i = 0; i < elf->nsymbols; i++) { /* both tables of a file may have it */
		const struct ctp_ppt_symbol *s = &elf->symbols[i];
		if (s->value == sym->st_value && s->part == named->part && !strcmp(s->buffer, named->buffer))
			return;
	}
	struct ctp_ppt_symbol *s = &elf->symbols[elf->nsymbols++];
	*s = *named;
	s->value = sym->st_value;
	s->bytes = sym->st_size;
}

static void find_symbols(struct file *f, const Elf64_Shdr *table)
{
	const Elf64_Sym *syms = (const void *)f->piece;
	if (!f->nnames || table->sh_entsize != sizeof *syms || table->sh_size > symbols_max ||
	    table->sh_offset > INT64_MAX - symbols_max)
		return;
	qsort(f->names, f->nnames, sizeof *f->names, compare_names);
	for (uint64_t from = 0; table->sh_size - from >= sizeof *syms;) {
		uint64_t left = table->sh_size - from;
		size_t want = left < PIECE_BYTES ? (size_t)left : PIECE_BYTES;
		size_t n = fetch_some(f, table->sh_offset + from, f->piece, want) / sizeof *syms;
		for (size_t i = 0; i < n; i++) {
			struct name *named =
				bsearch(&(struct name){.at = syms[i].st_name}, f->names, f->nnames, sizeof *named, compare_names);
			if (named)
				add_symbol(f, &named->symbol, &syms[i]);
		}
		if (!n)
			return;
		from += n * sizeof *syms;
	}
}

static void find_tables(struct file *f)
{
	Elf64_Shdr table, strings;
	for (uint32_t i = 0, tables = 0; i < f->nsections && tables < TABLES_MAX; i++) {
		if (!section(f, i, &table))
			return;
		if ((table.sh_type != SHT_SYMTAB && table.sh_type != SHT_DYNSYM) || !section(f, table.sh_link, &strings))
			continue;
		tables++;
		find_names(f, &strings);
		find_symbols(f, &table);
	}
}

/* --- the file -------------------------------------------------------------------------------------------------------------- */

static bool read_segments(struct file *f, const Elf64_Ehdr *head)
{
	struct ctp_ppt_elf *elf = f->elf;
	Elf64_Phdr seg;
	if (head->e_phentsize != sizeof seg || head->e_phoff > INT64_MAX - UINT16_MAX * sizeof seg)
		return false;
	for (unsigned i = 0; i < head->e_phnum && elf->nsegments < CTP_PPT_ELF_SEGMENTS_MAX; i++) {
		if (!fetch(f, head->e_phoff + i * sizeof seg, &seg, sizeof seg))
			return false;
		if (seg.p_type == PT_LOAD && seg.p_memsz)
			elf->segments[elf->nsegments++] = (struct ctp_ppt_segment){
				.offset = seg.p_offset, .address = seg.p_vaddr, .file_bytes = seg.p_filesz, .bytes = seg.p_memsz,
				.writable = seg.p_flags & PF_W};
	}
	return elf->nsegments;
}

/* A file with more sections than the header has room for says their number in the first. */
static void count_sections(struct file *f, const Elf64_Ehdr *head)
{
	Elf64_Shdr first;
	if (!head->e_shoff || head->e_shentsize != sizeof first || head->e_shoff > INT64_MAX - SECTIONS_MAX * sizeof first)
		return;
	f->sections = head->e_shoff;
	f->nsections = head->e_shnum;
	if (!f->nsections && fetch(f, head->e_shoff, &first, sizeof first) && first.sh_size <= SECTIONS_MAX)
		f->nsections = (uint32_t)first.sh_size;
}

static bool read_file(struct file *f)
{
	const uint16_t one = 1;
	const unsigned char order = *(const unsigned char *)&one ? ELFDATA2LSB : ELFDATA2MSB;
	Elf64_Ehdr head;
	if (!fetch(f, 0, &head, sizeof head) || memcmp(head.e_ident, ELFMAG, SELFMAG))
		return false;
	if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_ident[EI_DATA] != order ||
	    (head.e_type != ET_EXEC && head.e_type != ET_DYN))
		return false;
	f->elf->fixed = head.e_type == ET_EXEC;
	if (!read_segments(f, &head))
		return false;
	count_sections(f, &head);
	find_tables(f);
	return true;
}

bool ctp_ppt_elf_read(struct ctp_ppt_elf *elf, int fd, uint64_t *budget)
{
	struct file f = {.fd = fd, .budget = budget, .elf = elf};
	elf->fixed = false;
	elf->nsegments = elf->nsymbols = 0;
	f.names = malloc(NAMES_MAX * sizeof *f.names);
	f.piece = malloc(PIECE_BYTES);
	bool good = f.names && f.piece && read_file(&f);
	free(f.names);
	free(f.piece);
	return good;
}
