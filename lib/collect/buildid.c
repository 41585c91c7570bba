/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * buildid.c - finds the GNU build-id note of an ELF file of either width, in this machine's byte order.
 *
 * Every read goes through fetch(), which checks the place against the image; what it fetches is copied before it is looked at.
 */
#include <elf.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "collect/buildid.h"

enum { SEGMENTS_MAX = 128, NOTES_BYTES_MAX = 4096 };

struct image {
	int fd; /* -1: mem */
	const uint8_t *mem;
	size_t len;
};

static bool fetch(const struct image *im, uint64_t at, void *to, size_t len)
{
	if (im->fd >= 0)
		return at <= INT64_MAX - len && pread(im->fd, to, len, (off_t)at) == (ssize_t)len;
	if (at > im->len || len > im->len - at)
		return false;
	memcpy(to, im->mem + at, len);
	return true;
}

static size_t find_note(const uint8_t *notes, size_t len, size_t align, uint8_t *id)
{
	Elf64_Nhdr head; /* the same in both widths */
	for (size_t at = 0; len - at >= sizeof head;) {
		memcpy(&head, notes + at, sizeof head);
		at += sizeof head;
		uint64_t name_bytes = ((uint64_t)head.n_namesz + 3) & ~UINT64_C(3);
		uint64_t desc_bytes = ((uint64_t)head.n_descsz + align - 1) & ~(uint64_t)(align - 1);
		if (name_bytes > len - at || head.n_descsz > len - at - name_bytes)
			return 0;
		if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == sizeof "GNU" &&
		    !memcmp(notes + at, "GNU", sizeof "GNU") && head.n_descsz <= CTP_BUILD_ID_MAX) {
			memcpy(id, notes + at + name_bytes, head.n_descsz);
			return head.n_descsz;
		}
		if (desc_bytes > len - at - name_bytes)
			return 0;
		at += name_bytes + desc_bytes;
	}
	return 0;
}

/* A program header of either width as one of 64 bits. */
static bool segment(const struct image *im, bool wide, uint64_t at, Elf64_Phdr *seg)
{
	Elf32_Phdr narrow;
	if (wide)
		return fetch(im, at, seg, sizeof *seg);
	if (!fetch(im, at, &narrow, sizeof narrow))
		return false;
	*seg = (Elf64_Phdr){
		.p_type = narrow.p_type, .p_offset = narrow.p_offset, .p_filesz = narrow.p_filesz, .p_align = narrow.p_align};
	return true;
}

static size_t find(const struct image *im, uint8_t *id)
{
	union {
		unsigned char ident[EI_NIDENT];
		Elf32_Ehdr narrow;
		Elf64_Ehdr wide;
	} head;
	const uint16_t one = 1;
	unsigned char order = *(const unsigned char *)&one ? ELFDATA2LSB : ELFDATA2MSB;
	if (!fetch(im, 0, &head, sizeof head) || memcmp(head.ident, ELFMAG, SELFMAG) || head.ident[EI_DATA] != order)
		return 0;
	bool wide = head.ident[EI_CLASS] == ELFCLASS64;
	uint64_t at = wide ? head.wide.e_phoff : head.narrow.e_phoff;
	unsigned n = wide ? head.wide.e_phnum : head.narrow.e_phnum;
	size_t step = wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	for (unsigned i = 0; i < n && i < SEGMENTS_MAX && at <= INT64_MAX - i * step; i++) {
		Elf64_Phdr seg;
		if (!segment(im, wide, at + i * step, &seg))
			return 0;
		uint8_t notes[NOTES_BYTES_MAX];
		size_t len = seg.p_filesz < sizeof notes ? seg.p_filesz : sizeof notes;
		if (seg.p_type != PT_NOTE || !fetch(im, seg.p_offset, notes, len))
			continue;
		size_t found = find_note(notes, len, seg.p_align == 8 ? 8 : 4, id);
		if (found)
			return found;
	}
	return 0;
}

size_t ctp_buildid_file(int fd, uint8_t id[CTP_BUILD_ID_MAX]) { return find(&(struct image){.fd = fd}, id); }

size_t ctp_buildid_image(const void *image, size_t len_bytes, uint8_t id[CTP_BUILD_ID_MAX])
{
	return find(&(struct image){.fd = -1, .mem = image, .len = len_bytes}, id);
}
