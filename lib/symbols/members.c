/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * members.c - see members.h.
 *
 * The child walks through all units. A type is wanted by its full name; types that no unit has so are looked for by the last part
 * of their name in a second walk. What it finds goes to the parent: a packet for each member, one for each type, and one at the end.
 */
#include "symbols/members.h"

#ifndef HAVE_LIBDW

enum ctp_status ctp_members_find(const char *path, struct ctp_members_want *want, uint32_t nwant,
                                 void (*found)(void *arg, const struct ctp_member *member), void *arg, struct ctp_err *err)
{
	(void)want, (void)nwant, (void)found, (void)arg;
	return ctp_err_set(err, "%s: this build cannot read debug information; it was made without libdw", path);
}

#else

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "symbols/confine.h"
#include "symbols/debugfile.h"
#include "symbols/die.h"
#include "symbols/spelling.h"
#include "symbols/type-members.h"

enum { DEPTH_MAX = 32, PATH_BYTES = 1024, ASTRAY_MAX = 64 };

/* How the child ended: its last packet. */
enum verdict { DONE, NO_FILE, NO_DEBUG, NOT_LINKED, TOO_MANY };

/* A wanted type, in the order of names. */
struct wanted {
	char name[PATH_BYTES]; /* as spelling.h has it */
	uint32_t want, size, other_size;
	bool sort; /* it had one: a typedef for a type with a name is not meant */
	bool found;
	char near[CTP_MEMBERS_NEAR][CTP_MEMBERS_NEAR_BYTES];
};

/* What a type came to, as a packet. */
struct answer {
	uint32_t want, found, other_size;
	char near[CTP_MEMBERS_NEAR][CTP_MEMBERS_NEAR_BYTES];
};

_Static_assert(sizeof(struct answer) != sizeof(struct ctp_member), "packets are told apart by their size");

struct walk {
	struct wanted *wanted;
	uint32_t nwanted, nfound;
	bool last_part;       /* look for the last part of names only */
	struct wanted *astray[ASTRAY_MAX]; /* look for names that are near those of these */
	uint32_t nastray;
	char path[PATH_BYTES]; /* the scopes around the DIE at hand: "ns::Outer::" */
	struct ctp_type_members of;
};

/* --- names --------------------------------------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct wanted *)a)->name, ((const struct wanted *)b)->name);
}

static struct wanted *sort_wanted(const struct ctp_members_want *want, uint32_t n)
{
	struct wanted *list = calloc(n + 1, sizeof *list);
	for (uint32_t i = 0; list && i < n; i++) {
		list[i].sort = ctp_spelling(list[i].name, sizeof list[i].name, want[i].type);
		list[i].want = i;
		list[i].size = want[i].size;
	}
	if (list)
		qsort(list, n, sizeof *list, compare);
	return list;
}

/* The first of those with this name; null: nobody wants it. */
static struct wanted *first_wanted(const struct walk *w, const char *name)
{
	size_t i;
	CTP_ARRAY_FIRST(i, w->nwanted, strcmp(w->wanted[i].name, name) >= 0);
	return i < w->nwanted && !strcmp(w->wanted[i].name, name) ? &w->wanted[i] : NULL;
}

/* --- types --------------------------------------------------------------------------------------------------------------- */

/* A type of the same size is nearer than one of another. */
static void note_near(struct walk *w, const char *name, Dwarf_Word size)
{
	for (uint32_t i = 0; i < w->nastray; i++) {
		struct wanted *one = w->astray[i];
		char *near = one->near[one->size != size];
		if (!*near && strcmp(one->near[0], name) && ctp_spelling_is_near(one->name, name))
			snprintf(near, CTP_MEMBERS_NEAR_BYTES, "%s", name);
	}
}

/* Gives a type to all that want it. */
static bool give_type(struct walk *w, Dwarf_Die *die, Dwarf_Word size, const char *name, bool is_alias)
{
	struct wanted *end = w->wanted + w->nwanted;
	for (struct wanted *one = first_wanted(w, name); one && one < end && !strcmp(one->name, name); one++) {
		if (one->found || (is_alias && one->sort && (!ctp_die_is_structure(die) || dwarf_diename(die))))
			continue;
		if (one->size != size) {
			one->other_size = (uint32_t)size;
			continue;
		}
		one->found = true;
		w->nfound++;
		if (ctp_die_is_structure(die) && !ctp_type_members_put(&w->of, die, one->want, one->size))
			return false;
	}
	return true;
}

static bool try_type(struct walk *w, Dwarf_Die *die, const char *name, bool is_alias)
{
	Dwarf_Word size;
	char plain[PATH_BYTES];
	if (dwarf_hasattr(die, DW_AT_declaration) || dwarf_aggregate_size(die, &size))
		return true;
	if (w->nastray) {
		note_near(w, name, size);
		return true;
	}
	if (!strpbrk(name, "< "))
		return give_type(w, die, size, name, is_alias);
	ctp_spelling(plain, sizeof plain, name);
	return give_type(w, die, size, plain, is_alias) &&
	       (!w->last_part || !ctp_spelling_unscope(plain) || give_type(w, die, size, plain, is_alias));
}

