/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * symbols.c - see symbols.h.
 *
 * Each process has its mappings, sorted; a mapping refers to a module, which is a file by its path and build-id. A text belongs
 * to an offset in a module and is made once. A small cache, by process and address, stands in front; it is void when mappings change.
 */
#include "symbols/symbols.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include "base/pages.h"
#include "symbols/lookup.h"
#include "symbols/sites.h"

enum {
	PROCESSES_MAX = 1024,
	MAPPINGS_MAX = 1024, /* of a process */
	MODULES_MAX = 4096,
	THREADS_MAX = 8192,
	TEXTS_MAX = 1 << 16,
	TEXTS_BYTES = 16 << 20,
	CACHED = 1 << 13,
	PAGE_MIN = 4096, PAGE_MAX = 65536,
};

struct module {
	const char *path; /* with id after it, one block */
	const uint8_t *id;
	uint32_t path_bytes, id_bytes;
	bool id_known;
	uint32_t looked_up; /* its number for the lookup, from 1 on; 0: not asked for yet */
	uint64_t first;     /* lowest offset that was mapped */
};

struct process {
	uint64_t pid;
	uint32_t n;
	size_t room;
	struct mapping {
		uint64_t start, stop, offset;
		uint32_t module;
	} *mappings;
};

struct ctp_symbols {
	struct kept { /* from section to section; all else is forgotten */
		const char *const *dirs;
		size_t ndirs;
		char *bytes; /* pages are taken as they are used */
		struct ctp_lookup *lookup; /* null: no file is opened */
		struct ctp_map modules, threads, texts;
	} kept;
	uint32_t nprocesses, nmodules, nlooked_up, nthreads, ntexts;
	uint32_t changes;   /* of the mappings; a cached text of an earlier count is void */
	uint64_t page_bits; /* the lowest bit is the size of a page */
	size_t used;        /* of bytes */
	struct process processes[PROCESSES_MAX];
	struct module modules[MODULES_MAX];
	struct thread {
		uint64_t tid, pid;
	} threads[THREADS_MAX];
	struct text {
		const struct ctp_str *text;
		uint64_t offset;
		uint32_t module;
	} texts[TEXTS_MAX];
	struct cached {
		uint64_t pid, addr;
		uint32_t changes;
		const struct ctp_str *text;
	} cache[CACHED];
};

/* --- begin and end ------------------------------------------------------------------------------------------------------- */

struct ctp_symbols *ctp_symbols_new(const char *const *debug_dirs, size_t ndirs, struct ctp_err *err)
{
	struct ctp_symbols *s = ctp_pages_new(sizeof *s);
	if (s) {
		s->kept = (struct kept){.dirs = debug_dirs, .ndirs = ndirs, .bytes = ctp_pages_new(TEXTS_BYTES), .lookup = ctp_lookup_new()};
		s->changes = 1;
		bool modules = ctp_map_init(&s->kept.modules, MODULES_MAX), threads = ctp_map_init(&s->kept.threads, THREADS_MAX);
		if (ctp_map_init(&s->kept.texts, TEXTS_MAX) && modules && threads && s->kept.bytes && s->kept.lookup)
			return s;
	}
	ctp_symbols_free(s);
	ctp_err_memory(err);
	return NULL;
}

void ctp_symbols_forget(struct ctp_symbols *s)
{
	if (!s->nprocesses && !s->nthreads)
		return;
	for (uint32_t i = 0; i < s->nprocesses; i++)
		free(s->processes[i].mappings);
	for (uint32_t i = 0; i < s->nmodules; i++)
		free((char *)s->modules[i].path);
	if (s->kept.lookup)
		ctp_lookup_forget(s->kept.lookup);
	const struct kept kept = s->kept;
	ctp_pages_clear(s, sizeof *s);
	s->kept = kept;
	s->changes = 1;
	ctp_map_clear(&s->kept.modules);
	ctp_map_clear(&s->kept.threads);
	ctp_map_clear(&s->kept.texts);
}

void ctp_symbols_without_files(struct ctp_symbols *s)
{
	ctp_lookup_free(s->kept.lookup);
	s->kept.lookup = NULL;
}

void ctp_symbols_free(struct ctp_symbols *s)
{
	if (!s)
		return;
	ctp_symbols_forget(s);
	ctp_map_fini(&s->kept.modules);
	ctp_map_fini(&s->kept.threads);
	ctp_map_fini(&s->kept.texts);
	ctp_pages_free(s->kept.bytes, TEXTS_BYTES);
	ctp_lookup_free(s->kept.lookup);
	ctp_pages_free(s, sizeof *s);
}

