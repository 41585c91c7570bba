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

#include "symbols/confine.h"
#include "symbols/debugfile.h"
#include "symbols/spelling.h"

enum { DEPTH_MAX = 32, NESTED_MAX = 8, DIES_MAX = 1 << 24, PATH_BYTES = 1024, ASTRAY_MAX = 64 };

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
	uint32_t dies, members, elements; /* elements: members of structures in arrays */
	bool big; /* the most significant byte is the first */
	struct ctp_member group; /* bit fields that share bytes, so far; size 0: there are none */
	const char *group_last;  /* the name of the last, where there are several */
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
	uint32_t from = 0, upto = w->nwanted;
	while (from < upto) {
		uint32_t middle = from + (upto - from) / 2;
		if (strcmp(w->wanted[middle].name, name) < 0)
			from = middle + 1;
		else
			upto = middle;
	}
	return from < w->nwanted && !strcmp(w->wanted[from].name, name) ? &w->wanted[from] : NULL;
}

/* --- members ------------------------------------------------------------------------------------------------------------- */

static bool is_structure(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);
	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

/* The type of a DIE, without typedefs and qualifiers. */
static bool type_of(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute attr;
	Dwarf_Die first;
	return dwarf_attr_integrate(die, DW_AT_type, &attr) && dwarf_formref_die(&attr, &first) && !dwarf_peel_type(&first, type);
}

/* A number, or, before DWARF 3, the operation that adds it. */
static bool location_of(Dwarf_Attribute *attr, Dwarf_Word *n)
{
	Dwarf_Op *op;
	size_t nops;
	if (!dwarf_formudata(attr, n))
		return true;
	if (dwarf_getlocation(attr, &op, &nops) || nops != 1 || op->atom != DW_OP_plus_uconst)
		return false;
	*n = op->number;
	return true;
}

static bool offset_of(Dwarf_Die *member, uint64_t *offset)
{
	Dwarf_Attribute attr;
	Dwarf_Word n;
	if (dwarf_hasattr(member, DW_AT_external) || dwarf_hasattr(member, DW_AT_declaration))
		return false; /* a static member */
	*offset = 0;
	if (dwarf_attr(member, DW_AT_data_member_location, &attr)) {
		if (!location_of(&attr, &n))
			return false;
		*offset = n;
	} else if (dwarf_attr(member, DW_AT_data_bit_offset, &attr)) {
		if (dwarf_formudata(&attr, &n))
			return false;
		*offset = n / 8;
	}
	return true;
}

/* Where the bits of a member are, in bits from its structure's first on; false: it is no bit field. */
static bool bits_of(const struct walk *w, Dwarf_Die *member, uint64_t unit, uint64_t *first, uint64_t *n)
{
	Dwarf_Attribute attr;
	Dwarf_Word bits, at, bytes;
	if (!dwarf_attr(member, DW_AT_bit_size, &attr) || dwarf_formudata(&attr, &bits) || !bits || bits > 8 * unit)
		return false;
	*n = bits;
	if (dwarf_attr(member, DW_AT_data_bit_offset, &attr) && !dwarf_formudata(&attr, first))
		return true;
	/* Before DWARF 4: from the most significant bit of the unit that the member is in. */
	if (!offset_of(member, first) || !dwarf_attr(member, DW_AT_bit_offset, &attr) || dwarf_formudata(&attr, &at))
		return false;
	if (!dwarf_attr(member, DW_AT_byte_size, &attr) || dwarf_formudata(&attr, &bytes) || bytes > unit)
		bytes = unit;
	*first = *first * 8 + (w->big ? at : 8 * bytes - at - bits);
	return at <= 8 * bytes - bits;
}

static bool emit(struct walk *w, const struct ctp_member *m)
{
	return w->members++ < CTP_MEMBERS_MAX && send(CTP_CONFINED_FD, m, sizeof *m, MSG_NOSIGNAL) == (ssize_t)sizeof *m;
}

/* How many elements a dimension has; 0: that is not known. */
static Dwarf_Word elements_of(Dwarf_Die *subrange)
{
	Dwarf_Attribute attr;
	Dwarf_Word n;
	if (dwarf_attr_integrate(subrange, DW_AT_count, &attr) && !dwarf_formudata(&attr, &n))
		return n;
	return dwarf_attr_integrate(subrange, DW_AT_upper_bound, &attr) && !dwarf_formudata(&attr, &n) ? n + 1 : 0;
}