/* What has a name and a size but is no structure: an alias of one, also through others, or a number. */
static bool try_other(struct walk *w, Dwarf_Die *die, int tag)
{
	Dwarf_Die type;
	char path[2 * PATH_BYTES];
	bool is_alias = tag == DW_TAG_typedef || tag == DW_TAG_template_alias;
	const char *name = is_alias || tag == DW_TAG_base_type || tag == DW_TAG_enumeration_type ? dwarf_diename(die) : NULL;
	if (!name || (is_alias && !ctp_die_type(die, &type)))
		return true;
	snprintf(path, sizeof path, "%s%s", w->last_part ? "" : w->path, name);
	return try_type(w, is_alias ? &type : die, path, is_alias);
}

/* Types are in units, in namespaces, in types, and in functions. */
static bool holds_types(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type ||
	       tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block || tag == DW_TAG_module;
}

/* False: there are too many. */
static bool walk_below(struct walk *w, Dwarf_Die *die, int depth)
{
	Dwarf_Die child;
	size_t len = strlen(w->path);
	if (depth > DEPTH_MAX || dwarf_child(die, &child))
		return true;
	do {
		int tag = dwarf_tag(&child);
		if (++w->of.dies > CTP_DIES_MAX)
			return false;
		if (!holds_types(tag)) {
			if (!try_other(w, &child, tag))
				return false;
			continue;
		}
		const char *name = dwarf_diename(&child);
		bool scope = name && tag != DW_TAG_subprogram && tag != DW_TAG_lexical_block;
		if (scope && strlen(name) + 3 < sizeof w->path - len)
			strcpy(w->path + len, name);
		if (scope && ctp_die_is_structure(&child) && !try_type(w, &child, w->last_part ? name : w->path, false))
			return false;
		if (w->path[len])
			strcat(w->path, "::");
		if (!walk_below(w, &child, depth + 1))
			return false;
		w->path[len] = '\0';
	} while (!dwarf_siblingof(&child, &child));
	return true;
}

static bool walk_units(struct walk *w, Dwarf *dwarf)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die, split;
	uint8_t type;
	while (w->nfound < w->nwanted && !dwarf_get_units(dwarf, unit, &unit, NULL, &type, &die, &split)) {
		w->path[0] = '\0';
		if (!walk_below(w, type == DW_UT_skeleton && split.addr ? &split : &die, 0))
			return false;
	}
	return true;
}

static bool emit(const struct ctp_member *m) { return send(CTP_CONFINED_FD, m, sizeof *m, MSG_NOSIGNAL) == (ssize_t)sizeof *m; }

/* The debug information of a file; or of the file that it was split off to, which is looked for as that of a module is. */
static Dwarf *open_dwarf(const char *path)
{
	struct ctp_debugfile code, debug;
	const void *id = NULL;
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	elf_version(EV_CURRENT);
	Dwarf *dwarf = dwarf_begin(fd, DWARF_C_READ);
	char *full = dwarf ? NULL : realpath(path, NULL);
	Elf *elf = full ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
	if (!elf)
		return dwarf;
	ssize_t len = dwelf_elf_gnu_build_id(elf, &id);
	struct ctp_module_want want = {.path = full, .id = id, .id_bytes = len > 0 ? (size_t)len : 0, .id_known = true};
	ctp_debugfile_find(&want, &code, &debug);
	return debug.has_dwarf ? dwarf_begin_elf(debug.elf, DWARF_C_READ, NULL) : NULL;
}

/* By full names, by their last parts, and then what is near. */
static enum verdict walk_all(struct walk *w, Dwarf *dwarf)
{
	bool all = walk_units(w, dwarf);
	w->last_part = true;
	all = all && walk_units(w, dwarf);
	w->last_part = false;
	for (uint32_t i = 0; i < w->nwanted && w->nastray < ASTRAY_MAX; i++) {
		struct wanted *one = &w->wanted[i];
		if (!one->found && !one->other_size && one->name[0] && !ctp_spelling_is_number(one->name))
			w->astray[w->nastray++] = one;
	}
	return all && (!w->nastray || walk_units(w, dwarf)) ? DONE : TOO_MANY;
}