/* --- threads ------------------------------------------------------------------------------------------------------------- */

static bool is_thread(const void *s, uint32_t number, const void *tid)
{
	return ((const struct ctp_symbols *)s)->threads[number - 1].tid == *(const uint64_t *)tid;
}

static uint32_t *thread_slot(const struct ctp_symbols *s, uint64_t tid)
{
	return ctp_map_slot(&s->kept.threads, tid, is_thread, s, &tid);
}

static uint64_t number_of(const struct ctp_record *rec, enum ctp_role role)
{
	return ctp_record_number(rec, ctp_class_role(rec->cls, role));
}

static void learn_thread(struct ctp_symbols *s, const struct ctp_record *rec)
{
	uint64_t tid = number_of(rec, CTP_ROLE_THREAD), pid = number_of(rec, CTP_ROLE_PROCESS);
	uint32_t *slot = thread_slot(s, tid);
	if (!tid || !pid || (!*slot && s->nthreads == THREADS_MAX))
		return;
	if (!*slot)
		*slot = ++s->nthreads;
	s->threads[*slot - 1] = (struct thread){tid, pid};
}

uint64_t ctp_symbols_pid(const struct ctp_symbols *s, const struct ctp_record *rec)
{
	uint64_t pid = number_of(rec, CTP_ROLE_PROCESS);
	uint32_t number = pid ? 0 : *thread_slot(s, number_of(rec, CTP_ROLE_THREAD));
	return number ? s->threads[number - 1].pid : pid;
}

/* --- modules ------------------------------------------------------------------------------------------------------------- */

static bool is_module(const void *s, uint32_t number, const void *module)
{
	const struct module *m = &((const struct ctp_symbols *)s)->modules[number - 1], *want = module;
	return m->id_known == want->id_known && m->path_bytes == want->path_bytes && m->id_bytes == want->id_bytes &&
	       !memcmp(m->path, want->path, m->path_bytes) && !memcmp(m->id, want->id, m->id_bytes);
}

static uint32_t *module_slot(const struct ctp_symbols *s, const struct module *m)
{
	const struct ctp_map *map = &s->kept.modules;
	uint64_t hash = ctp_map_bytes(ctp_map_bytes(map->salt, m->path, m->path_bytes), m->id, m->id_bytes);
	return ctp_map_slot(map, ctp_map_pair(map, hash, m->id_known), is_module, s, m);
}

/* The module that a mapping names. False: the record names none. */
static bool read_module(const struct ctp_record *rec, struct module *m)
{
	static const char deleted[] = " (deleted)"; /* the kernel's mark of a file that was removed or replaced */
	int id_field = ctp_class_field(rec->cls, "build_id");
	const struct ctp_str *path = ctp_record_str(rec, ctp_class_role(rec->cls, CTP_ROLE_NAME), CTP_STRING);
	const struct ctp_str *id = ctp_record_str(rec, id_field, CTP_BYTES);
	if (!path || !path->len || path->len > CTP_LOOKUP_PATH_MAX || memchr(path->data, '\0', path->len) ||
	    (id && id->len > CTP_LOOKUP_ID_MAX))
		return false;
	*m = (struct module){.path = path->data, .path_bytes = path->len, .id_known = id_field >= 0, .first = UINT64_MAX};
	m->id = (const uint8_t *)(id ? id->data : "");
	m->id_bytes = id ? id->len : 0;
	size_t more = sizeof deleted - 1;
	if (path->len > more && !memcmp(path->data + path->len - more, deleted, more))
		m->path_bytes -= (uint32_t)more;
	return true;
}

/* The number of the module that a mapping names; -1: none, or no room. */
static int learn_module(struct ctp_symbols *s, const struct ctp_record *rec)
{
	struct module m;
	if (!read_module(rec, &m))
		return -1;
	uint32_t *slot = module_slot(s, &m);
	if (*slot)
		return (int)*slot - 1;
	char *block = s->nmodules < MODULES_MAX ? malloc(m.path_bytes + 1 + m.id_bytes) : NULL;
	if (!block)
		return -1;
	m.id = memcpy(block + m.path_bytes + 1, m.id, m.id_bytes);
	m.path = memcpy(block, m.path, m.path_bytes);
	block[m.path_bytes] = '\0';
	s->modules[s->nmodules] = m;
	*slot = ++s->nmodules;
	return (int)s->nmodules - 1;
}

/* --- mappings ------------------------------------------------------------------------------------------------------------ */

