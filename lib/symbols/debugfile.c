/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* debugfile.c - see debugfile.h. Where files are looked for is in the table `places` and in try_link(). */
#ifdef HAVE_LIBDW
#include "symbols/debugfile.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

enum { ID_BYTES_MAX = 64, LINKED_BYTES_MAX = 1 << 30 };
static const char system_dir[] = "/usr/lib/debug";

/* --- one file ------------------------------------------------------------------------------------------------------------ */

/* stat comes before open: opening a device may have an effect. */
static int open_regular(const char *path)
{
	struct stat st;
	if (stat(path, &st) || !S_ISREG(st.st_mode) || st.st_size < (off_t)sizeof(Elf32_Ehdr))
		return -1;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode))) {
		close(fd);
		return -1;
	}
	return fd;
}

static void look_at_sections(struct ctp_debugfile *f)
{
	size_t names;
	GElf_Shdr shdr;
	if (elf_getshdrstrndx(f->elf, &names))
		return;
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(f->elf, scn));) {
		const char *name = gelf_getshdr(scn, &shdr) ? elf_strptr(f->elf, names, shdr.sh_name) : NULL;
		if (!name)
			continue;
		f->has_code |= (shdr.sh_flags & SHF_EXECINSTR) && shdr.sh_type != SHT_NOBITS;
		f->has_symbols |= shdr.sh_type == SHT_SYMTAB;
		f->has_dwarf |= !strcmp(name, ".debug_info") || !strcmp(name, ".zdebug_info");
	}
}

static bool id_fits(const struct ctp_module_want *want, Elf *elf)
{
	const void *id;
	ssize_t len = dwelf_elf_gnu_build_id(elf, &id);
	if (!want->id_known)
		return true;
	return len <= 0 ? !want->id_bytes : (size_t)len == want->id_bytes && !memcmp(id, want->id, want->id_bytes);
}

static bool open_elf(const struct ctp_module_want *want, const char *path, struct ctp_debugfile *f)
{
	*f = (struct ctp_debugfile){.fd = open_regular(path)};
	if (f->fd >= 0 && (f->elf = elf_begin(f->fd, ELF_C_READ_MMAP, NULL)) && elf_kind(f->elf) == ELF_K_ELF &&
	    id_fits(want, f->elf) && (f->path = strdup(path))) {
		look_at_sections(f);
		return true;
	}
	ctp_debugfile_close(f);
	return false;
}

void ctp_debugfile_settle(struct ctp_debugfile *f)
{
	if (f->fd < 0 || !f->elf)
		return;
	elf_cntl(f->elf, ELF_C_FDREAD);
	close(f->fd);
	f->fd = -1;
}

void ctp_debugfile_close(struct ctp_debugfile *f)
{
	if (f->elf)
		elf_end(f->elf);
	ctp_fd_close(f->fd);
	free(f->path);
	*f = (struct ctp_debugfile){.fd = -1};
}

/* --- where files are ----------------------------------------------------------------------------------------------------- */

struct search {
	const struct ctp_module_want *want;
	struct ctp_debugfile *code, *debug;
	const char *name; /* last component of the path */
	char id[2 * ID_BYTES_MAX + 1];
};

static unsigned worth(const struct ctp_debugfile *f) { return f->has_dwarf ? 2 : f->has_symbols; }

/* Keeps the file if it is of use. True: code and DWARF are found. */
static bool try_path(struct search *s, const char *path)
{
	struct ctp_debugfile f;
	if (open_elf(s->want, path, &f)) {
		if (f.has_code && !s->code->elf) {
			*s->code = f;
		} else if (worth(&f) > worth(s->debug) && worth(&f) > worth(s->code)) {
			ctp_debugfile_close(s->debug);
			*s->debug = f;
		} else {
			ctp_debugfile_close(&f);
		}
	}
	return s->code->elf && (s->code->has_dwarf || s->debug->has_dwarf);
}

/* %d the folder, %p the module's path, %n its last component, %i the first byte of the build-id, %j the rest, %b all of it. */
static const struct {
	const char *form;
	bool needs_id; /* only a build-id proves that the file belongs to the module */
} places[] = {
	{"%d%p", false}, {"%d/%n", false}, {"%d/.build-id/%i/%j.debug", true}, {"%d/.build-id/%i/%j", true},
	{"%d%p.debug", true}, {"%d/%n.debug", true}, {"%d/%b/debuginfo", true}, {"%d/%b/executable", true},
};