static enum verdict answer(const char *path, struct wanted *wanted, uint32_t n)
{
	static struct walk w;
	struct stat st;
	GElf_Ehdr ehdr;
	if (access(path, R_OK) || stat(path, &st) || !S_ISREG(st.st_mode))
		return NO_FILE;
	Dwarf *dwarf = open_dwarf(path);
	if (!dwarf)
		return NO_DEBUG;
	/* The texts of an object file are where its relocations say, which nobody has applied. */
	if (!gelf_getehdr(dwarf_getelf(dwarf), &ehdr) || ehdr.e_type == ET_REL)
		return NOT_LINKED;
	w.of.emit = emit;
	w.of.big = ehdr.e_ident[EI_DATA] == ELFDATA2MSB;
	w.wanted = wanted;
	w.nwanted = n;
	return walk_all(&w, dwarf);
}

static _Noreturn void serve(int fd, const char *path, const struct ctp_members_want *want, uint32_t n)
{
	if (!ctp_confine(fd, "ctp-members", CTP_MEMBERS_BYTES))
		_exit(1);
	ctp_confine_cpu(CTP_MEMBERS_CPU_S * CTP_SECOND_NS);
	struct wanted *wanted = sort_wanted(want, n);
	if (!wanted)
		_exit(1);
	char last = (char)answer(path, wanted, n);
	for (uint32_t i = 0; i < n; i++) {
		struct answer a = {.want = wanted[i].want, .found = wanted[i].found, .other_size = wanted[i].other_size};
		memcpy(a.near, wanted[i].near, sizeof a.near);
		if (send(CTP_CONFINED_FD, &a, sizeof a, MSG_NOSIGNAL) < 0)
			_exit(1);
	}
	send(CTP_CONFINED_FD, &last, 1, MSG_NOSIGNAL);
	_exit(0);
}

/* --- the parent ---------------------------------------------------------------------------------------------------------- */

static enum ctp_status say(enum verdict verdict, const char *path, struct ctp_err *err)
{
	switch (verdict) {
	case NO_FILE:
		return ctp_err_set(err, "%s: cannot be read, or is no file", path);
	case NO_DEBUG:
		return ctp_err_as(err, CTP_ERR_NOT_STREAM,
		                  "%s: has no debug information; compile with -g, or name the file that it was split off to", path);
	case NOT_LINKED:
		return ctp_err_as(err, CTP_ERR_NOT_STREAM,
		                  "%s: is an object file; name the program or library that it is linked into", path);
	case TOO_MANY:
		return ctp_err_as(err, CTP_ERR_REFUSED, "%s: its debug information has more types or members than can be looked at",
		                  path);
	case DONE:
		break;
	}
	return CTP_OK;
}

/* What a type came to, as the child has it. */
static void take_answer(const struct answer *a, struct ctp_members_want *want, uint32_t nwant)
{
	if (a->want >= nwant)
		return;
	want[a->want].found = a->found;
	want[a->want].other_size = a->other_size;
	for (unsigned i = 0; i < CTP_MEMBERS_NEAR; i++)
		snprintf(want[a->want].near[i], CTP_MEMBERS_NEAR_BYTES, "%.*s", CTP_MEMBERS_NEAR_BYTES - 1, a->near[i]);
}

/* Takes what the child sends, to its end. */
static enum ctp_status take(pid_t child, int fd, struct ctp_members_want *want, uint32_t nwant, const char *path,
                            void (*found)(void *arg, const struct ctp_member *member), void *arg, bool *stalled,
                            struct ctp_err *err)
{
	union {
		struct ctp_member m;
		struct answer answer;
		char last;
	} p;
	const uint64_t until_ns = ctp_clock_ns() + CTP_CONFINED_CLOCK_S * CTP_SECOND_NS;
	while ((*stalled = !ctp_confined_wait(child, fd, until_ns)) == false) {
		ssize_t n = recv(fd, &p, sizeof p, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n == 1)
			return say(p.last, path, err);
		if (n == (ssize_t)sizeof p.answer) {
			take_answer(&p.answer, want, nwant);
			continue;
		}
		if (n != (ssize_t)sizeof p.m)
			break;
		p.m.name[sizeof p.m.name - 1] = '\0';
		if (p.m.want < nwant)
			found(arg, &p.m);
	}
	return ctp_err_as(err, CTP_ERR_REFUSED,
	                  "%s: its debug information could not be read to its end in the time and memory that it may take", path);
}

enum ctp_status ctp_members_find(const char *path, struct ctp_members_want *want, uint32_t nwant,
                                 void (*found)(void *arg, const struct ctp_member *member), void *arg, struct ctp_err *err)
{
	int ends[2];
	bool stalled = false;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return ctp_err_sys(err, "%s: no socket", path);
	pid_t child = fork();
	if (!child)
		serve(ends[1], path, want, nwant);
	close(ends[1]);
	enum ctp_status status = child < 0 ? ctp_err_sys(err, "%s: no process to read it", path) :
	                                     take(child, ends[0], want, nwant, path, found, arg, &stalled, err);
	close(ends[0]);
	if (child > 0)
		ctp_confined_end(child, stalled);
	return status;
}

#endif