/* The process's number, or nprocesses. */
static uint32_t process_slot(const struct ctp_symbols *s, uint64_t pid)
{
	uint32_t i = 0;
	while (i < s->nprocesses && s->processes[i].pid != pid)
		i++;
	return i;
}

/* How many of the process's mappings begin at addr or before. */
static uint32_t count_upto(const struct process *p, uint64_t addr)
{
	size_t i;
	CTP_ARRAY_FIRST(i, p->n, p->mappings[i].start > addr);
	return (uint32_t)i;
}

/* The mapping replaces those that it overlaps. False: no room, or nothing changes. */
static bool put_mapping(struct process *p, const struct mapping *m)
{
	assert(m->start < m->stop);
	uint32_t at = count_upto(p, m->start), end = count_upto(p, m->stop - 1);
	at -= at && p->mappings[at - 1].stop > m->start;
	if (end - at == 1 && !memcmp(&p->mappings[at], m, sizeof *m))
		return false;
	if (at == end && !CTP_ARRAY_RESERVE(p->mappings, p->room, p->n + 1, MAPPINGS_MAX))
		return false;
	memmove(p->mappings + at + 1, p->mappings + end, (p->n - end) * sizeof *m);
	p->mappings[at] = *m;
	p->n = p->n - (end - at) + 1;
	assert(p->n <= p->room && (!at || p->mappings[at - 1].stop <= m->start) && (at + 1 == p->n || m->stop <= p->mappings[at + 1].start));
	return true;
}

static void learn_mapping(struct ctp_symbols *s, const struct ctp_record *rec)
{
	uint64_t pid = number_of(rec, CTP_ROLE_PROCESS);
	struct mapping m;
	memset(&m, 0, sizeof m); /* padding too: put_mapping compares bytes */
	m.start = ctp_record_number(rec, ctp_class_field(rec->cls, "start"));
	m.stop = ctp_record_number(rec, ctp_class_field(rec->cls, "stop"));
	m.offset = ctp_record_number(rec, ctp_class_field(rec->cls, "offset"));
	int module = m.start < m.stop ? learn_module(s, rec) : -1;
	uint32_t slot = process_slot(s, pid);
	if (module < 0 || slot == PROCESSES_MAX)
		return;
	s->nprocesses += slot == s->nprocesses;
	s->processes[slot].pid = pid;
	m.module = (uint32_t)module;
	s->changes += put_mapping(&s->processes[slot], &m);
	s->page_bits |= m.start | m.stop | m.offset;
	if (s->modules[module].first > m.offset)
		s->modules[module].first = m.offset;
}

void ctp_symbols_learn(struct ctp_symbols *s, const struct ctp_record *rec)
{
	if (rec->cls->kind == CTP_KIND_MAPPING)
		learn_mapping(s, rec);
	else if (rec->cls->kind == CTP_KIND_THREAD)
		learn_thread(s, rec);
}

static const struct mapping *mapping_in(const struct process *p, uint64_t addr)
{
	uint32_t n = count_upto(p, addr);
	return n && addr < p->mappings[n - 1].stop ? &p->mappings[n - 1] : NULL;
}

/* For a process without mappings, the mapping that all processes with the address agree on. */
static const struct mapping *find_mapping(const struct ctp_symbols *s, uint64_t pid, uint64_t addr)
{
	uint32_t slot = process_slot(s, pid);
	if (pid && slot < s->nprocesses)
		return mapping_in(&s->processes[slot], addr);
	const struct mapping *m = NULL;
	for (uint32_t i = 0; i < s->nprocesses; i++) {
		const struct mapping *other = mapping_in(&s->processes[i], addr);
		if (m && other && (other->module != m->module || other->start - other->offset != m->start - m->offset))
			return NULL;
		m = other ? other : m;
	}
	return m;
}

uint32_t ctp_symbols_locate(const struct ctp_symbols *s, uint64_t pid, uint64_t addr, uint64_t *offset)
{
	const struct mapping *m = find_mapping(s, pid, addr);
	*offset = m ? addr - m->start + m->offset : 0;
	return m ? m->module + 1 : 0;
}

/* --- texts --------------------------------------------------------------------------------------------------------------- */

static uint64_t page_size(const struct ctp_symbols *s)
{
	uint64_t page = s->page_bits & -s->page_bits;
	return page < PAGE_MIN ? PAGE_MIN : page > PAGE_MAX ? PAGE_MAX : page;
}

