/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ctf-own.c - a trace that ctp-toctf wrote and nobody has changed, read many times as fast as by libbabeltrace2.
 *
 * The section, its classes and their variants are picked from the lines of the metadata, and the metadata is written again from
 * these. If the result is the same, byte for byte, the layout of the streams is known. If not, as when another version wrote the
 * trace, libbabeltrace2 reads it.
 */
#include "ctf/ctf-own.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/meta.h"
#include "ctf/ctf-folder.h"
#include "io/output.h"

enum { METADATA_MAX = 64 << 20 };

struct ctp_ctf_own {
	const char *folder;
	uint8_t uuid[16];
	struct ctp_section section;
	bool complete;
	uint32_t nclasses;
	struct ctp_ctf_class classes[CTP_CLASSES_MAX];
	uint32_t nstreams;
	struct ctp_ctf_stream streams[CTP_CTF_STREAMS]; /* the first nstreams have an event at hand */
	char paths[CTP_CTF_STREAMS][PATH_MAX];
	struct ctp_ctf_stream *taken; /* the stream of the last record; null: there was none */
};

/* --- the metadata -------------------------------------------------------------------------------------------------------- */

/* The whole file, and a NUL after it; for free(). Null: the file is not there, empty, or larger than ctp-toctf writes. */
static char *read_metadata(const char *folder, size_t *len)
{
	char path[PATH_MAX], *text = NULL;
	struct stat st;
	int fd = snprintf(path, sizeof path, "%s/metadata", folder) < PATH_MAX ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0 && st.st_size <= METADATA_MAX)
		text = malloc((size_t)st.st_size + 1);
	*len = 0;
	for (ssize_t n; text && *len < (size_t)st.st_size; *len += (size_t)n)
		if ((n = read(fd, text + *len, (size_t)st.st_size - *len)) <= 0)
			break;
	if (text)
		text[*len] = '\0';
	close(fd);
	return text;
}

/* The number of n digits at p; -1: one is no digit. */
static int take_digits(const char *p, unsigned n, unsigned base)
{
	static const char digits[] = "0123456789abcdef";
	unsigned v = 0;
	for (; n; n--, p++) {
		const char *digit = *p ? memchr(digits, *p, base) : NULL;
		if (!digit)
			return -1;
		v = v * base + (unsigned)(digit - digits);
	}
	return (int)v;
}

/*
 * The value of an entry of the environment at or after *p, without escapes, and as much room after it. For free(); null: there is
 * no such entry.
 */
static char *take_literal(const char **p, const char *name, size_t *len)
{
	char key[64];
	snprintf(key, sizeof key, "\n\t%s = \"", name);
	const char *from = strstr(*p, key);
	if (!from)
		return NULL;
	from += strlen(key);
	const char *end = from;
	while (*end && *end != '"')
		end += end[0] == '\\' && end[1] ? 2 : 1;
	char *text = malloc(2 * (size_t)(end - from) + 1), *to = text;
	for (; text && from < end; from++) {
		int octal = *from == '\\' ? take_digits(from + 1, 3, 8) : -1;
		from += octal >= 0 ? 3 : *from == '\\';
		*to++ = octal >= 0 ? (char)octal : *from;
	}
	*len = text ? (size_t)(to - text) : 0;
	*p = end;
	return text;
}

static bool take_uuid(const char **p, uint8_t uuid[16])
{
	const char *at = strstr(*p, "\n\tuuid = \"");
	if (!at)
		return false;
	at += strlen("\n\tuuid = \"");
	for (unsigned i = 0; i < 16; i++, at += 2) {
		at += *at == '-';
		int byte = take_digits(at, 2, 16);
		if (byte < 0)
			return false;
		uuid[i] = (uint8_t)byte;
	}
	*p = at;
	return true;
}

static bool take_section(const char **p, struct ctp_section *sec)
{
	size_t len;
	struct ctp_err why;
	char *text = take_literal(p, "ctp_section", &len);
	bool good = text && !ctp_meta_read_attrs(text, text + len, text + len, sec, &why);
	free(text);
	return good;
}