/* The dimensions of an array, behind the first n; how many there are then. */
static unsigned add_dims(struct ctp_member *m, unsigned n, Dwarf_Die *array)
{
	Dwarf_Die child;
	if (dwarf_child(array, &child))
		return n;
	do {
		if (dwarf_tag(&child) != DW_TAG_subrange_type)
			continue;
		Dwarf_Word elements = elements_of(&child);
		if (n < CTP_MEMBER_DIMS)
			m->dim[n] = elements < UINT32_MAX ? (uint32_t)elements : 0;
		n++;
	} while (n <= CTP_MEMBER_DIMS && !dwarf_siblingof(&child, &child));
	return n;
}

/* An array of arrays is one with more dimensions. If they do not make up its size, it is a long one. False: it has no elements. */
static bool measure_array(struct ctp_member *m, Dwarf_Die *array, Dwarf_Die *element)
{
	Dwarf_Word stride = 0;
	unsigned n = add_dims(m, 0, array);
	if (!type_of(array, element))
		return false;
	for (unsigned i = 0; dwarf_tag(element) == DW_TAG_array_type && i < CTP_MEMBER_DIMS; i++) {
		n = add_dims(m, n, element);
		if (!type_of(element, element))
			return false;
	}
	if (dwarf_aggregate_size(element, &stride) || !stride || stride > m->size)
		return false;
	m->stride = (uint32_t)stride;
	uint64_t bytes = stride;
	for (unsigned i = 0; i < n && i < CTP_MEMBER_DIMS && bytes <= m->size; i++)
		bytes *= m->dim[i];
	if (n > CTP_MEMBER_DIMS || bytes != m->size)
		memset(m->dim, 0, sizeof m->dim);
	if (!m->dim[0])
		m->dim[0] = m->size / m->stride;
	return true;
}

/* The bit fields so far are a member. */
static bool end_group(struct walk *w)
{
	struct ctp_member m = w->group;
	size_t len = strlen(m.name);
	w->group.size = 0;
	if (!m.size)
		return true;
	if (w->group_last)
		snprintf(m.name + len, sizeof m.name - len, "..%s", w->group_last);
	w->group_last = NULL;
	return emit(w, &m);
}

/* A bit field, in the order of bits. In a union each is one of its own. */
static bool put_bits(struct walk *w, const struct ctp_member *m, const char *own, bool alone)
{
	struct ctp_member *g = &w->group;
	if (g->size && !alone && m->offset >= g->offset && m->offset - g->offset < g->size) {
		uint32_t end = m->offset - g->offset + m->size;
		g->size = end > g->size ? end : g->size;
		w->group_last = own ? own : w->group_last;
		return true;
	}
	if (!end_group(w))
		return false;
	*g = *m;
	return true;
}

/* How many members there are in a structure and in those in it; CTP_MEMBERS_OF_ARRAY + 1: too many. */
static uint32_t count_members(struct walk *w, Dwarf_Die *structure, int nested)
{
	Dwarf_Die child, type;
	uint32_t n = 0;
	if (dwarf_child(structure, &child))
		return 0;
	do {
		int tag = dwarf_tag(&child);
		if (++w->dies > DIES_MAX || n > CTP_MEMBERS_OF_ARRAY)
			return CTP_MEMBERS_OF_ARRAY + 1;
		if (tag == DW_TAG_member || tag == DW_TAG_inheritance)
			n += nested < NESTED_MAX && type_of(&child, &type) && is_structure(&type) ? count_members(w, &type, nested + 1) : 1;
	} while (!dwarf_siblingof(&child, &child));
	return n;
}

/* Whether the elements of an array are structures, and not too many to have members of their own. */
static bool has_parts(struct walk *w, const struct ctp_member *array, Dwarf_Die *element, int nested)
{
	if (!is_structure(element) || nested >= NESTED_MAX || array->size / array->stride > CTP_MEMBERS_OF_ARRAY)
		return false;
	uint64_t n = (uint64_t)count_members(w, element, nested) * (array->size / array->stride);
	if (!n || n > CTP_MEMBERS_OF_ARRAY || n > CTP_MEMBERS_MAX / 4 - w->elements)
		return false;
	w->elements += (uint32_t)n;
	return true;
}

static bool put_members(struct walk *w, const struct wanted *want, Dwarf_Die *structure, uint64_t base, const char *prefix,
                        int nested);

static bool put_elements(struct walk *w, const struct wanted *want, const struct ctp_member *array, Dwarf_Die *element,
                         const char *name, int nested)
{
	char index[CTP_MEMBER_INDEX_MAX], prefix[PATH_BYTES];
	for (uint32_t i = 0; i < array->size / array->stride; i++) {
		if (snprintf(prefix, sizeof prefix, "%s%s.", name, ctp_member_index(index, array, i)) >= (int)sizeof prefix)
			return true;
		if (!put_members(w, want, element, array->offset + (uint64_t)i * array->stride, prefix, nested + 1))
			return false;
	}
	return true;
}

