/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* elf-byhand.h - ELF files that no linker would write, for tests: names, symbols, and many segments that all map the first page. */
#ifndef ELF_BYHAND_H
#define ELF_BYHAND_H

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"

struct elf_byhand {
	char *names;
	size_t names_len, names_room;
	Elf64_Sym *symbols;
	size_t nsymbols, symbols_room;
};

static inline void elf_put(int fd, size_t at, const void *data, size_t len)
{
	for (size_t done = 0; done < len;) {
		ssize_t n = pwrite(fd, (const char *)data + done, len - done, (off_t)(at + done));
		if (n <= 0)
			abort();
		done += (size_t)n;
	}
}

/* Adds a text to the table of strings; returns its offset. */
static inline uint32_t elf_name(struct elf_byhand *e, const char *name)
{
	size_t at = e->names_len ? e->names_len : 1, len = strlen(name) + 1;
	if (!CTP_ARRAY_RESERVE(e->names, e->names_room, at + len, SIZE_MAX))
		abort();
	e->names[0] = '\0';
	memcpy(e->names + at, name, len);
	e->names_len = at + len;
	return (uint32_t)at;
}

static inline void elf_symbol(struct elf_byhand *e, uint32_t name, uint64_t value)
{
	if (!CTP_ARRAY_RESERVE(e->symbols, e->symbols_room, e->nsymbols + 1, SIZE_MAX))
		abort();
	e->symbols[e->nsymbols++] = (Elf64_Sym){.st_name = name, .st_info = STT_OBJECT, .st_shndx = 1, .st_value = value, .st_size = 4};
}

/* The three symbols of a buffer. */
static inline void elf_buffer(struct elf_byhand *e, unsigned number)
{
	static const char *const parts[] = {"stat", "hmem", "json"};
	char name[64];
	for (unsigned i = 0; i < 3; i++) {
		snprintf(name, sizeof name, "_ppt_%s_B%u", parts[i], number);
		elf_symbol(e, elf_name(e, name), 4 * (3 * number + i) % 4096);
	}
}

static inline void elf_write(struct elf_byhand *e, int fd, unsigned segments)
{
	size_t shoff = sizeof(Elf64_Ehdr) + segments * sizeof(Elf64_Phdr), names = shoff + 3 * sizeof(Elf64_Shdr);
	size_t symbols = (names + e->names_len + 7) & ~(size_t)7;
	Elf64_Ehdr head = {
		.e_type = ET_DYN, .e_phoff = sizeof head, .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = (Elf64_Half)segments,
		.e_shoff = shoff, .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = 3,
	};
	memcpy(head.e_ident, ELFMAG, SELFMAG);
	head.e_ident[EI_CLASS] = ELFCLASS64;
	head.e_ident[EI_DATA] = *(const char *)&(uint16_t){1} ? ELFDATA2LSB : ELFDATA2MSB;
	const Elf64_Phdr segment = {.p_type = PT_LOAD, .p_flags = PF_R | PF_W, .p_filesz = 4096, .p_memsz = 4096};
	const Elf64_Shdr sections[3] = {
		{.sh_type = SHT_NULL},
		{.sh_type = SHT_STRTAB, .sh_offset = names, .sh_size = e->names_len},
		{.sh_type = SHT_SYMTAB, .sh_offset = symbols, .sh_size = e->nsymbols * sizeof *e->symbols, .sh_link = 1, .sh_entsize = sizeof *e->symbols},
	};
	elf_put(fd, 0, &head, sizeof head);
	for (unsigned i = 0; i < segments; i++)
		elf_put(fd, sizeof head + i * sizeof segment, &segment, sizeof segment);
	elf_put(fd, shoff, sections, sizeof sections);
	elf_put(fd, names, e->names, e->names_len);
	elf_put(fd, symbols, e->symbols, e->nsymbols * sizeof *e->symbols);
	free(e->names);
	free(e->symbols);
	*e = (struct elf_byhand){0};
}

#endif