static bool take_classes(const char **p, struct ctp_ctf_own *own)
{
	while (own->nclasses < CTP_CLASSES_MAX) {
		char name[32];
		size_t len;
		struct ctp_err why;
		snprintf(name, sizeof name, "ctp_class_%u", own->nclasses);
		char *text = take_literal(p, name, &len);
		if (!text)
			return true;
		struct ctp_class *cls = ctp_meta_read_class(text, text + len, text + len, &why);
		free(text);
		if (!cls)
			return false;
		own->classes[own->nclasses] = (struct ctp_ctf_class){.cls = cls, .number = own->nclasses};
		own->nclasses++;
	}
	return true;
}

/* Finds the variants of the classes. */
static bool take_events(const char **p, struct ctp_ctf_own *own)
{
	while ((*p = strstr(*p, "\n\tid = "))) {
		unsigned long id = strtoul(*p += strlen("\n\tid = "), NULL, 10);
		unsigned variant = ctp_ctf_variant(id);
		if (ctp_ctf_number(id) >= own->nclasses)
			return false;
		struct ctp_ctf_class *c = &own->classes[ctp_ctf_number(id)];
		if (c->layout[variant] || !(c->layout[variant] = ctp_ctf_layout_new(c->cls, variant)))
			return false;
		c->used |= 1u << variant;
	}
	return true;
}

static bool take_metadata(const char *p, struct ctp_ctf_own *own)
{
	if (strncmp(p, CTP_CTF_MARK, strlen(CTP_CTF_MARK)) || !take_uuid(&p, own->uuid) || !take_section(&p, &own->section) ||
	    !take_classes(&p, own) || !(p = strstr(p, "\n\tctp_complete = ")))
		return false;
	own->complete = p[strlen("\n\tctp_complete = ")] == '1';
	return take_events(&p, own);
}

/* Writes the metadata again, and compares. */
static bool is_same(const struct ctp_ctf_own *own, const char *text, size_t len)
{
	const struct ctp_ctf_class *classes[CTP_CLASSES_MAX];
	struct ctp_output out;
	struct ctp_err err;
	bool same = false;
	int fd = memfd_create("metadata", MFD_CLOEXEC);
	if (fd < 0)
		return false;
	for (uint32_t i = 0; i < own->nclasses; i++)
		classes[i] = &own->classes[i];
	if (!ctp_output_fd(&out, fd, "metadata", &err)) {
		ctp_ctf_metadata_begin(&out, &own->section, own->uuid);
		ctp_ctf_metadata_end(&out, classes, own->nclasses, own->complete);
		if (!ctp_output_close(&out, &err) && out.bytes == len) {
			void *again = mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, 0);
			same = again != MAP_FAILED && !memcmp(text, again, len);
			if (again != MAP_FAILED)
				munmap(again, len);
		}
	}
	close(fd);
	return same;
}

/* --- the streams --------------------------------------------------------------------------------------------------------- */

static void drop_stream(struct ctp_ctf_own *own, struct ctp_ctf_stream *st)
{
	ctp_input_close(&st->in);
	memmove(st, st + 1, (size_t)(own->streams + --own->nstreams - st) * sizeof *st);
}

static enum ctp_status open_streams(struct ctp_ctf_own *own, struct ctp_err *err)
{
	struct stat file;
	for (unsigned i = 0; i < CTP_CTF_STREAMS; i++) {
		struct ctp_ctf_stream *st = &own->streams[own->nstreams];
		if (snprintf(own->paths[i], PATH_MAX, "%s/stream_%u", own->folder, i) >= PATH_MAX)
			return ctp_err_set(err, "%s: the name is too long", own->folder);
		bool there = !stat(own->paths[i], &file);
		if (!there && errno == ENOENT && (i || !own->nclasses))
			continue;
		if (there && !S_ISREG(file.st_mode))
			return ctp_err_set(err, "%s: is not a regular file", own->paths[i]);
		if (ctp_input_open(&st->in, own->paths[i], err))
			return CTP_FAILED;
		own->nstreams++;
		st->uuid = own->uuid;
		enum ctp_status status = ctp_ctf_stream_next(st, err);
		if (status == CTP_FAILED)
			return status;
		if (status == CTP_EOF)
			drop_stream(own, st);
	}
	return CTP_OK;
}

