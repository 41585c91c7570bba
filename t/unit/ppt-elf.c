/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* ppt-elf.c - names of ppt symbols in both spellings, and ELF files with them: whole, stripped, and truncated at every byte. */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ppt/ppt-elf.h"
#include "elf-byhand.h"
#include "tap.h"

static const char *spell(const char *name)
{
	static const char *const parts[] = {"stat", "hmem", "json"};
	static char text[400];
	struct ctp_ppt_symbol s;
	if (!ctp_ppt_elf_name(name, &s))
		return "none";
	snprintf(text, sizeof text, "%s of %s%s", parts[s.part], s.buffer, s.by_document ? ", by the document" : "");
	return text;
}

static void test_names(void)
{
	is(spell("_ppt_stat_Foo"), "stat of Foo", "the generated spelling is understood");
	is(spell("_ppt_hmem_Foo_Bar"), "hmem of Foo_Bar", "a buffer's name may have a _");
	is(spell("_ppt_json_stat"), "json of stat", "a buffer's name may be any word");
	is(spell("__ppt_Foo_json"), "json of Foo, by the document", "the documented spelling is understood");
	is(spell("__ppt_stat_Foo_hmem"), "hmem of stat_Foo, by the document",
	   "a buffer's name may begin like a part in the documented spelling");
	static const char *const none[] = {"", "_", "__", "_ppt_", "__ppt_", "_ppt_stat_", "_ppt_stat", "__ppt__stat", "__ppt_stat", "ppt_stat_Foo",
	                                   "_ppt_stats_Foo", "_ppt_sta_Foo", "__ppt_Foo_state", "__ppt_Foostat", "_ppt_Foo_stat", "x_ppt_stat_Foo"};
	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		is(spell(none[i]), "none", none[i][0] ? none[i] : "(empty)");
	char name[300] = "_ppt_stat_";
	memset(name + 10, 'x', CTP_PPT_BUFFER_MAX);
	ok(strcmp(spell(name), "none"), "a long name is understood");
	name[10 + CTP_PPT_BUFFER_MAX] = 'x';
	is(spell(name), "none", "a name that is too long is refused");
}

static struct ctp_ppt_elf elf;
static const uint64_t plenty = 1 << 24;

static uint32_t read_file(int fd)
{
	uint64_t budget = plenty;
	return ctp_ppt_elf_read(&elf, fd, &budget) ? elf.nsymbols : UINT32_MAX;
}

static void test_file(const char *path)
{
	char data[1 << 14];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, data, sizeof data);
	if (!ok(len > 0, "%s", path))
		return;
	is_u64(read_file(fd), 6, "three symbols of each of two buffers are found once");
	unsigned parts = 0;
	for (uint32_t i = 0; i < elf.nsymbols; i++)
		parts |= 1u << (elf.symbols[i].part + 3 * (elf.symbols[i].buffer[0] == 'B'));
	is_u64(parts, 077, "both buffers have all parts");
	close(fd);
	int cut = memfd_create("cut", MFD_CLOEXEC);
	bool more = false;
	for (ssize_t n = 0; n < len; n++) {
		uint64_t budget = plenty;
		if (ftruncate(cut, 0) || pwrite(cut, data, (size_t)n, 0) != n)
			break;
		more |= ctp_ppt_elf_read(&elf, cut, &budget) && elf.nsymbols > 6;
	}
	ok(!more, "a truncated file never has more symbols");
	uint64_t budget = 100;
	pwrite(cut, data, (size_t)len, 0) == len ? (void)0 : abort();
	ok(!ctp_ppt_elf_read(&elf, cut, &budget) || !elf.nsymbols, "nothing is read beyond the budget");
	close(cut);
}

/* A file of 2 MB whose search would take long: the budget limits work, too. */
static void test_work(void)
{
	struct elf_byhand e = {0};
	int fd = memfd_create("work", MFD_CLOEXEC);
	elf_buffer(&e, 0);
	elf_symbol(&e, elf_name(&e, "_ppt_stat_Last"), 0);
	elf_write(&e, fd, 1);
	is_u64(read_file(fd), 4, "the symbols of the file are found");
	for (unsigned i = 0; i < 500; i++)
		elf_buffer(&e, i);
	Elf64_Sym again = e.symbols[e.nsymbols - 1];
	for (unsigned i = 0; i < 50000; i++)
		elf_symbol(&e, again.st_name, again.st_value);
	elf_symbol(&e, elf_name(&e, "_ppt_stat_Last"), 0);
	elf_write(&e, fd, 1);
	is_u64(read_file(fd), 1500, "a symbol that is repeated many times ends the search");
	for (unsigned i = 0; i < 50000; i++)
		elf_name(&e, "_ppt_");
	elf_symbol(&e, elf_name(&e, "_ppt_stat_Last"), 0);
	elf_write(&e, fd, 1);
	is_u64(read_file(fd), 0, "names that are no symbols of ppt end the search");
	close(fd);
}

int main(void)
{
	test_names();
	test_work();
	test_file("t/fuzz/corpus-pptelf/lib");
	test_file("t/fuzz/corpus-pptelf/stripped");
	return done_testing();
}
