/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ppt-symbols.c - the mappings by file, the symbols of each file, and the address at which it was loaded.
 *
 * A child searches, because the process can hold the lock on its mappings (ppt-child.c). A file on a file system that may never
 * answer is read by another child, which is left alone after a while.
 */
#include "ppt/ppt-symbols.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/array.h"
#include "collect/mapped-file.h"
#include "collect/proc-maps.h"
#include "ppt/ppt-layout.h"

enum { FILES_MAX = 4096, SLOW_MS = 2500 /* less than the patience with this child */, FIND_MS = 60000, LABEL_BYTES = 160 };
static const uint64_t read_max = UINT64_C(1) << 33; /* bytes, of all files together */

struct maps {
	struct ctp_mapping *map; /* paths are copies */
	size_t n, room;
};

/* Texts, each ended by a NUL. */
struct texts {
	size_t len, room;
	char *at;
};

/* What the child has found: memory that we share, at the same address in both, so that pointers into it are good in both. */
struct ctp_ppt_search {
	pid_t pid;
	enum ctp_status status;
	struct ctp_err err;
	size_t n, nplain;
	struct ctp_ppt_buffer buffer[CTP_PPT_BUFFERS_MAX];
	uint64_t plain[FILES_MAX]; /* files that are without buffers, as was found now */
	struct texts names, said, deleted; /* files and labels; notices; files that were deleted and cannot be opened */
	char name_bytes[8 << 20], said_bytes[65536], deleted_bytes[65536 + 1];
};

struct search {
	struct ctp_ppt_search *found;
	pid_t pid;
	int root;
	uint64_t budget, page;
	const struct ctp_notice *notice;
	struct ctp_distinct *plain; /* files without buffers; null: none is known */
	struct ctp_ppt_elf *elf; /* shared with a child */
	const struct ctp_ppt_symbol *whole[CTP_PPT_BUFFERS_MAX][CTP_PPT_PARTS]; /* of that, those that have all their parts */
	uint32_t nwhole;
	bool full;
};

/* --- mappings -------------------------------------------------------------------------------------------------------------- */

static int compare_maps(const void *a, const void *b)
{
	const struct ctp_mapping *x = a, *y = b;
	const uint64_t keys[][2] = {
		{x->file.major, y->file.major}, {x->file.minor, y->file.minor}, {x->file.ino, y->file.ino}, {x->start, y->start}};
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (keys[i][0] != keys[i][1])
			return keys[i][0] < keys[i][1] ? -1 : 1;
	return 0;
}

static bool add_map(struct maps *maps, const struct ctp_mapping *map)
{
	if (!CTP_ARRAY_RESERVE(maps->map, maps->room, maps->n + 1, SIZE_MAX / sizeof *map))
		return false;
	maps->map[maps->n] = *map;
	maps->map[maps->n].path = strdup(map->path);
	return maps->map[maps->n++].path;
}

/* The mappings of files, sorted by file. */
static enum ctp_status read_maps(struct maps *maps, pid_t pid, struct ctp_err *err)
{
	struct ctp_proc_maps in;
	struct ctp_mapping map;
	bool good = true;
	if (!ctp_proc_maps_open(&in, pid))
		return ctp_err_sys(err, "process %d: its mappings", (int)pid);
	errno = 0;
	while (good && ctp_proc_maps_next(&in, &map))
		if (map.file.ino)
			good = add_map(maps, &map);
	good &= errno != ENOMEM;
	ctp_proc_maps_close(&in);
	if (maps->n)
		qsort(maps->map, maps->n, sizeof *maps->map, compare_maps);
	return good ? CTP_OK : ctp_err_memory(err);
}

/* --- one file -------------------------------------------------------------------------------------------------------------- */

static const struct ctp_mapped_file *slow_file; /* of the search here; a child has them from its fork on */
static struct search *slow_search;

/* In a child of the child: it has no descriptor but its own. */
static void read_slow_here(void *area)
{
	struct ctp_mapped_file f = *slow_file;
	bool later;
	f.root = ctp_mapped_root(f.pid);
	int fd = ctp_mapped_open(&f, false, &later);
	*(bool *)area = fd >= 0 && ctp_ppt_elf_read(slow_search->elf, fd, &slow_search->budget);
}

/* A file system that never answers holds up only a child of its own. */
static bool read_slow(struct search *s, const struct ctp_mapped_file *f)
{
	struct ctp_ppt_child child;
	slow_file = f;
	slow_search = s;
	bool good = ctp_ppt_child_start(&child, sizeof good) && ctp_ppt_child_call(&child, read_slow_here, SLOW_MS) &&
	            *(bool *)child.area;
	ctp_ppt_child_stop(&child);
	return good;
}