/* A variant is declared because it occurs. If it has not come by the end, a stream was cut off. */
static enum ctp_status check_all_seen(const struct ctp_ctf_own *own, struct ctp_err *err)
{
	for (uint32_t i = 0; i < own->nclasses; i++)
		if (own->classes[i].used)
			return ctp_err_set(err, "%s: cut short: no event of %s is left", own->folder,
			                   own->classes[i].cls->name);
	return CTP_EOF;
}

enum ctp_status ctp_ctf_own_next(struct ctp_ctf_own *own, struct ctp_ctf_values *v, const struct ctp_class **cls,
                                 uint64_t *now_ns, struct ctp_err *err)
{
	enum ctp_status status = own->taken ? ctp_ctf_stream_next(own->taken, err) : CTP_OK;
	if (status == CTP_FAILED)
		return status;
	if (status == CTP_EOF)
		drop_stream(own, own->taken);
	own->taken = NULL;
	if (!own->nstreams)
		return check_all_seen(own, err);
	struct ctp_ctf_stream *st = own->streams;
	for (uint32_t i = 1; i < own->nstreams; i++)
		if (own->streams[i].now_ns < st->now_ns)
			st = &own->streams[i];
	own->taken = st;
	unsigned variant = ctp_ctf_variant(st->id);
	struct ctp_ctf_class *c = ctp_ctf_number(st->id) < own->nclasses ? &own->classes[ctp_ctf_number(st->id)] : NULL;
	const struct ctp_ctf_layout *layout = c ? c->layout[variant] : NULL;
	if (!layout)
		return ctp_err_set(err, "%s: packet at 0x%llx: an event of the class %u, which is not declared", st->in.name,
		                   (unsigned long long)st->in.offset, st->id);
	if (ctp_ctf_stream_take(st, layout, c->cls, v, err))
		return CTP_FAILED;
	if (c->cls->time_field >= 0 && !(variant & CTP_CTF_TIMED))
		v->val[c->cls->time_field] = st->now_ns;
	c->used &= ~(1u << variant);
	*cls = c->cls;
	*now_ns = st->now_ns;
	return CTP_OK;
}

/* --- begin and end ------------------------------------------------------------------------------------------------------- */

const struct ctp_section *ctp_ctf_own_section(const struct ctp_ctf_own *own, bool *complete)
{
	*complete = own->complete;
	return &own->section;
}

enum ctp_status ctp_ctf_own_open(struct ctp_ctf_own **result, const char *folder, struct ctp_err *err)
{
	size_t len;
	char *text = read_metadata(folder, &len);
	struct ctp_ctf_own *own = text ? calloc(1, sizeof *own) : NULL;
	enum ctp_status status = CTP_EOF;
	*result = own;
	if (own) {
		own->folder = folder;
		ctp_section_init(&own->section);
		if (take_metadata(text, own) && is_same(own, text, len))
			status = open_streams(own, err);
	}
	free(text);
	return status;
}

void ctp_ctf_own_free(struct ctp_ctf_own *own)
{
	if (!own)
		return;
	while (own->nstreams)
		drop_stream(own, own->streams + own->nstreams - 1);
	for (uint32_t i = 0; i < own->nclasses; i++) {
		for (unsigned variant = 0; variant < CTP_CTF_VARIANTS; variant++)
			free(own->classes[i].layout[variant]);
		ctp_class_free((struct ctp_class *)(uintptr_t)own->classes[i].cls);
	}
	ctp_section_fini(&own->section);
	free(own);
}