static bool put_member(struct walk *w, const struct wanted *want, Dwarf_Die *die, uint64_t base, const char *prefix, int nested,
                       bool is_union)
{
	struct ctp_member m = {.want = want->want};
	char name[PATH_BYTES];
	Dwarf_Die type, element;
	Dwarf_Word size = 0;
	uint64_t offset, first, n;
	const char *own = dwarf_tag(die) == DW_TAG_inheritance ? NULL : dwarf_diename(die);
	if (!offset_of(die, &offset) || !type_of(die, &type) || dwarf_aggregate_size(&type, &size))
		return true;
	if ((m.bits = bits_of(w, die, size, &first, &n))) {
		offset = first / 8;
		size = (first % 8 + n + 7) / 8;
	}
	if (!m.bits && !end_group(w))
		return false;
	if (offset > want->size || size > want->size || base + offset + size > want->size)
		return true;
	if (is_structure(&type) && size && nested < NESTED_MAX) {
		if (snprintf(name, sizeof name, own ? "%s%s." : "%s", prefix, own) >= (int)sizeof name)
			return true;
		return put_members(w, want, &type, base + offset, name, nested + 1);
	}
	m.offset = (uint32_t)(base + offset);
	m.size = (uint32_t)size;
	snprintf(name, sizeof name, "%s%s", prefix, own ? own : "(no name)");
	memcpy(m.name, name, strnlen(name, sizeof m.name - 1));
	if (m.bits)
		return put_bits(w, &m, own, is_union);
	if (dwarf_tag(&type) == DW_TAG_array_type && measure_array(&m, &type, &element) && has_parts(w, &m, &element, nested))
		return put_elements(w, want, &m, &element, name, nested);
	return emit(w, &m);
}

/* False: there are too many. */
static bool put_members(struct walk *w, const struct wanted *want, Dwarf_Die *structure, uint64_t base, const char *prefix,
                        int nested)
{
	Dwarf_Die child;
	bool is_union = dwarf_tag(structure) == DW_TAG_union_type;
	if (dwarf_child(structure, &child))
		return true;
	do {
		int tag = dwarf_tag(&child);
		if (++w->dies > DIES_MAX)
			return false;
		if ((tag == DW_TAG_member || tag == DW_TAG_inheritance) && !put_member(w, want, &child, base, prefix, nested, is_union))
			return false;
	} while (!dwarf_siblingof(&child, &child));
	return end_group(w);
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
		if (one->found || (is_alias && one->sort && (!is_structure(die) || dwarf_diename(die))))
			continue;
		if (one->size != size) {
			one->other_size = (uint32_t)size;
			continue;
		}
		one->found = true;
		w->nfound++;
		if (is_structure(die) && !put_members(w, one, die, 0, "", 0))
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
	if (!name || (is_alias && !type_of(die, &type)))
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
		if (++w->dies > DIES_MAX)
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
		if (scope && is_structure(&child) && !try_type(w, &child, w->last_part ? name : w->path, false))
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
	w.big = ehdr.e_ident[EI_DATA] == ELFDATA2MSB;
	w.wanted = wanted;
	w.nwanted = n;
	bool all = walk_units(&w, dwarf);
	w.last_part = true;
	all = all && walk_units(&w, dwarf);
	w.last_part = false;
	for (uint32_t i = 0; i < n && w.nastray < ASTRAY_MAX; i++)
		if (!wanted[i].found && !wanted[i].other_size && wanted[i].name[0] && !ctp_spelling_is_number(wanted[i].name))
			w.astray[w.nastray++] = &wanted[i];
	return all && (!w.nastray || walk_units(&w, dwarf)) ? DONE : TOO_MANY;
}

static _Noreturn void serve(int fd, const char *path, const struct ctp_members_want *want, uint32_t n)
{
	if (!ctp_confine(fd, "ctp-members", CTP_MEMBERS_BYTES))
		_exit(1);
	ctp_confine_cpu(CTP_MEMBERS_CPU_S * UINT64_C(1000000000));
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
		return ctp_err_set(err, "%s: has no debug information; compile with -g, or name the file that it was split off to", path);
	case NOT_LINKED:
		return ctp_err_set(err, "%s: is an object file; name the program or library that it is linked into", path);
	case TOO_MANY:
		return ctp_err_set(err, "%s: its debug information has more types or members than can be looked at", path);
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
	while ((*stalled = !ctp_confined_wait(child, fd)) == false) {
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
	return ctp_err_set(err, "%s: its debug information could not be read to its end in the time and memory that it may take", path);
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