/* A number for a file, from its inode and its path. */
static uint64_t key_of(const struct ctp_mapping *map)
{
	uint64_t parts[] = {map->file.major, map->file.minor, map->file.ino};
	return ctp_map_bytes(ctp_map_bytes(0, parts, sizeof parts), map->path, strlen(map->path));
}

/* The copy; null: there is no room. */
static const char *add_text(struct texts *texts, const char *text)
{
	size_t bytes = strlen(text) + 1;
	if (bytes > texts->room - texts->len)
		return NULL;
	texts->len += bytes;
	return memcpy(texts->at + texts->len - bytes, text, bytes);
}

/* The kernel opens a deleted file for root alone, unless it is the program itself. */
static void note_unread(struct search *s, const char *path)
{
	size_t len = ctp_mapped_deleted(path);
	if (path[0] != '/')
		return;
	if (!len) {
		ctp_notice_say(s->notice, "%s: cannot be read, and may have buffers", path);
		return;
	}
	ctp_notice_say(s->notice, "%.*s: was deleted, and cannot be opened without root; it may have buffers", (int)len, path);
	add_text(&s->found->deleted, path);
}

/* Reads the symbols of a file into s->elf. False: it could not be read. */
static bool read_file(struct search *s, const struct ctp_mapping *map)
{
	struct ctp_mapped_file f = {.pid = s->pid, .root = s->root, .map = *map};
	bool later, good;
	s->elf->nsymbols = 0;
	int fd = ctp_mapped_open(&f, true, &later);
	good = fd >= 0 ? ctp_ppt_elf_read(s->elf, fd, &s->budget) : later && read_slow(s, &f);
	/*
	 * Another process may be able to open a file that could not be opened here. A file that was waited for is not waited for
	 * again.
	 */
	bool no_memory = !good && errno == ENOMEM;
	if (s->found->nplain < FILES_MAX && (fd >= 0 || later) && !(good && s->elf->nsymbols) && !no_memory)
		s->found->plain[s->found->nplain++] = key_of(map);
	if (fd >= 0)
		close(fd);
	else if (!good)
		note_unread(s, map->path);
	errno = no_memory ? ENOMEM : 0;
	return good;
}

/* Whether the file is at this address, from this offset on. The mappings are in order. */
static bool lies_at(const struct ctp_mapping *map, size_t n, uint64_t at, uint64_t offset)
{
	size_t i;
	CTP_ARRAY_FIRST(i, n, map[i].stop > at);
	return i < n && map[i].start <= at && map[i].offset + (at - map[i].start) == offset;
}

/* A file that was loaded as a program has all its segments in their places; a file that is only mapped to be read has not. */
static bool is_loaded(const struct search *s, const struct ctp_mapping *map, size_t n, uint64_t bias)
{
	for (uint32_t i = 0; i < s->elf->nsegments; i++) {
		const struct ctp_ppt_segment *seg = &s->elf->segments[i];
		uint64_t in_page = seg->address % s->page;
		if (seg->file_bytes && !lies_at(map, n, bias + seg->address - in_page, seg->offset - in_page))
			return false;
	}
	return true;
}

static bool is_inside(const struct ctp_ppt_elf *elf, const struct ctp_ppt_symbol *sym)
{
	for (uint32_t i = 0; i < elf->nsegments; i++) {
		const struct ctp_ppt_segment *seg = &elf->segments[i];
		if (sym->value >= seg->address && sym->value - seg->address < seg->bytes &&
		    seg->bytes - (sym->value - seg->address) >= sizeof(uint32_t) && (seg->writable || sym->part == CTP_PPT_JSON))
			return true;
	}
	return false;
}

/* --- buffers --------------------------------------------------------------------------------------------------------------- */

static const struct ctp_ppt_symbol *find_part(const struct ctp_ppt_elf *elf, const struct ctp_ppt_symbol *of, enum ctp_ppt_part part)
{
	for (uint32_t i = 0; i < elf->nsymbols; i++) {
		const struct ctp_ppt_symbol *s = &elf->symbols[i];
		if (s->part == part && s->by_document == of->by_document && !strcmp(s->buffer, of->buffer) && is_inside(elf, s))
			return s;
	}
	return NULL;
}