static void find_place(struct ctp_symbols *s, struct module *m, uint64_t offset, bool within, struct ctp_module_place *place)
{
	struct ctp_module_at at = {.offset = offset, .first = m->first, .page = page_size(s), .within = within};
	struct ctp_module_want want = {.path = m->path, .id = m->id, .id_bytes = m->id_bytes, .id_known = m->id_known,
	                               .dirs = s->kept.dirs, .ndirs = s->kept.ndirs};
	*place = (struct ctp_module_place){.line = 0};
	if (s->kept.lookup && !m->looked_up && s->nlooked_up < CTP_LOOKUP_MODULES)
		m->looked_up = ++s->nlooked_up;
	if (s->kept.lookup && m->looked_up)
		ctp_lookup_find(s->kept.lookup, m->looked_up - 1, &want, &at, place);
}

/* Control characters become '?': a text may be shown on a terminal. */
static size_t spell(struct ctp_symbols *s, struct module *m, uint64_t offset, char text[CTP_SITE_TEXT_MAX + 1])
{
	struct ctp_module_place place;
	const char *slash = strrchr(m->path, '/'), *name = slash ? slash + 1 : m->path;
	find_place(s, m, offset, false, &place);
	int n = place.line ? snprintf(text, CTP_SITE_TEXT_MAX + 1, "%s:%u", place.file, place.line) :
	                     snprintf(text, CTP_SITE_TEXT_MAX + 1, "%.255s+0x%llx", name, (unsigned long long)offset);
	if (place.function[0])
		n += snprintf(text + n, CTP_SITE_TEXT_MAX + 1 - (size_t)n, ":%s", place.function);
	for (int i = 0; i < n; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			text[i] = '?';
	return (size_t)n;
}

_Static_assert(CTP_MODULE_FILE_MAX + 24 + CTP_DEMANGLED_MAX <= CTP_SITE_TEXT_MAX, "a text has room");

static bool is_text(const void *s, uint32_t number, const void *text)
{
	const struct text *t = &((const struct ctp_symbols *)s)->texts[number - 1], *want = text;
	return t->offset == want->offset && t->module == want->module;
}

const struct ctp_str *ctp_symbols_text(struct ctp_symbols *s, uint32_t file, uint64_t offset)
{
	char text[CTP_SITE_TEXT_MAX + 1];
	uint32_t module = file - 1;
	if (module >= s->nmodules)
		return NULL;
	struct text want = {.offset = offset, .module = module};
	uint32_t *slot = ctp_map_slot(&s->kept.texts, ctp_map_pair(&s->kept.texts, offset, module), is_text, s, &want);
	if (*slot || s->ntexts == TEXTS_MAX)
		return *slot ? s->texts[*slot - 1].text : NULL;
	size_t len = spell(s, &s->modules[module], offset, text);
	size_t bytes = (sizeof(struct ctp_str) + len + 1 + 7) & ~(size_t)7;
	if (bytes > TEXTS_BYTES - s->used)
		return NULL;
	struct ctp_str *str = (struct ctp_str *)(s->kept.bytes + s->used);
	str->len = (uint32_t)len;
	memcpy(str->data, text, len);
	str->data[len] = '\0';
	s->used += bytes;
	want.text = str;
	s->texts[s->ntexts++] = want;
	*slot = s->ntexts;
	return str;
}

const struct ctp_str *ctp_symbols_find(struct ctp_symbols *s, uint64_t pid, uint64_t addr)
{
	const struct ctp_map *map = &s->kept.texts;
	struct cached *c = &s->cache[ctp_spread(ctp_map_pair(map, addr, pid), map->salt, CACHED)];
	if (c->changes == s->changes && c->addr == addr && c->pid == pid)
		return c->text;
	uint64_t offset;
	uint32_t file = ctp_symbols_locate(s, pid, addr, &offset);
	*c = (struct cached){.pid = pid, .addr = addr, .changes = s->changes, .text = ctp_symbols_text(s, file, offset)};
	return c->text;
}

/* The last component of a path. */
static size_t name_of(const char *path, size_t len, const char **name)
{
	const char *slash = memrchr(path, '/', len);
	*name = slash ? slash + 1 : path;
	return len - (size_t)(*name - path);
}

uint32_t ctp_symbols_begins(struct ctp_symbols *s, uint64_t addr, const char *file, size_t len)
{
	struct ctp_module_place place;
	uint64_t offset;
	uint32_t module = ctp_symbols_locate(s, 0, addr, &offset);
	if (!module)
		return 0;
	find_place(s, &s->modules[module - 1], offset, true, &place);
	const char *ours, *theirs;
	size_t our = name_of(file, len, &ours), their = name_of(place.file, strlen(place.file), &theirs);
	return our == their && !memcmp(ours, theirs, our) ? place.line : 0;
}