/* False: too long. */
static bool spell_place(const struct search *s, const char *form, const char *dir, char path[PATH_MAX])
{
	size_t len = 0;
	for (; *form; form++) {
		const char *part = form;
		size_t bytes = 1;
		if (*form == '%') {
			form++;
			part = *form == 'd' ? dir : *form == 'p' ? s->want->path : *form == 'n' ? s->name :
			       *form == 'j' ? s->id + 2 : s->id;
			bytes = *form == 'i' ? 2 : strlen(part);
		}
		if (bytes >= PATH_MAX - len)
			return false;
		memcpy(path + len, part, bytes);
		len += bytes;
	}
	path[len] = '\0';
	return true;
}

static bool try_dir(struct search *s, const char *dir)
{
	char path[PATH_MAX];
	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		if ((!places[i].needs_id || s->want->id_bytes) && spell_place(s, places[i].form, dir, path) &&
		    try_path(s, path))
			return true;
	return false;
}

/* --- debuglink ----------------------------------------------------------------------------------------------------------- */

/* Whether the file has the sum of its debuglink: CRC-32 as in zlib. */
static bool sum_fits(const char *path, uint32_t sum)
{
	uint32_t crc = UINT32_MAX, table[256];
	uint8_t bytes[16 << 10];
	struct stat st;
	int fd = open_regular(path);
	bool ok = fd >= 0 && !fstat(fd, &st) && st.st_size <= LINKED_BYTES_MAX;
	for (uint32_t i = 0; i < 256; i++) {
		table[i] = i;
		for (int bit = 0; bit < 8; bit++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320 : 0);
	}
	for (ssize_t n; ok && (n = read(fd, bytes, sizeof bytes)) != 0;) {
		ok = n > 0;
		for (ssize_t i = 0; i < n; i++)
			crc = crc >> 8 ^ table[(crc ^ bytes[i]) & 0xff];
	}
	ctp_fd_close(fd);
	return ok && ~crc == sum;
}

static bool try_link(struct search *s, const char *dir, const char *below, const char *link, uint32_t sum)
{
	char path[PATH_MAX];
	if (snprintf(path, sizeof path, "%s%s/%s", dir, below, link) >= (int)sizeof path)
		return false;
	bool proved = s->want->id_known && s->want->id_bytes;
	return (proved || sum_fits(path, sum)) && try_path(s, path);
}

/* A stripped file has a debuglink: the name of its debug file. */
static void follow_link(struct search *s)
{
	GElf_Word sum;
	const char *link = s->code->elf ? dwelf_elf_gnu_debuglink(s->code->elf, &sum) : NULL;
	char *of = link && !strchr(link, '/') ? realpath(s->code->path, NULL) : NULL;
	if (!of)
		return;
	*strrchr(of, '/') = '\0';
	bool done = try_link(s, of, "", link, sum) || try_link(s, of, "/.debug", link, sum);
	for (size_t i = 0; i <= s->want->ndirs && !done; i++) {
		const char *dir = i < s->want->ndirs ? s->want->dirs[i] : system_dir;
		done = try_link(s, dir, of, link, sum) || try_link(s, dir, "", link, sum);
	}
	free(of);
}

/* --- all of it ----------------------------------------------------------------------------------------------------------- */

void ctp_debugfile_find(const struct ctp_module_want *want, struct ctp_debugfile *code, struct ctp_debugfile *debug)
{
	*code = *debug = (struct ctp_debugfile){.fd = -1};
	if (want->path[0] != '/' || want->id_bytes > ID_BYTES_MAX || elf_version(EV_CURRENT) == EV_NONE)
		return;
	struct search s = {.want = want, .code = code, .debug = debug, .name = strrchr(want->path, '/') + 1};
	for (size_t i = 0; i < want->id_bytes; i++)
		snprintf(s.id + 2 * i, 3, "%02x", want->id[i]);
	bool done = false;
	for (size_t i = 0; i < want->ndirs && !done; i++)
		done = try_dir(&s, want->dirs[i]);
	if (!done && !try_path(&s, want->path) && !try_dir(&s, system_dir))
		follow_link(&s);
}
#endif