/* Finds the buffers with all three parts. Called once for a file, which may be loaded many times. */
static void find_whole(struct search *s)
{
	s->nwhole = 0;
	for (uint32_t i = 0; i < s->elf->nsymbols && s->nwhole < CTP_PPT_BUFFERS_MAX; i++) {
		const struct ctp_ppt_symbol *sym = &s->elf->symbols[i], **parts = s->whole[s->nwhole];
		if (sym->part != CTP_PPT_STAT || find_part(s->elf, sym, CTP_PPT_STAT) != sym)
			continue;
		parts[CTP_PPT_STAT] = sym;
		parts[CTP_PPT_HMEM] = find_part(s->elf, sym, CTP_PPT_HMEM);
		parts[CTP_PPT_JSON] = find_part(s->elf, sym, CTP_PPT_JSON);
		s->nwhole += parts[CTP_PPT_HMEM] && parts[CTP_PPT_JSON];
	}
}

/* file: the path of the file that was added last, or another one. */
static void add_buffer(struct search *s, const struct ctp_ppt_symbol *const parts[CTP_PPT_PARTS], const char *file, uint64_t bias)
{
	struct ctp_ppt_search *found = s->found;
	const struct ctp_ppt_buffer *last = found->n ? &found->buffer[found->n - 1] : NULL;
	struct ctp_ppt_buffer b = {.json_bytes = parts[CTP_PPT_JSON]->bytes};
	for (enum ctp_ppt_part part = 0; part < CTP_PPT_PARTS; part++)
		b.at[part] = bias + parts[part]->value;
	if (b.at[CTP_PPT_STAT] % sizeof(uint32_t) || b.at[CTP_PPT_HMEM] % sizeof(uint32_t))
		return;
	memcpy(b.name, parts[CTP_PPT_STAT]->buffer, sizeof b.name);
	b.file = last && !strcmp(last->file, file) ? last->file : add_text(&found->names, file);
	s->full = found->n == CTP_PPT_BUFFERS_MAX || !b.file;
	/* For ctp_ppt_memory_poke. */
	assert(b.at[CTP_PPT_STAT] % sizeof(uint32_t) == 0 && b.at[CTP_PPT_HMEM] % sizeof(uint32_t) == 0);
	if (!s->full)
		found->buffer[found->n++] = b;
}

/* The mappings of one file. False: out of memory. */
static bool look_at(struct search *s, const struct ctp_mapping *map, size_t n)
{
	bool exec = false;
	for (size_t i = 0; i < n; i++)
		exec |= map[i].exec;
	if (!exec || (s->plain && ctp_distinct_note(s->plain, key_of(map))))
		return true;
	errno = 0;
	if (!read_file(s, map))
		return errno != ENOMEM;
	if (!s->elf->nsymbols)
		return true;
	const struct ctp_ppt_segment *first = &s->elf->segments[0];
	uint64_t in_page = first->address % s->page;
	find_whole(s);
	for (size_t i = 0; i < n && s->nwhole && !s->full; i++) {
		uint64_t bias = s->elf->fixed ? 0 : map[i].start - (first->address - in_page);
		if (map[i].offset != first->offset - in_page || map[i].start != bias + first->address - in_page ||
		    !is_loaded(s, map, n, bias))
			continue;
		for (uint32_t k = 0; k < s->nwhole && !s->full; k++)
			add_buffer(s, s->whole[k], map->path, bias);
	}
	return true;
}

static int compare_buffers(const void *a, const void *b)
{
	const struct ctp_ppt_buffer *x = a, *y = b;
	int by_name = strcmp(x->name, y->name), by_file = strcmp(x->file, y->file);
	return by_name ? by_name : by_file ? by_file : (x->at[0] > y->at[0]) - (x->at[0] < y->at[0]);
}

/* A label has the path of the file if another file has the same last name. */
static const char *label_of(struct ctp_ppt_search *all, const struct ctp_ppt_buffer *b)
{
	char label[LABEL_BYTES + 1 + sizeof b->name];
	const char *file = basename(b->file);
	bool shared = false;
	for (size_t i = 0; i < all->n; i++) {
		const struct ctp_ppt_buffer *other = &all->buffer[i];
		if (strcmp(other->name, b->name) || !strcmp(other->file, b->file))
			continue;
		shared = true;
		if (!strcmp(basename(other->file), basename(b->file)))
			file = b->file;
	}
	size_t len = strlen(file);
	file += len > LABEL_BYTES ? len - LABEL_BYTES : 0;
	snprintf(label, sizeof label, "%s:%s", file, b->name);
	const char *copy = shared ? add_text(&all->names, label) : NULL;
	return copy ? copy : b->name;
}

static enum ctp_status look_at_all(struct search *s, struct ctp_err *err)
{
	struct maps maps = {0};
	enum ctp_status status = read_maps(&maps, s->pid, err);
	size_t files = 0;
	for (size_t i = 0, n; status == CTP_OK && i < maps.n && files < FILES_MAX; i += n, files++) {
		for (n = 1; i + n < maps.n && ctp_map_file_same(&maps.map[i].file, &maps.map[i + n].file); n++)
			;
		ctp_ppt_child_progress();
		if (!look_at(s, maps.map + i, n))
			status = ctp_err_memory(err);
	}
	if (files == FILES_MAX || !s->budget)
		ctp_notice_say(s->notice, "process %d: has mapped more files than are looked at", (int)s->pid);
	if (s->full)
		ctp_notice_say(s->notice, "process %d: has more than %d buffers, and these are the first", (int)s->pid, CTP_PPT_BUFFERS_MAX);
	return status;
}

/* --- the child ------------------------------------------------------------------------------------------------------------ */

static struct ctp_distinct *plain_here; /* the caller's; the child has a copy of it from its fork on */

static void say_later(void *arg, const char *text) { add_text(arg, text); }

/* The child ends after its search, and nothing is freed. */
static void find_here(void *area)
{
	struct ctp_ppt_search *found = *(struct ctp_ppt_search **)area;
	struct ctp_notice notice = {.say = say_later, .arg = &found->said};
	struct search s = {
		.found = found, .pid = found->pid, .budget = read_max, .page = (uint64_t)sysconf(_SC_PAGESIZE),
		.notice = &notice, .plain = plain_here,
	};
	s.elf = mmap(NULL, sizeof *s.elf, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	s.root = ctp_mapped_root(found->pid);
	found->status = s.elf == MAP_FAILED ? ctp_err_memory(&found->err) : look_at_all(&s, &found->err);
}

/* --- all of it ------------------------------------------------------------------------------------------------------------- */

static enum ctp_status search(struct ctp_ppt_search *found, struct ctp_err *err)
{
	struct ctp_ppt_child child;
	if (!ctp_ppt_child_start(&child, sizeof found))
		return ctp_err_sys(err, "a child that looks for buffers");
	*(struct ctp_ppt_search **)child.area = found;
	bool answered = ctp_ppt_child_call(&child, find_here, FIND_MS);
	ctp_ppt_child_stop(&child);
	if (!answered)
		return ctp_err_set(err, "process %d: its mappings, or files of them, do not answer", (int)found->pid);
	*err = found->err;
	return found->status;
}

static enum ctp_status take_found(struct ctp_ppt_buffers *all, struct ctp_distinct *plain, const struct ctp_notice *notice,
                                  struct ctp_err *err)
{
	struct ctp_ppt_search *found = all->found;
	if (search(found, err))
		return CTP_FAILED;
	for (size_t at = 0; at < found->said.len; at += strlen(found->said.at + at) + 1)
		ctp_notice_say(notice, "%s", found->said.at + at);
	for (size_t i = 0; plain && i < found->nplain; i++)
		ctp_distinct_add(plain, found->plain[i]);
	qsort(found->buffer, found->n, sizeof *found->buffer, compare_buffers);
	for (size_t i = 0; i < found->n; i++)
		found->buffer[i].label = label_of(found, &found->buffer[i]);
	all->buffer = found->buffer;
	all->n = found->n;
	all->deleted = found->deleted.at;
	return CTP_OK;
}

enum ctp_status ctp_ppt_symbols_find(struct ctp_ppt_buffers *all, pid_t pid, struct ctp_distinct *plain,
                                     const struct ctp_notice *notice, struct ctp_err *err)
{
	const int flags = MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE;
	struct ctp_ppt_search *found = mmap(NULL, sizeof *found, PROT_READ | PROT_WRITE, flags, -1, 0);
	*all = (struct ctp_ppt_buffers){0};
	if (found == MAP_FAILED)
		return ctp_err_memory(err);
	all->found = found;
	found->pid = pid;
	found->names = (struct texts){.at = found->name_bytes, .room = sizeof found->name_bytes};
	found->said = (struct texts){.at = found->said_bytes, .room = sizeof found->said_bytes};
	found->deleted = (struct texts){.at = found->deleted_bytes, .room = sizeof found->deleted_bytes - 1};
	plain_here = plain;
	enum ctp_status status = take_found(all, plain, notice, err);
	if (status)
		ctp_ppt_symbols_free(all);
	return status;
}

void ctp_ppt_symbols_free(struct ctp_ppt_buffers *all)
{
	if (all->found)
		munmap(all->found, sizeof *all->found);
	*all = (struct ctp_ppt_buffers){0};
}

/* --- its description ------------------------------------------------------------------------------------------------------- */

/* A pointer to the text, as the generated code has it; or the text itself, which is an object in JSON. */
static char *read_json(const struct ctp_ppt_memory *m, const struct ctp_ppt_buffer *b, size_t *len, struct ctp_err *err)
{
	uint64_t at = b->at[CTP_PPT_JSON], pointer;
	if (ctp_ppt_memory_read(m, at, &pointer, sizeof pointer) != sizeof pointer) {
		ctp_err_set(err, "its description cannot be read");
		return NULL;
	}
	bool is_text = b->json_bytes != sizeof pointer && *(const char *)&pointer == '{';
	char *text = ctp_ppt_memory_text(m, is_text ? at : pointer, CTP_PPT_JSON_MAX, len, err);
	if (!text)
		ctp_err_before(err, "its description ");
	return text;
}

struct ctp_ppt_layout *ctp_ppt_symbols_layout(const struct ctp_ppt_memory *m, const struct ctp_ppt_buffer *b, char **json,
                                              size_t *len, struct ctp_err *err)
{
	size_t bytes;
	char *text = read_json(m, b, &bytes, err);
	struct ctp_ppt_layout *layout = text ? ctp_ppt_layout_parse(text, bytes, err) : NULL;
	if (!layout || !json) {
		free(text);
		return layout;
	}
	*json = text;
	*len = bytes;
	return layout;
}

/* --- buffers that are named ------------------------------------------------------------------------------------------------ */

static bool ends_with(const char *path, size_t len, const char *end, size_t end_len)
{
	return end_len && end_len <= len && !memcmp(path + len - end_len, end, end_len) &&
	       (end_len == len || end[0] == '/' || path[len - end_len - 1] == '/');
}

static bool is_file(const char *path, const char *wanted, size_t wanted_len)
{
	size_t len = strlen(path), before_mark = ctp_mapped_deleted(path);
	for (; wanted_len > 2 && !strncmp(wanted, "./", 2); wanted_len -= 2)
		wanted += 2;
	return ends_with(path, len, wanted, wanted_len) || (before_mark && ends_with(path, before_mark, wanted, wanted_len));
}

bool ctp_ppt_chosen_by(const char *wanted, const char *buffer, const char *file)
{
	const char *colon = strrchr(wanted, ':');
	if (!strcmp(wanted, buffer))
		return true;
	return colon && file && !strcmp(colon + 1, buffer) && is_file(file, wanted, (size_t)(colon - wanted));
}

bool ctp_ppt_chosen(char *const *names, const struct ctp_ppt_buffer *b)
{
	char *const *name = names;
	while (*name && !ctp_ppt_chosen_by(*name, b->name, b->file))
		name++;
	return !names[0] || *name;
}

size_t ctp_ppt_chosen_count(const char *name, const struct ctp_ppt_buffers *all)
{
	size_t n = 0;
	for (size_t i = 0; i < all->n; i++)
		n += ctp_ppt_chosen_by(name, all->buffer[i].name, all->buffer[i].file);
	return n;
}

/* A deleted file that cannot be opened and may have the buffer: FILE of FILE:BUFFER, else the first one. Null: none. */
static const char *find_deleted(const struct ctp_ppt_buffers *all, const char *wanted)
{
	const char *colon = wanted ? strrchr(wanted, ':') : NULL, *path = all->deleted;
	while (path && *path && colon && !is_file(path, wanted, (size_t)(colon - wanted)))
		path += strlen(path) + 1;
	return path && *path ? path : NULL;
}

static enum ctp_status say_deleted(const char *wanted, const char *path, pid_t pid, struct ctp_err *err)
{
	return ctp_err_set(err, "%s%sprocess %d: %.*s was deleted, and cannot be opened without root, so its buffers are not known",
	                   wanted ? wanted : "", wanted ? ": " : "", (int)pid, (int)ctp_mapped_deleted(path), path);
}

enum ctp_status ctp_ppt_chosen_check(char *const *names, const struct ctp_ppt_buffers *all, pid_t pid, struct ctp_err *err)
{
	for (; *names; names++) {
		size_t n = ctp_ppt_chosen_count(*names, all);
		const char *deleted = n ? NULL : find_deleted(all, *names);
		if (deleted)
			return say_deleted(*names, deleted, pid, err);
		if (!n)
			return ctp_err_set(err, "%s: process %d has no such buffer; ctp-ppt list %d shows them", *names, (int)pid, (int)pid);
	}
	const char *deleted = all->n ? NULL : find_deleted(all, NULL);
	if (deleted)
		return say_deleted(NULL, deleted, pid, err);
	if (!all->n)
		return ctp_err_set(err, "process %d: no ppt buffers in it: its program and its libraries have none of their symbols", (int)pid);
	return CTP_OK;
}
